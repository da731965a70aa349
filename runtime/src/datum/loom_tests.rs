//! Loom tests: every interleaving of tasks that commute on two data.

use super::Exclusion;
use loom::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
    thread,
};

struct Fixture {
    exclusions: [Exclusion; 2],
    /// Parked tasks that a release returned, and that may try again.
    ready: Mutex<Vec<u32>>,
    inside: [AtomicU32; 2],
    ran: AtomicU32,
}

impl Fixture {
    fn release(&self, at: usize) {
        if let Some(parked) = self.exclusions[at].release() {
            self.ready.lock().unwrap().push(parked);
        }
    }

    /// Runs a task that takes both exclusions, in its own order, or parks it.
    fn run(&self, task: u32) {
        let order = if task == 0 { [0, 1] } else { [1, 0] };
        for (held, &at) in order.iter().enumerate() {
            if !self.exclusions[at].take_or_park(task) {
                order[..held].iter().for_each(|&at| self.release(at));
                return;
            }
        }
        for inside in &self.inside {
            assert_eq!(inside.fetch_add(1, Ordering::Relaxed), 0, "two inside at a time");
        }
        self.inside.iter().for_each(|inside| _ = inside.fetch_sub(1, Ordering::Relaxed));
        self.ran.fetch_add(1, Ordering::Relaxed);
        order.iter().for_each(|&at| self.release(at));
    }

    fn drain(&self) {
        while let Some(task) = { self.ready.lock().unwrap().pop() } {
            self.run(task);
        }
    }
}

/// Two tasks take the same two exclusions in opposite order: both run, one at a time, and neither stays parked.
///
/// Catches: releasing without returning a parked task; keeping the first exclusion while parked at the second.
#[test]
fn loom_tasks_with_two_exclusions_all_run() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(|| {
        let fixture = Arc::new(Fixture {
            exclusions: Default::default(),
            ready: Mutex::new(Vec::new()),
            inside: [AtomicU32::new(0), AtomicU32::new(0)],
            ran: AtomicU32::new(0),
        });
        let other = thread::spawn({
            let fixture = fixture.clone();
            move || {
                fixture.run(0);
                fixture.drain();
            }
        });
        fixture.run(1);
        fixture.drain();
        other.join().unwrap();
        // The last release may have returned a task.
        fixture.drain();
        assert_eq!(fixture.ran.load(Ordering::Relaxed), 2);
    });
}
