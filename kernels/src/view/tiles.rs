//! [`Tiles`]: the disjoint tiles of a matrix.

use super::MatMut;
use std::ops::{Index, IndexMut};

/// An mt x nt grid of disjoint tiles of a matrix. Made by [`MatMut::into_tiles`].
///
/// Tile (i, j) starts at element (i * mb, j * nb). Tiles in the last row and column of the grid may be smaller. The
/// grid is stored in column-major order.
///
/// # Example
/// ```
/// use superscalar::kernels::MatMut;
///
/// let mut data = [0; 16];
/// let mut tiles = MatMut::from_col_major(&mut data, 4, 4, 4)?.into_tiles(2, 2);
/// for (i, j, tile) in tiles.iter_mut() {
///     tile.fill(10 * i + j);
/// }
/// assert_eq!(data, [0, 0, 10, 10, 0, 0, 10, 10, 1, 1, 11, 11, 1, 1, 11, 11]);
/// # Ok::<(), superscalar::kernels::ViewError>(())
/// ```
#[derive(Debug)]
pub struct Tiles<'a, T> {
    tiles: Vec<MatMut<'a, T>>,
    mt: usize,
    nt: usize,
}

impl<'a, T> Tiles<'a, T> {
    /// Cuts `a` into tiles; see [`MatMut::into_tiles`].
    #[track_caller]
    pub(super) fn cut(a: MatMut<'a, T>, mb: usize, nb: usize) -> Self {
        assert!(mb > 0 && nb > 0, "tiles of {mb} x {nb} elements: expected at least 1 x 1");
        let (mt, nt) = (a.nrows().div_ceil(mb), a.ncols().div_ceil(nb));
        let mut tiles = Vec::with_capacity(mt * nt);
        let mut rest = a;
        for _ in 0..nt {
            let width = nb.min(rest.ncols());
            let (mut col, right) = rest.split_at_col(width);
            for _ in 0..mt {
                let height = mb.min(col.nrows());
                let (tile, below) = col.split_at_row(height);
                tiles.push(tile);
                col = below;
            }
            rest = right;
        }
        Self { tiles, mt, nt }
    }

    /// Returns the number of tile rows.
    pub fn mt(&self) -> usize {
        self.mt
    }

    /// Returns the number of tile columns.
    pub fn nt(&self) -> usize {
        self.nt
    }

    /// Returns whether there is no tile.
    pub fn is_empty(&self) -> bool {
        self.tiles.is_empty()
    }

    /// Returns tile (i, j), or `None` if it is outside the grid.
    pub fn get(&self, i: usize, j: usize) -> Option<&MatMut<'a, T>> {
        if i < self.mt && j < self.nt { self.tiles.get(i + j * self.mt) } else { None }
    }

    /// Returns tile (i, j) as a mutable reference, or `None` if it is outside the grid.
    pub fn get_mut(&mut self, i: usize, j: usize) -> Option<&mut MatMut<'a, T>> {
        if i < self.mt && j < self.nt { self.tiles.get_mut(i + j * self.mt) } else { None }
    }

    /// Iterates over the tiles, each with its indices i and j, in column-major order.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (usize, usize, &mut MatMut<'a, T>)> {
        let mt = self.mt;
        self.tiles.iter_mut().enumerate().map(move |(at, tile)| (at % mt, at / mt, tile))
    }

    /// Returns the tiles in column-major order: tile (i, j) is at index `i + j * mt`.
    pub fn into_vec(self) -> Vec<MatMut<'a, T>> {
        self.tiles
    }
}

impl<'a, T> Index<(usize, usize)> for Tiles<'a, T> {
    type Output = MatMut<'a, T>;

    /// Panics if the tile is outside the grid.
    #[track_caller]
    fn index(&self, (i, j): (usize, usize)) -> &Self::Output {
        assert!(i < self.mt && j < self.nt, "tile ({i}, {j}) of a {} x {} grid", self.mt, self.nt);
        &self.tiles[i + j * self.mt]
    }
}

impl<T> IndexMut<(usize, usize)> for Tiles<'_, T> {
    /// Panics if the tile is outside the grid.
    #[track_caller]
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut Self::Output {
        assert!(i < self.mt && j < self.nt, "tile ({i}, {j}) of a {} x {} grid", self.mt, self.nt);
        &mut self.tiles[i + j * self.mt]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_cover_a_ragged_matrix_once() {
        for (m, n, mb, nb) in [(7, 5, 3, 2), (6, 4, 3, 2), (1, 1, 4, 4), (5, 9, 9, 4)] {
            let mut x = vec![0usize; 11 * n];
            let mut tiles = MatMut::from_col_major(&mut x, m, n, 11).unwrap().into_tiles(mb, nb);
            assert_eq!((tiles.mt(), tiles.nt()), (m.div_ceil(mb), n.div_ceil(nb)));
            for (i, j, tile) in tiles.iter_mut() {
                let (height, width) = tile.shape();
                for (c, r) in (0..width).flat_map(|c| (0..height).map(move |r| (c, r))) {
                    tile[(r, c)] += 1 + (i * mb + r) + (j * nb + c) * 11;
                }
            }
            for (at, &v) in x.iter().enumerate() {
                let inside = at % 11 < m;
                assert_eq!(v, if inside { at + 1 } else { 0 }, "m {m} n {n} mb {mb} nb {nb}");
            }
        }
    }

    #[test]
    fn tiles_may_go_to_threads() {
        let mut x = vec![0; 64];
        let tiles = MatMut::from_col_major(&mut x, 8, 8, 8).unwrap().into_tiles(3, 3);
        std::thread::scope(|s| {
            for mut tile in tiles.into_vec() {
                s.spawn(move || tile.fill(1));
            }
        });
        assert!(x.iter().all(|&v| v == 1));
    }
}
