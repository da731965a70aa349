// Elements and vectors of all types. Required definitions: DOUBLE, COMPLEX, V (numbers per vector). TINY is the
// smallest normal number. An element of a complex type is two adjacent numbers in a matrix. In packed matrices a vector
// of real parts is followed by the vector of imaginary parts.
#if DOUBLE
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double real;
typedef double2 real2;
#define TINY DBL_MIN
#else
typedef float real;
typedef float2 real2;
#define TINY FLT_MIN
#endif
#pragma OPENCL FP_CONTRACT ON

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

#if V == 1
typedef real vec;
#define VLOAD(from) (*(from))
#define VSTORE(x, to) (*(to) = (x))
#else
#if DOUBLE
typedef JOIN(double, V) vec;
#else
typedef JOIN(float, V) vec;
#endif
#define VLOAD(from) JOIN(vload, V)(0, from)
#define VSTORE(x, to) JOIN(vstore, V)(x, 0, to)
#endif

// The size of a work-group. A group of one work-item needs no barriers.
#define GROUP(lanes) __attribute__((reqd_work_group_size(lanes, 1, 1)))

#if COMPLEX
#define PARTS 2
typedef real2 elem;
#define RE(z) ((z).s0)
#define IM(z) ((z).s1)
inline elem make(real re, real im) { return (elem)(re, im); }
inline elem times(elem x, elem y) { return (elem)(x.s0 * y.s0 - x.s1 * y.s1, x.s0 * y.s1 + x.s1 * y.s0); }
inline int is_zero(elem x) { return x.s0 == 0 && x.s1 == 0; }
#else
#define PARTS 1
typedef real elem;
#define RE(z) (z)
#define IM(z) ((real)0)
inline elem make(real re, real im) { return re; }
inline elem times(elem x, elem y) { return x * y; }
inline int is_zero(elem x) { return x == 0; }
#endif

inline elem conj_if(elem x, int yes) { return yes ? make(RE(x), -IM(x)) : x; }
// Scales the parts by a real factor separately, because a complex product would make NaN of an infinite part.
inline elem scaled(elem x, elem by) { return IM(by) == 0 ? make(RE(x) * RE(by), IM(x) * RE(by)) : times(x, by); }

// Returns whether (i, j) is in a part of a matrix: 0 all of it, 1 the lower triangle, 2 the upper triangle.
inline int is_inside(int part, int i, int j) { return part == 0 || (part == 1 ? i >= j : i <= j); }

// c := alpha sum + beta c, without reading c for beta = 0; `is_real` clears the imaginary part.
inline void update(__global elem *c, elem sum, elem alpha, elem beta, int is_real) {
    elem x = scaled(sum, alpha);
    if (!is_zero(beta)) x = scaled(*c, beta) + x;
    *c = is_real ? make(RE(x), 0) : x;
}

#if COMPLEX
// Returns 1 / (scale d), which is zero for an infinite d. The reciprocal of a tiny d may be infinite, and that of a
// huge one loses digits, so d is first multiplied by a power of two. A dividend must be multiplied by it, too.
inline elem inverse_of(elem d, real *scale) {
    const real size = fabs(RE(d)) + fabs(IM(d));
    *scale = size < 2 * TINY ? 1 / TINY : size > (real)0.0625 / TINY ? (real)0.015625 : (real)1;
    const real p = RE(d) * *scale, q = IM(d) * *scale, most = fmax(fabs(p), fabs(q));
    if (isinf(most)) return make(0, 0);
    const real a = p / most, b = q / most, norm = a * a + b * b;
    return make(a / norm / most, -(b / norm / most));
}

// Loads V elements, as a vector of real parts and one of imaginary parts.
inline void load_parts(__global const real *from, vec *re, vec *im) {
#if V == 1
    *re = from[0];
    *im = from[1];
#else
    const vec low = VLOAD(from), high = VLOAD(from + V);
    *re = (vec)(low.even, high.even);
    *im = (vec)(low.odd, high.odd);
#endif
}

inline void store_parts(vec re, vec im, __global real *to) {
#if V == 1
    to[0] = re;
    to[1] = im;
#else
    vec low, high;
    low.even = re.lo;
    low.odd = im.lo;
    high.even = re.hi;
    high.odd = im.hi;
    VSTORE(low, to);
    VSTORE(high, to + V);
#endif
}

inline void update_vec(__global real *c, vec re, vec im, elem alpha, elem beta) {
    vec x = re * RE(alpha), y = im * RE(alpha);
    if (IM(alpha) != 0) {
        x -= im * IM(alpha);
        y += re * IM(alpha);
    }
    if (!is_zero(beta)) {
        vec u, v;
        load_parts(c, &u, &v);
        x += u * RE(beta);
        y += v * RE(beta);
        if (IM(beta) != 0) {
            x -= v * IM(beta);
            y += u * IM(beta);
        }
    }
    store_parts(x, y, c);
}
#else
inline void update_vec(__global real *c, vec sum, elem alpha, elem beta) {
    vec x = sum * alpha;
    if (beta != 0) x += VLOAD(c) * beta;
    VSTORE(x, c);
}
#endif

// x / y.
inline elem quotient(elem x, elem y) {
#if COMPLEX
    real scale;
    const elem inverse = inverse_of(y, &scale);
    return times(x * scale, inverse);
#else
    return x / y;
#endif
}
