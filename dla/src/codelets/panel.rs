//! The panel of an LU factorization, by recursive halving.
//!
//! The left half is factored, then the right half updated, then its lower part factored:
//!
//! ```text
//! P1 [ L11 ] U11 = [ A11 ],   [ U12 ] := [ L11⁻¹    ] P1ᵀ [ A12 ],   A22 := A22 − L21 U12,   P2 L22 U22 = A22
//!    [ L21 ]       [ A21 ]    [ A22 ]    [        I ]     [ A22 ]
//! ```
//!
//! (Toledo, "Locality of reference in LU decomposition with partial pivoting", SIAM J. Matrix Anal. Appl. 18, 1997.)
//! Most of the work is the update of A22, which is split by rows. Narrow panels are factored by the kernel, which is
//! limited by memory.

use crate::{Scalar, subtasks::split_rows};
use superscalar_kernels::{Diag, Direction, MatMut, Op, Side, Uplo, cpu};
use superscalar_runtime::{Error, Nesting};

/// Panels of up to this many columns are factored by the kernel.
const KERNEL_COLUMNS_MAX: usize = 32;
/// Panels of up to this many elements fit into a cache and are factored by the kernel.
const KERNEL_ELEMENTS_MAX: usize = 1 << 17;

/// Computes P L U = A, with one interchange per pivot, counted from one. A zero pivot does not stop the factorization.
///
/// # Errors
/// Returns an error only if the scope is cancelled.
pub(super) fn getrf<T: Scalar>(nesting: Nesting<'_>, mut a: MatMut<'_, T>, ipiv: &mut [i32]) -> Result<(), Error> {
    let (m, n) = a.shape();
    if n <= KERNEL_COLUMNS_MAX || m < n || m * n <= KERNEL_ELEMENTS_MAX {
        // A zero pivot is reported by the check of the diagonal after the factorization.
        let _zero_pivot = cpu::getrf(a, ipiv);
        return Ok(());
    }
    let half = (n / 2).next_multiple_of(8);
    let (first, second) = ipiv.split_at_mut(half);
    let (mut left, mut right) = a.rb_mut().split_at_col(half);
    getrf(nesting, left.rb_mut(), first)?;
    cpu::laswp(right.rb_mut(), 0, first, Direction::Forward);
    let (l11, l21) = left.as_ref().split_at_row(half);
    let (mut a12, mut a22) = right.split_at_row(half);
    cpu::trsm(Side::Left, Uplo::Lower, Op::None, Diag::Unit, T::ONE, l11, a12.rb_mut());
    let u12 = a12.into_ref();
    split_rows(nesting, "gemm in panel", a22.rb_mut(), half * (n - half), |rows, a22| {
        cpu::gemm(-T::ONE, Op::None, l21.submatrix(rows, 0..half), Op::None, u12, T::ONE, a22);
    })?;
    getrf(nesting, a22, second)?;
    cpu::laswp(left.submatrix(half..m, 0..half), 0, second, Direction::Forward);
    second.iter_mut().for_each(|p| *p += half as i32);
    Ok(())
}
