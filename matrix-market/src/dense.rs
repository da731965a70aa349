//! Makes a [`Market`] from a dense matrix of any type.

use num_complex::Complex;

use crate::error::{Error, Location, Repr};
use crate::market::Market;
use crate::read::PREALLOCATED_ENTRIES_MAX;
use crate::triangle::{StoredPositions, stored_cells};
use crate::types::{Field, Format, Header, Position, Shape};
use crate::values::Values;

/// 2^63, the smallest float that is too large for `i64`.
const I64_END: f64 = 9_223_372_036_854_775_808.0;

impl Market {
    /// Makes the matrix whose element (i, j), counted from 0, has real and imaginary part `value(i, j)`.
    ///
    /// `value` is called once, column by column, for each position that the symmetry stores. As in LAPACK, the other
    /// triangle is not read: the caller ensures that it mirrors the lower one, and that the diagonal of a
    /// skew-symmetric matrix is zero. Coordinate format omits zeros of either sign; array format keeps all elements;
    /// a pattern keeps the positions of the nonzero elements.
    ///
    /// # Errors
    /// Returns an error if
    /// - `header` is an undefined combination,
    /// - the symmetry needs a square matrix and the shape is not square,
    /// - a value is not in the field (an imaginary part in a real matrix, a fraction in an integer one), or
    /// - the diagonal of a hermitian matrix is not real.
    ///
    /// The error's entry number is the number of preceding calls of `value`.
    ///
    /// ```
    /// use superscalar::dla::matrix_market::{self as matrix_market, Field, Format, Header, Market, Shape, Symmetry};
    ///
    /// let a = [4.0, -1.5, 0.0, 2.0]; // 2 x 2 by columns; symmetric, and only the lower triangle counts
    /// let header = Header { format: Format::Coordinate, field: Field::Real, symmetry: Symmetry::Symmetric };
    /// let market = Market::from_dense(header, Shape { m: 2, n: 2 }, |i, j| (a[i + 2 * j], 0.0))?;
    /// let mut text = Vec::new();
    /// matrix_market::write(&market, &mut text)?;
    /// let expected = "%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 4e0\n2 1 -1.5e0\n2 2 2e0\n";
    /// assert_eq!(text, expected.as_bytes());
    /// # Ok::<(), matrix_market::Error>(())
    /// ```
    pub fn from_dense(
        header: Header,
        shape: Shape,
        mut value: impl FnMut(usize, usize) -> (f64, f64),
    ) -> Result<Self, Error> {
        let Header { format, field, symmetry } = header;
        let checked = header.check().and_then(|()| symmetry.check_shape(shape));
        checked.map_err(|repr| repr.at(Location::Whole))?;
        let cells = usize::try_from(stored_cells(symmetry, shape));
        let cells = cells.map_err(|_| Repr::Uncountable { shape }.at(Location::Whole))?;
        let mut positions = Vec::new();
        let mut values = Values::with_capacity(field, cells.min(PREALLOCATED_ENTRIES_MAX));
        for (k, at) in StoredPositions::new(symmetry, shape).take(cells).enumerate() {
            let parts = value(at.i, at.j);
            if format == Format::Coordinate {
                if parts == (0.0, 0.0) {
                    continue;
                }
                positions.push(at);
            }
            let checked = symmetry.check_entry(at, parts, 0).and_then(|()| push(&mut values, parts, at));
            checked.map_err(|repr| repr.at(Location::Entry(k)))?;
        }
        Ok(Self::from_checked(header, shape, positions, values))
    }
}

/// Appends a value, or returns an error if it is not in the field.
fn push(values: &mut Values, (re, im): (f64, f64), at: Position) -> Result<(), Repr> {
    let outside = |field| Repr::NotInField { re, im, i: at.i, j: at.j, field };
    // A NaN compares unequal to zero, so it is refused too.
    if im != 0.0 && matches!(values.field(), Field::Real | Field::Integer) {
        return Err(outside("real"));
    }
    match values {
        Values::Pattern => {}
        Values::Integer(values) => {
            if re.fract() != 0.0 || !(-I64_END..I64_END).contains(&re) {
                return Err(outside("a 64-bit integer"));
            }
            values.push(re as i64);
        }
        Values::Real(values) => values.push(re),
        Values::Complex(values) => values.push(Complex::new(re, im)),
    }
    Ok(())
}
