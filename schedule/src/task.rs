//! Tasks and places as a policy sees them.

use std::{fmt, num::NonZeroU64};

/// The number of a seat: the workers, counted from zero, then the threads from outside, then the threads that issue to
/// devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place(pub u32);

/// The serial number of a task, in program order from the first insertion. (Runtimes with custom policies share one
/// counter.)
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TaskId(pub u64);

impl fmt::Display for TaskId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "#{}", self.0)
    }
}

/// The BLAS level of a task's work, which says how its floating-point operations grow with its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum BlasLevel {
    /// Vector with vector: bound by memory.
    One = 1,
    /// Matrix with vector: bound by memory.
    Two = 2,
    /// Matrix with matrix: bound by arithmetic.
    Three = 3,
}

impl BlasLevel {
    /// Returns the level as a number: 1, 2 or 3.
    pub const fn number(self) -> u8 {
        self as u8
    }
}

/// A ready task. It cannot be copied, so that no policy can run a task twice.
#[derive(Debug)]
pub struct ReadyTask {
    id: TaskId,
    /// Bits 32 to 63: the priority. Bits 1 to 31: the slot, or 1 in a simulated task. Bit 0: whether the task belongs
    /// to a runtime. Never zero, so that an `Option<ReadyTask>` has two words and fits in registers.
    rest: NonZeroU64,
}

const _: () = assert!(size_of::<Option<ReadyTask>>() == 16);

const OF_RUNTIME: NonZeroU64 = NonZeroU64::MIN;
const SIMULATED: NonZeroU64 = NonZeroU64::new(2).unwrap();

impl ReadyTask {
    /// Creates the value for a task that a runtime has in this slot; slot indices are less than 2³¹.
    ///
    /// # Safety
    /// The runtime has the task in that slot, it is ready, and no other `ReadyTask` stands for it: a thread that takes
    /// it from a policy runs it without checking whether it has run before.
    #[allow(unsafe_code)]
    #[inline]
    pub unsafe fn of_runtime(id: TaskId, priority: i32, slot: u32) -> Self {
        debug_assert!(slot <= u32::MAX >> 1);
        Self { id, rest: OF_RUNTIME | u64::from(priority.cast_unsigned()) << 32 | u64::from(slot << 1) }
    }

    /// Creates a task for a simulation that drives a policy in virtual time. Runtimes do not run it.
    ///
    /// ```
    /// # extern crate superscalar_schedule as superscalar;
    /// use superscalar::{Outlook, Place, Policy, Priority, ReadyTask, TaskId, TaskFilter};
    ///
    /// struct TwoWorkers;
    /// impl Outlook for TwoWorkers {
    ///     fn workers(&self) -> usize {
    ///         2
    ///     }
    ///     fn now_ns(&self) -> u64 {
    ///         0
    ///     }
    /// }
    /// let policy = Priority::new(2);
    /// policy.push(Place(0), ReadyTask::simulated(TaskId(7), 0), &TwoWorkers);
    /// let stolen = policy.take(Place(1), &TaskFilter::ANY).or_else(|| policy.steal(Place(1), &TaskFilter::ANY));
    /// assert_eq!(stolen.map(|task| task.id()), Some(TaskId(7)));
    /// ```
    pub fn simulated(id: TaskId, priority: i32) -> Self {
        Self { id, rest: SIMULATED | u64::from(priority.cast_unsigned()) << 32 }
    }

    /// Returns the task's serial number; tasks inserted earlier have smaller numbers.
    #[must_use]
    #[inline]
    pub fn id(&self) -> TaskId {
        self.id
    }

    /// Returns its priority; larger is more urgent.
    #[must_use]
    #[inline]
    pub fn priority(&self) -> i32 {
        ((self.rest.get() >> 32) as u32).cast_signed()
    }

    /// Returns the slot in which its runtime has the task. It is meaningless for a [simulated](Self::is_simulated)
    /// task.
    #[must_use]
    #[inline]
    pub fn slot(&self) -> u32 {
        self.rest.get() as u32 >> 1
    }

    /// Returns whether the task belongs to no runtime.
    #[must_use]
    #[inline]
    pub fn is_simulated(&self) -> bool {
        self.rest.get() & OF_RUNTIME.get() == 0
    }
}
