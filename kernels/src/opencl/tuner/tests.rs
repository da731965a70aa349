//! Rows that fail on a device, and the rows of this crate's database.

use super::*;
use crate::{
    c32, c64,
    opencl::{Class, LoopingTile, ProductForm},
    scalar::LETTERS,
};
use std::path::Path;
use superscalar_devices::opencl::devices;

/// Returns the first device that has double precision.
fn device() -> Option<DiscoveredDevice> {
    let found = devices().expect("drivers answer").into_iter().find(|device| device.class().has_f64);
    if found.is_none() {
        eprintln!("SKIPPED: no device for OpenCL");
    }
    found
}

/// Returns a row whose kernel does not compile: OpenCL C has no vectors of five numbers.
fn broken() -> Parameters {
    let tile = LoopingTile { m_wg: 10, n_wg: 8, k_wg: 64, m_wi: 10, n_wi: 4, vector: 5 };
    Parameters { product: ProductForm::Looping(tile), ..Parameters::of(Class::Cpu, 's') }
}

#[test]
fn wrong_results_and_nan_are_seen() {
    let Some(device) = device() else { return };
    let folder = ProgramFolder::new().expect("a folder");
    let row = *row_of(device.class(), 'c').expect("a row");
    let mut trial = Trial::<c32>::new(&device, &folder.0, 64).expect("the device opens");
    assert!(trial.is_right(&row).expect("it runs"));
    for wrong in [c32::new(0.5, 0.0), c32::new(0.0, f32::NAN)] {
        let before = trial.expect_other(77, wrong);
        assert!(!trial.is_right(&row).expect("it runs"), "{wrong}");
        trial.expect_other(77, before);
    }
    assert!(trial.is_right(&row).expect("it runs"));
}

#[test]
fn row_that_does_not_compile_is_discarded() {
    let Some(device) = device() else { return };
    let mut tuner = Tuner::open(&device).expect("the device opens");
    let row = *row_of(device.class(), 's').expect("a row");
    for row in [broken(), row] {
        tuner.compilers.compile(Proposal { point: None, row });
    }
    let until = Instant::now() + Duration::from_secs(60);
    let mut next = || tuner.compilers.next(until).expect("in time");
    let (first, second) = (next(), next());
    assert!(first.0.row == broken() && first.1.is_err(), "{first:?}");
    assert!(second.0.row == row && second.1.is_ok(), "{second:?}");
    // What was forgotten is not returned.
    tuner.compilers.compile(Proposal { point: None, row: broken() });
    tuner.compilers.forget();
    tuner.compilers.compile(Proposal { point: None, row });
    assert!(tuner.compilers.next(until).is_some_and(|(proposal, _)| proposal.row == row));
}

/// A row that fails on the device leaves operands without a value. The next one is measured as if nothing happened.
#[test]
fn search_goes_on_after_a_failure() {
    let Some(device) = device() else { return };
    let mut tuner = Tuner::open(&device).expect("the device opens");
    let row = *row_of(device.class(), 's').expect("a row");
    let trial = Trial::<f32>::new(&device, &tuner.folder.0, 128).expect("operands");
    let time = Schedule { begun: Instant::now(), seconds: 60.0 };
    let mut search =
        Search { tuner: &mut tuner, trial, time, report: |_: &Measured<'_>| (), measured: 0, discarded: 0 };
    assert!(search.checked_and_timed(Stage::Product, &broken(), f64::INFINITY).is_err());
    let packed = search.checked_and_timed(Stage::Packing(1), &row, f64::INFINITY);
    assert!(packed.as_ref().is_ok_and(|&seconds| seconds > 0.0), "{packed:?}");
    // A row in use that fails is replaced by the crate's.
    let first = search.first(broken()).expect("the crate's row");
    assert!(first.proposal.row == Parameters::of(Class::of(device.class()), 's') && first.seconds > 0.0);
    assert_eq!((search.measured, search.discarded), (1, 1));
}

fn check_rows<T: Scalar>(device: &DiscoveredDevice, folder: &Path) {
    let mut trial = Trial::<T>::new(device, folder, 64).expect("the device opens");
    let rows = Database::shipped().rows.iter().filter(|row| row.parameters.letter == T::LETTER);
    for row in rows.map(|row| row.parameters) {
        match row.check(&GroupLimits::of(device.class())) {
            Ok(()) => assert!(trial.is_right(&row).expect("it runs"), "{row}"),
            Err(constraint) => println!("SKIPPED: {row}: {constraint}"),
        }
    }
}

#[test]
fn shipped_rows_compute_right_products() {
    let Some(device) = device() else { return };
    let folder = ProgramFolder::new().expect("a folder");
    for letter in LETTERS {
        match letter {
            's' => check_rows::<f32>(&device, &folder.0),
            'd' => check_rows::<f64>(&device, &folder.0),
            'c' => check_rows::<c32>(&device, &folder.0),
            _ => check_rows::<c64>(&device, &folder.0),
        }
    }
}
