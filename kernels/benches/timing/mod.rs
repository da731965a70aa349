//! Code shared by the benchmarks: filters, random operands, medians, and rates compared with the peak and with gemm.

use superscalar_kernels::{Real, peak::measure_fma_peak};

/// Rounds per benchmark; the median is reported.
pub const ROUNDS: usize = 15;
/// Seconds per sample: calls are repeated to fill it.
pub const SAMPLE_S: f64 = 2e-3;

/// The words that a line of output must contain.
pub struct Filters(Vec<String>);

impl Filters {
    /// Returns the filters of the command line, without the options that Cargo passes.
    pub fn from_arguments() -> Self {
        Self(std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect())
    }

    pub fn matches(&self, line: &str) -> bool {
        self.0.iter().all(|filter| line.contains(filter.as_str()))
    }
}

/// Returns a generator of numbers between -1/2 and 1/2, the same in every run.
pub fn numbers() -> impl FnMut() -> f64 {
    let mut state = 1u64;
    move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 40) as f64 / f64::powi(2.0, 24) - 0.5
    }
}

pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Prints a line: the rate, and its ratio to the multiply-add peak and to gemm's rate. All three are measured in each
/// round. `rates` measures the benchmark's rate and gemm's, in flops per second.
pub fn print_rates<R: Real>(title: &str, mut rates: impl FnMut() -> (f64, f64)) {
    let (mut giga, mut of_peak, mut of_gemm) = (vec![], vec![], vec![]);
    for _ in 0..ROUNDS {
        let (rate, gemm) = rates();
        giga.push(rate / 1e9);
        of_peak.push(100.0 * rate / measure_fma_peak::<R>());
        of_gemm.push(100.0 * rate / gemm);
    }
    let [giga, of_peak, of_gemm] = [giga, of_peak, of_gemm].map(median);
    println!("{title} {giga:7.1} GFLOP/s {of_peak:6.1} % of peak {of_gemm:6.1} % of gemm");
}

pub fn print_peak() {
    println!("peak: f64 {:.1}, f32 {:.1} GFLOP/s", measure_fma_peak::<f64>() / 1e9, measure_fma_peak::<f32>() / 1e9);
}
