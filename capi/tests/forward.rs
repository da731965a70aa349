//! Routines that the library forwards to another LAPACK, called as a C program calls them.
//!
//! A process searches for each routine once, so every test runs in a process of its own. Tests that need another LAPACK
//! use Debian's.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

mod shared;

use libloading::{Library, Symbol};
use shared::{library, path, symbol};
use std::{
    ffi::c_char,
    path::{Path, PathBuf},
    process::Command,
    sync::Barrier,
};

/// The value of INFO after a call for which no LAPACK was found.
const NOT_FOUND: i32 = -1099;
/// The variable that is set in the child process of a test.
const CHILD: &str = "DROP_IN_CHILD";

/// Returns the path of a LAPACK of Debian. Tests that need one are skipped if there is none.
fn lapack() -> Option<PathBuf> {
    let folder = Path::new("/usr/lib/x86_64-linux-gnu");
    let found = ["lapack", "openblas-pthread", "openblas-openmp", "openblas-serial"]
        .into_iter()
        .map(|name| folder.join(name).join("liblapack.so.3"))
        .find(|path| path.exists());
    if found.is_none() {
        println!("SKIPPED: no LAPACK to forward to (Debian's package liblapack3)");
    }
    found
}

/// Returns whether this is the child process of a test.
fn is_child() -> bool {
    std::env::var_os(CHILD).is_some()
}

/// Runs the test in a child process with these variables, and returns its standard error.
fn child(test: &str, variables: &[(&str, &str)]) -> String {
    let mut command = Command::new(std::env::current_exe().expect("the path of this program"));
    command.args(["--exact", test, "--nocapture"]).env_remove("SUPERSCALAR_LAPACK").env(CHILD, "1");
    let output = command.envs(variables.iter().copied()).output().expect("the test program runs");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{}{stderr}", String::from_utf8_lossy(&output.stdout));
    stderr
}

/// Returns the exported names of the list with the positions of their INFO arguments.
fn listed() -> Vec<(String, usize)> {
    let lines = include_str!("../forwarded.txt").lines().filter(|line| !line.starts_with('#'));
    let split = |line: &str| {
        let (name, info) = line.split_once(' ').expect("two words");
        (format!("{name}_"), info.parse().expect("a number"))
    };
    lines.map(split).collect()
}

type Letter = *const c_char;
type Int = *const i32;
type Real = *mut f64;

const LETTERS: &std::ffi::CStr = c"ACELMNSUV1";

/// Returns the address of a letter.
fn letter(which: char) -> Letter {
    let at = LETTERS.to_bytes().iter().position(|&byte| byte == which as u8).expect("a letter of the list");
    LETTERS.to_bytes()[at..].as_ptr().cast()
}

/// Calls `dlamch_`, which takes a letter and its length and returns a real number.
fn dlamch(library: &Library, which: char) -> f64 {
    let dlamch: Symbol<unsafe extern "C" fn(Letter, usize) -> f64> = symbol(library, "dlamch_");
    // SAFETY: LAPACK's routine has this type, and the letter is static.
    unsafe { dlamch(letter(which), 1) }
}

#[test]
fn forwarded_list_is_sorted_and_exported() {
    let list = listed();
    let stem = |(name, _): &(String, usize)| name.trim_end_matches('_').to_owned();
    assert!(list.windows(2).all(|pair| stem(&pair[0]) < stem(&pair[1])), "in alphabetical order, each name once");
    let own = include_str!("../symbols.txt");
    let both: Vec<_> = list.iter().filter(|(name, _)| own.lines().any(|line| line == name)).collect();
    assert!(both.is_empty(), "also implemented by this library: {both:?}");
    // LAPACKs in Python's wheels call their own routines by these names, some with 64-bit integers.
    let of_wheels = |name: &str| name.contains("laqz") || name.contains("roundup_lwork");
    assert!(list.iter().all(|(name, _)| !of_wheels(name)), "calls within wheels would be intercepted");
    let library = library();
    for (name, info) in &list {
        // SAFETY: this only looks the symbol up.
        assert!(unsafe { library.get::<*const ()>(name.as_str()) }.is_ok(), "{name}");
        assert!(*info <= 40, "{name}: no routine has {info} arguments");
    }
}

#[test]
fn results_in_registers() {
    if !is_child() {
        if lapack().is_some() {
            child("results_in_registers", &[]);
        }
        return;
    }
    /// A type that the calling convention treats like C's complex numbers.
    #[repr(C)]
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Complex<T>(T, T);
    type Ladiv<T> = unsafe extern "C" fn(*const Complex<T>, *const Complex<T>) -> Complex<T>;
    type Lansb = unsafe extern "C" fn(Letter, Letter, Int, Int, *const f64, Int, Real, usize, usize) -> f64;
    let library = library();
    assert_eq!((dlamch(&library, 'E'), dlamch(&library, 'E')), (f64::EPSILON / 2.0, f64::EPSILON / 2.0));
    let (mut work, band) = ([0.0; 3], [2.0, -7.0, 3.0]);
    // SAFETY: LAPACK's routines have these types, and the arrays are local.
    unsafe {
        let norm: Symbol<Lansb> = symbol(&library, "dlansb_");
        let norm = norm(letter('M'), letter('U'), &3, &0, band.as_ptr(), &1, work.as_mut_ptr(), 1, 1);
        assert_eq!(norm, 7.0);
        let double: Symbol<Ladiv<f64>> = symbol(&library, "zladiv_");
        assert_eq!(double(&Complex(4.0, 2.0), &Complex(0.0, 2.0)), Complex(1.0, -2.0));
        let single: Symbol<Ladiv<f32>> = symbol(&library, "cladiv_");
        assert_eq!(single(&Complex(4.0, 2.0), &Complex(0.0, 2.0)), Complex(1.0, -2.0));
    }
}

#[test]
fn string_lengths_are_forwarded() {
    if !is_child() {
        if lapack().is_some() {
            child("string_lengths_are_forwarded", &[]);
        }
        return;
    }
    type Lsamen = unsafe extern "C" fn(Int, Letter, Letter, usize, usize) -> i32;
    type Ilaenv = unsafe extern "C" fn(Int, Letter, Letter, Int, Int, Int, Int, usize, usize) -> i32;
    let library = library();
    // SAFETY: LAPACK's routines have these types, and the lengths are at most those of the strings.
    unsafe {
        let lsamen: Symbol<Lsamen> = symbol(&library, "lsamen_");
        let same = |one, other| lsamen(&3, c"ABC".as_ptr(), c"abcd".as_ptr(), one, other);
        assert_eq!((same(3, 4), same(2, 4), same(3, 2)), (1, 0, 0));
        // Both lengths are on the stack. Without its last letter the name is unknown, so the block size is 1.
        let ilaenv: Symbol<Ilaenv> = symbol(&library, "ilaenv_");
        let block = |length| ilaenv(&1, c"DGETRF".as_ptr(), c" ".as_ptr(), &999, &999, &-1, &-1, length, 1);
        assert_eq!((block(6), block(5)), (64, 1));
    }
}

type Gesdd =
    unsafe extern "C" fn(Letter, Int, Int, Real, Int, Real, Real, Int, Real, Int, Real, Int, *mut i32, *mut i32, usize);

/// Returns the singular values of the diagonal matrix of 3 and 4, and INFO.
fn singular_values(library: &Library) -> ([f64; 2], i32) {
    let gesdd: Symbol<Gesdd> = symbol(library, "dgesdd_");
    let (mut a, mut s, mut u, mut vt) = ([3.0, 0.0, 0.0, 4.0], [0.0; 2], [0.0; 4], [0.0; 4]);
    let (mut work, mut integers, mut info) = ([0.0; 200], [0; 16], 77);
    let (a, values, u, vt, work) = (a.as_mut_ptr(), s.as_mut_ptr(), u.as_mut_ptr(), vt.as_mut_ptr(), work.as_mut_ptr());
    // SAFETY: LAPACK's routine has this type, and the local arrays have the lengths that it needs.
    unsafe {
        gesdd(letter('A'), &2, &2, a, &2, values, u, &2, vt, &2, work, &200, integers.as_mut_ptr(), &mut info, 1)
    };
    (s, info)
}

type Gesvx = unsafe extern "C" fn(
    Letter,
    Letter,
    Int,
    Int,
    Real,
    Int,
    Real,
    Int,
    *mut i32,
    *mut c_char,
    Real,
    Real,
    Real,
    Int,
    Real,
    Int,
    Real,
    Real,
    Real,
    Real,
    *mut i32,
    *mut i32,
    usize,
    usize,
    usize,
);

/// Returns the solution of a system of order two, its reciprocal condition number and INFO.
fn solved(library: &Library) -> ([f64; 2], f64, i32) {
    let gesvx: Symbol<Gesvx> = symbol(library, "dgesvx_");
    let (mut a, mut b, mut x, mut condition) = ([2.0, 0.0, 0.0, 4.0], [2.0, 12.0], [0.0; 2], 0.0);
    let ([mut af, mut rows, mut columns, mut forward, mut backward], mut work) = ([[0.0; 4]; 5], [0.0; 8]);
    let (mut pivots, mut equed, mut integers, mut info) = ([0; 2], 0, [0; 2], 77);
    let (af, rows, columns) = (af.as_mut_ptr(), rows.as_mut_ptr(), columns.as_mut_ptr());
    let (forward, backward, work) = (forward.as_mut_ptr(), backward.as_mut_ptr(), work.as_mut_ptr());
    let (a, b, solution) = (a.as_mut_ptr(), b.as_mut_ptr(), x.as_mut_ptr());
    let (pivots, integers, n) = (pivots.as_mut_ptr(), integers.as_mut_ptr(), letter('N'));
    // SAFETY: LAPACK's routine has this type, and the local arrays have the lengths that it needs.
    unsafe {
        gesvx(
            n,
            n,
            &2,
            &1,
            a,
            &2,
            af,
            &2,
            pivots,
            &mut equed,
            rows,
            columns,
            b,
            &2,
            solution,
            &2,
            &mut condition,
            forward,
            backward,
            work,
            integers,
            &mut info,
            1,
            1,
            1,
        );
    }
    (x, condition, info)
}

#[test]
fn stack_arguments_are_forwarded() {
    if !is_child() {
        if lapack().is_some() {
            child("stack_arguments_are_forwarded", &[]);
        }
        return;
    }
    let library = library();
    for _ in 0..3 {
        assert_eq!(singular_values(&library), ([4.0, 3.0], 0));
        assert_eq!(solved(&library), ([1.0, 3.0], 0.5, 0));
    }
}

type Gees = unsafe extern "C" fn(
    Letter,
    Letter,
    unsafe extern "C" fn(*const f64, *const f64) -> i32,
    Int,
    Real,
    Int,
    *mut i32,
    Real,
    Real,
    Real,
    Int,
    Real,
    Int,
    *mut i32,
    *mut i32,
    usize,
    usize,
);

#[test]
fn function_arguments_are_forwarded() {
    if !is_child() {
        if lapack().is_some() {
            child("function_arguments_are_forwarded", &[]);
        }
        return;
    }
    unsafe extern "C" fn is_large(real: *const f64, _imaginary: *const f64) -> i32 {
        // SAFETY: `dgees_` passes the address of a number.
        (unsafe { *real } > 2.0).into()
    }
    let library = library();
    let gees: Symbol<Gees> = symbol(&library, "dgees_");
    let (mut a, mut flags, mut selected, mut info) = ([1.0, 0.0, 2.0, 3.0], [0; 2], 0, 77);
    let [mut real, mut imaginary, mut vectors, mut work] = [[0.0; 64]; 4];
    let (reals, imaginaries, vectors) = (real.as_mut_ptr(), imaginary.as_mut_ptr(), vectors.as_mut_ptr());
    let (a, work, flags) = (a.as_mut_ptr(), work.as_mut_ptr(), flags.as_mut_ptr());
    // SAFETY: LAPACK's routine has this type, and the local arrays have the lengths that it needs.
    unsafe {
        gees(
            letter('V'),
            letter('S'),
            is_large,
            &2,
            a,
            &2,
            &mut selected,
            reals,
            imaginaries,
            vectors,
            &2,
            work,
            &64,
            flags,
            &mut info,
            1,
            1,
        );
    }
    assert_eq!((info, selected), (0, 1));
    assert!((real[0] - 3.0).abs() < 1e-14 && (real[1] - 1.0).abs() < 1e-14, "{real:?}");
}

#[test]
fn concurrent_searches_on_small_stacks() {
    if !is_child() {
        if lapack().is_some() {
            for _ in 0..5 {
                child("concurrent_searches_on_small_stacks", &[]);
            }
        }
        return;
    }
    let (library, barrier) = (library(), Barrier::new(8));
    std::thread::scope(|scope| {
        for _ in 0..8 {
            let thread = std::thread::Builder::new().stack_size(128 << 10);
            let body = || {
                barrier.wait();
                assert_eq!(dlamch(&library, 'E'), f64::EPSILON / 2.0);
                assert_eq!(solved(&library), ([1.0, 3.0], 0.5, 0));
                assert_eq!(singular_values(&library), ([4.0, 3.0], 0));
            };
            thread.spawn_scoped(scope, body).expect("a thread");
        }
    });
}

#[test]
fn missing_lapack_is_reported_once() {
    if !is_child() {
        let stderr = child("missing_lapack_is_reported_once", &[("SUPERSCALAR_LAPACK", "off")]);
        for name in ["dgesdd_", "dgesvx_", "dlamch_", "zladiv_", "dpotrf2_", "dgetf2_", "dgeqr2_"] {
            let line = format!("superscalar: {name}: no LAPACK was found and nothing was computed; ");
            assert_eq!(stderr.matches(&line).count(), 1, "{line} in {stderr}");
        }
        return;
    }
    type Ladiv = unsafe extern "C" fn(*const [f64; 2], *const [f64; 2]) -> f64;
    type Five = unsafe extern "C" fn(Letter, Int, Real, Int, *mut i32, usize);
    type Six = unsafe extern "C" fn(Int, Int, Real, Int, *mut i32, *mut i32);
    type Seven = unsafe extern "C" fn(Int, Int, Real, Int, Real, Real, *mut i32);
    let library = library();
    for _ in 0..2 {
        // INFO is deep in the stack, at its top, in the last register, and in another register.
        assert_eq!(singular_values(&library), ([0.0; 2], NOT_FOUND));
        assert_eq!(solved(&library), ([0.0; 2], 0.0, NOT_FOUND));
        assert_eq!(dlamch(&library, 'E'), 0.0);
        let (mut a, mut tau, mut work, mut info) = ([1.0], [5.0], [6.0], [1, 2, 3]);
        let (matrix, reflectors, workspace) = (a.as_mut_ptr(), tau.as_mut_ptr(), work.as_mut_ptr());
        // SAFETY: the routines have these types, except that `zladiv_` returns a second number.
        unsafe {
            let ladiv: Symbol<Ladiv> = symbol(&library, "zladiv_");
            assert_eq!(ladiv(&[1.0, 1.0], &[1.0, 1.0]), 0.0);
            let potrf2: Symbol<Five> = symbol(&library, "dpotrf2_");
            potrf2(letter('L'), &1, matrix, &1, &mut info[0], 1);
            let getf2: Symbol<Six> = symbol(&library, "dgetf2_");
            getf2(&1, &1, matrix, &1, &mut 0, &mut info[1]);
            let geqr2: Symbol<Seven> = symbol(&library, "dgeqr2_");
            geqr2(&1, &1, matrix, &1, reflectors, workspace, &mut info[2]);
        }
        assert_eq!((a, tau, work, info), ([1.0], [5.0], [6.0], [NOT_FOUND; 3]));
    }
}

#[test]
fn configured_library_is_used() {
    let name = "configured_library_is_used";
    if !is_child() {
        if let Some(lapack) = lapack() {
            let stderr = child(name, &[("SUPERSCALAR_LAPACK", lapack.to_str().expect("a path"))]);
            assert!(!stderr.contains("superscalar:"), "{stderr}");
        }
        return;
    }
    let named = std::env::var("SUPERSCALAR_LAPACK").expect("the parent sets SUPERSCALAR_LAPACK");
    let file = std::fs::canonicalize(named).expect("a file");
    let is_mapped =
        || std::fs::read_to_string("/proc/self/maps").expect("maps").contains(file.to_str().expect("a path"));
    let library = library();
    assert!(!is_mapped(), "nothing is loaded before the first call");
    assert_eq!(solved(&library), ([1.0, 3.0], 0.5, 0));
    assert!(is_mapped(), "{} is not loaded", file.display());
}

#[test]
fn unusable_configured_libraries_are_reported() {
    let name = "unusable_configured_libraries_are_reported";
    if !is_child() {
        if lapack().is_none() {
            return;
        }
        let own = path();
        for (value, expected) in [
            ("/no/such/file", "superscalar: SUPERSCALAR_LAPACK=/no/such/file: "),
            ("libm.so.6", "superscalar: dgesdd_: the library in SUPERSCALAR_LAPACK does not have this routine"),
            (
                own.to_str().expect("a path"),
                "superscalar: dgesdd_: the library in SUPERSCALAR_LAPACK forwards to this library",
            ),
        ] {
            let stderr = child(name, &[("SUPERSCALAR_LAPACK", value)]);
            let lines: Vec<&str> = stderr.lines().filter(|line| line.starts_with("superscalar:")).collect();
            assert!(lines.len() == 1 && lines[0].starts_with(expected), "{lines:?}");
        }
        return;
    }
    let library = library();
    assert_eq!(singular_values(&library), ([4.0, 3.0], 0));
    assert_eq!(solved(&library), ([1.0, 3.0], 0.5, 0));
}

#[test]
fn privately_loaded_lapack_is_found() {
    let name = "privately_loaded_lapack_is_found";
    if !is_child() {
        if lapack().is_some() {
            let own = path();
            // As for a Python module: this library is preloaded, and the module's LAPACK is not in the global scope.
            let stderr = child(name, &[("LD_PRELOAD", own.to_str().expect("a path"))]);
            assert!(!stderr.contains("superscalar:"), "{stderr}");
        }
        return;
    }
    let file = lapack().expect("a LAPACK");
    // SAFETY: the initialisers of a LAPACK have no preconditions.
    let _module = unsafe { Library::new(&file) }.expect("a library");
    let lapacks = || {
        let maps = std::fs::read_to_string("/proc/self/maps").expect("maps");
        let mut files: Vec<String> =
            maps.lines().filter_map(|line| line.split_whitespace().nth(5)).map(str::to_owned).collect();
        files.retain(|file| file.contains("lapack"));
        files.sort_unstable();
        files.dedup();
        files
    };
    let before = lapacks();
    let library = library();
    assert_eq!(singular_values(&library), ([4.0, 3.0], 0));
    assert_eq!(solved(&library), ([1.0, 3.0], 0.5, 0));
    assert_eq!(lapacks(), before, "no other LAPACK is loaded");
}
