/*
 * The BLAS and LAPACK of Superscalar (libsuperscalar_blas.so), for C99 and C++.
 *
 *     cc program.c $(pkg-config --cflags --libs superscalar-blas)
 *
 * Functions whose names end with 64_ or _64 take 64-bit integers; all others take 32-bit integers (int).
 *
 * Fortran routines (dgemm_) take all arguments by address; a CHARACTER argument is the address of one letter. Fortran
 * compilers pass the lengths of such arguments after all others. They are neither declared here nor used.
 *
 * cblas.h, lapacke.h, lapack.h and f77blas.h declare the same names, some of them with other types. If a program also
 * includes one of them, the first header takes precedence: after it, this header omits the parts that it declares;
 * after this header, it is empty. A program that needs functions which only another header declares includes that
 * header first, or excludes a part of this header with a definition before it:
 *
 *     SUPERSCALAR_NO_CBLAS      no cblas_dgemm
 *     SUPERSCALAR_NO_LAPACK     neither LAPACKE_dgetrf nor dgetrf_
 *     SUPERSCALAR_NO_FORTRAN    neither dgemm_ nor dgetrf_
 *
 * The prototypes between "begin" and "end" are generated from the library's sources by
 *
 *     BLESS=1 cargo test -p superscalar-blas --lib header
 *
 * Each name is written in full, so that a search finds it.
 */

#ifndef SUPERSCALAR_H
#define SUPERSCALAR_H

#include <stddef.h>
#include <stdint.h>

/*
 * Complex numbers have the type that lapacke.h or the program defines, or else C99's type in C, and std::complex in
 * C++, where C99's type is an extension. Both are passed in the same way. CBLAS takes void *, as in the reference.
 */
#ifndef lapack_complex_float
#ifdef __cplusplus
#include <complex>
#define lapack_complex_float std::complex<float>
#else
#define lapack_complex_float float _Complex
#endif
#endif
#ifndef lapack_complex_double
#ifdef __cplusplus
#include <complex>
#define lapack_complex_double std::complex<double>
#else
#define lapack_complex_double double _Complex
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Threads and version */

/* Set and get the number of threads, which is at least 1. */
void superscalar_set_num_threads(int threads);
int superscalar_get_num_threads(void);

/* The same functions under the names of OpenBLAS. The variants with 64_ are identical. */
void openblas_set_num_threads(int threads);
void openblas_set_num_threads64_(int threads);
void goto_set_num_threads(int threads);
int openblas_get_num_threads(void);
int openblas_get_num_threads64_(void);

/* Get the number of processors that this process may use. */
int openblas_get_num_procs(void);
int openblas_get_num_procs64_(void);

/* Get the name and version of this library, and a name for the processor. The strings are constant, although OpenBLAS's
 * return type has no const. */
char *openblas_get_config(void);
char *openblas_get_config64_(void);
char *openblas_get_corename(void);
char *openblas_get_corename64_(void);

/* Returns 1: the library uses threads of its own. */
int openblas_get_parallel(void);
int openblas_get_parallel64_(void);

/* Get the version of LAPACK whose interfaces are implemented. */
void ilaver_(int *major, int *minor, int *patch);
void ilaver_64_(int64_t *major, int64_t *minor, int64_t *patch);

/*
 * Batches: many small problems in one call. Each routine has three forms:
 *
 *     superscalar_dpotrf_batched            tables of addresses; all problems have the same sizes
 *     superscalar_dpotrf_vbatched           tables of addresses, of sizes, of leading dimensions and of increments
 *     superscalar_dpotrf_strided_batched    the matrices of an operand are stride elements apart; the same sizes
 *
 * The arguments are those of LAPACK's or the BLAS's routine without workspaces, then info, then the number of problems.
 * Options are letters ('L', 'n'); complex factors are passed by address. Matrices are column-major. A stride follows
 * the leading dimension or increment of its operand; it is at least 0, and 0 makes all problems read the same matrix.
 * ipiv, tau, d and e are columns of adjacent elements, in the vbatched form, too. Increments are positive.
 *
 * A function returns 0, or -i if its argument i is wrong in some problem; then nothing has been computed, and the
 * program's LAPACKE_xerbla, if it has one, has been called. If the runtime fails or memory is exhausted, it returns
 * -1010. info[p] is that of LAPACK's routine for problem p, which changes no other problem. gesv and posv leave B
 * unchanged in a problem whose info is not 0.
 *
 * An address may be null if nothing is read or written there: a table of addresses if all matrices are empty, and every
 * table if there are no problems. Matrices that are written must not overlap others. Wrong are strides with which they
 * would. Tables in which the address of such a matrix is repeated have undefined results.
 *
 * gels is for trans = 'N' and m >= n, and ormqr and unmqr are for side = 'L'.
 */

/* begin: batches, 32 bits */
int superscalar_cgebrd_batched(int m, int n, lapack_complex_float *const *a, int lda, float *const *d, float *const *e,
    lapack_complex_float *const *tauq, lapack_complex_float *const *taup, int batch_count);
int superscalar_cgebrd_strided_batched(int m, int n, lapack_complex_float *a, int lda, int stride_a, float *d,
    int stride_d, float *e, int stride_e, lapack_complex_float *tauq, int stride_tauq, lapack_complex_float *taup,
    int stride_taup, int batch_count);
int superscalar_cgebrd_vbatched(const int *m, const int *n, lapack_complex_float *const *a, const int *lda,
    float *const *d, float *const *e, lapack_complex_float *const *tauq, lapack_complex_float *const *taup,
    int batch_count);
int superscalar_cgels_batched(char trans, int m, int n, int nrhs, lapack_complex_float *const *a, int lda,
    lapack_complex_float *const *b, int ldb, int *info, int batch_count);
int superscalar_cgels_strided_batched(char trans, int m, int n, int nrhs, lapack_complex_float *a, int lda,
    int stride_a, lapack_complex_float *b, int ldb, int stride_b, int *info, int batch_count);
int superscalar_cgels_vbatched(char trans, const int *m, const int *n, const int *nrhs, lapack_complex_float *const *a,
    const int *lda, lapack_complex_float *const *b, const int *ldb, int *info, int batch_count);
int superscalar_cgemv_batched(char trans, int m, int n, const lapack_complex_float *alpha,
    const lapack_complex_float *const *a, int lda, const lapack_complex_float *const *x, int incx,
    const lapack_complex_float *beta, lapack_complex_float *const *y, int incy, int batch_count);
int superscalar_cgemv_strided_batched(char trans, int m, int n, const lapack_complex_float *alpha,
    const lapack_complex_float *a, int lda, int stride_a, const lapack_complex_float *x, int incx, int stride_x,
    const lapack_complex_float *beta, lapack_complex_float *y, int incy, int stride_y, int batch_count);
int superscalar_cgemv_vbatched(char trans, const int *m, const int *n, const lapack_complex_float *alpha,
    const lapack_complex_float *const *a, const int *lda, const lapack_complex_float *const *x, const int *incx,
    const lapack_complex_float *beta, lapack_complex_float *const *y, const int *incy, int batch_count);
int superscalar_cgeqrf_batched(int m, int n, lapack_complex_float *const *a, int lda, lapack_complex_float *const *tau,
    int batch_count);
int superscalar_cgeqrf_strided_batched(int m, int n, lapack_complex_float *a, int lda, int stride_a,
    lapack_complex_float *tau, int stride_tau, int batch_count);
int superscalar_cgeqrf_vbatched(const int *m, const int *n, lapack_complex_float *const *a, const int *lda,
    lapack_complex_float *const *tau, int batch_count);
int superscalar_cgesv_batched(int n, int nrhs, lapack_complex_float *const *a, int lda, int *const *ipiv,
    lapack_complex_float *const *b, int ldb, int *info, int batch_count);
int superscalar_cgesv_strided_batched(int n, int nrhs, lapack_complex_float *a, int lda, int stride_a, int *ipiv,
    int stride_ipiv, lapack_complex_float *b, int ldb, int stride_b, int *info, int batch_count);
int superscalar_cgesv_vbatched(const int *n, const int *nrhs, lapack_complex_float *const *a, const int *lda,
    int *const *ipiv, lapack_complex_float *const *b, const int *ldb, int *info, int batch_count);
int superscalar_cgetrf_batched(int m, int n, lapack_complex_float *const *a, int lda, int *const *ipiv, int *info,
    int batch_count);
int superscalar_cgetrf_nopiv_batched(int m, int n, lapack_complex_float *const *a, int lda, int *info, int batch_count);
int superscalar_cgetrf_nopiv_strided_batched(int m, int n, lapack_complex_float *a, int lda, int stride_a, int *info,
    int batch_count);
int superscalar_cgetrf_nopiv_vbatched(const int *m, const int *n, lapack_complex_float *const *a, const int *lda,
    int *info, int batch_count);
int superscalar_cgetrf_strided_batched(int m, int n, lapack_complex_float *a, int lda, int stride_a, int *ipiv,
    int stride_ipiv, int *info, int batch_count);
int superscalar_cgetrf_vbatched(const int *m, const int *n, lapack_complex_float *const *a, const int *lda,
    int *const *ipiv, int *info, int batch_count);
int superscalar_cgetrs_batched(char trans, int n, int nrhs, const lapack_complex_float *const *a, int lda,
    const int *const *ipiv, lapack_complex_float *const *b, int ldb, int batch_count);
int superscalar_cgetrs_strided_batched(char trans, int n, int nrhs, const lapack_complex_float *a, int lda,
    int stride_a, const int *ipiv, int stride_ipiv, lapack_complex_float *b, int ldb, int stride_b, int batch_count);
int superscalar_cgetrs_vbatched(char trans, const int *n, const int *nrhs, const lapack_complex_float *const *a,
    const int *lda, const int *const *ipiv, lapack_complex_float *const *b, const int *ldb, int batch_count);
int superscalar_cposv_batched(char uplo, int n, int nrhs, lapack_complex_float *const *a, int lda,
    lapack_complex_float *const *b, int ldb, int *info, int batch_count);
int superscalar_cposv_strided_batched(char uplo, int n, int nrhs, lapack_complex_float *a, int lda, int stride_a,
    lapack_complex_float *b, int ldb, int stride_b, int *info, int batch_count);
int superscalar_cposv_vbatched(char uplo, const int *n, const int *nrhs, lapack_complex_float *const *a, const int *lda,
    lapack_complex_float *const *b, const int *ldb, int *info, int batch_count);
int superscalar_cpotrf_batched(char uplo, int n, lapack_complex_float *const *a, int lda, int *info, int batch_count);
int superscalar_cpotrf_strided_batched(char uplo, int n, lapack_complex_float *a, int lda, int stride_a, int *info,
    int batch_count);
int superscalar_cpotrf_vbatched(char uplo, const int *n, lapack_complex_float *const *a, const int *lda, int *info,
    int batch_count);
int superscalar_cpotrs_batched(char uplo, int n, int nrhs, const lapack_complex_float *const *a, int lda,
    lapack_complex_float *const *b, int ldb, int batch_count);
int superscalar_cpotrs_strided_batched(char uplo, int n, int nrhs, const lapack_complex_float *a, int lda, int stride_a,
    lapack_complex_float *b, int ldb, int stride_b, int batch_count);
int superscalar_cpotrs_vbatched(char uplo, const int *n, const int *nrhs, const lapack_complex_float *const *a,
    const int *lda, lapack_complex_float *const *b, const int *ldb, int batch_count);
int superscalar_ctrsm_batched(char side, char uplo, char transa, char diag, int m, int n,
    const lapack_complex_float *alpha, const lapack_complex_float *const *a, int lda, lapack_complex_float *const *b,
    int ldb, int batch_count);
int superscalar_ctrsm_strided_batched(char side, char uplo, char transa, char diag, int m, int n,
    const lapack_complex_float *alpha, const lapack_complex_float *a, int lda, int stride_a, lapack_complex_float *b,
    int ldb, int stride_b, int batch_count);
int superscalar_ctrsm_vbatched(char side, char uplo, char transa, char diag, const int *m, const int *n,
    const lapack_complex_float *alpha, const lapack_complex_float *const *a, const int *lda,
    lapack_complex_float *const *b, const int *ldb, int batch_count);
int superscalar_cungqr_batched(int m, int n, int k, lapack_complex_float *const *a, int lda,
    const lapack_complex_float *const *tau, int batch_count);
int superscalar_cungqr_strided_batched(int m, int n, int k, lapack_complex_float *a, int lda, int stride_a,
    const lapack_complex_float *tau, int stride_tau, int batch_count);
int superscalar_cungqr_vbatched(const int *m, const int *n, const int *k, lapack_complex_float *const *a,
    const int *lda, const lapack_complex_float *const *tau, int batch_count);
int superscalar_cunmqr_batched(char side, char trans, int m, int n, int k, const lapack_complex_float *const *a,
    int lda, const lapack_complex_float *const *tau, lapack_complex_float *const *c, int ldc, int batch_count);
int superscalar_cunmqr_strided_batched(char side, char trans, int m, int n, int k, const lapack_complex_float *a,
    int lda, int stride_a, const lapack_complex_float *tau, int stride_tau, lapack_complex_float *c, int ldc,
    int stride_c, int batch_count);
int superscalar_cunmqr_vbatched(char side, char trans, const int *m, const int *n, const int *k,
    const lapack_complex_float *const *a, const int *lda, const lapack_complex_float *const *tau,
    lapack_complex_float *const *c, const int *ldc, int batch_count);
int superscalar_dgebrd_batched(int m, int n, double *const *a, int lda, double *const *d, double *const *e,
    double *const *tauq, double *const *taup, int batch_count);
int superscalar_dgebrd_strided_batched(int m, int n, double *a, int lda, int stride_a, double *d, int stride_d,
    double *e, int stride_e, double *tauq, int stride_tauq, double *taup, int stride_taup, int batch_count);
int superscalar_dgebrd_vbatched(const int *m, const int *n, double *const *a, const int *lda, double *const *d,
    double *const *e, double *const *tauq, double *const *taup, int batch_count);
int superscalar_dgels_batched(char trans, int m, int n, int nrhs, double *const *a, int lda, double *const *b, int ldb,
    int *info, int batch_count);
int superscalar_dgels_strided_batched(char trans, int m, int n, int nrhs, double *a, int lda, int stride_a, double *b,
    int ldb, int stride_b, int *info, int batch_count);
int superscalar_dgels_vbatched(char trans, const int *m, const int *n, const int *nrhs, double *const *a,
    const int *lda, double *const *b, const int *ldb, int *info, int batch_count);
int superscalar_dgemv_batched(char trans, int m, int n, double alpha, const double *const *a, int lda,
    const double *const *x, int incx, double beta, double *const *y, int incy, int batch_count);
int superscalar_dgemv_strided_batched(char trans, int m, int n, double alpha, const double *a, int lda, int stride_a,
    const double *x, int incx, int stride_x, double beta, double *y, int incy, int stride_y, int batch_count);
int superscalar_dgemv_vbatched(char trans, const int *m, const int *n, double alpha, const double *const *a,
    const int *lda, const double *const *x, const int *incx, double beta, double *const *y, const int *incy,
    int batch_count);
int superscalar_dgeqrf_batched(int m, int n, double *const *a, int lda, double *const *tau, int batch_count);
int superscalar_dgeqrf_strided_batched(int m, int n, double *a, int lda, int stride_a, double *tau, int stride_tau,
    int batch_count);
int superscalar_dgeqrf_vbatched(const int *m, const int *n, double *const *a, const int *lda, double *const *tau,
    int batch_count);
int superscalar_dgesv_batched(int n, int nrhs, double *const *a, int lda, int *const *ipiv, double *const *b, int ldb,
    int *info, int batch_count);
int superscalar_dgesv_strided_batched(int n, int nrhs, double *a, int lda, int stride_a, int *ipiv, int stride_ipiv,
    double *b, int ldb, int stride_b, int *info, int batch_count);
int superscalar_dgesv_vbatched(const int *n, const int *nrhs, double *const *a, const int *lda, int *const *ipiv,
    double *const *b, const int *ldb, int *info, int batch_count);
int superscalar_dgetrf_batched(int m, int n, double *const *a, int lda, int *const *ipiv, int *info, int batch_count);
int superscalar_dgetrf_nopiv_batched(int m, int n, double *const *a, int lda, int *info, int batch_count);
int superscalar_dgetrf_nopiv_strided_batched(int m, int n, double *a, int lda, int stride_a, int *info,
    int batch_count);
int superscalar_dgetrf_nopiv_vbatched(const int *m, const int *n, double *const *a, const int *lda, int *info,
    int batch_count);
int superscalar_dgetrf_strided_batched(int m, int n, double *a, int lda, int stride_a, int *ipiv, int stride_ipiv,
    int *info, int batch_count);
int superscalar_dgetrf_vbatched(const int *m, const int *n, double *const *a, const int *lda, int *const *ipiv,
    int *info, int batch_count);
int superscalar_dgetrs_batched(char trans, int n, int nrhs, const double *const *a, int lda, const int *const *ipiv,
    double *const *b, int ldb, int batch_count);
int superscalar_dgetrs_strided_batched(char trans, int n, int nrhs, const double *a, int lda, int stride_a,
    const int *ipiv, int stride_ipiv, double *b, int ldb, int stride_b, int batch_count);
int superscalar_dgetrs_vbatched(char trans, const int *n, const int *nrhs, const double *const *a, const int *lda,
    const int *const *ipiv, double *const *b, const int *ldb, int batch_count);
int superscalar_dorgqr_batched(int m, int n, int k, double *const *a, int lda, const double *const *tau,
    int batch_count);
int superscalar_dorgqr_strided_batched(int m, int n, int k, double *a, int lda, int stride_a, const double *tau,
    int stride_tau, int batch_count);
int superscalar_dorgqr_vbatched(const int *m, const int *n, const int *k, double *const *a, const int *lda,
    const double *const *tau, int batch_count);
int superscalar_dormqr_batched(char side, char trans, int m, int n, int k, const double *const *a, int lda,
    const double *const *tau, double *const *c, int ldc, int batch_count);
int superscalar_dormqr_strided_batched(char side, char trans, int m, int n, int k, const double *a, int lda,
    int stride_a, const double *tau, int stride_tau, double *c, int ldc, int stride_c, int batch_count);
int superscalar_dormqr_vbatched(char side, char trans, const int *m, const int *n, const int *k, const double *const *a,
    const int *lda, const double *const *tau, double *const *c, const int *ldc, int batch_count);
int superscalar_dposv_batched(char uplo, int n, int nrhs, double *const *a, int lda, double *const *b, int ldb,
    int *info, int batch_count);
int superscalar_dposv_strided_batched(char uplo, int n, int nrhs, double *a, int lda, int stride_a, double *b, int ldb,
    int stride_b, int *info, int batch_count);
int superscalar_dposv_vbatched(char uplo, const int *n, const int *nrhs, double *const *a, const int *lda,
    double *const *b, const int *ldb, int *info, int batch_count);
int superscalar_dpotrf_batched(char uplo, int n, double *const *a, int lda, int *info, int batch_count);
int superscalar_dpotrf_strided_batched(char uplo, int n, double *a, int lda, int stride_a, int *info, int batch_count);
int superscalar_dpotrf_vbatched(char uplo, const int *n, double *const *a, const int *lda, int *info, int batch_count);
int superscalar_dpotrs_batched(char uplo, int n, int nrhs, const double *const *a, int lda, double *const *b, int ldb,
    int batch_count);
int superscalar_dpotrs_strided_batched(char uplo, int n, int nrhs, const double *a, int lda, int stride_a, double *b,
    int ldb, int stride_b, int batch_count);
int superscalar_dpotrs_vbatched(char uplo, const int *n, const int *nrhs, const double *const *a, const int *lda,
    double *const *b, const int *ldb, int batch_count);
int superscalar_dtrsm_batched(char side, char uplo, char transa, char diag, int m, int n, double alpha,
    const double *const *a, int lda, double *const *b, int ldb, int batch_count);
int superscalar_dtrsm_strided_batched(char side, char uplo, char transa, char diag, int m, int n, double alpha,
    const double *a, int lda, int stride_a, double *b, int ldb, int stride_b, int batch_count);
int superscalar_dtrsm_vbatched(char side, char uplo, char transa, char diag, const int *m, const int *n, double alpha,
    const double *const *a, const int *lda, double *const *b, const int *ldb, int batch_count);
int superscalar_sgebrd_batched(int m, int n, float *const *a, int lda, float *const *d, float *const *e,
    float *const *tauq, float *const *taup, int batch_count);
int superscalar_sgebrd_strided_batched(int m, int n, float *a, int lda, int stride_a, float *d, int stride_d, float *e,
    int stride_e, float *tauq, int stride_tauq, float *taup, int stride_taup, int batch_count);
int superscalar_sgebrd_vbatched(const int *m, const int *n, float *const *a, const int *lda, float *const *d,
    float *const *e, float *const *tauq, float *const *taup, int batch_count);
int superscalar_sgels_batched(char trans, int m, int n, int nrhs, float *const *a, int lda, float *const *b, int ldb,
    int *info, int batch_count);
int superscalar_sgels_strided_batched(char trans, int m, int n, int nrhs, float *a, int lda, int stride_a, float *b,
    int ldb, int stride_b, int *info, int batch_count);
int superscalar_sgels_vbatched(char trans, const int *m, const int *n, const int *nrhs, float *const *a, const int *lda,
    float *const *b, const int *ldb, int *info, int batch_count);
int superscalar_sgemv_batched(char trans, int m, int n, float alpha, const float *const *a, int lda,
    const float *const *x, int incx, float beta, float *const *y, int incy, int batch_count);
int superscalar_sgemv_strided_batched(char trans, int m, int n, float alpha, const float *a, int lda, int stride_a,
    const float *x, int incx, int stride_x, float beta, float *y, int incy, int stride_y, int batch_count);
int superscalar_sgemv_vbatched(char trans, const int *m, const int *n, float alpha, const float *const *a,
    const int *lda, const float *const *x, const int *incx, float beta, float *const *y, const int *incy,
    int batch_count);
int superscalar_sgeqrf_batched(int m, int n, float *const *a, int lda, float *const *tau, int batch_count);
int superscalar_sgeqrf_strided_batched(int m, int n, float *a, int lda, int stride_a, float *tau, int stride_tau,
    int batch_count);
int superscalar_sgeqrf_vbatched(const int *m, const int *n, float *const *a, const int *lda, float *const *tau,
    int batch_count);
int superscalar_sgesv_batched(int n, int nrhs, float *const *a, int lda, int *const *ipiv, float *const *b, int ldb,
    int *info, int batch_count);
int superscalar_sgesv_strided_batched(int n, int nrhs, float *a, int lda, int stride_a, int *ipiv, int stride_ipiv,
    float *b, int ldb, int stride_b, int *info, int batch_count);
int superscalar_sgesv_vbatched(const int *n, const int *nrhs, float *const *a, const int *lda, int *const *ipiv,
    float *const *b, const int *ldb, int *info, int batch_count);
int superscalar_sgetrf_batched(int m, int n, float *const *a, int lda, int *const *ipiv, int *info, int batch_count);
int superscalar_sgetrf_nopiv_batched(int m, int n, float *const *a, int lda, int *info, int batch_count);
int superscalar_sgetrf_nopiv_strided_batched(int m, int n, float *a, int lda, int stride_a, int *info, int batch_count);
int superscalar_sgetrf_nopiv_vbatched(const int *m, const int *n, float *const *a, const int *lda, int *info,
    int batch_count);
int superscalar_sgetrf_strided_batched(int m, int n, float *a, int lda, int stride_a, int *ipiv, int stride_ipiv,
    int *info, int batch_count);
int superscalar_sgetrf_vbatched(const int *m, const int *n, float *const *a, const int *lda, int *const *ipiv,
    int *info, int batch_count);
int superscalar_sgetrs_batched(char trans, int n, int nrhs, const float *const *a, int lda, const int *const *ipiv,
    float *const *b, int ldb, int batch_count);
int superscalar_sgetrs_strided_batched(char trans, int n, int nrhs, const float *a, int lda, int stride_a,
    const int *ipiv, int stride_ipiv, float *b, int ldb, int stride_b, int batch_count);
int superscalar_sgetrs_vbatched(char trans, const int *n, const int *nrhs, const float *const *a, const int *lda,
    const int *const *ipiv, float *const *b, const int *ldb, int batch_count);
int superscalar_sorgqr_batched(int m, int n, int k, float *const *a, int lda, const float *const *tau, int batch_count);
int superscalar_sorgqr_strided_batched(int m, int n, int k, float *a, int lda, int stride_a, const float *tau,
    int stride_tau, int batch_count);
int superscalar_sorgqr_vbatched(const int *m, const int *n, const int *k, float *const *a, const int *lda,
    const float *const *tau, int batch_count);
int superscalar_sormqr_batched(char side, char trans, int m, int n, int k, const float *const *a, int lda,
    const float *const *tau, float *const *c, int ldc, int batch_count);
int superscalar_sormqr_strided_batched(char side, char trans, int m, int n, int k, const float *a, int lda,
    int stride_a, const float *tau, int stride_tau, float *c, int ldc, int stride_c, int batch_count);
int superscalar_sormqr_vbatched(char side, char trans, const int *m, const int *n, const int *k, const float *const *a,
    const int *lda, const float *const *tau, float *const *c, const int *ldc, int batch_count);
int superscalar_sposv_batched(char uplo, int n, int nrhs, float *const *a, int lda, float *const *b, int ldb, int *info,
    int batch_count);
int superscalar_sposv_strided_batched(char uplo, int n, int nrhs, float *a, int lda, int stride_a, float *b, int ldb,
    int stride_b, int *info, int batch_count);
int superscalar_sposv_vbatched(char uplo, const int *n, const int *nrhs, float *const *a, const int *lda,
    float *const *b, const int *ldb, int *info, int batch_count);
int superscalar_spotrf_batched(char uplo, int n, float *const *a, int lda, int *info, int batch_count);
int superscalar_spotrf_strided_batched(char uplo, int n, float *a, int lda, int stride_a, int *info, int batch_count);
int superscalar_spotrf_vbatched(char uplo, const int *n, float *const *a, const int *lda, int *info, int batch_count);
int superscalar_spotrs_batched(char uplo, int n, int nrhs, const float *const *a, int lda, float *const *b, int ldb,
    int batch_count);
int superscalar_spotrs_strided_batched(char uplo, int n, int nrhs, const float *a, int lda, int stride_a, float *b,
    int ldb, int stride_b, int batch_count);
int superscalar_spotrs_vbatched(char uplo, const int *n, const int *nrhs, const float *const *a, const int *lda,
    float *const *b, const int *ldb, int batch_count);
int superscalar_strsm_batched(char side, char uplo, char transa, char diag, int m, int n, float alpha,
    const float *const *a, int lda, float *const *b, int ldb, int batch_count);
int superscalar_strsm_strided_batched(char side, char uplo, char transa, char diag, int m, int n, float alpha,
    const float *a, int lda, int stride_a, float *b, int ldb, int stride_b, int batch_count);
int superscalar_strsm_vbatched(char side, char uplo, char transa, char diag, const int *m, const int *n, float alpha,
    const float *const *a, const int *lda, float *const *b, const int *ldb, int batch_count);
int superscalar_zgebrd_batched(int m, int n, lapack_complex_double *const *a, int lda, double *const *d,
    double *const *e, lapack_complex_double *const *tauq, lapack_complex_double *const *taup, int batch_count);
int superscalar_zgebrd_strided_batched(int m, int n, lapack_complex_double *a, int lda, int stride_a, double *d,
    int stride_d, double *e, int stride_e, lapack_complex_double *tauq, int stride_tauq, lapack_complex_double *taup,
    int stride_taup, int batch_count);
int superscalar_zgebrd_vbatched(const int *m, const int *n, lapack_complex_double *const *a, const int *lda,
    double *const *d, double *const *e, lapack_complex_double *const *tauq, lapack_complex_double *const *taup,
    int batch_count);
int superscalar_zgels_batched(char trans, int m, int n, int nrhs, lapack_complex_double *const *a, int lda,
    lapack_complex_double *const *b, int ldb, int *info, int batch_count);
int superscalar_zgels_strided_batched(char trans, int m, int n, int nrhs, lapack_complex_double *a, int lda,
    int stride_a, lapack_complex_double *b, int ldb, int stride_b, int *info, int batch_count);
int superscalar_zgels_vbatched(char trans, const int *m, const int *n, const int *nrhs, lapack_complex_double *const *a,
    const int *lda, lapack_complex_double *const *b, const int *ldb, int *info, int batch_count);
int superscalar_zgemv_batched(char trans, int m, int n, const lapack_complex_double *alpha,
    const lapack_complex_double *const *a, int lda, const lapack_complex_double *const *x, int incx,
    const lapack_complex_double *beta, lapack_complex_double *const *y, int incy, int batch_count);
int superscalar_zgemv_strided_batched(char trans, int m, int n, const lapack_complex_double *alpha,
    const lapack_complex_double *a, int lda, int stride_a, const lapack_complex_double *x, int incx, int stride_x,
    const lapack_complex_double *beta, lapack_complex_double *y, int incy, int stride_y, int batch_count);
int superscalar_zgemv_vbatched(char trans, const int *m, const int *n, const lapack_complex_double *alpha,
    const lapack_complex_double *const *a, const int *lda, const lapack_complex_double *const *x, const int *incx,
    const lapack_complex_double *beta, lapack_complex_double *const *y, const int *incy, int batch_count);
int superscalar_zgeqrf_batched(int m, int n, lapack_complex_double *const *a, int lda,
    lapack_complex_double *const *tau, int batch_count);
int superscalar_zgeqrf_strided_batched(int m, int n, lapack_complex_double *a, int lda, int stride_a,
    lapack_complex_double *tau, int stride_tau, int batch_count);
int superscalar_zgeqrf_vbatched(const int *m, const int *n, lapack_complex_double *const *a, const int *lda,
    lapack_complex_double *const *tau, int batch_count);
int superscalar_zgesv_batched(int n, int nrhs, lapack_complex_double *const *a, int lda, int *const *ipiv,
    lapack_complex_double *const *b, int ldb, int *info, int batch_count);
int superscalar_zgesv_strided_batched(int n, int nrhs, lapack_complex_double *a, int lda, int stride_a, int *ipiv,
    int stride_ipiv, lapack_complex_double *b, int ldb, int stride_b, int *info, int batch_count);
int superscalar_zgesv_vbatched(const int *n, const int *nrhs, lapack_complex_double *const *a, const int *lda,
    int *const *ipiv, lapack_complex_double *const *b, const int *ldb, int *info, int batch_count);
int superscalar_zgetrf_batched(int m, int n, lapack_complex_double *const *a, int lda, int *const *ipiv, int *info,
    int batch_count);
int superscalar_zgetrf_nopiv_batched(int m, int n, lapack_complex_double *const *a, int lda, int *info,
    int batch_count);
int superscalar_zgetrf_nopiv_strided_batched(int m, int n, lapack_complex_double *a, int lda, int stride_a, int *info,
    int batch_count);
int superscalar_zgetrf_nopiv_vbatched(const int *m, const int *n, lapack_complex_double *const *a, const int *lda,
    int *info, int batch_count);
int superscalar_zgetrf_strided_batched(int m, int n, lapack_complex_double *a, int lda, int stride_a, int *ipiv,
    int stride_ipiv, int *info, int batch_count);
int superscalar_zgetrf_vbatched(const int *m, const int *n, lapack_complex_double *const *a, const int *lda,
    int *const *ipiv, int *info, int batch_count);
int superscalar_zgetrs_batched(char trans, int n, int nrhs, const lapack_complex_double *const *a, int lda,
    const int *const *ipiv, lapack_complex_double *const *b, int ldb, int batch_count);
int superscalar_zgetrs_strided_batched(char trans, int n, int nrhs, const lapack_complex_double *a, int lda,
    int stride_a, const int *ipiv, int stride_ipiv, lapack_complex_double *b, int ldb, int stride_b, int batch_count);
int superscalar_zgetrs_vbatched(char trans, const int *n, const int *nrhs, const lapack_complex_double *const *a,
    const int *lda, const int *const *ipiv, lapack_complex_double *const *b, const int *ldb, int batch_count);
int superscalar_zposv_batched(char uplo, int n, int nrhs, lapack_complex_double *const *a, int lda,
    lapack_complex_double *const *b, int ldb, int *info, int batch_count);
int superscalar_zposv_strided_batched(char uplo, int n, int nrhs, lapack_complex_double *a, int lda, int stride_a,
    lapack_complex_double *b, int ldb, int stride_b, int *info, int batch_count);
int superscalar_zposv_vbatched(char uplo, const int *n, const int *nrhs, lapack_complex_double *const *a,
    const int *lda, lapack_complex_double *const *b, const int *ldb, int *info, int batch_count);
int superscalar_zpotrf_batched(char uplo, int n, lapack_complex_double *const *a, int lda, int *info, int batch_count);
int superscalar_zpotrf_strided_batched(char uplo, int n, lapack_complex_double *a, int lda, int stride_a, int *info,
    int batch_count);
int superscalar_zpotrf_vbatched(char uplo, const int *n, lapack_complex_double *const *a, const int *lda, int *info,
    int batch_count);
int superscalar_zpotrs_batched(char uplo, int n, int nrhs, const lapack_complex_double *const *a, int lda,
    lapack_complex_double *const *b, int ldb, int batch_count);
int superscalar_zpotrs_strided_batched(char uplo, int n, int nrhs, const lapack_complex_double *a, int lda,
    int stride_a, lapack_complex_double *b, int ldb, int stride_b, int batch_count);
int superscalar_zpotrs_vbatched(char uplo, const int *n, const int *nrhs, const lapack_complex_double *const *a,
    const int *lda, lapack_complex_double *const *b, const int *ldb, int batch_count);
int superscalar_ztrsm_batched(char side, char uplo, char transa, char diag, int m, int n,
    const lapack_complex_double *alpha, const lapack_complex_double *const *a, int lda, lapack_complex_double *const *b,
    int ldb, int batch_count);
int superscalar_ztrsm_strided_batched(char side, char uplo, char transa, char diag, int m, int n,
    const lapack_complex_double *alpha, const lapack_complex_double *a, int lda, int stride_a, lapack_complex_double *b,
    int ldb, int stride_b, int batch_count);
int superscalar_ztrsm_vbatched(char side, char uplo, char transa, char diag, const int *m, const int *n,
    const lapack_complex_double *alpha, const lapack_complex_double *const *a, const int *lda,
    lapack_complex_double *const *b, const int *ldb, int batch_count);
int superscalar_zungqr_batched(int m, int n, int k, lapack_complex_double *const *a, int lda,
    const lapack_complex_double *const *tau, int batch_count);
int superscalar_zungqr_strided_batched(int m, int n, int k, lapack_complex_double *a, int lda, int stride_a,
    const lapack_complex_double *tau, int stride_tau, int batch_count);
int superscalar_zungqr_vbatched(const int *m, const int *n, const int *k, lapack_complex_double *const *a,
    const int *lda, const lapack_complex_double *const *tau, int batch_count);
int superscalar_zunmqr_batched(char side, char trans, int m, int n, int k, const lapack_complex_double *const *a,
    int lda, const lapack_complex_double *const *tau, lapack_complex_double *const *c, int ldc, int batch_count);
int superscalar_zunmqr_strided_batched(char side, char trans, int m, int n, int k, const lapack_complex_double *a,
    int lda, int stride_a, const lapack_complex_double *tau, int stride_tau, lapack_complex_double *c, int ldc,
    int stride_c, int batch_count);
int superscalar_zunmqr_vbatched(char side, char trans, const int *m, const int *n, const int *k,
    const lapack_complex_double *const *a, const int *lda, const lapack_complex_double *const *tau,
    lapack_complex_double *const *c, const int *ldc, int batch_count);
/* end */

/* begin: batches, 64 bits */
int superscalar_cgebrd_batched_64(int64_t m, int64_t n, lapack_complex_float *const *a, int64_t lda, float *const *d,
    float *const *e, lapack_complex_float *const *tauq, lapack_complex_float *const *taup, int64_t batch_count);
int superscalar_cgebrd_strided_batched_64(int64_t m, int64_t n, lapack_complex_float *a, int64_t lda, int64_t stride_a,
    float *d, int64_t stride_d, float *e, int64_t stride_e, lapack_complex_float *tauq, int64_t stride_tauq,
    lapack_complex_float *taup, int64_t stride_taup, int64_t batch_count);
int superscalar_cgebrd_vbatched_64(const int64_t *m, const int64_t *n, lapack_complex_float *const *a,
    const int64_t *lda, float *const *d, float *const *e, lapack_complex_float *const *tauq,
    lapack_complex_float *const *taup, int64_t batch_count);
int superscalar_cgels_batched_64(char trans, int64_t m, int64_t n, int64_t nrhs, lapack_complex_float *const *a,
    int64_t lda, lapack_complex_float *const *b, int64_t ldb, int64_t *info, int64_t batch_count);
int superscalar_cgels_strided_batched_64(char trans, int64_t m, int64_t n, int64_t nrhs, lapack_complex_float *a,
    int64_t lda, int64_t stride_a, lapack_complex_float *b, int64_t ldb, int64_t stride_b, int64_t *info,
    int64_t batch_count);
int superscalar_cgels_vbatched_64(char trans, const int64_t *m, const int64_t *n, const int64_t *nrhs,
    lapack_complex_float *const *a, const int64_t *lda, lapack_complex_float *const *b, const int64_t *ldb,
    int64_t *info, int64_t batch_count);
int superscalar_cgemv_batched_64(char trans, int64_t m, int64_t n, const lapack_complex_float *alpha,
    const lapack_complex_float *const *a, int64_t lda, const lapack_complex_float *const *x, int64_t incx,
    const lapack_complex_float *beta, lapack_complex_float *const *y, int64_t incy, int64_t batch_count);
int superscalar_cgemv_strided_batched_64(char trans, int64_t m, int64_t n, const lapack_complex_float *alpha,
    const lapack_complex_float *a, int64_t lda, int64_t stride_a, const lapack_complex_float *x, int64_t incx,
    int64_t stride_x, const lapack_complex_float *beta, lapack_complex_float *y, int64_t incy, int64_t stride_y,
    int64_t batch_count);
int superscalar_cgemv_vbatched_64(char trans, const int64_t *m, const int64_t *n, const lapack_complex_float *alpha,
    const lapack_complex_float *const *a, const int64_t *lda, const lapack_complex_float *const *x, const int64_t *incx,
    const lapack_complex_float *beta, lapack_complex_float *const *y, const int64_t *incy, int64_t batch_count);
int superscalar_cgeqrf_batched_64(int64_t m, int64_t n, lapack_complex_float *const *a, int64_t lda,
    lapack_complex_float *const *tau, int64_t batch_count);
int superscalar_cgeqrf_strided_batched_64(int64_t m, int64_t n, lapack_complex_float *a, int64_t lda, int64_t stride_a,
    lapack_complex_float *tau, int64_t stride_tau, int64_t batch_count);
int superscalar_cgeqrf_vbatched_64(const int64_t *m, const int64_t *n, lapack_complex_float *const *a,
    const int64_t *lda, lapack_complex_float *const *tau, int64_t batch_count);
int superscalar_cgesv_batched_64(int64_t n, int64_t nrhs, lapack_complex_float *const *a, int64_t lda,
    int64_t *const *ipiv, lapack_complex_float *const *b, int64_t ldb, int64_t *info, int64_t batch_count);
int superscalar_cgesv_strided_batched_64(int64_t n, int64_t nrhs, lapack_complex_float *a, int64_t lda,
    int64_t stride_a, int64_t *ipiv, int64_t stride_ipiv, lapack_complex_float *b, int64_t ldb, int64_t stride_b,
    int64_t *info, int64_t batch_count);
int superscalar_cgesv_vbatched_64(const int64_t *n, const int64_t *nrhs, lapack_complex_float *const *a,
    const int64_t *lda, int64_t *const *ipiv, lapack_complex_float *const *b, const int64_t *ldb, int64_t *info,
    int64_t batch_count);
int superscalar_cgetrf_batched_64(int64_t m, int64_t n, lapack_complex_float *const *a, int64_t lda,
    int64_t *const *ipiv, int64_t *info, int64_t batch_count);
int superscalar_cgetrf_nopiv_batched_64(int64_t m, int64_t n, lapack_complex_float *const *a, int64_t lda,
    int64_t *info, int64_t batch_count);
int superscalar_cgetrf_nopiv_strided_batched_64(int64_t m, int64_t n, lapack_complex_float *a, int64_t lda,
    int64_t stride_a, int64_t *info, int64_t batch_count);
int superscalar_cgetrf_nopiv_vbatched_64(const int64_t *m, const int64_t *n, lapack_complex_float *const *a,
    const int64_t *lda, int64_t *info, int64_t batch_count);
int superscalar_cgetrf_strided_batched_64(int64_t m, int64_t n, lapack_complex_float *a, int64_t lda, int64_t stride_a,
    int64_t *ipiv, int64_t stride_ipiv, int64_t *info, int64_t batch_count);
int superscalar_cgetrf_vbatched_64(const int64_t *m, const int64_t *n, lapack_complex_float *const *a,
    const int64_t *lda, int64_t *const *ipiv, int64_t *info, int64_t batch_count);
int superscalar_cgetrs_batched_64(char trans, int64_t n, int64_t nrhs, const lapack_complex_float *const *a,
    int64_t lda, const int64_t *const *ipiv, lapack_complex_float *const *b, int64_t ldb, int64_t batch_count);
int superscalar_cgetrs_strided_batched_64(char trans, int64_t n, int64_t nrhs, const lapack_complex_float *a,
    int64_t lda, int64_t stride_a, const int64_t *ipiv, int64_t stride_ipiv, lapack_complex_float *b, int64_t ldb,
    int64_t stride_b, int64_t batch_count);
int superscalar_cgetrs_vbatched_64(char trans, const int64_t *n, const int64_t *nrhs,
    const lapack_complex_float *const *a, const int64_t *lda, const int64_t *const *ipiv,
    lapack_complex_float *const *b, const int64_t *ldb, int64_t batch_count);
int superscalar_cposv_batched_64(char uplo, int64_t n, int64_t nrhs, lapack_complex_float *const *a, int64_t lda,
    lapack_complex_float *const *b, int64_t ldb, int64_t *info, int64_t batch_count);
int superscalar_cposv_strided_batched_64(char uplo, int64_t n, int64_t nrhs, lapack_complex_float *a, int64_t lda,
    int64_t stride_a, lapack_complex_float *b, int64_t ldb, int64_t stride_b, int64_t *info, int64_t batch_count);
int superscalar_cposv_vbatched_64(char uplo, const int64_t *n, const int64_t *nrhs, lapack_complex_float *const *a,
    const int64_t *lda, lapack_complex_float *const *b, const int64_t *ldb, int64_t *info, int64_t batch_count);
int superscalar_cpotrf_batched_64(char uplo, int64_t n, lapack_complex_float *const *a, int64_t lda, int64_t *info,
    int64_t batch_count);
int superscalar_cpotrf_strided_batched_64(char uplo, int64_t n, lapack_complex_float *a, int64_t lda, int64_t stride_a,
    int64_t *info, int64_t batch_count);
int superscalar_cpotrf_vbatched_64(char uplo, const int64_t *n, lapack_complex_float *const *a, const int64_t *lda,
    int64_t *info, int64_t batch_count);
int superscalar_cpotrs_batched_64(char uplo, int64_t n, int64_t nrhs, const lapack_complex_float *const *a, int64_t lda,
    lapack_complex_float *const *b, int64_t ldb, int64_t batch_count);
int superscalar_cpotrs_strided_batched_64(char uplo, int64_t n, int64_t nrhs, const lapack_complex_float *a,
    int64_t lda, int64_t stride_a, lapack_complex_float *b, int64_t ldb, int64_t stride_b, int64_t batch_count);
int superscalar_cpotrs_vbatched_64(char uplo, const int64_t *n, const int64_t *nrhs,
    const lapack_complex_float *const *a, const int64_t *lda, lapack_complex_float *const *b, const int64_t *ldb,
    int64_t batch_count);
int superscalar_ctrsm_batched_64(char side, char uplo, char transa, char diag, int64_t m, int64_t n,
    const lapack_complex_float *alpha, const lapack_complex_float *const *a, int64_t lda,
    lapack_complex_float *const *b, int64_t ldb, int64_t batch_count);
int superscalar_ctrsm_strided_batched_64(char side, char uplo, char transa, char diag, int64_t m, int64_t n,
    const lapack_complex_float *alpha, const lapack_complex_float *a, int64_t lda, int64_t stride_a,
    lapack_complex_float *b, int64_t ldb, int64_t stride_b, int64_t batch_count);
int superscalar_ctrsm_vbatched_64(char side, char uplo, char transa, char diag, const int64_t *m, const int64_t *n,
    const lapack_complex_float *alpha, const lapack_complex_float *const *a, const int64_t *lda,
    lapack_complex_float *const *b, const int64_t *ldb, int64_t batch_count);
int superscalar_cungqr_batched_64(int64_t m, int64_t n, int64_t k, lapack_complex_float *const *a, int64_t lda,
    const lapack_complex_float *const *tau, int64_t batch_count);
int superscalar_cungqr_strided_batched_64(int64_t m, int64_t n, int64_t k, lapack_complex_float *a, int64_t lda,
    int64_t stride_a, const lapack_complex_float *tau, int64_t stride_tau, int64_t batch_count);
int superscalar_cungqr_vbatched_64(const int64_t *m, const int64_t *n, const int64_t *k, lapack_complex_float *const *a,
    const int64_t *lda, const lapack_complex_float *const *tau, int64_t batch_count);
int superscalar_cunmqr_batched_64(char side, char trans, int64_t m, int64_t n, int64_t k,
    const lapack_complex_float *const *a, int64_t lda, const lapack_complex_float *const *tau,
    lapack_complex_float *const *c, int64_t ldc, int64_t batch_count);
int superscalar_cunmqr_strided_batched_64(char side, char trans, int64_t m, int64_t n, int64_t k,
    const lapack_complex_float *a, int64_t lda, int64_t stride_a, const lapack_complex_float *tau, int64_t stride_tau,
    lapack_complex_float *c, int64_t ldc, int64_t stride_c, int64_t batch_count);
int superscalar_cunmqr_vbatched_64(char side, char trans, const int64_t *m, const int64_t *n, const int64_t *k,
    const lapack_complex_float *const *a, const int64_t *lda, const lapack_complex_float *const *tau,
    lapack_complex_float *const *c, const int64_t *ldc, int64_t batch_count);
int superscalar_dgebrd_batched_64(int64_t m, int64_t n, double *const *a, int64_t lda, double *const *d,
    double *const *e, double *const *tauq, double *const *taup, int64_t batch_count);
int superscalar_dgebrd_strided_batched_64(int64_t m, int64_t n, double *a, int64_t lda, int64_t stride_a, double *d,
    int64_t stride_d, double *e, int64_t stride_e, double *tauq, int64_t stride_tauq, double *taup, int64_t stride_taup,
    int64_t batch_count);
int superscalar_dgebrd_vbatched_64(const int64_t *m, const int64_t *n, double *const *a, const int64_t *lda,
    double *const *d, double *const *e, double *const *tauq, double *const *taup, int64_t batch_count);
int superscalar_dgels_batched_64(char trans, int64_t m, int64_t n, int64_t nrhs, double *const *a, int64_t lda,
    double *const *b, int64_t ldb, int64_t *info, int64_t batch_count);
int superscalar_dgels_strided_batched_64(char trans, int64_t m, int64_t n, int64_t nrhs, double *a, int64_t lda,
    int64_t stride_a, double *b, int64_t ldb, int64_t stride_b, int64_t *info, int64_t batch_count);
int superscalar_dgels_vbatched_64(char trans, const int64_t *m, const int64_t *n, const int64_t *nrhs, double *const *a,
    const int64_t *lda, double *const *b, const int64_t *ldb, int64_t *info, int64_t batch_count);
int superscalar_dgemv_batched_64(char trans, int64_t m, int64_t n, double alpha, const double *const *a, int64_t lda,
    const double *const *x, int64_t incx, double beta, double *const *y, int64_t incy, int64_t batch_count);
int superscalar_dgemv_strided_batched_64(char trans, int64_t m, int64_t n, double alpha, const double *a, int64_t lda,
    int64_t stride_a, const double *x, int64_t incx, int64_t stride_x, double beta, double *y, int64_t incy,
    int64_t stride_y, int64_t batch_count);
int superscalar_dgemv_vbatched_64(char trans, const int64_t *m, const int64_t *n, double alpha, const double *const *a,
    const int64_t *lda, const double *const *x, const int64_t *incx, double beta, double *const *y, const int64_t *incy,
    int64_t batch_count);
int superscalar_dgeqrf_batched_64(int64_t m, int64_t n, double *const *a, int64_t lda, double *const *tau,
    int64_t batch_count);
int superscalar_dgeqrf_strided_batched_64(int64_t m, int64_t n, double *a, int64_t lda, int64_t stride_a, double *tau,
    int64_t stride_tau, int64_t batch_count);
int superscalar_dgeqrf_vbatched_64(const int64_t *m, const int64_t *n, double *const *a, const int64_t *lda,
    double *const *tau, int64_t batch_count);
int superscalar_dgesv_batched_64(int64_t n, int64_t nrhs, double *const *a, int64_t lda, int64_t *const *ipiv,
    double *const *b, int64_t ldb, int64_t *info, int64_t batch_count);
int superscalar_dgesv_strided_batched_64(int64_t n, int64_t nrhs, double *a, int64_t lda, int64_t stride_a,
    int64_t *ipiv, int64_t stride_ipiv, double *b, int64_t ldb, int64_t stride_b, int64_t *info, int64_t batch_count);
int superscalar_dgesv_vbatched_64(const int64_t *n, const int64_t *nrhs, double *const *a, const int64_t *lda,
    int64_t *const *ipiv, double *const *b, const int64_t *ldb, int64_t *info, int64_t batch_count);
int superscalar_dgetrf_batched_64(int64_t m, int64_t n, double *const *a, int64_t lda, int64_t *const *ipiv,
    int64_t *info, int64_t batch_count);
int superscalar_dgetrf_nopiv_batched_64(int64_t m, int64_t n, double *const *a, int64_t lda, int64_t *info,
    int64_t batch_count);
int superscalar_dgetrf_nopiv_strided_batched_64(int64_t m, int64_t n, double *a, int64_t lda, int64_t stride_a,
    int64_t *info, int64_t batch_count);
int superscalar_dgetrf_nopiv_vbatched_64(const int64_t *m, const int64_t *n, double *const *a, const int64_t *lda,
    int64_t *info, int64_t batch_count);
int superscalar_dgetrf_strided_batched_64(int64_t m, int64_t n, double *a, int64_t lda, int64_t stride_a, int64_t *ipiv,
    int64_t stride_ipiv, int64_t *info, int64_t batch_count);
int superscalar_dgetrf_vbatched_64(const int64_t *m, const int64_t *n, double *const *a, const int64_t *lda,
    int64_t *const *ipiv, int64_t *info, int64_t batch_count);
int superscalar_dgetrs_batched_64(char trans, int64_t n, int64_t nrhs, const double *const *a, int64_t lda,
    const int64_t *const *ipiv, double *const *b, int64_t ldb, int64_t batch_count);
int superscalar_dgetrs_strided_batched_64(char trans, int64_t n, int64_t nrhs, const double *a, int64_t lda,
    int64_t stride_a, const int64_t *ipiv, int64_t stride_ipiv, double *b, int64_t ldb, int64_t stride_b,
    int64_t batch_count);
int superscalar_dgetrs_vbatched_64(char trans, const int64_t *n, const int64_t *nrhs, const double *const *a,
    const int64_t *lda, const int64_t *const *ipiv, double *const *b, const int64_t *ldb, int64_t batch_count);
int superscalar_dorgqr_batched_64(int64_t m, int64_t n, int64_t k, double *const *a, int64_t lda,
    const double *const *tau, int64_t batch_count);
int superscalar_dorgqr_strided_batched_64(int64_t m, int64_t n, int64_t k, double *a, int64_t lda, int64_t stride_a,
    const double *tau, int64_t stride_tau, int64_t batch_count);
int superscalar_dorgqr_vbatched_64(const int64_t *m, const int64_t *n, const int64_t *k, double *const *a,
    const int64_t *lda, const double *const *tau, int64_t batch_count);
int superscalar_dormqr_batched_64(char side, char trans, int64_t m, int64_t n, int64_t k, const double *const *a,
    int64_t lda, const double *const *tau, double *const *c, int64_t ldc, int64_t batch_count);
int superscalar_dormqr_strided_batched_64(char side, char trans, int64_t m, int64_t n, int64_t k, const double *a,
    int64_t lda, int64_t stride_a, const double *tau, int64_t stride_tau, double *c, int64_t ldc, int64_t stride_c,
    int64_t batch_count);
int superscalar_dormqr_vbatched_64(char side, char trans, const int64_t *m, const int64_t *n, const int64_t *k,
    const double *const *a, const int64_t *lda, const double *const *tau, double *const *c, const int64_t *ldc,
    int64_t batch_count);
int superscalar_dposv_batched_64(char uplo, int64_t n, int64_t nrhs, double *const *a, int64_t lda, double *const *b,
    int64_t ldb, int64_t *info, int64_t batch_count);
int superscalar_dposv_strided_batched_64(char uplo, int64_t n, int64_t nrhs, double *a, int64_t lda, int64_t stride_a,
    double *b, int64_t ldb, int64_t stride_b, int64_t *info, int64_t batch_count);
int superscalar_dposv_vbatched_64(char uplo, const int64_t *n, const int64_t *nrhs, double *const *a,
    const int64_t *lda, double *const *b, const int64_t *ldb, int64_t *info, int64_t batch_count);
int superscalar_dpotrf_batched_64(char uplo, int64_t n, double *const *a, int64_t lda, int64_t *info,
    int64_t batch_count);
int superscalar_dpotrf_strided_batched_64(char uplo, int64_t n, double *a, int64_t lda, int64_t stride_a, int64_t *info,
    int64_t batch_count);
int superscalar_dpotrf_vbatched_64(char uplo, const int64_t *n, double *const *a, const int64_t *lda, int64_t *info,
    int64_t batch_count);
int superscalar_dpotrs_batched_64(char uplo, int64_t n, int64_t nrhs, const double *const *a, int64_t lda,
    double *const *b, int64_t ldb, int64_t batch_count);
int superscalar_dpotrs_strided_batched_64(char uplo, int64_t n, int64_t nrhs, const double *a, int64_t lda,
    int64_t stride_a, double *b, int64_t ldb, int64_t stride_b, int64_t batch_count);
int superscalar_dpotrs_vbatched_64(char uplo, const int64_t *n, const int64_t *nrhs, const double *const *a,
    const int64_t *lda, double *const *b, const int64_t *ldb, int64_t batch_count);
int superscalar_dtrsm_batched_64(char side, char uplo, char transa, char diag, int64_t m, int64_t n, double alpha,
    const double *const *a, int64_t lda, double *const *b, int64_t ldb, int64_t batch_count);
int superscalar_dtrsm_strided_batched_64(char side, char uplo, char transa, char diag, int64_t m, int64_t n,
    double alpha, const double *a, int64_t lda, int64_t stride_a, double *b, int64_t ldb, int64_t stride_b,
    int64_t batch_count);
int superscalar_dtrsm_vbatched_64(char side, char uplo, char transa, char diag, const int64_t *m, const int64_t *n,
    double alpha, const double *const *a, const int64_t *lda, double *const *b, const int64_t *ldb,
    int64_t batch_count);
int superscalar_sgebrd_batched_64(int64_t m, int64_t n, float *const *a, int64_t lda, float *const *d, float *const *e,
    float *const *tauq, float *const *taup, int64_t batch_count);
int superscalar_sgebrd_strided_batched_64(int64_t m, int64_t n, float *a, int64_t lda, int64_t stride_a, float *d,
    int64_t stride_d, float *e, int64_t stride_e, float *tauq, int64_t stride_tauq, float *taup, int64_t stride_taup,
    int64_t batch_count);
int superscalar_sgebrd_vbatched_64(const int64_t *m, const int64_t *n, float *const *a, const int64_t *lda,
    float *const *d, float *const *e, float *const *tauq, float *const *taup, int64_t batch_count);
int superscalar_sgels_batched_64(char trans, int64_t m, int64_t n, int64_t nrhs, float *const *a, int64_t lda,
    float *const *b, int64_t ldb, int64_t *info, int64_t batch_count);
int superscalar_sgels_strided_batched_64(char trans, int64_t m, int64_t n, int64_t nrhs, float *a, int64_t lda,
    int64_t stride_a, float *b, int64_t ldb, int64_t stride_b, int64_t *info, int64_t batch_count);
int superscalar_sgels_vbatched_64(char trans, const int64_t *m, const int64_t *n, const int64_t *nrhs, float *const *a,
    const int64_t *lda, float *const *b, const int64_t *ldb, int64_t *info, int64_t batch_count);
int superscalar_sgemv_batched_64(char trans, int64_t m, int64_t n, float alpha, const float *const *a, int64_t lda,
    const float *const *x, int64_t incx, float beta, float *const *y, int64_t incy, int64_t batch_count);
int superscalar_sgemv_strided_batched_64(char trans, int64_t m, int64_t n, float alpha, const float *a, int64_t lda,
    int64_t stride_a, const float *x, int64_t incx, int64_t stride_x, float beta, float *y, int64_t incy,
    int64_t stride_y, int64_t batch_count);
int superscalar_sgemv_vbatched_64(char trans, const int64_t *m, const int64_t *n, float alpha, const float *const *a,
    const int64_t *lda, const float *const *x, const int64_t *incx, float beta, float *const *y, const int64_t *incy,
    int64_t batch_count);
int superscalar_sgeqrf_batched_64(int64_t m, int64_t n, float *const *a, int64_t lda, float *const *tau,
    int64_t batch_count);
int superscalar_sgeqrf_strided_batched_64(int64_t m, int64_t n, float *a, int64_t lda, int64_t stride_a, float *tau,
    int64_t stride_tau, int64_t batch_count);
int superscalar_sgeqrf_vbatched_64(const int64_t *m, const int64_t *n, float *const *a, const int64_t *lda,
    float *const *tau, int64_t batch_count);
int superscalar_sgesv_batched_64(int64_t n, int64_t nrhs, float *const *a, int64_t lda, int64_t *const *ipiv,
    float *const *b, int64_t ldb, int64_t *info, int64_t batch_count);
int superscalar_sgesv_strided_batched_64(int64_t n, int64_t nrhs, float *a, int64_t lda, int64_t stride_a,
    int64_t *ipiv, int64_t stride_ipiv, float *b, int64_t ldb, int64_t stride_b, int64_t *info, int64_t batch_count);
int superscalar_sgesv_vbatched_64(const int64_t *n, const int64_t *nrhs, float *const *a, const int64_t *lda,
    int64_t *const *ipiv, float *const *b, const int64_t *ldb, int64_t *info, int64_t batch_count);
int superscalar_sgetrf_batched_64(int64_t m, int64_t n, float *const *a, int64_t lda, int64_t *const *ipiv,
    int64_t *info, int64_t batch_count);
int superscalar_sgetrf_nopiv_batched_64(int64_t m, int64_t n, float *const *a, int64_t lda, int64_t *info,
    int64_t batch_count);
int superscalar_sgetrf_nopiv_strided_batched_64(int64_t m, int64_t n, float *a, int64_t lda, int64_t stride_a,
    int64_t *info, int64_t batch_count);
int superscalar_sgetrf_nopiv_vbatched_64(const int64_t *m, const int64_t *n, float *const *a, const int64_t *lda,
    int64_t *info, int64_t batch_count);
int superscalar_sgetrf_strided_batched_64(int64_t m, int64_t n, float *a, int64_t lda, int64_t stride_a, int64_t *ipiv,
    int64_t stride_ipiv, int64_t *info, int64_t batch_count);
int superscalar_sgetrf_vbatched_64(const int64_t *m, const int64_t *n, float *const *a, const int64_t *lda,
    int64_t *const *ipiv, int64_t *info, int64_t batch_count);
int superscalar_sgetrs_batched_64(char trans, int64_t n, int64_t nrhs, const float *const *a, int64_t lda,
    const int64_t *const *ipiv, float *const *b, int64_t ldb, int64_t batch_count);
int superscalar_sgetrs_strided_batched_64(char trans, int64_t n, int64_t nrhs, const float *a, int64_t lda,
    int64_t stride_a, const int64_t *ipiv, int64_t stride_ipiv, float *b, int64_t ldb, int64_t stride_b,
    int64_t batch_count);
int superscalar_sgetrs_vbatched_64(char trans, const int64_t *n, const int64_t *nrhs, const float *const *a,
    const int64_t *lda, const int64_t *const *ipiv, float *const *b, const int64_t *ldb, int64_t batch_count);
int superscalar_sorgqr_batched_64(int64_t m, int64_t n, int64_t k, float *const *a, int64_t lda,
    const float *const *tau, int64_t batch_count);
int superscalar_sorgqr_strided_batched_64(int64_t m, int64_t n, int64_t k, float *a, int64_t lda, int64_t stride_a,
    const float *tau, int64_t stride_tau, int64_t batch_count);
int superscalar_sorgqr_vbatched_64(const int64_t *m, const int64_t *n, const int64_t *k, float *const *a,
    const int64_t *lda, const float *const *tau, int64_t batch_count);
int superscalar_sormqr_batched_64(char side, char trans, int64_t m, int64_t n, int64_t k, const float *const *a,
    int64_t lda, const float *const *tau, float *const *c, int64_t ldc, int64_t batch_count);
int superscalar_sormqr_strided_batched_64(char side, char trans, int64_t m, int64_t n, int64_t k, const float *a,
    int64_t lda, int64_t stride_a, const float *tau, int64_t stride_tau, float *c, int64_t ldc, int64_t stride_c,
    int64_t batch_count);
int superscalar_sormqr_vbatched_64(char side, char trans, const int64_t *m, const int64_t *n, const int64_t *k,
    const float *const *a, const int64_t *lda, const float *const *tau, float *const *c, const int64_t *ldc,
    int64_t batch_count);
int superscalar_sposv_batched_64(char uplo, int64_t n, int64_t nrhs, float *const *a, int64_t lda, float *const *b,
    int64_t ldb, int64_t *info, int64_t batch_count);
int superscalar_sposv_strided_batched_64(char uplo, int64_t n, int64_t nrhs, float *a, int64_t lda, int64_t stride_a,
    float *b, int64_t ldb, int64_t stride_b, int64_t *info, int64_t batch_count);
int superscalar_sposv_vbatched_64(char uplo, const int64_t *n, const int64_t *nrhs, float *const *a, const int64_t *lda,
    float *const *b, const int64_t *ldb, int64_t *info, int64_t batch_count);
int superscalar_spotrf_batched_64(char uplo, int64_t n, float *const *a, int64_t lda, int64_t *info,
    int64_t batch_count);
int superscalar_spotrf_strided_batched_64(char uplo, int64_t n, float *a, int64_t lda, int64_t stride_a, int64_t *info,
    int64_t batch_count);
int superscalar_spotrf_vbatched_64(char uplo, const int64_t *n, float *const *a, const int64_t *lda, int64_t *info,
    int64_t batch_count);
int superscalar_spotrs_batched_64(char uplo, int64_t n, int64_t nrhs, const float *const *a, int64_t lda,
    float *const *b, int64_t ldb, int64_t batch_count);
int superscalar_spotrs_strided_batched_64(char uplo, int64_t n, int64_t nrhs, const float *a, int64_t lda,
    int64_t stride_a, float *b, int64_t ldb, int64_t stride_b, int64_t batch_count);
int superscalar_spotrs_vbatched_64(char uplo, const int64_t *n, const int64_t *nrhs, const float *const *a,
    const int64_t *lda, float *const *b, const int64_t *ldb, int64_t batch_count);
int superscalar_strsm_batched_64(char side, char uplo, char transa, char diag, int64_t m, int64_t n, float alpha,
    const float *const *a, int64_t lda, float *const *b, int64_t ldb, int64_t batch_count);
int superscalar_strsm_strided_batched_64(char side, char uplo, char transa, char diag, int64_t m, int64_t n,
    float alpha, const float *a, int64_t lda, int64_t stride_a, float *b, int64_t ldb, int64_t stride_b,
    int64_t batch_count);
int superscalar_strsm_vbatched_64(char side, char uplo, char transa, char diag, const int64_t *m, const int64_t *n,
    float alpha, const float *const *a, const int64_t *lda, float *const *b, const int64_t *ldb, int64_t batch_count);
int superscalar_zgebrd_batched_64(int64_t m, int64_t n, lapack_complex_double *const *a, int64_t lda, double *const *d,
    double *const *e, lapack_complex_double *const *tauq, lapack_complex_double *const *taup, int64_t batch_count);
int superscalar_zgebrd_strided_batched_64(int64_t m, int64_t n, lapack_complex_double *a, int64_t lda, int64_t stride_a,
    double *d, int64_t stride_d, double *e, int64_t stride_e, lapack_complex_double *tauq, int64_t stride_tauq,
    lapack_complex_double *taup, int64_t stride_taup, int64_t batch_count);
int superscalar_zgebrd_vbatched_64(const int64_t *m, const int64_t *n, lapack_complex_double *const *a,
    const int64_t *lda, double *const *d, double *const *e, lapack_complex_double *const *tauq,
    lapack_complex_double *const *taup, int64_t batch_count);
int superscalar_zgels_batched_64(char trans, int64_t m, int64_t n, int64_t nrhs, lapack_complex_double *const *a,
    int64_t lda, lapack_complex_double *const *b, int64_t ldb, int64_t *info, int64_t batch_count);
int superscalar_zgels_strided_batched_64(char trans, int64_t m, int64_t n, int64_t nrhs, lapack_complex_double *a,
    int64_t lda, int64_t stride_a, lapack_complex_double *b, int64_t ldb, int64_t stride_b, int64_t *info,
    int64_t batch_count);
int superscalar_zgels_vbatched_64(char trans, const int64_t *m, const int64_t *n, const int64_t *nrhs,
    lapack_complex_double *const *a, const int64_t *lda, lapack_complex_double *const *b, const int64_t *ldb,
    int64_t *info, int64_t batch_count);
int superscalar_zgemv_batched_64(char trans, int64_t m, int64_t n, const lapack_complex_double *alpha,
    const lapack_complex_double *const *a, int64_t lda, const lapack_complex_double *const *x, int64_t incx,
    const lapack_complex_double *beta, lapack_complex_double *const *y, int64_t incy, int64_t batch_count);
int superscalar_zgemv_strided_batched_64(char trans, int64_t m, int64_t n, const lapack_complex_double *alpha,
    const lapack_complex_double *a, int64_t lda, int64_t stride_a, const lapack_complex_double *x, int64_t incx,
    int64_t stride_x, const lapack_complex_double *beta, lapack_complex_double *y, int64_t incy, int64_t stride_y,
    int64_t batch_count);
int superscalar_zgemv_vbatched_64(char trans, const int64_t *m, const int64_t *n, const lapack_complex_double *alpha,
    const lapack_complex_double *const *a, const int64_t *lda, const lapack_complex_double *const *x,
    const int64_t *incx, const lapack_complex_double *beta, lapack_complex_double *const *y, const int64_t *incy,
    int64_t batch_count);
int superscalar_zgeqrf_batched_64(int64_t m, int64_t n, lapack_complex_double *const *a, int64_t lda,
    lapack_complex_double *const *tau, int64_t batch_count);
int superscalar_zgeqrf_strided_batched_64(int64_t m, int64_t n, lapack_complex_double *a, int64_t lda, int64_t stride_a,
    lapack_complex_double *tau, int64_t stride_tau, int64_t batch_count);
int superscalar_zgeqrf_vbatched_64(const int64_t *m, const int64_t *n, lapack_complex_double *const *a,
    const int64_t *lda, lapack_complex_double *const *tau, int64_t batch_count);
int superscalar_zgesv_batched_64(int64_t n, int64_t nrhs, lapack_complex_double *const *a, int64_t lda,
    int64_t *const *ipiv, lapack_complex_double *const *b, int64_t ldb, int64_t *info, int64_t batch_count);
int superscalar_zgesv_strided_batched_64(int64_t n, int64_t nrhs, lapack_complex_double *a, int64_t lda,
    int64_t stride_a, int64_t *ipiv, int64_t stride_ipiv, lapack_complex_double *b, int64_t ldb, int64_t stride_b,
    int64_t *info, int64_t batch_count);
int superscalar_zgesv_vbatched_64(const int64_t *n, const int64_t *nrhs, lapack_complex_double *const *a,
    const int64_t *lda, int64_t *const *ipiv, lapack_complex_double *const *b, const int64_t *ldb, int64_t *info,
    int64_t batch_count);
int superscalar_zgetrf_batched_64(int64_t m, int64_t n, lapack_complex_double *const *a, int64_t lda,
    int64_t *const *ipiv, int64_t *info, int64_t batch_count);
int superscalar_zgetrf_nopiv_batched_64(int64_t m, int64_t n, lapack_complex_double *const *a, int64_t lda,
    int64_t *info, int64_t batch_count);
int superscalar_zgetrf_nopiv_strided_batched_64(int64_t m, int64_t n, lapack_complex_double *a, int64_t lda,
    int64_t stride_a, int64_t *info, int64_t batch_count);
int superscalar_zgetrf_nopiv_vbatched_64(const int64_t *m, const int64_t *n, lapack_complex_double *const *a,
    const int64_t *lda, int64_t *info, int64_t batch_count);
int superscalar_zgetrf_strided_batched_64(int64_t m, int64_t n, lapack_complex_double *a, int64_t lda, int64_t stride_a,
    int64_t *ipiv, int64_t stride_ipiv, int64_t *info, int64_t batch_count);
int superscalar_zgetrf_vbatched_64(const int64_t *m, const int64_t *n, lapack_complex_double *const *a,
    const int64_t *lda, int64_t *const *ipiv, int64_t *info, int64_t batch_count);
int superscalar_zgetrs_batched_64(char trans, int64_t n, int64_t nrhs, const lapack_complex_double *const *a,
    int64_t lda, const int64_t *const *ipiv, lapack_complex_double *const *b, int64_t ldb, int64_t batch_count);
int superscalar_zgetrs_strided_batched_64(char trans, int64_t n, int64_t nrhs, const lapack_complex_double *a,
    int64_t lda, int64_t stride_a, const int64_t *ipiv, int64_t stride_ipiv, lapack_complex_double *b, int64_t ldb,
    int64_t stride_b, int64_t batch_count);
int superscalar_zgetrs_vbatched_64(char trans, const int64_t *n, const int64_t *nrhs,
    const lapack_complex_double *const *a, const int64_t *lda, const int64_t *const *ipiv,
    lapack_complex_double *const *b, const int64_t *ldb, int64_t batch_count);
int superscalar_zposv_batched_64(char uplo, int64_t n, int64_t nrhs, lapack_complex_double *const *a, int64_t lda,
    lapack_complex_double *const *b, int64_t ldb, int64_t *info, int64_t batch_count);
int superscalar_zposv_strided_batched_64(char uplo, int64_t n, int64_t nrhs, lapack_complex_double *a, int64_t lda,
    int64_t stride_a, lapack_complex_double *b, int64_t ldb, int64_t stride_b, int64_t *info, int64_t batch_count);
int superscalar_zposv_vbatched_64(char uplo, const int64_t *n, const int64_t *nrhs, lapack_complex_double *const *a,
    const int64_t *lda, lapack_complex_double *const *b, const int64_t *ldb, int64_t *info, int64_t batch_count);
int superscalar_zpotrf_batched_64(char uplo, int64_t n, lapack_complex_double *const *a, int64_t lda, int64_t *info,
    int64_t batch_count);
int superscalar_zpotrf_strided_batched_64(char uplo, int64_t n, lapack_complex_double *a, int64_t lda, int64_t stride_a,
    int64_t *info, int64_t batch_count);
int superscalar_zpotrf_vbatched_64(char uplo, const int64_t *n, lapack_complex_double *const *a, const int64_t *lda,
    int64_t *info, int64_t batch_count);
int superscalar_zpotrs_batched_64(char uplo, int64_t n, int64_t nrhs, const lapack_complex_double *const *a,
    int64_t lda, lapack_complex_double *const *b, int64_t ldb, int64_t batch_count);
int superscalar_zpotrs_strided_batched_64(char uplo, int64_t n, int64_t nrhs, const lapack_complex_double *a,
    int64_t lda, int64_t stride_a, lapack_complex_double *b, int64_t ldb, int64_t stride_b, int64_t batch_count);
int superscalar_zpotrs_vbatched_64(char uplo, const int64_t *n, const int64_t *nrhs,
    const lapack_complex_double *const *a, const int64_t *lda, lapack_complex_double *const *b, const int64_t *ldb,
    int64_t batch_count);
int superscalar_ztrsm_batched_64(char side, char uplo, char transa, char diag, int64_t m, int64_t n,
    const lapack_complex_double *alpha, const lapack_complex_double *const *a, int64_t lda,
    lapack_complex_double *const *b, int64_t ldb, int64_t batch_count);
int superscalar_ztrsm_strided_batched_64(char side, char uplo, char transa, char diag, int64_t m, int64_t n,
    const lapack_complex_double *alpha, const lapack_complex_double *a, int64_t lda, int64_t stride_a,
    lapack_complex_double *b, int64_t ldb, int64_t stride_b, int64_t batch_count);
int superscalar_ztrsm_vbatched_64(char side, char uplo, char transa, char diag, const int64_t *m, const int64_t *n,
    const lapack_complex_double *alpha, const lapack_complex_double *const *a, const int64_t *lda,
    lapack_complex_double *const *b, const int64_t *ldb, int64_t batch_count);
int superscalar_zungqr_batched_64(int64_t m, int64_t n, int64_t k, lapack_complex_double *const *a, int64_t lda,
    const lapack_complex_double *const *tau, int64_t batch_count);
int superscalar_zungqr_strided_batched_64(int64_t m, int64_t n, int64_t k, lapack_complex_double *a, int64_t lda,
    int64_t stride_a, const lapack_complex_double *tau, int64_t stride_tau, int64_t batch_count);
int superscalar_zungqr_vbatched_64(const int64_t *m, const int64_t *n, const int64_t *k,
    lapack_complex_double *const *a, const int64_t *lda, const lapack_complex_double *const *tau, int64_t batch_count);
int superscalar_zunmqr_batched_64(char side, char trans, int64_t m, int64_t n, int64_t k,
    const lapack_complex_double *const *a, int64_t lda, const lapack_complex_double *const *tau,
    lapack_complex_double *const *c, int64_t ldc, int64_t batch_count);
int superscalar_zunmqr_strided_batched_64(char side, char trans, int64_t m, int64_t n, int64_t k,
    const lapack_complex_double *a, int64_t lda, int64_t stride_a, const lapack_complex_double *tau, int64_t stride_tau,
    lapack_complex_double *c, int64_t ldc, int64_t stride_c, int64_t batch_count);
int superscalar_zunmqr_vbatched_64(char side, char trans, const int64_t *m, const int64_t *n, const int64_t *k,
    const lapack_complex_double *const *a, const int64_t *lda, const lapack_complex_double *const *tau,
    lapack_complex_double *const *c, const int64_t *ldc, int64_t batch_count);
/* end */

/* CBLAS */

#ifndef SUPERSCALAR_NO_CBLAS
#ifndef CBLAS_H
#define CBLAS_H

#ifndef CBLAS_INDEX
#define CBLAS_INDEX size_t
#endif

typedef enum CBLAS_LAYOUT { CblasRowMajor = 101, CblasColMajor = 102 } CBLAS_LAYOUT;
typedef CBLAS_LAYOUT CBLAS_ORDER;
typedef enum CBLAS_TRANSPOSE { CblasNoTrans = 111, CblasTrans = 112, CblasConjTrans = 113 } CBLAS_TRANSPOSE;
typedef enum CBLAS_UPLO { CblasUpper = 121, CblasLower = 122 } CBLAS_UPLO;
typedef enum CBLAS_DIAG { CblasNonUnit = 131, CblasUnit = 132 } CBLAS_DIAG;
typedef enum CBLAS_SIDE { CblasLeft = 141, CblasRight = 142 } CBLAS_SIDE;

/* begin: CBLAS, 32 bits */
void cblas_caxpby(int n, const void *alpha, const void *x, int incx, const void *beta, void *y, int incy);
void cblas_caxpy(int n, const void *alpha, const void *x, int incx, void *y, int incy);
void cblas_ccopy(int n, const void *x, int incx, void *y, int incy);
void cblas_cdotc_sub(int n, const void *x, int incx, const void *y, int incy, void *result);
void cblas_cdotu_sub(int n, const void *x, int incx, const void *y, int incy, void *result);
void cblas_cgbmv(CBLAS_LAYOUT order, CBLAS_TRANSPOSE trans, int m, int n, int kl, int ku, const void *alpha,
    const void *a, int lda, const void *x, int incx, const void *beta, void *y, int incy);
void cblas_cgemm(CBLAS_LAYOUT order, CBLAS_TRANSPOSE transa, CBLAS_TRANSPOSE transb, int m, int n, int k,
    const void *alpha, const void *a, int lda, const void *b, int ldb, const void *beta, void *c, int ldc);
void cblas_cgemm_batch(CBLAS_LAYOUT order, const CBLAS_TRANSPOSE *transa, const CBLAS_TRANSPOSE *transb, const int *m,
    const int *n, const int *k, const void *alpha, const void *const *a, const int *lda, const void *const *b,
    const int *ldb, const void *beta, void *const *c, const int *ldc, int group_count, const int *group_size);
void cblas_cgemm_batch_strided(CBLAS_LAYOUT order, CBLAS_TRANSPOSE transa, CBLAS_TRANSPOSE transb, int m, int n, int k,
    const void *alpha, const void *a, int lda, int stridea, const void *b, int ldb, int strideb, const void *beta,
    void *c, int ldc, int stridec, int batch_size);
void cblas_cgemmt(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE transa, CBLAS_TRANSPOSE transb, int n, int k,
    const void *alpha, const void *a, int lda, const void *b, int ldb, const void *beta, void *c, int ldc);
void cblas_cgemv(CBLAS_LAYOUT order, CBLAS_TRANSPOSE trans, int m, int n, const void *alpha, const void *a, int lda,
    const void *x, int incx, const void *beta, void *y, int incy);
void cblas_cgerc(CBLAS_LAYOUT order, int m, int n, const void *alpha, const void *x, int incx, const void *y, int incy,
    void *a, int lda);
void cblas_cgeru(CBLAS_LAYOUT order, int m, int n, const void *alpha, const void *x, int incx, const void *y, int incy,
    void *a, int lda);
void cblas_chbmv(CBLAS_LAYOUT order, CBLAS_UPLO uplo, int n, int k, const void *alpha, const void *a, int lda,
    const void *x, int incx, const void *beta, void *y, int incy);
void cblas_chemm(CBLAS_LAYOUT order, CBLAS_SIDE side, CBLAS_UPLO uplo, int m, int n, const void *alpha, const void *a,
    int lda, const void *b, int ldb, const void *beta, void *c, int ldc);
void cblas_chemv(CBLAS_LAYOUT order, CBLAS_UPLO uplo, int n, const void *alpha, const void *a, int lda, const void *x,
    int incx, const void *beta, void *y, int incy);
void cblas_cher(CBLAS_LAYOUT order, CBLAS_UPLO uplo, int n, float alpha, const void *x, int incx, void *a, int lda);
void cblas_cher2(CBLAS_LAYOUT order, CBLAS_UPLO uplo, int n, const void *alpha, const void *x, int incx, const void *y,
    int incy, void *a, int lda);
void cblas_cher2k(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, int n, int k, const void *alpha,
    const void *a, int lda, const void *b, int ldb, float beta, void *c, int ldc);
void cblas_cherk(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, int n, int k, float alpha, const void *a,
    int lda, float beta, void *c, int ldc);
void cblas_chpmv(CBLAS_LAYOUT order, CBLAS_UPLO uplo, int n, const void *alpha, const void *a, const void *x, int incx,
    const void *beta, void *y, int incy);
void cblas_chpr(CBLAS_LAYOUT order, CBLAS_UPLO uplo, int n, float alpha, const void *x, int incx, void *a);
void cblas_chpr2(CBLAS_LAYOUT order, CBLAS_UPLO uplo, int n, const void *alpha, const void *x, int incx, const void *y,
    int incy, void *a);
void cblas_crotg(void *a, void *b, float *c, void *s);
void cblas_cscal(int n, const void *alpha, void *x, int incx);
void cblas_csrot(int n, void *x, int incx, void *y, int incy, float c, float s);
void cblas_csscal(int n, float alpha, void *x, int incx);
void cblas_cswap(int n, void *x, int incx, void *y, int incy);
void cblas_csymm(CBLAS_LAYOUT order, CBLAS_SIDE side, CBLAS_UPLO uplo, int m, int n, const void *alpha, const void *a,
    int lda, const void *b, int ldb, const void *beta, void *c, int ldc);
void cblas_csyr2k(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, int n, int k, const void *alpha,
    const void *a, int lda, const void *b, int ldb, const void *beta, void *c, int ldc);
void cblas_csyrk(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, int n, int k, const void *alpha,
    const void *a, int lda, const void *beta, void *c, int ldc);
void cblas_ctbmv(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, int n, int k,
    const void *a, int lda, void *x, int incx);
void cblas_ctbsv(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, int n, int k,
    const void *a, int lda, void *x, int incx);
void cblas_ctpmv(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, int n, const void *a,
    void *x, int incx);
void cblas_ctpsv(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, int n, const void *a,
    void *x, int incx);
void cblas_ctrmm(CBLAS_LAYOUT order, CBLAS_SIDE side, CBLAS_UPLO uplo, CBLAS_TRANSPOSE transa, CBLAS_DIAG diag, int m,
    int n, const void *alpha, const void *a, int lda, void *b, int ldb);
void cblas_ctrmv(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, int n, const void *a,
    int lda, void *x, int incx);
void cblas_ctrsm(CBLAS_LAYOUT order, CBLAS_SIDE side, CBLAS_UPLO uplo, CBLAS_TRANSPOSE transa, CBLAS_DIAG diag, int m,
    int n, const void *alpha, const void *a, int lda, void *b, int ldb);
void cblas_ctrsv(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, int n, const void *a,
    int lda, void *x, int incx);
double cblas_dasum(int n, const double *x, int incx);
void cblas_daxpby(int n, double alpha, const double *x, int incx, double beta, double *y, int incy);
void cblas_daxpy(int n, double alpha, const double *x, int incx, double *y, int incy);
void cblas_dcopy(int n, const double *x, int incx, double *y, int incy);
double cblas_ddot(int n, const double *x, int incx, const double *y, int incy);
void cblas_dgbmv(CBLAS_LAYOUT order, CBLAS_TRANSPOSE trans, int m, int n, int kl, int ku, double alpha, const double *a,
    int lda, const double *x, int incx, double beta, double *y, int incy);
void cblas_dgemm(CBLAS_LAYOUT order, CBLAS_TRANSPOSE transa, CBLAS_TRANSPOSE transb, int m, int n, int k, double alpha,
    const double *a, int lda, const double *b, int ldb, double beta, double *c, int ldc);
void cblas_dgemm_batch(CBLAS_LAYOUT order, const CBLAS_TRANSPOSE *transa, const CBLAS_TRANSPOSE *transb, const int *m,
    const int *n, const int *k, const double *alpha, const double *const *a, const int *lda, const double *const *b,
    const int *ldb, const double *beta, double *const *c, const int *ldc, int group_count, const int *group_size);
void cblas_dgemm_batch_strided(CBLAS_LAYOUT order, CBLAS_TRANSPOSE transa, CBLAS_TRANSPOSE transb, int m, int n, int k,
    double alpha, const double *a, int lda, int stridea, const double *b, int ldb, int strideb, double beta, double *c,
    int ldc, int stridec, int batch_size);
void cblas_dgemmt(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE transa, CBLAS_TRANSPOSE transb, int n, int k,
    double alpha, const double *a, int lda, const double *b, int ldb, double beta, double *c, int ldc);
void cblas_dgemv(CBLAS_LAYOUT order, CBLAS_TRANSPOSE trans, int m, int n, double alpha, const double *a, int lda,
    const double *x, int incx, double beta, double *y, int incy);
void cblas_dger(CBLAS_LAYOUT order, int m, int n, double alpha, const double *x, int incx, const double *y, int incy,
    double *a, int lda);
double cblas_dnrm2(int n, const double *x, int incx);
void cblas_drot(int n, double *x, int incx, double *y, int incy, double c, double s);
void cblas_drotg(double *a, double *b, double *c, double *s);
void cblas_drotm(int n, double *x, int incx, double *y, int incy, const double *param);
void cblas_drotmg(double *d1, double *d2, double *x1, double y1, double *param);
void cblas_dsbmv(CBLAS_LAYOUT order, CBLAS_UPLO uplo, int n, int k, double alpha, const double *a, int lda,
    const double *x, int incx, double beta, double *y, int incy);
void cblas_dscal(int n, double alpha, double *x, int incx);
double cblas_dsdot(int n, const float *x, int incx, const float *y, int incy);
void cblas_dspmv(CBLAS_LAYOUT order, CBLAS_UPLO uplo, int n, double alpha, const double *a, const double *x, int incx,
    double beta, double *y, int incy);
void cblas_dspr(CBLAS_LAYOUT order, CBLAS_UPLO uplo, int n, double alpha, const double *x, int incx, double *a);
void cblas_dspr2(CBLAS_LAYOUT order, CBLAS_UPLO uplo, int n, double alpha, const double *x, int incx, const double *y,
    int incy, double *a);
void cblas_dswap(int n, double *x, int incx, double *y, int incy);
void cblas_dsymm(CBLAS_LAYOUT order, CBLAS_SIDE side, CBLAS_UPLO uplo, int m, int n, double alpha, const double *a,
    int lda, const double *b, int ldb, double beta, double *c, int ldc);
void cblas_dsymv(CBLAS_LAYOUT order, CBLAS_UPLO uplo, int n, double alpha, const double *a, int lda, const double *x,
    int incx, double beta, double *y, int incy);
void cblas_dsyr(CBLAS_LAYOUT order, CBLAS_UPLO uplo, int n, double alpha, const double *x, int incx, double *a,
    int lda);
void cblas_dsyr2(CBLAS_LAYOUT order, CBLAS_UPLO uplo, int n, double alpha, const double *x, int incx, const double *y,
    int incy, double *a, int lda);
void cblas_dsyr2k(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, int n, int k, double alpha,
    const double *a, int lda, const double *b, int ldb, double beta, double *c, int ldc);
void cblas_dsyrk(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, int n, int k, double alpha,
    const double *a, int lda, double beta, double *c, int ldc);
void cblas_dtbmv(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, int n, int k,
    const double *a, int lda, double *x, int incx);
void cblas_dtbsv(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, int n, int k,
    const double *a, int lda, double *x, int incx);
void cblas_dtpmv(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, int n, const double *a,
    double *x, int incx);
void cblas_dtpsv(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, int n, const double *a,
    double *x, int incx);
void cblas_dtrmm(CBLAS_LAYOUT order, CBLAS_SIDE side, CBLAS_UPLO uplo, CBLAS_TRANSPOSE transa, CBLAS_DIAG diag, int m,
    int n, double alpha, const double *a, int lda, double *b, int ldb);
void cblas_dtrmv(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, int n, const double *a,
    int lda, double *x, int incx);
void cblas_dtrsm(CBLAS_LAYOUT order, CBLAS_SIDE side, CBLAS_UPLO uplo, CBLAS_TRANSPOSE transa, CBLAS_DIAG diag, int m,
    int n, double alpha, const double *a, int lda, double *b, int ldb);
void cblas_dtrsv(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, int n, const double *a,
    int lda, double *x, int incx);
double cblas_dzasum(int n, const void *x, int incx);
double cblas_dznrm2(int n, const void *x, int incx);
size_t cblas_icamax(int n, const void *x, int incx);
size_t cblas_idamax(int n, const double *x, int incx);
size_t cblas_isamax(int n, const float *x, int incx);
size_t cblas_izamax(int n, const void *x, int incx);
float cblas_sasum(int n, const float *x, int incx);
void cblas_saxpby(int n, float alpha, const float *x, int incx, float beta, float *y, int incy);
void cblas_saxpy(int n, float alpha, const float *x, int incx, float *y, int incy);
float cblas_scasum(int n, const void *x, int incx);
float cblas_scnrm2(int n, const void *x, int incx);
void cblas_scopy(int n, const float *x, int incx, float *y, int incy);
float cblas_sdot(int n, const float *x, int incx, const float *y, int incy);
float cblas_sdsdot(int n, float b, const float *x, int incx, const float *y, int incy);
void cblas_sgbmv(CBLAS_LAYOUT order, CBLAS_TRANSPOSE trans, int m, int n, int kl, int ku, float alpha, const float *a,
    int lda, const float *x, int incx, float beta, float *y, int incy);
void cblas_sgemm(CBLAS_LAYOUT order, CBLAS_TRANSPOSE transa, CBLAS_TRANSPOSE transb, int m, int n, int k, float alpha,
    const float *a, int lda, const float *b, int ldb, float beta, float *c, int ldc);
void cblas_sgemm_batch(CBLAS_LAYOUT order, const CBLAS_TRANSPOSE *transa, const CBLAS_TRANSPOSE *transb, const int *m,
    const int *n, const int *k, const float *alpha, const float *const *a, const int *lda, const float *const *b,
    const int *ldb, const float *beta, float *const *c, const int *ldc, int group_count, const int *group_size);
void cblas_sgemm_batch_strided(CBLAS_LAYOUT order, CBLAS_TRANSPOSE transa, CBLAS_TRANSPOSE transb, int m, int n, int k,
    float alpha, const float *a, int lda, int stridea, const float *b, int ldb, int strideb, float beta, float *c,
    int ldc, int stridec, int batch_size);
void cblas_sgemmt(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE transa, CBLAS_TRANSPOSE transb, int n, int k,
    float alpha, const float *a, int lda, const float *b, int ldb, float beta, float *c, int ldc);
void cblas_sgemv(CBLAS_LAYOUT order, CBLAS_TRANSPOSE trans, int m, int n, float alpha, const float *a, int lda,
    const float *x, int incx, float beta, float *y, int incy);
void cblas_sger(CBLAS_LAYOUT order, int m, int n, float alpha, const float *x, int incx, const float *y, int incy,
    float *a, int lda);
float cblas_snrm2(int n, const float *x, int incx);
void cblas_srot(int n, float *x, int incx, float *y, int incy, float c, float s);
void cblas_srotg(float *a, float *b, float *c, float *s);
void cblas_srotm(int n, float *x, int incx, float *y, int incy, const float *param);
void cblas_srotmg(float *d1, float *d2, float *x1, float y1, float *param);
void cblas_ssbmv(CBLAS_LAYOUT order, CBLAS_UPLO uplo, int n, int k, float alpha, const float *a, int lda,
    const float *x, int incx, float beta, float *y, int incy);
void cblas_sscal(int n, float alpha, float *x, int incx);
void cblas_sspmv(CBLAS_LAYOUT order, CBLAS_UPLO uplo, int n, float alpha, const float *a, const float *x, int incx,
    float beta, float *y, int incy);
void cblas_sspr(CBLAS_LAYOUT order, CBLAS_UPLO uplo, int n, float alpha, const float *x, int incx, float *a);
void cblas_sspr2(CBLAS_LAYOUT order, CBLAS_UPLO uplo, int n, float alpha, const float *x, int incx, const float *y,
    int incy, float *a);
void cblas_sswap(int n, float *x, int incx, float *y, int incy);
void cblas_ssymm(CBLAS_LAYOUT order, CBLAS_SIDE side, CBLAS_UPLO uplo, int m, int n, float alpha, const float *a,
    int lda, const float *b, int ldb, float beta, float *c, int ldc);
void cblas_ssymv(CBLAS_LAYOUT order, CBLAS_UPLO uplo, int n, float alpha, const float *a, int lda, const float *x,
    int incx, float beta, float *y, int incy);
void cblas_ssyr(CBLAS_LAYOUT order, CBLAS_UPLO uplo, int n, float alpha, const float *x, int incx, float *a, int lda);
void cblas_ssyr2(CBLAS_LAYOUT order, CBLAS_UPLO uplo, int n, float alpha, const float *x, int incx, const float *y,
    int incy, float *a, int lda);
void cblas_ssyr2k(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, int n, int k, float alpha, const float *a,
    int lda, const float *b, int ldb, float beta, float *c, int ldc);
void cblas_ssyrk(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, int n, int k, float alpha, const float *a,
    int lda, float beta, float *c, int ldc);
void cblas_stbmv(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, int n, int k,
    const float *a, int lda, float *x, int incx);
void cblas_stbsv(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, int n, int k,
    const float *a, int lda, float *x, int incx);
void cblas_stpmv(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, int n, const float *a,
    float *x, int incx);
void cblas_stpsv(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, int n, const float *a,
    float *x, int incx);
void cblas_strmm(CBLAS_LAYOUT order, CBLAS_SIDE side, CBLAS_UPLO uplo, CBLAS_TRANSPOSE transa, CBLAS_DIAG diag, int m,
    int n, float alpha, const float *a, int lda, float *b, int ldb);
void cblas_strmv(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, int n, const float *a,
    int lda, float *x, int incx);
void cblas_strsm(CBLAS_LAYOUT order, CBLAS_SIDE side, CBLAS_UPLO uplo, CBLAS_TRANSPOSE transa, CBLAS_DIAG diag, int m,
    int n, float alpha, const float *a, int lda, float *b, int ldb);
void cblas_strsv(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, int n, const float *a,
    int lda, float *x, int incx);
void cblas_zaxpby(int n, const void *alpha, const void *x, int incx, const void *beta, void *y, int incy);
void cblas_zaxpy(int n, const void *alpha, const void *x, int incx, void *y, int incy);
void cblas_zcopy(int n, const void *x, int incx, void *y, int incy);
void cblas_zdotc_sub(int n, const void *x, int incx, const void *y, int incy, void *result);
void cblas_zdotu_sub(int n, const void *x, int incx, const void *y, int incy, void *result);
void cblas_zdrot(int n, void *x, int incx, void *y, int incy, double c, double s);
void cblas_zdscal(int n, double alpha, void *x, int incx);
void cblas_zgbmv(CBLAS_LAYOUT order, CBLAS_TRANSPOSE trans, int m, int n, int kl, int ku, const void *alpha,
    const void *a, int lda, const void *x, int incx, const void *beta, void *y, int incy);
void cblas_zgemm(CBLAS_LAYOUT order, CBLAS_TRANSPOSE transa, CBLAS_TRANSPOSE transb, int m, int n, int k,
    const void *alpha, const void *a, int lda, const void *b, int ldb, const void *beta, void *c, int ldc);
void cblas_zgemm_batch(CBLAS_LAYOUT order, const CBLAS_TRANSPOSE *transa, const CBLAS_TRANSPOSE *transb, const int *m,
    const int *n, const int *k, const void *alpha, const void *const *a, const int *lda, const void *const *b,
    const int *ldb, const void *beta, void *const *c, const int *ldc, int group_count, const int *group_size);
void cblas_zgemm_batch_strided(CBLAS_LAYOUT order, CBLAS_TRANSPOSE transa, CBLAS_TRANSPOSE transb, int m, int n, int k,
    const void *alpha, const void *a, int lda, int stridea, const void *b, int ldb, int strideb, const void *beta,
    void *c, int ldc, int stridec, int batch_size);
void cblas_zgemmt(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE transa, CBLAS_TRANSPOSE transb, int n, int k,
    const void *alpha, const void *a, int lda, const void *b, int ldb, const void *beta, void *c, int ldc);
void cblas_zgemv(CBLAS_LAYOUT order, CBLAS_TRANSPOSE trans, int m, int n, const void *alpha, const void *a, int lda,
    const void *x, int incx, const void *beta, void *y, int incy);
void cblas_zgerc(CBLAS_LAYOUT order, int m, int n, const void *alpha, const void *x, int incx, const void *y, int incy,
    void *a, int lda);
void cblas_zgeru(CBLAS_LAYOUT order, int m, int n, const void *alpha, const void *x, int incx, const void *y, int incy,
    void *a, int lda);
void cblas_zhbmv(CBLAS_LAYOUT order, CBLAS_UPLO uplo, int n, int k, const void *alpha, const void *a, int lda,
    const void *x, int incx, const void *beta, void *y, int incy);
void cblas_zhemm(CBLAS_LAYOUT order, CBLAS_SIDE side, CBLAS_UPLO uplo, int m, int n, const void *alpha, const void *a,
    int lda, const void *b, int ldb, const void *beta, void *c, int ldc);
void cblas_zhemv(CBLAS_LAYOUT order, CBLAS_UPLO uplo, int n, const void *alpha, const void *a, int lda, const void *x,
    int incx, const void *beta, void *y, int incy);
void cblas_zher(CBLAS_LAYOUT order, CBLAS_UPLO uplo, int n, double alpha, const void *x, int incx, void *a, int lda);
void cblas_zher2(CBLAS_LAYOUT order, CBLAS_UPLO uplo, int n, const void *alpha, const void *x, int incx, const void *y,
    int incy, void *a, int lda);
void cblas_zher2k(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, int n, int k, const void *alpha,
    const void *a, int lda, const void *b, int ldb, double beta, void *c, int ldc);
void cblas_zherk(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, int n, int k, double alpha, const void *a,
    int lda, double beta, void *c, int ldc);
void cblas_zhpmv(CBLAS_LAYOUT order, CBLAS_UPLO uplo, int n, const void *alpha, const void *a, const void *x, int incx,
    const void *beta, void *y, int incy);
void cblas_zhpr(CBLAS_LAYOUT order, CBLAS_UPLO uplo, int n, double alpha, const void *x, int incx, void *a);
void cblas_zhpr2(CBLAS_LAYOUT order, CBLAS_UPLO uplo, int n, const void *alpha, const void *x, int incx, const void *y,
    int incy, void *a);
void cblas_zrotg(void *a, void *b, double *c, void *s);
void cblas_zscal(int n, const void *alpha, void *x, int incx);
void cblas_zswap(int n, void *x, int incx, void *y, int incy);
void cblas_zsymm(CBLAS_LAYOUT order, CBLAS_SIDE side, CBLAS_UPLO uplo, int m, int n, const void *alpha, const void *a,
    int lda, const void *b, int ldb, const void *beta, void *c, int ldc);
void cblas_zsyr2k(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, int n, int k, const void *alpha,
    const void *a, int lda, const void *b, int ldb, const void *beta, void *c, int ldc);
void cblas_zsyrk(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, int n, int k, const void *alpha,
    const void *a, int lda, const void *beta, void *c, int ldc);
void cblas_ztbmv(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, int n, int k,
    const void *a, int lda, void *x, int incx);
void cblas_ztbsv(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, int n, int k,
    const void *a, int lda, void *x, int incx);
void cblas_ztpmv(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, int n, const void *a,
    void *x, int incx);
void cblas_ztpsv(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, int n, const void *a,
    void *x, int incx);
void cblas_ztrmm(CBLAS_LAYOUT order, CBLAS_SIDE side, CBLAS_UPLO uplo, CBLAS_TRANSPOSE transa, CBLAS_DIAG diag, int m,
    int n, const void *alpha, const void *a, int lda, void *b, int ldb);
void cblas_ztrmv(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, int n, const void *a,
    int lda, void *x, int incx);
void cblas_ztrsm(CBLAS_LAYOUT order, CBLAS_SIDE side, CBLAS_UPLO uplo, CBLAS_TRANSPOSE transa, CBLAS_DIAG diag, int m,
    int n, const void *alpha, const void *a, int lda, void *b, int ldb);
void cblas_ztrsv(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, int n, const void *a,
    int lda, void *x, int incx);
/* end */

#endif

/* begin: CBLAS, 64 bits */
void cblas_caxpby64_(int64_t n, const void *alpha, const void *x, int64_t incx, const void *beta, void *y,
    int64_t incy);
void cblas_caxpy64_(int64_t n, const void *alpha, const void *x, int64_t incx, void *y, int64_t incy);
void cblas_ccopy64_(int64_t n, const void *x, int64_t incx, void *y, int64_t incy);
void cblas_cdotc_sub64_(int64_t n, const void *x, int64_t incx, const void *y, int64_t incy, void *result);
void cblas_cdotu_sub64_(int64_t n, const void *x, int64_t incx, const void *y, int64_t incy, void *result);
void cblas_cgbmv64_(CBLAS_LAYOUT order, CBLAS_TRANSPOSE trans, int64_t m, int64_t n, int64_t kl, int64_t ku,
    const void *alpha, const void *a, int64_t lda, const void *x, int64_t incx, const void *beta, void *y,
    int64_t incy);
void cblas_cgemm64_(CBLAS_LAYOUT order, CBLAS_TRANSPOSE transa, CBLAS_TRANSPOSE transb, int64_t m, int64_t n, int64_t k,
    const void *alpha, const void *a, int64_t lda, const void *b, int64_t ldb, const void *beta, void *c, int64_t ldc);
void cblas_cgemm_batch64_(CBLAS_LAYOUT order, const CBLAS_TRANSPOSE *transa, const CBLAS_TRANSPOSE *transb,
    const int64_t *m, const int64_t *n, const int64_t *k, const void *alpha, const void *const *a, const int64_t *lda,
    const void *const *b, const int64_t *ldb, const void *beta, void *const *c, const int64_t *ldc, int64_t group_count,
    const int64_t *group_size);
void cblas_cgemm_batch_strided64_(CBLAS_LAYOUT order, CBLAS_TRANSPOSE transa, CBLAS_TRANSPOSE transb, int64_t m,
    int64_t n, int64_t k, const void *alpha, const void *a, int64_t lda, int64_t stridea, const void *b, int64_t ldb,
    int64_t strideb, const void *beta, void *c, int64_t ldc, int64_t stridec, int64_t batch_size);
void cblas_cgemmt64_(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE transa, CBLAS_TRANSPOSE transb, int64_t n,
    int64_t k, const void *alpha, const void *a, int64_t lda, const void *b, int64_t ldb, const void *beta, void *c,
    int64_t ldc);
void cblas_cgemv64_(CBLAS_LAYOUT order, CBLAS_TRANSPOSE trans, int64_t m, int64_t n, const void *alpha, const void *a,
    int64_t lda, const void *x, int64_t incx, const void *beta, void *y, int64_t incy);
void cblas_cgerc64_(CBLAS_LAYOUT order, int64_t m, int64_t n, const void *alpha, const void *x, int64_t incx,
    const void *y, int64_t incy, void *a, int64_t lda);
void cblas_cgeru64_(CBLAS_LAYOUT order, int64_t m, int64_t n, const void *alpha, const void *x, int64_t incx,
    const void *y, int64_t incy, void *a, int64_t lda);
void cblas_chbmv64_(CBLAS_LAYOUT order, CBLAS_UPLO uplo, int64_t n, int64_t k, const void *alpha, const void *a,
    int64_t lda, const void *x, int64_t incx, const void *beta, void *y, int64_t incy);
void cblas_chemm64_(CBLAS_LAYOUT order, CBLAS_SIDE side, CBLAS_UPLO uplo, int64_t m, int64_t n, const void *alpha,
    const void *a, int64_t lda, const void *b, int64_t ldb, const void *beta, void *c, int64_t ldc);
void cblas_chemv64_(CBLAS_LAYOUT order, CBLAS_UPLO uplo, int64_t n, const void *alpha, const void *a, int64_t lda,
    const void *x, int64_t incx, const void *beta, void *y, int64_t incy);
void cblas_cher264_(CBLAS_LAYOUT order, CBLAS_UPLO uplo, int64_t n, const void *alpha, const void *x, int64_t incx,
    const void *y, int64_t incy, void *a, int64_t lda);
void cblas_cher2k64_(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, int64_t n, int64_t k,
    const void *alpha, const void *a, int64_t lda, const void *b, int64_t ldb, float beta, void *c, int64_t ldc);
void cblas_cher64_(CBLAS_LAYOUT order, CBLAS_UPLO uplo, int64_t n, float alpha, const void *x, int64_t incx, void *a,
    int64_t lda);
void cblas_cherk64_(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, int64_t n, int64_t k, float alpha,
    const void *a, int64_t lda, float beta, void *c, int64_t ldc);
void cblas_chpmv64_(CBLAS_LAYOUT order, CBLAS_UPLO uplo, int64_t n, const void *alpha, const void *a, const void *x,
    int64_t incx, const void *beta, void *y, int64_t incy);
void cblas_chpr264_(CBLAS_LAYOUT order, CBLAS_UPLO uplo, int64_t n, const void *alpha, const void *x, int64_t incx,
    const void *y, int64_t incy, void *a);
void cblas_chpr64_(CBLAS_LAYOUT order, CBLAS_UPLO uplo, int64_t n, float alpha, const void *x, int64_t incx, void *a);
void cblas_crotg64_(void *a, void *b, float *c, void *s);
void cblas_cscal64_(int64_t n, const void *alpha, void *x, int64_t incx);
void cblas_csrot64_(int64_t n, void *x, int64_t incx, void *y, int64_t incy, float c, float s);
void cblas_csscal64_(int64_t n, float alpha, void *x, int64_t incx);
void cblas_cswap64_(int64_t n, void *x, int64_t incx, void *y, int64_t incy);
void cblas_csymm64_(CBLAS_LAYOUT order, CBLAS_SIDE side, CBLAS_UPLO uplo, int64_t m, int64_t n, const void *alpha,
    const void *a, int64_t lda, const void *b, int64_t ldb, const void *beta, void *c, int64_t ldc);
void cblas_csyr2k64_(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, int64_t n, int64_t k,
    const void *alpha, const void *a, int64_t lda, const void *b, int64_t ldb, const void *beta, void *c, int64_t ldc);
void cblas_csyrk64_(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, int64_t n, int64_t k, const void *alpha,
    const void *a, int64_t lda, const void *beta, void *c, int64_t ldc);
void cblas_ctbmv64_(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, int64_t n, int64_t k,
    const void *a, int64_t lda, void *x, int64_t incx);
void cblas_ctbsv64_(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, int64_t n, int64_t k,
    const void *a, int64_t lda, void *x, int64_t incx);
void cblas_ctpmv64_(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, int64_t n,
    const void *a, void *x, int64_t incx);
void cblas_ctpsv64_(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, int64_t n,
    const void *a, void *x, int64_t incx);
void cblas_ctrmm64_(CBLAS_LAYOUT order, CBLAS_SIDE side, CBLAS_UPLO uplo, CBLAS_TRANSPOSE transa, CBLAS_DIAG diag,
    int64_t m, int64_t n, const void *alpha, const void *a, int64_t lda, void *b, int64_t ldb);
void cblas_ctrmv64_(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, int64_t n,
    const void *a, int64_t lda, void *x, int64_t incx);
void cblas_ctrsm64_(CBLAS_LAYOUT order, CBLAS_SIDE side, CBLAS_UPLO uplo, CBLAS_TRANSPOSE transa, CBLAS_DIAG diag,
    int64_t m, int64_t n, const void *alpha, const void *a, int64_t lda, void *b, int64_t ldb);
void cblas_ctrsv64_(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, int64_t n,
    const void *a, int64_t lda, void *x, int64_t incx);
double cblas_dasum64_(int64_t n, const double *x, int64_t incx);
void cblas_daxpby64_(int64_t n, double alpha, const double *x, int64_t incx, double beta, double *y, int64_t incy);
void cblas_daxpy64_(int64_t n, double alpha, const double *x, int64_t incx, double *y, int64_t incy);
void cblas_dcopy64_(int64_t n, const double *x, int64_t incx, double *y, int64_t incy);
double cblas_ddot64_(int64_t n, const double *x, int64_t incx, const double *y, int64_t incy);
void cblas_dgbmv64_(CBLAS_LAYOUT order, CBLAS_TRANSPOSE trans, int64_t m, int64_t n, int64_t kl, int64_t ku,
    double alpha, const double *a, int64_t lda, const double *x, int64_t incx, double beta, double *y, int64_t incy);
void cblas_dgemm64_(CBLAS_LAYOUT order, CBLAS_TRANSPOSE transa, CBLAS_TRANSPOSE transb, int64_t m, int64_t n, int64_t k,
    double alpha, const double *a, int64_t lda, const double *b, int64_t ldb, double beta, double *c, int64_t ldc);
void cblas_dgemm_batch64_(CBLAS_LAYOUT order, const CBLAS_TRANSPOSE *transa, const CBLAS_TRANSPOSE *transb,
    const int64_t *m, const int64_t *n, const int64_t *k, const double *alpha, const double *const *a,
    const int64_t *lda, const double *const *b, const int64_t *ldb, const double *beta, double *const *c,
    const int64_t *ldc, int64_t group_count, const int64_t *group_size);
void cblas_dgemm_batch_strided64_(CBLAS_LAYOUT order, CBLAS_TRANSPOSE transa, CBLAS_TRANSPOSE transb, int64_t m,
    int64_t n, int64_t k, double alpha, const double *a, int64_t lda, int64_t stridea, const double *b, int64_t ldb,
    int64_t strideb, double beta, double *c, int64_t ldc, int64_t stridec, int64_t batch_size);
void cblas_dgemmt64_(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE transa, CBLAS_TRANSPOSE transb, int64_t n,
    int64_t k, double alpha, const double *a, int64_t lda, const double *b, int64_t ldb, double beta, double *c,
    int64_t ldc);
void cblas_dgemv64_(CBLAS_LAYOUT order, CBLAS_TRANSPOSE trans, int64_t m, int64_t n, double alpha, const double *a,
    int64_t lda, const double *x, int64_t incx, double beta, double *y, int64_t incy);
void cblas_dger64_(CBLAS_LAYOUT order, int64_t m, int64_t n, double alpha, const double *x, int64_t incx,
    const double *y, int64_t incy, double *a, int64_t lda);
double cblas_dnrm264_(int64_t n, const double *x, int64_t incx);
void cblas_drot64_(int64_t n, double *x, int64_t incx, double *y, int64_t incy, double c, double s);
void cblas_drotg64_(double *a, double *b, double *c, double *s);
void cblas_drotm64_(int64_t n, double *x, int64_t incx, double *y, int64_t incy, const double *param);
void cblas_drotmg64_(double *d1, double *d2, double *x1, double y1, double *param);
void cblas_dsbmv64_(CBLAS_LAYOUT order, CBLAS_UPLO uplo, int64_t n, int64_t k, double alpha, const double *a,
    int64_t lda, const double *x, int64_t incx, double beta, double *y, int64_t incy);
void cblas_dscal64_(int64_t n, double alpha, double *x, int64_t incx);
double cblas_dsdot64_(int64_t n, const float *x, int64_t incx, const float *y, int64_t incy);
void cblas_dspmv64_(CBLAS_LAYOUT order, CBLAS_UPLO uplo, int64_t n, double alpha, const double *a, const double *x,
    int64_t incx, double beta, double *y, int64_t incy);
void cblas_dspr264_(CBLAS_LAYOUT order, CBLAS_UPLO uplo, int64_t n, double alpha, const double *x, int64_t incx,
    const double *y, int64_t incy, double *a);
void cblas_dspr64_(CBLAS_LAYOUT order, CBLAS_UPLO uplo, int64_t n, double alpha, const double *x, int64_t incx,
    double *a);
void cblas_dswap64_(int64_t n, double *x, int64_t incx, double *y, int64_t incy);
void cblas_dsymm64_(CBLAS_LAYOUT order, CBLAS_SIDE side, CBLAS_UPLO uplo, int64_t m, int64_t n, double alpha,
    const double *a, int64_t lda, const double *b, int64_t ldb, double beta, double *c, int64_t ldc);
void cblas_dsymv64_(CBLAS_LAYOUT order, CBLAS_UPLO uplo, int64_t n, double alpha, const double *a, int64_t lda,
    const double *x, int64_t incx, double beta, double *y, int64_t incy);
void cblas_dsyr264_(CBLAS_LAYOUT order, CBLAS_UPLO uplo, int64_t n, double alpha, const double *x, int64_t incx,
    const double *y, int64_t incy, double *a, int64_t lda);
void cblas_dsyr2k64_(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, int64_t n, int64_t k, double alpha,
    const double *a, int64_t lda, const double *b, int64_t ldb, double beta, double *c, int64_t ldc);
void cblas_dsyr64_(CBLAS_LAYOUT order, CBLAS_UPLO uplo, int64_t n, double alpha, const double *x, int64_t incx,
    double *a, int64_t lda);
void cblas_dsyrk64_(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, int64_t n, int64_t k, double alpha,
    const double *a, int64_t lda, double beta, double *c, int64_t ldc);
void cblas_dtbmv64_(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, int64_t n, int64_t k,
    const double *a, int64_t lda, double *x, int64_t incx);
void cblas_dtbsv64_(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, int64_t n, int64_t k,
    const double *a, int64_t lda, double *x, int64_t incx);
void cblas_dtpmv64_(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, int64_t n,
    const double *a, double *x, int64_t incx);
void cblas_dtpsv64_(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, int64_t n,
    const double *a, double *x, int64_t incx);
void cblas_dtrmm64_(CBLAS_LAYOUT order, CBLAS_SIDE side, CBLAS_UPLO uplo, CBLAS_TRANSPOSE transa, CBLAS_DIAG diag,
    int64_t m, int64_t n, double alpha, const double *a, int64_t lda, double *b, int64_t ldb);
void cblas_dtrmv64_(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, int64_t n,
    const double *a, int64_t lda, double *x, int64_t incx);
void cblas_dtrsm64_(CBLAS_LAYOUT order, CBLAS_SIDE side, CBLAS_UPLO uplo, CBLAS_TRANSPOSE transa, CBLAS_DIAG diag,
    int64_t m, int64_t n, double alpha, const double *a, int64_t lda, double *b, int64_t ldb);
void cblas_dtrsv64_(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, int64_t n,
    const double *a, int64_t lda, double *x, int64_t incx);
double cblas_dzasum64_(int64_t n, const void *x, int64_t incx);
double cblas_dznrm264_(int64_t n, const void *x, int64_t incx);
size_t cblas_icamax64_(int64_t n, const void *x, int64_t incx);
size_t cblas_idamax64_(int64_t n, const double *x, int64_t incx);
size_t cblas_isamax64_(int64_t n, const float *x, int64_t incx);
size_t cblas_izamax64_(int64_t n, const void *x, int64_t incx);
float cblas_sasum64_(int64_t n, const float *x, int64_t incx);
void cblas_saxpby64_(int64_t n, float alpha, const float *x, int64_t incx, float beta, float *y, int64_t incy);
void cblas_saxpy64_(int64_t n, float alpha, const float *x, int64_t incx, float *y, int64_t incy);
float cblas_scasum64_(int64_t n, const void *x, int64_t incx);
float cblas_scnrm264_(int64_t n, const void *x, int64_t incx);
void cblas_scopy64_(int64_t n, const float *x, int64_t incx, float *y, int64_t incy);
float cblas_sdot64_(int64_t n, const float *x, int64_t incx, const float *y, int64_t incy);
float cblas_sdsdot64_(int64_t n, float b, const float *x, int64_t incx, const float *y, int64_t incy);
void cblas_sgbmv64_(CBLAS_LAYOUT order, CBLAS_TRANSPOSE trans, int64_t m, int64_t n, int64_t kl, int64_t ku,
    float alpha, const float *a, int64_t lda, const float *x, int64_t incx, float beta, float *y, int64_t incy);
void cblas_sgemm64_(CBLAS_LAYOUT order, CBLAS_TRANSPOSE transa, CBLAS_TRANSPOSE transb, int64_t m, int64_t n, int64_t k,
    float alpha, const float *a, int64_t lda, const float *b, int64_t ldb, float beta, float *c, int64_t ldc);
void cblas_sgemm_batch64_(CBLAS_LAYOUT order, const CBLAS_TRANSPOSE *transa, const CBLAS_TRANSPOSE *transb,
    const int64_t *m, const int64_t *n, const int64_t *k, const float *alpha, const float *const *a, const int64_t *lda,
    const float *const *b, const int64_t *ldb, const float *beta, float *const *c, const int64_t *ldc,
    int64_t group_count, const int64_t *group_size);
void cblas_sgemm_batch_strided64_(CBLAS_LAYOUT order, CBLAS_TRANSPOSE transa, CBLAS_TRANSPOSE transb, int64_t m,
    int64_t n, int64_t k, float alpha, const float *a, int64_t lda, int64_t stridea, const float *b, int64_t ldb,
    int64_t strideb, float beta, float *c, int64_t ldc, int64_t stridec, int64_t batch_size);
void cblas_sgemmt64_(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE transa, CBLAS_TRANSPOSE transb, int64_t n,
    int64_t k, float alpha, const float *a, int64_t lda, const float *b, int64_t ldb, float beta, float *c,
    int64_t ldc);
void cblas_sgemv64_(CBLAS_LAYOUT order, CBLAS_TRANSPOSE trans, int64_t m, int64_t n, float alpha, const float *a,
    int64_t lda, const float *x, int64_t incx, float beta, float *y, int64_t incy);
void cblas_sger64_(CBLAS_LAYOUT order, int64_t m, int64_t n, float alpha, const float *x, int64_t incx, const float *y,
    int64_t incy, float *a, int64_t lda);
float cblas_snrm264_(int64_t n, const float *x, int64_t incx);
void cblas_srot64_(int64_t n, float *x, int64_t incx, float *y, int64_t incy, float c, float s);
void cblas_srotg64_(float *a, float *b, float *c, float *s);
void cblas_srotm64_(int64_t n, float *x, int64_t incx, float *y, int64_t incy, const float *param);
void cblas_srotmg64_(float *d1, float *d2, float *x1, float y1, float *param);
void cblas_ssbmv64_(CBLAS_LAYOUT order, CBLAS_UPLO uplo, int64_t n, int64_t k, float alpha, const float *a, int64_t lda,
    const float *x, int64_t incx, float beta, float *y, int64_t incy);
void cblas_sscal64_(int64_t n, float alpha, float *x, int64_t incx);
void cblas_sspmv64_(CBLAS_LAYOUT order, CBLAS_UPLO uplo, int64_t n, float alpha, const float *a, const float *x,
    int64_t incx, float beta, float *y, int64_t incy);
void cblas_sspr264_(CBLAS_LAYOUT order, CBLAS_UPLO uplo, int64_t n, float alpha, const float *x, int64_t incx,
    const float *y, int64_t incy, float *a);
void cblas_sspr64_(CBLAS_LAYOUT order, CBLAS_UPLO uplo, int64_t n, float alpha, const float *x, int64_t incx, float *a);
void cblas_sswap64_(int64_t n, float *x, int64_t incx, float *y, int64_t incy);
void cblas_ssymm64_(CBLAS_LAYOUT order, CBLAS_SIDE side, CBLAS_UPLO uplo, int64_t m, int64_t n, float alpha,
    const float *a, int64_t lda, const float *b, int64_t ldb, float beta, float *c, int64_t ldc);
void cblas_ssymv64_(CBLAS_LAYOUT order, CBLAS_UPLO uplo, int64_t n, float alpha, const float *a, int64_t lda,
    const float *x, int64_t incx, float beta, float *y, int64_t incy);
void cblas_ssyr264_(CBLAS_LAYOUT order, CBLAS_UPLO uplo, int64_t n, float alpha, const float *x, int64_t incx,
    const float *y, int64_t incy, float *a, int64_t lda);
void cblas_ssyr2k64_(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, int64_t n, int64_t k, float alpha,
    const float *a, int64_t lda, const float *b, int64_t ldb, float beta, float *c, int64_t ldc);
void cblas_ssyr64_(CBLAS_LAYOUT order, CBLAS_UPLO uplo, int64_t n, float alpha, const float *x, int64_t incx, float *a,
    int64_t lda);
void cblas_ssyrk64_(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, int64_t n, int64_t k, float alpha,
    const float *a, int64_t lda, float beta, float *c, int64_t ldc);
void cblas_stbmv64_(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, int64_t n, int64_t k,
    const float *a, int64_t lda, float *x, int64_t incx);
void cblas_stbsv64_(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, int64_t n, int64_t k,
    const float *a, int64_t lda, float *x, int64_t incx);
void cblas_stpmv64_(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, int64_t n,
    const float *a, float *x, int64_t incx);
void cblas_stpsv64_(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, int64_t n,
    const float *a, float *x, int64_t incx);
void cblas_strmm64_(CBLAS_LAYOUT order, CBLAS_SIDE side, CBLAS_UPLO uplo, CBLAS_TRANSPOSE transa, CBLAS_DIAG diag,
    int64_t m, int64_t n, float alpha, const float *a, int64_t lda, float *b, int64_t ldb);
void cblas_strmv64_(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, int64_t n,
    const float *a, int64_t lda, float *x, int64_t incx);
void cblas_strsm64_(CBLAS_LAYOUT order, CBLAS_SIDE side, CBLAS_UPLO uplo, CBLAS_TRANSPOSE transa, CBLAS_DIAG diag,
    int64_t m, int64_t n, float alpha, const float *a, int64_t lda, float *b, int64_t ldb);
void cblas_strsv64_(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, int64_t n,
    const float *a, int64_t lda, float *x, int64_t incx);
void cblas_zaxpby64_(int64_t n, const void *alpha, const void *x, int64_t incx, const void *beta, void *y,
    int64_t incy);
void cblas_zaxpy64_(int64_t n, const void *alpha, const void *x, int64_t incx, void *y, int64_t incy);
void cblas_zcopy64_(int64_t n, const void *x, int64_t incx, void *y, int64_t incy);
void cblas_zdotc_sub64_(int64_t n, const void *x, int64_t incx, const void *y, int64_t incy, void *result);
void cblas_zdotu_sub64_(int64_t n, const void *x, int64_t incx, const void *y, int64_t incy, void *result);
void cblas_zdrot64_(int64_t n, void *x, int64_t incx, void *y, int64_t incy, double c, double s);
void cblas_zdscal64_(int64_t n, double alpha, void *x, int64_t incx);
void cblas_zgbmv64_(CBLAS_LAYOUT order, CBLAS_TRANSPOSE trans, int64_t m, int64_t n, int64_t kl, int64_t ku,
    const void *alpha, const void *a, int64_t lda, const void *x, int64_t incx, const void *beta, void *y,
    int64_t incy);
void cblas_zgemm64_(CBLAS_LAYOUT order, CBLAS_TRANSPOSE transa, CBLAS_TRANSPOSE transb, int64_t m, int64_t n, int64_t k,
    const void *alpha, const void *a, int64_t lda, const void *b, int64_t ldb, const void *beta, void *c, int64_t ldc);
void cblas_zgemm_batch64_(CBLAS_LAYOUT order, const CBLAS_TRANSPOSE *transa, const CBLAS_TRANSPOSE *transb,
    const int64_t *m, const int64_t *n, const int64_t *k, const void *alpha, const void *const *a, const int64_t *lda,
    const void *const *b, const int64_t *ldb, const void *beta, void *const *c, const int64_t *ldc, int64_t group_count,
    const int64_t *group_size);
void cblas_zgemm_batch_strided64_(CBLAS_LAYOUT order, CBLAS_TRANSPOSE transa, CBLAS_TRANSPOSE transb, int64_t m,
    int64_t n, int64_t k, const void *alpha, const void *a, int64_t lda, int64_t stridea, const void *b, int64_t ldb,
    int64_t strideb, const void *beta, void *c, int64_t ldc, int64_t stridec, int64_t batch_size);
void cblas_zgemmt64_(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE transa, CBLAS_TRANSPOSE transb, int64_t n,
    int64_t k, const void *alpha, const void *a, int64_t lda, const void *b, int64_t ldb, const void *beta, void *c,
    int64_t ldc);
void cblas_zgemv64_(CBLAS_LAYOUT order, CBLAS_TRANSPOSE trans, int64_t m, int64_t n, const void *alpha, const void *a,
    int64_t lda, const void *x, int64_t incx, const void *beta, void *y, int64_t incy);
void cblas_zgerc64_(CBLAS_LAYOUT order, int64_t m, int64_t n, const void *alpha, const void *x, int64_t incx,
    const void *y, int64_t incy, void *a, int64_t lda);
void cblas_zgeru64_(CBLAS_LAYOUT order, int64_t m, int64_t n, const void *alpha, const void *x, int64_t incx,
    const void *y, int64_t incy, void *a, int64_t lda);
void cblas_zhbmv64_(CBLAS_LAYOUT order, CBLAS_UPLO uplo, int64_t n, int64_t k, const void *alpha, const void *a,
    int64_t lda, const void *x, int64_t incx, const void *beta, void *y, int64_t incy);
void cblas_zhemm64_(CBLAS_LAYOUT order, CBLAS_SIDE side, CBLAS_UPLO uplo, int64_t m, int64_t n, const void *alpha,
    const void *a, int64_t lda, const void *b, int64_t ldb, const void *beta, void *c, int64_t ldc);
void cblas_zhemv64_(CBLAS_LAYOUT order, CBLAS_UPLO uplo, int64_t n, const void *alpha, const void *a, int64_t lda,
    const void *x, int64_t incx, const void *beta, void *y, int64_t incy);
void cblas_zher264_(CBLAS_LAYOUT order, CBLAS_UPLO uplo, int64_t n, const void *alpha, const void *x, int64_t incx,
    const void *y, int64_t incy, void *a, int64_t lda);
void cblas_zher2k64_(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, int64_t n, int64_t k,
    const void *alpha, const void *a, int64_t lda, const void *b, int64_t ldb, double beta, void *c, int64_t ldc);
void cblas_zher64_(CBLAS_LAYOUT order, CBLAS_UPLO uplo, int64_t n, double alpha, const void *x, int64_t incx, void *a,
    int64_t lda);
void cblas_zherk64_(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, int64_t n, int64_t k, double alpha,
    const void *a, int64_t lda, double beta, void *c, int64_t ldc);
void cblas_zhpmv64_(CBLAS_LAYOUT order, CBLAS_UPLO uplo, int64_t n, const void *alpha, const void *a, const void *x,
    int64_t incx, const void *beta, void *y, int64_t incy);
void cblas_zhpr264_(CBLAS_LAYOUT order, CBLAS_UPLO uplo, int64_t n, const void *alpha, const void *x, int64_t incx,
    const void *y, int64_t incy, void *a);
void cblas_zhpr64_(CBLAS_LAYOUT order, CBLAS_UPLO uplo, int64_t n, double alpha, const void *x, int64_t incx, void *a);
void cblas_zrotg64_(void *a, void *b, double *c, void *s);
void cblas_zscal64_(int64_t n, const void *alpha, void *x, int64_t incx);
void cblas_zswap64_(int64_t n, void *x, int64_t incx, void *y, int64_t incy);
void cblas_zsymm64_(CBLAS_LAYOUT order, CBLAS_SIDE side, CBLAS_UPLO uplo, int64_t m, int64_t n, const void *alpha,
    const void *a, int64_t lda, const void *b, int64_t ldb, const void *beta, void *c, int64_t ldc);
void cblas_zsyr2k64_(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, int64_t n, int64_t k,
    const void *alpha, const void *a, int64_t lda, const void *b, int64_t ldb, const void *beta, void *c, int64_t ldc);
void cblas_zsyrk64_(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, int64_t n, int64_t k, const void *alpha,
    const void *a, int64_t lda, const void *beta, void *c, int64_t ldc);
void cblas_ztbmv64_(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, int64_t n, int64_t k,
    const void *a, int64_t lda, void *x, int64_t incx);
void cblas_ztbsv64_(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, int64_t n, int64_t k,
    const void *a, int64_t lda, void *x, int64_t incx);
void cblas_ztpmv64_(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, int64_t n,
    const void *a, void *x, int64_t incx);
void cblas_ztpsv64_(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, int64_t n,
    const void *a, void *x, int64_t incx);
void cblas_ztrmm64_(CBLAS_LAYOUT order, CBLAS_SIDE side, CBLAS_UPLO uplo, CBLAS_TRANSPOSE transa, CBLAS_DIAG diag,
    int64_t m, int64_t n, const void *alpha, const void *a, int64_t lda, void *b, int64_t ldb);
void cblas_ztrmv64_(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, int64_t n,
    const void *a, int64_t lda, void *x, int64_t incx);
void cblas_ztrsm64_(CBLAS_LAYOUT order, CBLAS_SIDE side, CBLAS_UPLO uplo, CBLAS_TRANSPOSE transa, CBLAS_DIAG diag,
    int64_t m, int64_t n, const void *alpha, const void *a, int64_t lda, void *b, int64_t ldb);
void cblas_ztrsv64_(CBLAS_LAYOUT order, CBLAS_UPLO uplo, CBLAS_TRANSPOSE trans, CBLAS_DIAG diag, int64_t n,
    const void *a, int64_t lda, void *x, int64_t incx);
/* end */

#endif

/* LAPACKE */

#ifndef SUPERSCALAR_NO_LAPACK
#ifndef _LAPACKE_H_
#define _LAPACKE_H_

#ifndef lapack_int
#define lapack_int int
#endif
#ifndef lapack_logical
#define lapack_logical lapack_int
#endif
#ifndef LAPACK_ROW_MAJOR
#define LAPACK_ROW_MAJOR 101
#define LAPACK_COL_MAJOR 102
#endif
#ifndef LAPACK_WORK_MEMORY_ERROR
#define LAPACK_WORK_MEMORY_ERROR -1010
#define LAPACK_TRANSPOSE_MEMORY_ERROR -1011
#endif

/* Get and set whether LAPACKE's high-level functions (LAPACKE_dgetrf) check for NaN: 1 or 0. */
int LAPACKE_get_nancheck(void);
void LAPACKE_set_nancheck(int flag);

/* begin: LAPACKE, 32 bits */
int LAPACKE_cgecon(int matrix_layout, char norm, int n, const lapack_complex_float *a, int lda, float anorm,
    float *rcond);
int LAPACKE_cgecon_work(int matrix_layout, char norm, int n, const lapack_complex_float *a, int lda, float anorm,
    float *rcond, lapack_complex_float *work, float *rwork);
int LAPACKE_cgelqf(int matrix_layout, int m, int n, lapack_complex_float *a, int lda, lapack_complex_float *tau);
int LAPACKE_cgelqf_work(int matrix_layout, int m, int n, lapack_complex_float *a, int lda, lapack_complex_float *tau,
    lapack_complex_float *work, int lwork);
int LAPACKE_cgels(int matrix_layout, char trans, int m, int n, int nrhs, lapack_complex_float *a, int lda,
    lapack_complex_float *b, int ldb);
int LAPACKE_cgels_work(int matrix_layout, char trans, int m, int n, int nrhs, lapack_complex_float *a, int lda,
    lapack_complex_float *b, int ldb, lapack_complex_float *work, int lwork);
int LAPACKE_cgeqrf(int matrix_layout, int m, int n, lapack_complex_float *a, int lda, lapack_complex_float *tau);
int LAPACKE_cgeqrf_work(int matrix_layout, int m, int n, lapack_complex_float *a, int lda, lapack_complex_float *tau,
    lapack_complex_float *work, int lwork);
int LAPACKE_cgesv(int matrix_layout, int n, int nrhs, lapack_complex_float *a, int lda, int *ipiv,
    lapack_complex_float *b, int ldb);
int LAPACKE_cgesv_work(int matrix_layout, int n, int nrhs, lapack_complex_float *a, int lda, int *ipiv,
    lapack_complex_float *b, int ldb);
int LAPACKE_cgetrf(int matrix_layout, int m, int n, lapack_complex_float *a, int lda, int *ipiv);
int LAPACKE_cgetrf_work(int matrix_layout, int m, int n, lapack_complex_float *a, int lda, int *ipiv);
int LAPACKE_cgetri(int matrix_layout, int n, lapack_complex_float *a, int lda, const int *ipiv);
int LAPACKE_cgetri_work(int matrix_layout, int n, lapack_complex_float *a, int lda, const int *ipiv,
    lapack_complex_float *work, int lwork);
int LAPACKE_cgetrs(int matrix_layout, char trans, int n, int nrhs, const lapack_complex_float *a, int lda,
    const int *ipiv, lapack_complex_float *b, int ldb);
int LAPACKE_cgetrs_work(int matrix_layout, char trans, int n, int nrhs, const lapack_complex_float *a, int lda,
    const int *ipiv, lapack_complex_float *b, int ldb);
float LAPACKE_clange(int matrix_layout, char norm, int m, int n, const lapack_complex_float *a, int lda);
float LAPACKE_clange_work(int matrix_layout, char norm, int m, int n, const lapack_complex_float *a, int lda,
    float *work);
float LAPACKE_clanhe(int matrix_layout, char norm, char uplo, int n, const lapack_complex_float *a, int lda);
float LAPACKE_clanhe_work(int matrix_layout, char norm, char uplo, int n, const lapack_complex_float *a, int lda,
    float *work);
float LAPACKE_clansy(int matrix_layout, char norm, char uplo, int n, const lapack_complex_float *a, int lda);
float LAPACKE_clansy_work(int matrix_layout, char norm, char uplo, int n, const lapack_complex_float *a, int lda,
    float *work);
float LAPACKE_clantr(int matrix_layout, char norm, char uplo, char diag, int m, int n, const lapack_complex_float *a,
    int lda);
float LAPACKE_clantr_work(int matrix_layout, char norm, char uplo, char diag, int m, int n,
    const lapack_complex_float *a, int lda, float *work);
int LAPACKE_claswp(int matrix_layout, int n, lapack_complex_float *a, int lda, int k1, int k2, const int *ipiv,
    int incx);
int LAPACKE_claswp_work(int matrix_layout, int n, lapack_complex_float *a, int lda, int k1, int k2, const int *ipiv,
    int incx);
int LAPACKE_clauum(int matrix_layout, char uplo, int n, lapack_complex_float *a, int lda);
int LAPACKE_clauum_work(int matrix_layout, char uplo, int n, lapack_complex_float *a, int lda);
int LAPACKE_cpocon(int matrix_layout, char uplo, int n, const lapack_complex_float *a, int lda, float anorm,
    float *rcond);
int LAPACKE_cpocon_work(int matrix_layout, char uplo, int n, const lapack_complex_float *a, int lda, float anorm,
    float *rcond, lapack_complex_float *work, float *rwork);
int LAPACKE_cposv(int matrix_layout, char uplo, int n, int nrhs, lapack_complex_float *a, int lda,
    lapack_complex_float *b, int ldb);
int LAPACKE_cposv_work(int matrix_layout, char uplo, int n, int nrhs, lapack_complex_float *a, int lda,
    lapack_complex_float *b, int ldb);
int LAPACKE_cpotrf(int matrix_layout, char uplo, int n, lapack_complex_float *a, int lda);
int LAPACKE_cpotrf_work(int matrix_layout, char uplo, int n, lapack_complex_float *a, int lda);
int LAPACKE_cpotri(int matrix_layout, char uplo, int n, lapack_complex_float *a, int lda);
int LAPACKE_cpotri_work(int matrix_layout, char uplo, int n, lapack_complex_float *a, int lda);
int LAPACKE_cpotrs(int matrix_layout, char uplo, int n, int nrhs, const lapack_complex_float *a, int lda,
    lapack_complex_float *b, int ldb);
int LAPACKE_cpotrs_work(int matrix_layout, char uplo, int n, int nrhs, const lapack_complex_float *a, int lda,
    lapack_complex_float *b, int ldb);
int LAPACKE_ctrtri(int matrix_layout, char uplo, char diag, int n, lapack_complex_float *a, int lda);
int LAPACKE_ctrtri_work(int matrix_layout, char uplo, char diag, int n, lapack_complex_float *a, int lda);
int LAPACKE_cunglq(int matrix_layout, int m, int n, int k, lapack_complex_float *a, int lda,
    const lapack_complex_float *tau);
int LAPACKE_cunglq_work(int matrix_layout, int m, int n, int k, lapack_complex_float *a, int lda,
    const lapack_complex_float *tau, lapack_complex_float *work, int lwork);
int LAPACKE_cungqr(int matrix_layout, int m, int n, int k, lapack_complex_float *a, int lda,
    const lapack_complex_float *tau);
int LAPACKE_cungqr_work(int matrix_layout, int m, int n, int k, lapack_complex_float *a, int lda,
    const lapack_complex_float *tau, lapack_complex_float *work, int lwork);
int LAPACKE_cunmlq(int matrix_layout, char side, char trans, int m, int n, int k, const lapack_complex_float *a,
    int lda, const lapack_complex_float *tau, lapack_complex_float *c, int ldc);
int LAPACKE_cunmlq_work(int matrix_layout, char side, char trans, int m, int n, int k, const lapack_complex_float *a,
    int lda, const lapack_complex_float *tau, lapack_complex_float *c, int ldc, lapack_complex_float *work, int lwork);
int LAPACKE_cunmqr(int matrix_layout, char side, char trans, int m, int n, int k, const lapack_complex_float *a,
    int lda, const lapack_complex_float *tau, lapack_complex_float *c, int ldc);
int LAPACKE_cunmqr_work(int matrix_layout, char side, char trans, int m, int n, int k, const lapack_complex_float *a,
    int lda, const lapack_complex_float *tau, lapack_complex_float *c, int ldc, lapack_complex_float *work, int lwork);
int LAPACKE_dgecon(int matrix_layout, char norm, int n, const double *a, int lda, double anorm, double *rcond);
int LAPACKE_dgecon_work(int matrix_layout, char norm, int n, const double *a, int lda, double anorm, double *rcond,
    double *work, int *iwork);
int LAPACKE_dgelqf(int matrix_layout, int m, int n, double *a, int lda, double *tau);
int LAPACKE_dgelqf_work(int matrix_layout, int m, int n, double *a, int lda, double *tau, double *work, int lwork);
int LAPACKE_dgels(int matrix_layout, char trans, int m, int n, int nrhs, double *a, int lda, double *b, int ldb);
int LAPACKE_dgels_work(int matrix_layout, char trans, int m, int n, int nrhs, double *a, int lda, double *b, int ldb,
    double *work, int lwork);
int LAPACKE_dgeqrf(int matrix_layout, int m, int n, double *a, int lda, double *tau);
int LAPACKE_dgeqrf_work(int matrix_layout, int m, int n, double *a, int lda, double *tau, double *work, int lwork);
int LAPACKE_dgesv(int matrix_layout, int n, int nrhs, double *a, int lda, int *ipiv, double *b, int ldb);
int LAPACKE_dgesv_work(int matrix_layout, int n, int nrhs, double *a, int lda, int *ipiv, double *b, int ldb);
int LAPACKE_dgetrf(int matrix_layout, int m, int n, double *a, int lda, int *ipiv);
int LAPACKE_dgetrf_work(int matrix_layout, int m, int n, double *a, int lda, int *ipiv);
int LAPACKE_dgetri(int matrix_layout, int n, double *a, int lda, const int *ipiv);
int LAPACKE_dgetri_work(int matrix_layout, int n, double *a, int lda, const int *ipiv, double *work, int lwork);
int LAPACKE_dgetrs(int matrix_layout, char trans, int n, int nrhs, const double *a, int lda, const int *ipiv, double *b,
    int ldb);
int LAPACKE_dgetrs_work(int matrix_layout, char trans, int n, int nrhs, const double *a, int lda, const int *ipiv,
    double *b, int ldb);
double LAPACKE_dlange(int matrix_layout, char norm, int m, int n, const double *a, int lda);
double LAPACKE_dlange_work(int matrix_layout, char norm, int m, int n, const double *a, int lda, double *work);
double LAPACKE_dlansy(int matrix_layout, char norm, char uplo, int n, const double *a, int lda);
double LAPACKE_dlansy_work(int matrix_layout, char norm, char uplo, int n, const double *a, int lda, double *work);
double LAPACKE_dlantr(int matrix_layout, char norm, char uplo, char diag, int m, int n, const double *a, int lda);
double LAPACKE_dlantr_work(int matrix_layout, char norm, char uplo, char diag, int m, int n, const double *a, int lda,
    double *work);
int LAPACKE_dlaswp(int matrix_layout, int n, double *a, int lda, int k1, int k2, const int *ipiv, int incx);
int LAPACKE_dlaswp_work(int matrix_layout, int n, double *a, int lda, int k1, int k2, const int *ipiv, int incx);
int LAPACKE_dlauum(int matrix_layout, char uplo, int n, double *a, int lda);
int LAPACKE_dlauum_work(int matrix_layout, char uplo, int n, double *a, int lda);
int LAPACKE_dorglq(int matrix_layout, int m, int n, int k, double *a, int lda, const double *tau);
int LAPACKE_dorglq_work(int matrix_layout, int m, int n, int k, double *a, int lda, const double *tau, double *work,
    int lwork);
int LAPACKE_dorgqr(int matrix_layout, int m, int n, int k, double *a, int lda, const double *tau);
int LAPACKE_dorgqr_work(int matrix_layout, int m, int n, int k, double *a, int lda, const double *tau, double *work,
    int lwork);
int LAPACKE_dormlq(int matrix_layout, char side, char trans, int m, int n, int k, const double *a, int lda,
    const double *tau, double *c, int ldc);
int LAPACKE_dormlq_work(int matrix_layout, char side, char trans, int m, int n, int k, const double *a, int lda,
    const double *tau, double *c, int ldc, double *work, int lwork);
int LAPACKE_dormqr(int matrix_layout, char side, char trans, int m, int n, int k, const double *a, int lda,
    const double *tau, double *c, int ldc);
int LAPACKE_dormqr_work(int matrix_layout, char side, char trans, int m, int n, int k, const double *a, int lda,
    const double *tau, double *c, int ldc, double *work, int lwork);
int LAPACKE_dpocon(int matrix_layout, char uplo, int n, const double *a, int lda, double anorm, double *rcond);
int LAPACKE_dpocon_work(int matrix_layout, char uplo, int n, const double *a, int lda, double anorm, double *rcond,
    double *work, int *iwork);
int LAPACKE_dposv(int matrix_layout, char uplo, int n, int nrhs, double *a, int lda, double *b, int ldb);
int LAPACKE_dposv_work(int matrix_layout, char uplo, int n, int nrhs, double *a, int lda, double *b, int ldb);
int LAPACKE_dpotrf(int matrix_layout, char uplo, int n, double *a, int lda);
int LAPACKE_dpotrf_work(int matrix_layout, char uplo, int n, double *a, int lda);
int LAPACKE_dpotri(int matrix_layout, char uplo, int n, double *a, int lda);
int LAPACKE_dpotri_work(int matrix_layout, char uplo, int n, double *a, int lda);
int LAPACKE_dpotrs(int matrix_layout, char uplo, int n, int nrhs, const double *a, int lda, double *b, int ldb);
int LAPACKE_dpotrs_work(int matrix_layout, char uplo, int n, int nrhs, const double *a, int lda, double *b, int ldb);
int LAPACKE_dsgesv(int matrix_layout, int n, int nrhs, double *a, int lda, int *ipiv, const double *b, int ldb,
    double *x, int ldx, int *iter);
int LAPACKE_dsgesv_work(int matrix_layout, int n, int nrhs, double *a, int lda, int *ipiv, const double *b, int ldb,
    double *x, int ldx, double *work, float *swork, int *iter);
int LAPACKE_dsposv(int matrix_layout, char uplo, int n, int nrhs, double *a, int lda, const double *b, int ldb,
    double *x, int ldx, int *iter);
int LAPACKE_dsposv_work(int matrix_layout, char uplo, int n, int nrhs, double *a, int lda, const double *b, int ldb,
    double *x, int ldx, double *work, float *swork, int *iter);
int LAPACKE_dtrtri(int matrix_layout, char uplo, char diag, int n, double *a, int lda);
int LAPACKE_dtrtri_work(int matrix_layout, char uplo, char diag, int n, double *a, int lda);
int LAPACKE_sgecon(int matrix_layout, char norm, int n, const float *a, int lda, float anorm, float *rcond);
int LAPACKE_sgecon_work(int matrix_layout, char norm, int n, const float *a, int lda, float anorm, float *rcond,
    float *work, int *iwork);
int LAPACKE_sgelqf(int matrix_layout, int m, int n, float *a, int lda, float *tau);
int LAPACKE_sgelqf_work(int matrix_layout, int m, int n, float *a, int lda, float *tau, float *work, int lwork);
int LAPACKE_sgels(int matrix_layout, char trans, int m, int n, int nrhs, float *a, int lda, float *b, int ldb);
int LAPACKE_sgels_work(int matrix_layout, char trans, int m, int n, int nrhs, float *a, int lda, float *b, int ldb,
    float *work, int lwork);
int LAPACKE_sgeqrf(int matrix_layout, int m, int n, float *a, int lda, float *tau);
int LAPACKE_sgeqrf_work(int matrix_layout, int m, int n, float *a, int lda, float *tau, float *work, int lwork);
int LAPACKE_sgesv(int matrix_layout, int n, int nrhs, float *a, int lda, int *ipiv, float *b, int ldb);
int LAPACKE_sgesv_work(int matrix_layout, int n, int nrhs, float *a, int lda, int *ipiv, float *b, int ldb);
int LAPACKE_sgetrf(int matrix_layout, int m, int n, float *a, int lda, int *ipiv);
int LAPACKE_sgetrf_work(int matrix_layout, int m, int n, float *a, int lda, int *ipiv);
int LAPACKE_sgetri(int matrix_layout, int n, float *a, int lda, const int *ipiv);
int LAPACKE_sgetri_work(int matrix_layout, int n, float *a, int lda, const int *ipiv, float *work, int lwork);
int LAPACKE_sgetrs(int matrix_layout, char trans, int n, int nrhs, const float *a, int lda, const int *ipiv, float *b,
    int ldb);
int LAPACKE_sgetrs_work(int matrix_layout, char trans, int n, int nrhs, const float *a, int lda, const int *ipiv,
    float *b, int ldb);
float LAPACKE_slange(int matrix_layout, char norm, int m, int n, const float *a, int lda);
float LAPACKE_slange_work(int matrix_layout, char norm, int m, int n, const float *a, int lda, float *work);
float LAPACKE_slansy(int matrix_layout, char norm, char uplo, int n, const float *a, int lda);
float LAPACKE_slansy_work(int matrix_layout, char norm, char uplo, int n, const float *a, int lda, float *work);
float LAPACKE_slantr(int matrix_layout, char norm, char uplo, char diag, int m, int n, const float *a, int lda);
float LAPACKE_slantr_work(int matrix_layout, char norm, char uplo, char diag, int m, int n, const float *a, int lda,
    float *work);
int LAPACKE_slaswp(int matrix_layout, int n, float *a, int lda, int k1, int k2, const int *ipiv, int incx);
int LAPACKE_slaswp_work(int matrix_layout, int n, float *a, int lda, int k1, int k2, const int *ipiv, int incx);
int LAPACKE_slauum(int matrix_layout, char uplo, int n, float *a, int lda);
int LAPACKE_slauum_work(int matrix_layout, char uplo, int n, float *a, int lda);
int LAPACKE_sorglq(int matrix_layout, int m, int n, int k, float *a, int lda, const float *tau);
int LAPACKE_sorglq_work(int matrix_layout, int m, int n, int k, float *a, int lda, const float *tau, float *work,
    int lwork);
int LAPACKE_sorgqr(int matrix_layout, int m, int n, int k, float *a, int lda, const float *tau);
int LAPACKE_sorgqr_work(int matrix_layout, int m, int n, int k, float *a, int lda, const float *tau, float *work,
    int lwork);
int LAPACKE_sormlq(int matrix_layout, char side, char trans, int m, int n, int k, const float *a, int lda,
    const float *tau, float *c, int ldc);
int LAPACKE_sormlq_work(int matrix_layout, char side, char trans, int m, int n, int k, const float *a, int lda,
    const float *tau, float *c, int ldc, float *work, int lwork);
int LAPACKE_sormqr(int matrix_layout, char side, char trans, int m, int n, int k, const float *a, int lda,
    const float *tau, float *c, int ldc);
int LAPACKE_sormqr_work(int matrix_layout, char side, char trans, int m, int n, int k, const float *a, int lda,
    const float *tau, float *c, int ldc, float *work, int lwork);
int LAPACKE_spocon(int matrix_layout, char uplo, int n, const float *a, int lda, float anorm, float *rcond);
int LAPACKE_spocon_work(int matrix_layout, char uplo, int n, const float *a, int lda, float anorm, float *rcond,
    float *work, int *iwork);
int LAPACKE_sposv(int matrix_layout, char uplo, int n, int nrhs, float *a, int lda, float *b, int ldb);
int LAPACKE_sposv_work(int matrix_layout, char uplo, int n, int nrhs, float *a, int lda, float *b, int ldb);
int LAPACKE_spotrf(int matrix_layout, char uplo, int n, float *a, int lda);
int LAPACKE_spotrf_work(int matrix_layout, char uplo, int n, float *a, int lda);
int LAPACKE_spotri(int matrix_layout, char uplo, int n, float *a, int lda);
int LAPACKE_spotri_work(int matrix_layout, char uplo, int n, float *a, int lda);
int LAPACKE_spotrs(int matrix_layout, char uplo, int n, int nrhs, const float *a, int lda, float *b, int ldb);
int LAPACKE_spotrs_work(int matrix_layout, char uplo, int n, int nrhs, const float *a, int lda, float *b, int ldb);
int LAPACKE_strtri(int matrix_layout, char uplo, char diag, int n, float *a, int lda);
int LAPACKE_strtri_work(int matrix_layout, char uplo, char diag, int n, float *a, int lda);
int LAPACKE_zcgesv(int matrix_layout, int n, int nrhs, lapack_complex_double *a, int lda, int *ipiv,
    const lapack_complex_double *b, int ldb, lapack_complex_double *x, int ldx, int *iter);
int LAPACKE_zcgesv_work(int matrix_layout, int n, int nrhs, lapack_complex_double *a, int lda, int *ipiv,
    const lapack_complex_double *b, int ldb, lapack_complex_double *x, int ldx, lapack_complex_double *work,
    lapack_complex_float *swork, double *rwork, int *iter);
int LAPACKE_zcposv(int matrix_layout, char uplo, int n, int nrhs, lapack_complex_double *a, int lda,
    const lapack_complex_double *b, int ldb, lapack_complex_double *x, int ldx, int *iter);
int LAPACKE_zcposv_work(int matrix_layout, char uplo, int n, int nrhs, lapack_complex_double *a, int lda,
    const lapack_complex_double *b, int ldb, lapack_complex_double *x, int ldx, lapack_complex_double *work,
    lapack_complex_float *swork, double *rwork, int *iter);
int LAPACKE_zgecon(int matrix_layout, char norm, int n, const lapack_complex_double *a, int lda, double anorm,
    double *rcond);
int LAPACKE_zgecon_work(int matrix_layout, char norm, int n, const lapack_complex_double *a, int lda, double anorm,
    double *rcond, lapack_complex_double *work, double *rwork);
int LAPACKE_zgelqf(int matrix_layout, int m, int n, lapack_complex_double *a, int lda, lapack_complex_double *tau);
int LAPACKE_zgelqf_work(int matrix_layout, int m, int n, lapack_complex_double *a, int lda, lapack_complex_double *tau,
    lapack_complex_double *work, int lwork);
int LAPACKE_zgels(int matrix_layout, char trans, int m, int n, int nrhs, lapack_complex_double *a, int lda,
    lapack_complex_double *b, int ldb);
int LAPACKE_zgels_work(int matrix_layout, char trans, int m, int n, int nrhs, lapack_complex_double *a, int lda,
    lapack_complex_double *b, int ldb, lapack_complex_double *work, int lwork);
int LAPACKE_zgeqrf(int matrix_layout, int m, int n, lapack_complex_double *a, int lda, lapack_complex_double *tau);
int LAPACKE_zgeqrf_work(int matrix_layout, int m, int n, lapack_complex_double *a, int lda, lapack_complex_double *tau,
    lapack_complex_double *work, int lwork);
int LAPACKE_zgesv(int matrix_layout, int n, int nrhs, lapack_complex_double *a, int lda, int *ipiv,
    lapack_complex_double *b, int ldb);
int LAPACKE_zgesv_work(int matrix_layout, int n, int nrhs, lapack_complex_double *a, int lda, int *ipiv,
    lapack_complex_double *b, int ldb);
int LAPACKE_zgetrf(int matrix_layout, int m, int n, lapack_complex_double *a, int lda, int *ipiv);
int LAPACKE_zgetrf_work(int matrix_layout, int m, int n, lapack_complex_double *a, int lda, int *ipiv);
int LAPACKE_zgetri(int matrix_layout, int n, lapack_complex_double *a, int lda, const int *ipiv);
int LAPACKE_zgetri_work(int matrix_layout, int n, lapack_complex_double *a, int lda, const int *ipiv,
    lapack_complex_double *work, int lwork);
int LAPACKE_zgetrs(int matrix_layout, char trans, int n, int nrhs, const lapack_complex_double *a, int lda,
    const int *ipiv, lapack_complex_double *b, int ldb);
int LAPACKE_zgetrs_work(int matrix_layout, char trans, int n, int nrhs, const lapack_complex_double *a, int lda,
    const int *ipiv, lapack_complex_double *b, int ldb);
double LAPACKE_zlange(int matrix_layout, char norm, int m, int n, const lapack_complex_double *a, int lda);
double LAPACKE_zlange_work(int matrix_layout, char norm, int m, int n, const lapack_complex_double *a, int lda,
    double *work);
double LAPACKE_zlanhe(int matrix_layout, char norm, char uplo, int n, const lapack_complex_double *a, int lda);
double LAPACKE_zlanhe_work(int matrix_layout, char norm, char uplo, int n, const lapack_complex_double *a, int lda,
    double *work);
double LAPACKE_zlansy(int matrix_layout, char norm, char uplo, int n, const lapack_complex_double *a, int lda);
double LAPACKE_zlansy_work(int matrix_layout, char norm, char uplo, int n, const lapack_complex_double *a, int lda,
    double *work);
double LAPACKE_zlantr(int matrix_layout, char norm, char uplo, char diag, int m, int n, const lapack_complex_double *a,
    int lda);
double LAPACKE_zlantr_work(int matrix_layout, char norm, char uplo, char diag, int m, int n,
    const lapack_complex_double *a, int lda, double *work);
int LAPACKE_zlaswp(int matrix_layout, int n, lapack_complex_double *a, int lda, int k1, int k2, const int *ipiv,
    int incx);
int LAPACKE_zlaswp_work(int matrix_layout, int n, lapack_complex_double *a, int lda, int k1, int k2, const int *ipiv,
    int incx);
int LAPACKE_zlauum(int matrix_layout, char uplo, int n, lapack_complex_double *a, int lda);
int LAPACKE_zlauum_work(int matrix_layout, char uplo, int n, lapack_complex_double *a, int lda);
int LAPACKE_zpocon(int matrix_layout, char uplo, int n, const lapack_complex_double *a, int lda, double anorm,
    double *rcond);
int LAPACKE_zpocon_work(int matrix_layout, char uplo, int n, const lapack_complex_double *a, int lda, double anorm,
    double *rcond, lapack_complex_double *work, double *rwork);
int LAPACKE_zposv(int matrix_layout, char uplo, int n, int nrhs, lapack_complex_double *a, int lda,
    lapack_complex_double *b, int ldb);
int LAPACKE_zposv_work(int matrix_layout, char uplo, int n, int nrhs, lapack_complex_double *a, int lda,
    lapack_complex_double *b, int ldb);
int LAPACKE_zpotrf(int matrix_layout, char uplo, int n, lapack_complex_double *a, int lda);
int LAPACKE_zpotrf_work(int matrix_layout, char uplo, int n, lapack_complex_double *a, int lda);
int LAPACKE_zpotri(int matrix_layout, char uplo, int n, lapack_complex_double *a, int lda);
int LAPACKE_zpotri_work(int matrix_layout, char uplo, int n, lapack_complex_double *a, int lda);
int LAPACKE_zpotrs(int matrix_layout, char uplo, int n, int nrhs, const lapack_complex_double *a, int lda,
    lapack_complex_double *b, int ldb);
int LAPACKE_zpotrs_work(int matrix_layout, char uplo, int n, int nrhs, const lapack_complex_double *a, int lda,
    lapack_complex_double *b, int ldb);
int LAPACKE_ztrtri(int matrix_layout, char uplo, char diag, int n, lapack_complex_double *a, int lda);
int LAPACKE_ztrtri_work(int matrix_layout, char uplo, char diag, int n, lapack_complex_double *a, int lda);
int LAPACKE_zunglq(int matrix_layout, int m, int n, int k, lapack_complex_double *a, int lda,
    const lapack_complex_double *tau);
int LAPACKE_zunglq_work(int matrix_layout, int m, int n, int k, lapack_complex_double *a, int lda,
    const lapack_complex_double *tau, lapack_complex_double *work, int lwork);
int LAPACKE_zungqr(int matrix_layout, int m, int n, int k, lapack_complex_double *a, int lda,
    const lapack_complex_double *tau);
int LAPACKE_zungqr_work(int matrix_layout, int m, int n, int k, lapack_complex_double *a, int lda,
    const lapack_complex_double *tau, lapack_complex_double *work, int lwork);
int LAPACKE_zunmlq(int matrix_layout, char side, char trans, int m, int n, int k, const lapack_complex_double *a,
    int lda, const lapack_complex_double *tau, lapack_complex_double *c, int ldc);
int LAPACKE_zunmlq_work(int matrix_layout, char side, char trans, int m, int n, int k, const lapack_complex_double *a,
    int lda, const lapack_complex_double *tau, lapack_complex_double *c, int ldc, lapack_complex_double *work,
    int lwork);
int LAPACKE_zunmqr(int matrix_layout, char side, char trans, int m, int n, int k, const lapack_complex_double *a,
    int lda, const lapack_complex_double *tau, lapack_complex_double *c, int ldc);
int LAPACKE_zunmqr_work(int matrix_layout, char side, char trans, int m, int n, int k, const lapack_complex_double *a,
    int lda, const lapack_complex_double *tau, lapack_complex_double *c, int ldc, lapack_complex_double *work,
    int lwork);
/* end */

#endif

int LAPACKE_get_nancheck64_(void);
void LAPACKE_set_nancheck64_(int flag);

/* begin: LAPACKE, 64 bits */
int64_t LAPACKE_cgecon64_(int matrix_layout, char norm, int64_t n, const lapack_complex_float *a, int64_t lda,
    float anorm, float *rcond);
int64_t LAPACKE_cgecon_64(int matrix_layout, char norm, int64_t n, const lapack_complex_float *a, int64_t lda,
    float anorm, float *rcond);
int64_t LAPACKE_cgecon_work64_(int matrix_layout, char norm, int64_t n, const lapack_complex_float *a, int64_t lda,
    float anorm, float *rcond, lapack_complex_float *work, float *rwork);
int64_t LAPACKE_cgecon_work_64(int matrix_layout, char norm, int64_t n, const lapack_complex_float *a, int64_t lda,
    float anorm, float *rcond, lapack_complex_float *work, float *rwork);
int64_t LAPACKE_cgelqf64_(int matrix_layout, int64_t m, int64_t n, lapack_complex_float *a, int64_t lda,
    lapack_complex_float *tau);
int64_t LAPACKE_cgelqf_64(int matrix_layout, int64_t m, int64_t n, lapack_complex_float *a, int64_t lda,
    lapack_complex_float *tau);
int64_t LAPACKE_cgelqf_work64_(int matrix_layout, int64_t m, int64_t n, lapack_complex_float *a, int64_t lda,
    lapack_complex_float *tau, lapack_complex_float *work, int64_t lwork);
int64_t LAPACKE_cgelqf_work_64(int matrix_layout, int64_t m, int64_t n, lapack_complex_float *a, int64_t lda,
    lapack_complex_float *tau, lapack_complex_float *work, int64_t lwork);
int64_t LAPACKE_cgels64_(int matrix_layout, char trans, int64_t m, int64_t n, int64_t nrhs, lapack_complex_float *a,
    int64_t lda, lapack_complex_float *b, int64_t ldb);
int64_t LAPACKE_cgels_64(int matrix_layout, char trans, int64_t m, int64_t n, int64_t nrhs, lapack_complex_float *a,
    int64_t lda, lapack_complex_float *b, int64_t ldb);
int64_t LAPACKE_cgels_work64_(int matrix_layout, char trans, int64_t m, int64_t n, int64_t nrhs,
    lapack_complex_float *a, int64_t lda, lapack_complex_float *b, int64_t ldb, lapack_complex_float *work,
    int64_t lwork);
int64_t LAPACKE_cgels_work_64(int matrix_layout, char trans, int64_t m, int64_t n, int64_t nrhs,
    lapack_complex_float *a, int64_t lda, lapack_complex_float *b, int64_t ldb, lapack_complex_float *work,
    int64_t lwork);
int64_t LAPACKE_cgeqrf64_(int matrix_layout, int64_t m, int64_t n, lapack_complex_float *a, int64_t lda,
    lapack_complex_float *tau);
int64_t LAPACKE_cgeqrf_64(int matrix_layout, int64_t m, int64_t n, lapack_complex_float *a, int64_t lda,
    lapack_complex_float *tau);
int64_t LAPACKE_cgeqrf_work64_(int matrix_layout, int64_t m, int64_t n, lapack_complex_float *a, int64_t lda,
    lapack_complex_float *tau, lapack_complex_float *work, int64_t lwork);
int64_t LAPACKE_cgeqrf_work_64(int matrix_layout, int64_t m, int64_t n, lapack_complex_float *a, int64_t lda,
    lapack_complex_float *tau, lapack_complex_float *work, int64_t lwork);
int64_t LAPACKE_cgesv64_(int matrix_layout, int64_t n, int64_t nrhs, lapack_complex_float *a, int64_t lda,
    int64_t *ipiv, lapack_complex_float *b, int64_t ldb);
int64_t LAPACKE_cgesv_64(int matrix_layout, int64_t n, int64_t nrhs, lapack_complex_float *a, int64_t lda,
    int64_t *ipiv, lapack_complex_float *b, int64_t ldb);
int64_t LAPACKE_cgesv_work64_(int matrix_layout, int64_t n, int64_t nrhs, lapack_complex_float *a, int64_t lda,
    int64_t *ipiv, lapack_complex_float *b, int64_t ldb);
int64_t LAPACKE_cgesv_work_64(int matrix_layout, int64_t n, int64_t nrhs, lapack_complex_float *a, int64_t lda,
    int64_t *ipiv, lapack_complex_float *b, int64_t ldb);
int64_t LAPACKE_cgetrf64_(int matrix_layout, int64_t m, int64_t n, lapack_complex_float *a, int64_t lda, int64_t *ipiv);
int64_t LAPACKE_cgetrf_64(int matrix_layout, int64_t m, int64_t n, lapack_complex_float *a, int64_t lda, int64_t *ipiv);
int64_t LAPACKE_cgetrf_work64_(int matrix_layout, int64_t m, int64_t n, lapack_complex_float *a, int64_t lda,
    int64_t *ipiv);
int64_t LAPACKE_cgetrf_work_64(int matrix_layout, int64_t m, int64_t n, lapack_complex_float *a, int64_t lda,
    int64_t *ipiv);
int64_t LAPACKE_cgetri64_(int matrix_layout, int64_t n, lapack_complex_float *a, int64_t lda, const int64_t *ipiv);
int64_t LAPACKE_cgetri_64(int matrix_layout, int64_t n, lapack_complex_float *a, int64_t lda, const int64_t *ipiv);
int64_t LAPACKE_cgetri_work64_(int matrix_layout, int64_t n, lapack_complex_float *a, int64_t lda, const int64_t *ipiv,
    lapack_complex_float *work, int64_t lwork);
int64_t LAPACKE_cgetri_work_64(int matrix_layout, int64_t n, lapack_complex_float *a, int64_t lda, const int64_t *ipiv,
    lapack_complex_float *work, int64_t lwork);
int64_t LAPACKE_cgetrs64_(int matrix_layout, char trans, int64_t n, int64_t nrhs, const lapack_complex_float *a,
    int64_t lda, const int64_t *ipiv, lapack_complex_float *b, int64_t ldb);
int64_t LAPACKE_cgetrs_64(int matrix_layout, char trans, int64_t n, int64_t nrhs, const lapack_complex_float *a,
    int64_t lda, const int64_t *ipiv, lapack_complex_float *b, int64_t ldb);
int64_t LAPACKE_cgetrs_work64_(int matrix_layout, char trans, int64_t n, int64_t nrhs, const lapack_complex_float *a,
    int64_t lda, const int64_t *ipiv, lapack_complex_float *b, int64_t ldb);
int64_t LAPACKE_cgetrs_work_64(int matrix_layout, char trans, int64_t n, int64_t nrhs, const lapack_complex_float *a,
    int64_t lda, const int64_t *ipiv, lapack_complex_float *b, int64_t ldb);
float LAPACKE_clange64_(int matrix_layout, char norm, int64_t m, int64_t n, const lapack_complex_float *a, int64_t lda);
float LAPACKE_clange_64(int matrix_layout, char norm, int64_t m, int64_t n, const lapack_complex_float *a, int64_t lda);
float LAPACKE_clange_work64_(int matrix_layout, char norm, int64_t m, int64_t n, const lapack_complex_float *a,
    int64_t lda, float *work);
float LAPACKE_clange_work_64(int matrix_layout, char norm, int64_t m, int64_t n, const lapack_complex_float *a,
    int64_t lda, float *work);
float LAPACKE_clanhe64_(int matrix_layout, char norm, char uplo, int64_t n, const lapack_complex_float *a, int64_t lda);
float LAPACKE_clanhe_64(int matrix_layout, char norm, char uplo, int64_t n, const lapack_complex_float *a, int64_t lda);
float LAPACKE_clanhe_work64_(int matrix_layout, char norm, char uplo, int64_t n, const lapack_complex_float *a,
    int64_t lda, float *work);
float LAPACKE_clanhe_work_64(int matrix_layout, char norm, char uplo, int64_t n, const lapack_complex_float *a,
    int64_t lda, float *work);
float LAPACKE_clansy64_(int matrix_layout, char norm, char uplo, int64_t n, const lapack_complex_float *a, int64_t lda);
float LAPACKE_clansy_64(int matrix_layout, char norm, char uplo, int64_t n, const lapack_complex_float *a, int64_t lda);
float LAPACKE_clansy_work64_(int matrix_layout, char norm, char uplo, int64_t n, const lapack_complex_float *a,
    int64_t lda, float *work);
float LAPACKE_clansy_work_64(int matrix_layout, char norm, char uplo, int64_t n, const lapack_complex_float *a,
    int64_t lda, float *work);
float LAPACKE_clantr64_(int matrix_layout, char norm, char uplo, char diag, int64_t m, int64_t n,
    const lapack_complex_float *a, int64_t lda);
float LAPACKE_clantr_64(int matrix_layout, char norm, char uplo, char diag, int64_t m, int64_t n,
    const lapack_complex_float *a, int64_t lda);
float LAPACKE_clantr_work64_(int matrix_layout, char norm, char uplo, char diag, int64_t m, int64_t n,
    const lapack_complex_float *a, int64_t lda, float *work);
float LAPACKE_clantr_work_64(int matrix_layout, char norm, char uplo, char diag, int64_t m, int64_t n,
    const lapack_complex_float *a, int64_t lda, float *work);
int64_t LAPACKE_claswp64_(int matrix_layout, int64_t n, lapack_complex_float *a, int64_t lda, int64_t k1, int64_t k2,
    const int64_t *ipiv, int64_t incx);
int64_t LAPACKE_claswp_64(int matrix_layout, int64_t n, lapack_complex_float *a, int64_t lda, int64_t k1, int64_t k2,
    const int64_t *ipiv, int64_t incx);
int64_t LAPACKE_claswp_work64_(int matrix_layout, int64_t n, lapack_complex_float *a, int64_t lda, int64_t k1,
    int64_t k2, const int64_t *ipiv, int64_t incx);
int64_t LAPACKE_claswp_work_64(int matrix_layout, int64_t n, lapack_complex_float *a, int64_t lda, int64_t k1,
    int64_t k2, const int64_t *ipiv, int64_t incx);
int64_t LAPACKE_clauum64_(int matrix_layout, char uplo, int64_t n, lapack_complex_float *a, int64_t lda);
int64_t LAPACKE_clauum_64(int matrix_layout, char uplo, int64_t n, lapack_complex_float *a, int64_t lda);
int64_t LAPACKE_clauum_work64_(int matrix_layout, char uplo, int64_t n, lapack_complex_float *a, int64_t lda);
int64_t LAPACKE_clauum_work_64(int matrix_layout, char uplo, int64_t n, lapack_complex_float *a, int64_t lda);
int64_t LAPACKE_cpocon64_(int matrix_layout, char uplo, int64_t n, const lapack_complex_float *a, int64_t lda,
    float anorm, float *rcond);
int64_t LAPACKE_cpocon_64(int matrix_layout, char uplo, int64_t n, const lapack_complex_float *a, int64_t lda,
    float anorm, float *rcond);
int64_t LAPACKE_cpocon_work64_(int matrix_layout, char uplo, int64_t n, const lapack_complex_float *a, int64_t lda,
    float anorm, float *rcond, lapack_complex_float *work, float *rwork);
int64_t LAPACKE_cpocon_work_64(int matrix_layout, char uplo, int64_t n, const lapack_complex_float *a, int64_t lda,
    float anorm, float *rcond, lapack_complex_float *work, float *rwork);
int64_t LAPACKE_cposv64_(int matrix_layout, char uplo, int64_t n, int64_t nrhs, lapack_complex_float *a, int64_t lda,
    lapack_complex_float *b, int64_t ldb);
int64_t LAPACKE_cposv_64(int matrix_layout, char uplo, int64_t n, int64_t nrhs, lapack_complex_float *a, int64_t lda,
    lapack_complex_float *b, int64_t ldb);
int64_t LAPACKE_cposv_work64_(int matrix_layout, char uplo, int64_t n, int64_t nrhs, lapack_complex_float *a,
    int64_t lda, lapack_complex_float *b, int64_t ldb);
int64_t LAPACKE_cposv_work_64(int matrix_layout, char uplo, int64_t n, int64_t nrhs, lapack_complex_float *a,
    int64_t lda, lapack_complex_float *b, int64_t ldb);
int64_t LAPACKE_cpotrf64_(int matrix_layout, char uplo, int64_t n, lapack_complex_float *a, int64_t lda);
int64_t LAPACKE_cpotrf_64(int matrix_layout, char uplo, int64_t n, lapack_complex_float *a, int64_t lda);
int64_t LAPACKE_cpotrf_work64_(int matrix_layout, char uplo, int64_t n, lapack_complex_float *a, int64_t lda);
int64_t LAPACKE_cpotrf_work_64(int matrix_layout, char uplo, int64_t n, lapack_complex_float *a, int64_t lda);
int64_t LAPACKE_cpotri64_(int matrix_layout, char uplo, int64_t n, lapack_complex_float *a, int64_t lda);
int64_t LAPACKE_cpotri_64(int matrix_layout, char uplo, int64_t n, lapack_complex_float *a, int64_t lda);
int64_t LAPACKE_cpotri_work64_(int matrix_layout, char uplo, int64_t n, lapack_complex_float *a, int64_t lda);
int64_t LAPACKE_cpotri_work_64(int matrix_layout, char uplo, int64_t n, lapack_complex_float *a, int64_t lda);
int64_t LAPACKE_cpotrs64_(int matrix_layout, char uplo, int64_t n, int64_t nrhs, const lapack_complex_float *a,
    int64_t lda, lapack_complex_float *b, int64_t ldb);
int64_t LAPACKE_cpotrs_64(int matrix_layout, char uplo, int64_t n, int64_t nrhs, const lapack_complex_float *a,
    int64_t lda, lapack_complex_float *b, int64_t ldb);
int64_t LAPACKE_cpotrs_work64_(int matrix_layout, char uplo, int64_t n, int64_t nrhs, const lapack_complex_float *a,
    int64_t lda, lapack_complex_float *b, int64_t ldb);
int64_t LAPACKE_cpotrs_work_64(int matrix_layout, char uplo, int64_t n, int64_t nrhs, const lapack_complex_float *a,
    int64_t lda, lapack_complex_float *b, int64_t ldb);
int64_t LAPACKE_ctrtri64_(int matrix_layout, char uplo, char diag, int64_t n, lapack_complex_float *a, int64_t lda);
int64_t LAPACKE_ctrtri_64(int matrix_layout, char uplo, char diag, int64_t n, lapack_complex_float *a, int64_t lda);
int64_t LAPACKE_ctrtri_work64_(int matrix_layout, char uplo, char diag, int64_t n, lapack_complex_float *a,
    int64_t lda);
int64_t LAPACKE_ctrtri_work_64(int matrix_layout, char uplo, char diag, int64_t n, lapack_complex_float *a,
    int64_t lda);
int64_t LAPACKE_cunglq64_(int matrix_layout, int64_t m, int64_t n, int64_t k, lapack_complex_float *a, int64_t lda,
    const lapack_complex_float *tau);
int64_t LAPACKE_cunglq_64(int matrix_layout, int64_t m, int64_t n, int64_t k, lapack_complex_float *a, int64_t lda,
    const lapack_complex_float *tau);
int64_t LAPACKE_cunglq_work64_(int matrix_layout, int64_t m, int64_t n, int64_t k, lapack_complex_float *a, int64_t lda,
    const lapack_complex_float *tau, lapack_complex_float *work, int64_t lwork);
int64_t LAPACKE_cunglq_work_64(int matrix_layout, int64_t m, int64_t n, int64_t k, lapack_complex_float *a, int64_t lda,
    const lapack_complex_float *tau, lapack_complex_float *work, int64_t lwork);
int64_t LAPACKE_cungqr64_(int matrix_layout, int64_t m, int64_t n, int64_t k, lapack_complex_float *a, int64_t lda,
    const lapack_complex_float *tau);
int64_t LAPACKE_cungqr_64(int matrix_layout, int64_t m, int64_t n, int64_t k, lapack_complex_float *a, int64_t lda,
    const lapack_complex_float *tau);
int64_t LAPACKE_cungqr_work64_(int matrix_layout, int64_t m, int64_t n, int64_t k, lapack_complex_float *a, int64_t lda,
    const lapack_complex_float *tau, lapack_complex_float *work, int64_t lwork);
int64_t LAPACKE_cungqr_work_64(int matrix_layout, int64_t m, int64_t n, int64_t k, lapack_complex_float *a, int64_t lda,
    const lapack_complex_float *tau, lapack_complex_float *work, int64_t lwork);
int64_t LAPACKE_cunmlq64_(int matrix_layout, char side, char trans, int64_t m, int64_t n, int64_t k,
    const lapack_complex_float *a, int64_t lda, const lapack_complex_float *tau, lapack_complex_float *c, int64_t ldc);
int64_t LAPACKE_cunmlq_64(int matrix_layout, char side, char trans, int64_t m, int64_t n, int64_t k,
    const lapack_complex_float *a, int64_t lda, const lapack_complex_float *tau, lapack_complex_float *c, int64_t ldc);
int64_t LAPACKE_cunmlq_work64_(int matrix_layout, char side, char trans, int64_t m, int64_t n, int64_t k,
    const lapack_complex_float *a, int64_t lda, const lapack_complex_float *tau, lapack_complex_float *c, int64_t ldc,
    lapack_complex_float *work, int64_t lwork);
int64_t LAPACKE_cunmlq_work_64(int matrix_layout, char side, char trans, int64_t m, int64_t n, int64_t k,
    const lapack_complex_float *a, int64_t lda, const lapack_complex_float *tau, lapack_complex_float *c, int64_t ldc,
    lapack_complex_float *work, int64_t lwork);
int64_t LAPACKE_cunmqr64_(int matrix_layout, char side, char trans, int64_t m, int64_t n, int64_t k,
    const lapack_complex_float *a, int64_t lda, const lapack_complex_float *tau, lapack_complex_float *c, int64_t ldc);
int64_t LAPACKE_cunmqr_64(int matrix_layout, char side, char trans, int64_t m, int64_t n, int64_t k,
    const lapack_complex_float *a, int64_t lda, const lapack_complex_float *tau, lapack_complex_float *c, int64_t ldc);
int64_t LAPACKE_cunmqr_work64_(int matrix_layout, char side, char trans, int64_t m, int64_t n, int64_t k,
    const lapack_complex_float *a, int64_t lda, const lapack_complex_float *tau, lapack_complex_float *c, int64_t ldc,
    lapack_complex_float *work, int64_t lwork);
int64_t LAPACKE_cunmqr_work_64(int matrix_layout, char side, char trans, int64_t m, int64_t n, int64_t k,
    const lapack_complex_float *a, int64_t lda, const lapack_complex_float *tau, lapack_complex_float *c, int64_t ldc,
    lapack_complex_float *work, int64_t lwork);
int64_t LAPACKE_dgecon64_(int matrix_layout, char norm, int64_t n, const double *a, int64_t lda, double anorm,
    double *rcond);
int64_t LAPACKE_dgecon_64(int matrix_layout, char norm, int64_t n, const double *a, int64_t lda, double anorm,
    double *rcond);
int64_t LAPACKE_dgecon_work64_(int matrix_layout, char norm, int64_t n, const double *a, int64_t lda, double anorm,
    double *rcond, double *work, int64_t *iwork);
int64_t LAPACKE_dgecon_work_64(int matrix_layout, char norm, int64_t n, const double *a, int64_t lda, double anorm,
    double *rcond, double *work, int64_t *iwork);
int64_t LAPACKE_dgelqf64_(int matrix_layout, int64_t m, int64_t n, double *a, int64_t lda, double *tau);
int64_t LAPACKE_dgelqf_64(int matrix_layout, int64_t m, int64_t n, double *a, int64_t lda, double *tau);
int64_t LAPACKE_dgelqf_work64_(int matrix_layout, int64_t m, int64_t n, double *a, int64_t lda, double *tau,
    double *work, int64_t lwork);
int64_t LAPACKE_dgelqf_work_64(int matrix_layout, int64_t m, int64_t n, double *a, int64_t lda, double *tau,
    double *work, int64_t lwork);
int64_t LAPACKE_dgels64_(int matrix_layout, char trans, int64_t m, int64_t n, int64_t nrhs, double *a, int64_t lda,
    double *b, int64_t ldb);
int64_t LAPACKE_dgels_64(int matrix_layout, char trans, int64_t m, int64_t n, int64_t nrhs, double *a, int64_t lda,
    double *b, int64_t ldb);
int64_t LAPACKE_dgels_work64_(int matrix_layout, char trans, int64_t m, int64_t n, int64_t nrhs, double *a, int64_t lda,
    double *b, int64_t ldb, double *work, int64_t lwork);
int64_t LAPACKE_dgels_work_64(int matrix_layout, char trans, int64_t m, int64_t n, int64_t nrhs, double *a, int64_t lda,
    double *b, int64_t ldb, double *work, int64_t lwork);
int64_t LAPACKE_dgeqrf64_(int matrix_layout, int64_t m, int64_t n, double *a, int64_t lda, double *tau);
int64_t LAPACKE_dgeqrf_64(int matrix_layout, int64_t m, int64_t n, double *a, int64_t lda, double *tau);
int64_t LAPACKE_dgeqrf_work64_(int matrix_layout, int64_t m, int64_t n, double *a, int64_t lda, double *tau,
    double *work, int64_t lwork);
int64_t LAPACKE_dgeqrf_work_64(int matrix_layout, int64_t m, int64_t n, double *a, int64_t lda, double *tau,
    double *work, int64_t lwork);
int64_t LAPACKE_dgesv64_(int matrix_layout, int64_t n, int64_t nrhs, double *a, int64_t lda, int64_t *ipiv, double *b,
    int64_t ldb);
int64_t LAPACKE_dgesv_64(int matrix_layout, int64_t n, int64_t nrhs, double *a, int64_t lda, int64_t *ipiv, double *b,
    int64_t ldb);
int64_t LAPACKE_dgesv_work64_(int matrix_layout, int64_t n, int64_t nrhs, double *a, int64_t lda, int64_t *ipiv,
    double *b, int64_t ldb);
int64_t LAPACKE_dgesv_work_64(int matrix_layout, int64_t n, int64_t nrhs, double *a, int64_t lda, int64_t *ipiv,
    double *b, int64_t ldb);
int64_t LAPACKE_dgetrf64_(int matrix_layout, int64_t m, int64_t n, double *a, int64_t lda, int64_t *ipiv);
int64_t LAPACKE_dgetrf_64(int matrix_layout, int64_t m, int64_t n, double *a, int64_t lda, int64_t *ipiv);
int64_t LAPACKE_dgetrf_work64_(int matrix_layout, int64_t m, int64_t n, double *a, int64_t lda, int64_t *ipiv);
int64_t LAPACKE_dgetrf_work_64(int matrix_layout, int64_t m, int64_t n, double *a, int64_t lda, int64_t *ipiv);
int64_t LAPACKE_dgetri64_(int matrix_layout, int64_t n, double *a, int64_t lda, const int64_t *ipiv);
int64_t LAPACKE_dgetri_64(int matrix_layout, int64_t n, double *a, int64_t lda, const int64_t *ipiv);
int64_t LAPACKE_dgetri_work64_(int matrix_layout, int64_t n, double *a, int64_t lda, const int64_t *ipiv, double *work,
    int64_t lwork);
int64_t LAPACKE_dgetri_work_64(int matrix_layout, int64_t n, double *a, int64_t lda, const int64_t *ipiv, double *work,
    int64_t lwork);
int64_t LAPACKE_dgetrs64_(int matrix_layout, char trans, int64_t n, int64_t nrhs, const double *a, int64_t lda,
    const int64_t *ipiv, double *b, int64_t ldb);
int64_t LAPACKE_dgetrs_64(int matrix_layout, char trans, int64_t n, int64_t nrhs, const double *a, int64_t lda,
    const int64_t *ipiv, double *b, int64_t ldb);
int64_t LAPACKE_dgetrs_work64_(int matrix_layout, char trans, int64_t n, int64_t nrhs, const double *a, int64_t lda,
    const int64_t *ipiv, double *b, int64_t ldb);
int64_t LAPACKE_dgetrs_work_64(int matrix_layout, char trans, int64_t n, int64_t nrhs, const double *a, int64_t lda,
    const int64_t *ipiv, double *b, int64_t ldb);
double LAPACKE_dlange64_(int matrix_layout, char norm, int64_t m, int64_t n, const double *a, int64_t lda);
double LAPACKE_dlange_64(int matrix_layout, char norm, int64_t m, int64_t n, const double *a, int64_t lda);
double LAPACKE_dlange_work64_(int matrix_layout, char norm, int64_t m, int64_t n, const double *a, int64_t lda,
    double *work);
double LAPACKE_dlange_work_64(int matrix_layout, char norm, int64_t m, int64_t n, const double *a, int64_t lda,
    double *work);
double LAPACKE_dlansy64_(int matrix_layout, char norm, char uplo, int64_t n, const double *a, int64_t lda);
double LAPACKE_dlansy_64(int matrix_layout, char norm, char uplo, int64_t n, const double *a, int64_t lda);
double LAPACKE_dlansy_work64_(int matrix_layout, char norm, char uplo, int64_t n, const double *a, int64_t lda,
    double *work);
double LAPACKE_dlansy_work_64(int matrix_layout, char norm, char uplo, int64_t n, const double *a, int64_t lda,
    double *work);
double LAPACKE_dlantr64_(int matrix_layout, char norm, char uplo, char diag, int64_t m, int64_t n, const double *a,
    int64_t lda);
double LAPACKE_dlantr_64(int matrix_layout, char norm, char uplo, char diag, int64_t m, int64_t n, const double *a,
    int64_t lda);
double LAPACKE_dlantr_work64_(int matrix_layout, char norm, char uplo, char diag, int64_t m, int64_t n, const double *a,
    int64_t lda, double *work);
double LAPACKE_dlantr_work_64(int matrix_layout, char norm, char uplo, char diag, int64_t m, int64_t n, const double *a,
    int64_t lda, double *work);
int64_t LAPACKE_dlaswp64_(int matrix_layout, int64_t n, double *a, int64_t lda, int64_t k1, int64_t k2,
    const int64_t *ipiv, int64_t incx);
int64_t LAPACKE_dlaswp_64(int matrix_layout, int64_t n, double *a, int64_t lda, int64_t k1, int64_t k2,
    const int64_t *ipiv, int64_t incx);
int64_t LAPACKE_dlaswp_work64_(int matrix_layout, int64_t n, double *a, int64_t lda, int64_t k1, int64_t k2,
    const int64_t *ipiv, int64_t incx);
int64_t LAPACKE_dlaswp_work_64(int matrix_layout, int64_t n, double *a, int64_t lda, int64_t k1, int64_t k2,
    const int64_t *ipiv, int64_t incx);
int64_t LAPACKE_dlauum64_(int matrix_layout, char uplo, int64_t n, double *a, int64_t lda);
int64_t LAPACKE_dlauum_64(int matrix_layout, char uplo, int64_t n, double *a, int64_t lda);
int64_t LAPACKE_dlauum_work64_(int matrix_layout, char uplo, int64_t n, double *a, int64_t lda);
int64_t LAPACKE_dlauum_work_64(int matrix_layout, char uplo, int64_t n, double *a, int64_t lda);
int64_t LAPACKE_dorglq64_(int matrix_layout, int64_t m, int64_t n, int64_t k, double *a, int64_t lda,
    const double *tau);
int64_t LAPACKE_dorglq_64(int matrix_layout, int64_t m, int64_t n, int64_t k, double *a, int64_t lda,
    const double *tau);
int64_t LAPACKE_dorglq_work64_(int matrix_layout, int64_t m, int64_t n, int64_t k, double *a, int64_t lda,
    const double *tau, double *work, int64_t lwork);
int64_t LAPACKE_dorglq_work_64(int matrix_layout, int64_t m, int64_t n, int64_t k, double *a, int64_t lda,
    const double *tau, double *work, int64_t lwork);
int64_t LAPACKE_dorgqr64_(int matrix_layout, int64_t m, int64_t n, int64_t k, double *a, int64_t lda,
    const double *tau);
int64_t LAPACKE_dorgqr_64(int matrix_layout, int64_t m, int64_t n, int64_t k, double *a, int64_t lda,
    const double *tau);
int64_t LAPACKE_dorgqr_work64_(int matrix_layout, int64_t m, int64_t n, int64_t k, double *a, int64_t lda,
    const double *tau, double *work, int64_t lwork);
int64_t LAPACKE_dorgqr_work_64(int matrix_layout, int64_t m, int64_t n, int64_t k, double *a, int64_t lda,
    const double *tau, double *work, int64_t lwork);
int64_t LAPACKE_dormlq64_(int matrix_layout, char side, char trans, int64_t m, int64_t n, int64_t k, const double *a,
    int64_t lda, const double *tau, double *c, int64_t ldc);
int64_t LAPACKE_dormlq_64(int matrix_layout, char side, char trans, int64_t m, int64_t n, int64_t k, const double *a,
    int64_t lda, const double *tau, double *c, int64_t ldc);
int64_t LAPACKE_dormlq_work64_(int matrix_layout, char side, char trans, int64_t m, int64_t n, int64_t k,
    const double *a, int64_t lda, const double *tau, double *c, int64_t ldc, double *work, int64_t lwork);
int64_t LAPACKE_dormlq_work_64(int matrix_layout, char side, char trans, int64_t m, int64_t n, int64_t k,
    const double *a, int64_t lda, const double *tau, double *c, int64_t ldc, double *work, int64_t lwork);
int64_t LAPACKE_dormqr64_(int matrix_layout, char side, char trans, int64_t m, int64_t n, int64_t k, const double *a,
    int64_t lda, const double *tau, double *c, int64_t ldc);
int64_t LAPACKE_dormqr_64(int matrix_layout, char side, char trans, int64_t m, int64_t n, int64_t k, const double *a,
    int64_t lda, const double *tau, double *c, int64_t ldc);
int64_t LAPACKE_dormqr_work64_(int matrix_layout, char side, char trans, int64_t m, int64_t n, int64_t k,
    const double *a, int64_t lda, const double *tau, double *c, int64_t ldc, double *work, int64_t lwork);
int64_t LAPACKE_dormqr_work_64(int matrix_layout, char side, char trans, int64_t m, int64_t n, int64_t k,
    const double *a, int64_t lda, const double *tau, double *c, int64_t ldc, double *work, int64_t lwork);
int64_t LAPACKE_dpocon64_(int matrix_layout, char uplo, int64_t n, const double *a, int64_t lda, double anorm,
    double *rcond);
int64_t LAPACKE_dpocon_64(int matrix_layout, char uplo, int64_t n, const double *a, int64_t lda, double anorm,
    double *rcond);
int64_t LAPACKE_dpocon_work64_(int matrix_layout, char uplo, int64_t n, const double *a, int64_t lda, double anorm,
    double *rcond, double *work, int64_t *iwork);
int64_t LAPACKE_dpocon_work_64(int matrix_layout, char uplo, int64_t n, const double *a, int64_t lda, double anorm,
    double *rcond, double *work, int64_t *iwork);
int64_t LAPACKE_dposv64_(int matrix_layout, char uplo, int64_t n, int64_t nrhs, double *a, int64_t lda, double *b,
    int64_t ldb);
int64_t LAPACKE_dposv_64(int matrix_layout, char uplo, int64_t n, int64_t nrhs, double *a, int64_t lda, double *b,
    int64_t ldb);
int64_t LAPACKE_dposv_work64_(int matrix_layout, char uplo, int64_t n, int64_t nrhs, double *a, int64_t lda, double *b,
    int64_t ldb);
int64_t LAPACKE_dposv_work_64(int matrix_layout, char uplo, int64_t n, int64_t nrhs, double *a, int64_t lda, double *b,
    int64_t ldb);
int64_t LAPACKE_dpotrf64_(int matrix_layout, char uplo, int64_t n, double *a, int64_t lda);
int64_t LAPACKE_dpotrf_64(int matrix_layout, char uplo, int64_t n, double *a, int64_t lda);
int64_t LAPACKE_dpotrf_work64_(int matrix_layout, char uplo, int64_t n, double *a, int64_t lda);
int64_t LAPACKE_dpotrf_work_64(int matrix_layout, char uplo, int64_t n, double *a, int64_t lda);
int64_t LAPACKE_dpotri64_(int matrix_layout, char uplo, int64_t n, double *a, int64_t lda);
int64_t LAPACKE_dpotri_64(int matrix_layout, char uplo, int64_t n, double *a, int64_t lda);
int64_t LAPACKE_dpotri_work64_(int matrix_layout, char uplo, int64_t n, double *a, int64_t lda);
int64_t LAPACKE_dpotri_work_64(int matrix_layout, char uplo, int64_t n, double *a, int64_t lda);
int64_t LAPACKE_dpotrs64_(int matrix_layout, char uplo, int64_t n, int64_t nrhs, const double *a, int64_t lda,
    double *b, int64_t ldb);
int64_t LAPACKE_dpotrs_64(int matrix_layout, char uplo, int64_t n, int64_t nrhs, const double *a, int64_t lda,
    double *b, int64_t ldb);
int64_t LAPACKE_dpotrs_work64_(int matrix_layout, char uplo, int64_t n, int64_t nrhs, const double *a, int64_t lda,
    double *b, int64_t ldb);
int64_t LAPACKE_dpotrs_work_64(int matrix_layout, char uplo, int64_t n, int64_t nrhs, const double *a, int64_t lda,
    double *b, int64_t ldb);
int64_t LAPACKE_dsgesv64_(int matrix_layout, int64_t n, int64_t nrhs, double *a, int64_t lda, int64_t *ipiv,
    const double *b, int64_t ldb, double *x, int64_t ldx, int64_t *iter);
int64_t LAPACKE_dsgesv_64(int matrix_layout, int64_t n, int64_t nrhs, double *a, int64_t lda, int64_t *ipiv,
    const double *b, int64_t ldb, double *x, int64_t ldx, int64_t *iter);
int64_t LAPACKE_dsgesv_work64_(int matrix_layout, int64_t n, int64_t nrhs, double *a, int64_t lda, int64_t *ipiv,
    const double *b, int64_t ldb, double *x, int64_t ldx, double *work, float *swork, int64_t *iter);
int64_t LAPACKE_dsgesv_work_64(int matrix_layout, int64_t n, int64_t nrhs, double *a, int64_t lda, int64_t *ipiv,
    const double *b, int64_t ldb, double *x, int64_t ldx, double *work, float *swork, int64_t *iter);
int64_t LAPACKE_dsposv64_(int matrix_layout, char uplo, int64_t n, int64_t nrhs, double *a, int64_t lda,
    const double *b, int64_t ldb, double *x, int64_t ldx, int64_t *iter);
int64_t LAPACKE_dsposv_64(int matrix_layout, char uplo, int64_t n, int64_t nrhs, double *a, int64_t lda,
    const double *b, int64_t ldb, double *x, int64_t ldx, int64_t *iter);
int64_t LAPACKE_dsposv_work64_(int matrix_layout, char uplo, int64_t n, int64_t nrhs, double *a, int64_t lda,
    const double *b, int64_t ldb, double *x, int64_t ldx, double *work, float *swork, int64_t *iter);
int64_t LAPACKE_dsposv_work_64(int matrix_layout, char uplo, int64_t n, int64_t nrhs, double *a, int64_t lda,
    const double *b, int64_t ldb, double *x, int64_t ldx, double *work, float *swork, int64_t *iter);
int64_t LAPACKE_dtrtri64_(int matrix_layout, char uplo, char diag, int64_t n, double *a, int64_t lda);
int64_t LAPACKE_dtrtri_64(int matrix_layout, char uplo, char diag, int64_t n, double *a, int64_t lda);
int64_t LAPACKE_dtrtri_work64_(int matrix_layout, char uplo, char diag, int64_t n, double *a, int64_t lda);
int64_t LAPACKE_dtrtri_work_64(int matrix_layout, char uplo, char diag, int64_t n, double *a, int64_t lda);
int64_t LAPACKE_sgecon64_(int matrix_layout, char norm, int64_t n, const float *a, int64_t lda, float anorm,
    float *rcond);
int64_t LAPACKE_sgecon_64(int matrix_layout, char norm, int64_t n, const float *a, int64_t lda, float anorm,
    float *rcond);
int64_t LAPACKE_sgecon_work64_(int matrix_layout, char norm, int64_t n, const float *a, int64_t lda, float anorm,
    float *rcond, float *work, int64_t *iwork);
int64_t LAPACKE_sgecon_work_64(int matrix_layout, char norm, int64_t n, const float *a, int64_t lda, float anorm,
    float *rcond, float *work, int64_t *iwork);
int64_t LAPACKE_sgelqf64_(int matrix_layout, int64_t m, int64_t n, float *a, int64_t lda, float *tau);
int64_t LAPACKE_sgelqf_64(int matrix_layout, int64_t m, int64_t n, float *a, int64_t lda, float *tau);
int64_t LAPACKE_sgelqf_work64_(int matrix_layout, int64_t m, int64_t n, float *a, int64_t lda, float *tau, float *work,
    int64_t lwork);
int64_t LAPACKE_sgelqf_work_64(int matrix_layout, int64_t m, int64_t n, float *a, int64_t lda, float *tau, float *work,
    int64_t lwork);
int64_t LAPACKE_sgels64_(int matrix_layout, char trans, int64_t m, int64_t n, int64_t nrhs, float *a, int64_t lda,
    float *b, int64_t ldb);
int64_t LAPACKE_sgels_64(int matrix_layout, char trans, int64_t m, int64_t n, int64_t nrhs, float *a, int64_t lda,
    float *b, int64_t ldb);
int64_t LAPACKE_sgels_work64_(int matrix_layout, char trans, int64_t m, int64_t n, int64_t nrhs, float *a, int64_t lda,
    float *b, int64_t ldb, float *work, int64_t lwork);
int64_t LAPACKE_sgels_work_64(int matrix_layout, char trans, int64_t m, int64_t n, int64_t nrhs, float *a, int64_t lda,
    float *b, int64_t ldb, float *work, int64_t lwork);
int64_t LAPACKE_sgeqrf64_(int matrix_layout, int64_t m, int64_t n, float *a, int64_t lda, float *tau);
int64_t LAPACKE_sgeqrf_64(int matrix_layout, int64_t m, int64_t n, float *a, int64_t lda, float *tau);
int64_t LAPACKE_sgeqrf_work64_(int matrix_layout, int64_t m, int64_t n, float *a, int64_t lda, float *tau, float *work,
    int64_t lwork);
int64_t LAPACKE_sgeqrf_work_64(int matrix_layout, int64_t m, int64_t n, float *a, int64_t lda, float *tau, float *work,
    int64_t lwork);
int64_t LAPACKE_sgesv64_(int matrix_layout, int64_t n, int64_t nrhs, float *a, int64_t lda, int64_t *ipiv, float *b,
    int64_t ldb);
int64_t LAPACKE_sgesv_64(int matrix_layout, int64_t n, int64_t nrhs, float *a, int64_t lda, int64_t *ipiv, float *b,
    int64_t ldb);
int64_t LAPACKE_sgesv_work64_(int matrix_layout, int64_t n, int64_t nrhs, float *a, int64_t lda, int64_t *ipiv,
    float *b, int64_t ldb);
int64_t LAPACKE_sgesv_work_64(int matrix_layout, int64_t n, int64_t nrhs, float *a, int64_t lda, int64_t *ipiv,
    float *b, int64_t ldb);
int64_t LAPACKE_sgetrf64_(int matrix_layout, int64_t m, int64_t n, float *a, int64_t lda, int64_t *ipiv);
int64_t LAPACKE_sgetrf_64(int matrix_layout, int64_t m, int64_t n, float *a, int64_t lda, int64_t *ipiv);
int64_t LAPACKE_sgetrf_work64_(int matrix_layout, int64_t m, int64_t n, float *a, int64_t lda, int64_t *ipiv);
int64_t LAPACKE_sgetrf_work_64(int matrix_layout, int64_t m, int64_t n, float *a, int64_t lda, int64_t *ipiv);
int64_t LAPACKE_sgetri64_(int matrix_layout, int64_t n, float *a, int64_t lda, const int64_t *ipiv);
int64_t LAPACKE_sgetri_64(int matrix_layout, int64_t n, float *a, int64_t lda, const int64_t *ipiv);
int64_t LAPACKE_sgetri_work64_(int matrix_layout, int64_t n, float *a, int64_t lda, const int64_t *ipiv, float *work,
    int64_t lwork);
int64_t LAPACKE_sgetri_work_64(int matrix_layout, int64_t n, float *a, int64_t lda, const int64_t *ipiv, float *work,
    int64_t lwork);
int64_t LAPACKE_sgetrs64_(int matrix_layout, char trans, int64_t n, int64_t nrhs, const float *a, int64_t lda,
    const int64_t *ipiv, float *b, int64_t ldb);
int64_t LAPACKE_sgetrs_64(int matrix_layout, char trans, int64_t n, int64_t nrhs, const float *a, int64_t lda,
    const int64_t *ipiv, float *b, int64_t ldb);
int64_t LAPACKE_sgetrs_work64_(int matrix_layout, char trans, int64_t n, int64_t nrhs, const float *a, int64_t lda,
    const int64_t *ipiv, float *b, int64_t ldb);
int64_t LAPACKE_sgetrs_work_64(int matrix_layout, char trans, int64_t n, int64_t nrhs, const float *a, int64_t lda,
    const int64_t *ipiv, float *b, int64_t ldb);
float LAPACKE_slange64_(int matrix_layout, char norm, int64_t m, int64_t n, const float *a, int64_t lda);
float LAPACKE_slange_64(int matrix_layout, char norm, int64_t m, int64_t n, const float *a, int64_t lda);
float LAPACKE_slange_work64_(int matrix_layout, char norm, int64_t m, int64_t n, const float *a, int64_t lda,
    float *work);
float LAPACKE_slange_work_64(int matrix_layout, char norm, int64_t m, int64_t n, const float *a, int64_t lda,
    float *work);
float LAPACKE_slansy64_(int matrix_layout, char norm, char uplo, int64_t n, const float *a, int64_t lda);
float LAPACKE_slansy_64(int matrix_layout, char norm, char uplo, int64_t n, const float *a, int64_t lda);
float LAPACKE_slansy_work64_(int matrix_layout, char norm, char uplo, int64_t n, const float *a, int64_t lda,
    float *work);
float LAPACKE_slansy_work_64(int matrix_layout, char norm, char uplo, int64_t n, const float *a, int64_t lda,
    float *work);
float LAPACKE_slantr64_(int matrix_layout, char norm, char uplo, char diag, int64_t m, int64_t n, const float *a,
    int64_t lda);
float LAPACKE_slantr_64(int matrix_layout, char norm, char uplo, char diag, int64_t m, int64_t n, const float *a,
    int64_t lda);
float LAPACKE_slantr_work64_(int matrix_layout, char norm, char uplo, char diag, int64_t m, int64_t n, const float *a,
    int64_t lda, float *work);
float LAPACKE_slantr_work_64(int matrix_layout, char norm, char uplo, char diag, int64_t m, int64_t n, const float *a,
    int64_t lda, float *work);
int64_t LAPACKE_slaswp64_(int matrix_layout, int64_t n, float *a, int64_t lda, int64_t k1, int64_t k2,
    const int64_t *ipiv, int64_t incx);
int64_t LAPACKE_slaswp_64(int matrix_layout, int64_t n, float *a, int64_t lda, int64_t k1, int64_t k2,
    const int64_t *ipiv, int64_t incx);
int64_t LAPACKE_slaswp_work64_(int matrix_layout, int64_t n, float *a, int64_t lda, int64_t k1, int64_t k2,
    const int64_t *ipiv, int64_t incx);
int64_t LAPACKE_slaswp_work_64(int matrix_layout, int64_t n, float *a, int64_t lda, int64_t k1, int64_t k2,
    const int64_t *ipiv, int64_t incx);
int64_t LAPACKE_slauum64_(int matrix_layout, char uplo, int64_t n, float *a, int64_t lda);
int64_t LAPACKE_slauum_64(int matrix_layout, char uplo, int64_t n, float *a, int64_t lda);
int64_t LAPACKE_slauum_work64_(int matrix_layout, char uplo, int64_t n, float *a, int64_t lda);
int64_t LAPACKE_slauum_work_64(int matrix_layout, char uplo, int64_t n, float *a, int64_t lda);
int64_t LAPACKE_sorglq64_(int matrix_layout, int64_t m, int64_t n, int64_t k, float *a, int64_t lda, const float *tau);
int64_t LAPACKE_sorglq_64(int matrix_layout, int64_t m, int64_t n, int64_t k, float *a, int64_t lda, const float *tau);
int64_t LAPACKE_sorglq_work64_(int matrix_layout, int64_t m, int64_t n, int64_t k, float *a, int64_t lda,
    const float *tau, float *work, int64_t lwork);
int64_t LAPACKE_sorglq_work_64(int matrix_layout, int64_t m, int64_t n, int64_t k, float *a, int64_t lda,
    const float *tau, float *work, int64_t lwork);
int64_t LAPACKE_sorgqr64_(int matrix_layout, int64_t m, int64_t n, int64_t k, float *a, int64_t lda, const float *tau);
int64_t LAPACKE_sorgqr_64(int matrix_layout, int64_t m, int64_t n, int64_t k, float *a, int64_t lda, const float *tau);
int64_t LAPACKE_sorgqr_work64_(int matrix_layout, int64_t m, int64_t n, int64_t k, float *a, int64_t lda,
    const float *tau, float *work, int64_t lwork);
int64_t LAPACKE_sorgqr_work_64(int matrix_layout, int64_t m, int64_t n, int64_t k, float *a, int64_t lda,
    const float *tau, float *work, int64_t lwork);
int64_t LAPACKE_sormlq64_(int matrix_layout, char side, char trans, int64_t m, int64_t n, int64_t k, const float *a,
    int64_t lda, const float *tau, float *c, int64_t ldc);
int64_t LAPACKE_sormlq_64(int matrix_layout, char side, char trans, int64_t m, int64_t n, int64_t k, const float *a,
    int64_t lda, const float *tau, float *c, int64_t ldc);
int64_t LAPACKE_sormlq_work64_(int matrix_layout, char side, char trans, int64_t m, int64_t n, int64_t k,
    const float *a, int64_t lda, const float *tau, float *c, int64_t ldc, float *work, int64_t lwork);
int64_t LAPACKE_sormlq_work_64(int matrix_layout, char side, char trans, int64_t m, int64_t n, int64_t k,
    const float *a, int64_t lda, const float *tau, float *c, int64_t ldc, float *work, int64_t lwork);
int64_t LAPACKE_sormqr64_(int matrix_layout, char side, char trans, int64_t m, int64_t n, int64_t k, const float *a,
    int64_t lda, const float *tau, float *c, int64_t ldc);
int64_t LAPACKE_sormqr_64(int matrix_layout, char side, char trans, int64_t m, int64_t n, int64_t k, const float *a,
    int64_t lda, const float *tau, float *c, int64_t ldc);
int64_t LAPACKE_sormqr_work64_(int matrix_layout, char side, char trans, int64_t m, int64_t n, int64_t k,
    const float *a, int64_t lda, const float *tau, float *c, int64_t ldc, float *work, int64_t lwork);
int64_t LAPACKE_sormqr_work_64(int matrix_layout, char side, char trans, int64_t m, int64_t n, int64_t k,
    const float *a, int64_t lda, const float *tau, float *c, int64_t ldc, float *work, int64_t lwork);
int64_t LAPACKE_spocon64_(int matrix_layout, char uplo, int64_t n, const float *a, int64_t lda, float anorm,
    float *rcond);
int64_t LAPACKE_spocon_64(int matrix_layout, char uplo, int64_t n, const float *a, int64_t lda, float anorm,
    float *rcond);
int64_t LAPACKE_spocon_work64_(int matrix_layout, char uplo, int64_t n, const float *a, int64_t lda, float anorm,
    float *rcond, float *work, int64_t *iwork);
int64_t LAPACKE_spocon_work_64(int matrix_layout, char uplo, int64_t n, const float *a, int64_t lda, float anorm,
    float *rcond, float *work, int64_t *iwork);
int64_t LAPACKE_sposv64_(int matrix_layout, char uplo, int64_t n, int64_t nrhs, float *a, int64_t lda, float *b,
    int64_t ldb);
int64_t LAPACKE_sposv_64(int matrix_layout, char uplo, int64_t n, int64_t nrhs, float *a, int64_t lda, float *b,
    int64_t ldb);
int64_t LAPACKE_sposv_work64_(int matrix_layout, char uplo, int64_t n, int64_t nrhs, float *a, int64_t lda, float *b,
    int64_t ldb);
int64_t LAPACKE_sposv_work_64(int matrix_layout, char uplo, int64_t n, int64_t nrhs, float *a, int64_t lda, float *b,
    int64_t ldb);
int64_t LAPACKE_spotrf64_(int matrix_layout, char uplo, int64_t n, float *a, int64_t lda);
int64_t LAPACKE_spotrf_64(int matrix_layout, char uplo, int64_t n, float *a, int64_t lda);
int64_t LAPACKE_spotrf_work64_(int matrix_layout, char uplo, int64_t n, float *a, int64_t lda);
int64_t LAPACKE_spotrf_work_64(int matrix_layout, char uplo, int64_t n, float *a, int64_t lda);
int64_t LAPACKE_spotri64_(int matrix_layout, char uplo, int64_t n, float *a, int64_t lda);
int64_t LAPACKE_spotri_64(int matrix_layout, char uplo, int64_t n, float *a, int64_t lda);
int64_t LAPACKE_spotri_work64_(int matrix_layout, char uplo, int64_t n, float *a, int64_t lda);
int64_t LAPACKE_spotri_work_64(int matrix_layout, char uplo, int64_t n, float *a, int64_t lda);
int64_t LAPACKE_spotrs64_(int matrix_layout, char uplo, int64_t n, int64_t nrhs, const float *a, int64_t lda, float *b,
    int64_t ldb);
int64_t LAPACKE_spotrs_64(int matrix_layout, char uplo, int64_t n, int64_t nrhs, const float *a, int64_t lda, float *b,
    int64_t ldb);
int64_t LAPACKE_spotrs_work64_(int matrix_layout, char uplo, int64_t n, int64_t nrhs, const float *a, int64_t lda,
    float *b, int64_t ldb);
int64_t LAPACKE_spotrs_work_64(int matrix_layout, char uplo, int64_t n, int64_t nrhs, const float *a, int64_t lda,
    float *b, int64_t ldb);
int64_t LAPACKE_strtri64_(int matrix_layout, char uplo, char diag, int64_t n, float *a, int64_t lda);
int64_t LAPACKE_strtri_64(int matrix_layout, char uplo, char diag, int64_t n, float *a, int64_t lda);
int64_t LAPACKE_strtri_work64_(int matrix_layout, char uplo, char diag, int64_t n, float *a, int64_t lda);
int64_t LAPACKE_strtri_work_64(int matrix_layout, char uplo, char diag, int64_t n, float *a, int64_t lda);
int64_t LAPACKE_zcgesv64_(int matrix_layout, int64_t n, int64_t nrhs, lapack_complex_double *a, int64_t lda,
    int64_t *ipiv, const lapack_complex_double *b, int64_t ldb, lapack_complex_double *x, int64_t ldx, int64_t *iter);
int64_t LAPACKE_zcgesv_64(int matrix_layout, int64_t n, int64_t nrhs, lapack_complex_double *a, int64_t lda,
    int64_t *ipiv, const lapack_complex_double *b, int64_t ldb, lapack_complex_double *x, int64_t ldx, int64_t *iter);
int64_t LAPACKE_zcgesv_work64_(int matrix_layout, int64_t n, int64_t nrhs, lapack_complex_double *a, int64_t lda,
    int64_t *ipiv, const lapack_complex_double *b, int64_t ldb, lapack_complex_double *x, int64_t ldx,
    lapack_complex_double *work, lapack_complex_float *swork, double *rwork, int64_t *iter);
int64_t LAPACKE_zcgesv_work_64(int matrix_layout, int64_t n, int64_t nrhs, lapack_complex_double *a, int64_t lda,
    int64_t *ipiv, const lapack_complex_double *b, int64_t ldb, lapack_complex_double *x, int64_t ldx,
    lapack_complex_double *work, lapack_complex_float *swork, double *rwork, int64_t *iter);
int64_t LAPACKE_zcposv64_(int matrix_layout, char uplo, int64_t n, int64_t nrhs, lapack_complex_double *a, int64_t lda,
    const lapack_complex_double *b, int64_t ldb, lapack_complex_double *x, int64_t ldx, int64_t *iter);
int64_t LAPACKE_zcposv_64(int matrix_layout, char uplo, int64_t n, int64_t nrhs, lapack_complex_double *a, int64_t lda,
    const lapack_complex_double *b, int64_t ldb, lapack_complex_double *x, int64_t ldx, int64_t *iter);
int64_t LAPACKE_zcposv_work64_(int matrix_layout, char uplo, int64_t n, int64_t nrhs, lapack_complex_double *a,
    int64_t lda, const lapack_complex_double *b, int64_t ldb, lapack_complex_double *x, int64_t ldx,
    lapack_complex_double *work, lapack_complex_float *swork, double *rwork, int64_t *iter);
int64_t LAPACKE_zcposv_work_64(int matrix_layout, char uplo, int64_t n, int64_t nrhs, lapack_complex_double *a,
    int64_t lda, const lapack_complex_double *b, int64_t ldb, lapack_complex_double *x, int64_t ldx,
    lapack_complex_double *work, lapack_complex_float *swork, double *rwork, int64_t *iter);
int64_t LAPACKE_zgecon64_(int matrix_layout, char norm, int64_t n, const lapack_complex_double *a, int64_t lda,
    double anorm, double *rcond);
int64_t LAPACKE_zgecon_64(int matrix_layout, char norm, int64_t n, const lapack_complex_double *a, int64_t lda,
    double anorm, double *rcond);
int64_t LAPACKE_zgecon_work64_(int matrix_layout, char norm, int64_t n, const lapack_complex_double *a, int64_t lda,
    double anorm, double *rcond, lapack_complex_double *work, double *rwork);
int64_t LAPACKE_zgecon_work_64(int matrix_layout, char norm, int64_t n, const lapack_complex_double *a, int64_t lda,
    double anorm, double *rcond, lapack_complex_double *work, double *rwork);
int64_t LAPACKE_zgelqf64_(int matrix_layout, int64_t m, int64_t n, lapack_complex_double *a, int64_t lda,
    lapack_complex_double *tau);
int64_t LAPACKE_zgelqf_64(int matrix_layout, int64_t m, int64_t n, lapack_complex_double *a, int64_t lda,
    lapack_complex_double *tau);
int64_t LAPACKE_zgelqf_work64_(int matrix_layout, int64_t m, int64_t n, lapack_complex_double *a, int64_t lda,
    lapack_complex_double *tau, lapack_complex_double *work, int64_t lwork);
int64_t LAPACKE_zgelqf_work_64(int matrix_layout, int64_t m, int64_t n, lapack_complex_double *a, int64_t lda,
    lapack_complex_double *tau, lapack_complex_double *work, int64_t lwork);
int64_t LAPACKE_zgels64_(int matrix_layout, char trans, int64_t m, int64_t n, int64_t nrhs, lapack_complex_double *a,
    int64_t lda, lapack_complex_double *b, int64_t ldb);
int64_t LAPACKE_zgels_64(int matrix_layout, char trans, int64_t m, int64_t n, int64_t nrhs, lapack_complex_double *a,
    int64_t lda, lapack_complex_double *b, int64_t ldb);
int64_t LAPACKE_zgels_work64_(int matrix_layout, char trans, int64_t m, int64_t n, int64_t nrhs,
    lapack_complex_double *a, int64_t lda, lapack_complex_double *b, int64_t ldb, lapack_complex_double *work,
    int64_t lwork);
int64_t LAPACKE_zgels_work_64(int matrix_layout, char trans, int64_t m, int64_t n, int64_t nrhs,
    lapack_complex_double *a, int64_t lda, lapack_complex_double *b, int64_t ldb, lapack_complex_double *work,
    int64_t lwork);
int64_t LAPACKE_zgeqrf64_(int matrix_layout, int64_t m, int64_t n, lapack_complex_double *a, int64_t lda,
    lapack_complex_double *tau);
int64_t LAPACKE_zgeqrf_64(int matrix_layout, int64_t m, int64_t n, lapack_complex_double *a, int64_t lda,
    lapack_complex_double *tau);
int64_t LAPACKE_zgeqrf_work64_(int matrix_layout, int64_t m, int64_t n, lapack_complex_double *a, int64_t lda,
    lapack_complex_double *tau, lapack_complex_double *work, int64_t lwork);
int64_t LAPACKE_zgeqrf_work_64(int matrix_layout, int64_t m, int64_t n, lapack_complex_double *a, int64_t lda,
    lapack_complex_double *tau, lapack_complex_double *work, int64_t lwork);
int64_t LAPACKE_zgesv64_(int matrix_layout, int64_t n, int64_t nrhs, lapack_complex_double *a, int64_t lda,
    int64_t *ipiv, lapack_complex_double *b, int64_t ldb);
int64_t LAPACKE_zgesv_64(int matrix_layout, int64_t n, int64_t nrhs, lapack_complex_double *a, int64_t lda,
    int64_t *ipiv, lapack_complex_double *b, int64_t ldb);
int64_t LAPACKE_zgesv_work64_(int matrix_layout, int64_t n, int64_t nrhs, lapack_complex_double *a, int64_t lda,
    int64_t *ipiv, lapack_complex_double *b, int64_t ldb);
int64_t LAPACKE_zgesv_work_64(int matrix_layout, int64_t n, int64_t nrhs, lapack_complex_double *a, int64_t lda,
    int64_t *ipiv, lapack_complex_double *b, int64_t ldb);
int64_t LAPACKE_zgetrf64_(int matrix_layout, int64_t m, int64_t n, lapack_complex_double *a, int64_t lda,
    int64_t *ipiv);
int64_t LAPACKE_zgetrf_64(int matrix_layout, int64_t m, int64_t n, lapack_complex_double *a, int64_t lda,
    int64_t *ipiv);
int64_t LAPACKE_zgetrf_work64_(int matrix_layout, int64_t m, int64_t n, lapack_complex_double *a, int64_t lda,
    int64_t *ipiv);
int64_t LAPACKE_zgetrf_work_64(int matrix_layout, int64_t m, int64_t n, lapack_complex_double *a, int64_t lda,
    int64_t *ipiv);
int64_t LAPACKE_zgetri64_(int matrix_layout, int64_t n, lapack_complex_double *a, int64_t lda, const int64_t *ipiv);
int64_t LAPACKE_zgetri_64(int matrix_layout, int64_t n, lapack_complex_double *a, int64_t lda, const int64_t *ipiv);
int64_t LAPACKE_zgetri_work64_(int matrix_layout, int64_t n, lapack_complex_double *a, int64_t lda, const int64_t *ipiv,
    lapack_complex_double *work, int64_t lwork);
int64_t LAPACKE_zgetri_work_64(int matrix_layout, int64_t n, lapack_complex_double *a, int64_t lda, const int64_t *ipiv,
    lapack_complex_double *work, int64_t lwork);
int64_t LAPACKE_zgetrs64_(int matrix_layout, char trans, int64_t n, int64_t nrhs, const lapack_complex_double *a,
    int64_t lda, const int64_t *ipiv, lapack_complex_double *b, int64_t ldb);
int64_t LAPACKE_zgetrs_64(int matrix_layout, char trans, int64_t n, int64_t nrhs, const lapack_complex_double *a,
    int64_t lda, const int64_t *ipiv, lapack_complex_double *b, int64_t ldb);
int64_t LAPACKE_zgetrs_work64_(int matrix_layout, char trans, int64_t n, int64_t nrhs, const lapack_complex_double *a,
    int64_t lda, const int64_t *ipiv, lapack_complex_double *b, int64_t ldb);
int64_t LAPACKE_zgetrs_work_64(int matrix_layout, char trans, int64_t n, int64_t nrhs, const lapack_complex_double *a,
    int64_t lda, const int64_t *ipiv, lapack_complex_double *b, int64_t ldb);
double LAPACKE_zlange64_(int matrix_layout, char norm, int64_t m, int64_t n, const lapack_complex_double *a,
    int64_t lda);
double LAPACKE_zlange_64(int matrix_layout, char norm, int64_t m, int64_t n, const lapack_complex_double *a,
    int64_t lda);
double LAPACKE_zlange_work64_(int matrix_layout, char norm, int64_t m, int64_t n, const lapack_complex_double *a,
    int64_t lda, double *work);
double LAPACKE_zlange_work_64(int matrix_layout, char norm, int64_t m, int64_t n, const lapack_complex_double *a,
    int64_t lda, double *work);
double LAPACKE_zlanhe64_(int matrix_layout, char norm, char uplo, int64_t n, const lapack_complex_double *a,
    int64_t lda);
double LAPACKE_zlanhe_64(int matrix_layout, char norm, char uplo, int64_t n, const lapack_complex_double *a,
    int64_t lda);
double LAPACKE_zlanhe_work64_(int matrix_layout, char norm, char uplo, int64_t n, const lapack_complex_double *a,
    int64_t lda, double *work);
double LAPACKE_zlanhe_work_64(int matrix_layout, char norm, char uplo, int64_t n, const lapack_complex_double *a,
    int64_t lda, double *work);
double LAPACKE_zlansy64_(int matrix_layout, char norm, char uplo, int64_t n, const lapack_complex_double *a,
    int64_t lda);
double LAPACKE_zlansy_64(int matrix_layout, char norm, char uplo, int64_t n, const lapack_complex_double *a,
    int64_t lda);
double LAPACKE_zlansy_work64_(int matrix_layout, char norm, char uplo, int64_t n, const lapack_complex_double *a,
    int64_t lda, double *work);
double LAPACKE_zlansy_work_64(int matrix_layout, char norm, char uplo, int64_t n, const lapack_complex_double *a,
    int64_t lda, double *work);
double LAPACKE_zlantr64_(int matrix_layout, char norm, char uplo, char diag, int64_t m, int64_t n,
    const lapack_complex_double *a, int64_t lda);
double LAPACKE_zlantr_64(int matrix_layout, char norm, char uplo, char diag, int64_t m, int64_t n,
    const lapack_complex_double *a, int64_t lda);
double LAPACKE_zlantr_work64_(int matrix_layout, char norm, char uplo, char diag, int64_t m, int64_t n,
    const lapack_complex_double *a, int64_t lda, double *work);
double LAPACKE_zlantr_work_64(int matrix_layout, char norm, char uplo, char diag, int64_t m, int64_t n,
    const lapack_complex_double *a, int64_t lda, double *work);
int64_t LAPACKE_zlaswp64_(int matrix_layout, int64_t n, lapack_complex_double *a, int64_t lda, int64_t k1, int64_t k2,
    const int64_t *ipiv, int64_t incx);
int64_t LAPACKE_zlaswp_64(int matrix_layout, int64_t n, lapack_complex_double *a, int64_t lda, int64_t k1, int64_t k2,
    const int64_t *ipiv, int64_t incx);
int64_t LAPACKE_zlaswp_work64_(int matrix_layout, int64_t n, lapack_complex_double *a, int64_t lda, int64_t k1,
    int64_t k2, const int64_t *ipiv, int64_t incx);
int64_t LAPACKE_zlaswp_work_64(int matrix_layout, int64_t n, lapack_complex_double *a, int64_t lda, int64_t k1,
    int64_t k2, const int64_t *ipiv, int64_t incx);
int64_t LAPACKE_zlauum64_(int matrix_layout, char uplo, int64_t n, lapack_complex_double *a, int64_t lda);
int64_t LAPACKE_zlauum_64(int matrix_layout, char uplo, int64_t n, lapack_complex_double *a, int64_t lda);
int64_t LAPACKE_zlauum_work64_(int matrix_layout, char uplo, int64_t n, lapack_complex_double *a, int64_t lda);
int64_t LAPACKE_zlauum_work_64(int matrix_layout, char uplo, int64_t n, lapack_complex_double *a, int64_t lda);
int64_t LAPACKE_zpocon64_(int matrix_layout, char uplo, int64_t n, const lapack_complex_double *a, int64_t lda,
    double anorm, double *rcond);
int64_t LAPACKE_zpocon_64(int matrix_layout, char uplo, int64_t n, const lapack_complex_double *a, int64_t lda,
    double anorm, double *rcond);
int64_t LAPACKE_zpocon_work64_(int matrix_layout, char uplo, int64_t n, const lapack_complex_double *a, int64_t lda,
    double anorm, double *rcond, lapack_complex_double *work, double *rwork);
int64_t LAPACKE_zpocon_work_64(int matrix_layout, char uplo, int64_t n, const lapack_complex_double *a, int64_t lda,
    double anorm, double *rcond, lapack_complex_double *work, double *rwork);
int64_t LAPACKE_zposv64_(int matrix_layout, char uplo, int64_t n, int64_t nrhs, lapack_complex_double *a, int64_t lda,
    lapack_complex_double *b, int64_t ldb);
int64_t LAPACKE_zposv_64(int matrix_layout, char uplo, int64_t n, int64_t nrhs, lapack_complex_double *a, int64_t lda,
    lapack_complex_double *b, int64_t ldb);
int64_t LAPACKE_zposv_work64_(int matrix_layout, char uplo, int64_t n, int64_t nrhs, lapack_complex_double *a,
    int64_t lda, lapack_complex_double *b, int64_t ldb);
int64_t LAPACKE_zposv_work_64(int matrix_layout, char uplo, int64_t n, int64_t nrhs, lapack_complex_double *a,
    int64_t lda, lapack_complex_double *b, int64_t ldb);
int64_t LAPACKE_zpotrf64_(int matrix_layout, char uplo, int64_t n, lapack_complex_double *a, int64_t lda);
int64_t LAPACKE_zpotrf_64(int matrix_layout, char uplo, int64_t n, lapack_complex_double *a, int64_t lda);
int64_t LAPACKE_zpotrf_work64_(int matrix_layout, char uplo, int64_t n, lapack_complex_double *a, int64_t lda);
int64_t LAPACKE_zpotrf_work_64(int matrix_layout, char uplo, int64_t n, lapack_complex_double *a, int64_t lda);
int64_t LAPACKE_zpotri64_(int matrix_layout, char uplo, int64_t n, lapack_complex_double *a, int64_t lda);
int64_t LAPACKE_zpotri_64(int matrix_layout, char uplo, int64_t n, lapack_complex_double *a, int64_t lda);
int64_t LAPACKE_zpotri_work64_(int matrix_layout, char uplo, int64_t n, lapack_complex_double *a, int64_t lda);
int64_t LAPACKE_zpotri_work_64(int matrix_layout, char uplo, int64_t n, lapack_complex_double *a, int64_t lda);
int64_t LAPACKE_zpotrs64_(int matrix_layout, char uplo, int64_t n, int64_t nrhs, const lapack_complex_double *a,
    int64_t lda, lapack_complex_double *b, int64_t ldb);
int64_t LAPACKE_zpotrs_64(int matrix_layout, char uplo, int64_t n, int64_t nrhs, const lapack_complex_double *a,
    int64_t lda, lapack_complex_double *b, int64_t ldb);
int64_t LAPACKE_zpotrs_work64_(int matrix_layout, char uplo, int64_t n, int64_t nrhs, const lapack_complex_double *a,
    int64_t lda, lapack_complex_double *b, int64_t ldb);
int64_t LAPACKE_zpotrs_work_64(int matrix_layout, char uplo, int64_t n, int64_t nrhs, const lapack_complex_double *a,
    int64_t lda, lapack_complex_double *b, int64_t ldb);
int64_t LAPACKE_ztrtri64_(int matrix_layout, char uplo, char diag, int64_t n, lapack_complex_double *a, int64_t lda);
int64_t LAPACKE_ztrtri_64(int matrix_layout, char uplo, char diag, int64_t n, lapack_complex_double *a, int64_t lda);
int64_t LAPACKE_ztrtri_work64_(int matrix_layout, char uplo, char diag, int64_t n, lapack_complex_double *a,
    int64_t lda);
int64_t LAPACKE_ztrtri_work_64(int matrix_layout, char uplo, char diag, int64_t n, lapack_complex_double *a,
    int64_t lda);
int64_t LAPACKE_zunglq64_(int matrix_layout, int64_t m, int64_t n, int64_t k, lapack_complex_double *a, int64_t lda,
    const lapack_complex_double *tau);
int64_t LAPACKE_zunglq_64(int matrix_layout, int64_t m, int64_t n, int64_t k, lapack_complex_double *a, int64_t lda,
    const lapack_complex_double *tau);
int64_t LAPACKE_zunglq_work64_(int matrix_layout, int64_t m, int64_t n, int64_t k, lapack_complex_double *a,
    int64_t lda, const lapack_complex_double *tau, lapack_complex_double *work, int64_t lwork);
int64_t LAPACKE_zunglq_work_64(int matrix_layout, int64_t m, int64_t n, int64_t k, lapack_complex_double *a,
    int64_t lda, const lapack_complex_double *tau, lapack_complex_double *work, int64_t lwork);
int64_t LAPACKE_zungqr64_(int matrix_layout, int64_t m, int64_t n, int64_t k, lapack_complex_double *a, int64_t lda,
    const lapack_complex_double *tau);
int64_t LAPACKE_zungqr_64(int matrix_layout, int64_t m, int64_t n, int64_t k, lapack_complex_double *a, int64_t lda,
    const lapack_complex_double *tau);
int64_t LAPACKE_zungqr_work64_(int matrix_layout, int64_t m, int64_t n, int64_t k, lapack_complex_double *a,
    int64_t lda, const lapack_complex_double *tau, lapack_complex_double *work, int64_t lwork);
int64_t LAPACKE_zungqr_work_64(int matrix_layout, int64_t m, int64_t n, int64_t k, lapack_complex_double *a,
    int64_t lda, const lapack_complex_double *tau, lapack_complex_double *work, int64_t lwork);
int64_t LAPACKE_zunmlq64_(int matrix_layout, char side, char trans, int64_t m, int64_t n, int64_t k,
    const lapack_complex_double *a, int64_t lda, const lapack_complex_double *tau, lapack_complex_double *c,
    int64_t ldc);
int64_t LAPACKE_zunmlq_64(int matrix_layout, char side, char trans, int64_t m, int64_t n, int64_t k,
    const lapack_complex_double *a, int64_t lda, const lapack_complex_double *tau, lapack_complex_double *c,
    int64_t ldc);
int64_t LAPACKE_zunmlq_work64_(int matrix_layout, char side, char trans, int64_t m, int64_t n, int64_t k,
    const lapack_complex_double *a, int64_t lda, const lapack_complex_double *tau, lapack_complex_double *c,
    int64_t ldc, lapack_complex_double *work, int64_t lwork);
int64_t LAPACKE_zunmlq_work_64(int matrix_layout, char side, char trans, int64_t m, int64_t n, int64_t k,
    const lapack_complex_double *a, int64_t lda, const lapack_complex_double *tau, lapack_complex_double *c,
    int64_t ldc, lapack_complex_double *work, int64_t lwork);
int64_t LAPACKE_zunmqr64_(int matrix_layout, char side, char trans, int64_t m, int64_t n, int64_t k,
    const lapack_complex_double *a, int64_t lda, const lapack_complex_double *tau, lapack_complex_double *c,
    int64_t ldc);
int64_t LAPACKE_zunmqr_64(int matrix_layout, char side, char trans, int64_t m, int64_t n, int64_t k,
    const lapack_complex_double *a, int64_t lda, const lapack_complex_double *tau, lapack_complex_double *c,
    int64_t ldc);
int64_t LAPACKE_zunmqr_work64_(int matrix_layout, char side, char trans, int64_t m, int64_t n, int64_t k,
    const lapack_complex_double *a, int64_t lda, const lapack_complex_double *tau, lapack_complex_double *c,
    int64_t ldc, lapack_complex_double *work, int64_t lwork);
int64_t LAPACKE_zunmqr_work_64(int matrix_layout, char side, char trans, int64_t m, int64_t n, int64_t k,
    const lapack_complex_double *a, int64_t lda, const lapack_complex_double *tau, lapack_complex_double *c,
    int64_t ldc, lapack_complex_double *work, int64_t lwork);
/* end */

#endif

/* Fortran */

#ifndef SUPERSCALAR_NO_FORTRAN
#if defined(__clang__) && defined(__cplusplus)
/* std::complex is returned in the same way as C's complex numbers. */
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wreturn-type-c-linkage"
#endif

#ifndef OPENBLAS_F77BLAS_H
/* begin: BLAS, 32 bits */
void caxpby_(const int *n, const lapack_complex_float *alpha, const lapack_complex_float *x, const int *incx,
    const lapack_complex_float *beta, lapack_complex_float *y, const int *incy);
void caxpy_(const int *n, const lapack_complex_float *alpha, const lapack_complex_float *x, const int *incx,
    lapack_complex_float *y, const int *incy);
void ccopy_(const int *n, const lapack_complex_float *x, const int *incx, lapack_complex_float *y, const int *incy);
lapack_complex_float cdotc_(const int *n, const lapack_complex_float *x, const int *incx, const lapack_complex_float *y,
    const int *incy);
lapack_complex_float cdotu_(const int *n, const lapack_complex_float *x, const int *incx, const lapack_complex_float *y,
    const int *incy);
void cgbmv_(const char *trans, const int *m, const int *n, const int *kl, const int *ku,
    const lapack_complex_float *alpha, const lapack_complex_float *a, const int *lda, const lapack_complex_float *x,
    const int *incx, const lapack_complex_float *beta, lapack_complex_float *y, const int *incy);
void cgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k,
    const lapack_complex_float *alpha, const lapack_complex_float *a, const int *lda, const lapack_complex_float *b,
    const int *ldb, const lapack_complex_float *beta, lapack_complex_float *c, const int *ldc);
void cgemmt_(const char *uplo, const char *transa, const char *transb, const int *n, const int *k,
    const lapack_complex_float *alpha, const lapack_complex_float *a, const int *lda, const lapack_complex_float *b,
    const int *ldb, const lapack_complex_float *beta, lapack_complex_float *c, const int *ldc);
void cgemv_(const char *trans, const int *m, const int *n, const lapack_complex_float *alpha,
    const lapack_complex_float *a, const int *lda, const lapack_complex_float *x, const int *incx,
    const lapack_complex_float *beta, lapack_complex_float *y, const int *incy);
void cgerc_(const int *m, const int *n, const lapack_complex_float *alpha, const lapack_complex_float *x,
    const int *incx, const lapack_complex_float *y, const int *incy, lapack_complex_float *a, const int *lda);
void cgeru_(const int *m, const int *n, const lapack_complex_float *alpha, const lapack_complex_float *x,
    const int *incx, const lapack_complex_float *y, const int *incy, lapack_complex_float *a, const int *lda);
void chbmv_(const char *uplo, const int *n, const int *k, const lapack_complex_float *alpha,
    const lapack_complex_float *a, const int *lda, const lapack_complex_float *x, const int *incx,
    const lapack_complex_float *beta, lapack_complex_float *y, const int *incy);
void chemm_(const char *side, const char *uplo, const int *m, const int *n, const lapack_complex_float *alpha,
    const lapack_complex_float *a, const int *lda, const lapack_complex_float *b, const int *ldb,
    const lapack_complex_float *beta, lapack_complex_float *c, const int *ldc);
void chemv_(const char *uplo, const int *n, const lapack_complex_float *alpha, const lapack_complex_float *a,
    const int *lda, const lapack_complex_float *x, const int *incx, const lapack_complex_float *beta,
    lapack_complex_float *y, const int *incy);
void cher2_(const char *uplo, const int *n, const lapack_complex_float *alpha, const lapack_complex_float *x,
    const int *incx, const lapack_complex_float *y, const int *incy, lapack_complex_float *a, const int *lda);
void cher2k_(const char *uplo, const char *trans, const int *n, const int *k, const lapack_complex_float *alpha,
    const lapack_complex_float *a, const int *lda, const lapack_complex_float *b, const int *ldb, const float *beta,
    lapack_complex_float *c, const int *ldc);
void cher_(const char *uplo, const int *n, const float *alpha, const lapack_complex_float *x, const int *incx,
    lapack_complex_float *a, const int *lda);
void cherk_(const char *uplo, const char *trans, const int *n, const int *k, const float *alpha,
    const lapack_complex_float *a, const int *lda, const float *beta, lapack_complex_float *c, const int *ldc);
void chpmv_(const char *uplo, const int *n, const lapack_complex_float *alpha, const lapack_complex_float *a,
    const lapack_complex_float *x, const int *incx, const lapack_complex_float *beta, lapack_complex_float *y,
    const int *incy);
void chpr2_(const char *uplo, const int *n, const lapack_complex_float *alpha, const lapack_complex_float *x,
    const int *incx, const lapack_complex_float *y, const int *incy, lapack_complex_float *a);
void chpr_(const char *uplo, const int *n, const float *alpha, const lapack_complex_float *x, const int *incx,
    lapack_complex_float *a);
void crotg_(lapack_complex_float *a, lapack_complex_float *b, float *c, lapack_complex_float *s);
void cscal_(const int *n, const lapack_complex_float *alpha, lapack_complex_float *x, const int *incx);
void csrot_(const int *n, lapack_complex_float *x, const int *incx, lapack_complex_float *y, const int *incy,
    const float *c, const float *s);
void csscal_(const int *n, const float *alpha, lapack_complex_float *x, const int *incx);
void cswap_(const int *n, lapack_complex_float *x, const int *incx, lapack_complex_float *y, const int *incy);
void csymm_(const char *side, const char *uplo, const int *m, const int *n, const lapack_complex_float *alpha,
    const lapack_complex_float *a, const int *lda, const lapack_complex_float *b, const int *ldb,
    const lapack_complex_float *beta, lapack_complex_float *c, const int *ldc);
void csyr2k_(const char *uplo, const char *trans, const int *n, const int *k, const lapack_complex_float *alpha,
    const lapack_complex_float *a, const int *lda, const lapack_complex_float *b, const int *ldb,
    const lapack_complex_float *beta, lapack_complex_float *c, const int *ldc);
void csyrk_(const char *uplo, const char *trans, const int *n, const int *k, const lapack_complex_float *alpha,
    const lapack_complex_float *a, const int *lda, const lapack_complex_float *beta, lapack_complex_float *c,
    const int *ldc);
void ctbmv_(const char *uplo, const char *trans, const char *diag, const int *n, const int *k,
    const lapack_complex_float *a, const int *lda, lapack_complex_float *x, const int *incx);
void ctbsv_(const char *uplo, const char *trans, const char *diag, const int *n, const int *k,
    const lapack_complex_float *a, const int *lda, lapack_complex_float *x, const int *incx);
void ctpmv_(const char *uplo, const char *trans, const char *diag, const int *n, const lapack_complex_float *a,
    lapack_complex_float *x, const int *incx);
void ctpsv_(const char *uplo, const char *trans, const char *diag, const int *n, const lapack_complex_float *a,
    lapack_complex_float *x, const int *incx);
void ctrmm_(const char *side, const char *uplo, const char *transa, const char *diag, const int *m, const int *n,
    const lapack_complex_float *alpha, const lapack_complex_float *a, const int *lda, lapack_complex_float *b,
    const int *ldb);
void ctrmv_(const char *uplo, const char *trans, const char *diag, const int *n, const lapack_complex_float *a,
    const int *lda, lapack_complex_float *x, const int *incx);
void ctrsm_(const char *side, const char *uplo, const char *transa, const char *diag, const int *m, const int *n,
    const lapack_complex_float *alpha, const lapack_complex_float *a, const int *lda, lapack_complex_float *b,
    const int *ldb);
void ctrsv_(const char *uplo, const char *trans, const char *diag, const int *n, const lapack_complex_float *a,
    const int *lda, lapack_complex_float *x, const int *incx);
double dasum_(const int *n, const double *x, const int *incx);
void daxpby_(const int *n, const double *alpha, const double *x, const int *incx, const double *beta, double *y,
    const int *incy);
void daxpy_(const int *n, const double *alpha, const double *x, const int *incx, double *y, const int *incy);
void dcopy_(const int *n, const double *x, const int *incx, double *y, const int *incy);
double ddot_(const int *n, const double *x, const int *incx, const double *y, const int *incy);
void dgbmv_(const char *trans, const int *m, const int *n, const int *kl, const int *ku, const double *alpha,
    const double *a, const int *lda, const double *x, const int *incx, const double *beta, double *y, const int *incy);
void dgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k, const double *alpha,
    const double *a, const int *lda, const double *b, const int *ldb, const double *beta, double *c, const int *ldc);
void dgemmt_(const char *uplo, const char *transa, const char *transb, const int *n, const int *k, const double *alpha,
    const double *a, const int *lda, const double *b, const int *ldb, const double *beta, double *c, const int *ldc);
void dgemv_(const char *trans, const int *m, const int *n, const double *alpha, const double *a, const int *lda,
    const double *x, const int *incx, const double *beta, double *y, const int *incy);
void dger_(const int *m, const int *n, const double *alpha, const double *x, const int *incx, const double *y,
    const int *incy, double *a, const int *lda);
double dnrm2_(const int *n, const double *x, const int *incx);
void drot_(const int *n, double *x, const int *incx, double *y, const int *incy, const double *c, const double *s);
void drotg_(double *a, double *b, double *c, double *s);
void drotm_(const int *n, double *x, const int *incx, double *y, const int *incy, const double *param);
void drotmg_(double *d1, double *d2, double *x1, const double *y1, double *param);
void dsbmv_(const char *uplo, const int *n, const int *k, const double *alpha, const double *a, const int *lda,
    const double *x, const int *incx, const double *beta, double *y, const int *incy);
void dscal_(const int *n, const double *alpha, double *x, const int *incx);
double dsdot_(const int *n, const float *x, const int *incx, const float *y, const int *incy);
void dspmv_(const char *uplo, const int *n, const double *alpha, const double *a, const double *x, const int *incx,
    const double *beta, double *y, const int *incy);
void dspr2_(const char *uplo, const int *n, const double *alpha, const double *x, const int *incx, const double *y,
    const int *incy, double *a);
void dspr_(const char *uplo, const int *n, const double *alpha, const double *x, const int *incx, double *a);
void dswap_(const int *n, double *x, const int *incx, double *y, const int *incy);
void dsymm_(const char *side, const char *uplo, const int *m, const int *n, const double *alpha, const double *a,
    const int *lda, const double *b, const int *ldb, const double *beta, double *c, const int *ldc);
void dsymv_(const char *uplo, const int *n, const double *alpha, const double *a, const int *lda, const double *x,
    const int *incx, const double *beta, double *y, const int *incy);
void dsyr2_(const char *uplo, const int *n, const double *alpha, const double *x, const int *incx, const double *y,
    const int *incy, double *a, const int *lda);
void dsyr2k_(const char *uplo, const char *trans, const int *n, const int *k, const double *alpha, const double *a,
    const int *lda, const double *b, const int *ldb, const double *beta, double *c, const int *ldc);
void dsyr_(const char *uplo, const int *n, const double *alpha, const double *x, const int *incx, double *a,
    const int *lda);
void dsyrk_(const char *uplo, const char *trans, const int *n, const int *k, const double *alpha, const double *a,
    const int *lda, const double *beta, double *c, const int *ldc);
void dtbmv_(const char *uplo, const char *trans, const char *diag, const int *n, const int *k, const double *a,
    const int *lda, double *x, const int *incx);
void dtbsv_(const char *uplo, const char *trans, const char *diag, const int *n, const int *k, const double *a,
    const int *lda, double *x, const int *incx);
void dtpmv_(const char *uplo, const char *trans, const char *diag, const int *n, const double *a, double *x,
    const int *incx);
void dtpsv_(const char *uplo, const char *trans, const char *diag, const int *n, const double *a, double *x,
    const int *incx);
void dtrmm_(const char *side, const char *uplo, const char *transa, const char *diag, const int *m, const int *n,
    const double *alpha, const double *a, const int *lda, double *b, const int *ldb);
void dtrmv_(const char *uplo, const char *trans, const char *diag, const int *n, const double *a, const int *lda,
    double *x, const int *incx);
void dtrsm_(const char *side, const char *uplo, const char *transa, const char *diag, const int *m, const int *n,
    const double *alpha, const double *a, const int *lda, double *b, const int *ldb);
void dtrsv_(const char *uplo, const char *trans, const char *diag, const int *n, const double *a, const int *lda,
    double *x, const int *incx);
double dzasum_(const int *n, const lapack_complex_double *x, const int *incx);
double dznrm2_(const int *n, const lapack_complex_double *x, const int *incx);
int icamax_(const int *n, const lapack_complex_float *x, const int *incx);
int idamax_(const int *n, const double *x, const int *incx);
int isamax_(const int *n, const float *x, const int *incx);
int izamax_(const int *n, const lapack_complex_double *x, const int *incx);
float sasum_(const int *n, const float *x, const int *incx);
void saxpby_(const int *n, const float *alpha, const float *x, const int *incx, const float *beta, float *y,
    const int *incy);
void saxpy_(const int *n, const float *alpha, const float *x, const int *incx, float *y, const int *incy);
float scasum_(const int *n, const lapack_complex_float *x, const int *incx);
float scnrm2_(const int *n, const lapack_complex_float *x, const int *incx);
void scopy_(const int *n, const float *x, const int *incx, float *y, const int *incy);
float sdot_(const int *n, const float *x, const int *incx, const float *y, const int *incy);
float sdsdot_(const int *n, const float *b, const float *x, const int *incx, const float *y, const int *incy);
void sgbmv_(const char *trans, const int *m, const int *n, const int *kl, const int *ku, const float *alpha,
    const float *a, const int *lda, const float *x, const int *incx, const float *beta, float *y, const int *incy);
void sgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k, const float *alpha,
    const float *a, const int *lda, const float *b, const int *ldb, const float *beta, float *c, const int *ldc);
void sgemmt_(const char *uplo, const char *transa, const char *transb, const int *n, const int *k, const float *alpha,
    const float *a, const int *lda, const float *b, const int *ldb, const float *beta, float *c, const int *ldc);
void sgemv_(const char *trans, const int *m, const int *n, const float *alpha, const float *a, const int *lda,
    const float *x, const int *incx, const float *beta, float *y, const int *incy);
void sger_(const int *m, const int *n, const float *alpha, const float *x, const int *incx, const float *y,
    const int *incy, float *a, const int *lda);
float snrm2_(const int *n, const float *x, const int *incx);
void srot_(const int *n, float *x, const int *incx, float *y, const int *incy, const float *c, const float *s);
void srotg_(float *a, float *b, float *c, float *s);
void srotm_(const int *n, float *x, const int *incx, float *y, const int *incy, const float *param);
void srotmg_(float *d1, float *d2, float *x1, const float *y1, float *param);
void ssbmv_(const char *uplo, const int *n, const int *k, const float *alpha, const float *a, const int *lda,
    const float *x, const int *incx, const float *beta, float *y, const int *incy);
void sscal_(const int *n, const float *alpha, float *x, const int *incx);
void sspmv_(const char *uplo, const int *n, const float *alpha, const float *a, const float *x, const int *incx,
    const float *beta, float *y, const int *incy);
void sspr2_(const char *uplo, const int *n, const float *alpha, const float *x, const int *incx, const float *y,
    const int *incy, float *a);
void sspr_(const char *uplo, const int *n, const float *alpha, const float *x, const int *incx, float *a);
void sswap_(const int *n, float *x, const int *incx, float *y, const int *incy);
void ssymm_(const char *side, const char *uplo, const int *m, const int *n, const float *alpha, const float *a,
    const int *lda, const float *b, const int *ldb, const float *beta, float *c, const int *ldc);
void ssymv_(const char *uplo, const int *n, const float *alpha, const float *a, const int *lda, const float *x,
    const int *incx, const float *beta, float *y, const int *incy);
void ssyr2_(const char *uplo, const int *n, const float *alpha, const float *x, const int *incx, const float *y,
    const int *incy, float *a, const int *lda);
void ssyr2k_(const char *uplo, const char *trans, const int *n, const int *k, const float *alpha, const float *a,
    const int *lda, const float *b, const int *ldb, const float *beta, float *c, const int *ldc);
void ssyr_(const char *uplo, const int *n, const float *alpha, const float *x, const int *incx, float *a,
    const int *lda);
void ssyrk_(const char *uplo, const char *trans, const int *n, const int *k, const float *alpha, const float *a,
    const int *lda, const float *beta, float *c, const int *ldc);
void stbmv_(const char *uplo, const char *trans, const char *diag, const int *n, const int *k, const float *a,
    const int *lda, float *x, const int *incx);
void stbsv_(const char *uplo, const char *trans, const char *diag, const int *n, const int *k, const float *a,
    const int *lda, float *x, const int *incx);
void stpmv_(const char *uplo, const char *trans, const char *diag, const int *n, const float *a, float *x,
    const int *incx);
void stpsv_(const char *uplo, const char *trans, const char *diag, const int *n, const float *a, float *x,
    const int *incx);
void strmm_(const char *side, const char *uplo, const char *transa, const char *diag, const int *m, const int *n,
    const float *alpha, const float *a, const int *lda, float *b, const int *ldb);
void strmv_(const char *uplo, const char *trans, const char *diag, const int *n, const float *a, const int *lda,
    float *x, const int *incx);
void strsm_(const char *side, const char *uplo, const char *transa, const char *diag, const int *m, const int *n,
    const float *alpha, const float *a, const int *lda, float *b, const int *ldb);
void strsv_(const char *uplo, const char *trans, const char *diag, const int *n, const float *a, const int *lda,
    float *x, const int *incx);
void zaxpby_(const int *n, const lapack_complex_double *alpha, const lapack_complex_double *x, const int *incx,
    const lapack_complex_double *beta, lapack_complex_double *y, const int *incy);
void zaxpy_(const int *n, const lapack_complex_double *alpha, const lapack_complex_double *x, const int *incx,
    lapack_complex_double *y, const int *incy);
void zcopy_(const int *n, const lapack_complex_double *x, const int *incx, lapack_complex_double *y, const int *incy);
lapack_complex_double zdotc_(const int *n, const lapack_complex_double *x, const int *incx,
    const lapack_complex_double *y, const int *incy);
lapack_complex_double zdotu_(const int *n, const lapack_complex_double *x, const int *incx,
    const lapack_complex_double *y, const int *incy);
void zdrot_(const int *n, lapack_complex_double *x, const int *incx, lapack_complex_double *y, const int *incy,
    const double *c, const double *s);
void zdscal_(const int *n, const double *alpha, lapack_complex_double *x, const int *incx);
void zgbmv_(const char *trans, const int *m, const int *n, const int *kl, const int *ku,
    const lapack_complex_double *alpha, const lapack_complex_double *a, const int *lda, const lapack_complex_double *x,
    const int *incx, const lapack_complex_double *beta, lapack_complex_double *y, const int *incy);
void zgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k,
    const lapack_complex_double *alpha, const lapack_complex_double *a, const int *lda, const lapack_complex_double *b,
    const int *ldb, const lapack_complex_double *beta, lapack_complex_double *c, const int *ldc);
void zgemmt_(const char *uplo, const char *transa, const char *transb, const int *n, const int *k,
    const lapack_complex_double *alpha, const lapack_complex_double *a, const int *lda, const lapack_complex_double *b,
    const int *ldb, const lapack_complex_double *beta, lapack_complex_double *c, const int *ldc);
void zgemv_(const char *trans, const int *m, const int *n, const lapack_complex_double *alpha,
    const lapack_complex_double *a, const int *lda, const lapack_complex_double *x, const int *incx,
    const lapack_complex_double *beta, lapack_complex_double *y, const int *incy);
void zgerc_(const int *m, const int *n, const lapack_complex_double *alpha, const lapack_complex_double *x,
    const int *incx, const lapack_complex_double *y, const int *incy, lapack_complex_double *a, const int *lda);
void zgeru_(const int *m, const int *n, const lapack_complex_double *alpha, const lapack_complex_double *x,
    const int *incx, const lapack_complex_double *y, const int *incy, lapack_complex_double *a, const int *lda);
void zhbmv_(const char *uplo, const int *n, const int *k, const lapack_complex_double *alpha,
    const lapack_complex_double *a, const int *lda, const lapack_complex_double *x, const int *incx,
    const lapack_complex_double *beta, lapack_complex_double *y, const int *incy);
void zhemm_(const char *side, const char *uplo, const int *m, const int *n, const lapack_complex_double *alpha,
    const lapack_complex_double *a, const int *lda, const lapack_complex_double *b, const int *ldb,
    const lapack_complex_double *beta, lapack_complex_double *c, const int *ldc);
void zhemv_(const char *uplo, const int *n, const lapack_complex_double *alpha, const lapack_complex_double *a,
    const int *lda, const lapack_complex_double *x, const int *incx, const lapack_complex_double *beta,
    lapack_complex_double *y, const int *incy);
void zher2_(const char *uplo, const int *n, const lapack_complex_double *alpha, const lapack_complex_double *x,
    const int *incx, const lapack_complex_double *y, const int *incy, lapack_complex_double *a, const int *lda);
void zher2k_(const char *uplo, const char *trans, const int *n, const int *k, const lapack_complex_double *alpha,
    const lapack_complex_double *a, const int *lda, const lapack_complex_double *b, const int *ldb, const double *beta,
    lapack_complex_double *c, const int *ldc);
void zher_(const char *uplo, const int *n, const double *alpha, const lapack_complex_double *x, const int *incx,
    lapack_complex_double *a, const int *lda);
void zherk_(const char *uplo, const char *trans, const int *n, const int *k, const double *alpha,
    const lapack_complex_double *a, const int *lda, const double *beta, lapack_complex_double *c, const int *ldc);
void zhpmv_(const char *uplo, const int *n, const lapack_complex_double *alpha, const lapack_complex_double *a,
    const lapack_complex_double *x, const int *incx, const lapack_complex_double *beta, lapack_complex_double *y,
    const int *incy);
void zhpr2_(const char *uplo, const int *n, const lapack_complex_double *alpha, const lapack_complex_double *x,
    const int *incx, const lapack_complex_double *y, const int *incy, lapack_complex_double *a);
void zhpr_(const char *uplo, const int *n, const double *alpha, const lapack_complex_double *x, const int *incx,
    lapack_complex_double *a);
void zrotg_(lapack_complex_double *a, lapack_complex_double *b, double *c, lapack_complex_double *s);
void zscal_(const int *n, const lapack_complex_double *alpha, lapack_complex_double *x, const int *incx);
void zswap_(const int *n, lapack_complex_double *x, const int *incx, lapack_complex_double *y, const int *incy);
void zsymm_(const char *side, const char *uplo, const int *m, const int *n, const lapack_complex_double *alpha,
    const lapack_complex_double *a, const int *lda, const lapack_complex_double *b, const int *ldb,
    const lapack_complex_double *beta, lapack_complex_double *c, const int *ldc);
void zsyr2k_(const char *uplo, const char *trans, const int *n, const int *k, const lapack_complex_double *alpha,
    const lapack_complex_double *a, const int *lda, const lapack_complex_double *b, const int *ldb,
    const lapack_complex_double *beta, lapack_complex_double *c, const int *ldc);
void zsyrk_(const char *uplo, const char *trans, const int *n, const int *k, const lapack_complex_double *alpha,
    const lapack_complex_double *a, const int *lda, const lapack_complex_double *beta, lapack_complex_double *c,
    const int *ldc);
void ztbmv_(const char *uplo, const char *trans, const char *diag, const int *n, const int *k,
    const lapack_complex_double *a, const int *lda, lapack_complex_double *x, const int *incx);
void ztbsv_(const char *uplo, const char *trans, const char *diag, const int *n, const int *k,
    const lapack_complex_double *a, const int *lda, lapack_complex_double *x, const int *incx);
void ztpmv_(const char *uplo, const char *trans, const char *diag, const int *n, const lapack_complex_double *a,
    lapack_complex_double *x, const int *incx);
void ztpsv_(const char *uplo, const char *trans, const char *diag, const int *n, const lapack_complex_double *a,
    lapack_complex_double *x, const int *incx);
void ztrmm_(const char *side, const char *uplo, const char *transa, const char *diag, const int *m, const int *n,
    const lapack_complex_double *alpha, const lapack_complex_double *a, const int *lda, lapack_complex_double *b,
    const int *ldb);
void ztrmv_(const char *uplo, const char *trans, const char *diag, const int *n, const lapack_complex_double *a,
    const int *lda, lapack_complex_double *x, const int *incx);
void ztrsm_(const char *side, const char *uplo, const char *transa, const char *diag, const int *m, const int *n,
    const lapack_complex_double *alpha, const lapack_complex_double *a, const int *lda, lapack_complex_double *b,
    const int *ldb);
void ztrsv_(const char *uplo, const char *trans, const char *diag, const int *n, const lapack_complex_double *a,
    const int *lda, lapack_complex_double *x, const int *incx);
/* end */
#endif

/* begin: BLAS, 64 bits */
void caxpby_64_(const int64_t *n, const lapack_complex_float *alpha, const lapack_complex_float *x, const int64_t *incx,
    const lapack_complex_float *beta, lapack_complex_float *y, const int64_t *incy);
void caxpy_64_(const int64_t *n, const lapack_complex_float *alpha, const lapack_complex_float *x, const int64_t *incx,
    lapack_complex_float *y, const int64_t *incy);
void ccopy_64_(const int64_t *n, const lapack_complex_float *x, const int64_t *incx, lapack_complex_float *y,
    const int64_t *incy);
lapack_complex_float cdotc_64_(const int64_t *n, const lapack_complex_float *x, const int64_t *incx,
    const lapack_complex_float *y, const int64_t *incy);
lapack_complex_float cdotu_64_(const int64_t *n, const lapack_complex_float *x, const int64_t *incx,
    const lapack_complex_float *y, const int64_t *incy);
void cgbmv_64_(const char *trans, const int64_t *m, const int64_t *n, const int64_t *kl, const int64_t *ku,
    const lapack_complex_float *alpha, const lapack_complex_float *a, const int64_t *lda, const lapack_complex_float *x,
    const int64_t *incx, const lapack_complex_float *beta, lapack_complex_float *y, const int64_t *incy);
void cgemm_64_(const char *transa, const char *transb, const int64_t *m, const int64_t *n, const int64_t *k,
    const lapack_complex_float *alpha, const lapack_complex_float *a, const int64_t *lda, const lapack_complex_float *b,
    const int64_t *ldb, const lapack_complex_float *beta, lapack_complex_float *c, const int64_t *ldc);
void cgemmt_64_(const char *uplo, const char *transa, const char *transb, const int64_t *n, const int64_t *k,
    const lapack_complex_float *alpha, const lapack_complex_float *a, const int64_t *lda, const lapack_complex_float *b,
    const int64_t *ldb, const lapack_complex_float *beta, lapack_complex_float *c, const int64_t *ldc);
void cgemv_64_(const char *trans, const int64_t *m, const int64_t *n, const lapack_complex_float *alpha,
    const lapack_complex_float *a, const int64_t *lda, const lapack_complex_float *x, const int64_t *incx,
    const lapack_complex_float *beta, lapack_complex_float *y, const int64_t *incy);
void cgerc_64_(const int64_t *m, const int64_t *n, const lapack_complex_float *alpha, const lapack_complex_float *x,
    const int64_t *incx, const lapack_complex_float *y, const int64_t *incy, lapack_complex_float *a,
    const int64_t *lda);
void cgeru_64_(const int64_t *m, const int64_t *n, const lapack_complex_float *alpha, const lapack_complex_float *x,
    const int64_t *incx, const lapack_complex_float *y, const int64_t *incy, lapack_complex_float *a,
    const int64_t *lda);
void chbmv_64_(const char *uplo, const int64_t *n, const int64_t *k, const lapack_complex_float *alpha,
    const lapack_complex_float *a, const int64_t *lda, const lapack_complex_float *x, const int64_t *incx,
    const lapack_complex_float *beta, lapack_complex_float *y, const int64_t *incy);
void chemm_64_(const char *side, const char *uplo, const int64_t *m, const int64_t *n,
    const lapack_complex_float *alpha, const lapack_complex_float *a, const int64_t *lda, const lapack_complex_float *b,
    const int64_t *ldb, const lapack_complex_float *beta, lapack_complex_float *c, const int64_t *ldc);
void chemv_64_(const char *uplo, const int64_t *n, const lapack_complex_float *alpha, const lapack_complex_float *a,
    const int64_t *lda, const lapack_complex_float *x, const int64_t *incx, const lapack_complex_float *beta,
    lapack_complex_float *y, const int64_t *incy);
void cher2_64_(const char *uplo, const int64_t *n, const lapack_complex_float *alpha, const lapack_complex_float *x,
    const int64_t *incx, const lapack_complex_float *y, const int64_t *incy, lapack_complex_float *a,
    const int64_t *lda);
void cher2k_64_(const char *uplo, const char *trans, const int64_t *n, const int64_t *k,
    const lapack_complex_float *alpha, const lapack_complex_float *a, const int64_t *lda, const lapack_complex_float *b,
    const int64_t *ldb, const float *beta, lapack_complex_float *c, const int64_t *ldc);
void cher_64_(const char *uplo, const int64_t *n, const float *alpha, const lapack_complex_float *x,
    const int64_t *incx, lapack_complex_float *a, const int64_t *lda);
void cherk_64_(const char *uplo, const char *trans, const int64_t *n, const int64_t *k, const float *alpha,
    const lapack_complex_float *a, const int64_t *lda, const float *beta, lapack_complex_float *c, const int64_t *ldc);
void chpmv_64_(const char *uplo, const int64_t *n, const lapack_complex_float *alpha, const lapack_complex_float *a,
    const lapack_complex_float *x, const int64_t *incx, const lapack_complex_float *beta, lapack_complex_float *y,
    const int64_t *incy);
void chpr2_64_(const char *uplo, const int64_t *n, const lapack_complex_float *alpha, const lapack_complex_float *x,
    const int64_t *incx, const lapack_complex_float *y, const int64_t *incy, lapack_complex_float *a);
void chpr_64_(const char *uplo, const int64_t *n, const float *alpha, const lapack_complex_float *x,
    const int64_t *incx, lapack_complex_float *a);
void crotg_64_(lapack_complex_float *a, lapack_complex_float *b, float *c, lapack_complex_float *s);
void cscal_64_(const int64_t *n, const lapack_complex_float *alpha, lapack_complex_float *x, const int64_t *incx);
void csrot_64_(const int64_t *n, lapack_complex_float *x, const int64_t *incx, lapack_complex_float *y,
    const int64_t *incy, const float *c, const float *s);
void csscal_64_(const int64_t *n, const float *alpha, lapack_complex_float *x, const int64_t *incx);
void cswap_64_(const int64_t *n, lapack_complex_float *x, const int64_t *incx, lapack_complex_float *y,
    const int64_t *incy);
void csymm_64_(const char *side, const char *uplo, const int64_t *m, const int64_t *n,
    const lapack_complex_float *alpha, const lapack_complex_float *a, const int64_t *lda, const lapack_complex_float *b,
    const int64_t *ldb, const lapack_complex_float *beta, lapack_complex_float *c, const int64_t *ldc);
void csyr2k_64_(const char *uplo, const char *trans, const int64_t *n, const int64_t *k,
    const lapack_complex_float *alpha, const lapack_complex_float *a, const int64_t *lda, const lapack_complex_float *b,
    const int64_t *ldb, const lapack_complex_float *beta, lapack_complex_float *c, const int64_t *ldc);
void csyrk_64_(const char *uplo, const char *trans, const int64_t *n, const int64_t *k,
    const lapack_complex_float *alpha, const lapack_complex_float *a, const int64_t *lda,
    const lapack_complex_float *beta, lapack_complex_float *c, const int64_t *ldc);
void ctbmv_64_(const char *uplo, const char *trans, const char *diag, const int64_t *n, const int64_t *k,
    const lapack_complex_float *a, const int64_t *lda, lapack_complex_float *x, const int64_t *incx);
void ctbsv_64_(const char *uplo, const char *trans, const char *diag, const int64_t *n, const int64_t *k,
    const lapack_complex_float *a, const int64_t *lda, lapack_complex_float *x, const int64_t *incx);
void ctpmv_64_(const char *uplo, const char *trans, const char *diag, const int64_t *n, const lapack_complex_float *a,
    lapack_complex_float *x, const int64_t *incx);
void ctpsv_64_(const char *uplo, const char *trans, const char *diag, const int64_t *n, const lapack_complex_float *a,
    lapack_complex_float *x, const int64_t *incx);
void ctrmm_64_(const char *side, const char *uplo, const char *transa, const char *diag, const int64_t *m,
    const int64_t *n, const lapack_complex_float *alpha, const lapack_complex_float *a, const int64_t *lda,
    lapack_complex_float *b, const int64_t *ldb);
void ctrmv_64_(const char *uplo, const char *trans, const char *diag, const int64_t *n, const lapack_complex_float *a,
    const int64_t *lda, lapack_complex_float *x, const int64_t *incx);
void ctrsm_64_(const char *side, const char *uplo, const char *transa, const char *diag, const int64_t *m,
    const int64_t *n, const lapack_complex_float *alpha, const lapack_complex_float *a, const int64_t *lda,
    lapack_complex_float *b, const int64_t *ldb);
void ctrsv_64_(const char *uplo, const char *trans, const char *diag, const int64_t *n, const lapack_complex_float *a,
    const int64_t *lda, lapack_complex_float *x, const int64_t *incx);
double dasum_64_(const int64_t *n, const double *x, const int64_t *incx);
void daxpby_64_(const int64_t *n, const double *alpha, const double *x, const int64_t *incx, const double *beta,
    double *y, const int64_t *incy);
void daxpy_64_(const int64_t *n, const double *alpha, const double *x, const int64_t *incx, double *y,
    const int64_t *incy);
void dcopy_64_(const int64_t *n, const double *x, const int64_t *incx, double *y, const int64_t *incy);
double ddot_64_(const int64_t *n, const double *x, const int64_t *incx, const double *y, const int64_t *incy);
void dgbmv_64_(const char *trans, const int64_t *m, const int64_t *n, const int64_t *kl, const int64_t *ku,
    const double *alpha, const double *a, const int64_t *lda, const double *x, const int64_t *incx, const double *beta,
    double *y, const int64_t *incy);
void dgemm_64_(const char *transa, const char *transb, const int64_t *m, const int64_t *n, const int64_t *k,
    const double *alpha, const double *a, const int64_t *lda, const double *b, const int64_t *ldb, const double *beta,
    double *c, const int64_t *ldc);
void dgemmt_64_(const char *uplo, const char *transa, const char *transb, const int64_t *n, const int64_t *k,
    const double *alpha, const double *a, const int64_t *lda, const double *b, const int64_t *ldb, const double *beta,
    double *c, const int64_t *ldc);
void dgemv_64_(const char *trans, const int64_t *m, const int64_t *n, const double *alpha, const double *a,
    const int64_t *lda, const double *x, const int64_t *incx, const double *beta, double *y, const int64_t *incy);
void dger_64_(const int64_t *m, const int64_t *n, const double *alpha, const double *x, const int64_t *incx,
    const double *y, const int64_t *incy, double *a, const int64_t *lda);
double dnrm2_64_(const int64_t *n, const double *x, const int64_t *incx);
void drot_64_(const int64_t *n, double *x, const int64_t *incx, double *y, const int64_t *incy, const double *c,
    const double *s);
void drotg_64_(double *a, double *b, double *c, double *s);
void drotm_64_(const int64_t *n, double *x, const int64_t *incx, double *y, const int64_t *incy, const double *param);
void drotmg_64_(double *d1, double *d2, double *x1, const double *y1, double *param);
void dsbmv_64_(const char *uplo, const int64_t *n, const int64_t *k, const double *alpha, const double *a,
    const int64_t *lda, const double *x, const int64_t *incx, const double *beta, double *y, const int64_t *incy);
void dscal_64_(const int64_t *n, const double *alpha, double *x, const int64_t *incx);
double dsdot_64_(const int64_t *n, const float *x, const int64_t *incx, const float *y, const int64_t *incy);
void dspmv_64_(const char *uplo, const int64_t *n, const double *alpha, const double *a, const double *x,
    const int64_t *incx, const double *beta, double *y, const int64_t *incy);
void dspr2_64_(const char *uplo, const int64_t *n, const double *alpha, const double *x, const int64_t *incx,
    const double *y, const int64_t *incy, double *a);
void dspr_64_(const char *uplo, const int64_t *n, const double *alpha, const double *x, const int64_t *incx, double *a);
void dswap_64_(const int64_t *n, double *x, const int64_t *incx, double *y, const int64_t *incy);
void dsymm_64_(const char *side, const char *uplo, const int64_t *m, const int64_t *n, const double *alpha,
    const double *a, const int64_t *lda, const double *b, const int64_t *ldb, const double *beta, double *c,
    const int64_t *ldc);
void dsymv_64_(const char *uplo, const int64_t *n, const double *alpha, const double *a, const int64_t *lda,
    const double *x, const int64_t *incx, const double *beta, double *y, const int64_t *incy);
void dsyr2_64_(const char *uplo, const int64_t *n, const double *alpha, const double *x, const int64_t *incx,
    const double *y, const int64_t *incy, double *a, const int64_t *lda);
void dsyr2k_64_(const char *uplo, const char *trans, const int64_t *n, const int64_t *k, const double *alpha,
    const double *a, const int64_t *lda, const double *b, const int64_t *ldb, const double *beta, double *c,
    const int64_t *ldc);
void dsyr_64_(const char *uplo, const int64_t *n, const double *alpha, const double *x, const int64_t *incx, double *a,
    const int64_t *lda);
void dsyrk_64_(const char *uplo, const char *trans, const int64_t *n, const int64_t *k, const double *alpha,
    const double *a, const int64_t *lda, const double *beta, double *c, const int64_t *ldc);
void dtbmv_64_(const char *uplo, const char *trans, const char *diag, const int64_t *n, const int64_t *k,
    const double *a, const int64_t *lda, double *x, const int64_t *incx);
void dtbsv_64_(const char *uplo, const char *trans, const char *diag, const int64_t *n, const int64_t *k,
    const double *a, const int64_t *lda, double *x, const int64_t *incx);
void dtpmv_64_(const char *uplo, const char *trans, const char *diag, const int64_t *n, const double *a, double *x,
    const int64_t *incx);
void dtpsv_64_(const char *uplo, const char *trans, const char *diag, const int64_t *n, const double *a, double *x,
    const int64_t *incx);
void dtrmm_64_(const char *side, const char *uplo, const char *transa, const char *diag, const int64_t *m,
    const int64_t *n, const double *alpha, const double *a, const int64_t *lda, double *b, const int64_t *ldb);
void dtrmv_64_(const char *uplo, const char *trans, const char *diag, const int64_t *n, const double *a,
    const int64_t *lda, double *x, const int64_t *incx);
void dtrsm_64_(const char *side, const char *uplo, const char *transa, const char *diag, const int64_t *m,
    const int64_t *n, const double *alpha, const double *a, const int64_t *lda, double *b, const int64_t *ldb);
void dtrsv_64_(const char *uplo, const char *trans, const char *diag, const int64_t *n, const double *a,
    const int64_t *lda, double *x, const int64_t *incx);
double dzasum_64_(const int64_t *n, const lapack_complex_double *x, const int64_t *incx);
double dznrm2_64_(const int64_t *n, const lapack_complex_double *x, const int64_t *incx);
int64_t icamax_64_(const int64_t *n, const lapack_complex_float *x, const int64_t *incx);
int64_t idamax_64_(const int64_t *n, const double *x, const int64_t *incx);
int64_t isamax_64_(const int64_t *n, const float *x, const int64_t *incx);
int64_t izamax_64_(const int64_t *n, const lapack_complex_double *x, const int64_t *incx);
float sasum_64_(const int64_t *n, const float *x, const int64_t *incx);
void saxpby_64_(const int64_t *n, const float *alpha, const float *x, const int64_t *incx, const float *beta, float *y,
    const int64_t *incy);
void saxpy_64_(const int64_t *n, const float *alpha, const float *x, const int64_t *incx, float *y,
    const int64_t *incy);
float scasum_64_(const int64_t *n, const lapack_complex_float *x, const int64_t *incx);
float scnrm2_64_(const int64_t *n, const lapack_complex_float *x, const int64_t *incx);
void scopy_64_(const int64_t *n, const float *x, const int64_t *incx, float *y, const int64_t *incy);
float sdot_64_(const int64_t *n, const float *x, const int64_t *incx, const float *y, const int64_t *incy);
float sdsdot_64_(const int64_t *n, const float *b, const float *x, const int64_t *incx, const float *y,
    const int64_t *incy);
void sgbmv_64_(const char *trans, const int64_t *m, const int64_t *n, const int64_t *kl, const int64_t *ku,
    const float *alpha, const float *a, const int64_t *lda, const float *x, const int64_t *incx, const float *beta,
    float *y, const int64_t *incy);
void sgemm_64_(const char *transa, const char *transb, const int64_t *m, const int64_t *n, const int64_t *k,
    const float *alpha, const float *a, const int64_t *lda, const float *b, const int64_t *ldb, const float *beta,
    float *c, const int64_t *ldc);
void sgemmt_64_(const char *uplo, const char *transa, const char *transb, const int64_t *n, const int64_t *k,
    const float *alpha, const float *a, const int64_t *lda, const float *b, const int64_t *ldb, const float *beta,
    float *c, const int64_t *ldc);
void sgemv_64_(const char *trans, const int64_t *m, const int64_t *n, const float *alpha, const float *a,
    const int64_t *lda, const float *x, const int64_t *incx, const float *beta, float *y, const int64_t *incy);
void sger_64_(const int64_t *m, const int64_t *n, const float *alpha, const float *x, const int64_t *incx,
    const float *y, const int64_t *incy, float *a, const int64_t *lda);
float snrm2_64_(const int64_t *n, const float *x, const int64_t *incx);
void srot_64_(const int64_t *n, float *x, const int64_t *incx, float *y, const int64_t *incy, const float *c,
    const float *s);
void srotg_64_(float *a, float *b, float *c, float *s);
void srotm_64_(const int64_t *n, float *x, const int64_t *incx, float *y, const int64_t *incy, const float *param);
void srotmg_64_(float *d1, float *d2, float *x1, const float *y1, float *param);
void ssbmv_64_(const char *uplo, const int64_t *n, const int64_t *k, const float *alpha, const float *a,
    const int64_t *lda, const float *x, const int64_t *incx, const float *beta, float *y, const int64_t *incy);
void sscal_64_(const int64_t *n, const float *alpha, float *x, const int64_t *incx);
void sspmv_64_(const char *uplo, const int64_t *n, const float *alpha, const float *a, const float *x,
    const int64_t *incx, const float *beta, float *y, const int64_t *incy);
void sspr2_64_(const char *uplo, const int64_t *n, const float *alpha, const float *x, const int64_t *incx,
    const float *y, const int64_t *incy, float *a);
void sspr_64_(const char *uplo, const int64_t *n, const float *alpha, const float *x, const int64_t *incx, float *a);
void sswap_64_(const int64_t *n, float *x, const int64_t *incx, float *y, const int64_t *incy);
void ssymm_64_(const char *side, const char *uplo, const int64_t *m, const int64_t *n, const float *alpha,
    const float *a, const int64_t *lda, const float *b, const int64_t *ldb, const float *beta, float *c,
    const int64_t *ldc);
void ssymv_64_(const char *uplo, const int64_t *n, const float *alpha, const float *a, const int64_t *lda,
    const float *x, const int64_t *incx, const float *beta, float *y, const int64_t *incy);
void ssyr2_64_(const char *uplo, const int64_t *n, const float *alpha, const float *x, const int64_t *incx,
    const float *y, const int64_t *incy, float *a, const int64_t *lda);
void ssyr2k_64_(const char *uplo, const char *trans, const int64_t *n, const int64_t *k, const float *alpha,
    const float *a, const int64_t *lda, const float *b, const int64_t *ldb, const float *beta, float *c,
    const int64_t *ldc);
void ssyr_64_(const char *uplo, const int64_t *n, const float *alpha, const float *x, const int64_t *incx, float *a,
    const int64_t *lda);
void ssyrk_64_(const char *uplo, const char *trans, const int64_t *n, const int64_t *k, const float *alpha,
    const float *a, const int64_t *lda, const float *beta, float *c, const int64_t *ldc);
void stbmv_64_(const char *uplo, const char *trans, const char *diag, const int64_t *n, const int64_t *k,
    const float *a, const int64_t *lda, float *x, const int64_t *incx);
void stbsv_64_(const char *uplo, const char *trans, const char *diag, const int64_t *n, const int64_t *k,
    const float *a, const int64_t *lda, float *x, const int64_t *incx);
void stpmv_64_(const char *uplo, const char *trans, const char *diag, const int64_t *n, const float *a, float *x,
    const int64_t *incx);
void stpsv_64_(const char *uplo, const char *trans, const char *diag, const int64_t *n, const float *a, float *x,
    const int64_t *incx);
void strmm_64_(const char *side, const char *uplo, const char *transa, const char *diag, const int64_t *m,
    const int64_t *n, const float *alpha, const float *a, const int64_t *lda, float *b, const int64_t *ldb);
void strmv_64_(const char *uplo, const char *trans, const char *diag, const int64_t *n, const float *a,
    const int64_t *lda, float *x, const int64_t *incx);
void strsm_64_(const char *side, const char *uplo, const char *transa, const char *diag, const int64_t *m,
    const int64_t *n, const float *alpha, const float *a, const int64_t *lda, float *b, const int64_t *ldb);
void strsv_64_(const char *uplo, const char *trans, const char *diag, const int64_t *n, const float *a,
    const int64_t *lda, float *x, const int64_t *incx);
void zaxpby_64_(const int64_t *n, const lapack_complex_double *alpha, const lapack_complex_double *x,
    const int64_t *incx, const lapack_complex_double *beta, lapack_complex_double *y, const int64_t *incy);
void zaxpy_64_(const int64_t *n, const lapack_complex_double *alpha, const lapack_complex_double *x,
    const int64_t *incx, lapack_complex_double *y, const int64_t *incy);
void zcopy_64_(const int64_t *n, const lapack_complex_double *x, const int64_t *incx, lapack_complex_double *y,
    const int64_t *incy);
lapack_complex_double zdotc_64_(const int64_t *n, const lapack_complex_double *x, const int64_t *incx,
    const lapack_complex_double *y, const int64_t *incy);
lapack_complex_double zdotu_64_(const int64_t *n, const lapack_complex_double *x, const int64_t *incx,
    const lapack_complex_double *y, const int64_t *incy);
void zdrot_64_(const int64_t *n, lapack_complex_double *x, const int64_t *incx, lapack_complex_double *y,
    const int64_t *incy, const double *c, const double *s);
void zdscal_64_(const int64_t *n, const double *alpha, lapack_complex_double *x, const int64_t *incx);
void zgbmv_64_(const char *trans, const int64_t *m, const int64_t *n, const int64_t *kl, const int64_t *ku,
    const lapack_complex_double *alpha, const lapack_complex_double *a, const int64_t *lda,
    const lapack_complex_double *x, const int64_t *incx, const lapack_complex_double *beta, lapack_complex_double *y,
    const int64_t *incy);
void zgemm_64_(const char *transa, const char *transb, const int64_t *m, const int64_t *n, const int64_t *k,
    const lapack_complex_double *alpha, const lapack_complex_double *a, const int64_t *lda,
    const lapack_complex_double *b, const int64_t *ldb, const lapack_complex_double *beta, lapack_complex_double *c,
    const int64_t *ldc);
void zgemmt_64_(const char *uplo, const char *transa, const char *transb, const int64_t *n, const int64_t *k,
    const lapack_complex_double *alpha, const lapack_complex_double *a, const int64_t *lda,
    const lapack_complex_double *b, const int64_t *ldb, const lapack_complex_double *beta, lapack_complex_double *c,
    const int64_t *ldc);
void zgemv_64_(const char *trans, const int64_t *m, const int64_t *n, const lapack_complex_double *alpha,
    const lapack_complex_double *a, const int64_t *lda, const lapack_complex_double *x, const int64_t *incx,
    const lapack_complex_double *beta, lapack_complex_double *y, const int64_t *incy);
void zgerc_64_(const int64_t *m, const int64_t *n, const lapack_complex_double *alpha, const lapack_complex_double *x,
    const int64_t *incx, const lapack_complex_double *y, const int64_t *incy, lapack_complex_double *a,
    const int64_t *lda);
void zgeru_64_(const int64_t *m, const int64_t *n, const lapack_complex_double *alpha, const lapack_complex_double *x,
    const int64_t *incx, const lapack_complex_double *y, const int64_t *incy, lapack_complex_double *a,
    const int64_t *lda);
void zhbmv_64_(const char *uplo, const int64_t *n, const int64_t *k, const lapack_complex_double *alpha,
    const lapack_complex_double *a, const int64_t *lda, const lapack_complex_double *x, const int64_t *incx,
    const lapack_complex_double *beta, lapack_complex_double *y, const int64_t *incy);
void zhemm_64_(const char *side, const char *uplo, const int64_t *m, const int64_t *n,
    const lapack_complex_double *alpha, const lapack_complex_double *a, const int64_t *lda,
    const lapack_complex_double *b, const int64_t *ldb, const lapack_complex_double *beta, lapack_complex_double *c,
    const int64_t *ldc);
void zhemv_64_(const char *uplo, const int64_t *n, const lapack_complex_double *alpha, const lapack_complex_double *a,
    const int64_t *lda, const lapack_complex_double *x, const int64_t *incx, const lapack_complex_double *beta,
    lapack_complex_double *y, const int64_t *incy);
void zher2_64_(const char *uplo, const int64_t *n, const lapack_complex_double *alpha, const lapack_complex_double *x,
    const int64_t *incx, const lapack_complex_double *y, const int64_t *incy, lapack_complex_double *a,
    const int64_t *lda);
void zher2k_64_(const char *uplo, const char *trans, const int64_t *n, const int64_t *k,
    const lapack_complex_double *alpha, const lapack_complex_double *a, const int64_t *lda,
    const lapack_complex_double *b, const int64_t *ldb, const double *beta, lapack_complex_double *c,
    const int64_t *ldc);
void zher_64_(const char *uplo, const int64_t *n, const double *alpha, const lapack_complex_double *x,
    const int64_t *incx, lapack_complex_double *a, const int64_t *lda);
void zherk_64_(const char *uplo, const char *trans, const int64_t *n, const int64_t *k, const double *alpha,
    const lapack_complex_double *a, const int64_t *lda, const double *beta, lapack_complex_double *c,
    const int64_t *ldc);
void zhpmv_64_(const char *uplo, const int64_t *n, const lapack_complex_double *alpha, const lapack_complex_double *a,
    const lapack_complex_double *x, const int64_t *incx, const lapack_complex_double *beta, lapack_complex_double *y,
    const int64_t *incy);
void zhpr2_64_(const char *uplo, const int64_t *n, const lapack_complex_double *alpha, const lapack_complex_double *x,
    const int64_t *incx, const lapack_complex_double *y, const int64_t *incy, lapack_complex_double *a);
void zhpr_64_(const char *uplo, const int64_t *n, const double *alpha, const lapack_complex_double *x,
    const int64_t *incx, lapack_complex_double *a);
void zrotg_64_(lapack_complex_double *a, lapack_complex_double *b, double *c, lapack_complex_double *s);
void zscal_64_(const int64_t *n, const lapack_complex_double *alpha, lapack_complex_double *x, const int64_t *incx);
void zswap_64_(const int64_t *n, lapack_complex_double *x, const int64_t *incx, lapack_complex_double *y,
    const int64_t *incy);
void zsymm_64_(const char *side, const char *uplo, const int64_t *m, const int64_t *n,
    const lapack_complex_double *alpha, const lapack_complex_double *a, const int64_t *lda,
    const lapack_complex_double *b, const int64_t *ldb, const lapack_complex_double *beta, lapack_complex_double *c,
    const int64_t *ldc);
void zsyr2k_64_(const char *uplo, const char *trans, const int64_t *n, const int64_t *k,
    const lapack_complex_double *alpha, const lapack_complex_double *a, const int64_t *lda,
    const lapack_complex_double *b, const int64_t *ldb, const lapack_complex_double *beta, lapack_complex_double *c,
    const int64_t *ldc);
void zsyrk_64_(const char *uplo, const char *trans, const int64_t *n, const int64_t *k,
    const lapack_complex_double *alpha, const lapack_complex_double *a, const int64_t *lda,
    const lapack_complex_double *beta, lapack_complex_double *c, const int64_t *ldc);
void ztbmv_64_(const char *uplo, const char *trans, const char *diag, const int64_t *n, const int64_t *k,
    const lapack_complex_double *a, const int64_t *lda, lapack_complex_double *x, const int64_t *incx);
void ztbsv_64_(const char *uplo, const char *trans, const char *diag, const int64_t *n, const int64_t *k,
    const lapack_complex_double *a, const int64_t *lda, lapack_complex_double *x, const int64_t *incx);
void ztpmv_64_(const char *uplo, const char *trans, const char *diag, const int64_t *n, const lapack_complex_double *a,
    lapack_complex_double *x, const int64_t *incx);
void ztpsv_64_(const char *uplo, const char *trans, const char *diag, const int64_t *n, const lapack_complex_double *a,
    lapack_complex_double *x, const int64_t *incx);
void ztrmm_64_(const char *side, const char *uplo, const char *transa, const char *diag, const int64_t *m,
    const int64_t *n, const lapack_complex_double *alpha, const lapack_complex_double *a, const int64_t *lda,
    lapack_complex_double *b, const int64_t *ldb);
void ztrmv_64_(const char *uplo, const char *trans, const char *diag, const int64_t *n, const lapack_complex_double *a,
    const int64_t *lda, lapack_complex_double *x, const int64_t *incx);
void ztrsm_64_(const char *side, const char *uplo, const char *transa, const char *diag, const int64_t *m,
    const int64_t *n, const lapack_complex_double *alpha, const lapack_complex_double *a, const int64_t *lda,
    lapack_complex_double *b, const int64_t *ldb);
void ztrsv_64_(const char *uplo, const char *trans, const char *diag, const int64_t *n, const lapack_complex_double *a,
    const int64_t *lda, lapack_complex_double *x, const int64_t *incx);
/* end */

#ifndef SUPERSCALAR_NO_LAPACK
#if !defined(LAPACK_H) && !defined(OPENBLAS_F77BLAS_H)
#define LAPACK_H

/* begin: LAPACK, 32 bits */
void cgecon_(const char *norm, const int *n, const lapack_complex_float *a, const int *lda, const float *anorm,
    float *rcond, lapack_complex_float *work, float *rwork, int *info);
void cgelqf_(const int *m, const int *n, lapack_complex_float *a, const int *lda, lapack_complex_float *tau,
    lapack_complex_float *work, const int *lwork, int *info);
void cgels_(const char *trans, const int *m, const int *n, const int *nrhs, lapack_complex_float *a, const int *lda,
    lapack_complex_float *b, const int *ldb, lapack_complex_float *work, const int *lwork, int *info);
void cgeqrf_(const int *m, const int *n, lapack_complex_float *a, const int *lda, lapack_complex_float *tau,
    lapack_complex_float *work, const int *lwork, int *info);
void cgesv_(const int *n, const int *nrhs, lapack_complex_float *a, const int *lda, int *ipiv, lapack_complex_float *b,
    const int *ldb, int *info);
void cgetrf_(const int *m, const int *n, lapack_complex_float *a, const int *lda, int *ipiv, int *info);
void cgetri_(const int *n, lapack_complex_float *a, const int *lda, const int *ipiv, lapack_complex_float *work,
    const int *lwork, int *info);
void cgetrs_(const char *trans, const int *n, const int *nrhs, const lapack_complex_float *a, const int *lda,
    const int *ipiv, lapack_complex_float *b, const int *ldb, int *info);
float clange_(const char *norm, const int *m, const int *n, const lapack_complex_float *a, const int *lda, float *work);
float clanhe_(const char *norm, const char *uplo, const int *n, const lapack_complex_float *a, const int *lda,
    float *work);
float clansy_(const char *norm, const char *uplo, const int *n, const lapack_complex_float *a, const int *lda,
    float *work);
float clantr_(const char *norm, const char *uplo, const char *diag, const int *m, const int *n,
    const lapack_complex_float *a, const int *lda, float *work);
void claswp_(const int *n, lapack_complex_float *a, const int *lda, const int *k1, const int *k2, const int *ipiv,
    const int *incx);
void clauum_(const char *uplo, const int *n, lapack_complex_float *a, const int *lda, int *info);
void cpocon_(const char *uplo, const int *n, const lapack_complex_float *a, const int *lda, const float *anorm,
    float *rcond, lapack_complex_float *work, float *rwork, int *info);
void cposv_(const char *uplo, const int *n, const int *nrhs, lapack_complex_float *a, const int *lda,
    lapack_complex_float *b, const int *ldb, int *info);
void cpotrf_(const char *uplo, const int *n, lapack_complex_float *a, const int *lda, int *info);
void cpotri_(const char *uplo, const int *n, lapack_complex_float *a, const int *lda, int *info);
void cpotrs_(const char *uplo, const int *n, const int *nrhs, const lapack_complex_float *a, const int *lda,
    lapack_complex_float *b, const int *ldb, int *info);
void ctrtri_(const char *uplo, const char *diag, const int *n, lapack_complex_float *a, const int *lda, int *info);
void cunglq_(const int *m, const int *n, const int *k, lapack_complex_float *a, const int *lda,
    const lapack_complex_float *tau, lapack_complex_float *work, const int *lwork, int *info);
void cungqr_(const int *m, const int *n, const int *k, lapack_complex_float *a, const int *lda,
    const lapack_complex_float *tau, lapack_complex_float *work, const int *lwork, int *info);
void cunmlq_(const char *side, const char *trans, const int *m, const int *n, const int *k,
    const lapack_complex_float *a, const int *lda, const lapack_complex_float *tau, lapack_complex_float *c,
    const int *ldc, lapack_complex_float *work, const int *lwork, int *info);
void cunmqr_(const char *side, const char *trans, const int *m, const int *n, const int *k,
    const lapack_complex_float *a, const int *lda, const lapack_complex_float *tau, lapack_complex_float *c,
    const int *ldc, lapack_complex_float *work, const int *lwork, int *info);
void dgecon_(const char *norm, const int *n, const double *a, const int *lda, const double *anorm, double *rcond,
    double *work, int *iwork, int *info);
void dgelqf_(const int *m, const int *n, double *a, const int *lda, double *tau, double *work, const int *lwork,
    int *info);
void dgels_(const char *trans, const int *m, const int *n, const int *nrhs, double *a, const int *lda, double *b,
    const int *ldb, double *work, const int *lwork, int *info);
void dgeqrf_(const int *m, const int *n, double *a, const int *lda, double *tau, double *work, const int *lwork,
    int *info);
void dgesv_(const int *n, const int *nrhs, double *a, const int *lda, int *ipiv, double *b, const int *ldb, int *info);
void dgetrf_(const int *m, const int *n, double *a, const int *lda, int *ipiv, int *info);
void dgetri_(const int *n, double *a, const int *lda, const int *ipiv, double *work, const int *lwork, int *info);
void dgetrs_(const char *trans, const int *n, const int *nrhs, const double *a, const int *lda, const int *ipiv,
    double *b, const int *ldb, int *info);
double dlange_(const char *norm, const int *m, const int *n, const double *a, const int *lda, double *work);
double dlansy_(const char *norm, const char *uplo, const int *n, const double *a, const int *lda, double *work);
double dlantr_(const char *norm, const char *uplo, const char *diag, const int *m, const int *n, const double *a,
    const int *lda, double *work);
void dlaswp_(const int *n, double *a, const int *lda, const int *k1, const int *k2, const int *ipiv, const int *incx);
void dlauum_(const char *uplo, const int *n, double *a, const int *lda, int *info);
void dorglq_(const int *m, const int *n, const int *k, double *a, const int *lda, const double *tau, double *work,
    const int *lwork, int *info);
void dorgqr_(const int *m, const int *n, const int *k, double *a, const int *lda, const double *tau, double *work,
    const int *lwork, int *info);
void dormlq_(const char *side, const char *trans, const int *m, const int *n, const int *k, const double *a,
    const int *lda, const double *tau, double *c, const int *ldc, double *work, const int *lwork, int *info);
void dormqr_(const char *side, const char *trans, const int *m, const int *n, const int *k, const double *a,
    const int *lda, const double *tau, double *c, const int *ldc, double *work, const int *lwork, int *info);
void dpocon_(const char *uplo, const int *n, const double *a, const int *lda, const double *anorm, double *rcond,
    double *work, int *iwork, int *info);
void dposv_(const char *uplo, const int *n, const int *nrhs, double *a, const int *lda, double *b, const int *ldb,
    int *info);
void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info);
void dpotri_(const char *uplo, const int *n, double *a, const int *lda, int *info);
void dpotrs_(const char *uplo, const int *n, const int *nrhs, const double *a, const int *lda, double *b,
    const int *ldb, int *info);
void dsgesv_(const int *n, const int *nrhs, double *a, const int *lda, int *ipiv, const double *b, const int *ldb,
    double *x, const int *ldx, double *work, float *swork, int *iter, int *info);
void dsposv_(const char *uplo, const int *n, const int *nrhs, double *a, const int *lda, const double *b,
    const int *ldb, double *x, const int *ldx, double *work, float *swork, int *iter, int *info);
void dtrtri_(const char *uplo, const char *diag, const int *n, double *a, const int *lda, int *info);
void sgecon_(const char *norm, const int *n, const float *a, const int *lda, const float *anorm, float *rcond,
    float *work, int *iwork, int *info);
void sgelqf_(const int *m, const int *n, float *a, const int *lda, float *tau, float *work, const int *lwork,
    int *info);
void sgels_(const char *trans, const int *m, const int *n, const int *nrhs, float *a, const int *lda, float *b,
    const int *ldb, float *work, const int *lwork, int *info);
void sgeqrf_(const int *m, const int *n, float *a, const int *lda, float *tau, float *work, const int *lwork,
    int *info);
void sgesv_(const int *n, const int *nrhs, float *a, const int *lda, int *ipiv, float *b, const int *ldb, int *info);
void sgetrf_(const int *m, const int *n, float *a, const int *lda, int *ipiv, int *info);
void sgetri_(const int *n, float *a, const int *lda, const int *ipiv, float *work, const int *lwork, int *info);
void sgetrs_(const char *trans, const int *n, const int *nrhs, const float *a, const int *lda, const int *ipiv,
    float *b, const int *ldb, int *info);
float slange_(const char *norm, const int *m, const int *n, const float *a, const int *lda, float *work);
float slansy_(const char *norm, const char *uplo, const int *n, const float *a, const int *lda, float *work);
float slantr_(const char *norm, const char *uplo, const char *diag, const int *m, const int *n, const float *a,
    const int *lda, float *work);
void slaswp_(const int *n, float *a, const int *lda, const int *k1, const int *k2, const int *ipiv, const int *incx);
void slauum_(const char *uplo, const int *n, float *a, const int *lda, int *info);
void sorglq_(const int *m, const int *n, const int *k, float *a, const int *lda, const float *tau, float *work,
    const int *lwork, int *info);
void sorgqr_(const int *m, const int *n, const int *k, float *a, const int *lda, const float *tau, float *work,
    const int *lwork, int *info);
void sormlq_(const char *side, const char *trans, const int *m, const int *n, const int *k, const float *a,
    const int *lda, const float *tau, float *c, const int *ldc, float *work, const int *lwork, int *info);
void sormqr_(const char *side, const char *trans, const int *m, const int *n, const int *k, const float *a,
    const int *lda, const float *tau, float *c, const int *ldc, float *work, const int *lwork, int *info);
void spocon_(const char *uplo, const int *n, const float *a, const int *lda, const float *anorm, float *rcond,
    float *work, int *iwork, int *info);
void sposv_(const char *uplo, const int *n, const int *nrhs, float *a, const int *lda, float *b, const int *ldb,
    int *info);
void spotrf_(const char *uplo, const int *n, float *a, const int *lda, int *info);
void spotri_(const char *uplo, const int *n, float *a, const int *lda, int *info);
void spotrs_(const char *uplo, const int *n, const int *nrhs, const float *a, const int *lda, float *b, const int *ldb,
    int *info);
void strtri_(const char *uplo, const char *diag, const int *n, float *a, const int *lda, int *info);
void zcgesv_(const int *n, const int *nrhs, lapack_complex_double *a, const int *lda, int *ipiv,
    const lapack_complex_double *b, const int *ldb, lapack_complex_double *x, const int *ldx,
    lapack_complex_double *work, lapack_complex_float *swork, double *rwork, int *iter, int *info);
void zcposv_(const char *uplo, const int *n, const int *nrhs, lapack_complex_double *a, const int *lda,
    const lapack_complex_double *b, const int *ldb, lapack_complex_double *x, const int *ldx,
    lapack_complex_double *work, lapack_complex_float *swork, double *rwork, int *iter, int *info);
void zgecon_(const char *norm, const int *n, const lapack_complex_double *a, const int *lda, const double *anorm,
    double *rcond, lapack_complex_double *work, double *rwork, int *info);
void zgelqf_(const int *m, const int *n, lapack_complex_double *a, const int *lda, lapack_complex_double *tau,
    lapack_complex_double *work, const int *lwork, int *info);
void zgels_(const char *trans, const int *m, const int *n, const int *nrhs, lapack_complex_double *a, const int *lda,
    lapack_complex_double *b, const int *ldb, lapack_complex_double *work, const int *lwork, int *info);
void zgeqrf_(const int *m, const int *n, lapack_complex_double *a, const int *lda, lapack_complex_double *tau,
    lapack_complex_double *work, const int *lwork, int *info);
void zgesv_(const int *n, const int *nrhs, lapack_complex_double *a, const int *lda, int *ipiv,
    lapack_complex_double *b, const int *ldb, int *info);
void zgetrf_(const int *m, const int *n, lapack_complex_double *a, const int *lda, int *ipiv, int *info);
void zgetri_(const int *n, lapack_complex_double *a, const int *lda, const int *ipiv, lapack_complex_double *work,
    const int *lwork, int *info);
void zgetrs_(const char *trans, const int *n, const int *nrhs, const lapack_complex_double *a, const int *lda,
    const int *ipiv, lapack_complex_double *b, const int *ldb, int *info);
double zlange_(const char *norm, const int *m, const int *n, const lapack_complex_double *a, const int *lda,
    double *work);
double zlanhe_(const char *norm, const char *uplo, const int *n, const lapack_complex_double *a, const int *lda,
    double *work);
double zlansy_(const char *norm, const char *uplo, const int *n, const lapack_complex_double *a, const int *lda,
    double *work);
double zlantr_(const char *norm, const char *uplo, const char *diag, const int *m, const int *n,
    const lapack_complex_double *a, const int *lda, double *work);
void zlaswp_(const int *n, lapack_complex_double *a, const int *lda, const int *k1, const int *k2, const int *ipiv,
    const int *incx);
void zlauum_(const char *uplo, const int *n, lapack_complex_double *a, const int *lda, int *info);
void zpocon_(const char *uplo, const int *n, const lapack_complex_double *a, const int *lda, const double *anorm,
    double *rcond, lapack_complex_double *work, double *rwork, int *info);
void zposv_(const char *uplo, const int *n, const int *nrhs, lapack_complex_double *a, const int *lda,
    lapack_complex_double *b, const int *ldb, int *info);
void zpotrf_(const char *uplo, const int *n, lapack_complex_double *a, const int *lda, int *info);
void zpotri_(const char *uplo, const int *n, lapack_complex_double *a, const int *lda, int *info);
void zpotrs_(const char *uplo, const int *n, const int *nrhs, const lapack_complex_double *a, const int *lda,
    lapack_complex_double *b, const int *ldb, int *info);
void ztrtri_(const char *uplo, const char *diag, const int *n, lapack_complex_double *a, const int *lda, int *info);
void zunglq_(const int *m, const int *n, const int *k, lapack_complex_double *a, const int *lda,
    const lapack_complex_double *tau, lapack_complex_double *work, const int *lwork, int *info);
void zungqr_(const int *m, const int *n, const int *k, lapack_complex_double *a, const int *lda,
    const lapack_complex_double *tau, lapack_complex_double *work, const int *lwork, int *info);
void zunmlq_(const char *side, const char *trans, const int *m, const int *n, const int *k,
    const lapack_complex_double *a, const int *lda, const lapack_complex_double *tau, lapack_complex_double *c,
    const int *ldc, lapack_complex_double *work, const int *lwork, int *info);
void zunmqr_(const char *side, const char *trans, const int *m, const int *n, const int *k,
    const lapack_complex_double *a, const int *lda, const lapack_complex_double *tau, lapack_complex_double *c,
    const int *ldc, lapack_complex_double *work, const int *lwork, int *info);
/* end */

#endif

/* begin: LAPACK, 64 bits */
void cgecon_64_(const char *norm, const int64_t *n, const lapack_complex_float *a, const int64_t *lda,
    const float *anorm, float *rcond, lapack_complex_float *work, float *rwork, int64_t *info);
void cgelqf_64_(const int64_t *m, const int64_t *n, lapack_complex_float *a, const int64_t *lda,
    lapack_complex_float *tau, lapack_complex_float *work, const int64_t *lwork, int64_t *info);
void cgels_64_(const char *trans, const int64_t *m, const int64_t *n, const int64_t *nrhs, lapack_complex_float *a,
    const int64_t *lda, lapack_complex_float *b, const int64_t *ldb, lapack_complex_float *work, const int64_t *lwork,
    int64_t *info);
void cgeqrf_64_(const int64_t *m, const int64_t *n, lapack_complex_float *a, const int64_t *lda,
    lapack_complex_float *tau, lapack_complex_float *work, const int64_t *lwork, int64_t *info);
void cgesv_64_(const int64_t *n, const int64_t *nrhs, lapack_complex_float *a, const int64_t *lda, int64_t *ipiv,
    lapack_complex_float *b, const int64_t *ldb, int64_t *info);
void cgetrf_64_(const int64_t *m, const int64_t *n, lapack_complex_float *a, const int64_t *lda, int64_t *ipiv,
    int64_t *info);
void cgetri_64_(const int64_t *n, lapack_complex_float *a, const int64_t *lda, const int64_t *ipiv,
    lapack_complex_float *work, const int64_t *lwork, int64_t *info);
void cgetrs_64_(const char *trans, const int64_t *n, const int64_t *nrhs, const lapack_complex_float *a,
    const int64_t *lda, const int64_t *ipiv, lapack_complex_float *b, const int64_t *ldb, int64_t *info);
float clange_64_(const char *norm, const int64_t *m, const int64_t *n, const lapack_complex_float *a,
    const int64_t *lda, float *work);
float clanhe_64_(const char *norm, const char *uplo, const int64_t *n, const lapack_complex_float *a,
    const int64_t *lda, float *work);
float clansy_64_(const char *norm, const char *uplo, const int64_t *n, const lapack_complex_float *a,
    const int64_t *lda, float *work);
float clantr_64_(const char *norm, const char *uplo, const char *diag, const int64_t *m, const int64_t *n,
    const lapack_complex_float *a, const int64_t *lda, float *work);
void claswp_64_(const int64_t *n, lapack_complex_float *a, const int64_t *lda, const int64_t *k1, const int64_t *k2,
    const int64_t *ipiv, const int64_t *incx);
void clauum_64_(const char *uplo, const int64_t *n, lapack_complex_float *a, const int64_t *lda, int64_t *info);
void cpocon_64_(const char *uplo, const int64_t *n, const lapack_complex_float *a, const int64_t *lda,
    const float *anorm, float *rcond, lapack_complex_float *work, float *rwork, int64_t *info);
void cposv_64_(const char *uplo, const int64_t *n, const int64_t *nrhs, lapack_complex_float *a, const int64_t *lda,
    lapack_complex_float *b, const int64_t *ldb, int64_t *info);
void cpotrf_64_(const char *uplo, const int64_t *n, lapack_complex_float *a, const int64_t *lda, int64_t *info);
void cpotri_64_(const char *uplo, const int64_t *n, lapack_complex_float *a, const int64_t *lda, int64_t *info);
void cpotrs_64_(const char *uplo, const int64_t *n, const int64_t *nrhs, const lapack_complex_float *a,
    const int64_t *lda, lapack_complex_float *b, const int64_t *ldb, int64_t *info);
void ctrtri_64_(const char *uplo, const char *diag, const int64_t *n, lapack_complex_float *a, const int64_t *lda,
    int64_t *info);
void cunglq_64_(const int64_t *m, const int64_t *n, const int64_t *k, lapack_complex_float *a, const int64_t *lda,
    const lapack_complex_float *tau, lapack_complex_float *work, const int64_t *lwork, int64_t *info);
void cungqr_64_(const int64_t *m, const int64_t *n, const int64_t *k, lapack_complex_float *a, const int64_t *lda,
    const lapack_complex_float *tau, lapack_complex_float *work, const int64_t *lwork, int64_t *info);
void cunmlq_64_(const char *side, const char *trans, const int64_t *m, const int64_t *n, const int64_t *k,
    const lapack_complex_float *a, const int64_t *lda, const lapack_complex_float *tau, lapack_complex_float *c,
    const int64_t *ldc, lapack_complex_float *work, const int64_t *lwork, int64_t *info);
void cunmqr_64_(const char *side, const char *trans, const int64_t *m, const int64_t *n, const int64_t *k,
    const lapack_complex_float *a, const int64_t *lda, const lapack_complex_float *tau, lapack_complex_float *c,
    const int64_t *ldc, lapack_complex_float *work, const int64_t *lwork, int64_t *info);
void dgecon_64_(const char *norm, const int64_t *n, const double *a, const int64_t *lda, const double *anorm,
    double *rcond, double *work, int64_t *iwork, int64_t *info);
void dgelqf_64_(const int64_t *m, const int64_t *n, double *a, const int64_t *lda, double *tau, double *work,
    const int64_t *lwork, int64_t *info);
void dgels_64_(const char *trans, const int64_t *m, const int64_t *n, const int64_t *nrhs, double *a,
    const int64_t *lda, double *b, const int64_t *ldb, double *work, const int64_t *lwork, int64_t *info);
void dgeqrf_64_(const int64_t *m, const int64_t *n, double *a, const int64_t *lda, double *tau, double *work,
    const int64_t *lwork, int64_t *info);
void dgesv_64_(const int64_t *n, const int64_t *nrhs, double *a, const int64_t *lda, int64_t *ipiv, double *b,
    const int64_t *ldb, int64_t *info);
void dgetrf_64_(const int64_t *m, const int64_t *n, double *a, const int64_t *lda, int64_t *ipiv, int64_t *info);
void dgetri_64_(const int64_t *n, double *a, const int64_t *lda, const int64_t *ipiv, double *work,
    const int64_t *lwork, int64_t *info);
void dgetrs_64_(const char *trans, const int64_t *n, const int64_t *nrhs, const double *a, const int64_t *lda,
    const int64_t *ipiv, double *b, const int64_t *ldb, int64_t *info);
double dlange_64_(const char *norm, const int64_t *m, const int64_t *n, const double *a, const int64_t *lda,
    double *work);
double dlansy_64_(const char *norm, const char *uplo, const int64_t *n, const double *a, const int64_t *lda,
    double *work);
double dlantr_64_(const char *norm, const char *uplo, const char *diag, const int64_t *m, const int64_t *n,
    const double *a, const int64_t *lda, double *work);
void dlaswp_64_(const int64_t *n, double *a, const int64_t *lda, const int64_t *k1, const int64_t *k2,
    const int64_t *ipiv, const int64_t *incx);
void dlauum_64_(const char *uplo, const int64_t *n, double *a, const int64_t *lda, int64_t *info);
void dorglq_64_(const int64_t *m, const int64_t *n, const int64_t *k, double *a, const int64_t *lda, const double *tau,
    double *work, const int64_t *lwork, int64_t *info);
void dorgqr_64_(const int64_t *m, const int64_t *n, const int64_t *k, double *a, const int64_t *lda, const double *tau,
    double *work, const int64_t *lwork, int64_t *info);
void dormlq_64_(const char *side, const char *trans, const int64_t *m, const int64_t *n, const int64_t *k,
    const double *a, const int64_t *lda, const double *tau, double *c, const int64_t *ldc, double *work,
    const int64_t *lwork, int64_t *info);
void dormqr_64_(const char *side, const char *trans, const int64_t *m, const int64_t *n, const int64_t *k,
    const double *a, const int64_t *lda, const double *tau, double *c, const int64_t *ldc, double *work,
    const int64_t *lwork, int64_t *info);
void dpocon_64_(const char *uplo, const int64_t *n, const double *a, const int64_t *lda, const double *anorm,
    double *rcond, double *work, int64_t *iwork, int64_t *info);
void dposv_64_(const char *uplo, const int64_t *n, const int64_t *nrhs, double *a, const int64_t *lda, double *b,
    const int64_t *ldb, int64_t *info);
void dpotrf_64_(const char *uplo, const int64_t *n, double *a, const int64_t *lda, int64_t *info);
void dpotri_64_(const char *uplo, const int64_t *n, double *a, const int64_t *lda, int64_t *info);
void dpotrs_64_(const char *uplo, const int64_t *n, const int64_t *nrhs, const double *a, const int64_t *lda, double *b,
    const int64_t *ldb, int64_t *info);
void dsgesv_64_(const int64_t *n, const int64_t *nrhs, double *a, const int64_t *lda, int64_t *ipiv, const double *b,
    const int64_t *ldb, double *x, const int64_t *ldx, double *work, float *swork, int64_t *iter, int64_t *info);
void dsposv_64_(const char *uplo, const int64_t *n, const int64_t *nrhs, double *a, const int64_t *lda, const double *b,
    const int64_t *ldb, double *x, const int64_t *ldx, double *work, float *swork, int64_t *iter, int64_t *info);
void dtrtri_64_(const char *uplo, const char *diag, const int64_t *n, double *a, const int64_t *lda, int64_t *info);
void sgecon_64_(const char *norm, const int64_t *n, const float *a, const int64_t *lda, const float *anorm,
    float *rcond, float *work, int64_t *iwork, int64_t *info);
void sgelqf_64_(const int64_t *m, const int64_t *n, float *a, const int64_t *lda, float *tau, float *work,
    const int64_t *lwork, int64_t *info);
void sgels_64_(const char *trans, const int64_t *m, const int64_t *n, const int64_t *nrhs, float *a, const int64_t *lda,
    float *b, const int64_t *ldb, float *work, const int64_t *lwork, int64_t *info);
void sgeqrf_64_(const int64_t *m, const int64_t *n, float *a, const int64_t *lda, float *tau, float *work,
    const int64_t *lwork, int64_t *info);
void sgesv_64_(const int64_t *n, const int64_t *nrhs, float *a, const int64_t *lda, int64_t *ipiv, float *b,
    const int64_t *ldb, int64_t *info);
void sgetrf_64_(const int64_t *m, const int64_t *n, float *a, const int64_t *lda, int64_t *ipiv, int64_t *info);
void sgetri_64_(const int64_t *n, float *a, const int64_t *lda, const int64_t *ipiv, float *work, const int64_t *lwork,
    int64_t *info);
void sgetrs_64_(const char *trans, const int64_t *n, const int64_t *nrhs, const float *a, const int64_t *lda,
    const int64_t *ipiv, float *b, const int64_t *ldb, int64_t *info);
float slange_64_(const char *norm, const int64_t *m, const int64_t *n, const float *a, const int64_t *lda, float *work);
float slansy_64_(const char *norm, const char *uplo, const int64_t *n, const float *a, const int64_t *lda, float *work);
float slantr_64_(const char *norm, const char *uplo, const char *diag, const int64_t *m, const int64_t *n,
    const float *a, const int64_t *lda, float *work);
void slaswp_64_(const int64_t *n, float *a, const int64_t *lda, const int64_t *k1, const int64_t *k2,
    const int64_t *ipiv, const int64_t *incx);
void slauum_64_(const char *uplo, const int64_t *n, float *a, const int64_t *lda, int64_t *info);
void sorglq_64_(const int64_t *m, const int64_t *n, const int64_t *k, float *a, const int64_t *lda, const float *tau,
    float *work, const int64_t *lwork, int64_t *info);
void sorgqr_64_(const int64_t *m, const int64_t *n, const int64_t *k, float *a, const int64_t *lda, const float *tau,
    float *work, const int64_t *lwork, int64_t *info);
void sormlq_64_(const char *side, const char *trans, const int64_t *m, const int64_t *n, const int64_t *k,
    const float *a, const int64_t *lda, const float *tau, float *c, const int64_t *ldc, float *work,
    const int64_t *lwork, int64_t *info);
void sormqr_64_(const char *side, const char *trans, const int64_t *m, const int64_t *n, const int64_t *k,
    const float *a, const int64_t *lda, const float *tau, float *c, const int64_t *ldc, float *work,
    const int64_t *lwork, int64_t *info);
void spocon_64_(const char *uplo, const int64_t *n, const float *a, const int64_t *lda, const float *anorm,
    float *rcond, float *work, int64_t *iwork, int64_t *info);
void sposv_64_(const char *uplo, const int64_t *n, const int64_t *nrhs, float *a, const int64_t *lda, float *b,
    const int64_t *ldb, int64_t *info);
void spotrf_64_(const char *uplo, const int64_t *n, float *a, const int64_t *lda, int64_t *info);
void spotri_64_(const char *uplo, const int64_t *n, float *a, const int64_t *lda, int64_t *info);
void spotrs_64_(const char *uplo, const int64_t *n, const int64_t *nrhs, const float *a, const int64_t *lda, float *b,
    const int64_t *ldb, int64_t *info);
void strtri_64_(const char *uplo, const char *diag, const int64_t *n, float *a, const int64_t *lda, int64_t *info);
void zcgesv_64_(const int64_t *n, const int64_t *nrhs, lapack_complex_double *a, const int64_t *lda, int64_t *ipiv,
    const lapack_complex_double *b, const int64_t *ldb, lapack_complex_double *x, const int64_t *ldx,
    lapack_complex_double *work, lapack_complex_float *swork, double *rwork, int64_t *iter, int64_t *info);
void zcposv_64_(const char *uplo, const int64_t *n, const int64_t *nrhs, lapack_complex_double *a, const int64_t *lda,
    const lapack_complex_double *b, const int64_t *ldb, lapack_complex_double *x, const int64_t *ldx,
    lapack_complex_double *work, lapack_complex_float *swork, double *rwork, int64_t *iter, int64_t *info);
void zgecon_64_(const char *norm, const int64_t *n, const lapack_complex_double *a, const int64_t *lda,
    const double *anorm, double *rcond, lapack_complex_double *work, double *rwork, int64_t *info);
void zgelqf_64_(const int64_t *m, const int64_t *n, lapack_complex_double *a, const int64_t *lda,
    lapack_complex_double *tau, lapack_complex_double *work, const int64_t *lwork, int64_t *info);
void zgels_64_(const char *trans, const int64_t *m, const int64_t *n, const int64_t *nrhs, lapack_complex_double *a,
    const int64_t *lda, lapack_complex_double *b, const int64_t *ldb, lapack_complex_double *work, const int64_t *lwork,
    int64_t *info);
void zgeqrf_64_(const int64_t *m, const int64_t *n, lapack_complex_double *a, const int64_t *lda,
    lapack_complex_double *tau, lapack_complex_double *work, const int64_t *lwork, int64_t *info);
void zgesv_64_(const int64_t *n, const int64_t *nrhs, lapack_complex_double *a, const int64_t *lda, int64_t *ipiv,
    lapack_complex_double *b, const int64_t *ldb, int64_t *info);
void zgetrf_64_(const int64_t *m, const int64_t *n, lapack_complex_double *a, const int64_t *lda, int64_t *ipiv,
    int64_t *info);
void zgetri_64_(const int64_t *n, lapack_complex_double *a, const int64_t *lda, const int64_t *ipiv,
    lapack_complex_double *work, const int64_t *lwork, int64_t *info);
void zgetrs_64_(const char *trans, const int64_t *n, const int64_t *nrhs, const lapack_complex_double *a,
    const int64_t *lda, const int64_t *ipiv, lapack_complex_double *b, const int64_t *ldb, int64_t *info);
double zlange_64_(const char *norm, const int64_t *m, const int64_t *n, const lapack_complex_double *a,
    const int64_t *lda, double *work);
double zlanhe_64_(const char *norm, const char *uplo, const int64_t *n, const lapack_complex_double *a,
    const int64_t *lda, double *work);
double zlansy_64_(const char *norm, const char *uplo, const int64_t *n, const lapack_complex_double *a,
    const int64_t *lda, double *work);
double zlantr_64_(const char *norm, const char *uplo, const char *diag, const int64_t *m, const int64_t *n,
    const lapack_complex_double *a, const int64_t *lda, double *work);
void zlaswp_64_(const int64_t *n, lapack_complex_double *a, const int64_t *lda, const int64_t *k1, const int64_t *k2,
    const int64_t *ipiv, const int64_t *incx);
void zlauum_64_(const char *uplo, const int64_t *n, lapack_complex_double *a, const int64_t *lda, int64_t *info);
void zpocon_64_(const char *uplo, const int64_t *n, const lapack_complex_double *a, const int64_t *lda,
    const double *anorm, double *rcond, lapack_complex_double *work, double *rwork, int64_t *info);
void zposv_64_(const char *uplo, const int64_t *n, const int64_t *nrhs, lapack_complex_double *a, const int64_t *lda,
    lapack_complex_double *b, const int64_t *ldb, int64_t *info);
void zpotrf_64_(const char *uplo, const int64_t *n, lapack_complex_double *a, const int64_t *lda, int64_t *info);
void zpotri_64_(const char *uplo, const int64_t *n, lapack_complex_double *a, const int64_t *lda, int64_t *info);
void zpotrs_64_(const char *uplo, const int64_t *n, const int64_t *nrhs, const lapack_complex_double *a,
    const int64_t *lda, lapack_complex_double *b, const int64_t *ldb, int64_t *info);
void ztrtri_64_(const char *uplo, const char *diag, const int64_t *n, lapack_complex_double *a, const int64_t *lda,
    int64_t *info);
void zunglq_64_(const int64_t *m, const int64_t *n, const int64_t *k, lapack_complex_double *a, const int64_t *lda,
    const lapack_complex_double *tau, lapack_complex_double *work, const int64_t *lwork, int64_t *info);
void zungqr_64_(const int64_t *m, const int64_t *n, const int64_t *k, lapack_complex_double *a, const int64_t *lda,
    const lapack_complex_double *tau, lapack_complex_double *work, const int64_t *lwork, int64_t *info);
void zunmlq_64_(const char *side, const char *trans, const int64_t *m, const int64_t *n, const int64_t *k,
    const lapack_complex_double *a, const int64_t *lda, const lapack_complex_double *tau, lapack_complex_double *c,
    const int64_t *ldc, lapack_complex_double *work, const int64_t *lwork, int64_t *info);
void zunmqr_64_(const char *side, const char *trans, const int64_t *m, const int64_t *n, const int64_t *k,
    const lapack_complex_double *a, const int64_t *lda, const lapack_complex_double *tau, lapack_complex_double *c,
    const int64_t *ldc, lapack_complex_double *work, const int64_t *lwork, int64_t *info);
/* end */

#endif

#ifndef OPENBLAS_F77BLAS_H
#define OPENBLAS_F77BLAS_H
#endif

#if defined(__clang__) && defined(__cplusplus)
#pragma clang diagnostic pop
#endif
#endif

#ifdef __cplusplus
}
#endif

#endif
