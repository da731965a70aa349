//! Seeded operands inside arrays of sentinels, and how results are compared.

use superscalar_kernels::{Diag, MatMut, MatRef, Real, Scalar, Uplo, accuracy::largest};

/// What surrounds an operand; no kernel may read or write it.
const SENTINEL: f64 = 77.0;

/// A stream of numbers from a seed.
#[derive(Clone)]
pub struct Numbers(u64);

/// How an operand lies in memory.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// Rows of padding between columns.
    pub padding: usize,
    /// Distance between the elements of a column.
    pub row_stride: usize,
    /// Whether the view is the transpose of what is stored.
    pub transposed: bool,
}

impl Case {
    pub const PLAIN: Self = Self { padding: 0, row_stride: 1, transposed: false };
}

impl Numbers {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next of 2^31 numbers.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        self.0 >> 33
    }

    fn real(&mut self) -> f64 {
        self.next() as f64 / f64::powi(2.0, 30) - 1.0
    }

    /// The next way to lie in memory.
    pub fn case(&mut self) -> Case {
        let padding = [0, 1, 5][(self.next() % 3) as usize];
        let row_stride = [1, 1, 3][(self.next() % 3) as usize];
        Case { padding, row_stride, transposed: self.next().is_multiple_of(2) }
    }

    /// A small integer, or one with a small integer for each part: products and sums of such are exact in every type.
    pub fn integer<T: Scalar>(&mut self) -> T {
        self.scalar(|x| (x.next() % 7) as f64 - 3.0)
    }

    /// A number with parts in [-1, 1).
    pub fn fraction<T: Scalar>(&mut self) -> T {
        self.scalar(Self::real)
    }

    fn scalar<T: Scalar>(&mut self, mut part: impl FnMut(&mut Self) -> f64) -> T {
        let (re, im) = (part(self), part(self));
        T::from_parts(T::Real::from_f64(re), T::Real::from_f64(im))
    }
}

/// An m x n matrix in an array of sentinels.
#[derive(Clone)]
pub struct Matrix<T> {
    pub data: Vec<T>,
    m: usize,
    n: usize,
    case: Case,
}

impl<T: Scalar> Matrix<T> {
    fn new(m: usize, n: usize, case: Case, mut element: impl FnMut(usize, usize) -> T) -> Self {
        let (_, strides) = Self::place(m, n, case);
        let len = m * strides.0 + n * strides.1 + 3;
        let mut out = Self { data: vec![T::from_f64(SENTINEL); len], m, n, case };
        let mut view = out.view_mut();
        for j in 0..n {
            for i in 0..m {
                view[(i, j)] = element(i, j);
            }
        }
        out
    }

    /// Nothing but zeros, stored by columns.
    pub fn zeros(m: usize, n: usize) -> Self {
        Self::new(m, n, Case::PLAIN, |_, _| T::ZERO)
    }

    /// Small integers, of which products and sums are exact in every type.
    pub fn integers(numbers: &mut Numbers, m: usize, n: usize, case: Case) -> Self {
        Self::new(m, n, case, |_, _| numbers.integer())
    }

    /// Numbers in [-1, 1).
    pub fn random(numbers: &mut Numbers, m: usize, n: usize, case: Case) -> Self {
        Self::new(m, n, case, |_, _| numbers.fraction())
    }

    /// A well conditioned triangle; NaN in the other, and on a unit diagonal.
    pub fn triangular(numbers: &mut Numbers, uplo: Uplo, diag: Diag, n: usize, case: Case) -> Self {
        Self::new(n, n, case, |i, j| {
            let x: T = numbers.fraction();
            let inside = if uplo == Uplo::Lower { i > j } else { i < j };
            match (i == j, inside) {
                (true, _) if diag == Diag::NonUnit => T::from_f64(2.0) + x * T::from_f64(0.5),
                (false, true) => x * T::from_f64(1.0 / n as f64),
                _ => T::from_f64(f64::NAN),
            }
        })
    }

    /// A Hermitian positive definite triangle, the imaginary part of the diagonal not zero; NaN in the other triangle.
    pub fn positive_definite(numbers: &mut Numbers, uplo: Uplo, n: usize, case: Case) -> Self {
        Self::new(n, n, case, |i, j| {
            let x: T = numbers.fraction();
            let inside = if uplo == Uplo::Lower { i > j } else { i < j };
            match (i == j, inside) {
                (true, _) => T::from_parts(T::Real::from_f64(2.0 + n as f64), T::Real::ONE),
                (false, true) => x,
                _ => T::from_f64(f64::NAN),
            }
        })
    }

    pub fn view(&self) -> MatRef<'_, T> {
        let (shape, strides) = Self::place(self.m, self.n, self.case);
        MatRef::from_strided(&self.data, shape, strides).expect("operands fit")
    }

    pub fn view_mut(&mut self) -> MatMut<'_, T> {
        let (shape, strides) = Self::place(self.m, self.n, self.case);
        MatMut::from_strided(&mut self.data, shape, strides).expect("operands fit")
    }

    /// Shape and strides of an m x n matrix that lies as `case` says.
    fn place(m: usize, n: usize, case: Case) -> ((usize, usize), (usize, usize)) {
        let long = (if case.transposed { n } else { m }) * case.row_stride + case.padding;
        let strides = (case.row_stride, long.max(1));
        ((m, n), if case.transposed { (strides.1, strides.0) } else { strides })
    }
}

/// Shapes (m, n, k): empty, one, odd, full and ragged register tiles of every type, more than one cache block.
pub fn shapes() -> Vec<(usize, usize, usize)> {
    let mut shapes = vec![(0, 3, 2), (3, 0, 2), (3, 2, 0), (1, 1, 1), (2, 3, 1), (7, 5, 3)];
    shapes.extend([(8, 8, 8), (17, 9, 4), (24, 8, 11), (25, 16, 33), (48, 31, 7), (49, 50, 51), (97, 24, 13)]);
    shapes.extend([(130, 40, 270), (20, 270, 5), (270, 7, 9)]);
    shapes
}

/// NaN compares equal to NaN: the sentinels of triangles are NaN, so that a kernel that reads them shows.
pub fn identical<T: Scalar>(x: T, y: T) -> bool {
    x == y || (x.is_nan() && y.is_nan())
}

/// Whether both parts are finite.
pub fn is_finite<T: Scalar>(x: T) -> bool {
    (x.re() * T::Real::ZERO + x.im() * T::Real::ZERO).to_f64() == 0.0
}

/// Equal in every element, sentinels included.
pub fn same<T: Scalar>(x: &Matrix<T>, y: &Matrix<T>, what: impl Fn() -> String) {
    for (at, (&x, &y)) in x.data.iter().zip(&y.data).enumerate() {
        assert!(identical(x, y), "{}: {x} for {y} at {at}", what());
    }
}

/// Equal in every element that is finite in both parts, and not finite in the same ones: how Inf and NaN mix in the parts of
/// a complex number depends on the order of operations.
pub fn same_finite<T: Scalar>(x: &Matrix<T>, y: &Matrix<T>, what: impl Fn() -> String) {
    for (at, (&x, &y)) in x.data.iter().zip(&y.data).enumerate() {
        assert!(is_finite(x) == is_finite(y) && (!is_finite(x) || x == y), "{}: {x} for {y} at {at}", what());
    }
}

/// Within `bound` roundoffs of the largest finite element, and sentinels equal.
pub fn close<T: Scalar>(x: &Matrix<T>, y: &Matrix<T>, bound: f64, what: impl Fn() -> String) {
    let size = largest(y.data.iter().map(|v| v.abs().to_f64()).filter(|v| v.is_finite()));
    for (at, (&x, &y)) in x.data.iter().zip(&y.data).enumerate() {
        let error = (x - y).abs().to_f64();
        let fits = identical(x, y) || error <= bound * T::EPSILON.to_f64() * size;
        assert!(fits, "{}: {x} for {y} at {at}", what());
    }
}
