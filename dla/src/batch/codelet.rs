//! The codelet of a chunk's task: on the host, and as a call for devices.

use crate::Scalar;
use std::sync::Arc;
use superscalar_kernels::{
    BatchMut, BatchPlacement, BatchView,
    device::{Call, Mat, on_devices},
    elements_spanned,
    operations::{BatchCall, BatchLayout, BatchMat, BatchMember, BatchOperands, BatchOperation, TABLE_ROWS},
};
use superscalar_runtime::{Codelet, Cost, DeviceError, Operand, Operands, Reads, Updates, Writes};

/// The accesses of a chunk's task: elements, then other numbers.
pub(super) type Access<'s, T> = (ElementAccess<'s, T>, NumberAccess<'s, <T as superscalar_kernels::Scalar>::Real>);
/// Batches that are read, updated and written.
type ElementAccess<'s, T> =
    (Vec<Reads<BatchView<'s, T>>>, Vec<Updates<BatchView<'s, T>>>, Vec<Writes<BatchView<'s, T>>>);
/// Real numbers that are written, interchanges that are read and written, outcomes, and the table of a batch whose
/// matrices have different shapes.
type NumberAccess<'s, R> = (
    Vec<Writes<BatchView<'s, R>>>,
    Vec<Reads<BatchView<'s, i32>>>,
    Vec<Writes<BatchView<'s, i32>>>,
    Vec<Writes<[i32]>>,
    Vec<Reads<Vec<i64>>>,
);

/// What a task knows besides its operands.
pub(super) struct ChunkWork<T> {
    pub operation: BatchOperation<T>,
    pub cost: Cost,
    pub places: OperandPlaces,
}

/// Where the matrices of each operand are in its memory. The order of the operands is that of [`BatchCall`]: read,
/// updated, written, real numbers, interchanges.
pub(super) enum OperandPlaces {
    /// The matrices of each operand have one shape.
    Uniform(Vec<BatchPlacement>),
    /// Every problem has its own shapes.
    Varied(Vec<Arc<BatchLayout>>),
    /// Some operand is gathered, which no device can reach; devices have no kernel for the shapes; or there are no
    /// devices.
    HostOnly,
}

impl OperandPlaces {
    /// Returns the places of operands for devices, and the table that they need.
    pub(super) fn new(count: usize, operands: Vec<&BatchPlacement>, by: &BatchPlacement) -> (Self, Option<Vec<i64>>) {
        let is_reachable = |place: &&BatchPlacement| match place {
            BatchPlacement::Strided { is_packed, .. } => *is_packed,
            BatchPlacement::Shaped(_) => true,
            BatchPlacement::Gathered(_) => false,
        };
        if operands.iter().all(|place| matches!(place, BatchPlacement::Strided { .. })) {
            return (Self::Uniform(operands.into_iter().cloned().collect()), None);
        }
        if !operands.iter().all(is_reachable) {
            return (Self::HostOnly, None);
        }
        // The largest problems first, so that those of one size are together, and no large one begins last.
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by_key(|&p| std::cmp::Reverse(by.shape(p).0.max(by.shape(p).1)));
        let layouts = operands.into_iter().map(|place| {
            let members = order.iter().map(|&number| {
                let (m, n) = place.shape(number);
                let (offset, ld) = match place {
                    BatchPlacement::Strided { ld, .. } => (number.checked_mul(elements_spanned((m, n), *ld)?)?, *ld),
                    BatchPlacement::Shaped(members) => (members[number].0, m.max(1)),
                    BatchPlacement::Gathered(_) => (0, m.max(1)),
                };
                Some(BatchMember { offset, shape: (m, n), ld, number })
            });
            BatchLayout::new(members.collect::<Option<_>>()?).ok().map(Arc::new)
        });
        match layouts.collect::<Option<Vec<_>>>() {
            Some(layouts) => {
                let table = layouts.iter().flat_map(|layout| layout.table()).collect();
                (Self::Varied(layouts), Some(table))
            }
            None => (Self::HostOnly, None),
        }
    }
}

/// Returns the codelet of an operation's tasks on the host.
pub(super) fn host_codelet<'s, T: Scalar>(name: &'static str) -> Codelet<Access<'s, T>, ChunkWork<T>> {
    let codelet: Codelet<Access<'s, T>, ChunkWork<T>> = Codelet::new(name).cost(|work: &ChunkWork<T>| work.cost);
    codelet.on_host(|operands, work: &ChunkWork<T>| {
        let ((read, mut updated, mut written), (mut reals, pivots_read, mut pivots_written, info, _)) = operands;
        let operands = BatchOperands {
            read: read.iter().map(|batch| batch.as_ref()).collect(),
            updated: updated.iter_mut().map(|batch| changed(batch)).collect(),
            written: written.iter_mut().map(|batch| changed(batch)).collect(),
            reals: reals.iter_mut().map(|batch| changed(batch)).collect(),
            pivots_read: pivots_read.iter().map(|batch| batch.as_ref()).collect(),
            pivots_written: pivots_written.iter_mut().map(|batch| changed(batch)).collect(),
            info,
        };
        work.operation.check_interchanges(&operands)?;
        work.operation.run(operands);
        Ok(())
    })
}

/// Returns the codelet of an operation's tasks on the host and on devices.
pub(super) fn codelet<'s, T: Scalar>(name: &'static str) -> Codelet<Access<'s, T>, ChunkWork<T>> {
    on_devices(host_codelet::<T>(name), call)
}

/// Returns the mutable view of a batch that the insertion has checked.
fn changed<'a, T>(batch: &'a mut BatchView<'_, T>) -> BatchMut<'a, T> {
    batch.as_mut().expect("no batch that is written is read-only")
}

/// Makes the call of a chunk whose operands are in a device's heap.
fn call<'s, T: Scalar>(operands: <Access<'s, T> as Operands>::Of, work: &ChunkWork<T>) -> Result<Call<T>, DeviceError> {
    let ((read, updated, written), (reals, pivots_read, pivots_written, info, tables)) = operands;
    let info = info.first().map(|info| info.region().map(Mat::new)).transpose()?;
    let table = tables.first().map(|table| table.region().map(Mat::<i64>::new)).transpose()?;
    let mut next = HeapPlaces { places: &work.places, table, at: 0 };
    let batches = |next: &mut HeapPlaces<'_>, list: Vec<Operand<BatchView<'s, T>>>| {
        list.into_iter().map(|batch| next.batch(batch)).collect::<Result<Vec<_>, _>>()
    };
    let (read, updated, written) =
        (batches(&mut next, read)?, batches(&mut next, updated)?, batches(&mut next, written)?);
    let reals = reals.into_iter().map(|batch| next.batch(batch)).collect::<Result<Vec<_>, _>>()?;
    let mut pivots = pivots_read.into_iter().chain(pivots_written).map(|batch| next.batch(batch));
    let pivots = pivots.next().transpose()?;
    Ok(Call::Batch(BatchCall { operation: work.operation, read, updated, written, reals, pivots, info }.into()))
}

/// Finds the operands in the heap, one after the other.
struct HeapPlaces<'w> {
    places: &'w OperandPlaces,
    table: Option<Mat<i64>>,
    at: usize,
}

impl HeapPlaces<'_> {
    fn batch<E>(&mut self, operand: Operand<BatchView<'_, E>>) -> Result<BatchMat<E>, DeviceError> {
        let (region, at) = (operand.region()?, self.at);
        self.at += 1;
        let batch = match self.places {
            OperandPlaces::Uniform(places) => match places.get(at) {
                Some(&BatchPlacement::Strided { shape, ld, is_packed: true, count }) => {
                    Some(BatchMat::packed(region, shape, ld, count))
                }
                Some(&BatchPlacement::Strided { shape, ld, .. }) => Some(BatchMat::uniform(region, shape, ld)),
                _ => None,
            },
            OperandPlaces::Varied(layouts) => layouts.get(at).zip(self.table).map(|(layout, table)| {
                let start = table.offset + at * layout.len() * TABLE_ROWS;
                BatchMat::varied(region, layout.clone(), Mat::at(start, (TABLE_ROWS, layout.len()), TABLE_ROWS))
            }),
            OperandPlaces::HostOnly => None,
        };
        batch.ok_or_else(|| DeviceError::new("a batch that is not in one slice was sent to a device"))
    }
}
