//! The table of backends. A backend carries out calls on the devices of one kind.
//!
//! A codelet states which call its operands make; [`on_devices`] gives it an implementation for every backend that was
//! compiled. Algorithms therefore name no device, and a new backend is a folder and a row in the tables.

use crate::{
    Half, Scalar,
    operations::{Call, HalfCall},
    sim,
};
#[cfg(feature = "cuda")]
use superscalar_devices::cuda;
#[cfg(feature = "opencl")]
use superscalar_devices::opencl;
use superscalar_runtime::{Codelet, DeviceError, DeviceKind, IssueContext, Operands};

/// Carries out calls on the devices of one kind.
pub struct DeviceBackend<C> {
    kind: DeviceKind,
    scratch_bytes: fn(&C) -> usize,
    issue: fn(&mut IssueContext<'_>, &C) -> Result<(), DeviceError>,
}

/// What backends carry out: a [`Call`], or a [`HalfCall`]. Sealed.
pub trait DeviceCall: sealed::Sealed + Sized + 'static {
    /// Every backend that was compiled.
    #[doc(hidden)]
    const BACKENDS: &'static [DeviceBackend<Self>];

    /// Does the check of the same name.
    #[doc(hidden)]
    fn checked(&self) -> Result<(), DeviceError>;
}

mod sealed {
    pub trait Sealed {}
    impl<T: super::Scalar> Sealed for super::Call<T> {}
    impl<H: super::Half> Sealed for super::HalfCall<H> {}
}

impl<T: Scalar> DeviceCall for Call<T> {
    const BACKENDS: &'static [DeviceBackend<Self>] = &[
        DeviceBackend { kind: sim::KIND, scratch_bytes: sim::scratch_bytes, issue: sim::issue },
        #[cfg(feature = "cuda")]
        DeviceBackend { kind: cuda::KIND, scratch_bytes: crate::cuda::scratch_bytes, issue: crate::cuda::issue },
        #[cfg(feature = "opencl")]
        DeviceBackend { kind: opencl::KIND, scratch_bytes: crate::opencl::scratch_bytes, issue: crate::opencl::issue },
    ];

    fn checked(&self) -> Result<(), DeviceError> {
        self.check()
    }
}

impl<H: Half> DeviceCall for HalfCall<H> {
    const BACKENDS: &'static [DeviceBackend<Self>] = &[
        DeviceBackend { kind: sim::KIND, scratch_bytes: sim::scratch_bytes, issue: sim::issue_half },
        #[cfg(feature = "cuda")]
        DeviceBackend { kind: cuda::KIND, scratch_bytes: |_| 0, issue: crate::cuda::issue_half },
        #[cfg(feature = "opencl")]
        DeviceBackend {
            kind: opencl::KIND,
            scratch_bytes: crate::opencl::half_scratch_bytes,
            issue: crate::opencl::issue_half,
        },
    ];

    fn checked(&self) -> Result<(), DeviceError> {
        self.check()
    }
}

impl<C: DeviceCall> DeviceBackend<C> {
    /// Returns the kind of device that the backend is for.
    #[must_use]
    pub fn kind(&self) -> DeviceKind {
        self.kind
    }

    /// Returns the bytes of the device's heap that the call needs besides its operands. The result depends on options
    /// and shapes alone, because the operands have no place yet when the runtime asks.
    #[must_use]
    pub fn scratch_bytes(&self, call: &C) -> usize {
        (self.scratch_bytes)(call)
    }

    /// Puts the call into the queue.
    ///
    /// # Errors
    /// If the call's check refuses it ([`Call::check`], [`HalfCall::check`]), or the queue takes no more work.
    pub fn issue(&self, context: &mut IssueContext<'_>, call: &C) -> Result<(), DeviceError> {
        call.checked()?;
        (self.issue)(context, call)
    }
}

/// Returns every backend that was compiled.
///
/// ```
/// use superscalar::kernels::device::{Call, backends};
/// assert!(backends::<Call<f64>>().iter().any(|backend| backend.kind().0 == "sim"));
/// ```
#[must_use]
pub fn backends<C: DeviceCall>() -> &'static [DeviceBackend<C>] {
    C::BACKENDS
}

/// Returns the codelet with an implementation for every backend. `call` makes the call from the operands and
/// parameters.
///
/// The result of `call` must depend on its arguments alone: it runs twice for each task, the first time before the
/// operands have a place.
#[must_use]
pub fn on_devices<C: DeviceCall, B: Operands + Send, P: Send>(
    codelet: Codelet<B, P>,
    call: impl Fn(B::Of, &P) -> Result<C, DeviceError> + Copy + Send + Sync + 'static,
) -> Codelet<B, P> {
    backends::<C>().iter().fold(codelet, |codelet, backend| {
        codelet.on_device_with_scratch(
            backend.kind,
            // Errors in the operands are reported when the call is issued.
            move |operands, parameters| call(operands, parameters).map_or(0, |call| backend.scratch_bytes(&call)),
            move |context, operands, parameters| backend.issue(context, &call(operands, parameters)?),
        )
    })
}
