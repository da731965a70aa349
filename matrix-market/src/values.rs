//! The values of the stored entries, in the type of their field.

use num_complex::Complex;

use crate::types::Field;

/// The values of the stored entries, in the order of the file.
///
/// ```
/// use superscalar::dla::matrix_market::{Field, Values};
///
/// assert_eq!(Values::Integer(vec![3, -1]).field(), Field::Integer);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// No values; each stored position counts as 1.
    Pattern,
    /// 64-bit integers.
    Integer(Vec<i64>),
    /// 64-bit floats.
    Real(Vec<f64>),
    /// Pairs of 64-bit floats.
    Complex(Vec<Complex<f64>>),
}

impl Values {
    /// Returns the field of these values.
    ///
    /// ```
    /// # use superscalar::dla::matrix_market::{Field, Values};
    /// assert_eq!(Values::Pattern.field(), Field::Pattern);
    /// ```
    #[must_use]
    pub fn field(&self) -> Field {
        match self {
            Self::Pattern => Field::Pattern,
            Self::Integer(_) => Field::Integer,
            Self::Real(_) => Field::Real,
            Self::Complex(_) => Field::Complex,
        }
    }

    pub(crate) fn with_capacity(field: Field, entries: usize) -> Self {
        match field {
            Field::Pattern => Self::Pattern,
            Field::Integer => Self::Integer(Vec::with_capacity(entries)),
            Field::Real => Self::Real(Vec::with_capacity(entries)),
            Field::Complex => Self::Complex(Vec::with_capacity(entries)),
        }
    }

    /// Returns the number of values, or `None` for a pattern, which has no values.
    pub(crate) fn len(&self) -> Option<usize> {
        match self {
            Self::Pattern => None,
            Self::Integer(values) => Some(values.len()),
            Self::Real(values) => Some(values.len()),
            Self::Complex(values) => Some(values.len()),
        }
    }

    /// Returns the real and imaginary part of value `k`.
    pub(crate) fn parts(&self, k: usize) -> (f64, f64) {
        match self {
            Self::Pattern => (1.0, 0.0),
            Self::Integer(values) => (values[k] as f64, 0.0),
            Self::Real(values) => (values[k], 0.0),
            Self::Complex(values) => (values[k].re, values[k].im),
        }
    }
}
