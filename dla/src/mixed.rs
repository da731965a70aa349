//! Linear systems with a factorization in a lower precision, which is twice as fast, and iterative refinement.
//!
//! The routines correspond to LAPACK's dsgesv, zcgesv, dsposv and zcposv: same steps, same criterion, same fallback.
//! They have no non-blocking forms, because each step depends on the residual of the previous one.

use crate::{
    Error, Matrix, Options, Scalar, auxiliary::triangle_part, codelets::task, gemm, getrf, getrs, hemm, lange, lanhe,
    lu::getrf::check_ipiv, plan::Problem, potrf, potrs, scaling::max_or_nan, subtasks::rows_in_part, tiled::Tiled,
};
use std::sync::atomic::{AtomicBool, Ordering};
use superscalar_kernels::{MatMut, MatRef, Norm, Op, Part, Real, Scalar as _, Side, Uplo, c32, c64};
use superscalar_macros::each_type;
use superscalar_runtime::Runtime;

/// Maximum number of refinement steps.
const STEPS_MAX: i32 = 30;

/// An element type with a lower precision: `f64` with `f32`, and `c64` with `c32`.
///
/// ```
/// use superscalar::dla::MixedPrecision;
/// assert_eq!(f64::raise(0.1f64.lower()), 0.1f32 as f64);
/// ```
pub trait MixedPrecision: Scalar + HasGesvMixed + HasPosvMixed {
    /// The element type of the lower precision.
    type Lower: Scalar;
    /// Rounds to the lower precision; the result is infinite if the number is too large.
    fn lower(self) -> Self::Lower;
    /// Converts to this precision, which is exact.
    fn raise(x: Self::Lower) -> Self;
}

impl MixedPrecision for f64 {
    type Lower = f32;
    fn lower(self) -> f32 {
        self as f32
    }
    fn raise(x: f32) -> f64 {
        f64::from(x)
    }
}

impl MixedPrecision for c64 {
    type Lower = c32;
    fn lower(self) -> c32 {
        c32::new(self.re as f32, self.im as f32)
    }
    fn raise(x: c32) -> c64 {
        c64::new(f64::from(x.re), f64::from(x.im))
    }
}

/// Failures of the lower precision, as values of LAPACK's `ITER`.
const OVERFLOW: i32 = -2;
const NO_FACTORS: i32 = -3;
const NO_CONVERGENCE: i32 = -STEPS_MAX - 1;

/// Solves A X = B for an n x n matrix A and n x nrhs matrices B and X in mixed precision. A is factored in the lower
/// precision, and the solution refined until its backward error is that of the higher precision. Returns the number of
/// refinement steps, LAPACK's `ITER`; A is then unchanged.
///
/// If refinement fails, the result is negative, and the system has been solved in the higher precision: A then holds
/// its factors. The values are -2 (an element overflows in the lower precision), -3 (the factorization failed in the
/// lower precision) and -31 (thirty steps were not enough, or a step did not halve the residual). `ipiv` holds the
/// interchanges of the factorization that was used.
///
/// Working memory: copies of A and X in the lower precision, and a residual of the size of X.
///
/// # Errors
/// See [`gesv`](fn@crate::gesv).
///
/// ```
/// use superscalar::Runtime;
/// use superscalar::dla::{Matrix, Options, gesv_mixed};
///
/// let rt = Runtime::new()?;
/// let mut a = Matrix::from_fn(2, 2, |i, j| [[3.0, 1.0], [1.0, 2.0]][i][j]);
/// let (b, mut x) = (Matrix::from_fn(2, 1, |i, _| [1.0f64, 1.0][i]), Matrix::zeros(2, 1));
/// let steps = gesv_mixed(&rt, a.as_mut(), &mut [0; 2], b.as_ref(), x.as_mut(), &Options::default())?;
/// assert!(steps >= 0 && (x.at(0, 0) - 0.2).abs() < 1e-15);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[each_type(f64, c64)]
pub fn gesv_mixed<T: MixedPrecision>(
    rt: &Runtime,
    mut a: MatMut<'_, T>,
    ipiv: &mut [i32],
    b: MatRef<'_, T>,
    mut x: MatMut<'_, T>,
    options: &Options,
) -> Result<i32, Error> {
    check("gesv_mixed", a.shape(), b, x.shape())?;
    check_ipiv("gesv_mixed", a.shape(), ipiv)?;
    if a.ncols() == 0 {
        return Ok(0);
    }
    let norm = lange(rt, Norm::Inf, a.as_ref(), options)?;
    let system = System { norm, a: a.as_ref(), b };
    let residual =
        |x: MatRef<'_, T>, r: MatMut<'_, T>| gemm(rt, -T::ONE, Op::None, system.a, Op::None, x, T::ONE, r, options);
    let steps = system.lowered(rt, Part::All, options)?.map_or(Ok(OVERFLOW), |mut low| {
        match getrf(rt, low.as_mut(), ipiv, options) {
            Ok(()) => {}
            Err(error) if error.info().is_some() => return Ok(NO_FACTORS),
            Err(error) => return Err(error),
        }
        let solve = |x: MatMut<'_, T::Lower>| getrs(rt, Op::None, low.as_ref(), ipiv, x, options);
        system.refine(x.rb_mut(), solve, residual)
    })?;
    if steps < 0 {
        getrf(rt, a.rb_mut(), ipiv, options)?;
        x.copy_from(b);
        getrs(rt, Op::None, a.as_ref(), ipiv, x, options)?;
    }
    Ok(steps)
}

/// Solves A X = B for an n x n Hermitian positive definite A, of which one triangle is stored, in mixed precision; see
/// [`gesv_mixed`].
///
/// # Errors
/// See [`posv`](fn@crate::posv).
///
/// ```
/// use superscalar::Runtime;
/// use superscalar::dla::{Matrix, Options, Uplo, posv_mixed};
///
/// let rt = Runtime::new()?;
/// let mut a = Matrix::from_fn(2, 2, |i, j| [[3.0, 1.0], [1.0, 2.0]][i][j]);
/// let (b, mut x) = (Matrix::from_fn(2, 1, |i, _| [1.0f64, 1.0][i]), Matrix::zeros(2, 1));
/// posv_mixed(&rt, Uplo::Lower, a.as_mut(), b.as_ref(), x.as_mut(), &Options::default())?;
/// assert!((x.at(0, 0) - 0.2).abs() < 1e-15);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[each_type(f64, c64)]
pub fn posv_mixed<T: MixedPrecision>(
    rt: &Runtime,
    uplo: Uplo,
    mut a: MatMut<'_, T>,
    b: MatRef<'_, T>,
    mut x: MatMut<'_, T>,
    options: &Options,
) -> Result<i32, Error> {
    check("posv_mixed", a.shape(), b, x.shape())?;
    if a.ncols() == 0 {
        return Ok(0);
    }
    let norm = lanhe(rt, Norm::Inf, uplo, a.as_ref(), options)?;
    let system = System { norm, a: a.as_ref(), b };
    let residual =
        |x: MatRef<'_, T>, r: MatMut<'_, T>| hemm(rt, Side::Left, uplo, -T::ONE, system.a, x, T::ONE, r, options);
    let steps = system.lowered(rt, triangle_part(uplo), options)?.map_or(Ok(OVERFLOW), |mut low| {
        match potrf(rt, uplo, low.as_mut(), options) {
            Ok(()) => {}
            Err(error) if error.info().is_some() => return Ok(NO_FACTORS),
            Err(error) => return Err(error),
        }
        let solve = |x: MatMut<'_, T::Lower>| potrs(rt, uplo, low.as_ref(), x, options);
        system.refine(x.rb_mut(), solve, residual)
    })?;
    if steps < 0 {
        potrf(rt, uplo, a.rb_mut(), options)?;
        x.copy_from(b);
        potrs(rt, uplo, a.as_ref(), x, options)?;
    }
    Ok(steps)
}

fn check<T: Scalar>(name: &str, (n, cols): (usize, usize), b: MatRef<'_, T>, x: (usize, usize)) -> Result<(), Error> {
    if n != cols || b.nrows() != n || b.shape() != x {
        return Err(Error::shape(format!("{name}: A is {n} x {cols}, B is {:?}, X is {x:?}", b.shape())));
    }
    Ok(())
}

/// A system in the higher precision.
struct System<'a, T: Scalar> {
    /// ‖A‖∞.
    norm: T::Real,
    a: MatRef<'a, T>,
    b: MatRef<'a, T>,
}

impl<T: MixedPrecision> System<'_, T> {
    /// Returns the given part of A in the lower precision, or `None` if an element overflows.
    fn lowered(&self, rt: &Runtime, part: Part, options: &Options) -> Result<Option<Matrix<T::Lower>>, Error> {
        let (m, n) = self.a.shape();
        let mut low = Matrix::zeros(m, n);
        let Some(nb) = options.plan::<T>(rt, Problem::Elements { m, n })?.blocks() else {
            return Ok(lower(part, 0, self.a, low.as_mut()).then_some(low));
        };
        let is_finite = AtomicBool::new(true);
        rt.scope(|s| {
            let (a, low) = (Tiled::read_only_columns(s, self.a, nb), Tiled::columns(s, low.as_mut(), nb));
            for (i, j) in low.tile_indices() {
                let is_finite = &is_finite;
                s.spawn(task("lower", i, j, 0), (a.at(i, j).read(), low.at(i, j).read_write()), move |(a, low)| {
                    if !lower(part, j * nb, a.view(), low.view_mut()) {
                        is_finite.store(false, Ordering::Relaxed);
                    }
                });
            }
        })?;
        Ok(is_finite.into_inner().then_some(low))
    }

    /// Solves the system by `solve`, in the lower precision, and corrects X until the residual B − A X of each column
    /// is as small as the higher precision allows. `residual` subtracts A X from its second argument. Returns the
    /// number of corrections, or a negative failure code.
    fn refine(
        &self,
        mut x: MatMut<'_, T>,
        solve: impl Fn(MatMut<'_, T::Lower>) -> Result<(), Error>,
        residual: impl Fn(MatRef<'_, T>, MatMut<'_, T>) -> Result<(), Error>,
    ) -> Result<i32, Error> {
        let (n, nrhs) = self.b.shape();
        let (mut low, mut r) = (Matrix::zeros(n, nrhs), Matrix::zeros(n, nrhs));
        x.fill(T::ZERO);
        r.as_mut().copy_from(self.b);
        let mut before = f64::INFINITY;
        for step in 0..=STEPS_MAX {
            if !lower(Part::All, 0, r.as_ref(), low.as_mut()) {
                return Ok(OVERFLOW);
            }
            solve(low.as_mut())?;
            for (i, j) in (0..nrhs).flat_map(|j| (0..n).map(move |i| (i, j))) {
                x[(i, j)] += T::raise(low.at(i, j));
            }
            r.as_mut().copy_from(self.b);
            residual(x.as_ref(), r.as_mut())?;
            let excess = self.excess(x.as_ref(), r.as_ref());
            if excess <= 1.0 {
                return Ok(step);
            }
            // Thirty steps that do not halve the residual would not suffice. This also ends refinement with NaN or
            // useless factors.
            let is_halved = excess < before / 2.0;
            if !is_halved {
                break;
            }
            before = excess;
        }
        Ok(NO_CONVERGENCE)
    }

    /// Returns the largest ratio of ‖r‖∞ to √n ε ‖A‖∞ ‖x‖∞ over the columns, by |re| + |im|, or NaN if there is one.
    /// This is LAPACK's criterion. (At the smallest orders, the rounding of r sometimes exceeds it; the system is then
    /// solved in the higher precision.)
    fn excess(&self, x: MatRef<'_, T>, r: MatRef<'_, T>) -> f64 {
        let (n, nrhs) = r.shape();
        let bound = self.norm.to_f64() * T::EPSILON.to_f64() * (n as f64).sqrt();
        let size = |a: MatRef<'_, T>, j: usize| {
            let modulus = |i: usize| a.at(i, j).re().to_f64().abs() + a.at(i, j).im().to_f64().abs();
            (0..n).map(modulus).fold(0.0, max_or_nan)
        };
        let of_column = |j| {
            let (residual, allowed) = (size(r, j), size(x, j) * bound);
            if residual <= allowed { 0.0 } else { residual / allowed }
        };
        (0..nrhs).map(of_column).fold(0.0, max_or_nan)
    }
}

/// Rounds the given part of A to the lower precision and returns whether all results are finite. Column 0 of A is
/// column `first` of the whole matrix.
fn lower<T: MixedPrecision>(part: Part, first: usize, a: MatRef<'_, T>, mut to: MatMut<'_, T::Lower>) -> bool {
    let zero = <T::Lower as superscalar_kernels::Scalar>::Real::ZERO;
    let mut is_finite = true;
    let mut copy = |x: T, to: &mut T::Lower| {
        *to = x.lower();
        is_finite &= to.re() * zero + to.im() * zero == zero;
    };
    for j in 0..a.ncols() {
        let rows = rows_in_part(part, first + j, a.nrows());
        let (a, mut to) = (a.submatrix(rows.clone(), j..j + 1), to.rb_mut().submatrix(rows, j..j + 1));
        match (a.col_as_slice(0), to.col_as_slice_mut(0)) {
            (Some(a), Some(to)) => a.iter().zip(to).for_each(|(&x, to)| copy(x, to)),
            _ => (0..a.nrows()).for_each(|i| copy(a.at(i, 0), &mut to[(i, 0)])),
        }
    }
    is_finite
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// Returns ITER and the number of solves for a refinement of X = B whose solves multiply by these factors.
    fn refined(factors: &[f32]) -> (i32, usize) {
        let a = Matrix::from_fn(3, 3, |i, j| if i == j { c64::ONE } else { c64::ZERO });
        let (b, mut x, solves) =
            (Matrix::from_fn(3, 2, |i, j| c64::new(1.0, (i + j) as f64)), Matrix::zeros(3, 2), Cell::new(0));
        let solve = |mut x: MatMut<'_, c32>| {
            let by = factors[solves.get() % factors.len()];
            (0..2).for_each(|j| (0..3).for_each(|i| x[(i, j)] *= by));
            solves.set(solves.get() + 1);
            Ok(())
        };
        let residual = |x: MatRef<'_, c64>, mut r: MatMut<'_, c64>| {
            (0..2).for_each(|j| (0..3).for_each(|i| r[(i, j)] -= x.at(i, j)));
            Ok(())
        };
        let steps = System { norm: 1.0, a: a.as_ref(), b: b.as_ref() }.refine(x.as_mut(), solve, residual);
        (steps.expect("it ends"), solves.get())
    }

    #[test]
    fn useless_refinement_terminates() {
        assert_eq!(refined(&[1.0]), (0, 1));
        assert_eq!(refined(&[0.999, 1.0]), (1, 2));
        // Solves that return zeros, NaN, or something unrelated to the solution.
        assert_eq!(refined(&[0.0]), (NO_CONVERGENCE, 1));
        assert_eq!(refined(&[f32::NAN]), (NO_CONVERGENCE, 1));
        assert_eq!(refined(&[-1.0]), (NO_CONVERGENCE, 2));
        // Convergence that is too slow: the residual is 9, 4.3 and 2.7 times x.
        assert_eq!(refined(&[0.1]), (NO_CONVERGENCE, 3));
        assert!((20..STEPS_MAX).contains(&refined(&[0.75]).0));
    }
}
