//! [`Stored`]: a matrix within larger memory, in a chosen layout.

use crate::{
    compare::{Nearness, assert_near},
    random::{Random, element},
    wide::{Wide, wide},
};
use superscalar_kernels::{Diag, MatMut, MatRef, Real, Scalar, Uplo, c64};

/// The value around a matrix. Routines must not write it, and a result that depends on it shows that it was read.
const SENTINEL: f64 = 77.0;

/// How a matrix is laid out in memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Layout {
    /// Additional elements between columns.
    pub padding: usize,
    /// The distance between the elements of a column.
    pub row_stride: usize,
    /// Whether the matrix is the transpose of what is stored.
    pub transposed: bool,
}

impl Layout {
    /// Column by column without padding.
    pub const PLAIN: Self = Self { padding: 0, row_stride: 1, transposed: false };
    /// Column by column, with three sentinels behind each.
    pub const PADDED: Self = Self { padding: 3, ..Self::PLAIN };

    /// Returns a random layout.
    pub fn any(numbers: &mut Random) -> Self {
        let padding = [0, 1, 5][numbers.below(3)];
        let row_stride = [1, 1, 3][numbers.below(3)];
        Self { padding, row_stride, transposed: numbers.below(2) == 0 }
    }

    /// Returns the row and column strides of an m x n matrix.
    fn strides(self, (m, n): (usize, usize)) -> (usize, usize) {
        let long = ((if self.transposed { n } else { m }) * self.row_stride + self.padding).max(1);
        if self.transposed { (long, self.row_stride) } else { (self.row_stride, long) }
    }
}

/// A matrix surrounded by sentinels. Two are equal if all their bits are, including NaN and sentinels.
///
/// # Example
/// ```
/// use superscalar_oracle::Stored;
///
/// let mut a = Stored::<f64>::random((3, 2), 7);
/// a.view_mut().fill(1.0);
/// a.assert_padding("fill");
/// assert!(a.view().to_vec() == [1.0; 6] && a.memory().len() > 6);
/// ```
#[derive(Clone, Debug)]
pub struct Stored<T> {
    memory: Vec<T>,
    shape: (usize, usize),
    layout: Layout,
}

impl<T: Scalar> Stored<T> {
    /// Makes the m x n matrix whose element (i, j) is `f(i, j)`, in the layout [`PADDED`](Layout::PADDED).
    pub fn new(shape: (usize, usize), f: impl FnMut(usize, usize) -> T) -> Self {
        Self::laid_out(shape, Layout::PADDED, f)
    }

    /// Makes the m x n matrix whose element (i, j) is `f(i, j)`, in this layout. `f` is called column by column.
    pub fn laid_out(shape: (usize, usize), layout: Layout, mut f: impl FnMut(usize, usize) -> T) -> Self {
        let strides = layout.strides(shape);
        let memory = vec![T::from_f64(SENTINEL); shape.0 * strides.0 + shape.1 * strides.1 + 3];
        let mut stored = Self { memory, shape, layout };
        for (i, j) in (0..shape.1).flat_map(|j| (0..shape.0).map(move |i| (i, j))) {
            stored.set(i, j, f(i, j));
        }
        stored
    }

    /// Makes a matrix of zeros, without padding.
    pub fn zeros(shape: (usize, usize)) -> Self {
        Self::laid_out(shape, Layout::PLAIN, |_, _| T::ZERO)
    }

    /// Makes a matrix with elements uniform in ±½ in both parts, by [`element`].
    pub fn random(shape: (usize, usize), seed: u64) -> Self {
        Self::new(shape, |i, j| element(seed, i, j))
    }

    /// Makes a Hermitian positive definite, well conditioned matrix by [`element`]. Its diagonal is only slightly
    /// larger than necessary, as in [`Random::positive_definite`].
    pub fn positive_definite(n: usize, seed: u64) -> Self {
        Self::new((n, n), |i, j| match i.cmp(&j) {
            std::cmp::Ordering::Equal => T::from_f64(2.0 * (n as f64).sqrt() + 1.0),
            std::cmp::Ordering::Greater => element(seed, i, j),
            std::cmp::Ordering::Less => element::<T>(seed, j, i).conj(),
        })
    }

    /// Makes a matrix of small integers, whose products and sums are exact in every type.
    pub fn integers(numbers: &mut Random, shape: (usize, usize), layout: Layout) -> Self {
        Self::laid_out(shape, layout, |_, _| numbers.integer())
    }

    /// Makes a matrix with parts in [-1, 1).
    pub fn fractions(numbers: &mut Random, shape: (usize, usize), layout: Layout) -> Self {
        Self::laid_out(shape, layout, |_, _| numbers.fraction())
    }

    /// Makes a well conditioned triangle of order n. The other triangle is NaN, and so is a unit diagonal.
    pub fn triangular(numbers: &mut Random, uplo: Uplo, diag: Diag, n: usize, layout: Layout) -> Self {
        Self::laid_out((n, n), layout, |i, j| {
            let x: T = numbers.fraction();
            let inside = if uplo == Uplo::Lower { i > j } else { i < j };
            match (i == j, inside) {
                (true, _) if diag == Diag::NonUnit => T::from_f64(2.0) + x * T::from_f64(0.5),
                (false, true) => x * T::from_f64(1.0 / n as f64),
                _ => T::from_f64(f64::NAN),
            }
        })
    }

    /// Makes one triangle of a Hermitian positive definite matrix. The imaginary parts on the diagonal are not zero,
    /// and the other triangle is NaN.
    pub fn definite_triangle(numbers: &mut Random, uplo: Uplo, n: usize, layout: Layout) -> Self {
        Self::laid_out((n, n), layout, |i, j| {
            let x: T = numbers.fraction();
            let inside = if uplo == Uplo::Lower { i > j } else { i < j };
            match (i == j, inside) {
                (true, _) => T::from_parts(T::Real::from_f64(2.0 + n as f64), T::Real::ONE),
                (false, true) => x,
                _ => T::from_f64(f64::NAN),
            }
        })
    }

    /// Returns the number of rows and columns.
    pub fn shape(&self) -> (usize, usize) {
        self.shape
    }

    fn place(&self, i: usize, j: usize) -> usize {
        assert!(i < self.shape.0 && j < self.shape.1, "({i}, {j}) in {:?}", self.shape);
        let strides = self.layout.strides(self.shape);
        i * strides.0 + j * strides.1
    }

    /// Returns element (i, j).
    pub fn at(&self, i: usize, j: usize) -> T {
        self.memory[self.place(i, j)]
    }

    /// Sets element (i, j).
    pub fn set(&mut self, i: usize, j: usize, value: T) {
        let at = self.place(i, j);
        self.memory[at] = value;
    }

    /// Returns an immutable view of the matrix.
    pub fn view(&self) -> MatRef<'_, T> {
        MatRef::from_strided(&self.memory, self.shape, self.layout.strides(self.shape)).expect("there is room")
    }

    /// Returns a mutable view of the matrix.
    pub fn view_mut(&mut self) -> MatMut<'_, T> {
        MatMut::from_strided(&mut self.memory, self.shape, self.layout.strides(self.shape)).expect("there is room")
    }

    /// Returns all of the memory, including sentinels.
    pub fn memory(&self) -> &[T] {
        &self.memory
    }

    /// Returns all of the memory for writing, including sentinels.
    pub fn memory_mut(&mut self) -> &mut [T] {
        &mut self.memory
    }

    /// Returns the matrix in double precision complex.
    pub fn wide(&self) -> Wide {
        Wide::of(self.view())
    }

    /// Returns the elements for which `wanted` holds, and zeros elsewhere.
    pub fn part(&self, wanted: impl Fn(usize, usize) -> bool) -> Wide {
        Wide::new(self.shape, |i, j| if wanted(i, j) { wide(self.at(i, j)) } else { c64::ZERO })
    }

    /// Panics if a sentinel was changed.
    #[track_caller]
    pub fn assert_padding(&self, what: &str) {
        let mut is_inside = vec![false; self.memory.len()];
        let (m, n) = self.shape;
        (0..n).for_each(|j| (0..m).for_each(|i| is_inside[self.place(i, j)] = true));
        for (at, &value) in self.memory.iter().enumerate().filter(|(at, _)| !is_inside[*at]) {
            assert!(bits(value) == bits(T::from_f64(SENTINEL)), "{what}: the padding was changed at {at}");
        }
    }

    /// Panics unless all elements are near enough to those of `expected` and the sentinels are unchanged.
    #[track_caller]
    pub fn assert_near(&self, expected: &Self, nearness: Nearness, what: impl Fn() -> String) {
        assert_eq!(self.shape, expected.shape, "{}: the shapes differ", what());
        assert_near(&self.view().to_vec(), &expected.view().to_vec(), nearness, &what);
        self.assert_padding(&what());
    }

    /// Panics unless all bits equal those of `before` where `kept` holds, and in the padding.
    #[track_caller]
    pub fn assert_kept(&self, before: &Self, what: &str, kept: impl Fn(usize, usize) -> bool) {
        self.assert_padding(what);
        let (m, n) = self.shape;
        for (i, j) in (0..n).flat_map(|j| (0..m).map(move |i| (i, j))).filter(|&(i, j)| kept(i, j)) {
            let (x, y) = (self.at(i, j), before.at(i, j));
            assert!(bits(x) == bits(y), "{what}: ({i}, {j}) is {x}, but was {y}");
        }
    }

    /// Returns whether the memory contains a NaN.
    pub fn has_nan(&self) -> bool {
        self.memory.iter().any(|x| x.is_nan())
    }

    /// Returns whether all of the memory is finite in both parts.
    pub fn is_finite(&self) -> bool {
        self.memory.iter().all(|&x| wide(x).is_finite())
    }
}

/// Returns the bits of both parts.
fn bits<T: Scalar>(x: T) -> (u64, u64) {
    (x.re().to_f64().to_bits(), x.im().to_f64().to_bits())
}

impl<T: Scalar> PartialEq for Stored<T> {
    fn eq(&self, other: &Self) -> bool {
        (self.shape, self.layout) == (other.shape, other.layout)
            && self.memory.iter().map(|&x| bits(x)).eq(other.memory.iter().map(|&x| bits(x)))
    }
}
