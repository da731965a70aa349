//! Fortran's and C's interface of a routine of Levels 2 and 3, which are one: a call of C's for rows becomes the call
//! for columns of the transposes, which lie in the same memory.
//!
//! A wrong argument is counted in the call for columns, behind the layout. `guard.rs` turns that into the position in
//! the call for rows.

use crate::abi::{Checked, Code, Layout, Letter, Position, check};

/// Exports a routine with both interfaces: its name without the type's letter, the types, the letters that come first
/// (each with what it is for, since C has enumerators in their place), the other arguments, and the call that computes
/// it. That call has the letters as Fortran has them, and the layout, which is by columns for Fortran.
macro_rules! interfaces {
    ($(
        $name:ident ($($element:ident),*) [$($letter:ident: $kind:ident),*] ($($argument:tt)*)
        |$layout:ident| $call:expr;
    )*) => {$(
        const _: () = {
            use crate::abi::{Checked, Layout, Routines};

            /// # Safety
            /// The module's.
            #[superscalar_macros::fortran($($element),*)]
            #[allow(clippy::too_many_arguments)]
            unsafe fn $name<T: Routines>($($letter: crate::abi::Letter,)* $($argument)*) -> Checked {
                let $layout = Layout::ColMajor;
                // SAFETY: the caller promises of these addresses what the module's head says.
                unsafe { $call }
            }
        };

        const _: () = {
            use crate::abi::{Checked, Code, Routines};

            /// # Safety
            /// The module's.
            #[superscalar_macros::cblas($($element),*)]
            #[allow(clippy::too_many_arguments)]
            unsafe fn $name<T: Routines>(order: Code, $($letter: Code,)* $($argument)*) -> Checked {
                $(let $letter = $letter.$kind();)*
                let $layout = crate::rows::layout(order, &[$($letter),*])?;
                // SAFETY: the caller promises of these addresses what the module's head says.
                crate::rows::counted($layout, unsafe { $call })
            }
        };
    )*};
}
pub(crate) use interfaces;

/// The layout, once enumerators at places 2 and on are some.
pub(crate) fn layout(order: Code, others: &[Letter]) -> Result<Layout, Position> {
    let layout = order.layout();
    check(&[(1, layout.is_some())])?;
    for (at, &letter) in (2..).zip(others) {
        check(&[(at, letter != Letter::NONE)])?;
    }
    Ok(layout.unwrap_or(Layout::ColMajor))
}

/// Fortran's outcome in C's numbers.
pub(crate) fn counted(layout: Layout, outcome: Checked) -> Checked {
    outcome.map_err(|Position { at, .. }| Position { at: at + 1, is_row_major: layout == Layout::RowMajor })
}

/// Both as they are, or for a call for rows each in the other's place.
pub(crate) fn swapped<V>(layout: Layout, (one, other): (V, V)) -> (V, V) {
    if layout == Layout::ColMajor { (one, other) } else { (other, one) }
}

/// The operation by columns. On the transpose of a matrix another one has the same result: `plain` in place of none,
/// and none in place of a transpose.
pub(crate) fn operation(layout: Layout, trans: Letter, plain: Letter) -> Letter {
    match layout {
        Layout::ColMajor => trans,
        Layout::RowMajor if trans == NO_TRANS => plain,
        Layout::RowMajor => NO_TRANS,
    }
}

/// The triangle by columns.
pub(crate) fn triangle_of(layout: Layout, uplo: Letter) -> Letter {
    either(layout, uplo, [b'U', b'L'])
}

/// The side of a factor by columns.
pub(crate) fn side_of(layout: Layout, side: Letter) -> Letter {
    either(layout, side, [b'L', b'R'])
}

/// The letter, or for a call for rows the other one of the two.
fn either(layout: Layout, letter: Letter, letters: [u8; 2]) -> Letter {
    let [one, other] = letters.map(Letter::new);
    match layout {
        Layout::ColMajor => letter,
        Layout::RowMajor if letter == one => other,
        Layout::RowMajor => one,
    }
}

const NO_TRANS: Letter = Letter::new(b'N');
pub(crate) const TRANS: Letter = Letter::new(b'T');
pub(crate) const CONJ_TRANS: Letter = Letter::new(b'C');
