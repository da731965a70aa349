//! [`Signal`]: how the issuer waits.
//!
//! CUDA can notify a thread of an event in two ways: by a host function behind the work, which delays the stream,
//! or by blocking on one event, from which the thread cannot be woken otherwise. OpenCL calls back late: on an H200
//! 0.3 ms after the end, and up to 20 ms later, where polling takes 0.04 ms. Therefore the issuer polls. The
//! interval is an eighth of the time that it has waited, so it is late by an eighth at most and polls a few dozen
//! times for a task of any length. It never polls within [`POLL_INTERVAL_MIN`] of the last poll, nor within
//! [`POLL_PAUSE_AFTER_TASK`] of another thread's insertion, because a query of the driver blocks other threads that
//! insert work. In between it spins at first, for [`SPIN`], and notices a raise immediately; later it naps. Its
//! naps are [exact](nap_exactly) and last at most [`NAP_MAX`], so it uses a few per cent of a core while the device
//! computes.
//!
//! With empty queues it waits to be woken. It spins for [`SPIN_IDLE`], because the next task of a chain across devices
//! arrives within that time, and waking a sleeping thread takes longer than the task on the other device. Then it
//! sleeps.
//!
//! To wake the issuer, a thread raises the signal; this also counts before the wait. Other threads may insert copies
//! and tasks while the issuer sleeps without polling; they nudge it. A wake-up would be lost if the issuer checked for
//! one, and went to sleep after the raise or nudge. Therefore the issuer sets a flag that it is about to sleep before
//! its last check, and a thread that raises or nudges reads the flag afterwards. If it is set, the thread takes the
//! lock, which the issuer holds from its last check until it sleeps.

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

/// How long the issuer spins before it naps.
const SPIN: Duration = Duration::from_micros(30);
/// How long the issuer does not poll after another thread has inserted a task. In a chain across devices, that thread
/// comes back with the next task, and each query would delay both threads by microseconds. Copies from or to the host
/// cancel this, as somebody on the host waits for their ends.
const POLL_PAUSE_AFTER_TASK: Duration = Duration::from_micros(40);
/// About the time of one poll.
const POLL_INTERVAL_MIN: Duration = Duration::from_micros(2);
/// As long as a worker of the runtime searches for tasks before it sleeps. It is longer than two hops between sleeping
/// issuers, so that the issuers of a chain stay awake after the first hops.
const SPIN_IDLE: Duration = Duration::from_micros(100);
const NAP_MIN: Duration = Duration::from_micros(10);
const NAP_MAX: Duration = Duration::from_micros(250);

/// Makes this thread's sleeps end at most one microsecond late. By default the system ends them up to 50 µs late, to
/// wake several threads at once; that is longer than a small kernel. If the system refuses, the default stays.
pub(crate) fn nap_exactly() {
    thread_local!(static IS_EXACT: Cell<bool> = const { Cell::new(false) });
    if !IS_EXACT.replace(true) {
        let _ = set_current_timer_slack(NonZeroU64::new(1000));
    }
}

/// Lets the issuer wait for a raise, including an earlier one, or for work that has ended.
#[derive(Debug, Default)]
pub(crate) struct Signal {
    /// Held by the issuer from its last check until it sleeps.
    sleep_lock: Mutex<()>,
    wakeup: Condvar,
    /// Whether there is a raise that no wait has consumed.
    is_raised: AtomicBool,
    is_nudged: AtomicBool,
    /// Whether the issuer sleeps or naps. Whoever raises the signal must then wake it, which costs a system call.
    is_to_be_woken: AtomicBool,
    /// Whether the issuer sleeps without polling.
    is_asleep: AtomicBool,
    /// How many tasks, and copies from or to the host, were inserted so far.
    tasks: AtomicU32,
    host_copies: AtomicU32,
}

/// The kind of work that a thread has inserted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Inserted {
    Task,
    HostCopy,
    PeerCopy,
}

impl Signal {
    /// Ends the current wait, or the next one.
    pub(crate) fn raise(&self) {
        self.is_raised.store(true, Ordering::SeqCst);
        if self.is_to_be_woken.load(Ordering::SeqCst) {
            self.wake();
        }
    }

    /// Tells an issuer that sleeps without polling that work was inserted.
    #[inline]
    pub(crate) fn nudge(&self, what: Inserted) {
        match what {
            Inserted::Task => self.tasks.fetch_add(1, Ordering::Relaxed),
            Inserted::HostCopy => self.host_copies.fetch_add(1, Ordering::Relaxed),
            Inserted::PeerCopy => 0,
        };
        if self.is_asleep.load(Ordering::SeqCst) {
            self.is_nudged.store(true, Ordering::SeqCst);
            self.wake();
        }
    }

    /// Wakes the issuer. Taking the lock ensures that it either sleeps or has yet to make its last check.
    fn wake(&self) {
        drop(self.lock());
        self.wakeup.notify_all();
    }

    /// Returns when there is an unconsumed raise, when `is_due` returns true because work has ended (or there is a
    /// raise), or after `at_most`. `is_busy` returns whether the queues contain work.
    pub(crate) fn wait(&self, at_most: Duration, is_due: impl Fn() -> bool, is_busy: impl Fn() -> bool) {
        let begin = Instant::now();
        // The caller has just polled.
        let (mut slept, mut poll_at, mut insertions) = (Duration::ZERO, POLL_INTERVAL_MIN, self.insertions());
        loop {
            if self.take_raise() {
                return;
            }
            let (is_busy_now, elapsed) = (is_busy(), begin.elapsed());
            let waited = elapsed.saturating_sub(slept);
            let insertions_now = self.insertions();
            if insertions.1 != insertions_now.1 {
                poll_at = poll_at.min(elapsed + POLL_INTERVAL_MIN);
            } else if insertions.0 != insertions_now.0 {
                poll_at = poll_at.max(elapsed + POLL_PAUSE_AFTER_TASK);
            }
            insertions = insertions_now;
            if is_busy_now && elapsed >= poll_at {
                if is_due() {
                    self.take_raise();
                    return;
                }
                poll_at = elapsed + (waited / 8).clamp(POLL_INTERVAL_MIN, NAP_MAX);
            }
            let Some(left) = at_most.checked_sub(elapsed).filter(|left| !left.is_zero()) else { return };
            if waited < if is_busy_now { SPIN } else { SPIN_IDLE } {
                hint::spin_loop();
            } else if !is_busy_now {
                self.sleep(left, &is_busy);
                // Work that was inserted during the sleep has only just started.
                slept = begin.elapsed();
            } else {
                self.nap((waited / 8).clamp(NAP_MIN, NAP_MAX).min(left));
                poll_at = Duration::ZERO;
            }
        }
    }

    fn insertions(&self) -> (u32, u32) {
        (self.tasks.load(Ordering::Relaxed), self.host_copies.load(Ordering::Relaxed))
    }

    /// Returns whether there is an unconsumed raise. It takes no lock, because the spin calls it often.
    #[inline]
    pub(crate) fn is_raised(&self) -> bool {
        self.is_raised.load(Ordering::SeqCst)
    }

    fn take_raise(&self) -> bool {
        self.is_raised() && self.is_raised.swap(false, Ordering::SeqCst)
    }

    /// Sleeps until the signal is raised, or for `at_most`.
    fn nap(&self, at_most: Duration) {
        nap_exactly();
        self.sleep_unless(at_most, || self.is_raised());
    }

    fn sleep_unless(&self, at_most: Duration, is_woken: impl Fn() -> bool) {
        let sleep_lock = self.lock();
        self.is_to_be_woken.store(true, Ordering::SeqCst);
        let woken = self.wakeup.wait_timeout_while(sleep_lock, at_most, |()| !is_woken());
        drop(woken.unwrap_or_else(PoisonError::into_inner));
        self.is_to_be_woken.store(false, Ordering::SeqCst);
    }

    /// Sleeps until the signal is raised or nudged, or for `at_most`. Returns immediately if the queues contain work.
    fn sleep(&self, at_most: Duration, is_busy: impl Fn() -> bool) {
        self.is_nudged.store(false, Ordering::SeqCst);
        self.is_asleep.store(true, Ordering::SeqCst);
        if !is_busy() {
            self.sleep_unless(at_most, || self.is_raised() || self.is_nudged.load(Ordering::SeqCst));
        }
        self.is_asleep.store(false, Ordering::SeqCst);
    }

    fn lock(&self) -> MutexGuard<'_, ()> {
        self.sleep_lock.lock().unwrap_or_else(PoisonError::into_inner)
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
    fn earlier_raise_ends_one_wait() {
        let signal = Signal::default();
        signal.raise();
        assert!(timed(|| signal.wait(LONG, || false, || false)) < LONG / 2, "slept although it was raised");
        let short = Duration::from_millis(20);
        assert!(timed(|| signal.wait(short, || false, || false)) >= short, "woke of itself");
    }

    #[test]
    fn raise_wakes_sleeping_and_polling_issuer() {
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
    fn work_inserted_during_sleep_ends_wait() {
        let (signal, in_queues) = (Signal::default(), AtomicUsize::new(0));
        let looks = AtomicUsize::new(0);
        thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(Duration::from_millis(20));
                in_queues.store(1, Ordering::SeqCst);
                signal.nudge(Inserted::Task);
            });
            let is_due = || looks.fetch_add(1, Ordering::Relaxed) > 100;
            let is_busy = || in_queues.load(Ordering::SeqCst) > 0;
            assert!(timed(|| signal.wait(LONG, is_due, is_busy)) < LONG / 2);
        });
        assert!(looks.load(Ordering::Relaxed) > 100);
    }

    #[test]
    fn long_wait_polls_rarely() {
        let (signal, looks) = (Signal::default(), AtomicUsize::new(0));
        let look = || {
            looks.fetch_add(1, Ordering::Relaxed);
            false
        };
        signal.wait(Duration::from_millis(100), look, || true);
        assert!(looks.load(Ordering::Relaxed) < 600, "looked {looks:?} times");
    }

    #[test]
    fn naps_are_exact() {
        let signal = Signal::default();
        if set_current_timer_slack(NonZeroU64::new(50_000)).is_err() {
            eprintln!("SKIPPED: the system does not let threads sleep exactly");
            return;
        }
        for _ in 0..100 {
            assert!(timed(|| signal.nap(NAP_MIN)) >= NAP_MIN);
        }
        // How late the sleeps end is not tested: on a busy machine, that depends on other processes.
        assert_eq!(current_timer_slack(), Ok(1000));
    }
}
