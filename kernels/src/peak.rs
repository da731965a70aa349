//! The multiply-add peak of the core that runs it.
//!
//! A rate in GFLOP/s says little on a shared machine whose clock moves; the fraction of what the same core could do in
//! the same second says more. Benchmarks call [`measure_fma_peak`] next to what they measure and print the ratio.

use crate::simd::Vector;
use crate::vector::{Kernel, dispatch};
use crate::{Real, Scalar};
use std::hint::black_box;
use std::marker::PhantomData;
use std::time::Instant;

/// Independent chains: two units of latency four need eight; twelve still fit AVX2's sixteen registers.
const CHAINS: usize = 12;
/// Multiply-adds per chain and sample: a fifth of a millisecond.
const STEPS: usize = 100_000;
/// Samples, of which the median counts.
const SAMPLES: usize = 9;

/// Floating-point operations per second of a loop of independent fused multiply-adds on vectors of `T` (`f32` or
/// `f64`) in the widest instructions of this core: an upper bound of what a kernel can reach. Takes about 2 ms.
///
/// # Example
/// ```
/// let peak = superscalar::kernels::peak::measure_fma_peak::<f64>();
/// assert!(peak > 1e8);
/// ```
pub fn measure_fma_peak<T: Real>() -> f64 {
    let mut rates: Vec<f64> = (0..SAMPLES)
        .map(|_| {
            let start = Instant::now();
            let flops = dispatch::<T, _>(Chains(PhantomData));
            flops / start.elapsed().as_secs_f64()
        })
        .collect();
    rates.sort_by(f64::total_cmp);
    rates[SAMPLES / 2]
}

/// The loop; returns how many operations it did.
struct Chains<T>(PhantomData<T>);

impl<T: Scalar> Kernel<T> for Chains<T> {
    type Output = f64;

    #[inline(always)]
    fn run<V: Vector<Real = T::Real>, const ROWS: usize>(self, isa: V::Isa) -> f64 {
        let (a, b) = (V::splat(isa, black_box(T::Real::ONE)), V::splat(isa, black_box(T::Real::ZERO)));
        let mut sums = [V::splat(isa, T::Real::ONE); CHAINS];
        for _ in 0..STEPS {
            for sum in &mut sums {
                *sum = sum.mul_add(a, b);
            }
        }
        black_box(sums);
        (2 * V::LANES * CHAINS * STEPS) as f64
    }
}
