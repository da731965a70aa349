//! OpenCL's products with matrix instructions, which only NVIDIA's compilers take. Without a GPU there is no compiler
//! for OpenCL C, so the products of real numbers are compiled as CUDA C++. That checks the generated text, the
//! instructions and the registers. Those of complex numbers need words that CUDA C++ does not have.

use superscalar_devices::cuda;
use superscalar_kernels::opencl::{Parameters, ProductForm, Program, tuning::Database};

/// The words of OpenCL C that real products use, in CUDA C++.
const WORDS: &str = r#"
#define __kernel extern "C" __global__
#define __global
#define __local __shared__
#define inline static __device__ __forceinline__
#define restrict __restrict__
#define barrier(fence) __syncthreads()
#define get_local_id(dimension) ((int)threadIdx.x)
#define get_group_id(dimension) ((dimension) == 0 ? (int)blockIdx.x : (int)blockIdx.y)
typedef unsigned long ulong;
"#;

/// Returns the rows for matrix instructions and real numbers.
fn rows() -> impl Iterator<Item = Parameters> {
    let rows = Database::shipped().rows.iter().map(|row| row.parameters);
    rows.filter(|row| matches!(row.product, ProductForm::Matrix(_)) && !row.element().is_complex)
}

#[test]
fn products_with_matrix_instructions_compile() {
    assert!(rows().count() > 0);
    for (row, program) in rows().flat_map(|row| [Program::Product, Program::Direct].map(|program| (row, program))) {
        let source = format!("{WORDS}{}", program.text(&row));
        let log = match cuda::compile(&source, &[], "sm_90") {
            Ok((cubin, log)) => {
                assert!(cubin.starts_with(b"\x7fELF"), "{row}: no machine code");
                log
            }
            Err(error) if cuda::compile("", &[], "sm_90").is_err() => {
                let required = std::env::var_os("REQUIRE_NVRTC").is_some_and(|value| value == "1");
                assert!(!required, "REQUIRE_NVRTC is 1, but there is no compiler: {error}");
                eprintln!("skipped: {error}");
                return;
            }
            Err(error) => panic!("{row}: {error}"),
        };
        let usage = cuda::usage(&log);
        println!("{program:?} {row}: {usage:?}");
        assert!(matches!(&usage[..], [kernel] if kernel.spill_store_bytes + kernel.stack_bytes == 0), "{row}: {log}");
    }
}
