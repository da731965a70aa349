//! gebrd for batches: the reduction to bidiagonal form, by panels of 16 columns and rows, each followed by a product.
//!
//! Kernels reduce matrices with at least as many rows as columns. Others are transposed in scratch, reduced there with
//! Q and P exchanged, and transposed back. Matrices of at most 32 rows and columns are reduced in registers, by a warp.

use super::{
    count_of,
    operand::{Operand, classes},
};
use crate::cuda::{
    program::Family,
    stream::{Argument, Concurrency, Launch, LaunchOptions, Stream},
    tile::{ProductTile, pack},
};
use crate::{
    Scalar,
    operations::{BatchCall, BatchMat, Mat},
};
use std::ops::Range;
use superscalar_runtime::DeviceError;

/// Columns of a panel, `NB` in `text/batch_gebrd.cu`.
const PANEL_COLUMNS: usize = 16;
/// The most rows and columns of a matrix that a warp reduces in registers.
const TINY_ORDER_MAX: usize = 32;
/// Threads and rows of a block of such matrices, of updates, of transposes, and of the two kernels for scales.
const TINY_THREADS: usize = 128;
const UPDATE_THREADS: usize = 128;
const UPDATED_ORDER: usize = 64;
const FLIP_THREADS: usize = 256;
const FLIPPED_ORDER: usize = 32;
const SCALE_THREADS: usize = 256;
const UNSCALE_THREADS: usize = 64;
/// Every device has this much shared memory for a block.
const SHARED_BYTES_ALWAYS: usize = 46 << 10;

/// The batches of one launch.
#[derive(Clone, Copy, Debug)]
struct Reduction<T: Scalar> {
    a: Operand<T>,
    reals: [Operand<T::Real>; 2],
    taus: [Operand<T>; 2],
    count: usize,
}

/// Scratch of the matrices that are reduced together.
#[derive(Clone, Copy, Debug)]
struct Room<T> {
    /// For each problem, a column with the panels X, Y and U, and what else the kernels keep.
    panels: Mat<T>,
    /// For each problem, its conjugate transpose, if it has less rows than columns.
    flipped: Option<Mat<T>>,
}

/// Reduces each A of a checked call.
pub(super) fn gebrd<T: Scalar>(stream: &mut Stream<'_, T>, call: &BatchCall<T>) -> Result<(), DeviceError> {
    let ([a], [tauq, taup], [d, e]) = (&*call.updated, &*call.written, &*call.reals) else {
        return Err(DeviceError::new("gebrd: these are not its operands"));
    };
    let key = |at| {
        let (m, n) = a.shape(at);
        m.max(n).max(TINY_ORDER_MAX).next_power_of_two().ilog2() as usize
    };
    for range in classes(a.len(), a.layout().is_some(), key) {
        let count = range.len();
        let reals = [d, e].map(|batch| Operand::of(batch, range.clone()));
        let taus = [tauq, taup].map(|batch| Operand::of(batch, range.clone()));
        let part = Reduction { a: Operand::of(a, range.clone()), reals, taus, count };
        part.enqueue(stream, a, range)?;
    }
    Ok(())
}

/// Returns the most rows and columns of the problems with less rows than columns, or of the others.
fn largest<T: Scalar>(a: &BatchMat<T>, range: Range<usize>, is_flat: bool) -> (usize, usize) {
    // All problems of a uniform batch have the shape of the first one.
    let range = if a.layout().is_some() { range } else { range.start..range.end.min(range.start + 1) };
    let shapes = range.map(|at| a.shape(at)).filter(|(m, n)| (m < n) == is_flat);
    shapes.fold((0, 0), |(m, n), shape| (m.max(shape.0), n.max(shape.1)))
}

impl<T: Scalar> Reduction<T> {
    fn enqueue(self, stream: &mut Stream<'_, T>, batch: &BatchMat<T>, range: Range<usize>) -> Result<(), DeviceError> {
        let Self { a, reals: [d, e], count, .. } = self;
        let (m, n) = a.first.shape();
        if m == 0 || n == 0 {
            return Ok(());
        }
        let before = stream.scratch.mark();
        let levels = stream.take::<T::Real>((count, 1))?;
        let [levels, its_count] = [Argument::start(levels), count_of(&(0..count))?];
        let arguments = [&a.arguments()[..], &[levels, its_count]].concat();
        launch(stream, "gebrd_scale", &arguments, (count, SCALE_THREADS), 0)?;
        let (tall, flat) = (largest(batch, range.clone(), false), largest(batch, range, true));
        // The columns that lie in registers.
        let k = tall.1.max(flat.0);
        if m.max(n) <= TINY_ORDER_MAX && k <= tiny_columns_max::<T>() {
            let kernel = if k <= 16 { "gebrd_tiny_16" } else { "gebrd_tiny_32" };
            let arguments = [self.arguments(), vec![its_count]].concat();
            launch(stream, kernel, &arguments, (count.div_ceil(TINY_THREADS / 32), TINY_THREADS), 0)?;
        } else {
            self.reduce(stream, tall, false)?;
            self.reduce(stream, flat, true)?;
        }
        let arguments = [&a.arguments()[..], &d.arguments(), &e.arguments(), &[levels, its_count]].concat();
        launch(stream, "gebrd_unscale", &arguments, (count, UNSCALE_THREADS), 0)?;
        stream.scratch.release(before);
        Ok(())
    }

    fn arguments(self) -> Vec<Argument> {
        let Self { a, reals: [d, e], taus: [tauq, taup], .. } = self;
        [a.arguments(), d.arguments(), e.arguments(), tauq.arguments(), taup.arguments()].concat()
    }

    /// Reduces the matrices with less rows than columns, or the others, which are at most m x n.
    fn reduce(mut self, stream: &mut Stream<'_, T>, (m, n): (usize, usize), is_flat: bool) -> Result<(), DeviceError> {
        if m == 0 || n == 0 {
            return Ok(());
        }
        (self.a.first.m, self.a.first.n) = (m, n);
        let (rows, columns) = if is_flat { (n, m) } else { (m, n) };
        let [x, y] = [rows, columns].map(|size| size.next_multiple_of(pack::<T>()));
        let before = stream.scratch.mark();
        // What the kernel for any number of rows needs is taken always: scratch must not depend on the device.
        let panels = stream.take((PANEL_COLUMNS * (x + 2 * y) + 2 * (x + y), self.count))?;
        let flipped = if is_flat { Some(stream.take((x * columns, self.count))?) } else { None };
        let room = Room { panels, flipped };
        if is_flat {
            self.flip(stream, room, false)?;
        }
        for at in (0..columns).step_by(PANEL_COLUMNS) {
            self.panel(stream, room, at, (rows - at, columns - at))?;
            let next = at + PANEL_COLUMNS;
            if next < columns {
                self.update(stream, room, at, (rows - next, columns - next))?;
            }
        }
        if is_flat {
            self.flip(stream, room, true)?;
        }
        stream.scratch.release(before);
        Ok(())
    }

    /// Copies the matrices to scratch as their conjugate transposes, or back.
    fn flip(self, stream: &mut Stream<'_, T>, room: Room<T>, is_back: bool) -> Result<(), DeviceError> {
        let Self { a, count, .. } = self;
        let tiles = a.first.m.div_ceil(FLIPPED_ORDER).saturating_mul(a.first.n.div_ceil(FLIPPED_ORDER));
        let last = [Argument::code(is_back.into()), count_of(&(0..count))?];
        let arguments = [&a.arguments()[..], &room.flipped_arguments(), &last].concat();
        launch(stream, "flip", &arguments, (count.saturating_mul(tiles), FLIP_THREADS), 0)
    }

    /// Reduces the panel of the rows and columns from `at` on, of which `rows` and `columns` are left.
    fn panel(
        self,
        stream: &mut Stream<'_, T>,
        room: Room<T>,
        at: usize,
        (rows, columns): (usize, usize),
    ) -> Result<(), DeviceError> {
        // The rows that blocks have room for in registers, and their threads. Otherwise A is read twice.
        let (kernel, rows_max, threads) = match rows {
            ..=128 => ("labrd_128", 128, 128),
            129..=256 => ("labrd_256", 256, 256),
            257..=512 => ("labrd_512", 512, 256),
            _ => ("labrd", 0, 256),
        };
        let elements = if rows_max > 0 { rows_max * (threads / 32 + 1) + 2 * columns } else { 0 };
        let shared_bytes = elements * size_of::<T>();
        let is_possible = shared_bytes <= SHARED_BYTES_ALWAYS
            || stream.blocks_at_once((Family::BatchGebrd, kernel), threads, shared_bytes)? != Some(0);
        let (kernel, threads, shared_bytes) =
            if is_possible { (kernel, threads, shared_bytes) } else { ("labrd", 256, 0) };
        let first = Argument::code(place_of(at)?);
        let last = [room.flipped_arguments(), room.panels_arguments()].concat();
        let arguments = [vec![first], self.arguments(), last, vec![count_of(&(0..self.count))?]].concat();
        launch(stream, kernel, &arguments, (self.count, threads), shared_bytes)
    }

    /// Updates what follows the panel at `at`: `rows` and `columns` are left.
    fn update(
        self,
        stream: &mut Stream<'_, T>,
        room: Room<T>,
        at: usize,
        (rows, columns): (usize, usize),
    ) -> Result<(), DeviceError> {
        let Self { a, count, .. } = self;
        let tiles = rows.div_ceil(UPDATED_ORDER).saturating_mul(columns.div_ceil(UPDATED_ORDER));
        let last = [room.flipped_arguments(), room.panels_arguments()].concat();
        let first = Argument::code(place_of(at)?);
        let arguments = [&[first], &a.arguments()[..], &last, &[count_of(&(0..count))?]].concat();
        let shared_bytes = update_tile::<T>().shared_bytes::<T>([false, true]);
        launch(stream, "gebrd_update", &arguments, (count.saturating_mul(tiles), UPDATE_THREADS), shared_bytes)
    }
}

impl<T: Scalar> Room<T> {
    fn panels_arguments(self) -> [Argument; 2] {
        [Argument::start(self.panels), Argument::index(self.panels.ld)]
    }

    fn flipped_arguments(self) -> [Argument; 2] {
        match self.flipped {
            Some(flipped) => [Argument::start(flipped), Argument::index(flipped.ld)],
            None => [Argument::value(0_u64), Argument::index(0)],
        }
    }
}

/// Returns the parameters of the product of an update, `update_tiles` in `text/batch_gebrd_ends.cu`.
fn update_tile<T: Scalar>() -> ProductTile {
    let deep = if T::COMPLEX && size_of::<T>() > 8 { 8 } else { 16 };
    ProductTile { rows: UPDATED_ORDER, columns: UPDATED_ORDER, deep, stages: 3, down: 2, across: 2 }
}

/// Returns the most columns of a tiny matrix.
fn tiny_columns_max<T: Scalar>() -> usize {
    if size_of::<T>() > 8 && T::COMPLEX { 16 } else { 32 }
}

/// Returns a row as kernels count it.
fn place_of(row: usize) -> Result<i32, DeviceError> {
    i32::try_from(row).map_err(|_| DeviceError::new(format!("gebrd: row {row} exceeds the range of the kernel")))
}

fn launch<T: Scalar>(
    stream: &mut Stream<'_, T>,
    kernel: &'static str,
    arguments: &[Argument],
    (blocks, threads): (usize, usize),
    shared_bytes: usize,
) -> Result<(), DeviceError> {
    let launch = Launch { family: Family::BatchGebrd, kernel, arguments, grid: [blocks, 1, 1], threads: [threads, 1] };
    stream.launch_with(launch, LaunchOptions { shared_bytes, concurrency: Concurrency::Any })
}
