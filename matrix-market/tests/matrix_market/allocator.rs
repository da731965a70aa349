//! An allocator that counts the bytes of each thread, so that a test can limit the peak memory of a call.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    // Constant initialisers and no destructors, so an access never allocates.
    static HELD: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

fn add(bytes: isize) {
    let held = HELD.get() + bytes;
    HELD.set(held);
    PEAK.set(PEAK.get().max(held));
}

// SAFETY: every call forwards its arguments to `System`, and counting neither allocates nor unwinds.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        add(layout.size().cast_signed());
        // SAFETY: the caller passes a layout of nonzero size, as `GlobalAlloc::alloc` requires of it.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        add(-layout.size().cast_signed());
        // SAFETY: the caller passes a block of `alloc` above with its layout, and `alloc` took it from `System`.
        unsafe { System.dealloc(block, layout) }
    }
}

/// Runs `call` and returns its result and the peak of this thread's bytes during the call, less the bytes held before.
pub fn peak_bytes<T>(call: impl FnOnce() -> T) -> (T, usize) {
    let before = HELD.get();
    PEAK.set(before);
    let result = call();
    (result, PEAK.get().abs_diff(before))
}
