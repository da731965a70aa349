//! A simulated device's heap, and the windows through which its kernels and copies access it. `unsafe` is needed here
//! for the system calls.
//!
//! # Page protection
//!
//! The heap is mapped without access rights. A [`SimHeap`] is the window of one kernel or copy: it opens the pages of a
//! range when the address of the range is requested, and closes them when the window is dropped. Ranges of two windows
//! can share a page, so the heap keeps a list of all open ranges. A page becomes accessible when the first range that
//! contains it enters the list, and inaccessible when the last one leaves. The list and the rights change together
//! under one lock, so no window can close a page that another has just opened.
//!
//! Rights belong to the process. An access outside a window is therefore not detected while another window has the page
//! open.

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
    /// The size in the spec; the mapping is rounded up to whole pages.
    bytes: usize,
    page: usize,
    /// The ranges of pages that windows have open. They are few, since few kernels and copies run at a time.
    open: Mutex<Vec<Range<usize>>>,
    /// The end of the highest range that a window has opened.
    peak: AtomicUsize,
}

// SAFETY: `base` is the address of a mapping that this value owns. It is only used to compute addresses and to change
// rights.
unsafe impl Send for Heap {}
// SAFETY: the mapping is owned by this value, and all state that changes is behind a lock or atomic.
unsafe impl Sync for Heap {}

impl Heap {
    pub(super) fn map(bytes: usize) -> Result<Self, DeviceError> {
        let page = rustix::param::page_size();
        let mapped = bytes.next_multiple_of(page);
        // Memory is allocated when a page is written, and no swap is reserved: a device's memory is not the host's.
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        // SAFETY: a new mapping at an address that the system chooses overlaps no existing one.
        let base = unsafe { mmap_anonymous(null_mut(), mapped, ProtFlags::empty(), flags) }
            .map_err(|error| DeviceError::new(format!("a heap of {bytes} bytes cannot be mapped: {error}")))?;
        // Rights change page by page; the system would keep splitting and merging huge pages. Failure is harmless.
        // SAFETY: the range is the mapping made above, and the advice changes no contents.
        let _ = unsafe { madvise(base, mapped, Advice::LinuxNoHugepage) };
        let base = NonNull::new(base.cast()).ok_or_else(|| DeviceError::new("a heap was mapped at address zero"))?;
        Ok(Self { base, bytes, page, open: Mutex::default(), peak: AtomicUsize::new(0) })
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn peak_bytes(&self) -> usize {
        self.peak.load(Ordering::Relaxed)
    }

    /// Adds the pages to the list of open ranges and makes those accessible that were not on it.
    fn open(&self, pages: Range<usize>) -> Result<(), DeviceError> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let rights = MprotectFlags::READ | MprotectFlags::WRITE;
        let fresh = subtract(pages.clone(), &open);
        let opened = fresh.iter().try_for_each(|run| self.protect(run.clone(), rights));
        if let Err(error) = opened {
            self.close_pages(fresh);
            return Err(DeviceError::new(format!("pages of the heap cannot be made accessible: {error}")));
        }
        open.push(pages);
        Ok(())
    }

    /// Removes the range from the list once and closes the pages that no other range contains.
    fn close(&self, pages: &Range<usize>) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = open.iter().position(|range| range == pages) {
            open.swap_remove(at);
        }
        self.close_pages(subtract(pages.clone(), &open));
    }

    fn close_pages(&self, runs: Vec<Range<usize>>) {
        for run in runs {
            // The system may lack memory for the change. The pages then stay open, which affects no result.
            let _ = self.protect(run, MprotectFlags::empty());
        }
    }

    fn protect(&self, pages: Range<usize>, rights: MprotectFlags) -> Result<(), rustix::io::Errno> {
        // SAFETY: `pages` are pages of the heap, so the address is within its mapping or at its end.
        let first = unsafe { self.base.add(pages.start * self.page) };
        // SAFETY: these are whole pages of the mapping that this value owns. No Rust reference into them exists:
        // windows hand out addresses only, which are valid while the window keeps the page open.
        unsafe { mprotect(first.as_ptr().cast(), pages.len() * self.page, rights) }
    }
}

/// Returns the parts of `pages` that are in none of the other ranges.
fn subtract(pages: Range<usize>, others: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut left = vec![pages];
    for other in others {
        let rest = |run: Range<usize>| [run.start..run.end.min(other.start), run.start.max(other.end)..run.end];
        left = left.into_iter().flat_map(rest).filter(|run| !run.is_empty()).collect();
    }
    left
}

impl Drop for Heap {
    fn drop(&mut self) {
        let mapped = self.bytes.next_multiple_of(self.page);
        // SAFETY: this value owns the mapping, and each window holds an `Arc` of this value, so no window exists any
        // more.
        let _ = unsafe { munmap(self.base.as_ptr().cast(), mapped) };
    }
}

/// A device's heap as one kernel or copy sees it: the ranges that it has requested, until it ends.
pub struct SimHeap {
    heap: Arc<Heap>,
    opened: RefCell<Vec<Range<usize>>>,
}

impl SimHeap {
    pub(super) fn new(heap: Arc<Heap>) -> Self {
        Self { heap, opened: RefCell::default() }
    }

    /// Returns the size of the heap in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.heap.bytes
    }

    /// Opens `span_bytes` bytes at `offset` and returns their address. They may be read and written, as far as the
    /// task's accesses allow, until the kernel that was given this window returns. Other parts of the heap must not be
    /// touched.
    ///
    /// # Errors
    /// If the range is not within the heap, or the system lacks memory to change its protection.
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
        // SAFETY: the offset is within the mapping or just behind its last byte.
        Ok(unsafe { self.heap.base.add(offset) })
    }
}

impl Drop for SimHeap {
    fn drop(&mut self) {
        self.opened.get_mut().drain(..).for_each(|pages| self.heap.close(&pages));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_subtracted() {
        let left = |others: &[(usize, usize)]| {
            let others: Vec<_> = others.iter().map(|&(start, end)| start..end).collect();
            subtract(2..9, &others).into_iter().map(|run| (run.start, run.end)).collect::<Vec<_>>()
        };
        assert_eq!(left(&[]), [(2, 9)]);
        assert_eq!(left(&[(0, 2), (9, 12)]), [(2, 9)]);
        assert_eq!(left(&[(4, 5), (7, 8)]), [(2, 4), (5, 7), (8, 9)]);
        assert_eq!(left(&[(0, 4), (3, 5), (8, 20)]), [(5, 8)]);
        assert_eq!(left(&[(5, 20), (1, 5)]), []);
    }
}
