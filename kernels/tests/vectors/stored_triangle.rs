//! Triangles in arrays padded with NaN: dense, in a band, packed.

use super::test_vector::{nan, same};
use superscalar_kernels::{Diag, MatMut, MatRef, Scalar, Uplo, VecMut, VecRef};

/// The storage of a triangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Storage {
    /// By columns, with padding between them.
    Columns,
    /// By rows, with padding between them.
    Rows,
    /// A band array with this many diagonals besides the main one.
    Band(usize),
    Packed,
}

/// Returns the storages to test for order n: dense, packed, and bands of various widths.
pub fn storages(n: usize) -> Vec<Storage> {
    let mut bands = vec![0, 1, 2, 3, n / 2, n.saturating_sub(1), n, n + 1];
    bands.sort_unstable();
    bands.dedup();
    let others = [Storage::Columns, Storage::Rows, Storage::Packed];
    others.into_iter().chain(bands.into_iter().map(Storage::Band)).collect()
}

/// A triangle of order n.
#[derive(Clone, Debug)]
pub struct StoredTriangle<T> {
    pub data: Vec<T>,
    pub n: usize,
    pub uplo: Uplo,
    pub storage: Storage,
}

/// Rows of padding.
const GAP: usize = 3;

impl<T: Scalar> StoredTriangle<T> {
    /// Returns a triangle with NaN everywhere except at its elements.
    pub fn new(storage: Storage, uplo: Uplo, n: usize, mut element: impl FnMut(usize, usize) -> T) -> Self {
        let len = match storage {
            Storage::Columns | Storage::Rows => n * (n + GAP),
            Storage::Band(k) => n * (k + 1 + GAP),
            Storage::Packed => n * (n + 1) / 2,
        };
        let mut triangle = Self { data: vec![nan(); len], n, uplo, storage };
        for (i, j) in (0..n).flat_map(|j| (0..n).map(move |i| (i, j))) {
            if let Some(at) = triangle.index(i, j) {
                triangle.data[at] = element(i, j);
            }
        }
        triangle
    }

    /// Returns the index of element (i, j) in the array, if it is stored.
    pub fn index(&self, i: usize, j: usize) -> Option<usize> {
        let inside = if self.uplo == Uplo::Lower { i >= j } else { i <= j };
        let n = self.n;
        match self.storage {
            _ if !inside => None,
            Storage::Columns => Some(i + j * (n + GAP)),
            Storage::Rows => Some(j + i * (n + GAP)),
            Storage::Band(k) if i.abs_diff(j) > k => None,
            Storage::Band(k) if self.uplo == Uplo::Lower => Some(i - j + j * (k + 1 + GAP)),
            Storage::Band(k) => Some(k + i - j + j * (k + 1 + GAP)),
            Storage::Packed if self.uplo == Uplo::Lower => Some((0..j).map(|j| n - j).sum::<usize>() + i - j),
            Storage::Packed => Some(j * (j + 1) / 2 + i),
        }
    }

    /// Returns element (i, j): zero outside a band and in the other triangle.
    pub fn get(&self, i: usize, j: usize) -> T {
        self.index(i, j).map_or(T::ZERO, |at| self.data[at])
    }

    pub fn set(&mut self, i: usize, j: usize, x: T) {
        if let Some(at) = self.index(i, j) {
            self.data[at] = x;
        }
    }

    /// Returns element (i, j) of the symmetric or Hermitian matrix.
    pub fn mirrored(&self, hermitian: bool, i: usize, j: usize) -> T {
        match (self.index(i, j), hermitian) {
            (Some(at), true) if i == j => T::from_real(self.data[at].re()),
            (Some(at), _) => self.data[at],
            (None, true) => self.get(j, i).conj(),
            (None, false) => self.get(j, i),
        }
    }

    /// Overwrites the diagonal with NaN if it must not be read.
    pub fn hide_diagonal(&mut self, diag: Diag) {
        if diag == Diag::Unit {
            (0..self.n).for_each(|j| self.set(j, j, nan()));
        }
    }

    /// Overwrites the imaginary parts of the diagonal with NaN.
    pub fn spoil_diagonal(&mut self) {
        let bad = <T::Real as Scalar>::from_f64(f64::NAN);
        (0..self.n).for_each(|j| self.set(j, j, T::from_parts(self.get(j, j).re(), bad)));
    }

    /// Returns a view of a dense triangle, or of the array of a band.
    pub fn matrix(&self) -> MatRef<'_, T> {
        let n = self.n;
        let view = |m: usize| MatRef::from_col_major(&self.data, m, n, m + GAP).expect("the array has all elements");
        match self.storage {
            Storage::Band(k) => view(k + 1),
            Storage::Rows => view(n).transpose(),
            _ => view(n),
        }
    }

    pub fn matrix_mut(&mut self) -> MatMut<'_, T> {
        let (n, is_flipped) = (self.n, self.storage == Storage::Rows);
        let view = MatMut::from_col_major(&mut self.data, n, n, n + GAP).expect("the array has all elements");
        if is_flipped { view.transpose() } else { view }
    }

    pub fn packed(&self) -> VecRef<'_, T> {
        VecRef::from_slice(&self.data)
    }

    pub fn packed_mut(&mut self) -> VecMut<'_, T> {
        VecMut::from_slice(&mut self.data)
    }

    #[track_caller]
    pub fn check(&self, wanted: &Self, what: &str) {
        same(&self.data, &wanted.data, what);
    }
}
