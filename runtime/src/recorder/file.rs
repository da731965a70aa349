//! The trace file of a run, which is written while the program runs.
//!
//! A separate thread appends new records ten times a second ([`GrowingTrace`]). However the program ends, the file is a
//! trace of all but its last moment. When the runtime ends, the whole recording is written to a second file, which then
//! replaces the first. So the file is a readable trace at any time, except during an append, when it is a prefix of
//! one.
//!
//! The growing file stays bounded: once more than half of it consists of records that the ring has dropped, it is
//! rewritten from the kept records.
//!
//! Errors are printed once to standard error, because there is no caller to return them to, and the program can go on.

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

/// The period of the appends.
const PERIOD: Duration = Duration::from_millis(100);
/// The number of pages that are formatted at a time, to bound the memory for their text to some ten megabytes.
const PAGES_AT_ONCE: usize = 16;
/// A file smaller than this is not rewritten.
const SMALL_BYTES: u64 = 16 << 20;
/// The niceness of the appending thread on Linux: the lowest priority, so that a busy program is not delayed and the
/// file falls behind instead (measured: docs/measurements/2026-11-28-constants.md).
#[cfg(target_os = "linux")]
const NICENESS: i32 = 19;

/// The number of files of each name that this process has opened.
static NAMES: Mutex<Option<HashMap<PathBuf, u64>>> = Mutex::new(None);

/// The trace file of a runtime.
pub(crate) struct TraceFile {
    path: PathBuf,
    /// Whether it is a regular file. Other files, such as pipes, are written only at the end, because text in them
    /// cannot be overwritten.
    is_regular: bool,
    growing: Mutex<Option<Growing>>,
    is_ending: Mutex<bool>,
    ending: Condvar,
    has_complained: AtomicBool,
}

impl TraceFile {
    /// Opens the file and creates its folder, or prints why that failed. Further runtimes of a process get files with a
    /// number in the name.
    pub(crate) fn open(wanted: &Path) -> Option<Self> {
        let path = numbered(wanted);
        // A pipe is not opened here: its reader would take the closing for the end of the data.
        let opened = match fs::metadata(&path) {
            Ok(known) if !known.is_file() && !known.is_dir() => Ok((false, path.clone())),
            // The path is resolved through links, because the target is replaced at the end.
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

    /// Writes an empty trace to the file.
    pub(crate) fn begin(&self, recorder: &Recorder) {
        if self.is_regular {
            let growing = File::create(&self.path).map_err(RecordingError::from);
            match growing.and_then(|file| Growing::new(file, recorder.blank())) {
                Ok(growing) => *held(self.growing.lock()) = Some(growing),
                Err(error) => self.complain(&error),
            }
        }
    }

    /// Appends to the file until the runtime ends: the body of the thread.
    pub(crate) fn grow_until_end(&self, recorder: &Recorder) {
        #[cfg(target_os = "linux")]
        // An error is ignored: the priority does not affect the result.
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

    /// Appends the records since the last call.
    fn append(&self, recorder: &Recorder) {
        let mut slot = held(self.growing.lock());
        let Some(growing) = slot.as_mut() else { return };
        let is_ending = || *held(self.is_ending.lock());
        if let Err(error) = growing.append(recorder, &self.path, is_ending) {
            // The text written so far stays; it is a trace or a prefix of one.
            *slot = None;
            self.complain(&error);
        }
    }

    /// Writes the whole recording when the runtime ends.
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
                    // The partial file is harmless if it cannot be removed.
                    let _ = fs::remove_file(&beside);
                });
            }
        }
        // A pipe, or a file in a folder where no other file can be created.
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
    /// Returns all kept records, for the file.
    fn finish(&self) -> Recording {
        self.seal_all();
        self.collect(held(self.ring.lock()).read(Purpose::Finishing))
    }
}

/// The file's state while the program runs.
struct Growing {
    trace: GrowingTrace,
    file: File,
    /// The offset of the next event, which overwrites the tail.
    events_end: u64,
    /// For each append, the sequence number after its last page, and its bytes.
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
                // The whole recording is about to replace this file.
                return Ok(());
            }
            let missed = if at == 0 { dropped } else { 0 };
            self.add(Recording { dropped: missed, whole_from_ns, ..recorder.records(pages) }, pages)?;
        }
        if pages.is_empty() && dropped > 0 {
            // All new records were dropped; only their number is written.
            self.add(Recording { dropped, whole_from_ns, ..recorder.blank() }, &[])?;
        }
        let stale = self.appended.iter().take_while(|(end, _)| *end <= oldest).map(|(_, bytes)| bytes);
        if self.events_end > SMALL_BYTES && stale.sum::<u64>() > self.events_end / 2 {
            self.write_anew(recorder, path)?;
        }
        Ok(())
    }

    /// Rewrites the file from the kept records, and continues with the new file.
    fn write_anew(&mut self, recorder: &Recorder, path: &Path) -> Result<(), RecordingError> {
        let beside = beside(path);
        let Pages { pages, dropped, whole_from_ns, .. } = held(recorder.ring.lock()).kept();
        let mut anew = Self::new(File::create(&beside)?, Recording { dropped, whole_from_ns, ..recorder.blank() })?;
        // Pages sealed since the last append are left to the next one.
        let read_to = self.appended.back().map_or(0, |(end, _)| *end);
        let kept: Vec<_> = pages.into_iter().filter(|page| page.sequence < read_to).collect();
        for pages in kept.chunks(PAGES_AT_ONCE) {
            anew.add(recorder.records(pages), pages)?;
        }
        fs::rename(&beside, path)?;
        *self = anew;
        Ok(())
    }

    /// Writes the records of these pages.
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

/// Returns the path of the file that will replace `path`.
fn beside(path: &Path) -> PathBuf {
    with_suffix(path, ".part")
}

/// Returns the path itself for the first runtime of this process that uses it, then `name.2.json`, `name.3.json`, …
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
