"""Kernel ridge regression with NumPy: a product, a Cholesky factorization, two solves, and least squares by QR.

    python3 examples/dropin/ridge.py
    LD_PRELOAD=target/release/libsuperscalar_blas.so python3 examples/dropin/ridge.py

The script does not depend on Superscalar. It checks its own results, and exits with status 1 if one is wrong.
"""

import sys
import time

import numpy as np

N, FEATURES = 1500, 200
rng = np.random.default_rng(1)
x = rng.standard_normal((N, FEATURES))
weights = rng.standard_normal(FEATURES)
y = x @ weights + 0.01 * rng.standard_normal(N)

start = time.perf_counter()
kernel = x @ x.T + 1e-3 * np.eye(N)                     # gemm or syrk
lower = np.linalg.cholesky(kernel)                      # potrf
dual = np.linalg.solve(kernel, y)                       # getrf, getrs
q, r = np.linalg.qr(x)                                  # geqrf, orgqr
fitted = np.linalg.solve(r, q.T @ y)
seconds = time.perf_counter() - start

size = np.linalg.norm(kernel)
errors = {
    "kernel - L L'": np.linalg.norm(kernel - lower @ lower.T) / size,
    "K dual - y": np.linalg.norm(kernel @ dual - y) / (size * np.linalg.norm(dual)),
    "Q' Q - I": np.linalg.norm(q.T @ q - np.eye(FEATURES)),
    "x - Q R": np.linalg.norm(x - q @ r) / np.linalg.norm(x),
}
for what, error in errors.items():
    print(f"{what:15} {error:.1e}")
print(f"error of the weights {np.abs(fitted - weights).max():.1e}; {seconds:.3f} s")
# The bound is a hundred times the usual error. A NaN does not satisfy it.
if not (all(error < 1e-12 for error in errors.values()) and np.abs(fitted - weights).max() < 0.01):
    sys.exit("a result exceeds its error bound")
