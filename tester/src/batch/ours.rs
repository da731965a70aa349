//! Calls our library, with a batch in host memory or in the memory of devices.

use super::packed::Packed;
use super::roles::{PivotRole, Role, pivot_role};
use super::store::Store;
use crate::case::Case;
use crate::ours::Ours;
use crate::range::TileSize;
use crate::resident::Timed;
use std::ops::DerefMut;
use std::time::{Duration, Instant};
use superscalar_dla::batch::{self, Chunked, ChunkedInfo, Chunks, DeviceBatch, spawn};
use superscalar_dla::{Error, Scalar};
use superscalar_kernels::operations::BatchOperation;
use superscalar_runtime::Scope;

/// Makes a call on host memory.
pub fn on_host<T: Scalar>(ours: &Ours<'_>, store: &mut Store<T>) -> Timed {
    let operation = store.operation;
    let operands = store.operands();
    let start = Instant::now();
    let result = batch::run(ours.runtime, operation, operands, &ours.options);
    let elapsed = start.elapsed();
    store.take_reals();
    (elapsed, result)
}

/// Copies the operands to the devices, makes a call there, and copies them back when all work is done. The copies are
/// not timed.
pub fn on_devices<T: Scalar>(ours: &Ours<'_>, case: &Case, store: &mut Store<T>) -> Timed {
    let chunks = chunks(ours, case, store.info.len());
    let mut on = match OnDevices::load(ours, &chunks, store) {
        Ok(on) => on,
        Err(error) => return (Duration::ZERO, Err(error)),
    };
    let (operation, info) = (store.operation, &mut store.info[..]);
    let start = Instant::now();
    let result = ours.runtime.scope(|s| {
        let matrices: Vec<_> = on.matrices.iter_mut().map(|matrix| matrix.lend(s)).collect();
        let reals: Vec<_> = on.reals.iter_mut().map(|matrix| matrix.lend(s)).collect();
        let pivots = on.pivots.as_mut().map(|pivots| pivots.lend(s));
        insert(s, operation, &matrices, &reals, pivots.as_ref(), &ChunkedInfo::new(s, info, &chunks));
    });
    let elapsed = start.elapsed();
    let stored = on.store(ours, store);
    store.take_reals();
    // The download fails if a task failed, because its output is lost; the task's error says more.
    (elapsed, result.map_err(Error::from).and(stored))
}

/// Returns the chunks: those of the case, or one for each device.
fn chunks(ours: &Ours<'_>, case: &Case, count: usize) -> Chunks {
    let each = match case.nb {
        TileSize::Fixed(nb) => nb,
        TileSize::Auto => count.div_ceil(ours.runtime.devices().len().max(1)),
    };
    Chunks::equal(count, each.max(1))
}

/// The operands on the devices, each list in the routine's order.
struct OnDevices<T: Scalar> {
    matrices: Vec<DeviceBatch<T>>,
    reals: Vec<DeviceBatch<T::Real>>,
    pivots: Option<DeviceBatch<i32>>,
}

impl<T: Scalar> OnDevices<T> {
    fn load(ours: &Ours<'_>, chunks: &Chunks, store: &Store<T>) -> Result<Self, Error> {
        let (mut matrices, mut reals) = (Vec::new(), Vec::new());
        for stored in &store.matrices {
            match &stored.reals {
                Some(numbers) => reals.push(upload(ours, chunks, numbers)?),
                None => matrices.push(upload(ours, chunks, &stored.all)?),
            }
        }
        let pivots = match pivot_role(&store.operation) {
            PivotRole::None => None,
            PivotRole::Read | PivotRole::Written => Some(upload(ours, chunks, &store.pivots)?),
        };
        Ok(Self { matrices, reals, pivots })
    }

    /// Copies back what may have changed.
    fn store(&self, ours: &Ours<'_>, store: &mut Store<T>) -> Result<(), Error> {
        let (mut matrices, mut reals) = (self.matrices.iter(), self.reals.iter());
        for stored in &mut store.matrices {
            match &mut stored.reals {
                Some(numbers) => {
                    reals.next().map_or(Ok(()), |on| on.download(ours.runtime, numbers.batch_mut()))?;
                }
                None => {
                    let on = matrices.next().filter(|_| stored.role != Role::Read);
                    on.map_or(Ok(()), |on| on.download(ours.runtime, stored.all.batch_mut()))?;
                }
            }
        }
        self.pivots.as_ref().map_or(Ok(()), |on| on.download(ours.runtime, store.pivots.batch_mut()))
    }
}

fn upload<E, D>(ours: &Ours<'_>, chunks: &Chunks, from: &Packed<D>) -> Result<DeviceBatch<E>, Error>
where
    E: bytemuck::Pod + Send + Sync,
    D: DerefMut<Target = [E]>,
{
    let mut on = match from.uniform_shape() {
        Some(shape) => DeviceBatch::zeros(ours.runtime, shape, chunks)?,
        None => DeviceBatch::zeros_shaped(ours.runtime, from.shapes(), chunks)?,
    };
    on.upload(ours.runtime, from.batch_ref())?;
    Ok(on)
}

/// Inserts the tasks of the operation.
fn insert<'s, T: Scalar>(
    s: &'s Scope<'s, '_>,
    operation: BatchOperation<T>,
    matrices: &[Chunked<'s, T>],
    reals: &[Chunked<'s, T::Real>],
    pivots: Option<&Chunked<'s, i32>>,
    info: &ChunkedInfo<'s>,
) {
    match (operation, matrices, pivots) {
        (BatchOperation::Gemm { ops, alpha, beta }, [a, b, c], _) => {
            spawn::gemm(s, alpha, ops.0, a, ops.1, b, beta, c);
        }
        (BatchOperation::Trsm { side, uplo, op, diag, alpha }, [a, b], _) => {
            spawn::trsm(s, side, uplo, op, diag, alpha, a, b);
        }
        (BatchOperation::Potrf { uplo }, [a], _) => spawn::potrf(s, uplo, a, info),
        (BatchOperation::Potrs { uplo }, [a, b], _) => spawn::potrs(s, uplo, a, b),
        (BatchOperation::Posv { uplo }, [a, b], _) => spawn::posv(s, uplo, a, b, info),
        (BatchOperation::Getrf, [a], Some(ipiv)) => spawn::getrf(s, a, ipiv, info),
        (BatchOperation::GetrfNopiv, [a], _) => spawn::getrf_nopiv(s, a, info),
        (BatchOperation::Getrs { op }, [a, b], Some(ipiv)) => spawn::getrs(s, op, a, ipiv, b),
        (BatchOperation::Gesv, [a, b], Some(ipiv)) => spawn::gesv(s, a, ipiv, b, info),
        (BatchOperation::Geqrf, [a, tau], _) => spawn::geqrf(s, a, tau),
        (BatchOperation::Ungqr, [a, tau], _) => spawn::ungqr(s, a, tau),
        (BatchOperation::Unmqr { op }, [v, tau, c], _) => spawn::unmqr(s, op, v, tau, c),
        (BatchOperation::Gels, [a, b], _) => spawn::gels(s, a, b, info),
        (BatchOperation::Gebrd, [a, tauq, taup], _) => {
            let [d, e] = reals else { unreachable!("d and e are real") };
            spawn::gebrd(s, a, d, e, tauq, taup);
        }
        _ => unreachable!("{}: the store has the operands of its roles", operation.name()),
    }
}
