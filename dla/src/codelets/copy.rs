//! B := A, tile by tile, on the host or a device, and moves of tiles. Used for uploads and downloads.

use super::{
    TileMut, TileMutHandle, mat,
    tiles::{TilePart, TileRole, TwoTileCodelet},
};
use crate::{Scalar, tiled::Tile};
use superscalar_kernels::{
    Direction, Op, TileView,
    device::{Call, on_devices},
    operations::{Lacpy, Laswp},
};
use superscalar_runtime::{Codelet, Lent, Scope, TaskSpec, Updates};

/// Codelet for B := A. The old contents of B are not transferred.
pub(crate) type TileCopy<'s, T, V> = TwoTileCodelet<'s, T, V, Lacpy<TilePart<T>>>;

impl<'s, T: Scalar, V: TileView<Element = T> + 's> TileCopy<'s, T, V> {
    /// Inserts a task that copies a tile of this shape. If B has no home, it gets the home of A.
    #[track_caller]
    pub(crate) fn spawn_copy(
        &self,
        s: &'s Scope<'s, '_>,
        spec: TaskSpec,
        shape: (usize, usize),
        a: Lent<'s, Tile<V>>,
        b: TileMutHandle<'s, T>,
    ) {
        if b.home().resource().is_none() {
            b.deal_to(a.home().resource());
        }
        let copy = Lacpy {
            op: Op::None,
            a: TilePart::whole(TileRole::First, shape),
            b: TilePart::whole(TileRole::Updated, shape),
        };
        self.spawn(s, spec, copy, a, b);
    }
}

/// Codelet that leaves a tile unchanged; its value moves to where the task runs.
pub(crate) struct TileMove<'s, T: Scalar>(Codelet<Updates<TileMut<'s, T>>, ()>);

impl<'s, T: Scalar> TileMove<'s, T> {
    pub(crate) fn new() -> Self {
        let codelet = Codelet::new("move").on_host(|_: &mut TileMut<'s, T>, (): &()| Ok(()));
        // An empty list of interchanges makes this call a no-op.
        let nothing =
            |a| Ok(Call::Laswp(Laswp { a: mat::<T, _>(a)?, first: 0, ipiv: vec![], direction: Direction::Forward }));
        Self(on_devices(codelet, move |a, (): &()| nothing(a)))
    }

    /// Inserts the task.
    #[track_caller]
    pub(crate) fn spawn(&self, s: &'s Scope<'s, '_>, spec: TaskSpec, a: TileMutHandle<'s, T>) {
        self.0.spawn_as(s, spec, a.read_write(), ());
    }
}
