//! The trace that a setting asked for, in a file from the first moment on.
//!
//! While the program runs, a thread of its own appends what has happened since it last looked, ten times a second
//! ([`GrowingTrace`]): however the program ends, the file is a trace of all but its last moment. When the runtime ends, the
//! whole recording is written beside it and takes its place. So at any time the file is a trace that can be opened; only in the
//! middle of an append it is a prefix of one.
//!
//! The growing file does not outgrow the recording for good: once more than half of it is of records that the ring has
//! dropped, it is written anew from those that are kept.
//!
//! What goes wrong is said once, on standard error: nobody is there to return an error to, and the program is none the worse.

use super::{
    Recorder,
    page::Page,
    ring::{Pages, Purpose},
};
use crate::{
    cache::{create_parent, with_suffix},
    notices::print,
    recording::{ChromeTrace, Recording, RecordingError},
    sync::held,
};
use std::{
    collections::{HashMap, VecDeque},
    fs::{self, File},
    io::{Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    sync::{
        Arc, Condvar, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use superscalar_recording::GrowingTrace;

/// How long after a record the file may lack it.
const PERIOD: Duration = Duration::from_millis(100);
/// So many pages are turned into text at a time, to bound what that takes: some ten megabytes.
const PAGES_AT_ONCE: usize = 16;
/// A file this small is not written anew.
const SMALL_BYTES: u64 = 16 << 20;
/// How far the thread that appends stands back behind the workers, where the system can do that: as far as possible. To turn
/// a task with three hazards into text takes a microsecond. Where every core is busy with tasks that take no longer than twenty,
/// the thread gets a hundredth of a core, and the file falls behind, rather than the program.
#[cfg(target_os = "linux")]
const NICENESS: i32 = 19;

/// How many files of each name this process has begun.
static NAMES: Mutex<Option<HashMap<PathBuf, u64>>> = Mutex::new(None);

/// See the module's head.
pub(crate) struct TraceFile {
    path: PathBuf,
    /// Only a regular file is written before the end: what has gone into a pipe can not be written over.
    is_regular: bool,
    growing: Mutex<Option<Growing>>,
    is_ending: Mutex<bool>,
    ending: Condvar,
    has_complained: AtomicBool,
}

impl TraceFile {
    /// Opens the file, and makes the folder for it, or says why not. A second runtime of a process gets a file of its own, with a number in its name.
    pub(crate) fn open(wanted: &Path) -> Option<Self> {
        let path = numbered(wanted);
        // A pipe would be taken for ended by its reader if it were opened and closed here.
        let opened = match fs::metadata(&path) {
            Ok(known) if !known.is_file() && !known.is_dir() => Ok((false, path.clone())),
            // Through links: it is their target that is replaced at the end.
            _ => create_parent(&path)
                .and_then(|()| File::create(&path))
                .and_then(|_| Ok((true, fs::canonicalize(&path)?))),
        };
        match opened {
            Ok((is_regular, path)) => Some(Self {
                path,
                is_regular,
                growing: Mutex::new(None),
                is_ending: Mutex::new(false),
                ending: Condvar::new(),
                has_complained: AtomicBool::new(false),
            }),
            Err(error) => {
                print(format_args!("no trace will be written to {}: {error}", path.display()));
                None
            }
        }
    }

    /// Makes the file an empty trace, to begin with.
    pub(crate) fn begin(&self, recorder: &Recorder) {
        if self.is_regular {
            let growing = File::create(&self.path).map_err(RecordingError::from);
            match growing.and_then(|file| Growing::new(file, recorder.blank())) {
                Ok(growing) => *held(self.growing.lock()) = Some(growing),
                Err(error) => self.complain(&error),
            }
        }
    }

    /// Appends to the file until the runtime ends: what the thread does.
    pub(crate) fn grow_until_end(&self, recorder: &Recorder) {
        #[cfg(target_os = "linux")]
        // Refused or not: it only concerns who goes first.
        let _ = rustix::process::setpriority_process(Some(rustix::thread::gettid()), NICENESS);
        let mut is_ending = held(self.is_ending.lock());
        while !*is_ending {
            drop(is_ending);
            self.append(recorder);
            is_ending = held(self.is_ending.lock());
            if !*is_ending {
                is_ending = held(self.ending.wait_timeout(is_ending, PERIOD)).0;
            }
        }
    }

    /// Tells the thread to end.
    pub(crate) fn stop(&self) {
        *held(self.is_ending.lock()) = true;
        self.ending.notify_all();
    }

    /// Appends what was recorded since the last call.
    fn append(&self, recorder: &Recorder) {
        let mut slot = held(self.growing.lock());
        let Some(growing) = slot.as_mut() else { return };
        let is_ending = || *held(self.is_ending.lock());
        if let Err(error) = growing.append(recorder, &self.path, is_ending) {
            // What was written so far stays, and is a trace or its beginning.
            *slot = None;
            self.complain(&error);
        }
    }

    /// Writes the whole recording, when the runtime ends.
    pub(crate) fn finish(&self, recorder: &Recorder) {
        let recording = recorder.finish();
        if let Err(error) = self.write(&recording) {
            self.complain(&error);
        }
    }

    fn write(&self, recording: &Recording) -> Result<(), RecordingError> {
        let trace = ChromeTrace::new(recording);
        if self.is_regular {
            let beside = beside(&self.path);
            if let Ok(file) = File::create(&beside) {
                let moved = trace.write(file).and_then(|_| Ok(fs::rename(&beside, &self.path)?));
                return moved.inspect_err(|_| {
                    // It is in nobody's way if it can not be removed.
                    let _ = fs::remove_file(&beside);
                });
            }
        }
        // A pipe, or a file in a folder where no other can be made.
        trace.write(File::create(&self.path)?).map(|_| ())
    }

    fn complain(&self, error: &RecordingError) {
        if !self.has_complained.swap(true, Ordering::Relaxed) {
            let why = error.io().map_or_else(|| error.to_string(), ToString::to_string);
            print(format_args!("the trace {} was not written: {why}", self.path.display()));
        }
    }
}

impl Recorder {
    /// All that is kept, for the file.
    fn finish(&self) -> Recording {
        self.seal_all();
        self.collect(held(self.ring.lock()).read(Purpose::Finishing))
    }
}

/// The file while the program runs.
struct Growing {
    trace: GrowingTrace,
    file: File,
    /// Where the next event goes: over the tail.
    events_end: u64,
    /// For each append, the page after its last one, and the bytes that it took.
    appended: VecDeque<(u64, u64)>,
}

impl Growing {
    fn new(file: File, run: Recording) -> Result<Self, RecordingError> {
        let mut growing = Self { trace: GrowingTrace::new(run), file, events_end: 0, appended: VecDeque::new() };
        growing.write()?;
        Ok(growing)
    }

    fn append(&mut self, recorder: &Recorder, path: &Path, is_ending: impl Fn() -> bool) -> Result<(), RecordingError> {
        recorder.seal_all();
        let Pages { pages, dropped, whole_from_ns, oldest, .. } = held(recorder.ring.lock()).read(Purpose::Growing);
        for (at, pages) in pages.chunks(PAGES_AT_ONCE).enumerate() {
            if is_ending() {
                // The whole recording is about to take this file's place.
                return Ok(());
            }
            let missed = if at == 0 { dropped } else { 0 };
            self.add(Recording { dropped: missed, whole_from_ns, ..recorder.records(pages) }, pages)?;
        }
        if pages.is_empty() && dropped > 0 {
            // All that was new is gone: what is told is how much.
            self.add(Recording { dropped, whole_from_ns, ..recorder.blank() }, &[])?;
        }
        let stale = self.appended.iter().take_while(|(end, _)| *end <= oldest).map(|(_, bytes)| bytes);
        if self.events_end > SMALL_BYTES && stale.sum::<u64>() > self.events_end / 2 {
            self.write_anew(recorder, path)?;
        }
        Ok(())
    }

    /// Writes the file anew from what is kept, and goes on in it.
    fn write_anew(&mut self, recorder: &Recorder, path: &Path) -> Result<(), RecordingError> {
        let beside = beside(path);
        let Pages { pages, dropped, whole_from_ns, .. } = held(recorder.ring.lock()).kept();
        let mut anew = Self::new(File::create(&beside)?, Recording { dropped, whole_from_ns, ..recorder.blank() })?;
        // What was sealed since is for the next append.
        let read_to = self.appended.back().map_or(0, |(end, _)| *end);
        let kept: Vec<_> = pages.into_iter().filter(|page| page.sequence < read_to).collect();
        for pages in kept.chunks(PAGES_AT_ONCE) {
            anew.add(recorder.records(pages), pages)?;
        }
        fs::rename(&beside, path)?;
        *self = anew;
        Ok(())
    }

    /// Writes what these pages have recorded.
    fn add(&mut self, piece: Recording, pages: &[Arc<Page>]) -> Result<(), RecordingError> {
        self.trace.append(piece)?;
        let bytes = self.write()?;
        let before = self.appended.back().map_or(0, |(end, _)| *end);
        self.appended.push_back((pages.last().map_or(before, |page| page.sequence + 1), bytes));
        Ok(())
    }

    /// Writes the new events and the tail; returns the bytes of the events.
    fn write(&mut self) -> Result<u64, RecordingError> {
        let (mut text, tail) = self.trace.take_text();
        let bytes = text.len() as u64;
        text.extend_from_slice(&tail);
        self.file.seek(SeekFrom::Start(self.events_end))?;
        self.file.write_all(&text)?;
        self.events_end += bytes;
        Ok(bytes)
    }
}

/// Where a file is made that is to take another's place.
fn beside(path: &Path) -> PathBuf {
    with_suffix(path, ".part")
}

/// The name itself for the first runtime of this process that asks for it; then `name.2.json`, `name.3.json`, …
fn numbered(wanted: &Path) -> PathBuf {
    let mut names = held(NAMES.lock());
    let number = names.get_or_insert_default().entry(wanted.to_owned()).or_insert(0);
    *number += 1;
    if *number == 1 {
        return wanted.to_owned();
    }
    let mut name = wanted.file_stem().unwrap_or_default().to_owned();
    name.push(format!(".{number}"));
    if let Some(extension) = wanted.extension() {
        name.push(".");
        name.push(extension);
    }
    wanted.with_file_name(name)
}
