//! Runs an operation on every problem of a batch, in tasks of one chunk each.

use super::{
    chunks::{Chunked, ChunkedInfo, Chunks},
    codelet::{ChunkWork, OperandPlaces, codelet, host_codelet},
    workload::Workload,
};
use crate::{Scalar, block_size::BlockSize, error::Error, options::Options, plan::Machine};
use superscalar_kernels::{
    BatchPlacement,
    operations::{BatchOperands, BatchOperation, ProblemShapes},
};
use superscalar_macros::each_type;
use superscalar_runtime::{Cost, Runtime, Scope, TaskSpec};

/// Matrices with more rows or columns stay on the host: not every device has the shared memory for their panels. The
/// routines for one matrix are faster for them.
const DEVICE_ORDER_MAX: usize = 512;

/// The operands of an operation, in chunks. See [`BatchOperands`].
pub struct ChunkedOperands<'c, 's, T: Scalar> {
    pub(super) read: Vec<&'c Chunked<'s, T>>,
    pub(super) updated: Vec<&'c Chunked<'s, T>>,
    pub(super) written: Vec<&'c Chunked<'s, T>>,
    pub(super) reals: Vec<&'c Chunked<'s, T::Real>>,
    pub(super) pivots_read: Vec<&'c Chunked<'s, i32>>,
    pub(super) pivots_written: Vec<&'c Chunked<'s, i32>>,
    pub(super) info: Vec<&'c ChunkedInfo<'s>>,
}

impl<T: Scalar> Default for ChunkedOperands<'_, '_, T> {
    fn default() -> Self {
        Self {
            read: Vec::new(),
            updated: Vec::new(),
            written: Vec::new(),
            reals: Vec::new(),
            pivots_read: Vec::new(),
            pivots_written: Vec::new(),
            info: Vec::new(),
        }
    }
}

/// Inserts a task for each chunk.
///
/// # Panics
/// If the operands are cut into different chunks, the shapes do not match, or an operand that is written is read-only.
#[each_type]
#[track_caller]
pub fn spawn<'s, T: Scalar>(s: &'s Scope<'s, '_>, operation: BatchOperation<T>, operands: ChunkedOperands<'_, 's, T>) {
    let has_devices = s.nesting().has_devices();
    spawn_among(s, operation, operands, has_devices);
}

/// Inserts a task for each chunk, for the host and, with `for_devices`, for devices.
#[track_caller]
fn spawn_among<'s, T: Scalar>(
    s: &'s Scope<'s, '_>,
    operation: BatchOperation<T>,
    operands: ChunkedOperands<'_, 's, T>,
    for_devices: bool,
) {
    let name = operation.name();
    operands.check(name);
    let (host_codelet, codelet) = (host_codelet::<T>(name), codelet::<T>(name));
    for chunk in 0..operands.chunks().len() {
        let cost = operands.check_shapes(chunk, &operation);
        let (places, table) = match for_devices && operands.suit_devices(chunk, &operation) {
            true => OperandPlaces::new(
                operands.chunks().problems_of(chunk),
                operands.placements(chunk),
                operands.updated[0].placement(chunk),
            ),
            false => (OperandPlaces::HostOnly, None),
        };
        let table = table.map(|table| s.own(table));
        let of = |batches: &[&Chunked<'s, T>]| -> Vec<_> { batches.iter().map(|batch| batch.handle(chunk)).collect() };
        let (read, updated, written) = (of(&operands.read), of(&operands.updated), of(&operands.written));
        let reals: Vec<_> = operands.reals.iter().map(|batch| batch.handle(chunk)).collect();
        let of =
            |batches: &[&Chunked<'s, i32>]| -> Vec<_> { batches.iter().map(|batch| batch.handle(chunk)).collect() };
        let (pivots_read, pivots_written) = (of(&operands.pivots_read), of(&operands.pivots_written));
        let info: Vec<_> = operands.info.iter().map(|info| info.handle(chunk)).collect();
        let elements = (
            read.iter().map(|batch| batch.read()).collect::<Vec<_>>(),
            updated.iter().map(|batch| batch.read_write()).collect::<Vec<_>>(),
            written.iter().map(|batch| batch.write()).collect::<Vec<_>>(),
        );
        let numbers = (
            reals.iter().map(|batch| batch.write()).collect::<Vec<_>>(),
            pivots_read.iter().map(|batch| batch.read()).collect::<Vec<_>>(),
            pivots_written.iter().map(|batch| batch.write()).collect::<Vec<_>>(),
            info.iter().map(|info| info.write()).collect::<Vec<_>>(),
            table.iter().map(|table| table.read()).collect::<Vec<_>>(),
        );
        let codelet = if matches!(places, OperandPlaces::HostOnly) { &host_codelet } else { &codelet };
        let work = ChunkWork { operation, cost, places };
        codelet.spawn_as(s, TaskSpec::new(name).index([chunk as u32]), (elements, numbers), work);
    }
}

impl<T: Scalar> ChunkedOperands<'_, '_, T> {
    /// Returns the boundaries of the first operand.
    fn chunks(&self) -> &Chunks {
        self.updated[0].chunks()
    }

    /// Checks that operands have the same boundaries, and that those that are written may be.
    #[track_caller]
    fn check(&self, name: &str) {
        let chunks = self.chunks();
        let elements = self.read.iter().chain(&self.updated).chain(&self.written).map(|batch| batch.chunks());
        let others = self.pivots_read.iter().chain(&self.pivots_written).map(|batch| batch.chunks());
        let reals = self.reals.iter().map(|batch| batch.chunks());
        let mut each = elements.chain(others).chain(reals).chain(self.info.iter().map(|info| info.chunks()));
        assert!(each.all(|other| other == chunks), "{name}: the operands are cut into different chunks");
        let is_read_only = self.updated.iter().chain(&self.written).any(|batch| batch.is_read_only())
            || self.reals.iter().any(|batch| batch.is_read_only())
            || self.pivots_written.iter().any(|batch| batch.is_read_only());
        assert!(!is_read_only, "{name}: an operand that is written is read-only");
    }

    /// Checks the shapes of a chunk's problems, and returns the cost of the chunk.
    #[track_caller]
    fn check_shapes(&self, chunk: usize, operation: &BatchOperation<T>) -> Cost {
        let count = self.chunks().problems_of(chunk);
        let is_same = |place: &&BatchPlacement| matches!(place, BatchPlacement::Strided { .. });
        let is_uniform = self.placements(chunk).iter().all(is_same);
        let mut total = Cost::default();
        for p in 0..if is_uniform { 1 } else { count } {
            let shapes = self.shapes(chunk, p);
            if let Err(why) = operation.check(&shapes) {
                panic!("{}: {why}", operation.name());
            }
            let cost = operation.cost(&shapes);
            total = Cost { flops: total.flops + cost.flops, bytes: total.bytes + cost.bytes, ..cost };
        }
        let times = if is_uniform { count as f64 } else { 1.0 };
        Cost { flops: total.flops * times, bytes: total.bytes * times, ..total }
    }

    /// Returns whether every device has kernels for the shapes of a chunk's problems: not for matrices of high order,
    /// nor for gels if A is wide.
    fn suit_devices(&self, chunk: usize, operation: &BatchOperation<T>) -> bool {
        let a = self.updated[0].placement(chunk);
        let different = if matches!(a, BatchPlacement::Strided { .. }) { 1 } else { self.chunks().problems_of(chunk) };
        (0..different).all(|p| {
            let (m, n) = a.shape(p);
            let is_wide = matches!(operation, BatchOperation::Gels) && m < n;
            m.max(n) <= DEVICE_ORDER_MAX && !is_wide
        })
    }

    /// Returns where the operands of a chunk are, in the order of a call.
    fn placements(&self, chunk: usize) -> Vec<&BatchPlacement> {
        let elements = self.read.iter().chain(&self.updated).chain(&self.written).map(|batch| batch.placement(chunk));
        let reals = self.reals.iter().map(|batch| batch.placement(chunk));
        let pivots = self.pivots_read.iter().chain(&self.pivots_written).map(|batch| batch.placement(chunk));
        elements.chain(reals).chain(pivots).collect()
    }

    fn shapes(&self, chunk: usize, p: usize) -> ProblemShapes {
        let of = |batches: &[&Chunked<'_, T>]| [0, 1].map(|at| Some(batches.get(at)?.placement(chunk).shape(p)));
        let pivots = self.pivots_read.first().or(self.pivots_written.first());
        ProblemShapes {
            read: of(&self.read),
            updated: of(&self.updated),
            written: of(&self.written),
            reals: [0, 1].map(|at| Some(self.reals.get(at)?.placement(chunk).shape(p))),
            pivots: pivots.map(|batch| batch.placement(chunk).shape(p)),
        }
    }
}

/// Runs an operation on every problem of the batches: what the routines of this module have in common. The fields of
/// [`BatchOperands`] are those that the operation names; `info` has a number for each problem if the operation has
/// outcomes.
///
/// # Errors
/// [`Shape`](crate::ErrorKind::Shape) if the shapes of a problem do not match, or the batches have different lengths;
/// [`Argument`](crate::ErrorKind::Argument) if the operands are not those of the operation, or an interchange is out of
/// range.
///
/// ```
/// use superscalar::{
///     Runtime,
///     dla::{BatchMut, Options, Uplo, batch},
///     kernels::operations::{BatchOperands, BatchOperation},
/// };
///
/// let (mut a, mut info) = ([4.0, 9.0], [0; 2]);
/// let updated = vec![BatchMut::packed(&mut a, (1, 1))?];
/// let operands = BatchOperands { updated, info: vec![&mut info], ..BatchOperands::default() };
/// batch::run(&Runtime::new()?, BatchOperation::Potrf { uplo: Uplo::Lower }, operands, &Options::default())?;
/// assert_eq!((a, info), ([2.0, 3.0], [0, 0]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[each_type]
pub fn run<T: Scalar>(
    rt: &Runtime,
    operation: BatchOperation<T>,
    operands: BatchOperands<'_, T>,
    options: &Options,
) -> Result<(), Error> {
    let (count, name) = (operands.len(), operation.name());
    let is_uniform = check(&operation, &operands)?;
    let cost = |p| operation.cost(&operands.shapes(p));
    let (all, machine) = (Workload::new::<T>(count, is_uniform, &cost), Machine::of::<T>(rt));
    // A caller who sets the size of the chunks has planned how to divide the work.
    let for_devices = match options.block_size {
        BlockSize::Fixed(_) => machine.devices > 0,
        BlockSize::Auto => all.gains_by_devices(rt, name, &machine),
    };
    let machine = if for_devices { machine } else { machine.with_devices(0, None) };
    let chunks = Chunks::plan(options, &machine, &all).map_err(|error| error.of_routine(name))?;
    if chunks.len() <= 1 && !for_devices {
        operation.run(operands);
        return Ok(());
    }
    let BatchOperands { read, updated, written, reals, pivots_read, pivots_written, info } = operands;
    Ok(rt.scope(move |s| {
        let read: Vec<_> = read.into_iter().map(|batch| Chunked::read_only(s, batch, &chunks)).collect();
        let updated: Vec<_> = updated.into_iter().map(|batch| Chunked::new(s, batch, &chunks)).collect();
        let written: Vec<_> = written.into_iter().map(|batch| Chunked::new(s, batch, &chunks)).collect();
        let reals: Vec<_> = reals.into_iter().map(|batch| Chunked::new(s, batch, &chunks)).collect();
        let pivots_read: Vec<_> = pivots_read.into_iter().map(|batch| Chunked::read_only(s, batch, &chunks)).collect();
        let pivots_written: Vec<_> = pivots_written.into_iter().map(|batch| Chunked::new(s, batch, &chunks)).collect();
        let info: Vec<_> = info.into_iter().map(|info| ChunkedInfo::new(s, info, &chunks)).collect();
        let operands = ChunkedOperands {
            read: read.iter().collect(),
            updated: updated.iter().collect(),
            written: written.iter().collect(),
            reals: reals.iter().collect(),
            pivots_read: pivots_read.iter().collect(),
            pivots_written: pivots_written.iter().collect(),
            info: info.iter().collect(),
        };
        spawn_among(s, operation, operands, for_devices);
    })?)
}

/// Runs an operation on every problem of the batches, as [`run`](fn@run) does, on the calling thread.
///
/// # Errors
/// As for [`run`](fn@run).
///
/// ```
/// use superscalar::{
///     dla::{BatchMut, Uplo, batch},
///     kernels::operations::{BatchOperands, BatchOperation},
/// };
///
/// let (mut a, mut info) = ([4.0, 9.0], [0; 2]);
/// let updated = vec![BatchMut::packed(&mut a, (1, 1))?];
/// let operands = BatchOperands { updated, info: vec![&mut info], ..BatchOperands::default() };
/// batch::run_serial(BatchOperation::Potrf { uplo: Uplo::Lower }, operands)?;
/// assert_eq!((a, info), ([2.0, 3.0], [0, 0]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[each_type]
pub fn run_serial<T: Scalar>(operation: BatchOperation<T>, operands: BatchOperands<'_, T>) -> Result<(), Error> {
    check(&operation, &operands)?;
    operation.run(operands);
    Ok(())
}

/// Checks the shapes of all problems, and the interchanges that are read. Returns whether the shapes are the same.
fn check<T: Scalar>(operation: &BatchOperation<T>, operands: &BatchOperands<'_, T>) -> Result<bool, Error> {
    let (count, name) = (operands.len(), operation.name());
    operation.check_operands(operands).map_err(|why| Error::argument(format!("{name}: {why}")))?;
    if !operands.all_have(count) {
        return Err(Error::shape(format!("{name}: the batches have different numbers of problems")));
    }
    let is_uniform = operands.are_uniform();
    for p in 0..if is_uniform { count.min(1) } else { count } {
        operation.check(&operands.shapes(p)).map_err(|why| Error::shape(format!("{name}: problem {p}: {why}")))?;
    }
    operation.check_interchanges(operands).map_err(Error::argument)?;
    Ok(is_uniform)
}
