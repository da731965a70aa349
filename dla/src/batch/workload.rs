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
/// Devices get nothing if their share would be smaller. Then a device takes more than three times as long as the host
/// for the whole batch, and its copies, which threads of the host carry out, cost more than it gains. Measured:
/// docs/measurements/2026-11-28-batches-host-and-gpu.md.
const SHARE_MIN: f64 = 0.25;

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

    /// Returns the number of chunks for a machine.
    pub(super) fn parts(&self, machine: &Machine) -> usize {
        let resources = machine.workers + machine.devices;
        match resources {
            1 => 1,
            _ if machine.is_brief(self.host_ns) => 1,
            _ => ((self.host_ns / CHUNK_NS) as usize).clamp(1, CHUNKS_EACH * resources),
        }
    }

    /// Returns the share of a batch in host memory that the devices of a runtime get, between 0 and 1.
    ///
    /// Small problems are soon computed, so a device mostly waits for its link, and often the host alone is faster. The
    /// scheduler gives a chunk to any device that asks for work, however long the copies take: the last chunk of a slow
    /// device would end long after all others. So the devices' share is limited such that all resources end together
    /// (task-superscalar, section 5.2).
    pub(super) fn share_of_devices(&self, rt: &Runtime, kernel: &str, machine: &Machine) -> f64 {
        match machine.devices {
            0 => return 0.0,
            _ if !rt.host_helps() => return 1.0,
            _ if machine.is_brief(self.host_ns) => return 0.0,
            _ => {}
        }
        let parts = self.parts(machine) as f64;
        let chunk = Cost { flops: self.total.flops / parts, bytes: self.total.bytes / parts, ..self.total };
        let weight = rt.capability_weight(Resource::HOST, kernel, chunk);
        let host_ns = match weight.source {
            WeightSource::Measured | WeightSource::Persisted => weight.time_ns(&chunk),
            WeightSource::Directive | WeightSource::Assumed => self.host_ns / parts,
        };
        let host = machine.workers as f64 / host_ns;
        let each = (0..machine.devices).map(|at| 1.0 / device_ns(rt, Resource::device(at as u16), kernel, &chunk));
        let devices: f64 = each.sum();
        match devices / (devices + host) {
            share if share >= SHARE_MIN => share,
            _ => 0.0,
        }
    }
}

/// Returns the time of a chunk on a device: its copies in both directions, which share the threads that copy pageable
/// memory, or its computation if that takes longer.
fn device_ns(rt: &Runtime, device: Resource, kernel: &str, chunk: &Cost) -> f64 {
    let copies_ns: f64 = rt.host_links(device).iter().flatten().map(|link| link.copy_ns(chunk.bytes / 2.0)).sum();
    copies_ns.max(rt.capability_weight(device, kernel, *chunk).time_ns(chunk))
}
