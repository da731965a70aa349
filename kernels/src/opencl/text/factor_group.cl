// The Cholesky factorization of a matrix of order n <= SPAN by one work-group, by panels of ORDER columns. The strides
// describe the lower triangle; the other one is not touched, and the imaginary parts of the diagonal are not read.
// Included after `group.cl`. Required definitions: SPAN, a multiple of ORDER from 2 ORDER on, and of LANES / STRANDS;
// ORDER, a multiple of STRANDS; LANES.
//
// A work-item keeps its part of a panel in registers. Two columns are eliminated at a time: their owners put them in
// local memory, one barrier is passed, and all work-items compute the roots themselves. Instead of an element outside
// of the matrix another one is loaded and not used, because loads in branches would wait for each other.

#define STRANDS 4
#define ROW_LANES (LANES / STRANDS)
// Rows and columns of a work-item in a panel. Rows are counted from the panel's first.
#define ROWS (SPAN / ROW_LANES)
#define COLUMNS (ORDER / STRANDS)
#define ROW(u) (row_lane + (u) * ROW_LANES)
#define COLUMN(v) (strand + (v) * STRANDS)
#define PLACES const int row_lane = get_local_id(0) % ROW_LANES, strand = get_local_id(0) / ROW_LANES

// Loads the work-item's part of the panel of n rows and `have` columns, with zeros around its lower triangle.
inline void load_panel(elem tile[ROWS][COLUMNS], Matrix panel, int n, int have) {
    PLACES;
#pragma unroll
    for (int v = 0; v < COLUMNS; ++v)
#pragma unroll
        for (int u = 0; u < ROWS; ++u) {
            const int r = ROW(u), q = COLUMN(v), is_inside = r < n && q < have && q <= r;
            const elem x = panel.at[is_inside ? r * panel.rs + q * panel.cs : 0];
            tile[u][v] = is_inside ? make(RE(x), q == r ? 0 : IM(x)) : make(0, 0);
        }
}

// Subtracts the product of earlier columns, of which the panel's first rows are transposed and conjugated.
inline void subtract_product(elem tile[ROWS][COLUMNS], Matrix before, int n, __local elem *own) {
    PLACES;
    const int down = before.rs == 1;
    TOGETHER;
#pragma unroll 8
    for (int k = get_local_id(0); k < SPAN * ORDER; k += LANES) {
        const int r = down ? k % SPAN : k / ORDER, p = down ? k / SPAN : k % ORDER;
        const elem x = before.at[min(r, n - 1) * before.rs + p * before.cs];
        own[p * SPAN + r] = r < n ? x : make(0, 0);
    }
    TOGETHER;
#pragma unroll 4
    for (int p = 0; p < ORDER; ++p) {
        elem x[ROWS];
#pragma unroll
        for (int u = 0; u < ROWS; ++u) x[u] = own[p * SPAN + ROW(u)];
#pragma unroll
        for (int v = 0; v < COLUMNS; ++v) {
            const elem y = conj_if(own[p * SPAN + COLUMN(v)], 1);
#pragma unroll
            for (int u = 0; u < ROWS; ++u) tile[u][v] -= times(x[u], y);
        }
    }
}

// The root of x, from its inverse: double has no instructions for roots and quotients.
inline real root_of(real x, real inverse) {
    const real near = x * inverse;
    return isinf(x) ? x : fma(fma(-near, near, x) * (real)0.5, inverse, near);
}

// Factors a panel of n rows and `have` columns, and stores it. Returns 0, or the number of the first column whose pivot
// is not positive, counted from one. That column and those after it are not stored.
inline int factor_panel(elem tile[ROWS][COLUMNS], Matrix panel, int n, int have, __local elem *columns) {
    PLACES;
    int failed = 0;
    // The tile moves on by STRANDS columns, so that the first column is always the next one to be eliminated.
    for (int c = 0; c < ORDER; c += STRANDS) {
#pragma unroll
        for (int s = 0; s < STRANDS; s += 2) {
            __local elem *left = columns + s * SPAN, *right = left + SPAN;
            if (strand / 2 == s / 2)
#pragma unroll
                for (int u = 0; u < ROWS; ++u) (strand % 2 == 0 ? left : right)[ROW(u)] = tile[u][0];
            TOGETHER;
            // The factor's elements are [1 / inverse 0; below 1 / next_inverse] in the rows of both pivots.
            const int top = c + s;
            const real pivot = RE(left[top]), inverse = rsqrt(pivot);
            const elem below = left[top + 1] * inverse, by = conj_if(below, 1);
            const real next = RE(right[top + 1]) - RE(times(below, by)), next_inverse = rsqrt(next);
            // NaN is not positive.
            if (!failed && top < have && !(pivot > 0)) failed = top + 1;
            if (!failed && top + 1 < have && !(next > 0)) failed = top + 2;
            elem x[ROWS], y[ROWS];
#pragma unroll
            for (int u = 0; u < ROWS; ++u) {
                x[u] = left[ROW(u)] * inverse;
                y[u] = (right[ROW(u)] - times(x[u], by)) * next_inverse;
                if (strand == s) tile[u][0] = ROW(u) == top ? make(root_of(pivot, inverse), 0) : x[u];
                if (strand == s + 1) tile[u][0] = ROW(u) == top + 1 ? make(root_of(next, next_inverse), 0) : y[u];
            }
#pragma unroll
            for (int v = 0; v < COLUMNS; ++v) {
                const int q = c + COLUMN(v);
                const elem x_of = conj_if(left[q] * inverse, 1);
                const elem y_of = (conj_if(right[q], 1) - times(x_of, below)) * next_inverse;
                if (v == 0 && strand < s + 2) continue;
#pragma unroll
                for (int u = 0; u < ROWS; ++u) tile[u][v] -= times(x[u], x_of) + times(y[u], y_of);
            }
        }
        const int q = c + strand;
#pragma unroll
        for (int u = 0; u < ROWS; ++u) {
            const int r = ROW(u), is_factor = q <= r && (!failed || q + 1 < failed);
            if (r < n && q < have && is_factor) panel.at[r * panel.rs + q * panel.cs] = tile[u][0];
#pragma unroll
            for (int v = 0; v < COLUMNS; ++v) tile[u][v] = v + 1 < COLUMNS ? tile[u][v + 1] : make(0, 0);
        }
    }
    return failed;
}

// status is 0, or the order of the first leading minor that is not positive definite. The first block, at row 0, writes
// it; the others write it only if it is 0.
__kernel GROUP(LANES) void potrf(__global real *restrict heap, ulong at, ulong rs, ulong cs, int n, ulong status,
                                  int row) {
    __local elem own[SPAN * ORDER];
    __local elem columns[4 * SPAN];
    __global int *minor = (__global int *)heap + status;
    elem tile[ROWS][COLUMNS];
    int failed = 0;
    // After a failure there are no more panels.
    for (int j = 0; j < (failed ? 0 : n); j += ORDER) {
        const int have = min(ORDER, n - j);
        __global elem *rows = (__global elem *)heap + at + j * rs;
        const Matrix panel = {rows + j * cs, rs, cs};
        load_panel(tile, panel, n - j, have);
        for (int p = 0; p < j; p += ORDER) {
            const Matrix before = {rows + p * cs, rs, cs};
            subtract_product(tile, before, n - j, own);
        }
        failed = factor_panel(tile, panel, n - j, have, columns);
        if (failed) failed += j;
        TOGETHER_IN_HEAP;
    }
    if (get_local_id(0) == 0) {
        if (row == 0) *minor = failed;
        else if (*minor == 0 && failed) *minor = row + failed;
    }
}
