//! gebrd on batches. Its results are compared with the host's where they are well conditioned, with few columns.
//! Otherwise A = Q B Pᴴ is checked, for unitary Q and P.

use super::{
    Suite,
    batch::{each_order, full_rank},
    batch_case::{Case, Comparison, Shapes, members, near},
};
use superscalar_kernels::{
    Real as _, Scalar,
    device::Call,
    operations::{BatchCall, BatchOperation},
};

/// The most rows or columns with which the results are compared with the host's.
const COMPARED_ORDER_MAX: usize = 16;
/// Above this many rows and columns, only the first problem of a batch is checked.
const LARGE_ORDER: usize = 200;

pub fn batch_gebrd<T: Scalar>(suite: &mut Suite<'_, T>) {
    each_order(suite, |suite, orders, is_varied| {
        let forms: [fn(usize) -> (usize, usize); 3] = [|n| (n, n), |n| (n + 6, n), |n| (n, n + 3)];
        if is_varied {
            // Tall and wide matrices in one batch.
            let wanted: Shapes = orders.iter().enumerate().map(|(p, &n)| forms[p % 3](n)).collect();
            check_product(case(suite, &wanted, true));
            let small = wanted.iter().map(|&(m, n)| (m.min(COMPARED_ORDER_MAX), n.min(COMPARED_ORDER_MAX))).collect();
            return case(suite, &small, true).check(1e4, [true; 2]);
        }
        for form in forms {
            let wanted: Shapes = orders.iter().map(|&n| form(n)).collect();
            if orders[0] <= COMPARED_ORDER_MAX {
                case(suite, &wanted, false).check(1e4, [true; 2]);
            } else {
                check_product(case(suite, &wanted, false));
            }
        }
    });
}

fn case<'s, 'r, T: Scalar>(suite: &'s mut Suite<'r, T>, wanted: &Shapes, is_varied: bool) -> Case<'s, 'r, T> {
    let lengths: Vec<usize> = wanted.iter().map(|&(m, n)| m.min(n)).collect();
    let mut case = Case::new(suite, BatchOperation::Gebrd, wanted.len(), is_varied);
    case.update(wanted, full_rank);
    let [tauq, taup] = [(); 2].map(|()| case.write(lengths.iter().copied()));
    case.call.written.extend([tauq, taup]);
    let d = case.write(lengths.iter().copied());
    let e = case.write(lengths.iter().map(|k| k.saturating_sub(1)));
    case.call.reals.extend([d, e]);
    case
}

/// Checks A = Q B Pᴴ, and that no other bytes change.
fn check_product<T: Scalar>(case: Case<'_, '_, T>) {
    let call = Call::Batch(Box::new(case.call.clone()));
    call.check().unwrap_or_else(|error| panic!("{error}: {call:?}"));
    let mut found = case.image.clone();
    case.suite.attempt(&call, &mut found).unwrap_or_else(|error| panic!("{error}: {call:?}"));
    let (BatchCall { updated, written, reals, .. }, image) = (&case.call, &case.image);
    let lists = members(&updated[0]).into_iter().zip(members(&written[0])).zip(members(&written[1]));
    let lists = lists.zip(members(&reals[0])).zip(members(&reals[1]));
    for (((((p, a), (_, tauq)), (_, taup)), (_, d)), (_, e)) in lists {
        let real = |x: T::Real| T::from_real(x);
        let reduced = Reduced {
            shape: a.shape(),
            a: found.elements(a),
            d: found.elements(d).into_iter().map(real).collect(),
            e: found.elements(e).into_iter().map(real).collect(),
            tauq: found.elements(tauq),
            taup: found.elements(taup),
        };
        if p == 0 || a.m.max(a.n) <= LARGE_ORDER {
            reduced.check(&image.elements(a), p);
        }
        let images = (image, image);
        [a, tauq, taup].into_iter().for_each(|mat| near(&mut found, images, mat, Comparison::Nothing, String::new));
        [d, e].into_iter().for_each(|mat| near(&mut found, images, mat, Comparison::Nothing, String::new));
    }
    assert!(found.bytes() == image.bytes(), "gebrd: a byte that must not change");
}

/// The results of gebrd for one matrix, column by column.
struct Reduced<T> {
    shape: (usize, usize),
    a: Vec<T>,
    d: Vec<T>,
    e: Vec<T>,
    tauq: Vec<T>,
    taup: Vec<T>,
}

impl<T: Scalar> Reduced<T> {
    /// Returns the results for Aᴴ, where Q and P are exchanged.
    fn adjoint(self) -> Self {
        let Self { shape: (m, n), a, d, e, tauq, taup } = self;
        Self { shape: (n, m), a: adjoint(&a, (m, n)), d, e, tauq: taup, taup: tauq }
    }

    fn check(self, before: &[T], p: usize) {
        let (m, n) = self.shape;
        if m < n {
            return self.adjoint().check(&adjoint(before, (m, n)), p);
        }
        let Self { a, d, e, tauq, taup, .. } = self;
        let what = format!("gebrd {} {m} x {n} problem {p}", T::LETTER);
        // B, which becomes Q B Pᴴ.
        let mut b = vec![T::ZERO; m * n];
        for i in 0..n {
            b[i + i * m] = d[i];
            assert!(a[i + i * m] == d[i], "{what}: d and A differ in row {i}");
            if i + 1 < n {
                b[i + (i + 1) * m] = e[i];
                assert!(a[i + (i + 1) * m] == e[i], "{what}: e and A differ in row {i}");
            }
        }
        for i in (0..n).rev() {
            if i + 1 < n {
                let mut u: Vec<T> = (i + 1..n).map(|j| a[i + j * m].conj()).collect();
                u[0] = T::ONE;
                assert_unitary(&u, taup[i], &what);
                let columns = || b.chunks_exact(m).skip(i + 1).zip(&u);
                let product: Vec<T> =
                    (0..m).map(|row| columns().fold(T::ZERO, |sum, (column, &u)| sum + column[row] * u)).collect();
                for (column, &u) in b.chunks_exact_mut(m).skip(i + 1).zip(&u) {
                    let factor = taup[i].conj() * u.conj();
                    column.iter_mut().zip(&product).for_each(|(x, &y)| *x -= y * factor);
                }
            } else {
                assert!(taup[i] == T::ZERO, "{what}: the last reflector of P");
            }
            let mut v = a[i + i * m..(i + 1) * m].to_vec();
            v[0] = T::ONE;
            assert_unitary(&v, tauq[i], &what);
            for column in b.chunks_exact_mut(m) {
                let column = &mut column[i..];
                let factor = tauq[i] * column.iter().zip(&v).fold(T::ZERO, |sum, (&x, v)| sum + v.conj() * x);
                column.iter_mut().zip(&v).for_each(|(x, &v)| *x -= v * factor);
            }
        }
        let norm = |x: &mut dyn Iterator<Item = T>| x.map(|x| x.abs().to_f64().powi(2)).sum::<f64>().sqrt();
        let error = norm(&mut b.iter().zip(before).map(|(&x, &y)| x - y));
        let bound = (20 + m) as f64 * T::EPSILON.to_f64() * norm(&mut before.iter().copied());
        assert!(error <= bound, "{what}: A - Q B P^H has norm {error}, more than {bound}");
    }
}

fn adjoint<T: Scalar>(a: &[T], (m, n): (usize, usize)) -> Vec<T> {
    (0..m * n).map(|at| a[at / n + at % n * m].conj()).collect()
}

/// Checks that I - tau v vᴴ is unitary.
fn assert_unitary<T: Scalar>(v: &[T], tau: T, what: &str) {
    let squares: f64 = v.iter().map(|x| x.abs().to_f64().powi(2)).sum();
    let error = (2.0 * tau.re().to_f64() - tau.abs().to_f64().powi(2) * squares).abs();
    assert!(error <= 100.0 * T::EPSILON.to_f64(), "{what}: a reflector is not unitary by {error}");
}
