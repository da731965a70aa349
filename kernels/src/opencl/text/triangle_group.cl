// Solves and products with a lower triangular matrix of order n, for `count` columns of B. A work-group has COLUMNS
// columns and goes through the triangle by blocks of ORDER rows: products with the blocks left of the diagonal, then
// the block on the diagonal. Upper triangles are passed with negative strides, which reverse rows and columns. Included
// after `group.cl`. Required definitions: ORDER, a power of two from 16; COLUMNS, a multiple of 8 up to ORDER; LANES,
// which is ORDER * COLUMNS / 4; PART, the order of the blocks that are inverted first; MATRIX, whether there are matrix
// instructions (see `product_text/matrix.rs`).
//
// Solves multiply by inverses of the blocks on the diagonal, as accelerators' libraries do (Du Croz and Higham,
// "Stability of methods for matrix inversion", 1992): step by step, a block would be a chain of ORDER steps. Zeros of
// the other triangle are multiplied, too. Where that or an inverse gives Inf or NaN, columns are computed again without
// inverses and without zeros: an Inf in B makes no NaN that serial code would not make.

// Numbers between the columns of a block of A and the rows of a block of B in local memory, so that adjacent work-items
// read from different banks.
#define GAP 4
#define A_ROW (ORDER + GAP)
#define X_ROW (COLUMNS + GAP)
#define A_EACH (ORDER * ORDER / LANES)
#define X_EACH (ORDER * COLUMNS / LANES)
// The elements of a work-item in the halves of a block beside the diagonal, at most.
#define BESIDE_EACH (ORDER * ORDER / 4 / LANES)
// The real numbers of blocks in local memory. Imaginary parts follow all real ones.
#define A_REALS (PARTS * ORDER * A_ROW)
#define X_REALS (PARTS * ORDER * X_ROW)
// The elements of a work-item's tile: two rows, eight apart, and two adjacent columns.
#define TILE 4

// Element (i, p) of a block of A, and (p, c) of a block of B.
#define A_AT(i, p) ((p) * A_ROW + (i))
#define X_AT(p, c) ((p) * X_ROW + (c))

inline elem get(__local const real *from, int at, int reals) {
#if COMPLEX
    return make(from[at], from[reals / 2 + at]);
#else
    return from[at];
#endif
}
inline void put(__local real *to, int at, int reals, elem x) {
    to[at] = RE(x);
#if COMPLEX
    to[reals / 2 + at] = IM(x);
#endif
}
#define GET_A(i, p) get(own_a, A_AT(i, p), A_REALS)
#define GET_X(p, c) get(own_x, X_AT(p, c), X_REALS)
#define PUT_A(i, p, x) put(own_a, A_AT(i, p), A_REALS, x)
#define PUT_X(p, c, x) put(own_x, X_AT(p, c), X_REALS, x)

// The share of a work-item in a block: elements in one row or one column, at equal distances. Adjacent work-items have
// adjacent elements of a column if these are adjacent in memory, and of a row otherwise.
typedef struct {
    int row, column, rows, columns;
} Share;

inline Share share_of(int columns, long rs) {
    const int lane = get_local_id(0), down = rs == 1 || rs == -1;
    const Share its = {down ? lane % ORDER : lane / columns, down ? lane / ORDER : lane % columns,
                       down ? 0 : LANES / columns, down ? LANES / ORDER : 0};
    return its;
}

// How the elements of a triangle are read.
typedef struct {
    int conj, unit;
} Form;

inline Matrix part_of(Matrix a, int i, int p) {
    const Matrix part = {a.at + i * a.rs + p * a.cs, a.rs, a.cs};
    return part;
}

// Whether element (r, q) of a block of `have` rows is read. Otherwise it is that of the identity, or zero beside the
// diagonal.
inline int is_stored(int r, int q, int have, int is_diagonal, Form form) {
    return r < have && (!is_diagonal || q < r || (q == r && !form.unit));
}

inline void fetch_a(elem *to, Share its, Matrix block, int have, int is_diagonal, Form form) {
    __global const elem *at = block.at + its.row * block.rs + its.column * block.cs;
    const long step = its.rows * block.rs + its.columns * block.cs;
#pragma unroll
    for (int k = 0; k < A_EACH; ++k) {
        const int r = its.row + k * its.rows, q = its.column + k * its.columns;
        elem x = make(is_diagonal && q == r, 0);
        if (is_stored(r, q, have, is_diagonal, form)) x = conj_if(at[k * step], form.conj);
        to[k] = x;
    }
}

inline void put_a(const elem *from, Share its, __local real *own_a) {
#pragma unroll
    for (int k = 0; k < A_EACH; ++k) PUT_A(its.row + k * its.rows, its.column + k * its.columns, from[k]);
}

// Loads ORDER rows of B, with zeros beyond `have` rows and `columns` columns.
inline void fetch_x(elem *to, Share its, Matrix rows, int have, int columns) {
    __global const elem *at = rows.at + its.row * rows.rs + its.column * rows.cs;
    const long step = its.rows * rows.rs + its.columns * rows.cs;
#pragma unroll
    for (int k = 0; k < X_EACH; ++k) {
        elem x = make(0, 0);
        if (its.row + k * its.rows < have && its.column + k * its.columns < columns) x = at[k * step];
        to[k] = x;
    }
}

inline void put_x(const elem *from, Share its, __local real *own_x) {
#pragma unroll
    for (int k = 0; k < X_EACH; ++k) PUT_X(its.row + k * its.rows, its.column + k * its.columns, from[k]);
}

// The position of a work-item's tile: 32 adjacent work-items have 16 rows and 8 columns, as the sums of a matrix
// instruction.
#define PLACES                                                                                                         \
    const int lane = get_local_id(0), warp = lane / 32, g = lane % 32 / 4, t = lane % 4;                               \
    const int top = warp % (ORDER / 16) * 16, left = warp / (ORDER / 16) * 8
#define TILE_ROW(e) (top + g + 8 * ((e) / 2))
#define TILE_COLUMN(e) (left + 2 * t + (e) % 2)

#if MATRIX
#define MATRIX_ADD(sums, a, b)                                                                                         \
    asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"       \
        : "+d"(sums[0]), "+d"(sums[1]), "+d"(sums[2]), "+d"(sums[3])                                                   \
        : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]))
#endif

// Adds the product of the blocks to the work-item's sums: the real parts, then the imaginary ones.
inline void multiply_add(real sums[PARTS][TILE], __local const real *own_a, __local const real *own_x) {
    PLACES;
#if MATRIX
#pragma unroll 2
    for (int p = 0; p < ORDER; p += 8) {
        real a[PARTS][4], b[PARTS][2];
#pragma unroll
        for (int part = 0; part < PARTS; ++part) {
#pragma unroll
            for (int r = 0; r < 4; ++r)
                a[part][r] = own_a[part * A_REALS / 2 + A_AT(top + g + 8 * (r % 2), p + t + 4 * (r / 2))];
#pragma unroll
            for (int r = 0; r < 2; ++r) b[part][r] = own_x[part * X_REALS / 2 + X_AT(p + t + 4 * r, left + g)];
        }
        MATRIX_ADD(sums[0], a[0], b[0]);
#if COMPLEX
        MATRIX_ADD(sums[1], a[0], b[1]);
        MATRIX_ADD(sums[1], a[1], b[0]);
#pragma unroll
        for (int r = 0; r < 4; ++r) a[1][r] = -a[1][r];
        MATRIX_ADD(sums[0], a[1], b[1]);
#endif
    }
#else
    elem all[TILE];
#pragma unroll
    for (int e = 0; e < TILE; ++e) all[e] = make(0, 0);
#pragma unroll 8
    for (int p = 0; p < ORDER; ++p) {
        const elem upper = GET_A(TILE_ROW(0), p), lower = GET_A(TILE_ROW(2), p);
        const elem first = GET_X(p, TILE_COLUMN(0)), second = GET_X(p, TILE_COLUMN(1));
        all[0] += times(upper, first);
        all[1] += times(upper, second);
        all[2] += times(lower, first);
        all[3] += times(lower, second);
    }
#pragma unroll
    for (int e = 0; e < TILE; ++e) {
        sums[0][e] += RE(all[e]);
#if COMPLEX
        sums[1][e] += IM(all[e]);
#endif
    }
#endif
}

inline elem sum_of(real sums[PARTS][TILE], int e) { return make(sums[0][e], sums[PARTS - 1][e]); }
inline void set_sum(real sums[PARTS][TILE], int e, elem x) {
    sums[0][e] = RE(x);
#if COMPLEX
    sums[1][e] = IM(x);
#endif
}

// The arguments and the memory of both kernels.
#define ARGUMENTS                                                                                                      \
    __global real *restrict heap, ulong triangle, long ars, long acs, int conj, int unit, ulong from, long brs,        \
        long bcs, int n, int count
#define SETUP                                                                                                          \
    __local real own_a[A_REALS];                                                                                       \
    __local real own_x[X_REALS];                                                                                       \
    PLACES;                                                                                                            \
    const int first = get_group_id(0) * COLUMNS, columns = min(COLUMNS, count - first);                                \
    const Form form = {conj, unit};                                                                                    \
    const Matrix a = {(__global elem *)heap + triangle, ars, acs};                                                     \
    const Matrix b = {(__global elem *)heap + from + first * bcs, brs, bcs};                                           \
    real sums[PARTS][TILE];                                                                                            \
    const Share share_a = share_of(ORDER, ars), share_x = share_of(COLUMNS, brs);                                      \
    elem next_a[A_EACH], next_x[X_EACH]
#define CLEAR                                                                                                          \
    for (int e = 0; e < TILE; ++e) set_sum(sums, e, make(0, 0))

// Adds the products of the blocks left of the diagonal in the rows from i. Each block is loaded while the one before is
// multiplied. `LAST` is the block on the diagonal.
#define PRODUCTS(LAST)                                                                                                 \
    const int have = min(ORDER, n - i);                                                                                \
    for (int p = 0; p <= i; p += ORDER) {                                                                              \
        const int is_last = p == i;                                                                                    \
        const Share share = is_last ? share_last : share_a;                                                            \
        fetch_a(next_a, share, is_last ? LAST : part_of(a, i, p), have, is_last, is_last ? last_form : form);          \
        fetch_x(next_x, share_x, part_of(b, p, 0), p < i ? ORDER : have, columns);                                     \
        if (p > 0) multiply_add(sums, own_a, own_x);                                                                   \
        TOGETHER;                                                                                                      \
        put_a(next_a, share, own_a);                                                                                   \
        put_x(next_x, share_x, own_x);                                                                                 \
        TOGETHER;                                                                                                      \
    }

// Stores a work-item's tile in a block of rows of B.
inline void store_tile(real sums[PARTS][TILE], Matrix rows, int have, int columns) {
    PLACES;
#pragma unroll
    for (int e = 0; e < TILE; ++e) {
        const int r = TILE_ROW(e), c = TILE_COLUMN(e);
        if (r < have && c < columns) rows.at[r * rows.rs + c * rows.cs] = sum_of(sums, e);
    }
}

// The first row of a work-item's pair of blocks of order `by`, and its column in them.
#define PAIR(k, by) ((c + (k) * (LANES / (by))) / (by) * 2 * (by))
#define COLUMN_BESIDE(k, by) ((c + (k) * (LANES / (by))) % (by))

// The products of pairs of blocks of order `by`, a constant once the caller's loop is unrolled: L21 X1, and then -X2
// (L21 X1). The work-item's elements are in one row of blocks L21, and LANES / by columns apart. What it computes
// beyond the last pair is not used, because loads in branches would wait for each other.
inline void invert_beside(__local real *own_a, int by, int steps) {
    const int r = get_local_id(0) % by, c = get_local_id(0) / by;
    for (int second = 0; second < (steps ? 2 : 0); ++second) {
        elem y[BESIDE_EACH];
#pragma unroll
        for (int k = 0; k < BESIDE_EACH; ++k) y[k] = make(0, 0);
#pragma unroll 4
        for (int q = 0; q < by; ++q)
#pragma unroll
            for (int k = 0; k < BESIDE_EACH; ++k) {
                const int up = min(PAIR(k, by), ORDER - 2 * by), low = up + by, at = second ? low : up;
                y[k] += times(GET_A(low + r, at + q), GET_A(at + q, up + COLUMN_BESIDE(k, by)));
            }
        TOGETHER;
#pragma unroll
        for (int k = 0; k < BESIDE_EACH; ++k) {
            const int up = PAIR(k, by);
            if (up + by < ORDER) PUT_A(up + by + r, up + COLUMN_BESIDE(k, by), second ? -y[k] : y[k]);
        }
        TOGETHER;
    }
}

// Inverts a block of the triangle in local memory: blocks of PART rows, and then pairs of blocks of doubled order,
// [X1 0; -X2 L21 X1 X2]. With no steps, nothing is done.
inline void invert_block(__local real *own_a, int steps) {
    const int lane = get_local_id(0), column = lane % PART, base = lane % ORDER / PART * PART;
    elem x[PART], inverse[PART];
    if (steps) {
#pragma unroll
        for (int r = 0; r < PART; ++r) inverse[r] = quotient(make(1, 0), GET_A(base + r, base + r));
#pragma unroll
        for (int r = 0; r < PART; ++r) {
            x[r] = make(r == column, 0);
#pragma unroll
            for (int q = 0; q < r; ++q) x[r] -= times(GET_A(base + r, base + q), x[q]);
            x[r] = times(x[r], inverse[r]);
            // A subnormal inverse has lost digits, so the solve must do without it.
            if (r == column && fabs(RE(x[r])) + fabs(IM(x[r])) < TINY) x[r] = make(NAN, 0);
        }
    }
    TOGETHER;
#pragma unroll
    for (int r = 0; r < PART; ++r)
        if (steps && lane < ORDER && r >= column) PUT_A(base + r, base + column, x[r]);
    TOGETHER;
#pragma unroll
    for (int by = PART; by < ORDER; by *= 2) invert_beside(own_a, by, steps);
}

// Inverts the blocks on the diagonal of a triangle of order n, one for each group, into blocks without gaps.
__kernel GROUP(LANES) void invert(__global real *restrict heap, ulong triangle, long ars, long acs, int conj, int unit,
                                   int n, ulong inverses) {
    __local real own_a[A_REALS];
    const int lane = get_local_id(0), i = get_group_id(0) * ORDER;
    const Matrix a = {(__global elem *)heap + triangle, ars, acs};
    const Form form = {conj, unit};
    __global elem *to = (__global elem *)heap + inverses + (ulong)i * ORDER;
    elem next_a[A_EACH];
    const Share share = share_of(ORDER, ars);
    fetch_a(next_a, share, part_of(a, i, i), n - i, 1, form);
    put_a(next_a, share, own_a);
    TOGETHER;
    invert_block(own_a, 1);
    for (int k = lane; k < ORDER * ORDER; k += LANES) to[k] = GET_A(k % ORDER, k / ORDER);
}

// Whether all numbers of a tile are finite.
inline int is_finite(real sums[PARTS][TILE]) {
    int yes = 1;
    for (int e = 0; e < TILE; ++e) yes = yes && isfinite(RE(sum_of(sums, e))) && isfinite(IM(sum_of(sums, e)));
    return yes;
}

// Solves with the block on the diagonal for a column of B in local memory.
inline void solve_column(Matrix block, __local real *own_x, int c, int have, Form form) {
    for (int r = 0; r < have; ++r) {
        elem x = GET_X(r, c);
        for (int q = 0; q < r; ++q) x -= times(conj_if(block.at[r * block.rs + q * block.cs], form.conj), GET_X(q, c));
        if (!form.unit) x = quotient(x, conj_if(block.at[r * (block.rs + block.cs)], form.conj));
        PUT_X(r, c, x);
    }
}

// Solves A X = B; X replaces B. The blocks on the diagonal are inverted before, unless there is only one.
__kernel GROUP(LANES) void solve(ARGUMENTS, ulong inverses) {
    __local int is_again;
    SETUP;
    const int steps = n <= ORDER;
    const Form plain = {0, 0}, last_form = steps ? form : plain;
    const Share share_last = steps ? share_a : share_of(ORDER, 1);
    for (int i = 0; i < n; i += ORDER) {
        const Matrix inverse = {(__global elem *)heap + inverses + (ulong)i * ORDER, 1, ORDER};
        CLEAR;
        PRODUCTS(steps ? a : inverse);
        for (int e = 0; e < TILE; ++e)
            PUT_X(TILE_ROW(e), TILE_COLUMN(e), GET_X(TILE_ROW(e), TILE_COLUMN(e)) - sum_of(sums, e));
        if (lane == 0) is_again = 0;
        TOGETHER;
        invert_block(own_a, steps);
        CLEAR;
        multiply_add(sums, own_a, own_x);
        if (!is_finite(sums)) is_again = 1;
        TOGETHER;
        for (int c = is_again ? lane : COLUMNS; c < COLUMNS; c += LANES)
            solve_column(part_of(a, i, i), own_x, c, have, form);
        TOGETHER;
        for (int e = 0; e < TILE; ++e)
            if (is_again) set_sum(sums, e, GET_X(TILE_ROW(e), TILE_COLUMN(e)));
        store_tile(sums, part_of(b, i, 0), have, columns);
        TOGETHER_IN_HEAP;
    }
}

// Element (i, c) of A B, without the zeros of the other triangle.
inline elem element_of_product(Matrix a, Matrix b, int i, int c, Form form) {
    elem sum = form.unit ? b.at[i * b.rs + c * b.cs] : make(0, 0);
    for (int q = 0; q < i + !form.unit; ++q)
        sum += times(conj_if(a.at[i * a.rs + q * a.cs], form.conj), b.at[q * b.rs + c * b.cs]);
    return sum;
}

// Computes A B in place of B, from the last rows to the first.
__kernel GROUP(LANES) void multiply(ARGUMENTS) {
    SETUP;
    const Share share_last = share_a;
    const Form last_form = form;
    for (int i = (n - 1) / ORDER * ORDER; i >= 0; i -= ORDER) {
        CLEAR;
        PRODUCTS(part_of(a, i, i));
        multiply_add(sums, own_a, own_x);
        for (int e = 0; e < TILE; ++e) {
            const int r = i + TILE_ROW(e), c = TILE_COLUMN(e);
            const elem sum = sum_of(sums, e);
            const int is_nan = isnan(RE(sum)) | isnan(IM(sum));
            if (is_nan && r < n && c < columns) set_sum(sums, e, element_of_product(a, b, r, c, form));
        }
        TOGETHER_IN_HEAP;
        store_tile(sums, part_of(b, i, 0), have, columns);
        TOGETHER_IN_HEAP;
    }
}
