//! Programs: the compiler's log, also without a GPU.

use crate::bench::{Bench, PROGRAM, SOURCE};
use superscalar_devices::cuda::{self, Library, Program};

fn has_compiler() -> bool {
    match cuda::requires(Library::Nvrtc, &[]) {
        Ok(()) => true,
        Err(error) => {
            let is_required = ["REQUIRE_CUDA", "REQUIRE_NVRTC"]
                .iter()
                .any(|name| std::env::var(name).is_ok_and(|value| value == "1"));
            assert!(!is_required, "{error}");
            eprintln!("SKIPPED: {error}");
            false
        }
    }
}

#[test]
fn program_compiles_without_a_gpu() {
    if !has_compiler() {
        return;
    }
    // The second log must equal the first: it must not depend on the compiler's own cache.
    for _ in 0..2 {
        let (cubin, log) = cuda::compile(SOURCE, &["-DUNUSED=1"], "sm_90").expect("it compiles");
        assert!(cubin.starts_with(b"\x7fELF"), "machine code");
        let usage = cuda::usage(&log);
        let mut names: Vec<&str> = usage.iter().map(|kernel| kernel.kernel.as_str()).collect();
        names.sort_unstable();
        assert_eq!(names, ["add", "set", "spin", "trap", "triple"], "{log}");
        for kernel in usage {
            assert!(kernel.registers > 0 && kernel.spill_store_bytes + kernel.spill_load_bytes == 0, "{kernel:?}");
        }
    }
}

/// The kernel of small copies between heaps.
#[test]
fn small_copy_kernel_compiles_without_spills() {
    if !has_compiler() {
        return;
    }
    for arch in ["sm_75", "sm_90", "sm_100"] {
        let (cubin, log) = cuda::compile(include_str!("../../src/cuda/text/copy.cu"), &[], arch).expect("it compiles");
        assert!(cubin.starts_with(b"\x7fELF") && !log.contains("warning"), "{arch}: {log}");
        let [copy] = &cuda::usage(&log)[..] else { panic!("one kernel: {log}") };
        println!("{arch}: {copy:?}");
        assert!(copy.kernel == "copy" && copy.registers > 0, "{copy:?}");
        assert_eq!(copy.stack_bytes + copy.spill_store_bytes + copy.spill_load_bytes, 0, "{arch}: {copy:?}");
    }
}

#[test]
fn compile_error_names_the_symbol() {
    if !has_compiler() {
        return;
    }
    let wrong = "extern \"C\" __global__ void wrong(int *x) { x[0] = not_declared_anywhere; }";
    let error = cuda::compile(wrong, &[], "sm_90").expect_err("it does not compile");
    let message = error.to_string();
    assert!(message.contains("not_declared_anywhere") && message.contains("nvrtcCompileProgram"), "{message}");
    cuda::compile(SOURCE, &[], "sm_1").expect_err("no such architecture");
    cuda::compile(SOURCE, &["--no-such-option"], "sm_90").expect_err("no such option");
    cuda::compile("a\0b", &[], "sm_90").expect_err("a zero byte");
}

#[test]
fn spills_are_reported() {
    if !has_compiler() {
        return;
    }
    // More values than 32 registers hold, all of them live until the end.
    let source = "extern \"C\" __global__ void __launch_bounds__(1024, 2) crowded(double *x) {
        double v[64];
        #pragma unroll
        for (int i = 0; i < 64; ++i) v[i] = x[i * 1024 + threadIdx.x];
        __syncthreads();
        #pragma unroll
        for (int i = 0; i < 64; ++i) x[(63 - i) * 1024 + threadIdx.x] = v[i] * v[(i * 7 + 3) % 64];
    }";
    let (_, log) = cuda::compile(source, &[], "sm_90").expect("it compiles");
    let usage = cuda::usage(&log);
    assert!(usage.len() == 1 && usage[0].spill_store_bytes > 0 && usage[0].spill_load_bytes > 0, "{log}");
}

#[test]
fn compiler_log_reaches_the_task() {
    let Some(mut bench) = Bench::open(1) else { return };
    let wrong = Program::new("wrong one", "extern \"C\" __global__ void wrong(int *x) { x[0] = nowhere; }", &[]);
    for _ in 0..2 {
        let error = bench.issue((0, 0), &[], |queue| queue.compile(&wrong).map(drop)).expect_err("it does not compile");
        let message = error.to_string();
        assert!(message.contains("nowhere") && message.contains("wrong one") && !error.is_lost(), "{message}");
    }
    let event = bench.issue((0, 0), &[], |queue| queue.function(&PROGRAM, "set").map(drop)).expect("others still do");
    bench.end_of(event).result.expect("it ends well");
}
