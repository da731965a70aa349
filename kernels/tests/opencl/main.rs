//! Calls that the kernels for OpenCL refuse, on the first device there is. Without one the test says that it is skipped;
//! `REQUIRE_OPENCL=1` makes that a failure.
//!
//! What the kernels compute is judged by the suite in `conformance`, with those of every class of devices.

#[allow(dead_code)] // The benchmark uses the rest.
mod heap;

use heap::Heap;
use superscalar_kernels::{
    Direction, Op, Side, Symmetry, Uplo,
    device::{Call, Mat},
    opencl::{Class, Parameters, enqueue, enqueue_with, scratch_bytes},
    operations::{Gemm, Lacpy, Larfb, Laswp, Potrf, RankK, Symm},
};

/// Calls whose shapes do not agree, and scratch memory that is too small, are errors.
#[test]
fn what_can_not_be_right_is_refused() {
    let Some(heap) = Heap::open(1 << 20) else { return };
    let parameters = |letter| Parameters::of(Class::WideCpu, letter);
    let at = |offset, m, n| Mat::<f64>::at(offset, (m, n), m + 1);
    let (a, b, c, square) = (at(1, 4, 5), at(40, 6, 7), at(100, 4, 7), at(150, 4, 4));
    let (symmetry, uplo, alpha, beta) = (Symmetry::Symmetric, Uplo::Lower, 1.0, 1.0);
    let wrong = [
        Call::Gemm(Gemm { part: None, op_a: Op::None, op_b: Op::None, alpha, a, b, beta, c }),
        Call::Symm(Symm { symmetry, side: Side::Right, uplo, alpha, a: square, b: c, beta, c }),
        Call::RankK(RankK { symmetry, uplo, op: Op::Trans, alpha, a, beta, c: square }),
        Call::Potrf(Potrf { uplo, first: 0, a }),
        Call::Lacpy(Lacpy { op: Op::Trans, a, b }),
        Call::Larfb(Larfb { side: Side::Left, op: Op::None, v: a, t: square, c }),
        Call::Laswp(Laswp { a, first: 3, ipiv: vec![Mat::at(0, (2, 1), 2)], direction: Direction::Forward }),
    ];
    let refused = |letter, scratch: std::ops::Range<usize>, call: &Call<f64>| {
        let error = heap.run(|queue| enqueue_with(&parameters(letter), queue, scratch.clone(), call));
        error.map(drop).expect_err("it is refused").to_string()
    };
    for call in wrong {
        assert_eq!(scratch_bytes(&call), 0);
        let error = refused('d', 0..0, &call);
        assert!(error.contains("do not agree"), "{error}");
    }
    let call = Call::RankK(RankK { symmetry, uplo, op: Op::None, alpha, a, beta, c: square });
    assert!(scratch_bytes(&call) > 0);
    let error = heap.run(|queue| enqueue(queue, 0..64, &call)).map(drop).expect_err("no room to pack");
    assert!(error.to_string().contains("scratch"), "{error}");
    let outside = Potrf { uplo, first: 0, a: Mat::at(heap.bytes() / 8 - 20, (4, 4), 6) };
    let error = refused('d', 0..0, &Call::Potrf(outside));
    assert!(error.contains("leave the heap"), "{error}");
    let error = refused('s', 0..0, &call);
    assert!(error.contains("parameters"), "{error}");
}
