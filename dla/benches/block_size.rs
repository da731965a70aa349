//! Which tile size is best: the measurement behind `BlockSize::Auto`.
//!
//! ```text
//! cargo bench -p superscalar-dla --bench block_size -- [letters] [orders] [workers]
//! cargo bench -p superscalar-dla --bench block_size -- d 512,1024,2048,4096 1,2,8
//! ```
//!
//! A line per type, order and number of workers: GFLOP/s of potrf for each tile size (median of several runs, the sizes
//! taken in turn), the best size, and what `Auto` takes.

use std::time::Instant;
use superscalar_dla::{Matrix, Options, potrf};
use superscalar_kernels::{Scalar, Uplo, c32, c64};
use superscalar_runtime::Runtime;

const SIZES: [usize; 11] = [48, 64, 96, 128, 160, 192, 256, 320, 384, 448, 512];

fn list(argument: Option<String>, default: &str) -> Vec<usize> {
    let text = argument.unwrap_or_else(|| default.to_owned());
    text.split(',').map(|item| item.parse().expect("a list of whole numbers")).collect()
}

fn main() {
    let mut arguments = std::env::args().skip(1).filter(|argument| !argument.starts_with("--"));
    let letters = arguments.next().unwrap_or_else(|| "d".to_owned());
    let orders = list(arguments.next(), "512,1024,2048");
    let workers = list(arguments.next(), "1,2");
    for letter in letters.split(',') {
        match letter {
            "s" => measure::<f32>(&orders, &workers),
            "d" => measure::<f64>(&orders, &workers),
            "c" => measure::<c32>(&orders, &workers),
            "z" => measure::<c64>(&orders, &workers),
            _ => panic!("types are s, d, c and z"),
        }
    }
}

fn measure<T: Scalar>(orders: &[usize], workers: &[usize]) {
    for &w in workers {
        let rt = Runtime::builder().workers(w).build().expect("a runtime");
        for &n in orders {
            measure_one::<T>(&rt, n);
        }
    }
}

fn measure_one<T: Scalar>(rt: &Runtime, n: usize) {
    let original =
        Matrix::from_fn(
            n,
            n,
            |i, j| if i == j { T::from_f64(n as f64) } else { T::from_f64(0.25 + (i ^ j) as f64 % 0.5) },
        );
    let flops = (n as f64).powi(3) / 6.0 * f64::from(T::FLOPS_MUL + T::FLOPS_ADD);
    let rounds = (4e10 / flops).clamp(5.0, 41.0) as usize;
    let sizes: Vec<usize> = SIZES.into_iter().filter(|&nb| nb <= n).chain([n]).collect();
    let mut seconds = vec![Vec::new(); sizes.len()];
    let mut a = original.clone();
    for _ in 0..rounds {
        for (nb, seconds) in sizes.iter().zip(&mut seconds) {
            a.as_mut().copy_from(original.as_ref());
            let begun = Instant::now();
            potrf(rt, Uplo::Lower, a.as_mut(), &Options::default().nb(*nb)).expect("positive definite");
            seconds.push(begun.elapsed().as_secs_f64());
        }
    }
    let rates: Vec<f64> = seconds
        .into_iter()
        .map(|mut seconds| {
            seconds.sort_by(f64::total_cmp);
            flops / seconds[seconds.len() / 2] / 1e9
        })
        .collect();
    let best = (0..sizes.len()).max_by(|&a, &b| rates[a].total_cmp(&rates[b])).unwrap_or(0);
    let auto = Options::default().factorization_nb(n, rt.workers());
    print!(
        "potrf {} n={n} workers={} best nb={} ({:.1}) auto nb={auto} :",
        T::LETTER,
        rt.workers(),
        sizes[best],
        rates[best]
    );
    for (nb, rate) in sizes.iter().zip(&rates) {
        print!(" {nb}:{rate:.0}");
    }
    println!();
}
