//! What fails, and when: faults that a test injects.

use std::sync::{Mutex, PoisonError};

/// Which way a copy goes, as seen from the device that makes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From host memory into the heap.
    In,
    /// From the heap to host memory.
    Out,
    /// From a peer's heap into the device's own.
    Peer,
}

/// Where something can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Point {
    /// The heap can not be taken from the system.
    Reserve,
    /// A copy is refused when it is put into its queue.
    CopyCall(Direction),
    /// A copy fails when it is its turn; nothing is copied.
    Copy(Direction),
    /// A kernel is refused when it is launched, and so is the task.
    Launch,
    /// A kernel fails when it is its turn; it is not run.
    Kernel,
}

/// How often a fault strikes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Times {
    /// The nth time only.
    Once,
    /// From the nth time on.
    Forever,
}

/// What a fault does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// What was tried fails, and the device goes on.
    Fails,
    /// The device is lost.
    Loses,
}

/// One fault. It strikes when its point is reached the nth time, counted from one, after it was given to the device.
///
/// ```
/// use superscalar::devices::sim::{Direction, Fault, Point, Spec};
/// let mut spec = Spec::new("unreliable");
/// spec.faults = [Fault::once(Point::Kernel, 3), Fault::forever(Point::Copy(Direction::Out), 10).losing()].into();
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fault {
    /// What fails.
    pub point: Point,
    /// The time that it fails at, from one; zero never comes.
    pub nth: u64,
    /// How often.
    pub times: Times,
    /// What comes of it.
    pub effect: Effect,
}

impl Fault {
    /// The nth time fails, and no other.
    #[must_use]
    pub fn once(point: Point, nth: u64) -> Self {
        Self { point, nth, times: Times::Once, effect: Effect::Fails }
    }

    /// Every time fails from the nth on.
    #[must_use]
    pub fn forever(point: Point, nth: u64) -> Self {
        Self { times: Times::Forever, ..Self::once(point, nth) }
    }

    /// The same, but the device is lost by it.
    #[must_use]
    pub fn losing(self) -> Self {
        Self { effect: Effect::Loses, ..self }
    }
}

/// The faults of a device. Without any, nothing fails but what must.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Faults(pub Vec<Fault>);

impl<const N: usize> From<[Fault; N]> for Faults {
    fn from(faults: [Fault; N]) -> Self {
        Self(faults.into())
    }
}

/// Faults, and how often the point of each was reached.
pub(super) struct Injector(Mutex<Vec<(Fault, u64)>>);

impl Injector {
    pub(super) fn new(faults: &Faults) -> Self {
        Self(Mutex::new(faults.0.iter().map(|&fault| (fault, 0)).collect()))
    }

    pub(super) fn add(&self, fault: Fault) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push((fault, 0));
    }

    /// Takes note that the point was reached; says what happens there, the worst if there is more than one fault.
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
