//! The register tile: the inner loop in which every kernel spends its time.
//!
//! A tile is `ROWS` x `NV` vectors. Vectors run along the *lanes*: the rows of C in a product, the right-hand sides of
//! a triangular solve. The broadcast operand runs along `ROWS`: the columns of C, the rows of the triangle. Complex
//! numbers are kept as a plane of real and a plane of imaginary parts, so that a complex multiply-add is four real ones
//! without shuffles. Code for the second plane is removed for real types.
//!
//! With AVX-512 the tile is 8 x 3 vectors: 24 accumulators, fed by 3 loads and 8 broadcasts per 24 multiply-adds.

use crate::Scalar;
use crate::simd::Vector;
use crate::vector::planes::{planes, scalar};

/// The accumulators of a register tile: `[row][vector][plane]`.
pub(crate) type Accumulators<V, const NV: usize, const ROWS: usize> = [[[V; 2]; NV]; ROWS];

/// An operand in memory: the real parts of step p start at `ptr + p * step`, the imaginary ones `plane` reals later.
#[derive(Clone, Copy)]
pub(crate) struct OperandStream<R> {
    pub ptr: *const R,
    pub step: usize,
    pub plane: usize,
}

impl<R> OperandStream<R> {
    /// Returns the stream that starts `reals` reals later.
    #[inline(always)]
    pub fn offset(self, reals: usize) -> Self {
        Self { ptr: self.ptr.wrapping_add(reals), ..self }
    }
}

/// The operand along the lanes of a register tile, and the one that is broadcast along its rows.
pub(crate) type OperandStreams<R> = (OperandStream<R>, OperandStream<R>);

/// Returns accumulators of zero.
#[inline(always)]
pub(crate) fn zero<T, V, const NV: usize, const ROWS: usize>(isa: V::Isa) -> Accumulators<V, NV, ROWS>
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    [[[V::splat(isa, T::Real::ZERO); 2]; NV]; ROWS]
}

/// Computes acc[r] -= b[p][r] x[p], or uses the conjugate of b, summed over `depth` steps p.
///
/// # Safety
/// For p < depth, `x` holds NV vectors per plane and `b` holds ROWS reals per plane.
#[inline(always)]
pub(crate) unsafe fn eliminate<T, V, const NV: usize, const ROWS: usize>(
    acc: &mut Accumulators<V, NV, ROWS>,
    depth: usize,
    x: OperandStream<T::Real>,
    b: OperandStream<T::Real>,
    conj: bool,
) where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    // SAFETY: both streams hold `depth` steps, which is what both loops require.
    unsafe {
        match as_packed::<T, V, NV, ROWS>(x, b) {
            Some(streams) => eliminate_packed::<T, V, NV, ROWS>(acc, depth, streams, x.ptr.cast(), conj),
            None => eliminate_strided::<T, V, NV, ROWS>(acc, depth, (x, b), 1, conj),
        }
    }
}

/// Computes [`eliminate`] for streams that are [`as_packed`], and prefetches one line of `next` every four steps.
///
/// # Safety
/// Same as for [`eliminate`]; in addition, [`as_packed`] returned the streams for this tile.
#[inline(always)]
pub(crate) unsafe fn eliminate_packed<T, V, const NV: usize, const ROWS: usize>(
    acc: &mut Accumulators<V, NV, ROWS>,
    depth: usize,
    (x, b): OperandStreams<T::Real>,
    next: *const u8,
    conj: bool,
) where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    // SAFETY: both streams hold `depth` steps with the strides that `as_packed` checked: first `done` of them, then the
    // rest.
    unsafe {
        let done = V::eliminate::<NV, ROWS>(acc, depth, (x.ptr, b.ptr), next, (T::COMPLEX, conj));
        let rest = (x.offset(done * x.step), b.offset(done * b.step));
        eliminate_strided::<T, V, NV, ROWS>(acc, depth - done, rest, 1, conj);
    }
}

/// Returns the streams with constant strides if these are the strides of panels as wide as the tile. A step is then
/// loads and multiply-adds only, which matters for cores with two units for these.
#[inline(always)]
pub(crate) fn as_packed<T, V, const NV: usize, const ROWS: usize>(
    x: OperandStream<T::Real>,
    b: OperandStream<T::Real>,
) -> Option<OperandStreams<T::Real>>
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let of = |ptr, width| OperandStream { ptr, step: width * planes::<T>(), plane: width };
    let (known_x, known_b) = (of(x.ptr, NV * V::LANES), of(b.ptr, ROWS));
    let same =
        |s: OperandStream<T::Real>, t: OperandStream<T::Real>| s.step == t.step && (!T::COMPLEX || s.plane == t.plane);
    (same(x, known_x) && same(b, known_b)).then_some((known_x, known_b))
}

/// Computes [`eliminate`] where the rows of b are `across` reals apart.
///
/// # Safety
/// For p < depth, `x` holds NV vectors per plane and `b` holds ROWS reals per plane, `across` reals apart.
#[inline(always)]
pub(crate) unsafe fn eliminate_strided<T, V, const NV: usize, const ROWS: usize>(
    acc: &mut Accumulators<V, NV, ROWS>,
    depth: usize,
    (mut x, mut b): OperandStreams<T::Real>,
    across: usize,
    conj: bool,
) where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    // Four steps of a real type are unrolled; a complex type leaves no registers for that.
    let together = if T::COMPLEX { 1 } else { 4 };
    // SAFETY: the streams advance by one step or by four, at most `depth` in all.
    unsafe {
        for _ in 0..depth / together {
            step::<T, V, NV, ROWS>(acc, x, b, across, conj);
            if !T::COMPLEX {
                step::<T, V, NV, ROWS>(acc, x.offset(x.step), b.offset(b.step), across, conj);
                step::<T, V, NV, ROWS>(acc, x.offset(2 * x.step), b.offset(2 * b.step), across, conj);
                step::<T, V, NV, ROWS>(acc, x.offset(3 * x.step), b.offset(3 * b.step), across, conj);
            }
            (x, b) = (x.offset(together * x.step), b.offset(together * b.step));
        }
        for _ in 0..depth % together {
            step::<T, V, NV, ROWS>(acc, x, b, across, conj);
            (x, b) = (x.offset(x.step), b.offset(b.step));
        }
    }
}

/// Computes one step of [`eliminate_strided`].
///
/// # Safety
/// `x` holds NV vectors per plane, and `b` ROWS reals per plane, `across` reals apart.
#[inline(always)]
unsafe fn step<T, V, const NV: usize, const ROWS: usize>(
    acc: &mut Accumulators<V, NV, ROWS>,
    x: OperandStream<T::Real>,
    b: OperandStream<T::Real>,
    across: usize,
    conj: bool,
) where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    // SAFETY: the step has NV vectors of x, and an element of b for each of the ROWS rows of the tile.
    unsafe {
        let lanes = load::<T, V, NV>(acc[0][0][0].isa(), x.ptr, x.plane);
        for (r, row) in acc.iter_mut().enumerate() {
            subtract::<T, V, NV>(row, scalar::<T>(b.ptr.wrapping_add(r * across), b.plane), conj, &lanes);
        }
    }
}

/// Loads NV vectors of each plane.
///
/// # Safety
/// The vectors of a plane are adjacent and valid for reads; the second plane is `plane` reals after the first.
#[inline(always)]
pub(crate) unsafe fn load<T, V, const NV: usize>(isa: V::Isa, from: *const T::Real, plane: usize) -> [[V; 2]; NV]
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    // SAFETY: vector v of NV begins v LANES after the start of its plane.
    unsafe {
        let mut out = [[V::splat(isa, T::Real::ZERO); 2]; NV];
        for (v, x) in out.iter_mut().enumerate() {
            x[0] = V::load(isa, from.add(v * V::LANES));
            if T::COMPLEX {
                x[1] = V::load(isa, from.add(plane + v * V::LANES));
            }
        }
        out
    }
}

/// Stores NV vectors of each plane, as [`load`] loads them.
///
/// # Safety
/// These addresses are valid for writes.
#[inline(always)]
pub(crate) unsafe fn store<T, V, const NV: usize>(row: &[[V; 2]; NV], to: *mut T::Real, plane: usize)
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    for (v, x) in row.iter().enumerate() {
        // SAFETY: vector v of NV belongs v LANES after the start of its plane, which has room for all of them.
        unsafe {
            x[0].store(to.add(v * V::LANES));
            if T::COMPLEX {
                x[1].store(to.add(plane + v * V::LANES));
            }
        }
    }
}

/// Computes row -= b x, or conj(b) x. The sign is chosen where the imaginary part is used, which costs nothing.
#[inline(always)]
pub(crate) fn subtract<T, V, const NV: usize>(row: &mut [[V; 2]; NV], b: T, conj: bool, x: &[[V; 2]; NV])
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let isa = row[0][0].isa();
    let re = V::splat(isa, b.re());
    for (acc, x) in row.iter_mut().zip(x) {
        acc[0] = acc[0].mul_sub(re, x[0]);
        if T::COMPLEX {
            acc[1] = acc[1].mul_sub(re, x[1]);
        }
    }
    if T::COMPLEX {
        let im = V::splat(isa, b.im());
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

/// Computes row = b row.
#[inline(always)]
pub(crate) fn multiply<T, V, const NV: usize>(row: &mut [[V; 2]; NV], b: T)
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let isa = row[0][0].isa();
    let re = V::splat(isa, b.re());
    for x in row.iter_mut() {
        let [a, c] = *x;
        if T::COMPLEX {
            let im = V::splat(isa, b.im());
            *x = [a.mul(re).mul_sub(im, c), c.mul(re).mul_add(im, a)];
        } else {
            x[0] = a.mul(re);
        }
    }
}

/// Computes acc = x acc.
#[inline(always)]
pub(crate) fn scale<T, V, const NV: usize, const ROWS: usize>(acc: &mut Accumulators<V, NV, ROWS>, x: T)
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    for row in acc.iter_mut() {
        // For a real x the parts stay separate: the complex product would compute 0 * Inf = NaN.
        match T::COMPLEX && x.im() != T::Real::ZERO {
            true => multiply::<T, V, NV>(row, x),
            false => scale_row::<T, V, NV>(row, x.re()),
        }
    }
}

/// Computes row = x row.
#[inline(always)]
pub(crate) fn scale_row<T, V, const NV: usize>(row: &mut [[V; 2]; NV], x: T::Real)
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let x = V::splat(row[0][0].isa(), x);
    for parts in row.iter_mut() {
        parts[0] = parts[0].mul(x);
        if T::COMPLEX {
            parts[1] = parts[1].mul(x);
        }
    }
}

/// Loads ROWS rows of lanes, `step` reals apart.
///
/// # Safety
/// Each row is valid as [`load`] requires.
#[inline(always)]
pub(crate) unsafe fn load_tile<T, V, const NV: usize, const ROWS: usize>(
    isa: V::Isa,
    x: OperandStream<T::Real>,
) -> Accumulators<V, NV, ROWS>
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    // SAFETY: row r of ROWS begins r steps after the first.
    unsafe {
        let mut acc = zero::<T, V, NV, ROWS>(isa);
        for (r, row) in acc.iter_mut().enumerate() {
            *row = load::<T, V, NV>(isa, x.ptr.add(r * x.step), x.plane);
        }
        acc
    }
}

/// Stores ROWS rows of lanes, `step` reals apart.
///
/// # Safety
/// These addresses are valid for writes.
#[inline(always)]
pub(crate) unsafe fn store_tile<T, V, const NV: usize, const ROWS: usize>(
    acc: &Accumulators<V, NV, ROWS>,
    to: *mut T::Real,
    step: usize,
    plane: usize,
) where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    for (r, x) in acc.iter().enumerate() {
        // SAFETY: row r of ROWS belongs r steps after the first, and there is room for all of them.
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
pub(crate) use with_vectors;

/// Runs a [`Part`](crate::simd::Part) with a vector count of 1, 2 or 3. Nearly all tiles have three vectors, so that
/// part is inlined, and the other two are called.
macro_rules! with_vectors_called {
    ($nv:expr, $v:ty, $isa:expr, $tile:ident::<$t:ty, _, $rows:ident $(, $more:ident)?> $fields:tt) => {
        match $nv {
            1 => <$v>::call($isa, $tile::<$t, 1, $rows $(, $more)?> $fields),
            2 => <$v>::call($isa, $tile::<$t, 2, $rows $(, $more)?> $fields),
            _ => crate::simd::Part::<$v>::run($tile::<$t, 3, $rows $(, $more)?> $fields, $isa),
        }
    };
}
pub(crate) use with_vectors_called;
