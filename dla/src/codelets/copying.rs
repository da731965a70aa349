//! B := A, tile by tile, on whatever has them: how matrices get to devices and back.

use super::{Changed, mat};
use crate::tiled::Tile;
use superscalar_kernels::{
    Op, Scalar, TileView,
    device::{Call, on_devices},
};
use superscalar_runtime::{Codelet, Cost, Lent, Reads, Scope, TaskSpec, Writes};

/// B := A. The old B is not wanted: none of it is moved.
pub(crate) struct Copying<'s, T: Scalar, V: TileView>(Codelet<FromTo<'s, T, V>, usize>);

type FromTo<'s, T, V> = (Reads<Tile<V>>, Writes<Changed<'s, T>>);

impl<'s, T: Scalar, V: TileView<Element = T> + 's> Copying<'s, T, V> {
    pub(crate) fn new() -> Self {
        let codelet = Codelet::new("copy").cost(|elements: &usize| {
            // No level: it goes where its result was dealt to, as updates do.
            Cost { flops: 0.0, bytes: 2.0 * (*elements * size_of::<T>()) as f64, level: None }
        });
        let codelet = codelet.on_host(|(a, b): (&Tile<V>, &mut Changed<'s, T>), _: &usize| {
            b.view_mut().copy_from(a.view());
            Ok(())
        });
        Self(on_devices(codelet, |(a, b), _: &usize| Ok(Call::Copy { op: Op::None, a: mat::<T, _>(a)?, b: mat(b)? })))
    }

    /// Copies a tile of so many elements. B goes, if it was dealt to nobody, to whom A was dealt.
    #[track_caller]
    pub(crate) fn insert(
        &self,
        s: &'s Scope<'s, '_>,
        spec: TaskSpec,
        elements: usize,
        a: Lent<'s, Tile<V>>,
        b: Lent<'s, Changed<'s, T>>,
    ) {
        if b.home().resource().is_none() {
            b.deal_to(a.home().resource());
        }
        self.0.insert(s, spec, (a.read(), b.write()), elements);
    }
}
