//! The numbers and sizes of the problems of a batch, as on the command line.

use crate::range::Dim;
use clap::ValueEnum;
use superscalar_oracle::Random;

/// The sizes of the problems of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum BatchSizes {
    /// All have the size of the case.
    Uniform,
    /// From 1 to the size of the case, at random.
    Random,
    /// As for `random`, in ascending order.
    Sorted,
}

/// The batch of every case of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batch {
    /// The number of problems.
    pub count: usize,
    pub sizes: BatchSizes,
    /// The number of problems that shall have a defect, such as a singular matrix.
    pub bad: usize,
}

impl BatchSizes {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::Random => "random",
            Self::Sorted => "sorted",
        }
    }
}

impl Batch {
    /// Returns the sizes of the problems of a case. Random ones keep the proportions of the case: of `128x64`, a
    /// problem may have `10x5`. A size of zero stays zero.
    pub fn dims(&self, dim: Dim, seed: u64) -> Vec<Dim> {
        let largest = dim.m.max(dim.n).max(dim.k);
        if self.sizes == BatchSizes::Uniform || largest == 0 {
            return vec![dim; self.count];
        }
        let mut random = Random::new(seed);
        let mut sizes: Vec<usize> = (0..self.count).map(|_| 1 + random.below(largest)).collect();
        if self.sizes == BatchSizes::Sorted {
            sizes.sort_unstable();
        }
        let part = |whole: usize, size: usize| (whole as u128 * size as u128).div_ceil(largest as u128) as usize;
        let scaled = |size| Dim { m: part(dim.m, size), n: part(dim.n, size), k: part(dim.k, size) };
        sizes.into_iter().map(scaled).collect()
    }

    /// Returns which of the problems shall have a defect, as far as possible from each other, in ascending order.
    pub fn bad_problems(&self) -> Vec<usize> {
        let bad = self.bad.min(self.count);
        (0..bad).map(|i| ((2 * i + 1) as u128 * self.count as u128 / (2 * bad) as u128) as usize).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIM: Dim = Dim { m: 20, n: 10, k: 0 };

    fn batch(sizes: BatchSizes) -> Batch {
        Batch { count: 300, sizes, bad: 7 }
    }

    #[test]
    fn uniform_sizes_are_those_of_the_case() {
        assert_eq!(batch(BatchSizes::Uniform).dims(DIM, 1), vec![DIM; 300]);
    }

    #[test]
    fn random_sizes_keep_proportions() {
        let dims = batch(BatchSizes::Random).dims(DIM, 1);
        assert!(dims.iter().all(|dim| (1..=20).contains(&dim.m) && dim.n == dim.m.div_ceil(2) && dim.k == 0));
        assert!([1, 20].iter().all(|&m| dims.iter().any(|dim| dim.m == m)), "both ends occur");
        assert_ne!(dims, batch(BatchSizes::Random).dims(DIM, 2));
        let empty = Dim { m: 0, n: 0, k: 0 };
        assert_eq!(batch(BatchSizes::Random).dims(empty, 1), vec![empty; 300]);
    }

    #[test]
    fn sorted_sizes_are_the_random_ones() {
        let (mut random, sorted) = (batch(BatchSizes::Random).dims(DIM, 3), batch(BatchSizes::Sorted).dims(DIM, 3));
        random.sort_by_key(|dim| dim.m);
        assert_eq!(random, sorted);
    }

    #[test]
    fn bad_problems_are_different_ones() {
        let bad = batch(BatchSizes::Uniform).bad_problems();
        assert!(bad.len() == 7 && bad.is_sorted_by(|a, b| a < b) && bad[6] < 300, "{bad:?}");
        let few = Batch { count: 2, sizes: BatchSizes::Uniform, bad: 5 };
        assert_eq!(few.bad_problems(), [0, 1]);
        assert!(Batch { count: 0, ..few }.bad_problems().is_empty());
    }
}
