//! Iterates over a matrix: the stored entries, the entries with their mirror images, or each position once.

use crate::market::Market;
use crate::triangle::StoredPositions;
use crate::types::{Entry, Field, Format, Position};

/// An iterator over the stored entries of a [`Market`] in order, returned by [`Market::entries`].
#[derive(Clone, Debug)]
pub struct Entries<'a> {
    market: &'a Market,
    next_positions: StoredPositions,
    k: usize,
}

impl Iterator for Entries<'_> {
    type Item = Entry;

    fn next(&mut self) -> Option<Entry> {
        if self.k == self.market.nnz() {
            return None;
        }
        let Position { i, j } = match self.market.header().format {
            Format::Coordinate => self.market.positions()[self.k],
            Format::Array => self.next_positions.next()?,
        };
        let (re, im) = self.market.values().parts(self.k);
        self.k += 1;
        Some(Entry { i, j, re, im })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.market.nnz() - self.k;
        (left, Some(left))
    }
}

impl ExactSizeIterator for Entries<'_> {}

impl Market {
    /// Returns the stored entries in order.
    ///
    /// ```
    /// # use superscalar::dla::matrix_market as matrix_market;
    /// let text = "%%MatrixMarket matrix array real skew-symmetric\n2 2\n7\n";
    /// let stored: Vec<_> = matrix_market::read(text.as_bytes())?.entries().map(|e| (e.i, e.j, e.re)).collect();
    /// assert_eq!(stored, [(1, 0, 7.0)]);
    /// # Ok::<(), matrix_market::Error>(())
    /// ```
    #[must_use]
    pub fn entries(&self) -> Entries<'_> {
        Entries { market: self, next_positions: StoredPositions::new(self.header().symmetry, self.shape()), k: 0 }
    }

    /// Calls `visit(i, j, re, im)` for every stored entry in order. If the matrix has a symmetry, each off-diagonal
    /// entry is followed by its mirror image. A repeated position is visited each time: add the values, or use
    /// [`fill`](Self::fill).
    ///
    /// ```
    /// # use superscalar::dla::matrix_market as matrix_market;
    /// let text = "%%MatrixMarket matrix array real skew-symmetric\n2 2\n7\n";
    /// let mut seen = Vec::new();
    /// matrix_market::read(text.as_bytes())?.for_each_entry(|i, j, re, _im| seen.push((i, j, re)));
    /// assert_eq!(seen, [(1, 0, 7.0), (0, 1, -7.0)]);
    /// # Ok::<(), matrix_market::Error>(())
    /// ```
    pub fn for_each_entry(&self, mut visit: impl FnMut(usize, usize, f64, f64)) {
        for Entry { i, j, re, im } in self.entries() {
            self.with_mirror(Position { i, j }, (re, im), &mut visit);
        }
    }

    /// Calls `set(i, j, re, im)` once for each position that is stored or mirrored; all other elements are zero. A
    /// dense matrix of zeros is complete afterwards.
    ///
    /// The values of a repeated position are summed in the order of the file; in a pattern they count as 1. The order
    /// of the calls is that of the file if it is sorted by columns or by rows, and by columns otherwise. A mirror image
    /// follows its entry. Sorted entries take O(nnz) time and no memory, others O(nnz log nnz) time and 8 bytes each.
    ///
    /// ```
    /// # use superscalar::dla::matrix_market as matrix_market;
    /// let text = "%%MatrixMarket matrix coordinate complex hermitian\n2 2 3\n2 1 1 2\n1 1 5 0\n2 1 1 2\n";
    /// let mut seen = Vec::new();
    /// matrix_market::read(text.as_bytes())?.fill(|i, j, re, im| seen.push((i, j, re, im)));
    /// assert_eq!(seen, [(0, 0, 5.0, 0.0), (1, 0, 2.0, 4.0), (0, 1, 2.0, -4.0)]);
    /// # Ok::<(), matrix_market::Error>(())
    /// ```
    pub fn fill(&self, mut set: impl FnMut(usize, usize, f64, f64)) {
        if self.never_repeats() {
            return self.for_each_entry(set);
        }
        let positions = self.positions();
        let mut order: Vec<usize> = (0..positions.len()).collect();
        // The sort is stable, so repeated positions are summed in the order of the file.
        order.sort_by_key(|&k| (positions[k].j, positions[k].i));
        for repeated in order.chunk_by(|&a, &b| positions[a] == positions[b]) {
            self.with_mirror(positions[repeated[0]], self.sum(repeated), &mut set);
        }
    }

    /// Returns whether the positions are strictly sorted by columns or by rows, so that none repeats.
    fn never_repeats(&self) -> bool {
        let positions = self.positions();
        let ascends = |key: fn(&Position) -> (usize, usize)| positions.is_sorted_by(|a, b| key(a) < key(b));
        ascends(|at| (at.j, at.i)) || ascends(|at| (at.i, at.j))
    }

    fn sum(&self, entries: &[usize]) -> (f64, f64) {
        let first = self.values().parts(entries[0]);
        if self.header().field == Field::Pattern {
            return first;
        }
        // The sum does not start from zero, since 0 + -0 would lose the sign.
        entries[1..].iter().fold(first, |(re, im), &k| {
            let (more_re, more_im) = self.values().parts(k);
            (re + more_re, im + more_im)
        })
    }

    fn with_mirror(&self, at: Position, parts: (f64, f64), visit: &mut impl FnMut(usize, usize, f64, f64)) {
        visit(at.i, at.j, parts.0, parts.1);
        if at.i == at.j {
            return;
        }
        if let Some((re, im)) = self.header().symmetry.mirrored(parts) {
            // The mirrored imaginary part of a real matrix would be -0.
            let im = if self.header().field == Field::Complex { im } else { 0.0 };
            visit(at.j, at.i, re, im);
        }
    }
}
