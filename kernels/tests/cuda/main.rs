//! Compiles the kernels for NVIDIA GPUs without a GPU, and checks that they spill no registers.
//!
//! The suite in `conformance` tests their results; it needs a GPU.

use std::{num::NonZero, sync::Mutex, thread};
use superscalar_devices::cuda;
use superscalar_kernels::{Op, Scalar, c32, c64, cuda::Family, device::Call, device::Mat, operations::Larfb};
use superscalar_oracle::is_full;

/// An architecture, and the function that compiles all kernels of a type for it.
type Job = (&'static str, fn(&str) -> bool);

/// All types for the architecture that the kernels were measured on; a complex type for the oldest architecture that
/// NVRTC 13 and the kernels support, and a real one for the newest.
const JOBS: [Job; 6] = [
    ("sm_90", compiles::<c64>),
    ("sm_90", compiles::<c32>),
    ("sm_75", compiles::<c32>),
    ("sm_100", compiles::<f64>),
    ("sm_90", compiles::<f64>),
    ("sm_90", compiles::<f32>),
];
/// With FULL=1 also a real type for the oldest architecture and a complex one for the newest.
const FULL_JOBS: [Job; 2] = [("sm_75", compiles::<f64>), ("sm_100", compiles::<c32>)];

/// Compiles every family for elements of this type. Returns whether there is a compiler.
fn compiles<T: Scalar>(arch: &str) -> bool {
    let capability: i32 = arch.trim_start_matches("sm_").parse().expect("a number");
    for family in Family::ALL.into_iter().filter(|family| family.capability() <= (capability / 10, capability % 10)) {
        let program = family.program::<T>();
        let options: Vec<&str> = program.options().collect();
        let log = match cuda::compile(program.source(), &options, arch) {
            Ok((cubin, log)) => {
                assert!(cubin.starts_with(b"\x7fELF"), "{}: no machine code", program.name());
                log
            }
            Err(error) if cuda::compile("", &[], arch).is_err() => {
                let required = std::env::var_os("REQUIRE_NVRTC").is_some_and(|value| value == "1");
                assert!(!required, "REQUIRE_NVRTC is 1, but there is no compiler: {error}");
                eprintln!("skipped: {error}");
                return false;
            }
            Err(error) => panic!("{} for {arch}: {error}", program.name()),
        };
        let kernels = cuda::usage(&log);
        let names = program.source().matches("\nKERNEL(").count();
        assert_eq!(kernels.len(), names, "{}: kernels in the log:\n{log}", program.name());
        assert!(!log.contains("warning"), "{}: {log}", program.name());
        for kernel in kernels {
            println!("{arch} {}: {kernel:?}", program.name());
            let spills = kernel.spill_store_bytes + kernel.spill_load_bytes + kernel.stack_bytes;
            assert_eq!(spills, 0, "{arch} {}: {kernel:?}", program.name());
        }
    }
    true
}

#[test]
fn every_kernel_compiles_and_spills_nothing() {
    let more = if is_full() { &FULL_JOBS[..] } else { &[] };
    let jobs = Mutex::new(JOBS.iter().chain(more));
    // The compiler is slow, and uses one thread for one program.
    let next = || jobs.lock().expect("no thread panics with the lock").next();
    let work = || while next().is_some_and(|(arch, compiles)| compiles(arch)) {};
    thread::scope(|s| {
        (0..thread::available_parallelism().map_or(1, NonZero::get)).for_each(|_| _ = s.spawn(work));
    });
}

/// Scratch depends on the shapes alone, because it is requested before there is a device.
#[test]
fn scratch_needs_no_device() {
    let at = |offset, m, n| Mat::<f64>::at(offset, (m, n), m);
    let larfb = |side, c| Call::Larfb(Larfb { side, op: Op::Trans, v: at(0, 100, 20), t: at(9000, 20, 20), c });
    let left = superscalar_kernels::cuda::scratch_bytes(&larfb(superscalar_kernels::Side::Left, at(20_000, 100, 30)));
    // The triangle of V, and two products as wide as the matrix that Q is applied to.
    let needed = (20 * 20 + 2 * 20 * 30) * size_of::<f64>();
    assert!((needed..needed + 2048).contains(&left), "{left} bytes for {needed}");
    let refused = larfb(superscalar_kernels::Side::Left, at(20_000, 99, 30));
    assert_eq!(superscalar_kernels::cuda::scratch_bytes(&refused), 0);
}
