//! The table of backends: who can carry a [`Call`] out, on which kind of device.
//!
//! A codelet says of its operands which call they make; [`on_devices`] gives it an implementation for every backend that was
//! compiled. So an algorithm names no device, and a backend is added by its folder and a row here.

use crate::{Scalar, operations::Call, sim};
#[cfg(feature = "cuda")]
use superscalar_devices::cuda;
#[cfg(feature = "opencl")]
use superscalar_devices::opencl;
use superscalar_runtime::{Codelet, DeviceError, DeviceKind, IssueContext, Operands};

/// What carries calls out on the devices of one kind.
pub struct Backend<T: Scalar> {
    kind: DeviceKind,
    scratch_bytes: fn(&Call<T>) -> usize,
    issue: fn(&mut IssueContext<'_>, &Call<T>) -> Result<(), DeviceError>,
    has_panels: bool,
}

impl<T: Scalar> Backend<T> {
    /// The devices that it is for.
    #[must_use]
    pub fn kind(&self) -> DeviceKind {
        self.kind
    }

    /// Whether it carries out the panels of factorizations: [`Call::Getrf`] and [`Call::Geqrf`], and those of [`Call::Potrf`] faster than
    /// the host. Where not, they are the host's.
    #[must_use]
    pub fn has_panels(&self) -> bool {
        self.has_panels
    }

    /// Bytes of the device's heap that the call needs besides its operands. Depends on options and shapes alone: where the
    /// operands will be is not known when this is asked.
    #[must_use]
    pub fn scratch_bytes(&self, call: &Call<T>) -> usize {
        (self.scratch_bytes)(call)
    }

    /// Puts the call into the queue.
    ///
    /// # Errors
    /// If the call is not one that can be carried out ([`Call::check`]), or the queue takes no more work.
    pub fn issue(&self, context: &mut IssueContext<'_>, call: &Call<T>) -> Result<(), DeviceError> {
        call.check()?;
        (self.issue)(context, call)
    }

    const ALL: &'static [Self] = &[
        Self { kind: sim::KIND, scratch_bytes: sim::scratch_bytes, issue: sim::issue, has_panels: true },
        #[cfg(feature = "cuda")]
        Self {
            kind: cuda::KIND,
            scratch_bytes: crate::cuda::scratch_bytes,
            issue: crate::cuda::issue,
            has_panels: true,
        },
        #[cfg(feature = "opencl")]
        Self {
            kind: opencl::KIND,
            scratch_bytes: crate::opencl::scratch_bytes,
            issue: crate::opencl::issue,
            has_panels: false,
        },
    ];
}

/// Every backend that was compiled.
///
/// ```
/// use superscalar::kernels::device::backends;
/// assert!(backends::<f64>().iter().any(|backend| backend.kind().0 == "sim"));
/// ```
#[must_use]
pub fn backends<T: Scalar>() -> &'static [Backend<T>] {
    Backend::ALL
}

/// The codelet with an implementation for every backend: that of the call that `call` makes of the operands and parameters.
///
/// `call` depends on its arguments alone; it is asked twice for each task, first when operands have no place yet.
#[must_use]
pub fn on_devices<T: Scalar, B: Operands + Send, P: Send>(
    codelet: Codelet<B, P>,
    call: impl Fn(B::Of, &P) -> Result<Call<T>, DeviceError> + Copy + Send + Sync + 'static,
) -> Codelet<B, P> {
    on(backends::<T>().iter(), codelet, call)
}

/// The same for the panel of a factorization: with an implementation for those backends alone that [have one](Backend::has_panels).
#[must_use]
pub fn panels_on_devices<T: Scalar, B: Operands + Send, P: Send>(
    codelet: Codelet<B, P>,
    call: impl Fn(B::Of, &P) -> Result<Call<T>, DeviceError> + Copy + Send + Sync + 'static,
) -> Codelet<B, P> {
    on(backends::<T>().iter().filter(|backend| backend.has_panels), codelet, call)
}

fn on<T: Scalar, B: Operands + Send, P: Send>(
    backends: impl Iterator<Item = &'static Backend<T>>,
    codelet: Codelet<B, P>,
    call: impl Fn(B::Of, &P) -> Result<Call<T>, DeviceError> + Copy + Send + Sync + 'static,
) -> Codelet<B, P> {
    backends.fold(codelet, |codelet, backend| {
        codelet.on_device_with_scratch(
            backend.kind,
            // What is wrong with the operands is said when the call is issued.
            move |operands, parameters| call(operands, parameters).map_or(0, |call| backend.scratch_bytes(&call)),
            move |context, operands, parameters| backend.issue(context, &call(operands, parameters)?),
        )
    })
}
