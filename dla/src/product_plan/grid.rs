//! How a product is cut: a grid of devices, each with a block of C, and tiles within the blocks ("Uncut-GEMMs",
//! section III-A).

/// The most targets of a route, and the most devices that it can name.
pub(super) const TARGETS_MAX: usize = 7;
const DEVICES_MAX: usize = 14;

/// The rows and columns of the grid of devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DeviceGrid {
    /// Blocks of rows of C.
    pub(crate) rows: usize,
    /// Blocks of columns of C.
    pub(crate) columns: usize,
}

impl DeviceGrid {
    /// Returns the grid of so many devices that fetches the fewest elements: a block of rows of A is fetched by a row
    /// of the grid, a block of columns of B by a column. `None` if a row or a column of each such grid is
    /// longer than a route.
    pub(crate) fn of(devices: usize, [m, n, _]: [usize; 3]) -> Option<Self> {
        let grids = (1..=devices).filter(|rows| devices.is_multiple_of(*rows));
        let grids = grids.map(|rows| Self { rows, columns: devices / rows });
        let grids = grids.filter(|grid| grid.rows.max(grid.columns) <= TARGETS_MAX && devices <= DEVICES_MAX);
        let fetched = |grid: &Self| m as f64 * grid.columns as f64 + n as f64 * grid.rows as f64;
        grids.min_by(|a, b| fetched(a).total_cmp(&fetched(b)))
    }
}

/// A length cut into equal parts, except for the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    pub(crate) len: usize,
    /// The length of a part.
    pub(crate) part: usize,
}

impl Cut {
    /// Returns the number of parts.
    pub(crate) fn count(self) -> usize {
        self.len.div_ceil(self.part.max(1))
    }

    /// Returns the length of a part.
    pub(crate) fn of(self, at: usize) -> usize {
        self.part.min(self.len.saturating_sub(at * self.part))
    }
}
