//! Writes a run as `FORMAT.md` describes, independently of the code under test.

use superscalar_traces::{Activity, ActivityKind, Hazard, LaneKind, Outcome, Plan, Task, Trace};

/// The choices that the format leaves open.
#[derive(Debug, Clone, Copy, Default)]
pub struct Form {
    /// `otherData` before the events.
    pub facts_first: bool,
    /// Every third task on an additional thread of its lane, `worker 3 (2)`.
    pub further_threads: bool,
    /// Every second hazard as an instant, without an arrow.
    pub hidden_hazards: bool,
    /// Arguments before the other fields of an event.
    pub arguments_first: bool,
}

/// Returns the text of a file that contains the whole run.
pub fn written(trace: &Trace, form: Form) -> String {
    let mut events = Vec::new();
    metadata(trace, form, &mut events);
    for (place, task) in trace.tasks.iter().enumerate() {
        let further = form.further_threads && place % 3 == 0;
        let thread = thread(trace, task.lane, further);
        events.push(event(form, "X", &format!("{thread},{}", slice("task", task)), &task_arguments(trace, task)));
        events.last_mut().unwrap().insert_str(1, &format!("\"name\":{},", json(&trace.kernels[task.kernel as usize])));
    }
    for activity in &trace.activities {
        let head = format!(
            "\"name\":{},{},\"cat\":\"{}\",\"ts\":{},\"dur\":{}",
            json(&trace.names[activity.name as usize]),
            thread(trace, activity.lane, false),
            category(activity.kind),
            micros(activity.start_ns),
            micros(activity.end_ns - activity.start_ns)
        );
        events.push(event(form, "X", &head, &activity_arguments(trace, activity)));
    }
    for plan in &trace.plans {
        let head = format!(
            "\"name\":{},{},\"cat\":\"plan\",\"ts\":{},\"dur\":{}",
            json(&trace.names[plan.name as usize]),
            thread(trace, 0, false),
            micros(plan.start_ns),
            micros(plan.predicted_ns)
        );
        events.push(event(form, "X", &head, &plan_arguments(trace, plan)));
    }
    hazards(trace, form, &mut events);
    for counter in &trace.counters {
        for &(at_ns, value) in &counter.samples {
            let head = format!("\"name\":{},\"pid\":1,\"ts\":{}", json(&counter.name), micros(at_ns));
            events.push(event(form, "C", &head, &format!("\"value\":{value:?}")));
        }
    }
    let events = format!("\"traceEvents\":[\n{}\n]", events.join(",\n"));
    let facts = facts(trace);
    let (first, second) = if form.facts_first { (&facts, &events) } else { (&events, &facts) };
    format!("{{\"displayTimeUnit\":\"ns\",{first},{second}}}\n")
}

fn event(form: Form, phase: &str, head: &str, arguments: &str) -> String {
    if form.arguments_first {
        format!("{{\"args\":{{{arguments}}},{head},\"ph\":\"{phase}\"}}")
    } else {
        format!("{{\"ph\":\"{phase}\",{head},\"args\":{{{arguments}}}}}")
    }
}

/// Writes the threads in reverse display order, which the sort indices give.
fn metadata(trace: &Trace, form: Form, events: &mut Vec<String>) {
    let mut shown: Vec<&str> = Vec::new();
    for (index, lane) in trace.lanes.iter().enumerate().rev() {
        let place = thread(trace, index as u32, false);
        if !shown.contains(&&*lane.process) {
            shown.push(&lane.process);
            let process = place.split(',').next().unwrap();
            let head = |what: &str| format!("\"name\":\"process_{what}\",{process}");
            events.push(event(form, "M", &head("name"), &format!("\"name\":{}", json(&lane.process))));
            events.push(event(form, "M", &head("sort_index"), &format!("\"sort_index\":{}", -(shown.len() as i64))));
        }
        for further in [false, true] {
            if further && !form.further_threads {
                continue;
            }
            let place = thread(trace, index as u32, further);
            let name = if further { format!("{} (2)", lane.name) } else { lane.name.clone() };
            let kind = match lane.kind {
                LaneKind::Worker => "worker",
                LaneKind::Queue => "queue",
                LaneKind::Link => "link",
                LaneKind::Host => "host",
            };
            let arguments = format!("\"kind\":\"{kind}\",\"name\":{}", json(&name));
            // A host thread has no additional threads.
            if !further || lane.kind != LaneKind::Host {
                events.push(event(form, "M", &format!("\"name\":\"thread_name\",{place}"), &arguments));
                let arguments = format!("\"sort_index\":{index}");
                events.push(event(form, "M", &format!("\"name\":\"thread_sort_index\",{place}"), &arguments));
            }
        }
    }
}

/// Returns the process and thread of a lane's slices. The process has the number of its first lane.
fn thread(trace: &Trace, lane: u32, further: bool) -> String {
    let lane = lane as usize;
    let process = trace.lanes.iter().position(|other| other.process == trace.lanes[lane].process).unwrap();
    let further = further && trace.lanes[lane].kind != LaneKind::Host;
    format!("\"pid\":{},\"tid\":{}", process + 2, 100 + 2 * lane + usize::from(further))
}

fn slice(category: &str, task: &Task) -> String {
    format!("\"cat\":\"{category}\",\"ts\":{},\"dur\":{}", micros(task.start_ns), micros(task.end_ns - task.start_ns))
}

fn task_arguments(trace: &Trace, task: &Task) -> String {
    let outcome = match task.outcome {
        Outcome::Completed => "completed",
        Outcome::Failed => "failed",
        Outcome::Panicked => "panicked",
        Outcome::Cancelled => "cancelled",
    };
    let mut text = format!("\"task\":{},\"outcome\":\"{outcome}\",\"priority\":{}", task.id, task.priority);
    if let Some(inserted_ns) = task.inserted_ns {
        text += &format!(",\"inserted\":{}", micros(inserted_ns));
    }
    if !task.index.as_slice().is_empty() {
        text += &format!(",\"index\":{:?}", task.index.as_slice());
    }
    if task.level > 0 {
        text += &format!(",\"BLAS level\":{}", task.level);
    }
    for (key, value) in [("flops", task.flops), ("bytes", task.bytes)] {
        if value > 0.0 {
            text += &format!(",\"{key}\":{value:?}");
        }
    }
    if let Some(site) = task.site {
        text += &format!(",\"site\":{}", json(&trace.sites[site as usize]));
    }
    text
}

fn category(kind: ActivityKind) -> &'static str {
    match kind {
        ActivityKind::Transfer => "transfer",
        ActivityKind::Eviction => "eviction",
        ActivityKind::Stall => "stall",
        ActivityKind::Allocation => "allocation",
        ActivityKind::Host => "my_program::setup",
    }
}

fn activity_arguments(trace: &Trace, activity: &Activity) -> String {
    let mut arguments = Vec::new();
    if activity.bytes > 0 {
        arguments.push(format!("\"bytes\":{}", activity.bytes));
    }
    if let Some(task) = activity.task {
        arguments.push(format!("\"task\":{task}"));
    }
    if let Some((from, to)) = activity.link {
        let name = |place: u32| json(&trace.names[place as usize]);
        arguments.push(format!("\"from\":{},\"to\":{}", name(from), name(to)));
    }
    arguments.join(",")
}

fn plan_arguments(trace: &Trace, plan: &Plan) -> String {
    let traffic = plan.traffic.iter().map(|&(link, bytes)| format!("{}:{bytes}", json(&trace.names[link as usize])));
    let traffic: Vec<String> = traffic.collect();
    let mut text = format!("\"tile\":{:?},\"bytes\":{{{}}}", plan.tile, traffic.join(","));
    if let Some(inserted_ns) = plan.inserted_ns {
        text += &format!(",\"inserted\":{}", micros(inserted_ns));
    }
    if let Some(site) = plan.site {
        text += &format!(",\"site\":{}", json(&trace.sites[site as usize]));
    }
    text
}

fn hazards(trace: &Trace, form: Form, events: &mut Vec<String>) {
    for (number, hazard) in trace.hazards.iter().enumerate() {
        let (from, to) = (&trace.tasks[hazard.from as usize], &trace.tasks[hazard.to as usize]);
        let kind = match hazard.kind {
            Hazard::RaW => "RaW",
            Hazard::WaR => "WaR",
            Hazard::WaW => "WaW",
        };
        let arguments = format!("\"from\":{},\"to\":{},\"datum\":{}", from.id, to.id, hazard.datum);
        let head = |task: &Task, more: &str| {
            let (place, at) = (thread(trace, task.lane, false), micros(task.start_ns));
            format!("\"cat\":\"hazard\",\"name\":\"{kind}\",{place},\"ts\":{at}{more}")
        };
        if form.hidden_hazards && number % 2 == 1 {
            events.push(event(form, "i", &head(to, ""), &arguments));
        } else {
            events.push(event(form, "s", &head(from, &format!(",\"id\":{number}")), &arguments));
            events.push(event(form, "f", &head(to, &format!(",\"id\":{number},\"bp\":\"e\"")), &arguments));
        }
    }
}

fn facts(trace: &Trace) -> String {
    let mut text = format!(
        "\"otherData\":{{\"records dropped\":{},\"hazards left out\":{}",
        trace.dropped, trace.hazards_left_out
    );
    if let Some(window) = trace.window {
        text += &format!(",\"window\":{window}");
    }
    for (key, value) in &trace.facts {
        // A number is written as a number; both forms are read alike.
        let is_number = value.parse().is_ok_and(|number: u64| number.to_string() == *value);
        let value = if is_number { value.clone() } else { json(value) };
        text += &format!(",{}:{value}", json(key));
    }
    text + "}"
}

fn micros(ns: u64) -> String {
    format!("{}.{:03}", ns / 1000, ns % 1000)
}

fn json(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
