//! Scratch: working memory that a task needs only while it runs.
//!
//! A [`ScratchPool`] lends each running task a value of its own and takes it back afterwards, so there are never more
//! values than tasks running at once. Scratch causes no hazards.

use super::{Accesses, Invariant, ItemOf, Named, sealed};
use crate::{
    datum::{Exclusion, Execution},
    error::Failure,
    hazard::Mode,
    insert::{Inserter, Insertion},
};
use std::{
    ptr::NonNull,
    sync::{Arc, Mutex, PoisonError},
};

/// The unused values of a pool, and the function that makes more.
pub(crate) struct Pool<T> {
    free: Mutex<Vec<T>>,
    make: Box<dyn Fn() -> T + Send + Sync>,
}

impl<T> Pool<T> {
    pub(crate) fn new(make: Box<dyn Fn() -> T + Send + Sync>) -> Self {
        Self { free: Mutex::default(), make }
    }

    fn take(&self) -> T {
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner).pop();
        free.unwrap_or_else(|| (self.make)())
    }

    fn give(&self, value: T) {
        self.free.lock().unwrap_or_else(PoisonError::into_inner).push(value);
    }
}

/// A pool of working memory, made by [`Scope::scratch`](crate::Scope::scratch).
///
/// ```
/// # extern crate superscalar_runtime as superscalar;
/// use superscalar::Runtime;
/// # fn main() -> Result<(), superscalar::Error> {
/// let rt = Runtime::builder().workers(2).build()?;
/// let mut rows = vec![vec![3.0, 1.0, 2.0], vec![9.0, 7.0, 8.0]];
/// let mut medians = vec![0.0; 2];
/// rt.scope(|s| {
///     let work = s.scratch(|| Vec::with_capacity(3));
///     for (row, median) in rows.iter_mut().zip(&mut medians) {
///         let (row, median) = (s.lend(row), s.lend(median));
///         s.spawn("median", (row.read(), median.write(), work.access()), |(row, median, work)| {
///             work.clear();
///             work.extend_from_slice(row);
///             work.sort_by(f64::total_cmp);
///             *median = work[work.len() / 2];
///         });
///     }
/// })?;
/// assert_eq!(medians, [2.0, 8.0]);
/// # Ok(())
/// # }
/// ```
pub struct ScratchPool<'d, T> {
    pub(crate) pool: NonNull<Pool<T>>,
    pub(crate) lifetime: Invariant<'d>,
}

impl<T> Clone for ScratchPool<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for ScratchPool<'_, T> {}

impl<'d, T> ScratchPool<'d, T> {
    /// Returns an access to working memory for one task; the body sees `&mut T`, with contents left by earlier tasks.
    pub fn access(self) -> Scratch<'d, T> {
        Scratch(self)
    }
}

/// Working memory for one task; the body sees `&mut T`. Made by [`ScratchPool::access`].
#[must_use = "an access does nothing until it is given to a task"]
pub struct Scratch<'d, T>(ScratchPool<'d, T>);

/// The bound form of [`Scratch`].
pub struct BoundScratch<T> {
    pool: NonNull<Pool<T>>,
    value: Option<T>,
}

// SAFETY: it is a pointer to a pool, which is `Sync`, and a value, which is `Send` by the bound on making a pool.
unsafe impl<T> Send for BoundScratch<T> {}

impl<'s, 'd: 's, T> Accesses<'s> for Scratch<'d, T> {}

impl<T> sealed::Accesses for Scratch<'_, T> {
    type Bound = BoundScratch<T>;

    fn names(&self, _: &mut impl FnMut(Named)) {}

    fn prepare(&self, _: &Inserter<'_>) {}

    fn enter(self, _: &mut Insertion<'_>) -> Self::Bound {
        BoundScratch { pool: self.0.pool, value: None }
    }
}

impl<'t, T> ItemOf<'t, &'t BoundScratch<T>> for BoundScratch<T> {
    type Item = &'t mut T;
}

impl<T> sealed::Bound for BoundScratch<T> {
    const COMMUTES: bool = false;

    fn poison(&self) -> Option<Arc<Failure>> {
        None
    }

    unsafe fn item<'t>(&'t mut self) -> <Self as ItemOf<'t>>::Item {
        // SAFETY: pools live until every task of their scope is done.
        self.value.insert(unsafe { self.pool.as_ref() }.take())
    }

    fn settle(mut self, _: Result<(), &Arc<Failure>>) {
        if let Some(value) = self.value.take() {
            // SAFETY: pools live until every task of their scope is done.
            unsafe { self.pool.as_ref() }.give(value);
        }
    }

    fn exclusions(&self, _: &mut Vec<*const Exclusion>) {}

    fn uses(&self, _: &mut dyn FnMut(&Execution, Mode)) {}
}
