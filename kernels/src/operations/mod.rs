//! Tile operations as values, each defined once.
//!
//! An operation is a struct of options, factors and operands, such as [`Gemm`]. The type of its operands is a
//! parameter: a [`Mat`] in a device's heap, views of the host ([`Operand`] and [`MatMut`]), or any type with a
//! [`Shape`] that an algorithm stores in a task until the data are available. [`Operation::on`] replaces the operands
//! by others. The name, cost and rules of an operation do not depend on its operands. [`Operation::run`] carries it out
//! on the host, and [`Operation::call`] turns it into the [`Call`] that a device's backend receives.
//!
//! | module | operations |
//! |---|---|
//! | `gemm` | [`Gemm`] |
//! | `symmetric` | [`Symm`], [`RankK`], [`Rank2k`] |
//! | `triangular` | [`Triangular`]: trmm and trsm |
//! | `factor` | [`Potrf`], and the panels [`Getrf`] and [`Geqrf`] |
//! | `reflect` | [`Larfb`] |
//! | `moves` | [`Lacpy`], [`Geadd`], [`Scale`], [`Laswp`] |
//! | `batch` | [`BatchOperation`], on every problem of a batch |
//! | `batch_call`, `batch_layout` | [`BatchCall`]: such an operation in a device's heap |
//! | `batch_part` | the part of a batch that one launch processes |
//! | `half` | [`HalfCall`]: products in half precision |
//! | `batch_kernels` | what a device's kernels compute for batches, and what is composed of that |

/// Implements the items that all operations with factors have in common: their types, [`Operation::on`] and
/// [`Operation::call`]. The arguments are the options, the operands that are read, and the one that is written with its
/// mode.
macro_rules! resolved {
    ($Name:ident: $($option:ident)*, $($read:ident $letter:literal)*, $written:ident $to:literal $mode:expr) => {
        type Element = T;
        type Operand = P;
        type On<R, W> = $Name<T, R, W>;

        fn on<X: Resolve<P>>(&self, operands: &mut X) -> Result<$Name<T, X::Read, X::Write>, X::Error> {
            let &Self { $($option,)* $(ref $read,)* ref $written } = self;
            let $written = operands.write($to, $mode, $written)?;
            Ok($Name { $($option,)* $($read: operands.read($letter, $read)?,)* $written })
        }

        fn call(on: $Name<T, Mat<T>>) -> Call<T> {
            Call::$Name(on)
        }
    };
}

mod batch;
mod batch_call;
#[cfg(any(feature = "cuda", feature = "opencl"))]
mod batch_kernels;
mod batch_layout;
#[cfg(any(feature = "cuda", feature = "opencl"))]
mod batch_part;
mod call;
mod check;
mod factor;
mod gemm;
mod half;
mod heap;
mod mat;
mod moves;
mod reflect;
mod symmetric;
mod triangular;

pub use batch::{BatchOperands, BatchOperation, ProblemShapes};
pub use batch_call::{BatchCall, BatchMat, BatchShapes};
#[cfg(any(feature = "cuda", feature = "opencl"))]
pub(crate) use batch_kernels::{BatchKernels, BatchTriangle, Systems, batch_kernels};
pub use batch_layout::{BatchLayout, BatchMember, TABLE_ROWS};
#[cfg(any(feature = "cuda", feature = "opencl"))]
pub(crate) use batch_part::{BatchPart, class_of, classes, column_layout, interchange_outcome, op_code};
pub use call::Call;
pub use check::MatrixUse;
pub use factor::{Geqrf, Getrf, PanelSolve, Potrf};
pub use gemm::Gemm;
pub use half::{HalfCall, HalfGemm, HalfRound, HalfTarget, cost_of_half_product};
pub(crate) use heap::Heap;
pub use mat::Mat;
pub use moves::{Geadd, Lacpy, Laswp, Scale};
pub use reflect::Larfb;
pub use symmetric::{Rank2k, RankK, Symm};
pub use triangular::{Triangular, TriangularAction};

use crate::{MatMut, NotPositiveDefinite, Scalar, Uplo, cpu::Operand};
use superscalar_runtime::{BlasLevel, Cost, Mode};

/// One operation on matrices. Sealed: the implementations are the operations of this module.
///
/// ```
/// use superscalar::kernels::{Op, operations::{Gemm, Operation, Shape}};
/// // A matrix without data has only a shape.
/// struct Planned(usize, usize);
/// impl Shape for Planned {
///     type Element = f64;
///     fn shape(&self) -> (usize, usize) {
///         (self.0, self.1)
///     }
/// }
/// let (a, b, c) = (Planned(4, 5), Planned(5, 6), Planned(4, 6));
/// let gemm = Gemm { part: None, op_a: Op::None, op_b: Op::None, alpha: 1.0, a, b, beta: 1.0, c };
/// assert!(gemm.agrees());
/// assert_eq!((gemm.name(), gemm.cost().flops), ("gemm", 240.0));
/// ```
pub trait Operation: sealed::Sealed {
    /// The type of the elements.
    type Element: Scalar;
    /// The type that represents a matrix.
    type Operand: Shape;
    /// The same operation with `R` for a matrix that is read, and `W` for one that is written.
    type On<R, W>;

    /// Returns the routine's name in LAPACK, without the letter of the type.
    fn name(&self) -> &'static str;

    /// Replaces the operands by what `operands` resolves them to, first the one that is written.
    ///
    /// # Errors
    /// The errors of `operands`.
    fn on<X: Resolve<Self::Operand>>(&self, operands: &mut X) -> Result<Self::On<X::Read, X::Write>, X::Error>;

    /// Returns whether the shapes fit together.
    fn agrees(&self) -> bool;

    /// Returns the option that the routine does not support for this type, such as a plain transpose of complex
    /// matrices in herk.
    fn misused(&self) -> Option<&'static str> {
        None
    }

    /// Returns the arithmetic of the operation, and the bytes that it touches.
    fn cost(&self) -> Cost;

    /// Carries the operation out on the host.
    ///
    /// # Errors
    /// If it is a factorization and the matrix has none.
    ///
    /// # Panics
    /// If the shapes do not agree.
    fn run(on: Self::On<Operand<'_, Self::Element>, MatMut<'_, Self::Element>>) -> Result<(), NotPositiveDefinite>;

    /// Returns the operation as a call for a device.
    fn call(on: Self::On<Mat<Self::Element>, Mat<Self::Element>>) -> Call<Self::Element>;
}

/// A matrix, or a value that represents one.
pub trait Shape {
    /// The type of its elements.
    type Element: Scalar;

    /// Returns the numbers of rows and columns.
    fn shape(&self) -> (usize, usize);
}

/// Resolves the operands of an operation to what it runs on; see [`Operation::on`].
pub trait Resolve<P> {
    /// The result for a matrix that is read.
    type Read;
    /// The result for a matrix that is written.
    type Write;
    /// The reason why an operand cannot be resolved.
    type Error;

    /// Resolves an operand that is read. `name` is its name in the operation's equation.
    ///
    /// # Errors
    /// If the operand cannot be resolved.
    fn read(&mut self, name: &'static str, operand: &P) -> Result<Self::Read, Self::Error>;

    /// Resolves the operand that is written. `mode` tells whether the old contents are read.
    ///
    /// # Errors
    /// If the operand cannot be resolved.
    fn write(&mut self, name: &'static str, mode: Mode, operand: &P) -> Result<Self::Write, Self::Error>;
}

mod sealed {
    pub trait Sealed {}
    impl<T, P> Sealed for super::Gemm<T, P> {}
    impl<T, P> Sealed for super::Symm<T, P> {}
    impl<T, P> Sealed for super::RankK<T, P> {}
    impl<T, P> Sealed for super::Rank2k<T, P> {}
    impl<T, P> Sealed for super::Triangular<T, P> {}
    impl<P> Sealed for super::Potrf<P> {}
    impl<P> Sealed for super::Lacpy<P> {}
    impl<T, P> Sealed for super::Geadd<T, P> {}
    impl<T, P> Sealed for super::Scale<T, P> {}
}

impl<T: Scalar> Shape for Operand<'_, T> {
    type Element = T;

    fn shape(&self) -> (usize, usize) {
        self.view.shape()
    }
}

impl<T: Scalar> Shape for MatMut<'_, T> {
    type Element = T;

    fn shape(&self) -> (usize, usize) {
        MatMut::shape(self)
    }
}

/// A trapezoid that can be cut into its triangle and the rest.
pub(crate) trait Trapezoid: Shape + Sized {
    /// Returns the triangle that begins in the first row and column, and the rest below it (lower) or beside it
    /// (upper).
    fn cut(self, uplo: Uplo) -> (Self, Self);
}

impl<T: Scalar> Trapezoid for MatMut<'_, T> {
    fn cut(self, uplo: Uplo) -> (Self, Self) {
        let order = self.nrows().min(self.ncols());
        if uplo == Uplo::Lower { self.split_at_row(order) } else { self.split_at_col(order) }
    }
}

impl<T: Scalar> Trapezoid for Mat<T> {
    fn cut(self, uplo: Uplo) -> (Self, Self) {
        let Self { m, n, .. } = self;
        let order = m.min(n);
        let rest = match uplo {
            Uplo::Lower => self.submatrix(order..m, 0..n),
            Uplo::Upper => self.submatrix(0..m, order..n),
        };
        (self.submatrix(0..order, 0..order), rest)
    }
}

/// Returns whether the shape is that of a trapezoid of this kind: a lower one may have more rows than columns, an upper
/// one more columns than rows.
fn is_trapezoid(uplo: Uplo, (m, n): (usize, usize)) -> bool {
    if uplo == Uplo::Lower { m >= n } else { n >= m }
}

fn is_square((m, n): (usize, usize)) -> bool {
    m == n
}

/// Returns the mode of an operand that is updated; `keeps` tells whether the old contents are read.
fn updated(keeps: bool) -> Mode {
    if keeps { Mode::ReadWrite } else { Mode::Write }
}

/// Makes a cost of BLAS level 3 from the numbers of multiplications, additions and elements touched.
#[must_use]
pub fn cost<T: Scalar>(multiplications: f64, additions: f64, elements: f64) -> Cost {
    let flops = multiplications * f64::from(T::FLOPS_MUL) + additions * f64::from(T::FLOPS_ADD);
    Cost { flops, bytes: elements * size_of::<T>() as f64, level: Some(BlasLevel::Three) }
}

/// Makes a cost from the number of multiplications, each with an addition, and of elements touched.
fn cost_of<T: Scalar>(products: f64, elements: f64) -> Cost {
    cost::<T>(products, products, elements)
}

/// Converts a shape to `f64`, for costs.
fn reals((m, n): (usize, usize)) -> (f64, f64) {
    (m as f64, n as f64)
}
