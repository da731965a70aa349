//! The Level-3 BLAS on tiles.
//!
//! All routines are products of tiles; tiles on the diagonal of a symmetric, Hermitian or triangular operand or result
//! are special cases (BLASX paper, section III.A, whose table has the equations). The outer loop runs over the depth k:
//! each step multiplies one block column of the left operand with one block row of the right one, so that packed tiles
//! are reused while they are in a cache. Only C[i][j] orders the steps. If C does not fit into the devices' memory, it
//! is computed area by area (`areas.rs`). On several equal accelerators, products are planned
//! (`product_plan`), and the results of other routines are dealt (`spread.rs`).

mod areas;
pub(crate) mod gemm;
pub(crate) mod gemm_half;
pub(crate) mod gemmt;
mod spread;
mod strips;
pub(crate) mod symm;
pub(crate) mod syr2k;
pub(crate) mod syrk;
pub(crate) mod trmm;
pub(crate) mod trsm;

use crate::{
    Scalar,
    codelets::{OneTileCodelet, TilePart, TileRole, task},
    error::Error,
    tiled::{Factor, Tiled},
};
use superscalar_kernels::{MatMut, Op, Side, Symmetry, Uplo, operations::Scale};
use superscalar_macros::each_type;
use superscalar_runtime::Scope;

/// The Level-3 routines that are compiled for each element type.
#[each_type]
pub trait Level3:
    gemm::HasSpawn
    + gemm::HasGemm
    + gemmt::HasSpawn
    + gemmt::HasGemmt
    + symm::HasSpawnSymm
    + symm::HasSpawnHemm
    + symm::HasSymm
    + symm::HasHemm
    + syr2k::HasSpawnSyr2k
    + syr2k::HasSpawnHer2k
    + syr2k::HasSyr2k
    + syr2k::HasHer2k
    + syrk::HasSpawnSyrk
    + syrk::HasSpawnHerk
    + syrk::HasSyrk
    + syrk::HasHerk
    + trmm::HasSpawn
    + trmm::HasTrmm
    + trsm::HasSpawn
    + trsm::HasTrsm
{
}

/// Inserts the tasks of C := beta C, or of one triangle of it: a product with alpha = 0 or without depth.
#[track_caller]
fn scale<'s, T: Scalar>(s: &'s Scope<'s, '_>, part: Option<(Symmetry, Uplo)>, beta: T, c: &Tiled<'s, MatMut<'s, T>>) {
    let scale = OneTileCodelet::new("scale");
    for (i, j) in c.tile_indices() {
        let diagonal = part.filter(|_| i == j);
        let wanted = part.is_none_or(|(_, uplo)| in_triangle(uplo, i, j));
        // The diagonal of a Hermitian matrix becomes real, whatever beta is.
        let changes = beta != T::ONE || diagonal.is_some_and(|(symmetry, _)| symmetry == Symmetry::Hermitian);
        if wanted && changes {
            let tile = TilePart::whole(TileRole::Updated, (c.rows_of(i), c.cols_of(j)));
            scale.spawn(s, task("scale", i, j, 0), Scale { part: diagonal, beta, a: tile }, c.at(i, j));
        }
    }
}

/// Returns whether block (i, j) is in the triangle, including its diagonal.
fn in_triangle(uplo: Uplo, i: usize, j: usize) -> bool {
    match uplo {
        Uplo::Lower => i >= j,
        Uplo::Upper => i <= j,
    }
}

/// Returns the off-diagonal block (i, k) of a symmetric or Hermitian matrix of which one triangle is stored.
fn mirrored<'s, V>(symmetry: Symmetry, uplo: Uplo, a: &Tiled<'s, V>, i: usize, k: usize) -> Factor<'s, V> {
    a.factor(if in_triangle(uplo, i, k) { Op::None } else { symmetry.mirror() }, i, k)
}

/// Order in which the block rows (left) or block columns (right) of B are processed if op(A) is triangular.
#[derive(Clone, Copy)]
struct Sweep {
    nt: usize,
    /// Whether each row depends on the rows above it, and so contributes to the rows below it.
    downwards: bool,
}

impl Sweep {
    fn new(side: Side, uplo: Uplo, op: Op, nt: usize) -> Self {
        let lower = (uplo == Uplo::Lower) == (op == Op::None);
        Self { nt, downwards: lower == (side == Side::Left) }
    }

    /// Returns the rows in the order in which a solve computes them.
    fn solve_order(self) -> impl Iterator<Item = usize> {
        (0..self.nt).map(move |step| if self.downwards { step } else { self.nt - 1 - step })
    }

    /// Returns the rows in the order in which a product may overwrite them.
    fn multiply_order(self) -> impl Iterator<Item = usize> {
        (0..self.nt).map(move |step| if self.downwards { self.nt - 1 - step } else { step })
    }

    /// Returns the rows to which row k contributes.
    fn others(self, k: usize) -> std::ops::Range<usize> {
        if self.downwards { k + 1..self.nt } else { 0..k }
    }
}

/// Returns an error for an op that the routine does not support for complex types.
fn check_op<T: Scalar>(name: &str, symmetry: Symmetry, op: Op) -> Result<(), Error> {
    let wrong = if symmetry == Symmetry::Hermitian { Op::Trans } else { Op::ConjTrans };
    if T::COMPLEX && op == wrong {
        return Err(Error::argument(format!("{name}: trans = {op} is not supported for complex matrices")));
    }
    Ok(())
}
