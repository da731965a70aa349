//! Parses the output of tracing-chrome: one JSON object per line, entries and exits of spans.
//!
//! Entries and exits become slices with a duration. A span that is still open when a capture ends is drawn up to that
//! time. A captured thread follows the same rule as every lane: its slices nest.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::HostEvent;

/// The threads seen so far with their open spans, kept between captures.
#[derive(Debug, Default)]
pub(super) struct HostThreads {
    /// Maps tracing-chrome's thread numbers to indices in `threads`.
    places: BTreeMap<u64, usize>,
    threads: Vec<HostThread>,
}

#[derive(Debug, Default)]
struct HostThread {
    name: String,
    /// The open spans, outermost first; their `duration_ns` is still unknown.
    open: Vec<HostEvent>,
    /// When the last capture ended. An event may read the clock just before that and be sent just after; its time is
    /// moved here, or it would cross the slices that were cut.
    cut_ns: u64,
    /// The time of the last event.
    latest_ns: u64,
}

impl HostThreads {
    pub(super) fn names(&self) -> Vec<String> {
        self.threads.iter().map(|thread| thread.name.clone()).collect()
    }

    /// Parses one capture, which ended at `until_ns`. The events are sorted by thread and start, outer spans first.
    ///
    /// # Errors
    /// If a line is not an event of tracing-chrome.
    pub(super) fn read(&mut self, text: &[u8], until_ns: u64) -> Result<Vec<HostEvent>, String> {
        let mut done = Vec::new();
        for line in text.split(|&byte| byte == b'\n') {
            let line = line.strip_suffix(b",").unwrap_or(line);
            if matches!(line, b"" | b"[" | b"]") {
                continue;
            }
            let event: Map<String, Value> = serde_json::from_slice(line).map_err(|error| error.to_string())?;
            self.read_event(event, &mut done)?;
        }
        for thread in &mut self.threads {
            thread.cut(until_ns, &mut done);
        }
        done.sort_by_key(|event| (event.thread, event.start_ns, Reverse(event.duration_ns)));
        Ok(done)
    }

    fn read_event(&mut self, mut event: Map<String, Value>, done: &mut Vec<HostEvent>) -> Result<(), String> {
        let place = self.place(&event)?;
        let phase = text(&event, "ph")?;
        if phase == "M" {
            if let Some(name) = event.get("args").and_then(|args| args.get("name")) {
                self.threads[place].name = name.as_str().unwrap_or_default().to_owned();
            }
            return Ok(());
        }
        let at_ns = time_ns(&event)?.max(self.threads[place].cut_ns);
        self.threads[place].latest_ns = at_ns;
        let open = &mut self.threads[place].open;
        match phase.as_str() {
            "B" => open.push(host_event(&mut event, place, at_ns)?),
            "E" => {
                // The fields at the exit include those recorded since the entry. An exit without an entry belongs to a
                // span entered before the layer was installed.
                if let Some(entry) = open.pop() {
                    let duration_ns = Some(at_ns.saturating_sub(entry.start_ns));
                    let exit = host_event(&mut event, place, entry.start_ns)?;
                    done.push(HostEvent { duration_ns, ..exit });
                }
            }
            "i" => done.push(host_event(&mut event, place, at_ns)?),
            other => return Err(format!("unknown phase {other:?}")),
        }
        Ok(())
    }

    fn place(&mut self, event: &Map<String, Value>) -> Result<usize, String> {
        let tid = event.get("tid").and_then(Value::as_u64);
        let tid = tid.ok_or_else(|| missing("tid"))?;
        let threads = &mut self.threads;
        Ok(*self.places.entry(tid).or_insert_with(|| {
            threads.push(HostThread { name: tid.to_string(), ..HostThread::default() });
            threads.len() - 1
        }))
    }
}

impl HostThread {
    /// Closes this capture's parts of the open spans; the next capture continues them.
    fn cut(&mut self, until_ns: u64, done: &mut Vec<HostEvent>) {
        // Events that arrived while the capture was being closed are in it, too.
        let until_ns = until_ns.max(self.latest_ns);
        for entry in &mut self.open {
            let mut part = entry.clone();
            part.duration_ns = Some(until_ns.saturating_sub(part.start_ns));
            let inside = part.arguments.strip_prefix('{').unwrap_or("}");
            let comma = if inside == "}" { "" } else { "," };
            part.arguments = format!("{{\"open\":true{comma}{inside}");
            done.push(part);
            entry.start_ns = until_ns;
        }
        self.cut_ns = until_ns;
    }
}

/// Returns an event without a duration; takes the arguments out of the JSON object.
fn host_event(event: &mut Map<String, Value>, thread: usize, start_ns: u64) -> Result<HostEvent, String> {
    let mut arguments = match event.remove("args") {
        Some(Value::Object(arguments)) => arguments,
        _ => Map::new(),
    };
    if let (Some(Value::String(file)), Some(line)) = (event.get(".file"), event.get(".line")) {
        arguments.insert("site".to_owned(), format!("{file}:{line}").into());
    }
    Ok(HostEvent {
        name: text(event, "name")?,
        target: text(event, "cat")?,
        thread,
        start_ns,
        duration_ns: None,
        arguments: Value::Object(arguments).to_string(),
    })
}

fn text(event: &Map<String, Value>, key: &str) -> Result<String, String> {
    let value = event.get(key).and_then(Value::as_str);
    Ok(value.ok_or_else(|| missing(key))?.to_owned())
}

/// Returns the event's time in nanoseconds. The JSON has microseconds with a fraction.
fn time_ns(event: &Map<String, Value>) -> Result<u64, String> {
    let micros = event.get("ts").and_then(Value::as_f64);
    Ok((micros.ok_or_else(|| missing("ts"))? * 1000.0).round() as u64)
}

fn missing(key: &str) -> String {
    format!("an event without {key:?}")
}
