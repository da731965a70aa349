//! [`BatchLayout`]: where the matrices of a batch are that have different shapes.

use crate::elements_spanned;
use std::ops::Range;

/// Numbers of a problem in the table of a batch whose matrices have different shapes: see [`BatchLayout::table`].
pub const TABLE_ROWS: usize = 5;

/// One matrix of a batch whose matrices have different shapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchMember {
    /// Elements from the batch's first one to the matrix.
    pub offset: usize,
    /// The numbers of rows and columns.
    pub shape: (usize, usize),
    /// Elements from one column to the next.
    pub ld: usize,
    /// The number of the problem: its place among the outcomes.
    pub number: usize,
}

impl BatchMember {
    /// Returns the range from the first to the last element of the matrix.
    fn range(&self) -> Option<Range<usize>> {
        Some(self.offset..self.offset.checked_add(elements_spanned(self.shape, self.ld)?)?)
    }
}

/// The places and shapes of a batch's matrices, in the order in which a device computes them. The matrices do not
/// overlap.
///
/// ```
/// use superscalar::kernels::operations::{BatchLayout, BatchMember};
/// let member = |number, offset, n| BatchMember { offset, shape: (n, n), ld: n, number };
/// let layout = BatchLayout::new(vec![member(1, 4, 3), member(0, 0, 2)])?;
/// assert_eq!((layout.len(), layout.largest(), layout.end()), (2, (3, 3), 13));
/// assert!(BatchLayout::new(vec![member(0, 0, 2), member(1, 3, 2)]).is_err());
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchLayout {
    members: Vec<BatchMember>,
    end: usize,
}

impl BatchLayout {
    /// Checks the members.
    ///
    /// # Errors
    /// If a leading dimension is too small, two matrices overlap, or the numbers are not 0 .. the number of members.
    pub fn new(members: Vec<BatchMember>) -> Result<Self, String> {
        let mut spans = Vec::with_capacity(members.len());
        let mut is_listed = vec![false; members.len()];
        for member in &members {
            let BatchMember { shape: (m, n), ld, number, .. } = *member;
            let span = member.range().filter(|_| ld >= m.max(1));
            let span = span.ok_or_else(|| format!("problem {number}: {m} x {n} with leading dimension {ld}"))?;
            let listed = is_listed.get_mut(number).filter(|listed| !**listed);
            *listed.ok_or_else(|| format!("problem {number} of {} twice, or not among them", members.len()))? = true;
            if !span.is_empty() {
                spans.push((span.start, span.end, number));
            }
        }
        spans.sort_unstable();
        if let Some(pair) = spans.windows(2).find(|pair| pair[0].1 > pair[1].0) {
            return Err(format!("problems {} and {} overlap", pair[0].2, pair[1].2));
        }
        let end = spans.last().map_or(0, |span| span.1);
        Ok(Self { members, end })
    }

    /// Returns the members.
    #[must_use]
    pub fn members(&self) -> &[BatchMember] {
        &self.members
    }

    /// Returns the number of members.
    #[must_use]
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Returns whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Returns the elements from the batch's first to its last one.
    #[must_use]
    pub fn end(&self) -> usize {
        self.end
    }

    /// Returns the most rows and the most columns.
    #[must_use]
    pub fn largest(&self) -> (usize, usize) {
        self.members.iter().fold((0, 0), |(m, n), member| (m.max(member.shape.0), n.max(member.shape.1)))
    }

    /// Returns the table that kernels read: for each member its offset, rows, columns, leading dimension and number.
    #[must_use]
    pub fn table(&self) -> Vec<i64> {
        let row = |member: &BatchMember| {
            let &BatchMember { offset, shape: (m, n), ld, number } = member;
            [offset, m, n, ld, number].map(|number| number as i64)
        };
        self.members.iter().flat_map(row).collect()
    }
}
