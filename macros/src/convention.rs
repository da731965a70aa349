//! Whose calling convention an entry has.

/// Whose calling convention it is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Convention {
    /// Everything by address; the name in lower case with an underscore.
    Fortran,
    /// Numbers by value, complex ones by address; the name behind `cblas_`.
    Cblas,
    /// Numbers by value, and the layout before them; the name behind `LAPACKE_`.
    Lapacke(Half),
}

/// The two halves of LAPACKE.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Half {
    /// Looks for NaN, and takes no workspaces.
    Upper,
    /// Takes workspaces; the name ends with `_work`.
    Lower,
}
