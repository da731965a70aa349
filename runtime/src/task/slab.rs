//! Where slots live: blocks that are never moved and never given back while the runtime lives, so that a stale reference
//! still points to a slot (of another task, which its generation tells).

use super::Slot;
use crate::hazard::TaskRef;
use crate::sync::{held, prefetch};
use crossbeam_utils::CachePadded;
use std::sync::{
    Mutex,
    atomic::{AtomicPtr, AtomicU32, Ordering},
};

const BLOCK: usize = 256;
const BLOCKS_MAX: usize = (1 << TaskRef::SLOT_BITS) / BLOCK;
/// How many free slots move between a thread and the pool at once.
const MAGAZINE: u32 = 64;

/// All slots of a runtime.
pub(crate) struct Slab {
    blocks: Box<[AtomicPtr<[Slot; BLOCK]>; BLOCKS_MAX]>,
    /// Free slots that no thread holds, in chains of [`MAGAZINE`]. On a line of its own: all threads read the pointer to
    /// the blocks, for every slot.
    pool: CachePadded<Mutex<Vec<Chain>>>,
    made: AtomicU32,
}

/// A chain of free slots through their links.
#[derive(Clone, Copy, Default)]
struct Chain {
    head: u32,
    len: u32,
}

/// The free slots that one thread holds: one chain to work with, and a full one in reserve, so that a thread that frees and
/// takes in turn stays away from the pool.
#[derive(Default)]
pub(crate) struct SlotCache {
    current: Chain,
    reserve: Chain,
}

impl Slab {
    pub(crate) fn new() -> Self {
        let blocks: Box<[_]> = (0..BLOCKS_MAX).map(|_| AtomicPtr::new(std::ptr::null_mut())).collect();
        Self {
            blocks: blocks.try_into().unwrap_or_else(|_| unreachable!("so many were made")),
            pool: CachePadded::default(),
            made: AtomicU32::new(0),
        }
    }

    #[inline]
    pub(crate) fn slot(&self, index: u32) -> &Slot {
        // The remainder is the index itself: it tells the compiler that no bounds need checking.
        let block = self.blocks[index as usize / BLOCK % BLOCKS_MAX].load(Ordering::Acquire);
        // SAFETY: an index is handed out only after its block was stored, and blocks live as long as the slab.
        unsafe { &(*block)[index as usize % BLOCK] }
    }

    /// The same for an index that may be another slab's.
    pub(crate) fn find(&self, index: u32) -> Option<&Slot> {
        let block = self.blocks.get(index as usize / BLOCK)?.load(Ordering::Acquire);
        // SAFETY: a block that is there lives as long as the slab.
        let block = unsafe { block.as_ref() }?;
        Some(&block[index as usize % BLOCK])
    }

    /// Whether the task is done.
    #[inline]
    pub(crate) fn is_done(&self, task: TaskRef) -> bool {
        task == TaskRef::default() || self.slot(task.slot()).successors.is_done(task.generation())
    }

    /// A free slot, or `None` when 2²⁴ tasks are in flight.
    #[inline]
    pub(crate) fn take(&self, cache: &mut SlotCache) -> Option<u32> {
        if cache.current.len == 0 && !self.refill(cache) {
            return None;
        }
        let index = cache.current.head;
        // SAFETY: the slot is free and in this thread's chain.
        cache.current.head = unsafe { self.slot(index).exec() }.body.link();
        cache.current.len -= 1;
        if cache.current.len > 0 {
            // The next insertion will find its slot in the cache, though another core used it last.
            prefetch(self.slot(cache.current.head));
        }
        Some(index)
    }

    /// Takes back a slot whose task is done. One that has had its last generation is given to nobody any more: its memory is
    /// kept, and stale references to it stay right.
    #[inline]
    pub(crate) fn give(&self, index: u32, cache: &mut SlotCache) {
        if self.slot(index).successors.is_worn_out() {
            return;
        }
        if cache.current.len == MAGAZINE {
            self.stow(cache);
        }
        // SAFETY: the task is done and its finisher, the caller, hands the slot over.
        unsafe { self.slot(index).exec() }.body.set_link(cache.current.head);
        cache.current = Chain { head: index, len: cache.current.len + 1 };
    }

    #[cold]
    fn stow(&self, cache: &mut SlotCache) {
        let full = std::mem::replace(&mut cache.reserve, std::mem::take(&mut cache.current));
        if full.len > 0 {
            held(self.pool.lock()).push(full);
        }
    }

    #[cold]
    fn refill(&self, cache: &mut SlotCache) -> bool {
        cache.current = std::mem::take(&mut cache.reserve);
        if cache.current.len > 0 {
            return true;
        }
        // The lock is held while a block is made, so that two threads do not make two.
        let mut pool = held(self.pool.lock());
        if let Some(chain) = pool.pop() {
            cache.current = chain;
            return true;
        }
        let first = self.made.load(Ordering::Relaxed) as usize;
        if first / BLOCK == BLOCKS_MAX {
            return false;
        }
        let slots: Vec<Slot> = (0..BLOCK)
            .map(|at| {
                let mut slot = Slot::new();
                slot.exec_mut().body.set_link((first + at + 1) as u32);
                slot
            })
            .collect();
        let block: Box<[Slot; BLOCK]> = slots.into_boxed_slice().try_into().unwrap_or_else(|_| unreachable!());
        self.blocks[first / BLOCK].store(Box::into_raw(block), Ordering::Release);
        self.made.store((first + BLOCK) as u32, Ordering::Relaxed);
        let chains = (0..BLOCK as u32 / MAGAZINE).map(|at| Chain { head: first as u32 + at * MAGAZINE, len: MAGAZINE });
        pool.extend(chains.rev());
        cache.current = pool.pop().unwrap_or_default();
        true
    }
}

impl Drop for Slab {
    fn drop(&mut self) {
        for block in &mut *self.blocks {
            let block = *block.get_mut();
            if !block.is_null() {
                // SAFETY: made by `Box::into_raw` in `refill`, and no reference outlives the slab.
                drop(unsafe { Box::from_raw(block) });
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_slot_after_its_last_generation_is_retired() {
        let (slab, mut cache) = (Slab::new(), SlotCache::default());
        let index = slab.take(&mut cache).expect("there are slots");
        slab.slot(index).successors.age(TaskRef::GENERATION_MAX);
        // SAFETY: the slot was taken from the free ones.
        let last = unsafe { slab.slot(index).open(index, std::ptr::null(), false) };
        assert_eq!((last.generation(), last.slot()), (TaskRef::GENERATION_MAX, index));
        assert!(!slab.is_done(last));
        let _ = slab.slot(index).successors.close();
        assert!(slab.is_done(last));
        slab.give(index, &mut cache);
        for _ in 0..2 * BLOCK {
            assert_ne!(slab.take(&mut cache), Some(index));
        }
    }
}
