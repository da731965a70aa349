//! The batched routines give the results of the routines for one problem, in each form, type and width of integers.

#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

mod forms;
mod misuse;
mod problem;
mod routine;
#[path = "../shared/mod.rs"]
mod shared;
mod values;

use forms::{Call, Form};
use libloading::Library;
use problem::{Case, Problem};
use shared::{library, run_all_tiled, symbol};
use values::Values;

/// Sizes of the problems of a batch in which all are the same, their number, and the gaps in and between matrices.
const UNIFORM: [([usize; 3], usize, usize); 5] =
    [([5, 4, 3], 37, 0), ([5, 4, 3], 19, 3), ([4, 4, 1], 16, 0), ([40, 33, 20], 3, 2), ([7, 0, 0], 4, 0)];
/// Sizes of problems of one batch: in groups and alone, empty and large.
const RAGGED: [[usize; 3]; 12] = [
    [4, 4, 4],
    [4, 4, 4],
    [4, 4, 4],
    [0, 0, 0],
    [1, 1, 1],
    [9, 4, 2],
    [9, 0, 0],
    [17, 16, 1],
    [17, 16, 1],
    [33, 8, 8],
    [2, 1, 1],
    [40, 33, 3],
];

/// Returns the batches of a case in a form: the problems, and the elements between strided matrices.
fn batches(library: &Library, case: &Case, form: Form) -> Vec<(Vec<Problem>, usize)> {
    let uniform = UNIFORM.iter().map(|&(sizes, count, gap)| (vec![sizes; count], gap));
    let ragged = [(RAGGED.to_vec(), 0), (RAGGED.to_vec(), 2)];
    let all: Vec<_> = if form == Form::Vbatched { ragged.into() } else { uniform.collect() };
    let problem = |(p, sizes), gap| Problem::new(library, case, sizes, p, gap);
    all.into_iter()
        .map(|(sizes, gap)| (sizes.into_iter().enumerate().map(|it| problem(it, gap)).collect(), gap))
        .collect()
}

/// Asserts that a problem has been solved like another one: with the same interchanges and about the same elements, and
/// with the same elements where nothing is written.
fn assert_alike(case: &Case, found: &Problem, expected: &Problem, what: &str) {
    for (at, (found, expected)) in found.operands.iter().zip(&expected.operands).enumerate() {
        let [m, n] = found.shape;
        let largest = largest_of(expected.indices().map(|i| expected.values.get(i).abs()).chain([1.0]), what);
        let bound = match found.values {
            Values::Narrow(_) | Values::Wide(_) => 0.0,
            _ => 100.0 * (m + n) as f64 * case.interface.of.epsilon() * largest,
        };
        let mut is_inside = vec![false; found.values.len()];
        found.indices().for_each(|i| is_inside[i] = true);
        for (i, is_inside) in is_inside.into_iter().enumerate() {
            let (x, y) = (found.values.get(i), expected.values.get(i));
            let is_close = if is_inside { (x - y).abs() <= bound } else { x == y };
            assert!(is_close, "{what}, operand {at} of {m} x {n}: {x} at {i}, expected {y}");
        }
    }
}

/// Returns the largest number. NaN and infinity are refused.
fn largest_of(numbers: impl Iterator<Item = f64>, what: &str) -> f64 {
    numbers.fold(0.0, |largest, x| {
        assert!(x.is_finite(), "{what}: {x}");
        if x > largest { x } else { largest }
    })
}

/// Asserts that Qᴴ A P is bidiagonal with the diagonals d and e.
fn assert_bidiagonal(library: &Library, case: &Case, before: &Problem, after: &Problem, what: &str) {
    let ([m, n, _], of) = (before.sizes, case.interface.of);
    if n == 0 {
        return;
    }
    let adjoint = if of.is_complex() { "C" } else { "T" };
    let [unmqr, unmlq] = if of.is_complex() { ["unmqr", "unmlq"] } else { ["ormqr", "ormlq"] };
    let [reflectors, d, e, tauq, taup] = [0, 1, 2, 3, 4].map(|at| after.operands[at].clone());
    let product = Problem { sizes: [m, n, n], operands: vec![reflectors.clone(), tauq, before.operands[0].clone()] };
    let (product, info) = product.solved_by(library, unmqr, case, &format!("L{adjoint}"), 3);
    assert_eq!(info, 0, "{what}");
    let mut b = product.operands[2].clone();
    if n > 1 {
        // P changes all columns but the first, and its reflectors begin in the second column of the first row.
        let behind = |operand: &problem::Operand, cols: usize| {
            let mut part = operand.clone();
            part.shape = [operand.shape[0], cols];
            let start = operand.index(0, 1);
            part.values = operand.values.with_len(operand.values.len() - start, 0.0);
            (0..part.values.len()).for_each(|i| part.values.set(i, operand.values.get(start + i)));
            part
        };
        let operands = vec![behind(&reflectors, n - 1), taup, behind(&b, n - 1)];
        let product = Problem { sizes: [m, n - 1, n - 1], operands };
        let (product, info) = product.solved_by(library, unmlq, case, &format!("R{adjoint}"), 3);
        assert_eq!(info, 0, "{what}");
        let start = b.index(0, 1);
        (start..b.values.len()).for_each(|i| b.values.set(i, product.operands[2].values.get(i - start)));
    }
    let bound = 100.0 * (m + n) as f64 * of.epsilon() * ((m * n) as f64).sqrt();
    for (i, j) in (0..n).flat_map(|j| (0..m).map(move |i| (i, j))) {
        let expected = match j {
            _ if i == j => d.values.get(i),
            _ if i + 1 == j => e.values.get(i),
            _ => 0.0,
        };
        for part in 0..b.parts {
            let (x, expected) = (b.values.get(b.index(i, j) + part), if part == 0 { expected } else { 0.0 });
            assert!((x - expected).abs() <= bound, "{what}: ({i}, {j}) of {m} x {n} is {x}, expected {expected}");
        }
    }
}

fn check(library: &Library, case: &Case, form: Form) {
    for (problems, gap) in batches(library, case, form) {
        let before = problems.clone();
        let mut call = Call::new(library, case, form, problems, gap);
        let what = format!("{:?} {} {} {form:?}, gap {gap}", case.interface, case.name(), case.options);
        assert_eq!(call.run(), 0, "{what}");
        for (p, problem) in before.iter().enumerate() {
            let what = &format!("{what}, problem {p} of {:?}", problem.sizes);
            if case.name() == "gebrd" {
                assert_bidiagonal(library, case, problem, &call.problems[p], what);
                continue;
            }
            let (expected, info) = problem.solved(library, case);
            assert_alike(case, &call.problems[p], &expected, what);
            assert!(!case.routine.has_info || call.info.get(p) == info as f64, "{what}: info {}", call.info.get(p));
        }
    }
}

#[test]
fn results_of_single_routines() {
    let library = library();
    for case in Case::all(|_| true) {
        Form::ALL.into_iter().for_each(|form| check(&library, &case, form));
    }
}

/// Every fourth problem has no solution: its matrix is indefinite or singular, or has a NaN. Its `info` is that of the
/// routine for one problem, and the other problems have the results that they have without it.
#[test]
fn bad_problems_stay_alone() {
    let library = library();
    lets_nan_pass(&library);
    for (case, form) in Case::all(|it| it.has_info).iter().flat_map(|case| Form::ALL.map(|form| (case, form))) {
        let sizes = if case.name() == "gels" { [8, 6, 2] } else { [6, 6, 2] };
        let good: Vec<_> = (0..40).map(|p| Problem::new(&library, case, sizes, p, 1)).collect();
        let mut bad = good.clone();
        for p in (0..40).step_by(4) {
            let a = &mut bad[p].operands[0];
            match p % 8 {
                0 if case.name().starts_with("po") => a.values.set(a.index(3, 3), -1.0),
                0 => (0..8.min(a.shape[0]))
                    .for_each(|i| (0..a.parts).for_each(|part| a.values.set(a.index(i, 3) + part, 0.0))),
                _ => a.values.set(a.index(2, 2), f64::NAN),
            }
        }
        let [mut fine, mut found] = [&good, &bad].map(|problems| Call::new(&library, case, form, problems.clone(), 0));
        assert_eq!((fine.run(), found.run()), (0, 0));
        for (p, bad) in bad.iter().enumerate() {
            let what = format!("{:?} {} {form:?}, problem {p}", case.interface, case.name());
            if p % 4 > 0 {
                // Neighbours may be computed together or apart, which rounds differently.
                assert_alike(case, &found.problems[p], &fine.problems[p], &what);
                assert_eq!(found.info.get(p), 0.0, "{what}");
                continue;
            }
            // Without interchanges, NaN reaches other elements than with them.
            if case.name() != "getrf_nopiv" || p % 8 == 0 {
                assert_eq!(found.info.get(p), bad.solved(&library, case).1 as f64, "{what}");
            }
            assert!(p % 8 > 0 || found.info.get(p) == 4.0, "{what}: info {}", found.info.get(p));
            if found.info.get(p) != 0.0 && ["posv", "gesv"].contains(&case.name()) {
                let [x, b] = [&found.problems[p], bad].map(|problem| &problem.operands.last().expect("B").values);
                assert!(x.is_same(b), "{what}: the right-hand sides were changed");
            }
        }
    }
}

/// In this process, two workers compute five problems in each task.
#[test]
fn tiled_runtime_computes_all() {
    let log = run_all_tiled("tiled_runtime_computes_all");
    for case in Case::all(|_| true) {
        let name = format!("superscalar_{}{}_", case.interface.of.0, case.name());
        let mut lines = log.lines().filter(|line| line.starts_with(&name));
        assert!(lines.any(|line| line.contains("by the runtime")), "{name}");
    }
}

fn lets_nan_pass(library: &Library) {
    // SAFETY: the symbol has this type.
    unsafe { symbol::<unsafe extern "C" fn(i32)>(library, "LAPACKE_set_nancheck")(0) }
}
