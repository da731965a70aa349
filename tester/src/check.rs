//! Whether a result is right.

use crate::case::Case;
use crate::methods::Methods;
use crate::operand::Operands;
use crate::ours::Ours;
use crate::routine::{Defect, Expected};
use superscalar_dla::Scalar;

/// Up to this order the defects are tried as well: each is another call.
pub const DEFECTS_MAX: usize = 512;

/// What a check has found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Finding {
    /// The scaled residual, if the routine returned a result.
    pub error: Option<f64>,
    /// What is wrong, if something is.
    pub wrong: Option<String>,
}

/// What a call returned: LAPACK's info, or a message.
pub type Outcome = Result<usize, String>;

/// Our library's result as an [`Outcome`].
pub fn outcome(result: Result<(), superscalar_dla::Error>) -> Outcome {
    match result {
        Ok(()) => Ok(0),
        Err(error) => error.info().ok_or_else(|| error.to_string()),
    }
}

/// What is wrong with the outcome of a call with an ordinary matrix, if something is.
pub fn complaint(outcome: &Outcome) -> Option<String> {
    match outcome {
        Ok(0) => None,
        Ok(info) => Some(format!("info {info} for an ordinary matrix")),
        Err(message) => Some(message.clone()),
    }
}

/// Checks an ordinary result.
pub fn ordinary<T: Scalar>(
    routine: &Methods<T>,
    case: &Case,
    before: &Operands<T>,
    after: &Operands<T>,
    outcome: &Outcome,
    bound: f64,
) -> Finding {
    let wrong = complaint(outcome);
    if wrong.is_some() {
        return Finding { error: None, wrong };
    }
    let error = (routine.residual)(case, before, after);
    // Negated, so that NaN is wrong.
    let is_exact = error <= bound;
    let wrong = if is_exact { after.trespass(before) } else { Some(format!("residual above {bound}")) };
    Finding { error: Some(error), wrong }
}

/// Tries the defects; what is wrong, if something is.
pub fn defects<T: Scalar>(
    routine: &Methods<T>,
    ours: &Ours<'_>,
    case: &Case,
    ordinary: &Operands<T>,
    bound: f64,
) -> Option<String> {
    (routine.defects)(case, ordinary).into_iter().find_map(|defect| {
        let Some(mut operands) = defect.operands.duplicate() else {
            return Some(format!("{}: no memory to try it", defect.name));
        };
        let outcome = outcome((routine.ours)(ours, &defect.case, &mut operands));
        let wrong = defect_wrong(routine, &defect, &outcome, &operands, bound)?;
        Some(format!("{}: {wrong}", defect.name))
    })
}

/// What is wrong with this outcome of a defect, if something is.
pub fn defect_wrong<T: Scalar>(
    routine: &Methods<T>,
    defect: &Defect<T>,
    outcome: &Outcome,
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
            Some(format!("info {info}, where LAPACK has {expected}"))
        }
        Expected::Ordinary if info != 0 => Some(format!("info {info}, where LAPACK has 0")),
        Expected::Completed(_) | Expected::Ordinary => as_ordinary(),
        Expected::NotANumber if info == 0 && !after.has_nan_written() => {
            Some("info 0, and no NaN in the result".to_owned())
        }
        _ => after.trespass(&defect.operands),
    }
}
