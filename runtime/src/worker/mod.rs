//! The threads that run tasks: where they sit, how they sleep, what they do with a task.

mod finish;
mod known_lock;
mod locked;
#[cfg(all(loom, test))]
mod loom_tests;
mod one_way;
mod parker;
mod run;
mod seat;
mod sleep;
mod strays;

pub(crate) use finish::{Completed, Next};
pub(crate) use known_lock::{KnownGuard, KnownLock};
pub(crate) use locked::Locked;
pub(crate) use one_way::one_way;
pub(crate) use parker::Parker;
pub(crate) use run::{Waiting, current_task};
pub(crate) use seat::{Frame, Seat, SeatQueue, current_frame};
pub(crate) use sleep::Sleep;
pub(crate) use strays::Strays;
