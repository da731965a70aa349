//! The register tile: the one inner loop that every kernel spends its time in.
//!
//! A tile is `ROWS` x `NV` vectors. Vectors run along the *lanes*: the rows of C in a product, the right-hand sides of
//! a triangular solve. What is broadcast runs along `ROWS`: the columns of C, the rows of the triangle. Complex numbers
//! are kept as a plane of real and a plane of imaginary parts, so that a complex multiply-add is four real ones and no
//! shuffle. For a real type the second plane is never touched and costs nothing.
//!
//! With AVX-512 the tile is 8 x 3 vectors: 24 accumulators, fed by 3 loads and 8 broadcasts per 24 multiply-adds.

use crate::Scalar;
use crate::simd::Vector;
use crate::vector::planes::{planes, scalar};

/// Accumulators: `[row][vector][plane]`.
pub(crate) type Tile<V, const NV: usize, const ROWS: usize> = [[[V; 2]; NV]; ROWS];

/// A packed operand: at step p the real parts start at `ptr + p * step` and the imaginary ones `plane` further on.
#[derive(Clone, Copy)]
pub(crate) struct Stream<R> {
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

/// What runs along the lanes of a register tile, and what is broadcast along its rows.
pub(crate) type Streams<R> = (Stream<R>, Stream<R>);

/// A tile of zeros.
#[inline(always)]
pub(crate) fn zero<T, V, const NV: usize, const ROWS: usize>(isa: V::Isa) -> Tile<V, NV, ROWS>
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    [[[V::splat(isa, T::Real::ZERO); 2]; NV]; ROWS]
}

/// acc[r] -= b[p][r] x[p], or with the conjugate of b, summed over `depth` steps p.
///
/// # Safety
/// For p < depth, `x` holds NV vectors per plane and `b` holds ROWS reals per plane.
#[inline(always)]
pub(crate) unsafe fn eliminate<T, V, const NV: usize, const ROWS: usize>(
    acc: &mut Tile<V, NV, ROWS>,
    depth: usize,
    x: Stream<T::Real>,
    b: Stream<T::Real>,
    conj: bool,
) where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    // SAFETY: both streams hold `depth` steps, whichever loop takes them.
    unsafe {
        match as_packed::<T, V, NV, ROWS>(x, b) {
            Some(streams) => eliminate_packed::<T, V, NV, ROWS>(acc, depth, streams, x.ptr.cast(), conj),
            None => eliminate_across::<T, V, NV, ROWS>(acc, depth, (x, b), 1, conj),
        }
    }
}

/// The same for streams that are [`as_packed`]. Lines of `next` are asked for on the way, one in four steps.
///
/// # Safety
/// As for [`eliminate`]; the streams are what [`as_packed`] gave for this tile.
#[inline(always)]
pub(crate) unsafe fn eliminate_packed<T, V, const NV: usize, const ROWS: usize>(
    acc: &mut Tile<V, NV, ROWS>,
    depth: usize,
    (x, b): Streams<T::Real>,
    next: *const u8,
    conj: bool,
) where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    // SAFETY: both streams hold `depth` steps of the distances that `as_packed` compared: `done` of them, and the rest.
    unsafe {
        let done = V::eliminate::<NV, ROWS>(acc, depth, (x.ptr, b.ptr), next, (T::COMPLEX, conj));
        let rest = (x.offset(done * x.step), b.offset(done * b.step));
        eliminate_across::<T, V, NV, ROWS>(acc, depth - done, rest, 1, conj);
    }
}

/// The same streams, with distances that are constants, if these are those of panels no wider than the tile: their
/// steps then take no instructions but loads and multiply-adds. (A core with two units for those has no place for
/// more.)
#[inline(always)]
pub(crate) fn as_packed<T, V, const NV: usize, const ROWS: usize>(
    x: Stream<T::Real>,
    b: Stream<T::Real>,
) -> Option<Streams<T::Real>>
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    let of = |ptr, width| Stream { ptr, step: width * planes::<T>(), plane: width };
    let (known_x, known_b) = (of(x.ptr, NV * V::LANES), of(b.ptr, ROWS));
    let same = |s: Stream<T::Real>, t: Stream<T::Real>| s.step == t.step && (!T::COMPLEX || s.plane == t.plane);
    (same(x, known_x) && same(b, known_b)).then_some((known_x, known_b))
}

/// The same where the rows of b are `across` reals apart.
///
/// # Safety
/// For p < depth, `x` holds NV vectors per plane and `b` holds ROWS reals per plane, `across` reals apart.
#[inline(always)]
pub(crate) unsafe fn eliminate_across<T, V, const NV: usize, const ROWS: usize>(
    acc: &mut Tile<V, NV, ROWS>,
    depth: usize,
    (mut x, mut b): Streams<T::Real>,
    across: usize,
    conj: bool,
) where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    // Four steps of a real type one behind the other; a complex one leaves no register for that.
    let together = if T::COMPLEX { 1 } else { 4 };
    // SAFETY: the streams move by one step at a time, or four, and hold `depth` of them.
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

/// One step of it.
///
/// # Safety
/// `x` holds NV vectors per plane, and `b` ROWS reals per plane, `across` reals apart.
#[inline(always)]
unsafe fn step<T, V, const NV: usize, const ROWS: usize>(
    acc: &mut Tile<V, NV, ROWS>,
    x: Stream<T::Real>,
    b: Stream<T::Real>,
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

/// NV vectors of each plane.
///
/// # Safety
/// They are there, one behind the other, the second plane `plane` reals behind the first.
#[inline(always)]
pub(crate) unsafe fn load<T, V, const NV: usize>(isa: V::Isa, from: *const T::Real, plane: usize) -> [[V; 2]; NV]
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    // SAFETY: vector v of NV begins v LANES behind the first of its plane.
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

/// The counterpart of [`load`].
///
/// # Safety
/// There is room for them.
#[inline(always)]
pub(crate) unsafe fn store<T, V, const NV: usize>(row: &[[V; 2]; NV], to: *mut T::Real, plane: usize)
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    for (v, x) in row.iter().enumerate() {
        // SAFETY: vector v of NV goes v LANES behind the first of its plane, for all of which there is room.
        unsafe {
            x[0].store(to.add(v * V::LANES));
            if T::COMPLEX {
                x[1].store(to.add(plane + v * V::LANES));
            }
        }
    }
}

/// row -= b x, or conj(b) x: a sign chosen where the imaginary part is used costs nothing.
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

/// row = b row.
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

/// acc = x acc.
#[inline(always)]
pub(crate) fn scale<T, V, const NV: usize, const ROWS: usize>(acc: &mut Tile<V, NV, ROWS>, x: T)
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    for row in acc.iter_mut() {
        // A real x times an infinite part must not make NaN of the other one.
        match T::COMPLEX && x.im() != T::Real::ZERO {
            true => multiply::<T, V, NV>(row, x),
            false => scale_row::<T, V, NV>(row, x.re()),
        }
    }
}

/// row = x row.
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

/// ROWS rows of lanes, `step` reals apart.
///
/// # Safety
/// They are there, each as for [`load`].
#[inline(always)]
pub(crate) unsafe fn load_tile<T, V, const NV: usize, const ROWS: usize>(
    isa: V::Isa,
    x: Stream<T::Real>,
) -> Tile<V, NV, ROWS>
where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    // SAFETY: row r of ROWS begins r steps behind the first.
    unsafe {
        let mut acc = zero::<T, V, NV, ROWS>(isa);
        for (r, row) in acc.iter_mut().enumerate() {
            *row = load::<T, V, NV>(isa, x.ptr.add(r * x.step), x.plane);
        }
        acc
    }
}

/// The counterpart of [`load_tile`].
///
/// # Safety
/// There is room for them, and they may be written.
#[inline(always)]
pub(crate) unsafe fn store_tile<T, V, const NV: usize, const ROWS: usize>(
    acc: &Tile<V, NV, ROWS>,
    to: *mut T::Real,
    step: usize,
    plane: usize,
) where
    T: Scalar,
    V: Vector<Real = T::Real>,
{
    for (r, x) in acc.iter().enumerate() {
        // SAFETY: row r of ROWS goes r steps behind the first, for all of which there is room.
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

/// The same for a [`Part`](crate::simd::Part). Nearly all tiles have three vectors: that part is inlined where this
/// stands, and the other two are called.
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
