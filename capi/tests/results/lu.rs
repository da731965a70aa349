//! LU factorizations with LAPACKE. The matrices are random, so that the interchanges depend on their order.

use crate::{
    element::{Element, OPS, ORDERS, each_type, int, read, write},
    lapacke::{NRHS, assert_small, name},
    shared::{library, symbol},
};
use libloading::Library;
use superscalar::kernels::{Direction, Op, Real, Scalar, reference};
use superscalar_oracle::{Nearness, Random, Stored, residual};

type Getrf<T> = unsafe extern "C" fn(i32, i32, i32, *mut T, i32, *mut i32) -> i32;
type Getrs<T> = unsafe extern "C" fn(i32, u8, i32, i32, *const T, i32, *const i32, *mut T, i32) -> i32;
type Getri<T> = unsafe extern "C" fn(i32, i32, *mut T, i32, *const i32) -> i32;
type Gesv<T> = unsafe extern "C" fn(i32, i32, i32, *mut T, i32, *mut i32, *mut T, i32) -> i32;
type Laswp<T> = unsafe extern "C" fn(i32, i32, *mut T, i32, i32, i32, *const i32, i32) -> i32;

/// Shapes of one tile, of whole tiles, and ragged ones. The largest has several panels by default, too.
const SHAPES: [(usize, usize); 9] =
    [(1, 1), (3, 3), (10, 10), (17, 17), (23, 41), (41, 23), (64, 64), (90, 90), (170, 170)];

/// Asserts that interchanges are those of partial pivoting, and that many rows move.
fn assert_pivoted<T: Scalar>(lu: &Stored<T>, ipiv: &[i32]) {
    let (m, n) = lu.shape();
    // LAPACK compares |re| + |im|, which is up to √2 of the modulus.
    let limit = if T::COMPLEX { std::f64::consts::SQRT_2 } else { 1.0 } * (1.0 + 8.0 * residual::epsilon::<T>());
    for (i, j) in (0..n.min(m)).flat_map(|j| (j + 1..m).map(move |i| (i, j))) {
        assert!(lu.at(i, j).abs().to_f64() <= limit, "a factor at ({i}, {j}) of {m} x {n}: {}", lu.at(i, j));
    }
    assert!(ipiv.iter().enumerate().all(|(i, &p)| p as usize > i && p as usize <= m), "{ipiv:?}");
    let moved = ipiv.iter().enumerate().filter(|&(i, &p)| p as usize != i + 1).count();
    assert!(m < 10 || 3 * moved > ipiv.len(), "{ipiv:?}");
}

#[test]
fn factors_with_interchanges() {
    each_type! { check_factors(&library()) }
}

fn check_factors<T: Element>(library: &Library) {
    let getrf = symbol::<Getrf<T>>(library, &name::<T>("getrf"));
    let getrs = symbol::<Getrs<T>>(library, &name::<T>("getrs"));
    let getri = symbol::<Getri<T>>(library, &name::<T>("getri"));
    let mut numbers = Random::new(11);
    for (order, shape) in ORDERS.into_iter().flat_map(|order| SHAPES.map(|shape| (order, shape))) {
        let (m, n) = shape;
        let a: Stored<T> = order.fractions(&mut numbers, shape);
        let (mut lu, mut ipiv) = (a.clone(), vec![-1; m.min(n)]);
        let (at, ld) = write(order, &mut lu);
        // SAFETY: the symbol has this type, and the arrays these sizes.
        let info = unsafe { getrf(order.code(), int(m), int(n), at, ld, ipiv.as_mut_ptr()) };
        assert_eq!(info, 0, "{shape:?}");
        lu.assert_padding("getrf");
        assert_pivoted(&lu, &ipiv);
        assert_small::<T>("P A = L U", order, shape, residual::lu::<T>(&a.wide(), lu.view(), &ipiv));
        if m != n {
            continue;
        }
        for op in OPS {
            let b: Stored<T> = order.fractions(&mut numbers, (n, NRHS));
            let mut x = b.clone();
            let ((factors, ld), (at, ld_x)) = (read(order, &lu), write(order, &mut x));
            let (code, nrhs, ipiv) = (order.code(), int(NRHS), ipiv.as_ptr());
            // SAFETY: the symbol has this type, and the arrays these sizes.
            assert_eq!(unsafe { getrs(code, op.letter() as u8, int(n), nrhs, factors, ld, ipiv, at, ld_x) }, 0);
            x.assert_padding("getrs");
            let figure = residual::solve::<T>(&a.wide().op(op), &x.wide(), &b.wide());
            assert_small::<T>(&format!("{op:?} A X = B"), order, shape, figure);
        }
        let (at, ld) = write(order, &mut lu);
        // SAFETY: the symbol has this type, and the arrays these sizes.
        assert_eq!(unsafe { getri(order.code(), int(n), at, ld, ipiv.as_ptr()) }, 0);
        lu.assert_padding("getri");
        assert_small::<T>("A inv(A) = 1", order, shape, residual::inverse::<T>(&a.wide(), &lu.wide()));
    }
}

#[test]
fn systems_with_interchanges() {
    each_type! { check_systems(&library()) }
}

fn check_systems<T: Element>(library: &Library) {
    let gesv = symbol::<Gesv<T>>(library, &name::<T>("gesv"));
    let mut numbers = Random::new(12);
    for (order, n) in ORDERS.into_iter().flat_map(|order| [1, 8, 31, 75].map(|n| (order, n))) {
        let (a, b): (Stored<T>, Stored<T>) =
            (order.fractions(&mut numbers, (n, n)), order.fractions(&mut numbers, (n, NRHS)));
        let (mut lu, mut x, mut ipiv) = (a.clone(), b.clone(), vec![-1; n]);
        let ((at, ld), (at_x, ld_x)) = (write(order, &mut lu), write(order, &mut x));
        // SAFETY: the symbol has this type, and the arrays these sizes.
        let info = unsafe { gesv(order.code(), int(n), int(NRHS), at, ld, ipiv.as_mut_ptr(), at_x, ld_x) };
        assert_eq!(info, 0, "order {n}");
        assert_pivoted(&lu, &ipiv);
        let figure = residual::solve::<T>(&a.wide().op(Op::None), &x.wide(), &b.wide());
        assert_small::<T>("A X = B", order, (n, n), figure);
    }
}

/// A column of zeros: the factors are complete, `info` names the column, and B of gesv is unchanged.
#[test]
fn singular_factors() {
    each_type! { check_singular(&library()) }
}

fn check_singular<T: Element>(library: &Library) {
    let gesv = symbol::<Gesv<T>>(library, &name::<T>("gesv"));
    let mut numbers = Random::new(13);
    for (order, (n, zero)) in ORDERS.into_iter().flat_map(|order| [(1, 0), (9, 4), (40, 22)].map(|it| (order, it))) {
        let a = Stored::laid_out((n, n), order.layout(), |_, j| if j == zero { T::ZERO } else { numbers.fraction() });
        let b: Stored<T> = order.fractions(&mut numbers, (n, NRHS));
        let (mut lu, mut x, mut ipiv) = (a.clone(), b.clone(), vec![-1; n]);
        let ((at, ld), (at_x, ld_x)) = (write(order, &mut lu), write(order, &mut x));
        // SAFETY: the symbol has this type, and the arrays these sizes.
        let info = unsafe { gesv(order.code(), int(n), int(NRHS), at, ld, ipiv.as_mut_ptr(), at_x, ld_x) };
        assert_eq!(info, int(zero + 1), "order {n}");
        assert!(x == b, "B of a singular system of order {n}");
        assert_small::<T>("P A = L U", order, (n, n), residual::lu::<T>(&a.wide(), lu.view(), &ipiv));
    }
}

#[test]
fn interchanges_of_rows() {
    each_type! { check_interchanges(&library()) }
}

fn check_interchanges<T: Element>(library: &Library) {
    let laswp = symbol::<Laswp<T>>(library, &name::<T>("laswp"));
    let mut numbers = Random::new(14);
    let (m, n, ipiv) = (9, 6, [4, 7, 3, 9, 6, 6, 8]);
    for (order, (direction, incx)) in
        ORDERS.into_iter().flat_map(|order| [(Direction::Forward, 1), (Direction::Backward, -1)].map(|it| (order, it)))
    {
        let a: Stored<T> = order.integers(&mut numbers, (m, n));
        let (mut found, mut right) = (a.clone(), a.clone());
        let (at, ld) = write(order, &mut found);
        // SAFETY: the symbol has this type, and the arrays these sizes.
        let info = unsafe { laswp(order.code(), int(n), at, ld, 1, int(ipiv.len()), ipiv.as_ptr(), incx) };
        assert_eq!(info, 0);
        reference::laswp(right.view_mut(), &ipiv, direction);
        found.assert_near(&right, Nearness::Exact, || format!("laswp {order:?} {direction:?}"));
    }
}
