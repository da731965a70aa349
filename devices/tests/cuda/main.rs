//! The CUDA driver, driven through the runtime's traits alone, on the machine's GPUs.
//!
//! Without a GPU each test prints that it is skipped and passes; with `REQUIRE_CUDA=1` it fails. With a single GPU,
//! tests that need a second device open it again.
//!
//! The tests of `costs` and `overhead` print the cost of calls, copies and tasks. Run them on an otherwise idle
//! machine: `cargo test --release -p superscalar-devices --test cuda -- --ignored --nocapture --test-threads 1`.
#![cfg(feature = "cuda")]

mod aside;
mod bench;
mod copies;
mod costs;
mod discovery;
#[path = "../driver/mod.rs"]
mod driver;
mod faults;
mod order;
mod overhead;
mod pinned;
mod programs;
mod runtime;
mod tasks;
