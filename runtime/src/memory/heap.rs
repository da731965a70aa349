//! A heap divided by offsets: first fit, split on the way out, coalesced on the way back (BLASX paper, section IV.E).
//!
//! It divides a device's memory without touching it: no driver is asked for memory while tasks run.

#![forbid(unsafe_code)]

use std::collections::BTreeMap;

/// A part of a heap that was given away. Not copied, so that it comes back once.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    offset: usize,
    bytes: usize,
}

impl Segment {
    /// Bytes from the heap's start.
    pub(crate) fn offset(&self) -> usize {
        self.offset
    }

    /// Its length, a multiple of the heap's alignment.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
}

/// The free parts of a heap.
#[derive(Debug)]
pub(crate) struct Heap {
    bytes: usize,
    align: usize,
    used: usize,
    /// Offset and length; no two touch.
    free: BTreeMap<usize, usize>,
}

impl Heap {
    /// A heap of so many bytes, all free, whose segments begin at multiples of `align`, a power of two.
    pub(crate) fn new(bytes: usize, align: usize) -> Self {
        let bytes = bytes & !(align - 1);
        let free = if bytes > 0 { BTreeMap::from([(0, bytes)]) } else { BTreeMap::new() };
        Self { bytes, align, used: 0, free }
    }

    /// Bytes in all.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Bytes given away.
    pub(crate) fn used(&self) -> usize {
        self.used
    }

    /// What a request takes: at least one unit, so that every segment has a place of its own.
    pub(crate) fn rounded(&self, bytes: usize) -> usize {
        bytes.max(1).checked_next_multiple_of(self.align).unwrap_or(usize::MAX)
    }

    /// The first part that is large enough; none if there is none.
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

    /// Takes a segment back, and joins it with its free neighbours.
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
    fn nothing_fits_an_empty_heap() {
        assert_eq!(Heap::new(63, 64).take(1), None);
        assert_eq!(Heap::new(64, 64).take(usize::MAX), None);
    }

    #[test]
    fn a_gap_is_filled_first_and_neighbours_join() {
        let mut heap = Heap::new(1024, 64);
        let segments: Vec<_> = (0..4).filter_map(|_| heap.take(256)).collect();
        assert_eq!((segments.len(), heap.take(1)), (4, None));
        let mut segments = segments.into_iter();
        let (a, b, c, d) = (segments.next(), segments.next(), segments.next(), segments.next());
        [b, d].into_iter().flatten().for_each(|segment| heap.give(segment));
        assert_eq!(heap.take(300), None, "two gaps of 256 that do not touch");
        c.into_iter().for_each(|segment| heap.give(segment));
        assert_eq!(heap.take(768).map(|segment| segment.offset()), Some(256));
        a.into_iter().for_each(|segment| heap.give(segment));
        assert_eq!(heap.used(), 768);
    }

    proptest! {
        /// Whatever is taken and given back in any order: segments never overlap, and in the end all is one piece again.
        #[test]
        fn segments_are_disjoint_and_all_comes_back(steps in proptest::collection::vec((any::<bool>(), 0..700_usize), 1..300)) {
            let (mut heap, mut held) = (Heap::new(1 << 12, 64), Vec::new());
            for (takes, number) in steps {
                if takes {
                    held.extend(heap.take(number));
                } else if !held.is_empty() {
                    heap.give(held.swap_remove(number % held.len()));
                }
                let mut places: Vec<_> = held.iter().map(|one: &Segment| (one.offset(), one.offset() + one.bytes())).collect();
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
