//! The banner of a file, and which combinations of its words mean something.

use crate::error::{Error, Excerpt, Kind, Place};
use crate::lines::{Line, Token};
use crate::types::{Field, Format, Header, Symmetry};

/// The word that every file begins with, in any letter case.
const MAGIC: &str = "%%MatrixMarket";

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
