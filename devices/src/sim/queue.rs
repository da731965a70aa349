//! The queue that an implementation launches kernels into, and the launched kernels.

use super::{
    faults::{Effect, Injector, Point},
    heap::{Heap, SimHeap},
};
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};
use superscalar_runtime::{Cost, DeviceError, Speed};

type Kernel = Box<dyn FnOnce(&SimHeap) -> Result<(), DeviceError> + Send>;

/// One kernel with its modelled duration.
pub(super) struct Launch {
    pub(super) model_ns: u64,
    kernel: Kernel,
}

/// A queue of a simulated device, returned by [`IssueContext::queue`](superscalar_runtime::IssueContext::queue).
///
/// The kernels that one implementation launches form one task. They run in order, the task ends with the last one, and
/// the first one that fails ends the task.
pub struct SimQueue {
    speed: Speed,
    injector: Arc<Injector>,
    launches: Vec<Launch>,
    refused: Option<DeviceError>,
}

impl SimQueue {
    pub(super) fn new(speed: Speed, injector: Arc<Injector>) -> Self {
        Self { speed, injector, launches: Vec::new(), refused: None }
    }

    /// Launches a kernel. Its modelled duration follows from `cost`; `work` is executed. A panic in `work` is reported
    /// as an error.
    ///
    /// # Errors
    /// If an injected fault refuses the launch. Then no kernel of the task runs.
    pub fn launch(
        &mut self,
        cost: Cost,
        work: impl FnOnce(&SimHeap) -> Result<(), DeviceError> + Send + 'static,
    ) -> Result<(), DeviceError> {
        if let Some(effect) = self.injector.strikes(Point::Launch) {
            let error = match effect {
                Effect::Fails => DeviceError::new("a launch was refused: injected fault"),
                Effect::Loses => DeviceError::lost("the device was lost at a launch: injected fault"),
            };
            self.refused = Some(error.clone());
            return Err(error);
        }
        self.launches.push(Launch { model_ns: modelled_ns(self.speed, cost), kernel: Box::new(work) });
        Ok(())
    }

    /// Returns the launched kernels, or an error if a launch was refused, even if the implementation ignored the
    /// refusal.
    pub(super) fn into_launches(self) -> Result<Vec<Launch>, DeviceError> {
        self.refused.map_or(Ok(self.launches), Err)
    }
}

/// Returns the modelled duration of a kernel.
fn modelled_ns(speed: Speed, cost: Cost) -> u64 {
    speed.latency_ns + duration_ns(cost.flops, speed.flops_per_s).max(duration_ns(cost.bytes, speed.bytes_per_s))
}

/// Returns how long `amount` takes at this rate; zero if the rate is zero or the amount is not a number.
pub(super) fn duration_ns(amount: f64, per_s: f64) -> u64 {
    // A cast from a float saturates, and makes zero of NaN.
    if per_s > 0.0 { (amount / per_s * 1e9) as u64 } else { 0 }
}

impl Launch {
    /// Runs the kernel.
    pub(super) fn run(self, heap: &Arc<Heap>, injector: &Injector) -> Result<(), DeviceError> {
        match injector.strikes(Point::Kernel) {
            Some(Effect::Fails) => return Err(DeviceError::new("a kernel failed: injected fault")),
            Some(Effect::Loses) => {
                return Err(DeviceError::lost("the device was lost in a kernel: injected fault"));
            }
            None => {}
        }
        let (window, kernel) = (SimHeap::new(heap.clone()), self.kernel);
        catching(|| kernel(&window)).unwrap_or_else(|text| Err(DeviceError::new(format!("a kernel panicked: {text}"))))
    }
}

/// Runs foreign code; returns the message of a panic as the error.
fn catching<R>(run: impl FnOnce() -> R) -> Result<R, String> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|panic| {
        let text = panic.downcast_ref::<&str>().copied();
        let text = text.or(panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no text").to_owned();
        drop_catching(panic);
        text
    })
}

/// Drops a foreign value. The payload of a panic is leaked, so that the machine's threads keep running.
pub(super) fn drop_catching<T>(value: T) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(value))) {
        std::mem::forget(panic);
    }
}
