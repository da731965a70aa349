//! The plain modes: read, write, read_write and commute.

use super::{AccessTarget, Accesses, ItemOf, Named, sealed};
use crate::{
    datum::{Exclusion, Execution, Version},
    error::Failure,
    hazard::Mode,
    insert::{Inserter, Insertion},
};
use std::{ptr::NonNull, sync::Arc};

/// An access bound to the version that was current when its task was inserted.
pub struct BoundTo<T: ?Sized, const MODE: u8>(NonNull<Version<T>>);

// SAFETY: it is a pointer to a version, which is `Sync`. The hazards order every use of the value, and values are `Send
// + Sync` by the bounds on making a handle.
unsafe impl<T: ?Sized, const MODE: u8> Send for BoundTo<T, MODE> {}

pub(crate) const READ: u8 = 0;
pub(crate) const WRITE: u8 = 1;
pub(crate) const READ_WRITE: u8 = 2;
const COMMUTE: u8 = 3;

impl<T: ?Sized, const MODE: u8> BoundTo<T, MODE> {
    pub(crate) fn place(&self) -> NonNull<T> {
        self.version().place()
    }

    fn version(&self) -> &Version<T> {
        // SAFETY: versions live until every task that names their datum is done (`datum/mod.rs`).
        unsafe { self.0.as_ref() }
    }
}

macro_rules! plain_mode {
    ($(#[$doc:meta])* $name:ident = $mode:ident, $code:ident, item = $item:ty, $cast:ident, rename = $rename:expr) => {
        $(#[$doc])*
        #[must_use = "an access does nothing until it is given to a task"]
        pub struct $name<'h, 'd, T: ?Sized>(pub(crate) AccessTarget<'h, 'd, T>);

        impl<'s, 'd: 's, T: ?Sized> Accesses<'s> for $name<'_, 'd, T> {}

        impl<T: ?Sized> sealed::Accesses for $name<'_, '_, T> {
            type Bound = BoundTo<T, $code>;

            #[inline]
            fn names(&self, visit: &mut impl FnMut(Named)) {
                visit(self.0.named(Mode::$mode));
            }

            #[inline]
            fn prepare(&self, inserter: &Inserter<'_>) {
                self.0.prepare(inserter, Mode::$mode, None);
            }

            #[inline]
            fn enter(self, insertion: &mut Insertion<'_>) -> Self::Bound {
                let datum = self.0.datum();
                // SAFETY: `Insertion` exists only while its owner is the inserter of the data's level.
                let version = unsafe {
                    if $rename && insertion.renames {
                        datum.rename_if_busy(|task| insertion.slab().is_done(task));
                    }
                    datum.current()
                };
                insertion.access(version, Mode::$mode);
                BoundTo(NonNull::from(version))
            }
        }

        impl<'t, T: ?Sized> ItemOf<'t, &'t BoundTo<T, $code>> for BoundTo<T, $code> {
            type Item = $item;
        }

        impl<T: ?Sized> sealed::Bound for BoundTo<T, $code> {
            const COMMUTES: bool = $code == COMMUTE;

            #[inline]
            fn poison(&self) -> Option<Arc<Failure>> {
                if Mode::$mode.reads() { self.version().execution.poison() } else { None }
            }

            #[inline]
            unsafe fn item<'t>(&'t mut self) -> <Self as ItemOf<'t>>::Item {
                // SAFETY: the task is running, so its hazards give it the right to the value in this mode for as long
                // as the body runs, which is `'t`. A task names a datum only once, unless it only reads it.
                unsafe { self.version().place().$cast() }
            }

            #[inline]
            fn settle(self, result: Result<(), &Arc<Failure>>) {
                if !Mode::$mode.writes() {
                    return;
                }
                match result {
                    Ok(()) => self.version().execution.clear_poison(),
                    Err(failure) => self.version().execution.set_poison(failure),
                }
            }

            #[inline]
            fn uses(&self, visit: &mut dyn FnMut(&Execution, Mode)) {
                visit(&self.version().execution, Mode::$mode);
            }

            fn exclusions(&self, into: &mut Vec<*const Exclusion>) {
                if Self::COMMUTES {
                    into.push(&raw const self.version().execution.exclusion);
                }
            }
        }
    };
}

plain_mode! {
    /// Reads the value; the body sees `&T`. Readers of one value may run at the same time.
    Read = Read, READ, item = &'t T, as_ref, rename = false
}
plain_mode! {
    /// Overwrites the value; the body sees `&mut T` and must overwrite all of it: the previous contents are valid but
    /// unspecified.
    ///
    /// If the handle allows renaming, the task does not wait for the tasks that still use the old value.
    Write = Write, WRITE, item = &'t mut T, as_mut, rename = true
}
plain_mode! {
    /// Reads and changes the value; the body sees `&mut T`.
    ReadWrite = ReadWrite, READ_WRITE, item = &'t mut T, as_mut, rename = false
}
plain_mode! {
    /// Changes the value in a way that commutes with neighbouring accesses of the same mode; the body sees `&mut T`.
    ///
    /// Such tasks run one at a time, in any order.
    Commute = Commute, COMMUTE, item = &'t mut T, as_mut, rename = false
}
