//! potrf and larfb.

use crate::{SIDES, UPLOS, four_types, heap::Heap, image::Image};
use superscalar_kernels::{
    MatMut, NotPositiveDefinite, Op, Scalar, Side, Uplo,
    device::{Call, Mat},
    opencl::Parameters,
    operations::{Larfb, Potrf},
    reference,
};
use superscalar_oracle::Nearness;

four_types! { potrf the_first_minor_is_reported larfb }

/// A Hermitian positive definite triangle, imaginary parts on the diagonal; NaN in the other triangle.
fn positive_definite<T: Scalar>(image: &mut Image<T>, uplo: Uplo, n: usize) -> Mat<T> {
    image.place((n, n), |image, i, j| {
        let inside = if uplo == Uplo::Lower { i > j } else { i < j };
        match (i == j, inside) {
            (true, _) => T::from_parts(T::Real::from_f64(2.0 + n as f64), T::Real::ONE),
            (false, true) => image.random(),
            _ => T::from_f64(f64::NAN),
        }
    })
}

fn potrf<T: Scalar>(heap: &Heap, parameters: &Parameters) {
    let mut image = Image::<T>::new(21);
    for (n, uplo) in [0, 1, 2, 7, 31, 32, 33, 64, 65, 100, 193].into_iter().flat_map(|n| UPLOS.map(|uplo| (n, uplo))) {
        image.data.clear();
        let a = positive_definite(&mut image, uplo, n);
        let call = Call::Potrf(Potrf { uplo, first: 0, a });
        image.agrees(heap, parameters, (&call, a), Nearness::Roundoffs(40.0), |_, out| {
            reference::potrf(uplo, out).expect("it is positive definite");
        });
    }
}

/// The order that the host's kernel reports, and the other triangle untouched.
fn the_first_minor_is_reported<T: Scalar>(heap: &Heap, parameters: &Parameters) {
    let n = 150;
    let cases = UPLOS.into_iter().flat_map(|uplo| [0, 1, 31, 32, 63, 64, 90, 149].map(|bad| (uplo, bad)));
    for (at, (uplo, bad)) in cases.enumerate() {
        // By turns, and the two triangles have different ones at the same place.
        let value = [-1.0, 0.0, f64::NAN, f64::NEG_INFINITY][(at + at / 8) % 4];
        let mut image = Image::<T>::new(22);
        let a = positive_definite(&mut image, uplo, n);
        // A second one behind it, which is not reported.
        image.view_mut(a)[(n - 1, n - 1)] = T::from_f64(-5.0);
        image.view_mut(a)[(bad, bad)] = T::from_f64(value);
        let expected = reference::potrf(uplo, image.clone().view_mut(a)).expect_err("it is not positive definite");
        let call = Call::Potrf(Potrf { uplo, first: 0, a });
        let error = image.after(heap, parameters, &call).map(drop).expect_err("it is not, here");
        assert_eq!(expected, NotPositiveDefinite { minor: bad + 1 });
        assert_eq!(error.to_string(), expected.to_string(), "{uplo} {bad} {value} {parameters:?}");
        assert!(!error.is_lost(), "{error}");
    }
}

fn larfb<T: Scalar>(heap: &Heap, parameters: &Parameters) {
    let mut image = Image::<T>::new(23);
    let adjoint = if T::COMPLEX { Op::ConjTrans } else { Op::Trans };
    let shapes =
        [(0, 0, 3, 1), (1, 1, 1, 1), (5, 5, 0, 5), (9, 4, 7, 4), (40, 17, 30, 17), (70, 20, 35, 6), (130, 48, 20, 16)];
    for (m, k, n, block) in shapes {
        for (side, op) in SIDES.into_iter().flat_map(|side| [Op::None, adjoint].map(|op| (side, op))) {
            image.data.clear();
            // What geqrf leaves: reflectors below the diagonal and anything above, a triangle with zeros below.
            let scale = T::from_f64(1.0 / m.max(1) as f64);
            let v =
                image.place((m, k), |image, i, j| if i > j { image.random() * scale } else { T::from_f64(f64::NAN) });
            let t = image.place((block, k), |image, i, j| if i <= j % block { image.random() } else { T::ZERO });
            let c = image.place(if side == Side::Left { (m, n) } else { (n, m) }, |image, _, _| image.random());
            let call = Call::Larfb(Larfb { side, op, v, t, c });
            image.agrees(heap, parameters, (&call, c), Nearness::Roundoffs(60.0), |old, out| {
                by_blocks(old, (side, op), (v, t), out);
            });
        }
    }
}

/// The reference, for a T of fewer rows than columns: one reflector after the other.
fn by_blocks<T: Scalar>(old: &Image<T>, (side, op): (Side, Op), (v, t): (Mat<T>, Mat<T>), mut c: MatMut<'_, T>) {
    let ((m, k), block, n) = (v.shape(), t.m, if side == Side::Left { c.ncols() } else { c.nrows() });
    let mut firsts: Vec<usize> = (0..k).step_by(block).collect();
    if (side == Side::Left) == (op == Op::None) {
        firsts.reverse();
    }
    for first in firsts {
        let columns = first..k.min(first + block);
        let (v, t) = (v.submatrix(first..m, columns.clone()), t.submatrix(0..columns.len(), columns));
        let rest = match side {
            Side::Left => c.rb_mut().submatrix(first..m, 0..n),
            Side::Right => c.rb_mut().submatrix(0..n, first..m),
        };
        reference::larfb(side, op, old.view(v), old.view(t), rest);
    }
}
