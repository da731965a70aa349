//! Sums of matrices on devices.

use super::{COLUMNS, N, TILES, assert_empties, host, host_bytes, instant, open, random, read};
use superscalar::{
    PolicyName,
    dla::{self, DeviceMatrix, Matrix, Options, Scalar, spawn},
    kernels::{Op, c32, c64},
};

fn geadd_runs_on_devices<T: Scalar>() {
    let (two, half) = (T::from_f64(2.0), T::from_f64(-0.5));
    for (names, layout) in [(instant(&[0], ""), COLUMNS), (instant(&[0], ""), TILES), (instant(&[0, 1], ""), TILES)] {
        // A transpose of block columns has other tiles than B.
        let ops = [Op::None, Op::Trans, Op::ConjTrans].into_iter().take(if layout == TILES { 3 } else { 1 });
        for (op, (alpha, beta)) in ops.flat_map(|op| [(two, half), (T::ONE, T::ONE), (two, T::ZERO)].map(|f| (op, f))) {
            let what = format!("{}geadd {op} {alpha} {beta}, {names}, {layout:?}", T::LETTER);
            let (m, n) = (N, N - 5);
            let (rows, cols) = op.shape((m, n));
            let (a, b) = (random::<T>(rows, cols, 1), random::<T>(m, n, 2));
            let mut expected = b.clone();
            dla::geadd(&host(), op, alpha, a.as_ref(), beta, expected.as_mut(), &Options::default()).expect("geadd");

            let rt = open(&names, None, PolicyName::CapabilityWeights);
            let on = |m: &Matrix<T>| DeviceMatrix::from_host(&rt, m.as_ref(), layout).expect("there is room");
            let (a, mut b) = (on(&a), on(&b));
            let (moved, issued) = (host_bytes(&rt), rt.tasks_issued());
            rt.scope(|s| spawn::geadd(s, op, alpha, &a.lend_ref(s), beta, &b.lend(s))).expect("an ordinary sum");
            assert_eq!(host_bytes(&rt), moved, "{what}: bytes went from or to the host");
            let tiles = m.div_ceil(b.tile_shape().0) * n.div_ceil(b.tile_shape().1);
            let on_devices: u64 = rt.tasks_issued().iter().zip(issued).map(|(after, before)| after - before).sum();
            assert_eq!(on_devices, tiles as u64, "{what}: tasks on devices");
            super::assert_near(read(&rt, &b).as_ref(), expected.as_ref(), &what);
            drop((a, b));
            assert_empties(&rt, &what);
        }
    }
}

#[test]
fn geadd_of_every_type_runs_on_devices() {
    geadd_runs_on_devices::<f32>();
    geadd_runs_on_devices::<f64>();
    geadd_runs_on_devices::<c32>();
    geadd_runs_on_devices::<c64>();
}
