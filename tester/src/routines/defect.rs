//! Inputs with a defect, made from ordinary operands.

use super::{Defect, Expected};
use crate::case::{Case, Coefficient};
use crate::operand::Operands;
use superscalar_kernels::{Diag, Scalar, Uplo};

/// The position of an element in the operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ElementPosition {
    /// Index into [`Operands::matrices`].
    matrix: usize,
    row: usize,
    column: usize,
}

/// Returns the position of an element, given as `(row, column)`, in a matrix of the operands.
pub fn at(matrix: usize, (row, column): (usize, usize)) -> ElementPosition {
    ElementPosition { matrix, row, column }
}

/// Returns the ordinary operands with this value in one element. `None` if there is no memory for a copy, or no such
/// element.
pub fn with<T: Scalar>(
    name: &'static str,
    case: &Case,
    ordinary: &Operands<T>,
    position: ElementPosition,
    value: T,
) -> Option<Defect<T>> {
    let mut operands = ordinary.duplicate()?;
    *operands.matrices[position.matrix].view_mut().get_mut(position.row, position.column)? = value;
    Some(Defect { name, case: *case, operands, expected: Expected::NotANumber })
}

impl<T> Defect<T> {
    /// Returns the same defect with another expectation.
    pub fn expecting(self, expected: Expected) -> Self {
        Self { expected, ..self }
    }
}

/// Returns defects that test the rules of the BLAS for a product alpha P + beta C: NaN in its factors or in C appears
/// in the result, alpha = 0 reads no factor, and beta = 0 does not read C. `factors` and `sum` are elements that affect
/// the result; without a `sum` there is no beta.
pub fn of_product<T: Scalar>(
    case: &Case,
    ordinary: &Operands<T>,
    factors: &[Option<ElementPosition>],
    sum: Option<ElementPosition>,
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

/// Returns the element farthest from the diagonal in a triangle of order n; `None` if it is a diagonal element that is
/// not stored.
pub fn corner(uplo: Uplo, diag: Diag, n: usize) -> Option<(usize, usize)> {
    let last = n.checked_sub(1)?;
    let place = if uplo == Uplo::Lower { (last, 0) } else { (0, last) };
    (last > 0 || diag == Diag::NonUnit).then_some(place)
}

/// Returns a triangular factor with a zero in the middle of its diagonal, whose position LAPACK's info gives.
pub fn zero_pivot<T: Scalar>(case: &Case, ordinary: &Operands<T>) -> Vec<Defect<T>> {
    let n = ordinary.matrices[0].view().ncols();
    let defect = with("a zero on the diagonal", case, ordinary, at(0, (n / 2, n / 2)), T::ZERO);
    defect.map(|defect| defect.expecting(Expected::Info(n / 2 + 1))).into_iter().collect()
}
