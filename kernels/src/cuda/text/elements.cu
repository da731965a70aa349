// Kernels that touch each element once. Required definitions: THREADS, BLOCK, ROWS, CHUNK, COLUMNS.

// A := beta A, or one part of it, optionally with a real diagonal.
KERNEL(THREADS) scale(elem *a, place ld, place m, place n, int part, int is_hermitian, elem beta) {
    EACH_COLUMN(j, n) {
        elem *column = a + j * ld;
        EACH_ROW(i, part == 1 ? j : 0, part == 2 && j + 1 < m ? j + 1 : m) {
            const elem x = is_zero(beta) ? make(0, 0) : scaled(column[i], beta);
            column[i] = is_hermitian && i == j ? make(re(x), 0) : x;
        }
    }
}

// B := A.
KERNEL(THREADS) copy(const elem *__restrict__ a, place lda, elem *__restrict__ b, place ldb, place m, place n) {
    EACH_COLUMN(j, n) {
        EACH_ROW(i, 0, m) b[i + j * ldb] = a[i + j * lda];
    }
}

// B := A for a unit lower triangle A of order n, including its implicit ones and zeros.
KERNEL(THREADS) complete(const elem *__restrict__ a, place lda, elem *__restrict__ b, place ldb, place n) {
    EACH_COLUMN(j, n) {
        EACH_ROW(i, 0, n) b[i + j * ldb] = i > j ? a[i + j * lda] : make(i == j ? 1 : 0, 0);
    }
}

// Calls put(i, j, x) for each element x of Aᵀ or Aᴴ, where A is m x n, by square blocks of which a block of threads
// reads the columns of A and puts the columns of the transpose.
template <class Put>
__device__ inline void transposed(const elem *__restrict__ a, place lda, place m, place n, int conj, Put put) {
    __shared__ elem block[BLOCK][BLOCK + 1];
    const int x = threadIdx.x, y = threadIdx.y;
    const place i0 = (place)blockIdx.x * BLOCK;
    for (place j0 = (place)blockIdx.y * BLOCK; j0 < n; j0 += (place)gridDim.y * BLOCK) {
        for (int j = y; j < BLOCK; j += ROWS)
            if (i0 + x < m && j0 + j < n) block[j][x] = conj_if(a[i0 + x + (j0 + j) * lda], conj);
        __syncthreads();
        for (int i = y; i < BLOCK; i += ROWS)
            if (i0 + i < m && j0 + x < n) put(j0 + x, i0 + i, block[x][i]);
        __syncthreads();
    }
}

// B := Aᵀ or Aᴴ for an m x n matrix A.
KERNEL(BLOCK *ROWS) transpose(const elem *__restrict__ a, place lda, elem *__restrict__ b, place ldb, place m, place n,
                               int conj) {
    transposed(a, lda, m, n, conj, [=](place i, place j, elem x) { b[i + j * ldb] = x; });
}

// Returns alpha x + beta y, without reading y for beta = 0.
__device__ inline elem sum(elem alpha, elem x, elem beta, const elem *y) {
    return is_zero(beta) ? scaled(x, alpha) : scaled(x, alpha) + scaled(*y, beta);
}

// B := alpha A + beta B.
KERNEL(THREADS) geadd(const elem *__restrict__ a, place lda, elem *__restrict__ b, place ldb, place m, place n,
                      elem alpha, elem beta) {
    EACH_COLUMN(j, n) {
        EACH_ROW(i, 0, m) b[i + j * ldb] = sum(alpha, a[i + j * lda], beta, b + i + j * ldb);
    }
}

// B := alpha Aᵀ + beta B or alpha Aᴴ + beta B for an m x n matrix A. With more blocks to a processor, registers of
// complex types would spill.
KERNEL(BLOCK *ROWS, 4) geadd_transposed(const elem *__restrict__ a, place lda, elem *__restrict__ b, place ldb, place m,
                                         place n, int conj, elem alpha, elem beta) {
    transposed(a, lda, m, n, conj, [=](place i, place j, elem x) {
        elem *y = b + i + j * ldb;
        *y = sum(alpha, x, beta, y);
    });
}

// C := W + beta C in one triangle of each block on C's diagonal. The blocks of W have order `order` and are stored one
// after the other; the last one may be smaller. Block z of the grid computes block z of C.
KERNEL(THREADS) fold(const elem *__restrict__ w, place order, elem *__restrict__ c, place ld, place n, int part,
                     elem beta) {
    const place at = blockIdx.z * order;
    const place count = n - at < order ? n - at : order;
    c += at * (ld + 1);
    w += at * order;
    EACH_COLUMN(j, count) {
        EACH_ROW(i, part == 1 ? j : 0, part == 1 ? count : j + 1) {
            const elem x = w[i + j * order];
            c[i + j * ld] = is_zero(beta) ? x : scaled(c[i + j * ld], beta) + x;
        }
    }
}

// Interchanges rows first + i and ipiv[i] - 1 for `count` values of i, in COLUMNS columns of A for each block of
// threads. An index outside of the m rows exchanges nothing and sets status to its row, counted from one.
//
// CHUNK interchanges are made at a time. Each thread has one row that they may change, follows the interchanges back to
// the row that its contents come from, and moves the elements of all its columns at once. Two threads with the same row
// write the same elements.
KERNEL(2 * CHUNK) laswp(elem *a, place ld, int m, place n, int first, const int *__restrict__ ipiv, int count,
                         int backward, int *status) {
    __shared__ int from[CHUNK], to[CHUNK];
    const int t = threadIdx.x;
    const place j0 = (place)blockIdx.x * COLUMNS;
    for (int done = 0; done < count; done += CHUNK) {
        const int steps = min(CHUNK, count - done);
        // Other threads may still read the last chunk.
        __syncthreads();
        if (t < steps) {
            const int i = backward ? count - 1 - done - t : done + t;
            int other = ipiv[i] - 1;
            if (other < 0 || other >= m) {
                if (blockIdx.x == 0) *status = first + i + 1;
                other = first + i;
            }
            from[t] = first + i;
            to[t] = other;
        }
        __syncthreads();
        const bool is_first = t < CHUNK;
        const int step = is_first ? t : t - CHUNK;
        const int row = step >= steps ? -1 : is_first ? from[step] : to[step];
        int source = row;
        for (int s = steps - 1; s >= 0; --s) {
            const int x = from[s], y = to[s];
            source = source == x ? y : source == y ? x : source;
        }
        elem x[COLUMNS];
#pragma unroll
        for (int c = 0; c < COLUMNS; ++c)
            if (source != row && j0 + c < n) x[c] = a[source + (j0 + c) * ld];
        __syncthreads();
#pragma unroll
        for (int c = 0; c < COLUMNS; ++c)
            if (source != row && j0 + c < n) a[row + (j0 + c) * ld] = x[c];
    }
}

// Adds `by` to all interchanges.
KERNEL(THREADS) shift(int *ipiv, int count, int by) {
    const int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < count) ipiv[i] += by;
}
