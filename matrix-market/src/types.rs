//! Plain data types: the banner, shapes, positions, entries, and the limits of the reader.

use std::fmt;

/// The layout of the entries in a file.
///
/// ```
/// # use superscalar::dla::matrix_market::Format;
/// assert_eq!(Format::Coordinate.to_string(), "coordinate");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// One line per stored entry: row, column, value. Elements that are not listed are zero.
    Coordinate,
    /// One line per value, column by column; the order determines the position.
    Array,
}

/// The type of the values in a file.
///
/// ```
/// # use superscalar::dla::matrix_market::Field;
/// assert_eq!(Field::Complex.to_string(), "complex");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Field {
    /// 64-bit floats.
    Real,
    /// 64-bit signed integers.
    Integer,
    /// Pairs of 64-bit floats: real part, imaginary part.
    Complex,
    /// No values: the file lists only the positions of the nonzero elements.
    Pattern,
}

/// Which part of the matrix a file stores, and how the other part is computed from it.
///
/// ```
/// # use superscalar::dla::matrix_market::Symmetry;
/// assert_eq!(Symmetry::SkewSymmetric.to_string(), "skew-symmetric");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Symmetry {
    /// The whole matrix is stored.
    General,
    /// The lower triangle is stored; a(j, i) = a(i, j).
    Symmetric,
    /// The lower triangle is stored; a(j, i) = conj(a(i, j)), so the diagonal is real.
    Hermitian,
    /// The elements below the diagonal are stored; a(j, i) = -a(i, j), so the diagonal is zero.
    SkewSymmetric,
}

/// The content of a banner, displayed as its last three words.
///
/// ```
/// use superscalar::dla::matrix_market::{Field, Format, Header, Symmetry};
///
/// let header = Header { format: Format::Array, field: Field::Real, symmetry: Symmetry::General };
/// assert_eq!(header.to_string(), "array real general");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Header {
    /// The layout of the entries.
    pub format: Format,
    /// The type of the values.
    pub field: Field,
    /// The part of the matrix that is stored.
    pub symmetry: Symmetry,
}

impl Format {
    pub(crate) const ALL: [(&'static str, Self); 2] = [("coordinate", Self::Coordinate), ("array", Self::Array)];
    pub(crate) const KNOWN: &'static str = "coordinate, array";
}

impl Field {
    pub(crate) const ALL: [(&'static str, Self); 4] =
        [("real", Self::Real), ("integer", Self::Integer), ("complex", Self::Complex), ("pattern", Self::Pattern)];
    pub(crate) const KNOWN: &'static str = "real, integer, complex, pattern";
}

impl Symmetry {
    pub(crate) const ALL: [(&'static str, Self); 4] = [
        ("general", Self::General),
        ("symmetric", Self::Symmetric),
        ("hermitian", Self::Hermitian),
        ("skew-symmetric", Self::SkewSymmetric),
    ];
    pub(crate) const KNOWN: &'static str = "general, symmetric, hermitian, skew-symmetric";
}

/// Returns the name of `value` in a table that lists every value.
fn name_of<T: PartialEq>(table: &[(&'static str, T)], value: &T) -> &'static str {
    table.iter().find(|(_, listed)| listed == value).map_or("", |(name, _)| name)
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(name_of(&Self::ALL, self))
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(name_of(&Self::ALL, self))
    }
}

impl fmt::Display for Symmetry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(name_of(&Self::ALL, self))
    }
}

impl fmt::Display for Header {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.format, self.field, self.symmetry)
    }
}

/// The number of rows and columns of a matrix.
///
/// ```
/// # use superscalar::dla::matrix_market::Shape;
/// assert_eq!(Shape { m: 2, n: 3 }.to_string(), "2 x 3");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Rows.
    pub m: usize,
    /// Columns.
    pub n: usize,
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} x {}", self.m, self.n)
    }
}

/// The row and column of an entry, counted from 0. (Files count from 1.)
///
/// ```
/// # use superscalar::dla::matrix_market::Position;
/// let top_right_of_three = Position { i: 0, j: 2 };
/// assert!(top_right_of_three.i < top_right_of_three.j);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Position {
    /// Row.
    pub i: usize,
    /// Column.
    pub j: usize,
}

/// One entry: its row and column, counted from 0, and its value.
///
/// ```
/// # use superscalar::dla::matrix_market::{self as matrix_market, Entry};
/// let text = "%%MatrixMarket matrix coordinate complex general\n2 3 1\n2 3 0.5 -1\n";
/// let market = matrix_market::read(text.as_bytes())?;
/// assert_eq!(market.entries().next(), Some(Entry { i: 1, j: 2, re: 0.5, im: -1.0 }));
/// # Ok::<(), matrix_market::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entry {
    /// Row.
    pub i: usize,
    /// Column.
    pub j: usize,
    /// Real part; 1 in a pattern. An integer beyond 2^53 is rounded; [`Market::values`](crate::Market::values) returns
    /// the exact value.
    pub re: f64,
    /// Imaginary part; 0 unless the field is complex.
    pub im: f64,
}

/// The limits beyond which the reader refuses a file.
///
/// Memory use is proportional to the bytes that are read, so limiting those bytes limits the memory. The factor is at
/// most 12 (a pattern of entries `1 1`, four bytes each, whose vector of positions has just doubled) and less than 3
/// for real entries of 24 bytes or more.
///
/// ```
/// use superscalar::dla::matrix_market::{self as matrix_market, ReadOptions};
///
/// let options = ReadOptions { entries_max: 2, ..ReadOptions::default() };
/// let text = "%%MatrixMarket matrix array integer general\n3 1\n1\n2\n3\n";
/// let error = matrix_market::read_with(text.as_bytes(), &options).unwrap_err();
/// assert_eq!(error.to_string(), "line 2: 3 entries are announced, more than the limit of 2");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadOptions {
    /// Maximum number of stored entries that a file may announce. Default 2^27: 3 GiB of real coordinates in memory.
    pub entries_max: usize,
    /// Maximum length of a file in bytes. Default 8 GiB.
    pub bytes_max: u64,
    /// Maximum length of a line in bytes, without its line ending. Default 64 KiB; the format allows 1024.
    pub line_bytes_max: usize,
    /// Maximum length of all comments in bytes. Default 1 MiB.
    pub comment_bytes_max: usize,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self { entries_max: 1 << 27, bytes_max: 8 << 30, line_bytes_max: 64 << 10, comment_bytes_max: 1 << 20 }
    }
}
