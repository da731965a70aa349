//! Argument lists of Fortran subroutines and functions.

use super::invoke::invoke;
use crate::operand::share_of_steps;
use std::ffi::c_void;
use superscalar_kernels::{MatMut, MatRef, Scalar};

/// One argument of a Fortran subroutine.
#[derive(Clone)]
pub(super) enum FortranArgument<T: Scalar> {
    Letter(u8),
    Int(i32),
    Info(i32),
    Scalar(Aligned<T>),
    Real(Aligned<T::Real>),
    Array(*mut c_void),
    /// A real result, to be stored in the call's `number`.
    RealOut(T::Real),
    /// The number of refinement steps, to be stored in the call's `number`.
    Steps(i32),
    Work(Vec<T>),
    RealWork(Vec<T::Real>),
    IntWork(Vec<i32>),
}

/// A scalar with the alignment that NVIDIA's libraries require: that of CUDA's complex types, which they read with
/// aligned instructions.
#[repr(C, align(16))]
#[derive(Clone)]
pub(super) struct Aligned<E>(E);

/// A call of a Fortran subroutine: its name without the type's letter, and its arguments in order.
///
/// # Example
/// `FortranCall::new("potrf").letter('L').int(n).matrix(a).info()` is `CALL xPOTRF('L', N, A, LDA, INFO)`.
pub struct FortranCall<'a, T: Scalar> {
    name: &'static str,
    arguments: Vec<FortranArgument<T>>,
    is_too_large: bool,
    absence: Option<&'static str>,
    /// The destination of a numeric result.
    number: Option<MatMut<'a, T>>,
    is_function: bool,
    next: Option<Box<Self>>,
    borrow: std::marker::PhantomData<&'a mut [T]>,
}

#[allow(dead_code)] // The whole interface of BLAS and LAPACK subroutines, of which routines use what they need.
impl<'a, T: Scalar> FortranCall<'a, T> {
    /// Creates a call without arguments.
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

    /// Creates a call of a function with a real result, which is stored in `number`.
    pub fn function(name: &'static str, number: MatMut<'a, T>) -> Self {
        Self { is_function: true, ..Self::new(name) }.with_number(number)
    }

    /// Creates a placeholder for a routine that no BLAS or LAPACK library has, with the reason.
    pub fn absent(why: &'static str) -> Self {
        Self { absence: Some(why), ..Self::new("") }
    }

    /// Adds a call of the same routine, made after the others if they succeed.
    pub fn then(mut self, call: Self) -> Self {
        assert_eq!(self.name, call.name, "calls of one routine");
        self.is_too_large |= call.is_too_large;
        self.next = Some(Box::new(call));
        self
    }

    /// Adds a CHARACTER*1 argument.
    pub fn letter(self, letter: char) -> Self {
        self.push(FortranArgument::Letter(letter as u8))
    }

    /// Adds an INTEGER.
    pub fn int(mut self, value: usize) -> Self {
        let value = i32::try_from(value).unwrap_or_else(|_| {
            self.is_too_large = true;
            0
        });
        self.push(FortranArgument::Int(value))
    }

    /// Adds an INTEGER that may be negative.
    pub fn signed(self, value: i32) -> Self {
        self.push(FortranArgument::Int(value))
    }

    /// Adds a scalar of the routine's type.
    pub fn scalar(self, value: T) -> Self {
        self.push(FortranArgument::Scalar(Aligned(value)))
    }

    /// Adds a real scalar.
    pub fn real(self, value: T::Real) -> Self {
        self.push(FortranArgument::Real(Aligned(value)))
    }

    /// Adds a matrix, followed by its leading dimension.
    pub fn matrix(self, mut a: MatMut<'a, T>) -> Self {
        assert!(a.row_stride() == 1 || a.as_ref().is_empty(), "Fortran matrices are column major");
        let ld = a.col_stride();
        self.push(FortranArgument::Array(a.as_mut_ptr().cast())).int(ld)
    }

    /// Adds a matrix that is only read, followed by its leading dimension.
    pub fn input(self, a: MatRef<'a, T>) -> Self {
        assert!(a.row_stride() == 1 || a.is_empty(), "Fortran matrices are column major");
        self.push(FortranArgument::Array(a.as_ptr().cast_mut().cast())).int(a.col_stride())
    }

    /// Adds a matrix of one column as a vector, without a leading dimension.
    pub fn column(self, mut x: MatMut<'a, T>) -> Self {
        assert!(x.ncols() == 1 && x.row_stride() == 1, "elements that are adjacent");
        self.push(FortranArgument::Array(x.as_mut_ptr().cast()))
    }

    /// Adds one column of a matrix as a vector of adjacent elements. If the matrix has no such column, the vector is
    /// not accessed.
    pub fn column_of(self, a: &mut MatMut<'a, T>, j: usize) -> Self {
        let offset = if j < a.ncols() { j * a.col_stride() } else { 0 };
        self.push(FortranArgument::Array(a.as_mut_ptr().wrapping_add(offset).cast()))
    }

    /// Adds a workspace with this number of elements.
    pub fn work(self, len: usize) -> Self {
        self.push(FortranArgument::Work(vec![T::ZERO; len.max(1)]))
    }

    /// Adds a workspace, followed by its length.
    pub fn work_with_len(self, len: usize) -> Self {
        self.work(len).int(len.max(1))
    }

    /// Adds a workspace of real numbers.
    pub fn real_work(self, len: usize) -> Self {
        self.push(FortranArgument::RealWork(vec![T::Real::ZERO; len.max(1)]))
    }

    /// Adds a workspace of integers.
    pub fn int_work(self, len: usize) -> Self {
        self.push(FortranArgument::IntWork(vec![0; len.max(1)]))
    }

    /// Adds a real result.
    pub fn real_out(self, number: MatMut<'a, T>) -> Self {
        self.push(FortranArgument::RealOut(T::Real::ZERO)).with_number(number)
    }

    /// Adds LAPACK's ITER, which is stored as [`share_of_steps`].
    pub fn steps_out(self, number: MatMut<'a, T>) -> Self {
        self.push(FortranArgument::Steps(0)).with_number(number)
    }

    /// Adds a vector of integers, such as row interchanges.
    pub fn ints(self, x: &'a mut [i32]) -> Self {
        self.push(FortranArgument::Array(x.as_mut_ptr().cast()))
    }

    fn with_number(mut self, number: MatMut<'a, T>) -> Self {
        self.number = Some(number);
        self
    }

    /// Adds LAPACK's INFO.
    pub fn info(self) -> Self {
        self.push(FortranArgument::Info(0))
    }

    fn push(mut self, argument: FortranArgument<T>) -> Self {
        self.arguments.push(argument);
        self
    }

    /// Returns the reason if no library has the routine.
    pub fn absence(&self) -> Option<&'static str> {
        self.absence
    }

    /// Returns the name without the type's letter.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Returns whether a size does not fit a 32-bit integer.
    pub fn is_too_large(&self) -> bool {
        self.is_too_large
    }

    /// Returns the call to be made after this one.
    pub fn next(self) -> Option<Self> {
        self.next.map(|next| *next)
    }

    /// Returns the call without its arrays, which a caller replaces by those of other problems of the same sizes.
    pub fn without_arrays(mut self) -> FortranCall<'static, T> {
        assert!(self.number.is_none() && self.next.is_none(), "a call with a numeric result, or several");
        for argument in &mut self.arguments {
            if let FortranArgument::Array(start) = argument {
                *start = std::ptr::null_mut();
            }
        }
        FortranCall { arguments: self.arguments, is_too_large: self.is_too_large, ..FortranCall::new(self.name) }
    }

    /// Returns the scalars of the routine's type, in the order of the list.
    pub fn scalars(&self) -> Vec<T> {
        let scalar = |argument: &FortranArgument<T>| match argument {
            FortranArgument::Scalar(value) => Some(value.0),
            _ => None,
        };
        self.arguments.iter().filter_map(scalar).collect()
    }

    /// Returns the positions of the arrays in the list.
    pub fn array_positions(&self) -> Vec<usize> {
        let is_array = |&at: &usize| matches!(self.arguments[at], FortranArgument::Array(_));
        (0..self.arguments.len()).filter(is_array).collect()
    }

    /// Returns copies of the arguments.
    pub(super) fn arguments(&self) -> Vec<FortranArgument<T>> {
        self.arguments.clone()
    }

    /// Groups the arguments by kind, in the order of the list: letters, sizes, and the addresses of arrays. The arrays
    /// are borrowed by this call.
    pub fn grouped_arguments(&self) -> GroupedArguments {
        let mut grouped_arguments = GroupedArguments::default();
        for argument in &self.arguments {
            match argument {
                FortranArgument::Letter(letter) => grouped_arguments.letters.push(*letter),
                FortranArgument::Int(value) => grouped_arguments.sizes.push(usize::try_from(*value).unwrap_or(0)),
                FortranArgument::Array(start) => grouped_arguments.arrays.push(*start),
                _ => {}
            }
        }
        grouped_arguments
    }

    /// Returns the arguments in the form of NVIDIA's C interfaces: letters become enumeration values, sizes are passed
    /// by value, and scalars by address. Returns `None` if the list has any other argument.
    pub fn words_by_value(&mut self) -> Option<Vec<*mut c_void>> {
        let words = self.arguments.iter_mut().map(|argument| match argument {
            FortranArgument::Letter(letter) => code_of(*letter).map(std::ptr::without_provenance_mut),
            FortranArgument::Int(value) => usize::try_from(*value).ok().map(std::ptr::without_provenance_mut),
            FortranArgument::Scalar(value) => Some((&raw mut value.0).cast()),
            FortranArgument::Real(value) => Some((&raw mut value.0).cast()),
            FortranArgument::Array(start) => Some(*start),
            _ => None,
        });
        words.collect()
    }

    /// Makes this call and returns INFO, or 0 for routines without it. A numeric result is stored in its destination.
    ///
    /// # Safety
    /// `symbol` must be the routine whose documented argument list this is.
    pub unsafe fn invoke(&mut self, symbol: *const c_void) -> i32 {
        let words = words(&mut self.arguments);
        let mut number = None;
        // SAFETY: by the contract of this function, `symbol` takes these arguments. Each word is an address of memory
        // that `self` owns or borrows exclusively, or the length 1 of a letter. A Fortran function returns its real
        // result as C does (see the documentation of the parent module).
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
                FortranArgument::Info(value) => info = *value,
                FortranArgument::RealOut(value) => number = Some(T::from_real(*value)),
                FortranArgument::Steps(steps) => number = Some(share_of_steps(*steps)),
                _ => {}
            }
        }
        if let (Some(place), Some(number)) = (&mut self.number, number) {
            place[(0, 0)] = number;
        }
        info
    }
}

/// Returns the machine words to pass: the address of each argument, then a 1 for the length of each letter.
pub(super) fn words<T: Scalar>(arguments: &mut [FortranArgument<T>]) -> Vec<*mut c_void> {
    let letters = arguments.iter().filter(|argument| matches!(argument, FortranArgument::Letter(_))).count();
    let addresses = arguments.iter_mut().map(|argument| match argument {
        FortranArgument::Letter(letter) => (&raw mut *letter).cast(),
        FortranArgument::Int(value) | FortranArgument::Info(value) | FortranArgument::Steps(value) => {
            (&raw mut *value).cast()
        }
        FortranArgument::Scalar(value) => (&raw mut value.0).cast(),
        FortranArgument::Real(value) => (&raw mut value.0).cast(),
        FortranArgument::RealOut(value) => (&raw mut *value).cast(),
        FortranArgument::Array(start) => *start,
        FortranArgument::Work(elements) => elements.as_mut_ptr().cast(),
        FortranArgument::RealWork(elements) => elements.as_mut_ptr().cast(),
        FortranArgument::IntWork(elements) => elements.as_mut_ptr().cast(),
    });
    addresses.chain(std::iter::repeat_n(std::ptr::without_provenance_mut(1), letters)).collect()
}

/// The arguments of a call, grouped by kind.
#[derive(Debug, Default)]
pub struct GroupedArguments {
    pub letters: Vec<u8>,
    pub sizes: Vec<usize>,
    pub arrays: Vec<*mut c_void>,
}

/// Returns the value of an option in the enumerations of NVIDIA's libraries, which are consistent for each letter:
/// left, lower, no transpose and a stored diagonal are 0; right, upper, transpose and a unit diagonal are 1; a
/// conjugate transpose is 2.
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

    /// cuBLASXt's zgemm crashes if alpha and beta have only the alignment of a double.
    fn scalars_are_aligned<T: Scalar>() {
        let call =
            || FortranCall::<T>::new("gemm").letter('N').int(3).scalar(T::ONE).real(T::Real::ONE).scalar(T::ZERO);
        // Vectors of different lengths have different addresses.
        for more in 0..8 {
            let mut call = (0..more).fold(call(), |call, _| call.int(1));
            let lists = [call.words_by_value().expect("no workspace is in it"), words(&mut call.arguments)];
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
