//! Planned operations: what was predicted, and what happened.

use super::{
    ratio,
    table::{TextTable, ms, plural},
};
use crate::{ActivityKind, Hazard, Plan, Trace};
use serde::Serialize;
use std::{collections::BTreeMap, fmt};

/// The planned operations of a run, in the order of their begins.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Plans {
    /// One row for each.
    pub rows: Vec<PlanOutcome>,
}

/// A planned operation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlanOutcome {
    /// Its name.
    pub name: String,
    /// The program line that inserted its tasks; empty if the trace does not name it.
    pub site: String,
    /// When the insertion of its tasks began.
    pub start_ns: u64,
    /// How long it was predicted to take.
    pub predicted_ns: u64,
    /// How long it took: until its last task ended, and its results were on the host again if they belong there. `None`
    /// if none of its tasks is in the trace.
    pub measured_ns: Option<u64>,
    /// The bytes over each link, in the order of the links' names; empty without `measured_ns`.
    pub links: Vec<PlannedTraffic>,
}

/// The bytes over one link.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlannedTraffic {
    /// The name of the link's transfers, such as `host to cuda:0`.
    pub link: String,
    /// The predicted bytes.
    pub planned_bytes: u64,
    /// The bytes of the transfers that began during the operation; those of other operations at that time are included.
    pub moved_bytes: u64,
}

/// The name of the tasks by which the runtime brings values back to the host when a scope ends.
const RETURN: &str = "return";

impl Plans {
    pub(super) fn new(trace: &Trace) -> Self {
        let name = |of: &[String], place: u32| of.get(place as usize).cloned().unwrap_or_default();
        let row = |(plan, end_ns): (&Plan, Option<u64>)| PlanOutcome {
            name: name(&trace.names, plan.name),
            site: plan.site.map_or(String::new(), |site| name(&trace.sites, site)),
            start_ns: plan.start_ns,
            predicted_ns: plan.predicted_ns,
            measured_ns: end_ns.map(|end_ns| end_ns.saturating_sub(plan.start_ns)),
            links: end_ns.map_or(Vec::new(), |end_ns| links(trace, plan, end_ns)),
        };
        Self { rows: trace.plans.iter().zip(ends(trace)).map(row).collect() }
    }
}

/// Returns when each planned operation ended: its last task, or the return of its last result to the host.
fn ends(trace: &Trace) -> Vec<Option<u64>> {
    let mut ends = vec![None; trace.plans.len()];
    if trace.plans.is_empty() {
        return ends;
    }
    let inserted = trace.tasks.iter().enumerate();
    let inserted = inserted.filter_map(|(place, task)| Some((task.site?, task.inserted_ns?, place)));
    let mut inserted: Vec<(u32, u64, usize)> = inserted.collect();
    inserted.sort_unstable();
    let mut plan_of = vec![None; trace.tasks.len()];
    for (number, plan) in trace.plans.iter().enumerate() {
        let (Some(site), Some(until_ns)) = (plan.site, plan.inserted_ns) else { continue };
        let from = inserted.partition_point(|&(of, at_ns, _)| (of, at_ns) < (site, plan.start_ns));
        let its = inserted[from..].iter().take_while(|&&(of, at_ns, _)| (of, at_ns) <= (site, until_ns));
        for &(.., place) in its {
            plan_of[place] = Some(number);
            ends[number] = ends[number].max(Some(trace.tasks[place].end_ns));
        }
    }
    let returns = trace.kernels.iter().position(|name| name == RETURN);
    for hazard in trace.hazards.iter().filter(|hazard| hazard.kind == Hazard::RaW) {
        let (from, to) = (plan_of.get(hazard.from as usize), trace.tasks.get(hazard.to as usize));
        if let (Some(&Some(number)), Some(to)) = (from, to)
            && returns == Some(to.kernel as usize)
        {
            ends[number] = ends[number].max(Some(to.end_ns));
        }
    }
    ends
}

fn links(trace: &Trace, plan: &Plan, end_ns: u64) -> Vec<PlannedTraffic> {
    let mut bytes: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    let name = |place: u32| trace.names.get(place as usize).map_or("", String::as_str);
    for &(link, planned) in &plan.traffic {
        let sum = &mut bytes.entry(name(link)).or_default().0;
        *sum = sum.saturating_add(planned);
    }
    let from = trace.activities.partition_point(|activity| activity.start_ns < plan.start_ns);
    let during = trace.activities[from..].iter().take_while(|activity| activity.start_ns < end_ns);
    for transfer in during.filter(|activity| activity.kind == ActivityKind::Transfer) {
        let sum = &mut bytes.entry(name(transfer.name)).or_default().1;
        *sum = sum.saturating_add(transfer.bytes);
    }
    let row = |(link, (planned_bytes, moved_bytes)): (&str, (u64, u64))| PlannedTraffic {
        link: link.to_owned(),
        planned_bytes,
        moved_bytes,
    };
    bytes.into_iter().map(row).collect()
}

impl PlanOutcome {
    /// Returns the measured time divided by the predicted one.
    pub fn ratio(&self) -> Option<f64> {
        self.measured_ns.map(|measured_ns| ratio(measured_ns as f64, self.predicted_ns as f64))
    }

    /// Returns whether the bytes over each link were the predicted ones.
    pub fn has_planned_traffic(&self) -> bool {
        self.links.iter().all(|link| link.moved_bytes == link.planned_bytes)
    }

    /// Adds its row to a table, and a row for each link with other bytes than predicted.
    fn add_to(&self, table: &mut TextTable) {
        let file = self.site.rsplit(['/', '\\']).next().unwrap_or_default();
        let (measured, ratio) = (self.measured_ns.map(ms), self.ratio().map(|ratio| format!("{ratio:.2}")));
        let [measured, ratio] = [measured, ratio].map(Option::unwrap_or_default);
        let bytes = match self.measured_ns {
            None => "its tasks are not in the trace",
            Some(_) if self.has_planned_traffic() => "as planned",
            Some(_) => "not as planned",
        };
        table.row([format!("{} {file}", self.name), ms(self.predicted_ns), measured, ratio, bytes.to_owned()]);
        for link in self.links.iter().filter(|link| link.moved_bytes != link.planned_bytes) {
            let (name, bytes) = (format!("  {}", link.link), format!("{} of {}", link.moved_bytes, link.planned_bytes));
            table.row([name, String::new(), String::new(), String::new(), bytes]);
        }
    }
}

/// The number of planned operations that the table lists.
const LISTED_MAX: usize = 5;

/// Writes a table of the last planned operations.
impl fmt::Display for Plans {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (all, listed) = (self.rows.len(), self.rows.len().min(LISTED_MAX));
        let which = if listed < all { format!(", of which these are the last {listed}") } else { String::new() };
        writeln!(out, "{}{which}", plural(all, "planned operation"))?;
        let mut table = TextTable::new(&["operation", "predicted ms", "measured ms", "ratio", "bytes<"]);
        self.rows[all - listed..].iter().for_each(|row| row.add_to(&mut table));
        table.fmt(out)
    }
}
