//! Tests matrices that are stored on devices: the next scope finds what the previous one left there, without any
//! transfer from or to the host.

mod sums;

use std::time::{Duration, Instant};
use superscalar::{
    PolicyName, Resource, Runtime, devices,
    dla::{self, BlockSize, DeviceMatrix, Distribution, ErrorKind, Layout, Matrix, Options, Scalar, Tiled, spawn},
    kernels::{Diag, MatRef, Op, Side, Uplo, c32, c64},
};
use superscalar_oracle::{Wide, element};

/// Not a multiple of the block size, so that tiles are ragged.
const N: usize = 45;
const NB: usize = 8;
const TILES: Layout = Layout::tiles(BlockSize::Fixed(NB));
const COLUMNS: Layout = Layout::columns(BlockSize::Fixed(NB));

fn random<T: Scalar>(m: usize, n: usize, seed: u64) -> Matrix<T> {
    Matrix::from_fn(m, n, |i, j| element(seed, i, j))
}

/// A Hermitian matrix with a dominant diagonal.
fn definite<T: Scalar>(n: usize) -> Matrix<T> {
    let a = random::<T>(n, n, 9);
    Matrix::from_fn(n, n, |i, j| match i.cmp(&j) {
        std::cmp::Ordering::Equal => T::from_f64(n as f64),
        std::cmp::Ordering::Greater => a.at(i, j),
        std::cmp::Ordering::Less => a.at(j, i).conj(),
    })
}

/// Returns the names of simulated devices without simulated time. They are peers of each other, unless `settings` says
/// otherwise.
fn instant(numbers: &[u16], settings: &str) -> String {
    let name = |number: &u16| format!("sim:{number}:flops=0:rate=0:latency=0:link=0:link-latency=0{settings}");
    numbers.iter().map(name).collect::<Vec<_>>().join(",")
}

fn open(names: &str, memory_bytes: Option<usize>, policy: PolicyName) -> Runtime {
    let builder = Runtime::builder().workers(2).bind(false).policy(policy).weights_file(None);
    let opened = devices::open(names, memory_bytes).expect("simulated devices are there");
    opened.add_to(builder).build().expect("threads can be started")
}

fn host() -> Runtime {
    Runtime::builder().workers(2).bind(false).build().expect("threads can be started")
}

/// Returns the bytes copied from and to the host so far.
fn host_bytes(rt: &Runtime) -> u64 {
    let traffic = rt.traffic();
    traffic.iter().filter(|link| link.from == "host" || link.to == "host").map(|link| link.bytes).sum()
}

fn is_empty(rt: &Runtime) -> bool {
    rt.memory_in_use().iter().all(|it| (it.bytes, it.replicas, it.pins) == (0, 0, 0))
}

/// Waits until nothing is on a device: dropped data are freed when no copy uses them.
fn assert_empties(rt: &Runtime, what: &str) {
    let deadline = Instant::now() + Duration::from_secs(10);
    while !is_empty(rt) {
        assert!(Instant::now() < deadline, "{what}: {:?}", rt.memory_in_use());
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn read<T: Scalar>(rt: &Runtime, a: &DeviceMatrix<T>) -> Matrix<T> {
    let mut copy = Matrix::from_fn(a.nrows(), a.ncols(), |_, _| T::from_f64(f64::NAN));
    a.download(rt, copy.as_mut()).expect("nothing is lost");
    copy
}

/// Checks that two matrices are equal up to rounding.
fn assert_near<T: Scalar>(found: MatRef<'_, T>, expected: MatRef<'_, T>, what: &str) {
    let tolerance = if size_of::<T::Real>() == 4 { 7e-4 } else { 7e-10 };
    let error = Wide::of(found).minus(&Wide::of(expected)).norm_max();
    assert!(error <= tolerance, "{what}: differs by {error:.1e}");
}

/// Runs potrf, and then potrs in a separate scope, on matrices on devices. Returns the bytes moved, the factor and the
/// solution.
fn factor_and_solve<T: Scalar>(rt: &Runtime, layout: Layout, uplo: Uplo, n: usize) -> (u64, Matrix<T>, Matrix<T>) {
    let (a, b) = (definite::<T>(n), random::<T>(n, 11, 4));
    let mut a = DeviceMatrix::from_host(rt, a.as_ref(), layout).expect("there is room");
    let mut b = DeviceMatrix::from_host(rt, b.as_ref(), layout).expect("there is room");
    let before = host_bytes(rt);
    rt.scope(|s| spawn::potrf(s, uplo, &a.lend(s))).expect("it is positive definite");
    rt.scope(|s| spawn::potrs(s, uplo, &a.lend_ref(s), &b.lend(s))).expect("it is regular");
    let moved = host_bytes(rt) - before;
    (moved, read(rt, &a), read(rt, &b))
}

fn expected<T: Scalar>(uplo: Uplo, n: usize) -> (Matrix<T>, Matrix<T>) {
    let (rt, options, mut a, mut b) = (host(), Options::default().nb(NB), definite::<T>(n), random::<T>(n, 11, 4));
    dla::potrf(&rt, uplo, a.as_mut(), &options).expect("it is positive definite");
    dla::potrs(&rt, uplo, a.as_ref(), b.as_mut(), &options).expect("it is regular");
    (a, b)
}

fn potrf_and_potrs_stay_on_devices<T: Scalar>() {
    for uplo in [Uplo::Lower, Uplo::Upper] {
        let (factor, solution) = expected::<T>(uplo, N);
        for policy in [PolicyName::CapabilityWeights, PolicyName::DemandDriven] {
            for (names, layout) in [
                (instant(&[0], ""), TILES),
                (instant(&[0, 1], ""), TILES),
                (instant(&[0, 1], ""), TILES.on(1)),
                (instant(&[0, 1], ""), COLUMNS),
                (instant(&[0, 1], ""), COLUMNS.distributed(Distribution::Guided)),
                (instant(&[0, 1], ""), TILES.distributed(Distribution::None)),
            ] {
                let rt = open(&names, None, policy);
                let what = format!("{}potrf {uplo:?}, {names}, {layout:?}, {policy}", T::LETTER);
                let (moved, a, b) = factor_and_solve::<T>(&rt, layout, uplo, N);
                assert_near(a.as_ref(), factor.as_ref(), &what);
                assert_near(b.as_ref(), solution.as_ref(), &what);
                // A panel of block columns may be assigned to the host, from where both devices fetch it.
                let panels = if layout == TILES || layout == TILES.on(1) { 0 } else { 3 * N * N * size_of::<T>() };
                assert!(moved <= panels as u64, "{what}: {moved} bytes went from or to the host");
                assert_empties(&rt, &what);
            }
        }
    }
}

#[test]
fn potrf_and_potrs_stay_on_devices_s() {
    potrf_and_potrs_stay_on_devices::<f32>();
}

#[test]
fn potrf_and_potrs_stay_on_devices_d() {
    potrf_and_potrs_stay_on_devices::<f64>();
}

#[test]
fn potrf_and_potrs_stay_on_devices_c() {
    potrf_and_potrs_stay_on_devices::<c32>();
}

#[test]
fn potrf_and_potrs_stay_on_devices_z() {
    potrf_and_potrs_stay_on_devices::<c64>();
}

#[test]
fn small_and_empty_matrices() {
    let rt = open(&instant(&[0, 1], ""), None, PolicyName::CapabilityWeights);
    for n in [0, 1, NB - 1, NB, NB + 1] {
        for layout in [TILES, COLUMNS] {
            let (factor, solution) = expected::<f64>(Uplo::Lower, n);
            let (moved, a, b) = factor_and_solve::<f64>(&rt, layout, Uplo::Lower, n);
            assert_near(a.as_ref(), factor.as_ref(), "the factor");
            assert_near(b.as_ref(), solution.as_ref(), "the solution");
            let panels = if layout == TILES { 0 } else { 3 * n * n * 8 };
            assert!(moved <= panels as u64, "order {n}: {moved} bytes");
        }
    }
    assert_empties(&rt, "matrices of all sizes");
}

#[test]
fn tiles_are_at_their_homes() {
    let rt = open(&instant(&[0, 1], ""), None, PolicyName::CapabilityWeights);
    let a = random::<f64>(N, N, 1);
    for layout in [TILES, TILES.on(1), COLUMNS, TILES.distributed(Distribution::Guided)] {
        let on = DeviceMatrix::from_host(&rt, a.as_ref(), layout).expect("there is room");
        let (mb, nb) = on.tile_shape();
        for (i, j) in (0..N.div_ceil(nb)).flat_map(|j| (0..N.div_ceil(mb)).map(move |i| (i, j))) {
            assert_eq!(on.holders(i, j), [on.home(i, j).expect("it was dealt")], "{layout:?} ({i}, {j})");
        }
        let on_each = [on.bytes_on(0), on.bytes_on(1)];
        assert_eq!(on_each.iter().sum::<usize>(), N * N * 8, "{layout:?}");
        assert_eq!(on_each[0] == 0, layout == TILES.on(1), "{layout:?}");
        assert_eq!(read(&rt, &on), a);
    }
}

#[test]
fn level_3_blas_stays_on_devices() {
    let (one, half, plain) = (c64::ONE, c64::new(0.5, 0.0), Options::default().nb(NB));
    let (a, b, c, d) = (random::<c64>(N, N, 1), random::<c64>(N, N, 2), random::<c64>(N, N, 3), definite::<c64>(N));
    let mut x = [c.clone(), c.clone(), c.clone(), c.clone(), c.clone(), c.clone(), c.clone()];
    let (h, (n, t)) = (host(), (Op::None, Op::ConjTrans));
    dla::gemm(&h, half, t, a.as_ref(), n, b.as_ref(), half, x[0].as_mut(), &plain).expect("gemm");
    dla::herk(&h, Uplo::Lower, n, 0.5, a.as_ref(), 0.5, x[1].as_mut(), &plain).expect("herk");
    dla::her2k(&h, Uplo::Upper, n, half, a.as_ref(), b.as_ref(), 0.5, x[2].as_mut(), &plain).expect("her2k");
    dla::hemm(&h, Side::Left, Uplo::Lower, half, a.as_ref(), b.as_ref(), half, x[3].as_mut(), &plain).expect("hemm");
    dla::trmm(&h, Side::Left, Uplo::Upper, n, Diag::NonUnit, half, a.as_ref(), x[4].as_mut(), &plain).expect("trmm");
    dla::trsm(&h, Side::Right, Uplo::Lower, t, Diag::NonUnit, one, d.as_ref(), x[5].as_mut(), &plain).expect("trsm");
    dla::gemmt(&h, Uplo::Lower, half, n, a.as_ref(), t, b.as_ref(), half, x[6].as_mut(), &plain).expect("gemmt");

    let rt = open(&instant(&[0, 1], ""), None, PolicyName::CapabilityWeights);
    let on = |m: &Matrix<c64>| DeviceMatrix::from_host(&rt, m.as_ref(), TILES).expect("there is room");
    let (a, b, d) = (on(&a), on(&b), on(&d));
    let mut y = [on(&c), on(&c), on(&c), on(&c), on(&c), on(&c), on(&c)];
    let before = host_bytes(&rt);
    rt.scope(|s| {
        let (a, b, d) = (a.lend_ref(s), b.lend_ref(s), d.lend_ref(s));
        let [gemm, herk, her2k, hemm, trmm, trsm, gemmt] = y.each_mut().map(|y| y.lend(s));
        spawn::gemm(s, half, t, &a, n, &b, half, &gemm);
        spawn::herk(s, Uplo::Lower, n, 0.5, &a, 0.5, &herk);
        spawn::her2k(s, Uplo::Upper, n, half, &a, &b, 0.5, &her2k);
        spawn::hemm(s, Side::Left, Uplo::Lower, half, &a, &b, half, &hemm);
        spawn::trmm(s, Side::Left, Uplo::Upper, n, Diag::NonUnit, half, &a, &trmm);
        spawn::trsm(s, Side::Right, Uplo::Lower, t, Diag::NonUnit, one, &d, &trsm);
        spawn::gemmt(s, Uplo::Lower, half, n, &a, t, &b, half, &gemmt);
    })
    .expect("all are ordinary");
    assert_eq!(host_bytes(&rt), before, "bytes went from or to the host");
    for (at, (y, x)) in y.iter().zip(&x).enumerate() {
        assert_near(read(&rt, y).as_ref(), x.as_ref(), ["gemm", "herk", "her2k", "hemm", "trmm", "trsm", "gemmt"][at]);
    }
}

fn lu_and_qr_stay_on_devices<T: Scalar>(names: &str) {
    let (a, b, h) = (random::<T>(N, N, 5), random::<T>(N, 11, 4), host());
    let (plain, [mut lu, mut qr]) = (Options::default().nb(NB), [a.clone(), a.clone()]);
    let [mut x, mut y] = [b.clone(), b.clone()];
    let (mut ipiv, mut tau) = (vec![0; N], vec![T::ZERO; N]);
    dla::getrf(&h, lu.as_mut(), &mut ipiv, &plain).expect("regular");
    dla::getrs(&h, Op::ConjTrans, lu.as_ref(), &ipiv, x.as_mut(), &plain).expect("regular");
    dla::geqrf(&h, qr.as_mut(), &mut tau, &plain).expect("any matrix");
    dla::unmqr(&h, Side::Left, Op::ConjTrans, qr.as_ref(), &tau, y.as_mut(), &plain).expect("any matrix");

    let rt = open(names, None, PolicyName::CapabilityWeights);
    let on = |m: &Matrix<T>| DeviceMatrix::from_host(&rt, m.as_ref(), COLUMNS).expect("there is room");
    let ([mut lu_on, mut qr_on], [mut x_on, mut y_on]) = ([on(&a), on(&a)], [on(&b), on(&b)]);
    let (mut ipiv_on, mut tau_on, before) = (vec![0; N], vec![T::ZERO; N], host_bytes(&rt));
    rt.scope(|s| drop(spawn::getrf(s, &lu_on.lend(s), &mut ipiv_on))).expect("regular");
    rt.scope(|s| drop(spawn::geqrf(s, &qr_on.lend(s), &mut tau_on))).expect("any matrix");
    let factored = host_bytes(&rt) - before;
    // Panels that the host factors are copied there and back; otherwise only interchanges, diagonals and triangular
    // factors are copied.
    let (panels, small) = (2 * 3 * N * N * size_of::<T>(), 16 * N * NB * size_of::<T>());
    assert!(factored <= (panels + small) as u64, "{names}: {factored} bytes for the factorizations");
    assert_eq!(ipiv_on, ipiv, "{names}");
    assert_near(read(&rt, &lu_on).as_ref(), lu.as_ref(), names);
    assert_near(read(&rt, &qr_on).as_ref(), qr.as_ref(), names);

    let before = host_bytes(&rt);
    rt.scope(|s| {
        let pivots = spawn::pivots(s, &mut ipiv_on, NB);
        spawn::getrs(s, Op::ConjTrans, &lu_on.lend_ref(s), &pivots, &x_on.lend(s));
    })
    .expect("regular");
    let solved = host_bytes(&rt) - before;
    assert!(solved <= small as u64, "{names}: {solved} bytes for a solve");
    rt.scope(|s| {
        let qr = qr_on.lend_ref(s);
        let q = spawn::reflectors(s, &qr, &mut tau_on);
        spawn::unmqr(s, Side::Left, Op::ConjTrans, &qr, &q, &y_on.lend(s));
    })
    .expect("any matrix");
    assert_near(read(&rt, &x_on).as_ref(), x.as_ref(), names);
    assert_near(read(&rt, &y_on).as_ref(), y.as_ref(), names);
    drop((lu_on, qr_on, x_on, y_on));
    assert_empties(&rt, names);
}

#[test]
fn lu_and_qr_of_every_type_stay_on_devices() {
    for names in [instant(&[0], ""), instant(&[0, 1], "")] {
        lu_and_qr_stay_on_devices::<f32>(&names);
        lu_and_qr_stay_on_devices::<f64>(&names);
        lu_and_qr_stay_on_devices::<c32>(&names);
        lu_and_qr_stay_on_devices::<c64>(&names);
    }
}

#[test]
fn singular_matrix_gives_info() {
    let rt = open(&instant(&[0, 1], ""), None, PolicyName::CapabilityWeights);
    let (mut a, mut ipiv) = (random::<f64>(N, N, 5), vec![0; N]);
    a.as_mut().submatrix(0..N, 20..21).fill(0.0);
    let (mut lu, plain) = (a.clone(), Options::default().nb(NB));
    dla::getrf(&host(), lu.as_mut(), &mut ipiv, &plain).expect_err("singular");
    let mut on = DeviceMatrix::from_host(&rt, a.as_ref(), COLUMNS).expect("there is room");
    let mut x = DeviceMatrix::from_host(&rt, a.as_ref(), COLUMNS).expect("there is room");
    for op in [Op::None, Op::Trans] {
        let solved = rt.scope(|s| {
            let a = on.lend(s);
            let pivots = spawn::getrf(s, &a, &mut ipiv);
            spawn::getrs(s, op, &a, &pivots, &x.lend(s));
        });
        let error: dla::Error = solved.expect_err("singular").into();
        assert_eq!((error.kind(), error.info()), (ErrorKind::Singular, Some(21)));
        // The factors are complete nevertheless.
        assert_near(read(&rt, &on).as_ref(), lu.as_ref(), "the factors of a singular matrix");
        on.upload(&rt, a.as_ref()).expect("there is room");
        x.upload(&rt, a.as_ref()).expect("there is room");
    }
}

#[test]
fn overwritten_zeros_are_never_moved() {
    let rt = open(&instant(&[0], ""), None, PolicyName::CapabilityWeights);
    let a = random::<f64>(N, N, 1);
    let on = DeviceMatrix::from_host(&rt, a.as_ref(), TILES).expect("there is room");
    // Each tile was copied to the device once.
    assert_eq!(host_bytes(&rt), (N * N * 8) as u64);
    let mut c = DeviceMatrix::zeros(&rt, (N, N), TILES).expect("there is room");
    rt.scope(|s| spawn::gemm(s, 1.0, Op::None, &on.lend_ref(s), Op::None, &on.lend_ref(s), 0.0, &c.lend(s)))
        .expect("an ordinary product");
    assert_eq!(host_bytes(&rt), (N * N * 8) as u64, "a result that is overwritten");
    // If they are read, they are zeros.
    let zeros = DeviceMatrix::<f64>::zeros(&rt, (N, 3), TILES).expect("there is room");
    assert_eq!(read(&rt, &zeros), Matrix::zeros(N, 3));
}

#[test]
fn matrix_larger_than_device_memory() {
    let (factor, solution) = expected::<f64>(Uplo::Lower, N);
    for policy in [PolicyName::CapabilityWeights, PolicyName::DemandDriven] {
        for names in [instant(&[0], ""), instant(&[0, 1], "")] {
            // Memory for eight of thirty-six tiles.
            let rt = open(&names, Some(8 * NB * NB * 8), policy);
            let (moved, a, b) = factor_and_solve::<f64>(&rt, TILES, Uplo::Lower, N);
            assert_near(a.as_ref(), factor.as_ref(), &names);
            assert_near(b.as_ref(), solution.as_ref(), &names);
            assert!(moved > 0 && rt.memory_in_use().iter().any(|it| it.evicted.0 > 0), "{names}: it had room");
            assert_empties(&rt, &names);
        }
    }
}

#[test]
fn dropped_matrices_leave_nothing() {
    let rt = open(&instant(&[0, 1], ""), None, PolicyName::CapabilityWeights);
    let (a, b) = (random::<f64>(N, N, 1), random::<f64>(N, N, 2));
    for layout in [TILES, COLUMNS] {
        let mut on = DeviceMatrix::from_host(&rt, a.as_ref(), layout).expect("there is room");
        assert!(!is_empty(&rt));
        // It is dropped after a change, and is never copied to the host.
        let other = DeviceMatrix::from_host(&rt, b.as_ref(), layout).expect("there is room");
        let before = host_bytes(&rt);
        rt.scope(|s| spawn::copy(s, &other.lend_ref(s), &on.lend(s))).expect("a copy on devices");
        assert_eq!(read(&rt, &on), b);
        let downloaded = (N * N * 8) as u64;
        drop((on, other));
        assert_eq!(host_bytes(&rt), before + downloaded, "a drop moves nothing");
        assert_empties(&rt, "after a drop");
    }
    // Drop it after its runtime.
    let on = DeviceMatrix::from_host(&rt, a.as_ref(), TILES).expect("there is room");
    drop(rt);
    drop(on);
}

#[test]
fn invalid_matrices_are_refused() {
    let kind = |error: dla::Error| (error.kind(), error.to_string());
    let none = host();
    let (what, why) = kind(DeviceMatrix::<f64>::zeros(&none, (N, N), TILES).map(drop).expect_err("no device"));
    assert!(what == ErrorKind::Argument && why.contains("none"), "{why}");
    let rt = open(&instant(&[0], ""), None, PolicyName::CapabilityWeights);
    let (what, why) = kind(DeviceMatrix::<f64>::zeros(&rt, (N, N), TILES.on(1)).map(drop).expect_err("one device"));
    assert!(what == ErrorKind::Argument && why.contains("device 1"), "{why}");
    let zero = Layout::tiles(BlockSize::Fixed(0));
    let (what, _) = kind(DeviceMatrix::<f64>::zeros(&rt, (N, N), zero).map(drop).expect_err("no tiles"));
    assert_eq!(what, ErrorKind::Shape);
    // m n overflows, the number of bytes overflows, or there is not enough memory; in one tile, and in more tiles than
    // a list can hold.
    for (m, n) in [(1 << 40, 1 << 40), (1 << 33, 1 << 31), (1 << 30, 1 << 30), (1 << 26, 1 << 26)] {
        let single = Layout::rectangles(usize::MAX, usize::MAX);
        for layout in [single, Layout::rectangles(1, 1), TILES, COLUMNS, Layout::columns(BlockSize::Auto)] {
            let huge = DeviceMatrix::<f64>::zeros(&rt, (m, n), layout);
            let (what, why) = kind(huge.map(drop).expect_err("no such memory"));
            let bytes = format!("takes {} bytes", 8 * m as u128 * n as u128);
            assert!(what == ErrorKind::Memory && why.contains(&bytes), "{why}");
        }
    }

    let mut on = DeviceMatrix::<f64>::zeros(&rt, (N, N), TILES).expect("there is room");
    let (what, _) = kind(on.upload(&rt, Matrix::zeros(N, N - 1).as_ref()).expect_err("another shape"));
    assert_eq!(what, ErrorKind::Shape);
    let other = open(&instant(&[0], ""), None, PolicyName::CapabilityWeights);
    let (what, why) = kind(on.download(&other, Matrix::zeros(N, N).as_mut()).expect_err("another runtime"));
    assert!(what == ErrorKind::Argument && why.contains("another runtime"), "{why}");
}

#[test]
fn scope_of_another_runtime_is_cancelled() {
    let [rt, other] = [0, 0].map(|number| open(&instant(&[number], ""), None, PolicyName::CapabilityWeights));
    let mut on = DeviceMatrix::<f64>::zeros(&rt, (N, N), TILES).expect("there is room");
    let error = other.scope(|s| spawn::potrf(s, Uplo::Lower, &on.lend(s))).expect_err("its runtime is another");
    assert!(error.to_string().contains("a resident value of another runtime"), "{error}");
}

#[test]
fn host_matrices_of_every_stride() {
    let rt = open(&instant(&[0], ""), None, PolicyName::CapabilityWeights);
    let large = random::<f64>(2 * N, 2 * N, 1);
    let views = [large.as_ref(), large.as_ref().transpose()].map(|view| view.submatrix(3..N + 3, 1..N + 1));
    for view in views {
        let on = DeviceMatrix::from_host(&rt, view, TILES).expect("there is room");
        let mut back = Matrix::zeros(2 * N, 2 * N);
        on.download(&rt, back.as_mut().submatrix(1..N + 1, 2..N + 2)).expect("nothing is lost");
        assert_eq!(back.as_ref().submatrix(1..N + 1, 2..N + 2).to_vec(), view.to_vec());
        on.download(&rt, back.as_mut().transpose().submatrix(1..N + 1, 2..N + 2)).expect("nothing is lost");
        assert_eq!(back.as_ref().transpose().submatrix(1..N + 1, 2..N + 2).to_vec(), view.to_vec());
    }
}

#[test]
fn scopes_of_several_threads_read_one_matrix() {
    let rt = open(&instant(&[0, 1], ""), Some(12 * NB * NB * 8), PolicyName::CapabilityWeights);
    let (a, h) = (random::<f64>(N, N, 1), host());
    let on = DeviceMatrix::from_host(&rt, a.as_ref(), TILES).expect("there is room");
    let mut square = Matrix::zeros(N, N);
    let (n, plain) = (Op::None, Options::default().nb(NB));
    dla::gemm(&h, 1.0, n, a.as_ref(), n, a.as_ref(), 0.0, square.as_mut(), &plain).expect("gemm");
    std::thread::scope(|threads| {
        for _ in 0..3 {
            threads.spawn(|| {
                for _ in 0..5 {
                    let mut c = DeviceMatrix::zeros(&rt, (N, N), TILES).expect("there is room");
                    let product = rt.scope(|s| {
                        let a = on.lend_ref(s);
                        spawn::gemm(s, 1.0, n, &a, n, &a, 0.0, &c.lend(s));
                    });
                    product.expect("an ordinary product");
                    assert_near(read(&rt, &c).as_ref(), square.as_ref(), "the square");
                }
            });
        }
    });
    assert_eq!(read(&rt, &on), a);
    drop(on);
    assert_empties(&rt, "three threads");
}

#[test]
fn lost_device_loses_only_its_tiles() {
    // The third kernel after the thirty-six copies of the uploads.
    let names = format!("{},{}", instant(&[0], ":peer=none"), instant(&[1], ":peer=none:fault=kernel@21!"));
    let rt = open(&names, None, PolicyName::CapabilityWeights);
    let a = definite::<f64>(N);
    let mut on = DeviceMatrix::from_host(&rt, a.as_ref(), TILES).expect("there is room");
    let failed: dla::Error =
        rt.scope(|s| spawn::potrf(s, Uplo::Lower, &on.lend(s))).expect_err("a device is lost").into();
    assert_eq!(failed.kind(), ErrorKind::Device);
    let mt = N.div_ceil(NB);
    let places = || (0..mt).flat_map(|j| (0..mt).map(move |i| (i, j)));
    let lost = |on: &DeviceMatrix<f64>| places().filter(|&(i, j)| on.holders(i, j).is_empty()).count();
    assert!(lost(&on) > 0, "nothing was lost");
    assert!(lost(&on) < mt * mt, "everything was lost");
    let error = on.download(&rt, Matrix::zeros(N, N).as_mut()).expect_err("tiles are lost");
    assert!(error.to_string().contains("lost"), "{error}");
    // After an upload it is complete again, on the remaining device.
    on.upload(&rt, a.as_ref()).expect("one device is left");
    assert_eq!(lost(&on), 0);
    assert_eq!(read(&rt, &on), a);
    assert!(places().all(|(i, j)| !on.holders(i, j).contains(&Resource::device(1))));
    drop(on);
    assert_empties(&rt, "a lost device");
}

#[test]
fn indefinite_matrix_has_partial_factor() {
    let rt = open(&instant(&[0], ""), None, PolicyName::CapabilityWeights);
    let mut a = definite::<f64>(N);
    a.as_mut()[(20, 20)] = -1.0;
    let mut on = DeviceMatrix::from_host(&rt, a.as_ref(), TILES).expect("there is room");
    let error: dla::Error = rt.scope(|s| spawn::potrf(s, Uplo::Lower, &on.lend(s))).expect_err("not definite").into();
    assert_eq!((error.kind(), error.info()), (ErrorKind::NotPositiveDefinite, Some(21)));
    // The tile columns before the tile whose factorization failed.
    let mut factor = a.clone();
    dla::potrf(&host(), Uplo::Lower, factor.as_mut(), &Options::default().nb(NB)).expect_err("not definite");
    let (found, whole) = (read(&rt, &on), 0..2 * NB);
    assert_near(found.as_ref().submatrix(0..N, whole.clone()), factor.as_ref().submatrix(0..N, whole), "before it");
    on.upload(&rt, definite::<f64>(N).as_ref()).expect("there is room");
    rt.scope(|s| spawn::potrf(s, Uplo::Lower, &on.lend(s))).expect("positive definite");
    assert_near(read(&rt, &on).as_ref(), expected::<f64>(Uplo::Lower, N).0.as_ref(), "the second attempt");
}

#[test]
fn exchanged_tiles_keep_their_places() {
    let rt = open(&instant(&[0], ""), None, PolicyName::CapabilityWeights);
    let (a, mut other) = (random::<f64>(NB, NB, 1), random::<f64>(NB, NB, 2));
    let (before, mut on) = (other.clone(), DeviceMatrix::from_host(&rt, a.as_ref(), TILES).expect("there is room"));
    rt.scope(|s| {
        let (a, b) = (on.lend(s), Tiled::new(s, other.as_mut(), NB, NB));
        s.spawn("exchange", (a.at(0, 0).read_write(), b.at(0, 0).read_write()), |(a, b)| std::mem::swap(a, b));
        // Each tile now contains the other's memory, which is not given to devices.
        spawn::gemm(s, 0.0, Op::None, &a, Op::None, &a, 2.0, &a);
        spawn::gemm(s, 0.0, Op::None, &b, Op::None, &b, 4.0, &b);
    })
    .expect("the host runs it");
    let times = |factor: f64, m: &Matrix<f64>| Matrix::from_fn(NB, NB, |i, j| factor * m.at(i, j));
    assert_eq!(other, times(2.0, &before));
    assert_eq!(read(&rt, &on), times(4.0, &a));
}
