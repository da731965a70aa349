//! trsm, potrs and getrs.

use crate::{Columns, for_all_types, fractions, layout, members, orders, tries, views, views_mut};
use superscalar_kernels::{Diag, Op, Real, Scalar, Side, Uplo, cpu, cpu::batch};
use superscalar_oracle::{
    Nearness::{Exact, Roundoffs},
    Random, Stored,
};

const OPS: [Op; 3] = [Op::None, Op::Trans, Op::ConjTrans];

/// Makes triangles; what must not be read is NaN.
fn triangles<T: Scalar>(
    numbers: &mut Random,
    (uplo, diag): (Uplo, Diag),
    n: usize,
    storage: usize,
    count: usize,
) -> Vec<Stored<T>> {
    let one = |_| {
        let layout = layout(numbers, storage);
        Stored::triangular(numbers, uplo, diag, n, layout)
    };
    (0..count).map(one).collect()
}

fn options() -> impl Iterator<Item = (Side, Uplo, Op, Diag)> {
    let sides = [Side::Left, Side::Right].into_iter().flat_map(|side| [Uplo::Lower, Uplo::Upper].map(|u| (side, u)));
    let ops = sides.flat_map(|(side, uplo)| OPS.map(|op| (side, uplo, op)));
    ops.flat_map(|(side, uplo, op)| [Diag::NonUnit, Diag::Unit].map(|diag| (side, uplo, op, diag)))
}

#[test]
fn trsm_agrees() {
    fn check<T: Scalar>() {
        let mut numbers = Random::new(11);
        let half = T::from_parts(T::Real::from_f64(0.5), T::Real::from_f64(0.25));
        for n in orders() {
            for (case, (side, uplo, op, diag)) in options().enumerate() {
                if !tries(n, case) {
                    continue;
                }
                let (count, columns) = (members(n + case), 1 + (n + case) % 6);
                let shape = if side == Side::Left { (n, columns) } else { (columns, n) };
                let alpha = if case % 3 == 0 { half } else { T::ONE };
                let a = triangles::<T>(&mut numbers, (uplo, diag), n, case + n, count);
                let b = fractions::<T>(&mut numbers, shape, case / 4 + n, count);
                let mut found = b.clone();
                batch::trsm(side, uplo, op, diag, alpha, &views(&a), &mut views_mut(&mut found));
                for (i, found) in found.iter().enumerate() {
                    let mut expected = b[i].clone();
                    cpu::trsm(side, uplo, op, diag, alpha, a[i].view(), expected.view_mut());
                    let what = || format!("{}trsm {side}{uplo}{op}{diag} {shape:?} member {i} of {count}", T::LETTER);
                    found.assert_near(&expected, Roundoffs(32.0 * (n + 4) as f64), what);
                }
            }
        }
    }
    for_all_types!(check);
}

#[test]
fn unusual_triangles_do_not_influence_others() {
    fn check<T: Scalar>() {
        let mut numbers = Random::new(12);
        let tiny = T::from_real(T::Real::MIN_POSITIVE * T::Real::from_f64(0.5));
        let unusual = [T::ZERO, T::from_f64(f64::NAN), T::from_f64(f64::INFINITY), tiny];
        for n in [1, 3, 8, 19] {
            for bad in 0..9 {
                for x in unusual {
                    let what = (Uplo::Upper, Diag::NonUnit);
                    let mut a = triangles::<T>(&mut numbers, what, n, bad, 9);
                    a[bad].set(n / 2, n / 2, x);
                    let b = fractions::<T>(&mut numbers, (n, 3), bad, 9);
                    let (side, uplo, op, diag) = (Side::Left, Uplo::Upper, Op::Trans, Diag::NonUnit);
                    let mut found = b.clone();
                    batch::trsm(side, uplo, op, diag, T::ONE, &views(&a), &mut views_mut(&mut found));
                    for (i, found) in found.iter().enumerate() {
                        let mut expected = b[i].clone();
                        cpu::trsm(side, uplo, op, diag, T::ONE, a[i].view(), expected.view_mut());
                        if i == bad {
                            found.assert_near(&expected, Exact, || {
                                format!("{}trsm {n}: a diagonal with {x}", T::LETTER)
                            });
                        } else {
                            found.assert_near(&expected, Roundoffs(32.0 * (n + 4) as f64), || format!("trsm {n}"));
                        }
                    }
                }
            }
        }
    }
    for_all_types!(check);
}

#[test]
fn potrs_agrees() {
    fn check<T: Scalar>() {
        let mut numbers = Random::new(13);
        for n in orders() {
            for uplo in [Uplo::Lower, Uplo::Upper] {
                let (count, columns) = (members(n), 1 + n % 4);
                let a = triangles::<T>(&mut numbers, (uplo, Diag::NonUnit), n, n, count);
                let b = fractions::<T>(&mut numbers, (n, columns), n / 4, count);
                let mut found = b.clone();
                batch::potrs(uplo, &views(&a), &mut views_mut(&mut found));
                for (i, found) in found.iter().enumerate() {
                    let (a, mut expected) = (a[i].view(), b[i].clone());
                    let ops = if uplo == Uplo::Lower { [Op::None, Op::ConjTrans] } else { [Op::ConjTrans, Op::None] };
                    for op in ops {
                        cpu::trsm(Side::Left, uplo, op, Diag::NonUnit, T::ONE, a, expected.view_mut());
                    }
                    let what = || format!("{}potrs {uplo} {n} member {i} of {count}", T::LETTER);
                    found.assert_near(&expected, Roundoffs(64.0 * (n + 4) as f64), what);
                }
            }
        }
    }
    for_all_types!(check);
}

#[test]
fn getrs_solves() {
    fn check<T: Scalar>() {
        let mut numbers = Random::new(14);
        for n in orders() {
            for (case, op) in OPS.into_iter().enumerate() {
                let (count, columns) = (members(n + case), 1 + (n + case) % 5);
                let mut a = fractions::<T>(&mut numbers, (n, n), n + case, count);
                a.iter_mut().for_each(|a| numbers.full_rank(a.view_mut()));
                let x = fractions::<T>(&mut numbers, (n, columns), n / 4, count);
                let mut b = x.clone();
                for (i, b) in b.iter_mut().enumerate() {
                    cpu::gemm(T::ONE, op, a[i].view(), Op::None, x[i].view(), T::ZERO, b.view_mut());
                }
                let (mut info, mut ipiv) = (vec![-1; count], Columns::new((0..count).map(|_| n)));
                batch::getrf(&mut views_mut(&mut a), &mut ipiv.views_mut(), &mut info);
                assert!(info.iter().all(|&info| info == 0), "{info:?}");
                batch::getrs(op, &views(&a), &ipiv.views(), &mut views_mut(&mut b));
                for (i, b) in b.iter().enumerate() {
                    let what = || format!("{}getrs {op} {n} member {i} of {count}", T::LETTER);
                    b.assert_near(&x[i], Roundoffs(256.0 * (n + 4) as f64), what);
                }
            }
        }
    }
    for_all_types!(check);
}

#[test]
fn empty_systems() {
    let (a, mut b) = ([Stored::<f64>::zeros((0, 0))], [Stored::zeros((0, 3))]);
    batch::potrs(Uplo::Lower, &views(&a), &mut views_mut(&mut b));
    batch::potrs::<f64>(Uplo::Lower, &[], &mut []);
    let (a, mut b) = ([Stored::<f64>::zeros((2, 2))], [Stored::zeros((2, 0))]);
    batch::trsm(Side::Left, Uplo::Lower, Op::None, Diag::Unit, 1.0, &views(&a), &mut views_mut(&mut b));
}

#[test]
#[should_panic(expected = "an interchange is outside of 2 rows")]
fn wrong_interchanges_are_refused() {
    let (a, mut b, ipiv) = ([Stored::<f64>::zeros((2, 2))], [Stored::zeros((2, 1))], Columns::new([2].into_iter()));
    batch::getrs(Op::None, &views(&a), &ipiv.views(), &mut views_mut(&mut b));
}
