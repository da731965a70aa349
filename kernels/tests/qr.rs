//! geqrf, larft and larfb: agreement with the references, backward errors and orthogonality, at every scale.

#[macro_use]
mod panels;

use panels::SHAPES;
use superscalar_kernels::cpu::{BlockReflector, PackStore, PackedForms};
use superscalar_kernels::{MatMut, MatRef, Op, Real, Scalar, Side, c32, c64, cpu, reference};
use superscalar_oracle::{
    Layout,
    Nearness::{Exact, Roundoffs},
    Random, Stored, Wide, largest, residual, roundoffs,
};

/// Returns the largest element of x − y, over eps and the largest element of y.
fn distance<T: Scalar>(x: MatRef<'_, T>, y: MatRef<'_, T>) -> f64 {
    assert_eq!(x.shape(), y.shape());
    roundoffs(&x.to_vec(), &y.to_vec())
}

fn identity<T: Scalar>(m: usize) -> Stored<T> {
    Stored::new((m, m), |i, j| if i == j { T::ONE } else { T::ZERO })
}

/// Returns the upper trapezoid of a factored matrix.
fn upper<T: Scalar>(a: MatRef<'_, T>) -> Stored<T> {
    Stored::new(a.shape(), |i, j| if i <= j { a.at(i, j) } else { T::ZERO })
}

/// Returns the largest element of Qᴴ Q − I.
fn gram_defect<T: Scalar>(q: &Stored<T>) -> f64 {
    let q = q.wide();
    q.adjoint().times(&q).minus(&Wide::identity(q.shape().1)).norm_max()
}

/// Factors a copy of `a`, checks Q R = A, Qᴴ Q = I and T against tau, and returns the factored matrix and tau.
fn check_factorization<T: Scalar>(a: &Stored<T>, case: Layout) -> (Stored<T>, Vec<T>) {
    let (m, n) = a.view().shape();
    let k = m.min(n);
    let mut x = a.clone();
    let mut tau = vec![T::from_f64(f64::NAN); k];
    let mut t = Stored::<T>::fractions(&mut Random::new(1), (k, k), case);
    cpu::geqrf(x.view_mut(), &mut tau, t.view_mut());
    let v = x.view().submatrix(0..m, 0..k);
    let what = || format!("{}geqrf {m} x {n} {case:?}", T::LETTER);
    let mut from_tau = Stored::<T>::zeros((k, k));
    reference::larft(v, &tau, from_tau.view_mut());
    let error = distance(t.view(), from_tau.view());
    assert!(error < 40.0 * (k + 1) as f64, "{}: T differs by {error} eps", what());
    let below = (0..k).flat_map(|j| (j + 1..k).map(move |i| (i, j))).all(|(i, j)| t.view().at(i, j) == T::ZERO);
    assert!(below, "{}: zeros below the diagonal of T", what());
    let mut q = identity::<T>(m);
    reference::larfb(Side::Left, Op::None, v, t.view(), q.view_mut());
    let error = residual::scaled::<T>(gram_defect(&q), 1.0, 1);
    assert!(error < 10.0 * (m + 1) as f64, "{}: orthogonality {error} eps", what());
    let (a, qr) = (a.wide(), q.wide().times(&upper(x.view()).wide()));
    let error = residual::scaled::<T>(qr.minus(&a).norm_max(), a.norm_max(), 1);
    assert!(error < 10.0 * (m + 1) as f64, "{}: backward error {error} eps", what());
    for i in 0..k {
        // The reflector of a single row only removes an imaginary part.
        assert!(x.view().at(i, i).im() == T::Real::ZERO, "{}: a real diagonal", what());
    }
    (x, tau)
}

#[test]
fn factorization_agrees_and_is_accurate() {
    fn check<T: Scalar>() {
        let mut numbers = Random::new(31);
        for (m, n) in SHAPES.into_iter().chain([(150, 100)]) {
            for case in [Layout::PLAIN, Layout::any(&mut numbers), Layout::any(&mut numbers)] {
                let a = Stored::<T>::fractions(&mut numbers, (m, n), case);
                let (x, tau) = check_factorization(&a, case);
                let k = m.min(n);
                let mut y = a.clone();
                let (mut expected, mut t) = (vec![T::ZERO; k], Stored::<T>::zeros((k, k)));
                reference::geqrf(y.view_mut(), &mut expected, t.view_mut());
                x.assert_near(&y, Roundoffs(1e3 * (k * k) as f64), || format!("geqrf {m} x {n} {case:?}"));
                let error = largest(tau.iter().zip(&expected).map(|(&x, &y)| (x - y).abs().to_f64()));
                let bound = 1e4 * (k * k) as f64 * T::EPSILON.to_f64();
                assert!(error <= bound, "{}geqrf {m} x {n}: tau differs by {error:e}", T::LETTER);
            }
        }
    }
    for_all_types!(check);
}

#[test]
fn tall_panels() {
    fn check<T: Scalar>() {
        let mut numbers = Random::new(32);
        for (m, n) in [(5003, 40), (20000, 5)] {
            let a = Stored::<T>::fractions(&mut numbers, (m, n), Layout::PLAIN);
            let mut x = a.clone();
            let (mut tau, mut t) = (vec![T::ZERO; n], Stored::<T>::zeros((n, n)));
            cpu::geqrf(x.view_mut(), &mut tau, t.view_mut());
            let mut r = upper(x.view());
            let q = BlockReflector::new(x.view(), t.view());
            cpu::larfb(Side::Left, Op::None, q, r.view_mut());
            let error = distance(r.view(), a.view());
            assert!(error < 4.0 * (m as f64).sqrt(), "{}geqrf {m} x {n}: {error} eps", T::LETTER);
            // Rᴴ R = Aᴴ A, because Q has orthonormal columns.
            let gram = |a: Wide| a.adjoint().times(&a);
            let (left, right) = (gram(upper(x.view()).wide()), gram(a.wide()));
            let error = residual::scaled::<T>(left.minus(&right).norm_max(), right.norm_max(), 1);
            assert!(error < 4.0 * (m as f64).sqrt(), "{}geqrf {m} x {n}: {error} eps", T::LETTER);
        }
    }
    for_all_types!(check);
}

#[test]
fn blocked_triangular_factors() {
    fn check<T: Scalar>() {
        let mut numbers = Random::new(39);
        for (m, n, block) in [(20, 12, 5), (12, 20, 12), (70, 70, 16), (100, 90, 40), (150, 100, 7), (9, 9, 1)] {
            let a = Stored::<T>::fractions(&mut numbers, (m, n), Layout::PLAIN);
            let k = m.min(n);
            let (mut x, mut y) = (a.clone(), a.clone());
            let (mut tau, mut expected) = (vec![T::ZERO; k], vec![T::ZERO; k]);
            let mut t = Stored::<T>::fractions(&mut numbers, (block, k), Layout::PLAIN);
            let mut whole = Stored::<T>::zeros((k, k));
            cpu::geqrf(x.view_mut(), &mut tau, t.view_mut());
            cpu::geqrf(y.view_mut(), &mut expected, whole.view_mut());
            let what = || format!("{}geqrf {m} x {n} by {block}", T::LETTER);
            x.assert_near(&y, Roundoffs(1e3 * (k * k) as f64), what);
            let v = x.view().submatrix(0..m, 0..k);
            let mut whole = Stored::<T>::zeros((k, k));
            reference::larft(v, &tau, whole.view_mut());
            let c = Stored::<T>::fractions(&mut numbers, (m, m), Layout::PLAIN);
            for (side, op) in [Side::Left, Side::Right].into_iter().flat_map(|s| [(s, Op::None), (s, Op::ConjTrans)]) {
                let (mut x, mut y) = (c.clone(), c.clone());
                cpu::larfb(side, op, BlockReflector::new(v, t.view()), x.view_mut());
                cpu::larfb(side, op, BlockReflector::new(v, whole.view()), y.view_mut());
                x.assert_near(&y, Roundoffs(100.0 * m as f64), || format!("{side}{op} {}", what()));
            }
        }
    }
    for_all_types!(check);
}

#[test]
fn matrices_of_every_scale() {
    fn check<T: Scalar>() {
        let mut numbers = Random::new(33);
        let least = T::Real::MIN_POSITIVE.to_f64();
        for scale in [least * 1e3, 1e-3 / least] {
            for (m, n) in [(1, 1), (6, 6), (40, 23), (60, 40)] {
                let mut a = Stored::<T>::fractions(&mut numbers, (m, n), Layout::PLAIN);
                let times =
                    |x: T, by: f64| T::from_parts(x.re() * T::Real::from_f64(by), x.im() * T::Real::from_f64(by));
                a.memory_mut().iter_mut().for_each(|x| *x = times(*x, scale));
                let (mut x, mut y) = (a.clone(), a.clone());
                y.memory_mut().iter_mut().for_each(|x| *x = times(*x, 1.0 / scale));
                let (mut tau, mut expected) = (vec![T::ZERO; n], vec![T::ZERO; n]);
                let (mut t, mut u) = (Stored::<T>::zeros((n, n)), Stored::<T>::zeros((n, n)));
                cpu::geqrf(x.view_mut(), &mut tau, t.view_mut());
                cpu::geqrf(y.view_mut(), &mut expected, u.view_mut());
                // V does not depend on the scale, and R is proportional to it.
                for j in 0..n {
                    for i in 0..m {
                        let x = x.view().at(i, j);
                        let x = if i <= j { times(x, 1.0 / scale) } else { x };
                        let far = (x - y.view().at(i, j)).abs().to_f64();
                        let bound = 1e5 * T::EPSILON.to_f64();
                        assert!(far < bound, "{}geqrf {m} x {n} of {scale:e}: {x} at ({i}, {j})", T::LETTER);
                    }
                }
                assert!(distance(t.view(), u.view()) < 1e5, "{}geqrf of {scale:e}: T", T::LETTER);
            }
        }
    }
    for_all_types!(check);
}

#[test]
fn columns_of_different_scales() {
    fn check<T: Scalar>() {
        let mut numbers = Random::new(34);
        let least = T::Real::MIN_POSITIVE.to_f64();
        let (m, n) = (30, 20);
        let mut a = Stored::<T>::fractions(&mut numbers, (m, n), Layout::PLAIN);
        for (j, scale) in [(3, least * 64.0), (4, 1e-3 / least), (9, least * 1e6), (11, 0.0)] {
            (0..m).for_each(|i| a.view_mut()[(i, j)] *= T::from_f64(scale));
        }
        let mut x = a.clone();
        let (mut tau, mut t) = (vec![T::ZERO; n], Stored::<T>::zeros((n, n)));
        cpu::geqrf(x.view_mut(), &mut tau, t.view_mut());
        let mut q = identity::<T>(m);
        reference::larfb(Side::Left, Op::None, x.view(), t.view(), q.view_mut());
        let error = residual::scaled::<T>(gram_defect(&q), 1.0, 1);
        assert!(error < 300.0, "{}geqrf: orthogonality {error} eps", T::LETTER);
        // Column by column, because each has its own scale.
        let mut qr = upper(x.view());
        reference::larfb(Side::Left, Op::None, x.view(), t.view(), qr.view_mut());
        for j in 0..n {
            let error = distance(qr.view().col(j), a.view().col(j));
            // In products with the reflectors of huge columns, tiny ones lose digits only below the normal numbers.
            assert!(error < 1e3, "{}geqrf: column {j} differs by {error} eps", T::LETTER);
        }
    }
    for_all_types!(check);
}

#[test]
fn triangular_matrices_are_unchanged() {
    fn check<T: Scalar>() {
        let mut numbers = Random::new(35);
        for (m, n) in [(1, 1), (5, 5), (40, 30), (90, 70)] {
            let a = Stored::<T>::fractions(&mut numbers, (m, n), Layout::PLAIN);
            let mut a = upper(a.view());
            (0..n).for_each(|i| a.view_mut()[(i, i)] = T::from_f64(-1.0 - i as f64));
            let mut x = a.clone();
            let (mut tau, mut t) = (vec![T::ONE; n], Stored::<T>::zeros((n, n)));
            cpu::geqrf(x.view_mut(), &mut tau, t.view_mut());
            x.assert_near(&a, Exact, || format!("geqrf of a triangle of {m} x {n}"));
            assert!(tau.iter().all(|&tau| tau == T::ZERO));
            assert!(t.memory().iter().filter(|x| !x.is_nan()).count() > 0);
        }
        // An imaginary diagonal is made real, even for a single row.
        if T::COMPLEX {
            let mut a = [T::from_parts(T::Real::ZERO, T::Real::ONE)];
            let (mut tau, mut t) = ([T::ZERO], [T::ZERO]);
            let view = MatMut::from_col_major(&mut a, 1, 1, 1).unwrap();
            cpu::geqrf(view, &mut tau, MatMut::from_col_major(&mut t, 1, 1, 1).unwrap());
            assert!(a[0] == -T::ONE && tau[0] == T::from_parts(T::Real::ONE, T::Real::ONE) && t == tau);
        }
    }
    for_all_types!(check);
}

/// The columns of R have the norms of the columns of A. Elements of one sign show roundings that add up over all rows.
#[test]
fn tall_columns_keep_their_digits() {
    fn check<T: Scalar>(m: usize) {
        let n = 4;
        let mut numbers = Random::new(8);
        let a = Stored::<T>::new((m, n), |_, _| T::from_f64(0.5 + (numbers.bits() >> 12) as f64 * 2f64.powi(-53)));
        let (mut x, mut tau, mut t) = (a.clone(), vec![T::ZERO; n], Stored::<T>::zeros((n, n)));
        cpu::geqrf(x.view_mut(), &mut tau, t.view_mut());
        for j in 0..n {
            // Parts are summed separately: one sum over all rows would be no more accurate than the result under test.
            let norm = |a: &Stored<T>, rows: usize| {
                let square = |i: usize| a.view().at(i, j).abs().to_f64().powi(2);
                let part = |start: usize| (start..rows.min(start + 1024)).map(square).sum::<f64>();
                (0..rows).step_by(1024).map(part).sum::<f64>().sqrt()
            };
            let error = (norm(&x, j + 1) / norm(&a, m) - 1.0).abs() / T::EPSILON.to_f64();
            assert!(error <= 30.0, "{}geqrf {m} x {n}: column {j} of R is off by {error} eps", T::LETTER);
        }
    }
    check::<f32>(1 << 20);
    check::<c32>(1 << 18);
    check::<f64>(1 << 20);
}

#[test]
fn tiny_elements_below_a_large_one() {
    let tiny = 1e-170;
    let mut a = [1.0, tiny, tiny, 0.0, 1.0, 1.0];
    let (mut tau, mut t) = ([0.0; 2], [0.0; 4]);
    let view = MatMut::from_col_major(&mut a, 3, 2, 3).unwrap();
    cpu::geqrf(view, &mut tau, MatMut::from_col_major(&mut t, 2, 2, 2).unwrap());
    assert_eq!((a[0], tau[0]), (-1.0, 2.0));
    assert!((a[1] / tiny - 0.5).abs() < 1e-15, "{:e}", a[1]);
}

#[test]
fn nan_propagates() {
    fn check<T: Scalar>() {
        let mut numbers = Random::new(36);
        for bad in [f64::NAN, f64::INFINITY] {
            for (i, j) in [(0, 0), (12, 3), (39, 0), (29, 29), (39, 29)] {
                let (m, n) = (40, 30);
                let mut a = Stored::<T>::fractions(&mut numbers, (m, n), Layout::PLAIN);
                a.view_mut()[(i, j)] = T::from_f64(bad);
                let (mut tau, mut t) = (vec![T::ZERO; n], Stored::<T>::zeros((n, n)));
                cpu::geqrf(a.view_mut(), &mut tau, t.view_mut());
                assert!(a.view().to_vec().iter().any(|x| x.is_nan() || (*x * T::ZERO).is_nan()), "({i}, {j})");
            }
        }
    }
    for_all_types!(check);
}

#[test]
fn triangular_factor_agrees() {
    fn check<T: Scalar>() {
        let mut numbers = Random::new(37);
        for (m, k) in [(0, 0), (3, 0), (1, 1), (9, 5), (40, 40), (120, 33), (150, 70)] {
            for case in [Layout::PLAIN, Layout::any(&mut numbers)] {
                let mut v = Stored::<T>::fractions(&mut numbers, (m, k), case);
                let mut poison = v.view_mut();
                (0..k).for_each(|j| (0..=j).for_each(|i| poison[(i, j)] = T::from_f64(f64::NAN)));
                let tau: Vec<T> = Stored::<T>::fractions(&mut numbers, (k, 1), Layout::PLAIN).view().to_vec();
                let scale = T::from_f64(1.0 / (m + 1) as f64);
                let tau: Vec<T> = tau.into_iter().map(|x| x * scale).collect();
                let x = Stored::<T>::fractions(&mut numbers, (k, k), case);
                let (mut x, mut y) = (x.clone(), x);
                cpu::larft(v.view(), &tau, x.view_mut());
                reference::larft(v.view(), &tau, y.view_mut());
                x.assert_near(&y, Roundoffs(100.0), || format!("larft {m} x {k} {case:?}"));
                let error = distance(x.view(), y.view());
                assert!(error < 10.0 * (m + 1) as f64, "{}larft {m} x {k}: {error}", T::LETTER);
            }
        }
    }
    for_all_types!(check);
}

#[test]
fn block_reflectors_agree() {
    fn check<T: Scalar>() {
        let mut numbers = Random::new(38);
        let store = PackStore::new(1 << 24);
        for (m, k, n) in
            [(0, 0, 3), (4, 0, 4), (1, 1, 1), (9, 4, 6), (33, 33, 20), (130, 60, 70), (200, 50, 0), (63, 32, 21)]
        {
            let case = Layout::any(&mut numbers);
            let v = Stored::<T>::fractions(&mut numbers, (m, k), case);
            let mut t = upper(Stored::<T>::fractions(&mut numbers, (k, k), Layout::PLAIN).view());
            t.memory_mut().iter_mut().for_each(|x| *x *= T::from_f64(1.0 / (m + 1) as f64));
            let packs = [PackedForms::new(&store), PackedForms::new(&store)];
            for side in [Side::Left, Side::Right] {
                for op in [Op::None, Op::ConjTrans, Op::Trans] {
                    if T::COMPLEX && op == Op::Trans {
                        continue;
                    }
                    let (rows, columns) = if side == Side::Left { (m, n) } else { (n, m) };
                    let case = Layout::any(&mut numbers);
                    let c = Stored::<T>::fractions(&mut numbers, (rows, columns), case);
                    let mut y = c.clone();
                    reference::larfb(side, op, v.view(), t.view(), y.view_mut());
                    for packs in [None, Some([&packs[0], &packs[1]]), Some([&packs[0], &packs[1]])] {
                        let mut x = c.clone();
                        let q = BlockReflector { packs, ..BlockReflector::new(v.view(), t.view()) };
                        cpu::larfb(side, op, q, x.view_mut());
                        x.assert_near(&y, Roundoffs(20.0 + m as f64), || format!("larfb {side}{op} {m} x {k} x {n}"));
                    }
                }
            }
        }
    }
    for_all_types!(check);
}
