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

/// The widths of panels whose rows groups keep in their own memory.
const WIDTHS: [usize; 3] = [8, 16, PANEL_WIDTH];
/// The fewest rows of a group in its own memory.
const OWN_ROWS_MIN: usize = 63;

/// Returns the rows that a group keeps in its own memory. The number is odd, so that the elements of a row are in
/// different banks of this memory.
fn own_rows(m: usize, groups: usize) -> usize {
    m.div_ceil(groups).max(OWN_ROWS_MIN) | 1
}

/// The rows of the groups of a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowGroups {
    /// The rows of each group. The last group may have fewer.
    pub rows: usize,
    pub groups: usize,
}

impl RowGroups {
    /// Divides m rows. Many groups occupy a GPU; a single work-item is a whole core of a CPU, and has more rows.
    fn of(m: usize, parameters: &Parameters) -> Self {
        let lanes = parameters.work_items;
        let (groups_max, rows_min) = if lanes == 1 { (16, 256) } else { (GROUPS_MAX, 2 * lanes) };
        Self::with_rows(m, m.div_ceil(groups_max).max(rows_min).next_multiple_of(lanes))
    }

    /// Divides m rows into groups of so many.
    fn with_rows(m: usize, rows: usize) -> Self {
        Self { rows, groups: m.div_ceil(rows) }
    }
}

/// Groups that run at the same time and wait for each other, each with its rows in its own memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct ConcurrentGroups {
    /// The most groups with rows; 0 if there are none, and each step is a launch.
    most: usize,
    /// The most columns of a panel.
    pub width: usize,
    /// The count of arrivals at barriers, an `int` in scratch, and how many there have been.
    count: usize,
    arrived: usize,
}

impl ConcurrentGroups {
    /// Takes the count in scratch, for panels with elements of type `T` and at most m rows. A launch has `others`
    /// groups without rows.
    pub fn new<T>(stream: &mut Stream<'_>, m: usize, others: usize) -> Result<Self, DeviceError> {
        let (most, count) = (stream.concurrent_groups().min(GROUPS_MAX), stream.scratch.take::<i32>(1)?);
        let most = most.saturating_sub(others);
        let fits = |width: &usize| most > 0 && own_rows(m, most) * width * size_of::<T>() <= OWN_PANEL_BYTES;
        let Some(width) = WIDTHS.into_iter().filter(fits).max() else {
            return Ok(Self { most: 0, width: PANEL_WIDTH, count, arrived: 0 });
        };
        clear(stream, count)?;
        Ok(Self { most, width, count, arrived: 0 })
    }

    /// Returns these groups for all widths that may be chosen, if scratch is measured: then the device is not known.
    pub fn forms(self, stream: &Stream<'_>) -> Vec<Self> {
        if stream.is_measuring() { WIDTHS.map(|width| Self { width, ..self }).to_vec() } else { vec![self] }
    }

    /// Returns whether there are any.
    pub fn exist(&self) -> bool {
        self.most > 0
    }

    /// Divides m rows among these groups, or among the groups of a step if there are none.
    pub fn divide(&self, m: usize, parameters: &Parameters) -> RowGroups {
        match self.most {
            0 => RowGroups::of(m, parameters),
            most => RowGroups::with_rows(m, own_rows(m, most)),
        }
    }

    /// Returns the arguments of a launch: the count, and the arrivals before. The launch adds so many.
    pub fn arrive(&mut self, arrivals: usize) -> [Argument; 2] {
        let before = self.arrived;
        self.arrived += arrivals;
        [Argument::Offset(self.count), Argument::Count(before)]
    }
}
