//! Runs a case: makes the operands, calls our library and the peers, checks the results, and times the calls.

use crate::case::{Case, Location, Parameter};
use crate::check::{self, CallOutcome, Finding};
use crate::elements::MemoryKind;
use crate::measure::{gflops, in_turns, median, settle};
use crate::memory;
use crate::methods::Methods;
use crate::operand::{Maker, Operands};
use crate::ours::Ours;
use crate::peer::{Peer, Unavailable};
use crate::range::{Dim, TileSize};
use crate::report::{PeerPart, Row, Setting, Status, Timing};
use crate::routine::Expected;
use crate::types::Type;
use std::time::{Duration, Instant};
use superscalar_dla::{Options, Scalar};
use superscalar_runtime::Runtime;

/// The default padding of the leading dimension for small cases that are checked.
const LD_PAD_DEFAULT: usize = 3;
/// The largest size of small cases. Larger cases are for timing, and have no padding by default, like a user's
/// matrices.
const SMALL_CASE_MAX: usize = 512;

/// The data that all cases of a run share.
pub struct Bench<'a> {
    pub runtime: &'a Runtime,
    pub peers: &'a [Peer],
    pub setting: &'a Setting,
    pub check: bool,
    /// The kind of memory of timed operands.
    pub memory: MemoryKind,
    /// `None` for the default of each case.
    pub ld_pad: Option<usize>,
}

/// A case in one type.
struct CaseRun<'a, T: Scalar> {
    bench: &'a Bench<'a>,
    case: &'a Case,
    letter: Type,
    ld_pad: usize,
    ours: Ours<'a>,
    original: Operands<T>,
    work: Operands<T>,
    routine: &'a Methods<T>,
}

/// The results of the calls of our library or of one peer.
struct ContenderResult {
    finding: Finding,
    timing: Option<Timing>,
    /// Why it was not called.
    absent: Option<String>,
}

/// Runs a case. Returns one row, or with peers one row for each peer; no row for letters that the routine does not take
/// in this type.
pub fn run<T: Scalar>(routine: &Methods<T>, bench: &Bench<'_>, letter: Type, case: &Case) -> Vec<Row> {
    if let Some(why) = routine.absent {
        return vec![skipped(routine, bench, letter, case, why)];
    }
    if bench.setting.location == Location::Device && routine.tiling.is_none() {
        return vec![skipped(routine, bench, letter, case, "not called with matrices on devices")];
    }
    if !(routine.admits)(case) {
        return Vec::new();
    }
    let mut case_run = match CaseRun::new(routine, bench, letter, case) {
        Some(case_run) => case_run,
        None => return vec![skipped(routine, bench, letter, case, "not enough memory")],
    };
    let mut results = case_run.call_all();
    if bench.check && largest_size(routine.uses, case) <= check::DEFECTS_ORDER_MAX {
        case_run.try_defects(&mut results);
    }
    let ours = results.remove(0);
    if results.is_empty() {
        return vec![case_run.row(&ours, None)];
    }
    bench.peers.iter().zip(&results).map(|(peer, result)| case_run.row(&ours, Some((peer, result)))).collect()
}

fn skipped<T: Scalar>(routine: &Methods<T>, bench: &Bench<'_>, letter: Type, case: &Case, why: &str) -> Row {
    Row {
        routine: routine.name,
        uses: routine.uses,
        letter,
        case: *case,
        ld_pad: ld_pad(routine, bench, case),
        error: None,
        check: None,
        timing: None,
        peer: None,
        status: Status::Skipped,
        reason: Some(why.to_owned()),
    }
}

/// Returns the largest of the sizes that the routine uses.
fn largest_size(uses: &[Parameter], case: &Case) -> usize {
    let sizes = uses.iter().filter(|parameter| parameter.is_size());
    sizes.filter_map(|&parameter| case.value(parameter).parse().ok()).max().unwrap_or(0)
}

/// Returns how the residual of a case is evaluated, for rows.
fn method<T: Scalar>(routine: &Methods<T>, case: &Case) -> &'static str {
    let Dim { m, n, k } = case.dim;
    let used = |parameter, size| if routine.uses.contains(&parameter) { size } else { 0 };
    let size = used(Parameter::M, m).max(used(Parameter::N, n)).max(used(Parameter::K, k));
    if size <= routine.products_max { "products" } else { "probes" }
}

fn ld_pad<T: Scalar>(routine: &Methods<T>, bench: &Bench<'_>, case: &Case) -> usize {
    let default = if bench.check && largest_size(routine.uses, case) <= SMALL_CASE_MAX { LD_PAD_DEFAULT } else { 0 };
    bench.ld_pad.unwrap_or(default)
}

impl<'a, T: Scalar> CaseRun<'a, T> {
    /// Makes the operands. Returns `None` if there is not enough memory for them and a copy.
    fn new(routine: &'a Methods<T>, bench: &'a Bench<'a>, letter: Type, case: &'a Case) -> Option<Self> {
        let ld_pad = ld_pad(routine, bench, case);
        let mut make = Maker::new(bench.setting.seed, ld_pad, memory::available() / 2);
        let original = (routine.operands)(case, &mut make)?;
        let work = original.duplicate_in(bench.memory)?;
        let options = match case.nb {
            TileSize::Auto => Options::default(),
            TileSize::Fixed(nb) => Options::default().nb(nb),
        };
        let distribution = bench.setting.distribution;
        let options = distribution.map_or(options, |distribution| options.distribution(distribution));
        let ours = Ours { runtime: bench.runtime, options, distribution };
        Some(Self { bench, case, letter, ld_pad, ours, original, work, routine })
    }

    /// Calls and times our library first, then each peer.
    fn call_all(&mut self) -> Vec<ContenderResult> {
        let contenders = 1 + self.bench.peers.len();
        let (mut first, mut results) = (Vec::new(), Vec::new());
        for contender in 0..contenders {
            if contenders > 1 {
                settle();
            }
            let (time, result) = self.call(contender);
            first.push(time);
            results.push(self.judge(contender, result));
        }
        let present: Vec<usize> = (0..contenders).filter(|&contender| results[contender].absent.is_none()).collect();
        let first: Vec<Duration> = present.iter().map(|&contender| first[contender]).collect();
        let repeat = self.bench.setting.repeat;
        let times = match repeat {
            1 => first.iter().map(|&time| vec![time]).collect(),
            _ => in_turns(&first, repeat, |at| self.call(present[at]).0),
        };
        let flops = (self.routine.operations)(self.case).flops::<T>();
        for (&contender, times) in present.iter().zip(&times) {
            let seconds = median(times);
            let seconds_min = times.iter().min().map_or(seconds, Duration::as_secs_f64);
            results[contender].timing = Some(Timing { seconds, seconds_min, gflops: gflops(flops, seconds) });
        }
        results
    }

    /// Makes one call on restored operands. Contender 0 is our library.
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

    /// Checks the result of the last call.
    fn judge(&self, contender: usize, result: Result<CallOutcome, Unavailable>) -> ContenderResult {
        let outcome = match result {
            Ok(outcome) => outcome,
            Err(Unavailable(why)) => {
                return ContenderResult { finding: Finding::default(), timing: None, absent: Some(why) };
            }
        };
        let finding = if self.bench.check {
            let bound = self.bench.setting.bound;
            check::ordinary(self.routine, self.case, &self.original, &self.work, &outcome, bound)
        } else {
            Finding { error: None, wrong: check::complaint(&outcome) }
        };
        let finding = match contender {
            0 => finding,
            _ => Finding { wrong: finding.wrong.map(|wrong| format!("the peer: {wrong}")), ..finding },
        };
        ContenderResult { finding, timing: None, absent: None }
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

    fn row(&self, ours: &ContenderResult, peer: Option<(&Peer, &ContenderResult)>) -> Row {
        let wrong = ours.finding.wrong.clone().or_else(|| peer?.1.finding.wrong.clone());
        let absent = peer.and_then(|(_, result)| result.absent.clone());
        Row {
            routine: self.routine.name,
            uses: self.routine.uses,
            letter: self.letter,
            case: *self.case,
            ld_pad: self.ld_pad,
            error: ours.finding.error,
            check: ours.finding.error.map(|_| method(self.routine, self.case)),
            timing: ours.timing,
            peer: peer.map(|(peer, result)| PeerPart {
                name: peer.name().to_owned(),
                error: result.finding.error,
                timing: result.timing,
            }),
            status: match wrong {
                Some(_) => Status::Failed,
                None if self.bench.check => Status::Ok,
                None => Status::Unchecked,
            },
            reason: wrong.or(absent),
        }
    }
}

/// Converts a peer's info. A negative info reports an invalid argument.
fn as_outcome(info: i32) -> CallOutcome {
    usize::try_from(info).map_err(|_| format!("info {info}: the routine rejected an argument"))
}

#[cfg(test)]
pub mod tests;
