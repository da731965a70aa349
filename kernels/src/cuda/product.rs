//! gemm, symm, hemm, syrk, herk, syr2k, her2k: what cuBLAS has. And gemmt, which is made of its products.
//!
//! What is no product, because alpha is zero or the factors have no depth, is scaled by a kernel of our own: so alpha = 0 reads no factor,
//! whatever cuBLAS does.

use super::{
    elements::{fold, scale},
    stream::Stream,
};
use crate::{
    Op, Scalar, Symmetry, Uplo,
    device::Mat,
    operations::{Gemm, Rank2k, RankK, Symm},
};
use superscalar_runtime::DeviceError;

/// Order of the blocks on the diagonal of gemmt, which are computed whole.
const DIAGONAL: usize = 256;

impl<T: Scalar> Gemm<T, Mat<T>> {
    /// Puts it into the stream.
    pub(super) fn enqueue(&self, stream: &mut Stream<'_, T>) -> Result<(), DeviceError> {
        let &Self { part, op_a, alpha, a, beta, c, .. } = self;
        if c.m == 0 || c.n == 0 {
            return Ok(());
        }
        if alpha == T::ZERO || op_a.shape(a.shape()).1 == 0 {
            return scale(stream, part.map(|uplo| (Symmetry::Symmetric, uplo)), beta, c);
        }
        match part {
            None => stream.gemm(self),
            Some(uplo) => Self { part: None, ..*self }.enqueue_triangle(stream, uplo),
        }
    }

    /// Puts one triangle of it into the stream: blocks on the diagonal are computed aside, of those beside it each level as one
    /// batch, in blocks twice as large from level to level.
    fn enqueue_triangle(self, stream: &mut Stream<'_, T>, part: Uplo) -> Result<(), DeviceError> {
        let Self { beta, c, .. } = self;
        let (n, before) = (c.n, stream.scratch.mark());
        let order = n.min(DIAGONAL);
        let w = stream.take::<T>((order, n.next_multiple_of(order)))?;
        let whole = n / order;
        let [a_step, b_step] = self.steps(order);
        let one = self.block((0..order, 0..order));
        let one = Self { beta: T::ZERO, c: w.submatrix(0..order, 0..order), ..one };
        stream.gemm_batch(&one, [a_step, b_step, order * order], whole)?;
        if whole * order < n {
            let (rest, rows) = (whole * order..n, n - whole * order);
            let last = self.block((rest.clone(), rest.clone()));
            let c = w.submatrix(0..rows, rest);
            Self { beta: T::ZERO, c, ..last }.enqueue(stream)?;
        }
        fold(stream, part, w, beta, c)?;
        stream.scratch.release(before);
        let mut order = order;
        while order < n {
            self.enqueue_beside(stream, part, order)?;
            order *= 2;
        }
        Ok(())
    }

    /// The blocks of this order beside the diagonal, two of whose kind the diagonal has between them.
    fn enqueue_beside(self, stream: &mut Stream<'_, T>, part: Uplo, order: usize) -> Result<(), DeviceError> {
        let n = self.c.n;
        let at = |first: usize| {
            let (near, far) = (first..first + order, first + order..n.min(first + 2 * order));
            self.block(if part == Uplo::Lower { (far, near) } else { (near, far) })
        };
        let whole = n / (2 * order);
        if whole > 0 {
            let [a_step, b_step] = self.steps(2 * order);
            stream.gemm_batch(&at(0), [a_step, b_step, 2 * order * (self.c.ld + 1)], whole)?;
        }
        if whole * 2 * order + order < n { at(whole * 2 * order).enqueue(stream) } else { Ok(()) }
    }

    /// The product for these rows and columns of C.
    fn block(self, (rows, columns): (std::ops::Range<usize>, std::ops::Range<usize>)) -> Self {
        let Self { op_a, op_b, a, b, c, .. } = self;
        let c = c.submatrix(rows.clone(), columns.clone());
        let a = if op_a == Op::None { a.submatrix(rows, 0..a.n) } else { a.submatrix(0..a.m, rows) };
        let b = if op_b == Op::None { b.submatrix(0..b.m, columns) } else { b.submatrix(columns, 0..b.n) };
        Self { a, b, c, ..self }
    }

    /// The elements from one factor to that which is so many rows or columns of C further.
    fn steps(&self, rows: usize) -> [usize; 2] {
        let Self { op_a, op_b, a, b, .. } = self;
        let of = |is_along: bool, ld: usize| if is_along { rows } else { rows * ld };
        [of(*op_a == Op::None, a.ld), of(*op_b != Op::None, b.ld)]
    }
}

/// symm or hemm.
pub(super) fn symm<T: Scalar>(stream: &mut Stream<'_, T>, symm: &Symm<T, Mat<T>>) -> Result<(), DeviceError> {
    match symm.c.shape() {
        (0, _) | (_, 0) => Ok(()),
        _ if symm.alpha == T::ZERO => scale(stream, None, symm.beta, symm.c),
        _ => stream.symm(symm),
    }
}

/// syrk or herk.
pub(super) fn rank_k<T: Scalar>(stream: &mut Stream<'_, T>, update: &RankK<T, Mat<T>>) -> Result<(), DeviceError> {
    let &RankK { symmetry, uplo, op, alpha, a, beta, c } = update;
    match c.n {
        0 => Ok(()),
        _ if op.shape(a.shape()).1 == 0 || symmetry.factor(alpha) == T::ZERO => {
            scale(stream, Some((symmetry, uplo)), beta, c)
        }
        _ => stream.rank_k(update),
    }
}

/// syr2k or her2k.
pub(super) fn rank_2k<T: Scalar>(stream: &mut Stream<'_, T>, update: &Rank2k<T, Mat<T>>) -> Result<(), DeviceError> {
    let &Rank2k { symmetry, uplo, op, alpha, a, beta, c, .. } = update;
    match c.n {
        0 => Ok(()),
        _ if op.shape(a.shape()).1 == 0 || alpha == T::ZERO => scale(stream, Some((symmetry, uplo)), beta, c),
        _ => stream.rank_2k(update),
    }
}
