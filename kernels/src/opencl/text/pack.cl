// Packs a factor: column i of the packed factor is row i of a matrix, and its row p is the matrix's column first + p.
// The columns are cut into blocks of PANEL, one after the other, which are row-major. What is behind the matrix, up to
// `width` columns and `depth` rows, becomes zero. Required definitions: PANEL (for one block: `width`), M_WG, N_WG
// (columns and rows of a group), M_WI, N_WI (of a work-item), M_UNROLL, N_UNROLL, and NAME (a suffix). M_WG divides a
// block, so that a group is within one.

#define X_ITEMS (M_WG / M_WI)
#define Y_ITEMS (N_WG / N_WI)
#define ITEMS __attribute__((reqd_work_group_size(X_ITEMS, Y_ITEMS, 1)))
#define FROM(i, p) s[(ulong)(i) * rs + (ulong)(p) * cs]

// A group's block of the packed factor begins at `t`, and the matrix's at `s`. `have` and `deep` are the rows and the
// columns of the matrix that are in it, `all_deep` the rows to write. Work-item (x, y) has every X_ITEMS-th column and
// every Y_ITEMS-th row.
#define ARGUMENTS                                                                                                      \
    (__global real *restrict heap, ulong to, ulong from, ulong rs, ulong cs, int rows, int first, int k, int width,    \
     int depth, int conj
#define BEGIN                                                                                                          \
    const int x = get_local_id(0), y = get_local_id(1);                                                                \
    const int i_first = get_group_id(0) * M_WG, p_first = get_group_id(1) * N_WG;                                      \
    const int have = min(M_WG, rows - i_first), deep = min(N_WG, k - p_first), all_deep = min(N_WG, depth - p_first);  \
    __global real *t =                                                                                                 \
        heap + (to + ((ulong)(i_first / PANEL) * depth + p_first) * PANEL) * PARTS + i_first % PANEL;                  \
    __global const elem *s = (__global const elem *)heap + from + (ulong)i_first * rs + (ulong)(first + p_first) * cs

// The address counts in `long` if a block is as wide as the matrix.
#define PUT(p, r, value)                                                                                               \
    do {                                                                                                               \
        const elem put_ = value;                                                                                       \
        t[(p) * ((long)PANEL * PARTS) + (r)] = RE(put_);                                                               \
        if (PARTS == 2) t[(p) * ((long)PANEL * PARTS) + PANEL + (r)] = IM(put_);                                       \
    } while (0)

// For matrices whose rows' elements are adjacent, or M_WG x N_WG = 1.
__kernel ITEMS void JOIN(pack, NAME) ARGUMENTS) {
    BEGIN;
    if (have == M_WG && deep == N_WG && !conj) {
#pragma unroll N_UNROLL
        for (int q = 0; q < N_WI; ++q) {
#pragma unroll M_UNROLL
            for (int l = 0; l < M_WI; ++l) {
                const int p = y + q * Y_ITEMS, r = x + l * X_ITEMS;
                PUT(p, r, s[r + (ulong)p * cs]);
            }
        }
        return;
    }
    for (int p = y; p < all_deep; p += Y_ITEMS)
        for (int r = x; r < M_WG; r += X_ITEMS)
            PUT(p, r, r < have && p < deep ? conj_if(s[r + (ulong)p * cs], conj) : make(0, 0));
}

// For other matrices. Several work-items read the elements of a column that are adjacent, and transpose in local
// memory.
__kernel ITEMS void JOIN(pack_transposed, NAME) ARGUMENTS) {
#if X_ITEMS * Y_ITEMS == 1
    BEGIN;
    for (int r = 0; r < have; ++r)
        for (int p = 0; p < deep; ++p) PUT(p, r, conj_if(FROM(r, p), conj));
    for (int p = 0; p < all_deep; ++p)
        for (int r = p < deep ? max(have, 0) : 0; r < M_WG; ++r) PUT(p, r, make(0, 0));
#else
    __local elem block[N_WG * (M_WG + 1)];
    BEGIN;
    for (int at = y * X_ITEMS + x; at < M_WG * N_WG; at += X_ITEMS * Y_ITEMS) {
        const int r = at / N_WG, p = at % N_WG;
        block[p * (M_WG + 1) + r] = r < have && p < deep ? conj_if(FROM(r, p), conj) : make(0, 0);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int p = y; p < all_deep; p += Y_ITEMS)
        for (int r = x; r < M_WG; r += X_ITEMS) PUT(p, r, block[p * (M_WG + 1) + r]);
#endif
}

// Like pack, for a matrix of which one triangle is stored. Structure 1 is symmetric, 2 is Hermitian, 3 has ones on the
// diagonal and zeros in the other triangle, and its diagonal is not read.
__kernel ITEMS void JOIN(complete, NAME) ARGUMENTS, int structure, int triangle) {
    BEGIN;
    s = (__global const elem *)heap + from;
    for (int p = y; p < all_deep; p += Y_ITEMS)
        for (int r = x; r < M_WG; r += X_ITEMS) {
            const int i = i_first + r, j = first + p_first + p;
            elem z = make(0, 0);
            if (r >= have || p >= deep) {
            } else if (structure == 3) {
                if (i == j) z = make(1, 0);
                else if (is_inside(triangle, i, j)) z = FROM(i, j);
            } else if (i == j) {
                z = FROM(i, i);
                if (structure == 2) z = make(RE(z), 0);
            } else {
                z = is_inside(triangle, i, j) ? FROM(i, j) : conj_if(FROM(j, i), structure == 2);
            }
            PUT(p, r, conj_if(z, conj));
        }
}

#undef FROM
#undef ARGUMENTS
#undef BEGIN
#undef PUT
#undef ITEMS
#undef X_ITEMS
#undef Y_ITEMS
