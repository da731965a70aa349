// All steps of the QR factorization of a panel by one launch, whose groups keep their rows in their own memory.
// Included after `panel_qr.cl` and `panel_own.cl`.
//
// Columns are first scaled by powers of two, so that no product of two columns overflows or loses digits that matter.
// That changes neither V nor T, and the columns of R are scaled back at the end. So a step has one barrier for all
// groups. What follows from its sums about column j is also found by every warp for itself: work-item q knows about
// column q.

// Sums of other groups that a work-item loads at a time.
#define LOADS 12
// The least square of a column's norm, after the columns are scaled, that squares of numbers add up to accurately. What
// is less does not matter in the column: it is much less than a rounding error.
#if DOUBLE
#define SQUARE_MIN (TINY / DBL_EPSILON)
#else
#define SQUARE_MIN (TINY / FLT_EPSILON)
#endif

inline elem joined(elem x, elem y, int is_size) { return is_size ? make(fmax(RE(x), RE(y)), 0) : x + y; }

// Joins the parts of the warp's columns, which each of its work-items has, and stores them for the group. Columns are
// divided among work-items while there are several.
inline void store_sums(elem *parts, int is_size, int w, __global elem *sums) {
    const int lane = get_local_id(0) % WARP;
    int by = WARP / 2;
#pragma unroll
    for (int count = WARP_COLUMNS / 2; count > 0; count /= 2) {
        const int is_upper = (lane & by) != 0;
#pragma unroll
        for (int k = 0; k < count; ++k) {
            const elem low = parts[k], high = parts[k + count];
            parts[k] = joined(is_upper ? high : low, exchanged(is_upper ? low : high, by), is_size);
        }
        by /= 2;
    }
    elem sum = parts[0];
#pragma unroll
    for (int rest = WARP / WARP_COLUMNS / 2; rest > 0; rest /= 2) sum = joined(sum, exchanged(sum, rest), is_size);
    const int q = WARP_COLUMN(lane / (WARP / WARP_COLUMNS));
    if (lane % (WARP / WARP_COLUMNS) == 0 && q < w) sums[q] = sum;
}

// Joins what all groups have stored. The result is about the column with the work-item's number in its warp, and has no
// meaning if there is no such column. No load depends on a condition, so all of them run at the same time.
inline elem join_sums(__global const elem *sums, int groups, int is_size, __local elem *room) {
    const int lane = get_local_id(0), q = lane % WIDTH;
    elem sum = make(0, 0);
    for (int block = lane / WIDTH; block < groups; block += WARPS * LOADS) {
        elem x[LOADS];
#pragma unroll
        for (int r = 0; r < LOADS; ++r) x[r] = sums[min(block + r * WARPS, groups - 1) * WIDTH + q];
#pragma unroll
        for (int r = 0; r < LOADS; ++r)
            if (block + r * WARPS < groups) sum = joined(sum, x[r], is_size);
    }
    room[lane] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    sum = room[q];
#pragma unroll
    for (int s = 1; s < WARPS; ++s) sum = joined(sum, room[s * WIDTH + q], is_size);
    return sum;
}

// Stores the largest parts of the columns for the group. Each work-item looks at the elements that it has loaded.
inline void store_sizes(OwnRows its, __global elem *sums) {
    elem sizes[WARP_COLUMNS];
#pragma unroll
    for (int k = 0; k < WARP_COLUMNS; ++k) {
        const int q = WARP_COLUMN(k);
        sizes[k] = make(0, 0);
        for (int i = WARP_ROW(0, 0); q < its.w && i < its.have; i += WARP)
            sizes[k] = joined(sizes[k], make(part_of(its.own[q * its.rows + i]), 0), 1);
    }
    store_sums(sizes, 1, its.w, sums);
}

// Scales the columns by their levels.
inline void scale_rows(OwnRows its, __local const real *levels) {
    for (int q = WARP_COLUMN(0); q < its.w; q += WARPS)
        for (int i = WARP_ROW(0, 0); i < its.have; i += WARP) its.own[q * its.rows + i] *= levels[q];
}

inline void store_rows(OwnRows its, __local const real *levels, __global elem *a, ulong ld) {
    for (int q = WARP_COLUMN(0); q < its.w; q += WARPS)
        for (int i = WARP_ROW(0, 0); i < its.have; i += WARP) {
            const elem x = its.own[q * its.rows + i];
            a[i + q * ld] = its.first + i <= q ? x * (1 / levels[q]) : x;
        }
}

// Returns the reflector of a column with this element on the diagonal.
inline PanelReflector scaled_reflector(elem alpha, real squares) {
    const int is_nothing = square_of(alpha) + squares < SQUARE_MIN;
    return panel_reflector(is_nothing ? make(RE(alpha), 0) : alpha, is_nothing ? 0 : squares, 0, 1);
}

// Applies the reflector of column j - 1 to the columns after j, and stores the products of column j with all columns,
// and row j. z is vᴴ A times conj(tau), by columns. Columns j - 1 and j are left to `settle`, because all warps read
// them.
inline void reflect_own(OwnRows its, int j, elem scale, elem z, __global elem *sums, __global elem *head) {
    const int c = j - 1, above = c - its.first, diagonal = j - its.first;
    const elem by_j = broadcast(z, j);
    elem by[WARP_COLUMNS], parts[WARP_COLUMNS];
#pragma unroll
    for (int k = 0; k < WARP_COLUMNS; ++k) {
        by[k] = broadcast(z, WARP_COLUMN(k));
        parts[k] = make(0, 0);
    }
    for (int block = 0; block < its.have; block += WARP * ROWS) {
        elem v[ROWS], x[ROWS];
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            const int i = WARP_ROW(block, r), is_below = above < i && i < its.have;
            v[r] = is_below && j > 0 ? times(its.own[c * its.rows + i], scale) : make(0, 0);
            x[r] = is_below ? minus(its.own[j * its.rows + i], v[r], by_j) : make(0, 0);
        }
#pragma unroll
        for (int k = 0; k < WARP_COLUMNS; ++k) {
            const int q = WARP_COLUMN(k);
            if (q >= its.w) continue;
            __local elem *column = its.own + q * its.rows;
            elem y[ROWS];
#pragma unroll
            for (int r = 0; r < ROWS; ++r) {
                const int i = WARP_ROW(block, r);
                y[r] = q == c ? v[r] : q == j ? x[r] : above < i && i < its.have ? column[i] : make(0, 0);
                if (q > j) y[r] = minus(y[r], v[r], by[k]);
            }
#pragma unroll
            for (int r = 0; r < ROWS; ++r) {
                const int i = WARP_ROW(block, r);
                if (q > j && above < i && i < its.have) column[i] = y[r];
                if (i == diagonal && i < its.have) head[q] = y[r];
                if (i > diagonal) parts[k] += q == j ? make(square_of(x[r]), 0) : times(conjugate(x[r]), y[r]);
            }
        }
    }
    store_sums(parts, 0, its.w, sums);
}

// Makes column j - 1 the reflector's vector, with row j - 1 of R, and applies the reflector to column j.
inline void settle(OwnRows its, int j, PanelReflector h, elem z, elem head) {
    const int c = j - 1, above = c - its.first, lane = get_local_id(0), q = lane % WARP;
    const elem by_j = broadcast(z, j % WARP);
    for (int i = max(above + 1, 0) + lane; i < its.have; i += LANES) {
        const elem v = times(its.own[c * its.rows + i], h.scale);
        its.own[c * its.rows + i] = v;
        if (j < its.w) its.own[j * its.rows + i] = minus(its.own[j * its.rows + i], v, by_j);
    }
    if (owns(its, above) && lane == q && c <= q && q < its.w)
        its.own[q * its.rows + above] = q == c ? make(h.beta, 0) : head - z;
}

// Stores T's column c, -tau T (Vᴴ v), and tau. z is vᴴ V, by columns. A group without rows has T in its own memory;
// each work-item of its first warp has a row.
inline void factor_own(OwnRows its, int c, elem tau, elem z, __global elem *taus, __global elem *t, ulong ldt) {
    const int k = get_local_id(0);
    if (k >= WARP) return;
    elem sum = make(0, 0);
    for (int l = 0; l < c; ++l) {
        const elem product = conjugate(broadcast(z, l));
        if (k <= l) sum = minus(sum, its.own[k + l * WIDTH], product);
    }
    const elem x = k < c ? times(tau, sum) : k == c ? tau : make(0, 0);
    its.own[k + c * WIDTH] = x;
    if (k < its.w) t[k + c * ldt] = x;
    if (k == c) taus[c] = tau;
}

// As `geqrf_step`, for all columns. `arrived` is the count of the barriers, of which `before` arrivals are over.
__kernel GROUP(LANES) void geqrf_together(__global real *restrict heap, ulong at, ulong ld, int m, int w, int rows,
                                          ulong state_at, ulong tau, ulong t, ulong ldt, ulong arrived,
                                          int before) {
    const int group = get_group_id(0), groups = get_num_groups(0) - 1, lane = get_local_id(0), q = lane % WARP;
    __local elem own[OWN_ELEMENTS], room[LANES];
    __local real levels[WIDTH];
    const OwnRows its = {own, w, rows, group < groups ? min(m - group * rows, rows) : 0, group * rows};
    __global elem *a = (__global elem *)heap + at + its.first, *state = (__global elem *)heap + state_at;
    __global int *count = (__global int *)heap + arrived;

    const Stored sizes = stored_at(state, groups, 1);
    load_own(its, a, ld);
    if (group < groups) store_sizes(its, sizes.sums + group * WIDTH);
    arrive(count);
    wait_for_all(count, before + groups + 1);
    const real level = level_of(RE(join_sums(sizes.sums, groups, 1, room)), m);
    if (lane == q) levels[q] = level;
    TOGETHER;
    scale_rows(its, levels);
    TOGETHER;
    for (int j = 0; j <= w; ++j) {
        const int c = j - 1;
        const Stored there = stored_at(state, groups, (j + 1) % 2), here = stored_at(state, groups, j % 2);
        PanelReflector h = {0, 1, make(0, 0), make(0, 0)};
        elem head = make(0, 0), z = make(0, 0);
        if (j > 0) {
            head = there.head[q];
            const elem sum = join_sums(there.sums, groups, 0, room);
            h = scaled_reflector(broadcast(head, c), RE(broadcast(sum, c)));
            if (!is_zero(h.tau)) z = head + times(conjugate(h.scale), sum);
            if (q > c) z = times(conjugate(h.tau), z);
        }
        if (j < w) {
            if (group < groups) reflect_own(its, j, h.scale, z, here.sums + group * WIDTH, here.head);
            arrive(count);
        }
        if (j > 0 && group == groups)
            factor_own(its, c, h.tau, z, (__global elem *)heap + tau, (__global elem *)heap + t, ldt);
        else if (j > 0)
            settle(its, j, h, z, head);
        if (j < w) wait_for_all(count, before + (j + 2) * (groups + 1));
    }
    TOGETHER;
    store_rows(its, levels, a, ld);
}
