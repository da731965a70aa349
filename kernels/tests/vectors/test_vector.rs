//! Vectors inside arrays of NaN.

use superscalar_kernels::{Scalar, VecMut, VecRef};
use superscalar_oracle::Random;

pub const SIZES: [usize; 10] = [0, 1, 2, 3, 7, 8, 9, 31, 64, 100];
/// Pairs of increments for two vectors.
pub const INCREMENTS: [(isize, isize); 7] = [(1, 1), (-1, -1), (2, 1), (1, -1), (-3, 2), (1, 2), (-1, -3)];
/// Pairs in which one or both increments are zero: all elements share one address.
pub const ZEROS: [(isize, isize); 4] = [(0, 1), (1, 0), (0, 0), (0, -3)];

/// A vector of n elements in an array padded with NaN.
#[derive(Clone, Debug)]
pub struct TestVector<T> {
    pub data: Vec<T>,
    pub n: usize,
    pub inc: isize,
}

/// Returns the padding around and between elements.
pub fn nan<T: Scalar>() -> T {
    let nan = <T::Real as Scalar>::from_f64(f64::NAN);
    T::from_parts(nan, nan)
}

/// Returns the number with these parts.
pub fn number<T: Scalar>(re: f64, im: f64) -> T {
    T::from_parts(T::Real::from_f64(re), T::Real::from_f64(im))
}

/// Returns zero, one, and two others. Products with few of the third stay exact.
pub fn factors<T: Scalar>() -> [T; 4] {
    [T::ZERO, T::ONE, if T::COMPLEX { number(1.0, -1.0) } else { number(2.0, 0.0) }, number(-3.0, 2.0)]
}

impl<T: Scalar> TestVector<T> {
    pub fn new(n: usize, inc: isize, mut element: impl FnMut() -> T) -> Self {
        /// Padding elements at each end.
        const MARGIN: usize = 5;
        let reach = n.max(1).saturating_sub(1) * inc.unsigned_abs() + 1;
        let mut vector = Self { data: vec![nan(); reach + 2 * MARGIN], n, inc };
        for i in 0..n {
            let at = vector.index(i);
            vector.data[at] = element();
        }
        vector
    }

    pub fn integers(n: usize, inc: isize, numbers: &mut Random) -> Self {
        Self::new(n, inc, || numbers.integer())
    }

    pub fn nan(n: usize, inc: isize) -> Self {
        Self::new(n, inc, nan)
    }

    /// Returns the index of element i in the array.
    pub fn index(&self, i: usize) -> usize {
        let i = if self.inc < 0 { self.n - 1 - i } else { i };
        5 + i * self.inc.unsigned_abs()
    }

    pub fn get(&self, i: usize) -> T {
        self.data[self.index(i)]
    }

    pub fn set(&mut self, i: usize, x: T) {
        let at = self.index(i);
        self.data[at] = x;
    }

    pub fn view(&self) -> VecRef<'_, T> {
        VecRef::from_strided(&self.data[5..], self.n, self.inc).expect("the array has all elements")
    }

    pub fn view_mut(&mut self) -> VecMut<'_, T> {
        VecMut::from_strided(&mut self.data[5..], self.n, self.inc).expect("the array has all elements")
    }

    /// Compares the whole array.
    ///
    /// # Panics
    /// If it differs from that of `wanted`.
    #[track_caller]
    pub fn check(&self, wanted: &Self, what: &str) {
        same(&self.data, &wanted.data, what);
    }
}

/// Compares numbers for equality, and NaN with NaN.
///
/// # Panics
/// If two elements differ, or one of them is NaN.
#[track_caller]
pub fn same<T: Scalar>(data: &[T], wanted: &[T], what: &str) {
    assert_eq!(data.len(), wanted.len());
    for (at, (&x, &y)) in data.iter().zip(wanted).enumerate() {
        let is_same = if y.is_nan() { x.is_nan() } else { x == y };
        assert!(is_same, "{what}: found {x}, expected {y} at {at}");
    }
}

#[test]
#[should_panic(expected = "found NaN, expected 1")]
fn nan_differs_from_numbers() {
    same(&[f64::NAN], &[1.0], "");
}

#[test]
#[should_panic(expected = "found 1, expected NaN")]
fn overwritten_sentinel_is_detected() {
    same(&[1.0], &[f64::NAN], "");
}
