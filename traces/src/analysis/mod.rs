//! Where the time of a run went, and what could be gained.
