//! A simulated device's heap, and the windows through which its kernels and copies see it. `unsafe` stands here for the system calls.
//!
//! # Who can touch a page
//!
//! The heap is mapped without any right. A [`SimHeap`] is the window of one kernel or copy: it opens the pages of a range when it is
//! asked for its address, and closes them when it is dropped. Ranges of two windows can share a page, so the heap has a list of all
//! that are open; a page's rights change when the first range with it comes into the list, and when the last one leaves. List
//! and rights change together, under one lock, so no window can close a page that another has just opened.
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
    /// The ranges of pages that windows have open: a few, as few kernels and copies run at a time.
    open: Mutex<Vec<Range<usize>>>,
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
        Ok(Self { base, bytes, page, open: Mutex::default(), peak: AtomicUsize::new(0) })
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn peak_bytes(&self) -> usize {
        self.peak.load(Ordering::Relaxed)
    }

    /// Puts the pages on the list, and lets those be touched that were not on it.
    fn open(&self, pages: Range<usize>) -> Result<(), DeviceError> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let rights = MprotectFlags::READ | MprotectFlags::WRITE;
        let fresh = without(pages.clone(), &open);
        let opened = fresh.iter().try_for_each(|run| self.protect(run.clone(), rights));
        if let Err(error) = opened {
            self.shut(fresh);
            return Err(DeviceError::new(format!("pages of the heap can not be opened: {error}")));
        }
        open.push(pages);
        Ok(())
    }

    /// Takes the pages off the list once.
    fn close(&self, pages: &Range<usize>) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = open.iter().position(|range| range == pages) {
            open.swap_remove(at);
        }
        self.shut(without(pages.clone(), &open));
    }

    fn shut(&self, runs: Vec<Range<usize>>) {
        for run in runs {
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

/// What is left of the pages without those of the other ranges.
fn without(pages: Range<usize>, others: &[Range<usize>]) -> Vec<Range<usize>> {
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
        self.opened.get_mut().drain(..).for_each(|pages| self.heap.close(&pages));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_taken_out_of_ranges() {
        let left = |others: &[(usize, usize)]| {
            let others: Vec<_> = others.iter().map(|&(start, end)| start..end).collect();
            without(2..9, &others).into_iter().map(|run| (run.start, run.end)).collect::<Vec<_>>()
        };
        assert_eq!(left(&[]), [(2, 9)]);
        assert_eq!(left(&[(0, 2), (9, 12)]), [(2, 9)]);
        assert_eq!(left(&[(4, 5), (7, 8)]), [(2, 4), (5, 7), (8, 9)]);
        assert_eq!(left(&[(0, 4), (3, 5), (8, 20)]), [(5, 8)]);
        assert_eq!(left(&[(5, 20), (1, 5)]), []);
    }
}
