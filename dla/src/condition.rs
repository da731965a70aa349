//! Condition numbers, estimated from factorizations.
//!
//! The one norm of the inverse is estimated from a few products with the inverse and its adjoint (Higham, "FORTRAN
//! codes for estimating the one-norm of a real or complex matrix", ACM TOMS 14, 1988; LAPACK's lacn2). The estimate is
//! a lower bound that is rarely less than a third of the norm.
//!
//! Elements of the inverse may overflow or underflow although the condition number does not: the inverse of a subnormal
//! matrix overflows, however well conditioned the matrix is. So the vector that is multiplied with the inverse is first
//! scaled by a power of two near the square root of the matrix's norm. The products are then far from both overflow and
//! underflow. (LAPACK's latrs scales in each step instead.)

use crate::{
    Scalar,
    auxiliary::triangle_part,
    cholesky::potrs,
    codelets::TriangleForm,
    columns,
    error::{Error, order_of},
    lu::getrs,
    scaling::{exponent, power_of_two},
    subtasks::rows_in_part,
    tiled::{Tile, TileView, Tiled},
};
use superscalar_kernels::{Diag, MatMut, MatRef, Norm, Op, Part, Real, Scalar as _, Side, Uplo, cpu};
use superscalar_macros::each_type;
use superscalar_runtime::{Output, Scope};

/// The condition estimators that are compiled for each element type.
#[each_type]
pub trait Conditions: HasGecon + HasPocon + HasSpawnGecon + HasSpawnPocon + HasSerialGecon + HasSerialPocon {}

/// Maximum number of steps of the estimate; two are typical.
const STEPS_MAX: usize = 5;

/// Inserts a task that estimates the reciprocal condition number like [`gecon`](fn@crate::gecon), from L and U in block
/// columns, as [`getrf`](fn@crate::spawn::getrf) leaves them, and the norm of the original matrix, for example from
/// [`lange`](fn@crate::spawn::lange). If the norm is NaN, so is the estimate.
///
/// # Panics
/// If A is not a square matrix in block columns, or `norm` is neither the one norm nor the infinity norm.
#[each_type]
#[track_caller]
pub fn spawn_gecon<'s, T: Scalar, V: TileView<'s, Element = T>>(
    s: &'s Scope<'s, '_>,
    norm: Norm,
    a: &Tiled<'s, V>,
    anorm: Output<'s, T::Real>,
) -> Output<'s, T::Real> {
    let (n, cols) = a.shape();
    assert!(
        n == cols && a.mt() <= 1,
        "gecon: A must be square and in block columns, not {n} x {cols} in {} block rows",
        a.mt()
    );
    assert!(matches!(norm, Norm::One | Norm::Inf), "gecon: norm is {norm}, expected the one or infinity norm");
    let columns: Vec<_> = a.tiles().iter().map(|column| column.read()).collect();
    s.compute("gecon", (columns, anorm.read()), move |(columns, &anorm): (Vec<&Tile<V>>, &T::Real)| {
        let columns: Vec<_> = columns.iter().map(|column| column.view()).collect();
        let solve = |op: Op, mut x: MatMut<'_, T>| {
            let l = TriangleForm { uplo: Uplo::Lower, op, diag: Diag::Unit };
            let u = TriangleForm { uplo: Uplo::Upper, op, diag: Diag::NonUnit };
            for factor in if op == Op::None { [l, u] } else { [u, l] } {
                columns::solve(factor, &columns, x.rb_mut());
            }
        };
        let has_nan = || columns.iter().any(|column| has_nan(Part::All, *column));
        reciprocal((n, anorm), &mut workspace(n), |op, x| solve(op_for_norm(norm, op), x), has_nan)
    })
}

/// Inserts a task that estimates the reciprocal condition number like [`pocon`](fn@crate::pocon), from L or U in square
/// tiles, as [`potrf`](fn@crate::spawn::potrf) leaves it, and the norm of the original matrix. If the norm is NaN, so
/// is the estimate.
///
/// # Panics
/// If A or its tiles are not square.
#[each_type]
#[track_caller]
pub fn spawn_pocon<'s, T: Scalar, V: TileView<'s, Element = T>>(
    s: &'s Scope<'s, '_>,
    uplo: Uplo,
    a: &Tiled<'s, V>,
    anorm: Output<'s, T::Real>,
) -> Output<'s, T::Real> {
    let ([rows, cols], nb, mt) = (a.partition(Op::None), a.tile_shape().0, a.mt());
    assert!(rows == cols, "pocon: A must be square in square tiles, not {rows} x {cols}");
    let n = a.shape().0;
    let tiles: Vec<_> = a.tiles().iter().map(|tile| tile.read()).collect();
    s.compute("pocon", (tiles, anorm.read()), move |(tiles, &anorm): (Vec<&Tile<V>>, &T::Real)| {
        let solve = |_: Op, mut x: MatMut<'_, T>| {
            for op in potrs::order(uplo) {
                solve_tiles((uplo, op), mt, &tiles, nb, x.rb_mut());
            }
        };
        let has_nan = || {
            (0..mt * mt).any(|at| {
                let (i, j) = (at % mt, at / mt);
                let is_stored = i == j || (i > j) == (uplo == Uplo::Lower);
                is_stored && has_nan(if i == j { triangle_part(uplo) } else { Part::All }, tiles[at].view())
            })
        };
        reciprocal((n, anorm), &mut workspace(n), solve, has_nan)
    })
}

/// Solves op(A) X = B on the calling thread, where A is a triangular matrix in square tiles. X overwrites B.
fn solve_tiles<'s, T: Scalar, V: TileView<'s, Element = T>>(
    (uplo, op): (Uplo, Op),
    mt: usize,
    tiles: &[&Tile<V>],
    nb: usize,
    x: MatMut<'_, T>,
) {
    let mut x = x.into_tiles(nb, 1).into_vec();
    let lower = (uplo == Uplo::Lower) == (op == Op::None);
    for step in 0..mt {
        let k = if lower { step } else { mt - 1 - step };
        cpu::trsm(Side::Left, uplo, op, Diag::NonUnit, T::ONE, tiles[k + k * mt].view(), x[k].rb_mut());
        for i in if lower { k + 1..mt } else { 0..k } {
            // X[i] := X[i] − op(A)[i][k] X[k]
            let tile = if op == Op::None { i + k * mt } else { k + i * mt };
            let [x_k, x_i] = x.get_disjoint_mut([k, i]).expect("different tiles");
            cpu::gemm(-T::ONE, op, tiles[tile].view(), Op::None, x_k.as_ref(), T::ONE, x_i.rb_mut());
        }
    }
}

/// Estimates the reciprocal condition number 1 / (‖A‖ ‖A⁻¹‖) of a general matrix in the one or infinity norm, from its
/// factors L and U, as computed by [`getrf`](fn@crate::getrf), and the norm of A. Returns 0 if A is exactly singular,
/// and NaN if the factors contain a NaN.
///
/// The solves have one right-hand side each and run on the calling thread.
///
/// # Errors
/// [`Argument`](crate::ErrorKind::Argument) if `norm` is neither the one norm nor the infinity norm, or `anorm` is
/// negative or NaN; [`Shape`](crate::ErrorKind::Shape) if A is not square.
///
/// ```
/// use superscalar::Runtime;
/// use superscalar::dla::{Matrix, Norm, Options, gecon, getrf};
///
/// let (rt, o) = (Runtime::new()?, Options::default());
/// let mut a = Matrix::from_fn(2, 2, |i, j| if i == j { [1.0f64, 4.0][i] } else { 0.0 });
/// getrf(&rt, a.as_mut(), &mut [0; 2], &o)?;
/// assert_eq!(gecon(Norm::One, a.as_ref(), 4.0)?, 0.25);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[each_type]
pub fn gecon<T: Scalar>(norm: Norm, a: MatRef<'_, T>, anorm: T::Real) -> Result<T::Real, Error> {
    if !matches!(norm, Norm::One | Norm::Inf) {
        return Err(Error::argument(format!("gecon: norm is {norm}, expected the one or infinity norm")));
    }
    let n = check(a.shape(), anorm)?;
    Ok(serial_gecon(norm, a, anorm, &mut workspace(n)))
}

/// Estimates the reciprocal condition number without a runtime, like [`gecon`](fn@crate::gecon), for any value of
/// `anorm`: if it is NaN, so is the result.
///
/// `work` has at least 2 n elements. The n elements after the first n receive V = c A⁻¹ W, where c is a power of two,
/// and ‖V‖₁ / (c ‖W‖₁) is the estimate of ‖A⁻¹‖₁. For the infinity norm, A⁻ᴴ takes the place of A⁻¹. If A is nearly
/// singular, V is nearly a null vector of A, which LAPACK's latdf needs.
///
/// # Panics
/// If A is not square, `norm` is neither the one norm nor the infinity norm, or `work` is too short.
#[each_type]
pub fn serial_gecon<T: Scalar>(norm: Norm, a: MatRef<'_, T>, anorm: T::Real, work: &mut [T]) -> T::Real {
    assert!(matches!(norm, Norm::One | Norm::Inf), "gecon: norm is {norm}, expected the one or infinity norm");
    let solve = |op, x: MatMut<'_, T>| getrs::serial(op_for_norm(norm, op), a, &[], x);
    // Interchanges of rows change neither norm of the inverse.
    reciprocal((a.nrows(), anorm), work, solve, || has_nan(Part::All, a))
}

/// Returns the op on the inverse: its infinity norm is the one norm of its adjoint.
fn op_for_norm(norm: Norm, op: Op) -> Op {
    if (norm == Norm::One) == (op == Op::None) { Op::None } else { Op::ConjTrans }
}

/// Estimates the reciprocal condition number 1 / (‖A‖ ‖A⁻¹‖) of a positive definite matrix in the one norm, from its
/// factor L or U, as computed by [`potrf`](fn@crate::potrf), and the norm of A. Returns NaN if the factor contains a
/// NaN.
///
/// The solves have one right-hand side each and run on the calling thread.
///
/// # Errors
/// [`Argument`](crate::ErrorKind::Argument) if `anorm` is negative or NaN; [`Shape`](crate::ErrorKind::Shape) if A is
/// not square.
///
/// ```
/// use superscalar::Runtime;
/// use superscalar::dla::{Matrix, Options, Uplo, pocon, potrf};
///
/// let (rt, o) = (Runtime::new()?, Options::default());
/// let mut a = Matrix::from_fn(2, 2, |i, j| if i == j { [1.0f64, 4.0][i] } else { 0.0 });
/// potrf(&rt, Uplo::Lower, a.as_mut(), &o)?;
/// assert_eq!(pocon(Uplo::Lower, a.as_ref(), 4.0)?, 0.25);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[each_type]
pub fn pocon<T: Scalar>(uplo: Uplo, a: MatRef<'_, T>, anorm: T::Real) -> Result<T::Real, Error> {
    let n = check(a.shape(), anorm)?;
    Ok(serial_pocon(uplo, a, anorm, &mut workspace(n)))
}

/// Estimates the reciprocal condition number without a runtime, like [`pocon`](fn@crate::pocon), with `anorm` and
/// `work` as for [`gecon`](serial_gecon).
///
/// # Panics
/// If A is not square, or `work` is too short.
#[each_type]
pub fn serial_pocon<T: Scalar>(uplo: Uplo, a: MatRef<'_, T>, anorm: T::Real, work: &mut [T]) -> T::Real {
    let solve = |_, x: MatMut<'_, T>| potrs::serial(uplo, a, x);
    reciprocal((a.nrows(), anorm), work, solve, || has_nan(triangle_part(uplo), a))
}

/// Allocates the working memory of an estimate for order n.
fn workspace<T: Scalar>(n: usize) -> Vec<T> {
    vec![T::ZERO; 2 * n]
}

/// Returns whether the given part of A contains a NaN.
fn has_nan<T: Scalar>(part: Part, a: MatRef<'_, T>) -> bool {
    let (m, n) = a.shape();
    (0..n).any(|j| rows_in_part(part, j, m).any(|i| a.at(i, j).is_nan()))
}

/// Returns the order of the matrix, or an error if it is not square or `anorm` is not a norm.
fn check<R: Real>(shape: (usize, usize), anorm: R) -> Result<usize, Error> {
    let n = order_of(shape)?;
    if anorm.is_nan() || anorm < R::ZERO {
        return Err(Error::argument(format!("anorm is {anorm}, expected a nonnegative number")));
    }
    Ok(n)
}

/// Returns 1 / (‖A‖ ‖A⁻¹‖). `solve` applies the inverse or its adjoint; `has_nan` returns whether the factors contain a
/// NaN.
fn reciprocal<T: Scalar>(
    (n, anorm): (usize, T::Real),
    work: &mut [T],
    solve: impl Fn(Op, MatMut<'_, T>),
    has_nan: impl FnOnce() -> bool,
) -> T::Real {
    if n == 0 {
        return T::Real::ONE;
    }
    if anorm.is_nan() {
        return anorm;
    }
    let (x, v) = work[..2 * n].split_at_mut(n);
    // Even if the result is known, the estimate must run, because it computes v.
    let is_ordinary = anorm > T::Real::ZERO && anorm * T::Real::ZERO == T::Real::ZERO;
    let root = if is_ordinary { power_of_two::<T::Real>(exponent(anorm).div_euclid(2)) } else { T::Real::ONE };
    let inverse = norm_of_inverse(root, (x, v), solve);
    if inverse.is_nan() && has_nan() {
        return inverse;
    }
    // A pivot of zero makes Inf, and Inf - Inf makes NaN: the inverse does not exist. It is zero if the pivots are Inf.
    if !is_ordinary || inverse.is_nan() || inverse == T::Real::ZERO {
        return T::Real::ZERO;
    }
    let rcond = (T::Real::ONE / inverse) / (anorm / root);
    // The result overflows only if `anorm` is not the norm of this matrix but much smaller.
    if rcond * T::Real::ZERO == T::Real::ZERO { rcond } else { greatest() }
}

/// Returns the greatest finite number.
fn greatest<R: Real>() -> R {
    let two = R::ONE + R::ONE;
    (R::ONE - R::EPSILON) * two * two / R::MIN_POSITIVE
}

/// Estimates the one norm, times `scale`, of a matrix given by its products. Returns NaN if a product is not finite.
/// `x` is working memory. `v` receives the product whose norm is usually the estimate.
fn norm_of_inverse<T: Scalar>(
    scale: T::Real,
    (x, v): (&mut [T], &mut [T]),
    product: impl Fn(Op, MatMut<'_, T>),
) -> T::Real {
    let n = x.len();
    let sum = |x: &[T]| x.iter().map(|x| x.abs()).sum::<T::Real>();
    let apply = |op: Op, x: &mut [T]| {
        x.iter_mut().for_each(|x| *x *= T::from_real(scale));
        product(op, MatMut::from_col_major(x, n, 1, n).expect("a column"));
    };
    x.fill(T::from_f64(1.0 / n as f64));
    apply(Op::None, x);
    v.copy_from_slice(x);
    let mut estimate = sum(x);
    if n == 1 || estimate * T::Real::ZERO != T::Real::ZERO {
        return if estimate * T::Real::ZERO == T::Real::ZERO { estimate } else { T::Real::from_f64(f64::NAN) };
    }
    let mut signs = signs_of(x);
    x.copy_from_slice(&signs);
    apply(Op::ConjTrans, x);
    let mut at = largest(x);
    for _ in 1..STEPS_MAX {
        x.fill(T::ZERO);
        x[at] = T::ONE;
        apply(Op::None, x);
        v.copy_from_slice(x);
        let next = sum(x);
        let (before, grew) = (std::mem::replace(&mut signs, signs_of(x)), next > estimate);
        if next.is_nan() || next > estimate {
            estimate = next;
        }
        if !grew || (!T::COMPLEX && signs == before) {
            break;
        }
        x.copy_from_slice(&signs);
        apply(Op::ConjTrans, x);
        let last = std::mem::replace(&mut at, largest(x));
        if x[last].abs() == x[at].abs() {
            break;
        }
    }
    // One more vector, for matrices that defeat the others.
    for (i, x) in x.iter_mut().enumerate() {
        let size = 1.0 + i as f64 / (n - 1) as f64;
        *x = T::from_f64(if i.is_multiple_of(2) { size } else { -size });
    }
    apply(Op::None, x);
    let last = sum(x) * T::Real::from_f64(2.0 / (3.0 * n as f64));
    if last.is_nan() || last > estimate {
        v.copy_from_slice(x);
        return last;
    }
    estimate
}

/// Returns x / |x| for each element; 1 for zero.
fn signs_of<T: Scalar>(x: &[T]) -> Vec<T> {
    let sign = |&x: &T| {
        let modulus = x.abs();
        if modulus > T::Real::ZERO { T::from_parts(x.re() / modulus, x.im() / modulus) } else { T::ONE }
    };
    x.iter().map(sign).collect()
}

/// Returns the index of the largest element.
fn largest<T: Scalar>(x: &[T]) -> usize {
    (1..x.len()).fold(0, |at, i| if x[i].abs() > x[at].abs() { i } else { at })
}
