//! getrf and laswp: agreement with the references, backward errors, and NaN, tiny or huge elements.

#[macro_use]
mod panels;

use panels::SHAPES;
use superscalar_kernels::{Direction, MatMut, MatRef, Real, Scalar, Singular, c32, c64, cpu, reference};
use superscalar_oracle::{
    Layout,
    Nearness::{Exact, Roundoffs},
    Random, Stored, Wide, residual,
};

/// The largest |P A − L U| over k eps and the largest |A|.
fn backward_error<T: Scalar>(a: MatRef<'_, T>, lu: MatRef<'_, T>, ipiv: &[i32]) -> f64 {
    let ((l, u), a) = (Wide::lower_and_upper(lu), Wide::of(a));
    let (size, k) = (a.norm_max(), u.shape().0);
    residual::scaled::<T>(a.interchanged(ipiv).minus(&l.times(&u)).norm_max(), size, k)
}

#[test]
fn factorization_agrees_and_is_accurate() {
    fn check<T: Scalar>() {
        let mut numbers = Random::new(21);
        for (m, n) in SHAPES.into_iter().chain([(300, 150), (112, 112), (512, 64)]) {
            for case in [Layout::PLAIN, Layout::any(&mut numbers), Layout::any(&mut numbers), Layout::any(&mut numbers)]
            {
                let a = Stored::<T>::fractions(&mut numbers, (m, n), case);
                let k = m.min(n);
                let (mut x, mut y) = (a.clone(), a.clone());
                let (mut p, mut q) = (vec![-1; k], vec![-1; k]);
                assert_eq!(cpu::getrf(x.view_mut(), &mut p), Ok(()));
                assert_eq!(reference::getrf(y.view_mut(), &mut q), Ok(()));
                assert_eq!(p, q, "{}getrf {m} x {n} {case:?}", T::LETTER);
                x.assert_near(&y, Roundoffs(1e3 * (k * k) as f64), || format!("getrf {m} x {n} {case:?}"));
                let error = backward_error(a.view(), x.view(), &p);
                assert!(error < 4.0 || k == 0, "{}getrf {m} x {n} {case:?}: {error}", T::LETTER);
            }
        }
    }
    for_all_types!(check);
}

#[test]
fn tall_panels() {
    fn check<T: Scalar>() {
        let mut numbers = Random::new(22);
        for (m, n) in [(5003, 24), (20000, 5)] {
            let a = Stored::<T>::fractions(&mut numbers, (m, n), Layout::PLAIN);
            let mut x = a.clone();
            let mut ipiv = vec![0; n];
            cpu::getrf(x.view_mut(), &mut ipiv).unwrap();
            let error = backward_error(a.view(), x.view(), &ipiv);
            assert!(error < 4.0, "{}getrf {m} x {n}: {error}", T::LETTER);
            let below = |j: usize| (j + 1..m).all(|i| x.view().at(i, j).abs() <= T::Real::from_f64(1.5));
            assert!((0..n).all(below), "multipliers are at most sqrt(2)");
        }
    }
    for_all_types!(check);
}

#[test]
fn first_of_equal_pivots_is_chosen() {
    for (m, n) in [(5, 1), (40, 1), (100, 3), (1000, 17)] {
        let mut a = vec![-1.0_f32; m * n];
        let mut ipiv = vec![0; n];
        let outcome = cpu::getrf(MatMut::from_col_major(&mut a, m, n, m).unwrap(), &mut ipiv);
        assert_eq!(ipiv[0], 1);
        let later: Vec<i32> = (1..=n as i32).collect();
        assert_eq!(ipiv, later, "zeros are not exchanged");
        assert_eq!(outcome, if n > 1 { Err(Singular { pivot: 2 }) } else { Ok(()) });
    }
    // The first candidate may be anywhere: candidates are kept per lane, and separately for every other vector.
    for zeros in (0..100).chain([991, 992, 999]) {
        let mut a: Vec<f64> = (0..1000).map(|i| if i < zeros { 0.0 } else { [1.0, -1.0][i % 2] }).collect();
        let mut ipiv = [0];
        cpu::getrf(MatMut::from_col_major(&mut a, 1000, 1, 1000).unwrap(), &mut ipiv).unwrap();
        assert_eq!(ipiv[0], zeros as i32 + 1);
    }
}

#[test]
fn first_zero_pivot_is_reported() {
    fn check<T: Scalar>() {
        let mut numbers = Random::new(23);
        for (m, n) in [(1, 1), (5, 5), (20, 12), (12, 20), (70, 70), (150, 150)] {
            let k: usize = m.min(n);
            for zero in (0..k).step_by(1 + k / 7) {
                let mut a = Stored::<T>::fractions(&mut numbers, (m, n), Layout::PLAIN);
                (0..m).for_each(|i| a.view_mut()[(i, zero)] = T::ZERO);
                let mut x = a.clone();
                let mut ipiv = vec![0; k];
                let outcome = cpu::getrf(x.view_mut(), &mut ipiv);
                assert_eq!(outcome, Err(Singular { pivot: zero + 1 }), "{}getrf {m} x {n}", T::LETTER);
                assert!(backward_error(a.view(), x.view(), &ipiv) < 4.0);
            }
        }
    }
    for_all_types!(check);
}

#[test]
fn nan_propagates() {
    fn check<T: Scalar>() {
        let mut numbers = Random::new(24);
        let nan = T::from_f64(f64::NAN);
        for (m, n) in [(9, 9), (70, 40), (100, 100)] {
            for (i, j) in [(0, 0), (5, 3), (m - 1, 0), (m - 1, n - 1), (n / 2, n / 2)] {
                let mut a = Stored::<T>::fractions(&mut numbers, (m, n), Layout::PLAIN);
                a.view_mut()[(i, j)] = nan;
                let mut ipiv = vec![0; n];
                let _ = cpu::getrf(a.view_mut(), &mut ipiv);
                assert!(ipiv.iter().all(|&p| p >= 1 && p as usize <= m), "{ipiv:?}");
                assert!(a.memory().iter().any(|x| x.is_nan()));
            }
            let mut a = vec![nan; m * n];
            let _ = cpu::getrf(MatMut::from_col_major(&mut a, m, n, m).unwrap(), &mut vec![0; n]);
            assert!(a.iter().all(|x| x.is_nan()));
        }
    }
    for_all_types!(check);
}

#[test]
fn tiny_and_huge_matrices() {
    fn check<T: Scalar>() {
        let mut numbers = Random::new(25);
        let least = T::Real::MIN_POSITIVE.to_f64();
        // The first is subnormal, so its reciprocal overflows. Powers of two change no digit while there are enough
        // digits.
        for (scale, bound) in [(least, 64.0), (least / 8.0, 512.0), (0.25 / least, 1.0)] {
            for (m, n) in [(6, 6), (40, 23)] {
                let a = Stored::<T>::fractions(&mut numbers, (m, n), Layout::PLAIN);
                let (mut x, mut y) = (a.clone(), a.clone());
                let by = T::from_f64(scale);
                y.memory_mut().iter_mut().for_each(|x| *x *= by);
                let b = y.clone();
                let mut ipiv = vec![0; n];
                cpu::getrf(x.view_mut(), &mut ipiv).unwrap();
                cpu::getrf(y.view_mut(), &mut ipiv).unwrap();
                let error = backward_error(b.view(), y.view(), &ipiv);
                assert!(error < 4.0 * bound, "{}getrf of {scale:e}: {error}", T::LETTER);
                let finite = |x: &T| !(*x * T::ZERO).is_nan();
                assert!(y.view().to_vec().iter().all(finite));
            }
        }
    }
    for_all_types!(check);
}

#[test]
fn interchanges_agree_and_are_reversible() {
    fn check<T: Scalar>() {
        let mut numbers = Random::new(26);
        for (m, n, k) in [(0, 4, 0), (1, 3, 1), (10, 0, 5), (9, 700, 9), (300, 20, 40), (70, 37, 60)] {
            for case in [
                Layout::PLAIN,
                Layout::any(&mut numbers),
                Layout::any(&mut numbers),
                Layout { transposed: true, ..Layout::PLAIN },
            ] {
                let ipiv: Vec<i32> = (0..k).map(|i| (i + (i * 7919) % (m - i)) as i32 + 1).collect();
                let a = Stored::<T>::fractions(&mut numbers, (m, n), case);
                let (mut x, mut y) = (a.clone(), a.clone());
                cpu::laswp(x.view_mut(), 0, &ipiv, Direction::Forward);
                reference::laswp(y.view_mut(), &ipiv, Direction::Forward);
                x.assert_near(&y, Exact, || format!("laswp {m} x {n} {case:?}"));
                cpu::laswp(x.view_mut(), 0, &ipiv, Direction::Backward);
                x.assert_near(&a, Exact, || format!("laswp back {m} x {n} {case:?}"));
            }
        }
    }
    for_all_types!(check);
}

#[test]
#[should_panic(expected = "outside of 3 rows")]
fn interchange_outside_panics() {
    cpu::laswp(MatMut::from_col_major(&mut [0.0; 6], 3, 2, 3).unwrap(), 0, &[4], Direction::Forward);
}

/// Interchanges are 32-bit numbers. A matrix without columns may have any number of rows.
#[test]
fn rows_beyond_i32_are_refused() {
    fn check<T: Scalar>() {
        type Factor<T> = fn(MatMut<'_, T>, &mut [i32]) -> Result<(), Singular>;
        for getrf in [cpu::getrf as Factor<T>, reference::getrf as Factor<T>] {
            let call = |m: usize| {
                std::panic::catch_unwind(|| {
                    getrf(MatMut::from_col_major(&mut [], m, 0, m).expect("no elements"), &mut [])
                })
            };
            assert!(call(i32::MAX as usize).expect("no panic").is_ok());
            let panic = call(1 << 31).expect_err("a panic");
            let message = panic.downcast_ref::<String>().expect("a message");
            assert_eq!(message, "getrf: 2147483648 rows exceed the range of interchanges");
        }
    }
    for_all_types!(check);
}
