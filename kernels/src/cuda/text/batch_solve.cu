// Batched solves with triangles, op(A) X = alpha B or X op(A) = alpha B, for one vector or with tiny triangles.
// Included after `batch.cu`.
//
// Every solve is one with a lower triangle L: an upper one is read from its end backwards, and for X op(A) = alpha B
// all is transposed. Then L(i, p) is at a[i * row + p * column], where either distance is 1 or -1.

#define STEP 32

struct triangle {
    const elem *a;
    place row, column, n;
    bool is_conj, is_unit;
    __device__ elem at(place i, place p) const { return conj_if(a[i * row + p * column], is_conj); }
};

// X, whose vectors are replaced: component i of vector v is at x[i * row + v * next].
struct vectors {
    elem *x;
    place row, next, count;
    __device__ elem &at(place i, place v) const { return x[i * row + v * next]; }
};

// `op` has 1 if op transposes, and 2 if it conjugates. A may have more rows than columns: the triangle is at its top.
// With outcomes in `info`, problems whose outcome is not zero are left as they are.
#define TRSM                                                                                                           \
    (int is_right, int is_upper, int op, int is_unit, elem alpha, OPERAND(const elem, a), OPERAND(elem, b),       \
     const int *info, int count)
#define ONE_SOLVE(p)                                                                                                   \
    triangle l;                                                                                                        \
    vectors x;                                                                                                         \
    prepare(PROBLEM(a, p), PROBLEM(b, p), is_right, is_upper, op, is_unit, l, x);                                      \
    if (info != nullptr && info[NUMBER(a, p)] != 0) x.count = 0;

__device__ inline void prepare(const view<const elem> &a, const view<elem> &b, bool is_right, bool is_upper, int op,
                               bool is_unit, triangle &l, vectors &x) {
    const bool is_trans = ((op & 1) != 0) != is_right, is_backward = is_upper != is_trans;
    l = triangle{a.a, is_trans ? a.ld : 1, is_trans ? 1 : a.ld, a.n, (op & 2) != 0, is_unit};
    x = vectors{b.a, is_right ? b.ld : 1, is_right ? 1 : b.ld, is_right ? b.m : b.n};
    if (is_backward && l.n > 0) {
        l.a += (l.n - 1) * (l.row + l.column);
        x.x += (l.n - 1) * x.row;
        l.row = -l.row;
        l.column = -l.column;
        x.row = -x.row;
    }
}

// Clears X, because alpha is zero: neither A nor B is read.
__device__ inline void clear(const vectors &x, place n, place first, place end, int thread, int threads) {
    for (place v = first; v < least_of(end, x.count); ++v)
        for (place i = thread; i < n; i += threads) x.at(i, v) = make(0, 0);
}

__device__ inline real magnitude_of(elem x) {
    const real a = fabs(re(x)), b = fabs(im(x));
    return a > b ? a : b;
}
// Returns 1 / x, which is zero for an infinite x.
__device__ inline elem inverse_of(elem x) {
#if COMPLEX
    const real most = magnitude_of(x);
    if (isinf(most)) return make(0, 0);
    const real a = x.re / most, b = x.im / most, norm = x.re * a + x.im * b;
    return make(a / norm, -b / norm);
#else
    return 1 / x;
#endif
}

// A triangle of order LANES, whose rows are in the lanes of a group. Only what is before the diagonal is used.
template <int LANES> struct step {
    elem row[LANES], inverse;
    real factor;

    // The inverse of a very small number is infinite: such an equation is multiplied by a factor.
    __device__ void set_diagonal(elem diagonal) {
        const real size = magnitude_of(diagonal);
        factor = 1;
        if (size < 4 * (real)TINY && size > 0) {
            factor = DOUBLE ? (real)1.152921504606846976e18 : (real)1073741824;
            diagonal = times_real(diagonal, factor);
#pragma unroll
            for (int p = 0; p < LANES; ++p) row[p] = times_real(row[p], factor);
        }
        inverse = inverse_of(diagonal);
    }

    // Solves for a component of each of COUNT vectors.
    template <int COUNT> __device__ void solve(elem (&x)[COUNT]) const {
        const int r = lane_of() % LANES, group = lane_of() / LANES * LANES;
        elem y[COUNT];
#pragma unroll
        for (int v = 0; v < COUNT; ++v) x[v] = times_real(x[v], factor);
#pragma unroll
        for (int j = 0; j < LANES; ++j)
#pragma unroll
            for (int v = 0; v < COUNT; ++v) {
                const elem known = from_lane(x[v] * inverse, group + j);
                y[v] = r == j ? known : y[v];
                x[v] = fused(make(-re(row[j]), -im(row[j])), known, x[v]);
            }
#pragma unroll
        for (int v = 0; v < COUNT; ++v) x[v] = y[v];
    }
};

// Tiny triangles with a few vectors: LANES lanes have one.
template <int LANES> __device__ inline void solve_tiny(const triangle &l, const vectors &x, elem alpha, bool is_there) {
    constexpr int ITS = 4;
    const int r = lane_of() % LANES;
    const bool is_row = is_there && r < l.n;
    step<LANES> known;
#pragma unroll
    for (int p = 0; p < LANES; ++p) known.row[p] = is_row && p < r ? l.at(r, p) : make(0, 0);
    known.set_diagonal(is_row && !l.is_unit ? l.at(r, r) : make(1, 0));
    // The groups of a warp go through the loop together.
    int most = is_there ? (int)x.count : 0;
    for (int by = LANES; by < 32; by *= 2) most = max(most, __shfl_xor_sync(ALL, most, by));
    for (int v = 0; v < most; v += ITS) {
        elem y[ITS];
#pragma unroll
        for (int e = 0; e < ITS; ++e) y[e] = is_row && v + e < x.count ? alpha * x.at(r, v + e) : make(0, 0);
        if (most == 1) {
            elem single[1] = {y[0]};
            known.solve(single);
            y[0] = single[0];
        } else {
            known.solve(y);
        }
#pragma unroll
        for (int e = 0; e < ITS; ++e)
            if (is_row && v + e < x.count) x.at(r, v + e) = y[e];
    }
}

#define SOLVE_TINY_THREADS 128
#define TINY_TRSM(lanes)                                                                                               \
    KERNEL(SOLVE_TINY_THREADS) trsm_tiny_##lanes TRSM {                                                                \
        const place p = (place)blockIdx.x * (SOLVE_TINY_THREADS / (lanes)) + threadIdx.x / (lanes);                    \
        ONE_SOLVE(least_of(p, count - 1))                                                                              \
        if (!is_zero(alpha)) solve_tiny<lanes>(l, x, alpha, p < count);                                                \
        else if (p < count) clear(x, l.n, 0, x.count, threadIdx.x % (lanes), lanes);                                   \
    }
TINY_TRSM(8)
TINY_TRSM(16)
TINY_TRSM(32)

// One vector. It is solved in chunks with a component for each thread. First, all that is known from earlier chunks is
// subtracted; then the chunk is solved in steps: the warp that has the step's rows solves them, and the warps below
// subtract. Shared memory holds one chunk, however long the vector is. Each thread needs elements of its row; if rows
// of L are contiguous, adjacent threads read adjacent elements of a row nevertheless, and exchange them.
#define SHORT (COMPLEX && DOUBLE ? 16 : 32)
template <int CHUNK, bool BY_ROWS> struct chunks {
    static constexpr int BESIDE = 32 / SHORT, READS = COMPLEX ? 8 : 16;
    const triangle &l;
    const vectors &x;
    elem *known;
    // Of a warp.
    elem (*turned)[SHORT + 1];
    // The row of this thread, and the first of the warp.
    place i, above;

    // The sum of products with the first `count` components, which is a multiple of CHUNK, by columns.
    __device__ elem multiply_columns(place count) const {
        elem sum = make(0, 0);
#pragma unroll 1
        for (place from = 0; from < count; from += CHUNK) {
            __syncthreads();
            known[threadIdx.x] = x.at(from + threadIdx.x, 0);
            __syncthreads();
            const elem *a = l.a + least_of(i, l.n - 1) * l.row + from * l.column;
#pragma unroll 1
            for (int p = 0; p < CHUNK; p += READS, a += READS * l.column) {
                elem y[READS];
#pragma unroll
                for (int s = 0; s < READS; ++s) y[s] = a[s * l.column];
#pragma unroll
                for (int s = 0; s < READS; ++s) sum = fused(conj_if(y[s], l.is_conj), known[p + s], sum);
            }
        }
        return sum;
    }

    // The same by rows: a warp has ROWS of its rows at a time.
    __device__ elem multiply_rows(place count) const {
        constexpr int ROWS = SHORT / 2;
        if (count == 0 || above >= l.n) return make(0, 0);
        const int high = lane_of() / SHORT, fast = lane_of() % SHORT;
        __syncwarp();
#pragma unroll 1
        for (int half = 0; half < 2; ++half) {
            const place first = above + half * 16 + high;
            const int left = (int)least_of(l.n - first, 32);
            elem sums[ROWS];
#pragma unroll
            for (int r = 0; r < ROWS; ++r) sums[r] = make(0, 0);
            const elem *from = l.a + first * l.row + fast * l.column;
#pragma unroll 1
            for (place p = fast; p < count; p += SHORT, from += SHORT * l.column) {
                elem y[ROWS];
                const elem by = x.at(p, 0), *a = from;
#pragma unroll
                for (int r = 0; r < ROWS; ++r, a = next(a, BESIDE * l.row)) y[r] = r * BESIDE < left ? *a : make(0, 0);
#pragma unroll
                for (int r = 0; r < ROWS; ++r) sums[r] = fused(conj_if(y[r], l.is_conj), by, sums[r]);
            }
#pragma unroll
            for (int r = 0; r < ROWS; ++r) turned[half * 16 + r * BESIDE + high][fast] = sums[r];
        }
        __syncwarp();
        elem sum = make(0, 0);
#pragma unroll
        for (int p = 0; p < SHORT; ++p) sum = sum + turned[lane_of()][p];
        return sum;
    }

    // The compiler would keep the multiples of `step` in registers.
    __device__ static const elem *next(const elem *a, place step) {
        a += step;
        asm("" : "+l"(a));
        return a;
    }

    // Gives each lane the elements of its row.
    __device__ void turn(elem *y) const {
        __syncwarp();
#pragma unroll
        for (int r = 0; r < SHORT; ++r) turned[r * BESIDE + lane_of() / SHORT][lane_of() % SHORT] = y[r];
        __syncwarp();
#pragma unroll
        for (int p = 0; p < SHORT; ++p) y[p] = turned[lane_of()][p];
    }

    // Reads elements `at` .. at + SHORT of the row of this thread. What is on the diagonal or behind it is not read.
    __device__ void read(place at, elem (&row)[SHORT]) const {
        const int high = lane_of() / SHORT, fast = lane_of() % SHORT;
        const place its = BY_ROWS ? above + high : i, p = BY_ROWS ? at + fast : at;
        const place step = BY_ROWS ? BESIDE * l.row : l.column;
        const int behind = (int)least_of(its - p, 64), left = (int)least_of(l.n - its, 64);
        const elem *a = l.a + its * l.row + p * l.column;
#pragma unroll
        for (int r = 0; r < SHORT; ++r, a = next(a, step)) {
            const bool is_there = BY_ROWS ? r * BESIDE < left && r * BESIDE + behind > 0 : left > 0 && r < behind;
            row[r] = is_there ? conj_if(*a, l.is_conj) : make(0, 0);
        }
        if constexpr (BY_ROWS) turn(row);
    }
};

template <int CHUNK, bool BY_ROWS>
__device__ inline void solve_one(const triangle &l, const vectors &x, elem alpha) {
    __shared__ elem known[CHUNK];
    __shared__ elem turned[BY_ROWS ? CHUNK / 32 : 1][BY_ROWS ? 32 : 1][SHORT + 1];
    const int t = threadIdx.x;
#pragma unroll 1
    for (place first = 0; first < l.n; first += CHUNK) {
        const place i = first + t;
        const bool is_row = i < l.n;
        const chunks<CHUNK, BY_ROWS> mine{l, x, known, turned[BY_ROWS ? t / 32 : 0], i, first + t / 32 * 32};
        elem sum = is_row ? alpha * x.at(i, 0) : make(0, 0);
        sum = sum - (BY_ROWS ? mine.multiply_rows(first) : mine.multiply_columns(first));
        __syncthreads();
        const int order = (int)least_of(l.n - first, CHUNK);
#pragma unroll 1
        for (int at = 0; at < order; at += SHORT) {
            step<SHORT> its;
            if (t / 32 >= at / 32) mine.read(first + at, its.row);
            if (t / 32 == at / 32) {
                const bool is_its = t / SHORT == at / SHORT;
                elem y[1] = {sum};
                its.set_diagonal(is_its && is_row && !l.is_unit ? l.at(i, i) : make(1, 0));
                its.solve(y);
                if (is_its) {
                    known[t] = y[0];
                    if (is_row) x.at(i, 0) = y[0];
                }
            }
            __syncthreads();
            if (t >= at + SHORT && is_row) {
#pragma unroll
                for (int p = 0; p < SHORT; ++p) sum = fused(make(-re(its.row[p]), -im(its.row[p])), known[at + p], sum);
            }
        }
    }
}

// A processor must have room for several blocks.
KERNEL(64, (COMPLEX && DOUBLE ? 6 : 8)) trsv_columns TRSM {
    ONE_SOLVE(blockIdx.x)
    if (is_zero(alpha)) clear(x, l.n, 0, 1, threadIdx.x, 64);
    else if (x.count > 0) solve_one<64, false>(l, x, alpha);
}
KERNEL(64, (COMPLEX && DOUBLE ? 4 : 8)) trsv_rows TRSM {
    ONE_SOLVE(blockIdx.x)
    if (is_zero(alpha)) clear(x, l.n, 0, 1, threadIdx.x, 64);
    else if (x.count > 0) solve_one<64, true>(l, x, alpha);
}
