//! [`VecRef`] and [`VecMut`]: vectors whose elements lie any distance apart, forwards, backwards or all in one place.
//!
//! Element i is at `ptr + i * inc`. That is the BLAS's convention for positive increments; for negative ones it passes
//! the lowest address, which is that of the last element, and whoever calls from there converts it.
//!
//! What every vector promises, and each `unsafe` block relies on:
//! 1. for `i < n` the address `ptr + i * inc` holds a valid `T` that outlives the view's lifetime;
//! 2. no other reference reaches any element of a [`VecMut`] while it is usable, and nobody writes those of a
//!    [`VecRef`];
//! 3. of an empty vector the pointer, which may be null, is never followed.
//!
//! Elements are copied in and out, and no reference to one is made: the elements of a `VecMut` with an increment of
//! zero are one.

use super::{ViewError, ViewErrorKind};
use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;

/// n elements to read, `inc` elements apart.
///
/// # Example
/// ```
/// use superscalar::kernels::VecRef;
///
/// let data = [1.0, 2.0, 3.0, 4.0, 5.0];
/// assert_eq!(VecRef::from_slice(&data).at(1), 2.0);
/// assert_eq!(VecRef::from_strided(&data, 3, 2)?.to_vec(), [1.0, 3.0, 5.0]);
/// assert_eq!(VecRef::from_strided(&data, 3, -2)?.to_vec(), [5.0, 3.0, 1.0]);
/// # Ok::<(), superscalar::kernels::ViewError>(())
/// ```
pub struct VecRef<'a, T> {
    ptr: *const T,
    n: usize,
    inc: isize,
    borrow: PhantomData<&'a [T]>,
}

// SAFETY: a VecRef gives out nothing but copies of what it borrows, so it crosses threads exactly as `&[T]` does.
unsafe impl<T: Sync> Send for VecRef<'_, T> {}
// SAFETY: a shared view only reads its elements, which may be shared among threads.
unsafe impl<T: Sync> Sync for VecRef<'_, T> {}

impl<T> Clone for VecRef<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for VecRef<'_, T> {}

/// The element of a slice of `len` that is the first of n, where increments as the BLAS has them are allowed.
fn first_of(len: usize, n: usize, inc: isize) -> Result<usize, ViewError> {
    let reach = n.saturating_sub(1).checked_mul(inc.unsigned_abs());
    match reach {
        _ if n == 0 => Ok(0),
        Some(reach) if reach < len => Ok(if inc < 0 { reach } else { 0 }),
        _ => Err(ViewErrorKind::ShortVector { n, inc, len }.into()),
    }
}

/// What vectors of both kinds say of their length and increment.
macro_rules! length {
    () => {
        /// The number of elements, n.
        #[inline(always)]
        pub fn len(&self) -> usize {
            self.n
        }

        /// Whether n = 0.
        #[inline(always)]
        pub fn is_empty(&self) -> bool {
            self.n == 0
        }

        /// Elements from one to the next: negative if they lie backwards.
        #[inline(always)]
        pub fn inc(&self) -> isize {
            self.inc
        }
    };
}

impl<'a, T> VecRef<'a, T> {
    /// The elements of a slice.
    #[inline(always)]
    pub fn from_slice(data: &'a [T]) -> Self {
        Self { ptr: data.as_ptr(), n: data.len(), inc: 1, borrow: PhantomData }
    }

    /// n elements of a slice from its first on, `inc` apart; the other way round from the n-th of these to the first if
    /// `inc` is negative.
    ///
    /// # Errors
    /// A slice of fewer than 1 + (n - 1) |inc| elements.
    pub fn from_strided(data: &'a [T], n: usize, inc: isize) -> Result<Self, ViewError> {
        let first = first_of(data.len(), n, inc)?;
        Ok(Self { ptr: data.as_ptr().wrapping_add(first), n, inc, borrow: PhantomData })
    }

    /// The n elements at `ptr`, `ptr + inc`, `ptr + 2 inc` and so on, for callers from C. An empty vector may be at
    /// null.
    ///
    /// # Safety
    /// For as long as `'a` these are valid elements, and nobody writes them. What is between them is not touched.
    #[inline(always)]
    pub unsafe fn from_raw(ptr: *const T, n: usize, inc: isize) -> Self {
        Self { ptr, n, inc, borrow: PhantomData }
    }

    length!();

    /// The address of element 0. Not to be followed when the vector is empty.
    #[inline(always)]
    pub fn as_ptr(&self) -> *const T {
        self.ptr
    }

    /// A copy of element i.
    ///
    /// # Panics
    /// Outside of the vector.
    #[inline(always)]
    #[track_caller]
    pub fn at(&self, i: usize) -> T
    where
        T: Copy,
    {
        assert!(i < self.n, "element {i} of a vector of {}", self.n);
        // SAFETY: inside, so promise 1 of the module holds for the address, and promise 2 for reading.
        unsafe { *self.ptr.wrapping_offset(i as isize * self.inc) }
    }

    /// The elements in this range.
    ///
    /// # Panics
    /// When it leaves the vector or runs backwards.
    #[track_caller]
    pub fn subvector(self, range: Range<usize>) -> Self {
        assert!(range.start <= range.end && range.end <= self.n, "elements {range:?} of a vector of {}", self.n);
        let ptr = self.ptr.wrapping_offset(range.start as isize * self.inc);
        Self { ptr, n: range.len(), ..self }
    }

    /// The elements before element i, and those from it on.
    ///
    /// # Panics
    /// When `i > n`.
    #[track_caller]
    pub fn split_at(self, i: usize) -> (Self, Self) {
        (self.subvector(0..i), self.subvector(i..self.n))
    }

    /// The elements as a slice, if they are adjacent.
    #[inline]
    pub fn as_slice(&self) -> Option<&'a [T]> {
        if self.n == 0 {
            return Some(&[]);
        }
        // SAFETY: promises 1 and 2 of the module for n adjacent elements.
        (self.inc == 1).then(|| unsafe { std::slice::from_raw_parts(self.ptr, self.n) })
    }

    /// Copies of all elements.
    pub fn to_vec(&self) -> Vec<T>
    where
        T: Copy,
    {
        (0..self.n).map(|i| self.at(i)).collect()
    }
}

impl<T: Copy + fmt::Debug> fmt::Debug for VecRef<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries((0..self.n).map(|i| self.at(i))).finish()
    }
}

/// n elements to write, `inc` elements apart: to a [`VecRef`] what `&mut` is to `&`.
///
/// # Example
/// ```
/// use superscalar::kernels::VecMut;
///
/// let mut data = [0; 5];
/// let (mut left, right) = VecMut::from_strided(&mut data, 3, 2)?.split_at(2);
/// left.set(1, 7);
/// assert_eq!(right.len(), 1);
/// assert_eq!(data, [0, 0, 7, 0, 0]);
/// # Ok::<(), superscalar::kernels::ViewError>(())
/// ```
pub struct VecMut<'a, T> {
    ptr: *mut T,
    n: usize,
    inc: isize,
    borrow: PhantomData<&'a mut [T]>,
}

// SAFETY: a VecMut owns access to its elements alone, so it crosses threads exactly as `&mut [T]` does.
unsafe impl<T: Send> Send for VecMut<'_, T> {}
// SAFETY: a shared VecMut gives out nothing but copies.
unsafe impl<T: Sync> Sync for VecMut<'_, T> {}

impl<'a, T> VecMut<'a, T> {
    /// The elements of a slice.
    #[inline(always)]
    pub fn from_slice(data: &'a mut [T]) -> Self {
        Self { ptr: data.as_mut_ptr(), n: data.len(), inc: 1, borrow: PhantomData }
    }

    /// n elements of a slice; see [`VecRef::from_strided`].
    ///
    /// # Errors
    /// A slice of fewer than 1 + (n - 1) |inc| elements.
    pub fn from_strided(data: &'a mut [T], n: usize, inc: isize) -> Result<Self, ViewError> {
        let first = first_of(data.len(), n, inc)?;
        Ok(Self { ptr: data.as_mut_ptr().wrapping_add(first), n, inc, borrow: PhantomData })
    }

    /// The n elements at `ptr`, `ptr + inc`, `ptr + 2 inc` and so on, for callers from C. An empty vector may be at
    /// null.
    ///
    /// # Safety
    /// For as long as `'a` these are valid elements, and nobody else reads or writes them. What is between them is not
    /// touched.
    #[inline(always)]
    pub unsafe fn from_raw(ptr: *mut T, n: usize, inc: isize) -> Self {
        Self { ptr, n, inc, borrow: PhantomData }
    }

    length!();

    /// The address of element 0. Not to be followed when the vector is empty.
    #[inline(always)]
    pub fn as_mut_ptr(&mut self) -> *mut T {
        self.ptr
    }

    /// The same vector to read, for as long as this view is lent.
    #[allow(clippy::should_implement_trait)] // AsRef returns a reference, and a view is not one.
    #[inline(always)]
    pub fn as_ref(&self) -> VecRef<'_, T> {
        VecRef { ptr: self.ptr, n: self.n, inc: self.inc, borrow: PhantomData }
    }

    /// The same vector to write, for as long as this view is lent.
    #[inline(always)]
    pub fn rb_mut(&mut self) -> VecMut<'_, T> {
        VecMut { ptr: self.ptr, n: self.n, inc: self.inc, borrow: PhantomData }
    }

    /// A copy of element i.
    ///
    /// # Panics
    /// Outside of the vector.
    #[inline(always)]
    #[track_caller]
    pub fn at(&self, i: usize) -> T
    where
        T: Copy,
    {
        self.as_ref().at(i)
    }

    /// Sets element i.
    ///
    /// # Panics
    /// Outside of the vector.
    #[inline(always)]
    #[track_caller]
    pub fn set(&mut self, i: usize, value: T)
    where
        T: Copy,
    {
        assert!(i < self.n, "element {i} of a vector of {}", self.n);
        // SAFETY: inside, so promise 1 of the module holds for the address; no other view reaches it by promise 2.
        unsafe { *self.ptr.wrapping_offset(i as isize * self.inc) = value }
    }

    /// Sets every element.
    pub fn fill(&mut self, value: T)
    where
        T: Copy,
    {
        (0..self.n).for_each(|i| self.set(i, value));
    }

    /// The elements in this range, giving up the rest.
    ///
    /// # Panics
    /// When it leaves the vector or runs backwards.
    #[track_caller]
    pub fn subvector(self, range: Range<usize>) -> Self {
        assert!(range.start <= range.end && range.end <= self.n, "elements {range:?} of a vector of {}", self.n);
        let ptr = self.ptr.wrapping_offset(range.start as isize * self.inc);
        Self { ptr, n: range.len(), ..self }
    }

    /// The elements before element i, and those from it on.
    ///
    /// # Panics
    /// When `i > n`, or when the increment is zero and both parts would have elements: these would be one.
    #[track_caller]
    pub fn split_at(self, i: usize) -> (Self, Self) {
        let (n, inc) = (self.n, self.inc);
        assert!(i <= n && (inc != 0 || i == 0 || i == n), "element {i} of a vector of {n} with increment {inc}");
        // Different elements, which have different addresses: promise 2 holds for both parts.
        let second = Self { ptr: self.ptr.wrapping_offset(i as isize * inc), n: n - i, ..self };
        (self.subvector(0..i), second)
    }
}

impl<T: Copy + fmt::Debug> fmt::Debug for VecMut<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_ref().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_stay_in_their_slice() {
        let data = [1, 2, 3, 4];
        assert!(VecRef::from_strided(&data, 3, 2).is_err() && VecRef::from_strided(&data, 5, -1).is_err());
        assert!(VecRef::from_strided(&data, 2, isize::MIN).is_err());
        assert!(VecRef::from_strided(&data[..0], 1, 0).is_err());
        assert!(VecRef::from_strided(&data[..0], 0, 3).is_ok());
        assert_eq!(VecRef::from_strided(&data, 3, 0).unwrap().to_vec(), [1, 1, 1]);
        assert_eq!(VecRef::from_strided(&data, 4, -1).unwrap().subvector(1..3).to_vec(), [3, 2]);
    }

    #[test]
    fn null_is_an_empty_vector() {
        // SAFETY: there is no element.
        let (x, mut y) =
            unsafe { (VecRef::<f64>::from_raw(std::ptr::null(), 0, 1), VecMut::from_raw(std::ptr::null_mut(), 0, -1)) };
        y.fill(1.0);
        assert_eq!((x.to_vec(), x.as_slice(), y.len()), (vec![], Some(&[][..]), 0));
    }

    #[test]
    #[should_panic(expected = "increment 0")]
    fn one_element_is_not_split() {
        let mut data = [1.0];
        let _ = VecMut::from_strided(&mut data, 2, 0).unwrap().split_at(1);
    }
}
