//! lange, lansy, lanhe and lantr.

use crate::{
    four_types,
    matrices::{Stored, TINY, Wide, wide},
    runs::{Runtimes, SHAPES, assert_refused, assert_small, runtime},
};
use superscalar_dla::{Error, ErrorKind, Options, Tiled, lange, lanhe, lansy, lantr, submit};
use superscalar_kernels::{Diag, Norm, Part, Real, Scalar, Uplo, c64};
use superscalar_runtime::Runtime;

const NORMS: [Norm; 4] = [Norm::Max, Norm::One, Norm::Inf, Norm::Frobenius];

/// A routine, and the matrix it means by what is stored.
type Case<'a, T> = (String, Box<dyn Fn(&Runtime, Norm, &Options) -> Result<<T as Scalar>::Real, Error> + 'a>, Wide);

fn is_named(uplo: Uplo, i: usize, j: usize) -> bool {
    if uplo == Uplo::Lower { i >= j } else { i <= j }
}

fn norm_of(norm: Norm, a: &Wide) -> f64 {
    match norm {
        Norm::Max => a.norm_max(),
        Norm::One => a.norm_one(),
        Norm::Inf => a.norm_inf(),
        Norm::Frobenius => a.frobenius(),
    }
}

/// Every routine that takes this matrix, with the elements that it means.
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

fn norms_are_those_of_the_definition<T: Scalar>() {
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
                    let epsilon = wide(T::from_real(T::EPSILON)).re;
                    let error = (found - expected).abs() / (m.max(n).max(1) as f64 * expected.max(TINY) * epsilon);
                    assert_small(error, &format!("{name} {} {norm} {m} x {n} {what}", T::LETTER));
                }
            });
        }
    }
}

/// Sums of small integers are exact: also to the last bit.
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

/// The square of the Frobenius norm may overflow, or underflow, where the norm does not.
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

/// A NaN anywhere in what is read makes every norm NaN, an Inf makes it infinite, and what is not read does nothing.
fn nan_and_inf_show<T: Scalar>() {
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

four_types! { norms_are_those_of_the_definition integers_are_exact extremes nan_and_inf_show }

#[test]
fn a_norm_is_a_result_of_its_scope() {
    let (rt, a) = (runtime(), Stored::<f64>::random((40, 30), 3));
    let norm = rt.scope(|s| {
        let norm = submit::lange(s, Norm::One, &Tiled::read_only_columns(s, a.view(), 7));
        s.get(norm).copied()
    });
    let norm = norm.expect("the scope succeeds").expect("the task succeeds");
    assert!((norm - a.wide().norm_one()).abs() < 1e-13);
}

#[test]
fn what_does_not_fit_is_refused() {
    let (rt, o, a) = (runtime(), Options::default(), Stored::<f64>::random((5, 4), 1));
    assert_refused(lansy(&rt, Norm::One, Uplo::Lower, a.view(), &o), ErrorKind::Shape);
    assert_refused(lanhe(&rt, Norm::One, Uplo::Lower, a.view(), &o), ErrorKind::Shape);
    assert_refused(lange(&rt, Norm::One, a.view(), &o.nb(0)), ErrorKind::Shape);
    assert_refused(lantr(&rt, Norm::One, Uplo::Lower, Diag::Unit, a.view(), &o.nb(0)), ErrorKind::Shape);
}

/// Of a matrix that is changed in the same scope, and before the scope ends.
#[test]
fn norms_of_all_kinds_are_results() {
    let (rt, mut a) = (runtime(), Stored::<c64>::random((30, 30), 4));
    let before = a.clone();
    let [symmetric, hermitian, triangular] = rt
        .scope(|s| {
            let a = Tiled::columns(s, a.view_mut(), 7);
            let norms = [
                submit::lansy(s, Norm::One, Uplo::Lower, &a),
                submit::lanhe(s, Norm::Frobenius, Uplo::Upper, &a),
                submit::lantr(s, Norm::Inf, Uplo::Upper, Diag::Unit, &a),
            ];
            submit::laset(s, Part::All, c64::ZERO, c64::ZERO, &a);
            norms.map(|norm| *s.get(norm).expect("nothing fails"))
        })
        .expect("nothing fails");
    let (options, a_ref) = (Options::default().nb(7), before.view());
    assert_eq!(symmetric, lansy(&rt, Norm::One, Uplo::Lower, a_ref, &options).expect("square"));
    assert_eq!(hermitian, lanhe(&rt, Norm::Frobenius, Uplo::Upper, a_ref, &options).expect("square"));
    assert_eq!(triangular, lantr(&rt, Norm::Inf, Uplo::Upper, Diag::Unit, a_ref, &options).expect("no error"));
    assert_eq!(a.wide().norm_max(), 0.0);
}
