//! The graph of tasks and hazards as GraphViz text.

use std::fmt;

use super::error::{RecordingError, Repr};
use super::order::TaskOrder;
use super::{Hazard, Recording, TaskRecord};

/// The maximum number of tasks of a graph that is reduced: with one bit for each pair of tasks, the table then takes 8
/// MiB.
const REDUCTION_TASKS_MAX: usize = 8192;

/// The hazards between one pair of tasks, one bit for each kind.
#[derive(Debug, Clone, Copy, Default)]
struct HazardSet(u8);

impl HazardSet {
    fn insert(&mut self, hazard: Hazard) {
        self.0 |= 1 << hazard as u8;
    }

    /// Returns the hazards, RaW first.
    fn iter(self) -> impl Iterator<Item = Hazard> {
        Hazard::ALL.into_iter().filter(move |&hazard| self.0 & (1 << hazard as u8) != 0)
    }
}

/// An edge of the graph; its ends are indices into [`Dot::tasks`].
#[derive(Debug, Clone, Copy)]
struct Edge {
    from: usize,
    to: usize,
    hazards: HazardSet,
}

/// A task graph to be printed in GraphViz's DOT language.
///
/// A node's label is the task's name and tile indices; tasks with the same name share a colour. An edge is solid for a
/// RaW hazard, dashed for WaR, dotted for WaW. If a pair of tasks has several hazards, the style is that of the first
/// in this order, and the label lists all of them.
///
/// ```
/// # mod superscalar { pub use superscalar_recording as recording; }
/// use superscalar::recording::{Dot, Recording};
/// let recording = Recording::default();
/// let graph = Dot::new(&recording).reduced()?;
/// assert!(graph.to_string().starts_with("digraph tasks {"));
/// # Ok::<(), superscalar::recording::RecordingError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Dot<'a> {
    /// Sorted by number.
    tasks: Vec<&'a TaskRecord>,
    /// Sorted by their ends; at most one for each pair of tasks.
    edges: Vec<Edge>,
}

impl<'a> Dot<'a> {
    /// Builds the graph: a node for each task, and an edge for each pair of tasks with hazards. Hazards of tasks
    /// without a record are left out.
    pub fn new(recording: &'a Recording) -> Self {
        let mut tasks: Vec<&TaskRecord> = recording.tasks.iter().collect();
        tasks.sort_by_key(|task| task.id);
        tasks.dedup_by_key(|task| task.id);
        let order = TaskOrder::new(tasks.iter().map(|task| task.id));
        let ends = recording.hazards.iter().filter_map(|hazard| {
            let ends = order.index_of(hazard.from).zip(order.index_of(hazard.to))?;
            Some((ends, hazard.hazard))
        });
        let mut ends: Vec<_> = ends.collect();
        ends.sort_unstable();
        let edge = |of_pair: &[((usize, usize), Hazard)]| {
            let (from, to) = of_pair[0].0;
            let mut hazards = HazardSet::default();
            of_pair.iter().for_each(|&(_, hazard)| hazards.insert(hazard));
            Edge { from, to, hazards }
        };
        Self { tasks, edges: ends.chunk_by(|a, b| a.0 == b.0).map(edge).collect() }
    }

    /// Returns the transitive reduction: the graph without the edges that follow from others.
    ///
    /// # Errors
    /// If the hazards form a cycle, which those of a serial program cannot, or if there are more than 8192 tasks: the
    /// memory of the reduction grows with their square, and such a graph is too large to draw.
    pub fn reduced(mut self) -> Result<Self, RecordingError> {
        let tasks = self.tasks.len();
        if tasks > REDUCTION_TASKS_MAX {
            return Err(Repr::TooManyTasks { tasks, limit: REDUCTION_TASKS_MAX }.into());
        }
        let order = self.order()?;
        let mut rank = vec![0; tasks];
        order.iter().enumerate().for_each(|(at, &task)| rank[task] = at);
        // Later tasks first, and for each task its nearest successors first, so that the edges that imply an edge come
        // before it.
        self.edges.sort_by_key(|edge| (tasks - rank[edge.from], rank[edge.to]));
        let words = tasks.div_ceil(64);
        // The set of tasks reachable from each task.
        let mut reached = vec![0_u64; tasks * words];
        self.edges.retain(|&Edge { from, to, .. }| {
            let (word, bit) = (from * words + to / 64, 1 << (to % 64));
            let is_needed = reached[word] & bit == 0;
            if is_needed {
                (0..words).for_each(|at| reached[from * words + at] |= reached[to * words + at]);
                reached[word] |= bit;
            }
            is_needed
        });
        self.edges.sort_by_key(|edge| (edge.from, edge.to));
        Ok(self)
    }

    /// Returns the tasks in topological order.
    fn order(&self) -> Result<Vec<usize>, Repr> {
        let mut waits = vec![0_usize; self.tasks.len()];
        self.edges.iter().for_each(|edge| waits[edge.to] += 1);
        let mut order: Vec<usize> = (0..waits.len()).filter(|&task| waits[task] == 0).collect();
        let mut next = 0;
        while let Some(&task) = order.get(next) {
            next += 1;
            let first = self.edges.partition_point(|edge| edge.from < task);
            for edge in self.edges[first..].iter().take_while(|edge| edge.from == task) {
                waits[edge.to] -= 1;
                order.extend((waits[edge.to] == 0).then_some(edge.to));
            }
        }
        match waits.iter().position(|&count| count > 0) {
            None => Ok(order),
            Some(task) => Err(Repr::Cycle(self.tasks[task].id)),
        }
    }
}

impl fmt::Display for Dot<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "digraph tasks {{")?;
        writeln!(out, "  node [shape=box, style=\"rounded,filled\", fontname=\"Helvetica\"];")?;
        let mut names: Vec<&str> = Vec::new();
        for task in &self.tasks {
            let known = names.iter().position(|&name| name == task.name);
            let nth = known.unwrap_or_else(|| {
                names.push(task.name);
                names.len() - 1
            });
            write_node(out, task, nth)?;
        }
        for edge in &self.edges {
            let (from, to) = (self.tasks[edge.from].id.0, self.tasks[edge.to].id.0);
            write_edge(out, from, to, edge.hazards)?;
        }
        writeln!(out, "}}")
    }
}

fn write_node(out: &mut fmt::Formatter<'_>, task: &TaskRecord, nth_name: usize) -> fmt::Result {
    // Hues that differ by the golden ratio stay distinguishable for any number of names.
    let hue = (nth_name as f64 * 0.618_034 + 0.58).fract();
    write!(out, "  t{} [label=\"", task.id.0)?;
    write_escaped(out, task.name)?;
    if !task.index.is_empty() {
        write!(out, " {}", task.index)?;
    }
    writeln!(out, "\", fillcolor=\"{hue:.3} 0.350 0.950\"];")
}

fn write_edge(out: &mut fmt::Formatter<'_>, from: u64, to: u64, hazards: HazardSet) -> fmt::Result {
    let style = match hazards.iter().next() {
        Some(Hazard::RaW) => "solid",
        Some(Hazard::WaR) => "dashed",
        _ => "dotted",
    };
    write!(out, "  t{from} -> t{to} [style={style}")?;
    let names: Vec<&str> = hazards.iter().map(Hazard::name).collect();
    if names.len() > 1 {
        write!(out, ", label=\"{}\"", names.join(", "))?;
    }
    writeln!(out, "];")
}

/// Inside a quoted label, a backslash begins an escape and a quote ends the label.
fn write_escaped(out: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    for character in text.chars() {
        match character {
            '"' => out.write_str("\\\"")?,
            '\\' => out.write_str("\\\\")?,
            '\n' => out.write_str("\\n")?,
            other if other.is_control() => out.write_str(" ")?,
            other => write!(out, "{other}")?,
        }
    }
    Ok(())
}
