//! Walking a matrix: the entries as stored, the entries with their mirror images, or every position once.

use crate::market::Market;
use crate::triangle::Packed;
use crate::types::{Entry, Field, Format, Position};

/// The stored entries of a [`Market`] in order; made by [`Market::entries`].
#[derive(Clone, Debug)]
pub struct Entries<'a> {
    market: &'a Market,
    packed: Packed,
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
            Format::Array => self.packed.next()?,
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
    /// The entries as stored, in order.
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
        Entries { market: self, packed: Packed::new(self.header().symmetry, self.shape()), k: 0 }
    }

    /// Calls `visit(i, j, re, im)` for every stored entry in order, and after each off the diagonal for its mirror image
    /// if the matrix has a symmetry. A position that the file repeats is visited as often: add, or use
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

    /// Calls `set(i, j, re, im)` for the whole matrix, once for each position that is stored or mirrored; all others
    /// are zero. A dense matrix that was zero is complete afterwards.
    ///
    /// Values of a position that the file repeats are summed in the file's order; in a pattern they count as 1 however
    /// many there are. Positions come in the file's order if that is sorted by columns or by rows, else by columns;
    /// mirror images follow their entries. Takes O(nnz) time and no memory when sorted, else O(nnz log nnz) and 8 bytes
    /// an entry.
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
        // Stable: repeated positions are summed in the file's order, so a sum does not depend on the sort.
        order.sort_by_key(|&k| (positions[k].j, positions[k].i));
        for repeated in order.chunk_by(|&a, &b| positions[a] == positions[b]) {
            self.with_mirror(positions[repeated[0]], self.sum(repeated), &mut set);
        }
    }

    /// Whether the order of the positions alone shows that each is there once.
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
        // From the first and not from zero, for 0 + -0 would lose a sign.
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
            // A real field has no imaginary part, not the negated zero of one.
            let im = if self.header().field == Field::Complex { im } else { 0.0 };
            visit(at.j, at.i, re, im);
        }
    }
}
