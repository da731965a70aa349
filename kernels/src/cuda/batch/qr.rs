//! geqrf, ungqr, unmqr.
//!
//! A block of threads needs the triangular factors T of all bands of reflectors in scratch memory. geqrf computes them
//! on its way; for the others a launch of its own does.

use super::{
    PanelKernel, class_of, count_of,
    operand::{Operand, classes},
    panel_pitch,
};
use crate::cuda::{
    program::{BATCH_BAND, BATCH_COLUMN_THREADS, BATCH_QR_THREADS, Family},
    stream::{Argument, Launch, Stream},
};
use crate::{
    Op, Scalar,
    operations::{BatchMat, Mat},
    scratch::Mark,
};
use std::ops::Range;
use superscalar_runtime::DeviceError;

/// Up to this many rows, a block has half of the threads.
const FEW_ROWS_MAX: usize = 256;

/// Computes A = Q R of each problem.
pub(super) fn geqrf<T: Scalar>(
    stream: &mut Stream<'_, T>,
    a: &BatchMat<T>,
    tau: &BatchMat<T>,
) -> Result<(), DeviceError> {
    let key = |at| {
        let (m, n) = a.shape(at);
        class_of(m.max(n))
    };
    for range in classes(a.len(), a.layout().is_some(), key) {
        let (a, tau) = (Operand::of(a, range.clone()), Operand::of(tau, range.clone()));
        let (m, n) = a.first.shape();
        let arguments = [a.arguments(), tau.arguments()].concat();
        if let Some(columns) = Columns::of::<T>(m.max(n)) {
            columns.launch(stream, columns.geqrf, (&range, 1), arguments)?;
        } else if tau.first.m > 0 {
            let bands = Bands::take(stream, tau.first.m, range)?;
            bands.launch(stream, ("geqrf_block", m, 1), arguments, &[])?;
            bands.release(stream);
        }
    }
    Ok(())
}

/// Computes the first columns of Q of each problem.
pub(super) fn ungqr<T: Scalar>(
    stream: &mut Stream<'_, T>,
    a: &BatchMat<T>,
    tau: &BatchMat<T>,
) -> Result<(), DeviceError> {
    for range in classes(a.len(), a.layout().is_some(), |at| class_of(a.shape(at).0)) {
        let (a, tau) = (Operand::of(a, range.clone()), Operand::of(tau, range.clone()));
        let (m, n) = a.first.shape();
        let arguments = [a.arguments(), tau.arguments()].concat();
        if let Some(columns) = Columns::of::<T>(m) {
            columns.launch(stream, columns.orgqr, (&range, 1), arguments)?;
        } else if n > 0 {
            let bands = Bands::take(stream, tau.first.m, range)?;
            bands.form(stream, &arguments)?;
            bands.launch(stream, ("orgqr_block", m, 1), arguments, &[])?;
            bands.release(stream);
        }
    }
    Ok(())
}

/// Computes C := op(Q) C of each problem.
pub(super) fn unmqr<T: Scalar>(
    stream: &mut Stream<'_, T>,
    op: Op,
    (v, tau): (&BatchMat<T>, &BatchMat<T>),
    c: &BatchMat<T>,
) -> Result<(), DeviceError> {
    let adjoint = Argument::code((op != Op::None).into());
    for range in classes(c.len(), c.layout().is_some(), |at| class_of(c.shape(at).0)) {
        let (v, tau, c) =
            (Operand::of(v, range.clone()), Operand::of(tau, range.clone()), Operand::of(c, range.clone()));
        let ((m, n), k) = (c.first.shape(), tau.first.m);
        if k == 0 {
            continue;
        }
        let reflectors = [v.arguments(), tau.arguments()].concat();
        let mut arguments = reflectors.clone();
        arguments.extend(c.arguments());
        if let Some(columns) = Columns::of::<T>(m) {
            arguments.push(adjoint);
            columns.launch(stream, columns.ormqr, (&range, n.div_ceil(columns.order)), arguments)?;
        } else {
            let bands = Bands::take(stream, k, range)?;
            bands.form(stream, &reflectors)?;
            bands.launch(stream, ("ormqr_block", m, n.div_ceil(BATCH_BAND)), arguments, &[adjoint])?;
            bands.release(stream);
        }
    }
    Ok(())
}

/// The kernels in which a thread has a column of a matrix of this order at most.
struct Columns {
    order: usize,
    geqrf: &'static str,
    orgqr: &'static str,
    ormqr: &'static str,
}

impl Columns {
    /// Returns those for an order, if there are any. Registers limit the order.
    fn of<T>(n: usize) -> Option<Self> {
        let (geqrf, orgqr, ormqr) = match class_of(n) {
            8 => ("geqrf_columns_8", "orgqr_columns_8", "ormqr_columns_8"),
            16 => ("geqrf_columns_16", "orgqr_columns_16", "ormqr_columns_16"),
            32 => ("geqrf_columns_32", "orgqr_columns_32", "ormqr_columns_32"),
            64 if size_of::<T>() <= 8 => ("geqrf_columns_64", "orgqr_columns_64", "ormqr_columns_64"),
            _ => return None,
        };
        Some(Self { order: class_of(n), geqrf, orgqr, ormqr })
    }

    /// Launches a kernel with this many parts of each problem. The number of problems is the last argument.
    fn launch<T: Scalar>(
        &self,
        stream: &mut Stream<'_, T>,
        kernel: &'static str,
        (range, parts): (&Range<usize>, usize),
        mut arguments: Vec<Argument>,
    ) -> Result<(), DeviceError> {
        arguments.push(count_of(range)?);
        let grid = [range.len().div_ceil(BATCH_COLUMN_THREADS / self.order), parts, 1];
        let (family, threads) = (Family::BatchColumns, [BATCH_COLUMN_THREADS, 1]);
        stream.launch(Launch { family, kernel, arguments: &arguments, grid, threads })
    }
}

/// The triangular factors of the bands of some problems' reflectors, in scratch memory.
struct Bands<T> {
    factors: Mat<T>,
    /// The most reflectors of a problem.
    reflectors: usize,
    problems: Range<usize>,
    before: Mark,
}

impl<T: Scalar> Bands<T> {
    fn take(stream: &mut Stream<'_, T>, reflectors: usize, problems: Range<usize>) -> Result<Self, DeviceError> {
        let before = stream.scratch.mark();
        let elements = reflectors.next_multiple_of(BATCH_BAND) * BATCH_BAND;
        let factors = stream.take((elements, problems.len()))?;
        Ok(Self { factors, reflectors, problems, before })
    }

    /// Computes the factors from the reflectors, whose arguments these are.
    fn form(&self, stream: &mut Stream<'_, T>, reflectors: &[Argument]) -> Result<(), DeviceError> {
        let mut arguments = reflectors.to_vec();
        arguments.extend(self.arguments());
        arguments.push(count_of(&self.problems)?);
        let grid = [self.problems.len(), self.reflectors.div_ceil(BATCH_BAND), 1];
        let (family, kernel, threads) = (Family::BatchQr, "larft_block", [BATCH_QR_THREADS, 1]);
        stream.launch(Launch { family, kernel, arguments: &arguments, grid, threads })
    }

    /// Launches a kernel with `parts` blocks for each problem of m rows: with the operands, the factors, some options
    /// and the number of problems.
    fn launch(
        &self,
        stream: &mut Stream<'_, T>,
        (kernel, m, parts): (&'static str, usize, usize),
        mut arguments: Vec<Argument>,
        options: &[Argument],
    ) -> Result<(), DeviceError> {
        arguments.extend(self.arguments());
        arguments.extend(options);
        arguments.push(count_of(&self.problems)?);
        let threads = if m <= FEW_ROWS_MAX { BATCH_QR_THREADS / 2 } else { BATCH_QR_THREADS };
        let shared_bytes = panel_pitch::<T>(m) * BATCH_BAND * size_of::<T>();
        let kernel = PanelKernel { family: Family::BatchQr, kernel, threads, shared_bytes };
        PanelKernel::first_of(stream, &[kernel])?.launch(stream, [self.problems.len(), parts], &arguments)
    }

    fn release(self, stream: &mut Stream<'_, T>) {
        stream.scratch.release(self.before);
    }

    fn arguments(&self) -> [Argument; 2] {
        [Argument::start(self.factors), Argument::index(self.factors.ld)]
    }
}
