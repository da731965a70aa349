// Steps of the LU factorization of a panel of w <= WIDTH columns. Included after `panel.cl`.
//
// Each group stores its largest element of column j with its row. `state` begins with the rows of all groups and row j,
// twice; then come the sizes and the numbers of the rows.

#define ROWS_OF(parity) (rows_of + (parity) * (groups + 1) * WIDTH)

// Whether an element comes before another one as the pivot: it is larger, or as large and further up.
inline int is_before(real size, int row, real other, int there) {
    return size > other || (size == other && row < there);
}

// Finds the best of all work-items' x, in all work-items. Returns its row; `size` becomes its size.
inline int best_of_group(real *size, int row, OWN real *sizes, OWN int *rows) {
#if LANES > 1
    const int lane = get_local_id(0);
    sizes[lane] = *size;
    rows[lane] = row;
    TOGETHER;
    for (int by = LANES / 2; by > 0; by /= 2) {
        if (lane < by && is_before(sizes[lane + by], rows[lane + by], sizes[lane], rows[lane])) {
            sizes[lane] = sizes[lane + by];
            rows[lane] = rows[lane + by];
        }
        TOGETHER;
    }
    *size = sizes[0];
    row = rows[0];
    TOGETHER;
#endif
    return row;
}

// The panel has m rows. `ipiv` gets the interchanges, counted from one, with `above` added.
__kernel GROUP(LANES) void getrf_step(__global real *restrict heap, ulong at, ulong ld, int m, int w, int j, int rows,
                                      int above, ulong state, ulong ipiv) {
    const int c = j - 1, now = j % 2, then = (j + 1) % 2;
    const int group = get_group_id(0), groups = get_num_groups(0), lane = get_local_id(0);
    const int first = group * rows, end = min(m, first + rows), begin = max(first, j);
    __global elem *a = (__global elem *)heap + at, *rows_of = (__global elem *)heap + state;
    __global real *sizes_of = (__global real *)(rows_of + 2 * (groups + 1) * WIDTH);
    __global int *numbers_of = (__global int *)(sizes_of + 2 * groups);
    OWN real sizes[LANES];
    OWN int numbers[LANES];
    OWN elem top[WIDTH];

    // The pivot of column c. Before the first step no group has stored anything.
    const int count = j > 0 ? groups : 0;
    real most = -1;
    int best = m;
    for (int g = lane; g < count; g += LANES) {
        const real size = sizes_of[then * groups + g];
        const int row = numbers_of[then * groups + g];
        if (is_before(size, row, most, best)) {
            most = size;
            best = row;
        }
    }
    best = best_of_group(&most, best, sizes, numbers);
    for (int q = lane; q < w; q += LANES) {
        const elem x = j > 0 ? ROWS_OF(then)[best / rows * WIDTH + q] : make(0, 0);
        top[q] = x;
        if (first <= c && c < end) a[c + q * ld] = x;
        if (j > 0 && best != c && first <= best && best < end) a[best + q * ld] = ROWS_OF(then)[groups * WIDTH + q];
    }
    TOGETHER;
    if (j > 0 && group == 0 && lane == 0) ((__global int *)heap)[ipiv + c] = above + best + 1;

    // Columns c and j.
    const elem pivot = j > 0 ? top[c] : make(0, 0);
    const int divides = !is_zero(pivot);
    most = -1;
    best = m;
    for (int i = begin + lane; i < end; i += LANES) {
        elem x = make(0, 0);
        if (divides) {
            x = quotient(a[i + c * ld], pivot);
            a[i + c * ld] = x;
        }
        if (j < w) {
            elem y = a[i + j * ld];
            if (divides) {
                y = minus(y, x, top[j]);
                a[i + j * ld] = y;
            }
            // NaN is not larger than zero.
            const real size = size_of(y), key = size > 0 ? size : 0;
            if (key > most) {
                most = key;
                best = i;
            }
        }
    }
    best = best_of_group(&most, best, sizes, numbers);

    // The columns on the right.
    for (int block = begin; block < end; block += ROW_LANES * ROWS) {
        elem x[ROWS];
#pragma unroll
        for (int r = 0; r < ROWS; ++r) x[r] = divides && ROW(block, r) < end ? a[ROW(block, r) + c * ld] : make(0, 0);
        for (int q = j + 1 + COLUMN_LANE; q < w; q += COLUMN_LANES) {
            __global elem *column = a + q * ld;
            const elem by = top[q];
            elem y[ROWS];
#pragma unroll
            for (int r = 0; r < ROWS; ++r) y[r] = ROW(block, r) < end ? column[ROW(block, r)] : make(0, 0);
#pragma unroll
            for (int r = 0; r < ROWS; ++r)
                if (divides && ROW(block, r) < end) column[ROW(block, r)] = minus(y[r], x[r], by);
        }
    }
    TOGETHER;
    for (int q = lane; q < w; q += LANES) {
        if (j < w && best < m) ROWS_OF(now)[group * WIDTH + q] = a[best + q * ld];
        if (first <= j && j < end) ROWS_OF(now)[groups * WIDTH + q] = a[j + q * ld];
    }
    if (lane == 0) {
        sizes_of[now * groups + group] = most;
        numbers_of[now * groups + group] = best;
    }
}

// Adds `above` to interchanges.
__kernel void shift(__global real *restrict heap, ulong from, ulong to, int above) {
    const int i = get_global_id(0);
    ((__global int *)heap)[to + i] = ((__global int *)heap)[from + i] + above;
}
