// What the kernels of batches and of panels share: the matrices of a batch, barriers, and arithmetic. Included after
// `prelude.cl`. Required definition: LANES, the work-items of a group, a power of four.
//
// A group works on one problem of a batch, or on some rows of a panel. All its work-items pass every barrier
// (TOGETHER): it is outside of branches, also of those that the whole group takes, because PoCL 3.1 compiles some
// conditional barriers wrongly. In loops it is passed by the whole group, because the bounds are the same for all
// work-items. An early return would skip it, so a group without work has loops without steps.

#if LANES == 1
// The memory of a single work-item is private, and so not limited by the size of local memory.
#define OWN
#define TOGETHER
#else
#define OWN __local
#define TOGETHER barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#endif

// Where one matrix of a batch is. The offset from the heap's start and the leading dimension are counted in its own
// elements.
typedef struct {
    long at, ld;
    int m, n;
} Place;

// An operand of a batch, as it is passed to a kernel: the first matrix; the elements from one matrix to the next; the
// table, counted in `long`s from the heap's start, or -1; and the rows, the columns and the leading dimension, or the
// most of the launch. Entry p of a table is the offset, the rows, the columns, the leading dimension and the number of
// problem p.
#define OPERAND(a) long a##_at, long a##_stride, long a##_table, long a##_m, long a##_n, long a##_ld
#define PLACE(a, p) place_of(heap, a##_at, a##_stride, a##_table, a##_m, a##_n, a##_ld, p)
// The number of a problem, by which its outcome is stored.
#define NUMBER(a, p) number_of(heap, a##_table, p)
#define TABLE_ROWS 5
// The matrix at a place.
#define ELEMENTS(place) ((__global elem *)heap + (place).at)
#define REALS(place) (heap + (place).at)
#define INTEGERS(place) ((__global int *)heap + (place).at)

inline Place place_of(__global const real *heap, long at, long stride, long table, long m, long n, long ld, long p) {
    Place its = {at + p * stride, ld, (int)m, (int)n};
    if (table >= 0) {
        __global const long *entry = (__global const long *)heap + table + TABLE_ROWS * p;
        its.at = at + entry[0];
        its.m = (int)entry[1];
        its.n = (int)entry[2];
        its.ld = entry[3];
    }
    return its;
}
inline long number_of(__global const real *heap, long table, long p) {
    return table < 0 ? p : ((__global const long *)heap)[table + TABLE_ROWS * p + 4];
}

// c - x y.
inline elem minus(elem c, elem x, elem y) { return c - times(x, y); }
// |re| + |im|, by which pivots are compared.
inline real size_of(elem x) { return fabs(RE(x)) + fabs(IM(x)); }
// |x|².
inline real square_of(elem x) { return RE(x) * RE(x) + IM(x) * IM(x); }
