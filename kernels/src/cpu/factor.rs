//! The Cholesky factor of a matrix of moderate order, in packed form.
//!
//! The lower triangle is packed by columns, lanes along the rows. Then, for each block of ROWS columns, from left to
//! right: subtract what the columns before it contribute (the loop of the product), factor the small block on the
//! diagonal as scalars, and solve for the rows below it in registers.

use super::micro::{Stream, eliminate, load_tile, planes, store_tile, substitute, with_vectors};
use super::potrf::NotPositiveDefinite;
use super::workspace::Workspace;
use super::{pack, solve::reciprocal};
use crate::backend::Factor;
use crate::simd::{Kernel, Vector, dispatch};
use crate::{MatMut, Real, Scalar, Uplo};

/// Vectors along a full panel of rows.
const NV: usize = 3;

/// A = L Lᴴ, L over the lower triangle of A.
pub(super) struct Factorization<'a, T> {
    pub a: MatMut<'a, T>,
}

impl<T: Scalar> Factorization<'_, T> {
    /// Computes it.
    pub fn run(self) -> Result<(), NotPositiveDefinite> {
        dispatch::<T, _>(self)
    }
}

/// The packed triangle: element (i, j) at `j * step + i`, its imaginary part `plane` further on.
struct Packed<'a, R> {
    reals: &'a mut [R],
    step: usize,
    plane: usize,
}

impl<R: Real> Packed<'_, R> {
    #[inline(always)]
    fn get<T: Scalar<Real = R>>(&self, i: usize, j: usize) -> T {
        let at = j * self.step + i;
        T::from_parts(self.reals[at], if T::COMPLEX { self.reals[at + self.plane] } else { R::ZERO })
    }

    #[inline(always)]
    fn set<T: Scalar<Real = R>>(&mut self, i: usize, j: usize, x: T) {
        let at = j * self.step + i;
        self.reals[at] = x.re();
        if T::COMPLEX {
            self.reals[at + self.plane] = x.im();
        }
    }
}

impl<T: Scalar> Kernel<T> for Factorization<'_, T> {
    type Output = Result<(), NotPositiveDefinite>;

    #[inline(always)]
    unsafe fn run<V: Vector<Real = T::Real>, const ROWS: usize>(mut self) -> Self::Output {
        let (n, unit, width) = (self.a.nrows(), planes::<T>(), NV * V::LANES);
        let plane = n.next_multiple_of(width);
        let (step, blocks) = (plane * unit, n.div_ceil(ROWS));
        let (matrix_len, small_len) = (blocks * ROWS * step, ROWS * ROWS * unit);
        let mut scratch = Workspace::take(matrix_len + (n + ROWS) * ROWS * unit + small_len);
        let (reals, rest) = scratch.reals().split_at_mut(matrix_len);
        let (rows, small) = rest.split_at_mut((n + ROWS) * ROWS * unit);
        let mut packed = Packed { reals, step, plane };
        packed.reals.fill(T::Real::ZERO);
        // SAFETY: the workspace was laid out for these blocks.
        unsafe {
            for j in (0..n).step_by(ROWS) {
                load_columns::<T, V, ROWS>(&self.a, j, &mut packed);
            }
            for j in (0..n).step_by(ROWS) {
                let cols = ROWS.min(n - j);
                gather_rows::<T, ROWS>(&packed, j, rows);
                let first = j / V::LANES * V::LANES;
                let here = Block { j, rows: rows.as_ptr(), small: small.as_ptr() };
                let vectors = ((n - first).div_ceil(V::LANES)).min(NV);
                with_vectors!(vectors, reduce::<T, V, _, ROWS>(&mut packed, &here, first, true, false));
                let mut diagonal = [[T::ZERO; ROWS]; ROWS];
                factor_diagonal(&packed, j, cols, &mut diagonal)?;
                pack_small(&diagonal, cols, small);
                for i in (first..n).step_by(width) {
                    let vectors = ((n - i).div_ceil(V::LANES)).min(NV);
                    with_vectors!(vectors, reduce::<T, V, _, ROWS>(&mut packed, &here, i, i > first, true));
                }
                for (c, column) in diagonal.iter().enumerate().take(cols) {
                    for (r, &x) in column.iter().enumerate().take(cols).skip(c) {
                        packed.set(j + r, j + c, x);
                    }
                }
            }
            for j in (0..n).step_by(ROWS) {
                store_columns::<T, V, ROWS>(&packed, j, &mut self.a);
            }
        }
        Ok(())
    }
}

/// Packs the lower part of columns j .. j + ROWS.
///
/// # Safety
/// As for [`Vector`]; `packed` was laid out for `a`.
#[inline(always)]
unsafe fn load_columns<T, V, const ROWS: usize>(a: &MatMut<'_, T>, j: usize, packed: &mut Packed<'_, T::Real>)
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let (n, end) = (a.nrows(), a.nrows().min(j + ROWS));
    for c in j..end {
        for r in c..end {
            packed.set(r, c, a.at(r, c));
        }
    }
    let below = Factor { view: a.as_ref().submatrix(end..n, j..end), conj: false };
    let to = packed.reals[j * packed.step + end..].as_mut_ptr();
    // SAFETY: rows end .. n of columns j .. end have their places in the packed matrix, `plane` reals apart.
    unsafe { pack::gather::<T, V>(below, packed.plane, to) };
}

/// The counterpart of [`load_columns`].
///
/// # Safety
/// As for [`Vector`]; `packed` was laid out for `a`.
#[inline(always)]
unsafe fn store_columns<T, V, const ROWS: usize>(packed: &Packed<'_, T::Real>, j: usize, a: &mut MatMut<'_, T>)
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let (n, end) = (a.nrows(), a.nrows().min(j + ROWS));
    for c in j..end {
        for r in c..end {
            a[(r, c)] = packed.get(r, c);
        }
    }
    let from = packed.reals[j * packed.step + end..].as_ptr();
    // SAFETY: as in load_columns.
    unsafe { pack::unpack::<T, V>(from, packed.plane, a.rb_mut().submatrix(end..n, j..end)) };
}

/// Packs conj(L(j + r, p)) for the columns p before j: what the columns of block j are eliminated with.
#[inline(always)]
fn gather_rows<T: Scalar, const ROWS: usize>(packed: &Packed<'_, T::Real>, j: usize, rows: &mut [T::Real]) {
    let width = ROWS * planes::<T>();
    for (p, to) in rows.chunks_exact_mut(width).enumerate().take(j) {
        let from = &packed.reals[p * packed.step + j..];
        to[..ROWS].copy_from_slice(&from[..ROWS]);
        if T::COMPLEX {
            for (to, &im) in to[ROWS..].iter_mut().zip(&from[packed.plane..]) {
                *to = -im;
            }
        }
    }
}

/// What a block of columns is reduced with: rows of L, and the small triangle.
struct Block<R> {
    j: usize,
    rows: *const R,
    small: *const R,
}

/// Rows i and on, NV vectors, of the columns of a block: subtracts the earlier columns and solves, as asked.
///
/// # Safety
/// As for [`Vector`]; the operands of the block are packed.
#[inline(always)]
unsafe fn reduce<T, V, const NV: usize, const ROWS: usize>(
    packed: &mut Packed<'_, T::Real>,
    block: &Block<T::Real>,
    i: usize,
    subtract: bool,
    solve: bool,
) where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let (step, plane) = (packed.step, packed.plane);
    // SAFETY: i + NV * LANES <= plane, columns up to j + ROWS exist, and columns before j are not written here.
    unsafe {
        let here = packed.reals.as_mut_ptr().add(block.j * step + i);
        let mut acc = load_tile::<T, V, NV, ROWS>(Stream { ptr: here, step, plane });
        if subtract {
            let before = Stream { ptr: packed.reals.as_ptr().add(i), step, plane };
            let rows = Stream { ptr: block.rows, step: ROWS * planes::<T>(), plane: ROWS };
            eliminate::<T, V, NV, ROWS>(&mut acc, block.j, before, rows);
        }
        if solve {
            substitute::<T, V, NV, ROWS>(&mut acc, block.small, Uplo::Lower);
        }
        store_tile::<T, V, NV, ROWS>(&acc, here, step, plane);
    }
}

/// Factors the block on the diagonal at j; `factor[c][r]` is element (r, c).
#[inline(always)]
fn factor_diagonal<T: Scalar, const ROWS: usize>(
    packed: &Packed<'_, T::Real>,
    j: usize,
    cols: usize,
    factor: &mut [[T; ROWS]; ROWS],
) -> Result<(), NotPositiveDefinite> {
    for c in 0..cols {
        let mut column = [T::ZERO; ROWS];
        for (r, x) in column.iter_mut().enumerate().take(cols).skip(c) {
            *x = packed.get(j + r, j + c);
        }
        for before in factor.iter().take(c) {
            let by = before[c].conj();
            for (x, &l) in column.iter_mut().zip(before).skip(c) {
                *x -= l * by;
            }
        }
        let pivot = column[c].re();
        let positive = pivot > T::Real::ZERO;
        if !positive {
            return Err(NotPositiveDefinite { minor: j + c + 1 });
        }
        let root = pivot.sqrt();
        let inverse = T::Real::ONE / root;
        for x in column.iter_mut().skip(c + 1) {
            *x = T::from_parts(x.re() * inverse, x.im() * inverse);
        }
        column[c] = T::from_real(root);
        factor[c] = column;
    }
    Ok(())
}

/// Packs conj(L) of the diagonal block for [`substitute`].
#[inline(always)]
fn pack_small<T: Scalar, const ROWS: usize>(factor: &[[T; ROWS]; ROWS], cols: usize, small: &mut [T::Real]) {
    small.fill(T::Real::ZERO);
    for (q, (column, to)) in factor.iter().zip(small.chunks_exact_mut(ROWS * planes::<T>())).enumerate().take(cols) {
        for r in q..cols {
            let x = if r == q { reciprocal(column[q]) } else { column[r].conj() };
            to[r] = x.re();
            if T::COMPLEX {
                to[ROWS + r] = x.im();
            }
        }
    }
}
