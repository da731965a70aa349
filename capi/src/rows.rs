//! What C's interface does before it calls Fortran's: a call for rows becomes the call for columns of the transposes.
//!
//! A wrong argument is counted in the call for columns, behind the layout. `guard.rs` turns that into the position in
//! the call for rows.

use crate::abi::{Checked, Code, Layout, Letter, Position, check};

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

/// The operation on the transpose of a matrix that has the same result as `trans` on the matrix. No operation becomes
/// `plain`.
pub(crate) fn transposed(trans: Code, plain: Letter) -> Letter {
    if trans.trans() == NO_TRANS { plain } else { NO_TRANS }
}

const NO_TRANS: Letter = Letter::new(b'N');
pub(crate) const TRANS: Letter = Letter::new(b'T');
pub(crate) const CONJ_TRANS: Letter = Letter::new(b'C');
