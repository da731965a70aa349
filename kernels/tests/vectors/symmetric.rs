//! symv, hemv, sbmv, hbmv, spmv, hpmv.

use super::stored_triangle::{Storage, StoredTriangle, storages};
use super::test_vector::{INCREMENTS, SIZES, TestVector, factors, number};
use superscalar_kernels::cpu::{self, Conj};
use superscalar_kernels::{Scalar, Uplo};
use superscalar_oracle::Random;

fn call<T: Scalar>(
    hermitian: bool,
    conj: bool,
    alpha: T,
    a: &StoredTriangle<T>,
    x: &TestVector<T>,
    beta: T,
    y: &mut TestVector<T>,
) {
    let (uplo, x, y) = (a.uplo, x.view(), y.view_mut());
    if a.storage == Storage::Packed {
        let ap = if conj { Conj::of(a.packed()) } else { a.packed().into() };
        return if hermitian { cpu::hpmv(uplo, alpha, ap, x, beta, y) } else { cpu::spmv(uplo, alpha, ap, x, beta, y) };
    }
    let view = if conj { Conj::of(a.matrix()) } else { a.matrix().into() };
    match (a.storage, hermitian) {
        (Storage::Band(_), true) => cpu::hbmv(uplo, alpha, view, x, beta, y),
        (Storage::Band(_), false) => cpu::sbmv(uplo, alpha, view, x, beta, y),
        (_, true) => cpu::hemv(uplo, alpha, view, x, beta, y),
        (_, false) => cpu::symv(uplo, alpha, view, x, beta, y),
    }
}

fn wanted<T: Scalar>(
    a: impl Fn(usize, usize) -> T,
    alpha: T,
    x: &TestVector<T>,
    beta: T,
    y: &TestVector<T>,
) -> TestVector<T> {
    let mut wanted = y.clone();
    for i in 0..y.n {
        let sum: T = (0..x.n).map(|j| a(i, j) * x.get(j)).sum();
        wanted.set(i, alpha * sum + beta * y.get(i));
    }
    wanted
}

pub fn products<T: Scalar>() {
    let mut numbers = Random::new(6);
    let pairs: Vec<(T, T)> =
        factors::<T>().into_iter().flat_map(|alpha| factors::<T>().map(|beta| (alpha, beta))).collect();
    for n in SIZES {
        for storage in storages(n) {
            for (uplo, hermitian) in
                [Uplo::Lower, Uplo::Upper].into_iter().flat_map(|uplo| [(uplo, false), (uplo, true)])
            {
                let mut a = StoredTriangle::<T>::new(storage, uplo, n, |_, _| numbers.integer());
                if hermitian {
                    a.spoil_diagonal();
                }
                let unread = StoredTriangle::<T>::new(storage, uplo, n, |_, _| super::test_vector::nan());
                for (at, &(alpha, beta)) in pairs.iter().enumerate() {
                    let conj = at % 3 == 0;
                    let (of_x, of_y) = INCREMENTS[(at + n) % INCREMENTS.len()];
                    let (x, y) =
                        (TestVector::integers(n, of_x, &mut numbers), TestVector::integers(n, of_y, &mut numbers));
                    let element = |i: usize, j: usize| {
                        let element = a.mirrored(hermitian, i, j);
                        if conj { element.conj() } else { element }
                    };
                    let wanted = wanted(element, alpha, &x, beta, &y);
                    let mut found = if beta == T::ZERO { TestVector::nan(n, of_y) } else { y };
                    if alpha == T::ZERO {
                        call(hermitian, conj, alpha, &unread, &TestVector::nan(n, of_x), beta, &mut found);
                    } else {
                        call(hermitian, conj, alpha, &a, &x, beta, &mut found);
                    }
                    let what = format!("{n} {storage:?} {uplo:?} hermitian {hermitian} conj {conj} {alpha} {beta}");
                    found.check(&wanted, &what);
                }
            }
        }
    }
}

/// Checks that an infinite element of x makes the results infinite that it contributes to, and no result NaN.
pub fn infinities<T: Scalar>() {
    if T::COMPLEX {
        return; // A complex product with an infinite part has NaN in the other part.
    }
    for n in [1, 5, 8, 19, 40] {
        for storage in storages(n) {
            for uplo in [Uplo::Lower, Uplo::Upper] {
                let a = StoredTriangle::<T>::new(storage, uplo, n, |_, _| number(2.0, 0.0));
                for at in 0..n {
                    let mut x = TestVector::<T>::new(n, 1, || T::ONE);
                    x.set(at, number(f64::INFINITY, 0.0));
                    let (mut wanted, mut found) =
                        (TestVector::<T>::new(n, 1, || T::ONE), TestVector::<T>::new(n, 1, || T::ONE));
                    for i in 0..n {
                        // Elements outside a band do not contribute.
                        let inside = |j: usize| a.index(i, j).or(a.index(j, i)).is_some();
                        let sum: T = (0..n).filter(|&j| inside(j)).map(|j| a.mirrored(false, i, j) * x.get(j)).sum();
                        wanted.set(i, T::ONE + sum);
                    }
                    call(false, false, T::ONE, &a, &x, T::ONE, &mut found);
                    found.check(&wanted, &format!("{n} {storage:?} {uplo:?} Inf at {at}"));
                }
            }
        }
    }
}
