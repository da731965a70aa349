//! [`TaskStreams`]: the streams that the tasks of one queue use.
//!
//! A task whose parts can run concurrently puts some of them into a second stream. Each stream is in order. Marks order
//! them with respect to each other: a fork, for which the second stream waits, and a join, for which the first one
//! waits.

use super::{
    context::Context,
    handles::{Blas, Solver},
    stream::{Mark, Stream, Timing, Urgency, wait_for},
};
use std::sync::Arc;
use superscalar_runtime::DeviceError;

/// A stream and the handles bound to it.
pub(super) struct BoundStream {
    pub(super) stream: Arc<Stream>,
    pub(super) blas: Option<Blas>,
    pub(super) solver: Option<Solver>,
}

impl BoundStream {
    fn new(stream: Stream) -> Self {
        Self { stream: Arc::new(stream), blas: None, solver: None }
    }
}

/// The second stream. Its marks are created with it, so that waiting for its work cannot fail later for lack of a mark.
struct SecondStream {
    bound: BoundStream,
    /// Recorded in the queue's own stream; the second stream waits for it.
    fork: Mark,
    /// Recorded in the second stream; the queue's own stream waits for it.
    join: Mark,
}

impl SecondStream {
    fn new(context: &Arc<Context>, urgency: Urgency) -> Result<Self, DeviceError> {
        let mark = || Mark::new(context, Timing::Untimed);
        Ok(Self { bound: BoundStream::new(Stream::new(context, urgency)?), fork: mark()?, join: mark()? })
    }
}

/// Makes a stream wait for everything that is in another one now. The wait refers to this record of the mark, so the
/// mark can be recorded again.
fn wait_at(mark: &Mark, stream: &Stream, other: &Stream) -> Result<(), DeviceError> {
    mark.record(other.raw())?;
    wait_for(stream.raw(), mark.raw())
}

/// The queue's own stream, the second one, and which of them work goes into.
pub(super) struct TaskStreams {
    own: BoundStream,
    /// Created when it is first needed.
    second: Option<SecondStream>,
    is_second: bool,
    /// Whether the second stream may contain work that the queue's own stream does not wait for yet.
    is_forked: bool,
}

impl TaskStreams {
    pub(super) fn new(stream: Stream) -> Self {
        Self { own: BoundStream::new(stream), second: None, is_second: false, is_forked: false }
    }

    /// Returns the stream that work goes into now, with its handles.
    pub(super) fn current(&mut self) -> &mut BoundStream {
        match &mut self.second {
            Some(second) if self.is_second => &mut second.bound,
            _ => &mut self.own,
        }
    }

    /// Returns the stream that work goes into now.
    pub(super) fn stream(&self) -> &Arc<Stream> {
        match &self.second {
            Some(second) if self.is_second => &second.bound.stream,
            _ => &self.own.stream,
        }
    }

    /// Directs work into the second stream. Its first work waits for what is in the own stream now, such as the events
    /// that the task waits for.
    pub(super) fn aside(&mut self, context: &Arc<Context>) -> Result<(), DeviceError> {
        if self.second.is_none() {
            self.second = Some(SecondStream::new(context, self.own.stream.urgency())?);
        }
        if !self.is_forked {
            self.fork()?;
        }
        self.is_second = true;
        Ok(())
    }

    /// Makes later work in the second stream wait for what is in the own stream now.
    pub(super) fn fork(&mut self) -> Result<(), DeviceError> {
        let Some(SecondStream { bound, fork, .. }) = &self.second else { return Ok(()) };
        // Set even if the call fails, because then the stream's content is unknown.
        self.is_forked = true;
        wait_at(fork, &bound.stream, &self.own.stream)
    }

    /// Directs work into the own stream again.
    pub(super) fn back(&mut self) {
        self.is_second = false;
    }

    /// Like [`back`](Self::back), and makes later work in the own stream wait for the second stream.
    pub(super) fn join(&mut self) -> Result<(), DeviceError> {
        self.back();
        match &self.second {
            Some(SecondStream { bound, join, .. }) if std::mem::take(&mut self.is_forked) => {
                wait_at(join, &self.own.stream, &bound.stream)
            }
            _ => Ok(()),
        }
    }
}
