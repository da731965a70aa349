//! The random vectors that residuals are multiplied with.

use crate::random::Random;
use superscalar_kernels::Scalar;

/// The number of vectors per residual.
const PROBES: u64 = 3;

/// The seed of the first vector, which no matrix has. Vectors from a matrix's seed would have the signs of its first
/// column. Its errors would then not cancel, and be taken for √n times as large.
const SEED: u64 = 0x5eed_0f70_b3ac_1e95;

/// Returns the random vectors that residuals are multiplied with. Their entries have modulus one.
pub fn vectors<T: Scalar>(n: usize) -> impl Iterator<Item = Vec<T>> {
    (0..PROBES).map(move |probe| {
        let mut random = Random::new(SEED + probe);
        (0..n).map(|_| random.unit()).collect()
    })
}

/// Returns other random vectors. Their entries are real, with moduli in [1/2, 3/2).
pub fn signed_vectors<T: Scalar>(n: usize) -> impl Iterator<Item = Vec<T>> {
    (PROBES..2 * PROBES).map(move |probe| {
        let mut random = Random::new(SEED + probe);
        let mut entry = || {
            let (modulus, sign) = (1.0 + random.scalar::<f64>(), random.unit::<f64>());
            T::from_real(T::Real::from_f64(modulus * sign))
        };
        (0..n).map(|_| entry()).collect()
    })
}
