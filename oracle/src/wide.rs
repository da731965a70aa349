//! [`Wide`]: a matrix in double precision complex with textbook algorithms, as the reference for results.

use crate::{
    bound::largest,
    factor::{Factor, Storage, each, interchange},
};
use superscalar_kernels::{Diag, MatRef, Op, Real, Scalar, Uplo, c64};

/// A matrix in double precision complex. All operations are plain loops, for matrices of up to some hundred rows and
/// columns.
///
/// # Panics
/// Operations panic if the shapes do not match.
///
/// # Example
/// ```
/// use superscalar_kernels::c64;
/// use superscalar_oracle::Wide;
///
/// let a = Wide::new((2, 2), |i, j| c64::from((1 + i + 2 * j) as f64));
/// assert_eq!(a.norm_one(), 7.0);
/// assert!(a.times(&a.inverse()).minus(&Wide::identity(2)).norm_max() <= 1e-14);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Wide {
    data: Vec<c64>,
    m: usize,
    n: usize,
}

impl Wide {
    /// Makes the m x n matrix whose element (i, j) is `f(i, j)`.
    pub fn new((m, n): (usize, usize), f: impl Fn(usize, usize) -> c64) -> Self {
        Self { data: (0..m * n).map(|at| f(at % m, at / m)).collect(), m, n }
    }

    /// Makes the identity of order n.
    pub fn identity(n: usize) -> Self {
        Self::new((n, n), |i, j| if i == j { c64::ONE } else { c64::ZERO })
    }

    /// Converts all of a matrix.
    pub fn of<T: Scalar>(a: MatRef<'_, T>) -> Self {
        Self::stored(Storage::General, a)
    }

    /// Makes the matrix that is stored in this way, for example the Hermitian matrix of which one triangle is stored.
    pub fn stored<T: Scalar>(storage: Storage, a: MatRef<'_, T>) -> Self {
        let mut all = Self::new(a.shape(), |_, _| c64::ZERO);
        each(storage, a, |i, j, element| all.data[i + j * all.m] = wide(element));
        all
    }

    /// Returns the unit lower trapezoidal L and the upper trapezoidal U of an LU factorization.
    pub fn lower_and_upper<T: Scalar>(lu: MatRef<'_, T>) -> (Self, Self) {
        let (m, n) = lu.shape();
        let k = m.min(n);
        let l = Self::stored(Storage::Triangle(Uplo::Lower, Diag::Unit), lu.submatrix(0..m, 0..k));
        (l, Self::stored(Storage::UPPER, lu.submatrix(0..k, 0..n)))
    }

    /// Returns all columns of Q = H₁ H₂ …. The reflectors are in the columns of this matrix, their scalars in `tau`.
    pub fn q_of_columns<T: Scalar>(&self, tau: &[T]) -> Self {
        let (tau, count) = (tau.iter().map(|&tau| wide(tau)).collect::<Vec<_>>(), tau.len());
        let tau = Self { data: tau, m: count, n: 1 };
        let q = Factor::Reflectors { v: self.view(), tau: tau.view(), by_rows: false, adjoint: false };
        // Row i of Q is (Qᴴ eᵢ)ᴴ.
        let unit = |i| (0..self.m).map(|at| if at == i { c64::ONE } else { c64::ZERO }).collect();
        let rows: Vec<Vec<c64>> = (0..self.m).map(|i| q.adjoint_times(unit(i))).collect();
        Self::new((self.m, self.m), |i, j| rows[i][j].conj())
    }

    /// Returns all rows of the Q of A = L Q, Q = … H₂ᴴ H₁ᴴ. Its adjoint is H₁ H₂ …, whose reflectors are the conjugated
    /// rows of this matrix.
    pub fn q_of_rows<T: Scalar>(&self, tau: &[T]) -> Self {
        self.adjoint().q_of_columns(tau).adjoint()
    }

    /// Returns the number of rows and columns.
    pub fn shape(&self) -> (usize, usize) {
        (self.m, self.n)
    }

    /// Returns element (i, j).
    pub fn at(&self, i: usize, j: usize) -> c64 {
        assert!(i < self.m, "row {i} of {}", self.m);
        self.data[i + j * self.m]
    }

    /// Returns an immutable view of the matrix.
    pub fn view(&self) -> MatRef<'_, c64> {
        MatRef::from_col_major(&self.data, self.m, self.n, self.m.max(1)).expect("there is room")
    }

    /// Returns column j.
    pub fn column(&self, j: usize) -> &[c64] {
        &self.data[j * self.m..(j + 1) * self.m]
    }

    fn column_mut(&mut self, j: usize) -> &mut [c64] {
        &mut self.data[j * self.m..(j + 1) * self.m]
    }

    /// Returns a copy of some rows and columns.
    pub fn submatrix(&self, rows: std::ops::Range<usize>, cols: std::ops::Range<usize>) -> Self {
        Self::new((rows.len(), cols.len()), |i, j| self.at(rows.start + i, cols.start + j))
    }

    /// Returns op(A).
    pub fn op(&self, op: Op) -> Self {
        match op {
            Op::None => self.clone(),
            Op::Trans => Self::new((self.n, self.m), |i, j| self.at(j, i)),
            Op::ConjTrans => Self::new((self.n, self.m), |i, j| self.at(j, i).conj()),
        }
    }

    /// Returns Aᴴ.
    pub fn adjoint(&self) -> Self {
        self.op(Op::ConjTrans)
    }

    /// Returns A B. Zeros are multiplied, too: with NaN they make NaN.
    pub fn times(&self, other: &Self) -> Self {
        assert_eq!(self.n, other.m, "columns of A and rows of B");
        let mut product = Self::new((self.m, other.n), |_, _| c64::ZERO);
        for j in 0..other.n {
            for k in 0..self.n {
                let factor = other.at(k, j);
                product.column_mut(j).iter_mut().zip(self.column(k)).for_each(|(sum, a)| *sum += a * factor);
            }
        }
        product
    }

    /// Returns A − B.
    pub fn minus(&self, other: &Self) -> Self {
        assert_eq!(self.shape(), other.shape(), "shapes of A and B");
        Self::new(self.shape(), |i, j| self.at(i, j) - other.at(i, j))
    }

    /// Exchanges rows by `ipiv`, first to last. An index that is not a row leaves NaN.
    pub fn interchanged(mut self, ipiv: &[i32]) -> Self {
        for j in 0..self.n {
            let column = interchange(ipiv, false, self.column(j).to_vec());
            self.column_mut(j).copy_from_slice(&column);
        }
        self
    }

    /// Returns ‖A‖₁, the largest sum of moduli in a column; NaN if an element is NaN, as in all norms here.
    pub fn norm_one(&self) -> f64 {
        largest((0..self.n).map(|j| self.column(j).iter().map(|x| x.norm()).sum::<f64>()))
    }

    /// Returns ‖A‖∞, the largest sum of moduli in a row.
    pub fn norm_inf(&self) -> f64 {
        self.adjoint().norm_one()
    }

    /// Returns the largest modulus of an element.
    pub fn norm_max(&self) -> f64 {
        largest(self.data.iter().map(|x| x.norm()))
    }

    /// Returns the square root of the sum of squared moduli.
    pub fn frobenius(&self) -> f64 {
        self.data.iter().map(|x| x.norm_sqr()).sum::<f64>().sqrt()
    }

    /// Returns the inverse, by elimination with row interchanges.
    pub fn inverse(&self) -> Self {
        let n = self.n;
        let (mut a, mut x) = (self.adjoint(), Self::identity(n));
        // Works on columns of the adjoint, which are contiguous; the result is the adjoint of the inverse.
        for k in 0..n {
            let pivot = (k..n).max_by(|&i, &j| a.at(k, i).norm().total_cmp(&a.at(k, j).norm())).expect("a column");
            for matrix in [&mut a, &mut x] {
                (0..n).for_each(|i| matrix.data.swap(i + k * n, i + pivot * n));
            }
            let scale = c64::ONE / a.at(k, k);
            for matrix in [&mut a, &mut x] {
                matrix.column_mut(k).iter_mut().for_each(|x| *x *= scale);
            }
            for j in (0..n).filter(|&j| j != k) {
                let factor = a.at(k, j);
                for matrix in [&mut a, &mut x] {
                    let by = matrix.column(k).to_vec();
                    matrix.column_mut(j).iter_mut().zip(by).for_each(|(x, by)| *x -= factor * by);
                }
            }
        }
        x.adjoint()
    }
}

/// Converts a number to double precision complex, which is exact.
pub fn wide<T: Scalar>(x: T) -> c64 {
    c64::new(x.re().to_f64(), x.im().to_f64())
}

/// Converts a number to another type, with each part rounded. Real types take the real part.
pub fn narrow<T: Scalar>(x: c64) -> T {
    T::from_parts(T::Real::from_f64(x.re), T::Real::from_f64(x.im))
}
