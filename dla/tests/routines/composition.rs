//! Routines composed in one scope without a barrier: their results, and the tasks that a failure cancels.

use crate::{
    four_types,
    runs::{Runtimes, assert_small, runtime},
};
use superscalar_dla::{
    BlockSize, Error, ErrorKind, Options, Scalar, Tiled, gecon, gesv, getrf, lange, pocon, spawn, unmlq,
};
use superscalar_kernels::{Diag, Norm, Op, Side, Uplo};
use superscalar_oracle::{Stored, element, residual, wide};
use superscalar_runtime::Runtime;

const N: usize = 45;
const NB: usize = 8;

/// Runs with one block size on every runtime.
fn on_all<R: PartialEq>(call: impl Fn(&Runtime) -> R, check: impl Fn(&R, &str)) {
    let fixed = |rt: &Runtime, _: &Options| call(rt);
    Runtimes::new().on_all_with(BlockSize::Fixed(NB), fixed, check);
}

/// A := F G by a product, A X = B by LU, C := Xᴴ X by a product.
fn product_factorization_solution<T: Scalar>() {
    let (f, g) = (Stored::<T>::random((N, N), 1), Stored::<T>::random((N, N), 2));
    let b = Stored::<T>::random((N, 11), 3);
    let call = |rt: &Runtime| {
        let (mut lu, mut a) = (Stored::<T>::random((N, N), 4), Stored::<T>::random((N, N), 5));
        let (mut x, mut c, mut ipiv) = (b.clone(), Stored::<T>::random((11, 11), 6), vec![0; N]);
        rt.scope(|s| {
            let (f, g) = (Tiled::read_only(s, f.view(), N, NB), Tiled::read_only(s, g.view(), NB, NB));
            let (lu, a) = (Tiled::columns(s, lu.view_mut(), NB), Tiled::columns(s, a.view_mut(), NB));
            let (x, c) = (Tiled::columns(s, x.view_mut(), NB), Tiled::new(s, c.view_mut(), NB, NB));
            spawn::gemm(s, T::ONE, Op::None, &f, Op::None, &g, T::ZERO, &lu);
            spawn::geadd(s, Op::None, T::ONE, &lu, T::ZERO, &a);
            let pivots = spawn::getrf(s, &lu, &mut ipiv);
            spawn::getrs(s, Op::None, &lu, &pivots, &x);
            spawn::gemm(s, T::ONE, Op::ConjTrans, &x, Op::None, &x, T::ZERO, &c);
        })
        .expect("no pivot is zero");
        (lu, a, x, c, ipiv)
    };
    on_all(call, |(lu, a, x, c, ipiv), what| {
        assert_small(residual::difference::<T>(&f.wide().times(&g.wide()), &a.wide()), what);
        assert_small(residual::difference::<T>(&x.wide().adjoint().times(&x.wide()), &c.wide()), what);
        let (mut factors, mut found, mut alone) = (a.clone(), vec![0; N], b.clone());
        let options = Options::default().nb(NB);
        gesv(&runtime(), factors.view_mut(), &mut found, alone.view_mut(), &options).expect("no pivot is zero");
        let same = factors == *lu && found == *ipiv && alone == *x;
        assert!(same, "{} {what}: another result than that of gesv", T::LETTER);
    });
}

/// QR, products with Q, generation of Q in another scope, and a norm of the result.
fn reflectors_and_norm<T: Scalar>() {
    let (a, c) = (Stored::<T>::random((N, 20), 6), Stored::<T>::random((N, 5), 7));
    let call = |rt: &Runtime| {
        let (mut qr, mut q, mut product) = (a.clone(), a.clone(), c.clone());
        let (mut tau, mut tau_of_q) = (vec![T::ZERO; 20], vec![T::ZERO; 20]);
        let norm = rt.scope(|s| {
            let (qr, product) = (Tiled::columns(s, qr.view_mut(), NB), Tiled::columns(s, product.view_mut(), NB));
            let reflectors = spawn::geqrf(s, &qr, &mut tau);
            spawn::unmqr(s, Side::Left, Op::ConjTrans, &qr, &reflectors, &product);
            spawn::unmqr(s, Side::Left, Op::None, &qr, &reflectors, &product);
            let norm = spawn::lange(s, Norm::Max, &product);
            s.get(norm).copied()
        });
        let norm = norm.expect("nothing fails").expect("nothing fails");
        rt.scope(|s| {
            let columns = Tiled::columns(s, q.view_mut(), NB);
            drop(spawn::geqrf(s, &columns, &mut tau_of_q));
        })
        .expect("nothing fails");
        rt.scope(|s| spawn::ungqr(s, &Tiled::columns(s, q.view_mut(), NB), &mut tau_of_q)).expect("nothing fails");
        (qr, q, product, tau, norm)
    };
    on_all(call, |(qr, q, product, tau, norm), what| {
        let expected = qr.wide().q_of_columns(tau);
        assert_small(residual::difference::<T>(&expected.submatrix(0..N, 0..20), &q.wide()), what);
        assert_small(residual::difference::<T>(&c.wide(), &product.wide()), what);
        assert!((wide(T::from_real(*norm)).re - product.wide().norm_max()).abs() < 1e-6, "{} {what}", T::LETTER);
    });
}

/// A singular matrix cancels the tasks that need its solution. The other tasks run, and the runtime stays usable.
fn singular_matrix_cancels_its_solves<T: Scalar>() {
    let zero = 17;
    let bad = Stored::<T>::new((N, N), |i, j| if j == zero { T::ZERO } else { element(8, i, j) });
    let (good, b) = (Stored::<T>::random((N, N), 9), Stored::<T>::random((N, 10), 10));
    let call = |rt: &Runtime| {
        let [mut lu, mut good_lu] = [bad.clone(), good.clone()];
        let [mut x, mut good_x, mut sum, mut good_sum] = [b.clone(), b.clone(), b.clone(), b.clone()];
        let (mut ipiv, mut good_ipiv) = (vec![0; N], vec![0; N]);
        let outcome = rt.scope(|s| {
            let [lu, good_lu] = [&mut lu, &mut good_lu].map(|a| Tiled::columns(s, a.view_mut(), NB));
            let [x, good_x, sum, good_sum] =
                [&mut x, &mut good_x, &mut sum, &mut good_sum].map(|b| Tiled::columns(s, b.view_mut(), NB));
            let pivots = spawn::getrf(s, &lu, &mut ipiv);
            spawn::getrs(s, Op::None, &lu, &pivots, &x);
            spawn::geadd(s, Op::None, T::ONE, &x, T::ONE, &sum);
            let pivots = spawn::getrf(s, &good_lu, &mut good_ipiv);
            spawn::getrs(s, Op::None, &good_lu, &pivots, &good_x);
            spawn::geadd(s, Op::None, T::ONE, &good_x, T::ONE, &good_sum);
        });
        let error = Error::from(outcome.expect_err("the matrix is singular"));
        assert_eq!((error.kind(), error.info()), (ErrorKind::Singular, Some(zero + 1)));
        assert!(x == b && sum == b, "what depends on the solution is cancelled, and nothing changed");
        (lu, ipiv, good_lu, good_x, good_sum)
    };
    on_all(call, |(lu, ipiv, _, x, sum), what| {
        assert_small(residual::lu(&bad.wide(), lu.view(), ipiv), what);
        assert_small(residual::solve::<T>(&good.wide(), &x.wide(), &b.wide()), what);
        let expected = Stored::<T>::new(b.shape(), |i, j| x.at(i, j) + b.at(i, j));
        assert!(sum.wide() == expected.wide(), "{} {what}: B + X", T::LETTER);
    });
}

/// A matrix that is not positive definite cancels the tasks that need its factor.
fn indefinite_matrix_cancels_its_solves<T: Scalar>() {
    let bad_at = 20;
    let mut bad = Stored::<T>::positive_definite(N, 11);
    bad.set(bad_at, bad_at, -T::ONE);
    let (good, b) = (Stored::<T>::positive_definite(N, 12), Stored::<T>::random((N, 10), 13));
    let call = |rt: &Runtime| {
        let [mut l, mut good_l] = [bad.clone(), good.clone()];
        let [mut x, mut good_x] = [b.clone(), b.clone()];
        let outcome = rt.scope(|s| {
            let [l, good_l, x, good_x] =
                [&mut l, &mut good_l, &mut x, &mut good_x].map(|a| Tiled::new(s, a.view_mut(), NB, NB));
            for (l, x) in [(&l, &x), (&good_l, &good_x)] {
                spawn::potrf(s, Uplo::Lower, l);
                spawn::trsm(s, Side::Left, Uplo::Lower, Op::None, Diag::NonUnit, T::ONE, l, x);
            }
        });
        let error = Error::from(outcome.expect_err("the matrix is indefinite"));
        assert_eq!((error.kind(), error.info()), (ErrorKind::NotPositiveDefinite, Some(bad_at + 1)));
        (good_l, good_x)
    };
    on_all(call, |(l, x), what| {
        let l = l.part(|i, j| i >= j);
        assert_small(residual::cholesky::<T>(&good.wide(), &l), what);
        assert_small(residual::difference::<T>(&b.wide(), &l.times(&x.wide())), what);
    });
}

/// A rank-deficient least squares problem is cancelled; another problem in the same scope is solved.
fn rank_deficiency_cancels_its_solves<T: Scalar>() {
    let (m, n, zero) = (N, 20, 9);
    let bad = Stored::<T>::new((m, n), |i, j| if j == zero { T::ZERO } else { element(14, i, j) });
    let (good, b) = (Stored::<T>::random((m, n), 15), Stored::<T>::random((m, 3), 16));
    for op in [Op::None, Op::ConjTrans] {
        let call = |rt: &Runtime| {
            let [mut qr, mut good_qr, mut x, mut good_x] = [bad.clone(), good.clone(), b.clone(), b.clone()];
            let ([mut tau, mut good_tau], mut copy) = ([vec![T::ZERO; n], vec![T::ZERO; n]], b.clone());
            let outcome = rt.scope(|s| {
                let [qr, good_qr, x, good_x] =
                    [&mut qr, &mut good_qr, &mut x, &mut good_x].map(|a| Tiled::columns(s, a.view_mut(), NB));
                let copy = Tiled::columns(s, copy.view_mut(), NB);
                spawn::gels(s, op, &qr, &mut tau, &x);
                spawn::geadd(s, Op::None, T::ONE, &x, T::ONE, &copy);
                spawn::gels(s, op, &good_qr, &mut good_tau, &good_x);
            });
            let error = Error::from(outcome.expect_err("the matrix lacks rank"));
            assert_eq!((error.kind(), error.info()), (ErrorKind::Singular, Some(zero + 1)));
            assert!(copy == b, "what depends on the solution is cancelled");
            (good_qr, good_x)
        };
        on_all(call, |(_, x), what| {
            let (a, x) = (good.wide().op(op), x.wide().submatrix(0..if op == Op::None { n } else { m }, 0..3));
            let given = b.wide().submatrix(0..a.shape().0, 0..3);
            let residual = given.minus(&a.times(&x));
            let gradient = if op == Op::None { a.adjoint().times(&residual) } else { residual };
            let size = a.norm_one() * x.norm_one().max(given.norm_one());
            assert_small(residual::scaled::<T>(gradient.norm_one(), size, m), what);
        });
    }
}

/// The norm of a matrix, its factors, its condition number and its inverse.
fn norm_factors_condition_inverse<T: Scalar>() {
    let a = Stored::<T>::random((N, N), 15);
    let options = Options::default().nb(NB);
    for norm in [Norm::One, Norm::Inf] {
        let call = |rt: &Runtime| {
            let (mut x, mut ipiv) = (a.clone(), vec![0; N]);
            let rcond = rt.scope(|s| {
                let x = Tiled::columns(s, x.view_mut(), NB);
                let anorm = spawn::lange(s, norm, &x);
                let pivots = spawn::getrf(s, &x, &mut ipiv);
                let rcond = spawn::gecon(s, norm, &x, anorm);
                spawn::getri(s, &x, &pivots);
                s.get(rcond).copied()
            });
            (x, rcond.expect("nothing fails").expect("nothing fails"))
        };
        on_all(call, |(x, rcond), what| {
            let what = &format!("{} {norm} {what}", T::LETTER);
            assert_small(residual::inverse::<T>(&a.wide(), &x.wide()), what);
            let (rt, mut lu, mut ipiv) = (runtime(), a.clone(), vec![0; N]);
            let anorm = lange(&rt, norm, lu.view(), &options).expect("the norm exists");
            getrf(&rt, lu.view_mut(), &mut ipiv, &options).expect("no pivot is zero");
            let alone = gecon(norm, lu.view(), anorm).expect("the arguments fit");
            let [rcond, alone] = [*rcond, alone].map(|x| wide(T::from_real(x)).re);
            assert!((rcond - alone).abs() <= 1e-3 * alone, "{what}: condition {rcond:e}, alone {alone:e}");
        });
    }
}

/// The norm of a positive definite matrix, its factor and its condition number.
fn norm_factor_condition<T: Scalar>() {
    let a = Stored::<T>::positive_definite(N, 16);
    for uplo in [Uplo::Lower, Uplo::Upper] {
        let call = |rt: &Runtime| {
            let mut factor = a.clone();
            let rcond = rt.scope(|s| {
                let norms = Tiled::read_only_columns(s, a.view(), NB);
                let anorm = spawn::lanhe(s, Norm::One, uplo, &norms);
                let factor = Tiled::new(s, factor.view_mut(), NB, NB);
                spawn::potrf(s, uplo, &factor);
                let rcond = spawn::pocon(s, uplo, &factor, anorm);
                s.get(rcond).copied()
            });
            (factor, rcond.expect("nothing fails").expect("nothing fails"))
        };
        on_all(call, |(factor, rcond), what| {
            let anorm = T::from_f64(a.wide().norm_one()).re();
            let alone = pocon(uplo, factor.view(), anorm).expect("the arguments fit");
            let [rcond, alone] = [*rcond, alone].map(|x| wide(T::from_real(x)).re);
            assert!((rcond - alone).abs() <= 1e-3 * alone, "{what}: condition {rcond:e}, alone {alone:e}");
        });
    }
}

/// LQ, and products with Q from both sides: with the reflectors of the same scope, and with `tau` in another scope.
fn reflectors_in_rows<T: Scalar>() {
    let (k, options) = (20, Options::default().nb(NB));
    let (a, c) = (Stored::<T>::random((k, N), 17), Stored::<T>::random((N, N), 18));
    let sides = [Side::Left, Side::Right].into_iter().flat_map(|side| [(side, Op::None), (side, Op::ConjTrans)]);
    for (side, op) in sides {
        let (mb, nb) = if side == Side::Left { (N, NB) } else { (NB, N) };
        let call = |rt: &Runtime| {
            let (mut lq, mut tau, [mut first, mut second]) = (a.clone(), vec![T::ZERO; k], [c.clone(), c.clone()]);
            rt.scope(|s| {
                let (at, c) =
                    (Tiled::columns(s, lq.view_mut().transpose(), NB), Tiled::new(s, first.view_mut(), mb, nb));
                let q = spawn::gelqf(s, &at, &mut tau);
                spawn::unmlq(s, side, op, &at, &q, &c);
            })
            .expect("nothing fails");
            let mut conjugated = tau.clone();
            rt.scope(|s| {
                let at = Tiled::read_only_columns(s, lq.view().transpose(), NB);
                let q = spawn::row_reflectors(s, &at, &mut conjugated);
                spawn::unmlq(s, side, op, &at, &q, &Tiled::new(s, second.view_mut(), mb, nb));
            })
            .expect("nothing fails");
            (lq, tau, first, second)
        };
        on_all(call, |(lq, tau, first, second), what| {
            let (rt, mut alone) = (runtime(), c.clone());
            unmlq(&rt, side, op, lq.view(), tau, alone.view_mut(), &options).expect("the shapes fit");
            assert_small(
                residual::difference::<T>(&alone.wide(), &first.wide()),
                &format!("{} {side}{op} {what}", T::LETTER),
            );
            assert_small(
                residual::difference::<T>(&alone.wide(), &second.wide()),
                &format!("{} {side}{op} {what}", T::LETTER),
            );
        });
    }
}

/// If the inverse does not exist, the factors are unchanged.
fn singular_matrix_is_not_inverted<T: Scalar>() {
    let bad = Stored::<T>::new((N, N), |i, j| if j == 17 { T::ZERO } else { element(8, i, j) });
    let call = |rt: &Runtime| {
        let [mut lu, mut not_inverse] = [bad.clone(), bad.clone()];
        let (mut ipiv, mut again) = (vec![0; N], vec![0; N]);
        let _singular = rt.scope(|s| drop(spawn::getrf(s, &Tiled::columns(s, lu.view_mut(), NB), &mut ipiv)));
        let outcome = rt.scope(|s| {
            let a = Tiled::columns(s, not_inverse.view_mut(), NB);
            spawn::getri(s, &a, &spawn::getrf(s, &a, &mut again));
        });
        let error = Error::from(outcome.expect_err("the matrix is singular"));
        assert_eq!((error.kind(), error.info()), (ErrorKind::Singular, Some(18)));
        assert!(lu == not_inverse && ipiv == again, "{}: something was inverted", T::LETTER);
    };
    on_all(call, |(), _| {});
}

four_types! {
    norm_factors_condition_inverse norm_factor_condition reflectors_in_rows singular_matrix_is_not_inverted
    product_factorization_solution reflectors_and_norm singular_matrix_cancels_its_solves
    indefinite_matrix_cancels_its_solves rank_deficiency_cancels_its_solves
}

/// Without rows, columns or right-hand sides, every routine is a no-op.
#[test]
fn empty_matrices() {
    let rt = runtime();
    for (m, n, nrhs) in [(0, 0, 0), (0, 0, 3), (4, 0, 3), (0, 4, 3), (5, 5, 0), (6, 4, 0)] {
        let k = m.min(n);
        let [mut lu, mut qr, mut q] = [1, 2, 3].map(|seed| Stored::<f64>::random((m, n), seed));
        let [mut b, mut c, mut d] = [4, 5, 6].map(|seed| Stored::<f64>::random((m, nrhs), seed));
        let (mut ipiv, mut tau, mut tau_of_q) = (vec![0; k], vec![0.0; k], vec![0.0; k]);
        let norm = rt.scope(|s| {
            let [lu, qr, q, b, c, d] =
                [&mut lu, &mut qr, &mut q, &mut b, &mut c, &mut d].map(|a| Tiled::columns(s, a.view_mut(), 2));
            let pivots = spawn::getrf(s, &lu, &mut ipiv);
            if m == n {
                spawn::getrs(s, Op::None, &lu, &pivots, &b);
                spawn::getrs(s, Op::Trans, &lu, &pivots, &b);
            }
            let reflectors = spawn::geqrf(s, &qr, &mut tau);
            spawn::unmqr(s, Side::Left, Op::None, &qr, &reflectors, &c);
            if m >= n {
                spawn::ungqr(s, &qr, &mut tau_of_q);
            }
            spawn::swap(s, &c, &d);
            let norm = spawn::lange(s, Norm::One, &q);
            s.get(norm).copied()
        });
        let norm = norm.and_then(|norm| norm).expect("nothing fails");
        assert!((norm - q.wide().norm_one()).abs() < 1e-15, "{m} x {n}, {nrhs}");
        if m >= n {
            let mut tau = vec![0.0; k];
            let outcome = rt.scope(|s| {
                let [q, b] = [&mut q, &mut b].map(|a| Tiled::columns(s, a.view_mut(), 2));
                spawn::gels(s, Op::None, &q, &mut tau, &b);
            });
            outcome.expect("nothing fails");
        }
        [lu, qr, q].iter().chain([&b, &c, &d]).for_each(|matrix| matrix.assert_padding("empty"));
    }
}

#[test]
#[should_panic(expected = "getrs: A is 6 x 6, B is 7 x 2")]
fn mismatched_shapes_panic() {
    let (mut a, mut b, mut ipiv) = (Stored::<f64>::random((6, 6), 1), Stored::<f64>::random((7, 2), 2), [0; 6]);
    let outcome = runtime().scope(|s| {
        let [a, b] = [&mut a, &mut b].map(|a| Tiled::columns(s, a.view_mut(), 4));
        let pivots = spawn::getrf(s, &a, &mut ipiv);
        spawn::getrs(s, Op::None, &a, &pivots, &b);
    });
    outcome.expect("never there");
}
