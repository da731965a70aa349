//! [`Pieces`]: divides a rectangle into pieces that fit a staging buffer.

use super::transfer::Shape;

/// A part of a rectangle: some bytes of some columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    /// The first byte within each column.
    pub(super) row: usize,
    /// The first column.
    pub(super) column: usize,
    pub(super) shape: Shape,
    /// Whether it is the last piece of the rectangle.
    pub(super) is_last: bool,
}

/// Iterator over pieces of whole columns, as many as fit. If not even one fits, each column is divided.
#[derive(Clone, Debug)]
pub(super) struct Pieces {
    whole: Shape,
    bytes_max: usize,
    row: usize,
    column: usize,
}

impl Pieces {
    pub(super) fn new(whole: Shape, bytes_max: usize) -> Self {
        Self { whole, bytes_max: bytes_max.max(1), row: 0, column: 0 }
    }
}

impl Iterator for Pieces {
    type Item = Piece;

    fn next(&mut self) -> Option<Piece> {
        let Self { whole, bytes_max, row, column } = *self;
        if column >= whole.columns || whole.row_bytes == 0 {
            return None;
        }
        let row_bytes = (whole.row_bytes - row).min(bytes_max);
        let columns =
            if row_bytes < whole.row_bytes { 1 } else { (bytes_max / row_bytes).clamp(1, whole.columns - column) };
        self.row = row + row_bytes;
        if self.row == whole.row_bytes {
            (self.row, self.column) = (0, column + columns);
        }
        let is_last = self.column >= whole.columns;
        Some(Piece { row, column, shape: Shape { row_bytes, columns }, is_last })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts for each byte of the rectangle in how many pieces it is.
    fn cover(whole: Shape, bytes_max: usize) -> Vec<u32> {
        let mut times = vec![0; whole.bytes()];
        let pieces: Vec<Piece> = Pieces::new(whole, bytes_max).collect();
        for (at, piece) in pieces.iter().enumerate() {
            let Piece { row, column, shape, is_last } = *piece;
            assert!(shape.bytes() > 0 && shape.bytes() <= bytes_max.max(1), "{piece:?} of {whole:?} by {bytes_max}");
            assert_eq!(is_last, at + 1 == pieces.len(), "{piece:?} of {whole:?} by {bytes_max}");
            for j in column..column + shape.columns {
                times[j * whole.row_bytes + row..][..shape.row_bytes].iter_mut().for_each(|times| *times += 1);
            }
        }
        times
    }

    #[test]
    fn every_byte_is_in_one_piece() {
        for row_bytes in [1, 2, 3, 7, 8, 63, 64, 65, 100] {
            for columns in [1, 2, 3, 10, 33] {
                for bytes_max in [1, 2, 7, 8, 64, 100, 101, 1000, 10_000] {
                    let whole = Shape { row_bytes, columns };
                    assert!(cover(whole, bytes_max).iter().all(|&times| times == 1), "{whole:?} by {bytes_max}");
                }
            }
        }
    }

    #[test]
    fn columns_stay_together_where_they_fit() {
        let pieces: Vec<Piece> = Pieces::new(Shape { row_bytes: 30, columns: 8 }, 100).collect();
        let columns: Vec<_> = pieces.iter().map(|piece| (piece.column, piece.shape.columns, piece.row)).collect();
        assert_eq!(columns, [(0, 3, 0), (3, 3, 0), (6, 2, 0)]);
        assert_eq!(Pieces::new(Shape { row_bytes: 30, columns: 0 }, 100).count(), 0);
    }
}
