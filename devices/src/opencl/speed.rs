//! Estimates the speed of a device from what the driver reports, to assign tasks sensibly before anything is measured.

use super::class::DeviceClass;
use superscalar_runtime::Speed;

/// Floating-point operations in double precision per compute unit and cycle of NVIDIA's GPUs for computing, by compute
/// capability, without matrix instructions, which double them. A fused multiply-add counts as two.
const FLOPS_PER_CYCLE: [((u32, u32), f64); 5] =
    [((6, 0), 64.0), ((7, 0), 64.0), ((8, 0), 64.0), ((9, 0), 128.0), ((10, 0), 128.0)];
/// The value for all other GPUs: a sixteenth of the rate of 64 lanes in single precision.
const FLOPS_PER_CYCLE_OTHERS: f64 = 8.0;
/// The bytes per compute unit and cycle from a GPU's and a CPU's memory. OpenCL has no query for the bandwidth.
const BYTES_PER_CYCLE: (f64, f64) = (8.0, 2.0);
/// The fraction of a GPU's and a CPU's peak that generated kernels reach.
const ATTAINED: (f64, f64) = (0.8, 0.4);
/// The time that a small task takes on a CPU and on a GPU, whatever its work: a kernel, its events, and
/// what the host does meanwhile. Measured on PoCL,
/// and through NVIDIA's driver on an H200.
const LATENCY_NS: (u64, u64) = (10_000, 45_000);

/// Returns the estimate. Rates are zero if the driver does not report enough.
pub(super) fn estimate(class: &DeviceClass) -> Speed {
    let cycles_per_s = f64::from(class.compute_units) * class.clock_hz as f64;
    let (flops_per_cycle, bytes_per_cycle, attained, latency_ns) = if class.is_cpu {
        // Two units, each with one multiply-add per lane.
        (4.0 * f64::from(class.vector_f64), BYTES_PER_CYCLE.1, ATTAINED.1, LATENCY_NS.0)
    } else {
        let found = FLOPS_PER_CYCLE.iter().find(|(capability, _)| Some(*capability) == class.compute_capability);
        let by_matrices = if class.has_matrix_f64 { 2.0 } else { 1.0 };
        let flops_per_cycle = by_matrices * found.map_or(FLOPS_PER_CYCLE_OTHERS, |(_, flops)| *flops);
        (flops_per_cycle, BYTES_PER_CYCLE.0, ATTAINED.0, LATENCY_NS.1)
    };
    Speed {
        flops_per_s: attained * flops_per_cycle * cycles_per_s,
        bytes_per_s: bytes_per_cycle * cycles_per_s,
        latency_ns,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(compute_units: u32, clock_hz: u64) -> DeviceClass {
        DeviceClass {
            platform: String::new(),
            vendor: String::new(),
            name: String::new(),
            driver: String::new(),
            is_cpu: true,
            compute_units,
            clock_hz,
            compute_capability: None,
            has_matrix_f64: false,
            concurrent_groups: 0,
            max_work_group: 1024,
            max_work_items: [1024; 3],
            local_bytes: 48 << 10,
            has_local_memory: true,
            vector_f32: 8,
            vector_f64: 4,
            has_f64: true,
            memory_bytes: 1 << 36,
            buffer_bytes_max: 1 << 34,
            is_unified: true,
            align_bytes: 128,
            is_divisible: true,
        }
    }

    #[test]
    fn estimate_is_near_the_rates_of_known_devices() {
        let gpu = |units, clock_hz, capability| DeviceClass {
            is_cpu: false,
            compute_capability: Some(capability),
            ..class(units, clock_hz)
        };
        // Peaks without tensor cores: H100, A100, RTX 4090 and 16 cores with AVX2.
        for (class, peak) in [
            (gpu(132, 1_980_000_000, (9, 0)), 33.5e12),
            (gpu(108, 1_410_000_000, (8, 0)), 9.7e12),
            (gpu(128, 2_520_000_000, (8, 9)), 1.3e12),
            (class(16, 3_000_000_000), 0.77e12),
        ] {
            let speed = estimate(&class);
            let ratio = speed.flops_per_s / peak;
            assert!((0.3..=2.0).contains(&ratio), "{class:?}: {speed:?}");
            assert!(speed.bytes_per_s > 1e10 && speed.latency_ns > 0, "{speed:?}");
        }
        assert!(estimate(&class(16, 0)).flops_per_s == 0.0, "nothing is known");
    }
}
