//! The calling conventions of exported functions.

/// A calling convention.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Convention {
    /// Fortran: all arguments by address; the name in lower case with an underscore.
    Fortran,
    /// CBLAS: numbers by value, complex ones by address; the name with the prefix `cblas_`.
    Cblas,
    /// LAPACKE: numbers by value, with the layout as first argument; the name with the prefix `LAPACKE_`.
    Lapacke(Half),
}

/// The two levels of LAPACKE.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Half {
    /// Checks for NaN, and allocates the workspaces itself.
    Upper,
    /// Takes workspaces as arguments; the name ends with `_work`.
    Lower,
}
