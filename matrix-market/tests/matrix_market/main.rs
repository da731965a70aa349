//! Tests of the public interface of the Matrix Market reader and writer.
//!
//! `cases/` holds one small valid file for each defined combination of format, field and symmetry. Together they use
//! all accepted spellings. Each file holds the same 3 x 3 matrix as far as its header allows.

mod allocator;
mod assertions;
mod combinations;
mod constructors;
mod errors;
mod files;
mod io_failures;
mod memory;
mod mutations;
mod round_trips;
