//! B := A, tile by tile, on whatever has them: how matrices get to devices and back.

use super::{
    Target,
    tiles::{OnTwo, Part, Which},
};
use crate::{Scalar, tiled::Tile};
use superscalar_kernels::{Op, TileView, operations::Lacpy};
use superscalar_runtime::{Lent, Scope, TaskSpec};

/// B := A. The old B is not wanted: none of it is moved.
pub(crate) type Copying<'s, T, V> = OnTwo<'s, T, V, Lacpy<Part<T>>>;

impl<'s, T: Scalar, V: TileView<Element = T> + 's> Copying<'s, T, V> {
    /// Copies a tile of this shape. B goes, if it was dealt to nobody, to whom A was dealt.
    #[track_caller]
    pub(crate) fn copy(
        &self,
        s: &'s Scope<'s, '_>,
        spec: TaskSpec,
        shape: (usize, usize),
        a: Lent<'s, Tile<V>>,
        b: Target<'s, T>,
    ) {
        if b.home().resource().is_none() {
            b.deal_to(a.home().resource());
        }
        let copy = Lacpy { op: Op::None, a: Part::whole(Which::First, shape), b: Part::whole(Which::Changed, shape) };
        self.spawn(s, spec, copy, a, b);
    }
}
