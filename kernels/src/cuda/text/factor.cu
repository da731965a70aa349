// The Cholesky factorization of a block, and the solve with a triangle that follows it, or LU's. Defined before: THREADS; ORDER, the
// order of the largest block; STEP, columns that a warp factors in its registers, each lane of the first few having a row, 16 or 32.

#define WARPS (THREADS / 32)
#define ALL 0xffffffffu

// A factor of order n, of which thread (x, y) of SQUARE x SQUARE updates rows x, x + SQUARE, ... of columns y, y + SQUARE, ...
#define SQUARE 16
#define PARTS ((ORDER - STEP) / SQUARE)

// L Lᴴ = A for the STEP rows and columns from `at` on, by one warp. Returns the order of the minor of A that is not positive
// definite, or 0; `inverses` become those of L's diagonal. Only the first n rows of A are there.
__device__ inline int factor_diagonal(elem *l, int pitch, int at, int n, real *inverses) {
    const int lane = threadIdx.x % 32;
    elem *block = l + at + at * pitch;
    elem x[STEP];
#pragma unroll
    for (int c = 0; c < STEP; ++c) x[c] = c <= lane && lane < STEP ? block[lane + c * pitch] : make(0, 0);
    int failed = 0;
#pragma unroll
    for (int j = 0; j < STEP; ++j) {
        if (at + j >= n || failed) break;
        const real pivot = __shfl_sync(ALL, re(x[j]), j);
        if (!(pivot > 0)) {
            failed = at + j + 1;
            break;
        }
        const real inverse = rsqrt(pivot);
        const elem left = times_real(x[j], inverse);
        // To the last bit, and so that the root of Inf is Inf.
        real root = pivot * inverse;
        root = inverse > 0 ? root + (pivot - root * root) * (inverse / 2) : pivot;
        if (lane == j) {
            x[j] = make(root, 0);
            inverses[at + j] = inverse;
        } else {
            x[j] = left;
        }
#pragma unroll
        for (int c = j + 1; c < STEP; ++c) x[c] = x[c] - left * conj_if(from_lane(left, c), true);
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

// A22 - L21 L21ᴴ, in the lower triangle.
__device__ inline void update_rest(elem *l, int pitch, int at, int order) {
    const int x = threadIdx.x % SQUARE, y = threadIdx.x / SQUARE, first = at + STEP;
    const int parts = (order - first) / SQUARE;
    elem sum[PARTS][PARTS];
#pragma unroll
    for (int r = 0; r < PARTS; ++r)
#pragma unroll
        for (int c = 0; c <= r; ++c) sum[r][c] = make(0, 0);
#pragma unroll 2
    for (int k = at; k < first; ++k) {
        elem left[PARTS], right[PARTS];
#pragma unroll
        for (int r = 0; r < PARTS; ++r)
            if (r < parts) {
                left[r] = l[first + x + r * SQUARE + k * pitch];
                right[r] = conj_if(l[first + y + r * SQUARE + k * pitch], true);
#pragma unroll
                for (int c = 0; c <= r; ++c) sum[r][c] = sum[r][c] + left[r] * right[c];
            }
    }
#pragma unroll
    for (int r = 0; r < PARTS; ++r)
        if (r < parts) {
#pragma unroll
            for (int c = 0; c <= r; ++c) {
                const int i = first + x + r * SQUARE, j = first + y + c * SQUARE;
                if (i >= j) l[i + j * pitch] = l[i + j * pitch] - sum[r][c];
            }
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
    for (int high = warp; high < order; high += WARPS)
        for (int low = lane; low < order; low += 32) {
            const int i = is_upper ? high : low, j = is_upper ? low : high;
            if (i < j) continue;
            const elem x = i < n ? conj_if(AT((place)i, (place)j), is_upper) : make(i == j ? 1 : 0, 0);
            l[i + j * pitch] = i == j ? make(re(x), 0) : x;
        }
    if (threadIdx.x == 0) failed = 0;
    __syncthreads();
    for (int at = 0; at < order; at += STEP) {
        if (warp == 0) {
            const int minor = factor_diagonal(l, pitch, at, n, inverses);
            if (lane == 0 && minor) failed = minor;
        }
        __syncthreads();
        if (failed || at + STEP >= order) break;
        solve_below(l, pitch, at, order, inverses);
        __syncthreads();
        update_rest(l, pitch, at, order);
        __syncthreads();
    }
    for (int high = warp; high < n; high += WARPS)
        for (int low = lane; low < n; low += 32) {
            const int i = is_upper ? high : low, j = is_upper ? low : high;
            if (i >= j) AT((place)i, (place)j) = conj_if(l[i + j * pitch], is_upper);
        }
    if (threadIdx.x == 0 && failed && *status == 0) *status = row + failed;
}

// A vector of a solve has so many lanes, which have its components by turns.
#define LANES 8
#define SLOTS (ORDER / LANES)

// Solves L x = b for `count` vectors b, which are rows or columns of B, and leaves x in their places. L is lower triangular, of order
// n <= ORDER, and element (c, p) of it is that of A, or of A's transpose, conjugated or not; its diagonal is real, or not read and taken
// as ones. It is kept in n * (n | 1) elements of shared memory.
KERNEL(THREADS, 1) solve(const elem *__restrict__ a, place lda, int n, int is_trans, int conj, int is_unit, elem *b, place ldb,
                      place count, int by_rows) {
    DYNAMIC_SHARED(elem, l);
    __shared__ real inverses[ORDER];
    const int pitch = n | 1, lane = threadIdx.x % LANES;
    for (int high = threadIdx.x / 32; high < n; high += WARPS)
        for (int low = threadIdx.x % 32; low < n; low += 32) {
            const int c = is_trans ? high : low, p = is_trans ? low : high;
            if (c > p) l[c + p * pitch] = conj_if(a[low + high * lda], conj);
            if (c == p) inverses[c] = is_unit ? 1 : 1 / re(a[low + high * lda]);
        }
    const place i = (place)blockIdx.x * (THREADS / LANES) + threadIdx.x / LANES;
    elem x[SLOTS];
#pragma unroll
    for (int s = 0; s < SLOTS; ++s) {
        const int c = s * LANES + lane;
        x[s] = c < n && i < count ? b[by_rows ? i + c * ldb : c + i * ldb] : make(0, 0);
    }
    __syncthreads();
#pragma unroll
    for (int s = 0; s < SLOTS; ++s)
#pragma unroll 1
        for (int owner = 0; owner < LANES; ++owner) {
            const int p = s * LANES + owner;
            if (p >= n) break;
            const elem known = times_real(from_neighbour(x[s], owner, LANES), inverses[p]);
            const elem *column = l + p * pitch;
            if (lane == owner) x[s] = known;
            const int c = s * LANES + lane;
            if (lane > owner && c < n) x[s] = x[s] - column[c] * known;
#pragma unroll
            for (int q = s + 1; q < SLOTS; ++q)
                if (q * LANES + lane < n) x[q] = x[q] - column[q * LANES + lane] * known;
        }
#pragma unroll
    for (int s = 0; s < SLOTS; ++s) {
        const int c = s * LANES + lane;
        if (c < n && i < count) b[by_rows ? i + c * ldb : c + i * ldb] = x[s];
    }
}
