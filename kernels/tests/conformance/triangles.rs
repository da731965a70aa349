//! trmm, trsm and potrf.

use super::{Image, Nearness, OPS, SIDES, Suite, UPLOS, oracle};
use superscalar_kernels::{
    Diag, Op, Real, Scalar, Side, Uplo,
    device::{Call, Mat},
    operations::{Potrf, Triangular, TriangularAction},
};
use superscalar_oracle::{is_finite, largest};

/// Rows and columns of B: empty, one, ragged, more than one block of a triangle, one right-hand side.
const SHAPES: [(usize, usize); 11] =
    [(0, 3), (3, 0), (1, 1), (2, 3), (7, 5), (8, 8), (17, 33), (32, 1), (1, 34), (65, 20), (21, 70)];

/// Orders of a factorization.
const ORDERS: [usize; 12] = [0, 1, 2, 3, 7, 8, 16, 17, 33, 64, 65, 130];

/// The options of trmm and trsm, and the order of the triangle.
struct Options {
    side: Side,
    uplo: Uplo,
    op: Op,
    diag: Diag,
    order: usize,
}

/// Returns every option of trmm and trsm for a B of this shape.
fn options((m, n): (usize, usize)) -> impl Iterator<Item = Options> {
    let sides = SIDES.into_iter().flat_map(|side| UPLOS.map(|uplo| (side, uplo)));
    let ops = sides.flat_map(|(side, uplo)| OPS.map(|op| (side, uplo, op)));
    ops.flat_map(move |(side, uplo, op)| {
        let order = if side == Side::Left { m } else { n };
        [Diag::NonUnit, Diag::Unit].map(|diag| Options { side, uplo, op, diag, order })
    })
}

/// Returns whether an element of a triangular matrix may be read.
fn is_read(uplo: Uplo, diag: Diag, i: usize, j: usize) -> bool {
    oracle::is_in(Some(uplo), i, j) && (i != j || diag == Diag::NonUnit)
}

/// Places a triangle of small integers or, if it is `hidden`, of NaN.
pub fn integers<T: Scalar>(
    suite: &mut Suite<'_, T>,
    image: &mut Image,
    (uplo, diag): (Uplo, Diag),
    n: usize,
    hidden: bool,
) -> Mat<T> {
    let nan = T::from_f64(f64::NAN);
    image.place(
        &mut suite.numbers,
        (n, n),
        |numbers, i, j| {
            if hidden || !is_read(uplo, diag, i, j) { nan } else { numbers.integer() }
        },
    )
}

/// Places a well conditioned triangle.
fn regular<T: Scalar>(
    suite: &mut Suite<'_, T>,
    image: &mut Image,
    (uplo, diag): (Uplo, Diag),
    n: usize,
    hidden: bool,
) -> Mat<T> {
    image.place(&mut suite.numbers, (n, n), |numbers, i, j| {
        let x: T = numbers.fraction();
        match (i == j, !hidden && is_read(uplo, diag, i, j)) {
            (true, true) => T::from_f64(2.0) + x * T::from_f64(0.5),
            (false, true) => x * T::from_f64(1.0 / n as f64),
            _ => T::from_f64(f64::NAN),
        }
    })
}

pub fn trmm<T: Scalar>(suite: &mut Suite<'_, T>) {
    for shape in SHAPES {
        for Options { side, uplo, op, diag, order } in options(shape) {
            for _ in 0..3 {
                let (alpha, _) = suite.factors();
                let mut image = Image::default();
                let a = integers(suite, &mut image, (uplo, diag), order, alpha == T::ZERO);
                let b = suite.integers(&mut image, shape, alpha == T::ZERO);
                let call = Call::Triangular(Triangular {
                    action: TriangularAction::Multiply,
                    side,
                    uplo,
                    op,
                    diag,
                    alpha,
                    a,
                    b,
                });
                suite.judge(&call, &image, Nearness::Exact);
            }
        }
    }
}

/// An Inf in B is not multiplied by the zeros of the other triangle.
pub fn trmm_propagates<T: Scalar>(suite: &mut Suite<'_, T>) {
    for shape @ (m, n) in [(1, 1), (7, 5), (12, 9), (40, 37), (410, 6), (6, 410)] {
        for Options { side, uplo, op, diag, order } in options(shape) {
            let mut image = Image::default();
            let a = integers(suite, &mut image, (uplo, diag), order, false);
            let b = suite.integers(&mut image, shape, false);
            image.set(b, m / 2, n / 2, T::from_f64(f64::INFINITY));
            let call = Call::Triangular(Triangular {
                action: TriangularAction::Multiply,
                side,
                uplo,
                op,
                diag,
                alpha: T::ONE,
                a,
                b,
            });
            suite.judge(&call, &image, Nearness::Finite);
        }
    }
}

pub fn trsm<T: Scalar>(suite: &mut Suite<'_, T>) {
    for shape in SHAPES {
        for Options { side, uplo, op, diag, order } in options(shape) {
            for _ in 0..3 {
                let (alpha, _) = suite.factors();
                check_solve(suite, Options { side, uplo, op, diag, order }, shape, alpha);
            }
        }
    }
}

/// Triangles of several blocks and halves, and in the last ones an Inf in B, which affects what depends on it.
pub fn trsm_in_blocks<T: Scalar>(suite: &mut Suite<'_, T>) {
    for shape @ (m, n) in [(130, 21), (21, 330), (600, 5), (5, 600)] {
        // Every third option of the largest triangles.
        for options in options(shape).skip(m % 3).step_by(if m.max(n) == 600 { 3 } else { 1 }) {
            check_solve(suite, options, shape, T::from_f64(-2.0));
        }
    }
    for shape @ (m, n) in [(90, 20), (20, 90)] {
        for Options { side, uplo, op, diag, order } in options(shape) {
            let mut image = Image::default();
            let a = regular(suite, &mut image, (uplo, diag), order, false);
            let b = image.place(&mut suite.numbers, shape, |numbers, _, _| numbers.fraction());
            image.set(b, m / 2, n / 2, T::from_f64(f64::INFINITY));
            let (action, alpha) = (TriangularAction::Solve, T::ONE);
            let call = Call::Triangular(Triangular { action, side, uplo, op, diag, alpha, a, b });
            let mut expected = image.clone();
            oracle::apply(&call, &mut expected).expect("a solve");
            suite.attempt(&call, &mut image).expect("a solve");
            let bound = 8.0 * order as f64 * T::EPSILON.to_f64();
            for (found, x) in image.elements(b).into_iter().zip(expected.elements(b)) {
                let is_near = (found - x).abs().to_f64() <= bound;
                assert!(if is_finite(x) { is_near } else { !is_finite(found) }, "{found}, not {x}: {call:?}");
            }
        }
    }
}

/// Solves with a triangle of this order and a B of this shape.
fn check_solve<T: Scalar>(suite: &mut Suite<'_, T>, options: Options, shape: (usize, usize), alpha: T) {
    let Options { side, uplo, op, diag, order } = options;
    let (hidden, nan) = (alpha == T::ZERO, T::from_f64(f64::NAN));
    let mut image = Image::default();
    let a = regular(suite, &mut image, (uplo, diag), order, hidden);
    let fraction = |numbers: &mut super::Random, _, _| if hidden { nan } else { numbers.fraction() };
    let b = image.place(&mut suite.numbers, shape, fraction);
    let triangle = Triangular { action: TriangularAction::Solve, side, uplo, op, diag, alpha, a, b };
    let after = suite.judge(&Call::Triangular(triangle), &image, Nearness::Roundoffs(8.0 * order as f64));
    if !hidden {
        check_residual(&triangle, &image, after);
    }
}

/// Checks |op(A) X - alpha B| <= c n eps |A| |X|, where the rows of A have norms of at most 4.
fn check_residual<T: Scalar>(triangle: &Triangular<T, Mat<T>>, before: &Image, mut after: Image) {
    let &Triangular { a, b, alpha, .. } = triangle;
    let largest = largest(after.elements(b).into_iter().map(|x| x.abs().to_f64()));
    let product = Call::Triangular(Triangular { action: TriangularAction::Multiply, alpha: T::ONE, ..*triangle });
    oracle::apply(&product, &mut after).expect("a product");
    for (ax, b) in after.elements(b).into_iter().zip(before.elements(b)) {
        let error = (ax - alpha * b).abs().to_f64();
        let bound = 8.0 * (a.m + 1) as f64 * T::EPSILON.to_f64() * 4.0 * largest;
        assert!(error <= bound, "a residual of {error}, not {bound}: {triangle:?}");
    }
}

/// A pivot that is NaN or zero affects exactly the unknowns that depend on it.
pub fn trsm_propagates<T: Scalar>(suite: &mut Suite<'_, T>) {
    for shape in [(1, 1), (7, 5), (40, 37)] {
        let non_unit = options(shape).filter(|options| options.diag == Diag::NonUnit);
        for Options { side, uplo, op, order, .. } in non_unit {
            for (pivot, value) in [0, order / 2, order - 1].into_iter().flat_map(|at| [(at, 0.0), (at, f64::NAN)]) {
                let mut image = Image::default();
                let a = regular(suite, &mut image, (uplo, Diag::NonUnit), order, false);
                let b = image.place(&mut suite.numbers, shape, |numbers, _, _| numbers.fraction());
                image.set(a, pivot, pivot, T::from_f64(value));
                let alpha = T::ONE;
                let call = Call::Triangular(Triangular {
                    action: TriangularAction::Solve,
                    side,
                    uplo,
                    op,
                    diag: Diag::NonUnit,
                    alpha,
                    a,
                    b,
                });
                suite.judge(&call, &image, Nearness::Roundoffs(8.0 * order as f64));
            }
        }
    }
}

/// Places a Hermitian positive definite matrix in one triangle. The imaginary parts of its diagonal are not zero,
/// because they must not be read.
pub fn positive_definite<T: Scalar>(suite: &mut Suite<'_, T>, image: &mut Image, uplo: Uplo, n: usize) -> Mat<T> {
    with_rest(suite, image, uplo, (n, 0))
}

/// Like [`positive_definite`], with rows below the triangle, or columns beside it.
pub fn with_rest<T: Scalar>(
    suite: &mut Suite<'_, T>,
    image: &mut Image,
    uplo: Uplo,
    (n, rest): (usize, usize),
) -> Mat<T> {
    let shape = if uplo == Uplo::Lower { (n + rest, n) } else { (n, n + rest) };
    image.place(&mut suite.numbers, shape, |numbers, i, j| match (i == j, oracle::is_in(Some(uplo), i, j)) {
        (true, _) => T::from_parts(T::Real::from_f64(2.0 + n as f64), T::Real::ONE),
        (false, true) => numbers.fraction(),
        _ => T::from_f64(f64::NAN),
    })
}

pub fn potrf<T: Scalar>(suite: &mut Suite<'_, T>) {
    for n in ORDERS {
        for uplo in UPLOS.into_iter().cycle().take(6) {
            let mut image = Image::default();
            let a = positive_definite(suite, &mut image, uplo, n);
            let after =
                suite.judge(&Call::Potrf(Potrf { uplo, first: 0, a }), &image, Nearness::Roundoffs(8.0 * n as f64));
            check_factor(uplo, a, &image, &after);
        }
    }
}

/// The part of a trapezoid below the triangle, or beside it, is solved for with its factor.
pub fn potrf_of_trapezoids<T: Scalar>(suite: &mut Suite<'_, T>) {
    for (n, uplo) in ORDERS.into_iter().flat_map(|n| UPLOS.map(|uplo| (n, uplo))) {
        for rest in [1, 5, 70] {
            let mut image = Image::default();
            let a = with_rest(suite, &mut image, uplo, (n, rest));
            suite.judge(&Call::Potrf(Potrf { uplo, first: 0, a }), &image, Nearness::Roundoffs(8.0 * n as f64));
            if n > 0 {
                let at = n / 2;
                image.set(a, at, at, -T::ONE);
                suite.judge(&Call::Potrf(Potrf { uplo, first: 0, a }), &image, Nearness::Exact);
            }
        }
    }
}

/// Pivots whose reciprocals or squares overflow or underflow are processed like ordinary ones, alone and beside others.
pub fn potrf_of_extremes<T: Scalar>(suite: &mut Suite<'_, T>) {
    let root = |exponent: i32| T::Real::from_f64(2f64.powi(exponent));
    // The exponent of the root of the diagonal's scale.
    let far = if size_of::<T::Real>() == size_of::<f64>() { 505 } else { 60 };
    let scales: [fn(usize) -> i32; 4] = [|_| 1, |_| -1, |i| [1, -1][i % 2], |i| [0, 0, 1, 0, -1][i % 5]];
    for (n, uplo) in [1, 33, 128, 200].into_iter().flat_map(|n| UPLOS.map(|uplo| (n, uplo))) {
        let mut unscaled = Image::default();
        let a = positive_definite(suite, &mut unscaled, uplo, n);
        let nearness = Nearness::Roundoffs(8.0 * n as f64);
        let ordinary = suite.judge(&Call::Potrf(Potrf { uplo, first: 0, a }), &unscaled, nearness);
        for scale in scales {
            let (by, mut image) = (|i| root(far * scale(i)), unscaled.clone());
            // The scales are powers of two, so the factor is that of the ordinary matrix, scaled, except for some last
            // digits.
            let inside =
                || (0..n).flat_map(|j| (0..n).map(move |i| (i, j))).filter(|&(i, j)| oracle::is_in(Some(uplo), i, j));
            for (i, j) in inside() {
                image.set(a, i, j, image.at(a, i, j) * T::from_real(by(i)) * T::from_real(by(j)));
            }
            suite.attempt(&Call::Potrf(Potrf { uplo, first: 0, a }), &mut image).expect("a positive definite matrix");
            for (i, j) in inside() {
                let scale = T::from_real(by(if uplo == Uplo::Lower { i } else { j }));
                let (known, found) = (ordinary.at(a, i, j) * scale, image.at(a, i, j));
                let bound = 8.0
                    * n as f64
                    * T::EPSILON.to_f64()
                    * (ordinary.at(a, i, i).re() + ordinary.at(a, j, j).re()).to_f64();
                let error = ((found - known) * T::from_real(T::Real::ONE / scale.re())).abs().to_f64();
                assert!(error <= bound, "{found}, not {known}, at ({i}, {j}) of {n}, {uplo}");
            }
        }
    }
}

/// A subnormal pivot above the largest rows that a positive definite matrix can have: their quotients by the pivot, and
/// not by its root, would be infinite.
pub fn potrf_of_far_pivots<T: Scalar>(suite: &mut Suite<'_, T>) {
    let (tiny, low, high) =
        if size_of::<T::Real>() == size_of::<f64>() { (-1060, -20, 1022) } else { (-140, -10, 126) };
    // By halves, because 2f64.powi(-1060) is the reciprocal of infinity.
    let power = |exponent: i32| T::from_f64(2f64.powi(exponent / 2) * 2f64.powi(exponent - exponent / 2));
    // In the first column, this row is not zero.
    for (row, uplo) in [1, 2].into_iter().flat_map(|row| UPLOS.map(|uplo| (row, uplo))) {
        let mut image = Image::default();
        let a = positive_definite(suite, &mut image, uplo, 3);
        let at = |i, j| if uplo == Uplo::Lower { (i, j) } else { (j, i) };
        let diagonal = [tiny, if row == 1 { high } else { 0 }, high].map(power);
        for (i, j) in (0..3).flat_map(|j| (j..3).map(move |i| (i, j))) {
            let (r, c) = at(i, j);
            image.set(
                a,
                r,
                c,
                if i == j {
                    diagonal[i]
                } else if (i, j) == (row, 0) {
                    power(low)
                } else {
                    T::ZERO
                },
            );
        }
        suite.attempt(&Call::Potrf(Potrf { uplo, first: 0, a }), &mut image).expect("a positive definite matrix");
        let below = 2f64.powi(low - tiny / 2);
        for (i, x) in diagonal.into_iter().enumerate() {
            let square = x.re().to_f64() - if i == row { below * below } else { 0.0 };
            let (found, known) = (image.at(a, i, i).re().to_f64(), square.sqrt());
            assert!((found - known).abs() <= 8.0 * T::EPSILON.to_f64() * known, "{found}, not {known}, at {i}, {uplo}");
        }
        let (r, c) = at(row, 0);
        let found = image.at(a, r, c).re().to_f64();
        assert!((found - below).abs() <= 8.0 * T::EPSILON.to_f64() * below, "{found}, not {below}, {uplo}");
    }
}

/// Checks |L Lᴴ - A| <= c n eps |A|, or |Uᴴ U - A|, and that the diagonal is real.
fn check_factor<T: Scalar>(uplo: Uplo, a: Mat<T>, before: &Image, after: &Image) {
    let n = a.n;
    // Element (i, p) of L, for both triangles.
    let l = |i, p| if uplo == Uplo::Lower { after.at(a, i, p) } else { after.at(a, p, i).conj() };
    for (i, j) in (0..n).flat_map(|j| (j..n).map(move |i| (i, j))) {
        let product: T = (0..=j).map(|p| l(i, p) * l(j, p).conj()).sum();
        let known = if uplo == Uplo::Lower { before.at(a, i, j) } else { before.at(a, j, i).conj() };
        let known = if i == j { T::from_real(known.re()) } else { known };
        let (error, bound) = ((product - known).abs().to_f64(), (n + 1) as f64 * T::EPSILON.to_f64());
        assert!(error <= 8.0 * bound * (2 + n) as f64, "a residual of {error} at ({i}, {j}) of {n}, {uplo}");
        assert!(i != j || l(i, i).im() == T::Real::ZERO, "a real diagonal");
    }
}

/// The first leading minor that is not positive definite is reported, and nothing outside of the triangle is written.
pub fn potrf_fails<T: Scalar>(suite: &mut Suite<'_, T>) {
    for n in ORDERS {
        let mut places = vec![0, n / 3, n / 2, n.saturating_sub(1)];
        places.retain(|&at| at < n);
        places.dedup();
        for (uplo, at) in UPLOS.into_iter().flat_map(|uplo| places.iter().map(move |&at| (uplo, at))) {
            for value in [-1.0, 0.0, f64::NAN, f64::NEG_INFINITY] {
                let mut image = Image::default();
                let a = positive_definite(suite, &mut image, uplo, n);
                image.set(a, at, at, T::from_f64(value));
                let after =
                    suite.judge(&Call::Potrf(Potrf { uplo, first: 0, a }), &image, Nearness::Roundoffs(8.0 * n as f64));
                // The factor of the minor before it is stored.
                assert!((0..at).all(|i| is_finite(after.at(a, i, i))), "{n} {uplo} {at} {value}");
            }
            // A NaN beside the diagonal affects the later of its two pivots.
            let mut image = Image::default();
            let a = positive_definite(suite, &mut image, uplo, n);
            let (i, j) = if uplo == Uplo::Lower { (n - 1, at) } else { (at, n - 1) };
            image.set(a, i, j, T::from_f64(f64::NAN));
            suite.judge(&Call::Potrf(Potrf { uplo, first: 0, a }), &image, Nearness::Exact);
        }
    }
}
