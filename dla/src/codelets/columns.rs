//! Operations on block columns: LU panels, row interchanges, and solves and updates between parts of columns.

use super::{
    TileMut, TileMutHandle, TriangleForm, cost, mat, panel,
    tiles::{TilePart, TileRole},
};
use crate::Scalar;
use std::ops::Range;
use superscalar_kernels::{
    Direction, Op, Side, cpu,
    device::{Call, on_devices},
    operations::{self, Gemm, Triangular, TriangularAction},
};
use superscalar_runtime::{BlasLevel, Codelet, Cost, Lent, Nesting, Reads, Scope, TaskSpec, Updates, Writes};

/// Handle of the interchanges of one panel.
type Interchanges<'s> = Lent<'s, [i32]>;
/// Accesses of a panel task.
type GetrfAccess<'s, T> = (Updates<TileMut<'s, T>>, Writes<[i32]>);
/// Accesses of a task that interchanges rows.
type LaswpAccess<'s, T> = (Vec<Reads<[i32]>>, Updates<TileMut<'s, T>>);

/// Codelet that factors a panel: P L U = A for the given rows of a block column.
pub(crate) struct Getrf<'s, T: Scalar>(Codelet<GetrfAccess<'s, T>, Panel<'s>>);

/// Rows and columns of a panel, and the means to insert subtasks.
struct Panel<'s> {
    rows: Range<usize>,
    cols: usize,
    nesting: Nesting<'s>,
}

impl<'s, T: Scalar> Getrf<'s, T> {
    pub(crate) fn new() -> Self {
        let codelet = Codelet::new("getrf").cost(|p: &Panel<'s>| {
            let (m, n) = (p.rows.len() as f64, p.cols as f64);
            let half = n * n * (m - n / 3.0) / 2.0;
            Cost { level: Some(BlasLevel::Two), ..cost::<T>(half, half, m * n) }
        });
        let codelet = codelet.on_host(|(a, ipiv): (&mut TileMut<'s, T>, &mut [i32]), p: &Panel<'s>| {
            panel::getrf(p.nesting, a.view_mut().submatrix(p.rows.clone(), 0..p.cols), ipiv)?;
            ipiv.iter_mut().for_each(|p_i| *p_i += p.rows.start as i32);
            Ok(())
        });
        Self(on_devices(codelet, |(a, ipiv), p: &Panel<'s>| {
            let a = mat::<T, _>(a)?.submatrix(p.rows.clone(), 0..p.cols);
            Ok(Call::Getrf(operations::Getrf { a, first: p.rows.start, ipiv: mat(ipiv)? }))
        }))
    }

    /// Inserts a panel task. The interchanges are counted from one, relative to the first row of the matrix.
    #[track_caller]
    pub(crate) fn spawn(
        &self,
        s: &'s Scope<'s, '_>,
        spec: TaskSpec,
        (rows, cols): (Range<usize>, usize),
        a: TileMutHandle<'s, T>,
        ipiv: Interchanges<'s>,
    ) {
        self.0.spawn_as(s, spec, (a.read_write(), ipiv.write()), Panel { rows, cols, nesting: s.nesting() });
    }
}

/// Codelet that interchanges rows of a block column.
pub(crate) struct Laswp<'s, T: Scalar>(Codelet<LaswpAccess<'s, T>, RowInterchanges>);

/// Range and order of the interchanges, and the width of the block column.
pub(crate) struct RowInterchanges {
    /// The first row that is interchanged.
    pub(crate) first: usize,
    /// Number of interchanges.
    pub(crate) count: usize,
    pub(crate) direction: Direction,
    /// Columns of the block column.
    pub(crate) n: usize,
}

impl<'s, T: Scalar> Laswp<'s, T> {
    pub(crate) fn new() -> Self {
        let codelet = Codelet::new("laswp").cost(|p: &RowInterchanges| {
            let elements = 4.0 * p.count as f64 * p.n as f64;
            Cost { level: Some(BlasLevel::One), ..cost::<T>(0.0, 0.0, elements) }
        });
        let codelet = codelet.on_host(|(ipiv, a): (Vec<&[i32]>, &mut TileMut<'s, T>), p: &RowInterchanges| {
            cpu::laswp(a.view_mut(), p.first, &ipiv.concat(), p.direction);
            Ok(())
        });
        Self(on_devices(codelet, |(ipiv, a), &RowInterchanges { first, direction, .. }: &RowInterchanges| {
            let ipiv = ipiv.into_iter().map(mat).collect::<Result<_, _>>()?;
            Ok(Call::Laswp(operations::Laswp { a: mat::<T, _>(a)?, first, ipiv, direction }))
        }))
    }

    /// Inserts the task that applies the interchanges `ipiv` of successive panels to a block column.
    #[track_caller]
    pub(crate) fn spawn(
        &self,
        s: &'s Scope<'s, '_>,
        spec: TaskSpec,
        interchanges: RowInterchanges,
        ipiv: &[Interchanges<'s>],
        a: TileMutHandle<'s, T>,
    ) {
        let ipiv: Vec<_> = ipiv.iter().map(|block| block.read()).collect();
        self.0.spawn_as(s, spec, (ipiv, a.read_write()), interchanges);
    }
}

/// Returns the operation B[rows] := op(A[rows])⁻¹ B[rows], where A[rows] is square and triangular and B has `nrhs`
/// columns.
pub(crate) fn triangular_solve<T: Scalar>(
    rows: Range<usize>,
    TriangleForm { uplo, op, diag }: TriangleForm,
    nrhs: usize,
) -> Triangular<T, TilePart<T>> {
    let (a, b) =
        (TilePart::rows(TileRole::First, rows.clone(), rows.len()), TilePart::rows(TileRole::Updated, rows, nrhs));
    Triangular { action: TriangularAction::Solve, side: Side::Left, uplo, op, diag, alpha: T::ONE, a, b }
}

/// Returns the operation B[changed] := B[changed] − op(A[a]) B[by], where A[a] has `a_cols` columns and B has n. The
/// ranges `by` and `changed` must not overlap.
pub(crate) fn elimination<T: superscalar_kernels::Scalar>(
    op: Op,
    (a, a_cols): (Range<usize>, usize),
    by: Range<usize>,
    changed: Range<usize>,
    n: usize,
) -> Gemm<T, TilePart<T>> {
    let factors = (TilePart::rows(TileRole::First, a, a_cols), TilePart::rows(TileRole::Updated, by, n));
    Gemm::new((op, Op::None), -T::ONE, factors, T::ONE, TilePart::rows(TileRole::Updated, changed, n))
}
