// Elementary reflectors, as LAPACK's xLARFG defines them. Included after `batch.cu`.

// Bounds of sums of squares that neither overflow nor lose digits.
#if DOUBLE
#define LEAST_SQUARES 1e-270
#define MOST_SQUARES 1e270
#else
#define LEAST_SQUARES 1e-23f
#define MOST_SQUARES 1e30f
#endif

// H = I - tau v vᴴ with Hᴴ x = beta e1 and v[0] = 1. The rest of v is that of x times `level`, times `scale`.
// `scaled_beta` is beta times `level`, which is one for vectors of ordinary size.
struct reflector {
    real beta;
    elem tau, scale;
    real level, scaled_beta;
    __device__ elem apply(elem x) const { return times_real(x, level) * scale; }
};

// Returns the reflector of a vector with this first element, and this sum of squares of the others. Both are ordinary.
__device__ inline reflector reflector_of(elem alpha, real squares) {
    const real all = square_of(alpha) + squares, inverse = rsqrt(all), norm = root_of(all, inverse);
    const real beta = re(alpha) < 0 ? norm : -norm, by = re(alpha) < 0 ? inverse : -inverse;
    const elem tau = make(1 - re(alpha) * by, -im(alpha) * by), gap = alpha - make(beta, 0);
#if COMPLEX
    return reflector{beta, tau, times_real(make(gap.re, -gap.im), reciprocal_of(square_of(gap))), 1, beta};
#else
    return reflector{beta, tau, reciprocal_of(gap), 1, beta};
#endif
}

__device__ inline bool is_ordinary(elem alpha, real squares) {
    return squares > LEAST_SQUARES && squares < MOST_SQUARES && square_of(alpha) < MOST_SQUARES;
}

// Returns the reflector of a vector that is zero but for its first, real element: the unit matrix.
__device__ inline reflector no_reflector(elem alpha) {
    return reflector{re(alpha), make(0, 0), make(0, 0), 1, re(alpha)};
}

// The largest part of a vector's elements, and whether one is NaN.
struct extent {
    real most;
    bool has_nan;
    __device__ void add(elem x) {
        most = larger_of(larger_of(most, absolute(re(x))), absolute(im(x)));
        has_nan |= !(re(x) == re(x)) || !(im(x) == im(x));
    }
};

__device__ inline real largest_part(elem x) { return larger_of(absolute(re(x)), absolute(im(x))); }

// Returns a power of two that scales a number to a size of about one, and whose inverse is finite.
__device__ inline real leveller_of(real x) {
#if DOUBLE
    const int exponent = (int)(__double_as_longlong(x) >> 52 & 0x7ff);
    return __longlong_as_double((long long)min(max(2046 - exponent, 1), 2045) << 52);
#else
    const int exponent = __float_as_int(x) >> 23 & 0xff;
    return __int_as_float(min(max(254 - exponent, 1), 253) << 23);
#endif
}

// Returns the reflector of a vector with the first element `alpha`, and with this sum of squares of the others. If
// these are not ordinary, two functions are called: for the largest part of the others, and for the sum of squares of
// the others times a number.
template <class L, class S>
__device__ inline reflector any_reflector(elem alpha, real squares, L largest_of_rest, S squares_of_rest_times) {
    if (is_ordinary(alpha, squares)) return reflector_of(alpha, squares);
    real largest = largest_of_rest();
    const bool has_nan = squares != squares;
    if (largest == 0 && !has_nan && im(alpha) == 0) return no_reflector(alpha);
    largest = larger_of(largest, largest_part(alpha));
    const real level = largest > 0 ? leveller_of(largest) : 1;
    reflector h = reflector_of(times_real(alpha, level), squares_of_rest_times(level));
    h.level = level;
    h.beta /= level;
    return h;
}
