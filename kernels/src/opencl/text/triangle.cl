// Solves and products with a lower triangular block of order n <= ORDER, for `count` columns of B, W vectors of them
// per work-item. Upper triangles are passed with negative strides, which reverse rows and columns. The zeros of the
// other triangle are not multiplied, so that Inf in B makes no NaN, and solves divide by the diagonal itself. Required
// definitions: ORDER, LANES, W (1 or 2).

#define ROWS 4

// The position of element (i, p) in the packed block: ROWS rows together, column by column.
#define AT(i, p) (((i) / ROWS * ORDER + (p)) * ROWS + (i) % ROWS)

// One work-item per row. Rows that pad the last ROWS are those of the identity.
__kernel void pack_triangle(__global real *restrict heap, ulong to, ulong from, long rs, long cs, int n, int conj,
                            int unit) {
    const int i = get_global_id(0);
    __global elem *t = (__global elem *)heap + to;
    __global const elem *s = (__global const elem *)heap + from;
    for (int p = 0; p < i; ++p) t[AT(i, p)] = i < n ? conj_if(s[i * rs + p * cs], conj) : make(0, 0);
    t[AT(i, i)] = i < n && !unit ? conj_if(s[i * rs + i * cs], conj) : make(1, 0);
}

// x := x op a u; y and v are the imaginary parts.
#if COMPLEX
#define TERM(op, x, y, a, u, v)                                                                                        \
    do {                                                                                                               \
        const real p_ = RE(a), q_ = IM(a);                                                                             \
        x = x op p_ * u;                                                                                               \
        y = y op p_ * v;                                                                                               \
        x = x op -q_ * v;                                                                                              \
        y = y op q_ * u;                                                                                               \
    } while (0)
#else
#define TERM(op, x, y, a, u, v) x = x op(a) * u
#endif

// In a register tile of ROWS rows and W vectors each vector has a name, x##r##g, or y##r##g for the imaginary parts,
// because compilers leave arrays in memory.
#define IN_ROWS(M, g) M(0, g) M(1, g) M(2, g) M(3, g)
#if W == 1
#define IN_TILE(M) IN_ROWS(M, 0)
#define IN_VECTORS(M) M(0)
#else
#define IN_TILE(M) IN_ROWS(M, 0) IN_ROWS(M, 1)
#define IN_VECTORS(M) M(0) M(1)
#endif
#define ZERO(r, g) vec x##r##g = (vec)0, y##r##g = (vec)0;
#define LOAD(r, g) vec x##r##g = re[(i + r) * W + g], y##r##g = im[(i + r) * W + g];
#define STORE(r, g) im[(i + r) * W + g] = y##r##g; re[(i + r) * W + g] = x##r##g;
#define SOURCE(g) const vec u##g = re[p * W + g], v##g = im[p * W + g];
#define MINUS(r, g) TERM(-, x##r##g, y##r##g, a[p * ROWS + r], u##g, v##g);
#define PLUS(r, g) TERM(+, x##r##g, y##r##g, a[p * ROWS + r], u##g, v##g);
// Eliminates within the tile, by column q of the triangle.
#define OVER(q, g) divide(&x##q##g, &y##q##g, a[(i + q) * ROWS + q]);
#define LESS(r, q, g) TERM(-, x##r##g, y##r##g, a[(i + q) * ROWS + r], x##q##g, y##q##g);
#define ELIMINATE(g)                                                                                                   \
    OVER(0, g) LESS(1, 0, g) LESS(2, 0, g) LESS(3, 0, g) OVER(1, g) LESS(2, 1, g) LESS(3, 1, g) OVER(2, g)             \
    LESS(3, 2, g) OVER(3, g)
#define MORE(r, q, g) TERM(+, x##r##g, y##r##g, a[(i + q) * ROWS + r], re[(i + q) * W + g], im[(i + q) * W + g]);
#define GATHER(g)                                                                                                      \
    MORE(0, 0, g) MORE(1, 0, g) MORE(2, 0, g) MORE(3, 0, g) MORE(1, 1, g) MORE(2, 1, g) MORE(3, 1, g) MORE(2, 2, g)    \
    MORE(3, 2, g) MORE(3, 3, g)

// The rows of B for W * V columns.
typedef struct {
    vec re[ORDER * W];
#if COMPLEX
    vec im[ORDER * W];
#endif
} Columns;

// For real types this is the real part, which is written last.
#if COMPLEX
#define IMAGINARY(b) (b)->im
#else
#define IMAGINARY(b) (b)->re
#endif

inline void load_columns(Columns *b, __global const real *s, long rs, long cs, int n, int have) {
    if (cs == 1 && have == W * V) {
        for (int i = 0; i < n; ++i)
            for (int g = 0; g < W; ++g) {
                __global const real *from = s + (i * rs + g * V) * PARTS;
#if COMPLEX
                load_parts(from, &b->re[i * W + g], &b->im[i * W + g]);
#else
                b->re[i * W + g] = VLOAD(from);
#endif
            }
    } else {
        for (int i = 0; i < n * W; ++i) b->re[i] = IMAGINARY(b)[i] = (vec)0;
        for (int l = 0; l < have; ++l)
            for (int i = 0; i < n; ++i) {
                __global const real *e = s + (i * rs + l * cs) * PARTS;
                ((real *)b->re)[i * (W * V) + l] = e[0];
#if COMPLEX
                ((real *)b->im)[i * (W * V) + l] = e[1];
#endif
            }
    }
    for (int i = n * W; i < (n + ROWS - 1) / ROWS * ROWS * W; ++i) b->re[i] = IMAGINARY(b)[i] = (vec)0;
}

inline void store_columns(const Columns *b, __global real *t, long rs, long cs, int n, int have) {
    if (cs == 1 && have == W * V) {
        for (int i = 0; i < n; ++i)
            for (int g = 0; g < W; ++g) {
                __global real *to = t + (i * rs + g * V) * PARTS;
#if COMPLEX
                store_parts(b->re[i * W + g], b->im[i * W + g], to);
#else
                VSTORE(b->re[i * W + g], to);
#endif
            }
        return;
    }
    for (int l = 0; l < have; ++l)
        for (int i = 0; i < n; ++i) {
            __global real *e = t + (i * rs + l * cs) * PARTS;
            e[0] = ((const real *)b->re)[i * (W * V) + l];
#if COMPLEX
            e[1] = ((const real *)b->im)[i * (W * V) + l];
#endif
        }
}

// Computes x / d.
inline void divide(vec *x, vec *y, elem d) {
#if COMPLEX
    real scale;
    const elem inverse = inverse_of(d, &scale);
    const vec s = *x * scale, t = *y * scale;
    *x = s * RE(inverse) - t * IM(inverse);
    *y = t * RE(inverse) + s * IM(inverse);
#else
    *x = *x / d;
#endif
}

// Solves A X = B; X replaces B.
__kernel GROUP(LANES) void solve(__global real *restrict heap, ulong triangle, ulong from, long rs, long cs, int n,
                                  int count) {
    const int first = get_global_id(0) * (W * V), have = min(W * V, count - first);
    if (have <= 0) return;
    __global real *b = heap + ((long)from + first * cs) * PARTS;
    Columns columns;
    load_columns(&columns, b, rs, cs, n, have);
    vec *re = columns.re, *im = IMAGINARY(&columns);
    __global const elem *a = (__global const elem *)heap + triangle;
    for (int i = 0; i < n; i += ROWS, a += ORDER * ROWS) {
        IN_TILE(LOAD)
        for (int p = 0; p < i; ++p) {
            IN_VECTORS(SOURCE)
            IN_TILE(MINUS)
        }
        IN_VECTORS(ELIMINATE)
        IN_TILE(STORE)
    }
    store_columns(&columns, b, rs, cs, n, have);
}

// Computes A B in place of B.
__kernel GROUP(LANES) void multiply(__global real *restrict heap, ulong triangle, ulong from, long rs, long cs, int n,
                                  int count) {
    const int first = get_global_id(0) * (W * V), have = min(W * V, count - first);
    if (have <= 0) return;
    __global real *b = heap + ((long)from + first * cs) * PARTS;
    Columns columns;
    load_columns(&columns, b, rs, cs, n, have);
    vec *re = columns.re, *im = IMAGINARY(&columns);
    for (int i = (n - 1) / ROWS * ROWS; i >= 0; i -= ROWS) {
        __global const elem *a = (__global const elem *)heap + triangle + i * ORDER;
        IN_TILE(ZERO)
        for (int p = 0; p < i; ++p) {
            IN_VECTORS(SOURCE)
            IN_TILE(PLUS)
        }
        IN_VECTORS(GATHER)
        IN_TILE(STORE)
    }
    store_columns(&columns, b, rs, cs, n, have);
}
