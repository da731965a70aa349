//! The memory of slots: blocks that are never moved and never freed while the runtime lives. So a stale reference still
//! points to a slot, and the generation shows that the slot has a different task.

use super::Slot;
use crate::hazard::TaskRef;
use crate::sync::{held, prefetch};
use crossbeam_utils::CachePadded;
use std::sync::{
    Mutex,
    atomic::{AtomicPtr, AtomicU32, Ordering},
};

const BLOCK_SLOTS: usize = 256;
const BLOCKS_MAX: usize = (1 << TaskRef::SLOT_BITS) / BLOCK_SLOTS;
/// The number of free slots that move between a thread and the pool at once.
const CHAIN_SLOTS: u32 = 64;

/// All slots of a runtime.
pub(crate) struct Slab {
    blocks: Box<[AtomicPtr<[Slot; BLOCK_SLOTS]>; BLOCKS_MAX]>,
    /// Free slots that no thread holds, in chains of [`CHAIN_SLOTS`]. On a cache line of its own, because all threads
    /// read the pointer to the blocks for every slot.
    pool: CachePadded<Mutex<Vec<Chain>>>,
    slots_made: AtomicU32,
}

/// A linked chain of free slots.
#[derive(Clone, Copy, Default)]
struct Chain {
    head: u32,
    len: u32,
}

/// The free slots of one thread: a chain in use and a full chain in reserve. With the reserve, a thread that alternates
/// between freeing and taking slots does not use the pool.
#[derive(Default)]
pub(crate) struct SlotCache {
    current: Chain,
    reserve: Chain,
}

impl Slab {
    pub(crate) fn new() -> Self {
        let blocks: Box<[_]> = (0..BLOCKS_MAX).map(|_| AtomicPtr::new(std::ptr::null_mut())).collect();
        Self {
            blocks: blocks.try_into().unwrap_or_else(|_| unreachable!("the collection has the length of the array")),
            pool: CachePadded::default(),
            slots_made: AtomicU32::new(0),
        }
    }

    #[inline]
    pub(crate) fn slot(&self, index: u32) -> &Slot {
        // The remainder equals the index; it shows the compiler that no bounds check is needed.
        let block = self.blocks[index as usize / BLOCK_SLOTS % BLOCKS_MAX].load(Ordering::Acquire);
        // SAFETY: an index is handed out only after its block was stored, and blocks live as long as the slab.
        unsafe { &(*block)[index as usize % BLOCK_SLOTS] }
    }

    /// Like [`slot`](Self::slot), but returns `None` for an index outside this slab, such as one from another slab.
    pub(crate) fn checked_slot(&self, index: u32) -> Option<&Slot> {
        let block = self.blocks.get(index as usize / BLOCK_SLOTS)?.load(Ordering::Acquire);
        // SAFETY: a block that was stored lives as long as the slab.
        let block = unsafe { block.as_ref() }?;
        Some(&block[index as usize % BLOCK_SLOTS])
    }

    /// Returns whether the task is done.
    #[inline]
    pub(crate) fn is_done(&self, task: TaskRef) -> bool {
        task == TaskRef::default() || self.slot(task.slot()).successors.is_done(task.generation())
    }

    /// Takes a free slot, or returns `None` when 2²⁴ tasks are in flight.
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
            // Another core may have used the slot of the next insertion last.
            prefetch(self.slot(cache.current.head));
        }
        Some(index)
    }

    /// Takes back the slot of a finished task. A slot that has used its last generation is not reused; its memory is
    /// kept, so that stale references to it stay valid.
    #[inline]
    pub(crate) fn give(&self, index: u32, cache: &mut SlotCache) {
        if self.slot(index).successors.is_worn_out() {
            return;
        }
        if cache.current.len == CHAIN_SLOTS {
            self.move_to_reserve(cache);
        }
        // SAFETY: the task is done, and the caller is its finisher, which owns the slot until it is in the chain.
        unsafe { self.slot(index).exec() }.body.set_link(cache.current.head);
        cache.current = Chain { head: index, len: cache.current.len + 1 };
    }

    #[cold]
    fn move_to_reserve(&self, cache: &mut SlotCache) {
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
        // The lock is held while a block is made, so that two threads do not both make one.
        let mut pool = held(self.pool.lock());
        if let Some(chain) = pool.pop() {
            cache.current = chain;
            return true;
        }
        let first = self.slots_made.load(Ordering::Relaxed) as usize;
        if first / BLOCK_SLOTS == BLOCKS_MAX {
            return false;
        }
        let slots: Vec<Slot> = (0..BLOCK_SLOTS)
            .map(|at| {
                let mut slot = Slot::new();
                slot.exec_mut().body.set_link((first + at + 1) as u32);
                slot
            })
            .collect();
        let block: Box<[Slot; BLOCK_SLOTS]> = slots.into_boxed_slice().try_into().unwrap_or_else(|_| unreachable!());
        self.blocks[first / BLOCK_SLOTS].store(Box::into_raw(block), Ordering::Release);
        self.slots_made.store((first + BLOCK_SLOTS) as u32, Ordering::Relaxed);
        let chains = (0..BLOCK_SLOTS as u32 / CHAIN_SLOTS)
            .map(|at| Chain { head: first as u32 + at * CHAIN_SLOTS, len: CHAIN_SLOTS });
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
    fn worn_out_slot_is_retired() {
        let (slab, mut cache) = (Slab::new(), SlotCache::default());
        let index = slab.take(&mut cache).expect("there are slots");
        slab.slot(index).successors.set_next_generation(TaskRef::GENERATION_MAX);
        // SAFETY: the slot was just taken and is free.
        let last = unsafe { slab.slot(index).open(index, std::ptr::null(), false) };
        assert_eq!((last.generation(), last.slot()), (TaskRef::GENERATION_MAX, index));
        assert!(!slab.is_done(last));
        let _ = slab.slot(index).successors.close();
        assert!(slab.is_done(last));
        slab.give(index, &mut cache);
        for _ in 0..2 * BLOCK_SLOTS {
            assert_ne!(slab.take(&mut cache), Some(index));
        }
    }
}
