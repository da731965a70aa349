//! Tasks of tree QR factorizations. They run on the host only.

use super::{TileMut, TileMutHandle, reflectors::cost_of_panel, with_cost};
use crate::{Scalar, subtasks::copy_part, tiled::Tile};
use superscalar_kernels::{
    Op, Part, Side, TileView,
    cpu::{self, BlockReflector},
};
use superscalar_runtime::{Lent, Scope, TaskSpec};

/// Inserts the task that computes Q R = A for one block of this shape, and the triangular factors of its reflectors.
#[track_caller]
pub(crate) fn factor_block<'s, T: Scalar>(
    s: &'s Scope<'s, '_>,
    spec: TaskSpec,
    (m, n): (usize, usize),
    a: TileMutHandle<'s, T>,
    t: TileMutHandle<'s, T>,
) {
    let (spec, operands) = (with_cost(spec, cost_of_panel::<T>(m, n)), (a.read_write(), t.read_write()));
    s.spawn(spec, operands, |(a, t): (&mut TileMut<'s, T>, &mut TileMut<'s, T>)| {
        let (rows, k) = t.view().shape();
        let t = t.view_mut().submatrix(0..rows.min(k), 0..k);
        cpu::geqrf(a.view_mut(), &mut vec![T::ZERO; k], t);
    });
}

/// Inserts the task that computes C := op(Q) C with the reflectors of one block.
#[track_caller]
pub(crate) fn apply_block<'s, T: Scalar, V: TileView<Element = T> + 's>(
    s: &'s Scope<'s, '_>,
    spec: TaskSpec,
    op: Op,
    v: Lent<'s, Tile<V>>,
    t: Lent<'s, Tile<V>>,
    c: TileMutHandle<'s, T>,
) {
    let operands = (v.read(), t.read(), c.read_write());
    s.spawn(spec, operands, move |(v, t, c): (&Tile<V>, &Tile<V>, &mut TileMut<'s, T>)| {
        let (v, (rows, k)) = (v.view(), t.view().shape());
        let (v, t) = (v.submatrix(0..v.nrows(), 0..k), t.view().submatrix(0..rows.min(k), 0..k));
        cpu::larfb(Side::Left, op, BlockReflector::new(v, t), c.view_mut());
    });
}

/// Inserts the task that stacks the given part of the first n rows of several tiles.
#[track_caller]
pub(crate) fn gather<'s, T: Scalar>(
    s: &'s Scope<'s, '_>,
    spec: TaskSpec,
    part: Part,
    tiles: Vec<TileMutHandle<'s, T>>,
    n: usize,
    stack: TileMutHandle<'s, T>,
) {
    let tiles: Vec<_> = tiles.iter().map(Lent::read).collect();
    s.spawn(spec, (tiles, stack.read_write()), move |(tiles, stack): (Vec<&TileMut<'s, T>>, &mut TileMut<'s, T>)| {
        let mut stack = stack.view_mut();
        stack.fill(T::ZERO);
        let cols = stack.ncols().max(1);
        for (tile, to) in tiles.into_iter().zip(stack.into_tiles(n, cols).into_vec()) {
            copy_part(part, 0, tile.view().submatrix(0..to.nrows(), 0..to.ncols()), to);
        }
    });
}

/// Inserts the task that copies the blocks of n rows of a stack back to the tiles.
#[track_caller]
pub(crate) fn scatter<'s, T: Scalar>(
    s: &'s Scope<'s, '_>,
    spec: TaskSpec,
    part: Part,
    stack: TileMutHandle<'s, T>,
    n: usize,
    tiles: Vec<TileMutHandle<'s, T>>,
) {
    let tiles: Vec<_> = tiles.iter().map(Lent::read_write).collect();
    s.spawn(spec, (stack.read(), tiles), move |(stack, tiles): (&TileMut<'s, T>, Vec<&mut TileMut<'s, T>>)| {
        let stack = stack.view();
        for (at, tile) in tiles.into_iter().enumerate() {
            let rows = at * n..stack.nrows().min((at + 1) * n);
            let to = tile.view_mut().submatrix(0..rows.len(), 0..stack.ncols());
            copy_part(part, 0, stack.submatrix(rows, 0..stack.ncols()), to);
        }
    });
}
