//! Values that may borrow from a scope although the scope owns them.

use super::{Home, Lent};

/// A value that may borrow and whose destructor does not use the borrowed data. [`Scope::own_view`] takes such values.
///
/// A scope drops its values one by one, so a destructor could use a value that has already been dropped. References and
/// views have no destructor, and the destructor of a collection of views only frees its memory.
///
/// [`Scope::own_view`]: crate::Scope::own_view
///
/// # Safety
/// Dropping the value runs no code that uses data behind one of its lifetimes: it reads through no reference, and calls
/// no method of a handle or of a scope.
pub unsafe trait View {}

// SAFETY: references have no destructor.
unsafe impl<T: ?Sized> View for &T {}
// SAFETY: references have no destructor.
unsafe impl<T: ?Sized> View for &mut T {}
// SAFETY: a handle has no destructor.
unsafe impl<T: ?Sized> View for Lent<'_, T> {}
// SAFETY: it is a reference, which has no destructor.
unsafe impl View for Home<'_> {}
// SAFETY: dropping a `Vec` drops its elements, which are views, and frees memory of its own.
unsafe impl<T: View> View for Vec<T> {}
// SAFETY: dropping an array only drops its elements, which are views.
unsafe impl<T: View, const N: usize> View for [T; N] {}
