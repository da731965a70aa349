//! The routines as a user calls them, in all four types: backward errors, what must not be touched, info, exact results.
//!
//! Residuals are computed here, in double precision complex, from the definitions: nothing is shared with the kernels. Every task
//! that changes a tile waits for the one before, so a result depends on the tile size only, not on workers or policy: the
//! first result of each tile size is checked, and the others must equal it bit by bit.

use std::collections::BTreeMap;
use superscalar::{
    PolicyName, Runtime,
    dla::{BlockSize, Error, ErrorKind, Options, Scalar, Tiled, posv, potrf, potrs, submit},
    kernels::{MatMut, MatRef, Real, Uplo, accuracy::largest, c32, c64},
};

const ORDERS: [usize; 8] = [0, 1, 2, 3, 31, 64, 100, 257];
/// LAPACK's scaled residuals have n ε in the denominator, so what is stable stays about one, whatever n; small n need some room.
const BOUND: f64 = 5.0;
/// Rows of padding below each column.
const PAD: usize = 3;
const SENTINEL: f64 = -7.0;
/// Keeps the residuals of empty matrices from dividing by zero.
const TINY: f64 = 1e-200;

/// Calls a generic function for s, d, c and z.
macro_rules! for_each_type {
    ($check:ident ( $($argument:expr),* )) => {
        $check::<f32>($($argument),*);
        $check::<f64>($($argument),*);
        $check::<c32>($($argument),*);
        $check::<c64>($($argument),*);
    };
}

/// A matrix in memory that is larger than it: padding below every column holds sentinels.
#[derive(Clone)]
struct Stored<T> {
    data: Vec<T>,
    m: usize,
    n: usize,
    ld: usize,
}

impl<T: Scalar> Stored<T> {
    fn new(m: usize, n: usize, ld: usize, f: impl Fn(usize, usize) -> T) -> Self {
        let element = |at: usize| if at % ld < m { f(at % ld, at / ld) } else { T::from_f64(SENTINEL) };
        Self { data: (0..ld * n).map(element).collect(), m, n, ld }
    }

    fn padded(m: usize, n: usize, f: impl Fn(usize, usize) -> T) -> Self {
        Self::new(m, n, m + PAD, f)
    }

    fn at(&self, i: usize, j: usize) -> T {
        self.data[i + j * self.ld]
    }

    fn view(&self) -> MatRef<'_, T> {
        MatRef::from_col_major(&self.data, self.m, self.n, self.ld).expect("the memory is large enough")
    }

    fn view_mut(&mut self) -> MatMut<'_, T> {
        MatMut::from_col_major(&mut self.data, self.m, self.n, self.ld).expect("the memory is large enough")
    }

    fn bits(&self) -> Vec<(u64, u64)> {
        self.data.iter().map(|&value| bits(value)).collect()
    }
}

fn bits<T: Scalar>(value: T) -> (u64, u64) {
    (value.re().to_f64().to_bits(), value.im().to_f64().to_bits())
}

fn wide<T: Scalar>(value: T) -> c64 {
    c64::new(value.re().to_f64(), value.im().to_f64())
}

fn narrow<T: Scalar>(re: f64, im: f64) -> T {
    T::from_parts(T::from_f64(re).re(), T::from_f64(im).re())
}

/// Uniform in ±½, by a generator that any seed starts well.
fn random(seed: u64) -> f64 {
    let mut state = seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((state ^ (state >> 31)) >> 11) as f64 / (1u64 << 53) as f64 - 0.5
}

/// Element (i, j) of a Hermitian positive definite matrix of order n. Its diagonal is no larger than it must be: with n on it,
/// single precision could not tell a missing update from rounding.
fn positive_definite<T: Scalar>(n: usize) -> impl Fn(usize, usize) -> T {
    move |i, j| {
        let (row, col) = (i.max(j), i.min(j));
        let seed = 2 * (row * 1000 + col) as u64;
        let (re, im) = (random(seed), random(seed + 1));
        match i.cmp(&j) {
            std::cmp::Ordering::Equal => T::from_f64(2.0 * (n as f64).sqrt()),
            std::cmp::Ordering::Greater => narrow(re, im),
            std::cmp::Ordering::Less => narrow(re, -im),
        }
    }
}

fn is_named(uplo: Uplo, i: usize, j: usize) -> bool {
    if uplo == Uplo::Lower { i >= j } else { i <= j }
}

/// The matrix with NaN in the other triangle: who reads it spoils the result.
fn triangle<T: Scalar>(uplo: Uplo, n: usize, f: impl Fn(usize, usize) -> T) -> Stored<T> {
    Stored::padded(n, n, |i, j| if is_named(uplo, i, j) { f(i, j) } else { T::from_f64(f64::NAN) })
}

/// Element (i, j) of L, whichever triangle is stored.
fn factor<T: Scalar>(uplo: Uplo, stored: &Stored<T>, i: usize, j: usize) -> c64 {
    if uplo == Uplo::Lower { wide(stored.at(i, j)) } else { wide(stored.at(j, i)).conj() }
}

/// ‖A − L Lᴴ‖₁ / (n ‖A‖₁ ε)
fn factor_residual<T: Scalar>(uplo: Uplo, a: impl Fn(usize, usize) -> T, stored: &Stored<T>) -> f64 {
    let n = stored.n;
    let l: Vec<Vec<c64>> = (0..n).map(|i| (0..=i).map(|k| factor(uplo, stored, i, k)).collect()).collect();
    let (mut sums, mut norms) = (vec![0.0; n], vec![0.0; n]);
    for i in 0..n {
        for j in 0..=i {
            let product: c64 = l[i].iter().zip(&l[j]).map(|(x, y)| x * y.conj()).sum();
            let (error, size) = ((wide(a(i, j)) - product).norm(), wide(a(i, j)).norm());
            for column in if i == j { vec![j] } else { vec![i, j] } {
                (sums[column], norms[column]) = (sums[column] + error, norms[column] + size);
            }
        }
    }
    largest(sums) / (n.max(1) as f64 * largest(norms).max(TINY) * T::EPSILON.to_f64())
}

/// ‖B − A X‖₁ / (n ‖A‖₁ ‖X‖₁ ε)
fn solve_residual<T: Scalar>(a: impl Fn(usize, usize) -> T, b: &Stored<T>, x: &Stored<T>) -> f64 {
    let (n, nrhs) = (b.m, b.n);
    let norm = largest((0..n).map(|j| (0..n).map(|i| wide(a(i, j)).norm()).sum::<f64>()));
    let column = |j: usize| {
        let row = |i: usize| (wide(b.at(i, j)) - (0..n).map(|k| wide(a(i, k)) * wide(x.at(k, j))).sum::<c64>()).norm();
        let size: f64 = (0..n).map(|i| wide(x.at(i, j)).norm()).sum();
        (0..n).map(row).sum::<f64>() / size.max(TINY)
    };
    largest((0..nrhs).map(column)) / (n.max(1) as f64 * norm.max(TINY) * T::EPSILON.to_f64())
}

/// Whether padding and other triangle are what they were, bit by bit.
fn assert_surroundings<T: Scalar>(uplo: Uplo, before: &Stored<T>, after: &Stored<T>) {
    for (at, (old, new)) in before.data.iter().zip(&after.data).enumerate() {
        let (i, j) = (at % before.ld, at / before.ld);
        if i >= before.m || !is_named(uplo, i, j) {
            assert_eq!(bits(*old), bits(*new), "({i}, {j}) outside of {uplo:?} was touched");
        }
    }
}

/// One runtime per number of workers and policy.
fn runtimes() -> Vec<Runtime> {
    let build = |workers, policy| Runtime::builder().workers(workers).policy(policy).bind(false).build();
    let all = (1..=3).flat_map(|workers| PolicyName::ALL.map(|policy| build(workers, policy)));
    all.map(|runtime| runtime.expect("threads can be started")).collect()
}

fn block_sizes(n: usize) -> Vec<BlockSize> {
    let mut sizes = vec![BlockSize::Fixed(16), BlockSize::Fixed(32), BlockSize::Fixed(100), BlockSize::Auto];
    if n <= 31 {
        sizes.push(BlockSize::Fixed(1));
    }
    sizes
}

/// Runs `call` with every block size on every runtime; `check` gets the first result of each tile size, and the others must
/// equal it.
fn on_all<T: Scalar, R>(runtimes: &[Runtime], n: usize, call: impl Fn(&Runtime, &Options) -> R, check: impl Fn(&R))
where
    R: PartialEq,
{
    let mut first: BTreeMap<usize, R> = BTreeMap::new();
    for block_size in block_sizes(n) {
        let options = Options::default().block_size(block_size);
        for rt in runtimes {
            let nb = options.factorization_nb::<T>(n, rt.workers()).expect("a table that can be read").min(n.max(1));
            let result = call(rt, &options);
            if let Some(known) = first.get(&nb) {
                assert!(*known == result, "n {n}, nb {nb}: {} workers, {}: another result", rt.workers(), rt.policy());
            } else {
                check(&result);
                first.insert(nb, result);
            }
        }
    }
}

/// A result by its bits, so that NaN equals NaN.
#[derive(Clone)]
struct Bitwise<T>(Vec<Stored<T>>);

impl<T: Scalar> PartialEq for Bitwise<T> {
    fn eq(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).all(|(a, b)| a.bits() == b.bits())
    }
}

fn check_potrf<T: Scalar>(runtimes: &[Runtime], uplo: Uplo, n: usize) {
    let a = positive_definite::<T>(n);
    let before = triangle(uplo, n, &a);
    let call = |rt: &Runtime, options: &Options| {
        let mut after = before.clone();
        potrf(rt, uplo, after.view_mut(), options).expect("the matrix is positive definite");
        Bitwise(vec![after])
    };
    on_all::<T, _>(runtimes, n, call, |result| {
        let after = &result.0[0];
        assert_surroundings(uplo, &before, after);
        let residual = factor_residual(uplo, &a, after);
        assert!(residual <= BOUND, "potrf {} {uplo:?} n {n}: residual {residual}", T::LETTER);
    });
}

#[test]
fn potrf_is_backward_stable_and_touches_nothing_else() {
    let runtimes = runtimes();
    for n in ORDERS {
        for uplo in [Uplo::Lower, Uplo::Upper] {
            for_each_type!(check_potrf(&runtimes, uplo, n));
        }
    }
}

#[test]
fn the_residual_notices_one_wrong_element() {
    let (n, rt) = (31, Runtime::builder().workers(1).build().expect("threads can be started"));
    let a = positive_definite::<f64>(n);
    let mut after = triangle(Uplo::Lower, n, &a);
    potrf(&rt, Uplo::Lower, after.view_mut(), &Options::default()).expect("the matrix is positive definite");
    for at in (0..n).flat_map(|j| (j..n).map(move |i| i + j * (n + PAD))) {
        let mut spoilt = after.clone();
        spoilt.data[at] += 1e-11;
        let residual = factor_residual(Uplo::Lower, &a, &spoilt);
        assert!(residual > BOUND, "element {at}: residual {residual}");
    }
}

fn check_posv<T: Scalar>(runtimes: &[Runtime], uplo: Uplo, n: usize, nrhs: usize) {
    let a = positive_definite::<T>(n);
    let (a_before, b) = (triangle(uplo, n, &a), right_hand_sides::<T>(n, nrhs));
    let call = |rt: &Runtime, options: &Options| {
        let (mut factored, mut x) = (a_before.clone(), b.clone());
        posv(rt, uplo, factored.view_mut(), x.view_mut(), options).expect("the matrix is positive definite");
        let mut by_steps = b.clone();
        potrs(rt, uplo, factored.view(), by_steps.view_mut(), options).expect("the shapes fit");
        Bitwise(vec![factored, x, by_steps])
    };
    on_all::<T, _>(runtimes, n, call, |result| {
        let [factored, x, by_steps] = &result.0[..] else { unreachable!("`call` returns three") };
        assert_surroundings(uplo, &a_before, factored);
        for solution in [x, by_steps] {
            assert!(
                solution
                    .data
                    .iter()
                    .enumerate()
                    .all(|(at, value)| at % b.ld < n || wide(*value) == c64::from(SENTINEL))
            );
            let residual = solve_residual(&a, &b, solution);
            assert!(residual <= BOUND, "posv {} {uplo:?} n {n} nrhs {nrhs}: residual {residual}", T::LETTER);
        }
    });
}

fn right_hand_sides<T: Scalar>(n: usize, nrhs: usize) -> Stored<T> {
    Stored::padded(n, nrhs, |i, j| narrow(random((i + 7919 * j) as u64), random((i + 7919 * j + 104_729) as u64)))
}

#[test]
fn posv_and_potrs_solve() {
    let runtimes = runtimes();
    for (n, nrhs) in [(0, 3), (1, 1), (2, 5), (3, 0), (31, 2), (64, 65), (100, 7), (257, 3)] {
        for uplo in [Uplo::Lower, Uplo::Upper] {
            for_each_type!(check_posv(&runtimes, uplo, n, nrhs));
        }
    }
}

/// Small integers with powers of two on the diagonal: every step of the factorization is exact.
fn check_exact<T: Scalar>(rt: &Runtime, uplo: Uplo, n: usize) {
    let integer = |seed: usize| (7.0 * random(seed as u64)).round();
    let l = |i: usize, j: usize| match i.cmp(&j) {
        std::cmp::Ordering::Equal => c64::from([1.0, 2.0, 4.0][i % 3]),
        std::cmp::Ordering::Greater if T::COMPLEX => c64::new(integer(i * n + j), integer(i + j * n)),
        std::cmp::Ordering::Greater => c64::from(integer(i * n + j)),
        std::cmp::Ordering::Less => c64::ZERO,
    };
    let a = |i: usize, j: usize| {
        let sum: c64 = (0..=i.min(j)).map(|k| l(i, k) * l(j, k).conj()).sum();
        narrow::<T>(sum.re, sum.im)
    };
    for nb in [8, 32, n] {
        let mut after = triangle(uplo, n, a);
        potrf(rt, uplo, after.view_mut(), &Options::default().nb(nb)).expect("the matrix is positive definite");
        for i in 0..n {
            for j in 0..=i {
                assert_eq!(factor(uplo, &after, i, j), l(i, j), "{} {uplo:?} nb {nb}, ({i}, {j})", T::LETTER);
            }
        }
    }
}

#[test]
fn a_factor_of_small_integers_is_exact() {
    let rt = Runtime::builder().workers(2).build().expect("threads can be started");
    for uplo in [Uplo::Lower, Uplo::Upper] {
        for_each_type!(check_exact(&rt, uplo, 75));
    }
}

/// A matrix whose leading minor of order `bad + 1` is the first that is not positive definite.
fn check_info<T: Scalar>(rt: &Runtime, uplo: Uplo, n: usize, nb: usize) {
    let a = positive_definite::<T>(n);
    let options = Options::default().nb(nb);
    let mut good = triangle(uplo, n, &a);
    potrf(rt, uplo, good.view_mut(), &options).expect("the matrix is positive definite");
    for bad in 0..n {
        for spoilt in [-1.0, f64::NAN] {
            let mut after = triangle(uplo, n, |i, j| if (i, j) == (bad, bad) { T::from_f64(spoilt) } else { a(i, j) });
            let error = potrf(rt, uplo, after.view_mut(), &options).expect_err("a pivot is bad");
            assert_eq!((error.kind(), error.info()), (ErrorKind::NotPositiveDefinite, Some(bad + 1)), "nb {nb}");
            // The tiles of the steps before hold the factor.
            for i in 0..bad / nb * nb {
                for j in 0..=i {
                    assert_eq!(
                        factor(uplo, &after, i, j),
                        factor(uplo, &good, i, j),
                        "pivot {bad}, nb {nb}, ({i}, {j})"
                    );
                }
            }
        }
    }
}

#[test]
fn info_names_the_first_bad_pivot() {
    let rt = Runtime::builder().workers(2).build().expect("threads can be started");
    for uplo in [Uplo::Lower, Uplo::Upper] {
        for nb in [1, 8, 16, 100] {
            for_each_type!(check_info(&rt, uplo, 37, nb));
        }
    }
}

/// A NaN at (i, j) reaches the pivot of row i, which reports it.
fn check_nan<T: Scalar>(rt: &Runtime, uplo: Uplo, n: usize, nb: usize) {
    let a = positive_definite::<T>(n);
    for i in 0..n {
        for j in 0..i {
            let here = |row: usize, col: usize| (row.max(col), row.min(col)) == (i, j);
            let nan = T::from_f64(f64::NAN);
            let mut spoilt = triangle(uplo, n, |row, col| if here(row, col) { nan } else { a(row, col) });
            let info = potrf(rt, uplo, spoilt.view_mut(), &Options::default().nb(nb)).expect_err("a NaN").info();
            assert_eq!(info, Some(i + 1), "{} {uplo:?} nb {nb}, NaN at ({i}, {j})", T::LETTER);
        }
    }
}

#[test]
fn a_nan_comes_back_as_info() {
    let rt = Runtime::builder().workers(2).build().expect("threads can be started");
    for uplo in [Uplo::Lower, Uplo::Upper] {
        for nb in [5, 100] {
            for_each_type!(check_nan(&rt, uplo, 23, nb));
        }
    }
}

fn check_composition<T: Scalar>(rt: &Runtime, uplo: Uplo, n: usize, nb: usize) -> Result<(), Error> {
    let (a, b, options) =
        (triangle(uplo, n, positive_definite::<T>(n)), right_hand_sides::<T>(n, 40), Options::default().nb(nb));
    let (mut factored, mut expected) = (a.clone(), b.clone());
    potrf(rt, uplo, factored.view_mut(), &options)?;
    potrs(rt, uplo, factored.view(), expected.view_mut(), &options)?;
    let (mut composed, mut x) = (a, b);
    rt.scope(|s| {
        let (a, b) = (Tiled::new(s, composed.view_mut(), nb, nb), Tiled::new(s, x.view_mut(), nb, nb));
        submit::potrf(s, uplo, &a);
        submit::potrs(s, uplo, &a, &b);
    })?;
    assert!(composed.bits() == factored.bits() && x.bits() == expected.bits(), "{} {uplo:?} n {n} nb {nb}", T::LETTER);
    Ok(())
}

#[test]
fn routines_compose_in_one_scope() {
    let check = |rt: &Runtime, uplo, n, nb| -> Result<(), Error> {
        check_composition::<f32>(rt, uplo, n, nb)?;
        check_composition::<f64>(rt, uplo, n, nb)?;
        check_composition::<c32>(rt, uplo, n, nb)?;
        check_composition::<c64>(rt, uplo, n, nb)
    };
    for rt in runtimes() {
        for uplo in [Uplo::Lower, Uplo::Upper] {
            check(&rt, uplo, 130, 32).expect("the matrix is positive definite");
        }
    }
}

#[test]
fn a_huge_leading_dimension_changes_nothing() {
    let rt = Runtime::builder().workers(2).build().expect("threads can be started");
    let (n, options) = (31, Options::default().nb(8));
    let a = positive_definite::<f64>(n);
    let mut dense = Stored::new(n, n, n, &a);
    let mut sparse = Stored::new(n, n, 1 << 16, &a);
    potrf(&rt, Uplo::Lower, dense.view_mut(), &options).expect("the matrix is positive definite");
    potrf(&rt, Uplo::Lower, sparse.view_mut(), &options).expect("the matrix is positive definite");
    assert!((0..n).all(|j| (0..n).all(|i| bits(dense.at(i, j)) == bits(sparse.at(i, j)))));
    assert!(sparse.data.iter().enumerate().all(|(at, value)| at % sparse.ld < n || *value == SENTINEL));
}

#[test]
fn rows_may_be_contiguous_instead_of_columns() {
    let rt = Runtime::builder().workers(2).build().expect("threads can be started");
    let (n, a) = (70, positive_definite::<c64>(70));
    let mut rows: Vec<c64> = (0..n * n).map(|at| a(at / n, at % n)).collect();
    let view = MatMut::from_strided(&mut rows, (n, n), (n, 1)).expect("the memory is large enough");
    potrf(&rt, Uplo::Lower, view, &Options::default().nb(16)).expect("the matrix is positive definite");
    let after = Stored { data: (0..n * n).map(|at| rows[at / n + at % n * n]).collect(), m: n, n, ld: n };
    let residual = factor_residual(Uplo::Lower, a, &after);
    assert!(residual <= BOUND, "residual {residual}");
}

#[test]
fn shapes_that_do_not_fit_are_refused() {
    let rt = Runtime::builder().workers(1).build().expect("threads can be started");
    let mut a = Stored::<f64>::padded(4, 3, |_, _| 1.0);
    let mut b = Stored::<f64>::padded(5, 2, |_, _| 1.0);
    let options = Options::default();
    let kinds = [
        potrf(&rt, Uplo::Lower, a.view_mut(), &options),
        potrs(&rt, Uplo::Lower, a.view(), b.view_mut(), &options),
        posv(&rt, Uplo::Upper, a.view_mut(), b.view_mut(), &options),
        potrf(&rt, Uplo::Lower, Stored::padded(3, 3, |_, _| 1.0).view_mut(), &options.nb(0)),
    ];
    assert!(
        kinds.iter().all(|outcome| outcome.as_ref().is_err_and(|error| error.kind() == ErrorKind::Shape)),
        "{kinds:?}"
    );
    assert!(a.data.iter().chain(&b.data).all(|value| *value == 1.0 || *value == SENTINEL), "a refusal changes nothing");
}
