//! [`Call`]: one operation on matrices in a device's heap.

use crate::{Diag, Direction, Op, Scalar, Side, Uplo};
use std::{marker::PhantomData, ops::Range};
use superscalar_runtime::DeviceRegion;

/// An m x n matrix in a device's heap, column major.
#[derive(Debug, PartialEq, Eq)]
pub struct Mat<T> {
    /// Elements from the heap's start to the first of the matrix.
    pub offset: usize,
    /// Number of rows.
    pub m: usize,
    /// Number of columns.
    pub n: usize,
    /// Elements from one column to the next.
    pub ld: usize,
    pub(super) element: PhantomData<T>,
}

impl<T> Clone for Mat<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Mat<T> {}

impl<T> Mat<T> {
    /// The matrix that the columns of a region are.
    #[must_use]
    pub fn new(region: DeviceRegion) -> Self {
        let size = size_of::<T>();
        Self {
            offset: region.offset / size,
            m: region.row_bytes / size,
            n: region.columns,
            ld: (region.stride_bytes / size).max(1),
            element: PhantomData,
        }
    }

    /// A column-major m x n matrix from this element of the heap on.
    #[must_use]
    pub fn at(offset: usize, (m, n): (usize, usize), ld: usize) -> Self {
        Self { offset, m, n, ld, element: PhantomData }
    }

    /// The triangle of a trapezoid that begins in its first row and column, and what is below it, or beside it.
    pub(crate) fn trapezoid(self, uplo: Uplo) -> (Self, Self) {
        let Self { m, n, .. } = self;
        let order = m.min(n);
        let rest = match uplo {
            Uplo::Lower => self.submatrix(order..m, 0..n),
            Uplo::Upper => self.submatrix(0..m, order..n),
        };
        (self.submatrix(0..order, 0..order), rest)
    }

    /// A part of it.
    ///
    /// # Panics
    /// If the matrix has no such rows or columns.
    #[must_use]
    pub fn submatrix(self, rows: Range<usize>, cols: Range<usize>) -> Self {
        let Self { offset, m, n, ld, .. } = self;
        assert!(rows.start <= rows.end && rows.end <= m, "rows {rows:?} of {m}");
        assert!(cols.start <= cols.end && cols.end <= n, "columns {cols:?} of {n}");
        let offset = offset + rows.start + cols.start * ld;
        Self { offset, m: rows.len(), n: cols.len(), ld, element: PhantomData }
    }

    /// Rows and columns.
    #[must_use]
    pub fn shape(self) -> (usize, usize) {
        (self.m, self.n)
    }
}

/// One operation on matrices in a device's heap. The meaning, the rules for alpha and beta, and what is read and written are
/// those of the host's kernel of the name (see [`cpu`](crate::cpu)); matrices that are written overlap no others.
#[derive(Clone, Debug)]
pub enum Call<T: Scalar> {
    /// C := alpha op(A) op(B) + beta C. With a triangle named, only it is written (and C is square).
    Gemm {
        /// The only part of C that is touched, if not all.
        part: Option<Uplo>,
        /// What is done to A.
        op_a: Op,
        /// What is done to B.
        op_b: Op,
        /// The factor of the product.
        alpha: T,
        /// A.
        a: Mat<T>,
        /// B.
        b: Mat<T>,
        /// The factor of C.
        beta: T,
        /// C.
        c: Mat<T>,
    },
    /// C := alpha A B + beta C or alpha B A + beta C, where A is symmetric or Hermitian.
    Symm {
        /// Hermitian, and not symmetric.
        hermitian: bool,
        /// The side of A.
        side: Side,
        /// The triangle of A that is read.
        uplo: Uplo,
        /// The factor of the product.
        alpha: T,
        /// A.
        a: Mat<T>,
        /// B.
        b: Mat<T>,
        /// The factor of C.
        beta: T,
        /// C.
        c: Mat<T>,
    },
    /// syrk or herk: C := alpha op(A) op(A)ᵀ + beta C, or with ᴴ, in one triangle. herk takes the real parts of alpha and beta.
    ///
    /// C may be a trapezoid: a lower one has more rows than columns, an upper one more columns than rows, and op(A) as many rows
    /// as C has at most. What is beside the triangle is updated by the product of op(A)'s rows that belong to it.
    RankK {
        /// herk, and not syrk.
        hermitian: bool,
        /// The triangle of C, or the trapezoid.
        uplo: Uplo,
        /// What is done to A.
        op: Op,
        /// The factor of the product.
        alpha: T,
        /// A.
        a: Mat<T>,
        /// The factor of C.
        beta: T,
        /// C.
        c: Mat<T>,
    },
    /// syr2k or her2k in one triangle. her2k takes the real part of beta.
    Rank2k {
        /// her2k, and not syr2k.
        hermitian: bool,
        /// The triangle of C.
        uplo: Uplo,
        /// What is done to A and B.
        op: Op,
        /// The factor of the first product.
        alpha: T,
        /// A.
        a: Mat<T>,
        /// B.
        b: Mat<T>,
        /// The factor of C.
        beta: T,
        /// C.
        c: Mat<T>,
    },
    /// trmm: B := alpha op(A) B or alpha B op(A).
    Trmm(Triangle<T>),
    /// trsm: B := alpha op(A)⁻¹ B or alpha B op(A)⁻¹.
    Trsm(Triangle<T>),
    /// A = L Lᴴ or Uᴴ U in one triangle. Fails with [`NotPositiveDefinite`](crate::NotPositiveDefinite).
    ///
    /// A may be a trapezoid, the panel of a larger factorization: of a lower one, with more rows than columns, the rows B below the triangle
    /// become B L⁻ᴴ, and of an upper one, with more columns than rows, the columns B beside it U⁻ᴴ B.
    Potrf {
        /// The triangle, or the trapezoid.
        uplo: Uplo,
        /// Rows of the matrix above A, which the minor that fails is counted with.
        first: usize,
        /// A.
        a: Mat<T>,
    },
    /// P L U = A for a panel. The interchanges are those of min(m, n) rows, counted from one; a pivot that is exactly zero is left where it
    /// is, and is no failure.
    Getrf {
        /// A.
        a: Mat<T>,
        /// Rows of the matrix above A, which the interchanges are counted with.
        first: usize,
        /// The interchanges, a column.
        ipiv: Mat<i32>,
    },
    /// Q R = A for a panel, with the triangular factor of its reflectors.
    Geqrf {
        /// A.
        a: Mat<T>,
        /// T, of order min(m, n), with zeros below its diagonal.
        t: Mat<T>,
        /// The reflectors' scalar factors, a column.
        tau: Mat<T>,
    },
    /// Interchanges rows of A: row `first + i` with row `ipiv[i]`, counted from one, forward or backward.
    Laswp {
        /// A.
        a: Mat<T>,
        /// Rows above, which the interchanges do not begin with.
        first: usize,
        /// The interchanges of successive blocks of rows.
        ipiv: Vec<Mat<i32>>,
        /// The order.
        direction: Direction,
    },
    /// C := op(Q) C or C op(Q), where Q = I − V T Vᴴ; V is unit lower trapezoidal, T upper triangular.
    Larfb {
        /// The side of Q.
        side: Side,
        /// What is done to Q.
        op: Op,
        /// V.
        v: Mat<T>,
        /// T.
        t: Mat<T>,
        /// C.
        c: Mat<T>,
    },
    /// B := op(A).
    Copy {
        /// What is done to A.
        op: Op,
        /// A.
        a: Mat<T>,
        /// B.
        b: Mat<T>,
    },
    /// A := beta A, or one triangle of it; beta = 0 does not read A.
    Scale {
        /// The only part of A that is touched, if not all; and whether herk's rules hold: its diagonal is made real, and of beta
        /// the real part is taken.
        part: Option<(Uplo, bool)>,
        /// The factor.
        beta: T,
        /// A.
        a: Mat<T>,
    },
}

impl<T: Scalar> Call<T> {
    /// A call on a trapezoid as one on its triangle, and one on what is below or beside that, in this order.
    pub(crate) fn triangle_and_rest(&self) -> Option<[Self; 2]> {
        match *self {
            Self::RankK { hermitian, uplo, op, alpha, a, beta, c } if c.m != c.n => {
                let ((triangle, rest), order) = (c.trapezoid(uplo), c.m.min(c.n));
                let rows = |rows: Range<usize>| match op {
                    Op::None => a.submatrix(rows, 0..a.n),
                    Op::Trans | Op::ConjTrans => a.submatrix(0..a.m, rows),
                };
                let (near, far) = (rows(0..order), rows(order..c.m.max(c.n)));
                let (left, right) = if uplo == Uplo::Lower { (far, near) } else { (near, far) };
                let adjoint = if hermitian { Op::ConjTrans } else { Op::Trans };
                let (op_a, op_b) = if op == Op::None { (Op::None, adjoint) } else { (op, Op::None) };
                let real = |x: T| if hermitian { T::from_real(x.re()) } else { x };
                let (part, alpha, beta) = (None, real(alpha), real(beta));
                Some([
                    Self::RankK { hermitian, uplo, op, alpha, a: near, beta, c: triangle },
                    Self::Gemm { part, op_a, op_b, alpha, a: left, b: right, beta, c: rest },
                ])
            }
            Self::Potrf { uplo, first, a } if a.m != a.n => {
                let (triangle, rest) = a.trapezoid(uplo);
                Some([Self::Potrf { uplo, first, a: triangle }, Self::Trsm(Triangle::of_panel(uplo, triangle, rest))])
            }
            _ => None,
        }
    }
}

/// The operands of trmm and trsm.
#[derive(Clone, Debug)]
pub struct Triangle<T: Scalar> {
    /// The side of A.
    pub side: Side,
    /// The triangle of A that is read.
    pub uplo: Uplo,
    /// What is done to A.
    pub op: Op,
    /// Whether A's diagonal is taken as ones.
    pub diag: Diag,
    /// The factor.
    pub alpha: T,
    /// A.
    pub a: Mat<T>,
    /// B.
    pub b: Mat<T>,
}

impl<T: Scalar> Triangle<T> {
    /// The solve by which the rest of a Cholesky factorization's panel follows from the factor of its triangle: B L⁻ᴴ or U⁻ᴴ B.
    pub(crate) fn of_panel(uplo: Uplo, a: Mat<T>, b: Mat<T>) -> Self {
        let side = if uplo == Uplo::Lower { Side::Right } else { Side::Left };
        Self { side, uplo, op: Op::ConjTrans, diag: Diag::NonUnit, alpha: T::ONE, a, b }
    }
}
