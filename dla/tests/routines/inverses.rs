//! trtrs, trtri, lauum, potri and getri.

use crate::{
    four_types,
    norms::is_named,
    runs::{ORDERS, Runtimes, assert_info, assert_refused, assert_small, runtime},
};
use superscalar_dla::{BlockSize, ErrorKind, Options, Scalar, getrf, getri, lauum, potrf, potri, trtri, trtrs};
use superscalar_kernels::{Diag, Op, Uplo, c64};
use superscalar_oracle::{Stored, Wide, element, residual, whole};

const UPLOS: [Uplo; 2] = [Uplo::Lower, Uplo::Upper];

/// Returns one triangle of a well conditioned matrix. The other triangle, and a unit diagonal, which is not stored, are
/// NaN.
fn triangle<T: Scalar>(uplo: Uplo, diag: Diag, n: usize) -> Stored<T> {
    Stored::new((n, n), |i, j| match i == j {
        true if diag == Diag::NonUnit => T::from_f64(1.0) + element(1, i, j),
        false if is_named(uplo, i, j) => element::<T>(1, i, j) * T::from_f64(4.0 / n as f64),
        _ => T::from_f64(f64::NAN),
    })
}

/// Returns the triangle completed with zeros, and with ones on a unit diagonal.
fn completed<T: Scalar>(uplo: Uplo, diag: Diag, a: &Stored<T>) -> Wide {
    let stored = a.part(|i, j| is_named(uplo, i, j) && (i != j || diag == Diag::NonUnit));
    let is_one = |i, j| i == j && diag == Diag::Unit;
    Wide::new(a.shape(), |i, j| if is_one(i, j) { c64::ONE } else { stored.at(i, j) })
}

/// Returns the Hermitian matrix of which a triangle is stored.
fn mirrored<T: Scalar>(uplo: Uplo, a: &Stored<T>) -> Wide {
    let stored = a.part(|i, j| is_named(uplo, i, j));
    Wide::new(a.shape(), |i, j| if is_named(uplo, i, j) { stored.at(i, j) } else { stored.at(j, i).conj() })
}

/// Checks that the other triangle, and a unit diagonal, are unchanged.
fn assert_rest<T: Scalar>(uplo: Uplo, diag: Diag, after: &Stored<T>, what: &str) {
    let (m, n) = after.shape();
    for (i, j) in (0..n).flat_map(|j| (0..m).map(move |i| (i, j))) {
        let untouched = !is_named(uplo, i, j) || (i == j && diag == Diag::Unit);
        assert!(after.at(i, j).is_nan() == untouched, "{what}: ({i}, {j}) is {}", after.at(i, j));
    }
    after.assert_padding(what);
}

fn trtrs_solves<T: Scalar>() {
    let (runtimes, n) = (Runtimes::new(), 75);
    for (uplo, diag) in UPLOS.into_iter().flat_map(|uplo| [(uplo, Diag::NonUnit), (uplo, Diag::Unit)]) {
        let (a, b) = (triangle::<T>(uplo, diag, n), Stored::<T>::random((n, 40), 9));
        let full = completed(uplo, diag, &a);
        for op in [Op::None, Op::Trans, Op::ConjTrans] {
            let call = |rt: &_, options: &Options| {
                let mut x = b.clone();
                trtrs(rt, uplo, op, diag, a.view(), x.view_mut(), options).expect("no element of the diagonal is zero");
                x
            };
            runtimes.on_all_worker_dependent(n, call, |x, what| {
                let what = &format!("trtrs {}{uplo}{op}{diag} {what}", T::LETTER);
                x.assert_padding(what);
                assert_small(residual::solve::<T>(&full.op(op), &x.wide(), &b.wide()), what);
            });
        }
    }
}

fn trtri_inverts<T: Scalar>() {
    let runtimes = Runtimes::new();
    for n in ORDERS {
        for (uplo, diag) in UPLOS.into_iter().flat_map(|uplo| [(uplo, Diag::NonUnit), (uplo, Diag::Unit)]) {
            let a = triangle::<T>(uplo, diag, n);
            let call = |rt: &_, options: &Options| {
                let mut x = a.clone();
                trtri(rt, uplo, diag, x.view_mut(), options).expect("no element of the diagonal is zero");
                x
            };
            runtimes.on_all(n, call, |x, what| {
                let what = &format!("trtri {}{uplo}{diag} n {n} {what}", T::LETTER);
                assert_rest(uplo, diag, x, what);
                let (a, x) = (completed(uplo, diag, &a), completed(uplo, diag, x));
                assert_small(residual::inverse::<T>(&a, &x), what);
            });
        }
    }
}

/// The inverse of a matrix with ones on the diagonal and minus ones next to it is all ones.
fn exact_inverses<T: Scalar>() {
    let (runtimes, n) = (Runtimes::new(), 75);
    for (uplo, diag) in UPLOS.into_iter().flat_map(|uplo| [(uplo, Diag::NonUnit), (uplo, Diag::Unit)]) {
        let next = |i: usize, j: usize| if uplo == Uplo::Lower { i == j + 1 } else { j == i + 1 };
        let a = Stored::<T>::new((n, n), |i, j| match i == j {
            true if diag == Diag::NonUnit => T::ONE,
            false if next(i, j) => -T::ONE,
            false if is_named(uplo, i, j) => T::ZERO,
            _ => T::from_f64(f64::NAN),
        });
        let ones = Wide::new((n, n), |i, j| if is_named(uplo, i, j) { c64::ONE } else { c64::ZERO });
        let call = |rt: &_, options: &Options| {
            let mut x = a.clone();
            trtri(rt, uplo, diag, x.view_mut(), options).expect("no element of the diagonal is zero");
            x
        };
        runtimes.on_all(n, call, |x, what| {
            let what = &format!("{}{uplo}{diag} {what}", T::LETTER);
            assert_rest(uplo, diag, x, what);
            assert!(completed(uplo, diag, x) == ones, "{what}: not exact");
        });
    }
}

/// Products of small integers are exact.
fn lauum_multiplies<T: Scalar>() {
    let runtimes = Runtimes::new();
    for n in ORDERS {
        for uplo in UPLOS {
            let a = Stored::<T>::new((n, n), |i, j| match i == j {
                true => T::from_f64((1 + i % 3) as f64),
                false if is_named(uplo, i, j) => whole(2, i, j),
                false => T::from_f64(f64::NAN),
            });
            let call = |rt: &_, options: &Options| {
                let mut product = a.clone();
                lauum(rt, uplo, product.view_mut(), options).expect("the matrix is square");
                product
            };
            let l = completed(uplo, Diag::NonUnit, &a);
            let expected = if uplo == Uplo::Lower { l.adjoint().times(&l) } else { l.times(&l.adjoint()) };
            runtimes.on_all(n, call, |product, what| {
                let what = &format!("lauum {}{uplo} n {n} {what}", T::LETTER);
                assert_rest(uplo, Diag::NonUnit, product, what);
                let mirrored = mirrored(uplo, product);
                assert!(mirrored.minus(&expected).norm_max() == 0.0, "{what}: not exact");
            });
        }
    }
}

fn potri_inverts<T: Scalar>() {
    let runtimes = Runtimes::new();
    for n in ORDERS {
        for uplo in UPLOS {
            let full = Stored::<T>::positive_definite(n, 3);
            let a = Stored::<T>::new(
                (n, n),
                |i, j| if is_named(uplo, i, j) { full.at(i, j) } else { T::from_f64(f64::NAN) },
            );
            let call = |rt: &_, options: &Options| {
                let mut x = a.clone();
                potrf(rt, uplo, x.view_mut(), options).expect("the matrix is positive definite");
                potri(rt, uplo, x.view_mut(), options).expect("no element of the diagonal is zero");
                x
            };
            runtimes.on_all(n, call, |x, what| {
                let what = &format!("potri {}{uplo} n {n} {what}", T::LETTER);
                assert_rest(uplo, Diag::NonUnit, x, what);
                assert_small(residual::inverse::<T>(&full.wide(), &mirrored(uplo, x)), what);
            });
        }
    }
}

fn getri_inverts<T: Scalar>() {
    let runtimes = Runtimes::new();
    for n in ORDERS {
        let a = Stored::<T>::random((n, n), 4);
        let call = |rt: &_, options: &Options| {
            let (mut x, mut ipiv) = (a.clone(), vec![0; n]);
            getrf(rt, x.view_mut(), &mut ipiv, options).expect("no pivot is zero");
            getri(rt, x.view_mut(), &ipiv, options).expect("no pivot is zero");
            x
        };
        runtimes.on_all_worker_dependent(n, call, |x, what| {
            let what = &format!("getri {} n {n} {what}", T::LETTER);
            x.assert_padding(what);
            assert_small(residual::inverse::<T>(&a.wide(), &x.wide()), what);
            assert_small(residual::inverse::<T>(&x.wide(), &a.wide()), what);
        });
    }
    // A permutation matrix scaled by powers of two.
    let (n, place) = (60, |j: usize| (7 * j + 3) % 60);
    let a = Stored::<T>::new((n, n), |i, j| if i == place(j) { T::from_f64([2.0, 0.5, -4.0][j % 3]) } else { T::ZERO });
    let expected =
        Stored::<T>::new((n, n), |j, i| if i == place(j) { T::from_f64([0.5, 2.0, -0.25][j % 3]) } else { T::ZERO });
    let call = |rt: &_, options: &Options| {
        let (mut x, mut ipiv) = (a.clone(), vec![0; n]);
        getrf(rt, x.view_mut(), &mut ipiv, options).expect("no pivot is zero");
        getri(rt, x.view_mut(), &ipiv, options).expect("no pivot is zero");
        x
    };
    runtimes.on_all_worker_dependent(n, call, |x, what| {
        assert!(x.wide() == expected.wide(), "{} {what}: not exact", T::LETTER)
    });
}

/// A zero on the diagonal is reported before anything is changed.
fn singular_triangles<T: Scalar>() {
    let runtimes = Runtimes::new();
    for (n, zero) in [(1, 0), (40, 0), (40, 39), (40, 13)] {
        let a = Stored::<T>::new((n, n), |i, j| if i == j && i == zero { T::ZERO } else { element(5, i, j) });
        let before = Stored::<T>::random((n, 3), 6);
        let call = |rt: &_, options: &Options| {
            let mut x = a.clone();
            for uplo in UPLOS {
                let outcome = trtri(rt, uplo, Diag::NonUnit, x.view_mut(), options);
                assert_info(outcome, ErrorKind::Singular, zero + 1);
                let (mut b, solve) =
                    (before.clone(), |b| trtrs(rt, uplo, Op::None, Diag::NonUnit, a.view(), b, options));
                assert_info(solve(b.view_mut()), ErrorKind::Singular, zero + 1);
                assert!(b == before, "a refusal changes nothing");
                assert_info(potri(rt, uplo, x.view_mut(), options), ErrorKind::Singular, zero + 1);
            }
            let ipiv: Vec<i32> = (1..=n as i32).collect();
            assert_info(getri(rt, x.view_mut(), &ipiv, options), ErrorKind::Singular, zero + 1);
            x
        };
        runtimes.on_all(n, call, |x, what| assert!(*x == a, "{} n {n} {what}: changed", T::LETTER));
    }
}

fn nan_propagates<T: Scalar>() {
    let (runtimes, n) = (Runtimes::new(), 33);
    for (i, j) in [(0, 0), (20, 7), (32, 32)] {
        let mut a = Stored::<T>::positive_definite(n, 6);
        a.set(i, j, T::from_f64(f64::NAN));
        let call = |rt: &_, options: &Options| {
            let mut results = [a.clone(), a.clone(), a.clone()];
            let [inverse, product, potri_of] = &mut results;
            trtri(rt, Uplo::Lower, Diag::NonUnit, inverse.view_mut(), options).expect("no zero on the diagonal");
            lauum(rt, Uplo::Lower, product.view_mut(), options).expect("the matrix is square");
            potri(rt, Uplo::Lower, potri_of.view_mut(), options).expect("no zero on the diagonal");
            results
        };
        runtimes.on_all(n, call, |results, what| {
            assert!(results.iter().all(Stored::has_nan), "{} NaN at ({i}, {j}) {what}", T::LETTER);
        });
    }
}

four_types! {
    trtrs_solves trtri_inverts exact_inverses lauum_multiplies potri_inverts getri_inverts singular_triangles
    nan_propagates
}

/// The order is large enough for several automatic tiles.
#[test]
fn automatic_block_sizes() {
    let n = 270;
    let (a, b) = (Stored::<f64>::random((n, n), 7), Stored::<f64>::positive_definite(n, 8));
    let call = |rt: &_, options: &Options| {
        let (mut x, mut y, mut ipiv) = (a.clone(), b.clone(), vec![0; n]);
        getrf(rt, x.view_mut(), &mut ipiv, options).expect("no pivot is zero");
        getri(rt, x.view_mut(), &ipiv, options).expect("no pivot is zero");
        potrf(rt, Uplo::Upper, y.view_mut(), options).expect("the matrix is positive definite");
        potri(rt, Uplo::Upper, y.view_mut(), options).expect("no element of the diagonal is zero");
        (x, y)
    };
    Runtimes::new().on_all_with(BlockSize::Auto, call, |(x, y), what| {
        assert_small(residual::inverse::<f64>(&a.wide(), &x.wide()), what);
        assert_small(residual::inverse::<f64>(&b.wide(), &mirrored(Uplo::Upper, y)), what);
    });
}

#[test]
fn invalid_arguments_are_refused() {
    let (rt, o, uplo) = (runtime(), Options::default(), Uplo::Upper);
    let (a, b) = (Stored::<f64>::random((5, 4), 1), Stored::<f64>::random((4, 4), 2));
    let (mut x, mut y) = (a.clone(), b.clone());
    assert_refused(trtri(&rt, uplo, Diag::Unit, x.view_mut(), &o), ErrorKind::Shape);
    for shape in [(5, 5), (5, 4), (4, 3)] {
        let a = Stored::<f64>::random(shape, 3);
        assert_refused(trtrs(&rt, uplo, Op::None, Diag::Unit, a.view(), y.view_mut(), &o), ErrorKind::Shape);
    }
    assert_refused(lauum(&rt, uplo, x.view_mut(), &o), ErrorKind::Shape);
    assert_refused(potri(&rt, uplo, x.view_mut(), &o), ErrorKind::Shape);
    assert_refused(getri(&rt, x.view_mut(), &[1, 2, 3, 4], &o), ErrorKind::Shape);
    assert_refused(getri(&rt, y.view_mut(), &[1, 2, 3], &o), ErrorKind::Shape);
    for wrong in [0, -1, 5] {
        assert_refused(getri(&rt, y.view_mut(), &[1, 2, 3, wrong], &o), ErrorKind::Argument);
    }
    for outcome in [
        trtri(&rt, uplo, Diag::Unit, y.view_mut(), &o.nb(0)),
        lauum(&rt, uplo, y.view_mut(), &o.nb(0)),
        potri(&rt, uplo, y.view_mut(), &o.nb(0)),
    ] {
        assert_refused(outcome, ErrorKind::Shape);
    }
    assert_refused(getri(&rt, y.view_mut(), &[1, 2, 3, 4], &o.nb(0)), ErrorKind::Shape);
    assert!(x == a && y == b, "a refusal changes nothing");
}
