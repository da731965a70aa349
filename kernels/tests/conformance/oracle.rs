//! The meaning of each call, by the textbook loops of [`reference`].

use super::Image;
use superscalar_kernels::{
    Diag, NotPositiveDefinite, Op, Scalar, Side,
    Symmetry::{self, Hermitian, Symmetric},
    Uplo,
    device::{Call, Mat},
    operations::{
        Geadd, Gemm, Geqrf, Getrf, Lacpy, Larfb, Laswp, Potrf, Rank2k, RankK, Scale, Symm, Triangular, TriangularAction,
    },
    reference,
};
use superscalar_oracle::{Layout, Random, Stored};

/// Copies a matrix out of the heap.
fn copy_of<T: Scalar>(image: &Image, mat: Mat<T>) -> Stored<T> {
    Stored::new(mat.shape(), |i, j| image.at(mat, i, j))
}

/// Returns the square matrix that contains `a` as its first rows or columns; its other elements are zeros.
fn squared<T: Scalar>(a: &Stored<T>) -> Stored<T> {
    let (m, n) = a.shape();
    Stored::new((m.max(n), m.max(n)), |i, j| if i < m && j < n { a.at(i, j) } else { T::ZERO })
}

/// Returns the matrix that a call writes, and the triangle that it writes; `None` for the whole matrix.
pub fn written<T: Scalar>(call: &Call<T>) -> (Mat<T>, Option<Uplo>) {
    match call {
        Call::Gemm(Gemm { part, c, .. }) => (*c, *part),
        Call::Symm(Symm { c, .. }) | Call::Larfb(Larfb { c, .. }) => (*c, None),
        Call::RankK(RankK { uplo, c, .. }) | Call::Rank2k(Rank2k { uplo, c, .. }) => (*c, Some(*uplo)),
        Call::Triangular(t) => (t.b, None),
        Call::Potrf(Potrf { uplo, a, .. }) => (*a, Some(*uplo)),
        Call::Getrf(Getrf { a, .. }) | Call::Geqrf(Geqrf { a, .. }) => (*a, None),
        Call::Laswp(Laswp { a, .. }) => (*a, None),
        Call::Lacpy(Lacpy { b, .. }) | Call::Geadd(Geadd { b, .. }) => (*b, None),
        Call::Scale(Scale { part, a, .. }) => (*a, part.map(|(_, uplo)| uplo)),
        Call::Batch(_) => unreachable!("batches are compared problem by problem"),
    }
}

/// Returns whether (i, j) is in the triangle, diagonal included; always true without a triangle.
pub fn is_in(part: Option<Uplo>, i: usize, j: usize) -> bool {
    match part {
        None => true,
        Some(Uplo::Lower) => i >= j,
        Some(Uplo::Upper) => i <= j,
    }
}

/// Carries the call out on the image.
pub fn apply<T: Scalar>(call: &Call<T>, image: &mut Image) -> Result<(), NotPositiveDefinite> {
    let (mat, _) = written(call);
    let mut x = copy_of(image, mat);
    let outcome = compute(call, image, &mut x);
    (0..mat.n).for_each(|j| (0..mat.m).for_each(|i| image.set(mat, i, j, x.at(i, j))));
    outcome
}

/// Computes the written matrix of the call.
fn compute<T: Scalar>(call: &Call<T>, image: &Image, x: &mut Stored<T>) -> Result<(), NotPositiveDefinite> {
    let of = |mat: &Mat<T>| copy_of(image, *mat);
    match *call {
        Call::Gemm(Gemm { part, op_a, op_b, alpha, ref a, ref b, beta, .. }) => {
            let (a, b) = (of(a), of(b));
            match part {
                None => reference::gemm(alpha, op_a, a.view(), op_b, b.view(), beta, x.view_mut()),
                Some(uplo) => reference::gemmt(uplo, alpha, op_a, a.view(), op_b, b.view(), beta, x.view_mut()),
            }
        }
        Call::Symm(Symm { symmetry, side, uplo, alpha, ref a, ref b, beta, .. }) => {
            let apply = if symmetry == Hermitian { reference::hemm } else { reference::symm };
            apply(side, uplo, alpha, of(a).view(), of(b).view(), beta, x.view_mut());
        }
        Call::RankK(RankK { symmetry, uplo, op, alpha, ref a, beta, c }) if c.m != c.n => {
            rank_k_of_trapezoid((symmetry, uplo, op), alpha, &of(a), beta, x);
        }
        Call::RankK(RankK { symmetry: Hermitian, uplo, op, alpha, ref a, beta, .. }) => {
            reference::herk(uplo, op, alpha.re(), of(a).view(), beta.re(), x.view_mut());
        }
        Call::RankK(RankK { uplo, op, alpha, ref a, beta, .. }) => {
            reference::syrk(uplo, op, alpha, of(a).view(), beta, x.view_mut());
        }
        Call::Rank2k(Rank2k { symmetry: Hermitian, uplo, op, alpha, ref a, ref b, beta, .. }) => {
            reference::her2k(uplo, op, alpha, of(a).view(), of(b).view(), beta.re(), x.view_mut());
        }
        Call::Rank2k(Rank2k { uplo, op, alpha, ref a, ref b, beta, .. }) => {
            reference::syr2k(uplo, op, alpha, of(a).view(), of(b).view(), beta, x.view_mut());
        }
        Call::Triangular(Triangular {
            action: TriangularAction::Multiply, side, uplo, op, diag, alpha, ref a, ..
        }) => {
            reference::trmm(side, uplo, op, diag, alpha, of(a).view(), x.view_mut());
        }
        Call::Triangular(Triangular {
            action: TriangularAction::Solve, side, uplo, op, diag, alpha, ref a, ..
        }) => {
            reference::trsm(side, uplo, op, diag, alpha, of(a).view(), x.view_mut());
        }
        Call::Potrf(Potrf { uplo, a, .. }) if a.m != a.n => return potrf_of_trapezoid(uplo, x),
        Call::Potrf(Potrf { uplo, .. }) => return reference::potrf(uplo, x.view_mut()),
        Call::Batch(_) => unreachable!("batches are compared problem by problem"),
        Call::Getrf(_) | Call::Geqrf(_) => unreachable!("panels are checked by the products of their factors"),
        Call::Laswp(Laswp { first, ref ipiv, direction, .. }) => {
            // Interchange the rows above with themselves.
            let mut rows: Vec<i32> = (1..=first as i32).collect();
            ipiv.iter().for_each(|&block| rows.extend(image.elements(block)));
            reference::laswp(x.view_mut(), &rows, direction);
        }
        Call::Larfb(Larfb { side, op, ref v, ref t, .. }) => {
            let (v, t) = (of(v), full_t(&of(v), &of(t)));
            reference::larfb(side, op, v.view(), t.view(), x.view_mut());
        }
        Call::Lacpy(Lacpy { op, ref a, .. }) => copy(op, &of(a), x),
        Call::Geadd(Geadd { op, alpha, ref a, beta, .. }) => {
            reference::geadd(op, alpha, of(a).view(), beta, x.view_mut());
        }
        Call::Scale(Scale { part, beta, .. }) => scale(part, beta, x),
    }
    Ok(())
}

/// Updates the whole square that contains the trapezoid.
fn rank_k_of_trapezoid<T: Scalar>(
    (symmetry, uplo, op): (Symmetry, Uplo, Op),
    alpha: T,
    a: &Stored<T>,
    beta: T,
    x: &mut Stored<T>,
) {
    let mut square = squared(x);
    match symmetry {
        Hermitian => reference::herk(uplo, op, alpha.re(), a.view(), beta.re(), square.view_mut()),
        Symmetric => reference::syrk(uplo, op, alpha, a.view(), beta, square.view_mut()),
    }
    *x = Stored::new(x.shape(), |i, j| square.at(i, j));
}

/// Factors the triangle, and solves for the rest by substitution.
fn potrf_of_trapezoid<T: Scalar>(uplo: Uplo, x: &mut Stored<T>) -> Result<(), NotPositiveDefinite> {
    let order = x.shape().0.min(x.shape().1);
    let ((mut triangle, rest), side) = match uplo {
        Uplo::Lower => (x.view_mut().split_at_row(order), Side::Right),
        Uplo::Upper => (x.view_mut().split_at_col(order), Side::Left),
    };
    reference::potrf(uplo, triangle.rb_mut())?;
    reference::trsm(side, uplo, Op::ConjTrans, Diag::NonUnit, T::ONE, triangle.into_ref(), rest);
    Ok(())
}

/// Returns the k x k triangular factor of the reflectors whose blocked factors are side by side in T.
fn full_t<T: Scalar>(v: &Stored<T>, t: &Stored<T>) -> Stored<T> {
    let (block, k) = t.shape();
    let tau: Vec<T> = (0..k).map(|j| t.at(j % block, j)).collect();
    let mut whole = Stored::zeros((k, k));
    reference::larft(v.view(), &tau, whole.view_mut());
    whole
}

fn copy<T: Scalar>(op: Op, a: &Stored<T>, x: &mut Stored<T>) {
    let mut b = x.view_mut();
    for j in 0..b.ncols() {
        for i in 0..b.nrows() {
            b[(i, j)] = match op {
                Op::None => a.view().at(i, j),
                Op::Trans => a.view().at(j, i),
                Op::ConjTrans => a.view().at(j, i).conj(),
            };
        }
    }
}

/// A product with an inner dimension of zero scales by the rules of its routine.
fn scale<T: Scalar>(part: Option<(Symmetry, Uplo)>, beta: T, x: &mut Stored<T>) {
    let (a, b) = (Stored::zeros((x.shape().0, 0)), Stored::zeros((0, x.shape().1)));
    match part {
        None => reference::gemm(T::ZERO, Op::None, a.view(), Op::None, b.view(), beta, x.view_mut()),
        Some((Symmetric, uplo)) => reference::syrk(uplo, Op::None, T::ZERO, a.view(), beta, x.view_mut()),
        Some((Hermitian, uplo)) => reference::herk(uplo, Op::None, T::ZERO.re(), a.view(), beta.re(), x.view_mut()),
    }
}

/// Returns V and T of a random m x k matrix, with a T of `block` rows that holds the factors of `block` reflectors
/// each.
pub fn reflectors<T: Scalar>(numbers: &mut Random, (m, k): (usize, usize), block: usize) -> (Vec<T>, Vec<T>) {
    let mut a = Stored::fractions(numbers, (m, k), Layout::PLAIN);
    let mut tau = vec![T::ZERO; k];
    let mut whole = Stored::zeros((k, k));
    reference::geqrf(a.view_mut(), &mut tau, whole.view_mut());
    let mut t = Stored::zeros((block, k));
    for first in (0..k).step_by(block.max(1)) {
        let cols = first..k.min(first + block);
        let v = a.view().submatrix(first..m, cols.clone());
        let part = t.view_mut().submatrix(0..cols.len(), cols.clone());
        reference::larft(v, &tau[cols], part);
    }
    (a.view().to_vec(), t.view().to_vec())
}
