//! What a call means, by the textbook loops of [`reference`].

use super::Image;
use superscalar_kernels::device::{Call, Mat, Triangle};
use superscalar_kernels::{Diag, MatMut, MatRef, NotPositiveDefinite, Op, Scalar, Side, Uplo, reference};
use superscalar_oracle::Random;

/// A matrix outside of the heap.
struct Dense<T> {
    data: Vec<T>,
    m: usize,
    n: usize,
}

impl<T: Scalar> Dense<T> {
    fn of(image: &Image, mat: Mat<T>) -> Self {
        Self { data: image.elements(mat), m: mat.m, n: mat.n }
    }

    /// What a product of no depth multiplies.
    fn nothing(m: usize, n: usize) -> Self {
        Self { data: Vec::new(), m, n }
    }

    /// The square matrix that it begins, with zeros where it has nothing.
    fn squared(&self) -> Self {
        let order = self.m.max(self.n);
        let mut square = Self { data: vec![T::ZERO; order * order], m: order, n: order };
        for (i, j) in (0..self.n).flat_map(|j| (0..self.m).map(move |i| (i, j))) {
            square.data[i + j * order] = self.data[i + j * self.m];
        }
        square
    }

    /// The part of a larger matrix that stands where this one is.
    fn take_from(&mut self, larger: &Self) {
        for (i, j) in (0..self.n).flat_map(|j| (0..self.m).map(move |i| (i, j))) {
            self.data[i + j * self.m] = larger.data[i + j * larger.m];
        }
    }

    fn view(&self) -> MatRef<'_, T> {
        MatRef::from_col_major(&self.data, self.m, self.n, self.m.max(1)).expect("dense")
    }

    fn view_mut(&mut self) -> MatMut<'_, T> {
        MatMut::from_col_major(&mut self.data, self.m, self.n, self.m.max(1)).expect("dense")
    }
}

/// The matrix that a call writes, and the triangle of it if not all.
pub fn written<T: Scalar>(call: &Call<T>) -> (Mat<T>, Option<Uplo>) {
    match call {
        Call::Gemm { part, c, .. } => (*c, *part),
        Call::Symm { c, .. } | Call::Larfb { c, .. } => (*c, None),
        Call::RankK { uplo, c, .. } | Call::Rank2k { uplo, c, .. } => (*c, Some(*uplo)),
        Call::Trmm(t) | Call::Trsm(t) => (t.b, None),
        Call::Potrf { uplo, a, .. } => (*a, Some(*uplo)),
        Call::Getrf { a, .. } | Call::Geqrf { a, .. } => (*a, None),
        Call::Laswp { a, .. } => (*a, None),
        Call::Copy { b, .. } => (*b, None),
        Call::Scale { part, a, .. } => (*a, part.map(|(uplo, _)| uplo)),
    }
}

/// Whether (i, j) is in the triangle, diagonal included; everything is if there is none.
pub fn is_in(part: Option<Uplo>, i: usize, j: usize) -> bool {
    match part {
        None => true,
        Some(Uplo::Lower) => i >= j,
        Some(Uplo::Upper) => i <= j,
    }
}

/// Does to the image what the call says.
pub fn apply<T: Scalar>(call: &Call<T>, image: &mut Image) -> Result<(), NotPositiveDefinite> {
    let (mat, _) = written(call);
    let mut x = Dense::of(image, mat);
    let outcome = compute(call, image, &mut x);
    for at in 0..mat.m * mat.n {
        image.set(mat, at % mat.m, at / mat.m, x.data[at]);
    }
    outcome
}

/// The written matrix after the call.
fn compute<T: Scalar>(call: &Call<T>, image: &Image, x: &mut Dense<T>) -> Result<(), NotPositiveDefinite> {
    let of = |mat: &Mat<T>| Dense::of(image, *mat);
    match *call {
        Call::Gemm { part, op_a, op_b, alpha, ref a, ref b, beta, .. } => {
            let (a, b) = (of(a), of(b));
            match part {
                None => reference::gemm(alpha, op_a, a.view(), op_b, b.view(), beta, x.view_mut()),
                Some(uplo) => reference::gemmt(uplo, alpha, op_a, a.view(), op_b, b.view(), beta, x.view_mut()),
            }
        }
        Call::Symm { hermitian, side, uplo, alpha, ref a, ref b, beta, .. } => {
            let apply = if hermitian { reference::hemm } else { reference::symm };
            apply(side, uplo, alpha, of(a).view(), of(b).view(), beta, x.view_mut());
        }
        Call::RankK { hermitian, uplo, op, alpha, ref a, beta, c } if c.m != c.n => {
            rank_k_of_trapezoid((hermitian, uplo, op), alpha, &of(a), beta, x);
        }
        Call::RankK { hermitian: true, uplo, op, alpha, ref a, beta, .. } => {
            reference::herk(uplo, op, alpha.re(), of(a).view(), beta.re(), x.view_mut());
        }
        Call::RankK { uplo, op, alpha, ref a, beta, .. } => {
            reference::syrk(uplo, op, alpha, of(a).view(), beta, x.view_mut());
        }
        Call::Rank2k { hermitian: true, uplo, op, alpha, ref a, ref b, beta, .. } => {
            reference::her2k(uplo, op, alpha, of(a).view(), of(b).view(), beta.re(), x.view_mut());
        }
        Call::Rank2k { uplo, op, alpha, ref a, ref b, beta, .. } => {
            reference::syr2k(uplo, op, alpha, of(a).view(), of(b).view(), beta, x.view_mut());
        }
        Call::Trmm(Triangle { side, uplo, op, diag, alpha, ref a, .. }) => {
            reference::trmm(side, uplo, op, diag, alpha, of(a).view(), x.view_mut());
        }
        Call::Trsm(Triangle { side, uplo, op, diag, alpha, ref a, .. }) => {
            reference::trsm(side, uplo, op, diag, alpha, of(a).view(), x.view_mut());
        }
        Call::Potrf { uplo, a, .. } if a.m != a.n => return potrf_of_trapezoid(uplo, x),
        Call::Potrf { uplo, .. } => return reference::potrf(uplo, x.view_mut()),
        Call::Getrf { .. } | Call::Geqrf { .. } => unreachable!("panels are judged by what their factors multiply to"),
        Call::Laswp { first, ref ipiv, direction, .. } => {
            // The rows above are exchanged with themselves.
            let mut rows: Vec<i32> = (1..=first as i32).collect();
            ipiv.iter().for_each(|&block| rows.extend(image.elements(block)));
            reference::laswp(x.view_mut(), &rows, direction);
        }
        Call::Larfb { side, op, ref v, ref t, .. } => {
            let (v, t) = (of(v), whole_t(&of(v), &of(t)));
            reference::larfb(side, op, v.view(), t.view(), x.view_mut());
        }
        Call::Copy { op, ref a, .. } => copy(op, &of(a), x),
        Call::Scale { part, beta, .. } => scale(part, beta, x),
    }
    Ok(())
}

/// The update of the whole square that the trapezoid begins.
fn rank_k_of_trapezoid<T: Scalar>(
    (hermitian, uplo, op): (bool, Uplo, Op),
    alpha: T,
    a: &Dense<T>,
    beta: T,
    x: &mut Dense<T>,
) {
    let mut square = x.squared();
    match hermitian {
        true => reference::herk(uplo, op, alpha.re(), a.view(), beta.re(), square.view_mut()),
        false => reference::syrk(uplo, op, alpha, a.view(), beta, square.view_mut()),
    }
    x.take_from(&square);
}

/// The factor of the triangle, and what a solve by substitution makes of the rest.
fn potrf_of_trapezoid<T: Scalar>(uplo: Uplo, x: &mut Dense<T>) -> Result<(), NotPositiveDefinite> {
    let order = x.m.min(x.n);
    let ((mut triangle, rest), side) = match uplo {
        Uplo::Lower => (x.view_mut().split_at_row(order), Side::Right),
        Uplo::Upper => (x.view_mut().split_at_col(order), Side::Left),
    };
    reference::potrf(uplo, triangle.rb_mut())?;
    reference::trsm(side, uplo, Op::ConjTrans, Diag::NonUnit, T::ONE, triangle.into_ref(), rest);
    Ok(())
}

/// The k x k factor of the reflectors whose factors, for every few of them, stand side by side in T.
fn whole_t<T: Scalar>(v: &Dense<T>, t: &Dense<T>) -> Dense<T> {
    let tau: Vec<T> = (0..t.n).map(|j| t.data[j % t.m + j * t.m]).collect();
    let mut whole = Dense { data: vec![T::ZERO; t.n * t.n], m: t.n, n: t.n };
    reference::larft(v.view(), &tau, whole.view_mut());
    whole
}

fn copy<T: Scalar>(op: Op, a: &Dense<T>, x: &mut Dense<T>) {
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

/// A product of no depth scales, by the rules of its routine.
fn scale<T: Scalar>(part: Option<(Uplo, bool)>, beta: T, x: &mut Dense<T>) {
    let (a, b) = (Dense::nothing(x.m, 0), Dense::nothing(0, x.n));
    match part {
        None => reference::gemm(T::ZERO, Op::None, a.view(), Op::None, b.view(), beta, x.view_mut()),
        Some((uplo, false)) => reference::syrk(uplo, Op::None, T::ZERO, a.view(), beta, x.view_mut()),
        Some((uplo, true)) => reference::herk(uplo, Op::None, T::ZERO.re(), a.view(), beta.re(), x.view_mut()),
    }
}

/// V, T of so many rows, and what V hides: the reflectors of a random m x k matrix, in tiles of T of `block` reflectors.
pub fn reflectors<T: Scalar>(numbers: &mut Random, (m, k): (usize, usize), block: usize) -> (Vec<T>, Vec<T>) {
    let mut a = Dense { data: (0..m * k).map(|_| numbers.fraction()).collect(), m, n: k };
    let mut tau = vec![T::ZERO; k];
    let mut whole = Dense { data: vec![T::ZERO; k * k], m: k, n: k };
    reference::geqrf(a.view_mut(), &mut tau, whole.view_mut());
    let mut t = Dense { data: vec![T::ZERO; block * k], m: block, n: k };
    for first in (0..k).step_by(block.max(1)) {
        let cols = first..k.min(first + block);
        let v = a.view().submatrix(first..m, cols.clone());
        let part = t.view_mut().submatrix(0..cols.len(), cols.clone());
        reference::larft(v, &tau[cols], part);
    }
    (a.data, t.data)
}
