//! Checks results: against the oracle where the call writes, and byte for byte everywhere else.

use super::{Image, Runner, oracle};
use superscalar_kernels::{
    NotPositiveDefinite, Real, Scalar,
    device::{Call, Mat},
};
use superscalar_oracle::{Nearness, Random, is_finite, largest};
use superscalar_runtime::DeviceError;

/// A runner under test, with the random numbers of its cases.
pub struct Suite<'r, T: Scalar> {
    pub numbers: Random,
    runner: &'r mut dyn Runner<T>,
    cases: usize,
}

impl<'r, T: Scalar> Suite<'r, T> {
    pub fn new(seed: u64, runner: &'r mut dyn Runner<T>) -> Self {
        Self { numbers: Random::new(seed), runner, cases: 0 }
    }

    /// Returns a number that increases from case to case, by which options take turns.
    pub fn turn(&mut self) -> usize {
        self.cases += 1;
        self.cases
    }

    /// Returns alpha and beta by turns: zero, one and a general one. They are integers, so that products are exact.
    pub fn factors(&mut self) -> (T, T) {
        let turn = self.turn();
        let part = T::Real::from_f64;
        let alpha = [T::ONE, T::from_parts(part(2.0), part(-1.0)), T::ZERO][turn % 3];
        let beta = [T::ZERO, T::from_parts(part(-3.0), part(2.0)), T::ONE][turn / 3 % 3];
        (alpha, beta)
    }

    /// Places a matrix of small integers or, if it is `hidden`, of NaN, which must not be read.
    pub fn integers(&mut self, image: &mut Image, shape: (usize, usize), hidden: bool) -> Mat<T> {
        let nan = T::from_f64(f64::NAN);
        image.place(&mut self.numbers, shape, |numbers, _, _| if hidden { nan } else { numbers.integer() })
    }

    /// Returns whether triangular solves divide by subnormal elements.
    pub fn divides_by_subnormals(&self) -> bool {
        self.runner.divides_by_subnormals()
    }

    /// Returns whether an NVIDIA GPU carries the calls out.
    pub fn is_gpu(&self) -> bool {
        self.runner.is_gpu()
    }

    /// Carries the call out without checking the result.
    pub fn attempt(&mut self, call: &Call<T>, image: &mut Image) -> Result<(), DeviceError> {
        self.runner.run(call, image)
    }

    /// Carries the call out, checks the result, and returns it.
    pub fn judge(&mut self, call: &Call<T>, before: &Image, nearness: Nearness) -> Image {
        let (mut after, mut expected) = (before.clone(), before.clone());
        let outcome = self.runner.run(call, &mut after);
        let found = match &outcome {
            Ok(()) => Ok(()),
            Err(error) => {
                Err(*error.outcome_ref::<NotPositiveDefinite>().unwrap_or_else(|| panic!("{call:?}: {error}")))
            }
        };
        assert_eq!(found, oracle::apply(call, &mut expected), "{call:?}");
        if found.is_ok() {
            near(call, &after, &expected, nearness);
        }
        untouched(call, before, &after);
        after
    }
}

/// Returns the matrix that the call writes, and the positions (i, j) of the elements that it writes.
fn elements<T: Scalar>(call: &Call<T>) -> (Mat<T>, impl Iterator<Item = (usize, usize)>) {
    let (mat, part) = oracle::written(call);
    let all = (0..mat.n).flat_map(move |j| (0..mat.m).map(move |i| (i, j)));
    (mat, all.filter(move |&(i, j)| oracle::is_in(part, i, j)))
}

fn near<T: Scalar>(call: &Call<T>, after: &Image, expected: &Image, nearness: Nearness) {
    let (mat, _) = elements(call);
    let size = |(i, j)| Some(expected.at(mat, i, j)).filter(|&x| is_finite(x)).map_or(0.0, |x| x.abs().to_f64());
    let largest = largest(elements(call).1.map(size));
    for (i, j) in elements(call).1 {
        let (x, y) = (after.at(mat, i, j), expected.at(mat, i, j));
        // Values that are not finite may differ.
        let is_lost = matches!(nearness, Nearness::Roundoffs(_)) && !is_finite(y);
        let fits = if is_lost { !is_finite(x) } else { nearness.fits(x, y, largest) };
        assert!(fits, "{x} for {y} at ({i}, {j}), {nearness:?} of {largest}: {call:?}");
    }
}

/// Checks that all bytes except those of the written elements are unchanged: the other triangle, the factors, and the
/// gaps.
fn untouched<T: Scalar>(call: &Call<T>, before: &Image, after: &Image) {
    let (mut rest, (mat, written)) = (after.clone(), elements(call));
    written.for_each(|(i, j)| rest.set(mat, i, j, before.at(mat, i, j)));
    // The comparison of whole images is much faster than that of byte after byte.
    let position = || before.bytes().iter().zip(rest.bytes()).position(|(x, y)| x != y);
    let differs = if before.bytes() == rest.bytes() { None } else { position() };
    assert_eq!(differs, None, "the position of the first byte that must not change: {call:?}");
}
