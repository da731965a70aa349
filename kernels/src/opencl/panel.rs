//! What the panels of LU and QR share: few columns are factored step by step, one launch for each column, by groups of
//! which each has the same rows in every step.

use super::Parameters;

/// The most columns that are factored step by step.
pub(super) const PANEL_WIDTH: usize = 32;

/// The most groups of a step, each of which reads what all have found.
pub(super) const GROUPS_MAX: usize = 256;

/// The work-items of a group that runs together with others, and the bytes of its own memory for a panel. With what
/// else it keeps, these are less than 48 KiB, which GPUs by NVIDIA have.
pub(super) const CONCURRENT_ITEMS: usize = 256;
pub(super) const OWN_PANEL_BYTES: usize = 40 << 10;

/// The rows of the groups of a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowGroups {
    /// The rows of each group. The last group may have fewer.
    pub rows: usize,
    pub groups: usize,
}

impl RowGroups {
    /// Divides m rows. Many groups occupy a GPU; a single work-item is a whole core of a CPU, and has more rows.
    pub fn of(m: usize, parameters: &Parameters) -> Self {
        let lanes = parameters.work_items;
        let (groups_max, rows_min) = if lanes == 1 { (16, 256) } else { (GROUPS_MAX, 2 * lanes) };
        Self::with_rows(m, m.div_ceil(groups_max).max(rows_min).next_multiple_of(lanes))
    }

    /// Divides m rows into groups of so many.
    pub fn with_rows(m: usize, rows: usize) -> Self {
        Self { rows, groups: m.div_ceil(rows) }
    }
}
