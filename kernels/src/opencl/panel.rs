//! What the panels of LU and QR share: few columns are factored step by step by groups, of which each has the same rows
//! in every step. Each step is a launch, or all are one launch where groups can wait for each other.

use super::{
    Parameters,
    elements::clear,
    stream::{Argument, Stream},
};
use superscalar_runtime::DeviceError;

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

/// Groups that run at the same time and wait for each other.
#[derive(Clone, Copy, Debug)]
pub(super) struct ConcurrentGroups {
    /// The most groups of a launch; 0 if there are none, and each step is a launch.
    pub most: usize,
    /// The count of arrivals at barriers, an `int` in scratch, and how many there have been.
    count: usize,
    arrived: usize,
}

impl ConcurrentGroups {
    /// Takes the count in scratch.
    pub fn new(stream: &mut Stream<'_>) -> Result<Self, DeviceError> {
        let (most, count) = (stream.concurrent_groups().min(GROUPS_MAX), stream.scratch.take::<i32>(1)?);
        if most > 0 {
            clear(stream, count)?;
        }
        Ok(Self { most, count, arrived: 0 })
    }

    /// Returns the arguments of a launch: the count, and the arrivals before. The launch adds so many.
    pub fn arrive(&mut self, arrivals: usize) -> [Argument; 2] {
        let before = self.arrived;
        self.arrived += arrivals;
        [Argument::Offset(self.count), Argument::Count(before)]
    }
}
