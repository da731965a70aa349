//! A simulated device's heap, and the windows through which its kernels and copies see it. `unsafe` stands here for the system calls.
//!
//! # Who can touch a page
//!
//! The heap is mapped without any right. A [`SimHeap`] is the window of one kernel or copy: it opens the pages of a range when it is
//! asked for its address, and closes them when it is dropped. Ranges of two windows can share a page, so each page counts the
//! windows that have it open; its rights change when the count leaves zero and when it comes back. Counts and rights change
//! together, under one lock, so no window can close a page that another has just counted.
//!
//! What a window can not see is an address that is used while someone else has the page open: rights belong to the process.

use rustix::mm::{Advice, MapFlags, MprotectFlags, ProtFlags, madvise, mmap_anonymous, mprotect, munmap};
use std::{
    cell::RefCell,
    ops::Range,
    ptr::{NonNull, null_mut},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};
use superscalar_runtime::DeviceError;

/// Mapped memory of one device.
pub(super) struct Heap {
    base: NonNull<u8>,
    /// As many as the spec says; the mapping ends with the page.
    bytes: usize,
    page: usize,
    /// For each page, how many windows have it open.
    open: Mutex<Vec<u32>>,
    /// How far into the heap a window has reached.
    peak: AtomicUsize,
}

// SAFETY: `base` is the address of a mapping that this value owns. It is only used to make addresses and to change rights.
unsafe impl Send for Heap {}
// SAFETY: as above; what changes stands under a lock, or is atomic.
unsafe impl Sync for Heap {}

impl Heap {
    pub(super) fn map(bytes: usize) -> Result<Self, DeviceError> {
        let page = rustix::param::page_size();
        let mapped = bytes.next_multiple_of(page);
        // No memory is taken until a page is written, and none is set apart, as a device's memory is not the host's.
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        // SAFETY: a new mapping, at an address that the system chooses, touches nothing that is there.
        let base = unsafe { mmap_anonymous(null_mut(), mapped, ProtFlags::empty(), flags) }
            .map_err(|error| DeviceError::new(format!("a heap of {bytes} bytes can not be mapped: {error}")))?;
        // Rights change by small pages; huge ones would be split and put together all the time. It is only advice.
        // SAFETY: the range is the mapping made above, and the advice changes no contents.
        let _ = unsafe { madvise(base, mapped, Advice::LinuxNoHugepage) };
        let base = NonNull::new(base.cast()).ok_or_else(|| DeviceError::new("a heap was mapped at address zero"))?;
        Ok(Self { base, bytes, page, open: Mutex::new(vec![0; mapped / page]), peak: AtomicUsize::new(0) })
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn peak_bytes(&self) -> usize {
        self.peak.load(Ordering::Relaxed)
    }

    /// Counts one more window for these pages, and lets those be touched that had none.
    fn open(&self, pages: Range<usize>) -> Result<(), DeviceError> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open[pages.clone()].iter_mut().for_each(|count| *count += 1);
        let rights = MprotectFlags::READ | MprotectFlags::WRITE;
        let opened = runs(&open, pages.clone(), 1).try_for_each(|run| self.protect(run, rights));
        opened.map_err(|error| {
            self.close_locked(&mut open, pages);
            DeviceError::new(format!("pages of the heap can not be opened: {error}"))
        })
    }

    fn close(&self, pages: Range<usize>) {
        self.close_locked(&mut self.open.lock().unwrap_or_else(PoisonError::into_inner), pages);
    }

    fn close_locked(&self, open: &mut [u32], pages: Range<usize>) {
        open[pages.clone()].iter_mut().for_each(|count| *count -= 1);
        for run in runs(open, pages, 0) {
            // The system may lack memory to note it; then the pages stay open, which harms no result.
            let _ = self.protect(run, MprotectFlags::empty());
        }
    }

    fn protect(&self, pages: Range<usize>, rights: MprotectFlags) -> Result<(), rustix::io::Errno> {
        // SAFETY: pages of the heap are below its end, where its mapping ends.
        let first = unsafe { self.base.add(pages.start * self.page) };
        // SAFETY: these are whole pages of the mapping that this value owns. No Rust reference into them exists: only addresses are
        // given out, for as long as a window counts the page.
        unsafe { mprotect(first.as_ptr().cast(), pages.len() * self.page, rights) }
    }
}

/// The longest runs of pages whose count is this.
fn runs(counts: &[u32], pages: Range<usize>, count: u32) -> impl Iterator<Item = Range<usize>> {
    let mut at = pages.start;
    std::iter::from_fn(move || {
        let start = (at..pages.end).find(|&page| counts[page] == count)?;
        let end = (start..pages.end).find(|&page| counts[page] != count).unwrap_or(pages.end);
        at = end;
        Some(start..end)
    })
}

impl Drop for Heap {
    fn drop(&mut self) {
        let mapped = self.bytes.next_multiple_of(self.page);
        // SAFETY: the mapping is this value's, and nobody has a window into it, since a window keeps the value.
        let _ = unsafe { munmap(self.base.as_ptr().cast(), mapped) };
    }
}

/// A device's heap as one kernel or copy sees it: through the ranges that it asks for, until it is finished.
pub struct SimHeap {
    heap: Arc<Heap>,
    opened: RefCell<Vec<Range<usize>>>,
}

impl SimHeap {
    pub(super) fn new(heap: Arc<Heap>) -> Self {
        Self { heap, opened: RefCell::default() }
    }

    /// Bytes of the heap.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.heap.bytes
    }

    /// Opens so many bytes at this offset, and says where they are. They may be read and written until the kernel that was given
    /// the window returns, as far as the task's accesses allow; nothing may be touched that was not asked for.
    ///
    /// # Errors
    /// If the range is not in the heap, or the system lacks memory for it.
    pub fn address(&self, offset: usize, span_bytes: usize) -> Result<NonNull<u8>, DeviceError> {
        let end = offset.checked_add(span_bytes).filter(|&end| end <= self.heap.bytes).ok_or_else(|| {
            let bytes = self.heap.bytes;
            DeviceError::new(format!("{span_bytes} bytes at offset {offset} are not in a heap of {bytes} bytes"))
        })?;
        if span_bytes > 0 {
            let pages = offset / self.heap.page..end.div_ceil(self.heap.page);
            self.heap.open(pages.clone())?;
            self.opened.borrow_mut().push(pages);
            self.heap.peak.fetch_max(end, Ordering::Relaxed);
        }
        // SAFETY: the offset is in the mapping, or just behind its last byte.
        Ok(unsafe { self.heap.base.add(offset) })
    }
}

impl Drop for SimHeap {
    fn drop(&mut self) {
        self.opened.get_mut().drain(..).for_each(|pages| self.heap.close(pages));
    }
}
