//! The codelets of QR factorizations by a tree.

use super::{Changed, reflect::cost_of_panel};
use crate::{Scalar, parts::copy, tiled::Tile};
use superscalar_kernels::{
    Op, Part, Side, TileView,
    cpu::{self, BlockReflector},
};
use superscalar_runtime::{Codelet, Lent, Reads, Scope, TaskSpec, Updates};

/// Q R of one block, with the triangular factors of its reflectors.
pub(crate) struct Branch<'s, T: Scalar>(Codelet<OnBlock<'s, T>, (usize, usize)>);

/// What a factorization of a block changes.
type OnBlock<'s, T> = (Updates<Changed<'s, T>>, Updates<Changed<'s, T>>);

impl<'s, T: Scalar> Branch<'s, T> {
    pub(crate) fn new() -> Self {
        let codelet = Codelet::new("geqrf").cost(|&(m, n): &(usize, usize)| cost_of_panel::<T>(m, n));
        Self(codelet.on_host(|(a, t): (&mut Changed<'s, T>, &mut Changed<'s, T>), _: &(usize, usize)| {
            let (rows, k) = t.view().shape();
            let t = t.view_mut().submatrix(0..rows.min(k), 0..k);
            cpu::geqrf(a.view_mut(), &mut vec![T::ZERO; k], t);
            Ok(())
        }))
    }

    /// The block has this shape.
    #[track_caller]
    pub(crate) fn insert(
        &self,
        s: &'s Scope<'s, '_>,
        spec: TaskSpec,
        shape: (usize, usize),
        a: Lent<'s, Changed<'s, T>>,
        t: Lent<'s, Changed<'s, T>>,
    ) {
        self.0.insert(s, spec, (a.read_write(), t.read_write()), shape);
    }
}

/// C := op(Q) C, for the reflectors of one block.
pub(crate) struct BranchApplication<'s, T: Scalar, V: TileView>(Codelet<OnApplied<'s, T, V>, (Op, (usize, usize))>);

/// What is applied, and to what.
type OnApplied<'s, T, V> = (Reads<Tile<V>>, Reads<Tile<V>>, Updates<Changed<'s, T>>);

impl<'s, T: Scalar, V: TileView<Element = T> + 's> BranchApplication<'s, T, V> {
    pub(crate) fn new() -> Self {
        let codelet = Codelet::new("larfb").on_host(
            |(v, t, c): (&Tile<V>, &Tile<V>, &mut Changed<'s, T>), &(op, _): &(Op, (usize, usize))| {
                let (v, (rows, k)) = (v.view(), t.view().shape());
                let (v, t) = (v.submatrix(0..v.nrows(), 0..k), t.view().submatrix(0..rows.min(k), 0..k));
                cpu::larfb(Side::Left, op, BlockReflector::new(v, t), c.view_mut());
                Ok(())
            },
        );
        Self(codelet)
    }

    /// C has this shape.
    #[track_caller]
    pub(crate) fn insert(
        &self,
        s: &'s Scope<'s, '_>,
        spec: TaskSpec,
        how: (Op, (usize, usize)),
        v: Lent<'s, Tile<V>>,
        t: Lent<'s, Tile<V>>,
        c: Lent<'s, Changed<'s, T>>,
    ) {
        self.0.insert(s, spec, (v.read(), t.read(), c.read_write()), how);
    }
}

/// What a copy to the next level reads and changes.
type OnParent<'s, T> = (Vec<Reads<Changed<'s, T>>>, Updates<Changed<'s, T>>);
/// What a copy from the next level reads and changes.
type OnChildren<'s, T> = (Reads<Changed<'s, T>>, Vec<Updates<Changed<'s, T>>>);

/// Stacks a part of the first n rows of each of several tiles.
pub(crate) struct Gather<'s, T: Scalar>(Codelet<OnParent<'s, T>, (Part, usize)>);

impl<'s, T: Scalar> Gather<'s, T> {
    pub(crate) fn new() -> Self {
        let codelet = Codelet::new("lacpy").on_host(
            |(tiles, stack): (Vec<&Changed<'s, T>>, &mut Changed<'s, T>), &(part, n): &(Part, usize)| {
                let mut stack = stack.view_mut();
                stack.fill(T::ZERO);
                let cols = stack.ncols().max(1);
                for (tile, to) in tiles.into_iter().zip(stack.into_tiles(n, cols).into_vec()) {
                    copy(part, 0, tile.view().submatrix(0..to.nrows(), 0..to.ncols()), to);
                }
                Ok(())
            },
        );
        Self(codelet)
    }

    #[track_caller]
    pub(crate) fn insert(
        &self,
        s: &'s Scope<'s, '_>,
        spec: TaskSpec,
        part: Part,
        tiles: Vec<Lent<'s, Changed<'s, T>>>,
        n: usize,
        stack: Lent<'s, Changed<'s, T>>,
    ) {
        let tiles: Vec<_> = tiles.iter().map(Lent::read).collect();
        self.0.insert(s, spec, (tiles, stack.read_write()), (part, n));
    }
}

/// Takes what was stacked apart again.
pub(crate) struct Scatter<'s, T: Scalar>(Codelet<OnChildren<'s, T>, (Part, usize)>);

impl<'s, T: Scalar> Scatter<'s, T> {
    pub(crate) fn new() -> Self {
        let codelet = Codelet::new("lacpy").on_host(
            |(stack, tiles): (&Changed<'s, T>, Vec<&mut Changed<'s, T>>), &(part, n): &(Part, usize)| {
                let stack = stack.view();
                for (at, tile) in tiles.into_iter().enumerate() {
                    let rows = at * n..stack.nrows().min((at + 1) * n);
                    let to = tile.view_mut().submatrix(0..rows.len(), 0..stack.ncols());
                    copy(part, 0, stack.submatrix(rows, 0..stack.ncols()), to);
                }
                Ok(())
            },
        );
        Self(codelet)
    }

    #[track_caller]
    pub(crate) fn insert(
        &self,
        s: &'s Scope<'s, '_>,
        spec: TaskSpec,
        part: Part,
        stack: Lent<'s, Changed<'s, T>>,
        n: usize,
        tiles: Vec<Lent<'s, Changed<'s, T>>>,
    ) {
        let tiles: Vec<_> = tiles.iter().map(Lent::read_write).collect();
        self.0.insert(s, spec, (stack.read(), tiles), (part, n));
    }
}
