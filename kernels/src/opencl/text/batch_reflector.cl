// Elementary reflectors, as LAPACK's xLARFG defines them, for vectors of any scale. Included after `batch_panel.cl`.

// Parts of elements above LARGE or below SMALL are scaled before they are squared: Anderson, "Algorithm 978: Safe
// Scaling in the Level 1 BLAS" (2017).
#if DOUBLE
#define SMALL 0x1p-511
#define LARGE 0x1p+486
#define OF_SMALL 0x1p+537
#define OF_LARGE 0x1p-538
#else
#define SMALL 0x1p-63f
#define LARGE 0x1p+52f
#define OF_SMALL 0x1p+75f
#define OF_LARGE 0x1p-76f
#endif

// Sums of squares.
typedef struct {
    real small, medium, large;
} Squares;

inline Squares no_squares() {
    const Squares none = {0, 0, 0};
    return none;
}
inline void add_part(Squares *sums, real x) {
    const real size = fabs(x);
    if (size > LARGE) sums->large += (x * OF_LARGE) * (x * OF_LARGE);
    else if (size < SMALL) sums->small += (x * OF_SMALL) * (x * OF_SMALL);
    else sums->medium += x * x;
}
inline void add_element(Squares *sums, elem x) {
    add_part(sums, RE(x));
#if COMPLEX
    add_part(sums, IM(x));
#endif
}

// The root of all squares. It is NaN if one is.
inline real norm_of(Squares sums) {
    const int is_medium = !(sums.medium == 0);
    if (sums.large > 0) {
        const real more = is_medium ? (sums.medium * OF_LARGE) * OF_LARGE : (real)0;
        return sqrt(sums.large + more) / OF_LARGE;
    }
    if (!(sums.small > 0)) return sqrt(sums.medium);
    const real low = sqrt(sums.small) / OF_SMALL;
    if (!is_medium) return low;
    const real high = sqrt(sums.medium), most = low > high ? low : high, least = low > high ? high : low,
               ratio = least / most;
    return most * sqrt(1 + ratio * ratio);
}

// Returns the sums over the group in all its work-items. `room` has LANES elements.
inline Squares squares_of_group(Squares x, OWN Squares *room) {
#if LANES > 1
    const int lane = get_local_id(0);
    room[lane] = x;
    TOGETHER;
    for (int by = LANES / 2; by > 0; by /= 2) {
        if (lane < by) {
            room[lane].small += room[lane + by].small;
            room[lane].medium += room[lane + by].medium;
            room[lane].large += room[lane + by].large;
        }
        TOGETHER;
    }
    x = room[0];
    TOGETHER;
#endif
    return x;
}

// H = I - tau v vᴴ with Hᴴ x = beta e1 and v[0] = 1. The rest of v is that of x, divided by beta, times `scale`.
typedef struct {
    real beta;
    elem tau, scale;
} Reflector;

// Returns the reflector of a vector with this first element, and these squares of the others.
inline Reflector reflector_of(elem alpha, Squares squares) {
    // This is zero only if x is zero but for a real first element.
    if (squares.small + squares.medium + squares.large + fabs(IM(alpha)) == 0) {
        const Reflector none = {RE(alpha), make(0, 0), make(0, 0)};
        return none;
    }
    add_element(&squares, alpha);
    const real norm = norm_of(squares), beta = RE(alpha) < 0 ? norm : -norm;
    // Quotients by beta are at most one, so they do not overflow, and the modulus of tau is from one to two.
    const elem tau = make(1 - RE(alpha) / beta, -IM(alpha) / beta);
    const real square = -square_of(tau);
    const Reflector h = {beta, tau, make(RE(tau) / square, -IM(tau) / square)};
    return h;
}

// Returns an element of v from that of x.
inline elem apply(Reflector h, elem x) { return is_zero(h.tau) ? x : times(over(x, h.beta), h.scale); }
