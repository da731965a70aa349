//! [`BatchCall`]: one operation on every problem of a batch in a device's heap.

use super::{
    BatchLayout, BatchOperands, BatchOperation, Mat, ProblemShapes, TABLE_ROWS,
    check::{HeapOperation, MatrixList},
    heap::HeapViews,
};
use crate::{BatchMut, BatchRef, MatMut, MatRef, Scalar};
use std::sync::Arc;
use superscalar_runtime::{DeviceError, DeviceRegion, Mode};

/// The shapes of a batch in a heap.
#[derive(Clone, Debug)]
pub enum BatchShapes {
    /// All matrices have the shape of the first one, and follow each other at this distance.
    Uniform {
        /// Elements from one matrix to the next.
        stride: usize,
        /// The number of matrices.
        count: usize,
    },
    /// Each matrix has its own shape.
    Varied {
        /// What the host knows about them.
        layout: Arc<BatchLayout>,
        /// [`BatchLayout::table`] in the heap, a column for each problem.
        table: Mat<i64>,
    },
}

/// A batch of matrices in a device's heap.
#[derive(Clone, Debug)]
pub struct BatchMat<E> {
    /// The first matrix. If shapes differ, the place from which offsets count, with the most rows and columns.
    pub first: Mat<E>,
    /// The others.
    pub shapes: BatchShapes,
}

impl<E> BatchMat<E> {
    /// Makes a batch of matrices of one shape. Each column of the region holds the elements from the first to the last
    /// of one matrix.
    #[must_use]
    pub fn uniform(region: DeviceRegion, shape: (usize, usize), ld: usize) -> Self {
        let spans = Mat::<E>::new(region);
        let first = Mat::at(spans.offset, shape, ld);
        Self { first, shapes: BatchShapes::Uniform { stride: spans.ld, count: spans.n } }
    }

    /// Makes a batch of matrices of one shape, each of which begins where the one before ends, in the first column of
    /// the region.
    #[must_use]
    pub fn packed(region: DeviceRegion, shape: (usize, usize), ld: usize, count: usize) -> Self {
        let first = Mat::at(Mat::<E>::new(region).offset, shape, ld);
        let stride = first.span();
        Self { first, shapes: BatchShapes::Uniform { stride, count } }
    }

    /// Makes a batch of matrices of different shapes in the first column of the region.
    #[must_use]
    pub fn varied(region: DeviceRegion, layout: Arc<BatchLayout>, table: Mat<i64>) -> Self {
        let shape = layout.largest();
        let first = Mat::at(Mat::<E>::new(region).offset, shape, shape.0.max(1));
        Self { first, shapes: BatchShapes::Varied { layout, table } }
    }

    /// Returns the number of matrices.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.shapes {
            BatchShapes::Uniform { count, .. } => *count,
            BatchShapes::Varied { layout, .. } => layout.len(),
        }
    }

    /// Returns whether there is no matrix.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns what the host knows about matrices of different shapes.
    #[must_use]
    pub fn layout(&self) -> Option<&BatchLayout> {
        match &self.shapes {
            BatchShapes::Uniform { .. } => None,
            BatchShapes::Varied { layout, .. } => Some(layout),
        }
    }

    /// Returns the shape of a matrix, counted in launch order.
    ///
    /// # Panics
    /// If there is no such matrix.
    #[must_use]
    pub fn shape(&self, at: usize) -> (usize, usize) {
        match &self.shapes {
            BatchShapes::Uniform { count, .. } => {
                assert!(at < *count, "matrix {at} of a batch of {count}");
                self.first.shape()
            }
            BatchShapes::Varied { layout, .. } => layout.members()[at].shape,
        }
    }

    /// Returns a matrix with a column for each matrix of a uniform batch, from its first to its last element.
    fn spans(&self, stride: usize, count: usize) -> Mat<E> {
        let span = self.first.span();
        Mat::at(self.first.offset, (span, count), if count <= 1 { stride.max(span) } else { stride })
    }

    /// Returns the view of the batch, in the order of the problems' numbers.
    fn view<'h>(&self, at: &HeapViews<'h>) -> Result<BatchRef<'h, E>, DeviceError> {
        Ok(match &self.shapes {
            BatchShapes::Uniform { stride, count } => {
                BatchRef::from_spans(at.view(self.spans(*stride, *count))?, self.first.shape(), self.first.ld)
            }
            BatchShapes::Varied { layout, .. } => {
                let members = self.by_number(layout).map(|mat| at.view(mat));
                BatchRef::gathered(members.collect::<Result<Vec<MatRef<'h, E>>, DeviceError>>()?)
            }
        })
    }

    /// Like [`view`](Self::view), mutable.
    fn view_mut<'h>(&self, at: &mut HeapViews<'h>) -> Result<BatchMut<'h, E>, DeviceError> {
        Ok(match &self.shapes {
            BatchShapes::Uniform { stride, count } => {
                BatchMut::from_spans(at.view_mut(self.spans(*stride, *count))?, self.first.shape(), self.first.ld)
            }
            BatchShapes::Varied { layout, .. } => {
                let members = self.by_number(layout).map(|mat| at.view_mut(mat));
                BatchMut::gathered(members.collect::<Result<Vec<MatMut<'h, E>>, DeviceError>>()?)
            }
        })
    }

    fn by_number(&self, layout: &BatchLayout) -> impl Iterator<Item = Mat<E>> {
        let mut members = layout.members().to_vec();
        members.sort_unstable_by_key(|member| member.number);
        let start = self.first.offset;
        members.into_iter().map(move |member| Mat::at(start + member.offset, member.shape, member.ld))
    }
}

/// One operation on every problem of a batch in a device's heap. The lists are those of [`BatchOperands`].
///
/// Either all operands have one shape for all problems, or all have [tables](BatchShapes::Varied), which list the
/// problems in the same order.
#[derive(Clone, Debug)]
pub struct BatchCall<T: Scalar> {
    /// The operation.
    pub operation: BatchOperation<T>,
    /// Matrices that are only read.
    pub read: Vec<BatchMat<T>>,
    /// Matrices that are read and changed.
    pub updated: Vec<BatchMat<T>>,
    /// Columns that are written.
    pub written: Vec<BatchMat<T>>,
    /// Columns of real numbers that are written.
    pub reals: Vec<BatchMat<T::Real>>,
    /// Interchanges, read by getrs and written by the others.
    pub pivots: Option<BatchMat<i32>>,
    /// The outcome of each problem, a column. None if no problem can fail.
    pub info: Option<Mat<i32>>,
}

impl<T: Scalar> BatchCall<T> {
    /// Returns the number of problems.
    #[must_use]
    pub fn len(&self) -> usize {
        self.updated.first().map_or(0, BatchMat::len)
    }

    /// Returns whether there are no problems.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns whether each problem has its own shapes.
    #[must_use]
    pub fn is_varied(&self) -> bool {
        self.updated.first().is_some_and(|batch| batch.layout().is_some())
    }

    /// Returns the shapes of a problem, counted in launch order.
    ///
    /// # Panics
    /// If there is no such problem.
    #[must_use]
    pub fn shapes(&self, at: usize) -> ProblemShapes {
        let of = |batches: &[BatchMat<T>]| [0, 1].map(|which| Some(batches.get(which)?.shape(at)));
        ProblemShapes {
            read: of(&self.read),
            updated: of(&self.updated),
            written: of(&self.written),
            reals: [0, 1].map(|which| Some(self.reals.get(which)?.shape(at))),
            pivots: self.pivots.as_ref().map(|pivots| pivots.shape(at)),
        }
    }

    /// Checks what does not depend on places: the lists, and the shapes of all problems.
    pub(super) fn check(&self) -> Result<(), String> {
        let (count, is_varied) = (self.len(), self.is_varied());
        let lists = [&self.read, &self.updated, &self.written].map(Vec::len);
        let others = [self.reals.len(), self.pivots.iter().len(), self.info.iter().len()];
        self.operation.check_counts(lists, others)?;
        for (name, _, batch) in self.batches() {
            batch.check().map_err(|why| format!("{name}: {why}"))?;
            if batch.count() != count || batch.table().is_some() != is_varied {
                return Err(format!("{name} has {} problems, others {count}, or only some have tables", batch.count()));
            }
        }
        if self.info.is_some_and(|info| info.shape() != (count, 1)) {
            return Err(format!("the outcomes are not a column of {count}"));
        }
        (0..if is_varied { count } else { count.min(1) }).try_for_each(|at| self.operation.check(&self.shapes(at)))
    }

    /// Returns all batches; those that are written come first.
    fn batches(&self) -> Vec<(&'static str, Mode, &dyn HeapBatch)> {
        let mut all: Vec<(&'static str, Mode, &dyn HeapBatch)> = Vec::new();
        for (name, batch) in ["the first updated batch", "the second updated batch"].into_iter().zip(&self.updated) {
            all.push((name, Mode::ReadWrite, batch));
        }
        for (name, batch) in ["the first written batch", "the second written batch"].into_iter().zip(&self.written) {
            all.push((name, Mode::Write, batch));
        }
        for (name, batch) in ["d", "e"].into_iter().zip(&self.reals) {
            all.push((name, Mode::Write, batch));
        }
        let is_read = matches!(self.operation, BatchOperation::Getrs { .. });
        let mode = if is_read { Mode::Read } else { Mode::Write };
        all.extend(self.pivots.iter().map(|pivots| ("the interchanges", mode, pivots as &dyn HeapBatch)));
        for (name, batch) in ["the first read batch", "the second read batch"].into_iter().zip(&self.read) {
            all.push((name, Mode::Read, batch));
        }
        all
    }
}

/// A batch in a heap, of any elements.
trait HeapBatch {
    fn check(&self) -> Result<(), String>;
    fn count(&self) -> usize;
    fn region(&self) -> DeviceRegion;
    fn table(&self) -> Option<Mat<i64>>;
}

impl<E> HeapBatch for BatchMat<E> {
    /// Checks what does not depend on places.
    fn check(&self) -> Result<(), String> {
        let Mat { m, n, ld, .. } = self.first;
        match &self.shapes {
            BatchShapes::Uniform { .. } if ld < m.max(1) => Err(format!("{m} x {n} with leading dimension {ld}")),
            BatchShapes::Varied { layout, table }
                if table.shape() != (TABLE_ROWS, layout.len()) || table.ld != TABLE_ROWS =>
            {
                Err(format!("a table of {} x {} for {} problems", table.m, table.n, layout.len()))
            }
            _ => Ok(()),
        }
    }

    fn count(&self) -> usize {
        self.len()
    }

    /// Returns the bytes that the batch occupies: a column for each matrix, or one for all.
    fn region(&self) -> DeviceRegion {
        match &self.shapes {
            BatchShapes::Uniform { stride, count } => self.spans(*stride, *count).region(),
            BatchShapes::Varied { layout, .. } => {
                Mat::<E>::at(self.first.offset, (layout.end(), 1), layout.end().max(1)).region()
            }
        }
    }

    fn table(&self) -> Option<Mat<i64>> {
        match &self.shapes {
            BatchShapes::Uniform { .. } => None,
            BatchShapes::Varied { table, .. } => Some(*table),
        }
    }
}

impl<T: Scalar> HeapOperation<T> for BatchCall<T> {
    fn name(&self) -> &'static str {
        self.operation.name()
    }

    fn matrices(&self) -> MatrixList<'_> {
        let mut list = MatrixList::new();
        let batches = self.batches();
        let (written, read): (Vec<_>, Vec<_>) = batches.into_iter().partition(|(_, mode, _)| *mode != Mode::Read);
        for (name, mode, batch) in &written {
            list = list.with_region(name, *mode, batch.region());
        }
        if let Some(info) = self.info {
            list = list.with_region("the outcomes", Mode::Write, info.region());
        }
        for (name, _, batch) in &read {
            list = list.with_region(name, Mode::Read, batch.region());
        }
        let tables = written.iter().chain(&read).filter_map(|(_, _, batch)| batch.table());
        tables.fold(list, |list, table| list.with_region("a table", Mode::Read, table.region()))
    }

    fn agrees(&self) -> bool {
        self.check().is_ok()
    }

    fn run(&self, at: &mut HeapViews<'_>) -> Result<(), DeviceError> {
        let pivots = self.pivots.iter();
        let mut operands = BatchOperands::default();
        for batch in &self.read {
            operands.read.push(batch.view(at)?);
        }
        for batch in &self.updated {
            operands.updated.push(batch.view_mut(at)?);
        }
        for batch in &self.written {
            operands.written.push(batch.view_mut(at)?);
        }
        for batch in &self.reals {
            operands.reals.push(batch.view_mut(at)?);
        }
        for batch in pivots {
            if let BatchOperation::Getrs { .. } = self.operation {
                operands.pivots_read.push(batch.view(at)?);
            } else {
                operands.pivots_written.push(batch.view_mut(at)?);
            }
        }
        let mut info = self.info.map(|info| at.view_mut(info)).transpose()?;
        let mut outcomes = vec![0; info.as_ref().map_or(0, |info| info.nrows())];
        if info.is_some() {
            operands.info.push(&mut outcomes);
        }
        self.operation.check_interchanges(&operands).map_err(DeviceError::new)?;
        self.operation.run(operands);
        if let Some(info) = &mut info {
            outcomes.iter().enumerate().for_each(|(p, &outcome)| info[(p, 0)] = outcome);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Uplo, device::Call};

    fn potrf() -> BatchCall<f64> {
        let operation = BatchOperation::Potrf { uplo: Uplo::Lower };
        let region = DeviceRegion { offset: 0, row_bytes: 32, columns: 2, stride_bytes: 40 };
        let (a, info) = (BatchMat::uniform(region, (2, 2), 2), Some(Mat::at(40, (2, 1), 2)));
        let (read, written, reals) = (Vec::new(), Vec::new(), Vec::new());
        BatchCall { operation, read, updated: vec![a], written, reals, pivots: None, info }
    }

    #[test]
    fn calls_that_do_not_fit_are_refused() {
        let message = |call: BatchCall<f64>| Call::Batch(call.into()).check().unwrap_err().to_string();
        let mut call = potrf();
        call.info = None;
        assert_eq!(message(call), "potrf: [0, 1, 0] and [0, 0, 0] are not the numbers of its operands");
        let mut call = potrf();
        call.updated[0].first.m = 3;
        assert!(message(call).starts_with("potrf: the first updated batch: 3 x 2 with leading dimension 2"));
        let mut call = potrf();
        call.info = Some(Mat::at(3, (2, 1), 2));
        assert_eq!(message(call), "potrf: the first updated batch overlaps the outcomes");
        let mut call = potrf();
        call.updated[0].first = Mat::at(0, (1, 2), 2);
        assert_eq!(message(call), "potrf: A is not square: 1 x 2");
    }
}
