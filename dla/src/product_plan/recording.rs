//! Plans as recordings, so that the tools for traces show and compare them.

use super::{Place, PlanStep, ProductPlan, fabric::HOST, fabric::Hop};
use std::{collections::HashMap, panic::Location};
use superscalar_runtime::{
    BlasLevel, Runtime, TaskId, TileIndex,
    recording::{
        Activity, ActivityKind, Hazard, HazardRecord, Lane, LaneKind, NodeId, Outcome, Recording, Span, TaskRecord,
    },
};

/// The lanes of a device: those of a run, with one queue for tasks.
const LANES: [&str; 4] = ["queue 0", "copies in", "copies out", "copies from peers"];

/// Returns the lane of a copy.
fn lane_of(hop: &Hop) -> u32 {
    let (device, lane) = match (hop.from, hop.to) {
        (HOST, to) => (to - 1, 1),
        (from, HOST) => (from - 1, 2),
        (_, to) => (to - 1, 3),
    };
    (device * LANES.len() + lane) as u32
}

fn transfer(hop: &Hop, bytes: usize) -> Activity {
    let node = |place: Place| NodeId(place as u32);
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
        match step {
            PlanStep::Fetch { hops, bytes, .. } => {
                recording.activities.extend(hops.iter().map(|hop| transfer(hop, *bytes)));
            }
            PlanStep::Return { hop, bytes, .. } => recording.activities.push(transfer(hop, *bytes)),
            PlanStep::Multiply { device, tile: (i, j), step, begin, end } => {
                let id = TaskId(at as u64 + 1);
                recording.tasks.push(TaskRecord {
                    id,
                    name: "gemm",
                    site,
                    inserted_ns: 0,
                    priority: 0,
                    level: Some(BlasLevel::Three),
                    index: TileIndex::from([*i as u32, *j as u32, *step as u32]),
                    flops: 0.0,
                    bytes: 0.0,
                });
                let (lane, outcome) = ((device * LANES.len()) as u32, Outcome::Completed);
                recording.spans.push(Span { task: id, lane, start_ns: *begin as u64, end_ns: *end as u64, outcome });
                if let Some(from) = last.insert((*i, *j), id) {
                    // C's tiles are numbered from one, column by column.
                    let datum = (1 + i + j * plan.rows_of_tiles) as u32;
                    recording.hazards.push(HazardRecord { from, to: id, hazard: Hazard::RaW, datum });
                }
            }
        }
    }
    recording
}
