//! A 24 MB file that is never completely in memory: it is generated while it is read, and copied while it is merged.

use std::alloc::{GlobalAlloc, Layout, System};
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use superscalar_traces::merge::{MergeOptions, merge};
use superscalar_traces::{HazardEdge, Task, Trace};

/// The system allocator, counting the bytes in use and their peak.
struct Counted;

static USED_BYTES: AtomicUsize = AtomicUsize::new(0);
static PEAK_BYTES: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is forwarded to `System` with its arguments unchanged, so `System`'s guarantees hold. The counters
// are separate atomics.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let used = USED_BYTES.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK_BYTES.fetch_max(used, Ordering::Relaxed);
        // SAFETY: the caller guarantees a layout of nonzero size, which is passed on unchanged.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        USED_BYTES.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: `memory` was allocated by `alloc` above, so by `System`, with this layout.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counted = Counted;

const TASKS: u64 = 60_000;
const WORKERS: u64 = 8;

/// A trace that is generated while it is read.
struct Made {
    /// The next task.
    next: u64,
    piece: Vec<u8>,
    at: usize,
    bytes: u64,
}

impl Made {
    /// Generates a task, and its hazard on the previous task of its worker.
    fn make(&mut self) -> io::Result<()> {
        let id = self.next;
        self.next += 1;
        self.at = 0;
        self.piece.clear();
        let out = &mut self.piece;
        if id == 0 {
            write!(out, "{{\"traceEvents\":[")?;
        }
        if id == TASKS {
            return write!(out, "],\"otherData\":{{\"tasks\":{TASKS},\"records dropped\":0}}}}");
        }
        if id > TASKS {
            return Ok(());
        }
        let comma = if id == 0 { "" } else { "," };
        let (tid, ts) = (id % WORKERS, id / WORKERS * 100);
        write!(
            out,
            "{comma}\n{{\"ph\":\"X\",\"cat\":\"task\",\"name\":\"kernel {}\",\"pid\":2,\"tid\":{tid},\
             \"ts\":{ts}.000,\"dur\":90.125,\
             \"args\":{{\"task\":{id},\"outcome\":\"completed\",\"inserted\":{ts}.000,\
             \"index\":[{},7,0],\"priority\":3,\
             \"BLAS level\":3,\"flops\":27648000,\"GFLOP/s\":30.023,\"bytes\":1843200,\
             \"site\":\"src/routine.rs:{}\"}}}}",
            id % 5,
            id % 91,
            id % 7
        )?;
        if let Some(from) = id.checked_sub(WORKERS) {
            let arguments = format!("\"args\":{{\"from\":{from},\"to\":{id},\"datum\":9}}");
            let head = format!("\"cat\":\"hazard\",\"name\":\"RaW\",\"id\":{id},\"pid\":2,\"tid\":{tid},{arguments}");
            write!(
                out,
                ",\n{{\"ph\":\"s\",\"ts\":{}.001,{head}}},\n{{\"ph\":\"f\",\"ts\":{ts}.001,{head}}}",
                ts - 100
            )?;
        }
        Ok(())
    }
}

impl Read for Made {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        if self.at == self.piece.len() {
            self.make()?;
        }
        let bytes = to.len().min(self.piece.len() - self.at);
        to[..bytes].copy_from_slice(&self.piece[self.at..self.at + bytes]);
        self.at += bytes;
        self.bytes += bytes as u64;
        Ok(bytes)
    }
}

/// Returns the additional bytes in use after `work`, their peak during it, and its result.
fn measured<T>(work: impl FnOnce() -> T) -> (usize, usize, T) {
    let before = USED_BYTES.load(Ordering::Relaxed);
    PEAK_BYTES.store(before, Ordering::Relaxed);
    let result = work();
    let used = USED_BYTES.load(Ordering::Relaxed).saturating_sub(before);
    (used, PEAK_BYTES.load(Ordering::Relaxed) - before, result)
}

fn made() -> Made {
    Made { next: 0, piece: Vec::with_capacity(1 << 12), at: 0, bytes: 0 }
}

/// One test, because another test running at the same time would use memory too.
#[test]
fn memory_depends_on_the_run_not_the_text() {
    reading();
    merging();
}

fn reading() {
    let mut file = made();
    let (used, peak, trace) = measured(|| Trace::read(&mut file).unwrap());
    assert_eq!((trace.tasks.len() as u64, trace.hazards.len() as u64), (TASKS, TASKS - WORKERS));
    assert!(file.bytes > 24_000_000, "the file has only {} bytes", file.bytes);
    let run = trace.tasks.len() * size_of::<Task>() + trace.hazards.len() * size_of::<HazardEdge>();
    // Growing vectors have up to twice the capacity that they need, and three times while they move; the window takes
    // half a megabyte.
    assert!(used <= 2 * run + (1 << 20), "{used} bytes are held for a run of {run}");
    assert!(peak <= 3 * run + (2 << 20), "{peak} bytes were in use for a run of {run}");
    assert!(2 * (peak as u64) < file.bytes, "{peak} bytes were in use for {} of text", file.bytes);
}

fn merging() {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("big.json");
    let bytes = io::copy(&mut made(), &mut File::create(&path).unwrap()).unwrap();
    let files = [path.clone(), path.clone()];
    let (_, peak, merged) = measured(|| merge(&files, io::sink(), &MergeOptions::default()).unwrap());
    std::fs::remove_file(&path).unwrap();
    assert_eq!(merged.events, 2 * (TASKS + 2 * (TASKS - WORKERS)) + 2, "and the names of two processes");
    assert!(peak < 2 << 20, "{peak} bytes were in use for two files of {bytes}");
}
