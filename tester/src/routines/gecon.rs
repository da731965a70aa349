//! gecon: estimates the reciprocal condition number 1 / (‖A‖ ‖A⁻¹‖) with the factors L U of A.

use super::{Case, FortranCall, Keeps, Maker, Operands, Operations, Ours, Parameter, Routine, Scalar};
use superscalar_kernels::{Diag, MatRef, Norm, Op, Real, Scalar as _, Uplo};
use superscalar_oracle::{Storage, largest, modulus, one_and_inf};

pub struct Gecon;

/// The accepted ratio of the estimate to the true value. According to Higham (Accuracy and Stability of Numerical
/// Algorithms, 2nd edition, section 15.3), LAPACK's estimate is within a factor of 3 in practice.
const FACTOR_MAX: f64 = 3.0;

impl Routine for Gecon {
    const NAME: &'static str = "gecon";
    const USES: &'static [Parameter] = &[Parameter::N, Parameter::Norm];

    fn admits<T: Scalar>(case: &Case) -> bool {
        matches!(case.norm, Norm::One | Norm::Inf)
    }

    fn operations(case: &Case) -> Operations {
        solves(case)
    }

    /// The factors of a matrix that needs no interchanges, a bound of its norm, and a place for the estimate.
    fn operands<T: Scalar>(case: &Case, make: &mut Maker) -> Option<Operands<T>> {
        let n = case.dim.n;
        let lu = make.matrix((n, n), Keeps::Everything, |random, mut a| {
            random.lu(a.rb_mut());
            random.with_known_inverse(a);
        })?;
        let norm_of = |uplo, diag| {
            let (one, inf) = one_and_inf(Storage::Triangle(uplo, diag), lu.view());
            if case.norm == Norm::One { one } else { inf }
        };
        let norm = norm_of(Uplo::Lower, Diag::Unit) * norm_of(Uplo::Upper, Diag::NonUnit);
        let norm = make.matrix((1, 1), Keeps::Everything, |_, mut a| a[(0, 0)] = T::from_f64(norm))?;
        Some(Operands::new([lu, norm, make.result((1, 1))?]))
    }

    fn ours<T: Scalar>(_: &Ours<'_>, case: &Case, operands: &mut Operands<T>) -> Result<(), superscalar_dla::Error> {
        let [lu, norm, _] = operands.views();
        let rcond = superscalar_dla::gecon(case.norm, lu, norm.at(0, 0).re())?;
        operands.set_number(rcond);
        Ok(())
    }

    fn peer<'a, T: Scalar>(case: &Case, operands: &'a mut Operands<T>) -> FortranCall<'a, T> {
        let ([lu, norm, rcond], n) = (operands.views_mut(), case.dim.n);
        let call = FortranCall::new("gecon").letter(case.norm.letter()).int(n).input(lu.into_ref());
        let call = call.real(norm.at(0, 0).re()).real_out(rcond).work(4 * n);
        if T::COMPLEX { call.real_work(2 * n).info() } else { call.int_work(n).info() }
    }

    fn residual<T: Scalar>(case: &Case, before: &Operands<T>, after: &Operands<T>) -> f64 {
        let ([lu, norm, _], [_, _, rcond]) = (before.views(), after.views());
        let [lower, upper] = [(Uplo::Lower, Diag::Unit), (Uplo::Upper, Diag::NonUnit)];
        let inverse_norm = match case.norm {
            Norm::One => inverse_norm(lu, [(upper, Op::Trans), (lower, Op::Trans)]),
            _ => inverse_norm(lu, [(lower, Op::None), (upper, Op::None)]),
        };
        estimate(lu.nrows(), norm, rcond, inverse_norm)
    }
}

/// Returns the operations of two solutions with A, the minimum for an estimate. The Working Note does not count this
/// routine.
pub fn solves(case: &Case) -> Operations {
    let n = case.dim.n as f64;
    Operations::pairs(2.0 * n * n)
}

/// Returns the norm of the inverse of a product of triangles made by [`Random::with_known_inverse`]. The triangles are
/// solved with in the given order.
///
/// Except for phases of rows and columns, the inverse of such a triangle is the inverse of its comparison matrix, which
/// has no negative element. Sums of moduli are therefore solutions for a vector of ones, to full accuracy at any order.
///
/// [`Random::with_known_inverse`]: superscalar_oracle::Random::with_known_inverse
pub fn inverse_norm<T: Scalar>(a: MatRef<'_, T>, triangles: [((Uplo, Diag), Op); 2]) -> f64 {
    let mut x = vec![1.0; a.nrows()];
    for ((uplo, diag), op) in triangles {
        comparison_solve(uplo, op, diag, a, &mut x);
    }
    largest(x)
}

/// Solves op(M) y = x in place, where M is the comparison matrix of a triangle A: the moduli of A on the diagonal and
/// their negatives elsewhere.
fn comparison_solve<T: Scalar>(uplo: Uplo, op: Op, diag: Diag, a: MatRef<'_, T>, x: &mut [f64]) {
    let n = x.len();
    let is_forward = (uplo == Uplo::Lower) == (op == Op::None);
    for step in 0..n {
        let j = if is_forward { step } else { n - 1 - step };
        let rows = if uplo == Uplo::Lower { j + 1..n } else { 0..j };
        if op != Op::None {
            x[j] += rows.clone().map(|i| modulus(a.at(i, j)) * x[i]).sum::<f64>();
        }
        if diag == Diag::NonUnit {
            x[j] /= modulus(a.at(j, j));
        }
        if op == Op::None {
            let by = x[j];
            rows.for_each(|i| x[i] += modulus(a.at(i, j)) * by);
        }
    }
}

/// Returns by how much the estimate is on the wrong side of the true value, over √n ε; ∞ if it is too far on the right
/// side.
///
/// The estimate of ‖A⁻¹‖ is ‖A⁻¹ x‖ / ‖x‖ for some x. It is never too large, so rcond is never too small; and it is
/// never below 1 / ‖A‖, so rcond is never above one, nor zero.
pub fn estimate<T: Scalar>(n: usize, a_norm: MatRef<'_, T>, rcond: MatRef<'_, T>, inverse_norm: f64) -> f64 {
    let (a_norm, rcond) = (modulus(a_norm.at(0, 0)), rcond.at(0, 0));
    let (is_real, rcond) = (rcond.im() == T::Real::ZERO, rcond.re().to_f64());
    if a_norm == 0.0 && rcond == 1.0 {
        // The matrix has order 0.
        return 0.0;
    }
    let truth = 1.0 / (a_norm * inverse_norm);
    let is_near = rcond > 0.0 && rcond <= truth * FACTOR_MAX && is_real;
    if !is_near {
        return f64::INFINITY;
    }
    let over = |excess: f64| largest([excess / ((n.max(1) as f64).sqrt() * T::EPSILON.to_f64())]);
    largest([over(truth / rcond - 1.0), over(rcond - 1.0)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use superscalar_kernels::{MatMut, Side, c64, cpu};
    use superscalar_oracle::Random;

    /// Returns ‖A⁻¹‖₁ and ‖A⁻¹‖∞ by inversion.
    fn by_inversion(n: usize, solve: impl Fn(MatMut<'_, c64>)) -> (f64, f64) {
        let mut inverse: Vec<c64> = (0..n * n).map(|at| if at % (n + 1) == 0 { c64::ONE } else { c64::ZERO }).collect();
        let mut view = MatMut::from_col_major(&mut inverse, n, n, n).expect("a shape that fits");
        solve(view.rb_mut());
        one_and_inf(Storage::General, view.into_ref())
    }

    #[test]
    fn norms_of_inverses_are_known() {
        let n = 70;
        let mut data = vec![c64::ZERO; n * n];
        let mut a = MatMut::from_col_major(&mut data, n, n, n).expect("a shape that fits");
        Random::new(5).lu(a.rb_mut());
        Random::new(6).with_known_inverse(a.rb_mut());
        let a = a.into_ref();
        let [lower, upper] = [(Uplo::Lower, Diag::Unit), (Uplo::Upper, Diag::NonUnit)];
        let solve = |((uplo, diag), op): ((Uplo, Diag), Op), x: MatMut<'_, c64>| {
            cpu::trsm(Side::Left, uplo, op, diag, c64::ONE, a, x);
        };
        let near = |x: f64, y: f64| (x / y - 1.0).abs() < 1e-12;
        let (one, inf) = by_inversion(n, |mut x| {
            solve((lower, Op::None), x.rb_mut());
            solve((upper, Op::None), x);
        });
        assert!(near(inverse_norm(a, [(upper, Op::Trans), (lower, Op::Trans)]), one), "{one}");
        assert!(near(inverse_norm(a, [(lower, Op::None), (upper, Op::None)]), inf), "{inf}");
        let lower = (Uplo::Lower, Diag::NonUnit);
        let (one, _) = by_inversion(n, |mut x| {
            solve((lower, Op::None), x.rb_mut());
            solve((lower, Op::ConjTrans), x);
        });
        assert!(near(inverse_norm(a, [(lower, Op::None), (lower, Op::Trans)]), one), "{one}");
    }
}
