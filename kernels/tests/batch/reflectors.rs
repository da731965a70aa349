//! geqrf, ungqr, unmqr and gebrd.

use crate::{for_all_types, fractions, layout, members, orders, tries, views, views_mut};
use superscalar_kernels::{MatMut, Op, Real, Scalar, Side, c64, cpu, cpu::BlockReflector, cpu::batch};
use superscalar_oracle::{
    Layout,
    Nearness::{Exact, Roundoffs},
    Random, Stored, Wide, at_most, wide,
};

/// Returns columns for the factors of the reflectors.
fn columns<T: Scalar>(rows: impl Iterator<Item = usize>) -> Vec<Stored<T>> {
    rows.map(|k| Stored::new((k, 1), |_, _| T::from_f64(f64::NAN))).collect()
}

fn order<T: Scalar>(a: &Stored<T>) -> usize {
    a.shape().0.min(a.shape().1)
}

/// Factors one matrix.
fn geqrf<T: Scalar>(a: &mut Stored<T>, tau: &mut Stored<T>) -> Stored<T> {
    let k = order(a);
    let mut t = Stored::zeros((k, k));
    let mut factors = vec![T::ZERO; k];
    cpu::geqrf(a.view_mut(), &mut factors, t.view_mut());
    factors.into_iter().enumerate().for_each(|(i, x)| tau.set(i, 0, x));
    t
}

/// Compares the factors of a batch with those of its members. Members for which `is_same` holds are equal.
fn check_geqrf<T: Scalar>(a: &[Stored<T>], is_same: impl Fn(usize) -> bool) {
    let (mut found, mut tau) = (a.to_vec(), columns::<T>(a.iter().map(order)));
    batch::geqrf(&mut views_mut(&mut found), &mut views_mut(&mut tau));
    for (i, found) in found.iter().enumerate() {
        let (mut expected, mut factors) = (a[i].clone(), tau[i].clone());
        geqrf(&mut expected, &mut factors);
        let what = || format!("{}geqrf {:?} member {i} of {}", T::LETTER, a[i].shape(), a.len());
        if is_same(i) {
            found.assert_near(&expected, Exact, what);
            tau[i].assert_near(&factors, Exact, what);
        } else {
            let bound = Roundoffs(1e3 * (order(found) + 4) as f64);
            found.assert_near(&expected, bound, what);
            tau[i].assert_near(&factors, bound, what);
        }
    }
}

#[test]
fn geqrf_agrees() {
    fn check<T: Scalar>() {
        let mut numbers = Random::new(31);
        for n in orders() {
            for (case, shape) in [(n, n), (2 * n, n), (n, n + 3), (n + 1, n)].into_iter().enumerate() {
                if !tries(n, case) {
                    continue;
                }
                let mut a = fractions::<T>(&mut numbers, shape, n + case, members(n + case));
                // Square random matrices may be nearly singular, which magnifies differences.
                a.iter_mut().for_each(|a| numbers.full_rank(a.view_mut()));
                check_geqrf(&a, |_| false);
            }
        }
    }
    for_all_types!(check);
}

#[test]
fn unusual_members() {
    fn check<T: Scalar>() {
        let mut numbers = Random::new(32);
        let tiny = T::from_real(T::Real::MIN_POSITIVE);
        let huge = T::from_real(T::Real::from_f64(0.01) / T::Real::MIN_POSITIVE);
        for shape in [(2, 2), (5, 5), (8, 8), (13, 9), (9, 13), (32, 32)] {
            let (m, n) = shape;
            for bad in 0..17 {
                let mut a = fractions::<T>(&mut numbers, shape, bad, 17);
                let column = (bad * 3) % (m - 1).min(n);
                match bad % 5 {
                    0 => (0..m).for_each(|i| a[bad].set(i, column, T::ZERO)),
                    1 => a[bad].set((bad * 7) % m, column, T::from_f64(f64::NAN)),
                    2 => a[bad].set((bad * 7) % m, column, T::from_f64(f64::INFINITY)),
                    _ => (0..m * n).for_each(|at| {
                        let by = if bad % 5 == 3 { tiny } else { huge };
                        let x = a[bad].at(at % m, at / m) * by;
                        a[bad].set(at % m, at / m, x);
                    }),
                }
                check_geqrf(&a, |i| i == bad);
            }
        }
        // Real numbers in a complex matrix: the last reflector is the identity.
        let a: Vec<_> =
            (0..17).map(|_| Stored::new((6, 6), |_, _| T::from_real(numbers.fraction::<T>().re()))).collect();
        check_geqrf(&a, |_| false);
    }
    for_all_types!(check);
}

#[test]
fn q_agrees() {
    fn check<T: Scalar>() {
        let mut numbers = Random::new(33);
        for n in orders() {
            for (case, (m, k)) in [(n, n), (n + 4, n), (n + 2, n.div_ceil(2))].into_iter().enumerate() {
                if !tries(n, case) {
                    continue;
                }
                let count = members(n + case);
                let mut a = fractions::<T>(&mut numbers, (m, n), n + case, count);
                let mut tau = columns::<T>((0..count).map(|_| k));
                let mut factors = Vec::new();
                for (a, tau) in a.iter_mut().zip(&mut tau) {
                    let mut v = Stored::<T>::new((m, k), |i, j| a.at(i, j));
                    factors.push((geqrf(&mut v, tau), v.clone()));
                    (0..m * k).for_each(|at| a.set(at % m, at / m, v.at(at % m, at / m)));
                }
                let mut found = a.clone();
                batch::ungqr(&mut views_mut(&mut found), &views(&tau));
                let what = |i: usize| format!("{} {m} x {n}, {k} reflectors, member {i} of {count}", T::LETTER);
                for (i, ((t, v), found)) in factors.iter().zip(&found).enumerate() {
                    let mut q = a[i].clone();
                    (0..m * n).for_each(|at| q.set(at % m, at / m, if at % m == at / m { T::ONE } else { T::ZERO }));
                    let reflector = BlockReflector::new(v.view(), t.view());
                    cpu::larfb(Side::Left, Op::None, reflector, q.view_mut());
                    found.assert_near(&q, Roundoffs(32.0 * (m + 4) as f64), || format!("ungqr {}", what(i)));
                }
                for op in [Op::None, Op::ConjTrans] {
                    let c = fractions::<T>(&mut numbers, (m, 1 + n % 5), case, count);
                    let mut found = c.clone();
                    batch::unmqr(op, &views(&a), &views(&tau), &mut views_mut(&mut found));
                    for (i, ((t, v), found)) in factors.iter().zip(&found).enumerate() {
                        let mut expected = c[i].clone();
                        cpu::larfb(Side::Left, op, BlockReflector::new(v.view(), t.view()), expected.view_mut());
                        found.assert_near(&expected, Roundoffs(32.0 * (m + 4) as f64), || format!("unmqr {}", what(i)));
                    }
                }
            }
        }
    }
    for_all_types!(check);
}

#[test]
fn nan_stays_in_its_member() {
    fn check<T: Scalar>() {
        let mut numbers = Random::new(34);
        let mut a = fractions::<T>(&mut numbers, (6, 4), 0, 17);
        let mut tau = columns::<T>((0..17).map(|_| 4));
        batch::geqrf(&mut views_mut(&mut a), &mut views_mut(&mut tau));
        let mut good = a.clone();
        batch::ungqr(&mut views_mut(&mut good), &views(&tau));
        for bad in 0..17 {
            let mut found = a.clone();
            found[bad].set(5, 1, T::from_f64(f64::NAN));
            batch::ungqr(&mut views_mut(&mut found), &views(&tau));
            for (i, found) in found.iter().enumerate() {
                assert_eq!(found.has_nan(), i == bad);
                assert!(i == bad || *found == good[i], "{}ungqr: member {i} differs beside {bad}", T::LETTER);
            }
        }
    }
    for_all_types!(check);
}

/// Multiplies C by I - by v vᴴ from the left. The vector is column j of A, from row `first` on, after an implicit one.
fn reflect(c: &mut [Vec<c64>], v: impl Fn(usize) -> c64, first: usize, by: c64) {
    for column in c {
        let rows = first..column.len();
        let x = |i: usize| if i == first { c64::new(1.0, 0.0) } else { v(i) };
        let sum: c64 = rows.clone().map(|i| x(i).conj() * column[i]).sum();
        rows.for_each(|i| column[i] -= by * sum * x(i));
    }
}

/// Returns the bidiagonal matrix Qᴴ A P, for the reflectors that gebrd left in `found`.
fn reduced<T: Scalar>(a: &Stored<T>, found: &Stored<T>, tauq: &Stored<T>, taup: &Stored<T>) -> Wide {
    let (m, n) = a.shape();
    // For a wide matrix the vectors of Q begin one row lower, and those of P one column further to the left.
    let (below, beside) = if m >= n { (0, 1) } else { (1, 0) };
    let mut columns: Vec<Vec<c64>> = (0..n).map(|j| (0..m).map(|i| wide(a.at(i, j))).collect()).collect();
    for j in 0..m.min(n) {
        if j + below < m {
            reflect(&mut columns, |i| wide(found.at(i, j)), j + below, wide(tauq.at(j, 0)).conj());
        }
    }
    // C G = (Gᴴ Cᴴ)ᴴ; the rows of the result are conjugated back at the end.
    let mut rows: Vec<Vec<c64>> = (0..m).map(|i| (0..n).map(|j| columns[j][i].conj()).collect()).collect();
    for i in 0..m.min(n) {
        if i + beside < n {
            // LAPACK stores the conjugate of the vector in the row.
            reflect(&mut rows, |j| wide(found.at(i, j)).conj(), i + beside, wide(taup.at(i, 0)).conj());
        }
    }
    Wide::new((m, n), |i, j| rows[i][j].conj())
}

#[test]
fn gebrd_reduces() {
    fn check<T: Scalar>() {
        let mut numbers = Random::new(35);
        for n in (0..=12).chain([33, 40]) {
            for shape in [(n, n), (n + 5, n), (n, n + 4)] {
                let (m, k) = (shape.0, shape.0.min(shape.1));
                let layout = layout(&mut numbers, n);
                let a = Stored::<T>::fractions(&mut numbers, shape, layout);
                let (mut found, mut tauq, mut taup) =
                    (a.clone(), columns::<T>([k].into_iter()), columns([k].into_iter()));
                let mut d = columns::<T::Real>([k].into_iter());
                let mut e = columns::<T::Real>([k.saturating_sub(1)].into_iter());
                batch::gebrd(
                    &mut [found.view_mut()],
                    &mut views_mut(&mut d),
                    &mut views_mut(&mut e),
                    &mut views_mut(&mut tauq),
                    &mut views_mut(&mut taup),
                );
                found.assert_padding("gebrd");
                let (down, right) = if m >= shape.1 { (0, 1) } else { (1, 0) };
                let b = Wide::new(shape, |i, j| {
                    let is_beside = i + right == j + down && i.min(j) + 1 < k;
                    let x = if i == j {
                        d[0].at(i, 0)
                    } else if is_beside {
                        e[0].at(i.min(j), 0)
                    } else {
                        T::Real::ZERO
                    };
                    c64::new(x.to_f64(), 0.0)
                });
                let error = reduced(&a, &found, &tauq[0], &taup[0]).minus(&b).norm_max();
                let bound = 32.0 * (n + 4) as f64 * T::EPSILON.to_f64() * (a.wide().norm_max() + 1.0);
                at_most("|Q^H A P - B|", error, bound).unwrap_or_else(|e| panic!("{}gebrd {shape:?}: {e}", T::LETTER));
            }
        }
    }
    for_all_types!(check);
}

#[test]
fn gebrd_of_unusual_matrices() {
    let mut x = [1e-300, 2e-300, -2e-300, 0.0, 0.0, 0.0];
    let (mut d, mut e, mut q, mut p) = ([0.0; 2], [7.0], [7.0; 2], [7.0; 2]);
    batch::gebrd(
        &mut [MatMut::from_col_major(&mut x, 3, 2, 3).expect("3 x 2")],
        &mut [MatMut::from_col_major(&mut d, 2, 1, 2).expect("2 x 1")],
        &mut [MatMut::from_col_major(&mut e, 1, 1, 1).expect("1 x 1")],
        &mut [MatMut::from_col_major(&mut q, 2, 1, 2).expect("2 x 1")],
        &mut [MatMut::from_col_major(&mut p, 2, 1, 2).expect("2 x 1")],
    );
    assert!((d[0] + 3e-300).abs() <= 1e-315 && d[1] == 0.0 && e[0] == 0.0, "{d:?} {e:?}");
    assert_eq!((q[1], p), (0.0, [0.0; 2]));
}

#[test]
fn empty_matrices() {
    let (mut a, mut tau) = ([Stored::<f64>::laid_out((0, 3), Layout::PLAIN, |_, _| 0.0)], [Stored::zeros((0, 1))]);
    batch::geqrf(&mut views_mut(&mut a), &mut views_mut(&mut tau));
    batch::geqrf::<f64>(&mut [], &mut []);
    let mut c = [Stored::<f64>::new((3, 2), |_, _| 1.0)];
    let a = [Stored::<f64>::zeros((3, 2))];
    batch::unmqr(Op::Trans, &views(&a), &views(&tau), &mut views_mut(&mut c));
    assert_eq!(c[0].view().to_vec(), [1.0; 6]);
}
