//! [`DeviceClock`]: a GPU's clock, which counts from a mark in one of its streams.
//!
//! The driver tells the time between two timed marks, as milliseconds in single precision: exact for short times, but not for those since the
//! program's start. So a queue counts from the end of one piece of work to that of the next (`line`), and only the first of each is timed from the
//! mark that was made when the device was opened, which all queues of the device have in common.

use super::{
    context::Context,
    stream::{Kind, Mark, Stream, is_over},
};
use crate::clock::{Clock, Reading};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use superscalar_runtime::DeviceError;

/// So long it waits for the mark, for a first comparison with the host's clock. If that is not enough, the first work is what is compared.
const ORIGIN_WAIT_MAX: Duration = Duration::from_millis(1);

#[derive(Debug)]
pub(super) struct DeviceClock {
    origin: Mark,
    clock: Clock,
}

impl DeviceClock {
    /// It begins now, in this stream.
    pub(super) fn start(context: &Arc<Context>, stream: &Stream) -> Result<Self, DeviceError> {
        let (origin, clock) = (Mark::new(context, Kind::Timed)?, Clock::default());
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

    /// The device's time of a mark that has ended.
    pub(super) fn since_origin_ns(&self, mark: &Mark) -> Option<f64> {
        mark.since_ns(&self.origin)
    }

    /// The host's clock.
    pub(super) fn now_ns(&self) -> u64 {
        self.clock.now_ns()
    }

    /// Work ended then by the device's clock, and was noticed then by the host's.
    pub(super) fn noticed(&self, ended_ns: f64, noticed_ns: u64) -> DeviceReading {
        DeviceReading(self.clock.noticed(ended_ns as u64, noticed_ns))
    }
}

/// How the device's clock and the host's stand to each other.
#[derive(Clone, Copy, Debug)]
pub(super) struct DeviceReading(Reading);

impl DeviceReading {
    /// How long ago that was by the device's clock.
    pub(super) fn ago_ns(self, ended_ns: f64) -> u64 {
        self.0.ago_ns(ended_ns as u64)
    }
}
