// Batched row interchanges. Included after `batch.cu`.

// Row interchanges: row k and row ipiv[k] - 1 for all k, forward or backward. With few rows, a block of threads
// composes them first and then moves each column at once; `limit` is the rows that shared memory has room for. An
// interchange with a row outside of B is left out, and the problem's number plus one becomes the status. Problems whose
// outcome in `info` is not zero are left as they are.
#define SWAP_THREADS 128
#define SWAPPED 8
KERNEL(SWAP_THREADS)
laswp(int is_backward, int limit, OPERAND(const int, ipiv), OPERAND(elem, b), const int *info, int *status, int count) {
    DYNAMIC_SHARED(elem, columns);
    const int parts = (int)up_to(b_n, SWAPPED);
    const view<const int> pivots = PROBLEM(ipiv, blockIdx.x / parts);
    const view<elem> x = PROBLEM(b, blockIdx.x / parts);
    const place first = (place)(blockIdx.x % parts) * SWAPPED, end = least_of(first + SWAPPED, x.n);
    const int k = (int)least_of(pivots.m, x.m);
    const place number = NUMBER(b, blockIdx.x / parts);
    if (first >= end || (info != nullptr && info[number] != 0)) return;
    if (x.m > limit) {
        for (place j = first + threadIdx.x; j < end; j += SWAP_THREADS)
            for (int step = 0; step < k; ++step) {
                const int r = is_backward ? k - 1 - step : step;
                const place p = pivots.a[r] - 1;
                if (p < 0 || p >= x.m) {
                    *status = (int)number + 1;
                    continue;
                }
                const elem y = x.a[r + j * x.ld];
                x.a[r + j * x.ld] = x.a[p + j * x.ld];
                x.a[p + j * x.ld] = y;
            }
        return;
    }
    int *from = (int *)(columns + x.m), *known = from + x.m;
    for (int i = threadIdx.x; i < x.m; i += SWAP_THREADS) {
        from[i] = i;
        known[i] = i < k ? pivots.a[i] - 1 : i;
    }
    __syncthreads();
    if (threadIdx.x == 0)
        for (int step = 0; step < k; ++step) {
            const int r = is_backward ? k - 1 - step : step, p = known[r];
            if (p < 0 || p >= x.m) {
                *status = (int)number + 1;
                continue;
            }
            const int y = from[r];
            from[r] = from[p];
            from[p] = y;
        }
    __syncthreads();
    for (place j = first; j < end; ++j) {
        for (int i = threadIdx.x; i < x.m; i += SWAP_THREADS) columns[i] = x.a[i + j * x.ld];
        __syncthreads();
        for (int i = threadIdx.x; i < x.m; i += SWAP_THREADS) x.a[i + j * x.ld] = columns[from[i]];
        __syncthreads();
    }
}
