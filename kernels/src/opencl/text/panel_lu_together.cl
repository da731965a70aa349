// All steps of the LU factorization of a panel by one launch. Included after `panel_lu.cl` and `panel_own.cl`.
//
// Step j divides column c = j - 1 by its pivot, updates column j and finds the group's candidate there. Then the group
// stores the candidate's row and arrives. It updates the other columns while it waits for other groups. Every warp
// finds the pivot for itself; work-item q of a warp has element q of the pivot's row.

// Finds the best of the candidates of a warp, in all its work-items.
inline Candidate best_of_warp(Candidate x) {
#pragma unroll
    for (int by = WARP / 2; by > 0; by /= 2) {
        const Candidate other = {exchanged_real(x.size, by), exchanged_int(x.row, by)};
        if (is_before(other, x)) x = other;
    }
    return x;
}

// As `best_of_group`, by warps.
inline Candidate best_of_warps(Candidate x, __local Candidate *room) {
    const int lane = get_local_id(0);
    x = best_of_warp(x);
    if (lane % WARP == 0) room[lane / WARP] = x;
    barrier(CLK_LOCAL_MEM_FENCE);
    x = room[0];
#pragma unroll
    for (int s = 1; s < WARPS; ++s)
        if (is_before(room[s], x)) x = room[s];
    return x;
}

// Candidates of other groups that a work-item loads at a time.
#define LOADS 4

// Finds the best of all groups' candidates, in all work-items of a warp. The loads do not wait for each other.
inline Candidate best_of_groups(__global const real *sizes, __global const int *numbers, int groups, int m) {
    Candidate best = {-1, m};
    for (int block = (int)get_local_id(0) % WARP; block < groups; block += WARP * LOADS) {
        Candidate x[LOADS];
#pragma unroll
        for (int r = 0; r < LOADS; ++r) {
            const int g = min(block + r * WARP, groups - 1);
            x[r].size = sizes[g];
            x[r].row = numbers[g];
        }
#pragma unroll
        for (int r = 0; r < LOADS; ++r)
            if (is_before(x[r], best)) best = x[r];
    }
    return best_of_warp(best);
}

// The pivot of column c: its row, counted from the group's first one, and whether it is not zero. `top` is an element
// of this row and `old` one of row c; these rows are interchanged.
typedef struct {
    int row, is_regular;
    elem top, old;
} Pivot;

// Makes the interchange, divides column j - 1 by the pivot, and updates column j. Returns the work-item's candidate for
// column j.
inline Candidate eliminate_column(OwnRows its, int j, int m, Pivot pivot) {
    const int c = j - 1, above = c - its.first, lane = get_local_id(0), q = lane % WARP, next = j % WIDTH;
    const elem divisor = broadcast(pivot.top, max(c, 0)), by = broadcast(pivot.top, next);
    const elem old_left = broadcast(pivot.old, max(c, 0)), old = broadcast(pivot.old, next);
    Candidate best = {-1, m};
    for (int i = max(above + 1, 0) + lane; i < its.have; i += LANES) {
        elem x = make(0, 0);
        if (j > 0) {
            x = i == pivot.row ? old_left : its.own[c * its.rows + i];
            if (pivot.is_regular) x = quotient(x, divisor);
            its.own[c * its.rows + i] = x;
        }
        if (j == its.w) continue;
        elem y = i == pivot.row ? old : its.own[j * its.rows + i];
        if (pivot.is_regular) y = minus(y, x, by);
        its.own[j * its.rows + i] = y;
        // NaN is not larger than zero.
        const real size = size_of(y), key = size > 0 ? size : 0;
        if (key > best.size) {
            best.size = key;
            best.row = its.first + i;
        }
    }
    // The rest of both rows.
    if (j > 0 && lane == q && q < its.w) {
        if (owns(its, pivot.row) && q != c && q != j) its.own[q * its.rows + pivot.row] = pivot.old;
        if (owns(its, above)) its.own[q * its.rows + above] = pivot.top;
    }
    return best;
}

// Stores row i, with the update by column j - 1. Work-item q of a warp stores element q.
inline void store_row(OwnRows its, int i, int j, Pivot pivot, __global elem *row) {
    const int q = (int)get_local_id(0) % WARP;
    if (q >= its.w || !owns(its, i)) return;
    elem x = its.own[q * its.rows + i];
    if (pivot.is_regular && q > j) x = minus(x, its.own[(j - 1) * its.rows + i], pivot.top);
    row[q] = x;
}

// Updates the columns after column j by column j - 1.
inline void eliminate_rest(OwnRows its, int j, Pivot pivot) {
    const int above = j - 1 - its.first;
    __local const elem *left = its.own + (j - 1) * its.rows;
    for (int k = 0; k < WARP_COLUMNS; ++k) {
        const int q = WARP_COLUMN(k);
        __local elem *column = its.own + q * its.rows;
        const elem by = broadcast(pivot.top, q);
        if (q <= j || q >= its.w) continue;
        for (int block = 0; block < its.have; block += WARP * ROWS) {
            elem x[ROWS], y[ROWS];
#pragma unroll
            for (int r = 0; r < ROWS; ++r) {
                const int i = min(WARP_ROW(block, r), its.have - 1);
                x[r] = left[i];
                y[r] = column[i];
            }
#pragma unroll
            for (int r = 0; r < ROWS; ++r) {
                const int i = WARP_ROW(block, r);
                if (above < i && i < its.have) column[i] = minus(y[r], x[r], by);
            }
        }
    }
}

// As `getrf_step`, for all columns. `arrived` is the count of the barriers, of which `before` arrivals are over.
__kernel GROUP(LANES) void getrf_together(__global real *restrict heap, ulong at, ulong ld, int m, int w, int rows,
                                          int above, ulong state, ulong ipiv, ulong arrived, int before) {
    const int group = get_group_id(0), groups = get_num_groups(0), lane = get_local_id(0), q = lane % WARP;
    __local elem own[OWN_ELEMENTS];
    __local Candidate room[WARPS];
    const OwnRows its = {own, w, rows, min(m - group * rows, rows), group * rows};
    __global elem *a = (__global elem *)heap + at + its.first, *rows_of = (__global elem *)heap + state;
    __global real *sizes_of = (__global real *)(rows_of + 2 * (groups + 1) * WIDTH);
    __global int *numbers_of = (__global int *)(sizes_of + 2 * groups), *count = (__global int *)heap + arrived;
    load_own(its, a, ld);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int j = 0; j <= w; ++j) {
        const int c = j - 1, now = j % 2, then = (j + 1) % 2;
        Pivot pivot = {-1, 0, make(0, 0), make(0, 0)};
        if (j > 0) {
            pivot.old = ROWS_OF(then)[groups * WIDTH + q];
            const int best = best_of_groups(sizes_of + then * groups, numbers_of + then * groups, groups, m).row;
            pivot.row = best - its.first;
            pivot.top = ROWS_OF(then)[best / rows * WIDTH + q];
            pivot.is_regular = !is_zero(broadcast(pivot.top, c));
            if (group == 0 && lane == 0) ((__global int *)heap)[ipiv + c] = above + best + 1;
        }
        const Candidate mine = eliminate_column(its, j, m, pivot);
        if (j == w) break;
        const Candidate best = best_of_warps(mine, room);
        if (lane / WARP == 0 && best.row < m)
            store_row(its, best.row - its.first, j, pivot, ROWS_OF(now) + group * WIDTH);
        if (lane / WARP == WARPS - 1) store_row(its, j - its.first, j, pivot, ROWS_OF(now) + groups * WIDTH);
        if (lane == 0) {
            sizes_of[now * groups + group] = best.size;
            numbers_of[now * groups + group] = best.row;
        }
        arrive(count);
        if (pivot.is_regular) eliminate_rest(its, j, pivot);
        wait_for_all(count, before + (j + 1) * groups);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = WARP_COLUMN(0); k < w; k += WARPS)
        for (int i = WARP_ROW(0, 0); i < its.have; i += WARP) a[i + k * ld] = own[k * rows + i];
}
