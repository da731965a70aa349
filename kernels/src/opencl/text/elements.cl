// Kernels that scale, copy, add, transpose and interchange. A work-group has a column, a block of a matrix that is
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

// Loads a block of A or of its conjugate to local memory, transposed.
inline void load_transposed(__global const elem *a, ulong ld, int rows, int columns, int conj, __local elem *block) {
    for (int j = 0; j < columns; ++j)
        for (int i = get_local_id(0); i < rows; i += LANES) block[i * (BLOCK + 1) + j] = conj_if(a[i + j * ld], conj);
#if LANES > 1
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
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
    load_transposed(a, ld_from, rows, columns, conj, block);
    for (int i = 0; i < rows; ++i)
        for (int j = lane; j < columns; j += LANES) b[j + i * ld_to] = block[i * (BLOCK + 1) + j];
}

// B := alpha A + beta B.
__kernel GROUP(LANES) void geadd(__global real *restrict heap, ulong from, ulong ld_from, ulong to, ulong ld_to, int m,
                                  elem alpha, elem beta) {
    const int j = get_group_id(1);
    __global const elem *a = (__global const elem *)heap + from + j * ld_from;
    __global elem *b = (__global elem *)heap + to + j * ld_to;
    for (int i = get_local_id(0); i < m; i += LANES) update(b + i, a[i], alpha, beta, 0);
}

// B := alpha Aᵀ + beta B or alpha Aᴴ + beta B for an m x n matrix A, by blocks in local memory.
__kernel GROUP(LANES) void geadd_transposed(__global real *restrict heap, ulong from, ulong ld_from, ulong to,
                                             ulong ld_to, int m, int n, int conj, elem alpha, elem beta) {
    __local elem block[BLOCK * (BLOCK + 1)];
    const int lane = get_local_id(0);
    const int i0 = get_group_id(0) * BLOCK, j0 = get_group_id(1) * BLOCK;
    const int rows = min(BLOCK, m - i0), columns = min(BLOCK, n - j0);
    __global const elem *a = (__global const elem *)heap + from + i0 + j0 * ld_from;
    __global elem *b = (__global elem *)heap + to + j0 + i0 * ld_to;
    load_transposed(a, ld_from, rows, columns, conj, block);
    for (int i = 0; i < rows; ++i)
        for (int j = lane; j < columns; j += LANES)
            update(b + j + i * ld_to, block[i * (BLOCK + 1) + j], alpha, beta, 0);
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
// For INTERCHANGES interchanges at a time the group finds from which row each row gets its elements, and then moves
// each element once. A work-item has SLOTS of these rows: slot 2 i is row first + i, and slot 2 i + 1 row ipiv[i] - 1.
#define SLOTS (2 * INTERCHANGES / LANES)
__kernel GROUP(LANES) void laswp(__global real *restrict heap, ulong at, ulong ld, int m, int n, int left, int skip,
                                 int first, ulong ipiv, int count, int backward, ulong status) {
    __local int partner[INTERCHANGES];
    const int lane = get_local_id(0), j_first = get_group_id(0) * COLUMNS, columns = min(COLUMNS, n - j_first);
    const int parts = (count + INTERCHANGES - 1) / INTERCHANGES;
    __global elem *a = (__global elem *)heap + at;
    ulong column[COLUMNS];
#pragma unroll
    for (int j = 0; j < COLUMNS; ++j) column[j] = column_at(j_first + min(j, columns - 1), left, skip, ld);
    for (int step = 0; step < parts; ++step) {
        const int start = (backward ? parts - 1 - step : step) * INTERCHANGES, have = min(INTERCHANGES, count - start);
        const int top = first + start;
        for (int i = lane; i < have; i += LANES) {
            const int row = ((__global const int *)heap)[ipiv + start + i], is_valid = 0 < row && row <= m;
            if (!is_valid && j_first == 0) ((__global int *)heap)[status] = top + i + 1;
            partner[i] = is_valid ? row - 1 : top + i;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        int row[SLOTS], from[SLOTS], is_own[SLOTS];
#pragma unroll
        for (int s = 0; s < SLOTS; ++s) {
            const int slot = lane + s * LANES, i = slot / 2;
            row[s] = slot % 2 == 0 || i >= have ? top + min(i, have - 1) : partner[i];
            from[s] = row[s];
            // A row has one slot that moves it: outside of the part, that of its last interchange.
            is_own[s] = i < have && (slot % 2 == 0 || row[s] < top || row[s] >= top + have);
        }
        // Follows a row's elements from the last interchange back to the first.
        for (int k = 0; k < have; ++k) {
            const int i = backward ? k : have - 1 - k, other = partner[i];
#pragma unroll
            for (int s = 0; s < SLOTS; ++s) {
                const int slot = lane + s * LANES;
                from[s] = from[s] == top + i ? other : from[s] == other ? top + i : from[s];
                if (slot % 2 == 1 && slot / 2 < i && row[s] == other) is_own[s] = 0;
            }
        }
        elem moved[SLOTS][COLUMNS];
#pragma unroll
        for (int j = 0; j < COLUMNS; ++j)
#pragma unroll
            for (int s = 0; s < SLOTS; ++s) moved[s][j] = a[from[s] + column[j]];
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
#pragma unroll
        for (int j = 0; j < COLUMNS; ++j)
#pragma unroll
            for (int s = 0; s < SLOTS; ++s)
                if (is_own[s] && from[s] != row[s] && j < columns) a[row[s] + column[j]] = moved[s][j];
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    }
}
#endif

// Clears a status.
__kernel void clear(__global real *restrict heap, ulong status) { ((__global int *)heap)[status] = 0; }

#if !DOUBLE && !COMPLEX
// Numbers of 16 bits. Every device converts f16, also those that cannot compute with it.
inline float value_f16(__global const ushort *from) { return vload_half(0, (__global const half *)from); }
inline void store_f16(float x, __global ushort *to) { vstore_half_rte(x, 0, (__global half *)to); }
inline float value_bf16(__global const ushort *from) { return as_float((uint)*from << 16); }
// To the nearest number, of two to the one whose last bit is zero. NaN stays NaN.
inline void store_bf16(float x, __global ushort *to) {
    const uint bits = as_uint(x);
    *to = isnan(x) ? (bits >> 16) | 0x40 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

#define HALVES(type)                                                                                                   \
    /* B := A, where A is in half precision. */                                                                        \
    __kernel GROUP(LANES) void widen_##type(__global real *restrict heap, ulong from, ulong ld_from, ulong to,         \
                                             ulong ld_to, int m) {                                                     \
        const int j = get_group_id(1);                                                                                 \
        __global const ushort *a = (__global const ushort *)heap + from + j * ld_from;                                 \
        __global float *b = heap + to + j * ld_to;                                                                     \
        for (int i = get_local_id(0); i < m; i += LANES) b[i] = value_##type(a + i);                                   \
    }                                                                                                                  \
    /* B := A + beta B, where B is in half precision. */                                                               \
    __kernel GROUP(LANES) void round_##type(__global real *restrict heap, ulong from, ulong ld_from, ulong to,         \
                                             ulong ld_to, int m, float beta) {                                         \
        const int j = get_group_id(1);                                                                                 \
        __global const float *a = heap + from + j * ld_from;                                                           \
        __global ushort *b = (__global ushort *)heap + to + j * ld_to;                                                 \
        for (int i = get_local_id(0); i < m; i += LANES)                                                               \
            store_##type(a[i] + (beta == 0 ? 0 : beta * value_##type(b + i)), b + i);                                  \
    }
HALVES(f16)
HALVES(bf16)
#endif
