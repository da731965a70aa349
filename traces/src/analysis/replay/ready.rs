//! Ready tasks of like lanes, held by the runtime's own policy.

use superscalar_schedule::{Outlook, Place, Policy, PolicyName, ReadyTask, Want};

/// The ready tasks of a group of lanes, each by its number in the order of insertion.
pub(super) struct Ready {
    policy: Box<dyn Policy>,
    lanes: Lanes,
    count: usize,
}

/// What the policy may ask.
struct Lanes {
    count: u32,
    now_ns: u64,
}

impl Outlook for Lanes {
    fn workers(&self) -> usize {
        self.count as usize
    }

    fn now_ns(&self) -> u64 {
        self.now_ns
    }
}

impl Ready {
    /// Behind the lanes there is a place for who is none of them.
    pub(super) fn new(policy: PolicyName, lanes: u32) -> Self {
        let policy = policy.build(lanes as usize + 1);
        // Before there are tasks all workers have looked for some, and a policy has seen who will.
        (0..lanes).for_each(|lane| _ = policy.steal(Place(lane), &Want::ANY));
        Self { policy, lanes: Lanes { count: lanes, now_ns: 0 }, count: 0 }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// A task has become ready at a lane, or by somebody else.
    pub(super) fn push(&mut self, lane: Option<u32>, task: ReadyTask, now_ns: u64) {
        self.lanes.now_ns = now_ns;
        self.policy.push(Place(lane.unwrap_or(self.lanes.count)), task, &self.lanes);
        self.count += 1;
    }

    /// Whether a lane may run this task next, which it has made ready.
    pub(super) fn hands_over(&self, lane: u32, task: &ReadyTask) -> bool {
        self.policy.hands_over(Place(lane), task)
    }

    /// The number of the task that a lane runs next.
    pub(super) fn take(&mut self, lane: u32, now_ns: u64) -> Option<u32> {
        if self.count == 0 {
            return None;
        }
        self.lanes.now_ns = now_ns;
        let (place, want) = (Place(lane), Want::ANY.with(Some(&self.lanes)));
        let task = self.policy.take(place, &want).or_else(|| self.policy.steal(place, &want))?;
        self.count -= 1;
        Some(task.id().0 as u32)
    }
}
