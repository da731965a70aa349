//! Writes Chrome's trace event format, for `chrome://tracing` and Perfetto.
//!
//! Writing is one streaming pass; only the layout of the slices is in memory (a few words per span). The format is
//! described in Google's "Trace Event Format" document. The phases used here are `M` (names and order of processes and
//! threads), `X` (a slice with a duration), `s` and `f` (the two ends of an arrow), `C` (a counter) and `i` (an instant
//! of a host thread, or a hazard without an arrow). `traces/FORMAT.md` lists the contents of our events.
//!
//! The numbers of processes and threads are free to choose. They are all different, because Perfetto takes a thread
//! with the same number as its process for the main thread of the process.

mod events;
mod growing;

use std::io::Write;
use std::time::{Duration, Instant};

use crate::arrows::{Anchor, Arrows};
use crate::json::JsonWriter;
use crate::layout::{Layout, SliceSource};
use crate::order::TaskOrder;
use crate::{HostCapture, Lane, Recording, RecordingError, TaskRecord};
use events::{Events, Moment, RUNTIME_PID, WriteResult, overflow_name};

pub use growing::GrowingTrace;

/// A recording to be written as a Chrome trace.
///
/// ```
/// # mod superscalar { pub use superscalar_recording as recording; }
/// use superscalar::recording::{ChromeTrace, Recording};
/// let mut json = Vec::new();
/// let written = ChromeTrace::new(&Recording::default())
///     .other_data("machine", "a laptop")
///     .write(&mut json)?;
/// assert_eq!(written.slices, 0);
/// assert_eq!(written.bytes, json.len() as u64);
/// # Ok::<(), superscalar::recording::RecordingError>(())
/// ```
#[derive(Debug)]
pub struct ChromeTrace<'a> {
    recording: &'a Recording,
    host: Option<(&'a HostCapture, Instant)>,
    other_data: Vec<(String, String)>,
}

/// The numbers of objects in a written trace.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ChromeWritten {
    /// Slices of tasks: one per span.
    pub slices: u64,
    /// Slices of transfers, evictions, stalls and waits for memory.
    pub activities: u64,
    /// Slices of plans.
    pub plans: u64,
    /// Arrows, one per hazard that could be drawn.
    pub arrows: u64,
    /// Hazards written as instants instead: a slice is completely covered by nested ones, or the clocks of two lanes
    /// differ by more than the producer's length.
    pub hazards_hidden: u64,
    /// Hazards that are not in the trace because one of the two tasks never ran.
    pub hazards_left_out: u64,
    /// Samples of counters.
    pub samples: u64,
    /// Slices and instants of host threads.
    pub host_events: u64,
    /// Bytes of JSON.
    pub bytes: u64,
}

impl<'a> ChromeTrace<'a> {
    /// Creates a trace of `recording`.
    pub fn new(recording: &'a Recording) -> Self {
        Self { recording, host: None, other_data: Vec::new() }
    }

    /// Adds captured `tracing` spans of the host, as a process of its own.
    ///
    /// `epoch` is the origin of the recording's times. If the capture began earlier, the trace begins with the capture,
    /// and the recording's times are shifted by the difference.
    #[must_use]
    pub fn host_spans(mut self, capture: &'a HostCapture, epoch: Instant) -> Self {
        self.host = Some((capture, epoch));
        self
    }

    /// Adds an entry to the trace's `otherData`, which viewers show as metadata.
    #[must_use]
    pub fn other_data(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.other_data.push((key.into(), value.into()));
        self
    }

    /// Writes the trace; `out` need not be buffered.
    ///
    /// # Errors
    /// If writing to `out` fails, or a span, an activity or a plan is on a lane that does not exist or ends
    /// before it starts.
    pub fn write<W: Write>(&self, out: W) -> Result<ChromeWritten, RecordingError> {
        let layout = Layout::new(self.recording)?;
        let (shift_ns, host_shift_ns) = self.shifts();
        let mut events = Events::new(JsonWriter::new(out), shift_ns);
        let ids = TraceIds::new(self.recording, &layout);
        processes(&mut events, self.recording, &layout, &ids)?;
        slices(&mut events, self.recording, &layout, &ids)?;
        hazards(&mut events, self.recording, &layout, &ids)?;
        counters(&mut events, self.recording)?;
        if let Some((capture, _)) = self.host {
            host(&mut events, capture, &ids, host_shift_ns)?;
        }
        events.tail(self.recording, self.recording.tasks.len() as u64, true, &self.other_data);
        events.finish()
    }

    /// Returns by how many nanoseconds the recording and the host capture are shifted to share one clock.
    fn shifts(&self) -> (u64, u64) {
        let Some((capture, epoch)) = self.host else {
            return (0, 0);
        };
        let whole = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let started = capture.started;
        (whole(epoch.saturating_duration_since(started)), whole(started.saturating_duration_since(epoch)))
    }
}

/// The process and thread numbers of the trace.
struct TraceIds<'a> {
    /// The names of the lanes' processes, in order of appearance, numbered from `RUNTIME_PID + 1` on.
    processes: Vec<&'a str>,
    /// `"pid":…,"tid":…` of each row, formatted once because it is written very often.
    rows: Vec<String>,
    first_tid: u64,
}

impl<'a> TraceIds<'a> {
    fn new(recording: &'a Recording, layout: &Layout) -> Self {
        let (processes, pids) = lane_processes(&recording.lanes);
        let first_tid = RUNTIME_PID + processes.len() as u64 + 2;
        let numbered = layout.rows.iter().enumerate();
        let rows = numbered
            .map(|(index, row)| {
                let (pid, tid) = (pids[row.lane], first_tid + index as u64);
                format!("\"pid\":{pid},\"tid\":{tid}")
            })
            .collect();
        Self { processes, rows, first_tid }
    }

    fn host_pid(&self) -> u64 {
        RUNTIME_PID + self.processes.len() as u64 + 1
    }

    fn host_tid(&self, thread: usize) -> u64 {
        self.first_tid + (self.rows.len() + thread) as u64
    }
}

/// Returns the distinct processes of lanes, in order of appearance, and the process number of each lane.
fn lane_processes(lanes: &[Lane]) -> (Vec<&str>, Vec<u64>) {
    let mut processes: Vec<&str> = Vec::new();
    let mut pids = Vec::with_capacity(lanes.len());
    for lane in lanes {
        let known = processes.iter().position(|&name| name == lane.process);
        let place = known.unwrap_or_else(|| {
            processes.push(&lane.process);
            processes.len() - 1
        });
        pids.push(RUNTIME_PID + 1 + place as u64);
    }
    (processes, pids)
}

fn processes<W: Write>(
    events: &mut Events<W>,
    recording: &Recording,
    layout: &Layout,
    ids: &TraceIds<'_>,
) -> WriteResult {
    if !recording.counters.is_empty() {
        events.process(RUNTIME_PID, "runtime", 0)?;
    }
    for (place, process) in ids.processes.iter().enumerate() {
        events.process(RUNTIME_PID + 1 + place as u64, process, place + 1)?;
    }
    for (index, row) in layout.rows.iter().enumerate() {
        let lane = &recording.lanes[row.lane];
        events.thread(&ids.rows[index], &overflow_name(&lane.name, row.overflow), lane.kind.name(), index)?;
    }
    Ok(())
}

fn slices<W: Write>(events: &mut Events<W>, recording: &Recording, layout: &Layout, ids: &TraceIds<'_>) -> WriteResult {
    let order = TaskOrder::new(recording.tasks.iter().map(|task| task.id));
    let mut records: Vec<Option<&TaskRecord>> = vec![None; order.len()];
    for task in &recording.tasks {
        if let Some(place) = order.index_of(task.id) {
            records[place] = Some(task);
        }
    }
    for slice in &layout.slices {
        let (row, time_ns) = (&*ids.rows[slice.row], slice.start_ns..slice.end_ns);
        match slice.source {
            SliceSource::Span(span) => {
                let span = &recording.spans[span];
                let record = order.index_of(span.task).and_then(|place| records[place]);
                events.task(row, time_ns, span, record)?;
            }
            SliceSource::Activity(activity) => {
                events.activity(row, time_ns, &recording.activities[activity], &recording.nodes)?;
            }
            SliceSource::Plan(plan) => events.plan(row, time_ns, &recording.plans[plan], &recording.nodes)?,
        }
    }
    Ok(())
}

fn hazards<W: Write>(
    events: &mut Events<W>,
    recording: &Recording,
    layout: &Layout,
    ids: &TraceIds<'_>,
) -> WriteResult {
    let arrows = Arrows::new(recording, layout);
    let moment = |anchor: Anchor| Moment { row: &ids.rows[anchor.row], at_ns: anchor.at_ns };
    for hazard in &recording.hazards {
        if let Some((leave, enter)) = arrows.ends(hazard) {
            events.arrow(hazard, moment(leave), moment(enter))?;
        } else if let Some(place) = arrows.position_of(hazard) {
            events.hidden_hazard(hazard, moment(place))?;
        } else {
            events.written.hazards_left_out += 1;
        }
    }
    Ok(())
}

fn counters<W: Write>(events: &mut Events<W>, recording: &Recording) -> WriteResult {
    let mut samples = recording.counters.clone();
    samples.sort_by_key(|sample| (sample.counter, sample.at_ns));
    for of_counter in samples.chunk_by(|a, b| a.counter == b.counter) {
        let name = of_counter[0].counter.name(&recording.nodes);
        for sample in of_counter {
            events.sample(&name, sample)?;
        }
    }
    Ok(())
}

fn host<W: Write>(
    events: &mut Events<W>,
    capture: &HostCapture,
    ids: &TraceIds<'_>,
    host_shift_ns: u64,
) -> WriteResult {
    events.shift_ns = host_shift_ns;
    let pid = ids.host_pid();
    events.process(pid, "host spans", ids.processes.len() + 1)?;
    let row = |thread: usize| format!("\"pid\":{pid},\"tid\":{}", ids.host_tid(thread));
    let rows: Vec<String> = (0..capture.threads.len()).map(row).collect();
    for (thread, name) in capture.threads.iter().enumerate() {
        events.thread(&rows[thread], name, "host", thread)?;
    }
    for event in &capture.events {
        events.host(&rows[event.thread], event)?;
    }
    Ok(())
}
