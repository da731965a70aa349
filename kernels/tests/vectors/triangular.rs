//! trmv, tbmv, tpmv and trsv, tbsv, tpsv.

use super::held::{Held, Storage, storages};
use super::line::{INCREMENTS, Line, SIZES, number};
use superscalar_kernels::cpu::{self, Conj};
use superscalar_kernels::{Diag, Op, Scalar, Uplo};
use superscalar_oracle::Random;

type Form = (Op, Diag, bool);

/// All triangles of some orders, ways to lie in memory and forms, and a vector for each.
fn cases<T: Scalar>(mut body: impl FnMut(&str, Form, &Held<T>, &Line<T>)) {
    let mut numbers = Random::new(7);
    for n in SIZES {
        for storage in storages(n) {
            for uplo in [Uplo::Lower, Uplo::Upper] {
                // Divisors of which quotients are exact.
                let divisors = [
                    number(1.0, 0.0),
                    number(-2.0, 0.0),
                    number(0.5, 0.0),
                    number(1.0, if T::COMPLEX { 1.0 } else { 0.0 }),
                ];
                let a = Held::<T>::new(storage, uplo, n, |i, j| {
                    if i == j { divisors[numbers.below(4)] } else { numbers.integer() }
                });
                for (at, op) in [Op::None, Op::Trans, Op::ConjTrans].into_iter().enumerate() {
                    for (diag, conj) in
                        [Diag::NonUnit, Diag::Unit].into_iter().flat_map(|diag| [(diag, false), (diag, true)])
                    {
                        let (inc, _) = INCREMENTS[(at + n) % INCREMENTS.len()];
                        let inc = if diag == Diag::Unit { 1 } else { inc };
                        let x = Line::integers(n, inc, &mut numbers);
                        let mut a = a.clone();
                        a.hide_diagonal(diag);
                        let what = format!("{n} {storage:?} {uplo:?} {op:?} {diag:?} conj {conj} inc {inc}");
                        body(&what, (op, diag, conj), &a, &x);
                    }
                }
            }
        }
    }
}

/// op(A) x.
fn product<T: Scalar>((op, diag, conj): Form, a: &Held<T>, x: &Line<T>) -> Line<T> {
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
    cases::<T>(|what, (op, diag, conj), a, x| {
        let wanted = product((op, diag, conj), a, x);
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

/// The right-hand side is the product with integers, which substitution finds without a roundoff.
pub fn solves<T: Scalar>() {
    cases::<T>(|what, (op, diag, conj), a, x| {
        let mut found = product((op, diag, conj), a, x);
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
