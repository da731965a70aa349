//! The content of a Matrix Market file: header, shape, comments, stored entries.

use crate::error::{Error, Location, Repr};
use crate::triangle::{StoredPositions, stored_cells};
use crate::types::{Field, Format, Header, Position, Shape, Symmetry};
use crate::values::Values;

/// The content of a Matrix Market file. Of a symmetric matrix it holds one triangle, as the file does.
///
/// Every `Market` is valid: its header is a defined combination, its indices are in range and in the triangle that its
/// symmetry stores, and its diagonal satisfies its symmetry. [`read`](crate::read()) and the constructors refuse
/// anything else, so [`write`](crate::write()) fails only if the writer does.
///
/// Two values are equal if their comments and stored entries are equal and in the same order; a NaN is not equal to
/// itself.
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
    /// Each comment ends with a line feed. One string, so that empty comments take no more memory than in the file.
    comments: String,
    /// Empty in array format, where the order determines the positions.
    positions: Vec<Position>,
    values: Values,
}

impl Market {
    /// Makes a matrix in coordinate format, in which `positions[k]` has value `k`.
    ///
    /// `positions` may be in any order and may repeat; [`fill`](Self::fill) sums the values of a repeated position.
    ///
    /// # Errors
    /// Returns an error if
    /// - the combination of field and symmetry is undefined,
    /// - the symmetry needs a square matrix and the shape is not square,
    /// - the numbers of positions and values differ, or
    /// - an entry is out of range, is in the triangle that is not stored, or is a diagonal element that violates the
    ///   symmetry.
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
            checked.map_err(|repr| repr.at(Location::Entry(k)))?;
        }
        Ok(Self::from_checked(header, shape, positions, values))
    }

    /// Makes a matrix in array format. The values are listed column by column, and each column has only the elements
    /// that the symmetry stores: all (general), from the diagonal down (symmetric, hermitian), or below the diagonal
    /// (skew-symmetric).
    ///
    /// # Errors
    /// Returns an error if
    /// - the combination of field and symmetry is undefined (a pattern always is),
    /// - the symmetry needs a square matrix and the shape is not square,
    /// - the number of values does not match the shape and symmetry, or
    /// - the diagonal of a hermitian matrix is not real.
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
        for (k, position) in StoredPositions::new(symmetry, shape).take(market.nnz()).enumerate() {
            let checked = symmetry.check_entry(position, market.values.parts(k), 0);
            checked.map_err(|repr| repr.at(Location::Entry(k)))?;
        }
        Ok(market)
    }

    /// Replaces the comments with the lines of `text`. Trailing blanks of a line are removed, since the reader does not
    /// keep them either.
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

    /// Returns the content of the banner.
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

    /// Returns the number of rows and columns of the whole matrix.
    ///
    /// A file with few entries may announce a shape that exceeds the machine's memory: check the shape before you
    /// allocate a dense matrix.
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

    /// Returns the comments in order, each without its `%` and without trailing blanks.
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

    /// Returns the number of stored entries. Repeated positions and explicit zeros count; mirrored entries do not.
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

    /// Returns the positions of the stored entries in order. The slice is empty in array format, where the order
    /// determines the positions.
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

    /// Returns the values of the stored entries in order.
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

    /// Returns whether the header states that a(j, i) = a(i, j). The values of a general file are not examined.
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

    /// Returns whether the header states that a(j, i) = conj(a(i, j)). This includes a symmetric matrix whose field is
    /// not complex.
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

    /// Makes a matrix without checks, from parts for which the conditions of the public constructors hold.
    pub(crate) fn from_checked(header: Header, shape: Shape, positions: Vec<Position>, values: Values) -> Self {
        Self { header, shape, comments: String::new(), positions, values }
    }

    /// Replaces the comments with `comments`, each of which ends with a line feed and has no trailing blanks.
    pub(crate) fn with_normalized_comments(mut self, comments: String) -> Self {
        self.comments = comments;
        self
    }
}

fn check_matrix(header: Header, shape: Shape) -> Result<(), Error> {
    let checked = header.check().and_then(|()| header.symmetry.check_shape(shape));
    checked.map_err(|repr| repr.at(Location::Whole))
}

fn check_count(values: &Values, expected: u128) -> Result<(), Error> {
    match values.len() {
        Some(found) if found as u128 != expected => {
            Err(Repr::ValueCount { values: found, expected }.at(Location::Whole))
        }
        _ => Ok(()),
    }
}

fn check_range(position: Position, shape: Shape) -> Result<(), Repr> {
    for (axis, index, extent) in [("row", position.i, shape.m), ("column", position.j, shape.n)] {
        if index >= extent {
            return Err(Repr::OutOfRange { axis, index: index.to_string(), range: format!("0..{extent}") });
        }
    }
    Ok(())
}
