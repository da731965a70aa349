//! The graph of tasks and hazards: its critical path, its parallelism, its reduction.
//!
//! A snapshot for analysis, built with petgraph after the run. The live graph of a run is another
//! structure with other aims.

use std::fmt;

use petgraph::algo::toposort;
use petgraph::algo::tred::{dag_to_toposorted_adjacency_list, dag_transitive_reduction_closure};
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::{EdgeRef, IntoNeighbors};

use super::error::{Kind, RecordingError};
use super::order::TaskOrder;
use super::{Hazard, Recording, TaskId, TileIndex};

/// The most tasks whose transitive reduction is computed. It keeps the transitive closure, up to
/// n²/2 entries of four bytes in vectors that may be twice as large: 256 MiB.
const REDUCTION_TASKS_MAX: usize = 8192;

/// A task as a node of the graph.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DagTask {
    /// Its number.
    pub id: TaskId,
    /// Its name.
    pub name: &'static str,
    /// Its tile indices.
    pub index: TileIndex,
    /// Nanoseconds that it ran, all its spans together; zero if it never ran.
    pub busy_ns: u64,
}

/// The hazards between one pair of tasks, merged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct HazardSet(u8);

impl HazardSet {
    const ALL: [Hazard; 3] = [Hazard::RaW, Hazard::WaR, Hazard::WaW];

    /// Whether `hazard` is among them.
    pub const fn contains(self, hazard: Hazard) -> bool {
        self.0 & (1 << hazard as u8) != 0
    }

    /// The hazards, RaW first.
    pub fn iter(self) -> impl Iterator<Item = Hazard> {
        Self::ALL.into_iter().filter(move |&hazard| self.contains(hazard))
    }

    fn insert(&mut self, hazard: Hazard) {
        self.0 |= 1 << hazard as u8;
    }
}

/// An edge of the graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DagEdge {
    /// The task that comes first.
    pub from: TaskId,
    /// The task that waits for it.
    pub to: TaskId,
    /// Why it waits.
    pub hazards: HazardSet,
}

/// How the length of a path is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Measure {
    /// Every task counts one.
    Tasks,
    /// A task counts the seconds that it ran.
    Seconds,
}

/// A longest path through the graph.
#[derive(Debug, Clone, PartialEq)]
pub struct CriticalPath {
    /// The tasks on it, in order of execution.
    pub tasks: Vec<TaskId>,
    /// The seconds that they ran, together.
    pub seconds: f64,
}

/// The directed acyclic graph of a recording's tasks.
///
/// ```
/// use superscalar_runtime::recording::*;
/// let task = |id, name| TaskRecord {
///     id: TaskId(id),
///     name,
///     site: std::panic::Location::caller(),
///     inserted_ns: 0,
///     priority: 0,
///     level: None,
///     index: TileIndex::NONE,
///     flops: 0.0,
///     bytes: 0.0,
/// };
/// let after = |from, to| HazardRecord {
///     from: TaskId(from),
///     to: TaskId(to),
///     hazard: Hazard::RaW,
///     datum: 0,
/// };
/// let recording = Recording {
///     tasks: vec![task(0, "split"), task(1, "left"), task(2, "right"), task(3, "join")],
///     hazards: vec![after(0, 1), after(0, 2), after(1, 3), after(2, 3)],
///     ..Recording::default()
/// };
/// let dag = Dag::new(&recording)?;
/// assert_eq!(dag.critical_path(Measure::Tasks).tasks.len(), 3);
/// assert_eq!(dag.average_parallelism(Measure::Tasks), Some(4.0 / 3.0));
/// # Ok::<(), RecordingError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Dag {
    /// Nodes in ascending order of task numbers; at most one edge per pair.
    graph: DiGraph<DagTask, HazardSet>,
    /// A topological order.
    order: Vec<NodeIndex>,
    hazards_left_out: u64,
}

impl Dag {
    /// Builds the graph: a node per task record, an edge per pair of tasks with hazards.
    ///
    /// Hazards whose task has no record are left out and counted.
    ///
    /// # Errors
    /// If the hazards form a cycle, which those of a serial program cannot
    /// ([`RecordingError::cycle`]), or two records carry the same task number.
    pub fn new(recording: &Recording) -> Result<Self, RecordingError> {
        let places = TaskOrder::new(recording.tasks.iter().map(|task| task.id));
        let mut busy_ns = vec![0_u64; places.len()];
        for span in &recording.spans {
            if let Some(place) = places.place(span.task) {
                busy_ns[place] += span.end_ns.saturating_sub(span.start_ns);
            }
        }
        let mut nodes = vec![None; places.len()];
        for task in &recording.tasks {
            if let Some(place) = places.place(task.id) {
                let node = DagTask { id: task.id, name: task.name, index: task.index, busy_ns: busy_ns[place] };
                if nodes[place].replace(node).is_some() {
                    return Err(Kind::DuplicateTask(task.id).into());
                }
            }
        }
        let (edges, hazards_left_out) = merged_edges(recording, &places);
        let mut graph = DiGraph::with_capacity(nodes.len(), edges.len());
        for node in nodes.into_iter().flatten() {
            graph.add_node(node);
        }
        for (from, to, hazards) in edges {
            graph.add_edge(NodeIndex::new(from), NodeIndex::new(to), hazards);
        }
        let cycle = |node: NodeIndex| Kind::Cycle(graph[node].id);
        let order = toposort(&graph, None).map_err(|found| cycle(found.node_id()))?;
        Ok(Self { graph, order, hazards_left_out })
    }

    /// The number of tasks.
    pub fn tasks_len(&self) -> usize {
        self.graph.node_count()
    }

    /// The number of pairs of tasks with a hazard between them.
    pub fn edges_len(&self) -> usize {
        self.graph.edge_count()
    }

    /// The hazards left out because one of their tasks has no record.
    pub fn hazards_left_out(&self) -> u64 {
        self.hazards_left_out
    }

    /// The tasks in ascending order of their numbers.
    pub fn tasks(&self) -> impl Iterator<Item = &DagTask> {
        self.graph.node_weights()
    }

    /// The edges, in ascending order of their two tasks.
    pub fn edges(&self) -> impl Iterator<Item = DagEdge> {
        self.graph.edge_references().map(|edge| DagEdge {
            from: self.graph[edge.source()].id,
            to: self.graph[edge.target()].id,
            hazards: *edge.weight(),
        })
    }

    /// All work: how many tasks, or how many seconds they ran on all lanes together.
    pub fn total_work(&self, measure: Measure) -> f64 {
        match measure {
            Measure::Tasks => self.tasks_len() as f64,
            Measure::Seconds => seconds(self.tasks().map(|task| task.busy_ns).sum()),
        }
    }

    /// A longest path. Among equally long ones, the same one every time.
    ///
    /// One pass over a topological order: the longest path into a task extends the longest one
    /// into a predecessor.
    pub fn critical_path(&self, measure: Measure) -> CriticalPath {
        let weight = |node: NodeIndex| match measure {
            Measure::Tasks => 1,
            Measure::Seconds => self.graph[node].busy_ns,
        };
        // The longest path that ends before each task, and its last task.
        let mut before: Vec<(u64, Option<NodeIndex>)> = vec![(0, None); self.tasks_len()];
        let mut longest: (u64, Option<NodeIndex>) = (0, None);
        for &node in &self.order {
            let through = before[node.index()].0 + weight(node);
            if longest.1.is_none() || through > longest.0 {
                longest = (through, Some(node));
            }
            for next in self.graph.neighbors(node) {
                let (length, last) = &mut before[next.index()];
                if last.is_none() || through > *length {
                    (*length, *last) = (through, Some(node));
                }
            }
        }
        let path = std::iter::successors(longest.1, |node| before[node.index()].1);
        let mut path: Vec<NodeIndex> = path.collect();
        path.reverse();
        CriticalPath {
            tasks: path.iter().map(|&node| self.graph[node].id).collect(),
            seconds: seconds(path.iter().map(|&node| self.graph[node].busy_ns).sum()),
        }
    }

    /// Total work over the length of the critical path: how many workers could be kept busy on
    /// average, and the most that any number of them can speed the program up.
    ///
    /// `None` if the critical path has no length: no tasks, or none that ran for measurable time.
    pub fn average_parallelism(&self, measure: Measure) -> Option<f64> {
        let path = self.critical_path(measure);
        let length = match measure {
            Measure::Tasks => path.tasks.len() as f64,
            Measure::Seconds => path.seconds,
        };
        (length > 0.0).then(|| self.total_work(measure) / length)
    }

    /// The same graph without the edges that follow from others.
    ///
    /// # Errors
    /// For more than 8192 tasks ([`RecordingError::tasks_max`]): memory grows with their square,
    /// and a graph of that size is past drawing.
    pub fn transitive_reduction(&self) -> Result<Self, RecordingError> {
        let tasks = self.tasks_len();
        if tasks > REDUCTION_TASKS_MAX {
            let limit = REDUCTION_TASKS_MAX;
            return Err(Kind::TooManyTasks { tasks, limit }.into());
        }
        let (sorted, place_of) = dag_to_toposorted_adjacency_list::<_, u32>(&self.graph, &self.order);
        let (reduced, _closure) = dag_transitive_reduction_closure(&sorted);
        // Rebuilt rather than thinned out: removing an edge would disturb the order of the others.
        let mut kept = self.graph.clone();
        kept.clear_edges();
        for edge in self.graph.edge_references() {
            let to = place_of[edge.target().index()];
            let from = place_of[edge.source().index()];
            if reduced.neighbors(from).any(|next| next == to) {
                kept.add_edge(edge.source(), edge.target(), *edge.weight());
            }
        }
        Ok(Self { graph: kept, order: self.order.clone(), hazards_left_out: self.hazards_left_out })
    }
}

/// The hazards between recorded tasks, one entry per pair, sorted; and how many were left out.
fn merged_edges(recording: &Recording, places: &TaskOrder) -> (Vec<(usize, usize, HazardSet)>, u64) {
    let mut edges = Vec::with_capacity(recording.hazards.len());
    let mut left_out = 0;
    for record in &recording.hazards {
        match (places.place(record.from), places.place(record.to)) {
            (Some(from), Some(to)) => edges.push((from, to, record.hazard)),
            _ => left_out += 1,
        }
    }
    edges.sort_unstable();
    let mut merged: Vec<(usize, usize, HazardSet)> = Vec::with_capacity(edges.len());
    for (from, to, hazard) in edges {
        match merged.last_mut() {
            Some(last) if (last.0, last.1) == (from, to) => last.2.insert(hazard),
            _ => {
                let mut hazards = HazardSet::default();
                hazards.insert(hazard);
                merged.push((from, to, hazards));
            }
        }
    }
    (merged, left_out)
}

fn seconds(ns: u64) -> f64 {
    ns as f64 * 1e-9
}

/// Five lines: size, work, critical paths, parallelism.
impl fmt::Display for Dag {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let by_tasks = self.critical_path(Measure::Tasks);
        let by_seconds = self.critical_path(Measure::Seconds);
        writeln!(out, "tasks                {:>12}", self.tasks_len())?;
        writeln!(out, "edges                {:>12}", self.edges_len())?;
        let work_ms = self.total_work(Measure::Seconds) * 1e3;
        writeln!(out, "work                 {work_ms:>12.3} ms")?;
        write!(out, "critical path        {:>12} tasks", by_tasks.tasks.len())?;
        write_parallelism(out, self.average_parallelism(Measure::Tasks))?;
        let path_ms = by_seconds.seconds * 1e3;
        write!(out, "critical path        {path_ms:>12.3} ms   ")?;
        write_parallelism(out, self.average_parallelism(Measure::Seconds))
    }
}

fn write_parallelism(out: &mut fmt::Formatter<'_>, parallelism: Option<f64>) -> fmt::Result {
    match parallelism {
        Some(value) => writeln!(out, "   average parallelism {value:.2}"),
        None => writeln!(out),
    }
}
