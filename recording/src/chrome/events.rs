//! Writes the events of a trace as JSON, one method for each kind in `traces/FORMAT.md`.
//!
//! A row is a thread of the trace, given as the text `"pid":…,"tid":…`, which is formatted once because it is written
//! very often. The caller chooses the rows and the times.

use std::io::{self, Write};
use std::ops::Range;
use std::panic::Location;

use super::ChromeWritten;
use crate::activity::node_name;
use crate::json::JsonWriter;
use crate::{
    Activity, ActivityKind, CounterSample, HazardRecord, HostEvent, Outcome, PlanRecord, Prediction, Recording,
    RecordingError, Span, TaskRecord,
};

/// The process of the counters. The processes of the lanes follow; the host's process is last.
pub(super) const RUNTIME_PID: u64 = 1;

/// A time on a row: one end of an arrow.
#[derive(Clone, Copy)]
pub(super) struct Moment<'a> {
    pub(super) row: &'a str,
    pub(super) at_ns: u64,
}

/// Returns the name of a lane's row: the lane's name, with a number for additional rows.
pub(super) fn overflow_name(lane: &str, overflow: usize) -> String {
    if overflow == 0 { lane.to_owned() } else { format!("{lane} ({})", overflow + 1) }
}

/// The array of events under construction.
pub(super) struct Events<W: Write> {
    pub(super) json: JsonWriter<W>,
    first: bool,
    /// Added to every time.
    pub(super) shift_ns: u64,
    pub(super) written: ChromeWritten,
}

pub(super) type WriteResult = Result<(), RecordingError>;

impl<W: Write> Events<W> {
    /// Begins the trace.
    pub(super) fn new(mut json: JsonWriter<W>, shift_ns: u64) -> Self {
        json.raw("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
        Self { json, first: true, shift_ns, written: ChromeWritten::default() }
    }

    /// Ends the trace with its `otherData`. Of `recording`, only the metadata are used.
    pub(super) fn tail(&mut self, recording: &Recording, tasks: u64, is_complete: bool, others: &[(String, String)]) {
        self.json.raw("\n],\"otherData\":{\"tasks\":");
        self.json.integer(tasks);
        self.argument("records dropped", recording.dropped);
        if recording.dropped > 0 {
            self.json.raw(",\"whole from\":");
            self.json.thousandths(recording.whole_from_ns.saturating_add(self.shift_ns));
        }
        self.argument("hazards left out", self.written.hazards_left_out);
        recording.window.into_iter().for_each(|window| self.argument("window", window));
        recording.workers.into_iter().for_each(|workers| self.argument("workers", workers.into()));
        let json = &mut self.json;
        if let Some(policy) = &recording.policy {
            json.raw(",\"policy\":");
            json.string(policy);
        }
        json.raw(if is_complete { ",\"complete\":true" } else { ",\"complete\":false" });
        for (at, notice) in recording.notices.iter().enumerate() {
            json.raw(&format!(",\"notice {}\":", at + 1));
            json.string(notice);
        }
        for (key, value) in others {
            json.raw(",");
            json.string(key);
            json.raw(":");
            json.string(value);
        }
        json.raw("}}\n");
    }

    /// Writes the rest to the output.
    pub(super) fn finish(self) -> Result<ChromeWritten, RecordingError> {
        let bytes = self.json.finish()?;
        Ok(ChromeWritten { bytes, ..self.written })
    }

    /// Begins an event: separator, brace and phase.
    fn begin(&mut self, phase: &str) -> io::Result<()> {
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

    /// Writes a slice's row and times, without its arguments.
    fn slice(&mut self, row: &str, time_ns: Range<u64>) {
        self.json.raw(",");
        self.json.raw(row);
        self.time(time_ns.start);
        self.json.raw(",\"dur\":");
        self.json.thousandths(time_ns.end - time_ns.start);
    }

    /// Writes an integer argument that is not the first of its event.
    fn argument(&mut self, key: &str, value: u64) {
        self.json.raw(",\"");
        self.json.raw(key);
        self.json.raw("\":");
        self.json.integer(value);
    }

    /// Writes the name and the display position of a process.
    pub(super) fn process(&mut self, pid: u64, name: &str, sort_index: usize) -> WriteResult {
        self.metadata("process", &format!("\"pid\":{pid}"), name, None, sort_index)
    }

    /// Writes the name, the kind and the display position of a thread.
    pub(super) fn thread(&mut self, row: &str, name: &str, kind: &str, sort_index: usize) -> WriteResult {
        self.metadata("thread", row, name, Some(kind), sort_index)
    }

    fn metadata(&mut self, what: &str, place: &str, name: &str, kind: Option<&str>, sort_index: usize) -> WriteResult {
        self.begin("M")?;
        self.json.raw(&format!(",\"name\":\"{what}_name\",{place},\"args\":{{\"name\":"));
        self.json.string(name);
        if let Some(kind) = kind {
            self.json.raw(",\"kind\":");
            self.json.string(kind);
        }
        self.json.raw("}}");
        self.begin("M")?;
        self.json.raw(&format!(",\"name\":\"{what}_sort_index\",{place},\"args\":{{\"sort_index\":{sort_index}}}}}"));
        Ok(())
    }

    /// Writes a task's slice.
    pub(super) fn task(
        &mut self,
        row: &str,
        time_ns: Range<u64>,
        span: &Span,
        record: Option<&TaskRecord>,
    ) -> WriteResult {
        self.begin("X")?;
        self.json.raw(",\"cat\":\"task\",\"name\":");
        // If the record was dropped, the slice has a generic name.
        self.json.string(record.map_or("task", |task| task.name));
        let length_ns = time_ns.end - time_ns.start;
        self.slice(row, time_ns);
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
            self.task_arguments(task, length_ns, span.outcome);
        }
        self.json.raw("}}");
        self.written.slices += 1;
        Ok(())
    }

    fn task_arguments(&mut self, task: &TaskRecord, length_ns: u64, outcome: Outcome) {
        let json = &mut self.json;
        json.raw(",\"inserted\":");
        json.thousandths(task.inserted_ns.saturating_add(self.shift_ns));
        if !task.index.is_empty() {
            json.raw(",\"index\":");
            json.integers(task.index.as_slice().iter().map(|&index| u64::from(index)));
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
            // Flops per nanosecond are GFLOP/s. Only a completed body has done all of them.
            let rate = task.flops / length_ns as f64;
            if outcome == Outcome::Completed && rate.is_finite() {
                json.raw(",\"GFLOP/s\":");
                json.thousandths((rate * 1000.0).round() as u64);
            }
        }
        if task.bytes > 0.0 {
            json.raw(",\"bytes\":");
            json.real(task.bytes);
        }
        self.site(task.site);
    }

    fn site(&mut self, site: &Location<'_>) {
        let json = &mut self.json;
        json.raw(",\"site\":\"");
        json.escaped(site.file());
        json.raw(":");
        json.integer(u64::from(site.line()));
        json.raw("\"");
    }

    /// Writes the slice of a plan.
    pub(super) fn plan(&mut self, row: &str, time_ns: Range<u64>, plan: &PlanRecord, nodes: &[String]) -> WriteResult {
        let Prediction { name, time_ns: predicted_ns, tile, traffic } = &plan.prediction;
        self.begin("X")?;
        self.json.raw(",\"cat\":\"plan\",\"name\":");
        self.json.string(name);
        self.slice(row, time_ns);
        self.json.raw(",\"args\":{\"predicted ms\":");
        self.json.thousandths(predicted_ns / 1000);
        self.json.raw(",\"inserted\":");
        self.json.thousandths(plan.inserted_ns.saturating_add(self.shift_ns));
        if !tile.is_empty() {
            self.json.raw(",\"tile\":");
            self.json.integers(tile.iter().copied());
        }
        self.json.raw(",\"bytes\":{");
        for (at, &(from, to, bytes)) in traffic.iter().enumerate() {
            self.json.raw(if at == 0 { "" } else { "," });
            // The name that transfers over this link have.
            self.json.string(&ActivityKind::Transfer { from, to, bytes }.label(nodes));
            self.json.raw(":");
            self.json.integer(bytes);
        }
        self.json.raw("}");
        self.site(plan.site);
        self.json.raw("}}");
        self.written.plans += 1;
        Ok(())
    }

    /// Writes the slice of a transfer, an eviction, a stall or a wait for memory.
    pub(super) fn activity(
        &mut self,
        row: &str,
        time_ns: Range<u64>,
        activity: &Activity,
        nodes: &[String],
    ) -> WriteResult {
        self.begin("X")?;
        self.json.raw(",\"cat\":\"");
        self.json.raw(activity.kind.category());
        self.json.raw("\",\"name\":");
        self.json.string(&activity.kind.label(nodes));
        self.slice(row, time_ns);
        self.json.raw(",\"args\":{");
        let mut first = true;
        let mut key = |json: &mut JsonWriter<W>, key: &str| {
            json.raw(if std::mem::take(&mut first) { "\"" } else { ",\"" });
            json.raw(key);
            json.raw("\":");
        };
        let json = &mut self.json;
        match activity.kind {
            ActivityKind::Transfer { from, to, bytes } => {
                key(json, "bytes");
                json.integer(bytes);
                for (name, node) in [("from", from), ("to", to)] {
                    key(json, name);
                    json.string(node_name(node, nodes));
                }
            }
            ActivityKind::Eviction { bytes, .. } | ActivityKind::Allocation { bytes, .. } => {
                key(json, "bytes");
                json.integer(bytes);
            }
            ActivityKind::Stall(_) => {}
        }
        if let Some(task) = activity.task {
            key(json, "task");
            json.integer(task.0);
        }
        if let Some(datum) = activity.datum {
            key(json, "datum");
            json.integer(u64::from(datum));
        }
        json.raw("}}");
        self.written.activities += 1;
        Ok(())
    }

    /// Writes a hazard as an arrow. Only its start has arguments: Chrome warns if both ends have the same ones.
    pub(super) fn arrow(&mut self, hazard: &HazardRecord, leave: Moment<'_>, enter: Moment<'_>) -> WriteResult {
        self.written.arrows += 1;
        self.hazard("s", hazard, leave)?;
        self.arguments(hazard);
        self.argument("id", self.written.arrows);
        self.json.raw("}");
        self.hazard("f", hazard, enter)?;
        self.argument("id", self.written.arrows);
        // Without `bp`, the arrow would end at the next slice instead of this one.
        self.json.raw(",\"bp\":\"e\"}");
        Ok(())
    }

    /// Writes a hazard that cannot be drawn as an arrow.
    pub(super) fn hidden_hazard(&mut self, hazard: &HazardRecord, at: Moment<'_>) -> WriteResult {
        self.written.hazards_hidden += 1;
        self.hazard("i", hazard, at)?;
        self.arguments(hazard);
        self.json.raw(",\"s\":\"t\"}");
        Ok(())
    }

    fn hazard(&mut self, phase: &str, hazard: &HazardRecord, at: Moment<'_>) -> io::Result<()> {
        self.begin(phase)?;
        self.json.raw(",\"cat\":\"hazard\",\"name\":\"");
        self.json.raw(hazard.hazard.name());
        self.json.raw("\",");
        self.json.raw(at.row);
        self.time(at.at_ns);
        Ok(())
    }

    fn arguments(&mut self, hazard: &HazardRecord) {
        self.json.raw(",\"args\":{\"from\":");
        self.json.integer(hazard.from.0);
        self.argument("to", hazard.to.0);
        self.argument("datum", u64::from(hazard.datum));
        self.json.raw("}");
    }

    /// Writes the value of a counter from a time on.
    pub(super) fn sample(&mut self, name: &str, sample: &CounterSample) -> WriteResult {
        self.begin("C")?;
        self.json.raw(",\"name\":");
        self.json.string(name);
        self.json.raw(",\"pid\":");
        self.json.integer(RUNTIME_PID);
        self.time(sample.at_ns);
        self.json.raw(",\"args\":{\"value\":");
        self.json.integer(sample.value);
        self.json.raw("}}");
        self.written.samples += 1;
        Ok(())
    }

    /// Writes a span or an instant of a host thread.
    pub(super) fn host(&mut self, row: &str, event: &HostEvent) -> WriteResult {
        self.begin(if event.duration_ns.is_some() { "X" } else { "i" })?;
        self.json.raw(",\"cat\":");
        self.json.string(&event.target);
        self.json.raw(",\"name\":");
        self.json.string(&event.name);
        match event.duration_ns {
            Some(duration_ns) => self.slice(row, event.start_ns..event.start_ns.saturating_add(duration_ns)),
            None => {
                self.json.raw(",");
                self.json.raw(row);
                self.time(event.start_ns);
                self.json.raw(",\"s\":\"t\"");
            }
        }
        self.json.raw(",\"args\":");
        self.json.raw(&event.arguments);
        self.json.raw("}");
        self.written.host_events += 1;
        Ok(())
    }
}
