//! gesv_mixed and posv_mixed (LAPACK's dsgesv, zcgesv, dsposv and zcposv): solve A X = B by a factorization in the
//! lower precision and iterative refinement.

use super::gesv::{Gesv, singular, solution};
use super::posv::{Posv, hermitian_solution};
use super::potrf::indefinite;
use super::{Case, Defect, FortranCall, Keeps, Maker, Operands, Operations, Ours, Parameter, Routine, Scalar};
use crate::operand::share_of_steps;
use std::any::Any;
use superscalar_dla::MixedPrecision;
use superscalar_kernels::{MatRef, Real, c64};
use superscalar_oracle::largest;

/// Both routines; they differ in whether A is positive definite.
pub struct Mixed<const DEFINITE: bool>;

pub type GesvMixed = Mixed<false>;
pub type PosvMixed = Mixed<true>;

impl<const DEFINITE: bool> Routine for Mixed<DEFINITE> {
    const NAME: &'static str = if DEFINITE { "posv_mixed" } else { "gesv_mixed" };
    const USES: &'static [Parameter] =
        if DEFINITE { &[Parameter::N, Parameter::Nrhs, Parameter::Uplo] } else { &[Parameter::N, Parameter::Nrhs] };

    fn absent<T: Scalar>() -> Option<&'static str> {
        matches!(T::LETTER, 's' | 'c').then_some("this type has no lower precision")
    }

    fn operations(case: &Case) -> Operations {
        if DEFINITE { Posv::operations(case) } else { Gesv::operations(case) }
    }

    /// A, B, X, and the number of steps as [`share_of_steps`]. A must not change: it is so well conditioned that the
    /// refinement must converge.
    fn operands<T: Scalar>(case: &Case, make: &mut Maker) -> Option<Operands<T>> {
        let (n, uplo) = (case.dim.n, case.uplo);
        let a = make.matrix((n, n), Keeps::Everything, |random, a| match DEFINITE {
            true => random.positive_definite(uplo, a),
            false => random.full_rank(a),
        })?;
        let b = make.matrix((n, case.nrhs), Keeps::Everything, |random, b| random.general(b))?;
        let (x, steps) = (make.result((n, case.nrhs))?, make.result((1, 1))?);
        let pivots = if DEFINITE { Vec::new() } else { vec![0; n] };
        let operands = Operands::new([a, b, x, steps]).with_pivots(pivots, Keeps::Scrap);
        Some(if has_to_converge(n) { operands } else { operands.scrap(0).scrap(3) })
    }

    fn ours<T: Scalar>(ours: &Ours<'_>, case: &Case, operands: &mut Operands<T>) -> Result<(), superscalar_dla::Error> {
        let operands: &mut dyn Any = operands;
        if let Some(operands) = operands.downcast_mut::<Operands<f64>>() {
            return solve::<f64>(DEFINITE, ours, case, operands);
        }
        match operands.downcast_mut::<Operands<c64>>() {
            Some(operands) => solve::<c64>(DEFINITE, ours, case, operands),
            None => unreachable!("`absent` excludes this type"),
        }
    }

    fn peer<'a, T: Scalar>(case: &Case, operands: &'a mut Operands<T>) -> FortranCall<'a, T> {
        let ([a, b, x, steps], pivots) = operands.views_and_pivots_mut();
        let (n, nrhs) = (case.dim.n, case.nrhs);
        let name = match (DEFINITE, T::COMPLEX) {
            (false, false) => "sgesv",
            (false, true) => "cgesv",
            (true, false) => "sposv",
            (true, true) => "cposv",
        };
        let call = if DEFINITE { FortranCall::new(name).letter(case.uplo.letter()) } else { FortranCall::new(name) };
        let call = call.int(n).int(nrhs).matrix(a);
        let call = if DEFINITE { call } else { call.ints(pivots) };
        // The second workspace is in the lower precision, so this one is more than large enough.
        let call = call.matrix(b).matrix(x).work(n * nrhs).work(n * (n + nrhs));
        let call = if T::COMPLEX { call.real_work(n) } else { call };
        call.steps_out(steps).info()
    }

    /// Returns the residual of an ordinary solution, or ∞ if the refinement has not converged within LAPACK's limit of
    /// steps.
    fn residual<T: Scalar>(case: &Case, before: &Operands<T>, after: &Operands<T>) -> f64 {
        let ([a, b, ..], [_, _, x, steps]): ([MatRef<'_, T>; 4], _) = (before.views(), after.views());
        let share = steps.at(0, 0).re().to_f64();
        let converged = !has_to_converge(case.dim.n) || (0.0..1.0).contains(&share);
        let error = if DEFINITE { hermitian_solution(case.uplo, a, x, b) } else { solution(a, x, b) };
        largest([error, if converged { 0.0 } else { f64::INFINITY }])
    }

    fn defects<T: Scalar>(case: &Case, ordinary: &Operands<T>) -> Vec<Defect<T>> {
        let defects = if DEFINITE { indefinite(case, ordinary) } else { singular(case, ordinary) };
        // Without convergence, A is factored in its own precision.
        let scrap = |defect: Defect<T>| Defect { operands: defect.operands.scrap(0), ..defect };
        defects.into_iter().map(scrap).collect()
    }
}

/// Returns whether the refinement must converge at this order. At lower orders, the rounding of the residual alone may
/// exceed LAPACK's bound, √n ε ‖A‖ ‖x‖; then LAPACK and our library both fall back.
fn has_to_converge(n: usize) -> bool {
    n >= 4
}

fn solve<T: MixedPrecision>(
    definite: bool,
    ours: &Ours<'_>,
    case: &Case,
    operands: &mut Operands<T>,
) -> Result<(), superscalar_dla::Error> {
    let ([a, b, x, mut steps], pivots) = operands.views_and_pivots_mut();
    let (rt, b, options) = (ours.runtime, b.into_ref(), &ours.options);
    let taken = match definite {
        true => superscalar_dla::posv_mixed(rt, case.uplo, a, b, x, options)?,
        false => superscalar_dla::gesv_mixed(rt, a, pivots, b, x, options)?,
    };
    steps[(0, 0)] = share_of_steps(taken);
    Ok(())
}
