//! gemm and gemv for a batch.

use super::{Members, check_counts, run, small};
use crate::backend::backend;
use crate::simd::prefetch;
use crate::vector::{Form, InterleavedGemm, Progress};
use crate::{MatMut, MatRef, Op, Scalar, cpu};
use std::ops::Range;

/// Operands are prefetched this many products before they are used.
const AHEAD: usize = 2;
/// The bytes of an operand that are prefetched. The processor itself continues along longer ones.
const PREFETCHED_BYTES: usize = 1024;
/// Up to this many elements of each operand, products are computed by groups.
const ELEMENTS_MAX: usize = 48;

/// Computes C = alpha op(A) op(B) + beta C for each member. beta = 0 writes C without reading it; alpha = 0 reads
/// neither A nor B.
///
/// # Panics
/// If the batches have different lengths, or the shapes of a member do not agree.
///
/// # Example
/// ```
/// use superscalar::kernels::{MatMut, MatRef, Op, cpu::batch};
///
/// let (a, b, mut c) = ([1.0, 2.0], [3.0, 4.0], [0.0; 2]); // two products of 1 x 1
/// let a: Vec<_> = a.chunks(1).map(|a| MatRef::from_col_major(a, 1, 1, 1)).collect::<Result<_, _>>()?;
/// let b: Vec<_> = b.chunks(1).map(|b| MatRef::from_col_major(b, 1, 1, 1)).collect::<Result<_, _>>()?;
/// let mut to: Vec<_> = c.chunks_mut(1).map(|c| MatMut::from_col_major(c, 1, 1, 1)).collect::<Result<_, _>>()?;
/// batch::gemm(2.0, Op::None, &a, Op::None, &b, 0.0, &mut to);
/// assert_eq!(c, [6.0, 16.0]);
/// # Ok::<(), superscalar::kernels::ViewError>(())
/// ```
pub fn gemm<T: Scalar>(
    alpha: T,
    op_a: Op,
    a: &[MatRef<'_, T>],
    op_b: Op,
    b: &[MatRef<'_, T>],
    beta: T,
    c: &mut [MatMut<'_, T>],
) {
    check_counts("gemm", &[a.len(), b.len(), c.len()]);
    for ((a, b), c) in a.iter().zip(b).zip(c.iter()) {
        let ((m, k), (depth, n)) = (op_a.shape(a.shape()), op_b.shape(b.shape()));
        let shapes = (a.shape(), b.shape(), c.shape());
        assert!(k == depth && c.shape() == (m, n), "gemm: the shapes of a member do not agree: A, B, C {shapes:?}");
    }
    let count = c.len();
    run(GemmMembers { alpha, op: (op_a, op_b), a, b, beta, c }, count);
}

/// Computes y = alpha op(A) x + beta y for each member, whose vectors are matrices of one column. beta = 0 writes y
/// without reading it; alpha = 0 reads neither A nor x.
///
/// # Panics
/// If the batches have different lengths, or the shapes of a member do not agree.
///
/// # Example
/// ```
/// use superscalar::kernels::{MatMut, MatRef, Op, cpu::batch};
///
/// let (a, x, mut y) = ([1.0, 2.0], [3.0], [f64::NAN; 2]);
/// let (a, x) = (MatRef::from_col_major(&a, 2, 1, 2)?, MatRef::from_col_major(&x, 1, 1, 1)?);
/// batch::gemv(1.0, Op::None, &[a], &[x], 0.0, &mut [MatMut::from_col_major(&mut y, 2, 1, 2)?]);
/// assert_eq!(y, [3.0, 6.0]);
/// # Ok::<(), superscalar::kernels::ViewError>(())
/// ```
pub fn gemv<T: Scalar>(alpha: T, op: Op, a: &[MatRef<'_, T>], x: &[MatRef<'_, T>], beta: T, y: &mut [MatMut<'_, T>]) {
    gemm(alpha, op, a, Op::None, x, beta, y);
}

struct GemmMembers<'a, 'b, T> {
    alpha: T,
    op: (Op, Op),
    a: &'a [MatRef<'a, T>],
    b: &'a [MatRef<'a, T>],
    beta: T,
    c: &'a mut [MatMut<'b, T>],
}

impl<T: Scalar> Members for GemmMembers<'_, '_, T> {
    type Kind = [Form; 3];

    fn kind(&self, i: usize) -> Option<[Form; 3]> {
        if self.alpha == T::ZERO {
            return None;
        }
        let form = |view| small(view, ELEMENTS_MAX);
        Some([form(self.a[i])?, form(self.b[i])?, form(self.c[i].as_ref())?])
    }

    fn groups(&mut self, forms: [Form; 3], members: Range<usize>) -> Progress {
        let Self { alpha, op, beta, .. } = *self;
        let (a, b, c) = (&self.a[members.clone()], &self.b[members.clone()], &mut self.c[members]);
        backend::<T>().group_gemm(InterleavedGemm { alpha, op, a, b, beta, c, forms })
    }

    fn one(&mut self, i: usize) {
        if let (Some(&a), Some(&b), Some(c)) = (self.a.get(i + AHEAD), self.b.get(i + AHEAD), self.c.get(i + AHEAD)) {
            [a, b, c.as_ref()].into_iter().for_each(prefetch_start);
        }
        cpu::gemm(self.alpha, self.op.0, self.a[i], self.op.1, self.b[i], self.beta, self.c[i].rb_mut());
    }
}

/// Asks for the first lines of a matrix.
fn prefetch_start<T: Scalar>(view: MatRef<'_, T>) {
    let bytes = (view.nrows() * view.ncols() * size_of::<T>()).min(PREFETCHED_BYTES);
    (0..bytes).step_by(64).for_each(|at| prefetch(view.as_ptr().wrapping_byte_add(at)));
}
