//! Chrome's trace event format, for `chrome://tracing` and Perfetto.
//!
//! One pass, streaming: nothing is held but the layout of the slices (a few words per span). The
//! format is described in Google's "Trace Event Format" document; the phases used here are `M`
//! (names and order of processes and threads), `X` (a slice with a duration), `s` and `f` (the two
//! ends of an arrow), `C` (a counter) and `i` (an instant of a host thread).
//!
//! Processes and threads of the trace are ours to number. No number serves twice, because Perfetto
//! takes the thread whose number equals its process's for that process's main thread.

use std::io::Write;
use std::time::{Duration, Instant};

use super::arrows::{Anchor, Arrows};
use super::error::RecordingError;
use super::host::HostCapture;
use super::json::JsonWriter;
use super::layout::{Layout, Slice};
use super::order::TaskOrder;
use super::{HazardRecord, Outcome, Recording, TaskRecord};

/// A recording about to be written as a Chrome trace.
///
/// ```
/// use superscalar_runtime::recording::{ChromeTrace, Recording};
/// let mut json = Vec::new();
/// let written = ChromeTrace::new(&Recording::default())
///     .other_data("machine", "a laptop")
///     .write(&mut json)?;
/// assert_eq!(written.slices, 0);
/// assert_eq!(written.bytes, json.len() as u64);
/// # Ok::<(), superscalar_runtime::recording::RecordingError>(())
/// ```
#[derive(Debug)]
pub struct ChromeTrace<'a> {
    recording: &'a Recording,
    host: Option<(&'a HostCapture, Instant)>,
    other_data: Vec<(String, String)>,
}

/// What a written trace contains.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ChromeWritten {
    /// Slices of tasks: one per span.
    pub slices: u64,
    /// Arrows, one per hazard that could be drawn.
    pub arrows: u64,
    /// Hazards without an arrow: one of the two tasks never ran, or its slice is hidden altogether
    /// by nested ones, or the clocks of two lanes disagree by more than the producer's length.
    pub hazards_left_out: u64,
    /// Samples of counters.
    pub samples: u64,
    /// Slices and instants of host threads.
    pub host_events: u64,
    /// Bytes of JSON.
    pub bytes: u64,
}

impl<'a> ChromeTrace<'a> {
    /// A trace of `recording` alone.
    pub fn new(recording: &'a Recording) -> Self {
        Self { recording, host: None, other_data: Vec::new() }
    }

    /// Adds what the host's `tracing` spans left, as a process of its own.
    ///
    /// `epoch` is the instant that the recording's times count from. If the capture began earlier,
    /// the trace begins with the capture, and the recording's times are moved by the difference.
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

    /// Writes the trace. Buffers by itself; `out` need not.
    ///
    /// # Errors
    /// Those of `out`; a span on a lane that does not exist, or that ends before it starts.
    pub fn write<W: Write>(&self, out: W) -> Result<ChromeWritten, RecordingError> {
        let layout = Layout::new(self.recording)?;
        let (shift_ns, host_shift_ns) = self.shifts();
        let mut events =
            Events { json: JsonWriter::new(out), first: true, shift_ns, written: ChromeWritten::default() };
        let numbers = Numbers::new(self.recording, &layout);
        events.json.raw("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
        events.processes(self.recording, &layout, &numbers)?;
        events.slices(self.recording, &layout, &numbers)?;
        events.arrows(self.recording, &layout, &numbers)?;
        events.counters(self.recording)?;
        if let Some((capture, _)) = self.host {
            events.host(capture, &numbers, host_shift_ns)?;
        }
        events.json.raw("\n],\"otherData\":");
        self.write_other_data(&mut events);
        events.json.raw("}\n");
        let Events { json, written, .. } = events;
        let bytes = json.finish()?;
        Ok(ChromeWritten { bytes, ..written })
    }

    /// By how many nanoseconds the recording and the host capture move onto one clock.
    fn shifts(&self) -> (u64, u64) {
        let Some((capture, epoch)) = self.host else {
            return (0, 0);
        };
        let whole = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let started = capture.started();
        (whole(epoch.saturating_duration_since(started)), whole(started.saturating_duration_since(epoch)))
    }

    fn write_other_data<W: Write>(&self, events: &mut Events<W>) {
        let json = &mut events.json;
        let numbers = [
            ("{\"tasks\":", self.recording.tasks.len() as u64),
            (",\"records dropped\":", self.recording.dropped),
            (",\"hazards left out\":", events.written.hazards_left_out),
        ];
        for (key, value) in numbers {
            json.raw(key);
            json.integer(value);
        }
        for (key, value) in &self.other_data {
            json.raw(",");
            json.string(key);
            json.raw(":");
            json.string(value);
        }
        json.raw("}");
    }
}

/// The process of the counters; those of the lanes follow, the host's is last.
const RUNTIME_PID: u64 = 1;

/// Which process and thread numbers the trace uses.
struct Numbers<'a> {
    /// The names of the processes of lanes, in order of appearance, from `RUNTIME_PID + 1` on.
    processes: Vec<&'a str>,
    /// `"pid":…,"tid":…` of each row, written a million times and so put together once.
    rows: Vec<String>,
    first_tid: u64,
}

impl<'a> Numbers<'a> {
    fn new(recording: &'a Recording, layout: &Layout) -> Self {
        let mut processes: Vec<&str> = Vec::new();
        let mut pids = Vec::with_capacity(recording.lanes.len());
        for lane in &recording.lanes {
            let known = processes.iter().position(|&name| name == lane.process);
            let place = known.unwrap_or_else(|| {
                processes.push(&lane.process);
                processes.len() - 1
            });
            pids.push(RUNTIME_PID + 1 + place as u64);
        }
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

/// The array of events under construction.
struct Events<W: Write> {
    json: JsonWriter<W>,
    first: bool,
    /// Added to every time of the recording.
    shift_ns: u64,
    written: ChromeWritten,
}

impl<W: Write> Events<W> {
    /// Begins an event: the separator, the brace and the phase.
    fn begin(&mut self, phase: &str) -> Result<(), RecordingError> {
        self.json.pass_on()?;
        self.json.raw(if self.first { "\n" } else { ",\n" });
        self.json.raw("{\"ph\":\"");
        self.json.raw(phase);
        self.json.raw("\"");
        self.first = false;
        Ok(())
    }

    fn time(&mut self, at_ns: u64) {
        self.json.raw(",\"ts\":");
        self.json.thousandths(at_ns.saturating_add(self.shift_ns));
    }

    /// The name and the place in the display of a process (`process`) or a thread (`thread`).
    fn metadata(&mut self, what: &str, place: &str, name: &str, sort_index: usize) -> Result<(), RecordingError> {
        self.begin("M")?;
        self.json.raw(&format!(",\"name\":\"{what}_name\",{place},\"args\":{{\"name\":"));
        self.json.string(name);
        self.json.raw("}}");
        self.begin("M")?;
        self.json.raw(&format!(",\"name\":\"{what}_sort_index\",{place},\"args\":{{\"sort_index\":{sort_index}}}}}"));
        Ok(())
    }

    fn processes(
        &mut self,
        recording: &Recording,
        layout: &Layout,
        numbers: &Numbers<'_>,
    ) -> Result<(), RecordingError> {
        if !recording.counters.is_empty() {
            self.metadata("process", &format!("\"pid\":{RUNTIME_PID}"), "runtime", 0)?;
        }
        for (place, process) in numbers.processes.iter().enumerate() {
            let pid = RUNTIME_PID + 1 + place as u64;
            self.metadata("process", &format!("\"pid\":{pid}"), process, place + 1)?;
        }
        for (index, row) in layout.rows.iter().enumerate() {
            let name = &recording.lanes[row.lane].name;
            match row.overflow {
                0 => self.metadata("thread", &numbers.rows[index], name, index)?,
                more => {
                    let name = format!("{name} ({})", more + 1);
                    self.metadata("thread", &numbers.rows[index], &name, index)?;
                }
            }
        }
        Ok(())
    }

    fn slices(&mut self, recording: &Recording, layout: &Layout, numbers: &Numbers<'_>) -> Result<(), RecordingError> {
        let order = TaskOrder::new(recording.tasks.iter().map(|task| task.id));
        let mut records: Vec<Option<&TaskRecord>> = vec![None; order.len()];
        for task in &recording.tasks {
            if let Some(place) = order.place(task.id) {
                records[place] = Some(task);
            }
        }
        for slice in &layout.slices {
            let span = &recording.spans[slice.span];
            let record = order.place(span.task).and_then(|place| records[place]);
            self.begin("X")?;
            self.json.raw(",\"cat\":\"task\",\"name\":");
            // A record that was dropped leaves a slice without a name, not a hole.
            self.json.string(record.map_or("task", |task| task.name));
            self.json.raw(",");
            self.json.raw(&numbers.rows[slice.row]);
            self.time(slice.start_ns);
            self.json.raw(",\"dur\":");
            self.json.thousandths(slice.end_ns - slice.start_ns);
            self.json.raw(match span.outcome {
                Outcome::Completed => "",
                Outcome::Failed | Outcome::Panicked => ",\"cname\":\"terrible\"",
                Outcome::Cancelled => ",\"cname\":\"grey\"",
            });
            self.json.raw(",\"args\":{\"task\":");
            self.json.integer(span.task.0);
            self.json.raw(",\"outcome\":\"");
            self.json.raw(span.outcome.name());
            self.json.raw("\"");
            if let Some(task) = record {
                self.task_arguments(task, slice, span.outcome);
            }
            self.json.raw("}}");
            self.written.slices += 1;
        }
        Ok(())
    }

    fn task_arguments(&mut self, task: &TaskRecord, slice: &Slice, outcome: Outcome) {
        let json = &mut self.json;
        if let Some((&outermost, rest)) = task.index.as_slice().split_first() {
            json.raw(",\"index\":[");
            json.integer(u64::from(outermost));
            for &index in rest {
                json.raw(",");
                json.integer(u64::from(index));
            }
            json.raw("]");
        }
        json.raw(",\"priority\":");
        json.signed(i64::from(task.priority));
        if let Some(level) = task.level {
            json.raw(",\"BLAS level\":");
            json.integer(u64::from(level.number()));
        }
        if task.flops > 0.0 {
            json.raw(",\"flops\":");
            json.real(task.flops);
            // Flops per nanosecond are GFLOP per second. Only a completed body did them all.
            let rate = task.flops / (slice.end_ns - slice.start_ns) as f64;
            if outcome == Outcome::Completed && rate.is_finite() {
                json.raw(",\"GFLOP/s\":");
                json.thousandths((rate * 1000.0).round() as u64);
            }
        }
        if task.bytes > 0.0 {
            json.raw(",\"bytes\":");
            json.real(task.bytes);
        }
        json.raw(",\"site\":\"");
        json.escaped(task.site.file());
        json.raw(":");
        json.integer(u64::from(task.site.line()));
        json.raw("\"");
    }

    fn arrows(&mut self, recording: &Recording, layout: &Layout, numbers: &Numbers<'_>) -> Result<(), RecordingError> {
        let arrows = Arrows::new(recording, layout);
        for hazard in &recording.hazards {
            let Some((leave, enter)) = arrows.ends(hazard) else {
                self.written.hazards_left_out += 1;
                continue;
            };
            self.written.arrows += 1;
            self.arrow_end("s", hazard, leave, numbers)?;
            self.json.raw(",\"args\":{\"datum\":");
            self.json.integer(u64::from(hazard.datum));
            self.json.raw("}}");
            self.arrow_end("f", hazard, enter, numbers)?;
            // Without `bp` the arrow would end at the next slice rather than at this one.
            self.json.raw(",\"bp\":\"e\"}");
        }
        Ok(())
    }

    fn arrow_end(
        &mut self,
        phase: &str,
        hazard: &HazardRecord,
        end: Anchor,
        numbers: &Numbers<'_>,
    ) -> Result<(), RecordingError> {
        self.begin(phase)?;
        self.json.raw(",\"cat\":\"hazard\",\"name\":\"");
        self.json.raw(hazard.hazard.name());
        self.json.raw("\",\"id\":");
        self.json.integer(self.written.arrows);
        self.json.raw(",");
        self.json.raw(&numbers.rows[end.row]);
        self.time(end.at_ns);
        Ok(())
    }

    fn counters(&mut self, recording: &Recording) -> Result<(), RecordingError> {
        let mut samples = recording.counters.clone();
        samples.sort_by_key(|sample| (sample.counter, sample.at_ns));
        for sample in samples {
            self.begin("C")?;
            self.json.raw(",\"name\":\"");
            self.json.raw(sample.counter.name());
            self.json.raw("\",\"pid\":");
            self.json.integer(RUNTIME_PID);
            self.time(sample.at_ns);
            self.json.raw(",\"args\":{\"value\":");
            self.json.integer(sample.value);
            self.json.raw("}}");
            self.written.samples += 1;
        }
        Ok(())
    }

    fn host(&mut self, capture: &HostCapture, numbers: &Numbers<'_>, host_shift_ns: u64) -> Result<(), RecordingError> {
        self.shift_ns = host_shift_ns;
        let pid = numbers.host_pid();
        let pid_text = format!("\"pid\":{pid}");
        let last = numbers.processes.len() + 1;
        self.metadata("process", &pid_text, "host spans", last)?;
        for (thread, name) in capture.threads().enumerate() {
            let tid = numbers.host_tid(thread);
            self.metadata("thread", &format!("{pid_text},\"tid\":{tid}"), name, thread)?;
        }
        for event in capture.events() {
            self.begin(if event.duration_ns.is_some() { "X" } else { "i" })?;
            self.json.raw(",\"cat\":");
            self.json.string(&event.target);
            self.json.raw(",\"name\":");
            self.json.string(&event.name);
            self.json.raw(",");
            self.json.raw(&pid_text);
            self.json.raw(",\"tid\":");
            self.json.integer(numbers.host_tid(event.thread));
            self.time(event.start_ns);
            match event.duration_ns {
                Some(duration_ns) => {
                    self.json.raw(",\"dur\":");
                    self.json.thousandths(duration_ns);
                }
                None => self.json.raw(",\"s\":\"t\""),
            }
            self.json.raw(",\"args\":");
            self.json.raw(&event.arguments);
            self.json.raw("}");
            self.written.host_events += 1;
        }
        Ok(())
    }
}
