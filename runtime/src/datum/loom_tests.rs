//! Every interleaving of tasks that commute on two data.

use super::Exclusion;
use loom::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
    thread,
};

struct World {
    exclusions: [Exclusion; 2],
    /// Tasks that were let go of, and may try again.
    ready: Mutex<Vec<u32>>,
    inside: [AtomicU32; 2],
    ran: AtomicU32,
}

impl World {
    fn let_go(&self, at: usize) {
        if let Some(parked) = self.exclusions[at].let_go() {
            self.ready.lock().unwrap().push(parked);
        }
    }

    /// Runs a task that wants both, in an order of its own, or parks it.
    fn run(&self, task: u32) {
        let order = if task == 0 { [0, 1] } else { [1, 0] };
        for (held, &at) in order.iter().enumerate() {
            if !self.exclusions[at].take_or_park(task) {
                order[..held].iter().for_each(|&at| self.let_go(at));
                return;
            }
        }
        for inside in &self.inside {
            assert_eq!(inside.fetch_add(1, Ordering::Relaxed), 0, "two inside at a time");
        }
        self.inside.iter().for_each(|inside| _ = inside.fetch_sub(1, Ordering::Relaxed));
        self.ran.fetch_add(1, Ordering::Relaxed);
        order.iter().for_each(|&at| self.let_go(at));
    }

    fn drain(&self) {
        while let Some(task) = { self.ready.lock().unwrap().pop() } {
            self.run(task);
        }
    }
}

/// Two tasks want the same two exclusions in opposite order: both run, one at a time, and none stays parked.
///
/// Catches: letting go without returning a parked task; keeping the first exclusion while parked for the second.
#[test]
fn loom_tasks_with_two_exclusions_all_run() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(|| {
        let world = Arc::new(World {
            exclusions: Default::default(),
            ready: Mutex::new(Vec::new()),
            inside: [AtomicU32::new(0), AtomicU32::new(0)],
            ran: AtomicU32::new(0),
        });
        let other = thread::spawn({
            let world = world.clone();
            move || {
                world.run(0);
                world.drain();
            }
        });
        world.run(1);
        world.drain();
        other.join().unwrap();
        // A task that was let go of by the one who left last.
        world.drain();
        assert_eq!(world.ran.load(Ordering::Relaxed), 2);
    });
}
