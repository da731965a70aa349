//! The part of a matrix that each symmetry stores, the order in which an array lists it, and how it is mirrored.

use crate::error::Repr;
use crate::types::{Position, Shape, Symmetry};

impl Symmetry {
    /// Returns an error if the symmetry needs a square matrix and the shape is not square.
    pub(crate) fn check_shape(self, shape: Shape) -> Result<(), Repr> {
        if self == Self::General || shape.m == shape.n {
            return Ok(());
        }
        Err(Repr::NotSquare { symmetry: self, shape })
    }

    /// Returns an error if the symmetry does not allow this value at this position. The error counts indices from
    /// `base`.
    pub(crate) fn check_entry(self, position: Position, (re, im): (f64, f64), base: usize) -> Result<(), Repr> {
        let Position { i, j } = position;
        if self == Self::General || i > j {
            return Ok(());
        }
        if i < j {
            return Err(Repr::WrongTriangle { i: i + base, j: j + base, symmetry: self });
        }
        // `==` instead of `!=`, so that a NaN is refused too.
        let (re_is_zero, im_is_zero) = (re == 0.0, im == 0.0);
        match self {
            Self::SkewSymmetric if !(re_is_zero && im_is_zero) => Err(Repr::SkewDiagonal { i: i + base }),
            Self::Hermitian if !im_is_zero => Err(Repr::HermitianDiagonal { i: i + base }),
            _ => Ok(()),
        }
    }

    /// Returns the value at (j, i) for the value at (i, j), i > j, or `None` for a general matrix.
    pub(crate) fn mirrored(self, (re, im): (f64, f64)) -> Option<(f64, f64)> {
        match self {
            Self::General => None,
            Self::Symmetric => Some((re, im)),
            Self::Hermitian => Some((re, -im)),
            Self::SkewSymmetric => Some((-re, -im)),
        }
    }

    /// Returns the first stored row of column `j`.
    fn first_row(self, j: usize) -> usize {
        match self {
            Self::General => 0,
            Self::Symmetric | Self::Hermitian => j,
            Self::SkewSymmetric => j + 1,
        }
    }
}

/// Returns how many positions the symmetry stores, which is the number of entries of an array file.
pub(crate) fn stored_cells(symmetry: Symmetry, shape: Shape) -> u128 {
    // The product of two 64-bit numbers fits 128 bits.
    let (m, n) = (shape.m as u128, shape.n as u128);
    match symmetry {
        Symmetry::General => m * n,
        Symmetry::Symmetric | Symmetry::Hermitian => n * (n + 1) / 2,
        Symmetry::SkewSymmetric => n * n.saturating_sub(1) / 2,
    }
}

/// An iterator over the stored positions, column by column. It does not end: take [`stored_cells`] of them.
#[derive(Clone, Debug)]
pub(crate) struct StoredPositions {
    symmetry: Symmetry,
    m: usize,
    next: Position,
}

impl StoredPositions {
    pub(crate) fn new(symmetry: Symmetry, shape: Shape) -> Self {
        Self { symmetry, m: shape.m, next: Position { i: symmetry.first_row(0), j: 0 } }
    }
}

impl Iterator for StoredPositions {
    type Item = Position;

    fn next(&mut self) -> Option<Position> {
        let here = self.next;
        self.next.i += 1;
        if self.next.i >= self.m {
            self.next.j += 1;
            self.next.i = self.symmetry.first_row(self.next.j);
        }
        Some(here)
    }
}

#[cfg(test)]
mod tests {
    use super::{Shape, StoredPositions, Symmetry, stored_cells};

    #[test]
    fn stored_positions_run_by_columns() {
        let of = |symmetry, m, n| -> Vec<(usize, usize)> {
            let shape = Shape { m, n };
            let cells = usize::try_from(stored_cells(symmetry, shape)).expect("small");
            StoredPositions::new(symmetry, shape).take(cells).map(|at| (at.i, at.j)).collect()
        };
        assert_eq!(of(Symmetry::General, 2, 2), [(0, 0), (1, 0), (0, 1), (1, 1)]);
        assert_eq!(of(Symmetry::Symmetric, 2, 2), [(0, 0), (1, 0), (1, 1)]);
        assert_eq!(of(Symmetry::Hermitian, 1, 1), [(0, 0)]);
        assert_eq!(of(Symmetry::SkewSymmetric, 3, 3), [(1, 0), (2, 0), (2, 1)]);
        for n in [0, 1] {
            assert_eq!(of(Symmetry::SkewSymmetric, n, n), []);
        }
        assert_eq!(of(Symmetry::General, 0, usize::MAX), []);
    }

    #[test]
    fn counts_do_not_overflow() {
        let n = usize::MAX;
        let cells = stored_cells(Symmetry::Symmetric, Shape { m: n, n });
        assert_eq!(cells, (n as u128) * (n as u128 + 1) / 2);
    }
}
