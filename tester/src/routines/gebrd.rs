//! gebrd: Qᴴ A P = B, a bidiagonal matrix. The library computes it for batches; one problem is a batch of one.

use super::geqrf::orthogonality;
use super::getri::WORK_COLUMNS;
use super::{
    BatchOperation, Case, Defect, FortranCall, Keeps, Maker, Operand, Operands, Operations, Ours, Parameter, Routine,
    Scalar, defect,
};
use superscalar_dla::{BatchMut, Error, batch};
use superscalar_kernels::{MatMut, MatRef, Op};
use superscalar_oracle::{Factor, Sum, largest, transformed};

pub struct Gebrd;

/// Returns the numbers of reflectors and of elements beside the diagonal.
fn counts(case: &Case) -> (usize, usize) {
    let k = case.dim.m.min(case.dim.n);
    (k, k.saturating_sub(1))
}

impl Routine for Gebrd {
    const NAME: &'static str = "gebrd";
    const USES: &'static [Parameter] = &[Parameter::M, Parameter::N];
    const HAS_BATCH_FORM: bool = true;

    fn operations(case: &Case) -> Operations {
        let (long, short) = (case.dim.m.max(case.dim.n) as f64, case.dim.m.min(case.dim.n) as f64);
        let cubic = 2.0 * short * short * (long - short / 3.0);
        Operations {
            multiplications: cubic + 2.0 * short * short + 20.0 / 3.0 * short,
            additions: cubic + short * (short - long) + 5.0 / 3.0 * short,
        }
    }

    fn operands<T: Scalar>(case: &Case, make: &mut Maker) -> Option<Operands<T>> {
        let (k, beside) = counts(case);
        let a = make.matrix((case.dim.m, case.dim.n), Keeps::Padding, |random, a| random.general(a))?;
        let (d, e) = (make.result((k, 1))?, make.result((beside, 1))?);
        Some(Operands::new([a, d, e, make.result((k, 1))?, make.result((k, 1))?]))
    }

    fn ours<T: Scalar>(ours: &Ours<'_>, case: &Case, operands: &mut Operands<T>) -> Result<(), Error> {
        let ([a, d, e, tauq, taup], (k, beside)) = (operands.views_mut(), counts(case));
        let mut numbers = vec![T::ZERO.re(); k + beside];
        let (diagonal, others) = numbers.split_at_mut(k);
        let [diagonal, others] = [diagonal, others].map(|x| BatchMut::gathered(vec![column(x)]));
        let [a, tauq, taup] = [a, tauq, taup].map(|a| BatchMut::gathered(vec![a]));
        batch::gebrd(ours.runtime, a, diagonal, others, tauq, taup, &ours.options)?;
        for (mut to, from) in [(d, &numbers[..k]), (e, &numbers[k..])] {
            from.iter().enumerate().for_each(|(i, &number)| to[(i, 0)] = T::from_real(number));
        }
        Ok(())
    }

    fn peer<'a, T: Scalar>(case: &Case, operands: &'a mut Operands<T>) -> FortranCall<'a, T> {
        if T::COMPLEX {
            return FortranCall::absent("the tester calls a peer's gebrd for real matrices only");
        }
        let [a, d, e, tauq, taup] = operands.views_mut();
        let (m, n) = (case.dim.m, case.dim.n);
        let call = FortranCall::new("gebrd").int(m).int(n).matrix(a).column(d).column(e).column(tauq).column(taup);
        call.work_with_len(WORK_COLUMNS * (m + n)).info()
    }

    fn batched<T: Scalar>(_: &Case) -> Option<BatchOperation<T>> {
        Some(BatchOperation::Gebrd)
    }

    /// Returns the residuals Qᴴ A P − B, or Pᴴ Aᴴ Q − Bᴴ of a wide matrix, and Qᴴ Q − I and Pᴴ P − I. Roundings depend
    /// on the length of the vectors that the first reflectors act on.
    fn residual<T: Scalar>(case: &Case, before: &Operands<T>, after: &Operands<T>) -> f64 {
        let ([a], [factors, d, e, tauq, taup]) = ([before.matrices[0].view()], after.views());
        let ((m, n), (k, beside)) = (a.shape(), counts(case));
        let is_tall = m >= n;
        let Some(form) = bidiagonal(factors, [d, e], is_tall) else { return f64::INFINITY };
        let (columns, rows) = (factors.submatrix(0..m, 1.min(n)..n), factors.submatrix(1.min(m)..m, 0..n));
        // The reflectors from the left, and the fewer ones from the right, which leave the first column as it is.
        let (left, right, op) = if is_tall {
            (Reflectors::new(factors, tauq, k, false), Reflectors::new(columns, taup, beside, true), Op::None)
        } else {
            (Reflectors::new(factors, taup, k, true), Reflectors::new(rows, tauq, beside, false), Op::ConjTrans)
        };
        let unused = if is_tall { taup } else { tauq };
        if (beside..k).any(|i| unused.at(i, 0) != T::ZERO) {
            return f64::INFINITY;
        }
        let error = |is_first: bool| {
            let product = [left.factor(true), transformed(op, part(a, is_tall, is_first))];
            let product = product.into_iter().chain((!is_first).then(|| right.factor(false)));
            let form = transformed(op, part(form.view(), is_tall, is_first));
            Sum::new(m.max(n)).plus(T::ONE, product).minus([form]).columnwise()
        };
        largest([error(true), error(false), left.orthogonality(m.max(n)), right.orthogonality(k.saturating_sub(1))])
    }

    fn defects<T: Scalar>(case: &Case, ordinary: &Operands<T>) -> Vec<Defect<T>> {
        let place = defect::at(0, (case.dim.m / 2, case.dim.n / 2));
        defect::with("NaN in the middle", case, ordinary, place, T::from_f64(f64::NAN)).into_iter().collect()
    }
}

/// Returns the first column of a tall matrix or the first row of a wide one, or all others.
fn part<T>(a: MatRef<'_, T>, is_tall: bool, is_first: bool) -> MatRef<'_, T> {
    let (m, n) = a.shape();
    let range = |len: usize| if is_first { 0..len.min(1) } else { len.min(1)..len };
    if is_tall { a.submatrix(0..m, range(n)) } else { a.submatrix(range(m), 0..n) }
}

/// The reflectors of Q or P.
struct Reflectors<'a, T> {
    v: MatRef<'a, T>,
    tau: MatRef<'a, T>,
    by_rows: bool,
}

impl<'a, T: Scalar> Reflectors<'a, T> {
    /// Returns the first `count` reflectors that are stored in a matrix.
    fn new(a: MatRef<'a, T>, tau: MatRef<'a, T>, count: usize, by_rows: bool) -> Self {
        let (m, n) = a.shape();
        let v = if by_rows { a.submatrix(0..count, 0..n) } else { a.submatrix(0..m, 0..count) };
        Self { v, tau: tau.submatrix(0..count, 0..1), by_rows }
    }

    fn factor(&self, adjoint: bool) -> Factor<'a, T> {
        Factor::Reflectors { v: self.v, tau: self.tau, by_rows: self.by_rows, adjoint }
    }

    fn orthogonality(&self, order: usize) -> f64 {
        orthogonality(order, self.by_rows, self.v, self.tau)
    }
}

/// Returns B, which is stored in two places. `None` if they differ, an element is not real, or there is no memory.
fn bidiagonal<T: Scalar>(factors: MatRef<'_, T>, stored: [MatRef<'_, T>; 2], is_upper: bool) -> Option<Operand<T>> {
    let (i_step, j_step) = if is_upper { (0, 1) } else { (1, 0) };
    let mut form = Operand::new(factors.shape(), 0, Keeps::Everything)?.filled(|mut b| b.fill(T::ZERO));
    for (column, (i_first, j_first)) in stored.into_iter().zip([(0, 0), (i_step, j_step)]) {
        for at in 0..column.nrows() {
            let (value, place) = (column.at(at, 0), (at + i_first, at + j_first));
            // A comparison with NaN is false.
            let is_consistent = factors.at(place.0, place.1) == value && value == T::from_real(value.re());
            if !is_consistent {
                return None;
            }
            form.view_mut()[place] = value;
        }
    }
    Some(form)
}

fn column<E>(elements: &mut [E]) -> MatMut<'_, E> {
    let len = elements.len();
    match MatMut::from_col_major(elements, len, 1, len.max(1)) {
        Ok(view) => view,
        Err(error) => unreachable!("a column of the slice's length: {error}"),
    }
}
