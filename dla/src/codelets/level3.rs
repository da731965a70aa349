//! The codelets of the Level-3 BLAS on tiles.
//!
//! Each is a type whose `insert` takes the operands as the equation has them, so that an algorithm's loop reads like its
//! textbook's.

use super::{Changed, OnOne, OnThree, OnTwo, Symmetry, cost};
use crate::tile::{Tile, TileView};
use crate::tiled::Factor;
use superscalar_kernels::{Diag, Op, Scalar, Side, Uplo, cpu};
use superscalar_runtime::{Codelet, Cost, Lent, Scope, TaskSpec};

/// A tile that tasks change, as a handle.
type Target<'s, T> = Lent<'s, Changed<'s, T>>;

/// C := alpha op(A) op(B) + beta C.
pub(crate) struct Gemm<'s, T: Scalar, V: TileView, W: TileView>(OnThree<'s, T, V, W, Product<T>>);

/// C := alpha op(A) op(B) + beta C in one triangle.
pub(crate) struct Gemmt<'s, T: Scalar, V: TileView, W: TileView>(OnThree<'s, T, V, W, (Uplo, Product<T>)>);

/// Parameters of a product; op(A) is m x k and op(B) k x n.
struct Product<T> {
    alpha: T,
    op_a: Op,
    op_b: Op,
    beta: T,
    shape: (usize, usize, usize),
}

impl<T: Scalar> Product<T> {
    fn of<V, W>(alpha: T, a: &Factor<'_, V>, b: &Factor<'_, W>, beta: T) -> Self {
        debug_assert_eq!(a.shape.1, b.shape.0, "blocks of a product");
        Self { alpha, op_a: a.op, op_b: b.op, beta, shape: (a.shape.0, b.shape.1, a.shape.1) }
    }

    /// The cost of this share of the product.
    fn cost(&self, share: f64) -> Cost {
        let (m, n, k) = (self.shape.0 as f64, self.shape.1 as f64, self.shape.2 as f64);
        cost::<T>(share * m * n * k, share * m * n * k, m * k + k * n + share * 2.0 * m * n)
    }
}

impl<'s, T: Scalar, V: TileView<Element = T>, W: TileView<Element = T>> Gemm<'s, T, V, W> {
    pub(crate) fn new() -> Self {
        Self(Codelet::new("gemm").cost(|p: &Product<T>| p.cost(1.0)).on_host(
            |(a, b, c): (&Tile<V>, &Tile<W>, &mut Changed<'s, T>), p: &Product<T>| {
                cpu::gemm(p.alpha, p.op_a, a.operand(), p.op_b, b.operand(), p.beta, c.view_mut());
                Ok(())
            },
        ))
    }

    #[track_caller]
    pub(crate) fn insert(
        &self,
        s: &'s Scope<'s, '_>,
        spec: TaskSpec,
        alpha: T,
        a: Factor<'s, V>,
        b: Factor<'s, W>,
        beta: T,
        c: Target<'s, T>,
    ) {
        self.0.insert(s, spec, (a.tile.read(), b.tile.read(), c.read_write()), Product::of(alpha, &a, &b, beta));
    }
}

impl<'s, T: Scalar, V: TileView<Element = T>, W: TileView<Element = T>> Gemmt<'s, T, V, W> {
    pub(crate) fn new() -> Self {
        Self(Codelet::new("gemmt").cost(|(_, p): &(Uplo, Product<T>)| p.cost(0.5)).on_host(
            |(a, b, c): (&Tile<V>, &Tile<W>, &mut Changed<'s, T>), (uplo, p): &(Uplo, Product<T>)| {
                cpu::gemmt(*uplo, p.alpha, p.op_a, a.operand(), p.op_b, b.operand(), p.beta, c.view_mut());
                Ok(())
            },
        ))
    }

    #[track_caller]
    pub(crate) fn insert(
        &self,
        s: &'s Scope<'s, '_>,
        spec: TaskSpec,
        (uplo, alpha): (Uplo, T),
        a: Factor<'s, V>,
        b: Factor<'s, W>,
        beta: T,
        c: Target<'s, T>,
    ) {
        let parameters = (uplo, Product::of(alpha, &a, &b, beta));
        self.0.insert(s, spec, (a.tile.read(), b.tile.read(), c.read_write()), parameters);
    }
}

/// C := alpha op(A) op(A)* + beta C in one triangle, where * is the transpose or the conjugate transpose.
pub(crate) struct RankK<'s, T: Scalar, V: TileView>(OnTwo<'s, T, V, Update<T>>);

/// C := alpha op(A) op(B)* + alpha* op(B) op(A)* + beta C in one triangle.
pub(crate) struct Rank2k<'s, T: Scalar, V: TileView, W: TileView>(OnThree<'s, T, V, W, Update<T>>);

/// Parameters of an update of a symmetric or Hermitian matrix; op(A) is n x k. Where the routine has them real, so they are.
struct Update<T> {
    symmetry: Symmetry,
    uplo: Uplo,
    op: Op,
    alpha: T,
    beta: T,
    shape: (usize, usize),
}

impl<T: Scalar> Update<T> {
    fn cost(&self, share: f64) -> Cost {
        let (n, k) = (self.shape.0 as f64, self.shape.1 as f64);
        cost::<T>(share * n * n * k, share * n * n * k, 2.0 * share * n * k + n * n)
    }
}

impl<'s, T: Scalar, V: TileView<Element = T>> RankK<'s, T, V> {
    pub(crate) fn new(symmetry: Symmetry) -> Self {
        Self(Codelet::new(symmetry.rank_k()).cost(|p: &Update<T>| p.cost(0.5)).on_host(
            |(a, c): (&Tile<V>, &mut Changed<'s, T>), p: &Update<T>| {
                match p.symmetry {
                    Symmetry::Symmetric => cpu::syrk(p.uplo, p.op, p.alpha, a.operand(), p.beta, c.view_mut()),
                    Symmetry::Hermitian => {
                        cpu::herk(p.uplo, p.op, p.alpha.re(), a.operand(), p.beta.re(), c.view_mut());
                    }
                }
                Ok(())
            },
        ))
    }

    #[track_caller]
    pub(crate) fn insert(
        &self,
        s: &'s Scope<'s, '_>,
        spec: TaskSpec,
        (symmetry, uplo): (Symmetry, Uplo),
        alpha: T,
        a: Factor<'s, V>,
        beta: T,
        c: Target<'s, T>,
    ) {
        let update = Update { symmetry, uplo, op: a.op, alpha, beta, shape: a.shape };
        self.0.insert(s, spec, (a.tile.read(), c.read_write()), update);
    }
}

impl<'s, T: Scalar, V: TileView<Element = T>, W: TileView<Element = T>> Rank2k<'s, T, V, W> {
    pub(crate) fn new(symmetry: Symmetry) -> Self {
        Self(Codelet::new(symmetry.rank_2k()).cost(|p: &Update<T>| p.cost(1.0)).on_host(
            |(a, b, c): (&Tile<V>, &Tile<W>, &mut Changed<'s, T>), p: &Update<T>| {
                let (a, b, c) = (a.operand(), b.operand(), c.view_mut());
                match p.symmetry {
                    Symmetry::Symmetric => cpu::syr2k(p.uplo, p.op, p.alpha, a, b, p.beta, c),
                    Symmetry::Hermitian => cpu::her2k(p.uplo, p.op, p.alpha, a, b, p.beta.re(), c),
                }
                Ok(())
            },
        ))
    }

    #[track_caller]
    pub(crate) fn insert(
        &self,
        s: &'s Scope<'s, '_>,
        spec: TaskSpec,
        (symmetry, uplo, alpha): (Symmetry, Uplo, T),
        a: Factor<'s, V>,
        b: Factor<'s, W>,
        beta: T,
        c: Target<'s, T>,
    ) {
        let update = Update { symmetry, uplo, op: a.op, alpha, beta, shape: a.shape };
        self.0.insert(s, spec, (a.tile.read(), b.tile.read(), c.read_write()), update);
    }
}

/// C := alpha A B + beta C or alpha B A + beta C with A symmetric or Hermitian.
pub(crate) struct Symm<'s, T: Scalar, V: TileView, W: TileView>(OnThree<'s, T, V, W, Whole<T>>);

/// Parameters of a product with a symmetric or Hermitian matrix; C is m x n.
struct Whole<T> {
    symmetry: Symmetry,
    side: Side,
    uplo: Uplo,
    alpha: T,
    beta: T,
    shape: (usize, usize),
}

impl<'s, T: Scalar, V: TileView<Element = T>, W: TileView<Element = T>> Symm<'s, T, V, W> {
    pub(crate) fn new(symmetry: Symmetry) -> Self {
        let codelet = Codelet::new(symmetry.mm()).cost(|p: &Whole<T>| {
            let (m, n) = (p.shape.0 as f64, p.shape.1 as f64);
            let k = if p.side == Side::Left { m } else { n };
            cost::<T>(m * n * k, m * n * k, k * k / 2.0 + 3.0 * m * n)
        });
        Self(codelet.on_host(|(a, b, c): (&Tile<V>, &Tile<W>, &mut Changed<'s, T>), p: &Whole<T>| {
            let (a, b, c) = (a.view(), b.view(), c.view_mut());
            match p.symmetry {
                Symmetry::Symmetric => cpu::symm(p.side, p.uplo, p.alpha, a, b, p.beta, c),
                Symmetry::Hermitian => cpu::hemm(p.side, p.uplo, p.alpha, a, b, p.beta, c),
            }
            Ok(())
        }))
    }

    #[track_caller]
    pub(crate) fn insert(
        &self,
        s: &'s Scope<'s, '_>,
        spec: TaskSpec,
        (symmetry, side, uplo, alpha): (Symmetry, Side, Uplo, T),
        a: Factor<'s, V>,
        b: Factor<'s, W>,
        beta: T,
        c: Target<'s, T>,
    ) {
        let whole = Whole { symmetry, side, uplo, alpha, beta, shape: b.shape };
        self.0.insert(s, spec, (a.tile.read(), b.tile.read(), c.read_write()), whole);
    }
}

/// B := alpha op(A) B or alpha B op(A), or the solution of the system, with A triangular.
pub(crate) struct Triangular<'s, T: Scalar, V: TileView>(OnTwo<'s, T, V, Triangle<T>>);

/// How a triangular tile is applied.
#[derive(Clone, Copy)]
pub(crate) struct Triangle<T> {
    pub(crate) side: Side,
    pub(crate) uplo: Uplo,
    pub(crate) op: Op,
    pub(crate) diag: Diag,
    pub(crate) alpha: T,
    /// Rows and columns of B.
    pub(crate) shape: (usize, usize),
}

/// B := alpha op(A) B or alpha B op(A).
pub(crate) fn trmm<'s, T: Scalar, V: TileView<Element = T>>() -> Triangular<'s, T, V> {
    Triangular::new("trmm", cpu::trmm)
}

/// B := alpha op(A)⁻¹ B or alpha B op(A)⁻¹.
pub(crate) fn trsm<'s, T: Scalar, V: TileView<Element = T>>() -> Triangular<'s, T, V> {
    Triangular::new("trsm", cpu::trsm)
}

/// A kernel that applies a triangle.
type Apply<T> = fn(Side, Uplo, Op, Diag, T, superscalar_kernels::MatRef<'_, T>, superscalar_kernels::MatMut<'_, T>);

impl<'s, T: Scalar, V: TileView<Element = T>> Triangular<'s, T, V> {
    fn new(name: &'static str, apply: Apply<T>) -> Self {
        let codelet = Codelet::new(name).cost(|p: &Triangle<T>| {
            let (m, n) = (p.shape.0 as f64, p.shape.1 as f64);
            let k = if p.side == Side::Left { m } else { n };
            cost::<T>(m * n * k / 2.0, m * n * k / 2.0, k * k / 2.0 + 2.0 * m * n)
        });
        Self(codelet.on_host(move |(a, b): (&Tile<V>, &mut Changed<'s, T>), p: &Triangle<T>| {
            apply(p.side, p.uplo, p.op, p.diag, p.alpha, a.view(), b.view_mut());
            Ok(())
        }))
    }

    #[track_caller]
    pub(crate) fn insert(
        &self,
        s: &'s Scope<'s, '_>,
        spec: TaskSpec,
        triangle: Triangle<T>,
        a: Lent<'s, Tile<V>>,
        b: Target<'s, T>,
    ) {
        self.0.insert(s, spec, (a.read(), b.read_write()), triangle);
    }
}

/// C := beta C, or one triangle of it.
pub(crate) struct Scale<'s, T: Scalar>(OnOne<'s, T, (Option<(Symmetry, Uplo)>, T)>);

impl<'s, T: Scalar> Scale<'s, T> {
    pub(crate) fn new() -> Self {
        Self(Codelet::new("scale").on_host(|c: &mut Changed<'s, T>, &(part, beta): &(Option<(Symmetry, Uplo)>, T)| {
            let mut c = c.view_mut();
            // A product of no depth scales, by the rules of its routine.
            let nothing = superscalar_kernels::MatRef::from_col_major(&[], c.nrows(), 0, c.nrows().max(1))?;
            let other = superscalar_kernels::MatRef::from_col_major(&[], 0, c.ncols(), 1)?;
            match part {
                None => cpu::gemm(T::ZERO, Op::None, nothing, Op::None, other, beta, c),
                Some((Symmetry::Symmetric, uplo)) => cpu::syrk(uplo, Op::None, T::ZERO, nothing, beta, c),
                Some((Symmetry::Hermitian, uplo)) => {
                    cpu::herk(uplo, Op::None, T::Real::ZERO, nothing, beta.re(), c.rb_mut());
                }
            }
            Ok(())
        }))
    }

    /// `part` is the triangle, with its symmetry, if not all of C is meant.
    #[track_caller]
    pub(crate) fn insert(
        &self,
        s: &'s Scope<'s, '_>,
        spec: TaskSpec,
        part: Option<(Symmetry, Uplo)>,
        beta: T,
        c: Target<'s, T>,
    ) {
        self.0.insert(s, spec, c.read_write(), (part, beta));
    }
}
