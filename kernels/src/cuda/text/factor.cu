// The Cholesky factorization of a block, and the solve with a triangle that follows it, or LU's. Defined before: THREADS; ORDER, the
// order of the largest block; STEP, columns that a warp factors in its registers, each lane of the first few having a row, 16 or 32.

#define WARPS (THREADS / 32)
#define ALL 0xffffffffu

// What a thread reads from a tile before it waits for any of it.
#define READS 8
// Columns that a warp updates at once, in two rows for each lane.
#define COLUMNS 8

// L Lᴴ = A for the STEP rows and columns from `at` on, by one warp; `inverses` become those of L's diagonal. Returns the order of the first minor
// of A that is not positive definite, or 0: behind that the factor means nothing.
__device__ inline int factor_diagonal(elem *l, int pitch, int at, real *inverses) {
    const int lane = threadIdx.x % 32;
    elem *block = l + at + at * pitch;
    elem x[STEP];
#pragma unroll
    for (int c = 0; c < STEP; ++c) x[c] = c <= lane && lane < STEP ? block[lane + c * pitch] : make(0, 0);
    int failed = 0;
#pragma unroll
    for (int j = 0; j < STEP; ++j) {
        const real pivot = __shfl_sync(ALL, re(x[j]), j);
        if (!(pivot > 0) && !failed) failed = at + j + 1;
        const real inverse = rsqrt(pivot);
        const elem left = times_real(x[j], inverse);
#pragma unroll
        for (int c = j + 1; c < STEP; ++c) x[c] = x[c] - left * conj_if(from_lane(left, c), true);
        // To the last bit, and so that the root of Inf is Inf.
        const real root = pivot * inverse, better = root + (pivot - root * root) * (inverse / 2);
        x[j] = lane == j ? make(inverse > 0 ? better : pivot, 0) : left;
        if (lane == j) inverses[at + j] = inverse;
    }
#pragma unroll
    for (int c = 0; c < STEP; ++c)
        if (c <= lane && lane < STEP) block[lane + c * pitch] = x[c];
    return failed;
}

// Rows below the block on the diagonal, each by a thread: L21 = A21 L11⁻ᴴ.
__device__ inline void solve_below(elem *l, int pitch, int at, int order, const real *inverses) {
    for (int i = at + STEP + (int)threadIdx.x; i < order; i += THREADS) {
        elem x[STEP];
#pragma unroll
        for (int c = 0; c < STEP; ++c) x[c] = l[i + (at + c) * pitch];
#pragma unroll
        for (int j = 0; j < STEP; ++j) {
            x[j] = times_real(x[j], inverses[at + j]);
            l[i + (at + j) * pitch] = x[j];
#pragma unroll
            for (int c = j + 1; c < STEP; ++c) x[c] = x[c] - x[j] * conj_if(l[at + c + (at + j) * pitch], true);
        }
    }
}

// A22 - L21 L21ᴴ in the lower triangle of the next block on the diagonal, which is the next to be factored.
__device__ inline void update_next(elem *l, int pitch, int at) {
    const int x = at + STEP + threadIdx.x % STEP, y = at + STEP + threadIdx.x / STEP;
    elem sum[STEP * STEP / THREADS];
#pragma unroll
    for (int c = 0; c < STEP * STEP / THREADS; ++c) sum[c] = make(0, 0);
#pragma unroll 8
    for (int k = at; k < at + STEP; ++k) {
        const elem left = l[x + k * pitch];
#pragma unroll
        for (int c = 0; c < STEP * STEP / THREADS; ++c)
            sum[c] = sum[c] + left * conj_if(l[y + c * (THREADS / STEP) + k * pitch], true);
    }
#pragma unroll
    for (int c = 0; c < STEP * STEP / THREADS; ++c) {
        const int j = y + c * (THREADS / STEP);
        if (x >= j) l[x + j * pitch] = l[x + j * pitch] - sum[c];
    }
}

// The same for what is below that block, and what is behind, by all warps but the first.
__device__ inline void update_rest(elem *l, int pitch, int at, int order) {
    const int lane = threadIdx.x % 32, first = at + STEP, top = first + STEP;
    const int across = (order - first) / COLUMNS, items = (order - top + 63) / 64 * across;
    for (int item = threadIdx.x / 32 - 1; item < items; item += WARPS - 1) {
        const int c = first + item % across * COLUMNS, upper = top + item / across * 64;
        if (c > upper + 63) continue;
        const int rows[2] = {upper + lane, upper + 32 + lane};
        elem sum[2][COLUMNS];
#pragma unroll
        for (int q = 0; q < COLUMNS; ++q) sum[0][q] = sum[1][q] = make(0, 0);
#pragma unroll 4
        for (int k = at; k < first; ++k) {
            // There is a row to read in any case.
            const elem *column = l + k * pitch;
            const elem left[2] = {column[min(rows[0], order - 1)], column[min(rows[1], order - 1)]};
#pragma unroll
            for (int q = 0; q < COLUMNS; ++q) {
                const elem right = conj_if(column[c + q], true);
                sum[0][q] = sum[0][q] + left[0] * right;
                sum[1][q] = sum[1][q] + left[1] * right;
            }
        }
#pragma unroll
        for (int r = 0; r < 2; ++r)
#pragma unroll
            for (int q = 0; q < COLUMNS; ++q)
                if (rows[r] < order && rows[r] >= c + q)
                    l[rows[r] + (c + q) * pitch] = l[rows[r] + (c + q) * pitch] - sum[r][q];
    }
}

// A = L Lᴴ or Uᴴ U for a block of order n <= ORDER, by one block of threads, in (order + 1) * order elements of shared memory, where order is n
// rounded up to a multiple of STEP. The other triangle is not touched, nor are imaginary parts of the diagonal read.
//
// status is 0, or becomes the order of the first leading minor that is not positive definite. It lies in host memory, which is far
// away: it is neither read nor written where nothing fails.
KERNEL(THREADS, 1) potrf(elem *a, place ld, int n, int is_upper, int *status, int row) {
    DYNAMIC_SHARED(elem, l);
    __shared__ real inverses[ORDER];
    __shared__ int failed;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int order = (n + STEP - 1) / STEP * STEP, pitch = order + 1;
    // Of the upper triangle, Uᴴ is the lower factor. Behind A stands the unit matrix.
#define AT(i, j) a[is_upper ? (j) + (i) * ld : (i) + (j) * ld]
    for (int high = warp; high < order; high += WARPS * READS)
        for (int low = lane; low < order; low += 32) {
            elem x[READS];
#pragma unroll
            for (int k = 0; k < READS; ++k) {
                const int at = high + k * WARPS, i = is_upper ? at : low, j = is_upper ? low : at;
                x[k] = i >= j && i < n ? AT((place)i, (place)j) : make(i == j ? 1 : 0, 0);
            }
#pragma unroll
            for (int k = 0; k < READS; ++k) {
                const int at = high + k * WARPS, i = is_upper ? at : low, j = is_upper ? low : at;
                if (at < order && i >= j) l[i + j * pitch] = i == j ? make(re(x[k]), 0) : conj_if(x[k], is_upper);
            }
        }
    if (threadIdx.x == 0) failed = 0;
    __syncthreads();
    for (int at = 0;; at += STEP) {
        // While one warp factors the next block on the diagonal, the others make up for what the step before left.
        if (warp == 0) {
            const int minor = factor_diagonal(l, pitch, at, inverses);
            if (lane == 0 && minor && !failed) failed = minor;
        } else if (at > 0) {
            update_rest(l, pitch, at - STEP, order);
        }
        __syncthreads();
        if (at + STEP >= order) break;
        solve_below(l, pitch, at, order, inverses);
        __syncthreads();
        update_next(l, pitch, at);
        __syncthreads();
    }
    for (int high = warp; high < n; high += WARPS)
        for (int low = lane; low < n; low += 32) {
            const int i = is_upper ? high : low, j = is_upper ? low : high;
            if (i >= j) AT((place)i, (place)j) = conj_if(l[i + j * pitch], is_upper);
        }
    if (threadIdx.x == 0 && failed && *status == 0) *status = row + failed;
}

// A block of threads solves for so many vectors; each thread has the components c, c + SIDE, ... of the vectors i, i + SIDE, ...
#define SIDE 16
#define ITS_COMPONENTS (ORDER / SIDE)
#define AT_ONCE (STEP / SIDE)

// L x = b for one vector, whose components from `at` on are in x.
__device__ inline void solve_one(elem *x, int stride, const elem *l, int pitch, int at, const real *inverses) {
    // By halves, for which there are registers.
#pragma unroll 1
    for (int half = 0; half < STEP; half += STEP / 2) {
        elem y[STEP / 2];
        const elem *rows = l + at + half;
#pragma unroll
        for (int c = 0; c < STEP / 2; ++c) y[c] = x[(half + c) * stride];
#pragma unroll 4
        for (int p = 0; p < half; ++p) {
            const elem known = x[p * stride];
#pragma unroll
            for (int c = 0; c < STEP / 2; ++c) y[c] = y[c] - known * rows[c + (at + p) * pitch];
        }
#pragma unroll
        for (int j = 0; j < STEP / 2; ++j) {
            y[j] = times_real(y[j], inverses[at + half + j]);
            x[(half + j) * stride] = y[j];
#pragma unroll
            for (int c = j + 1; c < STEP / 2; ++c) y[c] = y[c] - y[j] * rows[c + (at + half + j) * pitch];
        }
    }
}

// Solves L x = b for `count` vectors b, which are rows or columns of B, and leaves x in their places. L is lower triangular, of order
// n <= ORDER, and element (c, p) of it is that of A, or of A's transpose, conjugated or not; its diagonal is real, or not read and taken
// as ones. In shared memory are L, of the order n rounded up to a multiple of STEP, (order + 1) * order elements, and STEP components of
// all vectors, (VECTORS + 1) * STEP.
template <int VECTORS>
__device__ inline void solve_for(const elem *__restrict__ a, place lda, int n, int is_trans, int conj, int is_unit, elem *b, place ldb,
                                 place count, int by_rows) {
    constexpr int ITS_VECTORS = VECTORS / SIDE;
    DYNAMIC_SHARED(elem, memory);
    elem *l = memory;
    __shared__ real inverses[ORDER];
    const int order = (n + STEP - 1) / STEP * STEP, pitch = order + 1, lane = threadIdx.x % 32;
    elem *known = l + order * pitch;
    // Neighbours in memory are read by neighbours.
    const int fast = threadIdx.x % SIDE, slow = threadIdx.x / SIDE, c = by_rows ? slow : fast, i = by_rows ? fast : slow;
    const place first = (place)blockIdx.x * VECTORS;
#define B(r, q) b[by_rows ? first + i + (r) * SIDE + (c + (q) * SIDE) * ldb : c + (q) * SIDE + (first + i + (r) * SIDE) * ldb]
    elem x[ITS_VECTORS][ITS_COMPONENTS];
#pragma unroll
    for (int q = 0; q < ITS_COMPONENTS; ++q)
#pragma unroll
        for (int r = 0; r < ITS_VECTORS; ++r)
            x[r][q] = c + q * SIDE < n && first + i + r * SIDE < count ? B(r, q) : make(0, 0);
    for (int high = threadIdx.x / 32; high < order; high += WARPS * READS)
        for (int low = lane; low < order; low += 32) {
            elem y[READS];
#pragma unroll
            for (int k = 0; k < READS; ++k) {
                const int at = high + k * WARPS, row = is_trans ? at : low, column = is_trans ? low : at;
                y[k] = row < n && (row > column || (row == column && !is_unit)) ? a[low + at * lda] : make(row == column ? 1 : 0, 0);
            }
#pragma unroll
            for (int k = 0; k < READS; ++k) {
                const int at = high + k * WARPS, row = is_trans ? at : low, column = is_trans ? low : at;
                if (at < order) l[row + column * pitch] = conj_if(y[k], conj);
                if (row == column) inverses[row] = 1 / re(y[k]);
            }
        }
    __syncthreads();
#pragma unroll
    for (int s = 0; s < ORDER / STEP; ++s) {
        const int at = s * STEP;
        if (at >= n) break;
#pragma unroll
        for (int q = 0; q < AT_ONCE; ++q)
#pragma unroll
            for (int r = 0; r < ITS_VECTORS; ++r)
                known[i + r * SIDE + (c + q * SIDE) * (VECTORS + 1)] = x[r][s * AT_ONCE + q];
        __syncthreads();
        if (threadIdx.x < VECTORS) solve_one(known + threadIdx.x, VECTORS + 1, l, pitch, at, inverses);
        __syncthreads();
#pragma unroll
        for (int q = 0; q < AT_ONCE; ++q)
#pragma unroll
            for (int r = 0; r < ITS_VECTORS; ++r)
                if (c + at + q * SIDE < n && first + i + r * SIDE < count)
                    B(r, s * AT_ONCE + q) = known[i + r * SIDE + (c + q * SIDE) * (VECTORS + 1)];
        if (at + STEP >= n) break;
#pragma unroll 4
        for (int p = 0; p < STEP; ++p) {
            elem left[ITS_VECTORS];
#pragma unroll
            for (int r = 0; r < ITS_VECTORS; ++r) left[r] = known[i + r * SIDE + p * (VECTORS + 1)];
#pragma unroll
            for (int q = (s + 1) * AT_ONCE; q < ITS_COMPONENTS; ++q) {
                // There is a component to read in any case.
                const elem right = l[min(c + q * SIDE, order - 1) + (at + p) * pitch];
#pragma unroll
                for (int r = 0; r < ITS_VECTORS; ++r) x[r][q] = x[r][q] - left[r] * right;
            }
        }
        __syncthreads();
    }
}

#define SOLVE_WITH const elem *__restrict__ a, place lda, int n, int is_trans, int conj, int is_unit, elem *b, place ldb, place count, int by_rows

KERNEL(THREADS, 1) solve(SOLVE_WITH) { solve_for<SOLVED>(a, lda, n, is_trans, conj, is_unit, b, ldb, count, by_rows); }

// With more vectors for a block, which all wait for the same: longer, but fewer blocks.
KERNEL(THREADS, 1) solve_many(SOLVE_WITH) { solve_for<MANY>(a, lda, n, is_trans, conj, is_unit, b, ldb, count, by_rows); }
