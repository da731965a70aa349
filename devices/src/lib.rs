//! Drivers: what makes a device of an accelerator for the runtime. They know no algorithm.
//!
//! | module | cargo feature | kind | what it drives |
//! |---|---|---|---|
//! | [`sim`] | | `sim` | simulated devices: own address space, modelled speeds and links, memory limits, injected faults |
//! | `cuda` | `cuda` (default) | `cuda` | NVIDIA's GPUs; CUDA's libraries are found at run time |
//! | `opencl` | `opencl` | `opencl` | devices of the system's OpenCL drivers, and cores of a CPU as devices |
//!
//! A driver is a folder here. It implements [`Device`](superscalar_runtime::Device) and, where the device has memory of its own,
//! [`DeviceMemory`](superscalar_runtime::DeviceMemory), and it names the type of queue that a backend in the crate of kernels
//! puts its work into.

#[cfg(any(feature = "cuda", feature = "opencl"))]
mod cache;
#[cfg(any(feature = "cuda", feature = "opencl"))]
mod clock;
#[cfg(feature = "cuda")]
pub mod cuda;
#[cfg(feature = "opencl")]
pub mod opencl;
pub mod sim;
