//! The device half: tile operations as values ([`Call`]), and the backends that put them into a device's queue.
//!
//! A tiled algorithm's codelet makes a [`Call`] of its operands; which backend carries it out is decided when the task is issued.
//! A backend is a folder here, and a row of the table of backends.

mod call;

pub use call::{Call, Mat, Triangle};

use crate::Scalar;
use superscalar_runtime::{Codelet, DeviceError, Operands};

/// Stands in until the backends are there.
pub fn on_devices<B: Operands + Send, P: Send, T: Scalar>(
    codelet: Codelet<B, P>,
    call: impl Fn(B::Of, &P) -> Result<Call<T>, DeviceError> + Clone + Send + Sync + 'static,
) -> Codelet<B, P> {
    let _ = call;
    codelet
}
