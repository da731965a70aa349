//! The task graph as text for GraphViz.

use std::fmt;

use super::{Dag, DagEdge, DagTask, Hazard, HazardSet};

/// A task graph to be printed in GraphViz's DOT language.
///
/// A node's label is the task's name and tile indices; tasks of one name share a colour. An edge
/// is solid for a RaW hazard, dashed for WaR, dotted for WaW; where one pair of tasks has several,
/// the style is that of the first in this order and the label names all of them. To draw fewer
/// edges, print the [transitive reduction](Dag::transitive_reduction).
///
/// ```
/// use superscalar_runtime::recording::{Dag, Dot, Recording};
/// let dag = Dag::new(&Recording::default())?;
/// assert!(Dot::new(&dag).to_string().starts_with("digraph tasks {"));
/// # Ok::<(), superscalar_runtime::recording::RecordingError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Dot<'a> {
    dag: &'a Dag,
}

impl<'a> Dot<'a> {
    /// The whole of `dag`.
    pub fn new(dag: &'a Dag) -> Self {
        Self { dag }
    }
}

impl fmt::Display for Dot<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "digraph tasks {{")?;
        writeln!(out, "  node [shape=box, style=\"rounded,filled\", fontname=\"Helvetica\"];")?;
        let mut names: Vec<&str> = Vec::new();
        for task in self.dag.tasks() {
            let known = names.iter().position(|&name| name == task.name);
            let nth = known.unwrap_or_else(|| {
                names.push(task.name);
                names.len() - 1
            });
            write_node(out, task, nth)?;
        }
        for edge in self.dag.edges() {
            write_edge(out, edge)?;
        }
        writeln!(out, "}}")
    }
}

fn write_node(out: &mut fmt::Formatter<'_>, task: &DagTask, nth_name: usize) -> fmt::Result {
    // Hues a golden section apart stay distinguishable however many names there are.
    let hue = (nth_name as f64 * 0.618_034 + 0.58).fract();
    write!(out, "  t{} [label=\"", task.id.0)?;
    write_escaped(out, task.name)?;
    if !task.index.is_empty() {
        write!(out, " {}", task.index)?;
    }
    writeln!(out, "\", fillcolor=\"{hue:.3} 0.350 0.950\"];")
}

fn write_edge(out: &mut fmt::Formatter<'_>, edge: DagEdge) -> fmt::Result {
    let style = if edge.hazards.contains(Hazard::RaW) {
        "solid"
    } else if edge.hazards.contains(Hazard::WaR) {
        "dashed"
    } else {
        "dotted"
    };
    write!(out, "  t{} -> t{} [style={style}", edge.from.0, edge.to.0)?;
    if edge.hazards.iter().count() > 1 {
        write!(out, ", label=\"{}\"", Names(edge.hazards))?;
    }
    writeln!(out, "];")
}

struct Names(HazardSet);

impl fmt::Display for Names {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (nth, hazard) in self.0.iter().enumerate() {
            let separator = if nth == 0 { "" } else { ", " };
            write!(out, "{separator}{}", hazard.name())?;
        }
        Ok(())
    }
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
