//! The set of predecessors found during one insertion.
//!
//! A task may meet the same predecessor through many of its data, but it is added to the predecessor's successors only
//! once. So their number is bounded by the number of tasks in flight, and releasing them takes one step per task.
//!
//! One access never meets the same task twice (`hazard.rs`), so a task is compared only with those found by earlier
//! accesses. A word with one bit for each slot modulo 64 rules out most comparisons. The remaining ones use a linear
//! search in a short list or a lookup in a set.

use crate::hazard::TaskRef;
use std::{
    collections::HashSet,
    hash::{BuildHasherDefault, Hasher},
    mem::MaybeUninit,
    slice,
};

/// Up to this many are kept in an array and searched linearly.
const ARRAY_LEN: usize = 16;

type TaskSet = HashSet<TaskRef, BuildHasherDefault<TaskRefHasher>>;

/// The predecessors found so far; see the [module](self) documentation.
pub(crate) struct Predecessors<'a> {
    /// A filter with one bit for each slot modulo 64.
    bits: u64,
    /// The number of tasks in `array`, and how many of them earlier accesses have found.
    len: usize,
    earlier: usize,
    array: &'a mut PredecessorArray,
    set: Option<Box<PredecessorSet>>,
}

/// An array for the first predecessors. It is a separate value, so that it need not be initialized with the rest.
pub(crate) type PredecessorArray = MaybeUninit<[TaskRef; ARRAY_LEN]>;

/// All predecessors, once there are more than fit in the array.
#[derive(Default)]
struct PredecessorSet {
    all: Vec<TaskRef>,
    /// The tasks found by earlier accesses.
    earlier: TaskSet,
    /// The number of tasks found by earlier accesses.
    known: usize,
}

impl<'a> Predecessors<'a> {
    #[inline]
    pub(crate) fn new(array: &'a mut PredecessorArray) -> Self {
        Self { bits: 0, len: 0, earlier: 0, array, set: None }
    }

    /// Begins the next access.
    #[inline]
    pub(crate) fn begin_access(&mut self) {
        match &mut self.set {
            None => self.earlier = self.len,
            Some(set) => set.begin_access(),
        }
    }

    /// Returns whether an earlier access has found the task.
    #[inline]
    pub(crate) fn has(&self, task: TaskRef) -> bool {
        self.bits & bit(task) != 0 && self.has_exactly(task)
    }

    #[cold]
    fn has_exactly(&self, task: TaskRef) -> bool {
        match &self.set {
            None => self.array()[..self.earlier].contains(&task),
            Some(set) => set.earlier.contains(&task),
        }
    }

    /// Adds a task that no access has found before.
    #[inline]
    pub(crate) fn push(&mut self, task: TaskRef) {
        self.bits |= bit(task);
        if self.len < ARRAY_LEN {
            // SAFETY: `len` is less than the length of the array.
            unsafe { self.array.as_mut_ptr().cast::<TaskRef>().add(self.len).write(task) };
            self.len += 1;
        } else {
            self.push_to_set(task);
        }
    }

    #[cold]
    fn push_to_set(&mut self, task: TaskRef) {
        if self.set.is_none() {
            let (all, known) = (self.array().to_vec(), self.earlier);
            self.set = Some(Box::new(PredecessorSet { earlier: all[..known].iter().copied().collect(), known, all }));
        }
        let Some(set) = &mut self.set else { unreachable!("set above") };
        set.all.push(task);
    }

    /// Returns all predecessors found so far.
    #[inline]
    pub(crate) fn all(&self) -> &[TaskRef] {
        self.set.as_ref().map_or(self.array(), |set| &set.all)
    }

    fn array(&self) -> &[TaskRef] {
        // SAFETY: `push` has initialized the first `len` elements of the array.
        unsafe { slice::from_raw_parts(self.array.as_ptr().cast(), self.len) }
    }
}

impl PredecessorSet {
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

/// A hasher for the single word of a [`TaskRef`], whose low bits (the slot) differ most.
#[derive(Default)]
struct TaskRefHasher(u64);

impl Hasher for TaskRefHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(u64::from(byte)));
    }

    fn write_u64(&mut self, word: u64) {
        // The multiplier is 2⁶⁴ over the golden ratio. It makes the high bits, which the set also uses, depend on all
        // bits.
        let mixed = (self.0 ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 = mixed ^ mixed >> 32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn predecessors_are_distinct() {
        let mut array = PredecessorArray::uninit();
        let mut found = Predecessors::new(&mut array);
        // Access i meets the tasks i to i + 9: all but the last were found by the previous access.
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
