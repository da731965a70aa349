// Steps of the QR factorization of a panel of w <= WIDTH columns and at least as many rows. Included after `panel.cl`.
// Required definition: GROUPS_MAX.
//
// Each group stores the products of column j, below the diagonal, with all columns: those on its right, which its
// reflector changes, and the vectors of earlier reflectors, for the triangular factor T. It first scales column j by a
// power of two, so that squares neither overflow nor underflow. `state` begins with the sums of all groups and row j,
// twice; then come the largest parts of the column in each group. The last group has no rows: it computes a column of
// T.

#define SUMS_OF(parity) (sums_of + (parity) * (groups + 1) * WIDTH)
#define HEAD_OF(parity) (SUMS_OF(parity) + groups * WIDTH)
#define T(i, j) t[(i) + (j) * ldt]

// The work-items that add up the sums of one column.
#if LANES < WIDTH
#define PARTS 1
#else
#define PARTS (LANES / WIDTH)
#endif
#if PARTS < ROW_LANES
#define ROOM (WIDTH * ROW_LANES)
#else
#define ROOM (WIDTH * PARTS)
#endif

inline elem conjugate(elem x) { return make(RE(x), -IM(x)); }
inline real part_of(elem x) { return fmax(fabs(RE(x)), fabs(IM(x))); }

// Returns the power of two by which m numbers are multiplied, of which the largest part is `most`. The sum of their
// squares is then at most one. The inverse is finite.
inline real level_of(real most, int m) {
    const int margin = (36 - (int)clz(m)) / 2;
#if DOUBLE
    const int exponent = (int)(as_long(most) >> 52 & 0x7ff);
    return as_double((long)clamp(2046 - exponent - margin, 1, 2045) << 52);
#else
    const int exponent = as_int(most) >> 23 & 0xff;
    return as_float(clamp(254 - exponent - margin, 1, 253) << 23);
#endif
}

// Finds the largest of all work-items' numbers, in all work-items. NaN is ignored.
inline real largest_of_group(real x, OWN real *room) {
#if LANES > 1
    const int lane = get_local_id(0);
    room[lane] = x;
    TOGETHER;
    for (int by = LANES / 2; by > 0; by /= 2) {
        if (lane < by) room[lane] = fmax(room[lane], room[lane + by]);
        TOGETHER;
    }
    x = room[0];
    TOGETHER;
#endif
    return x;
}

// Adds up parts, which are `apart` elements from each other.
inline elem total(OWN const elem *parts, int count, int apart) {
    elem sum = parts[0];
    for (int p = 1; p < count; ++p) sum += parts[p * apart];
    return sum;
}

// H = I - tau v vᴴ with Hᴴ x = beta e1 and v[0] = 1. The rest of v is that of x times `level`, times `scale`.
typedef struct {
    real beta, level;
    elem tau, scale;
} PanelReflector;

// Returns the reflector of a vector with this first element. `squares` is the sum of the squares of the others times
// `level`, and `most` is their largest part.
inline PanelReflector panel_reflector(elem alpha, real squares, real most, real level) {
    // NaN is not zero.
    if (most == 0 && squares == 0 && IM(alpha) == 0) {
        const PanelReflector none = {RE(alpha), level, make(0, 0), make(0, 0)};
        return none;
    }
    const elem top = alpha * level;
    const real norm = sqrt(square_of(top) + squares), beta = RE(top) < 0 ? norm : -norm;
    // 1 / (top - beta) is -1 / (tau beta), and the modulus of tau is from one to two.
    const elem tau = make(1 - RE(top) / beta, -IM(top) / beta);
    const real by = -square_of(tau) * beta;
    const PanelReflector h = {beta / level, level, tau, make(RE(tau) / by, -IM(tau) / by)};
    return h;
}

// The memory of a group.
#define MEMORY                                                                                                         \
    OWN real ratios[GROUPS_MAX], sizes[LANES];                                                                         \
    OWN elem z[WIDTH], room[ROOM]

// Step j.
inline void factor_column(__global real *heap, ulong at, ulong ld, int m, int w, int j, int rows, ulong state,
                          ulong tau_at, ulong t_at, ulong ldt, OWN real *ratios, OWN real *sizes, OWN elem *z,
                          OWN elem *room) {
    const int c = j - 1, now = j % 2, then = (j + 1) % 2;
    const int group = get_group_id(0), groups = get_num_groups(0) - 1, lane = get_local_id(0);
    const int first = group * rows, end = group < groups ? min(m, first + rows) : 0, begin = max(first, j);
    __global elem *a = (__global elem *)heap + at, *sums_of = (__global elem *)heap + state,
                  *t = (__global elem *)heap + t_at;
    __global real *sizes_of = (__global real *)(sums_of + 2 * (groups + 1) * WIDTH);

    // The reflector of column c. Before the first step no group has stored anything.
    const int count = j > 0 ? groups : 0;
    __global const elem *head = HEAD_OF(then);
    const elem alpha = j > 0 ? head[c] : make(0, 0);
    real most = 0;
    for (int g = lane; g < count; g += LANES) most = fmax(most, sizes_of[then * groups + g]);
    most = largest_of_group(most, sizes);
    const real level = level_of(fmax(most, part_of(alpha)), m);
    for (int g = lane; g < count; g += LANES) ratios[g] = level / level_of(sizes_of[then * groups + g], m);
    TOGETHER;
    for (int k = lane; k < PARTS * WIDTH; k += LANES) {
        const int q = k % WIDTH, all = q < w ? count : 0;
        elem sum = make(0, 0);
        for (int g = k / WIDTH; g < all; g += PARTS) {
            const real by = ratios[g];
            sum += SUMS_OF(then)[g * WIDTH + q] * (q == c ? by * by : by);
        }
        room[k] = sum;
    }
    TOGETHER;
    const real squares = j > 0 ? RE(total(room + c, PARTS, WIDTH)) : (real)0;
    const PanelReflector h = panel_reflector(alpha, squares, most, level);
    // vᴴ A, which is multiplied by conj(tau) for the columns on the right.
    for (int q = lane; q < w; q += LANES) {
        elem y = make(0, 0);
        if (j > 0 && !is_zero(h.tau)) {
            y = head[q] + times(conjugate(h.scale), total(room + q, PARTS, WIDTH));
            if (q > c) y = times(conjugate(h.tau), y);
        }
        z[q] = y;
    }
    TOGETHER;

    // T's column c is -tau T (Vᴴ v).
    if (group == groups && j > 0) {
        for (int k = lane; k < w; k += LANES) {
            elem sum = make(0, 0);
            for (int l = k; l < c; ++l) sum = minus(sum, T(k, l), conjugate(z[l]));
            T(k, c) = k < c ? times(h.tau, sum) : k == c ? h.tau : make(0, 0);
        }
        if (lane == 0) ((__global elem *)heap)[tau_at + c] = h.tau;
    }
    // Row c of R.
    if (first <= c && c < end)
        for (int q = c + lane; q < w; q += LANES) a[c + q * ld] = q == c ? make(h.beta, 0) : head[q] - z[q];

    // Columns c and j.
    real size = 0;
    for (int i = begin + lane; i < end; i += LANES) {
        elem v = make(0, 0);
        if (j > 0) {
            v = times(a[i + c * ld] * h.level, h.scale);
            a[i + c * ld] = v;
        }
        if (j < w) {
            const elem x = j > 0 ? minus(a[i + j * ld], v, z[j]) : a[i + j * ld];
            a[i + j * ld] = x;
            if (i > j) size = fmax(size, part_of(x));
        }
    }
    size = largest_of_group(size, sizes);

    // The columns on the right, and the products of column j with all columns. After the last step there are none.
    const int columns = j < w ? w : 0;
    const real own_level = level_of(size, m);
    for (int q = COLUMN_LANE; q < columns; q += COLUMN_LANES) room[q * ROW_LANES + ROW_LANE] = make(0, 0);
    for (int block = begin; block < end; block += ROW_LANES * ROWS) {
        elem v[ROWS], x[ROWS];
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            const int i = ROW(block, r);
            v[r] = j > 0 && i < end ? a[i + c * ld] : make(0, 0);
            x[r] = j < w && j < i && i < end ? conjugate(a[i + j * ld]) * own_level : make(0, 0);
        }
        for (int q = COLUMN_LANE; q < columns; q += COLUMN_LANES) {
            const int is_right = j > 0 && q > j;
            const elem by = is_right ? z[q] : make(0, 0);
            __global elem *column = a + q * ld;
            elem y[ROWS], sum = make(0, 0);
#pragma unroll
            for (int r = 0; r < ROWS; ++r) {
                const int i = ROW(block, r);
                y[r] = i < end ? column[i] : make(0, 0);
            }
#pragma unroll
            for (int r = 0; r < ROWS; ++r) {
                y[r] = minus(y[r], v[r], by);
                sum += q == j ? make(square_of(x[r]), 0) : times(x[r], y[r]);
            }
            room[q * ROW_LANES + ROW_LANE] += sum;
#pragma unroll
            for (int r = 0; r < ROWS; ++r) {
                const int i = ROW(block, r);
                if (is_right && i < end) column[i] = y[r];
            }
        }
    }
    TOGETHER;
    if (group < groups)
        for (int q = lane; q < columns; q += LANES)
            SUMS_OF(now)[group * WIDTH + q] = total(room + q * ROW_LANES, ROW_LANES, 1);
    if (first <= j && j < end)
        for (int q = lane; q < columns; q += LANES) HEAD_OF(now)[q] = a[j + q * ld];
    if (group < groups && lane == 0) sizes_of[now * groups + group] = size;
}

__kernel GROUP(LANES) void geqrf_step(__global real *restrict heap, ulong at, ulong ld, int m, int w, int j, int rows,
                                      ulong state, ulong tau_at, ulong t_at, ulong ldt) {
    MEMORY;
    factor_column(heap, at, ld, m, w, j, rows, state, tau_at, t_at, ldt, ratios, sizes, z, room);
}
