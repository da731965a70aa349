//! Estimates the speed of a GPU from what the driver reports, to assign tasks sensibly before anything is measured.

use super::context::GpuClass;
use superscalar_runtime::Speed;

/// Floating-point operations in double precision per multiprocessor and cycle, by compute capability. A fused
/// multiply-add counts as two; tensor cores are included. GPUs that are not listed reach a fraction of this.
const FLOPS_PER_CYCLE: [((i32, i32), f64); 7] = [
    ((6, 0), 64.0),
    ((7, 0), 64.0),
    ((7, 2), 64.0),
    ((8, 0), 128.0),
    ((9, 0), 256.0),
    ((10, 0), 128.0),
    ((10, 1), 128.0),
];
/// The value for all other GPUs.
const FLOPS_PER_CYCLE_OTHERS: f64 = 4.0;
/// The fraction of the peak that large products reach, and large copies of the memory's bandwidth.
const ATTAINED: f64 = 0.8;
/// The time from one small kernel to the start of the next that waits for it.
const LATENCY_NS: u64 = 4_000;

/// Returns the estimate. Rates are zero if the driver does not report enough.
pub(super) fn estimate(class: &GpuClass) -> Speed {
    let found = FLOPS_PER_CYCLE.iter().find(|(capability, _)| *capability == class.compute_capability);
    let per_cycle = found.map_or(FLOPS_PER_CYCLE_OTHERS, |(_, flops)| *flops);
    Speed {
        flops_per_s: ATTAINED * per_cycle * class.multiprocessors as f64 * class.clock_hz as f64,
        bytes_per_s: ATTAINED * class.memory_bytes_per_s as f64,
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
            block_shared_bytes: 227 << 10,
        }
    }

    #[test]
    fn estimate_is_near_measured_rates() {
        // Rates of large products in double precision; the third GPU has a 64th of its single-precision rate.
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
