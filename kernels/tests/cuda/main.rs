//! The kernels for NVIDIA GPUs, without a GPU: they compile, and keep what they compute in registers.
//!
//! What they compute is judged by the suite in `conformance`, which needs a GPU.

use superscalar_devices::cuda;
use superscalar_kernels::{Op, Scalar, c32, c64, cuda::Family, device::Call, device::Mat, operations::Larfb};

/// Architectures that the compiler is asked for: the one that the kernels were measured on, for all types; and for a real and a complex one, which
/// is half the time, the oldest and the newest that NVRTC 13 knows and that we do.
const ARCHITECTURES: [(&str, bool); 3] = [("sm_90", true), ("sm_75", false), ("sm_100", false)];

/// Compiles every family for elements of this type; whether there is a compiler.
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
                assert!(!required, "REQUIRE_NVRTC=1, and there is no compiler: {error}");
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
    // The compiler takes its time, for one program on one thread.
    std::thread::scope(|s| {
        for (arch, has_all_types) in ARCHITECTURES {
            s.spawn(move || {
                compiles::<f64>(arch)
                    && compiles::<c32>(arch)
                    && has_all_types
                    && compiles::<f32>(arch)
                    && compiles::<c64>(arch)
            });
        }
    });
}

/// Scratch is asked for before there is a device, and of the shapes alone.
#[test]
fn scratch_is_known_without_a_device() {
    let at = |offset, m, n| Mat::<f64>::at(offset, (m, n), m);
    let larfb = |side, c| Call::Larfb(Larfb { side, op: Op::Trans, v: at(0, 100, 20), t: at(9000, 20, 20), c });
    let left = superscalar_kernels::cuda::scratch_bytes(&larfb(superscalar_kernels::Side::Left, at(20_000, 100, 30)));
    // The triangle of V, and two products as large as what Q changes is wide.
    let needed = (20 * 20 + 2 * 20 * 30) * size_of::<f64>();
    assert!((needed..needed + 2048).contains(&left), "{left} bytes for {needed}");
    let refused = larfb(superscalar_kernels::Side::Left, at(20_000, 99, 30));
    assert_eq!(superscalar_kernels::cuda::scratch_bytes(&refused), 0);
}
