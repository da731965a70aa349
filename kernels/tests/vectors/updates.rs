//! syr, her, spr, hpr and syr2, her2, spr2, hpr2.

use super::stored_triangle::{Storage, StoredTriangle};
use super::test_vector::{INCREMENTS, SIZES, TestVector, factors};
use superscalar_kernels::cpu::{self, Conj};
use superscalar_kernels::{Scalar, Uplo, VecRef};
use superscalar_oracle::Random;

const STORAGES: [Storage; 3] = [Storage::Columns, Storage::Rows, Storage::Packed];

/// Returns a view of x, conjugated if `conj`.
fn vector<T: Scalar>(x: &TestVector<T>, conj: bool) -> Conj<VecRef<'_, T>> {
    if conj { Conj::of(x.view()) } else { x.view().into() }
}

/// Calls `body` with triangles of each storage, and with two vectors.
fn cases<T: Scalar>(mut body: impl FnMut(&str, bool, T, &StoredTriangle<T>, [&TestVector<T>; 2])) {
    let mut numbers = Random::new(8);
    for n in SIZES {
        for storage in STORAGES {
            for (uplo, hermitian) in
                [Uplo::Lower, Uplo::Upper].into_iter().flat_map(|uplo| [(uplo, false), (uplo, true)])
            {
                let mut a = StoredTriangle::<T>::new(storage, uplo, n, |_, _| numbers.integer());
                if hermitian {
                    a.spoil_diagonal();
                }
                for (of_x, of_y) in INCREMENTS {
                    for alpha in factors::<T>() {
                        let (x, y) =
                            (TestVector::integers(n, of_x, &mut numbers), TestVector::integers(n, of_y, &mut numbers));
                        let what = format!("{n} {storage:?} {uplo:?} hermitian {hermitian} {alpha} {of_x} {of_y}");
                        body(&what, hermitian, alpha, &a, [&x, &y]);
                    }
                }
            }
        }
    }
}

/// Returns the triangle plus a product; the diagonal of a Hermitian matrix becomes real.
fn added<T: Scalar>(
    hermitian: bool,
    alpha: T,
    a: &StoredTriangle<T>,
    product: impl Fn(usize, usize) -> T,
) -> StoredTriangle<T> {
    let mut wanted = a.clone();
    if alpha == T::ZERO {
        return wanted;
    }
    for (i, j) in (0..a.n).flat_map(|j| (0..a.n).map(move |i| (i, j))) {
        if hermitian && i == j {
            wanted.set(i, j, T::from_real(a.get(i, j).re() + product(i, j).re()));
        } else {
            wanted.set(i, j, a.get(i, j) + product(i, j));
        }
    }
    wanted
}

fn conj_if<T: Scalar>(conj: bool, x: T) -> T {
    if conj { x.conj() } else { x }
}

pub fn rank_one<T: Scalar>() {
    cases::<T>(|what, hermitian, alpha, a, [x, _]| {
        for conj in [false, true] {
            let alpha = if hermitian { T::from_real(alpha.re()) } else { alpha };
            let of = |i: usize| conj_if(conj, x.get(i));
            let wanted = added(hermitian, alpha, a, |i, j| alpha * of(i) * conj_if(hermitian, of(j)));
            let unread = TestVector::nan(x.n, x.inc);
            let x = vector(if alpha == T::ZERO { &unread } else { x }, conj);
            let mut found = a.clone();
            match (a.storage, hermitian) {
                (Storage::Packed, true) => cpu::hpr(a.uplo, alpha.re(), x, found.packed_mut()),
                (Storage::Packed, false) => cpu::spr(a.uplo, alpha, x, found.packed_mut()),
                (_, true) => cpu::her(a.uplo, alpha.re(), x, found.matrix_mut()),
                (_, false) => cpu::syr(a.uplo, alpha, x, found.matrix_mut()),
            }
            found.check(&wanted, &format!("{what} conj {conj}"));
        }
    });
}

pub fn rank_two<T: Scalar>() {
    cases::<T>(|what, hermitian, alpha, a, [x, y]| {
        for (of_x, of_y) in [(false, false), (true, false), (false, true), (true, true)] {
            let (p, q) = (|i: usize| conj_if(of_x, x.get(i)), |i: usize| conj_if(of_y, y.get(i)));
            let wanted = added(hermitian, alpha, a, |i, j| {
                alpha * p(i) * conj_if(hermitian, q(j)) + conj_if(hermitian, alpha) * q(i) * conj_if(hermitian, p(j))
            });
            let unread = (TestVector::nan(x.n, x.inc), TestVector::nan(y.n, y.inc));
            let (x, y) = if alpha == T::ZERO { (&unread.0, &unread.1) } else { (x, y) };
            let (x, y) = (vector(x, of_x), vector(y, of_y));
            let mut found = a.clone();
            match (a.storage, hermitian) {
                (Storage::Packed, true) => cpu::hpr2(a.uplo, alpha, x, y, found.packed_mut()),
                (Storage::Packed, false) => cpu::spr2(a.uplo, alpha, x, y, found.packed_mut()),
                (_, true) => cpu::her2(a.uplo, alpha, x, y, found.matrix_mut()),
                (_, false) => cpu::syr2(a.uplo, alpha, x, y, found.matrix_mut()),
            }
            found.check(&wanted, &format!("{what} conj {of_x} {of_y}"));
        }
    });
}
