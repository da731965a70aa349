//! The Matrix Market reader and writer, from outside.
//!
//! `cases/` holds one small valid file for each combination of format, field and symmetry that means something, in all
//! the spellings that are accepted. All hold the same 3 x 3 matrix as far as their header allows.

mod allocator;
mod broken;
mod built;
mod combinations;
mod errors;
mod files;
mod memory;
mod mutations;
mod round_trips;
mod same;
