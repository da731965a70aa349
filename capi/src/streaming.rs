//! Runs memory-bound operations, which touch each element once, on several threads. Several cores together have more
//! memory bandwidth than one.

use crate::{
    abi::{MatMut, MatRef, Op, Scalar, VecMut, VecRef},
    engine::{EngineGuard, engine_for_stream},
    settings::settings,
};
use std::ops::Range;
use superscalar::TaskSpec;

/// The alignment of ranges in elements: a multiple of a cache line for every type.
const ALIGNMENT: usize = 16;
/// The number of ranges of the smallest operation that is parallelized. It bounds the bytes of a range from below,
/// since spawning a task has a cost.
const PARTS_AT_THRESHOLD: usize = 4;

/// The ranges of an operation, and the engine that computes them in parallel.
pub(crate) struct ParallelRanges {
    engine: EngineGuard,
    ranges: Vec<Range<usize>>,
}

impl ParallelRanges {
    /// Divides `len` elements into ranges. Returns `None` if the calling thread should compute all of them: the
    /// operation touches too few bytes, or the length gives only one range.
    pub(crate) fn of(len: usize, bytes: usize) -> Option<Self> {
        let least_bytes = (settings().stream_bytes / PARTS_AT_THRESHOLD).max(1);
        // With a threshold of 0, vectors of a few elements are divided too.
        let unit = ALIGNMENT.min(least_bytes);
        if len <= unit {
            return None;
        }
        let engine = engine_for_stream(bytes)?;
        let parts = (bytes / least_bytes).clamp(1, engine.runtime.workers());
        let each = len.div_ceil(parts).next_multiple_of(unit);
        let ranges: Vec<_> = (0..len).step_by(each).map(|start| start..len.min(start + each)).collect();
        (ranges.len() > 1).then_some(Self { engine, ranges })
    }

    /// Runs `body` on each range of `whole` in a task, and returns the results in order.
    pub(crate) fn map<W: SplitOff, R: Send + Sync + Default>(
        self,
        name: &'static str,
        mut whole: W,
        body: impl Fn(W) -> R + Send + Sync,
    ) -> Vec<R> {
        let mut parts = Vec::with_capacity(self.ranges.len());
        for range in self.ranges {
            let (part, rest) = whole.split_off(range.len());
            parts.push((Some(part), R::default()));
            whole = rest;
        }
        let body = &body;
        let outcome = self.engine.runtime.scope(|s| {
            for part in s.lend_chunks(&mut parts, 1) {
                s.spawn(TaskSpec::new(name), part.read_write(), move |part: &mut [(Option<W>, R)]| {
                    for (part, result) in part {
                        *result = part.take().map_or_else(R::default, body);
                    }
                });
            }
        });
        self.engine.report(name, outcome.map_err(superscalar::dla::Error::from));
        parts.into_iter().map(|(_, result)| result).collect()
    }
}

/// Runs `body` on each range of `whole` in parallel, or on the whole on the calling thread if there are no ranges.
pub(crate) fn compute<W: SplitOff>(
    ranges: Option<ParallelRanges>,
    name: &'static str,
    whole: W,
    body: impl Fn(W) + Send + Sync,
) {
    match ranges {
        None => body(whole),
        Some(ranges) => drop(ranges.map(name, whole, body)),
    }
}

/// Returns the cost of touching each element of a vector once, as the bytes of a contiguous vector with the same cost.
/// Each element loads its cache line. Elements that are a page or more apart cost more, since each needs an address
/// translation.
pub(crate) fn traffic<T>(n: usize, inc: isize) -> usize {
    const LINE: usize = 64;
    const PAGE: usize = 4096;
    let apart = inc.unsigned_abs().saturating_mul(size_of::<T>());
    n.saturating_mul(if apart < PAGE { apart.min(LINE) } else { 16 * LINE })
}

/// An operand that can be split into two.
pub(crate) trait SplitOff: Sized + Send + Sync {
    /// Returns the first `count` elements and the rest.
    fn split_off(self, count: usize) -> (Self, Self);
}

impl<T: Scalar> SplitOff for VecRef<'_, T> {
    fn split_off(self, count: usize) -> (Self, Self) {
        self.split_at(count)
    }
}

impl<T: Scalar> SplitOff for VecMut<'_, T> {
    fn split_off(self, count: usize) -> (Self, Self) {
        self.split_at(count)
    }
}

/// Splits between columns.
impl<T: Scalar> SplitOff for MatMut<'_, T> {
    fn split_off(self, count: usize) -> (Self, Self) {
        self.split_at_col(count)
    }
}

/// The operand op(A), which is split between its rows.
pub(crate) struct OpRows<'a, T>(pub(crate) Op, pub(crate) MatRef<'a, T>);

impl<T: Scalar> SplitOff for OpRows<'_, T> {
    fn split_off(self, count: usize) -> (Self, Self) {
        let Self(op, a) = self;
        let (first, rest) = if op == Op::None { a.split_at_row(count) } else { a.split_at_col(count) };
        (Self(op, first), Self(op, rest))
    }
}

impl<A: SplitOff, B: SplitOff> SplitOff for (A, B) {
    fn split_off(self, count: usize) -> (Self, Self) {
        let ((a, a_rest), (b, b_rest)) = (self.0.split_off(count), self.1.split_off(count));
        ((a, b), (a_rest, b_rest))
    }
}
