//! Every check of every routine can fail: the routine is run, and then its result is spoilt in one place.

use super::*;
use crate::check::{BOUND, defect_wrong, ordinary};
use crate::range::Dim;
use superscalar_kernels::{Diag, Op, Side, Uplo};

fn cases() -> impl Iterator<Item = Case> {
    [0, 1, 2, 33].into_iter().flat_map(|n| {
        [Uplo::Lower, Uplo::Upper].map(|uplo| Case {
            dim: Dim { m: n, n, k: n },
            nrhs: 3,
            nb: TileSize::Fixed(8),
            uplo,
            side: Side::Left,
            trans_a: Op::None,
            trans_b: Op::None,
            diag: Diag::NonUnit,
        })
    })
}

/// Instantiated by the table of routines, for each and for each type.
pub fn checks_can_fail<R: Routine, T: Scalar>() {
    let runtime = Runtime::builder().workers(2).bind(false).build().expect("a runtime");
    let ours = Ours { runtime: &runtime, options: Options::default().nb(8) };
    for case in cases() {
        let mut make = Maker::new(11, 3, usize::MAX);
        let before = R::operands::<T>(&case, &mut make).expect("little memory");
        let mut after = before.duplicate().expect("little memory");
        let outcome = check::outcome(R::ours(&ours, &case, &mut after));
        let judge =
            |after: &Operands<T>, outcome: &Outcome| ordinary::<R, T>(&case, &before, after, outcome, BOUND).wrong;
        assert_eq!(judge(&after, &outcome), None, "{case:?}");
        assert!(judge(&after, &Ok(1)).is_some() && judge(&after, &Err("no".to_owned())).is_some());
        spoil(&before, &after, |spoilt| judge(spoilt, &outcome));
        for defect in R::defects(&case, &before) {
            if defect.expected == Expected::NotANumber {
                let ordinary = defect_wrong(&defect, &Ok(0), &after);
                assert!(ordinary.is_some(), "{} of {case:?}, where NaN got lost", defect.name);
            }
            let mut after = defect.operands.duplicate().expect("little memory");
            let outcome = check::outcome(R::ours(&ours, &case, &mut after));
            assert_eq!(defect_wrong(&defect, &outcome, &after), None, "{} of {case:?}", defect.name);
            if let Expected::Info(info) = defect.expected {
                assert!(defect_wrong(&defect, &Ok(info - 1), &after).is_some());
            }
        }
    }
}

/// Spoils each element of each matrix in turn: wherever it lies, a check has to say so.
fn spoil<T: Scalar>(before: &Operands<T>, after: &Operands<T>, judge: impl Fn(&Operands<T>) -> Option<String>) {
    for at in 0..after.matrices.len() {
        let (m, n) = after.matrices[at].view().shape();
        // All of a small matrix, and every few elements of a larger one.
        for (j, i) in (0..n).flat_map(|j| (j % 5..m).step_by(if m > 8 { 5 } else { 1 }).map(move |i| (j, i))) {
            for value in [T::from_f64(f64::NAN), T::from_f64(1.0)] {
                let mut spoilt = after.duplicate().expect("little memory");
                let element = &mut spoilt.matrices[at].view_mut()[(i, j)];
                // NaN over a NaN sentinel is no change.
                let spoils = !(value.is_nan() && element.is_nan());
                *element = if element.is_nan() { value } else { *element + value };
                assert!(!spoils || judge(&spoilt).is_some(), "matrix {at} ({i}, {j}) + {value}");
            }
        }
    }
    assert_eq!(before.matrices.len(), after.matrices.len());
}
