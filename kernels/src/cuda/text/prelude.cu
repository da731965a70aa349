// Elements of all types. Required definitions: DOUBLE, COMPLEX. Nothing is included, because the run-time compiler has
// no headers. TINY is the smallest normal number.
#if DOUBLE
typedef double real;
#define TINY 2.2250738585072014e-308
#define ROUNDOFF 2.2204460492503131e-16
#else
typedef float real;
#define TINY 1.17549435e-38f
#define ROUNDOFF 1.1920929e-7f
#endif

// The type of offsets, leading dimensions, and numbers of rows and columns.
typedef long long place;

#if COMPLEX
struct __align__(2 * sizeof(real)) elem {
    real re, im;
};
__device__ inline real re(elem x) { return x.re; }
__device__ inline real im(elem x) { return x.im; }
__device__ inline elem make(real re, real im) { return elem{re, im}; }
__device__ inline elem operator+(elem x, elem y) { return elem{x.re + y.re, x.im + y.im}; }
__device__ inline elem operator-(elem x, elem y) { return elem{x.re - y.re, x.im - y.im}; }
__device__ inline elem operator*(elem x, elem y) { return elem{x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re}; }
#else
typedef real elem;
__device__ inline real re(elem x) { return x; }
__device__ inline real im(elem) { return 0; }
__device__ inline elem make(real re, real) { return re; }
#endif

__device__ inline elem conj_if(elem x, bool yes) { return yes ? make(re(x), -im(x)) : x; }
__device__ inline bool is_zero(elem x) { return re(x) == 0 && im(x) == 0; }
// Scales the parts by a real factor separately, because a complex product would make NaN of an infinite part.
__device__ inline elem times_real(elem x, real by) { return make(re(x) * by, im(x) * by); }
__device__ inline elem scaled(elem x, elem by) { return im(by) == 0 ? times_real(x, re(by)) : x * by; }

// Returns the value of another lane of the warp.
__device__ inline elem from_lane(elem x, int lane) {
#if COMPLEX
    return make(__shfl_sync(0xffffffffu, re(x), lane), __shfl_sync(0xffffffffu, im(x), lane));
#else
    return __shfl_sync(0xffffffffu, x, lane);
#endif
}

// Returns whether (i, j) is in a part of a matrix: 0 all of it, 1 the lower triangle, 2 the upper triangle.
__device__ inline bool is_inside(int part, place i, place j) { return part == 0 || (part == 1 ? i >= j : i <= j); }

// The shared memory that a launch requests.
#ifndef DYNAMIC_SHARED
#define DYNAMIC_SHARED(type, name) extern __shared__ __align__(16) type name[]
#endif
// The arguments are the threads of a block, and optionally the blocks that a processor must have room for.
#define KERNEL(...) extern "C" __global__ void __launch_bounds__(__VA_ARGS__)

// The rows and columns of a thread; block (x, y) has a few rows of one column after the other.
#define EACH_COLUMN(j, n) for (place j = blockIdx.y; j < (n); j += gridDim.y)
#define EACH_ROW(i, begin, end)                                                                                        \
    for (place i = (begin) + (place)blockIdx.x * blockDim.x + threadIdx.x; i < (end);                                  \
        i += (place)gridDim.x * blockDim.x)
