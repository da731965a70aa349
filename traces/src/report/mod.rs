//! One HTML page that shows a run: self-contained, offline.
