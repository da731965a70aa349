//! The powers of two that tests of all scales try.

use std::sync::LazyLock;
use superscalar_kernels::Real;

/// Returns whether tests should omit nothing: the environment variable `FULL` is 1.
pub fn is_full() -> bool {
    static IS_FULL: LazyLock<bool> = LazyLock::new(|| std::env::var_os("FULL").is_some_and(|value| value == "1"));
    *IS_FULL
}

/// Returns whether a test of all scales tries 2^e. In single precision all exponents are tried. In double precision
/// those near the ends of the range, of the normal numbers, of single precision and of the numbers with representable
/// squares are tried, those near zero, and every eleventh of the rest. With `FULL=1` all are tried in both precisions.
///
/// # Example
/// ```
/// use superscalar_oracle::tries_scale;
///
/// assert!((-149..=127).all(tries_scale::<f32>));
/// assert!((963..=1023).all(tries_scale::<f64>) && (-1074..=-962).all(tries_scale::<f64>));
/// ```
pub fn tries_scale<R: Real>(e: i32) -> bool {
    // Exponents with the distance up to which all neighbours are tried. Products and sums reach the end of a range a
    // few powers of two before their operands.
    const ENDS: [(i32, u32); 10] =
        [(1023, 60), (-1022, 60), (-1074, 60), (0, 12), (127, 8), (-126, 8), (-149, 8), (511, 8), (-511, 8), (-537, 8)];
    let is_near = |&(end, distance): &(i32, u32)| e.abs_diff(end) <= distance;
    // Eleven shares no divisor with periods that depend on the exponent.
    size_of::<R>() == size_of::<f32>() || is_full() || e % 11 == 0 || ENDS.iter().any(is_near)
}
