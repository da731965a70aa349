//! Accesses composed of tuples, arrays and `Vec`s of accesses.

use super::{Accesses, Bound, ItemOf, Named, sealed};
use crate::{
    datum::{Exclusion, Execution},
    error::Failure,
    hazard::Mode,
    insert::{Inserter, Insertion},
};
use std::sync::Arc;

/// Implements the access traits for one tuple; the empty tuple names nothing.
macro_rules! tuple {
    ($($name:ident $at:tt),*) => {
        impl<'d, $($name: Accesses<'d>),*> Accesses<'d> for ($($name,)*) {}

        impl<$($name: sealed::Accesses),*> sealed::Accesses for ($($name,)*) {
            type Bound = ($($name::Bound,)*);

            #[inline]
            fn names(&self, _visit: &mut impl FnMut(Named)) {
                $(self.$at.names(_visit);)*
            }

            #[inline]
            fn prepare(&self, _inserter: &Inserter<'_>) {
                $(self.$at.prepare(_inserter);)*
            }

            #[inline]
            #[allow(clippy::unused_unit, reason = "needed for the empty tuple")]
            fn enter(self, _insertion: &mut Insertion<'_>) -> Self::Bound {
                ($(self.$at.enter(_insertion),)*)
            }
        }

        impl<'t, $($name: Bound),*> ItemOf<'t, &'t ($($name,)*)> for ($($name,)*) {
            type Item = ($(<$name as ItemOf<'t>>::Item,)*);
        }

        impl<$($name: Bound),*> sealed::Bound for ($($name,)*) {
            const COMMUTES: bool = false $(|| $name::COMMUTES)*;

            #[inline]
            fn poison(&self) -> Option<Arc<Failure>> {
                $(if let Some(failure) = self.$at.poison() {
                    return Some(failure);
                })*
                None
            }

            #[inline]
            #[allow(clippy::unused_unit, reason = "needed for the empty tuple")]
            unsafe fn item<'t>(&'t mut self) -> <Self as ItemOf<'t>>::Item {
                // SAFETY: the caller's contract holds for the whole task, and so for each of its accesses.
                ($(unsafe { self.$at.item() },)*)
            }

            #[inline]
            fn settle(self, _result: Result<(), &Arc<Failure>>) {
                $(self.$at.settle(_result);)*
            }

            fn exclusions(&self, _into: &mut Vec<*const Exclusion>) {
                $(self.$at.exclusions(_into);)*
            }

            #[inline]
            fn uses(&self, _visit: &mut dyn FnMut(&Execution, Mode)) {
                $(self.$at.uses(_visit);)*
            }
        }
    };
}

tuple!();
tuple!(A 0);
tuple!(A 0, B 1);
tuple!(A 0, B 1, C 2);
tuple!(A 0, B 1, C 2, D 3);
tuple!(A 0, B 1, C 2, D 3, E 4);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5, G 6);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11);

/// Implements the access traits for a list. `$each` turns the list into an iterator and `$all` collects it, if needed.
macro_rules! many {
    ([$($generics:tt)*] $from:ty => $bound:ty, [$($each:ident)?] [$($all:ident)?]) => {
        impl<'d, A: Accesses<'d>, $($generics)*> Accesses<'d> for $from {}

        impl<A: sealed::Accesses, $($generics)*> sealed::Accesses for $from {
            type Bound = $bound;

            fn names(&self, visit: &mut impl FnMut(Named)) {
                self.iter().for_each(|access| access.names(visit));
            }

            fn prepare(&self, inserter: &Inserter<'_>) {
                self.iter().for_each(|access| access.prepare(inserter));
            }

            fn enter(self, insertion: &mut Insertion<'_>) -> Self::Bound {
                self$(.$each())?.map(|access| access.enter(insertion))$(.$all())?
            }
        }
    };
}

/// Implements the bound-access traits for a list of bound accesses.
macro_rules! many_bound {
    ([$($generics:tt)*] $from:ty => $item:ty, [$each:ident] [$($all:ident)?]) => {
        impl<'t, B: Bound, $($generics)*> ItemOf<'t, &'t $from> for $from {
            type Item = $item;
        }

        impl<B: Bound, $($generics)*> sealed::Bound for $from {
            const COMMUTES: bool = B::COMMUTES;

            fn poison(&self) -> Option<Arc<Failure>> {
                self.iter().find_map(|bound| bound.poison())
            }

            unsafe fn item<'t>(&'t mut self) -> <Self as ItemOf<'t>>::Item {
                // SAFETY: the caller's contract holds for the whole task, and so for each of its accesses.
                self.$each().map(|bound| unsafe { bound.item() })$(.$all())?
            }

            fn settle(self, result: Result<(), &Arc<Failure>>) {
                self.into_iter().for_each(|bound| bound.settle(result));
            }

            fn exclusions(&self, into: &mut Vec<*const Exclusion>) {
                self.iter().for_each(|bound| bound.exclusions(into));
            }

            fn uses(&self, visit: &mut dyn FnMut(&Execution, Mode)) {
                self.iter().for_each(|bound| bound.uses(visit));
            }
        }
    };
}

many!([const N: usize] [A; N] => [A::Bound; N], [] []);
many!([] Vec<A> => Vec<A::Bound>, [into_iter] [collect]);
many_bound!([const N: usize] [B; N] => [<B as ItemOf<'t>>::Item; N], [each_mut] []);
many_bound!([] Vec<B> => Vec<<B as ItemOf<'t>>::Item>, [iter_mut] [collect]);
