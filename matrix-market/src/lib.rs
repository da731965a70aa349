//! Reads and writes the Matrix Market exchange format of NIST (`.mtx`).
//!
//! A file is a banner (`%%MatrixMarket matrix <format> <field> <symmetry>`), comments, a size line, and one entry a
//! line. *Coordinate* files list positions with their values; *array* files list the values alone, column by column.
//! A symmetric, hermitian or skew-symmetric file stores only the lower triangle (skew: strictly below the diagonal),
//! and a reader mirrors it.
//!
//! [`read`](read()) turns text into a [`Market`], which holds the entries as the file has them, and [`write`](write())
//! turns it back. [`Market::fill`] hands the whole matrix, mirrored triangle included, to a closure, so this crate
//! needs to know no matrix type and no scalar type; `Matrix::from_market` of `superscalar-dla` makes a dense matrix
//! with it. Drivers, tests and benchmarks call it to obtain matrices from practice. It solves nothing and does no
//! sparse algebra.
//!
//! # What is accepted
//!
//! Files come from strangers, and the format's description leaves gaps. Each is decided here, once:
//!
//! | matter | decision |
//! |---|---|
//! | letter case of the banner, tabs, CRLF, blank lines, leading blanks | all accepted |
//! | comments among the entries | accepted, kept with the others |
//! | comments that are not UTF-8 | accepted, read as Latin-1 |
//! | one entry over several lines, or several on a line | refused: a lost token would shift every later one |
//! | `1.0D+03`, `1.0d3` | accepted as 1.0e+03, for Fortran writes this |
//! | `nan`, `inf`, `infinity`, with a sign, in any case | accepted; the sign and payload of a NaN are not kept |
//! | a finite numeral beyond the range of `f64` | refused, for infinity was not what the file said |
//! | a numeral below the least `f64` | rounded to zero, as any other rounding |
//! | an integer beyond `i64` | refused |
//! | a position stated twice | accepted; the values are summed by [`Market::fill`], as finite-element tools expect |
//! | a position stated twice in a pattern | the same as once |
//! | an explicit zero, also on a skew diagonal | accepted and kept |
//! | an entry above the diagonal of a file that stores the lower triangle | refused, never mirrored twice |
//! | hermitian of a real, integer or pattern field; pattern as array or as skew-symmetric | refused: undefined |
//!
//! # Limits
//!
//! The numbers in a size line are claims. Memory grows with the entries that really arrive, whatever is announced, and
//! [`ReadOptions`] bounds the entries, the file, a line, and the comments. A shape may be larger than any memory: who
//! makes a dense matrix of a file looks first, as `Matrix::from_market` does.
//!
//! # Example
//!
//! ```
//! use superscalar::dla::matrix_market as matrix_market;
//!
//! let text = "%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 4.0\n2 1 -1.5\n";
//! let market = matrix_market::read(text.as_bytes())?;
//! let (m, n) = (market.shape().m, market.shape().n);
//! let mut a = vec![0.0; m * n];
//! market.fill(|i, j, re, _im| a[i + j * m] = re);
//! assert_eq!(a, [4.0, -1.5, -1.5, 0.0]);
//!
//! let mut copy = Vec::new();
//! matrix_market::write(&market, &mut copy)?;
//! assert_eq!(matrix_market::read(&copy[..])?, market);
//! # Ok::<(), matrix_market::Error>(())
//! ```

#![forbid(unsafe_code)]

mod dense;
mod entries;
mod error;
mod header;
mod lines;
mod market;
mod numeral;
mod read;
mod triangle;
mod types;
mod values;
mod write;

pub use entries::Entries;
pub use error::Error;
pub use market::Market;
pub use read::{read, read_file, read_file_with, read_with};
pub use types::{Entry, Field, Format, Header, Position, ReadOptions, Shape, Symmetry};
pub use values::Values;
pub use write::{write, write_file};
