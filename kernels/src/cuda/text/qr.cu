// Q R of a few columns by several blocks at once, each of which has some rows. Defined before: see grid.cu.

// Columns whose products with the reflector's a warp sums up at once.
#define SUMS 4

__device__ inline real larger_of(real a, real b) { return b > a ? b : a; }

// The larger absolute value of the parts; NaN is not looked at.
__device__ inline real largest_part(elem x) {
    const real a = re(x), b = im(x);
    return larger_of(larger_of(0, a < 0 ? -a : a), b < 0 ? -b : b);
}

__device__ inline elem over(elem x, real by) { return by == 1 ? x : make(re(x) / by, im(x) / by); }

// 1 / x, whatever its scale.
__device__ inline elem inverse_of(elem x) {
#if COMPLEX
    const real most = largest_part(x), a = x.re / most, b = x.im / most, norm = x.re * a + x.im * b;
    return make(a / norm, -b / norm);
#else
    return 1 / x;
#endif
}

// H = I - tau v vᴴ with Hᴴ x = beta e1 and v[0] = 1, the rest of v being that of x times scale.
struct reflector {
    real beta;
    elem tau, scale;
};

// Of a vector with this first element, and this sum of squares of the others.
__device__ inline reflector reflector_of(elem alpha, real squares) {
    const real norm = sqrt(re(alpha) * re(alpha) + im(alpha) * im(alpha) + squares);
    const real beta = re(alpha) < 0 ? norm : -norm;
    return reflector{beta, make((beta - re(alpha)) / beta, -im(alpha) / beta), inverse_of(alpha - make(beta, 0))};
}

// Sums up (x / by)ᴴ A for this block's rows below row j, where x is column j of A: `mine` is where its place among the others' sums is, and
// a column's are BLOCKS elements apart. That of column j is (x / by)ᴴ (x / by). Returns the largest part of x.
template <typename stride_type>
__device__ inline real multiply(const elem *tile, stride_type stride, int begin, int count, int w, int j, real by, elem *mine) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    real most = 0;
    for (int c = warp * SUMS; c < w; c += WARPS * SUMS) {
        elem sum[SUMS];
#pragma unroll
        for (int k = 0; k < SUMS; ++k) sum[k] = make(0, 0);
        most = 0;
        for (int i = begin + lane; i < count; i += 32) {
            const elem raw = tile[i + j * stride], x = over(raw, by), left = conj_if(x, true);
            most = larger_of(most, largest_part(raw));
#pragma unroll
            for (int k = 0; k < SUMS; ++k) {
                if (c + k >= w) continue;
                const elem right = c + k == j ? x : tile[i + (c + k) * stride];
                sum[k] = sum[k] + left * right;
            }
        }
#pragma unroll
        for (int k = 0; k < SUMS; ++k) {
#pragma unroll
            for (int step = 16; step > 0; step /= 2) sum[k] = sum[k] + from_below(sum[k], step);
            if (lane == 0 && c + k < w) mine[(c + k) * BLOCKS] = sum[k];
        }
    }
#pragma unroll
    for (int step = 16; step > 0; step /= 2) most = larger_of(most, __shfl_down_sync(ALL, most, step));
    return most;
}

// The sums of all blocks' sums, and whether all are of a size whose squares are numbers.
__device__ inline void add_up(const elem *sums, int w, int j, elem *total, int *is_odd) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const real least = TINY / (ROUNDOFF * ROUNDOFF), most = 1 / least;
    for (int c = warp * SUMS; c < w; c += WARPS * SUMS) {
        elem sum[SUMS];
#pragma unroll
        for (int k = 0; k < SUMS; ++k) {
            sum[k] = make(0, 0);
            if (c + k < w)
                for (int b = lane; b < gridDim.x; b += 32) sum[k] = sum[k] + fetched(sums + (c + k) * BLOCKS + b);
        }
#pragma unroll
        for (int k = 0; k < SUMS; ++k) {
#pragma unroll
            for (int step = 16; step > 0; step /= 2) sum[k] = sum[k] + from_below(sum[k], step);
            if (lane != 0 || c + k >= w) continue;
            total[c + k] = sum[k];
            const bool is_ordinary = c + k == j ? re(sum[k]) > least && re(sum[k]) < most : largest_part(sum[k]) < most;
            if (c + k >= j && !is_ordinary) *is_odd = 1;
        }
    }
}

// Factors w columns with m >= w rows, of which block b has those from b * each on. `tile` is where this block's are. The first w are
// the first block's. `tau` becomes the scalar factors, and `t` the triangular factor of all reflectors, zeros below, for which `triangle`
// has w * w elements of shared memory.
//
// A step is one turn: each block sends the products of its part of the column with all columns, and the first one the row on the
// diagonal. So all know the column's norm, what the reflector makes of the other columns, and what it is to those before it. If a square was
// too small or too large, the same once more with the column divided by its largest part. `room` holds the products, 2 * WIDTH * BLOCKS
// elements, and the rows, 2 * WIDTH.
template <typename stride_type>
__device__ inline void factor(elem *tile, stride_type stride, int m, int w, int each, elem *tau, elem *t, place ldt, half turn,
                              word *mail, elem *room, elem *triangle, int *status) {
    __shared__ elem total[WIDTH], head[WIDTH], z[WIDTH];
    __shared__ real larger[WARPS];
    __shared__ int is_silent, is_odd;
    const int x = threadIdx.x, first = blockIdx.x * each, count = min(each, m - first);
    if (x == 0) is_silent = 0;
    for (int j = 0; j < w; ++j) {
        const int begin = max(j + 1 - first, 0);
        real by = 1;
        reflector h;
        for (int round = 0;; ++round, ++turn) {
            elem *sums = room + (turn & 1) * WIDTH * BLOCKS, *row = room + 2 * WIDTH * BLOCKS + (turn & 1) * WIDTH;
            if (x == 0) is_odd = 0;
            real most = multiply(tile, stride, begin, count, w, j, by, sums + blockIdx.x);
            if (blockIdx.x == 0 && x < w) row[x] = tile[j + x * stride];
            // All warps that have columns have seen the same rows, and the first one has.
            __threadfence();
            __syncthreads();
            if (x == 0) send(mail, turn, most, 0);
            // Nobody of the warp waits before its first lane has sent.
            __syncwarp();
            double got = 0;
            int unused;
            if (x < gridDim.x && !await(mail, turn, x, &got, &unused)) is_silent = 1;
            most = (real)got;
#pragma unroll
            for (int step = 16; step > 0; step /= 2) most = larger_of(most, __shfl_down_sync(ALL, most, step));
            if (x % 32 == 0) larger[x / 32] = most;
            __syncthreads();
            if (is_silent) {
                if (x == 0) *status = -1;
                return;
            }
            add_up(sums, w, j, total, &is_odd);
            if (x < w) head[x] = fetched(row + x);
            __syncthreads();
            const elem alpha = head[j];
            const real squares = re(total[j]);
            bool is_again = false;
            if (round > 0) {
                h = reflector_of(over(alpha, by), squares);
            } else if (!is_odd && largest_part(alpha) * largest_part(alpha) < ROUNDOFF * ROUNDOFF / TINY) {
                h = reflector_of(alpha, squares);
            } else {
                most = 0;
#pragma unroll
                for (int k = 0; k < WARPS; ++k) most = larger_of(most, larger[k]);
                if (most == 0 && squares == 0 && im(alpha) == 0) {
                    h = reflector{re(alpha), make(0, 0), make(0, 0)};
                } else {
                    most = larger_of(most, largest_part(alpha));
                    by = most > 0 ? most : 1;
                    is_again = true;
                }
            }
            // All have read what the next round changes.
            __syncthreads();
            if (!is_again) break;
        }
        ++turn;
        if (x < w) {
            // Columns before: what their reflectors are to this one. Those behind: the row of the product that is subtracted.
            const elem product = head[x] + conj_if(h.scale, true) * total[x];
            z[x] = x < j ? conj_if(product, true) : conj_if(h.tau, true) * product;
        }
        __syncthreads();
        const bool is_identity = is_zero(h.tau);
        if (blockIdx.x == 0 && x < w && x > j && !is_identity) tile[j + x * stride] = head[x] - z[x];
        if (blockIdx.x == 0 && x == 0) {
            tile[j + j * stride] = make(h.beta * by, 0);
            tau[j] = h.tau;
        }
        for (int i = begin + x; i < count && !is_identity; i += THREADS) {
            const elem v = over(tile[i + j * stride], by) * h.scale;
            tile[i + j * stride] = v;
            for (int c = j + 1; c < w; c += AT_ONCE) {
                elem y[AT_ONCE];
#pragma unroll
                for (int k = 0; k < AT_ONCE; ++k)
                    if (c + k < w) y[k] = tile[i + (c + k) * stride] - v * z[c + k];
#pragma unroll
                for (int k = 0; k < AT_ONCE; ++k)
                    if (c + k < w) tile[i + (c + k) * stride] = y[k];
            }
        }
        if (blockIdx.x + 1 == gridDim.x && x < w) {
            elem sum = make(0, 0);
            for (int c = x; c < j; ++c) sum = sum + triangle[x + c * w] * z[c];
            const elem here = x < j ? make(0, 0) - h.tau * sum : x == j ? h.tau : make(0, 0);
            triangle[x + j * w] = here;
            t[x + j * ldt] = here;
        }
        __syncthreads();
    }
}

// The same in shared memory: each block keeps its rows there, `each` * w elements, behind w * w others.
KERNEL(THREADS, 1) geqrf(elem *a, place ld, int m, int w, int each, elem *tau, elem *t, place ldt, int turn, word *mail, elem *room,
                      int *status) {
    DYNAMIC_SHARED(elem, memory);
    elem *tile = memory + w * w;
    const int first = blockIdx.x * each, count = min(each, m - first);
    a += first;
    for (int c = 0; c < w; ++c)
        for (int i = threadIdx.x; i < count; i += THREADS) tile[i + c * each] = a[i + c * ld];
    __syncthreads();
    factor(tile, each, m, w, each, tau, t, ldt, turn, mail, room, memory, status);
    __syncthreads();
    for (int c = 0; c < w; ++c)
        for (int i = threadIdx.x; i < count; i += THREADS) a[i + c * ld] = tile[i + c * each];
}

// The same where it is: for more rows than shared memory holds.
KERNEL(THREADS, 1) geqrf_in_place(elem *a, place ld, int m, int w, int each, elem *tau, elem *t, place ldt, int turn, word *mail,
                               elem *room, int *status) {
    DYNAMIC_SHARED(elem, memory);
    factor(a + (place)blockIdx.x * each, ld, m, w, each, tau, t, ldt, turn, mail, room, memory, status);
}
