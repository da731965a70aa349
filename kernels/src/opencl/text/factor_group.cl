// The Cholesky factorization of a matrix of order n by one work-group, by blocks of ORDER columns. The strides describe
// the lower triangle; the other one is not touched, and the imaginary parts of the diagonal are not read. Included
// after `group.cl`. Required definitions: ORDER, LANES, and SIDE, the square root of LANES.

#define EACH (ORDER / SIDE)
// An element of a block in local memory.
#define AT(i, j) ((i) + (j) * ORDER)

// Loads the block of `rows` rows and `columns` columns at (i, j), with zeros around it. Adjacent work-items take
// adjacent elements.
inline void load_block(__local elem *to, Matrix a, int i, int j, int rows, int columns) {
    for (int k = get_local_id(0); k < ORDER * ORDER; k += LANES) {
        const int r = a.rs == 1 ? k % ORDER : k / ORDER, c = a.rs == 1 ? k / ORDER : k % ORDER;
        elem x = make(0, 0);
        if (r < rows && c < columns) x = a.at[(i + r) * a.rs + (j + c) * a.cs];
        to[AT(r, c)] = x;
    }
}

// Factors the lower triangle of a block. Returns 0, or the order of the first minor that is not positive definite.
inline int factor_block(__local elem *own, int n) {
    const int lane = get_local_id(0);
    int failed = 0;
    for (int j = 0; j < n && !failed; ++j) {
        const real pivot = RE(own[AT(j, j)]);
        if (!(pivot > 0)) failed = j + 1;
        // After a failure nothing is changed, but all barriers are passed.
        const int end = failed ? 0 : n;
        const real root = sqrt(pivot);
        TOGETHER;
        for (int i = j + 1 + lane; i < end; i += LANES) own[AT(i, j)] = own[AT(i, j)] / root;
        if (lane == 0 && !failed) own[AT(j, j)] = make(root, 0);
        TOGETHER;
        for (int k = (j + 1) * ORDER + lane; k < end * ORDER; k += LANES) {
            const int i = k % ORDER, p = k / ORDER;
            if (i >= p && i < n) own[AT(i, p)] -= times(own[AT(i, j)], conj_if(own[AT(p, j)], 1));
        }
        TOGETHER;
    }
    return failed;
}

// Stores the lower triangle of a block at (j, j).
inline void store_triangle(__local const elem *own, Matrix a, int j, int n) {
    for (int k = get_local_id(0); k < ORDER * ORDER; k += LANES) {
        const int r = a.rs == 1 ? k % ORDER : k / ORDER, c = a.rs == 1 ? k / ORDER : k % ORDER;
        const elem x = own[AT(r, c)];
        if (c <= r && r < n) a.at[(j + r) * a.rs + (j + c) * a.cs] = r == c ? make(RE(x), 0) : x;
    }
}

// Solves X Lᴴ = A for the rows of A from `first`, in ORDER columns from column j. A work-item has a row, and PART of
// its columns at a time.
inline void solve_rows(__local const elem *l, Matrix a, int first, int n, int j) {
    for (int i = first + get_local_id(0); i < n; i += LANES) {
        __global elem *row = a.at + i * a.rs + j * a.cs;
        for (int top = 0; top < ORDER; top += PART) {
            elem x[PART];
#pragma unroll
            for (int q = 0; q < PART; ++q) x[q] = row[(top + q) * a.cs];
#pragma unroll 8
            for (int p = 0; p < top; ++p) {
                const elem y = row[p * a.cs];
#pragma unroll
                for (int q = 0; q < PART; ++q) x[q] -= times(y, conj_if(l[AT(top + q, p)], 1));
            }
#pragma unroll
            for (int q = 0; q < PART; ++q) {
                x[q] = x[q] / RE(l[AT(top + q, top + q)]);
#pragma unroll
                for (int p = q + 1; p < PART; ++p) x[p] -= times(x[q], conj_if(l[AT(top + p, top + q)], 1));
            }
#pragma unroll
            for (int q = 0; q < PART; ++q) row[(top + q) * a.cs] = x[q];
        }
    }
}

// Subtracts the product of two blocks, the second one transposed and conjugated, from the block at (i, j). Only the
// lower triangle of A is written.
inline void subtract_product(__local const elem *left, __local const elem *right, Matrix a, int i, int j, int n) {
    const int row = get_local_id(0) % SIDE, column = get_local_id(0) / SIDE;
    elem sum[EACH][EACH];
#pragma unroll
    for (int u = 0; u < EACH; ++u)
#pragma unroll
        for (int v = 0; v < EACH; ++v) sum[u][v] = make(0, 0);
#pragma unroll 8
    for (int q = 0; q < ORDER; ++q) {
        elem x[EACH];
#pragma unroll
        for (int u = 0; u < EACH; ++u) x[u] = left[AT(row + u * SIDE, q)];
#pragma unroll
        for (int v = 0; v < EACH; ++v) {
            const elem y = conj_if(right[AT(column + v * SIDE, q)], 1);
#pragma unroll
            for (int u = 0; u < EACH; ++u) sum[u][v] += times(x[u], y);
        }
    }
    // All loads come before the stores, because the compiler does not know that their places differ.
#pragma unroll
    for (int v = 0; v < EACH; ++v)
#pragma unroll
        for (int u = 0; u < EACH; ++u) {
            const int r = i + row + u * SIDE, c = j + column + v * SIDE;
            if (r < n && c <= r) sum[u][v] = a.at[r * a.rs + c * a.cs] - sum[u][v];
        }
#pragma unroll
    for (int v = 0; v < EACH; ++v)
#pragma unroll
        for (int u = 0; u < EACH; ++u) {
            const int r = i + row + u * SIDE, c = j + column + v * SIDE;
            if (r < n && c <= r) a.at[r * a.rs + c * a.cs] = sum[u][v];
        }
}

// status is 0, or the order of the first leading minor that is not positive definite. The first block, at row 0, writes
// it; the others write it only if it is 0.
__kernel GROUP(LANES) void potrf(__global real *restrict heap, ulong at, ulong rs, ulong cs, int n, ulong status,
                                  int row) {
    __local elem left[ORDER * ORDER];
    __local elem right[ORDER * ORDER];
    const Matrix a = {(__global elem *)heap + at, rs, cs};
    __global int *minor = (__global int *)heap + status;
    int failed = 0;
    for (int j = 0; j < n && !failed; j += ORDER) {
        const int have = min(ORDER, n - j), next = j + ORDER;
        load_block(left, a, j, j, have, have);
        TOGETHER;
        failed = factor_block(left, have);
        store_triangle(left, a, j, have);
        if (failed) failed += j;
        if (!failed) solve_rows(left, a, next, n, j);
        TOGETHER;
        for (int c = next; c < n && !failed; c += ORDER)
            for (int r = c; r < n; r += ORDER) {
                load_block(left, a, r, j, n - r, ORDER);
                if (r == c) load_block(right, a, c, j, n - c, ORDER);
                TOGETHER;
                subtract_product(left, right, a, r, c, n);
                TOGETHER;
            }
    }
    if (get_local_id(0) == 0) {
        if (row == 0) *minor = failed;
        else if (*minor == 0 && failed) *minor = row + failed;
    }
}
