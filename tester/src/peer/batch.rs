//! [`BatchCall`]: a call of one routine for every problem of a batch.

use super::Unavailable;
use super::call::FortranCall;
use std::ffi::c_void;
use std::marker::PhantomData;
use superscalar_kernels::Scalar;

/// A call of one routine for every problem of a batch. Problems of one size share an argument list.
pub struct BatchCall<'a, T: Scalar> {
    pub classes: Vec<SizeClass<T>>,
    /// The memory of each array of the argument list: that of all problems.
    pub spans: Vec<Span>,
    /// The info of each problem.
    pub info: &'a mut [i32],
    /// The memory of the spans.
    pub borrow: PhantomData<&'a mut [T]>,
}

/// The problems of one size.
pub struct SizeClass<T: Scalar> {
    /// The argument list, without arrays.
    pub call: FortranCall<'static, T>,
    pub problems: Vec<usize>,
    /// For each array of the argument list, that of each of the problems.
    pub arrays: Vec<Vec<*mut c_void>>,
}

/// Host memory with one array of all problems.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    pub start: *mut c_void,
    pub bytes: usize,
    /// Whether the routine reads any of it, or leaves some of it as it is.
    pub is_read: bool,
    /// Whether the routine writes elements. Interchanges, which libraries store in their own way, are copied apart.
    pub is_written: bool,
}

impl<T: Scalar> BatchCall<'_, T> {
    /// Returns the routine's name without the type's letter; `None` if there is no problem.
    pub fn name(&self) -> Option<&'static str> {
        Some(self.classes.first()?.call.name())
    }

    /// Returns the reason if a library with integers of 32 bits cannot be called.
    pub fn absence(&self) -> Result<(), Unavailable> {
        let Some(class) = self.classes.iter().find(|class| class.call.is_too_large()) else { return Ok(()) };
        Err(Unavailable(format!("a size does not fit the 32-bit integers of {}", class.call.name())))
    }

    /// Returns the number of problems.
    pub fn len(&self) -> usize {
        self.info.len()
    }

    /// Returns the one size class, for interfaces that take no other batch.
    pub fn uniform(&self, what: &str) -> Result<&SizeClass<T>, Unavailable> {
        match &self.classes[..] {
            [class] => Ok(class),
            _ => Err(Unavailable(format!("{what} takes problems of one size"))),
        }
    }
}
