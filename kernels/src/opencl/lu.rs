//! getrf: the panel of an LU factorization. It is halved recursively (Toledo, "Locality of reference in LU
//! decomposition with partial pivoting", 1997) until few columns are left, which many groups factor: one launch for
//! each step (`text/panel_lu.cl`), or one for all steps where groups can wait for each other
//! (`text/panel_lu_together.cl`). One more launch makes the interchanges in all other columns of the panel, so that
//! only a solve and a product connect the halves.

use super::{
    Program,
    elements::interchange,
    panel::{CONCURRENT_ITEMS, ConcurrentGroups, GROUPS_MAX, PANEL_WIDTH, RowGroups},
    product::Product,
    stream::{Argument, Launch, Stream},
    triangular::Triangle,
    view::View,
};
use crate::{
    Diag, Direction, Scalar, Uplo,
    device::Mat,
    operations::{Getrf, TriangularAction},
};
use std::ops::Range;
use superscalar_runtime::DeviceError;

/// A panel, and its interchanges counted from its first row.
struct LuPanel<T> {
    a: Mat<T>,
    moves: Mat<i32>,
    /// An `int` that interchanges may write, but never do.
    status: usize,
    groups: ConcurrentGroups,
}

/// Computes P L U = A, with `first` rows of the matrix above A.
pub(super) fn getrf<T: Scalar>(stream: &mut Stream<'_>, Getrf { a, first, ipiv }: Getrf<T>) -> Result<(), DeviceError> {
    let (m, n) = a.shape();
    let k = m.min(n);
    if k == 0 {
        return Ok(());
    }
    let last = first.checked_add(m).filter(|&last| i32::try_from(last).is_ok());
    last.ok_or_else(|| DeviceError::new(format!("getrf: {m} rows below {first} exceed the range of interchanges")))?;
    let before = stream.scratch.mark();
    let moves = Mat::at(stream.scratch.take::<i32>(k)?, (k, 1), k);
    let (status, groups) = (stream.scratch.take::<i32>(1)?, ConcurrentGroups::new::<T>(stream, m, 0)?);
    for groups in groups.forms(stream) {
        let mut panel = LuPanel { a, moves, status, groups };
        panel.factor(stream, 0..k)?;
        panel.solve(stream, 0..k, k..n)?;
    }
    let arguments = &[Argument::Offset(moves.offset), Argument::Offset(ipiv.offset), Argument::Count(first)];
    stream.launch(Launch { program: Program::PanelLu, kernel: "shift", arguments, groups: [k, 1], local: [1, 1] })?;
    stream.scratch.release(before);
    Ok(())
}

impl<T: Scalar> LuPanel<T> {
    /// Computes P L U of the given columns, from the row with the number of the first of them on, and makes the
    /// interchanges in all columns. Interchanges are counted from the panel's first row.
    fn factor(&mut self, stream: &mut Stream<'_>, columns: Range<usize>) -> Result<(), DeviceError> {
        if columns.len() <= self.groups.width {
            self.steps(stream, columns.clone())?;
            return self.exchange(stream, columns);
        }
        let cut = columns.start + (columns.len() / 2).next_multiple_of(self.groups.width);
        let (left, right) = (columns.start..cut, cut..columns.end);
        self.factor(stream, left.clone())?;
        self.solve(stream, left.clone(), right.clone())?;
        let a = View::of(self.a);
        let (l, u) = (a.part(cut..a.m, left.clone()), a.part(left, right.clone()));
        Product::adding(-T::ONE, l, u, a.part(cut..a.m, right.clone())).run(stream)?;
        self.factor(stream, right)
    }

    /// Factors few columns.
    fn steps(&mut self, stream: &mut Stream<'_>, columns: Range<usize>) -> Result<(), DeviceError> {
        let (start, w) = (columns.start, columns.len());
        let a = self.a.submatrix(start..self.a.m, columns);
        let RowGroups { rows, groups } = self.groups.divide(a.m, &stream.parameters);
        let before = stream.scratch.mark();
        // Rows, sizes and numbers: see the kernel.
        let elements = 2 * (GROUPS_MAX + 1) * PANEL_WIDTH + 4 * GROUPS_MAX;
        let state = Argument::Offset(stream.scratch.take::<T>(elements)?);
        let [at, ld, ipiv] = [a.offset, a.ld, self.moves.offset + start].map(Argument::Offset);
        let [m, columns, rows, above] = [a.m, w, rows, start].map(Argument::Count);
        if self.groups.exist() {
            let [count, arrived] = self.groups.arrive(w * groups);
            stream.launch(Launch {
                program: Program::PanelLuTogether,
                kernel: "getrf_together",
                arguments: &[at, ld, m, columns, rows, above, state, ipiv, count, arrived],
                groups: [groups, 1],
                local: [CONCURRENT_ITEMS, 1],
            })?;
        } else {
            for j in 0..=w {
                stream.launch(Launch {
                    program: Program::PanelLu,
                    kernel: "getrf_step",
                    arguments: &[at, ld, m, columns, Argument::Count(j), rows, above, state, ipiv],
                    groups: [groups, 1],
                    local: [stream.parameters.work_items, 1],
                })?;
            }
        }
        stream.scratch.release(before);
        Ok(())
    }

    /// Makes the interchanges of factored columns in all others.
    fn exchange(&self, stream: &mut Stream<'_>, factored: Range<usize>) -> Result<(), DeviceError> {
        let moves = self.moves.submatrix(factored.clone(), 0..1);
        interchange(stream, (self.a, factored.clone()), (factored.start, moves), Direction::Forward, self.status)
    }

    /// Computes U12 := L11⁻¹ A12.
    fn solve(&self, stream: &mut Stream<'_>, left: Range<usize>, right: Range<usize>) -> Result<(), DeviceError> {
        let a = View::of(self.a);
        let l11 = Triangle { uplo: Uplo::Lower, diag: Diag::Unit, a: a.part(left.clone(), left.clone()) };
        l11.apply::<T>(stream, TriangularAction::Solve, a.part(left, right))
    }
}
