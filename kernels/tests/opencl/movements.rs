//! copy, transposition, scale, laswp; and calls that are refused.

use crate::{OPS, UPLOS, device, four_types, heap::Heap, image::Image, scalars};
use superscalar_kernels::{
    Direction, Op, Scalar, Side, Symmetry,
    device::{Call, Mat},
    opencl::{Parameters, enqueue, scratch_bytes},
    operations::{Gemm, Lacpy, Larfb, Laswp, Potrf, RankK, Scale, Symm},
};
use superscalar_oracle::Nearness;

four_types! { copy scale }
// The suite in `conformance` asks for no interchange that is refused.
four_types! { every_class => laswp }

const SHAPES: [(usize, usize); 9] = [(0, 3), (3, 0), (1, 1), (1, 7), (7, 1), (16, 16), (33, 50), (50, 50), (100, 21)];

fn copy<T: Scalar>(heap: &Heap, parameters: &Parameters) {
    let mut image = Image::<T>::new(31);
    for (shape, op) in SHAPES.into_iter().flat_map(|shape| OPS.map(|op| (shape, op))) {
        image.data.clear();
        let (a, b) = (image.integers(shape), image.integers(op.shape(shape)));
        image.agrees(heap, parameters, (&Call::Lacpy(Lacpy { op, a, b }), b), Nearness::Exact, |old, mut out| {
            let a = old.view(a);
            for (i, j) in (0..b.n).flat_map(|j| (0..b.m).map(move |i| (i, j))) {
                out[(i, j)] = match op {
                    Op::None => a.at(i, j),
                    Op::Trans => a.at(j, i),
                    Op::ConjTrans => a.at(j, i).conj(),
                };
            }
        });
    }
}

fn scale<T: Scalar>(heap: &Heap, parameters: &Parameters) {
    let mut image = Image::<T>::new(32);
    let parts = UPLOS.into_iter().flat_map(|uplo| Symmetry::ALL.map(|symmetry| Some((symmetry, uplo))));
    let parts: Vec<_> = [None].into_iter().chain(parts).collect();
    let betas = scalars::<T>().map(|(_, beta)| beta);
    for (shape, beta) in SHAPES.into_iter().flat_map(|shape| betas.map(|beta| (shape, beta))) {
        // Only a square matrix has triangles.
        for &part in parts.iter().filter(|part| part.is_none() || shape.0 == shape.1) {
            image.data.clear();
            // By herk's rules only its real part counts.
            let is_hermitian = part.is_some_and(|(symmetry, _)| symmetry == Symmetry::Hermitian);
            let factor = if is_hermitian { T::from_real(beta.re()) } else { beta };
            // beta = 0 does not read.
            let is_read = factor != T::ZERO;
            let a = image.place(shape, |image, _, _| if is_read { image.integer() } else { T::from_f64(f64::NAN) });
            image.agrees(
                heap,
                parameters,
                (&Call::Scale(Scale { part, beta, a }), a),
                Nearness::Exact,
                |_, mut out| {
                    for (i, j) in (0..a.n).flat_map(|j| (0..a.m).map(move |i| (i, j))) {
                        let inside = part.is_none_or(|(_, uplo)| if uplo == UPLOS[0] { i >= j } else { i <= j });
                        if inside {
                            let x = if is_read { factor * out[(i, j)] } else { T::ZERO };
                            let is_real = i == j && is_hermitian;
                            out[(i, j)] = if is_real { T::from_real(x.re()) } else { x };
                        }
                    }
                },
            );
        }
    }
}

fn laswp<T: Scalar>(heap: &Heap, parameters: &Parameters) {
    let mut image = Image::<T>::new(33);
    for ((m, n), direction) in
        SHAPES.into_iter().flat_map(|shape| [Direction::Forward, Direction::Backward].map(|d| (shape, d)))
    {
        image.data.clear();
        let first = m / 4;
        let count = m / 2;
        let indices: Vec<i32> = (0..count).map(|_| image.numbers.below(m.max(1)) as i32 + 1).collect();
        let ipiv: Vec<Mat<i32>> = indices.chunks(7).map(|block| image.indices(block)).collect();
        let a = image.integers((m, n));
        let call = Call::Laswp(Laswp { a, first, ipiv: ipiv.clone(), direction });
        image.agrees(heap, parameters, (&call, a), Nearness::Exact, |_, out| {
            superscalar_kernels::cpu::laswp(out, first, &indices, direction);
        });
        if count > 0 && n > 0 {
            let wrong = ipiv[0].offset;
            for index in [0, m as i32 + 1, -1] {
                let mut image = image.clone();
                bytemuck::cast_slice_mut::<T, i32>(&mut image.data)[wrong] = index;
                let error = image.after(heap, parameters, &call).map(drop).expect_err("an index outside");
                assert!(error.to_string().contains(&format!("row {}", first + 1)), "{error}");
            }
        }
    }
}

/// Calls whose shapes do not agree, and scratch memory that is too small, are errors, and nothing is written.
#[test]
fn what_can_not_be_right_is_refused() {
    let Some(heap) = device() else { return };
    let parameters = Parameters::of(superscalar_kernels::opencl::Class::WideCpu, 'd');
    let mut image = Image::<f64>::new(34);
    let (a, b, c) = (image.integers((4, 5)), image.integers((6, 7)), image.integers((4, 7)));
    let square = image.integers((4, 4));
    let wrong = [
        Call::Gemm(Gemm { part: None, op_a: Op::None, op_b: Op::None, alpha: 1.0, a, b, beta: 1.0, c }),
        Call::Symm(Symm {
            symmetry: Symmetry::Symmetric,
            side: Side::Right,
            uplo: UPLOS[0],
            alpha: 1.0,
            a: square,
            b: c,
            beta: 1.0,
            c,
        }),
        Call::RankK(RankK {
            symmetry: Symmetry::Symmetric,
            uplo: UPLOS[0],
            op: Op::Trans,
            alpha: 1.0,
            a,
            beta: 1.0,
            c: square,
        }),
        Call::Potrf(Potrf { uplo: UPLOS[0], first: 0, a }),
        Call::Lacpy(Lacpy { op: Op::Trans, a, b }),
        Call::Larfb(Larfb { side: Side::Left, op: Op::None, v: a, t: square, c }),
        Call::Laswp(Laswp { a, first: 3, ipiv: vec![Mat::at(0, (2, 1), 2)], direction: Direction::Forward }),
    ];
    for call in wrong {
        assert_eq!(scratch_bytes(&call), 0);
        let error = image.after(&heap, &parameters, &call).map(drop).expect_err("the shapes do not agree");
        assert!(error.to_string().contains("do not agree"), "{error}");
    }
    let call = Call::RankK(RankK {
        symmetry: Symmetry::Symmetric,
        uplo: UPLOS[0],
        op: Op::None,
        alpha: 1.0,
        a,
        beta: 1.0,
        c: square,
    });
    assert!(scratch_bytes(&call) > 0);
    let error = heap.run(|queue| enqueue(queue, 0..64, &call)).map(drop).expect_err("no room to pack");
    assert!(error.to_string().contains("scratch"), "{error}");
    let outside = Mat::at(heap.bytes() / 8 - 20, (4, 4), 6);
    let error = image.after(&heap, &parameters, &Call::Potrf(Potrf { uplo: UPLOS[0], first: 0, a: outside })).map(drop);
    assert!(error.as_ref().is_err_and(|error| error.to_string().contains("leave the heap")), "{error:?}");
    let single = Parameters::of(superscalar_kernels::opencl::Class::WideCpu, 's');
    let error = image.after(&heap, &single, &call).map(drop).expect_err("another type's parameters");
    assert!(error.to_string().contains("parameters"), "{error}");
}
