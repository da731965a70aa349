//! The random vectors that residuals are multiplied with.

use crate::random::Random;
use superscalar_kernels::Scalar;

/// The number of vectors per residual.
const PROBES: u64 = 3;

/// Returns the random vectors that residuals are multiplied with. Their entries have modulus one.
pub fn vectors<T: Scalar>(n: usize) -> impl Iterator<Item = Vec<T>> {
    (0..PROBES).map(move |probe| {
        let mut random = Random::new(probe);
        (0..n).map(|_| random.unit()).collect()
    })
}

/// Returns other random vectors. Their entries are real, with moduli in [1/2, 3/2).
pub fn signed_vectors<T: Scalar>(n: usize) -> impl Iterator<Item = Vec<T>> {
    (PROBES..2 * PROBES).map(move |probe| {
        let mut random = Random::new(probe);
        let mut entry = || {
            let (modulus, sign) = (1.0 + random.scalar::<f64>(), random.unit::<f64>());
            T::from_real(T::Real::from_f64(modulus * sign))
        };
        (0..n).map(|_| entry()).collect()
    })
}
