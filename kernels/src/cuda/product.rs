//! gemm, symm, hemm, syrk, herk, syr2k, her2k: what cuBLAS has. And gemmt, which is made of its products.
//!
//! What is no product, because alpha is zero or the factors have no depth, is scaled by a kernel of our own: so alpha = 0 reads no factor,
//! whatever cuBLAS does.

use super::{
    blas::Batch,
    elements::{fold, scale},
    stream::Stream,
};
use crate::{Op, Scalar, Side, Uplo, device::Mat};
use superscalar_runtime::DeviceError;

/// Order of the blocks on the diagonal of gemmt, which are computed whole.
const DIAGONAL: usize = 256;

/// C := alpha op(A) op(B) + beta C.
#[derive(Clone, Copy, Debug)]
pub(super) struct Product<T: Scalar> {
    pub ops: (Op, Op),
    pub alpha: T,
    pub a: Mat<T>,
    pub b: Mat<T>,
    pub beta: T,
    pub c: Mat<T>,
}

impl<T: Scalar> Product<T> {
    /// Numbers of rows, of columns, and of products in a sum.
    fn sizes(&self) -> (usize, usize, usize) {
        (self.c.m, self.c.n, self.ops.0.shape(self.a.shape()).1)
    }

    /// Puts it into the stream.
    pub fn run(self, stream: &mut Stream<'_, T>) -> Result<(), DeviceError> {
        let Self { ops, alpha, a, b, beta, c } = self;
        match self.sizes() {
            (0, _, _) | (_, 0, _) => Ok(()),
            (_, _, k) if k == 0 || alpha == T::ZERO => scale(stream, None, beta, c),
            _ => stream.gemm(ops, alpha, (a, b), beta, c),
        }
    }

    /// Puts one triangle of it into the stream: blocks on the diagonal are computed aside, of those beside it each level as one
    /// batch, in blocks twice as large from level to level.
    pub fn run_triangle(self, stream: &mut Stream<'_, T>, part: Uplo) -> Result<(), DeviceError> {
        let Self { ops, alpha, beta, c, .. } = self;
        let (n, _, k) = self.sizes();
        if n == 0 {
            return Ok(());
        }
        if k == 0 || alpha == T::ZERO {
            return scale(stream, Some((part, false)), beta, c);
        }
        let before = stream.mark();
        let order = n.min(DIAGONAL);
        let w = stream.take::<T>((order, n.next_multiple_of(order)))?;
        let whole = n / order;
        let batch = |first: Mat<T>, stride| Batch { first, stride };
        let step = self.steps(order);
        let one = self.block((0..order, 0..order));
        let to = (batch(w.submatrix(0..order, 0..order), order * order), whole);
        stream.gemm_batch(ops, alpha, (batch(one.a, step.0), batch(one.b, step.1)), T::ZERO, to)?;
        if whole * order < n {
            let (rest, rows) = (whole * order..n, n - whole * order);
            let last = self.block((rest.clone(), rest.clone()));
            let c = w.submatrix(0..rows, rest);
            Self { beta: T::ZERO, c, ..last }.run(stream)?;
        }
        fold(stream, part, w, beta, c)?;
        stream.release(before);
        let mut order = order;
        while order < n {
            self.run_beside(stream, part, order)?;
            order *= 2;
        }
        Ok(())
    }

    /// The blocks of this order beside the diagonal, two of whose kind the diagonal has between them.
    fn run_beside(self, stream: &mut Stream<'_, T>, part: Uplo, order: usize) -> Result<(), DeviceError> {
        let n = self.c.n;
        let at = |first: usize| {
            let (near, far) = (first..first + order, first + order..n.min(first + 2 * order));
            self.block(if part == Uplo::Lower { (far, near) } else { (near, far) })
        };
        let whole = n / (2 * order);
        if whole > 0 {
            let (one, step) = (at(0), self.steps(2 * order));
            let c = Batch { first: one.c, stride: 2 * order * (self.c.ld + 1) };
            let operands = (Batch { first: one.a, stride: step.0 }, Batch { first: one.b, stride: step.1 });
            stream.gemm_batch(self.ops, self.alpha, operands, self.beta, (c, whole))?;
        }
        if whole * 2 * order + order < n { at(whole * 2 * order).run(stream) } else { Ok(()) }
    }

    /// The product for these rows and columns of C.
    fn block(self, (rows, columns): (std::ops::Range<usize>, std::ops::Range<usize>)) -> Self {
        let Self { ops, a, b, c, .. } = self;
        let c = c.submatrix(rows.clone(), columns.clone());
        let a = if ops.0 == Op::None { a.submatrix(rows, 0..a.n) } else { a.submatrix(0..a.m, rows) };
        let b = if ops.1 == Op::None { b.submatrix(0..b.m, columns) } else { b.submatrix(columns, 0..b.n) };
        Self { a, b, c, ..self }
    }

    /// The elements from one factor to that which is so many rows or columns of C further.
    fn steps(&self, rows: usize) -> (usize, usize) {
        let Self { ops, a, b, .. } = self;
        let of = |is_along: bool, ld: usize| if is_along { rows } else { rows * ld };
        (of(ops.0 == Op::None, a.ld), of(ops.1 != Op::None, b.ld))
    }
}

/// symm or hemm.
pub(super) fn symm<T: Scalar>(
    stream: &mut Stream<'_, T>,
    options: (bool, Side, Uplo),
    alpha: T,
    operands: (Mat<T>, Mat<T>),
    beta: T,
    c: Mat<T>,
) -> Result<(), DeviceError> {
    match c.shape() {
        (0, _) | (_, 0) => Ok(()),
        _ if alpha == T::ZERO => scale(stream, None, beta, c),
        _ => stream.symm(options, alpha, operands, beta, c),
    }
}

/// syrk or herk.
pub(super) fn rank_k<T: Scalar>(
    stream: &mut Stream<'_, T>,
    (hermitian, uplo, op): (bool, Uplo, Op),
    alpha: T,
    a: Mat<T>,
    beta: T,
    c: Mat<T>,
) -> Result<(), DeviceError> {
    let real = |x: T| if hermitian { T::from_real(x.re()) } else { x };
    let (alpha, beta, k) = (real(alpha), real(beta), op.shape(a.shape()).1);
    match c.n {
        0 => Ok(()),
        _ if k == 0 || alpha == T::ZERO => scale(stream, Some((uplo, hermitian)), beta, c),
        _ => stream.rank_k((hermitian, uplo, op), alpha, a, beta, c),
    }
}

/// syr2k or her2k.
pub(super) fn rank_2k<T: Scalar>(
    stream: &mut Stream<'_, T>,
    (hermitian, uplo, op): (bool, Uplo, Op),
    alpha: T,
    operands: (Mat<T>, Mat<T>),
    beta: T,
    c: Mat<T>,
) -> Result<(), DeviceError> {
    let beta = if hermitian { T::from_real(beta.re()) } else { beta };
    match c.n {
        0 => Ok(()),
        _ if op.shape(operands.0.shape()).1 == 0 || alpha == T::ZERO => scale(stream, Some((uplo, hermitian)), beta, c),
        _ => stream.rank_2k((hermitian, uplo, op), alpha, operands, beta, c),
    }
}
