//! Level 1 with Fortran's interface, beside loops over elements.

use crate::{
    element::{Element, each_type, int},
    shared::{library, symbol},
};
use libloading::Library;
use superscalar::kernels::{Scalar, c32, c64};
use superscalar_oracle::{Nearness, Random, assert_near};

type Copy<T> = unsafe extern "C" fn(*const i32, *const T, *const i32, *mut T, *const i32);
type Axpy<T> = unsafe extern "C" fn(*const i32, *const T, *const T, *const i32, *mut T, *const i32);
type Scal<T> = unsafe extern "C" fn(*const i32, *const T, *mut T, *const i32);
type Dot<T> = unsafe extern "C" fn(*const i32, *const T, *const i32, *const T, *const i32) -> T;

const LENGTHS: [usize; 6] = [0, 1, 2, 7, 40, 333];
const INCREMENTS: [isize; 5] = [1, -1, 2, -3, 0];

/// A vector of n elements within a larger array, with at least one unused element on both sides.
#[derive(Clone)]
struct Vector<T> {
    memory: Vec<T>,
    n: usize,
    inc: isize,
}

impl<T: Scalar> Vector<T> {
    fn new(numbers: &mut Random, n: usize, inc: isize) -> Self {
        let memory = (0..n * inc.unsigned_abs().max(1) + 2).map(|_| numbers.integer()).collect();
        Self { memory, n, inc }
    }

    /// The index of element i. With a negative increment the last element comes first.
    fn at(&self, i: usize) -> usize {
        let place = if self.inc < 0 { self.n - 1 - i } else { i };
        1 + place * self.inc.unsigned_abs()
    }

    fn get(&self, i: usize) -> T {
        self.memory[self.at(i)]
    }

    fn set(&mut self, i: usize, value: T) {
        let at = self.at(i);
        self.memory[at] = value;
    }

    fn inc(&self) -> i32 {
        self.inc as i32
    }

    fn read(&self) -> *const T {
        self.memory[1..].as_ptr()
    }

    fn write(&mut self) -> *mut T {
        self.memory[1..].as_mut_ptr()
    }
}

fn name<T: Scalar>(routine: &str) -> String {
    format!("{}{routine}_", T::LETTER)
}

/// Calls `check` with two vectors of each length and pair of increments.
fn each_pair<T: Scalar>(seed: u64, mut check: impl FnMut(Vector<T>, Vector<T>, T)) {
    let mut numbers = Random::new(seed);
    let pairs = INCREMENTS.into_iter().flat_map(|incx| INCREMENTS.map(|incy| (incx, incy)));
    for ((incx, incy), n) in pairs.flat_map(|pair| LENGTHS.map(|n| (pair, n))) {
        let [x, y] = [incx, incy].map(|inc| Vector::new(&mut numbers, n, inc));
        check(x, y, numbers.integer());
    }
}

#[track_caller]
fn assert_same<T: Scalar>(what: &str, found: &Vector<T>, expected: &Vector<T>) {
    let Vector { n, inc, .. } = expected;
    assert_near(&found.memory, &expected.memory, Nearness::Exact, || format!("{}{what}, {n} by {inc}", T::LETTER));
}

#[test]
fn copies_and_sums() {
    each_type! { check_copies_and_sums(&library()) }
}

fn check_copies_and_sums<T: Element>(library: &Library) {
    let copy = symbol::<Copy<T>>(library, &name::<T>("copy"));
    let axpy = symbol::<Axpy<T>>(library, &name::<T>("axpy"));
    let scal = symbol::<Scal<T>>(library, &name::<T>("scal"));
    each_pair::<T>(31, |x, y, alpha| {
        let (mut found, mut right) = (y.clone(), y.clone());
        // SAFETY: the symbol has this type, and the vectors these sizes.
        unsafe { copy(&int(x.n), x.read(), &x.inc(), found.write(), &y.inc()) };
        (0..x.n).for_each(|i| right.set(i, x.get(i)));
        assert_same("copy", &found, &right);
        let (mut found, mut right) = (y.clone(), y.clone());
        // SAFETY: the symbol has this type, and the vectors these sizes.
        unsafe { axpy(&int(x.n), &alpha, x.read(), &x.inc(), found.write(), &y.inc()) };
        (0..x.n).for_each(|i| right.set(i, right.get(i) + alpha * x.get(i)));
        // Numbers of any sign of zero are equal; the sums of small integers are exact.
        assert_same("axpy", &found, &right);
        let (mut found, mut right) = (y.clone(), y.clone());
        // SAFETY: the symbol has this type, and the vector this size.
        unsafe { scal(&int(y.n), &alpha, found.write(), &y.inc()) };
        (0..if y.inc > 0 { y.n } else { 0 }).for_each(|i| right.set(i, alpha * right.get(i)));
        assert_same("scal", &found, &right);
    });
}

/// Vectors that are moved to lower addresses within one array.
#[test]
fn overlapping_vectors() {
    each_type! { check_overlapping(&library()) }
}

fn check_overlapping<T: Element>(library: &Library) {
    let copy = symbol::<Copy<T>>(library, &name::<T>("copy"));
    let axpy = symbol::<Axpy<T>>(library, &name::<T>("axpy"));
    let mut numbers = Random::new(32);
    // If threads shared the long vectors, one would overwrite elements before another reads them.
    let lengths = LENGTHS.into_iter().chain([300_000]);
    for (n, by) in lengths.flat_map(|n| [0, 1, 3, 16].map(|by| (n, by))) {
        let given: Vec<T> = (0..n + by).map(|_| numbers.integer()).collect();
        let (mut found, mut right, alpha) = (given.clone(), given.clone(), numbers.integer::<T>());
        let at = found.as_mut_ptr();
        // SAFETY: the symbol has this type, and the array the elements of both vectors.
        unsafe { copy(&int(n), at.add(by), &1, at, &1) };
        right.copy_within(by.., 0);
        assert_near(&found, &right, Nearness::Exact, || format!("{}copy of {n} by {by}", T::LETTER));
        let (mut found, mut right) = (given.clone(), given);
        let at = found.as_mut_ptr();
        // SAFETY: the symbol has this type, and the array the elements of both vectors.
        unsafe { axpy(&int(n), &alpha, at.add(by), &1, at, &1) };
        (0..n).for_each(|i| right[i] = right[i] + alpha * right[i + by]);
        assert_near(&found, &right, Nearness::Exact, || format!("{}axpy of {n} by {by}", T::LETTER));
    }
}

#[test]
fn inner_products() {
    check_inner_products::<f32>(&library(), "dot", |x| x);
    check_inner_products::<f64>(&library(), "dot", |x| x);
    check_inner_products::<c32>(&library(), "dotu", |x| x);
    check_inner_products::<c64>(&library(), "dotu", |x| x);
    check_inner_products::<c32>(&library(), "dotc", |x| x.conj());
    check_inner_products::<c64>(&library(), "dotc", |x| x.conj());
}

fn check_inner_products<T: Element>(library: &Library, routine: &str, first: impl Fn(T) -> T) {
    let dot = symbol::<Dot<T>>(library, &name::<T>(routine));
    each_pair::<T>(33, |x, y, _| {
        // SAFETY: the symbol has this type, and the vectors these sizes.
        let found = unsafe { dot(&int(x.n), x.read(), &x.inc(), y.read(), &y.inc()) };
        let right = (0..x.n).map(|i| first(x.get(i)) * y.get(i)).sum::<T>();
        assert_eq!(found, right, "{}{routine}, {} by {} and {}", T::LETTER, x.n, x.inc, y.inc);
    });
}
