// The Cholesky factorization of matrices that do not fit into a warp's registers, one block of threads for each: panels
// of W columns, each updated by the columns on its left, in shared memory. Included after `batch_steps.cu` and
// `batch_product.cu`.

// The lower triangle of A, or the upper one, whose factor is Lᴴ.
struct triangle {
    const elem *a;
    place down, right;
    int n, is_upper;
    __device__ const elem *at(int i, int j) const { return a + min(i, n - 1) * down + j * right; }
};

// Rows that a warp updates at once.
#define STRIP 16

// Computes the rows `row` .. `row` + STRIP of the panel A - L Lᴴ of the columns from `first` on, by a warp: part `part`
// of `parts` of the products. The first part includes A.
template <int W>
__device__ inline void potrf_strip(const triangle &a, int first, int row, int part, int parts, elem *to, int pitch) {
    product<STRIP / 8, W / 8> sums;
    const int begin = first / 4 * part / parts * 4, end = first / 4 * (part + 1) / parts * 4;
    // The sums are those of -A + L Lᴴ.
    if (part > 0) sums.clear();
    else
        sums.set([&](int i, int j) {
            const int x = row + i, y = first + j;
            return x >= y && x < a.n ? negated(conj_if(*a.at(x, y), a.is_upper)) : make(0, 0);
        });
    sums.multiply(
        end - begin, [&](int i, int k) { return a.at(row + i, begin + k); }, a.right, a.is_upper,
        [&](int k, int j) { return a.at(first + j, begin + k); }, a.right, !a.is_upper);
    sums.each([&](int i, int j, elem sum) { to[i + j * pitch] = negated(sum); });
}

// Adds the parts of `rows` rows, which lie one below the other, by all threads.
template <int W> __device__ inline void add_parts(elem *panel, int pitch, int rows, int parts) {
    for (int e = threadIdx.x; e < rows * W; e += blockDim.x) {
        elem *x = panel + e % rows + e / rows * pitch, sum = *x;
        for (int part = 1; part < parts; ++part) sum = sum + x[part * rows];
        *x = sum;
    }
}

// The rows of the block on the diagonal that are updated first.
template <int W> constexpr int FIRST_ROWS = W > STRIP ? W : STRIP;

// Updates the block on the diagonal. The products are divided among the warps. Beyond A's last row and column, the
// block is padded with the unit matrix.
template <int W>
__device__ inline void potrf_update_first(const triangle &a, int first, int parts, elem *panel, int pitch) {
    constexpr int ROWS = FIRST_ROWS<W>, STRIPS = ROWS / STRIP;
    for (int item = warp_of(); item < parts * STRIPS; item += blockDim.x / 32) {
        const int strip = item % STRIPS * STRIP, part = item / STRIPS;
        potrf_strip<W>(a, first, first + strip, part, parts, panel + part * ROWS + strip, pitch);
    }
    __syncthreads();
    add_parts<W>(panel, pitch, ROWS, parts);
    __syncthreads();
    if (first + W <= a.n) return;
    for (int e = threadIdx.x; e < W * W; e += blockDim.x)
        if (first + max(e % W, e / W) >= a.n) panel[e % W + e / W * pitch] = make(e % W == e / W ? 1 : 0, 0);
    __syncthreads();
}

// Computes L D Lᴴ = A by a warp for the W rows of a panel's block on the diagonal, and then L's columns times the roots
// of D. Returns whether all pivots were ordinary; if not, the result is not valid.
template <int W> __device__ __noinline__ bool potrf_fast(elem *panel, int pitch, real *inverses) {
    const int lane = lane_of();
    bool is_ordinary = true;
    real mine = 1;
    elem x[W];
#pragma unroll
    for (int c = 0; c < W; ++c) x[c] = panel[lane % W + c * pitch];
    __syncwarp();
#pragma unroll
    for (int j = 0; j < W; ++j) {
        if (lane < W) panel[lane + j * pitch] = x[j];
        __syncwarp();
        const real pivot = __shfl_sync(ALL, re(x[j]), j);
        is_ordinary &= pivot > LEAST && pivot < MOST;
        if (lane == j) mine = pivot;
        subtract(x, j + 1, times_real(x[j], reciprocal_of(pivot)), panel + j * pitch, true);
    }
    const real inverse = rsqrt(mine);
    if (lane < W) inverses[lane] = inverse;
    __syncwarp();
    if (lane < W)
#pragma unroll 4
        for (int c = 0; c < W; ++c)
            if (c < lane) panel[lane + c * pitch] = times_real(panel[lane + c * pitch], inverses[c]);
            else if (c == lane) panel[lane + c * pitch] = make(root_of(mine, inverse), 0);
    __syncwarp();
    return is_ordinary;
}

// Computes L Lᴴ = A for any pivots. Also gives the reciprocals of the diagonal. Returns the order of the first leading
// minor that is not positive, or 0.
template <int W>
__device__ __noinline__ int potrf_diagonal(int n, elem *panel, int pitch, real *inverses) {
    const int lane = lane_of();
    int failed = 0;
    elem x[W];
#pragma unroll
    for (int c = 0; c < W; ++c) x[c] = panel[lane % W + c * pitch];
    __syncwarp();
#pragma unroll 1
    for (int first = 0; first < W; first += UNROLLED_STEPS) {
#pragma unroll
        for (int q = 0; q < UNROLLED_STEPS; ++q) {
            const int j = first + q;
            const real pivot = __shfl_sync(ALL, re(x[q]), j), inverse = rsqrt(pivot);
            if (!(pivot > 0) && !failed && j < n) failed = j + 1;
            const elem left = lane == j ? make(root_of(pivot, inverse), 0) : times_real(x[q], inverse);
            if (lane == 0) inverses[j] = inverse;
            if (lane < W) panel[lane + j * pitch] = left;
            __syncwarp();
            subtract(x, q + 1, left, panel + first + j * pitch, true);
        }
        pass(x);
    }
    return failed;
}

// Solves X Lᴴ = B for the rows below the diagonal block.
template <int W> __device__ inline void potrf_solve(elem *panel, int pitch, int rows, const real *inverses) {
    for (int i = W + threadIdx.x; i < rows; i += blockDim.x) {
        elem x[W];
#pragma unroll
        for (int c = 0; c < W; ++c) x[c] = panel[i + c * pitch];
#pragma unroll
        for (int j = 0; j < W; ++j) {
            const elem left = times_real(x[j], inverses[j]);
            panel[i + j * pitch] = left;
            subtract(x, j + 1, left, panel + j * pitch, true);
        }
    }
}

// Stores w columns of a panel.
template <int W>
__device__ inline void potrf_store(view<elem> a, int is_upper, int first, int w, const elem *panel, int pitch) {
    const int rows = (int)a.n - first;
    if (is_upper) {
        for (int i = threadIdx.x / W; i < rows; i += blockDim.x / W) {
            const int c = threadIdx.x % W;
            if (c <= i && c < w) a.a[first + c + (first + i) * a.ld] = conj_if(panel[i + c * pitch], true);
        }
    } else {
        for (int c = warp_of(); c < w; c += blockDim.x / 32)
            for (int i = lane_of(); i < rows; i += 32)
                if (i >= c) a.a[first + i + (first + c) * a.ld] = panel[i + c * pitch];
    }
}

template <int W> __device__ inline void potrf_of_block(view<elem> a, int is_upper, int *info, elem *panel) {
    __shared__ int failed;
    __shared__ real inverses[W];
    const int n = (int)a.n;
    __shared__ bool is_ordinary;
    const triangle old{a.a, is_upper ? a.ld : 1, is_upper ? 1 : a.ld, n, is_upper};
    if (threadIdx.x == 0) failed = 0;
    constexpr int ROWS = FIRST_ROWS<W>;
    const int pitch = panel_pitch(n), warps = blockDim.x / 32, others = warps - 1;
    for (int first = 0; first < n; first += W) {
        const int rows = n - first, w = min(W, rows);
        potrf_update_first<W>(old, first, first == 0 ? 1 : min(warps * STRIP / ROWS, pitch / ROWS), panel, pitch);
        // While a warp factors the block, the others update the rows below. If these are few, the products of a row
        // are divided among several warps.
        const int strips = max(0, rows - ROWS + STRIP - 1) / STRIP;
        int parts = 1;
        while (parts < 4 && first > 0 && strips > 0 && 2 * parts * strips <= others &&
               ROWS + 2 * parts * strips * STRIP <= pitch)
            parts *= 2;
        if (warp_of() == 0) {
            const bool is_fine = potrf_fast<W>(panel, pitch, inverses);
            if (threadIdx.x == 0) is_ordinary = is_fine;
        } else {
            for (int item = warp_of() - 1; item < parts * strips; item += others)
                potrf_strip<W>(old, first, first + ROWS + item % strips * STRIP, item / strips, parts,
                               panel + ROWS + item * STRIP, pitch);
        }
        __syncthreads();
        if (parts > 1) {
            add_parts<W>(panel + ROWS, pitch, strips * STRIP, parts);
            __syncthreads();
        }
        if (!is_ordinary) {
            potrf_update_first<W>(old, first, 1, panel, pitch);
            if (warp_of() == 0) {
                const int minor = potrf_diagonal<W>(w, panel, pitch, inverses);
                if (minor && threadIdx.x == 0) failed = first + minor;
            }
            __syncthreads();
        }
        potrf_solve<W>(panel, pitch, rows, inverses);
        __syncthreads();
        potrf_store<W>(a, is_upper, first, w, panel, pitch);
        __syncthreads();
        if (failed) break;
    }
    if (threadIdx.x == 0) *info = failed;
}

#define POTRF_BLOCK(W)                                                                                                 \
    KERNEL(BLOCK_THREADS)                                                                                              \
    potrf_block_##W(OPERAND(elem, a), int is_upper, int *info, int count) {                                            \
        DYNAMIC_SHARED(elem, panel);                                                                                   \
        potrf_of_block<W>(PROBLEM(a, blockIdx.x), is_upper, info + NUMBER(a, blockIdx.x), panel);                      \
    }
POTRF_BLOCK(8)
POTRF_BLOCK(16)
#if !COMPLEX
POTRF_BLOCK(32)
#endif
