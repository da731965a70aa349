//! The description of a task: its name, its priority, its cost, and where it may run.

use crate::{
    recording::{BlasLevel, TileIndex},
    schedule::Resource,
};

/// Where a task may run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lock {
    /// Anywhere that has an implementation.
    #[default]
    None,
    /// On the worker of this index (counted from zero; taken modulo the number of workers).
    Worker(u16),
    /// On the host, even if a device could run it.
    Host,
    /// On a device, even if the host could run it. If no device can, the task is refused at insertion.
    Device,
}

/// A task's name, and properties for the scheduler and the trace. A string literal converts into one.
///
/// ```
/// # extern crate superscalar_runtime as superscalar;
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
    pub(crate) home: Option<Resource>,
    pub(crate) level: Option<BlasLevel>,
    pub(crate) index: TileIndex,
    pub(crate) flops: f64,
    pub(crate) bytes: f64,
}

impl TaskSpec {
    /// Creates a specification with this name, priority zero and unknown cost.
    #[must_use]
    pub fn new(name: &'static str) -> Self {
        let (lock, index) = (Lock::None, TileIndex::NONE);
        Self { name, priority: 0, lock, home: None, level: None, index, flops: 0.0, bytes: 0.0 }
    }

    /// Sets the priority; larger is more urgent. A policy may treat close priorities as equal.
    #[must_use]
    pub fn priority(self, priority: i32) -> Self {
        Self { priority, ..self }
    }

    /// Sets where the task may run.
    #[must_use]
    pub fn lock(self, lock: Lock) -> Self {
        Self { lock, ..self }
    }

    /// Deals the task to a resource, regardless of where its data were [dealt to](crate::Lent::deal_to). It is the same
    /// hint: policies that use homes run the task there if they can.
    #[must_use]
    pub fn home(self, resource: Resource) -> Self {
        Self { home: Some(resource), ..self }
    }

    /// Sets the BLAS level of the task's work.
    #[must_use]
    pub fn level(self, level: BlasLevel) -> Self {
        Self { level: Some(level), ..self }
    }

    /// Sets up to three indices that distinguish tasks of the same name, such as those of the tile that it writes.
    #[must_use]
    pub fn index(self, index: impl Into<TileIndex>) -> Self {
        Self { index: index.into(), ..self }
    }

    /// Sets the number of floating-point operations.
    #[must_use]
    pub fn flops(self, flops: f64) -> Self {
        Self { flops, ..self }
    }

    /// Sets the minimal number of bytes that the task reads and writes.
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
