//! What a task is called, how urgent it is, what it costs.

use crate::recording::{BlasLevel, TileIndex};

/// Where a task may run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lock {
    /// Wherever there is an implementation for it.
    #[default]
    None,
    /// On the worker of this index (counted from zero; taken modulo the number of workers).
    Worker(u16),
    /// On the host, even if a device could take it.
    Host,
    /// On a device, even if the host could run it. Refused at insertion where no device can.
    Device,
}

/// A task's name, and what the scheduler and the trace should know of it. A string literal is one.
///
/// ```
/// use superscalar::{Runtime, TaskSpec};
/// # fn main() -> Result<(), superscalar::Error> {
/// let rt = Runtime::builder().workers(1).build()?;
/// let mut x = 2.0;
/// rt.scope(|s| {
///     let x = s.lend(&mut x);
///     s.spawn(TaskSpec::new("square").priority(1).index([0, 0]).flops(1.0), x.read_write(), |x| *x *= *x);
/// })?;
/// assert_eq!(x, 4.0);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct TaskSpec {
    pub(crate) name: &'static str,
    pub(crate) priority: i32,
    pub(crate) lock: Lock,
    pub(crate) level: Option<BlasLevel>,
    pub(crate) index: TileIndex,
    pub(crate) flops: f64,
    pub(crate) bytes: f64,
}

impl TaskSpec {
    /// A task of this name, with priority zero and nothing known of its cost.
    #[must_use]
    pub fn new(name: &'static str) -> Self {
        Self { name, priority: 0, lock: Lock::None, level: None, index: TileIndex::NONE, flops: 0.0, bytes: 0.0 }
    }

    /// How urgent the task is; larger is more urgent. Policies may be coarser than the number.
    #[must_use]
    pub fn priority(self, priority: i32) -> Self {
        Self { priority, ..self }
    }

    /// Where the task may run.
    #[must_use]
    pub fn lock(self, lock: Lock) -> Self {
        Self { lock, ..self }
    }

    /// The level of BLAS that its work belongs to.
    #[must_use]
    pub fn level(self, level: BlasLevel) -> Self {
        Self { level: Some(level), ..self }
    }

    /// The indices that tell it from its namesakes, such as the tile it writes; at most three.
    #[must_use]
    pub fn index(self, index: impl Into<TileIndex>) -> Self {
        Self { index: index.into(), ..self }
    }

    /// Its floating-point operations.
    #[must_use]
    pub fn flops(self, flops: f64) -> Self {
        Self { flops, ..self }
    }

    /// The bytes that it reads and writes at least.
    #[must_use]
    pub fn bytes(self, bytes: f64) -> Self {
        Self { bytes, ..self }
    }
}

impl From<&'static str> for TaskSpec {
    fn from(name: &'static str) -> Self {
        Self::new(name)
    }
}
