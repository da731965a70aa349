//! The Fortran and C interfaces of a routine of Levels 2 and 3. Both use one implementation: a row-major call becomes
//! a column-major call with the transposed matrices, which occupy the same memory.
//!
//! The position of a wrong argument is that in the column-major call, plus one for the layout. `guard.rs` converts it
//! to the position in the row-major call.

use crate::abi::{Checked, Code, Layout, Letter, WrongArgument, check};

/// Exports a routine with both interfaces. The macro takes the name without the letter of the type, the element types,
/// the leading letter arguments (each with its kind, since C passes enumerators instead), the other arguments, and the
/// call that computes. The call receives Fortran's letters and the layout, which is column-major for Fortran.
macro_rules! interfaces {
    ($(
        $name:ident ($($element:ident),*) [$($letter:ident: $kind:ident),*] ($($argument:tt)*)
        |$layout:ident| $call:expr;
    )*) => {$(
        const _: () = {
            use crate::abi::{Checked, Layout, DlaScalar};

            /// # Safety
            /// The addresses satisfy the requirements in the module documentation.
            #[superscalar_macros::fortran($($element),*)]
            #[allow(clippy::too_many_arguments)]
            unsafe fn $name<T: DlaScalar>($($letter: crate::abi::Letter,)* $($argument)*) -> Checked {
                let $layout = Layout::ColMajor;
                // SAFETY: the addresses are passed on unchanged, so the caller's guarantees cover this call.
                unsafe { $call }
            }
        };

        const _: () = {
            use crate::abi::{Checked, Code, DlaScalar};

            /// # Safety
            /// The addresses satisfy the requirements in the module documentation.
            #[superscalar_macros::cblas($($element),*)]
            #[allow(clippy::too_many_arguments)]
            unsafe fn $name<T: DlaScalar>(order: Code, $($letter: Code,)* $($argument)*) -> Checked {
                $(let $letter = $letter.$kind();)*
                let $layout = crate::rows::layout(order, &[$($letter),*])?;
                // SAFETY: the addresses are passed on unchanged, so the caller's guarantees cover this call.
                crate::rows::in_c_order($layout, unsafe { $call })
            }
        };
    )*};
}
pub(crate) use interfaces;

/// Returns the layout, or an error if the layout or one of the enumerators from position 2 on is not valid.
pub(crate) fn layout(order: Code, others: &[Letter]) -> Result<Layout, WrongArgument> {
    let layout = order.layout();
    check(&[(1, layout.is_some())])?;
    for (at, &letter) in (2..).zip(others) {
        check(&[(at, letter != Letter::NONE)])?;
    }
    Ok(layout.unwrap_or(Layout::ColMajor))
}

/// Converts the position of a wrong argument from Fortran's argument list to that of C.
pub(crate) fn in_c_order(layout: Layout, outcome: Checked) -> Checked {
    outcome.map_err(|wrong| WrongArgument { position: wrong.position + 1, is_row_major: layout == Layout::RowMajor })
}

/// Returns the pair, swapped if the call is row-major.
pub(crate) fn swapped<V>(layout: Layout, (one, other): (V, V)) -> (V, V) {
    if layout == Layout::ColMajor { (one, other) } else { (other, one) }
}

/// Returns the operation of the column-major call. For a row-major call, which stores the transpose, `plain` replaces
/// no transposition, and no transposition replaces a transposition.
pub(crate) fn operation(layout: Layout, trans: Letter, plain: Letter) -> Letter {
    match layout {
        Layout::ColMajor => trans,
        Layout::RowMajor if trans == NO_TRANS => plain,
        Layout::RowMajor => NO_TRANS,
    }
}

/// Returns the triangle of the column-major call.
pub(crate) fn triangle_of(layout: Layout, uplo: Letter) -> Letter {
    either(layout, uplo, [b'U', b'L'])
}

/// Returns the side of a factor in the column-major call.
pub(crate) fn side_of(layout: Layout, side: Letter) -> Letter {
    either(layout, side, [b'L', b'R'])
}

/// Returns the letter, or the other one of `letters` if the call is row-major.
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
