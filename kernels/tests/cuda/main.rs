//! Compiles the kernels for NVIDIA GPUs without a GPU, and checks that they spill no registers, or few.
//!
//! The suite in `conformance` tests their results; it needs a GPU.

#[cfg(feature = "opencl")]
mod opencl_texts;

use std::{num::NonZero, sync::Mutex, thread};
use superscalar_devices::cuda;
use superscalar_kernels::{
    Op, Scalar, c32, c64,
    cuda::{
        Family,
        tuning::{ProductTile, TileTable},
    },
    device::{Call, Mat},
    operations::Larfb,
    scalar::LETTERS,
};
use superscalar_oracle::is_full;

/// An architecture, a family, and the function that compiles the family for elements of a type.
type Job = (&'static str, Family, fn(&str, Family) -> bool);

/// The types, those first whose kernels take the compiler longest.
const TYPES: [fn(&str, Family) -> bool; 4] = [compiles::<c64>, compiles::<c32>, compiles::<f64>, compiles::<f32>];

/// The most bytes of stack and of instructions that spill in a kernel for batches. Such a kernel keeps rows, columns or
/// blocks of a matrix in registers. A few spilled values cost less than fewer threads.
const BATCH_SPILLS_MAX: u32 = 1000;
/// The same on the oldest architecture, for which the kernels were not tuned.
const BATCH_SPILLS_OLDEST_MAX: u32 = 5000;

fn is_for_batches(family: Family) -> bool {
    matches!(
        family,
        Family::BatchRows
            | Family::BatchCholesky
            | Family::BatchLu
            | Family::BatchColumns
            | Family::BatchQr
            | Family::BatchGemm
            | Family::BatchTiles(_)
            | Family::BatchGemv
            | Family::BatchSolve
            | Family::BatchGebrd
    )
}

/// Returns all families for the architecture that the kernels were measured on, in all types; those for batches in one
/// precision, by turns, and every second tile. Each family is also compiled in one type, for the oldest architecture
/// that NVRTC 13 and the kernels support or for the newest one, by turns; panels for both. With FULL=1 all are compiled
/// in all types for all.
fn jobs() -> Vec<Job> {
    let mut jobs = Vec::new();
    for arch in ["sm_90", "sm_75", "sm_100"] {
        let capability: i32 = arch.trim_start_matches("sm_").parse().expect("a number");
        for (turn, family) in Family::ALL.into_iter().enumerate() {
            let is_odd = (turn + turn / TYPES.len()) % 2 == 1;
            let has_panels = matches!(family, Family::Lu | Family::Qr | Family::LuCluster | Family::QrCluster);
            let is_turn = has_panels || arch == "sm_90" || is_odd == (arch == "sm_100");
            if family.capability() > (capability / 10, capability % 10) || !(is_turn || is_full()) {
                continue;
            }
            let due = TYPES.len() - 1 - turn % TYPES.len();
            let is_wanted = |at: usize| match arch {
                "sm_90" => !is_for_batches(family) || at % 2 == turn % 2,
                _ => at == due,
            };
            let types = TYPES.into_iter().enumerate().filter(|&(at, _)| is_full() || is_wanted(at));
            jobs.extend(types.map(|(_, compiles)| (arch, family, compiles)));
        }
        // The tiles of the table that this crate has for GPUs without one of their own.
        for (letter, compiles) in LETTERS.into_iter().rev().zip(TYPES) {
            let entries = TileTable::shipped().entries.into_iter().filter(|entry| entry.letter == letter);
            let mut tiles: Vec<ProductTile> = entries.map(|entry| entry.tile).collect();
            tiles.sort_unstable();
            tiles.dedup();
            let step = match arch {
                _ if is_full() => 1,
                "sm_90" => 2,
                _ => tiles.len().max(1),
            };
            jobs.extend(tiles.into_iter().step_by(step).map(|tile| (arch, Family::BatchTiles(tile), compiles)));
        }
    }
    jobs
}

/// Compiles a family for elements of this type. Returns whether there is a compiler.
fn compiles<T: Scalar>(arch: &str, family: Family) -> bool {
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
    let is_for_batches = is_for_batches(family);
    // Kernels for batches are instances of macros.
    let has_all = if is_for_batches { kernels.len() >= names.max(2) } else { kernels.len() == names };
    assert!(has_all, "{}: kernels in the log:\n{log}", program.name());
    assert!(!log.contains("warning"), "{}: {log}", program.name());
    for kernel in kernels {
        println!("{arch} {}: {kernel:?}", program.name());
        let spills = kernel.spill_store_bytes + kernel.spill_load_bytes + kernel.stack_bytes;
        let most = match (is_for_batches, arch) {
            (false, _) => 0,
            (true, "sm_75") => BATCH_SPILLS_OLDEST_MAX,
            (true, _) => BATCH_SPILLS_MAX,
        };
        assert!(spills <= most, "{arch} {}: {kernel:?}", program.name());
    }
    true
}

#[test]
fn every_kernel_compiles_and_spills_nothing() {
    let jobs = Mutex::new(jobs().into_iter());
    // The compiler is slow, and uses one thread for one program.
    let next = || jobs.lock().expect("no thread panics with the lock").next();
    let work = || while next().is_some_and(|(arch, family, compiles)| compiles(arch, family)) {};
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
