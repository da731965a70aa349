//! [`DeviceBatch`]: a batch in the memory of devices.

use super::{Chunked, Chunks};
use crate::error::Error;
use bytemuck::Pod;
use std::ops::Range;
use superscalar_kernels::{
    BatchBacking, BatchMut, BatchPlacement, BatchRef, BatchView,
    device::{Call, DeviceBackend, backends},
};
use superscalar_runtime::{Codelet, Lent, Lock, Reads, Resident, Resource, Runtime, Scope, TaskSpec};

/// A batch in the memory of a runtime's devices, chunk by chunk.
///
/// The batch is filled by [`upload`](Self::upload) or by the first routine that overwrites it, and read by
/// [`download`](Self::download). Scopes use it through [`lend`](Self::lend) for the functions of
/// [`spawn`](super::spawn). No data moves when a scope begins or ends: what one scope leaves on a device is there for
/// the next. A chunk leaves its device only if the device runs out of memory or a task needs the chunk elsewhere.
///
/// If a device is lost, the chunks that only this device held are lost: reading them is an error of kind
/// [`Device`](crate::ErrorKind::Device) until they are overwritten.
///
/// ```no_run
/// use superscalar::dla::{BatchMut, BatchRef, Uplo, batch::{self, Chunked, ChunkedInfo, Chunks, DeviceBatch}};
///
/// // A runtime that was built with devices: the facade's `devices::builder` opens those that the environment names.
/// # let rt = superscalar::Runtime::new()?;
/// let (mut host, mut info, chunks) = (vec![4.0; 1000], vec![0; 1000], Chunks::equal(1000, 500));
/// let mut a = DeviceBatch::zeros(&rt, (1, 1), &chunks)?;
/// a.upload(&rt, BatchRef::packed(&host, (1, 1))?)?;
/// rt.scope(|s| batch::spawn::potrf(s, Uplo::Lower, &a.lend(s), &ChunkedInfo::new(s, &mut info, &chunks)))?;
/// a.download(&rt, BatchMut::packed(&mut host, (1, 1))?)?;
/// assert_eq!(host, [2.0; 1000]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct DeviceBatch<T: Pod + Send + Sync> {
    chunks: Chunks,
    parts: Vec<(Resident<BatchBacking<T>>, BatchPlacement)>,
}

impl<T: Pod + Send + Sync> DeviceBatch<T> {
    /// Creates matrices of zeros, all of one shape, in these chunks. Memory is taken, and data copied, only when a
    /// chunk is used.
    ///
    /// # Errors
    /// [`Argument`](crate::ErrorKind::Argument) if the runtime has no device; [`Memory`](crate::ErrorKind::Memory) if
    /// host addresses for the batch cannot be reserved.
    pub fn zeros(rt: &Runtime, shape: (usize, usize), chunks: &Chunks) -> Result<Self, Error> {
        Self::new(rt, chunks, |range| Ok(BatchBacking::uniform(shape, range.len())?))
    }

    /// Creates matrices of zeros of these shapes, in these chunks.
    ///
    /// # Errors
    /// Those of [`zeros`](Self::zeros); [`Shape`](crate::ErrorKind::Shape) if the chunks have another number of
    /// problems.
    pub fn zeros_shaped(rt: &Runtime, shapes: &[(usize, usize)], chunks: &Chunks) -> Result<Self, Error> {
        if shapes.len() != chunks.problems() {
            return Err(Error::shape(format!("{} shapes for {} problems", shapes.len(), chunks.problems())));
        }
        Self::new(rt, chunks, |range| Ok(BatchBacking::shaped(&shapes[range])?))
    }

    fn new(
        rt: &Runtime,
        chunks: &Chunks,
        part: impl Fn(Range<usize>) -> Result<BatchBacking<T>, Error>,
    ) -> Result<Self, Error> {
        if !rt.has_devices() {
            return Err(Error::argument("a device batch needs a runtime with devices; this one has none"));
        }
        let parts = chunks.ranges().map(|range| {
            let part = part(range)?;
            let placement = part.placement().clone();
            Ok((Resident::new(rt, part), placement))
        });
        Ok(Self { chunks: chunks.clone(), parts: parts.collect::<Result<_, Error>>()? })
    }

    /// Copies a host batch into this batch, and the chunks to devices.
    ///
    /// # Errors
    /// [`Shape`](crate::ErrorKind::Shape) if the shapes differ; [`Argument`](crate::ErrorKind::Argument) if this batch
    /// belongs to another runtime; [`Device`](crate::ErrorKind::Device) if no device is left.
    pub fn upload(&mut self, rt: &Runtime, from: BatchRef<'_, T>) -> Result<(), Error> {
        self.check(rt, (0..from.len()).map(|p| from.shape(p)))?;
        let chunks = self.chunks.clone();
        Ok(rt.scope(|s| {
            let to = self.lend(s);
            copy(s, "upload", &Chunked::read_only(s, from, &chunks), &to);
            fetch(s, &to);
        })?)
    }

    /// Copies this batch into a host batch. What devices hold stays valid.
    ///
    /// # Errors
    /// Those of [`upload`](Self::upload); [`Device`](crate::ErrorKind::Device) if a device fails, or a chunk is lost.
    pub fn download(&self, rt: &Runtime, to: BatchMut<'_, T>) -> Result<(), Error> {
        self.check(rt, (0..to.len()).map(|p| to.shape(p)))?;
        Ok(rt.scope(|s| copy(s, "download", &self.lend_ref(s), &Chunked::new(s, to, &self.chunks)))?)
    }

    /// Lends the batch to a scope, whose tasks may read and change it.
    ///
    /// If the scope belongs to another runtime, it is cancelled and returns an error of kind
    /// [`Refused`](superscalar_runtime::ErrorKind::Refused).
    #[track_caller]
    pub fn lend<'s>(&'s mut self, s: &'s Scope<'s, '_>) -> Chunked<'s, T> {
        let parts = self.parts.iter_mut().map(|(part, placement)| (part.lend(s, &()), placement.clone()));
        Chunked::of_parts(&self.chunks, parts, false)
    }

    /// Lends the batch to a scope, whose tasks may read it. A scope of another runtime is cancelled, as by
    /// [`lend`](Self::lend).
    #[track_caller]
    pub fn lend_ref<'s>(&'s self, s: &'s Scope<'s, '_>) -> Chunked<'s, T> {
        let parts = self.parts.iter().map(|(part, placement)| (part.lend_ref(s, &()), placement.clone()));
        Chunked::of_parts(&self.chunks, parts, true)
    }

    /// Returns the boundaries of the chunks.
    #[must_use]
    pub fn chunks(&self) -> &Chunks {
        &self.chunks
    }

    /// Returns the resources that currently hold a chunk: devices, the host, or both. The list is empty if the chunk is
    /// lost.
    ///
    /// # Panics
    /// If there is no such chunk.
    #[must_use]
    pub fn holders(&self, chunk: usize) -> Vec<Resource> {
        self.parts[chunk].0.holders()
    }

    fn check(&self, rt: &Runtime, shapes: impl Iterator<Item = (usize, usize)>) -> Result<(), Error> {
        let own = self.parts.iter().flat_map(|(_, placement)| (0..placement.len()).map(|p| placement.shape(p)));
        if !own.eq(shapes) {
            return Err(Error::shape("the host batch has other matrices than the device batch"));
        }
        if !self.parts.iter().all(|(part, _)| part.is_of(rt)) {
            return Err(Error::argument("the batch belongs to another runtime"));
        }
        Ok(())
    }
}

/// Inserts a task for each chunk that reads it on a device, without any work there: so the chunk is copied to a device.
fn fetch<'s, T: Pod + Send + Sync>(s: &'s Scope<'s, '_>, batch: &Chunked<'s, T>) {
    let kinds = backends::<Call<f32>>().iter().map(DeviceBackend::kind);
    let codelet = kinds.fold(Codelet::<Reads<BatchView<'s, T>>, ()>::new("fetch"), |codelet, kind| {
        codelet.on_device(kind, |_, _, ()| Ok(()))
    });
    for chunk in 0..batch.chunks().len() {
        let placement = batch.placement(chunk);
        let has_elements = (0..placement.len()).any(|p| placement.shape(p).0 * placement.shape(p).1 > 0);
        if has_elements {
            let spec = TaskSpec::new("fetch").index([chunk as u32]).lock(Lock::Device);
            codelet.spawn_as(s, spec, batch.handle(chunk).read(), ());
        }
    }
}

/// Inserts the tasks that copy a batch, on the host.
fn copy<'s, T: Pod + Send + Sync>(
    s: &'s Scope<'s, '_>,
    name: &'static str,
    from: &Chunked<'s, T>,
    to: &Chunked<'s, T>,
) {
    for chunk in 0..from.chunks().len() {
        let (from, to): (Lent<'s, BatchView<'s, T>>, _) = (from.handle(chunk), to.handle(chunk));
        let spec = TaskSpec::new(name).index([chunk as u32]).lock(Lock::Host);
        s.spawn(spec, (from.read(), to.write()), |(from, to): (&BatchView<'s, T>, &mut BatchView<'s, T>)| {
            let from = from.as_ref();
            if let Some(mut to) = to.as_mut() {
                (0..from.len()).for_each(|p| to.get_mut(p).copy_from(from.get(p)));
            }
        });
    }
}
