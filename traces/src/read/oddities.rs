//! What a file says that a model of a run has no place for.

/// How many oddities of one kind are kept in full; the others are counted.
const KEPT_MAX: u64 = 16;

/// Something in a file that the reader set right or left out.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Oddity {
    /// What it is.
    pub kind: OddityKind,
    /// A sentence about it, with the numbers.
    pub text: String,
    /// The task in question: its [`Task::id`](crate::Task::id).
    pub task: Option<u64>,
    /// The lane in question: into [`Trace::lanes`](crate::Trace::lanes).
    pub lane: Option<u32>,
}

/// The kinds of oddities.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OddityKind {
    /// Two slices of one thread cross: the later one begins inside the other and ends outside.
    Crossing,
    /// One end of a hazard's arrow, without the other.
    LoneArrow,
    /// An end of a hazard's arrow that names no task, at a moment at which its thread runs none.
    StrayArrow,
    /// A hazard names a task that is not in the file.
    UnknownTask,
    /// A span of the host that only begins or only ends.
    LoneSpan,
    /// A counter's moments do not ascend; its samples were sorted.
    CounterGoesBack,
}

const KINDS: usize = OddityKind::CounterGoesBack as usize + 1;

/// Oddities, counted by kind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Oddities {
    list: Vec<Oddity>,
    counts: [u64; KINDS],
}

impl Oddities {
    /// The first ones of each kind, in no particular order.
    pub fn first(&self) -> &[Oddity] {
        &self.list
    }

    /// How many there are of one kind.
    pub fn count(&self, kind: OddityKind) -> u64 {
        self.counts[kind as usize]
    }

    /// How many there are.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Counts one, and keeps it if it is one of the first of its kind.
    pub(super) fn note(&mut self, kind: OddityKind, about: (Option<u64>, Option<u32>), text: impl FnOnce() -> String) {
        self.counts[kind as usize] += 1;
        if self.counts[kind as usize] <= KEPT_MAX {
            self.list.push(Oddity { kind, text: text(), task: about.0, lane: about.1 });
        }
    }

    /// Replaces threads by lanes, once these are known.
    pub(super) fn name_lanes(&mut self, lane_of: &[u32]) {
        for lane in self.list.iter_mut().filter_map(|oddity| oddity.lane.as_mut()) {
            *lane = lane_of[*lane as usize];
        }
    }
}
