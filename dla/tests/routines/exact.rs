//! Typical sizes, checked bit by bit. Operands are small integers, chosen so that all intermediate values are small
//! integers, halves or quarters.
//!
//! Products are checked by probes: for a vector u of ones and minus ones, uᵀ (op(A) op(B)) and (uᵀ op(A)) op(B) are the
//! same integers, and a wrong element changes every probe. Factors are sparse with elements in every tile, so that A is
//! known without a matrix product, and the computed factors must equal them.

use crate::{auxiliary::integers, four_types};
use superscalar_dla::{self as dla, Options, Scalar};
use superscalar_kernels::{Diag, Op, Scalar as _, Side, Uplo, c32, c64};
use superscalar_oracle::{Stored, element, is_full, whole, wide};
use superscalar_runtime::Runtime;

fn runtime(workers: usize) -> Runtime {
    Runtime::builder().workers(workers).bind(false).build().expect("threads can be started")
}

/// The elements and the shape of a matrix.
type Elements<'a> = (&'a dyn Fn(usize, usize) -> c64, (usize, usize));

/// Returns uᵀ A.
fn times(u: &[c64], (a, (m, n)): Elements<'_>) -> Vec<c64> {
    (0..n).map(|j| (0..m).map(|i| u[i] * a(i, j)).sum()).collect()
}

/// Checks that C = A B + D.
fn is_product(a: Elements<'_>, b: Elements<'_>, d: Elements<'_>, c: Elements<'_>) {
    for seed in 0..2 {
        let u: Vec<c64> = (0..c.1.0).map(|i| c64::new(element::<f64>(seed, i, 1).signum(), 0.0)).collect();
        let (expected, added) = (times(&times(&u, a), b), times(&u, d));
        let expected: Vec<c64> = expected.iter().zip(&added).map(|(x, y)| x + y).collect();
        let wrong = times(&u, c).iter().zip(&expected).position(|(x, y)| x != y);
        assert_eq!(wrong, None, "the first column that differs, of {:?}", c.1);
    }
}

fn op_of<T: Scalar>(op: Op, a: &Stored<T>, i: usize, j: usize) -> c64 {
    match op {
        Op::None => wide(a.at(i, j)),
        Op::Trans => wide(a.at(j, i)),
        Op::ConjTrans => wide(a.at(j, i).conj()),
    }
}

/// Returns whether the largest operands are tested with this type: with f64 and c32, or all types with FULL=1.
fn tries_largest<T: Scalar>() -> bool {
    is_full() || T::COMPLEX != (size_of::<T::Real>() == size_of::<f64>())
}

/// More columns than a block of B, and two tiles per worker, each packed by its worker
/// (`docs/decisions/0014-large-products-pack-for-themselves.md`).
fn gemm<T: Scalar>() {
    let rt = runtime(2);
    let depth = if tries_largest::<T>() { 2000 } else { 500 };
    for ((m, n, k), (op_a, op_b)) in [
        ((1100, 4200, depth), (Op::None, Op::ConjTrans)),
        ((300, 2500, 500), (Op::Trans, Op::None)),
        ((2500, 70, 800), (Op::None, Op::None)),
    ] {
        let (a, b) = (integers::<T>(op_a.shape((m, k)), 1), integers::<T>(op_b.shape((k, n)), 2));
        let c = integers::<T>((m, n), 3);
        let mut after = c.clone();
        let (alpha, beta, options) = (T::ONE, -T::ONE, Options::default());
        dla::gemm(&rt, alpha, op_a, a.view(), op_b, b.view(), beta, after.view_mut(), &options)
            .expect("shapes that fit");
        after.assert_padding("gemm");
        let shape = (m, n);
        is_product(
            (&|i, j| op_of(op_a, &a, i, j), (m, k)),
            (&|i, j| op_of(op_b, &b, i, j), (k, n)),
            (&|i, j| -wide(c.at(i, j)), shape),
            (&|i, j| wide(after.at(i, j)), shape),
        );
    }
}

/// Strips with equal numbers of columns: the shape of B, which is multiplied from the left.
const SIDED: (usize, usize) = (2100, 2048);
const ZERO: Elements<'_> = (&|_, _| c64::ZERO, SIDED);

fn trmm<T: Scalar>() {
    let (rt, options, order) = (runtime(2), Options::default(), SIDED.0);
    let (a, b) = (integers::<T>((order, order), 1), integers::<T>(SIDED, 2));
    let mut after = b.clone();
    let (side, uplo, diag) = (Side::Left, Uplo::Lower, Diag::Unit);
    dla::trmm(&rt, side, uplo, Op::None, diag, T::ONE, a.view(), after.view_mut(), &options).expect("a product");
    let triangle = |i: usize, j: usize| match i.cmp(&j) {
        std::cmp::Ordering::Less => c64::ZERO,
        std::cmp::Ordering::Equal => c64::ONE,
        std::cmp::Ordering::Greater => wide(a.at(i, j)),
    };
    let old: Elements<'_> = (&|i, j| wide(b.at(i, j)), SIDED);
    is_product((&triangle, (order, order)), old, ZERO, (&|i, j| wide(after.at(i, j)), SIDED));
}

fn symm<T: Scalar>() {
    let (rt, options, order) = (runtime(2), Options::default(), SIDED.0);
    let (a, b) = (integers::<T>((order, order), 1), integers::<T>(SIDED, 2));
    let mut after = b.clone();
    dla::symm(&rt, Side::Left, Uplo::Lower, T::ONE, a.view(), b.view(), T::ONE, after.view_mut(), &options)
        .expect("a product");
    let symmetric = |i: usize, j: usize| wide(a.at(i.max(j), i.min(j)));
    let old: Elements<'_> = (&|i, j| wide(b.at(i, j)), SIDED);
    is_product((&symmetric, (order, order)), old, old, (&|i, j| wide(after.at(i, j)), SIDED));
}

/// The inverse of a unit triangle with one block below its diagonal has the negated block.
fn trsm<T: Scalar>() {
    let (rt, options, order) = (runtime(2), Options::default(), SIDED.0);
    let half = order / 2;
    let a = Stored::new((order, order), |i, j| match i == j {
        true => T::ONE,
        false if i >= half && j < half => whole(1, i, j),
        false => T::ZERO,
    });
    let b = integers::<T>(SIDED, 2);
    let mut after = b.clone();
    let (side, uplo, diag) = (Side::Left, Uplo::Lower, Diag::NonUnit);
    dla::trsm(&rt, side, uplo, Op::None, diag, T::ONE, a.view(), after.view_mut(), &options).expect("a solution");
    let old: Elements<'_> = (&|i, j| wide(b.at(i, j)), SIDED);
    is_product((&|i, j| wide(a.at(i, j)), (order, order)), (&|i, j| wide(after.at(i, j)), SIDED), ZERO, old);
}

// Each takes seconds, so each has one type: all types have them at smaller orders.

#[test]
fn trmm_c() {
    trmm::<c32>();
}

#[test]
fn symm_d() {
    symm::<f64>();
}

#[test]
fn trsm_d() {
    trsm::<f64>();
}

/// A sparse lower triangle: its diagonal, and the elements below it by columns.
struct Sparse<T> {
    diagonal: Vec<T>,
    columns: Vec<Vec<(usize, T)>>,
}

impl<T: Scalar> Sparse<T> {
    /// Creates a triangle with one, two or four on the diagonal, and a few elements of modulus one in each row.
    fn new(n: usize, seed: u64) -> Self {
        let number = |i: usize, j: usize| element::<f64>(seed, i, j) + 0.5;
        let diagonal = (0..n).map(|i| T::from_f64([1.0, 2.0, 4.0][(number(i, 0) * 3.0) as usize % 3])).collect();
        let mut columns = vec![Vec::new(); n];
        for (i, turn) in (1..n).flat_map(|i| (1..5).map(move |turn| (i, turn))) {
            let (column, sign) = ((number(i, turn) * i as f64) as usize, (number(i, turn + 10) * 4.0) as usize);
            let one = if sign.is_multiple_of(2) { T::ONE } else { -T::ONE };
            let imaginary = T::from_parts(T::Real::ZERO, one.re());
            let elements: &mut Vec<(usize, T)> = &mut columns[column.min(i - 1)];
            if elements.last().is_none_or(|&(row, _)| row != i) {
                elements.push((i, if T::COMPLEX && sign > 1 { imaginary } else { one }));
            }
        }
        Self { diagonal, columns }
    }

    /// Returns the elements of a column with its diagonal element, or with one instead of it.
    fn column(&self, k: usize, is_unit: bool) -> impl Iterator<Item = (usize, T)> + Clone + '_ {
        let first = if is_unit { T::ONE } else { self.diagonal[k] };
        std::iter::once((k, first)).chain(self.columns[k].iter().copied())
    }
}

/// Creates a matrix of zeros to which `add` adds elements.
fn assembled<T: Scalar>(n: usize, add: impl FnOnce(&mut dyn FnMut(usize, usize, T))) -> Stored<T> {
    let mut a = Stored::new((n, n), |_, _| T::ZERO);
    add(&mut |i, j, x| a.set(i, j, a.at(i, j) + x));
    a
}

/// Orders, each with a number of workers: one tile, slightly more than one tile, and typical orders. The last one is
/// tried as [`tries_largest`] says.
const ORDERS: [(usize, usize); 7] = [(256, 2), (256, 4), (300, 2), (300, 4), (1111, 2), (1111, 4), (2500, 4)];

fn orders<T: Scalar>() -> impl Iterator<Item = (usize, usize)> {
    ORDERS.into_iter().take(if tries_largest::<T>() { ORDERS.len() } else { ORDERS.len() - 1 })
}

fn potrf<T: Scalar>() {
    for (n, workers) in orders::<T>() {
        let uplo = if workers == 2 { Uplo::Lower } else { Uplo::Upper };
        let factor = Sparse::<T>::new(n, 5);
        // The other triangle must not be changed.
        let place = |i, j| if uplo == Uplo::Lower { (i, j) } else { (j, i) };
        let value = |x: T| if uplo == Uplo::Lower { x } else { x.conj() };
        let nan = T::from_f64(f64::NAN);
        let other = |add: &mut dyn FnMut(usize, usize, T)| {
            (0..n).for_each(|j| (0..j).for_each(|i| add(place(i, j).0, place(i, j).1, nan)));
        };
        let mut a = assembled(n, |add| {
            for k in 0..n {
                for (i, x) in factor.column(k, false) {
                    let rows = factor.column(k, false).filter(|&(j, _)| j <= i);
                    rows.for_each(|(j, y)| add(place(i, j).0, place(i, j).1, value(x * y.conj())));
                }
            }
            other(add);
        });
        let expected = assembled(n, |add| {
            for (k, (i, x)) in (0..n).flat_map(|k| factor.column(k, false).map(move |element| (k, element))) {
                add(place(i, k).0, place(i, k).1, value(x));
            }
            other(add);
        });
        dla::potrf(&runtime(workers), uplo, a.view_mut(), &Options::default()).expect("positive definite");
        equal(&a, &expected, &format!("potrf {n} {uplo} with {workers} workers"));
    }
}

fn getrf<T: Scalar>() {
    for (n, workers) in orders::<T>() {
        let (lower, upper) = (Sparse::<T>::new(n, 6), Sparse::<T>::new(n, 7));
        let mut a = assembled(n, |add| {
            for (k, (i, x)) in (0..n).flat_map(|k| lower.column(k, true).map(move |element| (k, element))) {
                upper.column(k, false).for_each(|(j, y)| add(i, j, x * y));
            }
        });
        let expected = assembled(n, |add| {
            for k in 0..n {
                lower.columns[k].iter().for_each(|&(i, x)| add(i, k, x));
                upper.column(k, false).for_each(|(j, y)| add(k, j, y));
            }
        });
        let mut pivots = vec![0; n];
        dla::getrf(&runtime(workers), a.view_mut(), &mut pivots, &Options::default()).expect("no zero pivot");
        // Multipliers have a modulus of at most one, and the first of equal candidates is the pivot.
        assert!(pivots.iter().enumerate().all(|(i, &pivot)| pivot as usize == i + 1), "interchanges at order {n}");
        equal(&a, &expected, &format!("getrf {n} with {workers} workers"));
    }
}

/// Checks that elements are equal (up to the sign of zero) or both NaN, and that the padding is unchanged.
fn equal<T: Scalar>(a: &Stored<T>, b: &Stored<T>, what: &str) {
    a.assert_padding(what);
    let (m, n) = a.shape();
    let is_same = |(i, j): (usize, usize)| a.at(i, j) == b.at(i, j) || (a.at(i, j).is_nan() && b.at(i, j).is_nan());
    let wrong = (0..n).flat_map(|j| (0..m).map(move |i| (i, j))).find(|&place| !is_same(place));
    assert_eq!(wrong, None, "{what}: the first element that differs");
}

four_types! { gemm potrf getrf }
