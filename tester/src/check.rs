//! Checks results.

use crate::case::Case;
use crate::methods::Methods;
use crate::operand::Operands;
use crate::ours::Ours;
use crate::routine::{Defect, Expected};
use superscalar_dla::Scalar;

/// Up to this order, inputs with defects are tried too; each needs another call.
pub const DEFECTS_ORDER_MAX: usize = 512;

/// The result of a check.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Finding {
    /// The scaled residual, if the routine returned a result.
    pub error: Option<f64>,
    /// A description of the error, if the result is wrong.
    pub wrong: Option<String>,
}

/// The result of a call: LAPACK's info, or a message.
pub type CallOutcome = Result<usize, String>;

/// Converts our library's result to a [`CallOutcome`].
pub fn outcome(result: Result<(), superscalar_dla::Error>) -> CallOutcome {
    match result {
        Ok(()) => Ok(0),
        Err(error) => error.info().ok_or_else(|| error.to_string()),
    }
}

/// Returns a description of the error if a call with an ordinary matrix has failed.
pub fn complaint(outcome: &CallOutcome) -> Option<String> {
    match outcome {
        Ok(0) => None,
        Ok(info) => Some(format!("info {info} for an ordinary matrix")),
        Err(message) => Some(message.clone()),
    }
}

/// Checks the result of a call with an ordinary matrix.
pub fn ordinary<T: Scalar>(
    routine: &Methods<T>,
    case: &Case,
    before: &Operands<T>,
    after: &Operands<T>,
    outcome: &CallOutcome,
    bound: f64,
) -> Finding {
    let wrong = complaint(outcome);
    if wrong.is_some() {
        return Finding { error: None, wrong };
    }
    let error = (routine.residual)(case, before, after);
    // The comparison is false for NaN, so NaN is wrong.
    let is_exact = error <= bound;
    let wrong = if is_exact { after.trespass(before) } else { Some(format!("residual above {bound}")) };
    Finding { error: Some(error), wrong }
}

/// Tries the inputs with defects. Returns a description of the first error.
pub fn defects<T: Scalar>(
    routine: &Methods<T>,
    ours: &Ours<'_>,
    case: &Case,
    ordinary: &Operands<T>,
    bound: f64,
) -> Option<String> {
    (routine.defects)(case, ordinary).into_iter().find_map(|defect| {
        let Some(mut operands) = defect.operands.duplicate() else {
            return Some(format!("{}: not enough memory to try it", defect.name));
        };
        let outcome = outcome((routine.ours)(ours, &defect.case, &mut operands));
        let wrong = defect_wrong(routine, &defect, &outcome, &operands, bound)?;
        Some(format!("{}: {wrong}", defect.name))
    })
}

/// Returns a description of the error if this outcome of a call with a defect is wrong.
pub fn defect_wrong<T: Scalar>(
    routine: &Methods<T>,
    defect: &Defect<T>,
    outcome: &CallOutcome,
    after: &Operands<T>,
    bound: f64,
) -> Option<String> {
    let info = match outcome {
        Ok(info) => *info,
        Err(message) => return Some(message.clone()),
    };
    let as_ordinary = || ordinary(routine, &defect.case, &defect.operands, after, &Ok(0), bound).wrong;
    match defect.expected {
        Expected::Info(expected) | Expected::Completed(expected) if info != expected => {
            Some(format!("info {info}, but LAPACK returns {expected}"))
        }
        Expected::Ordinary if info != 0 => Some(format!("info {info}, but LAPACK returns 0")),
        Expected::Completed(_) | Expected::Ordinary => as_ordinary(),
        Expected::NotANumber if info == 0 && !after.has_nan_written() => {
            Some("info 0, and no NaN in the result".to_owned())
        }
        _ => after.trespass(&defect.operands),
    }
}
