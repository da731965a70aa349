// Y = Aᴴ B for matrices with many more rows than columns. Required definitions: LANES, the work-items of a group, a
// square; SIDE, its root; TILE, the order of a group's tile of Y; DEPTH, the rows that are in local memory at a time.
//
// The rows are divided among groups, each of which stores its part of Y's tile. Then the parts are added up.

#define EACH (TILE / SIDE)
#define PITCH (DEPTH + 1)

// Returns an element of a matrix, or of a unit lower trapezoidal one, whose ones and zeros are not stored.
inline elem element_of(__global const elem *a, ulong ld, int i, int j, int is_unit) {
    if (is_unit && i <= j) return make(i == j, 0);
    return a[i + j * ld];
}

// Group (b, t) multiplies block b of `rows` rows of the m x k matrix A and the m x n matrix B, for tile t.
__kernel GROUP(LANES) void multiply_rows(__global real *restrict heap, ulong a_at, ulong lda, int is_a_unit, ulong b_at,
                                         ulong ldb, int is_b_unit, int m, int k, int n, int rows, ulong parts) {
    __global const elem *a = (__global const elem *)heap + a_at, *b = (__global const elem *)heap + b_at;
    __local elem left[TILE * PITCH], right[TILE * PITCH];
    const int lane = get_local_id(0), x = lane % SIDE, y = lane / SIDE, across = (k + TILE - 1) / TILE;
    const int p0 = get_group_id(1) % across * TILE, q0 = get_group_id(1) / across * TILE;
    const int first = get_group_id(0) * rows, end = min(m, first + rows);
    elem sums[EACH * EACH];
#pragma unroll
    for (int e = 0; e < EACH * EACH; ++e) sums[e] = make(0, 0);
    for (int block = first; block < end; block += DEPTH) {
        for (int e = lane; e < TILE * DEPTH; e += LANES) {
            const int row = e % DEPTH, column = e / DEPTH, i = block + row, p = p0 + column, q = q0 + column;
            left[column * PITCH + row] =
                i < end && p < k ? conj_if(element_of(a, lda, i, p, is_a_unit), 1) : make(0, 0);
            right[column * PITCH + row] = i < end && q < n ? element_of(b, ldb, i, q, is_b_unit) : make(0, 0);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int row = 0; row < DEPTH; ++row) {
            elem by[EACH];
#pragma unroll
            for (int r = 0; r < EACH; ++r) by[r] = right[(y + r * SIDE) * PITCH + row];
#pragma unroll
            for (int l = 0; l < EACH; ++l) {
                const elem one = left[(x + l * SIDE) * PITCH + row];
#pragma unroll
                for (int r = 0; r < EACH; ++r) sums[l + r * EACH] += times(one, by[r]);
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    __global elem *to = (__global elem *)heap + parts + (long)get_group_id(0) * k * n;
#pragma unroll
    for (int e = 0; e < EACH * EACH; ++e) {
        const int p = p0 + x + e % EACH * SIDE, q = q0 + y + e / EACH * SIDE;
        if (p < k && q < n) to[p + q * k] = sums[e];
    }
}

// Y := the sum of so many parts, for Y of so many elements without gaps.
__kernel GROUP(LANES) void add_parts(__global real *restrict heap, ulong parts, int count, ulong y_at, int elements) {
    const int e = get_global_id(0);
    if (e >= elements) return;
    __global const elem *part = (__global const elem *)heap + parts + e;
    elem sum = make(0, 0);
#pragma unroll 8
    for (int b = 0; b < count; ++b) sum += part[(long)b * elements];
    ((__global elem *)heap)[y_at + e] = sum;
}
