// The QR factorization of each matrix of a batch, and products with its Q, by panels of NB reflectors. Included after
// `batch_reflector.cl`; see `batch_panel.cl`.
//
// The product of the reflectors of a panel is applied without its triangular factor T. With z = Vᴴ C, the first
// reflector subtracts v1 w1 from C for w1 = tau1 z1. The second subtracts v2 w2 for w2 = tau2 (z2 - (v2ᴴ v1) w1), and
// so on. So the products of the vectors with each other are enough.

#define AT(i, j) panel[(i) + (j) * pitch]

// The memory of a group for the reflectors of a panel.
typedef struct {
    // Products of the vectors: element (j, k) is vjᴴ vk for k < j.
    elem gram[NB * NB];
    elem tau[NB];
    // Parts of sums, and the sums.
    elem parts[NB * LANES];
    elem sums[NB * COLUMN_LANES];
} JOIN(Block, NAME);

// Adds the parts of a sum.
inline elem JOIN(total, NAME)(OWN const elem *parts) {
    elem sum = parts[0];
    for (int r = 1; r < ROW_LANES; ++r) sum += parts[r];
    return sum;
}

// Multiplies the columns of a panel by vjᴴ.
inline void JOIN(multiply_by, NAME)(SPACE const elem *panel, long pitch, int m, int w, int j,
                                    OWN JOIN(Block, NAME) *block) {
    for (int c = COLUMN_LANE; c < w; c += COLUMN_LANES) {
        elem sum = ROW_LANE == 0 ? AT(j, c) : make(0, 0);
        for (int i = j + 1 + ROW_LANE; i < m; i += ROW_LANES) sum += times(conjugate(AT(i, j)), AT(i, c));
        block->parts[c * ROW_LANES + ROW_LANE] = sum;
    }
    TOGETHER;
    for (int c = get_local_id(0); c < w; c += LANES) {
        const elem sum = JOIN(total, NAME)(block->parts + c * ROW_LANES);
        block->sums[c] = sum;
        if (c < j) block->gram[j * NB + c] = sum;
    }
    TOGETHER;
}

// Applies I - by vj vjᴴ to the columns of a panel on the right of column j.
inline void JOIN(reflect, NAME)(SPACE elem *panel, long pitch, int m, int w, int j, elem by,
                                OWN const JOIN(Block, NAME) *block) {
    for (int c = j + 1 + COLUMN_LANE; c < w; c += COLUMN_LANES) {
        const elem z = times(by, block->sums[c]);
        if (ROW_LANE == 0) AT(j, c) -= z;
        for (int i = j + 1 + ROW_LANE; i < m; i += ROW_LANES) AT(i, c) = minus(AT(i, c), AT(i, j), z);
    }
    TOGETHER;
}

// Reads the factors of w reflectors, and computes the products of their vectors.
inline void JOIN(prepare, NAME)(SPACE const elem *panel, long pitch, int m, int w, __global const elem *tau,
                                OWN JOIN(Block, NAME) *block) {
    for (int j = get_local_id(0); j < w; j += LANES) block->tau[j] = tau[j];
    for (int j = 0; j < w; ++j) JOIN(multiply_by, NAME)(panel, pitch, m, w, j, block);
}

// C := H1 H2 .. Hw C, or the adjoint product times C, for C of n columns.
inline void JOIN(apply_block, NAME)(SPACE const elem *panel, long pitch, int m, int w, int is_adjoint,
                                    __global elem *c, long ld, int n, OWN JOIN(Block, NAME) *block) {
    for (int first = 0; first < n; first += COLUMN_LANES) {
        const int column = first + COLUMN_LANE;
        __global elem *x = c + min(column, n - 1) * ld;
        elem z[NB];
        for (int k = 0; k < NB; ++k) z[k] = make(0, 0);
        for (int i = ROW_LANE; i < w; i += ROW_LANES)
            for (int k = 0; k < NB; ++k)
                if (k <= i) z[k] += k == i ? x[i] : times(conjugate(AT(i, k)), x[i]);
        for (int i = w + ROW_LANE; i < m; i += ROW_LANES)
            for (int k = 0; k < NB; ++k)
                if (k < w) z[k] += times(conjugate(AT(i, k)), x[i]);
        for (int k = 0; k < NB; ++k)
            block->parts[(k * COLUMN_LANES + COLUMN_LANE) * ROW_LANES + ROW_LANE] = z[k];
        TOGETHER;
        for (int e = get_local_id(0); e < NB * COLUMN_LANES; e += LANES)
            block->sums[e] = JOIN(total, NAME)(block->parts + e * ROW_LANES);
        TOGETHER;
        for (int k = 0; k < NB; ++k) z[k] = block->sums[k * COLUMN_LANES + COLUMN_LANE];
        for (int step = 0; step < NB; ++step) {
            const int k = is_adjoint ? step : NB - 1 - step;
            if (k < w) {
                elem sum = z[k];
                for (int q = 0; q < NB; ++q) {
                    if (is_adjoint && q < k) sum = minus(sum, block->gram[k * NB + q], z[q]);
                    if (!is_adjoint && q > k && q < w) sum = minus(sum, conjugate(block->gram[q * NB + k]), z[q]);
                }
                z[k] = times(conj_if(block->tau[k], is_adjoint), sum);
            }
        }
        const int end = column < n ? m : 0;
        for (int i = ROW_LANE; i < min(w, end); i += ROW_LANES)
            for (int k = 0; k < NB; ++k)
                if (k <= i) x[i] -= k == i ? z[k] : times(AT(i, k), z[k]);
        for (int i = w + ROW_LANE; i < end; i += ROW_LANES)
            for (int k = 0; k < NB; ++k)
                if (k < w) x[i] = minus(x[i], AT(i, k), z[k]);
    }
    TOGETHER;
}

#if IS_OWN
#define PANEL_OF(a, ld, m, w)                                                                                          \
    const long pitch = m;                                                                                              \
    load_panel(panel, a, ld, m, w);                                                                                    \
    TOGETHER
#else
#define PANEL_OF(a, ld, m, w)                                                                                          \
    const long pitch = ld;                                                                                             \
    __global elem *panel = a
#endif

__kernel GROUP(LANES) void JOIN(geqrf, NAME)(__global real *restrict heap, OPERAND(a), OPERAND(tau)) {
    const int p = get_group_id(0), lane = get_local_id(0);
    const Place its = PLACE(a, p);
    __global elem *tau = ELEMENTS(PLACE(tau, p));
    const int k = min(its.m, its.n);
    OWN JOIN(Block, NAME) block;
    OWN Squares room[LANES];
#if IS_OWN
    __local elem panel[PANEL_ELEMENTS];
#endif
    for (int first = 0; first < k; first += NB) {
        __global elem *a = ELEMENTS(its) + first * (its.ld + 1);
        const int m = its.m - first, w = min(NB, k - first);
        PANEL_OF(a, its.ld, m, w);
        for (int j = 0; j < w; ++j) {
            Squares squares = no_squares();
            for (int i = j + 1 + lane; i < m; i += LANES) add_element(&squares, AT(i, j));
            const Reflector h = reflector_of(AT(j, j), squares_of_group(squares, room));
            TOGETHER;
            for (int i = j + 1 + lane; i < m; i += LANES) AT(i, j) = apply(h, AT(i, j));
            if (lane == 0) {
                AT(j, j) = make(h.beta, 0);
                tau[first + j] = block.tau[j] = h.tau;
            }
            TOGETHER;
            JOIN(multiply_by, NAME)(panel, pitch, m, w, j, &block);
            JOIN(reflect, NAME)(panel, pitch, m, w, j, conjugate(h.tau), &block);
        }
#if IS_OWN
        store_panel(panel, a, its.ld, m, w);
#endif
        JOIN(apply_block, NAME)(panel, pitch, m, w, 1, a + w * its.ld, its.ld, its.n - first - w, &block);
    }
}

__kernel GROUP(LANES) void JOIN(ungqr, NAME)(__global real *restrict heap, OPERAND(a), OPERAND(tau)) {
    const int p = get_group_id(0), lane = get_local_id(0);
    const Place its = PLACE(a, p), of_tau = PLACE(tau, p);
    const long ld = its.ld;
    // Columns without a reflector are those of the unit matrix at first.
    for (int j = of_tau.m + COLUMN_LANE; j < its.n; j += COLUMN_LANES)
        for (int i = ROW_LANE; i < its.m; i += ROW_LANES) ELEMENTS(its)[i + j * ld] = make(i == j, 0);
    TOGETHER;
    OWN JOIN(Block, NAME) block;
#if IS_OWN
    __local elem panel[PANEL_ELEMENTS];
#endif
    for (int first = (of_tau.m - 1) / NB * NB; first >= 0 && of_tau.m > 0; first -= NB) {
        __global elem *above = ELEMENTS(its) + first * ld, *a = above + first;
        const int m = its.m - first, w = min(NB, of_tau.m - first);
        PANEL_OF(a, ld, m, w);
        JOIN(prepare, NAME)(panel, pitch, m, w, ELEMENTS(of_tau) + first, &block);
        JOIN(apply_block, NAME)(panel, pitch, m, w, 0, a + w * ld, ld, its.n - first - w, &block);
        for (int j = COLUMN_LANE; j < w; j += COLUMN_LANES) {
            for (int i = ROW_LANE; i < first; i += ROW_LANES) above[i + j * ld] = make(0, 0);
            for (int i = ROW_LANE; i < j; i += ROW_LANES) AT(i, j) = make(0, 0);
        }
        TOGETHER;
        for (int j = w - 1; j >= 0; --j) {
            const elem tau = block.tau[j];
            JOIN(multiply_by, NAME)(panel, pitch, m, w, j, &block);
            JOIN(reflect, NAME)(panel, pitch, m, w, j, tau, &block);
            for (int i = j + 1 + lane; i < m; i += LANES) AT(i, j) = minus(make(0, 0), tau, AT(i, j));
            if (lane == 0) AT(j, j) = make(1 - RE(tau), -IM(tau));
            TOGETHER;
        }
#if IS_OWN
        store_panel(panel, a, ld, m, w);
        TOGETHER;
#endif
    }
}

__kernel GROUP(LANES) void JOIN(unmqr, NAME)(__global real *restrict heap, OPERAND(v), OPERAND(tau), OPERAND(c),
                                             int is_adjoint) {
    const int p = get_group_id(0);
    const Place its = PLACE(c, p), of_v = PLACE(v, p), of_tau = PLACE(tau, p);
    const int panels = (of_tau.m + NB - 1) / NB;
    OWN JOIN(Block, NAME) block;
#if IS_OWN
    __local elem panel[PANEL_ELEMENTS];
#endif
    for (int step = 0; step < panels; ++step) {
        const int first = (is_adjoint ? step : panels - 1 - step) * NB, m = of_v.m - first,
                  w = min(NB, of_tau.m - first);
        __global elem *a = ELEMENTS(of_v) + first * (of_v.ld + 1);
        PANEL_OF(a, of_v.ld, m, w);
        JOIN(prepare, NAME)(panel, pitch, m, w, ELEMENTS(of_tau) + first, &block);
        JOIN(apply_block, NAME)(panel, pitch, m, w, is_adjoint, ELEMENTS(its) + first, its.ld, its.n, &block);
    }
}

#undef PANEL_OF
#undef AT
