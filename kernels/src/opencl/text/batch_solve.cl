// Batched solves with triangles, op(A) X = alpha B or X op(A) = alpha B, and what drivers need besides. Required
// definitions: BLOCK, the order of the blocks of a triangle; VECTORS, the vectors of a group of trsm. Included after
// `batch.cl`.
//
// Every solve is one with a lower triangle L: an upper one is read from its end backwards, and for X op(A) = alpha B
// all is transposed. What is on the other side of the diagonal is not read, and a unit diagonal neither.

// L(i, k) is at a[i * row + k * column].
typedef struct {
    __global const elem *a;
    long row, column;
    int n, is_conj, is_unit;
} Triangle;

// Component i of vector v is at x[i * row + v * next].
typedef struct {
    __global elem *x;
    long row, next;
    int count;
} Vectors;

inline elem triangle_at(Triangle l, int i, int k) { return conj_if(l.a[i * l.row + k * l.column], l.is_conj); }

// `op` has 1 if op transposes, and 2 if it conjugates. A may have more rows than columns: the triangle is at its top.
// With outcomes at `info`, which is -1 otherwise, problems whose outcome is not zero are left as they are.
#define TRSM                                                                                                           \
    (__global real *restrict heap, OPERAND(a), OPERAND(b), int is_right, int is_upper, int op, int is_unit,            \
     elem alpha, long info)
#define ONE_SOLVE(p)                                                                                                   \
    Triangle l;                                                                                                        \
    Vectors x;                                                                                                         \
    prepare(heap, PLACE(a, p), PLACE(b, p), is_right, is_upper, op, is_unit, &l, &x);                                  \
    if (has_failed(heap, info, NUMBER(a, p))) x.count = 0;

inline int has_failed(__global const real *heap, long info, long number) {
    return info >= 0 && ((__global const int *)heap)[info + number] != 0;
}

inline void prepare(__global real *heap, Place a, Place b, int is_right, int is_upper, int op, int is_unit,
                    Triangle *l, Vectors *x) {
    const int is_trans = (op & 1) != is_right, is_backward = is_upper != is_trans;
    const long row = is_trans ? a.ld : 1, column = is_trans ? 1 : a.ld, component = is_right ? b.ld : 1;
    const long last = is_backward && a.n > 0 ? a.n - 1 : 0;
    const int sign = is_backward ? -1 : 1;
    l->a = ELEMENTS(a) + last * (row + column);
    l->row = sign * row;
    l->column = sign * column;
    l->n = a.n;
    l->is_conj = op & 2;
    l->is_unit = is_unit;
    x->x = ELEMENTS(b) + last * component;
    x->row = sign * component;
    x->next = is_right ? 1 : b.ld;
    x->count = is_right ? b.m : b.n;
}

// One vector, by a group: a row for each work-item at a time. If alpha is zero, A and B are not read.
__kernel GROUP(LANES) void trsv TRSM {
    OWN elem known[LANES];
    ONE_SOLVE(get_group_id(0))
    const int lane = get_local_id(0), n = x.count > 0 ? l.n : 0, is_there = !is_zero(alpha);
    for (int first = 0; first < n; first += LANES) {
        const int i = first + lane, is_row = i < n;
        elem sum = is_row && is_there ? scaled(x.x[i * x.row], alpha) : make(0, 0);
        if (is_row && is_there)
            for (int k = 0; k < first; ++k) sum = minus(sum, triangle_at(l, i, k), x.x[k * x.row]);
        const int order = min(LANES, n - first);
        for (int k = 0; k < order; ++k) {
            if (lane == k) {
                if (is_there && !l.is_unit) sum = quotient(sum, triangle_at(l, i, i));
                known[k] = sum;
                x.x[i * x.row] = sum;
            }
            TOGETHER;
            if (lane > k && is_row && is_there) sum = minus(sum, triangle_at(l, i, first + k), known[k]);
        }
    }
}

// The elements of a block of vectors: component i of vector v.
#define AT(i, v) ((i) + (v) * (BLOCK + 1))

// Reads BLOCK components, of which `rows` are there, of `have` vectors. Adjacent work-items read adjacent elements.
inline void read_vectors(OWN elem *to, Vectors x, int rows, int have) {
    const int is_by_vectors = x.next == 1;
    for (int e = get_local_id(0); e < BLOCK * VECTORS; e += LANES) {
        const int i = is_by_vectors ? e / VECTORS : e % BLOCK, v = is_by_vectors ? e % VECTORS : e / BLOCK;
        if (i < rows && v < have) to[AT(i, v)] = x.x[i * x.row + v * x.next];
    }
}

// Some vectors, by a group: block by block, after the products with what is known are subtracted.
__kernel GROUP(LANES) void trsm TRSM {
    OWN elem its[VECTORS * (BLOCK + 1)], known[VECTORS * (BLOCK + 1)], block[BLOCK * BLOCK];
    const int lane = get_local_id(0), is_there = !is_zero(alpha);
    const int parts = (int)(((is_right ? b_m : b_n) + VECTORS - 1) / VECTORS), group = get_group_id(0);
    ONE_SOLVE(group / parts)
    const int first = group % parts * VECTORS, have = min(VECTORS, x.count - first), n = have > 0 ? l.n : 0;
    x.x += first * x.next;
    for (int at = 0; at < n; at += BLOCK) {
        const int rows = min(BLOCK, n - at);
        Vectors here = x;
        here.x += at * x.row;
        if (is_there) read_vectors(its, here, rows, have);
        TOGETHER;
        for (int e = lane; e < BLOCK * have; e += LANES) {
            const int i = e % BLOCK, v = e / BLOCK;
            its[AT(i, v)] = i < rows && is_there ? scaled(its[AT(i, v)], alpha) : make(0, 0);
        }
        for (int k = 0; k < at; k += BLOCK) {
            Vectors before = x;
            before.x += k * x.row;
            read_vectors(known, before, BLOCK, have);
            for (int e = lane; e < BLOCK * BLOCK; e += LANES) {
                const int is_by_rows = l.row == 1 || l.row == -1;
                const int i = is_by_rows ? e % BLOCK : e / BLOCK, c = is_by_rows ? e / BLOCK : e % BLOCK;
                block[i + c * BLOCK] = i < rows && is_there ? triangle_at(l, at + i, k + c) : make(0, 0);
            }
            TOGETHER;
            for (int e = lane; e < BLOCK * have; e += LANES) {
                const int i = e % BLOCK, v = e / BLOCK;
                elem sum = its[AT(i, v)];
                for (int c = 0; c < BLOCK; ++c) sum = minus(sum, block[i + c * BLOCK], known[AT(c, v)]);
                its[AT(i, v)] = sum;
            }
            TOGETHER;
        }
        for (int e = lane; e < BLOCK * BLOCK; e += LANES) {
            const int i = e % BLOCK, c = e / BLOCK, is_read = i < rows && (c < i || (c == i && !l.is_unit));
            block[e] = is_read && is_there ? triangle_at(l, at + i, at + c) : make(1, 0);
        }
        TOGETHER;
        for (int v = lane; v < have && is_there; v += LANES)
            for (int i = 0; i < rows; ++i) {
                elem sum = its[AT(i, v)];
                for (int c = 0; c < i; ++c) sum = minus(sum, block[i + c * BLOCK], its[AT(c, v)]);
                its[AT(i, v)] = l.is_unit ? sum : quotient(sum, block[i + i * BLOCK]);
            }
        TOGETHER;
        for (int e = lane; e < BLOCK * VECTORS; e += LANES) {
            const int i = x.next == 1 ? e / VECTORS : e % BLOCK, v = x.next == 1 ? e % VECTORS : e / BLOCK;
            if (i < rows && v < have) here.x[i * x.row + v * x.next] = its[AT(i, v)];
        }
        TOGETHER;
    }
}

// Interchanges rows i and ipiv[i] - 1 of B for all i, forward or backward. A work-item has a column. An interchange
// with a row outside of B is left out, and the problem's number plus one becomes the status.
__kernel GROUP(LANES) void laswp(__global real *restrict heap, OPERAND(ipiv), OPERAND(b), int is_backward, long info,
                                 long status, int count) {
    const long item = get_global_id(0), p = item / b_n;
    if (p >= count) return;
    const Place pivots = PLACE(ipiv, p), its = PLACE(b, p);
    const int j = (int)(item % b_n), k = min(pivots.m, its.m);
    const long number = NUMBER(b, p);
    if (j >= its.n || has_failed(heap, info, number)) return;
    __global const int *rows = INTEGERS(pivots);
    __global elem *x = ELEMENTS(its) + j * its.ld;
    for (int step = 0; step < k; ++step) {
        const int i = is_backward ? k - 1 - step : step, to = rows[i] - 1;
        if (to < 0 || to >= its.m) {
            ((__global int *)heap)[status] = (int)number + 1;
        } else if (to != i) {
            const elem y = x[i];
            x[i] = x[to];
            x[to] = y;
        }
    }
}

// Writes the table of columns in scratch, `stride` elements apart: one for each A, with an element for each of its
// columns. A work-item has a problem.
__kernel GROUP(LANES) void column_table(__global real *restrict heap, OPERAND(a), long stride, long table, int count) {
    const int p = get_global_id(0);
    if (p >= count) return;
    const Place its = PLACE(a, p);
    __global long *entry = (__global long *)heap + table + TABLE_ROWS * p;
    entry[0] = p * stride;
    entry[1] = min(its.m, its.n);
    entry[2] = 1;
    entry[3] = stride;
    entry[4] = NUMBER(a, p);
}

// Finds the first zero on the diagonal of R, from one on; zero if there is none. A work-item has a problem.
__kernel GROUP(LANES) void find_zero(__global real *restrict heap, OPERAND(r), long info, int count) {
    const int p = get_global_id(0);
    if (p >= count) return;
    const Place its = PLACE(r, p);
    __global const elem *diagonal = ELEMENTS(its);
    int found = 0;
    for (int i = its.n - 1; i >= 0; --i)
        if (is_zero(diagonal[i + i * its.ld])) found = i + 1;
    ((__global int *)heap)[info + NUMBER(r, p)] = found;
}
