//! Solvers and inverses at every scale: s A X = s B gives X, and the inverse of s A is that of A divided by s, for
//! powers of two s for which operands and result are representable: all of them in single precision; in double
//! precision those of `tries_scale`, or all with FULL=1.
//!
//! A, X and B = A X are small integers, so scaling is exact. If s A is subnormal, intermediate results are rounded to
//! multiples of the least number; `Case::roundoff` includes this. Some powers of two at the upper end are skipped
//! because intermediate sums would overflow: each routine says how many.

use crate::{four_types, runs::runtime};
use superscalar_dla::{
    Options, Scalar, gels, geqrf, gesv, gesv_mixed, getrf, getri, getrs, posv, posv_mixed, potrf, potri, potrs, trsm,
    trtri, ungqr,
};
use superscalar_kernels::{Diag, Op, Side, Uplo, c64};
use superscalar_oracle::{Stored, Wide, narrow, residual, tries_scale, wide};
use superscalar_runtime::Runtime;

const UPLOS: [Uplo; 2] = [Uplo::Lower, Uplo::Upper];
const OPS: [Op; 3] = [Op::None, Op::Trans, Op::ConjTrans];
/// Orders, each with a small tile size. The last order is tested only at some scales.
const ORDERS: [(usize, usize); 5] = [(1, 1), (2, 1), (5, 2), (20, 7), (70, 32)];
const SELDOM: i32 = 32;

/// A system at one scale.
struct Case<'r> {
    rt: &'r Runtime,
    options: Options,
    /// The scale is 2ᵉ.
    e: i32,
    n: usize,
    nrhs: usize,
    /// Other options alternate with this number.
    turn: usize,
}

/// Exponents of the largest power of two, the least normal number and the least number of a type.
struct Exponents {
    largest: i32,
    least_normal: i32,
    least: i32,
}

impl Exponents {
    fn of<T: Scalar>() -> Self {
        if size_of::<T::Real>() == size_of::<f32>() {
            Self { largest: 127, least_normal: -126, least: -149 }
        } else {
            Self { largest: 1023, least_normal: -1022, least: -1074 }
        }
    }
}

/// Returns 2ᵉ x.
fn scaled(x: c64, e: i32) -> c64 {
    let power = |e: i32| 2f64.powi(e / 2) * 2f64.powi(e - e / 2);
    x * power(e / 2) * power(e - e / 2)
}

/// Calls `check` for every order and every tested exponent e for which 2^(e + bits), and for an inverse 2^(bits - e),
/// is representable. 1 to 12 right-hand sides and automatic and small tiles alternate. `bits` may depend on the order.
fn every_scale<T: Scalar>(bits: impl Fn(usize) -> i32, inverse: bool, check: impl Fn(&Case<'_>)) {
    let (rt, Exponents { largest: most, least, .. }) = (runtime(), Exponents::of::<T>());
    for e in (least..=most).filter(|&e| tries_scale::<T::Real>(e)) {
        for (at, (n, nb)) in ORDERS.into_iter().enumerate() {
            let is_out = e > most - bits(n) || (inverse && -e > most - bits(n));
            if is_out || (n == ORDERS[4].0 && e % SELDOM != 0) {
                continue;
            }
            let turn = (e - least) as usize + 5 * at;
            let options = if (turn / 12).is_multiple_of(2) { Options::default() } else { Options::default().nb(nb) };
            check(&Case { rt: &rt, options, e, n, nrhs: 1 + turn % 12, turn });
        }
    }
}

impl Case<'_> {
    /// Returns the matrix at this scale.
    fn at_scale<T: Scalar>(&self, a: &Wide) -> Stored<T> {
        Stored::new(a.shape(), |i, j| narrow(scaled(a.at(i, j), self.e)))
    }

    /// Returns the unit roundoff plus the relative error of rounding numbers of size 2ᵉ to multiples of the least
    /// number.
    fn roundoff<T: Scalar>(&self, e: i32) -> f64 {
        let normal = Exponents::of::<T>().least_normal;
        residual::epsilon::<T>() * (1.0 + if e < normal { 2f64.powi(normal - e) } else { 0.0 })
    }

    /// Returns a solution of small integers.
    fn solution<T: Scalar>(&self) -> Wide {
        let part = |i: usize| [1.0, 2.0, -1.0][i % 3];
        Wide::new((self.n, self.nrhs), |i, j| {
            if self.n == 1 { c64::ONE } else { c64::new(part(i + j), if T::COMPLEX { part(i + 2 * j) } else { 0.0 }) }
        })
    }

    /// Checks the solution. If A is used unchanged (`as_it_is`), as for a matrix of one element, nothing is rounded to
    /// multiples of the least number.
    fn assert_solved<T: Scalar>(&self, routine: &str, as_it_is: bool, x: &Stored<T>, wanted: &Wide) {
        let roundoff = if as_it_is { residual::epsilon::<T>() } else { self.roundoff::<T>(self.e) };
        let bound = 64.0 * roundoff * (self.n as f64).sqrt();
        let error = x.wide().minus(wanted).norm_max();
        assert!(error <= bound, "{}: an error of {error}, not {bound}", self.name::<T>(routine));
    }

    /// Checks that A X is near the identity, where X is the inverse at this scale.
    fn assert_inverse<T: Scalar>(&self, routine: &str, a: &Wide, x: &Wide) {
        let x = Wide::new(x.shape(), |i, j| scaled(x.at(i, j), self.e));
        let roundoff = self.roundoff::<T>(self.e) + self.roundoff::<T>(-self.e);
        let (error, bound) =
            (Wide::identity(self.n).minus(&a.times(&x)).norm_max(), 64.0 * roundoff * (self.n as f64).sqrt());
        assert!(error <= bound, "{}: an error of {error}, not {bound}", self.name::<T>(routine));
    }

    fn name<T: Scalar>(&self, routine: &str) -> String {
        let Self { options, e, n, nrhs, turn, .. } = self;
        format!("{}{routine}, order {n}, {nrhs} right-hand sides, scale 2^{e}, turn {turn}, {options:?}", T::LETTER)
    }

    /// Returns a band matrix with a dominant diagonal and interchanged rows.
    fn general<T: Scalar>(&self) -> Wide {
        let diagonal = [c64::new(12.0, 5.0), c64::new(-5.0, 12.0), c64::new(13.0, 0.0), c64::new(0.0, -13.0)];
        let alone = [c64::new(1.0, 1.0), c64::new(0.0, 1.0), c64::new(1.0, -1.0), c64::new(1.0, 0.0)];
        let (n, turn) = (self.n, self.turn);
        Wide::new((n, n), |i, j| {
            let row = (i + n / 2) % n;
            let x = match row.abs_diff(j) {
                0 if n == 1 => alone[turn % 4],
                0 => diagonal[j % 4],
                1 => c64::new(1.0, -1.0),
                2 => c64::new(0.0, if i % 2 == 0 { 1.0 } else { -1.0 }),
                _ => c64::ZERO,
            };
            own::<T>(x)
        })
    }

    /// Returns a positive definite matrix.
    fn positive<T: Scalar>(&self) -> Wide {
        Wide::new((self.n, self.n), |i, j| {
            own::<T>(match i.abs_diff(j) {
                0 if self.n == 1 => c64::ONE,
                0 => c64::from([8.0, 7.0, 5.0][i % 3]),
                1 => c64::new(1.0, if i > j { 1.0 } else { -1.0 }),
                _ => c64::ZERO,
            })
        })
    }

    /// Returns a triangle with a dominant diagonal; the other triangle is zero.
    fn triangle<T: Scalar>(&self, uplo: Uplo) -> Wide {
        let (general, n) = (self.general::<T>(), self.n);
        Wide::new((n, n), |i, j| {
            let is_named = if uplo == Uplo::Lower { i >= j } else { i <= j };
            // The order of rows before the interchange.
            if is_named { general.at((i + n - n / 2) % n, j) } else { c64::ZERO }
        })
    }

    fn uplo(&self) -> Uplo {
        UPLOS[self.turn % 2]
    }
}

/// Converts to a number of the type; for real types, the larger part.
fn own<T: Scalar>(x: c64) -> c64 {
    let larger = [x.im, x.re].into_iter().max_by(|a, b| a.abs().total_cmp(&b.abs())).unwrap_or_default();
    if T::COMPLEX { x } else { c64::from(larger) }
}

/// Four bits each for the elements of A and X, unless there is only one element.
fn bits(n: usize) -> i32 {
    if n == 1 { 0 } else { 8 }
}

fn triangular_systems<T: Scalar>() {
    every_scale::<T>(bits, false, |case| {
        let (uplo, op) = (case.uplo(), OPS[case.turn / 2 % 3]);
        let a = case.triangle::<T>(uplo);
        let (side, x) = match case.turn / 6 % 2 {
            0 => (Side::Left, case.solution::<T>()),
            _ => (Side::Right, case.solution::<T>().op(Op::Trans)),
        };
        let b = if side == Side::Left { a.op(op).times(&x) } else { x.times(&a.op(op)) };
        let (a, mut b) = (case.at_scale::<T>(&a), case.at_scale::<T>(&b));
        trsm(case.rt, side, uplo, op, Diag::NonUnit, T::ONE, a.view(), b.view_mut(), &case.options)
            .expect("shapes agree");
        case.assert_solved(&format!("trsm {side}{uplo}{op}"), true, &b, &x);
    });
}

fn positive_definite_systems<T: Scalar>() {
    every_scale::<T>(bits, false, |case| {
        let (a, x, uplo) = (case.positive::<T>(), case.solution::<T>(), case.uplo());
        let (mut l, b) = (case.at_scale::<T>(&a), case.at_scale::<T>(&a.times(&x)));
        let (mut y, mut z) = (b.clone(), b);
        let mut again = l.clone();
        posv(case.rt, uplo, again.view_mut(), y.view_mut(), &case.options).expect("a positive definite matrix");
        case.assert_solved(&format!("posv {uplo}"), case.n == 1, &y, &x);
        potrf(case.rt, uplo, l.view_mut(), &case.options).expect("a positive definite matrix");
        assert_eq!(residual::positive_diagonal(l.view()), 0.0, "potrf {uplo}: the diagonal");
        potrs(case.rt, uplo, l.view(), z.view_mut(), &case.options).expect("shapes agree");
        case.assert_solved(&format!("potrs {uplo}"), case.n == 1, &z, &x);
    });
}

fn general_systems<T: Scalar>() {
    every_scale::<T>(bits, false, |case| {
        let (a, x, op) = (case.general::<T>(), case.solution::<T>(), OPS[case.turn / 2 % 3]);
        let (mut lu, mut ipiv) = (case.at_scale::<T>(&a), vec![0; case.n]);
        let (mut y, mut z) = (case.at_scale::<T>(&a.times(&x)), case.at_scale::<T>(&a.op(op).times(&x)));
        let mut again = lu.clone();
        gesv(case.rt, again.view_mut(), &mut ipiv, y.view_mut(), &case.options).expect("a regular matrix");
        case.assert_solved("gesv", case.n == 1, &y, &x);
        getrf(case.rt, lu.view_mut(), &mut ipiv, &case.options).expect("a regular matrix");
        getrs(case.rt, op, lu.view(), &ipiv, z.view_mut(), &case.options).expect("shapes agree");
        case.assert_solved(&format!("getrs {op}"), case.n == 1, &z, &x);
    });
}

/// Sums of squares of columns, and of elements below the diagonal, need more bits.
fn least_squares<T: Scalar>() {
    every_scale::<T>(
        |_| 12,
        false,
        |case| {
            let (a, x) = (case.general::<T>(), case.solution::<T>());
            let (mut qr, mut b) = (case.at_scale::<T>(&a), case.at_scale::<T>(&a.times(&x)));
            let (mut q, mut tau) = (qr.clone(), vec![T::ZERO; case.n]);
            gels(case.rt, Op::None, qr.view_mut(), b.view_mut(), &case.options).expect("a regular matrix");
            case.assert_solved("gels", false, &b, &x);
            geqrf(case.rt, q.view_mut(), &mut tau, &case.options).expect("shapes agree");
            ungqr(case.rt, q.view_mut(), &tau, &case.options).expect("shapes agree");
            let q = q.wide();
            let (error, bound) =
                (Wide::identity(case.n).minus(&q.adjoint().times(&q)).norm_max(), 64.0 * residual::epsilon::<T>());
            assert!(error <= bound, "{}: an error of {error}, not {bound}", case.name::<T>("ungqr"));
        },
    );
}

fn inverses<T: Scalar>() {
    every_scale::<T>(
        |n| if n == 1 { 1 } else { 5 },
        true,
        |case| {
            let (uplo, options) = (case.uplo(), &case.options);
            let a = case.triangle::<T>(uplo);
            let mut x = case.at_scale::<T>(&a);
            trtri(case.rt, uplo, Diag::NonUnit, x.view_mut(), options).expect("a regular matrix");
            case.assert_inverse::<T>(&format!("trtri {uplo}"), &a, &x.wide());

            let a = case.positive::<T>();
            let mut x = case.at_scale::<T>(&a);
            potrf(case.rt, uplo, x.view_mut(), options).expect("a positive definite matrix");
            potri(case.rt, uplo, x.view_mut(), options).expect("a regular matrix");
            let is_named = |i, j| if uplo == Uplo::Lower { i >= j } else { i <= j };
            let at = |i, j| if is_named(i, j) { wide(x.at(i, j)) } else { wide(x.at(j, i)).conj() };
            case.assert_inverse::<T>(&format!("potri {uplo}"), &a, &Wide::new((case.n, case.n), at));

            let a = case.general::<T>();
            let (mut x, mut ipiv) = (case.at_scale::<T>(&a), vec![0; case.n]);
            getrf(case.rt, x.view_mut(), &mut ipiv, options).expect("a regular matrix");
            getri(case.rt, x.view_mut(), &ipiv, options).expect("a regular matrix");
            case.assert_inverse::<T>("getri", &a, &x.wide());
        },
    );
}

four_types! { triangular_systems positive_definite_systems general_systems least_squares inverses }

/// If A and the intermediate results are normal numbers of the lower precision, refinement takes its usual few steps.
/// If A overflows, refinement does not start; in between it may succeed or not.
fn mixed<T: superscalar_dla::MixedPrecision>() {
    every_scale::<T>(bits, false, |case| {
        let (x, uplo) = (case.solution::<T>(), case.uplo());
        let judge = |routine: &str, y: &Stored<T>, steps: i32| {
            case.assert_solved(routine, case.n == 1, y, &x);
            let name = case.name::<T>(routine);
            match case.e {
                -60..=110 => assert!((0..=3).contains(&steps), "{name}: {steps} steps"),
                128.. => assert_eq!(steps, -2, "{name}"),
                _ => assert!(steps <= 5, "{name}: {steps} steps"),
            }
        };
        let a = case.general::<T>();
        let (mut lu, b, mut ipiv) = (case.at_scale::<T>(&a), case.at_scale::<T>(&a.times(&x)), vec![0; case.n]);
        let mut y = b.clone();
        let steps = gesv_mixed(case.rt, lu.view_mut(), &mut ipiv, b.view(), y.view_mut(), &case.options);
        judge("gesv_mixed", &y, steps.expect("a regular matrix"));
        let a = case.positive::<T>();
        let (mut l, b) = (case.at_scale::<T>(&a), case.at_scale::<T>(&a.times(&x)));
        let steps = posv_mixed(case.rt, uplo, l.view_mut(), b.view(), y.view_mut(), &case.options);
        judge("posv_mixed", &y, steps.expect("a positive definite matrix"));
    });
}

#[test]
fn mixed_d() {
    mixed::<f64>();
}

#[test]
fn mixed_z() {
    mixed::<c64>();
}
