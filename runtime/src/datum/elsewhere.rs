//! What the other half of the runtime keeps of a version, whose value may be elsewhere than in its place.

use std::sync::{Arc, OnceLock};

/// What is kept of a value that is, or was, elsewhere.
pub(crate) struct Kept {
    /// How the other half names it.
    pub(crate) number: u32,
    /// Whether the value stays where it is when its scope ends.
    pub(crate) stays: bool,
    /// Ends what is kept.
    pub(crate) _end: Box<dyn Send + Sync>,
}

/// What is kept of a version, if anything; it ends with the version, or with the last of those that share it.
#[derive(Default)]
pub(crate) struct Elsewhere(OnceLock<Arc<Kept>>);

impl Elsewhere {
    /// Whether the value stays where it is between scopes.
    pub(crate) fn stays(&self) -> bool {
        self.get().is_some_and(|kept| kept.stays)
    }

    /// What is kept, if anything.
    pub(crate) fn get(&self) -> Option<&Kept> {
        self.0.get().map(|kept| &**kept)
    }

    /// Keeps something, unless something is kept already.
    pub(crate) fn keep(&self, kept: Kept) {
        self.0.get_or_init(|| Arc::new(kept));
    }

    /// Lets a version of which nothing is kept yet share what is kept of this one.
    pub(crate) fn share_with(&self, other: &Self) {
        if let Some(kept) = self.0.get() {
            other.0.get_or_init(|| kept.clone());
        }
    }
}
