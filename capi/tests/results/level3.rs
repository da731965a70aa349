//! Level 3 with CBLAS, beside the reference kernels.

use crate::{
    element::{Choice, DIAGS, Element, OPS, ORDERS, Order, SIDES, UPLOS, each_type, int, read, write},
    shared::{library, symbol},
};
use libloading::Library;
use superscalar::kernels::{MatMut, Op, Scalar, Side, c32, c64, reference};
use superscalar_oracle::{Nearness, Random, Stored};

/// Sizes m, n and k: smaller than a tile, of whole tiles, ragged, and empty.
const SIZES: [[usize; 3]; 5] = [[4, 3, 2], [10, 15, 5], [23, 17, 11], [0, 6, 7], [8, 9, 0]];

/// The type of gemm, and of gemmt, which has a triangle in place of m.
type Product<T> = unsafe extern "C" fn(
    i32,
    i32,
    i32,
    i32,
    i32,
    i32,
    <T as Element>::Argument,
    *const T,
    i32,
    *const T,
    i32,
    <T as Element>::Argument,
    *mut T,
    i32,
);

/// The type of symm, hemm, syr2k (with `S` as `T`'s argument) and her2k (with `S` as a real number).
type TwoFactors<T, S> = unsafe extern "C" fn(
    i32,
    i32,
    i32,
    i32,
    i32,
    <T as Element>::Argument,
    *const T,
    i32,
    *const T,
    i32,
    S,
    *mut T,
    i32,
);
/// The type of syrk (with `S` as `T`'s argument) and herk (with `S` as a real number).
type OneFactor<T, S> = unsafe extern "C" fn(i32, i32, i32, i32, i32, S, *const T, i32, S, *mut T, i32);
type Triangular<T> =
    unsafe extern "C" fn(i32, i32, i32, i32, i32, i32, i32, <T as Element>::Argument, *const T, i32, *mut T, i32);

fn name<T: Scalar>(routine: &str) -> String {
    format!("cblas_{}{routine}", T::LETTER)
}

/// A shape for which op(A) has the shape m x n.
fn stored(op: Op, (m, n): (usize, usize)) -> (usize, usize) {
    if op == Op::None { (m, n) } else { (n, m) }
}

/// Compares the result of `call` with that of `expected`, which get the same matrix. The padding must not change.
fn compare<T: Scalar>(
    what: &str,
    given: &Stored<T>,
    nearness: Nearness,
    expected: impl FnOnce(MatMut<'_, T>),
    call: impl FnOnce(&mut Stored<T>),
) {
    let (mut found, mut right) = (given.clone(), given.clone());
    call(&mut found);
    expected(right.view_mut());
    found.assert_near(&right, nearness, || format!("{what}, {}, {:?}", T::LETTER, given.shape()));
}

/// beta, and C: NaN where a beta of zero must overwrite it.
fn beta_and_c<T: Scalar>(order: Order, numbers: &mut Random, shape: (usize, usize)) -> (T, Stored<T>) {
    if numbers.below(3) == 0 {
        return (T::ZERO, Stored::laid_out(shape, order.layout(), |_, _| T::from_f64(f64::NAN)));
    }
    (numbers.integer(), order.integers(numbers, shape))
}

#[test]
fn products() {
    each_type! { check_products(&library()) }
}

fn check_products<T: Element>(library: &Library) {
    let (gemm, gemmt) = (symbol::<Product<T>>(library, &name::<T>("gemm")), name::<T>("gemmt"));
    let gemmt = symbol::<Product<T>>(library, &gemmt);
    let mut numbers = Random::new(1);
    for (order, [m, n, k]) in ORDERS.into_iter().flat_map(|order| SIZES.map(|sizes| (order, sizes))) {
        for (op_a, op_b) in OPS.into_iter().flat_map(|op_a| OPS.map(|op_b| (op_a, op_b))) {
            let what = format!("gemm {order:?} {op_a:?} {op_b:?}");
            let a: Stored<T> = order.integers(&mut numbers, stored(op_a, (m, k)));
            let b: Stored<T> = order.integers(&mut numbers, stored(op_b, (k, n)));
            let alpha: T = numbers.integer();
            let (beta, c) = beta_and_c::<T>(order, &mut numbers, (m, n));
            let ((at_a, lda), (at_b, ldb)) = (read(order, &a), read(order, &b));
            let right = |c: MatMut<'_, T>| reference::gemm(alpha, op_a, a.view(), op_b, b.view(), beta, c);
            compare(&what, &c, Nearness::Exact, right, |c| {
                let ((c, ldc), [m, n, k]) = (write(order, c), [m, n, k].map(int));
                let (alpha, beta) = (alpha.argument(), beta.argument());
                let (code, op_a, op_b) = (order.code(), op_a.code(), op_b.code());
                // SAFETY: the symbol has this type, and the matrices these sizes.
                unsafe { gemm(code, op_a, op_b, m, n, k, alpha, at_a, lda, at_b, ldb, beta, c, ldc) }
            });
            let a: Stored<T> = order.integers(&mut numbers, stored(op_a, (n, k)));
            let (beta, c) = beta_and_c::<T>(order, &mut numbers, (n, n));
            let (at_a, lda) = read(order, &a);
            for uplo in UPLOS {
                let right = |c: MatMut<'_, T>| reference::gemmt(uplo, alpha, op_a, a.view(), op_b, b.view(), beta, c);
                compare(&format!("gemmt of {what} {uplo:?}"), &c, Nearness::Exact, right, |c| {
                    let ((c, ldc), [n, k]) = (write(order, c), [n, k].map(int));
                    let (alpha, beta) = (alpha.argument(), beta.argument());
                    let (code, uplo, op_a, op_b) = (order.code(), uplo.code(), op_a.code(), op_b.code());
                    // SAFETY: the symbol has this type, and the matrices these sizes.
                    unsafe { gemmt(code, uplo, op_a, op_b, n, k, alpha, at_a, lda, at_b, ldb, beta, c, ldc) }
                });
            }
        }
    }
}

#[test]
fn symmetric_products() {
    each_type! { check_symmetric_products(&library(), false) }
    check_symmetric_products::<c32>(&library(), true);
    check_symmetric_products::<c64>(&library(), true);
}

fn check_symmetric_products<T: Element>(library: &Library, is_hermitian: bool) {
    let routine = if is_hermitian { "hemm" } else { "symm" };
    let symm = symbol::<TwoFactors<T, T::Argument>>(library, &name::<T>(routine));
    let mut numbers = Random::new(2);
    for (order, [m, n, _]) in ORDERS.into_iter().flat_map(|order| SIZES.map(|sizes| (order, sizes))) {
        for (side, uplo) in SIDES.into_iter().flat_map(|side| UPLOS.map(|uplo| (side, uplo))) {
            let size = if side == Side::Left { m } else { n };
            let [a, b]: [Stored<T>; 2] = [(size, size), (m, n)].map(|shape| order.integers(&mut numbers, shape));
            let alpha: T = numbers.integer();
            let (beta, c) = beta_and_c::<T>(order, &mut numbers, (m, n));
            let right = |c: MatMut<'_, T>| match is_hermitian {
                false => reference::symm(side, uplo, alpha, a.view(), b.view(), beta, c),
                true => reference::hemm(side, uplo, alpha, a.view(), b.view(), beta, c),
            };
            compare(&format!("{routine} {order:?} {side:?} {uplo:?}"), &c, Nearness::Exact, right, |c| {
                let ((a, lda), (b, ldb), (c, ldc)) = (read(order, &a), read(order, &b), write(order, c));
                let ([m, n], code, side, uplo) = ([m, n].map(int), order.code(), side.code(), uplo.code());
                // SAFETY: the symbol has this type, and the matrices these sizes.
                unsafe { symm(code, side, uplo, m, n, alpha.argument(), a, lda, b, ldb, beta.argument(), c, ldc) }
            });
        }
    }
}

#[test]
fn symmetric_updates() {
    each_type! { check_symmetric_updates(&library()) }
    check_hermitian_updates::<c32>(&library());
    check_hermitian_updates::<c64>(&library());
}

fn check_symmetric_updates<T: Element>(library: &Library) {
    let syrk = symbol::<OneFactor<T, T::Argument>>(library, &name::<T>("syrk"));
    let syr2k = symbol::<TwoFactors<T, T::Argument>>(library, &name::<T>("syr2k"));
    let mut numbers = Random::new(3);
    for (order, [_, n, k]) in ORDERS.into_iter().flat_map(|order| SIZES.map(|sizes| (order, sizes))) {
        for (uplo, op) in UPLOS.into_iter().flat_map(|uplo| [Op::None, Op::Trans].map(|op| (uplo, op))) {
            let [a, b]: [Stored<T>; 2] = [(); 2].map(|()| order.integers(&mut numbers, stored(op, (n, k))));
            let alpha: T = numbers.integer();
            let (beta, c) = beta_and_c::<T>(order, &mut numbers, (n, n));
            let ((at_a, lda), (at_b, ldb), sizes) = (read(order, &a), read(order, &b), [n, k].map(int));
            let (factor, codes) = (alpha.argument(), (order.code(), uplo.code(), op.code()));
            let right = |c: MatMut<'_, T>| reference::syrk(uplo, op, alpha, a.view(), beta, c);
            compare(&format!("syrk {order:?} {uplo:?} {op:?}"), &c, Nearness::Exact, right, |c| {
                let ((c, ldc), [n, k], (code, uplo, op)) = (write(order, c), sizes, codes);
                // SAFETY: the symbol has this type, and the matrices these sizes.
                unsafe { syrk(code, uplo, op, n, k, factor, at_a, lda, beta.argument(), c, ldc) }
            });
            let right = |c: MatMut<'_, T>| reference::syr2k(uplo, op, alpha, a.view(), b.view(), beta, c);
            compare(&format!("syr2k {order:?} {uplo:?} {op:?}"), &c, Nearness::Exact, right, |c| {
                let ((c, ldc), [n, k], (code, uplo, op)) = (write(order, c), sizes, codes);
                // SAFETY: the symbol has this type, and the matrices these sizes.
                unsafe { syr2k(code, uplo, op, n, k, factor, at_a, lda, at_b, ldb, beta.argument(), c, ldc) }
            });
        }
    }
}

fn check_hermitian_updates<T: Element>(library: &Library) {
    let herk = symbol::<OneFactor<T, T::Real>>(library, &name::<T>("herk"));
    let her2k = symbol::<TwoFactors<T, T::Real>>(library, &name::<T>("her2k"));
    let mut numbers = Random::new(4);
    for (order, [_, n, k]) in ORDERS.into_iter().flat_map(|order| SIZES.map(|sizes| (order, sizes))) {
        for (uplo, op) in UPLOS.into_iter().flat_map(|uplo| [Op::None, Op::ConjTrans].map(|op| (uplo, op))) {
            let [a, b]: [Stored<T>; 2] = [(); 2].map(|()| order.integers(&mut numbers, stored(op, (n, k))));
            // A factor or a depth of zero with a beta of one leaves the diagonal as it is; that is not compared here.
            let (alpha, beta) = (T::from_parts(T::Real::from_f64(2.0), -T::Real::ONE), T::Real::from_f64(-2.0));
            let c: Stored<T> = order.integers(&mut numbers, (n, n));
            let ((at_a, lda), (at_b, ldb), sizes) = (read(order, &a), read(order, &b), [n, k].map(int));
            let codes = (order.code(), uplo.code(), op.code());
            let right = |c: MatMut<'_, T>| reference::herk(uplo, op, alpha.re(), a.view(), beta, c);
            compare(&format!("herk {order:?} {uplo:?} {op:?}"), &c, Nearness::Exact, right, |c| {
                let ((c, ldc), [n, k], (code, uplo, op)) = (write(order, c), sizes, codes);
                // SAFETY: the symbol has this type, and the matrices these sizes.
                unsafe { herk(code, uplo, op, n, k, alpha.re(), at_a, lda, beta, c, ldc) }
            });
            let right = |c: MatMut<'_, T>| reference::her2k(uplo, op, alpha, a.view(), b.view(), beta, c);
            compare(&format!("her2k {order:?} {uplo:?} {op:?}"), &c, Nearness::Exact, right, |c| {
                let ((c, ldc), [n, k], (code, uplo, op)) = (write(order, c), sizes, codes);
                // SAFETY: the symbol has this type, and the matrices these sizes.
                unsafe { her2k(code, uplo, op, n, k, alpha.argument(), at_a, lda, at_b, ldb, beta, c, ldc) }
            });
        }
    }
}

#[test]
fn triangles() {
    each_type! { check_triangles(&library()) }
}

fn check_triangles<T: Element>(library: &Library) {
    let trmm = symbol::<Triangular<T>>(library, &name::<T>("trmm"));
    let trsm = symbol::<Triangular<T>>(library, &name::<T>("trsm"));
    let (mut numbers, near) = (Random::new(5), Nearness::Roundoffs(64.0));
    for (order, [m, n, _]) in ORDERS.into_iter().flat_map(|order| SIZES.map(|sizes| (order, sizes))) {
        let options = SIDES.into_iter().flat_map(|side| UPLOS.map(|uplo| (side, uplo)));
        let options = options.flat_map(|(side, uplo)| OPS.map(|op| (side, uplo, op)));
        for ((side, uplo, op), diag) in options.flat_map(|it| DIAGS.map(|diag| (it, diag))) {
            let size = if side == Side::Left { m } else { n };
            let a: Stored<T> = Stored::triangular(&mut numbers, uplo, diag, size, order.layout());
            let (b, alpha): (Stored<T>, T) = (order.fractions(&mut numbers, (m, n)), numbers.unit());
            let what = format!("{order:?} {side:?} {uplo:?} {op:?} {diag:?}");
            let call = |routine: &Triangular<T>, b: &mut Stored<T>| {
                let ((a, lda), (b, ldb), [m, n]) = (read(order, &a), write(order, b), [m, n].map(int));
                let codes = (order.code(), side.code(), uplo.code(), op.code(), diag.code());
                // SAFETY: the symbols have this type, and the matrices these sizes.
                unsafe { routine(codes.0, codes.1, codes.2, codes.3, codes.4, m, n, alpha.argument(), a, lda, b, ldb) }
            };
            let right = |b: MatMut<'_, T>| reference::trmm(side, uplo, op, diag, alpha, a.view(), b);
            compare(&format!("trmm {what}"), &b, near, right, |b| call(&trmm, b));
            let right = |b: MatMut<'_, T>| reference::trsm(side, uplo, op, diag, alpha, a.view(), b);
            compare(&format!("trsm {what}"), &b, near, right, |b| call(&trsm, b));
        }
    }
}
