//! [`HalfCall`]: products in half precision in a device's heap.

use super::{
    Heap, Mat, MatrixUse,
    check::{MatrixList, check_columns, check_overlaps},
    heap::HeapViews,
    reals, updated,
};
use crate::{
    Half, HalfResult, Op,
    cpu::{gemm_half, round_sum},
};
use superscalar_runtime::{BlasLevel, Cost, DeviceError, Mode};

/// One operation on matrices in half precision in a device's heap. Products are summed in single precision, and a
/// result is rounded once. A matrix that is written must not overlap another one.
#[derive(Clone, Copy, Debug)]
pub enum HalfCall<H> {
    /// A product.
    Gemm(HalfGemm<H>),
    /// The last step of a product that was summed in single precision.
    Round(HalfRound<H>),
}

/// C := alpha op(A) op(B) + beta C. C is not read if beta = 0; A and B are not read if alpha = 0.
#[derive(Clone, Copy, Debug)]
pub struct HalfGemm<H> {
    /// The operation applied to A.
    pub op_a: Op,
    /// The operation applied to B.
    pub op_b: Op,
    /// The factor of the product.
    pub alpha: f32,
    /// A.
    pub a: Mat<H>,
    /// B.
    pub b: Mat<H>,
    /// The factor of C.
    pub beta: f32,
    /// C.
    pub c: HalfTarget<H>,
}

/// The result of a product.
#[derive(Clone, Copy, Debug)]
pub enum HalfTarget<H> {
    /// It is rounded to half precision.
    Half(Mat<H>),
    /// It stays in single precision.
    Single(Mat<f32>),
}

/// C := S + beta C, rounded to the precision of C. C is not read if beta = 0.
#[derive(Clone, Copy, Debug)]
pub struct HalfRound<H> {
    /// S, in single precision.
    pub sum: Mat<f32>,
    /// The factor of C.
    pub beta: f32,
    /// C.
    pub c: HalfTarget<H>,
}

impl<H: Half> HalfTarget<H> {
    /// Returns the result that is this matrix.
    #[must_use]
    pub fn of<C: HalfResult<H>>(c: Mat<C>) -> Self {
        if C::IS_SINGLE { Self::Single(c.retyped()) } else { Self::Half(c.retyped()) }
    }

    /// Returns the numbers of rows and columns.
    #[must_use]
    pub fn shape(&self) -> (usize, usize) {
        match self {
            Self::Half(c) => c.shape(),
            Self::Single(c) => c.shape(),
        }
    }

    /// Begins the list of a call's matrices.
    fn listed<'c>(self, beta: f32) -> MatrixList<'c> {
        let mode = updated(beta != 0.0);
        match self {
            Self::Half(c) => MatrixList::new().with("C", mode, c),
            Self::Single(c) => MatrixList::new().with("C", mode, c),
        }
    }
}

impl<H: Half> HalfCall<H> {
    /// Returns the name of the operation.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Gemm(_) => "gemm_half",
            Self::Round(_) => "round_half",
        }
    }

    /// Returns every matrix that the call uses; the one that it writes comes first.
    pub fn matrices(&self) -> impl Iterator<Item = MatrixUse> {
        let list = match *self {
            Self::Gemm(HalfGemm { a, b, beta, c, .. }) => {
                c.listed(beta).with("A", Mode::Read, a).with("B", Mode::Read, b)
            }
            Self::Round(HalfRound { sum, beta, c }) => c.listed(beta).with("S", Mode::Read, sum),
        };
        list.iter()
    }

    /// Checks that shapes agree, columns do not overlap, and the matrix that is written overlaps no other.
    ///
    /// # Errors
    /// If the call cannot be carried out; the message names the operation and the matrices.
    pub fn check(&self) -> Result<(), DeviceError> {
        self.check_shapes()?;
        check_overlaps(self.name(), || self.matrices())
    }

    /// Does the checks of [`check`](Self::check) that do not need the places of the matrices, for operands that have
    /// none yet.
    ///
    /// # Errors
    /// Like [`check`](Self::check), except for overlaps of different matrices.
    pub fn check_shapes(&self) -> Result<(), DeviceError> {
        check_columns(self.name(), self.matrices())?;
        let (agree, shapes) = match self {
            Self::Gemm(HalfGemm { op_a, op_b, a, b, c, .. }) => {
                let ((m, k), (l, n)) = (op_a.shape(a.shape()), op_b.shape(b.shape()));
                (k == l && c.shape() == (m, n), [c.shape(), a.shape(), b.shape()])
            }
            Self::Round(HalfRound { sum, c, .. }) => (sum.shape() == c.shape(), [c.shape(), sum.shape(), sum.shape()]),
        };
        if agree { Ok(()) } else { Err(DeviceError::new(format!("{}: shapes do not agree: {shapes:?}", self.name()))) }
    }

    /// Carries out a checked call on any heap, with the host's kernels.
    ///
    /// # Safety
    /// [`check`](Self::check) has accepted the call. Until this returns, nobody else writes the matrices of the call,
    /// and nobody else reads those that it writes.
    pub(crate) unsafe fn run(&self, heap: &dyn Heap) -> Result<(), DeviceError> {
        // SAFETY: the call was checked, and by this function's contract nobody else uses its matrices until it returns.
        // Each matrix is asked for once, and no other `HeapViews` of them exists.
        let mut views = unsafe { HeapViews::new(heap) };
        match *self {
            Self::Gemm(HalfGemm { op_a, op_b, alpha, a, b, beta, c }) => {
                let (a, b) = (views.view(a)?, views.view(b)?);
                match c {
                    HalfTarget::Half(c) => gemm_half(alpha, op_a, a, op_b, b, beta, views.view_mut(c)?),
                    HalfTarget::Single(c) => gemm_half(alpha, op_a, a, op_b, b, beta, views.view_mut(c)?),
                }
            }
            Self::Round(HalfRound { sum, beta, c }) => {
                let sum = views.view(sum)?;
                match c {
                    HalfTarget::Half(c) => round_sum::<H, _>(sum, beta, views.view_mut(c)?),
                    HalfTarget::Single(c) => round_sum::<H, _>(sum, beta, views.view_mut(c)?),
                }
            }
        }
        Ok(())
    }
}

/// Returns the cost of a product of an m x k and a k x n matrix, whose result has elements of so many bytes.
#[must_use]
pub fn cost_of_half_product<H: Half>(shape: (usize, usize), k: usize, result_bytes: usize) -> Cost {
    let ((m, n), k) = (reals(shape), k as f64);
    let bytes = (m * k + k * n) * size_of::<H>() as f64 + 2.0 * m * n * result_bytes as f64;
    Cost { flops: 2.0 * m * n * k, bytes, level: Some(BlasLevel::Three) }
}
