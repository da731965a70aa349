//! potrf, getrf and getrf_nopiv.

use crate::{Columns, for_all_types, fractions, layout, members, orders, tries, views_mut};
use superscalar_kernels::{Real, Scalar, Uplo, cpu, cpu::batch};
use superscalar_oracle::{
    Nearness::{Exact, Roundoffs},
    Random, Stored,
};

/// Makes one triangle each of definite matrices; the other one is NaN.
fn definite<T: Scalar>(numbers: &mut Random, uplo: Uplo, n: usize, storage: usize, count: usize) -> Vec<Stored<T>> {
    let one = |_| {
        let layout = layout(numbers, storage);
        Stored::definite_triangle(numbers, uplo, n, layout)
    };
    (0..count).map(one).collect()
}

/// Compares the factors of a batch with those of its members. Members for which `is_same` holds are equal.
fn check_potrf<T: Scalar>(uplo: Uplo, a: &[Stored<T>], is_same: impl Fn(usize) -> bool) {
    let (mut found, mut info) = (a.to_vec(), vec![-1; a.len()]);
    batch::potrf(uplo, &mut views_mut(&mut found), &mut info);
    for (i, found) in found.iter().enumerate() {
        let mut expected = a[i].clone();
        let outcome = cpu::potrf(uplo, expected.view_mut()).map_or_else(|error| error.minor as i32, |()| 0);
        let what = || format!("{}potrf {uplo} {:?} member {i} of {}", T::LETTER, a[i].shape(), a.len());
        assert_eq!(info[i], outcome, "{}", what());
        if is_same(i) {
            found.assert_near(&expected, Exact, what);
        } else {
            found.assert_near(&expected, Roundoffs(8.0 * (a[i].shape().0 + 4) as f64), what);
            found.assert_kept(&a[i], &what(), |i, j| if uplo == Uplo::Lower { i < j } else { i > j });
        }
    }
}

#[test]
fn potrf_agrees() {
    fn check<T: Scalar>() {
        let mut numbers = Random::new(21);
        for n in orders() {
            for uplo in [Uplo::Lower, Uplo::Upper] {
                for storage in (0..4).filter(|&storage| tries(n, storage)) {
                    let a = definite::<T>(&mut numbers, uplo, n, storage, members(n + storage));
                    check_potrf(uplo, &a, |_| false);
                }
            }
        }
    }
    for_all_types!(check);
}

#[test]
fn every_number_of_members() {
    fn check<T: Scalar>() {
        let mut numbers = Random::new(22);
        for count in 0..=34 {
            for n in [1, 3, 6] {
                check_potrf(Uplo::Lower, &definite::<T>(&mut numbers, Uplo::Lower, n, count, count), |_| false);
            }
        }
    }
    for_all_types!(check);
}

#[test]
fn indefinite_and_unusual_members() {
    fn check<T: Scalar>() {
        let mut numbers = Random::new(23);
        let tiny = T::Real::MIN_POSITIVE;
        for n in [1, 2, 5, 8, 13, 32] {
            for bad in 0..17 {
                let at = (bad * 5) % n;
                let uplo = [Uplo::Lower, Uplo::Upper][bad % 2];
                let mut a = definite::<T>(&mut numbers, uplo, n, bad / 2, 17);
                let (i, j) = if uplo == Uplo::Lower { (n - 1, at) } else { (at, n - 1) };
                match bad % 5 {
                    0 => a[bad].set(at, at, -T::ONE),
                    1 => a[bad].set(i, j, T::from_f64(f64::NAN)),
                    2 => a[bad].set(at, at, T::ZERO),
                    3 => a[bad].set(i, j, T::from_f64(f64::INFINITY)),
                    _ => {
                        // A multiple at the end of the range, whose pivots are subnormal.
                        let by = T::from_real(tiny * T::Real::from_f64(0.0078125));
                        let view = &mut a[bad].view_mut();
                        (0..n * n).for_each(|at| view[(at % n, at / n)] *= by);
                    }
                }
                check_potrf(uplo, &a, |i| i == bad);
                // Several in one group.
                let all: Vec<_> = (0..17).map(|i| a[if i % 3 == 0 { bad } else { i }].clone()).collect();
                check_potrf(uplo, &all, |i| i % 3 == 0 || i == bad);
            }
        }
    }
    for_all_types!(check);
}

/// Compares the factors of a batch with those of its members. Members for which `is_same` holds are equal.
fn check_getrf<T: Scalar>(a: &[Stored<T>], is_same: impl Fn(usize) -> bool) {
    let (mut found, mut info) = (a.to_vec(), vec![-1; a.len()]);
    let pivots = |a: &Stored<T>| a.shape().0.min(a.shape().1);
    let mut ipiv = Columns::new(a.iter().map(pivots));
    batch::getrf(&mut views_mut(&mut found), &mut ipiv.views_mut(), &mut info);
    for (i, found) in found.iter().enumerate() {
        let (mut expected, k) = (a[i].clone(), pivots(&a[i]));
        let mut wanted = vec![-1; k];
        let outcome = cpu::getrf(expected.view_mut(), &mut wanted).map_or_else(|error| error.pivot as i32, |()| 0);
        let what = || format!("{}getrf {:?} member {i} of {}", T::LETTER, a[i].shape(), a.len());
        assert_eq!((info[i], ipiv.of(i)), (outcome, &wanted[..]), "{}", what());
        if is_same(i) {
            found.assert_near(&expected, Exact, what);
        } else {
            found.assert_near(&expected, Roundoffs(1e3 * (k * k) as f64), what);
        }
    }
}

#[test]
fn getrf_agrees() {
    fn check<T: Scalar>() {
        let mut numbers = Random::new(24);
        for n in orders() {
            for (case, shape) in [(n, n), (n + 3, n), (n, n + 3), (2 * n, n)].into_iter().enumerate() {
                if !tries(n, case) {
                    continue;
                }
                check_getrf(&fractions::<T>(&mut numbers, shape, n + case, members(n + case)), |_| false);
            }
        }
    }
    for_all_types!(check);
}

#[test]
fn first_of_equal_pivots_is_chosen() {
    fn check<T: Scalar>() {
        let mut numbers = Random::new(25);
        for m in orders() {
            let one = |_| Stored::<T>::laid_out((m, 1), layout(&mut numbers.clone(), 1), |_, _| numbers.unit());
            let a: Vec<_> = (0..17).map(one).collect();
            check_getrf(&a, |_| false);
            let a: Vec<_> = (0..17)
                .map(|i| {
                    Stored::laid_out((m, 1), layout(&mut numbers, 0), |r, _| if r < i % m { T::ZERO } else { T::ONE })
                })
                .collect();
            check_getrf(&a, |_| false);
        }
    }
    for_all_types!(check);
}

#[test]
fn singular_and_unusual_members() {
    fn check<T: Scalar>() {
        let mut numbers = Random::new(26);
        let tiny = T::from_real(T::Real::MIN_POSITIVE);
        for shape in [(1, 1), (2, 2), (5, 5), (8, 8), (13, 13), (32, 32), (12, 7), (7, 12)] {
            let (m, n) = shape;
            for bad in 0..17 {
                let mut a = fractions::<T>(&mut numbers, shape, bad, 17);
                let column = (bad * 3) % n;
                match bad % 4 {
                    0 => (0..m).for_each(|i| a[bad].set(i, column, T::ZERO)),
                    1 => a[bad].set((bad * 7) % m, column, T::from_f64(f64::NAN)),
                    2 => a[bad].set((bad * 7) % m, column, T::from_f64(f64::INFINITY)),
                    _ => (0..m * n).for_each(|at| {
                        let x = a[bad].at(at % m, at / m) * tiny;
                        a[bad].set(at % m, at / m, x);
                    }),
                }
                // A zero column that has no pivot is ordinary.
                let is_ordinary = bad % 4 == 0 && column >= m;
                check_getrf(&a, |i| i == bad && !is_ordinary);
            }
        }
    }
    for_all_types!(check);
}

#[test]
fn shapes_and_storages_are_mixed() {
    fn check<T: Scalar>() {
        let mut numbers = Random::new(27);
        for round in 0..10 {
            let mut a = Vec::new();
            for _ in 0..numbers.below(12) {
                let shape = match numbers.below(8) {
                    0 => (0, numbers.below(4)),
                    1 => (70, 65),
                    _ => (numbers.below(12), numbers.below(12)),
                };
                for _ in 0..=numbers.below(20) {
                    let layout = layout(&mut numbers, round);
                    a.push(Stored::<T>::fractions(&mut numbers, shape, layout));
                }
            }
            check_getrf(&a, |_| false);
        }
    }
    for_all_types!(check);
}

/// Factors without interchanges, by the textbook.
fn lu_without_interchanges<T: Scalar>(a: &mut Stored<T>) -> i32 {
    let ((m, n), mut info) = (a.shape(), 0);
    for j in 0..m.min(n) {
        let pivot = a.at(j, j);
        if pivot == T::ZERO {
            info = if info == 0 { j as i32 + 1 } else { info };
        }
        for i in j + 1..m {
            let l = if pivot == T::ZERO { a.at(i, j) } else { a.at(i, j).quotient(pivot) };
            a.set(i, j, l);
            (j + 1..n).for_each(|c| a.set(i, c, a.at(i, c) - l * a.at(j, c)));
        }
    }
    info
}

#[test]
fn getrf_nopiv_agrees() {
    fn check<T: Scalar>() {
        let mut numbers = Random::new(28);
        for n in orders().chain([70]) {
            for (case, shape) in [(n, n), (n + 3, n), (n, n + 3)].into_iter().enumerate() {
                if !tries(n, case) {
                    continue;
                }
                let mut a = fractions::<T>(&mut numbers, shape, n + case, members(n + case));
                for a in &mut a {
                    (0..n).for_each(|i| a.set(i, i, a.at(i, i) + T::from_f64(2.0 * n as f64)));
                }
                // One member has a zero pivot.
                let (bad, at) = (n % a.len(), n / 2);
                (0..=at).for_each(|i| a[bad].set(at, i, T::ZERO));
                let (mut found, mut info) = (a.clone(), vec![-1; a.len()]);
                batch::getrf_nopiv(&mut views_mut(&mut found), &mut info);
                for (i, found) in found.iter().enumerate() {
                    let mut expected = a[i].clone();
                    let outcome = lu_without_interchanges(&mut expected);
                    let what = || format!("{}getrf_nopiv {shape:?} member {i} of {}", T::LETTER, a.len());
                    assert_eq!((info[i], i == bad), (outcome, outcome != 0), "{}", what());
                    found.assert_near(&expected, Roundoffs(8.0 * (n + 4) as f64), what);
                }
            }
        }
    }
    for_all_types!(check);
}
