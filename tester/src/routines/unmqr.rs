//! unmqr and unmlq: compute Q C, Qᴴ C, C Q or C Qᴴ for a Q that is stored as reflectors; Q has at least as many rows as
//! reflectors.

use super::getri::WORK_COLUMNS;
use super::symm::order;
use super::{
    BatchOperation, Case, FortranCall, Keeps, Maker, Operands, Operations, Ours, Parameter, Routine, Scalar, letter_of,
    slice,
};
use superscalar_kernels::{Op, Side};
use superscalar_oracle::{Factor, Sum, transformed};

/// Both routines; they differ in whether the reflectors are stored in columns or in rows.
pub struct Apply<const BY_ROWS: bool>;

pub type Unmqr = Apply<false>;
pub type Unmlq = Apply<true>;

/// Returns the number of reflectors.
fn count(case: &Case) -> usize {
    case.dim.k.min(order(case))
}

impl<const BY_ROWS: bool> Routine for Apply<BY_ROWS> {
    const NAME: &'static str = if BY_ROWS { "unmlq" } else { "unmqr" };
    const USES: &'static [Parameter] = &[Parameter::M, Parameter::N, Parameter::K, Parameter::Side, Parameter::TransA];
    const HAS_BATCH_FORM: bool = !BY_ROWS;

    fn admits<T: Scalar>(case: &Case) -> bool {
        !T::COMPLEX || case.trans_a != Op::Trans
    }

    fn operations(case: &Case) -> Operations {
        let (m, n, k) = (case.dim.m as f64, case.dim.n as f64, count(case) as f64);
        match case.side {
            Side::Left => Operations {
                multiplications: 2.0 * n * m * k - n * k * k + 2.0 * n * k,
                additions: 2.0 * n * m * k - n * k * k + n * k,
            },
            Side::Right => Operations {
                multiplications: 2.0 * n * m * k - m * k * k + m * k + n * k - k * k / 2.0 + k / 2.0,
                additions: 2.0 * n * m * k - m * k * k + m * k,
            },
        }
    }

    fn operands<T: Scalar>(case: &Case, make: &mut Maker) -> Option<Operands<T>> {
        let (order, k) = (order(case), count(case));
        let shape = if BY_ROWS { (k, order) } else { (order, k) };
        let v = make.matrix(shape, Keeps::Everything, |random, v| {
            random.reflectors(if BY_ROWS { v.transpose() } else { v });
        })?;
        let columns = if BY_ROWS { v.view().transpose() } else { v.view() };
        let tau = make.matrix((k, 1), Keeps::Everything, |random, tau| random.reflector_scalars(columns, tau))?;
        let c = make.matrix((case.dim.m, case.dim.n), Keeps::Padding, |random, c| random.general(c))?;
        Some(Operands::new([v, tau, c]))
    }

    fn ours<T: Scalar>(ours: &Ours<'_>, case: &Case, operands: &mut Operands<T>) -> Result<(), superscalar_dla::Error> {
        let [v, mut tau, c] = operands.views_mut();
        let apply = if BY_ROWS { superscalar_dla::unmlq } else { superscalar_dla::unmqr };
        apply(ours.runtime, case.side, case.trans_a, v.into_ref(), slice(&mut tau), c, &ours.options)
    }

    fn peer<'a, T: Scalar>(case: &Case, operands: &'a mut Operands<T>) -> FortranCall<'a, T> {
        let [v, tau, c] = operands.views_mut();
        let name = match (BY_ROWS, T::COMPLEX) {
            (false, false) => "ormqr",
            (false, true) => "unmqr",
            (true, false) => "ormlq",
            (true, true) => "unmlq",
        };
        let call = FortranCall::new(name).letter(case.side.letter()).letter(letter_of::<T>(case.trans_a));
        let call = call.int(case.dim.m).int(case.dim.n).int(count(case)).input(v.into_ref()).column(tau).matrix(c);
        call.work_with_len(WORK_COLUMNS * case.dim.m.max(case.dim.n)).info()
    }

    fn batched<T: Scalar>(case: &Case) -> Option<BatchOperation<T>> {
        (!BY_ROWS && case.side == Side::Left).then_some(BatchOperation::Unmqr { op: case.trans_a })
    }

    /// Returns the residual op(Q) C − C′.
    fn residual<T: Scalar>(case: &Case, before: &Operands<T>, after: &Operands<T>) -> f64 {
        let ([v, tau, c], [_, _, result]) = (before.views(), after.views());
        // Stored by rows, Q is the conjugate transpose of the reflectors' product.
        let adjoint = (case.trans_a == Op::None) == BY_ROWS;
        // From the right, use the adjoint equation: roundings depend on the length of the reflected vectors, which are
        // rows.
        let (op, adjoint) = if case.side == Side::Left { (Op::None, adjoint) } else { (Op::ConjTrans, !adjoint) };
        let product = [Factor::Reflectors { v, tau, by_rows: BY_ROWS, adjoint }, transformed(op, c)];
        Sum::new(order(case)).plus(T::ONE, product).minus([transformed(op, result)]).columnwise()
    }
}
