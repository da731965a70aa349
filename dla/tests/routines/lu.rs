//! getrf, getrs and gesv.

use crate::{
    four_types,
    runs::{ORDERS, Runtimes, SHAPES, assert_info, assert_refused, assert_small, runtime},
};
use superscalar_dla::{BlockSize, ErrorKind, Options, Scalar, gesv, getrf, getrs};
use superscalar_kernels::{MatMut, MatRef, Op, c64};
use superscalar_oracle::{Stored, Wide, element, narrow, residual, wide};
use superscalar_runtime::Runtime;

const OPS: [Op; 3] = [Op::None, Op::Trans, Op::ConjTrans];

/// Checks that pivots are on or below the diagonal, and that no element of L is larger than its pivot.
fn assert_pivots<T: Scalar>(lu: &Stored<T>, ipiv: &[i32], what: &str) {
    let m = lu.shape().0;
    assert!(ipiv.iter().enumerate().all(|(i, &p)| i < p as usize && p as usize <= m), "{what}: {ipiv:?}");
    // The pivot is the largest by |re| + |im|, so its modulus is at least 1/√2 of the largest modulus.
    let most = if T::COMPLEX { 2.0_f64.sqrt() } else { 1.0 } + 1e-6;
    assert!(Wide::lower_and_upper(lu.view()).0.norm_max() <= most, "{what}: not the largest pivots");
}

fn getrf_is_backward_stable<T: Scalar>() {
    let runtimes = Runtimes::new();
    for shape in SHAPES {
        let a = Stored::<T>::random(shape, 1);
        let call = |rt: &_, options: &Options| {
            let (mut lu, mut ipiv) = (a.clone(), vec![0; shape.0.min(shape.1)]);
            getrf(rt, lu.view_mut(), &mut ipiv, options).expect("no pivot is zero");
            (lu, ipiv)
        };
        runtimes.on_all(shape.1, call, |(lu, ipiv), what| {
            let what = &format!("getrf {} {shape:?} {what}", T::LETTER);
            lu.assert_padding(what);
            assert_pivots(lu, ipiv, what);
            assert_small(residual::lu(&a.wide(), lu.view(), ipiv), what);
        });
    }
}

fn getrs_and_gesv_solve<T: Scalar>() {
    let runtimes = Runtimes::new();
    for (n, nrhs) in ORDERS.into_iter().zip([2, 1, 5, 0, 3, 65, 9]) {
        let (a, b) = (Stored::<T>::random((n, n), 2), Stored::<T>::random((n, nrhs), 3));
        let call = |rt: &_, options: &Options| {
            let (mut lu, mut ipiv, mut x) = (a.clone(), vec![0; n], b.clone());
            gesv(rt, lu.view_mut(), &mut ipiv, x.view_mut(), options).expect("no pivot is zero");
            let by_steps = OPS.map(|op| {
                let mut x = b.clone();
                getrs(rt, op, lu.view(), &ipiv, x.view_mut(), options).expect("the shapes fit");
                x
            });
            (lu, ipiv, x, by_steps)
        };
        runtimes.on_all_worker_dependent(n, call, |(lu, ipiv, x, by_steps), what| {
            let what = &format!("gesv {} n {n} nrhs {nrhs} {what}", T::LETTER);
            assert_small(residual::lu(&a.wide(), lu.view(), ipiv), what);
            assert_small(residual::solve::<T>(&a.wide(), &x.wide(), &b.wide()), what);
            for (op, x) in OPS.iter().zip(by_steps) {
                assert_small(
                    residual::solve::<T>(&a.wide().op(*op), &x.wide(), &b.wide()),
                    &format!("{what}, getrs {op}"),
                );
            }
            [lu, x].into_iter().chain(by_steps).for_each(|matrix| matrix.assert_padding(what));
        });
    }
}

/// Every elimination step is exact: U has powers of two on its diagonal and small integers above it, and L has
/// multiples of 1/16 below its unit diagonal. These are so small that the pivots are the rows of L in order.
fn exact_factors<T: Scalar>() {
    let runtimes = Runtimes::new();
    let whole = |seed, i, j| wide(superscalar_oracle::whole::<T>(seed, i, j));
    for (m, n) in [(60, 60), (75, 40), (40, 75), (1, 4), (4, 1)] {
        let k = m.min(n);
        let l = Wide::new((m, k), |i, j| match i.cmp(&j) {
            std::cmp::Ordering::Less => c64::ZERO,
            std::cmp::Ordering::Equal => c64::ONE,
            std::cmp::Ordering::Greater => whole(4, i, j) / 16.0,
        });
        let u = Wide::new((k, n), |i, j| match i.cmp(&j) {
            std::cmp::Ordering::Less => whole(5, i, j),
            std::cmp::Ordering::Equal => c64::from([8.0, -16.0, 32.0][i % 3]),
            std::cmp::Ordering::Greater => c64::ZERO,
        });
        // The rows are permuted, so that getrf has to find the interchanges.
        let ipiv: Vec<i32> = (0..k).map(|i| (i + (7 * i + 3) % (m - i) + 1) as i32).collect();
        let mut rows: Vec<usize> = (0..m).collect();
        ipiv.iter().enumerate().rev().for_each(|(i, &p)| rows.swap(i, p as usize - 1));
        let product = l.times(&u);
        let a = Stored::<T>::new((m, n), |i, j| narrow(product.at(rows[i], j)));
        assert_eq!(a.wide().interchanged(&ipiv), product, "the test's own permutation");
        let call = |rt: &_, options: &Options| {
            let (mut lu, mut found) = (a.clone(), vec![0; k]);
            getrf(rt, lu.view_mut(), &mut found, options).expect("no pivot is zero");
            (lu, found)
        };
        runtimes.on_all(n, call, |(lu, found), what| {
            let what = format!("{} {m} x {n} {what}", T::LETTER);
            assert_eq!(*found, ipiv, "{what}");
            assert!(Wide::lower_and_upper(lu.view()) == (l.clone(), u.clone()), "{what}: not exact");
        });
    }
}

/// With columns of zeros, the first one is reported, and the factorization is complete.
fn singular_matrices<T: Scalar>() {
    let runtimes = Runtimes::new();
    for (m, n, zeros) in
        [(1, 1, vec![0]), (40, 40, vec![0]), (40, 40, vec![39]), (50, 40, vec![21, 30]), (30, 45, vec![8])]
    {
        let a = Stored::<T>::new((m, n), |i, j| if zeros.contains(&j) { T::ZERO } else { element(6, i, j) });
        let call = |rt: &_, options: &Options| {
            let (mut lu, mut ipiv) = (a.clone(), vec![0; m.min(n)]);
            let outcome = getrf(rt, lu.view_mut(), &mut ipiv, options);
            assert_info(outcome, ErrorKind::Singular, zeros[0] + 1);
            (lu, ipiv)
        };
        runtimes.on_all(n, call, |(lu, ipiv), what| {
            let what = &format!("{} {m} x {n} without {zeros:?} {what}", T::LETTER);
            assert_pivots(lu, ipiv, what);
            assert_small(residual::lu(&a.wide(), lu.view(), ipiv), what);
        });
        if m == n {
            let b = Stored::<T>::random((n, 3), 7);
            let call = |rt: &_, options: &Options| {
                let (mut lu, mut ipiv, mut x) = (a.clone(), vec![0; n], b.clone());
                let outcome = gesv(rt, lu.view_mut(), &mut ipiv, x.view_mut(), options);
                assert_info(outcome, ErrorKind::Singular, zeros[0] + 1);
                (lu, ipiv, x)
            };
            runtimes.on_all(n, call, |(lu, ipiv, x), what| {
                assert_small(residual::lu(&a.wide(), lu.view(), ipiv), what);
                assert!(*x == b, "{what}: nothing is solved with a singular U");
            });
        }
    }
    let (rt, mut ones) = (runtime(), Stored::<T>::new((20, 20), |_, _| T::ONE));
    let outcome = getrf(&rt, ones.view_mut(), &mut [0; 20], &Options::default().nb(6));
    assert_info(outcome, ErrorKind::Singular, 2);
}

/// A NaN in A reaches the solution and nothing else. An Inf may become the divisor of a column and vanish.
fn nan_propagates<T: Scalar>() {
    let runtimes = Runtimes::new();
    let (n, places) = (33, [(0, 0), (32, 0), (7, 20), (20, 7), (32, 32)]);
    for ((i, j), bad) in places.into_iter().flat_map(|place| [(place, f64::NAN), (place, f64::INFINITY)]) {
        let mut a = Stored::<T>::random((n, n), 8);
        a.set(i, j, T::from_f64(bad));
        let b = Stored::<T>::random((n, 2), 9);
        let call = |rt: &_, options: &Options| {
            let (mut lu, mut ipiv, mut x) = (a.clone(), vec![0; n], b.clone());
            // Whether a pivot becomes zero is not specified.
            let outcome = gesv(rt, lu.view_mut(), &mut ipiv, x.view_mut(), options).map_err(|error| error.kind());
            (lu, ipiv, x, outcome)
        };
        runtimes.on_all(n, call, |(lu, ipiv, x, outcome), what| {
            let what = format!("{} {bad} at ({i}, {j}) {what}", T::LETTER);
            assert!(ipiv.iter().all(|&p| 1 <= p && p as usize <= n), "{what}: {ipiv:?}");
            assert!(!lu.is_finite(), "{what}: no trace of it in the factors");
            assert!(!bad.is_nan() || outcome.is_err() || x.has_nan(), "{what}: no trace of it in the solution");
            lu.assert_padding(&what);
            x.assert_padding(&what);
        });
    }
}

/// Numbers so small that the reciprocal of a pivot overflows, and so large that their sum nearly does.
fn extremes<T: Scalar>() {
    let (runtimes, n) = (Runtimes::new(), 33);
    let tiny = wide(T::from_real(<T::Real as superscalar_kernels::Real>::MIN_POSITIVE)).re;
    for scale in [tiny / 64.0, 0.125 / tiny] {
        let random = Stored::<T>::random((n, n), 10);
        let a = Stored::<T>::new((n, n), |i, j| random.at(i, j) * T::from_f64(scale));
        let call = |rt: &_, options: &Options| {
            let (mut lu, mut ipiv) = (a.clone(), vec![0; n]);
            getrf(rt, lu.view_mut(), &mut ipiv, options).expect("no pivot is zero");
            (lu, ipiv)
        };
        runtimes.on_all(n, call, |(lu, ipiv), what| {
            let (l, u) = Wide::lower_and_upper(lu.view());
            let error = a.wide().interchanged(ipiv).minus(&l.times(&u)).norm_max();
            // Elements that underflow have only a few bits.
            assert!(error <= 1e-3 * a.wide().norm_max(), "{} times {scale:e} {what}: {error:e}", T::LETTER);
        });
    }
}

four_types! { getrf_is_backward_stable getrs_and_gesv_solve exact_factors singular_matrices nan_propagates extremes }

/// The order is large enough for several automatic panels.
#[test]
fn automatic_panel_widths() {
    let n = 230;
    let (a, b) = (Stored::<f64>::random((n, n), 13), Stored::<f64>::random((n, 40), 14));
    let call = |rt: &_, options: &Options| {
        let (mut lu, mut ipiv, mut x) = (a.clone(), vec![0; n], b.clone());
        gesv(rt, lu.view_mut(), &mut ipiv, x.view_mut(), options).expect("no pivot is zero");
        let mut y = b.clone();
        getrs(rt, Op::Trans, lu.view(), &ipiv, y.view_mut(), options).expect("the shapes fit");
        (lu, ipiv, x, y)
    };
    Runtimes::new().on_all_with(BlockSize::Auto, call, |(lu, ipiv, x, y), what| {
        assert_pivots(lu, ipiv, what);
        assert_small(residual::lu(&a.wide(), lu.view(), ipiv), what);
        assert_small(residual::solve::<f64>(&a.wide(), &x.wide(), &b.wide()), what);
        assert_small(residual::solve::<f64>(&a.wide().op(Op::Trans), &y.wide(), &b.wide()), what);
    });
}

/// All workers together solve a large system with few right-hand sides.
#[test]
fn single_right_hand_side_is_shared() {
    let n = 1100;
    let (a, b) = (Stored::<f64>::random((n, n), 16), Stored::<f64>::random((n, 1), 17));
    for workers in [1, 3] {
        let rt = Runtime::builder().workers(workers).bind(false).trace(true).build().expect("threads can be started");
        let (mut lu, mut ipiv) = (a.clone(), vec![0; n]);
        getrf(&rt, lu.view_mut(), &mut ipiv, &Options::default()).expect("no pivot is zero");
        for op in OPS {
            rt.take_recording().expect("the runtime records");
            let mut x = b.clone();
            getrs(&rt, op, lu.view(), &ipiv, x.view_mut(), &Options::default()).expect("the shapes fit");
            let recording = rt.take_recording().expect("the runtime records");
            let shared = recording.tasks.iter().any(|task| task.name == "trsm");
            assert_eq!(shared, workers > 1, "getrs {op} with {workers} workers");
            assert_small(
                residual::solve::<f64>(&a.wide().op(op), &x.wide(), &b.wide()),
                &format!("getrs {op} with {workers} workers"),
            );
            let mut nothing = Stored::<f64>::random((n, 0), 18);
            getrs(&rt, op, lu.view(), &ipiv, nothing.view_mut(), &Options::default()).expect("the shapes fit");
        }
        rt.take_recording().expect("the runtime records");
        getrs(&rt, Op::None, lu.view(), &ipiv, b.clone().view_mut(), &Options::default().nb(256))
            .expect("the shapes fit");
        let recording = rt.take_recording().expect("the runtime records");
        assert!(recording.tasks.iter().all(|task| task.name != "trsm"), "tiles that were named, {workers} workers");
    }
}

/// A long panel is factored by halves. The rows of the update between them, and of the update of the next panel's
/// column, are split into tasks if there are other workers. The factors do not depend on that.
#[test]
fn long_panels_are_split() {
    let (m, n, nb) = (3000, 160, 128);
    let a = Stored::<f64>::random((m, n), 15);
    let factors = [1, 3].map(|workers| {
        let rt = Runtime::builder().workers(workers).bind(false).trace(true).build().expect("threads can be started");
        let (mut lu, mut ipiv) = (a.clone(), vec![0; n]);
        getrf(&rt, lu.view_mut(), &mut ipiv, &Options::default().nb(nb)).expect("no pivot is zero");
        let recording = rt.take_recording().expect("the runtime records");
        for name in ["gemm in panel", "part of gemm"] {
            let parts = recording.tasks.iter().filter(|task| task.name == name).count();
            assert_eq!(parts > 0, workers > 1, "{parts} of {name} with {workers} workers");
        }
        (lu, ipiv)
    });
    assert_pivots(&factors[1].0, &factors[1].1, "a long panel");
    assert_small(residual::lu(&a.wide(), factors[1].0.view(), &factors[1].1), "a long panel");
    assert!(factors[0] == factors[1], "the factors depend on the number of workers");
}

#[test]
fn row_major_matrices() {
    let (n, rt) = (70, runtime());
    let a = Stored::<c64>::random((n, n), 11);
    let mut data: Vec<c64> = (0..n * n).map(|at| a.at(at / n, at % n)).collect();
    let view = MatMut::from_strided(&mut data, (n, n), (n, 1)).expect("the memory is large enough");
    let mut ipiv = vec![0; n];
    getrf(&rt, view, &mut ipiv, &Options::default().nb(16)).expect("no pivot is zero");
    let lu = Stored::new((n, n), |i, j| data[i * n + j]);
    assert_small(residual::lu(&a.wide(), lu.view(), &ipiv), "getrf of rows");
    let b = Stored::<c64>::random((n, 4), 12);
    let mut x: Vec<c64> = (0..n * 4).map(|at| b.at(at / 4, at % 4)).collect();
    let factors = MatRef::from_strided(&data, (n, n), (n, 1)).expect("the memory is large enough");
    let view = MatMut::from_strided(&mut x, (n, 4), (4, 1)).expect("the memory is large enough");
    getrs(&rt, Op::ConjTrans, factors, &ipiv, view, &Options::default().nb(16)).expect("the shapes fit");
    let x = Stored::new((n, 4), |i, j| x[i * 4 + j]);
    assert_small(residual::solve::<f64>(&a.wide().op(Op::ConjTrans), &x.wide(), &b.wide()), "getrs of rows");
}

#[test]
fn invalid_arguments_are_refused() {
    let (rt, o) = (runtime(), Options::default());
    let (a, b) = (Stored::<c64>::random((5, 4), 1), Stored::<c64>::random((4, 2), 2));
    let square = Stored::<c64>::random((4, 4), 3);
    let (mut x, mut y, mut z) = (a.clone(), b.clone(), square.clone());
    assert_refused(getrf(&rt, x.view_mut(), &mut [9; 5], &o), ErrorKind::Shape);
    assert_refused(getrf(&rt, z.view_mut(), &mut [9; 4], &o.nb(0)), ErrorKind::Shape);
    assert_refused(gesv(&rt, x.view_mut(), &mut [9; 4], y.view_mut(), &o), ErrorKind::Shape);
    assert_refused(gesv(&rt, z.view_mut(), &mut [9; 3], y.view_mut(), &o), ErrorKind::Shape);
    assert_refused(getrs(&rt, Op::None, a.view(), &[1, 2, 3, 4], y.view_mut(), &o), ErrorKind::Shape);
    assert_refused(getrs(&rt, Op::None, square.view(), &[1, 2, 3], y.view_mut(), &o), ErrorKind::Shape);
    for wrong in [0, -1, 5] {
        let outcome = getrs(&rt, Op::None, square.view(), &[1, 2, 3, wrong], y.view_mut(), &o);
        assert_refused(outcome, ErrorKind::Argument);
    }
    assert!(x == a && y == b && z == square, "a refusal changes nothing");
}

/// Interchanges are 32-bit integers. A matrix without columns may have any number of rows.
#[test]
fn row_count_overflow_is_refused() {
    let (rt, o) = (runtime(), Options::default());
    let most = i32::MAX as usize;
    let call = |m| {
        let a = MatMut::<f64>::from_col_major(&mut [], m, 0, m).expect("no elements");
        getrf(&rt, a, &mut [], &o)
    };
    assert!(call(most).is_ok());
    assert_refused(call(most + 1), ErrorKind::Shape);
    assert_refused(call(1 << 40), ErrorKind::Shape);
}
