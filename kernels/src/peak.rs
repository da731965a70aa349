//! The multiply-add peak of the core that runs it.
