//! [`Workload`]: what a batch costs, and who shares it.

use crate::plan::Machine;
use std::iter;
use superscalar_kernels::Scalar;
use superscalar_runtime::{Cost, Resource, Runtime, WeightSource};

/// The estimated time of a chunk on one worker: a hundred times the overhead of a task.
const CHUNK_NS: f64 = 1e5;
/// Chunks of each worker or device, so that the slower ones get fewer.
const CHUNKS_EACH: usize = 4;
/// If devices take part: the sizes of chunks, relative to the smallest, and how many of each a worker or device has.
const SIZES: [(usize, usize); 3] = [(4, 2), (2, 2), (1, 4)];
/// The estimated time of a problem besides its arithmetic.
const PROBLEM_NS: f64 = 20.0;
/// The share of a core's highest rate that small problems reach. An estimate.
const EFFICIENCY: f64 = 0.25;
/// Bytes that one core moves from and to memory in a nanosecond.
const BYTES_PER_NS: f64 = 10.0;
/// Devices get chunks if they could do at least this share of the batch while the host does the rest. A smaller share
/// gains nothing, because copies to a device slow the host down: they use its memory and its cores. Measured:
/// docs/measurements/2026-11-28-batches-host-and-gpu.md.
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
            let one @ Cost { flops, bytes, level } = cost(p);
            all.total = Cost { flops: all.total.flops + times * flops, bytes: all.total.bytes + times * bytes, level };
            all.host_ns += times * all.time_ns(&one);
        }
        all
    }

    /// Estimates the time that a worker takes for a problem: for its arithmetic or its memory.
    pub(super) fn problem_ns(&self, p: usize) -> f64 {
        self.time_ns(&(self.cost)(p))
    }

    fn time_ns(&self, cost: &Cost) -> f64 {
        PROBLEM_NS + (cost.flops / self.flops_per_ns).max(cost.bytes / BYTES_PER_NS)
    }

    /// Returns the ends of the chunks for a machine, as shares of the whole batch, between 0 and 1.
    ///
    /// Without devices, all chunks take equal time. If devices take part, the scheduler gives chunks to the faster
    /// resources from one end and to the slower ones from the other. Where they meet, in the middle, chunks are
    /// shortest, so that all resources end at about the same time although their speeds are not known exactly.
    pub(super) fn shares(&self, machine: &Machine) -> Vec<f64> {
        let resources = machine.workers + machine.devices;
        let parts = match machine.is_brief(self.host_ns) || resources == 1 {
            true => 1,
            false => (self.host_ns / CHUNK_NS) as usize,
        };
        let sized = resources * SIZES.iter().map(|(_, count)| count).sum::<usize>();
        let sizes = if machine.devices > 0 && parts >= sized {
            let each = SIZES.into_iter().flat_map(|(size, count)| iter::repeat_n(size, count * resources));
            let (front, back): (Vec<_>, Vec<_>) = each.enumerate().partition(|(at, _)| at % 2 == 0);
            front.into_iter().chain(back.into_iter().rev()).map(|(_, size)| size).collect()
        } else {
            vec![1; parts.clamp(1, CHUNKS_EACH * resources)]
        };
        let total: usize = sizes.iter().sum();
        let ends = sizes.into_iter().scan(0, |done, size| {
            *done += size;
            Some(*done as f64 / total as f64)
        });
        ends.collect()
    }

    /// Returns whether the devices of a runtime gain anything for a batch in host memory.
    ///
    /// Small problems take less time to compute than to copy, so the host alone is often faster.
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

/// Returns the time of a chunk on a device: of its copies in one direction, or of its computation if that takes longer.
/// While a chunk is computed, the next one arrives and the last one leaves.
fn device_ns(rt: &Runtime, device: Resource, kernel: &str, chunk: &Cost) -> f64 {
    let links = rt.host_links(device);
    let copies_ns = links.iter().flatten().map(|link| link.copy_ns(chunk.bytes / 2.0)).fold(0.0, f64::max);
    copies_ns.max(rt.capability_weight(device, kernel, *chunk).time_ns(chunk))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(workers: usize, devices: usize, host_ns: f64) -> Vec<f64> {
        let cost = |_| Cost::default();
        let all = Workload { host_ns, ..Workload::new::<f64>(1000, true, &cost) };
        let ends = all.shares(&Machine::of_workers::<f64>(workers).with_devices(devices, None));
        assert_eq!(ends.last(), Some(&1.0), "{ends:?}");
        let starts = iter::once(0.0).chain(ends.iter().copied());
        ends.iter().zip(starts).map(|(end, start)| end - start).collect()
    }

    #[test]
    fn chunks_are_equal_on_the_host_and_shortest_in_the_middle_beside_devices() {
        assert_eq!(sizes(1, 0, 1e9), [1.0]);
        assert_eq!(sizes(4, 0, 1e4), [1.0], "too brief for tasks");
        assert_eq!(sizes(2, 0, 1e9), [0.125; 8]);
        let beside = sizes(3, 1, 1e9);
        let half = [(4, 4), (2, 4), (1, 8)].map(|(size, count)| vec![size as f64 / 64.0; count]).concat();
        let expected: Vec<_> = half.iter().chain(half.iter().rev()).copied().collect();
        assert_eq!(beside, expected);
        assert_eq!(sizes(3, 1, 5e5).len(), 5, "chunks are not shorter than their tasks' overhead allows");
    }
}
