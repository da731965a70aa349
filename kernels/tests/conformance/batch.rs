//! Operations on batches: agreement with the host's kernels, problem by problem.
//!
//! Batches have one shape, or many shapes in any order in memory; between the matrices and their columns are gaps.
//! Elements that an operation must not read are NaN. Problems that fail must have the host's outcome.

use super::{
    OPS, SIDES, Suite, UPLOS,
    batch_case::{Case, Comparison, Shapes, members, near},
};
use superscalar_kernels::{Diag, MatMut, MatRef, Op, Scalar, Side, Uplo, device::Call, operations::BatchOperation};
use superscalar_oracle::{Random, is_full};

/// Returns the orders that are tested: around the sizes at which backends change from one kernel to the next.
fn orders<T: Scalar>(suite: &Suite<'_, T>) -> Vec<usize> {
    let mut orders: Vec<usize> =
        if suite.is_gpu() { (0..=66).collect() } else { vec![0, 1, 2, 3, 5, 8, 13, 16, 17, 33] };
    orders.extend(if suite.is_gpu() { &[96, 127, 128, 129, 255, 512][..] } else { &[70] });
    if is_full() {
        orders.extend(if suite.is_gpu() { &[700][..] } else { &[31, 32, 64, 65, 128, 129] });
    }
    orders
}

/// Returns the number of problems that are tested with an order: not a multiple of a block's, and few large ones.
fn count_for(n: usize) -> usize {
    match n {
        0..=9 => 37,
        10..=66 => 9,
        _ => 3,
    }
}

/// Runs a check for every order with batches of one shape, and once with all orders below 40 in one batch.
pub fn each_order<T: Scalar>(suite: &mut Suite<'_, T>, mut check: impl FnMut(&mut Suite<'_, T>, &[usize], bool)) {
    for n in orders(suite) {
        check(suite, &vec![n; count_for(n)], false);
    }
    let small: Vec<usize> = (0..40).map(|at| [at, 40 - at, 3, at / 2][at % 4]).collect();
    check(suite, &small, true);
    let most = if suite.is_gpu() { 300 } else { 70 };
    check(suite, &[most, 1, 40, most / 2, 0, 33, most, 9, 129.min(most)], true);
}

fn shapes(orders: &[usize], shape: impl Fn(usize) -> (usize, usize)) -> Shapes {
    orders.iter().map(|&n| shape(n)).collect()
}

/// Fills the triangle that is read.
fn triangle<T: Scalar>(uplo: Uplo, diag: Diag) -> impl Fn(&mut Random, usize, MatMut<'_, T>) {
    move |numbers, _, a| numbers.triangular(uplo, diag, a)
}

fn general<T: Scalar>(numbers: &mut Random, _: usize, a: MatMut<'_, T>) {
    numbers.general(a);
}

pub fn full_rank<T: Scalar>(numbers: &mut Random, _: usize, a: MatMut<'_, T>) {
    numbers.full_rank(a);
}

pub fn batch_gemm<T: Scalar>(suite: &mut Suite<'_, T>) {
    each_order(suite, |suite, orders, is_varied| {
        // C is m x n, with products of k: squares, columns (gemv), and other shapes.
        type Form = fn(usize) -> (usize, usize, usize);
        let forms: [Form; 3] = [|n| (n, n, n), |n| (n, 1, n + 3), |n| (n / 2 + 1, n, 5)];
        for form in forms {
            let turn = suite.turn();
            let ops = (OPS[turn % 3], if form(7).1 == 1 { Op::None } else { OPS[turn / 3 % 3] });
            let (alpha, beta) = suite.factors();
            let operation = BatchOperation::Gemm { ops, alpha, beta };
            let mut case = Case::new(suite, operation, orders.len(), is_varied);
            let of = |op: Op, (rows, cols): (usize, usize)| if op == Op::None { (rows, cols) } else { (cols, rows) };
            let hides = |hidden: bool| {
                move |numbers: &mut Random, _: usize, a: MatMut<'_, T>| {
                    if !hidden {
                        numbers.general(a)
                    }
                }
            };
            case.read(&shapes(orders, |n| of(ops.0, (form(n).0, form(n).2))), hides(alpha == T::ZERO));
            case.read(&shapes(orders, |n| of(ops.1, (form(n).2, form(n).1))), hides(alpha == T::ZERO));
            case.update(&shapes(orders, |n| (form(n).0, form(n).1)), hides(beta == T::ZERO));
            case.check(8.0, [true; 2]);
        }
    });
}

pub fn batch_trsm<T: Scalar>(suite: &mut Suite<'_, T>) {
    each_order(suite, |suite, orders, is_varied| {
        let all = orders[0] < 10 && !is_varied;
        for case in 0..if all { 24 } else { 5 } {
            let turn = if all { case } else { suite.turn() * 7 };
            let (side, uplo, op) = (SIDES[turn % 2], UPLOS[turn / 2 % 2], OPS[turn / 4 % 3]);
            let diag = if turn / 12 % 2 == 0 { Diag::NonUnit } else { Diag::Unit };
            let alpha = suite.factors().0;
            let vectors = [1, 5, 40][case % 3];
            let mut case =
                Case::new(suite, BatchOperation::Trsm { side, uplo, op, diag, alpha }, orders.len(), is_varied);
            case.read(&shapes(orders, |n| (n, n)), |numbers, p, a| {
                if alpha != T::ZERO {
                    triangle(uplo, diag)(numbers, p, a);
                }
            });
            case.update(&shapes(orders, |n| if side == Side::Left { (n, vectors) } else { (vectors, n) }), general);
            case.check(40.0, [true; 2]);
        }
    });
}

pub fn batch_cholesky<T: Scalar>(suite: &mut Suite<'_, T>) {
    each_order(suite, |suite, orders, is_varied| {
        for uplo in UPLOS {
            let square = shapes(orders, |n| (n, n));
            let sides = shapes(orders, |n| (n, 1 + n % 3));
            // Some are not definite, or have a NaN.
            let definite = |numbers: &mut Random, p: usize, mut a: MatMut<'_, T>| {
                let n = a.nrows();
                numbers.positive_definite(uplo, a.rb_mut());
                if n > 0 && p % 5 == 3 {
                    a[(n / 2, n / 2)] = [-T::ONE, T::ZERO, T::from_f64(f64::NAN)][p / 5 % 3];
                }
            };
            let mut case = Case::new(suite, BatchOperation::Potrf { uplo }, orders.len(), is_varied);
            case.update(&square, definite);
            case.with_info();
            case.check(20.0, [false; 2]);
            let mut case = Case::new(suite, BatchOperation::Posv { uplo }, orders.len(), is_varied);
            case.update(&square, definite);
            case.update(&sides, general);
            case.with_info();
            case.check(60.0, [false, true]);
            let mut case = Case::new(suite, BatchOperation::Potrs { uplo }, orders.len(), is_varied);
            case.read(&square, triangle(uplo, Diag::NonUnit));
            case.update(&sides, general);
            case.check(60.0, [true; 2]);
        }
    });
}

pub fn batch_lu<T: Scalar>(suite: &mut Suite<'_, T>) {
    each_order(suite, |suite, orders, is_varied| {
        let forms: [fn(usize) -> (usize, usize); 3] = [|n| (n, n), |n| (n + 5, n), |n| (n, n + 9)];
        for form in forms {
            let wanted = shapes(orders, form);
            let lengths: Vec<usize> = wanted.iter().map(|&(m, n)| m.min(n)).collect();
            // Some have a column of zeros.
            let some_singular = |numbers: &mut Random, p: usize, mut a: MatMut<'_, T>| {
                numbers.full_rank(a.rb_mut());
                let (m, n) = a.shape();
                if p % 5 == 3 && m.min(n) > 0 {
                    (0..m).for_each(|i| a[(i, m.min(n) / 2)] = T::ZERO);
                }
            };
            let mut case = Case::new(suite, BatchOperation::Getrf, orders.len(), is_varied);
            case.update(&wanted, some_singular);
            case.call.pivots = Some(case.write(lengths.iter().copied()));
            case.with_info();
            case.check(60.0, [true; 2]);
            let mut case = Case::new(suite, BatchOperation::GetrfNopiv, orders.len(), is_varied);
            case.update(&wanted, |numbers, p, mut a| {
                let (m, n) = a.shape();
                numbers.general(a.rb_mut());
                (0..m.min(n)).for_each(|i| a[(i, i)] += T::from_f64(2.0 * (m.max(n) as f64).sqrt()));
                if p % 5 == 3 && m.min(n) > 0 {
                    a[(0, 0)] = T::ZERO;
                }
            });
            case.with_info();
            case.check(60.0, [false; 2]);
        }
        let (square, sides) = (shapes(orders, |n| (n, n)), shapes(orders, |n| (n, 1 + n % 3)));
        let mut case = Case::new(suite, BatchOperation::Gesv, orders.len(), is_varied);
        case.update(&square, |numbers, p, mut a| {
            numbers.full_rank(a.rb_mut());
            (0..if p % 5 == 3 { a.nrows() } else { 0 }).for_each(|i| a[(i, 0)] = T::ZERO);
        });
        case.update(&sides, general);
        case.call.pivots = Some(case.write(orders.iter().copied()));
        case.with_info();
        case.check(100.0, [true; 2]);
        for op in OPS {
            let mut case = Case::new(suite, BatchOperation::Getrs { op }, orders.len(), is_varied);
            case.read(&square, |numbers, _, a| numbers.lu(a));
            case.update(&sides, general);
            let pivots = case.place(&shapes(orders, |n| (n, 1)), |numbers, _, mut ipiv: MatMut<'_, i32>| {
                let n = ipiv.nrows();
                (0..n).for_each(|i| ipiv[(i, 0)] = (i + 1 + numbers.below(n - i)) as i32);
            });
            case.call.pivots = Some(pivots);
            case.check(100.0, [true; 2]);
        }
    });
}

/// Returns how many more rows than columns a tall matrix has: as many, but below the limit of GPUs in c64, 700.
fn more_rows(n: usize) -> usize {
    n.min(690_usize.saturating_sub(n))
}

pub fn batch_qr<T: Scalar>(suite: &mut Suite<'_, T>) {
    each_order(suite, |suite, orders, is_varied| {
        let forms: [fn(usize) -> (usize, usize); 3] = [|n| (n, n), |n| (n + 3 + more_rows(n), n), |n| (n, n + 9)];
        for form in forms {
            let wanted = shapes(orders, form);
            let mut case = Case::new(suite, BatchOperation::Geqrf, orders.len(), is_varied);
            case.update(&wanted, full_rank);
            let tau = case.write(wanted.iter().map(|&(m, n)| m.min(n)));
            case.call.written.push(tau);
            case.check(100.0, [true; 2]);
        }
        // Reflectors for k of n columns.
        for k in [|n: usize| n, |n: usize| n / 2] {
            let tall = shapes(orders, |n| (n + 4, n));
            let reflectors: Vec<Vec<T>> = orders.iter().map(|&n| random_reflectors(suite, n + 4, k(n))).collect();
            let taus = |suite: &mut Suite<'_, T>| -> Vec<Vec<T>> {
                let taus = orders.iter().zip(&reflectors).map(|(&n, v)| scalars(suite, v, n + 4, k(n)));
                taus.collect()
            };
            let taus = taus(suite);
            let lengths = shapes(orders, |n| (k(n), 1));
            let mut case = Case::new(suite, BatchOperation::Ungqr, orders.len(), is_varied);
            case.read(&lengths, copied(&taus));
            case.update(&tall, copied(&reflectors));
            case.check(40.0, [true; 2]);
            for op in [Op::None, Op::ConjTrans] {
                let mut case = Case::new(suite, BatchOperation::Unmqr { op }, orders.len(), is_varied);
                case.read(&shapes(orders, |n| (n + 4, k(n))), copied(&reflectors));
                case.read(&lengths, copied(&taus));
                case.update(&shapes(orders, |n| (n + 4, 1 + n % 20)), general);
                case.check(40.0, [true; 2]);
            }
        }
        let mut case = Case::new(suite, BatchOperation::Gels, orders.len(), is_varied);
        case.update(&shapes(orders, |n| (n + more_rows(n) / 2, n)), |numbers, p, mut a| {
            numbers.full_rank(a.rb_mut());
            let n = a.ncols();
            (0..if p % 5 == 3 && n > 0 { a.nrows() } else { 0 }).for_each(|i| a[(i, n - 1)] = T::ZERO);
        });
        case.update(&shapes(orders, |n| (n + more_rows(n) / 2, 2)), general);
        case.with_info();
        case.check(400.0, [false; 2]);
    });
}

/// Returns V of k reflectors in columns of m rows, with NaN on and above the diagonal.
fn random_reflectors<T: Scalar>(suite: &mut Suite<'_, T>, m: usize, k: usize) -> Vec<T> {
    let mut v = vec![T::from_f64(f64::NAN); m * k];
    suite.numbers.reflectors(MatMut::from_col_major(&mut v, m, k, m).expect("a matrix"));
    v
}

fn scalars<T: Scalar>(suite: &mut Suite<'_, T>, v: &[T], m: usize, k: usize) -> Vec<T> {
    let mut tau = vec![T::ZERO; k];
    let v = MatRef::from_col_major(v, m, k, m).expect("a matrix");
    suite.numbers.reflector_scalars(v, MatMut::from_col_major(&mut tau, k, 1, k.max(1)).expect("a column"));
    tau
}

/// Matrices whose panels are beyond the local memory that OpenCL kernels copy them to, beside smaller ones.
pub fn batch_high<T: Scalar>(suite: &mut Suite<'_, T>) {
    let most = 2048 / size_of::<T>() + 9;
    for is_varied in [false, true] {
        let orders = if is_varied { vec![20, most, 3] } else { vec![most; 2] };
        let (high, lengths) = (shapes(&orders, |n| (n, n.min(19))), shapes(&orders, |n| (n.min(19), 1)));
        for uplo in UPLOS {
            let mut case = Case::new(suite, BatchOperation::Potrf { uplo }, orders.len(), is_varied);
            case.update(&shapes(&orders, |n| (n, n)), |numbers, _, a| numbers.positive_definite(uplo, a));
            case.with_info();
            case.check(20.0, [true; 2]);
        }
        let mut case = Case::new(suite, BatchOperation::Getrf, orders.len(), is_varied);
        case.update(&high, full_rank);
        case.call.pivots = Some(case.write(lengths.iter().map(|&(k, _)| k)));
        case.with_info();
        case.check(60.0, [true; 2]);
        let mut case = Case::new(suite, BatchOperation::Geqrf, orders.len(), is_varied);
        case.update(&high, full_rank);
        let tau = case.write(lengths.iter().map(|&(k, _)| k));
        case.call.written.push(tau);
        case.check(100.0, [true; 2]);
        let reflectors: Vec<Vec<T>> = high.iter().map(|&(m, k)| random_reflectors(suite, m, k)).collect();
        let pairs = high.iter().zip(&reflectors);
        let taus: Vec<Vec<T>> = pairs.map(|(&(m, k), v)| scalars(suite, v, m, k)).collect();
        let mut case = Case::new(suite, BatchOperation::Ungqr, orders.len(), is_varied);
        case.read(&lengths, copied(&taus));
        case.update(&high, copied(&reflectors));
        case.check(40.0, [true; 2]);
        for op in [Op::None, Op::ConjTrans] {
            let mut case = Case::new(suite, BatchOperation::Unmqr { op }, orders.len(), is_varied);
            case.read(&high, copied(&reflectors));
            case.read(&lengths, copied(&taus));
            case.update(&shapes(&orders, |n| (n, 11)), general);
            case.check(40.0, [true; 2]);
        }
    }
}

/// Fills each matrix with these elements.
fn copied<T: Scalar>(from: &[Vec<T>]) -> impl Fn(&mut Random, usize, MatMut<'_, T>) {
    move |_, p, mut a| {
        let m = a.nrows();
        from[p].iter().enumerate().for_each(|(at, &x)| a[(at % m, at / m)] = x);
    }
}

/// A batch of more problems than a grid has blocks in its smaller dimensions, and none.
pub fn batch_many<T: Scalar>(suite: &mut Suite<'_, T>) {
    for count in [0, 1, if suite.is_gpu() { 100_000 } else { 3000 }] {
        let orders = vec![3; count];
        let mut case = Case::new(suite, BatchOperation::Getrf, count, false);
        case.update(&shapes(&orders, |n| (n, n)), full_rank);
        case.call.pivots = Some(case.write(orders.iter().copied()));
        case.with_info();
        case.check(60.0, [true; 2]);
    }
}

/// An interchange with a row that a problem does not have is an error.
pub fn batch_getrs_outside<T: Scalar>(suite: &mut Suite<'_, T>) {
    for (n, is_varied) in [(3, false), (40, true), (70, false)] {
        for row in [0, n as i32 + 1, -1] {
            for op in [Op::None, Op::Trans] {
                let square = shapes(&[n; 5], |n| (n, n));
                let mut case = Case::new(suite, BatchOperation::Getrs { op }, 5, is_varied);
                case.read(&square, |numbers, _, a| numbers.lu(a));
                case.update(&square, general);
                let pivots = case.place(&shapes(&[n; 5], |n| (n, 1)), |_, p, mut ipiv: MatMut<'_, i32>| {
                    (0..n).for_each(|i| ipiv[(i, 0)] = if p == 3 && i == n / 2 { row } else { i as i32 + 1 });
                });
                case.call.pivots = Some(pivots);
                let (call, mut image) = (Call::Batch(Box::new(case.call.clone())), case.image.clone());
                let error = case.suite.attempt(&call, &mut image).expect_err("a row outside");
                assert!(error.to_string().contains("getrs: problem 3") && !error.is_lost(), "{error}");
            }
        }
    }
}

/// A NaN in one problem spoils no other one, whatever it is in.
pub fn one_not_a_number<T: Scalar>(suite: &mut Suite<'_, T>) {
    let nan = T::from_f64(f64::NAN);
    for n in [1, 3, 8, 20, 40] {
        let (orders, at) = (vec![n; 7], suite.numbers.below(n));
        let spoil = |numbers: &mut Random, p: usize, mut a: MatMut<'_, T>| {
            numbers.full_rank(a.rb_mut());
            if p == 4 {
                a[(at, at)] = nan;
            }
        };
        let mut case = Case::new(suite, BatchOperation::Geqrf, 7, false);
        case.update(&shapes(&orders, |n| (n, n)), spoil);
        let tau = case.write(orders.iter().copied());
        case.call.written.push(tau);
        case.spoiled = Some(4);
        case.check(100.0, [true; 2]);
        let operation = BatchOperation::Gemm { ops: (Op::None, Op::None), alpha: T::ONE, beta: T::ZERO };
        let mut case = Case::new(suite, operation, 7, false);
        case.read(&shapes(&orders, |n| (n, n)), spoil);
        case.read(&shapes(&orders, |n| (n, n)), general);
        case.update(&shapes(&orders, |n| (n, n)), |_, _, _| ());
        case.spoiled = Some(4);
        case.check(8.0, [true; 2]);
        // gebrd and getrf only must end; what they make of a NaN is not determined.
        for operation in [BatchOperation::Getrf, BatchOperation::GetrfNopiv] {
            let mut case = Case::new(suite, operation, 7, false);
            case.update(&shapes(&orders, |n| (n, n)), |numbers, p, mut a| {
                numbers.full_rank(a.rb_mut());
                // Without interchanges, elements do not grow if the diagonal dominates.
                (0..n).for_each(|i| a[(i, i)] += T::from_f64(2.0 * n as f64));
                if p == 4 {
                    a[(at, at)] = nan;
                }
            });
            case.with_info();
            case.call.pivots = (operation == BatchOperation::Getrf).then(|| case.write(orders.iter().copied()));
            let (call, before) = (Call::Batch(Box::new(case.call.clone())), case.image.clone());
            let mut found = before.clone();
            case.suite.attempt(&call, &mut found).unwrap_or_else(|error| panic!("{error}: {call:?}"));
            let mut expected = before.clone();
            call.run_in(expected.bytes_mut()).expect("the host computes it");
            for (p, mat) in members(&case.call.updated[0]) {
                let comparison = if p == 4 { Comparison::Nothing } else { Comparison::Near(60.0) };
                near(&mut found, (&before, &expected), mat, comparison, || format!("{operation:?} problem {p}"));
            }
        }
    }
}

/// What is divided by an infinite element of a diagonal becomes zero.
pub fn batch_infinite_divisors<T: Scalar>(suite: &mut Suite<'_, T>) {
    let infinite = T::from_parts(T::Real::from_f64(1.0), T::Real::from_f64(f64::INFINITY));
    for (n, vectors) in [(1, 1), (5, 3), (20, 1), (40, 9)] {
        for uplo in UPLOS {
            let (side, op, diag, alpha) = (Side::Left, Op::None, Diag::NonUnit, T::ONE);
            let mut case = Case::new(suite, BatchOperation::Trsm { side, uplo, op, diag, alpha }, 7, false);
            case.read(&vec![(n, n); 7], |numbers, p, mut a| {
                numbers.triangular(uplo, diag, a.rb_mut());
                if p % 2 == 0 {
                    a[(n / 2, n / 2)] = if T::COMPLEX { infinite } else { T::from_f64(f64::NEG_INFINITY) };
                }
            });
            case.update(&vec![(n, vectors); 7], general);
            case.check(40.0, [true; 2]);
        }
    }
}
