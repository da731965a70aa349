//! Factorizations of tiles and of panels.

use super::{
    Call, Mat, Operation, Resolve, Shape, Trapezoid, Triangular, check::HeapOperation, check::MatrixList, cost_of,
    heap::HeapViews, is_trapezoid, reals,
};
use crate::{
    MatMut, NotPositiveDefinite, Scalar, Uplo,
    cpu::{self, Operand},
};
use superscalar_runtime::{Cost, DeviceError, Mode};

/// A = L Lᴴ or Uᴴ U in one triangle. Fails with [`NotPositiveDefinite`].
///
/// A may be a trapezoid, the panel of a larger factorization. A lower one has more rows than columns; the rows B below
/// the triangle become B L⁻ᴴ. An upper one has more columns than rows; the columns B beside the triangle become U⁻ᴴ B.
#[derive(Clone, Copy, Debug)]
pub struct Potrf<W> {
    /// The triangle, or the kind of trapezoid.
    pub uplo: Uplo,
    /// The number of rows of the matrix above A, which is added to the order of the failing minor.
    pub first: usize,
    /// A.
    pub a: W,
}

impl<P: Shape> Operation for Potrf<P> {
    type Element = P::Element;
    type Operand = P;
    type On<R, W> = Potrf<W>;

    fn name(&self) -> &'static str {
        "potrf"
    }

    fn on<X: Resolve<P>>(&self, operands: &mut X) -> Result<Potrf<X::Write>, X::Error> {
        let &Self { uplo, first, ref a } = self;
        Ok(Potrf { uplo, first, a: operands.write("A", Mode::ReadWrite, a)? })
    }

    fn agrees(&self) -> bool {
        is_trapezoid(self.uplo, self.a.shape())
    }

    fn cost(&self) -> Cost {
        let (m, n) = self.a.shape();
        let (n, beside) = reals((m.min(n), m.abs_diff(n)));
        cost_of::<P::Element>(n * n * (n / 6.0 + beside / 2.0), n * n + 2.0 * beside * n)
    }

    fn run(on: Potrf<MatMut<'_, P::Element>>) -> Result<(), NotPositiveDefinite> {
        on.factor().map(|rest| rest.map_or((), Triangular::apply))
    }

    fn call(on: Potrf<Mat<P::Element>>) -> Call<P::Element> {
        Call::Potrf(on)
    }
}

/// The solve that remains for the host after the triangle of a panel has been factored.
pub type PanelSolve<'a, T> = Triangular<T, Operand<'a, T>, MatMut<'a, T>>;

impl<'a, T: Scalar> Potrf<MatMut<'a, T>> {
    /// Factors the triangle on the host. Returns the remaining solve if A is a trapezoid.
    ///
    /// # Errors
    /// If the triangle is not positive definite.
    ///
    /// # Panics
    /// If A is neither square nor a trapezoid of the kind `uplo`.
    pub fn factor(self) -> Result<Option<PanelSolve<'a, T>>, NotPositiveDefinite> {
        let Self { uplo, first, a } = self;
        assert!(
            is_trapezoid(uplo, a.shape()),
            "potrf: shape {:?} with uplo {uplo}: expected m >= n for a lower trapezoid, n >= m for an upper one",
            a.shape()
        );
        let (mut triangle, rest) = a.cut(uplo);
        let outcome = cpu::potrf(uplo, triangle.rb_mut());
        outcome.map_err(|NotPositiveDefinite { minor }| NotPositiveDefinite { minor: first + minor })?;
        Ok((!rest.is_empty()).then(|| Triangular::of_panel(uplo, triangle.into_ref().into(), rest)))
    }
}

impl<T: Scalar> Potrf<Mat<T>> {
    /// Splits the factorization of a trapezoid into that of its triangle, and the solve that follows.
    pub(crate) fn triangle_and_rest(self) -> (Self, Option<Triangular<T, Mat<T>>>) {
        let Self { uplo, first, a } = self;
        let (triangle, rest) = a.cut(uplo);
        (Self { uplo, first, a: triangle }, (a.m != a.n).then(|| Triangular::of_panel(uplo, triangle, rest)))
    }
}

/// P L U = A for a panel. There are min(m, n) interchanges, with rows counted from one. A pivot that is exactly zero is
/// stored and is not reported as a failure.
#[derive(Clone, Copy, Debug)]
pub struct Getrf<T> {
    /// A.
    pub a: Mat<T>,
    /// The number of rows of the matrix above A, which is added to the interchanges.
    pub first: usize,
    /// The interchanges, as a column.
    pub ipiv: Mat<i32>,
}

impl<T: Scalar> HeapOperation<T> for Getrf<T> {
    fn name(&self) -> &'static str {
        "getrf"
    }

    fn matrices(&self) -> MatrixList<'_> {
        MatrixList::new().with("A", Mode::ReadWrite, self.a).with("ipiv", Mode::Write, self.ipiv)
    }

    fn agrees(&self) -> bool {
        self.ipiv.shape() == (self.a.m.min(self.a.n), 1)
    }

    fn run(&self, at: &mut HeapViews<'_>) -> Result<(), DeviceError> {
        let mut rows = vec![0; self.ipiv.m];
        // The caller that factors the whole matrix checks the pivots.
        let _zero_pivot = cpu::getrf(at.view_mut(self.a)?, &mut rows);
        let mut ipiv = at.view_mut(self.ipiv)?;
        rows.iter().enumerate().for_each(|(i, row)| ipiv[(i, 0)] = self.first as i32 + row);
        Ok(())
    }
}

/// Q R = A for a panel, with the triangular factor of its reflectors.
#[derive(Clone, Copy, Debug)]
pub struct Geqrf<T> {
    /// A.
    pub a: Mat<T>,
    /// T, of order min(m, n), with zeros below its diagonal.
    pub t: Mat<T>,
    /// The reflectors' scalar factors, as a column.
    pub tau: Mat<T>,
}

impl<T: Scalar> HeapOperation<T> for Geqrf<T> {
    fn name(&self) -> &'static str {
        "geqrf"
    }

    fn matrices(&self) -> MatrixList<'_> {
        let panel = MatrixList::new().with("A", Mode::ReadWrite, self.a);
        panel.with("T", Mode::Write, self.t).with("tau", Mode::Write, self.tau)
    }

    fn agrees(&self) -> bool {
        let k = self.a.m.min(self.a.n);
        self.t.shape() == (k, k) && self.tau.shape() == (k, 1)
    }

    fn run(&self, at: &mut HeapViews<'_>) -> Result<(), DeviceError> {
        let mut factors = vec![T::ZERO; self.tau.m];
        cpu::geqrf(at.view_mut(self.a)?, &mut factors, at.view_mut(self.t)?);
        let mut tau = at.view_mut(self.tau)?;
        factors.iter().enumerate().for_each(|(i, &factor)| tau[(i, 0)] = factor);
        Ok(())
    }
}
