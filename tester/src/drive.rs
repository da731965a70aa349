//! Runs a case: makes the operands, calls our library and the peers, checks the results, and times the calls.

use crate::bench::Bench;
use crate::case::{Case, Location};
use crate::check::{self, CallOutcome, Finding};
use crate::contest::{self, ContenderResult, Contest};
use crate::memory;
use crate::methods::Methods;
use crate::operand::{Maker, Operands};
use crate::ours::Ours;
use crate::peer::Unavailable;
use crate::report::{Row, Status};
use crate::routine::Expected;
use crate::types::Type;
use std::time::{Duration, Instant};
use superscalar_dla::Scalar;

/// The default padding of the leading dimension for small cases that are checked.
const LD_PAD_DEFAULT: usize = 3;
/// The largest size of small cases. Larger cases are for timing, and have no padding by default, like a user's
/// matrices.
const SMALL_CASE_MAX: usize = 512;

/// A case in one type.
struct CaseRun<'a, T: Scalar> {
    bench: &'a Bench<'a>,
    case: &'a Case,
    ours: Ours<'a>,
    original: Operands<T>,
    work: Operands<T>,
    routine: &'a Methods<T>,
}

/// Runs a case. Returns one row, or with peers one row for each peer; no row for letters that the routine does not take
/// in this type.
pub fn run<T: Scalar>(routine: &Methods<T>, bench: &Bench<'_>, letter: Type, case: &Case) -> Vec<Row> {
    let head = head(routine, bench, letter, case);
    if let Some(why) = routine.absent {
        return vec![head.skipped(why)];
    }
    if bench.setting.location == Location::Device && routine.tiling.is_none() {
        return vec![head.skipped("not called with matrices on devices")];
    }
    if !(routine.admits)(case) {
        return Vec::new();
    }
    let Some(mut case_run) = CaseRun::new(routine, bench, case, head.ld_pad) else {
        return vec![head.skipped("not enough memory")];
    };
    let flops = (routine.operations)(case).flops::<T>();
    let mut results = contest::hold(&mut case_run, 1 + bench.peers.len(), bench.setting.repeat, flops);
    if bench.check && routine.largest_size(case) <= check::DEFECTS_ORDER_MAX {
        case_run.try_defects(&mut results);
    }
    let peers: Vec<String> = bench.peers.iter().map(|peer| peer.name().to_owned()).collect();
    contest::rows(&head, &peers, &results, routine.method(case))
}

/// Returns what the rows of a case have in common.
fn head<T: Scalar>(routine: &Methods<T>, bench: &Bench<'_>, letter: Type, case: &Case) -> Row {
    let default = if bench.check && routine.largest_size(case) <= SMALL_CASE_MAX { LD_PAD_DEFAULT } else { 0 };
    let ld_pad = bench.ld_pad.unwrap_or(default);
    let status = if bench.check { Status::Ok } else { Status::Unchecked };
    Row { ld_pad, status, ..Row::new(routine.name, routine.uses, letter, case) }
}

impl<'a, T: Scalar> CaseRun<'a, T> {
    /// Makes the operands. Returns `None` if there is not enough memory for them and a copy.
    fn new(routine: &'a Methods<T>, bench: &'a Bench<'a>, case: &'a Case, ld_pad: usize) -> Option<Self> {
        let mut make = Maker::new(bench.setting.seed, ld_pad, memory::available() / 2);
        let original = (routine.operands)(case, &mut make)?;
        let work = original.duplicate_in(bench.memory)?;
        let ours = Ours::new(bench.runtime, case.nb, bench.setting.distribution);
        Some(Self { bench, case, ours, original, work, routine })
    }

    /// Tries the inputs with defects, and adds the errors to the results.
    fn try_defects(&self, results: &mut [ContenderResult]) {
        let ours = &mut results[0].finding.wrong;
        let bound = self.bench.setting.bound;
        *ours = ours.take().or_else(|| check::defects(self.routine, &self.ours, self.case, &self.original, bound));
        // Peers are asked only for LAPACK's info; their results for NaN are not checked.
        for defect in (self.routine.defects)(self.case, &self.original) {
            let (Expected::Info(expected) | Expected::Completed(expected)) = defect.expected else { continue };
            for (peer, result) in self.bench.peers.iter().zip(&mut results[1..]) {
                let Some(mut operands) = defect.operands.duplicate() else { continue };
                let info = peer.call((self.routine.peer)(&defect.case, &mut operands));
                if let Ok(info) = info.map(as_outcome)
                    && info != Ok(expected)
                {
                    let wrong = format!("the peer: info {info:?} for {}, but LAPACK returns {expected}", defect.name);
                    result.finding.wrong.get_or_insert(wrong);
                }
            }
        }
    }
}

impl<T: Scalar> Contest for CaseRun<'_, T> {
    type Outcome = CallOutcome;

    fn call(&mut self, contender: usize) -> (Duration, Result<CallOutcome, Unavailable>) {
        self.work.restore(&self.original);
        match (contender.checked_sub(1), self.bench.setting.location) {
            (None, Location::Device) => {
                let (time, result) = (self.routine.resident)(&self.ours, self.case, &mut self.work);
                (time, Ok(check::outcome(result)))
            }
            (Some(peer), Location::Device) => {
                let timed = self.bench.peers[peer].call_on_device((self.routine.peer)(self.case, &mut self.work));
                let time = timed.as_ref().map_or(Duration::ZERO, |timed| timed.0);
                (time, timed.map(|(_, info)| as_outcome(info)))
            }
            (None, Location::Host) => {
                let start = Instant::now();
                let result = (self.routine.ours)(&self.ours, self.case, &mut self.work);
                (start.elapsed(), Ok(check::outcome(result)))
            }
            (Some(peer), Location::Host) => {
                let call = (self.routine.peer)(self.case, &mut self.work);
                let start = Instant::now();
                let info = self.bench.peers[peer].call(call);
                (start.elapsed(), info.map(as_outcome))
            }
        }
    }

    fn judge(&self, _: usize, outcome: &CallOutcome) -> Finding {
        if self.bench.check {
            let bound = self.bench.setting.bound;
            check::ordinary(self.routine, self.case, &self.original, &self.work, outcome, bound)
        } else {
            Finding { error: None, wrong: check::complaint(outcome) }
        }
    }
}

/// Converts a peer's info. A negative info reports an invalid argument.
fn as_outcome(info: i32) -> CallOutcome {
    usize::try_from(info).map_err(|_| format!("info {info}: the routine rejected an argument"))
}

#[cfg(test)]
pub mod tests;
