//! Plans as recordings, so that the tools for traces show and compare them.

use super::{Place, PlanStep, ProductPlan, fabric::HOST, fabric::Hop};
use std::{collections::HashMap, panic::Location};
use superscalar_runtime::{
    BlasLevel, Runtime, TaskId, TileIndex,
    recording::{
        Activity, ActivityKind, Hazard, HazardRecord, Lane, LaneKind, NodeId, Outcome, Prediction, Recording, Span,
        TaskRecord,
    },
};

/// The lanes of a device: those of a run, with one queue for products and one for additions.
const LANES: [&str; 5] = ["queue 0", "queue 1", "copies in", "copies out", "copies from peers"];

/// Returns the lane of a copy.
fn lane_of(hop: &Hop) -> u32 {
    let (device, lane) = match (hop.from, hop.to) {
        (HOST, to) => (to - 1, 2),
        (from, HOST) => (from - 1, 3),
        (_, to) => (to - 1, 4),
    };
    (device * LANES.len() + lane) as u32
}

fn node(place: Place) -> NodeId {
    NodeId(place as u32)
}

/// Returns what the recording of a run says about the plan.
pub(super) fn prediction(plan: &ProductPlan, name: &'static str) -> Prediction {
    let traffic = plan.traffic.iter().map(|&(from, to, bytes)| (node(from), node(to), bytes));
    let tile = plan.tile.map(|len| len as u64).into();
    Prediction { name, time_ns: plan.end_ns as u64, tile, traffic: traffic.collect() }
}

fn transfer(hop: &Hop, bytes: usize) -> Activity {
    let kind = ActivityKind::Transfer { from: node(hop.from), to: node(hop.to), bytes: bytes as u64 };
    let (start_ns, end_ns) = (hop.begin as u64, hop.end as u64);
    Activity { kind, lane: lane_of(hop), start_ns, end_ns, task: None, datum: None }
}

/// Returns what a run would record that kept to the plan.
#[track_caller]
pub(super) fn recording(plan: &ProductPlan, rt: &Runtime) -> Recording {
    let names: Vec<String> = rt.devices().into_iter().map(|device| device.name).collect();
    let lane = |name: &str, of: &String| Lane { name: name.into(), kind: LaneKind::Queue, process: of.clone() };
    let mut recording = Recording {
        lanes: names.iter().flat_map(|of| LANES.map(|name| lane(name, of))).collect(),
        nodes: ["host".to_owned()].into_iter().chain(names.iter().cloned()).collect(),
        policy: Some("planned".to_owned()),
        ..Recording::default()
    };
    let site = Location::caller();
    let mut last: HashMap<(usize, usize), TaskId> = HashMap::new();
    for (at, step) in plan.steps.iter().enumerate() {
        let (name, (i, j), index, (device, queue), times) = match step {
            PlanStep::Fetch { hops, bytes, .. } => {
                recording.activities.extend(hops.iter().map(|hop| transfer(hop, *bytes)));
                continue;
            }
            PlanStep::Return { hop, bytes, .. } => {
                recording.activities.push(transfer(hop, *bytes));
                continue;
            }
            PlanStep::Multiply { device, tile, step, begin, end } => ("gemm", *tile, *step, (device, 0), (begin, end)),
            PlanStep::Add { device, tile, begin, end } => ("geadd", *tile, 0, (device, 1), (begin, end)),
        };
        let id = TaskId(at as u64 + 1);
        recording.tasks.push(TaskRecord {
            id,
            name,
            site,
            inserted_ns: 0,
            priority: 0,
            level: (name == "gemm").then_some(BlasLevel::Three),
            index: TileIndex::from([i as u32, j as u32, index as u32]),
            flops: 0.0,
            bytes: 0.0,
        });
        let lane = (device * LANES.len() + queue) as u32;
        let (start_ns, end_ns) = (*times.0 as u64, *times.1 as u64);
        recording.spans.push(Span { task: id, lane, start_ns, end_ns, outcome: Outcome::Completed });
        if let Some(from) = last.insert((i, j), id) {
            // C's tiles are numbered from one, column by column.
            let datum = (1 + i + j * plan.rows_of_tiles) as u32;
            recording.hazards.push(HazardRecord { from, to: id, hazard: Hazard::RaW, datum });
        }
    }
    recording
}
