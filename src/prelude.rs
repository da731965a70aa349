//! The names that most programs need: `use superscalar::prelude::*;`.

pub use crate::{
    Runtime, Solver,
    dla::{Diag, MatMut, MatRef, Matrix, Norm, Op, Scalar, Side, Tiled, Uplo, c32, c64},
    kernels::{AsMatrix, AsMatrixMut},
    linalg::Linalg,
};
