//! [`PanelKernel`]: kernels that keep a panel of a matrix in memory of the group's own, or leave it in place.

use super::operand::classes;
use crate::opencl::{
    Parameters, Program,
    program::{BATCH_PANEL_BYTES, BATCH_PANEL_COLUMNS, has_own_panels},
};
use crate::operations::BatchMat;
use std::ops::Range;

/// A kernel in both forms. See `text/batch_panel.cl`.
#[derive(Clone, Copy, Debug)]
pub(super) struct PanelKernel {
    pub program: Program,
    /// The name of the kernel that copies panels.
    pub own: &'static str,
    /// The name of the kernel that does not.
    pub in_place: &'static str,
}

impl PanelKernel {
    /// Divides the problems of a batch into ranges for one launch each, and selects their kernels. `elements` is the
    /// size of the largest panel of a problem. Panels are copied if they fit, but not on a CPU, where that is slower.
    pub fn ranges<T>(
        self,
        parameters: &Parameters,
        batch: &BatchMat<T>,
        elements: impl Fn(usize) -> usize,
    ) -> Vec<(Range<usize>, (Program, &'static str))> {
        let is_large = |at| elements(at).saturating_mul(size_of::<T>()) > BATCH_PANEL_BYTES;
        let stays = |at| !has_own_panels(parameters) || is_large(at);
        let ranges = classes(batch.len(), batch.layout().is_some(), |at| stays(at).into()).into_iter();
        // If a panel of a range stays in place, that of the last problem does.
        let kernel = |range: &Range<usize>| if stays(range.end - 1) { self.in_place } else { self.own };
        ranges.map(|range| (range.clone(), (self.program, kernel(&range)))).collect()
    }
}

/// Returns the elements of the largest panel of a matrix with m rows.
pub(super) fn panel_elements(m: usize) -> usize {
    m.saturating_mul(BATCH_PANEL_COLUMNS)
}
