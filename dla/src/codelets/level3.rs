//! The codelets of the Level-3 BLAS on tiles.
//!
//! Each is a type whose `insert` takes the operands as the equation has them, so that an algorithm's loop reads like its
//! textbook's. On the host it is the tile kernel, whose large tiles a [`Team`] shares; on a device it is the [`Call`] that the
//! operands make.

use super::{
    Changed, OnOne, OnThree, OnTwo, cost, mat,
    team::{self, Team},
};
use crate::{
    Scalar,
    symmetry::Symmetry,
    tiled::{Factor, Tile},
};
use superscalar_kernels::{
    Diag, Op, Scalar as _, Side, TileView, Uplo, cpu,
    device::{self, Call, Mat, on_devices},
};
use superscalar_runtime::{BlasLevel, Codelet, Cost, Error, Lent, Reads, Scope, TaskSpec, Writes};

/// A tile that tasks change, as a handle.
type Target<'s, T> = Lent<'s, Changed<'s, T>>;

/// C := alpha op(A) op(B) + beta C.
pub(crate) struct Gemm<'s, T: Scalar, V: TileView, W: TileView> {
    update: OnThree<'s, T, V, W, Product<'s, T>>,
    /// The same for beta = 0, which does not want the old C: none of it is moved to a device.
    overwrite: IntoThird<'s, T, V, W, Product<'s, T>>,
}

type IntoThird<'s, T, V, W, P> = Codelet<(Reads<Tile<V>>, Reads<Tile<W>>, Writes<Changed<'s, T>>), P>;

/// C := alpha op(A) op(B) + beta C in one triangle.
pub(crate) struct Gemmt<'s, T: Scalar, V: TileView, W: TileView>(OnThree<'s, T, V, W, (Uplo, Product<'s, T>)>);

/// Parameters of a product; op(A) is m x k and op(B) k x n.
struct Product<'s, T> {
    alpha: T,
    op_a: Op,
    op_b: Op,
    beta: T,
    shape: (usize, usize, usize),
    team: Team<'s>,
}

impl<'s, T: Scalar> Product<'s, T> {
    fn of<V, W>(s: &'s Scope<'s, '_>, alpha: T, a: &Factor<'_, V>, b: &Factor<'_, W>, beta: T) -> Self {
        debug_assert_eq!(a.shape.1, b.shape.0, "blocks of a product");
        let shape = (a.shape.0, b.shape.1, a.shape.1);
        Self { alpha, op_a: a.op, op_b: b.op, beta, shape, team: Team::of(s, shape.0 * shape.1 * shape.2) }
    }

    /// The same of matrices on a device, in one triangle of C if one is named.
    fn call(&self, part: Option<Uplo>, a: Mat<T>, b: Mat<T>, c: Mat<T>) -> Call<T> {
        let &Self { alpha, op_a, op_b, beta, .. } = self;
        Call::Gemm { part, op_a, op_b, alpha, a, b, beta, c }
    }

    /// The cost of this share of the product.
    fn cost(&self, share: f64) -> Cost {
        let (m, n, k) = (self.shape.0 as f64, self.shape.1 as f64, self.shape.2 as f64);
        cost::<T>(share * m * n * k, share * m * n * k, m * k + k * n + share * 2.0 * m * n)
    }
}

impl<'s, T: Scalar, V: TileView<Element = T>, W: TileView<Element = T>> Gemm<'s, T, V, W> {
    pub(crate) fn new() -> Self {
        let cost = |p: &Product<'s, T>| p.cost(1.0);
        let update = Codelet::new("gemm").cost(cost).on_host(|operands, p| Ok(Self::multiply(operands, p)?));
        let overwrite = Codelet::new("gemm").cost(cost).on_host(|operands, p| Ok(Self::multiply(operands, p)?));
        Self {
            update: on_devices(update, |(a, b, c), p: &Product<'s, T>| Ok(p.call(None, mat(a)?, mat(b)?, mat(c)?))),
            overwrite: on_devices(overwrite, |(a, b, c), p| Ok(p.call(None, mat(a)?, mat(b)?, mat(c)?))),
        }
    }

    /// The product on the host.
    fn multiply((a, b, c): (&Tile<V>, &Tile<W>, &mut Changed<'s, T>), p: &Product<'s, T>) -> Result<(), Error> {
        if let Some(nesting) = p.team.shares() {
            let (a, b) = ((p.op_a, a.view()), (p.op_b, b.view()));
            return team::gemm(nesting, p.alpha, a, b, p.beta, c.view_mut());
        }
        cpu::gemm(p.alpha, p.op_a, a.operand(), p.op_b, b.operand(), p.beta, c.view_mut());
        Ok(())
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
        let product = Product::of(s, alpha, &a, &b, beta);
        let (a, b) = (a.tile.read(), b.tile.read());
        if beta == T::ZERO {
            self.overwrite.insert(s, spec, (a, b, c.write()), product);
        } else {
            self.update.insert(s, spec, (a, b, c.read_write()), product);
        }
    }
}

impl<'s, T: Scalar, V: TileView<Element = T>, W: TileView<Element = T>> Gemmt<'s, T, V, W> {
    pub(crate) fn new() -> Self {
        let codelet = Codelet::new("gemmt").cost(|(_, p): &(Uplo, Product<'s, T>)| p.cost(0.5)).on_host(
            |(a, b, c): (&Tile<V>, &Tile<W>, &mut Changed<'s, T>), (uplo, p): &(Uplo, Product<'s, T>)| {
                cpu::gemmt(*uplo, p.alpha, p.op_a, a.operand(), p.op_b, b.operand(), p.beta, c.view_mut());
                Ok(())
            },
        );
        Self(on_devices(codelet, |(a, b, c), (uplo, p): &(Uplo, Product<'s, T>)| {
            Ok(p.call(Some(*uplo), mat(a)?, mat(b)?, mat(c)?))
        }))
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
        let parameters = (uplo, Product::of(s, alpha, &a, &b, beta));
        self.0.insert(s, spec, (a.tile.read(), b.tile.read(), c.read_write()), parameters);
    }
}

/// C := alpha op(A) op(A)* + beta C in one triangle, where * is the transpose or the conjugate transpose.
pub(crate) struct RankK<'s, T: Scalar, V: TileView>(OnTwo<'s, T, V, Update<'s, T>>);

/// C := alpha op(A) op(B)* + alpha* op(B) op(A)* + beta C in one triangle.
pub(crate) struct Rank2k<'s, T: Scalar, V: TileView, W: TileView>(OnThree<'s, T, V, W, Update<'s, T>>);

/// Parameters of an update of a symmetric or Hermitian matrix; op(A) is n x k. Where the routine has them real, so they are.
struct Update<'s, T> {
    symmetry: Symmetry,
    uplo: Uplo,
    op: Op,
    alpha: T,
    beta: T,
    shape: (usize, usize),
    team: Team<'s>,
}

impl<T: Scalar> Update<'_, T> {
    fn is_hermitian(&self) -> bool {
        self.symmetry == Symmetry::Hermitian
    }

    fn cost(&self, share: f64) -> Cost {
        let (n, k) = (self.shape.0 as f64, self.shape.1 as f64);
        cost::<T>(share * n * n * k, share * n * n * k, 2.0 * share * n * k + n * n)
    }
}

impl<'s, T: Scalar, V: TileView<Element = T>> RankK<'s, T, V> {
    pub(crate) fn new(symmetry: Symmetry) -> Self {
        let codelet = Codelet::new(symmetry.rank_k()).cost(|p: &Update<'s, T>| p.cost(0.5)).on_host(
            |(a, c): (&Tile<V>, &mut Changed<'s, T>), p: &Update<'s, T>| {
                if let Some(nesting) = p.team.shares() {
                    let (kind, a) = ((p.symmetry, p.uplo), (p.op, a.view()));
                    return Ok(team::rank_k(nesting, kind, p.alpha, a, p.beta, c.view_mut())?);
                }
                match p.symmetry {
                    Symmetry::Symmetric => cpu::syrk(p.uplo, p.op, p.alpha, a.operand(), p.beta, c.view_mut()),
                    Symmetry::Hermitian => {
                        cpu::herk(p.uplo, p.op, p.alpha.re(), a.operand(), p.beta.re(), c.view_mut());
                    }
                }
                Ok(())
            },
        );
        Self(on_devices(codelet, |(a, c), p: &Update<'s, T>| {
            let (hermitian, &Update { uplo, op, alpha, beta, .. }) = (p.is_hermitian(), p);
            Ok(Call::RankK { hermitian, uplo, op, alpha, a: mat(a)?, beta, c: mat(c)? })
        }))
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
        let team = Team::of(s, a.shape.0 * a.shape.0 * a.shape.1 / 2);
        let update = Update { symmetry, uplo, op: a.op, alpha, beta, shape: a.shape, team };
        self.0.insert(s, spec, (a.tile.read(), c.read_write()), update);
    }
}

impl<'s, T: Scalar, V: TileView<Element = T>, W: TileView<Element = T>> Rank2k<'s, T, V, W> {
    pub(crate) fn new(symmetry: Symmetry) -> Self {
        let codelet = Codelet::new(symmetry.rank_2k()).cost(|p: &Update<'s, T>| p.cost(1.0)).on_host(
            |(a, b, c): (&Tile<V>, &Tile<W>, &mut Changed<'s, T>), p: &Update<'s, T>| {
                let (a, b, c) = (a.operand(), b.operand(), c.view_mut());
                match p.symmetry {
                    Symmetry::Symmetric => cpu::syr2k(p.uplo, p.op, p.alpha, a, b, p.beta, c),
                    Symmetry::Hermitian => cpu::her2k(p.uplo, p.op, p.alpha, a, b, p.beta.re(), c),
                }
                Ok(())
            },
        );
        Self(on_devices(codelet, |(a, b, c), p: &Update<'s, T>| {
            let (hermitian, &Update { uplo, op, alpha, beta, .. }) = (p.is_hermitian(), p);
            Ok(Call::Rank2k { hermitian, uplo, op, alpha, a: mat(a)?, b: mat(b)?, beta, c: mat(c)? })
        }))
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
        let update = Update { symmetry, uplo, op: a.op, alpha, beta, shape: a.shape, team: Team::ALONE };
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
        let codelet = codelet.on_host(|(a, b, c): (&Tile<V>, &Tile<W>, &mut Changed<'s, T>), p: &Whole<T>| {
            let (a, b, c) = (a.operand(), b.operand(), c.view_mut());
            match p.symmetry {
                Symmetry::Symmetric => cpu::symm(p.side, p.uplo, p.alpha, a, b, p.beta, c),
                Symmetry::Hermitian => cpu::hemm(p.side, p.uplo, p.alpha, a, b, p.beta, c),
            }
            Ok(())
        });
        Self(on_devices(codelet, |(a, b, c), p: &Whole<T>| {
            let (hermitian, &Whole { side, uplo, alpha, beta, .. }) = (p.symmetry == Symmetry::Hermitian, p);
            Ok(Call::Symm { hermitian, side, uplo, alpha, a: mat(a)?, b: mat(b)?, beta, c: mat(c)? })
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
pub(crate) struct Triangular<'s, T: Scalar, V: TileView>(OnTwo<'s, T, V, (Triangle<T>, Team<'s>)>);

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
    Triangular::new("trmm", cpu::trmm, Call::Trmm)
}

/// B := alpha op(A)⁻¹ B or alpha B op(A)⁻¹.
pub(crate) fn trsm<'s, T: Scalar, V: TileView<Element = T>>() -> Triangular<'s, T, V> {
    Triangular::new("trsm", cpu::trsm, Call::Trsm)
}

/// A kernel that applies a triangle.
pub(super) type Apply<T> =
    fn(Side, Uplo, Op, Diag, T, superscalar_kernels::MatRef<'_, T>, superscalar_kernels::MatMut<'_, T>);
/// The same on a device.
type ApplyThere<T> = fn(device::Triangle<T>) -> Call<T>;

impl<'s, T: Scalar, V: TileView<Element = T>> Triangular<'s, T, V> {
    fn new(name: &'static str, apply: Apply<T>, there: ApplyThere<T>) -> Self {
        let codelet = Codelet::new(name).cost(|(p, _): &(Triangle<T>, Team<'s>)| {
            let (m, n) = (p.shape.0 as f64, p.shape.1 as f64);
            let k = if p.side == Side::Left { m } else { n };
            cost::<T>(m * n * k / 2.0, m * n * k / 2.0, k * k / 2.0 + 2.0 * m * n)
        });
        let codelet =
            codelet.on_host(move |(a, b): (&Tile<V>, &mut Changed<'s, T>), (p, team): &(Triangle<T>, Team<'s>)| {
                if let Some(nesting) = team.shares() {
                    return Ok(team::triangular(nesting, apply, p, a.view(), b.view_mut())?);
                }
                apply(p.side, p.uplo, p.op, p.diag, p.alpha, a.view(), b.view_mut());
                Ok(())
            });
        Self(on_devices(codelet, move |(a, b), (p, _): &(Triangle<T>, Team<'s>)| {
            let &Triangle { side, uplo, op, diag, alpha, .. } = p;
            Ok(there(device::Triangle { side, uplo, op, diag, alpha, a: mat(a)?, b: mat(b)? }))
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
        let (m, n) = triangle.shape;
        let order = if triangle.side == Side::Left { m } else { n };
        self.0.insert(s, spec, (a.read(), b.read_write()), (triangle, Team::of(s, m * n * order / 2)));
    }
}

/// C := beta C, or one triangle of it.
pub(crate) struct Scale<'s, T: Scalar>(OnOne<'s, T, Factors<T>>);

/// Parameters of a scaling of an m x n tile: the triangle, with its symmetry, if not all of it is meant.
struct Factors<T> {
    part: Option<(Symmetry, Uplo)>,
    beta: T,
    shape: (usize, usize),
}

impl<'s, T: Scalar> Scale<'s, T> {
    pub(crate) fn new() -> Self {
        let codelet = Codelet::new("scale").cost(|p: &Factors<T>| {
            let (m, n) = (p.shape.0 as f64, p.shape.1 as f64);
            Cost { level: Some(BlasLevel::One), ..cost::<T>(m * n, 0.0, 2.0 * m * n) }
        });
        let codelet = codelet.on_host(|c: &mut Changed<'s, T>, &Factors { part, beta, .. }: &Factors<T>| {
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
        });
        Self(on_devices(codelet, |c, &Factors { part, beta, .. }: &Factors<T>| {
            let is_hermitian = |symmetry| symmetry == Symmetry::Hermitian;
            let beta =
                if part.is_some_and(|(symmetry, _)| is_hermitian(symmetry)) { T::from_real(beta.re()) } else { beta };
            let part = part.map(|(symmetry, uplo)| (uplo, is_hermitian(symmetry)));
            Ok(Call::Scale { part, beta, a: mat(c)? })
        }))
    }

    /// `part` is the triangle, with its symmetry, if not all of C is meant, which has this shape.
    #[track_caller]
    pub(crate) fn insert(
        &self,
        s: &'s Scope<'s, '_>,
        spec: TaskSpec,
        part: Option<(Symmetry, Uplo)>,
        beta: T,
        (c, shape): (Target<'s, T>, (usize, usize)),
    ) {
        self.0.insert(s, spec, c.read_write(), Factors { part, beta, shape });
    }
}
