//! [`Tiled`]: a matrix whose tiles are handles of a scope.

use crate::tile::Tile;
use std::sync::Arc;
use superscalar_kernels::{MatMut, MatRef, Scalar, cpu::PackStore};
use superscalar_runtime::{Lent, Scope};

/// Part of a matrix that the packed forms of its tiles may take beside it: less than half of the tenth that a routine may
/// take in all, because threads pack what they need, too.
const PACKED_SHARE: f64 = 0.045;

/// An mt x nt grid of tiles, each a handle of its own in one scope.
///
/// `V` is the view of a [`Tile`]: [`MatMut`] for a matrix that tasks may change, [`MatRef`] for one that they only read.
pub struct Tiled<'s, V> {
    tiles: Vec<Lent<'s, Tile<V>>>,
    mt: usize,
    shape: (usize, usize),
    tile: (usize, usize),
}

impl<'s, T: Scalar> Tiled<'s, MatMut<'s, T>> {
    /// Cuts a matrix into tiles of mb x nb (ragged at the far edges) and lends them to the scope.
    ///
    /// # Panics
    /// If `mb` or `nb` is zero.
    pub fn new(s: &'s Scope<'s, '_>, a: MatMut<'s, T>, mb: usize, nb: usize) -> Self {
        let shape = a.shape();
        let (store, tiles) = (pack_store::<T>(shape), a.into_tiles(mb, nb));
        let mt = tiles.mt();
        let own = |view| s.own(Tile::new(view, &store));
        Self { tiles: tiles.into_vec().into_iter().map(own).collect(), mt, shape, tile: (mb, nb) }
    }
}

impl<'s, T: Scalar> Tiled<'s, MatRef<'s, T>> {
    /// Like [`Tiled::new`], for a matrix that is only read.
    ///
    /// # Panics
    /// If `mb` or `nb` is zero.
    pub fn read_only(s: &'s Scope<'s, '_>, a: MatRef<'s, T>, mb: usize, nb: usize) -> Self {
        assert!(mb > 0 && nb > 0, "tiles of {mb} x {nb}");
        let (m, n) = a.shape();
        let (mt, nt) = (m.div_ceil(mb), n.div_ceil(nb));
        let range = |at: usize, size: usize, all: usize| at * size..((at + 1) * size).min(all);
        let store = pack_store::<T>((m, n));
        let tile = |at: usize| Tile::new(a.submatrix(range(at % mt, mb, m), range(at / mt, nb, n)), &store);
        Self { tiles: (0..mt * nt).map(|at| s.own(tile(at))).collect(), mt, shape: (m, n), tile: (mb, nb) }
    }
}

impl<'s, V> Tiled<'s, V> {
    /// Number of tile rows.
    #[must_use]
    pub fn mt(&self) -> usize {
        self.mt
    }

    /// Number of tile columns.
    #[must_use]
    pub fn nt(&self) -> usize {
        self.shape.1.div_ceil(self.tile.1)
    }

    /// Rows and columns of the matrix.
    #[must_use]
    pub fn shape(&self) -> (usize, usize) {
        self.shape
    }

    /// Rows and columns of a tile, but for those at the far edges.
    #[must_use]
    pub fn tile_shape(&self) -> (usize, usize) {
        self.tile
    }

    /// The tile at block row i and block column j.
    ///
    /// # Panics
    /// If there is none.
    #[must_use]
    pub fn at(&self, i: usize, j: usize) -> Lent<'s, Tile<V>> {
        assert!(i < self.mt, "tile row {i} of {}", self.mt);
        self.tiles[i + j * self.mt]
    }
}

/// Where the tiles of a matrix of this shape may stay packed.
fn pack_store<T: Scalar>((m, n): (usize, usize)) -> Arc<PackStore> {
    PackStore::new((PACKED_SHARE * m as f64 * n as f64 * size_of::<T>() as f64) as usize)
}
