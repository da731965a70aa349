//! Merges several trace files into one.
//!
//! Each file is read once, event by event, and each event is written immediately: only one event, the numbers of
//! processes and threads, and `otherData` are in memory. An event is copied as written, except for values that must be
//! unique in the result:
//!
//! | in a file | in the merged file |
//! |---|---|
//! | processes and threads | renumbered in the order of appearance |
//! | names of processes | prefixed with the name of the file: `run 1: workers` |
//! | numbers of tasks, arrows and data | continue after those of the previous files |
//! | times | unchanged, or [relative to the file's earliest time](TimeOrigin) |
//! | `otherData` | keys prefixed with the name of the file; `tasks`, `workers` and losses are added up |

mod facts;

use crate::read::cursor::Token;
use crate::read::event::{Argument, Event, Field};
use crate::read::walk::{Events, walk};
use crate::read::{ReadError, ReadOptions, Stop, named, number};
use facts::Facts;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// The time origin of a merged trace.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TimeOrigin {
    /// Times are kept. Suitable for files with the same clock; loses no information.
    #[default]
    Kept,
    /// The earliest time of each file becomes zero. Suitable for comparing runs; reads every file twice.
    Aligned,
}

/// Options of a merge.
#[derive(Debug, Clone, Copy, Default)]
pub struct MergeOptions {
    /// The time origin of the merged trace.
    pub time_origin: TimeOrigin,
    /// Accepts files that were cut short, and takes their complete events.
    pub whole_events: bool,
    /// The limits of the reader.
    pub read: ReadOptions,
}

/// The result of a merge.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Merged {
    /// The number of events written.
    pub events: u64,
    /// The number of files of which only a part could be read.
    pub cut_short: u64,
}

/// The error of a merge.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct MergeError(Repr);

#[derive(Debug, thiserror::Error)]
enum Repr {
    #[error(transparent)]
    Read(ReadError),
    #[error("writing failed: {0}")]
    Write(#[source] io::Error),
}

/// Merges `files` into one trace, written to `out`. `out` need not be buffered.
///
/// # Errors
/// If a file cannot be read (the error contains its name), a renumbered value does not fit, or writing to `out` fails.
pub fn merge(files: &[PathBuf], out: impl Write, options: &MergeOptions) -> Result<Merged, MergeError> {
    let mut merger = Merger::new(out);
    merger.put(b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
    for (path, name) in files.iter().zip(names(files)) {
        let first_ns = match options.time_origin {
            TimeOrigin::Kept => 0,
            TimeOrigin::Aligned => first_moment_ns(path, options)?,
        };
        merger.begin(name, first_ns);
        let is_whole = take(path, options, &mut merger);
        merger.failed()?;
        merger.merged.cut_short += u64::from(!is_whole?);
        merger.end();
    }
    merger.put(b"\n],\"otherData\":");
    let facts = merger.facts.json(merger.merged.cut_short == 0);
    merger.put(facts.as_bytes());
    merger.put(b"}\n");
    merger.finish()
}

/// Passes a file to `events`. Returns `false` if it was cut short and that is allowed.
fn take(path: &Path, options: &MergeOptions, events: &mut impl Events) -> Result<bool, MergeError> {
    match named(path, |file| walk(file, options.read.event_bytes_max, events)) {
        Ok(()) => Ok(true),
        Err(error) if options.whole_events && error.is_cut_short() => Ok(false),
        Err(error) => Err(MergeError(Repr::Read(error))),
    }
}

/// Returns a unique name for each file: its name without directory and extension, with a number appended where needed.
fn names(files: &[PathBuf]) -> Vec<String> {
    let mut taken = HashSet::new();
    let name = |path: &PathBuf| {
        let stem = path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        let mut name = stem.clone();
        let mut number = 1;
        while !taken.insert(name.clone()) {
            number += 1;
            name = format!("{stem} {number}");
        }
        name
    };
    files.iter().map(name).collect()
}

/// Returns the earliest time of a file.
fn first_moment_ns(path: &Path, options: &MergeOptions) -> Result<u64, MergeError> {
    struct First(u64);
    impl Events for First {
        fn event(&mut self, event: &Event<'_>) -> Result<(), Stop> {
            if event.field(Field::Moment).is_some() && event.text_of(Field::Phase)? != "M" {
                self.0 = self.0.min(event.time_ns(Field::Moment, "an event")?);
            }
            if event.text_of(Field::Category)? == "task" {
                self.0 = self.0.min(event.argument_ns(Argument::Inserted)?.unwrap_or(u64::MAX));
            }
            Ok(())
        }

        fn fact(&mut self, _: Cow<'_, str>, _: Token<'_>) -> Result<(), Stop> {
            Ok(())
        }
    }
    let mut first = First(u64::MAX);
    take(path, options, &mut first)?;
    Ok(if first.0 == u64::MAX { 0 } else { first.0 })
}

/// Makes numbers unique: those of each file continue after those of the previous files.
#[derive(Debug, Default)]
struct Renumbering {
    base: u64,
    /// One more than the largest number so far.
    next: u64,
}

impl Renumbering {
    fn of(&mut self, number: u64) -> Option<u64> {
        let number = self.base.checked_add(number)?;
        self.next = self.next.max(number.checked_add(1)?);
        Some(number)
    }

    fn next_file(&mut self) {
        self.base = self.next;
    }
}

/// The state of the file that is being merged.
#[derive(Debug, Default)]
struct CurrentFile {
    name: String,
    first_ns: u64,
    /// New numbers of processes and threads, by the new number of the process (`None` for processes themselves) and by
    /// the number or string in the file.
    places: HashMap<(Option<u64>, String), u64>,
    named: HashSet<u64>,
}

struct Merger<W: Write> {
    out: BufWriter<W>,
    failure: Option<io::Error>,
    merged: Merged,
    current: CurrentFile,
    /// The last number given to a process or a thread. They share one sequence, because viewers take the thread with
    /// the number of its process for the main thread.
    places: u64,
    tasks: Renumbering,
    arrows: Renumbering,
    data: Renumbering,
    sort_base: i64,
    sort_next: i64,
    facts: Facts,
}

/// A replacement of a part of an event's text.
struct Edit {
    from: usize,
    to: usize,
    text: String,
}

impl<W: Write> Merger<W> {
    fn new(out: W) -> Self {
        Self {
            out: BufWriter::with_capacity(1 << 16, out),
            failure: None,
            merged: Merged::default(),
            current: CurrentFile::default(),
            places: 0,
            tasks: Renumbering::default(),
            arrows: Renumbering::default(),
            data: Renumbering::default(),
            sort_base: 0,
            sort_next: 0,
            facts: Facts::default(),
        }
    }

    fn begin(&mut self, name: String, first_ns: u64) {
        self.facts.begin(&name, first_ns);
        self.current = CurrentFile { name, first_ns, ..CurrentFile::default() };
        self.tasks.next_file();
        self.arrows.next_file();
        self.data.next_file();
        self.sort_base = self.sort_next;
    }

    /// Ends a file: names its processes that have no name.
    fn end(&mut self) {
        let name = json(&self.current.name);
        let places = self.current.places.iter();
        let mut unnamed: Vec<u64> = places.filter(|((of, _), _)| of.is_none()).map(|(_, &place)| place).collect();
        unnamed.retain(|place| !self.current.named.contains(place));
        unnamed.sort_unstable();
        for place in unnamed {
            self.separate();
            let event =
                format!("{{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":{place},\"args\":{{\"name\":{name}}}}}");
            self.put(event.as_bytes());
        }
    }

    fn separate(&mut self) {
        self.put(if self.merged.events == 0 { b"\n" } else { b",\n" });
        self.merged.events += 1;
    }

    /// Writes, unless writing has failed before.
    fn put(&mut self, bytes: &[u8]) {
        if self.failure.is_none() {
            self.failure = self.out.write_all(bytes).err();
        }
    }

    fn failed(&mut self) -> Result<(), MergeError> {
        self.failure.take().map_or(Ok(()), |error| Err(MergeError(Repr::Write(error))))
    }

    fn finish(mut self) -> Result<Merged, MergeError> {
        self.failed()?;
        self.out.flush().map_err(|error| MergeError(Repr::Write(error)))?;
        Ok(self.merged)
    }

    /// Returns the new number of a process (`of` is `None`), or of a thread of process `of`.
    fn renumbered(&mut self, of: Option<u64>, token: Option<Token<'_>>) -> u64 {
        let places = &mut self.places;
        *self.current.places.entry((of, label(token))).or_insert_with(|| {
            *places += 1;
            *places
        })
    }

    fn process(&mut self, event: &Event<'_>) -> u64 {
        self.renumbered(None, event.field(Field::Process))
    }

    /// Replaces the process and thread of an event. An event without them gets explicit ones, since number 0 belongs to
    /// no file in the merged trace.
    fn edit_place(&mut self, event: &Event<'_>, edits: &mut Vec<Edit>) {
        let process = self.process(event);
        let mut missing = String::new();
        match event.field(Field::Process) {
            Some(token) => edits.push(edit(event, token, process.to_string())),
            None => missing = format!("\"pid\":{process},"),
        }
        let thread = |merger: &mut Self| merger.renumbered(Some(process), event.field(Field::Thread));
        match (event.field(Field::Thread), event.field(Field::Phase).and_then(Token::inside)) {
            (Some(token), _) => edits.push(edit(event, token, thread(self).to_string())),
            (None, Some("X" | "s" | "t" | "f" | "B" | "E")) => {
                missing.push_str(&format!("\"tid\":{},", thread(self)));
            }
            _ => {}
        }
        if !missing.is_empty() {
            edits.push(Edit { from: 1, to: 1, text: missing });
        }
    }

    /// Replaces the times of an event.
    fn edit_times(&self, event: &Event<'_>, edits: &mut Vec<Edit>) -> Result<(), Stop> {
        let first_ns = self.current.first_ns;
        let moved = |at_ns: u64| microseconds(at_ns.saturating_sub(first_ns));
        if first_ns == 0 || event.text_of(Field::Phase)? == "M" {
            return Ok(());
        }
        if let Some(token) = event.field(Field::Moment) {
            edits.push(edit(event, token, moved(event.time_ns(Field::Moment, "an event")?)));
        }
        if matches!(&*event.text_of(Field::Category)?, "task" | "plan")
            && let (Some(token), Some(at_ns)) =
                (event.argument(Argument::Inserted), event.argument_ns(Argument::Inserted)?)
        {
            edits.push(edit(event, token, moved(at_ns)));
        }
        Ok(())
    }

    /// Replaces the numbers of tasks, data and arrows.
    fn edit_numbers(&mut self, event: &Event<'_>, edits: &mut Vec<Edit>) -> Result<(), Stop> {
        let numbered: &[(Argument, &str)] = match &*event.text_of(Field::Category)? {
            "task" | "stall" | "allocation" => &[(Argument::Task, "task")],
            "transfer" | "eviction" => &[(Argument::Task, "task"), (Argument::Datum, "datum")],
            "hazard" => &[(Argument::From, "task"), (Argument::To, "task"), (Argument::Datum, "datum")],
            _ => &[],
        };
        for &(argument, what) in numbered {
            let (Some(token), Some(number)) = (event.argument(argument), event.count(argument)?) else {
                continue;
            };
            let number = match what {
                "task" => self.tasks.of(number),
                // Zero means no datum. Numbers of data have 32 bits.
                _ if number == 0 => continue,
                _ => self.data.of(number).filter(|&datum| datum <= u64::from(u32::MAX)),
            };
            let number = number.ok_or_else(|| too_large(event, token, what))?;
            edits.push(edit(event, token, number.to_string()));
        }
        if let Some(token) = event.field(Field::Id) {
            let text = match (number::unsigned(token.0), token.string()) {
                (Some(id), _) => self.arrows.of(id).ok_or_else(|| too_large(event, token, "id"))?.to_string(),
                (None, Some(id)) => json(&format!("{}: {id}", self.current.name)),
                (None, None) => json(&format!("{}: {}", self.current.name, token.0)),
            };
            edits.push(edit(event, token, text));
        }
        Ok(())
    }

    /// Replaces the name and the sort index of a process.
    fn edit_metadata(&mut self, event: &Event<'_>, edits: &mut Vec<Edit>) -> Result<(), Stop> {
        match &*event.text_of(Field::Name)? {
            "process_name" => {
                if let (Some(token), Some(name)) = (event.argument(Argument::Name), event.string(Argument::Name)?) {
                    let process = self.process(event);
                    self.current.named.insert(process);
                    edits.push(edit(event, token, json(&format!("{}: {name}", self.current.name))));
                }
            }
            "process_sort_index" => {
                let read = |token: Token<'_>| number::signed(token.0);
                if let Some(token) = event.argument(Argument::SortIndex)
                    && let Some(index) = event.parsed(Argument::SortIndex, "an integer", read)?
                {
                    let index = self.sort_base.saturating_add(index);
                    self.sort_next = self.sort_next.max(index.saturating_add(1));
                    edits.push(edit(event, token, index.to_string()));
                }
            }
            _ => {}
        }
        Ok(())
    }
}

impl<W: Write> Events for Merger<W> {
    fn event(&mut self, event: &Event<'_>) -> Result<(), Stop> {
        let mut edits = Vec::with_capacity(8);
        self.edit_place(event, &mut edits);
        self.edit_times(event, &mut edits)?;
        self.edit_numbers(event, &mut edits)?;
        if event.text_of(Field::Phase)? == "M" {
            self.edit_metadata(event, &mut edits)?;
        }
        edits.sort_by_key(|edit| edit.from);
        self.separate();
        let text = event.text();
        let mut at = 0;
        for Edit { from, to, text: new } in edits {
            self.put(&text.as_bytes()[at..from]);
            self.put(new.as_bytes());
            at = to;
        }
        self.put(&text.as_bytes()[at..]);
        match &self.failure {
            Some(error) => Err(Stop::refused(0, error.to_string())),
            None => Ok(()),
        }
    }

    fn fact(&mut self, key: Cow<'_, str>, value: Token<'_>) -> Result<(), Stop> {
        self.facts.add(&self.current.name, &key, value)
    }
}

fn edit(event: &Event<'_>, token: Token<'_>, text: String) -> Edit {
    let from = event.offset_of(token);
    Edit { from, to: from + token.0.len(), text }
}

/// Returns the label of a process or a thread, as the reader distinguishes them: a missing one is number 0.
fn label(token: Option<Token<'_>>) -> String {
    let Some(token) = token else {
        return "0".to_owned();
    };
    number::signed(token.0).map_or_else(|| token.0.to_owned(), |number| number.to_string())
}

#[cold]
fn too_large(event: &Event<'_>, token: Token<'_>, what: &str) -> Stop {
    Stop::refused(
        event.offset_of(token),
        format!("this {what} cannot be renumbered: its number is too large to add to those of the previous files"),
    )
}

/// Formats a time as trace files do, in microseconds.
fn microseconds(ns: u64) -> String {
    format!("{}.{:03}", ns / 1000, ns % 1000)
}

/// Encodes a text as a JSON string.
fn json(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
