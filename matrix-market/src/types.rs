//! What a file says, as plain values: its banner, shapes, positions and entries; and how much of it is read.

use std::fmt;

/// How a file lays its entries out.
///
/// ```
/// # use superscalar::dla::matrix_market::Format;
/// assert_eq!(Format::Coordinate.to_string(), "coordinate");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// One line per stored entry: its row, its column, its value. Positions not listed are zero.
    Coordinate,
    /// One line per value, column by column; the position follows from the order.
    Array,
}

/// The kind of number that a file holds.
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
    /// No values: only where the matrix is not zero.
    Pattern,
}

/// Which part of the matrix a file stores, and how the rest follows from it.
///
/// ```
/// # use superscalar::dla::matrix_market::Symmetry;
/// assert_eq!(Symmetry::SkewSymmetric.to_string(), "skew-symmetric");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Symmetry {
    /// Everything is stored.
    General,
    /// The lower triangle is stored; a(j, i) = a(i, j).
    Symmetric,
    /// The lower triangle is stored; a(j, i) = conj(a(i, j)), hence a real diagonal.
    Hermitian,
    /// What lies below the diagonal is stored; a(j, i) = -a(i, j), hence a zero diagonal.
    SkewSymmetric,
}

/// What the banner of a file says.
///
/// Displayed as the banner's last three words.
///
/// ```
/// use superscalar::dla::matrix_market::{Field, Format, Header, Symmetry};
///
/// let header = Header { format: Format::Array, field: Field::Real, symmetry: Symmetry::General };
/// assert_eq!(header.to_string(), "array real general");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Header {
    /// How the entries are laid out.
    pub format: Format,
    /// What kind of number they are.
    pub field: Field,
    /// Which of them are stored.
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

/// The word for `value` in a table that lists every value.
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

/// The numbers of rows and columns of a matrix.
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

/// Where an entry stands, counted from 0 (files count from 1).
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

/// One entry: where it stands, from 0, and what it is.
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
    /// Real part. An integer beyond 2^53 is rounded; [`Market::values`](crate::Market::values) has it exactly. 1 in a pattern.
    pub re: f64,
    /// Imaginary part; 0 unless the field is complex.
    pub im: f64,
}

/// How much of a file is read before it is refused.
///
/// Memory is bounded without these, too: it grows with the bytes that arrive, by a factor of 12 at the very worst (a
/// pattern of entries `1 1`, four bytes each, that has just made the vector of positions double), and of less than 3
/// for real entries of 24 bytes and more. The limits bound those bytes.
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
    /// The most stored entries that a file may announce. Default 2^27: 3 GiB of real coordinates in memory.
    pub entries_max: usize,
    /// The most bytes that a file may have. Default 8 GiB.
    pub bytes_max: u64,
    /// The most bytes that a line may have, line ending apart. Default 64 KiB; the format itself says 1024.
    pub line_bytes_max: usize,
    /// The most bytes of comments in total. Default 1 MiB.
    pub comment_bytes_max: usize,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self { entries_max: 1 << 27, bytes_max: 8 << 30, line_bytes_max: 64 << 10, comment_bytes_max: 1 << 20 }
    }
}
