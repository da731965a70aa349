//! getrf: the panel of an LU factorization. It is halved recursively (Toledo, "Locality of reference in LU
//! decomposition with partial pivoting", 1997) until one kernel can keep all rows of the remaining columns in registers
//! (see `grid`). The halves are connected by interchanges, a solve and a product.

use super::{
    elements::laswp,
    grid::{Grid, PanelKernels, left_of},
    program::{Family, THREADS},
    stream::{Argument, Launch, Stream},
    triangular,
};
use crate::{
    Diag, Direction, Op, Scalar, Side, Uplo,
    device::Mat,
    operations::{Gemm, Getrf, Laswp, Triangular, TriangularAction},
};
use std::ops::Range;
use superscalar_runtime::DeviceError;

const KERNELS: PanelKernels = PanelKernels {
    grid: Family::Lu,
    cluster: Family::LuCluster,
    names: ["getrf_1", "getrf_2", "getrf_4", "getrf_8"],
    in_place: "getrf_in_place",
    has_square: false,
};

/// A panel, its interchanges, and the state that its kernels share.
struct LuPanel<T: Scalar> {
    a: Mat<T>,
    ipiv: Mat<i32>,
    grid: Grid<T>,
    status: Argument,
}

/// Computes P L U = A, with `first` rows of the matrix above A.
pub(super) fn getrf<T: Scalar>(
    stream: &mut Stream<'_, T>,
    Getrf { a, first, ipiv }: Getrf<T>,
) -> Result<(), DeviceError> {
    let (m, n) = a.shape();
    let k = m.min(n);
    if k == 0 {
        return Ok(());
    }
    let too_many = |_| DeviceError::new(format!("getrf: {m} rows below {first} exceed the range of interchanges"));
    let by =
        i32::try_from(first).and_then(|by| i32::try_from(first.saturating_add(m)).map(|_| by)).map_err(too_many)?;
    let before = stream.scratch.mark();
    let grid = Grid::new(stream, KERNELS, m)?;
    let status = grid.status(stream, "getrf")?;
    let panel = LuPanel { a, ipiv, grid, status };
    panel.factor(stream, 0..k)?;
    if k < n {
        panel.exchange(stream, k..n, 0..k)?;
        panel.solve(stream, 0..k, k..n)?;
    }
    if by > 0 {
        stream.launch(Launch {
            family: Family::Elements,
            kernel: "shift",
            arguments: &[Argument::start(ipiv), Argument::code(k as i32), Argument::code(by)],
            grid: [k.div_ceil(THREADS), 1, 1],
            threads: [THREADS, 1],
        })?;
    }
    stream.scratch.release(before);
    Ok(())
}

impl<T: Scalar> LuPanel<T> {
    /// Computes P L U of the given columns, from the row with the number of the first of them on. Interchanges are
    /// counted from the panel's first row.
    fn factor(&self, stream: &mut Stream<'_, T>, columns: Range<usize>) -> Result<(), DeviceError> {
        let Self { a, ipiv, grid, status } = self;
        let (start, n) = (columns.start, columns.len());
        let part = a.submatrix(start..a.m, columns.clone());
        if grid.fits(part.shape()) {
            let above = start as i32;
            let rows = Argument::start(ipiv.submatrix(columns.clone(), 0..1));
            // Each column takes one turn; turns are counted from one.
            let turn = Argument::code(above + 1);
            grid.factor(stream, part, &[rows, Argument::code(above), turn, grid.row_positions()], *status)?;
            return if grid.is_in_place(part.shape()) {
                self.exchange(stream, columns.clone(), columns)
            } else {
                Ok(())
            };
        }
        let cut = start + left_of(n);
        let (left, right) = (start..cut, cut..columns.end);
        self.factor(stream, left.clone())?;
        self.exchange(stream, right.clone(), left.clone())?;
        self.solve(stream, left.clone(), right.clone())?;
        let factors = (a.submatrix(cut..a.m, left.clone()), a.submatrix(left.clone(), right.clone()));
        let c = a.submatrix(cut..a.m, right.clone());
        Gemm::new((Op::None, Op::None), -T::ONE, factors, T::ONE, c).enqueue(stream)?;
        self.factor(stream, right.clone())?;
        self.exchange(stream, left, right)
    }

    /// Interchanges the rows of the columns `of` by the pivots of the columns `by`.
    fn exchange(&self, stream: &mut Stream<'_, T>, of: Range<usize>, by: Range<usize>) -> Result<(), DeviceError> {
        let Self { a, ipiv, .. } = self;
        let ipiv = vec![ipiv.submatrix(by.clone(), 0..1)];
        let (a, direction) = (a.submatrix(0..a.m, of), Direction::Forward);
        laswp(stream, &Laswp { a, first: by.start, ipiv, direction })
    }

    /// Computes U12 := L11⁻¹ A12.
    fn solve(&self, stream: &mut Stream<'_, T>, left: Range<usize>, right: Range<usize>) -> Result<(), DeviceError> {
        let (side, uplo, op, diag, alpha) = (Side::Left, Uplo::Lower, Op::None, Diag::Unit, T::ONE);
        let (a, b) = (self.a.submatrix(left.clone(), left.clone()), self.a.submatrix(left, right));
        triangular::apply(stream, &Triangular { action: TriangularAction::Solve, side, uplo, op, diag, alpha, a, b })
    }
}
