//! The properties of a [`Call`] that are known before it is carried out: its name, its matrices, and whether they fit
//! together.
//!
//! Backends, and callers that run a call on the host, rely on [`Call::check`]: a checked call has no shapes that make a
//! kernel panic, and the matrices it writes overlap no others, as the exclusive views of `view/mod.rs` require.

use super::{Call, Getrf, Mat, Operation, Resolve, heap::HeapViews};
use crate::Scalar;
use superscalar_runtime::{DeviceError, DeviceRegion, Mode};

/// One matrix of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatrixUse {
    /// The name of the matrix in the operation's equation.
    pub name: &'static str,
    /// Read, write or read_write.
    pub mode: Mode,
    /// Its columns in the heap, in bytes. The columns of a part of a tile need not begin at a multiple of the heap's
    /// alignment.
    pub region: DeviceRegion,
}

impl MatrixUse {
    fn is_empty(&self) -> bool {
        self.region.row_bytes == 0 || self.region.columns == 0
    }

    /// Returns the offset behind the last byte of the matrix in the heap; `None` on overflow.
    #[must_use]
    pub fn end(&self) -> Option<usize> {
        let DeviceRegion { offset, row_bytes, columns, stride_bytes } = self.region;
        let across = columns.saturating_sub(1).checked_mul(stride_bytes)?;
        offset.checked_add(if self.is_empty() { 0 } else { across.checked_add(row_bytes)? })
    }

    /// Returns whether the two have a byte in common. Requires that both have an end.
    fn overlaps(&self, other: &Self) -> bool {
        let ends = (self.end().unwrap_or(usize::MAX), other.end().unwrap_or(usize::MAX));
        if self.is_empty() || other.is_empty() || ends.0 <= other.region.offset || ends.1 <= self.region.offset {
            return false;
        }
        // Parts of one tile may be interleaved: compare the columns in the order of their addresses, like merging
        // sorted lists.
        let column = |used: &Self, j: usize| {
            let start = used.region.offset + j * used.region.stride_bytes;
            (start, start + used.region.row_bytes)
        };
        let (mut i, mut j) = (0, 0);
        while i < self.region.columns && j < other.region.columns {
            let (x, y) = (column(self, i), column(other, j));
            if x.1 <= y.0 {
                i += 1;
            } else if y.1 <= x.0 {
                j += 1;
            } else {
                return true;
            }
        }
        false
    }
}

/// An operation whose operands are in a heap.
pub(super) trait HeapOperation<T: Scalar> {
    fn name(&self) -> &'static str;
    fn matrices(&self) -> MatrixList<'_>;
    fn agrees(&self) -> bool;
    fn unsupported_option(&self) -> Option<&'static str> {
        None
    }
    /// Carries the operation out on the host.
    fn run(&self, at: &mut HeapViews<'_>) -> Result<(), DeviceError>;
}

impl<T: Scalar, O: Operation<Element = T, Operand = Mat<T>>> HeapOperation<T> for O {
    fn name(&self) -> &'static str {
        Operation::name(self)
    }

    fn matrices(&self) -> MatrixList<'_> {
        let mut matrices = MatrixList::new();
        let Ok(_) = self.on(&mut matrices);
        matrices
    }

    fn agrees(&self) -> bool {
        Operation::agrees(self)
    }

    fn unsupported_option(&self) -> Option<&'static str> {
        Operation::misused(self)
    }

    fn run(&self, at: &mut HeapViews<'_>) -> Result<(), DeviceError> {
        O::run(self.on(at)?).map_err(DeviceError::outcome)
    }
}

/// The matrices of a call; those that it writes come first.
pub(super) struct MatrixList<'c> {
    fixed: [Option<MatrixUse>; 3],
    /// Those of a batch, which has more.
    others: Vec<MatrixUse>,
    /// The interchanges that are read, one matrix for each block of rows.
    ipiv: &'c [Mat<i32>],
}

impl<'c> MatrixList<'c> {
    pub fn new() -> Self {
        Self { fixed: [None; 3], others: Vec::new(), ipiv: &[] }
    }

    /// Adds a matrix.
    pub fn with<E>(mut self, name: &'static str, mode: Mode, mat: Mat<E>) -> Self {
        self.push(MatrixUse { name, mode, region: mat.region() });
        self
    }

    /// Adds a batch, or what belongs to it.
    pub fn with_region(mut self, name: &'static str, mode: Mode, region: DeviceRegion) -> Self {
        self.others.push(MatrixUse { name, mode, region });
        self
    }

    /// Adds interchanges that are read.
    pub fn with_interchanges(self, ipiv: &'c [Mat<i32>]) -> Self {
        Self { ipiv, ..self }
    }

    fn push(&mut self, used: MatrixUse) {
        let free = self.fixed.iter_mut().find(|place| place.is_none());
        *free.expect("no operation has more than three matrices") = Some(used);
    }

    pub fn iter(self) -> impl Iterator<Item = MatrixUse> + use<'c> {
        let ipiv = self.ipiv.iter().map(|ipiv| MatrixUse { name: "ipiv", mode: Mode::Read, region: ipiv.region() });
        self.fixed.into_iter().flatten().chain(self.others).chain(ipiv)
    }
}

impl<T: Scalar> Resolve<Mat<T>> for MatrixList<'_> {
    type Read = ();
    type Write = ();
    type Error = std::convert::Infallible;

    fn read(&mut self, name: &'static str, mat: &Mat<T>) -> Result<(), Self::Error> {
        self.write(name, Mode::Read, mat)
    }

    fn write(&mut self, name: &'static str, mode: Mode, mat: &Mat<T>) -> Result<(), Self::Error> {
        self.push(MatrixUse { name, mode, region: mat.region() });
        Ok(())
    }
}

/// Checks that the columns of each matrix do not overlap, and that each has an end.
pub(super) fn check_columns(name: &str, mut matrices: impl Iterator<Item = MatrixUse>) -> Result<(), DeviceError> {
    matrices.try_for_each(|used| {
        let DeviceRegion { row_bytes, stride_bytes, columns, .. } = used.region;
        if stride_bytes < row_bytes.max(1) && columns > 0 {
            return Err(DeviceError::new(format!("{name}: the columns of {} overlap", used.name)));
        }
        match used.end() {
            Some(_) => Ok(()),
            None => Err(DeviceError::new(format!("{name}: the size of {} overflows", used.name))),
        }
    })
}

/// Checks that no matrix that is written overlaps another one. All must have an end.
pub(super) fn check_overlaps<I: Iterator<Item = MatrixUse>>(
    name: &str,
    matrices: impl Fn() -> I,
) -> Result<(), DeviceError> {
    for (at, written) in matrices().enumerate().filter(|(_, used)| used.mode != Mode::Read) {
        let mut others = matrices().enumerate().filter(|&(other, _)| other != at);
        if let Some((_, other)) = others.find(|(_, other)| other.overlaps(&written)) {
            return Err(DeviceError::new(format!("{name}: {} overlaps {}", written.name, other.name)));
        }
    }
    Ok(())
}

impl<T: Scalar> Call<T> {
    /// Returns the routine's name in LAPACK, without the letter of the type.
    ///
    /// ```
    /// use superscalar::kernels::{Uplo, device::{Call, Mat}, operations::Potrf};
    /// let a = Mat::<f64>::at(0, (4, 4), 4);
    /// assert_eq!(Call::Potrf(Potrf { uplo: Uplo::Lower, first: 0, a }).name(), "potrf");
    /// ```
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.operation().name()
    }

    /// Returns every matrix that the call uses; those that it writes come first.
    pub fn matrices(&self) -> impl Iterator<Item = MatrixUse> + '_ {
        self.operation().matrices().iter()
    }

    /// Checks that the call can be carried out: shapes agree, columns do not overlap, a matrix that is written overlaps
    /// no other, and the routine supports the operation. The contents of the heap (interchanges, pivots) are not
    /// checked.
    ///
    /// # Errors
    /// If the call cannot be carried out; the message names the routine and the operands.
    ///
    /// ```
    /// use superscalar::kernels::{Op, device::{Call, Mat}, operations::Lacpy};
    /// let (a, b) = (Mat::<f64>::at(0, (4, 3), 4), Mat::at(16, (4, 3), 4));
    /// assert!(Call::Lacpy(Lacpy { op: Op::None, a, b }).check().is_ok());
    /// let error = Call::Lacpy(Lacpy { op: Op::Trans, a, b }).check().unwrap_err();
    /// assert_eq!(error.to_string(), "lacpy: shapes do not agree: B 4 x 3, A 4 x 3");
    /// ```
    pub fn check(&self) -> Result<(), DeviceError> {
        self.check_shapes()?;
        check_overlaps(self.name(), || self.matrices())
    }

    /// Does the checks of [`check`](Self::check) that do not need the places of the matrices, for operands that have
    /// none yet.
    ///
    /// # Errors
    /// Like [`check`](Self::check), except for overlaps of different matrices.
    pub fn check_shapes(&self) -> Result<(), DeviceError> {
        let name = self.name();
        check_columns(name, self.matrices())?;
        if let Self::Getrf(Getrf { a, first, .. }) = self
            && i32::try_from(first.saturating_add(a.m)).is_err()
        {
            return Err(DeviceError::new(format!(
                "{name}: {} rows below {first} exceed the range of interchanges",
                a.m
            )));
        }
        if let Self::Batch(call) = self {
            return call.check().map_err(|why| DeviceError::new(format!("{name}: {why}")));
        }
        if let Some(option) = self.operation().unsupported_option() {
            return Err(DeviceError::new(format!("{name} of complex matrices has no {option}")));
        }
        if !self.operation().agrees() {
            return Err(DeviceError::new(format!("{name}: shapes do not agree: {}", self.shapes())));
        }
        Ok(())
    }

    /// Lists the matrices with their shapes, for messages.
    fn shapes(&self) -> String {
        let one = |used: MatrixUse| {
            let size = if used.name == "ipiv" { size_of::<i32>() } else { size_of::<T>() };
            format!("{} {} x {}", used.name, used.region.row_bytes / size, used.region.columns)
        };
        self.matrices().map(one).collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Op, Symmetry, Uplo, c64,
        operations::{Gemm, Lacpy, RankK},
    };

    fn copy(a: Mat<f64>, b: Mat<f64>) -> Result<(), DeviceError> {
        Call::Lacpy(Lacpy { op: Op::None, a, b }).check()
    }

    #[test]
    fn overlapping_parts_of_a_tile() {
        let tile = Mat::<f64>::at(5, (10, 10), 13);
        let part = |rows: std::ops::Range<usize>, cols: std::ops::Range<usize>| tile.submatrix(rows, cols);
        assert!(copy(part(0..5, 0..10), part(5..10, 0..10)).is_ok(), "different rows of the same columns");
        assert!(copy(part(0..5, 0..4), part(0..5, 4..8)).is_ok(), "different columns");
        assert!(copy(part(0..5, 0..4), part(4..9, 3..7)).is_err(), "one element in common");
        assert!(copy(part(0..5, 0..4), part(5..10, 2..6)).is_ok(), "interleaved");
        assert!(copy(tile, tile).is_err());
        assert!(copy(part(3..3, 0..4), part(3..3, 0..4)).is_ok(), "empty parts");
        // Different strides: columns of 2 elements at 0, 10, 20 and of 1 at 5, 12, 19, 26; then one of 1 at 11.
        let (wide, narrow) = (Mat::<f64>::at(0, (2, 3), 10), |start| Mat::at(start, (1, 3), 7));
        assert!(copy(narrow(5).submatrix(0..1, 0..3), Mat::at(40, (1, 3), 7)).is_ok());
        let gemm = |c| {
            Call::Gemm(Gemm {
                part: None,
                op_a: Op::None,
                op_b: Op::None,
                alpha: 1.0,
                a: wide,
                b: Mat::at(100, (3, 3), 3),
                beta: 0.0,
                c,
            })
        };
        assert!(gemm(Mat::at(2, (2, 3), 10)).check().is_ok());
        assert!(gemm(Mat::at(2, (2, 3), 9)).check().is_err(), "C overlaps A at 11 and 20");
    }

    #[test]
    fn invalid_calls_are_refused() {
        let z = c64::new(1.0, 0.0);
        let (a, c) = (Mat::<c64>::at(0, (3, 2), 3), Mat::at(10, (3, 3), 3));
        let update = |symmetry, op, a| {
            Call::RankK(RankK { symmetry, uplo: Uplo::Lower, op, alpha: z, a, beta: z, c })
                .check()
                .map_err(|e| e.to_string())
        };
        assert_eq!(update(Symmetry::Hermitian, Op::None, a), Ok(()));
        assert_eq!(
            update(Symmetry::Hermitian, Op::Trans, a),
            Err("herk of complex matrices has no plain transpose".into())
        );
        assert_eq!(
            update(Symmetry::Symmetric, Op::None, Mat::at(0, (3, 2), 2)),
            Err("syrk: the columns of A overlap".into())
        );
        assert_eq!(
            update(Symmetry::Symmetric, Op::None, Mat::at(0, (3, 2), usize::MAX)),
            Err("syrk: the size of A overflows".into())
        );
        assert_eq!(
            update(Symmetry::Symmetric, Op::Trans, a),
            Err("syrk: shapes do not agree: C 3 x 3, A 3 x 2".into())
        );
        assert_eq!(update(Symmetry::Symmetric, Op::None, Mat::at(8, (3, 2), 3)), Err("syrk: C overlaps A".into()));
        let panel = |rows, first| {
            let (a, ipiv) = (Mat::<f32>::at(0, (rows, 1), rows), Mat::at(2 * rows, (1, 1), 1));
            Call::Getrf(Getrf { a, first, ipiv }).check().map_err(|e| e.to_string())
        };
        let most = i32::MAX as usize;
        assert_eq!(panel(most, 0), Ok(()));
        let refused = |rows, first| format!("getrf: {rows} rows below {first} exceed the range of interchanges");
        assert_eq!(panel(most + 1, 0), Err(refused(most + 1, 0)));
        assert_eq!(panel(10, most - 9), Err(refused(10, most - 9)));
    }

    #[test]
    fn modes_depend_on_beta_and_part() {
        let (a, c) = (Mat::<f64>::at(0, (3, 3), 3), Mat::at(10, (3, 3), 3));
        let modes = |part, beta| {
            let call = Call::Gemm(Gemm { part, op_a: Op::None, op_b: Op::None, alpha: 1.0, a, b: a, beta, c });
            call.matrices().map(|used| (used.name, used.mode)).collect::<Vec<_>>()
        };
        let others = [("A", Mode::Read), ("B", Mode::Read)];
        assert_eq!(modes(None, 0.0), [&[("C", Mode::Write)][..], &others].concat());
        assert_eq!(modes(None, 1.0), [&[("C", Mode::ReadWrite)][..], &others].concat());
        assert_eq!(modes(Some(Uplo::Lower), 0.0), [&[("C", Mode::ReadWrite)][..], &others].concat());
    }
}
