// Steps of the QR factorization of a panel of w <= WIDTH columns and at least as many rows. Included after `panel.cl`.
//
// Each group stores the products of column j, below the diagonal, with all columns: those on its right, which its
// reflector changes, and the vectors of earlier reflectors, for the triangular factor T. It first scales column j by a
// power of two, so that squares neither overflow nor underflow. `state` begins with the sums of all groups and row j,
// twice; then come the largest parts of the column in each group. The last group has no rows: it computes a column of
// T.

// The work-items that add up the sums of one column.
#if LANES < WIDTH
#define STRANDS 1
#else
#define STRANDS (LANES / WIDTH)
#endif
#if STRANDS < ROW_LANES
#define ROOM (WIDTH * ROW_LANES)
#else
#define ROOM (WIDTH * STRANDS)
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
    if (is_zero(make(most, IM(alpha))) && squares == 0) {
        const PanelReflector none = {RE(alpha), level, make(0, 0), make(0, 0)};
        return none;
    }
    const elem top = alpha * level;
    const real norm = sqrt(square_of(top) + squares), beta = RE(top) < 0 ? norm : -norm;
    // The vector is divided by top - beta.
    const elem divisor = make(RE(top) - beta, IM(top));
    const real by = 1 / square_of(divisor);
    const PanelReflector h = {beta / level, level, make(1 - RE(top) / beta, -IM(top) / beta),
                              make(RE(divisor) * by, -IM(divisor) * by)};
    return h;
}

// What the groups stored for a column: the sums of all of them and the row on its diagonal, and the largest parts.
typedef struct {
    __global elem *sums, *head;
    __global real *sizes;
} Stored;

inline Stored stored_at(__global elem *state, int groups, int parity) {
    __global elem *sums = state + parity * (groups + 1) * WIDTH;
    const Stored there = {sums, sums + groups * WIDTH,
                          (__global real *)(state + 2 * (groups + 1) * WIDTH) + parity * groups};
    return there;
}

// Adds up the sums of column c of so many groups, scaled by the level of all, in STRANDS parts each. Returns the level,
// and the largest part of the column below its diagonal.
inline real add_up(Panel its, Stored there, int count, elem alpha, real *largest, OWN real *ratios, OWN real *sizes,
                   OWN elem *room) {
    const int c = its.j - 1, lane = get_local_id(0);
    real most = 0;
    for (int g = lane; g < count; g += LANES) most = fmax(most, there.sizes[g]);
    most = largest_of_group(most, sizes);
    *largest = most;
    const real level = level_of(fmax(most, part_of(alpha)), its.m);
    for (int g = lane; g < count; g += LANES) ratios[g] = level / level_of(there.sizes[g], its.m);
    TOGETHER;
    for (int k = lane; k < STRANDS * WIDTH; k += LANES) {
        const int q = k % WIDTH, all = q < its.w ? count : 0;
        elem sum = make(0, 0);
        for (int g = k / WIDTH; g < all; g += STRANDS) {
            const real by = ratios[g];
            sum += there.sums[g * WIDTH + q] * (q == c ? by * by : by);
        }
        room[k] = sum;
    }
    TOGETHER;
    return level;
}

// Stores T's column c, -tau T (Vᴴ v), and tau. `products` are vᴴ V.
inline void store_factor(Panel its, elem tau, OWN const elem *products, __global elem *taus, __global elem *t,
                         ulong ldt) {
    const int c = its.j - 1;
    for (int k = get_local_id(0); k < its.w; k += LANES) {
        elem sum = make(0, 0);
        for (int l = k; l < c; ++l) sum = minus(sum, t[k + l * ldt], conjugate(products[l]));
        t[k + c * ldt] = k < c ? times(tau, sum) : k == c ? tau : make(0, 0);
    }
    if (get_local_id(0) == 0) taus[c] = tau;
}

// Makes column c the reflector's vector, and applies the reflector to column j, in each work-item's rows. Returns the
// largest part of column j below its diagonal in these rows.
inline real reflect_column(Panel its, PanelReflector h, elem z) {
    const int j = its.j, c = j - 1;
    real size = 0;
    for (int i = its.begin + get_local_id(0); i < its.end; i += LANES) {
        elem v = make(0, 0);
        if (j > 0) {
            v = times(its.a[i + c * its.ld] * h.level, h.scale);
            its.a[i + c * its.ld] = v;
        }
        if (j == its.w) continue;
        elem x = its.a[i + j * its.ld];
        if (j > 0) {
            x = minus(x, v, z);
            its.a[i + j * its.ld] = x;
        }
        if (i > j) size = fmax(size, part_of(x));
    }
    return size;
}

// Applies the reflector to the columns after j, and multiplies column j, scaled, with all columns. The sums of column q
// are in `room` from q * ROW_LANES on. After the last step there is no column j.
inline void reflect_rest(Panel its, real level, OWN const elem *z, OWN elem *room) {
    const int j = its.j, columns = j < its.w ? its.w : 0;
    const ulong ld = its.ld;
    for (int q = COLUMN_LANE; q < columns; q += COLUMN_LANES) room[q * ROW_LANES + ROW_LANE] = make(0, 0);
    for (int block = its.begin; block < its.end; block += ROW_LANES * ROWS) {
        elem v[ROWS], x[ROWS];
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            const int i = ROW(block, r);
            v[r] = j > 0 && i < its.end ? its.a[i + (j - 1) * ld] : make(0, 0);
            x[r] = columns > 0 && j < i && i < its.end ? conjugate(its.a[i + j * ld]) * level : make(0, 0);
        }
        for (int q = COLUMN_LANE; q < columns; q += COLUMN_LANES) {
            const int is_right = j > 0 && q > j;
            const elem by = is_right ? z[q] : make(0, 0);
            __global elem *column = its.a + q * ld;
            elem y[ROWS], sum = make(0, 0);
#pragma unroll
            for (int r = 0; r < ROWS; ++r) y[r] = ROW(block, r) < its.end ? column[ROW(block, r)] : make(0, 0);
#pragma unroll
            for (int r = 0; r < ROWS; ++r) {
                y[r] = minus(y[r], v[r], by);
                sum += q == j ? make(square_of(x[r]), 0) : times(x[r], y[r]);
            }
            room[q * ROW_LANES + ROW_LANE] += sum;
#pragma unroll
            for (int r = 0; r < ROWS; ++r)
                if (is_right && ROW(block, r) < its.end) column[ROW(block, r)] = y[r];
        }
    }
}

__kernel GROUP(LANES) void geqrf_step(__global real *restrict heap, ulong at, ulong ld, int m, int w, int j, int rows,
                                      ulong state_at, ulong tau, ulong t, ulong ldt) {
    OWN real ratios[GROUPS_MAX], sizes[LANES];
    OWN elem z[WIDTH], room[ROOM];
    const int c = j - 1, group = get_group_id(0), groups = get_num_groups(0) - 1, lane = get_local_id(0);
    const Panel its = panel_of((__global elem *)heap + at, ld, m, w, j, rows);
    __global elem *state = (__global elem *)heap + state_at;
    const Stored there = stored_at(state, groups, (j + 1) % 2), here = stored_at(state, groups, j % 2);

    // The reflector of column c. Before the first step no group has stored anything.
    const elem alpha = j > 0 ? there.head[c] : make(0, 0);
    real most;
    const real level = add_up(its, there, j > 0 ? groups : 0, alpha, &most, ratios, sizes, room);
    const real squares = j > 0 ? RE(total(room + c, STRANDS, WIDTH)) : (real)0;
    const PanelReflector h = panel_reflector(alpha, squares, most, level);
    // vᴴ A, which is multiplied by conj(tau) for the columns on the right.
    for (int q = lane; q < w; q += LANES) {
        elem y = make(0, 0);
        if (!is_zero(h.tau)) y = there.head[q] + times(conjugate(h.scale), total(room + q, STRANDS, WIDTH));
        z[q] = q > c ? times(conjugate(h.tau), y) : y;
    }
    TOGETHER;

    if (group == groups && j > 0)
        store_factor(its, h.tau, z, (__global elem *)heap + tau, (__global elem *)heap + t, ldt);
    // Row c of R.
    if (has_row(its, c))
        for (int q = c + lane; q < w; q += LANES) its.a[c + q * ld] = q == c ? make(h.beta, 0) : there.head[q] - z[q];
    const real size = largest_of_group(reflect_column(its, h, j < w ? z[j] : make(0, 0)), sizes);
    reflect_rest(its, level_of(size, m), z, room);
    TOGETHER;
    for (int q = lane; q < (j < w ? w : 0); q += LANES) {
        if (group < groups) here.sums[group * WIDTH + q] = total(room + q * ROW_LANES, ROW_LANES, 1);
        if (has_row(its, j)) here.head[q] = its.a[j + q * ld];
    }
    if (group < groups && lane == 0) here.sizes[group] = size;
}
