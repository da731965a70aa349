//! [`Tracks`]: the streams of one queue.
//!
//! A task whose parts can run beside each other puts some of them aside, into a second stream, and both are in order for themselves. What
//! orders them is said by marks: a fork, behind which the second one goes on, and a join, behind which the first does.

use super::{
    context::Context,
    handles::{Blas, Solver},
    stream::{Kind, Mark, Stream, Urgency, wait_for},
};
use std::sync::Arc;
use superscalar_runtime::DeviceError;

/// A stream, and what is bound to it.
pub(super) struct Track {
    pub(super) stream: Arc<Stream>,
    pub(super) blas: Option<Blas>,
    pub(super) solver: Option<Solver>,
}

impl Track {
    fn new(stream: Stream) -> Self {
        Self { stream: Arc::new(stream), blas: None, solver: None }
    }
}

/// The second stream. Its marks are made with it: what stands there can always be waited for.
struct Aside {
    track: Track,
    /// In the queue's own stream, for this one.
    fork: Mark,
    /// In this one, for the queue's own.
    join: Mark,
}

impl Aside {
    fn new(context: &Arc<Context>, urgency: Urgency) -> Result<Self, DeviceError> {
        let mark = || Mark::new(context, Kind::Plain);
        Ok(Self { track: Track::new(Stream::new(context, urgency)?), fork: mark()?, join: mark()? })
    }
}

/// Makes a stream wait for all that stands in another by now. It takes note of where the mark is, so that can be recorded anew.
fn wait_at(mark: &Mark, stream: &Stream, other: &Stream) -> Result<(), DeviceError> {
    mark.record(other.raw())?;
    wait_for(stream.raw(), mark.raw())
}

/// See the module's head.
pub(super) struct Tracks {
    own: Track,
    /// Made when it is first needed.
    aside: Option<Aside>,
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
            Some(aside) if self.is_aside => &mut aside.track,
            _ => &mut self.own,
        }
    }

    /// Its stream.
    pub(super) fn stream(&self) -> &Arc<Stream> {
        match &self.aside {
            Some(aside) if self.is_aside => &aside.track.stream,
            _ => &self.own.stream,
        }
    }

    /// Work goes aside from now on; the first of it behind what stands in the own stream by now, such as what the task waits for.
    pub(super) fn aside(&mut self, context: &Arc<Context>) -> Result<(), DeviceError> {
        if self.aside.is_none() {
            self.aside = Some(Aside::new(context, self.own.stream.urgency())?);
        }
        if !self.is_forked {
            self.fork()?;
        }
        self.is_aside = true;
        Ok(())
    }

    /// What goes aside from now on waits for what stands in the own stream by now.
    pub(super) fn fork(&mut self) -> Result<(), DeviceError> {
        let Some(Aside { track, fork, .. }) = &self.aside else { return Ok(()) };
        // Also if that fails: nobody knows what stands there then.
        self.is_forked = true;
        wait_at(fork, &track.stream, &self.own.stream)
    }

    /// Work goes into the own stream again.
    pub(super) fn back(&mut self) {
        self.is_aside = false;
    }

    /// The same, and what goes there waits for all that was put aside.
    pub(super) fn join(&mut self) -> Result<(), DeviceError> {
        self.back();
        match &self.aside {
            Some(Aside { track, join, .. }) if std::mem::take(&mut self.is_forked) => {
                wait_at(join, &self.own.stream, &track.stream)
            }
            _ => Ok(()),
        }
    }
}
