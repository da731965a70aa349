//! Operations that copy, add, scale and interchange elements.

use super::{
    Call, Mat, Operation, Resolve, Shape, check::HeapOperation, check::MatrixList, cost, heap::HeapViews, is_square,
    reals, updated,
};
use crate::{
    Direction, MatMut, NotPositiveDefinite, Op, Scalar, Symmetry, Uplo,
    cpu::{self, Operand},
};
use superscalar_runtime::{BlasLevel, Cost, DeviceError, Mode};

/// B := op(A).
#[derive(Clone, Copy, Debug)]
pub struct Lacpy<R, W = R> {
    /// The operation applied to A.
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
        // Without a level the task runs where its result has its home, as updates do.
        Cost { level: None, ..cost::<P::Element>(0.0, 0.0, 2.0 * m * n) }
    }

    fn run(on: Lacpy<Operand<'_, P::Element>, MatMut<'_, P::Element>>) -> Result<(), NotPositiveDefinite> {
        let (a, mut b) = (on.a.view, on.b);
        assert_eq!(on.op.shape(a.shape()), b.shape(), "lacpy: the shapes of op(A) and B differ");
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

/// B := alpha op(A) + beta B. A is not read if alpha = 0, and B is not read if beta = 0.
#[derive(Clone, Copy, Debug)]
pub struct Geadd<T, R, W = R> {
    /// The operation applied to A.
    pub op: Op,
    /// The factor of op(A).
    pub alpha: T,
    /// A.
    pub a: R,
    /// The factor of B.
    pub beta: T,
    /// B.
    pub b: W,
}

impl<T: Scalar, P: Shape<Element = T>> Operation for Geadd<T, P> {
    resolved!(Geadd: op alpha beta, a "A", b "B" updated(beta != T::ZERO));

    fn name(&self) -> &'static str {
        "geadd"
    }

    fn agrees(&self) -> bool {
        self.op.shape(self.a.shape()) == self.b.shape()
    }

    fn cost(&self) -> Cost {
        let (m, n) = reals(self.b.shape());
        let [adds, keeps] = [self.alpha, self.beta].map(|factor| f64::from(factor != T::ZERO));
        let cost = cost::<T>((adds + keeps) * m * n, adds * keeps * m * n, (1.0 + adds + keeps) * m * n);
        // Like copies, sums run where their result has its home.
        Cost { level: None, ..cost }
    }

    fn run(on: Geadd<T, Operand<'_, T>, MatMut<'_, T>>) -> Result<(), NotPositiveDefinite> {
        cpu::geadd(on.op, on.alpha, on.a.view, on.beta, on.b);
        Ok(())
    }
}

/// A := beta A, or one triangle of it. A is not read if beta = 0.
#[derive(Clone, Copy, Debug)]
pub struct Scale<T, W> {
    /// The triangle of A that is scaled; `None` for the whole matrix. For a Hermitian matrix the diagonal is made real
    /// and only the real part of beta is used.
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
        // A product with an inner dimension of zero scales C by the rules of its routine.
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

/// Interchanges rows of A: row `first + i` with row `ipiv[i]`, counted from one, in the given direction.
#[derive(Clone, Debug)]
pub struct Laswp<T> {
    /// A.
    pub a: Mat<T>,
    /// The number of leading rows of A to skip: the first interchange is that of row `first`.
    pub first: usize,
    /// The interchanges of successive blocks of rows.
    pub ipiv: Vec<Mat<i32>>,
    /// The order in which the interchanges are made.
    pub direction: Direction,
}

impl<T: Scalar> HeapOperation<T> for Laswp<T> {
    fn name(&self) -> &'static str {
        "laswp"
    }

    fn matrices(&self) -> MatrixList<'_> {
        MatrixList::new().with("A", Mode::ReadWrite, self.a).with_interchanges(&self.ipiv)
    }

    fn agrees(&self) -> bool {
        let Self { a, first, ipiv, .. } = self;
        let rows = ipiv.iter().try_fold(*first, |rows, block| rows.checked_add(block.m));
        ipiv.iter().all(|block| block.n == 1) && rows.is_some_and(|rows| rows <= a.m)
    }

    fn run(&self, at: &mut HeapViews<'_>) -> Result<(), DeviceError> {
        let Self { a, first, ipiv, direction } = self;
        let rows = ipiv.iter().try_fold(Vec::new(), |mut rows, block| {
            rows.extend(at.view(*block)?.to_vec());
            Ok::<_, DeviceError>(rows)
        })?;
        if let Some(row) = rows.iter().find(|&&row| !usize::try_from(row).is_ok_and(|row| (1..=a.m).contains(&row))) {
            return Err(DeviceError::new(format!("laswp: interchange with row {row}, but A has {} rows", a.m)));
        }
        cpu::laswp(at.view_mut(*a)?, *first, &rows, *direction);
        Ok(())
    }
}
