// The Cholesky factorization of a block of order n <= ORDER = SIDE * TILE, by one block of SIDE x SIDE threads. Thread (x, y) keeps rows
// x, x + SIDE, ... of columns y, y + SIDE, ... in registers; a column goes round through shared memory. The other triangle
// is not touched, nor are imaginary parts of the diagonal read. Defined before: SIDE, TILE.

// status is 0, or becomes the order of the first leading minor that is not positive definite. It lies in host memory, which is far
// away: it is neither read nor written where nothing fails.
KERNEL(SIDE *SIDE) potrf(elem *a, place ld, int n, int is_upper, int *status, int row) {
    // Of the upper triangle, Uᴴ is the lower factor.
    __shared__ elem columns[2][SIDE * TILE];
    const int x = threadIdx.x, y = threadIdx.y;
    elem tile[TILE][TILE];
#define AT(i, j) a[is_upper ? (j) + (i) * ld : (i) + (j) * ld]
#pragma unroll
    for (int r = 0; r < TILE; ++r)
#pragma unroll
        for (int c = 0; c < TILE; ++c) {
            const place i = x + r * SIDE, j = y + c * SIDE;
            tile[r][c] = i < j || i >= n ? make(0, 0) : conj_if(AT(i, j), is_upper);
        }
    int failed = 0;
#pragma unroll
    for (int block = 0; block < TILE; ++block)
        for (int at = 0; at < SIDE; ++at) {
            const int j = block * SIDE + at;
            if (j >= n || failed) break;
            elem *column = columns[at & 1];
            if (y == at) {
#pragma unroll
                for (int r = 0; r < TILE; ++r) column[x + r * SIDE] = tile[r][block];
            }
            // The other buffer is not written again before the next of these, which nobody passes who has not read it.
            __syncthreads();
            const real pivot = re(column[j]);
            if (!(pivot > 0)) {
                failed = j + 1;
                break;
            }
            const real root = sqrt(pivot), inverse = 1 / root;
            elem left[TILE];
#pragma unroll
            for (int r = 0; r < TILE; ++r) left[r] = times_real(column[x + r * SIDE], inverse);
            if (y == at) {
#pragma unroll
                for (int r = 0; r < TILE; ++r) tile[r][block] = x + r * SIDE == j ? make(root, 0) : left[r];
            }
#pragma unroll
            for (int c = 0; c < TILE; ++c) {
                if (c < block || y + c * SIDE <= j) continue;
                const elem right = times_real(conj_if(column[y + c * SIDE], true), inverse);
#pragma unroll
                for (int r = 0; r < TILE; ++r) tile[r][c] = tile[r][c] - left[r] * right;
            }
        }
#pragma unroll
    for (int r = 0; r < TILE; ++r)
#pragma unroll
        for (int c = 0; c < TILE; ++c) {
            const place i = x + r * SIDE, j = y + c * SIDE;
            if (i >= j && i < n) AT(i, j) = i == j ? make(re(tile[r][c]), 0) : conj_if(tile[r][c], is_upper);
        }
    if (x == 0 && y == 0 && failed && *status == 0) *status = row + failed;
}
