//! [`DeviceClock`]: the time of a GPU, counted from a mark in one of its streams.
//!
//! The driver reports the time between two timed marks in milliseconds, in single precision. That is exact for short
//! times but not for the time since the program's start. Each queue therefore adds up the times from the end of one
//! piece of work to the end of the next (`queue_state`). Only the first piece of work in a queue is timed from the mark
//! that was recorded when the device was opened, which all queues of the device share.

use super::{
    context::Context,
    stream::{Mark, Stream, Timing, is_over},
};
use crate::clock::{Clock, Reading};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use superscalar_runtime::DeviceError;

/// The longest wait for the first mark, which gives a first comparison with the host's clock. If it is too short, the
/// first piece of work gives the comparison.
const ORIGIN_WAIT_MAX: Duration = Duration::from_millis(1);

#[derive(Debug)]
pub(super) struct DeviceClock {
    origin: Mark,
    clock: Clock,
}

impl DeviceClock {
    /// Starts the clock in this stream.
    pub(super) fn start(context: &Arc<Context>, stream: &Stream) -> Result<Self, DeviceError> {
        let (origin, clock) = (Mark::new(context, Timing::Timed)?, Clock::default());
        origin.record(stream.raw())?;
        let begun = Instant::now();
        while begun.elapsed() < ORIGIN_WAIT_MAX {
            if is_over(origin.raw())? {
                clock.noticed(0, clock.now_ns());
                break;
            }
        }
        Ok(Self { origin, clock })
    }

    /// Returns the device time at which this mark was reached.
    pub(super) fn since_origin_ns(&self, mark: &Mark) -> Option<f64> {
        mark.since_ns(&self.origin)
    }

    /// Returns the time of the host's clock.
    pub(super) fn now_ns(&self) -> u64 {
        self.clock.now_ns()
    }

    /// Records an end at `ended_ns` (device time) that was noticed at `noticed_ns` (host time).
    pub(super) fn noticed(&self, ended_ns: f64, noticed_ns: u64) -> DeviceReading {
        DeviceReading(self.clock.noticed(ended_ns as u64, noticed_ns))
    }
}

/// The relation between the device's clock and the host's.
#[derive(Clone, Copy, Debug)]
pub(super) struct DeviceReading(Reading);

impl DeviceReading {
    /// Returns how long ago `ended_ns` (device time) was.
    pub(super) fn ago_ns(self, ended_ns: f64) -> u64 {
        self.0.ago_ns(ended_ns as u64)
    }
}
