// Products with the blocks on the diagonal of a triangular matrix. The zeros of the other triangle are not multiplied,
// so that Inf in B makes no NaN. Required definitions: ORDER, COLUMNS (a power of two), THREADS.

// B := alpha T W for block z of the grid on T's diagonal, and COLUMNS columns of its rows of W and B. T is lower or
// upper triangular, of order n in all. Its element (i, p) is that of A, or of A's transpose, conjugated or not, with or
// without ones on the diagonal. The strides of W and B are arguments, so either may be a transpose.
KERNEL(THREADS) multiply(const elem *__restrict__ a, place lda, place n, int is_trans, int conj, int is_unit,
                         int is_upper, const elem *__restrict__ w, place w_rows, place w_columns,
                         elem *__restrict__ b, place b_rows, place b_columns, place columns, elem alpha) {
    __shared__ elem t[ORDER][ORDER + 1], x[ORDER][COLUMNS];
    const place first = (place)blockIdx.z * ORDER, column = (place)blockIdx.x * COLUMNS;
    const int order = n - first < ORDER ? n - first : ORDER;
    const int have = columns - column < COLUMNS ? columns - column : COLUMNS;
    a += first * (lda + 1);
    w += first * w_rows + column * w_columns;
    b += first * b_rows + column * b_columns;
    for (int at = threadIdx.x; at < ORDER * ORDER; at += THREADS) {
        // Adjacent threads read adjacent elements; elements that are not stored are not read.
        const int low = at % ORDER, high = at / ORDER;
        const int i = is_trans ? high : low, p = is_trans ? low : high;
        const bool is_there = i < order && p < order && (is_upper ? i <= p : i >= p);
        const bool is_one = is_unit && i == p;
        t[i][p] = is_there && !is_one ? conj_if(a[low + high * lda], conj) : make(is_one ? 1 : 0, 0);
    }
    for (int at = threadIdx.x; at < ORDER * COLUMNS; at += THREADS) {
        const bool by_rows = w_rows == 1;
        const int p = by_rows ? at % ORDER : at / COLUMNS, j = by_rows ? at / ORDER : at % COLUMNS;
        x[p][j] = p < order && j < have ? w[p * w_rows + j * w_columns] : make(0, 0);
    }
    __syncthreads();
    const bool by_rows = b_rows == 1;
    for (int at = threadIdx.x; at < ORDER * COLUMNS; at += THREADS) {
        const int i = by_rows ? at % ORDER : at / COLUMNS, j = by_rows ? at / ORDER : at % COLUMNS;
        if (i >= order || j >= have) continue;
        elem sum = make(0, 0);
        const int begin = is_upper ? i : 0, end = is_upper ? order : i + 1;
        for (int p = begin; p < end; ++p) sum = sum + t[i][p] * x[p][j];
        b[i * b_rows + j * b_columns] = scaled(sum, alpha);
    }
}
