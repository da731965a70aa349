//! Routines called at the same time by many more threads than a runtime has seats.

use superscalar_dla::{Matrix, Options, gemm, potrf};
use superscalar_kernels::{Op, Uplo};
use superscalar_runtime::Runtime;

const N: usize = 20;

/// Returns small integers, whose sums of products are exact in any order.
fn whole(i: usize, j: usize) -> f64 {
    ((3 * i + 5 * j) % 7) as f64 - 3.0
}

/// Returns a lower triangle with ones and twos on the diagonal: the exact factor of a matrix of integers.
fn lower(i: usize, j: usize) -> f64 {
    match i.cmp(&j) {
        std::cmp::Ordering::Less => 0.0,
        std::cmp::Ordering::Equal => 1.0 + (i % 2) as f64,
        std::cmp::Ordering::Greater => whole(i, j),
    }
}

fn product(a: impl Fn(usize, usize) -> f64, b: impl Fn(usize, usize) -> f64) -> Matrix<f64> {
    Matrix::from_fn(N, N, |i, j| (0..N).map(|k| a(i, k) * b(k, j)).sum())
}

fn elements(matrix: &Matrix<f64>) -> Vec<f64> {
    (0..N * N).map(|at| matrix.at(at % N, at / N)).collect()
}

#[test]
fn thousands_of_threads_share_a_runtime() {
    let rt = Runtime::builder().workers(2).build().expect("threads");
    let (a, b) = (Matrix::from_fn(N, N, whole), Matrix::from_fn(N, N, |i, j| whole(j, i)));
    let squared = product(whole, |i, j| whole(j, i));
    let definite = product(lower, |i, j| lower(j, i));
    for threads in [100, 1000, 4000] {
        std::thread::scope(|scope| {
            for thread in 0..threads {
                let (rt, a, b, squared, definite) = (&rt, &a, &b, &squared, &definite);
                let call = move || {
                    let options = Options::default().nb(8);
                    match thread % 3 {
                        0 => {
                            let mut c = Matrix::zeros(N, N);
                            gemm(rt, 1.0, Op::None, a.as_ref(), Op::None, b.as_ref(), 0.0, c.as_mut(), &options)
                                .unwrap();
                            assert_eq!(elements(&c), elements(squared));
                        }
                        1 => {
                            let mut l = definite.clone();
                            potrf(rt, Uplo::Lower, l.as_mut(), &options).unwrap();
                            let found = Matrix::from_fn(N, N, |i, j| if i < j { 0.0 } else { l.at(i, j) });
                            assert_eq!(elements(&found), elements(&Matrix::from_fn(N, N, lower)));
                        }
                        _ => {
                            let mut count = 0;
                            rt.scope(|s| {
                                let count = s.lend(&mut count);
                                (0..3).for_each(|_| s.spawn("count", count.read_write(), |count| *count += 1));
                            })
                            .unwrap();
                            assert_eq!(count, 3);
                        }
                    }
                };
                std::thread::Builder::new().stack_size(1 << 20).spawn_scoped(scope, call).expect("a thread");
            }
        });
    }
}
