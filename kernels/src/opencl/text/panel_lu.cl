// Steps of the LU factorization of a panel of w <= WIDTH columns. Included after `panel.cl`.
//
// Each group stores its largest element of column j with its row. `state` begins with the rows of all groups and row j,
// twice; then come the sizes and the numbers of the rows.

#define ROWS_OF(parity) (rows_of + (parity) * (groups + 1) * WIDTH)

// A row, and the size of its element in a column.
typedef struct {
    real size;
    int row;
} Candidate;

// Whether a candidate comes before another one: its element is larger, or as large and further up.
inline int is_before(Candidate x, Candidate y) { return x.size > y.size || (x.size == y.size && x.row < y.row); }

// Finds the best of all work-items' candidates, in all work-items.
inline Candidate best_of_group(Candidate x, OWN Candidate *room) {
#if LANES > 1
    const int lane = get_local_id(0);
    room[lane] = x;
    TOGETHER;
    for (int by = LANES / 2; by > 0; by /= 2) {
        if (lane < by && is_before(room[lane + by], room[lane])) room[lane] = room[lane + by];
        TOGETHER;
    }
    x = room[0];
    TOGETHER;
#endif
    return x;
}

// Divides column c by the pivot and updates column j, in each work-item's rows. Returns its candidate for column j.
inline Candidate update_column(Panel its, elem pivot, elem by) {
    const int j = its.j, c = j - 1, divides = !is_zero(pivot);
    Candidate best = {-1, its.m};
    for (int i = its.begin + get_local_id(0); i < its.end; i += LANES) {
        elem x = make(0, 0);
        if (divides) {
            x = quotient(its.a[i + c * its.ld], pivot);
            its.a[i + c * its.ld] = x;
        }
        if (j == its.w) continue;
        elem y = its.a[i + j * its.ld];
        if (divides) {
            y = minus(y, x, by);
            its.a[i + j * its.ld] = y;
        }
        // NaN is not larger than zero.
        const real size = size_of(y), key = size > 0 ? size : 0;
        if (key > best.size) {
            best.size = key;
            best.row = i;
        }
    }
    return best;
}

// Subtracts column c times the pivot's row from the columns after j.
inline void update_rest(Panel its, OWN const elem *top) {
    for (int block = its.begin; block < its.end; block += ROW_LANES * ROWS) {
        __global const elem *left = its.a + (its.j - 1) * its.ld;
        elem x[ROWS];
#pragma unroll
        for (int r = 0; r < ROWS; ++r) x[r] = ROW(block, r) < its.end ? left[ROW(block, r)] : make(0, 0);
        for (int q = its.j + 1 + COLUMN_LANE; q < its.w; q += COLUMN_LANES) {
            __global elem *column = its.a + q * its.ld;
            const elem by = top[q];
            elem y[ROWS];
#pragma unroll
            for (int r = 0; r < ROWS; ++r) y[r] = ROW(block, r) < its.end ? column[ROW(block, r)] : make(0, 0);
#pragma unroll
            for (int r = 0; r < ROWS; ++r)
                if (ROW(block, r) < its.end) column[ROW(block, r)] = minus(y[r], x[r], by);
        }
    }
}

// The panel has m rows. `ipiv` gets the interchanges, counted from one, with `above` added.
__kernel GROUP(LANES) void getrf_step(__global real *restrict heap, ulong at, ulong ld, int m, int w, int j, int rows,
                                      int above, ulong state, ulong ipiv) {
    const int c = j - 1, now = j % 2, then = (j + 1) % 2;
    const int group = get_group_id(0), groups = get_num_groups(0), lane = get_local_id(0);
    const Panel its = panel_of((__global elem *)heap + at, ld, m, w, j, rows);
    __global elem *a = its.a, *rows_of = (__global elem *)heap + state;
    __global real *sizes_of = (__global real *)(rows_of + 2 * (groups + 1) * WIDTH);
    __global int *numbers_of = (__global int *)(sizes_of + 2 * groups);
    OWN Candidate room[LANES];
    OWN elem top[WIDTH];

    // The pivot of column c. Before the first step no group has stored anything.
    const int count = j > 0 ? groups : 0;
    Candidate pivot = {-1, m};
    for (int g = lane; g < count; g += LANES) {
        const Candidate other = {sizes_of[then * groups + g], numbers_of[then * groups + g]};
        if (is_before(other, pivot)) pivot = other;
    }
    const int best = best_of_group(pivot, room).row;
    for (int q = lane; q < w; q += LANES) {
        const elem x = j > 0 ? ROWS_OF(then)[best / rows * WIDTH + q] : make(0, 0);
        top[q] = x;
        if (has_row(its, c)) a[c + q * ld] = x;
        if (j > 0 && best != c && has_row(its, best)) a[best + q * ld] = ROWS_OF(then)[groups * WIDTH + q];
    }
    if (j > 0 && group == 0 && lane == 0) ((__global int *)heap)[ipiv + c] = above + best + 1;
    TOGETHER;

    const elem divisor = j > 0 ? top[c] : make(0, 0);
    const Candidate mine = best_of_group(update_column(its, divisor, j < w ? top[j] : make(0, 0)), room);
    if (!is_zero(divisor)) update_rest(its, top);
    TOGETHER;
    for (int q = lane; q < w; q += LANES) {
        if (mine.row < m) ROWS_OF(now)[group * WIDTH + q] = a[mine.row + q * ld];
        if (has_row(its, j)) ROWS_OF(now)[groups * WIDTH + q] = a[j + q * ld];
    }
    if (lane == 0) {
        sizes_of[now * groups + group] = mine.size;
        numbers_of[now * groups + group] = mine.row;
    }
}

// Adds `above` to interchanges.
__kernel void shift(__global real *restrict heap, ulong from, ulong to, int above) {
    const int i = get_global_id(0);
    ((__global int *)heap)[to + i] = ((__global int *)heap)[from + i] + above;
}
