//! [`Scratch`]: the working memory of one call on a device.
//!
//! A call is a sequence of launches in one in-order queue, so a later launch may reuse the memory of an earlier one.
//! Scratch is therefore a stack.

use std::ops::Range;
use superscalar_runtime::DeviceError;

/// A range of bytes of a heap, from which pieces are taken that begin at multiples of `ALIGN`.
pub(crate) struct Scratch<const ALIGN: usize> {
    next: usize,
    highest: usize,
    end: usize,
}

/// A point to release scratch to.
#[derive(Clone, Copy)]
pub(crate) struct Mark(usize);

impl<const ALIGN: usize> Scratch<ALIGN> {
    pub fn new(bytes: Range<usize>) -> Self {
        Self { next: bytes.start, highest: bytes.start, end: bytes.end }
    }

    /// Makes scratch without a heap and without a limit, which measures how much a call takes.
    pub fn measuring() -> Self {
        Self::new(0..usize::MAX)
    }

    /// Returns an upper bound of the bytes taken, for a scratch range that begins anywhere.
    pub fn bytes(&self) -> usize {
        if self.highest == 0 { 0 } else { self.highest + ALIGN }
    }

    /// Takes room for `elements` elements, until it is [released](Self::release). Returns its offset, counted in such
    /// elements.
    pub fn take<E>(&mut self, elements: usize) -> Result<usize, DeviceError> {
        let start = self.next.next_multiple_of(ALIGN);
        let end = elements.checked_mul(size_of::<E>()).and_then(|bytes| start.checked_add(bytes));
        let Some(end) = end.filter(|&end| end <= self.end) else {
            let left = self.end - start.min(self.end);
            return Err(DeviceError::new(format!(
                "scratch memory has {left} bytes left, too few for {elements} more elements"
            )));
        };
        self.next = end;
        self.highest = self.highest.max(end);
        Ok(start / size_of::<E>())
    }

    pub fn mark(&self) -> Mark {
        Mark(self.next)
    }

    /// Gives back what was taken since the mark.
    pub fn release(&mut self, mark: Mark) {
        self.next = mark.0;
    }
}
