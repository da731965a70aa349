//! The link from a version to its entry in the placement's directory. Its value may then be on a device.

use std::sync::{Arc, OnceLock};

/// A version's entry in the placement's directory.
pub(crate) struct DirectoryEntry {
    /// The entry's number in the directory.
    pub(crate) number: u32,
    /// Whether the value stays on its device when its scope ends.
    pub(crate) stays: bool,
    /// Its destructor removes the entry.
    pub(crate) _end: Box<dyn Send + Sync>,
}

/// A version's directory entry, if it has one. The entry ends with the last version that shares it.
#[derive(Default)]
pub(crate) struct EntryCell(OnceLock<Arc<DirectoryEntry>>);

impl EntryCell {
    /// Returns whether the value stays on its device between scopes.
    pub(crate) fn stays(&self) -> bool {
        self.get().is_some_and(|kept| kept.stays)
    }

    /// Returns the entry, if there is one.
    pub(crate) fn get(&self) -> Option<&DirectoryEntry> {
        self.0.get().map(|kept| &**kept)
    }

    /// Sets the entry, unless there is one already.
    pub(crate) fn keep(&self, kept: DirectoryEntry) {
        self.0.get_or_init(|| Arc::new(kept));
    }

    /// Shares this version's entry with another version, unless that one has an entry already.
    pub(crate) fn share_with(&self, other: &Self) {
        if let Some(kept) = self.0.get() {
            other.0.get_or_init(|| kept.clone());
        }
    }
}
