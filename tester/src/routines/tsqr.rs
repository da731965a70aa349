//! tsqr: computes the factor R of a tall matrix with a reduction tree. Cases have no more columns than rows. Peers call
//! geqrf.

use super::geqrf::Geqrf;
use super::getri::WORK_COLUMNS;
use super::{Case, FortranCall, Keeps, Maker, Operands, Operations, Ours, Parameter, Routine, Scalar};
use superscalar_kernels::{Diag, Op, Uplo};
use superscalar_oracle::{Sum, general, transformed, triangle};

pub struct Tsqr;

/// Returns the case with at most as many columns as rows.
fn tall(case: &Case) -> Case {
    let mut case = *case;
    case.dim.n = case.dim.n.min(case.dim.m);
    case
}

impl Routine for Tsqr {
    const NAME: &'static str = "tsqr";
    const USES: &'static [Parameter] = Geqrf::USES;

    fn operations(case: &Case) -> Operations {
        Geqrf::operations(&tall(case))
    }

    /// A, of which only R is defined afterwards, and room for a peer's scalars.
    fn operands<T: Scalar>(case: &Case, make: &mut Maker) -> Option<Operands<T>> {
        let dim = tall(case).dim;
        let a = make.matrix((dim.m, dim.n), Keeps::Scrap, |random, a| random.general(a))?;
        let tau = make.matrix((dim.n, 1), Keeps::Scrap, |_, mut tau| tau.fill(T::ZERO))?;
        Some(Operands::new([a, tau]))
    }

    fn ours<T: Scalar>(ours: &Ours<'_>, _: &Case, operands: &mut Operands<T>) -> Result<(), superscalar_dla::Error> {
        let [a, _] = operands.views_mut();
        superscalar_dla::tsqr(ours.runtime, a, &ours.options).map(drop)
    }

    fn peer<'a, T: Scalar>(case: &Case, operands: &'a mut Operands<T>) -> FortranCall<'a, T> {
        let ([a, tau], dim) = (operands.views_mut(), tall(case).dim);
        let len = WORK_COLUMNS * dim.m;
        FortranCall::new("geqrf").int(dim.m).int(dim.n).matrix(a).column(tau).work_with_len(len).info()
    }

    /// Returns the residual Rᴴ R − Aᴴ A.
    fn residual<T: Scalar>(_: &Case, before: &Operands<T>, after: &Operands<T>) -> f64 {
        let ([a, _], [factor, _]) = (before.views(), after.views());
        let n = a.ncols();
        let r = factor.submatrix(0..n, 0..n);
        let gram = [transformed(Op::ConjTrans, a), general(a)];
        let upper = |op| triangle(Uplo::Upper, op, Diag::NonUnit, r);
        Sum::new(n).plus(T::ONE, gram).minus([upper(Op::ConjTrans), upper(Op::None)]).columnwise()
    }
}
