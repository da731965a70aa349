//! Which part of a matrix each symmetry stores, in which order an array lists it, and what the rest is.

use crate::error::Kind;
use crate::types::{Position, Shape, Symmetry};

impl Symmetry {
    /// Only a square matrix equals its transpose up to anything.
    pub(crate) fn check_shape(self, shape: Shape) -> Result<(), Kind> {
        if self == Self::General || shape.m == shape.n {
            return Ok(());
        }
        Err(Kind::NotSquare { symmetry: self, shape })
    }

    /// Whether an entry may stand where it does and be what it is. A complaint counts indices from `base`.
    pub(crate) fn check_entry(self, position: Position, (re, im): (f64, f64), base: usize) -> Result<(), Kind> {
        let Position { i, j } = position;
        if self == Self::General || i > j {
            return Ok(());
        }
        if i < j {
            return Err(Kind::WrongTriangle { i: i + base, j: j + base, symmetry: self });
        }
        // Positive comparisons, so that a NaN is refused too.
        let (re_is_zero, im_is_zero) = (re == 0.0, im == 0.0);
        match self {
            Self::SkewSymmetric if !(re_is_zero && im_is_zero) => Err(Kind::SkewDiagonal { i: i + base }),
            Self::Hermitian if !im_is_zero => Err(Kind::HermitianDiagonal { i: i + base }),
            _ => Ok(()),
        }
    }

    /// The value at (j, i) that follows from the value at (i, j), i > j; `None` if it does not follow.
    pub(crate) fn mirrored(self, (re, im): (f64, f64)) -> Option<(f64, f64)> {
        match self {
            Self::General => None,
            Self::Symmetric => Some((re, im)),
            Self::Hermitian => Some((re, -im)),
            Self::SkewSymmetric => Some((-re, -im)),
        }
    }

    /// The first stored row of column `j`.
    fn first_row(self, j: usize) -> usize {
        match self {
            Self::General => 0,
            Self::Symmetric | Self::Hermitian => j,
            Self::SkewSymmetric => j + 1,
        }
    }
}

/// How many positions the symmetry stores: the entries of an array file.
pub(crate) fn stored_cells(symmetry: Symmetry, shape: Shape) -> u128 {
    // 64 bits times 64 bits always fit.
    let (m, n) = (shape.m as u128, shape.n as u128);
    match symmetry {
        Symmetry::General => m * n,
        Symmetry::Symmetric | Symmetry::Hermitian => n * (n + 1) / 2,
        Symmetry::SkewSymmetric => n * n.saturating_sub(1) / 2,
    }
}

/// The stored positions column by column. Has no end of its own: take [`stored_cells`] of them.
#[derive(Clone, Debug)]
pub(crate) struct Packed {
    symmetry: Symmetry,
    m: usize,
    next: Position,
}

impl Packed {
    pub(crate) fn new(symmetry: Symmetry, shape: Shape) -> Self {
        Self { symmetry, m: shape.m, next: Position { i: symmetry.first_row(0), j: 0 } }
    }
}

impl Iterator for Packed {
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
    use super::{Packed, Shape, Symmetry, stored_cells};

    #[test]
    fn packed_order_is_the_lower_triangle_by_columns() {
        let of = |symmetry, m, n| -> Vec<(usize, usize)> {
            let shape = Shape { m, n };
            let cells = usize::try_from(stored_cells(symmetry, shape)).expect("small");
            Packed::new(symmetry, shape).take(cells).map(|at| (at.i, at.j)).collect()
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
