//! Hand-made and random recordings.

use proptest::prelude::*;
use std::panic::Location;
use superscalar_recording::*;

/// Names that need escaping.
pub const NAMES: [&str; 6] =
    ["gemm", "potrf", "", "a \"quoted\" back\\slash", "new\nline\tand \u{1}", "ünï → 😀 </script>"];

#[track_caller]
pub fn task(id: u64, name: &'static str, index: TileIndex) -> TaskRecord {
    TaskRecord {
        id: TaskId(id),
        name,
        site: Location::caller(),
        inserted_ns: 0,
        priority: 0,
        level: None,
        index,
        flops: 0.0,
        bytes: 0.0,
    }
}

pub fn hazard(from: u64, to: u64, hazard: Hazard) -> HazardRecord {
    HazardRecord { from: TaskId(from), to: TaskId(to), hazard, datum: 0 }
}

pub fn span(task: u64, lane: u32, start_ns: u64, end_ns: u64) -> Span {
    Span { task: TaskId(task), lane, start_ns, end_ns, outcome: Outcome::Completed }
}

pub fn workers(count: usize) -> Vec<Lane> {
    (0..count)
        .map(|number| Lane { name: format!("worker {number}"), kind: LaneKind::Worker, process: "workers".to_owned() })
        .collect()
}

pub fn any_hazard() -> impl Strategy<Value = Hazard> {
    prop_oneof![Just(Hazard::RaW), Just(Hazard::WaR), Just(Hazard::WaW)]
}

fn any_task(id: u64) -> impl Strategy<Value = TaskRecord> {
    let index = prop_oneof![
        Just(TileIndex::NONE),
        any::<u32>().prop_map(TileIndex::from),
        any::<[u32; 2]>().prop_map(TileIndex::from),
        any::<[u32; 3]>().prop_map(TileIndex::from),
    ];
    let level = prop::sample::select(vec![None, Some(BlasLevel::One), Some(BlasLevel::Two), Some(BlasLevel::Three)]);
    let amount = prop_oneof![any::<f64>(), Just(0.0), Just(f64::NAN), Just(f64::INFINITY), Just(2e9), Just(0.1)];
    (prop::sample::select(NAMES.to_vec()), index, level, any::<i32>(), amount.clone(), amount, 0..300_u64).prop_map(
        move |(name, index, level, priority, flops, bytes, inserted_ns)| TaskRecord {
            inserted_ns,
            priority,
            level,
            flops,
            bytes,
            ..task(id, name, index)
        },
    )
}

fn any_span(lanes: u32) -> impl Strategy<Value = Span> {
    let outcome =
        prop::sample::select(vec![Outcome::Completed, Outcome::Failed, Outcome::Panicked, Outcome::Cancelled]);
    let length = prop_oneof![0..4_u64, 0..60_u64];
    (0..40_u64, 0..lanes, 0..200_u64, length, outcome).prop_map(|(task, lane, start_ns, length_ns, outcome)| Span {
        outcome,
        ..span(task, lane, start_ns, start_ns + length_ns)
    })
}

/// An activity of the nodes 0 to 3, of which the last has no name.
fn any_activity(lanes: u32) -> impl Strategy<Value = Activity> {
    let node = || (0..4_u32).prop_map(NodeId);
    let kind = prop_oneof![
        (node(), node(), any::<u64>()).prop_map(|(from, to, bytes)| ActivityKind::Transfer { from, to, bytes }),
        (node(), any::<u64>()).prop_map(|(node, bytes)| ActivityKind::Eviction { node, bytes }),
        (node(), any::<u64>()).prop_map(|(node, bytes)| ActivityKind::Allocation { node, bytes }),
        prop::sample::select(vec![Stall::Data, Stall::WindowFull, Stall::MemoryFull]).prop_map(ActivityKind::Stall),
    ];
    let task = prop::option::of((0..40_u64).prop_map(TaskId));
    (kind, 0..lanes, 0..200_u64, 0..60_u64, task, prop::option::of(any::<u32>())).prop_map(
        |(kind, lane, start_ns, length_ns, task, datum)| {
            let end_ns = start_ns + length_ns;
            Activity { kind, lane, start_ns, end_ns, task, datum }
        },
    )
}

/// A plan with traffic between the nodes 0 to 3.
fn any_plan(lanes: u32) -> impl Strategy<Value = PlanRecord> {
    let node = || (0..4_u32).prop_map(NodeId);
    let traffic = prop::collection::vec((node(), node(), any::<u64>()), 0..4);
    let prediction =
        (prop::sample::select(NAMES.to_vec()), 0..60_u64, prop::collection::vec(any::<u64>(), 0..4), traffic)
            .prop_map(|(name, time_ns, tile, traffic)| Prediction { name, time_ns, tile, traffic });
    (prediction, 0..lanes, 0..200_u64, 0..300_u64).prop_map(|(prediction, lane, start_ns, inserted_ns)| PlanRecord {
        prediction,
        site: Location::caller(),
        lane,
        start_ns,
        inserted_ns,
    })
}

fn any_counter() -> impl Strategy<Value = Counter> {
    let (from, to) = (NodeId(0), NodeId(1));
    let counters =
        vec![Counter::ReadyTasks, Counter::WindowTasks, Counter::LinkBytes { from, to }, Counter::NodeBytes(to)];
    prop::sample::select(counters)
}

prop_compose! {
    /// Anything that the types allow: crossing and empty spans, any number of spans for a task, spans and hazards of
    /// tasks without a record, hazards that point back in time.
    pub fn any_recording()(lanes in 1..4_u32)(
        lanes in Just(lanes),
        tasks in (0..30_u64).prop_map(|count| (0..count).map(any_task).collect::<Vec<_>>())
            .prop_flat_map(|tasks| tasks),
        hazards in prop::collection::vec((0..40_u64, 0..40_u64, any_hazard()), 0..60),
        spans in prop::collection::vec(any_span(lanes), 0..60),
        activities in prop::collection::vec(any_activity(lanes), 0..20),
        plans in prop::collection::vec(any_plan(lanes), 0..4),
        samples in prop::collection::vec((any_counter(), 0..300_u64, any::<u64>()), 0..20),
        dropped in any::<u64>(),
    ) -> Recording {
        let queue = Lane {
            name: "queue \"0\"".to_owned(),
            kind: LaneKind::Queue,
            process: "device\\0".to_owned(),
        };
        let mut all_lanes = workers(lanes as usize - 1);
        all_lanes.push(queue);
        Recording {
            lanes: all_lanes,
            tasks,
            hazards: hazards.into_iter().map(|(from, to, why)| hazard(from, to, why)).collect(),
            spans,
            activities,
            plans,
            nodes: ["host", "cuda:0", "a \"node\""].map(str::to_owned).into(),
            counters: samples
                .into_iter()
                .map(|(counter, at_ns, value)| CounterSample { counter, at_ns, value })
                .collect(),
            dropped,
            whole_from_ns: 7,
            window: Some(99),
            workers: Some(2),
            policy: Some("a \"policy\"".to_owned()),
            notices: vec!["a \"notice\"".to_owned()],
        }
    }
}

prop_compose! {
    /// A recording of a correct runtime: each task runs once, on a free lane, after its predecessors. Numbers start
    /// anywhere.
    pub fn any_run(tasks_max: usize)(
        first in prop_oneof![Just(0_u64), any::<u32>().prop_map(u64::from)],
        steps in prop::collection::vec(
            (prop::collection::vec((any::<prop::sample::Index>(), any_hazard()), 0..4),
             0..3_u32, 2..2000_u64, 0..50_u64),
            0..tasks_max,
        ),
    ) -> Recording {
        let mut run = Recording { lanes: workers(3), ..Recording::default() };
        let mut free_ns = [0_u64; 3];
        for (nth, (predecessors, lane, length_ns, gap_ns)) in steps.into_iter().enumerate() {
            let id = first + nth as u64;
            let mut start_ns = free_ns[lane as usize];
            for (which, why) in predecessors {
                if nth > 0 {
                    let earlier = which.index(nth);
                    start_ns = start_ns.max(run.spans[earlier].end_ns);
                    run.hazards.push(hazard(first + earlier as u64, id, why));
                }
            }
            start_ns += gap_ns;
            free_ns[lane as usize] = start_ns + length_ns;
            run.tasks.push(task(id, NAMES[nth % NAMES.len()], TileIndex::from(nth as u32)));
            run.spans.push(span(id, lane, start_ns, start_ns + length_ns));
        }
        run
    }
}
