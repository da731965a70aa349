// Systems and products with a lower triangular block of order n <= ORDER, for `count` columns of B, V of them per work-item.
// Upper triangles come with negative strides: rows and columns in reverse. Zeros of the other triangle take part in nothing, so that
// Inf in B makes no NaN of them, and division is by the diagonal itself.
// Defined before: ORDER, LANES.

#define ROWS 4

// Where element (i, p) of the packed block is: ROWS rows together, column by column.
#define AT(i, p) (((i) / ROWS * ORDER + (p)) * ROWS + (i) % ROWS)

// One work-item per row. Rows that fill up the last ROWS are those of the identity.
__kernel void pack_triangle(__global real *restrict heap, ulong to, ulong from, long rs, long cs, int n, int conj, int unit) {
    const int i = get_global_id(0);
    __global elem *t = (__global elem *)heap + to;
    __global const elem *s = (__global const elem *)heap + from;
    for (int p = 0; p < i; ++p) t[AT(i, p)] = i < n ? conj_if(s[i * rs + p * cs], conj) : make(0, 0);
    t[AT(i, i)] = i < n && !unit ? conj_if(s[i * rs + i * cs], conj) : make(1, 0);
}

#if COMPLEX
#define TERM(op, x, y, r, a, re, im)                                                                                   \
    do {                                                                                                               \
        const real p_ = RE(a), q_ = IM(a);                                                                             \
        x[r] = x[r] op p_ * re;                                                                                        \
        y[r] = y[r] op p_ * im;                                                                                        \
        x[r] = x[r] op -q_ * im;                                                                                       \
        y[r] = y[r] op q_ * re;                                                                                        \
    } while (0)
#else
#define TERM(op, x, y, r, a, re, im) x[r] = x[r] op(a) * re
#endif

// Rows of B for V columns.
typedef struct {
    vec re[ORDER];
#if COMPLEX
    vec im[ORDER];
#endif
} Columns;

// Of real numbers it is the real part, which is written last.
#if COMPLEX
#define IMAGINARY(b) (b)->im
#else
#define IMAGINARY(b) (b)->re
#endif

inline void load_columns(Columns *b, __global const real *s, long rs, long cs, int n, int have) {
    if (cs == 1 && have == V) {
        for (int i = 0; i < n; ++i) {
#if COMPLEX
            load_parts(s + i * rs * PARTS, &b->re[i], &b->im[i]);
#else
            b->re[i] = VLOAD(s + i * rs);
#endif
        }
    } else {
        for (int i = 0; i < n; ++i) b->re[i] = IMAGINARY(b)[i] = (vec)0;
        for (int l = 0; l < have; ++l)
            for (int i = 0; i < n; ++i) {
                __global const real *e = s + (i * rs + l * cs) * PARTS;
                ((real *)b->re)[i * V + l] = e[0];
#if COMPLEX
                ((real *)b->im)[i * V + l] = e[1];
#endif
            }
    }
    for (int i = n; i < (n + ROWS - 1) / ROWS * ROWS; ++i) b->re[i] = IMAGINARY(b)[i] = (vec)0;
}

inline void store_columns(const Columns *b, __global real *t, long rs, long cs, int n, int have) {
    if (cs == 1 && have == V) {
        for (int i = 0; i < n; ++i) {
#if COMPLEX
            store_parts(b->re[i], b->im[i], t + i * rs * PARTS);
#else
            VSTORE(b->re[i], t + i * rs);
#endif
        }
        return;
    }
    for (int l = 0; l < have; ++l)
        for (int i = 0; i < n; ++i) {
            __global real *e = t + (i * rs + l * cs) * PARTS;
            e[0] = ((const real *)b->re)[i * V + l];
#if COMPLEX
            e[1] = ((const real *)b->im)[i * V + l];
#endif
        }
}

// x / d, complex without undue overflow.
inline void divide(vec *x, vec *y, elem d) {
#if COMPLEX
    const int swap = fabs(RE(d)) < fabs(IM(d));
    const real large = swap ? IM(d) : RE(d), small = swap ? RE(d) : IM(d);
    const real ratio = small / large, by = large + small * ratio;
    const vec u = swap ? *x * ratio + *y : *x + *y * ratio;
    const vec v = swap ? *y * ratio - *x : *y - *x * ratio;
    *x = u / by;
    *y = v / by;
#else
    *x = *x / d;
#endif
}

// X over B: A X = B.
__kernel GROUP(LANES) void solve(__global real *restrict heap, ulong triangle, ulong from, long rs, long cs, int n, int count) {
    const int first = get_global_id(0) * V, have = min(V, count - first);
    if (have <= 0) return;
    __global const elem *a = (__global const elem *)heap + triangle;
    __global real *b = heap + ((long)from + first * cs) * PARTS;
    Columns columns;
    load_columns(&columns, b, rs, cs, n, have);
    vec *re = columns.re, *im = IMAGINARY(&columns);
    for (int i = 0; i < n; i += ROWS, a += ORDER * ROWS) {
        vec x[ROWS], y[ROWS];
        for (int r = 0; r < ROWS; ++r) {
            x[r] = re[i + r];
            y[r] = im[i + r];
        }
        for (int p = 0; p < i; ++p) {
            const vec u = re[p], v = im[p];
            for (int r = 0; r < ROWS; ++r) TERM(-, x, y, r, a[p * ROWS + r], u, v);
        }
        for (int q = 0; q < ROWS; ++q) {
            divide(&x[q], &y[q], a[(i + q) * ROWS + q]);
            for (int r = q + 1; r < ROWS; ++r) TERM(-, x, y, r, a[(i + q) * ROWS + r], x[q], y[q]);
        }
        for (int r = 0; r < ROWS; ++r) {
            im[i + r] = y[r];
            re[i + r] = x[r];
        }
    }
    store_columns(&columns, b, rs, cs, n, have);
}

// A B over B.
__kernel GROUP(LANES) void multiply(__global real *restrict heap, ulong triangle, ulong from, long rs, long cs, int n, int count) {
    const int first = get_global_id(0) * V, have = min(V, count - first);
    if (have <= 0) return;
    __global const elem *whole = (__global const elem *)heap + triangle;
    __global real *b = heap + ((long)from + first * cs) * PARTS;
    Columns columns;
    load_columns(&columns, b, rs, cs, n, have);
    vec *re = columns.re, *im = IMAGINARY(&columns);
    for (int i = (n - 1) / ROWS * ROWS; i >= 0; i -= ROWS) {
        __global const elem *a = whole + i * ORDER;
        vec x[ROWS], y[ROWS];
        for (int r = 0; r < ROWS; ++r) x[r] = y[r] = (vec)0;
        for (int p = 0; p < i; ++p) {
            const vec u = re[p], v = im[p];
            for (int r = 0; r < ROWS; ++r) TERM(+, x, y, r, a[p * ROWS + r], u, v);
        }
        for (int q = 0; q < ROWS; ++q)
            for (int r = q; r < ROWS; ++r) TERM(+, x, y, r, a[(i + q) * ROWS + r], re[i + q], im[i + q]);
        for (int r = 0; r < ROWS; ++r) {
            im[i + r] = y[r];
            re[i + r] = x[r];
        }
    }
    store_columns(&columns, b, rs, cs, n, have);
}
