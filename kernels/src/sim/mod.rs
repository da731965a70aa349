//! The backend for simulated devices. It runs the host's kernels on the heap of the simulation.
//!
//! A simulated device takes the time that its model computes from the call's cost. The time that the host spends on the
//! result is not part of the model.

use crate::{
    Half, Scalar,
    device::{Call, HalfCall, Heap},
};
use std::ptr::NonNull;
use superscalar_devices::sim::{SimHeap, SimQueue};
use superscalar_runtime::{DeviceError, IssueContext};

pub(crate) use superscalar_devices::sim::KIND;

/// Returns zero: the host's kernels have working memory of their own.
pub(crate) fn scratch_bytes<C>(_: &C) -> usize {
    0
}

/// Puts a checked call into the queue.
pub(crate) fn issue<T: Scalar>(context: &mut IssueContext<'_>, call: &Call<T>) -> Result<(), DeviceError> {
    let (cost, call) = (context.cost(), call.clone());
    context.queue::<SimQueue>()?.launch(cost, move |heap| {
        // SAFETY: `Backend::issue` has checked the call. The task owns its operands from when the queue reaches the
        // call until it is reported finished, and the runtime's hazards order all other uses of those places.
        unsafe { call.run(heap) }
    })
}

/// Like [`issue`], for half precision.
pub(crate) fn issue_half<H: Half>(context: &mut IssueContext<'_>, call: &HalfCall<H>) -> Result<(), DeviceError> {
    let (cost, call) = (context.cost(), *call);
    context.queue::<SimQueue>()?.launch(cost, move |heap| {
        // SAFETY: as in `issue`.
        unsafe { call.run(heap) }
    })
}

// SAFETY: the simulation checks that the span is inside its heap, which does not move while work runs.
unsafe impl Heap for SimHeap {
    fn address(&self, offset: usize, span: usize) -> Result<NonNull<u8>, DeviceError> {
        SimHeap::address(self, offset, span)
    }
}
