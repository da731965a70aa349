//! The runtime: tasks, hazards, scheduling, tracing.
