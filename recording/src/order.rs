//! Maps a task's number to its index in a sorted table.

use super::TaskId;

/// The distinct task numbers of a recording in ascending order.
///
/// This is a table and not a hash map: numbers are assigned consecutively, so the index of a number is nearly always
/// its distance from the first one.
pub(super) struct TaskOrder {
    ids: Vec<TaskId>,
}

impl TaskOrder {
    pub(super) fn new(ids: impl Iterator<Item = TaskId>) -> Self {
        let mut ids: Vec<TaskId> = ids.collect();
        ids.sort();
        ids.dedup();
        Self { ids }
    }

    pub(super) fn len(&self) -> usize {
        self.ids.len()
    }

    /// Returns the index of `id`, less than `len()`, if it is in the table.
    pub(super) fn index_of(&self, id: TaskId) -> Option<usize> {
        let distance = id.0.checked_sub(self.ids.first()?.0)?;
        let guess = usize::try_from(distance).ok()?;
        if self.ids.get(guess) == Some(&id) {
            return Some(guess);
        }
        self.ids.binary_search(&id).ok()
    }
}
