//! The types of the interfaces: letters, enumerators, sizes, and errors.

pub(crate) use superscalar::dla::Scalar as DlaScalar;
pub(crate) use superscalar::kernels::{
    Diag, MatMut, MatRef, Norm, Op, Real, Scalar, Side, Uplo, VecMut, VecRef, c32, c64,
};

/// An integer of an interface, of 32 bits (LP64) or 64 bits (ILP64).
pub(crate) trait Int: Copy {
    fn wide(self) -> i64;
    fn narrow(wide: i64) -> Self;
    /// The names of the error handlers.
    const XERBLA: &'static std::ffi::CStr;
    const CBLAS_XERBLA: &'static std::ffi::CStr;
    const LAPACKE_XERBLA: &'static std::ffi::CStr;
}

impl Int for i32 {
    fn wide(self) -> i64 {
        self.into()
    }

    fn narrow(wide: i64) -> Self {
        wide as Self
    }

    const XERBLA: &'static std::ffi::CStr = c"xerbla_";
    const CBLAS_XERBLA: &'static std::ffi::CStr = c"cblas_xerbla";
    const LAPACKE_XERBLA: &'static std::ffi::CStr = c"LAPACKE_xerbla";
}

impl Int for i64 {
    fn wide(self) -> i64 {
        self
    }

    fn narrow(wide: i64) -> Self {
        wide
    }

    const XERBLA: &'static std::ffi::CStr = c"xerbla_64_";
    const CBLAS_XERBLA: &'static std::ffi::CStr = c"cblas_xerbla64_";
    const LAPACKE_XERBLA: &'static std::ffi::CStr = c"LAPACKE_xerbla64_";
}

/// A number of elements or an increment as the caller passed it. It may be negative.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Size(i64);

impl Size {
    pub(crate) const ZERO: Self = Self(0);
    pub(crate) const ONE: Self = Self(1);
    /// The size that stands for a missing element of a table: not valid for any argument.
    pub(crate) const MISSING: Self = Self(-1);
    /// The size that stands for the workspace of LAPACKE's high-level functions, which have no such argument.
    pub(crate) const ENOUGH: Self = Self(i64::MAX);

    pub(crate) fn of(given: impl Int) -> Self {
        Self(given.wide())
    }

    pub(crate) fn from_len(len: usize) -> Self {
        Self(len as i64)
    }

    pub(crate) fn is_valid(self) -> bool {
        self.0 >= 0
    }

    /// Returns whether this is a valid leading dimension for columns of `rows` rows.
    pub(crate) fn spans(self, rows: Self) -> bool {
        self >= rows.max(Self::ONE)
    }

    /// Returns whether this is a nonzero increment.
    pub(crate) fn steps(self) -> bool {
        self.0 != 0
    }

    /// Returns whether this is a positive increment.
    pub(crate) fn is_forward(self) -> bool {
        self.0 > 0
    }

    /// Returns whether this is a valid leading dimension for a band matrix with `diagonals` diagonals on each side of
    /// the main one.
    pub(crate) fn holds(self, diagonals: &[Self]) -> bool {
        i128::from(self.0) > diagonals.iter().map(|size| i128::from(size.0)).sum()
    }

    /// Returns whether this workspace size is a workspace query.
    pub(crate) fn is_query(self) -> bool {
        self.0 == -1
    }

    /// Returns the increment.
    pub(crate) fn stride(self) -> isize {
        self.0 as isize
    }

    /// Returns the size, or 0 if it is negative.
    pub(crate) fn get(self) -> usize {
        self.0.max(0) as usize
    }
}

/// The first letter of a Fortran CHARACTER argument, in upper or lower case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct Letter(u8);

impl Letter {
    pub(crate) fn op(self) -> Option<Op> {
        self.one_of(&[(b'N', Op::None), (b'T', Op::Trans), (b'C', Op::ConjTrans)])
    }

    pub(crate) fn uplo(self) -> Option<Uplo> {
        self.one_of(&[(b'U', Uplo::Upper), (b'L', Uplo::Lower)])
    }

    pub(crate) fn side(self) -> Option<Side> {
        self.one_of(&[(b'L', Side::Left), (b'R', Side::Right)])
    }

    pub(crate) fn diag(self) -> Option<Diag> {
        self.one_of(&[(b'U', Diag::Unit), (b'N', Diag::NonUnit)])
    }

    pub(crate) fn norm(self) -> Option<Norm> {
        match self.0.to_ascii_uppercase() {
            b'M' => Some(Norm::Max),
            b'1' | b'O' => Some(Norm::One),
            b'I' => Some(Norm::Inf),
            b'F' | b'E' => Some(Norm::Frobenius),
            _ => None,
        }
    }

    fn one_of<O: Copy>(self, options: &[(u8, O)]) -> Option<O> {
        options.iter().find(|(letter, _)| letter.eq_ignore_ascii_case(&self.0)).map(|&(_, option)| option)
    }

    pub(crate) const fn new(letter: u8) -> Self {
        Self(letter)
    }

    /// A letter that is not valid for any option.
    pub(crate) const NONE: Self = Self(b' ');
}

/// An enumerator of the C interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct Code(i32);

/// The storage order of a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    RowMajor,
    ColMajor,
}

impl Code {
    pub(crate) fn layout(self) -> Option<Layout> {
        match self.0 {
            101 => Some(Layout::RowMajor),
            102 => Some(Layout::ColMajor),
            _ => None,
        }
    }

    /// Returns Fortran's letter for a transposition, or [`Letter::NONE`] for another enumerator.
    pub(crate) fn trans(self) -> Letter {
        self.one_of(&[(111, b'N'), (112, b'T'), (113, b'C')])
    }

    /// Returns Fortran's letter for a triangle, or [`Letter::NONE`].
    pub(crate) fn uplo(self) -> Letter {
        self.one_of(&[(121, b'U'), (122, b'L')])
    }

    /// Returns Fortran's letter for a diagonal, or [`Letter::NONE`].
    pub(crate) fn diag(self) -> Letter {
        self.one_of(&[(131, b'N'), (132, b'U')])
    }

    /// Returns Fortran's letter for the side of a factor, or [`Letter::NONE`].
    pub(crate) fn side(self) -> Letter {
        self.one_of(&[(141, b'L'), (142, b'R')])
    }

    fn one_of(self, letters: &[(i32, u8)]) -> Letter {
        letters.iter().find(|(code, _)| *code == self.0).map_or(Letter::NONE, |&(_, letter)| Letter(letter))
    }
}

/// The first wrong argument of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WrongArgument {
    /// The position of the argument, counted from 1. For a row-major call of the C interface it is the position in the
    /// equivalent column-major call.
    pub(crate) position: i32,
    pub(crate) is_row_major: bool,
}

/// The result of a BLAS routine.
pub(crate) type Checked = Result<(), WrongArgument>;

/// The reason why a LAPACK routine computed nothing.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Failure {
    /// The argument at this position is wrong.
    Argument(i32),
    /// The argument at this position holds NaN. The error handler is not called.
    NotANumber(i32),
    /// The allocation for the column-major copy of a row-major matrix failed.
    Transposition,
    /// The runtime failed or ran out of memory.
    Unsolved(String),
}

impl From<WrongArgument> for Failure {
    fn from(wrong: WrongArgument) -> Self {
        Self::Argument(wrong.position)
    }
}

/// The result of a LAPACK routine: the nonnegative value of `info`, or a failure.
pub(crate) type Solved = Result<i64, Failure>;

/// Returns an error for the first argument whose condition is false. Each item is a position and a condition.
pub(crate) fn check(arguments: &[(i32, bool)]) -> Checked {
    arguments
        .iter()
        .find(|(_, is_right)| !is_right)
        .map_or(Ok(()), |&(at, _)| Err(WrongArgument { position: at, is_row_major: false }))
}

/// Returns an immutable view of the column-major m x n matrix at `at`.
///
/// # Safety
/// The elements are valid for reading during `'a`, and nothing writes them. `ld` is at least m.
pub(crate) unsafe fn matrix<'a, T>(at: *const T, (m, n): (Size, Size), ld: Size) -> MatRef<'a, T> {
    // SAFETY: the caller guarantees that the elements are readable and not written during `'a`, and that ld spans m.
    unsafe { MatRef::from_raw(at, m.get(), n.get(), ld.get()) }
}

/// Returns a mutable view of the column-major m x n matrix at `at`.
///
/// # Safety
/// The elements are valid for reading and writing during `'a`, and nothing else accesses them. `ld` is at least m.
pub(crate) unsafe fn matrix_mut<'a, T>(at: *mut T, (m, n): (Size, Size), ld: Size) -> MatMut<'a, T> {
    // SAFETY: the caller guarantees exclusive access to the elements during `'a`, and that ld spans m.
    unsafe { MatMut::from_raw(at, m.get(), n.get(), ld.get()) }
}

/// Returns the offset of a vector's first element from its address. With a negative increment, the BLAS passes the
/// address of the last element.
fn first(n: Size, inc: Size) -> isize {
    if inc.0 < 0 { (n.get().max(1) as isize - 1).wrapping_neg().wrapping_mul(inc.0 as isize) } else { 0 }
}

/// Returns an immutable view of the vector of n elements at `at`.
///
/// # Safety
/// The elements are valid for reading during `'a`, and nothing writes them.
pub(crate) unsafe fn vector<'a, T>(at: *const T, n: Size, inc: Size) -> VecRef<'a, T> {
    // SAFETY: the caller guarantees that the n elements are readable and not written during `'a`.
    unsafe { VecRef::from_raw(at.wrapping_offset(first(n, inc)), n.get(), inc.0 as isize) }
}

/// Returns a mutable view of the vector of n elements at `at`.
///
/// # Safety
/// The elements are valid for reading and writing during `'a`, and nothing else accesses them.
pub(crate) unsafe fn vector_mut<'a, T>(at: *mut T, n: Size, inc: Size) -> VecMut<'a, T> {
    // SAFETY: the caller guarantees exclusive access to the n elements during `'a`.
    unsafe { VecMut::from_raw(at.wrapping_offset(first(n, inc)), n.get(), inc.0 as isize) }
}
