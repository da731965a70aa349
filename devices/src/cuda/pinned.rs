//! Pinned host memory: [`register`] pins existing memory, and [`PinnedBuffer`] allocates pinned memory.
//!
//! A GPU copies to and from pinned memory directly, at the full speed of its bus; other memory goes through buffers.
//! Pinning existing memory takes time, so it pays off for memory that is copied about ten times, or whose copies must
//! be fast.
//!
//! The table here contains what this driver has pinned. The CUDA driver is asked about other memory, because a program
//! may have pinned it in another way.

use super::{
    buffer::HostBuffer,
    context::{self, Context},
    failure::check,
    library,
    pinned_ranges::PinnedRanges,
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

/// Read for every copy, so it is not held while memory is being pinned.
static RANGES: Mutex<PinnedRanges> = Mutex::new(PinnedRanges::new());
/// Held while memory is pinned or released.
static PINNING: Mutex<()> = Mutex::new(());

fn held<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Memory that stays pinned until this is dropped.
#[derive(Debug)]
#[must_use = "the memory is pinned only as long as this lives"]
pub struct Registration {
    /// The start addresses of the pinned ranges that overlap it.
    claimed: Vec<usize>,
    bytes: usize,
    context: Arc<Context>,
}

/// Pins host memory for all GPUs. Whole pages are pinned; pages that are already registered here are only counted.
///
/// # Errors
/// If there is no GPU, the system refuses to pin that much, or a part is already pinned by other code in the process.
/// Then nothing is pinned.
///
/// # Safety
/// The memory is valid until the registration has been dropped, and that is after all copies from or to it have ended.
///
/// # Examples
/// ```
/// # mod superscalar { pub use superscalar_devices as devices; pub use superscalar_runtime::*; }
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
        .ok_or_else(|| DeviceError::new(format!("{bytes} bytes at {place:?} are not a valid range of memory")))?;
    let _alone = held(&PINNING);
    let gaps = held(&RANGES).gaps(range.clone());
    for (at, gap) in gaps.iter().enumerate() {
        if let Err(error) = pin(gap) {
            gaps[..at].iter().for_each(unpin);
            return Err(error);
        }
    }
    let mut ranges = held(&RANGES);
    gaps.into_iter().for_each(|gap| ranges.add(gap));
    let claimed = ranges.claim(&range);
    drop(ranges);
    Ok(Registration { claimed, bytes, context })
}

impl Registration {
    /// Returns how many bytes were registered.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        let _alone = held(&PINNING);
        let unused = held(&RANGES).release(&self.claimed);
        if self.context.make_current().is_ok() {
            unused.iter().for_each(|&start| unpin(&(start..start)));
        }
    }
}

fn pin(range: &Range<usize>) -> Result<(), DeviceError> {
    let place = range.start as *mut c_void;
    // SAFETY: the caller of `register` keeps the memory valid. The driver refuses addresses that are not memory.
    let code = unsafe { sys::cuMemHostRegister_v2(place, range.len(), sys::CU_MEMHOSTREGISTER_PORTABLE) };
    check(code, "cuMemHostRegister")
}

/// Releases the range that starts there. If the driver refuses, it stays pinned.
fn unpin(range: &Range<usize>) {
    // SAFETY: it was registered here, and no copy in a queue uses it any more, as `register` requires.
    let _ = unsafe { sys::cuMemHostUnregister(range.start as *mut c_void) };
}

/// Returns the pages that contain these bytes.
fn pages(start: usize, bytes: usize) -> Option<Range<usize>> {
    let page = rustix::param::page_size();
    let end = start.checked_add(bytes)?.checked_next_multiple_of(page)?;
    (bytes > 0).then_some(start - start % page..end)
}

/// Returns the context of the first GPU, to pin memory in. Pinned memory is pinned for all GPUs.
fn any_context() -> Result<Arc<Context>, DeviceError> {
    static FIRST: Mutex<Option<Arc<Context>>> = Mutex::new(None);
    let mut first = held(&FIRST);
    if first.is_none() {
        *first = Some(Context::of(0)?);
    }
    first.clone().ok_or_else(|| DeviceError::new("the context was not kept"))
}

/// Returns whether GPUs can access host memory directly: all of it is in one pinned range.
///
/// # Examples
/// ```
/// # mod superscalar { pub use superscalar_devices as devices; pub use superscalar_runtime::*; }
/// let memory = [0u8; 100];
/// assert!(!superscalar::devices::cuda::is_pinned(memory.as_ptr(), 100));
/// ```
#[must_use]
pub fn is_pinned(place: *const u8, bytes: usize) -> bool {
    let start = place as usize;
    let range = start..start.saturating_add(bytes);
    held(&RANGES).has(&range) || driver_has(&range)
}

/// Returns whether the driver knows it as one range of pinned host memory. Called after the lookup in the table, as it
/// takes longer.
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
    // SAFETY: there is one place for each attribute, of the attribute's type. The address is not dereferenced.
    let code = unsafe {
        sys::cuPointerGetAttributes(3, attributes.as_mut_ptr(), places.as_mut_ptr(), range.start as CUdeviceptr)
    };
    let end = (start as usize).saturating_add(size);
    code == CUresult::CUDA_SUCCESS
        && kind == CUmemorytype::CU_MEMORYTYPE_HOST as u32
        && start as usize <= range.start
        && range.end <= end
}

/// A slice in pinned host memory, initially zero.
///
/// # Examples
/// ```
/// # mod superscalar { pub use superscalar_devices as devices; pub use superscalar_runtime::*; }
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
// SAFETY: a shared reference only gives shared access to the elements.
unsafe impl<T: Sync> Sync for PinnedBuffer<T> {}

impl<T: Pod> PinnedBuffer<T> {
    /// Allocates `length` zeroed elements. Copies from and to them must have ended when it is dropped.
    ///
    /// # Errors
    /// If there is no GPU, or the system refuses to pin that much.
    pub fn new(length: usize) -> Result<Self, DeviceError> {
        let bytes = length.checked_mul(size_of::<T>()).filter(|&bytes| bytes <= isize::MAX as usize);
        let bytes = bytes.ok_or_else(|| DeviceError::new(format!("{length} elements exceed the address space")))?;
        let buffer = HostBuffer::new(&any_context()?, bytes.max(1))?;
        if !(buffer.base().as_ptr() as usize).is_multiple_of(align_of::<T>()) {
            return Err(DeviceError::new("the pinned memory is not aligned for the element type"));
        }
        // SAFETY: the buffer owns these bytes, and nobody else accesses them yet. Any bytes are valid elements (`Pod`).
        unsafe { buffer.base().as_ptr().write_bytes(0, buffer.bytes()) };
        let start = buffer.base().as_ptr() as usize;
        let range = start..start + buffer.bytes();
        let mut ranges = held(&RANGES);
        ranges.add(range.clone());
        let claimed = ranges.claim(&range);
        drop(ranges);
        Ok(Self { buffer, length, claimed, elements: PhantomData })
    }
}

impl<T> Drop for PinnedBuffer<T> {
    fn drop(&mut self) {
        held(&RANGES).release(&self.claimed);
    }
}

impl<T> Deref for PinnedBuffer<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: the buffer has `length` elements, which were initialized in `new`.
        unsafe { slice::from_raw_parts(self.buffer.base().as_ptr().cast(), self.length) }
    }
}

impl<T> DerefMut for PinnedBuffer<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: the buffer has `length` elements, which were initialized in `new`, and it is borrowed exclusively.
        unsafe { slice::from_raw_parts_mut(self.buffer.base().as_ptr().cast(), self.length) }
    }
}

#[cfg(test)]
mod tests {
    use super::{PinnedBuffer, pages};

    /// The size is checked before any GPU is used, so this runs on every machine.
    #[test]
    fn too_many_elements_are_refused() {
        for length in [1 << 60, 1 << 61, usize::MAX / 8 + 1, usize::MAX] {
            let error = PinnedBuffer::<f64>::new(length).map(drop).expect_err("no such memory");
            assert_eq!(error.to_string(), format!("{length} elements exceed the address space"));
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
