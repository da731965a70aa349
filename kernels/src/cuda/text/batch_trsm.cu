// Batched solves with triangles for several vectors. Included after `batch_solve.cu`.

// Several vectors: a block of threads solves for VECTORS of them, in steps of 32 components. The products with what is
// known are subtracted first.
#define VECTORS 32
#define TRSM_THREADS 128
typedef factor_tile<STEP, STEP, false> l_tile;
typedef factor_tile<VECTORS, STEP, true> x_tile;

// Calls `use` with the component and the vector of each element of this thread in a tile of X.
template <class F> __device__ inline void each_of_x(bool by_columns, F use) {
#pragma unroll
    for (int e = 0; e < STEP * VECTORS / TRSM_THREADS; ++e) {
        const int fast = threadIdx.x % STEP, slow = threadIdx.x / STEP + e * (TRSM_THREADS / STEP);
        use(by_columns ? fast : slow, by_columns ? slow : fast);
    }
}

__device__ inline void solve_many(const triangle &l, const vectors &x, elem alpha, place first) {
    __shared__ elem left[l_tile::SIZE], right[x_tile::SIZE];
    constexpr int SIDE = STEP / 2, EACH = STEP * STEP / TRSM_THREADS;
    const int t = threadIdx.x, warp = warp_of(), lane = lane_of(), high = warp % 2 * SIDE, across = warp / 2 * SIDE;
    const bool l_by_columns = l.row == 1 || l.row == -1, x_by_columns = x.row == 1 || x.row == -1;
    const int vectors_left = (int)least_of(x.count - first, VECTORS);
#pragma unroll 1
    for (place at = 0; at < l.n; at += STEP) {
        warp_sums<SIDE, SIDE, false, true> sums;
        sums.clear();
        auto read_triangle = [&](place from) {
            elem y[EACH];
#pragma unroll
            for (int e = 0; e < EACH; ++e) {
                const int fast = t % STEP, slow = t / STEP + e * (TRSM_THREADS / STEP);
                const place i = at + (l_by_columns ? fast : slow), p = from + (l_by_columns ? slow : fast);
                y[e] = i < l.n && (p < i || (p == i && !l.is_unit)) ? l.at(i, p) : make(p == i ? 1 : 0, 0);
            }
#pragma unroll
            for (int e = 0; e < EACH; ++e) {
                const int fast = t % STEP, slow = t / STEP + e * (TRSM_THREADS / STEP);
                left[l_tile::at(l_by_columns ? fast : slow, l_by_columns ? slow : fast)] = y[e];
            }
        };
#pragma unroll 1
        for (place from = 0; from < at; from += STEP) {
            __syncthreads();
            read_triangle(from);
            each_of_x(x_by_columns, [&](int i, int v) {
                right[x_tile::at(v, i)] = v < vectors_left ? x.at(from + i, first + v) : make(0, 0);
            });
            __syncthreads();
            sums.template add<l_tile, x_tile, STEP>(left + l_tile::at(high, 0), right + x_tile::at(across, 0), false,
                                                    false);
        }
        __syncthreads();
        read_triangle(at);
        each_of_x(x_by_columns, [&](int i, int v) {
            right[x_tile::at(v, i)] =
                at + i < l.n && v < vectors_left ? alpha * x.at(at + i, first + v) : make(0, 0);
        });
        __syncthreads();
        sums.each([&](int i, int v, elem &sum) {
            elem &to = right[x_tile::at(across + v, high + i)];
            to = to - sum;
        });
        __syncthreads();
        step<STEP> known;
#pragma unroll
        for (int p = 0; p < STEP; ++p) known.row[p] = p < lane ? left[l_tile::at(lane, p)] : make(0, 0);
        known.set_diagonal(left[l_tile::at(lane, lane)]);
        constexpr int ITS = 4;
#pragma unroll 1
        for (int v = warp * ITS; v < vectors_left; v += TRSM_THREADS / 32 * ITS) {
            elem y[ITS];
#pragma unroll
            for (int e = 0; e < ITS; ++e) y[e] = right[x_tile::at(v + e, lane)];
            known.solve(y);
#pragma unroll
            for (int e = 0; e < ITS; ++e) right[x_tile::at(v + e, lane)] = y[e];
        }
        __syncthreads();
        each_of_x(x_by_columns, [&](int i, int v) {
            if (at + i < l.n && v < vectors_left) x.at(at + i, first + v) = right[x_tile::at(v, i)];
        });
    }
}
KERNEL(TRSM_THREADS, (COMPLEX && DOUBLE ? 2 : 3)) trsm TRSM {
    const int parts = (int)up_to(is_right ? b_m : b_n, VECTORS);
    ONE_SOLVE(blockIdx.x / parts)
    const place first = (place)(blockIdx.x % parts) * VECTORS;
    if (is_zero(alpha)) clear(x, l.n, first, first + VECTORS, threadIdx.x, TRSM_THREADS);
    else if (first < x.count) solve_many(l, x, alpha, first);
}
