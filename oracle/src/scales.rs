//! Powers of two that tests of every scale try.

use std::sync::LazyLock;
use superscalar_kernels::Real;

/// Whether tests leave nothing out: the environment variable `FULL` is 1.
pub fn is_full() -> bool {
    static IS_FULL: LazyLock<bool> = LazyLock::new(|| std::env::var_os("FULL").is_some_and(|value| value == "1"));
    *IS_FULL
}

/// Whether a test of every scale tries 2^e. In single precision it tries all. In double precision it tries those near
/// the ends of the range, of the normal numbers, of single precision and of the numbers whose squares are numbers,
/// those near one, and every eleventh of the rest. With `FULL=1` it tries all in both precisions.
///
/// # Example
/// ```
/// use superscalar_oracle::tries_scale;
///
/// assert!((-149..=127).all(tries_scale::<f32>));
/// assert!((963..=1023).all(tries_scale::<f64>) && (-1074..=-962).all(tries_scale::<f64>));
/// ```
pub fn tries_scale<R: Real>(e: i32) -> bool {
    // Exponents, and the distance from them up to which all are tried. Products and sums reach the end of a range a few
    // powers before their operands do.
    const ENDS: [(i32, u32); 10] =
        [(1023, 60), (-1022, 60), (-1074, 60), (0, 12), (127, 8), (-126, 8), (-149, 8), (511, 8), (-511, 8), (-537, 8)];
    let is_near = |&(end, distance): &(i32, u32)| e.abs_diff(end) <= distance;
    // Eleven has no divisor in common with what takes turns by the exponent.
    size_of::<R>() == size_of::<f32>() || is_full() || e % 11 == 0 || ENDS.iter().any(is_near)
}
