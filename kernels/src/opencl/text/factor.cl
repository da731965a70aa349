// The Cholesky factorization of a block of order n <= ORDER, by one work-item in its own memory, column by column. The
// strides describe the lower triangle; the other one is not touched, and the imaginary parts of the diagonal are not
// read. Required definition: ORDER.

// status is 0, or the order of the first leading minor that is not positive definite. The first block, at row 0, writes
// it; the others write it only if it is 0.
__kernel GROUP(1) void potrf(__global real *restrict heap, ulong at, ulong rs, ulong cs, int n, ulong status, int row) {
    real re[ORDER * ORDER];
#if COMPLEX
    real im[ORDER * ORDER];
#endif
    __global elem *a = (__global elem *)heap + at;
    __global int *minor = (__global int *)heap + status;
    for (int j = 0; j < n; ++j)
        for (int i = j; i < n; ++i) {
            const elem x = a[i * rs + j * cs];
            re[i + j * ORDER] = RE(x);
#if COMPLEX
            im[i + j * ORDER] = i == j ? 0 : IM(x);
#endif
        }
    int failed = 0;
    for (int j = 0; j < n && !failed; ++j) {
        const real pivot = re[j + j * ORDER];
        if (!(pivot > 0)) {
            failed = j + 1;
        } else {
            const real root = sqrt(pivot);
            for (int i = j + 1; i < n; ++i) {
                re[i + j * ORDER] /= root;
#if COMPLEX
                im[i + j * ORDER] /= root;
#endif
            }
            re[j + j * ORDER] = root;
            for (int p = j + 1; p < n; ++p) {
                const real u = re[p + j * ORDER];
#if COMPLEX
                const real v = im[p + j * ORDER];
                for (int i = p; i < n; ++i) {
                    const real x = re[i + j * ORDER], y = im[i + j * ORDER];
                    re[i + p * ORDER] -= x * u + y * v;
                    im[i + p * ORDER] -= y * u - x * v;
                }
#else
                for (int i = p; i < n; ++i) re[i + p * ORDER] -= re[i + j * ORDER] * u;
#endif
            }
        }
    }
    for (int j = 0; j < n; ++j)
        for (int i = j; i < n; ++i) {
#if COMPLEX
            a[i * rs + j * cs] = make(re[i + j * ORDER], i == j ? 0 : im[i + j * ORDER]);
#else
            a[i * rs + j * cs] = re[i + j * ORDER];
#endif
        }
    if (row == 0) *minor = failed;
    else if (*minor == 0 && failed) *minor = row + failed;
}
