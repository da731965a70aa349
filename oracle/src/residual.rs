//! LAPACK's scaled residuals: an error divided by n ε and the sizes of its operands. For backward stable routines they
//! are about one, independent of n; small n need a larger bound. All are NaN if an operand contains NaN.

use crate::{
    bound::{largest, ratio},
    factor::{Storage, modulus, one_and_inf, transformed},
    wide::Wide,
};
use superscalar_kernels::{MatRef, Op, Real, Scalar};

/// Returns ε of a type, its unit roundoff, as a double.
pub fn epsilon<T: Scalar>() -> f64 {
    T::EPSILON.to_f64()
}

/// Returns error / (n size ε).
///
/// # Example
/// ```
/// use superscalar_oracle::residual::scaled;
///
/// assert_eq!(scaled::<f64>(f64::EPSILON, 1.0, 2), 1.0);
/// assert!(scaled::<f64>(0.0, f64::NAN, 2).is_nan());
/// assert_eq!(scaled::<f64>(0.0, 0.0, 2), 0.0);
/// assert!(scaled::<f64>(1e-300, 0.0, 2) > 1e30);
/// ```
pub fn scaled<T: Scalar>(error: f64, size: f64, n: usize) -> f64 {
    ratio(error, size) / (n.max(1) as f64 * epsilon::<T>())
}

/// Returns ‖X − Y‖₁ / (n ‖X‖₁ ε), where n is the larger dimension and X is exact or an operand.
pub fn difference<T: Scalar>(x: &Wide, y: &Wide) -> f64 {
    scaled::<T>(x.minus(y).norm_one(), x.norm_one(), x.shape().0.max(x.shape().1))
}

/// Returns ‖A − L Lᴴ‖₁ / (n ‖A‖₁ ε). L comes from [`Wide::stored`], with a zero upper triangle. The result is ∞ if L
/// does not have a [`positive_diagonal`].
pub fn cholesky<T: Scalar>(a: &Wide, l: &Wide) -> f64 {
    largest([difference::<T>(a, &l.times(&l.adjoint())), positive_diagonal(l.view())])
}

/// Returns zero if all elements on the diagonal are real and positive, otherwise ∞. Only the Cholesky factor has this
/// property among all L with A = L Lᴴ: L Lᴴ does not change if a column is multiplied by a number of modulus one.
///
/// # Example
/// ```
/// use superscalar_kernels::MatRef;
/// use superscalar_oracle::residual::positive_diagonal;
///
/// let (l, other) = ([2.0, -1.0, 0.0, 3.0], [-2.0, 1.0, 0.0, 3.0]);
/// assert_eq!(positive_diagonal(MatRef::from_col_major(&l, 2, 2, 2)?), 0.0);
/// assert_eq!(positive_diagonal(MatRef::from_col_major(&other, 2, 2, 2)?), f64::INFINITY);
/// # Ok::<(), superscalar_kernels::ViewError>(())
/// ```
pub fn positive_diagonal<T: Scalar>(l: MatRef<'_, T>) -> f64 {
    let is_positive = |x: T| x.re() > T::Real::ZERO && x.im() == T::Real::ZERO;
    let n = l.nrows().min(l.ncols());
    if (0..n).all(|i| is_positive(l.at(i, i))) { 0.0 } else { f64::INFINITY }
}

/// Returns ‖P A − L U‖₁ / (n ‖A‖₁ ε), where P are the interchanges and n is the larger dimension.
pub fn lu<T: Scalar>(a: &Wide, lu: MatRef<'_, T>, ipiv: &[i32]) -> f64 {
    let (l, u) = Wide::lower_and_upper(lu);
    difference::<T>(&a.clone().interchanged(ipiv), &l.times(&u))
}

/// Returns ‖I − Qᴴ Q‖₁ / (m ε) for Q with m rows.
pub fn orthogonality<T: Scalar>(q: &Wide) -> f64 {
    let (m, n) = q.shape();
    scaled::<T>(q.adjoint().times(q).minus(&Wide::identity(n)).norm_one(), 1.0, m)
}

/// Returns ‖bⱼ − A xⱼ‖₁ / (n ‖A‖₁ ‖xⱼ‖₁ ε) of the worst column, where A has n rows.
pub fn solve<T: Scalar>(a: &Wide, x: &Wide, b: &Wide) -> f64 {
    let (rest, norm, (n, columns)) = (b.minus(&a.times(x)), a.norm_one(), b.shape());
    let column = |j| {
        let of = |matrix: &Wide| matrix.column(j).iter().map(|x| x.norm()).sum::<f64>();
        scaled::<T>(of(&rest), norm * of(x), n)
    };
    largest((0..columns).map(column))
}

/// Returns ‖I − A X‖₁ / (n ‖A‖₁ ‖X‖₁ ε).
pub fn inverse<T: Scalar>(a: &Wide, x: &Wide) -> f64 {
    let n = a.shape().0;
    scaled::<T>(Wide::identity(n).minus(&a.times(x)).norm_one(), a.norm_one() * x.norm_one(), n)
}

/// Returns ‖bⱼ − A xⱼ‖∞ / (‖A‖∞ ‖xⱼ‖∞) of the worst column: the smallest relative change of A for which x is exact
/// (Rigal and Gaches, J. ACM 1967). It is computed in the element type in O(n²) per column, so it suits large matrices,
/// too.
///
/// # Panics
/// If the shapes do not fit.
///
/// # Example
/// ```
/// use superscalar_kernels::MatRef;
/// use superscalar_oracle::residual::backward_error;
///
/// let (a, x, b) = ([2.0, 0.0, 0.0, 4.0], [1.0, 1.0], [2.0, 5.0]);
/// let column = |data| MatRef::from_col_major(data, 2, 1, 2);
/// assert_eq!(backward_error(MatRef::from_col_major(&a, 2, 2, 2)?, column(&x)?, column(&b)?), 0.25);
/// # Ok::<(), superscalar_kernels::ViewError>(())
/// ```
pub fn backward_error<T: Scalar>(a: MatRef<'_, T>, x: MatRef<'_, T>, b: MatRef<'_, T>) -> f64 {
    assert_eq!((x.nrows(), b.nrows()), (a.ncols(), a.nrows()), "rows of X and B");
    assert_eq!(x.ncols(), b.ncols(), "columns of X and B");
    let (_, norm) = one_and_inf(Storage::General, a);
    let size = |column: &[T]| largest(column.iter().map(|&x| modulus(x)));
    let column = |j| {
        let (x, mut rest) = (x.col(j).to_vec(), b.col(j).to_vec());
        let scale = norm * size(&x);
        let product = transformed(Op::ConjTrans, a).adjoint_times(x);
        rest.iter_mut().zip(product).for_each(|(rest, product)| *rest -= product);
        ratio(size(&rest), scale)
    };
    largest((0..b.ncols()).map(column))
}
