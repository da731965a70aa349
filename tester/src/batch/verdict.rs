//! Checks the results of a call: of a sample of the problems by their residuals, and of all by their info.

use super::problems::{Problem, Problems};
use super::store::Store;
use crate::check::{CallOutcome, Finding, defect_wrong, ordinary};
use crate::methods::Methods;
use crate::routine::Expected;
use superscalar_dla::Scalar;
use superscalar_oracle::largest;

/// The problems whose results are checked.
pub struct Examined {
    /// In ascending order.
    pub sample: Vec<usize>,
    /// All that are bad, in ascending order.
    pub bad: Vec<usize>,
}

impl Examined {
    /// All bad problems are examined; the sample has some of them, and ordinary ones.
    fn problems(&self) -> impl Iterator<Item = usize> {
        let other = |p: &&usize| self.sample.binary_search(p).is_err();
        self.sample.iter().chain(self.bad.iter().filter(other)).copied()
    }

    /// Returns their number.
    pub fn count(&self) -> usize {
        self.problems().count()
    }
}

/// Checks the result of our library, or of a peer. Without a bound, only checks info.
pub fn judge<T: Scalar>(
    routine: &Methods<T>,
    problems: &Problems<'_, T>,
    store: &Store<T>,
    examined: &Examined,
    (is_ours, bound): (bool, Option<f64>),
) -> Finding {
    let is_wrong = |&p: &usize| store.info[p] != 0 && examined.bad.binary_search(&p).is_err();
    if let Some(p) = (0..problems.len()).find(is_wrong) {
        let wrong = format!("problem {p}: info {} for an ordinary matrix", store.info[p]);
        return Finding { error: None, wrong: Some(wrong) };
    }
    let Some(bound) = bound else { return Finding::default() };
    let (mut error, mut wrong) = (0.0, None);
    for p in examined.problems() {
        let finding = of_problem(routine, problems, store, p, (is_ours, bound));
        error = largest([error, finding.error.unwrap_or(0.0)]);
        wrong = wrong.or_else(|| finding.wrong.map(|wrong| format!("problem {p}: {wrong}")));
    }
    Finding { error: Some(error), wrong }
}

fn of_problem<T: Scalar>(
    routine: &Methods<T>,
    problems: &Problems<'_, T>,
    store: &Store<T>,
    p: usize,
    (is_ours, bound): (bool, f64),
) -> Finding {
    let little_memory = || Finding { error: None, wrong: Some("not enough memory to check it".to_owned()) };
    let Some(problem) = problems.make(p) else { return little_memory() };
    let Some(mut after) = problem.operands().duplicate() else { return little_memory() };
    store.load(p, &mut after);
    let outcome: CallOutcome = usize::try_from(store.info[p]).map_err(|_| format!("info {}", store.info[p]));
    match &problem {
        Problem::Ordinary(before) => ordinary(routine, problems.case(p), before, &after, &outcome, bound),
        // Peers are asked only for LAPACK's info; their results for NaN are not checked.
        Problem::Bad(defect) if !is_ours && defect.expected == Expected::NotANumber => Finding::default(),
        Problem::Bad(defect) => {
            let wrong = defect_wrong(routine, defect, &outcome, &after, bound);
            Finding { error: None, wrong: wrong.map(|wrong| format!("{}: {wrong}", defect.name)) }
        }
    }
}
