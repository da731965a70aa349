//! The banner: format, field and symmetry, and which of their combinations mean something.

use std::fmt;

use crate::error::{Error, Excerpt, Kind, Place};
use crate::lines::{Line, Token};

/// The word that every file begins with, in any letter case.
const MAGIC: &str = "%%MatrixMarket";

/// How a file lays its entries out.
///
/// ```
/// # use superscalar_matrix_market::Format;
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
/// # use superscalar_matrix_market::Field;
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
/// # use superscalar_matrix_market::Symmetry;
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
/// use superscalar_matrix_market::{Field, Format, Header, Symmetry};
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
    const ALL: [(&'static str, Self); 2] = [("coordinate", Self::Coordinate), ("array", Self::Array)];
    const KNOWN: &'static str = "coordinate, array";
}

impl Field {
    const ALL: [(&'static str, Self); 4] =
        [("real", Self::Real), ("integer", Self::Integer), ("complex", Self::Complex), ("pattern", Self::Pattern)];
    const KNOWN: &'static str = "real, integer, complex, pattern";
}

impl Symmetry {
    const ALL: [(&'static str, Self); 4] = [
        ("general", Self::General),
        ("symmetric", Self::Symmetric),
        ("hermitian", Self::Hermitian),
        ("skew-symmetric", Self::SkewSymmetric),
    ];
    const KNOWN: &'static str = "general, symmetric, hermitian, skew-symmetric";
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

impl Header {
    /// The whole first line of a file, without its line ending.
    pub(crate) fn banner(self) -> String {
        format!("{MAGIC} matrix {self}")
    }

    /// Reads the banner.
    pub(crate) fn parse(line: Line<'_>) -> Result<Self, Error> {
        let mut words = line.tokens();
        match words.next() {
            Some(Token { text, column: 1 }) if text.eq_ignore_ascii_case(MAGIC) => {}
            Some(Token { text, .. }) if text.eq_ignore_ascii_case(MAGIC) => {
                return Err(Kind::BannerIndented.at(line.at(1)));
            }
            word => {
                let found = Excerpt::new(word.map_or("", |word| word.text));
                return Err(Kind::Banner { found }.at(line.at(1)));
            }
        }
        let mut word = |part, known| match words.next() {
            Some(word) => Ok(Word { text: word.text, place: line.at(word.column), part, known }),
            None => Err(Kind::BannerEnds { part }.at(line.at_end())),
        };
        word("object", "matrix")?.look_up(&[("matrix", ())])?;
        let format = word("format", Format::KNOWN)?.look_up(&Format::ALL)?;
        let field = word("field", Field::KNOWN)?.look_up(&Field::ALL)?;
        let symmetry = word("symmetry", Symmetry::KNOWN)?.look_up(&Symmetry::ALL)?;
        if let Some(extra) = words.next() {
            return Err(Kind::BannerExtra { word: Excerpt::new(extra.text) }.at(line.at(extra.column)));
        }
        let header = Self { format, field, symmetry };
        header.check().map_err(|kind| kind.at(line.at(1)))?;
        Ok(header)
    }

    /// Refuses the combinations that the format leaves without a meaning.
    pub(crate) fn check(self) -> Result<(), Kind> {
        let why = match (self.format, self.field, self.symmetry) {
            (Format::Array, Field::Pattern, _) => "an array has no positions for a pattern to list",
            (_, Field::Real | Field::Integer | Field::Pattern, Symmetry::Hermitian) => {
                "only a complex matrix can be hermitian"
            }
            (_, Field::Pattern, Symmetry::SkewSymmetric) => "a pattern has no values to negate",
            _ => return Ok(()),
        };
        Err(Kind::Combination { header: self.to_string(), why })
    }

    /// The numbers that follow the position in an entry.
    pub(crate) fn numbers_per_value(self) -> usize {
        match self.field {
            Field::Pattern => 0,
            Field::Real | Field::Integer => 1,
            Field::Complex => 2,
        }
    }

    /// The tokens on the line of an entry.
    pub(crate) fn tokens_per_entry(self) -> usize {
        let indices = match self.format {
            Format::Coordinate => 2,
            Format::Array => 0,
        };
        indices + self.numbers_per_value()
    }
}

/// A word of the banner, with what its part may be.
struct Word<'a> {
    text: &'a str,
    place: Place,
    part: &'static str,
    known: &'static str,
}

impl Word<'_> {
    fn look_up<T: Copy>(self, table: &[(&'static str, T)]) -> Result<T, Error> {
        let found = table.iter().find(|(name, _)| self.text.eq_ignore_ascii_case(name));
        found.map(|&(_, value)| value).ok_or_else(|| {
            Kind::BannerWord { part: self.part, word: Excerpt::new(self.text), known: self.known }.at(self.place)
        })
    }
}
