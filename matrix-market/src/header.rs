//! Parses the banner of a file, and checks that the combination of its words is defined.

use crate::error::{Error, Excerpt, Location, Repr};
use crate::lines::{TextLine, Token};
use crate::types::{Field, Format, Header, Symmetry};

/// The first word of every file, accepted in any letter case.
const MAGIC: &str = "%%MatrixMarket";

impl Header {
    /// Returns the first line of a file, without its line ending.
    pub(crate) fn banner(self) -> String {
        format!("{MAGIC} matrix {self}")
    }

    /// Parses the banner.
    pub(crate) fn parse(line: TextLine<'_>) -> Result<Self, Error> {
        let mut words = line.tokens();
        match words.next() {
            Some(Token { text, column: 1 }) if text.eq_ignore_ascii_case(MAGIC) => {}
            Some(Token { text, .. }) if text.eq_ignore_ascii_case(MAGIC) => {
                return Err(Repr::BannerIndented.at(line.at(1)));
            }
            word => {
                let found = Excerpt::new(word.map_or("", |word| word.text));
                return Err(Repr::Banner { found }.at(line.at(1)));
            }
        }
        let mut word = |part, known| match words.next() {
            Some(word) => Ok(BannerWord { text: word.text, location: line.at(word.column), part, known }),
            None => Err(Repr::BannerEnds { part }.at(line.at_end())),
        };
        word("object", "matrix")?.look_up(&[("matrix", ())])?;
        let format = word("format", Format::KNOWN)?.look_up(&Format::ALL)?;
        let field = word("field", Field::KNOWN)?.look_up(&Field::ALL)?;
        let symmetry = word("symmetry", Symmetry::KNOWN)?.look_up(&Symmetry::ALL)?;
        if let Some(extra) = words.next() {
            return Err(Repr::BannerExtra { word: Excerpt::new(extra.text) }.at(line.at(extra.column)));
        }
        let header = Self { format, field, symmetry };
        header.check().map_err(|repr| repr.at(line.at(1)))?;
        Ok(header)
    }

    /// Returns an error for the combinations that the format does not define.
    pub(crate) fn check(self) -> Result<(), Repr> {
        let why = match (self.format, self.field, self.symmetry) {
            (Format::Array, Field::Pattern, _) => "an array has no positions for a pattern to list",
            (_, Field::Real | Field::Integer | Field::Pattern, Symmetry::Hermitian) => {
                "only a complex matrix can be hermitian"
            }
            (_, Field::Pattern, Symmetry::SkewSymmetric) => "a pattern has no values to negate",
            _ => return Ok(()),
        };
        Err(Repr::Combination { header: self.to_string(), why })
    }

    /// Returns how many numbers the value of an entry consists of.
    pub(crate) fn numbers_per_value(self) -> usize {
        match self.field {
            Field::Pattern => 0,
            Field::Real | Field::Integer => 1,
            Field::Complex => 2,
        }
    }

    /// Returns how many tokens the line of an entry has.
    pub(crate) fn tokens_per_entry(self) -> usize {
        let indices = match self.format {
            Format::Coordinate => 2,
            Format::Array => 0,
        };
        indices + self.numbers_per_value()
    }
}

/// A word of the banner, the part of the banner that it states, and the known words for that part.
struct BannerWord<'a> {
    text: &'a str,
    location: Location,
    part: &'static str,
    known: &'static str,
}

impl BannerWord<'_> {
    fn look_up<T: Copy>(self, table: &[(&'static str, T)]) -> Result<T, Error> {
        let found = table.iter().find(|(name, _)| self.text.eq_ignore_ascii_case(name));
        found.map(|&(_, value)| value).ok_or_else(|| {
            Repr::BannerWord { part: self.part, word: Excerpt::new(self.text), known: self.known }.at(self.location)
        })
    }
}
