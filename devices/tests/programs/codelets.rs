//! Runs programs: the tasks are closures, and codelets that the device under test implements by `launch`.

use super::{
    KIND, launch,
    program::{Program, Task, Where, mix},
};
use std::sync::LazyLock;
use superscalar_runtime::{Codelet, Error, Lock, Operand, Reads, Runtime, TaskSpec, Updates, Writes};

pub type Vector = Vec<u64>;
/// How a task mixes: whether it overwrites, and its number.
pub type Call = (bool, u64);
/// The operands of a task on a device.
pub type Operands = (Vec<Operand<Vector>>, Operand<Vector>);
type Update = Codelet<(Vec<Reads<Vector>>, Updates<Vector>), Call>;
type Overwrite = Codelet<(Vec<Reads<Vector>>, Writes<Vector>), Call>;

fn on_host((sources, target): (Vec<&Vector>, &mut Vector), &(overwrites, number): &Call) {
    mix(&sources.iter().map(|source| source.as_slice()).collect::<Vec<_>>(), target, overwrites, number);
}

fn scratch_bytes((sources, _): Operands, _: &Call) -> usize {
    sources.into_iter().filter_map(|source| source.region().ok()).map(|region| region.row_bytes).sum()
}

pub static UPDATE: LazyLock<Update> = LazyLock::new(|| {
    Codelet::new("update")
        .on_host(|operands: (Vec<&Vector>, &mut Vector), call: &Call| {
            on_host(operands, call);
            Ok(())
        })
        .on_device_with_scratch(KIND, scratch_bytes, launch)
});

static OVERWRITE: LazyLock<Overwrite> = LazyLock::new(|| {
    Codelet::new("overwrite")
        .on_host(|operands: (Vec<&Vector>, &mut Vector), call: &Call| {
            on_host(operands, call);
            Ok(())
        })
        .on_device_with_scratch(KIND, scratch_bytes, launch)
});

/// Runs all tasks of the program on these data.
pub fn run(rt: &Runtime, program: &Program, data: &mut [Vector]) -> Result<(), Error> {
    rt.scope(|s| {
        let data: Vec<_> = data.iter_mut().map(|vector| s.lend(vector)).collect();
        for Task { place, sources, target, overwrites, number } in program.tasks.iter().cloned() {
            let reads: Vec<_> = sources.iter().map(|&source| data[source].read()).collect();
            let lock = match place {
                Where::Closure | Where::Anywhere => Lock::None,
                Where::Host => Lock::Host,
                Where::Device => Lock::Device,
            };
            let spec = TaskSpec::new("task").lock(lock);
            let (target, call) = (data[target], (overwrites, number));
            match (place, overwrites) {
                (Where::Closure, _) => {
                    let body = move |(sources, target): (Vec<&Vector>, &mut Vector)| {
                        on_host((sources, target), &call);
                    };
                    s.spawn(spec, (reads, target.read_write()), body);
                }
                (_, false) => UPDATE.spawn_as(s, spec, (reads, target.read_write()), call),
                (_, true) => OVERWRITE.spawn_as(s, spec, (reads, target.write()), call),
            }
        }
    })
}
