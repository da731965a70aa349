// Steps of the LU factorization of a panel of w <= WIDTH columns, by many work-groups. Included after `batch.cl`. Required
// definitions: LANES, WIDTH.
//
// Each group has `rows` rows, and each work-item the same ones in every step. Step j eliminates by column j - 1 and looks
// for the pivot of column j. A group cannot wait for another one, so the pivot of a column is known when the next step
// begins: each group has stored its largest element with its row, and the group of row j has stored that row, so that
// both rows can be exchanged although their owners change them meanwhile. What is stored for odd and for even columns
// alternates. `state` begins with the rows of all groups and row j, twice; then come sizes and row numbers.

#define ROWS_OF(parity) (rows_of + (parity) * (groups + 1) * WIDTH)

// Whether an element comes before another one as the pivot: it is larger, or as large and further up.
inline int is_before(real size, int row, real other, int there) { return size > other || (size == other && row < there); }

// Finds the best of all work-items' pivots, in all work-items.
inline int best_of_group(real size, int row, OWN real *sizes, OWN int *rows) {
#if LANES > 1
    const int lane = get_local_id(0);
    sizes[lane] = size;
    rows[lane] = row;
    TOGETHER;
    for (int by = LANES / 2; by > 0; by /= 2) {
        if (lane < by && is_before(sizes[lane + by], rows[lane + by], sizes[lane], rows[lane])) {
            sizes[lane] = sizes[lane + by];
            rows[lane] = rows[lane + by];
        }
        TOGETHER;
    }
    row = rows[0];
    TOGETHER;
#endif
    return row;
}

// The panel has m rows. `ipiv` gets the interchanges, counted from one, with `above` added.
__kernel GROUP(LANES) void getrf_step(__global real *restrict heap, ulong at, ulong ld, int m, int w, int j, int rows,
                                      int above, ulong state, ulong ipiv) {
    const int group = get_group_id(0), groups = get_num_groups(0), lane = get_local_id(0);
    const int first = group * rows, end = min(m, first + rows);
    __global elem *a = (__global elem *)heap + at, *rows_of = (__global elem *)heap + state;
    __global real *sizes_of = (__global real *)(rows_of + 2 * (groups + 1) * WIDTH);
    __global int *numbers_of = (__global int *)(sizes_of + 2 * groups);
    OWN real sizes[LANES];
    OWN int numbers[LANES];
    OWN elem top[WIDTH], old[WIDTH];
    if (j > 0) {
        const int c = j - 1, parity = c % 2;
        real most = -1;
        int best = m;
        for (int g = lane; g < groups; g += LANES) {
            const real size = sizes_of[parity * groups + g];
            const int row = numbers_of[parity * groups + g];
            if (is_before(size, row, most, best)) {
                most = size;
                best = row;
            }
        }
        best = best_of_group(most, best, sizes, numbers);
        for (int q = lane; q < w; q += LANES) {
            top[q] = ROWS_OF(parity)[best / rows * WIDTH + q];
            old[q] = ROWS_OF(parity)[groups * WIDTH + q];
        }
        TOGETHER;
        if (group == 0 && lane == 0) ((__global int *)heap)[ipiv + c] = above + best + 1;
        const elem pivot = top[c];
        for (int i = first + lane; i < end; i += LANES) {
            if (i < c) continue;
            __global elem *row = a + i;
            if (i == c) {
                for (int q = 0; q < w; ++q) row[q * ld] = top[q];
                continue;
            }
            if (i == best)
                for (int q = 0; q < w; ++q) row[q * ld] = old[q];
            if (is_zero(pivot)) continue;
            const elem x = quotient(row[c * ld], pivot);
            row[c * ld] = x;
            for (int q = j; q < w; ++q) row[q * ld] = minus(row[q * ld], x, top[q]);
        }
    }
    if (j == w) return;
    // NaN is not larger than zero.
    real most = -1;
    int best = m;
    for (int i = first + lane; i < end; i += LANES) {
        if (i < j) continue;
        const real size = size_of(a[i + j * ld]), key = size > 0 ? size : 0;
        if (key > most) {
            most = key;
            best = i;
        }
    }
    TOGETHER;
    best = best_of_group(most, best, sizes, numbers);
    const int parity = j % 2;
    for (int q = lane; q < w; q += LANES) {
        if (best < m) ROWS_OF(parity)[group * WIDTH + q] = a[best + q * ld];
        if (first <= j && j < end) ROWS_OF(parity)[groups * WIDTH + q] = a[j + q * ld];
    }
    if (lane == 0) {
        real size = -1;
        if (best < m) {
            size = size_of(a[best + j * ld]);
            if (!(size > 0)) size = 0;
        }
        sizes_of[parity * groups + group] = size;
        numbers_of[parity * groups + group] = best;
    }
}

// Adds `above` to interchanges.
__kernel void shift(__global real *restrict heap, ulong from, ulong to, int above) {
    const int i = get_global_id(0);
    ((__global int *)heap)[to + i] = ((__global int *)heap)[from + i] + above;
}
