//! The suite detects errors: backends with one fault each fail it.

use super::{Image, OnHost, Runner, Suite, moves, oracle, panels, products, triangles};
use std::panic::{AssertUnwindSafe, catch_unwind};
use superscalar_kernels::{
    NotPositiveDefinite, Op,
    device::Call,
    operations::{Gemm, Geqrf, Getrf, Larfb, Triangular},
};
use superscalar_runtime::DeviceError;

/// The host's kernels with a fault.
struct FaultyBackend<F>(F);

impl<F: FnMut(&Call<f64>, &mut Image) -> Result<(), DeviceError>> Runner<f64> for FaultyBackend<F> {
    fn run(&mut self, call: &Call<f64>, image: &mut Image) -> Result<(), DeviceError> {
        (self.0)(call, image)
    }
}

/// Returns whether the test fails on a backend with this fault.
fn fails(test: fn(&mut Suite<'_, f64>), fault: impl FnMut(&Call<f64>, &mut Image) -> Result<(), DeviceError>) -> bool {
    catch_unwind(AssertUnwindSafe(|| test(&mut Suite::new(1, &mut FaultyBackend(fault))))).is_err()
}

/// Runs the host's kernels, without a fault.
fn right(call: &Call<f64>, image: &mut Image) -> Result<(), DeviceError> {
    OnHost.run(call, image)
}

#[test]
fn correct_backend_passes() {
    for test in [products::gemm, triangles::potrf_fails, moves::laswp, panels::getrf, panels::geqrf] {
        assert!(!fails(test, right));
    }
}

#[test]
fn byte_after_a_column_is_detected() {
    let scribbles = |call: &Call<f64>, image: &mut Image| {
        right(call, image)?;
        let (mat, _) = oracle::written(call);
        let behind = (mat.offset + mat.m) * size_of::<f64>();
        image.bytes_mut()[behind] ^= 1;
        Ok(())
    };
    assert!(fails(products::gemm, scribbles) && fails(moves::copy, scribbles));
}

#[test]
fn element_of_the_other_triangle_is_detected() {
    let whole = |call: &Call<f64>, image: &mut Image| match *call {
        Call::Gemm(Gemm { part: Some(_), op_a, op_b, alpha, a, b, beta, c }) => {
            right(&Call::Gemm(Gemm { part: None, op_a, op_b, alpha, a, b, beta, c }), image)
        }
        _ => right(call, image),
    };
    assert!(fails(products::gemm, whole));
}

#[test]
fn reading_c_with_zero_beta_is_detected() {
    let multiplies = |call: &Call<f64>, image: &mut Image| {
        let Call::Gemm(Gemm { beta: 0.0, c, .. }) = *call else { return right(call, image) };
        let old = image.elements(c);
        right(call, image)?;
        for (at, old) in old.into_iter().enumerate() {
            let (i, j) = (at % c.m, at / c.m);
            image.set(c, i, j, image.at(c, i, j) + 0.0 * old);
        }
        Ok(())
    };
    assert!(fails(products::gemm_factors, multiplies));
}

#[test]
fn last_bit_of_exact_results_is_detected() {
    let rounds = |call: &Call<f64>, image: &mut Image| {
        right(call, image)?;
        let (mat, _) = oracle::written(call);
        if mat.m > 0 && mat.n > 0 {
            let last = image.at(mat, mat.m - 1, mat.n - 1);
            image.set(mat, mat.m - 1, mat.n - 1, last.next_up());
        }
        Ok(())
    };
    assert!(fails(products::symm, rounds) && fails(triangles::trmm, rounds) && fails(moves::scale, rounds));
}

#[test]
fn wrong_minor_is_detected() {
    let miscounts = |call: &Call<f64>, image: &mut Image| {
        right(call, image).map_err(|error| match error.outcome_ref::<NotPositiveDefinite>() {
            Some(known) => DeviceError::outcome(NotPositiveDefinite { minor: known.minor + 1 }),
            None => error,
        })
    };
    let untyped =
        |call: &Call<f64>, image: &mut Image| right(call, image).map_err(|error| DeviceError::new(error.to_string()));
    assert!(fails(triangles::potrf_fails, miscounts) && fails(triangles::potrf_fails, untyped));
}

#[test]
fn wrong_panel_is_detected() {
    let exchanges = |call: &Call<f64>, image: &mut Image| {
        right(call, image)?;
        if let Call::Getrf(Getrf { ipiv, .. }) = *call
            && ipiv.m > 1
        {
            let row = image.at(ipiv, 1, 0);
            image.set(ipiv, 1, 0, if row > 2 { row - 1 } else { row + 1 });
        }
        Ok(())
    };
    let factors = |at: fn(usize) -> (usize, usize)| {
        move |call: &Call<f64>, image: &mut Image| {
            right(call, image)?;
            if let Call::Geqrf(Geqrf { t, .. }) = *call
                && t.m > 1
            {
                let (i, j) = at(t.m - 1);
                image.set(t, i, j, image.at(t, i, j) + 1e-3);
            }
            Ok(())
        }
    };
    assert!(fails(panels::getrf, exchanges));
    assert!(fails(panels::geqrf, factors(|last| (0, last))) && fails(panels::geqrf, factors(|last| (last, 0))));
}

#[test]
fn ignored_operation_is_detected() {
    let plain = |call: &Call<f64>, image: &mut Image| match *call {
        Call::Larfb(Larfb { side, v, t, c, .. }) => right(&Call::Larfb(Larfb { side, op: Op::None, v, t, c }), image),
        Call::Triangular(triangle) => {
            let alpha = if triangle.alpha == 0.0 { 0.0 } else { 1.0 };
            right(&Call::Triangular(Triangular { alpha, ..triangle }), image)
        }
        _ => right(call, image),
    };
    assert!(fails(moves::larfb, plain) && fails(triangles::trsm, plain));
}
