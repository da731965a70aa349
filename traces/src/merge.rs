//! Several files made one.
//!
//! Each file is walked once, event by event, and written at once: in memory are one event, the numbers of processes and
//! threads, and `otherData`. An event is copied as it stands but for the numbers that would serve twice:
//!
//! | of a file | in the whole |
//! |---|---|
//! | processes and threads | numbered anew, in the order of appearance |
//! | names of processes | behind the name of the file: `run 1: workers` |
//! | tasks, arrows, data | their numbers come after those of the files before |
//! | times | as they are, or [from the file's first moment on](Times) |
//! | `otherData` | each entry behind the name of the file; sums for `tasks`, `workers` and what was left out |

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

/// Which clock a merged trace has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Times {
    /// All times are kept: right for files of one clock, and nothing is lost in any case.
    #[default]
    Kept,
    /// Each file's first moment becomes zero: right for comparing runs. Reads every file twice.
    Aligned,
}

/// How files are merged.
#[derive(Debug, Clone, Copy, Default)]
pub struct MergeOptions {
    /// Which clock the whole has.
    pub times: Times,
    /// Takes the whole events of files that were cut short, instead of refusing these.
    pub whole_events: bool,
    /// Limits of reading.
    pub read: ReadOptions,
}

/// What was merged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Merged {
    /// Events written.
    pub events: u64,
    /// Files of which only a part could be read.
    pub cut_short: u64,
}

/// Why files could not be merged.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct MergeError(Kind);

#[derive(Debug, thiserror::Error)]
enum Kind {
    #[error(transparent)]
    Read(ReadError),
    #[error("writing failed: {0}")]
    Write(#[source] io::Error),
}

/// Writes one trace with everything that the files have. `out` need not buffer.
///
/// # Errors
/// Those of reading, with the name of the file; a number that no longer fits; those of `out`.
pub fn merge(files: &[PathBuf], out: impl Write, options: &MergeOptions) -> Result<Merged, MergeError> {
    let mut merger = Merger::new(out);
    merger.put(b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
    for (path, name) in files.iter().zip(names(files)) {
        let first_ns = match options.times {
            Times::Kept => 0,
            Times::Aligned => first_moment_ns(path, options)?,
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

/// Hands a file to `events`; `false` if it was cut short and that is allowed.
fn take(path: &Path, options: &MergeOptions, events: &mut impl Events) -> Result<bool, MergeError> {
    match named(path, |file| walk(file, options.read.event_bytes_max, events)) {
        Ok(()) => Ok(true),
        Err(error) if options.whole_events && error.is_cut_short() => Ok(false),
        Err(error) => Err(MergeError(Kind::Read(error))),
    }
}

/// A name for each file, all different: its own without folder and ending, with a number where that serves twice.
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

/// The earliest time that a file names.
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

/// Numbers that may serve once: those of each file come after those of the files before.
#[derive(Debug, Default)]
struct Numbers {
    base: u64,
    /// One more than the largest so far.
    next: u64,
}

impl Numbers {
    fn of(&mut self, number: u64) -> Option<u64> {
        let number = self.base.checked_add(number)?;
        self.next = self.next.max(number.checked_add(1)?);
        Some(number)
    }

    fn next_file(&mut self) {
        self.base = self.next;
    }
}

/// What of the current file stands for what.
#[derive(Debug, Default)]
struct Current {
    name: String,
    first_ns: u64,
    /// By the process, if it is a thread's, and by the number or the string that is written in the file.
    places: HashMap<(Option<u64>, String), u64>,
    named: HashSet<u64>,
}

struct Merger<W: Write> {
    out: BufWriter<W>,
    failure: Option<io::Error>,
    merged: Merged,
    current: Current,
    /// Of processes and threads alike: viewers take the thread with its process's number for the main one.
    places: u64,
    tasks: Numbers,
    arrows: Numbers,
    data: Numbers,
    sort_base: i64,
    sort_next: i64,
    facts: Facts,
}

/// A part of an event's text that is replaced.
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
            current: Current::default(),
            places: 0,
            tasks: Numbers::default(),
            arrows: Numbers::default(),
            data: Numbers::default(),
            sort_base: 0,
            sort_next: 0,
            facts: Facts::default(),
        }
    }

    fn begin(&mut self, name: String, first_ns: u64) {
        self.facts.begin(&name, first_ns);
        self.current = Current { name, first_ns, ..Current::default() };
        self.tasks.next_file();
        self.arrows.next_file();
        self.data.next_file();
        self.sort_base = self.sort_next;
    }

    /// Names the processes that have no name in the file.
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
        self.failure.take().map_or(Ok(()), |error| Err(MergeError(Kind::Write(error))))
    }

    fn finish(mut self) -> Result<Merged, MergeError> {
        self.failed()?;
        self.out.flush().map_err(|error| MergeError(Kind::Write(error)))?;
        Ok(self.merged)
    }

    /// The number of a process (of none), or of a thread of a process.
    fn place(&mut self, of: Option<u64>, token: Option<Token<'_>>) -> u64 {
        let places = &mut self.places;
        *self.current.places.entry((of, label(token))).or_insert_with(|| {
            *places += 1;
            *places
        })
    }

    fn process(&mut self, event: &Event<'_>) -> u64 {
        self.place(None, event.field(Field::Process))
    }

    /// Where the event happens. What has no process or thread gets one, for in the whole 0 is that of no file.
    fn edit_place(&mut self, event: &Event<'_>, edits: &mut Vec<Edit>) {
        let process = self.process(event);
        let mut missing = String::new();
        match event.field(Field::Process) {
            Some(token) => edits.push(edit(event, token, process.to_string())),
            None => missing = format!("\"pid\":{process},"),
        }
        let thread = |merger: &mut Self| merger.place(Some(process), event.field(Field::Thread));
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

    /// When it happens.
    fn edit_times(&self, event: &Event<'_>, edits: &mut Vec<Edit>) -> Result<(), Stop> {
        let first_ns = self.current.first_ns;
        let moved = |at_ns: u64| microseconds(at_ns.saturating_sub(first_ns));
        if first_ns == 0 || event.text_of(Field::Phase)? == "M" {
            return Ok(());
        }
        if let Some(token) = event.field(Field::Moment) {
            edits.push(edit(event, token, moved(event.time_ns(Field::Moment, "an event")?)));
        }
        if event.text_of(Field::Category)? == "task"
            && let (Some(token), Some(at_ns)) =
                (event.argument(Argument::Inserted), event.argument_ns(Argument::Inserted)?)
        {
            edits.push(edit(event, token, moved(at_ns)));
        }
        Ok(())
    }

    /// What it calls tasks, data and arrows.
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
                // Zero is no datum. The others are numbers of 32 bits.
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

    /// What a process is called, and where it is shown.
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
    let from = event.place(token);
    Edit { from, to: from + token.0.len(), text }
}

/// A process or a thread as the reader tells them apart: a missing one is number 0.
fn label(token: Option<Token<'_>>) -> String {
    let Some(token) = token else {
        return "0".to_owned();
    };
    number::signed(token.0).map_or_else(|| token.0.to_owned(), |number| number.to_string())
}

#[cold]
fn too_large(event: &Event<'_>, token: Token<'_>, what: &str) -> Stop {
    Stop::refused(event.place(token), format!("no number is left for this {what} behind those of the files before"))
}

/// A time as files have it.
fn microseconds(ns: u64) -> String {
    format!("{}.{:03}", ns / 1000, ns % 1000)
}

/// A text as a string of JSON.
fn json(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
