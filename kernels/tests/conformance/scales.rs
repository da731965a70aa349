//! Systems and factorizations at every scale: s A X = s B for all powers of two s such that s A and s B are
//! representable, including subnormal numbers. Single precision tests all of them; double precision tests those of
//! `tries_scale`, or all with FULL=1.
//!
//! A, X and B = A X are small integers, so scaling is exact. Where s A is subnormal, a rounding is relative to s
//! and not to the result; `slack` is its size. Factorizations leave out a few powers of two at the upper end, for
//! intermediate sums.

use super::{Image, OPS, SIDES, Suite, UPLOS, batch_case::Case, oracle, panels};
use superscalar_kernels::{
    Diag, Real, Scalar, Side, Uplo,
    device::{Call, Mat},
    operations::{BatchOperation, Getrf, Potrf, Triangular, TriangularAction},
};
use superscalar_oracle::tries_scale;

/// The orders that are tested at every scale.
const ORDERS: [usize; 4] = [1, 2, 5, 20];
/// An order beyond the small kernels, which is tested at some scales.
const LARGE_ORDER: usize = 70;
/// The distance of the exponents of those scales.
const LARGE_ORDER_STEP: i32 = 48;

/// The exponents of powers of two that a type represents.
struct Exponents {
    most: i32,
    /// The smallest one of a normal number.
    normal: i32,
    /// The smallest one of any number.
    least: i32,
}

fn exponents<R: Real>() -> Exponents {
    if size_of::<R>() == 4 {
        Exponents { most: 127, normal: -126, least: -149 }
    } else {
        Exponents { most: 1023, normal: -1022, least: -1074 }
    }
}

/// Returns 2^e as a number of the type.
fn power<R: Real>(e: i32) -> R {
    R::from_f64(2f64.powi(e / 2) * 2f64.powi(e - e / 2))
}

/// Returns x 2^e, which is exact.
fn at_scale<T: Scalar>(x: T, e: i32) -> T {
    let by = |x: T::Real| x * power::<T::Real>(e / 2) * power::<T::Real>(e - e / 2);
    T::from_parts(by(x.re()), by(x.im()))
}

/// Returns the exponents to test, from the smallest one to the largest for which parts of up to 2^bits are
/// representable, each with the orders to test.
fn scales<R: Real>(bits: i32) -> impl Iterator<Item = (i32, usize)> {
    let Exponents { most, least, .. } = exponents::<R>();
    (least..=most - bits).filter(|&e| tries_scale::<R>(e)).flat_map(|e| {
        let large = (e.rem_euclid(LARGE_ORDER_STEP) == 0).then_some(LARGE_ORDER);
        ORDERS.into_iter().chain(large).map(move |n| (e, n))
    })
}

/// Returns the size of a rounding to a multiple of the least number, relative to a matrix of scale 2^e.
fn slack<T: Scalar>(e: i32) -> f64 {
    let normal = exponents::<T::Real>().normal;
    T::EPSILON.to_f64() * 2f64.powi((normal - e).max(0))
}

fn number<T: Scalar>(re: f64, im: f64) -> T {
    T::from_parts(T::Real::from_f64(re), T::Real::from_f64(im))
}

/// Returns element (i, j) of a triangle with a large diagonal in a narrow band.
fn banded<T: Scalar>(i: usize, j: usize) -> T {
    match i.abs_diff(j) {
        0 => [number(3.0, 4.0), number(-4.0, 3.0), number(5.0, 0.0), number(3.0, -4.0)][i % 4],
        1 => number(1.0, 0.0),
        2 => [number(0.0, 1.0), number(-1.0, 0.0)][j % 2],
        _ => T::ZERO,
    }
}

/// Returns whether a number is within the bound of another one; NaN is not.
fn is_near<T: Scalar>(found: T, wanted: T, bound: f64) -> bool {
    (found - wanted).abs().to_f64() <= bound
}

/// Solving s op(A) X = s B or s X op(A) = s B gives X, with options by turns and for 1 to 12 right-hand sides.
pub fn trsm_of_scales<T: Scalar>(suite: &mut Suite<'_, T>) {
    // Parts of B are below 4 · (5 + 4 + 2 · 3), and those of a system of order one below 8.
    let Exponents { most, normal, least } = exponents::<T::Real>();
    let from = if suite.divides_by_subnormals() { least } else { normal };
    for (e, n) in scales::<T::Real>(3).filter(|&(e, n)| e >= from && (n == 1 || e <= most - 6)) {
        let turn = suite.turn();
        let (side, uplo, op) = (SIDES[turn % 2], UPLOS[turn / 2 % 2], OPS[turn / 4 % 3]);
        let nrhs = 1 + turn % 12;
        let shape = if side == Side::Left { (n, nrhs) } else { (nrhs, n) };
        let mut image = Image::default();
        let (diag, alpha) = (Diag::NonUnit, T::ONE);
        let nan = T::from_f64(f64::NAN);
        let a =
            image.place(
                &mut suite.numbers,
                (n, n),
                |_, i, j| {
                    if oracle::is_in(Some(uplo), i, j) { banded(i, j) } else { nan }
                },
            );
        let x = |i: usize, j: usize| number::<T>([1.0, 2.0, -1.0][(i + j) % 3], [0.0, 1.0][(i + 2 * j) % 2]);
        let x = |i, j| if n == 1 { T::ONE } else { x(i, j) };
        let b = image.place(&mut suite.numbers, shape, |_, i, j| x(i, j));
        let triangle = |action| Call::Triangular(Triangular { action, side, uplo, op, diag, alpha, a, b });
        oracle::apply(&triangle(TriangularAction::Multiply), &mut image).expect("a product");
        for mat in [a, b] {
            (0..mat.n).for_each(|j| (0..mat.m).for_each(|i| image.set(mat, i, j, at_scale(image.at(mat, i, j), e))));
        }
        suite.attempt(&triangle(TriangularAction::Solve), &mut image).expect("a solve");
        for (i, j) in (0..shape.1).flat_map(|j| (0..shape.0).map(move |i| (i, j))) {
            let found = image.at(b, i, j);
            let bound = 16.0 * T::EPSILON.to_f64() * (n as f64 + 1.0);
            assert!(
                is_near(found, x(i, j), bound),
                "{found}, not {}, at ({i}, {j}) of {shape:?}: 2^{e}, {side} {uplo} {op}",
                x(i, j)
            );
        }
    }
}

/// The factor of s A, whose elements have the size of the root of s.
pub fn potrf_of_scales<T: Scalar>(suite: &mut Suite<'_, T>) {
    // A's elements are at most 8.
    for (e, n) in scales::<T::Real>(4) {
        let uplo = UPLOS[suite.turn() % 2];
        let mut image = Image::default();
        let full = |i: usize, j: usize| match i.abs_diff(j) {
            0 => number::<T>([8.0, 7.0, 5.0][i % 3], 0.0),
            1 => {
                if i > j {
                    number(1.0, 1.0)
                } else {
                    number(1.0, -1.0)
                }
            }
            _ => T::ZERO,
        };
        let nan = T::from_f64(f64::NAN);
        let a = image.place(&mut suite.numbers, (n, n), |_, i, j| {
            if oracle::is_in(Some(uplo), i, j) { at_scale(full(i, j), e) } else { nan }
        });
        suite.attempt(&Call::Potrf(Potrf { uplo, first: 0, a }), &mut image).expect("a positive definite matrix");
        // Without the even part of the root's scale, products are in the ordinary range.
        let half = e.div_euclid(2);
        let l = |i, p| {
            let stored = if uplo == Uplo::Lower { image.at(a, i, p) } else { image.at(a, p, i).conj() };
            at_scale(stored, -half)
        };
        for (i, j) in (0..n).flat_map(|j| (j..n).map(move |i| (i, j))) {
            let product: T = (0..=j).map(|p| l(i, p) * l(j, p).conj()).sum();
            let wanted = at_scale(full(i, j), e - 2 * half);
            let bound = 16.0 * (T::EPSILON.to_f64() + slack::<T>(e)) * (n as f64 + 8.0);
            assert!(is_near(product, wanted, bound), "{product}, not {wanted}, at ({i}, {j}) of {n}: 2^{e}, {uplo}");
        }
    }
}

/// L and U, and V and R, of s A. They are checked in the type itself, so the products must be normal.
pub fn panels_of_scales<T: Scalar>(suite: &mut Suite<'_, T>) {
    let normal = exponents::<T::Real>().normal;
    for (e, n) in scales::<T::Real>(8).filter(|&(e, _)| e >= normal) {
        for m in [n, n + 3] {
            let mut image = Image::default();
            let a: Mat<T> = image.place(&mut suite.numbers, (m, n), |_, i, j| {
                // The largest element of a column is not on the diagonal.
                at_scale(if m > n { banded((i + 1) % m, j) } else { banded(m - 1 - i, j) }, e)
            });
            panels::judge_lu(suite, image.clone(), a);
            panels::qr(suite, image, a);
        }
    }
}

/// A pivot whose |re| + |im| overflows or is subnormal is still chosen.
pub fn pivots_at_the_end_of_the_range<T: Scalar>(suite: &mut Suite<'_, T>) {
    let Exponents { most, least, .. } = exponents::<T::Real>();
    for e in [most, least] {
        let mut image = Image::default();
        let z = at_scale(number::<T>(1.0, 1.0), e);
        let column = [at_scale(number::<T>(0.0, 0.0), e), z, z];
        let a = image.place(&mut suite.numbers, (3, 1), |_, i, _| column[i]);
        let ipiv = image.place(&mut suite.numbers, (1, 1), |_, _, _| -1_i32);
        suite.attempt(&Call::Getrf(Getrf { a, first: 0, ipiv }), &mut image).expect("a panel");
        assert_eq!(image.at(ipiv, 0, 0), 2, "the pivot's row, 2^{e}");
        assert_eq!((image.at(a, 0, 0), image.at(a, 1, 0)), (z, T::ZERO), "2^{e}");
        let multiple = image.at(a, 2, 0);
        assert!(is_near(multiple, T::ONE, 8.0 * T::EPSILON.to_f64()), "{multiple}, not one, 2^{e}");
    }
}

/// Factorizations of batches near both ends of the range, where squares of elements are not representable.
pub fn batches_of_scales<T: Scalar>(suite: &mut Suite<'_, T>) {
    let Exponents { most, normal, .. } = exponents::<T::Real>();
    let shapes = vec![(17, 12); 5];
    for e in [normal + 4, normal / 2 - 8, most / 2 + 8, most - 10] {
        for operation in [BatchOperation::Getrf, BatchOperation::Geqrf, BatchOperation::Gebrd] {
            let mut case = Case::new(suite, operation, shapes.len(), false);
            case.update(&shapes, |numbers, _, mut a| {
                numbers.full_rank(a.rb_mut());
                (0..a.ncols()).for_each(|j| (0..a.nrows()).for_each(|i| a[(i, j)] = at_scale(a.at(i, j), e)));
            });
            let columns = |k: usize| shapes.iter().map(move |shape| shape.1 - k);
            let bound = match operation {
                BatchOperation::Getrf => {
                    case.call.pivots = Some(case.write(columns(0)));
                    case.with_info();
                    60.0
                }
                BatchOperation::Geqrf => {
                    let tau = case.write(columns(0));
                    case.call.written.push(tau);
                    100.0
                }
                _ => {
                    let [tauq, taup] = [(); 2].map(|()| case.write(columns(0)));
                    case.call.written.extend([tauq, taup]);
                    let [d, e] = [0, 1].map(|k| case.write(columns(k)));
                    case.call.reals.extend([d, e]);
                    1e4
                }
            };
            case.check(bound, [true; 2]);
        }
    }
}
