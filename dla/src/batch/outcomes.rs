//! [`Outcomes`]: how each problem of a batch ended.

use std::ops::Index;

/// LAPACK's `info` of each problem of a batch: zero if it succeeded, otherwise the number of the minor that is not
/// positive definite, or of the pivot that is zero, counted from one. A problem that fails changes no other one.
///
/// ```
/// use superscalar::{
///     Runtime,
///     dla::{BatchMut, Options, Uplo, batch},
/// };
///
/// let rt = Runtime::new()?;
/// let mut a = [4.0, 0.0, 0.0, 4.0, /* the second matrix */ 1.0, 2.0, 2.0, 1.0];
/// let outcomes = batch::potrf(&rt, Uplo::Lower, BatchMut::packed(&mut a, (2, 2))?, &Options::default())?;
/// assert_eq!((outcomes[0], outcomes[1]), (0, 2));
/// assert_eq!(outcomes.failed().collect::<Vec<_>>(), [(1, 2)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "problems may have failed"]
pub struct Outcomes(Vec<i32>);

impl Outcomes {
    pub(super) fn new(info: Vec<i32>) -> Self {
        Self(info)
    }

    /// Returns whether all problems succeeded.
    #[must_use]
    pub fn are_all_good(&self) -> bool {
        self.0.iter().all(|&info| info == 0)
    }

    /// Iterates over the problems that failed: the number of the problem, counted from zero, and its `info`.
    pub fn failed(&self) -> impl Iterator<Item = (usize, usize)> {
        let failure = |(p, &info): (usize, &i32)| Some((p, usize::try_from(info).ok().filter(|&info| info > 0)?));
        self.0.iter().enumerate().filter_map(failure)
    }

    /// Returns `info` of all problems.
    #[must_use]
    pub fn info(&self) -> &[i32] {
        &self.0
    }

    /// Returns `info` of all problems.
    #[must_use]
    pub fn into_info(self) -> Vec<i32> {
        self.0
    }
}

impl Index<usize> for Outcomes {
    type Output = i32;

    fn index(&self, p: usize) -> &i32 {
        &self.0[p]
    }
}
