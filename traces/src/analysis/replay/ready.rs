//! The ready tasks of a group of equivalent lanes, held by one of the runtime's policies.

use superscalar_schedule::{Outlook, Place, Policy, PolicyName, ReadyTask, TaskFilter};

/// The ready tasks of a group of lanes, each by its number in the order of insertion.
pub(super) struct ReadyTasks {
    policy: Box<dyn Policy>,
    lanes: LaneOutlook,
    count: usize,
}

/// What a policy may ask about the lanes.
struct LaneOutlook {
    count: u32,
    now_ns: u64,
}

impl Outlook for LaneOutlook {
    fn workers(&self) -> usize {
        self.count as usize
    }

    fn now_ns(&self) -> u64 {
        self.now_ns
    }
}

impl ReadyTasks {
    /// Creates an empty set. The policy gets one more place than there are lanes, for threads that are not lanes.
    pub(super) fn new(policy: PolicyName, lanes: u32) -> Self {
        let policy = policy.build(lanes as usize + 1);
        // In the runtime, every worker has looked for tasks before the first one exists, and policies keep track of
        // that.
        (0..lanes).for_each(|lane| _ = policy.steal(Place(lane), &TaskFilter::ANY));
        Self { policy, lanes: LaneOutlook { count: lanes, now_ns: 0 }, count: 0 }
    }

    /// Returns the number of ready tasks.
    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// Adds a task that a lane made ready, or another thread if `lane` is `None`.
    pub(super) fn push(&mut self, lane: Option<u32>, task: ReadyTask, now_ns: u64) {
        self.lanes.now_ns = now_ns;
        self.policy.push(Place(lane.unwrap_or(self.lanes.count)), task, &self.lanes);
        self.count += 1;
    }

    /// Returns whether a lane may directly run a task that it has made ready.
    pub(super) fn hands_over(&self, lane: u32, task: &ReadyTask) -> bool {
        self.policy.hands_over(Place(lane), task)
    }

    /// Takes the task that a lane runs next, and returns its number.
    pub(super) fn take(&mut self, lane: u32) -> Option<u32> {
        if self.count == 0 {
            return None;
        }
        // The lanes of a group are one resource. So the filter has no outlook, as in a runtime without devices.
        let (place, any) = (Place(lane), &TaskFilter::ANY);
        let task = self.policy.take(place, any).or_else(|| self.policy.steal(place, any))?;
        self.count -= 1;
        Some(task.id().0 as u32)
    }
}
