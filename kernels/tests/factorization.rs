//! potrf and trsm: backward errors, and the outcome of potrf for matrices that have no factor.

use superscalar_kernels::{
    Diag, MatMut, MatRef, NotPositiveDefinite, Op, Real, Scalar, Side, Uplo, c32, c64, cpu, reference,
};
use superscalar_oracle::{Layout, Random, Storage, Stored, Wide, residual, wide};

/// Runs a generic check for the four types.
macro_rules! for_all_types {
    ($check:ident) => {{
        $check::<f32>();
        $check::<f64>();
        $check::<c32>();
        $check::<c64>();
    }};
}

#[test]
fn cholesky_reproduces_its_matrix() {
    fn check<T: Scalar>() {
        let mut numbers = Random::new(11);
        for n in [1, 5, 64, 130, 257, 400] {
            let a = Stored::<T>::definite_triangle(&mut numbers, Uplo::Lower, n, Layout::PLAIN);
            let mut l = a.clone();
            cpu::potrf(Uplo::Lower, l.view_mut()).unwrap();
            let hermitian = Wide::stored(Storage::Hermitian(Uplo::Lower), a.view());
            let error = residual::cholesky::<T>(&hermitian, &Wide::stored(Storage::LOWER, l.view()));
            assert!(error < 4.0, "{}potrf n = {n}: backward error {error:.2} n eps", T::LETTER);
        }
    }
    for_all_types!(check);
}

#[test]
fn solves_have_small_residuals() {
    fn check<T: Scalar>() {
        let mut numbers = Random::new(12);
        for (m, n) in [(1, 1), (60, 17), (300, 40), (530, 30)] {
            let a = Stored::<T>::triangular(&mut numbers, Uplo::Lower, Diag::NonUnit, m, Layout::PLAIN);
            let b = Stored::<T>::fractions(&mut numbers, (m, n), Layout::PLAIN);
            let mut x = b.clone();
            cpu::trsm(Side::Left, Uplo::Lower, Op::None, Diag::NonUnit, T::ONE, a.view(), x.view_mut());
            let (a, x) = (Wide::stored(Storage::LOWER, a.view()), x.wide());
            let rest = b.wide().minus(&a.times(&x)).norm_inf();
            let error = residual::scaled::<T>(rest, a.norm_inf() * x.norm_inf(), m);
            assert!(error < 4.0, "{}trsm {m} x {n}: backward error {error:.2} m eps", T::LETTER);
        }
    }
    for_all_types!(check);
}

#[test]
fn first_bad_pivot_is_reported() {
    fn check<T: Scalar>() {
        for n in [1, 2, 3, 4, 5, 8, 9, 17, 24, 33, 300] {
            let step = if n > 40 { 37 } else { 1 };
            for bad in (0..n).step_by(step) {
                for pivot in [f64::NAN, 0.0, -1.0] {
                    for uplo in [Uplo::Lower, Uplo::Upper] {
                        let mut a = vec![T::ZERO; n * n];
                        (0..n).for_each(|i| a[i + i * n] = T::from_f64(4.0));
                        a[bad + bad * n] = T::from_f64(pivot);
                        let view = MatMut::from_col_major(&mut a, n, n, n).unwrap();
                        let info = Err(NotPositiveDefinite { minor: bad + 1 });
                        assert_eq!(cpu::potrf(uplo, view), info, "{uplo} n = {n}, pivot {pivot}");
                    }
                }
            }
        }
    }
    for_all_types!(check);
}

#[test]
fn indefinite_minor_with_positive_diagonal() {
    for n in 2..20 {
        for bad in 1..n {
            let mut a = vec![0.0; n * n];
            (0..n).for_each(|i| a[i + i * n] = 1.0);
            a[bad + (bad - 1) * n] = 2.0;
            let view = MatMut::from_col_major(&mut a, n, n, n).unwrap();
            assert_eq!(cpu::potrf(Uplo::Lower, view), Err(NotPositiveDefinite { minor: bad + 1 }));
        }
    }
}

#[test]
fn pivots_with_overflowing_reciprocals() {
    fn check<T: Scalar>() {
        let huge = 1.0 / T::Real::MIN_POSITIVE.to_f64() * 2.0;
        for (n, at) in [(6, 2), (40, 3), (40, 21), (70, 69)] {
            for pivot in [T::Real::MIN_POSITIVE.to_f64() / 1024.0, huge] {
                let mut a = vec![T::ZERO; n * n];
                (0..n).for_each(|i| a[i + i * n] = T::from_f64(if i < at { 4.0 } else { pivot }));
                (at + 1..n).for_each(|i| a[i + at * n] = T::from_f64(pivot / (4 * n) as f64));
                let mut x = a.clone();
                cpu::potrf(Uplo::Lower, MatMut::from_col_major(&mut x, n, n, n).unwrap()).unwrap();
                reference::potrf(Uplo::Lower, MatMut::from_col_major(&mut a, n, n, n).unwrap()).unwrap();
                // A subnormal pivot has lost ten of its digits, and so have the elements that depend on it.
                let bound = T::EPSILON * T::Real::from_f64(4096.0 * n as f64);
                let close = |(&x, &y): (&T, &T)| (x - y).abs() <= bound * (y.abs() + a[at + at * n].abs());
                assert!(x.iter().zip(&a).all(close), "{} n = {n}, pivot {pivot:e} at {at}", T::LETTER);
            }
        }
    }
    for_all_types!(check);
}

#[test]
fn tiny_and_huge_pivots_in_solves() {
    fn check<T: Scalar>() {
        // Subnormal in single precision, where its reciprocal overflows.
        let tiny = if size_of::<T::Real>() == 4 { 1e-40 } else { 1e-310 };
        for pivot in [tiny, 1.0 / T::Real::MIN_POSITIVE.to_f64() / 16.0] {
            let a = [T::from_f64(pivot)];
            let mut b = [T::from_f64(pivot)];
            let a = MatRef::from_col_major(&a, 1, 1, 1).unwrap();
            let x = MatMut::from_col_major(&mut b, 1, 1, 1).unwrap();
            cpu::trsm(Side::Left, Uplo::Lower, Op::None, Diag::NonUnit, T::ONE, a, x);
            let error = (b[0] - T::ONE).abs();
            assert!(error <= T::EPSILON * T::Real::from_f64(4.0), "{}: {pivot} / {pivot} = {}", T::LETTER, b[0]);
        }
    }
    check::<f32>();
    check::<f64>();
}

#[test]
fn empty_systems() {
    for (m, n) in [(0, 0), (0, 4), (4, 0)] {
        let a = vec![f64::NAN; 16];
        for side in [Side::Left, Side::Right] {
            let order = if side == Side::Left { m } else { n };
            let a = MatRef::from_col_major(&a, order, order, 4).unwrap();
            let mut b = [7.0; 16];
            let x = MatMut::from_col_major(&mut b, m, n, 4).unwrap();
            cpu::trsm(side, Uplo::Upper, Op::Trans, Diag::NonUnit, 2.0, a, x);
            assert_eq!(b, [7.0; 16]);
        }
    }
    assert_eq!(cpu::potrf::<c64>(Uplo::Lower, MatMut::from_col_major(&mut [], 0, 0, 1).unwrap()), Ok(()));
}

/// L⁻¹ L = I, and the product of L with its adjoint equals that of gemm, in both triangles. The other triangle is not
/// changed.
#[test]
fn inverses_and_products_of_triangles() {
    fn check<T: Scalar>() {
        let mut numbers = Random::new(14);
        for n in [0, 1, 2, 15, 16, 17, 50, 129] {
            for (uplo, diag) in [(Uplo::Lower, Diag::NonUnit), (Uplo::Upper, Diag::Unit), (Uplo::Upper, Diag::NonUnit)]
            {
                let case = Layout::any(&mut numbers);
                let a = Stored::<T>::triangular(&mut numbers, uplo, diag, n, case);
                let inside = |i, j| if uplo == Uplo::Lower { i > j } else { i < j };
                let whole = |x: &Stored<T>| Wide::stored(Storage::Triangle(uplo, diag), x.view());
                let bound = 20.0 * n as f64 * residual::epsilon::<T>();
                let mut inverse = a.clone();
                assert_eq!(cpu::trtri(uplo, diag, inverse.view_mut()), Ok(()));
                let error = whole(&a).times(&whole(&inverse)).minus(&Wide::identity(n)).norm_max();
                assert!(error <= bound, "trtri {uplo}{diag} n = {n} {case:?}: {error:e}");
                if diag == Diag::Unit {
                    continue;
                }
                let mut a = a;
                (0..n).for_each(|i| a.set(i, i, T::from_real(a.at(i, i).re())));
                let (full, mut gram) = (whole(&a), a.clone());
                cpu::lauum(uplo, gram.view_mut());
                let product = match uplo {
                    Uplo::Lower => full.adjoint().times(&full),
                    Uplo::Upper => full.times(&full.adjoint()),
                };
                for (i, j) in (0..n).flat_map(|j| (0..n).map(move |i| (i, j))) {
                    let x = gram.at(i, j);
                    let fits = (wide(x) - product.at(i, j)).norm() <= bound;
                    assert!(if i == j || inside(i, j) { fits } else { x.is_nan() }, "lauum {uplo} n = {n} {case:?}");
                }
            }
        }
    }
    for_all_types!(check);
}

#[test]
fn zero_on_the_diagonal_is_singular() {
    let mut a = [1.0, 2.0, f64::NAN, 0.0];
    let before = a.map(f64::to_bits);
    let outcome = cpu::trtri(Uplo::Lower, Diag::NonUnit, MatMut::from_col_major(&mut a, 2, 2, 2).unwrap());
    assert_eq!((outcome, a.map(f64::to_bits)), (Err(superscalar_kernels::Singular { pivot: 2 }), before));
}
