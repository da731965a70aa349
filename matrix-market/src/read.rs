//! Parses text into a [`Market`]: banner, size line, entries. An error names the line that is wrong.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use num_complex::Complex;

use crate::error::{Error, Location, Repr};
use crate::lines::{LineReader, TextLine};
use crate::market::Market;
use crate::numeral;
use crate::triangle::{StoredPositions, stored_cells};
use crate::types::{Format, Header, Position, ReadOptions, Shape};
use crate::values::Values;

/// The most announced entries for which memory is allocated in advance. Small files never grow a vector, and a false
/// announcement costs little. Beyond it, vectors double as entries are read.
pub(crate) const PREALLOCATED_ENTRIES_MAX: usize = 256;

/// The read buffer of a file, in bytes. Smaller and larger buffers are slower (measured:
/// docs/measurements/2026-11-28-constants.md).
const FILE_BUFFER_BYTES: usize = 64 << 10;

/// Reads the content of a file with the default limits. `reader` is read to its end.
///
/// # Errors
/// Returns an error if reading fails, a limit is exceeded, or the content is not valid.
///
/// ```
/// use superscalar::dla::matrix_market as matrix_market;
///
/// let market = matrix_market::read(&b"%%MatrixMarket matrix array real general\n2 1\n0.5\n1.0D+03\n"[..])?;
/// assert_eq!(market.entries().map(|entry| entry.re).collect::<Vec<_>>(), [0.5, 1000.0]);
/// # Ok::<(), matrix_market::Error>(())
/// ```
pub fn read(reader: impl BufRead) -> Result<Market, Error> {
    read_with(reader, &ReadOptions::default())
}

/// Reads the content of a file with the limits in `options`. `reader` is read to its end.
///
/// # Errors
/// Returns an error with the line and the reason if reading fails, a limit is exceeded, or the content is not valid.
///
/// ```
/// use superscalar::dla::matrix_market::{self as matrix_market, ReadOptions};
///
/// let text = "%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n1 1 4.0\n1 2 1.0\n";
/// let error = matrix_market::read_with(text.as_bytes(), &ReadOptions::default()).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "line 4: entry (1, 2) lies above the diagonal, and a symmetric file stores only the lower triangle",
/// );
/// ```
pub fn read_with(reader: impl BufRead, options: &ReadOptions) -> Result<Market, Error> {
    let mut lines = LineReader::new(reader, options);
    let header = match lines.next()? {
        Some(line) => Header::parse(line)?,
        None => return Err(Repr::Empty.at(lines.end_location())),
    };
    let (shape, announced) = match lines.next_data()? {
        Some(line) => parse_size(line, header, options)?,
        None => return Err(Repr::SizeMissing.at(lines.end_location())),
    };
    let mut entries = EntryReader::new(header, shape, announced);
    while let Some(line) = lines.next_data()? {
        entries.read_entry(line)?;
    }
    let comments = lines.take_comments();
    Ok(entries.finish(lines.end_location())?.with_normalized_comments(comments))
}

/// Reads the file at `path` with the default limits.
///
/// # Errors
/// Returns an error if the file cannot be opened, reading fails, a limit is exceeded, or the content is not valid.
///
/// ```
/// use superscalar::dla::matrix_market as matrix_market;
///
/// let error = matrix_market::read_file("no/such.mtx").unwrap_err();
/// assert!(error.to_string().starts_with("cannot open `no/such.mtx`: "));
/// ```
pub fn read_file(path: impl AsRef<Path>) -> Result<Market, Error> {
    read_file_with(path, &ReadOptions::default())
}

/// Reads the file at `path` with the limits in `options`.
///
/// # Errors
/// Returns an error if the file cannot be opened, reading fails, a limit is exceeded, or the content is not valid.
///
/// ```
/// use superscalar::dla::matrix_market::{self as matrix_market, ReadOptions};
///
/// let options = ReadOptions { bytes_max: 1 << 20, ..ReadOptions::default() };
/// assert!(matrix_market::read_file_with("no/such.mtx", &options).is_err());
/// ```
pub fn read_file_with(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Market, Error> {
    let path = path.as_ref();
    let file = File::open(path).map_err(|source| {
        let path = path.display().to_string();
        Repr::Open { path, source }.at(Location::Whole)
    })?;
    read_with(BufReader::with_capacity(FILE_BUFFER_BYTES, file), options)
}

/// Parses the size line into the shape and the number of announced entries.
fn parse_size(line: TextLine<'_>, header: Header, options: &ReadOptions) -> Result<(Shape, usize), Error> {
    let expected = match header.format {
        Format::Coordinate => 3,
        Format::Array => 2,
    };
    let complain = |found| Repr::SizeTokens { format: header.format, expected, found };
    let tokens = line.exactly(expected, complain)?;
    let count = |k: usize| numeral::count(tokens[k].text).map_err(|repr| repr.at(line.at(tokens[k].column)));
    let shape = Shape { m: count(0)?, n: count(1)? };
    header.symmetry.check_shape(shape).map_err(|repr| repr.at(line.at(tokens[0].column)))?;
    let announced = match header.format {
        Format::Coordinate => count(2)? as u128,
        Format::Array => stored_cells(header.symmetry, shape),
    };
    let entries_max = options.entries_max;
    match usize::try_from(announced) {
        Ok(entries) if entries <= entries_max => Ok((shape, entries)),
        _ => {
            let column = tokens[expected - 1].column;
            Err(Repr::TooManyAnnounced { announced, entries_max }.at(line.at(column)))
        }
    }
}

/// Collects the entries that have been read.
struct EntryReader {
    header: Header,
    shape: Shape,
    announced: usize,
    found: usize,
    /// The positions of the entries of an array that have not been read yet.
    next_positions: StoredPositions,
    positions: Vec<Position>,
    values: Values,
}

impl EntryReader {
    fn new(header: Header, shape: Shape, announced: usize) -> Self {
        let room = announced.min(PREALLOCATED_ENTRIES_MAX);
        let positions = match header.format {
            Format::Coordinate => Vec::with_capacity(room),
            Format::Array => Vec::new(),
        };
        let values = Values::with_capacity(header.field, room);
        Self {
            header,
            shape,
            announced,
            found: 0,
            next_positions: StoredPositions::new(header.symmetry, shape),
            positions,
            values,
        }
    }

    /// Parses the entry on `line` and stores it.
    fn read_entry(&mut self, line: TextLine<'_>) -> Result<(), Error> {
        if self.found == self.announced {
            return Err(Repr::TooMany { announced: self.announced }.at(line.at(1)));
        }
        let expected = self.header.tokens_per_entry();
        let tokens = line.exactly(expected, |found| Repr::EntryTokens { expected, found })?;
        let located = |k: usize| move |repr: Repr| repr.at(line.at(tokens[k].column));
        let (position, first_value) = match self.header.format {
            Format::Coordinate => {
                let i = numeral::index(tokens[0].text, "row", self.shape.m).map_err(located(0))?;
                let j = numeral::index(tokens[1].text, "column", self.shape.n).map_err(located(1))?;
                self.positions.push(Position { i, j });
                (Some(Position { i, j }), 2)
            }
            Format::Array => (self.next_positions.next(), 0),
        };
        let real = |k: usize| numeral::real(tokens[k].text).map_err(located(k));
        match &mut self.values {
            Values::Pattern => {}
            Values::Integer(values) => {
                values.push(numeral::integer(tokens[first_value].text).map_err(located(first_value))?);
            }
            Values::Real(values) => values.push(real(first_value)?),
            Values::Complex(values) => values.push(Complex::new(real(first_value)?, real(first_value + 1)?)),
        }
        if let Some(position) = position {
            let parts = self.values.parts(self.found);
            self.header.symmetry.check_entry(position, parts, 1).map_err(located(0))?;
        }
        self.found += 1;
        Ok(())
    }

    /// Returns the matrix if all announced entries have been read; `end` is the end of the file.
    fn finish(self, end: Location) -> Result<Market, Error> {
        let Self { found, announced, .. } = self;
        if found < announced {
            return Err(Repr::TooFew { found, announced }.at(end));
        }
        Ok(Market::from_checked(self.header, self.shape, self.positions, self.values))
    }
}
