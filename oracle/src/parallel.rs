//! Loops over large matrices, on all processors. Otherwise, making and checking operands for a fast device would take
//! minutes.

use std::{
    num::NonZero,
    ops::{AddAssign, Range},
    thread,
};

/// Up to this number of elements a loop takes some milliseconds and stays on its thread.
const ALONE: usize = 1 << 20;

/// Divides `0..len` into ranges for a loop over this number of elements: one range, or several per processor.
pub fn ranges(len: usize, elements: usize) -> Vec<Range<usize>> {
    // Querying the processors takes longer than a short loop. Two ranges per processor balance the load of triangles.
    let processors = || thread::available_parallelism().map_or(1, NonZero::get);
    let count = if elements <= ALONE { 1 } else { 2 * processors() };
    let step = len.div_ceil(count).max(1);
    (0..len).step_by(step).map(|start| start..len.min(start + step)).collect()
}

/// Maps each item by `work` and returns the results in order. Several items are mapped on one thread each.
pub fn map<I: Send, R: Send>(items: Vec<I>, work: impl Fn(I) -> R + Sync) -> Vec<R> {
    if items.len() <= 1 {
        return items.into_iter().map(work).collect();
    }
    let work = &work;
    thread::scope(|s| {
        let threads: Vec<_> = items.into_iter().map(|item| s.spawn(move || work(item))).collect();
        let joined = threads.into_iter().map(thread::ScopedJoinHandle::join);
        joined.map(|result| result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    })
}

/// Sums the vectors that `part` computes for ranges of `0..len`, for a loop over this number of elements.
pub fn sum<T: Copy + AddAssign + Send + Sync>(
    (len, elements): (usize, usize),
    zero: Vec<T>,
    part: impl Fn(Range<usize>, &mut [T]) + Sync,
) -> Vec<T> {
    let parts = map(ranges(len, elements), |range| {
        let mut y = zero.clone();
        part(range, &mut y);
        y
    });
    let add = |mut sum: Vec<T>, part: Vec<T>| {
        sum.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
        sum
    };
    parts.into_iter().reduce(add).unwrap_or(zero)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_cover_everything_in_order() {
        for (len, elements) in [(0, 0), (5, 5), (5, ALONE + 1), (1000, ALONE + 1)] {
            let covered: Vec<usize> = map(ranges(len, elements), |range| range.collect::<Vec<_>>()).concat();
            assert_eq!(covered, (0..len).collect::<Vec<_>>());
        }
        assert_eq!(ranges(1000, ALONE).len(), 1);
        assert!(ranges(1000, ALONE + 1).len() > 1);
        let counts = sum((1000, ALONE + 1), vec![0; 10], |range, y| range.for_each(|at| y[at % 10] += 1));
        assert_eq!(counts, [100; 10]);
    }
}
