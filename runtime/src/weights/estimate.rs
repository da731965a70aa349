//! Measured durations per unit of work of one kernel on one resource, by size: running estimates that tolerate a few
//! outliers, and interpolation between the measured sizes.

use crate::{device::Cost, recording::BlasLevel};
use std::collections::BTreeMap;

/// The unit in which a kernel's work is counted: what limits its speed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Unit {
    /// Floating-point operations: for level 3 or unknown level; for levels 1 and 2 only if no bytes are stated.
    Flops,
    /// Bytes: for levels 1 and 2, and for tasks that state only bytes.
    Bytes,
    /// Calls of a task without cost.
    Calls,
}

impl Unit {
    pub(super) const COUNT: usize = 3;

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Flops => "flops",
            Self::Bytes => "bytes",
            Self::Calls => "calls",
        }
    }
}

/// Returns the unit and the amount of work of one call.
pub(super) fn work(cost: &Cost) -> (Unit, f64) {
    let counts = |amount: f64| amount.is_finite() && amount > 0.0;
    let by_bytes = matches!(cost.level, Some(BlasLevel::One | BlasLevel::Two));
    match (counts(cost.flops), counts(cost.bytes)) {
        (_, true) if by_bytes => (Unit::Bytes, cost.bytes),
        (true, _) => (Unit::Flops, cost.flops),
        (false, true) => (Unit::Bytes, cost.bytes),
        (false, false) => (Unit::Calls, 1.0),
    }
}

/// A size: the binary logarithms of flops and of bytes. Both are needed to distinguish element types: the same product
/// in single precision has half the bytes, and another rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Size {
    pub(super) flops: f64,
    pub(super) bytes: f64,
}

impl Size {
    pub(super) fn of(cost: &Cost) -> Self {
        let octave = |amount: f64| if amount > 1.0 && amount.is_finite() { amount.log2() } else { 0.0 };
        Self { flops: octave(cost.flops), bytes: octave(cost.bytes) }
    }

    /// Returns the bucket of the size: the nearest whole octaves.
    pub(super) fn bucket(self) -> (i16, i16) {
        (self.flops.round() as i16, self.bytes.round() as i16)
    }

    fn distance_squared(self, other: Self) -> f64 {
        (self.flops - other.flops).powi(2) + (self.bytes - other.bytes).powi(2)
    }
}

/// The number of samples that are ranked before the running average starts: the first are often cold.
const RANKED_SAMPLES: usize = 3;
/// A sample that differs by more than this factor is an outlier, and is ignored.
const OUTLIER_FACTOR: f64 = 4.0;
/// This many outliers in a row, all to one side, restart the estimate: the rate has changed.
const OUTLIER_RUN: i32 = 3;
/// The weight of a new sample in the running average.
const SAMPLE_WEIGHT: f64 = 1.0 / 8.0;

/// The running estimate of one bucket.
#[derive(Clone, Debug)]
pub(super) struct Estimate {
    /// The mean size of the samples in the bucket.
    pub(super) size: Size,
    pub(super) ns_per_unit: f64,
    pub(super) samples: u64,
    first: [f64; RANKED_SAMPLES],
    /// Number of outliers in a row: positive if they are above, negative if below.
    outliers: i32,
}

impl Estimate {
    fn new(size: Size, ns_per_unit: f64) -> Self {
        Self { size, ns_per_unit, samples: 1, first: [ns_per_unit; RANKED_SAMPLES], outliers: 0 }
    }

    #[inline]
    fn observe(&mut self, size: Size, ns_per_unit: f64) {
        let ratio = ns_per_unit / self.ns_per_unit;
        if self.samples >= RANKED_SAMPLES as u64 && !(1.0 / OUTLIER_FACTOR..=OUTLIER_FACTOR).contains(&ratio) {
            self.outliers = if ratio > 1.0 { self.outliers.max(0) + 1 } else { self.outliers.min(0) - 1 };
            if self.outliers.abs() >= OUTLIER_RUN {
                *self = Self::new(size, ns_per_unit);
            }
            return;
        }
        self.outliers = 0;
        if let Some(sample) = self.first.get_mut(self.samples as usize) {
            *sample = ns_per_unit;
            let mut seen = self.first;
            let seen = &mut seen[..=self.samples as usize];
            seen.sort_by(f64::total_cmp);
            // The faster of two, since the first may have been cold; the median of three.
            self.ns_per_unit = seen[(seen.len() - 1) / 2];
        } else {
            self.ns_per_unit += SAMPLE_WEIGHT * (ns_per_unit - self.ns_per_unit);
        }
        let step = |at: &mut f64, sample: f64| *at += SAMPLE_WEIGHT * (sample - *at);
        step(&mut self.size.flops, size.flops);
        step(&mut self.size.bytes, size.bytes);
        self.samples += 1;
    }
}

/// The estimate at one size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point {
    pub(super) size: Size,
    pub(super) ns_per_unit: f64,
    pub(super) samples: u64,
}

/// The estimates of one kernel in one unit.
#[derive(Clone, Debug, Default)]
pub(super) struct Curve(BTreeMap<(i16, i16), Estimate>);

impl Curve {
    /// Adds a sample, and returns the bucket's estimate.
    #[inline]
    pub(super) fn observe(&mut self, size: Size, ns_per_unit: f64) -> &Estimate {
        use std::collections::btree_map::Entry;
        match self.0.entry(size.bucket()) {
            Entry::Vacant(vacant) => vacant.insert(Estimate::new(size, ns_per_unit)),
            Entry::Occupied(bucket) => {
                let bucket = bucket.into_mut();
                bucket.observe(size, ns_per_unit);
                bucket
            }
        }
    }

    pub(super) fn points(&self) -> impl Iterator<Item = Point> {
        self.0.values().map(|one| Point { size: one.size, ns_per_unit: one.ns_per_unit, samples: one.samples })
    }
}

/// Interpolates the points within `reach` octaves of a size: the mean of the logarithms, weighted by the inverse square
/// of the distance (Shepard's interpolation). A point at the same size is returned alone. Returns `None` if no point is
/// within reach.
#[inline]
pub(super) fn interpolated(points: impl Iterator<Item = Point>, size: Size, reach: f64) -> Option<Point> {
    // The squared distance below which sizes are equal: less than the difference that a tile's ragged edge makes.
    const SAME_SIZE: f64 = 1e-4;
    let (mut weights, mut logs, mut samples) = (0.0, 0.0, 0);
    for point in points {
        let distance = point.size.distance_squared(size);
        if distance <= SAME_SIZE {
            return Some(Point { size, ..point });
        }
        if distance <= reach * reach {
            let weight = 1.0 / distance;
            (weights, logs) = (weights + weight, logs + weight * point.ns_per_unit.ln());
            samples = samples.max(point.samples);
        }
    }
    (weights > 0.0).then(|| Point { size, ns_per_unit: (logs / weights).exp(), samples })
}

/// Returns the point nearest to a size.
pub(super) fn nearest(points: impl Iterator<Item = Point>, size: Size) -> Option<Point> {
    let distance = |point: &Point| point.size.distance_squared(size);
    points.min_by(|a, b| distance(a).total_cmp(&distance(b)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gemm(n: f64, element_bytes: f64) -> Cost {
        Cost { flops: 2.0 * n.powi(3), bytes: 4.0 * n * n * element_bytes, level: Some(BlasLevel::Three) }
    }

    fn estimate_after(samples: &[f64]) -> f64 {
        let mut curve = Curve::default();
        samples.iter().for_each(|&sample| drop(curve.observe(Size::of(&gemm(64.0, 8.0)), sample).clone()));
        curve.points().next().expect("a bucket").ns_per_unit
    }

    #[test]
    fn limiting_resource_is_the_unit() {
        let cost = Cost { flops: 200.0, bytes: 800.0, level: None };
        assert_eq!(work(&cost), (Unit::Flops, 200.0));
        assert_eq!(work(&Cost { level: Some(BlasLevel::Two), ..cost }), (Unit::Bytes, 800.0));
        assert_eq!(work(&Cost { level: Some(BlasLevel::Two), bytes: 0.0, ..cost }), (Unit::Flops, 200.0));
        assert_eq!(work(&Cost::default()), (Unit::Calls, 1.0));
        assert_eq!(work(&Cost { flops: f64::NAN, ..Cost::default() }), (Unit::Calls, 1.0));
    }

    #[test]
    fn cold_starts_and_outliers_are_ignored() {
        assert_eq!(estimate_after(&[50.0, 1.0]), 1.0);
        assert_eq!(estimate_after(&[50.0, 1.0, 1.2]), 1.2);
        assert_eq!(estimate_after(&[1.0, 1.0, 1.0, 100.0, 1.0, 100.0, 1.0]), 1.0);
    }

    #[test]
    fn lasting_change_is_adopted() {
        assert_eq!(estimate_after(&[1.0, 1.0, 1.0, 10.0, 10.0, 10.0]), 10.0);
        let drifted = estimate_after(&[[1.0; 3].as_slice(), &[2.0; 40]].concat());
        assert!((1.9..=2.0).contains(&drifted), "{drifted}");
    }

    #[test]
    fn sizes_are_interpolated_per_element_type() {
        let mut curve = Curve::default();
        for (n, element_bytes, ns) in [(256.0, 8.0, 0.4), (512.0, 8.0, 0.1), (512.0, 4.0, 0.05)] {
            curve.observe(Size::of(&gemm(n, element_bytes)), ns);
        }
        let at = |n: f64, element_bytes: f64| {
            interpolated(curve.points(), Size::of(&gemm(n, element_bytes)), 4.0).map(|point| point.ns_per_unit)
        };
        let near = |value: Option<f64>, expected: f64| value.is_some_and(|value| (value / expected - 1.0).abs() < 0.01);
        assert!(near(at(512.0, 8.0), 0.1), "{:?}", at(512.0, 8.0));
        assert!(near(at(512.0, 4.0), 0.05), "{:?}", at(512.0, 4.0));
        let between = at(362.0, 8.0).expect("both sizes within reach");
        assert!((0.1..0.4).contains(&between), "{between}");
        assert_eq!(at(16.0, 8.0), None);
        assert_eq!(nearest(curve.points(), Size::of(&gemm(16.0, 8.0))).map(|point| point.ns_per_unit), Some(0.4));
    }
}
