//! The codelets of QR factorizations: of block columns, and of block reflectors.

use super::{Changed, cost, mat};
use crate::{Scalar, matrix::Matrix, tiled::Tile};
use std::ops::Range;
use superscalar_kernels::{
    MatMut, MatRef, Op, Reflector, Side, TileView,
    cpu::{self, BlockReflector},
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

/// What a triangular factor is made from, and where it goes.
type OnFactor<T, V> = (Reads<Tile<V>>, Reads<[T]>, Writes<Reflector<T>>);
/// What is applied, and to what.
type OnApplied<'s, T, V> = (Reads<Tile<V>>, Reads<Reflector<T>>, Updates<Changed<'s, T>>);
/// Reflectors that become the columns of Q.
type OnExplicit<'s, T> = (Updates<Changed<'s, T>>, Reads<Reflector<T>>);

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
    pub(crate) fn insert(
        &self,
        s: &'s Scope<'s, '_>,
        spec: TaskSpec,
        part: (Range<usize>, usize),
        a: Lent<'s, Changed<'s, T>>,
        q: Block<'s, T>,
        tau: Tau<'s, T>,
    ) {
        self.0.insert(s, spec, (a.read_write(), q.write(), tau.write()), part);
    }
}

/// The triangular factor of reflectors that come from elsewhere.
pub(crate) struct Larft<'s, T: Scalar, V: TileView>(
    Codelet<OnFactor<T, V>, Range<usize>>,
    std::marker::PhantomData<&'s T>,
);

impl<'s, T: Scalar, V: TileView<Element = T>> Larft<'s, T, V> {
    pub(crate) fn new() -> Self {
        let codelet =
            Codelet::new("larft").on_host(|(v, tau, q): (&Tile<V>, &[T], &mut Reflector<T>), rows: &Range<usize>| {
                cpu::larft(v.view().submatrix(rows.clone(), 0..tau.len()), tau, q.t_mut());
                Ok(())
            });
        Self(codelet, std::marker::PhantomData)
    }

    /// V begins in the first of the rows.
    #[track_caller]
    pub(crate) fn insert(
        &self,
        s: &'s Scope<'s, '_>,
        spec: TaskSpec,
        rows: Range<usize>,
        v: Lent<'s, Tile<V>>,
        tau: Tau<'s, T>,
        q: Block<'s, T>,
    ) {
        self.0.insert(s, spec, (v.read(), tau.read(), q.write()), rows);
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
    pub(crate) fn insert(
        &self,
        s: &'s Scope<'s, '_>,
        spec: TaskSpec,
        how: Application,
        v: Lent<'s, Tile<V>>,
        q: Block<'s, T>,
        c: Lent<'s, Changed<'s, T>>,
    ) {
        self.0.insert(s, spec, (v.read(), q.read(), c.read_write()), how);
    }
}

/// A := the columns of Q[k] that its reflectors stand in, in place of these.
pub(crate) struct Ungqr<'s, T: Scalar> {
    explicit: Codelet<OnExplicit<'s, T>, (usize, usize)>,
    identity: Codelet<Updates<Changed<'s, T>>, (usize, usize)>,
}

impl<'s, T: Scalar> Ungqr<'s, T> {
    pub(crate) fn new() -> Self {
        let explicit = Codelet::new("ungqr").on_host(
            |(a, q): (&mut Changed<'s, T>, &Reflector<T>), &(start, k): &(usize, usize)| {
                multiply_out(a.view_mut().split_at_row(start).1, k, q.t());
                Ok(())
            },
        );
        let identity = Codelet::new("laset").on_host(|a: &mut Changed<'s, T>, &(first, known): &(usize, usize)| {
            let a = a.view_mut();
            let m = a.nrows();
            // What stands above is R.
            let (mut above, below) = a.split_at_row(first.min(m));
            above.fill(T::ZERO);
            let (rows, cols) = below.shape();
            identity(below.submatrix(0..rows, known..cols), known);
            Ok(())
        });
        Self { explicit, identity }
    }

    /// The k reflectors begin in row `start`; behind their columns the identity has been multiplied by Q[k+1] … already.
    #[track_caller]
    pub(crate) fn insert(
        &self,
        s: &'s Scope<'s, '_>,
        spec: TaskSpec,
        (start, k): (usize, usize),
        a: Lent<'s, Changed<'s, T>>,
        q: Block<'s, T>,
    ) {
        self.explicit.insert(s, spec, (a.read_write(), q.read()), (start, k));
    }

    /// Makes the columns of the identity from column `first` on, in a block column of which the first `known` columns hold
    /// reflectors from row `first` on.
    #[track_caller]
    pub(crate) fn identity(
        &self,
        s: &'s Scope<'s, '_>,
        spec: TaskSpec,
        (first, known): (usize, usize),
        a: Lent<'s, Changed<'s, T>>,
    ) {
        self.identity.insert(s, spec, a.read_write(), (first, known));
    }
}

/// A := Q (I, B) for a matrix A = (V, B), where Q has the k reflectors V and their factor T.
pub(crate) fn multiply_out<T: Scalar>(mut a: MatMut<'_, T>, k: usize, t: MatRef<'_, T>) {
    let m = a.nrows();
    let mut v = Matrix::zeros(m, k);
    v.as_mut().copy_from(a.as_ref().submatrix(0..m, 0..k));
    identity(a.rb_mut().submatrix(0..m, 0..k), 0);
    cpu::larfb(Side::Left, Op::None, BlockReflector::new(v.as_ref(), t), a);
}

/// Zeros, and ones where the row is the column + `shift`.
pub(crate) fn identity<T: Scalar>(mut a: MatMut<'_, T>, shift: usize) {
    let (m, n) = a.shape();
    a.fill(T::ZERO);
    for j in 0..n.min(m.saturating_sub(shift)) {
        a[(j + shift, j)] = T::ONE;
    }
}
