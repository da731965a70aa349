/*
 * A program in C and C++ that calls the library through its header: products in both layouts, solves, a factorization,
 * complex results, 64-bit integers, threads. The exit status is the number of wrong results.
 */

#include <superscalar.h>

#include <stdio.h>

static int failures = 0;

static void expect(const char *what, double found, double expected) {
    double difference = found - expected;
    if (!(difference < 1e-12 && difference > -1e-12)) {
        printf("%s: %g, expected %g\n", what, found, expected);
        failures++;
    }
}

static void products(void) {
    /* In row-major layout the same memory holds the transpose of the column-major matrix. */
    const double a[4] = {1, 2, 3, 4}, b[4] = {5, 6, 7, 8};
    double c[4] = {0, 0, 0, 0};
    const int64_t wide = 2;
    const int n = 2;
    const double one = 1, zero = 0;
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, 2, 2, 2, 1, a, 2, b, 2, 0, c, 2);
    expect("cblas_dgemm by columns", c[1], 34);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, 2, 2, 2, 1, a, 2, b, 2, 0, c, 2);
    expect("cblas_dgemm by rows", c[1], 22);
    cblas_dgemm64_(CblasRowMajor, CblasTrans, CblasNoTrans, wide, wide, wide, 1, a, wide, b, wide, 0, c, wide);
    expect("cblas_dgemm64_", c[1], 30);
    expect("cblas_idamax", (double)cblas_idamax(4, b, 1), 3);
    dgemm_("n", "T", &n, &n, &n, &one, a, &n, b, &n, &zero, c, &n);
    expect("dgemm_", c[1], 38);
    dgemm_64_("n", "n", &wide, &wide, &wide, &one, a, &wide, b, &wide, &zero, c, &wide);
    expect("dgemm_64_", c[3], 46);
}

static void solves(void) {
    /* 2 x + y = 3, x + 3 y = 5. */
    double a[4] = {2, 1, 1, 3}, b[2] = {3, 5};
    double again[4] = {2, 1, 1, 3}, other[2] = {3, 5}, spd[4] = {4, 2, 2, 5};
    int pivots[2], info = -1;
    int64_t wide_pivots[2], wide = 2, wide_info = -1;
    const int n = 2;
    expect("LAPACKE_dgesv", LAPACKE_dgesv(LAPACK_ROW_MAJOR, 2, 1, a, 2, pivots, b, 1), 0);
    expect("its x", b[0], 0.8);
    expect("its y", b[1], 1.4);
    expect("LAPACKE_dgesv_64", (double)LAPACKE_dgesv_64(LAPACK_COL_MAJOR, 2, 1, again, 2, wide_pivots, other, 2), 0);
    expect("its y", other[1], 1.4);
#ifdef LAPACK_FORTRAN_STRLEN_END
    /* lapack.h declares the length argument. */
    dpotrf_("L", &n, spd, &n, &info, 1);
#else
    dpotrf_("L", &n, spd, &n, &info);
#endif
    expect("dpotrf_", info, 0);
    expect("its factor", spd[0] + spd[1] + spd[3], 5);
    spd[0] = -1;
    dpotrf_64_("L", &wide, spd, &wide, &wide_info);
    expect("dpotrf_64_ of an indefinite matrix", (double)wide_info, 1);
}

static void complex_results(void) {
    /* x = 1 + 2i, y = 3 - i. */
    double parts[2];
    const int64_t one = 1;
    float single[2];
    const float xs[2] = {1, 2}, ys[2] = {3, -1};
    const double x[2] = {1, 2}, y[2] = {3, -1};
    lapack_complex_double *of = (lapack_complex_double *)parts;
    lapack_complex_float *of_single = (lapack_complex_float *)single;
    *of = zdotc_64_(&one, (const lapack_complex_double *)x, &one, (const lapack_complex_double *)y, &one);
    expect("zdotc_64_, real", parts[0], 1);
    expect("zdotc_64_, imaginary", parts[1], -7);
    *of_single = cdotu_64_(&one, (const lapack_complex_float *)xs, &one, (const lapack_complex_float *)ys, &one);
    expect("cdotu_64_, real", single[0], 5);
    expect("cdotu_64_, imaginary", single[1], 5);
    cblas_zdotc_sub(1, x, 1, y, 1, parts);
    expect("cblas_zdotc_sub", parts[1], -7);
}

static void batches(void) {
    /* 4 x = 8, and a system that is not positive definite. */
    double a[2] = {4, -1}, b[2] = {8, 8}, one[4] = {2, 0, 0, 4}, other[1] = {3};
    double *tables[2] = {one, other};
    int info[2] = {-1, -1};
    int64_t sizes[2] = {2, 1}, wide[2] = {-1, -1}, pivots[3];
    int64_t *columns[2] = {pivots, pivots + 2};
    const double alpha[2] = {0, 1}, zero[2] = {0, 0}, x[2] = {1, 2};
    double y[2];
    expect("superscalar_dposv_strided_batched",
           superscalar_dposv_strided_batched('L', 1, 1, a, 1, 1, b, 1, 1, info, 2), 0);
    expect("its x", b[0], 2);
    expect("its info", info[0] + 10 * info[1], 10);
    expect("the other right-hand side", b[1], 8);
    expect("superscalar_dgetrf_vbatched_64",
           superscalar_dgetrf_vbatched_64(sizes, sizes, tables, sizes, columns, wide, 2), 0);
    expect("its interchanges", (double)(pivots[0] + 10 * pivots[1] + 100 * pivots[2]), 121);
    expect("superscalar_zgemv_strided_batched",
           superscalar_zgemv_strided_batched('N', 1, 1, (const lapack_complex_double *)alpha,
                                             (const lapack_complex_double *)x, 1, 0, (const lapack_complex_double *)x,
                                             1, 1, (const lapack_complex_double *)zero, (lapack_complex_double *)y, 1,
                                             1, 1),
           0);
    /* i (1 + 2i)^2 */
    expect("its real part", y[0], -4);
    expect("its imaginary part", y[1], -3);
    expect("a wrong size", superscalar_dpotrf_batched('L', -1, tables, 1, info, 2), -2);
}

static void threads(void) {
    int major = 0, minor = 0, patch = 0;
    superscalar_set_num_threads(2);
    expect("openblas_get_num_threads", openblas_get_num_threads(), 2);
    expect("openblas_get_parallel", openblas_get_parallel(), 1);
    expect("openblas_get_config", openblas_get_config()[0], 'O');
    ilaver_(&major, &minor, &patch);
    expect("ilaver_", major, 3);
}

int main(void) {
    products();
    solves();
    complex_results();
    batches();
    threads();
    return failures;
}
