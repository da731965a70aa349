//! The host's `tracing` spans, captured in memory through tracing-chrome.
//!
//! Task bodies and the runtime's hot path have a recorder of their own. Other code (a driver routine, reading a file, a
//! user's own spans) is measured with `tracing`. [`HostSpans::layer`] creates the layer, the user adds it to any
//! subscriber, and each [`HostSpans::take`] returns what was captured since the last call. Nothing global is installed
//! here.
//!
//! Two properties of tracing-chrome 0.7.2 determine the design. First, a thread that has used a layer keeps that
//! layer's channel in a thread-local, so a second layer would miss its spans. Hence there is one layer per process, and
//! captures are cut from its stream. Second, its writer thread panics on an output error. Hence the output never fails;
//! it drops and counts what exceeds a limit.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Instant;

use tracing::Subscriber;
use tracing_chrome::{ChromeLayer, ChromeLayerBuilder, FlushGuard, TraceStyle};
use tracing_subscriber::registry::LookupSpan;

use super::HostCapture;
use super::host_events::HostThreads;

/// The maximum size of one capture, as tracing-chrome's text: about a million spans.
const CAPTURE_BYTES_MAX: usize = 256 << 20;

/// The error of capturing the host's spans.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct HostSpansError(#[from] Repr);

#[derive(Debug, thiserror::Error)]
enum Repr {
    #[error(
        "this process already has a host-span layer; take several captures from it, because \
         tracing-chrome keeps its channel in thread-locals and a second layer would lose events"
    )]
    SecondLayer,
    #[error("the captured host events are not in tracing-chrome's format: {0}")]
    Events(String),
}

/// Whether this process has created its layer.
static LAYER_MADE: AtomicBool = AtomicBool::new(false);

/// The receiving end of a layer that captures the host's spans and events.
///
/// Dropping it ends the capture. The layer may stay installed; then each span costs a failed send.
///
/// ```
/// # extern crate superscalar_runtime as superscalar;
/// use superscalar::recording::{ChromeTrace, HostSpans, Recording};
/// use std::time::Instant;
/// use tracing_subscriber::prelude::*;
///
/// let (layer, mut host) = HostSpans::layer()?;
/// let subscriber = tracing_subscriber::registry().with(layer);
/// let epoch = Instant::now();
/// tracing::subscriber::with_default(subscriber, || {
///     let _factorize = tracing::info_span!("factorize", n = 4096).entered();
/// });
/// let capture = host.take()?;
/// let mut json = Vec::new();
/// let recording = Recording::default();
/// let written = ChromeTrace::new(&recording).host_spans(&capture, epoch).write(&mut json)?;
/// assert_eq!(written.host_events, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct HostSpans {
    guard: FlushGuard,
    started: Instant,
    pieces: Receiver<Piece>,
    piece_out: Sender<Piece>,
    threads: HostThreads,
}

impl HostSpans {
    /// Creates the only layer for host spans of this process. The caller adds it to a subscriber.
    ///
    /// Spans are recorded with their fields and source lines, each on the thread that enters it.
    ///
    /// # Errors
    /// If this process has created its layer before.
    pub fn layer<S>() -> Result<(ChromeLayer<S>, Self), HostSpansError>
    where
        S: Subscriber + for<'span> LookupSpan<'span> + Send + Sync,
    {
        if LAYER_MADE.swap(true, Ordering::Relaxed) {
            return Err(Repr::SecondLayer.into());
        }
        let (piece_out, pieces) = channel();
        let (layer, guard) = ChromeLayerBuilder::new()
            .writer(Sink::new(piece_out.clone()))
            .trace_style(TraceStyle::Threaded)
            .include_args(true)
            .include_locations(true)
            .build();
        // The layer reads its own clock as the last step of `build`, well under a microsecond ago.
        let started = Instant::now();
        let host = Self { guard, started, pieces, piece_out, threads: HostThreads::default() };
        Ok((layer, host))
    }

    /// Returns what was captured since the layer was created or since the last `take`.
    ///
    /// A span that is still open is cut: this capture has its first part, marked `"open": true`, and the next one
    /// continues it. Waits for the writer thread to catch up.
    ///
    /// # Errors
    /// If the captured text cannot be parsed, which would mean a change of tracing-chrome's format.
    pub fn take(&mut self) -> Result<HostCapture, HostSpansError> {
        let until_ns = u64::try_from(self.started.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.guard.start_new(Some(Box::new(Sink::new(self.piece_out.clone()))));
        // Every sink sends exactly once, when it is dropped: by the writer thread when it switches to the next sink, or
        // by the failed send above if that thread is gone. So this call returns.
        let piece = self.pieces.recv().unwrap_or_default();
        let events = self.threads.read(&piece.text, until_ns).map_err(Repr::Events)?;
        Ok(HostCapture { started: self.started, threads: self.threads.names(), events, dropped: piece.dropped })
    }
}

impl std::fmt::Debug for HostSpans {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("HostSpans").field("started", &self.started).finish_non_exhaustive()
    }
}

/// The data of one sink.
#[derive(Default)]
struct Piece {
    text: Vec<u8>,
    dropped: u64,
}

/// An output that never fails. It keeps text up to a limit, counts further lines, and sends the result when it is
/// dropped.
struct Sink {
    piece: Piece,
    done: Sender<Piece>,
}

impl Sink {
    fn new(done: Sender<Piece>) -> Self {
        let piece = Piece::default();
        Self { piece, done }
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let piece = &mut self.piece;
        if piece.dropped == 0 && piece.text.len() + bytes.len() <= CAPTURE_BYTES_MAX {
            piece.text.extend_from_slice(bytes);
            return Ok(bytes.len());
        }
        if piece.dropped == 0 {
            // The kept text ends with a whole line.
            let end = piece.text.iter().rposition(|&byte| byte == b'\n');
            piece.text.truncate(end.map_or(0, |at| at + 1));
        }
        let lines = bytes.iter().filter(|&&byte| byte == b'\n').count();
        piece.dropped += lines.max(1) as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Sink {
    fn drop(&mut self) {
        // If the user has dropped the receiver, nobody needs the text.
        let _ = self.done.send(std::mem::take(&mut self.piece));
    }
}

#[cfg(test)]
mod tests {
    use super::{CAPTURE_BYTES_MAX, Piece, Sink};
    use std::io::Write;
    use std::sync::mpsc::channel;

    #[test]
    fn full_sink_keeps_whole_lines() -> std::io::Result<()> {
        let (done, pieces) = channel::<Piece>();
        let mut sink = Sink::new(done);
        let line = {
            let mut line = vec![b'x'; (1 << 20) - 1];
            line.push(b'\n');
            line
        };
        for _ in 0..CAPTURE_BYTES_MAX / line.len() - 1 {
            sink.write_all(&line)?;
        }
        sink.write_all(b"half a li")?;
        sink.write_all(&line)?;
        sink.write_all(b"one\ntwo\n")?;
        drop(sink);
        let piece = pieces.recv().unwrap_or_default();
        assert_eq!(piece.dropped, 3);
        assert_eq!(piece.text.len(), CAPTURE_BYTES_MAX - line.len());
        assert_eq!(piece.text.last(), Some(&b'\n'));
        Ok(())
    }
}
