// Cholesky and LU factorizations of tiny matrices, of order W at most: W lanes of a warp have a matrix, one row each in
// registers. Included after `batch_steps.cu`.

// The distance of columns in shared memory: a multiple of a pack that spreads neighbouring columns over the banks.
#define ROW_PITCH(w) ((w) + PACK)

// Computes L Lᴴ = A for n <= W rows, one for each lane of a group. L is left in shared memory, l, with junk above the
// diagonal. Reads beyond a column's end, by less than W elements, are harmless. Returns the order of the first leading
// minor that is not positive, or 0.
template <int W> __device__ inline int cholesky_rows(elem (&x)[W], int n, elem *l, int pitch) {
    const int lane = lane_of() % W;
    int failed = 0;
#pragma unroll 1
    for (int first = 0; first < W; first += UNROLLED_STEPS) {
        if (__all_sync(ALL, first >= n)) break;
#pragma unroll
        for (int q = 0; q < UNROLLED_STEPS; ++q) {
            const int j = first + q;
            const real pivot = real_of_group<W>(re(x[q]), j), inverse = rsqrt(pivot);
            if (!(pivot > 0) && !failed && j < n) failed = j + 1;
            const elem left = lane == j ? make(root_of(pivot, inverse), 0) : times_real(x[q], inverse);
            if (j < n || W < 32) l[lane + j * pitch] = left;
            __syncwarp();
            subtract(x, q + 1, left, l + first + j * pitch, true);
        }
        pass(x);
    }
    return failed;
}

// A = L Lᴴ or Uᴴ U.
template <int W> __device__ inline void potrf_of_rows(view<elem> a, bool is_some, int is_upper, int *info, elem *l) {
    constexpr int PITCH = ROW_PITCH(W);
    const int lane = lane_of() % W, n = is_some ? (int)a.n : 0;
    elem x[W];
    if (is_upper) {
        for (int i = 0; i < n; ++i)
            if (lane <= i) l[i + lane * PITCH] = conj_if(a.a[lane + i * a.ld], true);
        __syncwarp();
    }
#pragma unroll
    for (int c = 0; c < W; ++c) {
        x[c] = make(c == lane ? 1 : 0, 0);
        if (c <= lane && lane < n) x[c] = is_upper ? l[lane + c * PITCH] : a.a[lane + c * a.ld];
        if (c == lane) x[c] = make(re(x[c]), 0);
    }
    __syncwarp();
    const int failed = cholesky_rows<W>(x, n, l, PITCH);
    if (is_upper) {
        for (int i = 0; i < n; ++i)
            if (lane <= i) a.a[lane + i * a.ld] = conj_if(l[i + lane * PITCH], true);
    } else {
        for (int c = 0; c < n; ++c)
            if (lane >= c && lane < n) a.a[lane + c * a.ld] = l[lane + c * PITCH];
    }
    if (is_some && lane == 0) *info = failed;
}

#define POTRF_ROWS(W)                                                                                                  \
    KERNEL(ROW_THREADS)                                                                                                \
    potrf_rows_##W(OPERAND(elem, a), int is_upper, int *info, int count) {                                             \
        __shared__ pack memory[ROW_THREADS / W][(ROW_PITCH(W) * W + W) / PACK];                                        \
        const place mine = (place)blockIdx.x * (ROW_THREADS / W) + threadIdx.x / W, p = mine < count ? mine : 0;       \
        potrf_of_rows<W>(PROBLEM(a, p), mine < count, is_upper, info + NUMBER(a, p), (elem *)memory[threadIdx.x / W]); \
    }
POTRF_ROWS(8)
POTRF_ROWS(16)
POTRF_ROWS(32)

// Rows do not move: `at` is the position that a lane's row has after the interchanges so far.
template <int W, bool PIVOTS>
__device__ inline void getrf_of_rows(view<elem> a, bool is_some, int *ipiv, int *info, elem *u, elem *row) {
    constexpr int PITCH = ROW_PITCH(W);
    const int lane = lane_of() % W, m = is_some ? (int)a.m : 0, n = is_some ? (int)a.n : 0, k = min(m, n);
    int at = lane, failed = 0;
    bool is_active = lane < m;
    elem x[W];
#pragma unroll
    for (int c = 0; c < W; ++c) x[c] = lane < m && c < n ? a.a[lane + c * a.ld] : make(0, 0);
#pragma unroll 1
    for (int first = 0; first < W; first += UNROLLED_STEPS) {
        if (__all_sync(ALL, first >= n)) break;
#pragma unroll
        for (int q = 0; q < UNROLLED_STEPS; ++q) {
            const int j = first + q;
            const bool is_step = j < k;
            int winner = lane_of() / W * W + j % W;
            if (PIVOTS) {
                const real size = size_of(x[q]);
                winner = winner_of<W>(!is_active ? -1 : size > 0 ? size : 0, at);
            }
            const int place_of_winner = __shfl_sync(ALL, at, winner);
            const bool wins = is_step && lane_of() == winner;
            if (wins) {
#pragma unroll
                for (int p = q / PACK; p < W / PACK; ++p) {
                    pack y;
#pragma unroll
                    for (int e = 0; e < PACK; ++e) y.of[e] = x[p * PACK + e];
                    ((pack *)row)[p] = y;
                }
                if (PIVOTS) ipiv[j] = place_of_winner + 1;
            }
            __syncwarp();
            if (is_step) {
                if (PIVOTS && at == j) at = place_of_winner;
                if (wins) {
                    at = j;
                    is_active = false;
                }
                const elem pivot = row[q];
                if (is_zero(pivot)) failed = failed ? failed : j + 1;
                else if (is_active) x[q] = quotient(x[q], pivot);
                if (is_active) subtract(x, q + 1, x[q], row, false);
            }
            u[lane + j * PITCH] = x[q];
            __syncwarp();
        }
        pass(x);
    }
    for (int c = 0; c < n; ++c)
        if (lane < m) a.a[at + c * a.ld] = u[lane + c * PITCH];
    if (is_some && lane == 0) *info = failed;
}

#define GETRF_ROWS(W)                                                                                                  \
    KERNEL(ROW_THREADS)                                                                                                \
    getrf_rows_##W(OPERAND(elem, a), OPERAND(int, ipiv), int *info, int count) {                                       \
        __shared__ pack memory[ROW_THREADS / W][(ROW_PITCH(W) * W + W) / PACK], row[ROW_THREADS / W][W / PACK];        \
        const int group = threadIdx.x / W;                                                                             \
        const place mine = (place)blockIdx.x * (ROW_THREADS / W) + group, p = mine < count ? mine : 0;                 \
        getrf_of_rows<W, true>(PROBLEM(a, p), mine < count, PROBLEM(ipiv, p).a, info + NUMBER(a, p),                   \
                               (elem *)memory[group], (elem *)row[group]);                                             \
    }                                                                                                                  \
    KERNEL(ROW_THREADS)                                                                                                \
    getrf_nopiv_rows_##W(OPERAND(elem, a), int *info, int count) {                                                     \
        __shared__ pack memory[ROW_THREADS / W][(ROW_PITCH(W) * W + W) / PACK], row[ROW_THREADS / W][W / PACK];        \
        const int group = threadIdx.x / W;                                                                             \
        const place mine = (place)blockIdx.x * (ROW_THREADS / W) + group, p = mine < count ? mine : 0;                 \
        getrf_of_rows<W, false>(PROBLEM(a, p), mine < count, nullptr, info + NUMBER(a, p), (elem *)memory[group],      \
                                (elem *)row[group]);                                                                   \
    }
GETRF_ROWS(8)
GETRF_ROWS(16)
GETRF_ROWS(32)
