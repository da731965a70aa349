//! Compares every kernel with its reference: four types, every option, ragged, strided, padded and transposed views.
//!
//! Operands are parts of larger arrays that are filled with a sentinel. Afterwards, every element that a kernel may not
//! write is compared bitwise.

use superscalar_kernels::{Diag, MatMut, MatRef, Op, Scalar, Side, Uplo, c32, c64, cpu, reference};
use superscalar_oracle::{
    Layout,
    Nearness::{Exact, Finite, Roundoffs},
    Random, Stored,
};

const OPS: [Op; 3] = [Op::None, Op::Trans, Op::ConjTrans];
const UPLOS: [Uplo; 2] = [Uplo::Lower, Uplo::Upper];

/// Instantiates a generic test for the four types.
macro_rules! four_types {
    ($($name:ident)*) => {$(
        mod $name {
            use super::*;
            #[test]
            fn s() { super::$name::<f32>(); }
            #[test]
            fn d() { super::$name::<f64>(); }
            #[test]
            fn c() { super::$name::<c32>(); }
            #[test]
            fn z() { super::$name::<c64>(); }
        }
    )*};
}

four_types! {
    gemm_is_exact products_of_every_depth_are_exact long_products_are_exact colliding_columns_are_exact
    rank_k_is_exact rank_2k_is_exact gemmt_is_exact trapezoids_match_triangles symm_is_exact trmm_is_exact
    geadd_is_exact trsm_agrees potrf_agrees nan_in_c_is_overwritten nan_and_inf_propagate
}

/// Makes a factor that has this shape after `op`.
fn factor<T: Scalar>(numbers: &mut Random, op: Op, (m, n): (usize, usize), case: Layout) -> Stored<T> {
    let (m, n) = op.shape((m, n));
    Stored::integers(numbers, (m, n), case)
}

/// Shapes (m, n, k): empty, one, odd, full and ragged register tiles of every type, more than one cache block.
fn shapes() -> Vec<(usize, usize, usize)> {
    let mut shapes = vec![(0, 3, 2), (3, 0, 2), (3, 2, 0), (1, 1, 1), (2, 3, 1), (7, 5, 3)];
    shapes.extend([(8, 8, 8), (17, 9, 4), (24, 8, 11), (25, 16, 33), (48, 31, 7), (49, 50, 51), (97, 24, 13)]);
    shapes.extend([(130, 40, 270), (20, 270, 5), (270, 7, 9)]);
    shapes
}

/// Selects the pairs of alpha and beta to test: all of them, or only one where the reference loops take long. That one
/// is random among the first `general` pairs, in which alpha is not zero.
fn select_factors<'f, F>(numbers: &mut Random, multiplications: usize, general: usize, factors: &'f [F]) -> &'f [F] {
    if multiplications <= 100_000 {
        return factors;
    }
    let at = numbers.below(general);
    &factors[at..at + 1]
}

fn gemm_is_exact<T: Scalar>() {
    let mut numbers = Random::new(1);
    for (m, n, k) in shapes() {
        for (op_a, op_b) in OPS.iter().flat_map(|&a| OPS.map(|b| (a, b))) {
            let (case, other) = (Layout::any(&mut numbers), Layout::any(&mut numbers));
            let a = factor::<T>(&mut numbers, op_a, (m, k), case);
            let b = factor::<T>(&mut numbers, op_b, (k, n), other);
            let c = Stored::<T>::integers(&mut numbers, (m, n), case);
            let factors = [(1.0, 0.0), (-1.0, 1.0), (2.0, -3.0), (0.0, 2.0)];
            for &(alpha, beta) in select_factors(&mut numbers, m * n * k, 3, &factors) {
                let (alpha, beta) = (T::from_f64(alpha), T::from_f64(beta));
                let (mut x, mut y) = (c.clone(), c.clone());
                cpu::gemm(alpha, op_a, a.view(), op_b, b.view(), beta, x.view_mut());
                reference::gemm(alpha, op_a, a.view(), op_b, b.view(), beta, y.view_mut());
                x.assert_near(&y, Exact, || format!("gemm {op_a}{op_b} {m} x {n} x {k} {alpha} {beta} {case:?}"));
            }
        }
    }
}

/// Full register tiles of every depth: kernels take four steps at a time, and the remaining ones one by one.
fn products_of_every_depth_are_exact<T: Scalar>() {
    let mut numbers = Random::new(2);
    let case = Layout::any(&mut numbers);
    let c = Stored::<T>::integers(&mut numbers, (96, 24), case);
    for (k, op) in (1..=70).chain([383, 384, 385]).flat_map(|k| [(k, Op::Trans), (k, Op::ConjTrans)]) {
        let a = factor::<T>(&mut numbers, Op::None, (96, k), case);
        let b = factor::<T>(&mut numbers, op, (k, 24), case);
        let (mut x, mut y) = (c.clone(), c.clone());
        cpu::gemm(T::ONE, Op::None, a.view(), op, b.view(), T::ONE, x.view_mut());
        reference::gemm(T::ONE, Op::None, a.view(), op, b.view(), T::ONE, y.view_mut());
        x.assert_near(&y, Exact, || format!("gemm N{op}, depth {k}"));
    }
}

/// A left factor whose columns share the sets of a cache is packed, although few columns use it.
fn colliding_columns_are_exact<T: Scalar>() {
    const LD: usize = 8192;
    let mut numbers = Random::new(13);
    for (m, n, k) in [(100, 24, 130), (53, 7, 70)] {
        let a = Stored::<T>::integers(&mut numbers, (m, k), Layout { padding: LD - m, ..Layout::PLAIN });
        let b = Stored::<T>::integers(&mut numbers, (k, n), Layout::PLAIN);
        let c = Stored::<T>::integers(&mut numbers, (m, n), Layout::PADDED);
        let (mut x, mut y) = (c.clone(), c.clone());
        cpu::gemm(T::ONE, Op::None, a.view(), Op::None, b.view(), T::ONE, x.view_mut());
        reference::gemm(T::ONE, Op::None, a.view(), Op::None, b.view(), T::ONE, y.view_mut());
        x.assert_near(&y, Exact, || format!("gemm {m} x {n} x {k}, columns {LD} apart"));
    }
}

/// Products with few rows and long sums.
fn long_products_are_exact<T: Scalar>() {
    let mut numbers = Random::new(12);
    for (m, n, k) in [(1, 8, 600), (5, 9, 40), (16, 30, 300), (33, 8, 2100), (64, 21, 1500), (128, 40, 3001)] {
        for (at, (op_a, op_b)) in OPS.iter().flat_map(|&a| OPS.map(|b| (a, b))).enumerate() {
            // For the longest, only three pairs, with each operation once on each side.
            if m == 128 && (at / 3 + at % 3) % 3 != 1 {
                continue;
            }
            let (case, other) = (Layout::any(&mut numbers), Layout::any(&mut numbers));
            let a = factor::<T>(&mut numbers, op_a, (m, k), case);
            let b = factor::<T>(&mut numbers, op_b, (k, n), other);
            let c = Stored::<T>::integers(&mut numbers, (m, n), case);
            for &(alpha, beta) in select_factors(&mut numbers, m * n * k, 2, &[(1.0, 0.0), (-2.0, 1.0)]) {
                let (alpha, beta) = (T::from_f64(alpha), T::from_f64(beta));
                let (mut x, mut y) = (c.clone(), c.clone());
                cpu::gemm(alpha, op_a, a.view(), op_b, b.view(), beta, x.view_mut());
                reference::gemm(alpha, op_a, a.view(), op_b, b.view(), beta, y.view_mut());
                x.assert_near(&y, Exact, || format!("gemm {op_a}{op_b} {m} x {n} x {k} {alpha} {beta} {case:?}"));
            }
        }
    }
}

/// Orders and depths of updates. In the last one, several blocks of rows are multiplied by factors that are packed as a
/// whole.
fn updates() -> impl Iterator<Item = (usize, usize)> {
    shapes().into_iter().map(|(n, _, k)| (n, k)).chain([(331, 133)])
}

fn rank_k_is_exact<T: Scalar>() {
    let mut numbers = Random::new(2);
    for (n, k) in updates() {
        for (uplo, op) in UPLOS.iter().flat_map(|&u| OPS.map(|o| (u, o))) {
            let (case, other) = (Layout::any(&mut numbers), Layout::any(&mut numbers));
            let a = factor::<T>(&mut numbers, op, (n, k), case);
            let c = Stored::<T>::integers(&mut numbers, (n, n), other);
            let factors = [(1.0, 0.0), (-1.0, 1.0), (2.0, -3.0), (0.0, 2.0)];
            for &(alpha, beta) in select_factors(&mut numbers, n * n * k, 3, &factors) {
                let message = || format!("{uplo} {op} n = {n} k = {k} {alpha} {beta} {case:?}");
                if !T::COMPLEX || op != Op::ConjTrans {
                    let (alpha, beta) = (T::from_f64(alpha), T::from_f64(beta));
                    let (mut x, mut y) = (c.clone(), c.clone());
                    cpu::syrk(uplo, op, alpha, a.view(), beta, x.view_mut());
                    reference::syrk(uplo, op, alpha, a.view(), beta, y.view_mut());
                    x.assert_near(&y, Exact, || format!("syrk {}", message()));
                }
                if !T::COMPLEX || op != Op::Trans {
                    let (alpha, beta) = (T::Real::from_f64(alpha), T::Real::from_f64(beta));
                    let (mut x, mut y) = (c.clone(), c.clone());
                    cpu::herk(uplo, op, alpha, a.view(), beta, x.view_mut());
                    reference::herk(uplo, op, alpha, a.view(), beta, y.view_mut());
                    x.assert_near(&y, Exact, || format!("herk {}", message()));
                    assert!((0..n).all(|i| x.view().at(i, i).im() == T::Real::ZERO), "real diagonal");
                }
            }
        }
    }
}

fn rank_2k_is_exact<T: Scalar>() {
    let mut numbers = Random::new(8);
    for (n, k) in updates() {
        for (uplo, op) in UPLOS.iter().flat_map(|&u| OPS.map(|o| (u, o))) {
            let (case, other, third) =
                (Layout::any(&mut numbers), Layout::any(&mut numbers), Layout::any(&mut numbers));
            let a = factor::<T>(&mut numbers, op, (n, k), case);
            let b = factor::<T>(&mut numbers, op, (n, k), other);
            let c = Stored::<T>::integers(&mut numbers, (n, n), third);
            let two_i = T::from_parts(T::Real::ONE, T::Real::from_f64(2.0));
            let factors = [(T::ONE, 0.0), (two_i, 1.0), (two_i, -3.0), (T::ZERO, 2.0)];
            for &(alpha, beta) in select_factors(&mut numbers, n * n * k, 3, &factors) {
                let message = || format!("{uplo} {op} n = {n} k = {k} {alpha} {beta} {case:?}");
                if !T::COMPLEX || op != Op::ConjTrans {
                    let (mut x, mut y) = (c.clone(), c.clone());
                    cpu::syr2k(uplo, op, alpha, a.view(), b.view(), T::from_f64(beta), x.view_mut());
                    reference::syr2k(uplo, op, alpha, a.view(), b.view(), T::from_f64(beta), y.view_mut());
                    x.assert_near(&y, Exact, || format!("syr2k {}", message()));
                }
                if !T::COMPLEX || op != Op::Trans {
                    let beta = T::Real::from_f64(beta);
                    let (mut x, mut y) = (c.clone(), c.clone());
                    cpu::her2k(uplo, op, alpha, a.view(), b.view(), beta, x.view_mut());
                    reference::her2k(uplo, op, alpha, a.view(), b.view(), beta, y.view_mut());
                    x.assert_near(&y, Exact, || format!("her2k {}", message()));
                    assert!((0..n).all(|i| x.view().at(i, i).im() == T::Real::ZERO), "real diagonal");
                }
            }
        }
    }
}

fn gemmt_is_exact<T: Scalar>() {
    let mut numbers = Random::new(9);
    for (n, _, k) in shapes() {
        for (op_a, op_b) in OPS.iter().flat_map(|&a| OPS.map(|b| (a, b))) {
            let (case, other) = (Layout::any(&mut numbers), Layout::any(&mut numbers));
            let a = factor::<T>(&mut numbers, op_a, (n, k), case);
            let b = factor::<T>(&mut numbers, op_b, (k, n), other);
            let c = Stored::<T>::integers(&mut numbers, (n, n), case);
            let factors = [(Uplo::Lower, 1.0, 0.0), (Uplo::Upper, 2.0, -3.0), (Uplo::Lower, 0.0, 2.0)];
            for &(uplo, alpha, beta) in select_factors(&mut numbers, n * n * k, 2, &factors) {
                let (alpha, beta) = (T::from_f64(alpha), T::from_f64(beta));
                let (mut x, mut y) = (c.clone(), c.clone());
                cpu::gemmt(uplo, alpha, op_a, a.view(), op_b, b.view(), beta, x.view_mut());
                reference::gemmt(uplo, alpha, op_a, a.view(), op_b, b.view(), beta, y.view_mut());
                x.assert_near(&y, Exact, || {
                    format!("gemmt {uplo}{op_a}{op_b} n = {n} k = {k} {alpha} {beta} {case:?}")
                });
            }
        }
    }
}

/// Trapezoids are parts of triangles: their first columns or rows. The updates are packed as a whole, block by block,
/// or not at all.
fn trapezoids_match_triangles<T: Scalar>() {
    let mut numbers = Random::new(11);
    for (order, k) in [(9, 3), (75, 20), (150, 70), (131, 1030)] {
        let options = UPLOS.iter().flat_map(|&u| OPS.map(|o| (u, o, 1 + order / 3))).enumerate();
        // For the deepest updates, only every other case: one triangle for each operation.
        for (_, (uplo, op, width)) in options.filter(|(at, _)| k < 1000 || at % 2 == 0) {
            let (case, other, third) =
                (Layout::any(&mut numbers), Layout::any(&mut numbers), Layout::any(&mut numbers));
            let a = factor::<T>(&mut numbers, op, (order, k), case);
            let b = factor::<T>(&mut numbers, op, (order, k), other);
            let right = factor::<T>(&mut numbers, op, (k, order), other);
            let c = Stored::<T>::integers(&mut numbers, (order, order), third);
            let (rows, cols) = if uplo == Uplo::Lower { (0..order, 0..width) } else { (0..width, 0..order) };
            let (alpha, beta) = (T::from_parts(T::Real::ONE, T::Real::from_f64(2.0)), T::from_f64(-3.0));
            // The result of the whole update in the trapezoid, and the old contents elsewhere.
            let part_of = |whole: &Stored<T>| {
                let (mut part, all) = (c.clone(), whole.view());
                for (i, j) in cols.clone().flat_map(|j| rows.clone().map(move |i| (i, j))) {
                    part.view_mut()[(i, j)] = all.at(i, j);
                }
                part
            };
            let check = |name: &str, update: &dyn Fn(MatMut<'_, T>), whole: &dyn Fn(MatMut<'_, T>)| {
                let (mut x, mut y) = (c.clone(), c.clone());
                update(x.view_mut().submatrix(rows.clone(), cols.clone()));
                whole(y.view_mut());
                x.assert_near(&part_of(&y), Exact, || {
                    format!("{name} {uplo} {op} {rows:?} x {cols:?}, k = {k} {case:?}")
                });
            };
            let (a, b, right) = (a.view(), b.view(), right.view());
            if !T::COMPLEX || op != Op::ConjTrans {
                let syrk = |c: MatMut<'_, T>| cpu::syrk(uplo, op, alpha, a, beta, c);
                let syr2k = |c: MatMut<'_, T>| cpu::syr2k(uplo, op, alpha, a, b, beta, c);
                check("syrk", &syrk, &|c| reference::syrk(uplo, op, alpha, a, beta, c));
                check("syr2k", &syr2k, &|c| reference::syr2k(uplo, op, alpha, a, b, beta, c));
            }
            if !T::COMPLEX || op != Op::Trans {
                let (real, beta) = (alpha.re(), beta.re());
                let herk = |c: MatMut<'_, T>| cpu::herk(uplo, op, real, a, beta, c);
                let her2k = |c: MatMut<'_, T>| cpu::her2k(uplo, op, alpha, a, b, beta, c);
                check("herk", &herk, &|c| reference::herk(uplo, op, real, a, beta, c));
                check("her2k", &her2k, &|c| reference::her2k(uplo, op, alpha, a, b, beta, c));
            }
            let of_rows =
                if op == Op::None { a.submatrix(rows.clone(), 0..k) } else { a.submatrix(0..k, rows.clone()) };
            let of_cols =
                if op == Op::None { right.submatrix(0..k, cols.clone()) } else { right.submatrix(cols.clone(), 0..k) };
            let gemmt = |c: MatMut<'_, T>| cpu::gemmt(uplo, alpha, op, of_rows, op, of_cols, beta, c);
            check("gemmt", &gemmt, &|c| reference::gemmt(uplo, alpha, op, a, op, right, beta, c));
            let scaled = |c: MatMut<'_, T>| cpu::gemmt(uplo, T::ZERO, op, of_rows, op, of_cols, beta, c);
            check("scaling", &scaled, &|c| reference::gemmt(uplo, T::ZERO, op, a, op, right, beta, c));
        }
    }
}

/// Sets the elements outside of the named triangle to NaN, which must not affect the result.
fn hide<T: Scalar>(uplo: Uplo, a: &mut Stored<T>) {
    let mut view = a.view_mut();
    for j in 0..view.ncols() {
        for i in (0..view.nrows()).filter(|&i| if uplo == Uplo::Lower { i < j } else { i > j }) {
            view[(i, j)] = T::from_f64(f64::NAN);
        }
    }
}

fn symm_is_exact<T: Scalar>() {
    let mut numbers = Random::new(10);
    // The last ones are packed in several blocks, on both sides of the diagonal.
    for (m, n) in shapes().into_iter().map(|(m, n, _)| (m, n)).chain([(9, 5), (71, 2), (331, 19), (11, 530)]) {
        for (side, uplo) in [Side::Left, Side::Right].iter().flat_map(|&s| UPLOS.map(|u| (s, u))) {
            let (case, other) = (Layout::any(&mut numbers), Layout::any(&mut numbers));
            let order = if side == Side::Left { m } else { n };
            let mut a = Stored::<T>::integers(&mut numbers, (order, order), case);
            hide(uplo, &mut a);
            let b = Stored::<T>::integers(&mut numbers, (m, n), other);
            let c = Stored::<T>::integers(&mut numbers, (m, n), case);
            for &(alpha, beta) in select_factors(&mut numbers, order * m * n, 2, &[(1.0, 0.0), (2.0, -3.0), (0.0, 2.0)])
            {
                let (alpha, beta) = (T::from_f64(alpha), T::from_f64(beta));
                let message = || format!("{side}{uplo} {m} x {n} {alpha} {beta} {case:?}");
                let (mut x, mut y) = (c.clone(), c.clone());
                cpu::symm(side, uplo, alpha, a.view(), b.view(), beta, x.view_mut());
                reference::symm(side, uplo, alpha, a.view(), b.view(), beta, y.view_mut());
                x.assert_near(&y, Exact, || format!("symm {}", message()));
                let (mut x, mut y) = (c.clone(), c.clone());
                cpu::hemm(side, uplo, alpha, a.view(), b.view(), beta, x.view_mut());
                reference::hemm(side, uplo, alpha, a.view(), b.view(), beta, y.view_mut());
                x.assert_near(&y, Exact, || format!("hemm {}", message()));
            }
        }
    }
}

fn trmm_is_exact<T: Scalar>() {
    let mut numbers = Random::new(11);
    for (m, n, _) in shapes() {
        for side in [Side::Left, Side::Right] {
            let order = if side == Side::Left { m } else { n };
            for (uplo, op) in UPLOS.iter().flat_map(|&u| OPS.map(|o| (u, o))) {
                for (diag, alpha) in [(Diag::NonUnit, 1.0), (Diag::Unit, -2.0), (Diag::NonUnit, 0.0)] {
                    let (case, other) = (Layout::any(&mut numbers), Layout::any(&mut numbers));
                    let mut a = Stored::<T>::integers(&mut numbers, (order, order), case);
                    hide(uplo, &mut a);
                    if diag == Diag::Unit {
                        (0..order).for_each(|i| a.view_mut()[(i, i)] = T::from_f64(f64::NAN));
                    }
                    let mut b = Stored::<T>::integers(&mut numbers, (m, n), other);
                    if alpha != 0.0 && n > 0 && m > 0 {
                        // The zeros of the other triangle must not be multiplied by it.
                        b.view_mut()[(m / 2, n / 2)] = T::from_real(T::Real::from_f64(f64::INFINITY));
                    }
                    let (mut x, mut y) = (b.clone(), b.clone());
                    let alpha = T::from_f64(alpha);
                    cpu::trmm(side, uplo, op, diag, alpha, a.view(), x.view_mut());
                    reference::trmm(side, uplo, op, diag, alpha, a.view(), y.view_mut());
                    x.assert_near(&y, Finite, || format!("trmm {side}{uplo}{op}{diag} {m} x {n} {case:?}"));
                }
            }
        }
    }
}

fn trsm_agrees<T: Scalar>() {
    let mut numbers = Random::new(3);
    for (m, n, _) in shapes() {
        for side in [Side::Left, Side::Right] {
            let order = if side == Side::Left { m } else { n };
            for (uplo, op) in UPLOS.iter().flat_map(|&u| OPS.map(|o| (u, o))) {
                for (diag, alpha) in [(Diag::NonUnit, 1.0), (Diag::Unit, -0.5), (Diag::NonUnit, 0.0)] {
                    let (case, other) = (Layout::any(&mut numbers), Layout::any(&mut numbers));
                    let a = Stored::<T>::triangular(&mut numbers, uplo, diag, order, case);
                    let b = Stored::<T>::fractions(&mut numbers, (m, n), other);
                    let (mut x, mut y) = (b.clone(), b.clone());
                    let alpha = T::from_f64(alpha);
                    cpu::trsm(side, uplo, op, diag, alpha, a.view(), x.view_mut());
                    reference::trsm(side, uplo, op, diag, alpha, a.view(), y.view_mut());
                    let what = || format!("trsm {side}{uplo}{op}{diag} {m} x {n} {case:?}");
                    x.assert_near(&y, Roundoffs(8.0 * (1 + order) as f64), what);
                }
            }
        }
    }
}

fn potrf_agrees<T: Scalar>() {
    let mut numbers = Random::new(4);
    for n in [0, 1, 2, 3, 7, 8, 9, 16, 17, 31, 48, 65, 100, 129, 300] {
        for uplo in UPLOS {
            for _ in 0..2 {
                let case = Layout::any(&mut numbers);
                let a = Stored::<T>::definite_triangle(&mut numbers, uplo, n, case);
                let (mut x, mut y) = (a.clone(), a.clone());
                assert_eq!(cpu::potrf(uplo, x.view_mut()), Ok(()));
                assert_eq!(reference::potrf(uplo, y.view_mut()), Ok(()));
                x.assert_near(&y, Roundoffs(8.0 * n as f64), || format!("potrf {uplo} n = {n} {case:?}"));
                assert!((0..n).all(|i| x.view().at(i, i).im() == T::Real::ZERO), "real diagonal");
            }
        }
    }
}

fn nan_in_c_is_overwritten<T: Scalar>() {
    let mut numbers = Random::new(5);
    for (m, n, k) in [(1, 1, 1), (5, 3, 0), (33, 9, 20), (130, 70, 300)] {
        let a = Stored::<T>::integers(&mut numbers, (m, k), Layout::PLAIN);
        let b = Stored::<T>::integers(&mut numbers, (k, n), Layout::PLAIN);
        for alpha in [T::ZERO, T::ONE] {
            let mut c = Stored::<T>::integers(&mut numbers, (m, n), Layout::PLAIN);
            c.view_mut().fill(T::from_f64(f64::NAN));
            cpu::gemm(alpha, Op::None, a.view(), Op::None, b.view(), T::ZERO, c.view_mut());
            assert!(c.view().to_vec().iter().all(|x| !x.is_nan()));
            let mut c = Stored::<T>::integers(&mut numbers, (m, m), Layout::PLAIN);
            c.view_mut().fill(T::from_f64(f64::NAN));
            cpu::syrk(Uplo::Lower, Op::None, alpha, a.view(), T::ZERO, c.view_mut());
            for j in 0..m {
                assert!((0..m).all(|i| c.view().at(i, j).is_nan() == (i < j)), "syrk: only the triangle is written");
            }
        }
        // alpha = 0 does not read the factors.
        let nan = vec![T::from_f64(f64::NAN); m * k];
        let nan = MatRef::from_col_major(&nan, m, k, m).unwrap();
        let mut c = Stored::<T>::integers(&mut numbers, (m, n), Layout::PLAIN);
        cpu::gemm(T::ZERO, Op::None, nan, Op::None, b.view(), T::ONE, c.view_mut());
        assert!(c.view().to_vec().iter().all(|x| !x.is_nan()));
    }
}

fn geadd_is_exact<T: Scalar>() {
    let mut numbers = Random::new(12);
    let general = T::from_parts(T::Real::from_f64(2.0), T::Real::from_f64(-1.0));
    // More rows, or columns, than are added together.
    for (m, n) in shapes().into_iter().map(|(m, n, _)| (m, n)).chain([(1030, 3), (3, 1030)]) {
        for op in OPS {
            // All pairs of layouts turn up, among them two matrices whose rows are adjacent elements.
            let (case, other) = (Layout::any(&mut numbers), Layout::any(&mut numbers));
            let a = factor::<T>(&mut numbers, op, (m, n), case);
            let b = Stored::<T>::integers(&mut numbers, (m, n), other);
            for (alpha, beta) in
                [T::ZERO, T::ONE, general].into_iter().flat_map(|x| [T::ZERO, -T::ONE, general].map(|y| (x, y)))
            {
                let (mut x, mut y) = (b.clone(), b.clone());
                cpu::geadd(op, alpha, a.view(), beta, x.view_mut());
                reference::geadd(op, alpha, a.view(), beta, y.view_mut());
                x.assert_near(&y, Exact, || format!("geadd {op} {m} x {n} {alpha} {beta} {case:?} {other:?}"));
            }
        }
    }
}

/// A real factor multiplies both parts of a complex number: an infinite part leaves the other one finite.
#[test]
fn real_factors_of_sums_leave_infinities_apart() {
    let (a, old) = ([c64::new(1.0, 2.0); 4], [c64::new(f64::INFINITY, 1.0); 4]);
    for op in OPS {
        let mut b = old;
        let a = MatRef::from_col_major(&a, 2, 2, 2).unwrap();
        let b_view = MatMut::from_col_major(&mut b, 2, 2, 2).unwrap();
        cpu::geadd(op, c64::new(1.0, 0.0), a, c64::new(0.5, 0.0), b_view);
        let imaginary = if op == Op::ConjTrans { -1.5 } else { 2.5 };
        assert!(b.iter().all(|x| *x == c64::new(f64::INFINITY, imaginary)), "{op}: {b:?}");
    }
}

fn nan_and_inf_propagate<T: Scalar>() {
    for n in [1, 7, 40] {
        for at in [0, n / 2, n - 1] {
            let mut a = vec![T::ONE; n * n];
            a[at + at * n] = T::from_f64(f64::NAN);
            let a = MatRef::from_col_major(&a, n, n, n).unwrap();
            let zeros = vec![T::ZERO; n * n];
            let zeros = MatRef::from_col_major(&zeros, n, n, n).unwrap();
            let mut c = Stored::<T>::integers(&mut Random::new(6), (n, n), Layout::PLAIN);
            cpu::gemm(T::ONE, Op::None, a, Op::None, zeros, T::ONE, c.view_mut());
            for i in 0..n {
                assert!((0..n).all(|j| c.view().at(i, j).is_nan() == (i == at)), "0 * NaN in row {at}");
            }
            let mut b = Stored::<T>::integers(&mut Random::new(7), (n, n), Layout::PLAIN);
            cpu::trsm(Side::Left, Uplo::Lower, Op::None, Diag::NonUnit, T::ONE, a, b.view_mut());
            for i in 0..n {
                assert!((0..n).all(|j| b.view().at(i, j).is_nan() == (i >= at)), "NaN pivot in row {at}");
            }
        }
    }
}
