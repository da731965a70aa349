//! Operations on tiles as tasks. On the host they run on views of the tiles, on a device on the tiles' regions in its
//! heap.
//!
//! A task's operation has a [`TilePart`] for each operand: it says which of the task's tiles, and which rows and
//! columns of it. So updating a block column by another block column, or by its own upper rows, is the same operation
//! as one on whole tiles.

use super::{
    Changed, Outcome, Target, mat,
    team::{self, Shared},
};
use crate::{Scalar, tiled::Tile};
use std::{convert::Infallible, marker::PhantomData, ops::Range};
use superscalar_kernels::{
    MatMut, TileView,
    cpu::Operand,
    device::{Call, Mat, on_devices, panels_on_devices},
    operations::{Resolve, Shape},
};
use superscalar_runtime::{
    BlasLevel, Codelet, Cost, Lent, Mode, Nesting, Operands, Reads, Scope, TaskSpec, Updates, Writes,
};

/// Role of a tile in a task: one of the tiles that are only read, or the one that is updated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    First,
    Second,
    Changed,
}

/// A range of rows and the first `cols` columns of one of a task's tiles.
#[derive(Clone, Debug)]
pub(crate) struct Part<T> {
    of: Which,
    rows: Range<usize>,
    cols: usize,
    is_whole: bool,
    element: PhantomData<T>,
}

impl<T> Part<T> {
    /// Selects a whole tile of this shape.
    pub(crate) fn whole(of: Which, (m, n): (usize, usize)) -> Self {
        Self { is_whole: true, ..Self::rows(of, 0..m, n) }
    }

    /// Checks that a part marked as whole is the whole tile, because the old contents of such a tile may be dropped.
    fn check(&self, tile: (usize, usize)) {
        let shape = (self.rows.len(), self.cols);
        assert!(!self.is_whole || shape == tile, "all of a tile of {tile:?}, not {shape:?}");
    }

    /// Selects a range of rows of a tile's first n columns.
    pub(crate) fn rows(of: Which, rows: Range<usize>, n: usize) -> Self {
        Self { of, rows, cols: n, is_whole: false, element: PhantomData }
    }
}

impl<T: superscalar_kernels::Scalar> Shape for Part<T> {
    type Element = T;

    fn shape(&self) -> (usize, usize) {
        (self.rows.len(), self.cols)
    }
}

/// A tile that is read, with either type of view.
trait Source<T> {
    fn part(&self, part: &Part<T>) -> Operand<'_, T>;
}

impl<V: TileView> Source<V::Element> for Tile<V> {
    fn part(&self, part: &Part<V::Element>) -> Operand<'_, V::Element> {
        part.check(self.view().shape());
        self.operand_of(part.rows.clone(), 0..part.cols)
    }
}

/// The tiles of a task on the host. Each operand takes its part.
struct Views<'t, T> {
    read: [Option<&'t dyn Source<T>>; 2],
    /// Remaining row blocks of the updated tile, with their first rows. An operation takes at most two parts of it.
    changed: [Option<(usize, MatMut<'t, T>)>; 3],
    /// Shape of the updated tile.
    shape: (usize, usize),
}

impl<'t, T: Scalar> Views<'t, T> {
    /// Takes a part of the updated tile that no other operand has taken.
    fn take(&mut self, part: &Part<T>) -> MatMut<'t, T> {
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
            let free = self.changed.iter_mut().find(|place| place.is_none());
            *free.expect("no more than two parts are taken") = Some(left);
        }
        taken.split_at_col(part.cols).0
    }
}

impl<'t, T: Scalar> Resolve<Part<T>> for Views<'t, T> {
    type Read = Operand<'t, T>;
    type Write = MatMut<'t, T>;
    type Error = Infallible;

    fn read(&mut self, _: &'static str, part: &Part<T>) -> Result<Operand<'t, T>, Infallible> {
        Ok(match part.of {
            Which::Changed => self.take(part).into_ref().into(),
            of => self.read[of as usize].expect("as many tiles as the operation has").part(part),
        })
    }

    fn write(&mut self, _: &'static str, _: Mode, part: &Part<T>) -> Result<MatMut<'t, T>, Infallible> {
        Ok(self.take(part))
    }
}

/// The tiles of a task on a device, indexed by [`TileRole`].
struct Places<T>([Option<Mat<T>>; 3]);

impl<T: Scalar> Resolve<Part<T>> for Places<T> {
    type Read = Mat<T>;
    type Write = Mat<T>;
    type Error = Infallible;

    fn read(&mut self, _: &'static str, part: &Part<T>) -> Result<Mat<T>, Infallible> {
        let tile = self.0[part.of as usize].expect("as many tiles as the operation has");
        part.check(tile.shape());
        Ok(tile.submatrix(part.rows.clone(), 0..part.cols))
    }

    fn write(&mut self, name: &'static str, _: Mode, part: &Part<T>) -> Result<Mat<T>, Infallible> {
        self.read(name, part)
    }
}

/// Whether an operation overwrites a whole tile without reading its old contents.
struct Overwrites(bool);

impl<T> Resolve<Part<T>> for Overwrites {
    type Read = ();
    type Write = ();
    type Error = Infallible;

    fn read(&mut self, _: &'static str, _: &Part<T>) -> Result<(), Infallible> {
        Ok(())
    }

    fn write(&mut self, _: &'static str, mode: Mode, part: &Part<T>) -> Result<(), Infallible> {
        self.0 = mode == Mode::Write && part.is_whole;
        Ok(())
    }
}

/// The operation of a task, and the means to insert subtasks if its work is shared.
pub(crate) struct Planned<'s, O> {
    operation: O,
    nesting: Option<Nesting<'s>>,
}

/// Prepares an operation for a task. Its work is shared only if the tile is large.
pub(crate) fn plan<'s, T: Scalar, O: Shared<T>>(s: &'s Scope<'s, '_>, operation: O) -> Planned<'s, O> {
    debug_assert!(operation.agrees(), "operands of {}", operation.name());
    let nesting = team::of::<T>(s, operation.cost());
    Planned { operation, nesting }
}

/// Prepares the operation of a task on the critical path. Its work is always shared.
pub(crate) fn plan_awaited<'s, T: Scalar, O: Shared<T>>(s: &'s Scope<'s, '_>, operation: O) -> Planned<'s, O> {
    debug_assert!(operation.agrees(), "operands of {}", operation.name());
    Planned { operation, nesting: Some(s.nesting()) }
}

fn overwrites<T: Scalar, O: Shared<T>>(p: &Planned<'_, O>) -> bool {
    let mut overwrites = Overwrites(false);
    let Ok(_) = p.operation.on(&mut overwrites);
    overwrites.0
}

fn run<'t, T: Scalar, O: Shared<T>>(
    p: &Planned<'_, O>,
    read: [Option<&'t dyn Source<T>>; 2],
    changed: &'t mut Changed<'_, T>,
) -> Outcome {
    let shape = changed.view().shape();
    let Ok(on) = p.operation.on(&mut Views { read, changed: [Some((0, changed.view_mut())), None, None], shape });
    match p.nesting {
        Some(nesting) => O::share(on, nesting),
        None => Ok(O::run(on)?),
    }
}

fn call<T: Scalar, O: Shared<T>>(p: &Planned<'_, O>, tiles: [Option<Mat<T>>; 3]) -> Call<T> {
    let Ok(on) = p.operation.on(&mut Places(tiles));
    O::call(on)
}

/// Creates a codelet with a cost but without implementations.
fn planned<'s, T: Scalar, B: Operands + Send, O: Shared<T>>(name: &'static str) -> Codelet<B, Planned<'s, O>> {
    Codelet::new(name).cost(|p: &Planned<'s, O>| p.operation.cost())
}

/// Codelet for an operation on parts of one tile.
pub(crate) struct OnOne<'s, T: Scalar, O> {
    codelet: Codelet<Updates<Changed<'s, T>>, Planned<'s, O>>,
    are_panels: bool,
}

impl<'s, T: Scalar, O: Shared<T>> OnOne<'s, T, O> {
    pub(crate) fn new(name: &'static str) -> Self {
        let codelet = on_devices(Self::on_host(name), |c, p| Ok(call(p, [None, None, Some(mat(c)?)])));
        Self { codelet, are_panels: false }
    }

    /// Creates a codelet for the panels of a factorization, which are on the critical path.
    pub(crate) fn panels(name: &'static str) -> Self {
        let codelet = Self::on_host(name).cost(|p| Cost { level: Some(BlasLevel::Two), ..p.operation.cost() });
        let codelet = panels_on_devices(codelet, |c, p| Ok(call(p, [None, None, Some(mat(c)?)])));
        Self { codelet, are_panels: true }
    }

    fn on_host(name: &'static str) -> Codelet<Updates<Changed<'s, T>>, Planned<'s, O>> {
        planned::<T, _, _>(name).on_host(|c, p| run(p, [None; 2], c))
    }

    #[track_caller]
    pub(crate) fn spawn(&self, s: &'s Scope<'s, '_>, spec: TaskSpec, operation: O, c: Target<'s, T>) {
        let planned = if self.are_panels { plan_awaited(s, operation) } else { plan(s, operation) };
        self.codelet.spawn_as(s, spec, c.read_write(), planned);
    }
}

/// Codelets for operations on two and three tiles.
type ThreeTiles<'s, V, W, C, O> = Codelet<(Reads<Tile<V>>, Reads<Tile<W>>, C), Planned<'s, O>>;
type TwoTiles<'s, V, C, O> = Codelet<(Reads<Tile<V>>, C), Planned<'s, O>>;

/// Codelet for an operation on parts of two tiles, one of which it updates.
pub(crate) struct OnTwo<'s, T: Scalar, V: TileView, O> {
    update: TwoTiles<'s, V, Updates<Changed<'s, T>>, O>,
    /// Variant for operations that do not read the old contents, so that they are not copied to a device.
    overwrite: TwoTiles<'s, V, Writes<Changed<'s, T>>, O>,
}

impl<'s, T: Scalar, V: TileView<Element = T>, O: Shared<T>> OnTwo<'s, T, V, O> {
    pub(crate) fn new(name: &'static str) -> Self {
        let update =
            planned::<T, _, _>(name).on_host(|(a, c): (&Tile<V>, &mut Changed<'s, T>), p| run(p, [Some(a), None], c));
        let overwrite =
            planned::<T, _, _>(name).on_host(|(a, c): (&Tile<V>, &mut Changed<'s, T>), p| run(p, [Some(a), None], c));
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
        c: Target<'s, T>,
    ) {
        self.spawn_planned(s, spec, plan(s, operation), a, c);
    }

    #[track_caller]
    pub(crate) fn spawn_planned(
        &self,
        s: &'s Scope<'s, '_>,
        spec: TaskSpec,
        p: Planned<'s, O>,
        a: Lent<'s, Tile<V>>,
        c: Target<'s, T>,
    ) {
        if overwrites(&p) {
            self.overwrite.spawn_as(s, spec, (a.read(), c.write()), p);
        } else {
            self.update.spawn_as(s, spec, (a.read(), c.read_write()), p);
        }
    }
}

/// Codelet for an operation on parts of three tiles, one of which it updates.
pub(crate) struct OnThree<'s, T: Scalar, V: TileView, W: TileView, O> {
    update: ThreeTiles<'s, V, W, Updates<Changed<'s, T>>, O>,
    /// Variant for operations that do not read the old contents, so that they are not copied to a device.
    overwrite: ThreeTiles<'s, V, W, Writes<Changed<'s, T>>, O>,
}

impl<'s, T: Scalar, V: TileView<Element = T>, W: TileView<Element = T>, O: Shared<T>> OnThree<'s, T, V, W, O> {
    pub(crate) fn named(name: &'static str) -> Self {
        let update = planned::<T, _, _>(name)
            .on_host(|(a, b, c): (&Tile<V>, &Tile<W>, &mut Changed<'s, T>), p| run(p, [Some(a), Some(b)], c));
        let overwrite = planned::<T, _, _>(name)
            .on_host(|(a, b, c): (&Tile<V>, &Tile<W>, &mut Changed<'s, T>), p| run(p, [Some(a), Some(b)], c));
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
        c: Target<'s, T>,
    ) {
        let p = plan(s, operation);
        if overwrites(&p) {
            self.overwrite.spawn_as(s, spec, (a.read(), b.read(), c.write()), p);
        } else {
            self.update.spawn_as(s, spec, (a.read(), b.read(), c.read_write()), p);
        }
    }
}
