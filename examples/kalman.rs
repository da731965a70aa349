//! Kalman filters of a hundred thousand objects, on every core at once: batched routines in one scope.
//!
//! ```text
//! cargo run --release --example kalman
//! ```
//!
//! Each object moves in space. Its state x has three positions and three velocities, and its positions are measured in
//! every step. A step of its filter predicts the state and its covariance P, and corrects both by the measurement z:
//!
//! - x := F x, P := F P Fᵀ + Q;
//! - S = H P Hᵀ + R = L Lᵀ, V = L⁻¹ H P, w = L⁻¹ (z − H x);
//! - x := x + Vᵀ w, P := P − Vᵀ V.
//!
//! Every line is a few calls of `batch::spawn`, each for all filters. They insert their tasks and return. What one task
//! writes and another one reads is ordered chunk by chunk, so that some chunks are several routines ahead of others:
//! see the trace, which opens in `chrome://tracing` or <https://ui.perfetto.dev>.
//!
//! The states and covariances are compared with those of a plain loop over the filters. The mean of ‖w‖² is the number
//! of measured values if the filters know the noise well.

use clap::Parser;
use std::{array, error::Error, fs::File, path::PathBuf, time::Instant};
use superscalar::{
    Runtime, Scope, TaskSpec,
    dla::{
        BatchMut, BatchRef, MatRef,
        batch::{
            Chunked, ChunkedInfo, Chunks,
            spawn::{gemm, gemv, potrf, trsm, trsv},
        },
    },
    kernels::{Diag, Op, Side, Uplo},
    recording::{ChromeTrace, Recording},
};
use superscalar_oracle::{at_most, element, largest};

/// Elements of a state: positions, then velocities.
const N: usize = 6;
/// Elements of a measurement: the positions.
const M: usize = 3;
/// The variances of the first state, of what the model does not know of a step, and of measurements.
const VARIANCES: [f64; 3] = [4.0, 0.01, 0.25];

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// Runs many Kalman filters at once.
#[derive(Parser)]
struct Arguments {
    /// Number of filters.
    #[arg(long, default_value_t = 100_000)]
    filters: usize,
    /// Number of steps.
    #[arg(long, default_value_t = 8)]
    steps: usize,
    /// Filters in a chunk.
    #[arg(long, default_value_t = 512, value_parser = clap::value_parser!(u32).range(1..))]
    chunk: u32,
    /// File for the trace.
    #[arg(long, default_value = "kalman.trace.json")]
    trace: PathBuf,
}

fn main() -> Outcome {
    let arguments = Arguments::parse();
    let (count, steps) = (arguments.filters, arguments.steps);
    let rt = Runtime::builder().trace(true).build()?;
    println!("{count} filters of {N} states, {steps} steps, {} workers, policy {}", rt.workers(), rt.policy());
    let (objects, first) = (Objects::random(count, steps), Filters::first(count));

    let (mut filters, mut innovations) = (first.clone(), objects.measurements.clone());
    let chunks = Chunks::equal(count, arguments.chunk as usize);
    let begun = Instant::now();
    filter(&rt, &objects, &mut filters, &mut innovations, &chunks)?;
    let batched_s = begun.elapsed().as_secs_f64();
    let recording = rt.take_recording().unwrap_or_default();
    let written = ChromeTrace::new(&recording).write(File::create(&arguments.trace)?)?;

    let (mut plain, begun) = (first, Instant::now());
    plain_loop(&objects, &mut plain);
    let plain_s = begun.elapsed().as_secs_f64();
    println!("batched: {batched_s:.3} s; plain loop on one core: {plain_s:.3} s; ratio {:.2}", plain_s / batched_s);
    println!("trace: {} ({} tasks, {} hazards)", arguments.trace.display(), written.slices, written.arrows);
    show_overlap(&recording, chunks.len());

    let error =
        largest([difference(&filters.states, &plain.states), difference(&filters.covariances, &plain.covariances)]);
    println!("difference from the plain loop, relative: {error:.1e}");
    at_most("difference from the plain loop", error, 100.0 * (steps * N) as f64 * f64::EPSILON)?;
    if count * steps > 0 {
        let mean = innovations.iter().map(|w| w * w).sum::<f64>() / (count * steps) as f64;
        println!("mean of |w|^2: {mean:.4}, expected {M}");
        // The deviation of a mean of independent values, ten times.
        let deviation = 10.0 * (2.0 * M as f64 / (count * steps) as f64).sqrt();
        at_most("deviation of the mean of |w|^2", (mean - M as f64).abs(), deviation)?;
    }
    Ok(())
}

/// What is known of the objects.
struct Objects {
    /// F of each object: they are measured at different intervals.
    transitions: Vec<f64>,
    /// z of each object in the first step, then in the next one.
    measurements: Vec<f64>,
}

/// The states and covariances of all filters.
#[derive(Clone)]
struct Filters {
    states: Vec<f64>,
    covariances: Vec<f64>,
}

impl Objects {
    /// Simulates objects and measurements.
    fn random(count: usize, steps: usize) -> Self {
        let [first, unknown, measured] = VARIANCES;
        let (mut transitions, mut measurements) = (vec![0.0; count * N * N], vec![0.0; steps * count * M]);
        for (p, f) in transitions.chunks_exact_mut(N * N).enumerate() {
            let interval = 0.5 + 0.1 * (p % 11) as f64;
            let mut numbers = 0..;
            // Uniform, with this variance.
            let mut noise =
                |variance: f64| (12.0 * variance).sqrt() * element::<f64>(1, p, numbers.next().unwrap_or(0));
            (0..N).for_each(|i| f[i + i * N] = 1.0);
            (0..M).for_each(|i| f[i + (i + M) * N] = interval);
            let mut x: [f64; N] = array::from_fn(|_| noise(first));
            for step in 0..steps {
                (0..M).for_each(|i| x[i] += interval * x[i + M]);
                x.iter_mut().for_each(|x| *x += noise(unknown));
                let z = &mut measurements[(step * count + p) * M..][..M];
                z.iter_mut().zip(x).for_each(|(z, position)| *z = position + noise(measured));
            }
        }
        Self { transitions, measurements }
    }
}

impl Filters {
    /// Returns filters that know nothing but the variance of the first state.
    fn first(count: usize) -> Self {
        Self { states: vec![0.0; count * N], covariances: diagonal::<N>(VARIANCES[0]).repeat(count) }
    }
}

/// Returns the diagonal matrix of order I with this element.
fn diagonal<const I: usize>(element: f64) -> Vec<f64> {
    (0..I * I).map(|at| if at % (I + 1) == 0 { element } else { 0.0 }).collect()
}

/// Runs all filters. `z` holds the measurements, and receives w of each step.
fn filter(rt: &Runtime, objects: &Objects, filters: &mut Filters, z: &mut [f64], chunks: &Chunks) -> Outcome {
    let count = chunks.problems();
    let h: Vec<f64> = (0..M * N).map(|at| if at % M == at / M { 1.0 } else { 0.0 }).collect();
    let (q, r) = (diagonal::<N>(VARIANCES[1]), diagonal::<M>(VARIANCES[2]));
    let (q, r) = (MatRef::from_col_major(&q, N, N, N)?, MatRef::from_col_major(&r, M, M, M)?);
    let [mut next, mut fp, mut v, mut l] = [N, N * N, M * N, M * M].map(|size| vec![0.0; count * size]);
    let mut info = vec![0; z.len() / M];

    let f = BatchRef::packed(&objects.transitions, (N, N))?;
    let h = BatchRef::strided(&h, (M, N), M, 0, count)?; // one matrix for all
    let (x, p) = (BatchMut::packed(&mut filters.states, (N, 1))?, BatchMut::packed(&mut filters.covariances, (N, N))?);
    let (next_x, fp) = (BatchMut::packed(&mut next, (N, 1))?, BatchMut::packed(&mut fp, (N, N))?);
    let (v, l) = (BatchMut::packed(&mut v, (M, N))?, BatchMut::packed(&mut l, (M, M))?);
    let each_z = z.chunks_exact_mut((count * M).max(1)).map(|z| BatchMut::packed(z, (M, 1)));
    let each_z = each_z.collect::<Result<Vec<_>, _>>()?;
    let steps = each_z.len();
    rt.scope(|s| {
        let [f, h] = [f, h].map(|batch| Chunked::read_only(s, batch, chunks));
        let [mut x, mut next, p, fp, v, l] = [x, next_x, p, fp, v, l].map(|batch| Chunked::new(s, batch, chunks));
        let (one, none, lower) = (Diag::NonUnit, Op::None, Uplo::Lower);
        for (z, info) in each_z.into_iter().zip(info.chunks_exact_mut(count.max(1))) {
            let (z, info) = (Chunked::new(s, z, chunks), ChunkedInfo::new(s, info, chunks));
            // x := F x, P := F P Fᵀ + Q
            gemv(s, 1.0, none, &f, &x, 0.0, &next);
            gemm(s, 1.0, none, &f, none, &p, 0.0, &fp);
            set(s, &p, q);
            gemm(s, 1.0, none, &fp, Op::Trans, &f, 1.0, &p);
            // V := H P, L := Cholesky factor of V Hᵀ + R
            gemm(s, 1.0, none, &h, none, &p, 0.0, &v);
            set(s, &l, r);
            gemm(s, 1.0, none, &v, Op::Trans, &h, 1.0, &l);
            potrf(s, lower, &l, &info);
            // V := L⁻¹ V, w := L⁻¹ (z − H x)
            trsm(s, Side::Left, lower, none, one, 1.0, &l, &v);
            gemv(s, -1.0, none, &h, &next, 1.0, &z);
            trsv(s, lower, none, one, &l, &z);
            // x := x + Vᵀ w, P := P − Vᵀ V
            gemv(s, 1.0, Op::Trans, &v, &z, 1.0, &next);
            gemm(s, -1.0, Op::Trans, &v, none, &v, 1.0, &p);
            std::mem::swap(&mut x, &mut next);
        }
    })?;
    if steps % 2 == 1 {
        filters.states = next;
    }
    match info.iter().position(|&info| info != 0) {
        None => Ok(()),
        Some(at) => Err(format!("the covariance of step {}, filter {} is indefinite", at / count, at % count).into()),
    }
}

/// Inserts tasks of our own among those of the library: every matrix of the batch becomes this one.
fn set<'s>(s: &'s Scope<'s, '_>, batch: &Chunked<'s, f64>, value: MatRef<'s, f64>) {
    for chunk in 0..batch.chunks().len() {
        let spec = TaskSpec::new("set").index([chunk as u32]);
        s.spawn(spec, batch.handle(chunk).write(), move |matrices| {
            let mut matrices = matrices.as_mut().expect("a batch that may be changed");
            (0..matrices.len()).for_each(|p| matrices.get_mut(p).copy_from(value));
        });
    }
}

/// Prints how many tasks began before the routine that was called before theirs had ended.
fn show_overlap(recording: &Recording, chunks: usize) {
    // Each call has inserted a task for every chunk.
    let call = |task: usize| task / chunks.max(1);
    let mut tasks: Vec<_> = recording.tasks.iter().map(|task| task.id).collect();
    tasks.sort();
    let place = |task| tasks.binary_search(&task).expect("a span is one of a recorded task");
    let mut ends = vec![0; call(tasks.len()) + 1];
    for span in &recording.spans {
        let end = &mut ends[call(place(span.task))];
        *end = span.end_ns.max(*end);
    }
    let is_early = |at: usize, start_ns: u64| call(at) > 0 && start_ns < ends[call(at) - 1];
    let early = recording.spans.iter().filter(|span| is_early(place(span.task), span.start_ns)).count();
    println!("{early} of {} tasks began before the end of the routine before theirs", tasks.len());
}

/// A matrix of the plain loop, by rows.
type Rows<const I: usize, const J: usize> = [[f64; J]; I];

/// Runs one filter after the other.
fn plain_loop(objects: &Objects, filters: &mut Filters) {
    let count = filters.states.len() / N;
    let [_, q, r] = VARIANCES;
    let h: Rows<M, N> = array::from_fn(|i| array::from_fn(|j| if i == j { 1.0 } else { 0.0 }));
    let states = filters.states.chunks_exact_mut(N).zip(filters.covariances.chunks_exact_mut(N * N));
    for (number, (x, covariance)) in states.enumerate() {
        let f = &objects.transitions[number * N * N..][..N * N];
        let f: Rows<N, N> = array::from_fn(|i| array::from_fn(|j| f[i + j * N]));
        let mut p: Rows<N, N> = array::from_fn(|i| array::from_fn(|j| covariance[i + j * N]));
        for step in objects.measurements.chunks_exact(count * M) {
            let z = &step[number * M..][..M];
            let next: [f64; N] = array::from_fn(|i| (0..N).map(|j| f[i][j] * x[j]).sum());
            p = product(&product(&f, &p), &transpose(&f));
            (0..N).for_each(|i| p[i][i] += q);
            let mut v = product(&h, &p);
            let mut l = product(&v, &transpose(&h));
            (0..M).for_each(|i| l[i][i] += r);
            let mut w: [f64; M] = array::from_fn(|i| z[i] - (0..N).map(|j| h[i][j] * next[j]).sum::<f64>());
            for i in 0..M {
                for j in 0..i {
                    l[i][j] = (l[i][j] - (0..j).map(|k| l[i][k] * l[j][k]).sum::<f64>()) / l[j][j];
                    (0..N).for_each(|column| v[i][column] -= l[i][j] * v[j][column]);
                    w[i] -= l[i][j] * w[j];
                }
                l[i][i] = (l[i][i] - (0..i).map(|k| l[i][k] * l[i][k]).sum::<f64>()).sqrt();
                v[i].iter_mut().for_each(|v| *v /= l[i][i]);
                w[i] /= l[i][i];
            }
            let correction = product(&transpose(&v), &v);
            (0..N).for_each(|i| x[i] = next[i] + (0..M).map(|k| v[k][i] * w[k]).sum::<f64>());
            (0..N).for_each(|i| (0..N).for_each(|j| p[i][j] -= correction[i][j]));
        }
        (0..N).for_each(|i| (0..N).for_each(|j| covariance[i + j * N] = p[i][j]));
    }
}

fn product<const I: usize, const K: usize, const J: usize>(a: &Rows<I, K>, b: &Rows<K, J>) -> Rows<I, J> {
    array::from_fn(|i| array::from_fn(|j| (0..K).map(|k| a[i][k] * b[k][j]).sum()))
}

fn transpose<const I: usize, const J: usize>(a: &Rows<I, J>) -> Rows<J, I> {
    array::from_fn(|j| array::from_fn(|i| a[i][j]))
}

/// Returns the largest difference relative to the largest element: NaN if there is one.
fn difference(found: &[f64], expected: &[f64]) -> f64 {
    let error = largest(found.iter().zip(expected).map(|(x, y)| (x - y).abs()));
    error / largest([largest(expected.iter().map(|x| x.abs())), f64::MIN_POSITIVE])
}
