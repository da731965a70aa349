// The reduction of each matrix of a batch to bidiagonal form, one column and one row after the other: A = Q B Pᴴ.
// Included after `batch_reflector.cl`; see `batch_panel.cl`, where a panel is the whole matrix here.
//
// A matrix with less rows than columns is reduced as its conjugate transpose Aᴴ = P Bᴴ Qᴴ, where Q and P are exchanged.
// In place, such a matrix is reduced in scratch memory, where each problem also has the vectors u.

#define AT(i, j) work[(i) + (j) * pitch]
// Rows of a work-item that are multiplied at once.
#define ROWS 4

// The memory of a group for sums.
typedef struct {
    elem parts[LANES];
    Squares squares[LANES];
} JOIN(Room, NAME);

// Applies Hᴴ = I - by v vᴴ to the columns from i + 1 on, for v in column i from row i on, where v[i] is 1 and not
// stored.
inline void JOIN(reflect_columns, NAME)(SPACE elem *work, long pitch, int m, int n, int i, elem by,
                                        OWN JOIN(Room, NAME) *room) {
    for (int first = i + 1; first < n; first += COLUMN_LANES) {
        const int c = min(first + COLUMN_LANE, n - 1), end = first + COLUMN_LANE < n ? m : 0;
        elem sum = ROW_LANE == 0 ? AT(i, c) : make(0, 0);
        for (int r = i + 1 + ROW_LANE; r < m; r += ROW_LANES) sum += times(conjugate(AT(r, i)), AT(r, c));
        room->parts[COLUMN_LANE * ROW_LANES + ROW_LANE] = sum;
        TOGETHER;
        sum = room->parts[COLUMN_LANE * ROW_LANES];
        for (int q = 1; q < ROW_LANES; ++q) sum += room->parts[COLUMN_LANE * ROW_LANES + q];
        sum = times(by, sum);
        if (ROW_LANE == 0 && end > 0) AT(i, c) -= sum;
        for (int r = i + 1 + ROW_LANE; r < end; r += ROW_LANES) AT(r, c) = minus(AT(r, c), AT(r, i), sum);
        TOGETHER;
    }
}

// Applies G = I - tau u uᴴ to the rows and columns from i + 1 on, for u[c] in column c.
inline void JOIN(reflect_rows, NAME)(SPACE elem *work, long pitch, int m, int n, int i, elem tau,
                                     SPACE const elem *u) {
    // Each work-item has ROWS rows, LANES apart. Instead of a row that does not exist, it reads its first one.
    for (int first = i + 1 + (int)get_local_id(0); first < m; first += ROWS * LANES) {
        elem sums[ROWS];
        for (int q = 0; q < ROWS; ++q) sums[q] = make(0, 0);
        for (int c = i + 1; c < n; ++c)
            for (int q = 0; q < ROWS; ++q) {
                const int r = first + q * LANES;
                sums[q] += times(AT(r < m ? r : first, c), u[c]);
            }
        for (int q = 0; q < ROWS; ++q) sums[q] = times(tau, sums[q]);
        for (int c = i + 1; c < n; ++c)
            for (int q = 0; q < ROWS; ++q) {
                const int r = first + q * LANES;
                if (r < m) AT(r, c) = minus(AT(r, c), sums[q], conjugate(u[c]));
            }
    }
    TOGETHER;
}

// Reduces a matrix with at least as many rows as columns. There is room for n elements in `u`.
inline void JOIN(reduce, NAME)(SPACE elem *work, long pitch, int m, int n, SPACE elem *u, __global real *d,
                               __global real *e, __global elem *tauq, __global elem *taup,
                               OWN JOIN(Room, NAME) *room) {
    const int lane = get_local_id(0);
    for (int i = 0; i < n; ++i) {
        Squares squares = no_squares();
        for (int r = i + 1 + lane; r < m; r += LANES) add_element(&squares, AT(r, i));
        const Reflector h = reflector_of(AT(i, i), squares_of_group(squares, room->squares));
        TOGETHER;
        for (int r = i + 1 + lane; r < m; r += LANES) AT(r, i) = apply(h, AT(r, i));
        if (lane == 0) {
            AT(i, i) = make(h.beta, 0);
            d[i] = h.beta;
            tauq[i] = h.tau;
        }
        TOGETHER;
        JOIN(reflect_columns, NAME)(work, pitch, m, n, i, conjugate(h.tau), room);
        // The vector of row i. In the last row it is empty, and its reflector has tau = 0.
        squares = no_squares();
        for (int c = i + 2 + lane; c < n; c += LANES) add_element(&squares, AT(i, c));
        const int has_row = i + 1 < n;
        const elem alpha = has_row ? conjugate(AT(i, i + 1)) : make(0, 0);
        const Reflector g = reflector_of(alpha, squares_of_group(squares, room->squares));
        TOGETHER;
        for (int c = i + 1 + lane; c < n; c += LANES) {
            u[c] = c == i + 1 ? make(1, 0) : apply(g, conjugate(AT(i, c)));
            AT(i, c) = c == i + 1 ? make(g.beta, 0) : conjugate(u[c]);
        }
        if (lane == 0) {
            taup[i] = g.tau;
            if (has_row) e[i] = g.beta;
        }
        TOGETHER;
        JOIN(reflect_rows, NAME)(work, pitch, m, n, i, g.tau, u);
    }
}

// Copies A, or its conjugate transpose, to the m x n matrix `work`, or back.
inline void JOIN(move, NAME)(SPACE elem *work, long pitch, int m, int n, __global elem *a, long ld, int is_flat,
                             int is_back) {
    for (int j = COLUMN_LANE; j < n; j += COLUMN_LANES)
        for (int i = ROW_LANE; i < m; i += ROW_LANES) {
            __global elem *its = a + (is_flat ? j + i * ld : i + j * ld);
            if (is_back) *its = conj_if(AT(i, j), is_flat);
            else AT(i, j) = conj_if(*its, is_flat);
        }
    TOGETHER;
}

__kernel GROUP(LANES) void JOIN(gebrd, NAME)(__global real *restrict heap, OPERAND(a), OPERAND(d), OPERAND(e),
                                             OPERAND(tauq), OPERAND(taup), long scratch, long scratch_stride) {
    const int p = get_group_id(0);
    const Place its = PLACE(a, p);
    const int is_flat = its.m < its.n, m = max(its.m, its.n), n = min(its.m, its.n);
    __global elem *a = ELEMENTS(its), *tauq = ELEMENTS(PLACE(tauq, p)), *taup = ELEMENTS(PLACE(taup, p));
    OWN JOIN(Room, NAME) room;
#if IS_OWN
    __local elem memory[PANEL_ELEMENTS];
    __local elem *u = memory, *work = memory + n;
    const long pitch = m;
    const int is_copied = 1;
#else
    __global elem *u = (__global elem *)heap + scratch + p * scratch_stride, *work = is_flat ? u + n : a;
    const long pitch = is_flat ? m : its.ld;
    const int is_copied = is_flat;
#endif
    JOIN(move, NAME)(work, pitch, m, is_copied ? n : 0, a, its.ld, is_flat, 0);
    JOIN(reduce, NAME)(work, pitch, m, n, u, REALS(PLACE(d, p)), REALS(PLACE(e, p)), is_flat ? taup : tauq,
                       is_flat ? tauq : taup, &room);
    JOIN(move, NAME)(work, pitch, m, is_copied ? n : 0, a, its.ld, is_flat, 1);
}

#undef ROWS
#undef AT
