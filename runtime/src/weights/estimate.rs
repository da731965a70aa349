//! How long a unit of one kernel's work takes on one resource, by size, as measured: running estimates that few odd samples do not
//! move, and what lies between the sizes that were measured.

use crate::{device::Cost, recording::BlasLevel};
use std::collections::BTreeMap;

/// What a kernel's work is counted in, which is what limits it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Unit {
    /// Floating-point operations: level 3, and whatever says how many it has.
    Flops,
    /// Bytes: levels 1 and 2, and whatever says nothing else.
    Bytes,
    /// Calls of a task of which nothing is known.
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

/// The work of one call: in which unit, and how much of it.
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

/// A size: the octaves of flops and of bytes. Both, since they tell types apart: the same product of tiles has half the bytes in single
/// precision, and another rate.
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

    /// The bucket that it falls into: the nearest whole octaves.
    pub(super) fn bucket(self) -> (i16, i16) {
        (self.flops.round() as i16, self.bytes.round() as i16)
    }

    fn distance_squared(self, other: Self) -> f64 {
        (self.flops - other.flops).powi(2) + (self.bytes - other.bytes).powi(2)
    }
}

/// So many samples are looked at one by one before an average runs: the first are often cold.
const FIRST: usize = 3;
/// A sample that differs by more than this factor is odd, and is set aside,
const ODD_FACTOR: f64 = 4.0;
/// unless so many in a row are, all to one side: then the world has changed.
const ODD_RUN: i32 = 3;
/// The share of a new sample in the average, once it runs.
const SHARE: f64 = 1.0 / 8.0;

/// The running estimate of one bucket.
#[derive(Clone, Debug)]
pub(super) struct Estimate {
    /// The mean size of what fell into the bucket.
    pub(super) size: Size,
    pub(super) ns_per_unit: f64,
    pub(super) samples: u64,
    first: [f64; FIRST],
    /// How many odd samples came in a row: positive above, negative below.
    odd: i32,
}

impl Estimate {
    fn new(size: Size, ns_per_unit: f64) -> Self {
        Self { size, ns_per_unit, samples: 1, first: [ns_per_unit; FIRST], odd: 0 }
    }

    #[inline]
    fn observe(&mut self, size: Size, ns_per_unit: f64) {
        let ratio = ns_per_unit / self.ns_per_unit;
        if self.samples >= FIRST as u64 && !(1.0 / ODD_FACTOR..=ODD_FACTOR).contains(&ratio) {
            self.odd = if ratio > 1.0 { self.odd.max(0) + 1 } else { self.odd.min(0) - 1 };
            if self.odd.abs() >= ODD_RUN {
                *self = Self::new(size, ns_per_unit);
            }
            return;
        }
        self.odd = 0;
        if let Some(sample) = self.first.get_mut(self.samples as usize) {
            *sample = ns_per_unit;
            let mut seen = self.first;
            let seen = &mut seen[..=self.samples as usize];
            seen.sort_by(f64::total_cmp);
            // Of two the faster, since the first may have been cold; of three the middle one.
            self.ns_per_unit = seen[(seen.len() - 1) / 2];
        } else {
            self.ns_per_unit += SHARE * (ns_per_unit - self.ns_per_unit);
        }
        let step = |at: &mut f64, sample: f64| *at += SHARE * (sample - *at);
        step(&mut self.size.flops, size.flops);
        step(&mut self.size.bytes, size.bytes);
        self.samples += 1;
    }
}

/// What was measured at one size.
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
    /// Takes a sample, and returns the bucket's estimate.
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

/// What the points say of a size: the mean of those within `reach` octaves, each weighted by the inverse square of its distance (Shepard's
/// interpolation, of logarithms). One that lies there decides alone. None if none is so near.
#[inline]
pub(super) fn interpolated(points: impl Iterator<Item = Point>, size: Size, reach: f64) -> Option<Point> {
    // Sizes of one bucket differ by less than what a tile's ragged edge makes of them.
    const SAME: f64 = 1e-4;
    let (mut weights, mut logs, mut samples) = (0.0, 0.0, 0);
    for point in points {
        let distance = point.size.distance_squared(size);
        if distance <= SAME {
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

/// The point nearest to a size.
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
    fn what_limits_a_kernel_is_its_unit() {
        let cost = Cost { flops: 200.0, bytes: 800.0, level: None };
        assert_eq!(work(&cost), (Unit::Flops, 200.0));
        assert_eq!(work(&Cost { level: Some(BlasLevel::Two), ..cost }), (Unit::Bytes, 800.0));
        assert_eq!(work(&Cost { level: Some(BlasLevel::Two), bytes: 0.0, ..cost }), (Unit::Flops, 200.0));
        assert_eq!(work(&Cost::default()), (Unit::Calls, 1.0));
        assert_eq!(work(&Cost { flops: f64::NAN, ..Cost::default() }), (Unit::Calls, 1.0));
    }

    #[test]
    fn a_cold_start_and_odd_samples_do_not_move_the_estimate() {
        assert_eq!(estimate_after(&[50.0, 1.0]), 1.0);
        assert_eq!(estimate_after(&[50.0, 1.0, 1.2]), 1.2);
        assert_eq!(estimate_after(&[1.0, 1.0, 1.0, 100.0, 1.0, 100.0, 1.0]), 1.0);
    }

    #[test]
    fn a_change_that_stays_is_taken_over() {
        assert_eq!(estimate_after(&[1.0, 1.0, 1.0, 10.0, 10.0, 10.0]), 10.0);
        let drifted = estimate_after(&[[1.0; 3].as_slice(), &[2.0; 40]].concat());
        assert!((1.9..=2.0).contains(&drifted), "{drifted}");
    }

    #[test]
    fn sizes_between_are_interpolated_and_types_are_told_apart() {
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
        let between = at(362.0, 8.0).expect("near both");
        assert!((0.1..0.4).contains(&between), "{between}");
        assert_eq!(at(16.0, 8.0), None);
        assert_eq!(nearest(curve.points(), Size::of(&gemm(16.0, 8.0))).map(|point| point.ns_per_unit), Some(0.4));
    }
}
