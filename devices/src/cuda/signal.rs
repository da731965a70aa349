//! [`Signal`]: the issuer's sleep.
//!
//! CUDA can tell a thread that an event has ended in two ways: a host function behind the work, for which the stream waits (measured by others at ten
//! microseconds and more), or a thread that blocks on one event and can not be woken otherwise. Both cost more than they bring, as a device has work
//! for a while ahead. So the issuer looks by itself, each time after an eighth of the time that it has waited, so it is late by an eighth of that at
//! most and looks some dozen times for a task of any length; but not within [`LOOK_MIN`] of the last time, nor within [`LOOK_BEHIND_TASK`] of
//! somebody else's putting in a task, since whoever asks the driver keeps others from it who put work in. In between it spins at first, for [`SPIN`],
//! and sees at once when it is woken; then it naps. For that its naps are [exact](nap_exactly). A nap is [`NAP_MAX`] at most: a few per cent of a
//! core while the device computes.
//!
//! With nothing in its queues it waits to be woken: for [`SPIN_IDLE`] it spins, as the next task of a chain that goes from device to device
//! comes within that time, while a thread that sleeps takes longer to wake than the work on the other device takes. Then it sleeps.
//!
//! Who wakes it raises the signal, and that counts also before the wait. Copies, and tasks, may be put into queues by other threads, perhaps
//! while the issuer sleeps without looking; they nudge it. The race feared is that it sees nothing, and goes to sleep after the raise or the
//! nudge. So it says that it is about to sleep before it looks for the last time, and who raises or nudges looks at that afterwards; if it says so,
//! they take the lock, which it holds from that look until it sleeps.

use rustix::thread::set_current_timer_slack;
use std::{
    cell::Cell,
    hint,
    num::NonZeroU64,
    sync::{
        Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

const SPIN: Duration = Duration::from_micros(30);
/// Somebody else who puts in a task comes back with the next one, if it is a chain from device to device, and each question takes both of them
/// microseconds then. Unless there are copies from or to the host: for their ends somebody waits there.
const LOOK_BEHIND_TASK: Duration = Duration::from_micros(40);
/// About as long as one look takes.
const LOOK_MIN: Duration = Duration::from_micros(2);
/// As long as a worker of the runtime looks for tasks before it sleeps. Longer than two hops take that find both issuers asleep, so
/// that a chain of hops comes into step.
const SPIN_IDLE: Duration = Duration::from_micros(100);
const NAP_MIN: Duration = Duration::from_micros(10);
const NAP_MAX: Duration = Duration::from_micros(250);

/// The system ends a thread's sleep up to fifty microseconds late, so as to wake several at once: longer than a small kernel takes. Of the
/// thread that calls this, from now on one microsecond at most. A system that refuses leaves the sleeps longer.
pub(super) fn nap_exactly() {
    thread_local!(static IS_EXACT: Cell<bool> = const { Cell::new(false) });
    if !IS_EXACT.replace(true) {
        let _ = set_current_timer_slack(NonZeroU64::new(1000));
    }
}

/// Waits for a raise, also one that came before, or for work that has ended.
#[derive(Debug, Default)]
pub(super) struct Signal {
    /// Held by the issuer from its last look to its sleep.
    bed: Mutex<()>,
    called: Condvar,
    /// There is a raise that no wait has had.
    is_raised: AtomicBool,
    is_nudged: AtomicBool,
    /// The issuer sleeps, or naps: whoever raises must wake it, which costs a system call.
    is_to_be_woken: AtomicBool,
    /// It sleeps, without looking.
    is_asleep: AtomicBool,
    /// How many tasks, and copies from or to the host, were put into queues so far.
    tasks: AtomicU32,
    host_copies: AtomicU32,
}

/// What somebody has put into a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Put {
    Task,
    HostCopy,
    PeerCopy,
}

impl Signal {
    /// Ends a wait, this one or the next.
    pub(super) fn raise(&self) {
        self.is_raised.store(true, Ordering::SeqCst);
        if self.is_to_be_woken.load(Ordering::SeqCst) {
            self.call();
        }
    }

    /// Something was put into a queue: a sleeper that does not look must look.
    #[inline]
    pub(super) fn nudge(&self, what: Put) {
        match what {
            Put::Task => self.tasks.fetch_add(1, Ordering::Relaxed),
            Put::HostCopy => self.host_copies.fetch_add(1, Ordering::Relaxed),
            Put::PeerCopy => 0,
        };
        if self.is_asleep.load(Ordering::SeqCst) {
            self.is_nudged.store(true, Ordering::SeqCst);
            self.call();
        }
    }

    /// Wakes the issuer, now or when it has fallen asleep, which it does unless it sees before that it is called.
    fn call(&self) {
        drop(self.lock());
        self.called.notify_all();
    }

    /// Returns when there is a raise that no wait has had, when `is_due` says that something has ended (or that there is a raise), or after so long.
    /// `is_busy` says whether something is in a queue.
    pub(super) fn wait(&self, at_most: Duration, is_due: impl Fn() -> bool, is_busy: impl Fn() -> bool) {
        let begin = Instant::now();
        // Whoever comes here has just looked.
        let (mut slept, mut look_at, mut puts) = (Duration::ZERO, LOOK_MIN, self.puts());
        loop {
            if self.take_raise() {
                return;
            }
            let (is_busy_now, elapsed) = (is_busy(), begin.elapsed());
            let waited = elapsed.saturating_sub(slept);
            let puts_now = self.puts();
            if puts.1 != puts_now.1 {
                look_at = look_at.min(elapsed + LOOK_MIN);
            } else if puts.0 != puts_now.0 {
                look_at = look_at.max(elapsed + LOOK_BEHIND_TASK);
            }
            puts = puts_now;
            if is_busy_now && elapsed >= look_at {
                if is_due() {
                    self.take_raise();
                    return;
                }
                look_at = elapsed + (waited / 8).clamp(LOOK_MIN, NAP_MAX);
            }
            let Some(left) = at_most.checked_sub(elapsed).filter(|left| !left.is_zero()) else { return };
            if waited < if is_busy_now { SPIN } else { SPIN_IDLE } {
                hint::spin_loop();
            } else if !is_busy_now {
                self.sleep(left, &is_busy);
                // What was put in meanwhile has only begun.
                slept = begin.elapsed();
            } else {
                self.nap((waited / 8).clamp(NAP_MIN, NAP_MAX).min(left));
                look_at = Duration::ZERO;
            }
        }
    }

    fn puts(&self) -> (u32, u32) {
        (self.tasks.load(Ordering::Relaxed), self.host_copies.load(Ordering::Relaxed))
    }

    /// Whether there is a raise that no wait has had. A look without the lock, as a spin looks often.
    #[inline]
    pub(super) fn is_raised(&self) -> bool {
        self.is_raised.load(Ordering::SeqCst)
    }

    fn take_raise(&self) -> bool {
        self.is_raised() && self.is_raised.swap(false, Ordering::SeqCst)
    }

    /// Sleeps until it is raised, or for so long.
    fn nap(&self, at_most: Duration) {
        nap_exactly();
        self.sleep_unless(at_most, || self.is_raised());
    }

    fn sleep_unless(&self, at_most: Duration, is_called: impl Fn() -> bool) {
        let bed = self.lock();
        self.is_to_be_woken.store(true, Ordering::SeqCst);
        let woken = self.called.wait_timeout_while(bed, at_most, |()| !is_called());
        drop(woken.unwrap_or_else(PoisonError::into_inner));
        self.is_to_be_woken.store(false, Ordering::SeqCst);
    }

    /// Sleeps until it is raised or nudged, or for so long; not at all if there is something in a queue by now.
    fn sleep(&self, at_most: Duration, is_busy: impl Fn() -> bool) {
        self.is_nudged.store(false, Ordering::SeqCst);
        self.is_asleep.store(true, Ordering::SeqCst);
        if !is_busy() {
            self.sleep_unless(at_most, || self.is_raised() || self.is_nudged.load(Ordering::SeqCst));
        }
        self.is_asleep.store(false, Ordering::SeqCst);
    }

    fn lock(&self) -> MutexGuard<'_, ()> {
        self.bed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::thread::current_timer_slack;
    use std::{sync::atomic::AtomicUsize, thread};

    const LONG: Duration = Duration::from_secs(60);

    fn timed(wait: impl FnOnce()) -> Duration {
        let begin = Instant::now();
        wait();
        begin.elapsed()
    }

    #[test]
    fn a_raise_before_the_wait_counts_once() {
        let signal = Signal::default();
        signal.raise();
        assert!(timed(|| signal.wait(LONG, || false, || false)) < LONG / 2, "slept although it was raised");
        let short = Duration::from_millis(20);
        assert!(timed(|| signal.wait(short, || false, || false)) >= short, "woke of itself");
    }

    #[test]
    fn a_sleeper_is_woken_by_a_raise_whether_it_looks_or_not() {
        for is_busy in [false, true] {
            let signal = Signal::default();
            thread::scope(|scope| {
                scope.spawn(|| {
                    thread::sleep(Duration::from_millis(20));
                    signal.raise();
                });
                assert!(timed(|| signal.wait(LONG, || false, || is_busy)) < LONG / 2);
            });
        }
    }

    #[test]
    fn the_end_of_work_that_comes_while_it_sleeps_ends_the_wait() {
        let (signal, in_queues) = (Signal::default(), AtomicUsize::new(0));
        let looks = AtomicUsize::new(0);
        thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(Duration::from_millis(20));
                in_queues.store(1, Ordering::SeqCst);
                signal.nudge(Put::Task);
            });
            let is_due = || looks.fetch_add(1, Ordering::Relaxed) > 100;
            let is_busy = || in_queues.load(Ordering::SeqCst) > 0;
            assert!(timed(|| signal.wait(LONG, is_due, is_busy)) < LONG / 2);
        });
        assert!(looks.load(Ordering::Relaxed) > 100);
    }

    #[test]
    fn a_long_wait_looks_seldom() {
        let (signal, looks) = (Signal::default(), AtomicUsize::new(0));
        let look = || {
            looks.fetch_add(1, Ordering::Relaxed);
            false
        };
        signal.wait(Duration::from_millis(100), look, || true);
        assert!(looks.load(Ordering::Relaxed) < 600, "looked {looks:?} times");
    }

    #[test]
    fn naps_are_not_much_longer_than_they_should_be() {
        let signal = Signal::default();
        if set_current_timer_slack(NonZeroU64::new(50_000)).is_err() {
            eprintln!("SKIPPED: the system does not let threads sleep exactly");
            return;
        }
        for _ in 0..100 {
            assert!(timed(|| signal.nap(NAP_MIN)) >= NAP_MIN);
        }
        // How late the sleeps end is not measured: on a busy machine that depends on what others do.
        assert_eq!(current_timer_slack(), Ok(1000));
    }
}
