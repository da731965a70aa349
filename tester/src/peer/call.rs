//! Argument lists of Fortran subroutines and functions.

use super::invoke::invoke;
use crate::operand::share_of_steps;
use std::ffi::c_void;
use superscalar_kernels::{MatMut, MatRef, Scalar};

/// One argument of a Fortran subroutine.
enum Argument<T: Scalar> {
    Letter(u8),
    Int(i32),
    Info(i32),
    Scalar(Aligned<T>),
    Real(Aligned<T::Real>),
    Array(*mut c_void),
    /// A real result, for the slot of the call.
    RealOut(T::Real),
    /// Steps of a refinement, for the slot of the call.
    Steps(i32),
    Work(Vec<T>),
    RealWork(Vec<T::Real>),
    IntWork(Vec<i32>),
}

/// A scalar as NVIDIA's libraries want it: aligned as C's complex types for CUDA are, which they read by aligned instructions.
#[repr(C, align(16))]
struct Aligned<E>(E);

/// A call of a Fortran subroutine: its name without the type's letter, and its arguments in order.
///
/// # Example
/// `Call::new("potrf").letter('L').int(n).matrix(a).info()` is `CALL xPOTRF('L', N, A, LDA, INFO)`.
pub struct Call<'a, T: Scalar> {
    name: &'static str,
    arguments: Vec<Argument<T>>,
    is_too_large: bool,
    absence: Option<&'static str>,
    /// Where a result goes that is a number.
    number: Option<MatMut<'a, T>>,
    is_function: bool,
    next: Option<Box<Self>>,
    borrow: std::marker::PhantomData<&'a mut [T]>,
}

#[allow(dead_code)] // The whole interface of BLAS and LAPACK subroutines, of which routines use what they need.
impl<'a, T: Scalar> Call<'a, T> {
    /// A call without arguments yet.
    pub fn new(name: &'static str) -> Self {
        Self {
            name,
            arguments: Vec::new(),
            is_too_large: false,
            absence: None,
            number: None,
            is_function: false,
            next: None,
            borrow: std::marker::PhantomData,
        }
    }

    /// A call of a function with a real result, which goes to `number`.
    pub fn function(name: &'static str, number: MatMut<'a, T>) -> Self {
        Self { is_function: true, ..Self::new(name) }.with_number(number)
    }

    /// What no BLAS or LAPACK has, and why.
    pub fn absent(why: &'static str) -> Self {
        Self { absence: Some(why), ..Self::new("") }
    }

    /// This call of the same routine after the others, if they succeed.
    pub fn then(mut self, call: Self) -> Self {
        assert_eq!(self.name, call.name, "calls of one routine");
        self.is_too_large |= call.is_too_large;
        self.next = Some(Box::new(call));
        self
    }

    /// CHARACTER*1.
    pub fn letter(self, letter: char) -> Self {
        self.push(Argument::Letter(letter as u8))
    }

    /// INTEGER.
    pub fn int(mut self, value: usize) -> Self {
        let value = i32::try_from(value).unwrap_or_else(|_| {
            self.is_too_large = true;
            0
        });
        self.push(Argument::Int(value))
    }

    /// An INTEGER that may be negative.
    pub fn signed(self, value: i32) -> Self {
        self.push(Argument::Int(value))
    }

    /// A scalar of the routine's type.
    pub fn scalar(self, value: T) -> Self {
        self.push(Argument::Scalar(Aligned(value)))
    }

    /// A real scalar.
    pub fn real(self, value: T::Real) -> Self {
        self.push(Argument::Real(Aligned(value)))
    }

    /// A matrix and its leading dimension, which always follows it.
    pub fn matrix(self, mut a: MatMut<'a, T>) -> Self {
        assert!(a.row_stride() == 1 || a.as_ref().is_empty(), "Fortran matrices are column major");
        let ld = a.col_stride();
        self.push(Argument::Array(a.as_mut_ptr().cast())).int(ld)
    }

    /// A matrix that is only read, and its leading dimension.
    pub fn input(self, a: MatRef<'a, T>) -> Self {
        assert!(a.row_stride() == 1 || a.is_empty(), "Fortran matrices are column major");
        self.push(Argument::Array(a.as_ptr().cast_mut().cast())).int(a.col_stride())
    }

    /// A matrix of one column as a vector, without a leading dimension.
    pub fn column(self, mut x: MatMut<'a, T>) -> Self {
        assert!(x.ncols() == 1 && x.row_stride() == 1, "elements that are adjacent");
        self.push(Argument::Array(x.as_mut_ptr().cast()))
    }

    /// One column of a matrix as a vector of adjacent elements; nothing where there is no such column.
    pub fn column_of(self, a: &mut MatMut<'a, T>, j: usize) -> Self {
        let offset = if j < a.ncols() { j * a.col_stride() } else { 0 };
        self.push(Argument::Array(a.as_mut_ptr().wrapping_add(offset).cast()))
    }

    /// A workspace of so many elements.
    pub fn work(self, len: usize) -> Self {
        self.push(Argument::Work(vec![T::ZERO; len.max(1)]))
    }

    /// A workspace and its length, which follows it.
    pub fn work_with_len(self, len: usize) -> Self {
        self.work(len).int(len.max(1))
    }

    /// A workspace of real numbers.
    pub fn real_work(self, len: usize) -> Self {
        self.push(Argument::RealWork(vec![T::Real::ZERO; len.max(1)]))
    }

    /// A workspace of integers.
    pub fn int_work(self, len: usize) -> Self {
        self.push(Argument::IntWork(vec![0; len.max(1)]))
    }

    /// A real result.
    pub fn real_out(self, number: MatMut<'a, T>) -> Self {
        self.push(Argument::RealOut(T::Real::ZERO)).with_number(number)
    }

    /// LAPACK's ITER, which arrives as [`share_of_steps`].
    pub fn steps_out(self, number: MatMut<'a, T>) -> Self {
        self.push(Argument::Steps(0)).with_number(number)
    }

    /// A vector of integers, such as pivots.
    pub fn ints(self, x: &'a mut [i32]) -> Self {
        self.push(Argument::Array(x.as_mut_ptr().cast()))
    }

    fn with_number(mut self, number: MatMut<'a, T>) -> Self {
        self.number = Some(number);
        self
    }

    /// LAPACK's INFO.
    pub fn info(self) -> Self {
        self.push(Argument::Info(0))
    }

    fn push(mut self, argument: Argument<T>) -> Self {
        self.arguments.push(argument);
        self
    }

    /// Why no library has the routine, if none has.
    pub fn absence(&self) -> Option<&'static str> {
        self.absence
    }

    /// The name without the type's letter.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Whether a size does not fit a 32-bit integer.
    pub fn is_too_large(&self) -> bool {
        self.is_too_large
    }

    /// The call to be made after this one.
    pub fn next(self) -> Option<Self> {
        self.next.map(|next| *next)
    }

    /// The arguments by sort, each in the order of the list: letters, sizes, and the addresses of arrays, each of which is borrowed until the
    /// call is over.
    pub fn parts(&self) -> Parts {
        let mut parts = Parts::default();
        for argument in &self.arguments {
            match argument {
                Argument::Letter(letter) => parts.letters.push(*letter),
                Argument::Int(value) => parts.sizes.push(usize::try_from(*value).unwrap_or(0)),
                Argument::Array(start) => parts.arrays.push(*start),
                _ => {}
            }
        }
        parts
    }

    /// The arguments as C has them: letters become the numbers by which NVIDIA's libraries call them, sizes are passed by value, and scalars
    /// by their address. None if the list has something else.
    pub fn words_by_value(&mut self) -> Option<Vec<*mut c_void>> {
        let words = self.arguments.iter_mut().map(|argument| match argument {
            Argument::Letter(letter) => code_of(*letter).map(std::ptr::without_provenance_mut),
            Argument::Int(value) => usize::try_from(*value).ok().map(std::ptr::without_provenance_mut),
            Argument::Scalar(value) => Some((&raw mut value.0).cast()),
            Argument::Real(value) => Some((&raw mut value.0).cast()),
            Argument::Array(start) => Some(*start),
            _ => None,
        });
        words.collect()
    }

    /// Makes this call and returns INFO, 0 for routines without; a result that is a number goes to its place.
    ///
    /// # Safety
    /// `symbol` is the routine that this list is for.
    pub unsafe fn invoke(&mut self, symbol: *const c_void) -> i32 {
        let words = self.words();
        let mut number = None;
        // SAFETY: the caller's promise, and that of this module's parent about argument lists and results.
        unsafe {
            if self.is_function {
                number = Some(T::from_real(invoke::<T::Real>(symbol, &words)));
            } else {
                invoke::<()>(symbol, &words);
            }
        }
        let mut info = 0;
        for argument in &self.arguments {
            match argument {
                Argument::Info(value) => info = *value,
                Argument::RealOut(value) => number = Some(T::from_real(*value)),
                Argument::Steps(steps) => number = Some(share_of_steps(*steps)),
                _ => {}
            }
        }
        if let (Some(place), Some(number)) = (&mut self.number, number) {
            place[(0, 0)] = number;
        }
        info
    }

    /// The machine words to pass: the address of each argument, then a 1 for the length of each letter.
    fn words(&mut self) -> Vec<*mut c_void> {
        let letters = self.arguments.iter().filter(|argument| matches!(argument, Argument::Letter(_))).count();
        let addresses = self.arguments.iter_mut().map(|argument| match argument {
            Argument::Letter(letter) => (&raw mut *letter).cast(),
            Argument::Int(value) | Argument::Info(value) | Argument::Steps(value) => (&raw mut *value).cast(),
            Argument::Scalar(value) => (&raw mut value.0).cast(),
            Argument::Real(value) => (&raw mut value.0).cast(),
            Argument::RealOut(value) => (&raw mut *value).cast(),
            Argument::Array(start) => *start,
            Argument::Work(elements) => elements.as_mut_ptr().cast(),
            Argument::RealWork(elements) => elements.as_mut_ptr().cast(),
            Argument::IntWork(elements) => elements.as_mut_ptr().cast(),
        });
        addresses.chain(std::iter::repeat_n(std::ptr::without_provenance_mut(1), letters)).collect()
    }
}

/// Some of the arguments of a call.
#[derive(Debug, Default)]
pub struct Parts {
    pub letters: Vec<u8>,
    pub sizes: Vec<usize>,
    pub arrays: Vec<*mut c_void>,
}

/// The number of an option in the enumerations of NVIDIA's libraries, which agree for one letter: left, lower, no transpose and a stored
/// diagonal are 0; right, upper, transpose and a diagonal of ones are 1; a conjugate transpose is 2.
pub fn code_of(letter: u8) -> Option<usize> {
    match letter {
        b'L' | b'N' => Some(0),
        b'R' | b'U' | b'T' => Some(1),
        b'C' => Some(2),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use superscalar_kernels::{c32, c64};

    /// cuBLASXt's zgemm crashed on alpha and beta that were aligned as one double is.
    fn scalars_are_aligned<T: Scalar>() {
        let call = || Call::<T>::new("gemm").letter('N').int(3).scalar(T::ONE).real(T::Real::ONE).scalar(T::ZERO);
        // Vectors of several lengths lie in several places.
        for more in 0..8 {
            let mut call = (0..more).fold(call(), |call, _| call.int(1));
            let lists = [call.words_by_value().expect("no workspace is in it"), call.words()];
            for (number, words) in lists.iter().enumerate() {
                assert!(words[2..5].iter().all(|word| word.addr() % 16 == 0), "{}, list {number}", T::LETTER);
            }
        }
    }

    #[test]
    fn scalars_are_aligned_for_every_type() {
        scalars_are_aligned::<f32>();
        scalars_are_aligned::<f64>();
        scalars_are_aligned::<c32>();
        scalars_are_aligned::<c64>();
    }
}
