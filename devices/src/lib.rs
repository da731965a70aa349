//! Drivers: what makes a device of an accelerator for the runtime. They know no algorithm.
//!
//! | module | cargo feature | what it drives |
//! |---|---|---|
//! | `opencl` | `opencl` | devices of the system's OpenCL drivers, and cores of a CPU as devices |

#[cfg(feature = "opencl")]
pub mod opencl;
