//! [`RunningMean`]: a running mean of measured times that tolerates a few outliers.

#![forbid(unsafe_code)]

/// The number of samples that are ranked before the running average starts: the first are often cold.
pub(crate) const RANKED_SAMPLES: usize = 3;
/// A sample that differs by more than this factor is an outlier, and is ignored.
const OUTLIER_FACTOR: f64 = 4.0;
/// This many outliers in a row, all to one side, restart the mean: the value has changed.
const OUTLIER_RUN: i32 = 3;
/// The weight of a new sample in the running average.
pub(crate) const SAMPLE_WEIGHT: f64 = 1.0 / 8.0;

/// The running mean of positive samples.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunningMean {
    pub(crate) value: f64,
    pub(crate) samples: u64,
    first: [f64; RANKED_SAMPLES],
    /// Number of outliers in a row: positive if they are above, negative if below.
    outliers: i32,
}

/// What a sample did to a mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SampleEffect {
    /// It is part of the mean.
    Averaged,
    /// It is an outlier.
    Ignored,
    /// It is the first sample of a new mean.
    Restarted,
}

impl RunningMean {
    pub(crate) fn new(sample: f64) -> Self {
        Self { value: sample, samples: 1, first: [sample; RANKED_SAMPLES], outliers: 0 }
    }

    #[inline]
    pub(crate) fn observe(&mut self, sample: f64) -> SampleEffect {
        let ratio = sample / self.value;
        if self.samples >= RANKED_SAMPLES as u64 && !(1.0 / OUTLIER_FACTOR..=OUTLIER_FACTOR).contains(&ratio) {
            self.outliers = if ratio > 1.0 { self.outliers.max(0) + 1 } else { self.outliers.min(0) - 1 };
            if self.outliers.abs() < OUTLIER_RUN {
                return SampleEffect::Ignored;
            }
            *self = Self::new(sample);
            return SampleEffect::Restarted;
        }
        self.outliers = 0;
        if let Some(place) = self.first.get_mut(self.samples as usize) {
            *place = sample;
            let mut seen = self.first;
            let seen = &mut seen[..=self.samples as usize];
            seen.sort_by(f64::total_cmp);
            // The smaller of two, since the first may have been cold; the median of three.
            self.value = seen[(seen.len() - 1) / 2];
        } else {
            self.value += SAMPLE_WEIGHT * (sample - self.value);
        }
        self.samples += 1;
        SampleEffect::Averaged
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean_of(samples: &[f64]) -> f64 {
        let mut mean = RunningMean::new(samples[0]);
        samples[1..].iter().for_each(|&sample| _ = mean.observe(sample));
        mean.value
    }

    #[test]
    fn cold_starts_and_outliers_are_ignored() {
        assert_eq!(mean_of(&[50.0, 1.0]), 1.0);
        assert_eq!(mean_of(&[50.0, 1.0, 1.2]), 1.2);
        assert_eq!(mean_of(&[1.0, 1.0, 1.0, 100.0, 1.0, 100.0, 1.0]), 1.0);
    }

    #[test]
    fn lasting_change_is_adopted() {
        assert_eq!(mean_of(&[1.0, 1.0, 1.0, 10.0, 10.0, 10.0]), 10.0);
        let drifted = mean_of(&[[1.0; 3].as_slice(), &[2.0; 40]].concat());
        assert!((1.9..=2.0).contains(&drifted), "{drifted}");
    }
}
