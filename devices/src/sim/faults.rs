//! Faults that tests inject: what fails, and when.

use std::sync::{Mutex, PoisonError};

/// The direction of a copy, as seen from the device that makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From host memory into the heap.
    In,
    /// From the heap to host memory.
    Out,
    /// From a peer's heap into the device's own.
    Peer,
}

/// An operation that can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Point {
    /// Reserving the heap fails.
    Reserve,
    /// A copy is refused when it is put into its queue.
    CopyCall(Direction),
    /// A copy fails when its turn comes; nothing is copied.
    Copy(Direction),
    /// A kernel is refused when it is launched, and its task with it.
    Launch,
    /// A kernel fails when its turn comes; it does not run.
    Kernel,
}

/// How often a fault strikes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Times {
    /// Only the nth time.
    Once,
    /// From the nth time on.
    Forever,
}

/// The consequence of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// The operation fails; the device keeps working.
    Fails,
    /// The device is lost.
    Loses,
}

/// One fault. It strikes when its point is reached for the nth time (from one), counted from when the device was given
/// it.
///
/// ```
/// # mod superscalar { pub use superscalar_devices as devices; pub use superscalar_runtime::*; }
/// use superscalar::devices::sim::{Direction, Fault, Point, Spec};
/// let mut spec = Spec::new("unreliable");
/// spec.faults = [Fault::once(Point::Kernel, 3), Fault::forever(Point::Copy(Direction::Out), 10).losing()].into();
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fault {
    /// The operation that fails.
    pub point: Point,
    /// The occurrence at which it fails, from one; zero never strikes.
    pub nth: u64,
    /// How often it strikes.
    pub times: Times,
    /// The consequence.
    pub effect: Effect,
}

impl Fault {
    /// Returns a fault that strikes only the nth time.
    #[must_use]
    pub fn once(point: Point, nth: u64) -> Self {
        Self { point, nth, times: Times::Once, effect: Effect::Fails }
    }

    /// Returns a fault that strikes every time from the nth on.
    #[must_use]
    pub fn forever(point: Point, nth: u64) -> Self {
        Self { times: Times::Forever, ..Self::once(point, nth) }
    }

    /// Returns this fault with the effect that the device is lost.
    #[must_use]
    pub fn losing(self) -> Self {
        Self { effect: Effect::Loses, ..self }
    }
}

/// The faults of a device. By default none are injected.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Faults(pub Vec<Fault>);

impl<const N: usize> From<[Fault; N]> for Faults {
    fn from(faults: [Fault; N]) -> Self {
        Self(faults.into())
    }
}

/// Faults, each with the number of times that its point was reached.
pub(super) struct Injector(Mutex<Vec<(Fault, u64)>>);

impl Injector {
    pub(super) fn new(faults: &Faults) -> Self {
        Self(Mutex::new(faults.0.iter().map(|&fault| (fault, 0)).collect()))
    }

    pub(super) fn add(&self, fault: Fault) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push((fault, 0));
    }

    /// Counts that the point was reached. Returns the effect of the faults that strike now, the worst if there are
    /// several.
    pub(super) fn strikes(&self, point: Point) -> Option<Effect> {
        let mut worst = None;
        for (fault, reached) in self.0.lock().unwrap_or_else(PoisonError::into_inner).iter_mut() {
            if fault.point != point {
                continue;
            }
            *reached += 1;
            let strikes = match fault.times {
                Times::Once => *reached == fault.nth,
                Times::Forever => fault.nth > 0 && *reached >= fault.nth,
            };
            if strikes && worst != Some(Effect::Loses) {
                worst = Some(fault.effect);
            }
        }
        worst
    }
}
