//! Measurement of block sizes.

use crate::{
    Error, Matrix, Options, Scalar,
    block_table::{BlockKind, TunedBlockSize},
    geqrf, getrf, potrf,
};
use std::time::Instant;
use superscalar_kernels::{Uplo, cpu};
use superscalar_macros::each_type;
use superscalar_runtime::Runtime;

/// Candidate sizes. The order n, which means no tasks, is tried as well.
const SIZES: [usize; 12] = [32, 48, 64, 96, 128, 160, 192, 256, 320, 384, 448, 512];
/// Candidate inner blocks.
const INNER_SIZES: [usize; 4] = [16, 32, 48, 64];
/// Rounds at least, of which the first does not count, and at most.
const ROUNDS: [usize; 2] = [3, 101];

/// Measures the best block size for matrices of order n with a runtime's workers. The sizes are measured in turn, for
/// about so many seconds or three times each, and the medians compared.
///
/// # Errors
/// [`System`](crate::ErrorKind::System) if a thread cannot be started, [`Memory`](crate::ErrorKind::Memory) if an
/// allocation fails.
///
/// # Panics
/// If n is zero.
///
/// ```
/// use superscalar::Runtime;
/// use superscalar::dla::tuning::{BlockKind, measure};
///
/// let entry = measure::<f32>(&Runtime::new()?, BlockKind::Lu, 40, 0.5)?;
/// assert_eq!((entry.letter, entry.n), ('s', 40));
/// assert!(entry.nb <= 40 && entry.gflops > 0.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[each_type]
pub fn measure<T: Scalar>(
    rt: &Runtime,
    blocks: BlockKind,
    n: usize,
    seconds_max: f64,
) -> Result<TunedBlockSize, Error> {
    assert!(n > 0, "measure: the order must be positive");
    let sizes: Vec<usize> = match blocks {
        BlockKind::QrInner => INNER_SIZES.into_iter().map(|nb| nb.min(n)).collect(),
        _ => SIZES.into_iter().filter(|&nb| nb < n).chain([n]).collect(),
    };
    let mut trial = Trial::<T>::new(n);
    let mut seconds = vec![Vec::new(); sizes.len()];
    let begun = Instant::now();
    while seconds[0].len() < ROUNDS[0] || (begun.elapsed().as_secs_f64() < seconds_max && seconds[0].len() < ROUNDS[1])
    {
        for (&nb, seconds) in sizes.iter().zip(&mut seconds) {
            seconds.push(trial.run(rt, blocks, nb)?);
        }
    }
    let median = |seconds: &mut Vec<f64>| {
        // The first run includes page faults.
        seconds.remove(0);
        seconds.sort_by(f64::total_cmp);
        seconds[seconds.len() / 2]
    };
    let medians = seconds.iter_mut().map(median);
    let (nb, best) = sizes.into_iter().zip(medians).min_by(|a, b| a.1.total_cmp(&b.1)).expect("sizes were tried");
    let multiplications = match blocks {
        BlockKind::Cholesky => 1.0 / 6.0,
        BlockKind::Lu => 1.0 / 3.0,
        BlockKind::Qr | BlockKind::QrInner => 2.0 / 3.0,
    };
    let flops = multiplications * (n as f64).powi(3) * f64::from(T::FLOPS_MUL + T::FLOPS_ADD);
    Ok(TunedBlockSize { blocks, letter: T::LETTER, workers: rt.workers(), n, nb, gflops: flops / best / 1e9 })
}

/// Operands of one measurement.
struct Trial<T> {
    original: Matrix<T>,
    a: Matrix<T>,
    t: Matrix<T>,
    ipiv: Vec<i32>,
    tau: Vec<T>,
}

impl<T: Scalar> Trial<T> {
    /// Creates a symmetric, diagonally dominant matrix, which all routines accept.
    fn new(n: usize) -> Self {
        let original = Matrix::from_fn(n, n, |i, j| {
            T::from_f64(if i == j { n as f64 } else { 0.25 + ((i ^ j) % 7) as f64 / 16.0 })
        });
        let (a, t) = (original.clone(), Matrix::zeros(INNER_SIZES[INNER_SIZES.len() - 1].min(n), n));
        Self { original, a, t, ipiv: vec![0; n], tau: vec![T::ZERO; n] }
    }

    /// Returns the time of one call in seconds.
    fn run(&mut self, rt: &Runtime, blocks: BlockKind, nb: usize) -> Result<f64, Error> {
        let options = Options::default().nb(nb);
        let n = self.original.nrows();
        self.a.as_mut().copy_from(self.original.as_ref());
        let begun = Instant::now();
        match blocks {
            BlockKind::Cholesky => potrf(rt, Uplo::Lower, self.a.as_mut(), &options)?,
            BlockKind::Lu => getrf(rt, self.a.as_mut(), &mut self.ipiv, &options)?,
            BlockKind::Qr => geqrf(rt, self.a.as_mut(), &mut self.tau, &options)?,
            BlockKind::QrInner => cpu::geqrf(self.a.as_mut(), &mut self.tau, self.t.as_mut().submatrix(0..nb, 0..n)),
        }
        Ok(begun.elapsed().as_secs_f64())
    }
}
