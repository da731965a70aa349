//! Cost of tracing: the same factorization on a runtime that records and on one that does not, in turn.
//!
//! ```text
//! cargo bench -p superscalar-dla --bench trace_cost -- [n] [rounds]
//! ```

use std::time::Instant;
use superscalar_dla::{Matrix, Options, potrf};
use superscalar_kernels::Uplo;
use superscalar_runtime::{Runtime, recording::ChromeTrace};

fn main() {
    let mut arguments = std::env::args().skip(1).filter(|argument| !argument.starts_with("--"));
    let mut next = |default: usize| arguments.next().map_or(default, |text| text.parse().expect("a whole number"));
    let (n, rounds) = (next(4096), next(11));
    let original = Matrix::from_fn(n, n, |i, j| if i == j { n as f64 } else { ((i ^ j) % 7) as f64 / 7.0 });
    let runtimes = [false, true].map(|trace| Runtime::builder().trace(trace).build().expect("a runtime"));
    let mut seconds = [Vec::new(), Vec::new()];
    let mut a = original.clone();
    for _ in 0..=rounds {
        for (rt, seconds) in runtimes.iter().zip(&mut seconds) {
            a.as_mut().copy_from(original.as_ref());
            let begun = Instant::now();
            potrf(rt, Uplo::Lower, a.as_mut(), &Options::default()).expect("positive definite");
            seconds.push(begun.elapsed().as_secs_f64());
        }
    }
    let [off, on] = seconds.map(|mut seconds| {
        // The first round warms up.
        seconds.remove(0);
        seconds.sort_by(f64::total_cmp);
        seconds[seconds.len() / 2]
    });
    let recording = runtimes[1].take_recording().expect("built to trace");
    let written = ChromeTrace::new(&recording).write(std::io::sink()).expect("a sink takes everything");
    println!(
        "trace_cost potrf d n={n} off={off:.4}s on={on:.4}s cost={:.2}% tasks={} slices={} hazards={} arrows={} \
         left_out={}",
        100.0 * (on / off - 1.0),
        recording.tasks.len(),
        written.slices,
        recording.hazards.len(),
        written.arrows,
        written.hazards_left_out,
    );
    assert_eq!(recording.tasks.len() as u64, written.slices, "a slice for every task");
}
