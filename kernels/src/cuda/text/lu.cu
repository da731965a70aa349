// P L U of a few columns by several blocks at once, each of which has some rows. Defined before: see grid.cu; WIDTH, the most columns.

// The size by which pivots are chosen.
__device__ inline real size_of(elem x) {
    const real a = re(x), b = im(x);
    return (a < 0 ? -a : a) + (b < 0 ? -b : b);
}

// The larger of two candidates, and of equals the upper one; row -1 is none, with the size 0.
__device__ inline void take_larger(double *size, int *row, double other, int other_row) {
    if (other_row >= 0 && (other > *size || (other == *size && (*row < 0 || other_row < *row)))) {
        *size = other;
        *row = other_row;
    }
}

struct candidates {
    double sizes[WARPS];
    int rows[WARPS];
};

// The largest of all threads' candidates, for all of them; others' places are read by nobody before the next but one.
__device__ inline void largest_of_all(candidates *known, double *size, int *row) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
    for (int step = 16; step > 0; step /= 2) {
        const double other = __shfl_down_sync(ALL, *size, step);
        const int other_row = __shfl_down_sync(ALL, *row, step);
        take_larger(size, row, other, other_row);
    }
    if (lane == 0) {
        known->sizes[warp] = *size;
        known->rows[warp] = *row;
    }
    __syncthreads();
    *size = 0;
    *row = -1;
#pragma unroll
    for (int k = 0; k < WARPS; ++k) take_larger(size, row, known->sizes[k], known->rows[k]);
}

// What a pivot's multiples are made by: x * first * second = x / pivot. The reciprocal of a tiny pivot may overflow; nothing in
// its column is larger, so both can be enlarged.
__device__ inline void reciprocal(elem pivot, real *first, elem *second) {
    *first = size_of(pivot) < 2 * TINY ? 1 / TINY : 1;
    const elem p = times_real(pivot, *first);
#if COMPLEX
    const real a = p.re < 0 ? -p.re : p.re, b = p.im < 0 ? -p.im : p.im, most = a > b ? a : b;
    const real x = p.re / most, y = p.im / most, norm = p.re * x + p.im * y;
    *second = make(x / norm, -y / norm);
#else
    *second = 1 / p;
#endif
}

// Factors w columns with m >= w rows, of which block b has those from b * each on. `tile` is where this block's are. The first w are
// the first block's. ipiv becomes the interchanges, counted from one, with `above` rows above.
//
// A step is one turn: each block sends its best row, and the first one the row on the diagonal. So all know which row goes up, and
// the two blocks that exchange rows have what they need. `room` holds these rows: 2 * (BLOCKS + 1) of WIDTH elements.
template <typename stride_type>
__device__ inline void factor(elem *tile, stride_type stride, int m, int w, int each, int *ipiv, int above, half turn, word *mail,
                              elem *room, int *status) {
    __shared__ elem u[WIDTH];
    __shared__ candidates known[2];
    __shared__ int is_silent;
    const int t = threadIdx.x, first = blockIdx.x * each, count = min(each, m - first);
    if (t == 0) is_silent = 0;
    for (int j = 0; j < w; ++j, ++turn) {
        double size = 0;
        int row = -1;
        for (int i = t; i < count; i += THREADS) {
            const real here = size_of(tile[i + j * stride]);
            if (first + i >= j && here > size) {
                size = here;
                row = first + i;
            }
        }
        largest_of_all(&known[0], &size, &row);
        elem *best = room + (turn & 1) * (BLOCKS + 1) * WIDTH, *diagonal = best + BLOCKS * WIDTH;
        if (t < 32) {
            if (row >= 0)
                for (int c = t; c < w; c += 32) best[blockIdx.x * WIDTH + c] = tile[row - first + c * stride];
            if (blockIdx.x == 0)
                for (int c = t; c < w; c += 32) diagonal[c] = tile[j + c * stride];
            __threadfence();
            __syncwarp();
            if (t == 0) send(mail, turn, size, row);
            // Nobody of the warp waits before its first lane has sent.
            __syncwarp();
        }
        size = 0;
        row = -1;
        if (t < gridDim.x && !await(mail, turn, t, &size, &row)) is_silent = 1;
        largest_of_all(&known[1], &size, &row);
        if (is_silent) {
            if (t == 0) *status = -1;
            return;
        }
        const int p = row < 0 ? j : row, owner = p / each;
        if (t < w) {
            u[t] = fetched(p == j ? diagonal + t : best + owner * WIDTH + t);
            if (blockIdx.x == 0) tile[j + t * stride] = u[t];
            if (p != j && blockIdx.x == owner) tile[p - first + t * stride] = fetched(diagonal + t);
        }
        if (t == 0 && blockIdx.x == 0) ipiv[j] = above + p + 1;
        __syncthreads();
        if (is_zero(u[j])) continue;
        real scale;
        elem inverse;
        reciprocal(u[j], &scale, &inverse);
        for (int i = t; i < count; i += THREADS) {
            if (first + i <= j) continue;
            const elem x = times_real(tile[i + j * stride], scale) * inverse;
            tile[i + j * stride] = x;
            // Some columns at a time, so that their loads do not wait for each other's stores.
            for (int c = j + 1; c < w; c += AT_ONCE) {
                elem y[AT_ONCE];
#pragma unroll
                for (int k = 0; k < AT_ONCE; ++k)
                    if (c + k < w) y[k] = tile[i + (c + k) * stride] - x * u[c + k];
#pragma unroll
                for (int k = 0; k < AT_ONCE; ++k)
                    if (c + k < w) tile[i + (c + k) * stride] = y[k];
            }
        }
    }
}

// The same in shared memory: each block keeps its rows there, `each` * w elements.
KERNEL(THREADS, 1) getrf(elem *a, place ld, int m, int w, int each, int *ipiv, int above, int turn, word *mail, elem *room, int *status) {
    DYNAMIC_SHARED(elem, tile);
    const int first = blockIdx.x * each, count = min(each, m - first);
    a += first;
    for (int c = 0; c < w; ++c)
        for (int i = threadIdx.x; i < count; i += THREADS) tile[i + c * each] = a[i + c * ld];
    __syncthreads();
    factor(tile, each, m, w, each, ipiv, above, turn, mail, room, status);
    __syncthreads();
    for (int c = 0; c < w; ++c)
        for (int i = threadIdx.x; i < count; i += THREADS) a[i + c * ld] = tile[i + c * each];
}

// The same where it is: for more rows than shared memory holds.
KERNEL(THREADS, 1) getrf_in_place(elem *a, place ld, int m, int w, int each, int *ipiv, int above, int turn, word *mail, elem *room,
                               int *status) {
    factor(a + (place)blockIdx.x * each, ld, m, w, each, ipiv, above, turn, mail, room, status);
}

// Rows above the first are counted, too.
KERNEL(THREADS) shift(int *ipiv, int count, int by) {
    const int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < count) ipiv[i] += by;
}
