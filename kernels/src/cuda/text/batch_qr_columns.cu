// QR factorizations of small matrices: LANES threads have a matrix of at most ROWS x LANES, one column each in
// registers. A reflector's vector passes through shared memory, and products with it need no sums over threads.
// Included after `batch.cu` and `batch_reflector.cu`.

#define COLUMN_PITCH(rows) ((rows) + PACK)
// The lanes of a warp in a group of threads.
#define WIDTH_OF(lanes) ((lanes) < 32 ? (lanes) : 32)
// Rows at whose multiples the code changes that skips the rows above.
#define GROUP 16
// Elements that a thread loads before it uses any of them.
#define READS 8

template <int LANES> __device__ inline void group_sync() {
    if (LANES <= 32) __syncwarp();
    else __syncthreads();
}

template <int LANES> __device__ inline bool any_of_group(bool x) {
    if (LANES > 32) return __syncthreads_or(x);
    const unsigned first = lane_of() / LANES * LANES, all = __ballot_sync(ALL, x);
    return (LANES == 32 ? all : all >> first & ((1u << LANES % 32) - 1)) != 0;
}

// Loads a matrix, padded with zeros up to ROWS rows and this number of columns.
template <int ROWS, int LANES>
__device__ inline void load_columns(const view<elem> &a, bool is_some, elem *l, int lane, int columns) {
    const int m = is_some ? (int)a.m : 0, n = is_some ? (int)a.n : 0;
    constexpr int PARTS = (ROWS + LANES - 1) / LANES;
#pragma unroll 1
    for (int c = 0; c < columns; c += READS) {
        elem x[READS][PARTS];
#pragma unroll
        for (int e = 0; e < READS; ++e)
#pragma unroll
            for (int s = 0; s < PARTS; ++s) {
                const int i = lane + s * LANES;
                x[e][s] = i < m && c + e < n ? a.a[i + (c + e) * a.ld] : make(0, 0);
            }
#pragma unroll
        for (int e = 0; e < READS; ++e)
#pragma unroll
            for (int s = 0; s < PARTS; ++s) l[lane + s * LANES + (c + e) * COLUMN_PITCH(ROWS)] = x[e][s];
    }
}

template <int ROWS> __device__ inline void take_column(elem (&x)[ROWS], const elem *from) {
#pragma unroll
    for (int p = 0; p < ROWS / PACK; ++p) {
        const pack y = ((const pack *)from)[p];
#pragma unroll
        for (int e = 0; e < PACK; ++e) x[p * PACK + e] = y.of[e];
    }
}

// Stores a matrix. Elements below the diagonal are multiplied by scales, if there are any.
template <int ROWS, int LANES>
__device__ inline void store_columns(const view<elem> &a, bool is_some, const elem *l, int lane, const elem *scales) {
    const int m = is_some ? (int)a.m : 0, n = is_some ? (int)a.n : 0;
    constexpr int PARTS = (ROWS + LANES - 1) / LANES;
#pragma unroll 4
    for (int c = 0; c < n; ++c)
#pragma unroll
        for (int s = 0; s < PARTS; ++s) {
            const int i = lane + s * LANES;
            elem x = l[i + c * COLUMN_PITCH(ROWS)];
            if (scales != nullptr && i > c) x = x * scales[c];
            if (i < m) a.a[i + c * a.ld] = x;
        }
}

// Keeps the compiler from reading a long vector far ahead, or from keeping it for its next use: it has no registers for
// that.
__device__ inline void few_reads(int p) {
    if (p % 8 == 0) asm volatile("" ::: "memory");
}

// Returns vᴴ x for the rows from `first`, a constant, on.
template <int ROWS> __device__ inline elem times_vector(const elem (&x)[ROWS], const elem *v, int first) {
    elem sum[4] = {make(0, 0), make(0, 0), make(0, 0), make(0, 0)};
#pragma unroll
    for (int p = 0; p < ROWS / PACK; ++p) {
        if ((p + 1) * PACK <= first) continue;
        if (ROWS > 16) few_reads(p);
        const pack y = ((const pack *)v)[p];
#pragma unroll
        for (int e = 0; e < PACK; ++e) {
            const int to = (p * PACK + e) % 4;
            sum[to] = fused(conj_if(y.of[e], true), x[p * PACK + e], sum[to]);
        }
    }
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

// x - v by.
template <int ROWS> __device__ inline void minus_vector(elem (&x)[ROWS], const elem *v, elem by, int first) {
#pragma unroll
    for (int p = 0; p < ROWS / PACK; ++p) {
        if ((p + 1) * PACK <= first) continue;
        if (ROWS > 16) few_reads(p);
        const pack y = ((const pack *)v)[p];
#pragma unroll
        for (int e = 0; e < PACK; ++e) x[p * PACK + e] = minus(by, y.of[e], x[p * PACK + e]);
    }
}

// What the threads of a matrix share: the vectors, the scales of their reflectors, and the head and the product of the
// current column.
template <int ROWS, int LANES> struct qr_columns {
    pack vectors[LANES][COLUMN_PITCH(ROWS) / PACK];
    elem scales[LANES], head, product;
};

// Returns the reflector of a column whose squares are not ordinary; `v`, the column below the diagonal, is scaled.
template <int ROWS, int LANES>
__device__ __noinline__ reflector scaled_reflector(elem *v, int first, elem alpha, bool is_mine) {
    const int lane = threadIdx.x % LANES;
    extent below{0, false};
    for (int i = first; i < ROWS; ++i) below.add(v[i]);
    reflector h = no_reflector(alpha);
    const bool is_some = is_mine && (below.most > 0 || below.has_nan || im(alpha) != 0);
    below.add(alpha);
    const real by = below.most > 0 ? below.most : 1;
    group_sync<LANES>();
    if (is_some)
        for (int i = first + lane; i < ROWS; i += LANES) v[i] = make(re(v[i]) / by, im(v[i]) / by);
    group_sync<LANES>();
    if (is_some) {
        real squares = 0;
        for (int i = first; i < ROWS; ++i) squares += square_of(v[i]);
        h = reflector_of(make(re(alpha) / by, im(alpha) / by), squares);
        h.beta *= by;
    }
    return h;
}

// Steps of the factorization from FIRST on, up to GROUP of them. Rows above FIRST are finished.
template <int FIRST, int ROWS, int LANES>
__device__ inline void geqrf_steps(elem (&x)[ROWS], int k, elem *tau, qr_columns<ROWS, LANES> &memory) {
    constexpr int END = FIRST + GROUP < LANES ? FIRST + GROUP : LANES, NEXT = END < ROWS ? END : ROWS;
    const int lane = threadIdx.x % LANES;
    // Few steps are unrolled: then rows are skipped one by one, and no element is selected at run time.
    constexpr int UNROLLED = ROWS <= 16 ? GROUP : 1;
#pragma unroll UNROLLED
    for (int j = FIRST; j < END; ++j) {
        const int from = UNROLLED > 1 ? j : FIRST;
        const bool is_step = j < k;
        if (LANES >= 32 ? !is_step : !__any_sync(ALL, is_step)) return;
        elem *v = (elem *)memory.vectors[j], head = x[FIRST];
#pragma unroll
        for (int i = FIRST + 1; i < NEXT; ++i) head = i == j ? x[i] : head;
        if (lane == j) {
#pragma unroll
            for (int p = 0; p < ROWS / PACK; ++p) {
                if ((p + 1) * PACK <= from) continue;
                pack y;
#pragma unroll
                for (int e = 0; e < PACK; ++e)
                    y.of[e] = p * PACK + e >= NEXT || p * PACK + e > j ? x[p * PACK + e] : make(0, 0);
                ((pack *)v)[p] = y;
            }
        }
        group_sync<LANES>();
        elem sum = times_vector(x, v, from), alpha;
        real squares;
        if (LANES <= 32) {
            alpha = of_group<WIDTH_OF(LANES)>(head, j);
            squares = real_of_group<WIDTH_OF(LANES)>(re(sum), j);
        } else {
            if (lane == j) {
                memory.head = head;
                memory.product = sum;
            }
            __syncthreads();
            alpha = memory.head;
            squares = re(memory.product);
        }
        const bool is_bad =
            any_of_group<LANES>(is_step && (!is_ordinary(alpha, squares) || !(size_of(sum) < MOST_SQUARES)));
        reflector h = reflector_of(alpha, squares);
        if (LANES <= 32 ? __any_sync(ALL, is_bad) : is_bad) {
            const reflector other = scaled_reflector<ROWS, LANES>(v, from, alpha, is_bad);
            if (is_bad) h = other;
            sum = times_vector(x, v, from);
        }
        if (is_step) {
            const elem w = conj_if(h.tau, true) * (head + conj_if(h.scale, true) * sum);
            const elem last = lane == j ? make(h.beta, 0) : head - w;
#pragma unroll
            for (int i = FIRST; i < NEXT; ++i) x[i] = i == j ? last : x[i];
            // The zeros of a vector must not meet an infinite factor.
            if (!is_zero(h.tau)) minus_vector(x, v, h.scale * w, from);
            if (lane == j) {
                memory.scales[j] = h.scale;
                tau[j] = h.tau;
            }
        }
    }
}

template <int ROWS, int LANES>
__device__ inline void geqrf_of_columns(view<elem> a, bool is_some, elem *tau, qr_columns<ROWS, LANES> &memory) {
    constexpr int PITCH = COLUMN_PITCH(ROWS);
    const int lane = threadIdx.x % LANES, k = is_some ? (int)least_of(a.m, a.n) : 0;
    elem *l = (elem *)memory.vectors, x[ROWS];
    load_columns<ROWS, LANES>(a, is_some, l, lane, LANES);
    group_sync<LANES>();
    take_column(x, l + lane * PITCH);
    group_sync<LANES>();
    geqrf_steps<0>(x, k, tau, memory);
    if constexpr (LANES > GROUP) geqrf_steps<GROUP>(x, k, tau, memory);
    if constexpr (LANES > 2 * GROUP) {
        geqrf_steps<2 * GROUP>(x, k, tau, memory);
        geqrf_steps<3 * GROUP>(x, k, tau, memory);
    }
    group_sync<LANES>();
#pragma unroll
    for (int i = 0; i < ROWS; ++i)
        if (i <= lane) l[i + lane * PITCH] = x[i];
    group_sync<LANES>();
    store_columns<ROWS, LANES>(a, is_some, l, lane, memory.scales);
}

// Turns the columns in shared memory into the vectors of k reflectors, with ones on the diagonal and zeros above it.
template <int ROWS, int LANES>
__device__ inline void finish_vectors(qr_columns<ROWS, LANES> &memory, int lane, int k, const elem *tau) {
    elem *l = (elem *)memory.vectors;
    for (int c = lane; c < LANES; c += LANES) {
        for (int i = 0; i <= c && i < ROWS; ++i) l[i + c * COLUMN_PITCH(ROWS)] = make(i == c ? 1 : 0, 0);
        memory.scales[c] = c < k ? tau[c] : make(0, 0);
    }
    group_sync<LANES>();
}

// x - tau v (vᴴ x) for those of k vectors in FIRST .. FIRST + GROUP, upwards or downwards.
template <int FIRST, int ROWS, int LANES>
__device__ inline void apply_vectors(elem (&x)[ROWS], const qr_columns<ROWS, LANES> &memory, int k, bool up,
                                     bool conj) {
    if constexpr (FIRST < ROWS) {
        const int count = min(k - FIRST, GROUP);
#pragma unroll 1
        for (int s = 0; s < count; ++s) {
            const int j = FIRST + (up ? s : count - 1 - s);
            const elem *v = (const elem *)memory.vectors[j], t = conj_if(memory.scales[j], conj);
            minus_vector(x, v, t * times_vector(x, v, FIRST), FIRST);
        }
    }
}
// The same for all k vectors.
template <int ROWS, int LANES>
__device__ inline void apply_all(elem (&x)[ROWS], const qr_columns<ROWS, LANES> &memory, int k, bool up, bool conj) {
    if (up) {
        apply_vectors<0>(x, memory, k, up, conj);
        apply_vectors<GROUP>(x, memory, k, up, conj);
        apply_vectors<2 * GROUP>(x, memory, k, up, conj);
        apply_vectors<3 * GROUP>(x, memory, k, up, conj);
    } else {
        apply_vectors<3 * GROUP>(x, memory, k, up, conj);
        apply_vectors<2 * GROUP>(x, memory, k, up, conj);
        apply_vectors<GROUP>(x, memory, k, up, conj);
        apply_vectors<0>(x, memory, k, up, conj);
    }
}

// Replaces the k reflectors in the m x n matrix by the first n columns of Q.
template <int ROWS, int LANES>
__device__ inline void orgqr_of_columns(view<elem> a, bool is_some, const elem *tau, int k,
                                        qr_columns<ROWS, LANES> &memory) {
    const int lane = threadIdx.x % LANES;
    k = is_some ? k : 0;
    elem *l = (elem *)memory.vectors, x[ROWS];
    load_columns<ROWS, LANES>(view<elem>{a.a, a.m, k, a.ld}, is_some, l, lane, LANES);
    group_sync<LANES>();
    finish_vectors<ROWS, LANES>(memory, lane, k, tau);
#pragma unroll
    for (int i = 0; i < ROWS; ++i) x[i] = make(i == lane ? 1 : 0, 0);
    apply_all(x, memory, k, false, false);
    group_sync<LANES>();
#pragma unroll
    for (int i = 0; i < ROWS; ++i) l[i + lane * COLUMN_PITCH(ROWS)] = x[i];
    group_sync<LANES>();
    store_columns<ROWS, LANES>(a, is_some, l, lane, nullptr);
}

// Multiplies LANES columns of C from `first` on by Q or Qᴴ from the left.
template <int ROWS, int LANES>
__device__ inline void ormqr_of_columns(view<elem> v, bool is_some, const elem *tau, int k, int adjoint,
                                        view<elem> c, int first, qr_columns<ROWS, LANES> &memory) {
    const int lane = threadIdx.x % LANES;
    const view<elem> part{c.a + first * c.ld, c.m, least_of(c.n - first, LANES), c.ld};
    k = is_some ? k : 0;
    elem *l = (elem *)memory.vectors, x[ROWS];
    load_columns<ROWS, LANES>(part, is_some, l, lane, LANES);
    group_sync<LANES>();
    take_column(x, l + lane * COLUMN_PITCH(ROWS));
    group_sync<LANES>();
    load_columns<ROWS, LANES>(view<elem>{v.a, v.m, k, v.ld}, is_some, l, lane, LANES);
    group_sync<LANES>();
    finish_vectors<ROWS, LANES>(memory, lane, k, tau);
    apply_all(x, memory, k, adjoint, adjoint);
    group_sync<LANES>();
#pragma unroll
    for (int i = 0; i < ROWS; ++i) l[i + lane * COLUMN_PITCH(ROWS)] = x[i];
    group_sync<LANES>();
    store_columns<ROWS, LANES>(part, is_some, l, lane, nullptr);
}

// Blocks that a processor must have registers for.
#if DOUBLE && COMPLEX
#define COLUMN_BLOCKS(S) ((S) == 8 ? 8 : (S) == 16 ? 5 : 4)
#else
#define COLUMN_BLOCKS(S) ((S) == 8 ? 14 : (S) == 16 ? 10 : (S) == 32 ? 6 : 4)
#endif
// The problem of this thread.
#define COLUMN_PROBLEM(S)                                                                                              \
    __shared__ qr_columns<S, S> memory[COLUMN_THREADS / S];                                                            \
    qr_columns<S, S> &mine = memory[threadIdx.x / S];                                                                  \
    const place mine_p = (place)blockIdx.x * (COLUMN_THREADS / S) + threadIdx.x / S;                                   \
    const bool is_some = mine_p < count;                                                                               \
    const place p = is_some ? mine_p : 0;

#define QR_COLUMNS(S)                                                                                                  \
    KERNEL(COLUMN_THREADS, COLUMN_BLOCKS(S))                                                                           \
    geqrf_columns_##S(OPERAND(elem, a), OPERAND(elem, tau), int count) {                                               \
        COLUMN_PROBLEM(S)                                                                                              \
        geqrf_of_columns(PROBLEM(a, p), is_some, PROBLEM(tau, p).a, mine);                                             \
    }                                                                                                                  \
    KERNEL(COLUMN_THREADS, COLUMN_BLOCKS(S))                                                                           \
    orgqr_columns_##S(OPERAND(elem, a), OPERAND(elem, tau), int count) {                                               \
        COLUMN_PROBLEM(S)                                                                                              \
        const view<elem> t = PROBLEM(tau, p);                                                                          \
        orgqr_of_columns(PROBLEM(a, p), is_some, t.a, (int)t.m, mine);                                                 \
    }                                                                                                                  \
    KERNEL(COLUMN_THREADS, COLUMN_BLOCKS(S))                                                                           \
    ormqr_columns_##S(OPERAND(elem, v), OPERAND(elem, tau), OPERAND(elem, c), int adjoint, int count) {                \
        COLUMN_PROBLEM(S)                                                                                              \
        const view<elem> t = PROBLEM(tau, p), to = PROBLEM(c, p);                                                      \
        ormqr_of_columns(PROBLEM(v, p), is_some && blockIdx.y * S < to.n, t.a, (int)t.m, adjoint, to, blockIdx.y * S,  \
                         mine);                                                                                        \
    }
QR_COLUMNS(8)
QR_COLUMNS(16)
QR_COLUMNS(32)
#if !(DOUBLE && COMPLEX)
QR_COLUMNS(64)
#endif
