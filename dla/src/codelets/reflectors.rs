//! Codelets of QR factorizations: panels, and block reflectors.

use super::{TileMut, TileMutHandle, cost, mat};
use crate::{Scalar, tiled::Tile};
use std::ops::Range;
use superscalar_kernels::{
    Op, Reflector, Side, TileView, cpu,
    device::{Call, Mat, on_devices},
    operations,
};
use superscalar_runtime::{BlasLevel, Codelet, Cost, Lent, Reads, Scope, TaskSpec, Updates, Writes};

/// Returns the cost of the QR factorization of an m x n panel.
pub(super) fn cost_of_panel<T: Scalar>(m: usize, n: usize) -> Cost {
    let (m, n) = (m as f64, n as f64);
    let half = n * n * (m - n / 3.0);
    Cost { level: Some(BlasLevel::Two), ..cost::<T>(half, half, m * n) }
}

/// Handle of a block reflector.
type BlockReflectorHandle<'s, T> = Lent<'s, Reflector<T>>;
/// Handle of the scalar factors of reflectors.
type TauHandle<'s, T> = Lent<'s, [T]>;
/// Accesses of a panel task: the block column, its block reflector and its scalar factors.
type GeqrfAccess<'s, T> = (Updates<TileMut<'s, T>>, Writes<Reflector<T>>, Writes<[T]>);

/// Accesses of a task that applies a block reflector.
type LarfbAccess<'s, T, V> = (Reads<Tile<V>>, Reads<Reflector<T>>, Updates<TileMut<'s, T>>);

/// Codelet that factors a panel: Q R = A for the given rows of a block column.
pub(crate) struct Geqrf<'s, T: Scalar>(Codelet<GeqrfAccess<'s, T>, (Range<usize>, usize)>);

impl<'s, T: Scalar> Geqrf<'s, T> {
    pub(crate) fn new() -> Self {
        let codelet =
            Codelet::new("geqrf").cost(|(rows, cols): &(Range<usize>, usize)| cost_of_panel::<T>(rows.len(), *cols));
        let codelet = codelet.on_host(
            |(a, q, tau): (&mut TileMut<'s, T>, &mut Reflector<T>, &mut [T]), (rows, cols): &(Range<usize>, usize)| {
                cpu::geqrf(a.view_mut().submatrix(rows.clone(), 0..*cols), tau, q.t_mut());
                Ok(())
            },
        );
        Self(on_devices(codelet, |(a, q, tau), (rows, cols): &(Range<usize>, usize)| {
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
        a: TileMutHandle<'s, T>,
        q: BlockReflectorHandle<'s, T>,
        tau: TauHandle<'s, T>,
    ) {
        self.0.spawn_as(s, spec, (a.read_write(), q.write(), tau.write()), part);
    }
}

/// Returns the cost of applying k reflectors of m elements to n columns.
pub(crate) fn cost_of_larfb<T: Scalar>(m: usize, n: usize, k: usize) -> Cost {
    let (m, n, k) = (m as f64, n as f64, k as f64);
    cost::<T>(2.0 * m * n * k, 2.0 * m * n * k, m * k + 2.0 * m * n)
}

/// Codelet for C[rows] := op(Q) C[rows], or C[:, rows] := C[:, rows] op(Q).
pub(crate) struct Larfb<'s, T: Scalar, V: TileView>(Codelet<LarfbAccess<'s, T, V>, Application>);

/// Parameters of the application of a block reflector.
#[derive(Clone)]
pub(crate) struct Application {
    pub(crate) side: Side,
    pub(crate) op: Op,
    /// Rows of V, and rows of C (left) or columns of C (right).
    pub(crate) rows: Range<usize>,
    /// Number of reflectors.
    pub(crate) k: usize,
    /// Columns of C (left) or rows of C (right).
    pub(crate) n: usize,
}

impl<'s, T: Scalar, V: TileView<Element = T>> Larfb<'s, T, V> {
    pub(crate) fn new() -> Self {
        let codelet = Codelet::new("larfb").cost(|p: &Application| cost_of_larfb::<T>(p.rows.len(), p.n, p.k));
        let codelet = codelet.on_host(|(v, q, c): (&Tile<V>, &Reflector<T>, &mut TileMut<'s, T>), p: &Application| {
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
        q: BlockReflectorHandle<'s, T>,
        c: TileMutHandle<'s, T>,
    ) {
        self.0.spawn_as(s, spec, (v.read(), q.read(), c.read_write()), how);
    }
}
