//! Vectors and matrices of which each element is touched once, by several threads. Memory is the limit, and several
//! cores get more of it than one.

use crate::{
    abi::{MatMut, MatRef, Op, Scalar, VecMut, VecRef},
    engine::{Call, for_stream},
    settings::settings,
};
use std::ops::Range;
use superscalar::TaskSpec;

/// A part begins where a cache line of any type does, if the whole does.
const ALIGNMENT: usize = 16;
/// So many parts are worth the least work that is handed out, if there are as many threads. To hand out a part takes a
/// microsecond or two.
const LEAST_PARTS: usize = 4;

/// The parts of a length, and who computes them.
pub(crate) struct Parts {
    call: Call,
    ranges: Vec<Range<usize>>,
}

impl Parts {
    /// None if the calling thread computes all: where fewer bytes are touched than it is worth while for, or the length
    /// has one part.
    pub(crate) fn of(len: usize, bytes: usize) -> Option<Self> {
        let least_bytes = (settings().stream_bytes / LEAST_PARTS).max(1);
        // Where everything is to be shared out, vectors of a few elements are, too.
        let unit = ALIGNMENT.min(least_bytes);
        if len <= unit {
            return None;
        }
        let call = for_stream(bytes)?;
        let parts = (bytes / least_bytes).clamp(1, call.runtime.workers());
        let each = len.div_ceil(parts).next_multiple_of(unit);
        let ranges: Vec<_> = (0..len).step_by(each).map(|start| start..len.min(start + each)).collect();
        (ranges.len() > 1).then_some(Self { call, ranges })
    }

    /// What `body` makes of each part, in order.
    pub(crate) fn each<W: Cut, R: Send + Sync + Default>(
        self,
        name: &'static str,
        mut whole: W,
        body: impl Fn(W) -> R + Send + Sync,
    ) -> Vec<R> {
        let mut parts = Vec::with_capacity(self.ranges.len());
        for range in self.ranges {
            let (part, rest) = whole.cut(range.len());
            parts.push((Some(part), R::default()));
            whole = rest;
        }
        let body = &body;
        let outcome = self.call.runtime.scope(|s| {
            for part in s.lend_chunks(&mut parts, 1) {
                s.spawn(TaskSpec::new(name), part.read_write(), move |part: &mut [(Option<W>, R)]| {
                    for (part, result) in part {
                        *result = part.take().map_or_else(R::default, body);
                    }
                });
            }
        });
        self.call.report(name, outcome.map_err(superscalar::dla::Error::from));
        parts.into_iter().map(|(_, result)| result).collect()
    }
}

/// Has `body` compute each of the parts, or if there are none the whole on the calling thread.
pub(crate) fn compute<W: Cut>(parts: Option<Parts>, name: &'static str, whole: W, body: impl Fn(W) + Send + Sync) {
    match parts {
        None => body(whole),
        Some(parts) => drop(parts.each(name, whole, body)),
    }
}

/// What it takes to touch each element of a vector once, as bytes of a vector without gaps. An element fetches its cache
/// line. Elements that are pages apart share no part of any cache, and each needs a look-up of its page.
pub(crate) fn traffic<T>(n: usize, inc: isize) -> usize {
    const LINE: usize = 64;
    const PAGE: usize = 4096;
    let apart = inc.unsigned_abs().saturating_mul(size_of::<T>());
    n.saturating_mul(if apart < PAGE { apart.min(LINE) } else { 16 * LINE })
}

/// What can be cut in two.
pub(crate) trait Cut: Sized + Send + Sync {
    /// The first elements, so many of them, and the rest.
    fn cut(self, count: usize) -> (Self, Self);
}

impl<T: Scalar> Cut for VecRef<'_, T> {
    fn cut(self, count: usize) -> (Self, Self) {
        self.split_at(count)
    }
}

impl<T: Scalar> Cut for VecMut<'_, T> {
    fn cut(self, count: usize) -> (Self, Self) {
        self.split_at(count)
    }
}

/// Between columns.
impl<T: Scalar> Cut for MatMut<'_, T> {
    fn cut(self, count: usize) -> (Self, Self) {
        self.split_at_col(count)
    }
}

/// op(A), between rows.
pub(crate) struct Rows<'a, T>(pub(crate) Op, pub(crate) MatRef<'a, T>);

impl<T: Scalar> Cut for Rows<'_, T> {
    fn cut(self, count: usize) -> (Self, Self) {
        let Self(op, a) = self;
        let (first, rest) = if op == Op::None { a.split_at_row(count) } else { a.split_at_col(count) };
        (Self(op, first), Self(op, rest))
    }
}

impl<A: Cut, B: Cut> Cut for (A, B) {
    fn cut(self, count: usize) -> (Self, Self) {
        let ((a, a_rest), (b, b_rest)) = (self.0.cut(count), self.1.cut(count));
        ((a, b), (a_rest, b_rest))
    }
}
