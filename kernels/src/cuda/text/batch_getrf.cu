// The LU factorization of matrices that do not fit into a warp's registers, one block of threads for each: panels of W
// columns, each updated by the columns on its left, in shared memory. Included after `batch_steps.cu` and
// `batch_product.cu`.
//
// A column is loaded in the order of rows that all interchanges so far gave. The columns on the left of a panel are
// put into the new order after each panel.

// The warps of a block at most.
#define BLOCK_WARPS (BLOCK_THREADS / 32)

// Elements that a thread loads before it stores any of them.
#define LU_READS 4

// What the threads of a block share, besides the panel.
template <int W> struct lu_memory {
    // A diagonal block on the left; a row of each warp for two steps, by turns.
    pack block[W][W / PACK], rows[2][BLOCK_WARPS][W / PACK];
    real keys[2][BLOCK_WARPS];
    int places[2][BLOCK_WARPS];
    int failed, moved[2 * W];
};

// Solves L U = B for a panel's W rows from `at` on, one column per lane of the first warp.
template <int W> __device__ inline void getrf_solve(elem *panel, int pitch, int at, lu_memory<W> &memory) {
    if (threadIdx.x >= W) return;
    elem x[W], *column = panel + at + threadIdx.x * pitch;
#pragma unroll
    for (int r = 0; r < W; ++r) x[r] = column[r];
#pragma unroll
    for (int k = 0; k < W; ++k) {
        column[k] = x[k];
        subtract(x, k + 1, x[k], (const elem *)memory.block[k], false);
    }
}

// Updates a panel by the W columns of L from `at` on. L is loaded into registers before U is known.
template <int W>
__device__ inline void getrf_update(const view<elem> &a, elem *panel, int pitch, int at, lu_memory<W> &memory) {
    constexpr int R = 2, C = W / 8;
    const int m = (int)a.m, step = blockDim.x / 32 * 8 * R;
    elem *block = (elem *)memory.block;
    int row = at + W + warp_of() * 8 * R;
    left_factor<R, W> left;
    const auto l = [&](int i, int k) { return a.a[min(row + i, m - 1) + (at + k) * a.ld]; };
    for (int e = threadIdx.x; e < W * W; e += blockDim.x) {
        const int i = e % W, k = e / W;
        block[e] = i > k && at + i < m ? a.a[at + i + (at + k) * a.ld] : make(0, 0);
    }
    if (row < m) left.load(l);
    __syncthreads();
    getrf_solve<W>(panel, pitch, at, memory);
    __syncthreads();
    while (row < m) {
        product<R, C> sums;
        sums.set([&](int i, int j) { return negated(panel[row + i + j * pitch]); });
        left.multiply(sums, [&](int k, int j) { return panel[at + k + j * pitch]; });
        sums.each([&](int i, int j, elem sum) {
            if (row + i < m) panel[row + i + j * pitch] = negated(sum);
        });
        row += step;
        if (row < m) left.load(l);
    }
    __syncthreads();
}

// Factors the first columns of a panel, `steps` of w, from row `first` on, one row per thread. Rows do not move:
// order[i] becomes the row that is at i after the interchanges.
template <int W, bool PIVOTS>
__device__ inline void getrf_panel(elem *panel, int pitch, int first, int m, int w, int steps, int *ipiv,
                                   int *order, lu_memory<W> &memory) {
    const int mine = first + threadIdx.x, warps = blockDim.x / 32;
    int at = mine;
    bool is_active = mine < m;
    elem x[W];
#pragma unroll
    for (int c = 0; c < W; ++c) x[c] = is_active ? panel[mine + c * pitch] : make(0, 0);
#pragma unroll 1
    for (int done = 0; done < w; done += UNROLLED_STEPS) {
#pragma unroll
        for (int q = 0; q < UNROLLED_STEPS; ++q) {
            const int j = done + q, turn = j % 2;
            if (j >= steps) {
                if (mine < m) panel[mine + j * pitch] = x[q];
                continue;
            }
            // Without pivots, the row is that of the thread.
            real key = -1;
            int winner = j % 32;
            if (PIVOTS) {
                const real size = size_of(x[q]);
                key = !is_active ? -1 : size > 0 ? size : 0;
                winner = winner_of<32>(key, at);
            }
            const bool leads = PIVOTS ? lane_of() == winner : (int)threadIdx.x == j;
            if (leads) {
#pragma unroll
                for (int p = q / PACK; p < W / PACK; ++p) {
                    pack y;
#pragma unroll
                    for (int e = 0; e < PACK; ++e) y.of[e] = x[p * PACK + e];
                    memory.rows[turn][PIVOTS ? warp_of() : 0][p] = y;
                }
                memory.keys[turn][warp_of()] = key;
                memory.places[turn][warp_of()] = at;
            }
            __syncthreads();
            int best = 0, place_of_best = first + j;
            if (PIVOTS) {
                place_of_best = memory.places[turn][0];
                real most = memory.keys[turn][0];
                for (int warp = 1; warp < warps; ++warp) {
                    const real other = memory.keys[turn][warp];
                    const int there = memory.places[turn][warp];
                    if (other > most || (other == most && there < place_of_best)) {
                        most = other;
                        place_of_best = there;
                        best = warp;
                    }
                }
            }
            if (mine < m) panel[mine + j * pitch] = x[q];
            if (is_active && at == place_of_best) {
                is_active = false;
                at = first + j;
                if (PIVOTS) ipiv[first + j] = place_of_best + 1;
            } else if (PIVOTS && at == first + j) {
                at = place_of_best;
            }
            const elem *row = (const elem *)memory.rows[turn][best], pivot = row[q];
            if (is_zero(pivot)) {
                if (threadIdx.x == 0 && !memory.failed) memory.failed = first + j + 1;
            } else if (is_active) {
                x[q] = quotient(x[q], pivot);
                panel[mine + j * pitch] = x[q];
            }
            if (is_active) subtract(x, q + 1, x[q], row, false);
        }
        pass(x);
    }
    if (mine < m) order[at] = mine;
}

// The same for more rows than threads. The rows of the panel are interchanged.
template <int W, bool PIVOTS>
__device__ __noinline__ void getrf_long_panel(elem *panel, int pitch, int first, int m, int w, int *ipiv, int *order,
                                              lu_memory<W> &memory) {
    const int warps = blockDim.x / 32;
    for (int j = 0; j < w; ++j) {
        const int at = first + j;
        int best = at;
        if (PIVOTS) {
            real most = -1;
            for (int i = at + threadIdx.x; i < m; i += blockDim.x) {
                const real size = size_of(panel[i + j * pitch]), key = size > 0 ? size : 0;
                if (key > most) {
                    most = key;
                    best = i;
                }
            }
            const int winner = winner_of<32>(most, best);
            if (lane_of() == winner) {
                memory.keys[0][warp_of()] = most;
                memory.places[0][warp_of()] = best;
            }
            __syncthreads();
            best = memory.places[0][0];
            most = memory.keys[0][0];
            for (int warp = 1; warp < warps; ++warp) {
                const real other = memory.keys[0][warp];
                const int there = memory.places[0][warp];
                if (other > most || (other == most && there < best)) {
                    most = other;
                    best = there;
                }
            }
            if (threadIdx.x < w) {
                elem &x = panel[at + threadIdx.x * pitch], &y = panel[best + threadIdx.x * pitch];
                const elem old = x;
                x = y;
                y = old;
            }
            if (threadIdx.x == 0) {
                const int old = order[at];
                order[at] = order[best];
                order[best] = old;
                ipiv[at] = best + 1;
            }
            __syncthreads();
        }
        const elem pivot = panel[at + j * pitch];
        if (threadIdx.x == 0 && is_zero(pivot) && !memory.failed) memory.failed = at + 1;
        for (int i = at + 1 + threadIdx.x; i < m; i += blockDim.x) {
            const elem x = is_zero(pivot) ? panel[i + j * pitch] : quotient(panel[i + j * pitch], pivot);
            panel[i + j * pitch] = x;
            for (int c = j + 1; c < w; ++c)
                panel[i + c * pitch] = minus(x, panel[at + c * pitch], panel[i + c * pitch]);
        }
        __syncthreads();
    }
}

// Puts the rows of the columns before `first` into the order that the panel's interchanges gave.
template <int W>
__device__ inline void getrf_interchange(const view<elem> &a, int first, int w, const int *ipiv, const int *order,
                                         lu_memory<W> &memory) {
    const int m = (int)a.m;
    // The rows that may have moved, each once: those of the panel's diagonal, and the others that were exchanged.
    for (int t = threadIdx.x; t < 2 * W; t += blockDim.x) {
        int row = t % W < w ? t < W ? first + t : ipiv[first + t - W] - 1 : -1;
        if (t >= W && row < first + w) row = -1;
        for (int s = 0; t >= W && s < t - W; ++s)
            if (row >= 0 && ipiv[first + s] - 1 == row) row = -1;
        memory.moved[t] = row >= 0 && row < m && order[row] != row ? row : -1;
    }
    __syncthreads();
    constexpr int TURNS = (2 * W + 31) / 32;
    for (int c = warp_of(); c < first; c += blockDim.x / 32) {
        elem x[TURNS], *column = a.a + c * a.ld;
#pragma unroll
        for (int t = 0; t < TURNS; ++t) {
            const int k = lane_of() + 32 * t, row = k < 2 * W ? memory.moved[k] : -1;
            if (row >= 0) x[t] = column[order[row]];
        }
        __syncwarp();
#pragma unroll
        for (int t = 0; t < TURNS; ++t) {
            const int k = lane_of() + 32 * t, row = k < 2 * W ? memory.moved[k] : -1;
            if (row >= 0) column[row] = x[t];
        }
    }
}

// Shared memory holds the panel, and for pivots the orders of rows: `all` of all panels so far, and `order` of one.
template <int W, bool PIVOTS>
__device__ inline void getrf_of_block(view<elem> a, int *ipiv, int *info, elem *panel) {
    __shared__ lu_memory<W> memory;
    const int m = (int)a.m, n = (int)a.n, k = min(m, n), pitch = panel_pitch(m);
    int *all = (int *)(panel + pitch * W), *order = all + m;
    if (threadIdx.x == 0) memory.failed = 0;
    for (int i = threadIdx.x; i < m; i += blockDim.x) all[i] = order[i] = i;
    __syncthreads();
    for (int first = 0; first < n; first += W) {
        const int w = min(W, n - first), steps = max(0, min(w, k - first));
        for (int c = warp_of(); c < W; c += blockDim.x / 32)
            for (int i = lane_of(); i < m; i += 32 * LU_READS) {
                elem x[LU_READS];
#pragma unroll
                for (int e = 0; e < LU_READS; ++e) {
                    const int row = min(i + 32 * e, m - 1);
                    x[e] = c < w ? a.a[(PIVOTS ? all[row] : row) + (first + c) * a.ld] : make(0, 0);
                }
#pragma unroll
                for (int e = 0; e < LU_READS; ++e)
                    if (i + 32 * e < m) panel[i + 32 * e + c * pitch] = x[e];
            }
        __syncthreads();
        // The last columns of L may be fewer than W; then there are no rows below their block, which is a solve only.
        for (int at = 0; at < min(first, k); at += W) getrf_update<W>(a, panel, pitch, at, memory);
        const bool is_long = m - first > (int)blockDim.x;
        if (steps > 0) {
            if (is_long) getrf_long_panel<W, PIVOTS>(panel, pitch, first, m, w, ipiv, order, memory);
            else getrf_panel<W, PIVOTS>(panel, pitch, first, m, w, steps, ipiv, order, memory);
            __syncthreads();
        }
        for (int c = warp_of(); c < w; c += blockDim.x / 32)
            for (int i = lane_of(); i < m; i += 32)
                a.a[i + (first + c) * a.ld] = panel[(is_long ? i : order[i]) + c * pitch];
        if (PIVOTS && steps > 0) {
            getrf_interchange<W>(a, first, steps, ipiv, order, memory);
            __syncthreads();
            // `all` follows the panel's order.
            for (int base = 0; base < m; base += blockDim.x) {
                const int i = base + threadIdx.x;
                if (i < m && i >= first) {
                    const int from = order[i];
                    order[i] = all[from];
                }
            }
            __syncthreads();
            for (int i = first + threadIdx.x; i < m; i += blockDim.x) {
                all[i] = order[i];
                order[i] = i;
            }
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) *info = memory.failed;
}

#define GETRF_BLOCK(W)                                                                                                 \
    KERNEL(BLOCK_THREADS)                                                                                              \
    getrf_block_##W(OPERAND(elem, a), OPERAND(int, ipiv), int *info, int count) {                                      \
        DYNAMIC_SHARED(elem, panel);                                                                                   \
        getrf_of_block<W, true>(PROBLEM(a, blockIdx.x), PROBLEM(ipiv, blockIdx.x).a, info + NUMBER(a, blockIdx.x),     \
                                panel);                                                                                \
    }                                                                                                                  \
    KERNEL(BLOCK_THREADS)                                                                                              \
    getrf_nopiv_block_##W(OPERAND(elem, a), int *info, int count) {                                                    \
        DYNAMIC_SHARED(elem, panel);                                                                                   \
        getrf_of_block<W, false>(PROBLEM(a, blockIdx.x), nullptr, info + NUMBER(a, blockIdx.x), panel);                \
    }
GETRF_BLOCK(8)
GETRF_BLOCK(16)
#if !COMPLEX
GETRF_BLOCK(32)
#endif
