//! lange, lansy, lanhe and lantr.

use crate::{
    four_types,
    powers::{is_single, least, times_power_of_two, tried_powers_of_two},
    runs::{Runtimes, SHAPES, assert_refused, assert_small, runtime},
};
use superscalar_dla::{Error, ErrorKind, Options, Scalar, Tiled, lange, lanhe, lansy, lantr, spawn};
use superscalar_kernels::{Diag, Norm, Part, Real, Scalar as _, Uplo, c64};
use superscalar_oracle::{Stored, Wide, narrow, residual, wide};
use superscalar_runtime::Runtime;

const NORMS: [Norm; 4] = [Norm::Max, Norm::One, Norm::Inf, Norm::Frobenius];

/// Name of a routine, its call, and the full matrix that the stored elements represent.
type Case<'a, T> = (
    String,
    Box<dyn Fn(&Runtime, Norm, &Options) -> Result<<T as superscalar_kernels::Scalar>::Real, Error> + 'a>,
    Wide,
);

/// Returns whether element (i, j) is in the triangle, including its diagonal.
pub fn is_named(uplo: Uplo, i: usize, j: usize) -> bool {
    if uplo == Uplo::Lower { i >= j } else { i <= j }
}

pub fn norm_of(norm: Norm, a: &Wide) -> f64 {
    match norm {
        Norm::Max => a.norm_max(),
        Norm::One => a.norm_one(),
        Norm::Inf => a.norm_inf(),
        Norm::Frobenius => a.frobenius(),
    }
}

/// Returns every routine that accepts this matrix, with the matrix that it represents.
fn cases<T: Scalar>(a: &Stored<T>) -> Vec<Case<'_, T>> {
    let shape = a.shape();
    let mut cases: Vec<Case<'_, T>> =
        vec![("lange".into(), Box::new(|rt, norm, o| lange(rt, norm, a.view(), o)), a.wide())];
    for uplo in [Uplo::Lower, Uplo::Upper] {
        for diag in [Diag::NonUnit, Diag::Unit] {
            let whole = a.part(|i, j| is_named(uplo, i, j));
            let is_one = move |i, j| i == j && diag == Diag::Unit;
            let meant = Wide::new(shape, |i, j| if is_one(i, j) { c64::ONE } else { whole.at(i, j) });
            let call = move |rt: &Runtime, norm, o: &Options| lantr(rt, norm, uplo, diag, a.view(), o);
            cases.push((format!("lantr {uplo}{diag}"), Box::new(call), meant));
        }
        if shape.0 == shape.1 {
            let stored = a.part(|i, j| is_named(uplo, i, j));
            let element = |i, j| if is_named(uplo, i, j) { stored.at(i, j) } else { stored.at(j, i) };
            let call = move |rt: &Runtime, norm, o: &Options| lansy(rt, norm, uplo, a.view(), o);
            cases.push((format!("lansy {uplo}"), Box::new(call), Wide::new(shape, element)));
            let hermitian = |i, j| if i == j { c64::from(stored.at(i, i).re) } else { element(i, j) };
            let call = move |rt: &Runtime, norm, o: &Options| lanhe(rt, norm, uplo, a.view(), o);
            cases.push((format!("lanhe {uplo}"), Box::new(call), Wide::new(shape, hermitian)));
        }
    }
    cases
}

fn norms_match_definition<T: Scalar>() {
    let runtimes = Runtimes::new();
    for (m, n) in SHAPES {
        let a = Stored::<T>::random((m, n), 1);
        for (name, call, meant) in cases(&a) {
            let call = |rt: &_, options: &Options| {
                NORMS.map(|norm| wide(T::from_real(call(rt, norm, options).expect("the shapes fit"))).re)
            };
            runtimes.on_all(n, call, |found, what| {
                for (norm, found) in NORMS.into_iter().zip(found) {
                    let expected = norm_of(norm, &meant);
                    let error = residual::scaled::<T>((found - expected).abs(), expected, m.max(n));
                    assert_small(error, &format!("{name} {} {norm} {m} x {n} {what}", T::LETTER));
                }
            });
        }
    }
}

/// Sums of small integers are exact.
fn integers_are_exact<T: Scalar>() {
    let runtimes = Runtimes::new();
    let whole = |i: usize, j: usize| T::from_f64(((5 * i + 3 * j) % 11) as f64 - 5.0);
    for (m, n) in [(40, 40), (50, 33), (33, 50)] {
        let a = Stored::<T>::new((m, n), whole);
        for (name, call, meant) in cases(&a) {
            let exact = [Norm::Max, Norm::One, Norm::Inf];
            let call = |rt: &_, options: &Options| exact.map(|norm| call(rt, norm, options).expect("the shapes fit"));
            runtimes.on_all(n, call, |found, what| {
                let expected = exact.map(|norm| norm_of(norm, &meant));
                assert_eq!(found.map(Real::to_f64), expected, "{name} {} {m} x {n} {what}", T::LETTER);
            });
        }
    }
}

/// The square of the Frobenius norm may overflow or underflow although the norm does not.
fn extremes<T: Scalar>() {
    let (runtimes, tiny) = (Runtimes::new(), wide(T::from_real(T::Real::MIN_POSITIVE)).re);
    for scale in [tiny * 2.0, 0.01 / tiny] {
        for (m, n) in [(1, 1), (8, 8), (3, 40)] {
            let a = Stored::<T>::new((m, n), |_, _| T::from_f64(scale));
            for (name, call, meant) in
                cases(&a).into_iter().filter(|(name, ..)| !name.ends_with(&Diag::Unit.to_string()))
            {
                let ones = Wide::new((m, n), |i, j| if meant.at(i, j) == c64::ZERO { c64::ZERO } else { c64::ONE });
                let call =
                    |rt: &_, options: &Options| call(rt, Norm::Frobenius, options).expect("the shapes fit").to_f64();
                runtimes.on_all(n, call, |&found, what| {
                    let (scaled, expected) = (found / T::from_f64(scale).re().to_f64(), ones.frobenius());
                    assert!(
                        (scaled / expected - 1.0).abs() < 1e-5,
                        "{name} {} of {scale:e} {what}: {found:e}",
                        T::LETTER
                    );
                });
            }
        }
    }
}

/// A NaN that is read makes every norm NaN, and an Inf makes it infinite. Elements that are not read have no effect.
fn nan_and_inf_propagate<T: Scalar>() {
    let rt = runtime();
    let n = 19;
    for (i, j) in [(0, 0), (18, 0), (0, 18), (9, 9), (7, 12), (12, 7), (18, 18)] {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let mut a = Stored::<T>::random((n, n), 2);
            a.set(i, j, T::from_f64(bad));
            for (name, call, meant) in cases(&a) {
                for (norm, nb) in NORMS.into_iter().flat_map(|norm| [(norm, 4), (norm, 50)]) {
                    let found = call(&rt, norm, &Options::default().nb(nb)).expect("the shapes fit").to_f64();
                    let is_read = !wide(T::from_f64(meant.norm_max())).is_finite();
                    let shows = if bad.is_nan() { found.is_nan() } else { found == f64::INFINITY };
                    let what = format!("{name} {} {norm} nb {nb}, {bad} at ({i}, {j}): {found}", T::LETTER);
                    assert!(if is_read { shows } else { found.is_finite() }, "{what}");
                }
            }
        }
    }
}

/// Returns the Frobenius norm without overflow or underflow.
fn scaled_frobenius(a: &Wide) -> f64 {
    let (largest, (m, n)) = (a.norm_max(), a.shape());
    let squares = (0..m * n).map(|at| (a.at(at % m, at / m).norm() / largest).powi(2));
    if largest == 0.0 { 0.0 } else { largest * squares.sum::<f64>().sqrt() }
}

/// Sums of squares overflow for some scales, for others only over all columns; at small scales they underflow.
fn every_power_of_two<T: Scalar>() {
    let rt = runtime();
    for (step, k) in tried_powers_of_two::<T>().enumerate() {
        for (m, n) in [(9, 9), (5, 12)] {
            let part = |i: usize, j: usize, by: usize| times_power_of_two(((by * i + 2 * j) % 7) as f64 - 3.0, k);
            let a = Stored::<T>::new((m, n), |i, j| narrow(c64::new(part(i, j, 5), part(i, j, 3))));
            // Use tiles for some of the scales.
            let sizes: &[usize] = if step % 8 == 0 { &[50, 1, 4] } else { &[50] };
            for (name, call, meant) in cases(&a) {
                for (norm, &nb) in NORMS.into_iter().flat_map(|norm| sizes.iter().map(move |nb| (norm, nb))) {
                    let found = call(&rt, norm, &Options::default().nb(nb)).expect("the shapes fit").to_f64();
                    let expected =
                        if norm == Norm::Frobenius { scaled_frobenius(&meant) } else { norm_of(norm, &meant) };
                    let rounded = T::from_f64(expected).re().to_f64();
                    let error = (found - expected).abs();
                    // A subnormal modulus is rounded before it is added.
                    let near = error <= 100.0 * residual::epsilon::<T>() * expected + (m.max(n) as f64) * least::<T>();
                    let what = format!("{name} {} {norm} {m} x {n} nb {nb} 2^{k}: {found:e}", T::LETTER);
                    assert!(if rounded.is_finite() { near } else { found == f64::INFINITY }, "{what}, {expected:e}");
                }
            }
        }
    }
}

/// The sum of squares overflows only when the columns are combined: for ten thousand elements of 1e18 it is 1e40.
fn sums_of_columns_do_not_overflow<T: Scalar>() {
    let (rt, n) = (runtime(), 100);
    // The square root of 1e36, or of 1e304.
    let size = if is_single::<T>() { 1e18 } else { 1e152 };
    let a = Stored::<T>::new((n, n), |_, _| T::from_f64(size));
    for nb in [1, 7, 100] {
        let norm = lange(&rt, Norm::Frobenius, a.view(), &Options::default().nb(nb)).expect("no error").to_f64();
        assert!((norm / (100.0 * size) - 1.0).abs() < 1e-5, "{} nb {nb}: {norm:e}", T::LETTER);
    }
}

/// Inf in two places gives Inf, in one column or in two. A NaN anywhere gives NaN, also within one complex number.
fn nan_beats_inf<T: Scalar>() {
    let (rt, n) = (runtime(), 9);
    let (inf, nan) = (T::Real::from_f64(f64::INFINITY), T::Real::from_f64(f64::NAN));
    let elements = [
        T::from_real(inf),
        T::from_real(-inf),
        T::from_real(nan),
        T::from_parts(T::Real::ONE, inf),
        T::from_parts(inf, nan),
        T::from_parts(nan, inf),
    ];
    let places = [(0, 0), (8, 0), (3, 5), (5, 3), (8, 8)];
    for (&first, &second) in places.iter().flat_map(|first| places.iter().map(move |second| (first, second))) {
        for (x, y) in elements.iter().flat_map(|x| elements.iter().map(move |y| (x, y))) {
            let mut a = Stored::<T>::random((n, n), 7);
            a.set(first.0, first.1, *x);
            a.set(second.0, second.1, *y);
            for (name, call, meant) in cases(&a) {
                let read: Vec<c64> = (0..n * n).map(|at| meant.at(at % n, at / n)).collect();
                let (has_nan, has_inf) = (read.iter().any(|x| x.is_nan()), read.iter().any(|x| x.is_infinite()));
                for (norm, nb) in NORMS.into_iter().flat_map(|norm| [(norm, 1), (norm, 4), (norm, 50)]) {
                    let found = call(&rt, norm, &Options::default().nb(nb)).expect("the shapes fit").to_f64();
                    let right = match (has_nan, has_inf) {
                        (true, _) => found.is_nan(),
                        (false, true) => found == f64::INFINITY,
                        (false, false) => found.is_finite(),
                    };
                    assert!(right, "{name} {norm} nb {nb}, {x} at {first:?}, {y} at {second:?}: {found}");
                }
            }
        }
    }
}

/// The modulus is representable, but its square is not, or a part is subnormal.
fn moduli_of_all_sizes<T: Scalar>() {
    let rt = runtime();
    for k in tried_powers_of_two::<T>() {
        let parts = |re: f64, im: f64| narrow::<T>(c64::new(times_power_of_two(re, k), times_power_of_two(im, k)));
        let a = Stored::<T>::new((1, 1), |_, _| parts(3.0, -4.0));
        let expected = if T::COMPLEX { 5.0 } else { 3.0 };
        for norm in NORMS {
            let found = lange(&rt, norm, a.view(), &Options::default()).expect("no error").to_f64();
            let error = (times_power_of_two(found, -k) - expected).abs();
            assert!(error <= 4.0 * residual::epsilon::<T>() * expected, "{} {norm} 2^{k}: {found:e}", T::LETTER);
        }
    }
}

four_types! {
    norms_match_definition integers_are_exact extremes nan_and_inf_propagate every_power_of_two
    sums_of_columns_do_not_overflow nan_beats_inf moduli_of_all_sizes
}

#[test]
fn scope_returns_a_norm() {
    let (rt, a) = (runtime(), Stored::<f64>::random((40, 30), 3));
    let norm = rt.scope(|s| {
        let norm = spawn::lange(s, Norm::One, &Tiled::read_only_columns(s, a.view(), 7));
        s.get(norm).copied()
    });
    let norm = norm.expect("the scope succeeds").expect("the task succeeds");
    assert!((norm - a.wide().norm_one()).abs() < 1e-13);
}

#[test]
fn invalid_arguments_are_refused() {
    let (rt, o, a) = (runtime(), Options::default(), Stored::<f64>::random((5, 4), 1));
    assert_refused(lansy(&rt, Norm::One, Uplo::Lower, a.view(), &o), ErrorKind::Shape);
    assert_refused(lanhe(&rt, Norm::One, Uplo::Lower, a.view(), &o), ErrorKind::Shape);
    assert_refused(lange(&rt, Norm::One, a.view(), &o.nb(0)), ErrorKind::Shape);
    assert_refused(lantr(&rt, Norm::One, Uplo::Lower, Diag::Unit, a.view(), &o.nb(0)), ErrorKind::Shape);
}

/// Norms of a matrix that is changed later in the same scope.
#[test]
fn scope_returns_all_norms() {
    let (rt, mut a) = (runtime(), Stored::<c64>::random((30, 30), 4));
    let before = a.clone();
    let [symmetric, hermitian, triangular] = rt
        .scope(|s| {
            let a = Tiled::columns(s, a.view_mut(), 7);
            let norms = [
                spawn::lansy(s, Norm::One, Uplo::Lower, &a),
                spawn::lanhe(s, Norm::Frobenius, Uplo::Upper, &a),
                spawn::lantr(s, Norm::Inf, Uplo::Upper, Diag::Unit, &a),
            ];
            spawn::laset(s, Part::All, c64::ZERO, c64::ZERO, &a);
            norms.map(|norm| *s.get(norm).expect("nothing fails"))
        })
        .expect("nothing fails");
    let (options, a_ref) = (Options::default().nb(7), before.view());
    assert_eq!(symmetric, lansy(&rt, Norm::One, Uplo::Lower, a_ref, &options).expect("square"));
    assert_eq!(hermitian, lanhe(&rt, Norm::Frobenius, Uplo::Upper, a_ref, &options).expect("square"));
    assert_eq!(triangular, lantr(&rt, Norm::Inf, Uplo::Upper, Diag::Unit, a_ref, &options).expect("no error"));
    assert_eq!(a.wide().norm_max(), 0.0);
}
