//! [`Stored`]: a matrix in memory that is larger than it, and how it lies there.

use crate::{
    compare::{Nearness, assert_near},
    random::{Random, element},
    wide::{Wide, wide},
};
use superscalar_kernels::{Diag, MatMut, MatRef, Real, Scalar, Uplo, c64};

/// What surrounds a matrix; no routine may read or write it.
const SENTINEL: f64 = 77.0;

/// How a matrix lies in memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Layout {
    /// Elements between columns.
    pub padding: usize,
    /// Distance between the elements of a column.
    pub row_stride: usize,
    /// Whether the matrix is the transpose of what is stored.
    pub transposed: bool,
}

impl Layout {
    /// Column by column without padding.
    pub const PLAIN: Self = Self { padding: 0, row_stride: 1, transposed: false };
    /// Column by column, three sentinels behind each.
    pub const PADDED: Self = Self { padding: 3, ..Self::PLAIN };

    /// The next one that the numbers say.
    pub fn any(numbers: &mut Random) -> Self {
        let padding = [0, 1, 5][numbers.below(3)];
        let row_stride = [1, 1, 3][numbers.below(3)];
        Self { padding, row_stride, transposed: numbers.below(2) == 0 }
    }

    /// The strides of an m x n matrix.
    fn strides(self, (m, n): (usize, usize)) -> (usize, usize) {
        let long = ((if self.transposed { n } else { m }) * self.row_stride + self.padding).max(1);
        if self.transposed { (long, self.row_stride) } else { (self.row_stride, long) }
    }
}

/// A matrix with sentinels around it. Two are equal if all their bits are, NaN and sentinels included.
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
    /// The m x n matrix whose element (i, j) is `f(i, j)`, padded.
    pub fn new(shape: (usize, usize), f: impl FnMut(usize, usize) -> T) -> Self {
        Self::laid_out(shape, Layout::PADDED, f)
    }

    /// The same in another layout. `f` is asked column by column.
    pub fn laid_out(shape: (usize, usize), layout: Layout, mut f: impl FnMut(usize, usize) -> T) -> Self {
        let strides = layout.strides(shape);
        let memory = vec![T::from_f64(SENTINEL); shape.0 * strides.0 + shape.1 * strides.1 + 3];
        let mut stored = Self { memory, shape, layout };
        for (i, j) in (0..shape.1).flat_map(|j| (0..shape.0).map(move |i| (i, j))) {
            stored.set(i, j, f(i, j));
        }
        stored
    }

    /// Nothing but zeros, without padding.
    pub fn zeros(shape: (usize, usize)) -> Self {
        Self::laid_out(shape, Layout::PLAIN, |_, _| T::ZERO)
    }

    /// Uniform in ±½ in both parts, by [`element`].
    pub fn random(shape: (usize, usize), seed: u64) -> Self {
        Self::new(shape, |i, j| element(seed, i, j))
    }

    /// Hermitian positive definite and well conditioned, by [`element`]. The diagonal is little larger than it must be,
    /// as in [`Random::positive_definite`].
    pub fn positive_definite(n: usize, seed: u64) -> Self {
        Self::new((n, n), |i, j| match i.cmp(&j) {
            std::cmp::Ordering::Equal => T::from_f64(2.0 * (n as f64).sqrt() + 1.0),
            std::cmp::Ordering::Greater => element(seed, i, j),
            std::cmp::Ordering::Less => element::<T>(seed, j, i).conj(),
        })
    }

    /// Small integers, of which products and sums are exact in every type.
    pub fn integers(numbers: &mut Random, shape: (usize, usize), layout: Layout) -> Self {
        Self::laid_out(shape, layout, |_, _| numbers.integer())
    }

    /// Numbers in [-1, 1).
    pub fn fractions(numbers: &mut Random, shape: (usize, usize), layout: Layout) -> Self {
        Self::laid_out(shape, layout, |_, _| numbers.fraction())
    }

    /// A well conditioned triangle of order n; NaN in the other, and on a unit diagonal.
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

    /// The triangle of a Hermitian positive definite matrix, the imaginary part of the diagonal not zero; NaN in the
    /// other triangle.
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

    /// Rows and columns.
    pub fn shape(&self) -> (usize, usize) {
        self.shape
    }

    fn place(&self, i: usize, j: usize) -> usize {
        assert!(i < self.shape.0 && j < self.shape.1, "({i}, {j}) in {:?}", self.shape);
        let strides = self.layout.strides(self.shape);
        i * strides.0 + j * strides.1
    }

    /// Element (i, j).
    pub fn at(&self, i: usize, j: usize) -> T {
        self.memory[self.place(i, j)]
    }

    /// Sets element (i, j).
    pub fn set(&mut self, i: usize, j: usize, value: T) {
        let at = self.place(i, j);
        self.memory[at] = value;
    }

    /// The matrix.
    pub fn view(&self) -> MatRef<'_, T> {
        MatRef::from_strided(&self.memory, self.shape, self.layout.strides(self.shape)).expect("there is room")
    }

    /// The matrix, to write.
    pub fn view_mut(&mut self) -> MatMut<'_, T> {
        MatMut::from_strided(&mut self.memory, self.shape, self.layout.strides(self.shape)).expect("there is room")
    }

    /// All of the memory, sentinels included.
    pub fn memory(&self) -> &[T] {
        &self.memory
    }

    /// The same, to write.
    pub fn memory_mut(&mut self) -> &mut [T] {
        &mut self.memory
    }

    /// All of the matrix in double precision complex.
    pub fn wide(&self) -> Wide {
        Wide::of(self.view())
    }

    /// The elements for which `wanted` holds, and zeros.
    pub fn part(&self, wanted: impl Fn(usize, usize) -> bool) -> Wide {
        Wide::new(self.shape, |i, j| if wanted(i, j) { wide(self.at(i, j)) } else { c64::ZERO })
    }

    /// Fails if a sentinel is not what it was.
    #[track_caller]
    pub fn assert_padding(&self, what: &str) {
        let mut is_inside = vec![false; self.memory.len()];
        let (m, n) = self.shape;
        (0..n).for_each(|j| (0..m).for_each(|i| is_inside[self.place(i, j)] = true));
        for (at, &value) in self.memory.iter().enumerate().filter(|(at, _)| !is_inside[*at]) {
            assert!(bits(value) == bits(T::from_f64(SENTINEL)), "{what}: the padding was touched at {at}");
        }
    }

    /// Fails unless all elements are that near to the other's, and the sentinels what they were.
    #[track_caller]
    pub fn assert_near(&self, expected: &Self, nearness: Nearness, what: impl Fn() -> String) {
        assert_eq!(self.shape, expected.shape, "{}: other shapes", what());
        assert_near(&self.view().to_vec(), &expected.view().to_vec(), nearness, &what);
        self.assert_padding(&what());
    }

    /// Fails unless all bits are those of `before` where `kept` holds, and in the padding.
    #[track_caller]
    pub fn assert_kept(&self, before: &Self, what: &str, kept: impl Fn(usize, usize) -> bool) {
        self.assert_padding(what);
        let (m, n) = self.shape;
        for (i, j) in (0..n).flat_map(|j| (0..m).map(move |i| (i, j))).filter(|&(i, j)| kept(i, j)) {
            let (x, y) = (self.at(i, j), before.at(i, j));
            assert!(bits(x) == bits(y), "{what}: ({i}, {j}) is {x} and was {y}");
        }
    }

    /// Whether there is a NaN.
    pub fn has_nan(&self) -> bool {
        self.memory.iter().any(|x| x.is_nan())
    }

    /// Whether all elements are finite in both parts.
    pub fn is_finite(&self) -> bool {
        self.memory.iter().all(|&x| wide(x).is_finite())
    }
}

/// The bits of both parts.
fn bits<T: Scalar>(x: T) -> (u64, u64) {
    (x.re().to_f64().to_bits(), x.im().to_f64().to_bits())
}

impl<T: Scalar> PartialEq for Stored<T> {
    fn eq(&self, other: &Self) -> bool {
        (self.shape, self.layout) == (other.shape, other.layout)
            && self.memory.iter().map(|&x| bits(x)).eq(other.memory.iter().map(|&x| bits(x)))
    }
}
