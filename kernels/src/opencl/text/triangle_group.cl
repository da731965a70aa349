// Solves and products with a lower triangular matrix of order n, for `count` columns of B. A work-group has COLUMNS
// columns and goes through the triangle by blocks of ORDER rows: a product with the blocks before, in registers, then
// the block on the diagonal. Upper triangles are passed with negative strides, which reverse rows and columns. The
// zeros of the other triangle are not multiplied, so that Inf in B makes no NaN, and solves divide by the diagonal
// itself. Included after `group.cl`. Required definitions: ORDER, COLUMNS, LANES, and SIDE, the square root of LANES.

#define M_EACH (ORDER / SIDE)
#define N_EACH (COLUMNS / SIDE)
#define A_EACH (ORDER * ORDER / LANES)
#define X_EACH (ORDER * COLUMNS / LANES)
// A padded column of a block in local memory.
#define A_ROWS (ORDER + 1)
#define X_ROWS (ORDER + 1)

// Element `at` of the share of a work-item in a block of ORDER rows: adjacent work-items take adjacent elements.
inline int row_of(int at, int columns, long rs) { return rs == 1 || rs == -1 ? at % ORDER : at / columns; }
inline int column_of(int at, int columns, long rs) { return rs == 1 || rs == -1 ? at / ORDER : at % columns; }

// Loads the block of A at (i, p). Beyond row n it is the identity, and the other triangle is not read.
inline void fetch_a(elem *to, Matrix a, int i, int p, int n, int conj, int unit) {
    const int lane = get_local_id(0);
#pragma unroll
    for (int k = 0; k < A_EACH; ++k) {
        const int r = i + row_of(lane + k * LANES, ORDER, a.rs), q = p + column_of(lane + k * LANES, ORDER, a.rs);
        const int is_stored = r < n && (q < r || (q == r && !unit));
        elem x = make(q == r, 0);
        if (is_stored) x = conj_if(a.at[r * a.rs + q * a.cs], conj);
        to[k] = x;
    }
}

inline void put_a(const elem *from, __local elem *to, long rs) {
    const int lane = get_local_id(0);
#pragma unroll
    for (int k = 0; k < A_EACH; ++k)
        to[column_of(lane + k * LANES, ORDER, rs) * A_ROWS + row_of(lane + k * LANES, ORDER, rs)] = from[k];
}

// Loads ORDER rows of B, from row p, with zeros beyond row n and column `have`.
inline void fetch_x(elem *to, Matrix b, int p, int n, int have) {
    const int lane = get_local_id(0);
#pragma unroll
    for (int k = 0; k < X_EACH; ++k) {
        const int r = p + row_of(lane + k * LANES, COLUMNS, b.rs), c = column_of(lane + k * LANES, COLUMNS, b.rs);
        elem x = make(0, 0);
        if (r < n && c < have) x = b.at[r * b.rs + c * b.cs];
        to[k] = x;
    }
}

inline void put_x(const elem *from, __local elem *to, long rs) {
    const int lane = get_local_id(0);
#pragma unroll
    for (int k = 0; k < X_EACH; ++k)
        to[column_of(lane + k * LANES, COLUMNS, rs) * X_ROWS + row_of(lane + k * LANES, COLUMNS, rs)] = from[k];
}

// Stores a block of rows of B from local memory, from row p.
inline void store_x(__local const elem *from, Matrix b, int p, int n, int have) {
    const int lane = get_local_id(0);
    for (int k = 0; k < X_EACH; ++k) {
        const int r = row_of(lane + k * LANES, COLUMNS, b.rs), c = column_of(lane + k * LANES, COLUMNS, b.rs);
        if (p + r < n && c < have) b.at[(p + r) * b.rs + c * b.cs] = from[c * X_ROWS + r];
    }
}

// sum := sum + A X for the work-item's rows and columns.
inline void accumulate(elem sum[M_EACH][N_EACH], __local const elem *a, __local const elem *x, int row, int column) {
#pragma unroll 8
    for (int q = 0; q < ORDER; ++q) {
        elem left[M_EACH];
#pragma unroll
        for (int u = 0; u < M_EACH; ++u) left[u] = a[q * A_ROWS + row + u * SIDE];
#pragma unroll
        for (int v = 0; v < N_EACH; ++v) {
            const elem right = x[(column + v * SIDE) * X_ROWS + q];
#pragma unroll
            for (int u = 0; u < M_EACH; ++u) sum[u][v] += times(left[u], right);
        }
    }
}

// Solves for PART rows of a column from row `top`, with the block of the diagonal.
inline void solve_part(__local const elem *a, __local elem *x, int top) {
    elem part[PART];
#pragma unroll
    for (int r = 0; r < PART; ++r) part[r] = x[top + r];
#pragma unroll
    for (int q = 0; q < PART; ++q) {
        part[q] = quotient(part[q], a[(top + q) * A_ROWS + top + q]);
#pragma unroll
        for (int r = q + 1; r < PART; ++r) part[r] -= times(a[(top + q) * A_ROWS + top + r], part[q]);
    }
#pragma unroll
    for (int r = 0; r < PART; ++r) x[top + r] = part[r];
}

// Subtracts the product of these rows from row r of a column.
inline void subtract_part(__local const elem *a, __local elem *x, int r, int top) {
    elem rest = x[r];
#pragma unroll
    for (int q = 0; q < PART; ++q) rest -= times(a[(top + q) * A_ROWS + r], x[top + q]);
    x[r] = rest;
}

// The arguments and the memory of both kernels.
#define ARGUMENTS                                                                                                      \
    __global real *restrict heap, ulong triangle, long ars, long acs, int conj, int unit, ulong from, long brs,        \
        long bcs, int n, int count
#define SETUP                                                                                                          \
    __local elem own_a[ORDER * A_ROWS];                                                                                \
    __local elem own_x[COLUMNS * X_ROWS];                                                                              \
    const int lane = get_local_id(0), row = lane % SIDE, column = lane / SIDE;                                   \
    const int first = get_group_id(0) * COLUMNS, have = min(COLUMNS, count - first);                                   \
    const Matrix a = {(__global elem *)heap + triangle, ars, acs};                                                     \
    const Matrix b = {(__global elem *)heap + from + first * bcs, brs, bcs};                                           \
    elem sum[M_EACH][N_EACH], next_a[A_EACH], next_x[X_EACH]
#define CLEAR                                                                                                          \
    for (int u = 0; u < M_EACH; ++u)                                                                                   \
        for (int v = 0; v < N_EACH; ++v) sum[u][v] = make(0, 0)

// Adds the products of the blocks left of the diagonal. Each block is loaded while the one before is multiplied; the
// one that is loaded last is that on the diagonal.
#define PRODUCTS                                                                                                       \
    fetch_a(next_a, a, i, 0, n, conj, unit);                                                                           \
    fetch_x(next_x, b, 0, n, have);                                                                                    \
    for (int p = 0; p < i; p += ORDER) {                                                                               \
        TOGETHER;                                                                                                      \
        put_a(next_a, own_a, ars);                                                                                     \
        put_x(next_x, own_x, brs);                                                                                     \
        TOGETHER;                                                                                                      \
        fetch_a(next_a, a, i, p + ORDER, n, conj, unit);                                                               \
        fetch_x(next_x, b, p + ORDER, n, have);                                                                        \
        accumulate(sum, own_a, own_x, row, column);                                                                    \
    }                                                                                                                  \
    TOGETHER;                                                                                                          \
    put_a(next_a, own_a, ars);                                                                                         \
    put_x(next_x, own_x, brs)

// Solves A X = B; X replaces B.
__kernel GROUP(LANES) void solve(ARGUMENTS) {
    SETUP;
    for (int i = 0; i < n; i += ORDER) {
        CLEAR;
        PRODUCTS;
        TOGETHER;
        for (int v = 0; v < N_EACH; ++v)
            for (int u = 0; u < M_EACH; ++u)
                own_x[(column + v * SIDE) * X_ROWS + row + u * SIDE] -= sum[u][v];
        TOGETHER;
        for (int top = 0; top < ORDER; top += PART) {
            for (int c = lane; c < COLUMNS; c += LANES) solve_part(own_a, own_x + c * X_ROWS, top);
            TOGETHER;
            for (int v = 0; v < N_EACH; ++v)
                for (int u = 0; u < M_EACH; ++u)
                    if (row + u * SIDE >= top + PART)
                        subtract_part(own_a, own_x + (column + v * SIDE) * X_ROWS, row + u * SIDE, top);
            TOGETHER;
        }
        store_x(own_x, b, i, n, have);
        TOGETHER;
    }
}

// Computes A B in place of B, from the last rows to the first.
__kernel GROUP(LANES) void multiply(ARGUMENTS) {
    SETUP;
    for (int i = (n - 1) / ORDER * ORDER; i >= 0; i -= ORDER) {
        CLEAR;
        PRODUCTS;
        TOGETHER;
        for (int q = 0; q < ORDER; ++q)
            for (int u = 0; u < M_EACH; ++u) {
                const int r = row + u * SIDE;
                const elem left = own_a[q * A_ROWS + r];
                for (int v = 0; v < N_EACH; ++v)
                    if (q <= r) sum[u][v] += times(left, own_x[(column + v * SIDE) * X_ROWS + q]);
            }
        TOGETHER;
        for (int v = 0; v < N_EACH; ++v)
            for (int u = 0; u < M_EACH; ++u)
                own_x[(column + v * SIDE) * X_ROWS + row + u * SIDE] = sum[u][v];
        TOGETHER;
        store_x(own_x, b, i, n, have);
        TOGETHER;
    }
}
