//! Blocks of threads that run at once and talk to each other, for panels: how many there are, and what each has.
//!
//! A column of a panel costs a message from each block to all, and little more as long as each block has its rows in registers. In a cluster a
//! message is written into the others' shared memory, and the device's memory is not waited for. But a cluster has no more than 16 blocks:
//! the more rows, the fewer columns fit into it at once, and the rest is the work of products. Where there are no clusters, or rows for more
//! than one, the blocks of a grid talk through the device's memory; they are few, too, as the other processors are for what else the
//! device does meanwhile. What does not fit even with few columns is factored in the device's memory.

use super::{
    program::{Family, MESSAGE_WORDS, PANEL_BLOCKS, THREADS},
    stream::{Argument, Launch, Manner, Stream, Together},
};
use crate::{Scalar, device::Mat};
use superscalar_runtime::DeviceError;

/// Threads that share a row. So many times as many columns a kernel has; and blocks have fewer rows.
const GROUPS: [usize; 4] = [1, 2, 4, 8];
/// Blocks of the largest cluster that devices have, if they are asked for more than the 8 that all with clusters have.
const CLUSTER_BLOCKS: [usize; 2] = [16, 8];
/// Blocks of the smallest one: they send to each other, which a cluster of one can not, and the second has no rows then. Numbers of blocks are
/// powers of two.
const CLUSTER_BLOCKS_MIN: usize = 2;
/// The most blocks of a grid for more than the fewest columns: with more rows, half of a device is left to others.
const BLOCKS: usize = 64;
/// Messages of a block that are on their way or read, and bytes of the longest: see `text/grid.cu`.
const PLACES: usize = 3;
const MESSAGE_BYTES: usize = 32 + 2 * 8 * 64;

/// The kernels for a kind of panels: by groups of threads, and in place; in a grid, and in clusters.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kernels {
    pub grid: Family,
    pub cluster: Family,
    pub names: [&'static str; GROUPS.len()],
    pub in_place: &'static str,
    /// Whether a kernel keeps a square of elements in shared memory.
    pub has_square: bool,
}

/// What a panel's kernels share.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grid<T: Scalar> {
    kernels: Kernels,
    /// Blocks of the largest cluster; none if there are no clusters.
    cluster_blocks: usize,
    /// Blocks of a grid that run at once.
    blocks: usize,
    /// The most groups of a kernel of a grid.
    groups: usize,
    mail: Mat<u64>,
    room: Mat<u64>,
    /// Where rows are that are factored in place.
    places: Mat<i32>,
    elements: std::marker::PhantomData<T>,
}

/// Who has which rows of a part of a panel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Deal {
    each: usize,
    blocks: usize,
    way: Way,
}

/// Where rows are, and how blocks talk: with which of the numbers of groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Cluster(usize),
    Grid(usize),
    InPlace,
}

/// Rows and columns that a thread has: see `text/panel.cu`.
fn thread_shape<T: Scalar>() -> (usize, usize) {
    (if T::COMPLEX { 6 } else { 8 }, if size_of::<T>() > 8 { 4 } else { 8 })
}

/// Columns of a kernel.
fn columns<T: Scalar>(groups: usize) -> usize {
    thread_shape::<T>().1 * groups
}

/// Rows of a block.
fn rows<T: Scalar>(groups: usize) -> usize {
    thread_shape::<T>().0 * THREADS / groups
}

impl<T: Scalar> Grid<T> {
    /// For panels of m rows at most; the mail is cleared.
    pub fn new(stream: &mut Stream<'_, T>, kernels: Kernels, m: usize) -> Result<Self, DeviceError> {
        let mail = Mat::at(0, (0, 1), 1);
        let (room, places, elements) = (mail, Mat::at(0, (0, 1), 1), std::marker::PhantomData);
        let mut this = Self { kernels, cluster_blocks: 0, blocks: 0, groups: GROUPS[0], mail, room, places, elements };
        this.look_for_clusters(stream)?;
        if m <= this.cluster_blocks * rows::<T>(GROUPS[0]) {
            return Ok(this);
        }
        this.look_for_blocks(stream)?;
        this.mail = stream.take((PLACES * PANEL_BLOCKS * MESSAGE_WORDS, 1))?;
        this.room = stream.take((PLACES * PANEL_BLOCKS * MESSAGE_BYTES / size_of::<u64>(), 1))?;
        this.places = stream.take((m, 1))?;
        stream.launch(Launch {
            family: kernels.grid,
            kernel: "clear",
            arguments: &[Argument::start(this.mail), Argument::code(this.mail.m as i32)],
            grid: [1; 3],
            threads: [THREADS, 1],
        })?;
        Ok(this)
    }

    fn look_for_clusters(&mut self, stream: &mut Stream<'_, T>) -> Result<(), DeviceError> {
        let Kernels { cluster, names, .. } = self.kernels;
        let (widest, shared_bytes) = (GROUPS.len() - 1, self.square_bytes(columns::<T>(GROUPS[GROUPS.len() - 1])));
        for blocks in CLUSTER_BLOCKS {
            match stream.has_cluster((cluster, names[widest]), blocks, THREADS, shared_bytes) {
                Ok(Some(true)) => {
                    self.cluster_blocks = blocks;
                    break;
                }
                Err(error) if error.is_lost() => return Err(error),
                // A compiler that is too old for clusters is one without.
                _ => {}
            }
        }
        Ok(())
    }

    /// Without a queue there are none: with the narrowest parts, a panel takes the most scratch.
    fn look_for_blocks(&mut self, stream: &mut Stream<'_, T>) -> Result<(), DeviceError> {
        let Kernels { grid, names, .. } = self.kernels;
        for (&groups, name) in GROUPS.iter().zip(names).rev() {
            let shared_bytes = self.square_bytes(columns::<T>(groups));
            let Some(blocks) = stream.blocks_at_once((grid, name), THREADS, shared_bytes)? else { return Ok(()) };
            (self.blocks, self.groups) = (blocks.min(PANEL_BLOCKS), groups);
            if blocks > 0 {
                return Ok(());
            }
        }
        Err(DeviceError::new(format!("a device that runs no block of `{}`", names[0])))
    }

    /// Shared memory of n columns' square.
    fn square_bytes(&self, n: usize) -> usize {
        if self.kernels.has_square { n * n * size_of::<T>() } else { 0 }
    }

    /// Whether n columns of m rows are for one kernel.
    pub fn takes(&self, (m, n): (usize, usize)) -> bool {
        let in_cluster = |&&groups: &&usize| m <= self.cluster_blocks * rows::<T>(groups);
        let in_grid = |&&groups: &&usize| groups <= self.groups && m <= self.blocks.min(BLOCKS) * rows::<T>(groups);
        let most = GROUPS.iter().rfind(in_cluster).or_else(|| GROUPS.iter().rfind(in_grid));
        n <= columns::<T>(*most.unwrap_or(&GROUPS[0]))
    }

    /// How the rows of n columns are dealt: to as few blocks as there can be.
    fn deal(&self, (m, n): (usize, usize)) -> Deal {
        let at = GROUPS.iter().position(|&groups| n <= columns::<T>(groups)).unwrap_or(GROUPS.len() - 1);
        let each = rows::<T>(GROUPS[at]);
        let blocks = m.div_ceil(each);
        let in_cluster = blocks.next_power_of_two().max(CLUSTER_BLOCKS_MIN);
        if in_cluster <= self.cluster_blocks {
            return Deal { each, blocks: in_cluster, way: Way::Cluster(at) };
        }
        if GROUPS[at] <= self.groups && blocks <= self.blocks {
            return Deal { each, blocks, way: Way::Grid(at) };
        }
        let each = m.div_ceil(self.blocks.max(1)).next_multiple_of(rows::<T>(GROUPS[0]));
        Deal { each, blocks: m.div_ceil(each), way: Way::InPlace }
    }

    /// Whether rows of a part stay where they are, and are interchanged afterwards, if they are to be.
    pub fn is_in_place(&self, shape: (usize, usize)) -> bool {
        self.deal(shape).way == Way::InPlace
    }

    /// Factors a part that is for one kernel. Behind the part, and rows of a block, it takes these arguments, and mail, room and status.
    pub fn factor(
        &self,
        stream: &mut Stream<'_, T>,
        a: Mat<T>,
        arguments: &[Argument],
        status: Argument,
    ) -> Result<(), DeviceError> {
        let (m, n) = a.shape();
        let Deal { each, blocks, way } = self.deal((m, n));
        // Kernels count rows in `int`, as interchanges do, up to the end of the last block's.
        i32::try_from(m.saturating_add(each)).map_err(|_| DeviceError::new(format!("a panel of {m} rows")))?;
        let mut all = vec![Argument::start(a), Argument::place(a.ld), Argument::code(m as i32)];
        all.extend([Argument::code(n as i32), Argument::code(each as i32)]);
        all.extend_from_slice(arguments);
        all.extend([Argument::start(self.mail), Argument::start(self.room), status]);
        let Kernels { grid, cluster, names, in_place, .. } = self.kernels;
        let (family, kernel, together) = match way {
            Way::Cluster(at) => (cluster, names[at], Together::Cluster),
            Way::Grid(at) => (grid, names[at], Together::Grid),
            Way::InPlace => (grid, in_place, Together::Grid),
        };
        let launch = Launch { family, kernel, arguments: &all, grid: [blocks, 1, 1], threads: [THREADS, 1] };
        stream.launch_with(launch, Manner { shared_bytes: self.square_bytes(n), together })
    }

    /// Where kernels keep where rows are that are factored in place.
    pub fn places(&self) -> Argument {
        Argument::start(self.places)
    }

    /// Where the kernels leave that a block did not answer: it fails the task.
    pub fn status(&self, stream: &mut Stream<'_, T>, name: &'static str) -> Result<Argument, DeviceError> {
        stream.outcome(move |status| match status {
            0 => Ok(()),
            _ => {
                Err(DeviceError::new(format!("{name}: blocks of a panel that run at once did not hear of each other")))
            }
        })
    }
}

/// Columns of the left part of a panel that is cut in two: as many, whatever the device.
pub(super) fn left_of(n: usize) -> usize {
    n.next_power_of_two() / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid<T: Scalar>(cluster_blocks: usize, blocks: usize, groups: usize) -> Grid<T> {
        let (mail, places) = (Mat::at(0, (1, 1), 1), Mat::at(0, (1, 1), 1));
        let names = ["1", "2", "4", "8"];
        let kernels =
            Kernels { grid: Family::Lu, cluster: Family::LuCluster, names, in_place: "in_place", has_square: false };
        let elements = std::marker::PhantomData;
        Grid { kernels, cluster_blocks, blocks, groups, mail, room: mail, places, elements }
    }

    fn every_row_is_dealt<T: Scalar>() {
        for (cluster_blocks, blocks, groups) in [(16, 128, 8), (8, 3, 8), (0, 20, 4), (0, 1, 1), (0, 0, 1)] {
            let grid = grid::<T>(cluster_blocks, blocks, groups);
            for m in [1, 7, 64, 1000, 8192, 8193, 32768, 70_000, 300_000, 5_000_000] {
                for n in (1..=65).filter(|&n| n <= m && grid.takes((m, n))) {
                    let Deal { each, blocks, way } = grid.deal((m, n));
                    assert!(each >= n && blocks * each >= m, "{m} x {n}");
                    let (at, most) = match way {
                        Way::Cluster(at) => (at, cluster_blocks),
                        Way::Grid(at) => (at, grid.blocks),
                        Way::InPlace => (0, grid.blocks.max(1)),
                    };
                    assert!(blocks <= most && n <= columns::<T>(GROUPS[at]), "{m} x {n}: {way:?}");
                    assert!(way == Way::InPlace || each == rows::<T>(GROUPS[at]), "{m} x {n}: {way:?}");
                    assert!(!matches!(way, Way::Cluster(_)) || (blocks >= 2 && blocks.is_power_of_two()));
                    assert!(!matches!(way, Way::Grid(at) if GROUPS[at] > groups));
                }
                assert!(grid.takes((m, columns::<T>(1))) && !grid.takes((m, columns::<T>(8) + 1)));
            }
        }
    }

    #[test]
    fn every_row_is_one_block_s() {
        every_row_is_dealt::<f32>();
        every_row_is_dealt::<f64>();
        every_row_is_dealt::<crate::c64>();
    }

    #[test]
    fn tall_panels_have_few_columns_at_once() {
        let columns = |grid: Grid<f64>, m| (1..=65).rfind(|&n| grid.takes((m, n)));
        let both = grid(16, 128, 8);
        assert_eq!([4096, 4097, 8192, 16384, 32768].map(|m| columns(both, m)), [64, 32, 32, 16, 8].map(Some));
        assert_eq!([32769, 65536, 131_072, 600_000].map(|m| columns(both, m)), [16, 16, 8, 8].map(Some));
        let no_cluster = grid(0, 128, 8);
        assert_eq!([4096, 16384, 32768, 65536].map(|m| columns(no_cluster, m)), [64, 64, 32, 16].map(Some));
        assert_eq!(both.deal((8000, 20)), Deal { each: 512, blocks: 16, way: Way::Cluster(2) });
        assert_eq!(both.deal((200, 64)), Deal { each: 256, blocks: 2, way: Way::Cluster(3) });
        assert_eq!(both.deal((8000, 8)), Deal { each: 2048, blocks: 4, way: Way::Cluster(0) });
        assert!(both.is_in_place((5_000_000, 8)));
    }
}
