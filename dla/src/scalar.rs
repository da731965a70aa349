//! [`Scalar`]: the types of element that the routines take.

use crate::{
    auxiliary::Auxiliary, cholesky::Cholesky, condition::Conditions, device_matrix::Transfers, level3::Level3, lu::Lu,
    matrix::Storage, qr::Qr, tiled::Tiling, tuning::HasMeasure,
};
use superscalar_macros::each_type;

/// An element of a matrix: `f32`, `f64`, `c32` or `c64`, with the arithmetic of [`superscalar_kernels::Scalar`]. Sealed.
///
/// Its other supertraits are the routines, which are compiled with this crate for each of the four, and not again in every program.
///
/// ```
/// use superscalar_dla::{Error, Matrix, Options, Scalar, posv};
/// use superscalar_kernels::Uplo;
/// use superscalar_runtime::Runtime;
///
/// fn solution<T: Scalar>(rt: &Runtime, mut a: Matrix<T>, mut b: Matrix<T>) -> Result<Matrix<T>, Error> {
///     posv(rt, Uplo::Lower, a.as_mut(), b.as_mut(), &Options::default())?;
///     Ok(b)
/// }
/// let (a, b) = (Matrix::from_fn(1, 1, |_, _| 4.0), Matrix::from_fn(1, 1, |_, _| 12.0));
/// assert_eq!(solution(&Runtime::new()?, a, b)?.at(0, 0), 3.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[each_type]
#[diagnostic::on_unimplemented(
    message = "the routines do not take matrices of `{Self}`",
    note = "a generic function that calls them takes a `T: superscalar_dla::Scalar`; the `Scalar` of the kernels has no routines"
)]
pub trait Scalar:
    superscalar_kernels::Scalar
    + Level3
    + Lu
    + Qr
    + Cholesky
    + Conditions
    + Auxiliary
    + Tiling
    + Transfers
    + Storage
    + HasMeasure
{
}
