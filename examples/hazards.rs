//! The hazards between the tasks of a small serial program, and those that renaming removes.
//!
//! ```text
//! cargo run --release --example hazards
//! dot -Tsvg hazards.dot -o hazards.svg
//! ```
//!
//! The program runs twice. In the first run its two halves share the buffer `t`, so the second half waits for the
//! first: WaW and WaR hazards on `t`. In the second run `t` may be renamed: a write takes a new buffer, and only the
//! RaW hazards remain.

use std::{
    collections::{BTreeMap, HashMap},
    error::Error,
    fs,
};
use superscalar::{
    Runtime, TaskId,
    recording::{Dot, Hazard, Recording},
};

fn main() -> Result<(), Box<dyn Error>> {
    let plain = record(false)?;
    println!("every hazard of the program:\n");
    print_hazards(&plain, &["x", "t", "y", "z", "w"]);
    println!("\nlevels of the task graph (tasks of one line can run together):\n");
    let before = print_levels(&plain);
    fs::write("hazards.dot", Dot::new(&plain).to_string())?;
    println!("\nthe graph is in hazards.dot");

    let renamed = record(true)?;
    println!("\nwith `t` renamed:\n");
    print_hazards(&renamed, &["x", "t", "t'", "y", "z", "t''", "w"]);
    println!();
    let after = print_levels(&renamed);
    println!("\nlongest path: {before} tasks, with renaming {after}");
    let only_true = renamed.hazards.iter().all(|record| record.hazard == Hazard::RaW);
    if !only_true || after >= before {
        return Err("expected only RaW hazards and a shorter path with renaming".into());
    }
    Ok(())
}

/// Runs the program and returns its recording.
///
/// The only worker is the inserting thread, so no task runs before all are inserted, and the output does not depend on
/// timing. (Otherwise a write may find that no task uses the old value any more, and then it takes no new buffer.)
fn record(renaming: bool) -> Result<Recording, Box<dyn Error>> {
    let rt = Runtime::builder().workers(1).trace(true).build()?;
    let [mut x, mut y, mut z, mut w] = [1.0, 2.0, 3.0, 4.0].map(|value| vec![value; 1000]);
    let mut t = vec![0.0; 1000];
    rt.scope(|s| {
        let (x, y, z, w) = (s.lend(&mut x), s.lend(&mut y), s.lend(&mut z), s.lend(&mut w));
        let t = s.lend(&mut t);
        let t = if renaming { t.renaming(|| vec![0.0; 1000]) } else { t };
        // x := 2 x
        s.spawn("scale x", x.read_write(), |x| x.iter_mut().for_each(|x| *x *= 2.0));
        // t := 0, which no task reads; then t := x; y := y + t
        s.spawn("clear t", t.write(), |t| t.fill(0.0));
        s.spawn("copy x", (x.read(), t.write()), |(x, t)| t.copy_from_slice(x));
        s.spawn("add to y", (t.read(), y.read_write()), |(t, y)| add(t, y));
        // z := z / 3
        s.spawn("scale z", z.read_write(), |z| z.iter_mut().for_each(|z| *z /= 3.0));
        // t := z; w := w + t, a use of t that is independent of the first
        s.spawn("copy z", (z.read(), t.write()), |(z, t)| t.copy_from_slice(z));
        s.spawn("add to w", (t.read(), w.read_write()), |(t, w)| add(t, w));
    })?;
    let results = [&x, &y, &z, &w, &t].map(|vector| vector[999]);
    if results != [2.0, 4.0, 1.0, 5.0, 1.0] {
        return Err(format!("x, y, z, w and t are {results:?}").into());
    }
    rt.take_recording().ok_or_else(|| "the runtime did not record".into())
}

fn add(from: &[f64], to: &mut [f64]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
}

/// Prints a line for each hazard: kind, datum, earlier task, later task. A recording numbers the data (with renaming,
/// the versions) from 1 in the order in which tasks first name them; `data` has their names in this order.
fn print_hazards(recording: &Recording, data: &[&str]) {
    let names: HashMap<TaskId, &str> = recording.tasks.iter().map(|task| (task.id, task.name)).collect();
    let mut hazards = recording.hazards.clone();
    hazards.sort_by_key(|record| (record.to, record.from, record.hazard));
    for record in hazards {
        let (hazard, datum) = (record.hazard.name(), data[record.datum as usize - 1]);
        println!("  {hazard}  {datum}: {} -> {}", names[&record.from], names[&record.to]);
    }
}

/// Prints a line for each level of the task graph. The level of a task is one more than the highest level of its
/// predecessors. Returns the number of levels, which is the length of the longest path.
fn print_levels(recording: &Recording) -> usize {
    let mut hazards = recording.hazards.clone();
    hazards.sort_by_key(|hazard| hazard.from);
    let mut levels: BTreeMap<TaskId, usize> = recording.tasks.iter().map(|task| (task.id, 0)).collect();
    // Hazards are sorted by their earlier task and lead to later tasks, so a level is final when it is used.
    for hazard in hazards {
        let level = levels[&hazard.from] + 1;
        levels.entry(hazard.to).and_modify(|known| *known = level.max(*known));
    }
    let count = levels.values().copied().max().unwrap_or(0) + 1;
    for level in 0..count {
        let here = recording.tasks.iter().filter(|task| levels[&task.id] == level);
        let here: Vec<String> = here.map(|task| format!("[{}]", task.name)).collect();
        println!("  {level}: {}", here.join("  "));
    }
    count
}
