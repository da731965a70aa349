//! [`Tiled`]: a matrix whose tiles are handles of a scope; [`TileView`]: what tasks get of them.

use crate::{Scalar, options::Distribution};
pub use superscalar_kernels::Tile;
use superscalar_kernels::{MatMut, MatRef, Op, Symmetry, Uplo, cpu::PackStore};
use superscalar_macros::each_type;
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
    /// The only part of the matrix that its block columns hold, if not all of it.
    part: Option<Uplo>,
    distribution: Distribution,
}

impl<'s, T: Scalar> Tiled<'s, MatMut<'s, T>> {
    /// Cuts a matrix into tiles of mb x nb (ragged at the far edges) and lends them to the scope.
    ///
    /// # Panics
    /// If `mb` or `nb` is zero.
    pub fn new(s: &'s Scope<'s, '_>, a: MatMut<'s, T>, mb: usize, nb: usize) -> Self {
        let packs = default_packs::<T>(a.shape());
        cut(s, a, (mb, nb), packs)
    }

    /// Cuts a matrix into block columns of nb (the last may be narrower), each a single tile: what LU and QR factorizations work
    /// on, whose panels need whole columns.
    ///
    /// # Panics
    /// If `nb` is zero.
    pub fn columns(s: &'s Scope<'s, '_>, a: MatMut<'s, T>, nb: usize) -> Self {
        let (m, n) = a.shape();
        let packs = packs_of_columns::<T>(m, nb.min(n));
        cut(s, a, (m.max(1), nb), packs)
    }

    /// The same for one triangle of a square matrix: a block column begins with its block on the diagonal, or ends with it. What is in the
    /// other triangle, but for these blocks, no task has.
    pub(crate) fn columns_of_triangle(s: &'s Scope<'s, '_>, uplo: Uplo, a: MatMut<'s, T>, nb: usize) -> Self {
        let (n, tile) = (a.ncols(), (a.nrows().max(1), nb));
        let store = PackStore::new(packs_of_columns::<T>(n, nb.min(n)));
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

    /// The same as [`factor_of_product`](Tiled::factor_of_product) for a matrix that is changed, and is a factor, too.
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
        cut_read_only(s, a, (m.max(1), nb), packs_of_columns::<T>(m, nb.min(n)))
    }

    /// A factor of a product whose loop over the depth takes kb at a time: the tiles of one step all stay packed.
    pub(crate) fn factor_of_product(s: &'s Scope<'s, '_>, a: MatRef<'s, T>, tile: (usize, usize), kb: usize) -> Self {
        cut_read_only(s, a, tile, packs_of_a_step::<T>(a.shape(), tile, kb))
    }
}

/// These functions, for one type of element.
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
    let (mb, nb) = tile;
    let shape = a.shape();
    let (store, tiles) = (PackStore::new(packs), a.into_tiles(mb, nb));
    let mt = tiles.mt();
    let own = |view| s.own_view(Tile::new(view, &store));
    let tiles = tiles.into_vec().into_iter().map(own).collect();
    Tiled { tiles, mt, shape, tile: (mb, nb), part: None, distribution: Distribution::None }
}

/// The same for a matrix that is only read.
#[each_type]
pub(crate) fn cut_read_only<'s, T: Scalar>(
    s: &'s Scope<'s, '_>,
    a: MatRef<'s, T>,
    tile: (usize, usize),
    packs: usize,
) -> Tiled<'s, MatRef<'s, T>> {
    let (mb, nb) = tile;
    assert!(mb > 0 && nb > 0, "tiles of {mb} x {nb}");
    let (m, n) = a.shape();
    let (mt, nt) = (m.div_ceil(mb), n.div_ceil(nb));
    // Elements of a view may overlap, so there may be more tiles than can be counted.
    let Some(count) = mt.checked_mul(nt) else { panic!("capacity overflow: {mt} x {nt} tiles") };
    let range = |at: usize, size: usize, all: usize| at * size..at.saturating_add(1).saturating_mul(size).min(all);
    let store = PackStore::new(packs);
    let tile = |at: usize| Tile::new(a.submatrix(range(at % mt, mb, m), range(at / mt, nb, n)), &store);
    let tiles = (0..count).map(|at| s.own_view(tile(at))).collect();
    Tiled { tiles, mt, shape: (m, n), tile: (mb, nb), part: None, distribution: Distribution::None }
}

impl<'s, V> Tiled<'s, V> {
    /// The matrix that these tiles are, by columns.
    pub(crate) fn from_tiles(tiles: Vec<Lent<'s, Tile<V>>>, shape: (usize, usize), tile: (usize, usize)) -> Self {
        debug_assert_eq!(tiles.len(), shape.0.div_ceil(tile.0) * shape.1.div_ceil(tile.1));
        Self { tiles, mt: shape.0.div_ceil(tile.0), shape, tile, part: None, distribution: Distribution::None }
    }

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

    /// How its tiles were dealt to devices.
    #[must_use]
    pub fn distribution(&self) -> Distribution {
        self.distribution
    }

    pub(crate) fn with_distribution(self, distribution: Distribution) -> Self {
        Self { distribution, ..self }
    }

    /// Whether it lies in block columns, of which there are several.
    pub(crate) fn is_in_columns(&self) -> bool {
        self.mt <= 1 && self.nt() > 1
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

    /// All tiles, by columns.
    pub(crate) fn tiles(&self) -> &[Lent<'s, Tile<V>>] {
        &self.tiles
    }

    /// Rows of the tiles of block row i.
    #[must_use]
    pub fn rows_of(&self, i: usize) -> usize {
        self.tile.0.min(self.shape.0 - i * self.tile.0)
    }

    /// The row of the matrix that is the first in block column j.
    pub(crate) fn first_row_of(&self, j: usize) -> usize {
        if self.part == Some(Uplo::Lower) { j * self.tile.1 } else { 0 }
    }

    /// Columns of the tiles of block column j.
    #[must_use]
    pub fn cols_of(&self, j: usize) -> usize {
        self.tile.1.min(self.shape.1 - j * self.tile.1)
    }

    /// The places (i, j) of all tiles, by columns.
    pub(crate) fn places(&self) -> impl Iterator<Item = (usize, usize)> + use<V> {
        let (mt, nt) = (self.mt, self.nt());
        (0..nt).flat_map(move |j| (0..mt).map(move |i| (i, j)))
    }

    /// How the rows and the columns of op(A) are cut.
    pub(crate) fn partition(&self, op: Op) -> [Partition; 2] {
        let (rows, cols) = (Partition::new(self.shape.0, self.tile.0), Partition::new(self.shape.1, self.tile.1));
        if op == Op::None { [rows, cols] } else { [cols, rows] }
    }

    /// Block (i, j) of op(A), as a factor of a product.
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
    /// Its transpose, or conjugate transpose.
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

/// Rows or columns in blocks: two matrices fit together where these are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Partition {
    len: usize,
    block: usize,
}

impl Partition {
    /// A block larger than all there is makes no difference.
    fn new(len: usize, block: usize) -> Self {
        Self { len, block: block.min(len.max(1)) }
    }

    /// What is cut.
    pub(crate) fn len(self) -> usize {
        self.len
    }

    /// Length of each block but perhaps the last.
    pub(crate) fn block(self) -> usize {
        self.block
    }

    /// Number of blocks.
    pub(crate) fn count(self) -> usize {
        self.len.div_ceil(self.block)
    }
}

impl std::fmt::Display for Partition {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{} (by {})", self.len, self.block)
    }
}

/// Bytes for the packed forms of the tiles of a matrix of this shape, cut so.
pub(crate) fn packs_for<T: Scalar>((m, n): (usize, usize), (mb, nb): (usize, usize)) -> usize {
    if mb >= m { packs_of_columns::<T>(m, nb.min(n)) } else { default_packs::<T>((m, n)) }
}

/// Bytes for the packed forms of block columns: of one that updates the others, and of the next one, which may be ahead.
fn packs_of_columns<T: Scalar>(m: usize, nb: usize) -> usize {
    whole_panels(m).saturating_mul(nb).saturating_mul(2 * size_of::<T>())
}

/// Bytes for the packed forms of the tiles that one step of a product meets: those along the longer side. A packed tile ends in a
/// whole panel, of up to 48 rows.
fn packs_of_a_step<T: Scalar>((m, n): (usize, usize), (mb, nb): (usize, usize), kb: usize) -> usize {
    let tiles = m.div_ceil(mb).max(n.div_ceil(nb)) + 1;
    let tile = whole_panels(mb.max(nb).min(m.max(n))).saturating_mul(whole_panels(kb));
    tile.saturating_mul(tiles).saturating_mul(size_of::<T>())
}

/// So many rows in panels of 48. (Sizes here are bounds, and may be those of tiles far larger than the matrix.)
fn whole_panels(rows: usize) -> usize {
    rows.checked_next_multiple_of(48).unwrap_or(usize::MAX)
}

/// Bytes for the packed forms of the tiles of a matrix of this shape.
fn default_packs<T: Scalar>((m, n): (usize, usize)) -> usize {
    (PACKED_SHARE * m as f64 * n as f64 * size_of::<T>() as f64) as usize
}

/// The view of a [`Tile`] of a matrix that was lent to a scope `'s`: [`MatMut`], or [`MatRef`] if tasks only read it. Sealed.
pub trait TileView<'s>: superscalar_kernels::TileView + Sized + 's {
    /// The matrix with these views.
    #[doc(hidden)]
    fn either<'a>(matrix: &'a Tiled<'s, Self>) -> Either<'a, 's, Self::Element>;
}

/// A matrix with either kind of views, for routines that are compiled for both.
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
