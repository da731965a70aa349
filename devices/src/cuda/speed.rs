//! How fast a GPU is, about, by what the driver says of it: so that work is dealt out sensibly before anything was measured.

use super::context::GpuClass;
use superscalar_runtime::Speed;

/// Operations in double precision of a multiprocessor in a cycle, a fused multiplication and addition counting as two, on tensor cores where it
/// has such for them; by compute capability. Half of it or less is what GPUs do that are not meant for such work.
const FLOPS_PER_CYCLE: [((i32, i32), f64); 7] = [
    ((6, 0), 64.0),
    ((7, 0), 64.0),
    ((7, 2), 64.0),
    ((8, 0), 128.0),
    ((9, 0), 256.0),
    ((10, 0), 128.0),
    ((10, 1), 128.0),
];
/// All others.
const FLOPS_PER_CYCLE_OTHERWISE: f64 = 4.0;
/// What of that large products reach, and large copies of the memory's rate.
const REACHED: f64 = 0.8;
/// From one small kernel to the next that waits for it.
const LATENCY_NS: u64 = 4_000;

/// The estimate; zero where the driver does not say enough.
pub(super) fn estimate(class: &GpuClass) -> Speed {
    let found = FLOPS_PER_CYCLE.iter().find(|(capability, _)| *capability == class.compute_capability);
    let per_cycle = found.map_or(FLOPS_PER_CYCLE_OTHERWISE, |(_, flops)| *flops);
    Speed {
        flops_per_s: REACHED * per_cycle * class.multiprocessors as f64 * class.clock_hz as f64,
        bytes_per_s: REACHED * class.memory_bytes_per_s as f64,
        latency_ns: LATENCY_NS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(compute_capability: (i32, i32), multiprocessors: usize, clock_hz: u64) -> GpuClass {
        GpuClass {
            ordinal: 0,
            name: String::new(),
            compute_capability,
            multiprocessors,
            clock_hz,
            memory_bytes: 1 << 36,
            memory_bytes_per_s: 4_900_000_000_000,
            bus: String::new(),
            copy_engines: 2,
            is_integrated: false,
        }
    }

    #[test]
    fn the_estimate_is_near_what_gpus_reach() {
        // An H200 multiplies at 52 Tflop/s, an A100 at 17; others do a 64th of their single precision.
        for (capability, multiprocessors, clock_hz, reached) in [
            ((9, 0), 132, 1_980_000_000, 52e12),
            ((8, 0), 108, 1_410_000_000, 17e12),
            ((8, 9), 128, 2_520_000_000, 1.1e12),
        ] {
            let speed = estimate(&class(capability, multiprocessors, clock_hz));
            let ratio = speed.flops_per_s / reached;
            assert!((0.8..1.25).contains(&ratio), "{capability:?}: {speed:?}");
            assert!((3e12..4.5e12).contains(&speed.bytes_per_s) && speed.latency_ns > 0, "{speed:?}");
        }
        assert!(estimate(&class((9, 0), 132, 0)).flops_per_s == 0.0, "nothing is known");
    }
}
