//! gecon: estimates the reciprocal condition number 1 / (‖A‖ ‖A⁻¹‖) with the factors L U of A.

use super::{Operations, Ours, Routine};
use crate::case::{Case, Parameter};
use crate::link::Stored;
use crate::norm::{largest, modulus, one_and_inf, worst};
use crate::operand::{Keeps, Maker, Operands};
use crate::peer::Call;
use crate::probe::triangle_solve;
use crate::sum::COLUMNS_MAX;
use superscalar_kernels::{Diag, MatRef, Norm, Op, Real, Scalar, Uplo};

pub struct Gecon;

/// An estimate that is worse by more than this is not accepted. Higham (Accuracy and Stability of Numerical Algorithms,
/// 2nd edition, section 15.3) finds LAPACK's within a factor of 3 in practice.
const FACTOR_MAX: f64 = 10.0;

impl Routine for Gecon {
    const NAME: &'static str = "gecon";
    const USES: &'static [Parameter] = &[Parameter::N, Parameter::Norm];

    fn admits<T: Scalar>(case: &Case) -> bool {
        matches!(case.norm, Norm::One | Norm::Inf)
    }

    fn operations(case: &Case) -> Operations {
        solves(case)
    }

    /// Factors of a matrix which needs no interchanges, a bound of its norm, and the estimate.
    fn operands<T: Scalar>(case: &Case, make: &mut Maker) -> Option<Operands<T>> {
        let n = case.dim.n;
        let lu = make.matrix((n, n), Keeps::Everything, |random, a| random.lu(a))?;
        let norm_of = |uplo, diag| {
            let (one, inf) = one_and_inf(Stored::Triangle(uplo, diag), lu.view());
            if case.norm == Norm::One { one } else { inf }
        };
        let norm = norm_of(Uplo::Lower, Diag::Unit) * norm_of(Uplo::Upper, Diag::NonUnit);
        let norm = make.matrix((1, 1), Keeps::Everything, |_, mut a| a[(0, 0)] = T::from_f64(norm))?;
        Some(Operands::new([lu, norm, make.result((1, 1))?]))
    }

    fn ours<T: Scalar>(ours: &Ours<'_>, case: &Case, operands: &mut Operands<T>) -> Result<(), superscalar_dla::Error> {
        let [lu, norm, _] = operands.views();
        let rcond = superscalar_dla::gecon(ours.runtime, case.norm, lu, norm.at(0, 0).re(), &ours.options)?;
        operands.set_number(rcond);
        Ok(())
    }

    fn peer<'a, T: Scalar>(case: &Case, operands: &'a mut Operands<T>) -> Call<'a, T> {
        let ([lu, norm, rcond], n) = (operands.views_mut(), case.dim.n);
        let call = Call::new("gecon").letter(case.norm.letter()).int(n).input(lu.into_ref());
        let call = call.real(norm.at(0, 0).re()).real_out(rcond).work(4 * n);
        if T::COMPLEX { call.real_work(2 * n).info() } else { call.int_work(n).info() }
    }

    fn residual<T: Scalar>(case: &Case, before: &Operands<T>, after: &Operands<T>) -> f64 {
        let ([lu, norm, _], [_, _, rcond]) = (before.views(), after.views());
        let solve = |x: &mut [T]| {
            triangle_solve(Uplo::Lower, Op::None, Diag::Unit, lu, x);
            triangle_solve(Uplo::Upper, Op::None, Diag::NonUnit, lu, x);
        };
        estimate(case.norm, norm, rcond, inverse_norm(case.norm, lu.nrows(), solve))
    }
}

/// The two solves with A that an estimate needs at least; the Working Note does not count this one.
pub fn solves(case: &Case) -> Operations {
    let n = case.dim.n as f64;
    Operations::pairs(2.0 * n * n)
}

/// ‖A⁻¹‖₁ or ‖A⁻¹‖∞ for a small A which `solve` solves with; `None` for a larger one.
pub fn inverse_norm<T: Scalar>(norm: Norm, n: usize, solve: impl Fn(&mut [T])) -> Option<f64> {
    if n > COLUMNS_MAX {
        return None;
    }
    let (mut columns, mut rows) = (vec![0.0; n], vec![0.0; n]);
    for (j, column) in columns.iter_mut().enumerate() {
        let mut x: Vec<T> = (0..n).map(|i| if i == j { T::ONE } else { T::ZERO }).collect();
        solve(&mut x);
        *column = x.iter().map(|&entry| modulus(entry)).sum();
        rows.iter_mut().zip(&x).for_each(|(sum, &entry)| *sum += modulus(entry));
    }
    Some(largest(if norm == Norm::One { columns } else { rows }))
}

/// How far the estimate is on the wrong side of what it estimates, over n ε; ∞ where it is too far on the right one.
///
/// The estimate of ‖A⁻¹‖ is ‖A⁻¹ x‖ / ‖x‖ for some x: never too large, so that rcond is never too small. And it is never
/// below 1 / ‖A‖, so that rcond is never above one, nor zero.
pub fn estimate<T: Scalar>(
    norm: Norm,
    a_norm: MatRef<'_, T>,
    rcond: MatRef<'_, T>,
    inverse_norm: Option<f64>,
) -> f64 {
    debug_assert!(matches!(norm, Norm::One | Norm::Inf), "no other is estimated");
    let (a_norm, rcond) = (modulus(a_norm.at(0, 0)), rcond.at(0, 0));
    let (is_real, rcond) = (rcond.im() == T::Real::ZERO, rcond.re().to_f64());
    if a_norm == 0.0 && rcond == 1.0 {
        // Of order 0.
        return 0.0;
    }
    let truth = inverse_norm.map_or(rcond, |inverse| 1.0 / (a_norm * inverse));
    let is_near = rcond > 0.0 && rcond <= truth * FACTOR_MAX && is_real;
    if !is_near {
        return f64::INFINITY;
    }
    let over = |excess: f64| worst(excess / (COLUMNS_MAX as f64 * T::EPSILON.to_f64()), 0.0);
    worst(over(truth / rcond - 1.0), over(rcond - 1.0))
}
