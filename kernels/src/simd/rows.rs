//! The addresses of the rows of a square that is transposed.

/// Where the rows of a square begin. Code that only reads the rows may pass addresses of immutable memory.
pub(crate) trait Rows<R>: Copy {
    /// Returns the address of row i.
    fn row(self, i: usize) -> *mut R;
    /// Returns the rows from row i on.
    fn after(self, i: usize) -> Self;
}

/// Rows at equal distances.
#[derive(Clone, Copy)]
pub(crate) struct Spaced<R> {
    pub first: *mut R,
    pub step: usize,
}

impl<R: Copy> Rows<R> for Spaced<R> {
    #[inline(always)]
    fn row(self, i: usize) -> *mut R {
        self.first.wrapping_add(i * self.step)
    }
    #[inline(always)]
    fn after(self, i: usize) -> Self {
        Self { first: self.row(i), ..self }
    }
}

/// Rows at one offset from separate addresses.
#[derive(Clone, Copy)]
pub(crate) struct Separate<'a, R> {
    pub rows: &'a [*mut R],
    pub offset: usize,
}

impl<R: Copy> Rows<R> for Separate<'_, R> {
    #[inline(always)]
    fn row(self, i: usize) -> *mut R {
        self.rows[i].wrapping_add(self.offset)
    }
    #[inline(always)]
    fn after(self, i: usize) -> Self {
        Self { rows: &self.rows[i..], ..self }
    }
}
