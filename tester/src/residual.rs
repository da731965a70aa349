//! Scaled residuals of Cholesky factorizations and of solutions by them. Others are sums of products: [`sum`](crate::sum).
//!
//! Each is a backward error divided by n ε, in the 1-norm, as in LAPACK's own tests; so what is exact up to rounding is
//! below 1 and [`check::BOUND`](crate::check::BOUND) bounds all of them. Two evaluations are made:
//! - *products*, for orders up to [`PRODUCTS_MAX`]: the whole residual matrix, by the tile kernels' gemm and herk;
//! - *probes*, always: a few random vectors of entries of modulus one are applied to the residual from the left or the
//!   right, by loops that share nothing with the kernels. This costs O(n²). A probe is at most the residual's norm (up
//!   to its own rounding), and an error in a single entry reaches it undiminished, so the same bound serves.

use crate::norm::{largest, largest_diagonal, modulus, one, one_hermitian, worst};
use crate::probe::{hermitian_times, triangle_times, vectors};
use superscalar_kernels::{MatMut, MatRef, Op, Real, Scalar, Uplo, cpu};

/// Up to this order the whole residual is computed: there it takes a core less than a tenth of a second.
pub const PRODUCTS_MAX: usize = 1536;

/// Columns of the factor per product: enough to keep the kernels busy.
const BLOCK: usize = 256;

/// LAPACK gives a refinement so many steps before it falls back.
const STEPS_MAX: f64 = 30.0;

/// LAPACK's ITER as a share of the steps that it allows: below 1 where the refinement has converged, negative where
/// it has fallen back.
pub fn share_of_steps<T: Scalar>(steps: i32) -> T {
    T::from_f64(f64::from(steps) / (STEPS_MAX + 1.0))
}

/// ‖A − L Lᴴ‖₁ / (n ‖A‖₁ ε), or with Uᴴ U.
pub fn cholesky<T: Scalar>(uplo: Uplo, a: MatRef<'_, T>, factor: MatRef<'_, T>) -> f64 {
    let n = a.nrows();
    let mut error = 0.0;
    for x in vectors::<T>(n) {
        let (ax, product) = (hermitian_times(uplo, a, &x), gram_times(uplo, factor, &x));
        error = worst(error, largest(ax.iter().zip(&product).map(|(&y, &z)| modulus(y - z))));
    }
    if n <= PRODUCTS_MAX {
        error = worst(error, cholesky_product(uplo, a, factor));
    }
    scaled::<T>(error, n, one_hermitian(uplo, a))
}

/// ‖B − A X‖₁ / (n ‖A‖₁ ‖X‖₁ ε) for a Hermitian A.
pub fn hermitian_solve<T: Scalar>(uplo: Uplo, a: MatRef<'_, T>, x: MatRef<'_, T>, b: MatRef<'_, T>) -> f64 {
    let n = a.nrows();
    if b.is_empty() {
        return 0.0;
    }
    let mut error = 0.0;
    for u in vectors::<T>(n) {
        error = worst(error, from_left(&u, &hermitian_times(uplo, a, &u), x, b));
    }
    if n <= PRODUCTS_MAX {
        error = worst(error, solve_product(hermitian(uplo, a).view(n), x, b));
    }
    scaled::<T>(error, n, one_hermitian(uplo, a) * one(x))
}

/// ‖B − A X‖₁ / (n ‖A‖₁ ‖X‖₁ ε) for A = L Lᴴ or Uᴴ U of which the factor is given. Of ‖A‖₁ a lower bound is used.
pub fn factored_solve<T: Scalar>(uplo: Uplo, factor: MatRef<'_, T>, x: MatRef<'_, T>, b: MatRef<'_, T>) -> f64 {
    let n = factor.nrows();
    if b.is_empty() {
        return 0.0;
    }
    let mut error = 0.0;
    for u in vectors::<T>(n) {
        error = worst(error, from_left(&u, &gram_times(uplo, factor, &u), x, b));
    }
    if n <= PRODUCTS_MAX {
        let f = triangle(uplo, factor);
        let (first, second) = if uplo == Uplo::Lower { (Op::ConjTrans, Op::None) } else { (Op::None, Op::ConjTrans) };
        let mut half = Square::<T>(vec![T::ZERO; n * x.ncols()]);
        cpu::gemm(T::ONE, first, f.view(n), Op::None, x, T::ZERO, half.view_mut(n));
        let mut residual = Square(b.to_vec());
        cpu::gemm(-T::ONE, second, f.view(n), Op::None, half.view(n), T::ONE, residual.view_mut(n));
        error = worst(error, one(residual.view(n)));
    }
    scaled::<T>(error, n, largest_diagonal(uplo, factor) * one(x))
}

/// error / (n norm ε), where no error at all is 0 even for a norm of 0.
pub fn scaled<T: Scalar>(error: f64, n: usize, norm: f64) -> f64 {
    if error == 0.0 && !norm.is_nan() {
        return 0.0;
    }
    error / (n as f64 * norm * T::EPSILON.to_f64())
}

/// L (Lᴴ x), or Uᴴ (U x).
fn gram_times<T: Scalar>(uplo: Uplo, factor: MatRef<'_, T>, x: &[T]) -> Vec<T> {
    let (first, second) = if uplo == Uplo::Lower { (Op::ConjTrans, Op::None) } else { (Op::None, Op::ConjTrans) };
    triangle_times(uplo, second, factor, &triangle_times(uplo, first, factor, x))
}

/// The largest |uᴴ b − (A u)ᴴ x| over the columns x of X and b of B, for a Hermitian A.
fn from_left<T: Scalar>(u: &[T], au: &[T], x: MatRef<'_, T>, b: MatRef<'_, T>) -> f64 {
    largest((0..b.ncols()).map(|j| {
        let dot = |row: &[T], m: MatRef<'_, T>| (0..).zip(row).map(|(i, &v)| v.conj() * m.at(i, j)).sum::<T>();
        modulus(dot(u, b) - dot(au, x))
    }))
}

/// ‖A − L Lᴴ‖₁ of the whole matrix, block column by block column of the factor: n³/3 operations.
fn cholesky_product<T: Scalar>(uplo: Uplo, a: MatRef<'_, T>, factor: MatRef<'_, T>) -> f64 {
    let n = a.nrows();
    let (f, mut c) = (triangle(uplo, factor), triangle(uplo, a));
    for start in (0..n).step_by(BLOCK) {
        let columns = start..n.min(start + BLOCK);
        let trailing = c.view_mut(n).submatrix(start..n, start..n);
        let (op, part) = match uplo {
            Uplo::Lower => (Op::None, f.view(n).submatrix(start..n, columns)),
            Uplo::Upper => (Op::ConjTrans, f.view(n).submatrix(columns, start..n)),
        };
        cpu::herk(uplo, op, -T::Real::ONE, part, T::Real::ONE, trailing);
    }
    one_hermitian(uplo, c.view(n))
}

/// ‖B − A X‖₁ of the whole matrix.
fn solve_product<T: Scalar>(a: MatRef<'_, T>, x: MatRef<'_, T>, b: MatRef<'_, T>) -> f64 {
    let mut residual = Square(b.to_vec());
    cpu::gemm(-T::ONE, Op::None, a, Op::None, x, T::ONE, residual.view_mut(a.nrows()));
    one(residual.view(a.nrows()))
}

/// A working copy without padding.
struct Square<T>(Vec<T>);

impl<T: Scalar> Square<T> {
    fn view(&self, n: usize) -> MatRef<'_, T> {
        match MatRef::from_col_major(&self.0, n, self.0.len() / n.max(1), n.max(1)) {
            Ok(view) => view,
            Err(error) => unreachable!("columns of n elements: {error}"),
        }
    }

    fn view_mut(&mut self, n: usize) -> MatMut<'_, T> {
        let columns = self.0.len() / n.max(1);
        match MatMut::from_col_major(&mut self.0, n, columns, n.max(1)) {
            Ok(view) => view,
            Err(error) => unreachable!("columns of n elements: {error}"),
        }
    }
}

/// One triangle, zeros in the other.
fn triangle<T: Scalar>(uplo: Uplo, a: MatRef<'_, T>) -> Square<T> {
    let n = a.nrows();
    let inside = |i, j| if uplo == Uplo::Lower { i >= j } else { i <= j };
    let entry = |i, j| if inside(i, j) { a.at(i, j) } else { T::ZERO };
    Square((0..n).flat_map(|j| (0..n).map(move |i| entry(i, j))).collect())
}

/// Both triangles of a Hermitian matrix.
fn hermitian<T: Scalar>(uplo: Uplo, a: MatRef<'_, T>) -> Square<T> {
    let n = a.nrows();
    let inside = |i, j| if uplo == Uplo::Lower { i >= j } else { i <= j };
    let entry = |i, j| if inside(i, j) { a.at(i, j) } else { a.at(j, i).conj() };
    Square((0..n).flat_map(|j| (0..n).map(move |i| entry(i, j))).collect())
}
