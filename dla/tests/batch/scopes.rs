//! The non-blocking forms: several routines in one scope, and tasks of the program among theirs.

use super::runtime;
use superscalar_dla::{
    BatchMut, BatchRef,
    batch::{self, Chunked, ChunkedInfo, Chunks},
};
use superscalar_kernels::{Diag, Op, Uplo};

/// Factors, then solves and multiplies back in one scope, chunk by chunk.
#[test]
fn routines_compose() {
    let (rt, count, n) = (runtime(), 100, 6);
    let a: Vec<f64> = (0..count * n * n).map(|at| if at % (n * n) % (n + 1) == 0 { 8.0 } else { 1.0 }).collect();
    let (mut factors, b) = (a.clone(), vec![3.0; count * n]);
    let (mut x, mut product, mut info) = (b.clone(), vec![f64::NAN; count * n], vec![7; count]);
    let chunks = Chunks::equal(count, 7);
    rt.scope(|s| {
        let factors = Chunked::new(s, BatchMut::packed(&mut factors, (n, n)).expect("as many"), &chunks);
        let x = Chunked::new(s, BatchMut::packed(&mut x, (n, 1)).expect("as many"), &chunks);
        let a = Chunked::read_only(s, BatchRef::packed(&a, (n, n)).expect("as many"), &chunks);
        let product = Chunked::new(s, BatchMut::packed(&mut product, (n, 1)).expect("as many"), &chunks);
        batch::spawn::potrf(s, Uplo::Upper, &factors, &ChunkedInfo::new(s, &mut info, &chunks));
        batch::spawn::potrs(s, Uplo::Upper, &factors, &x);
        batch::spawn::gemm(s, 1.0, Op::None, &a, Op::None, &x, 0.0, &product);
    })
    .expect("no task fails");
    assert_eq!(info, vec![0; count]);
    assert!(product.iter().zip(&b).all(|(x, y)| (x - y).abs() < 1e-14));
}

/// Products with vectors, a solve, and tasks of the program between them.
#[test]
fn own_tasks_take_part() {
    let (rt, count) = (runtime(), 20);
    let (a, ones, chunks) = ([2.0, 1.0, 0.0, 4.0], vec![1.0; 2 * count], Chunks::equal(count, 3));
    let (mut x, mut y) = (ones.clone(), vec![f64::NAN; 2 * count]);
    rt.scope(|s| {
        let a = Chunked::read_only(s, BatchRef::strided(&a, (2, 2), 2, 0, count).expect("they overlap"), &chunks);
        let [x, y] = [&mut x, &mut y].map(|x| Chunked::new(s, BatchMut::packed(x, (2, 1)).expect("whole"), &chunks));
        batch::spawn::gemv(s, 1.0, Op::None, &a, &x, 0.0, &y); // (2, 5)
        for chunk in 0..chunks.len() {
            s.spawn("double", y.handle(chunk).read_write(), |y| {
                let mut y = y.as_mut().expect("it may be changed");
                y.members_mut().iter_mut().for_each(|y| (0..2).for_each(|i| y[(i, 0)] *= 2.0));
            });
        }
        batch::spawn::trsv(s, Uplo::Lower, Op::None, Diag::NonUnit, &a, &y);
        batch::spawn::gemv(s, -2.0, Op::None, &a, &x, 1.0, &y);
    })
    .expect("no task fails");
    assert!(y.chunks(2).all(|y| y == [2.0 - 4.0, 2.0 - 10.0]), "{y:?}");
}

#[test]
fn vectors_of_two_columns_are_refused() {
    let (rt, mut x, mut y, chunks) = (runtime(), vec![1.0; 40], vec![1.0; 40], Chunks::equal(10, 3));
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        rt.scope(|s| {
            let [x, y] = [&mut x, &mut y].map(|x| Chunked::new(s, BatchMut::packed(x, (2, 2)).expect("ten"), &chunks));
            batch::spawn::trsv(s, Uplo::Lower, Op::None, Diag::NonUnit, &x, &y);
        })
    }))
    .expect_err("it is refused");
    let message = panic.downcast_ref::<&str>().expect("a message");
    assert!(message.starts_with("trsv: a vector"), "{message}");
}

#[test]
fn wrong_chunks_are_refused() {
    let rt = runtime();
    let (mut a, mut info) = (vec![1.0; 8], vec![0; 8]);
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        rt.scope(|s| {
            let batch = BatchMut::packed(&mut a, (1, 1)).expect("eight");
            let a = Chunked::new(s, batch, &Chunks::equal(8, 4));
            batch::spawn::potrf(s, Uplo::Lower, &a, &ChunkedInfo::new(s, &mut info, &Chunks::equal(8, 3)));
        })
    }));
    assert!(outcome.is_err() || outcome.is_ok_and(|result| result.is_err()), "other chunks");
}
