//! Who waits for a task: the list of its successors, and the race between adding to it and finishing it.
//!
//! # The protocol
//!
//! Every task slot holds one [`Successors`]. Three parties meet in it:
//!
//! * the **inserters** add successors. There may be several at a time: a task that names a handle of its scope and one that
//!   threads share gets successors from the scope's thread, by the first, and from others, by the second;
//! * the **issuer** marks the task *issued* once its work stands in a device queue;
//! * the **finisher** closes the list when the task is *done*, and then owns all entries.
//!
//! All three meet in one word: `generation | count | ALONE | ISSUED | CLOSED`. The inserter first *reserves* an entry by raising
//! `count` with a compare-and-swap, and then writes the successor into it. The finisher sets `CLOSED` with one
//! read-modify-write and learns the final count from the value it replaced. So either the reservation came before the close,
//! and the finisher waits the few instructions until the entry is filled and releases it; or the compare-and-swap fails, the
//! inserter sees `CLOSED`, and knows that there is nothing to wait for. No entry is lost and none is released twice. The same
//! holds for `ISSUED`: the issuer learns how many successors had been added before; later ones see the bit and do not wait
//! for the issue.
//!
//! *The race feared*: writing the entry first and publishing it second saves the finisher's wait, and is wrong. Between the
//! inserter's look at the word and its write, the task may finish and its slot be given to another task, whose entry that
//! write would then destroy. A reservation excludes it: a slot is not reused before its finisher has seen every reserved
//! entry filled.
//!
//! The **generation** makes a reference to a task safe after the slot was given to another task: a [`TaskRef`] carries the
//! generation it was made for, and a mismatch means "that task is done". Generations never repeat: a slot that has had the
//! last one is retired (`task/slab.rs`).
//!
//! The **count** cannot overflow: an insertion adds its task to each predecessor once (`task/predecessors.rs`), and fewer tasks are
//! in flight than the count has values.
//!
//! # Chunks
//!
//! Entries beyond those in the slot lie in a chain of chunks, which the slot links in order. The first chunk also says which
//! one was linked last. That is a hint, from which an inserter walks forward to the chunk of its entry, so adding takes
//! constant time; it starts at the first chunk if another inserter is already behind its own.
//!
//! # Alone
//!
//! Where one thread is inserter and finisher of a task and of all its neighbours (`scope_state.rs` says where), nobody can come
//! between its look at the word and its write. The word then carries `ALONE`, and is changed by plain stores: a serial run
//! pays for no locked instruction. Others may still read the word, through stale references, so the stores release.
//!
//! # Memory order
//!
//! `close` releases and `add` acquires, so an inserter that finds a predecessor done also sees what it wrote. Entries are
//! written with release and read with acquire; zero means "not yet filled", which the finisher restores.

use crate::hazard::TaskRef;
use crate::sync::{AtomicPtr, AtomicU32, AtomicU64, Ordering, relax};

const CLOSED: u64 = 1;
const ISSUED: u64 = 2;
const ALONE: u64 = 4;
const COUNT_SHIFT: u32 = 3;
const COUNT_ONE: u64 = 1 << COUNT_SHIFT;
const COUNT_BITS: u32 = 25;
const COUNT_MASK: u64 = (1 << COUNT_BITS) - 1;
const GENERATION_SHIFT: u32 = COUNT_SHIFT + COUNT_BITS;

// Each task in flight is counted once at most, and each has a slot.
const _: () = assert!(COUNT_BITS > TaskRef::SLOT_BITS);
const _: () = assert!(TaskRef::GENERATION_MAX < 1 << (u64::BITS - GENERATION_SHIFT));

/// Successors kept in the slot itself. Tile algorithms fan out further (a Cholesky panel tile feeds a whole block column),
/// and spill into chunks.
const INLINE: usize = if cfg!(loom) { 1 } else { 8 };
/// Entries of one spill chunk: with its links it fills two cache lines.
const CHUNK: usize = if cfg!(loom) { 1 } else { 27 };

/// A spill block of successor entries.
pub(crate) struct Chunk {
    entries: [AtomicU32; CHUNK],
    /// Its place in the chain. Written before it is linked.
    number: AtomicU32,
    next: AtomicPtr<Chunk>,
    /// Of the first chunk: a chunk that was linked lately. Null: the first itself.
    latest: AtomicPtr<Chunk>,
}

const _: () = assert!(cfg!(loom) || size_of::<Chunk>() == 128);

/// Spill blocks not in use, kept by one thread, so that the steady state allocates little.
#[derive(Default)]
#[expect(clippy::vec_box, reason = "a block moves between lists by its address")]
pub(crate) struct ChunkCache(Vec<Box<Chunk>>);

impl ChunkCache {
    /// Blocks flow from inserters to finishers; beyond this many a finisher gives them back to the allocator.
    const KEPT_MAX: usize = 256;

    fn get(&mut self) -> Box<Chunk> {
        self.0.pop().unwrap_or_else(|| {
            Box::new(Chunk {
                entries: std::array::from_fn(|_| AtomicU32::new(0)),
                number: AtomicU32::new(0),
                next: AtomicPtr::new(std::ptr::null_mut()),
                latest: AtomicPtr::new(std::ptr::null_mut()),
            })
        })
    }

    fn put(&mut self, chunk: Box<Chunk>) {
        if self.0.len() < Self::KEPT_MAX {
            self.0.push(chunk);
        }
    }
}

/// What [`Successors::add`] found.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Added {
    /// The predecessor is done; there is nothing to wait for.
    Done,
    /// The successor was added; the predecessor was not issued yet, so both releases will come.
    Unissued,
    /// The successor was added; the predecessor was issued before, so only *done* will come.
    Issued,
}

/// What [`Successors::close`] found.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Closed {
    /// How many successors were added in all.
    pub(crate) count: usize,
    /// Whether the task had been issued: then the first of them, those that [`Successors::issue`] counted, have had that
    /// release, and the others never waited for it.
    pub(crate) issued: bool,
}

/// The list of a task's successors; see the module's head for the protocol.
pub(crate) struct Successors {
    state: AtomicU64,
    inline: [AtomicU32; INLINE],
    spill: AtomicPtr<Chunk>,
}

impl Successors {
    pub(crate) fn new() -> Self {
        Self {
            state: AtomicU64::new(CLOSED),
            inline: std::array::from_fn(|_| AtomicU32::new(0)),
            spill: AtomicPtr::new(std::ptr::null_mut()),
        }
    }

    /// Opens the list for a new task in this slot and returns the task's generation. Only the slot's new owner calls it, and not
    /// for a slot that [`is_worn_out`](Self::is_worn_out); if it is `alone`, it is also the only one who ever adds to the list
    /// and closes it.
    #[inline]
    pub(crate) fn open(&self, alone: bool) -> u64 {
        let generation = (self.state.load(Ordering::Relaxed) >> GENERATION_SHIFT) + 1;
        debug_assert!(generation <= TaskRef::GENERATION_MAX, "a worn-out slot is retired");
        // Release: whoever reads this generation must also see what the slot's former task did.
        self.state.store(generation << GENERATION_SHIFT | if alone { ALONE } else { 0 }, Ordering::Release);
        generation
    }

    /// Whether the slot has had its last generation, so that no further task may be given to it.
    #[inline]
    pub(crate) fn is_worn_out(&self) -> bool {
        self.state.load(Ordering::Relaxed) >> GENERATION_SHIFT >= TaskRef::GENERATION_MAX
    }

    /// Makes the next generation this one.
    #[cfg(all(test, not(loom)))]
    pub(crate) fn age(&self, next: u64) {
        self.state.store((next - 1) << GENERATION_SHIFT | CLOSED, Ordering::Release);
    }

    /// Whether one thread does everything to the open task and its neighbours.
    #[inline]
    pub(crate) fn is_alone(&self) -> bool {
        self.state.load(Ordering::Relaxed) & ALONE != 0
    }

    /// Whether the task of this generation is done.
    #[inline]
    pub(crate) fn is_done(&self, generation: u64) -> bool {
        let state = self.state.load(Ordering::Acquire);
        state >> GENERATION_SHIFT != generation || state & CLOSED != 0
    }

    /// Adds `successor` (a slot index) to the task of this generation.
    #[inline]
    pub(crate) fn add(&self, generation: u64, successor: u32, chunks: &mut ChunkCache) -> Added {
        let mut state = self.state.load(Ordering::Acquire);
        loop {
            if state >> GENERATION_SHIFT != generation || state & CLOSED != 0 {
                return Added::Done;
            }
            if state & ALONE != 0 {
                self.state.store(state + COUNT_ONE, Ordering::Release);
                break;
            }
            match self.state.compare_exchange_weak(state, state + COUNT_ONE, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => break,
                Err(now) => state = now,
            }
        }
        let at = (state >> COUNT_SHIFT & COUNT_MASK) as usize;
        match self.inline.get(at) {
            Some(entry) => entry.store(successor + 1, Ordering::Release),
            None => self.spill(at - INLINE, successor, chunks),
        }
        if state & ISSUED != 0 { Added::Issued } else { Added::Unissued }
    }

    /// Fills the reserved spill entry `at`, growing the chain when it is the first of a new chunk.
    #[cold]
    fn spill(&self, at: usize, successor: u32, chunks: &mut ChunkCache) {
        let number = at / CHUNK;
        let chunk = match number {
            _ if !at.is_multiple_of(CHUNK) => self.chunk(number),
            0 => link(&self.spill, 0, chunks),
            _ => {
                let chunk = link(&self.chunk(number - 1).next, number, chunks);
                self.chunk(0).latest.store(std::ptr::from_ref(chunk).cast_mut(), Ordering::Release);
                chunk
            }
        };
        chunk.entries[at % CHUNK].store(successor + 1, Ordering::Release);
    }

    /// The chunk of this number, once it is linked. An entry in it, or behind it, is reserved and not filled yet.
    fn chunk(&self, number: usize) -> &Chunk {
        // SAFETY: only the finisher frees the chain, and only after it has seen every reserved entry filled; one is not.
        let first = unsafe { &*linked(&self.spill) };
        if number == 0 {
            return first;
        }
        // SAFETY: alive for the same reason: an entry in the chunk looked for, or behind it, is not filled.
        let latest = unsafe { first.latest.load(Ordering::Acquire).as_ref() };
        let mut chunk = latest.filter(|latest| latest.number() <= number).unwrap_or(first);
        while chunk.number() < number {
            // SAFETY: alive for the same reason: an entry in the chunk looked for, or behind it, is not filled.
            chunk = unsafe { &*linked(&chunk.next) };
        }
        chunk
    }

    /// Marks the task issued and calls `release` with each successor added so far: these waited for the issue.
    ///
    /// The caller is the task's only issuer, and the task can not be finished before this returns.
    pub(crate) fn issue(&self, mut release: impl FnMut(u32)) {
        let state = self.state.fetch_or(ISSUED, Ordering::AcqRel);
        debug_assert!(state & (ISSUED | CLOSED) == 0, "a task is issued once, before it is done");
        let count = (state >> COUNT_SHIFT & COUNT_MASK) as usize;
        self.walk(count, |entry| release(filled(entry) - 1));
    }

    /// Marks the task done. The caller, the task's only finisher, then owns the entries and must [`drain`](Self::drain) them, and
    /// [`give_back`](Self::give_back) what held them.
    #[inline]
    pub(crate) fn close(&self) -> Closed {
        let mut state = self.state.load(Ordering::Relaxed);
        if state & ALONE != 0 {
            self.state.store(state | CLOSED, Ordering::Release);
        } else {
            state = self.state.fetch_or(CLOSED, Ordering::AcqRel);
        }
        debug_assert!(state & CLOSED == 0, "a task is done once");
        Closed { count: (state >> COUNT_SHIFT & COUNT_MASK) as usize, issued: state & ISSUED != 0 }
    }

    /// Calls `release` with each of the `closed.count` successors, and leaves their entries empty for the slot's next task.
    #[inline]
    pub(crate) fn drain(&self, closed: Closed, mut release: impl FnMut(u32)) {
        self.walk(closed.count, |entry| {
            let successor = filled(entry) - 1;
            entry.store(0, Ordering::Relaxed);
            release(successor);
        });
    }

    /// Gives back the chunks of a drained list. Apart from [`drain`](Self::drain), which calls policies: these may come back to the
    /// seat whose cache it is.
    #[inline]
    pub(crate) fn give_back(&self, closed: Closed, chunks: &mut ChunkCache) {
        if closed.count > INLINE {
            self.free_spill(chunks);
        }
    }

    #[inline]
    fn walk(&self, count: usize, mut visit: impl FnMut(&AtomicU32)) {
        let mut spilled = Spilled { entries: &[], link: &self.spill };
        for at in 0..count {
            visit(self.inline.get(at).unwrap_or_else(|| spilled.next()));
        }
    }

    #[cold]
    fn free_spill(&self, chunks: &mut ChunkCache) {
        let mut next = self.spill.load(Ordering::Relaxed);
        self.spill.store(std::ptr::null_mut(), Ordering::Relaxed);
        while !next.is_null() {
            // SAFETY: made by `Box::into_raw` in `spill`; the list is closed and every reserved entry was seen filled, so
            // no inserter holds a reference, and the finisher is the only one left.
            let chunk = unsafe { Box::from_raw(next) };
            next = chunk.next.load(Ordering::Relaxed);
            chunk.next.store(std::ptr::null_mut(), Ordering::Relaxed);
            chunk.latest.store(std::ptr::null_mut(), Ordering::Relaxed);
            chunks.put(chunk);
        }
    }
}

/// A walk through the entries that are not in the slot.
struct Spilled<'a> {
    /// What is left of a chunk.
    entries: &'a [AtomicU32],
    /// To the next chunk.
    link: &'a AtomicPtr<Chunk>,
}

impl<'a> Spilled<'a> {
    /// The next entry, which is reserved.
    #[cold]
    fn next(&mut self) -> &'a AtomicU32 {
        if self.entries.is_empty() {
            // SAFETY: chunks are freed only in `free_spill`, which the finisher calls after the last walk.
            let chunk = unsafe { &*linked(self.link) };
            (self.entries, self.link) = (&chunk.entries, &chunk.next);
        }
        let (first, rest) = self.entries.split_first().unwrap_or_else(|| unreachable!("a chunk has entries"));
        self.entries = rest;
        first
    }
}

impl Drop for Successors {
    fn drop(&mut self) {
        // A slab is dropped after its last task is done, so the lists are drained; this is for a slab dropped by a panic.
        self.free_spill(&mut ChunkCache::default());
    }
}

impl Chunk {
    fn number(&self) -> usize {
        self.number.load(Ordering::Relaxed) as usize
    }
}

/// Links a new chunk of this number. Its first entry is reserved and not filled yet.
fn link<'a>(to: &'a AtomicPtr<Chunk>, number: usize, chunks: &mut ChunkCache) -> &'a Chunk {
    let chunk = chunks.get();
    chunk.number.store(number as u32, Ordering::Relaxed);
    let chunk = Box::into_raw(chunk);
    to.store(chunk, Ordering::Release);
    // SAFETY: only the finisher frees the chain, and only after it has seen every reserved entry filled; one is not.
    unsafe { &*chunk }
}

/// The chunk of a reserved entry, once the inserter that reserved its first entry has linked it.
#[inline]
fn linked(link: &AtomicPtr<Chunk>) -> *mut Chunk {
    let mut chunk = link.load(Ordering::Acquire);
    while chunk.is_null() {
        relax();
        chunk = link.load(Ordering::Acquire);
    }
    chunk
}

/// The entry's value, once the inserter that reserved it has filled it.
#[inline]
fn filled(entry: &AtomicU32) -> u32 {
    let mut value = entry.load(Ordering::Acquire);
    while value == 0 {
        relax();
        value = entry.load(Ordering::Acquire);
    }
    value
}
