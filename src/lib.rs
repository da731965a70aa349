//! Superscalar: serial task code, run in parallel on every processor of a machine.
