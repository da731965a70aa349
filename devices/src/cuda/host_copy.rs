//! [`HostCopyThreads`]: threads that copy between host memory and staging buffers.
//!
//! One thread cannot saturate a bus, so several threads copy, one piece each at a time. They serve all devices of the
//! process and sleep while there is nothing to do.

use super::transfer::Shape;
use std::{
    collections::VecDeque,
    ptr,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

/// The maximum number of threads, enough for two buses.
const THREADS_MAX: usize = 8;

/// A copy within host memory.
#[derive(Clone, Debug)]
pub(super) struct HostCopy {
    pub(super) shape: Shape,
    pub(super) from: *const u8,
    pub(super) from_stride: usize,
    pub(super) to: *mut u8,
    pub(super) to_stride: usize,
    pub(super) done: Arc<Latch>,
}

// SAFETY: the caller of `give` guarantees that any thread may access both sides until the latch opens.
unsafe impl Send for HostCopy {}

impl HostCopy {
    /// Copies the columns.
    ///
    /// # Safety
    /// Both sides are valid, nobody writes the source, and nobody else accesses the destination.
    unsafe fn execute(&self) {
        let Self { shape: Shape { row_bytes, columns }, from, from_stride, to, to_stride, .. } = *self;
        let is_whole = from_stride == row_bytes && to_stride == row_bytes;
        let (length, times) = if is_whole { (row_bytes * columns, 1) } else { (row_bytes, columns) };
        for column in 0..times {
            let (from, to) = (from.wrapping_add(column * from_stride), to.wrapping_add(column * to_stride));
            // SAFETY: one column of each side, which the caller keeps valid. They do not overlap, since one of them is
            // in a staging buffer.
            unsafe { ptr::copy_nonoverlapping(from, to, length) };
        }
    }
}

/// A flag that signals the completion of a copy.
#[derive(Debug, Default)]
pub(super) struct Latch {
    is_done: AtomicBool,
    lock: Mutex<()>,
    opened: Condvar,
}

impl Latch {
    /// Returns a latch that is already open.
    pub(super) fn opened() -> Self {
        Self { is_done: AtomicBool::new(true), ..Self::default() }
    }

    pub(super) fn is_done(&self) -> bool {
        self.is_done.load(Ordering::Acquire)
    }

    fn open(&self) {
        let _held = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        self.is_done.store(true, Ordering::Release);
        self.opened.notify_all();
    }

    /// Closes the latch for its next use. Only its owner calls this, while nobody waits for it.
    pub(super) fn close(&self) {
        self.is_done.store(false, Ordering::Release);
    }

    fn wait(&self) {
        let held = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.opened.wait_while(held, |()| !self.is_done()).unwrap_or_else(PoisonError::into_inner));
    }
}

/// The threads' queue of copies.
#[derive(Debug, Default)]
pub(super) struct HostCopyThreads {
    waiting: Mutex<VecDeque<HostCopy>>,
    added: Condvar,
}

impl HostCopyThreads {
    /// Returns the threads of the process: a quarter of its cores. If no thread can be started, callers of `wait`
    /// execute the copies.
    pub(super) fn shared() -> &'static Self {
        static THREADS: OnceLock<HostCopyThreads> = OnceLock::new();
        static STARTED: OnceLock<()> = OnceLock::new();
        let threads = THREADS.get_or_init(Self::default);
        STARTED.get_or_init(|| {
            let cores = thread::available_parallelism().map_or(1, usize::from);
            for number in 0..(cores / 4).clamp(1, THREADS_MAX) {
                let builder = thread::Builder::new().name(format!("superscalar-host-copy-{number}"));
                drop(builder.spawn(move || threads.work()));
            }
        });
        threads
    }

    /// Queues a copy. Its latch opens when the copy is done.
    ///
    /// # Safety
    /// Until the latch opens, both sides are valid, nobody writes the source, and nobody else accesses the destination.
    pub(super) unsafe fn give(&self, copy: HostCopy) {
        self.lock().push_back(copy);
        self.added.notify_one();
    }

    /// Waits for a latch, and executes queued copies meanwhile.
    pub(super) fn wait(&self, latch: &Latch) {
        while !latch.is_done() {
            // Not in the `match` expression, whose temporary would hold the lock during the copy.
            let copy = self.lock().pop_front();
            match copy {
                // SAFETY: whoever queued the copy keeps both sides valid until its latch opens, as `give` requires.
                Some(copy) => unsafe { Self::finish(&copy) },
                None => latch.wait(),
            }
        }
    }

    fn work(&self) {
        loop {
            let waiting = self.added.wait_while(self.lock(), |waiting| waiting.is_empty());
            let copy = waiting.unwrap_or_else(PoisonError::into_inner).pop_front();
            if let Some(copy) = copy {
                // SAFETY: whoever queued the copy keeps both sides valid until its latch opens, as `give` requires.
                unsafe { Self::finish(&copy) };
            }
        }
    }

    /// # Safety
    /// As for [`HostCopy::execute`].
    unsafe fn finish(copy: &HostCopy) {
        // SAFETY: the caller guarantees the conditions of `execute`.
        unsafe { copy.execute() };
        copy.done.open();
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<HostCopy>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_between_columns_are_kept() {
        let threads = HostCopyThreads::shared();
        let source: Vec<u8> = (0..200).map(|x| x as u8).collect();
        for (row_bytes, columns, from_stride, to_stride) in
            [(7, 5, 11, 9), (8, 4, 8, 8), (1, 20, 3, 2), (50, 1, 50, 50)]
        {
            let mut target = vec![255u8; 200];
            let latch = Arc::new(Latch::default());
            let copy = HostCopy {
                shape: Shape { row_bytes, columns },
                from: source.as_ptr(),
                from_stride,
                to: target.as_mut_ptr(),
                to_stride,
                done: Arc::clone(&latch),
            };
            // SAFETY: both vectors are valid and not accessed until the latch is open.
            unsafe { threads.give(copy) };
            threads.wait(&latch);
            let mut expected = vec![255u8; 200];
            for j in 0..columns {
                let (from, to) = (j * from_stride, j * to_stride);
                expected[to..to + row_bytes].copy_from_slice(&source[from..from + row_bytes]);
            }
            assert_eq!(target, expected);
        }
    }

    #[test]
    fn many_copies_complete() {
        let (threads, source) = (HostCopyThreads::shared(), vec![7u8; 1000]);
        let mut target = vec![0u8; 1000 * 100];
        let latches: Vec<Arc<Latch>> = (0..100).map(|_| Arc::default()).collect();
        for (part, latch) in target.chunks_exact_mut(1000).zip(&latches) {
            let (from, to, done) = (source.as_ptr(), part.as_mut_ptr(), Arc::clone(latch));
            let shape = Shape { row_bytes: 1000, columns: 1 };
            // SAFETY: the vectors are valid until all latches are open, and the parts do not overlap.
            unsafe { threads.give(HostCopy { shape, from, from_stride: 1000, to, to_stride: 1000, done }) };
        }
        latches.iter().for_each(|latch| threads.wait(latch));
        assert!(target.iter().all(|&byte| byte == 7));
    }
}
