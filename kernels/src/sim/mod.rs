//! The backend for simulated devices: the host's kernels, on the heap of the simulation.
//!
//! A simulated device takes as long as its model says, which knows the call's cost; that the host computes the result
//! meanwhile is not part of the model.

use crate::{
    Scalar,
    device::{Call, Heap},
};
use std::ptr::NonNull;
use superscalar_devices::sim::{SimHeap, SimQueue};
use superscalar_runtime::{DeviceError, IssueContext};

pub(crate) use superscalar_devices::sim::KIND;

/// The host's kernels have working memory of their own.
pub(crate) fn scratch_bytes<T: Scalar>(_: &Call<T>) -> usize {
    0
}

/// Puts a call that was checked into the queue.
pub(crate) fn issue<T: Scalar>(context: &mut IssueContext<'_>, call: &Call<T>) -> Result<(), DeviceError> {
    let (cost, call) = (context.cost(), call.clone());
    context.queue::<SimQueue>()?.launch(cost, move |heap| {
        // SAFETY: `Backend::issue` has checked the call. Its operands are the task's, from when the queue reaches it until it is
        // reported finished: the runtime's hazards order all other uses of those places.
        unsafe { call.run(heap) }
    })
}

// SAFETY: the simulation checks that the span is inside its heap, which stays where it is for as long as work runs.
unsafe impl Heap for SimHeap {
    fn address(&self, offset: usize, span: usize) -> Result<NonNull<u8>, DeviceError> {
        SimHeap::address(self, offset, span)
    }
}
