//! Our own calls.

use superscalar_dla::{Distribution, Options};
use superscalar_runtime::Runtime;

/// How our library is called.
pub struct Ours<'a> {
    pub runtime: &'a Runtime,
    pub options: Options,
    /// How matrices on devices are distributed, if that was said.
    pub distribution: Option<Distribution>,
}
