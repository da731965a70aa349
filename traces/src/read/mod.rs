//! The reader of Chrome's trace event format: streaming, in bounded memory, with the position of each fault.
//!
//! | module | what is in it |
//! |---|---|
//! | `window` | the part of the file that is in memory |
//! | `cursor`, `number`, `event` | JSON's tokens, its numbers as integers, one event |
//! | `walk` | the frame around the events, in either form of the format |
//! | `assembly` | events made a run; with `names`, `lanes`, `arrows`, `counters`, `spans` |
//! | `nesting` | slices in slices, and at which of them an arrow points |
//!
//! The text passes through a window of a few hundred kilobytes, or of the longest event; no more of it is held than the
//! names in it, each once. An event is parsed where it lies: strings are borrowed, numbers become integers without a
//! detour through `f64`, and a text that ends within an event is parsed again with more of it. That JSON is well formed
//! is checked everywhere, in what is passed over, too.

mod arrows;
mod assembly;
mod counters;
pub(crate) mod cursor;
mod error;
pub(crate) mod event;
mod lanes;
mod names;
mod nesting;
pub(crate) mod number;
mod oddities;
mod spans;
pub(crate) mod walk;
mod window;

pub(crate) use error::Stop;
pub use error::{Position, ReadError};
pub use oddities::{Oddities, Oddity, OddityKind};

use crate::Trace;
use assembly::Assembly;
use error::Kind;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// How much of a file is read before it is refused.
///
/// ```
/// use superscalar_traces::read::ReadOptions;
///
/// let options = ReadOptions { names_max: 1, ..ReadOptions::default() };
/// let text = r#"[{"ph":"B","ts":1,"name":"a"},{"ph":"B","ts":2,"name":"b"}]"#;
/// let error = options.read(text.as_bytes()).unwrap_err();
/// assert_eq!(error.to_string(), "line 1, column 31 (byte 30): more different names than the limit of 1");
/// assert!(error.is_limit());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadOptions {
    /// The most bytes of one event, and of one member of `otherData`. Default 16 MiB.
    pub event_bytes_max: usize,
    /// The most different names of one kind: of kernels, of sites, of counters, of anything else. Default 2^20.
    pub names_max: u32,
    /// The most bytes of the names of one kind together. Default 256 MiB.
    pub name_bytes_max: u64,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self { event_bytes_max: 16 << 20, names_max: 1 << 20, name_bytes_max: 256 << 20 }
    }
}

/// A run, and what its file says that the run has no place for.
#[derive(Debug)]
#[non_exhaustive]
pub struct Reading {
    /// The run, as far as the file could be read.
    pub trace: Trace,
    /// Where and why reading ended, if it did before the end of the file.
    pub broken: Option<ReadError>,
    /// What was set right or left out.
    pub oddities: Oddities,
}

impl ReadOptions {
    /// Reads a file's content; `input` need not buffer.
    ///
    /// # Errors
    /// The first fault of the file: its JSON, a field of an event that is not as `FORMAT.md` says, a limit, or the
    /// input's own.
    pub fn read(&self, input: impl Read) -> Result<Reading, ReadError> {
        let reading = self.read_whole_events(input)?;
        match reading.broken {
            Some(error) => Err(error),
            None => Ok(reading),
        }
    }

    /// Reads as far as possible: all events before the first fault, such as the end of a file that a crash cut short.
    ///
    /// ```
    /// use superscalar_traces::read::ReadOptions;
    ///
    /// let text = r#"{"traceEvents":[{"ph":"X","cat":"task","name":"gemm","ts":1,"dur":2,"args":{"task":0}},{"ph":"#;
    /// let reading = ReadOptions::default().read_whole_events(text.as_bytes())?;
    /// assert_eq!(reading.trace.tasks.len(), 1);
    /// assert!(reading.broken.is_some_and(|error| error.is_cut_short()));
    /// # Ok::<(), superscalar_traces::read::ReadError>(())
    /// ```
    ///
    /// # Errors
    /// Those of the input.
    pub fn read_whole_events(&self, input: impl Read) -> Result<Reading, ReadError> {
        let mut assembly = Assembly::new(self);
        let broken = walk::walk(input, self.event_bytes_max, &mut assembly).err();
        match broken {
            Some(error) if matches!(error.kind, Kind::Read(_)) => Err(error),
            broken => {
                let (trace, oddities) = assembly.finish();
                Ok(Reading { trace, broken, oddities })
            }
        }
    }

    /// As [`read`](Self::read), from a file.
    ///
    /// # Errors
    /// As there, and if the file cannot be opened; the error names it.
    pub fn open(&self, path: impl AsRef<Path>) -> Result<Reading, ReadError> {
        named(path.as_ref(), |file| self.read(file))
    }

    /// As [`read_whole_events`](Self::read_whole_events), from a file.
    ///
    /// # Errors
    /// As there, and if the file cannot be opened; the error names it.
    pub fn open_whole_events(&self, path: impl AsRef<Path>) -> Result<Reading, ReadError> {
        named(path.as_ref(), |file| {
            let mut reading = self.read_whole_events(file)?;
            if let Some(error) = &mut reading.broken {
                error.file = Some(path.as_ref().display().to_string());
            }
            Ok(reading)
        })
    }
}

/// Opens a file; errors name it.
pub(crate) fn named<T>(path: &Path, read: impl FnOnce(File) -> Result<T, ReadError>) -> Result<T, ReadError> {
    let opened = File::open(path).map_err(|error| ReadError { file: None, position: None, kind: Kind::Open(error) });
    opened.and_then(read).map_err(|error| ReadError { file: Some(path.display().to_string()), ..error })
}

impl Trace {
    /// Reads a run from Chrome's trace event format, whole; `input` need not buffer.
    ///
    /// [`ReadOptions`] has the limits, and reads what there is of a file that was cut short.
    ///
    /// ```
    /// use superscalar_traces::Trace;
    ///
    /// let text = r#"{"traceEvents":[
    ///     {"ph":"M","name":"thread_name","pid":1,"tid":2,"args":{"name":"worker 0","kind":"worker"}},
    ///     {"ph":"X","cat":"task","name":"gemm","pid":1,"tid":2,"ts":50.125,"dur":2.5,"args":{"task":7}}]}"#;
    /// let trace = Trace::read(text.as_bytes())?;
    /// assert_eq!(trace.lanes[0].name, "worker 0");
    /// assert_eq!((trace.tasks[0].id, trace.tasks[0].start_ns, trace.tasks[0].end_ns), (7, 50_125, 52_625));
    /// # Ok::<(), superscalar_traces::read::ReadError>(())
    /// ```
    ///
    /// # Errors
    /// See [`ReadOptions::read`].
    pub fn read(input: impl Read) -> Result<Self, ReadError> {
        Ok(ReadOptions::default().read(input)?.trace)
    }

    /// Reads a run from a file.
    ///
    /// # Errors
    /// See [`ReadOptions::open`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, ReadError> {
        Ok(ReadOptions::default().open(path)?.trace)
    }
}
