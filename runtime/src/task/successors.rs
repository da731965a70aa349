//! The successors of a task, and the race between adding a successor and finishing the task.
//!
//! # The protocol
//!
//! Each task slot has one [`Successors`] list, which three parties use:
//!
//! * The **inserters** add successors. There may be several at a time: if a task names a handle of its scope and a
//!   handle that threads share, the scope's thread adds successors through the first, and other threads through the
//!   second.
//! * The **issuer** marks the task *issued* once its work is in a device queue.
//! * The **finisher** closes the list when the task is *done*, and then owns all entries.
//!
//! All three operate on one word: `generation | count | SINGLE_THREADED | ISSUED | CLOSED`. An inserter first
//! *reserves* an entry by raising `count` with a compare-and-swap, and then writes the successor into it. The finisher
//! sets `CLOSED` with one read-modify-write and learns the final count from the value it replaced. There are two cases.
//! If the reservation came before the close, the finisher waits for the few instructions until the entry is filled, and
//! releases it. Otherwise the compare-and-swap fails, and the inserter sees `CLOSED` and has nothing to wait for. So no
//! entry is lost, and none is released twice. `ISSUED` works in the same way: the issuer learns how many successors
//! were added before, and later inserters see the bit and do not wait for the issue.
//!
//! *The race to avoid*: an inserter that wrote its entry first and published it second would spare the finisher the
//! wait, but be wrong. Between its read of the word and its write of the entry, the task may finish, and its slot may
//! be reused by a task whose entry the write would overwrite. The reservation prevents this: a slot is not reused
//! before its finisher has seen every reserved entry filled.
//!
//! The **generation** makes a reference to a task safe after its slot has been reused. A [`TaskRef`] contains the
//! generation of its task, and a mismatch means that the task is done. Generations never repeat: a slot that has used
//! its last generation is retired (`task/slab.rs`).
//!
//! The **count** cannot overflow: an insertion adds its task to each predecessor once (`task/predecessors.rs`), and the
//! count has more values than there can be tasks in flight.
//!
//! # Chunks
//!
//! Entries that do not fit in the slot are in a chain of chunks, linked in order. The first chunk has a hint to the
//! chunk that was linked last. An inserter walks forward from the hint to the chunk of its entry, so adding takes
//! constant time. If another inserter has already moved the hint past that chunk, the walk starts at the first chunk.
//!
//! # Single-threaded tasks
//!
//! If one thread inserts and finishes a task and all its neighbours (`scope_state.rs` says when), no other thread can
//! interfere between a read of the word and a write. The word then contains `SINGLE_THREADED` and is changed by plain
//! stores, so a serial run needs no locked instructions. Other threads may still read the word through stale
//! references, so the stores have release order.
//!
//! # Memory order
//!
//! `close` releases and `add` acquires, so an inserter that finds a predecessor done also sees what it wrote. Entries
//! are written with release and read with acquire. Zero means "not yet filled", and the finisher resets entries to
//! zero.

use crate::hazard::TaskRef;
use crate::sync::{AtomicPtr, AtomicU32, AtomicU64, Ordering, relax};

const CLOSED: u64 = 1;
const ISSUED: u64 = 2;
const SINGLE_THREADED: u64 = 4;
const COUNT_SHIFT: u32 = 3;
const COUNT_ONE: u64 = 1 << COUNT_SHIFT;
const COUNT_BITS: u32 = 25;
const COUNT_MASK: u64 = (1 << COUNT_BITS) - 1;
const GENERATION_SHIFT: u32 = COUNT_SHIFT + COUNT_BITS;

// Each task in flight is counted at most once, and each has a slot.
const _: () = assert!(COUNT_BITS > TaskRef::SLOT_BITS);
const _: () = assert!(TaskRef::GENERATION_MAX < 1 << (u64::BITS - GENERATION_SHIFT));

/// The number of successors stored in the slot itself. Tile algorithms fan out further (a Cholesky panel tile feeds a
/// whole block column), and spill into chunks.
const INLINE_ENTRIES: usize = if cfg!(loom) { 1 } else { 8 };
/// The number of entries of a spill chunk; with its links, a chunk fills two cache lines.
const CHUNK_ENTRIES: usize = if cfg!(loom) { 1 } else { 27 };

/// A block of successor entries that do not fit in the slot.
pub(crate) struct Chunk {
    entries: [AtomicU32; CHUNK_ENTRIES],
    /// The chunk's index in the chain, written before the chunk is linked.
    number: AtomicU32,
    next: AtomicPtr<Chunk>,
    /// Only in the first chunk: a recently linked chunk, or null for the first chunk itself.
    latest: AtomicPtr<Chunk>,
}

const _: () = assert!(cfg!(loom) || size_of::<Chunk>() == 128);

/// The unused chunks kept by one thread, so that the steady state rarely allocates.
#[derive(Default)]
#[expect(clippy::vec_box, reason = "a block moves between lists by its address")]
pub(crate) struct ChunkCache(Vec<Box<Chunk>>);

impl ChunkCache {
    /// Chunks move from inserters to finishers. A finisher that holds this many returns further ones to the allocator.
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

/// The result of [`Successors::add`].
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Added {
    /// The predecessor is done, so there is nothing to wait for.
    Done,
    /// The successor was added, and the predecessor is not issued yet, so both releases will follow.
    Unissued,
    /// The successor was added, and the predecessor is already issued, so only the *done* release will follow.
    Issued,
}

/// The result of [`Successors::close`].
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Closed {
    /// The number of successors added.
    pub(crate) count: usize,
    /// Whether the task was issued. If so, the successors counted by [`Successors::issue`] have had their issue
    /// release, and later ones did not wait for it.
    pub(crate) issued: bool,
}

/// The list of a task's successors; see the [module](self) documentation for the protocol.
pub(crate) struct Successors {
    state: AtomicU64,
    inline: [AtomicU32; INLINE_ENTRIES],
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

    /// Opens the list for a new task in this slot and returns the task's generation. Only the slot's new owner calls
    /// it, and only for a slot that is not [worn out](Self::is_worn_out). If the task is `single_threaded`, the caller
    /// is the only thread that ever adds to the list and closes it.
    #[inline]
    pub(crate) fn open(&self, single_threaded: bool) -> u64 {
        let generation = (self.state.load(Ordering::Relaxed) >> GENERATION_SHIFT) + 1;
        debug_assert!(generation <= TaskRef::GENERATION_MAX, "a worn-out slot is retired");
        // Release: a thread that reads this generation must also see the effects of the slot's previous task.
        self.state.store(
            generation << GENERATION_SHIFT | if single_threaded { SINGLE_THREADED } else { 0 },
            Ordering::Release,
        );
        generation
    }

    /// Returns whether the slot has used its last generation. Such a slot gets no further tasks.
    #[inline]
    pub(crate) fn is_worn_out(&self) -> bool {
        self.state.load(Ordering::Relaxed) >> GENERATION_SHIFT >= TaskRef::GENERATION_MAX
    }

    /// Sets the generation that the next task of this slot will get.
    #[cfg(all(test, not(loom)))]
    pub(crate) fn set_next_generation(&self, next: u64) {
        self.state.store((next - 1) << GENERATION_SHIFT | CLOSED, Ordering::Release);
    }

    /// Returns whether one thread performs all operations on the open task and its neighbours.
    #[inline]
    pub(crate) fn is_single_threaded(&self) -> bool {
        self.state.load(Ordering::Relaxed) & SINGLE_THREADED != 0
    }

    /// Returns whether the task of this generation is done.
    #[inline]
    pub(crate) fn is_done(&self, generation: u64) -> bool {
        let state = self.state.load(Ordering::Acquire);
        state >> GENERATION_SHIFT != generation || state & CLOSED != 0
    }

    /// Adds `successor`, given by its slot index, to the task of this generation.
    #[inline]
    pub(crate) fn add(&self, generation: u64, successor: u32, chunks: &mut ChunkCache) -> Added {
        let mut state = self.state.load(Ordering::Acquire);
        loop {
            if state >> GENERATION_SHIFT != generation || state & CLOSED != 0 {
                return Added::Done;
            }
            if state & SINGLE_THREADED != 0 {
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
            None => self.spill(at - INLINE_ENTRIES, successor, chunks),
        }
        if state & ISSUED != 0 { Added::Issued } else { Added::Unissued }
    }

    /// Fills the reserved spill entry `at`, and links a new chunk if the entry is the first of its chunk.
    #[cold]
    fn spill(&self, at: usize, successor: u32, chunks: &mut ChunkCache) {
        let number = at / CHUNK_ENTRIES;
        let chunk = match number {
            _ if !at.is_multiple_of(CHUNK_ENTRIES) => self.chunk(number),
            0 => link(&self.spill, 0, chunks),
            _ => {
                let chunk = link(&self.chunk(number - 1).next, number, chunks);
                self.chunk(0).latest.store(std::ptr::from_ref(chunk).cast_mut(), Ordering::Release);
                chunk
            }
        };
        chunk.entries[at % CHUNK_ENTRIES].store(successor + 1, Ordering::Release);
    }

    /// Returns the chunk of this number, waiting until it is linked. An entry in it or in a later chunk is reserved and
    /// not filled yet.
    fn chunk(&self, number: usize) -> &Chunk {
        // SAFETY: only the finisher frees the chain, after it has seen every reserved entry filled; the caller's entry
        // is not filled.
        let first = unsafe { &*linked(&self.spill) };
        if number == 0 {
            return first;
        }
        // SAFETY: only the finisher frees the chain, after it has seen every reserved entry filled; the caller's entry
        // is not filled.
        let latest = unsafe { first.latest.load(Ordering::Acquire).as_ref() };
        let mut chunk = latest.filter(|latest| latest.number() <= number).unwrap_or(first);
        while chunk.number() < number {
            // SAFETY: only the finisher frees the chain, after it has seen every reserved entry filled; the caller's
            // entry is not filled.
            chunk = unsafe { &*linked(&chunk.next) };
        }
        chunk
    }

    /// Marks the task issued and calls `release` with each successor added so far; these waited for the issue.
    ///
    /// The caller is the task's only issuer, and the task cannot be finished before this returns.
    pub(crate) fn issue(&self, mut release: impl FnMut(u32)) {
        let state = self.state.fetch_or(ISSUED, Ordering::AcqRel);
        debug_assert!(state & (ISSUED | CLOSED) == 0, "a task is issued once, before it is done");
        let count = (state >> COUNT_SHIFT & COUNT_MASK) as usize;
        self.walk(count, |entry| release(filled(entry) - 1));
    }

    /// Marks the task done. The caller is the task's only finisher and then owns the entries. It must
    /// [`drain`](Self::drain) them and [`give_back`](Self::give_back) their chunks.
    #[inline]
    pub(crate) fn close(&self) -> Closed {
        let mut state = self.state.load(Ordering::Relaxed);
        if state & SINGLE_THREADED != 0 {
            self.state.store(state | CLOSED, Ordering::Release);
        } else {
            state = self.state.fetch_or(CLOSED, Ordering::AcqRel);
        }
        debug_assert!(state & CLOSED == 0, "a task is done once");
        Closed { count: (state >> COUNT_SHIFT & COUNT_MASK) as usize, issued: state & ISSUED != 0 }
    }

    /// Calls `release` with each of the `closed.count` successors, and empties their entries for the slot's next task.
    #[inline]
    pub(crate) fn drain(&self, closed: Closed, mut release: impl FnMut(u32)) {
        self.walk(closed.count, |entry| {
            let successor = filled(entry) - 1;
            entry.store(0, Ordering::Relaxed);
            release(successor);
        });
    }

    /// Returns the chunks of a drained list to the cache. This is separate from [`drain`](Self::drain), which may call
    /// policies that use the same seat and therefore the same cache.
    #[inline]
    pub(crate) fn give_back(&self, closed: Closed, chunks: &mut ChunkCache) {
        if closed.count > INLINE_ENTRIES {
            self.free_spill(chunks);
        }
    }

    #[inline]
    fn walk(&self, count: usize, mut visit: impl FnMut(&AtomicU32)) {
        let mut spilled = SpillIter { entries: &[], link: &self.spill };
        for at in 0..count {
            visit(self.inline.get(at).unwrap_or_else(|| spilled.next()));
        }
    }

    #[cold]
    fn free_spill(&self, chunks: &mut ChunkCache) {
        let mut next = self.spill.load(Ordering::Relaxed);
        self.spill.store(std::ptr::null_mut(), Ordering::Relaxed);
        while !next.is_null() {
            // SAFETY: made by `Box::into_raw` in `link`. The list is closed and every reserved entry was seen filled,
            // so no inserter holds a reference, and the finisher is the only owner.
            let chunk = unsafe { Box::from_raw(next) };
            next = chunk.next.load(Ordering::Relaxed);
            chunk.next.store(std::ptr::null_mut(), Ordering::Relaxed);
            chunk.latest.store(std::ptr::null_mut(), Ordering::Relaxed);
            chunks.put(chunk);
        }
    }
}

/// An iterator over the spilled entries.
struct SpillIter<'a> {
    /// The remaining entries of the current chunk.
    entries: &'a [AtomicU32],
    /// The link to the next chunk.
    link: &'a AtomicPtr<Chunk>,
}

impl<'a> SpillIter<'a> {
    /// Returns the next entry, which is reserved.
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
        // After normal use the list is drained; this frees the chunks of a slab that is dropped by a panic.
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
    // SAFETY: only the finisher frees the chain, after it has seen every reserved entry filled; the caller's entry is
    // not filled.
    unsafe { &*chunk }
}

/// Returns the chunk of a reserved entry, waiting until the inserter that reserved the chunk's first entry has linked
/// it.
#[inline]
fn linked(link: &AtomicPtr<Chunk>) -> *mut Chunk {
    let mut chunk = link.load(Ordering::Acquire);
    while chunk.is_null() {
        relax();
        chunk = link.load(Ordering::Acquire);
    }
    chunk
}

/// Returns the entry's value, waiting until the inserter that reserved it has filled it.
#[inline]
fn filled(entry: &AtomicU32) -> u32 {
    let mut value = entry.load(Ordering::Acquire);
    while value == 0 {
        relax();
        value = entry.load(Ordering::Acquire);
    }
    value
}
