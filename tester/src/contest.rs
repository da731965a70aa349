//! Calls and times our library and its peers by turns. A [`Contest`] is a case with its operands; contender 0 is our
//! library.

use crate::check::Finding;
use crate::measure::{gflops, in_turns, median, settle};
use crate::peer::Unavailable;
use crate::report::{PeerPart, Row, Status, Timing};
use std::time::Duration;

/// A case that several contenders compute.
pub trait Contest {
    /// The result of a call, besides the operands.
    type Outcome;

    /// Makes one call on restored operands.
    fn call(&mut self, contender: usize) -> (Duration, Result<Self::Outcome, Unavailable>);

    /// Checks the result of the last call.
    fn judge(&self, contender: usize, outcome: &Self::Outcome) -> Finding;
}

/// The results of the calls of one contender.
pub struct ContenderResult {
    pub finding: Finding,
    pub timing: Option<Timing>,
    /// Why it was not called.
    pub absent: Option<String>,
}

/// Calls each of the contenders once and checks its result; then calls them by turns.
pub fn hold<C: Contest>(contest: &mut C, contenders: usize, repeat: usize, flops: f64) -> Vec<ContenderResult> {
    let (mut first, mut results) = (Vec::new(), Vec::new());
    for contender in 0..contenders {
        if contenders > 1 {
            settle();
        }
        let (time, result) = contest.call(contender);
        first.push(time);
        results.push(match result {
            Ok(outcome) => {
                let finding = contest.judge(contender, &outcome);
                let wrong =
                    finding.wrong.map(|wrong| if contender == 0 { wrong } else { format!("the peer: {wrong}") });
                ContenderResult { finding: Finding { wrong, ..finding }, timing: None, absent: None }
            }
            Err(Unavailable(why)) => ContenderResult { finding: Finding::default(), timing: None, absent: Some(why) },
        });
    }
    let present: Vec<usize> = (0..contenders).filter(|&contender| results[contender].absent.is_none()).collect();
    let first: Vec<Duration> = present.iter().map(|&contender| first[contender]).collect();
    // A later call may fail, as when memory is short: its time is not one of the routine.
    let mut failed: Vec<Option<String>> = vec![None; present.len()];
    let times = match repeat {
        1 => first.iter().map(|&time| vec![time]).collect(),
        _ => in_turns(&first, repeat, |at| {
            let (time, result) = contest.call(present[at]);
            failed[at] = result.err().map(|Unavailable(why)| why).or(failed[at].take());
            time
        }),
    };
    for ((&contender, times), failed) in present.iter().zip(&times).zip(failed) {
        if failed.is_some() {
            results[contender].absent = failed;
            continue;
        }
        let seconds = median(times);
        let seconds_min = times.iter().min().map_or(seconds, Duration::as_secs_f64);
        results[contender].timing = Some(Timing { seconds, seconds_min, gflops: gflops(flops, seconds) });
    }
    results
}

/// Returns the rows of these results: one for each peer, or one without peers. `head` has what they share, and
/// `method` says how residuals were evaluated.
pub fn rows(head: &Row, peers: &[String], results: &[ContenderResult], method: &'static str) -> Vec<Row> {
    let Some((ours, others)) = results.split_first() else { return Vec::new() };
    if others.is_empty() {
        return vec![row(head, ours, None, method)];
    }
    peers.iter().zip(others).map(|peer| row(head, ours, Some(peer), method)).collect()
}

fn row(head: &Row, ours: &ContenderResult, peer: Option<(&String, &ContenderResult)>, method: &'static str) -> Row {
    let wrong = ours.finding.wrong.clone().or_else(|| peer?.1.finding.wrong.clone());
    let absent = peer.and_then(|(_, result)| result.absent.clone());
    Row {
        error: ours.finding.error,
        check: ours.finding.error.map(|_| method),
        timing: ours.timing,
        peer: peer.map(|(name, result)| PeerPart {
            name: name.clone(),
            error: result.finding.error,
            timing: result.timing,
        }),
        status: if wrong.is_some() { Status::Failed } else { head.status },
        reason: wrong.or(absent),
        ..head.clone()
    }
}
