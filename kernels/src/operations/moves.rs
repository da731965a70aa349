//! What moves and scales elements.

use super::{
    Call, Mat, Operation, Resolve, Shape, check::Placed, check::Uses, cost, heap::Views, is_square, reals, updated,
};
use crate::{
    Direction, MatMut, NotPositiveDefinite, Op, Scalar, Symmetry, Uplo,
    cpu::{self, Operand},
};
use superscalar_runtime::{BlasLevel, Cost, DeviceError, Mode};

/// B := op(A).
#[derive(Clone, Copy, Debug)]
pub struct Lacpy<R, W = R> {
    /// What is done to A.
    pub op: Op,
    /// A.
    pub a: R,
    /// B.
    pub b: W,
}

impl<P: Shape> Operation for Lacpy<P> {
    type Element = P::Element;
    type Operand = P;
    type On<R, W> = Lacpy<R, W>;

    fn name(&self) -> &'static str {
        "lacpy"
    }

    fn on<X: Resolve<P>>(&self, operands: &mut X) -> Result<Lacpy<X::Read, X::Write>, X::Error> {
        let b = operands.write("B", Mode::Write, &self.b)?;
        Ok(Lacpy { op: self.op, a: operands.read("A", &self.a)?, b })
    }

    fn agrees(&self) -> bool {
        self.op.shape(self.a.shape()) == self.b.shape()
    }

    fn cost(&self) -> Cost {
        let (m, n) = reals(self.b.shape());
        // No level: it goes where its result was dealt to, as updates do.
        Cost { level: None, ..cost::<P::Element>(0.0, 0.0, 2.0 * m * n) }
    }

    fn run(on: Lacpy<Operand<'_, P::Element>, MatMut<'_, P::Element>>) -> Result<(), NotPositiveDefinite> {
        let (a, mut b) = (on.a.view, on.b);
        assert_eq!(on.op.shape(a.shape()), b.shape(), "lacpy: B and op(A)");
        match on.op {
            Op::None => b.copy_from(a),
            Op::Trans => b.copy_from(a.transpose()),
            Op::ConjTrans => (0..b.ncols()).for_each(|j| (0..b.nrows()).for_each(|i| b[(i, j)] = a.at(j, i).conj())),
        }
        Ok(())
    }

    fn call(on: Lacpy<Mat<P::Element>>) -> Call<P::Element> {
        Call::Lacpy(on)
    }
}

/// A := beta A, or one triangle of it; beta = 0 does not read A.
#[derive(Clone, Copy, Debug)]
pub struct Scale<T, W> {
    /// The only part of A that is touched, if not all. In a Hermitian matrix's the diagonal is made real, and of beta the real part is taken.
    pub part: Option<(Symmetry, Uplo)>,
    /// The factor.
    pub beta: T,
    /// A.
    pub a: W,
}

impl<T: Scalar, P: Shape> Operation for Scale<T, P> {
    type Element = T;
    type Operand = P;
    type On<R, W> = Scale<T, W>;

    fn name(&self) -> &'static str {
        "scale"
    }

    fn on<X: Resolve<P>>(&self, operands: &mut X) -> Result<Scale<T, X::Write>, X::Error> {
        let &Self { part, beta, ref a } = self;
        Ok(Scale { part, beta, a: operands.write("A", updated(part.is_some() || beta != T::ZERO), a)? })
    }

    fn agrees(&self) -> bool {
        self.part.is_none() || is_square(self.a.shape())
    }

    fn cost(&self) -> Cost {
        let (m, n) = reals(self.a.shape());
        Cost { level: Some(BlasLevel::One), ..cost::<T>(m * n, 0.0, 2.0 * m * n) }
    }

    fn run(on: Scale<T, MatMut<'_, T>>) -> Result<(), NotPositiveDefinite> {
        let Scale { part, beta, a } = on;
        // A product of no depth scales, by the rules of its routine.
        let (no_columns, a) = a.split_at_col(0);
        let (no_rows, a) = a.split_at_row(0);
        let (nothing, other) = (no_columns.into_ref(), no_rows.into_ref());
        match part {
            None => cpu::gemm(T::ZERO, Op::None, nothing, Op::None, other, beta, a),
            Some((Symmetry::Symmetric, uplo)) => cpu::syrk(uplo, Op::None, T::ZERO, nothing, beta, a),
            Some((Symmetry::Hermitian, uplo)) => cpu::herk(uplo, Op::None, T::ZERO.re(), nothing, beta.re(), a),
        }
        Ok(())
    }

    fn call(on: Scale<T, Mat<T>>) -> Call<T> {
        Call::Scale(on)
    }
}

/// Interchanges rows of A: row `first + i` with row `ipiv[i]`, counted from one, forward or backward.
#[derive(Clone, Debug)]
pub struct Laswp<T> {
    /// A.
    pub a: Mat<T>,
    /// Rows above, which the interchanges do not begin with.
    pub first: usize,
    /// The interchanges of successive blocks of rows.
    pub ipiv: Vec<Mat<i32>>,
    /// The order.
    pub direction: Direction,
}

impl<T: Scalar> Placed<T> for Laswp<T> {
    fn name(&self) -> &'static str {
        "laswp"
    }

    fn uses(&self) -> Uses<'_> {
        Uses::new().and("A", Mode::ReadWrite, self.a).and_interchanges(&self.ipiv)
    }

    fn agrees(&self) -> bool {
        let Self { a, first, ipiv, .. } = self;
        let rows = ipiv.iter().try_fold(*first, |rows, block| rows.checked_add(block.m));
        ipiv.iter().all(|block| block.n == 1) && rows.is_some_and(|rows| rows <= a.m)
    }

    fn run(&self, at: &mut Views<'_>) -> Result<(), DeviceError> {
        let Self { a, first, ipiv, direction } = self;
        let rows = ipiv.iter().try_fold(Vec::new(), |mut rows, block| {
            rows.extend(at.view(*block)?.to_vec());
            Ok::<_, DeviceError>(rows)
        })?;
        if let Some(row) = rows.iter().find(|&&row| !usize::try_from(row).is_ok_and(|row| (1..=a.m).contains(&row))) {
            return Err(DeviceError::new(format!("laswp: an interchange with row {row} of {}", a.m)));
        }
        cpu::laswp(at.view_mut(*a)?, *first, &rows, *direction);
        Ok(())
    }
}
