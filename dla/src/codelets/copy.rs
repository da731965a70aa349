//! B := A, tile by tile, on the host or a device. Used for uploads and downloads.

use super::{
    TileMutHandle,
    tiles::{TilePart, TileRole, TwoTileCodelet},
};
use crate::{Scalar, tiled::Tile};
use superscalar_kernels::{Op, TileView, operations::Lacpy};
use superscalar_runtime::{Lent, Scope, TaskSpec};

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
