//! [`Backing`]: host memory for a tile that lives on devices.
//!
//! A tile on a device needs a place in host memory for when it is evicted, or when a host task reads it. These places
//! are zeroed memory that the system provides when it is first touched: until a tile is copied to the host, its place
//! occupies addresses only. One allocation holds all tiles of a matrix, one after the other, each without gaps between
//! its columns.

use crate::{BatchMut, BatchPlacement, BatchRef, BatchView, MatMut, MatRef, NoMemory, Scalar, Tile, cpu::PackStore};
use bytemuck::Pod;
use std::{
    alloc::{Layout, alloc_zeroed, dealloc},
    ptr::NonNull,
    sync::Arc,
};
use superscalar_runtime::{HostRegion, Lendable};

/// Alignment of a tile's first element: a cache line, which is a multiple of every vector's size.
const TILE_ALIGN_BYTES: usize = 64;
/// Alignment of the allocation. With a larger one the allocator writes all zeros itself, which takes a second for two
/// gigabytes, instead of leaving them to the system.
const BASE_ALIGN_BYTES: usize = 16;

/// Owns the memory of all tiles of a matrix.
struct TileMemory {
    base: NonNull<u8>,
    layout: Layout,
}

// SAFETY: the value owns its memory and never reads or writes it; only the tiles cut from it do, each its own part.
unsafe impl Send for TileMemory {}
// SAFETY: a shared reference gives no access to the memory; the tiles cut from it have disjoint parts.
unsafe impl Sync for TileMemory {}

impl Drop for TileMemory {
    fn drop(&mut self) {
        // SAFETY: `base` was allocated with this layout, whose size is not zero. Every tile keeps an `Arc`, so none is
        // left.
        unsafe { dealloc(self.base.as_ptr(), self.layout) }
    }
}

/// The place of one tile in host memory; see the module's head. It is meant for a
/// [`Resident`](superscalar_runtime::Resident).
///
/// ```
/// use superscalar::kernels::Backing;
/// let tiles = Backing::<f64>::tiles((5, 4), (2, 3))?;
/// let shapes: Vec<_> = tiles.iter().map(Backing::shape).collect();
/// assert_eq!(shapes, [(2, 3), (2, 3), (1, 3), (2, 1), (2, 1), (1, 1)]);
/// # Ok::<(), superscalar::kernels::NoMemory>(())
/// ```
pub struct Backing<T> {
    /// Keeps the allocation alive.
    _memory: Arc<TileMemory>,
    first: NonNull<T>,
    m: usize,
    n: usize,
}

// SAFETY: the value owns its elements, which no other tile reaches, as a `Vec<T>` does.
unsafe impl<T: Send> Send for Backing<T> {}
// SAFETY: a shared reference only reads the elements, which only this value reaches.
unsafe impl<T: Sync> Sync for Backing<T> {}

impl<T: Pod> Backing<T> {
    /// Allocates an m x n matrix of zeros in mb x nb tiles (smaller at the far edges), and returns the tiles column by
    /// column.
    ///
    /// # Errors
    /// If the allocation fails, or its size is not representable.
    ///
    /// # Panics
    /// If `mb` or `nb` is zero.
    pub fn tiles((m, n): (usize, usize), (mb, nb): (usize, usize)) -> Result<Vec<Self>, NoMemory> {
        const { assert!(align_of::<T>() <= TILE_ALIGN_BYTES, "tiles are not aligned for such elements") };
        assert!(mb > 0 && nb > 0, "tiles of {mb} x {nb} elements: expected at least 1 x 1");
        let none = NoMemory::for_matrix::<T>((m, n));
        let total = bytes_of_tiles::<T>((m, n), (mb, nb));
        if total == Some(0) {
            // The matrix has no elements.
            return Ok(Vec::new());
        }
        // Room for aligning the first tile.
        let total = total.and_then(|total| total.checked_add(TILE_ALIGN_BYTES - BASE_ALIGN_BYTES));
        let layout = total.and_then(|total| Layout::from_size_align(total, BASE_ALIGN_BYTES).ok());
        let layout = layout.ok_or(none.clone())?;
        // SAFETY: the size of the layout is not zero.
        let base = NonNull::new(unsafe { alloc_zeroed(layout) }).ok_or(none)?;
        // The list is made after the allocation: a matrix too large to allocate may have more tiles than a list can
        // hold.
        let (rows, cols) = (|i: usize| mb.min(m - i * mb), |j: usize| nb.min(n - j * nb));
        let shapes = (0..n.div_ceil(nb)).flat_map(|j| (0..m.div_ceil(mb)).map(move |i| (rows(i), cols(j))));
        let (memory, mut at) = (Arc::new(TileMemory { base, layout }), base.align_offset(TILE_ALIGN_BYTES));
        let cut = |shape: (usize, usize)| {
            // SAFETY: the offsets are within the allocation, whose size is their sum and the most that aligning the
            // first one takes. The tiles are aligned to 64 bytes and so for every element type, and zero bytes are a
            // valid element.
            let first = unsafe { base.byte_add(at) }.cast();
            at += bytes_of_tile::<T>(shape).unwrap_or_default();
            Self { _memory: memory.clone(), first, m: shape.0, n: shape.1 }
        };
        Ok(shapes.map(cut).collect())
    }

    /// Returns the numbers of rows and columns.
    #[must_use]
    pub fn shape(&self) -> (usize, usize) {
        (self.m, self.n)
    }
}

/// The bytes of a tile, padded to the alignment; `None` on overflow.
fn bytes_of_tile<T>((m, n): (usize, usize)) -> Option<usize> {
    m.checked_mul(n)?.checked_mul(size_of::<T>())?.checked_next_multiple_of(TILE_ALIGN_BYTES)
}

/// The bytes of all tiles of a matrix: the full ones, those at the far edges, and the corner.
fn bytes_of_tiles<T>((m, n): (usize, usize), (mb, nb): (usize, usize)) -> Option<usize> {
    let cut = |len: usize, block: usize| [(block, len / block), (len % block, usize::from(!len.is_multiple_of(block)))];
    let pairs = cut(m, mb).into_iter().flat_map(|rows| cut(n, nb).map(|cols| (rows, cols)));
    // The size of a block larger than the matrix may overflow, but there is no such tile.
    pairs.filter(|((_, down), (_, across))| *down > 0 && *across > 0).try_fold(0_usize, |sum, (rows, cols)| {
        let tiles = rows.1.checked_mul(cols.1)?;
        sum.checked_add(bytes_of_tile::<T>((rows.0, cols.0))?.checked_mul(tiles)?)
    })
}

impl<T> Backing<T> {
    /// Returns a view of the elements.
    fn view(&self) -> MatRef<'_, T> {
        // SAFETY: the m n elements are without gaps and belong to this tile, whose shared borrow excludes writes.
        unsafe { MatRef::from_address(self.first.as_ptr().cast_const(), (self.m, self.n), self.m) }
    }

    /// Returns a mutable view of the elements.
    fn view_mut(&mut self) -> MatMut<'_, T> {
        // SAFETY: the m n elements are without gaps and belong to this tile alone, which is borrowed exclusively.
        unsafe { MatMut::from_address(self.first.as_ptr(), (self.m, self.n), self.m) }
    }
}

// SAFETY: the region is the tile's own part of the allocation, which the tile keeps alive and which does not move with
// the tile. Every bit pattern is a valid element. The methods do not follow the pointer, and the residences of the
// views are exactly their columns.
unsafe impl<T: Scalar> Lendable for Backing<T> {
    type With = Arc<PackStore>;
    type Mut<'s> = Tile<MatMut<'s, T>>;
    type Ref<'s> = Tile<MatRef<'s, T>>;

    fn region(&self) -> Option<HostRegion> {
        self.view().residence().map(|residence| residence.region())
    }

    fn lend_mut<'s>(&'s mut self, packs: &Arc<PackStore>) -> Tile<MatMut<'s, T>> {
        Tile::new(self.view_mut(), packs)
    }

    fn lend_ref<'s>(&'s self, packs: &Arc<PackStore>) -> Tile<MatRef<'s, T>> {
        Tile::new(self.view(), packs)
    }
}

/// The place in host memory of a batch that lives on devices. It is meant for a
/// [`Resident`](superscalar_runtime::Resident).
///
/// ```
/// use superscalar::kernels::BatchBacking;
/// let batch = BatchBacking::<f64>::uniform((3, 3), 100)?;
/// assert_eq!(batch.placement().len(), 100);
/// # Ok::<(), superscalar::kernels::NoMemory>(())
/// ```
pub struct BatchBacking<T> {
    /// A column with all elements; none if there are none.
    elements: Option<Backing<T>>,
    placement: BatchPlacement,
}

impl<T: Pod> BatchBacking<T> {
    /// Allocates `count` matrices of zeros, all of this shape.
    ///
    /// # Errors
    /// If the allocation fails, or its size is not representable.
    pub fn uniform(shape @ (m, n): (usize, usize), count: usize) -> Result<Self, NoMemory> {
        let elements = m.checked_mul(n).and_then(|size| size.checked_mul(count));
        let elements = elements.ok_or(NoMemory::for_matrix::<T>((m.saturating_mul(n), count)))?;
        let placement = BatchPlacement::Strided { shape, ld: m.max(1), is_packed: true, count };
        Ok(Self { elements: column(elements)?, placement })
    }

    /// Allocates matrices of zeros of these shapes.
    ///
    /// # Errors
    /// Like [`uniform`](Self::uniform).
    pub fn shaped(shapes: &[(usize, usize)]) -> Result<Self, NoMemory> {
        let (mut end, mut members) = (Some(0_usize), Vec::with_capacity(shapes.len()));
        for &(m, n) in shapes {
            members.push((end.unwrap_or(0), (m, n)));
            end = end.and_then(|end| end.checked_add(m.checked_mul(n)?));
        }
        let elements = end.ok_or(NoMemory::for_matrix::<T>((usize::MAX, shapes.len())))?;
        Ok(Self { elements: column(elements)?, placement: BatchPlacement::Shaped(members) })
    }
}

impl<T> BatchBacking<T> {
    /// Returns where the matrices are.
    #[must_use]
    pub fn placement(&self) -> &BatchPlacement {
        &self.placement
    }
}

/// Allocates a column of zeros, unless it would be empty.
fn column<T: Pod>(elements: usize) -> Result<Option<Backing<T>>, NoMemory> {
    Ok(Backing::tiles((elements, 1), (elements.max(1), 1))?.into_iter().next())
}

// SAFETY: the region is that of the column, which is a tile of its own, and any bytes are valid elements. The views are
// views of that column; their residence is all of it, because nothing lies between the matrices.
unsafe impl<T: Pod + Send + Sync> Lendable for BatchBacking<T> {
    type With = ();
    type Mut<'s> = BatchView<'s, T>;
    type Ref<'s> = BatchView<'s, T>;

    fn region(&self) -> Option<HostRegion> {
        self.elements.as_ref()?.view().residence().map(|residence| residence.region())
    }

    fn lend_mut<'s>(&'s mut self, (): &()) -> BatchView<'s, T> {
        let elements = self.elements.as_mut().map_or_else(MatMut::empty, Backing::view_mut);
        BatchView::Mut(BatchMut::in_column(elements, &self.placement))
    }

    fn lend_ref<'s>(&'s self, (): &()) -> BatchView<'s, T> {
        let elements = self.elements.as_ref().map_or_else(MatRef::empty, Backing::view);
        BatchView::Ref(BatchRef::in_column(elements, &self.placement))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{c32, c64};

    /// Tiles do not overlap, are aligned, and hold zeros.
    fn check_tiles<T: Scalar>() {
        for (shape, tile) in [((7, 5), (3, 2)), ((1, 1), (4, 4)), ((9, 1), (2, 1)), ((4, 4), (4, 4))] {
            let store = PackStore::new(0);
            let mut tiles = Backing::<T>::tiles(shape, tile).expect("the matrix is small");
            assert_eq!(tiles.len(), shape.0.div_ceil(tile.0) * shape.1.div_ceil(tile.1));
            let regions: Vec<HostRegion> = tiles.iter().filter_map(Backing::region).collect();
            assert!(regions.iter().all(|region| region.base.addr().get().is_multiple_of(TILE_ALIGN_BYTES)));
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
    fn tiles_of_every_type_are_disjoint() {
        check_tiles::<f32>();
        check_tiles::<f64>();
        check_tiles::<c32>();
        check_tiles::<c64>();
    }

    /// Two gigabytes take addresses, but no memory before they are touched.
    #[cfg(target_os = "linux")]
    #[cfg_attr(miri, ignore = "reads a file of the system")]
    #[test]
    fn untouched_tiles_take_no_memory() {
        let resident_kilobytes = || -> u64 {
            let status = std::fs::read_to_string("/proc/self/status").expect("Linux has it");
            let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("the resident memory");
            line.trim().trim_end_matches(" kB").parse().expect("a number")
        };
        let before = resident_kilobytes();
        let tiles = Backing::<f64>::tiles((1 << 14, 1 << 14), (1 << 9, 1 << 9)).expect("addresses");
        let kilobytes = resident_kilobytes().saturating_sub(before);
        assert!(kilobytes < 1 << 18, "{kilobytes} kB for {} tiles", tiles.len());
    }

    #[test]
    fn empty_and_too_large_matrices() {
        for shape in [(0, 0), (0, 3), (3, 0)] {
            let tiles = Backing::<f64>::tiles(shape, (2, 2)).expect("no memory is needed");
            assert!(tiles.iter().all(|tile| tile.region().is_none()));
        }
        // Element counts that overflow, exceed the largest allocation, or exceed the memory; as one tile and as too
        // many for a list.
        for shape in [(usize::MAX / 2, 1 << 20), (1 << 33, 1 << 31), (1 << 30, 1 << 30), (1 << 26, 1 << 26)] {
            for tile in [(usize::MAX, usize::MAX), (1, 1), (512, 512), (7, usize::MAX)] {
                let error = Backing::<f64>::tiles(shape, tile).err().expect("no memory");
                assert_eq!(error.bytes(), 8 * shape.0 as u128 * shape.1 as u128);
            }
        }
    }
}
