//! The codelets that the algorithms are made of: one per tile kernel, each with its cost.
//!
//! A codelet names no device. Its host implementation is the tile kernel; implementations for devices are added to the same
//! codelets, and the algorithms stay as they are.

use crate::tile::{Tile, TileView};
use superscalar_kernels::{Diag, MatMut, NotPositiveDefinite, Op, Scalar, Side, Uplo, cpu};
use superscalar_runtime::{BlasLevel, Codelet, Cost, Reads, Updates};

/// Parameters of a tile's factorization.
pub(crate) struct Potrf {
    pub(crate) uplo: Uplo,
    /// Row of the matrix where the tile begins, for `info`.
    pub(crate) offset: usize,
    pub(crate) n: usize,
}

/// Parameters of B := op(A)⁻¹ B or B op(A)⁻¹; `m` and `n` are B's.
pub(crate) struct Trsm {
    pub(crate) side: Side,
    pub(crate) uplo: Uplo,
    pub(crate) op: Op,
    pub(crate) m: usize,
    pub(crate) n: usize,
}

/// Parameters of C := C − op(A) op(A)ᴴ in one triangle.
pub(crate) struct Herk {
    pub(crate) uplo: Uplo,
    pub(crate) op: Op,
    pub(crate) n: usize,
    pub(crate) k: usize,
}

/// Parameters of C := C − op(A) op(B).
pub(crate) struct Gemm {
    pub(crate) op_a: Op,
    pub(crate) op_b: Op,
    pub(crate) m: usize,
    pub(crate) n: usize,
    pub(crate) k: usize,
}

/// A codelet that reads one tile and updates another.
type OnTwo<'s, T, V, P> = Codelet<(Reads<Tile<V>>, Updates<Tile<MatMut<'s, T>>>), P>;
/// A codelet that reads two tiles and updates a third.
type OnThree<'s, T, V, W, P> = Codelet<(Reads<Tile<V>>, Reads<Tile<W>>, Updates<Tile<MatMut<'s, T>>>), P>;

/// A cost from the number of multiplications and additions, and of elements touched.
fn cost<T: Scalar>(multiplications: f64, additions: f64, elements: f64) -> Cost {
    let flops = multiplications * f64::from(T::FLOPS_MUL) + additions * f64::from(T::FLOPS_ADD);
    Cost { flops, bytes: elements * size_of::<T>() as f64, level: Some(BlasLevel::Three) }
}

/// Factors a diagonal tile: A = L Lᴴ or Uᴴ U.
pub(crate) fn potrf<'s, T: Scalar>() -> Codelet<Updates<Tile<MatMut<'s, T>>>, Potrf> {
    Codelet::new("potrf")
        .cost(|p: &Potrf| {
            let n = p.n as f64;
            cost::<T>(n * n * n / 6.0, n * n * n / 6.0, n * n)
        })
        .on_host(|a: &mut Tile<MatMut<'s, T>>, p: &Potrf| {
            let outcome = cpu::potrf(p.uplo, a.view_mut());
            outcome.map_err(|NotPositiveDefinite { minor }| NotPositiveDefinite { minor: p.offset + minor }.into())
        })
}

/// Solves a triangular system with a tile.
pub(crate) fn trsm<'s, T: Scalar, V: TileView<Element = T>>() -> OnTwo<'s, T, V, Trsm> {
    Codelet::new("trsm")
        .cost(|p: &Trsm| {
            let (m, n) = (p.m as f64, p.n as f64);
            let k = if p.side == Side::Left { m } else { n };
            cost::<T>(m * n * k / 2.0, m * n * k / 2.0, k * k / 2.0 + 2.0 * m * n)
        })
        .on_host(|(a, b): (&Tile<V>, &mut Tile<MatMut<'s, T>>), p: &Trsm| {
            cpu::trsm(p.side, p.uplo, p.op, Diag::NonUnit, T::ONE, a.view(), b.view_mut());
            Ok(())
        })
}

/// Updates a diagonal tile.
pub(crate) fn herk<'s, T: Scalar>() -> OnTwo<'s, T, MatMut<'s, T>, Herk> {
    Codelet::new("herk")
        .cost(|p: &Herk| {
            let (n, k) = (p.n as f64, p.k as f64);
            cost::<T>(n * n * k / 2.0, n * n * k / 2.0, n * k + n * n)
        })
        .on_host(|(a, c): (&Tile<MatMut<'s, T>>, &mut Tile<MatMut<'s, T>>), p: &Herk| {
            cpu::herk(p.uplo, p.op, T::Real::from_f64(-1.0), a.operand(), T::Real::ONE, c.view_mut());
            Ok(())
        })
}

/// Updates a tile.
pub(crate) fn gemm<'s, T: Scalar, V: TileView<Element = T>, W: TileView<Element = T>>() -> OnThree<'s, T, V, W, Gemm> {
    Codelet::new("gemm")
        .cost(|p: &Gemm| {
            let (m, n, k) = (p.m as f64, p.n as f64, p.k as f64);
            cost::<T>(m * n * k, m * n * k, m * k + k * n + 2.0 * m * n)
        })
        .on_host(|(a, b, c): (&Tile<V>, &Tile<W>, &mut Tile<MatMut<'s, T>>), p: &Gemm| {
            cpu::gemm(T::from_f64(-1.0), p.op_a, a.operand(), p.op_b, b.operand(), T::ONE, c.view_mut());
            Ok(())
        })
}
