// The Cholesky factorization of each matrix of a batch, by panels of NB columns: A = L Lᴴ, or A = Uᴴ U. The latter is
// Aᵀ = Uᵀ conj(U), so Uᵀ is the lower factor of Aᵀ. Included after `batch_panel.cl`, see there.

#define AT(i, j) panel[(i) * down + (j) * right]

// Factors the w x w block on the diagonal. Returns the order of its first leading minor that is not positive definite,
// or 0.
inline int JOIN(factor_diagonal, NAME)(SPACE elem *panel, long down, long right, int w) {
    const int lane = get_local_id(0);
    int failed = 0;
    for (int j = 0; j < w; ++j) {
        for (int i = j + lane; i < w; i += LANES) {
            elem x = AT(i, j);
            for (int k = 0; k < j; ++k) x = minus(x, AT(i, k), conjugate(AT(j, k)));
            AT(i, j) = x;
        }
        TOGETHER;
        const real pivot = RE(AT(j, j)), root = sqrt(pivot);
        // This is true of NaN.
        if (!(pivot > 0) && !failed) failed = j + 1;
        TOGETHER;
        for (int i = j + lane; i < w; i += LANES) AT(i, j) = i == j ? make(root, 0) : over(AT(i, j), root);
        TOGETHER;
    }
    return failed;
}

// Solves X Lᴴ = B for the rows below the block on the diagonal.
inline void JOIN(solve_below, NAME)(SPACE elem *panel, long down, long right, int m) {
    for (int i = NB + (int)get_local_id(0); i < m; i += LANES) {
        elem x[NB];
        for (int j = 0; j < NB; ++j) {
            x[j] = AT(i, j);
            for (int k = 0; k < j; ++k) x[j] = minus(x[j], x[k], conjugate(AT(j, k)));
            x[j] = over(x[j], RE(AT(j, j)));
            AT(i, j) = x[j];
        }
    }
}

// Subtracts L Lᴴ, or its transpose, from what follows the panel.
inline void JOIN(update_rest, NAME)(SPACE const elem *panel, long down, long right, int m, __global elem *a, long ld,
                                    int is_upper) {
    for (int j = NB + COLUMN_LANE; j < m; j += COLUMN_LANES) {
        elem y[NB];
        for (int k = 0; k < NB; ++k) y[k] = conjugate(AT(j, k));
        const int begin = is_upper ? NB : j, end = is_upper ? j + 1 : m;
        for (int i = begin + ROW_LANE; i < end; i += ROW_LANES) {
            elem sum = times(AT(i, 0), y[0]);
            for (int k = 1; k < NB; ++k) sum += times(AT(i, k), y[k]);
            a[i + j * ld] -= conj_if(sum, is_upper);
        }
    }
}

#if IS_OWN
// Copies the lower part of a panel of m rows and w columns, or stores it.
inline void move_panel(__local elem *panel, __global elem *a, long down, long right, int m, int w, int is_back) {
    for (int e = get_local_id(0); e < m * w; e += LANES) {
        // Work-items beside each other access neighbours in A.
        const int i = down == 1 ? e % m : e / w, j = down == 1 ? e / m : e % w;
        if (i >= j && is_back) a[i * down + j * right] = panel[i + j * m];
        else if (i >= j) panel[i + j * m] = a[i * down + j * right];
    }
}
#endif

__kernel GROUP(LANES) void JOIN(potrf, NAME)(__global real *restrict heap, OPERAND(a), int is_upper, long info) {
    const int p = get_group_id(0);
    const Place its = PLACE(a, p);
    const long down = is_upper ? its.ld : 1, right = is_upper ? 1 : its.ld;
#if IS_OWN
    __local elem panel[PANEL_ELEMENTS];
#endif
    int failed = 0;
    for (int first = 0; first < its.n && !failed; first += NB) {
        __global elem *a = ELEMENTS(its) + first * (its.ld + 1);
        const int m = its.n - first, w = min(NB, m);
#if IS_OWN
        const long panel_down = 1, panel_right = m;
        move_panel(panel, a, down, right, m, w, 0);
        TOGETHER;
#else
        __global elem *panel = a;
        const long panel_down = down, panel_right = right;
#endif
        const int minor = JOIN(factor_diagonal, NAME)(panel, panel_down, panel_right, w);
        if (minor) failed = first + minor;
        JOIN(solve_below, NAME)(panel, panel_down, panel_right, m);
        TOGETHER;
#if IS_OWN
        move_panel(panel, a, down, right, m, w, 1);
#endif
        JOIN(update_rest, NAME)(panel, panel_down, panel_right, m, a, its.ld, is_upper);
        TOGETHER;
    }
    if (get_local_id(0) == 0) ((__global int *)heap)[info + NUMBER(a, p)] = failed;
}

#undef AT
