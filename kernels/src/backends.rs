//! The table of backends. A backend carries out a [`Call`] on the devices of one kind.
//!
//! A codelet states which call its operands make; [`on_devices`] gives it an implementation for every backend that was
//! compiled. Algorithms therefore name no device, and a new backend is a folder and a row in this table.

use crate::{Scalar, operations::Call, sim};
#[cfg(feature = "cuda")]
use superscalar_devices::cuda;
#[cfg(feature = "opencl")]
use superscalar_devices::opencl;
use superscalar_runtime::{Codelet, DeviceError, DeviceKind, IssueContext, Operands};

/// Carries out calls on the devices of one kind.
pub struct DeviceBackend<T: Scalar> {
    kind: DeviceKind,
    scratch_bytes: fn(&Call<T>) -> usize,
    issue: fn(&mut IssueContext<'_>, &Call<T>) -> Result<(), DeviceError>,
}

impl<T: Scalar> DeviceBackend<T> {
    /// Returns the kind of device that the backend is for.
    #[must_use]
    pub fn kind(&self) -> DeviceKind {
        self.kind
    }

    /// Returns the bytes of the device's heap that the call needs besides its operands. The result depends on options
    /// and shapes alone, because the operands have no place yet when the runtime asks.
    #[must_use]
    pub fn scratch_bytes(&self, call: &Call<T>) -> usize {
        (self.scratch_bytes)(call)
    }

    /// Puts the call into the queue.
    ///
    /// # Errors
    /// If [`Call::check`] refuses the call, or the queue takes no more work.
    pub fn issue(&self, context: &mut IssueContext<'_>, call: &Call<T>) -> Result<(), DeviceError> {
        call.check()?;
        (self.issue)(context, call)
    }

    const ALL: &'static [Self] = &[
        Self { kind: sim::KIND, scratch_bytes: sim::scratch_bytes, issue: sim::issue },
        #[cfg(feature = "cuda")]
        Self { kind: cuda::KIND, scratch_bytes: crate::cuda::scratch_bytes, issue: crate::cuda::issue },
        #[cfg(feature = "opencl")]
        Self { kind: opencl::KIND, scratch_bytes: crate::opencl::scratch_bytes, issue: crate::opencl::issue },
    ];
}

/// Returns every backend that was compiled.
///
/// ```
/// use superscalar::kernels::device::backends;
/// assert!(backends::<f64>().iter().any(|backend| backend.kind().0 == "sim"));
/// ```
#[must_use]
pub fn backends<T: Scalar>() -> &'static [DeviceBackend<T>] {
    DeviceBackend::ALL
}

/// Returns the codelet with an implementation for every backend. `call` makes the call from the operands and
/// parameters.
///
/// The result of `call` must depend on its arguments alone: it runs twice for each task, the first time before the
/// operands have a place.
#[must_use]
pub fn on_devices<T: Scalar, B: Operands + Send, P: Send>(
    codelet: Codelet<B, P>,
    call: impl Fn(B::Of, &P) -> Result<Call<T>, DeviceError> + Copy + Send + Sync + 'static,
) -> Codelet<B, P> {
    backends::<T>().iter().fold(codelet, |codelet, backend| {
        codelet.on_device_with_scratch(
            backend.kind,
            // Errors in the operands are reported when the call is issued.
            move |operands, parameters| call(operands, parameters).map_or(0, |call| backend.scratch_bytes(&call)),
            move |context, operands, parameters| backend.issue(context, &call(operands, parameters)?),
        )
    })
}
