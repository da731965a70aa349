//! Products of interleaved matrices, in register tiles of up to three rows and four columns of a real type, or two rows
//! and two columns of a complex one. With the operands of a step they take sixteen and fourteen registers; AVX2 has
//! sixteen. Tiles at the edges are compiled for their size.

use super::Interleaved;
use super::number::{Number, get, minus, plus_product, product, put, same, sign, times, with_sign, zero};
use crate::Scalar;
use crate::simd::{Part, Vector};

/// C = C - A B, or C = alpha A B + beta C, for C m x n. The matrices may be parts of one buffer, as long as C is apart.
pub(super) struct GroupProduct<T: Scalar> {
    pub c: Interleaved<T::Real>,
    pub a: Interleaved<T::Real>,
    pub b: Interleaved<T::Real>,
    pub shape: (usize, usize),
    /// Columns of A.
    pub depth: usize,
    /// Whether the elements of A, and those of B, are conjugated.
    pub conj: (bool, bool),
    pub update: ProductUpdate<T>,
}

/// What happens to C.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum ProductUpdate<T> {
    /// C - A B.
    Subtract,
    /// C - A B, on the diagonal of C and below.
    SubtractLower,
    /// alpha A B + beta C. If beta is zero, C is not read.
    Scale { alpha: T, beta: T },
}

impl<T: Scalar> GroupProduct<T> {
    /// Makes C - A B.
    #[inline(always)]
    pub fn subtract(
        c: Interleaved<T::Real>,
        a: Interleaved<T::Real>,
        b: Interleaved<T::Real>,
        shape: (usize, usize),
        depth: usize,
    ) -> Self {
        Self { c, a, b, shape, depth, conj: (false, false), update: ProductUpdate::Subtract }
    }
}

impl<T: Scalar, V: Vector<Real = T::Real>> Part<V> for GroupProduct<T> {
    type Output = ();

    /// # Safety
    /// The matrices have these shapes. A and B are valid for reads, C for reads and writes, and C does not overlap
    /// them.
    #[inline(always)]
    unsafe fn run(self, isa: V::Isa) {
        let (m, n) = self.shape;
        let (height, width) = if T::COMPLEX { (2, 2) } else { (3, 4) };
        for j in (0..n).step_by(width) {
            let columns = width.min(n - j);
            let mut i = if self.update == ProductUpdate::SubtractLower { j } else { 0 };
            while i < m {
                // Four rows are two and two: three and one would use the registers less evenly.
                let rows = if m - i == 4 { 2 } else { height.min(m - i) };
                macro_rules! tile {
                    ($($rows:literal $columns:literal),*) => {
                        match (rows, columns) {
                            // SAFETY: the tile is inside of C; the caller guarantees the matrices.
                            $(($rows, $columns) => unsafe { tile::<T, V, $rows, $columns>(isa, &self, (i, j)) },)*
                            _ => unreachable!("tiles have at most three rows and four columns"),
                        }
                    };
                }
                if T::COMPLEX {
                    tile!(1 1, 1 2, 2 1, 2 2);
                } else {
                    tile!(1 1, 1 2, 1 3, 1 4, 2 1, 2 2, 2 3, 2 4, 3 1, 3 2, 3 3, 3 4);
                }
                i += rows;
            }
        }
    }
}

/// Computes the tile of R rows and C columns at element (i, j).
///
/// # Safety
/// The tile is inside of C; otherwise as for [`GroupProduct`].
#[inline(always)]
unsafe fn tile<T, V, const R: usize, const C: usize>(isa: V::Isa, work: &GroupProduct<T>, (i, j): (usize, usize))
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let signs = (sign::<T, V>(isa, work.conj.0), sign::<T, V>(isa, work.conj.1));
    let (a, b, c) = (work.a.from(i, 0), work.b.from(0, j), work.c.from(i, j));
    let mut acc = [[zero::<T, V>(isa); C]; R];
    // SAFETY: A has R rows from i on, B has C columns from j on, and both have the depth; the tile is inside of C.
    unsafe {
        for p in 0..work.depth {
            let mut x = [zero::<T, V>(isa); R];
            for r in 0..R {
                x[r] = with_sign::<T, V>(get::<T, V>(isa, a.at(r, p)), signs.0);
            }
            for s in 0..C {
                let y = with_sign::<T, V>(get::<T, V>(isa, b.at(p, s)), signs.1);
                for r in 0..R {
                    acc[r][s] = plus_product::<T, V>(acc[r][s], x[r], y);
                }
            }
        }
        match work.update {
            ProductUpdate::Subtract => {
                for r in 0..R {
                    for s in 0..C {
                        let at = c.at(r, s);
                        put::<T, V>(minus::<T, V>(get::<T, V>(isa, at), acc[r][s]), at);
                    }
                }
            }
            ProductUpdate::SubtractLower => {
                for r in 0..R {
                    for s in 0..C {
                        let at = c.at(r, s);
                        if i + r >= j + s {
                            put::<T, V>(minus::<T, V>(get::<T, V>(isa, at), acc[r][s]), at);
                        }
                    }
                }
            }
            ProductUpdate::Scale { alpha, beta } => {
                for r in 0..R {
                    for s in 0..C {
                        scale::<T, V>(isa, c.at(r, s), acc[r][s], alpha, beta);
                    }
                }
            }
        }
    }
}

/// Returns x times a factor. A real factor multiplies the parts separately: a complex product would make NaN of
/// zero times Inf in the other part.
#[inline(always)]
pub(super) fn scaled<T: Scalar, V: Vector<Real = T::Real>>(x: Number<V>, by: T) -> Number<V> {
    let isa = x[0].isa();
    if T::COMPLEX && by.im() != T::Real::ZERO {
        product::<T, V>(x, same::<T, V>(isa, by))
    } else {
        times::<T, V>(x, V::splat(isa, by.re()))
    }
}

/// Stores alpha x + beta c over c.
///
/// # Safety
/// The number at `c` is valid for writes, and, unless beta is zero, for reads.
#[inline(always)]
unsafe fn scale<T, V>(isa: V::Isa, c: *mut T::Real, x: Number<V>, alpha: T, beta: T)
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    // SAFETY: the caller guarantees the number at `c`.
    unsafe {
        let mut sum = if alpha == T::ONE { x } else { scaled::<T, V>(x, alpha) };
        if beta != T::ZERO {
            let old = scaled::<T, V>(get::<T, V>(isa, c), beta);
            sum = [sum[0].add(old[0]), if T::COMPLEX { sum[1].add(old[1]) } else { sum[1] }];
        }
        put::<T, V>(sum, c);
    }
}
