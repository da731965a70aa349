//! Two runs side by side: what became slower.

use super::{
    Analysis,
    gaps::Reason,
    kernels::KernelTime,
    ratio,
    table::{TextTable, bytes, ms, us},
};
use serde::Serialize;
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

/// Two runs, `a` and `b`. Differences are `b - a`, ratios `b / a`.
///
/// The total time of all lanes of a run (makespan times lanes) is spent in the tasks of some kernel or idle for some
/// reason. Its growth from `a` to `b` is therefore the sum of the growths of these parts: the `causes`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// The makespans.
    pub wall_ns: Pair,
    /// The time in tasks.
    pub work_ns: Pair,
    /// The critical paths.
    pub path_ns: Pair,
    /// Bytes moved between memory nodes.
    pub moved_bytes: Pair,
    /// The lanes that run tasks.
    pub lanes: Pair,
    /// The tasks.
    pub tasks: Pair,
    /// Every lane of either run that runs tasks, by name.
    pub rows: Vec<LanePair>,
    /// Every kernel of either run; the one whose time grew most comes first.
    pub kernels: Vec<KernelPair>,
    /// Every reason for idle time in either run; the one whose time grew most comes first.
    pub idle: Vec<IdlePair>,
    /// The parts of the difference in the lanes' time (tasks by kernel, idle time by reason); the largest growth comes
    /// first.
    pub causes: Vec<Cause>,
}

/// One quantity in both runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Pair {
    /// The value in run `a`.
    pub a: f64,
    /// The value in run `b`.
    pub b: f64,
}

/// One lane in both runs.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct LanePair {
    /// Its name.
    pub name: String,
    /// The time in tasks.
    pub busy_ns: Pair,
    /// The time of communication that did not overlap with tasks.
    pub communication_ns: Pair,
    /// The remaining time.
    pub other_ns: Pair,
}

/// One kernel in both runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KernelPair {
    /// Its name.
    pub name: String,
    /// The number of its tasks.
    pub tasks: Pair,
    /// The total time of its tasks.
    pub total_ns: Pair,
    /// The median of a task's time.
    pub median_ns: Pair,
}

/// One reason in both runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct IdlePair {
    /// The reason.
    pub reason: Reason,
    /// The idle time with this reason, over all lanes.
    pub time_ns: Pair,
}

/// A kernel or an idle reason whose time differs between the runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cause {
    /// The kernel, or `idle: ` and the reason.
    pub name: String,
    /// The growth of its time from `a` to `b`.
    pub growth_ns: f64,
}

impl Pair {
    /// Returns `b / a`, or `None` if `a` is zero.
    pub fn ratio(&self) -> Option<f64> {
        (self.a > 0.0).then(|| self.b / self.a)
    }

    /// Returns `b - a`.
    pub fn growth(&self) -> f64 {
        self.b - self.a
    }
}

impl Comparison {
    /// Compares two runs.
    pub fn new(a: &Analysis, b: &Analysis) -> Self {
        let pair = |quantity: &dyn Fn(&Analysis) -> f64| Pair { a: quantity(a), b: quantity(b) };
        let kernels = kernels(a, b);
        let reason = |reason| IdlePair { reason, time_ns: pair(&|run| run.gaps.time_ns(reason) as f64) };
        let mut idle: Vec<IdlePair> = Reason::ALL.into_iter().map(reason).collect();
        idle.retain(|row| row.time_ns != Pair::default());
        idle.sort_by(|one, other| other.time_ns.growth().total_cmp(&one.time_ns.growth()));
        let of_kernels = kernels.iter().map(|row| Cause { name: row.name.clone(), growth_ns: row.total_ns.growth() });
        let of_reasons = idle
            .iter()
            .map(|row| Cause { name: format!("idle: {}", row.reason.name()), growth_ns: row.time_ns.growth() });
        let mut causes: Vec<Cause> = of_kernels.chain(of_reasons).collect();
        causes.sort_by(|one, other| other.growth_ns.total_cmp(&one.growth_ns));
        Self {
            wall_ns: pair(&|run| run.overview.wall_ns as f64),
            work_ns: pair(&|run| run.overview.work_ns as f64),
            path_ns: pair(&|run| run.path.length_ns as f64),
            moved_bytes: pair(&|run| run.links.moved_bytes() as f64),
            lanes: pair(&|run| run.overview.lanes as f64),
            tasks: pair(&|run| run.overview.tasks as f64),
            rows: lanes(a, b),
            kernels,
            idle,
            causes,
        }
    }
}

/// Pairs the lanes of both runs by name. Lanes with the same name are added up.
fn lanes(a: &Analysis, b: &Analysis) -> Vec<LanePair> {
    let mut rows: Vec<LanePair> = Vec::new();
    let mut places = BTreeMap::new();
    for (run, is_a) in [(a, true), (b, false)] {
        for lane in &run.lanes.rows {
            let place = *places.entry(lane.name.as_str()).or_insert(rows.len());
            if place == rows.len() {
                rows.push(LanePair { name: lane.name.clone(), ..LanePair::default() });
            }
            let row = &mut rows[place];
            let parts = [&mut row.busy_ns, &mut row.communication_ns, &mut row.other_ns];
            for (pair, part_ns) in parts.into_iter().zip([lane.busy_ns, lane.communication_ns, lane.other_ns]) {
                *(if is_a { &mut pair.a } else { &mut pair.b }) += part_ns as f64;
            }
        }
    }
    rows
}

fn kernels(a: &Analysis, b: &Analysis) -> Vec<KernelPair> {
    let names: BTreeSet<&str> = a.kernels.rows.iter().chain(&b.kernels.rows).map(|row| row.name.as_str()).collect();
    let pair = |name: &str| {
        let find = |run: &'_ Analysis, quantity: &dyn Fn(&KernelTime) -> f64| {
            run.kernels.rows.iter().find(|row| row.name == name).map_or(0.0, quantity)
        };
        let both = |quantity: &dyn Fn(&KernelTime) -> f64| Pair { a: find(a, quantity), b: find(b, quantity) };
        KernelPair {
            name: name.to_owned(),
            tasks: both(&|row| row.tasks as f64),
            total_ns: both(&|row| row.total_ns as f64),
            median_ns: both(&|row| row.length_ns.median),
        }
    };
    let mut rows: Vec<KernelPair> = names.into_iter().map(pair).collect();
    rows.sort_by(|one, other| other.total_ns.growth().total_cmp(&one.total_ns.growth()));
    rows
}

fn quotient(pair: Pair) -> String {
    pair.ratio().map_or(String::new(), |ratio| format!("{ratio:.3}"))
}

/// Formats a quantity.
type Show<'a> = &'a dyn Fn(f64) -> String;

/// Returns the table of quantities of the runs as wholes.
fn totals(comparison: &Comparison) -> TextTable {
    let mut table = TextTable::titled("Run", &["", "a", "b", "b / a"]);
    let time = |value: f64| format!("{} ms", ms(value as u64));
    let rows: [(&str, Pair, Show<'_>); 6] = [
        ("makespan", comparison.wall_ns, &time),
        ("time in tasks", comparison.work_ns, &time),
        ("critical path", comparison.path_ns, &time),
        ("bytes moved", comparison.moved_bytes, &bytes),
        ("lanes", comparison.lanes, &|value| format!("{value}")),
        ("tasks", comparison.tasks, &|value| format!("{value}")),
    ];
    for (name, pair, show) in rows {
        table.row([name.to_owned(), show(pair.a), show(pair.b), quotient(pair)]);
    }
    table
}

fn signed_ms(time_ns: f64) -> String {
    format!("{:+.3}", time_ns * 1e-6)
}

/// Writes the tables of totals, lanes, kernels, idle time and causes.
impl fmt::Display for Comparison {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "{}", totals(self))?;
        let heads = ["lane", "busy ms a", "b", "communication a", "b", "other a", "b"];
        let mut table = TextTable::titled("Time of each lane", &heads);
        for row in &self.rows {
            let parts = [row.busy_ns, row.communication_ns, row.other_ns];
            let cells = parts.into_iter().flat_map(|pair| [ms(pair.a as u64), ms(pair.b as u64)]);
            table.row(std::iter::once(row.name.clone()).chain(cells));
        }
        writeln!(out, "{table}")?;
        let heads = ["kernel", "tasks a", "b", "total ms a", "b", "b / a", "median us a", "b", "b / a"];
        let mut table = TextTable::titled("Time of each kernel", &heads);
        for row in &self.kernels {
            let KernelPair { tasks, total_ns, median_ns, .. } = row;
            table.row([
                row.name.clone(),
                tasks.a.to_string(),
                tasks.b.to_string(),
                ms(total_ns.a as u64),
                ms(total_ns.b as u64),
                quotient(*total_ns),
                us(median_ns.a),
                us(median_ns.b),
                quotient(*median_ns),
            ]);
        }
        writeln!(out, "{table}")?;
        let mut table = TextTable::titled("Idle time", &["reason", "ms a", "b", "b / a"]);
        for row in &self.idle {
            let (a, b) = (ms(row.time_ns.a as u64), ms(row.time_ns.b as u64));
            table.row([row.reason.name().to_owned(), a, b, quotient(row.time_ns)]);
        }
        writeln!(out, "{table}")?;
        let lanes_ns = self.wall_ns.a * self.lanes.a;
        let mut table = TextTable::titled("Change of all lanes' time", &["part", "growth ms", "% of a"]);
        for cause in &self.causes {
            let share = format!("{:+.1}", 100.0 * ratio(cause.growth_ns, lanes_ns));
            table.row([cause.name.clone(), signed_ms(cause.growth_ns), share]);
        }
        table.fmt(out)
    }
}
