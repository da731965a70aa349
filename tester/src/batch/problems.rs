//! The problems of a batch. Each is made from the seed and its number whenever it is needed, so that a check needs no
//! copy of a large batch.

use crate::case::Case;
use crate::methods::Methods;
use crate::operand::{Maker, Operands};
use crate::routine::{Defect, Expected};
use crate::sizes::Batch;
use superscalar_dla::Scalar;

/// The distance of the seeds of two problems: an odd number without a pattern.
const SEED_STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// One problem.
pub enum Problem<T> {
    Ordinary(Operands<T>),
    Bad(Defect<T>),
}

impl<T> Problem<T> {
    pub fn operands(&self) -> &Operands<T> {
        match self {
            Self::Ordinary(operands) => operands,
            Self::Bad(defect) => &defect.operands,
        }
    }

    pub fn into_operands(self) -> Operands<T> {
        match self {
            Self::Ordinary(operands) => operands,
            Self::Bad(defect) => defect.operands,
        }
    }
}

/// The problems of a case.
pub struct Problems<'a, T: Scalar> {
    routine: &'a Methods<T>,
    /// The case of each problem. They differ only in their sizes.
    cases: Vec<Case>,
    seed: u64,
    ld_pad: usize,
    /// The problems that shall be bad, in ascending order.
    bad: Vec<usize>,
}

impl<'a, T: Scalar> Problems<'a, T> {
    pub fn new(routine: &'a Methods<T>, case: &Case, batch: Batch, seed: u64, ld_pad: usize) -> Self {
        let cases = batch.dims(case.dim, seed).into_iter().map(|dim| Case { dim, ..*case }).collect();
        Self { routine, cases, seed, ld_pad, bad: batch.bad_problems() }
    }

    pub fn len(&self) -> usize {
        self.cases.len()
    }

    pub fn case(&self, p: usize) -> &Case {
        &self.cases[p]
    }

    /// Returns the sum of the flops of all problems.
    pub fn flops(&self) -> f64 {
        self.cases.iter().map(|case| (self.routine.operations)(case).flops::<T>()).sum()
    }

    /// Makes problem p. Returns `None` if there is not enough memory.
    pub fn make(&self, p: usize) -> Option<Problem<T>> {
        let seed = self.seed.wrapping_add(SEED_STEP.wrapping_mul(p as u64 + 1));
        let ordinary = (self.routine.operands)(&self.cases[p], &mut Maker::new(seed, self.ld_pad, usize::MAX))?;
        let Ok(number) = self.bad.binary_search(&p) else { return Some(Problem::Ordinary(ordinary)) };
        Some(match self.defects(p, &ordinary) {
            defects if defects.is_empty() => Problem::Ordinary(ordinary),
            mut defects => Problem::Bad(defects.swap_remove(number % defects.len())),
        })
    }

    /// Returns the defects that problem p can have beside the others: not those of another alpha or beta, which all
    /// problems share.
    fn defects(&self, p: usize, ordinary: &Operands<T>) -> Vec<Defect<T>> {
        let mut defects = (self.routine.defects)(&self.cases[p], ordinary);
        defects.retain(|defect| defect.case == self.cases[p] && defect.expected != Expected::Ordinary);
        defects
    }

    /// Returns the problems that are bad. A problem without elements, for example, can have no defect.
    pub fn bad(&self) -> Option<Vec<usize>> {
        let is_bad = |&p: &usize| Some((p, matches!(self.make(p)?, Problem::Bad(_))));
        let bad: Option<Vec<_>> = self.bad.iter().map(is_bad).collect();
        Some(bad?.into_iter().filter(|(_, is_bad)| *is_bad).map(|(p, _)| p).collect())
    }

    /// Returns at most about `most` problems, distributed evenly, and the first bad ones with their neighbours.
    pub fn sample(&self, most: usize) -> Vec<usize> {
        let count = self.len();
        let mut sample: Vec<usize> = (0..most.min(count)).map(|i| i * count / most.min(count)).collect();
        sample.extend(count.checked_sub(1));
        for &p in self.bad.iter().take(most) {
            sample.extend((p.saturating_sub(1)..=p + 1).filter(|&p| p < count));
        }
        sample.sort_unstable();
        sample.dedup();
        sample
    }
}
