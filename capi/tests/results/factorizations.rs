//! Cholesky, QR and LQ factorizations and least squares with LAPACKE.

use crate::{
    element::{Element, ORDERS, UPLOS, each_type, int, read, write},
    lapacke::{NRHS, assert_small, name},
    shared::{library, symbol},
};
use libloading::Library;
use superscalar::kernels::{Op, Scalar, Uplo};
use superscalar_oracle::{Random, Storage, Stored, Wide, residual};

type Potrf<T> = unsafe extern "C" fn(i32, u8, i32, *mut T, i32) -> i32;
type Potrs<T> = unsafe extern "C" fn(i32, u8, i32, i32, *const T, i32, *mut T, i32) -> i32;
type Posv<T> = unsafe extern "C" fn(i32, u8, i32, i32, *mut T, i32, *mut T, i32) -> i32;
type Geqrf<T> = unsafe extern "C" fn(i32, i32, i32, *mut T, i32, *mut T) -> i32;
type Gels<T> = unsafe extern "C" fn(i32, u8, i32, i32, i32, *mut T, i32, *mut T, i32) -> i32;

/// The Hermitian matrix of which one triangle is stored, with a real diagonal.
fn hermitian<T: Scalar>(uplo: Uplo, a: &Stored<T>) -> Wide {
    let n = a.shape().0;
    let whole = Stored::new((n, n), |i, j| match (i == j, (i > j) == (uplo == Uplo::Lower)) {
        (true, _) => T::from_real(a.at(i, i).re()),
        (false, true) => a.at(i, j),
        (false, false) => a.at(j, i).conj(),
    });
    whole.wide()
}

#[test]
fn cholesky() {
    each_type! { check_cholesky(&library()) }
}

fn check_cholesky<T: Element>(library: &Library) {
    let potrf = symbol::<Potrf<T>>(library, &name::<T>("potrf"));
    let potri = symbol::<Potrf<T>>(library, &name::<T>("potri"));
    let potrs = symbol::<Potrs<T>>(library, &name::<T>("potrs"));
    let posv = symbol::<Posv<T>>(library, &name::<T>("posv"));
    let mut numbers = Random::new(21);
    let all = ORDERS.into_iter().flat_map(|order| UPLOS.map(|uplo| (order, uplo)));
    for ((order, uplo), n) in all.flat_map(|it| [1, 4, 15, 38, 130].map(|n| (it, n))) {
        // The other triangle is NaN: it is neither read nor written.
        let stored: Stored<T> = Stored::definite_triangle(&mut numbers, uplo, n, order.layout());
        let (a, b): (Wide, Stored<T>) = (hermitian(uplo, &stored), order.fractions(&mut numbers, (n, NRHS)));
        let is_other = |i: usize, j: usize| if uplo == Uplo::Lower { i < j } else { i > j };
        let (code, letter, sizes) = (order.code(), uplo.letter() as u8, [n, NRHS].map(int));
        let mut factor = stored.clone();
        let (at, ld) = write(order, &mut factor);
        // SAFETY: the symbol has this type, and the matrix this order.
        assert_eq!(unsafe { potrf(code, letter, sizes[0], at, ld) }, 0);
        factor.assert_kept(&stored, "potrf", is_other);
        let storage = if uplo == Uplo::Lower { Storage::LOWER } else { Storage::UPPER };
        let triangle = Wide::stored(storage, factor.view());
        let l = if uplo == Uplo::Lower { triangle } else { triangle.adjoint() };
        assert_small::<T>("A = L Lᴴ", order, (n, n), residual::cholesky::<T>(&a, &l));
        let mut x = b.clone();
        let ((at_l, ld), (at, ld_x)) = (read(order, &factor), write(order, &mut x));
        // SAFETY: the symbol has this type, and the matrices these sizes.
        assert_eq!(unsafe { potrs(code, letter, sizes[0], sizes[1], at_l, ld, at, ld_x) }, 0);
        x.assert_padding("potrs");
        assert_small::<T>("potrs", order, (n, n), residual::solve::<T>(&a, &x.wide(), &b.wide()));
        let (mut again, mut x) = (stored.clone(), b.clone());
        let ((at_a, ld), (at, ld_x)) = (write(order, &mut again), write(order, &mut x));
        // SAFETY: the symbol has this type, and the matrices these sizes.
        assert_eq!(unsafe { posv(code, letter, sizes[0], sizes[1], at_a, ld, at, ld_x) }, 0);
        again.assert_kept(&stored, "posv", is_other);
        assert_small::<T>("posv", order, (n, n), residual::solve::<T>(&a, &x.wide(), &b.wide()));
        let (at, ld) = write(order, &mut factor);
        // SAFETY: the symbol has this type, and the matrix this order.
        assert_eq!(unsafe { potri(code, letter, sizes[0], at, ld) }, 0);
        factor.assert_kept(&stored, "potri", is_other);
        assert_small::<T>("potri", order, (n, n), residual::inverse::<T>(&a, &hermitian(uplo, &factor)));
    }
}

#[test]
fn orthogonal_factors() {
    each_type! { check_orthogonal_factors(&library()) }
}

fn check_orthogonal_factors<T: Element>(library: &Library) {
    let [geqrf, gelqf] = ["geqrf", "gelqf"].map(|routine| symbol::<Geqrf<T>>(library, &name::<T>(routine)));
    let mut numbers = Random::new(22);
    for (order, (m, n)) in ORDERS
        .into_iter()
        .flat_map(|order| [(1, 1), (9, 4), (4, 9), (33, 33), (61, 17), (17, 61)].map(|it| (order, it)))
    {
        let a: Stored<T> = order.fractions(&mut numbers, (m, n));
        let (mut qr, mut lq, mut tau) = (a.clone(), a.clone(), vec![T::from_f64(f64::NAN); m.min(n)]);
        let (at, ld) = write(order, &mut qr);
        // SAFETY: the symbol has this type, and the arrays these sizes.
        assert_eq!(unsafe { geqrf(order.code(), int(m), int(n), at, ld, tau.as_mut_ptr()) }, 0);
        qr.assert_padding("geqrf");
        let q = qr.wide().q_of_columns(&tau);
        let product = q.times(&qr.part(|i, j| i <= j));
        assert_small::<T>("A = Q R", order, (m, n), residual::difference::<T>(&a.wide(), &product));
        assert_small::<T>("Q", order, (m, n), residual::orthogonality::<T>(&q));
        let (at, ld) = write(order, &mut lq);
        // SAFETY: the symbol has this type, and the arrays these sizes.
        assert_eq!(unsafe { gelqf(order.code(), int(m), int(n), at, ld, tau.as_mut_ptr()) }, 0);
        lq.assert_padding("gelqf");
        let product = lq.part(|i, j| i >= j).times(&lq.wide().q_of_rows(&tau));
        assert_small::<T>("A = L Q", order, (m, n), residual::difference::<T>(&a.wide(), &product));
    }
}

/// The residual of overdetermined systems is orthogonal to the columns of op(A); underdetermined ones are solved.
#[test]
fn least_squares() {
    each_type! { check_least_squares(&library()) }
}

fn check_least_squares<T: Element>(library: &Library) {
    let gels = symbol::<Gels<T>>(library, &name::<T>("gels"));
    let mut numbers = Random::new(23);
    let shapes = [(1, 1), (12, 5), (5, 12), (29, 29), (64, 21), (21, 64)];
    let all = ORDERS.into_iter().flat_map(|order| shapes.map(|shape| (order, shape)));
    for ((order, (m, n)), op) in all.flat_map(|it| ops::<T>().map(|op| (it, op))) {
        let a: Stored<T> = order.fractions(&mut numbers, (m, n));
        let of = a.wide().op(op);
        let (rows, columns) = of.shape();
        let b: Stored<T> = order.fractions(&mut numbers, (m.max(n), NRHS));
        let (mut factors, mut x) = (a.clone(), b.clone());
        let ((at, ld), (at_b, ld_b)) = (write(order, &mut factors), write(order, &mut x));
        let (code, sizes) = (order.code(), [m, n, NRHS].map(int));
        // SAFETY: the symbol has this type, and the matrices these sizes.
        let info = unsafe { gels(code, op.letter() as u8, sizes[0], sizes[1], sizes[2], at, ld, at_b, ld_b) };
        assert_eq!(info, 0);
        x.assert_padding("gels");
        let (x, b) = (x.wide().submatrix(0..columns, 0..NRHS), b.wide().submatrix(0..rows, 0..NRHS));
        let rest = b.minus(&of.times(&x));
        let (rest, size) = match rows > columns {
            true => (of.adjoint().times(&rest).norm_one(), of.norm_one().powi(2) * x.norm_one()),
            false => (rest.norm_one(), of.norm_one() * x.norm_one()),
        };
        assert_small::<T>(&format!("gels {op:?}"), order, (m, n), residual::scaled::<T>(rest, size, m.max(n)));
    }
}

/// The operations that gels accepts.
fn ops<T: Scalar>() -> [Op; 2] {
    [Op::None, if T::COMPLEX { Op::ConjTrans } else { Op::Trans }]
}
