//! The hazards of one version of a datum: what a new access must wait for.
//!
//! Accesses in program order fall into **groups**: a run of reads, a run of commuting accesses, a run of reductions, or one
//! write alone. The members of a group do not wait for each other; each waits for all members of the group **before** it.
//! Two groups are all that a new access can meet, since whatever came earlier is waited for by these in turn. So the state is
//! two short lists, and an access costs a step per predecessor, whatever the number of tasks.
//!
//! | later access | after reads | after a write, commuting accesses or reductions |
//! |---|---|---|
//! | read | same group | RaW |
//! | write | WaR | WaW |
//! | read_write, commute, reduce | WaR | RaW (commute and reduce join a group of their own kind) |
//!
//! The lists hold whatever names a task: [`TaskRef`](crate::hazard::TaskRef) on the hot path, where finished tasks are weeded
//! out, and serial numbers while a run is recorded, where a finished predecessor is a hazard to be shown like any other.

#![forbid(unsafe_code)]

use crate::recording::Hazard;
use smallvec::SmallVec;

/// What a task does with a datum that it names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Uses the value; any number of readers at a time.
    Read,
    /// Makes a new value; the old one is not wanted.
    Write,
    /// Changes the value.
    ReadWrite,
    /// Changes the value, one task at a time, in any order among its neighbours that commute.
    Commute,
    /// Contributes to a value that is combined from private parts.
    Reduce,
}

impl Mode {
    /// Whether the task depends on the value that it finds.
    #[must_use]
    pub fn reads(self) -> bool {
        self != Mode::Write
    }

    /// Whether the task leaves a new value.
    #[must_use]
    pub fn writes(self) -> bool {
        self != Mode::Read
    }
}

/// The groups of a version; see the module's head.
#[derive(Debug)]
pub(crate) struct Hazards<R> {
    before: Group<R>,
    group: Group<R>,
}

#[derive(Debug)]
struct Group<R> {
    mode: Mode,
    /// Finished members are weeded out when there are so many.
    weeded_at: u32,
    members: SmallVec<[R; 2]>,
}

impl<R> Default for Group<R> {
    fn default() -> Self {
        Self { mode: Mode::Write, weeded_at: WEEDED_FROM, members: SmallVec::new() }
    }
}

impl<R> Default for Hazards<R> {
    fn default() -> Self {
        Self { before: Group::default(), group: Group::default() }
    }
}

/// A group with so many members is weeded of the finished ones, and then whenever it has twice as many as were left.
const WEEDED_FROM: u32 = 16;

impl<R: Copy + PartialEq> Hazards<R> {
    /// Enters the access of `task` and calls `wait_for` with each predecessor. `is_done` says which tasks need not be kept.
    #[inline]
    pub(crate) fn access(
        &mut self,
        mode: Mode,
        task: R,
        is_done: impl Fn(R) -> bool,
        mut wait_for: impl FnMut(R, Hazard),
    ) {
        let joins = self.group.mode == mode && matches!(mode, Mode::Read | Mode::Commute | Mode::Reduce);
        if !joins {
            std::mem::swap(&mut self.before, &mut self.group);
            self.group.members.clear();
            (self.group.mode, self.group.weeded_at) = (mode, WEEDED_FROM);
        } else if self.group.members.len() >= self.group.weeded_at as usize {
            self.group.members.retain(|member| !is_done(*member));
            self.group.weeded_at = WEEDED_FROM.max(2 * self.group.members.len() as u32);
        }
        let hazard = match (self.before.mode, mode) {
            (Mode::Read, _) => Hazard::WaR,
            (_, Mode::Write) => Hazard::WaW,
            _ => Hazard::RaW,
        };
        for &member in &self.before.members {
            wait_for(member, hazard);
        }
        // A task that reads the datum twice is one member.
        if !joins || self.group.members.last() != Some(&task) {
            self.group.members.push(task);
        }
    }

    /// Whether the last accesses read what others before them have written.
    pub(crate) fn ends_in_reads(&self) -> bool {
        self.group.mode == Mode::Read && !self.before.members.is_empty()
    }

    /// Whether no access of this version is under way.
    pub(crate) fn is_idle(&self, is_done: impl Fn(R) -> bool) -> bool {
        // The group before is done when any of the group is; when the group is empty nothing was accessed at all.
        self.group.members.iter().all(|member| is_done(*member))
    }
}

/// A task that was inserted at some time: the slot it was given, and the slot's generation then.
///
/// It may be kept for ever. Once the task is done, every use of the reference finds that out, even if the slot has been
/// given to other tasks since.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct TaskRef(u64);

impl TaskRef {
    /// Slot indices have 24 bits: at most 16 million tasks in flight.
    pub(crate) const SLOT_BITS: u32 = 24;
    /// The last generation of a slot. Less than there is room for here: the word that holds a slot's generation holds more than
    /// it (`successors.rs`).
    pub(crate) const GENERATION_MAX: u64 = (1 << 36) - 1;

    #[inline]
    pub(crate) fn new(generation: u64, slot: u32) -> Self {
        Self(generation << Self::SLOT_BITS | u64::from(slot))
    }

    #[inline]
    pub(crate) fn slot(self) -> u32 {
        (self.0 & ((1 << Self::SLOT_BITS) - 1)) as u32
    }

    #[inline]
    pub(crate) fn generation(self) -> u64 {
        self.0 >> Self::SLOT_BITS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits(hazards: &mut Hazards<u32>, mode: Mode, task: u32) -> Vec<(u32, Hazard)> {
        let mut found = vec![];
        hazards.access(mode, task, |_| false, |from, hazard| found.push((from, hazard)));
        found
    }

    #[test]
    fn the_table_of_the_module_head() {
        let mut h = Hazards::default();
        assert_eq!(waits(&mut h, Mode::Read, 1), []);
        assert_eq!(waits(&mut h, Mode::Write, 2), [(1, Hazard::WaR)]);
        assert_eq!(waits(&mut h, Mode::Write, 3), [(2, Hazard::WaW)]);
        assert_eq!(waits(&mut h, Mode::ReadWrite, 4), [(3, Hazard::RaW)]);
        assert_eq!(waits(&mut h, Mode::Read, 5), [(4, Hazard::RaW)]);
        assert_eq!(waits(&mut h, Mode::Read, 6), [(4, Hazard::RaW)]);
        assert_eq!(waits(&mut h, Mode::Commute, 7), [(5, Hazard::WaR), (6, Hazard::WaR)]);
        assert_eq!(waits(&mut h, Mode::Commute, 8), [(5, Hazard::WaR), (6, Hazard::WaR)]);
        assert_eq!(waits(&mut h, Mode::Reduce, 9), [(7, Hazard::RaW), (8, Hazard::RaW)]);
        assert_eq!(waits(&mut h, Mode::Reduce, 10), [(7, Hazard::RaW), (8, Hazard::RaW)]);
        assert_eq!(waits(&mut h, Mode::Read, 11), [(9, Hazard::RaW), (10, Hazard::RaW)]);
    }

    #[test]
    fn a_task_that_reads_twice_is_one_reader() {
        let mut h = Hazards::default();
        for task in [1, 1, 2, 2, 2] {
            waits(&mut h, Mode::Read, task);
        }
        assert_eq!(waits(&mut h, Mode::Write, 3), [(1, Hazard::WaR), (2, Hazard::WaR)]);
    }

    #[test]
    fn reads_at_the_end_are_known_if_there_is_something_to_read() {
        let mut h = Hazards::default();
        assert!(!h.ends_in_reads());
        for (mode, task, expected) in [(Mode::Read, 1, false), (Mode::ReadWrite, 2, false), (Mode::Read, 3, true)] {
            waits(&mut h, mode, task);
            assert_eq!(h.ends_in_reads(), expected, "{mode:?}");
        }
    }

    #[test]
    fn finished_readers_are_weeded_out() {
        let mut h = Hazards::default();
        for task in 0..10_000 {
            h.access(Mode::Read, task, |old| old + 3 < task, |_, _| {});
        }
        assert!(h.group.members.len() <= 2 * WEEDED_FROM as usize);
        assert!(h.is_idle(|_| true) && !h.is_idle(|task| task < 9_999));
    }
}
