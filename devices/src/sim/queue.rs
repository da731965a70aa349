//! The queue as an implementation gets it, and kernels as it keeps them.

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

/// One kernel, with the time that it takes by the model.
pub(super) struct Launch {
    pub(super) model_ns: u64,
    kernel: Kernel,
}

/// A queue of a simulated device, as [`IssueContext::queue`](superscalar_runtime::IssueContext::queue) gives it.
///
/// What one implementation launches is one task: its kernels run in order, its end is that of the last, and the first that
/// fails ends it.
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

    /// Puts a kernel into the queue. By the model it takes as long as its cost says; `work` does it. A panic in it is an error.
    ///
    /// # Errors
    /// If the launch is refused, by an injected fault. Then nothing of the task runs.
    pub fn launch(
        &mut self,
        cost: Cost,
        work: impl FnOnce(&SimHeap) -> Result<(), DeviceError> + Send + 'static,
    ) -> Result<(), DeviceError> {
        if let Some(effect) = self.injector.strikes(Point::Launch) {
            let error = match effect {
                Effect::Fails => DeviceError::new("a launch was refused, by an injected fault"),
                Effect::Loses => DeviceError::lost("the device was lost at a launch, by an injected fault"),
            };
            self.refused = Some(error.clone());
            return Err(error);
        }
        self.launches.push(Launch { model_ns: modelled_ns(self.speed, cost), kernel: Box::new(work) });
        Ok(())
    }

    /// What was put in; an error if anything was refused, whether or not the implementation took note.
    pub(super) fn into_launches(self) -> Result<Vec<Launch>, DeviceError> {
        self.refused.map_or(Ok(self.launches), Err)
    }
}

/// How long a kernel takes by the model.
fn modelled_ns(speed: Speed, cost: Cost) -> u64 {
    speed.latency_ns + seconds_ns(cost.flops, speed.flops_per_s).max(seconds_ns(cost.bytes, speed.bytes_per_s))
}

/// How long so much takes at this rate; no time, if the rate is zero. An amount that makes no sense takes no time.
pub(super) fn seconds_ns(amount: f64, per_s: f64) -> u64 {
    // A cast from a float ends at the integer's limits, and makes zero of what is not a number.
    if per_s > 0.0 { (amount / per_s * 1e9) as u64 } else { 0 }
}

impl Launch {
    /// Runs it.
    pub(super) fn run(self, heap: &Arc<Heap>, injector: &Injector) -> Result<(), DeviceError> {
        match injector.strikes(Point::Kernel) {
            Some(Effect::Fails) => return Err(DeviceError::new("a kernel failed, by an injected fault")),
            Some(Effect::Loses) => {
                return Err(DeviceError::lost("the device was lost in a kernel, by an injected fault"));
            }
            None => {}
        }
        let (window, kernel) = (SimHeap::new(heap.clone()), self.kernel);
        guarded(|| kernel(&window)).unwrap_or_else(|text| Err(DeviceError::new(format!("a kernel panicked: {text}"))))
    }
}

/// Runs foreign code; what it says in a panic comes back as the error.
fn guarded<R>(run: impl FnOnce() -> R) -> Result<R, String> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|panic| {
        let text = panic.downcast_ref::<&str>().copied();
        let text = text.or(panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no text").to_owned();
        drop_guarded(panic);
        text
    })
}

/// Drops something foreign. What panics in that is leaked: the threads of a machine go on.
pub(super) fn drop_guarded<T>(value: T) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(value))) {
        std::mem::forget(panic);
    }
}
