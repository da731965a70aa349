//! OpenCL's kernels that only NVIDIA's compilers take: products with matrix instructions, and panels by groups that
//! wait for each other. Without a GPU there is no compiler for OpenCL C, so they are compiled as CUDA C++. That checks
//! the generated text, the inline PTX and the registers, and of all kernels the local memory.

use superscalar_devices::cuda;
use superscalar_kernels::{
    opencl::{Class, Parameters, ProductForm, Program, tuning::Database},
    scalar::LETTERS,
};

/// The words of OpenCL C that the kernels use, in CUDA C++.
const WORDS: &str = r#"
#define __kernel extern "C" __global__
#define __global
#define __local __shared__
#define inline static __device__ __forceinline__
#define restrict __restrict__
#define barrier(fence) __syncthreads()
#define get_local_id(dimension) ((int)threadIdx.x)
#define get_group_id(dimension) ((dimension) == 0 ? (int)blockIdx.x : (int)blockIdx.y)
#define get_num_groups(dimension) ((int)gridDim.x)
#define get_global_id(dimension) ((int)(blockIdx.x * blockDim.x + threadIdx.x))
#define atomic_inc(count) atomicAdd((int *)(count), 1)
#define as_long __double_as_longlong
#define as_double __longlong_as_double
#define as_int __float_as_int
#define as_float __int_as_float
#define clz __clz
#define clamp(x, least, most) min(max(x, least), most)
#define DBL_MIN 0x1p-1022
#define FLT_MIN 0x1p-126f
#define DBL_EPSILON 0x1p-52
#define FLT_EPSILON 0x1p-23f
#define NAN __int_as_float(0x7fffffff)
typedef unsigned int uint;
typedef unsigned long ulong;
template <typename R> struct alignas(2 * sizeof(R)) Pair {
    R s0, s1;
    Pair() = default;
    __device__ Pair(R re, R im) : s0(re), s1(im) {}
    __device__ Pair operator-() const { return {-s0, -s1}; }
    __device__ Pair operator+(Pair o) const { return {s0 + o.s0, s1 + o.s1}; }
    __device__ Pair operator-(Pair o) const { return {s0 - o.s0, s1 - o.s1}; }
    __device__ Pair operator*(R by) const { return {s0 * by, s1 * by}; }
    __device__ Pair operator/(R by) const { return {s0 / by, s1 / by}; }
    __device__ Pair &operator+=(Pair o) { return *this = *this + o; }
    __device__ Pair &operator*=(R by) { return *this = *this * by; }
    __device__ Pair &operator-=(Pair o) { return *this = *this - o; }
};
#define double2 Pair<double>
#define float2 Pair<float>
"#;

/// Returns a program in CUDA C++, where pointers have no address spaces, and pairs have constructors.
fn cuda_text(program: Program, row: &Parameters) -> String {
    let text = program.text(row).replace("(elem)(", "elem(").replace("#define SPACE __local", "#define SPACE");
    let text = text.replace("__attribute__((reqd_work_group_size(lanes, 1, 1)))", "__launch_bounds__(lanes)");
    let spaces = ["__local ", "OWN "].into_iter().fold(text, |text, space| {
        let mut parts = text.split(space);
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |text, part| {
            let is_pointer = part.find(['*', '[', ';', '\n']).is_some_and(|at| part[at..].starts_with('*'));
            text + if is_pointer { "" } else { space } + part
        })
    });
    format!("{WORDS}{spaces}")
}

/// Compiles a program, and returns what its kernels use; `None` if there is no compiler.
fn compiled(program: Program, row: &Parameters) -> Option<Vec<cuda::Usage>> {
    match cuda::compile(&cuda_text(program, row), &[], "sm_90") {
        Ok((cubin, log)) => {
            assert!(cubin.starts_with(b"\x7fELF"), "{program:?} {row}: no machine code");
            let usage = cuda::usage(&log);
            println!("{program:?} {row}: {usage:?}");
            assert!(!usage.is_empty(), "{program:?} {row}: {log}");
            Some(usage)
        }
        Err(error) if cuda::compile("", &[], "sm_90").is_err() => {
            let required = std::env::var_os("REQUIRE_NVRTC").is_some_and(|value| value == "1");
            assert!(!required, "REQUIRE_NVRTC is 1, but there is no compiler: {error}");
            eprintln!("skipped: {error}");
            None
        }
        Err(error) => panic!("{program:?} {row}: {error}"),
    }
}

/// The most bytes that spill. The compiler of OpenCL C assigns registers in its own way, so a few say nothing: the
/// fastest product of real numbers of a search spills 512. Without packing it spills none.
const SPILLS_MAX: u32 = 512;

fn spill_bytes(usage: &cuda::Usage) -> u32 {
    usage.spill_store_bytes + usage.spill_load_bytes + usage.stack_bytes
}

#[test]
fn products_with_matrix_instructions_compile() {
    let rows = Database::shipped().rows.iter().map(|row| row.parameters);
    let rows: Vec<_> = rows.filter(|row| matches!(row.product, ProductForm::Matrix(_))).collect();
    assert!(!rows.is_empty());
    for (row, program) in
        rows.into_iter().flat_map(|row| [Program::Product, Program::Direct, Program::DirectSmall].map(|p| (row, p)))
    {
        let Some(usage) = compiled(program, &row) else { return };
        let most = if row.element().is_complex || program == Program::Product { SPILLS_MAX } else { 0 };
        assert!(matches!(&usage[..], [kernel] if spill_bytes(kernel) <= most), "{usage:?}");
    }
}

#[test]
fn triangles_with_matrix_instructions_compile() {
    let rows = Database::shipped().rows.iter().map(|row| row.parameters);
    for row in rows.filter(|row| matches!(row.product, ProductForm::Matrix(_))) {
        let Some(usage) = compiled(Program::Triangle, &row) else { return };
        assert!(usage.iter().all(|kernel| spill_bytes(kernel) <= SPILLS_MAX), "{usage:?}");
        assert!(usage.iter().any(|kernel| kernel.kernel == "solve"), "{usage:?}");
        let most = usage.iter().map(|kernel| kernel.shared_bytes as usize).max().unwrap_or(0);
        let known = Program::Triangle.local_bytes(&row);
        assert!(most.abs_diff(known) <= 64, "{row}: {most} bytes, but {known} are known");
    }
}

#[test]
fn panels_of_concurrent_groups_compile() {
    for row in LETTERS.map(|letter| Parameters::of(Class::Gpu, letter)) {
        for program in [Program::PanelLuTogether, Program::PanelQrTogether] {
            let Some(usage) = compiled(program, &row) else { return };
            assert!(usage.iter().all(|kernel| spill_bytes(kernel) <= SPILLS_MAX), "{usage:?}");
            assert!(usage.iter().any(|kernel| kernel.kernel.ends_with("_together")), "{usage:?}");
        }
    }
}

/// The bytes by which a row is refused are those that the kernels take, but for what aligns them.
#[test]
fn local_memory_of_kernels_is_known() {
    for (turn, program) in Program::ALL.into_iter().enumerate() {
        let row = Parameters::of(Class::Gpu, LETTERS[turn % LETTERS.len()]);
        if matches!(program, Program::Product | Program::Pack | Program::DirectSmall) {
            // They have vectors, which CUDA C++ has not, or are empty in rows without matrix instructions.
            continue;
        }
        let Some(usage) = compiled(program, &row) else { return };
        let most = usage.iter().map(|kernel| kernel.shared_bytes as usize).max().unwrap_or(0);
        let known = program.local_bytes(&row);
        assert!(most.abs_diff(known) <= 64, "{program:?} {row}: {most} bytes, but {known} are known");
    }
}
