/* A module with its own `xerbla_` and `cblas_xerbla`, which calls a BLAS with wrong arguments. */

#define _GNU_SOURCE
#include <dlfcn.h>

static int told = 0;

extern void dgemm_(const char *, const char *, const int *, const int *, const int *, const double *, const double *,
                   const int *, const double *, const int *, const double *, double *, const int *);
extern void dpotrf_(const char *, const int *, double *, const int *, int *);
extern void cblas_dgemv(int, int, int, int, double, const double *, int, const double *, int, double, double *, int);

void xerbla_(const char *name, const int *position, int length) {
    told += *position + (name[0] == 'D' ? 0 : 1000);
    /* Calls the original handler, as wrappers do. This is the library's handler, which must not call this one again. */
    void *original = dlsym(RTLD_DEFAULT, "xerbla_");
    if (name[1] == 'T' && original) ((void (*)(const char *, const int *, int))original)(name, position, length);
}

void cblas_xerbla(int position, const char *name, const char *format, ...) {
    (void)format;
    told += position + (name[0] == 'c' ? 0 : 1000);
}

/* Returns the sum of the reported positions. The last one is reported as another LAPACK would report it. */
int wrong(void) {
    const int two = 2, one = 1;
    const double x = 1;
    double c[4] = {0, 0, 0, 0};
    int info = 0;
    dgemm_("N", "N", &two, &two, &two, &x, c, &two, c, &two, &x, c, &one); /* 13 */
    dpotrf_("L", &two, c, &one, &info);                                    /* 4 */
    cblas_dgemv(102, 111, 2, 2, 1, c, 2, c, 0, 1, c, 1);                   /* 9 */
    xerbla_("DTEST", &two, 5);                                             /* 2 */
    return told + 100 * info;
}
