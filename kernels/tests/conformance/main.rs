//! Conformance: one suite over the variants and options of a device's [`Call`], run on every backend and element type.
//!
//! Operands lie in an image of a heap, at odd offsets and with gaps between their columns. A backend gets the image and the call,
//! and gives the image back; where the call writes, it is compared with the textbook loops of `reference`, exactly where integers
//! make the operation exact, and everywhere else byte for byte with what was there. What a call must not read is NaN.
//!
//! A backend is added by a line in `instantiate`; a driver by a function that makes its device. The unit tests of the crate have the
//! same suite as a module, and run it with every instruction set (`src/cpu/instruction_sets.rs`).
//!
//! [`Call`]: superscalar_kernels::device::Call

#[cfg(feature = "cuda")]
mod cuda_device;
mod image;
mod large;
#[macro_use]
mod list;
mod moves;
#[cfg(feature = "opencl")]
mod opencl_device;
#[allow(dead_code)] // Each test file uses its own part.
#[path = "../operands/mod.rs"]
mod operands;
mod oracle;
mod panels;
mod products;
mod runner;
mod sensitivity;
mod suite;
mod triangles;

use image::Image;
use operands::Numbers;
use runner::{OnDevice, OnHost, Runner};
use suite::{Nearness, Suite};
use superscalar_devices::sim::{Machine, Spec};
use superscalar_kernels::{Op, Scalar, Side, Uplo};

const OPS: [Op; 3] = [Op::None, Op::Trans, Op::ConjTrans];
const UPLOS: [Uplo; 2] = [Uplo::Lower, Uplo::Upper];
const SIDES: [Side; 2] = [Side::Left, Side::Right];

/// The host's kernels.
fn cpu<T: Scalar>() -> Option<Box<dyn Runner<T>>> {
    Some(Box::new(OnHost))
}

/// A simulated device without modelled time.
fn sim<T: Scalar>() -> Option<Box<dyn Runner<T>>> {
    let mut devices = Machine::start(&[Spec::new("sim")]).expect("a simulated device");
    Some(Box::new(OnDevice::new(devices.remove(0))))
}

#[cfg(feature = "cuda")]
use cuda_device::runner as cuda;
#[cfg(feature = "opencl")]
use opencl_device::runner as opencl;

instantiate! {
    cpu
    sim
    #[cfg(feature = "cuda")] cuda
    #[cfg(feature = "opencl")] opencl
}
