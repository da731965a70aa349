//! The OpenCL driver, driven through the runtime's traits alone, on the system's devices. PoCL is sufficient.
//!
//! Without an OpenCL device each test prints that it is skipped and passes; with `REQUIRE_OPENCL=1` it fails.
#![cfg(feature = "opencl")]

mod bench;
mod discovery;
#[path = "../driver/mod.rs"]
mod driver;
mod order;
mod programs;
mod tasks;
