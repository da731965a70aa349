//! Contents of a file that the model of a run cannot represent.

/// The number of oddities of each kind that are kept in full; the others are only counted.
const KEPT_MAX: u64 = 16;

/// Something in a file that the reader corrected or left out.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Oddity {
    /// Its kind.
    pub kind: OddityKind,
    /// A description with the values.
    pub text: String,
    /// The task concerned: its [`Task::id`](crate::Task::id).
    pub task: Option<u64>,
    /// The lane concerned: index into [`Trace::lanes`](crate::Trace::lanes).
    pub lane: Option<u32>,
}

/// The kinds of oddities.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OddityKind {
    /// Two slices of one thread cross: the later one begins inside the other and ends outside.
    Crossing,
    /// One end of a hazard's arrow without the other end.
    LoneArrow,
    /// An end of a hazard's arrow that names no task, at a time when its thread runs none.
    StrayArrow,
    /// A hazard names a task that is not in the file.
    UnknownTask,
    /// A host span that has no begin or no end.
    LoneSpan,
    /// The sample times of a counter do not ascend; its samples were sorted.
    CounterGoesBack,
}

const KINDS: usize = OddityKind::CounterGoesBack as usize + 1;

/// The oddities of a file, counted by kind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Oddities {
    list: Vec<Oddity>,
    counts: [u64; KINDS],
}

impl Oddities {
    /// Returns the first oddities of each kind, in no particular order.
    pub fn first(&self) -> &[Oddity] {
        &self.list
    }

    /// Returns the number of oddities of one kind.
    pub fn count(&self, kind: OddityKind) -> u64 {
        self.counts[kind as usize]
    }

    /// Returns the number of all oddities.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Counts an oddity, and keeps it if it is one of the first of its kind. `about` is its task and its lane.
    pub(super) fn note(&mut self, kind: OddityKind, about: (Option<u64>, Option<u32>), text: impl FnOnce() -> String) {
        self.counts[kind as usize] += 1;
        if self.counts[kind as usize] <= KEPT_MAX {
            self.list.push(Oddity { kind, text: text(), task: about.0, lane: about.1 });
        }
    }

    /// Replaces threads by lanes, when the lanes are known.
    pub(super) fn name_lanes(&mut self, lane_of: &[u32]) {
        for lane in self.list.iter_mut().filter_map(|oddity| oddity.lane.as_mut()) {
            *lane = lane_of[*lane as usize];
        }
    }
}
