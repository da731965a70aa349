//! The predecessors that one insertion has found, each once.
//!
//! A task may meet the same predecessor in many of its data. It is added to the predecessor's successors once, so that
//! their number is bounded by that of the tasks in flight, and releasing them takes a step for each task.
//!
//! The tasks that one access meets differ from each other (`hazard.rs`), so a task is compared only with what earlier
//! accesses have found. Most were never met: a word with a bit for each sixty-fourth slot says so. Of the others few are compared
//! one by one, many are looked up in a set.

use crate::hazard::TaskRef;
use std::{
    collections::HashSet,
    hash::{BuildHasherDefault, Hasher},
    mem::MaybeUninit,
    slice,
};

/// Up to this many are compared one by one.
const FEW: usize = 16;

type Set = HashSet<TaskRef, BuildHasherDefault<Mix>>;

/// See the module's head.
pub(crate) struct Predecessors<'a> {
    /// A bit for each of them, by its slot. Tasks may share a bit.
    bits: u64,
    /// How many of them are in `few`, and how many of these earlier accesses have found.
    len: usize,
    earlier: usize,
    few: &'a mut Few,
    many: Option<Box<Many>>,
}

/// Room for a few. Apart from the rest, which would be cleared together with it.
pub(crate) type Few = MaybeUninit<[TaskRef; FEW]>;

/// All of them, where they are more than a few.
#[derive(Default)]
struct Many {
    all: Vec<TaskRef>,
    /// Those that earlier accesses have found.
    earlier: Set,
    /// How many these are.
    known: usize,
}

impl<'a> Predecessors<'a> {
    #[inline]
    pub(crate) fn new(few: &'a mut Few) -> Self {
        Self { bits: 0, len: 0, earlier: 0, few, many: None }
    }

    /// A further access begins.
    #[inline]
    pub(crate) fn begin_access(&mut self) {
        match &mut self.many {
            None => self.earlier = self.len,
            Some(many) => many.begin_access(),
        }
    }

    /// Whether an earlier access has found the task.
    #[inline]
    pub(crate) fn has(&self, task: TaskRef) -> bool {
        self.bits & bit(task) != 0 && self.has_exactly(task)
    }

    #[cold]
    fn has_exactly(&self, task: TaskRef) -> bool {
        match &self.many {
            None => self.few()[..self.earlier].contains(&task),
            Some(many) => many.earlier.contains(&task),
        }
    }

    /// Adds a task that no access has found before.
    #[inline]
    pub(crate) fn push(&mut self, task: TaskRef) {
        self.bits |= bit(task);
        if self.len < FEW {
            // SAFETY: a place of the array.
            unsafe { self.few.as_mut_ptr().cast::<TaskRef>().add(self.len).write(task) };
            self.len += 1;
        } else {
            self.push_to_many(task);
        }
    }

    #[cold]
    fn push_to_many(&mut self, task: TaskRef) {
        if self.many.is_none() {
            let (all, known) = (self.few().to_vec(), self.earlier);
            self.many = Some(Box::new(Many { earlier: all[..known].iter().copied().collect(), known, all }));
        }
        let Some(many) = &mut self.many else { unreachable!("just made") };
        many.all.push(task);
    }

    /// All of them.
    #[inline]
    pub(crate) fn all(&self) -> &[TaskRef] {
        self.many.as_ref().map_or(self.few(), |many| &many.all)
    }

    fn few(&self) -> &[TaskRef] {
        // SAFETY: `push` has written so many, in the array.
        unsafe { slice::from_raw_parts(self.few.as_ptr().cast(), self.len) }
    }
}

impl Many {
    #[cold]
    fn begin_access(&mut self) {
        let known = std::mem::replace(&mut self.known, self.all.len());
        self.earlier.extend(&self.all[known..]);
    }
}

#[inline]
fn bit(task: TaskRef) -> u64 {
    1 << (task.slot() % u64::BITS)
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
        let mut few = Few::uninit();
        let mut found = Predecessors::new(&mut few);
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
