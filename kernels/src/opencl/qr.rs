//! geqrf: the panel of a QR factorization, with its triangular factor. It is halved recursively (Elmroth and Gustavson,
//! "Applying recursion to serial and parallel QR factorization leads to better performance", 2000) until few columns
//! are left, which many groups factor step by step (`text/panel_qr.cl`, `text/panel_qr_together.cl`). Products join the
//! factors of two halves.

use super::{
    Program,
    elements::scale,
    panel::{CONCURRENT_ITEMS, ConcurrentGroups, GROUPS_MAX, PANEL_WIDTH, RowGroups},
    product::Product,
    reflector::larfb,
    stream::{Argument, Launch, Stream},
    tall::adjoint_product,
    view::{Structure, View},
};
use crate::{
    Op, Scalar, Side, Uplo,
    device::Mat,
    operations::{Geqrf, Larfb},
};
use std::ops::Range;
use superscalar_runtime::DeviceError;

/// Computes Q R = A.
pub(super) fn geqrf<T: Scalar>(stream: &mut Stream<'_>, Geqrf { a, t, tau }: Geqrf<T>) -> Result<(), DeviceError> {
    let (m, n) = a.shape();
    let k = m.min(n);
    if k == 0 {
        return Ok(());
    }
    let before = stream.scratch.mark();
    let groups = ConcurrentGroups::new::<T>(stream, m, GROUPS_WITHOUT_ROWS)?;
    for groups in groups.forms(stream) {
        QrPanel { a, t, tau, groups }.factor(stream, 0..k)?;
    }
    stream.scratch.release(before);
    let (v, c) = (a.submatrix(0..m, 0..k), a.submatrix(0..m, k..n));
    larfb(stream, Larfb { side: Side::Left, op: Op::ConjTrans, v, t, c })
}

/// One more group of a launch computes T.
const GROUPS_WITHOUT_ROWS: usize = 1;

/// A panel, its triangular factor, and the scalar factors of its reflectors.
struct QrPanel<T> {
    a: Mat<T>,
    t: Mat<T>,
    tau: Mat<T>,
    groups: ConcurrentGroups,
}

impl<T: Scalar> QrPanel<T> {
    /// Computes Q R of the given columns, from the row with the number of the first of them on.
    fn factor(&mut self, stream: &mut Stream<'_>, columns: Range<usize>) -> Result<(), DeviceError> {
        if columns.len() <= self.groups.width {
            return self.steps(stream, columns);
        }
        let Self { a, t, groups, .. } = *self;
        let cut = columns.start + (columns.len() / 2).next_multiple_of(groups.width);
        let (left, right) = (columns.start..cut, cut..columns.end);
        self.factor(stream, left.clone())?;
        let below = columns.start..a.m;
        let (v, c) = (a.submatrix(below.clone(), left.clone()), a.submatrix(below, right.clone()));
        let t1 = t.submatrix(left.clone(), left.clone());
        larfb(stream, Larfb { side: Side::Left, op: Op::ConjTrans, v, t: t1, c })?;
        self.factor(stream, right.clone())?;
        self.join(stream, left, right)
    }

    /// Computes T12 = −T1 (V1ᴴ V2) T2 from the stored T1 and T2 of two halves, and stores zeros in T21.
    fn join(&self, stream: &mut Stream<'_>, left: Range<usize>, right: Range<usize>) -> Result<(), DeviceError> {
        let (a, t) = (View::of(self.a), View::of(self.t));
        let (half, rest) = (left.len(), right.len());
        let before = stream.scratch.mark();
        let y = View::dense(stream.scratch.take::<T>(half * rest)?, half, rest);
        let x = View::dense(stream.scratch.take::<T>(half * rest)?, half, rest);
        let set = |alpha, a, b, c| Product { beta: T::ZERO, ..Product::adding(alpha, a, b, c) };
        let below = right.start..a.m;
        let v1 = a.part(below.clone(), left.clone());
        let v2 = a.part(below, right.clone()).structured(Structure::UnitTriangle(Uplo::Lower));
        adjoint_product::<T>(stream, v1, v2, y)?;
        set(T::ONE, y, t.part(right.clone(), right.clone()), x).run(stream)?;
        set(-T::ONE, t.part(left.clone(), left.clone()), x, t.part(left.clone(), right.clone())).run(stream)?;
        scale(stream, None, T::ZERO, t.part(right, left))?;
        stream.scratch.release(before);
        Ok(())
    }

    /// Factors few columns step by step.
    fn steps(&mut self, stream: &mut Stream<'_>, columns: Range<usize>) -> Result<(), DeviceError> {
        let (start, w) = (columns.start, columns.len());
        let a = self.a.submatrix(start..self.a.m, columns.clone());
        let t = self.t.submatrix(columns.clone(), columns);
        let RowGroups { rows, groups } = self.groups.divide(a.m, &stream.parameters);
        let all = groups + GROUPS_WITHOUT_ROWS;
        let before = stream.scratch.mark();
        // Sums, rows and sizes: see the kernel.
        let state = stream.scratch.take::<T>(2 * (GROUPS_MAX + 1) * PANEL_WIDTH + 2 * GROUPS_MAX)?;
        let [at, ld, state] = [a.offset, a.ld, state].map(Argument::Offset);
        let [m, columns, rows] = [a.m, w, rows].map(Argument::Count);
        let [tau, t, ldt] = [self.tau.offset + start, t.offset, t.ld].map(Argument::Offset);
        if self.groups.exist() {
            let [count, arrived] = self.groups.arrive((w + 1) * all);
            stream.launch(Launch {
                program: Program::PanelQrTogether,
                kernel: "geqrf_together",
                arguments: &[at, ld, m, columns, rows, state, tau, t, ldt, count, arrived],
                groups: [all, 1],
                local: [CONCURRENT_ITEMS, 1],
            })?;
        } else {
            for j in 0..=w {
                stream.launch(Launch {
                    program: Program::PanelQr,
                    kernel: "geqrf_step",
                    arguments: &[at, ld, m, columns, Argument::Count(j), rows, state, tau, t, ldt],
                    groups: [all, 1],
                    local: [stream.parameters.work_items, 1],
                })?;
            }
        }
        stream.scratch.release(before);
        Ok(())
    }
}
