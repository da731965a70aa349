// All steps of the LU factorization of a panel by one launch, whose groups keep their rows in their own memory.
// Included after `panel_lu.cl` and `together.cl`. Required definitions: LANES, WIDTH, and OWN_ELEMENTS, which a group's
// rows of w columns fit into.

// Rows that work-items take side by side.
#define SIDE_ROWS 64

// As `getrf_step`, for all columns. `arrived` is the count of the barriers, of which `before` are over.
__kernel GROUP(LANES) void getrf_together(__global real *restrict heap, ulong at, ulong ld, int m, int w, int rows,
                                           int above, ulong state, ulong ipiv, ulong arrived, int before) {
    const int group = get_group_id(0), groups = get_num_groups(0), lane = get_local_id(0);
    const int first = group * rows, have = min(m - first, rows);
    __global elem *a = (__global elem *)heap + at + first, *rows_of = (__global elem *)heap + state;
    __global real *sizes_of = (__global real *)(rows_of + 2 * (groups + 1) * WIDTH);
    __global int *numbers_of = (__global int *)(sizes_of + 2 * groups);
    __global int *count = (__global int *)heap + arrived;
    __local elem own[OWN_ELEMENTS];
    __local Candidate room[LANES];
    __local elem top[WIDTH], old[WIDTH];
    const int row = lane % SIDE_ROWS, strand = lane / SIDE_ROWS;
    for (int i = row; i < have; i += SIDE_ROWS)
        for (int q = strand; q < w; q += LANES / SIDE_ROWS) own[q * rows + i] = a[i + q * ld];
    TOGETHER;
    for (int c = 0; c < w; ++c) {
        const int parity = c % 2, mine = c - first;
        // NaN is not larger than zero.
        Candidate found = {-1, m};
        for (int i = max(mine, 0) + lane; i < have; i += LANES) {
            const real size = size_of(own[c * rows + i]), key = size > 0 ? size : 0;
            if (key > found.size) {
                found.size = key;
                found.row = first + i;
            }
        }
        found = best_of_group(found, room);
        for (int q = lane; q < w; q += LANES) {
            if (found.row < m) ROWS_OF(parity)[group * WIDTH + q] = own[q * rows + found.row - first];
            if (0 <= mine && mine < have) ROWS_OF(parity)[groups * WIDTH + q] = own[q * rows + mine];
        }
        if (lane == 0) {
            sizes_of[parity * groups + group] = found.size;
            numbers_of[parity * groups + group] = found.row;
        }
        arrive(count);
        wait_for_all(count, before + (c + 1) * groups);
        Candidate pivot_of = {-1, m};
        for (int g = lane; g < groups; g += LANES) {
            const Candidate other = {sizes_of[parity * groups + g], numbers_of[parity * groups + g]};
            if (is_before(other, pivot_of)) pivot_of = other;
        }
        const int best = best_of_group(pivot_of, room).row;
        for (int q = lane; q < w; q += LANES) {
            top[q] = ROWS_OF(parity)[best / rows * WIDTH + q];
            old[q] = ROWS_OF(parity)[groups * WIDTH + q];
            if (first <= best && best - first < have) own[q * rows + best - first] = old[q];
        }
        TOGETHER;
        if (0 <= mine && mine < have)
            for (int q = lane; q < w; q += LANES) own[q * rows + mine] = top[q];
        if (group == 0 && lane == 0) ((__global int *)heap)[ipiv + c] = above + best + 1;
        const elem pivot = top[c];
        const int is_regular = !is_zero(pivot);
        for (int i = max(mine + 1, 0) + lane; i < have; i += LANES)
            if (is_regular) own[c * rows + i] = quotient(own[c * rows + i], pivot);
        TOGETHER;
        for (int i = row; i < have; i += SIDE_ROWS) {
            const elem x = own[c * rows + i];
            for (int q = c + 1 + strand; q < w; q += LANES / SIDE_ROWS)
                if (is_regular && i > mine) own[q * rows + i] = minus(own[q * rows + i], x, top[q]);
        }
        TOGETHER;
    }
    for (int i = row; i < have; i += SIDE_ROWS)
        for (int q = strand; q < w; q += LANES / SIDE_ROWS) a[i + q * ld] = own[q * rows + i];
}
