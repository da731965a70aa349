//! Pinned host memory: [`register`] pins what is there, [`PinnedBuffer`] is pinned from the beginning.
//!
//! A GPU copies from and to pinned memory by itself, at the full speed of its bus; other memory goes through buffers. Pinning what is there
//! takes about half a second for a gigabyte, so it pays for what is copied some ten times, or is needed fast once it is needed.
//!
//! The table here knows what this driver has pinned. Of other memory the driver is asked, as a program may have pinned it in its own way.

use super::{
    buffer::HostBuffer,
    context::{self, Context},
    failure::check,
    library,
    table::Table,
};
use bytemuck::Pod;
use cudarc::driver::sys::{self, CUdeviceptr, CUmemorytype, CUpointer_attribute as Attribute, CUresult};
use std::{
    ffi::c_void,
    marker::PhantomData,
    ops::{Deref, DerefMut, Range},
    slice,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use superscalar_runtime::DeviceError;

/// Looked into for every copy, so nobody holds it while the driver pins something.
static TABLE: Mutex<Table> = Mutex::new(Table::new());
/// Held while something is pinned or released.
static PINNING: Mutex<()> = Mutex::new(());

fn held<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Memory that stays pinned until this is dropped.
#[derive(Debug)]
#[must_use = "the memory is pinned only as long as this lives"]
pub struct Registration {
    /// The pinned ranges that have a part of it, by where they start.
    claimed: Vec<usize>,
    bytes: usize,
    context: Arc<Context>,
}

/// Pins host memory for all GPUs: whole pages, and those among them that are registered here already are left alone.
///
/// # Errors
/// If there is no GPU, if the system does not pin so much, or something else in the process has pinned a part of it; then nothing is pinned.
///
/// # Safety
/// The memory is there until the registration has been dropped, and that is not before all copies from or to it have ended.
///
/// # Examples
/// ```
/// use std::ptr::NonNull;
/// use superscalar::devices::cuda;
///
/// let mut matrix = vec![0.0f64; 1 << 20];
/// if cuda::count()? > 0 {
///     // SAFETY: the matrix lives longer than its registration.
///     let pinned = unsafe { cuda::register(NonNull::from(&mut matrix[..]).cast(), size_of_val(&matrix[..]))? };
///     drop(pinned);
/// }
/// # Ok::<(), superscalar::DeviceError>(())
/// ```
pub unsafe fn register(place: std::ptr::NonNull<u8>, bytes: usize) -> Result<Registration, DeviceError> {
    let context = any_context()?;
    context.make_current()?;
    let range = pages(place.as_ptr() as usize, bytes)
        .ok_or_else(|| DeviceError::new(format!("{bytes} bytes from {place:?} on are no memory")))?;
    let _alone = held(&PINNING);
    let gaps = held(&TABLE).gaps(range.clone());
    for (at, gap) in gaps.iter().enumerate() {
        if let Err(error) = pin(gap) {
            gaps[..at].iter().for_each(unpin);
            return Err(error);
        }
    }
    let mut table = held(&TABLE);
    gaps.into_iter().for_each(|gap| table.add(gap));
    let claimed = table.claim(&range);
    drop(table);
    Ok(Registration { claimed, bytes, context })
}

impl Registration {
    /// How many bytes were registered.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        let _alone = held(&PINNING);
        let unused = held(&TABLE).release(&self.claimed);
        if self.context.make_current().is_ok() {
            unused.iter().for_each(|&start| unpin(&(start..start)));
        }
    }
}

fn pin(range: &Range<usize>) -> Result<(), DeviceError> {
    let place = range.start as *mut c_void;
    // SAFETY: the memory is there, as whoever registers it promises; the driver refuses what is none.
    let code = unsafe { sys::cuMemHostRegister_v2(place, range.len(), sys::CU_MEMHOSTREGISTER_PORTABLE) };
    check(code, "cuMemHostRegister")
}

/// Releases the range that starts there. What the driver does not release stays pinned.
fn unpin(range: &Range<usize>) {
    // SAFETY: it was registered, and nothing that uses it is in a queue any more.
    let _ = unsafe { sys::cuMemHostUnregister(range.start as *mut c_void) };
}

/// The pages that have these bytes.
fn pages(start: usize, bytes: usize) -> Option<Range<usize>> {
    let page = rustix::param::page_size();
    let end = start.checked_add(bytes)?.checked_next_multiple_of(page)?;
    (bytes > 0).then_some(start - start % page..end)
}

/// A context to pin memory in: of the first GPU. What is pinned is so for all.
fn any_context() -> Result<Arc<Context>, DeviceError> {
    static FIRST: Mutex<Option<Arc<Context>>> = Mutex::new(None);
    let mut first = held(&FIRST);
    if first.is_none() {
        *first = Some(Context::of(0)?);
    }
    first.clone().ok_or_else(|| DeviceError::new("no context was kept"))
}

/// Whether GPUs can reach host memory by themselves: all of it is in one pinned range.
///
/// # Examples
/// ```
/// let memory = [0u8; 100];
/// assert!(!superscalar::devices::cuda::is_pinned(memory.as_ptr(), 100));
/// ```
#[must_use]
pub fn is_pinned(place: *const u8, bytes: usize) -> bool {
    let start = place as usize;
    let range = start..start.saturating_add(bytes);
    held(&TABLE).has(&range) || driver_has(&range)
}

/// Whether the driver knows it as one range of host memory. It is asked after the table only, as it takes longer.
fn driver_has(range: &Range<usize>) -> bool {
    if library::driver().is_err() || !context::has_current() {
        return false;
    }
    let (mut kind, mut start, mut size) = (0u32, 0 as CUdeviceptr, 0usize);
    let mut attributes = [
        Attribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
        Attribute::CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
        Attribute::CU_POINTER_ATTRIBUTE_RANGE_SIZE,
    ];
    let mut places: [*mut c_void; 3] = [(&raw mut kind).cast(), (&raw mut start).cast(), (&raw mut size).cast()];
    // SAFETY: there are as many places as attributes, each of its attribute's type. The address is not followed.
    let code = unsafe {
        sys::cuPointerGetAttributes(3, attributes.as_mut_ptr(), places.as_mut_ptr(), range.start as CUdeviceptr)
    };
    let end = (start as usize).saturating_add(size);
    code == CUresult::CUDA_SUCCESS
        && kind == CUmemorytype::CU_MEMORYTYPE_HOST as u32
        && start as usize <= range.start
        && range.end <= end
}

/// Numbers in pinned host memory, zero at first.
///
/// # Examples
/// ```
/// use superscalar::devices::cuda::{self, PinnedBuffer};
///
/// if cuda::count()? > 0 {
///     let mut matrix = PinnedBuffer::<f64>::new(100 * 100)?;
///     matrix[0] = 1.0;
/// }
/// # Ok::<(), superscalar::DeviceError>(())
/// ```
#[derive(Debug)]
pub struct PinnedBuffer<T> {
    buffer: HostBuffer,
    length: usize,
    claimed: Vec<usize>,
    elements: PhantomData<T>,
}

// SAFETY: it owns its elements, as a vector does.
unsafe impl<T: Send> Send for PinnedBuffer<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for PinnedBuffer<T> {}

impl<T: Pod> PinnedBuffer<T> {
    /// So many elements. Copies from and to them must have ended when it is dropped.
    ///
    /// # Errors
    /// If there is no GPU, or the system does not pin so much.
    pub fn new(length: usize) -> Result<Self, DeviceError> {
        let bytes = length.checked_mul(size_of::<T>()).filter(|&bytes| bytes <= isize::MAX as usize);
        let bytes = bytes.ok_or_else(|| DeviceError::new(format!("{length} elements are more than memory has")))?;
        let buffer = HostBuffer::new(&any_context()?, bytes.max(1))?;
        if !(buffer.place().as_ptr() as usize).is_multiple_of(align_of::<T>()) {
            return Err(DeviceError::new("pinned memory is not aligned for its elements"));
        }
        // SAFETY: so many bytes are there, and nobody else's. Zeroed elements are valid, as any bytes are.
        unsafe { buffer.place().as_ptr().write_bytes(0, buffer.bytes()) };
        let start = buffer.place().as_ptr() as usize;
        let range = start..start + buffer.bytes();
        let mut table = held(&TABLE);
        table.add(range.clone());
        let claimed = table.claim(&range);
        drop(table);
        Ok(Self { buffer, length, claimed, elements: PhantomData })
    }
}

impl<T> Drop for PinnedBuffer<T> {
    fn drop(&mut self) {
        held(&TABLE).release(&self.claimed);
    }
}

impl<T> Deref for PinnedBuffer<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: so many elements are there, valid from the beginning.
        unsafe { slice::from_raw_parts(self.buffer.place().as_ptr().cast(), self.length) }
    }
}

impl<T> DerefMut for PinnedBuffer<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above, and the buffer is borrowed exclusively.
        unsafe { slice::from_raw_parts_mut(self.buffer.place().as_ptr().cast(), self.length) }
    }
}

#[cfg(test)]
mod tests {
    use super::{PinnedBuffer, pages};

    /// Before any GPU is asked: also where there is none.
    #[test]
    fn more_elements_than_memory_has_are_refused() {
        for length in [1 << 60, 1 << 61, usize::MAX / 8 + 1, usize::MAX] {
            let error = PinnedBuffer::<f64>::new(length).map(drop).expect_err("no such memory");
            assert_eq!(error.to_string(), format!("{length} elements are more than memory has"));
        }
    }

    #[test]
    fn whole_pages_are_pinned() {
        let page = rustix::param::page_size();
        assert_eq!(pages(page, page), Some(page..2 * page));
        assert_eq!(pages(page + 1, 1), Some(page..2 * page));
        assert_eq!(pages(2 * page - 1, 2), Some(page..3 * page));
        assert_eq!(pages(page, 0), None);
        assert_eq!(pages(usize::MAX - 1, 1), None);
        assert_eq!(pages(usize::MAX, 2), None);
    }
}
