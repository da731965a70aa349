// Kernels that scale, copy, transpose and interchange. A work-group has a column, a block of a matrix that is
// transposed, or a few columns whose rows are interchanged. Required definitions: LANES, BLOCK, and for interchanges
// COLUMNS and INTERCHANGES.

// A := beta A, or one part of it, optionally with a real diagonal.
__kernel GROUP(LANES) void scale(__global real *restrict heap, ulong at, ulong ld, int m, int part, int is_hermitian,
                                  elem beta) {
    const int j = get_group_id(1);
    __global elem *a = (__global elem *)heap + at + j * ld;
    const int begin = part == 1 ? j : 0, end = part == 2 ? min(m, j + 1) : m;
    for (int i = begin + get_local_id(0); i < end; i += LANES) {
        elem x = is_zero(beta) ? make(0, 0) : scaled(a[i], beta);
        if (is_hermitian && i == j) x = make(RE(x), 0);
        a[i] = x;
    }
}

// B := A.
__kernel GROUP(LANES) void copy(__global real *restrict heap, ulong from, ulong ld_from, ulong to, ulong ld_to, int m) {
    const int j = get_group_id(1);
    __global const elem *a = (__global const elem *)heap + from + j * ld_from;
    __global elem *b = (__global elem *)heap + to + j * ld_to;
    for (int i = get_local_id(0); i < m; i += LANES) b[i] = a[i];
}

// B := Aᵀ or Aᴴ for an m x n matrix A, by blocks in local memory.
__kernel GROUP(LANES) void transpose(__global real *restrict heap, ulong from, ulong ld_from, ulong to, ulong ld_to,
                                      int m, int n, int conj) {
    __local elem block[BLOCK * (BLOCK + 1)];
    const int lane = get_local_id(0);
    const int i0 = get_group_id(0) * BLOCK, j0 = get_group_id(1) * BLOCK;
    const int rows = min(BLOCK, m - i0), columns = min(BLOCK, n - j0);
    __global const elem *a = (__global const elem *)heap + from + i0 + j0 * ld_from;
    __global elem *b = (__global elem *)heap + to + j0 + i0 * ld_to;
    for (int j = 0; j < columns; ++j)
        for (int i = lane; i < rows; i += LANES) block[i * (BLOCK + 1) + j] = conj_if(a[i + j * ld_from], conj);
#if LANES > 1
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    for (int i = 0; i < rows; ++i)
        for (int j = lane; j < columns; j += LANES) b[j + i * ld_to] = block[i * (BLOCK + 1) + j];
}

// Where column j begins, if the `skip` columns from column `left` on are left out.
inline ulong column_at(int j, int left, int skip, ulong ld) { return (j < left ? j : j + skip) * ld; }

// Interchanges rows first + i and ipiv[i] - 1, for `count` values of i, in n columns of A, of which a group has
// COLUMNS. An index outside of the m rows exchanges nothing and sets status to its row, counted from one.
#if LANES == 1
__kernel GROUP(1) void laswp(__global real *restrict heap, ulong at, ulong ld, int m, int n, int left, int skip,
                             int first, ulong ipiv, int count, int backward, ulong status) {
    const int j = get_group_id(0);
    __global const int *p = (__global const int *)heap + ipiv;
    if (j >= n) return;
    __global elem *a = (__global elem *)heap + at + column_at(j, left, skip, ld);
    for (int step = 0; step < count; ++step) {
        const int i = backward ? count - 1 - step : step;
        const int from = first + i, to = p[i] - 1;
        if (to < 0 || to >= m) {
            if (j == 0) ((__global int *)heap)[status] = from + 1;
        } else if (to != from) {
            const elem x = a[from];
            a[from] = a[to];
            a[to] = x;
        }
    }
}
#else
// The group first finds what INTERCHANGES of them do together, and then moves each element once. A slot is one of these
// rows: slot i has row first + i, and slot INTERCHANGES + i has row ipiv[i] - 1, if it is none of the former.
__kernel GROUP(LANES) void laswp(__global real *restrict heap, ulong at, ulong ld, int m, int n, int left, int skip,
                                 int first, ulong ipiv, int count, int backward, ulong status) {
    __local int row_of[2 * INTERCHANGES], slot_of[INTERCHANGES], from[2 * INTERCHANGES];
    __local elem moved[2 * INTERCHANGES * COLUMNS];
    const int lane = get_local_id(0), j_first = get_group_id(0) * COLUMNS, columns = min(COLUMNS, n - j_first);
    __global elem *a = (__global elem *)heap + at;
    const int parts = (count + INTERCHANGES - 1) / INTERCHANGES;
    for (int step = 0; step < parts; ++step) {
        const int start = (backward ? parts - 1 - step : step) * INTERCHANGES, have = min(INTERCHANGES, count - start);
        __global const int *p = (__global const int *)heap + ipiv + start;
        for (int s = lane; s < 2 * INTERCHANGES; s += LANES) {
            const int i = s % INTERCHANGES;
            int row = first + start + i;
            if (s >= INTERCHANGES && i < have && 0 < p[i] && p[i] <= m) row = p[i] - 1;
            if (s >= INTERCHANGES && i < have && (p[i] <= 0 || p[i] > m) && j_first == 0)
                ((__global int *)heap)[status] = row + 1;
            row_of[s] = row;
            from[s] = s;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int i = lane; i < have; i += LANES) {
            const int row = row_of[INTERCHANGES + i], near = row - first - start;
            int slot = near;
            if (near < 0 || near >= have) {
                slot = INTERCHANGES + i;
                for (int other = i - 1; other >= 0; --other)
                    if (row_of[INTERCHANGES + other] == row) slot = INTERCHANGES + other;
            }
            slot_of[i] = slot;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane == 0)
            for (int k = 0; k < have; ++k) {
                const int i = backward ? have - 1 - k : k, slot = slot_of[i], x = from[i];
                from[i] = from[slot];
                from[slot] = x;
            }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = lane; k < 2 * INTERCHANGES * COLUMNS; k += LANES) {
            const int s = k % (2 * INTERCHANGES), j = k / (2 * INTERCHANGES);
            if (from[s] != s && j < columns) moved[k] = a[row_of[from[s]] + column_at(j_first + j, left, skip, ld)];
        }
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        for (int k = lane; k < 2 * INTERCHANGES * COLUMNS; k += LANES) {
            const int s = k % (2 * INTERCHANGES), j = k / (2 * INTERCHANGES);
            if (from[s] != s && j < columns) a[row_of[s] + column_at(j_first + j, left, skip, ld)] = moved[k];
        }
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    }
}
#endif

// Clears a status.
__kernel void clear(__global real *restrict heap, ulong status) { ((__global int *)heap)[status] = 0; }
