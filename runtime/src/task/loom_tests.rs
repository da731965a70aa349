//! Loom tests: every interleaving of the successor lists and the counts. Under loom the slot has one entry and a chunk
//! has one, so that two successors already reach the chain. Each test lists the faults that it was seen to catch.

use super::{
    pending::{Pending, Release},
    successors::{Added, ChunkCache, Successors},
};
use loom::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    thread,
};

/// A predecessor's list, and the data that its finisher publishes.
struct Predecessor {
    successors: Successors,
    /// Written before the list is closed.
    result: AtomicU32,
    released: AtomicU32,
}

impl Predecessor {
    fn open() -> (Arc<Self>, u64) {
        let this = Self { successors: Successors::new(), result: AtomicU32::new(0), released: AtomicU32::new(0) };
        let generation = this.successors.open(false);
        (Arc::new(this), generation)
    }

    fn finish(&self) {
        self.result.store(1, Ordering::Relaxed);
        let closed = self.successors.close();
        self.successors.drain(closed, |successor| {
            self.released.fetch_add(1 << (8 * successor), Ordering::Relaxed);
        });
        self.successors.give_back(closed, &mut ChunkCache::default());
    }

    /// Adds a successor; returns whether it has to wait.
    fn add(&self, generation: u64, successor: u32, chunks: &mut ChunkCache) -> bool {
        match self.successors.add(generation, successor, chunks) {
            Added::Done => {
                assert_eq!(self.result.load(Ordering::Relaxed), 1, "done, but its result is not visible");
                false
            }
            Added::Unissued | Added::Issued => true,
        }
    }
}

/// Returns the expected releases: successor `i` in byte `i`.
fn expected(waits: impl IntoIterator<Item = bool>) -> u32 {
    waits.into_iter().enumerate().map(|(i, waits)| u32::from(waits) << (8 * i)).sum()
}

/// Catches: a reservation that ignores `CLOSED`; `Relaxed` in `close` (the result is not visible); an entry that is
/// filled before it is reserved.
#[test]
fn loom_add_during_finish() {
    loom::model(|| {
        let (predecessor, generation) = Predecessor::open();
        let finisher = thread::spawn({
            let predecessor = predecessor.clone();
            move || predecessor.finish()
        });
        let mut chunks = ChunkCache::default();
        let waits = [0, 1, 2].map(|successor| predecessor.add(generation, successor, &mut chunks));
        finisher.join().unwrap();
        assert_eq!(predecessor.released.load(Ordering::Relaxed), expected(waits));
    });
}

/// Catches: following a link of the chain that the other inserter has not set yet.
#[test]
fn loom_two_adds_during_finish() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(2);
    model.max_branches = 10_000;
    model.check(|| {
        let (predecessor, generation) = Predecessor::open();
        let mut chunks = ChunkCache::default();
        // The first uses the inline entry. The other two need a chunk each, and the second chunk is linked to the
        // first.
        let first = predecessor.add(generation, 0, &mut chunks);
        let other = thread::spawn({
            let predecessor = predecessor.clone();
            move || predecessor.add(generation, 1, &mut ChunkCache::default())
        });
        let last = predecessor.add(generation, 2, &mut chunks);
        predecessor.finish();
        let waits = [first, other.join().unwrap(), last];
        assert_eq!(predecessor.released.load(Ordering::Relaxed), expected(waits));
    });
}

/// Catches: an `add` that does not compare the generation.
#[test]
fn loom_stale_reference_changes_nothing() {
    loom::model(|| {
        let (slot, old) = Predecessor::open();
        let finisher = thread::spawn({
            let slot = slot.clone();
            move || {
                slot.finish();
                // The slot's next task, with a successor of its own.
                let new = slot.successors.open(false);
                assert!(slot.add(new, 1, &mut ChunkCache::default()));
                let closed = slot.successors.close();
                assert_eq!(closed.count, 1);
                let mut seen = None;
                slot.successors.drain(closed, |successor| seen = Some(successor));
                slot.successors.give_back(closed, &mut ChunkCache::default());
                assert_eq!(seen, Some(1));
            }
        });
        let waits = slot.add(old, 0, &mut ChunkCache::default());
        assert!(waits || slot.successors.is_done(old));
        finisher.join().unwrap();
        assert_eq!(slot.released.load(Ordering::Relaxed), expected([waits]));
    });
}

/// A task is inserted while its only predecessor is issued and then finished: it becomes issuable once and runnable
/// once, and not before.
///
/// Catches: an issuer that releases successors added after it marked the task; a finisher that gives `Both` to all.
#[test]
fn loom_issue_and_finish_during_insertion() {
    loom::model(|| {
        let (predecessor, generation) = Predecessor::open();
        let pending = Arc::new(Pending::new());
        let told = Arc::new((AtomicU32::new(0), AtomicU32::new(0)));
        pending.guard();
        let tell = |told: &(AtomicU32, AtomicU32), released: super::Released| {
            told.0.fetch_add(u32::from(released.issuable()), Ordering::Relaxed);
            told.1.fetch_add(u32::from(released.runnable()), Ordering::Relaxed);
        };
        let device = thread::spawn({
            let (predecessor, pending, told) = (predecessor.clone(), pending.clone(), told.clone());
            move || {
                predecessor.successors.issue(|_| tell(&told, pending.release(Release::Issue, false)));
                let closed = predecessor.successors.close();
                assert!(closed.issued);
                predecessor.successors.drain(closed, |_| tell(&told, pending.release(Release::Done, false)));
                predecessor.successors.give_back(closed, &mut ChunkCache::default());
            }
        });
        let added = predecessor.successors.add(generation, 0, &mut ChunkCache::default());
        let (unissued, undone) = match added {
            Added::Done => (0, 0),
            Added::Issued => (0, 1),
            Added::Unissued => (1, 1),
        };
        tell(&told, pending.seal(unissued, undone, false));
        device.join().unwrap();
        assert_eq!((told.0.load(Ordering::Relaxed), told.1.load(Ordering::Relaxed)), (1, 1));
    });
}

/// Two predecessors finish while the task is sealed: exactly one party makes it ready, and sees what both wrote.
///
/// Catches: `Relaxed` or `Release` in `subtract`.
#[test]
fn loom_last_release_sees_all_writes() {
    loom::model(|| {
        let pending = Arc::new(Pending::new());
        let written = Arc::new([AtomicU32::new(0), AtomicU32::new(0)]);
        pending.guard();
        let check = |written: &[AtomicU32; 2], runnable: bool| {
            if runnable {
                assert!(written.iter().all(|one| one.load(Ordering::Relaxed) == 1));
            }
            u32::from(runnable)
        };
        let predecessors: Vec<_> = (0..2)
            .map(|i| {
                let (pending, written) = (pending.clone(), written.clone());
                thread::spawn(move || {
                    written[i].store(1, Ordering::Relaxed);
                    check(&written, pending.release(Release::Both, false).runnable())
                })
            })
            .collect();
        let sealed = check(&written, pending.seal(2, 2, false).runnable());
        let told: u32 = predecessors.into_iter().map(|thread| thread.join().unwrap()).sum();
        assert_eq!(told + sealed, 1);
    });
}
