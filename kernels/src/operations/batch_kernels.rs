//! [`BatchKernels`]: what the kernels of a device compute for batches. The dispatch of calls, and the routines that
//! consist of others, are the same for all such devices.

use super::{BatchCall, BatchMat, BatchOperation, BatchShapes, Mat, TABLE_ROWS, column_layout};
use crate::{Diag, Direction, Op, Scalar, Side, Uplo, scratch::Mark};
use std::sync::Arc;
use superscalar_runtime::DeviceError;

/// The options of a solve with triangles: B := alpha op(A)⁻¹ B or alpha B op(A)⁻¹.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BatchTriangle<T> {
    pub side: Side,
    pub uplo: Uplo,
    pub op: Op,
    pub diag: Diag,
    pub alpha: T,
}

/// The matrices of a solve. Problems whose outcome is not zero are left as they are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Systems<'a, T: Scalar> {
    pub a: &'a BatchMat<T>,
    pub b: &'a BatchMat<T>,
    pub outcomes: Option<Mat<i32>>,
}

type Done = Result<(), DeviceError>;

/// Puts operations on batches of a checked call into a queue.
pub(crate) trait BatchKernels<T: Scalar> {
    fn gemm(&mut self, scaled: ((Op, Op), T, T), factors: [&BatchMat<T>; 2], c: &BatchMat<T>) -> Done;

    fn trsm(&mut self, options: BatchTriangle<T>, systems: Systems<'_, T>) -> Done;

    fn potrf(&mut self, uplo: Uplo, a: &BatchMat<T>, info: Option<Mat<i32>>) -> Done;

    /// Factors with interchanges if there is a place for them, otherwise without.
    fn getrf(&mut self, a: &BatchMat<T>, ipiv: Option<&BatchMat<i32>>, info: Option<Mat<i32>>) -> Done;

    /// Interchanges rows of each B. The task fails if an interchange is not within the rows.
    fn laswp(&mut self, direction: Direction, ipiv: &BatchMat<i32>, systems: Systems<'_, T>) -> Done;

    fn geqrf(&mut self, a: &BatchMat<T>, tau: &BatchMat<T>) -> Done;

    fn ungqr(&mut self, a: &BatchMat<T>, tau: &BatchMat<T>) -> Done;

    fn unmqr(&mut self, op: Op, reflectors: (&BatchMat<T>, &BatchMat<T>), c: &BatchMat<T>) -> Done;

    fn gebrd(&mut self, call: &BatchCall<T>) -> Done;

    /// Finds the first zero on the diagonal of each R, which is the problem's outcome.
    fn find_zeros(&mut self, r: &BatchMat<T>, info: Option<Mat<i32>>) -> Done;

    /// Writes the table of columns that are `rows` elements apart: one for each A, with as many elements as A has
    /// columns.
    fn write_column_table(&mut self, a: &BatchMat<T>, rows: usize, table: Mat<i64>) -> Done;

    /// Takes scratch for some elements, and returns its offset.
    fn take<E>(&mut self, elements: usize) -> Result<usize, DeviceError>;

    fn mark(&self) -> Mark;

    /// Gives back the scratch that was taken since the mark.
    fn release(&mut self, mark: Mark);

    /// Solves A X = B with the Cholesky factors of each A.
    fn potrs(&mut self, uplo: Uplo, systems: Systems<'_, T>) -> Done {
        let ops = if uplo == Uplo::Lower { [Op::None, Op::ConjTrans] } else { [Op::ConjTrans, Op::None] };
        let options = ops.map(|op| BatchTriangle { side: Side::Left, uplo, op, diag: Diag::NonUnit, alpha: T::ONE });
        options.into_iter().try_for_each(|options| self.trsm(options, systems))
    }

    /// Solves op(A) X = B with the factors L and U of each A, and its interchanges.
    fn getrs(&mut self, op: Op, ipiv: Option<&BatchMat<i32>>, systems: Systems<'_, T>) -> Done {
        let ipiv = ipiv.ok_or_else(|| DeviceError::new("getrs: there are no interchanges"))?;
        let options = |uplo, diag| BatchTriangle { side: Side::Left, uplo, op, diag, alpha: T::ONE };
        let (lower, upper) = (options(Uplo::Lower, Diag::Unit), options(Uplo::Upper, Diag::NonUnit));
        if op == Op::None {
            self.laswp(Direction::Forward, ipiv, systems)?;
            self.trsm(lower, systems)?;
            self.trsm(upper, systems)
        } else {
            self.trsm(upper, systems)?;
            self.trsm(lower, systems)?;
            self.laswp(Direction::Backward, ipiv, systems)
        }
    }

    /// Computes the X that minimises ‖A X − B‖ of each problem. No A has fewer rows than columns.
    fn gels(&mut self, [a, b]: [&BatchMat<T>; 2], info: Option<Mat<i32>>) -> Done {
        let problems = if a.layout().is_some() { a.len() } else { a.len().min(1) };
        if (0..problems).any(|at| a.shape(at).0 < a.shape(at).1) {
            return Err(DeviceError::new("gels: this backend has no batches of matrices with fewer rows than columns"));
        }
        if a.is_empty() {
            return Ok(());
        }
        let before = self.mark();
        let tau = self.columns(a)?;
        self.geqrf(a, &tau)?;
        self.unmqr(Op::ConjTrans, (a, &tau), b)?;
        self.find_zeros(a, info)?;
        let (side, uplo, op, diag, alpha) = (Side::Left, Uplo::Upper, Op::None, Diag::NonUnit, T::ONE);
        self.trsm(BatchTriangle { side, uplo, op, diag, alpha }, Systems { a, b, outcomes: info })?;
        self.release(before);
        Ok(())
    }

    /// Takes a column in scratch for each A, with an element for each of its columns.
    fn columns(&mut self, a: &BatchMat<T>) -> Result<BatchMat<T>, DeviceError> {
        let (count, rows) = (a.len(), a.first.n.max(1));
        let start = self.take::<T>(rows.saturating_mul(count))?;
        let Some(layout) = a.layout() else {
            let first = Mat::at(start, (a.first.n, 1), rows);
            return Ok(BatchMat { first, shapes: BatchShapes::Uniform { stride: rows, count } });
        };
        let layout = column_layout(layout, rows).map_err(DeviceError::new)?;
        let table = Mat::at(self.take::<i64>(TABLE_ROWS * count)?, (TABLE_ROWS, count), TABLE_ROWS);
        self.write_column_table(a, rows, table)?;
        let first = Mat::at(start, layout.largest(), rows);
        Ok(BatchMat { first, shapes: BatchShapes::Varied { layout: Arc::new(layout), table } })
    }

    /// Puts a call into the queue.
    fn run(&mut self, call: &BatchCall<T>) -> Done {
        let BatchCall { operation, read, updated, written, pivots, info, .. } = call;
        let (ipiv, info) = (pivots.as_ref(), *info);
        let always = |a, b| Systems { a, b, outcomes: None };
        match (*operation, &**read, &**updated) {
            (BatchOperation::Gemm { ops, alpha, beta }, [a, b], [c]) => self.gemm((ops, alpha, beta), [a, b], c),
            (BatchOperation::Trsm { side, uplo, op, diag, alpha }, [a], [b]) => {
                self.trsm(BatchTriangle { side, uplo, op, diag, alpha }, always(a, b))
            }
            (BatchOperation::Potrf { uplo }, [], [a]) => self.potrf(uplo, a, info),
            (BatchOperation::Potrs { uplo }, [a], [b]) => self.potrs(uplo, always(a, b)),
            (BatchOperation::Posv { uplo }, [], [a, b]) => {
                self.potrf(uplo, a, info)?;
                self.potrs(uplo, Systems { a, b, outcomes: info })
            }
            (BatchOperation::Getrf | BatchOperation::GetrfNopiv, [], [a]) => self.getrf(a, ipiv, info),
            (BatchOperation::Getrs { op }, [a], [b]) => self.getrs(op, ipiv, always(a, b)),
            (BatchOperation::Gesv, [], [a, b]) => {
                self.getrf(a, ipiv, info)?;
                self.getrs(Op::None, ipiv, Systems { a, b, outcomes: info })
            }
            (BatchOperation::Geqrf, [], [a]) => self.geqrf(a, &written[0]),
            (BatchOperation::Ungqr, [tau], [a]) => self.ungqr(a, tau),
            (BatchOperation::Unmqr { op }, [v, tau], [c]) => self.unmqr(op, (v, tau), c),
            (BatchOperation::Gels, [], [a, b]) => self.gels([a, b], info),
            (BatchOperation::Gebrd, [], [_]) => self.gebrd(call),
            _ => Err(DeviceError::new(format!("{}: these are not its operands", operation.name()))),
        }
    }
}

/// Implements [`BatchKernels`] for a backend's stream, by the functions of its modules `products`, `solves`,
/// `cholesky`, `lu`, `qr` and `bidiagonal`.
macro_rules! batch_kernels {
    ($stream:ty) => {
        impl<T: Scalar> BatchKernels<T> for $stream {
            fn gemm(
                &mut self,
                scaled: ((Op, Op), T, T),
                factors: [&BatchMat<T>; 2],
                c: &BatchMat<T>,
            ) -> Result<(), DeviceError> {
                products::gemm(self, scaled, factors, c)
            }

            fn trsm(&mut self, options: BatchTriangle<T>, systems: Systems<'_, T>) -> Result<(), DeviceError> {
                solves::trsm(self, options, systems)
            }

            fn potrf(&mut self, uplo: Uplo, a: &BatchMat<T>, info: Option<Mat<i32>>) -> Result<(), DeviceError> {
                cholesky::potrf(self, uplo, a, info)
            }

            fn getrf(
                &mut self,
                a: &BatchMat<T>,
                ipiv: Option<&BatchMat<i32>>,
                info: Option<Mat<i32>>,
            ) -> Result<(), DeviceError> {
                lu::getrf(self, a, ipiv, info)
            }

            fn laswp(
                &mut self,
                direction: Direction,
                ipiv: &BatchMat<i32>,
                systems: Systems<'_, T>,
            ) -> Result<(), DeviceError> {
                solves::laswp(self, direction, ipiv, systems)
            }

            fn geqrf(&mut self, a: &BatchMat<T>, tau: &BatchMat<T>) -> Result<(), DeviceError> {
                qr::geqrf(self, a, tau)
            }

            fn ungqr(&mut self, a: &BatchMat<T>, tau: &BatchMat<T>) -> Result<(), DeviceError> {
                qr::ungqr(self, a, tau)
            }

            fn unmqr(
                &mut self,
                op: Op,
                reflectors: (&BatchMat<T>, &BatchMat<T>),
                c: &BatchMat<T>,
            ) -> Result<(), DeviceError> {
                qr::unmqr(self, op, reflectors, c)
            }

            fn gebrd(&mut self, call: &BatchCall<T>) -> Result<(), DeviceError> {
                bidiagonal::gebrd(self, call)
            }

            fn find_zeros(&mut self, r: &BatchMat<T>, info: Option<Mat<i32>>) -> Result<(), DeviceError> {
                solves::find_zeros(self, r, info)
            }

            fn write_column_table(&mut self, a: &BatchMat<T>, rows: usize, table: Mat<i64>) -> Result<(), DeviceError> {
                solves::write_column_table(self, a, rows, table)
            }

            fn take<E>(&mut self, elements: usize) -> Result<usize, DeviceError> {
                self.scratch.take::<E>(elements)
            }

            fn mark(&self) -> Mark {
                self.scratch.mark()
            }

            fn release(&mut self, mark: Mark) {
                self.scratch.release(mark);
            }
        }
    };
}
pub(crate) use batch_kernels;
