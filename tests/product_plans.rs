//! Tests planned products on simulated devices: they are right, and copy what their plans say, to the byte.

use std::collections::BTreeMap;
use superscalar::{
    Builder, PolicyName, Resource, Runtime, devices,
    dla::{
        BlockSize, DeviceMatrix, Distribution, ErrorKind, Layout, Matrix, Options, ProductPlan, Scalar, gemm, gemmt,
        spawn, symm, syr2k, syrk, trmm, trsm,
    },
    kernels::{Diag, Op, Side, Uplo, c32, c64},
    recording::{ActivityKind, ChromeTrace, Recording},
};
use superscalar_oracle::{element, roundoffs};
use superscalar_traces::{
    Trace,
    analysis::{Analysis, plans::PlanOutcome},
    check::check,
};

const PLANNED: Distribution = Distribution::Planned;
const NO_OPS: (Op, Op) = (Op::None, Op::None);

fn random<T: Scalar>((m, n): (usize, usize), seed: u64) -> Matrix<T> {
    Matrix::from_fn(m, n, |i, j| element(seed, i, j))
}

/// Returns a runtime with this many linked devices; `settings` are those of each device. Only copies take simulated
/// time, a little, so that they are forwarded in parts.
fn open(devices: usize, settings: &str) -> Runtime {
    builder(devices, settings).build().expect("threads can be started")
}

fn builder(devices: usize, settings: &str) -> Builder {
    let name =
        |number: usize| format!("sim:{number}:flops=0:rate=0:latency=0:link=2e9:link-latency=1e-6:peer=2e9{settings}");
    let names: Vec<String> = (0..devices).map(name).collect();
    let builder = Runtime::builder().workers(2).bind(false).weights_file(None).host_helps(false);
    let opened = devices::open(&names.join(","), None).expect("simulated devices are there");
    opened.add_to(builder)
}

/// Returns the bytes over each link so far.
fn traffic(rt: &Runtime) -> BTreeMap<(String, String), u64> {
    let mut all = BTreeMap::new();
    rt.traffic().into_iter().for_each(|link| *all.entry((link.from, link.to)).or_default() += link.bytes);
    all
}

/// Returns the bytes over each link according to a plan.
fn planned_traffic(rt: &Runtime, plan: &ProductPlan) -> BTreeMap<(String, String), u64> {
    let devices = rt.devices();
    let name = |of: Resource| of.device_index().map_or("host".to_owned(), |at| devices[usize::from(at)].name.clone());
    plan.traffic().map(|(from, to, bytes)| ((name(from), name(to)), bytes)).collect()
}

fn assert_close<T: Scalar>(found: &Matrix<T>, expected: &Matrix<T>, k: usize, what: &str) {
    let columns = |a: &Matrix<T>| a.clone().into_vec();
    let error = roundoffs(&columns(found), &columns(expected));
    assert!(error <= 4.0 * (k as f64 + 4.0), "{what}: {error} roundoffs");
}

/// Multiplies on devices by a plan, and compares with the host.
fn check_product<T: Scalar>(rt: &Runtime, [m, n, k]: [usize; 3], (op_a, op_b): (Op, Op), beta: f64) {
    let what = format!("{} {m} x {n} x {k}, {op_a} {op_b}, beta {beta}", std::any::type_name::<T>());
    let (a, b): (Matrix<T>, Matrix<T>) = (random(op_a.shape((m, k)), 1), random(op_b.shape((k, n)), 2));
    let mut c: Matrix<T> =
        if beta == 0.0 { Matrix::from_fn(m, n, |_, _| T::from_f64(f64::NAN)) } else { random((m, n), 3) };
    let mut expected = c.clone();
    let (alpha, beta) = (T::from_f64(1.5), T::from_f64(beta));
    let host = Runtime::builder().workers(1).bind(false).build().expect("threads can be started");
    let (a, b) = (a.as_ref(), b.as_ref());
    gemm(&host, alpha, op_a, a, op_b, b, beta, expected.as_mut(), &Options::default()).expect("the host multiplies");
    let options = Options::default().nb(48).distribution(PLANNED);
    let plan = ProductPlan::of_host_matrices::<T>(rt, (op_a, op_b), [m, n, k], beta != T::ZERO, &options)
        .expect("valid options");
    let plan = plan.unwrap_or_else(|| panic!("{what}: not planned"));
    let before = traffic(rt);
    gemm(rt, alpha, op_a, a, op_b, b, beta, c.as_mut(), &options).unwrap_or_else(|error| panic!("{what}: {error}"));
    assert_close(&c, &expected, k, &what);
    let mut copied = traffic(rt);
    copied.iter_mut().for_each(|(link, bytes)| *bytes -= before.get(link).copied().unwrap_or(0));
    copied.retain(|_, bytes| *bytes > 0);
    assert_eq!(copied, planned_traffic(rt, &plan), "{what}: {plan:#}");
}

const SHAPES: [[usize; 3]; 5] = [[200, 200, 200], [97, 311, 50], [300, 33, 149], [49, 1, 200], [1, 400, 60]];

#[test]
fn products_are_right_and_copy_what_is_planned() {
    for devices in [1, 2, 3, 4] {
        let rt = open(devices, "");
        for shape in SHAPES {
            check_product::<f64>(&rt, shape, (Op::None, Op::None), 0.5);
            check_product::<f32>(&rt, shape, (Op::Trans, Op::None), 0.0);
            check_product::<c64>(&rt, shape, (Op::None, Op::ConjTrans), -1.0);
            check_product::<c32>(&rt, shape, (Op::ConjTrans, Op::Trans), 1.0);
        }
    }
}

/// Matrices that have several times the devices' memory are multiplied in turns: C crosses the links about once in each
/// direction. A device that runs ahead of its plan may fetch a tile again, or find one of the turn before.
#[test]
fn products_that_exceed_the_memory_are_planned_in_turns() {
    let cases = [(1, [300, 260, 280], "128K"), (2, [400, 350, 300], "128K"), (4, [300, 500, 610], "96K")];
    for (devices, [m, n, k], memory) in cases {
        let rt = open(devices, &format!(":memory={memory}"));
        let options = Options::default().nb(40).distribution(PLANNED);
        let plan = ProductPlan::of_host_matrices::<f64>(&rt, NO_OPS, [m, n, k], true, &options);
        let plan = plan.expect("valid options").unwrap_or_else(|| panic!("{m} x {n} x {k} on {devices}: not planned"));
        let (a, b, mut c) = (random((m, k), 1), random((k, n), 2), random::<f64>((m, n), 3));
        let mut expected = c.clone();
        gemm(&rt, 1.5, Op::None, a.as_ref(), Op::None, b.as_ref(), -0.5, c.as_mut(), &options).expect("a product");
        let host = Runtime::builder().workers(1).bind(false).build().expect("threads can be started");
        let (options, of_c) = (Options::default(), expected.as_mut());
        gemm(&host, 1.5, Op::None, a.as_ref(), Op::None, b.as_ref(), -0.5, of_c, &options).expect("a product");
        assert_close(&c, &expected, k, "in turns");
        let of_links = |all: &BTreeMap<(String, String), u64>, to_host: bool| -> u64 {
            let chosen = all.iter().filter(|(link, _)| if to_host { link.1 == "host" } else { link.0 == "host" });
            chosen.map(|one| one.1).sum()
        };
        let (copied, planned) = (traffic(&rt), planned_traffic(&rt, &plan));
        let to_host = of_links(&copied, true) as f64 / (8 * m * n) as f64;
        assert!((1.0..1.25).contains(&to_host), "{devices}: C returns {to_host} times");
        let (from_host, all) = (of_links(&planned, false), 8 * (m * k + k * n + m * n) as u64);
        assert!(from_host > all, "{devices}: there is only one turn");
        assert!(of_links(&copied, false) <= 2 * from_host, "{devices}: {copied:?}, planned {planned:?}");
    }
}

/// A plan that no device has memory for is not made, and the product is computed all the same.
#[test]
fn tiles_that_do_not_fit_are_left_to_the_policy() {
    let rt = open(2, ":memory=128K");
    let options = Options::default().nb(100).distribution(PLANNED);
    let plan = ProductPlan::of_host_matrices::<f64>(&rt, NO_OPS, [300; 3], true, &options).expect("valid options");
    assert!(plan.is_none(), "tiles have 80 kB each");
    let (a, b, mut c) = (random((300, 300), 1), random((300, 300), 2), Matrix::<f64>::zeros(300, 300));
    let mut expected = c.clone();
    gemm(&rt, 1.0, Op::None, a.as_ref(), Op::None, b.as_ref(), 0.0, c.as_mut(), &options).expect("a product");
    let host = Runtime::builder().workers(1).bind(false).build().expect("threads can be started");
    let options = Options::default();
    gemm(&host, 1.0, Op::None, a.as_ref(), Op::None, b.as_ref(), 0.0, expected.as_mut(), &options).expect("a product");
    assert_close(&c, &expected, 300, "too large");
}

/// There are no plans without devices, links or equal speeds, and for policies that do not follow homes.
#[test]
fn plans_need_equal_linked_devices_and_homes() {
    let options = Options::default().nb(48).distribution(PLANNED);
    let is_planned = |rt: &Runtime| {
        let plan = ProductPlan::of_host_matrices::<f64>(rt, NO_OPS, [300; 3], true, &options);
        plan.expect("valid options").is_some()
    };
    let open = |names: &str, policy: PolicyName| {
        let builder = Runtime::builder().workers(1).bind(false).weights_file(None).policy(policy);
        let opened = devices::open(names, None).expect("simulated devices are there");
        opened.add_to(builder).build().expect("threads can be started")
    };
    let weights = PolicyName::CapabilityWeights;
    assert!(is_planned(&open("sim:0,sim:1:flops=2e9", weights)), "alike and linked");
    assert!(!is_planned(&open("sim:0:peer=none,sim:1:peer=none:flops=2e9", weights)), "no link");
    assert!(!is_planned(&open("sim:0,sim:1:flops=1e9", weights)), "half as fast");
    assert!(!is_planned(&open("sim:0,sim:1:flops=2e9", PolicyName::DemandDriven)), "homes are ignored");
    assert!(!is_planned(&Runtime::builder().workers(1).build().expect("threads can be started")), "no devices");
}

/// A plan as a recording has the planned products and copies, and its text says so.
#[test]
fn plans_are_recordings() {
    let (rt, options) = (open(4, ""), Options::default().nb(48).distribution(PLANNED));
    let plan = ProductPlan::of_host_matrices::<f64>(&rt, NO_OPS, [200, 150, 100], true, &options);
    let plan = plan.expect("valid options").expect("a plan");
    let recording = plan.recording(&rt);
    let named = |name: &str| recording.tasks.iter().filter(|task| task.name == name).count();
    let (products, sums) = (named("gemm"), named("geadd"));
    assert_eq!((products, recording.spans.len(), recording.hazards.len()), (60, 60 + sums, 40 + sums));
    assert!(sums > 0 && sums <= 20, "some of the 20 tiles of C are fetched late: {sums}");
    let mut moved: BTreeMap<(Resource, Resource), u64> = BTreeMap::new();
    for activity in &recording.activities {
        let ActivityKind::Transfer { from, to, bytes } = activity.kind else { panic!("{activity:?}") };
        *moved.entry((Resource(from.0 as u16), Resource(to.0 as u16))).or_default() += bytes;
    }
    let planned = plan.traffic().map(|(from, to, bytes)| ((from, to), bytes));
    assert_eq!(moved, planned.collect(), "bytes over each link");
    let ends = recording.spans.iter().map(|span| span.end_ns).chain(recording.activities.iter().map(|it| it.end_ns));
    assert_eq!(ends.max(), Some(plan.predicted_ns() as u64));
    let (short, long) = (plan.to_string(), format!("{plan:#}"));
    assert!(short.starts_with("2 x 2 devices, tiles of 48 x 48 x 48,"), "{short}");
    assert!(long.starts_with(&short) && long.contains(": C(0, 0) += A(0, 1) B(1, 0)"), "{long}");
}

/// Returns what the trace of a recording with one plan says about it.
fn outcome_in_trace(recording: &Recording) -> PlanOutcome {
    let mut text = Vec::new();
    ChromeTrace::new(recording).write(&mut text).expect("a vector takes every write");
    let trace = Trace::read(&text[..]).expect("a trace");
    assert_eq!(check(&trace).fault_count(), 0, "{:?}", check(&trace).findings());
    let analysis = Analysis::new(&trace);
    let summary = analysis.to_string();
    assert!(summary.contains("1 planned operation\n") && summary.contains("as planned\n"), "{summary}");
    let [outcome] = &analysis.plans.rows[..] else { panic!("{:?}", analysis.plans) };
    outcome.clone()
}

/// The trace of a run shows what was predicted beside what happened.
#[test]
fn predictions_are_in_the_trace_of_the_run() {
    let rt = builder(4, "").trace(true).build().expect("threads can be started");
    let options = Options::default().nb(48).distribution(PLANNED);
    let (a, b, mut c) = (random((200, 100), 1), random((100, 150), 2), random::<f64>((200, 150), 3));
    let plan = ProductPlan::of_host_matrices::<f64>(&rt, NO_OPS, [200, 150, 100], false, &options);
    let plan = plan.expect("valid options").expect("a plan");
    gemm(&rt, 1.0, Op::None, a.as_ref(), Op::None, b.as_ref(), 0.0, c.as_mut(), &options).expect("a product");
    let recording = rt.take_recording().expect("tracing is on");
    let [record] = &recording.plans[..] else { panic!("{:?}", recording.plans) };
    assert_eq!((record.prediction.name, record.prediction.time_ns), ("gemm", plan.predicted_ns() as u64));
    let node = |resource: Resource| recording.nodes[usize::from(resource.0)].clone();
    let predicted = &record.prediction.traffic;
    let predicted = predicted.iter().map(|&(from, to, bytes)| (from.0, to.0, bytes));
    assert!(predicted.eq(plan.traffic().map(|(from, to, bytes)| (from.0.into(), to.0.into(), bytes))), "{record:?}");

    let outcome = outcome_in_trace(&recording);
    assert_eq!((&*outcome.name, outcome.predicted_ns), ("gemm", plan.predicted_ns() as u64));
    assert!(outcome.ratio() > Some(0.0), "{outcome:?}");
    let moved: BTreeMap<_, _> = outcome.links.iter().map(|link| (link.link.clone(), link.moved_bytes)).collect();
    let planned = plan.traffic().map(|(from, to, bytes)| (format!("{} to {}", node(from), node(to)), bytes));
    assert_eq!(moved, planned.collect(), "the copies of the results are included");

    // The other way: matrices on devices.
    let layout = Layout::tiles(BlockSize::Fixed(40)).on(1);
    let on = |a: &Matrix<f64>| DeviceMatrix::from_host(&rt, a.as_ref(), layout).expect("room on the device");
    let (a, b, mut c) = (on(&a), on(&b), on(&c));
    let _ = rt.take_recording();
    rt.scope(|s| {
        let c = c.lend(s).distributed(s, PLANNED);
        spawn::gemm(s, 1.0, Op::None, &a.lend_ref(s), Op::None, &b.lend_ref(s), 0.5, &c);
    })
    .expect("a product");
    let recording = rt.take_recording().expect("tracing is on");
    assert_eq!(recording.plans.len(), 1);
    let outcome = outcome_in_trace(&recording);
    assert!(outcome.site.contains("product_plans.rs") && outcome.ratio() > Some(0.0), "{outcome:?}");
}

/// Of the other Level-3 routines, each operand leaves the host once, and all devices compute.
#[test]
fn other_routines_copy_each_operand_from_the_host_once() {
    type Operand = Matrix<f64>;
    type Call = fn(&Runtime, &Operand, &Operand, &mut Operand, &Options) -> Result<(), superscalar::dla::Error>;
    let calls: [(&str, usize, Call); 7] = [
        ("syrk", 1, |rt, a, _, c, options| syrk(rt, Uplo::Lower, Op::None, 1.5, a.as_ref(), 0.5, c.as_mut(), options)),
        ("syr2k", 2, |rt, a, b, c, options| {
            syr2k(rt, Uplo::Upper, Op::Trans, 1.5, a.as_ref(), b.as_ref(), 0.5, c.as_mut(), options)
        }),
        ("gemmt", 2, |rt, a, b, c, options| {
            gemmt(rt, Uplo::Lower, 1.5, Op::None, a.as_ref(), Op::Trans, b.as_ref(), 0.5, c.as_mut(), options)
        }),
        ("symm", 2, |rt, a, b, c, options| {
            symm(rt, Side::Left, Uplo::Lower, 1.5, a.as_ref(), b.as_ref(), 0.5, c.as_mut(), options)
        }),
        ("symm right", 2, |rt, a, b, c, options| {
            symm(rt, Side::Right, Uplo::Upper, 1.5, a.as_ref(), b.as_ref(), 0.5, c.as_mut(), options)
        }),
        ("trmm", 1, |rt, a, _, c, options| {
            trmm(rt, Side::Left, Uplo::Upper, Op::None, Diag::NonUnit, 1.5, a.as_ref(), c.as_mut(), options)
        }),
        ("trsm", 1, |rt, a, _, c, options| {
            trsm(rt, Side::Right, Uplo::Lower, Op::Trans, Diag::NonUnit, 1.5, a.as_ref(), c.as_mut(), options)
        }),
    ];
    let n = 280;
    let dominant = |i: usize, j: usize| if i == j { 20.0 } else { element::<f64>(1, i, j) / 16.0 };
    let (a, b, c) = (Matrix::from_fn(n, n, dominant), random::<f64>((n, n), 2), random::<f64>((n, n), 3));
    let host = Runtime::builder().workers(1).bind(false).build().expect("threads can be started");
    for (name, factors, call) in calls {
        let (mut expected, mut found) = (c.clone(), c.clone());
        call(&host, &a, &b, &mut expected, &Options::default()).expect("valid arguments");
        let rt = open(3, "");
        let options = Options::default().nb(48).distribution(PLANNED);
        call(&rt, &a, &b, &mut found, &options).expect("valid arguments");
        assert_close(&found, &expected, n, name);
        let from_host: u64 = traffic(&rt).iter().filter(|(link, _)| link.0 == "host").map(|one| one.1).sum();
        assert!(from_host <= (8 * n * n * (factors + 1)) as u64, "{name}: {from_host} bytes, {:?}", traffic(&rt));
        let issued = rt.tasks_issued();
        let (least, most) = (issued.iter().min(), issued.iter().max());
        assert!(least.zip(most).is_some_and(|(&least, &most)| 3 * least > most), "{name}: {issued:?}");
    }
}

#[test]
fn impossible_shapes_are_errors() {
    let (rt, options) = (open(2, ""), Options::default().distribution(PLANNED));
    for shape in [[1 << 33; 3], [usize::MAX, 2, 2], [2, usize::MAX, 1], [1, 1, usize::MAX]] {
        let error = ProductPlan::of_host_matrices::<f64>(&rt, NO_OPS, shape, true, &options);
        assert_eq!(error.expect_err("too many bytes").kind(), ErrorKind::Shape);
    }
    for shape in [[0, 5000, 5000], [5000, 5000, 0], [0; 3]] {
        let plan = ProductPlan::of_host_matrices::<f64>(&rt, NO_OPS, shape, true, &options);
        assert_eq!(plan.expect("valid shapes"), None);
    }
}

/// All matrices are on one device, and the result is there again.
#[test]
fn results_return_to_their_device() {
    let rt = open(4, "");
    let layout = Layout::tiles(BlockSize::Fixed(40)).on(2);
    let (a, b, c) = (random::<f64>((150, 210), 1), random((210, 190), 2), random((150, 190), 3));
    let on = |a: &Matrix<f64>| DeviceMatrix::from_host(&rt, a.as_ref(), layout).expect("room on the device");
    let (at, bt, mut ct) = (on(&a), on(&b), on(&c));
    let before = traffic(&rt);
    rt.scope(|s| {
        let c = ct.lend(s).distributed(s, PLANNED);
        // There is no such device; the tile is on its device all the same.
        c.at(1, 1).deal_to(Some(Resource::device(60)));
        spawn::gemm(s, 1.0, Op::None, &at.lend_ref(s), Op::None, &bt.lend_ref(s), -1.0, &c);
    })
    .expect("a product");
    let links = traffic(&rt);
    let is_of_host = |link: &&(String, String)| link.0 == "host" || link.1 == "host";
    for link in links.keys().filter(is_of_host) {
        assert_eq!(links[link], before.get(link).copied().unwrap_or(0), "nothing crosses a link to the host");
    }
    let moved: u64 = links.iter().filter(|(link, _)| !is_of_host(link)).map(|one| one.1).sum();
    assert!(moved > 0, "other devices have multiplied, too");
    for (i, j) in (0..5).flat_map(|j| (0..4).map(move |i| (i, j))) {
        assert!(ct.holders(i, j).contains(&Resource::device(2)), "({i}, {j}): {:?}", ct.holders(i, j));
    }
    let mut found = Matrix::zeros(150, 190);
    ct.download(&rt, found.as_mut()).expect("the result is on a device");
    let host = Runtime::builder().workers(1).bind(false).build().expect("threads can be started");
    let mut expected = c;
    let options = Options::default();
    gemm(&host, 1.0, Op::None, a.as_ref(), Op::None, b.as_ref(), -1.0, expected.as_mut(), &options).expect("a product");
    assert_close(&found, &expected, 210, "on one device");
}

/// A resident result that is on the host is there again, and both factors may be the same matrix.
#[test]
fn results_return_to_the_host() {
    let rt = open(2, "");
    let layout = Layout::tiles(BlockSize::Fixed(40)).distributed(Distribution::None);
    let (a, c) = (random::<f64>((160, 160), 1), random::<f64>((160, 160), 3));
    let at = DeviceMatrix::from_host(&rt, a.as_ref(), layout).expect("room on the devices");
    let mut ct = DeviceMatrix::zeros(&rt, (160, 160), layout).expect("room on the devices");
    rt.scope(|s| {
        let (a, c) = (at.lend_ref(s), ct.lend(s).distributed(s, PLANNED));
        spawn::gemm(s, 1.0, Op::None, &a, Op::Trans, &a, 0.0, &c);
    })
    .expect("a product");
    assert!((0..4).all(|i| ct.holders(i, 3).contains(&Resource::HOST)), "{:?}", ct.holders(0, 3));
    let mut found = c.clone();
    ct.download(&rt, found.as_mut()).expect("the result is there");
    let host = Runtime::builder().workers(1).bind(false).build().expect("threads can be started");
    let (mut expected, options) = (c, Options::default());
    gemm(&host, 1.0, Op::None, a.as_ref(), Op::Trans, a.as_ref(), 0.0, expected.as_mut(), &options).expect("a product");
    assert_close(&found, &expected, 160, "A times its transpose");
}

/// The host helps with other tasks, but not with those of a plan.
#[test]
fn plans_hold_beside_a_host_that_helps() {
    let names = "sim:0:link=2e9:link-latency=1e-6,sim:1:link=2e9:link-latency=1e-6:flops=2e9:rate=2e9";
    let builder = Runtime::builder().workers(1).bind(false).weights_file(None).host_helps(true);
    let opened = devices::open(names, None).expect("simulated devices are there");
    let rt = opened.add_to(builder).build().expect("threads can be started");
    check_product::<f64>(&rt, [200, 190, 210], NO_OPS, 0.5);
}

/// A device is lost while a planned product runs. What only it had, or was to forward, is lost; then the error says so.
/// The next product is computed by the other devices.
#[test]
fn a_lost_device_leaves_its_share_to_the_others() {
    for (fault, beta) in
        ["kernel@2!", "in@3!", "peer@2!", "kernel@20!"].into_iter().flat_map(|it| [(it, 0.0), (it, 0.5)])
    {
        let settings = "flops=0:rate=0:latency=0:link=2e9:link-latency=1e-6:peer=2e9";
        let names = format!("sim:0:{settings}:fault={fault},sim:1:{settings},sim:2:{settings}");
        let builder = Runtime::builder().workers(2).bind(false).weights_file(None).host_helps(false);
        let rt = devices::open(&names, None).expect("simulated devices are there").add_to(builder).build();
        let rt = rt.expect("threads can be started");
        let options = Options::default().nb(48).distribution(PLANNED);
        let plan = ProductPlan::of_host_matrices::<f64>(&rt, NO_OPS, [200; 3], beta != 0.0, &options);
        assert!(plan.expect("valid options").is_some(), "{fault}: not planned");
        let (a, b, old) = (random((200, 200), 1), random((200, 200), 2), random::<f64>((200, 200), 3));
        let multiply = |c: &mut Matrix<f64>| {
            gemm(&rt, 1.0, Op::None, a.as_ref(), Op::None, b.as_ref(), beta, c.as_mut(), &options)
        };
        if let Err(error) = multiply(&mut old.clone()) {
            assert_eq!(error.kind(), ErrorKind::Device, "{fault}: {error}");
        }
        let (before, mut c) = (rt.tasks_issued(), old.clone());
        multiply(&mut c).unwrap_or_else(|error| panic!("{fault}, the second time: {error}"));
        let issued = rt.tasks_issued();
        assert_eq!(before[0], issued[0], "{fault}: the device was not lost");
        assert!(before[1] < issued[1] && before[2] < issued[2], "{fault}: the others compute");
        let (mut expected, options) = (old, Options::default());
        let host = Runtime::builder().workers(1).bind(false).build().expect("threads can be started");
        let c_host = expected.as_mut();
        gemm(&host, 1.0, Op::None, a.as_ref(), Op::None, b.as_ref(), beta, c_host, &options).expect("a product");
        assert_close(&c, &expected, 200, fault);
    }
}

/// Several threads multiply at once, with the same plans and others, while there is little memory.
#[test]
fn threads_share_plans() {
    let rt = open(2, ":memory=1M");
    let host = Runtime::builder().workers(1).bind(false).build().expect("threads can be started");
    std::thread::scope(|threads| {
        for thread in 0..4_u64 {
            let (rt, host) = (&rt, &host);
            threads.spawn(move || {
                for round in 0..4 {
                    let n = 150 + 30 * usize::try_from((thread + round) % 3).expect("a small number");
                    let (a, b) = (random::<f64>((n, n), thread), random::<f64>((n, n), round));
                    let (mut c, mut expected) = (random::<f64>((n, n), 3), random::<f64>((n, n), 3));
                    let (planned, plain) = (Options::default().nb(48).distribution(PLANNED), Options::default());
                    let (a, b) = (a.as_ref(), b.as_ref());
                    gemm(rt, 1.0, Op::None, a, Op::Trans, b, 0.5, c.as_mut(), &planned).expect("a product");
                    gemm(host, 1.0, Op::None, a, Op::Trans, b, 0.5, expected.as_mut(), &plain).expect("a product");
                    assert_close(&c, &expected, n, "one of several threads");
                }
            });
        }
    });
}
