//! Tests batches on devices with their own memory: simulated ones without simulated time. The results are those of the
//! host for every policy, kind of batch and memory size; a lost device loses nothing; nothing is left on a device. A
//! batch may have a million problems.

#[cfg(feature = "opencl")]
mod opencl;

#[cfg(feature = "opencl")]
use opencl::has_opencl;
use std::time::{Duration, Instant};
use superscalar::{
    PolicyName, Resource, Runtime, devices,
    dla::{
        self, BatchMut, BatchRef, ErrorKind, Op, Options, Side, Uplo,
        batch::{self, ChunkedInfo, Chunks, DeviceBatch},
    },
    kernels::{Diag, MatMut, MatRef, c32, cpu},
};
use superscalar_oracle::{element, largest, roundoffs};

const COUNT: usize = 60;

/// Returns the names of simulated devices without simulated time.
fn instant(number: u16, settings: &str) -> String {
    format!("sim:{number}:flops=0:rate=0:latency=0:link=0:link-latency=0{settings}")
}

fn open(names: &str, memory_bytes: Option<usize>, policy: PolicyName) -> Runtime {
    let builder = Runtime::builder().workers(2).bind(false).policy(policy).weights_file(None);
    let opened = devices::open(names, memory_bytes).expect("simulated devices are there");
    opened.add_to(builder).build().expect("threads can be started")
}

fn host() -> Runtime {
    Runtime::builder().workers(2).bind(false).build().expect("threads can be started")
}

/// Waits until nothing is left on a device.
fn assert_empty(rt: &Runtime, what: &str) {
    let deadline = Instant::now() + Duration::from_secs(10);
    while rt.memory_in_use().iter().any(|it| (it.bytes, it.replicas, it.pins) != (0, 0, 0)) {
        assert!(Instant::now() < deadline, "{what}: {:?}", rt.memory_in_use());
        std::thread::sleep(Duration::from_millis(1));
    }
}

type Shapes = Vec<(usize, usize)>;

/// The shapes of A and B in each problem: of one order, or of several.
fn shapes(is_uniform: bool) -> (Shapes, Shapes) {
    let order = |p: usize| if is_uniform { 6 } else { [1, 9, 4, 0, 17, 4][p % 6] };
    ((0..COUNT).map(|p| (order(p), order(p))).collect(), (0..COUNT).map(|p| (order(p), 2)).collect())
}

/// Returns the elements of matrices with a dominant diagonal, one behind the other.
fn systems<T: dla::Scalar>(shapes: &[(usize, usize)]) -> Vec<T> {
    let one = |(p, &(m, n)): (usize, &(usize, usize))| {
        let at = move |i, j| {
            let x = element::<T>(p as u64, usize::max(i, j), usize::min(i, j));
            if i == j {
                T::from_f64(m as f64 + 1.0)
            } else if i > j {
                x
            } else {
                x.conj()
            }
        };
        (0..n).flat_map(move |j| (0..m).map(move |i| at(i, j))).collect::<Vec<T>>()
    };
    shapes.iter().enumerate().flat_map(one).collect()
}

fn view_mut<'a, T>(data: &'a mut [T], shapes: &[(usize, usize)], is_uniform: bool) -> BatchMut<'a, T> {
    let batch = if is_uniform { BatchMut::packed(data, shapes[0]) } else { BatchMut::shaped(data, shapes) };
    batch.expect("the shapes fill the slice")
}

fn view<'a, T>(data: &'a [T], shapes: &[(usize, usize)], is_uniform: bool) -> BatchRef<'a, T> {
    let batch = if is_uniform { BatchRef::packed(data, shapes[0]) } else { BatchRef::shaped(data, shapes) };
    batch.expect("the shapes fill the slice")
}

/// Runs every routine, and returns what they compute, with the outcomes of those that may fail.
fn every_routine<T: dla::Scalar>(rt: &Runtime, is_uniform: bool) -> Result<(Vec<Vec<T>>, Vec<i32>), dla::Error> {
    let options = Options::default().nb(7);
    let (square, sides) = shapes(is_uniform);
    let columns: Vec<_> = square.iter().map(|&(n, _)| (n, 1)).collect();
    let shorter: Vec<_> = square.iter().map(|&(n, _)| (n.saturating_sub(1), 1)).collect();
    let (a, b) = (systems::<T>(&square), systems::<T>(&sides));
    let total = columns.iter().map(|shape| shape.0).sum();
    let (mut results, mut numbers) = (Vec::new(), Vec::new());

    let mut c = a.clone();
    let (x, y) = (view(&a, &square, is_uniform), view(&a, &square, is_uniform));
    batch::gemm(rt, T::ONE, Op::ConjTrans, x, Op::None, y, T::ONE, view_mut(&mut c, &square, is_uniform), &options)?;
    results.push(c);
    let mut x = b.clone();
    let (l, sided) = (view(&a, &square, is_uniform), view_mut(&mut x, &sides, is_uniform));
    batch::trsm(rt, Side::Left, Uplo::Upper, Op::None, Diag::NonUnit, T::ONE, l, sided, &options)?;
    results.push(x);

    let (mut l, mut x) = (a.clone(), b.clone());
    let (system, sided) = (view_mut(&mut l, &square, is_uniform), view_mut(&mut x, &sides, is_uniform));
    numbers.extend(batch::posv(rt, Uplo::Lower, system, sided, &options)?.into_info());
    results.extend([l.clone(), x]);
    let mut x = b.clone();
    let (factor, sided) = (view(&l, &square, is_uniform), view_mut(&mut x, &sides, is_uniform));
    batch::potrs(rt, Uplo::Lower, factor, sided, &options)?;
    results.push(x);

    let (mut lu, mut x, mut ipiv) = (a.clone(), b.clone(), vec![0; total]);
    let pivots = view_mut(&mut ipiv, &columns, is_uniform);
    numbers.extend(batch::getrf(rt, view_mut(&mut lu, &square, is_uniform), pivots, &options)?.into_info());
    let (factor, pivots) = (view(&lu, &square, is_uniform), view(&ipiv, &columns, is_uniform));
    batch::getrs(rt, Op::Trans, factor, pivots, view_mut(&mut x, &sides, is_uniform), &options)?;
    numbers.extend(&ipiv);
    results.extend([lu, x]);
    let (mut lu, mut x) = (a.clone(), b.clone());
    let (system, pivots) = (view_mut(&mut lu, &square, is_uniform), view_mut(&mut ipiv, &columns, is_uniform));
    let solved = batch::gesv(rt, system, pivots, view_mut(&mut x, &sides, is_uniform), &options)?;
    numbers.extend(solved.into_info().into_iter().chain(ipiv));
    results.extend([lu, x]);
    let (mut qr, mut x) = (a.clone(), b.clone());
    let (system, sided) = (view_mut(&mut qr, &square, is_uniform), view_mut(&mut x, &sides, is_uniform));
    numbers.extend(batch::gels(rt, system, sided, &options)?.into_info());
    results.extend([qr, x]);

    let (mut qr, mut tau, mut c) = (a.clone(), vec![T::ZERO; total], a.clone());
    let scalars = view_mut(&mut tau, &columns, is_uniform);
    batch::geqrf(rt, view_mut(&mut qr, &square, is_uniform), scalars, &options)?;
    let (v, scalars) = (view(&qr, &square, is_uniform), view(&tau, &columns, is_uniform));
    batch::unmqr(rt, Op::ConjTrans, v, scalars.clone(), view_mut(&mut c, &square, is_uniform), &options)?;
    let mut q = qr.clone();
    batch::ungqr(rt, view_mut(&mut q, &square, is_uniform), scalars, &options)?;
    results.extend([qr, c, q]);

    let (mut reduced, mut tauq, mut taup) = (a, tau.clone(), tau);
    let (mut d, mut e) = (vec![T::Real::default(); total], vec![T::Real::default(); shorter.iter().map(|k| k.0).sum()]);
    batch::gebrd(
        rt,
        view_mut(&mut reduced, &square, is_uniform),
        view_mut(&mut d, &columns, is_uniform),
        view_mut(&mut e, &shorter, is_uniform),
        view_mut(&mut tauq, &columns, is_uniform),
        view_mut(&mut taup, &columns, is_uniform),
        &options,
    )?;
    let real = |x: Vec<T::Real>| x.into_iter().map(T::from_real).collect();
    results.extend([reduced, tauq, taup, real(d), real(e)]);
    Ok((results, numbers))
}

fn assert_same<T: dla::Scalar>(found: &(Vec<Vec<T>>, Vec<i32>), expected: &(Vec<Vec<T>>, Vec<i32>), what: &str) {
    assert_eq!(found.1, expected.1, "{what}");
    assert_eq!(found.0.len(), expected.0.len(), "{what}");
    for (at, (found, expected)) in found.0.iter().zip(&expected.0).enumerate() {
        assert!(roundoffs(found, expected) < 1e4, "{what}, result {at}");
    }
}

#[test]
fn devices_compute_what_the_host_computes() {
    let host = host();
    for is_uniform in [true, false] {
        let expected = every_routine::<f64>(&host, is_uniform).expect("the problems are regular");
        let expected_complex = every_routine::<c32>(&host, is_uniform).expect("the problems are regular");
        for policy in PolicyName::ALL {
            for (names, memory) in [
                (instant(0, ""), None),
                (format!("cpu,{},{}", instant(0, ""), instant(1, "")), None),
                (instant(0, ""), Some(32 << 10)),
            ] {
                let rt = open(&names, memory, policy);
                let what = format!("{names}, {policy}, memory {memory:?}, one shape: {is_uniform}");
                let found = every_routine::<f64>(&rt, is_uniform).unwrap_or_else(|error| panic!("{what}: {error}"));
                assert_same(&found, &expected, &what);
                let found = every_routine::<c32>(&rt, is_uniform).unwrap_or_else(|error| panic!("{what}: {error}"));
                assert_same(&found, &expected_complex, &what);
                assert_empty(&rt, &what);
                // Beside devices, the host may be quick enough to take every chunk.
                let must_be_on_device = !names.starts_with("cpu");
                assert!(
                    rt.tasks_issued().iter().sum::<u64>() > 0 || !must_be_on_device,
                    "{what}: no device had a task"
                );
            }
        }
    }
}

/// Devices of three speeds beside the host: each gets chunks only if that makes the batch faster.
#[test]
fn a_device_that_gains_nothing_gets_nothing() {
    let (count, n) = (5000, 8);
    let order: Vec<_> = vec![(n, n); count];
    let a = systems::<f64>(&order);
    let (options, mut expected) = (Options::default(), a.clone());
    let all_good = batch::potrf(&host(), Uplo::Lower, view_mut(&mut expected, &order, true), &options);
    assert!(all_good.expect("definite").are_all_good());
    // Flops per second of the device, and bytes per second of its link.
    for (flops, link, gains) in [("1e12", "1e11", true), ("1e12", "1e8", false), ("1e8", "1e11", false)] {
        let names = format!("sim:0:flops={flops}:rate=1e12:latency=0:link={link}:link-latency=0");
        for with_host in [true, false] {
            let head = if with_host { "cpu," } else { "" };
            let rt = open(&format!("{head}{names}"), None, PolicyName::ALL[0]);
            // The host may take every chunk before the device's thread runs.
            for _ in 0..if gains { 100 } else { 1 } {
                let mut found = a.clone();
                let outcomes = batch::potrf(&rt, Uplo::Lower, view_mut(&mut found, &order, true), &options);
                assert!(outcomes.expect("no device fails").are_all_good());
                let error = largest(found.iter().zip(&expected).map(|(x, y)| (x - y).abs()));
                assert!(error < 1e-12, "{head}{names}: differs by {error}");
                if rt.tasks_issued()[0] > 0 {
                    break;
                }
            }
            assert_eq!(rt.tasks_issued()[0] > 0, gains || !with_host, "{head}{names}");
        }
    }
}

/// The first OpenCL device, alone and beside the host.
#[cfg(feature = "opencl")]
#[test]
fn opencl_devices_compute_what_the_host_computes() {
    if !has_opencl() {
        return;
    }
    let host = host();
    for is_uniform in [true, false] {
        let expected = every_routine::<f32>(&host, is_uniform).expect("the problems are regular");
        for names in ["opencl:0", "cpu,opencl:0"] {
            let rt = open(names, Some(64 << 20), PolicyName::ALL[0]);
            let what = format!("{names}, one shape: {is_uniform}");
            let found = every_routine::<f32>(&rt, is_uniform).unwrap_or_else(|error| panic!("{what}: {error}"));
            assert_same(&found, &expected, &what);
            assert_empty(&rt, &what);
        }
    }
}

#[test]
fn a_lost_device_loses_nothing() {
    let host = host();
    let (mut finished, mut failed) = (0, 0);
    for is_uniform in [true, false] {
        let expected = every_routine::<f64>(&host, is_uniform).expect("the problems are regular");
        for (at, with_host) in [(1, false), (2, true), (5, false), (9, true), (17, false)] {
            for point in ["call-in", "in", "launch", "kernel", "out", "call-out"] {
                let head = if with_host { "cpu," } else { "" };
                let faulty = instant(1, &format!(":fault={point}@{at}!"));
                let rt = open(&format!("{head}{},{faulty}", instant(0, "")), None, PolicyName::ALL[at % 3]);
                let what = format!("{point}@{at}, host: {with_host}, one shape: {is_uniform}");
                match every_routine::<f64>(&rt, is_uniform) {
                    Ok(found) => {
                        assert_same(&found, &expected, &what);
                        finished += 1;
                    }
                    Err(error) => {
                        assert_eq!(error.kind(), ErrorKind::Device, "{what}: {error}");
                        failed += 1;
                        let again = every_routine::<f64>(&rt, is_uniform).expect("the other resources work");
                        assert_same(&again, &expected, &format!("{what}, once more"));
                    }
                }
                assert_empty(&rt, &what);
            }
        }
    }
    assert!(finished > 10, "{finished} finished, {failed} failed");
}

/// Returns the bytes copied from and to the host so far.
fn host_bytes(rt: &Runtime) -> u64 {
    let traffic = rt.traffic();
    traffic.iter().filter(|link| link.from == "host" || link.to == "host").map(|link| link.bytes).sum()
}

#[test]
fn device_batches_stay_on_their_devices() {
    let rt = open(&instant(0, ""), None, PolicyName::ALL[0]);
    for is_uniform in [true, false] {
        let ((square, sides), chunks) = (shapes(is_uniform), Chunks::equal(COUNT, 20));
        let (a, b) = (systems::<f64>(&square), systems::<f64>(&sides));
        let make = |shapes: &[(usize, usize)]| match is_uniform {
            true => DeviceBatch::zeros(&rt, shapes[0], &chunks),
            false => DeviceBatch::zeros_shaped(&rt, shapes, &chunks),
        };
        let (mut l, mut x) = (make(&square).expect("memory"), make(&sides).expect("memory"));
        l.upload(&rt, view(&a, &square, is_uniform)).expect("the same shapes");
        x.upload(&rt, view(&b, &sides, is_uniform)).expect("the same shapes");
        let is_there = |chunk| l.holders(chunk).contains(&Resource::device(0));
        assert!((0..chunks.len()).all(is_there), "chunks are on the device after the upload");
        let mut info = vec![-1; COUNT];
        let factor = |l: &mut DeviceBatch<f64>, info: &mut [i32]| {
            rt.scope(|s| batch::spawn::potrf(s, Uplo::Lower, &l.lend(s), &ChunkedInfo::new(s, info, &chunks)))
        };
        factor(&mut l, &mut info).expect("no device fails");
        assert_eq!(info, [0; COUNT]);
        assert!((0..chunks.len()).all(|chunk| l.holders(chunk) == [Resource::device(0)]), "the factors are there");
        rt.scope(|s| batch::spawn::potrs(s, Uplo::Lower, &l.lend_ref(s), &x.lend(s))).expect("no device fails");
        let before = host_bytes(&rt);
        rt.scope(|s| batch::spawn::potrs(s, Uplo::Lower, &l.lend_ref(s), &x.lend(s))).expect("no device fails");
        let table_bytes = host_bytes(&rt) - before;
        assert!(
            table_bytes <= if is_uniform { 0 } else { 2 * 5 * 8 * COUNT as u64 },
            "{table_bytes} bytes were copied"
        );
        // B := A⁻² B, and on the host.
        let (mut found, mut expected, mut lower) = (b.clone(), b.clone(), a.clone());
        x.download(&rt, view_mut(&mut found, &sides, is_uniform)).expect("the same shapes");
        let (host, options) = (host(), Options::default());
        let all_good = batch::potrf(&host, Uplo::Lower, view_mut(&mut lower, &square, is_uniform), &options);
        assert!(all_good.expect("definite").are_all_good());
        for _ in 0..2 {
            let factors = view(&lower, &square, is_uniform);
            batch::potrs(&host, Uplo::Lower, factors, view_mut(&mut expected, &sides, is_uniform), &options)
                .expect("fits");
        }
        let error = largest(found.iter().zip(&expected).map(|(x, y)| (x - y).abs()));
        assert!(error < 1e-12, "differs by {error}");
    }
}

#[test]
fn wrong_device_batches_are_refused() {
    let rt = open(&instant(0, ""), None, PolicyName::ALL[0]);
    let chunks = Chunks::equal(4, 2);
    let kind = |result: Result<(), dla::Error>| result.expect_err("it is wrong").kind();
    assert_eq!(kind(DeviceBatch::<f64>::zeros(&host(), (2, 2), &chunks).map(drop)), ErrorKind::Argument);
    assert_eq!(kind(DeviceBatch::<f64>::zeros_shaped(&rt, &[(2, 2)], &chunks).map(drop)), ErrorKind::Shape);
    assert_eq!(kind(DeviceBatch::<f64>::zeros(&rt, (usize::MAX, 2), &chunks).map(drop)), ErrorKind::Memory);
    let mut a = DeviceBatch::zeros(&rt, (2, 2), &chunks).expect("memory");
    let (four, five) = (vec![1.0; 16], vec![1.0; 20]);
    assert_eq!(kind(a.upload(&rt, BatchRef::packed(&five, (2, 2)).expect("five"))), ErrorKind::Shape);
    assert_eq!(kind(a.upload(&rt, BatchRef::packed(&four, (1, 4)).expect("four"))), ErrorKind::Shape);
    let other = open(&instant(0, ""), None, PolicyName::ALL[0]);
    assert_eq!(kind(a.upload(&other, BatchRef::packed(&four, (2, 2)).expect("four"))), ErrorKind::Argument);
    // No elements.
    let mut none = DeviceBatch::zeros(&rt, (0, 2), &chunks).expect("memory");
    none.upload(&rt, BatchRef::strided(&[] as &[f64], (0, 2), 1, 0, 4).expect("four")).expect("the same shapes");
    rt.scope(|s| drop(none.lend(s))).expect("nothing fails");
}

const MILLION: usize = 1_000_000;
/// The distance of the problems whose results are compared.
const SAMPLE_STEP: usize = 97;
/// The bound of a result of order 2, in roundoffs of the largest element.
const ROUNDOFFS_MAX: f64 = 16.0;

/// Returns whether a matrix is singular: one of a thousand.
fn is_singular(p: usize) -> bool {
    p % 1009 == 5
}

/// Returns a symmetric matrix of order 2, which is positive definite unless it is singular.
fn small_matrix(p: usize) -> [f32; 4] {
    let x = (p % 1013) as f32 / 1013.0;
    if is_singular(p) { [1.0, 2.0, 2.0, 4.0] } else { [1.5 - x, x - 0.5, x - 0.5, 1.0 + x] }
}

/// What is computed of the matrices A: A A + A, the Cholesky factors, L and U, and Q and R.
#[derive(Default)]
struct Million {
    products: Vec<f32>,
    cholesky: Vec<f32>,
    lu: Vec<f32>,
    qr: Vec<f32>,
    tau: Vec<f32>,
    ipiv: Vec<i32>,
    info: [Vec<i32>; 2],
}

impl Million {
    /// Computes them in ten chunks.
    fn compute(rt: &Runtime) -> Result<Self, dla::Error> {
        fn square<E>(x: &mut [E]) -> BatchMut<'_, E> {
            BatchMut::packed(x, (2, 2)).expect("a million")
        }
        fn column<E>(x: &mut [E]) -> BatchMut<'_, E> {
            BatchMut::packed(x, (2, 1)).expect("a million")
        }
        let options = Options::default().nb(MILLION / 10);
        let all: Vec<f32> = (0..MILLION).flat_map(small_matrix).collect();
        let of = || all.clone();
        let mut results = Self { products: of(), cholesky: of(), lu: of(), qr: all.clone(), ..Self::default() };
        (results.tau, results.ipiv) = (vec![0.0; 2 * MILLION], vec![0; 2 * MILLION]);
        let a = BatchRef::packed(&all, (2, 2)).expect("a million");
        batch::gemm(rt, 1.0, Op::None, a.clone(), Op::None, a, 1.0, square(&mut results.products), &options)?;
        let cholesky = batch::potrf(rt, Uplo::Lower, square(&mut results.cholesky), &options)?;
        let lu = batch::getrf(rt, square(&mut results.lu), column(&mut results.ipiv), &options)?;
        batch::geqrf(rt, square(&mut results.qr), column(&mut results.tau), &options)?;
        results.info = [cholesky.into_info(), lu.into_info()];
        Ok(results)
    }

    /// Compares all outcomes and interchanges, and a sample of the results, with the routines for one matrix.
    fn check(&self, what: &str) {
        fn view<E>(x: &mut [E], cols: usize) -> MatMut<'_, E> {
            MatMut::from_col_major(x, 2, cols, 2).expect("two rows")
        }
        for p in 0..MILLION {
            let [mut product, mut l, mut lu, mut qr] = [small_matrix(p); 4];
            let (mut ipiv, mut tau, mut t) = ([0; 2], [0.0; 2], [0.0; 4]);
            let minor = cpu::potrf(Uplo::Lower, view(&mut l, 2)).map_or_else(|error| error.minor, |()| 0);
            let pivot = cpu::getrf(view(&mut lu, 2), &mut ipiv).map_or_else(|error| error.pivot, |()| 0);
            assert_eq!(self.info.each_ref().map(|info| info[p] as usize), [minor, pivot], "{what}, info of {p}");
            assert_eq!([minor > 0, pivot > 0], [is_singular(p); 2], "{what}, problem {p}");
            assert_eq!(self.ipiv[2 * p..][..2], ipiv, "{what}, interchanges of {p}");
            if p % SAMPLE_STEP > 0 {
                continue;
            }
            let a = small_matrix(p);
            let a = MatRef::from_col_major(&a, 2, 2, 2).expect("four elements");
            cpu::gemm(1.0, Op::None, a, Op::None, a, 1.0, view(&mut product, 2));
            cpu::geqrf(view(&mut qr, 2), &mut tau, view(&mut t, 2));
            let pairs = [(&self.products, product), (&self.lu, lu), (&self.qr, qr)];
            let factor = (minor == 0).then_some((&self.cholesky, l));
            let errors = pairs.into_iter().chain(factor).map(|(all, one)| roundoffs(&all[4 * p..][..4], &one));
            let error = largest(errors.chain([roundoffs(&self.tau[2 * p..][..2], &tau)]));
            assert!(error <= ROUNDOFFS_MAX, "{what}, problem {p}: {error} roundoffs");
        }
    }
}

#[test]
fn a_million_problems() {
    for (rt, what) in [(host(), "host"), (open(&instant(0, ""), None, PolicyName::ALL[0]), "simulated device")] {
        Million::compute(&rt).expect("no task fails").check(what);
        assert_empty(&rt, what);
    }
}

#[cfg(feature = "opencl")]
#[test]
fn a_million_problems_on_an_opencl_device() {
    if has_opencl() {
        let rt = open("opencl:0", Some(256 << 20), PolicyName::ALL[0]);
        Million::compute(&rt).expect("no task fails").check("OpenCL device");
    }
}
