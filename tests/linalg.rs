//! Factorizations as values, in four types: against their definition, with odd shapes, singular and infinite matrices.

use superscalar::{ErrorKind, prelude::*};
use superscalar_oracle::{Random, at_most};

/// A random m x n matrix with elements around zero.
fn general<T: Scalar>(m: usize, n: usize, seed: u64) -> Matrix<T> {
    let mut a = Matrix::zeros(m, n);
    Random::new(seed).general(a.as_mut());
    a
}

fn adjoint<T: Scalar>(a: &Matrix<T>) -> Matrix<T> {
    Matrix::from_fn(a.ncols(), a.nrows(), |i, j| superscalar::kernels::Scalar::conj(a[(j, i)]))
}

/// A Hermitian positive definite matrix: G Gᴴ + I.
fn definite<T: Scalar>(n: usize) -> Matrix<T> {
    let g = general::<T>(n, n, 5);
    let mut a = g.matmul(&adjoint(&g)).expect("the shapes fit");
    (0..n).for_each(|i| a[(i, i)] += T::ONE);
    a
}

/// Checks that two matrices differ by a modest multiple of ε.
fn assert_close<T: Scalar>(a: &Matrix<T>, b: &Matrix<T>, what: &'static str) {
    assert_eq!(a.shape(), b.shape(), "{what}");
    let n = a.nrows().max(a.ncols()).max(1);
    let scale = superscalar::kernels::Real::to_f64(b.norm(Norm::Max).expect("it has a norm")).max(1.0);
    let epsilon = superscalar::kernels::Real::to_f64(<T as superscalar::kernels::Scalar>::EPSILON);
    for j in 0..a.ncols() {
        for i in 0..a.nrows() {
            let difference = superscalar::kernels::Scalar::abs(a[(i, j)] - b[(i, j)]);
            let difference = superscalar::kernels::Real::to_f64(difference);
            at_most(what, difference, 1e3 * n as f64 * scale * epsilon)
                .unwrap_or_else(|error| panic!("({i}, {j}): {error}"));
        }
    }
}

fn check_cholesky<T: Scalar>(n: usize) -> Result<(), superscalar::Error> {
    let (a, b) = (definite::<T>(n), general::<T>(n, 3, 6));
    for uplo in [Uplo::Lower, Uplo::Upper] {
        let f = a.cholesky(uplo)?;
        let (factor, x) = (f.factor()?, f.solve(&b)?);
        let product = match uplo {
            Uplo::Lower => factor.matmul(&adjoint(&factor))?,
            Uplo::Upper => adjoint(&factor).matmul(&factor)?,
        };
        assert_close(&product, &a, "the product of the factors");
        assert_close(&a.matmul(&x)?, &b, "A X");
        assert_close(&a.matmul(&f.inverse()?)?, &Matrix::identity(n), "A times its inverse");
        let rooted = f.multiply_by_factor(&Matrix::identity(n))?;
        let expected = if uplo == Uplo::Lower { factor.clone() } else { adjoint(&factor) };
        assert_close(&rooted, &expected, "the factor");
        let (log, lu) = (f.log_determinant(), a.log_determinant()?);
        let [log, lu_log] = [log, lu.log_abs].map(superscalar::kernels::Real::to_f64);
        assert!((log - lu_log).abs() <= 1e-3 * (1.0 + lu_log.abs()), "{log} {lu_log}");
        let mut in_place = b.clone();
        Solver::global()?.cholesky(a.clone(), uplo)?.solve_in_place(&mut in_place)?;
        assert_eq!(in_place, x);
    }
    Ok(())
}

fn check_lu<T: Scalar>(n: usize) -> Result<(), superscalar::Error> {
    let (a, b) = (general::<T>(n, n, 7), general::<T>(n, 2, 8));
    let f = a.lu()?;
    let mut product = f.l()?.matmul(&f.u()?)?;
    for (row, &pivot) in f.pivots().iter().enumerate().rev() {
        for j in 0..n {
            let other = product[(row, j)];
            product[(row, j)] = product[(pivot as usize - 1, j)];
            product[(pivot as usize - 1, j)] = other;
        }
    }
    assert_close(&product, &a, "P L U");
    assert_close(&a.matmul(&f.solve(&b)?)?, &b, "A X");
    assert_close(&adjoint(&a).matmul(&f.solve_op(Op::ConjTrans, &b)?)?, &b, "Aᴴ X");
    assert_close(&a.matmul(&a.inverse()?)?, &Matrix::identity(n), "A times its inverse");
    let mut in_place = b.clone();
    f.solve_in_place(&mut in_place)?;
    assert_eq!(in_place, a.solve(&b)?);
    Ok(())
}

fn check_qr_and_lq<T: Scalar>(m: usize, n: usize) -> Result<(), superscalar::Error> {
    let a = general::<T>(m, n, 9);
    let (qr, lq) = (a.qr()?, a.lq()?);
    assert_close(&qr.q()?.matmul(&qr.r()?)?, &a, "Q R");
    assert_close(&lq.l()?.matmul(&lq.q()?)?, &a, "L Q");
    let k = m.min(n);
    assert_close(&adjoint(&qr.q()?).matmul(&qr.q()?)?, &Matrix::identity(k), "Qᴴ Q");
    let back = qr.multiply_q(Op::None, &qr.multiply_q(Op::ConjTrans, &a)?)?;
    assert_close(&back, &a, "Q Qᴴ A");
    if m >= n {
        let x = general::<T>(n, 2, 10);
        let b = a.matmul(&x)?;
        assert_close(&qr.solve(&b)?, &x, "the least-squares solution");
        assert_close(&a.least_squares(&b)?, &x, "the least-squares solution");
        assert_eq!(
            lq.solve(&b).map(drop).map_err(|error| error.kind()),
            if m == n { Ok(()) } else { Err(ErrorKind::Shape) }
        );
    } else {
        let b = general::<T>(m, 2, 11);
        let x = a.least_squares(&b)?;
        assert_close(&a.matmul(&x)?, &b, "A X");
        // The solution of least norm is in the range of Aᴴ.
        assert_close(&adjoint(&lq.q()?).matmul(&lq.q()?.matmul(&x)?)?, &x, "Qᴴ Q X");
        assert_eq!(qr.solve(&b).unwrap_err().kind(), ErrorKind::Shape);
        assert_eq!(qr.rcond().unwrap_err().kind(), ErrorKind::Shape);
    }
    Ok(())
}

fn check_all<T: Scalar>() -> Result<(), superscalar::Error> {
    for n in [0, 1, 2, 37, 130] {
        check_cholesky::<T>(n)?;
        check_lu::<T>(n)?;
    }
    for (m, n) in [(0, 0), (0, 3), (3, 0), (1, 4), (4, 1), (40, 40), (90, 33), (33, 90)] {
        check_qr_and_lq::<T>(m, n)?;
    }
    Ok(())
}

#[test]
fn single_precision() -> Result<(), superscalar::Error> {
    check_all::<f32>()
}

#[test]
fn double_precision() -> Result<(), superscalar::Error> {
    check_all::<f64>()
}

#[test]
fn complex_single_precision() -> Result<(), superscalar::Error> {
    check_all::<c32>()
}

#[test]
fn complex_double_precision() -> Result<(), superscalar::Error> {
    check_all::<c64>()
}

#[test]
fn determinants_have_the_sign_of_the_permutation() -> Result<(), superscalar::Error> {
    // A cycle of five rows is even, of four odd.
    for (n, sign) in [(5, 1.0), (4, -1.0)] {
        let cycle = Matrix::from_fn(n, n, |i, j| if (i + 1) % n == j { 3.0_f64 } else { 0.0 });
        let log = cycle.log_determinant()?;
        assert_eq!((cycle.determinant()?, log.sign), (sign * 3f64.powi(n as i32), sign));
        assert!((log.log_abs - n as f64 * 3f64.ln()).abs() < 1e-14);
    }
    let empty = Matrix::<f64>::zeros(0, 0);
    assert_eq!((empty.determinant()?, empty.cholesky(Uplo::Lower)?.determinant()), (1.0, 1.0));
    assert_eq!(Matrix::from_rows([[f64::INFINITY, 0.0], [0.0, 2.0]]).determinant()?, f64::INFINITY);
    let triple =
        Matrix::from_rows([[c64::new(0.0, 2.0), c64::new(1.0, 0.0)], [c64::new(0.0, 0.0), c64::new(0.0, 3.0)]]);
    assert_eq!(triple.determinant()?, c64::new(-6.0, 0.0));
    Ok(())
}

#[test]
fn condition_numbers_match_known_values() -> Result<(), superscalar::Error> {
    let diagonal = Matrix::from_fn(50, 50, |i, j| if i == j { 1.0 + i as f64 } else { 0.0 });
    assert!((diagonal.condition_number()? - 50.0).abs() < 1e-12);
    assert!((diagonal.cholesky(Uplo::Upper)?.condition_number() - 50.0).abs() < 1e-12);
    assert!((diagonal.qr()?.condition_number()? - 50.0).abs() < 1e-12);
    // Not the same in the one and the infinity norm: L has 11 and 6, its inverse too.
    let l = Matrix::from_rows([[1.0_f64, 0.0, 0.0], [5.0, 1.0, 0.0], [5.0, 0.0, 1.0]]);
    assert!((l.lq()?.condition_number()? - 121.0).abs() < 1e-10);
    assert_eq!(Matrix::<f64>::zeros(3, 3).condition_number()?, f64::INFINITY);
    let nan = Matrix::from_rows([[f64::NAN, 0.0], [0.0, 1.0]]);
    assert!(nan.condition_number()?.is_nan() && nan.determinant()?.is_nan());
    Ok(())
}

#[test]
fn singular_and_indefinite_matrices_are_errors_with_info() -> Result<(), superscalar::Error> {
    let singular = Matrix::from_rows([[1.0, 2.0], [2.0, 4.0]]);
    let error = singular.lu().unwrap_err();
    assert_eq!((error.kind(), error.info()), (ErrorKind::Singular, Some(2)));
    assert_eq!((singular.determinant()?, singular.log_determinant()?.log_abs), (0.0, f64::NEG_INFINITY));
    let error = Matrix::from_rows([[1.0, 2.0], [2.0, 1.0]]).cholesky(Uplo::Upper).unwrap_err();
    assert_eq!((error.kind(), error.info()), (ErrorKind::NotPositiveDefinite, Some(2)));
    let deficient = Matrix::from_rows([[0.0, 1.0], [0.0, 1.0], [0.0, 1.0]]);
    assert_eq!(deficient.least_squares(&[1.0, 1.0, 1.0]).unwrap_err().kind(), ErrorKind::Singular);
    assert_eq!(deficient.qr()?.abs_determinant(), 0.0);
    assert_eq!(Matrix::from_rows([[1.0, 2.0]]).qr()?.log_abs_determinant(), f64::NEG_INFINITY);
    Ok(())
}

#[test]
fn shapes_that_do_not_fit_are_refused() -> Result<(), superscalar::Error> {
    let (a, wide) = (Matrix::<f64>::identity(3), Matrix::<f64>::zeros(2, 3));
    let kinds = [
        wide.cholesky(Uplo::Lower).map(drop),
        wide.lu().map(drop),
        wide.determinant().map(drop),
        wide.solve(&[1.0, 2.0]).map(drop),
        a.solve(&[1.0, 2.0]).map(drop),
        a.cholesky(Uplo::Lower)?.solve(&[1.0, 2.0]).map(drop),
        a.lu()?.solve(&[1.0; 4]).map(drop),
        a.qr()?.solve(&[1.0; 4]).map(drop),
        a.lq()?.solve(&[1.0; 4]).map(drop),
        a.matmul(&[1.0; 4]).map(drop),
        Matrix::<f64>::zeros(usize::MAX, 0).solve(&[1.0]).map(drop),
    ];
    for (at, result) in kinds.into_iter().enumerate() {
        let error = result.expect_err("the shapes do not fit");
        assert_eq!(error.kind(), ErrorKind::Shape, "case {at}: {error}");
    }
    assert!(wide.cholesky(Uplo::Lower).unwrap_err().to_string().starts_with("cholesky:"));
    Ok(())
}

#[test]
fn strided_views_are_matrices() -> Result<(), superscalar::Error> {
    // Row-major storage of [4 1; 1 3], in an array with a gap after each row.
    let data = [4.0, 1.0, f64::NAN, 1.0, 3.0, f64::NAN];
    let a = MatRef::from_strided(&data, (2, 2), (3, 1))?;
    let x = a.cholesky(Uplo::Lower)?.solve(&[5.0, 4.0])?;
    assert!((x[(0, 0)] - 1.0).abs() < 1e-15 && (x[(1, 0)] - 1.0).abs() < 1e-15);
    let solver = Solver::global()?;
    assert_eq!(solver.solve(a, vec![5.0, 4.0])?.shape(), (2, 1));
    let mut b = [5.0, 4.0];
    let mut strided = MatMut::from_strided(&mut b, (2, 1), (1, 2))?;
    a.lu()?.solve_in_place(&mut strided)?;
    assert!((b[0] - 1.0).abs() < 1e-15);
    Ok(())
}

#[test]
fn solvers_work_on_devices() -> Result<(), superscalar::Error> {
    let rt = superscalar::devices::open("cpu,sim:0..2", None)?.builder().weights_file(None).build()?;
    let solver = Solver::new(rt).with_options(superscalar::dla::Options::default().nb(24));
    let (a, b) = (definite::<f64>(130), general::<f64>(130, 3, 6));
    assert_close(&solver.cholesky(&a, Uplo::Lower)?.solve(&b)?, &a.solve(&b)?, "the solution");
    assert_close(&solver.least_squares(&a, &b)?, &a.solve(&b)?, "the solution");
    let debug = format!("{solver:?}");
    assert!(debug.contains("workers") && debug.contains("capability-weights"), "{debug}");
    Ok(())
}
