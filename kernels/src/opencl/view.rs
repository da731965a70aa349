//! [`View`]: a matrix in the heap as a kernel sees it, with transposition, conjugation, and structure.

use crate::{Op, Symmetry, Uplo, device::Mat};
use std::ops::Range;

/// Which elements of a matrix are stored, and what the others are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Structure {
    /// All elements are stored.
    General,
    /// One triangle is stored, and the other one is its mirror image.
    Symmetric(Uplo),
    /// One triangle is stored, and the other one is its conjugated mirror image. The imaginary parts of the diagonal
    /// are taken as zero.
    Hermitian(Uplo),
    /// One triangle without its diagonal is stored. The diagonal is ones, and the other triangle zeros.
    UnitTriangle(Uplo),
}

impl Structure {
    /// Returns the structure of a matrix of this symmetry, of which this triangle is stored.
    pub fn of(symmetry: Symmetry, uplo: Uplo) -> Self {
        match symmetry {
            Symmetry::Symmetric => Self::Symmetric(uplo),
            Symmetry::Hermitian => Self::Hermitian(uplo),
        }
    }
}

/// An m x n matrix. Element (i, j) is at `at + i rs + j cs`, counted in elements from the heap's start. One of the
/// strides is one.
#[derive(Clone, Copy, Debug)]
pub(super) struct View {
    pub at: usize,
    pub m: usize,
    pub n: usize,
    pub rs: usize,
    pub cs: usize,
    pub conj: bool,
    pub structure: Structure,
}

impl View {
    /// Returns a view of A.
    pub fn of<T>(a: Mat<T>) -> Self {
        Self { at: a.offset, m: a.m, n: a.n, rs: 1, cs: a.ld, conj: false, structure: Structure::General }
    }

    /// Returns a view of op(A).
    pub fn with<T>(op: Op, a: Mat<T>) -> Self {
        match op {
            Op::None => Self::of(a),
            Op::Trans => Self::of(a).transpose(),
            Op::ConjTrans => Self::of(a).transpose().conj(),
        }
    }

    /// Returns a view of a column-major m x n matrix without gaps.
    pub fn dense(at: usize, m: usize, n: usize) -> Self {
        Self { at, m, n, rs: 1, cs: m.max(1), conj: false, structure: Structure::General }
    }

    /// Returns the view with this structure.
    pub fn structured(self, structure: Structure) -> Self {
        Self { structure, ..self }
    }

    pub fn transpose(self) -> Self {
        let structure = match self.structure {
            Structure::General => Structure::General,
            Structure::Symmetric(uplo) => Structure::Symmetric(uplo.flip()),
            Structure::Hermitian(uplo) => Structure::Hermitian(uplo.flip()),
            Structure::UnitTriangle(uplo) => Structure::UnitTriangle(uplo.flip()),
        };
        Self { m: self.n, n: self.m, rs: self.cs, cs: self.rs, structure, ..self }
    }

    pub fn conj(self) -> Self {
        Self { conj: !self.conj, ..self }
    }

    /// Returns the view of these rows and columns of a general matrix.
    pub fn part(self, rows: Range<usize>, cols: Range<usize>) -> Self {
        debug_assert!(self.structure == Structure::General && rows.end <= self.m && cols.end <= self.n);
        let at = self.at + rows.start * self.rs + cols.start * self.cs;
        Self { at, m: rows.len(), n: cols.len(), ..self }
    }
}

/// Returns the number that tells a kernel which part of a matrix is meant.
pub(super) fn part_code(part: Option<Uplo>) -> i32 {
    match part {
        None => 0,
        Some(Uplo::Lower) => 1,
        Some(Uplo::Upper) => 2,
    }
}
