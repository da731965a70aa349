//! The codelets of a Cholesky factorization in block columns: its panel, and what updates a column by another, or by what stands above
//! in it.
//!
//! A column that is updated is ragged: its block on the diagonal is half of a square, whose other half belongs to the user. So the
//! update is a rank-k update of that block and one product for all that is below (task-superscalar paper, section 5.3).

use super::{
    Changed, OnOne, OnTwo, cost, mat,
    team::{self, Team},
};
use crate::{Scalar, parts::by_rows};
use std::ops::Range;
use superscalar_kernels::{
    Diag, MatMut, NotPositiveDefinite, Op, Scalar as _, Side, Uplo, cpu,
    device::{Call, Mat, on_devices, panels_on_devices},
};
use superscalar_runtime::{BlasLevel, Codelet, Cost, Lent, Nesting, Scope, TaskSpec};

/// A block column, as a handle.
type Column<'s, T> = Lent<'s, Changed<'s, T>>;

/// The block of column j on the diagonal, and what is below it, as a tile counts rows.
#[derive(Clone)]
pub(crate) struct Rows {
    pub(crate) here: Range<usize>,
    pub(crate) below: Range<usize>,
}

impl Rows {
    /// Those of both.
    fn all(&self) -> Range<usize> {
        self.here.start..self.below.end
    }
}

/// A = L Lᴴ of the block on the diagonal, and A[below] := A[below] L⁻ᴴ; or A = Uᴴ U of the block alone.
pub(crate) struct PotrfOfColumn<'s, T: Scalar>(OnOne<'s, T, Panel<'s>>);

struct Panel<'s> {
    uplo: Uplo,
    rows: Rows,
    /// Rows of the matrix above its tile, for `info`.
    above: usize,
    nesting: Nesting<'s>,
}

impl<'s, T: Scalar> PotrfOfColumn<'s, T> {
    pub(crate) fn new() -> Self {
        let codelet = Codelet::new("potrf").cost(|p: &Panel<'s>| {
            let (n, m) = (p.rows.here.len() as f64, p.rows.below.len() as f64);
            let half = n * n * (n / 6.0 + m / 2.0);
            Cost { level: Some(BlasLevel::Two), ..cost::<T>(half, half, n * n + 2.0 * m * n) }
        });
        let codelet = codelet.on_host(|a: &mut Changed<'s, T>, p: &Panel<'s>| {
            let (Rows { here, below }, uplo) = (&p.rows, p.uplo);
            let (above, mut rest) = a.view_mut().split_at_row(here.end);
            let n = here.len();
            let mut diagonal = above.submatrix(here.clone(), 0..n);
            cpu::potrf(uplo, diagonal.rb_mut())
                .map_err(|NotPositiveDefinite { minor }| NotPositiveDefinite { minor: p.above + here.start + minor })?;
            if uplo == Uplo::Upper || below.is_empty() {
                return Ok(());
            }
            let l = diagonal.into_ref();
            Ok(by_rows(p.nesting, "trsm in panel", rest.rb_mut(), (n * n).div_ceil(2), |_, b| {
                cpu::trsm(Side::Right, uplo, Op::ConjTrans, Diag::NonUnit, T::ONE, l, b);
            })?)
        });
        Self(panels_on_devices(codelet, |a, p: &Panel<'s>| {
            let a = mat::<T, _>(a)?.submatrix(p.rows.all(), 0..p.rows.here.len());
            Ok(Call::Potrf { uplo: p.uplo, first: p.above + p.rows.here.start, a })
        }))
    }

    #[track_caller]
    pub(crate) fn insert(
        &self,
        s: &'s Scope<'s, '_>,
        spec: TaskSpec,
        uplo: Uplo,
        (rows, above): (Rows, usize),
        a: Column<'s, T>,
    ) {
        self.0.insert(s, spec, a.read_write(), Panel { uplo, rows, above, nesting: s.nesting() });
    }
}

/// What column k does to column j > k of a lower factor, whose block on the diagonal lies in these rows.
pub(crate) struct UpdateOfColumn<'s, T: Scalar>(OnTwo<'s, T, MatMut<'s, T>, Update<'s>>);

struct Update<'s> {
    rows: Rows,
    /// The same rows in column k.
    from: Rows,
    /// Columns of column k.
    k: usize,
    team: Team<'s>,
}

/// The kernel that it is.
const UPDATE: &str = "herk";

/// An update of n rows on the diagonal, and m below, by k columns.
fn cost_of_update<T: Scalar>((n, m, k): (usize, usize, usize)) -> Cost {
    let (n, m, k) = (n as f64, m as f64, k as f64);
    let half = n * (n / 2.0 + m) * k;
    cost::<T>(half, half, (n + m) * k + n * (n + 2.0 * m))
}

/// An update as those in the middle of a factorization of order n are, by which devices' weights are told.
pub(crate) fn usual_update<T: Scalar>((n, nb): (usize, usize)) -> (&'static str, Cost) {
    (UPDATE, cost_of_update::<T>((nb, (n / 2).saturating_sub(nb), nb)))
}

impl<'s, T: Scalar> UpdateOfColumn<'s, T> {
    pub(crate) fn new() -> Self {
        let codelet = Codelet::new(UPDATE)
            .cost(|p: &Update<'s>| cost_of_update::<T>((p.rows.here.len(), p.rows.below.len(), p.k)));
        let codelet = codelet.on_host(|(a, c): (&Changed<'s, T>, &mut Changed<'s, T>), p: &Update<'s>| {
            let (Rows { here, below }, n) = (&p.rows, p.rows.here.len());
            let (above, rest) = c.view_mut().split_at_row(here.end);
            let (diagonal, rest) = (above.submatrix(here.clone(), 0..n), rest.submatrix(0..below.len(), 0..n));
            let (minus_one, one) = (-T::Real::ONE, T::Real::ONE);
            cpu::herk(Uplo::Lower, Op::None, minus_one, a.operand_of(p.from.here.clone(), 0..p.k), one, diagonal);
            let right = a.view().submatrix(p.from.here.clone(), 0..p.k);
            let left = a.view().submatrix(p.from.below.clone(), 0..p.k);
            if let Some(nesting) = p.team.shares() {
                return Ok(team::gemm(nesting, -T::ONE, (Op::None, left), (Op::ConjTrans, right), T::ONE, rest)?);
            }
            cpu::gemm(-T::ONE, Op::None, left, Op::ConjTrans, right, T::ONE, rest);
            Ok(())
        });
        Self(on_devices(codelet, |(a, c), p: &Update<'s>| {
            let (a, c): (Mat<T>, Mat<T>) = (mat(a)?, mat(c)?);
            let (a, c) = (a.submatrix(p.from.all(), 0..p.k), c.submatrix(p.rows.all(), 0..p.rows.here.len()));
            Ok(Call::RankK { hermitian: true, uplo: Uplo::Lower, op: Op::None, alpha: -T::ONE, a, beta: T::ONE, c })
        }))
    }

    /// Updates all of the column, by column k with so many columns; the rows as both tiles count them.
    #[track_caller]
    pub(crate) fn insert(
        &self,
        s: &'s Scope<'s, '_>,
        spec: TaskSpec,
        (from, rows): (Rows, Rows),
        (a, k): (Column<'s, T>, usize),
        c: Column<'s, T>,
    ) {
        let team = Team::of(s, rows.below.len() * rows.here.len() * k);
        self.0.insert(s, spec, (a.read(), c.read_write()), Update { rows, from, k, team });
    }
}

/// A[here] := A[here] − A[above]ᴴ A[above] in the upper triangle, where `above` are all rows above.
pub(crate) struct HerkOfColumn<'s, T: Scalar>(OnOne<'s, T, Range<usize>>);

impl<'s, T: Scalar> HerkOfColumn<'s, T> {
    pub(crate) fn new() -> Self {
        let codelet = Codelet::new("herk").cost(|here: &Range<usize>| {
            let (n, k) = (here.len() as f64, here.start as f64);
            cost::<T>(n * n * k / 2.0, n * n * k / 2.0, n * k + n * n)
        });
        let codelet = codelet.on_host(|a: &mut Changed<'s, T>, here: &Range<usize>| {
            let (above, rest) = a.view_mut().split_at_row(here.start);
            let diagonal = rest.submatrix(0..here.len(), 0..here.len());
            cpu::herk(Uplo::Upper, Op::ConjTrans, -T::Real::ONE, above.into_ref(), T::Real::ONE, diagonal);
            Ok(())
        });
        Self(on_devices(codelet, |a, here: &Range<usize>| {
            let a: Mat<T> = mat(a)?;
            let (above, c) = (a.submatrix(0..here.start, 0..a.n), a.submatrix(here.clone(), 0..here.len()));
            let (alpha, beta) = (-T::ONE, T::ONE);
            Ok(Call::RankK { hermitian: true, uplo: Uplo::Upper, op: Op::ConjTrans, alpha, a: above, beta, c })
        }))
    }

    #[track_caller]
    pub(crate) fn insert(&self, s: &'s Scope<'s, '_>, spec: TaskSpec, here: Range<usize>, a: Column<'s, T>) {
        self.0.insert(s, spec, a.read_write(), here);
    }
}
