// The reduction of tiny matrices to bidiagonal form, and what precedes and follows the panels of others. Included
// after `batch_gebrd.cu`.

// Returns the sum over all lanes of value lane % N.
template <int N> __device__ inline elem sum_each(elem *x) {
    if constexpr (N == 1) {
        return x[0];
    } else {
        const bool is_upper = (lane_of() & N / 2) != 0;
#pragma unroll
        for (int k = 0; k < N / 2; ++k)
            x[k] = (is_upper ? x[k + N / 2] : x[k]) + from_apart(is_upper ? x[k] : x[k + N / 2], N / 2);
        return sum_each<N / 2>(x);
    }
}

// A matrix with at most 32 rows, a row in each lane, and its columns from i on in registers. It has no less rows than
// columns; otherwise it is the conjugate transpose of A.
struct tiny_matrix {
    view<elem> a;
    bool is_flipped;
    int m, n;
    real *d, *e;
    elem *tauq, *taup, *shared;
    __device__ elem get(int i, int j) const { return is_flipped ? conjugate(a.a[j + i * a.ld]) : a.a[i + j * a.ld]; }
    __device__ void put(int i, int j, elem x) const {
        a.a[is_flipped ? j + i * a.ld : i + j * a.ld] = conj_if(x, is_flipped);
    }
};

// Reduces the columns from i on, of which at most N are left, until at most LEFT are.
template <int N, int LEFT> __device__ inline void reduce_some(const tiny_matrix &its, elem (&x)[N], int &i) {
    const int lane = lane_of();
#pragma unroll 1
    for (; its.n - i > LEFT; ++i) {
        const int left = its.n - i;
        const elem rest = lane > i ? x[0] : make(0, 0);
        const reflector h = any_reflector(
            from_lane(x[0], i), real_sum_over(square_of(rest), 32),
            [&] {
                real largest = largest_part(rest);
                for (int by = 1; by < 32; by *= 2) largest = larger_of(largest, __shfl_xor_sync(ALL, largest, by));
                return largest;
            },
            [&](real level) { return real_sum_over(square_of(times_real(rest, level)), 32); });
        const elem v = lane == i ? make(1, 0) : h.apply(rest);
        if (lane >= i && lane < its.m) its.put(lane, i, lane == i ? make(h.beta, 0) : v);
        if (lane == 0) {
            its.d[i] = h.beta;
            its.tauq[i] = h.tau;
        }
        if (left == 1) {
            if (lane == 0) its.taup[i] = make(0, 0);
            ++i;
            break;
        }
        elem y[N];
#pragma unroll
        for (int k = 0; k < N; ++k) y[k] = k > 0 ? conjugate(x[k]) * v : make(0, 0);
        const elem product = h.tau * sum_over(sum_each<N>(y), 32, N);
        __syncwarp();
        if (lane < N) its.shared[lane] = conjugate(product);
        __syncwarp();
#pragma unroll
        for (int k = 1; k < N; ++k) x[k] = fused(negated(v), its.shared[k], x[k]);
        __syncwarp();
        // Row i, whose vector is its conjugate.
        real squares = 0;
#pragma unroll
        for (int k = 1; k < N; ++k) {
            if (lane == i) its.shared[k] = x[k];
            squares += k > 1 && k < left ? square_of(x[k]) : 0;
        }
        __syncwarp();
        const reflector g = any_reflector(
            conjugate(its.shared[1]), __shfl_sync(ALL, squares, i),
            [&] {
                real largest = 0;
                for (int k = 2; k < left; ++k) largest = larger_of(largest, largest_part(its.shared[k]));
                return largest;
            },
            [&](real level) {
                real sum = 0;
                for (int k = 2; k < left; ++k) sum += square_of(times_real(its.shared[k], level));
                return sum;
            });
        elem u = make(0, 0);
        if (lane > 0 && lane < left) {
            u = lane == 1 ? make(1, 0) : g.apply(conjugate(its.shared[lane]));
            its.put(i, i + lane, lane == 1 ? make(g.beta, 0) : conjugate(u));
        }
        if (lane == 0) {
            its.e[i] = g.beta;
            its.taup[i] = g.tau;
        }
        __syncwarp();
        if (lane < N) its.shared[lane] = u;
        __syncwarp();
        elem sum = make(0, 0);
#pragma unroll
        for (int k = 1; k < N; ++k) sum = fused(x[k], its.shared[k], sum);
        sum = negated(g.tau * sum);
#pragma unroll
        for (int k = 1; k < N; ++k) x[k - 1] = fused(sum, conjugate(its.shared[k]), x[k]);
        x[N - 1] = make(0, 0);
    }
}

template <int N> __device__ inline void reduce_all(const tiny_matrix &its, elem (&x)[N], int &i) {
    if constexpr (N > 4) {
        reduce_some<N, N / 2>(its, x, i);
        elem half[N / 2];
#pragma unroll
        for (int k = 0; k < N / 2; ++k) half[k] = x[k];
        reduce_all<N / 2>(its, half, i);
    } else {
        reduce_some<N, 0>(its, x, i);
    }
}

template <int N>
__device__ inline void reduce_tiny(const view<elem> &a, real *d, real *e, elem *tauq, elem *taup, elem *shared) {
    const bool is_flipped = a.m < a.n;
    const tiny_matrix its{a, is_flipped, (int)(is_flipped ? a.n : a.m), (int)(is_flipped ? a.m : a.n), d, e,
                          is_flipped ? taup : tauq, is_flipped ? tauq : taup, shared};
    const int lane = lane_of();
    elem x[N];
#pragma unroll
    for (int k = 0; k < N; ++k) x[k] = lane < its.m && k < its.n ? its.get(lane, k) : make(0, 0);
    int i = 0;
    reduce_all<N>(its, x, i);
}

// For matrices with at most 32 rows and columns, and at most 16 or 32 of the smaller number. A warp has a matrix. In
// double complex, 32 columns would not fit into registers.
#define TINY_GEBRD(columns)                                                                                            \
    KERNEL(128) gebrd_tiny_##columns(OPERAND(elem, a), OPERAND(real, d), OPERAND(real, e), OPERAND(elem, tauq),        \
                                     OPERAND(elem, taup), int count) {                                                 \
        __shared__ elem shared[4][32];                                                                                 \
        const place p = (place)blockIdx.x * 4 + warp_of();                                                             \
        if (p >= count) return;                                                                                        \
        reduce_tiny<columns>(PROBLEM(a, p), PROBLEM(d, p).a, PROBLEM(e, p).a, PROBLEM(tauq, p).a, PROBLEM(taup, p).a,  \
                             shared[warp_of()]);                                                                       \
    }
TINY_GEBRD(16)
#if !(COMPLEX && DOUBLE)
TINY_GEBRD(32)
#endif

// The update of what follows a panel: A - V Y^H - X U^H.
#define UPDATED 64
typedef tiled<UPDATED, UPDATED, (COMPLEX && DOUBLE ? 8 : 16), 3, 2, 2, false, true> update_tiles;
KERNEL(128, (COMPLEX && DOUBLE ? 2 : 3))
gebrd_update(int at, OPERAND(elem, a), elem *flipped, place flipped_stride, elem *room, place room_stride, int count) {
    const place first = at + NB, most_m = flipped != nullptr ? a_n : a_m, most_n = flipped != nullptr ? a_m : a_n;
    const int most = (int)(up_to(most_m - first, UPDATED) * up_to(most_n - first, UPDATED));
    const place p = blockIdx.x / most, tile = blockIdx.x % most;
    const view<elem> its = tall_of(PROBLEM(a, p), flipped, flipped_stride, p);
    if (first >= its.n) return;
    const place down = up_to(its.m - first, UPDATED), row = first + tile % down * UPDATED,
                column = first + tile / down * UPDATED;
    if (column >= its.n) return;
    const place x_ld = up_to(most_m, PACK) * PACK, y_ld = up_to(most_n, PACK) * PACK;
    const elem *x = room + p * room_stride, *y = x + NB * x_ld, *u = y + NB * y_ld;
    const int rows = (int)least_of(its.m - row, UPDATED), columns = (int)least_of(its.n - column, UPDATED);
    const int at_row = warp_of() % 2 * (UPDATED / 2), at_column = warp_of() / 2 * (UPDATED / 2);
    elem *to = its.a + row + at_row + (column + at_column) * its.ld;
    // The sums begin with -A, which is read while the factors are fetched.
    update_tiles::sums_type sums;
    sums.each([&](int i, int j, elem &sum) {
        sum = at_row + i < rows && at_column + j < columns ? negated(to[i + j * its.ld]) : make(0, 0);
    });
    update_tiles::add(sums, its.a + row + at * its.ld, its.ld, y + column, y_ld, rows, columns, NB, false, true);
    __syncthreads();
    update_tiles::add(sums, x + row, x_ld, u + column, y_ld, rows, columns, NB, false, true);
    sums.each([&](int i, int j, elem &sum) {
        if (at_row + i < rows && at_column + j < columns) to[i + j * its.ld] = negated(sum);
    });
}

// Copies A with less rows than columns to its flipped matrix A^H, or back, in blocks of 32 x 32.
KERNEL(256) flip(OPERAND(elem, a), elem *flipped, place flipped_stride, int is_back, int count) {
    __shared__ elem block[32][33];
    const int down = (int)up_to(a_m, 32), tiles = down * (int)up_to(a_n, 32), tile = blockIdx.x % tiles;
    const place p = blockIdx.x / tiles;
    view<elem> from = PROBLEM(a, p), to = tall_of(from, flipped, flipped_stride, p);
    if (to.n == 0) return;
    place row = (place)(tile % down) * 32, column = (place)(tile / down) * 32;
    if (is_back) {
        const view<elem> flat = from;
        from = to;
        to = flat;
        const place across = row;
        row = column;
        column = across;
    }
    for (int j = warp_of(); j < 32; j += 8)
        if (row + lane_of() < from.m && column + j < from.n)
            block[j][lane_of()] = conjugate(from.a[row + lane_of() + (column + j) * from.ld]);
    __syncthreads();
    for (int i = warp_of(); i < 32; i += 8)
        if (column + lane_of() < from.n && row + i < from.m)
            to.a[column + lane_of() + (row + i) * to.ld] = block[lane_of()][i];
}

// Scales a matrix by a power of two if its largest element is near the ends of the exponent range, where products with
// vectors that are not scaled could over- or underflow. levels[p] is by what B has to be multiplied in the end.
KERNEL(256) gebrd_scale(OPERAND(elem, a), real *levels, int count) {
    __shared__ real joined[64];
    meeting all{joined, 8, 0};
    const view<elem> its = PROBLEM(a, blockIdx.x);
    real largest = 0;
    for (place j = warp_of(); j < its.n; j += 8)
        for (place i = lane_of(); i < its.m; i += 32) largest = larger_of(largest, largest_part(its.a[i + j * its.ld]));
    largest = all.largest(largest);
    const real high = DOUBLE ? (real)1e70 : (real)1e9, low = 1 / high;
    const bool is_ordinary = largest == 0 || (largest > low && largest < high) || largest > (real)1 / (real)TINY;
    const real level = is_ordinary ? 1 : leveller_of(largest);
    if (threadIdx.x == 0) levels[blockIdx.x] = 1 / level;
    if (is_ordinary) return;
    for (place j = warp_of(); j < its.n; j += 8)
        for (place i = lane_of(); i < its.m; i += 32) its.a[i + j * its.ld] = times_real(its.a[i + j * its.ld], level);
}

// Multiplies B by the level.
KERNEL(64) gebrd_unscale(OPERAND(elem, a), OPERAND(real, d), OPERAND(real, e), const real *levels, int count) {
    const real level = levels[blockIdx.x];
    if (level == 1) return;
    const view<elem> its = PROBLEM(a, blockIdx.x);
    real *diagonal = PROBLEM(d, blockIdx.x).a, *beside = PROBLEM(e, blockIdx.x).a;
    const place k = least_of(its.m, its.n), next = its.m < its.n ? 1 : its.ld;
    for (place i = threadIdx.x; i < k; i += 64) {
        elem *const at = its.a + i + i * its.ld;
        diagonal[i] *= level;
        *at = make(diagonal[i], 0);
        if (i + 1 == k) continue;
        beside[i] *= level;
        at[next] = make(beside[i], 0);
    }
}
