// The Cholesky factorization of a block. Required definitions: THREADS; ORDER, the order of the largest block; STEP, 16
// or 32, the columns that a warp factors in its registers, with one row for each of its first STEP lanes.
//
// The factorization is L D Lᴴ until the end, because a pivot then has to wait for the reciprocal of the one before
// only, not for a square root. L D is stored in place of L. A block of threads fetches all instructions for itself, so
// the code is kept short: loops are unrolled only where necessary.

#define WARPS (THREADS / 32)
#define ALL 0xffffffffu

// Elements that a thread loads from a tile before it uses any of them.
#define READS 8
// Columns that are factored before the warps with the rows below are signalled.
#define HEARD 8
// Rows and columns that a warp updates at once.
#define AREA 16
// Distance of columns in shared memory, such that four columns of four rows are read without a bank conflict.
#define PITCH(order) ((order) + 32 / (int)sizeof(elem))
// The distance in a block that is being factored. Reads beyond a column's end, by STEP - HEARD elements, must not reach
// the next column of a warp that has all rows.
#define LEAD_PITCH(order) ((order) > STEP ? PITCH(order) : 2 * STEP - HEARD + STEP / 8)

// The elements that one 16-byte access to shared memory loads.
#define PACK (16 / (int)sizeof(elem))
struct __align__(16) pack {
    elem of[PACK];
};

// Whether the device has matrix units for doubles.
#define HAS_UNITS (DOUBLE && !COMPLEX && __CUDA_ARCH__ >= 800)
#if HAS_UNITS
// sum + a b for an 8 x 4 a and a 4 x 8 b. Lane i has element (i / 4, i % 4) of a, (i % 4, i / 4) of b, and (i / 4, 2 (i
// % 4)) and its right neighbour of the sum.
__device__ inline void multiply_add(real sum[2], real a, real b) {
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+d"(sum[0]), "+d"(sum[1])
        : "d"(a), "d"(b));
}
#endif

// Copies an element to shared memory, asynchronously where the device can, or stores a zero.
__device__ inline void fetch(elem *to, const elem *from, bool is_there) {
#if __CUDA_ARCH__ >= 800
    const unsigned at = (unsigned)__cvta_generic_to_shared(to);
    asm volatile("cp.async.ca.shared.global [%0], [%1], %3, %2;" ::"r"(at), "l"(from),
                 "r"(is_there ? (int)sizeof(elem) : 0), "n"(sizeof(elem))
                 : "memory");
#else
    *to = is_there ? *from : make(0, 0);
#endif
}
// Waits until all threads have what they copied.
__device__ inline void fetched() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
    __syncthreads();
}

// Bounds of ordinary pivots, whose reciprocals and products with them neither overflow nor lose digits.
#if DOUBLE
#define LEAST 1e-140
#define MOST 1e140
#else
#define LEAST 1e-35f
#define MOST 1e35f
#endif

// x[c] - left * conj(row[c]) for the columns from `from` on; `packed` is pack p of the row.
#define SUBTRACT(x, from, left, packed)                                                                                \
    _Pragma("unroll") for (int p = (from) / PACK; p < STEP / PACK; ++p) {                                              \
        const pack right = packed;                                                                                     \
        _Pragma("unroll") for (int e = 0; e < PACK; ++e) if (p * PACK + e >= (from))                                   \
            x[p * PACK + e] = x[p * PACK + e] - (left) * conj_if(right.of[e], true);                                   \
    }

// Shifts the remaining columns of x to the front. The values after them are unused.
#define PASS(x) _Pragma("unroll") for (int c = 0; c + HEARD < STEP; ++c) x[c] = x[c + HEARD];

// Returns an approximation of 1 / x.
__device__ inline real rough_reciprocal(real x) {
    real rough;
#if DOUBLE
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(rough) : "d"(x));
#else
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(rough) : "f"(x));
#endif
    return rough;
}

// Returns the root of a pivot to full precision, from its reciprocal root. The root of Inf is Inf.
__device__ inline real root_of(real pivot, real inverse) {
    const real root = pivot * inverse, better = root + (pivot - root * root) * (inverse / 2);
    return inverse > 0 ? better : pivot;
}

// The warp that factors a block on the diagonal arrives at a barrier without waiting; the warps with the rows below
// wait for it.
__device__ inline void tell(int barrier, int followers) {
    asm volatile("barrier.cta.arrive %0, %1;" ::"r"(barrier), "r"((followers + 1) * 32) : "memory");
}
__device__ inline void hear(int barrier, int followers) {
    asm volatile("barrier.cta.sync %0, %1;" ::"r"(barrier), "r"((followers + 1) * 32) : "memory");
}

// Computes L D Lᴴ = A for the STEP rows and columns from `at` on, by one warp, with D and its reciprocals. Returns
// whether all pivots were ordinary.
__device__ inline bool lead(elem *l, int pitch, int at, real *pivots, real *reciprocals, int followers) {
    const int lane = threadIdx.x % 32;
    elem *block = l + at + at * pitch, x[STEP];
    // Elements above the diagonal, or in other warps' rows, are read but not used.
#pragma unroll
    for (int c = 0; c < STEP; ++c) x[c] = block[lane % STEP + c * pitch];
    // All lanes must have read before any lane writes.
    __syncwarp();
    bool is_ordinary = true;
    real pivot = __shfl_sync(ALL, re(x[0]), 0);
#pragma unroll 1
    for (int first = 0; first < STEP; first += HEARD) {
#pragma unroll
        for (int q = 0; q < HEARD; ++q) {
            const int j = first + q;
            elem *column = block + j * pitch;
            if (lane < STEP) column[lane] = x[q];
            __syncwarp();
            // Except for the reciprocal, everything that the next pivot depends on has been known for long: the rest
            // takes three operations.
            const real before = __shfl_sync(ALL, re(x[q + 1]), j + 1);
            const elem below = from_lane(x[q], j + 1);
            const real rough = rough_reciprocal(pivot), miss = 1 - pivot * rough, more = miss + miss * miss,
                       by = rough + rough * more;
            is_ordinary &= pivot > LEAST && pivot < MOST;
            if (lane == 0) {
                pivots[at + j] = pivot;
                reciprocals[at + j] = by;
            }
#if DOUBLE
            const real less = (re(below) * re(below) + im(below) * im(below)) * rough;
#else
            // Squares could underflow.
            const elem ratio = times_real(below, rough);
            const real less = re(below) * re(ratio) + im(below) * im(ratio);
#endif
            pivot = before - less - less * more;
            const elem left = times_real(x[q], by);
            SUBTRACT(x, q + 1, left, ((const pack *)(column + first))[p])
        }
        tell(1 + first / HEARD, followers);
        PASS(x)
    }
    return is_ordinary;
}

// Computes the rows below such a block, one per thread, as the block's columns are signalled.
__device__ inline void follow(elem *l, int pitch, int at, int order, const real *reciprocals, int followers) {
    const int i = at + STEP + (int)threadIdx.x - 32;
    // Threads without a row read the last one.
    elem *row = l + min(i, order - 1), x[STEP];
#pragma unroll
    for (int c = 0; c < STEP; ++c) x[c] = row[(at + c) * pitch];
#pragma unroll 1
    for (int first = 0; first < STEP; first += HEARD) {
        hear(1 + first / HEARD, followers);
#pragma unroll
        for (int q = 0; q < HEARD; ++q) {
            const int j = at + first + q;
            if (i < order) row[j * pitch] = x[q];
            const elem left = times_real(x[q], reciprocals[j]);
            // The last `first` columns of x are unused. Beyond the end of their row other threads write, so the end is
            // read again instead.
            const elem *block = l + at + j * pitch;
            SUBTRACT(x, q + 1, left,
                     ((const pack *)(block + min(first + p * PACK / HEARD * HEARD, STEP - HEARD)))[p % (HEARD / PACK)])
        }
        PASS(x)
    }
}

// Subtracts L D Lᴴ from the lower triangle's columns from `first` on, where L is that of the step at `at`. `warp` is
// the index of this warp among the `warps` that do this.
__device__ inline void update(elem *l, int pitch, int at, int first, int columns, int order, const real *reciprocals,
                              int warp, int warps) {
    const int lane = threadIdx.x % 32, across = columns / AREA, items = (order - first) / AREA * across;
#pragma unroll 1
    for (int item = warp; item < items; item += warps) {
        const int x = first + item / across * AREA, y = first + item % across * AREA;
        if (x < y) continue;
#if HAS_UNITS
        const int i = lane / 4, k = lane % 4;
        const real *known = reciprocals + at + k;
        real sum[2][2][2] = {};
        elem *left = l + x + i + (at + k) * pitch, *right = l + y + i + (at + k) * pitch;
#pragma unroll
        for (int p = 0; p < STEP; p += 4) {
            const real negative = -known[p];
            const real a[2] = {left[p * pitch] * negative, left[8 + p * pitch] * negative},
                       b[2] = {right[p * pitch], right[8 + p * pitch]};
#pragma unroll
            for (int r = 0; r < 2; ++r)
#pragma unroll
                for (int c = 0; c < 2; ++c) multiply_add(sum[r][c], a[r], b[c]);
        }
        elem *out = l + x + i + (y + 2 * k) * pitch;
#pragma unroll
        for (int r = 0; r < 2; ++r)
#pragma unroll
            for (int c = 0; c < 2; ++c)
#pragma unroll
                for (int e = 0; e < 2; ++e) out[r * 8 + (c * 8 + e) * pitch] += sum[r][c][e];
#else
        // A lane has four adjacent rows of two columns.
        const int i = x + lane % 4 * 4, j = y + lane / 4;
        pack sum[2][4 / PACK];
#pragma unroll
        for (int c = 0; c < 2; ++c)
#pragma unroll
            for (int r = 0; r < 4; ++r) sum[c][r / PACK].of[r % PACK] = make(0, 0);
#pragma unroll 4
        for (int k = at; k < at + STEP; ++k) {
            pack left[4 / PACK];
#pragma unroll
            for (int p = 0; p < 4 / PACK; ++p) left[p] = ((const pack *)(l + i + k * pitch))[p];
#pragma unroll
            for (int c = 0; c < 2; ++c) {
                const elem right = times_real(conj_if(l[j + c * 8 + k * pitch], true), reciprocals[k]);
#pragma unroll
                for (int r = 0; r < 4; ++r)
                    sum[c][r / PACK].of[r % PACK] = sum[c][r / PACK].of[r % PACK] + left[r / PACK].of[r % PACK] * right;
            }
        }
#pragma unroll
        for (int c = 0; c < 2; ++c)
#pragma unroll
            for (int p = 0; p < 4 / PACK; ++p) {
                pack *out = (pack *)(l + i + (j + c * 8) * pitch) + p;
                pack changed = *out;
#pragma unroll
                for (int e = 0; e < PACK; ++e) changed.of[e] = changed.of[e] - sum[c][p].of[e];
                *out = changed;
            }
#endif
    }
}

// The matrix that a kernel factors: the lower triangle of A, or the upper triangle of A, whose factor is Uᴴ.
struct tile {
    elem *a;
    place ld;
    int n, is_upper;
    __device__ elem &at(int i, int j) const { return a[is_upper ? j + i * ld : i + j * ld]; }
    // Adjacent threads access adjacent elements: of a step's columns from `first` on, a warp processes one part at a
    // time.
    __device__ int parts(int first, int order) const {
        return is_upper ? order - first : (order - first + 31) / 32 * STEP;
    }
    __device__ int row(int first, int part) const {
        return is_upper ? first + part : first + part / STEP * 32 + (int)threadIdx.x % 32;
    }
    __device__ int column(int first, int part) const {
        return is_upper ? first + (int)threadIdx.x % 32 : first + part % STEP;
    }
    __device__ bool is_inside(int first, int i, int j) const { return i >= j && j < first + STEP; }
};

// Loads a step's columns into shared memory. The work is divided among `warps` warps; this is number `warp`. Beyond its
// last row and column, A is padded with the unit matrix.
__device__ inline void load(const tile &from, elem *l, int pitch, int first, int order, int warp, int warps) {
    const int parts = from.parts(first, order);
#pragma unroll 1
    for (int part = warp; part < parts; part += warps * READS) {
        elem x[READS];
#pragma unroll
        for (int q = 0; q < READS; ++q) {
            const int i = from.row(first, part + q * warps), j = from.column(first, part + q * warps);
            x[q] = from.is_inside(first, i, j) && i < from.n ? from.at(i, j) : make(i == j ? 1 : 0, 0);
        }
#pragma unroll
        for (int q = 0; q < READS; ++q) {
            const int i = from.row(first, part + q * warps), j = from.column(first, part + q * warps);
            if (from.is_inside(first, i, j) && i < order)
                l[i + j * pitch] = i == j ? make(re(x[q]), 0) : conj_if(x[q], from.is_upper);
        }
    }
}

// Stores the factor. Its columns, except for the diagonal, are multiplied by `factors` on the way.
__device__ inline void store(const tile &to, const elem *l, int pitch, const real *factors) {
    for (int first = 0; first < to.n; first += STEP) {
        const int parts = to.parts(first, to.n);
#pragma unroll 1
        for (int part = threadIdx.x / 32; part < parts; part += WARPS * READS) {
            elem x[READS];
#pragma unroll
            for (int q = 0; q < READS; ++q) {
                const int i = min(to.row(first, part + q * WARPS), to.n - 1),
                          j = min(to.column(first, part + q * WARPS), to.n - 1);
                x[q] = times_real(conj_if(l[i + j * pitch], to.is_upper), i == j ? 1 : factors[j]);
            }
#pragma unroll
            for (int q = 0; q < READS; ++q) {
                const int i = to.row(first, part + q * WARPS), j = to.column(first, part + q * WARPS);
                if (to.is_inside(first, i, j) && i < to.n) to.at(i, j) = x[q];
            }
        }
    }
}

// Computes L D Lᴴ = A by all threads. Returns whether all pivots were ordinary; if not, the result is not valid.
__device__ inline bool factor(const tile &a, elem *l, int pitch, int order, real *pivots, real *reciprocals) {
    const int warp = threadIdx.x / 32;
    bool is_ordinary = true;
    load(a, l, pitch, 0, order, warp, WARPS);
    __syncthreads();
    for (int at = 0;; at += STEP) {
        // While some warps factor a step's columns, the others finish the updates of the step before, or load the
        // columns of the next steps.
        const int followers = (order - at - STEP + 31) / 32, others = 1 + followers;
        if (warp == 0) is_ordinary &= lead(l, pitch, at, pivots, reciprocals, followers);
        else if (warp <= followers) follow(l, pitch, at, order, reciprocals, followers);
        else if (at > 0)
            update(l, pitch, at - STEP, at + STEP, order - at - STEP, order, reciprocals, warp - others,
                WARPS - others);
        else
            for (int first = STEP; first < order; first += STEP)
                load(a, l, pitch, first, order, warp - others, WARPS - others);
        __syncthreads();
        if (at + STEP >= order) break;
        update(l, pitch, at, at + STEP, STEP, order, reciprocals, warp, WARPS);
        __syncthreads();
    }
    return __syncthreads_and(is_ordinary);
}

// Computes L Lᴴ = A for any pivots, column by column. Returns the order of the first leading minor that is not positive
// definite, or 0. After that minor the factor is not valid.
__device__ __noinline__ int factor_any(elem *l, int pitch, int order) {
    int failed = 0;
    for (int j = 0; j < order; ++j) {
        const real pivot = re(l[j + j * pitch]), inverse = rsqrt(pivot);
        if (!(pivot > 0) && !failed) failed = j + 1;
        __syncthreads();
        for (int i = j + threadIdx.x; i < order; i += THREADS)
            l[i + j * pitch] = i == j ? make(root_of(pivot, inverse), 0) : times_real(l[i + j * pitch], inverse);
        __syncthreads();
        for (int c = j + 1 + threadIdx.x / 32; c < order; c += WARPS)
            for (int i = c + threadIdx.x % 32; i < order; i += 32)
                l[i + c * pitch] = l[i + c * pitch] - l[i + j * pitch] * conj_if(l[c + j * pitch], true);
        __syncthreads();
    }
    return failed;
}

// Computes A = L Lᴴ or Uᴴ U for a block of order n <= ORDER, by one block of threads. Shared memory holds
// LEAD_PITCH(order) * order + STEP elements, where order is n rounded up to a multiple of STEP. The other triangle is
// not touched, and the imaginary parts of the diagonal are not read.
//
// status is 0, or becomes the order of the first leading minor that is not positive definite. It is in host memory,
// where accesses are slow, so it is read and written only if a minor fails.
KERNEL(THREADS, 1) potrf(elem *a, place ld, int n, int is_upper, int *status, int row) {
    DYNAMIC_SHARED(elem, l);
    __shared__ real pivots[ORDER], reciprocals[ORDER];
    const int order = (n + STEP - 1) / STEP * STEP, pitch = LEAD_PITCH(order);
    const tile all{a, ld, n, is_upper};
    int failed = 0;
    const bool is_ordinary = factor(all, l, pitch, order, pivots, reciprocals);
    if (!is_ordinary) {
        for (int first = 0; first < order; first += STEP) load(all, l, pitch, first, order, threadIdx.x / 32, WARPS);
        __syncthreads();
        failed = factor_any(l, pitch, order);
    }
    // Turn L D into the factor L.
    for (int j = threadIdx.x; j < order; j += THREADS) {
        const real pivot = pivots[j], inverse = rsqrt(pivot);
        reciprocals[j] = is_ordinary ? inverse : 1;
        if (is_ordinary) l[j + j * pitch] = make(root_of(pivot, inverse), 0);
    }
    __syncthreads();
    store(all, l, pitch, reciprocals);
    if (threadIdx.x == 0 && failed && *status == 0) *status = row + failed;
}
