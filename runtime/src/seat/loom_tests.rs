//! Loom tests: every interleaving, up to a bound on preemptions, of falling asleep and being woken. A lost wake-up is a
//! deadlock, which loom reports. Each test lists the faults that it was seen to catch.

use super::{Parker, Sleep};
use loom::{
    sync::{
        Arc, Condvar, Mutex,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    thread,
};

fn bounded(preemptions: usize, test: impl Fn() + Sync + Send + 'static) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(preemptions);
    model.check(test);
}

/// Catches: a `wake` that does not take the lock.
#[test]
fn loom_parked_thread_is_woken() {
    bounded(3, || {
        let (parker, flag) = (Arc::new(Parker::new()), Arc::new(AtomicU32::new(0)));
        let wakers: Vec<_> = (0..2)
            .map(|_| {
                let (parker, flag) = (parker.clone(), flag.clone());
                thread::spawn(move || {
                    flag.fetch_add(1, Ordering::Relaxed);
                    parker.wake();
                })
            })
            .collect();
        // Two wake-ups at the same time count as one.
        while flag.load(Ordering::Relaxed) < 2 {
            parker.park();
        }
        wakers.into_iter().for_each(|waker| waker.join().unwrap());
    });
}

/// The parked thread sees the effects that precede the wake-up. Catches: `Relaxed` in `park` or in `wake`.
#[test]
fn loom_wake_publishes_earlier_writes() {
    loom::model(|| {
        let (parker, word) = (Arc::new(Parker::new()), Arc::new(AtomicU32::new(0)));
        let waker = thread::spawn({
            let (parker, word) = (parker.clone(), word.clone());
            move || {
                word.store(1, Ordering::Relaxed);
                parker.wake();
            }
        });
        parker.park();
        assert_eq!(word.load(Ordering::Relaxed), 1);
        waker.join().unwrap();
    });
}

/// A policy's ready tasks, as an atomic count, so that only the fences of the protocol order it.
struct Queue(AtomicU32);

impl Queue {
    fn push(&self) {
        self.0.fetch_add(1, Ordering::Release);
    }

    fn take(&self) -> bool {
        let mut count = self.0.load(Ordering::Acquire);
        while count > 0 {
            match self.0.compare_exchange(count, count - 1, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return true,
                Err(now) => count = now,
            }
        }
        false
    }
}

/// Follows `Shared::search`, with one poll.
fn search(sleep: &Sleep, queue: &Queue, place: u32) {
    sleep.start_search();
    loop {
        let found = queue.take();
        sleep.end_search(found);
        if found {
            return;
        }
        sleep.announce(place);
        if queue.take() {
            sleep.withdraw(place, true);
            return;
        }
        if !sleep.sleep(place) {
            sleep.start_search();
        }
    }
}

/// Catches: a missing fence in `notify` or in `announce`.
#[test]
fn loom_worker_does_not_miss_a_task() {
    loom::model(|| {
        let (sleep, queue) = (Arc::new(Sleep::new(1, 1)), Arc::new(Queue(AtomicU32::new(0))));
        let worker = thread::spawn({
            let (sleep, queue) = (sleep.clone(), queue.clone());
            move || search(&sleep, &queue, 0)
        });
        queue.push();
        sleep.notify();
        worker.join().unwrap();
    });
}

/// Each of two tasks runs until the other has begun, so both workers must wake up.
///
/// Catches: a search or a withdrawal that ends with a task and wakes no worker; a withdrawal that does not pass a
/// wake-up on.
#[test]
fn loom_two_tasks_wake_two_workers() {
    wake_two_workers(2);
}

/// The same where pushes wake workers until two search.
#[test]
fn loom_two_tasks_wake_two_workers_at_once() {
    wake_two_workers(8);
}

fn wake_two_workers(workers: u32) {
    bounded(3, move || {
        let (sleep, queue) = (Arc::new(Sleep::new(2, workers)), Arc::new(Queue(AtomicU32::new(0))));
        let begun = Arc::new((Mutex::new(0), Condvar::new()));
        let worker = |place: u32| {
            let (sleep, queue, begun) = (sleep.clone(), queue.clone(), begun.clone());
            move || {
                search(&sleep, &queue, place);
                let mut count = begun.0.lock().unwrap();
                *count += 1;
                begun.1.notify_one();
                while *count < 2 {
                    count = begun.1.wait(count).unwrap();
                }
            }
        };
        let workers = [thread::spawn(worker(0)), thread::spawn(worker(1))];
        for _ in 0..2 {
            queue.push();
            sleep.notify();
        }
        workers.into_iter().for_each(|worker| worker.join().unwrap());
    });
}

/// A thread from outside takes the understudy's seat for a moment, and a task is pushed meanwhile. The understudy, the
/// only worker, runs it.
///
/// Catches: leaving the seat without admitting the understudy, or without notifying; a last look that counts as a
/// search.
#[test]
fn loom_understudy_returns_to_its_seat() {
    bounded(3, || {
        let sleep = Arc::new(Sleep::new(1, 1));
        let (queue, taken) = (Arc::new(Queue(AtomicU32::new(0))), Arc::new(AtomicBool::new(false)));
        // A compare-exchange instead of the swap in `Seat`: loom 0.7 does not order a store between two swaps
        // correctly.
        let try_take =
            |taken: &AtomicBool| taken.compare_exchange(false, true, Ordering::AcqRel, Ordering::Relaxed).is_ok();
        let leave = |taken: &AtomicBool| taken.store(false, Ordering::Release);
        let understudy = thread::spawn({
            let (sleep, queue, taken) = (sleep.clone(), queue.clone(), taken.clone());
            // Follows `Shared::work_as_understudy`, with one poll.
            move || {
                let place = sleep.understudy();
                loop {
                    if try_take(&taken) {
                        sleep.start_search();
                        let found = queue.take();
                        sleep.end_search(found);
                        leave(&taken);
                        if found {
                            return;
                        }
                    }
                    sleep.announce(place);
                    if try_take(&taken) {
                        let found = queue.take();
                        leave(&taken);
                        if found {
                            return sleep.withdraw(place, true);
                        }
                    }
                    if sleep.sleep(place) {
                        sleep.end_search(taken.load(Ordering::Relaxed));
                    }
                }
            }
        });
        let is_inside = try_take(&taken);
        if is_inside {
            sleep.bar_understudy();
        }
        queue.push();
        sleep.notify();
        if is_inside {
            leave(&taken);
            sleep.admit_understudy();
            sleep.notify();
        }
        understudy.join().unwrap();
    });
}
