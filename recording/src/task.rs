//! The data of a task that are known when it is inserted.

use super::{BlasLevel, TaskId};
use std::fmt;
use std::panic::Location;

/// The indices that distinguish the tasks of one name, such as `(i, j, k)` of a tile update.
///
/// There are at most three. They are stored inline, without an allocation.
///
/// ```
/// # mod superscalar { pub use superscalar_recording as recording; }
/// use superscalar::recording::TileIndex;
/// let update = TileIndex::from([4, 2, 1]);
/// assert_eq!(update.as_slice(), &[4, 2, 1]);
/// assert_eq!(update.to_string(), "(4, 2, 1)");
/// assert_eq!(TileIndex::NONE.to_string(), "");
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TileIndex {
    /// Entries from `count` on are zero, so that equality can compare all of them.
    values: [u32; 3],
    count: u8,
}

impl TileIndex {
    /// No index.
    pub const NONE: Self = Self { values: [0; 3], count: 0 };

    /// Creates an index from these values, outermost first. Returns `None` if there are more than three.
    ///
    /// ```
    /// # mod superscalar { pub use superscalar_recording as recording; }
    /// use superscalar::recording::TileIndex;
    /// assert_eq!(TileIndex::new(&[4, 2]), Some(TileIndex::from([4, 2])));
    /// assert_eq!(TileIndex::new(&[1, 2, 3, 4]), None);
    /// ```
    pub fn new(indices: &[u32]) -> Option<Self> {
        let mut values = [0; 3];
        values.get_mut(..indices.len())?.copy_from_slice(indices);
        Some(Self { values, count: indices.len() as u8 })
    }

    /// Returns the indices, outermost first.
    pub fn as_slice(&self) -> &[u32] {
        &self.values[..usize::from(self.count)]
    }

    /// Returns whether there is no index.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }
}

impl From<u32> for TileIndex {
    fn from(i: u32) -> Self {
        Self::from([i])
    }
}

impl<const N: usize> From<[u32; N]> for TileIndex {
    fn from(indices: [u32; N]) -> Self {
        const { assert!(N <= 3, "at most three indices") };
        Self::new(&indices).unwrap_or_default()
    }
}

impl From<()> for TileIndex {
    fn from((): ()) -> Self {
        Self::NONE
    }
}

impl fmt::Debug for TileIndex {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_slice(), out)
    }
}

/// Writes `(i, j, k)`, or nothing if there is no index.
impl fmt::Display for TileIndex {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((first, rest)) = self.as_slice().split_first() else {
            return Ok(());
        };
        write!(out, "({first}")?;
        for value in rest {
            write!(out, ", {value}")?;
        }
        out.write_str(")")
    }
}

/// The record of a task's insertion.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TaskRecord {
    /// The task's number; unique within a recording.
    pub id: TaskId,
    /// The task's name, shared by all tasks of the same operation.
    pub name: &'static str,
    /// The line of the program that inserted it.
    pub site: &'static Location<'static>,
    /// When it was inserted, in nanoseconds since the recording's epoch.
    pub inserted_ns: u64,
    /// Its priority; higher runs earlier.
    pub priority: i32,
    /// The BLAS level of its work, if declared.
    pub level: Option<BlasLevel>,
    /// The tile that it works on.
    pub index: TileIndex,
    /// Its declared floating-point operations; zero if none were declared.
    pub flops: f64,
    /// Its declared bytes read and written; zero if none were declared.
    pub bytes: f64,
}
