//! The queries that a policy may make about ready tasks and resources.

use super::{BlasLevel, Place, ReadyTask};

/// A resource that runs tasks: the host's workers together (the default), or a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Resource(pub u16);

impl Resource {
    /// The host's workers together.
    pub const HOST: Self = Self(0);

    /// Returns the device of this index, in the order in which the devices were given to the builder. (There are at
    /// most 63 devices; the largest index, which has no number, is mapped to the one before it.)
    #[must_use]
    pub fn device(index: u16) -> Self {
        Self(index.saturating_add(1))
    }

    /// Returns the device's index, or `None` for the host.
    #[must_use]
    pub fn device_index(self) -> Option<u16> {
        self.0.checked_sub(1)
    }
}

/// The expected time of running a task on a resource.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Forecast {
    /// The time of the computation, by the resource's capability weight for the kernel.
    pub computation_ns: f64,
    /// The time of copying the missing operands, by the links' bandwidths.
    pub communication_ns: f64,
    /// Whether an operand comes from host memory or is on its way from there. The task, and the tasks behind it in its
    /// queue, begin only when it has arrived.
    pub from_host: bool,
    /// BLASX's priority (paper: equation 3): two for each operand in the device's memory, and one for each that a peer
    /// has.
    pub locality: u32,
}

impl Forecast {
    /// Returns the copies of this forecast, assuming that the device's memory has room.
    pub fn moves(&self) -> Transfers {
        Transfers { ns: self.communication_ns, from_host: self.from_host, has_room: true }
    }
}

/// The copies to a resource that must precede a task there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transfers {
    /// The time of the copies; infinite if the task cannot run there.
    pub ns: f64,
    /// Whether an operand comes from host memory or is on its way from there; see [`Forecast::from_host`].
    pub from_host: bool,
    /// Whether the copies leave the device's memory at most half full, so that no eviction is to be expected soon.
    pub has_room: bool,
}

impl Transfers {
    /// No copies.
    pub const NOTHING: Self = Self { ns: 0.0, from_host: false, has_room: true };
    /// The value for a task that cannot run there.
    pub const NEVER: Self = Self { ns: f64::INFINITY, from_host: false, has_room: false };
}

/// The queries that a policy may make about tasks that it holds. Without devices, only the number of workers and the
/// time are known.
pub trait Outlook {
    /// Returns the number of resources: the host and the devices.
    fn resources(&self) -> u16 {
        1
    }

    /// Returns the number of the host's workers.
    fn workers(&self) -> usize;

    /// Returns the resource that the thread at this place runs tasks for or issues to.
    fn resource_at(&self, place: Place) -> Resource {
        let _ = place;
        Resource::HOST
    }

    /// Returns the forecast of running the task there, or `None` in two cases:
    /// - The task cannot run there.
    /// - The policy does not [weigh](super::Policy::weighs) speeds itself, and the task is left to faster resources
    ///   now.
    fn forecast(&self, task: &ReadyTask, on: Resource) -> Option<Forecast> {
        let _ = (task, on);
        None
    }

    /// Returns whether any device can run the task, now or later, including one that currently leaves it to faster
    /// resources.
    fn is_for_devices(&self, task: &ReadyTask) -> bool {
        (1..self.resources()).any(|on| self.forecast(task, Resource(on)).is_some())
    }

    /// Returns the copies that the task would need there. This gives the same times as [`forecast`](Self::forecast) and
    /// is faster.
    fn moves(&self, task: &ReadyTask, on: Resource) -> Transfers {
        self.forecast(task, on).map_or(Transfers::NEVER, |forecast| forecast.moves())
    }

    /// Returns whether the resource is a lost device.
    fn is_lost(&self, on: Resource) -> bool {
        let _ = on;
        false
    }

    /// Returns the BLAS level of the task's work, if it is known.
    fn level(&self, task: &ReadyTask) -> Option<BlasLevel> {
        let _ = task;
        None
    }

    /// Returns the resource that should update the data that the task writes, if they were dealt. Without devices,
    /// returns `None`.
    fn home(&self, task: &ReadyTask) -> Option<Resource> {
        let _ = task;
        None
    }

    /// Returns the first device whose memory has the only valid replica of a value that the task updates. If the task
    /// runs elsewhere, the value must be copied there, and copied back for the next update on that device.
    fn owner(&self, task: &ReadyTask) -> Option<Resource> {
        let _ = task;
        None
    }

    /// Announces that the calling thread will take this task soon, after `others` more tasks (zero or one), so that its
    /// data structures can be prefetched.
    fn comes_soon(&self, task: &ReadyTask, others: usize) {
        let _ = (task, others);
    }

    /// Returns nanoseconds since an arbitrary fixed moment.
    fn now_ns(&self) -> u64;
}
