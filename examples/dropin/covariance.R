# A Gaussian likelihood in R: a covariance matrix, its Cholesky factor and determinant, a solve and a QR factorization.
#
#     Rscript examples/dropin/covariance.R
#     LD_PRELOAD=target/release/libsuperscalar_blas.so Rscript examples/dropin/covariance.R
#
# The script does not depend on Superscalar. It checks its own results, and exits with status 1 if one is wrong.

options(matprod = "blas")
set.seed(1)
n <- 1200
x <- matrix(rnorm(2 * n * n), 2 * n, n)
y <- rnorm(n)

start <- proc.time()[["elapsed"]]
covariance <- crossprod(x) / (2 * n)        # syrk
upper <- chol(covariance)                   # potrf
solved <- solve(covariance, y)              # gesv
log_det <- 2 * sum(log(diag(upper)))
factored <- qr(covariance, LAPACK = TRUE)   # geqp3, forwarded to another LAPACK
by_qr <- qr.solve(factored, y)              # ormqr
seconds <- proc.time()[["elapsed"]] - start

errors <- c(
    "C - U'U" = norm(covariance - crossprod(upper)) / norm(covariance),
    "C x - y" = max(abs(covariance %*% solved - y)) / (norm(covariance) * max(abs(solved))),
    "x by QR" = max(abs(by_qr - solved)) / max(abs(solved)),
    "log det" = abs(log_det - as.numeric(determinant(covariance)$modulus)) / n
)
for (what in names(errors)) cat(sprintf("%-10s %.1e\n", what, errors[[what]]))
cat(sprintf("%.3f s\n", seconds))
# The bound is a hundred times the usual error. A NaN does not satisfy it.
if (!isTRUE(all(errors < 1e-11))) quit(status = 1)
