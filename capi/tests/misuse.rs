//! Every function that the library computes, called with zeros for all arguments, and with wrong ones for all; and the
//! questions by which Julia's libblastrampoline tells libraries apart.

#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

mod shared;

use libloading::Library;
use shared::{library, symbol};
use std::{env, ffi::c_void, process::Command};

/// More arguments than any routine has.
const ARGUMENTS: usize = 24;
/// Bytes behind the address of each.
const BYTES: usize = 4096;

/// A call with so many arguments, each an integer or an address. On x86-64 a function that has fewer does not see the
/// others, and reads floating-point numbers from vector registers, which hold what was left there.
macro_rules! call {
    ($function:expr, $arguments:expr, $result:ty, $($at:literal)*) => {{
        type Any = unsafe extern "C" fn($(call!(@ $at)),*) -> $result;
        // SAFETY: the caller gives the address of a function.
        let function: Any = unsafe { std::mem::transmute::<*mut c_void, Any>($function) };
        // SAFETY: as this test's functions say.
        unsafe { function($($arguments[$at]),*) }
    }};
    (@ $at:literal) => { usize };
}

fn call(function: *mut c_void, arguments: [usize; ARGUMENTS]) -> i64 {
    call!(function, arguments, i64, 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23)
}

/// The names that the library computes and that have a routine's arguments.
fn routines(of: impl Fn(&str) -> bool) -> impl Iterator<Item = &'static str> {
    let is_routine = |name: &&str| {
        let others = ["xerbla", "nancheck", "num_threads", "openblas", "superscalar", "CBLAS_", "RowMajor", "ilaver"];
        !others.iter().any(|other| name.contains(other))
    };
    include_str!("../symbols.txt").lines().filter(is_routine).filter(move |name| of(name))
}

fn address(library: &Library, name: &str) -> *mut c_void {
    // SAFETY: it is the address of a function, and nothing is called.
    unsafe { *library.get::<*mut c_void>(name).expect(name) }
}

/// Runs the test in a process of its own, whose standard error (thousands of lines) is looked at only if it fails.
fn in_a_child(test: &str, body: impl FnOnce(&Library)) {
    const CHILD: &str = "MISUSE_CHILD";
    if env::var_os(CHILD).is_some() {
        return body(&library());
    }
    let mut command = Command::new(env::current_exe().expect("a test has a program"));
    let output = command.args(["--exact", test, "--nocapture"]).env(CHILD, "1").output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr);
    let last: Vec<_> = said.lines().rev().take(12).collect();
    assert!(output.status.success() && !said.contains("internal error"), "{}: {last:#?}", output.status);
}

/// A wrong layout is argument 1. With a right one, sizes of zero and null addresses are legal, or a letter is named as the
/// wrong argument. Nothing is read or written.
#[test]
fn lapacke_and_nothing() {
    in_a_child("lapacke_and_nothing", |library| {
        let mut count = 0;
        for name in routines(|name| name.starts_with("LAPACKE_")) {
            let (function, is_wide) = (address(library, name), name.ends_with("64_") || name.ends_with("_64"));
            // Norms are returned elsewhere.
            let is_norm = name.contains("lan");
            for layout in [0, 100, 101, 102] {
                let mut arguments = [0; ARGUMENTS];
                arguments[0] = layout;
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
fn cblas_and_nothing() {
    in_a_child("cblas_and_nothing", |library| {
        let mut results = [[0_u8; BYTES]; 2];
        let place = results.as_mut_ptr() as usize;
        let mut count = 0;
        for name in routines(|name| name.contains("cblas_")) {
            let function = address(library, name);
            for layout in [0, 101, 102] {
                let mut arguments = [0; ARGUMENTS];
                if name.contains("rotg") || name.contains("rotmg") {
                    // All of them are addresses of numbers.
                    arguments[..6].fill(place);
                } else if name.contains("_sub") || name.contains("rotm") {
                    // The result's place, and the parameters'.
                    arguments[5] = place;
                } else if is_of_level_1(name) {
                    // Complex scalars are behind addresses.
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

/// Where the addresses of scalars are among the arguments of a complex routine of Level 2 or 3.
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

/// Whether the routine has vectors alone, and so no layout.
fn is_of_level_1(name: &str) -> bool {
    let names = ["axpy", "axpby", "scal", "dot", "copy", "swap", "asum", "nrm2", "amax", "amin", "rot", "sum", "cabs1"];
    names.iter().any(|part| name.contains(part))
}

/// Every argument is first zero, then all ones, which is no letter and a size below zero. Memory stays as it is, but for
/// `info` and other single results.
#[test]
fn fortran_and_nothing() {
    in_a_child("fortran_and_nothing", |library| {
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
                // `info`, `rcond`, the size of a workspace, or ITER: a number at the beginning.
                let beyond = behind.iter().any(|it| it[2..].iter().any(|&x| x != whole));
                let written = behind.iter().filter(|it| it[0] != whole).count();
                assert!(!beyond && (written <= 3 || is_changed_by_right), "{name}: {written} arguments were written");
                count += 1;
            }
        }
        assert!(count > 1000, "only {count}");
    });
}

/// libblastrampoline calls functions in ways that have different results by the width of integers and by how complex
/// numbers are returned.
#[test]
fn julias_questions() {
    let library = library();
    type Isamax = unsafe extern "C" fn(*const i64, *const f32, *const i64) -> i64;
    type Dpotrf = unsafe extern "C" fn(*const u8, *const i64, *mut f64, *const i64, *mut i64);
    type Complex = [f64; 2];
    for (names, is_wide) in [(["isamax_", "dpotrf_"], false), (["isamax_64_", "dpotrf_64_"], true)] {
        // SAFETY: the functions have these types, but for the width of integers, of which the lower half comes first.
        unsafe {
            // Three elements, or fewer than none.
            let count = 0xffff_ffff_0000_0003_u64 as i64;
            let largest = symbol::<Isamax>(&library, names[0])(&count, [1.0, 2.0, 1.0].as_ptr(), &1);
            assert_eq!(largest as u32, if is_wide { 0 } else { 2 });
            let (mut a, mut info) = ([1.0, 0.0, 0.0, -1.0], -1);
            symbol::<Dpotrf>(&library, names[1])(b"U".as_ptr(), &2, a.as_mut_ptr(), &2, &mut info);
            assert_eq!(info, if is_wide { 2 } else { 0xffff_ffff_0000_0002_u64 as i64 });
        }
    }
    // SAFETY: the routine returns complex numbers as C does. Called as if it did not, it takes the place of the result for
    // a size, which is 0, and reads nothing else.
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
