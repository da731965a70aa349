// The update of a trapezoid after the factorization of some of its columns, in one launch. Included after `factor.cu`.
// Required definition: EDGE, the rows and columns that a block of threads updates, which is 64.

#define EDGE_PITCH PITCH(EDGE)

// Loads k columns of EDGE rows of A into shared memory. Rows after the last one, and columns up to `depth`, are zeros.
__device__ inline void load_rows(elem *to, const elem *a, place row, place column, place first, place m, int k,
                                 int depth, int is_upper) {
    for (int at = threadIdx.x; at < EDGE * depth; at += THREADS) {
        // Adjacent threads read adjacent elements.
        const int i = is_upper ? at / depth : at % EDGE, q = is_upper ? at % depth : at / EDGE;
        const bool is_there = first + i < m && q < k;
        fetch(to + i + q * EDGE_PITCH, is_there ? a + (first + i) * row + q * column : a, is_there);
    }
}

// Computes C := C - A Aᴴ for the lower trapezoid of C, which has m rows and n <= m columns; A has k <= ORDER columns.
// If `is_upper`, both are transposed: C := C - Aᵀ conj(A) in the upper trapezoid. Shared memory holds two times
// EDGE_PITCH elements for each column of A, whose number is rounded up to a multiple of 4. Imaginary parts may remain
// on the diagonal; the factorization of its blocks does not read them.
KERNEL(THREADS, 1) rank_k(const elem *__restrict__ a, place lda, int k, elem *c, place ldc, place m, place n,
                          int is_upper) {
    DYNAMIC_SHARED(elem, left);
    const place x = (place)blockIdx.x * EDGE, y = (place)blockIdx.y * EDGE;
    if (x < y) return;
    const int depth = (k + 3) / 4 * 4;
    const place row = is_upper ? lda : 1, column = is_upper ? 1 : lda;
    elem *right = x == y ? left : left + depth * EDGE_PITCH;
    load_rows(left, a, row, column, x, m, k, depth, is_upper);
    if (x != y) load_rows(right, a, row, column, y, m, k, depth, is_upper);
#define C(i, j) c[is_upper ? (j) + (i) * ldc : (i) + (j) * ldc]
#define IS_INSIDE(i, j) ((i) < m && (j) < n && (i) >= (j))
#define READ(i, j) (IS_INSIDE(i, j) ? C(i, j) : make(0, 0))
#if HAS_UNITS
    // A warp updates 16 rows of 32 columns.
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int across = warp / 4 * 32, down = warp % 4 * 16;
    const place i = x + down + lane / 4, j = y + across + lane % 4 * 2;
    real out[2][4][2], sum[2][4][2] = {};
#pragma unroll
    for (int r = 0; r < 2; ++r)
#pragma unroll
        for (int s = 0; s < 8; ++s)
            out[r][s / 2][s % 2] = READ(i + r * 8, j + s / 2 * 8 + s % 2);
    fetched();
    const real *from = left + down + lane / 4 + lane % 4 * EDGE_PITCH,
               *by = right + across + lane / 4 + lane % 4 * EDGE_PITCH;
#pragma unroll 4
    for (int p = 0; p < depth; p += 4) {
        real u[2], v[4];
#pragma unroll
        for (int r = 0; r < 2; ++r) u[r] = from[r * 8 + p * EDGE_PITCH];
#pragma unroll
        for (int s = 0; s < 4; ++s) v[s] = by[s * 8 + p * EDGE_PITCH];
#pragma unroll
        for (int r = 0; r < 2; ++r)
#pragma unroll
            for (int s = 0; s < 4; ++s) multiply_add(sum[r][s], u[r], v[s]);
    }
#pragma unroll
    for (int r = 0; r < 2; ++r)
#pragma unroll
        for (int s = 0; s < 8; ++s)
            if (IS_INSIDE(i + r * 8, j + s / 2 * 8 + s % 2))
                C(i + r * 8, j + s / 2 * 8 + s % 2) = out[r][s / 2][s % 2] - sum[r][s / 2][s % 2];
#else
    // A thread updates four adjacent rows of four columns.
    const int down = threadIdx.x % 16 * 4, across = threadIdx.x / 16 * 4;
    const place i = x + down, j = y + across;
    elem out[4][4];
    pack sum[4][4 / PACK];
#pragma unroll
    for (int r = 0; r < 4; ++r)
#pragma unroll
        for (int s = 0; s < 4; ++s) {
            out[s][r] = READ(i + r, j + s);
            sum[s][r / PACK].of[r % PACK] = make(0, 0);
        }
    fetched();
#pragma unroll 4
    for (int q = 0; q < k; ++q) {
        pack u[4 / PACK], v[4 / PACK];
#pragma unroll
        for (int p = 0; p < 4 / PACK; ++p) {
            u[p] = ((const pack *)(left + down + q * EDGE_PITCH))[p];
            v[p] = ((const pack *)(right + across + q * EDGE_PITCH))[p];
        }
#pragma unroll
        for (int s = 0; s < 4; ++s) {
            const elem by = conj_if(v[s / PACK].of[s % PACK], true);
#pragma unroll
            for (int r = 0; r < 4; ++r)
                sum[s][r / PACK].of[r % PACK] = sum[s][r / PACK].of[r % PACK] + u[r / PACK].of[r % PACK] * by;
        }
    }
#pragma unroll
    for (int s = 0; s < 4; ++s)
#pragma unroll
        for (int r = 0; r < 4; ++r)
            if (IS_INSIDE(i + r, j + s)) C(i + r, j + s) = out[s][r] - sum[s][r / PACK].of[r % PACK];
#endif
#undef READ
#undef IS_INSIDE
#undef C
}
