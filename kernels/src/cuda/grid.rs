//! Blocks of threads that run at once and talk to each other, for panels: how many there are, and what each has.
//!
//! A column of a panel costs a message from each block to all, 1 to 2 µs, and little more as long as each block has its rows in shared memory.
//! So a kernel takes as many columns as fit there, and few blocks: the other processors are for what else the device does meanwhile.
//! What does not fit even with few columns is factored in the device's memory.

use super::{
    program::{Family, MESSAGE_WORDS, PANEL_BLOCKS, PANEL_COLUMNS, THREADS},
    stream::{Argument, Launch, Manner, Stream},
};
use crate::{Scalar, device::Mat};
use superscalar_runtime::DeviceError;

/// Shared memory that a block is given: one of them is all that a processor runs then. The second is what any device has.
const SHARED_BYTES: [usize; 2] = [192 << 10, 40 << 10];
/// Columns of one kernel, the most first; each part of a panel that is halved again and again has at most as many.
const COLUMNS: [usize; 4] = [PANEL_COLUMNS, 32, 16, 8];
/// The most blocks for as many columns as that: with more rows, a kernel has fewer columns, and half of a device is left to others.
const BLOCKS: usize = 64;

/// What a panel's kernels share.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grid<T: Scalar> {
    family: Family,
    kernels: [&'static str; 2],
    /// Whether a kernel keeps a square of elements besides.
    has_square: bool,
    /// Rows that a block has at least.
    rows_min: usize,
    /// Shared memory of a block, and blocks that run at once then.
    shared_bytes: usize,
    blocks: usize,
    pub mail: Mat<u64>,
    pub room: Mat<T>,
}

/// Who has which rows of a part of a panel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Deal {
    each: usize,
    blocks: usize,
    in_place: bool,
}

impl<T: Scalar> Grid<T> {
    /// For the kernels of a family, in shared memory and in place, with room for so many elements for each column, and for each row and
    /// column of blocks; the mail is cleared.
    pub fn new(
        stream: &mut Stream<'_, T>,
        (family, kernels): (Family, [&'static str; 2]),
        has_square: bool,
        rows_min: usize,
    ) -> Result<Self, DeviceError> {
        let mail = stream.take::<u64>((2 * PANEL_BLOCKS * MESSAGE_WORDS, 1))?;
        let room = stream.take::<T>((2 * (PANEL_BLOCKS + 1) * PANEL_COLUMNS, 1))?;
        let mut this = Self { family, kernels, has_square, rows_min, shared_bytes: 0, blocks: 0, mail, room };
        for shared_bytes in SHARED_BYTES {
            // Without a queue none fits: with the narrowest parts, a panel takes the most scratch.
            let Some(blocks) = stream.blocks_at_once((family, kernels[0]), THREADS, shared_bytes)? else { break };
            this = Self { shared_bytes, blocks: blocks.min(PANEL_BLOCKS), ..this };
            if blocks > 0 {
                break;
            }
        }
        if this.blocks == 0 && stream.queue.is_some() {
            return Err(DeviceError::new(format!("a device that runs no block of `{}`", kernels[0])));
        }
        stream.launch(Launch {
            family,
            kernel: "clear",
            arguments: &[Argument::start(mail), Argument::code(mail.m as i32)],
            grid: [1; 3],
            threads: [THREADS, 1],
        })?;
        Ok(this)
    }

    /// Elements of shared memory besides the rows.
    fn square(&self, n: usize) -> usize {
        if self.has_square { n * n } else { 0 }
    }

    /// Rows with n columns for which a block has shared memory.
    fn rows_max(&self, n: usize) -> usize {
        (self.shared_bytes / size_of::<T>()).saturating_sub(self.square(n)) / n
    }

    /// Whether n columns of m rows are for one kernel.
    pub fn takes(&self, (m, n): (usize, usize)) -> bool {
        let fits = |&&columns: &&usize| {
            let (rows, most) = (self.rows_max(columns), if columns == PANEL_COLUMNS { BLOCKS } else { PANEL_BLOCKS });
            rows >= columns && m.div_ceil(rows) <= most.min(self.blocks)
        };
        n <= COLUMNS.iter().find(fits).copied().unwrap_or(COLUMNS[COLUMNS.len() - 1])
    }

    /// How the rows of n columns are dealt.
    fn deal(&self, (m, n): (usize, usize)) -> Deal {
        let most = self.rows_max(n);
        let each = m.div_ceil(BLOCKS).max(self.rows_min).max(n);
        if most >= n && m.div_ceil(most) <= self.blocks {
            let each = each.max(m.div_ceil(self.blocks)).min(most);
            return Deal { each, blocks: m.div_ceil(each), in_place: false };
        }
        let each = m.div_ceil(self.blocks.max(1)).max(n);
        Deal { each, blocks: m.div_ceil(each), in_place: true }
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
        let Deal { each, blocks, in_place } = self.deal((m, n));
        // Kernels count rows in `int`, as interchanges do.
        let rows = i32::try_from(m).map_err(|_| DeviceError::new(format!("a panel of {m} rows")))?;
        let mut all = vec![Argument::start(a), Argument::place(a.ld), Argument::code(rows)];
        all.extend([Argument::code(n as i32), Argument::code(each as i32)]);
        all.extend_from_slice(arguments);
        all.extend([Argument::start(self.mail), Argument::start(self.room), status]);
        let launch = Launch {
            family: self.family,
            kernel: self.kernels[usize::from(in_place)],
            arguments: &all,
            grid: [blocks, 1, 1],
            threads: [THREADS, 1],
        };
        let elements = self.square(n) + if in_place { 0 } else { each * n };
        stream.launch_with(launch, Manner { shared_bytes: elements * size_of::<T>(), at_once: true })
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

    fn grid(shared_bytes: usize, blocks: usize, has_square: bool) -> Grid<f64> {
        let (mail, room) = (Mat::at(0, (1, 1), 1), Mat::at(0, (1, 1), 1));
        let (family, kernels) = (Family::Lu, ["getrf", "getrf_in_place"]);
        Grid { family, kernels, has_square, rows_min: 256, shared_bytes, blocks, mail, room }
    }

    #[test]
    fn every_row_is_one_block_s_and_fits_there() {
        for (shared_bytes, blocks) in [(192 << 10, 128), (192 << 10, 3), (40 << 10, 20), (40 << 10, 1)] {
            for has_square in [false, true] {
                let grid = grid(shared_bytes, blocks, has_square);
                for m in [1, 7, 64, 1000, 8192, 32768, 70_000, 300_000, 5_000_000] {
                    for n in (1..=64).filter(|&n| n <= m && grid.takes((m, n))) {
                        let Deal { each, blocks, in_place } = grid.deal((m, n));
                        assert!(each >= n && blocks <= grid.blocks && (blocks - 1) * each < m && blocks * each >= m);
                        let elements = grid.square(n) + if in_place { 0 } else { each * n };
                        assert!(elements * size_of::<f64>() <= shared_bytes, "{m} x {n}: {each}");
                    }
                    assert!(grid.takes((m, 8)) && !grid.takes((m, 65)));
                }
            }
        }
    }

    #[test]
    fn tall_panels_have_few_columns_at_once() {
        let grid = grid(192 << 10, 128, false);
        let columns = |m| (1..=64).rfind(|&n| grid.takes((m, n)));
        assert_eq!([8192, 24576, 24577, 32768, 98304, 98305].map(columns), [64, 64, 32, 32, 32, 16].map(Some));
        assert_eq!(grid.deal((8192, 64)), Deal { each: 256, blocks: 32, in_place: false });
        assert_eq!(grid.deal((32768, 32)), Deal { each: 512, blocks: 64, in_place: false });
        assert!(grid.deal((5_000_000, 8)).in_place);
    }
}
