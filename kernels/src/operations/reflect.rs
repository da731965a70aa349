//! Block reflectors.

use super::{Call, Mat, Operation, Resolve, Shape, cost_of, reals, symmetric};
use crate::{
    MatMut, NotPositiveDefinite, Op, Side, Symmetry,
    cpu::{self, BlockReflector, Operand},
};
use superscalar_runtime::{Cost, Mode};

/// C := op(Q) C or C op(Q), where Q = I − V T Vᴴ; V is unit lower trapezoidal, T upper triangular.
#[derive(Clone, Copy, Debug)]
pub struct Larfb<R, W = R> {
    /// The side of Q.
    pub side: Side,
    /// What is done to Q.
    pub op: Op,
    /// V.
    pub v: R,
    /// T.
    pub t: R,
    /// C.
    pub c: W,
}

impl<P: Shape> Operation for Larfb<P> {
    type Element = P::Element;
    type Operand = P;
    type On<R, W> = Larfb<R, W>;

    fn name(&self) -> &'static str {
        "larfb"
    }

    fn on<X: Resolve<P>>(&self, operands: &mut X) -> Result<Larfb<X::Read, X::Write>, X::Error> {
        let &Self { side, op, ref v, ref t, ref c } = self;
        let c = operands.write("C", Mode::ReadWrite, c)?;
        Ok(Larfb { side, op, v: operands.read("V", v)?, t: operands.read("T", t)?, c })
    }

    fn agrees(&self) -> bool {
        let ((m, k), (rows, cols)) = (self.v.shape(), self.t.shape());
        let fits = m >= k && self.side.order(self.c.shape()) == m && cols == k;
        fits && (k == 0 || (1..=k).contains(&rows))
    }

    fn misused(&self) -> Option<&'static str> {
        symmetric::misused::<P::Element>(Symmetry::Hermitian, self.op)
    }

    fn cost(&self) -> Cost {
        let ((m, n), (order, k)) = (reals(self.c.shape()), reals(self.v.shape()));
        cost_of::<P::Element>(2.0 * m * n * k, order * k + 2.0 * m * n)
    }

    fn run(on: Larfb<Operand<'_, P::Element>, MatMut<'_, P::Element>>) -> Result<(), NotPositiveDefinite> {
        cpu::larfb(on.side, on.op, BlockReflector::new(on.v.view, on.t.view), on.c);
        Ok(())
    }

    fn call(on: Larfb<Mat<P::Element>>) -> Call<P::Element> {
        Call::Larfb(on)
    }
}
