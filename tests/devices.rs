//! Tests the routines on devices with their own memory: simulated ones without simulated time, and an OpenCL device.
//! For every policy, distribution and memory size, the results are those of the host, and nothing is left on a device.

#[cfg(feature = "opencl")]
mod opencl;

use superscalar::{
    Codelet, Cost, IssueContext, PolicyName, Reads, Resource, Runtime, Updates, devices,
    dla::{self, Distribution, ErrorKind, Matrix, Options, Scalar},
    kernels::{Diag, MatMut, Op, Side, Uplo, c64},
    recording::{ActivityKind, Counter, NodeId},
};
use superscalar_devices::sim;
use superscalar_oracle::{element, is_full, roundoffs};

/// Not a multiple of the block size, so that tiles are ragged.
const N: usize = 45;
const NB: usize = 8;

fn random<T: Scalar>(m: usize, n: usize, seed: u64) -> Matrix<T> {
    Matrix::from_fn(m, n, |i, j| element(seed, i, j))
}

/// A Hermitian matrix with a dominant diagonal.
fn definite<T: Scalar>() -> Matrix<T> {
    let a = random::<T>(N, N, 9);
    Matrix::from_fn(N, N, |i, j| match i.cmp(&j) {
        std::cmp::Ordering::Equal => T::from_f64(N as f64),
        std::cmp::Ordering::Greater => a.at(i, j),
        std::cmp::Ordering::Less => a.at(j, i).conj(),
    })
}

/// The matrices that a routine changes, after the call.
type Results<T> = Vec<(&'static str, Vec<T>)>;

fn products<T: Scalar>(rt: &Runtime, o: &Options) -> Result<Results<T>, dla::Error> {
    let (a, b, beta, alpha) = (random::<T>(N, N, 1), random::<T>(N, N, 2), T::from_f64(0.5), T::from_f64(1.5));
    let (mut results, half) = (Vec::new(), T::from_f64(0.5).re());
    let mut keep = |name, c: Matrix<T>| results.push((name, c.into_vec()));
    let (t, n) = (Op::ConjTrans, Op::None);
    let c = || random::<T>(N, N, 3);
    let mut x = c();
    dla::gemm(rt, alpha, t, a.as_ref(), n, b.as_ref(), beta, x.as_mut(), o)?;
    keep("gemm", x);
    for uplo in [Uplo::Lower, Uplo::Upper] {
        let mut x = c();
        dla::gemmt(rt, uplo, alpha, n, a.as_ref(), t, b.as_ref(), beta, x.as_mut(), o)?;
        keep("gemmt", x);
        let mut x = c();
        dla::herk(rt, uplo, n, half, a.as_ref(), half, x.as_mut(), o)?;
        keep("herk", x);
        let mut x = c();
        dla::her2k(rt, uplo, t, alpha, a.as_ref(), b.as_ref(), half, x.as_mut(), o)?;
        keep("her2k", x);
        let mut x = c();
        dla::syrk(rt, uplo, n, T::ZERO, a.as_ref(), beta, x.as_mut(), o)?;
        keep("scale", x);
        for side in [Side::Left, Side::Right] {
            let mut x = c();
            dla::hemm(rt, side, uplo, alpha, a.as_ref(), b.as_ref(), beta, x.as_mut(), o)?;
            keep("hemm", x);
            let mut x = c();
            dla::trmm(rt, side, uplo, t, Diag::NonUnit, alpha, a.as_ref(), x.as_mut(), o)?;
            keep("trmm", x);
            let (mut x, d) = (c(), definite::<T>());
            dla::trsm(rt, side, uplo, n, Diag::NonUnit, alpha, d.as_ref(), x.as_mut(), o)?;
            keep("trsm", x);
        }
    }
    Ok(results)
}

fn factorizations<T: Scalar>(rt: &Runtime, o: &Options) -> Result<Results<T>, dla::Error> {
    let (mut results, b) = (Vec::new(), random::<T>(N, 11, 4));
    let mut keep = |name, c: Matrix<T>| results.push((name, c.into_vec()));
    for uplo in [Uplo::Lower, Uplo::Upper] {
        let (mut a, mut x) = (definite::<T>(), b.clone());
        dla::potrf(rt, uplo, a.as_mut(), o)?;
        dla::potrs(rt, uplo, a.as_ref(), x.as_mut(), o)?;
        keep("potrf", a);
        keep("potrs", x);
        let (mut a, mut x) = (definite::<T>(), b.clone());
        dla::posv(rt, uplo, a.as_mut(), x.as_mut(), o)?;
        keep("posv", x);
    }
    let (mut a, mut x, mut ipiv) = (random::<T>(N, N, 5), b.clone(), vec![0; N]);
    dla::getrf(rt, a.as_mut(), &mut ipiv, o)?;
    dla::getrs(rt, Op::ConjTrans, a.as_ref(), &ipiv, x.as_mut(), o)?;
    keep("getrf", a);
    keep("getrs", x);
    let (mut a, mut x) = (random::<T>(N, N, 5), b.clone());
    dla::gesv(rt, a.as_mut(), &mut ipiv, x.as_mut(), o)?;
    keep("gesv", x);
    let (mut a, mut x, mut tau) = (random::<T>(N, 30, 6), b.clone(), vec![T::ZERO; 30]);
    dla::geqrf(rt, a.as_mut(), &mut tau, o)?;
    dla::unmqr(rt, Side::Left, Op::ConjTrans, a.as_ref(), &tau, x.as_mut(), o)?;
    keep("geqrf", a);
    keep("unmqr", x);
    let (mut a, mut x) = (random::<T>(N, 30, 6), b.clone());
    dla::gels(rt, Op::None, a.as_mut(), x.as_mut(), o)?;
    keep("gels", x);
    // Its tiles are rows of the matrix, which cannot be copied to a device.
    let (mut a, mut tau) = (random::<T>(30, N, 7), vec![T::ZERO; 30]);
    dla::gelqf(rt, a.as_mut(), &mut tau, o)?;
    keep("gelqf", a);
    Ok(results)
}

fn assert_same<T: Scalar>(found: &Results<T>, expected: &Results<T>, what: &str) {
    assert_eq!(found.len(), expected.len());
    for ((name, x), (_, y)) in found.iter().zip(expected) {
        assert_eq!(x.len(), y.len(), "{name} {what}");
        let apart = roundoffs(x, y);
        assert!(apart <= 9e4, "{name} {what}: differs by {apart:.1} roundoffs");
    }
}

/// Returns the names of devices with these presets, without simulated time.
fn instant(numbers: &[u16]) -> String {
    let free = "flops=0:rate=0:latency=0:link=0:link-latency=0";
    numbers.iter().map(|number| format!("sim:{number}:{free}")).collect::<Vec<_>>().join(",")
}

fn runtime(names: &str, memory_bytes: Option<usize>, policy: PolicyName) -> Runtime {
    let builder = Runtime::builder().workers(2).bind(false).policy(policy).weights_file(None);
    let opened = devices::open(names, memory_bytes).expect("simulated devices are there");
    opened.add_to(builder).build().expect("threads can be started")
}

/// Compares results on devices with those of the host. `set` is the number of the set of devices.
fn results_equal_the_host<T: Scalar>(set: usize, names: &str, memory_bytes: Option<usize>) {
    let host = Runtime::builder().workers(2).bind(false).build().expect("threads can be started");
    let plain = Options::default().nb(NB);
    let expected = [products::<T>(&host, &plain), factorizations::<T>(&host, &plain)].map(|it| it.expect("regular"));
    let mut issued = 0;
    for (at, policy) in PolicyName::ALL.into_iter().enumerate() {
        let rt = runtime(names, memory_bytes, policy);
        // Tests each policy with each distribution on one of the three sets of devices; with FULL=1, on all.
        let turns = Distribution::ALL.into_iter().enumerate();
        for (_, distribution) in turns.filter(|(turn, _)| is_full() || (at + turn + set).is_multiple_of(3)) {
            let what = format!("{names}, {memory_bytes:?} bytes, {policy}, {distribution}");
            let options = plain.distribution(distribution);
            let found = [products::<T>(&rt, &options), factorizations::<T>(&rt, &options)];
            for (found, expected) in found.into_iter().zip(&expected) {
                assert_same(&found.unwrap_or_else(|error| panic!("{what}: {error}")), expected, &what);
            }
            assert!(rt.memory_in_use().iter().all(|it| (it.bytes, it.replicas, it.pins) == (0, 0, 0)), "{what}");
        }
        let tasks = rt.tasks_issued().iter().sum::<u64>();
        // On a busy machine the host may take every task before a device's thread runs once.
        assert!(tasks > 0 || names.starts_with("cpu"), "{names} {policy}: no device had a task");
        issued += tasks;
    }
    assert!(issued > 0, "{names}: no device had a task under any policy");
}

#[test]
fn three_unequal_devices() {
    results_equal_the_host::<f64>(0, &instant(&[0, 1, 2]), None);
}

#[test]
fn device_and_host_in_complex_arithmetic() {
    results_equal_the_host::<c64>(1, &format!("cpu,{}", instant(&[0])), None);
}

#[test]
fn two_devices_with_little_memory() {
    // A block column takes 8 · 384 bytes; a task of getrs also reads all interchanges.
    results_equal_the_host::<f64>(2, &instant(&[0, 1]), Some(6 * NB * 384));
}

#[test]
fn indefinite_matrix_gives_info() {
    let rt = runtime(&instant(&[0, 1]), None, PolicyName::Priority);
    for (at, distribution) in [0, 7, 20, 44].into_iter().flat_map(|at| Distribution::ALL.map(|one| (at, one))) {
        let mut a = definite::<f64>();
        a.as_mut()[(at, at)] = -1.0;
        let options = Options::default().nb(NB).distribution(distribution);
        let error = dla::potrf(&rt, Uplo::Lower, a.as_mut(), &options).expect_err("it is not");
        assert_eq!((error.kind(), error.info()), (ErrorKind::NotPositiveDefinite, Some(at + 1)), "{distribution}");
    }
}

#[test]
fn single_device_runs_all_of_qr() {
    runs_all_of_qr(&instant(&[0]));
}

#[cfg(feature = "opencl")]
#[test]
fn opencl_device_alone() {
    if opencl::has_opencl() {
        runs_all_of_qr("opencl:0");
        results_equal_the_host::<f32>(0, "opencl:0", Some(64 << 20));
    }
}

fn runs_all_of_qr(names: &str) {
    let rt = runtime(names, None, PolicyName::CapabilityWeights);
    let mut a = random::<f32>(N, N, 4);
    dla::geqrf(&rt, a.as_mut(), &mut [0.0; N], &Options::default().nb(NB)).expect("it has a factorization");
    let panels = N.div_ceil(NB) as u64;
    assert_eq!(rt.tasks_issued(), [panels + panels * (panels - 1) / 2]);
}

#[test]
fn dealt_columns_are_updated_at_home() {
    let rt = runtime(&instant(&[0, 1]), None, PolicyName::CapabilityWeights);
    let mut a = definite::<f64>();
    let options = Options::default().nb(NB).distribution(Distribution::BlockColumnCyclic);
    dla::potrf(&rt, Uplo::Lower, a.as_mut(), &options).expect("it is definite");
    let tasks = rt.tasks_issued();
    assert!(tasks.iter().all(|&tasks| tasks > 0), "{tasks:?}");
}

/// Returns the bytes that a product of 16 x 16 tiles moves to and from host memory, and between devices, each of which
/// has memory for half of a matrix.
fn traffic_of_a_product(names: &str) -> (u64, u64) {
    let (tiles, nb) = (16, 8);
    let n = tiles * nb;
    let rt = runtime(names, Some(n * n * 8 / 2), PolicyName::DemandDriven);
    let (a, mut c) = (random::<f64>(n, n, 1), random::<f64>(n, n, 2));
    let options = Options::default().nb(nb);
    dla::gemm(&rt, 1.0, Op::None, a.as_ref(), Op::None, a.as_ref(), 1.0, c.as_mut(), &options).expect("there is room");
    let sum = |is_host: bool| {
        let traffic = rt.traffic();
        let links = traffic.iter().filter(|link| (link.from == "host" || link.to == "host") == is_host);
        links.map(|link| link.bytes).sum()
    };
    (sum(true), sum(false))
}

#[test]
fn product_moves_few_bytes() {
    // Without caching, each step would copy a tile of A, B and C to the device, and that of C back.
    let without_caches = 16 * 16 * 16 * 4 * (8 * 8 * 8);
    for settings in ["", ":peer=none"] {
        let names: Vec<String> = (0..3).map(|at| format!("sim:{at}{settings}")).collect();
        let (host, peers) = traffic_of_a_product(&names.join(","));
        assert!(host <= without_caches / 2, "{host} of {without_caches} bytes");
        // How much host traffic the peers save depends on the schedule; see the example `traffic`.
        assert_eq!(peers > 0, settings.is_empty(), "{peers} bytes from peers{settings}");
    }
}

#[test]
fn peers_copy_directly() {
    type OnBoth = (Reads<Vec<f64>>, Updates<Vec<f64>>);
    let nothing = |context: &mut IssueContext<'_>| {
        let queue = context.queue::<sim::SimQueue>()?;
        queue.launch(Cost::default(), |_| Ok(()))
    };
    let first = Codelet::<Updates<Vec<f64>>, ()>::new("first").on_device(sim::KIND, move |it, _, ()| nothing(it));
    let second = Codelet::<OnBoth, ()>::new("second").on_device(sim::KIND, move |it, _, ()| nothing(it));
    for (settings, expected) in [("", (4, 1)), (":peer=none", (5, 0))] {
        let names = format!("sim:0{settings},sim:1{settings}");
        let rt = runtime(&names, None, PolicyName::CapabilityWeights);
        let (mut x, mut y) = (vec![1.0; 64], vec![2.0; 64]);
        rt.scope(|s| {
            let (x, y) = (s.lend(&mut x), s.lend(&mut y));
            x.deal_to(Some(Resource::device(0)));
            y.deal_to(Some(Resource::device(1)));
            first.spawn(s, x.read_write(), ());
            second.spawn(s, (x.read(), y.read_write()), ());
        })
        .expect("there is room");
        let copies = |is_host: bool| {
            let traffic = rt.traffic();
            let links = traffic.iter().filter(|link| (link.from == "host" || link.to == "host") == is_host);
            links.map(|link| link.copies).sum::<u64>()
        };
        // x and y are copied to the devices and back; x is also copied from the first device to the second, through the
        // host if necessary.
        assert_eq!((copies(true), copies(false)), expected, "{names}");
    }
}

#[test]
fn data_out_of_core_move_once() {
    // A device with memory for half of C, which has 8 x 8 tiles.
    let n = 8 * NB;
    let (room, all) = (n * n * 8 / 2, (n * n * 8) as u64);
    let (a, o) = (random::<f64>(n, n, 1), Options::default().nb(NB));
    let triangle = Matrix::from_fn(n, n, |i, j| if i == j { n as f64 } else { a.at(i, j) });
    let (none, left, lower) = (Op::None, Side::Left, Uplo::Lower);
    type Routine<'a> = Box<dyn Fn(&Runtime, &mut Matrix<f64>) -> Result<(), dla::Error> + 'a>;
    let (a, triangle) = (a.as_ref(), triangle.as_ref());
    let routines: [(&str, Routine<'_>); 6] = [
        ("gemm", Box::new(|rt, c| dla::gemm(rt, 1.0, none, a, none, a, 1.0, c.as_mut(), &o))),
        ("symm", Box::new(|rt, c| dla::symm(rt, left, lower, 1.0, a, a, 1.0, c.as_mut(), &o))),
        ("syrk", Box::new(|rt, c| dla::syrk(rt, lower, none, 1.0, a, 1.0, c.as_mut(), &o))),
        ("syr2k", Box::new(|rt, c| dla::syr2k(rt, lower, none, 1.0, a, a, 1.0, c.as_mut(), &o))),
        ("trmm", Box::new(|rt, b| dla::trmm(rt, left, lower, none, Diag::NonUnit, 1.0, triangle, b.as_mut(), &o))),
        (
            "trsm",
            Box::new(|rt, b| dla::trsm(rt, Side::Right, lower, none, Diag::NonUnit, 1.0, triangle, b.as_mut(), &o)),
        ),
    ];
    for policy in [PolicyName::CapabilityWeights, PolicyName::DemandDriven, PolicyName::Priority] {
        for (name, routine) in &routines {
            let (rt, mut c) = (runtime(&instant(&[0]), Some(room), policy), random::<f64>(n, n, 2));
            routine(&rt, &mut c).expect("there is room for tiles");
            let home: u64 = rt.traffic().iter().filter(|link| link.to == "host").map(|link| link.bytes).sum();
            // If each step returned it, a product would copy C to the host eight times.
            assert!(home <= all + all / 4, "{name}, {policy}: {home} bytes came home, of a matrix of {all}");
        }
    }
}

#[test]
fn recording_contains_memory_events() {
    // A product of 6 x 6 tiles on devices with memory for eight tiles.
    const ROOM: usize = 8 * (8 * NB * NB);
    let builder = Runtime::builder().workers(1).bind(false).weights_file(None).trace(true);
    let opened = devices::open(&instant(&[0, 1]), Some(ROOM)).expect("simulated devices are there");
    let rt = opened.add_to(builder).build().expect("threads can be started");
    let (a, mut c) = (random::<f64>(N, N, 1), random::<f64>(N, N, 2));
    let options = Options::default().nb(NB);
    dla::gemm(&rt, 1.0, Op::None, a.as_ref(), Op::None, a.as_ref(), 1.0, c.as_mut(), &options).expect("there is room");

    let recording = rt.take_recording().expect("it was built to trace");
    let evicted: u64 = rt.memory_in_use().iter().map(|memory| memory.evicted.1).sum();
    let found = recording.activities.iter().map(|activity| match activity.kind {
        ActivityKind::Eviction { bytes, .. } => bytes,
        _ => 0,
    });
    assert!(evicted > 0 && found.sum::<u64>() == evicted, "{evicted} bytes");
    let most = |wanted: Counter| {
        let samples = recording.counters.iter().filter(|sample| sample.counter == wanted);
        samples.map(|sample| sample.value).max()
    };
    for (at, device) in rt.devices().iter().enumerate() {
        let node = NodeId(at as u32 + 1);
        let room = ROOM as u64;
        assert!(most(Counter::NodeBytes(node)).is_some_and(|bytes| bytes > room / 2 && bytes <= room));
        let traffic = rt.traffic();
        let inward = traffic.iter().filter(|link| link.from == "host" && link.to == device.name);
        let link = Counter::LinkBytes { from: NodeId(0), to: node };
        assert_eq!(most(link), Some(inward.map(|link| link.bytes).sum()));
    }
}

#[test]
fn slow_device_gets_no_tasks() {
    // One tile takes the device two seconds.
    let slow = "cpu,sim:0:flops=5e2:rate=5e2:link=0:link-latency=0";
    let mut expected = None;
    for policy in PolicyName::ALL {
        let rt = runtime(slow, None, policy);
        for distribution in Distribution::ALL {
            let (a, mut c, mut l) = (random::<f64>(N, N, 1), random::<f64>(N, N, 2), definite::<f64>());
            let o = Options::default().nb(NB).distribution(distribution);
            dla::gemm(&rt, 1.0, Op::None, a.as_ref(), Op::Trans, a.as_ref(), 1.0, c.as_mut(), &o).expect("a product");
            dla::potrf(&rt, Uplo::Lower, l.as_mut(), &o).expect("it is definite");
            let found: Results<f64> = vec![("gemm", c.into_vec()), ("potrf", l.into_vec())];
            let what = format!("{policy}, {distribution}");
            assert_same(&found, expected.get_or_insert_with(|| found.clone()), &what);
            assert_eq!(rt.tasks_issued(), [0], "{what}");
        }
    }
}

#[test]
fn unsuitable_tasks_cause_one_notice() {
    // No tile is smaller than the others and would fit.
    const ORDER: usize = 5 * NB;
    let product = |rt: &Runtime, c: MatMut<'_, f64>| {
        let (a, o) = (random::<f64>(ORDER, ORDER, 1), Options::default().nb(NB));
        dla::gemm(rt, 1.0, Op::None, a.as_ref(), Op::None, a.as_ref(), 1.0, c, &o).expect("the host can run it");
    };
    let notices = |memory_bytes: Option<usize>, stride: usize| {
        let builder = Runtime::builder().workers(1).bind(false).weights_file(None).trace(true);
        let opened = devices::open(&instant(&[0]), memory_bytes).expect("simulated devices are there");
        let rt = opened.add_to(builder).build().expect("threads can be started");
        let mut data = vec![1.0; stride * ORDER * ORDER];
        for _ in 0..2 {
            let c = MatMut::from_strided(&mut data, (ORDER, ORDER), (stride, stride * ORDER))
                .expect("it is within the data");
            product(&rt, c);
        }
        let recording = rt.take_recording().expect("it was built to trace");
        assert_eq!(recording.notices, rt.notices());
        assert!(recording.spans.len() >= 2 * (ORDER / NB).pow(3));
        (rt.notices(), rt.tasks_issued()[0])
    };
    let (said, issued) = notices(None, 1);
    assert!(said.is_empty() && issued > 0, "{said:?}");
    for (memory_bytes, stride, word) in [(Some(1000), 1, "bytes of the device"), (None, 2, "stride")] {
        let (said, issued) = notices(memory_bytes, stride);
        assert!(matches!(&said[..], [one] if one.contains("`gemm`") && one.contains(word)), "{said:?}");
        assert_eq!(issued, 0);
    }
}
