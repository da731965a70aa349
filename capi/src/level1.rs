//! Level 1 of the BLAS, vector operations, with Fortran's and C's interface.
//!
//! As in the reference, arguments are not checked, and a vector with n < 1 is empty.
//!
//! # Requirements
//!
//! Each address is that of a vector of n elements with the given increment, and no other thread writes it during the
//! call. Two vectors of one call may overlap, for example to move a vector by some elements: the kernels access single
//! elements by address, without slices.

use crate::{
    abi::{DlaScalar, Int, Real, Scalar, Size, VecRef, vector, vector_mut},
    engine::is_parallel_stream,
    streaming::{self, ParallelRanges, traffic},
};
use superscalar::kernels::cpu::{self, ModifiedRotation};
use superscalar_macros::{blas, cblas, fortran};

/// Exchanges x and y.
///
/// # Safety
/// The addresses satisfy the requirements in the module documentation.
#[blas(s, d, c, z)]
unsafe fn swap<T: DlaScalar>(n: Size, x: *mut T, incx: Size, y: *mut T, incy: Size) {
    // SAFETY: by the module's requirements the vectors are valid, and no other thread writes them during the call.
    let (x, y) = unsafe { (vector_mut(x, n, incx), vector_mut(y, n, incy)) };
    cpu::swap(x, y);
}

/// x := alpha x.
///
/// # Safety
/// The addresses satisfy the requirements in the module documentation.
#[blas(s, d, c, z)]
unsafe fn scal<T: DlaScalar>(n: Size, alpha: T, x: *mut T, incx: Size) {
    // A complex product with one would turn the finite part of an infinite number into NaN.
    if incx.is_forward() && alpha != T::ONE {
        // SAFETY: by the module's requirements the vectors are valid, and no other thread writes them during the call.
        let x = unsafe { vector_mut(x, n, incx) };
        let ranges = ParallelRanges::of(x.len(), traffic::<T>(x.len(), x.inc()));
        streaming::compute(ranges, "scal", x, |x| cpu::scal(alpha, x));
    }
}

/// x := alpha x for a real alpha and a complex x.
///
/// # Safety
/// The addresses satisfy the requirements in the module documentation.
#[blas(c = "csscal", z = "zdscal")]
unsafe fn scal_real<T: DlaScalar>(n: Size, alpha: T::Real, x: *mut T, incx: Size) {
    if incx.is_forward() {
        // SAFETY: by the module's requirements the vectors are valid, and no other thread writes them during the call.
        cpu::scal_real(alpha, unsafe { vector_mut(x, n, incx) });
    }
}

/// y := x.
///
/// # Safety
/// The addresses satisfy the requirements in the module documentation.
#[blas(s, d, c, z)]
unsafe fn copy<T: DlaScalar>(n: Size, x: *const T, incx: Size, y: *mut T, incy: Size) {
    // SAFETY: by the module's requirements the vectors are valid, and no other thread writes them during the call.
    let (x, y) = unsafe { (vector(x, n, incx), vector_mut(y, n, incy)) };
    streaming::compute(ranges_of_two(x, y.as_ref()), "copy", (x, y), |(x, y)| cpu::copy(x, y));
}

/// y := alpha x + y.
///
/// # Safety
/// The addresses satisfy the requirements in the module documentation.
#[blas(s, d, c, z)]
unsafe fn axpy<T: DlaScalar>(n: Size, alpha: T, x: *const T, incx: Size, y: *mut T, incy: Size) {
    // SAFETY: by the module's requirements the vectors are valid, and no other thread writes them during the call.
    let (x, y) = unsafe { (vector(x, n, incx), vector_mut(y, n, incy)) };
    streaming::compute(ranges_of_two(x, y.as_ref()), "axpy", (x, y), |(x, y)| cpu::axpy(alpha, x, y));
}

fn traffic_of_two<T>(x: VecRef<'_, T>, y: VecRef<'_, T>) -> usize {
    traffic::<T>(x.len(), x.inc()).saturating_add(traffic::<T>(y.len(), y.inc()))
}

/// Returns the ranges of an operation on two vectors that writes y. Returns `None`, for the calling thread, if the
/// order of the elements can matter: y has increment zero, or the vectors overlap.
fn ranges_of_two<T: DlaScalar>(x: VecRef<'_, T>, y: VecRef<'_, T>) -> Option<ParallelRanges> {
    let bytes = traffic_of_two(x, y);
    if !is_parallel_stream(bytes) || y.inc() == 0 {
        return None;
    }
    let ends = |v: VecRef<'_, T>| {
        let (first, last) = (v.as_ptr(), v.as_ptr().wrapping_offset(v.len().saturating_sub(1) as isize * v.inc()));
        (first.min(last), first.max(last))
    };
    let ((x_first, x_last), (y_first, y_last)) = (ends(x), ends(y));
    let overlap = x_first <= y_last && y_first <= x_last;
    if overlap { None } else { ParallelRanges::of(x.len(), bytes) }
}

/// Computes an inner product with `of`, on several threads if the vectors are long.
fn inner<T: DlaScalar>(
    x: VecRef<'_, T>,
    y: VecRef<'_, T>,
    of: impl Fn(VecRef<'_, T>, VecRef<'_, T>) -> T + Send + Sync,
) -> T {
    let Some(ranges) = ParallelRanges::of(x.len(), traffic_of_two(x, y)) else { return of(x, y) };
    let sums = ranges.map("dot", (x, y), |(x, y)| Some(of(x, y)));
    sums.into_iter().flatten().fold(T::ZERO, |sum, part| sum + part)
}

/// y := alpha x + beta y.
///
/// # Safety
/// The addresses satisfy the requirements in the module documentation.
#[blas(s, d, c, z)]
unsafe fn axpby<T: DlaScalar>(n: Size, alpha: T, x: *const T, incx: Size, beta: T, y: *mut T, incy: Size) {
    // SAFETY: by the module's requirements the vectors are valid, and no other thread writes them during the call.
    let (x, y) = unsafe { (vector(x, n, incx), vector_mut(y, n, incy)) };
    cpu::axpby(alpha, x, beta, y);
}

/// Returns xᵀ y.
///
/// # Safety
/// The addresses satisfy the requirements in the module documentation.
#[blas(s = "sdot", d = "ddot")]
unsafe fn dot<T: DlaScalar>(n: Size, x: *const T, incx: Size, y: *const T, incy: Size) -> T {
    // SAFETY: by the module's requirements the vectors are valid, and no other thread writes them during the call.
    inner(unsafe { vector(x, n, incx) }, unsafe { vector(y, n, incy) }, cpu::dotu)
}

/// Returns xᵀ y of complex vectors.
///
/// # Safety
/// The addresses satisfy the requirements in the module documentation.
#[fortran(c, z)]
unsafe fn dotu<T: DlaScalar>(n: Size, x: *const T, incx: Size, y: *const T, incy: Size) -> T {
    // SAFETY: by the module's requirements the vectors are valid, and no other thread writes them during the call.
    inner(unsafe { vector(x, n, incx) }, unsafe { vector(y, n, incy) }, cpu::dotu)
}

/// Returns xᴴ y.
///
/// # Safety
/// The addresses satisfy the requirements in the module documentation.
#[fortran(c, z)]
unsafe fn dotc<T: DlaScalar>(n: Size, x: *const T, incx: Size, y: *const T, incy: Size) -> T {
    // SAFETY: by the module's requirements the vectors are valid, and no other thread writes them during the call.
    inner(unsafe { vector(x, n, incx) }, unsafe { vector(y, n, incy) }, cpu::dotc)
}

/// Writes xᵀ y to `result`, since C's interface returns no complex numbers.
///
/// # Safety
/// The addresses satisfy the requirements in the module documentation; `result` may be written.
#[cblas(c, z)]
unsafe fn dotu_sub<T: DlaScalar>(n: Size, x: *const T, incx: Size, y: *const T, incy: Size, result: *mut T) {
    // SAFETY: by the module's requirements the vectors are valid, and no other thread writes them during the call.
    unsafe { result.write(dotu(n, x, incx, y, incy)) }
}

/// Writes xᴴ y to `result`, since C's interface returns no complex numbers.
///
/// # Safety
/// The addresses satisfy the requirements in the module documentation; `result` may be written.
#[cblas(c, z)]
unsafe fn dotc_sub<T: DlaScalar>(n: Size, x: *const T, incx: Size, y: *const T, incy: Size, result: *mut T) {
    // SAFETY: by the module's requirements the vectors are valid, and no other thread writes them during the call.
    unsafe { result.write(dotc(n, x, incx, y, incy)) }
}

/// Returns xᵀ y of single-precision vectors, summed in double precision.
///
/// # Safety
/// The addresses satisfy the requirements in the module documentation.
#[blas(s = "dsdot")]
unsafe fn dot_in_double<T: Single>(n: Size, x: *const T, incx: Size, y: *const T, incy: Size) -> f64 {
    // SAFETY: by the module's requirements the vectors are valid, and no other thread writes them during the call.
    cpu::dsdot(unsafe { vector(x.cast::<f32>(), n, incx) }, unsafe { vector(y.cast::<f32>(), n, incy) })
}

/// Returns b + xᵀ y of single-precision vectors, summed in double precision.
///
/// # Safety
/// The addresses satisfy the requirements in the module documentation.
#[blas(s = "sdsdot")]
unsafe fn sum_in_double<T: Single>(n: Size, b: T, x: *const T, incx: Size, y: *const T, incy: Size) -> f32 {
    // SAFETY: by the module's requirements the vectors are valid, and no other thread writes them during the call.
    let (x, y) = unsafe { (vector(x.cast::<f32>(), n, incx), vector(y.cast::<f32>(), n, incy)) };
    cpu::sdsdot(b.into(), x, y)
}

/// The single-precision type, `f32`.
trait Single: Into<f32> {}

impl Single for f32 {}

/// Returns ‖x‖₂.
///
/// # Safety
/// The addresses satisfy the requirements in the module documentation.
#[blas(s, d, c = "scnrm2", z = "dznrm2")]
unsafe fn nrm2<T: DlaScalar>(n: Size, x: *const T, incx: Size) -> T::Real {
    // SAFETY: by the module's requirements the vectors are valid, and no other thread writes them during the call.
    cpu::nrm2(unsafe { vector(x, n, incx) })
}

/// Returns the sum of |re| + |im| over the elements.
///
/// # Safety
/// The addresses satisfy the requirements in the module documentation.
#[blas(s, d, c = "scasum", z = "dzasum")]
unsafe fn asum<T: DlaScalar>(n: Size, x: *const T, incx: Size) -> T::Real {
    if !incx.is_forward() {
        return T::Real::ZERO;
    }
    // SAFETY: by the module's requirements the vectors are valid, and no other thread writes them during the call.
    cpu::asum(unsafe { vector(x, n, incx) })
}

/// Returns the index, counted from one, of the first element with the largest |re| + |im|, or 0 for an empty vector.
///
/// # Safety
/// The addresses satisfy the requirements in the module documentation.
#[fortran(s = "isamax", d = "idamax", c = "icamax", z = "izamax")]
unsafe fn iamax<T: DlaScalar, I: Int>(n: Size, x: *const T, incx: Size) -> I {
    if n < Size::ONE || !incx.is_forward() {
        return I::narrow(0);
    }
    // SAFETY: by the module's requirements the vectors are valid, and no other thread writes them during the call.
    I::narrow(cpu::iamax(unsafe { vector(x, n, incx) }) as i64)
}

/// Returns the index, counted from zero, of the first element with the largest |re| + |im|. As in the reference, the
/// type is C's `size_t` in both interfaces, since callers read the whole register.
///
/// # Safety
/// The addresses satisfy the requirements in the module documentation.
#[cblas(s = "isamax", d = "idamax", c = "icamax", z = "izamax")]
unsafe fn iamax_from_zero<T: DlaScalar>(n: Size, x: *const T, incx: Size) -> usize {
    // SAFETY: by the module's requirements the vectors are valid, and no other thread writes them during the call.
    let from_one: i64 = unsafe { iamax(n, x, incx) };
    from_one.saturating_sub(1).max(0) as usize
}

/// Applies a plane rotation: x := c x + s y, y := c y − s x.
///
/// # Safety
/// The addresses satisfy the requirements in the module documentation.
#[blas(s, d, c = "csrot", z = "zdrot")]
unsafe fn rot<T: DlaScalar>(n: Size, x: *mut T, incx: Size, y: *mut T, incy: Size, c: T::Real, s: T::Real) {
    // SAFETY: by the module's requirements the vectors are valid, and no other thread writes them during the call.
    let (x, y) = unsafe { (vector_mut(x, n, incx), vector_mut(y, n, incy)) };
    cpu::rot(x, y, c, s);
}

/// Computes the rotation that takes (a, b) to (r, 0). Overwrites a with r, and a real b with a value from which c and s
/// can be computed.
///
/// # Safety
/// Each address is that of a number that may be read and written.
#[blas(s, d, c, z)]
unsafe fn rotg<T: DlaScalar>(a: *mut T, b: *mut T, c: *mut T::Real, s: *mut T) {
    // SAFETY: by the module's requirements the vectors are valid, and no other thread writes them during the call.
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

/// Applies a modified rotation to x and y.
///
/// # Safety
/// The addresses satisfy the requirements in the module documentation; `param` has five elements.
#[blas(s, d)]
unsafe fn rotm<T: DlaScalar + Real>(n: Size, x: *mut T, incx: Size, y: *mut T, incy: Size, param: *const T) {
    // SAFETY: by the module's requirements the vectors are valid, and no other thread writes them during the call.
    let (x, y, param) = unsafe { (vector_mut(x, n, incx), vector_mut(y, n, incy), &*param.cast::<[T; 5]>()) };
    cpu::rotm(x, y, ModifiedRotation::from_param(param));
}

/// Computes the modified rotation that makes the second component of (√d1 x1, √d2 y1) zero.
///
/// # Safety
/// Each address is that of a number that may be read and written, `param` that of five. They do not overlap.
#[blas(s, d)]
unsafe fn rotmg<T: DlaScalar + Real>(d1: *mut T, d2: *mut T, x1: *mut T, y1: T, param: *mut T) {
    // SAFETY: the caller passes addresses of distinct numbers, and nothing else accesses them during the call.
    unsafe {
        let found = cpu::rotmg(&mut *d1, &mut *d2, &mut *x1, y1);
        found.write_param(&mut *param.cast::<[T; 5]>());
    }
}
