//! Writes a [`Market`] as text, which reads back as the same matrix, bit for bit.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Write;
use std::path::Path;

use crate::error::{Error, Location, Repr};
use crate::market::Market;
use crate::types::Format;
use crate::values::Values;

/// How many bytes of text are collected before they are written, so that a `File` needs no buffered writer.
const CHUNK_BYTES: usize = 64 << 10;

/// Writes `market` to `writer` and flushes it.
///
/// Floats, including negative zero and the infinities, are written in the shortest decimal form that reads back as the
/// same bits (`2.5e-1`); a NaN reads back as a NaN. Lines end with a line feed. The line of an entry has at most 91
/// bytes.
///
/// # Errors
/// Returns an error if `writer` fails. Part of the text may have been written.
///
/// ```
/// use superscalar::dla::matrix_market::{self as matrix_market, Market, Shape, Symmetry, Values};
///
/// let market = Market::array(Symmetry::General, Shape { m: 2, n: 1 }, Values::Real(vec![0.25, 1e300]))?;
/// let mut text = Vec::new();
/// matrix_market::write(&market.with_comments(" two numbers"), &mut text)?;
/// let expected = "%%MatrixMarket matrix array real general\n% two numbers\n2 1\n2.5e-1\n1e300\n";
/// assert_eq!(text, expected.as_bytes());
/// # Ok::<(), matrix_market::Error>(())
/// ```
pub fn write(market: &Market, writer: impl Write) -> Result<(), Error> {
    let mut text = ChunkedWriter { text: String::with_capacity(2 * CHUNK_BYTES), writer };
    text.line(format_args!("{}", market.header().banner()))?;
    for comment in market.comments() {
        text.line(format_args!("%{comment}"))?;
    }
    let shape = market.shape();
    match market.header().format {
        Format::Coordinate => text.line(format_args!("{} {} {}", shape.m, shape.n, market.nnz()))?,
        Format::Array => text.line(format_args!("{} {}", shape.m, shape.n))?,
    }
    for k in 0..market.nnz() {
        text.entry(market, k)?;
    }
    text.finish()
}

/// Writes `market` to the file at `path`, and replaces the file if it exists.
///
/// # Errors
/// Returns an error if the file cannot be created or written. The previous content of the file is lost.
///
/// ```
/// use superscalar::dla::matrix_market::{self as matrix_market, Market, Shape, Symmetry, Values};
///
/// let market = Market::array(Symmetry::General, Shape { m: 1, n: 1 }, Values::Integer(vec![42]))?;
/// assert!(matrix_market::write_file(&market, "no/such/folder.mtx").is_err());
/// # Ok::<(), matrix_market::Error>(())
/// ```
pub fn write_file(market: &Market, path: impl AsRef<Path>) -> Result<(), Error> {
    let path = path.as_ref();
    let file = File::create(path).map_err(|source| {
        let path = path.display().to_string();
        Repr::Create { path, source }.at(Location::Whole)
    })?;
    write(market, file)
}

/// A writer that collects text in chunks of about [`CHUNK_BYTES`].
struct ChunkedWriter<W> {
    text: String,
    writer: W,
}

impl<W: Write> ChunkedWriter<W> {
    fn line(&mut self, content: std::fmt::Arguments<'_>) -> Result<(), Error> {
        self.append(content);
        self.end_line()
    }

    /// Appends the line of stored entry `k`.
    fn entry(&mut self, market: &Market, k: usize) -> Result<(), Error> {
        // Array format has no positions.
        let mut gap = "";
        if let Some(at) = market.positions().get(k) {
            self.append(format_args!("{} {}", at.i + 1, at.j + 1));
            gap = " ";
        }
        match market.values() {
            Values::Pattern => {}
            Values::Integer(values) => self.append(format_args!("{gap}{}", values[k])),
            Values::Real(values) => self.append(format_args!("{gap}{:e}", values[k])),
            Values::Complex(values) => {
                self.append(format_args!("{gap}{:e} {:e}", values[k].re, values[k].im));
            }
        }
        self.end_line()
    }

    fn append(&mut self, content: std::fmt::Arguments<'_>) {
        // Formatting numbers and text into a `String` never fails.
        let _: std::fmt::Result = self.text.write_fmt(content);
    }

    fn end_line(&mut self) -> Result<(), Error> {
        self.text.push('\n');
        if self.text.len() < CHUNK_BYTES {
            return Ok(());
        }
        self.write_chunk()
    }

    fn write_chunk(&mut self) -> Result<(), Error> {
        let written = self.writer.write_all(self.text.as_bytes());
        self.text.clear();
        written.map_err(|source| Repr::Write { source }.at(Location::Whole))
    }

    fn finish(mut self) -> Result<(), Error> {
        self.write_chunk()?;
        self.writer.flush().map_err(|source| Repr::Write { source }.at(Location::Whole))
    }
}
