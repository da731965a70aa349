//! LAPACK and LAPACKE as a C program calls them. These tests cover what LAPACK's own testers (`tests/drop_in.sh`) omit:
//! row-major layout, LAPACKE's high-level and middle-level functions, 64-bit integers, NaN, and wrong arguments.

mod shared;

use libloading::Library;
use shared::{library, run_all_tiled, symbol};
use std::ffi::c_char;

const ROWS: i32 = 101;
const COLUMNS: i32 = 102;

/// The position of the largest element of each row.
#[derive(Clone, Copy, PartialEq)]
enum LargestElements {
    /// On the diagonal, so that the matrix is symmetric and positive definite.
    Diagonal,
    /// On the antidiagonal, so that an LU factorization exchanges all rows.
    Antidiagonal,
}

/// A system of order n whose right-hand side is the sums of the rows, so that the solution is all ones.
struct LinearSystem {
    n: usize,
    layout: i32,
    a: Vec<f64>,
    b: Vec<f64>,
}

impl LinearSystem {
    /// Makes a system whose leading dimension is two more than necessary.
    fn new(n: usize, layout: i32, largest: LargestElements) -> Self {
        let element = |i: usize, j: usize| {
            let (low, high) = (i.min(j), i.max(j));
            let is_largest = if largest == LargestElements::Diagonal { i == j } else { i + j + 1 == n };
            ((low * 7 + high * 3) % 11) as f64 / 11.0 + if is_largest { n as f64 } else { 0.0 }
        };
        let ld = n + 2;
        let mut a = vec![-99.0; ld * n];
        for (i, j) in (0..n).flat_map(|j| (0..n).map(move |i| (i, j))) {
            a[if layout == ROWS { i * ld + j } else { i + j * ld }] = element(i, j);
        }
        let sums = (0..n).map(|i| (0..n).map(|j| element(i, j)).sum());
        Self { n, layout, a, b: sums.collect() }
    }

    fn ld(&self) -> i32 {
        self.n as i32 + 2
    }

    /// Returns the leading dimension of the single right-hand side.
    fn ld_b(&self) -> i32 {
        if self.layout == ROWS { 1 } else { self.n as i32 }
    }

    fn at(&self, i: usize, j: usize) -> f64 {
        let ld = self.n + 2;
        self.a[if self.layout == ROWS { i * ld + j } else { i + j * ld }]
    }

    fn assert_solved(&self, name: &str) {
        let is_solved = self.b.iter().all(|x| (x - 1.0).abs() < 1e-12);
        assert!(is_solved, "{name}, layout {}, order {}", self.layout, self.n);
        let gaps = (0..self.n).flat_map(|line| [self.n, self.n + 1].map(|at| self.a[line * (self.n + 2) + at]));
        assert!(gaps.into_iter().all(|x| x == -99.0), "{name}: elements between the columns changed");
    }
}

/// Orders that the kernels compute, and one that the runtime computes.
const ORDERS: [usize; 5] = [0, 1, 5, 70, 400];

#[test]
fn systems_in_both_layouts() {
    type Gesv = unsafe extern "C" fn(i32, i32, i32, *mut f64, i32, *mut i32, *mut f64, i32) -> i32;
    type Posv = unsafe extern "C" fn(i32, u8, i32, i32, *mut f64, i32, *mut f64, i32) -> i32;
    let library = library();
    for (n, layout) in ORDERS.into_iter().flat_map(|n| [ROWS, COLUMNS].map(|layout| (n, layout))) {
        for name in ["LAPACKE_dgesv", "LAPACKE_dgesv_work"] {
            let gesv = symbol::<Gesv>(&library, name);
            let (mut system, mut ipiv) = (LinearSystem::new(n, layout, LargestElements::Antidiagonal), vec![-1; n]);
            let (ld, ld_b) = (system.ld(), system.ld_b().max(1));
            let (a, b) = (system.a.as_mut_ptr(), system.b.as_mut_ptr());
            // SAFETY: the symbol has this type, and the arrays have these sizes.
            let info = unsafe { gesv(layout, n as i32, 1, a, ld, ipiv.as_mut_ptr(), b, ld_b) };
            assert_eq!(info, 0, "{name}");
            // The first half of the rows is exchanged with the second half.
            assert!(ipiv.iter().enumerate().all(|(i, &p)| p as usize == (n - i).max(i + 1)), "{ipiv:?}");
            system.assert_solved(name);
        }
        for (name, uplo) in ["LAPACKE_dposv", "LAPACKE_dposv_work"].into_iter().flat_map(|it| [(it, b'L'), (it, b'u')])
        {
            let posv = symbol::<Posv>(&library, name);
            let mut system = LinearSystem::new(n, layout, LargestElements::Diagonal);
            let (ld, ld_b) = (system.ld(), system.ld_b().max(1));
            // The other triangle is neither read nor written.
            let is_other = |i: usize, j: usize| if uplo == b'L' { i < j } else { i > j };
            let width = n + 2;
            for (i, j) in (0..n).flat_map(|j| (0..n).map(move |i| (i, j))).filter(|&(i, j)| is_other(i, j)) {
                system.a[if layout == ROWS { i * width + j } else { i + j * width }] = f64::NAN;
            }
            let (a, b) = (system.a.as_mut_ptr(), system.b.as_mut_ptr());
            // SAFETY: the symbol has this type, and the arrays have these sizes.
            assert_eq!(unsafe { posv(layout, uplo, n as i32, 1, a, ld, b, ld_b) }, 0, "{name}");
            system.assert_solved(name);
            let untouched = (0..n).flat_map(|j| (0..n).map(move |i| (i, j))).filter(|&(i, j)| is_other(i, j));
            assert!(untouched.into_iter().all(|(i, j)| system.at(i, j).is_nan()), "{name}: the other triangle");
        }
    }
}

/// Factors an m x n matrix as Q R and as L Q, multiplies the factors, and compares with the matrix.
fn check_orthogonal_factors(library: &Library, layout: i32, (m, n): (usize, usize)) {
    type Geqrf = unsafe extern "C" fn(i32, i32, i32, *mut f64, i32, *mut f64) -> i32;
    type Ormqr = unsafe extern "C" fn(i32, u8, u8, i32, i32, i32, *const f64, i32, *const f64, *mut f64, i32) -> i32;
    type Orgqr = unsafe extern "C" fn(i32, i32, i32, i32, *mut f64, i32, *const f64) -> i32;
    let (k, ld) = (m.min(n), if layout == ROWS { n } else { m });
    let at = |i: usize, j: usize| if layout == ROWS { i * ld + j } else { i + j * ld };
    let mut a = vec![0.0; m * n];
    (0..m).for_each(|i| (0..n).for_each(|j| a[at(i, j)] = ((i * 31 + j * 17) % 23) as f64 - 11.0));
    let (given, mut tau) = (a.clone(), vec![f64::NAN; k]);
    let (rows, cols, count, width) = (m as i32, n as i32, k as i32, ld as i32);
    let [geqrf, gelqf] = ["LAPACKE_dgeqrf", "LAPACKE_dgelqf"].map(|name| symbol::<Geqrf>(library, name));
    let [ormqr, ormlq] = ["LAPACKE_dormqr", "LAPACKE_dormlq"].map(|name| symbol::<Ormqr>(library, name));
    let [orgqr, orglq] = ["LAPACKE_dorgqr", "LAPACKE_dorglq"].map(|name| symbol::<Orgqr>(library, name));
    let scale = 11.0 * ((m * n) as f64).sqrt();
    let close = |what: &str, x: &[f64]| {
        let is_close = x.iter().zip(&given).all(|(x, y)| (x - y).abs() <= 1e-13 * scale);
        assert!(is_close, "{what}, layout {layout}, {m} x {n}");
    };
    // SAFETY: the symbols have these types, and the arrays have these sizes.
    unsafe {
        assert_eq!(geqrf(layout, rows, cols, a.as_mut_ptr(), width, tau.as_mut_ptr()), 0);
        let mut r = a.clone();
        (0..m).for_each(|i| (0..n.min(i)).for_each(|j| r[at(i, j)] = 0.0));
        let (v, t) = (a.as_ptr(), tau.as_ptr());
        assert_eq!(ormqr(layout, b'L', b'N', rows, cols, count, v, width, t, r.as_mut_ptr(), width), 0);
        close("Q R", &r);
        if m >= n {
            assert_eq!(orgqr(layout, rows, cols, count, a.as_mut_ptr(), width, t), 0);
            assert_orthonormal(n, m, |q, i| a[at(i, q)]);
        }
        a.copy_from_slice(&given);
        assert_eq!(gelqf(layout, rows, cols, a.as_mut_ptr(), width, tau.as_mut_ptr()), 0);
        let mut l = a.clone();
        (0..m).for_each(|i| (i + 1..n).for_each(|j| l[at(i, j)] = 0.0));
        let (v, t) = (a.as_ptr(), tau.as_ptr());
        assert_eq!(ormlq(layout, b'R', b'N', rows, cols, count, v, width, t, l.as_mut_ptr(), width), 0);
        close("L Q", &l);
        if m <= n {
            assert_eq!(orglq(layout, rows, cols, count, a.as_mut_ptr(), width, t), 0);
            assert_orthonormal(m, n, |q, i| a[at(q, i)]);
        }
    }
}

/// Asserts that `count` vectors of `len` elements are orthonormal.
fn assert_orthonormal(count: usize, len: usize, at: impl Fn(usize, usize) -> f64) {
    for (p, q) in (0..count).flat_map(|p| (p..count.min(p + 3)).map(move |q| (p, q))) {
        let product: f64 = (0..len).map(|i| at(p, i) * at(q, i)).sum();
        assert!((product - f64::from(u8::from(p == q))).abs() < 1e-12, "{p} {q}: {product}");
    }
}

#[test]
fn orthogonal_factors_in_both_layouts() {
    let library = library();
    for shape in [(1, 1), (5, 3), (3, 5), (150, 90), (90, 150), (200, 200)] {
        [ROWS, COLUMNS].into_iter().for_each(|layout| check_orthogonal_factors(&library, layout, shape));
    }
}

#[test]
fn inverses_norms_and_conditions() {
    type Norm = unsafe extern "C" fn(i32, u8, i32, i32, *const f64, i32) -> f64;
    type Getrf = unsafe extern "C" fn(i32, i32, i32, *mut f64, i32, *mut i32) -> i32;
    type Getri = unsafe extern "C" fn(i32, i32, *mut f64, i32, *const i32) -> i32;
    type Gecon = unsafe extern "C" fn(i32, u8, i32, *const f64, i32, f64, *mut f64) -> i32;
    let library = library();
    // The matrix (1, 2; 3, 5) in both layouts.
    for (layout, a) in [(ROWS, [1.0, 2.0, 3.0, 5.0]), (COLUMNS, [1.0, 3.0, 2.0, 5.0])] {
        let norm = symbol::<Norm>(&library, "LAPACKE_dlange");
        // SAFETY: the symbols have these types, and the matrix has order two.
        unsafe {
            let of = |which| norm(layout, which, 2, 2, a.as_ptr(), 2);
            assert_eq!((of(b'M'), of(b'1'), of(b'O'), of(b'I')), (5.0, 7.0, 7.0, 8.0));
            assert!((of(b'F') - 39f64.sqrt()).abs() < 1e-15 && (of(b'e') - 39f64.sqrt()).abs() < 1e-15);
            let (mut a, mut ipiv, mut rcond) = (a, [0; 2], 0.0);
            assert_eq!(
                symbol::<Getrf>(&library, "LAPACKE_dgetrf")(layout, 2, 2, a.as_mut_ptr(), 2, ipiv.as_mut_ptr()),
                0
            );
            assert_eq!(ipiv, [2, 2]);
            let gecon = symbol::<Gecon>(&library, "LAPACKE_dgecon");
            assert_eq!(gecon(layout, b'1', 2, a.as_ptr(), 2, 7.0, &mut rcond), 0);
            // The inverse is (-5, 2; 3, -1), whose one norm is 8.
            assert!((rcond - 1.0 / 56.0).abs() < 1e-15, "{rcond}");
            assert_eq!(symbol::<Getri>(&library, "LAPACKE_dgetri")(layout, 2, a.as_mut_ptr(), 2, ipiv.as_ptr()), 0);
            let expected = if layout == ROWS { [-5.0, 2.0, 3.0, -1.0] } else { [-5.0, 3.0, 2.0, -1.0] };
            assert!(a.iter().zip(expected).all(|(x, y)| (x - y).abs() < 1e-13), "{a:?}");
        }
    }
}

#[test]
fn ilp64_interface() {
    type Gesv =
        unsafe extern "C" fn(*const i64, *const i64, *mut f64, *const i64, *mut i64, *mut f64, *const i64, *mut i64);
    type Getrs = unsafe extern "C" fn(
        *const u8,
        *const i64,
        *const i64,
        *const f64,
        *const i64,
        *const i64,
        *mut f64,
        *const i64,
        *mut i64,
    );
    let library = library();
    for name in ["dgesv_64_", "scipy_dgesv_64_"] {
        let n = 70;
        let (mut system, mut ipiv, mut info) =
            (LinearSystem::new(n, COLUMNS, LargestElements::Antidiagonal), vec![-1_i64; n], -1_i64);
        let given = system.b.clone();
        let (order, ld) = (n as i64, i64::from(system.ld()));
        // SAFETY: the symbols have these types, and the arrays have these sizes.
        unsafe {
            let (a, b) = (system.a.as_mut_ptr(), system.b.as_mut_ptr());
            symbol::<Gesv>(&library, name)(&order, &1, a, &ld, ipiv.as_mut_ptr(), b, &order, &mut info);
            assert_eq!(info, 0);
            system.assert_solved(name);
            let mut again = given.clone();
            let getrs = symbol::<Getrs>(&library, "dgetrs_64_");
            getrs(
                b"n".as_ptr(),
                &order,
                &1,
                system.a.as_ptr(),
                &ld,
                ipiv.as_ptr(),
                again.as_mut_ptr(),
                &order,
                &mut info,
            );
            assert!(info == 0 && again.iter().all(|x| (x - 1.0).abs() < 1e-12), "{info} {again:?}");
            // An interchange with a row that does not exist is refused, and nothing is changed.
            ipiv[3] = n as i64 + 1;
            again.copy_from_slice(&given);
            getrs(
                b"n".as_ptr(),
                &order,
                &1,
                system.a.as_ptr(),
                &ld,
                ipiv.as_ptr(),
                again.as_mut_ptr(),
                &order,
                &mut info,
            );
            assert_eq!((info, again), (-6, given));
        }
    }
}

#[test]
fn lapacke_refuses_wrong_arguments() {
    type Potrf = unsafe extern "C" fn(i32, u8, i32, *mut f64, i32) -> i32;
    type Flag = unsafe extern "C" fn(i32);
    let library = library();
    let (upper, lower) = ("LAPACKE_dpotrf", "LAPACKE_dpotrf_work");
    let call = |name: &str, layout: i32, uplo: u8, n: i32, a: &mut [f64], ld: i32| {
        // SAFETY: the symbol has this type, and a call with wrong arguments does not access the matrix.
        unsafe { symbol::<Potrf>(&library, name)(layout, uplo, n, a.as_mut_ptr(), ld) }
    };
    for name in [upper, lower] {
        let mut a = [4.0, f64::NAN, 0.0, 4.0];
        assert_eq!(call(name, 7, b'U', 2, &mut a, 2), -1);
        assert_eq!(call(name, ROWS, b'?', 2, &mut a, 2), -2);
        assert_eq!(call(name, COLUMNS, b'L', -1, &mut a, 2), -3);
        assert_eq!(call(name, ROWS, b'L', 2, &mut a, 1), -5);
        // The NaN is in the lower triangle in column-major layout, and in the upper one in row-major layout.
        assert_eq!(call(name, COLUMNS, b'U', 2, &mut a.clone(), 2), 0);
        assert_eq!(call(name, ROWS, b'L', 2, &mut a.clone(), 2), 0);
        let of_nan = if name == upper { -4 } else { 2 };
        assert_eq!(call(name, COLUMNS, b'L', 2, &mut a.clone(), 2), of_nan);
        assert_eq!(call(name, ROWS, b'U', 2, &mut a.clone(), 2), of_nan);
        assert_eq!(call(name, ROWS, b'U', 2, &mut [4.0, 1.0, 0.0, -4.0], 2), 2, "not positive definite");
    }
    // SAFETY: the symbol has this type.
    unsafe { symbol::<Flag>(&library, "LAPACKE_set_nancheck")(0) };
    assert_eq!(call(upper, COLUMNS, b'L', 2, &mut [4.0, f64::NAN, 0.0, 4.0], 2), 2);
    // SAFETY: the symbol has this type.
    unsafe { symbol::<Flag>(&library, "LAPACKE_set_nancheck")(1) };
    assert_eq!(call(upper, COLUMNS, b'L', 2, &mut [4.0, f64::NAN, 0.0, 4.0], 2), -4);
}

#[test]
fn workspace_queries() {
    type Gels<T> = unsafe extern "C" fn(
        *const u8,
        *const i32,
        *const i32,
        *const i32,
        *mut T,
        *const i32,
        *mut T,
        *const i32,
        *mut T,
        *const i32,
        *mut i32,
    );
    let library = library();
    let gels = symbol::<Gels<f32>>(&library, "sgels_");
    // A size that `f32` cannot represent: the result must not be rounded down.
    let (m, n, nrhs) = (16_777_217_i32, 1, 1);
    let (mut size, mut info) = (0_f32, -1);
    let nothing = std::ptr::null_mut();
    // SAFETY: the symbol has this type; a query writes only the first element of the workspace.
    unsafe { gels(b"N".as_ptr(), &m, &n, &nrhs, nothing, &m, nothing, &m, &mut size, &-1, &mut info) };
    assert_eq!((info, size), (0, 2.0));
    // SAFETY: the symbol has this type; a query writes only the first element of the workspace.
    unsafe { gels(b"N".as_ptr(), &m, &m, &nrhs, nothing, &m, nothing, &m, &mut size, &-1, &mut info) };
    assert!(info == 0 && f64::from(size) >= 2.0 * f64::from(m), "{size}");
    // The line through (0, 1), (1, 3), (2, 5), with the smallest workspace.
    let (mut a, mut b, mut work) = ([1.0, 1.0, 1.0, 0.0, 1.0, 2.0], [1.0, 3.0, 5.0], [0_f32; 4]);
    let (matrix, rhs) = (a.as_mut_ptr(), b.as_mut_ptr());
    // SAFETY: the symbol has this type, and the arrays have these sizes.
    unsafe { gels(b"N".as_ptr(), &3, &2, &1, matrix, &3, rhs, &3, work.as_mut_ptr(), &4, &mut info) };
    assert_eq!(info, 0, "a workspace of twice the rank suffices");
    assert!((b[0] - 1.0).abs() < 1e-5 && (b[1] - 2.0).abs() < 1e-5, "{b:?}");
    // SAFETY: the symbol has this type, and a call with wrong arguments accesses no array.
    unsafe { gels(b"N".as_ptr(), &3, &2, &1, matrix, &3, rhs, &3, work.as_mut_ptr(), &3, &mut info) };
    assert_eq!(info, -10);
}

#[test]
fn lapack_version() {
    type Ilaver<I> = unsafe extern "C" fn(*mut I, *mut I, *mut I);
    let library = library();
    let (mut narrow, mut wide) = ([-1_i32; 3], [-1_i64; 3]);
    // SAFETY: the symbols have these types, and the integers are local.
    unsafe {
        let [major, minor, patch] = &mut narrow;
        symbol::<Ilaver<i32>>(&library, "ilaver_")(major, minor, patch);
        let [major, minor, patch] = &mut wide;
        symbol::<Ilaver<i64>>(&library, "ilaver_64_")(major, minor, patch);
    }
    assert_eq!((narrow, wide), ([3, 11, 0], [3, 11, 0]));
}

#[test]
fn small_stacks_suffice() {
    let small = std::thread::Builder::new().stack_size(128 << 10).spawn(|| {
        systems_in_both_layouts();
        orthogonal_factors_in_both_layouts();
        inverses_norms_and_conditions();
        ilp64_interface();
        workspace_queries();
    });
    small.expect("a thread").join().expect("the tests pass");
}

#[test]
fn posv_keeps_b_of_indefinite_systems() {
    type Posv = unsafe extern "C" fn(i32, c_char, i32, i32, *mut f64, i32, *mut f64, i32) -> i32;
    let library = library();
    let posv = symbol::<Posv>(&library, "LAPACKE_dposv");
    for (layout, n) in [(ROWS, 70_usize), (ROWS, 600), (COLUMNS, 70), (COLUMNS, 600)] {
        let mut a = vec![0.0; n * n];
        (0..n).for_each(|i| a[i * n + i] = if i + 1 < n { 2.0 } else { -1.0 });
        let (mut b, order) = (vec![3.0; n], n as i32);
        let ldb = if layout == ROWS { 1 } else { order };
        // SAFETY: the symbol has this type, and the arrays have these sizes.
        let info = unsafe { posv(layout, b'L' as c_char, order, 1, a.as_mut_ptr(), order, b.as_mut_ptr(), ldb) };
        assert_eq!(info, order);
        assert!(b.iter().all(|&x| x == 3.0), "B, order {n}, layout {layout}");
    }
}

/// A matrix without elements may have any number of rows or columns.
#[test]
fn empty_matrices() {
    type Norm = unsafe extern "C" fn(*const u8, *const i64, *const i64, *const f64, *const i64, *mut f64) -> f64;
    type Getrf = unsafe extern "C" fn(*const i64, *const i64, *mut f64, *const i64, *mut i64, *mut i64);
    type Geqrf =
        unsafe extern "C" fn(*const i64, *const i64, *mut f64, *const i64, *mut f64, *mut f64, *const i64, *mut i64);
    let library = library();
    let (null, ints) = (std::ptr::null_mut(), std::ptr::null_mut());
    for (m, n) in [(0, 0), (0, 3), (3, 0), (i64::MAX, 0), (0, i64::MAX)] {
        let (ld, mut info, mut work) = (m.max(1), -1, 0.0);
        // SAFETY: the symbols have these types, and a matrix without elements is not accessed.
        unsafe {
            let lange = symbol::<Norm>(&library, "dlange_64_");
            assert_eq!(lange(b"F".as_ptr(), &m, &n, null, &ld, null), 0.0, "{m} x {n}");
            symbol::<Getrf>(&library, "dgetrf_64_")(&m, &n, null, &ld, ints, &mut info);
            assert_eq!(info, 0, "{m} x {n}");
            for name in ["dgeqrf_64_", "dgelqf_64_"] {
                symbol::<Geqrf>(&library, name)(&m, &n, null, &ld, null, &mut work, &i64::MAX, &mut info);
                assert_eq!(info, 0, "{name}, {m} x {n}");
            }
        }
    }
}

#[test]
fn singular_matrices() {
    type Getri = unsafe extern "C" fn(*const i32, *mut f64, *const i32, *const i32, *mut f64, *const i32, *mut i32);
    type Gesv = unsafe extern "C" fn(
        *const i32,
        *const i32,
        *mut f64,
        *const i32,
        *mut i32,
        *const f64,
        *const i32,
        *mut f64,
        *const i32,
        *mut f64,
        *mut f32,
        *mut i32,
        *mut i32,
    );
    let library = library();
    let (mut work, mut swork, mut info) = ([0.0; 8], [0.0; 16], -1);
    // SAFETY: the symbols have these types, and the arrays have these sizes.
    unsafe {
        let (mut u, ipiv) = ([1.0, 0.0, 2.0, 0.0], [7, 7]);
        let getri = symbol::<Getri>(&library, "dgetri_");
        getri(&2, u.as_mut_ptr(), &2, ipiv.as_ptr(), work.as_mut_ptr(), &8, &mut info);
        assert_eq!((info, u), (2, [1.0, 0.0, 2.0, 0.0]), "the interchanges of a singular matrix are ignored");
        let gesv = symbol::<Gesv>(&library, "dsgesv_");
        for (n, expected) in [(0, (0, 0)), (2, (2, -3))] {
            let (mut a, b, mut x, mut ipiv, mut iter) = ([1.0, 2.0, 1.0, 2.0], [1.0; 2], [0.0; 2], [0; 2], 9);
            let (a, b, x, ipiv) = (a.as_mut_ptr(), b.as_ptr(), x.as_mut_ptr(), ipiv.as_mut_ptr());
            let (work, swork) = (work.as_mut_ptr(), swork.as_mut_ptr());
            gesv(&n, &1, a, &2, ipiv, b, &2, x, &2, work, swork, &mut iter, &mut info);
            assert_eq!((info, iter), expected, "order {n}");
        }
    }
}

#[test]
fn tiled_runtime_computes_all() {
    let log = run_all_tiled("tiled_runtime_computes_all");
    let tiled = |routine: &str| log.lines().any(|line| line.starts_with(routine) && line.contains("by the runtime"));
    assert!(tiled("dlange "), "{log}");
    for routine in ["gesv", "posv", "geqrf", "gelqf", "ormqr", "ormlq", "orgqr", "orglq", "getrf", "getri"] {
        assert!(tiled(&format!("LAPACKE_d{routine} ")), "{routine}: {log}");
    }
}
