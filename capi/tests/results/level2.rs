//! The routines of Level 2 that several threads compute, with CBLAS and beside loops over elements.

use crate::{
    element::{Choice, Element, OPS, ORDERS, Order, each_type, int, read, write},
    shared::{library, symbol},
};
use libloading::Library;
use superscalar::kernels::{Op, Scalar, c32, c64};
use superscalar_oracle::{Nearness, Random, Stored, assert_near};

type Gemv<T> = unsafe extern "C" fn(
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
type Ger<T> = unsafe extern "C" fn(i32, i32, i32, <T as Element>::Argument, *const T, i32, *const T, i32, *mut T, i32);

const SHAPES: [(usize, usize); 6] = [(0, 3), (3, 0), (1, 1), (6, 40), (40, 7), (97, 61)];
/// The increments of x and y.
const INCREMENTS: [(i32, i32); 4] = [(1, 1), (2, 1), (-1, 3), (1, -2)];

/// n elements with this increment, and one more behind each.
fn vector<T: Scalar>(numbers: &mut Random, n: usize, inc: i32) -> Vec<T> {
    (0..n * inc.unsigned_abs() as usize + 1).map(|_| numbers.integer()).collect()
}

/// The index of element i of n.
fn at(i: usize, n: usize, inc: i32) -> usize {
    (if inc < 0 { n - 1 - i } else { i }) * inc.unsigned_abs() as usize
}

fn each_case(mut check: impl FnMut(Order, (usize, usize), (i32, i32))) {
    let shapes = ORDERS.into_iter().flat_map(|order| SHAPES.map(|shape| (order, shape)));
    for ((order, shape), increments) in shapes.flat_map(|it| INCREMENTS.map(|increments| (it, increments))) {
        check(order, shape, increments);
    }
}

#[test]
fn products_with_vectors() {
    each_type! { check_products(&library()) }
}

fn check_products<T: Element>(library: &Library) {
    let gemv = symbol::<Gemv<T>>(library, &format!("cblas_{}gemv", T::LETTER));
    let mut numbers = Random::new(41);
    each_case(|order, (m, n), (incx, incy)| {
        for op in OPS {
            let (of_y, of_x) = if op == Op::None { (m, n) } else { (n, m) };
            let a: Stored<T> = order.integers(&mut numbers, (m, n));
            let [x, y] = [(of_x, incx), (of_y, incy)].map(|(n, inc)| vector::<T>(&mut numbers, n, inc));
            let [alpha, beta]: [T; 2] = [(); 2].map(|()| numbers.integer());
            let (mut found, mut right) = (y.clone(), y);
            let ((at_a, lda), (code, op_code)) = (read(order, &a), (order.code(), op.code()));
            let (m_, n_, x_, y_) = (int(m), int(n), x.as_ptr(), found.as_mut_ptr());
            let (alpha_, beta_) = (alpha.argument(), beta.argument());
            // SAFETY: the symbol has this type, and the operands these sizes.
            unsafe { gemv(code, op_code, m_, n_, alpha_, at_a, lda, x_, incx, beta_, y_, incy) };
            let element = |i: usize, j: usize| match op {
                Op::None => a.at(i, j),
                Op::Trans => a.at(j, i),
                Op::ConjTrans => a.at(j, i).conj(),
            };
            // As in the reference, y stays as it is if A has no elements.
            for i in 0..if m == 0 || n == 0 { 0 } else { of_y } {
                let sum = (0..of_x).map(|j| element(i, j) * x[at(j, of_x, incx)]).sum::<T>();
                let y = &mut right[at(i, of_y, incy)];
                *y = alpha * sum + beta * *y;
            }
            let what = || format!("{}gemv {order:?} {op:?} {m} x {n} by {incx} and {incy}", T::LETTER);
            assert_near(&found, &right, Nearness::Exact, what);
        }
    });
}

#[test]
fn rank_one_updates() {
    check_updates::<f32>(&library(), "ger", |y| y);
    check_updates::<f64>(&library(), "ger", |y| y);
    check_updates::<c32>(&library(), "geru", |y| y);
    check_updates::<c64>(&library(), "geru", |y| y);
    check_updates::<c32>(&library(), "gerc", |y| y.conj());
    check_updates::<c64>(&library(), "gerc", |y| y.conj());
}

fn check_updates<T: Element>(library: &Library, routine: &str, second: impl Fn(T) -> T) {
    let ger = symbol::<Ger<T>>(library, &format!("cblas_{}{routine}", T::LETTER));
    let mut numbers = Random::new(42);
    each_case(|order, (m, n), (incx, incy)| {
        let a: Stored<T> = order.integers(&mut numbers, (m, n));
        let [x, y] = [(m, incx), (n, incy)].map(|(n, inc)| vector::<T>(&mut numbers, n, inc));
        let (alpha, mut found, mut right): (T, _, _) = (numbers.integer(), a.clone(), a.clone());
        let ((at_a, lda), sizes) = (write(order, &mut found), [m, n].map(int));
        let (x_, y_, code) = (x.as_ptr(), y.as_ptr(), order.code());
        // SAFETY: the symbol has this type, and the operands these sizes.
        unsafe { ger(code, sizes[0], sizes[1], alpha.argument(), x_, incx, y_, incy, at_a, lda) };
        for (i, j) in (0..n).flat_map(|j| (0..m).map(move |i| (i, j))) {
            let product = x[at(i, m, incx)] * second(y[at(j, n, incy)]);
            right.set(i, j, a.at(i, j) + alpha * product);
        }
        found.assert_near(&right, Nearness::Exact, || format!("{routine} {order:?} {m} x {n} by {incx} and {incy}"));
    });
}
