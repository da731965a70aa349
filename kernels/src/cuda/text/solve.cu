// The solve with a triangle, after a Cholesky factorization or for LU. Included after `factor.cu`. Required
// definitions: SOLVED and MANY, the vectors that a block of threads solves for; UNIT_ORDER, which is 8.

// A block of threads solves for VECTORS vectors; each thread has the components c, c + SIDE, ... of the vectors i, i +
// SIDE, ...
#define SIDE 16
#define ITS_COMPONENTS (ORDER / SIDE)
#define AT_ONCE (STEP / SIDE)

// Solves L x = b for one vector, whose components from `at` on are in x.
__device__ inline void solve_one(elem *x, int stride, const elem *l, int pitch, int at, const real *inverses) {
    // By halves, for which there are enough registers.
#pragma unroll 1
    for (int half = 0; half < STEP; half += STEP / 2) {
        elem y[STEP / 2];
        const elem *rows = l + at + half;
#pragma unroll
        for (int c = 0; c < STEP / 2; ++c) y[c] = x[(half + c) * stride];
#pragma unroll 4
        for (int p = 0; p < half; ++p) {
            const elem known = x[p * stride];
#pragma unroll
            for (int c = 0; c < STEP / 2; ++c) y[c] = y[c] - known * rows[c + (at + p) * pitch];
        }
#pragma unroll
        for (int j = 0; j < STEP / 2; ++j) {
            y[j] = times_real(y[j], inverses[at + half + j]);
            x[(half + j) * stride] = y[j];
#pragma unroll
            for (int c = j + 1; c < STEP / 2; ++c) y[c] = y[c] - y[j] * rows[c + (at + half + j) * pitch];
        }
    }
}

// Solves L x = b for `count` vectors b, which are rows or columns of B and are replaced by x. L is lower triangular, of
// order n <= ORDER. Its element (c, p) is that of A, or of A's transpose, conjugated or not; its diagonal is real, or
// not read and taken as ones. Shared memory holds L, of n rounded up to a multiple of STEP, (order + 1) * order
// elements, and STEP components of all vectors, (VECTORS + 1) * STEP.
template <int VECTORS>
__device__ inline void solve_for(const elem *__restrict__ a, place lda, int n, int is_trans, int conj, int is_unit,
                                 elem *b, place ldb, place count, int by_rows) {
    constexpr int ITS_VECTORS = VECTORS / SIDE;
    DYNAMIC_SHARED(elem, memory);
    elem *l = memory;
    __shared__ real inverses[ORDER];
    const int order = (n + STEP - 1) / STEP * STEP, pitch = order + 1, lane = threadIdx.x % 32;
    elem *known = l + order * pitch;
    // Adjacent threads read adjacent elements.
    const int fast = threadIdx.x % SIDE, slow = threadIdx.x / SIDE, c = by_rows ? slow : fast,
              i = by_rows ? fast : slow;
    const place first = (place)blockIdx.x * VECTORS;
#define B(r, q)                                                                                                        \
    b[by_rows ? first + i + (r) * SIDE + (c + (q) * SIDE) * ldb                                                        \
              : c + (q) * SIDE + (first + i + (r) * SIDE) * ldb]
    elem x[ITS_VECTORS][ITS_COMPONENTS];
#pragma unroll
    for (int q = 0; q < ITS_COMPONENTS; ++q)
#pragma unroll
        for (int r = 0; r < ITS_VECTORS; ++r)
            x[r][q] = c + q * SIDE < n && first + i + r * SIDE < count ? B(r, q) : make(0, 0);
    for (int high = threadIdx.x / 32; high < order; high += WARPS * READS)
        for (int low = lane; low < order; low += 32) {
            elem y[READS];
#pragma unroll
            for (int k = 0; k < READS; ++k) {
                const int at = high + k * WARPS, row = is_trans ? at : low, column = is_trans ? low : at;
                y[k] = row < n && (row > column || (row == column && !is_unit))
                    ? a[low + at * lda] : make(row == column ? 1 : 0, 0);
            }
#pragma unroll
            for (int k = 0; k < READS; ++k) {
                const int at = high + k * WARPS, row = is_trans ? at : low, column = is_trans ? low : at;
                if (at < order) l[row + column * pitch] = conj_if(y[k], conj);
                if (row == column) inverses[row] = 1 / re(y[k]);
            }
        }
    __syncthreads();
#pragma unroll
    for (int s = 0; s < ORDER / STEP; ++s) {
        const int at = s * STEP;
        if (at >= n) break;
#pragma unroll
        for (int q = 0; q < AT_ONCE; ++q)
#pragma unroll
            for (int r = 0; r < ITS_VECTORS; ++r)
                known[i + r * SIDE + (c + q * SIDE) * (VECTORS + 1)] = x[r][s * AT_ONCE + q];
        __syncthreads();
        if (threadIdx.x < VECTORS) solve_one(known + threadIdx.x, VECTORS + 1, l, pitch, at, inverses);
        __syncthreads();
#pragma unroll
        for (int q = 0; q < AT_ONCE; ++q)
#pragma unroll
            for (int r = 0; r < ITS_VECTORS; ++r)
                if (c + at + q * SIDE < n && first + i + r * SIDE < count)
                    B(r, s * AT_ONCE + q) = known[i + r * SIDE + (c + q * SIDE) * (VECTORS + 1)];
        if (at + STEP >= n) break;
#pragma unroll 4
        for (int p = 0; p < STEP; ++p) {
            elem left[ITS_VECTORS];
#pragma unroll
            for (int r = 0; r < ITS_VECTORS; ++r) left[r] = known[i + r * SIDE + p * (VECTORS + 1)];
#pragma unroll
            for (int q = (s + 1) * AT_ONCE; q < ITS_COMPONENTS; ++q) {
                // Threads without a component read the last one.
                const elem right = l[min(c + q * SIDE, order - 1) + (at + p) * pitch];
#pragma unroll
                for (int r = 0; r < ITS_VECTORS; ++r) x[r][q] = x[r][q] - left[r] * right;
            }
        }
        __syncthreads();
    }
}

#if HAS_UNITS || !(DOUBLE || COMPLEX)
// A warp solves for 8 vectors by itself, in blocks of 8 components. Each block of components is multiplied by the
// inverse of its block on the diagonal, and its products are subtracted from the components that follow.

// Computes the inverse of a block on the diagonal; each of eight threads computes a column. Element (i, j) of L is at i
// l_row + j l_column, and that of the inverse in the same way.
__device__ inline void invert(const real *l, int l_row, int l_column, int n, bool is_unit, real *inverse, int row,
                              int column) {
    const int j = threadIdx.x % UNIT_ORDER, rank = threadIdx.x % 32 / UNIT_ORDER * UNIT_ORDER;
    const real own = is_unit || j >= n ? 1 : 1 / l[j * (l_row + l_column)];
    real y[UNIT_ORDER];
#pragma unroll
    for (int i = 0; i < UNIT_ORDER; ++i) {
        y[i] = i == j;
#pragma unroll
        for (int k = 0; k < i; ++k) y[i] = y[i] - (k >= j ? l[i * l_row + k * l_column] * y[k] : 0);
        const real by = __shfl_sync(ALL, own, rank + i);
        y[i] = i < j ? 0 : y[i] * by;
        inverse[i * row + j * column] = y[i];
    }
}

// Solves for one vector by substitution, by a warp. An element that is not finite, or whose inverse is not, does not
// affect the components before it.
__device__ __noinline__ void substitute(const real *l, int l_row, int l_column, int n, bool is_unit, real *b,
                                        place stride) {
    const int lane = threadIdx.x % 32;
    for (int j = 0; j < n; ++j) {
        __syncwarp();
        const real x = is_unit ? b[j * stride] : b[j * stride] / l[j * (l_row + l_column)];
        __syncwarp();
        if (lane == 0) b[j * stride] = x;
        for (int i = j + 1 + lane; i < n; i += 32) b[i * stride] -= l[i * l_row + j * l_column] * x;
    }
    __syncwarp();
}

#endif

#if HAS_UNITS
// For doubles, on devices with matrix units for them. A lane has its elements of the units' operands.

// Distance of a block's columns, such that four columns of four rows are read without a bank conflict.
#define UNIT_PITCH (UNIT_ORDER + 4)
#define UNIT_SIZE (UNIT_ORDER * UNIT_PITCH)

// Returns the position of a lane's elements of a and b in a block.
__device__ inline int unit_at(int lane) { return lane / 4 + lane % 4 * UNIT_PITCH; }

// Rearranges a lane's elements of a product into its elements of b.
__device__ inline void turn(real *block, const real x[2], real b[2]) {
    const int lane = threadIdx.x % 32;
    __syncwarp();
    *(pack *)(block + lane / 4 * UNIT_PITCH + lane % 4 * 2) = pack{{x[0], x[1]}};
    __syncwarp();
    b[0] = block[unit_at(lane)];
    b[1] = block[unit_at(lane) + 4 * UNIT_PITCH];
}

// Like `solve_for`, for n <= UNITS * UNIT_ORDER. Shared memory holds L, of that order, with PITCH of it for each
// column; the inverses; and a block for each warp.
template <int VECTORS, int UNITS>
__device__ inline void solve_by_units(const elem *__restrict__ a, place lda, int n, int is_trans, int is_unit,
                                      elem *b, place ldb, place count, int by_rows) {
    constexpr int SIZE = UNITS * UNIT_ORDER, L_PITCH = PITCH(SIZE);
    DYNAMIC_SHARED(elem, memory);
    real *l = memory, *inverses = l + SIZE * L_PITCH,
         *own = inverses + UNITS * UNIT_SIZE + threadIdx.x / 32 * UNIT_SIZE;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int high = warp; high < SIZE; high += WARPS)
        for (int low = lane; low < SIZE; low += 32) {
            const int row = is_trans ? high : low, column = is_trans ? low : high;
            const bool is_there = row >= column && row < n;
            fetch(l + row + column * L_PITCH, is_there ? a + low + high * lda : a, is_there);
        }
    fetched();
    for (int unit = warp * 4 + lane / UNIT_ORDER; unit < UNITS; unit += WARPS * 4) {
        const int at = unit * UNIT_ORDER;
        real *inverse = inverses + unit * UNIT_SIZE;
        invert(l + at + at * L_PITCH, 1, L_PITCH, n - at, is_unit, inverse, 1, UNIT_PITCH);
    }
    __syncthreads();
    const place b_row = by_rows ? ldb : 1, b_vector = by_rows ? 1 : ldb;
#pragma unroll 1
    for (int batch = warp; batch < VECTORS / 8; batch += WARPS) {
        const place first = (place)blockIdx.x * VECTORS + batch * 8;
        const int pair = lane % 4 * 2, vectors = (int)min(count - first, (place)8) - pair, components = n - lane / 4;
        elem *its = b + (first + pair) * b_vector + lane / 4 * b_row;
        real x[UNITS][2], spoilt = 0;
#pragma unroll
        for (int g = 0; g < UNITS; ++g)
#pragma unroll
            for (int e = 0; e < 2; ++e)
                x[g][e] = g * UNIT_ORDER < components && e < vectors ? its[g * UNIT_ORDER * b_row + e * b_vector] : 0;
#pragma unroll
        for (int g = 0; g < UNITS; ++g) {
            const real *inverse = inverses + g * UNIT_SIZE + unit_at(lane);
            real right[2];
            turn(own, x[g], right);
            x[g][0] = x[g][1] = 0;
            multiply_add(x[g], inverse[0], right[0]);
            multiply_add(x[g], inverse[4 * UNIT_PITCH], right[1]);
            // Remains zero as long as all results are finite.
            spoilt += x[g][0] * 0 + x[g][1] * 0;
            if (g + 1 == UNITS) break;
            turn(own, x[g], right);
#pragma unroll
            for (int t = g + 1; t < UNITS; ++t) {
                const real *left = l + t * UNIT_ORDER + lane / 4 + (g * UNIT_ORDER + lane % 4) * L_PITCH;
                multiply_add(x[t], left[0], -right[0]);
                multiply_add(x[t], left[4 * L_PITCH], -right[1]);
            }
        }
        if (__any_sync(ALL, spoilt != 0)) {
            for (place v = first; v < min(first + 8, count); ++v)
                substitute(l, 1, L_PITCH, n, is_unit, b + v * b_vector, b_row);
            continue;
        }
#pragma unroll
        for (int g = 0; g < UNITS; ++g)
#pragma unroll
            for (int e = 0; e < 2; ++e)
                if (g * UNIT_ORDER < components && e < vectors) its[g * UNIT_ORDER * b_row + e * b_vector] = x[g][e];
    }
}
#endif

#if !(DOUBLE || COMPLEX)
// For floats, which have no matrix units of full precision. Each lane has every 32nd component of the warp's vectors.

// Distance of the rows of L, such that packs of eight adjacent rows are read without a bank conflict.
#define ROW_PITCH(order) ((order) + 4)
#define INVERSE_SIZE (UNIT_ORDER * UNIT_ORDER)
// Vectors of a warp, and the packs of their components.
#define TOGETHER 8
#define PACKS_TOGETHER (TOGETHER / PACK)

// Like `solve_for`, for n <= UNITS * UNIT_ORDER. Shared memory holds L, of that order, with ROW_PITCH of it for each
// row; the inverses; and all components of the vectors of each warp.
template <int VECTORS, int UNITS>
__device__ inline void solve_by_lanes(const elem *__restrict__ a, place lda, int n, int is_trans, int is_unit,
                                      elem *b, place ldb, place count, int by_rows) {
    constexpr int SIZE = UNITS * UNIT_ORDER, L_PITCH = ROW_PITCH(SIZE), GROUPS = SIZE / 32;
    DYNAMIC_SHARED(elem, memory);
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    real *l = memory, *inverses = l + SIZE * L_PITCH, *known = inverses + UNITS * INVERSE_SIZE + warp * SIZE * TOGETHER;
    // Eight rows of four columns at once, or eight columns of four rows of the transpose.
    for (int part = warp; part < SIZE / 4 * UNITS; part += WARPS) {
        const int low = part % UNITS * 8 + lane % 8, high = part / UNITS * 4 + lane / 8;
        const int row = is_trans ? high : low, column = is_trans ? low : high;
        // Blocks above the diagonal are not used.
        if (row / UNIT_ORDER < column / UNIT_ORDER) continue;
        const bool is_there = row >= column && row < n;
        fetch(l + row * L_PITCH + column, is_there ? a + low + high * lda : a, is_there);
    }
    fetched();
    for (int unit = warp * 4 + lane / UNIT_ORDER; unit < UNITS; unit += WARPS * 4) {
        const int at = unit * UNIT_ORDER;
        real *inverse = inverses + unit * INVERSE_SIZE;
        invert(l + at * (L_PITCH + 1), L_PITCH, 1, n - at, is_unit, inverse, UNIT_ORDER, 1);
    }
    __syncthreads();
    if (warp >= VECTORS / TOGETHER) return;
    const place b_row = by_rows ? ldb : 1, b_vector = by_rows ? 1 : ldb,
                first = (place)blockIdx.x * VECTORS + warp * TOGETHER;
    // Access i of a lane to its vectors in global memory: adjacent lanes access adjacent elements.
#define ITS_COMPONENT(i) (by_rows ? (i) * 4 + lane / TOGETHER : (i) / TOGETHER * 32 + lane)
#define ITS_VECTOR(i) (by_rows ? lane % TOGETHER : (i) % TOGETHER)
#define IS_INSIDE(i) (ITS_COMPONENT(i) < n && first + ITS_VECTOR(i) < count)
    elem *its = b + first * b_vector;
    __align__(16) real x[GROUPS][TOGETHER];
    real spoilt = 0;
#pragma unroll
    for (int i = 0; i < SIZE / 4; ++i)
        x[i / TOGETHER][i % TOGETHER] = IS_INSIDE(i) ? its[ITS_COMPONENT(i) * b_row + ITS_VECTOR(i) * b_vector] : 0;
#pragma unroll
    for (int i = 0; i < SIZE / 4; ++i)
        known[ITS_COMPONENT(i) * TOGETHER + ITS_VECTOR(i)] = x[i / TOGETHER][i % TOGETHER];
    __syncwarp();
#pragma unroll
    for (int m = 0; m < GROUPS; ++m)
#pragma unroll
        for (int p = 0; p < PACKS_TOGETHER; ++p)
            *(pack *)(x[m] + p * PACK) = ((const pack *)(known + (lane + m * 32) * TOGETHER))[p];
#pragma unroll
    for (int m = 0; m < GROUPS; ++m)
#pragma unroll 1
        for (int at = m * 32; at < min(m * 32 + 32, n); at += UNIT_ORDER) {
            // The lanes that have the components of this block pass them on. Each lane multiplies two rows of the
            // inverse by one vector.
            pack *block = (pack *)(known + at * TOGETHER);
            if (lane / UNIT_ORDER == at % 32 / UNIT_ORDER) {
#pragma unroll
                for (int p = 0; p < PACKS_TOGETHER; ++p)
                    block[lane % UNIT_ORDER * PACKS_TOGETHER + p] = *(const pack *)(x[m] + p * PACK);
            }
            __syncwarp();
            const int vector = lane % TOGETHER, row = lane / TOGETHER * 2;
            const pack *inverse = (const pack *)(inverses + at * UNIT_ORDER + row * UNIT_ORDER);
            real found[2] = {};
#pragma unroll
            for (int k = 0; k < UNIT_ORDER; ++k) {
                const real right = known[(at + k) * TOGETHER + vector];
#pragma unroll
                for (int r = 0; r < 2; ++r) found[r] += inverse[(r * UNIT_ORDER + k) / PACK].of[k % PACK] * right;
            }
            __syncwarp();
#pragma unroll
            for (int r = 0; r < 2; ++r) {
                known[(at + row + r) * TOGETHER + vector] = found[r];
                // Remains zero as long as all results are finite.
                spoilt += found[r] * 0;
            }
            __syncwarp();
#pragma unroll
            for (int k = 0; k < UNIT_ORDER; k += PACK) {
                pack left[GROUPS];
                // Components that are known are changed too, and not used.
#pragma unroll
                for (int t = m; t < GROUPS; ++t) left[t] = *(const pack *)(l + (lane + t * 32) * L_PITCH + at + k);
#pragma unroll
                for (int q = 0; q < PACK; ++q)
#pragma unroll
                    for (int p = 0; p < PACKS_TOGETHER; ++p) {
                        const pack right = block[(k + q) * PACKS_TOGETHER + p];
#pragma unroll
                        for (int t = m; t < GROUPS; ++t)
#pragma unroll
                            for (int e = 0; e < PACK; ++e) x[t][p * PACK + e] -= left[t].of[q] * right.of[e];
                    }
            }
        }
    if (__any_sync(ALL, spoilt != 0)) {
        for (place v = first; v < min(first + TOGETHER, count); ++v)
            substitute(l, L_PITCH, 1, n, is_unit, b + v * b_vector, b_row);
        return;
    }
#pragma unroll
    for (int i = 0; i < SIZE / 4; ++i)
        if (IS_INSIDE(i))
            its[ITS_COMPONENT(i) * b_row + ITS_VECTOR(i) * b_vector] =
                known[ITS_COMPONENT(i) * TOGETHER + ITS_VECTOR(i)];
#undef IS_INSIDE
#undef ITS_VECTOR
#undef ITS_COMPONENT
}
#endif

#if HAS_UNITS
#define SOLVE_BY solve_by_units
#elif !(DOUBLE || COMPLEX)
#define SOLVE_BY solve_by_lanes
#endif
#ifdef SOLVE_BY
#define SOLVE(VECTORS)                                                                                                 \
    if (n <= ORDER / 2)                                                                                                \
        SOLVE_BY<VECTORS, ORDER / 2 / UNIT_ORDER>(a, lda, n, is_trans, is_unit, b, ldb, count, by_rows);               \
    else SOLVE_BY<VECTORS, ORDER / UNIT_ORDER>(a, lda, n, is_trans, is_unit, b, ldb, count, by_rows);
#else
#define SOLVE(VECTORS) solve_for<VECTORS>(a, lda, n, is_trans, conj, is_unit, b, ldb, count, by_rows);
#endif

#define SOLVE_WITH                                                                                                     \
    const elem *__restrict__ a, place lda, int n, int is_trans, int conj, int is_unit, elem *b, place ldb,             \
        place count, int by_rows

KERNEL(THREADS, 1) solve(SOLVE_WITH) { SOLVE(SOLVED) }

// With more vectors per block, whose latencies are shared: each block takes longer, but there are fewer.
KERNEL(THREADS, 1) solve_many(SOLVE_WITH) { SOLVE(MANY) }
