//! Tests that the CUDA and OpenCL drivers share. The including test program has a module `bench`, which opens its
//! devices and defines the kernels.

pub mod bench;
pub mod copies;
mod ends;
pub mod order;
mod programs;
mod tasks;
