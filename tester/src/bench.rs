//! [`Bench`]: the data that all cases of a run share.

use crate::elements::MemoryKind;
use crate::peer::Peer;
use crate::report::Setting;
use superscalar_runtime::Runtime;

/// The data that all cases of a run share.
pub struct Bench<'a> {
    pub runtime: &'a Runtime,
    pub peers: &'a [Peer],
    pub setting: &'a Setting,
    pub check: bool,
    /// The kind of memory of timed operands.
    pub memory: MemoryKind,
    /// `None` for the default of each case.
    pub ld_pad: Option<usize>,
}
