//! Factors that stay packed from one product to the next.
//!
//! A tiled algorithm multiplies with the same tile many times: the update of a Cholesky factorization combines each
//! tile of the panel with all the others. Packing takes a tenth of the time of a product, because the tile comes from
//! a distant cache. A tile may therefore have [`PackedForms`]: the first product with the tile on the left keeps its
//! packed form for later products on any thread. Each thread also keeps the packed form of its latest tile on the
//! right. A [`PackStore`] bounds the memory and evicts forms that are no longer used. This corresponds to the tile
//! cache of a device (BLASX paper, section IV.B): replicas in the layout that the processor needs.

use super::factor::Factor;
use super::mirror::Mirror;
use super::pack;
use crate::simd::Vector;
use crate::vector::dispatch::Kernel;
use crate::vector::planes::planes;
use crate::vector::sizes::{DEPTH, NV, even_block_size};
use crate::vector::workspace::CacheLine;
use crate::{Scalar, Uplo};
use std::any::TypeId;
use std::cell::Cell;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Bytes of a right factor that a thread keeps, at most. Larger ones are packed block by block.
const RIGHT_BYTES_MAX: usize = 4 << 20;
/// Rows and columns of a product whose packed factors are shared. For smaller products the packing itself takes too
/// long. Larger ones reuse each block that they pack often enough, and read it from a nearer cache.
const SHARED_SIZES: Range<usize> = 48..1024;
/// Elements of the smallest product whose packed factors are shared. A smaller one ends before it could fetch them from
/// the cache of another core. Measured: docs/measurements/2026-11-30-many-cores.md.
const SHARED_ELEMENTS_MIN: usize = 96 * 96;

/// The identity of a packed form: for an unchanged tile, equal keys mean equal contents.
#[derive(Clone, Copy, PartialEq, Eq)]
struct PackedKey {
    element: TypeId,
    address: usize,
    shape: (usize, usize),
    strides: (usize, usize),
    conj: bool,
    mirror: Option<(Uplo, bool)>,
    role: Role,
}

/// The side of a product that a factor is on: vectors run along the rows of a left factor; a right one is broadcast.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Left,
    Right,
}

impl PackedKey {
    fn of<T: Scalar>(factor: Factor<'_, T>, role: Role) -> Self {
        let view = factor.view;
        Self {
            element: TypeId::of::<T>(),
            address: view.as_ptr() as usize,
            shape: view.shape(),
            strides: (view.row_stride(), view.col_stride()),
            conj: factor.conj,
            mirror: factor.mirror.map(Mirror::kind),
            role,
        }
    }
}

/// A whole factor in packed form: blocks of columns, each in panels of rows.
pub struct Packed {
    key: PackedKey,
    /// Rows of a panel.
    width: usize,
    lines: Vec<CacheLine>,
    /// The store that gets the lines back.
    store: Option<Arc<PackStore>>,
}

impl Packed {
    /// Returns whether this is `factor` in that role, in panels of `width` rows.
    #[inline(always)]
    pub fn is_of<T: Scalar>(&self, factor: Factor<'_, T>, role: Role, width: usize) -> bool {
        self.key == PackedKey::of(factor, role) && self.width == width
    }

    /// Returns the panels from row i on of the block of columns p .. p + kc; i is a multiple of the width.
    #[inline(always)]
    pub fn block<T: Scalar>(&self, i: usize, p: usize, kc: usize) -> *const T::Real {
        let rows = self.key.shape.0.next_multiple_of(self.width);
        debug_assert!(i.is_multiple_of(self.width) && i < rows && p + kc <= self.key.shape.1);
        self.lines.as_ptr().cast::<T::Real>().wrapping_add((rows * p + i * kc) * planes::<T>())
    }
}

impl Drop for Packed {
    fn drop(&mut self) {
        if let Some(store) = &self.store {
            store.give_back(std::mem::take(&mut self.lines));
        }
    }
}

/// Returns an upper bound of the bytes of a packed factor.
fn bytes_of<T: Scalar>(rows: usize, columns: usize) -> usize {
    // A panel has at most 48 rows (three vectors of 16), and blocks are padded to whole panels.
    rows.next_multiple_of(48) * columns * size_of::<T>()
}

/// A function that packs a factor: the compiled kernel of [`Pack`].
pub(crate) type PackWith<T> = fn(Pack<'_, T>) -> Packed;

/// A factor to pack into `lines`, which are extended if they are too short.
pub struct Pack<'a, T> {
    factor: Factor<'a, T>,
    role: Role,
    lines: Vec<CacheLine>,
    store: Option<Arc<PackStore>>,
}

impl<T: Scalar> Kernel<T> for Pack<'_, T> {
    type Output = Packed;

    #[inline(always)]
    fn run<V: Vector<Real = T::Real>, const ROWS: usize>(self, isa: V::Isa) -> Packed {
        let Self { factor, role, mut lines, store } = self;
        let width = if role == Role::Left { NV * V::LANES } else { ROWS };
        let (rows, k) = factor.view.shape();
        let needed = bytes_of::<T>(rows, k).div_ceil(size_of::<CacheLine>());
        if lines.len() < needed {
            lines.resize(needed, CacheLine::ZERO);
        }
        let mut packed = Packed { key: PackedKey::of(factor, role), width, lines, store };
        let (to, depth) = (packed.lines.as_mut_ptr().cast::<T::Real>(), even_block_size(k, DEPTH, 1));
        for p in (0..k).step_by(depth) {
            let block = factor.part(0..rows, p..k.min(p + depth));
            // SAFETY: earlier blocks fill whole panels of all rows, and the lines have room for whole panels of all
            // columns: 48, to which `bytes_of` rounds up, is a multiple of every width.
            unsafe {
                pack::panels::<T, V>(isa, block, width, to.add(rows.next_multiple_of(width) * p * planes::<T>()))
            };
        }
        packed
    }
}

/// The packed forms of a tile, kept between products.
///
/// It is stored beside the view of the tile. Code that changes the tile must call [`PackedForms::forget`] under the
/// same exclusive access. Otherwise a product that reads the tile through these packs computes with its old contents.
pub struct PackedForms {
    /// Identifies the contents of the tile; a new number after every change.
    stamp: AtomicU64,
    tile_pack: Arc<TilePack>,
    store: Arc<PackStore>,
}

/// The packed form of one tile, which the queue of the store refers to as well.
#[derive(Default)]
struct TilePack {
    state: Mutex<TilePackState>,
}

#[derive(Default)]
struct TilePackState {
    packed: Option<Arc<Packed>>,
    /// Whether a product has used it since the store last checked.
    used: bool,
    /// Whether it is in the queue of the store.
    queued: bool,
}

impl TilePack {
    /// Takes the packed form out, unless it is locked or was used since the last call.
    fn evict(&self) -> Option<Option<Arc<Packed>>> {
        let mut state = self.state.try_lock().ok()?;
        if std::mem::take(&mut state.used) {
            return None;
        }
        state.queued = false;
        Some(state.packed.take())
    }
}

impl superscalar_runtime::Derived for PackedForms {
    fn forget(&self) {
        PackedForms::forget(self);
    }
}

impl PackedForms {
    /// Returns packs without a packed form; memory for one comes from `store`.
    #[must_use]
    pub fn new(store: &Arc<PackStore>) -> Self {
        Self { stamp: next_stamp().into(), tile_pack: Arc::default(), store: Arc::clone(store) }
    }

    /// Discards packed forms because the tile is about to change or has changed. The caller has exclusive access to the
    /// tile.
    pub fn forget(&self) {
        self.stamp.store(next_stamp(), Ordering::Relaxed);
        let mut state = lock(&self.tile_pack.state);
        (state.packed, state.used) = (None, false);
    }

    fn stamp(&self) -> u64 {
        self.stamp.load(Ordering::Relaxed)
    }

    /// Returns the packed form of a factor of this tile, and packs it if necessary. Returns `None` if the store has no
    /// room, or another thread holds the lock.
    fn left<T: Scalar>(&self, factor: Factor<'_, T>, pack: PackWith<T>) -> Option<Arc<Packed>> {
        let key = PackedKey::of(factor, Role::Left);
        let mut state = self.tile_pack.state.try_lock().ok()?;
        if let Some(packed) = state.packed.as_ref().filter(|packed| packed.key == key) {
            let packed = Arc::clone(packed);
            state.used = true;
            return Some(packed);
        }
        (state.packed, state.used) = (None, false);
        let lines = self.store.take(bytes_of::<T>(key.shape.0, key.shape.1))?;
        let packed = Arc::new(pack(Pack { factor, role: Role::Left, lines, store: Some(Arc::clone(&self.store)) }));
        state.packed = Some(Arc::clone(&packed));
        if !std::mem::replace(&mut state.queued, true) {
            self.store.enqueue(&self.tile_pack);
        }
        Some(packed)
    }
}

impl Drop for PackedForms {
    /// Breaks the reference cycle: the store's queue may still hold the tile's pack, and the packed form holds the
    /// store.
    fn drop(&mut self) {
        lock(&self.tile_pack.state).packed = None;
    }
}

impl std::fmt::Debug for PackedForms {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PackedForms").field("stamp", &self.stamp).finish_non_exhaustive()
    }
}

fn next_stamp() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Locks a mutex, ignoring poison: only a failed allocation can panic under one of these locks.
fn lock<S>(mutex: &Mutex<S>) -> MutexGuard<'_, S> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Memory for the packed forms of the tiles of a matrix: bounded and reused.
pub struct PackStore {
    bytes_max: usize,
    state: Mutex<StoreState>,
}

#[derive(Default)]
struct StoreState {
    /// Bytes of all lines that this store has handed out or keeps free.
    bytes: usize,
    free: Vec<Vec<CacheLine>>,
    /// Tiles with a packed form, in the order in which they are checked for eviction.
    queue: VecDeque<Arc<TilePack>>,
}

impl PackStore {
    /// Returns a store of at most `bytes_max` bytes.
    #[must_use]
    pub fn new(bytes_max: usize) -> Arc<Self> {
        Arc::new(Self { bytes_max, state: Mutex::default() })
    }

    /// Returns the bytes that the store has allocated.
    #[must_use]
    pub fn bytes(&self) -> usize {
        lock(&self.state).bytes
    }

    /// Returns lines for `bytes` bytes, possibly empty ones that the caller extends. Evicts another packed form if
    /// needed.
    ///
    /// A form used since the last check stays, and the new one is not stored. So if a cycle of tiles does not fit, some
    /// of them stay packed, instead of each being evicted just before its next use.
    fn take(&self, bytes: usize) -> Option<Vec<CacheLine>> {
        loop {
            let mut state = lock(&self.state);
            let fits = |lines: &Vec<CacheLine>| size_of_val(lines.as_slice()) >= bytes;
            if let Some(at) = state.free.iter().position(fits) {
                return Some(state.free.swap_remove(at));
            }
            if state.bytes + bytes <= self.bytes_max {
                state.bytes += bytes.next_multiple_of(size_of::<CacheLine>());
                return Some(take_spare(bytes.div_ceil(size_of::<CacheLine>())));
            }
            if let Some(lines) = state.free.pop() {
                state.bytes -= size_of_val(lines.as_slice());
                continue;
            }
            let oldest = state.queue.pop_front()?;
            drop(state);
            // Do not wait for a lock here: its holder may be waiting for the store.
            let Some(packed) = oldest.evict() else {
                self.enqueue(&oldest);
                return None;
            };
            // The lines return when the last product drops the form, possibly right here.
            drop(packed);
        }
    }

    fn give_back(&self, lines: Vec<CacheLine>) {
        lock(&self.state).free.push(lines);
    }

    fn enqueue(&self, tile_pack: &Arc<TilePack>) {
        lock(&self.state).queue.push_back(Arc::clone(tile_pack));
    }
}

impl Drop for PackStore {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        keep_spare(state.free.drain(..));
    }
}

/// Memory of dropped stores, kept for new ones: fresh memory from the system is zeroed, which takes longer than
/// packing.
static SPARE: Mutex<Vec<Vec<CacheLine>>> = Mutex::new(Vec::new());
/// Bytes that are kept for new stores, at most: a factor of order 2048 in z.
const SPARE_BYTES_MAX: usize = 80 << 20;

/// Returns the smallest spare memory of at least `len` lines, or an empty vector.
fn take_spare(len: usize) -> Vec<CacheLine> {
    let mut spare = lock(&SPARE);
    let fits = spare.iter().enumerate().filter(|(_, lines)| lines.len() >= len);
    let Some((at, _)) = fits.min_by_key(|(_, lines)| lines.len()) else { return Vec::new() };
    let mut lines = spare.swap_remove(at);
    lines.truncate(len);
    lines
}

/// Keeps memory for [`take_spare`], up to the limit.
fn keep_spare(freed: impl Iterator<Item = Vec<CacheLine>>) {
    let mut spare = lock(&SPARE);
    let mut bytes: usize = spare.iter().map(|lines| size_of_val(lines.as_slice())).sum();
    for lines in freed {
        bytes += size_of_val(lines.as_slice());
        if bytes > SPARE_BYTES_MAX {
            break;
        }
        spare.push(lines);
    }
}

impl std::fmt::Debug for PackStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PackStore").field("bytes_max", &self.bytes_max).finish_non_exhaustive()
    }
}

/// Returns the packed form of a left factor for a product with `columns` columns, if sharing it pays off and it is
/// available.
pub(crate) fn left<T: Scalar>(factor: Factor<'_, T>, columns: usize, pack: PackWith<T>) -> Option<Arc<Packed>> {
    let worth = is_worth_sharing(factor.view.nrows(), columns);
    factor.packs.filter(|_| worth)?.left(factor, pack)
}

/// Returns whether the packed form of a factor with this many rows is kept for the next product, if the other factor
/// has `others` rows or columns.
fn is_worth_sharing(rows: usize, others: usize) -> bool {
    SHARED_SIZES.contains(&others) && rows >= SHARED_SIZES.start && rows.saturating_mul(others) >= SHARED_ELEMENTS_MIN
}

/// The right factor that this thread used last.
#[derive(Default)]
struct LastRight {
    stamp: u64,
    packed: Option<Packed>,
}

thread_local! {
    static LAST_RIGHT: Cell<LastRight> = const { Cell::new(LastRight { stamp: 0, packed: None }) };
}

/// A packed right factor, borrowed from its thread until dropped.
pub(crate) struct Right(LastRight);

impl Right {
    /// Returns the packed form of the factor whose rows are the columns of the product, if a thread keeps factors of
    /// this size.
    pub fn of<T: Scalar>(factor: Factor<'_, T>, rows: usize, pack: PackWith<T>) -> Option<Self> {
        let (columns, k) = factor.view.shape();
        let worth = is_worth_sharing(columns, rows) && bytes_of::<T>(columns, k) <= RIGHT_BYTES_MAX;
        let packs = factor.packs.filter(|_| worth)?;
        // Fails if the destructors of this thread have run; nothing is kept then.
        let mut last = LAST_RIGHT.try_with(Cell::take).ok()?;
        let key = PackedKey::of(factor, Role::Right);
        if last.stamp != packs.stamp() || last.packed.as_ref().is_none_or(|packed| packed.key != key) {
            let lines = last.packed.take().map(|mut packed| std::mem::take(&mut packed.lines)).unwrap_or_default();
            let packed = pack(Pack { factor, role: Role::Right, lines, store: None });
            last = LastRight { stamp: packs.stamp(), packed: Some(packed) };
        }
        Some(Self(last))
    }

    /// Returns the packed form.
    #[inline(always)]
    pub fn packed(&self) -> Option<&Packed> {
        self.0.packed.as_ref()
    }
}

impl Drop for Right {
    fn drop(&mut self) {
        let last = std::mem::take(&mut self.0);
        let _ = LAST_RIGHT.try_with(|place| place.set(last));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MatRef;
    use crate::vector::dispatch::dispatch;

    fn pack(pack: Pack<'_, f64>) -> Packed {
        dispatch(pack)
    }

    #[test]
    fn used_forms_get_a_second_chance() {
        let n = SHARED_SIZES.start;
        let data = vec![1.0; n * n];
        let factor = Factor::plain(MatRef::from_col_major(&data, n, n, n).unwrap());
        let store = PackStore::new(2 * bytes_of::<f64>(n, n));
        let tiles: Vec<_> = (0..3).map(|_| PackedForms::new(&store)).collect();
        let left = |at: usize| tiles[at].left(factor, pack).is_some();
        assert!(left(0) && left(1), "there is room for two");
        assert!(left(0) && left(1));
        assert!(!left(2) && !left(2), "both have been used and get a second chance");
        assert!(left(1));
        assert!(left(2), "the first form has not been used since");
        assert!(left(1) && left(2));
        assert_eq!(store.bytes(), 2 * bytes_of::<f64>(n, n));
    }

    #[test]
    fn store_is_freed_with_its_tiles() {
        let n = SHARED_SIZES.start;
        let data = vec![1.0; n * n];
        let factor = Factor::plain(MatRef::from_col_major(&data, n, n, n).unwrap());
        let store = PackStore::new(bytes_of::<f64>(n, n));
        let known = Arc::downgrade(&store);
        let tile = PackedForms::new(&store);
        drop(store);
        let packed = tile.left(factor, pack).expect("there is room");
        drop(tile);
        assert!(known.upgrade().is_some(), "the packed form keeps its store");
        drop(packed);
        assert!(known.upgrade().is_none());
    }
}
