// Packs rows of a matrix into panels of PANEL rows, padded with zeros to whole panels. Element (i, p) of panel i /
// PANEL is stored after the panel's first p columns. Columns first .. first + k of the matrix are packed. Required
// definitions: PANEL, LANES (work-items per group), COLUMNS (per group), NAME (a suffix).

#define FROM(i, p) s[(ulong)(i) * rs + (ulong)(p) * cs]

inline void JOIN(put, NAME)(__global real *t, int r, int p, elem x) {
    t[p * (PANEL * PARTS) + r] = RE(x);
#if COMPLEX
    t[p * (PANEL * PARTS) + PANEL + r] = IM(x);
#endif
}

__kernel GROUP(LANES) void JOIN(pack, NAME)(__global real *restrict heap, ulong to, ulong from, ulong rs, ulong cs,
                                            int rows, int first, int k, int conj) {
    const int lane = get_local_id(0);
    const int i = get_group_id(0) * PANEL;
    const int begin = get_group_id(1) * COLUMNS, end = min(begin + COLUMNS, k);
    const int have = min(PANEL, rows - i);
    __global real *t = heap + (to + (ulong)i * k) * PARTS;
    __global const elem *s = (__global const elem *)heap + from + (ulong)i * rs + (ulong)first * cs;
    if (rs != 1) {
        for (int r = 0; r < have; ++r)
            for (int p = begin + lane; p < end; p += LANES) JOIN(put, NAME)(t, r, p, conj_if(FROM(r, p), conj));
    } else if (have == PANEL && !conj) {
        for (int p = begin; p < end; ++p)
            for (int r = lane; r < PANEL; r += LANES) JOIN(put, NAME)(t, r, p, s[r + (ulong)p * cs]);
    } else {
        for (int p = begin; p < end; ++p)
            for (int r = lane; r < have; r += LANES) JOIN(put, NAME)(t, r, p, conj_if(s[r + (ulong)p * cs], conj));
    }
    for (int p = begin; p < end; ++p)
        for (int r = have + lane; r < PANEL; r += LANES) JOIN(put, NAME)(t, r, p, make(0, 0));
}

// Like pack, for a matrix of which one triangle is stored. Structure 1 is symmetric, 2 is Hermitian, 3 has ones on the
// diagonal and zeros in the other triangle, and its diagonal is not read.
__kernel GROUP(LANES) void JOIN(complete, NAME)(__global real *restrict heap, ulong to, ulong from, ulong rs, ulong cs,
                                                int rows, int first, int k, int conj, int structure, int triangle) {
    const int lane = get_local_id(0);
    const int i0 = get_group_id(0) * PANEL;
    const int begin = get_group_id(1) * COLUMNS, end = min(begin + COLUMNS, k);
    const int have = min(PANEL, rows - i0);
    __global real *t = heap + (to + (ulong)i0 * k) * PARTS;
    __global const elem *s = (__global const elem *)heap + from;
    for (int p = begin; p < end; ++p) {
        for (int r = lane; r < PANEL; r += LANES) {
            const int i = i0 + r, j = first + p;
            elem x = make(0, 0);
            if (r >= have) {
            } else if (structure == 3) {
                if (i == j) x = make(1, 0);
                else if (is_inside(triangle, i, j)) x = FROM(i, j);
            } else if (i == j) {
                x = FROM(i, i);
                if (structure == 2) x = make(RE(x), 0);
            } else {
                x = is_inside(triangle, i, j) ? FROM(i, j) : conj_if(FROM(j, i), structure == 2);
            }
            JOIN(put, NAME)(t, r, p, conj_if(x, conj));
        }
    }
}

#undef FROM
