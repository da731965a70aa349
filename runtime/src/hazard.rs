//! The hazards of one version of a datum: the tasks that a new access must wait for.
//!
//! In program order, the accesses form **groups**: a run of reads, a run of commuting accesses, a run of reductions, or
//! a single write. The members of a group do not wait for each other. Each of them waits for all members of the group
//! **before** it. A new access needs only the last two groups, because the members of the last group already wait for
//! everything earlier. So the state is two short lists, and an access takes one step per predecessor, however many
//! tasks there are.
//!
//! | later access | after reads | after a write, commuting accesses or reductions |
//! |---|---|---|
//! | read | same group | RaW |
//! | write | WaR | WaW |
//! | read_write, commute, reduce | WaR | RaW (commute and reduce join a group of their own kind) |
//!
//! The lists are generic over the type that identifies a task. The hot path uses [`TaskRef`](crate::hazard::TaskRef)
//! and prunes finished tasks; recording uses serial numbers and keeps finished tasks, because a recording shows their
//! hazards too.

#![forbid(unsafe_code)]

use crate::recording::Hazard;
use smallvec::SmallVec;

/// How a task uses a datum that it names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Reads the value. Several readers may run at a time.
    Read,
    /// Overwrites the value; the old one is not read.
    Write,
    /// Reads and changes the value.
    ReadWrite,
    /// Changes the value, one task at a time, in any order among neighbours of the same mode.
    Commute,
    /// Contributes to a value that is combined from partial values.
    Reduce,
}

impl Mode {
    /// Returns whether the task depends on the value that it finds.
    #[must_use]
    pub fn reads(self) -> bool {
        self != Mode::Write
    }

    /// Returns whether the task leaves a new value.
    #[must_use]
    pub fn writes(self) -> bool {
        self != Mode::Read
    }
}

/// The last two groups of accesses to a version; see the [module](self) documentation.
#[derive(Debug)]
pub(crate) struct Hazards<R> {
    before: Group<R>,
    group: Group<R>,
}

#[derive(Debug)]
struct Group<R> {
    mode: Mode,
    /// Finished members are removed when the group has this many members.
    prune_at: u32,
    members: SmallVec<[R; 2]>,
}

impl<R> Default for Group<R> {
    fn default() -> Self {
        Self { mode: Mode::Write, prune_at: PRUNE_MEMBERS_MIN, members: SmallVec::new() }
    }
}

impl<R> Default for Hazards<R> {
    fn default() -> Self {
        Self { before: Group::default(), group: Group::default() }
    }
}

/// A group of this many members is pruned of finished ones, and again whenever it has twice as many as the last pruning
/// left.
const PRUNE_MEMBERS_MIN: u32 = 16;

impl<R: Copy + PartialEq> Hazards<R> {
    /// Records the access of `task` and calls `wait_for` with each predecessor. Tasks for which `is_done` is true need
    /// not be kept.
    #[inline]
    pub(crate) fn access(
        &mut self,
        mode: Mode,
        task: R,
        is_done: impl Fn(R) -> bool,
        mut wait_for: impl FnMut(R, Hazard),
    ) {
        let joins = self.is_joined_by(mode);
        if !joins {
            std::mem::swap(&mut self.before, &mut self.group);
            self.group.members.clear();
            (self.group.mode, self.group.prune_at) = (mode, PRUNE_MEMBERS_MIN);
        } else if self.group.members.len() >= self.group.prune_at as usize {
            self.group.members.retain(|member| !is_done(*member));
            self.group.prune_at = PRUNE_MEMBERS_MIN.max(2 * self.group.members.len() as u32);
        }
        let hazard = match (self.before.mode, mode) {
            (Mode::Read, _) => Hazard::WaR,
            (_, Mode::Write) => Hazard::WaW,
            _ => Hazard::RaW,
        };
        for &member in &self.before.members {
            wait_for(member, hazard);
        }
        // A task that reads the datum twice is stored once.
        if !joins || self.group.members.last() != Some(&task) {
            self.group.members.push(task);
        }
    }

    /// Returns whether an access of this mode joins the last group, instead of waiting for it.
    #[inline]
    fn is_joined_by(&self, mode: Mode) -> bool {
        self.group.mode == mode && matches!(mode, Mode::Read | Mode::Commute | Mode::Reduce)
    }

    /// Returns the tasks that an access of this mode would wait for.
    #[inline]
    pub(crate) fn predecessors_of(&self, mode: Mode) -> &[R] {
        if self.is_joined_by(mode) { &self.before.members } else { &self.group.members }
    }

    /// Returns whether the last accesses are reads of a value that earlier accesses wrote.
    pub(crate) fn ends_in_reads(&self) -> bool {
        self.group.mode == Mode::Read && !self.before.members.is_empty()
    }

    /// Returns whether no access of this version is in progress.
    pub(crate) fn is_idle(&self, is_done: impl Fn(R) -> bool) -> bool {
        // The previous group is done if any member of the last group is done. If the last group is empty, there were no
        // accesses.
        self.group.members.iter().all(|member| is_done(*member))
    }
}

/// A reference to a task: the slot that it was given, and the slot's generation at that time.
///
/// A reference may be kept forever. Once the task is done, every use of the reference detects that, even if the slot
/// has been reused.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct TaskRef(u64);

impl TaskRef {
    /// A slot index has 24 bits, so at most 16 million tasks are in flight.
    pub(crate) const SLOT_BITS: u32 = 24;
    /// The last generation of a slot. It has fewer bits than this type has room for, because the word that holds a
    /// slot's generation has other contents too (`successors.rs`).
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
        let (mut found, announced) = (vec![], hazards.predecessors_of(mode).to_vec());
        hazards.access(mode, task, |_| false, |from, hazard| found.push((from, hazard)));
        assert_eq!(found.iter().map(|&(from, _)| from).collect::<Vec<_>>(), announced);
        found
    }

    #[test]
    fn accesses_wait_as_documented() {
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
    fn double_read_is_one_member() {
        let mut h = Hazards::default();
        for task in [1, 1, 2, 2, 2] {
            waits(&mut h, Mode::Read, task);
        }
        assert_eq!(waits(&mut h, Mode::Write, 3), [(1, Hazard::WaR), (2, Hazard::WaR)]);
    }

    #[test]
    fn trailing_reads_are_detected() {
        let mut h = Hazards::default();
        assert!(!h.ends_in_reads());
        for (mode, task, expected) in [(Mode::Read, 1, false), (Mode::ReadWrite, 2, false), (Mode::Read, 3, true)] {
            waits(&mut h, mode, task);
            assert_eq!(h.ends_in_reads(), expected, "{mode:?}");
        }
    }

    #[test]
    fn finished_readers_are_pruned() {
        let mut h = Hazards::default();
        for task in 0..10_000 {
            h.access(Mode::Read, task, |old| old + 3 < task, |_, _| {});
        }
        assert!(h.group.members.len() <= 2 * PRUNE_MEMBERS_MIN as usize);
        assert!(h.is_idle(|_| true) && !h.is_idle(|task| task < 9_999));
    }
}
