//! Groups of communicating thread blocks that factor panels: how many blocks there are, and which rows each has.
//!
//! Each column of a panel costs a message from every block to all others, and little more while every block has its
//! rows in registers. In a cluster, a message is written to the shared memory of the others, which avoids the latency
//! of the device's memory. But a cluster has at most 16 blocks: the more rows, the fewer columns fit at once, and
//! products do the rest. Without clusters, or with rows for more than one, the blocks of a grid communicate through the
//! device's memory. They are few, too, because the device uses its other processors for other work. A panel that does
//! not fit even with few columns is factored in the device's memory.

use super::{
    program::{Family, MESSAGE_WORDS, PANEL_BLOCKS, THREADS},
    stream::{Argument, Concurrency, Launch, LaunchOptions, Stream},
};
use crate::{Scalar, device::Mat};
use superscalar_runtime::DeviceError;

/// The numbers of threads that share a row. A kernel with more of them has proportionally more columns, and its blocks
/// have fewer rows.
const GROUPS: [usize; 4] = [1, 2, 4, 8];
/// The numbers of blocks to try for the largest cluster. Every device with clusters has those of 8.
const CLUSTER_BLOCKS: [usize; 2] = [16, 8];
/// Blocks of the smallest cluster. The blocks send to each other, which a cluster of one cannot; the second block may
/// have no rows. Numbers of blocks are powers of two.
const CLUSTER_BLOCKS_MIN: usize = 2;
/// The most blocks of a grid for more than the fewest columns. With more rows, half of a device is left for other work.
const WIDE_GRID_BLOCKS_MAX: usize = 64;
/// Messages of a block that are in transit or being read at once, and bytes of the longest: see `text/grid.cu`.
const MESSAGE_SLOTS: usize = 3;
const MESSAGE_BYTES: usize = 32 + 2 * 8 * 64;

/// The kernels for one kind of panel: in a grid and in clusters, by the number of groups, and in place.
#[derive(Clone, Copy, Debug)]
pub(super) struct PanelKernels {
    pub grid: Family,
    pub cluster: Family,
    pub names: [&'static str; GROUPS.len()],
    pub in_place: &'static str,
    /// Whether a kernel keeps a square of elements in shared memory.
    pub has_square: bool,
}

/// The state that the kernels of a panel share.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grid<T: Scalar> {
    kernels: PanelKernels,
    /// Blocks of the largest cluster; zero if there are no clusters.
    cluster_blocks: usize,
    /// Blocks of a grid that run at once.
    blocks: usize,
    /// The most groups of a kernel of a grid.
    groups: usize,
    /// The numbers and rows of the messages between blocks, each stamped with its turn.
    mail: Mat<u64>,
    /// The elements of the messages between blocks.
    room: Mat<u64>,
    /// The positions of the rows that are factored in place.
    row_positions: Mat<i32>,
    elements: std::marker::PhantomData<T>,
}

/// The distribution of the rows of a panel's part to blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RowDistribution {
    rows_per_block: usize,
    blocks: usize,
    mode: PanelMode,
}

/// Where the rows are kept, and how the blocks communicate. The number is an index into [`GROUPS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PanelMode {
    Cluster(usize),
    Grid(usize),
    InPlace,
}

/// The rows and columns that a thread has: see `text/panel.cu`.
fn thread_shape<T: Scalar>() -> (usize, usize) {
    (if T::COMPLEX { 6 } else { 8 }, if size_of::<T>() > 8 { 4 } else { 8 })
}

/// The columns of a kernel.
fn columns<T: Scalar>(groups: usize) -> usize {
    thread_shape::<T>().1 * groups
}

/// The rows of a block.
fn rows<T: Scalar>(groups: usize) -> usize {
    thread_shape::<T>().0 * THREADS / groups
}

impl<T: Scalar> Grid<T> {
    /// Prepares for panels of at most m rows, and clears the mail.
    pub fn new(stream: &mut Stream<'_, T>, kernels: PanelKernels, m: usize) -> Result<Self, DeviceError> {
        let mail = Mat::at(0, (0, 1), 1);
        let (room, row_positions, elements) = (mail, Mat::at(0, (0, 1), 1), std::marker::PhantomData);
        let groups = GROUPS[0];
        let mut this = Self { kernels, cluster_blocks: 0, blocks: 0, groups, mail, room, row_positions, elements };
        this.find_clusters(stream)?;
        if m <= this.cluster_blocks * rows::<T>(GROUPS[0]) {
            return Ok(this);
        }
        this.find_blocks(stream)?;
        this.mail = stream.take((MESSAGE_SLOTS * PANEL_BLOCKS * MESSAGE_WORDS, 1))?;
        this.room = stream.take((MESSAGE_SLOTS * PANEL_BLOCKS * MESSAGE_BYTES / size_of::<u64>(), 1))?;
        this.row_positions = stream.take((m, 1))?;
        stream.launch(Launch {
            family: kernels.grid,
            kernel: "clear",
            arguments: &[Argument::start(this.mail), Argument::code(this.mail.m as i32)],
            grid: [1; 3],
            threads: [THREADS, 1],
        })?;
        Ok(this)
    }

    fn find_clusters(&mut self, stream: &mut Stream<'_, T>) -> Result<(), DeviceError> {
        let PanelKernels { cluster, names, .. } = self.kernels;
        let (widest, shared_bytes) = (GROUPS.len() - 1, self.square_bytes(columns::<T>(GROUPS[GROUPS.len() - 1])));
        for blocks in CLUSTER_BLOCKS {
            match stream.has_cluster((cluster, names[widest]), blocks, THREADS, shared_bytes) {
                Ok(Some(true)) => {
                    self.cluster_blocks = blocks;
                    break;
                }
                Err(error) if error.is_lost() => return Err(error),
                // A compiler without support for clusters counts as a device without them.
                _ => {}
            }
        }
        Ok(())
    }

    /// Finds how many blocks of a grid run at once. Without a queue there are none, so that parts are narrow and the
    /// panel takes the most scratch.
    fn find_blocks(&mut self, stream: &mut Stream<'_, T>) -> Result<(), DeviceError> {
        let PanelKernels { grid, names, .. } = self.kernels;
        for (&groups, name) in GROUPS.iter().zip(names).rev() {
            let shared_bytes = self.square_bytes(columns::<T>(groups));
            let Some(blocks) = stream.blocks_at_once((grid, name), THREADS, shared_bytes)? else { return Ok(()) };
            (self.blocks, self.groups) = (blocks.min(PANEL_BLOCKS), groups);
            if blocks > 0 {
                return Ok(());
            }
        }
        Err(DeviceError::new(format!("the device cannot run a block of kernel `{}`", names[0])))
    }

    /// Shared memory of the square of n columns.
    fn square_bytes(&self, n: usize) -> usize {
        if self.kernels.has_square { n * n * size_of::<T>() } else { 0 }
    }

    /// Returns whether one kernel can factor n columns of m rows.
    pub fn fits(&self, (m, n): (usize, usize)) -> bool {
        let in_cluster = |&&groups: &&usize| m <= self.cluster_blocks * rows::<T>(groups);
        let in_grid =
            |&&groups: &&usize| groups <= self.groups && m <= self.blocks.min(WIDE_GRID_BLOCKS_MAX) * rows::<T>(groups);
        let most = GROUPS.iter().rfind(in_cluster).or_else(|| GROUPS.iter().rfind(in_grid));
        n <= columns::<T>(*most.unwrap_or(&GROUPS[0]))
    }

    /// Distributes the rows of n columns to as few blocks as possible.
    fn distribute(&self, (m, n): (usize, usize)) -> RowDistribution {
        let at = GROUPS.iter().position(|&groups| n <= columns::<T>(groups)).unwrap_or(GROUPS.len() - 1);
        let rows_per_block = rows::<T>(GROUPS[at]);
        let blocks = m.div_ceil(rows_per_block);
        let in_cluster = blocks.next_power_of_two().max(CLUSTER_BLOCKS_MIN);
        if in_cluster <= self.cluster_blocks {
            return RowDistribution { rows_per_block, blocks: in_cluster, mode: PanelMode::Cluster(at) };
        }
        if GROUPS[at] <= self.groups && blocks <= self.blocks {
            return RowDistribution { rows_per_block, blocks, mode: PanelMode::Grid(at) };
        }
        let rows_per_block = m.div_ceil(self.blocks.max(1)).next_multiple_of(rows::<T>(GROUPS[0]));
        RowDistribution { rows_per_block, blocks: m.div_ceil(rows_per_block), mode: PanelMode::InPlace }
    }

    /// Returns whether the kernel leaves the rows of a part in place, so that they must be interchanged afterwards.
    pub fn is_in_place(&self, shape: (usize, usize)) -> bool {
        self.distribute(shape).mode == PanelMode::InPlace
    }

    /// Factors a part that [`fits`](Self::fits) one kernel. The kernel's arguments are the part, the rows per block,
    /// `arguments`, mail, room and status.
    pub fn factor(
        &self,
        stream: &mut Stream<'_, T>,
        a: Mat<T>,
        arguments: &[Argument],
        status: Argument,
    ) -> Result<(), DeviceError> {
        let (m, n) = a.shape();
        let RowDistribution { rows_per_block, blocks, mode } = self.distribute((m, n));
        // Kernels count rows in `int`, as interchanges do, up to the end of the last block's rows.
        i32::try_from(m.saturating_add(rows_per_block))
            .map_err(|_| DeviceError::new(format!("a panel of {m} rows exceeds the range of the kernels")))?;
        let mut all = vec![Argument::start(a), Argument::index(a.ld), Argument::code(m as i32)];
        all.extend([Argument::code(n as i32), Argument::code(rows_per_block as i32)]);
        all.extend_from_slice(arguments);
        all.extend([Argument::start(self.mail), Argument::start(self.room), status]);
        let PanelKernels { grid, cluster, names, in_place, .. } = self.kernels;
        let (family, kernel, concurrency) = match mode {
            PanelMode::Cluster(at) => (cluster, names[at], Concurrency::Cluster),
            PanelMode::Grid(at) => (grid, names[at], Concurrency::Grid),
            PanelMode::InPlace => (grid, in_place, Concurrency::Grid),
        };
        let launch = Launch { family, kernel, arguments: &all, grid: [blocks, 1, 1], threads: [THREADS, 1] };
        stream.launch_with(launch, LaunchOptions { shared_bytes: self.square_bytes(n), concurrency })
    }

    /// Returns the memory in which kernels keep the positions of the rows that are factored in place.
    pub fn row_positions(&self) -> Argument {
        Argument::start(self.row_positions)
    }

    /// Returns the status that a kernel sets if a block does not answer, which fails the task.
    pub fn status(&self, stream: &mut Stream<'_, T>, name: &'static str) -> Result<Argument, DeviceError> {
        stream.outcome(move |status| match status {
            0 => Ok(()),
            _ => Err(DeviceError::new(format!("{name}: the blocks of a panel did not receive each other's messages"))),
        })
    }
}

/// Returns the columns of the left part of a panel that is cut in two. They do not depend on the device.
pub(super) fn left_of(n: usize) -> usize {
    n.next_power_of_two() / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid<T: Scalar>(cluster_blocks: usize, blocks: usize, groups: usize) -> Grid<T> {
        let (mail, row_positions) = (Mat::at(0, (1, 1), 1), Mat::at(0, (1, 1), 1));
        let names = ["1", "2", "4", "8"];
        let (grid, cluster) = (Family::Lu, Family::LuCluster);
        let kernels = PanelKernels { grid, cluster, names, in_place: "in_place", has_square: false };
        let elements = std::marker::PhantomData;
        Grid { kernels, cluster_blocks, blocks, groups, mail, room: mail, row_positions, elements }
    }

    fn every_row_is_distributed<T: Scalar>() {
        for (cluster_blocks, blocks, groups) in [(16, 128, 8), (8, 3, 8), (0, 20, 4), (0, 1, 1), (0, 0, 1)] {
            let grid = grid::<T>(cluster_blocks, blocks, groups);
            for m in [1, 7, 64, 1000, 8192, 8193, 32768, 70_000, 300_000, 5_000_000] {
                for n in (1..=65).filter(|&n| n <= m && grid.fits((m, n))) {
                    let RowDistribution { rows_per_block, blocks, mode } = grid.distribute((m, n));
                    assert!(rows_per_block >= n && blocks * rows_per_block >= m, "{m} x {n}");
                    let (at, most) = match mode {
                        PanelMode::Cluster(at) => (at, cluster_blocks),
                        PanelMode::Grid(at) => (at, grid.blocks),
                        PanelMode::InPlace => (0, grid.blocks.max(1)),
                    };
                    assert!(blocks <= most && n <= columns::<T>(GROUPS[at]), "{m} x {n}: {mode:?}");
                    let is_full = rows_per_block == rows::<T>(GROUPS[at]);
                    assert!(mode == PanelMode::InPlace || is_full, "{m} x {n}: {mode:?}");
                    assert!(!matches!(mode, PanelMode::Cluster(_)) || (blocks >= 2 && blocks.is_power_of_two()));
                    assert!(!matches!(mode, PanelMode::Grid(at) if GROUPS[at] > groups));
                }
                assert!(grid.fits((m, columns::<T>(1))) && !grid.fits((m, columns::<T>(8) + 1)));
            }
        }
    }

    #[test]
    fn rows_are_distributed_for_every_type() {
        every_row_is_distributed::<f32>();
        every_row_is_distributed::<f64>();
        every_row_is_distributed::<crate::c64>();
    }

    #[test]
    fn tall_panels_have_fewer_columns_per_kernel() {
        let columns = |grid: Grid<f64>, m| (1..=65).rfind(|&n| grid.fits((m, n)));
        let both = grid(16, 128, 8);
        assert_eq!([4096, 4097, 8192, 16384, 32768].map(|m| columns(both, m)), [64, 32, 32, 16, 8].map(Some));
        assert_eq!([32769, 65536, 131_072, 600_000].map(|m| columns(both, m)), [16, 16, 8, 8].map(Some));
        let no_cluster = grid(0, 128, 8);
        assert_eq!([4096, 16384, 32768, 65536].map(|m| columns(no_cluster, m)), [64, 64, 32, 16].map(Some));
        let distribution = |rows_per_block, blocks, mode| RowDistribution { rows_per_block, blocks, mode };
        assert_eq!(both.distribute((8000, 20)), distribution(512, 16, PanelMode::Cluster(2)));
        assert_eq!(both.distribute((200, 64)), distribution(256, 2, PanelMode::Cluster(3)));
        assert_eq!(both.distribute((8000, 8)), distribution(2048, 4, PanelMode::Cluster(0)));
        assert!(both.is_in_place((5_000_000, 8)));
    }
}
