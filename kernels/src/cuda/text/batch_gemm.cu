// Batched products: C = alpha op(A) op(B) + beta C. Included after `batch.cu`. If beta is zero, C is not read; if alpha
// is zero, neither A nor B is.

// One product: op(A) is m x k, and op(B) is k x n.
struct product {
    view<const elem> a, b;
    view<elem> c;
    place m, n, k;
    elem alpha, beta;
    bool is_a_trans, is_b_trans, is_a_conj, is_b_conj;
};

// `op` has 1 for a transposed factor, and 2 for a conjugated one.
#define GEMM                                                                                                           \
    (int op_a, int op_b, elem alpha, OPERAND(const elem, a), OPERAND(const elem, b), elem beta, OPERAND(elem, c),      \
     int count)
#define ONE_PRODUCT(p)                                                                                                 \
    product one{PROBLEM(a, p), PROBLEM(b, p), PROBLEM(c, p), 0, 0, 0, alpha, beta, (op_a & 1) != 0, (op_b & 1) != 0,   \
                (op_a & 2) != 0, (op_b & 2) != 0};                                                                     \
    one.m = one.c.m;                                                                                                   \
    one.n = one.c.n;                                                                                                   \
    one.k = is_zero(alpha) ? 0 : one.is_a_trans ? one.a.m : one.a.n;

// Tiny products: a warp computes one, of at most 8 SIDE rows and columns, with factors that go from memory to registers
// directly. Its loads read 32 or 64 adjacent bytes of each column, which are whole sectors. AT_ONCE columns of A and
// rows of B are loaded before any of them is used.
template <int SIDE, int AT_ONCE> __device__ inline void multiply_tiny(const product &one) {
    const int lane = lane_of(), far = lane / 4, near = lane % 4;
    unit sums[SIDE][SIDE];
#pragma unroll
    for (int r = 0; r < SIDE; ++r)
#pragma unroll
        for (int c = 0; c < SIDE; ++c) sums[r][c].clear();
    const place a_row = one.is_a_trans ? one.a.ld : 1, a_column = one.is_a_trans ? 1 : one.a.ld,
                b_row = one.is_b_trans ? one.b.ld : 1, b_column = one.is_b_trans ? 1 : one.b.ld;
    const elem *a = one.a.a + far * a_row + near * a_column, *b = one.b.a + near * b_row + far * b_column;
    const int k = (int)one.k - near, m = (int)one.m - far, n = (int)one.n - far;
#pragma unroll 1
    for (int from = 0; from < one.k; from += AT_ONCE) {
        elem x[AT_ONCE / 4][SIDE], y[AT_ONCE / 4][SIDE];
#pragma unroll
        for (int p = 0; p < AT_ONCE / 4; ++p)
#pragma unroll
            for (int s = 0; s < SIDE; ++s) {
                const int at = from + p * 4;
                x[p][s] = at < k && s * 8 < m ? a[s * 8 * a_row + at * a_column] : make(0, 0);
                y[p][s] = at < k && s * 8 < n ? b[at * b_row + s * 8 * b_column] : make(0, 0);
            }
#pragma unroll
        for (int p = 0; p < AT_ONCE / 4; ++p)
#pragma unroll
            for (int r = 0; r < SIDE; ++r)
#pragma unroll
                for (int c = 0; c < SIDE; ++c)
                    multiply_add(sums[r][c], conj_if(x[p][r], one.is_a_conj), conj_if(y[p][c], one.is_b_conj));
    }
    elem *to = one.c.a + far + 2 * near * one.c.ld;
    const int columns = (int)one.n - 2 * near;
    elem old[SIDE][SIDE][2];
    if (!is_zero(one.beta)) {
#pragma unroll
        for (int r = 0; r < SIDE; ++r)
#pragma unroll
            for (int c = 0; c < SIDE; ++c)
#pragma unroll
                for (int e = 0; e < 2; ++e)
                    old[r][c][e] = r * 8 < m && c * 8 + e < columns
                        ? one.beta * to[r * 8 + (c * 8 + e) * one.c.ld] : make(0, 0);
    }
#pragma unroll
    for (int r = 0; r < SIDE; ++r)
#pragma unroll
        for (int c = 0; c < SIDE; ++c)
#pragma unroll
            for (int e = 0; e < 2; ++e)
                if (r * 8 < m && c * 8 + e < columns) {
                    const elem sum = one.alpha * sums[r][c].get(e);
                    to[r * 8 + (c * 8 + e) * one.c.ld] = is_zero(one.beta) ? sum : sum + old[r][c][e];
                }
}

#define TINY_THREADS 128
#define TINY_GEMM(name, side, at_once)                                                                                 \
    KERNEL(TINY_THREADS) name GEMM {                                                                                   \
        const place p = (place)blockIdx.x * (TINY_THREADS / 32) + warp_of();                                           \
        if (p >= count) return;                                                                                        \
        ONE_PRODUCT(p)                                                                                                 \
        multiply_tiny<side, at_once>(one);                                                                             \
    }

// Copies a tile of FAST rows and SLOW columns to shared memory, where columns are PITCH apart. What is beyond the
// matrix becomes zeros.
template <int FAST, int SLOW, int PITCH, int EACH, int THREADS>
__device__ inline void fetch_tile(elem *to, const elem *from, place ld, int rows, int columns) {
    constexpr int ACROSS = FAST / EACH, STEP = THREADS / ACROSS;
    static_assert(THREADS % ACROSS == 0 && SLOW % STEP == 0, "the threads of a tile must have equal work");
    const int i = threadIdx.x % ACROSS * EACH, j = threadIdx.x / ACROSS;
    const int bytes = max(min(rows - i, EACH), 0) * (int)sizeof(elem);
    const elem *at = from + i + j * ld;
    to += i + j * PITCH;
#pragma unroll
    for (int q = 0; q < SLOW / STEP; ++q) {
        const bool is_there = bytes > 0 && j + q * STEP < columns;
        fetch<EACH * (int)sizeof(elem)>(to + q * STEP * PITCH, is_there ? at : from, is_there ? bytes : 0);
        at += STEP * ld;
    }
}

// A factor's tile in shared memory: OUT rows or columns of the product, and DEEP products. A warp reads 8 x 4 elements
// without a bank conflict.
template <int OUT, int DEEP, bool IS_DEEP_FAST> struct factor_tile {
    static constexpr int FAST = IS_DEEP_FAST ? DEEP : OUT, SLOW = IS_DEEP_FAST ? OUT : DEEP;
#if DOUBLE
    static constexpr int PITCH = FAST + (COMPLEX && !IS_DEEP_FAST ? 2 : 4);
#else
    static constexpr int PITCH = FAST + PACK;
#endif
    static constexpr int SIZE = (PITCH * SLOW + PACK - 1) / PACK * PACK, EACH = PITCH % PACK == 0 ? PACK : 1;
    __device__ static constexpr int at(int out, int deep) {
        return IS_DEEP_FAST ? deep + out * PITCH : out + deep * PITCH;
    }
    // Fetches from row or column `out` of the factor on, and from `deep` on; `outs` and `deeps` are left there.
    template <int THREADS>
    __device__ static void fetch_from(elem *to, const elem *from, place ld, int outs, int deeps, bool by_packs) {
        const int rows = IS_DEEP_FAST ? deeps : outs, columns = IS_DEEP_FAST ? outs : deeps;
        if (EACH > 1 && by_packs)
            fetch_tile<FAST, SLOW, PITCH, EACH, THREADS>(to, from, ld, rows, columns);
        else
            fetch_tile<FAST, SLOW, PITCH, 1, THREADS>(to, from, ld, rows, columns);
    }
};

// A warp loads factors for 4 UNIT_PARTS products at a time.
#ifndef UNIT_PARTS
#define UNIT_PARTS (COMPLEX ? 2 : 4)
#endif

// N elements, N <= PACK, that are loaded at once.
template <int N> struct __align__(N * sizeof(elem)) few {
    elem of[N];
};

// The sums of a warp: ROWS x COLUMNS, of products of tiles of these kinds.
template <int ROWS, int COLUMNS, bool IS_A_DEEP_FAST, bool IS_B_DEEP_FAST> struct warp_sums {
#if HAS_UNITS
    unit sums[ROWS / 8][COLUMNS / 8];
    static constexpr int GROUPS = COLUMNS / 8, GROUP = ROWS / 8 * 2;
#else
    // Lane i has every eighth row from i % 8 on, and every fourth column from i / 8 on; or several adjacent ones
    // instead, if these are adjacent in memory.
    static constexpr int ITS_ROWS = ROWS / 8, ITS_COLUMNS = COLUMNS / 4;
    static constexpr int A_EACH = IS_A_DEEP_FAST ? 1 : ITS_ROWS < PACK ? ITS_ROWS : PACK,
                         B_EACH = IS_B_DEEP_FAST ? 1 : ITS_COLUMNS < PACK ? ITS_COLUMNS : PACK;
    elem sums[ITS_ROWS][ITS_COLUMNS];
    static constexpr int GROUPS = ITS_COLUMNS, GROUP = ITS_ROWS;

    // Loads elements p .. p + PACK of the factor's rows or columns of this lane.
    template <class T, int COUNT, int EACH, int LANES, bool IS_DEEP_FAST>
    __device__ static void load(const elem *from, int p, bool is_conj, elem (&x)[COUNT][PACK]) {
#pragma unroll
        for (int i = 0; i < (IS_DEEP_FAST ? COUNT : COUNT / EACH * PACK); ++i) {
            if constexpr (IS_DEEP_FAST) {
                const few<PACK> y = *(const few<PACK> *)(from + T::at(i * LANES, p));
#pragma unroll
                for (int e = 0; e < PACK; ++e) x[i][e] = conj_if(y.of[e], is_conj);
            } else {
                const int q = i % PACK, k = i / PACK * EACH;
                const few<EACH> y = *(const few<EACH> *)(from + T::at(k * LANES, p + q));
#pragma unroll
                for (int e = 0; e < EACH; ++e) x[k + e][q] = conj_if(y.of[e], is_conj);
            }
        }
    }
#endif

    __device__ void clear() {
        each([](int, int, elem &sum) { sum = make(0, 0); });
    }

    // Adds the product of tiles in shared memory, from row and column 0 of the warp's part on.
    template <class A, class B, int DEEP, int PARTS = UNIT_PARTS>
    __device__ void add(const elem *a, const elem *b, bool is_a_conj, bool is_b_conj) {
        const int lane = lane_of();
#if HAS_UNITS
        a += A::at(lane / 4, lane % 4);
        b += B::at(lane / 4, lane % 4);
#pragma unroll
        for (int p = 0; p < DEEP; p += 4 * PARTS) {
            elem x[ROWS / 8][PARTS], y[COLUMNS / 8][PARTS];
#pragma unroll
            for (int s = 0; s < PARTS; ++s) {
#pragma unroll
                for (int r = 0; r < ROWS / 8; ++r) x[r][s] = conj_if(a[A::at(r * 8, p + 4 * s)], is_a_conj);
#pragma unroll
                for (int c = 0; c < COLUMNS / 8; ++c) y[c][s] = conj_if(b[B::at(c * 8, p + 4 * s)], is_b_conj);
            }
#pragma unroll
            for (int r = 0; r < ROWS / 8; r += 2)
#pragma unroll
                for (int c = 0; c < COLUMNS / 8; ++c)
                    multiply_add_two(sums[r][c], sums[r + 1][c], x[r], x[r + 1], y[c]);
        }
#else
        a += A::at(lane % 8 * A_EACH, 0);
        b += B::at(lane / 8 * B_EACH, 0);
#pragma unroll(DEEP / PACK > 4 ? 4 : DEEP / PACK)
        for (int p = 0; p < DEEP; p += PACK) {
            elem x[ITS_ROWS][PACK], y[ITS_COLUMNS][PACK];
            load<A, ITS_ROWS, A_EACH, 8, IS_A_DEEP_FAST>(a, p, is_a_conj, x);
            load<B, ITS_COLUMNS, B_EACH, 4, IS_B_DEEP_FAST>(b, p, is_b_conj, y);
#pragma unroll
            for (int e = 0; e < PACK; ++e)
#pragma unroll
                for (int r = 0; r < ITS_ROWS; ++r)
#pragma unroll
                    for (int c = 0; c < ITS_COLUMNS; ++c) sums[r][c] = fused(x[r][e], y[c][e], sums[r][c]);
        }
#endif
    }

    // Calls `use` with the row, the column and the sum of some elements of this lane: GROUPS groups of GROUP elements.
    template <class F> __device__ void each_of(int group, F use) {
        const int lane = lane_of();
#pragma unroll
        for (int at = 0; at < GROUP; ++at) {
#if HAS_UNITS
            unit &its = sums[at % (ROWS / 8)][group];
            const int e = at / (ROWS / 8);
            elem sum = its.get(e);
            use(at, at % (ROWS / 8) * 8 + lane / 4, group * 8 + lane % 4 * 2 + e, sum);
            its.set(e, sum);
#else
            const int row = at / A_EACH * A_EACH * 8 + lane % 8 * A_EACH + at % A_EACH,
                      column = group / B_EACH * B_EACH * 4 + lane / 8 * B_EACH + group % B_EACH;
            use(at, row, column, sums[at][group]);
#endif
        }
    }
    template <class F> __device__ void each(F use) {
#pragma unroll
        for (int group = 0; group < GROUPS; ++group)
            each_of(group, [&](int, int i, int j, elem &sum) { use(i, j, sum); });
    }

    // Stores a group's sums; adjacent rows at once, if possible.
    __device__ void store(int group, elem *to, place ld, int rows, int columns) {
#if HAS_UNITS
        each_of(group, [&](int, int i, int j, elem &sum) {
            if (i < rows && j < columns) to[i + j * ld] = sum;
        });
#else
        const unsigned long long address = (unsigned long long)to, distance = (unsigned long long)ld * sizeof(elem);
        const bool is_aligned = ((address | distance) & (A_EACH * sizeof(elem) - 1)) == 0;
        few<A_EACH> some;
        each_of(group, [&](int at, int i, int j, elem &sum) {
            some.of[at % A_EACH] = sum;
            if (at % A_EACH != A_EACH - 1 || j >= columns) return;
            elem *first = to + i - (A_EACH - 1) + j * ld;
            if (is_aligned && i < rows) {
                *(few<A_EACH> *)first = some;
            } else {
#pragma unroll
                for (int e = 0; e < A_EACH; ++e)
                    if (i - (A_EACH - 1) + e < rows) first[e] = some.of[e];
            }
        });
#endif
    }
};

// A product by tiles: a block of threads computes ROWS x COLUMNS elements of C, and each of its DOWN x ACROSS warps a
// part of them. The factors go through shared memory, in STAGES tiles of each.
template <int ROWS, int COLUMNS, int DEEP, int STAGES, int DOWN, int ACROSS, bool IS_A_TRANS, bool IS_B_TRANS>
struct tiled {
    static constexpr int THREADS = DOWN * ACROSS * 32, WARP_ROWS = ROWS / DOWN, WARP_COLUMNS = COLUMNS / ACROSS;
    typedef factor_tile<ROWS, DEEP, IS_A_TRANS> A;
    typedef factor_tile<COLUMNS, DEEP, !IS_B_TRANS> B;
    static constexpr int SIZE = A::SIZE + B::SIZE;
    typedef warp_sums<WARP_ROWS, WARP_COLUMNS, IS_A_TRANS, !IS_B_TRANS> sums_type;

    // Adds op(A) op(B), whose factors begin at `a` and `b`, and have these rows, columns and products.
    __device__ static void add(sums_type &sums, const elem *a, place lda, const elem *b, place ldb, int rows,
                               int columns, int k, bool is_a_conj, bool is_b_conj) {
        DYNAMIC_SHARED(elem, memory);
        const bool a_packs = has_packs(a, lda), b_packs = has_packs(b, ldb);
        const int steps = (k + DEEP - 1) / DEEP, at_row = warp_of() % DOWN * WARP_ROWS,
                  at_column = warp_of() / DOWN * WARP_COLUMNS;
        const place a_step = IS_A_TRANS ? DEEP : DEEP * lda, b_step = IS_B_TRANS ? DEEP * ldb : DEEP;
        auto fetch_step = [&](int step) {
            if (step < steps) {
                elem *to = memory + step % STAGES * SIZE;
                const int left = k - step * DEEP;
                A::template fetch_from<THREADS>(to, a + step * a_step, lda, rows, left, a_packs);
                B::template fetch_from<THREADS>(to + A::SIZE, b + step * b_step, ldb, columns, left, b_packs);
            }
            end_fetches();
        };
#pragma unroll
        for (int step = 0; step < STAGES - 1; ++step) fetch_step(step);
#pragma unroll 1
        for (int step = 0; step < steps; ++step) {
            wait_for_fetches<STAGES - 2>();
            __syncthreads();
            fetch_step(step + STAGES - 1);
            const elem *from = memory + step % STAGES * SIZE;
            sums.template add<A, B, DEEP>(from + A::at(at_row, 0), from + A::SIZE + B::at(at_column, 0), is_a_conj,
                                          is_b_conj);
        }
    }

    __device__ static void run(const product &one, place tile) {
        const place down = up_to(one.m, ROWS);
        if (down == 0 || tile / down * COLUMNS >= one.n) return;
        const place row = tile % down * ROWS, column = tile / down * COLUMNS;
        sums_type sums;
        sums.clear();
        add(sums, one.a.a + (IS_A_TRANS ? row * one.a.ld : row), one.a.ld,
            one.b.a + (IS_B_TRANS ? column : column * one.b.ld), one.b.ld, (int)least_of(one.m - row, ROWS),
            (int)least_of(one.n - column, COLUMNS), (int)one.k, one.is_a_conj, one.is_b_conj);
        const int at_row = warp_of() % DOWN * WARP_ROWS, at_column = warp_of() / DOWN * WARP_COLUMNS;
        const int rows = (int)least_of(one.m - row - at_row, WARP_ROWS),
                  columns = (int)least_of(one.n - column - at_column, WARP_COLUMNS);
        elem *to = one.c.a + row + at_row + (column + at_column) * one.c.ld;
        // The elements of a group are all read before any is written.
#pragma unroll
        for (int group = 0; group < sums_type::GROUPS; ++group) {
            elem old[sums_type::GROUP];
            sums.each_of(group, [&](int at, int i, int j, elem &) {
                old[at] = !is_zero(one.beta) && i < rows && j < columns ? one.beta * to[i + j * one.c.ld] : make(0, 0);
            });
            sums.each_of(group, [&](int at, int, int, elem &sum) {
                sum = is_zero(one.beta) ? one.alpha * sum : one.alpha * sum + old[at];
            });
            sums.store(group, to, one.c.ld, rows, columns);
        }
    }
};

// With a list, block b has tile list[2 b + 1] of problem list[2 b]; then no block of a batch with variable sizes is
// without work. Otherwise there are as many blocks for each problem as the largest needs.
#define TILED_GEMM(name, rows, columns, deep, stages, down, across, resident, is_a_trans, is_b_trans)                  \
    KERNEL((down) * (across) * 32, resident) name(                                                                     \
        int op_a, int op_b, elem alpha, OPERAND(const elem, a), OPERAND(const elem, b), elem beta, OPERAND(elem, c),   \
        int count, const int *list) {                                                                                  \
        typedef tiled<rows, columns, deep, stages, down, across, is_a_trans, is_b_trans> work;                         \
        const int tiles = (int)(up_to(c_m, rows) * up_to(c_n, columns));                                               \
        const place p = list != nullptr ? list[2 * (place)blockIdx.x] : blockIdx.x / tiles;                            \
        ONE_PRODUCT(p)                                                                                                 \
        work::run(one, list != nullptr ? list[2 * (place)blockIdx.x + 1] : blockIdx.x % tiles);                        \
    }
#define TILED_GEMMS(name, rows, columns, deep, stages, down, across, resident)                                         \
    TILED_GEMM(name##_nn, rows, columns, deep, stages, down, across, resident, false, false)                           \
    TILED_GEMM(name##_nt, rows, columns, deep, stages, down, across, resident, false, true)                            \
    TILED_GEMM(name##_tn, rows, columns, deep, stages, down, across, resident, true, false)                            \
    TILED_GEMM(name##_tt, rows, columns, deep, stages, down, across, resident, true, true)
