//! Norms of general, symmetric, Hermitian and triangular matrices.

use crate::{
    Scalar,
    codelets::task,
    error::{Error, order_of},
    options::Options,
    plan::Problem,
    scaling::{exponent, max_or_nan, power_of_two},
    tiled::{Tile, TileView, Tiled},
};
use std::ops::{Add, Range};
use superscalar_kernels::{Diag, MatRef, Norm, Real, Scalar as _, Symmetry, Uplo};
use superscalar_macros::each_type;
use superscalar_runtime::{Output, Runtime, Scope};

/// Structure of a matrix, which determines the stored part.
#[derive(Clone, Copy)]
enum Structure {
    General,
    Triangular(Uplo, Diag),
    /// One triangle is stored; the other is its mirror image.
    Mirrored(Symmetry, Uplo),
}

impl Structure {
    /// Returns the stored rows of column j, without the diagonal if it needs special treatment, and the diagonal
    /// element in that case.
    fn column<T: Scalar>(self, a: MatRef<'_, T>, j: usize, first: usize) -> (Range<usize>, Option<T>) {
        let (m, col) = (a.nrows(), first + j);
        let (uplo, diagonal) = match self {
            Self::General => return (0..m, None),
            Self::Triangular(uplo, Diag::Unit) => (uplo, (col < m).then_some(T::ONE)),
            Self::Triangular(uplo, Diag::NonUnit) => (uplo, (col < m).then(|| a.at(col, j))),
            Self::Mirrored(Symmetry::Symmetric, uplo) => (uplo, Some(a.at(col, j))),
            Self::Mirrored(Symmetry::Hermitian, uplo) => (uplo, Some(T::from_real(a.at(col, j).re()))),
        };
        let rows = if uplo == Uplo::Lower { (col + 1).min(m)..m } else { 0..col.min(m) };
        (rows, diagonal)
    }

    fn is_mirrored(self) -> bool {
        matches!(self, Self::Mirrored(..))
    }
}

/// Contribution of a block column to a norm.
#[derive(Clone)]
enum Partial<R> {
    /// The largest element or column sum.
    Largest(R),
    /// Partial sums of the rows.
    Sums(Vec<R>),
    /// The sum of squares is `scale`² times `sum`. The scale is about the size of the largest element, so the sum is at
    /// least one and cannot overflow, unless all elements are zero. If an element is Inf, the scale is infinite; if one
    /// is NaN, the sum is NaN.
    Squares { scale: R, sum: R },
}

/// Returns the contribution of a block column whose first column is column `first` of the matrix.
fn partial<T: Scalar>(norm: Norm, structure: Structure, a: MatRef<'_, T>, first: usize) -> Partial<T::Real> {
    let (m, n) = a.shape();
    let zero = T::Real::ZERO;
    let columns = (0..n).map(|j| (j, structure.column(a, j, first)));
    let by_sums = matches!(norm, Norm::Inf) || (structure.is_mirrored() && norm == Norm::One);
    match norm {
        Norm::Max => Partial::Largest(columns.fold(zero, |largest, (j, (rows, diagonal))| {
            let largest = diagonal.into_iter().map(T::abs).fold(largest, max_or_nan);
            max_or_nan(largest, fold_moduli(a, j, rows, max_or_nan))
        })),
        Norm::One | Norm::Inf if by_sums => {
            let mut sums = vec![zero; m];
            for (j, (rows, diagonal)) in columns {
                let mirrored = add_moduli(a, j, rows, &mut sums);
                if let Some(diagonal) = diagonal {
                    sums[first + j] += diagonal.abs();
                }
                if structure.is_mirrored() {
                    sums[first + j] += mirrored;
                }
            }
            Partial::Sums(sums)
        }
        Norm::One | Norm::Inf => Partial::Largest(columns.fold(zero, |largest, (j, (rows, diagonal))| {
            max_or_nan(largest, fold_moduli(a, j, rows, T::Real::add) + diagonal.map_or(zero, T::abs))
        })),
        Norm::Frobenius => {
            let moduli = |j: usize, rows: Range<usize>| {
                let column = a.col_as_slice(j);
                rows.map(move |i| column.map_or_else(|| a.at(i, j), |column| column[i]).abs())
            };
            let twice = if structure.is_mirrored() { T::Real::from_f64(2.0) } else { T::Real::ONE };
            columns.fold(Partial::Squares { scale: zero, sum: zero }, |squares, (j, (rows, diagonal))| {
                let (scale, sum) = sum_of_squares(|| moduli(j, rows.clone()));
                let (of_diagonal, one) = sum_of_squares(|| diagonal.into_iter().map(T::abs));
                let squares = squares.join(Partial::Squares { scale, sum: sum * twice });
                squares.join(Partial::Squares { scale: of_diagonal, sum: one })
            })
        }
    }
}

/// Independent accumulators, to shorten the chain of additions.
const ACCUMULATORS: usize = 16;

/// Folds the moduli of the given rows of column j with `join`: their sum or maximum.
fn fold_moduli<T: Scalar>(
    a: MatRef<'_, T>,
    j: usize,
    rows: Range<usize>,
    join: impl Fn(T::Real, T::Real) -> T::Real,
) -> T::Real {
    let Some(column) = a.col_as_slice(j) else {
        return rows.map(|i| a.at(i, j).abs()).fold(T::Real::ZERO, join);
    };
    let (mut parts, chunks) = ([T::Real::ZERO; ACCUMULATORS], column[rows].chunks_exact(ACCUMULATORS));
    let rest = chunks.remainder();
    for chunk in chunks {
        parts.iter_mut().zip(chunk).for_each(|(part, x)| *part = join(*part, x.abs()));
    }
    rest.iter().map(|x| x.abs()).chain(parts).fold(T::Real::ZERO, join)
}

/// Adds the moduli of the given rows of column j to the row sums, and returns the sum of the moduli.
fn add_moduli<T: Scalar>(a: MatRef<'_, T>, j: usize, rows: Range<usize>, sums: &mut [T::Real]) -> T::Real {
    let mut parts = [T::Real::ZERO; ACCUMULATORS];
    let add = |part: &mut T::Real, sum: &mut T::Real, x: T| {
        let modulus = x.abs();
        *sum += modulus;
        *part += modulus;
    };
    match a.col_as_slice(j) {
        Some(column) => {
            for (sums, column) in sums[rows.clone()].chunks_mut(ACCUMULATORS).zip(column[rows].chunks(ACCUMULATORS)) {
                parts.iter_mut().zip(sums).zip(column).for_each(|((part, sum), &x)| add(part, sum, x));
            }
        }
        None => rows.for_each(|i| add(&mut parts[0], &mut sums[i], a.at(i, j))),
    }
    parts.into_iter().sum()
}

/// Returns the sum of squares as a scale and a sum, without overflow or underflow.
fn sum_of_squares<R: Real, I: Iterator<Item = R>>(values: impl Fn() -> I) -> (R, R) {
    let plain: R = values().map(|x| x * x).sum();
    // Squares that underflow are negligible in a sum this large.
    let safe = plain * R::EPSILON > R::MIN_POSITIVE && plain * R::ZERO == R::ZERO;
    if safe {
        // Keep the sum between one and four: the sum over several columns could overflow otherwise.
        let half = exponent(plain).div_euclid(2);
        let down = power_of_two::<R>(-half);
        return (power_of_two(half), plain * down * down);
    }
    if plain.is_nan() {
        return (R::ONE, plain);
    }
    let scale = values().fold(R::ZERO, max_or_nan);
    if scale == R::ZERO || scale * R::ZERO != R::ZERO {
        return (scale, R::ONE);
    }
    (scale, values().map(|x| (x / scale) * (x / scale)).sum())
}

impl<R: Real> Partial<R> {
    /// Combines two contributions.
    fn join(self, other: Self) -> Self {
        match (self, other) {
            (Self::Largest(x), Self::Largest(y)) => Self::Largest(max_or_nan(x, y)),
            (Self::Sums(mut x), Self::Sums(y)) => {
                x.iter_mut().zip(y).for_each(|(x, y)| *x += y);
                Self::Sums(x)
            }
            (Self::Squares { scale, sum }, Self::Squares { scale: other, sum: more }) => {
                let (large, small) =
                    if scale > other { ((scale, sum), (other, more)) } else { ((other, more), (scale, sum)) };
                // Two zeros or two infinities have no quotient.
                let ratio = if small.0 == large.0 { R::ONE } else { small.0 / large.0 };
                Self::Squares { scale: large.0, sum: large.1 + small.1 * ratio * ratio }
            }
            _ => unreachable!("contributions to one norm are of one kind"),
        }
    }

    /// Returns the norm; all contributions have been combined.
    fn norm(self) -> R {
        match self {
            Self::Largest(x) => x,
            Self::Sums(sums) => sums.into_iter().fold(R::ZERO, max_or_nan),
            Self::Squares { scale, sum } => scale * sum.sqrt(),
        }
    }
}

#[track_caller]
fn spawn<'s, T: Scalar, V: TileView<'s, Element = T>>(
    s: &'s Scope<'s, '_>,
    norm: Norm,
    structure: Structure,
    a: &Tiled<'s, V>,
) -> Output<'s, T::Real> {
    assert!(a.mt() <= 1, "norm: A must be in block columns, not in {} block rows", a.mt());
    let parts: Vec<_> = (0..if a.shape().0 == 0 { 0 } else { a.nt() })
        .map(|j| {
            let first = j * a.tile_shape().1;
            let part = move |a: &Tile<V>| partial(norm, structure, a.view(), first);
            s.compute(task("norm", 0, j, 0), a.at(0, j).read(), part).read()
        })
        .collect();
    s.compute("norm", parts, |parts| {
        parts.into_iter().cloned().reduce(Partial::join).map_or(T::Real::ZERO, Partial::norm)
    })
}

fn blocking<T: Scalar>(
    rt: &Runtime,
    norm: Norm,
    structure: Structure,
    a: MatRef<'_, T>,
    options: &Options,
) -> Result<T::Real, Error> {
    let Some(nb) = options.plan::<T>(rt, Problem::elements(a.shape()))?.blocks().filter(|_| !a.is_empty()) else {
        return Ok(serial_norm(norm, structure, a));
    };
    Ok(rt.scope(|s| {
        let norm = spawn(s, norm, structure, &Tiled::read_only_columns(s, a, nb));
        s.get(norm).copied()
    })??)
}

/// Inserts the tasks of [`lange`](fn@crate::lange) for A in block columns. The output is the norm.
///
/// # Panics
/// If A is not in block columns.
#[each_type]
#[track_caller]
pub fn spawn_lange<'s, T: Scalar, V: TileView<'s, Element = T>>(
    s: &'s Scope<'s, '_>,
    norm: Norm,
    a: &Tiled<'s, V>,
) -> Output<'s, T::Real> {
    spawn(s, norm, Structure::General, a)
}

/// Inserts the tasks of [`lansy`](fn@crate::lansy) for A in block columns. The output is the norm.
///
/// # Panics
/// If A is not a square matrix in block columns.
#[each_type]
#[track_caller]
pub fn spawn_lansy<'s, T: Scalar, V: TileView<'s, Element = T>>(
    s: &'s Scope<'s, '_>,
    norm: Norm,
    uplo: Uplo,
    a: &Tiled<'s, V>,
) -> Output<'s, T::Real> {
    assert_square("lansy", a);
    spawn(s, norm, Structure::Mirrored(Symmetry::Symmetric, uplo), a)
}

/// Inserts the tasks of [`lanhe`](fn@crate::lanhe) for A in block columns. The output is the norm.
///
/// # Panics
/// If A is not a square matrix in block columns.
#[each_type]
#[track_caller]
pub fn spawn_lanhe<'s, T: Scalar, V: TileView<'s, Element = T>>(
    s: &'s Scope<'s, '_>,
    norm: Norm,
    uplo: Uplo,
    a: &Tiled<'s, V>,
) -> Output<'s, T::Real> {
    assert_square("lanhe", a);
    spawn(s, norm, Structure::Mirrored(Symmetry::Hermitian, uplo), a)
}

/// Inserts the tasks of [`lantr`](fn@crate::lantr) for A in block columns. The output is the norm.
///
/// # Panics
/// If A is not in block columns.
#[each_type]
#[track_caller]
pub fn spawn_lantr<'s, T: Scalar, V: TileView<'s, Element = T>>(
    s: &'s Scope<'s, '_>,
    norm: Norm,
    uplo: Uplo,
    diag: Diag,
    a: &Tiled<'s, V>,
) -> Output<'s, T::Real> {
    spawn(s, norm, Structure::Triangular(uplo, diag), a)
}

#[track_caller]
fn assert_square<V>(name: &str, a: &Tiled<'_, V>) {
    let (m, n) = a.shape();
    assert!(m == n, "{name}: A is {m} x {n}, not square");
}

/// Computes a norm of an m x n matrix: the largest modulus, the one norm, the infinity norm or the Frobenius norm.
/// Returns 0 if the matrix has no elements, and NaN if it contains a NaN.
///
/// # Errors
/// Errors of the runtime keep their kind, such as [`Device`](crate::ErrorKind::Device);
/// [`Shape`](crate::ErrorKind::Shape) if the block size is zero.
///
/// ```
/// use superscalar::Runtime;
/// use superscalar::dla::{Matrix, Norm, Options, lange};
///
/// let (rt, o) = (Runtime::new()?, Options::default());
/// let a = Matrix::from_fn(2, 2, |i, j| [[1.0, -2.0], [2.0, 4.0]][i][j]);
/// let norms = [Norm::Max, Norm::One, Norm::Inf, Norm::Frobenius].map(|norm| lange(&rt, norm, a.as_ref(), &o));
/// assert_eq!(norms.map(Result::unwrap), [4.0, 6.0, 6.0, 5.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[each_type]
pub fn lange<T: Scalar>(rt: &Runtime, norm: Norm, a: MatRef<'_, T>, options: &Options) -> Result<T::Real, Error> {
    blocking(rt, norm, Structure::General, a, options)
}

/// Computes a norm of a symmetric matrix of which one triangle is stored; see [`lange`].
///
/// # Errors
/// [`Shape`](crate::ErrorKind::Shape) if A is not square.
///
/// ```
/// use superscalar::Runtime;
/// use superscalar::dla::{Matrix, Norm, Options, Uplo, lansy};
///
/// let a = Matrix::from_fn(2, 2, |i, j| [[1.0, f64::NAN], [3.0, -2.0]][i][j]);
/// let norm = lansy(&Runtime::new()?, Norm::One, Uplo::Lower, a.as_ref(), &Options::default())?;
/// assert_eq!(norm, 5.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[each_type]
pub fn lansy<T: Scalar>(
    rt: &Runtime,
    norm: Norm,
    uplo: Uplo,
    a: MatRef<'_, T>,
    options: &Options,
) -> Result<T::Real, Error> {
    order_of(a.shape())?;
    blocking(rt, norm, Structure::Mirrored(Symmetry::Symmetric, uplo), a, options)
}

/// Computes a norm of a Hermitian matrix of which one triangle is stored; see [`lange`]. The imaginary part of the
/// diagonal is treated as zero.
///
/// # Errors
/// [`Shape`](crate::ErrorKind::Shape) if A is not square.
///
/// ```
/// use superscalar::Runtime;
/// use superscalar::dla::{Matrix, Norm, Options, Uplo, c64, lanhe};
///
/// let a = Matrix::from_fn(2, 2, |i, j| [[c64::new(4.0, 9.0), c64::ZERO], [c64::new(3.0, 4.0), c64::ONE]][i][j]);
/// let norm = lanhe(&Runtime::new()?, Norm::One, Uplo::Lower, a.as_ref(), &Options::default())?;
/// assert_eq!(norm, 9.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[each_type]
pub fn lanhe<T: Scalar>(
    rt: &Runtime,
    norm: Norm,
    uplo: Uplo,
    a: MatRef<'_, T>,
    options: &Options,
) -> Result<T::Real, Error> {
    order_of(a.shape())?;
    blocking(rt, norm, Structure::Mirrored(Symmetry::Hermitian, uplo), a, options)
}

/// Computes a norm of an m x n lower or upper trapezoidal matrix; see [`lange`]. The diagonal is not read if `diag` is
/// [`Diag::Unit`].
///
/// # Errors
/// Errors of the runtime keep their kind, such as [`Device`](crate::ErrorKind::Device);
/// [`Shape`](crate::ErrorKind::Shape) if the block size is zero.
///
/// ```
/// use superscalar::Runtime;
/// use superscalar::dla::{Diag, Matrix, Norm, Options, Uplo, lantr};
///
/// let a = Matrix::from_fn(2, 2, |i, j| [[f64::NAN, 7.0], [f64::NAN, f64::NAN]][i][j]);
/// let norm = lantr(&Runtime::new()?, Norm::One, Uplo::Upper, Diag::Unit, a.as_ref(), &Options::default())?;
/// assert_eq!(norm, 8.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[each_type]
pub fn lantr<T: Scalar>(
    rt: &Runtime,
    norm: Norm,
    uplo: Uplo,
    diag: Diag,
    a: MatRef<'_, T>,
    options: &Options,
) -> Result<T::Real, Error> {
    blocking(rt, norm, Structure::Triangular(uplo, diag), a, options)
}

/// Computes a norm on the calling thread.
fn serial_norm<T: Scalar>(norm: Norm, structure: Structure, a: MatRef<'_, T>) -> T::Real {
    if a.is_empty() { T::Real::ZERO } else { partial(norm, structure, a, 0).norm() }
}

/// Computes a norm on the calling thread, like [`lange`](fn@crate::lange).
#[each_type]
pub fn serial_lange<T: Scalar>(norm: Norm, a: MatRef<'_, T>) -> T::Real {
    serial_norm(norm, Structure::General, a)
}

/// Computes a norm on the calling thread, like [`lansy`](fn@crate::lansy).
///
/// # Panics
/// If A is not square.
#[each_type]
pub fn serial_lansy<T: Scalar>(norm: Norm, uplo: Uplo, a: MatRef<'_, T>) -> T::Real {
    assert!(a.nrows() == a.ncols(), "lansy: A is {} x {}, not square", a.nrows(), a.ncols());
    serial_norm(norm, Structure::Mirrored(Symmetry::Symmetric, uplo), a)
}

/// Computes a norm on the calling thread, like [`lanhe`](fn@crate::lanhe).
///
/// # Panics
/// If A is not square.
#[each_type]
pub fn serial_lanhe<T: Scalar>(norm: Norm, uplo: Uplo, a: MatRef<'_, T>) -> T::Real {
    assert!(a.nrows() == a.ncols(), "lanhe: A is {} x {}, not square", a.nrows(), a.ncols());
    serial_norm(norm, Structure::Mirrored(Symmetry::Hermitian, uplo), a)
}

/// Computes a norm on the calling thread, like [`lantr`](fn@crate::lantr).
#[each_type]
pub fn serial_lantr<T: Scalar>(norm: Norm, uplo: Uplo, diag: Diag, a: MatRef<'_, T>) -> T::Real {
    serial_norm(norm, Structure::Triangular(uplo, diag), a)
}
