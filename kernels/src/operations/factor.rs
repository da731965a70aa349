//! Factorizations of tiles and of panels.

use super::{
    Call, Mat, Operation, Resolve, Shape, Trapezoid, Triangular, check::Placed, check::Uses, cost_of, heap::Views,
    is_trapezoid, reals,
};
use crate::{
    MatMut, NotPositiveDefinite, Scalar, Uplo,
    cpu::{self, Operand},
};
use superscalar_runtime::{Cost, DeviceError, Mode};

/// A = L Lᴴ or Uᴴ U in one triangle. Fails with [`NotPositiveDefinite`].
///
/// A may be a trapezoid, the panel of a larger factorization: of a lower one, with more rows than columns, the rows B below the triangle
/// become B L⁻ᴴ, and of an upper one, with more columns than rows, the columns B beside it U⁻ᴴ B.
#[derive(Clone, Copy, Debug)]
pub struct Potrf<W> {
    /// The triangle, or the trapezoid.
    pub uplo: Uplo,
    /// Rows of the matrix above A, which the minor that fails is counted with.
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

/// What is left to do of a panel on the host when its triangle has been factored.
pub type Rest<'a, T> = Triangular<T, Operand<'a, T>, MatMut<'a, T>>;

impl<'a, T: Scalar> Potrf<MatMut<'a, T>> {
    /// Factors the triangle on the host. What is left to do then, of a trapezoid, is a solve.
    ///
    /// # Errors
    /// If the triangle is not positive definite.
    ///
    /// # Panics
    /// If A is neither square nor a trapezoid of this kind.
    pub fn factor(self) -> Result<Option<Rest<'a, T>>, NotPositiveDefinite> {
        let Self { uplo, first, a } = self;
        assert!(is_trapezoid(uplo, a.shape()), "potrf: the {uplo} trapezoid of {:?}", a.shape());
        let (mut triangle, rest) = a.cut(uplo);
        let outcome = cpu::potrf(uplo, triangle.rb_mut());
        outcome.map_err(|NotPositiveDefinite { minor }| NotPositiveDefinite { minor: first + minor })?;
        Ok((!rest.is_empty()).then(|| Triangular::of_panel(uplo, triangle.into_ref().into(), rest)))
    }
}

impl<T: Scalar> Potrf<Mat<T>> {
    /// The factorization of a trapezoid as that of its triangle, and the solve that follows.
    pub(crate) fn triangle_and_rest(self) -> (Self, Option<Triangular<T, Mat<T>>>) {
        let Self { uplo, first, a } = self;
        let (triangle, rest) = a.cut(uplo);
        (Self { uplo, first, a: triangle }, (a.m != a.n).then(|| Triangular::of_panel(uplo, triangle, rest)))
    }
}

/// P L U = A for a panel. The interchanges are those of min(m, n) rows, counted from one; a pivot that is exactly zero is left where it
/// is, and is no failure.
#[derive(Clone, Copy, Debug)]
pub struct Getrf<T> {
    /// A.
    pub a: Mat<T>,
    /// Rows of the matrix above A, which the interchanges are counted with.
    pub first: usize,
    /// The interchanges, a column.
    pub ipiv: Mat<i32>,
}

impl<T: Scalar> Placed<T> for Getrf<T> {
    fn name(&self) -> &'static str {
        "getrf"
    }

    fn uses(&self) -> Uses<'_> {
        Uses::new().and("A", Mode::ReadWrite, self.a).and("ipiv", Mode::Write, self.ipiv)
    }

    fn agrees(&self) -> bool {
        self.ipiv.shape() == (self.a.m.min(self.a.n), 1)
    }

    fn run(&self, at: &mut Views<'_>) -> Result<(), DeviceError> {
        let mut rows = vec![0; self.ipiv.m];
        // Who factors the whole matrix looks at the pivots.
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
    /// The reflectors' scalar factors, a column.
    pub tau: Mat<T>,
}

impl<T: Scalar> Placed<T> for Geqrf<T> {
    fn name(&self) -> &'static str {
        "geqrf"
    }

    fn uses(&self) -> Uses<'_> {
        Uses::new().and("A", Mode::ReadWrite, self.a).and("T", Mode::Write, self.t).and("tau", Mode::Write, self.tau)
    }

    fn agrees(&self) -> bool {
        let k = self.a.m.min(self.a.n);
        self.t.shape() == (k, k) && self.tau.shape() == (k, 1)
    }

    fn run(&self, at: &mut Views<'_>) -> Result<(), DeviceError> {
        let mut factors = vec![T::ZERO; self.tau.m];
        cpu::geqrf(at.view_mut(self.a)?, &mut factors, at.view_mut(self.t)?);
        let mut tau = at.view_mut(self.tau)?;
        factors.iter().enumerate().for_each(|(i, &factor)| tau[(i, 0)] = factor);
        Ok(())
    }
}
