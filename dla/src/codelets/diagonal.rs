//! Checks of a diagonal, and waiting for their result, without copying the matrix to the host.

use super::{TileMut, TileMutHandle, mat};
use crate::tiled::Tile;
use superscalar_kernels::{
    Direction, Op, Scalar, TileView, cpu,
    device::{Call, Mat, on_devices},
    operations::{Lacpy, Laswp},
};
use superscalar_runtime::{BlasLevel, Codelet, Cost, Lent, Reads, Scope, TaskSpec, Updates, Writes};

/// Codelet for d := the diagonal of block column A from row `first` on.
pub(crate) struct Diagonal<T: Scalar, V: TileView>(Codelet<DiagonalAccess<T, V>, usize>);

type DiagonalAccess<T, V> = (Reads<Tile<V>>, Writes<Vec<T>>);

impl<T: Scalar, V: TileView<Element = T>> Diagonal<T, V> {
    pub(crate) fn new() -> Self {
        let codelet = Codelet::new("diagonal").cost(|_: &usize| NEGLIGIBLE_COST);
        let codelet = codelet.on_host(|(a, d): (&Tile<V>, &mut Vec<T>), &first: &usize| {
            let a = a.view();
            d.iter_mut().enumerate().for_each(|(at, x)| *x = a.at(first + at, at));
            Ok(())
        });
        Self(on_devices(codelet, |(a, d), &first: &usize| {
            let (a, d): (Mat<T>, Mat<T>) = (mat(a)?, mat(d)?);
            // The diagonal as a row vector with stride ld + 1.
            let row = Mat::at(a.offset + first, (1, d.m), a.ld + 1);
            Ok(Call::Lacpy(Lacpy { op: Op::Trans, a: row, b: d }))
        }))
    }

    /// Inserts the task and returns a new handle for the diagonal.
    #[track_caller]
    pub(crate) fn spawn<'s>(
        &self,
        s: &'s Scope<'s, '_>,
        spec: TaskSpec,
        (first, count): (usize, usize),
        a: Lent<'s, Tile<V>>,
    ) -> Lent<'s, Vec<T>> {
        let d = s.own(vec![T::ZERO; count]);
        self.0.spawn_as(s, spec, (a.read(), d.write()), first);
        d
    }
}

/// The cost is negligible.
const NEGLIGIBLE_COST: Cost = Cost { flops: 0.0, bytes: 0.0, level: Some(BlasLevel::One) };

/// Codelet that leaves A unchanged. If the check that it waits for fails, it is cancelled, and A is poisoned.
pub(crate) struct WaitForCheck<'s, T: Scalar>(Codelet<WaitAccess<'s, T>, ()>);

type WaitAccess<'s, T> = (Vec<Reads<[i32]>>, Updates<TileMut<'s, T>>);

impl<'s, T: Scalar> WaitForCheck<'s, T> {
    pub(crate) fn new() -> Self {
        let codelet = Codelet::new("regular").cost(|(): &()| NEGLIGIBLE_COST);
        let codelet = codelet.on_host(|(no_interchanges, a): (Vec<&[i32]>, &mut TileMut<'s, T>), (): &()| {
            cpu::laswp(a.view_mut(), 0, &no_interchanges.concat(), Direction::Forward);
            Ok(())
        });
        Self(on_devices(codelet, |(no_interchanges, a), (): &()| {
            // An empty list of interchanges makes this call a no-op.
            let ipiv = no_interchanges.into_iter().map(mat).collect::<Result<_, _>>()?;
            Ok(Call::Laswp(Laswp { a: mat::<T, _>(a)?, first: 0, ipiv, direction: Direction::Forward }))
        }))
    }

    /// Inserts a task that makes later uses of A wait for the task that writes `check`, an empty list of interchanges.
    #[track_caller]
    pub(crate) fn spawn(&self, s: &'s Scope<'s, '_>, spec: TaskSpec, check: Lent<'s, [i32]>, a: TileMutHandle<'s, T>) {
        self.0.spawn_as(s, spec, (vec![check.read()], a.read_write()), ());
    }
}
