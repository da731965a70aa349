//! [`Tiled`]: a matrix whose tiles are handles of a scope. [`TileView`]: the view of a tile that tasks get.

use crate::{Scalar, options::Distribution};
use bytemuck::Pod;
pub use superscalar_kernels::Tile;
use superscalar_kernels::{MatMut, MatRef, Op, Symmetry, Uplo, cpu::PackStore};
use superscalar_macros::each_type;
use superscalar_runtime::{Lent, Scope};

/// Memory for the packed forms of a matrix's tiles, relative to the matrix. Routines may use a tenth in total; threads
/// need the rest for their own packing.
const PACKED_SHARE: f64 = 0.045;

/// An mt x nt grid of tiles. Each tile is a handle of its own in one scope.
///
/// `V` is the view of a [`Tile`]: [`MatMut`] for a matrix that tasks may change, [`MatRef`] for a read-only matrix.
pub struct Tiled<'s, V> {
    tiles: Vec<Lent<'s, Tile<V>>>,
    mt: usize,
    shape: (usize, usize),
    tile: (usize, usize),
    /// The triangle that the block columns are restricted to, if they are.
    part: Option<Uplo>,
    distribution: Distribution,
}

impl<'s, T: Scalar> Tiled<'s, MatMut<'s, T>> {
    /// Cuts a matrix into tiles of mb x nb and lends them to the scope. Tiles at the bottom and right edges may be
    /// smaller.
    ///
    /// # Panics
    /// If `mb` or `nb` is zero.
    pub fn new(s: &'s Scope<'s, '_>, a: MatMut<'s, T>, mb: usize, nb: usize) -> Self {
        let packs = default_packs::<T>(a.shape());
        cut(s, a, (mb, nb), packs)
    }

    /// Cuts a matrix into block columns of `nb` columns, each a single tile; the last may be narrower. LU and QR
    /// factorizations need block columns, because their panels work on whole columns.
    ///
    /// # Panics
    /// If `nb` is zero.
    pub fn columns(s: &'s Scope<'s, '_>, a: MatMut<'s, T>, nb: usize) -> Self {
        let (m, n) = a.shape();
        let packs = packs_of_columns::<T>((m, n), nb.min(n));
        cut(s, a, (m.max(1), nb), packs)
    }

    /// Cuts one triangle of a square matrix into block columns. Each block column starts (lower triangle) or ends
    /// (upper triangle) with its block on the diagonal. No task can access the other triangle outside of these diagonal
    /// blocks.
    pub(crate) fn columns_of_triangle(s: &'s Scope<'s, '_>, uplo: Uplo, a: MatMut<'s, T>, nb: usize) -> Self {
        let (n, tile) = (a.ncols(), (a.nrows().max(1), nb));
        let store = PackStore::new(packs_of_columns::<T>((n, n), nb.min(n)));
        let (mut rest, mut tiles) = (a, Vec::with_capacity(n.div_ceil(nb)));
        for start in (0..n).step_by(nb) {
            let (column, behind) = rest.split_at_col(nb.min(n - start));
            let cols = column.ncols();
            let rows = if uplo == Uplo::Lower { start..n } else { 0..start + cols };
            tiles.push(s.own_view(Tile::new(column.submatrix(rows, 0..cols), &store)));
            rest = behind;
        }
        let part = Some(uplo);
        Self { tiles, mt: 1, shape: (n, n), tile, part, distribution: Distribution::None }
    }

    /// Like [`factor_of_product`](Tiled::factor_of_product), for a matrix that is both updated and used as a factor.
    pub(crate) fn target_of_product(s: &'s Scope<'s, '_>, a: MatMut<'s, T>, tile: (usize, usize), kb: usize) -> Self {
        let packs = packs_of_a_step::<T>(a.shape(), tile, kb);
        cut(s, a, tile, packs)
    }
}

impl<'s, T: Scalar> Tiled<'s, MatRef<'s, T>> {
    /// Like [`Tiled::new`], for a matrix that is only read.
    ///
    /// # Panics
    /// If `mb` or `nb` is zero.
    pub fn read_only(s: &'s Scope<'s, '_>, a: MatRef<'s, T>, mb: usize, nb: usize) -> Self {
        cut_read_only(s, a, (mb, nb), default_packs::<T>(a.shape()))
    }

    /// Like [`Tiled::columns`], for a matrix that is only read.
    ///
    /// # Panics
    /// If `nb` is zero.
    pub fn read_only_columns(s: &'s Scope<'s, '_>, a: MatRef<'s, T>, nb: usize) -> Self {
        let (m, n) = a.shape();
        cut_read_only(s, a, (m.max(1), nb), packs_of_columns::<T>((m, n), nb.min(n)))
    }

    /// Cuts a factor of a product that is computed in steps of kb along k. The tiles of one step can all stay packed.
    pub(crate) fn factor_of_product(s: &'s Scope<'s, '_>, a: MatRef<'s, T>, tile: (usize, usize), kb: usize) -> Self {
        cut_read_only(s, a, tile, packs_of_a_step::<T>(a.shape(), tile, kb))
    }
}

/// The functions of this module that are compiled for each element type.
#[each_type]
pub trait Tiling: HasCut + HasCutReadOnly {}

/// Cuts a matrix into tiles, with up to `packs` bytes for their packed forms.
#[each_type]
pub(crate) fn cut<'s, T: Scalar>(
    s: &'s Scope<'s, '_>,
    a: MatMut<'s, T>,
    tile: (usize, usize),
    packs: usize,
) -> Tiled<'s, MatMut<'s, T>> {
    cut_elements(s, a, tile, packs)
}

/// Does the work of [`cut`], for elements of any type.
pub(crate) fn cut_elements<'s, E: Pod + Send + Sync>(
    s: &'s Scope<'s, '_>,
    a: MatMut<'s, E>,
    (mb, nb): (usize, usize),
    packs: usize,
) -> Tiled<'s, MatMut<'s, E>> {
    let shape = a.shape();
    let (store, tiles) = (PackStore::new(packs), a.into_tiles(mb, nb));
    let mt = tiles.mt();
    let own = |view| s.own_view(Tile::new(view, &store));
    let tiles = tiles.into_vec().into_iter().map(own).collect();
    Tiled { tiles, mt, shape, tile: (mb, nb), part: None, distribution: Distribution::None }
}

/// Like [`cut`], for a read-only matrix.
#[each_type]
pub(crate) fn cut_read_only<'s, T: Scalar>(
    s: &'s Scope<'s, '_>,
    a: MatRef<'s, T>,
    tile: (usize, usize),
    packs: usize,
) -> Tiled<'s, MatRef<'s, T>> {
    cut_read_only_elements(s, a, tile, packs)
}

/// Does the work of [`cut_read_only`], for elements of any type.
pub(crate) fn cut_read_only_elements<'s, E: Pod + Send + Sync>(
    s: &'s Scope<'s, '_>,
    a: MatRef<'s, E>,
    (mb, nb): (usize, usize),
    packs: usize,
) -> Tiled<'s, MatRef<'s, E>> {
    assert!(mb > 0 && nb > 0, "the tile size is {mb} x {nb}; it must be positive");
    let (m, n) = a.shape();
    let (mt, nt) = (m.div_ceil(mb), n.div_ceil(nb));
    // A view's elements may overlap, so the number of tiles can overflow.
    let Some(count) = mt.checked_mul(nt) else { panic!("capacity overflow: {mt} x {nt} tiles") };
    let range = |at: usize, size: usize, all: usize| at * size..at.saturating_add(1).saturating_mul(size).min(all);
    let store = PackStore::new(packs);
    let tile = |at: usize| Tile::new(a.submatrix(range(at % mt, mb, m), range(at / mt, nb, n)), &store);
    let tiles = (0..count).map(|at| s.own_view(tile(at))).collect();
    Tiled { tiles, mt, shape: (m, n), tile: (mb, nb), part: None, distribution: Distribution::None }
}

impl<'s, V> Tiled<'s, V> {
    /// Creates a matrix from its tiles, in column-major order.
    pub(crate) fn from_tiles(tiles: Vec<Lent<'s, Tile<V>>>, shape: (usize, usize), tile: (usize, usize)) -> Self {
        debug_assert_eq!(tiles.len(), shape.0.div_ceil(tile.0) * shape.1.div_ceil(tile.1));
        Self { tiles, mt: shape.0.div_ceil(tile.0), shape, tile, part: None, distribution: Distribution::None }
    }

    /// Returns the number of tile rows.
    #[must_use]
    pub fn mt(&self) -> usize {
        self.mt
    }

    /// Returns the number of tile columns.
    #[must_use]
    pub fn nt(&self) -> usize {
        self.shape.1.div_ceil(self.tile.1)
    }

    /// Returns the number of rows and columns of the matrix.
    #[must_use]
    pub fn shape(&self) -> (usize, usize) {
        self.shape
    }

    /// Returns the number of rows and columns of a tile. Tiles at the bottom and right edges may be smaller.
    #[must_use]
    pub fn tile_shape(&self) -> (usize, usize) {
        self.tile
    }

    /// Returns how the tiles are distributed over devices.
    #[must_use]
    pub fn distribution(&self) -> Distribution {
        self.distribution
    }

    pub(crate) fn with_distribution(self, distribution: Distribution) -> Self {
        Self { distribution, ..self }
    }

    /// Returns whether the matrix lies in several block columns.
    pub(crate) fn is_in_columns(&self) -> bool {
        self.mt <= 1 && self.nt() > 1
    }

    /// Returns the tile in block row i and block column j.
    ///
    /// # Panics
    /// If there is no such tile.
    #[must_use]
    pub fn at(&self, i: usize, j: usize) -> Lent<'s, Tile<V>> {
        assert!(i < self.mt, "no tile row {i}; the matrix has {}", self.mt);
        self.tiles[i + j * self.mt]
    }

    /// Returns all tiles, in column-major order.
    pub(crate) fn tiles(&self) -> &[Lent<'s, Tile<V>>] {
        &self.tiles
    }

    /// Returns the number of rows of the tiles in block row i.
    #[must_use]
    pub fn rows_of(&self, i: usize) -> usize {
        self.tile.0.min(self.shape.0 - i * self.tile.0)
    }

    /// Returns the first row of the matrix that block column j holds.
    pub(crate) fn first_row_of(&self, j: usize) -> usize {
        if self.part == Some(Uplo::Lower) { j * self.tile.1 } else { 0 }
    }

    /// Returns the number of columns of the tiles in block column j.
    #[must_use]
    pub fn cols_of(&self, j: usize) -> usize {
        self.tile.1.min(self.shape.1 - j * self.tile.1)
    }

    /// Returns the indices (i, j) of all tiles, in column-major order.
    pub(crate) fn tile_indices(&self) -> impl Iterator<Item = (usize, usize)> + use<V> {
        let (mt, nt) = (self.mt, self.nt());
        (0..nt).flat_map(move |j| (0..mt).map(move |i| (i, j)))
    }

    /// Returns how the rows and columns of op(A) are partitioned.
    pub(crate) fn partition(&self, op: Op) -> [Partition; 2] {
        let (rows, cols) = (Partition::new(self.shape.0, self.tile.0), Partition::new(self.shape.1, self.tile.1));
        if op == Op::None { [rows, cols] } else { [cols, rows] }
    }

    /// Returns block (i, j) of op(A), as a factor of a product.
    pub(crate) fn factor(&self, op: Op, i: usize, j: usize) -> Factor<'s, V> {
        let (row, col) = if op == Op::None { (i, j) } else { (j, i) };
        Factor { op, tile: self.at(row, col), shape: op.shape((self.rows_of(row), self.cols_of(col))) }
    }
}

/// A tile as a factor of a product.
pub(crate) struct Factor<'s, V> {
    pub(crate) op: Op,
    pub(crate) tile: Lent<'s, Tile<V>>,
    /// Rows and columns of op(tile).
    pub(crate) shape: (usize, usize),
}

impl<V> Factor<'_, V> {
    /// Returns the transpose (symmetric) or conjugate transpose (Hermitian).
    pub(crate) fn mirrored(self, symmetry: Symmetry) -> Self {
        Self { op: symmetry.other(self.op), shape: (self.shape.1, self.shape.0), ..self }
    }
}

impl<V> Clone for Factor<'_, V> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<V> Copy for Factor<'_, V> {}

/// A partition of rows or columns into blocks. Matrices can be multiplied tile by tile if their partitions are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Partition {
    len: usize,
    block: usize,
}

impl Partition {
    /// Limits the block to `len`, so that partitions into one block compare equal.
    fn new(len: usize, block: usize) -> Self {
        Self { len, block: block.min(len.max(1)) }
    }

    /// Returns the number of rows or columns.
    pub(crate) fn len(self) -> usize {
        self.len
    }

    /// Returns the length of each block; the last may be shorter.
    pub(crate) fn block(self) -> usize {
        self.block
    }

    /// Returns the number of blocks.
    pub(crate) fn count(self) -> usize {
        self.len.div_ceil(self.block)
    }
}

impl std::fmt::Display for Partition {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{} (by {})", self.len, self.block)
    }
}

/// Returns the bytes for the packed tiles of a matrix of this shape and tile shape.
pub(crate) fn packs_for<T: Scalar>((m, n): (usize, usize), (mb, nb): (usize, usize)) -> usize {
    if mb >= m { packs_of_columns::<T>((m, n), nb.min(n)) } else { default_packs::<T>((m, n)) }
}

/// Returns the bytes for the packed forms of two block columns: the one whose updates run, and the next one. With many
/// workers more of them are in use at once, so there are up to four, if these take at most a tenth of the matrix.
/// Measured: docs/measurements/2026-11-30-many-cores.md.
fn packs_of_columns<T: Scalar>((m, n): (usize, usize), nb: usize) -> usize {
    let forms = (n / nb.max(1) / 10).clamp(2, 4);
    whole_panels(m).saturating_mul(nb).saturating_mul(forms * size_of::<T>())
}

/// Returns the bytes for the packed tiles that one step of a product uses: those along the longer side. Packed tiles
/// are padded to whole panels of up to 48 rows.
fn packs_of_a_step<T: Scalar>((m, n): (usize, usize), (mb, nb): (usize, usize), kb: usize) -> usize {
    let tiles = m.div_ceil(mb).max(n.div_ceil(nb)) + 1;
    let tile = whole_panels(mb.max(nb).min(m.max(n))).saturating_mul(whole_panels(kb));
    tile.saturating_mul(tiles).saturating_mul(size_of::<T>())
}

/// Rounds rows up to whole panels of 48. The argument may be far larger than the matrix.
fn whole_panels(rows: usize) -> usize {
    rows.checked_next_multiple_of(48).unwrap_or(usize::MAX)
}

/// Returns the bytes for the packed tiles of a matrix of this shape.
fn default_packs<T: Scalar>((m, n): (usize, usize)) -> usize {
    (PACKED_SHARE * m as f64 * n as f64 * size_of::<T>() as f64) as usize
}

/// The view of a [`Tile`] of a matrix lent to a scope `'s`: [`MatMut`], or [`MatRef`] for a read-only matrix. Sealed.
pub trait TileView<'s>: superscalar_kernels::TileView + Sized + 's {
    /// Wraps the matrix in the variant for this view.
    #[doc(hidden)]
    fn either<'a>(matrix: &'a Tiled<'s, Self>) -> Either<'a, 's, Self::Element>;
}

/// A matrix with either type of view, for routines that are compiled for both.
pub enum Either<'a, 's, T> {
    Mut(&'a Tiled<'s, MatMut<'s, T>>),
    Ref(&'a Tiled<'s, MatRef<'s, T>>),
}

impl<'s, T: Scalar> TileView<'s> for MatMut<'s, T> {
    fn either<'a>(matrix: &'a Tiled<'s, Self>) -> Either<'a, 's, T> {
        Either::Mut(matrix)
    }
}

impl<'s, T: Scalar> TileView<'s> for MatRef<'s, T> {
    fn either<'a>(matrix: &'a Tiled<'s, Self>) -> Either<'a, 's, T> {
        Either::Ref(matrix)
    }
}
