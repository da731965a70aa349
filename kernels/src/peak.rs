//! The multiply-add peak of the current core.
//!
//! On a shared machine the clock varies, so a rate in GFLOP/s means little. Benchmarks call [`measure_fma_peak`] next
//! to what they measure and print the fraction of that peak.

use crate::simd::Vector;
use crate::vector::{Kernel, dispatch};
use crate::{Real, Scalar};
use std::hint::black_box;
use std::marker::PhantomData;
use std::time::Instant;

/// Independent chains of multiply-adds. Two units of latency four need eight; twelve still fit AVX2's sixteen
/// registers.
const CHAINS: usize = 12;
/// Multiply-adds per chain and sample.
const FMAS_PER_CHAIN: usize = 100_000;
/// Samples; the result is their median.
const SAMPLES: usize = 9;

/// Measures the rate of independent fused multiply-adds on vectors of `T` (`f32` or `f64`) in this core's widest
/// instructions, in floating-point operations per second. It is an upper bound for every kernel. Takes about 2 ms.
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

/// The measured loop; returns the number of operations.
struct Chains<T>(PhantomData<T>);

impl<T: Scalar> Kernel<T> for Chains<T> {
    type Output = f64;

    #[inline(always)]
    fn run<V: Vector<Real = T::Real>, const ROWS: usize>(self, isa: V::Isa) -> f64 {
        let (a, b) = (V::splat(isa, black_box(T::Real::ONE)), V::splat(isa, black_box(T::Real::ZERO)));
        let mut sums = [V::splat(isa, T::Real::ONE); CHAINS];
        for _ in 0..FMAS_PER_CHAIN {
            for sum in &mut sums {
                *sum = sum.mul_add(a, b);
            }
        }
        black_box(sums);
        (2 * V::LANES * CHAINS * FMAS_PER_CHAIN) as f64
    }
}
