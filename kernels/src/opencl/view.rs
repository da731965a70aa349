//! [`View`]: a matrix in the heap as a kernel sees it: transposed, conjugated, or of which only a triangle is stored.

use crate::{Op, Symmetry, Uplo, device::Mat};
use std::ops::Range;

/// What there is of a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Structure {
    /// All elements.
    General,
    /// One triangle, which the other mirrors.
    Symmetric(Uplo),
    /// The same, the other one conjugated; imaginary parts of the diagonal are taken as zero.
    Hermitian(Uplo),
    /// One triangle without its diagonal, of ones; zeros in the other.
    UnitTriangle(Uplo),
}

impl Structure {
    /// A matrix of this kind, of which this triangle is stored.
    pub fn of(symmetry: Symmetry, uplo: Uplo) -> Self {
        match symmetry {
            Symmetry::Symmetric => Self::Symmetric(uplo),
            Symmetry::Hermitian => Self::Hermitian(uplo),
        }
    }
}

/// An m x n matrix: element (i, j) is at `at + i rs + j cs`, counted in elements from the heap's start. One of the strides is one.
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
    /// A itself.
    pub fn of<T>(a: Mat<T>) -> Self {
        Self { at: a.offset, m: a.m, n: a.n, rs: 1, cs: a.ld, conj: false, structure: Structure::General }
    }

    /// op(A).
    pub fn with<T>(op: Op, a: Mat<T>) -> Self {
        match op {
            Op::None => Self::of(a),
            Op::Trans => Self::of(a).transpose(),
            Op::ConjTrans => Self::of(a).transpose().conj(),
        }
    }

    /// A column-major m x n matrix without gaps.
    pub fn dense(at: usize, m: usize, n: usize) -> Self {
        Self { at, m, n, rs: 1, cs: m.max(1), conj: false, structure: Structure::General }
    }

    /// With this structure.
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

    /// The elements at these rows and columns of a general matrix.
    pub fn part(self, rows: Range<usize>, cols: Range<usize>) -> Self {
        debug_assert!(self.structure == Structure::General && rows.end <= self.m && cols.end <= self.n);
        let at = self.at + rows.start * self.rs + cols.start * self.cs;
        Self { at, m: rows.len(), n: cols.len(), ..self }
    }
}

/// How kernels are told which part of a matrix is meant.
pub(super) fn part_code(part: Option<Uplo>) -> i32 {
    match part {
        None => 0,
        Some(Uplo::Lower) => 1,
        Some(Uplo::Upper) => 2,
    }
}
