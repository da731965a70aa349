//! gemv, gbmv, ger.

use super::test_vector::{INCREMENTS, SIZES, TestVector, factors, nan, number, same};
use superscalar_kernels::cpu::{self, Conj};
use superscalar_kernels::{MatMut, MatRef, Op, Scalar};
use superscalar_oracle::Random;

const OPS: [Op; 3] = [Op::None, Op::Trans, Op::ConjTrans];
const GAP: usize = 3;

/// Returns shapes with various numbers of rows for each number of columns.
fn shapes() -> impl Iterator<Item = (usize, usize)> {
    SIZES.into_iter().flat_map(|n| [(n, n), (n + 5, n), (n, n + 3), (n / 3, n)])
}

/// An m x n matrix by columns, padded with NaN.
struct PaddedMatrix<T> {
    data: Vec<T>,
    m: usize,
    n: usize,
}

impl<T: Scalar> PaddedMatrix<T> {
    fn new(m: usize, n: usize, mut element: impl FnMut(usize, usize) -> Option<T>) -> Self {
        let mut data = vec![nan(); n * (m + GAP)];
        for (i, j) in (0..n).flat_map(|j| (0..m).map(move |i| (i, j))) {
            data[i + j * (m + GAP)] = element(i, j).unwrap_or(nan());
        }
        Self { data, m, n }
    }

    fn view(&self) -> MatRef<'_, T> {
        MatRef::from_col_major(&self.data, self.m, self.n, self.m + GAP).expect("the array has all elements")
    }

    fn view_mut(&mut self) -> MatMut<'_, T> {
        MatMut::from_col_major(&mut self.data, self.m, self.n, self.m + GAP).expect("the array has all elements")
    }
}

/// Returns alpha op(A) x + beta y by textbook loops, for any matrix.
fn wanted<T: Scalar>(
    op: Op,
    conj: bool,
    alpha: T,
    a: impl Fn(usize, usize) -> T,
    x: &TestVector<T>,
    beta: T,
    y: &TestVector<T>,
) -> TestVector<T> {
    let mut wanted = y.clone();
    for i in 0..y.n {
        let mut sum = T::ZERO;
        for j in 0..x.n {
            let element = if op == Op::None { a(i, j) } else { a(j, i) };
            sum += if conj != (op == Op::ConjTrans) { element.conj() } else { element } * x.get(j);
        }
        wanted.set(i, alpha * sum + beta * y.get(i));
    }
    wanted
}

/// Calls `body` with all pairs of factors, and with vectors for op(A).
fn products<T: Scalar>(
    (m, n): (usize, usize),
    numbers: &mut Random,
    mut body: impl FnMut(Op, bool, (T, T), &TestVector<T>, &TestVector<T>),
) {
    let pairs = factors::<T>().into_iter().flat_map(|alpha| factors::<T>().map(|beta| (alpha, beta)));
    for (at, (alpha, beta)) in pairs.enumerate() {
        for op in OPS {
            for conj in [false, true] {
                let (rows, columns) = op.shape((m, n));
                let (of_x, of_y) = INCREMENTS[(at + usize::from(conj)) % INCREMENTS.len()];
                let (x, y) = (TestVector::integers(columns, of_x, numbers), TestVector::integers(rows, of_y, numbers));
                body(op, conj, (alpha, beta), &x, &y);
            }
        }
    }
}

pub fn gemv<T: Scalar>() {
    let mut numbers = Random::new(2);
    for (m, n) in shapes() {
        let a = PaddedMatrix::<T>::new(m, n, |_, _| Some(numbers.integer()));
        let unread = PaddedMatrix::<T>::new(m, n, |_, _| None);
        products((m, n), &mut numbers, |op, conj, (alpha, beta), x, y| {
            let wanted = wanted(op, conj, alpha, |i, j| a.view().at(i, j), x, beta, y);
            for by_rows in [false, true] {
                // By rows: the transposed view with the transposed operation, which is conjugated for ConjTrans.
                let (mut x, mut y) = (x.clone(), y.clone());
                let mut a = a.view();
                if alpha == T::ZERO {
                    (a, x) = (unread.view(), TestVector::nan(x.n, x.inc));
                }
                if beta == T::ZERO {
                    y = TestVector::nan(y.n, y.inc);
                }
                let (op, view, conj) = match (by_rows, op) {
                    (false, op) => (op, a, conj),
                    (true, Op::None) => (Op::Trans, a.transpose(), conj),
                    (true, Op::Trans) => (Op::None, a.transpose(), conj),
                    (true, Op::ConjTrans) => (Op::None, a.transpose(), !conj),
                };
                let view = if conj { Conj::of(view) } else { view.into() };
                cpu::gemv(op, alpha, view, x.view(), beta, y.view_mut());
                y.check(&wanted, &format!("{op:?} {m} x {n} conj {conj} by rows {by_rows} {alpha} {beta}"));
            }
        });
    }
}

pub fn gbmv<T: Scalar>() {
    let mut numbers = Random::new(3);
    for (m, n) in [(0, 3), (1, 1), (3, 2), (7, 9), (9, 7), (31, 31), (64, 40), (20, 100)] {
        let all = m.max(n);
        for (kl, ku) in [(0, 0), (1, 0), (0, 2), (2, 1), (5, 9), (all, 1), (1, all), (all + 1, all + 1)] {
            // The array of diagonals, and the matrix.
            let inside = |d: usize, j: usize| d + j >= ku && d + j - ku < m;
            let band = PaddedMatrix::<T>::new(kl + ku + 1, n, |d, j| inside(d, j).then(|| numbers.integer()));
            let unread = PaddedMatrix::<T>::new(kl + ku + 1, n, |_, _| None);
            let element = |i: usize, j: usize| {
                let is_stored = i <= j + kl && j <= i + ku;
                if is_stored { band.view().at(ku + i - j, j) } else { T::ZERO }
            };
            products((m, n), &mut numbers, |op, conj, (alpha, beta), x, y| {
                let wanted = wanted(op, conj, alpha, element, x, beta, y);
                let (mut x, mut y, mut view) = (x.clone(), y.clone(), band.view());
                if alpha == T::ZERO {
                    (view, x) = (unread.view(), TestVector::nan(x.n, x.inc));
                }
                if beta == T::ZERO {
                    y = TestVector::nan(y.n, y.inc);
                }
                let view = if conj { Conj::of(view) } else { view.into() };
                cpu::gbmv(op, ku, alpha, view, x.view(), beta, y.view_mut());
                y.check(&wanted, &format!("{op:?} {m} x {n} kl {kl} ku {ku} conj {conj} {alpha} {beta}"));
            });
        }
    }
}

pub fn ger<T: Scalar>() {
    let mut numbers = Random::new(4);
    for (m, n) in shapes() {
        for (of_x, of_y) in INCREMENTS {
            for alpha in factors::<T>() {
                for conj in [false, true] {
                    let (x, y) = (
                        TestVector::<T>::integers(m, of_x, &mut numbers),
                        TestVector::<T>::integers(n, of_y, &mut numbers),
                    );
                    let a = PaddedMatrix::<T>::new(m, n, |_, _| Some(numbers.integer()));
                    let product = |i: usize, j: usize| alpha * x.get(i) * if conj { y.get(j).conj() } else { y.get(j) };
                    let wanted = PaddedMatrix::<T>::new(m, n, |i, j| Some(a.view().at(i, j) + product(i, j)));
                    let mut found = PaddedMatrix { data: a.data.clone(), m, n };
                    let (mut x, mut y) = (x.clone(), y.clone());
                    if alpha == T::ZERO {
                        (x, y) = (TestVector::nan(m, of_x), TestVector::nan(n, of_y));
                    }
                    let update = if conj { cpu::gerc } else { cpu::geru };
                    update(alpha, x.view(), y.view(), found.view_mut());
                    same(&found.data, &wanted.data, &format!("ger {m} x {n} conj {conj} {alpha}"));
                    // By rows: the same array as the transpose of an n x m matrix.
                    let product = |i: usize, j: usize| alpha * y.get(i) * if conj { x.get(j).conj() } else { x.get(j) };
                    let read = |i: usize, j: usize| if alpha == T::ZERO { T::ZERO } else { product(j, i) };
                    let wanted = PaddedMatrix::<T>::new(m, n, |i, j| Some(a.view().at(i, j) + read(i, j)));
                    let mut found = PaddedMatrix { data: a.data.clone(), m, n };
                    update(alpha, y.view(), x.view(), found.view_mut().transpose());
                    same(&found.data, &wanted.data, &format!("ger by rows {m} x {n} conj {conj} {alpha}"));
                }
            }
        }
    }
}

/// Checks that a zero in x does not hide NaN in A.
pub fn nan_is_not_hidden<T: Scalar>() {
    let mut numbers = Random::new(5);
    let (m, n) = (21, 19);
    for at in [(0, 0), (3, 7), (20, 18), (16, 16)] {
        let a = PaddedMatrix::<T>::new(m, n, |i, j| {
            Some(if (i, j) == at { number(f64::NAN, 0.0) } else { numbers.integer() })
        });
        for op in OPS {
            let (rows, columns) = op.shape((m, n));
            let (x, mut y) = (TestVector::<T>::new(columns, 1, || T::ZERO), TestVector::<T>::new(rows, 1, || T::ONE));
            cpu::gemv(op, T::ONE, a.view(), x.view(), T::ONE, y.view_mut());
            let row = if op == Op::None { at.0 } else { at.1 };
            (0..rows).for_each(|i| assert_eq!(y.get(i).is_nan(), i == row, "{op:?} {at:?} {i}"));
        }
    }
}
