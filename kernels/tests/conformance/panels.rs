//! The panels of LU and QR factorizations, checked by the products of their factors.

use super::{Image, Suite, sets};
use superscalar_kernels::{
    MatMut, Real, Scalar,
    device::{Call, Mat},
    operations::{Geqrf, Getrf},
    reference,
};
use superscalar_oracle::{is_finite, largest, roundoffs};

const SHAPES: [(usize, usize); 15] = [
    (0, 3),
    (3, 0),
    (1, 1),
    (1, 4),
    (5, 3),
    (3, 5),
    (33, 33),
    (64, 17),
    (90, 12),
    (17, 40),
    (130, 70),
    (257, 256),
    (700, 129),
    (2000, 64),
    (1500, 33),
];

/// Returns a column-major copy of a matrix.
fn dense<T: Scalar>(image: &Image, mat: Mat<T>) -> Vec<T> {
    image.elements(mat)
}

fn view_mut<T: Scalar>(data: &mut [T], (m, n): (usize, usize)) -> MatMut<'_, T> {
    MatMut::from_col_major(data, m, n, m.max(1)).expect("dense")
}

/// Restores the old contents of a matrix.
fn restore<E: bytemuck::Pod>(after: &mut Image, before: &Image, mat: Mat<E>) {
    (0..mat.n).for_each(|j| (0..mat.m).for_each(|i| after.set(mat, i, j, before.at(mat, i, j))));
}

/// Returns the size by which pivots are chosen.
fn size<T: Scalar>(x: T) -> f64 {
    x.re().to_f64().abs() + x.im().to_f64().abs()
}

/// Factors A, with `above` rows above it, and checks the result. Returns the interchanges.
fn lu<T: Scalar>(suite: &mut Suite<'_, T>, mut image: Image, a: Mat<T>, above: usize) -> Vec<i32> {
    let (m, n) = a.shape();
    let k = m.min(n);
    let ipiv = image.place(&mut suite.numbers, (k, 1), |_, _, _| -1_i32);
    let call = Call::Getrf(Getrf { a, first: above, ipiv });
    let mut after = image.clone();
    suite.attempt(&call, &mut after).unwrap_or_else(|error| panic!("{call:?}: {error}"));
    let counted: Vec<i32> = after.elements(ipiv);
    let rows: Vec<i32> = counted.iter().map(|row| row - above as i32).collect();
    for (j, &row) in rows.iter().enumerate() {
        assert!((j + 1..=m).contains(&(row as usize)), "an interchange of row {j} with {row}: {call:?}");
    }
    let factors = dense(&after, a);
    let mut expected = dense(&image, a);
    reference::laswp(view_mut(&mut expected, (m, n)), &rows, superscalar_kernels::Direction::Forward);
    let mut product = vec![T::ZERO; m * n];
    for (i, j) in (0..n).flat_map(|j| (0..m).map(move |i| (i, j))) {
        let l = |p| if p == i { T::ONE } else { factors[i + p * m] };
        product[i + j * m] = (0..k.min(i + 1).min(j + 1)).map(|p| l(p) * factors[p + j * m]).sum();
        // A column without a pivot is not divided.
        assert!(i <= j || size(factors[i + j * m]) <= 2.01, "a multiple of {} at ({i}, {j})", factors[i + j * m]);
    }
    // The bound grows with k. Elements of U may be up to 2^(k-1) times those of A, but are seldom more than a few
    // times.
    let error = roundoffs(&product, &expected);
    assert!(error <= 40.0 * (k + 4) as f64, "{error} roundoffs: {call:?}");
    restore(&mut after, &image, a);
    restore(&mut after, &image, ipiv);
    assert!(after.bytes() == image.bytes(), "something else was written: {call:?}");
    rows
}

pub fn getrf<T: Scalar>(suite: &mut Suite<'_, T>) {
    for shape in SHAPES {
        for above in [0, 1234] {
            let mut image = Image::default();
            let a = image.place(&mut suite.numbers, shape, |numbers, _, _| numbers.fraction());
            let column: Vec<T> = image.elements(a).into_iter().take(shape.0).collect();
            let rows = lu(suite, image, a, above);
            if let Some(&row) = rows.first() {
                let largest = largest(column.iter().map(|&x| size(x)));
                assert_eq!(size(column[row as usize - 1]), largest, "the first pivot of {shape:?}");
            }
        }
    }
}

/// Equal candidates, of which the first is chosen, and columns of zeros, which exchange nothing.
pub fn getrf_special<T: Scalar>(suite: &mut Suite<'_, T>) {
    for shape @ (m, n) in SHAPES {
        let mut image = Image::default();
        // Copies of the unit matrix below each other: every pivot is already in place, and equals other elements.
        let a = image.place(&mut suite.numbers, shape, |_, i, j| if i % n.max(1) == j { -T::ONE } else { T::ZERO });
        let rows = lu(suite, image, a, 3);
        assert!(rows.iter().enumerate().all(|(j, &row)| row as usize == j + 1), "{rows:?} of {shape:?}");
        let mut image = Image::default();
        let a = image.place(&mut suite.numbers, shape, |numbers, i, j| match j % 2 {
            0 => T::ZERO,
            // The largest element is the one below the diagonal.
            _ => {
                if i == j + 1 {
                    T::from_f64(8.0)
                } else {
                    numbers.fraction()
                }
            }
        });
        let rows = lu(suite, image, a, 0);
        if m > 1 && !rows.is_empty() {
            assert_eq!(rows[0], 1, "a column of zeros of {shape:?}");
        }
    }
    // NaN is not chosen as a pivot if there is another element.
    let mut image = Image::default();
    let (m, n) = (70, 1);
    let a = image.place(&mut suite.numbers, (m, n), |numbers, i, _| match i {
        7 => T::from_f64(f64::NAN),
        40 => T::from_f64(9.0),
        _ => numbers.fraction(),
    });
    let ipiv = image.place(&mut suite.numbers, (1, 1), |_, _, _| -1_i32);
    suite.attempt(&Call::Getrf(Getrf { a, first: 0, ipiv }), &mut image).expect("a panel");
    assert_eq!(image.at(ipiv, 0, 0), 41);
    assert!((0..m).all(|i| is_finite(image.at(a, i, 0)) != (i == 7)));
}

/// Q = I − V T Vᴴ, for V unit lower trapezoidal below R, m x k, and T of order k.
struct Reflectors<'a, T> {
    v: &'a [T],
    t: &'a [T],
    m: usize,
    k: usize,
}

impl<T: Scalar> Reflectors<'_, T> {
    fn v(&self, i: usize, p: usize) -> T {
        match i.cmp(&p) {
            std::cmp::Ordering::Less => T::ZERO,
            std::cmp::Ordering::Equal => T::ONE,
            std::cmp::Ordering::Greater => self.v[i + p * self.m],
        }
    }

    /// Returns T + Tᴴ − Tᴴ (Vᴴ V) T, which is zero if Q is unitary, in roundoffs.
    fn defect(&self) -> f64 {
        let Self { t, m, k, .. } = *self;
        let square = |of: &dyn Fn(usize, usize) -> T| -> Vec<T> { (0..k * k).map(|at| of(at % k, at / k)).collect() };
        let gram = square(&|p, q| (p.max(q)..m).map(|i| self.v(i, p).conj() * self.v(i, q)).sum());
        let gram_t = square(&|p, q| (0..=q).map(|s| gram[p + s * k] * t[s + q * k]).sum());
        let product = square(&|p, q| (0..=p).map(|s| t[s + p * k].conj() * gram_t[s + q * k]).sum());
        let sum = square(&|p, q| t[p + q * k] + t[q + p * k].conj());
        roundoffs(&product, &sum)
    }

    /// Computes Q R for the n columns of R, which is on and above V's diagonal.
    fn times_upper(&self, n: usize) -> Vec<T> {
        let Self { v, t, m, k } = *self;
        let mut product = vec![T::ZERO; m * n];
        for j in 0..n {
            let rows = k.min(j + 1);
            let r = &v[j * m..j * m + rows];
            let y: Vec<T> = (0..rows).map(|p| (p..rows).map(|i| self.v(i, p).conj() * r[i]).sum()).collect();
            let column = &mut product[j * m..(j + 1) * m];
            column[..rows].copy_from_slice(r);
            for p in 0..rows {
                let z: T = (p..rows).map(|s| t[p + s * k] * y[s]).sum();
                (p..m).for_each(|i| column[i] -= self.v(i, p) * z);
            }
        }
        product
    }
}

/// Factors A, and checks the factors.
pub fn judge_lu<T: Scalar>(suite: &mut Suite<'_, T>, image: Image, a: Mat<T>) {
    lu(suite, image, a, 0);
}

/// Factors A, and checks V, T, tau and R.
pub fn qr<T: Scalar>(suite: &mut Suite<'_, T>, mut image: Image, a: Mat<T>) {
    let (m, n) = a.shape();
    let k = m.min(n);
    let hidden = T::from_f64(f64::NAN);
    let t = image.place(&mut suite.numbers, (k, k), |_, _, _| hidden);
    let tau = image.place(&mut suite.numbers, (k, 1), |_, _, _| hidden);
    let call = Call::Geqrf(Geqrf { a, t, tau });
    let mut after = image.clone();
    suite.attempt(&call, &mut after).unwrap_or_else(|error| panic!("{call:?}: {error}"));
    let (factors, factor, scalars) = (dense(&after, a), dense(&after, t), dense(&after, tau));
    for (i, j) in (0..k).flat_map(|j| (j + 1..k).map(move |i| (i, j))) {
        assert!(factor[i + j * k] == T::ZERO, "T at ({i}, {j}): {call:?}");
    }
    assert!((0..k).all(|j| factors[j + j * m].im() == T::Real::ZERO), "a real diagonal: {call:?}");
    assert!((0..k).all(|j| factor[j + j * k] == scalars[j]), "T's diagonal is tau: {call:?}");
    let reflectors = Reflectors { v: &factors, t: &factor, m, k };
    let error = reflectors.defect();
    assert!(
        error <= 40.0 * (k + 4) as f64 * (m as f64).sqrt(),
        "Q is {error} roundoffs from a unitary matrix: {call:?}"
    );
    let error = roundoffs(&reflectors.times_upper(n), &dense(&image, a));
    assert!(error <= 20.0 * (k + 4) as f64 * (m as f64).sqrt(), "Q R is {error} roundoffs off: {call:?}");
    restore(&mut after, &image, a);
    restore(&mut after, &image, t);
    restore(&mut after, &image, tau);
    assert!(after.bytes() == image.bytes(), "something else was written: {call:?}");
}

pub fn geqrf<T: Scalar>(suite: &mut Suite<'_, T>) {
    for shape in SHAPES {
        let mut image = Image::default();
        let a = image.place(&mut suite.numbers, shape, |numbers, _, _| numbers.fraction());
        qr(suite, image, a);
    }
}

/// Columns of zeros, triangular matrices, and numbers whose squares overflow or underflow.
pub fn geqrf_special<T: Scalar>(suite: &mut Suite<'_, T>) {
    let far = T::Real::MIN_POSITIVE.to_f64().powf(0.9);
    for shape @ (m, n) in SHAPES.into_iter().filter(|(m, n)| m * n < 100_000) {
        // The two largest matrices share the kinds.
        let (first, step) = if m * n > 50_000 { (usize::from(m > n + 1), 2) } else { (0, 1) };
        for kind in (first..4).step_by(step) {
            let mut image = Image::default();
            let a = image.place(&mut suite.numbers, shape, |numbers, i, j| match (kind, numbers.fraction::<T>()) {
                (0, x) => {
                    if j % 2 == 0 {
                        T::ZERO
                    } else {
                        x
                    }
                }
                (1, x) => {
                    if i > j {
                        T::ZERO
                    } else {
                        x
                    }
                }
                (2, x) => x * T::from_f64(1.0 / far),
                (_, x) => x * T::from_f64(far),
            });
            qr(suite, image, a);
        }
    }
}

/// A column with NaN or Inf makes its own tau, the later ones and the rest of R NaN. What is on its left stays.
pub fn geqrf_propagates<T: Scalar>(suite: &mut Suite<'_, T>) {
    let ((m, n), bad) = ((300, 40), 5);
    for odd in [f64::NAN, f64::INFINITY] {
        let mut image = Image::default();
        let a = image.place(&mut suite.numbers, (m, n), |numbers, i, j| {
            if (i, j) == (201, bad) { T::from_f64(odd) } else { numbers.fraction() }
        });
        let t = image.place(&mut suite.numbers, (n, n), |_, _, _| T::ZERO);
        let tau = image.place(&mut suite.numbers, (n, 1), |_, _, _| T::ZERO);
        suite.attempt(&Call::Geqrf(Geqrf { a, t, tau }), &mut image).expect("a panel");
        for j in 0..n {
            assert_eq!(is_finite(image.at(tau, j, 0)), j < bad, "tau {j}");
            // Rows above may depend on T, and so on all reflectors of a block.
            let rows = if j < bad { 0..j + 1 } else { bad..j + 1 };
            assert!(rows.into_iter().all(|i| is_finite(image.at(a, i, j)) == (j < bad)), "R's column {j}");
        }
    }
}

/// More rows than one block of threads has, than one cluster has, and than blocks of threads keep in registers, with
/// fewer and fewer columns.
pub fn tall<T: Scalar>(suite: &mut Suite<'_, T>) {
    let shapes = [(4000, 70), (100_000, 9), (400_000, 3), (8100, 40), (12_000, 24), (30_000, 40)];
    // The host has no blocks of threads: it runs two shapes with every instruction set, and three with the best.
    let count = if sets::is_one_of_each() { 2 } else { 3 };
    for &shape in if suite.is_gpu() { &shapes[..] } else { &shapes[..count] } {
        let mut image = Image::default();
        let a = image.place(&mut suite.numbers, shape, |numbers, _, _| numbers.fraction());
        lu(suite, image.clone(), a, 5);
        qr(suite, image, a);
    }
}
