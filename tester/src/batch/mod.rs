//! Runs a case whose problems are a batch: makes the problems, calls our library and each peer in each of its ways,
//! checks results, and times the calls.
//!
//! | module | contents |
//! |---|---|
//! | [`problems`] | the problems, each made when it is needed; some with a defect |
//! | [`packed`], [`store`] | the operands of all problems in one slice each |
//! | [`roles`] | what an operation reads and writes |
//! | [`ours`], [`peers`] | the calls |
//! | [`verdict`] | the check of the results |

mod ours;
mod packed;
mod peers;
mod problems;
mod roles;
mod store;
mod verdict;

use crate::bench::Bench;
use crate::case::{Case, Location};
use crate::check::Finding;
use crate::contest::{self, Contest};
use crate::memory;
use crate::methods::Methods;
use crate::ours::Ours;
use crate::peer::{Unavailable, Way};
use crate::report::{ProblemCounts, Row, Status};
use crate::sizes::Batch;
use crate::types::Type;
use peers::Contender;
use problems::Problems;
use std::time::Duration;
use store::Store;
use superscalar_dla::Scalar;
use verdict::Examined;

/// The number of problems whose results are checked, besides those that are bad and their neighbours.
pub const CHECKED_MAX: usize = 64;

/// A case in one type.
struct BatchRun<'a, T: Scalar> {
    bench: &'a Bench<'a>,
    case: &'a Case,
    ours: Ours<'a>,
    routine: &'a Methods<T>,
    problems: &'a Problems<'a, T>,
    contenders: &'a [Contender<'a>],
    examined: Examined,
    store: Store<T>,
}

/// Runs a case. Returns one row, or with peers one row for each way of each peer; no row for letters that the form for
/// batches does not take in this type.
pub fn run<T: Scalar>(routine: &Methods<T>, bench: &Bench<'_>, letter: Type, case: &Case, batch: Batch) -> Vec<Row> {
    let operation = match (routine.batched)(case) {
        Some(operation) if (routine.admits)(case) => operation,
        _ => return Vec::new(),
    };
    let (setting, ld_pad) = (bench.setting, bench.ld_pad.unwrap_or(0));
    let head = Row { ld_pad, ..Row::new(routine.name, routine.uses, letter, case) };
    let problems = Problems::new(routine, case, batch, setting.seed, ld_pad);
    let made = Store::new(&problems, operation, (ld_pad, bench.memory, memory::available()));
    let (Some(store), Some(bad), Some(contenders)) =
        (made, problems.bad(), peers::contenders(bench.peers, routine, &problems))
    else {
        return vec![head.skipped("not enough memory")];
    };
    let examined = Examined { sample: problems.sample(CHECKED_MAX), bad };
    let counts = ProblemCounts { checked: if bench.check { examined.count() } else { 0 }, bad: examined.bad.len() };
    let status = if bench.check { Status::Ok } else { Status::Unchecked };
    let head = Row { status, problems: Some(counts), ..head };
    let ours = Ours::new(bench.runtime, case.nb, setting.distribution);
    let (problems, contenders) = (&problems, &contenders[..]);
    let mut run = BatchRun { bench, case, ours, routine, problems, contenders, examined, store };
    let results = contest::hold(&mut run, 1 + contenders.len(), setting.repeat, problems.flops());
    let names: Vec<String> = contenders.iter().map(Contender::name).collect();
    contest::rows(&head, &names, &results, routine.method(case))
}

impl<T: Scalar> Contest for BatchRun<'_, T> {
    /// The message if no problem was computed.
    type Outcome = Result<(), String>;

    fn call(&mut self, contender: usize) -> (Duration, Result<Self::Outcome, Unavailable>) {
        self.store.restore();
        let location = self.bench.setting.location;
        let Some(at) = contender.checked_sub(1) else {
            let (time, result) = match location {
                Location::Host => ours::on_host(&self.ours, &mut self.store),
                Location::Device => ours::on_devices(&self.ours, self.case, &mut self.store),
            };
            return (time, Ok(result.map_err(|error| error.to_string())));
        };
        if matches!(self.contenders[at].way, Way::Compact { .. }) && !self.examined.bad.is_empty() {
            let why = Unavailable("compact routines return no info for each problem".to_owned());
            return (Duration::ZERO, Err(why));
        }
        let what = (self.routine, self.problems);
        match peers::call(&self.contenders[at], what, &mut self.store, (self.bench.runtime, location)) {
            Ok(time) => (time, Ok(Ok(()))),
            Err(why) => (Duration::ZERO, Err(why)),
        }
    }

    fn judge(&self, contender: usize, outcome: &Self::Outcome) -> Finding {
        if let Err(message) = outcome {
            return Finding { error: None, wrong: Some(message.clone()) };
        }
        let bound = self.bench.check.then_some(self.bench.setting.bound);
        verdict::judge(self.routine, self.problems, &self.store, &self.examined, (contender == 0, bound))
    }
}

#[cfg(test)]
pub mod tests;
