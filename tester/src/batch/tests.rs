//! Tests that the check of a batch can fail: a batch is computed, and its result is then corrupted in one place.

use super::roles::{Role, has_outcomes};
use super::*;
use crate::elements::MemoryKind;
use crate::range::TileSize;
use crate::sizes::BatchSizes;
use superscalar_oracle::ROUNDINGS_MAX;
use superscalar_runtime::Runtime;

const BATCH: Batch = Batch { count: 9, sizes: BatchSizes::Random, bad: 2 };

/// Called by the table of routines, for each routine and each type.
pub fn checks_can_fail<T: Scalar>(routine: &Methods<T>, has_batch_form: bool) {
    let case = Case::with_dim(6, 6, 6);
    let operation = (routine.batched)(&case);
    assert_eq!(operation.is_some(), has_batch_form, "{}", routine.name);
    let Some(operation) = operation else { return };
    let problems = Problems::new(routine, &case, BATCH, 4, 1);
    let mut store = Store::new(&problems, operation, (1, MemoryKind::Pageable, usize::MAX)).expect("little memory");
    let examined = Examined { sample: problems.sample(CHECKED_MAX), bad: problems.bad().expect("little memory") };
    let runtime = Runtime::builder().workers(2).bind(false).build().expect("a runtime");
    let wrong =
        |store: &Store<T>| verdict::judge(routine, &problems, store, &examined, (true, Some(ROUNDINGS_MAX))).wrong;
    store.restore();
    assert!(!has_outcomes(&operation) || wrong(&store).is_some(), "{}: no problem was computed", routine.name);
    let (_, result) = ours::on_host(&Ours::new(&runtime, TileSize::Fixed(4), None), &mut store);
    assert_eq!((result.err().map(|error| error.to_string()), wrong(&store)), (None, None), "{}", routine.name);
    for p in (0..BATCH.count).filter(|p| !examined.bad.contains(p)) {
        let what = format!("{} {}: problem {p}", T::LETTER, routine.name);
        store.info[p] = 1;
        assert!(wrong(&store).is_some(), "{what}: info");
        store.info[p] = 0;
        let scrap = problems.make(p).expect("little memory").into_operands();
        for at in 0..store.matrices.len() {
            let ((m, n), stored) = (store.matrices[at].all.shapes()[p], &mut store.matrices[at]);
            if stored.role == Role::Read || scrap.matrices[at].is_scrap() || m * n == 0 {
                continue;
            }
            let right = stored.all.get(p)[0];
            for corrupt in [T::from_f64(f64::NAN), right + T::ONE] {
                store.matrices[at].all.get_mut(p)[0] = corrupt;
                assert!(wrong(&store).is_some(), "{what}: {corrupt} in matrix {at}");
            }
            store.matrices[at].all.get_mut(p)[0] = right;
        }
    }
    for &p in examined.bad.iter().filter(|_| has_outcomes(&operation)) {
        let right = std::mem::replace(&mut store.info[p], -3);
        assert!(wrong(&store).is_some(), "{}: info of bad problem {p}", routine.name);
        store.info[p] = right;
    }
    assert_eq!(wrong(&store), None, "{}", routine.name);
}
