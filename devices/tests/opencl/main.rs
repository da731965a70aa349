//! The OpenCL driver, driven through the runtime's traits alone, on whatever devices the system has; PoCL is enough.
//!
//! Without an OpenCL device nothing can be tested: each test says so and passes, or fails if `REQUIRE_OPENCL=1`.
#![cfg(feature = "opencl")]

mod bench;
mod discovery;
#[path = "../driver/mod.rs"]
mod driver;
mod order;
mod programs;
mod tasks;
