//! The processes and threads of a file, and the lanes made from them.

use super::ReadOptions;
use super::cursor::Token;
use super::error::Stop;
use super::event::{Argument, Event, Field};
use super::names::{Names, index_or_insert};
use super::number;
use crate::{Lane, LaneKind};
use std::collections::HashMap;

/// The maximum number of threads, and of processes, of a file.
const THREADS_MAX: u32 = 1 << 20;

/// The identifier of a process or a thread in events: a number, or the index of another token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum ThreadLabel {
    Number(i64),
    Word(u32),
}

#[derive(Debug, Default)]
struct Process {
    label: String,
    name: Option<String>,
    sort_index: i64,
}

/// A thread of the file. Until the file has been read, the `lane` of a slice is its thread.
#[derive(Debug, Default)]
struct Thread {
    process: u32,
    label: String,
    name: Option<String>,
    kind: Option<LaneKind>,
    sort_index: i64,
    has_tasks: bool,
    has_transfers: bool,
    has_slices: bool,
}

impl Thread {
    /// Returns the kind that the file contains, or else one guessed from the thread's name and slices.
    fn lane_kind(&self) -> LaneKind {
        let is_queue = self.name.as_ref().is_some_and(|name| name.starts_with("queue"));
        match self.kind {
            Some(kind) => kind,
            None if self.has_tasks && is_queue => LaneKind::Queue,
            None if self.has_tasks => LaneKind::Worker,
            None if self.has_transfers => LaneKind::Link,
            None => match &self.name {
                Some(name) if name.starts_with("worker ") => LaneKind::Worker,
                _ => LaneKind::Host,
            },
        }
    }
}

/// What a slice tells about its thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SliceUse {
    /// Only that the thread exists.
    Slice,
    Task,
    Transfer,
}

/// All processes and threads seen so far.
#[derive(Debug, Default)]
pub(super) struct Threads {
    words: Names,
    process_places: HashMap<ThreadLabel, u32>,
    processes: Vec<Process>,
    places: HashMap<(u32, ThreadLabel), u32>,
    threads: Vec<Thread>,
    /// The thread of the previous lookup, which is usually the next one too.
    recent: Option<((ThreadLabel, ThreadLabel), u32)>,
}

impl Threads {
    fn label(
        &mut self,
        event: &Event<'_>,
        field: Field,
        key: &'static str,
        max: ReadOptions,
    ) -> Result<ThreadLabel, Stop> {
        let Some(token) = event.field(field) else {
            return Ok(ThreadLabel::Number(0));
        };
        if let Some(number) = number::signed(token.0) {
            return Ok(ThreadLabel::Number(number));
        }
        let is_word = token.0.starts_with(|first: char| first == '"' || first.is_ascii_digit());
        if !is_word {
            return Err(event.wrong(token, key, "a number or a string"));
        }
        Ok(ThreadLabel::Word(self.words.intern(token.0, max)?))
    }

    /// Returns the index of the event's process.
    pub(super) fn process(&mut self, event: &Event<'_>, max: ReadOptions) -> Result<u32, Stop> {
        let label = self.label(event, Field::Process, "pid", max)?;
        self.process_of(label, event)
    }

    fn process_of(&mut self, label: ThreadLabel, event: &Event<'_>) -> Result<u32, Stop> {
        let new = || Process { label: label_text(event, Field::Process), ..Process::default() };
        index_or_insert(&mut self.process_places, &mut self.processes, label, ("processes", THREADS_MAX), new)
    }

    /// Returns the index of the event's thread.
    pub(super) fn thread(&mut self, event: &Event<'_>, max: ReadOptions) -> Result<u32, Stop> {
        let labels = (self.label(event, Field::Process, "pid", max)?, self.label(event, Field::Thread, "tid", max)?);
        if let Some((_, place)) = self.recent.filter(|(recent, _)| *recent == labels) {
            return Ok(place);
        }
        let process = self.process_of(labels.0, event)?;
        let new = || Thread { process, label: label_text(event, Field::Thread), ..Thread::default() };
        let key = (process, labels.1);
        let place = index_or_insert(&mut self.places, &mut self.threads, key, ("threads", THREADS_MAX), new)?;
        self.recent = Some((labels, place));
        Ok(place)
    }

    /// Like [`thread`](Self::thread), and records what the slice tells about the thread.
    pub(super) fn used(&mut self, event: &Event<'_>, how: SliceUse, max: ReadOptions) -> Result<u32, Stop> {
        let place = self.thread(event, max)?;
        let thread = &mut self.threads[place as usize];
        thread.has_slices = true;
        thread.has_tasks |= how == SliceUse::Task;
        thread.has_transfers |= how == SliceUse::Transfer;
        Ok(place)
    }

    /// Reads a metadata event: a name or a sort index.
    pub(super) fn metadata(&mut self, event: &Event<'_>, max: ReadOptions) -> Result<(), Stop> {
        let sort_index = |event: &Event<'_>| {
            event.parsed(Argument::SortIndex, "an integer", |token: Token<'_>| number::signed(token.0))
        };
        match &*event.text_of(Field::Name)? {
            "process_name" => {
                let place = self.process(event, max)?;
                let name = event.string(Argument::Name)?;
                self.processes[place as usize].name = name.map(Into::into);
            }
            "process_sort_index" => {
                let place = self.process(event, max)?;
                self.processes[place as usize].sort_index = sort_index(event)?.unwrap_or(0);
            }
            "thread_name" => {
                let read = |token: Token<'_>| LaneKind::from_name(&token.string()?);
                let kind = event.parsed(Argument::Kind, "worker, queue, link or host", read)?;
                let name = event.string(Argument::Name)?;
                let place = self.thread(event, max)?;
                let thread = &mut self.threads[place as usize];
                thread.name = name.map(Into::into);
                thread.kind = kind;
            }
            "thread_sort_index" => {
                let sort_index = sort_index(event)?.unwrap_or(0);
                let place = self.thread(event, max)?;
                self.threads[place as usize].sort_index = sort_index;
            }
            _ => {}
        }
        Ok(())
    }

    /// Returns the number of threads.
    pub(super) fn len(&self) -> usize {
        self.threads.len()
    }

    /// Returns the display name of a process.
    pub(super) fn process_name(&self, process: u32) -> String {
        let process = &self.processes[process as usize];
        process.name.clone().unwrap_or_else(|| format!("process {}", process.label))
    }

    /// Returns the display name of a thread.
    pub(super) fn thread_name(&self, thread: u32) -> String {
        let thread = &self.threads[thread as usize];
        thread.name.clone().unwrap_or_else(|| format!("thread {}", thread.label))
    }

    /// Returns the lanes in display order, and the lane of each thread.
    ///
    /// A thread with neither a name nor slices has no lane; its entry is not used. Additional threads of a lane, such
    /// as `worker 3 (2)`, are mapped to the lane of its first thread.
    pub(super) fn lanes(&self) -> (Vec<Lane>, Vec<u32>) {
        let mut order: Vec<u32> = (0..self.threads.len() as u32).collect();
        order.sort_by_key(|&place| {
            let thread = &self.threads[place as usize];
            (self.processes[thread.process as usize].sort_index, thread.process, thread.sort_index, place)
        });
        // The threads that can have additional threads. Of two threads with the same name, the one displayed first
        // counts.
        let names = |place: u32| (self.key(place, &self.thread_name(place)), place);
        let is_first = |place: &u32| first_name(&self.thread_name(*place)).is_none();
        let firsts: HashMap<_, u32> = order.iter().rev().copied().filter(is_first).map(names).collect();
        let first_of = |place: u32| {
            let name = self.thread_name(place);
            let is_host = self.threads[place as usize].lane_kind() == LaneKind::Host;
            firsts.get(&self.key(place, first_name(&name).filter(|_| !is_host)?)).copied()
        };
        let mut lanes: Vec<Lane> = Vec::new();
        let mut lane_of = vec![0; self.threads.len()];
        for &place in order.iter().filter(|&&place| first_of(place).is_none()) {
            let thread = &self.threads[place as usize];
            if thread.has_slices || thread.name.is_some() {
                lane_of[place as usize] = lanes.len() as u32;
                let (name, process) = (self.thread_name(place), self.process_name(thread.process));
                lanes.push(Lane { name, process, kind: thread.lane_kind() });
            }
        }
        for place in order {
            if let Some(first) = first_of(place) {
                lane_of[place as usize] = lane_of[first as usize];
            }
        }
        (lanes, lane_of)
    }

    fn key(&self, place: u32, name: &str) -> (u32, LaneKind, String) {
        let thread = &self.threads[place as usize];
        (thread.process, thread.lane_kind(), name.to_owned())
    }
}

/// Returns the label of a process or a thread, for those without a name.
fn label_text(event: &Event<'_>, field: Field) -> String {
    let text = event.field(field).map(|token| token.string().unwrap_or(token.0.into()));
    text.map_or_else(|| "0".to_owned(), Into::into)
}

/// Returns the name of the first thread of a lane from that of an additional one: `worker 3` for `worker 3 (2)`.
fn first_name(name: &str) -> Option<&str> {
    let (first, number) = name.strip_suffix(')')?.rsplit_once(" (")?;
    let is_further = number.parse::<u32>().is_ok_and(|number| number >= 2);
    (is_further && !first.is_empty()).then_some(first)
}
