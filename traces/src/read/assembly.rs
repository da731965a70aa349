//! Builds a run from the events of its file.

use super::arrows::Arrows;
use super::counters::Counters;
use super::cursor::Token;
use super::error::{Repr, Stop};
use super::event::{Argument, Event, Field, excerpt, members};
use super::lanes::{SliceUse, Threads};
use super::names::Names;
use super::oddities::Oddities;
use super::spans::{Boundary, Spans};
use super::walk::Events;
use super::{ReadOptions, nesting, number};
use crate::{Activity, ActivityKind, Outcome, Plan, Task, TileIndex, Trace};
use std::borrow::Cow;
use std::cmp::Reverse;

/// The maximum number of tasks, and of activities: their indices have 32 bits.
const INDEX_MAX: usize = u32::MAX as usize;

/// The maximum number of members of `otherData`.
const FACTS_MAX: usize = 1 << 16;

/// Collects events; [`finish`](Self::finish) builds the run.
#[derive(Debug, Default)]
pub(super) struct Assembly {
    max: ReadOptions,
    threads: Threads,
    kernels: Names,
    sites: Names,
    names: Names,
    /// Until `finish`, the lanes of tasks and activities are threads.
    tasks: Vec<Task>,
    activities: Vec<Activity>,
    plans: Vec<Plan>,
    spans: Spans,
    arrows: Arrows,
    counters: Counters,
    facts: Vec<(String, String)>,
    window: Option<u64>,
    dropped: u64,
    left_out: u64,
    /// The latest end of a slice.
    latest_ns: u64,
}

impl Events for Assembly {
    fn event(&mut self, event: &Event<'_>) -> Result<(), Stop> {
        match &*event.text_of(Field::Phase)? {
            "X" => self.slice(event),
            "s" if is_hazard(event)? => self.arrow(event, true),
            "f" if is_hazard(event)? => self.arrow(event, false),
            "C" => {
                let process = self.threads.process(event, self.max)?;
                self.counters.sample(event, process, self.max)
            }
            "M" => self.threads.metadata(event, self.max),
            "i" | "I" if is_hazard(event)? => self.arrows.hidden(event),
            "i" | "I" => self.instant(event),
            "B" => self.boundary(event, true),
            "E" => self.boundary(event, false),
            "" => Err(Stop::fault(0, Repr::Missing { event: "an event", key: "ph" })),
            // Other events of the format (async events, samples, objects, …) contain nothing about tasks.
            _ => Ok(()),
        }
    }

    fn fact(&mut self, key: Cow<'_, str>, value: Token<'_>) -> Result<(), Stop> {
        let number = |key| {
            let found = excerpt(value.0);
            let wrong = Repr::Value { key, expected: "an integer from 0 to 2^64 - 1", found };
            number::unsigned(value.0).ok_or_else(|| Stop::fault(0, wrong))
        };
        match &*key {
            "records dropped" => self.dropped = number("records dropped")?,
            "hazards left out" => self.left_out = number("hazards left out")?,
            "window" if !value.is_null() => self.window = Some(number("window")?),
            _ if self.facts.len() == FACTS_MAX => {
                return Err(Stop::fault(0, Repr::Limit { what: "members of otherData", max: FACTS_MAX as u64 }));
            }
            _ => {
                let text = value.string().unwrap_or(Cow::Borrowed(value.0));
                self.facts.push((key.into_owned(), text.into_owned()));
            }
        }
        Ok(())
    }
}

fn is_hazard(event: &Event<'_>) -> Result<bool, Stop> {
    Ok(event.text_of(Field::Category)? == "hazard")
}

impl Assembly {
    pub(super) fn new(options: &ReadOptions) -> Self {
        Self { max: *options, ..Self::default() }
    }

    fn slice(&mut self, event: &Event<'_>) -> Result<(), Stop> {
        let start_ns = event.time_ns(Field::Moment, "a slice")?;
        let length_ns = event.time_ns(Field::Length, "a slice")?;
        let Some(end_ns) = start_ns.checked_add(length_ns) else {
            let token = event.field(Field::Length).unwrap_or(Token(""));
            return Err(event.wrong(token, "dur", "such that the slice ends before 2^64 ns"));
        };
        self.latest_ns = self.latest_ns.max(end_ns);
        let kind = match &*event.text_of(Field::Category)? {
            "task" => return self.task(event, start_ns, end_ns),
            "transfer" => ActivityKind::Transfer,
            "eviction" => ActivityKind::Eviction,
            "stall" => ActivityKind::Stall,
            "allocation" => ActivityKind::Allocation,
            "plan" => {
                self.plan(event, start_ns, length_ns)?;
                ActivityKind::Host
            }
            _ => ActivityKind::Host,
        };
        self.activity(event, kind, start_ns, end_ns)
    }

    fn task(&mut self, event: &Event<'_>, start_ns: u64, end_ns: u64) -> Result<(), Stop> {
        limited(&self.tasks, "tasks")?;
        let kernel = self.kernels.intern(&event.text_of(Field::Name)?, self.max)?;
        let site = event.string(Argument::Site)?;
        let site = site.map(|site| self.sites.intern(&site, self.max)).transpose()?;
        let lane = self.threads.used(event, SliceUse::Task, self.max)?;
        let small = |token: Token<'_>| number::signed(token.0).and_then(|value| value.try_into().ok());
        let level = |token: Token<'_>| number::unsigned(token.0).filter(|&level| level <= 3).map(|level| level as u8);
        self.tasks.push(Task {
            id: event.needed(Argument::Task, "a task's slice")?,
            kernel,
            site,
            lane,
            start_ns,
            end_ns,
            inserted_ns: event.argument_ns(Argument::Inserted)?,
            priority: event.parsed(Argument::Priority, "an integer of 32 bits", small)?.unwrap_or(0),
            index: event.parsed(Argument::Index, "at most three integers of 32 bits", tile_index)?.unwrap_or_default(),
            outcome: event.parsed(Argument::Outcome, OUTCOMES, outcome)?.unwrap_or_default(),
            level: event.parsed(Argument::Level, "0, 1, 2 or 3", level)?.unwrap_or(0),
            flops: event.amount(Argument::Flops)?,
            bytes: event.amount(Argument::Bytes)?,
        });
        Ok(())
    }

    fn activity(&mut self, event: &Event<'_>, kind: ActivityKind, start_ns: u64, end_ns: u64) -> Result<(), Stop> {
        limited(&self.activities, "slices other than tasks")?;
        let how = if kind == ActivityKind::Transfer { SliceUse::Transfer } else { SliceUse::Slice };
        let lane = self.threads.used(event, how, self.max)?;
        let name = self.names.intern(&event.text_of(Field::Name)?, self.max)?;
        let mut activity = Activity { kind, name, lane, start_ns, end_ns, bytes: 0, link: None, task: None };
        // The arguments of a host span belong to the program.
        if kind != ActivityKind::Host {
            activity.bytes = event.count(Argument::Bytes)?.unwrap_or(0);
            activity.task = event.count(Argument::Task)?;
        }
        if kind == ActivityKind::Transfer
            && let (Some(from), Some(to)) = (event.string(Argument::From)?, event.string(Argument::To)?)
        {
            activity.link = Some((self.names.intern(&from, self.max)?, self.names.intern(&to, self.max)?));
        }
        self.activities.push(activity);
        Ok(())
    }

    fn plan(&mut self, event: &Event<'_>, start_ns: u64, predicted_ns: u64) -> Result<(), Stop> {
        limited(&self.plans, "plans")?;
        let name = self.names.intern(&event.text_of(Field::Name)?, self.max)?;
        let site = event.string(Argument::Site)?;
        let site = site.map(|site| self.sites.intern(&site, self.max)).transpose()?;
        let inserted_ns = event.argument_ns(Argument::Inserted)?;
        let tile = event.parsed(Argument::Tile, "integers from 0 to 2^64 - 1", integers)?.unwrap_or_default();
        let bytes = event.parsed(Argument::Bytes, "an object of integers from 0 to 2^64 - 1", bytes_of_links)?;
        let mut traffic = Vec::new();
        for (link, bytes) in bytes.unwrap_or_default() {
            traffic.push((self.names.intern(&link, self.max)?, bytes));
        }
        self.plans.push(Plan { name, site, start_ns, inserted_ns, predicted_ns, tile, traffic });
        Ok(())
    }

    /// Adds an instant of a host thread. Instants of a process, or of the whole run, belong to no lane and are ignored.
    fn instant(&mut self, event: &Event<'_>) -> Result<(), Stop> {
        let at_ns = event.time_ns(Field::Moment, "an instant")?;
        if event.field(Field::Thread).is_none() {
            return Ok(());
        }
        self.latest_ns = self.latest_ns.max(at_ns);
        self.activity(event, ActivityKind::Host, at_ns, at_ns)
    }

    fn arrow(&mut self, event: &Event<'_>, is_start: bool) -> Result<(), Stop> {
        let thread = self.threads.thread(event, self.max)?;
        self.arrows.end(event, is_start, thread)
    }

    fn boundary(&mut self, event: &Event<'_>, begins: bool) -> Result<(), Stop> {
        let at_ns = event.time_ns(Field::Moment, if begins { "a begin" } else { "an end" })?;
        limited(&self.activities, "slices other than tasks")?;
        self.latest_ns = self.latest_ns.max(at_ns);
        let thread = self.threads.used(event, SliceUse::Slice, self.max)?;
        let name = if begins { Some(self.names.intern(&event.text_of(Field::Name)?, self.max)?) } else { None };
        self.spans.add(Boundary { thread, at_ns, name });
        Ok(())
    }

    /// Builds the run. Also returns the oddities of the file.
    pub(super) fn finish(self) -> (Trace, Oddities) {
        let Self { threads, mut tasks, mut activities, mut plans, mut arrows, .. } = self;
        let mut oddities = Oddities::default();
        self.spans.finish(self.latest_ns, &mut activities, &mut oddities);
        tasks.sort_unstable_by_key(|task| (task.start_ns, task.id, task.end_ns, task.lane));
        activities.sort_unstable_by_key(|activity| {
            let Activity { start_ns, end_ns, lane, name, .. } = *activity;
            (start_ns, lane, Reverse(end_ns), name)
        });

        plans.sort_by_key(|plan| plan.start_ns);

        let anchors = arrows.take_anchors();
        let found = nesting::resolve(&tasks, &activities, threads.len(), anchors, &mut oddities);
        let (hazards, left_out) = arrows.finish(&tasks, &found, &mut oddities);

        let (lanes, lane_of) = threads.lanes();
        tasks.iter_mut().for_each(|task| task.lane = lane_of[task.lane as usize]);
        activities.iter_mut().for_each(|activity| activity.lane = lane_of[activity.lane as usize]);
        oddities.name_lanes(&lane_of);
        let trace = Trace {
            lanes,
            kernels: self.kernels.into_list(),
            sites: self.sites.into_list(),
            names: self.names.into_list(),
            tasks,
            hazards,
            activities,
            plans,
            counters: self.counters.finish(&threads, &mut oddities),
            facts: self.facts,
            window: self.window,
            dropped: self.dropped,
            hazards_left_out: self.left_out.saturating_add(left_out),
        };
        (trace, oddities)
    }
}

/// # Errors
/// If the list is full: indices into it have 32 bits.
fn limited<T>(list: &[T], what: &'static str) -> Result<(), Stop> {
    if list.len() < INDEX_MAX { Ok(()) } else { Err(Stop::fault(0, Repr::Limit { what, max: INDEX_MAX as u64 })) }
}

const OUTCOMES: &str = "completed, failed, panicked or cancelled";

fn outcome(token: Token<'_>) -> Option<Outcome> {
    Outcome::from_name(&token.string()?)
}

fn tile_index(token: Token<'_>) -> Option<TileIndex> {
    TileIndex::new(&integers(token)?)
}

fn integers<T: TryFrom<u64>>(token: Token<'_>) -> Option<Vec<T>> {
    let inside = token.0.strip_prefix('[')?.strip_suffix(']')?.trim();
    let all = inside.split(',').filter(|_| !inside.is_empty());
    all.map(|value| number::unsigned(value.trim())?.try_into().ok()).collect()
}

fn bytes_of_links(token: Token<'_>) -> Option<Vec<(Cow<'_, str>, u64)>> {
    members(token)?.into_iter().map(|(link, bytes)| Some((link.string()?, number::unsigned(bytes.0)?))).collect()
}
