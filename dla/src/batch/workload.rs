//! [`Workload`]: what a batch costs, and who shares it.

use crate::plan::Machine;
use superscalar_kernels::Scalar;
use superscalar_runtime::{Cost, Resource, Runtime, WeightSource};

/// The estimated time of a chunk on one worker: a hundred times the overhead of a task.
const CHUNK_NS: f64 = 1e5;
/// Chunks of each worker or device, so that the slower ones get fewer.
const CHUNKS_EACH: usize = 4;
/// The estimated time of a problem besides its arithmetic.
const PROBLEM_NS: f64 = 20.0;
/// The share of a core's highest rate that small problems reach. An estimate.
const EFFICIENCY: f64 = 0.25;
/// Bytes that one core moves from and to memory in a nanosecond.
const BYTES_PER_NS: f64 = 10.0;
/// Devices take part if they would be able to do at least this share of a batch in the time of the whole. A device whose
/// share is smaller gains nothing: it competes with the host for memory, and threads of the host carry out its copies.
/// Measured: docs/measurements/2026-11-28-batches-host-and-gpu.md.
const SHARE_MIN: f64 = 1.0 / 3.0;

/// The problems of a batch.
pub(super) struct Workload<'a> {
    pub count: usize,
    /// Whether all problems have the same cost.
    pub is_uniform: bool,
    /// The sum of all costs.
    pub total: Cost,
    /// The estimated time of one worker for all problems.
    pub host_ns: f64,
    /// The cost of a problem.
    cost: &'a dyn Fn(usize) -> Cost,
    flops_per_ns: f64,
}

impl<'a> Workload<'a> {
    pub(super) fn new<T: Scalar>(count: usize, is_uniform: bool, cost: &'a dyn Fn(usize) -> Cost) -> Self {
        let flops_per_ns = EFFICIENCY * Machine::flops_per_ns::<T>();
        let mut all = Self { count, is_uniform, total: Cost::default(), host_ns: 0.0, cost, flops_per_ns };
        let (different, times) = if is_uniform { (count.min(1), count as f64) } else { (count, 1.0) };
        for p in 0..different {
            let Cost { flops, bytes, level } = cost(p);
            all.total = Cost { flops: all.total.flops + times * flops, bytes: all.total.bytes + times * bytes, level };
            all.host_ns += times * all.problem_ns(p);
        }
        all
    }

    /// Estimates the time that a worker takes for a problem: for its arithmetic or its memory.
    pub(super) fn problem_ns(&self, p: usize) -> f64 {
        let cost = (self.cost)(p);
        PROBLEM_NS + (cost.flops / self.flops_per_ns).max(cost.bytes / BYTES_PER_NS)
    }

    /// Returns the ends of the chunks for a machine, as shares of the whole batch, between 0 and 1.
    ///
    /// Workers get chunks of equal time. A device is faster or slower, by a ratio that is not known well. So if there
    /// are devices, chunks become shorter to the end: in each round, all resources together get half of what is left.
    pub(super) fn shares(&self, machine: &Machine) -> Vec<f64> {
        let resources = machine.workers + machine.devices;
        let parts = match machine.is_brief(self.host_ns) {
            true => 1,
            false => ((self.host_ns / CHUNK_NS) as usize).clamp(1, CHUNKS_EACH * resources),
        };
        if resources == 1 || machine.devices == 0 || parts < 2 * resources {
            let parts = if resources == 1 { 1 } else { parts };
            return (1..=parts).map(|part| part as f64 / parts as f64).collect();
        }
        let (mut ends, mut done, rounds) = (Vec::new(), 0.0, parts / resources);
        for round in 1..=rounds {
            let left = 1.0 - done;
            let share = if round < rounds { left / 2.0 } else { left };
            ends.extend((1..=resources).map(|part| done + share * part as f64 / resources as f64));
            done += share;
        }
        ends
    }

    /// Returns whether the devices of a runtime gain anything for a batch in host memory.
    ///
    /// Small problems are soon computed, so a device mostly waits for its link, and often the host alone is faster
    ///.
    pub(super) fn gains_by_devices(&self, rt: &Runtime, kernel: &str, machine: &Machine) -> bool {
        if machine.devices == 0 || !rt.host_helps() {
            return machine.devices > 0;
        }
        if machine.is_brief(self.host_ns) {
            return false;
        }
        let parts = (CHUNKS_EACH * (machine.workers + machine.devices)) as f64;
        let chunk = Cost { flops: self.total.flops / parts, bytes: self.total.bytes / parts, ..self.total };
        let weight = rt.capability_weight(Resource::HOST, kernel, chunk);
        let host_ns = match weight.source {
            WeightSource::Measured | WeightSource::Persisted => weight.time_ns(&chunk),
            WeightSource::Directive | WeightSource::Assumed => self.host_ns / parts,
        };
        let host = machine.workers as f64 / host_ns;
        let each = (0..machine.devices).map(|at| 1.0 / device_ns(rt, Resource::device(at as u16), kernel, &chunk));
        let devices: f64 = each.sum();
        devices >= SHARE_MIN * (devices + host)
    }
}

/// Returns the time of a chunk on a device: its copies in both directions, which share the threads that copy pageable
/// memory, or its computation if that takes longer.
fn device_ns(rt: &Runtime, device: Resource, kernel: &str, chunk: &Cost) -> f64 {
    let copies_ns: f64 = rt.host_links(device).iter().flatten().map(|link| link.copy_ns(chunk.bytes / 2.0)).sum();
    copies_ns.max(rt.capability_weight(device, kernel, *chunk).time_ns(chunk))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(workers: usize, devices: usize, host_ns: f64) -> Vec<f64> {
        let cost = |_| Cost::default();
        let all = Workload { host_ns, ..Workload::new::<f64>(1000, true, &cost) };
        let ends = all.shares(&Machine::of_workers::<f64>(workers).with_devices(devices, false));
        assert_eq!(ends.last(), Some(&1.0), "{ends:?}");
        let starts = std::iter::once(0.0).chain(ends.iter().copied());
        ends.iter().zip(starts).map(|(end, start)| end - start).collect()
    }

    #[test]
    fn chunks_are_equal_on_the_host_and_become_shorter_with_devices() {
        assert_eq!(sizes(1, 0, 1e9), [1.0]);
        assert_eq!(sizes(4, 0, 1e4), [1.0], "too brief for tasks");
        assert_eq!(sizes(2, 0, 1e9), [0.125; 8]);
        let shorter = sizes(3, 1, 1e9);
        let expected = [0.125, 0.0625, 0.03125, 0.03125].map(|size| [size; 4]).concat();
        assert_eq!(shorter, expected);
        assert_eq!(sizes(3, 1, 5e5).len(), 5, "chunks are not shorter than their tasks' overhead allows");
    }
}
