//! B := alpha op(A) + beta B, tile by tile, on the host or a device.

use super::{
    TileMutHandle,
    level3::factor_part,
    tiles::{TilePart, TileRole, TwoTileCodelet},
};
use crate::{Scalar, tiled::Factor};
use superscalar_kernels::{TileView, operations::Geadd};
use superscalar_runtime::{Scope, TaskSpec};

/// Codelet for B := alpha op(A) + beta B. If beta = 0, the old contents of B are not transferred.
pub(crate) type TileSum<'s, T, V> = TwoTileCodelet<'s, T, V, Geadd<T, TilePart<T>>>;

impl<'s, T: Scalar, V: TileView<Element = T>> TileSum<'s, T, V> {
    #[track_caller]
    pub(crate) fn spawn_sum(
        &self,
        s: &'s Scope<'s, '_>,
        spec: TaskSpec,
        alpha: T,
        a: Factor<'s, V>,
        beta: T,
        b: TileMutHandle<'s, T>,
    ) {
        let (a_part, b_part) = (factor_part(TileRole::First, &a), TilePart::whole(TileRole::Updated, a.shape));
        self.spawn(s, spec, Geadd { op: a.op, alpha, a: a_part, beta, b: b_part }, a.tile, b);
    }
}
