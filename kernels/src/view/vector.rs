//! [`VecRef`] and [`VecMut`]: views of vectors with any increment between elements: positive, negative or zero.
//!
//! Element i is at `ptr + i * inc`. For positive increments this is the BLAS's convention. For negative increments the
//! BLAS passes the lowest address, which is that of the last element; callers with such a pointer must convert it.
//!
//! Every vector promises the following, and each `unsafe` block relies on it:
//! 1. For `i < n`, the address `ptr + i * inc` holds a valid `T` that outlives the view's lifetime.
//! 2. No other reference accesses any element of a [`VecMut`] while the view is usable, and nobody writes the elements
//!    of a [`VecRef`].
//! 3. The pointer of an empty vector, which may be null, is never dereferenced.
//!
//! Elements are copied in and out. No reference to a single element is made, because all elements of a `VecMut` with an
//! increment of zero are the same element.

use super::{ViewError, ViewErrorKind};
use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;

/// An immutable view of n elements that are `inc` elements apart.
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

// SAFETY: a VecRef only provides copies of elements that it borrows, or a `&[T]`, so it is `Send` exactly if `&[T]` is.
unsafe impl<T: Sync> Send for VecRef<'_, T> {}
// SAFETY: a shared reference to a VecRef only reads elements that it borrows, and `T` is `Sync`.
unsafe impl<T: Sync> Sync for VecRef<'_, T> {}

impl<T> Clone for VecRef<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for VecRef<'_, T> {}

/// Returns the index, in a slice of `len` elements, of the first of n elements that are `inc` apart. With a negative
/// increment, the last of them is at index 0.
fn first_of(len: usize, n: usize, inc: isize) -> Result<usize, ViewError> {
    let reach = n.saturating_sub(1).checked_mul(inc.unsigned_abs());
    match reach {
        _ if n == 0 => Ok(0),
        Some(reach) if reach < len => Ok(if inc < 0 { reach } else { 0 }),
        _ => Err(ViewErrorKind::ShortVector { n, inc, len }.into()),
    }
}

/// Methods of both kinds of vector for the length and the increment.
macro_rules! length {
    () => {
        /// Returns the number of elements, n.
        #[inline(always)]
        pub fn len(&self) -> usize {
            self.n
        }

        /// Returns whether n = 0.
        #[inline(always)]
        pub fn is_empty(&self) -> bool {
            self.n == 0
        }

        /// Returns the distance from one element to the next, in elements; negative if the addresses decrease.
        #[inline(always)]
        pub fn inc(&self) -> isize {
            self.inc
        }
    };
}

impl<'a, T> VecRef<'a, T> {
    /// Returns a view of all elements of a slice.
    #[inline(always)]
    pub fn from_slice(data: &'a [T]) -> Self {
        Self { ptr: data.as_ptr(), n: data.len(), inc: 1, borrow: PhantomData }
    }

    /// Returns a view of n elements of a slice, `inc` apart, beginning with the slice's first element. If `inc` is
    /// negative, they are in reverse order: the slice's first element is the last one.
    ///
    /// # Errors
    /// If n > 0 and the slice has fewer than 1 + (n - 1) |inc| elements.
    pub fn from_strided(data: &'a [T], n: usize, inc: isize) -> Result<Self, ViewError> {
        let first = first_of(data.len(), n, inc)?;
        Ok(Self { ptr: data.as_ptr().wrapping_add(first), n, inc, borrow: PhantomData })
    }

    /// Returns a view of the n elements at `ptr`, `ptr + inc`, `ptr + 2 inc` and so on, for callers from C. The pointer
    /// of an empty vector may be null.
    ///
    /// # Safety
    /// These are valid elements for `'a`, and nobody writes them during `'a`. The memory between them is not accessed.
    #[inline(always)]
    pub unsafe fn from_raw(ptr: *const T, n: usize, inc: isize) -> Self {
        Self { ptr, n, inc, borrow: PhantomData }
    }

    length!();

    /// Returns the address of element 0. It must not be dereferenced if the vector is empty.
    #[inline(always)]
    pub fn as_ptr(&self) -> *const T {
        self.ptr
    }

    /// Returns a copy of element i.
    ///
    /// # Panics
    /// If there is no element i.
    #[inline(always)]
    #[track_caller]
    pub fn at(&self, i: usize) -> T
    where
        T: Copy,
    {
        assert!(i < self.n, "element {i} of a vector of {}", self.n);
        // SAFETY: i is less than n, so promise 1 of the module holds for the address. By promise 2 nobody writes the
        // element meanwhile.
        unsafe { *self.ptr.wrapping_offset(i as isize * self.inc) }
    }

    /// Returns the view of the elements in this range.
    ///
    /// # Panics
    /// If the range ends outside the vector, or before its start.
    #[track_caller]
    pub fn subvector(self, range: Range<usize>) -> Self {
        assert!(range.start <= range.end && range.end <= self.n, "elements {range:?} of a vector of {}", self.n);
        let ptr = self.ptr.wrapping_offset(range.start as isize * self.inc);
        Self { ptr, n: range.len(), ..self }
    }

    /// Returns the elements before element i, and the elements from element i on.
    ///
    /// # Panics
    /// If `i > n`.
    #[track_caller]
    pub fn split_at(self, i: usize) -> (Self, Self) {
        (self.subvector(0..i), self.subvector(i..self.n))
    }

    /// Returns the elements as a slice, or `None` if they are not adjacent.
    #[inline]
    pub fn as_slice(&self) -> Option<&'a [T]> {
        if self.n == 0 {
            return Some(&[]);
        }
        // SAFETY: promises 1 and 2 of the module hold for the n elements, which are adjacent since the increment is 1.
        (self.inc == 1).then(|| unsafe { std::slice::from_raw_parts(self.ptr, self.n) })
    }

    /// Returns copies of all elements.
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

/// A mutable view of n elements that are `inc` elements apart.
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

// SAFETY: a VecMut has exclusive access to its elements for its lifetime, so it is `Send` exactly if `&mut [T]` is.
unsafe impl<T: Send> Send for VecMut<'_, T> {}
// SAFETY: a shared reference to a VecMut only provides copies of elements, or a `&[T]`, and `T` is `Sync`.
unsafe impl<T: Sync> Sync for VecMut<'_, T> {}

impl<'a, T> VecMut<'a, T> {
    /// Returns a view of all elements of a slice.
    #[inline(always)]
    pub fn from_slice(data: &'a mut [T]) -> Self {
        Self { ptr: data.as_mut_ptr(), n: data.len(), inc: 1, borrow: PhantomData }
    }

    /// Returns a mutable view of n elements of a slice; see [`VecRef::from_strided`].
    ///
    /// # Errors
    /// If n > 0 and the slice has fewer than 1 + (n - 1) |inc| elements.
    pub fn from_strided(data: &'a mut [T], n: usize, inc: isize) -> Result<Self, ViewError> {
        let first = first_of(data.len(), n, inc)?;
        Ok(Self { ptr: data.as_mut_ptr().wrapping_add(first), n, inc, borrow: PhantomData })
    }

    /// Returns a view of the n elements at `ptr`, `ptr + inc`, `ptr + 2 inc` and so on, for callers from C. The pointer
    /// of an empty vector may be null.
    ///
    /// # Safety
    /// These are valid elements for `'a`, and nobody else reads or writes them during `'a`. The memory between them is
    /// not accessed.
    #[inline(always)]
    pub unsafe fn from_raw(ptr: *mut T, n: usize, inc: isize) -> Self {
        Self { ptr, n, inc, borrow: PhantomData }
    }

    length!();

    /// Returns the address of element 0. It must not be dereferenced if the vector is empty.
    #[inline(always)]
    pub fn as_mut_ptr(&mut self) -> *mut T {
        self.ptr
    }

    /// Borrows this view and returns an immutable view of the whole vector.
    #[allow(clippy::should_implement_trait)] // AsRef returns a reference, and a view is not one.
    #[inline(always)]
    pub fn as_ref(&self) -> VecRef<'_, T> {
        VecRef { ptr: self.ptr, n: self.n, inc: self.inc, borrow: PhantomData }
    }

    /// Reborrows this view: returns a mutable view of the whole vector with a shorter lifetime.
    #[inline(always)]
    pub fn rb_mut(&mut self) -> VecMut<'_, T> {
        VecMut { ptr: self.ptr, n: self.n, inc: self.inc, borrow: PhantomData }
    }

    /// Returns a copy of element i.
    ///
    /// # Panics
    /// If there is no element i.
    #[inline(always)]
    #[track_caller]
    pub fn at(&self, i: usize) -> T
    where
        T: Copy,
    {
        self.as_ref().at(i)
    }

    /// Sets element i to `value`.
    ///
    /// # Panics
    /// If there is no element i.
    #[inline(always)]
    #[track_caller]
    pub fn set(&mut self, i: usize, value: T)
    where
        T: Copy,
    {
        assert!(i < self.n, "element {i} of a vector of {}", self.n);
        // SAFETY: i is less than n, so promise 1 of the module holds for the address. By promise 2 no other reference
        // accesses the element.
        unsafe { *self.ptr.wrapping_offset(i as isize * self.inc) = value }
    }

    /// Sets every element to `value`.
    pub fn fill(&mut self, value: T)
    where
        T: Copy,
    {
        (0..self.n).for_each(|i| self.set(i, value));
    }

    /// Returns the view of the elements in this range, and gives up the rest.
    ///
    /// # Panics
    /// If the range ends outside the vector, or before its start.
    #[track_caller]
    pub fn subvector(self, range: Range<usize>) -> Self {
        assert!(range.start <= range.end && range.end <= self.n, "elements {range:?} of a vector of {}", self.n);
        let ptr = self.ptr.wrapping_offset(range.start as isize * self.inc);
        Self { ptr, n: range.len(), ..self }
    }

    /// Returns the elements before element i, and the elements from element i on.
    ///
    /// # Panics
    /// If `i > n`, or if the increment is zero and neither part is empty, because the parts would share an element.
    #[track_caller]
    pub fn split_at(self, i: usize) -> (Self, Self) {
        let (n, inc) = (self.n, self.inc);
        assert!(i <= n && (inc != 0 || i == 0 || i == n), "element {i} of a vector of {n} with increment {inc}");
        // The parts have different elements. Unless the increment is zero (then one part is empty), these have
        // different addresses, so promise 2 holds for both parts.
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
        // SAFETY: both vectors are empty, so their null pointers are never dereferenced.
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
