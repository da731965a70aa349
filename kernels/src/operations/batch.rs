//! [`BatchOperation`]: one operation on every problem of a batch.

use super::cost;
use crate::{BatchMut, BatchRef, Diag, Op, Scalar, Side, Uplo, cpu::batch};
use std::ops::Range;
use superscalar_runtime::{BlasLevel, Cost};

/// Problems whose views are listed at a time, so that the lists stay in the first-level cache.
const BLOCK: usize = 256;

/// One operation on every problem of a batch. The operands are lists ([`BatchOperands`]); each variant says what they
/// hold, in their order.
///
/// ```
/// use superscalar::kernels::{Uplo, operations::{BatchOperation, ProblemShapes}};
/// let potrf = BatchOperation::<f64>::Potrf { uplo: Uplo::Lower };
/// assert!(potrf.check(&ProblemShapes { updated: [Some((3, 4)), None], ..ProblemShapes::default() }).is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BatchOperation<T> {
    /// C := alpha op(A) op(B) + beta C. Read: A, B. Updated: C.
    Gemm {
        /// The operations applied to A and to B.
        ops: (Op, Op),
        /// The factor of the product.
        alpha: T,
        /// The factor of C.
        beta: T,
    },
    /// B := alpha op(A)⁻¹ B, or alpha B op(A)⁻¹, for a triangular A. Read: A. Updated: B.
    Trsm {
        /// The side of A.
        side: Side,
        /// The triangle of A.
        uplo: Uplo,
        /// The operation applied to A.
        op: Op,
        /// Whether the diagonal is ones.
        diag: Diag,
        /// The factor of B.
        alpha: T,
    },
    /// A = L Lᴴ or Uᴴ U. Updated: A. Outcomes: the first minor that is not positive definite.
    Potrf {
        /// The triangle.
        uplo: Uplo,
    },
    /// B := A⁻¹ B by the Cholesky factor of A. Read: A. Updated: B.
    Potrs {
        /// The triangle.
        uplo: Uplo,
    },
    /// Factors A and solves A X = B where that succeeds. Updated: A, B. Outcomes: as for potrf.
    Posv {
        /// The triangle.
        uplo: Uplo,
    },
    /// A = P L U. Updated: A. Pivots written. Outcomes: the first pivot that is zero.
    Getrf,
    /// A = L U without interchanges. Updated: A. Outcomes: the first pivot that is zero.
    GetrfNopiv,
    /// B := op(A)⁻¹ B by the factors L and U. Read: A. Updated: B. Pivots read.
    Getrs {
        /// The operation applied to A.
        op: Op,
    },
    /// Factors A and solves A X = B where that succeeds. Updated: A, B. Pivots written. Outcomes: as for getrf.
    Gesv,
    /// A = Q R. Updated: A. Written: tau.
    Geqrf,
    /// The first columns of Q, from its reflectors. Read: tau. Updated: A.
    Ungqr,
    /// C := op(Q) C. Read: A, tau. Updated: C.
    Unmqr {
        /// The operation applied to Q: none or the conjugate transpose.
        op: Op,
    },
    /// The X that minimises ‖A X − B‖ (m >= n), or that of least norm with A X = B (m < n), for A of full rank. B has
    /// max(m, n) rows. Updated: A, B. Outcomes: the first diagonal element of the triangle R that is zero.
    Gels,
    /// Qᴴ A P = a bidiagonal matrix. Updated: A. Written: tauq, taup. Reals written: d, e.
    Gebrd,
}

/// The operands of a [`BatchOperation`].
pub struct BatchOperands<'a, T: Scalar> {
    /// Matrices that are only read.
    pub read: Vec<BatchRef<'a, T>>,
    /// Matrices that are read and changed.
    pub updated: Vec<BatchMut<'a, T>>,
    /// Columns that are written.
    pub written: Vec<BatchMut<'a, T>>,
    /// Columns of real numbers that are written.
    pub reals: Vec<BatchMut<'a, T::Real>>,
    /// Interchanges that are read.
    pub pivots_read: Vec<BatchRef<'a, i32>>,
    /// Interchanges that are written.
    pub pivots_written: Vec<BatchMut<'a, i32>>,
    /// The outcome of each problem; empty if none can fail.
    pub info: Vec<&'a mut [i32]>,
}

/// No operands.
impl<T: Scalar> Default for BatchOperands<'_, T> {
    fn default() -> Self {
        Self {
            read: Vec::new(),
            updated: Vec::new(),
            written: Vec::new(),
            reals: Vec::new(),
            pivots_read: Vec::new(),
            pivots_written: Vec::new(),
            info: Vec::new(),
        }
    }
}

impl<T: Scalar> BatchOperands<'_, T> {
    /// Returns the number of problems: that of the first operand.
    #[must_use]
    pub fn len(&self) -> usize {
        self.updated.first().map_or(0, BatchMut::len)
    }

    /// Returns whether there are no problems.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns whether all operands have this number of problems.
    #[must_use]
    pub fn all_have(&self, count: usize) -> bool {
        let batches = self.updated.iter().chain(&self.written).map(BatchMut::len);
        let batches = batches.chain(self.read.iter().map(BatchRef::len)).chain(self.reals.iter().map(BatchMut::len));
        let pivots = self.pivots_read.iter().map(BatchRef::len).chain(self.pivots_written.iter().map(BatchMut::len));
        batches.chain(pivots).chain(self.info.iter().map(|info| info.len())).all(|len| len == count)
    }

    /// Returns whether the shapes are the same for all problems.
    #[must_use]
    pub fn are_uniform(&self) -> bool {
        let is = |shape: Option<(usize, usize)>| shape.is_some();
        self.updated.iter().chain(&self.written).all(|batch| is(batch.uniform_shape()))
            && self.read.iter().all(|batch| is(batch.uniform_shape()))
            && self.reals.iter().all(|batch| is(batch.uniform_shape()))
            && self.pivots_read.iter().all(|batch| is(batch.uniform_shape()))
            && self.pivots_written.iter().all(|batch| is(batch.uniform_shape()))
    }

    /// Returns the shapes of problem p.
    ///
    /// # Panics
    /// If there is no such problem.
    #[must_use]
    pub fn shapes(&self, p: usize) -> ProblemShapes {
        let of = |batches: &[BatchMut<'_, T>]| [0, 1].map(|at| Some(batches.get(at)?.shape(p)));
        let read = self.pivots_read.first().map(|pivots| pivots.shape(p));
        ProblemShapes {
            read: [0, 1].map(|at| Some(self.read.get(at)?.shape(p))),
            updated: of(&self.updated),
            written: of(&self.written),
            reals: [0, 1].map(|at| Some(self.reals.get(at)?.shape(p))),
            pivots: read.or_else(|| Some(self.pivots_written.first()?.shape(p))),
        }
    }
}

/// The shapes of the operands of one problem, in the order of [`BatchOperands`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProblemShapes {
    /// Of the matrices that are read.
    pub read: [Option<(usize, usize)>; 2],
    /// Of the matrices that are updated.
    pub updated: [Option<(usize, usize)>; 2],
    /// Of the columns that are written.
    pub written: [Option<(usize, usize)>; 2],
    /// Of the columns of real numbers.
    pub reals: [Option<(usize, usize)>; 2],
    /// Of the interchanges, read or written.
    pub pivots: Option<(usize, usize)>,
}

impl<T: Scalar> BatchOperation<T> {
    /// Returns the routine's name in LAPACK, without the letter of the type.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Gemm { .. } => "gemm",
            Self::Trsm { .. } => "trsm",
            Self::Potrf { .. } => "potrf",
            Self::Potrs { .. } => "potrs",
            Self::Posv { .. } => "posv",
            Self::Getrf => "getrf",
            Self::GetrfNopiv => "getrf_nopiv",
            Self::Getrs { .. } => "getrs",
            Self::Gesv => "gesv",
            Self::Geqrf => "geqrf",
            Self::Ungqr => "ungqr",
            Self::Unmqr { .. } => "unmqr",
            Self::Gels => "gels",
            Self::Gebrd => "gebrd",
        }
    }

    /// Returns how many batches are read, updated and written, and how many are real numbers, interchanges and
    /// outcomes.
    pub(super) fn operand_counts(&self) -> ([usize; 3], [usize; 3]) {
        match self {
            Self::Gemm { .. } => ([2, 1, 0], [0, 0, 0]),
            Self::Trsm { .. } | Self::Potrs { .. } | Self::Ungqr => ([1, 1, 0], [0, 0, 0]),
            Self::Potrf { .. } | Self::GetrfNopiv => ([0, 1, 0], [0, 0, 1]),
            Self::Posv { .. } | Self::Gels => ([0, 2, 0], [0, 0, 1]),
            Self::Getrf => ([0, 1, 0], [0, 1, 1]),
            Self::Getrs { .. } => ([1, 1, 0], [0, 1, 0]),
            Self::Gesv => ([0, 2, 0], [0, 1, 1]),
            Self::Geqrf => ([0, 1, 1], [0, 0, 0]),
            Self::Unmqr { .. } => ([2, 1, 0], [0, 0, 0]),
            Self::Gebrd => ([0, 1, 2], [2, 0, 0]),
        }
    }

    /// Checks that there are as many operands as the operation has: see [`operand_counts`](Self::operand_counts).
    pub(super) fn check_counts(&self, lists: [usize; 3], others: [usize; 3]) -> Result<(), String> {
        match (lists, others) == self.operand_counts() {
            true => Ok(()),
            false => Err(format!("{lists:?} and {others:?} are not the numbers of its operands")),
        }
    }

    /// Checks that the operands are those of the operation, whatever their shapes.
    ///
    /// # Errors
    /// How many there are.
    pub fn check_operands(&self, operands: &BatchOperands<'_, T>) -> Result<(), String> {
        let BatchOperands { read, updated, written, reals, pivots_read, pivots_written, info } = operands;
        // Interchanges are either read or written.
        let (pivots, others) = match self {
            Self::Getrs { .. } => (pivots_read.len(), pivots_written.len()),
            _ => (pivots_written.len(), pivots_read.len()),
        };
        self.check_counts([read.len(), updated.len(), written.len()], [reals.len(), pivots + others, info.len()])?;
        if others > 0 { Err("the interchanges are in the wrong list".into()) } else { Ok(()) }
    }

    /// Checks that interchanges that are read name rows of their matrices.
    ///
    /// # Errors
    /// The first problem with one that does not.
    pub fn check_interchanges(&self, operands: &BatchOperands<'_, T>) -> Result<(), String> {
        let Some(ipiv) = operands.pivots_read.first() else { return Ok(()) };
        for p in 0..ipiv.len() {
            let (pivots, n) = (ipiv.get(p), ipiv.shape(p).0);
            let in_range = |i: usize| usize::try_from(pivots.at(i, 0)).is_ok_and(|row| (1..=n).contains(&row));
            if pivots.ncols() > 0 && !(0..n).all(in_range) {
                return Err(format!("{}: problem {p}: an interchange is not from 1 to {n}", self.name()));
            }
        }
        Ok(())
    }

    /// Checks the shapes of one problem, and the options.
    ///
    /// # Errors
    /// What does not fit.
    pub fn check(&self, shapes: &ProblemShapes) -> Result<(), String> {
        let fits = |is: bool, what: &str| if is { Ok(()) } else { Err(format!("{what}: {shapes}")) };
        let read = shapes.read.map(Option::unwrap_or_default);
        let updated = shapes.updated.map(Option::unwrap_or_default);
        let written = shapes.written.map(Option::unwrap_or_default);
        let (square, column) = (|(m, n): (usize, usize)| m == n, |rows: usize| (rows, 1));
        let (m, n) = updated[0];
        let k = m.min(n);
        match *self {
            Self::Gemm { ops: (op_a, op_b), .. } => {
                let (a, b) = (op_a.shape(read[0]), op_b.shape(read[1]));
                fits(a.1 == b.0 && updated[0] == (a.0, b.1), "op(A) op(B) and C do not match")
            }
            Self::Trsm { side, .. } => {
                let order = if side == Side::Left { m } else { n };
                fits(read[0] == (order, order), "A and B do not match")
            }
            Self::Potrf { .. } => fits(square(updated[0]), "A is not square"),
            Self::Potrs { .. } => fits(read[0] == (m, m), "A and B do not match"),
            Self::Posv { .. } => fits(square(updated[0]) && updated[1].0 == n, "A and B do not match"),
            Self::Getrf => {
                fits(i32::try_from(m).is_ok(), "A has more rows than an i32 can count")?;
                fits(shapes.pivots == Some(column(k)), "the interchanges of A are a column of min(m, n)")
            }
            Self::GetrfNopiv => Ok(()),
            Self::Getrs { .. } => {
                fits(read[0] == (m, m), "A and B do not match")?;
                fits(shapes.pivots == Some(column(m)), "the interchanges of A are a column of n")
            }
            Self::Gesv => {
                fits(i32::try_from(m).is_ok(), "A has more rows than an i32 can count")?;
                fits(square(updated[0]) && updated[1].0 == n, "A and B do not match")?;
                fits(shapes.pivots == Some(column(n)), "the interchanges of A are a column of n")
            }
            Self::Geqrf => fits(written[0] == column(k), "tau is a column of min(m, n)"),
            Self::Ungqr => {
                fits(m >= n, "Q has more columns than rows")?;
                fits(read[0].1 == 1 && read[0].0 <= n, "tau is a column of at most n")
            }
            Self::Unmqr { op } => {
                let (rows, reflectors) = read[0];
                fits(op != Op::Trans || !T::COMPLEX, "a plain transpose of complex reflectors")?;
                fits(rows == m && reflectors <= rows, "A and C do not match")?;
                fits(read[1] == column(reflectors), "tau is a column of k")
            }
            Self::Gels => fits(updated[1].0 == m.max(n), "B does not have max(m, n) rows"),
            Self::Gebrd => {
                let reals = shapes.reals.map(Option::unwrap_or_default);
                fits(written == [column(k); 2], "tauq and taup are columns of min(m, n)")?;
                fits(reals == [column(k), column(k.saturating_sub(1))], "d and e are columns of min(m, n) and one less")
            }
        }
    }

    /// Returns the cost of one problem.
    #[must_use]
    pub fn cost(&self, shapes: &ProblemShapes) -> Cost {
        let (m, n) = shapes.updated[0].unwrap_or_default();
        let nrhs = shapes.updated[1].map_or(0, |shape| shape.1);
        let [rows, cols, vectors] = [m, n, nrhs].map(|dim| dim as f64);
        let (long, short) = (rows.max(cols), rows.min(cols));
        let elimination = short * short * (long - short / 3.0) / 2.0;
        let (products, elements) = match *self {
            Self::Gemm { ops, .. } => {
                let depth = ops.0.shape(shapes.read[0].unwrap_or_default()).1 as f64;
                (rows * cols * depth, (rows + cols) * depth + 2.0 * rows * cols)
            }
            Self::Trsm { side, .. } => {
                let (order, others) = if side == Side::Left { (rows, cols) } else { (cols, rows) };
                (order * order * others / 2.0, order * order / 2.0 + 2.0 * rows * cols)
            }
            Self::Potrf { .. } => (cols * cols * cols / 6.0, cols * cols),
            Self::Potrs { .. } | Self::Getrs { .. } => (rows * rows * cols, rows * rows + 2.0 * rows * cols),
            Self::Posv { .. } => (cols * cols * (cols / 6.0 + vectors), cols * (cols + 2.0 * vectors)),
            Self::Getrf | Self::GetrfNopiv => (elimination, 2.0 * rows * cols),
            Self::Gesv => (elimination + cols * cols * vectors, 2.0 * cols * (cols + vectors)),
            Self::Geqrf => (2.0 * elimination, 2.0 * rows * cols),
            Self::Ungqr => (2.0 * elimination, 2.0 * rows * cols),
            Self::Unmqr { .. } => {
                let reflectors = shapes.read[0].unwrap_or_default().1 as f64;
                (2.0 * rows * cols * reflectors, rows * reflectors + 2.0 * rows * cols)
            }
            Self::Gels => (2.0 * elimination + 2.5 * rows * cols * vectors, 2.0 * (rows * cols + long * vectors)),
            Self::Gebrd => (4.0 * elimination, 2.0 * rows * cols),
        };
        Cost { level: Some(BlasLevel::Three), ..cost::<T>(products, products, elements) }
    }

    /// Carries the operation out on the host.
    ///
    /// # Panics
    /// If the operands are not those of the operation or have different numbers of problems, if the shapes of a problem
    /// do not match, if an interchange that is read is not within the rows, or for [`Op::Trans`] in unmqr of a complex
    /// type.
    pub fn run(&self, mut operands: BatchOperands<'_, T>) {
        let count = operands.len();
        self.check_operands(&operands).unwrap_or_else(|why| panic!("{}: {why}", self.name()));
        assert!(operands.all_have(count), "{}: the batches have different numbers of problems", self.name());
        for first in (0..count).step_by(BLOCK) {
            self.run_block(&mut operands, first..count.min(first + BLOCK));
        }
    }

    /// Carries the operation out on some problems.
    fn run_block(&self, operands: &mut BatchOperands<'_, T>, block: Range<usize>) {
        let BatchOperands { read, updated, written, reals, pivots_read, pivots_written, info } = operands;
        let of = || block.clone();
        let read: Vec<_> = read.iter().map(|batch| batch.members_in(of())).collect();
        let pivots_read: Vec<_> = pivots_read.iter().map(|batch| batch.members_in(of())).collect();
        let mut updated: Vec<_> = updated.iter_mut().map(|batch| batch.members_in_mut(of())).collect();
        let mut written: Vec<_> = written.iter_mut().map(|batch| batch.members_in_mut(of())).collect();
        let mut reals: Vec<_> = reals.iter_mut().map(|batch| batch.members_in_mut(of())).collect();
        let mut pivots_written: Vec<_> = pivots_written.iter_mut().map(|batch| batch.members_in_mut(of())).collect();
        let mut info: Vec<_> = info.iter_mut().map(|info| &mut info[of()]).collect();
        match (*self, &*read, &mut *updated, &mut *info) {
            (Self::Gemm { ops: (op_a, op_b), alpha, beta }, [a, b], [c], []) => {
                batch::gemm(alpha, op_a, a, op_b, b, beta, c);
            }
            (Self::Trsm { side, uplo, op, diag, alpha }, [a], [b], []) => {
                batch::trsm(side, uplo, op, diag, alpha, a, b)
            }
            (Self::Potrf { uplo }, [], [a], [info]) => batch::potrf(uplo, a, info),
            (Self::Potrs { uplo }, [a], [b], []) => batch::potrs(uplo, a, b),
            (Self::Posv { uplo }, [], [a, b], [info]) => {
                batch::potrf(uplo, a, info);
                let a: Vec<_> = a.iter().map(|a| a.as_ref()).collect();
                let (a, mut b) = succeeded(info, &a, b);
                batch::potrs(uplo, &a, &mut b);
            }
            (Self::Getrf, [], [a], [info]) => batch::getrf(a, &mut pivots_written[0], info),
            (Self::GetrfNopiv, [], [a], [info]) => batch::getrf_nopiv(a, info),
            (Self::Getrs { op }, [a], [b], []) => batch::getrs(op, a, &pivots_read[0], b),
            (Self::Gesv, [], [a, b], [info]) => {
                batch::getrf(a, &mut pivots_written[0], info);
                let a: Vec<_> = a.iter().map(|a| a.as_ref()).collect();
                let pivots: Vec<_> = pivots_written[0].iter().map(|pivots| pivots.as_ref()).collect();
                let good = |p: &usize| info[*p] == 0;
                let pivots: Vec<_> = (0..a.len()).filter(good).map(|p| pivots[p]).collect();
                let (a, mut b) = succeeded(info, &a, b);
                batch::getrs(Op::None, &a, &pivots, &mut b);
            }
            (Self::Geqrf, [], [a], []) => batch::geqrf(a, &mut written[0]),
            (Self::Ungqr, [tau], [a], []) => batch::ungqr(a, tau),
            (Self::Unmqr { op }, [a, tau], [c], []) => batch::unmqr(op, a, tau, c),
            (Self::Gels, [], [a, b], [info]) => batch::gels(a, b, info),
            (Self::Gebrd, [], [a], []) => {
                let ([d, e], [tauq, taup]) = (&mut *reals, &mut *written) else {
                    panic!("gebrd: d, e, tauq and taup are written")
                };
                batch::gebrd(a, d, e, tauq, taup);
            }
            _ => panic!("{}: these are not its operands", self.name()),
        }
    }
}

/// Selects the problems that have succeeded.
fn succeeded<'a, 'b, T>(
    info: &[i32],
    a: &[crate::MatRef<'a, T>],
    b: &'b mut [crate::MatMut<'_, T>],
) -> (Vec<crate::MatRef<'a, T>>, Vec<crate::MatMut<'b, T>>) {
    let pairs = a.iter().zip(b).zip(info).filter(|(_, info)| **info == 0);
    pairs.map(|((a, b), _)| (*a, b.rb_mut())).unzip()
}

/// Lists the shapes that there are.
impl std::fmt::Display for ProblemShapes {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let each = [self.read, self.updated, self.written, self.reals, [self.pivots, None]];
        let shapes = each.into_iter().flatten().flatten().map(|(m, n)| format!("{m} x {n}"));
        out.write_str(&shapes.collect::<Vec<_>>().join(", "))
    }
}
