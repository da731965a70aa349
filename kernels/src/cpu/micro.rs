//! The register tile: the one inner loop that every kernel spends its time in.
//!
//! A tile is `ROWS` x `NV` vectors. Vectors run along the *lanes*: the rows of C in a product, the right-hand sides of a
//! triangular solve. What is broadcast runs along `ROWS`: the columns of C, the rows of the triangle. Complex numbers are
//! kept as a plane of real and a plane of imaginary parts, so that a complex multiply-add is four real ones and no
//! shuffle. For a real type the second plane is never touched and costs nothing.
//!
//! With AVX-512 the tile is 8 x 3 vectors: 24 accumulators, fed by 3 loads and 8 broadcasts per 24 multiply-adds.

use crate::simd::Vector;
use crate::{Scalar, Uplo};

/// Planes of a type: one, or two for complex.
pub(super) const fn planes<T: Scalar>() -> usize {
    if T::COMPLEX { 2 } else { 1 }
}

/// Accumulators: `[row][vector][plane]`.
pub(super) type Tile<V, const NV: usize, const ROWS: usize> = [[[V; 2]; NV]; ROWS];

/// A packed operand: at step p the real parts start at `ptr + p * step` and the imaginary ones `plane` further on.
#[derive(Clone, Copy)]
pub(super) struct Stream<R> {
    pub ptr: *const R,
    pub step: usize,
    pub plane: usize,
}

impl<R> Stream<R> {
    /// The stream that starts `reals` further on.
    #[inline(always)]
    pub fn offset(self, reals: usize) -> Self {
        Self { ptr: self.ptr.wrapping_add(reals), ..self }
    }
}

/// A tile of zeros.
///
/// # Safety
/// As for [`Vector`].
#[inline(always)]
pub(super) unsafe fn zero<T, V, const NV: usize, const ROWS: usize>() -> Tile<V, NV, ROWS>
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    // SAFETY: the caller vouches for V's instructions.
    [[[unsafe { V::splat(T::Real::ZERO) }; 2]; NV]; ROWS]
}

/// acc[r] -= b[p][r] x[p], or with the conjugate of b, summed over `depth` steps p.
///
/// # Safety
/// As for [`Vector`]; for p < depth, `x` holds NV vectors per plane and `b` holds ROWS reals per plane.
#[inline(always)]
pub(super) unsafe fn eliminate<T, V, const NV: usize, const ROWS: usize>(
    acc: &mut Tile<V, NV, ROWS>,
    depth: usize,
    x: Stream<T::Real>,
    b: Stream<T::Real>,
    conj: bool,
) where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    // SAFETY: the caller's promises.
    unsafe { eliminate_across::<T, V, NV, ROWS>(acc, depth, x, b, 1, conj) };
}

/// The same where the rows of b are `across` reals apart.
///
/// # Safety
/// As for [`eliminate`].
#[inline(always)]
pub(super) unsafe fn eliminate_across<T, V, const NV: usize, const ROWS: usize>(
    acc: &mut Tile<V, NV, ROWS>,
    depth: usize,
    x: Stream<T::Real>,
    b: Stream<T::Real>,
    across: usize,
    conj: bool,
) where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let (mut xp, mut bp) = (x.ptr, b.ptr);
    for _ in 0..depth {
        // SAFETY: step p < depth of both streams, as the caller promises.
        unsafe {
            let lanes = load::<T, V, NV>(xp, x.plane);
            for (r, row) in acc.iter_mut().enumerate() {
                subtract::<T, V, NV>(row, scalar::<T>(bp.add(r * across), b.plane), conj, &lanes);
            }
        }
        xp = xp.wrapping_add(x.step);
        bp = bp.wrapping_add(b.step);
    }
}

/// NV vectors of each plane.
///
/// # Safety
/// As for [`Vector`]; they are there.
#[inline(always)]
pub(super) unsafe fn load<T, V, const NV: usize>(from: *const T::Real, plane: usize) -> [[V; 2]; NV]
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    // SAFETY: the caller's promises.
    unsafe {
        let mut out = [[V::splat(T::Real::ZERO); 2]; NV];
        for (v, x) in out.iter_mut().enumerate() {
            x[0] = V::load(from.add(v * V::LANES));
            if T::COMPLEX {
                x[1] = V::load(from.add(plane + v * V::LANES));
            }
        }
        out
    }
}

/// The counterpart of [`load`].
///
/// # Safety
/// As for [`Vector`]; there is room for them.
#[inline(always)]
pub(super) unsafe fn store<T, V, const NV: usize>(row: &[[V; 2]; NV], to: *mut T::Real, plane: usize)
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    for (v, x) in row.iter().enumerate() {
        // SAFETY: the caller's promises.
        unsafe {
            x[0].store(to.add(v * V::LANES));
            if T::COMPLEX {
                x[1].store(to.add(plane + v * V::LANES));
            }
        }
    }
}

/// The scalar whose parts are at `from` and, for complex types, `from + plane`.
///
/// # Safety
/// They are there.
#[inline(always)]
pub(super) unsafe fn scalar<T: Scalar>(from: *const T::Real, plane: usize) -> T {
    // SAFETY: the caller's promise.
    unsafe { T::from_parts(*from, if T::COMPLEX { *from.add(plane) } else { T::Real::ZERO }) }
}

/// row -= b x, or conj(b) x: a sign chosen where the imaginary part is used costs nothing.
///
/// # Safety
/// As for [`Vector`].
#[inline(always)]
pub(super) unsafe fn subtract<T, V, const NV: usize>(row: &mut [[V; 2]; NV], b: T, conj: bool, x: &[[V; 2]; NV])
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    // SAFETY: the caller's promises.
    unsafe {
        let re = V::splat(b.re());
        for (acc, x) in row.iter_mut().zip(x) {
            acc[0] = acc[0].mul_sub(re, x[0]);
            if T::COMPLEX {
                acc[1] = acc[1].mul_sub(re, x[1]);
            }
        }
        if T::COMPLEX {
            let im = V::splat(b.im());
            for (acc, x) in row.iter_mut().zip(x) {
                if conj {
                    acc[0] = acc[0].mul_sub(im, x[1]);
                    acc[1] = acc[1].mul_add(im, x[0]);
                } else {
                    acc[0] = acc[0].mul_add(im, x[1]);
                    acc[1] = acc[1].mul_sub(im, x[0]);
                }
            }
        }
    }
}

/// row = b row for the scalar b at `b` (and `b + plane`).
///
/// # Safety
/// As for [`Vector`]; the scalar is there.
#[inline(always)]
pub(super) unsafe fn multiply<T, V, const NV: usize>(row: &mut [[V; 2]; NV], b: *const T::Real, plane: usize)
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    // SAFETY: the caller's promises.
    unsafe {
        let re = V::splat(*b);
        for x in row.iter_mut() {
            let [a, c] = *x;
            if T::COMPLEX {
                let im = V::splat(*b.add(plane));
                *x = [a.mul(re).mul_sub(im, c), c.mul(re).mul_add(im, a)];
            } else {
                x[0] = a.mul(re);
            }
        }
    }
}

/// Solves the ROWS x ROWS triangular system whose right-hand sides are the lanes of `acc`, forwards or backwards.
///
/// # Safety
/// As for [`Vector`]; `triangle` holds for each column q the ROWS elements (r, q) per plane, with reciprocals on the
/// diagonal.
#[inline(always)]
pub(super) unsafe fn substitute<T, V, const NV: usize, const ROWS: usize>(
    acc: &mut Tile<V, NV, ROWS>,
    triangle: *const T::Real,
    uplo: Uplo,
) where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    // Row by row in the text, because a loop over rows is not unrolled: its inner loop has another length each time.
    // The accumulators would then live in memory, and the whole solve run at a third of its rate.
    macro_rules! rows {
        ($($step:literal)*) => {$(
            if $step < ROWS {
                // SAFETY: the caller's promises.
                unsafe {
                    match uplo {
                        Uplo::Lower => row::<T, V, NV, ROWS>(acc, triangle, $step, 0, $step),
                        Uplo::Upper => {
                            row::<T, V, NV, ROWS>(acc, triangle, ROWS - 1 - $step, ROWS - $step, ROWS)
                        }
                    }
                }
            }
        )*};
    }
    const { assert!(ROWS <= 8) };
    rows!(0 1 2 3 4 5 6 7);
}

/// Row r of a substitution: subtracts rows from .. to, which are solved, and divides by the diagonal.
///
/// # Safety
/// As for [`substitute`].
#[inline(always)]
unsafe fn row<T, V, const NV: usize, const ROWS: usize>(
    acc: &mut Tile<V, NV, ROWS>,
    triangle: *const T::Real,
    r: usize,
    from: usize,
    to: usize,
) where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let column = |q: usize| triangle.wrapping_add(q * ROWS * planes::<T>() + r);
    for q in from..to {
        let x = acc[q];
        // SAFETY: element (r, q) of the triangle.
        unsafe { subtract::<T, V, NV>(&mut acc[r], scalar::<T>(column(q), ROWS), false, &x) };
    }
    // SAFETY: element (r, r) of the triangle.
    unsafe { multiply::<T, V, NV>(&mut acc[r], column(r), ROWS) };
}

/// acc = -A acc for the ROWS x ROWS triangle A, with the rows of `acc` taken so that each finds the others as they were.
///
/// # Safety
/// As for [`substitute`], with the diagonal itself on the diagonal.
#[inline(always)]
pub(super) unsafe fn multiply_triangle<T, V, const NV: usize, const ROWS: usize>(
    acc: &mut Tile<V, NV, ROWS>,
    triangle: *const T::Real,
    uplo: Uplo,
) where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    // Row by row in the text, as in `substitute`, and in the opposite order.
    macro_rules! rows {
        ($($step:literal)*) => {$(
            if $step < ROWS {
                // SAFETY: the caller's promises.
                unsafe {
                    match uplo {
                        Uplo::Lower => {
                            let r = ROWS - 1 - $step;
                            multiply_row::<T, V, NV, ROWS>(acc, triangle, r, 0, r)
                        }
                        Uplo::Upper => multiply_row::<T, V, NV, ROWS>(acc, triangle, $step, $step + 1, ROWS),
                    }
                }
            }
        )*};
    }
    const { assert!(ROWS <= 8) };
    rows!(0 1 2 3 4 5 6 7);
}

/// Row r of a product: minus its diagonal element times itself, minus its elements from .. to times those rows.
///
/// # Safety
/// As for [`multiply_triangle`].
#[inline(always)]
unsafe fn multiply_row<T, V, const NV: usize, const ROWS: usize>(
    acc: &mut Tile<V, NV, ROWS>,
    triangle: *const T::Real,
    r: usize,
    from: usize,
    to: usize,
) where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let column = |q: usize| triangle.wrapping_add(q * ROWS * planes::<T>() + r);
    // SAFETY: element (r, r), then elements (r, q), of the triangle.
    unsafe {
        multiply::<T, V, NV>(&mut acc[r], column(r), ROWS);
        scale_row::<T, V, NV>(&mut acc[r], -T::Real::ONE);
        for q in from..to {
            let x = acc[q];
            subtract::<T, V, NV>(&mut acc[r], scalar::<T>(column(q), ROWS), false, &x);
        }
    }
}

/// acc = x acc.
///
/// # Safety
/// As for [`Vector`].
#[inline(always)]
pub(super) unsafe fn scale<T, V, const NV: usize, const ROWS: usize>(acc: &mut Tile<V, NV, ROWS>, x: T)
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let parts = [x.re(), x.im()];
    for row in acc.iter_mut() {
        // SAFETY: the caller's promise, and the parts of x. A real x times an infinite part must not make NaN of the other one.
        unsafe {
            match T::COMPLEX && x.im() != T::Real::ZERO {
                true => multiply::<T, V, NV>(row, parts.as_ptr(), 1),
                false => scale_row::<T, V, NV>(row, x.re()),
            }
        }
    }
}

/// row = x row.
///
/// # Safety
/// As for [`Vector`].
#[inline(always)]
unsafe fn scale_row<T, V, const NV: usize>(row: &mut [[V; 2]; NV], x: T::Real)
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    // SAFETY: the caller's promise.
    unsafe {
        let x = V::splat(x);
        for parts in row.iter_mut() {
            parts[0] = parts[0].mul(x);
            if T::COMPLEX {
                parts[1] = parts[1].mul(x);
            }
        }
    }
}

/// ROWS rows of lanes, `step` reals apart.
///
/// # Safety
/// As for [`Vector`]; they are there.
#[inline(always)]
pub(super) unsafe fn load_tile<T, V, const NV: usize, const ROWS: usize>(x: Stream<T::Real>) -> Tile<V, NV, ROWS>
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    // SAFETY: the caller's promises.
    unsafe {
        let mut acc = zero::<T, V, NV, ROWS>();
        for (r, row) in acc.iter_mut().enumerate() {
            *row = load::<T, V, NV>(x.ptr.add(r * x.step), x.plane);
        }
        acc
    }
}

/// The counterpart of [`load_tile`].
///
/// # Safety
/// As for [`Vector`]; there is room for them, and they may be written.
#[inline(always)]
pub(super) unsafe fn store_tile<T, V, const NV: usize, const ROWS: usize>(
    acc: &Tile<V, NV, ROWS>,
    to: *mut T::Real,
    step: usize,
    plane: usize,
) where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    for (r, x) in acc.iter().enumerate() {
        // SAFETY: the caller's promises.
        unsafe { store::<T, V, NV>(x, to.add(r * step), plane) };
    }
}

/// Calls `$f` with a vector count of 1, 2 or 3 as its constant argument NV.
macro_rules! with_vectors {
    ($nv:expr, $f:ident::<$t:ty, $v:ty, _, $rows:ident $(, $conj:ident)?>($($arg:expr),* $(,)?)) => {
        match $nv {
            1 => $f::<$t, $v, 1, $rows $(, $conj)?>($($arg),*),
            2 => $f::<$t, $v, 2, $rows $(, $conj)?>($($arg),*),
            _ => $f::<$t, $v, 3, $rows $(, $conj)?>($($arg),*),
        }
    };
}
pub(super) use with_vectors;
