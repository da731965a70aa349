// The LU factorization of each matrix of a batch, by panels of NB columns, with partial pivoting or without. Included
// after `batch_panel.cl`, see there.

#define AT(i, j) panel[(i) + (j) * pitch]

// Finds the first of the rows from `row` to `end` with the largest element of a column, in all work-items. NaN is not
// larger than zero.
inline int JOIN(find_pivot, NAME)(SPACE const elem *column, int row, int end, OWN real *sizes, OWN int *rows) {
    const int lane = get_local_id(0);
    real most = -1;
    int best = row;
    for (int i = row + lane; i < end; i += LANES) {
        const real size = size_of(column[i]), key = size > 0 ? size : 0;
        if (key > most) {
            most = key;
            best = i;
        }
    }
#if LANES > 1
    sizes[lane] = most;
    rows[lane] = best;
    TOGETHER;
    for (int by = LANES / 2; by > 0; by /= 2) {
        if (lane < by) {
            const real other = sizes[lane + by];
            const int there = rows[lane + by];
            if (other > sizes[lane] || (other == sizes[lane] && there < rows[lane])) {
                sizes[lane] = other;
                rows[lane] = there;
            }
        }
        TOGETHER;
    }
    best = rows[0];
#endif
    return best;
}

// Factors a panel of m rows and w columns. Returns the number of the first column whose pivot is zero, counted from
// one, or 0. `moves` receives the row with which each row was exchanged.
inline int JOIN(factor_panel, NAME)(SPACE elem *panel, long pitch, int m, int w, int has_pivots, OWN int *moves,
                                    OWN real *sizes, OWN int *rows) {
    const int lane = get_local_id(0);
    int failed = 0;
    for (int j = 0; j < w; ++j) {
        const int best = JOIN(find_pivot, NAME)(panel + j * pitch, j, has_pivots ? m : j + 1, sizes, rows);
        for (int c = lane; c < w; c += LANES) {
            const elem x = AT(j, c);
            AT(j, c) = AT(best, c);
            AT(best, c) = x;
        }
        if (lane == 0) moves[j] = best;
        TOGETHER;
        const elem pivot = AT(j, j);
        if (is_zero(pivot) && !failed) failed = j + 1;
        for (int i = j + 1 + lane; i < m; i += LANES) {
            const elem x = is_zero(pivot) ? AT(i, j) : quotient(AT(i, j), pivot);
            AT(i, j) = x;
            for (int c = j + 1; c < w; ++c) AT(i, c) = minus(AT(i, c), x, AT(j, c));
        }
        TOGETHER;
    }
    return failed;
}

// Exchanges rows of a column as those of the panel.
inline void JOIN(interchange, NAME)(__global elem *column, OWN const int *moves, int w) {
    for (int j = 0; j < w; ++j) {
        const elem x = column[j];
        column[j] = column[moves[j]];
        column[moves[j]] = x;
    }
}

// Solves L X = B for the first w rows of a column.
inline void JOIN(solve_column, NAME)(SPACE const elem *panel, long pitch, int w, __global elem *column) {
    elem x[NB];
    for (int j = 0; j < NB; ++j) {
        if (j < w) {
            x[j] = column[j];
            for (int k = 0; k < j; ++k) x[j] = minus(x[j], AT(j, k), x[k]);
            column[j] = x[j];
        }
    }
}

// Subtracts L U from the n columns on the right of a panel of m rows, below its rows of U.
inline void JOIN(update_rest, NAME)(SPACE const elem *panel, long pitch, int m, __global elem *right, long ld, int n) {
    for (int j = COLUMN_LANE; j < n; j += COLUMN_LANES) {
        __global elem *column = right + j * ld;
        elem u[NB];
        for (int k = 0; k < NB; ++k) u[k] = column[k];
        for (int i = NB + ROW_LANE; i < m; i += ROW_LANES) {
            elem x = column[i];
            for (int k = 0; k < NB; ++k) x = minus(x, AT(i, k), u[k]);
            column[i] = x;
        }
    }
}

__kernel GROUP(LANES) void JOIN(getrf, NAME)(__global real *restrict heap, OPERAND(a), OPERAND(ipiv), int has_pivots,
                                             long info) {
    const int p = get_group_id(0), lane = get_local_id(0);
    const Place its = PLACE(a, p);
    const int k = min(its.m, its.n);
    const long ld = its.ld;
    __global int *ipiv = has_pivots ? INTEGERS(PLACE(ipiv, p)) : (__global int *)heap;
    OWN real sizes[LANES];
    OWN int rows[LANES], moves[NB];
#if IS_OWN
    __local elem panel[PANEL_ELEMENTS];
#endif
    int failed = 0;
    for (int first = 0; first < k; first += NB) {
        __global elem *left = ELEMENTS(its) + first, *a = left + first * ld;
        const int m = its.m - first, w = min(NB, k - first), n = its.n - first - w;
#if IS_OWN
        const long pitch = m;
        load_panel(panel, a, ld, m, w);
        TOGETHER;
#else
        __global elem *panel = a;
        const long pitch = ld;
#endif
        const int zero = JOIN(factor_panel, NAME)(panel, pitch, m, w, has_pivots, moves, sizes, rows);
        if (zero && !failed) failed = first + zero;
#if IS_OWN
        store_panel(panel, a, ld, m, w);
#endif
        if (has_pivots) {
            for (int j = lane; j < w; j += LANES) ipiv[first + j] = first + moves[j] + 1;
            for (int j = lane; j < first; j += LANES) JOIN(interchange, NAME)(left + j * ld, moves, w);
        }
        for (int j = lane; j < n; j += LANES) {
            __global elem *column = a + (w + j) * ld;
            if (has_pivots) JOIN(interchange, NAME)(column, moves, w);
            JOIN(solve_column, NAME)(panel, pitch, w, column);
        }
        TOGETHER;
        // A panel with rows below and columns on its right has NB columns.
        JOIN(update_rest, NAME)(panel, pitch, m, a + NB * ld, ld, m > NB ? n : 0);
        TOGETHER;
    }
    if (lane == 0) ((__global int *)heap)[info + NUMBER(a, p)] = failed;
}

#undef AT
