//! Tests the routines through the public interface, in all four types: backward errors, protected elements, info, exact
//! results.
//!
//! Residuals are computed from their definitions in complex double precision, independently of the kernels. Every task
//! that changes a tile waits for the one before, so a result depends only on the tile size, not on workers or policy.
//! The first result of each tile size is checked, and the others must be bitwise equal to it.

use std::collections::BTreeMap;
use superscalar::{
    PolicyName, Runtime,
    dla::{BlockSize, Error, ErrorKind, Options, Scalar, Tiled, posv, potrf, potrs, spawn},
    kernels::{Uplo, c32, c64},
};
use superscalar_oracle::{Layout, Storage, Stored, Wide, element, narrow, residual};

const ORDERS: [usize; 8] = [0, 1, 2, 3, 31, 64, 100, 257];
/// LAPACK's scaled residuals are divided by n ε, so those of stable routines are about one for all n; small n need some
/// room.
const BOUND: f64 = 5.0;
const SEED: u64 = 1;
/// Calls a generic function for s, d, c and z.
macro_rules! for_each_type {
    ($check:ident ( $($argument:expr),* )) => {
        $check::<f32>($($argument),*);
        $check::<f64>($($argument),*);
        $check::<c32>($($argument),*);
        $check::<c64>($($argument),*);
    };
}

fn is_named(uplo: Uplo, i: usize, j: usize) -> bool {
    if uplo == Uplo::Lower { i >= j } else { i <= j }
}

/// Returns a matrix with NaN in the other triangle, so that reading it corrupts the result.
fn triangle<T: Scalar>(uplo: Uplo, n: usize, f: impl Fn(usize, usize) -> T) -> Stored<T> {
    Stored::new((n, n), |i, j| if is_named(uplo, i, j) { f(i, j) } else { T::from_f64(f64::NAN) })
}

/// Returns L, for either stored triangle.
fn lower<T: Scalar>(uplo: Uplo, stored: &Stored<T>) -> Wide {
    let triangle = |storage| Wide::stored(storage, stored.view());
    if uplo == Uplo::Lower { triangle(Storage::LOWER) } else { triangle(Storage::UPPER).adjoint() }
}

/// Returns one runtime for each number of workers and policy.
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

/// Runs `call` with every block size on every runtime. `check` gets the first result of each tile size, and the others
/// must equal it.
fn on_all<T: Scalar, R>(runtimes: &[Runtime], n: usize, call: impl Fn(&Runtime, &Options) -> R, check: impl Fn(&R))
where
    R: PartialEq,
{
    let mut first: BTreeMap<usize, R> = BTreeMap::new();
    for (turn, block_size) in block_sizes(n).into_iter().enumerate() {
        let options = Options::default().block_size(block_size);
        // The default policy and one other, alternating over the block sizes so that all others occur.
        let (policies, other) = (PolicyName::ALL.len(), 1 + turn % (PolicyName::ALL.len() - 1));
        for (_, rt) in runtimes.iter().enumerate().filter(|(at, _)| [0, other].contains(&(at % policies))) {
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

fn check_potrf<T: Scalar>(runtimes: &[Runtime], uplo: Uplo, n: usize) {
    let a = Stored::<T>::positive_definite(n, SEED);
    let before = triangle(uplo, n, |i, j| a.at(i, j));
    let call = |rt: &Runtime, options: &Options| {
        let mut after = before.clone();
        potrf(rt, uplo, after.view_mut(), options).expect("the matrix is positive definite");
        after
    };
    on_all::<T, _>(runtimes, n, call, |after| {
        let what = format!("potrf {} {uplo:?} n {n}", T::LETTER);
        after.assert_kept(&before, &what, |i, j| !is_named(uplo, i, j));
        let residual = residual::cholesky::<T>(&a.wide(), &lower(uplo, after));
        assert!(residual <= BOUND, "{what}: residual {residual}");
    });
}

#[test]
fn potrf_is_backward_stable() {
    let runtimes = runtimes();
    for n in ORDERS {
        for uplo in [Uplo::Lower, Uplo::Upper] {
            for_each_type!(check_potrf(&runtimes, uplo, n));
        }
    }
}

fn check_posv<T: Scalar>(runtimes: &[Runtime], uplo: Uplo, n: usize, nrhs: usize) {
    let (a, b) = (Stored::<T>::positive_definite(n, SEED), Stored::<T>::random((n, nrhs), SEED + 1));
    let before = triangle(uplo, n, |i, j| a.at(i, j));
    let call = |rt: &Runtime, options: &Options| {
        let (mut factored, mut x) = (before.clone(), b.clone());
        posv(rt, uplo, factored.view_mut(), x.view_mut(), options).expect("the matrix is positive definite");
        let mut by_steps = b.clone();
        potrs(rt, uplo, factored.view(), by_steps.view_mut(), options).expect("the shapes fit");
        [factored, x, by_steps]
    };
    on_all::<T, _>(runtimes, n, call, |[factored, x, by_steps]| {
        let what = format!("posv {} {uplo:?} n {n} nrhs {nrhs}", T::LETTER);
        factored.assert_kept(&before, &what, |i, j| !is_named(uplo, i, j));
        for solution in [x, by_steps] {
            solution.assert_padding(&what);
            let residual = residual::solve::<T>(&a.wide(), &solution.wide(), &b.wide());
            assert!(residual <= BOUND, "{what}: residual {residual}");
        }
    });
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

/// Checks a matrix whose factor consists of small integers, with powers of two on the diagonal: every step is exact.
fn check_exact<T: Scalar>(rt: &Runtime, uplo: Uplo, n: usize) {
    let integer = |i: usize, j: usize| (7.0 * element::<f64>(SEED, i, j)).round();
    let l = |i: usize, j: usize| match i.cmp(&j) {
        std::cmp::Ordering::Equal => c64::from([1.0, 2.0, 4.0][i % 3]),
        std::cmp::Ordering::Greater if T::COMPLEX => c64::new(integer(i, j), integer(j, i)),
        std::cmp::Ordering::Greater => c64::from(integer(i, j)),
        std::cmp::Ordering::Less => c64::ZERO,
    };
    let a = |i: usize, j: usize| narrow::<T>((0..=i.min(j)).map(|k| l(i, k) * l(j, k).conj()).sum());
    for nb in [8, 32, n] {
        let mut after = triangle(uplo, n, a);
        potrf(rt, uplo, after.view_mut(), &Options::default().nb(nb)).expect("the matrix is positive definite");
        assert!(lower(uplo, &after) == Wide::new((n, n), l), "{} {uplo:?} nb {nb}", T::LETTER);
    }
}

#[test]
fn integer_factors_are_exact() {
    let rt = Runtime::builder().workers(2).build().expect("threads can be started");
    for uplo in [Uplo::Lower, Uplo::Upper] {
        for_each_type!(check_exact(&rt, uplo, 75));
    }
}

/// Checks a matrix whose leading minor of order `bad + 1` is the first that is not positive definite.
fn check_info<T: Scalar>(rt: &Runtime, uplo: Uplo, n: usize, nb: usize) {
    let a = Stored::<T>::positive_definite(n, SEED);
    let options = Options::default().nb(nb);
    let mut good = triangle(uplo, n, |i, j| a.at(i, j));
    potrf(rt, uplo, good.view_mut(), &options).expect("the matrix is positive definite");
    for bad in 0..n {
        for spoilt in [-1.0, f64::NAN] {
            let mut after = triangle(uplo, n, |i, j| a.at(i, j));
            after.set(bad, bad, T::from_f64(spoilt));
            let error = potrf(rt, uplo, after.view_mut(), &options).expect_err("a pivot is bad");
            assert_eq!((error.kind(), error.info()), (ErrorKind::NotPositiveDefinite, Some(bad + 1)), "nb {nb}");
            // The tiles of the previous steps contain the factor.
            let done = 0..bad / nb * nb;
            let part = |a: &Stored<T>| lower(uplo, a).submatrix(done.clone(), done.clone());
            assert!(part(&after) == part(&good), "pivot {bad}, nb {nb}");
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

/// Checks that a NaN at (i, j) reaches the pivot of row i, which reports it.
fn check_nan<T: Scalar>(rt: &Runtime, uplo: Uplo, n: usize, nb: usize) {
    let a = Stored::<T>::positive_definite(n, SEED);
    for i in 0..n {
        for j in 0..i {
            let here = |row: usize, col: usize| (row.max(col), row.min(col)) == (i, j);
            let nan = T::from_f64(f64::NAN);
            let mut spoilt = triangle(uplo, n, |row, col| if here(row, col) { nan } else { a.at(row, col) });
            let info = potrf(rt, uplo, spoilt.view_mut(), &Options::default().nb(nb)).expect_err("a NaN").info();
            assert_eq!(info, Some(i + 1), "{} {uplo:?} nb {nb}, NaN at ({i}, {j})", T::LETTER);
        }
    }
}

#[test]
fn nan_gives_info() {
    let rt = Runtime::builder().workers(2).build().expect("threads can be started");
    for uplo in [Uplo::Lower, Uplo::Upper] {
        for nb in [5, 100] {
            for_each_type!(check_nan(&rt, uplo, 23, nb));
        }
    }
}

fn check_composition<T: Scalar>(rt: &Runtime, uplo: Uplo, n: usize, nb: usize) -> Result<(), Error> {
    let full = Stored::<T>::positive_definite(n, SEED);
    let (a, b) = (triangle(uplo, n, |i, j| full.at(i, j)), Stored::<T>::random((n, 40), SEED + 1));
    let options = Options::default().nb(nb);
    let (mut factored, mut expected) = (a.clone(), b.clone());
    potrf(rt, uplo, factored.view_mut(), &options)?;
    potrs(rt, uplo, factored.view(), expected.view_mut(), &options)?;
    let (mut composed, mut x) = (a, b);
    rt.scope(|s| {
        let (a, b) = (Tiled::new(s, composed.view_mut(), nb, nb), Tiled::new(s, x.view_mut(), nb, nb));
        spawn::potrf(s, uplo, &a);
        spawn::potrs(s, uplo, &a, &b);
    })?;
    assert!(composed == factored && x == expected, "{} {uplo:?} n {n} nb {nb}", T::LETTER);
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
fn large_leading_dimension_changes_nothing() {
    let rt = Runtime::builder().workers(2).build().expect("threads can be started");
    let (n, options) = (31, Options::default().nb(8));
    let a = Stored::<f64>::positive_definite(n, SEED);
    let [mut dense, mut sparse] =
        [0, 1 << 16].map(|padding| Stored::laid_out((n, n), Layout { padding, ..Layout::PLAIN }, |i, j| a.at(i, j)));
    potrf(&rt, Uplo::Lower, dense.view_mut(), &options).expect("the matrix is positive definite");
    potrf(&rt, Uplo::Lower, sparse.view_mut(), &options).expect("the matrix is positive definite");
    let bits = |a: &Stored<f64>| a.view().to_vec().into_iter().map(f64::to_bits).collect::<Vec<_>>();
    assert_eq!(bits(&dense), bits(&sparse));
    sparse.assert_padding("potrf");
}

#[test]
fn row_major_matrices_work() {
    let rt = Runtime::builder().workers(2).build().expect("threads can be started");
    let a = Stored::<c64>::positive_definite(70, SEED);
    let mut rows = Stored::laid_out((70, 70), Layout { transposed: true, ..Layout::PLAIN }, |i, j| a.at(i, j));
    potrf(&rt, Uplo::Lower, rows.view_mut(), &Options::default().nb(16)).expect("the matrix is positive definite");
    rows.assert_padding("potrf");
    let residual = residual::cholesky::<c64>(&a.wide(), &lower(Uplo::Lower, &rows));
    assert!(residual <= BOUND, "residual {residual}");
}

#[test]
fn mismatched_shapes_are_refused() {
    let rt = Runtime::builder().workers(1).build().expect("threads can be started");
    let mut a = Stored::<f64>::new((4, 3), |_, _| 1.0);
    let mut b = Stored::<f64>::new((5, 2), |_, _| 1.0);
    let options = Options::default();
    let kinds = [
        potrf(&rt, Uplo::Lower, a.view_mut(), &options),
        potrs(&rt, Uplo::Lower, a.view(), b.view_mut(), &options),
        posv(&rt, Uplo::Upper, a.view_mut(), b.view_mut(), &options),
        potrf(&rt, Uplo::Lower, Stored::new((3, 3), |_, _| 1.0).view_mut(), &options.nb(0)),
    ];
    assert!(
        kinds.iter().all(|outcome| outcome.as_ref().is_err_and(|error| error.kind() == ErrorKind::Shape)),
        "{kinds:?}"
    );
    for matrix in [&a, &b] {
        matrix.assert_kept(&Stored::new(matrix.shape(), |_, _| 1.0), "a refusal changes nothing", |_, _| true);
    }
}
