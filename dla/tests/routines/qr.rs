//! geqrf, gelqf, and the products with their Q: ungqr, unmqr, unmlq.

use crate::{
    four_types,
    runs::{Runtimes, SHAPES, assert_refused, assert_small, ops_of_q, runtime},
};
use superscalar_dla::{BlockSize, ErrorKind, Options, Scalar, Tiled, gelqf, geqrf, spawn, ungqr, unmlq, unmqr};
use superscalar_kernels::{Op, Side, c32, c64};
use superscalar_oracle::{Stored, Wide, residual, wide};

fn geqrf_is_backward_stable<T: Scalar>() {
    let runtimes = Runtimes::new();
    for shape in SHAPES {
        let (a, k) = (Stored::<T>::random(shape, 1), shape.0.min(shape.1));
        let call = |rt: &_, options: &Options| {
            let (mut qr, mut tau) = (a.clone(), vec![T::from_f64(9.0); k]);
            geqrf(rt, qr.view_mut(), &mut tau, options).expect("the shapes fit");
            (qr, tau)
        };
        runtimes.on_all(shape.1, call, |(qr, tau), what| {
            let what = &format!("geqrf {} {shape:?} {what}", T::LETTER);
            qr.assert_padding(what);
            let (q, r) = (qr.wide().q_of_columns(tau), qr.part(|i, j| i <= j));
            assert_small(residual::difference::<T>(&a.wide(), &q.times(&r)), what);
            assert_small(residual::orthogonality::<T>(&q), what);
            assert!((0..k).all(|i| r.at(i, i).im == 0.0), "{what}: the diagonal of R is real");
        });
    }
}

fn gelqf_is_backward_stable<T: Scalar>() {
    let runtimes = Runtimes::new();
    for shape in SHAPES {
        let (a, k) = (Stored::<T>::random(shape, 2), shape.0.min(shape.1));
        let call = |rt: &_, options: &Options| {
            let (mut lq, mut tau) = (a.clone(), vec![T::from_f64(9.0); k]);
            gelqf(rt, lq.view_mut(), &mut tau, options).expect("the shapes fit");
            (lq, tau)
        };
        runtimes.on_all(shape.0, call, |(lq, tau), what| {
            let what = &format!("gelqf {} {shape:?} {what}", T::LETTER);
            lq.assert_padding(what);
            let (q, l) = (lq.wide().q_of_rows(tau), lq.part(|i, j| i >= j));
            assert_small(residual::difference::<T>(&a.wide(), &l.times(&q)), what);
            assert_small(residual::orthogonality::<T>(&q), what);
        });
    }
}

/// The non-blocking form, on the transposed view, gives the same bits.
fn gelqf_composes<T: Scalar>() {
    let rt = runtime();
    for shape in [(5, 9), (9, 5), (20, 33), (1, 4)] {
        let (a, k) = (Stored::<T>::random(shape, 2), shape.0.min(shape.1));
        let (mut lq, mut tau) = (a.clone(), vec![T::ZERO; k]);
        gelqf(&rt, lq.view_mut(), &mut tau, &Options::default().nb(4)).expect("the shapes fit");
        let (mut again, mut tau_again) = (a.clone(), vec![T::ZERO; k]);
        let outcome = rt.scope(|s| {
            let transposed = Tiled::columns(s, again.view_mut().transpose(), 4);
            spawn::gelqf(s, &transposed, &mut tau_again);
        });
        outcome.expect("nothing fails");
        // A single block is factored without the triangular factors that tasks need.
        assert!(shape.0 <= 4 || (again == lq && tau_again == tau), "gelqf {} {shape:?}", T::LETTER);
    }
}

/// The first n columns of Q from k reflectors, k <= n <= m.
fn ungqr_generates_q<T: Scalar>() {
    let runtimes = Runtimes::new();
    for (m, n, k) in
        [(0, 0, 0), (3, 0, 0), (4, 3, 0), (1, 1, 1), (31, 31, 31), (64, 20, 9), (100, 64, 31), (100, 100, 100)]
    {
        let (v, tau) = factored::<T>((m, k), 3);
        let before = Stored::new((m, n), |i, j| if j < k { v.at(i, j) } else { T::from_f64(f64::NAN) });
        let call = |rt: &_, options: &Options| {
            let mut q = before.clone();
            ungqr(rt, q.view_mut(), &tau, options).expect("the shapes fit");
            q
        };
        runtimes.on_all_worker_dependent(n, call, |q, what| {
            let what = &format!("ungqr {} {m} x {n} by {k} {what}", T::LETTER);
            q.assert_padding(what);
            let expected = v.wide().q_of_columns(&tau).submatrix(0..m, 0..n);
            assert_small(residual::difference::<T>(&expected, &q.wide()), what);
            assert_small(residual::orthogonality::<T>(&q.wide()), what);
        });
    }
}

/// Returns a matrix factored by geqrf, and its scalar factors.
fn factored<T: Scalar>(shape: (usize, usize), seed: u64) -> (Stored<T>, Vec<T>) {
    let (mut qr, mut tau) = (Stored::random(shape, seed), vec![T::ZERO; shape.0.min(shape.1)]);
    geqrf(&runtime(), qr.view_mut(), &mut tau, &Options::default().nb(10)).expect("the shapes fit");
    (qr, tau)
}

/// (m, n, k) for op(Q) C and C op(Q): Q has order m and k reflectors, and C has n columns (left) or rows (right).
const PRODUCTS: [(usize, usize, usize); 8] =
    [(0, 2, 0), (5, 0, 3), (3, 2, 0), (1, 1, 1), (31, 5, 31), (64, 33, 20), (100, 7, 64), (100, 100, 31)];

fn unmqr_multiplies<T: Scalar>() {
    let runtimes = Runtimes::new();
    for (m, n, k) in PRODUCTS {
        let (v, tau) = factored::<T>((m, k), 4);
        let q = v.wide().q_of_columns(&tau);
        for (op, side) in ops_of_q::<T>().into_iter().flat_map(|op| [(op, Side::Left), (op, Side::Right)]) {
            let c = Stored::<T>::random(if side == Side::Left { (m, n) } else { (n, m) }, 5);
            let call = |rt: &_, options: &Options| {
                let mut product = c.clone();
                unmqr(rt, side, op, v.view(), &tau, product.view_mut(), options).expect("the shapes fit");
                product
            };
            let q = q.op(op);
            let expected = if side == Side::Left { q.times(&c.wide()) } else { c.wide().times(&q) };
            runtimes.on_all_worker_dependent(k, call, |product, what| {
                let what = &format!("unmqr {}{side}{op} {m} {n} {k} {what}", T::LETTER);
                product.assert_padding(what);
                assert_small(residual::difference::<T>(&expected, &product.wide()), what);
            });
        }
    }
}

fn unmlq_multiplies<T: Scalar>() {
    let runtimes = Runtimes::new();
    for (m, n, k) in PRODUCTS {
        let (mut v, mut tau) = (Stored::<T>::random((k, m), 6), vec![T::ZERO; k]);
        gelqf(&runtime(), v.view_mut(), &mut tau, &Options::default().nb(10)).expect("the shapes fit");
        let q = v.wide().q_of_rows(&tau);
        for (op, side) in ops_of_q::<T>().into_iter().flat_map(|op| [(op, Side::Left), (op, Side::Right)]) {
            let c = Stored::<T>::random(if side == Side::Left { (m, n) } else { (n, m) }, 7);
            let call = |rt: &_, options: &Options| {
                let mut product = c.clone();
                unmlq(rt, side, op, v.view(), &tau, product.view_mut(), options).expect("the shapes fit");
                product
            };
            let q = q.op(op);
            let expected = if side == Side::Left { q.times(&c.wide()) } else { c.wide().times(&q) };
            runtimes.on_all_worker_dependent(k, call, |product, what| {
                let what = &format!("unmlq {}{side}{op} {m} {n} {k} {what}", T::LETTER);
                product.assert_padding(what);
                assert_small(residual::difference::<T>(&expected, &product.wide()), what);
            });
        }
    }
}

/// Columns that are zero below the diagonal need no reflection.
fn triangular_input_is_unchanged<T: Scalar>() {
    let runtimes = Runtimes::new();
    for n in [1, 2, 31, 64] {
        let a = Stored::<T>::new((n, n), |i, j| T::from_f64(if i <= j { (1 + (i + 2 * j) % 5) as f64 } else { 0.0 }));
        let call = |rt: &_, options: &Options| {
            let (mut qr, mut tau) = (a.clone(), vec![T::from_f64(9.0); n]);
            geqrf(rt, qr.view_mut(), &mut tau, options).expect("the shapes fit");
            (qr, tau)
        };
        // As in LAPACK, tau is zero for such columns, so R equals A bit by bit.
        runtimes.on_all(n, call, |(qr, tau), what| {
            assert!(tau.iter().all(|&tau| tau == T::ZERO), "{} n {n} {what}: {tau:?}", T::LETTER);
            assert!(*qr == a, "{} n {n} {what}: another triangle", T::LETTER);
        });
    }
}

/// The largest and smallest numbers neither overflow nor vanish, and a NaN reaches R.
fn extremes<T: Scalar>() {
    let runtimes = Runtimes::new();
    let (m, n) = (40, 33);
    let tiny = wide(T::from_real(<T::Real as superscalar_kernels::Real>::MIN_POSITIVE)).re;
    for scale in [tiny * 4.0, 0.125 / tiny] {
        let a = Stored::<T>::random((m, n), 8);
        let scaled = Stored::<T>::new((m, n), |i, j| a.at(i, j) * T::from_f64(scale));
        let call = |rt: &_, options: &Options| {
            let (mut qr, mut tau) = (scaled.clone(), vec![T::ZERO; n]);
            geqrf(rt, qr.view_mut(), &mut tau, options).expect("the shapes fit");
            (qr, tau)
        };
        runtimes.on_all(n, call, |(qr, tau), what| {
            let what = &format!("geqrf {} times {scale:e} {what}", T::LETTER);
            let r = qr.part(|i, j| i <= j);
            let r = Wide::new(r.shape(), |i, j| r.at(i, j) / scale);
            let q = qr.wide().q_of_columns(tau);
            assert_small(residual::orthogonality::<T>(&q), what);
            // Elements that underflow lose bits.
            assert!(q.times(&r).minus(&a.wide()).norm_max() <= 1e-4, "{what}");
        });
    }
    for (i, j) in [(0, 0), (39, 0), (5, 20), (39, 32)] {
        let mut a = Stored::<T>::random((m, n), 9);
        a.set(i, j, T::from_f64(f64::NAN));
        let call = |rt: &_, options: &Options| {
            let (mut qr, mut tau) = (a.clone(), vec![T::ZERO; n]);
            geqrf(rt, qr.view_mut(), &mut tau, options).expect("the shapes fit");
            qr
        };
        runtimes.on_all(n, call, |qr, what| {
            let r = qr.part(|i, j| i <= j);
            assert!((0..=j).any(|i| r.at(i, j).is_nan()), "{} NaN at ({i}, {j}) {what}: not in R", T::LETTER);
            qr.assert_padding(what);
        });
    }
}

four_types! {
    geqrf_is_backward_stable gelqf_is_backward_stable gelqf_composes ungqr_generates_q unmqr_multiplies unmlq_multiplies
    triangular_input_is_unchanged extremes
}

/// The order is large enough for several automatic panels.
#[test]
fn automatic_panel_widths() {
    for shape in [(240, 210), (60, 230)] {
        let (a, k) = (Stored::<c32>::random(shape, 10), shape.0.min(shape.1));
        let call = |rt: &_, options: &Options| {
            let (mut qr, mut tau) = (a.clone(), vec![c32::ZERO; k]);
            geqrf(rt, qr.view_mut(), &mut tau, options).expect("the shapes fit");
            (qr, tau)
        };
        Runtimes::new().on_all_with(BlockSize::Auto, call, |(qr, tau), what| {
            let (q, r) = (qr.wide().q_of_columns(tau), qr.part(|i, j| i <= j));
            assert_small(residual::difference::<c32>(&a.wide(), &q.times(&r)), what);
            assert_small(residual::orthogonality::<c32>(&q), what);
        });
    }
}

#[test]
fn invalid_arguments_are_refused() {
    let (rt, o) = (runtime(), Options::default());
    let a = Stored::<c64>::random((5, 4), 1);
    let (mut x, tau) = (a.clone(), [c64::ONE; 5]);
    for k in [0, 3, 5] {
        assert_refused(geqrf(&rt, x.view_mut(), &mut vec![c64::ONE; k], &o), ErrorKind::Shape);
        assert_refused(gelqf(&rt, x.view_mut(), &mut vec![c64::ONE; k], &o), ErrorKind::Shape);
    }
    assert_refused(geqrf(&rt, x.view_mut(), &mut [c64::ONE; 4], &o.nb(0)), ErrorKind::Shape);
    assert_refused(ungqr(&rt, x.view_mut(), &tau, &o), ErrorKind::Shape);
    assert_refused(ungqr(&rt, x.view_mut().transpose(), &tau[..2], &o), ErrorKind::Shape);
    for side in [Side::Left, Side::Right] {
        let (wrong, fitting) =
            (if side == Side::Left { (4, 5) } else { (5, 4) }, if side == Side::Left { (5, 2) } else { (2, 5) });
        let (mut wrong, mut fitting) = (Stored::<c64>::random(wrong, 2), Stored::<c64>::random(fitting, 2));
        let (known, none) = (fitting.clone(), Op::None);
        assert_refused(unmqr(&rt, side, none, a.view(), &tau[..4], wrong.view_mut(), &o), ErrorKind::Shape);
        assert_refused(unmqr(&rt, side, none, a.view(), &tau, fitting.view_mut(), &o), ErrorKind::Shape);
        assert_refused(unmlq(&rt, side, none, a.view(), &tau[..4], fitting.view_mut(), &o), ErrorKind::Shape);
        let (a, tau, plain) = (a.view(), &tau[..4], Op::Trans);
        assert_refused(unmqr(&rt, side, plain, a, tau, fitting.view_mut(), &o), ErrorKind::Argument);
        assert_refused(unmlq(&rt, side, plain, a.transpose(), tau, fitting.view_mut(), &o), ErrorKind::Argument);
        assert!(fitting == known, "a refusal changes nothing");
    }
    assert!(x == a, "a refusal changes nothing");
}
