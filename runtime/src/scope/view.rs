//! Values that borrow from a scope and that the scope may keep all the same.

use super::{Home, Lent};

/// A value that may borrow and whose destructor does not use what it borrows: what [`Scope::own_view`] takes.
///
/// A scope drops what it keeps one by one, so a destructor could meet a value that is gone already. References and views have
/// none; a collection of views has one that only gives its memory back.
///
/// [`Scope::own_view`]: crate::Scope::own_view
///
/// # Safety
/// Dropping the value runs no code that uses anything that one of its lifetimes stands for: it reads through no reference, and
/// calls no method of a handle or of a scope.
pub unsafe trait View {}

// SAFETY: references have no destructor.
unsafe impl<T: ?Sized> View for &T {}
// SAFETY: as for shared references.
unsafe impl<T: ?Sized> View for &mut T {}
// SAFETY: a name without a destructor.
unsafe impl<T: ?Sized> View for Lent<'_, T> {}
// SAFETY: a reference.
unsafe impl View for Home<'_> {}
// SAFETY: drops its elements, and gives back memory of its own.
unsafe impl<T: View> View for Vec<T> {}
// SAFETY: drops its elements.
unsafe impl<T: View, const N: usize> View for [T; N] {}
