//! The codelets of QR factorizations: of block columns, and of block reflectors.

use super::{Changed, Target, cost, mat};
use crate::{Scalar, tiled::Tile};
use std::ops::Range;
use superscalar_kernels::{
    Op, Reflector, Side, TileView, cpu,
    device::{Call, Mat, on_devices, panels_on_devices},
    operations,
};
use superscalar_runtime::{BlasLevel, Codelet, Cost, Lent, Reads, Scope, TaskSpec, Updates, Writes};

/// The cost of a QR factorization of an m x n panel.
pub(super) fn cost_of_panel<T: Scalar>(m: usize, n: usize) -> Cost {
    let (m, n) = (m as f64, n as f64);
    let half = n * n * (m - n / 3.0);
    Cost { level: Some(BlasLevel::Two), ..cost::<T>(half, half, m * n) }
}

/// A block of reflectors as a handle.
type Block<'s, T> = Lent<'s, Reflector<T>>;
/// Scalar factors of reflectors as a handle.
type Tau<'s, T> = Lent<'s, [T]>;
/// What a panel task changes: the block column, and what goes with it.
type OnPanel<'s, T> = (Updates<Changed<'s, T>>, Writes<Reflector<T>>, Writes<[T]>);

/// What is applied, and to what.
type OnApplied<'s, T, V> = (Reads<Tile<V>>, Reads<Reflector<T>>, Updates<Changed<'s, T>>);

/// Q R of the rows of a block column from one on: a panel.
pub(crate) struct Geqrf<'s, T: Scalar>(Codelet<OnPanel<'s, T>, (Range<usize>, usize)>);

impl<'s, T: Scalar> Geqrf<'s, T> {
    pub(crate) fn new() -> Self {
        let codelet =
            Codelet::new("geqrf").cost(|(rows, cols): &(Range<usize>, usize)| cost_of_panel::<T>(rows.len(), *cols));
        let codelet = codelet.on_host(
            |(a, q, tau): (&mut Changed<'s, T>, &mut Reflector<T>, &mut [T]), (rows, cols): &(Range<usize>, usize)| {
                cpu::geqrf(a.view_mut().submatrix(rows.clone(), 0..*cols), tau, q.t_mut());
                Ok(())
            },
        );
        Self(panels_on_devices(codelet, |(a, q, tau), (rows, cols): &(Range<usize>, usize)| {
            let a = mat::<T, _>(a)?.submatrix(rows.clone(), 0..*cols);
            Ok(Call::Geqrf(operations::Geqrf { a, t: mat(q)?, tau: mat(tau)? }))
        }))
    }

    #[track_caller]
    pub(crate) fn spawn(
        &self,
        s: &'s Scope<'s, '_>,
        spec: TaskSpec,
        part: (Range<usize>, usize),
        a: Target<'s, T>,
        q: Block<'s, T>,
        tau: Tau<'s, T>,
    ) {
        self.0.spawn_as(s, spec, (a.read_write(), q.write(), tau.write()), part);
    }
}

/// The cost of applying k reflectors of m elements to n columns.
pub(crate) fn cost_of_larfb<T: Scalar>(m: usize, n: usize, k: usize) -> Cost {
    let (m, n, k) = (m as f64, n as f64, k as f64);
    cost::<T>(2.0 * m * n * k, 2.0 * m * n * k, m * k + 2.0 * m * n)
}

/// C[rows] := op(Q) C[rows], or C[:, rows] := C[:, rows] op(Q).
pub(crate) struct Larfb<'s, T: Scalar, V: TileView>(Codelet<OnApplied<'s, T, V>, Application>);

/// How a block reflector is applied.
#[derive(Clone)]
pub(crate) struct Application {
    pub(crate) side: Side,
    pub(crate) op: Op,
    /// Rows of V, and of C (columns of C, from the right).
    pub(crate) rows: Range<usize>,
    /// Number of reflectors.
    pub(crate) k: usize,
    /// Columns of C (rows, from the right).
    pub(crate) n: usize,
}

impl<'s, T: Scalar, V: TileView<Element = T>> Larfb<'s, T, V> {
    pub(crate) fn new() -> Self {
        let codelet = Codelet::new("larfb").cost(|p: &Application| cost_of_larfb::<T>(p.rows.len(), p.n, p.k));
        let codelet = codelet.on_host(|(v, q, c): (&Tile<V>, &Reflector<T>, &mut Changed<'s, T>), p: &Application| {
            let (rows, c) = (p.rows.clone(), c.view_mut());
            let (m, n) = c.shape();
            let q = q.of(v.view().submatrix(rows.clone(), 0..p.k));
            let c = if p.side == Side::Left { c.submatrix(rows, 0..n) } else { c.submatrix(0..m, rows) };
            cpu::larfb(p.side, p.op, q, c);
            Ok(())
        });
        Self(on_devices(codelet, |(v, q, c), p: &Application| {
            let (v, t, c): (Mat<T>, Mat<T>, Mat<T>) = (mat(v)?, mat(q)?, mat(c)?);
            let (side, op, rows) = (p.side, p.op, p.rows.clone());
            let v = v.submatrix(rows.clone(), 0..p.k);
            let c = if side == Side::Left { c.submatrix(rows, 0..c.n) } else { c.submatrix(0..c.m, rows) };
            Ok(Call::Larfb(operations::Larfb { side, op, v, t, c }))
        }))
    }

    #[track_caller]
    pub(crate) fn spawn(
        &self,
        s: &'s Scope<'s, '_>,
        spec: TaskSpec,
        how: Application,
        v: Lent<'s, Tile<V>>,
        q: Block<'s, T>,
        c: Target<'s, T>,
    ) {
        self.0.spawn_as(s, spec, (v.read(), q.read(), c.read_write()), how);
    }
}
