//! Any run that is written as `FORMAT.md` describes and read again is unchanged, and the reader accepts exactly valid
//! JSON.

mod written;

use proptest::collection::{btree_set, vec};
use proptest::prelude::*;
use superscalar_traces::read::ReadOptions;
use superscalar_traces::{
    Activity, ActivityKind, Counter, Hazard, HazardEdge, Lane, LaneKind, Outcome, Plan, Task, TileIndex, Trace,
};
use written::{Form, written};

/// Times of a clock that began at zero, or of a present-day clock.
fn moment() -> impl Strategy<Value = u64> {
    prop_oneof![0..50_000_u64, any::<u64>().prop_map(|ns| ns >> 1)]
}

/// Any text except names of additional threads.
fn name() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z]{1,4}", "\\PC{0,6}", Just("a \"quoted\" \\ text\n\u{1}".to_owned())]
}

fn lanes() -> impl Strategy<Value = Vec<Lane>> {
    const KINDS: &[LaneKind] = &[LaneKind::Worker, LaneKind::Queue, LaneKind::Link, LaneKind::Host];
    let processes = vec(vec(prop::sample::select(KINDS), 1..4), 1..4);
    processes.prop_map(|processes| {
        let mut lanes = Vec::new();
        for (place, kinds) in processes.into_iter().enumerate() {
            for (number, kind) in kinds.into_iter().enumerate() {
                lanes.push(Lane { name: format!("lane {number}"), process: format!("group {place}"), kind });
            }
        }
        lanes
    })
}

prop_compose! {
    fn task()(
        start_ns in moment(),
        length_ns in 0..9999_u64,
        inserted_ns in prop::option::of(moment()),
        (lane, kernel, site) in (any::<u32>(), 0..4_u32, prop::option::of(0..3_u32)),
        priority: i32,
        index in vec(any::<u32>(), 0..=3),
        outcome in prop::sample::select(
            &[Outcome::Completed, Outcome::Failed, Outcome::Panicked, Outcome::Cancelled][..]
        ),
        level in 0..=3_u8,
        (flops, bytes) in (prop_oneof![Just(0.0), 0.0..1e300], prop_oneof![Just(0.0), Just(1843200.0), 0.0..1e18]),
    ) -> Task {
        let index = TileIndex::new(&index).unwrap();
        let end_ns = start_ns + length_ns;
        Task { id: 0, kernel, site, lane, start_ns, end_ns, inserted_ns, priority, index, outcome, level, flops, bytes }
    }
}

prop_compose! {
    fn activity()(
        kind in prop::sample::select(&[
            ActivityKind::Transfer,
            ActivityKind::Eviction,
            ActivityKind::Stall,
            ActivityKind::Allocation,
            ActivityKind::Host,
        ][..]),
        (name, lane) in (0..6_u32, any::<u32>()),
        (start_ns, length_ns) in (moment(), 0..9999_u64),
        bytes: u64,
        link in prop::option::of((0..6_u32, 0..6_u32)),
        task in prop::option::of(any::<u64>()),
    ) -> Activity {
        let is_host = kind == ActivityKind::Host;
        let bytes = if is_host { 0 } else { bytes };
        let (task, link) = (task.filter(|_| !is_host), link.filter(|_| kind == ActivityKind::Transfer));
        Activity { kind, name, lane, start_ns, end_ns: start_ns + length_ns, bytes, link, task }
    }
}

prop_compose! {
    fn plan()(
        (name, site) in (0..6_u32, prop::option::of(0..3_u32)),
        (start_ns, predicted_ns, inserted_ns) in (moment(), 0..9999_u64, prop::option::of(moment())),
        tile in vec(any::<u64>(), 0..4),
        traffic in vec((0..6_u32, any::<u64>()), 0..4),
    ) -> Plan {
        Plan { name, site, start_ns, inserted_ns, predicted_ns, tile, traffic }
    }
}

prop_compose! {
    fn run()(
        lanes in lanes(),
        mut tasks in vec(task(), 0..20),
        ids in btree_set(any::<u64>(), 20),
        near in any::<bool>(),
        mut activities in vec(activity(), 0..12),
        mut plans in vec(plan(), 0..4),
        hazards in vec((any::<u32>(), any::<u32>(), 0..3_usize, any::<u32>()), 0..20),
        counters in vec(vec((moment(), -1e9..1e9_f64), 1..6), 0..4),
        (words, facts) in (btree_set(name(), 9), vec((name(), name()), 0..4)),
        (window, dropped, hazards_left_out) in (prop::option::of(any::<u64>()), any::<u64>(), any::<u64>()),
    ) -> Trace {
        let words: Vec<String> = words.into_iter().collect();
        // Ids with gaps, and ids without.
        let ids: Vec<u64> = if near { (0..20).collect() } else { ids.into_iter().collect() };
        for (task, id) in tasks.iter_mut().zip(ids) {
            (task.id, task.lane) = (id, task.lane % lanes.len() as u32);
        }
        for activity in &mut activities {
            activity.lane %= lanes.len() as u32;
        }
        tasks.sort_by_key(|task| (task.start_ns, task.id));
        plans.sort_by_key(|plan| plan.start_ns);
        let mut trace =
            Trace { lanes, tasks, activities, plans, window, dropped, hazards_left_out, ..Trace::default() };
        number_names(&mut trace, &words);
        let count = trace.tasks.len() as u32;
        for (from, to, kind, datum) in hazards.into_iter().filter(|_| count > 0) {
            let kind = [Hazard::RaW, Hazard::WaR, Hazard::WaW][kind];
            trace.hazards.push(HazardEdge { from: from % count, to: to % count, kind, datum });
        }
        trace.hazards.sort_by_key(|hazard| (hazard.to, hazard.from, hazard.kind, hazard.datum));
        for (mut samples, word) in counters.into_iter().zip(words) {
            samples.sort_by_key(|&(at_ns, _)| at_ns);
            trace.counters.push(Counter { name: format!("count {word}"), samples });
        }
        trace.facts = facts.into_iter().map(|(key, value)| (format!("my {key}"), value)).collect();
        trace
    }
}

/// Numbers kernels, sites and other names in the order of the file.
fn number_names(trace: &mut Trace, words: &[String]) {
    fn place(names: &mut Vec<String>, word: &str) -> u32 {
        let known = names.iter().position(|name| name == word);
        known.unwrap_or_else(|| {
            names.push(word.to_owned());
            names.len() - 1
        }) as u32
    }
    for task in &mut trace.tasks {
        task.kernel = place(&mut trace.kernels, &words[task.kernel as usize]);
        task.site = task.site.map(|site| place(&mut trace.sites, &words[site as usize]));
    }
    sort(&mut trace.activities);
    for activity in &mut trace.activities {
        activity.name = place(&mut trace.names, &words[activity.name as usize]);
        activity.link = activity.link.map(|(from, to)| {
            (place(&mut trace.names, &words[from as usize]), place(&mut trace.names, &words[to as usize]))
        });
    }
    for plan in &mut trace.plans {
        plan.name = place(&mut trace.names, &words[plan.name as usize]);
        plan.site = plan.site.map(|site| place(&mut trace.sites, &words[site as usize]));
        for (link, _) in &mut plan.traffic {
            *link = place(&mut trace.names, &words[*link as usize]);
        }
    }
}

/// Sorts by all fields, because the model only requires ascending starts.
fn sort(activities: &mut [Activity]) {
    activities.sort_by_key(|activity| {
        let Activity { start_ns, end_ns, lane, name, bytes, task, link, kind } = *activity;
        (start_ns, end_ns, lane, name, bytes, task, link, kind as u8)
    });
}

proptest! {
    #[test]
    fn written_runs_are_read_back(
        mut trace in run(),
        (facts_first, further_threads, hidden_hazards, arguments_first) in any::<(bool, bool, bool, bool)>(),
    ) {
        let form = Form { facts_first, further_threads, hidden_hazards, arguments_first };
        let text = written(&trace, form);
        serde_json::from_str::<serde::de::IgnoredAny>(&text).expect("the test writes JSON");
        let fail = |error| TestCaseError::fail(format!("{error}\n{text}"));
        let mut reading = ReadOptions::default().read(text.as_bytes()).map_err(fail)?;
        prop_assert!(reading.trace.activities.is_sorted_by_key(|activity| activity.start_ns));
        // The slices of plans are also activities.
        for &Plan { name, start_ns, predicted_ns, .. } in &trace.plans {
            let (kind, lane, end_ns) = (ActivityKind::Host, 0, start_ns + predicted_ns);
            trace.activities.push(Activity { kind, name, lane, start_ns, end_ns, bytes: 0, link: None, task: None });
        }
        sort(&mut reading.trace.activities);
        sort(&mut trace.activities);
        prop_assert_eq!(reading.trace, trace, "{}", text);
    }

    #[test]
    fn accepts_the_same_json_as_serde_json(value in json(), cut in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let texts = [value.clone(), {
            let mut bytes = value.clone().into_bytes();
            let at = cut.index(bytes.len());
            bytes[at] = byte;
            String::from_utf8_lossy(&bytes).into_owned()
        }];
        for text in texts {
            // As an argument, which the event parser skips, and outside the events, where values are skipped in steps.
            let inside = format!("[{{\"ph\":\"M\",\"args\":{{\"x\":{text}}}}}]");
            let outside = format!("{{\"x\":{text},\"traceEvents\":[]}}");
            for file in [inside, outside] {
                let is_json = serde_json::from_str::<serde::de::IgnoredAny>(&file).is_ok();
                let read = Trace::read(file.as_bytes());
                prop_assert_eq!(read.is_ok(), is_json, "{} {:?}", file, read);
            }
        }
    }
}

/// A JSON value with every construct, and with white space.
fn json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        Just("false".to_owned()),
        any::<f64>().prop_filter("JSON has no NaN", |value| value.is_finite()).prop_map(|value| format!("{value:e}")),
        "-?(0|[1-9][0-9]{0,3})(\\.[0-9]{1,3})?([eE][-+]?[0-9]{1,2})?",
        "\"([a-z {}\\[\\],:]|\\\\[\"\\\\/bfnrt]|\\\\u[0-9a-fA-F]{4}|é|世|😀){0,6}\"",
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(|list| format!("[ {}\t]", list.join(" ,"))),
            vec(inner, 0..4).prop_map(|list| {
                let members: Vec<String> =
                    list.iter().enumerate().map(|(n, value)| format!("\"k{n}\" :\n{value}")).collect();
                format!("{{{}\r}}", members.join(", "))
            }),
        ]
    })
}
