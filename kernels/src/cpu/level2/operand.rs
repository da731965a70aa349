//! Operands of the Level-2 BLAS: matrices stored by columns or by rows, and vectors copied to adjacent elements.

use crate::backend::vectors;
use crate::vector::Workspace;
use crate::vector::loops::{ScaleVector, Stored};
use crate::{MatMut, MatRef, Scalar, Uplo, VecMut, VecRef};

/// A view whose elements may be conjugated when they are read. A plain view converts into it by `into()`.
///
/// # Example
/// ```
/// use superscalar::kernels::{MatRef, Op, VecMut, VecRef, c64, cpu};
///
/// let (i, mut y) = ([c64::new(0.0, 1.0)], [c64::new(0.0, 0.0)]);
/// let a = cpu::Conj::of(MatRef::from_col_major(&i, 1, 1, 1)?);
/// cpu::gemv(Op::None, c64::from(1.0), a, VecRef::from_slice(&i), c64::from(0.0), VecMut::from_slice(&mut y));
/// assert_eq!(y, [c64::from(1.0)]);
/// # Ok::<(), superscalar::kernels::ViewError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Conj<V> {
    pub(super) view: V,
    pub(super) conj: bool,
}

impl<V> Conj<V> {
    /// Conjugates the elements of `view`.
    pub fn of(view: V) -> Self {
        Self { view, conj: true }
    }
}

impl<'a, T> From<MatRef<'a, T>> for Conj<MatRef<'a, T>> {
    fn from(view: MatRef<'a, T>) -> Self {
        Self { view, conj: false }
    }
}

impl<'a, T> From<VecRef<'a, T>> for Conj<VecRef<'a, T>> {
    fn from(view: VecRef<'a, T>) -> Self {
        Self { view, conj: false }
    }
}

/// Returns a dense matrix by columns and `false`, or, if its rows are adjacent elements, its transpose and `true`.
///
/// # Panics
/// If neither the elements of columns nor those of rows are adjacent.
#[track_caller]
pub(super) fn by_columns<T>(a: MatRef<'_, T>) -> (Stored<T>, bool) {
    let ptr = a.as_ptr().cast_mut();
    if a.nrows() <= 1 || a.row_stride() == 1 {
        (Stored::dense(ptr, a.col_stride()), false)
    } else {
        let fits = a.ncols() <= 1 || a.col_stride() == 1;
        assert!(fits, "level 2: neither of the strides {} and {} is 1", a.row_stride(), a.col_stride());
        (Stored::dense(ptr, a.row_stride()), true)
    }
}

/// Like [`by_columns`] for a mutable view.
///
/// # Panics
/// If neither the elements of columns nor those of rows are adjacent.
#[track_caller]
pub(super) fn by_columns_mut<T>(a: &mut MatMut<'_, T>) -> (Stored<T>, bool) {
    let (m, n, by_rows) = (a.nrows(), a.ncols(), a.row_stride() != 1);
    let (rows, columns, ptr) = (a.row_stride(), a.col_stride(), a.as_mut_ptr());
    if m <= 1 || !by_rows {
        (Stored::dense(ptr, columns), false)
    } else {
        assert!(n <= 1 || columns == 1, "level 2: neither of the strides {rows} and {columns} is 1");
        (Stored::dense(ptr, rows), true)
    }
}

/// Checks a packed triangle of order n.
///
/// # Panics
/// If the elements are not adjacent, or their number is not that of a triangle of order n.
#[track_caller]
pub(super) fn check_packed(n: usize, len: usize, inc: isize) {
    assert!(len <= 1 || inc == 1, "level 2: the increment of a packed triangle is {inc}, not 1");
    // In 128 bits, because a vector with an increment of zero may have any length.
    let wanted = n as u128 * (n as u128 + 1) / 2;
    assert!(len as u128 == wanted, "level 2: a packed triangle of order {n} does not have {len} elements");
}

/// Returns a packed triangle of order n.
pub(super) fn packed<T>(ptr: *mut T, n: usize, uplo: Uplo) -> Stored<T> {
    match uplo {
        Uplo::Lower => Stored::packed_lower(ptr, n),
        Uplo::Upper => Stored::packed_upper(ptr),
    }
}

/// Returns the triangle that a band array holds, and its number of diagonals beside the main one.
#[track_caller]
pub(super) fn triangle_of_band<T>(a: MatRef<'_, T>, uplo: Uplo) -> (Stored<T>, usize) {
    let k = check_band(a);
    let ku = if uplo == Uplo::Upper { k } else { 0 };
    (Stored::band(a.as_ptr().cast_mut(), a.col_stride(), ku), k)
}

/// Returns the number of diagonals beside the first in the array of a band.
///
/// # Panics
/// If the array has no row, or its columns are not adjacent elements.
#[track_caller]
pub(super) fn check_band<T>(a: MatRef<'_, T>) -> usize {
    assert!(
        a.nrows() > 0 && (a.nrows() == 1 || a.row_stride() == 1),
        "level 2: array of a band with shape {:?} and row stride {}: expected at least one row, and row stride 1",
        a.shape(),
        a.row_stride()
    );
    a.nrows() - 1
}

/// Scales y by beta; beta = 0 does not read it.
pub(in crate::cpu) fn scale<T: Scalar>(beta: T, y: &mut VecMut<'_, T>) {
    let n = y.len();
    if beta == T::ONE {
    } else if beta == T::ZERO {
        y.fill(T::ZERO);
    } else if y.inc() == 1 {
        // SAFETY: y has n adjacent elements and is borrowed exclusively.
        unsafe { (vectors::<T>().scale)(ScaleVector { n, c: beta, x: y.as_mut_ptr() }) };
    } else {
        (0..n).for_each(|i| y.set(i, beta * y.at(i)));
    }
}

/// A vector to read, with adjacent elements: the vector itself, or a copy.
pub(super) struct Adjacent<T> {
    ptr: *const T,
    _room: Option<Workspace<T>>,
}

impl<T: Scalar> Adjacent<T> {
    pub fn of(x: VecRef<'_, T>) -> Self {
        if x.inc() == 1 {
            return Self { ptr: x.as_ptr(), _room: None };
        }
        let mut room = Workspace::<T>::take(x.len());
        for (i, to) in room.elements().iter_mut().enumerate() {
            *to = x.at(i);
        }
        Self { ptr: room.elements().as_ptr(), _room: Some(room) }
    }

    /// Returns the address of element i.
    pub fn at(&self, i: usize) -> *const T {
        self.ptr.wrapping_add(i)
    }
}

/// A vector to write, with adjacent elements: the vector itself, or a copy that is copied back on drop.
pub(super) struct AdjacentMut<'a, T: Scalar> {
    ptr: *mut T,
    copied: Option<(VecMut<'a, T>, Workspace<T>)>,
}

impl<'a, T: Scalar> AdjacentMut<'a, T> {
    pub fn of(mut y: VecMut<'a, T>) -> Self {
        if y.inc() == 1 {
            return Self { ptr: y.as_mut_ptr(), copied: None };
        }
        let mut room = Workspace::<T>::take(y.len());
        for (i, to) in room.elements().iter_mut().enumerate() {
            *to = y.at(i);
        }
        Self { ptr: room.elements().as_mut_ptr(), copied: Some((y, room)) }
    }

    /// Returns the address of element i.
    pub fn at(&self, i: usize) -> *mut T {
        self.ptr.wrapping_add(i)
    }
}

impl<T: Scalar> Drop for AdjacentMut<'_, T> {
    fn drop(&mut self) {
        if let Some((y, room)) = &mut self.copied {
            for (i, &x) in room.elements().iter().enumerate() {
                y.set(i, x);
            }
        }
    }
}
