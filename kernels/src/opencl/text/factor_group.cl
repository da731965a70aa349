// The Cholesky factorization of a matrix of order n <= SPAN by one work-group, by panels of ORDER columns. The strides
// describe the lower triangle; the other one is not touched, and the imaginary parts of the diagonal are not read.
// Included after `group.cl`. Required definitions: SPAN, a multiple of ORDER and of LANES / STRANDS; ORDER, a multiple
// of STRANDS; LANES.
//
// A work-item keeps its part of a panel in registers. For each column one barrier is passed: all work-items then read
// the column from local memory, where its owners have put it, and compute its root themselves.

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
            const int r = ROW(u), q = COLUMN(v);
            elem x = make(0, 0);
            if (r < n && q < have && q <= r) x = panel.at[r * panel.rs + q * panel.cs];
            tile[u][v] = q == r ? make(RE(x), 0) : x;
        }
}

inline void store_panel(elem tile[ROWS][COLUMNS], Matrix panel, int n, int have) {
    PLACES;
#pragma unroll
    for (int v = 0; v < COLUMNS; ++v)
#pragma unroll
        for (int u = 0; u < ROWS; ++u) {
            const int r = ROW(u), q = COLUMN(v);
            if (r < n && q < have && q <= r) panel.at[r * panel.rs + q * panel.cs] = tile[u][v];
        }
}

// Subtracts the product of earlier columns, of which the panel's first rows are transposed and conjugated.
inline void subtract_product(elem tile[ROWS][COLUMNS], Matrix before, int n, __local elem *own) {
    PLACES;
    const int down = before.rs == 1;
    TOGETHER;
    for (int k = get_local_id(0); k < SPAN * ORDER; k += LANES) {
        const int r = down ? k % SPAN : k / ORDER, p = down ? k / SPAN : k % ORDER;
        own[p * SPAN + r] = r < n ? before.at[r * before.rs + p * before.cs] : make(0, 0);
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

// Factors a panel of `have` columns. Returns 0, or the number of the first column whose pivot is not positive, counted
// from one. That column and those after it are not changed any more.
inline int factor_panel(elem tile[ROWS][COLUMNS], int have, __local elem *columns) {
    PLACES;
    int failed = 0;
    for (int c = 0; c < ORDER; ++c) {
        __local elem *column = columns + c % 2 * SPAN;
#pragma unroll
        for (int v = 0; v < COLUMNS; ++v)
#pragma unroll
            for (int u = 0; u < ROWS; ++u)
                if (COLUMN(v) == c) column[ROW(u)] = tile[u][v];
        TOGETHER;
        const real pivot = RE(column[c]);
        // NaN is not positive.
        if (!failed && c < have && !(pivot > 0)) failed = c + 1;
        const int is_last = failed || c >= have;
        const real inverse = rsqrt(is_last ? (real)1 : pivot), root = root_of(pivot, inverse);
        elem x[ROWS];
#pragma unroll
        for (int u = 0; u < ROWS; ++u) x[u] = column[ROW(u)] * inverse;
#pragma unroll
        for (int v = 0; v < COLUMNS; ++v) {
            const int q = COLUMN(v);
            const elem y = conj_if(column[q] * inverse, 1);
#pragma unroll
            for (int u = 0; u < ROWS; ++u) {
                if (q > c && !is_last) tile[u][v] -= times(x[u], y);
                if (q == c && !is_last) tile[u][v] = ROW(u) == c ? make(root, 0) : x[u];
            }
        }
    }
    return failed;
}

// status is 0, or the order of the first leading minor that is not positive definite. The first block, at row 0, writes
// it; the others write it only if it is 0.
__kernel GROUP(LANES) void potrf(__global real *restrict heap, ulong at, ulong rs, ulong cs, int n, ulong status,
                                  int row) {
    __local elem own[SPAN * ORDER];
    __local elem columns[2 * SPAN];
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
        failed = factor_panel(tile, have, columns);
        if (failed) failed += j;
        store_panel(tile, panel, n - j, have);
        TOGETHER_IN_HEAP;
    }
    if (get_local_id(0) == 0) {
        if (row == 0) *minor = failed;
        else if (*minor == 0 && failed) *minor = row + failed;
    }
}
