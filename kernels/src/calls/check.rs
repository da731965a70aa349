//! What can be said of a [`Call`] before it is carried out: its name, the matrices that it uses, whether they fit together.
//!
//! Backends and whoever runs a call on the host rely on [`Call::check`]: after it no shape can make a kernel panic, and
//! what is written overlaps nothing else, which the exclusive views of `view/mod.rs` demand.

use super::{Call, Mat, Triangle};
use crate::{Op, Scalar, Side, Uplo};
use superscalar_runtime::{DeviceError, DeviceRegion, Mode};

/// One matrix of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Used {
    /// Its name in the operation's equation.
    pub name: &'static str,
    /// Read, write or read_write.
    pub mode: Mode,
    /// Its columns in the heap, in bytes. Of a part of a tile they begin anywhere, not at a multiple of the heap's alignment.
    pub region: DeviceRegion,
}

impl<T> Mat<T> {
    /// Its columns, in bytes. What would not fit in the address space is as large as that.
    #[must_use]
    pub fn region(self) -> DeviceRegion {
        let bytes = |elements: usize| elements.saturating_mul(size_of::<T>());
        let Self { offset, m, n, ld, .. } = self;
        DeviceRegion { offset: bytes(offset), row_bytes: bytes(m), columns: n, stride_bytes: bytes(ld) }
    }
}

impl Used {
    fn new<T>(name: &'static str, mode: Mode, mat: Mat<T>) -> Self {
        Self { name, mode, region: mat.region() }
    }

    fn is_empty(&self) -> bool {
        self.region.row_bytes == 0 || self.region.columns == 0
    }

    /// Bytes of the heap from its start to behind the last byte of the matrix; none if that is no number.
    #[must_use]
    pub fn end(&self) -> Option<usize> {
        let DeviceRegion { offset, row_bytes, columns, stride_bytes } = self.region;
        let across = columns.saturating_sub(1).checked_mul(stride_bytes)?;
        offset.checked_add(if self.is_empty() { 0 } else { across.checked_add(row_bytes)? })
    }

    /// Whether the two have a byte in common. Both have an end.
    fn overlaps(&self, other: &Self) -> bool {
        let ends = (self.end().unwrap_or(usize::MAX), other.end().unwrap_or(usize::MAX));
        if self.is_empty() || other.is_empty() || ends.0 <= other.region.offset || ends.1 <= self.region.offset {
            return false;
        }
        // Interleaved, as parts of one tile are: the columns in the order of their addresses, as one merges sorted lists.
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

/// The mode of what is updated by a call that may not want the old contents.
fn updated(keeps: bool) -> Mode {
    if keeps { Mode::ReadWrite } else { Mode::Write }
}

impl<T: Scalar> Call<T> {
    /// The routine's name in LAPACK, without the letter of the type.
    ///
    /// ```
    /// use superscalar_kernels::{Uplo, device::{Call, Mat}};
    /// let a = Mat::<f64>::at(0, (4, 4), 4);
    /// assert_eq!(Call::Potrf { uplo: Uplo::Lower, first: 0, a }.name(), "potrf");
    /// ```
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Gemm { part: None, .. } => "gemm",
            Self::Gemm { part: Some(_), .. } => "gemmt",
            Self::Symm { hermitian: false, .. } => "symm",
            Self::Symm { hermitian: true, .. } => "hemm",
            Self::RankK { hermitian: false, .. } => "syrk",
            Self::RankK { hermitian: true, .. } => "herk",
            Self::Rank2k { hermitian: false, .. } => "syr2k",
            Self::Rank2k { hermitian: true, .. } => "her2k",
            Self::Trmm(_) => "trmm",
            Self::Trsm(_) => "trsm",
            Self::Potrf { .. } => "potrf",
            Self::Getrf { .. } => "getrf",
            Self::Geqrf { .. } => "geqrf",
            Self::Laswp { .. } => "laswp",
            Self::Larfb { .. } => "larfb",
            Self::Copy { .. } => "lacpy",
            Self::Scale { .. } => "scale",
        }
    }

    /// Every matrix that it uses, those that it writes first.
    pub fn matrices(&self) -> impl Iterator<Item = Used> + '_ {
        let zero = T::ZERO;
        let one = |name, mode, mat: &Mat<T>| Some(Used::new(name, mode, *mat));
        let read = |name, mat| one(name, Mode::Read, mat);
        let (known, ipiv): ([Option<Used>; 3], &[Mat<i32>]) = match self {
            Self::Gemm { part, a, b, beta, c, .. } => {
                let keeps = part.is_some() || *beta != zero;
                ([one("C", updated(keeps), c), read("A", a), read("B", b)], &[])
            }
            Self::Symm { a, b, beta, c, .. } => {
                ([one("C", updated(*beta != zero), c), read("A", a), read("B", b)], &[])
            }
            Self::RankK { a, c, .. } => ([one("C", Mode::ReadWrite, c), read("A", a), None], &[]),
            Self::Rank2k { a, b, c, .. } => ([one("C", Mode::ReadWrite, c), read("A", a), read("B", b)], &[]),
            Self::Trmm(Triangle { alpha, a, b, .. }) | Self::Trsm(Triangle { alpha, a, b, .. }) => {
                ([one("B", updated(*alpha != zero), b), read("A", a), None], &[])
            }
            Self::Potrf { a, .. } => ([one("A", Mode::ReadWrite, a), None, None], &[]),
            Self::Getrf { a, ipiv, .. } => {
                let ipiv = Some(Used::new("ipiv", Mode::Write, *ipiv));
                ([one("A", Mode::ReadWrite, a), ipiv, None], &[])
            }
            Self::Geqrf { a, t, tau } => {
                ([one("A", Mode::ReadWrite, a), one("T", Mode::Write, t), one("tau", Mode::Write, tau)], &[])
            }
            Self::Laswp { a, ipiv, .. } => ([one("A", Mode::ReadWrite, a), None, None], ipiv),
            Self::Larfb { v, t, c, .. } => ([one("C", Mode::ReadWrite, c), read("V", v), read("T", t)], &[]),
            Self::Copy { a, b, .. } => ([one("B", Mode::Write, b), read("A", a), None], &[]),
            Self::Scale { part, beta, a } => ([one("A", updated(part.is_some() || *beta != zero), a), None, None], &[]),
        };
        known.into_iter().flatten().chain(ipiv.iter().map(|ipiv| Used::new("ipiv", Mode::Read, *ipiv)))
    }

    /// Whether it can be carried out: shapes agree, columns do not overlap, what is written overlaps no other matrix, and the routine
    /// has the operation that is asked for. What a heap's contents say (interchanges, pivots) is not looked at.
    ///
    /// # Errors
    /// If not; the message names the routine and the operands.
    ///
    /// ```
    /// use superscalar_kernels::{Op, device::{Call, Mat}};
    /// let (a, b) = (Mat::<f64>::at(0, (4, 3), 4), Mat::at(16, (4, 3), 4));
    /// assert!(Call::Copy { op: Op::None, a, b }.check().is_ok());
    /// let error = Call::Copy { op: Op::Trans, a, b }.check().unwrap_err();
    /// assert_eq!(error.to_string(), "lacpy: the shapes B 4 x 3, A 4 x 3 do not agree");
    /// ```
    pub fn check(&self) -> Result<(), DeviceError> {
        self.check_shapes()?;
        let written = self.matrices().take_while(|used| used.mode != Mode::Read);
        for (at, written) in written.enumerate() {
            if let Some(other) = self.matrices().skip(at + 1).find(|other| other.overlaps(&written)) {
                return Err(DeviceError::new(format!("{}: {} overlaps {}", self.name(), written.name, other.name)));
            }
        }
        Ok(())
    }

    /// The part of [`check`](Self::check) that does not look at where the matrices are: for calls whose operands have no place yet.
    ///
    /// # Errors
    /// As for `check`.
    pub fn check_shapes(&self) -> Result<(), DeviceError> {
        let name = self.name();
        for used in self.matrices() {
            let DeviceRegion { row_bytes, stride_bytes, columns, .. } = used.region;
            if stride_bytes < row_bytes.max(1) && columns > 0 {
                return Err(DeviceError::new(format!("{name}: the columns of {} overlap", used.name)));
            }
            if used.end().is_none() {
                return Err(DeviceError::new(format!("{name}: {} is larger than any heap", used.name)));
            }
        }
        if let Self::Getrf { a, first, .. } = self
            && i32::try_from(first.saturating_add(a.m)).is_err()
        {
            return Err(DeviceError::new(format!(
                "{name}: {} rows below {first}, more than interchanges can name",
                a.m
            )));
        }
        if let Some(operation) = self.misused() {
            return Err(DeviceError::new(format!("{name} of complex matrices has no {operation}")));
        }
        if !self.agrees() {
            return Err(DeviceError::new(format!("{name}: the shapes {} do not agree", self.shapes())));
        }
        Ok(())
    }

    /// The operation that the routine does not have, if it is asked for.
    fn misused(&self) -> Option<&'static str> {
        let (hermitian, op) = match *self {
            Self::RankK { hermitian, op, .. } | Self::Rank2k { hermitian, op, .. } => (hermitian, op),
            Self::Larfb { op, .. } => (true, op),
            _ => return None,
        };
        match (hermitian, op) {
            (true, Op::Trans) if T::COMPLEX => Some("plain transpose"),
            (false, Op::ConjTrans) if T::COMPLEX => Some("conjugate transpose"),
            _ => None,
        }
    }

    fn agrees(&self) -> bool {
        let is_square = |mat: &Mat<T>| mat.m == mat.n;
        let is_trapezoid = |uplo, mat: &Mat<T>| if uplo == Uplo::Lower { mat.m >= mat.n } else { mat.n >= mat.m };
        // The order of what stands at this side of a matrix.
        let order = |side, mat: &Mat<T>| if side == Side::Left { mat.m } else { mat.n };
        match self {
            Self::Gemm { part, op_a, op_b, a, b, c, .. } => {
                let ((m, k), (l, n)) = (op_a.shape(a.shape()), op_b.shape(b.shape()));
                (m, n, k) == (c.m, c.n, l) && (part.is_none() || is_square(c))
            }
            Self::Symm { side, a, b, c, .. } => b.shape() == c.shape() && is_square(a) && a.m == order(*side, c),
            Self::RankK { uplo, op, a, c, .. } => is_trapezoid(*uplo, c) && op.shape(a.shape()).0 == c.m.max(c.n),
            Self::Rank2k { op, a, b, c, .. } => is_square(c) && op.shape(a.shape()).0 == c.m && a.shape() == b.shape(),
            Self::Trmm(t) | Self::Trsm(t) => is_square(&t.a) && t.a.m == order(t.side, &t.b),
            Self::Potrf { uplo, a, .. } => is_trapezoid(*uplo, a),
            Self::Getrf { a, ipiv, .. } => ipiv.shape() == (a.m.min(a.n), 1),
            Self::Geqrf { a, t, tau } => {
                let k = a.m.min(a.n);
                t.shape() == (k, k) && tau.shape() == (k, 1)
            }
            Self::Laswp { a, first, ipiv, .. } => {
                let rows = ipiv.iter().try_fold(*first, |rows, block| rows.checked_add(block.m));
                ipiv.iter().all(|block| block.n == 1) && rows.is_some_and(|rows| rows <= a.m)
            }
            Self::Larfb { side, v, t, c, .. } => {
                let fits = v.m >= v.n && order(*side, c) == v.m && t.n == v.n;
                fits && (v.n == 0 || (1..=v.n).contains(&t.m))
            }
            Self::Copy { op, a, b } => op.shape(a.shape()) == b.shape(),
            Self::Scale { part, a, .. } => part.is_none() || is_square(a),
        }
    }

    /// The matrices with their shapes, for messages.
    fn shapes(&self) -> String {
        let one = |used: Used| {
            let size = if used.name == "ipiv" { size_of::<i32>() } else { size_of::<T>() };
            format!("{} {} x {}", used.name, used.region.row_bytes / size, used.region.columns)
        };
        self.matrices().map(one).collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::c64;

    fn copy(a: Mat<f64>, b: Mat<f64>) -> Result<(), DeviceError> {
        Call::Copy { op: Op::None, a, b }.check()
    }

    #[test]
    fn parts_of_a_tile_overlap_only_where_they_do() {
        let tile = Mat::<f64>::at(5, (10, 10), 13);
        let part = |rows: std::ops::Range<usize>, cols: std::ops::Range<usize>| tile.submatrix(rows, cols);
        assert!(copy(part(0..5, 0..10), part(5..10, 0..10)).is_ok(), "side by side in every column");
        assert!(copy(part(0..5, 0..4), part(0..5, 4..8)).is_ok(), "one behind the other");
        assert!(copy(part(0..5, 0..4), part(4..9, 3..7)).is_err(), "one element");
        assert!(copy(part(0..5, 0..4), part(5..10, 2..6)).is_ok(), "interleaved");
        assert!(copy(tile, tile).is_err());
        assert!(copy(part(3..3, 0..4), part(3..3, 0..4)).is_ok(), "nothing at all");
        // Different strides: columns of 2 at 0, 10, 20 and of 1 at 5, 12, 19, 26; then one of the latter at 11.
        let (wide, narrow) = (Mat::<f64>::at(0, (2, 3), 10), |start| Mat::at(start, (1, 3), 7));
        assert!(copy(narrow(5).submatrix(0..1, 0..3), Mat::at(40, (1, 3), 7)).is_ok());
        let gemm = |c| Call::Gemm {
            part: None,
            op_a: Op::None,
            op_b: Op::None,
            alpha: 1.0,
            a: wide,
            b: Mat::at(100, (3, 3), 3),
            beta: 0.0,
            c,
        };
        assert!(gemm(Mat::at(2, (2, 3), 10)).check().is_ok());
        assert!(gemm(Mat::at(2, (2, 3), 9)).check().is_err(), "11 and 20");
    }

    #[test]
    fn what_no_kernel_could_do_is_refused() {
        let z = c64::new(1.0, 0.0);
        let (a, c) = (Mat::<c64>::at(0, (3, 2), 3), Mat::at(10, (3, 3), 3));
        let update = |hermitian, op, a| {
            Call::RankK { hermitian, uplo: Uplo::Lower, op, alpha: z, a, beta: z, c }.check().map_err(|e| e.to_string())
        };
        assert_eq!(update(true, Op::None, a), Ok(()));
        assert_eq!(update(true, Op::Trans, a), Err("herk of complex matrices has no plain transpose".into()));
        assert_eq!(update(false, Op::None, Mat::at(0, (3, 2), 2)), Err("syrk: the columns of A overlap".into()));
        assert_eq!(
            update(false, Op::None, Mat::at(0, (3, 2), usize::MAX)),
            Err("syrk: A is larger than any heap".into())
        );
        assert_eq!(update(false, Op::Trans, a), Err("syrk: the shapes C 3 x 3, A 3 x 2 do not agree".into()));
        assert_eq!(update(false, Op::None, Mat::at(8, (3, 2), 3)), Err("syrk: C overlaps A".into()));
        let panel = |rows, first| {
            let (a, ipiv) = (Mat::<f32>::at(0, (rows, 1), rows), Mat::at(2 * rows, (1, 1), 1));
            Call::Getrf { a, first, ipiv }.check().map_err(|e| e.to_string())
        };
        let most = i32::MAX as usize;
        assert_eq!(panel(most, 0), Ok(()));
        let refused = |rows, first| format!("getrf: {rows} rows below {first}, more than interchanges can name");
        assert_eq!(panel(most + 1, 0), Err(refused(most + 1, 0)));
        assert_eq!(panel(10, most - 9), Err(refused(10, most - 9)));
    }

    #[test]
    fn modes_tell_what_is_wanted_of_the_old_contents() {
        let (a, c) = (Mat::<f64>::at(0, (3, 3), 3), Mat::at(10, (3, 3), 3));
        let modes = |part, beta| {
            let call = Call::Gemm { part, op_a: Op::None, op_b: Op::None, alpha: 1.0, a, b: a, beta, c };
            call.matrices().map(|used| (used.name, used.mode)).collect::<Vec<_>>()
        };
        let others = [("A", Mode::Read), ("B", Mode::Read)];
        assert_eq!(modes(None, 0.0), [&[("C", Mode::Write)][..], &others].concat());
        assert_eq!(modes(None, 1.0), [&[("C", Mode::ReadWrite)][..], &others].concat());
        assert_eq!(modes(Some(Uplo::Lower), 0.0), [&[("C", Mode::ReadWrite)][..], &others].concat());
    }
}
