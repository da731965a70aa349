//! LAPACK: what the library factors and solves with, for Fortran's interface and for C's (LAPACKE).
//!
//! One function stands for a routine in both interfaces: an [`Interface`] says in which it was called. Numbers of
//! arguments are Fortran's; LAPACKE's are one more, since the layout comes first.
//!
//! What every routine trusts, since C can not say it, is what Level 3 trusts. The kernels have workspaces of their own;
//! the caller's are used by gecon and pocon only, where others read what is left there. Queries are answered with the
//! least that the reference accepts.

/// What a routine comes to: on this thread it is a function of the kernels or of `dla::serial`, and on the engine, if
/// so many multiplications are worth it, the function of `dla` that has the same name and arguments.
macro_rules! solve {
    ($multiplications:expr, $module:ident::$name:ident($($argument:expr),*)) => {
        match crate::engine::for_product(crate::lapack::count($multiplications)) {
            None => crate::lapack::Outcome::solved($module::$name($($argument),*)),
            Some(engine) => {
                let outcome = superscalar::dla::$name(&engine.runtime, $($argument,)* &engine.options);
                crate::lapack::Outcome::solved(outcome)
            }
        }
    };
}

mod cholesky;
mod lu;
mod mixed;
mod norms;
mod qr;

use crate::abi::{Code, Failure, Int, Layout, MatMut, MatRef, Scalar, Size, Solved, Uplo, matrix, matrix_mut};
use std::ops::Range;
use superscalar::{
    dla,
    kernels::{Real, try_zeros},
};

/// How a routine was called.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Interface {
    layout: Layout,
    /// NaN in what is read is an error, as in LAPACKE's upper half.
    refuses_nan: bool,
}

impl Interface {
    pub(crate) const FORTRAN: Self = Self { layout: Layout::ColMajor, refuses_nan: false };

    /// LAPACKE's, if the layout is one.
    pub(crate) fn lapacke(layout: Code, refuses_nan: bool) -> Option<Self> {
        layout.layout().map(|layout| Self { layout, refuses_nan })
    }

    /// Whether it is the leading dimension of an m x n matrix.
    fn spans(self, ld: Size, (m, n): (Size, Size)) -> bool {
        ld.spans(if self.layout == Layout::ColMajor { m } else { n })
    }

    /// The matrix behind the address that is argument number `at`.
    ///
    /// # Safety
    /// As of [`matrix_mut`], for as long as the operand is there; if it is only read, as of [`matrix`]. `ld` spans it.
    unsafe fn matrix<T: Scalar>(
        self,
        at: i32,
        stored: Stored,
        shape: (Size, Size),
        (address, ld): (*const T, Size),
    ) -> Result<Operand<T>, Failure> {
        let by_rows = self.layout == Layout::RowMajor;
        let operand = Operand { address: address.cast_mut(), shape, ld, copy: None };
        // SAFETY: as the caller promises.
        let given = unsafe { operand.given(by_rows) };
        if self.refuses_nan && stored.holds_nan(given) {
            return Err(Failure::NotANumber(at));
        }
        if !by_rows {
            return Ok(operand);
        }
        let mut copy = try_zeros(shape.0.get(), shape.1.get()).map_err(|_| Failure::Transposition)?;
        // SAFETY: it has so many elements.
        let to = unsafe { matrix_mut(copy.as_mut_ptr(), shape, Size::from_len(shape.0.get().max(1))) };
        stored.copy(given, to);
        Ok(Operand { copy: Some(copy), ..operand })
    }

    /// The n elements behind the address that is argument number `at`, to be read.
    ///
    /// # Safety
    /// They may be read for as long as `'a`, and nobody writes them.
    unsafe fn vector<'a, T: Scalar>(self, at: i32, n: usize, address: *const T) -> Result<&'a [T], Failure> {
        // SAFETY: as the caller promises.
        let elements = unsafe { slice(address, n) };
        if self.refuses_nan && elements.iter().any(|&x| is_nan(x)) {
            return Err(Failure::NotANumber(at));
        }
        Ok(elements)
    }
}

/// Which elements of a matrix are there to be read.
#[derive(Clone, Copy, Debug)]
enum Stored {
    All,
    Triangle(Uplo),
    /// The triangle without its diagonal.
    Inside(Uplo),
    /// None: the matrix is only written.
    Nothing,
}

impl Stored {
    /// Those of column j, of m rows.
    fn rows(self, j: usize, m: usize) -> Range<usize> {
        match self {
            Self::All => 0..m,
            Self::Triangle(Uplo::Lower) => j.min(m)..m,
            Self::Triangle(Uplo::Upper) => 0..(j + 1).min(m),
            Self::Inside(Uplo::Lower) => (j + 1).min(m)..m,
            Self::Inside(Uplo::Upper) => 0..j.min(m),
            Self::Nothing => 0..0,
        }
    }

    /// Copies them. One of the two matrices is by rows: blocks of it stay in the cache while their columns are gone
    /// through.
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

    fn holds_nan<T: Scalar>(self, a: MatRef<'_, T>) -> bool {
        (0..a.ncols()).any(|j| self.rows(j, a.nrows()).any(|i| is_nan(a.at(i, j))))
    }
}

fn is_nan<T: Scalar>(x: T) -> bool {
    x.re().is_nan() || x.im().is_nan()
}

/// A matrix by columns: the caller's, or a copy of one that the caller has by rows.
struct Operand<T> {
    address: *mut T,
    shape: (Size, Size),
    ld: Size,
    copy: Option<Vec<T>>,
}

impl<T: Scalar> Operand<T> {
    /// The caller's matrix.
    ///
    /// # Safety
    /// As of [`Interface::matrix`].
    unsafe fn given<'b>(&self, by_rows: bool) -> MatRef<'b, T> {
        let (m, n) = self.shape;
        // SAFETY: as the caller promises. By rows it is the transpose of a matrix by columns.
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
            // SAFETY: of its maker's promises, that of reading.
            None => unsafe { matrix(self.address, self.shape, self.ld) },
            // SAFETY: it has so many elements, and lives as long as this borrow.
            Some(copy) => unsafe { matrix(copy.as_ptr(), self.shape, Size::from_len(self.shape.0.get().max(1))) },
        }
    }

    /// To be written, where its maker promised that it may be.
    fn view_mut(&mut self) -> MatMut<'_, T> {
        match &mut self.copy {
            // SAFETY: its maker's promises.
            None => unsafe { matrix_mut(self.address, self.shape, self.ld) },
            // SAFETY: it has so many elements, and lives as long as this borrow.
            Some(copy) => unsafe {
                matrix_mut(copy.as_mut_ptr(), self.shape, Size::from_len(self.shape.0.get().max(1)))
            },
        }
    }

    /// Gives the caller what was written to these elements.
    fn home(self, written: Stored) {
        if self.copy.is_none() {
            return;
        }
        let (m, n) = self.shape;
        let copy = self.view();
        // SAFETY: its maker's promises; the caller has it by rows.
        written.copy(copy, unsafe { matrix_mut(self.address, (n, m), self.ld) }.transpose());
    }
}

/// The elements at an address, which may be null if there are none.
///
/// # Safety
/// They may be read for as long as `'a`, and nobody writes them.
unsafe fn slice<'a, T>(address: *const T, n: usize) -> &'a [T] {
    // SAFETY: as the caller promises.
    if n == 0 { &[] } else { unsafe { std::slice::from_raw_parts(address, n) } }
}

/// # Safety
/// They may be written for as long as `'a`, and nobody else reads or writes them.
unsafe fn slice_mut<'a, T>(address: *mut T, n: usize) -> &'a mut [T] {
    // SAFETY: as the caller promises.
    if n == 0 { &mut [] } else { unsafe { std::slice::from_raw_parts_mut(address, n) } }
}

/// Fills interchanges of an interface by what has them in 32 bits.
///
/// # Safety
/// So many integers may be written at the address.
unsafe fn write_interchanges<I: Int, R>(address: *mut I, count: usize, fill: impl FnOnce(&mut [i32]) -> R) -> R {
    if size_of::<I>() == size_of::<i32>() {
        // SAFETY: these are integers of 32 bits.
        return fill(unsafe { slice_mut(address.cast(), count) });
    }
    let mut narrow = vec![0; count];
    let result = fill(&mut narrow);
    // SAFETY: as the caller promises.
    unsafe { slice_mut(address, count) }.iter_mut().zip(narrow).for_each(|(wide, p)| *wide = I::narrow(p.into()));
    result
}

/// Interchanges of n rows that are argument number `at`.
///
/// # Safety
/// So many integers may be read at the address for as long as `'a`.
unsafe fn read_interchanges<'a, I: Int>(
    at: i32,
    address: *const I,
    n: usize,
) -> Result<std::borrow::Cow<'a, [i32]>, Failure> {
    // SAFETY: as the caller promises.
    let given = unsafe { slice(address, n) };
    if given.iter().any(|p| !(1..=n as i64).contains(&p.wide())) {
        return Err(Failure::Argument(at));
    }
    if size_of::<I>() == size_of::<i32>() {
        // SAFETY: these are integers of 32 bits.
        return Ok(unsafe { slice(address.cast::<i32>(), n) }.into());
    }
    Ok(given.iter().map(|p| p.wide() as i32).collect::<Vec<_>>().into())
}

/// Whether a call asks for no more than the size of its workspace. In any case that is told: what the reference asks
/// for at least, and no less after rounding.
///
/// # Safety
/// The address is null or that of an element.
unsafe fn is_query<T: Scalar>(work: *mut T, lwork: Size, size: usize) -> bool {
    let size = size.max(1) as f64;
    let mut told = T::Real::from_f64(size);
    if told.to_f64() < size {
        told = T::Real::from_f64(size * (1.0 + T::Real::EPSILON.to_f64()));
    }
    if !work.is_null() {
        // SAFETY: as the caller promises.
        unsafe { work.write(T::from_real(told)) };
    }
    lwork.is_query()
}

/// What a function that computes returns.
trait Outcome {
    /// LAPACK's `info` of it.
    fn solved(self) -> Solved;
}

impl Outcome for () {
    fn solved(self) -> Solved {
        Ok(0)
    }
}

impl<E: Into<dla::Error>> Outcome for Result<(), E> {
    fn solved(self) -> Solved {
        let Err(error) = self.map_err(E::into) else { return Ok(0) };
        error.info().map(|info| info as i64).ok_or_else(|| Failure::Unsolved(error.to_string()))
    }
}

/// A number of multiplications.
fn count(multiplications: f64) -> u64 {
    multiplications as u64
}

/// As it stands in such a number.
fn real(size: Size) -> f64 {
    size.get() as f64
}
