//! What a trace must satisfy beyond being read: order, nesting, numbers that agree.
