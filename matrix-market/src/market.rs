//! A matrix as a Matrix Market file has it: header, shape, comments, stored entries.

use crate::error::{Error, Kind, Place};
use crate::triangle::{Packed, stored_cells};
use crate::types::{Field, Format, Header, Position, Shape, Symmetry};
use crate::values::Values;

/// The content of a Matrix Market file, entries as stored: one triangle only if it is symmetric.
///
/// Every `Market` is valid: its header is a combination that means something, its indices are in range and in the
/// triangle that its symmetry stores, and its diagonal is what its symmetry demands. [`read`](crate::read()) and the
/// constructors here refuse anything else, so [`write`](crate::write()) can only fail for want of a disk.
///
/// Equality compares what is stored, in order; a NaN is not equal to itself.
///
/// ```
/// use superscalar::dla::matrix_market::{Market, Position, Shape, Symmetry, Values};
///
/// let positions = vec![Position { i: 0, j: 0 }, Position { i: 2, j: 1 }];
/// let values = Values::Integer(vec![5, 7]);
/// let market = Market::coordinate(Symmetry::Symmetric, Shape { m: 3, n: 3 }, positions, values)?;
/// assert_eq!(market.nnz(), 2);
/// # Ok::<(), superscalar::dla::matrix_market::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Market {
    header: Header,
    shape: Shape,
    /// Each ended by a line feed. One string, so that a file of empty comments costs no more than its length.
    comments: String,
    /// Empty for array format, whose positions follow from the order.
    positions: Vec<Position>,
    values: Values,
}

impl Market {
    /// A matrix in coordinate format: the value `k` stands at position `k`.
    ///
    /// `positions` may come in any order and may repeat; see [`fill`](Self::fill) for what repetition means.
    ///
    /// # Errors
    /// If the header would be a combination without meaning; the shape is not square and the symmetry needs it; the
    /// numbers of positions and values differ; or an entry is out of range, in the triangle that is not stored, or on
    /// the diagonal and not what the symmetry demands there.
    ///
    /// ```
    /// use superscalar::dla::matrix_market::{Market, Position, Shape, Symmetry, Values};
    ///
    /// let positions = vec![Position { i: 0, j: 3 }];
    /// let error = Market::coordinate(Symmetry::General, Shape { m: 3, n: 3 }, positions, Values::Pattern);
    /// assert_eq!(error.unwrap_err().to_string(), "entry 0: column index 3 is out of range 0..3");
    /// ```
    pub fn coordinate(
        symmetry: Symmetry,
        shape: Shape,
        positions: Vec<Position>,
        values: Values,
    ) -> Result<Self, Error> {
        let header = Header { format: Format::Coordinate, field: values.field(), symmetry };
        check_matrix(header, shape)?;
        check_count(&values, positions.len() as u128)?;
        for (k, &position) in positions.iter().enumerate() {
            let in_range = check_range(position, shape);
            let checked = in_range.and_then(|()| symmetry.check_entry(position, values.parts(k), 0));
            checked.map_err(|kind| kind.at(Place::Entry(k)))?;
        }
        Ok(Self::from_checked(header, shape, positions, values))
    }

    /// A matrix in array format: the values column by column, of each column only what the symmetry stores (all of it;
    /// from the diagonal down; or from below the diagonal down).
    ///
    /// # Errors
    /// If the header would be a combination without meaning (a pattern is); the shape is not square and the symmetry
    /// needs it; the number of values is not what shape and symmetry demand; or the diagonal of a hermitian matrix is
    /// not real.
    ///
    /// ```
    /// use superscalar::dla::matrix_market::{Market, Shape, Symmetry, Values};
    ///
    /// let lower = Values::Real(vec![1.0, 2.0, 3.0]);
    /// let market = Market::array(Symmetry::Symmetric, Shape { m: 2, n: 2 }, lower)?;
    /// assert_eq!(market.entries().nth(1).map(|entry| (entry.i, entry.j)), Some((1, 0)));
    /// # Ok::<(), superscalar::dla::matrix_market::Error>(())
    /// ```
    pub fn array(symmetry: Symmetry, shape: Shape, values: Values) -> Result<Self, Error> {
        let header = Header { format: Format::Array, field: values.field(), symmetry };
        check_matrix(header, shape)?;
        check_count(&values, stored_cells(symmetry, shape))?;
        let market = Self::from_checked(header, shape, Vec::new(), values);
        for (k, position) in Packed::new(symmetry, shape).take(market.nnz()).enumerate() {
            let checked = symmetry.check_entry(position, market.values.parts(k), 0);
            checked.map_err(|kind| kind.at(Place::Entry(k)))?;
        }
        Ok(market)
    }

    /// The same matrix with one comment per line of `text` instead of its former comments. Blanks at the ends of lines
    /// are dropped, for they would not survive a file.
    ///
    /// ```
    /// use superscalar::dla::matrix_market::{Market, Shape, Symmetry, Values};
    ///
    /// let market = Market::array(Symmetry::General, Shape { m: 1, n: 1 }, Values::Integer(vec![42]))?;
    /// let market = market.with_comments(" the answer\n to what?");
    /// assert_eq!(market.comments().collect::<Vec<_>>(), [" the answer", " to what?"]);
    /// # Ok::<(), superscalar::dla::matrix_market::Error>(())
    /// ```
    #[must_use]
    pub fn with_comments(mut self, text: &str) -> Self {
        self.comments = text.lines().flat_map(|line| [line.trim_ascii_end(), "\n"]).collect();
        self
    }

    /// What the banner says.
    ///
    /// ```
    /// # use superscalar::dla::matrix_market::{self as matrix_market, Field};
    /// let market = matrix_market::read(&b"%%MatrixMarket matrix array integer general\n1 1\n8\n"[..])?;
    /// assert_eq!(market.header().field, Field::Integer);
    /// # Ok::<(), matrix_market::Error>(())
    /// ```
    #[must_use]
    pub fn header(&self) -> Header {
        self.header
    }

    /// Rows and columns of the whole matrix.
    ///
    /// A file with few entries may announce a shape that no memory holds: look before filling a dense matrix.
    ///
    /// ```
    /// # use superscalar::dla::matrix_market::{self as matrix_market, Shape};
    /// let market = matrix_market::read(&b"%%MatrixMarket matrix coordinate pattern general\n2 3 0\n"[..])?;
    /// assert_eq!(market.shape(), Shape { m: 2, n: 3 });
    /// # Ok::<(), matrix_market::Error>(())
    /// ```
    #[must_use]
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The comments in order, each without its `%` and without blanks at its end.
    ///
    /// ```
    /// # use superscalar::dla::matrix_market as matrix_market;
    /// let text = "%%MatrixMarket matrix coordinate pattern general\n% by hand\n2 3 0\n";
    /// assert_eq!(matrix_market::read(text.as_bytes())?.comments().collect::<Vec<_>>(), [" by hand"]);
    /// # Ok::<(), matrix_market::Error>(())
    /// ```
    pub fn comments(&self) -> impl Iterator<Item = &str> {
        self.comments.lines()
    }

    /// The number of stored entries: one triangle of a symmetric matrix, and with repetitions and explicit zeros.
    ///
    /// ```
    /// # use superscalar::dla::matrix_market as matrix_market;
    /// let text = "%%MatrixMarket matrix coordinate integer symmetric\n2 2 2\n2 1 5\n2 1 6\n";
    /// assert_eq!(matrix_market::read(text.as_bytes())?.nnz(), 2);
    /// # Ok::<(), matrix_market::Error>(())
    /// ```
    #[must_use]
    pub fn nnz(&self) -> usize {
        self.values.len().unwrap_or(self.positions.len())
    }

    /// The positions of the stored entries in order; empty for array format, whose positions follow from the order.
    ///
    /// ```
    /// # use superscalar::dla::matrix_market::{self as matrix_market, Position};
    /// let text = "%%MatrixMarket matrix coordinate pattern general\n2 3 1\n2 3\n";
    /// assert_eq!(matrix_market::read(text.as_bytes())?.positions(), [Position { i: 1, j: 2 }]);
    /// # Ok::<(), matrix_market::Error>(())
    /// ```
    #[must_use]
    pub fn positions(&self) -> &[Position] {
        &self.positions
    }

    /// The values of the stored entries in order.
    ///
    /// ```
    /// # use superscalar::dla::matrix_market::{self as matrix_market, Values};
    /// let market = matrix_market::read(&b"%%MatrixMarket matrix array integer general\n1 1\n8\n"[..])?;
    /// assert_eq!(market.values(), &Values::Integer(vec![8]));
    /// # Ok::<(), matrix_market::Error>(())
    /// ```
    #[must_use]
    pub fn values(&self) -> &Values {
        &self.values
    }

    /// Whether the header promises a(j, i) = a(i, j). A general file may happen to be symmetric; that is not looked at.
    ///
    /// ```
    /// # use superscalar::dla::matrix_market as matrix_market;
    /// let market = matrix_market::read(&b"%%MatrixMarket matrix array real symmetric\n1 1\n8\n"[..])?;
    /// assert!(market.is_symmetric() && market.is_hermitian());
    /// # Ok::<(), matrix_market::Error>(())
    /// ```
    #[must_use]
    pub fn is_symmetric(&self) -> bool {
        self.header.symmetry == Symmetry::Symmetric
    }

    /// Whether the header promises a(j, i) = conj(a(i, j)), as a symmetric header does unless the field is complex.
    ///
    /// ```
    /// # use superscalar::dla::matrix_market as matrix_market;
    /// let market = matrix_market::read(&b"%%MatrixMarket matrix array complex symmetric\n1 1\n8 1\n"[..])?;
    /// assert!(market.is_symmetric() && !market.is_hermitian());
    /// # Ok::<(), matrix_market::Error>(())
    /// ```
    #[must_use]
    pub fn is_hermitian(&self) -> bool {
        match self.header.symmetry {
            Symmetry::Hermitian => true,
            Symmetry::Symmetric => self.header.field != Field::Complex,
            Symmetry::General | Symmetry::SkewSymmetric => false,
        }
    }

    /// For callers that have checked what the public constructors check.
    pub(crate) fn from_checked(header: Header, shape: Shape, positions: Vec<Position>, values: Values) -> Self {
        Self { header, shape, comments: String::new(), positions, values }
    }

    /// With comments as this type keeps them.
    pub(crate) fn with_kept_comments(mut self, comments: String) -> Self {
        self.comments = comments;
        self
    }
}

fn check_matrix(header: Header, shape: Shape) -> Result<(), Error> {
    let checked = header.check().and_then(|()| header.symmetry.check_shape(shape));
    checked.map_err(|kind| kind.at(Place::Whole))
}

fn check_count(values: &Values, expected: u128) -> Result<(), Error> {
    match values.len() {
        Some(found) if found as u128 != expected => Err(Kind::ValueCount { values: found, expected }.at(Place::Whole)),
        _ => Ok(()),
    }
}

fn check_range(position: Position, shape: Shape) -> Result<(), Kind> {
    for (axis, index, extent) in [("row", position.i, shape.m), ("column", position.j, shape.n)] {
        if index >= extent {
            return Err(Kind::OutOfRange { axis, index: index.to_string(), range: format!("0..{extent}") });
        }
    }
    Ok(())
}
