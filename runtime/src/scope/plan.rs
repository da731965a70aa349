//! Recording what was predicted for planned operations.

use super::Scope;
use crate::recording::Prediction;
use std::{panic::Location, time::Instant};

impl Scope<'_, '_> {
    /// Records what was predicted for an operation whose tasks were inserted since that time, so that a trace shows it
    /// beside what happened. Does nothing, and does not call `prediction`, if the runtime does not record its run.
    ///
    /// The operation's tasks are those that were inserted since then and have the program line of this call. So an
    /// operation is a function with `#[track_caller]`, whose tasks have the line of its caller.
    ///
    /// ```
    /// # extern crate superscalar_runtime as superscalar;
    /// use std::time::Instant;
    /// use superscalar::{Lent, Runtime, Scope, recording::Prediction};
    ///
    /// #[track_caller]
    /// fn double<'s>(s: &'s Scope<'s, '_>, x: &Lent<'s, f64>) {
    ///     let since = Instant::now();
    ///     s.spawn("double", x.read_write(), |x| *x *= 2.0);
    ///     s.record_plan(since, || Prediction { name: "double", time_ns: 100, ..Prediction::default() });
    /// }
    ///
    /// # fn main() -> Result<(), superscalar::Error> {
    /// let rt = Runtime::builder().workers(1).trace(true).build()?;
    /// let mut x = 1.0;
    /// rt.scope(|s| double(s, &s.lend(&mut x)))?;
    /// let recording = rt.take_recording().expect("tracing is on");
    /// assert_eq!(recording.plans[0].prediction.time_ns, 100);
    /// assert_eq!(recording.plans[0].site, recording.tasks[0].site);
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn record_plan(&self, since: Instant, prediction: impl FnOnce() -> Prediction) {
        let inserter = self.inserter();
        if let Some(recorder) = &inserter.shared.recorder {
            recorder.plan(inserter.seat, since, prediction(), Location::caller());
        }
    }
}
