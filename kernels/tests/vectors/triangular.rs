//! trmv, tbmv, tpmv and trsv, tbsv, tpsv.

use super::stored_triangle::{Storage, StoredTriangle, storages};
use super::test_vector::{INCREMENTS, SIZES, TestVector, number};
use superscalar_kernels::cpu::{self, Conj};
use superscalar_kernels::{Diag, Op, Scalar, Uplo};
use superscalar_oracle::Random;

/// The operation with a triangle.
#[derive(Clone, Copy)]
struct Case {
    op: Op,
    diag: Diag,
    conj: bool,
}

/// Calls `body` with triangles of some orders in each storage and operation, and with a vector for each.
fn cases<T: Scalar>(mut body: impl FnMut(&str, Case, &StoredTriangle<T>, &TestVector<T>)) {
    let mut numbers = Random::new(7);
    for n in SIZES {
        for storage in storages(n) {
            for uplo in [Uplo::Lower, Uplo::Upper] {
                // Divisors with exact quotients.
                let divisors = [
                    number(1.0, 0.0),
                    number(-2.0, 0.0),
                    number(0.5, 0.0),
                    number(1.0, if T::COMPLEX { 1.0 } else { 0.0 }),
                ];
                let a = StoredTriangle::<T>::new(storage, uplo, n, |i, j| {
                    if i == j { divisors[numbers.below(4)] } else { numbers.integer() }
                });
                for (at, op) in [Op::None, Op::Trans, Op::ConjTrans].into_iter().enumerate() {
                    for (diag, conj) in
                        [Diag::NonUnit, Diag::Unit].into_iter().flat_map(|diag| [(diag, false), (diag, true)])
                    {
                        let (inc, _) = INCREMENTS[(at + n) % INCREMENTS.len()];
                        let inc = if diag == Diag::Unit { 1 } else { inc };
                        let x = TestVector::integers(n, inc, &mut numbers);
                        let mut a = a.clone();
                        a.hide_diagonal(diag);
                        let what = format!("{n} {storage:?} {uplo:?} {op:?} {diag:?} conj {conj} inc {inc}");
                        body(&what, Case { op, diag, conj }, &a, &x);
                    }
                }
            }
        }
    }
}

/// Returns op(A) x by textbook loops.
fn product<T: Scalar>(Case { op, diag, conj }: Case, a: &StoredTriangle<T>, x: &TestVector<T>) -> TestVector<T> {
    let mut out = x.clone();
    for i in 0..x.n {
        let mut sum = T::ZERO;
        for j in 0..x.n {
            let element = match (i == j && diag == Diag::Unit, op) {
                (true, _) => T::ONE,
                (false, Op::None) => a.get(i, j),
                (false, _) => a.get(j, i),
            };
            sum += if conj != (op == Op::ConjTrans) { element.conj() } else { element } * x.get(j);
        }
        out.set(i, sum);
    }
    out
}

pub fn products<T: Scalar>() {
    cases::<T>(|what, case, a, x| {
        let Case { op, diag, conj } = case;
        let wanted = product(case, a, x);
        let mut found = x.clone();
        let y = found.view_mut();
        if a.storage == Storage::Packed {
            let ap = if conj { Conj::of(a.packed()) } else { a.packed().into() };
            cpu::tpmv(a.uplo, op, diag, ap, y);
        } else {
            let view = if conj { Conj::of(a.matrix()) } else { a.matrix().into() };
            let product = if let Storage::Band(_) = a.storage { cpu::tbmv } else { cpu::trmv };
            product(a.uplo, op, diag, view, y);
        }
        found.check(&wanted, what);
    });
}

/// The right-hand side is a product with integers, so substitution has no rounding errors.
pub fn solves<T: Scalar>() {
    cases::<T>(|what, case, a, x| {
        let Case { op, diag, conj } = case;
        let mut found = product(case, a, x);
        let y = found.view_mut();
        if a.storage == Storage::Packed {
            let ap = if conj { Conj::of(a.packed()) } else { a.packed().into() };
            cpu::tpsv(a.uplo, op, diag, ap, y);
        } else {
            let view = if conj { Conj::of(a.matrix()) } else { a.matrix().into() };
            let solve = if let Storage::Band(_) = a.storage { cpu::tbsv } else { cpu::trsv };
            solve(a.uplo, op, diag, view, y);
        }
        found.check(x, what);
    });
}
