//! Tests products in half precision: on the host, by a plan on simulated devices, and left to the policy. Integers make
//! sums exact in single precision, so that results are exact, rounded once.

use std::collections::BTreeMap;
use superscalar::{
    Resource, Runtime, devices,
    dla::{Distribution, ErrorKind, Half, HalfResult, MatMut, MatRef, Op, Options, ProductPlan, bf16, f16, gemm_half},
};
use superscalar_oracle::Random;

const OPS: [Op; 2] = [Op::None, Op::Trans];

fn host() -> Runtime {
    Runtime::builder().workers(2).bind(false).weights_file(None).build().expect("threads can be started")
}

/// Returns a runtime with this many linked devices, on which only copies take simulated time.
fn open(devices: usize, settings: &str) -> Runtime {
    let name =
        |number: usize| format!("sim:{number}:flops=0:rate=0:latency=0:link=2e9:link-latency=1e-6:peer=2e9{settings}");
    let names: Vec<String> = (0..devices).map(name).collect();
    let builder = Runtime::builder().workers(2).bind(false).weights_file(None).host_helps(false);
    let opened = devices::open(&names.join(","), None).expect("simulated devices are there");
    opened.add_to(builder).build().expect("threads can be started")
}

fn planned(nb: usize) -> Options {
    Options::default().nb(nb).distribution(Distribution::Planned)
}

/// Integers between -4 and 4.
fn integers<H: Half>(len: usize, seed: u64) -> Vec<H> {
    let mut numbers = Random::new(seed);
    (0..len).map(|_| H::from_single(numbers.below(9) as f32 - 4.0)).collect()
}

/// A product, and its exact result.
struct Case<H, C> {
    shape: [usize; 3],
    ops: (Op, Op),
    alpha: f32,
    beta: f32,
    a: Vec<H>,
    b: Vec<H>,
    c: Vec<C>,
}

impl<H: Half, C: HalfResult<H>> Case<H, C> {
    fn new([m, n, k]: [usize; 3], ops: (Op, Op), (alpha, beta): (f32, f32)) -> Self {
        let old = |x: &H| C::rounded(if beta == 0.0 { f32::NAN } else { x.to_single() });
        let c = integers::<H>(m * n, 3).iter().map(old).collect();
        Self { shape: [m, n, k], ops, alpha, beta, a: integers(m * k, 1), b: integers(k * n, 2), c }
    }

    fn expected(&self) -> Vec<f32> {
        let ([m, n, k], (op_a, op_b)) = (self.shape, self.ops);
        let at = |x: &[H], rows: usize, op: Op, i: usize, j: usize| {
            let (i, j) = if op == Op::None { (i, j) } else { (j, i) };
            f64::from(x[i + j * rows].to_single())
        };
        let (rows_a, rows_b) = (op_a.shape((m, k)).0, op_b.shape((k, n)).0);
        let element = |i: usize, j: usize| {
            let terms = (0..k).map(|p| at(&self.a, rows_a, op_a, i, p) * at(&self.b, rows_b, op_b, p, j));
            let sum = f64::from(self.alpha) * terms.sum::<f64>();
            let kept = if self.beta == 0.0 { 0.0 } else { self.beta * self.c[i + j * m].widened() };
            C::rounded((sum + f64::from(kept)) as f32).widened()
        };
        (0..n).flat_map(|j| (0..m).map(move |i| (i, j))).map(|(i, j)| element(i, j)).collect()
    }

    fn multiply(&mut self, rt: &Runtime, options: &Options) -> Vec<f32> {
        let (&mut Self { shape: [m, n, k], ops: (op_a, op_b), alpha, beta, ref a, ref b, ref mut c },) = (self,);
        let ((rows_a, cols_a), (rows_b, cols_b)) = (op_a.shape((m, k)), op_b.shape((k, n)));
        let a = MatRef::from_col_major(a, rows_a, cols_a, rows_a.max(1)).expect("a matrix");
        let b = MatRef::from_col_major(b, rows_b, cols_b, rows_b.max(1)).expect("a matrix");
        let c_view = MatMut::from_col_major(c, m, n, m.max(1)).expect("a matrix");
        gemm_half(rt, alpha, op_a, a, op_b, b, beta, c_view, options).expect("a product");
        c.iter().map(|x| x.widened()).collect()
    }
}

fn check<H: Half, C: HalfResult<H>>(
    rt: &Runtime,
    options: &Options,
    shape: [usize; 3],
    ops: (Op, Op),
    factors: (f32, f32),
) {
    let mut case = Case::<H, C>::new(shape, ops, factors);
    let expected = case.expected();
    let found = case.multiply(rt, options);
    let wrong = found.iter().zip(&expected).position(|(found, expected)| found != expected);
    assert_eq!(wrong, None, "{}: {shape:?}, {ops:?}, {factors:?}", H::NAME);
}

fn check_all(rt: &Runtime, options: &Options) {
    for shape in [[200, 170, 330], [97, 311, 50], [1, 400, 60], [300, 1, 149], [1, 1, 1], [70, 60, 0], [0, 5, 5]] {
        for ops in OPS.into_iter().flat_map(|op_a| OPS.map(|op_b| (op_a, op_b))) {
            check::<f16, f16>(rt, options, shape, ops, (1.5, 0.5));
            check::<f16, f32>(rt, options, shape, ops, (1.0, 0.0));
            check::<bf16, bf16>(rt, options, shape, ops, (-1.0, 0.0));
            check::<bf16, f32>(rt, options, shape, ops, (1.0, 1.0));
        }
        check::<f16, f16>(rt, options, shape, (Op::None, Op::None), (0.0, 2.0));
    }
}

#[test]
fn products_on_the_host() {
    check_all(&host(), &Options::default());
    check_all(&host(), &Options::default().nb(48));
    check::<f16, f16>(&host(), &Options::default(), [520, 300, 530], (Op::None, Op::Trans), (1.0, 1.0));
}

#[test]
fn products_by_a_plan_and_by_the_policy() {
    for devices in [1, 4] {
        check_all(&open(devices, ""), &planned(48));
    }
    check_all(&open(2, ""), &Options::default().nb(64).distribution(Distribution::None));
    let options = Options::default().nb(64).distribution(Distribution::TwoDimensionalCyclic);
    let (rt, ops) = (open(2, ""), (Op::None, Op::Trans));
    check::<f16, f16>(&rt, &options, [200, 170, 330], ops, (1.5, 0.5));
    assert!(rt.tasks_issued().iter().all(|&tasks| tasks > 10), "C is dealt: {:?}", rt.tasks_issued());
}

/// Returns the bytes over each link so far.
fn traffic(rt: &Runtime) -> BTreeMap<(String, String), u64> {
    let mut all = BTreeMap::new();
    rt.traffic().into_iter().for_each(|link| *all.entry((link.from, link.to)).or_default() += link.bytes);
    all
}

/// What is copied is what was planned, with two bytes for each number.
#[test]
fn plans_count_two_bytes() {
    let (rt, shape) = (open(4, ""), [200, 150, 100]);
    let ops = (Op::None, Op::Trans);
    let plan = ProductPlan::of_half_matrices::<bf16, bf16>(&rt, ops, shape, true, &planned(48));
    let plan = plan.expect("valid options").expect("a plan");
    check::<bf16, bf16>(&rt, &planned(48), shape, ops, (1.0, 1.0));
    let devices = rt.devices();
    let name = |of: Resource| of.device_index().map_or("host".to_owned(), |at| devices[usize::from(at)].name.clone());
    let expected: BTreeMap<_, _> = plan.traffic().map(|(from, to, bytes)| ((name(from), name(to)), bytes)).collect();
    assert_eq!(traffic(&rt), expected);
    let to_host: u64 = expected.iter().filter(|(link, _)| link.1 == "host").map(|(_, bytes)| bytes).sum();
    assert_eq!(to_host, 200 * 150 * 2);
    assert_eq!(format!("{plan:#}").matches(": C(0, 0) += A(0, 2) B(2, 0)").count(), 1, "{plan:#}");
}

/// With the sum of the first step rounded to half precision, the result would be 2048.
#[test]
fn sums_are_rounded_once() {
    let ones = |len: usize| vec![f16::from_f32(1.0); len];
    let first = |p: usize| f16::from_f32(if p == 0 { 2048.0 } else { 0.0 });
    let a: Vec<f16> = (0..4).map(|p| if p == 1 || p == 3 { f16::from_f32(1.0) } else { first(p) }).collect();
    for (rt, options) in [(host(), Options::default().nb(2)), (open(2, ""), planned(2))] {
        let mut c = vec![f16::from_f32(0.0); 9];
        let a: Vec<f16> = a.iter().flat_map(|&x| [x; 3]).collect();
        let (a, b) = (MatRef::from_col_major(&a, 3, 4, 3), ones(12));
        let b = MatRef::from_col_major(&b, 4, 3, 4).expect("a matrix");
        let c_view = MatMut::from_col_major(&mut c, 3, 3, 3).expect("a matrix");
        gemm_half(&rt, 1.0, Op::None, a.expect("a matrix"), Op::None, b, 0.0, c_view, &options).expect("a product");
        assert!(c.iter().all(|x| x.to_f32() == 2050.0), "{c:?}");
    }
}

/// Matrices that exceed the devices' memory are multiplied in turns.
#[test]
fn products_that_exceed_the_memory() {
    for (devices, memory) in [(1, "64K"), (2, "64K"), (4, "48K")] {
        let rt = open(devices, &format!(":memory={memory}"));
        let plan = ProductPlan::of_half_matrices::<f16, f16>(&rt, (Op::None, Op::None), [300; 3], true, &planned(40));
        assert!(plan.expect("valid options").is_some(), "{devices}: not planned");
        check::<f16, f16>(&rt, &planned(40), [300; 3], (Op::None, Op::None), (1.0, 0.5));
        // Sums of areas that are done are not kept: evicted, they would have 4 bytes for each element of C.
        let to_host: u64 = traffic(&rt).iter().filter(|(link, _)| link.1 == "host").map(|one| one.1).sum();
        assert!(to_host <= 2 * 300 * 300 * 2, "{devices}: {to_host} bytes to the host");
        check::<f16, f16>(&rt, &Options::default().nb(64), [300; 3], (Op::None, Op::Trans), (1.0, 0.5));
        check::<f16, f32>(&rt, &planned(40), [300; 3], (Op::Trans, Op::None), (1.0, 0.0));
    }
}

#[test]
fn shapes_that_do_not_agree_are_errors() {
    let (a, mut c) = (integers::<f16>(12, 1), vec![0.0_f32; 9]);
    let a = MatRef::from_col_major(&a, 3, 4, 3).expect("a matrix");
    let c = MatMut::from_col_major(&mut c, 3, 3, 3).expect("a matrix");
    let error = gemm_half(&host(), 1.0, Op::None, a, Op::None, a, 0.0, c, &Options::default()).expect_err("refused");
    assert_eq!(error.kind(), ErrorKind::Shape);
    assert_eq!(error.to_string(), "gemm_half: op(A) is 3 x 4, op(B) is 3 x 4, C is 3 x 3");
    let error = ProductPlan::of_half_matrices::<f16, f32>(
        &open(2, ""),
        (Op::None, Op::None),
        [usize::MAX, 2, 2],
        true,
        &planned(40),
    );
    assert_eq!(error.expect_err("too many bytes").kind(), ErrorKind::Shape);
}
