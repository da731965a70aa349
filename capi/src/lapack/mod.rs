//! The routines of LAPACK, with Fortran's interface and C's interface (LAPACKE).
//!
//! One function implements a routine for both interfaces; an [`Interface`] states which one called it. Positions of
//! arguments are those of Fortran; LAPACKE's are one more, since its first argument is the layout.
//!
//! The kernels allocate their own workspaces. Only gecon and pocon use the caller's workspace, whose content is a
//! result. A workspace query returns the smallest size that the reference accepts.
//!
//! # Requirements
//!
//! Each address is that of a matrix, vector or workspace with the sizes in the arguments; one without elements may have
//! any address. Nothing else writes the operands during the call, nothing else reads those that are written, and these
//! do not overlap others.

/// Runs a routine: the function of `dla` with this name and arguments on the engine if the number of multiplications is
/// large enough, else the given function of the kernels or of `dla::serial` on this thread.
macro_rules! solve {
    ($multiplications:expr, $module:ident::$name:ident($($argument:expr),*)) => {
        match crate::engine::engine_for_product(crate::lapack::multiplications($multiplications)) {
            None => crate::lapack::IntoInfo::into_info($module::$name($($argument),*)),
            Some(engine) => {
                let outcome = superscalar::dla::$name(&engine.runtime, $($argument,)* &engine.options);
                crate::lapack::IntoInfo::into_info(outcome)
            }
        }
    };
}

mod cholesky;
mod lu;
mod mixed;
mod norms;
mod qr;

pub(crate) use qr::adjoint;

use crate::abi::{
    Checked, Code, Failure, Int, Layout, MatMut, MatRef, Scalar, Size, Solved, Uplo, check, matrix, matrix_mut,
};
use std::ops::Range;
use superscalar::{
    dla,
    kernels::{Real, try_zeros},
};

/// The interface by which a routine was called.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Interface {
    layout: Layout,
    /// Whether NaN in an input is an error, as in LAPACKE's high-level functions.
    refuses_nan: bool,
}

impl Interface {
    pub(crate) const FORTRAN: Self = Self { layout: Layout::ColMajor, refuses_nan: false };

    /// Returns the interface of a LAPACKE call, or `None` if the layout is not valid.
    pub(crate) fn lapacke(layout: Code, refuses_nan: bool) -> Option<Self> {
        layout.layout().map(|layout| Self { layout, refuses_nan })
    }

    /// Returns whether `ld` is a valid leading dimension of an m x n matrix. As in the reference, that of a row-major
    /// matrix without columns may be 0.
    fn spans(self, ld: Size, (m, n): (Size, Size)) -> bool {
        if self.layout == Layout::ColMajor { ld.spans(m) } else { ld >= n }
    }

    /// Returns an error for the first wrong argument in the reference's order: for a row-major call, leading dimensions
    /// are checked before the other arguments. A leading dimension is given with its position and the shape of its
    /// matrix, another argument as its position and its condition.
    fn check(self, leading: &[(i32, Size, (Size, Size))], others: &[(i32, bool)]) -> Checked {
        let leading = leading.iter().find(|&&(_, ld, shape)| !self.spans(ld, shape));
        let leading = leading.map_or(Ok(()), |&(at, ..)| check(&[(at, false)]));
        match (leading, check(others)) {
            (Err(leading), Err(other)) if self.layout == Layout::ColMajor && other.position < leading.position => {
                Err(other)
            }
            (leading, others) => leading.and(others),
        }
    }

    /// Returns the matrix argument at position `at`, as a column-major copy if the call is row-major. `stored` are the
    /// elements that are read.
    ///
    /// # Safety
    /// While the result exists, the elements are valid for reading and nothing else writes them; if the result is
    /// written, they are valid for writing and nothing else accesses them. `ld` is valid for the shape.
    unsafe fn matrix<T: Scalar>(
        self,
        at: i32,
        stored: Elements,
        shape: (Size, Size),
        (address, ld): (*const T, Size),
    ) -> Result<LapackMatrix<T>, Failure> {
        let by_rows = self.layout == Layout::RowMajor;
        // The leading dimension of no columns may be 0, which no view has.
        let operand = LapackMatrix { address: address.cast_mut(), shape, ld: ld.max(Size::ONE), copy: None };
        // SAFETY: the caller guarantees that the elements are readable and not written while the result exists.
        let given = unsafe { operand.given(by_rows) };
        if self.refuses_nan && stored.contain_nan(given) {
            return Err(Failure::NotANumber(at));
        }
        if !by_rows {
            return Ok(operand);
        }
        let mut copy = try_zeros(shape.0.get(), shape.1.get()).map_err(|_| Failure::Transposition)?;
        // SAFETY: the local `copy` has this many elements, and no other view of it exists.
        let to = unsafe { matrix_mut(copy.as_mut_ptr(), shape, Size::from_len(shape.0.get().max(1))) };
        stored.copy(given, to);
        Ok(LapackMatrix { copy: Some(copy), ..operand })
    }

    /// Returns the vector argument of n elements at position `at`.
    ///
    /// # Safety
    /// The elements are valid for reading during `'a`, and nothing writes them.
    unsafe fn vector<'a, T: Scalar>(self, at: i32, n: usize, address: *const T) -> Result<&'a [T], Failure> {
        // SAFETY: the caller guarantees that the n elements are readable and not written during `'a`.
        let elements = unsafe { slice(address, n) };
        if self.refuses_nan && elements.iter().any(|&x| is_nan(x)) {
            return Err(Failure::NotANumber(at));
        }
        Ok(elements)
    }
}

/// The elements of a matrix that a routine reads or writes.
#[derive(Clone, Copy, Debug)]
enum Elements {
    All,
    Triangle(Uplo),
    /// The triangle without its diagonal.
    StrictTriangle(Uplo),
    /// No elements: the matrix is not read.
    None,
}

impl Elements {
    /// Returns the rows of these elements in column j of a matrix with m rows.
    fn rows(self, j: usize, m: usize) -> Range<usize> {
        match self {
            Self::All => 0..m,
            Self::Triangle(Uplo::Lower) => j.min(m)..m,
            Self::Triangle(Uplo::Upper) => 0..(j + 1).min(m),
            Self::StrictTriangle(Uplo::Lower) => (j + 1).min(m)..m,
            Self::StrictTriangle(Uplo::Upper) => 0..j.min(m),
            Self::None => 0..0,
        }
    }

    /// Copies these elements. One of the two matrices is row-major, so the copy works in blocks that stay in the cache.
    fn copy<T: Scalar>(self, from: MatRef<'_, T>, mut to: MatMut<'_, T>) {
        const BLOCK: usize = 32;
        let (m, n) = from.shape();
        for (p, q) in (0..n).step_by(BLOCK).flat_map(|q| (0..m).step_by(BLOCK).map(move |p| (p, q))) {
            for j in q..n.min(q + BLOCK) {
                let rows = self.rows(j, m);
                (rows.start.max(p)..rows.end.min(p + BLOCK)).for_each(|i| to[(i, j)] = from.at(i, j));
            }
        }
    }

    fn contain_nan<T: Scalar>(self, a: MatRef<'_, T>) -> bool {
        (0..a.ncols()).any(|j| self.rows(j, a.nrows()).any(|i| is_nan(a.at(i, j))))
    }
}

fn is_nan<T: Scalar>(x: T) -> bool {
    x.re().is_nan() || x.im().is_nan()
}

/// A column-major matrix: the caller's, or a copy of the caller's row-major matrix.
struct LapackMatrix<T> {
    address: *mut T,
    shape: (Size, Size),
    ld: Size,
    copy: Option<Vec<T>>,
}

impl<T: Scalar> LapackMatrix<T> {
    /// Returns a view of the caller's matrix.
    ///
    /// # Safety
    /// During `'b` the elements are valid for reading, and nothing writes them.
    unsafe fn given<'b>(&self, by_rows: bool) -> MatRef<'b, T> {
        let (m, n) = self.shape;
        // SAFETY: the caller guarantees that the elements are readable and not written during `'b`. A row-major matrix
        // is the transpose of a column-major one.
        unsafe {
            if by_rows {
                matrix(self.address, (n, m), self.ld).transpose()
            } else {
                matrix(self.address, (m, n), self.ld)
            }
        }
    }

    fn view(&self) -> MatRef<'_, T> {
        match &self.copy {
            // SAFETY: the caller of `Interface::matrix` guarantees that the elements are readable and not written
            // elsewhere while this value exists; the borrow of `self` excludes `view_mut`.
            None => unsafe { matrix(self.address, self.shape, self.ld) },
            // SAFETY: `copy` has this many elements and is borrowed with `self`.
            Some(copy) => unsafe { matrix(copy.as_ptr(), self.shape, Size::from_len(self.shape.0.get().max(1))) },
        }
    }

    /// Returns a mutable view. Called only for operands that the routine writes.
    fn view_mut(&mut self) -> MatMut<'_, T> {
        match &mut self.copy {
            // SAFETY: the caller of `Interface::matrix` guarantees exclusive access to an operand that is written, and
            // the mutable borrow of `self` excludes other views.
            None => unsafe { matrix_mut(self.address, self.shape, self.ld) },
            // SAFETY: `copy` has this many elements and is mutably borrowed with `self`.
            Some(copy) => unsafe {
                matrix_mut(copy.as_mut_ptr(), self.shape, Size::from_len(self.shape.0.get().max(1)))
            },
        }
    }

    /// Copies these elements to the caller's matrix if this is a copy of it.
    fn copy_back(self, written: Elements) {
        if self.copy.is_none() {
            return;
        }
        let (m, n) = self.shape;
        let copy = self.view();
        // SAFETY: the caller of `Interface::matrix` guarantees exclusive access to an operand that is written. There is
        // a copy only if the operand is row-major.
        written.copy(copy, unsafe { matrix_mut(self.address, (n, m), self.ld) }.transpose());
    }
}

/// Returns the n elements at an address, which may be null if n is 0.
///
/// # Safety
/// The elements are valid for reading during `'a`, and nothing writes them.
unsafe fn slice<'a, T>(address: *const T, n: usize) -> &'a [T] {
    // SAFETY: the caller guarantees that the n elements are readable and not written during `'a`.
    if n == 0 { &[] } else { unsafe { std::slice::from_raw_parts(address, n) } }
}

/// Returns the n elements at an address, which may be null if n is 0.
///
/// # Safety
/// The elements are valid for reading and writing during `'a`, and nothing else accesses them.
unsafe fn slice_mut<'a, T>(address: *mut T, n: usize) -> &'a mut [T] {
    // SAFETY: the caller guarantees exclusive access to the n elements during `'a`.
    if n == 0 { &mut [] } else { unsafe { std::slice::from_raw_parts_mut(address, n) } }
}

/// Calls `fill` with `count` 32-bit integers and writes them to `address` in the interface's integer type.
///
/// # Safety
/// `count` integers may be written at `address`, and nothing else accesses them during the call.
pub(crate) unsafe fn write_integers<I: Int, R>(address: *mut I, count: usize, fill: impl FnOnce(&mut [i32]) -> R) -> R {
    if size_of::<I>() == size_of::<i32>() {
        // SAFETY: `I` has 32 bits, and the caller guarantees exclusive access to `count` integers during the call.
        return fill(unsafe { slice_mut(address.cast(), count) });
    }
    let mut narrow = vec![0; count];
    let result = fill(&mut narrow);
    // SAFETY: the caller guarantees exclusive access to `count` integers during the call.
    unsafe { slice_mut(address, count) }.iter_mut().zip(narrow).for_each(|(wide, p)| *wide = I::narrow(p.into()));
    result
}

/// Returns the interchanges of n rows in the argument at position `at`, or an error if one is not in 1..=n.
///
/// # Safety
/// n integers may be read at `address` during `'a`, and nothing writes them.
unsafe fn read_interchanges<'a, I: Int>(
    at: i32,
    address: *const I,
    n: usize,
) -> Result<std::borrow::Cow<'a, [i32]>, Failure> {
    // SAFETY: the caller guarantees that n integers are readable and not written during `'a`.
    let given = unsafe { slice(address, n) };
    if given.iter().any(|p| !(1..=n as i64).contains(&p.wide())) {
        return Err(Failure::Argument(at));
    }
    if size_of::<I>() == size_of::<i32>() {
        // SAFETY: `I` has 32 bits, and the caller guarantees n readable integers during `'a`.
        return Ok(unsafe { slice(address.cast::<i32>(), n) }.into());
    }
    Ok(given.iter().map(|p| p.wide() as i32).collect::<Vec<_>>().into())
}

/// Returns whether the call is a workspace query. Writes the smallest workspace size that the reference accepts to
/// `work`, rounded up where the element type cannot represent it.
///
/// # Safety
/// `work` is null or one element may be written there.
unsafe fn is_query<T: Scalar>(work: *mut T, lwork: Size, size: usize) -> bool {
    let size = size.max(1) as f64;
    let mut rounded = T::Real::from_f64(size);
    if rounded.to_f64() < size {
        rounded = T::Real::from_f64(size * (1.0 + T::Real::EPSILON.to_f64()));
    }
    if !work.is_null() {
        // SAFETY: the address is not null, so the caller guarantees that one element may be written there.
        unsafe { work.write(T::from_real(rounded)) };
    }
    lwork.is_query()
}

/// A result that can be converted to LAPACK's `info`.
pub(crate) trait IntoInfo {
    /// Returns LAPACK's `info`, or a failure.
    fn into_info(self) -> Solved;
}

impl IntoInfo for () {
    fn into_info(self) -> Solved {
        Ok(0)
    }
}

impl<E: Into<dla::Error>> IntoInfo for Result<(), E> {
    fn into_info(self) -> Solved {
        let Err(error) = self.map_err(E::into) else { return Ok(0) };
        error.info().map(|info| info as i64).ok_or_else(|| Failure::Unsolved(error.to_string()))
    }
}

/// Converts a number of multiplications to an integer.
pub(crate) fn multiplications(count: f64) -> u64 {
    count as u64
}

/// Returns the size as a float, for computing numbers of multiplications.
fn real(size: Size) -> f64 {
    size.get() as f64
}
