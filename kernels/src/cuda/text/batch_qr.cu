// QR factorizations of matrices that do not fit into the registers of a column's thread, one block of threads for each:
// panels of BAND columns in shared memory. Included after `batch_product.cu` and `batch_reflector.cu`.
//
// The reflectors of BAND columns are applied at once: Q = I - V T Vᴴ. V is unit lower trapezoidal and lies in the
// matrix; the triangular factors T of all bands are in scratch memory, BAND x BAND each, one after the other.

// Elements that a thread loads before it stores any of them.
#define PANEL_READS 4
#define QR_WARPS (QR_THREADS / 32)

struct qr_memory {
    // Products of each warp; their sum; a factor T; the sum times T, or Vᴴ V of a panel that is being factored.
    elem parts[QR_WARPS][BAND * BAND], sum[BAND * BAND], t[BAND * BAND], gram[BAND * BAND];
    elem dots[BAND], scales[BAND], taus[BAND];
};

// BAND reflectors of a matrix, from column `at` on; there may be fewer, `end` - at.
struct vectors {
    const elem *a;
    place ld;
    int m, at, end;
    // Row i of the matrix, column c of the band.
    __device__ elem get(int i, int c) const {
        const elem x = a[min(i, m - 1) + (place)min(at + c, end - 1) * ld];
        return i >= m || at + c >= end || i < at + c ? make(0, 0) : i == at + c ? make(1, 0) : x;
    }
};

// The sum over the warps of `parts`.
__device__ inline void sum_parts(qr_memory &memory, elem *to) {
    __syncthreads();
    for (int e = threadIdx.x; e < BAND * BAND; e += blockDim.x) {
        elem sum = make(0, 0);
        for (int warp = 0; warp < blockDim.x / 32; ++warp) sum = sum + memory.parts[warp][e];
        to[e] = sum;
    }
    __syncthreads();
}

// Computes Vᴴ B for the rows from v.at on, B's element (i, j) being b(i, j).
template <class B> __device__ inline void multiply_vectors(const vectors &v, const B &b, qr_memory &memory, elem *to) {
    product<2, 2> sums;
    sums.clear();
    for (int row = v.at + warp_of() * 16; row < v.m; row += blockDim.x / 32 * 16) {
        left_factor<2, 16> left;
        left.load([&](int i, int k) { return conj_if(v.get(row + k, i), true); });
        left.multiply(sums, [&](int k, int j) { return b(row + k, j); });
    }
    elem *mine = memory.parts[warp_of()];
    sums.each([&](int i, int j, elem sum) { mine[i + j * BAND] = sum; });
    sum_parts(memory, to);
}

// Applies Q = I - V T Vᴴ, or Qᴴ, to a panel in shared memory. `t` is the factor T of the band.
__device__ inline void apply_band(const vectors &v, const elem *t, bool adjoint, elem *panel, int pitch,
                                  qr_memory &memory) {
    for (int e = threadIdx.x; e < BAND * BAND; e += blockDim.x) memory.t[e] = t[e];
    multiply_vectors(
        v, [&](int i, int j) { return i < v.m ? panel[i + j * pitch] : make(0, 0); }, memory, memory.sum);
    for (int e = threadIdx.x; e < BAND * BAND; e += blockDim.x) {
        const int i = e % BAND, j = e / BAND;
        elem sum = make(0, 0);
#pragma unroll
        for (int k = 0; k < BAND; ++k) {
            const bool is_inside = adjoint ? k <= i : k >= i;
            const elem left = adjoint ? conj_if(memory.t[k + i * BAND], true) : memory.t[i + k * BAND];
            if (is_inside) sum = fused(left, memory.sum[k + j * BAND], sum);
        }
        memory.gram[e] = negated(sum);
    }
    int row = v.at + warp_of() * 16;
    left_factor<2, BAND> left;
    const auto l = [&](int i, int k) { return v.get(row + i, k); };
    if (row < v.m) left.load(l);
    __syncthreads();
    while (row < v.m) {
        product<2, 2> sums;
        sums.set([&](int i, int j) { return panel[row + i + j * pitch]; });
        left.multiply(sums, [&](int k, int j) { return memory.gram[k + j * BAND]; });
        sums.each([&](int i, int j, elem sum) {
            if (row + i < v.m) panel[row + i + j * pitch] = sum;
        });
        row += blockDim.x / 32 * 16;
        if (row < v.m) left.load(l);
    }
    __syncthreads();
}

// Loads w columns into a panel.
__device__ inline void load_panel(const view<elem> &a, place first, int w, elem *panel, int pitch) {
    const int m = (int)a.m;
    for (int c = warp_of(); c < BAND; c += blockDim.x / 32)
        for (int i = lane_of(); i < m; i += 32 * PANEL_READS) {
            elem x[PANEL_READS];
#pragma unroll
            for (int e = 0; e < PANEL_READS; ++e)
                x[e] = c < w ? a.a[min(i + 32 * e, m - 1) + (first + c) * a.ld] : make(0, 0);
#pragma unroll
            for (int e = 0; e < PANEL_READS; ++e)
                if (i + 32 * e < m) panel[i + 32 * e + c * pitch] = x[e];
        }
    __syncthreads();
}
__device__ inline void store_panel(const view<elem> &a, place first, int w, const elem *panel, int pitch) {
    for (int c = warp_of(); c < w; c += blockDim.x / 32)
        for (int i = lane_of(); i < (int)a.m; i += 32) a.a[i + (first + c) * a.ld] = panel[i + c * pitch];
    __syncthreads();
}

// Returns the reflector of a column whose squares are not ordinary; the column below the diagonal is scaled.
__device__ __noinline__ reflector scaled_column(elem *column, int j, int m, qr_memory &memory) {
    extent below{0, false};
    for (int i = j + 1 + lane_of(); i < m; i += 32) below.add(column[i]);
    for (int by = 16; by > 0; by /= 2) below.most = larger_of(below.most, __shfl_xor_sync(ALL, below.most, by));
    below.has_nan = __any_sync(ALL, below.has_nan);
    const elem alpha = column[j];
    const bool is_some = below.most > 0 || below.has_nan || im(alpha) != 0;
    below.add(alpha);
    const real by = below.most > 0 ? below.most : 1;
    __syncthreads();
    if (!is_some) return no_reflector(alpha);
    for (int i = j + 1 + threadIdx.x; i < m; i += blockDim.x) column[i] = make(re(column[i]) / by, im(column[i]) / by);
    __syncthreads();
    real squares = 0;
    for (int i = j + 1 + lane_of(); i < m; i += 32) squares += square_of(column[i]);
    reflector h = reflector_of(make(re(alpha) / by, im(alpha) / by), real_sum_over(squares, 32));
    h.beta *= by;
    return h;
}

// The products of the column j with all columns, below row j.
__device__ inline void column_dots(const elem *panel, int pitch, int row, int j, int m, qr_memory &memory) {
    for (int c = warp_of(); c < BAND; c += blockDim.x / 32) {
        const elem *x = panel + j * pitch, *y = panel + c * pitch;
        elem sum = make(0, 0);
        for (int i = row + 1 + lane_of(); i < m; i += 32) sum = fused(conj_if(x[i], true), y[i], sum);
        sum = sum_over(sum, 32);
        if (lane_of() == 0) memory.dots[c] = sum;
    }
    __syncthreads();
}

// Factors the first `steps` of a panel's columns from row `first` on. Vectors are scaled at the end. Also computes the
// triangular factor of the reflectors.
__device__ inline void geqrf_panel(elem *panel, int pitch, int first, int m, int steps, elem *tau, elem *t,
                                   qr_memory &memory) {
    for (int j = 0; j < steps; ++j) {
        const int row = first + j;
        elem *column = panel + j * pitch;
        column_dots(panel, pitch, row, j, m, memory);
        elem alpha = column[row];
        bool is_bad = !is_ordinary(alpha, re(memory.dots[j]));
        for (int c = 0; c < BAND; ++c) is_bad |= !(size_of(memory.dots[c]) < MOST_SQUARES);
        reflector h = reflector_of(alpha, re(memory.dots[j]));
        if (is_bad) {
            h = scaled_column(column, row, m, memory);
            column_dots(panel, pitch, row, j, m, memory);
        }
        for (int c = warp_of(); c < BAND; c += blockDim.x / 32) {
            const elem dot = memory.dots[c];
            elem *x = panel + c * pitch;
            if (c < j) {
                // Vᴴ V, for the triangular factor.
                if (lane_of() == 0)
                    memory.gram[c + j * BAND] =
                        conj_if(memory.scales[c], true) * (conj_if(x[row], true) + h.scale * conj_if(dot, true));
            } else if (c > j) {
                const elem head = x[row], w = conj_if(h.tau, true) * (head + conj_if(h.scale, true) * dot),
                           by = h.scale * w;
                __syncwarp();
                if (lane_of() == 0) x[row] = head - w;
                if (!is_zero(h.tau))
                    for (int i = row + 1 + lane_of(); i < m; i += 32) x[i] = minus(by, column[i], x[i]);
            }
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            column[row] = make(h.beta, 0);
            memory.scales[j] = h.scale;
            memory.taus[j] = h.tau;
            tau[row] = h.tau;
        }
    }
    __syncthreads();
    for (int c = warp_of(); c < steps; c += blockDim.x / 32)
        for (int i = first + c + 1 + lane_of(); i < m; i += 32)
            panel[i + c * pitch] = panel[i + c * pitch] * memory.scales[c];
}

// Computes T of a band from Vᴴ V, taus and the number of reflectors, by one warp.
__device__ inline void form_factor(int steps, elem *t, qr_memory &memory) {
    const int i = lane_of();
    if (i >= BAND) return;
    elem row[BAND];
#pragma unroll
    for (int j = 0; j < BAND; ++j) {
        elem sum = make(0, 0);
#pragma unroll
        for (int k = 0; k < j; ++k)
            if (k >= i) sum = fused(row[k], memory.gram[k + j * BAND], sum);
        const elem tau = j < steps ? memory.taus[j] : make(0, 0);
        row[j] = i == j ? tau : i < j && j < steps ? negated(tau * sum) : make(0, 0);
        t[i + j * BAND] = row[j];
    }
}

// Factors a matrix. `t` is scratch memory: BAND elements for each column, rounded up to whole bands.
__device__ inline void geqrf_of_block(view<elem> a, elem *tau, elem *t, elem *panel) {
    __shared__ qr_memory memory;
    const int m = (int)a.m, n = (int)a.n, k = min(m, n), pitch = panel_pitch(m);
    for (int first = 0; first < n; first += BAND) {
        const int w = min(BAND, n - first), steps = max(0, min(w, k - first));
        load_panel(a, first, w, panel, pitch);
        for (int at = 0; at < min(first, k); at += BAND)
            apply_band(vectors{a.a, a.ld, m, at, min(k, at + BAND)}, t + at * BAND, true, panel, pitch, memory);
        if (steps > 0) {
            geqrf_panel(panel, pitch, first, m, steps, tau, t, memory);
            __syncthreads();
            if (warp_of() == 0) form_factor(steps, t + first * BAND, memory);
        }
        store_panel(a, first, w, panel, pitch);
    }
}

KERNEL(QR_THREADS) geqrf_block(OPERAND(elem, a), OPERAND(elem, tau), elem *t, place t_stride, int count) {
    DYNAMIC_SHARED(elem, panel);
    geqrf_of_block(PROBLEM(a, blockIdx.x), PROBLEM(tau, blockIdx.x).a, t + blockIdx.x * t_stride, panel);
}

// Computes the triangular factors of all bands of k reflectors, one band per block.
KERNEL(QR_THREADS) larft_block(OPERAND(elem, v), OPERAND(elem, tau), elem *t, place t_stride, int count) {
    __shared__ qr_memory memory;
    const view<elem> a = PROBLEM(v, blockIdx.x), s = PROBLEM(tau, blockIdx.x);
    const int k = (int)s.m, at = blockIdx.y * BAND, steps = min(BAND, k - at);
    if (steps <= 0) return;
    const vectors band{a.a, a.ld, (int)a.m, at, at + steps};
    if (threadIdx.x < steps) memory.taus[threadIdx.x] = s.a[at + threadIdx.x];
    multiply_vectors(band, [&](int i, int j) { return band.get(i, j); }, memory, memory.gram);
    if (warp_of() == 0) form_factor(steps, t + blockIdx.x * t_stride + at * BAND, memory);
}

// Replaces k reflectors in the m x n matrix by the first n columns of Q, from the last columns to the first.
KERNEL(QR_THREADS) orgqr_block(OPERAND(elem, a), OPERAND(elem, tau), const elem *t, place t_stride, int count) {
    DYNAMIC_SHARED(elem, panel);
    __shared__ qr_memory memory;
    const view<elem> q = PROBLEM(a, blockIdx.x), s = PROBLEM(tau, blockIdx.x);
    const int m = (int)q.m, n = (int)q.n, k = (int)s.m, pitch = panel_pitch(m);
    t += blockIdx.x * t_stride;
    for (int first = (n - 1) / BAND * BAND; first >= 0; first -= BAND) {
        for (int e = threadIdx.x; e < m * BAND; e += blockDim.x)
            panel[e % m + e / m * pitch] = make(e % m == first + e / m ? 1 : 0, 0);
        __syncthreads();
        if (k > 0)
            for (int at = min(first, (k - 1) / BAND * BAND); at >= 0; at -= BAND)
                apply_band(vectors{q.a, q.ld, m, at, min(k, at + BAND)}, t + at * BAND, false, panel, pitch, memory);
        store_panel(q, first, min(BAND, n - first), panel, pitch);
    }
}

// Multiplies BAND columns of C per block by Q or Qᴴ from the left.
KERNEL(QR_THREADS) ormqr_block(OPERAND(elem, v), OPERAND(elem, tau), OPERAND(elem, c), const elem *t, place t_stride,
                               int adjoint, int count) {
    DYNAMIC_SHARED(elem, panel);
    __shared__ qr_memory memory;
    const view<elem> a = PROBLEM(v, blockIdx.x), s = PROBLEM(tau, blockIdx.x), to = PROBLEM(c, blockIdx.x);
    const int m = (int)to.m, k = (int)s.m, pitch = panel_pitch(m), bands = (k + BAND - 1) / BAND;
    const place first = (place)blockIdx.y * BAND;
    if (first >= to.n || m == 0) return;
    const int w = (int)least_of(BAND, to.n - first);
    t += blockIdx.x * t_stride;
    load_panel(to, first, w, panel, pitch);
    for (int b = 0; b < bands; ++b) {
        const int at = (adjoint ? b : bands - 1 - b) * BAND;
        apply_band(vectors{a.a, a.ld, m, at, min(k, at + BAND)}, t + at * BAND, adjoint, panel, pitch, memory);
    }
    store_panel(to, first, w, panel, pitch);
}
