// What the batched kernels share: the problems of a batch, asynchronous copies, sums over a warp, and the matrix units.
// Included after `prelude.cu`.

#define ALL 0xffffffffu
// The elements of a 16-byte access.
#define PACK (16 / (int)sizeof(elem))
struct __align__(16) pack {
    elem of[PACK];
};

// One matrix of a batch.
template <class T> struct view {
    T *a;
    place m, n, ld;
};

// An operand of a batch, as it is passed to a kernel: a uniform batch has no table; otherwise entry p of the table is
// the offset, the rows, the columns, the leading dimension and the number of problem p. Its outcome has that number.
#define OPERAND(T, a) T *a, place a##_stride, const place *a##_table, place a##_m, place a##_n, place a##_ld
#define PROBLEM(a, p) problem_of(a, a##_stride, a##_table, a##_m, a##_n, a##_ld, p)
#define NUMBER(a, p) number_of(a##_table, p)
#define TABLE_ROWS 5

template <class T>
__device__ inline view<T> problem_of(T *a, place stride, const place *table, place m, place n, place ld, place p) {
    // Loads from any kind of memory would be slower.
    __builtin_assume(__isGlobal(a));
    if (table == nullptr) return view<T>{a + p * stride, m, n, ld};
    const place *entry = table + TABLE_ROWS * p;
    return view<T>{a + entry[0], entry[1], entry[2], entry[3]};
}
__device__ inline place number_of(const place *table, place p) {
    return table == nullptr ? p : table[TABLE_ROWS * p + 4];
}

__device__ inline int lane_of() { return threadIdx.x % 32; }
__device__ inline int warp_of() { return threadIdx.x / 32; }
__device__ inline place least_of(place a, place b) { return a < b ? a : b; }
__device__ inline place up_to(place x, place unit) { return (x + unit - 1) / unit; }

// Whether columns of a matrix can be accessed by packs.
__device__ inline bool has_packs(const elem *a, place ld) {
    return (((unsigned long long)a | (unsigned long long)(ld * (place)sizeof(elem))) & 15) == 0;
}

// A pack of a column, or its part that is there.
__device__ inline pack read_pack(const elem *from, int there, bool by_packs) {
    if (by_packs && there >= PACK) return *(const pack *)from;
    pack x;
#pragma unroll
    for (int e = 0; e < PACK; ++e) x.of[e] = e < there ? from[e] : make(0, 0);
    return x;
}

// sum + x y, or sum + conj(x) y.
__device__ inline elem fused(elem x, elem y, elem sum) {
#if COMPLEX
    return make(fma(x.re, y.re, fma(-x.im, y.im, sum.re)), fma(x.re, y.im, fma(x.im, y.re, sum.im)));
#else
    return fma(x, y, sum);
#endif
}

// Returns the value of the lane whose number differs in the bits `by`.
__device__ inline elem from_apart(elem x, int by) {
#if COMPLEX
    return make(__shfl_xor_sync(ALL, re(x), by), __shfl_xor_sync(ALL, im(x), by));
#else
    return __shfl_xor_sync(ALL, x, by);
#endif
}

// Returns the sum over the lanes whose numbers differ in the bits below `lanes`, and at or above `first`.
__device__ inline elem sum_over(elem x, int lanes, int first = 1) {
    for (int by = first; by < lanes; by *= 2) x = x + from_apart(x, by);
    return x;
}
__device__ inline real real_sum_over(real x, int lanes) {
    for (int by = 1; by < lanes; by *= 2) x += __shfl_xor_sync(ALL, x, by);
    return x;
}

// Adds four values over all lanes, and returns the sum of value lane / 8.
__device__ inline elem sum_four(const elem (&x)[4]) {
    const bool high = (lane_of() & 16) != 0, odd = (lane_of() & 8) != 0;
    const elem a = (high ? x[2] : x[0]) + from_apart(high ? x[0] : x[2], 16),
               b = (high ? x[3] : x[1]) + from_apart(high ? x[1] : x[3], 16);
    return sum_over((odd ? b : a) + from_apart(odd ? a : b, 8), 8);
}

// Copies BYTES to shared memory asynchronously; all but the first `there` of them become zeros. The address is not read
// if there are none. Devices before 8.0 copy at once.
template <int BYTES> __device__ inline void fetch(void *to, const void *from, int there) {
#if __CUDA_ARCH__ >= 800
    const unsigned at = (unsigned)__cvta_generic_to_shared(to);
    if (BYTES == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at), "l"(from), "r"(there) : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(at), "l"(from), "n"(BYTES), "r"(there)
                     : "memory");
#else
    for (int word = 0; word < BYTES / 4; ++word)
        ((unsigned *)to)[word] = word * 4 < there ? ((const unsigned *)from)[word] : 0;
#endif
}
__device__ inline void end_fetches() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
// Waits until at most LATER groups of fetches are not complete.
template <int LATER> __device__ inline void wait_for_fetches() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(LATER) : "memory");
#endif
}

// Whether the device has matrix units for doubles.
#define HAS_UNITS (DOUBLE && __CUDA_ARCH__ >= 800)

// A lane's part of an 8 x 8 block of sums: lane i has element (i / 4, 2 (i % 4)) and its right neighbour.
struct unit {
    real re[2];
#if COMPLEX
    real im[2];
#endif
    __device__ void clear() {
        re[0] = re[1] = 0;
#if COMPLEX
        im[0] = im[1] = 0;
#endif
    }
    __device__ elem get(int e) const {
#if COMPLEX
        return make(re[e], im[e]);
#else
        return re[e];
#endif
    }
    __device__ void set(int e, elem x) {
#if COMPLEX
        re[e] = x.re;
        im[e] = x.im;
#else
        re[e] = x;
#endif
    }
};

#if HAS_UNITS
__device__ inline void multiply_add(real sum[2], real a, real b) {
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+d"(sum[0]), "+d"(sum[1])
        : "d"(a), "d"(b));
}
// The same for two blocks, one below the other, and PARTS times as many products; PARTS is 2 or 4.
template <int PARTS>
__device__ inline void multiply_add_two(real high[2], real low[2], const real (&a)[PARTS], const real (&below)[PARTS],
                                        const real (&b)[PARTS]) {
#if __CUDA_ARCH__ >= 900
    if constexpr (PARTS == 4)
        asm("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, %11}, "
            "{%12, %13, %14, %15}, {%0, %1, %2, %3};"
            : "+d"(high[0]), "+d"(high[1]), "+d"(low[0]), "+d"(low[1])
            : "d"(a[0]), "d"(below[0]), "d"(a[1]), "d"(below[1]), "d"(a[2]), "d"(below[2]), "d"(a[3]), "d"(below[3]),
              "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3]));
    else
        asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
            "{%0, %1, %2, %3};"
            : "+d"(high[0]), "+d"(high[1]), "+d"(low[0]), "+d"(low[1])
            : "d"(a[0]), "d"(below[0]), "d"(a[1]), "d"(below[1]), "d"(b[0]), "d"(b[1]));
#else
#pragma unroll
    for (int p = 0; p < PARTS; ++p) {
        multiply_add(high, a[p], b[p]);
        multiply_add(low, below[p], b[p]);
    }
#endif
}
template <int PARTS>
__device__ inline void multiply_add_two(unit &high, unit &low, const elem (&a)[PARTS], const elem (&below)[PARTS],
                                        const elem (&b)[PARTS]) {
#if COMPLEX
    real a_re[PARTS], a_im[PARTS], a_neg[PARTS], below_re[PARTS], below_im[PARTS], below_neg[PARTS], b_re[PARTS],
        b_im[PARTS];
#pragma unroll
    for (int p = 0; p < PARTS; ++p) {
        a_re[p] = a[p].re, a_im[p] = a[p].im, a_neg[p] = -a[p].im;
        below_re[p] = below[p].re, below_im[p] = below[p].im, below_neg[p] = -below[p].im;
        b_re[p] = b[p].re, b_im[p] = b[p].im;
    }
    multiply_add_two<PARTS>(high.re, low.re, a_re, below_re, b_re);
    multiply_add_two<PARTS>(high.im, low.im, a_re, below_re, b_im);
    multiply_add_two<PARTS>(high.re, low.re, a_neg, below_neg, b_im);
    multiply_add_two<PARTS>(high.im, low.im, a_im, below_im, b_re);
#else
    multiply_add_two<PARTS>(high.re, low.re, a, below, b);
#endif
}
#endif

// sum + a b for an 8 x 4 a and a 4 x 8 b. Lane i has element (i / 4, i % 4) of a, and (i % 4, i / 4) of b.
__device__ inline void multiply_add(unit &sum, elem a, elem b) {
#if HAS_UNITS && COMPLEX
    multiply_add(sum.re, a.re, b.re);
    multiply_add(sum.im, a.re, b.im);
    multiply_add(sum.re, -a.im, b.im);
    multiply_add(sum.im, a.im, b.re);
#elif HAS_UNITS
    multiply_add(sum.re, a, b);
#else
    const int lane = lane_of();
#pragma unroll
    for (int s = 0; s < 4; ++s) {
        const elem left = from_lane(a, lane / 4 * 4 + s);
#pragma unroll
        for (int e = 0; e < 2; ++e) {
            const elem more = fused(left, from_lane(b, (lane % 4 * 2 + e) * 4 + s), sum.get(e));
            sum.re[e] = re(more);
#if COMPLEX
            sum.im[e] = im(more);
#endif
        }
    }
#endif
}

__device__ inline real larger_of(real a, real b) { return b > a ? b : a; }
__device__ inline real absolute(real x) { return x < 0 ? -x : x; }
// |re| + |im|, by which pivots are compared.
__device__ inline real size_of(elem x) { return absolute(re(x)) + absolute(im(x)); }
__device__ inline real square_of(elem x) { return re(x) * re(x) + im(x) * im(x); }
__device__ inline elem negated(elem x) { return make(-re(x), -im(x)); }
// c - x y.
__device__ inline elem minus(elem x, elem y, elem c) { return fused(negated(x), y, c); }

// Bounds of ordinary numbers, whose reciprocals and products with them neither overflow nor lose digits.
#if DOUBLE
#define LEAST 1e-140
#define MOST 1e140
#else
#define LEAST 1e-18f
#define MOST 1e18f
#endif

// Returns 1 / x for an ordinary x.
__device__ inline real reciprocal_of(real x) {
    real rough;
#if DOUBLE
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(rough) : "d"(x));
#else
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(rough) : "f"(x));
#endif
    const real miss = 1 - x * rough, more = miss + miss * miss;
    return rough + rough * more;
}

// x / y, for y of any scale. It is zero for an infinite y.
__device__ inline elem quotient(elem x, elem y) {
    const real size = size_of(y);
#if COMPLEX
    if (size > LEAST && size < MOST)
        return times_real(x * make(y.re, -y.im), reciprocal_of(y.re * y.re + y.im * y.im));
    const real most = larger_of(absolute(y.re), absolute(y.im));
    if (isinf(most)) return make(0, 0);
    const real a = y.re / most, b = y.im / most, norm = y.re * a + y.im * b;
    return make((x.re * a + x.im * b) / norm, (x.im * a - x.re * b) / norm);
#else
    return size > LEAST && size < MOST ? x * reciprocal_of(y) : x / y;
#endif
}

// Returns the root of a pivot to full precision, from its reciprocal root. The root of Inf is Inf.
__device__ inline real root_of(real pivot, real inverse) {
    const real root = pivot * inverse, better = root + (pivot - root * root) * (inverse / 2);
    return inverse > 0 ? better : pivot;
}

// Returns the value of a lane of this lane's group of W lanes.
template <int W> __device__ inline real real_of_group(real x, int lane) { return __shfl_sync(ALL, x, lane, W); }
template <int W> __device__ inline elem of_group(elem x, int lane) {
#if COMPLEX
    return make(__shfl_sync(ALL, x.re, lane, W), __shfl_sync(ALL, x.im, lane, W));
#else
    return __shfl_sync(ALL, x, lane, W);
#endif
}

// Returns the largest or the smallest value of a group of W lanes.
template <int W> __device__ inline unsigned most_of_group(unsigned x) {
#if __CUDA_ARCH__ >= 800
    if constexpr (W == 32) return __reduce_max_sync(ALL, x);
    else
#endif
    for (int by = 1; by < W; by *= 2) x = max(x, __shfl_xor_sync(ALL, x, by));
    return x;
}

// Returns the lane of the largest key in a group of W lanes; of equal keys, that with the least `at`. Keys are not
// NaN, and -1 if a lane takes no part.
template <int W> __device__ inline int winner_of(real key, int at) {
    const int first = lane_of() / W * W;
    const unsigned group = W == 32 ? ALL : ((1u << W % 32) - 1) << first;
#if DOUBLE
    const long long bits = __double_as_longlong(key);
    const unsigned high = key < 0 ? 0 : (unsigned)(bits >> 32) + 1, low = (unsigned)bits;
#else
    const unsigned high = key < 0 ? 0 : (unsigned)__float_as_int(key) + 1;
#endif
    bool leads = high == most_of_group<W>(high);
    unsigned leaders = __ballot_sync(ALL, leads);
    if (__any_sync(ALL, __popc(leaders & group) > 1)) {
#if DOUBLE
        const unsigned most = most_of_group<W>(leads ? low : 0);
        leads = leads && low == most;
#endif
        const unsigned early = leads ? 0x7fffffffu - (unsigned)at : 0;
        leads = early == most_of_group<W>(early) && leads;
        leaders = __ballot_sync(ALL, leads);
    }
    return __ffs(leaders & group) - 1;
}
