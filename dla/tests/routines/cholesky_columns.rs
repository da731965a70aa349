//! Cholesky factorization and solves in block columns: accurate factors, and an unchanged other triangle.

use crate::{
    four_types,
    norms::is_named,
    runs::{Runtimes, assert_small},
};
use superscalar_dla::{BlockSize, Distribution, Error, ErrorKind, Scalar, Tiled, spawn};
use superscalar_kernels::Uplo;
use superscalar_oracle::{Stored, residual};
use superscalar_runtime::Runtime;

const UPLOS: [Uplo; 2] = [Uplo::Lower, Uplo::Upper];

/// Fills the other triangle with sentinels.
fn with_sentinels<T: Scalar>(uplo: Uplo, a: &Stored<T>) -> Stored<T> {
    Stored::new(a.shape(), |i, j| if is_named(uplo, i, j) { a.at(i, j) } else { T::from_f64((100 * i + j) as f64) })
}

fn solves_and_keeps_other_triangle<T: Scalar>() {
    let runtimes = Runtimes::new();
    for (n, nb) in [(2, 1), (9, 4), (31, 1), (64, 16), (100, 7), (100, 64)] {
        for uplo in UPLOS {
            let (full, b) = (Stored::<T>::positive_definite(n, 3), Stored::<T>::random((n, 5), 4));
            let a = with_sentinels(uplo, &full);
            let call = |rt: &Runtime, _: &_| {
                let (mut factor, mut x) = (a.clone(), b.clone());
                rt.scope(|s| {
                    let factor = Tiled::columns(s, factor.view_mut(), nb).distributed(s, Distribution::Guided);
                    spawn::posv(s, uplo, &factor, &Tiled::columns(s, x.view_mut(), 2));
                })
                .expect("the matrix is positive definite");
                (factor, x)
            };
            runtimes.on_all_with(BlockSize::Fixed(nb), call, |(factor, x), what| {
                let what = &format!("{}{uplo} n {n} nb {nb} {what}", T::LETTER);
                factor.assert_kept(&a, what, |i, j| !is_named(uplo, i, j));
                assert_eq!(residual::positive_diagonal(factor.view()), 0.0, "{what}: the diagonal");
                assert_small(residual::solve::<T>(&full.wide(), &x.wide(), &b.wide()), what);
            });
        }
    }
}

fn failing_minor_counts_from_first_row<T: Scalar>() {
    let rt = crate::runs::runtime();
    for (minor, uplo) in [1, 4, 5, 17, 20].into_iter().flat_map(|minor| UPLOS.map(|uplo| (minor, uplo))) {
        let full = Stored::<T>::positive_definite(20, 5);
        let mut a = with_sentinels(uplo, &full);
        a.set(minor - 1, minor - 1, T::from_f64(-1.0));
        let failed = rt.scope(|s| spawn::potrf(s, uplo, &Tiled::columns(s, a.view_mut(), 4)));
        let error = Error::from(failed.expect_err("a minor is not positive definite"));
        assert_eq!((error.kind(), error.info()), (ErrorKind::NotPositiveDefinite, Some(minor)), "{}{uplo}", T::LETTER);
    }
}

four_types!(solves_and_keeps_other_triangle failing_minor_counts_from_first_row);
