//! The parameters of calls of our library.

use superscalar_dla::{Distribution, Options};
use superscalar_runtime::Runtime;

/// The parameters of calls of our library.
pub struct Ours<'a> {
    pub runtime: &'a Runtime,
    pub options: Options,
    /// The distribution of matrices over devices, if given.
    pub distribution: Option<Distribution>,
}
