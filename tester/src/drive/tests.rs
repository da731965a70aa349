//! Tests that every check of every routine can fail: the routine is run, and its result is then corrupted in one place.

use super::*;
use crate::case::Choices;
use crate::check::{defect_wrong, ordinary};
use crate::operand::Keeps;
use crate::range::TileSize;
use superscalar::devices;
use superscalar_oracle::ROUNDINGS_MAX;
use superscalar_runtime::Runtime;

/// Small sizes with all options, in two of the four types. One more small size, and larger ones with several tiles,
/// have the first and the last options only.
fn cases<T: Scalar>(routine: &Methods<T>) -> Vec<Case> {
    let admitted = |dims: &[(usize, usize, usize)]| -> Vec<Case> {
        let cases = Choices::every_letter(dims).cases(routine.uses);
        cases.into_iter().filter(routine.admits).collect()
    };
    let small = [(0, 0, 0), (1, 1, 1), (2, 2, 2), (3, 5, 4)].map(|dim| (dim, T::LETTER == 's' || T::LETTER == 'z'));
    let others = [(5, 3, 4), (33, 33, 33), (20, 11, 9), (11, 20, 9)].map(|dim| (dim, false));
    let mut cases = Vec::new();
    for (dim, with_every_letter) in small.into_iter().chain(others) {
        let mut of_dim = admitted(&[dim]);
        if !with_every_letter && of_dim.len() > 2 {
            of_dim.drain(1..of_dim.len() - 1);
        }
        cases.append(&mut of_dim);
    }
    cases
}

/// Called by the table of routines, for each routine and each type.
pub fn checks_can_fail<T: Scalar>(routine: &Methods<T>) {
    if routine.absent.is_some() {
        return;
    }
    let runtime = Runtime::builder().workers(2).bind(false).build().expect("a runtime");
    let ours = Ours::new(&runtime, TileSize::Fixed(8), None);
    let devices =
        devices::open("sim:0:flops=0:rate=0:latency=0:link=0:link-latency=0", None).expect("a simulated device");
    let builder = Runtime::builder().workers(1).bind(false).weights_file(None);
    let runtime = devices.add_to(builder).build().expect("a runtime");
    let on_devices = Ours::new(&runtime, TileSize::Auto, None);
    for case in cases(routine) {
        let mut make = Maker::new(11, 3, usize::MAX);
        let before = (routine.operands)(&case, &mut make).expect("little memory");
        let mut after = before.duplicate().expect("little memory");
        let outcome = check::outcome((routine.ours)(&ours, &case, &mut after));
        let judge = |after: &Operands<T>, outcome: &CallOutcome| {
            ordinary(routine, &case, &before, after, outcome, ROUNDINGS_MAX).wrong
        };
        assert_eq!(judge(&after, &outcome), None, "{} {} {case:?}", T::LETTER, routine.name);
        assert!(judge(&after, &Ok(1)).is_some() && judge(&after, &Err("no".to_owned())).is_some());
        spoil(&case, &after, |spoilt| judge(spoilt, &outcome));
        // Of the small cases, only the one without elements; and all cases with several tiles.
        let size = case.dim.m.max(case.dim.n).max(case.dim.k);
        if routine.tiling.is_some() && (size == 0 || size > 8) {
            let mut after = before.duplicate().expect("little memory");
            let outcome = check::outcome((routine.resident)(&on_devices, &case, &mut after).1);
            assert_eq!(judge(&after, &outcome), None, "{} {} {case:?} on devices", T::LETTER, routine.name);
        }
        for defect in (routine.defects)(&case, &before) {
            let wrong = |outcome: &CallOutcome, after: &Operands<T>| {
                defect_wrong(routine, &defect, outcome, after, ROUNDINGS_MAX)
            };
            if defect.expected == Expected::NotANumber {
                assert!(wrong(&Ok(0), &after).is_some(), "{} of {case:?}, where NaN got lost", defect.name);
            }
            let mut after = defect.operands.duplicate().expect("little memory");
            let outcome = check::outcome((routine.ours)(&ours, &defect.case, &mut after));
            assert_eq!(wrong(&outcome, &after), None, "{} {}: {} of {case:?}", T::LETTER, routine.name, defect.name);
            if let Expected::Info(info) | Expected::Completed(info) = defect.expected {
                assert!(wrong(&Ok(info - 1), &after).is_some());
            }
        }
    }
}

/// Corrupts each element of each matrix, and each interchange, one at a time: a check must find each error. Elements
/// with undefined contents are skipped. Alternate elements become NaN or one larger; wide cases start with the other
/// kind.
fn spoil<T: Scalar>(case: &Case, after: &Operands<T>, judge: impl Fn(&Operands<T>) -> Option<String>) {
    for at in (0..after.matrices.len()).filter(|&at| !after.matrices[at].is_scrap()) {
        let (m, n) = after.matrices[at].view().shape();
        // All elements of a small matrix, and some of a larger one.
        let step = if m.max(n) > 8 { 7 } else { 1 };
        for (i, j) in (0..n).flat_map(|j| (j % step..m).step_by(step).map(move |i| (i, j))) {
            let is_wide = case.dim.m < case.dim.n;
            let mut spoilt = after.duplicate().expect("little memory");
            let element = &mut spoilt.matrices[at].view_mut()[(i, j)];
            // NaN in place of a NaN sentinel would be no change.
            let becomes_nan = !element.is_nan() && (i + j + usize::from(is_wide)) % 2 == 0;
            let value = if becomes_nan { T::from_f64(f64::NAN) } else { T::ONE };
            *element = if element.is_nan() { value } else { *element + value };
            assert!(judge(&spoilt).is_some(), "matrix {at} ({i}, {j}) + {value}, {case:?}");
        }
    }
    if after.pivots_keep != Keeps::Scrap {
        for at in 0..after.pivots.len() {
            for other in [0, after.pivots[at] + 1] {
                let mut spoilt = after.duplicate().expect("little memory");
                spoilt.pivots[at] = other;
                assert!(judge(&spoilt).is_some(), "interchange {at} with {other}, {case:?}");
            }
        }
    }
}
