//! [`Tracks`]: the streams of one queue.
//!
//! A task whose parts can run beside each other puts some of them aside, into a second stream, and both are in order for themselves. What
//! orders them is said by marks: a fork, behind which the second one goes on, and a join, behind which the first does.

use super::{
    context::Context,
    handles::{Blas, Solver},
    stream::{Kind, Mark, Stream, wait_for},
};
use std::sync::Arc;
use superscalar_runtime::DeviceError;

/// A stream, and what is bound to it.
pub(super) struct Track {
    pub(super) stream: Arc<Stream>,
    pub(super) blas: Option<Blas>,
    pub(super) solver: Option<Solver>,
    /// Where the queue's other stream waits for this one, as it was recorded last.
    mark: Option<Mark>,
}

impl Track {
    fn new(stream: Stream) -> Self {
        Self { stream: Arc::new(stream), blas: None, solver: None, mark: None }
    }

    /// Makes the other stream wait for all that stands in this one by now.
    fn await_by(&mut self, other: &Self, context: &Arc<Context>) -> Result<(), DeviceError> {
        let mark = match self.mark.take() {
            Some(mark) => mark,
            None => Mark::new(context, Kind::Plain)?,
        };
        // A stream that waits has taken note of where the mark was.
        let mark = self.mark.insert(mark);
        mark.record(self.stream.raw())?;
        wait_for(other.stream.raw(), mark.raw())
    }
}

/// See the module's head.
pub(super) struct Tracks {
    own: Track,
    /// Made when it is first needed.
    aside: Option<Track>,
    is_aside: bool,
    /// Something may stand aside that the queue's own stream does not wait for yet.
    is_forked: bool,
}

impl Tracks {
    pub(super) fn new(stream: Stream) -> Self {
        Self { own: Track::new(stream), aside: None, is_aside: false, is_forked: false }
    }

    /// Where work goes now.
    pub(super) fn now(&mut self) -> &mut Track {
        match &mut self.aside {
            Some(aside) if self.is_aside => aside,
            _ => &mut self.own,
        }
    }

    /// Its stream.
    pub(super) fn stream(&self) -> &Arc<Stream> {
        match &self.aside {
            Some(aside) if self.is_aside => &aside.stream,
            _ => &self.own.stream,
        }
    }

    /// Work goes aside from now on; the first of it behind what stands in the own stream by now, such as what the task waits for.
    pub(super) fn aside(&mut self, context: &Arc<Context>) -> Result<(), DeviceError> {
        if self.aside.is_none() {
            self.aside = Some(Track::new(Stream::new(context, self.own.stream.urgency())?));
        }
        if !self.is_forked {
            self.fork(context)?;
        }
        self.is_aside = true;
        Ok(())
    }

    /// What goes aside from now on waits for what stands in the own stream by now.
    pub(super) fn fork(&mut self, context: &Arc<Context>) -> Result<(), DeviceError> {
        let Some(aside) = &self.aside else { return Ok(()) };
        // Also if that fails: nobody knows what stands there then.
        self.is_forked = true;
        self.own.await_by(aside, context)
    }

    /// Work goes into the own stream again.
    pub(super) fn back(&mut self) {
        self.is_aside = false;
    }

    /// The same, and what goes there waits for all that was put aside.
    pub(super) fn join(&mut self, context: &Arc<Context>) -> Result<(), DeviceError> {
        self.back();
        match &mut self.aside {
            Some(aside) if self.is_forked => aside.await_by(&self.own, context)?,
            _ => {}
        }
        self.is_forked = false;
        Ok(())
    }
}
