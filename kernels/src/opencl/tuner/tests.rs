//! Rows that fail on a device.

use super::*;
use crate::opencl::{Class, LoopingTile, ProductForm};
use superscalar_devices::opencl::devices;

/// Returns the first device that has double precision.
fn device() -> Option<DiscoveredDevice> {
    let found = devices().expect("drivers answer").into_iter().find(|device| device.class().has_f64);
    let required = std::env::var_os("REQUIRE_OPENCL").is_some_and(|value| value == "1");
    assert!(found.is_some() || !required, "REQUIRE_OPENCL is 1, but there is no OpenCL device");
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
/// Unit tests have no kernels of the host, so here all results count as wrong.
#[test]
fn search_goes_on_after_a_failure() {
    let Some(device) = device() else { return };
    let mut tuner = Tuner::open(&device).expect("the device opens");
    let row = *row_of(device.class(), 's').expect("a row");
    let trial = Trial::expecting(vec![5.0_f32; 1 << 20], &device, &tuner.folder.0, 128).expect("operands");
    let (time, report) = (Schedule { begun: Instant::now(), seconds: 60.0 }, |_: &Measured<'_>| ());
    let mut search = Search { tuner: &mut tuner, trial, time, report, measured: 0, discarded: 0 };
    let refused = search.checked_and_timed(Stage::Product, &broken(), f64::INFINITY);
    assert!(refused.as_ref().is_err_and(|error| error.to_string().contains("cannot run")), "{refused:?}");
    let wrong = search.checked_and_timed(Stage::Product, &row, f64::INFINITY);
    assert!(wrong.as_ref().is_err_and(|error| error.to_string().contains("wrong products")), "{wrong:?}");
    let packed = search.timed(Stage::Packing(1), &row, f64::INFINITY);
    // On a busy machine so small a copy may seem to take no time.
    let is_too_brief = packed.as_ref().is_err_and(|error| error.to_string().contains("less time than a task"));
    assert!(is_too_brief || packed.as_ref().is_ok_and(|&seconds| seconds > 0.0), "{packed:?}");
    // A row in use that fails is replaced by the crate's, and both are counted.
    let error = search.first(broken()).map(|timed| timed.seconds).expect_err("all results are wrong");
    assert!(error.to_string().contains("wrong products"), "{error}");
    assert_eq!((search.measured, search.discarded), (0, 2));
}
