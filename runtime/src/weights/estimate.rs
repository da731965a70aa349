//! Measured durations per unit of work of one kernel on one resource, by size: running means, and interpolation between
//! the measured sizes.

use crate::{
    device::Cost,
    recording::BlasLevel,
    running_mean::{RunningMean, SAMPLE_WEIGHT, SampleEffect},
};
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

/// The running estimate of one bucket.
#[derive(Clone, Debug)]
pub(super) struct Estimate {
    /// The mean size of the samples in the bucket.
    size: Size,
    pub(super) ns_per_unit: RunningMean,
}

impl Estimate {
    fn new(size: Size, ns_per_unit: f64) -> Self {
        Self { size, ns_per_unit: RunningMean::new(ns_per_unit) }
    }

    #[inline]
    fn observe(&mut self, size: Size, ns_per_unit: f64) {
        match self.ns_per_unit.observe(ns_per_unit) {
            SampleEffect::Ignored => {}
            SampleEffect::Restarted => self.size = size,
            SampleEffect::Averaged => {
                let step = |at: &mut f64, sample: f64| *at += SAMPLE_WEIGHT * (sample - *at);
                step(&mut self.size.flops, size.flops);
                step(&mut self.size.bytes, size.bytes);
            }
        }
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
        let point = |Estimate { size, ns_per_unit: mean }: &Estimate| Point {
            size: *size,
            ns_per_unit: mean.value,
            samples: mean.samples,
        };
        self.0.values().map(point)
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
