//! What a policy may ask about ready tasks and about who could run them.

use super::{BlasLevel, Place, ReadyTask};

/// Who runs tasks, as a policy weighs it: the host's workers together, who are the default, or a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Resource(pub u16);

impl Resource {
    /// The host's workers together.
    pub const HOST: Self = Self(0);

    /// The device of this index, in the order in which they were given to the builder. (There are 63 at most, so the last index,
    /// which would have no number, stands for the one before it.)
    #[must_use]
    pub fn device(index: u16) -> Self {
        Self(index.saturating_add(1))
    }

    /// The device's index; none of the host.
    #[must_use]
    pub fn device_index(self) -> Option<u16> {
        self.0.checked_sub(1)
    }
}

/// What it would take to run a task on a resource.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Forecast {
    /// The work itself, by the resource's capability weight for its kernel.
    pub computation_ns: f64,
    /// Moving what is not there yet, by the links' bandwidths.
    pub communication_ns: f64,
    /// Whether something comes from host memory, or is on its way from there: the task begins when it has come, and so does what stands
    /// behind it in a queue.
    pub from_host: bool,
    /// BLASX's priority (paper: equation 3): two for each operand that is there, one for each that a peer of the device has.
    pub locality: u32,
}

impl Forecast {
    /// What it says of what must be moved, as if there were room for it.
    pub fn moves(&self) -> Moves {
        Moves { ns: self.communication_ns, from_host: self.from_host, has_room: true }
    }
}

/// What must be moved to a resource before a task can begin there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moves {
    /// How long it takes; endless if the task can not run there.
    pub ns: f64,
    /// As in a [`Forecast`].
    pub from_host: bool,
    /// Whether memory there is not more than half full with it: nothing will have to make room soon.
    pub has_room: bool,
}

impl Moves {
    /// Nothing.
    pub const NOTHING: Self = Self { ns: 0.0, from_host: false, has_room: true };
    /// Of a task that can not run there.
    pub const NEVER: Self = Self { ns: f64::INFINITY, from_host: false, has_room: false };
}

/// What a policy may ask, of tasks that it holds. Without devices there is no more to say than how many workers there are, and the time.
pub trait Outlook {
    /// How many resources there are: the host, and the devices.
    fn resources(&self) -> u16 {
        1
    }

    /// How many workers the host has.
    fn workers(&self) -> usize;

    /// Which resource the thread at this place runs tasks for, or issues to.
    fn resource_at(&self, place: Place) -> Resource {
        let _ = place;
        Resource::HOST
    }

    /// What it would take to run the task there; none if it can not run there, or, where the policy does not
    /// [weigh](super::Policy::weighs) that itself, if it is left to faster ones for now.
    fn forecast(&self, task: &ReadyTask, on: Resource) -> Option<Forecast> {
        let _ = (task, on);
        None
    }

    /// Whether a device can run the task, now or later: also one that leaves it to faster ones for now.
    fn is_for_devices(&self, task: &ReadyTask) -> bool {
        (1..self.resources()).any(|on| self.forecast(task, Resource(on)).is_some())
    }

    /// What would have to be moved there that the task needs and is not there yet. It takes as long as [`forecast`](Self::forecast) says, who
    /// takes longer to ask.
    fn moves(&self, task: &ReadyTask, on: Resource) -> Moves {
        self.forecast(task, on).map_or(Moves::NEVER, |forecast| forecast.moves())
    }

    /// Whether the resource is a device that is gone.
    fn is_lost(&self, on: Resource) -> bool {
        let _ = on;
        false
    }

    /// The level of BLAS that the task's work belongs to, if that is known.
    fn level(&self, task: &ReadyTask) -> Option<BlasLevel> {
        let _ = task;
        None
    }

    /// Where the data that the task writes are to be updated, if they were dealt to somebody. None where there are no devices.
    fn home(&self, task: &ReadyTask) -> Option<Resource> {
        let _ = task;
        None
    }

    /// The device whose memory alone has the value of what the task updates: the first of them. Wherever else the task runs, that must be
    /// moved, and moved back by the next one that updates it there.
    fn owner(&self, task: &ReadyTask) -> Option<Resource> {
        let _ = task;
        None
    }

    /// The thread that asks will take this task next, after so many others (none, or one): what is written of it may be brought near
    /// meanwhile.
    fn comes_soon(&self, task: &ReadyTask, others: usize) {
        let _ = (task, others);
    }

    /// Nanoseconds since some moment.
    fn now_ns(&self) -> u64;
}
