//! rot and rotm: plane rotations of two vectors.

use super::{address_mut, adjacent, check};
use crate::backend::vectors;
use crate::vector::loops::Rotate;
use crate::{Real, Scalar, VecMut};

/// Computes (x, y) = (c x + s y, c y - s x), element by element, for a real rotation of real or complex vectors.
///
/// # Panics
/// If the lengths differ.
///
/// # Example
/// ```
/// use superscalar::kernels::{VecMut, cpu};
///
/// let (mut x, mut y) = ([1.0], [2.0]);
/// cpu::rot(VecMut::from_slice(&mut x), VecMut::from_slice(&mut y), 0.0, 1.0);
/// assert_eq!((x, y), ([2.0], [-1.0]));
/// ```
pub fn rot<T: Scalar>(x: VecMut<'_, T>, y: VecMut<'_, T>, c: T::Real, s: T::Real) {
    check("rot", x.len(), y.len());
    rotate(x, y, [c, s, -s, c]);
}

/// Computes (x, y) = (h[0] x + h[1] y, h[2] x + h[3] y).
fn rotate<T: Scalar>(mut x: VecMut<'_, T>, mut y: VecMut<'_, T>, h: [T::Real; 4]) {
    let n = x.len();
    if let Some((x, y)) = adjacent(address_mut(&mut x), address_mut(&mut y), n) {
        let reals = n * size_of::<T>() / size_of::<T::Real>();
        // SAFETY: the adjacent elements of both vectors consist of this many reals, and both are borrowed exclusively.
        return unsafe { (vectors::<T>().rotate)(Rotate { reals, h, x: x.cast(), y: y.cast() }) };
    }
    let sum = |a: T::Real, x: T, b: T::Real, y: T| T::from_parts(a * x.re() + b * y.re(), a * x.im() + b * y.im());
    for i in 0..n {
        let (of_x, of_y) = (x.at(i), y.at(i));
        x.set(i, sum(h[0], of_x, h[1], of_y));
        y.set(i, sum(h[2], of_x, h[3], of_y));
    }
}

/// A modified rotation H = [h11 h12; h21 h22], in which some elements may be ones.
///
/// # Example
/// ```
/// use superscalar::kernels::cpu::ModifiedRotation;
/// let h = ModifiedRotation::from_param(&[0.0, f64::NAN, 2.0, 3.0, f64::NAN]);
/// assert_eq!(h, ModifiedRotation::OnesOnDiagonal { h21: 2.0, h12: 3.0 });
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ModifiedRotation<R> {
    /// The flag -2: H is the identity.
    Identity,
    /// The flag -1: all elements.
    Full {
        /// Row 1, column 1.
        h11: R,
        /// Row 2, column 1.
        h21: R,
        /// Row 1, column 2.
        h12: R,
        /// Row 2, column 2.
        h22: R,
    },
    /// The flag 0: h11 = h22 = 1.
    OnesOnDiagonal {
        /// Row 2, column 1.
        h21: R,
        /// Row 1, column 2.
        h12: R,
    },
    /// The flag 1: h12 = 1, h21 = -1.
    OnesOffDiagonal {
        /// Row 1, column 1.
        h11: R,
        /// Row 2, column 2.
        h22: R,
    },
}

impl<R: Real> ModifiedRotation<R> {
    /// Reads the array `param` of the BLAS: flag, h11, h21, h12, h22. Elements that the flag implies are not read.
    pub fn from_param(param: &[R; 5]) -> Self {
        let &[flag, h11, h21, h12, h22] = param;
        if flag == R::from_f64(-2.0) {
            Self::Identity
        } else if flag < R::ZERO {
            Self::Full { h11, h21, h12, h22 }
        } else if flag == R::ZERO {
            Self::OnesOnDiagonal { h21, h12 }
        } else {
            Self::OnesOffDiagonal { h11, h22 }
        }
    }

    /// Writes the array `param`. Elements that the flag implies are not written.
    pub fn write_param(self, param: &mut [R; 5]) {
        let flag = |x: f64| R::from_f64(x);
        match self {
            Self::Identity => param[0] = flag(-2.0),
            Self::Full { h11, h21, h12, h22 } => *param = [flag(-1.0), h11, h21, h12, h22],
            Self::OnesOnDiagonal { h21, h12 } => (param[0], param[2], param[3]) = (R::ZERO, h21, h12),
            Self::OnesOffDiagonal { h11, h22 } => (param[0], param[1], param[4]) = (R::ONE, h11, h22),
        }
    }

    /// Returns h11, h12, h21, h22.
    pub fn rows(self) -> [R; 4] {
        let (zero, one) = (R::ZERO, R::ONE);
        match self {
            Self::Identity => [one, zero, zero, one],
            Self::Full { h11, h21, h12, h22 } => [h11, h12, h21, h22],
            Self::OnesOnDiagonal { h21, h12 } => [one, h12, h21, one],
            Self::OnesOffDiagonal { h11, h22 } => [h11, one, -one, h22],
        }
    }
}

/// Computes (x, y) = (h11 x + h12 y, h21 x + h22 y), element by element.
///
/// # Panics
/// If the lengths differ.
///
/// # Example
/// ```
/// use superscalar::kernels::{VecMut, cpu, cpu::ModifiedRotation};
///
/// let (mut x, mut y) = ([1.0], [2.0]);
/// let h = ModifiedRotation::OnesOnDiagonal { h21: 3.0, h12: 4.0 };
/// cpu::rotm(VecMut::from_slice(&mut x), VecMut::from_slice(&mut y), h);
/// assert_eq!((x, y), ([9.0], [5.0]));
/// ```
pub fn rotm<R: Real>(x: VecMut<'_, R>, y: VecMut<'_, R>, h: ModifiedRotation<R>) {
    check("rotm", x.len(), y.len());
    if h != ModifiedRotation::Identity {
        rotate(x, y, h.rows());
    }
}
