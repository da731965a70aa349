//! Checks of results of linear algebra: random operands, matrices surrounded by sentinels, residuals, and comparisons
//! that reject NaN.
//!
//! The tests of `kernels`, `dla` and the facade, the tester and the examples use this crate; no library does. It shares
//! only the scalar types and the views of `superscalar-kernels` with the code that it checks.
//!
//! | question | answer |
//! |---|---|
//! | Which operands? | [`Random`], a seeded stream; [`element`] and [`whole`], numbers by position |
//! | How are they stored? | [`Stored`]: surrounded by sentinels, in a [`Layout`] |
//! | What is the right result, up to some hundred rows? | [`Wide`]: double precision complex, by textbook algorithms |
//! | How large is the error of factors and solutions? | [`residual`]: LAPACK's ratios, for [`Wide`] matrices |
//! | And for large matrices? | [`Sum`]: sums of products of [`Factor`]s, multiplied with vectors in O(n²) |
//! | How far apart are two results? | [`roundoffs`]; element by element [`assert_near`] with a [`Nearness`] |
//! | Which powers of two are tried, and is nothing omitted? | [`tries_scale`], [`is_full`] |
//! | Is an error small enough? | [`at_most`]; the [`largest`] of several figures |
//!
//! A comparison with NaN is false, so a check of the form "fail if the error is greater than the bound" accepts NaN,
//! and [`f64::max`] ignores it. Nothing in this crate does either. `tests/refusals.rs` shows that each check rejects a
//! wrong element, a NaN, a transposed factor, a wrong interchange and, for Cholesky, a column with the wrong sign.
//!
//! # Example
//! ```
//! use superscalar_kernels::{Uplo, reference};
//! use superscalar_oracle::{Storage, Stored, Wide, at_most, residual};
//!
//! let a = Stored::<f64>::positive_definite(30, 1);
//! let mut factor = a.clone();
//! reference::potrf(Uplo::Lower, factor.view_mut())?;
//! factor.assert_padding("potrf");
//! let l = Wide::stored(Storage::LOWER, factor.view());
//! at_most("|A - L L^H| / (n |A| eps)", residual::cholesky::<f64>(&a.wide(), &l), 8.0)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod bound;
mod compare;
mod factor;
pub mod parallel;
mod probe;
mod random;
pub mod residual;
mod scales;
mod stored;
mod sum;
mod wide;

pub use bound::{Exceeded, at_most, largest};
pub use compare::{Nearness, assert_near, identical, is_finite, mismatch, roundoffs};
pub use factor::{Factor, Storage, each, general, interchange, modulus, one_and_inf, stored, transformed, triangle};
pub use probe::vectors;
pub use random::{Random, element, whole};
pub use scales::{is_full, tries_scale};
pub use stored::{Layout, Stored};
pub use sum::{COLUMNS_MAX, ROUNDINGS_MAX, Sum};
pub use wide::{Wide, narrow, wide};
