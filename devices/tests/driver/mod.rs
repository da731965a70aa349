//! The tests that CUDA's and OpenCL's drivers share, written once. The program that takes this folder in says in its
//! module `bench` how its devices are opened, and what kernels they run.

pub mod bench;
pub mod copies;
mod ends;
pub mod order;
mod programs;
mod tasks;
