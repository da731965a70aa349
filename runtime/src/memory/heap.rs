//! First-fit allocation of offsets in a heap: free parts are split on allocation and coalesced on release (BLASX paper,
//! section IV.E).
//!
//! Only offsets are managed here. The memory itself is not touched, and drivers do not allocate while tasks run.

#![forbid(unsafe_code)]

use std::collections::BTreeMap;

/// An allocated part of a heap. It is not `Clone`, so it is released at most once.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    offset: usize,
    bytes: usize,
}

impl Segment {
    /// Returns the offset from the heap's start, in bytes.
    pub(crate) fn offset(&self) -> usize {
        self.offset
    }

    /// Returns the length in bytes, a multiple of the heap's alignment.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
}

/// The allocator of a heap.
#[derive(Debug)]
pub(crate) struct Heap {
    bytes: usize,
    align: usize,
    used: usize,
    /// Free parts: offset to length. Adjacent parts are always merged.
    free: BTreeMap<usize, usize>,
}

impl Heap {
    /// Creates a heap of `bytes` bytes, all free. Segments begin at multiples of `align`, a power of two.
    pub(crate) fn new(bytes: usize, align: usize) -> Self {
        let bytes = bytes & !(align - 1);
        let free = if bytes > 0 { BTreeMap::from([(0, bytes)]) } else { BTreeMap::new() };
        Self { bytes, align, used: 0, free }
    }

    /// Returns the heap's size in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the number of allocated bytes.
    pub(crate) fn used(&self) -> usize {
        self.used
    }

    /// Rounds a request up to a multiple of the alignment. The minimum is one unit, so that every segment has a
    /// distinct offset.
    pub(crate) fn rounded(&self, bytes: usize) -> usize {
        bytes.max(1).checked_next_multiple_of(self.align).unwrap_or(usize::MAX)
    }

    /// Allocates the first free part that is large enough, or returns `None`.
    pub(crate) fn take(&mut self, bytes: usize) -> Option<Segment> {
        let bytes = self.rounded(bytes);
        let (&offset, &len) = self.free.iter().find(|&(_, &len)| len >= bytes)?;
        self.free.remove(&offset);
        if len > bytes {
            self.free.insert(offset + bytes, len - bytes);
        }
        self.used += bytes;
        Some(Segment { offset, bytes })
    }

    /// Releases a segment, and merges it with its free neighbours.
    pub(crate) fn give(&mut self, segment: Segment) {
        let Segment { mut offset, mut bytes } = segment;
        self.used -= bytes;
        if let Some((&before, &len)) = self.free.range(..offset).next_back()
            && before + len == offset
        {
            self.free.remove(&before);
            (offset, bytes) = (before, bytes + len);
        }
        if let Some(len) = self.free.remove(&(offset + bytes)) {
            bytes += len;
        }
        self.free.insert(offset, bytes);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn empty_heap_has_no_room() {
        assert_eq!(Heap::new(63, 64).take(1), None);
        assert_eq!(Heap::new(64, 64).take(usize::MAX), None);
    }

    #[test]
    fn gaps_are_reused_and_joined() {
        let mut heap = Heap::new(1024, 64);
        let segments: Vec<_> = (0..4).filter_map(|_| heap.take(256)).collect();
        assert_eq!((segments.len(), heap.take(1)), (4, None));
        let mut segments = segments.into_iter();
        let (a, b, c, d) = (segments.next(), segments.next(), segments.next(), segments.next());
        [b, d].into_iter().flatten().for_each(|segment| heap.give(segment));
        assert_eq!(heap.take(300), None, "two gaps of 256 bytes are not adjacent");
        c.into_iter().for_each(|segment| heap.give(segment));
        assert_eq!(heap.take(768).map(|segment| segment.offset()), Some(256));
        a.into_iter().for_each(|segment| heap.give(segment));
        assert_eq!(heap.used(), 768);
    }

    proptest! {
        /// Random sequences of allocations and releases: segments never overlap, and at the end the heap is one free
        /// part.
        #[test]
        fn segments_are_disjoint_and_released(
            steps in proptest::collection::vec((any::<bool>(), 0..700_usize), 1..300)
        ) {
            let (mut heap, mut held) = (Heap::new(1 << 12, 64), Vec::new());
            for (takes, number) in steps {
                if takes {
                    held.extend(heap.take(number));
                } else if !held.is_empty() {
                    heap.give(held.swap_remove(number % held.len()));
                }
                let range = |one: &Segment| (one.offset(), one.offset() + one.bytes());
                let mut places: Vec<_> = held.iter().map(range).collect();
                places.sort_unstable();
                prop_assert!(places.windows(2).all(|pair| pair[0].1 <= pair[1].0));
                prop_assert!(places.last().is_none_or(|last| last.1 <= 1 << 12));
                prop_assert_eq!(heap.used(), held.iter().map(Segment::bytes).sum::<usize>());
            }
            held.drain(..).for_each(|segment| heap.give(segment));
            prop_assert_eq!(heap.take(1 << 12).map(|all| all.offset()), Some(0));
        }
    }
}
