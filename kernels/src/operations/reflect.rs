//! Block reflectors.

use super::{
    Mat,
    check::{HeapOperation, MatrixList},
    heap::HeapViews,
    symmetric,
};
use crate::{
    Op, Scalar, Side, Symmetry,
    cpu::{self, BlockReflector},
};
use superscalar_runtime::{DeviceError, Mode};

/// C := op(Q) C or C op(Q), where Q = I − V T Vᴴ; V is unit lower trapezoidal, T upper triangular.
#[derive(Clone, Copy, Debug)]
pub struct Larfb<T> {
    /// The side of Q.
    pub side: Side,
    /// The operation applied to Q.
    pub op: Op,
    /// V.
    pub v: Mat<T>,
    /// T.
    pub t: Mat<T>,
    /// C.
    pub c: Mat<T>,
}

impl<T: Scalar> HeapOperation<T> for Larfb<T> {
    fn name(&self) -> &'static str {
        "larfb"
    }

    fn matrices(&self) -> MatrixList<'_> {
        let list = MatrixList::new().with("C", Mode::ReadWrite, self.c);
        list.with("V", Mode::Read, self.v).with("T", Mode::Read, self.t)
    }

    fn agrees(&self) -> bool {
        let ((m, k), (rows, cols)) = (self.v.shape(), self.t.shape());
        let fits = m >= k && self.side.order(self.c.shape()) == m && cols == k;
        fits && (k == 0 || (1..=k).contains(&rows))
    }

    fn unsupported_option(&self) -> Option<&'static str> {
        symmetric::unsupported_op::<T>(Symmetry::Hermitian, self.op)
    }

    fn run(&self, at: &mut HeapViews<'_>) -> Result<(), DeviceError> {
        let q = BlockReflector::new(at.view(self.v)?, at.view(self.t)?);
        cpu::larfb(self.side, self.op, q, at.view_mut(self.c)?);
        Ok(())
    }
}
