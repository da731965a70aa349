//! Drivers: the code that makes accelerators available to the runtime as devices. Drivers know no algorithms.
//!
//! | module | cargo feature | kind | what it drives |
//! |---|---|---|---|
//! | [`sim`] | | `sim` | simulated devices: own address space, modelled speeds, memory limits, injected faults |
//! | `cuda` | `cuda` (default) | `cuda` | NVIDIA GPUs; CUDA's libraries are loaded at run time |
//! | `opencl` | `opencl` | `opencl` | devices of the system's OpenCL drivers, and groups of CPU cores as devices |
//!
//! Each driver is one folder. It implements [`Device`](superscalar_runtime::Device) and, if the device has its own
//! memory, [`DeviceMemory`](superscalar_runtime::DeviceMemory). It also defines the queue type that a backend in the
//! kernels crate uses to launch work.

#[cfg(any(feature = "cuda", feature = "opencl"))]
mod cache;
#[cfg(any(feature = "cuda", feature = "opencl"))]
mod clock;
#[cfg(feature = "cuda")]
pub mod cuda;
#[cfg(any(feature = "cuda", feature = "opencl"))]
mod heap;
#[cfg(feature = "opencl")]
pub mod opencl;
#[cfg(any(feature = "cuda", feature = "opencl"))]
mod signal;
pub mod sim;
