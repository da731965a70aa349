//! Matrices that exceed memory or the range of integers.

use superscalar_dla::{
    ErrorKind, Matrix, Options, Scalar, Tiled, TsqrFactors, gels, gemm, gesv, getri, lange, posv, potri, trmm, trsm,
    tsqr,
};
use superscalar_kernels::{Diag, MatRef, Norm, Op, Side, Uplo, c32, c64};
use superscalar_runtime::Runtime;

/// m n overflows; the size in bytes overflows; the allocation limit is exceeded; the address space is exceeded.
const HUGE: [(usize, usize); 5] =
    [(1 << 33, 1 << 31), (1 << 31, 1 << 31), (1 << 30, 1 << 30), (1 << 28, 1 << 28), (usize::MAX, usize::MAX)];

fn refused<T: Scalar>() {
    for (m, n) in HUGE {
        let error = Matrix::<T>::try_zeros(m, n).expect_err("no memory");
        let bytes = (m as u128 * n as u128).saturating_mul(size_of::<T>() as u128);
        assert!(error.kind() == ErrorKind::Memory && error.info().is_none(), "{error:?}");
        let text = error.to_string();
        assert!(text.contains(&format!("a matrix of {m} x {n} in dense storage takes {bytes} bytes")), "{text}");
        // The available memory is part of the message where the system reports it.
        assert_eq!(text.contains("are available"), cfg!(target_os = "linux"), "{text}");
        assert!(std::error::Error::source(&error).is_none());
    }
}

#[test]
fn huge_zeros_are_refused() {
    refused::<f32>();
    refused::<f64>();
    refused::<c32>();
    refused::<c64>();
}

#[test]
fn small_zeros_are_allocated() {
    let a = Matrix::<f64>::try_zeros(3, 2).expect("little memory");
    assert_eq!((a.nrows(), a.ncols(), a.into_vec()), (3, 2, vec![0.0; 6]));
    for (m, n) in [(0, usize::MAX), (usize::MAX, 0)] {
        let a = Matrix::<f64>::try_zeros(m, n).expect("no memory is needed");
        assert_eq!((a.nrows(), a.ncols(), a.as_ref().shape()), (m, n, (m, n)));
    }
}

#[test]
#[should_panic(expected = "no memory for a matrix of 8589934592 x 2147483648 elements")]
fn overflowing_zeros_panic() {
    let _ = Matrix::<f64>::zeros(1 << 33, 1 << 31);
}

#[test]
#[should_panic(expected = "no memory for a matrix of 268435456 x 268435456 elements")]
fn huge_from_fn_panics() {
    let _ = Matrix::from_fn(1 << 28, 1 << 28, |_, _| 1.0f32);
}

#[test]
#[should_panic(expected = "no memory for a matrix of")]
fn huge_tree_panics() {
    let _ = TsqrFactors::<f64>::new((usize::MAX, usize::MAX), 1);
}

#[test]
#[should_panic(expected = "capacity overflow")]
fn tile_count_overflow_panics() {
    let rt = Runtime::builder().workers(1).bind(false).build().expect("threads can be started");
    let one = [1.0f64];
    // Elements overlap, so one is enough.
    let a = MatRef::from_strided(&one, (1 << 33, 1 << 31), (0, 0)).expect("all elements are the first");
    let _ = rt.scope(|s| Tiled::read_only(s, a, 1, 1).mt());
}

#[test]
fn tiles_larger_than_the_matrix() {
    let rt = Runtime::builder().workers(1).bind(false).build().expect("threads can be started");
    let mut a = Matrix::<f64>::zeros(5, 4);
    let most = usize::MAX;
    rt.scope(|s| {
        for (mb, nb) in [(most, most), (1, most), (most, 1)] {
            let tiles = Tiled::read_only(s, MatRef::from_col_major(&[0.0; 20], 5, 4, 5).expect("it fits"), mb, nb);
            assert_eq!((tiles.mt(), tiles.nt()), (if mb == 1 { 5 } else { 1 }, if nb == 1 { 4 } else { 1 }));
        }
        let columns = Tiled::columns(s, a.as_mut(), most);
        assert_eq!((columns.mt(), columns.nt()), (1, 1));
    })
    .expect("nothing fails");
}

/// With the largest block sizes, all routines use a single block.
#[test]
fn blocks_larger_than_the_matrix() {
    let rt = Runtime::builder().workers(2).bind(false).build().expect("threads can be started");
    let dominant = |i: usize, j: usize| if i == j { 9.0 } else { 1.0 / (1 + i + j) as f64 };
    let spd = Matrix::from_fn(6, 6, dominant);
    let call = |o: &Options| {
        let (mut results, mut ipiv) = (Vec::new(), [0; 6]);
        let rhs = || Matrix::from_fn(6, 3, |i, j| (i + 2 * j) as f64);
        let (a, mut c) = (spd.as_ref(), rhs());
        gemm(&rt, 1.0, Op::None, a, Op::None, rhs().as_ref(), 0.0, c.as_mut(), o).expect("the shapes fit");
        trmm(&rt, Side::Left, Uplo::Lower, Op::None, Diag::Unit, 2.0, a, c.as_mut(), o).expect("the shapes fit");
        trsm(&rt, Side::Left, Uplo::Upper, Op::Trans, Diag::NonUnit, 2.0, a, c.as_mut(), o).expect("the shapes fit");
        results.push(c);
        let (mut lu, mut x) = (spd.clone(), rhs());
        gesv(&rt, lu.as_mut(), &mut ipiv, x.as_mut(), o).expect("regular");
        getri(&rt, lu.as_mut(), &ipiv, o).expect("regular");
        results.extend([lu, x]);
        let (mut l, mut x) = (spd.clone(), rhs());
        posv(&rt, Uplo::Lower, l.as_mut(), x.as_mut(), o).expect("positive definite");
        potri(&rt, Uplo::Lower, l.as_mut(), o).expect("regular");
        results.extend([l, x]);
        let (mut qr, mut x) = (spd.clone(), rhs());
        gels(&rt, Op::None, qr.as_mut(), x.as_mut(), o).expect("of full rank");
        results.extend([qr, x]);
        let mut r = rhs();
        tsqr(&rt, r.as_mut(), o).expect("tall");
        results.push(r);
        let norm = lange(&rt, Norm::Frobenius, a, o).expect("no error");
        (results, norm)
    };
    assert_eq!(call(&Options::default().nb(usize::MAX)), call(&Options::default().nb(1 << 20)));
}
