// C := alpha A B + beta C, or one triangle of it, for factors with any strides, which are not packed. See
// `DIRECT_SIGNATURE` in `product_text` for its arguments; `FORMS` comes before. A work-group
// computes a tile of TILE x TILE, and reads the next STEPS columns of A and rows of B into registers while it
// multiplies. Required definitions: LANES, SIDE (the square root of LANES), EACH (rows and columns of a work-item), and
// STEPS.

#define TILE (SIDE * EACH)
// Elements of a block of a factor that a work-item reads.
#define READS ((TILE * STEPS + LANES - 1) / LANES)
// A padded row of a block in local memory.
#define ROW (TILE + 1)

// A block of a factor: `rows` rows or columns of the result from `first` on, at a stride, by steps at another stride.
typedef struct {
    __global const elem *from;
    long stride, step_stride;
    int first, rows, form;
} Factor;

// Which row and step of a block is read by the work-item's read `at`: adjacent work-items read adjacent elements.
inline int row_of(int at, Factor f) { return f.stride == 1 ? at % TILE : at / STEPS; }
inline int step_of(int at, Factor f) { return f.stride == 1 ? at / TILE : at % STEPS; }

// Reads the steps from `first`, of k, with zeros around the factor.
inline void fetch(elem *to, Factor f, int first, int k) {
#pragma unroll
    for (int r = 0; r < READS; ++r) {
        const int at = get_local_id(0) + r * LANES, i = row_of(at, f), p = step_of(at, f) + first;
        const int is_inside = at < TILE * STEPS && i < f.rows && p < k;
        elem x = make(is_inside && is_one(f.first + i, p, f.form), 0);
        if (is_inside && is_stored(f.first + i, p, f.form)) x = f.from[i * f.stride + p * f.step_stride];
        to[r] = x;
    }
}

inline void put(const elem *from, __local elem *to, Factor f) {
#pragma unroll
    for (int r = 0; r < READS; ++r) {
        const int at = get_local_id(0) + r * LANES;
        if (at < TILE * STEPS) to[step_of(at, f) * ROW + row_of(at, f)] = conj_if(from[r], is_conjugated(f.form));
    }
}

__kernel GROUP(LANES) void gemm_direct(__global real *restrict heap, ulong a_at, long a_rs, long a_cs, int a_form,
                                        ulong b_at, long b_rs, long b_cs, int b_form, ulong c_at, ulong ld, int m,
                                        int n, int k, int part, int is_hermitian, elem alpha, elem beta, int slice,
                                        ulong apart) {
    __local elem a_own[STEPS * ROW];
    __local elem b_own[STEPS * ROW];
    const int across = (n + TILE - 1) / TILE, turn = get_group_id(1) / across;
    const int i_first = get_group_id(0) * TILE, j_first = get_group_id(1) % across * TILE;
    const int k_first = turn * slice, k_end = min(k, k_first + slice);
    const int row = get_local_id(0) % SIDE, column = get_local_id(0) / SIDE;
    if (is_outside(part, i_first, min(i_first + TILE, m), j_first, min(j_first + TILE, n))) return;
    __global elem *whole = (__global elem *)heap;
    const Factor a = {whole + a_at + i_first * a_rs, a_rs, a_cs, i_first, m - i_first, a_form};
    const Factor b = {whole + b_at + j_first * b_cs, b_cs, b_rs, j_first, n - j_first, b_form};
    elem sum[EACH][EACH], a_next[READS], b_next[READS];
#pragma unroll
    for (int u = 0; u < EACH; ++u)
#pragma unroll
        for (int v = 0; v < EACH; ++v) sum[u][v] = make(0, 0);
    fetch(a_next, a, k_first, k_end);
    fetch(b_next, b, k_first, k_end);
    for (int first = k_first; first < k_end; first += STEPS) {
        put(a_next, a_own, a);
        put(b_next, b_own, b);
        barrier(CLK_LOCAL_MEM_FENCE);
        fetch(a_next, a, first + STEPS, k_end);
        fetch(b_next, b, first + STEPS, k_end);
#pragma unroll
        for (int p = 0; p < STEPS; ++p) {
            elem x[EACH];
#pragma unroll
            for (int u = 0; u < EACH; ++u) x[u] = a_own[p * ROW + row + u * SIDE];
#pragma unroll
            for (int v = 0; v < EACH; ++v) {
                const elem y = b_own[p * ROW + column + v * SIDE];
#pragma unroll
                for (int u = 0; u < EACH; ++u) sum[u][v] += times(x[u], y);
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    __global elem *c = whole + c_at + turn * apart;
#pragma unroll
    for (int v = 0; v < EACH; ++v)
#pragma unroll
        for (int u = 0; u < EACH; ++u) {
            const int i = i_first + row + u * SIDE, j = j_first + column + v * SIDE;
            if (i < m && j < n && is_inside(part, i, j))
                update(c + j * ld + i, sum[u][v], alpha, beta, is_hermitian && i == j);
        }
}
