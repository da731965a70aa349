// Batched products with vectors: y = alpha op(A) x + beta y. Included after `batch.cu`. If beta is zero, y is not read;
// if alpha is zero, neither A nor x is.

// One product. m and n are the rows and columns of A.
struct vector_product {
    const elem *a, *x;
    elem *y;
    place m, n, ld;
    elem alpha, beta;
    bool is_conj;

    __device__ void put(place i, elem sum) const {
        y[i] = is_zero(beta) ? alpha * sum : alpha * sum + beta * y[i];
    }
    __device__ elem product(elem a, elem x, elem sum) const { return fused(conj_if(a, is_conj), x, sum); }
};

#define GEMV                                                                                                           \
    (int op, elem alpha, OPERAND(const elem, a), OPERAND(const elem, x), elem beta, OPERAND(elem, y), int count)
#define ONE_VECTOR_PRODUCT(p)                                                                                          \
    const view<const elem> its_a = PROBLEM(a, p);                                                                      \
    const view<elem> its_y = PROBLEM(y, p);                                                                            \
    const vector_product one{its_a.a, PROBLEM(x, p).a, its_y.a, its_a.m, its_a.n, its_a.ld,                            \
                             alpha,   beta,            (op & 2) != 0};                                                 \
    /* A column may be missing. */                                                                                     \
    if (its_y.n == 0) return;                                                                                          \
    const bool has_factors = !is_zero(alpha);

// Tiny matrices: a warp has one. Its lanes have LANES rows of several columns.
template <int LANES> __device__ inline void multiply_tiny(const vector_product &one, place n) {
    constexpr int ACROSS = 32 / LANES, READS = 8;
    const int r = lane_of() % LANES, q = lane_of() / LANES;
    for (place first = 0; first < one.m; first += LANES) {
        const place i = first + r;
        elem sum = make(0, 0);
        for (place j = q; j < n + q; j += READS * ACROSS) {
            elem a[READS], x[READS];
#pragma unroll
            for (int s = 0; s < READS; ++s) {
                const bool is_there = i < one.m && j + s * ACROSS < n;
                a[s] = is_there ? one.a[i + (j + s * ACROSS) * one.ld] : make(0, 0);
                x[s] = is_there ? one.x[j + s * ACROSS] : make(0, 0);
            }
#pragma unroll
            for (int s = 0; s < READS; ++s) sum = one.product(a[s], x[s], sum);
        }
        sum = sum_over(sum, 32, LANES);
        if (q == 0 && i < one.m) one.put(i, sum);
    }
}

template <int LANES> __device__ inline void multiply_tiny_trans(const vector_product &one, place m) {
    constexpr int ACROSS = 32 / LANES, READS = 8;
    const int r = lane_of() % LANES, q = lane_of() / LANES;
    for (place first = 0; first < one.n; first += READS * ACROSS) {
        elem sums[READS];
#pragma unroll
        for (int s = 0; s < READS; ++s) sums[s] = make(0, 0);
        for (place i = r; i < m; i += LANES) {
            const elem x = one.x[i];
            elem a[READS];
#pragma unroll
            for (int s = 0; s < READS; ++s) {
                const place j = first + q + s * ACROSS;
                a[s] = j < one.n ? one.a[i + j * one.ld] : make(0, 0);
            }
#pragma unroll
            for (int s = 0; s < READS; ++s) sums[s] = one.product(a[s], x, sums[s]);
        }
#pragma unroll
        for (int s = 0; s < READS; ++s) {
            const place j = first + q + s * ACROSS;
            const elem sum = sum_over(sums[s], LANES);
            if (r == 0 && j < one.n) one.put(j, sum);
        }
    }
}

#define GEMV_THREADS 128
#define GEMV_WARPS (GEMV_THREADS / 32)
#define TINY_GEMV(lanes)                                                                                               \
    KERNEL(GEMV_THREADS) gemv_n_tiny_##lanes GEMV {                                                                    \
        const place p = (place)blockIdx.x * GEMV_WARPS + warp_of();                                                    \
        if (p >= count) return;                                                                                        \
        ONE_VECTOR_PRODUCT(p)                                                                                          \
        multiply_tiny<lanes>(one, has_factors ? one.n : 0);                                                            \
    }                                                                                                                  \
    KERNEL(GEMV_THREADS) gemv_t_tiny_##lanes GEMV {                                                                    \
        const place p = (place)blockIdx.x * GEMV_WARPS + warp_of();                                                    \
        if (p >= count) return;                                                                                        \
        ONE_VECTOR_PRODUCT(p)                                                                                          \
        multiply_tiny_trans<lanes>(one, has_factors ? one.m : 0);                                                      \
    }
TINY_GEMV(8)
TINY_GEMV(16)
TINY_GEMV(32)

// A block of threads has DOWN packs of rows, and all columns: GEMV_THREADS / DOWN groups of threads take turns.
template <int DOWN> __device__ inline void multiply_rows(const vector_product &one, place first, place n) {
    constexpr int GROUPS = GEMV_THREADS / DOWN, READS = 8;
    const int group = threadIdx.x / DOWN, down = threadIdx.x % DOWN;
    const place i = first + down * PACK, left = one.m - i;
    const bool by_packs = has_packs(one.a, one.ld);
    elem sums[PACK];
#pragma unroll
    for (int e = 0; e < PACK; ++e) sums[e] = make(0, 0);
    if (left > 0) {
        const elem *a = one.a + i + group * one.ld, *x = one.x + group;
        const int there = (int)least_of(left, PACK);
        place j = group;
        if (by_packs && there == PACK) {
#pragma unroll 1
            for (; j + (READS - 1) * GROUPS < n; j += READS * GROUPS) {
                pack y[READS];
                elem by[READS];
#pragma unroll
                for (int s = 0; s < READS; ++s) y[s] = *(const pack *)(a + s * GROUPS * one.ld);
#pragma unroll
                for (int s = 0; s < READS; ++s) by[s] = x[s * GROUPS];
#pragma unroll
                for (int s = 0; s < READS; ++s)
#pragma unroll
                    for (int e = 0; e < PACK; ++e) sums[e] = one.product(y[s].of[e], by[s], sums[e]);
                a += READS * GROUPS * one.ld;
                x += READS * GROUPS;
            }
        }
#pragma unroll 4
        for (; j < n; j += GROUPS, a += GROUPS * one.ld, x += GROUPS) {
            const pack y = read_pack(a, there, by_packs);
#pragma unroll
            for (int e = 0; e < PACK; ++e) sums[e] = one.product(y.of[e], *x, sums[e]);
        }
    }
    __shared__ elem parts[GROUPS][DOWN * PACK];
#pragma unroll
    for (int e = 0; e < PACK; ++e) parts[group][down * PACK + e] = sums[e];
    __syncthreads();
    for (int r = threadIdx.x; r < DOWN * PACK && first + r < one.m; r += GEMV_THREADS) {
        elem sum = parts[0][r];
#pragma unroll
        for (int g = 1; g < GROUPS; ++g) sum = sum + parts[g][r];
        one.put(first + r, sum);
    }
}

// A block of threads has some columns; a warp has four at a time.
#define GEMV_COLUMNS 32
__device__ inline void multiply_columns(const vector_product &one, place first, place m) {
    const int lane = lane_of();
    const bool by_packs = has_packs(one.a, one.ld), x_packs = has_packs(one.x, 0);
    const place end = least_of(first + GEMV_COLUMNS, one.n);
#pragma unroll 1
    for (place column = first + warp_of() * 4; column < end; column += GEMV_WARPS * 4) {
        elem sums[4];
        const elem *a[4];
#pragma unroll
        for (int c = 0; c < 4; ++c) {
            sums[c] = make(0, 0);
            a[c] = one.a + least_of(column + c, one.n - 1) * one.ld;
        }
        place i = lane * PACK;
        constexpr int HALF = 32 * PACK;
        if (by_packs && x_packs) {
#pragma unroll 1
            for (; i + HALF + PACK <= m; i += 2 * HALF) {
                pack y[2][4], x[2];
#pragma unroll
                for (int h = 0; h < 2; ++h)
#pragma unroll
                    for (int c = 0; c < 4; ++c) y[h][c] = *(const pack *)(a[c] + i + h * HALF);
#pragma unroll
                for (int h = 0; h < 2; ++h) x[h] = *(const pack *)(one.x + i + h * HALF);
#pragma unroll
                for (int h = 0; h < 2; ++h)
#pragma unroll
                    for (int c = 0; c < 4; ++c)
#pragma unroll
                        for (int e = 0; e < PACK; ++e) sums[c] = one.product(y[h][c].of[e], x[h].of[e], sums[c]);
            }
        }
#pragma unroll 2
        for (; i < m; i += HALF) {
            const int there = (int)least_of(m - i, PACK);
            const pack x = read_pack(one.x + i, there, x_packs);
            pack y[4];
#pragma unroll
            for (int c = 0; c < 4; ++c) y[c] = read_pack(a[c] + i, there, by_packs);
#pragma unroll
            for (int c = 0; c < 4; ++c)
#pragma unroll
                for (int e = 0; e < PACK; ++e) sums[c] = one.product(y[c].of[e], x.of[e], sums[c]);
        }
        const elem sum = sum_four(sums);
        if (lane % 8 == 0 && column + lane / 8 < one.n) one.put(column + lane / 8, sum);
    }
}

// The packs of rows of a block.
#define GEMV_DOWN 16
KERNEL(GEMV_THREADS) gemv_n GEMV {
    const int parts = (int)up_to(a_m, GEMV_DOWN * PACK);
    ONE_VECTOR_PRODUCT(blockIdx.x / parts)
    const place first = (place)(blockIdx.x % parts) * GEMV_DOWN * PACK;
    if (first < one.m) multiply_rows<GEMV_DOWN>(one, first, has_factors ? one.n : 0);
}

KERNEL(GEMV_THREADS) gemv_t GEMV {
    const int parts = (int)up_to(a_n, GEMV_COLUMNS);
    ONE_VECTOR_PRODUCT(blockIdx.x / parts)
    const place first = (place)(blockIdx.x % parts) * GEMV_COLUMNS;
    if (first < one.n) multiply_columns(one, first, has_factors ? one.m : 0);
}
