//! Level-3 operations on whole tiles. Parameters follow the order of the equation, so that the algorithms' loops
//! resemble their textbook form.

use super::{
    TileMutHandle, TriangleForm,
    tiles::{ThreeTileCodelet, TilePart, TileRole, TwoTileCodelet},
};
use crate::{Scalar, tiled::Factor};
use superscalar_kernels::{
    Side, Symmetry, TileView, Uplo,
    operations::{self, Triangular, TriangularAction},
};
use superscalar_runtime::{Scope, TaskSpec};

/// Returns the tile of a factor as an operand of a task.
pub(super) fn factor_part<T, V>(of: TileRole, factor: &Factor<'_, V>) -> TilePart<T> {
    TilePart::whole(of, factor.op.shape(factor.shape))
}

/// Codelet for C := alpha op(A) op(B) + beta C, or one triangle of it.
pub(crate) type Gemm<'s, T, V, W> = ThreeTileCodelet<'s, T, V, W, operations::Gemm<T, TilePart<T>>>;

impl<'s, T: Scalar, V: TileView<Element = T>, W: TileView<Element = T>> Gemm<'s, T, V, W> {
    pub(crate) fn new() -> Self {
        Self::named("gemm")
    }

    #[track_caller]
    pub(crate) fn spawn(
        &self,
        s: &'s Scope<'s, '_>,
        spec: TaskSpec,
        alpha: T,
        a: Factor<'s, V>,
        b: Factor<'s, W>,
        beta: T,
        c: TileMutHandle<'s, T>,
    ) {
        self.spawn_part(s, spec, (None, alpha), a, b, beta, c);
    }

    /// Inserts the product restricted to triangle `part`, if one is given.
    #[track_caller]
    pub(crate) fn spawn_part(
        &self,
        s: &'s Scope<'s, '_>,
        spec: TaskSpec,
        (part, alpha): (Option<Uplo>, T),
        a: Factor<'s, V>,
        b: Factor<'s, W>,
        beta: T,
        c: TileMutHandle<'s, T>,
    ) {
        debug_assert_eq!(a.shape.1, b.shape.0, "blocks of a product");
        let c_part = TilePart::whole(TileRole::Updated, (a.shape.0, b.shape.1));
        let factors = (factor_part(TileRole::First, &a), factor_part(TileRole::Second, &b));
        let product = operations::Gemm { part, ..operations::Gemm::new((a.op, b.op), alpha, factors, beta, c_part) };
        self.spawn_operation(s, spec, product, (a.tile, b.tile), c);
    }
}

/// Codelet for C := alpha op(A) op(A)* + beta C in one triangle, where * is the transpose or the conjugate transpose.
pub(crate) type RankK<'s, T, V> = TwoTileCodelet<'s, T, V, operations::RankK<T, TilePart<T>>>;

impl<'s, T: Scalar, V: TileView<Element = T>> RankK<'s, T, V> {
    #[track_caller]
    pub(crate) fn update(
        &self,
        s: &'s Scope<'s, '_>,
        spec: TaskSpec,
        (symmetry, uplo): (Symmetry, Uplo),
        alpha: T,
        a: Factor<'s, V>,
        beta: T,
        c: TileMutHandle<'s, T>,
    ) {
        let (a_part, c_part) =
            (factor_part(TileRole::First, &a), TilePart::whole(TileRole::Updated, (a.shape.0, a.shape.0)));
        let update = operations::RankK { symmetry, uplo, op: a.op, alpha, a: a_part, beta, c: c_part };
        self.spawn(s, spec, update, a.tile, c);
    }
}

/// Codelet for C := alpha op(A) op(B)* + alpha* op(B) op(A)* + beta C in one triangle.
pub(crate) type Rank2k<'s, T, V, W> = ThreeTileCodelet<'s, T, V, W, operations::Rank2k<T, TilePart<T>>>;

impl<'s, T: Scalar, V: TileView<Element = T>, W: TileView<Element = T>> Rank2k<'s, T, V, W> {
    #[track_caller]
    pub(crate) fn spawn(
        &self,
        s: &'s Scope<'s, '_>,
        spec: TaskSpec,
        (symmetry, uplo): (Symmetry, Uplo),
        alpha: T,
        a: Factor<'s, V>,
        b: Factor<'s, W>,
        beta: T,
        c: TileMutHandle<'s, T>,
    ) {
        let (a_part, b_part) = (factor_part(TileRole::First, &a), factor_part(TileRole::Second, &b));
        let c_part = TilePart::whole(TileRole::Updated, (a.shape.0, a.shape.0));
        let update = operations::Rank2k { symmetry, uplo, op: a.op, alpha, a: a_part, b: b_part, beta, c: c_part };
        self.spawn_operation(s, spec, update, (a.tile, b.tile), c);
    }
}

/// The kind of symmetry of A, its side in the product, and its stored triangle.
#[derive(Clone, Copy)]
pub(crate) struct SymmForm {
    pub(crate) symmetry: Symmetry,
    pub(crate) side: Side,
    pub(crate) uplo: Uplo,
}

/// Codelet for C := alpha A B + beta C or C := alpha B A + beta C with A symmetric or Hermitian.
pub(crate) type Symm<'s, T, V, W> = ThreeTileCodelet<'s, T, V, W, operations::Symm<T, TilePart<T>>>;

impl<'s, T: Scalar, V: TileView<Element = T>, W: TileView<Element = T>> Symm<'s, T, V, W> {
    #[track_caller]
    pub(crate) fn spawn(
        &self,
        s: &'s Scope<'s, '_>,
        spec: TaskSpec,
        SymmForm { symmetry, side, uplo }: SymmForm,
        alpha: T,
        a: Factor<'s, V>,
        b: Factor<'s, W>,
        beta: T,
        c: TileMutHandle<'s, T>,
    ) {
        let (a_part, b_part, c_part) = (
            factor_part(TileRole::First, &a),
            factor_part(TileRole::Second, &b),
            TilePart::whole(TileRole::Updated, b.shape),
        );
        let product = operations::Symm { symmetry, side, uplo, alpha, a: a_part, b: b_part, beta, c: c_part };
        self.spawn_operation(s, spec, product, (a.tile, b.tile), c);
    }
}

/// Codelet for B := alpha op(A) B or B := alpha B op(A) with A triangular, or for the solution of such a system.
pub(crate) type Triangle<'s, T, V> = TwoTileCodelet<'s, T, V, Triangular<T, TilePart<T>>>;

/// Returns the operation of a triangular tile A on a tile B of this shape.
pub(crate) fn triangular_operation<T: Scalar>(
    action: TriangularAction,
    side: Side,
    TriangleForm { uplo, op, diag }: TriangleForm,
    alpha: T,
    shape: (usize, usize),
) -> Triangular<T, TilePart<T>> {
    let order = side.order(shape);
    let (a, b) = (TilePart::whole(TileRole::First, (order, order)), TilePart::whole(TileRole::Updated, shape));
    Triangular { action, side, uplo, op, diag, alpha, a, b }
}
