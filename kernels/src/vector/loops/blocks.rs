//! Loops over the columns of a stored block, four at a time: the vector that all columns share is loaded and stored
//! once for four.

use super::Stored;
use super::elementwise::cast;
use super::lanes::{add_columns, dot_columns, factor, plus};
use crate::Scalar;
use crate::simd::{Part, Vector};
use crate::vector::planes::planes;

/// Columns per pass.
const COLUMNS_PER_PASS: usize = 4;

/// Returns the addresses of K columns, from column j on.
#[inline(always)]
pub(crate) fn columns<T, const K: usize>(a: Stored<T>, j: usize) -> [*const T; K] {
    let mut out = [std::ptr::null(); K];
    for (k, out) in out.iter_mut().enumerate() {
        *out = a.at(0, j + k);
    }
    out
}

/// Reads element j of a vector with increment `inc`.
///
/// # Safety
/// The vector has this element.
#[inline(always)]
unsafe fn element<T: Copy>(x: *const T, j: usize, inc: isize) -> T {
    // SAFETY: element j of the vector, which has this increment.
    unsafe { *x.wrapping_offset(j as isize * inc) }
}

/// y += alpha A x, or alpha conj(A) x, where A is m x n and y has adjacent elements.
pub struct Multiply<T> {
    pub shape: (usize, usize),
    pub alpha: T,
    pub a: Stored<T>,
    pub conj: bool,
    pub x: *const T,
    pub inc: isize,
    pub y: *mut T,
}

impl<T: Scalar> Multiply<T> {
    /// Adds columns j .. j + K.
    ///
    /// # Safety
    /// The matrix has these columns.
    #[inline(always)]
    unsafe fn step<V: Vector<Real = T::Real>, const K: usize, const U: usize>(&self, isa: V::Isa, j: usize) {
        // SAFETY: the columns and y have `shape.0` rows, and x has an element for each column.
        unsafe {
            let mut c = [[V::splat(isa, T::Real::ZERO); 2]; K];
            for (k, c) in c.iter_mut().enumerate() {
                *c = factor::<T, V>(isa, self.alpha * element(self.x, j + k, self.inc), self.conj);
            }
            let reals = self.shape.0 * planes::<T>();
            add_columns::<T, V, K, U>(reals, cast(columns::<T, K>(self.a, j)), c, self.y.cast());
        }
    }
}

/// y += alpha Aᵀ x, or alpha Aᴴ x, where A is m x n and x has adjacent elements.
pub struct MultiplyTrans<T> {
    pub shape: (usize, usize),
    pub alpha: T,
    pub a: Stored<T>,
    pub conj: bool,
    pub x: *const T,
    pub y: *mut T,
    pub inc: isize,
}

impl<T: Scalar> MultiplyTrans<T> {
    /// Multiplies by columns j .. j + K.
    ///
    /// # Safety
    /// The matrix has these columns.
    #[inline(always)]
    unsafe fn step<V: Vector<Real = T::Real>, const K: usize, const U: usize>(&self, isa: V::Isa, j: usize) {
        let reals = self.shape.0 * planes::<T>();
        // SAFETY: the columns and x have `shape.0` rows, and y has an element for each column.
        unsafe {
            let a = cast(columns::<T, K>(self.a, j));
            let products = dot_columns::<T, V, K, U>(isa, reals, a, self.x.cast(), self.conj);
            for (k, &product) in products.iter().enumerate() {
                *self.y.wrapping_offset((j + k) as isize * self.inc) += self.alpha * product;
            }
        }
    }
}

/// A += alpha x yᵀ, where A is m x n and x has adjacent elements; `conj` says whether x and y are conjugated.
pub struct Update<T> {
    pub shape: (usize, usize),
    pub alpha: T,
    pub conj: (bool, bool),
    pub x: *const T,
    pub y: *const T,
    pub inc: isize,
    pub a: Stored<T>,
}

impl<T: Scalar> Update<T> {
    /// Updates columns j .. j + K.
    ///
    /// # Safety
    /// The matrix has these columns.
    #[inline(always)]
    unsafe fn step<V: Vector<Real = T::Real>, const K: usize>(&self, isa: V::Isa, j: usize) {
        let (reals, x) = (self.shape.0 * planes::<T>(), self.x.cast::<T::Real>());
        let mut i = 0;
        // SAFETY: the columns and x have `reals` reals, which bounds all lanes; y has an element for each column.
        unsafe {
            let (mut a, mut c) = ([std::ptr::null_mut::<T::Real>(); K], [[V::splat(isa, T::Real::ZERO); 2]; K]);
            for k in 0..K {
                a[k] = self.a.at(0, j + k).cast();
                let y = element(self.y, j + k, self.inc);
                c[k] = factor::<T, V>(isa, self.alpha * if self.conj.1 { y.conj() } else { y }, self.conj.0);
            }
            while i + V::LANES <= reals {
                let x = V::load(isa, x.add(i));
                for k in 0..K {
                    let a = a[k].add(i);
                    plus::<T, V>(V::load(isa, a), x, c[k]).store(a);
                }
                i += V::LANES;
            }
            if i < reals {
                let end = reals - i;
                let x = V::load_lanes(isa, x.add(i), 0, end);
                for k in 0..K {
                    let a = a[k].add(i);
                    plus::<T, V>(V::load_lanes(isa, a, 0, end), x, c[k]).store_lanes(a, 0, end);
                }
            }
        }
    }
}

/// Implements a loop by passes over four columns, then over single ones. The arguments are the number of columns and,
/// where `step` takes it, the number of vectors per pass.
macro_rules! by_columns {
    ($($Part:ident [$($four:tt)*] [$($one:tt)*];)*) => {$(
        impl<T: Scalar, V: Vector<Real = T::Real>> Part<V> for $Part<T> {
            type Output = ();

            /// # Safety
            /// The addresses are valid as the head of [`loops`](super) requires.
            #[inline(always)]
            unsafe fn run(self, isa: V::Isa) {
                let n = self.shape.1;
                let whole = n - n % COLUMNS_PER_PASS;
                // SAFETY: the caller guarantees the vectors and all n columns of the matrix.
                unsafe {
                    for j in (0..whole).step_by(COLUMNS_PER_PASS) {
                        self.step::<V, $($four)*>(isa, j);
                    }
                    for j in whole..n {
                        self.step::<V, $($one)*>(isa, j);
                    }
                }
            }
        }
    )*};
}

by_columns! {
    Multiply [COLUMNS_PER_PASS, 2] [1, 4];
    MultiplyTrans [COLUMNS_PER_PASS, 2] [1, 4];
    Update [COLUMNS_PER_PASS] [1];
}
