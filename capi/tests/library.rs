//! The library as a C program uses it: opened by name, called by symbol.

mod shared;

use libloading::{Library, Symbol};
use shared::{library, path, run_in_child};
use std::{
    ffi::c_char,
    process::Command,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// Serializes the tests, since standard error and the settings belong to the process.
fn lock_tests() -> MutexGuard<'static, ()> {
    static TESTS: Mutex<()> = Mutex::new(());
    TESTS.lock().unwrap_or_else(PoisonError::into_inner)
}

type Dgemm<I> = unsafe extern "C" fn(
    *const c_char,
    *const c_char,
    *const I,
    *const I,
    *const I,
    *const f64,
    *const f64,
    *const I,
    *const f64,
    *const I,
    *const f64,
    *mut f64,
    *const I,
);

/// Computes C := A B of order n with the routine `name`, and checks the result.
fn product<I: Copy>(library: &Library, name: &str, n: usize, size: impl Fn(usize) -> I) -> Vec<f64> {
    let a: Vec<f64> = (0..n * n).map(|at| (at % 7) as f64).collect();
    let b: Vec<f64> = (0..n * n).map(|at| (at % 5) as f64 - 2.0).collect();
    let mut c = vec![f64::NAN; n * n];
    let (order, letter) = (size(n), b'n' as c_char);
    // SAFETY: the symbol has this type, and the matrices have this order.
    unsafe {
        let dgemm: Symbol<Dgemm<I>> = library.get(name).expect("the symbol");
        let (order, letter) = (&raw const order, &raw const letter);
        let (a, b, c) = (a.as_ptr(), b.as_ptr(), c.as_mut_ptr());
        dgemm(letter, letter, order, order, order, &1.0, a, order, b, order, &0.0, c, order);
    }
    let expected = |i: usize, j: usize| (0..n).map(|p| a[i + p * n] * b[p + j * n]).sum::<f64>();
    assert!((0..n * n).all(|at| c[at] == expected(at % n, at / n)), "{name} of order {n}");
    c
}

#[test]
fn exported_symbols_are_listed() {
    let output = Command::new("nm").args(["-D", "--defined-only"]).arg(path()).output().expect("nm, of binutils");
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).expect("symbols");
    let mut found: Vec<&str> = text.lines().filter_map(|line| line.split(' ').nth(2)).collect();
    found.sort_unstable();
    let mut listed: Vec<String> = include_str!("../symbols.txt").lines().map(str::to_owned).collect();
    if cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        let lines = include_str!("../forwarded.txt").lines().filter(|line| !line.starts_with('#'));
        listed.extend(lines.filter_map(|line| line.split(' ').next()).map(|name| format!("{name}_")));
    }
    listed.sort_unstable();
    let missing: Vec<_> = listed.iter().filter(|name| found.binary_search(&name.as_str()).is_err()).collect();
    let unlisted: Vec<_> = found.iter().filter(|name| listed.binary_search(&(**name).to_owned()).is_err()).collect();
    assert!(missing.is_empty() && unlisted.is_empty(), "missing {missing:?}, in neither list {unlisted:?}");
}

#[test]
fn all_symbol_names_compute() {
    let (_guard, library) = (lock_tests(), library());
    for n in [1, 5, 64, 400] {
        product(&library, "dgemm_", n, |n| n as i32);
        product(&library, "dgemm_64_", n, |n| n as i64);
        product(&library, "scipy_dgemm_", n, |n| n as i32);
        product(&library, "scipy_dgemm_64_", n, |n| n as i64);
    }
}

#[test]
fn thread_count_is_respected() {
    let (_guard, library) = (lock_tests(), library());
    if std::env::var_os("DROP_IN_CHILD").is_none() {
        // In a process in which no other test has started threads.
        run_in_child("thread_count_is_respected", &[("OPENBLAS_NUM_THREADS", "2")]);
        return;
    }
    let own = || std::fs::read_dir("/proc/self/task").expect("threads").count();
    // SAFETY: the symbols have these types.
    unsafe {
        let set: Symbol<unsafe extern "C" fn(i32)> = library.get("openblas_set_num_threads").expect("the symbol");
        let get: Symbol<unsafe extern "C" fn() -> i32> = library.get("openblas_get_num_threads").expect("the symbol");
        assert_eq!(get(), 2);
        set(1);
        assert_eq!(get(), 1);
        let before = own();
        let serial = product(&library, "dgemm_", 300, |n| n as i32);
        assert_eq!(own(), before, "one thread computes");
        set(3);
        assert_eq!(get(), 3);
        assert_eq!(product(&library, "dgemm_", 300, |n| n as i32), serial);
        assert!(own() >= before + 3, "{} threads, {before} before", own());
        for none in [0, -1] {
            set(3);
            set(none);
            assert_eq!(get(), 2, "the value of the environment variable");
        }
    }
}

#[test]
fn empty_matrices_may_be_null() {
    let (_guard, library) = (lock_tests(), library());
    let (zero, one, letter) = (0_i32, 1_i32, b'N' as c_char);
    // SAFETY: the symbol has this type, and a matrix without elements is not accessed.
    unsafe {
        let dgemm: Symbol<Dgemm<i32>> = library.get("dgemm_").expect("the symbol");
        let (none, some, letter) = (&raw const zero, &raw const one, &raw const letter);
        let (null, null_mut) = (std::ptr::null(), std::ptr::null_mut());
        dgemm(letter, letter, none, none, none, &1.0, null, some, null, some, &1.0, null_mut, some);
        dgemm(letter, letter, none, some, some, &1.0, null, some, null, some, &1.0, null_mut, some);
        let mut c = 3.0;
        dgemm(letter, letter, some, some, none, &1.0, null, some, null, some, &2.0, &mut c, some);
        assert_eq!(c, 6.0);
    }
}

/// Solves a system of order n whose largest elements are on the antidiagonal, so that every row is exchanged.
fn factor(library: &Library, n: usize) {
    type Gesv =
        unsafe extern "C" fn(*const i32, *const i32, *mut f64, *const i32, *mut i32, *mut f64, *const i32, *mut i32);
    let element = |i: usize, j: usize| if i + j + 1 == n { n as f64 } else { ((i * 7 + j * 5) % 11) as f64 / 11.0 };
    let mut a: Vec<f64> = (0..n * n).map(|at| element(at % n, at / n)).collect();
    let mut b: Vec<f64> = (0..n).map(|i| (0..n).map(|j| a[i + j * n]).sum()).collect();
    let (order, mut ipiv, mut info) = (n as i32, vec![0; n], -1);
    // SAFETY: the symbol has this type, and the arrays have these sizes.
    unsafe {
        let gesv: Symbol<Gesv> = library.get("dgesv_").expect("the symbol");
        gesv(&order, &1, a.as_mut_ptr(), &order, ipiv.as_mut_ptr(), b.as_mut_ptr(), &order, &mut info);
    }
    assert_eq!((info, ipiv[0]), (0, order));
    assert!(b.iter().all(|x| (x - 1.0).abs() < 1e-12));
}

/// C++ destructors of static objects, and C's `atexit` handlers, run after thread-local values are destroyed.
#[test]
fn exit_handlers_may_compute() {
    unsafe extern "C" {
        fn atexit(handler: extern "C" fn()) -> i32;
        fn exit(status: i32) -> !;
    }
    // A wrong result panics, which ends the process with another status.
    extern "C" fn handler() {
        let library = library();
        for n in [5, 100, 300] {
            product(&library, "dgemm_", n, |n| n as i32);
            factor(&library, n);
        }
        eprintln!("at the end");
    }
    let _guard = lock_tests();
    if std::env::var_os("DROP_IN_CHILD").is_none() {
        let stderr = run_in_child("exit_handlers_may_compute", &[("OPENBLAS_NUM_THREADS", "2")]);
        assert_eq!(stderr.matches("at the end").count(), 2, "{stderr}");
        return;
    }
    // SAFETY: the handler is a function of this program, so it stays valid until the process ends.
    unsafe {
        // One handler runs after the library's own handler, and one before it.
        atexit(handler);
        let library = library();
        product(&library, "dgemm_", 100, |n| n as i32);
        product(&library, "dgemm_", 300, |n| n as i32);
        atexit(handler);
        exit(0);
    }
}

#[test]
fn fork_parent_and_child_compute() {
    let (_guard, library) = (lock_tests(), library());
    unsafe extern "C" {
        fn fork() -> i32;
        fn waitpid(pid: i32, status: *mut i32, options: i32) -> i32;
        fn _exit(status: i32) -> !;
    }
    if std::env::var_os("DROP_IN_CHILD").is_none() {
        // In a process in which no other test has computed before the first fork.
        run_in_child("fork_parent_and_child_compute", &[("OPENBLAS_NUM_THREADS", "2")]);
        return;
    }
    // The variable FORKS sets the number of forks.
    let count = std::env::var("FORKS").ok().and_then(|count| count.parse().ok()).unwrap_or(100);
    for _ in 0..count {
        // SAFETY: the child has one thread, only computes, and ends with `_exit`, which runs no handlers.
        let child = unsafe { fork() };
        assert!(child >= 0, "a process");
        if child == 0 {
            let product = std::panic::catch_unwind(|| {
                factor(&library, 400);
                product(&library, "dgemm_", 300, |n| n as i32)
            });
            // SAFETY: `_exit` has no preconditions and does not return.
            unsafe { _exit(i32::from(product.is_err())) };
        }
        factor(&library, 400);
        let mut status = -1;
        // SAFETY: `child` is a child of this process, and `status` is a local integer.
        assert_eq!(unsafe { waitpid(child, &mut status, 0) }, child);
        assert_eq!(status, 0, "the child's product");
    }
}

#[test]
fn wrong_arguments_are_reported() {
    let (_guard, library) = (lock_tests(), library());
    if std::env::var_os("DROP_IN_CHILD").is_none() {
        let stderr = run_in_child("wrong_arguments_are_reported", &[]);
        for (routine, position) in [("DGEMM", 1), ("DGEMM", 4), ("DGEMM", 8), ("DGEMM", 13)] {
            let line = format!(" ** On entry to {routine} parameter number {position} had an illegal value");
            assert!(stderr.contains(&line), "{line} is not in {stderr}");
        }
        return;
    }
    let (two, one, minus) = (2_i32, 1_i32, -1_i32);
    let (plain, wrong) = (b'N' as c_char, b'X' as c_char);
    let mut c = [1.0; 4];
    // SAFETY: the symbol has this type, and a call with a wrong argument accesses no matrix.
    unsafe {
        let dgemm: Symbol<Dgemm<i32>> = library.get("dgemm_").expect("the symbol");
        let null = std::ptr::null();
        let (n, x, two, one) = (&raw const plain, &raw const wrong, &raw const two, &raw const one);
        dgemm(x, n, two, two, two, &1.0, null, two, null, two, &1.0, c.as_mut_ptr(), two);
        dgemm(n, n, two, &minus, two, &1.0, null, two, null, two, &1.0, c.as_mut_ptr(), two);
        dgemm(n, n, two, two, two, &1.0, null, one, null, two, &1.0, c.as_mut_ptr(), two);
        dgemm(n, n, two, two, two, &1.0, null, two, null, two, &1.0, c.as_mut_ptr(), one);
    }
    assert_eq!(c, [1.0; 4]);
}

type Dgemv<I> = unsafe extern "C" fn(i32, i32, I, I, f64, *const f64, I, *const f64, I, f64, *mut f64, I);

#[test]
fn wrong_enumerators_are_reported() {
    let (_guard, library) = (lock_tests(), library());
    if std::env::var_os("DROP_IN_CHILD").is_none() {
        let stderr = run_in_child("wrong_enumerators_are_reported", &[]);
        for (position, times) in [(2, 4), (1, 1), (9, 1)] {
            let line = format!(" ** On entry to cblas_dgemv parameter number {position} had an illegal value");
            assert_eq!(stderr.matches(&line).count(), times, "{line} in {stderr}");
        }
        return;
    }
    const ROWS: i32 = 101;
    const NO_TRANS: i32 = 111;
    let (a, x, mut y) = ([1.0, 2.0, 3.0, 4.0], [1.0, 10.0], [0.0; 2]);
    // SAFETY: the symbols have these types. A call with a wrong argument accesses no array, and the last two calls have
    // valid arguments.
    unsafe {
        let wide: Symbol<Dgemv<i64>> = library.get("cblas_dgemv64_").expect("the symbol");
        let dgemv: Symbol<Dgemv<i32>> = library.get("cblas_dgemv").expect("the symbol");
        for trans in [121, 132, 141, 0] {
            dgemv(ROWS, trans, 2, 2, 1.0, a.as_ptr(), 2, x.as_ptr(), 1, 0.0, y.as_mut_ptr(), 1);
        }
        dgemv(NO_TRANS, NO_TRANS, 2, 2, 1.0, a.as_ptr(), 2, x.as_ptr(), 1, 0.0, y.as_mut_ptr(), 1);
        dgemv(ROWS, NO_TRANS, 2, 2, 1.0, a.as_ptr(), 2, x.as_ptr(), 0, 0.0, y.as_mut_ptr(), 1);
        assert_eq!(y, [0.0; 2]);
        dgemv(ROWS, NO_TRANS, 2, 2, 1.0, a.as_ptr(), 2, x.as_ptr(), 1, 0.0, y.as_mut_ptr(), 1);
        assert_eq!(y, [21.0, 43.0]);
        wide(ROWS, 112, 2, 2, 1.0, a.as_ptr(), 2, x.as_ptr(), -1, 0.0, y.as_mut_ptr(), 1);
        assert_eq!(y, [13.0, 24.0]);
    }
}

#[test]
fn complex_results_in_registers() {
    /// A type that the calling convention treats like C's `double complex`.
    #[repr(C)]
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Complex(f64, f64);
    type Zdotc = unsafe extern "C" fn(*const i32, *const Complex, *const i32, *const Complex, *const i32) -> Complex;
    let (_guard, library) = (lock_tests(), library());
    let (x, y) = ([Complex(1.0, 2.0), Complex(3.0, -1.0)], [Complex(4.0, 5.0), Complex(0.0, 1.0)]);
    for name in ["zdotc_", "scipy_zdotc_"] {
        // SAFETY: the symbol has this type, and the vectors have two elements.
        let product = unsafe {
            let zdotc: Symbol<Zdotc> = library.get(name).expect("the symbol");
            zdotc(&2, x.as_ptr(), &1, y.as_ptr(), &1)
        };
        assert_eq!(product, Complex(13.0, 0.0), "{name}");
    }
}

#[test]
fn environment_variables_take_effect() {
    let (_guard, library) = (lock_tests(), library());
    if std::env::var_os("DROP_IN_CHILD").is_some() {
        product(&library, "dgemm_", 9, |n| n as i32);
        return;
    }
    let trace = std::env::temp_dir().join(format!("superscalar-drop-in-{}.json", std::process::id()));
    let path = trace.to_str().expect("a path");
    let all = [("SUPERSCALAR_BLAS_THRESHOLD", "0"), ("SUPERSCALAR_BLAS_NB", "3"), ("OMP_NUM_THREADS", "2,1")];
    let variables = [&all[..], &[("SUPERSCALAR_TRACE", path), ("SUPERSCALAR_DEVICES", "sim:0")]].concat();
    run_in_child("environment_variables_take_effect", &variables);
    let text = std::fs::read_to_string(&trace).expect("a trace");
    std::fs::remove_file(&trace).expect("a file");
    // The device computes 3 x 3 tiles of the result, each in 3 steps.
    let count = |what: &str| text.matches(what).count();
    assert!(count("\"name\":\"gemm\"") >= 27 && count("\"name\":\"sim:0\"") > 0, "{}", &text[..text.len().min(2000)]);
    let stderr = run_in_child("environment_variables_take_effect", &[("SUPERSCALAR_BLAS_THRESHOLD", "many")]);
    assert!(stderr.contains("SUPERSCALAR_BLAS_THRESHOLD=many: expected a number"), "{stderr}");
    let stderr = run_in_child(
        "environment_variables_take_effect",
        &[("SUPERSCALAR_BLAS_THRESHOLD", "0"), ("SUPERSCALAR_DEVICES", "no:1")],
    );
    assert!(stderr.contains("superscalar: no runtime:") && stderr.contains("no:1"), "{stderr}");
}

#[test]
fn settings_file_and_statistics() {
    let name = "settings_file_and_statistics";
    let _guard = lock_tests();
    if std::env::var_os("DROP_IN_CHILD").is_some() {
        let library = library();
        product(&library, "dgemm_", 300, |n| n as i32);
        product(&library, "dgemm_", 5, |n| n as i32);
        // SAFETY: the symbol has this type.
        let threads =
            unsafe { library.get::<unsafe extern "C" fn() -> i32>("openblas_get_num_threads").expect("the symbol")() };
        assert_eq!(threads, 3, "the value in the file");
        return;
    }
    let folder = std::env::temp_dir().join(format!("superscalar-settings-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let [file, statistics, log] = ["blas.conf", "statistics.txt", "log.txt"].map(|name| folder.join(name));
    let (to_statistics, to_log) = (statistics.display(), log.display());
    let lines = format!(
        "# A comment.\n\nOPENBLAS_NUM_THREADS = 3\nno setting\n\
         SUPERSCALAR_BLAS_STATISTICS={to_statistics}\nSUPERSCALAR_BLAS_LOG = {to_log}\n"
    );
    std::fs::write(&file, lines).expect("the file is written");
    let stderr = run_in_child(name, &[("SUPERSCALAR_CONFIG", file.to_str().expect("a path"))]);
    assert!(stderr.contains(":4: no setting: expected NAME = value"), "{stderr}");
    let (statistics, log) = (std::fs::read_to_string(statistics), std::fs::read_to_string(log));
    let (statistics, log) = (statistics.expect("statistics"), log.expect("a log"));
    let row = statistics.lines().find(|line| line.starts_with("DGEMM ")).expect("a row");
    let words: Vec<&str> = row.split_whitespace().collect();
    assert_eq!(words[1], "2", "{row}");
    assert!(
        row.contains("100.0 %") && words[3] == "0.0540",
        "2 x 300³ + 2 x 5³ flops, nearly all by the runtime: {row}"
    );
    assert!(log.lines().count() == 2 && log.contains("by the runtime") && log.contains("calling thread"), "{log}");
    assert!(
        run_in_child(name, &[("OPENBLAS_NUM_THREADS", "3"), ("SUPERSCALAR_CONFIG", "/no/such/file")])
            .contains("/no/such/file")
    );
    std::fs::remove_dir_all(folder).expect("the folder is removed");
}

#[test]
fn device_work_is_counted() {
    let name = "device_work_is_counted";
    let _guard = lock_tests();
    if std::env::var_os("DROP_IN_CHILD").is_some() {
        product(&library(), "dgemm_", 300, |n| n as i32);
        return;
    }
    for (devices, share) in [("sim:0", "100.0"), ("", "0.0")] {
        let stderr = run_in_child(
            name,
            &[
                ("SUPERSCALAR_DEVICES", devices),
                // With the default tile size, the product has one tile, which stays on the host.
                ("SUPERSCALAR_BLAS_NB", "100"),
                ("SUPERSCALAR_BLAS_STATISTICS", "stderr"),
            ],
        );
        let row = stderr.lines().find(|line| line.starts_with("DGEMM ")).expect("a row");
        let words: Vec<&str> = row.split_whitespace().collect();
        assert_eq!(words[words.len() - 4..], ["100.0", "%", share, "%"], "{devices}: {row}");
    }
}

#[test]
fn memory_bound_routines_run_in_parallel() {
    type Gemv = unsafe extern "C" fn(i32, i32, i32, i32, f64, *const f64, i32, *const f64, i32, f64, *mut f64, i32);
    type Ger = unsafe extern "C" fn(i32, i32, i32, f64, *const f64, i32, *const f64, i32, *mut f64, i32);
    type Axpy = unsafe extern "C" fn(i32, f64, *const f64, i32, *mut f64, i32);
    type Copy = unsafe extern "C" fn(i32, *const f64, i32, *mut f64, i32);
    type Dot = unsafe extern "C" fn(i32, *const f64, i32, *const f64, i32) -> f64;
    let name = "memory_bound_routines_run_in_parallel";
    let _guard = lock_tests();
    if std::env::var_os("DROP_IN_CHILD").is_none() {
        let stderr = run_in_child(name, &[("SUPERSCALAR_WORKERS", "3"), ("SUPERSCALAR_BLAS_LOG", "stderr")]);
        let shared = |routine: &str| {
            stderr.lines().filter(|line| line.starts_with(routine) && line.contains("by the runtime")).count()
        };
        for (routine, calls) in [("cblas_dgemv", 2), ("cblas_dger", 1), ("daxpy", 1), ("ddot", 1), ("dcopy", 2)] {
            assert_eq!(shared(routine), calls, "{routine}: {stderr}");
        }
        return;
    }
    let library = library();
    let own = || std::fs::read_dir("/proc/self/task").expect("threads").count();
    let (m, n, before) = (1000_usize, 700_usize, own());
    let (rows, columns) = (m as i32, n as i32);
    let element = |at: usize| ((at * 7919) % 13) as f64 - 6.0;
    let mut a: Vec<f64> = (0..m * n).map(element).collect();
    let [x, y]: [Vec<f64>; 2] =
        [(0..m).map(|i| element(3 * i)).collect(), (0..n).map(|j| element(5 * j + 1)).collect()];
    // SAFETY: the symbols have these types, and the arrays have these sizes.
    unsafe {
        let gemv: Symbol<Gemv> = library.get("cblas_dgemv").expect("the symbol");
        let (mut of_rows, mut of_columns) = (vec![1.0; 2 * m], vec![1.0; n]);
        gemv(102, 111, rows, columns, 1.0, a.as_ptr(), rows, y.as_ptr(), 1, 2.0, of_rows.as_mut_ptr(), -2);
        gemv(102, 112, rows, columns, 1.0, a.as_ptr(), rows, x.as_ptr(), 1, 0.0, of_columns.as_mut_ptr(), 1);
        let row = |i: usize| (0..n).map(|j| a[i + j * m] * y[j]).sum::<f64>() + 2.0;
        // The result has increment -2.
        assert!((0..m).all(|i| of_rows[2 * (m - 1 - i)] == row(i) && of_rows[2 * i + 1] == 1.0));
        assert!((0..n).all(|j| of_columns[j] == (0..m).map(|i| a[i + j * m] * x[i]).sum()));
        assert!(own() > before, "workers were started");
        let given = a.clone();
        let ger: Symbol<Ger> = library.get("cblas_dger").expect("the symbol");
        ger(102, rows, columns, 1.0, x.as_ptr(), 1, y.as_ptr(), 1, a.as_mut_ptr(), rows);
        assert!((0..m * n).all(|at| a[at] == given[at] + x[at % m] * y[at / m]));
        let dot: Symbol<Dot> = library.get("cblas_ddot").expect("the symbol");
        let len = (m * n) as i32;
        let expected: f64 = a.iter().zip(&given).map(|(x, y)| x * y).sum();
        assert_eq!(dot(len, a.as_ptr(), 1, given.as_ptr(), 1), expected);
        let axpy: Symbol<Axpy> = library.get("cblas_daxpy").expect("the symbol");
        axpy(len, -1.0, given.as_ptr(), 1, a.as_mut_ptr(), 1);
        assert!((0..m * n).all(|at| a[at] == x[at % m] * y[at / m]));
        // Copies a row of a large matrix, copies it back in reverse order, and then copies all of it to one element.
        let copy: Symbol<Copy> = library.get("cblas_dcopy").expect("the symbol");
        let (columns, inc) = (5000, 520);
        let large: Vec<f64> = (0..columns * inc).map(element).collect();
        let (mut row, mut back) = (vec![0.0; columns], vec![0.5; columns * inc]);
        copy(5000, large.as_ptr().add(3), 520, row.as_mut_ptr(), 1);
        assert!((0..columns).all(|j| row[j] == large[j * inc + 3]));
        copy(5000, row.as_ptr(), 1, back.as_mut_ptr(), -520);
        assert!((0..columns * inc).all(|at| match at % inc {
            0 => back[at] == row[columns - 1 - at / inc],
            _ => back[at] == 0.5,
        }));
        copy(5000, large.as_ptr(), 520, row.as_mut_ptr(), 0);
        assert_eq!(row[0], large[(columns - 1) * inc], "the last element");
        // Moves a vector by one element.
        let (mut moved, last) = (large.clone(), large.len() - 1);
        copy(last as i32, moved.as_ptr().add(1), 1, moved.as_mut_ptr(), 1);
        assert!(moved[..last] == large[1..] && moved[last] == large[last]);
    }
}
