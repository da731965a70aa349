//! geqrf: the panel of a QR factorization. It is halved recursively (Elmroth and Gustavson, "Applying recursion to
//! serial and parallel QR factorization leads to better performance", 2000) until one kernel can keep all rows of the
//! remaining columns in registers (see `grid`). The kernel also forms the triangular factor; products join the factors
//! of two halves.

use super::{
    elements::{complete, scale},
    grid::{Grid, PanelKernels, left_of},
    program::Family,
    reflector::larfb,
    stream::{Argument, Stream},
};
use crate::{
    Op, Scalar, Side,
    device::Mat,
    operations::{Gemm, Geqrf, Larfb},
};
use std::ops::Range;
use superscalar_runtime::DeviceError;

const KERNELS: PanelKernels = PanelKernels {
    grid: Family::Qr,
    cluster: Family::QrCluster,
    names: ["geqrf_1", "geqrf_2", "geqrf_4", "geqrf_8"],
    in_place: "geqrf_in_place",
    has_square: true,
};

/// A panel, its triangular factor, and the state that its kernels share.
struct QrPanel<T: Scalar> {
    a: Mat<T>,
    t: Mat<T>,
    tau: Mat<T>,
    grid: Grid<T>,
    status: Argument,
}

/// Computes Q R = A.
pub(super) fn geqrf<T: Scalar>(stream: &mut Stream<'_, T>, Geqrf { a, t, tau }: Geqrf<T>) -> Result<(), DeviceError> {
    let (m, n) = a.shape();
    let k = m.min(n);
    if k == 0 {
        return Ok(());
    }
    let before = stream.scratch.mark();
    let grid = Grid::new(stream, KERNELS, m)?;
    let status = grid.status(stream, "geqrf")?;
    QrPanel { a, t, tau, grid, status }.factor(stream, 0..k)?;
    if k < n {
        let (v, c) = (a.submatrix(0..m, 0..k), a.submatrix(0..m, k..n));
        larfb(stream, Larfb { side: Side::Left, op: Op::ConjTrans, v, t, c })?;
    }
    stream.scratch.release(before);
    Ok(())
}

impl<T: Scalar> QrPanel<T> {
    /// Computes Q R of the given columns, from the row with the number of the first of them on.
    fn factor(&self, stream: &mut Stream<'_, T>, columns: Range<usize>) -> Result<(), DeviceError> {
        let Self { a, t, tau, grid, status } = self;
        let (start, n) = (columns.start, columns.len());
        let part = a.submatrix(start..a.m, columns.clone());
        if grid.fits(part.shape()) {
            let t = t.submatrix(columns.clone(), columns.clone());
            let tau = Argument::start(tau.submatrix(columns, 0..1));
            // Each column takes at most three turns; turns are counted from one.
            let turn = Argument::code(3 * start as i32 + 1);
            return grid.factor(stream, part, &[tau, Argument::start(t), Argument::index(t.ld), turn], *status);
        }
        let cut = start + left_of(n);
        let (left, right) = (start..cut, cut..columns.end);
        self.factor(stream, left.clone())?;
        let (v, t1) = (a.submatrix(start..a.m, left.clone()), t.submatrix(left.clone(), left.clone()));
        let c = a.submatrix(start..a.m, right.clone());
        larfb(stream, Larfb { side: Side::Left, op: Op::ConjTrans, v, t: t1, c })?;
        self.factor(stream, right.clone())?;
        self.join(stream, left, right)
    }

    /// Computes T12 = −T1 (V1ᴴ V2) T2 from the stored T1 and T2 of two halves, and stores zeros in T21.
    fn join(&self, stream: &mut Stream<'_, T>, left: Range<usize>, right: Range<usize>) -> Result<(), DeviceError> {
        let Self { a, t, .. } = self;
        let (half, rest, m) = (left.len(), right.len(), a.m);
        let before = stream.scratch.mark();
        let (unit, y, x) = (stream.take((rest, rest))?, stream.take((half, rest))?, stream.take((half, rest))?);
        let below = right.end..m;
        complete(stream, a.submatrix(right.clone(), right.clone()), unit)?;
        let product = |ops, alpha, a, b, beta, c| Gemm::new(ops, alpha, (a, b), beta, c);
        let (none, adjoint) = ((Op::None, Op::None), (Op::ConjTrans, Op::None));
        product(adjoint, T::ONE, a.submatrix(right.clone(), left.clone()), unit, T::ZERO, y).enqueue(stream)?;
        let (v1, v2) = (a.submatrix(below.clone(), left.clone()), a.submatrix(below, right.clone()));
        product(adjoint, T::ONE, v1, v2, T::ONE, y).enqueue(stream)?;
        product(none, T::ONE, y, t.submatrix(right.clone(), right.clone()), T::ZERO, x).enqueue(stream)?;
        let (t1, t12) = (t.submatrix(left.clone(), left.clone()), t.submatrix(left.clone(), right.clone()));
        product(none, -T::ONE, t1, x, T::ZERO, t12).enqueue(stream)?;
        scale(stream, None, T::ZERO, t.submatrix(right, left))?;
        stream.scratch.release(before);
        Ok(())
    }
}
