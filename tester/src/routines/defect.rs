//! Defects, made of ordinary operands.

use super::{Defect, Expected};
use crate::case::{Case, Coefficient};
use crate::operand::Operands;
use superscalar_kernels::{Diag, Scalar, Uplo};

/// A place in the operands: which matrix, and the element's row and column.
pub type Place = (usize, (usize, usize));

/// The ordinary operands with this value in one place; `None` when there is no memory for them, or no such place.
pub fn with<T: Scalar>(
    name: &'static str,
    case: &Case,
    ordinary: &Operands<T>,
    (at, (i, j)): Place,
    value: T,
) -> Option<Defect<T>> {
    let mut operands = ordinary.duplicate()?;
    *operands.matrices[at].view_mut().get_mut(i, j)? = value;
    Some(Defect { name, case: *case, operands, expected: Expected::NotANumber })
}

impl<T> Defect<T> {
    /// The same with another expectation.
    pub fn expecting(self, expected: Expected) -> Self {
        Self { expected, ..self }
    }
}

/// The rules of the BLAS for a product alpha P + beta C: NaN in its factors (or in C) is in the result, alpha = 0 reads
/// no factor, beta = 0 does not read C. `factors` and `sum` are places that count; without a `sum` there is no beta.
pub fn of_product<T: Scalar>(
    case: &Case,
    ordinary: &Operands<T>,
    factors: &[Option<Place>],
    sum: Option<Place>,
) -> Vec<Defect<T>> {
    let not_a_number = T::from_f64(f64::NAN);
    let without_alpha = Case { alpha: Coefficient::ZERO, ..*case };
    let without_beta = Case { beta: Coefficient::ZERO, ..*case };
    let mut defects = Vec::new();
    if ordinary.matrices.iter().any(|matrix| matrix.view().is_empty()) {
        return defects;
    }
    for &place in factors.iter().flatten() {
        if case.alpha != Coefficient::ZERO {
            defects.extend(with("NaN in a factor", case, ordinary, place, not_a_number));
        }
        let hidden = with("NaN in a factor, and alpha = 0", &without_alpha, ordinary, place, not_a_number);
        defects.extend(hidden.map(|defect| defect.expecting(Expected::Ordinary)));
    }
    if let Some(place) = sum {
        if case.beta != Coefficient::ZERO {
            defects.extend(with("NaN in C", case, ordinary, place, not_a_number));
        }
        let hidden = with("NaN in C, and beta = 0", &without_beta, ordinary, place, not_a_number);
        defects.extend(hidden.map(|defect| defect.expecting(Expected::Ordinary)));
    }
    defects
}

/// The place far from the diagonal in a triangle of order n; `None` where that is a diagonal element which is not stored.
pub fn corner(uplo: Uplo, diag: Diag, n: usize) -> Option<(usize, usize)> {
    let last = n.checked_sub(1)?;
    let place = if uplo == Uplo::Lower { (last, 0) } else { (0, last) };
    (last > 0 || diag == Diag::NonUnit).then_some(place)
}

/// A zero in the middle of a triangular factor's diagonal, of which LAPACK's info tells the place.
pub fn zero_pivot<T: Scalar>(case: &Case, ordinary: &Operands<T>) -> Vec<Defect<T>> {
    let n = ordinary.matrices[0].view().ncols();
    let defect = with("a zero on the diagonal", case, ordinary, (0, (n / 2, n / 2)), T::ZERO);
    defect.map(|defect| defect.expecting(Expected::Info(n / 2 + 1))).into_iter().collect()
}
