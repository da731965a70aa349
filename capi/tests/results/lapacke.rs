//! Names and bounds of the tests of LAPACKE.

use crate::element::Order;
use superscalar::kernels::Scalar;
use superscalar_oracle::at_most;

/// The bound of every residual in roundoffs, as in LAPACK's own tests.
const BOUND: f64 = 30.0;
/// The number of right-hand sides: more than a tile has columns.
pub const NRHS: usize = 7;

pub fn name<T: Scalar>(routine: &str) -> String {
    format!("LAPACKE_{}{routine}", T::LETTER)
}

#[track_caller]
pub fn assert_small<T: Scalar>(what: &str, order: Order, shape: (usize, usize), figure: f64) {
    if let Err(error) = at_most("residual", figure, BOUND) {
        panic!("{what}, {}, {order:?}, {shape:?}: {error}", T::LETTER);
    }
}
