//! The predecessors that one insertion has found, each once.
//!
//! A task may meet the same predecessor in many of its data. It is added to the predecessor's successors once, so that
//! their number is bounded by that of the tasks in flight, and releasing them takes a step for each task.
//!
//! The tasks that one access meets differ from each other (`hazard.rs`), so a task is compared only with what earlier
//! accesses have found. Few are compared one by one, many are looked up in a set.

use super::TaskRef;
use smallvec::SmallVec;
use std::{
    collections::HashSet,
    hash::{BuildHasherDefault, Hasher},
};

/// Up to this many are compared one by one.
const FEW: usize = 16;

type Set = HashSet<TaskRef, BuildHasherDefault<Mix>>;

/// See the module's head.
#[derive(Default)]
pub(crate) struct Predecessors {
    all: SmallVec<[TaskRef; FEW]>,
    /// How many of them earlier accesses have found.
    earlier: usize,
    /// These, if they are many.
    set: Option<Box<Set>>,
}

impl Predecessors {
    /// A further access begins.
    #[inline]
    pub(crate) fn begin_access(&mut self) {
        let known = std::mem::replace(&mut self.earlier, self.all.len());
        if self.earlier > FEW {
            self.add_to_set(known);
        }
    }

    #[cold]
    fn add_to_set(&mut self, known: usize) {
        let from = if self.set.is_none() { 0 } else { known };
        self.set.get_or_insert_default().extend(&self.all[from..]);
    }

    /// Whether an earlier access has found the task.
    #[inline]
    pub(crate) fn has(&self, task: TaskRef) -> bool {
        match &self.set {
            None => self.all[..self.earlier].contains(&task),
            Some(set) => set.contains(&task),
        }
    }

    /// Adds a task that no access has found before.
    #[inline]
    pub(crate) fn push(&mut self, task: TaskRef) {
        self.all.push(task);
    }

    /// All of them.
    pub(crate) fn all(&self) -> &[TaskRef] {
        &self.all
    }
}

/// Mixes the one word of a [`TaskRef`]: its slot, in the low bits, tells most of them apart.
#[derive(Default)]
struct Mix(u64);

impl Hasher for Mix {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(u64::from(byte)));
    }

    fn write_u64(&mut self, word: u64) {
        // 2⁶⁴ over the golden ratio: the high bits, which the set looks at, too, depend on all.
        let mixed = (self.0 ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 = mixed ^ mixed >> 32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_task_is_found_once_among_few_and_many() {
        let mut found = Predecessors::default();
        // Access i meets the tasks i to i + 9: all but one are known from the access before.
        for access in 0..100_u32 {
            found.begin_access();
            for slot in access..access + 10 {
                let task = TaskRef::new(1, slot);
                assert_eq!(found.has(task), access > 0 && slot < access + 9, "access {access}, slot {slot}");
                if !found.has(task) {
                    found.push(task);
                }
            }
        }
        assert_eq!(found.all(), (0..109).map(|slot| TaskRef::new(1, slot)).collect::<Vec<_>>());
    }
}
