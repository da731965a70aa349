//! The parameters of calls of our library.

use crate::range::TileSize;
use superscalar_dla::{Distribution, Options};
use superscalar_runtime::Runtime;

/// The parameters of calls of our library.
pub struct Ours<'a> {
    pub runtime: &'a Runtime,
    pub options: Options,
    /// The distribution of matrices over devices, if given.
    pub distribution: Option<Distribution>,
}

impl<'a> Ours<'a> {
    /// Makes the parameters of a case with tiles, or chunks of a batch, of this size.
    pub fn new(runtime: &'a Runtime, nb: TileSize, distribution: Option<Distribution>) -> Self {
        let options = match nb {
            TileSize::Auto => Options::default(),
            TileSize::Fixed(nb) => Options::default().nb(nb),
        };
        let options = distribution.map_or(options, |distribution| options.distribution(distribution));
        Self { runtime, options, distribution }
    }
}
