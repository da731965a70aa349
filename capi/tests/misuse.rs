//! Calls of every function that the library implements with all arguments zero, and with all arguments wrong; and the
//! queries by which Julia's libblastrampoline identifies libraries.

#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

mod shared;

use libloading::Library;
use shared::{library, symbol};
use std::{env, ffi::c_void, process::Command};

/// More arguments than any routine has.
const ARGUMENTS: usize = 24;
/// The bytes at the address of each argument.
const BYTES: usize = 4096;

/// Calls a function with [`ARGUMENTS`] arguments, each an integer or an address. On x86-64 a function with fewer
/// arguments ignores the others. It reads floating-point arguments from vector registers, whose content is arbitrary.
macro_rules! call {
    ($function:expr, $arguments:expr, $result:ty, $($at:literal)*) => {{
        type Any = unsafe extern "C" fn($(call!(@ $at)),*) -> $result;
        // SAFETY: the caller passes the address of a function with the C calling convention.
        let function: Any = unsafe { std::mem::transmute::<*mut c_void, Any>($function) };
        // SAFETY: the tests pass arguments with which the function reads and writes only their arrays.
        unsafe { function($($arguments[$at]),*) }
    }};
    (@ $at:literal) => { usize };
}

fn call(function: *mut c_void, arguments: [usize; ARGUMENTS]) -> i64 {
    call!(function, arguments, i64, 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23)
}

/// Returns the exported names of routines for which `of` is true.
fn routines(of: impl Fn(&str) -> bool) -> impl Iterator<Item = &'static str> {
    let is_routine = |name: &&str| {
        let others = ["xerbla", "nancheck", "num_threads", "openblas", "superscalar", "CBLAS_", "RowMajor", "ilaver"];
        !others.iter().any(|other| name.contains(other))
    };
    include_str!("../symbols.txt").lines().filter(is_routine).filter(move |name| of(name))
}

fn address(library: &Library, name: &str) -> *mut c_void {
    // SAFETY: every listed symbol is a function, and this only takes its address.
    unsafe { *library.get::<*mut c_void>(name).expect(name) }
}

/// Runs the test in a process of its own. Its standard error has thousands of lines and is shown only on failure.
fn in_a_child(test: &str, body: impl FnOnce(&Library)) {
    const CHILD: &str = "MISUSE_CHILD";
    if env::var_os(CHILD).is_some() {
        return body(&library());
    }
    let mut command = Command::new(env::current_exe().expect("a test has a program"));
    let output =
        command.args(["--exact", test, "--nocapture"]).env(CHILD, "1").output().expect("the test program runs");
    let stderr = String::from_utf8_lossy(&output.stderr);
    let last: Vec<_> = stderr.lines().rev().take(12).collect();
    assert!(output.status.success() && !stderr.contains("internal error"), "{}: {last:#?}", output.status);
}

/// A wrong layout is reported as argument 1. With a valid layout, zero sizes and null addresses are valid, or a letter
/// is reported as wrong. Nothing is read or written.
#[test]
fn lapacke_with_zero_arguments() {
    in_a_child("lapacke_with_zero_arguments", |library| {
        let (mut count, mut iter) = (0, 0_i64);
        for name in routines(|name| name.starts_with("LAPACKE_")) {
            let (function, is_wide) = (address(library, name), name.ends_with("64_") || name.ends_with("_64"));
            // Norms are returned in a vector register.
            let is_norm = name.contains("lan");
            for layout in [0, 100, 101, 102] {
                let mut arguments = [0; ARGUMENTS];
                arguments[0] = layout;
                if name.contains("gesv") {
                    // ITER of the mixed-precision solvers, which is behind the workspaces if there are any.
                    arguments[10..14].fill(&raw mut iter as usize);
                }
                eprintln!("{name} {layout}");
                let result = call(function, arguments);
                let info = if is_wide { result } else { i64::from(result as i32) };
                let is_right = if layout <= 100 { info == -1 } else { (-20..=0).contains(&info) };
                assert!(is_norm || is_right, "{name} with layout {layout}: {info}");
                count += 1;
            }
        }
        assert!(count > 1000, "only {count}");
    });
}

#[test]
fn cblas_with_zero_arguments() {
    in_a_child("cblas_with_zero_arguments", |library| {
        let mut results = [[0_u8; BYTES]; 2];
        let place = results.as_mut_ptr() as usize;
        let mut count = 0;
        for name in routines(|name| name.contains("cblas_")) {
            let function = address(library, name);
            for layout in [0, 101, 102] {
                let mut arguments = [0; ARGUMENTS];
                if name.contains("rotg") || name.contains("rotmg") {
                    // All arguments are addresses of numbers.
                    arguments[..6].fill(place);
                } else if name.contains("_sub") || name.contains("rotm") {
                    // The address of the result or of the parameters.
                    arguments[5] = place;
                } else if is_of_level_1(name) {
                    // Complex scalars are passed by address.
                    (arguments[1], arguments[4]) = (place, place);
                } else {
                    arguments[0] = layout;
                    scalars(name).for_each(|at| arguments[at] = place);
                }
                eprintln!("{name} {layout}");
                call(function, arguments);
                count += 1;
            }
        }
        assert!(count > 1000, "only {count}");
    });
}

/// Returns the argument positions of the addresses of scalars in a complex routine of Level 2 or 3.
fn scalars(name: &str) -> impl Iterator<Item = usize> {
    const PLACES: [(&[&str], [usize; 2]); 11] = [
        (&["gemm_batch_strided"], [6, 13]),
        (&["gemm_batch"], [0, 0]),
        (&["gemm", "gbmv"], [6, 11]),
        (&["gemv", "hbmv"], [4, 9]),
        (&["hemv", "symv"], [3, 8]),
        (&["hpmv", "spmv"], [3, 7]),
        (&["syrk", "herk"], [5, 8]),
        (&["symm", "hemm", "syr2k", "her2k"], [5, 10]),
        (&["geru", "gerc", "her2", "hpr2"], [3, 0]),
        (&["trmm", "trsm"], [7, 0]),
        (&[""], [0, 0]),
    ];
    let is_complex = name.contains("cblas_c") || name.contains("cblas_z");
    let found = PLACES.iter().find(|(names, _)| names.iter().any(|part| name.contains(part)));
    found.map_or([0, 0], |(_, places)| *places).into_iter().filter(move |&at| is_complex && at > 0)
}

/// Returns whether the routine takes only vectors and therefore no layout.
fn is_of_level_1(name: &str) -> bool {
    let names = ["axpy", "axpby", "scal", "dot", "copy", "swap", "asum", "nrm2", "amax", "amin", "rot", "sum", "cabs1"];
    names.iter().any(|part| name.contains(part))
}

/// Every argument is first zero, then all ones, which is not a letter and is a negative size. Memory is unchanged
/// except for `info` and other single results.
#[test]
fn fortran_with_constant_bytes() {
    in_a_child("fortran_with_constant_bytes", |library| {
        let mut count = 0;
        for name in routines(|name| !name.contains("LAPACKE_") && !name.contains("cblas_")) {
            let function = address(library, name);
            let is_changed_by_right = ["rotg", "rotmg"].iter().any(|part| name.contains(part));
            for byte in [0_u8, 0xff] {
                let mut behind = vec![[u64::from_ne_bytes([byte; 8]); BYTES / 8]; ARGUMENTS];
                let addresses: Vec<usize> = behind.iter_mut().map(|it| it.as_mut_ptr() as usize).collect();
                let mut arguments = [0; ARGUMENTS];
                arguments.copy_from_slice(&addresses);
                eprintln!("{name} {byte}");
                call(function, arguments);
                let whole = u64::from_ne_bytes([byte; 8]);
                // `info`, `rcond`, a workspace size or ITER: a number at the start of an array.
                let beyond = behind.iter().any(|it| it[2..].iter().any(|&x| x != whole));
                let written = behind.iter().filter(|it| it[0] != whole).count();
                assert!(!beyond && (written <= 3 || is_changed_by_right), "{name}: {written} arguments were written");
                count += 1;
            }
        }
        assert!(count > 1000, "only {count}");
    });
}

/// libblastrampoline makes calls whose results depend on the width of integers and on how complex numbers are returned.
#[test]
fn libblastrampoline_queries() {
    let library = library();
    type Isamax = unsafe extern "C" fn(*const i64, *const f32, *const i64) -> i64;
    type Dpotrf = unsafe extern "C" fn(*const u8, *const i64, *mut f64, *const i64, *mut i64);
    type Complex = [f64; 2];
    for (names, is_wide) in [(["isamax_", "dpotrf_"], false), (["isamax_64_", "dpotrf_64_"], true)] {
        // SAFETY: the functions have these types except for the width of integers, whose lower half comes first.
        unsafe {
            // Three elements as 32 bits, a negative number as 64.
            let count = 0xffff_ffff_0000_0003_u64 as i64;
            let largest = symbol::<Isamax>(&library, names[0])(&count, [1.0, 2.0, 1.0].as_ptr(), &1);
            assert_eq!(largest as u32, if is_wide { 0 } else { 2 });
            let (mut a, mut info) = ([1.0, 0.0, 0.0, -1.0], -1);
            symbol::<Dpotrf>(&library, names[1])(b"U".as_ptr(), &2, a.as_mut_ptr(), &2, &mut info);
            assert_eq!(info, if is_wide { 2 } else { 0xffff_ffff_0000_0002_u64 as i64 });
        }
    }
    // SAFETY: the routine returns complex numbers as C does. Called with an address for the result, it takes that
    // address for the one of the size, which is 0, and reads nothing else.
    unsafe {
        type Zdotc =
            unsafe extern "C" fn(*mut Complex, *const i64, *const Complex, *const i64, *const Complex, *const i64);
        let (mut place, x, y) = ([0.0; 2], [[1.0, 1.0], [2.0, 0.0]], [[3.0, 0.0], [4.0, -1.0]]);
        symbol::<Zdotc>(&library, "zdotc_")(&mut place, &2, x.as_ptr(), &1, y.as_ptr(), &1);
        assert_eq!(place, [0.0; 2]);
        #[repr(C)]
        struct Returned(f64, f64);
        type Returning =
            unsafe extern "C" fn(*const i64, *const Complex, *const i64, *const Complex, *const i64) -> Returned;
        let Returned(re, im) = symbol::<Returning>(&library, "zdotc_")(&2, x.as_ptr(), &1, y.as_ptr(), &1);
        assert_eq!((re, im), (11.0, -5.0));
    }
}
