//! Runs of a routine with every number of workers, policy and block size.

use std::cell::Cell;
use superscalar_dla::{BlockSize, Error, ErrorKind, Options, Scalar};
use superscalar_kernels::Op;
use superscalar_oracle::is_full;
use superscalar_runtime::{PolicyName, Runtime};

/// LAPACK's scaled residuals have n ε in the denominator, so they are about one for stable routines; small n need
/// margin.
pub const BOUND: f64 = 8.0;
/// Block columns of one column are tested up to this order.
const SINGLE_MAX: usize = 31;

/// Empty, smallest, ragged, tall and wide.
pub const SHAPES: [(usize, usize); 19] = [
    (0, 0),
    (0, 3),
    (3, 0),
    (1, 1),
    (1, 2),
    (2, 1),
    (2, 2),
    (3, 2),
    (3, 3),
    (1, 31),
    (31, 1),
    (31, 31),
    (64, 64),
    (64, 3),
    (3, 64),
    (100, 31),
    (31, 100),
    (100, 64),
    (100, 100),
];
pub const ORDERS: [usize; 7] = [0, 1, 2, 3, 31, 64, 100];

/// A runtime for each number of workers and policy, the default policy first.
pub struct Runtimes {
    all: Vec<Runtime>,
    turn: Cell<usize>,
}

impl Runtimes {
    pub fn new() -> Self {
        let build = |workers, policy| Runtime::builder().workers(workers).policy(policy).bind(false).build();
        let all = [2, 1].into_iter().flat_map(|workers| PolicyName::ALL.map(|policy| build(workers, policy)));
        Self { all: all.map(|runtime| runtime.expect("threads can be started")).collect(), turn: Cell::new(0) }
    }

    /// Returns the runtimes to test: for each number of workers the default policy and, in turn, one other; all with
    /// FULL=1.
    fn due(&self) -> impl Iterator<Item = &Runtime> {
        let (policies, turn) = (PolicyName::ALL.len(), self.turn.replace(self.turn.get() + 1));
        let other = 1 + turn % (policies - 1);
        let is_due = move |at: usize| is_full() || at.is_multiple_of(policies) || at % policies == other;
        self.all.iter().enumerate().filter(move |(at, _)| is_due(*at)).map(|(_, runtime)| runtime)
    }

    /// Runs `call` with every block size on every runtime. The first result of each block size goes to `check`; the
    /// others must equal it. Automatic block sizes, and so their results, may depend on the number of workers.
    pub fn on_all<R: PartialEq>(&self, order: usize, call: impl Fn(&Runtime, &Options) -> R, check: impl Fn(&R, &str)) {
        self.run(order, |block_size| block_size == BlockSize::Auto, call, check);
    }

    /// Like [`on_all`](Self::on_all), for routines that divide right-hand sides among the workers: only results with
    /// the same number of workers must be equal.
    pub fn on_all_worker_dependent<R: PartialEq>(
        &self,
        order: usize,
        call: impl Fn(&Runtime, &Options) -> R,
        check: impl Fn(&R, &str),
    ) {
        self.run(order, |_| true, call, check);
    }

    /// Like [`on_all`](Self::on_all), with one block size.
    pub fn on_all_with<R: PartialEq>(
        &self,
        block_size: BlockSize,
        call: impl Fn(&Runtime, &Options) -> R,
        check: impl Fn(&R, &str),
    ) {
        self.run_with(block_size, block_size == BlockSize::Auto, &call, &check);
    }

    fn run<R: PartialEq>(
        &self,
        order: usize,
        depends_on_workers: impl Fn(BlockSize) -> bool,
        call: impl Fn(&Runtime, &Options) -> R,
        check: impl Fn(&R, &str),
    ) {
        for block_size in block_sizes(order) {
            self.run_with(block_size, depends_on_workers(block_size), &call, &check);
        }
    }

    fn run_with<R: PartialEq>(
        &self,
        block_size: BlockSize,
        depends_on_workers: bool,
        call: impl Fn(&Runtime, &Options) -> R,
        check: impl Fn(&R, &str),
    ) {
        let options = Options::default().block_size(block_size);
        let mut known: Option<(usize, R)> = None;
        for rt in self.due() {
            let result = call(rt, &options);
            let what = format!("{block_size:?}, {} workers, {}", rt.workers(), rt.policy());
            match &known {
                Some((workers, known)) if *workers == rt.workers() || !depends_on_workers => {
                    assert!(result == *known, "{what}: another result than with {workers} workers");
                }
                _ => {
                    check(&result, &what);
                    known = Some((rt.workers(), result));
                }
            }
        }
    }
}

fn block_sizes(order: usize) -> Vec<BlockSize> {
    let single = if order <= SINGLE_MAX { Some(BlockSize::Fixed(1)) } else { None };
    single.into_iter().chain([BlockSize::Fixed(7), BlockSize::Fixed(32), BlockSize::Auto]).collect()
}

/// Returns a runtime with two workers.
pub fn runtime() -> Runtime {
    Runtime::builder().workers(2).bind(false).build().expect("threads can be started")
}

/// Returns the ops that the routines with Q support: Trans is refused for complex types.
pub fn ops_of_q<T: Scalar>() -> Vec<Op> {
    if T::COMPLEX { vec![Op::None, Op::ConjTrans] } else { vec![Op::None, Op::Trans, Op::ConjTrans] }
}

/// Checks that the routine returned an error of this kind, without `info`.
#[track_caller]
pub fn assert_refused<R: std::fmt::Debug>(outcome: Result<R, Error>, kind: ErrorKind) {
    let error = outcome.expect_err("a refusal");
    assert!(error.kind() == kind && error.info().is_none(), "{error:?}");
}

/// Checks that the routine returned this `info`.
#[track_caller]
pub fn assert_info<R: std::fmt::Debug>(outcome: Result<R, Error>, kind: ErrorKind, info: usize) {
    let error = outcome.expect_err("a numerical outcome");
    assert_eq!((error.kind(), error.info()), (kind, Some(info)), "{error}");
}

/// Checks that a scaled residual is small and not NaN.
#[track_caller]
pub fn assert_small(residual: f64, what: &str) {
    assert!(residual <= BOUND, "{what}: residual {residual}");
}
