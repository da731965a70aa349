//! Level 1 of the BLAS, with Fortran's and C's interface: vectors with vectors.
//!
//! Nothing here is checked, as in the reference: vectors of less than one element are nothing.
//!
//! What every routine trusts: each address is that of a vector of n elements so far apart, which nobody else writes
//! during the call. A program may overlap two vectors of one call, as where it moves one by some elements: the kernels
//! read and write single elements by address, and make no slices.

use crate::{
    abi::{Int, Real, Routines, Scalar, Size, VecRef, vector, vector_mut},
    engine::is_shared_stream,
    parts::{self, Parts, traffic},
};
use superscalar::kernels::cpu::{self, ModifiedRotation};
use superscalar_macros::{blas, cblas, fortran};

/// x and y, exchanged.
///
/// # Safety
/// The module's.
#[blas(s, d, c, z)]
unsafe fn swap<T: Routines>(n: Size, x: *mut T, incx: Size, y: *mut T, incy: Size) {
    // SAFETY: the caller promises of these addresses what the module's head says.
    let (x, y) = unsafe { (vector_mut(x, n, incx), vector_mut(y, n, incy)) };
    cpu::swap(x, y);
}

/// x := alpha x.
///
/// # Safety
/// The module's.
#[blas(s, d, c, z)]
unsafe fn scal<T: Routines>(n: Size, alpha: T, x: *mut T, incx: Size) {
    // A complex product with one would make NaN of the other part of an infinite number.
    if incx.is_forward() && alpha != T::ONE {
        // SAFETY: the caller promises of these addresses what the module's head says.
        let x = unsafe { vector_mut(x, n, incx) };
        let parts = Parts::of(x.len(), traffic::<T>(x.len(), x.inc()));
        parts::compute(parts, "scal", x, |x| cpu::scal(alpha, x));
    }
}

/// The same by a real number.
///
/// # Safety
/// The module's.
#[blas(c = "csscal", z = "zdscal")]
unsafe fn scal_real<T: Routines>(n: Size, alpha: T::Real, x: *mut T, incx: Size) {
    if incx.is_forward() {
        // SAFETY: the caller promises of these addresses what the module's head says.
        cpu::scal_real(alpha, unsafe { vector_mut(x, n, incx) });
    }
}

/// y := x.
///
/// # Safety
/// The module's.
#[blas(s, d, c, z)]
unsafe fn copy<T: Routines>(n: Size, x: *const T, incx: Size, y: *mut T, incy: Size) {
    // SAFETY: the caller promises of these addresses what the module's head says.
    let (x, y) = unsafe { (vector(x, n, incx), vector_mut(y, n, incy)) };
    parts::compute(parts_of_two(x, y.as_ref()), "copy", (x, y), |(x, y)| cpu::copy(x, y));
}

/// y := alpha x + y.
///
/// # Safety
/// The module's.
#[blas(s, d, c, z)]
unsafe fn axpy<T: Routines>(n: Size, alpha: T, x: *const T, incx: Size, y: *mut T, incy: Size) {
    // SAFETY: the caller promises of these addresses what the module's head says.
    let (x, y) = unsafe { (vector(x, n, incx), vector_mut(y, n, incy)) };
    parts::compute(parts_of_two(x, y.as_ref()), "axpy", (x, y), |(x, y)| cpu::axpy(alpha, x, y));
}

fn traffic_of_two<T>(x: VecRef<'_, T>, y: VecRef<'_, T>) -> usize {
    traffic::<T>(x.len(), x.inc()).saturating_add(traffic::<T>(y.len(), y.inc()))
}

/// The parts of two vectors, of which the second is written. The calling thread computes where the order of elements
/// can matter: all elements of y are one, or the vectors overlap, as where one moves a vector by some elements.
fn parts_of_two<T: Routines>(x: VecRef<'_, T>, y: VecRef<'_, T>) -> Option<Parts> {
    let bytes = traffic_of_two(x, y);
    if !is_shared_stream(bytes) || y.inc() == 0 {
        return None;
    }
    let ends = |v: VecRef<'_, T>| {
        let (first, last) = (v.as_ptr(), v.as_ptr().wrapping_offset(v.len().saturating_sub(1) as isize * v.inc()));
        (first.min(last), first.max(last))
    };
    let ((x_first, x_last), (y_first, y_last)) = (ends(x), ends(y));
    let overlap = x_first <= y_last && y_first <= x_last;
    if overlap { None } else { Parts::of(x.len(), bytes) }
}

/// The sum of products of elements, on several threads if the vectors are long.
fn inner<T: Routines>(
    x: VecRef<'_, T>,
    y: VecRef<'_, T>,
    of: impl Fn(VecRef<'_, T>, VecRef<'_, T>) -> T + Send + Sync,
) -> T {
    let Some(parts) = Parts::of(x.len(), traffic_of_two(x, y)) else { return of(x, y) };
    let sums = parts.each("dot", (x, y), |(x, y)| Some(of(x, y)));
    sums.into_iter().flatten().fold(T::ZERO, |sum, part| sum + part)
}

/// y := alpha x + beta y.
///
/// # Safety
/// The module's.
#[blas(s, d, c, z)]
unsafe fn axpby<T: Routines>(n: Size, alpha: T, x: *const T, incx: Size, beta: T, y: *mut T, incy: Size) {
    // SAFETY: the caller promises of these addresses what the module's head says.
    let (x, y) = unsafe { (vector(x, n, incx), vector_mut(y, n, incy)) };
    cpu::axpby(alpha, x, beta, y);
}

/// xᵀ y.
///
/// # Safety
/// The module's.
#[blas(s = "sdot", d = "ddot")]
unsafe fn dot<T: Routines>(n: Size, x: *const T, incx: Size, y: *const T, incy: Size) -> T {
    // SAFETY: the caller promises of these addresses what the module's head says.
    inner(unsafe { vector(x, n, incx) }, unsafe { vector(y, n, incy) }, cpu::dotu)
}

/// xᵀ y, of complex vectors.
///
/// # Safety
/// The module's.
#[fortran(c, z)]
unsafe fn dotu<T: Routines>(n: Size, x: *const T, incx: Size, y: *const T, incy: Size) -> T {
    // SAFETY: the caller promises of these addresses what the module's head says.
    inner(unsafe { vector(x, n, incx) }, unsafe { vector(y, n, incy) }, cpu::dotu)
}

/// xᴴ y.
///
/// # Safety
/// The module's.
#[fortran(c, z)]
unsafe fn dotc<T: Routines>(n: Size, x: *const T, incx: Size, y: *const T, incy: Size) -> T {
    // SAFETY: the caller promises of these addresses what the module's head says.
    inner(unsafe { vector(x, n, incx) }, unsafe { vector(y, n, incy) }, cpu::dotc)
}

/// C's interface returns no complex numbers: xᵀ y goes to an address.
///
/// # Safety
/// The module's; the result may be written.
#[cblas(c, z)]
unsafe fn dotu_sub<T: Routines>(n: Size, x: *const T, incx: Size, y: *const T, incy: Size, result: *mut T) {
    // SAFETY: the caller promises of these addresses what the module's head says.
    unsafe { result.write(dotu(n, x, incx, y, incy)) }
}

/// So does xᴴ y.
///
/// # Safety
/// The module's; the result may be written.
#[cblas(c, z)]
unsafe fn dotc_sub<T: Routines>(n: Size, x: *const T, incx: Size, y: *const T, incy: Size, result: *mut T) {
    // SAFETY: the caller promises of these addresses what the module's head says.
    unsafe { result.write(dotc(n, x, incx, y, incy)) }
}

/// xᵀ y of single precision, added in double.
///
/// # Safety
/// The module's.
#[blas(s = "dsdot")]
unsafe fn dot_in_double<T: Single>(n: Size, x: *const T, incx: Size, y: *const T, incy: Size) -> f64 {
    // SAFETY: the caller promises of these addresses what the module's head says.
    cpu::dsdot(unsafe { vector(x.cast::<f32>(), n, incx) }, unsafe { vector(y.cast::<f32>(), n, incy) })
}

/// b + xᵀ y, added in double precision.
///
/// # Safety
/// The module's.
#[blas(s = "sdsdot")]
unsafe fn sum_in_double<T: Single>(n: Size, b: T, x: *const T, incx: Size, y: *const T, incy: Size) -> f32 {
    // SAFETY: the caller promises of these addresses what the module's head says.
    let (x, y) = unsafe { (vector(x.cast::<f32>(), n, incx), vector(y.cast::<f32>(), n, incy)) };
    cpu::sdsdot(b.into(), x, y)
}

/// What is single precision: `f32`.
trait Single: Into<f32> {}

impl Single for f32 {}

/// ‖x‖₂.
///
/// # Safety
/// The module's.
#[blas(s, d, c = "scnrm2", z = "dznrm2")]
unsafe fn nrm2<T: Routines>(n: Size, x: *const T, incx: Size) -> T::Real {
    // SAFETY: the caller promises of these addresses what the module's head says.
    cpu::nrm2(unsafe { vector(x, n, incx) })
}

/// The sum of |re| + |im|.
///
/// # Safety
/// The module's.
#[blas(s, d, c = "scasum", z = "dzasum")]
unsafe fn asum<T: Routines>(n: Size, x: *const T, incx: Size) -> T::Real {
    if !incx.is_forward() {
        return T::Real::ZERO;
    }
    // SAFETY: the caller promises of these addresses what the module's head says.
    cpu::asum(unsafe { vector(x, n, incx) })
}

/// The first of the elements with the largest |re| + |im|, counted from one; zero of a vector that is nothing.
///
/// # Safety
/// The module's.
#[fortran(s = "isamax", d = "idamax", c = "icamax", z = "izamax")]
unsafe fn iamax<T: Routines, I: Int>(n: Size, x: *const T, incx: Size) -> I {
    if n < Size::ONE || !incx.is_forward() {
        return I::narrow(0);
    }
    // SAFETY: the caller promises of these addresses what the module's head says.
    I::narrow(cpu::iamax(unsafe { vector(x, n, incx) }) as i64)
}

/// The same, counted from zero. Its type is C's `size_t` in both widths, as in the reference: callers read all of the
/// register.
///
/// # Safety
/// The module's.
#[cblas(s = "isamax", d = "idamax", c = "icamax", z = "izamax")]
unsafe fn iamax_from_zero<T: Routines>(n: Size, x: *const T, incx: Size) -> usize {
    // SAFETY: the caller promises of these addresses what the module's head says.
    let from_one: i64 = unsafe { iamax(n, x, incx) };
    from_one.saturating_sub(1).max(0) as usize
}

/// x and y, turned: c x + s y, c y − s x.
///
/// # Safety
/// The module's.
#[blas(s, d, c = "csrot", z = "zdrot")]
unsafe fn rot<T: Routines>(n: Size, x: *mut T, incx: Size, y: *mut T, incy: Size, c: T::Real, s: T::Real) {
    // SAFETY: the caller promises of these addresses what the module's head says.
    let (x, y) = unsafe { (vector_mut(x, n, incx), vector_mut(y, n, incy)) };
    cpu::rot(x, y, c, s);
}

/// The rotation that takes (a, b) to (r, 0); a becomes r, and a real b what c and s can be made of again.
///
/// # Safety
/// All addresses are those of a number.
#[blas(s, d, c, z)]
unsafe fn rotg<T: Routines>(a: *mut T, b: *mut T, c: *mut T::Real, s: *mut T) {
    // SAFETY: the caller promises of these addresses what the module's head says.
    unsafe {
        let found = cpu::rotg(a.read(), b.read());
        a.write(found.r);
        c.write(found.c);
        s.write(found.s);
        if !T::COMPLEX {
            b.write(found.z);
        }
    }
}

/// x and y, turned by a modified rotation.
///
/// # Safety
/// The module's; there are five numbers at `param`.
#[blas(s, d)]
unsafe fn rotm<T: Routines + Real>(n: Size, x: *mut T, incx: Size, y: *mut T, incy: Size, param: *const T) {
    // SAFETY: the caller promises of these addresses what the module's head says.
    let (x, y, param) = unsafe { (vector_mut(x, n, incx), vector_mut(y, n, incy), &*param.cast::<[T; 5]>()) };
    cpu::rotm(x, y, ModifiedRotation::from_param(param));
}

/// The modified rotation that makes the second component of (√d1 x1, √d2 y1) zero.
///
/// # Safety
/// All addresses are those of a number, `param` that of five.
#[blas(s, d)]
unsafe fn rotmg<T: Routines + Real>(d1: *mut T, d2: *mut T, x1: *mut T, y1: T, param: *mut T) {
    // SAFETY: the caller's promise; they are apart.
    unsafe {
        let found = cpu::rotmg(&mut *d1, &mut *d2, &mut *x1, y1);
        found.write_param(&mut *param.cast::<[T; 5]>());
    }
}
