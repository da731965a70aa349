//! [`Backing`]: host memory for a tile that lives on devices.
//!
//! A matrix on devices needs a place in host memory for each tile, for when it must make room there, or when a host task reads it. Such
//! places are taken from the system as zeros that it makes when they are first touched: as long as no tile comes home, they are addresses
//! and nothing more. All tiles of a matrix lie in one allocation, one behind the other, each without gaps.

use crate::{MatMut, MatRef, NoMemory, Scalar, Tile, cpu::PackStore};
use std::{
    alloc::{Layout, alloc_zeroed, dealloc},
    ptr::NonNull,
    sync::Arc,
};
use superscalar_runtime::{HostRegion, Lend};

/// Tiles begin at multiples of so many bytes: a cache line, and whole vectors.
const ALIGN: usize = 64;

/// The memory of all tiles of a matrix.
struct Block {
    base: NonNull<u8>,
    layout: Layout,
}

// SAFETY: it owns memory, which only the tiles cut from it reach.
unsafe impl Send for Block {}
// SAFETY: as above.
unsafe impl Sync for Block {}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: taken with this layout, which is not empty; every tile is gone.
        unsafe { dealloc(self.base.as_ptr(), self.layout) }
    }
}

/// The place of one tile in host memory; see the module's head. To be given to a [`Resident`](superscalar_runtime::Resident).
///
/// ```
/// use superscalar::kernels::Backing;
/// let tiles = Backing::<f64>::tiles((5, 4), (2, 3))?;
/// let shapes: Vec<_> = tiles.iter().map(Backing::shape).collect();
/// assert_eq!(shapes, [(2, 3), (2, 3), (1, 3), (2, 1), (2, 1), (1, 1)]);
/// # Ok::<(), superscalar::kernels::NoMemory>(())
/// ```
pub struct Backing<T> {
    /// Keeps the memory.
    _block: Arc<Block>,
    first: NonNull<T>,
    m: usize,
    n: usize,
}

// SAFETY: it owns its elements alone, as a `Vec<T>` does.
unsafe impl<T: Send> Send for Backing<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Backing<T> {}

impl<T: Scalar> Backing<T> {
    /// Memory for an m x n matrix of zeros in tiles of mb x nb (smaller at the far edges), by columns.
    ///
    /// # Errors
    /// If the system does not give so much.
    ///
    /// # Panics
    /// If `mb` or `nb` is zero.
    pub fn tiles((m, n): (usize, usize), (mb, nb): (usize, usize)) -> Result<Vec<Self>, NoMemory> {
        assert!(mb > 0 && nb > 0, "tiles of {mb} x {nb}");
        let none = NoMemory::for_matrix::<T>((m, n));
        let total = bytes_of_tiles::<T>((m, n), (mb, nb));
        let layout = total.and_then(|total| Layout::from_size_align(total, ALIGN).ok()).ok_or(none.clone())?;
        if layout.size() == 0 {
            // Then there are no tiles.
            return Ok(Vec::new());
        }
        // SAFETY: the layout is not empty.
        let base = NonNull::new(unsafe { alloc_zeroed(layout) }).ok_or(none)?;
        // Listed only now: of a matrix that is too large there may be more tiles than a list has room for.
        let (rows, cols) = (|i: usize| mb.min(m - i * mb), |j: usize| nb.min(n - j * nb));
        let shapes = (0..n.div_ceil(nb)).flat_map(|j| (0..m.div_ceil(mb)).map(move |i| (rows(i), cols(j))));
        let (block, mut at) = (Arc::new(Block { base, layout }), 0);
        let cut = |shape: (usize, usize)| {
            // SAFETY: the offsets add up to the size of the allocation. Multiples of 64 are aligned for every element, and
            // zero bytes are a zero element.
            let first = unsafe { base.byte_add(at) }.cast();
            at += bytes_of_tile::<T>(shape).unwrap_or_default();
            Self { _block: block.clone(), first, m: shape.0, n: shape.1 }
        };
        Ok(shapes.map(cut).collect())
    }

    /// Rows and columns.
    #[must_use]
    pub fn shape(&self) -> (usize, usize) {
        (self.m, self.n)
    }
}

/// What a tile of this shape takes; `None` if that is more than can be counted.
fn bytes_of_tile<T>((m, n): (usize, usize)) -> Option<usize> {
    m.checked_mul(n)?.checked_mul(size_of::<T>())?.checked_next_multiple_of(ALIGN)
}

/// What all tiles of a matrix take: whole ones, those at the far edges, and the one in the corner.
fn bytes_of_tiles<T>((m, n): (usize, usize), (mb, nb): (usize, usize)) -> Option<usize> {
    let cut = |len: usize, block: usize| [(block, len / block), (len % block, usize::from(!len.is_multiple_of(block)))];
    let pairs = cut(m, mb).into_iter().flat_map(|rows| cut(n, nb).map(|cols| (rows, cols)));
    // A block that is larger than the matrix may be too large to count, but there is none of it.
    pairs.filter(|((_, down), (_, across))| *down > 0 && *across > 0).try_fold(0_usize, |sum, (rows, cols)| {
        let tiles = rows.1.checked_mul(cols.1)?;
        sum.checked_add(bytes_of_tile::<T>((rows.0, cols.0))?.checked_mul(tiles)?)
    })
}

// SAFETY: the region is the tile's part of the block, which the tile keeps and nobody else has, wherever the tile itself is moved. Any bytes
// are elements. Nothing here follows the pointer, and the views' residences are their columns, which are these.
unsafe impl<T: Scalar> Lend for Backing<T> {
    type With = Arc<PackStore>;
    type Mut<'s> = Tile<MatMut<'s, T>>;
    type Ref<'s> = Tile<MatRef<'s, T>>;

    fn region(&self) -> Option<HostRegion> {
        // SAFETY: as in `lend_mut`; the view is gone before anybody else has one.
        let view = unsafe { MatRef::from_address(self.first.as_ptr().cast_const(), (self.m, self.n), self.m) };
        view.residence().map(|residence| residence.region())
    }

    fn lend_mut<'s>(&'s mut self, packs: &Arc<PackStore>) -> Tile<MatMut<'s, T>> {
        // SAFETY: m n elements without gaps, in memory that is the tile's alone and that the tile, borrowed exclusively, keeps.
        let view = unsafe { MatMut::from_address(self.first.as_ptr(), (self.m, self.n), self.m) };
        Tile::new(view, packs)
    }

    fn lend_ref<'s>(&'s self, packs: &Arc<PackStore>) -> Tile<MatRef<'s, T>> {
        // SAFETY: as above, but borrowed, so nobody has it exclusively.
        let view = unsafe { MatRef::from_address(self.first.as_ptr().cast_const(), (self.m, self.n), self.m) };
        Tile::new(view, packs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{c32, c64};

    /// Tiles lie apart, at multiples of a cache line, and hold zeros.
    fn tiles_lie_apart<T: Scalar>() {
        for (shape, tile) in [((7, 5), (3, 2)), ((1, 1), (4, 4)), ((9, 1), (2, 1)), ((4, 4), (4, 4))] {
            let store = PackStore::new(0);
            let mut tiles = Backing::<T>::tiles(shape, tile).expect("little memory");
            assert_eq!(tiles.len(), shape.0.div_ceil(tile.0) * shape.1.div_ceil(tile.1));
            let regions: Vec<HostRegion> = tiles.iter().filter_map(Backing::region).collect();
            assert!(regions.iter().all(|region| region.base.addr().get().is_multiple_of(ALIGN)));
            let mut ranges: Vec<_> = regions
                .iter()
                .map(|region| (region.base.addr().get(), region.base.addr().get() + region.bytes()))
                .collect();
            ranges.sort_unstable();
            assert!(ranges.windows(2).all(|pair| pair[0].1 <= pair[1].0), "{ranges:?}");
            for (at, tile) in tiles.iter_mut().enumerate() {
                let mut lent = tile.lend_mut(&store);
                assert!(lent.view().to_vec().iter().all(|&x| x == T::ZERO));
                lent.view_mut().fill(T::from_f64(at as f64));
            }
            for (at, tile) in tiles.iter().enumerate() {
                assert!(tile.lend_ref(&store).view().to_vec().iter().all(|&x| x == T::from_f64(at as f64)));
            }
        }
    }

    #[test]
    fn tiles_of_every_type_lie_apart() {
        tiles_lie_apart::<f32>();
        tiles_lie_apart::<f64>();
        tiles_lie_apart::<c32>();
        tiles_lie_apart::<c64>();
    }

    #[test]
    fn no_elements_and_too_many() {
        for shape in [(0, 0), (0, 3), (3, 0)] {
            let tiles = Backing::<f64>::tiles(shape, (2, 2)).expect("nothing is needed");
            assert!(tiles.iter().all(|tile| tile.region().is_none()));
        }
        // More than can be counted, more than an allocation may have, and more than there is: in one tile, or in more
        // than fit a list.
        for shape in [(usize::MAX / 2, 1 << 20), (1 << 33, 1 << 31), (1 << 30, 1 << 30), (1 << 26, 1 << 26)] {
            for tile in [(usize::MAX, usize::MAX), (1, 1), (512, 512), (7, usize::MAX)] {
                let error = Backing::<f64>::tiles(shape, tile).err().expect("no memory");
                assert_eq!(error.bytes(), 8 * shape.0 as u128 * shape.1 as u128);
            }
        }
    }
}
