//! Factors that stay packed from one product to the next.
//!
//! A tiled algorithm multiplies with the same tile many times: in the update of a Cholesky factorization each tile of
//! the panel meets all the others. Packing it anew each time takes a tenth of the time of a product, because the tile
//! comes from far away. So a tile may have [`Packs`], through which the first product that has it on the left leaves
//! its packed form to the next ones, whichever thread they run on; and each thread keeps the packed form of the tile
//! that it last had on the right. A [`PackStore`] bounds the memory, and gives up forms that nobody uses any more. It
//! is what a tile cache is on a device (blasx paper, section IV.B): replicas in the layout that the processor wants.

use super::factor::Factor;
use super::mirror::Mirror;
use super::pack;
use crate::simd::Vector;
use crate::vector::dispatch::Kernel;
use crate::vector::planes::planes;
use crate::vector::sizes::{DEPTH, NV, even};
use crate::vector::workspace::Line;
use crate::{Scalar, Uplo};
use std::any::TypeId;
use std::cell::Cell;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Bytes of a right factor that a thread keeps. Larger ones are packed block by block.
const RIGHT_BYTES_MAX: usize = 4 << 20;
/// Rows and columns of a product for which it pays to pack for others: packing takes a good part of the time of smaller
/// ones, while larger ones pack their own blocks, each for many uses, rather than have them come from a cache further
/// away.
const SHARED: Range<usize> = 48..1024;

/// What was packed, and how: equal descriptions of an unchanged tile mean equal contents.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Form {
    element: TypeId,
    address: usize,
    shape: (usize, usize),
    strides: (usize, usize),
    conj: bool,
    mirror: Option<(Uplo, bool)>,
    role: Role,
}

/// The side of a product that a factor is on: vectors run along the rows of a left one, and a right one is broadcast.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Left,
    Right,
}

impl Form {
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
    form: Form,
    /// Rows of a panel.
    width: usize,
    lines: Vec<Line>,
    /// Where the lines go in the end.
    store: Option<Arc<PackStore>>,
}

impl Packed {
    /// Whether this is `factor` in that role, in panels of `width` rows.
    #[inline(always)]
    pub fn is_of<T: Scalar>(&self, factor: Factor<'_, T>, role: Role, width: usize) -> bool {
        self.form == Form::of(factor, role) && self.width == width
    }

    /// The panels of rows i .. and of the kc columns p .., of a block that begins there; i is a multiple of the width.
    #[inline(always)]
    pub fn block<T: Scalar>(&self, i: usize, p: usize, kc: usize) -> *const T::Real {
        let rows = self.form.shape.0.next_multiple_of(self.width);
        debug_assert!(i.is_multiple_of(self.width) && i < rows && p + kc <= self.form.shape.1);
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

/// Bytes that a factor takes in packed form, at most.
fn bytes_of<T: Scalar>(rows: usize, columns: usize) -> usize {
    // A panel has at most 48 rows (three vectors of 16), and a block ends in a whole one.
    rows.next_multiple_of(48) * columns * size_of::<T>()
}

/// Packs a factor: the compiled form of [`Pack`].
pub(crate) type PackWith<T> = fn(Pack<'_, T>) -> Packed;

/// A factor that is to be packed into `lines`, which are made long enough.
pub struct Pack<'a, T> {
    factor: Factor<'a, T>,
    role: Role,
    lines: Vec<Line>,
    store: Option<Arc<PackStore>>,
}

impl<T: Scalar> Kernel<T> for Pack<'_, T> {
    type Output = Packed;

    #[inline(always)]
    fn run<V: Vector<Real = T::Real>, const ROWS: usize>(self, isa: V::Isa) -> Packed {
        let Self { factor, role, mut lines, store } = self;
        let width = if role == Role::Left { NV * V::LANES } else { ROWS };
        let (rows, k) = factor.view.shape();
        let needed = bytes_of::<T>(rows, k).div_ceil(size_of::<Line>());
        if lines.len() < needed {
            lines.resize(needed, Line::ZERO);
        }
        let mut packed = Packed { form: Form::of(factor, role), width, lines, store };
        let (to, depth) = (packed.lines.as_mut_ptr().cast::<T::Real>(), even(k, DEPTH, 1));
        for p in (0..k).step_by(depth) {
            let block = factor.part(0..rows, p..k.min(p + depth));
            // SAFETY: the blocks before this one took whole panels of all rows; there is room for such of all columns,
            // because no panel is wider than `bytes_of` supposes and 48 is a multiple of every width.
            unsafe {
                pack::panels::<T, V>(isa, block, width, to.add(rows.next_multiple_of(width) * p * planes::<T>()))
            };
        }
        packed
    }
}

/// What may be remembered of a tile between products: its packed forms, which the next products then need not make.
///
/// It belongs beside the view of the tile. Who changes the tile must say so with [`Packs::forget`], which needs the
/// same exclusive access; a product that reads a changed tile through old packs computes with what the tile held
/// before.
pub struct Packs {
    /// Names the contents of the tile: another number after every change.
    stamp: AtomicU64,
    slot: Arc<Slot>,
    store: Arc<PackStore>,
}

/// The packed form of one tile.
#[derive(Default)]
struct Slot {
    state: Mutex<SlotState>,
}

#[derive(Default)]
struct SlotState {
    packed: Option<Arc<Packed>>,
    /// Whether a product has used it since the store last looked.
    used: bool,
    /// Whether the store's queue has this slot.
    queued: bool,
}

impl Slot {
    /// What the slot holds, if it has not been used since it was last asked for.
    fn give_up(&self) -> Option<Option<Arc<Packed>>> {
        let mut state = self.state.try_lock().ok()?;
        if std::mem::take(&mut state.used) {
            return None;
        }
        state.queued = false;
        Some(state.packed.take())
    }
}

impl superscalar_runtime::Derived for Packs {
    fn forget(&self) {
        Packs::forget(self);
    }
}

impl Packs {
    /// Nothing remembered yet; what will be comes from `store`.
    #[must_use]
    pub fn new(store: &Arc<PackStore>) -> Self {
        Self { stamp: next_stamp().into(), slot: Arc::default(), store: Arc::clone(store) }
    }

    /// Says that the tile is about to change, or has changed. Nobody reads it meanwhile.
    pub fn forget(&self) {
        self.stamp.store(next_stamp(), Ordering::Relaxed);
        let mut state = lock(&self.slot.state);
        (state.packed, state.used) = (None, false);
    }

    fn stamp(&self) -> u64 {
        self.stamp.load(Ordering::Relaxed)
    }

    /// The packed form of a factor of this tile, made now if need be. `None` if there is no room, or another thread is
    /// at it.
    fn left<T: Scalar>(&self, factor: Factor<'_, T>, pack: PackWith<T>) -> Option<Arc<Packed>> {
        let form = Form::of(factor, Role::Left);
        let mut state = self.slot.state.try_lock().ok()?;
        if let Some(packed) = state.packed.as_ref().filter(|packed| packed.form == form) {
            let packed = Arc::clone(packed);
            state.used = true;
            return Some(packed);
        }
        (state.packed, state.used) = (None, false);
        let lines = self.store.take(bytes_of::<T>(form.shape.0, form.shape.1))?;
        let packed = Arc::new(pack(Pack { factor, role: Role::Left, lines, store: Some(Arc::clone(&self.store)) }));
        state.packed = Some(Arc::clone(&packed));
        if !std::mem::replace(&mut state.queued, true) {
            self.store.enqueue(&self.slot);
        }
        Some(packed)
    }
}

impl Drop for Packs {
    /// The queue of the store still has the slot, and what is packed has the store: one of the two must let go.
    fn drop(&mut self) {
        lock(&self.slot.state).packed = None;
    }
}

impl std::fmt::Debug for Packs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Packs").field("stamp", &self.stamp).finish_non_exhaustive()
    }
}

fn next_stamp() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Nothing panics while it holds one of these locks, but for allocations that fail.
fn lock<S>(mutex: &Mutex<S>) -> MutexGuard<'_, S> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Memory for the packed forms of the tiles of a matrix: bounded, and recycled.
pub struct PackStore {
    bytes_max: usize,
    state: Mutex<StoreState>,
}

#[derive(Default)]
struct StoreState {
    /// Bytes of all lines that came from here, free ones included.
    bytes: usize,
    free: Vec<Vec<Line>>,
    /// Slots with something in them, in the order in which they are looked at.
    queue: VecDeque<Arc<Slot>>,
}

impl PackStore {
    /// A store of at most so many bytes.
    #[must_use]
    pub fn new(bytes_max: usize) -> Arc<Self> {
        Arc::new(Self { bytes_max, state: Mutex::default() })
    }

    /// The bytes that it has allocated.
    #[must_use]
    pub fn bytes(&self) -> usize {
        lock(&self.state).bytes
    }

    /// Lines for so many bytes, perhaps at the cost of another packed form. They are allocated when they are filled.
    ///
    /// What was used since the store last looked gets a second chance, and the new form none: where the tiles that are
    /// gone through again and again do not all fit, some of them stay, instead of each being given up just before its
    /// next use.
    fn take(&self, bytes: usize) -> Option<Vec<Line>> {
        loop {
            let mut state = lock(&self.state);
            let fits = |lines: &Vec<Line>| size_of_val(lines.as_slice()) >= bytes;
            if let Some(at) = state.free.iter().position(fits) {
                return Some(state.free.swap_remove(at));
            }
            if state.bytes + bytes <= self.bytes_max {
                state.bytes += bytes.next_multiple_of(size_of::<Line>());
                return Some(take_spare(bytes.div_ceil(size_of::<Line>())));
            }
            if let Some(lines) = state.free.pop() {
                state.bytes -= size_of_val(lines.as_slice());
                continue;
            }
            let oldest = state.queue.pop_front()?;
            drop(state);
            // A slot that is locked is in use, and waiting for it could be waiting for each other.
            let Some(packed) = oldest.give_up() else {
                self.enqueue(&oldest);
                return None;
            };
            // Its lines come back when the last product has done with them, perhaps here and now.
            drop(packed);
        }
    }

    fn give_back(&self, lines: Vec<Line>) {
        lock(&self.state).free.push(lines);
    }

    fn enqueue(&self, slot: &Arc<Slot>) {
        lock(&self.state).queue.push_back(Arc::clone(slot));
    }
}

impl Drop for PackStore {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        keep_spare(state.free.drain(..));
    }
}

/// Memory of stores that are gone, for the next ones: to get fresh memory from the system, which clears it, takes
/// longer than packing.
static SPARE: Mutex<Vec<Vec<Line>>> = Mutex::new(Vec::new());
/// Bytes that are kept for a next store at most: a factor of order 2048 in z.
const SPARE_BYTES_MAX: usize = 80 << 20;

/// The smallest spare memory of at least so many lines, or else none yet.
fn take_spare(len: usize) -> Vec<Line> {
    let mut spare = lock(&SPARE);
    let fits = spare.iter().enumerate().filter(|(_, lines)| lines.len() >= len);
    let Some((at, _)) = fits.min_by_key(|(_, lines)| lines.len()) else { return Vec::new() };
    let mut lines = spare.swap_remove(at);
    lines.truncate(len);
    lines
}

/// Keeps memory for [`take_spare`], up to the bound.
fn keep_spare(freed: impl Iterator<Item = Vec<Line>>) {
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

/// The packed form of a left factor for a product with `columns` columns, if there is one to be had.
pub(crate) fn left<T: Scalar>(factor: Factor<'_, T>, columns: usize, pack: PackWith<T>) -> Option<Arc<Packed>> {
    let worth = SHARED.contains(&columns) && factor.view.nrows() >= SHARED.start;
    factor.packs.filter(|_| worth)?.left(factor, pack)
}

/// The right factor that this thread used last.
#[derive(Default)]
struct Last {
    stamp: u64,
    packed: Option<Packed>,
}

thread_local! {
    static LAST_RIGHT: Cell<Last> = const { Cell::new(Last { stamp: 0, packed: None }) };
}

/// A packed right factor, on loan from its thread.
pub(crate) struct Right(Last);

impl Right {
    /// The packed form of the factor whose rows are the columns of the product, if the thread may keep such a one.
    pub fn of<T: Scalar>(factor: Factor<'_, T>, rows: usize, pack: PackWith<T>) -> Option<Self> {
        let (columns, k) = factor.view.shape();
        let worth = SHARED.contains(&rows) && columns >= SHARED.start && bytes_of::<T>(columns, k) <= RIGHT_BYTES_MAX;
        let packs = factor.packs.filter(|_| worth)?;
        // A thread whose destructors have run keeps nothing.
        let mut last = LAST_RIGHT.try_with(Cell::take).ok()?;
        let form = Form::of(factor, Role::Right);
        if last.stamp != packs.stamp() || last.packed.as_ref().is_none_or(|packed| packed.form != form) {
            let lines = last.packed.take().map(|mut packed| std::mem::take(&mut packed.lines)).unwrap_or_default();
            let packed = pack(Pack { factor, role: Role::Right, lines, store: None });
            last = Last { stamp: packs.stamp(), packed: Some(packed) };
        }
        Some(Self(last))
    }

    /// What is packed.
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
    fn what_is_used_stays_and_what_is_not_goes() {
        let n = SHARED.start;
        let data = vec![1.0; n * n];
        let factor = Factor::plain(MatRef::from_col_major(&data, n, n, n).unwrap());
        let store = PackStore::new(2 * bytes_of::<f64>(n, n));
        let tiles: Vec<_> = (0..3).map(|_| Packs::new(&store)).collect();
        let left = |at: usize| tiles[at].left(factor, pack).is_some();
        assert!(left(0) && left(1), "there is room for two");
        assert!(left(0) && left(1));
        assert!(!left(2) && !left(2), "both have been used and get a second chance");
        assert!(left(1));
        assert!(left(2), "the first has not been used since");
        assert!(left(1) && left(2));
        assert_eq!(store.bytes(), 2 * bytes_of::<f64>(n, n));
    }

    #[test]
    fn a_store_ends_with_its_tiles() {
        let n = SHARED.start;
        let data = vec![1.0; n * n];
        let factor = Factor::plain(MatRef::from_col_major(&data, n, n, n).unwrap());
        let store = PackStore::new(bytes_of::<f64>(n, n));
        let known = Arc::downgrade(&store);
        let tile = Packs::new(&store);
        drop(store);
        let packed = tile.left(factor, pack).expect("there is room");
        drop(tile);
        assert!(known.upgrade().is_some(), "what is packed goes back to its store");
        drop(packed);
        assert!(known.upgrade().is_none());
    }
}
