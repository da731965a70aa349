//! Operations on tiles as tasks. On the host they run on views of the tiles, on a device on the tiles' regions in its
//! heap.
//!
//! A task's operation has a [`TilePart`] for each operand: it says which of the task's tiles, and which rows and
//! columns of it. So updating a block column by another block column, or by its own upper rows, is the same operation
//! as one on whole tiles.

use super::{
    HostResult, TileMut, TileMutHandle, mat,
    team::{self, SharedWork},
};
use crate::{Scalar, tiled::Tile};
use std::{convert::Infallible, marker::PhantomData, ops::Range};
use superscalar_kernels::{
    MatMut, TileView,
    cpu::Operand,
    device::{Call, Mat, on_devices},
    operations::{Resolve, Shape},
};
use superscalar_runtime::{
    BlasLevel, Codelet, Cost, Lent, Mode, Nesting, Operands, Reads, Scope, TaskSpec, Updates, Writes,
};

/// Role of a tile in a task: one of the tiles that are only read, or the one that is updated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TileRole {
    First,
    Second,
    Updated,
}

/// A range of rows and the first `cols` columns of one of a task's tiles.
#[derive(Clone, Debug)]
pub(crate) struct TilePart<T> {
    of: TileRole,
    rows: Range<usize>,
    cols: usize,
    is_whole: bool,
    element: PhantomData<T>,
}

impl<T> TilePart<T> {
    /// Selects a whole tile of this shape.
    pub(crate) fn whole(of: TileRole, (m, n): (usize, usize)) -> Self {
        Self { is_whole: true, ..Self::rows(of, 0..m, n) }
    }

    /// Checks that a part marked as whole is the whole tile, because the old contents of such a tile may be dropped.
    fn check(&self, tile: (usize, usize)) {
        let shape = (self.rows.len(), self.cols);
        assert!(!self.is_whole || shape == tile, "all of a tile of {tile:?}, not {shape:?}");
    }

    /// Selects a range of rows of a tile's first n columns.
    pub(crate) fn rows(of: TileRole, rows: Range<usize>, n: usize) -> Self {
        Self { of, rows, cols: n, is_whole: false, element: PhantomData }
    }
}

impl<T: superscalar_kernels::Scalar> Shape for TilePart<T> {
    type Element = T;

    fn shape(&self) -> (usize, usize) {
        (self.rows.len(), self.cols)
    }
}

/// A tile that is read, with either type of view.
trait Source<T> {
    fn part(&self, part: &TilePart<T>) -> Operand<'_, T>;
}

impl<V: TileView<Element: Scalar>> Source<V::Element> for Tile<V> {
    fn part(&self, part: &TilePart<V::Element>) -> Operand<'_, V::Element> {
        part.check(self.view().shape());
        self.operand_of(part.rows.clone(), 0..part.cols)
    }
}

/// The tiles of a task on the host. Each operand takes its part.
struct HostTiles<'t, T> {
    read: [Option<&'t dyn Source<T>>; 2],
    /// Remaining row blocks of the updated tile, with their first rows. An operation takes at most two parts of it.
    changed: [Option<(usize, MatMut<'t, T>)>; 3],
    /// Shape of the updated tile.
    shape: (usize, usize),
}

impl<'t, T: Scalar> HostTiles<'t, T> {
    /// Takes a part of the updated tile that no other operand has taken.
    fn take(&mut self, part: &TilePart<T>) -> MatMut<'t, T> {
        part.check(self.shape);
        let Range { start, end } = part.rows;
        let has_all = |rows: &Option<(usize, MatMut<'t, T>)>| {
            rows.as_ref().is_some_and(|(first, view)| *first <= start && end <= first + view.nrows())
        };
        let at = self.changed.iter().position(has_all).expect("operands of a task that do not overlap");
        let (first, view) = self.changed[at].take().expect("it was just seen");
        let (above, rest) = view.split_at_row(start - first);
        let (taken, below) = rest.split_at_row(end - start);
        for left in [(first, above), (end, below)].into_iter().filter(|(_, view)| view.nrows() > 0) {
            let free = self.changed.iter_mut().find(|slot| slot.is_none());
            *free.expect("no more than two parts are taken") = Some(left);
        }
        taken.split_at_col(part.cols).0
    }
}

impl<'t, T: Scalar> Resolve<TilePart<T>> for HostTiles<'t, T> {
    type Read = Operand<'t, T>;
    type Write = MatMut<'t, T>;
    type Error = Infallible;

    fn read(&mut self, _: &'static str, part: &TilePart<T>) -> Result<Operand<'t, T>, Infallible> {
        Ok(match part.of {
            TileRole::Updated => self.take(part).into_ref().into(),
            of => self.read[of as usize].expect("as many tiles as the operation has").part(part),
        })
    }

    fn write(&mut self, _: &'static str, _: Mode, part: &TilePart<T>) -> Result<MatMut<'t, T>, Infallible> {
        Ok(self.take(part))
    }
}

/// The tiles of a task on a device, indexed by [`TileRole`].
struct DeviceTiles<T>([Option<Mat<T>>; 3]);

impl<T: Scalar> Resolve<TilePart<T>> for DeviceTiles<T> {
    type Read = Mat<T>;
    type Write = Mat<T>;
    type Error = Infallible;

    fn read(&mut self, _: &'static str, part: &TilePart<T>) -> Result<Mat<T>, Infallible> {
        let tile = self.0[part.of as usize].expect("as many tiles as the operation has");
        part.check(tile.shape());
        Ok(tile.submatrix(part.rows.clone(), 0..part.cols))
    }

    fn write(&mut self, name: &'static str, _: Mode, part: &TilePart<T>) -> Result<Mat<T>, Infallible> {
        self.read(name, part)
    }
}

/// Whether an operation overwrites a whole tile without reading its old contents.
struct Overwrites(bool);

impl<T> Resolve<TilePart<T>> for Overwrites {
    type Read = ();
    type Write = ();
    type Error = Infallible;

    fn read(&mut self, _: &'static str, _: &TilePart<T>) -> Result<(), Infallible> {
        Ok(())
    }

    fn write(&mut self, _: &'static str, mode: Mode, part: &TilePart<T>) -> Result<(), Infallible> {
        self.0 = mode == Mode::Write && part.is_whole;
        Ok(())
    }
}

/// The operation of a task, and the means to insert subtasks if its work is shared.
pub(crate) struct PlannedOperation<'s, O> {
    operation: O,
    nesting: Option<Nesting<'s>>,
}

/// Prepares an operation for a task. Its work is shared only if the tile is large.
pub(crate) fn plan_operation<'s, T: Scalar, O: SharedWork<T>>(
    s: &'s Scope<'s, '_>,
    operation: O,
) -> PlannedOperation<'s, O> {
    debug_assert!(operation.agrees(), "operands of {}", operation.name());
    let nesting = team::nesting_for::<T>(s, operation.cost());
    PlannedOperation { operation, nesting }
}

/// Prepares the operation of a task on the critical path. Its work is always shared.
pub(crate) fn plan_critical<'s, T: Scalar, O: SharedWork<T>>(
    s: &'s Scope<'s, '_>,
    operation: O,
) -> PlannedOperation<'s, O> {
    debug_assert!(operation.agrees(), "operands of {}", operation.name());
    PlannedOperation { operation, nesting: Some(s.nesting()) }
}

fn overwrites<T: Scalar, O: SharedWork<T>>(p: &PlannedOperation<'_, O>) -> bool {
    let mut overwrites = Overwrites(false);
    let Ok(_) = p.operation.on(&mut overwrites);
    overwrites.0
}

fn run<'t, T: Scalar, O: SharedWork<T>>(
    p: &PlannedOperation<'_, O>,
    read: [Option<&'t dyn Source<T>>; 2],
    changed: &'t mut TileMut<'_, T>,
) -> HostResult {
    let shape = changed.view().shape();
    let Ok(on) = p.operation.on(&mut HostTiles { read, changed: [Some((0, changed.view_mut())), None, None], shape });
    match p.nesting {
        Some(nesting) => O::share(on, nesting),
        None => Ok(O::run(on)?),
    }
}

fn call<T: Scalar, O: SharedWork<T>>(p: &PlannedOperation<'_, O>, tiles: [Option<Mat<T>>; 3]) -> Call<T> {
    let Ok(on) = p.operation.on(&mut DeviceTiles(tiles));
    O::call(on)
}

/// Creates a codelet with a cost but without implementations.
fn new_codelet<'s, T: Scalar, B: Operands + Send, O: SharedWork<T>>(
    name: &'static str,
) -> Codelet<B, PlannedOperation<'s, O>> {
    Codelet::new(name).cost(|p: &PlannedOperation<'s, O>| p.operation.cost())
}

/// Codelet for an operation on parts of one tile.
pub(crate) struct OneTileCodelet<'s, T: Scalar, O> {
    codelet: Codelet<Updates<TileMut<'s, T>>, PlannedOperation<'s, O>>,
    is_panel: bool,
}

impl<'s, T: Scalar, O: SharedWork<T>> OneTileCodelet<'s, T, O> {
    pub(crate) fn new(name: &'static str) -> Self {
        let codelet = on_devices(Self::on_host(name), |c, p| Ok(call(p, [None, None, Some(mat(c)?)])));
        Self { codelet, is_panel: false }
    }

    /// Creates a codelet for the panels of a factorization, which are on the critical path.
    pub(crate) fn panels(name: &'static str) -> Self {
        let codelet = Self::on_host(name).cost(|p| Cost { level: Some(BlasLevel::Two), ..p.operation.cost() });
        let codelet = on_devices(codelet, |c, p| Ok(call(p, [None, None, Some(mat(c)?)])));
        Self { codelet, is_panel: true }
    }

    fn on_host(name: &'static str) -> Codelet<Updates<TileMut<'s, T>>, PlannedOperation<'s, O>> {
        new_codelet::<T, _, _>(name).on_host(|c, p| run(p, [None; 2], c))
    }

    #[track_caller]
    pub(crate) fn spawn(&self, s: &'s Scope<'s, '_>, spec: TaskSpec, operation: O, c: TileMutHandle<'s, T>) {
        let planned = if self.is_panel { plan_critical(s, operation) } else { plan_operation(s, operation) };
        self.codelet.spawn_as(s, spec, c.read_write(), planned);
    }
}

/// Codelets for operations on two and three tiles.
type OnThreeTiles<'s, V, W, C, O> = Codelet<(Reads<Tile<V>>, Reads<Tile<W>>, C), PlannedOperation<'s, O>>;
type OnTwoTiles<'s, V, C, O> = Codelet<(Reads<Tile<V>>, C), PlannedOperation<'s, O>>;

/// Codelet for an operation on parts of two tiles, one of which it updates.
pub(crate) struct TwoTileCodelet<'s, T: Scalar, V: TileView, O> {
    update: OnTwoTiles<'s, V, Updates<TileMut<'s, T>>, O>,
    /// Variant for operations that do not read the old contents, so that they are not copied to a device.
    overwrite: OnTwoTiles<'s, V, Writes<TileMut<'s, T>>, O>,
}

impl<'s, T: Scalar, V: TileView<Element = T>, O: SharedWork<T>> TwoTileCodelet<'s, T, V, O> {
    pub(crate) fn new(name: &'static str) -> Self {
        let update = new_codelet::<T, _, _>(name)
            .on_host(|(a, c): (&Tile<V>, &mut TileMut<'s, T>), p| run(p, [Some(a), None], c));
        let overwrite = new_codelet::<T, _, _>(name)
            .on_host(|(a, c): (&Tile<V>, &mut TileMut<'s, T>), p| run(p, [Some(a), None], c));
        Self {
            update: on_devices(update, |(a, c), p| Ok(call(p, [Some(mat(a)?), None, Some(mat(c)?)]))),
            overwrite: on_devices(overwrite, |(a, c), p| Ok(call(p, [Some(mat(a)?), None, Some(mat(c)?)]))),
        }
    }

    #[track_caller]
    pub(crate) fn spawn(
        &self,
        s: &'s Scope<'s, '_>,
        spec: TaskSpec,
        operation: O,
        a: Lent<'s, Tile<V>>,
        c: TileMutHandle<'s, T>,
    ) {
        self.spawn_planned(s, spec, plan_operation(s, operation), a, c);
    }

    #[track_caller]
    pub(crate) fn spawn_planned(
        &self,
        s: &'s Scope<'s, '_>,
        spec: TaskSpec,
        p: PlannedOperation<'s, O>,
        a: Lent<'s, Tile<V>>,
        c: TileMutHandle<'s, T>,
    ) {
        if overwrites(&p) {
            self.overwrite.spawn_as(s, spec, (a.read(), c.write()), p);
        } else {
            self.update.spawn_as(s, spec, (a.read(), c.read_write()), p);
        }
    }
}

/// Codelet for an operation on parts of three tiles, one of which it updates.
pub(crate) struct ThreeTileCodelet<'s, T: Scalar, V: TileView, W: TileView, O> {
    update: OnThreeTiles<'s, V, W, Updates<TileMut<'s, T>>, O>,
    /// Variant for operations that do not read the old contents, so that they are not copied to a device.
    overwrite: OnThreeTiles<'s, V, W, Writes<TileMut<'s, T>>, O>,
}

impl<'s, T: Scalar, V: TileView<Element = T>, W: TileView<Element = T>, O: SharedWork<T>>
    ThreeTileCodelet<'s, T, V, W, O>
{
    pub(crate) fn named(name: &'static str) -> Self {
        let update = new_codelet::<T, _, _>(name)
            .on_host(|(a, b, c): (&Tile<V>, &Tile<W>, &mut TileMut<'s, T>), p| run(p, [Some(a), Some(b)], c));
        let overwrite = new_codelet::<T, _, _>(name)
            .on_host(|(a, b, c): (&Tile<V>, &Tile<W>, &mut TileMut<'s, T>), p| run(p, [Some(a), Some(b)], c));
        Self {
            update: on_devices(update, |(a, b, c), p| Ok(call(p, [Some(mat(a)?), Some(mat(b)?), Some(mat(c)?)]))),
            overwrite: on_devices(overwrite, |(a, b, c), p| Ok(call(p, [Some(mat(a)?), Some(mat(b)?), Some(mat(c)?)]))),
        }
    }

    #[track_caller]
    pub(crate) fn spawn_operation(
        &self,
        s: &'s Scope<'s, '_>,
        spec: TaskSpec,
        operation: O,
        (a, b): (Lent<'s, Tile<V>>, Lent<'s, Tile<W>>),
        c: TileMutHandle<'s, T>,
    ) {
        let p = plan_operation(s, operation);
        if overwrites(&p) {
            self.overwrite.spawn_as(s, spec, (a.read(), b.read(), c.write()), p);
        } else {
            self.update.spawn_as(s, spec, (a.read(), b.read(), c.read_write()), p);
        }
    }
}
