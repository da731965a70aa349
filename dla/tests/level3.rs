//! The Level-3 BLAS on tiles, against textbook loops: all options, ragged tiles, padded leading dimensions, four types.
//!
//! Operands are small integers, whose sums and products are exact, so results and the surrounding memory are compared
//! bit by bit. Elements that a routine must not read are NaN.

use superscalar_dla::{Error, ErrorKind, Options, Scalar, Tiled, gemm, gemmt, hemm, her2k, herk, spawn, symm};
use superscalar_dla::{syr2k, syrk, trmm, trsm};
use superscalar_kernels::{Diag, MatMut, MatRef, Op, Scalar as _, Side, Uplo, c32, c64, reference};
use superscalar_oracle::{Layout, Random, Stored, residual};
use superscalar_runtime::Runtime;

const OPS: [Op; 3] = [Op::None, Op::Trans, Op::ConjTrans];
const UPLOS: [Uplo; 2] = [Uplo::Lower, Uplo::Upper];
const SIDES: [Side; 2] = [Side::Left, Side::Right];
/// Shapes (m, n, k) and tile sizes: ragged, one tile, more rows than columns, no depth.
const SHAPES: [(usize, usize, usize, usize); 6] =
    [(37, 29, 41, 16), (5, 3, 2, 8), (50, 7, 33, 10), (9, 40, 1, 4), (12, 12, 0, 5), (1, 1, 1, 1)];

/// Returns a matrix of small integers.
fn integers<T: Scalar>(shape: (usize, usize), seed: u64) -> Stored<T> {
    Stored::integers(&mut Random::new(seed), shape, Layout::PADDED)
}

/// Returns a matrix of small integers with NaN in the other triangle, and on a unit diagonal.
fn triangle<T: Scalar>(n: usize, seed: u64, uplo: Uplo, diag: Diag) -> Stored<T> {
    let mut a = integers((n, n), seed);
    for (i, j) in (0..n).flat_map(|j| (0..n).map(move |i| (i, j))) {
        let hidden = if uplo == Uplo::Lower { i < j } else { i > j } || (i == j && diag == Diag::Unit);
        if hidden {
            a.set(i, j, T::from_f64(f64::NAN));
        }
    }
    a
}

/// Checks that the routine and the textbook loop produce the same bits from copies of C.
fn same<T: Scalar>(
    what: &str,
    c: &Stored<T>,
    ours: impl FnOnce(MatMut<'_, T>) -> Result<(), Error>,
    textbook: impl FnOnce(MatMut<'_, T>),
) {
    let (mut x, mut y) = (c.clone(), c.clone());
    ours(x.view_mut()).expect(what);
    textbook(y.view_mut());
    assert!(x.memory() == y.memory(), "{what}");
}

fn scalars<T: Scalar>() -> [(T, T); 4] {
    let complex = T::from_parts(T::Real::from_f64(2.0), T::Real::ONE);
    [(T::ONE, T::ZERO), (complex, T::ONE), (-complex, complex), (T::ZERO, -complex)]
}

fn products<T: Scalar>(rt: &Runtime) {
    for (m, n, k, nb) in SHAPES {
        let o = Options::default().nb(nb);
        for (op_a, op_b) in OPS.iter().flat_map(|&a| OPS.map(|b| (a, b))) {
            let (a, b) = (integers::<T>(op_a.shape((m, k)), 1), integers::<T>(op_b.shape((k, n)), 2));
            let c = integers::<T>((m, n), 3);
            for (alpha, beta) in scalars::<T>() {
                let what = format!("gemm {op_a}{op_b} {m} x {n} x {k} nb {nb} {alpha} {beta}");
                let ours = |c: MatMut<'_, T>| gemm(rt, alpha, op_a, a.view(), op_b, b.view(), beta, c, &o);
                same(&what, &c, ours, |c| reference::gemm(alpha, op_a, a.view(), op_b, b.view(), beta, c));
                let (b, c) = (integers::<T>(op_b.shape((k, m)), 2), integers::<T>((m, m), 3));
                for uplo in UPLOS {
                    let ours = |c: MatMut<'_, T>| gemmt(rt, uplo, alpha, op_a, a.view(), op_b, b.view(), beta, c, &o);
                    let textbook =
                        |c: MatMut<'_, T>| reference::gemmt(uplo, alpha, op_a, a.view(), op_b, b.view(), beta, c);
                    same(&format!("{uplo} {what} gemmt"), &c, ours, textbook);
                }
            }
        }
    }
}

/// Checks the rank-k and rank-2k updates that support this op for the type.
fn all_updates<T: Scalar>(
    rt: &Runtime,
    (uplo, op): (Uplo, Op),
    (alpha, beta): (T, T),
    (a, b): (MatRef<'_, T>, MatRef<'_, T>),
    c: &Stored<T>,
    o: &Options,
    what: &str,
) {
    if !T::COMPLEX || op != Op::ConjTrans {
        let ours = |c: MatMut<'_, T>| syrk(rt, uplo, op, alpha, a, beta, c, o);
        same(&format!("syrk {what}"), c, ours, |c| reference::syrk(uplo, op, alpha, a, beta, c));
        let ours = |c: MatMut<'_, T>| syr2k(rt, uplo, op, alpha, a, b, beta, c, o);
        same(&format!("syr2k {what}"), c, ours, |c| reference::syr2k(uplo, op, alpha, a, b, beta, c));
    }
    if !T::COMPLEX || op != Op::Trans {
        let (real, beta) = (alpha.re(), beta.re());
        let ours = |c: MatMut<'_, T>| herk(rt, uplo, op, real, a, beta, c, o);
        same(&format!("herk {what}"), c, ours, |c| reference::herk(uplo, op, real, a, beta, c));
        let ours = |c: MatMut<'_, T>| her2k(rt, uplo, op, alpha, a, b, beta, c, o);
        same(&format!("her2k {what}"), c, ours, |c| reference::her2k(uplo, op, alpha, a, b, beta, c));
    }
}

fn updates<T: Scalar>(rt: &Runtime) {
    for (n, _, k, nb) in SHAPES {
        let o = Options::default().nb(nb);
        for (uplo, op) in UPLOS.iter().flat_map(|&u| OPS.map(|o| (u, o))) {
            let (a, b) = (integers::<T>(op.shape((n, k)), 1), integers::<T>(op.shape((n, k)), 2));
            let c = integers::<T>((n, n), 3);
            let (a, b) = (a.view(), b.view());
            for (alpha, beta) in scalars::<T>() {
                let what = format!("{uplo}{op} n = {n} k = {k} nb {nb} {alpha} {beta}");
                all_updates(rt, (uplo, op), (alpha, beta), (a, b), &c, &o, &what);
            }
        }
    }
}

fn symmetric_products<T: Scalar>(rt: &Runtime) {
    for (m, n, _, nb) in SHAPES {
        let o = Options::default().nb(nb);
        for (side, uplo) in SIDES.iter().flat_map(|&s| UPLOS.map(|u| (s, u))) {
            let order = if side == Side::Left { m } else { n };
            let a = triangle::<T>(order, 1, uplo, Diag::NonUnit);
            let (b, c) = (integers::<T>((m, n), 2), integers::<T>((m, n), 3));
            let (a, b) = (a.view(), b.view());
            for (alpha, beta) in scalars::<T>() {
                let what = format!("{side}{uplo} {m} x {n} nb {nb} {alpha} {beta}");
                let ours = |c: MatMut<'_, T>| symm(rt, side, uplo, alpha, a, b, beta, c, &o);
                same(&format!("symm {what}"), &c, ours, |c| reference::symm(side, uplo, alpha, a, b, beta, c));
                let ours = |c: MatMut<'_, T>| hemm(rt, side, uplo, alpha, a, b, beta, c, &o);
                same(&format!("hemm {what}"), &c, ours, |c| reference::hemm(side, uplo, alpha, a, b, beta, c));
            }
        }
    }
}

fn triangles<T: Scalar>(rt: &Runtime) {
    for (m, n, _, nb) in SHAPES {
        let o = Options::default().nb(nb);
        for (side, uplo) in SIDES.iter().flat_map(|&s| UPLOS.map(|u| (s, u))) {
            for (op, diag) in OPS.iter().flat_map(|&o| [Diag::NonUnit, Diag::Unit].map(|d| (o, d))) {
                let order = if side == Side::Left { m } else { n };
                let a = triangle::<T>(order, 1, uplo, diag);
                let b = integers::<T>((m, n), 2);
                let a = a.view();
                for (alpha, _) in scalars::<T>() {
                    let what = format!("trmm {side}{uplo}{op}{diag} {m} x {n} nb {nb} {alpha}");
                    let ours = |b: MatMut<'_, T>| trmm(rt, side, uplo, op, diag, alpha, a, b, &o);
                    same(&what, &b, ours, |b| reference::trmm(side, uplo, op, diag, alpha, a, b));
                }
                solves(rt, side, uplo, op, diag, &b, &o);
            }
        }
    }
}

/// Checks that a solve reverses a product up to rounding, with a well conditioned triangle.
fn solves<T: Scalar>(rt: &Runtime, side: Side, uplo: Uplo, op: Op, diag: Diag, b: &Stored<T>, o: &Options) {
    let order = if side == Side::Left { b.shape().0 } else { b.shape().1 };
    let mut a = triangle::<T>(order, 4, uplo, diag);
    a.memory_mut().iter_mut().for_each(|x| *x *= T::from_f64(1.0 / 64.0));
    (0..if diag == Diag::NonUnit { order } else { 0 }).for_each(|i| a.view_mut()[(i, i)] = T::from_f64(2.0));
    let two = T::from_f64(2.0);
    let mut x = b.clone();
    reference::trmm(side, uplo, op, diag, T::from_f64(0.5), a.view(), x.view_mut());
    trsm(rt, side, uplo, op, diag, two, a.view(), x.view_mut(), o).expect("shapes that fit");
    let (what, error) = (format!("trsm {side}{uplo}{op}{diag}"), x.wide().minus(&b.wide()).norm_max());
    assert!(error <= 200.0 * residual::epsilon::<T>(), "{what}: {error:e}");
    x.assert_padding(&what);
    let mut zero = b.clone();
    let nan = Stored::new(a.shape(), |_, _| T::from_f64(f64::NAN));
    trsm(rt, side, uplo, op, diag, T::ZERO, nan.view(), zero.view_mut(), o).expect("shapes that fit");
    assert!(zero.view().to_vec().iter().all(|&x| x == T::ZERO), "alpha = 0 reads nothing");
}

fn runtime() -> Runtime {
    Runtime::builder().workers(2).bind(false).build().expect("a runtime")
}

/// Triangles that two workers share in strips. They are large enough to be shared in single precision, too.
fn strips<T: Scalar>(rt: &Runtime) {
    let (n, k, o) = (211, 193, Options::default());
    let (alpha, beta) = scalars::<T>()[2];
    for (uplo, op) in UPLOS.iter().flat_map(|&u| OPS.map(|o| (u, o))) {
        let (a, b) = (integers::<T>(op.shape((n, k)), 1), integers::<T>(op.shape((n, k)), 2));
        let (c, right) = (integers::<T>((n, n), 3), integers::<T>(op.shape((k, n)), 4));
        let (a, b, right) = (a.view(), b.view(), right.view());
        let what = format!("{uplo}{op}");
        let ours = |c: MatMut<'_, T>| gemmt(rt, uplo, alpha, op, a, op, right, beta, c, &o);
        let textbook = |c: MatMut<'_, T>| reference::gemmt(uplo, alpha, op, a, op, right, beta, c);
        same(&format!("gemmt {what}"), &c, ours, textbook);
        all_updates(rt, (uplo, op), (alpha, beta), (a, b), &c, &o, &what);
    }
}

/// Defines a test for each of the four types.
macro_rules! four_types {
    ($($name:ident)*) => {$(
        mod $name {
            use super::*;
            #[test]
            fn s() { super::$name::<f32>(&runtime()); }
            #[test]
            fn d() { super::$name::<f64>(&runtime()); }
            #[test]
            fn c() { super::$name::<c32>(&runtime()); }
            #[test]
            fn z() { super::$name::<c64>(&runtime()); }
        }
    )*};
}

four_types! { products updates strips symmetric_products triangles }

#[test]
fn automatic_block_sizes() {
    let rt = runtime();
    for (m, n, k) in [(200, 190, 700), (700, 30, 300), (90, 800, 90)] {
        let (a, b) = (integers::<f64>((m, k), 1), integers::<f64>((k, n), 2));
        let ours =
            |c: MatMut<'_, f64>| gemm(&rt, 1.0, Op::None, a.view(), Op::None, b.view(), 1.0, c, &Options::default());
        let textbook = |c: MatMut<'_, f64>| {
            reference::gemm(1.0, Op::None, a.view(), Op::None, b.view(), 1.0, c);
        };
        same(&format!("gemm {m} x {n} x {k}"), &integers((m, n), 3), ours, textbook);
    }
}

#[test]
fn calls_compose_without_a_barrier() {
    let rt = runtime();
    let n = 60;
    let (a, mut x, mut c) = (integers::<f64>((n, n), 1), integers::<f64>((n, n), 2), integers::<f64>((n, n), 3));
    let (mut y, mut d) = (x.clone(), c.clone());
    rt.scope(|s| {
        let a = Tiled::read_only(s, a.view(), 16, 16);
        let (x, c) = (Tiled::new(s, x.view_mut(), 16, 16), Tiled::new(s, c.view_mut(), 16, 16));
        spawn::trmm(s, Side::Left, Uplo::Upper, Op::Trans, Diag::NonUnit, 1.0, &a, &x);
        spawn::gemm(s, 2.0, Op::None, &a, Op::Trans, &x, -1.0, &c);
        spawn::syrk(s, Uplo::Lower, Op::None, 1.0, &c, 1.0, &x);
    })
    .expect("nothing fails");
    reference::trmm(Side::Left, Uplo::Upper, Op::Trans, Diag::NonUnit, 1.0, a.view(), y.view_mut());
    reference::gemm(2.0, Op::None, a.view(), Op::Trans, y.view(), -1.0, d.view_mut());
    reference::syrk(Uplo::Lower, Op::None, 1.0, d.view(), 1.0, y.view_mut());
    assert!(c.memory() == d.memory() && x.memory() == y.memory());
}

#[test]
fn invalid_arguments_are_refused() {
    let (rt, o) = (runtime(), Options::default());
    let kind = |result: Result<(), Error>| result.expect_err("a refusal").kind();
    let (a, mut c) = (integers::<c64>((3, 4), 1), integers::<c64>((3, 3), 1));
    let one = c64::ONE;
    let (n, t) = (Op::None, Op::Trans);
    assert_eq!(kind(gemm(&rt, one, n, a.view(), n, a.view(), one, c.view_mut(), &o)), ErrorKind::Shape);
    assert_eq!(kind(herk(&rt, Uplo::Lower, t, 1.0, a.view(), 1.0, c.view_mut(), &o)), ErrorKind::Argument);
    let adjoint = Op::ConjTrans;
    assert_eq!(kind(syrk(&rt, Uplo::Lower, adjoint, one, a.view(), one, c.view_mut(), &o)), ErrorKind::Argument);
    let (left, lower, unit) = (Side::Left, Uplo::Lower, Diag::Unit);
    assert_eq!(kind(trsm(&rt, left, lower, n, unit, one, a.view(), c.view_mut(), &o)), ErrorKind::Shape);
    assert_eq!(kind(symm(&rt, left, lower, one, a.view(), a.view(), one, c.view_mut(), &o)), ErrorKind::Shape);
}
