//! gemm and gemv.

use crate::{for_all_types, fractions, layout, members, orders, tries, views, views_mut};
use superscalar_kernels::{Op, Scalar, cpu, cpu::batch};
use superscalar_oracle::{Layout, Nearness::Roundoffs, Random, Stored};

const OPS: [Op; 3] = [Op::None, Op::Trans, Op::ConjTrans];

/// Returns the shape of A with op(A) of this shape.
fn stored(op: Op, shape: (usize, usize)) -> (usize, usize) {
    op.shape(shape)
}

/// The factors of a product.
struct Scales<T> {
    alpha: T,
    beta: T,
}

/// Compares the products of a batch with those of its members.
fn check<T: Scalar>(scales: &Scales<T>, ops: (Op, Op), a: &[Stored<T>], b: &[Stored<T>], c: &[Stored<T>]) {
    let Scales { alpha, beta } = *scales;
    let mut found = c.to_vec();
    batch::gemm(alpha, ops.0, &views(a), ops.1, &views(b), beta, &mut views_mut(&mut found));
    for (i, found) in found.iter().enumerate() {
        let mut expected = c[i].clone();
        cpu::gemm(alpha, ops.0, a[i].view(), ops.1, b[i].view(), beta, expected.view_mut());
        let depth = ops.0.shape(a[i].shape()).1;
        let what = || format!("{}gemm {ops:?} member {i}: {:?}, depth {depth}", T::LETTER, c[i].shape());
        found.assert_near(&expected, Roundoffs(8.0 * (depth + 4) as f64), what);
    }
}

#[test]
fn products_agree() {
    fn check_all<T: Scalar>() {
        let mut numbers = Random::new(1);
        let half = T::from_parts(T::Real::from_f64(0.5), T::Real::from_f64(-0.25));
        for n in orders() {
            for (case, ops) in OPS.iter().flat_map(|&a| OPS.map(|b| (a, b))).enumerate() {
                if !tries(n, case) {
                    continue;
                }
                let storage = case + n;
                let count = members(case + n);
                let others = [n, 1 + 3 * n % 11, 1 + 5 * n % 7];
                let (m, columns, depth) = (others[case % 3], others[(case / 3) % 3], others[(case + case / 3) % 3]);
                let a = fractions::<T>(&mut numbers, stored(ops.0, (m, depth)), storage, count);
                let b = fractions(&mut numbers, stored(ops.1, (depth, columns)), storage + 1, count);
                let mut c = fractions(&mut numbers, (m, columns), storage + 2, count);
                let (alpha, beta) = [(T::ONE, T::ZERO), (half, T::ONE), (-T::ONE, half), (half, T::ZERO)][storage % 4];
                if beta == T::ZERO {
                    c.iter_mut().for_each(|c| c.view_mut().fill(T::from_f64(f64::NAN)));
                }
                check(&Scales { alpha, beta }, ops, &a, &b, &c);
            }
        }
    }
    for_all_types!(check_all);
}

#[test]
fn shapes_and_storages_are_mixed() {
    fn check_all<T: Scalar>() {
        let mut numbers = Random::new(2);
        for round in 0..20 {
            let (mut a, mut b, mut c) = (Vec::new(), Vec::new(), Vec::new());
            for _ in 0..numbers.below(12) {
                let (m, n, k) = (numbers.below(9), numbers.below(9), numbers.below(9));
                for _ in 0..=numbers.below(20) {
                    let layouts = [0, 1, 2].map(|_| layout(&mut numbers, round));
                    a.push(Stored::<T>::fractions(&mut numbers, (m, k), layouts[0]));
                    b.push(Stored::fractions(&mut numbers, (k, n), layouts[1]));
                    c.push(Stored::fractions(&mut numbers, (m, n), layouts[2]));
                }
            }
            check(&Scales { alpha: T::ONE, beta: T::ONE }, (Op::None, Op::None), &a, &b, &c);
            check(&Scales { alpha: T::ZERO, beta: T::from_f64(0.5) }, (Op::None, Op::None), &a, &b, &c);
        }
    }
    for_all_types!(check_all);
}

#[test]
fn nan_stays_in_its_member() {
    fn check_all<T: Scalar>() {
        let mut numbers = Random::new(3);
        for n in [1, 4, 7, 16] {
            for bad in 0..17 {
                let mut a = fractions::<T>(&mut numbers, (n, n), 0, 17);
                let b = fractions(&mut numbers, (n, n), 1, 17);
                let c = fractions(&mut numbers, (n, n), 0, 17);
                a[bad].set(n / 2, n - 1, T::from_f64(f64::NAN));
                check(&Scales { alpha: T::ONE, beta: T::ONE }, (Op::None, Op::Trans), &a, &b, &c);
            }
        }
    }
    for_all_types!(check_all);
}

#[test]
fn gemv_agrees() {
    fn check_all<T: Scalar>() {
        let mut numbers = Random::new(4);
        for n in orders() {
            for (case, op) in OPS.into_iter().enumerate() {
                let (m, count) = (1 + 7 * n % 13, members(n + case));
                let (rows, columns) = op.shape((m, n));
                let a = fractions::<T>(&mut numbers, (m, n), n + case, count);
                let x = fractions::<T>(&mut numbers, (columns, 1), case, count);
                let y = fractions::<T>(&mut numbers, (rows, 1), n, count);
                let mut found = y.clone();
                batch::gemv(T::ONE, op, &views(&a), &views(&x), T::ONE, &mut views_mut(&mut found));
                for (i, found) in found.iter().enumerate() {
                    let mut expected = y[i].clone();
                    cpu::gemm(T::ONE, op, a[i].view(), Op::None, x[i].view(), T::ONE, expected.view_mut());
                    let what = || format!("{}gemv {op} member {i} of {count}: {m} x {n}", T::LETTER);
                    found.assert_near(&expected, Roundoffs(8.0 * (m + n) as f64), what);
                }
            }
        }
    }
    for_all_types!(check_all);
}

#[test]
#[should_panic(expected = "batches of")]
fn different_counts_are_refused() {
    let mut c = [Stored::<f64>::zeros((2, 2))];
    batch::gemm(1.0, Op::None, &[], Op::None, &[], 0.0, &mut views_mut(&mut c));
}

#[test]
#[should_panic(expected = "shapes of a member do not agree")]
fn different_shapes_are_refused() {
    let a = [(); 2].map(|()| Stored::<f64>::laid_out((2, 3), Layout::PLAIN, |_, _| 1.0));
    let mut c = [(); 2].map(|()| Stored::<f64>::zeros((2, 2)));
    batch::gemm(1.0, Op::None, &views(&a), Op::None, &views(&a), 0.0, &mut views_mut(&mut c));
}
