//! y := alpha x + y on vectors that are divided into pieces: borrowed data, disjoint handles, a serial check.
//!
//! ```text
//! cargo run --release --example axpy
//! ```
//!
//! `lend_chunks` makes a handle for each piece of a slice. Tasks on different pieces share no data, so they run in
//! parallel. A hazard orders the two tasks on one piece of x.

use std::time::Instant;
use superscalar::{BlasLevel, Runtime, TaskSpec};

const LEN: usize = 1 << 22;
const PIECE: usize = 1 << 16;
const ALPHA: f64 = 0.5;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let rt = Runtime::new()?;
    let mut x: Vec<f64> = (0..LEN).map(|i| (i % 1000) as f64).collect();
    let mut y: Vec<f64> = (0..LEN).map(|i| (i % 77) as f64).collect();

    let begun = Instant::now();
    let expected = serial(&x, &y);
    let serial_seconds = begun.elapsed().as_secs_f64();

    let begun = Instant::now();
    let tasks = rt.scope(|s| {
        let (xs, ys) = (s.lend_chunks(&mut x, PIECE), s.lend_chunks(&mut y, PIECE));
        for (at, (x, y)) in xs.iter().zip(&ys).enumerate() {
            let task = |name| TaskSpec::new(name).level(BlasLevel::One).index(at as u32).flops(2.0 * PIECE as f64);
            // x := 2 x
            s.spawn(task("scale"), x.read_write(), |x| x.iter_mut().for_each(|x| *x *= 2.0));
            // y := alpha x + y, which reads the x that `scale` writes: a RaW hazard
            s.spawn(task("axpy"), (x.read(), y.read_write()), |(x, y)| {
                y.iter_mut().zip(x).for_each(|(y, x)| *y += ALPHA * x);
            });
        }
        2 * xs.len()
    })?;
    let seconds = begun.elapsed().as_secs_f64();

    let bytes = 5.0 * 8.0 * LEN as f64;
    println!("{tasks} tasks on {} workers", rt.workers());
    println!("tasks  {seconds:.4} s, {:.1} GB/s", bytes / seconds * 1e-9);
    println!("serial {serial_seconds:.4} s");
    // Both versions apply the same operations to the same elements, so the results are equal bit for bit.
    if y != expected {
        return Err("the tasks' result differs from the serial one".into());
    }
    println!("both results are equal, bit by bit");
    Ok(())
}

/// Computes the same result in one loop.
fn serial(x: &[f64], y: &[f64]) -> Vec<f64> {
    x.iter().zip(y).map(|(x, y)| y + ALPHA * (2.0 * x)).collect()
}
