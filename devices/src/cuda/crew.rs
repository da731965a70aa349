//! [`Crew`]: threads that copy between host memory and staging buffers.
//!
//! One thread moves some ten gigabytes a second, a fifth of what a bus does; so several do it, each a piece at a time. They serve all
//! devices of the process, and sleep while there is nothing to do.

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

/// Threads at most: enough for two buses.
const THREADS_MAX: usize = 8;

/// A copy in host memory.
#[derive(Clone, Debug)]
pub(super) struct HostCopy {
    pub(super) shape: Shape,
    pub(super) from: *const u8,
    pub(super) from_stride: usize,
    pub(super) to: *mut u8,
    pub(super) to_stride: usize,
    pub(super) done: Arc<Latch>,
}

// SAFETY: it may be carried out by any thread, as whoever gave it away promised.
unsafe impl Send for HostCopy {}

impl HostCopy {
    /// # Safety
    /// Both sides are there, and nobody else uses them in conflict.
    unsafe fn carry_out(&self) {
        let Self { shape: Shape { row_bytes, columns }, from, from_stride, to, to_stride, .. } = *self;
        let is_whole = from_stride == row_bytes && to_stride == row_bytes;
        let (length, times) = if is_whole { (row_bytes * columns, 1) } else { (row_bytes, columns) };
        for column in 0..times {
            let (from, to) = (from.wrapping_add(column * from_stride), to.wrapping_add(column * to_stride));
            // SAFETY: a column of each side, which do not overlap, as one is a staging buffer.
            unsafe { ptr::copy_nonoverlapping(from, to, length) };
        }
    }
}

/// Says once that something is done.
#[derive(Debug, Default)]
pub(super) struct Latch {
    is_done: AtomicBool,
    lock: Mutex<()>,
    opened: Condvar,
}

impl Latch {
    /// One that is open already.
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

    /// Makes it wait anew; its owner does that, with nobody else at it.
    pub(super) fn close(&self) {
        self.is_done.store(false, Ordering::Release);
    }

    fn wait(&self) {
        let held = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.opened.wait_while(held, |()| !self.is_done()).unwrap_or_else(PoisonError::into_inner));
    }
}

/// See the module's head.
#[derive(Debug, Default)]
pub(super) struct Crew {
    waiting: Mutex<VecDeque<HostCopy>>,
    given: Condvar,
}

impl Crew {
    /// The process's crew: a quarter of its cores. Where no thread can be started, those who wait for copies carry them out.
    pub(super) fn get() -> &'static Self {
        static CREW: OnceLock<Crew> = OnceLock::new();
        static STARTED: OnceLock<()> = OnceLock::new();
        let crew = CREW.get_or_init(Self::default);
        STARTED.get_or_init(|| {
            let cores = thread::available_parallelism().map_or(1, usize::from);
            for number in 0..(cores / 4).clamp(1, THREADS_MAX) {
                let builder = thread::Builder::new().name(format!("superscalar-crew-{number}"));
                drop(builder.spawn(move || crew.work()));
            }
        });
        crew
    }

    /// Has a copy carried out; its latch opens then.
    ///
    /// # Safety
    /// Until then both sides are there, nobody writes what it reads, and nobody touches what it writes.
    pub(super) unsafe fn give(&self, copy: HostCopy) {
        self.lock().push_back(copy);
        self.given.notify_one();
    }

    /// Waits for a latch, and helps meanwhile.
    pub(super) fn wait(&self, latch: &Latch) {
        while !latch.is_done() {
            // Not in the condition: the lock would be held for as long as its temporary lives.
            let copy = self.lock().pop_front();
            match copy {
                // SAFETY: who gave it promised that.
                Some(copy) => unsafe { Self::finish(&copy) },
                None => latch.wait(),
            }
        }
    }

    fn work(&self) {
        loop {
            let waiting = self.given.wait_while(self.lock(), |waiting| waiting.is_empty());
            let copy = waiting.unwrap_or_else(PoisonError::into_inner).pop_front();
            if let Some(copy) = copy {
                // SAFETY: who gave it promised that.
                unsafe { Self::finish(&copy) };
            }
        }
    }

    /// # Safety
    /// As for [`HostCopy::carry_out`].
    unsafe fn finish(copy: &HostCopy) {
        // SAFETY: the caller's promise.
        unsafe { copy.carry_out() };
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
    fn columns_are_copied_and_what_lies_between_them_is_not() {
        let crew = Crew::get();
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
            // SAFETY: both vectors are there, and not touched, until the latch is open.
            unsafe { crew.give(copy) };
            crew.wait(&latch);
            let mut expected = vec![255u8; 200];
            for j in 0..columns {
                let (from, to) = (j * from_stride, j * to_stride);
                expected[to..to + row_bytes].copy_from_slice(&source[from..from + row_bytes]);
            }
            assert_eq!(target, expected);
        }
    }

    #[test]
    fn many_copies_are_all_carried_out() {
        let (crew, source) = (Crew::get(), vec![7u8; 1000]);
        let mut target = vec![0u8; 1000 * 100];
        let latches: Vec<Arc<Latch>> = (0..100).map(|_| Arc::default()).collect();
        for (part, latch) in target.chunks_exact_mut(1000).zip(&latches) {
            let (from, to, done) = (source.as_ptr(), part.as_mut_ptr(), Arc::clone(latch));
            let shape = Shape { row_bytes: 1000, columns: 1 };
            // SAFETY: as above; the parts are different.
            unsafe { crew.give(HostCopy { shape, from, from_stride: 1000, to, to_stride: 1000, done }) };
        }
        latches.iter().for_each(|latch| crew.wait(latch));
        assert!(target.iter().all(|&byte| byte == 7));
    }
}
