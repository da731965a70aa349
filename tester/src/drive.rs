//! Runs a case: makes the operands, calls the contenders, checks, times, and reports.

use crate::case::{Case, Location, Parameter};
use crate::check::{self, Finding, Outcome};
use crate::elements::Memory;
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

/// Padding of the leading dimension, when small cases are checked and nothing else is said.
const LD_PAD: usize = 3;
/// Up to this size cases count as small: larger ones are there to be timed, as a user's matrices are.
const SMALL: usize = 512;

/// What all cases of a run share.
pub struct Bench<'a> {
    pub runtime: &'a Runtime,
    pub peers: &'a [Peer],
    pub setting: &'a Setting,
    pub check: bool,
    /// Where the operands of timed calls lie.
    pub memory: Memory,
    /// `None` for the default of each case.
    pub ld_pad: Option<usize>,
}

/// A case in one type.
struct Contest<'a, T: Scalar> {
    bench: &'a Bench<'a>,
    case: &'a Case,
    letter: Type,
    ld_pad: usize,
    ours: Ours<'a>,
    original: Operands<T>,
    work: Operands<T>,
    routine: &'a Methods<T>,
}

/// How a contender's calls went.
struct Score {
    finding: Finding,
    timing: Option<Timing>,
    /// Why the contender did not take part.
    absent: Option<String>,
}

/// Runs a case: a row without peers, or a row per peer; none for letters that the routine does not take in this type.
pub fn run<T: Scalar>(routine: &Methods<T>, bench: &Bench<'_>, letter: Type, case: &Case) -> Vec<Row> {
    if let Some(why) = routine.absent {
        return vec![skipped(routine, bench, letter, case, why)];
    }
    if bench.setting.location == Location::Device && routine.cut.is_none() {
        return vec![skipped(routine, bench, letter, case, "not called with matrices on devices")];
    }
    if !(routine.admits)(case) {
        return Vec::new();
    }
    let mut contest = match Contest::new(routine, bench, letter, case) {
        Some(contest) => contest,
        None => return vec![skipped(routine, bench, letter, case, "not enough memory")],
    };
    let mut scores = contest.play();
    if bench.check && largest_size(routine.uses, case) <= check::DEFECTS_MAX {
        contest.try_defects(&mut scores);
    }
    let ours = scores.remove(0);
    if scores.is_empty() {
        return vec![contest.row(&ours, None)];
    }
    bench.peers.iter().zip(&scores).map(|(peer, score)| contest.row(&ours, Some((peer, score)))).collect()
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

/// The largest of the sizes that the routine uses.
fn largest_size(uses: &[Parameter], case: &Case) -> usize {
    let sizes = uses.iter().filter(|parameter| parameter.is_size());
    sizes.filter_map(|&parameter| case.value(parameter).parse().ok()).max().unwrap_or(0)
}

/// How the residual of a case is evaluated, for rows.
fn method<T: Scalar>(routine: &Methods<T>, case: &Case) -> &'static str {
    let Dim { m, n, k } = case.dim;
    let used = |parameter, size| if routine.uses.contains(&parameter) { size } else { 0 };
    let size = used(Parameter::M, m).max(used(Parameter::N, n)).max(used(Parameter::K, k));
    if size <= routine.products_max { "products" } else { "probes" }
}

fn ld_pad<T: Scalar>(routine: &Methods<T>, bench: &Bench<'_>, case: &Case) -> usize {
    let default = if bench.check && largest_size(routine.uses, case) <= SMALL { LD_PAD } else { 0 };
    bench.ld_pad.unwrap_or(default)
}

impl<'a, T: Scalar> Contest<'a, T> {
    /// `None` if there is no memory for the operands and a copy.
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

    /// Calls every contender: ourselves first, then the peers.
    fn play(&mut self) -> Vec<Score> {
        let contenders = 1 + self.bench.peers.len();
        let (mut first, mut scores) = (Vec::new(), Vec::new());
        for contender in 0..contenders {
            if contenders > 1 {
                settle();
            }
            let (time, result) = self.call(contender);
            first.push(time);
            scores.push(self.judge(contender, result));
        }
        let present: Vec<usize> = (0..contenders).filter(|&contender| scores[contender].absent.is_none()).collect();
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
            scores[contender].timing = Some(Timing { seconds, seconds_min, gflops: gflops(flops, seconds) });
        }
        scores
    }

    /// One call, on fresh operands.
    fn call(&mut self, contender: usize) -> (Duration, Result<Outcome, Unavailable>) {
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

    /// Checks what the last call left in the work operands.
    fn judge(&self, contender: usize, result: Result<Outcome, Unavailable>) -> Score {
        let outcome = match result {
            Ok(outcome) => outcome,
            Err(Unavailable(why)) => return Score { finding: Finding::default(), timing: None, absent: Some(why) },
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
        Score { finding, timing: None, absent: None }
    }

    /// Tries the inputs without ordinary results; what is found goes to the contender's score.
    fn try_defects(&self, scores: &mut [Score]) {
        let ours = &mut scores[0].finding.wrong;
        let bound = self.bench.setting.bound;
        *ours = ours.take().or_else(|| check::defects(self.routine, &self.ours, self.case, &self.original, bound));
        // Peers say what LAPACK's info is; what else they do with NaN is theirs.
        for defect in (self.routine.defects)(self.case, &self.original) {
            let (Expected::Info(expected) | Expected::Completed(expected)) = defect.expected else { continue };
            for (peer, score) in self.bench.peers.iter().zip(&mut scores[1..]) {
                let Some(mut operands) = defect.operands.duplicate() else { continue };
                let info = peer.call((self.routine.peer)(&defect.case, &mut operands));
                if let Ok(info) = info.map(as_outcome)
                    && info != Ok(expected)
                {
                    let wrong = format!("the peer: info {info:?} for {}, where LAPACK has {expected}", defect.name);
                    score.finding.wrong.get_or_insert(wrong);
                }
            }
        }
    }

    fn row(&self, ours: &Score, peer: Option<(&Peer, &Score)>) -> Row {
        let wrong = ours.finding.wrong.clone().or_else(|| peer?.1.finding.wrong.clone());
        let absent = peer.and_then(|(_, score)| score.absent.clone());
        Row {
            routine: self.routine.name,
            uses: self.routine.uses,
            letter: self.letter,
            case: *self.case,
            ld_pad: self.ld_pad,
            error: ours.finding.error,
            check: ours.finding.error.map(|_| method(self.routine, self.case)),
            timing: ours.timing,
            peer: peer.map(|(peer, score)| PeerPart {
                name: peer.name().to_owned(),
                error: score.finding.error,
                timing: score.timing,
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

/// A peer's info; negative ones complain about an argument.
fn as_outcome(info: i32) -> Outcome {
    usize::try_from(info).map_err(|_| format!("info {info}: an argument is not accepted"))
}

#[cfg(test)]
pub mod tests;
