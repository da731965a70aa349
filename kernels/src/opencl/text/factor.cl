// The Cholesky factorization of a block of order n <= ORDER, by one work-group in its own memory, column by column. The
// strides describe the lower triangle; the other one is not touched, and the imaginary parts of the diagonal are not
// read. Required definitions: ORDER, LANES.

#if LANES == 1
// The memory of a single work-item is private, and so not limited by the size of local memory.
#define OWN
#define TOGETHER
#else
#define OWN __local
#define TOGETHER barrier(CLK_LOCAL_MEM_FENCE)
#endif

// status is 0, or the order of the first leading minor that is not positive definite. The first block, at row 0, writes
// it; the others write it only if it is 0.
__kernel GROUP(LANES) void potrf(__global real *restrict heap, ulong at, ulong rs, ulong cs, int n, ulong status,
                                  int row) {
    OWN real re[ORDER * ORDER];
#if COMPLEX
    OWN real im[ORDER * ORDER];
#endif
    const int lane = get_local_id(0);
    __global elem *a = (__global elem *)heap + at;
    __global int *minor = (__global int *)heap + status;
    for (int j = 0; j < n; ++j)
        for (int i = j + lane; i < n; i += LANES) {
            const elem x = a[i * rs + j * cs];
            re[i + j * ORDER] = RE(x);
#if COMPLEX
            im[i + j * ORDER] = i == j ? 0 : IM(x);
#endif
        }
    TOGETHER;
    int failed = 0;
    for (int j = 0; j < n && !failed; ++j) {
        const real pivot = re[j + j * ORDER];
        TOGETHER;
        if (!(pivot > 0)) {
            failed = j + 1;
        } else {
            const real root = sqrt(pivot);
            for (int i = j + 1 + lane; i < n; i += LANES) {
                re[i + j * ORDER] /= root;
#if COMPLEX
                im[i + j * ORDER] /= root;
#endif
            }
            if (lane == 0) re[j + j * ORDER] = root;
            TOGETHER;
            for (int p = j + 1; p < n; ++p) {
                const real u = re[p + j * ORDER];
#if COMPLEX
                const real v = im[p + j * ORDER];
                for (int i = p + lane; i < n; i += LANES) {
                    const real x = re[i + j * ORDER], y = im[i + j * ORDER];
                    re[i + p * ORDER] -= x * u + y * v;
                    im[i + p * ORDER] -= y * u - x * v;
                }
#else
                for (int i = p + lane; i < n; i += LANES) re[i + p * ORDER] -= re[i + j * ORDER] * u;
#endif
            }
            TOGETHER;
        }
    }
    for (int j = 0; j < n; ++j)
        for (int i = j + lane; i < n; i += LANES) {
#if COMPLEX
            a[i * rs + j * cs] = make(re[i + j * ORDER], i == j ? 0 : im[i + j * ORDER]);
#else
            a[i * rs + j * cs] = re[i + j * ORDER];
#endif
        }
    if (lane == 0) {
        if (row == 0) *minor = failed;
        else if (*minor == 0 && failed) *minor = row + failed;
    }
}
