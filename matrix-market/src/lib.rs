//! Reads and writes the Matrix Market exchange format of NIST (`.mtx`).
//!
//! A file consists of a banner (`%%MatrixMarket matrix <format> <field> <symmetry>`), comments, a size line, and one
//! entry per line. *Coordinate* files list positions with their values; *array* files list only the values, column by
//! column. A symmetric, hermitian or skew-symmetric file stores only the lower triangle (skew: strictly below the
//! diagonal), and the reader mirrors it.
//!
//! [`read`](read()) turns text into a [`Market`], which holds the stored entries, and [`write`](write()) turns a
//! [`Market`] into text. [`Market::fill`] passes every element of the matrix, including the mirrored triangle, to a
//! closure, so this crate does not depend on a matrix type or a scalar type. `Matrix::from_market` of
//! `superscalar-dla` uses it to make a dense matrix. Drivers, tests and benchmarks use this crate to read matrices
//! from applications. The crate contains no solvers and no sparse algebra.
//!
//! # Accepted input
//!
//! Files come from untrusted sources, and the description of the format leaves gaps. This crate fills them as follows:
//!
//! | input | decision |
//! |---|---|
//! | letter case of the banner, tabs, CRLF, blank lines, leading blanks | all accepted |
//! | comments between the entries | accepted, kept with the others |
//! | comments that are not UTF-8 | accepted, read as Latin-1 |
//! | one entry over several lines, or several on a line | refused: a missing token would shift all later ones |
//! | `1.0D+03`, `1.0d3` | accepted as 1.0e+03: Fortran writes double-precision numbers this way |
//! | `nan`, `inf`, `infinity`, with a sign, in any letter case | accepted; the sign and payload of a NaN are not kept |
//! | a finite numeral beyond the range of `f64` | refused: it does not mean infinity |
//! | a nonzero numeral below the smallest `f64` | rounded to zero |
//! | an integer beyond `i64` | refused |
//! | a repeated position | accepted; [`Market::fill`] sums the values, as finite-element tools expect |
//! | a repeated position in a pattern | counts once |
//! | an explicit zero, also on a skew diagonal | accepted and kept |
//! | an entry above the diagonal of a file that stores the lower triangle | refused, never mirrored twice |
//! | hermitian with a real, integer or pattern field; pattern with array or skew-symmetric | refused: undefined |
//!
//! # Limits
//!
//! The size line is not trusted. Memory grows with the entries that are read, not with the number that is announced,
//! and [`ReadOptions`] limits the number of entries, the size of the file, the length of a line, and the length of the
//! comments. The announced shape may exceed the machine's memory: check it before you allocate a dense matrix, as
//! `Matrix::from_market` does.
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
