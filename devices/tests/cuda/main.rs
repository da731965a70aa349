//! The CUDA driver, driven through the runtime's traits alone, on the GPUs of the machine.
//!
//! Without a GPU nothing can be tested: each test says so and passes, or fails if `REQUIRE_CUDA=1`. Where there is one GPU, it is opened
//! again where a test needs a second device.
//!
//! The tests of `costs` and `overhead` print what calls, copies and tasks cost; they are for a machine that does nothing else:
//! `cargo test --release -p superscalar-devices --test cuda -- --ignored --nocapture --test-threads 1`.
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
