//! gemm, symm, hemm, syrk, herk, syr2k and her2k, which cuBLAS has, and gemmt, which is made of cuBLAS's products.
//!
//! If alpha is zero or the inner dimension is zero, a kernel of this crate scales C. alpha = 0 therefore reads no
//! factor, independently of cuBLAS.

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

/// The order of gemmt's blocks on the diagonal, which are computed as whole blocks.
const DIAGONAL_BLOCK_ORDER: usize = 256;

impl<T: Scalar> Gemm<T, Mat<T>> {
    /// Puts the product into the stream.
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

    /// Puts one triangle of the product into the stream. Blocks on the diagonal are computed in scratch. The blocks
    /// beside it are twice as large from level to level, and each level is one batch.
    fn enqueue_triangle(self, stream: &mut Stream<'_, T>, part: Uplo) -> Result<(), DeviceError> {
        let Self { beta, c, .. } = self;
        let (n, before) = (c.n, stream.scratch.mark());
        let order = n.min(DIAGONAL_BLOCK_ORDER);
        let w = stream.take::<T>((order, n.next_multiple_of(order)))?;
        let full_blocks = n / order;
        let [a_step, b_step] = self.steps(order);
        let one = self.block((0..order, 0..order));
        let one = Self { beta: T::ZERO, c: w.submatrix(0..order, 0..order), ..one };
        stream.gemm_batch(&one, [a_step, b_step, order * order], full_blocks)?;
        if full_blocks * order < n {
            let (rest, rows) = (full_blocks * order..n, n - full_blocks * order);
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

    /// Puts the products of the blocks of this order beside the diagonal into the stream, of which every second one
    /// exists.
    fn enqueue_beside(self, stream: &mut Stream<'_, T>, part: Uplo, order: usize) -> Result<(), DeviceError> {
        let n = self.c.n;
        let at = |first: usize| {
            let (near, far) = (first..first + order, first + order..n.min(first + 2 * order));
            self.block(if part == Uplo::Lower { (far, near) } else { (near, far) })
        };
        let full_blocks = n / (2 * order);
        if full_blocks > 0 {
            let [a_step, b_step] = self.steps(2 * order);
            stream.gemm_batch(&at(0), [a_step, b_step, 2 * order * (self.c.ld + 1)], full_blocks)?;
        }
        let rest = full_blocks * 2 * order;
        if rest + order < n { at(rest).enqueue(stream) } else { Ok(()) }
    }

    /// Returns the product for these rows and columns of C.
    fn block(self, (rows, columns): (std::ops::Range<usize>, std::ops::Range<usize>)) -> Self {
        let Self { op_a, op_b, a, b, c, .. } = self;
        let c = c.submatrix(rows.clone(), columns.clone());
        let a = if op_a == Op::None { a.submatrix(rows, 0..a.n) } else { a.submatrix(0..a.m, rows) };
        let b = if op_b == Op::None { b.submatrix(0..b.m, columns) } else { b.submatrix(columns, 0..b.n) };
        Self { a, b, c, ..self }
    }

    /// Returns the distances in A and B, in elements, between the factors of blocks of C that are `rows` rows and
    /// columns apart.
    fn steps(&self, rows: usize) -> [usize; 2] {
        let Self { op_a, op_b, a, b, .. } = self;
        let of = |is_along: bool, ld: usize| if is_along { rows } else { rows * ld };
        [of(*op_a == Op::None, a.ld), of(*op_b != Op::None, b.ld)]
    }
}

/// Computes symm or hemm.
pub(super) fn symm<T: Scalar>(stream: &mut Stream<'_, T>, symm: &Symm<T, Mat<T>>) -> Result<(), DeviceError> {
    match symm.c.shape() {
        (0, _) | (_, 0) => Ok(()),
        _ if symm.alpha == T::ZERO => scale(stream, None, symm.beta, symm.c),
        _ => stream.symm(symm),
    }
}

/// Computes syrk or herk.
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

/// Computes syr2k or her2k.
pub(super) fn rank_2k<T: Scalar>(stream: &mut Stream<'_, T>, update: &Rank2k<T, Mat<T>>) -> Result<(), DeviceError> {
    let &Rank2k { symmetry, uplo, op, alpha, a, beta, c, .. } = update;
    match c.n {
        0 => Ok(()),
        _ if op.shape(a.shape()).1 == 0 || alpha == T::ZERO => scale(stream, Some((symmetry, uplo)), beta, c),
        _ => stream.rank_2k(update),
    }
}
