//! trmm and trsm.

use crate::{DIAGS, OPS, SIDES, UPLOS, four_types, heap::Heap, image::Image, products::triangle, scalars};
use superscalar_kernels::{
    Diag, Op, Scalar, Side, Uplo,
    device::{Call, Mat},
    opencl::Parameters,
    operations::{Action, Triangular},
    reference,
};
use superscalar_oracle::Nearness;

four_types! { trmm trsm zeros_of_the_other_triangle_meet_nothing a_zero_on_the_diagonal_spoils_its_rows }

/// Empty, one, odd, a block of the kernels, ragged ones, more than one level of halves.
const SHAPES: [(usize, usize); 9] =
    [(0, 3), (3, 0), (1, 1), (6, 5), (17, 33), (33, 17), (64, 40), (70, 101), (150, 69)];

fn options() -> impl Iterator<Item = (Side, Uplo, Op, Diag)> {
    let sides = SIDES.into_iter().flat_map(|side| UPLOS.map(|uplo| (side, uplo)));
    let ops = sides.flat_map(|(side, uplo)| OPS.map(|op| (side, uplo, op)));
    ops.flat_map(|(side, uplo, op)| DIAGS.map(|diag| (side, uplo, op, diag)))
}

fn trmm<T: Scalar>(heap: &Heap, parameters: &Parameters) {
    let mut image = Image::<T>::new(11);
    for (m, n) in SHAPES {
        for (at, (side, uplo, op, diag)) in options().enumerate() {
            image.data.clear();
            let a = triangle(&mut image, uplo, diag, if side == Side::Left { m } else { n });
            let b = image.integers((m, n));
            let alpha = scalars()[at % 5].0;
            let call = Call::Triangular(Triangular { action: Action::Multiply, side, uplo, op, diag, alpha, a, b });
            image.agrees(heap, parameters, (&call, b), Nearness::Exact, |old, out| {
                reference::trmm(side, uplo, op, diag, alpha, old.view(a), out);
            });
        }
    }
}

/// A well conditioned triangle; NaN in the other, and on a unit diagonal.
fn regular<T: Scalar>(image: &mut Image<T>, uplo: Uplo, diag: Diag, n: usize) -> Mat<T> {
    image.place((n, n), |image, i, j| {
        let inside = if uplo == Uplo::Lower { i > j } else { i < j };
        match (i == j, inside) {
            (true, _) if diag == Diag::NonUnit => T::from_f64(2.0) + image.random() * T::from_f64(0.5),
            (false, true) => image.random() * T::from_f64(1.0 / n as f64),
            _ => T::from_f64(f64::NAN),
        }
    })
}

fn trsm<T: Scalar>(heap: &Heap, parameters: &Parameters) {
    let mut image = Image::<T>::new(12);
    for (m, n) in SHAPES {
        for (at, (side, uplo, op, diag)) in options().enumerate() {
            image.data.clear();
            let a = regular(&mut image, uplo, diag, if side == Side::Left { m } else { n });
            let b = image.place((m, n), |image, _, _| image.random());
            let alpha = scalars()[at % 5].0;
            let call = Call::Triangular(Triangular { action: Action::Solve, side, uplo, op, diag, alpha, a, b });
            image.agrees(heap, parameters, (&call, b), Nearness::Roundoffs(60.0), |old, out| {
                reference::trsm(side, uplo, op, diag, alpha, old.view(a), out);
            });
        }
    }
}

/// Inf in B times the zeros that are not stored would be NaN.
fn zeros_of_the_other_triangle_meet_nothing<T: Scalar>(heap: &Heap, parameters: &Parameters) {
    let mut image = Image::<T>::new(13);
    for (side, uplo, op, diag) in options() {
        image.data.clear();
        let (m, n) = (41, 39);
        let order = if side == Side::Left { m } else { n };
        let a = image.place((order, order), |_, i, j| {
            let inside = if uplo == Uplo::Lower { i >= j } else { i <= j };
            T::from_f64(if inside { 1.0 } else { f64::NAN })
        });
        let b = image.integers((m, n));
        // Real types only tell Inf from NaN apart for sure: a complex product of an infinite number has NaN in it.
        image.view_mut(b)[(20, 19)] = T::from_f64(f64::INFINITY);
        let triangle = |action| Call::Triangular(Triangular { action, side, uplo, op, diag, alpha: T::ONE, a, b });
        let agreement = if T::COMPLEX { Nearness::Finite } else { Nearness::Exact };
        image.agrees(heap, parameters, (&triangle(Action::Multiply), b), agreement, |old, out| {
            reference::trmm(side, uplo, op, diag, T::ONE, old.view(a), out);
        });
        image.agrees(heap, parameters, (&triangle(Action::Solve), b), Nearness::Finite, |old, out| {
            reference::trsm(side, uplo, op, diag, T::ONE, old.view(a), out);
        });
    }
}

fn a_zero_on_the_diagonal_spoils_its_rows<T: Scalar>(heap: &Heap, parameters: &Parameters) {
    let mut image = Image::<T>::new(14);
    for (side, uplo, op, _) in options() {
        image.data.clear();
        let (m, n) = (75, 71);
        let order = if side == Side::Left { m } else { n };
        let a = image.place((order, order), |_, i, j| T::from_f64(f64::from(i == j)));
        image.view_mut(a)[(33, 33)] = T::ZERO;
        let b = image.place((m, n), |_, _, _| T::ONE);
        let call = Call::Triangular(Triangular {
            action: Action::Solve,
            side,
            uplo,
            op,
            diag: Diag::NonUnit,
            alpha: T::ONE,
            a,
            b,
        });
        image.agrees(heap, parameters, (&call, b), Nearness::Finite, |old, out| {
            reference::trsm(side, uplo, op, Diag::NonUnit, T::ONE, old.view(a), out);
        });
    }
}
