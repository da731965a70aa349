// A solve for urgent queues, which finishes sooner and uses more processors. Included after `factor.cu`.
//
// A block of threads solves for a few vectors with the whole triangle, ROWS components at a time. The contribution of
// the components before is a sum of products. Each warp computes a part of it, with one row per lane, for all vectors.
// Then each warp solves with the block on the diagonal for its own vector, with one component per lane.

#define ROWS 32
// Vectors of a block: one for each warp.
#define SOON WARPS
// Columns of L that a warp reads at once.
#define AHEAD (sizeof(elem) > 8 ? 4 : 8)

// Distance of the components, in packs.
#define PACKS (SOON / PACK + 1)

// Solves L x = b for `count` vectors b, like `solve`, for a triangle of any order n. With n rounded up to a multiple of
// ROWS, shared memory holds all components, PACKS packs for each; the partial sums, WARPS * SOON * ROWS elements; and a
// block on the diagonal, ROWS * ROWS.
KERNEL(THREADS, 1) solve_urgent(SOLVE_WITH) {
    DYNAMIC_SHARED(pack, known);
    elem *x = known[0].of, *parts = known[(n + ROWS - 1) / ROWS * ROWS * PACKS].of,
         *diagonal = parts + WARPS * SOON * ROWS;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const place vector = (place)blockIdx.x * SOON + warp;
    const place row_stride = is_trans ? lda : 1, column_stride = is_trans ? 1 : lda,
                b_row = by_rows ? ldb : 1, b_vector = by_rows ? 1 : ldb;
    elem own, block[ROWS / WARPS], left[AHEAD];
    // Rows, columns and vectors after the last read the last one's elements; the results are not stored.
#define ELEMENT(row, column) a[min(row, n - 1) * row_stride + min(column, n - 1) * column_stride]
    // The first elements for the components from `at` on are read early, while the components before are solved for.
#define READ_FOR(at)                                                                                                   \
    {                                                                                                                  \
        own = b[min((at) + lane, n - 1) * b_row + min(vector, count - 1) * b_vector];                                  \
        _Pragma("unroll") for (int q = 0; q < ROWS / WARPS; ++q)                                                       \
            block[q] = ELEMENT((at) + lane, (at) + warp + q * WARPS);                                                  \
        _Pragma("unroll") for (int q = 0; q < AHEAD; ++q) left[q] = ELEMENT((at) + lane, warp * AHEAD + q);            \
    }
    READ_FOR(0)
    for (int at = 0; at < n; at += ROWS) {
        elem sum[SOON];
#pragma unroll
        for (int v = 0; v < SOON; ++v) sum[v] = make(0, 0);
        for (int k = warp * AHEAD; k < at; k += WARPS * AHEAD) {
            elem next[AHEAD];
#pragma unroll
            for (int q = 0; q < AHEAD; ++q) next[q] = ELEMENT(at + lane, k + WARPS * AHEAD + q);
#pragma unroll
            for (int q = 0; q < AHEAD; ++q) {
                const elem factor = conj_if(left[q], conj);
#pragma unroll
                for (int p = 0; p < SOON / PACK; ++p) {
                    const pack right = known[(k + q) * PACKS + p];
#pragma unroll
                    for (int e = 0; e < PACK; ++e) sum[p * PACK + e] = sum[p * PACK + e] + factor * right.of[e];
                }
            }
#pragma unroll
            for (int q = 0; q < AHEAD; ++q) left[q] = next[q];
        }
        // All warps have a part as soon as there are enough components.
        const int parted = min(at / AHEAD, WARPS);
        if (warp < parted) {
#pragma unroll
            for (int v = 0; v < SOON; ++v) parts[(warp * SOON + v) * ROWS + lane] = sum[v];
        }
#pragma unroll
        for (int q = 0; q < ROWS / WARPS; ++q) diagonal[(warp + q * WARPS) * ROWS + lane] = conj_if(block[q], conj);
        __syncthreads();
        elem y = own;
        for (int p = 0; p < parted; ++p) y = y - parts[(p * SOON + warp) * ROWS + lane];
        if (at + ROWS < n) READ_FOR(at + ROWS)
        const real inverse = is_unit ? 1 : 1 / re(diagonal[lane * ROWS + lane]);
#pragma unroll
        for (int j = 0; j < ROWS; ++j) {
            const elem scaled = times_real(y, inverse), found = from_lane(scaled, j);
            const elem rest = y - diagonal[j * ROWS + lane] * found;
            y = lane > j ? rest : lane == j ? scaled : y;
        }
        x[(at + lane) * PACKS * PACK + warp] = y;
        if (at + lane < n && vector < count) b[(at + lane) * b_row + vector * b_vector] = y;
        __syncthreads();
    }
#undef READ_FOR
#undef ELEMENT
}
