//! The types of the interfaces: letters, enumerators, sizes, and what is wrong with an argument.

pub(crate) use superscalar::dla::Scalar as Routines;
pub(crate) use superscalar::kernels::{
    Diag, MatMut, MatRef, Norm, Op, Real, Scalar, Side, Uplo, VecMut, VecRef, c32, c64,
};

/// An integer of an interface: 32 bits (LP64) or 64 (ILP64).
pub(crate) trait Int: Copy {
    fn wide(self) -> i64;
    fn narrow(wide: i64) -> Self;
    /// The names of the functions that are told of errors.
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

/// A number of elements, or a distance, as it was given: it may be negative.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Size(i64);

impl Size {
    pub(crate) const ZERO: Self = Self(0);
    pub(crate) const ONE: Self = Self(1);
    /// The size of a workspace that is not there, and not needed.
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

    /// As a leading dimension of columns of so many rows.
    pub(crate) fn spans(self, rows: Self) -> bool {
        self >= rows.max(Self::ONE)
    }

    /// As an increment between elements: it leads from each to another.
    pub(crate) fn steps(self) -> bool {
        self.0 != 0
    }

    /// As an increment between elements, forwards.
    pub(crate) fn is_forward(self) -> bool {
        self.0 > 0
    }

    /// As the number of rows of an array of so many diagonals.
    pub(crate) fn holds(self, diagonals: &[Self]) -> bool {
        i128::from(self.0) > diagonals.iter().map(|size| i128::from(size.0)).sum()
    }

    /// As the size of a workspace: the caller asks for it.
    pub(crate) fn is_query(self) -> bool {
        self.0 == -1
    }

    /// As an increment.
    pub(crate) fn stride(self) -> isize {
        self.0 as isize
    }

    /// Where it was found valid.
    pub(crate) fn get(self) -> usize {
        self.0.max(0) as usize
    }
}

/// Fortran's CHARACTER argument, of which the first letter counts, in either case.
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

    /// A letter that means nothing.
    pub(crate) const NONE: Self = Self(b' ');
}

/// An enumerator of the C interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct Code(i32);

/// How a matrix lies in memory.
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

    /// The letter that Fortran's interface has for what is done to a matrix; none for another enumerator.
    pub(crate) fn trans(self) -> Letter {
        self.one_of(&[(111, b'N'), (112, b'T'), (113, b'C')])
    }

    /// For a triangle.
    pub(crate) fn uplo(self) -> Letter {
        self.one_of(&[(121, b'U'), (122, b'L')])
    }

    /// For a diagonal.
    pub(crate) fn diag(self) -> Letter {
        self.one_of(&[(131, b'N'), (132, b'U')])
    }

    /// For the side of a factor.
    pub(crate) fn side(self) -> Letter {
        self.one_of(&[(141, b'L'), (142, b'R')])
    }

    fn one_of(self, letters: &[(i32, u8)]) -> Letter {
        letters.iter().find(|(code, _)| *code == self.0).map_or(Letter::NONE, |&(_, letter)| Letter(letter))
    }
}

/// The first argument that is wrong, counted from one; of the C interface in the call for columns that a call for rows became.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    pub(crate) at: i32,
    pub(crate) is_row_major: bool,
}

/// Of a routine of the BLAS.
pub(crate) type Checked = Result<(), Position>;

/// Why a routine of LAPACK did nothing.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Failure {
    /// This argument is wrong.
    Argument(i32),
    /// This argument holds NaN, which nobody is told but the caller.
    NotANumber(i32),
    /// No memory to turn a matrix by rows into one by columns.
    Transposition,
    /// The runtime failed, or there is no memory for it.
    Unsolved(String),
}

impl From<Position> for Failure {
    fn from(position: Position) -> Self {
        Self::Argument(position.at)
    }
}

/// Of a routine of LAPACK: `info` as far as it is not negative.
pub(crate) type Solved = Result<i64, Failure>;

/// That the arguments at these places hold what they must, the first that does not counts.
pub(crate) fn check(arguments: &[(i32, bool)]) -> Checked {
    arguments
        .iter()
        .find(|(_, is_right)| !is_right)
        .map_or(Ok(()), |&(at, _)| Err(Position { at, is_row_major: false }))
}

/// The column-major matrix at an address, to be read.
///
/// # Safety
/// Its elements may be read for as long as `'a`, and nobody writes them; ld spans m.
pub(crate) unsafe fn matrix<'a, T>(at: *const T, (m, n): (Size, Size), ld: Size) -> MatRef<'a, T> {
    // SAFETY: as the caller promises.
    unsafe { MatRef::from_raw(at, m.get(), n.get(), ld.get()) }
}

/// The column-major matrix at an address, to be written.
///
/// # Safety
/// Its elements may be read and written for as long as `'a`, by nobody else; ld spans m.
pub(crate) unsafe fn matrix_mut<'a, T>(at: *mut T, (m, n): (Size, Size), ld: Size) -> MatMut<'a, T> {
    // SAFETY: as the caller promises.
    unsafe { MatMut::from_raw(at, m.get(), n.get(), ld.get()) }
}

/// The distance from an address to a vector's first element: with a negative increment the address is that of its last.
fn first(n: Size, inc: Size) -> isize {
    if inc.0 < 0 { (n.get().max(1) as isize - 1).wrapping_neg().wrapping_mul(inc.0 as isize) } else { 0 }
}

/// The vector at an address, to be read.
///
/// # Safety
/// Its n elements may be read for as long as `'a`, and nobody writes them.
pub(crate) unsafe fn vector<'a, T>(at: *const T, n: Size, inc: Size) -> VecRef<'a, T> {
    // SAFETY: as the caller promises.
    unsafe { VecRef::from_raw(at.wrapping_offset(first(n, inc)), n.get(), inc.0 as isize) }
}

/// The vector at an address, to be written.
///
/// # Safety
/// Its n elements may be read and written for as long as `'a`, by nobody else.
pub(crate) unsafe fn vector_mut<'a, T>(at: *mut T, n: Size, inc: Size) -> VecMut<'a, T> {
    // SAFETY: as the caller promises.
    unsafe { VecMut::from_raw(at.wrapping_offset(first(n, inc)), n.get(), inc.0 as isize) }
}
