//! The codelets of block columns: LU's panel and interchanges, and solves and eliminations among parts of columns.

use super::{Changed, OnOne, OnTwo, cost, mat, panel, team::Team};
use crate::{Scalar, parts::by_rows, tiled::Tile};
use std::ops::Range;
use superscalar_kernels::{
    Diag, Direction, MatMut, Op, Side, TileView, Uplo, cpu,
    device::{Call, Mat, Triangle, on_devices, panels_on_devices},
};
use superscalar_runtime::{BlasLevel, Codelet, Cost, Lent, Nesting, Reads, Scope, TaskSpec, Updates, Writes};

/// A block column that tasks change, as a handle.
type Column<'s, T> = Lent<'s, Changed<'s, T>>;
/// Interchanges of a block of rows, as a handle.
type Interchanges<'s> = Lent<'s, [i32]>;
/// What a panel task changes.
type OnPanel<'s, T> = (Updates<Changed<'s, T>>, Writes<[i32]>);
/// What an interchange of rows reads and changes.
type OnRows<'s, T> = (Vec<Reads<[i32]>>, Updates<Changed<'s, T>>);

/// P L U of the rows of a block column from one on: a panel.
pub(crate) struct Getrf<'s, T: Scalar>(Codelet<OnPanel<'s, T>, Panel<'s>>);

/// The rows of a panel, and its columns; and what it needs to hand out parts of its work.
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
        let codelet = codelet.on_host(|(a, ipiv): (&mut Changed<'s, T>, &mut [i32]), p: &Panel<'s>| {
            panel::getrf(p.nesting, a.view_mut().submatrix(p.rows.clone(), 0..p.cols), ipiv)?;
            ipiv.iter_mut().for_each(|p_i| *p_i += p.rows.start as i32);
            Ok(())
        });
        Self(panels_on_devices(codelet, |(a, ipiv), p: &Panel<'s>| {
            let a = mat::<T, _>(a)?.submatrix(p.rows.clone(), 0..p.cols);
            Ok(Call::Getrf { a, first: p.rows.start, ipiv: mat(ipiv)? })
        }))
    }

    /// The interchanges are counted from one, from the first row of the matrix.
    #[track_caller]
    pub(crate) fn insert(
        &self,
        s: &'s Scope<'s, '_>,
        spec: TaskSpec,
        (rows, cols): (Range<usize>, usize),
        a: Column<'s, T>,
        ipiv: Interchanges<'s>,
    ) {
        self.0.insert(s, spec, (a.read_write(), ipiv.write()), Panel { rows, cols, nesting: s.nesting() });
    }
}

/// Interchanges rows of a block column.
pub(crate) struct Laswp<'s, T: Scalar>(Codelet<OnRows<'s, T>, Exchange>);

/// Where interchanges of rows begin, how many there are, and their order; and columns of the block column.
struct Exchange {
    first: usize,
    count: usize,
    direction: Direction,
    n: usize,
}

impl<'s, T: Scalar> Laswp<'s, T> {
    pub(crate) fn new() -> Self {
        let codelet = Codelet::new("laswp").cost(|p: &Exchange| {
            let elements = 4.0 * p.count as f64 * p.n as f64;
            Cost { level: Some(BlasLevel::One), ..cost::<T>(0.0, 0.0, elements) }
        });
        let codelet = codelet.on_host(|(ipiv, a): (Vec<&[i32]>, &mut Changed<'s, T>), p: &Exchange| {
            cpu::laswp(a.view_mut(), p.first, &ipiv.concat(), p.direction);
            Ok(())
        });
        Self(on_devices(codelet, |(ipiv, a), &Exchange { first, direction, .. }: &Exchange| {
            let ipiv = ipiv.into_iter().map(mat).collect::<Result<_, _>>()?;
            Ok(Call::Laswp { a: mat::<T, _>(a)?, first, ipiv, direction })
        }))
    }

    /// Exchanges the rows from `first` on with those that the interchanges of successive blocks name, `count` in all, in a block
    /// column of n columns.
    #[track_caller]
    pub(crate) fn insert(
        &self,
        s: &'s Scope<'s, '_>,
        spec: TaskSpec,
        (first, count, direction): (usize, usize, Direction),
        ipiv: &[Interchanges<'s>],
        (a, n): (Column<'s, T>, usize),
    ) {
        let ipiv: Vec<_> = ipiv.iter().map(|block| block.read()).collect();
        self.0.insert(s, spec, (ipiv, a.read_write()), Exchange { first, count, direction, n });
    }
}

/// B[rows] := op(A[rows])⁻¹ B[rows], where A[rows] is square and triangular.
pub(crate) struct TrsmOfColumns<'s, T: Scalar, V: TileView>(OnTwo<'s, T, V, System>);

struct System {
    rows: Range<usize>,
    triangle: (Uplo, Op, Diag),
    nrhs: usize,
}

impl<'s, T: Scalar, V: TileView<Element = T>> TrsmOfColumns<'s, T, V> {
    pub(crate) fn new() -> Self {
        let codelet = Codelet::new("trsm").cost(|p: &System| {
            let (n, nrhs) = (p.rows.len() as f64, p.nrhs as f64);
            cost::<T>(n * n * nrhs / 2.0, n * n * nrhs / 2.0, n * n / 2.0 + 2.0 * n * nrhs)
        });
        let codelet = codelet.on_host(|(a, b): (&Tile<V>, &mut Changed<'s, T>), p: &System| {
            let ((uplo, op, diag), n) = (p.triangle, p.rows.len());
            let a = a.view().submatrix(p.rows.clone(), 0..n);
            let b = b.view_mut();
            let nrhs = b.ncols();
            cpu::trsm(Side::Left, uplo, op, diag, T::ONE, a, b.submatrix(p.rows.clone(), 0..nrhs));
            Ok(())
        });
        Self(on_devices(codelet, |(a, b), p: &System| {
            let (a, b): (Mat<T>, Mat<T>) = (mat(a)?, mat(b)?);
            let ((uplo, op, diag), rows) = (p.triangle, &p.rows);
            let (a, b) = (a.submatrix(rows.clone(), 0..rows.len()), b.submatrix(rows.clone(), 0..b.n));
            Ok(Call::Trsm(Triangle { side: Side::Left, uplo, op, diag, alpha: T::ONE, a, b }))
        }))
    }

    #[track_caller]
    pub(crate) fn insert(
        &self,
        s: &'s Scope<'s, '_>,
        spec: TaskSpec,
        (rows, triangle, nrhs): (Range<usize>, (Uplo, Op, Diag), usize),
        a: Lent<'s, Tile<V>>,
        b: Column<'s, T>,
    ) {
        self.0.insert(s, spec, (a.read(), b.read_write()), System { rows, triangle, nrhs });
    }
}

/// B[changed] := B[changed] − op(A[of]) B[by], where A[of] is what lies beside the changed rows, or above or below the diagonal.
pub(crate) struct GemmOfColumns<'s, T: Scalar, V: TileView>(OnTwo<'s, T, V, Elimination<'s>>);

/// The parts of a product of two block columns.
#[derive(Clone)]
pub(crate) struct Elimination<'s> {
    pub(crate) op: Op,
    /// Rows of the block column A, and how many of its columns.
    pub(crate) a: Range<usize>,
    pub(crate) a_cols: usize,
    /// Rows of B that are multiplied.
    pub(crate) by: Range<usize>,
    /// Rows of B that are changed: other ones.
    pub(crate) changed: Range<usize>,
    /// Columns of B.
    pub(crate) n: usize,
    /// What it takes to hand out rows of the product, if others wait for it.
    pub(crate) nesting: Option<Nesting<'s>>,
}

impl<'s, T: Scalar, V: TileView<Element = T>> GemmOfColumns<'s, T, V> {
    pub(crate) fn new() -> Self {
        let codelet = Codelet::new("gemm").cost(|p: &Elimination<'s>| {
            let (m, n, k) = (p.changed.len() as f64, p.n as f64, p.by.len() as f64);
            cost::<T>(m * n * k, m * n * k, m * k + k * n + 2.0 * m * n)
        });
        let codelet = codelet.on_host(|(a, b): (&Tile<V>, &mut Changed<'s, T>), p: &Elimination<'s>| {
            let (by, changed) = two_parts(b.view_mut(), &p.by, &p.changed);
            let by = by.into_ref();
            let Some(nesting) = p.nesting else {
                let a = a.operand_of(p.a.clone(), 0..p.a_cols);
                cpu::gemm(-T::ONE, p.op, a, Op::None, by, T::ONE, changed);
                return Ok(());
            };
            let a = a.view().submatrix(p.a.clone(), 0..p.a_cols);
            let (depth, all) = (by.nrows(), 0..by.nrows());
            Ok(by_rows(nesting, "part of gemm", changed, depth * p.n, |rows, changed| {
                let a = if p.op == Op::None { a.submatrix(rows, all.clone()) } else { a.submatrix(all.clone(), rows) };
                cpu::gemm(-T::ONE, p.op, a, Op::None, by, T::ONE, changed);
            })?)
        });
        Self(on_devices(codelet, |(a, b), p: &Elimination<'s>| {
            let (a, b): (Mat<T>, Mat<T>) = (mat(a)?, mat(b)?);
            Ok(Call::Gemm {
                part: None,
                op_a: p.op,
                op_b: Op::None,
                alpha: -T::ONE,
                a: a.submatrix(p.a.clone(), 0..p.a_cols),
                b: b.submatrix(p.by.clone(), 0..b.n),
                beta: T::ONE,
                c: b.submatrix(p.changed.clone(), 0..b.n),
            })
        }))
    }

    #[track_caller]
    pub(crate) fn insert(
        &self,
        s: &'s Scope<'s, '_>,
        spec: TaskSpec,
        parts: Elimination<'s>,
        a: Lent<'s, Tile<V>>,
        b: Column<'s, T>,
    ) {
        let team = || Team::of(s, parts.changed.len() * parts.n * parts.by.len()).shares();
        let parts = Elimination { nesting: parts.nesting.or_else(team), ..parts };
        self.0.insert(s, spec, (a.read(), b.read_write()), parts);
    }
}

/// Two parts of B that do not overlap.
pub(crate) fn two_parts<'a, T: Scalar>(
    b: MatMut<'a, T>,
    one: &Range<usize>,
    other: &Range<usize>,
) -> (MatMut<'a, T>, MatMut<'a, T>) {
    let n = b.ncols();
    let part = |b: MatMut<'a, T>, rows: &Range<usize>, before: usize| {
        b.submatrix(rows.start - before..rows.end - before, 0..n)
    };
    if one.end <= other.start {
        let (top, bottom) = b.split_at_row(one.end);
        (part(top, one, 0), part(bottom, other, one.end))
    } else {
        let (top, bottom) = b.split_at_row(other.end);
        (part(bottom, one, other.end), part(top, other, 0))
    }
}

/// Sets the rows of a block column from one on to zero.
pub(crate) struct Zero<'s, T: Scalar>(OnOne<'s, T, usize>);

impl<'s, T: Scalar> Zero<'s, T> {
    pub(crate) fn new() -> Self {
        Self(Codelet::new("laset").on_host(|a: &mut Changed<'s, T>, &first: &usize| {
            a.view_mut().split_at_row(first).1.fill(T::ZERO);
            Ok(())
        }))
    }

    #[track_caller]
    pub(crate) fn insert(&self, s: &'s Scope<'s, '_>, spec: TaskSpec, first: usize, a: Column<'s, T>) {
        self.0.insert(s, spec, a.read_write(), first);
    }
}
