//! How a batch is cut into tasks: into chunks of adjacent problems.

use super::workload::Workload;
use crate::{block_size::BlockSize, error::Error, options::Options, plan::Machine};
use std::{ops::Range, sync::Arc};
use superscalar_kernels::{BatchMut, BatchPlacement, BatchRef, BatchView};
use superscalar_runtime::{Lent, Scope};

/// Chunks have a multiple of this many problems, so that they fill vector registers.
const CHUNK_MULTIPLE: usize = 16;

/// The boundaries of a batch's chunks. Operands of one routine must have the same.
///
/// ```
/// use superscalar::dla::batch::Chunks;
/// assert_eq!(Chunks::equal(10, 4).len(), 3);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunks {
    ends: Arc<[usize]>,
}

impl Chunks {
    /// Cuts `count` problems into chunks of `each`; the last may have fewer.
    ///
    /// # Panics
    /// If `each` is zero.
    #[must_use]
    pub fn equal(count: usize, each: usize) -> Self {
        assert!(each > 0, "a chunk must have problems");
        Self { ends: (0..count).step_by(each).map(|start| count.min(start.saturating_add(each))).collect() }
    }

    /// Cuts a batch for the workers and devices of a machine, into as many chunks as their overhead allows.
    ///
    /// # Errors
    /// If a chunk shall have no problem.
    pub(super) fn plan(options: &Options, machine: &Machine, all: &Workload<'_>) -> Result<Self, Error> {
        let count = all.count;
        if let BlockSize::Fixed(each) = options.block_size {
            return match each {
                0 => Err(Error::shape("chunks of no problems, expected a positive number")),
                _ => Ok(Self::equal(count, each)),
            };
        }
        let shares = all.shares(machine);
        if shares.len() == 1 || count == 0 {
            return Ok(Self::equal(count, count.max(1)));
        }
        let mut ends = Vec::with_capacity(shares.len());
        if all.is_uniform {
            let end = |share: f64| ((share * count as f64).ceil() as usize).next_multiple_of(CHUNK_MULTIPLE).min(count);
            ends.extend(shares.into_iter().map(end));
            ends.dedup();
            return Ok(Self { ends: ends.into() });
        }
        let (mut spent_ns, mut start) = (0.0, 0);
        for p in 0..count {
            spent_ns += all.problem_ns(p);
            let is_full = shares.get(ends.len()).is_some_and(|share| spent_ns >= share * all.host_ns);
            if is_full && (p + 1 - start) % CHUNK_MULTIPLE == 0 || p + 1 == count {
                ends.push(p + 1);
                start = p + 1;
            }
        }
        Ok(Self { ends: ends.into() })
    }

    /// Returns the number of chunks.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns whether there is no chunk, because there is no problem.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the number of problems.
    #[must_use]
    pub fn problems(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    /// Returns the number of problems of a chunk.
    pub(super) fn problems_of(&self, chunk: usize) -> usize {
        self.ends[chunk] - if chunk == 0 { 0 } else { self.ends[chunk - 1] }
    }

    /// Iterates over the first problems of the chunks.
    fn starts(&self) -> impl DoubleEndedIterator<Item = usize> {
        (0..self.len()).map(|chunk| if chunk == 0 { 0 } else { self.ends[chunk - 1] })
    }

    /// Iterates over the chunks.
    pub(super) fn ranges(&self) -> impl Iterator<Item = Range<usize>> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(self.ends.iter()).map(|(start, &end)| start..end)
    }
}

/// A batch in chunks, each a handle of a scope: the operand of the non-blocking forms.
///
/// ```
/// use superscalar::{
///     Runtime,
///     dla::{
///         BatchMut, Uplo,
///         batch::{self, Chunked, ChunkedInfo, Chunks},
///     },
/// };
///
/// let rt = Runtime::new()?;
/// let (mut a, mut info) = ([4.0; 100], [0; 100]);
/// let chunks = Chunks::equal(100, 16);
/// let batch = BatchMut::packed(&mut a, (1, 1))?;
/// rt.scope(|s| {
///     let (a, info) = (Chunked::new(s, batch, &chunks), ChunkedInfo::new(s, &mut info, &chunks));
///     batch::spawn::potrf(s, Uplo::Lower, &a, &info);
/// })?;
/// assert_eq!((a, info), ([2.0; 100], [0; 100]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Chunked<'s, T> {
    chunks: Chunks,
    parts: Vec<Part<'s, T>>,
    is_read_only: bool,
}

/// A chunk: its handle, and where its matrices are.
struct Part<'s, T> {
    handle: Lent<'s, BatchView<'s, T>>,
    placement: BatchPlacement,
}

impl<'s, T: Send + Sync + 's> Chunked<'s, T> {
    /// Lends a batch to a scope, in these chunks.
    ///
    /// # Panics
    /// If the chunks are those of another number of problems.
    #[track_caller]
    pub fn new(s: &'s Scope<'s, '_>, batch: BatchMut<'s, T>, chunks: &Chunks) -> Self {
        assert_eq!(batch.len(), chunks.problems(), "the chunks are those of another number of problems");
        let (mut rest, mut parts) = (batch, Vec::with_capacity(chunks.len()));
        // From the last one on, since a gathered batch copies what is split off behind.
        for start in chunks.starts().rev() {
            let (others, part) = rest.split_at(start);
            let placement = part.placement();
            parts.push(Part { handle: s.own_view(BatchView::Mut(part)), placement });
            rest = others;
        }
        parts.reverse();
        Self { chunks: chunks.clone(), parts, is_read_only: false }
    }

    /// Lends a batch that is only read to a scope, in these chunks.
    ///
    /// # Panics
    /// If the chunks are those of another number of problems.
    #[track_caller]
    pub fn read_only(s: &'s Scope<'s, '_>, batch: BatchRef<'s, T>, chunks: &Chunks) -> Self {
        assert_eq!(batch.len(), chunks.problems(), "the chunks are those of another number of problems");
        let (mut rest, mut parts) = (batch, Vec::with_capacity(chunks.len()));
        for start in chunks.starts().rev() {
            let (others, part) = rest.split_at(start);
            let placement = part.placement();
            parts.push(Part { handle: s.own_view(BatchView::Ref(part)), placement });
            rest = others;
        }
        parts.reverse();
        Self { chunks: chunks.clone(), parts, is_read_only: true }
    }
}

impl<'s, T> Chunked<'s, T> {
    /// Makes the operand of handles with the places of their matrices.
    pub(super) fn of_parts(
        chunks: &Chunks,
        parts: impl Iterator<Item = (Lent<'s, BatchView<'s, T>>, BatchPlacement)>,
        is_read_only: bool,
    ) -> Self {
        let parts = parts.map(|(handle, placement)| Part { handle, placement }).collect();
        Self { chunks: chunks.clone(), parts, is_read_only }
    }

    /// Returns the boundaries.
    #[must_use]
    pub fn chunks(&self) -> &Chunks {
        &self.chunks
    }

    /// Returns the handle of a chunk, for tasks of your own among those of the routines.
    ///
    /// # Panics
    /// If there is no such chunk.
    ///
    /// ```
    /// use superscalar::{
    ///     Runtime,
    ///     dla::{
    ///         BatchMut, Op,
    ///         batch::{self, Chunked, Chunks},
    ///     },
    /// };
    ///
    /// let (rt, chunks) = (Runtime::new()?, Chunks::equal(100, 16));
    /// let (mut a, mut b) = ([1.0; 100], [0.0; 100]);
    /// let batches = (BatchMut::packed(&mut a, (1, 1))?, BatchMut::packed(&mut b, (1, 1))?);
    /// rt.scope(|s| {
    ///     let (a, b) = (Chunked::new(s, batches.0, &chunks), Chunked::new(s, batches.1, &chunks));
    ///     for chunk in 0..chunks.len() {
    ///         s.spawn("set", a.handle(chunk).write(), |a| {
    ///             let mut a = a.as_mut().expect("a batch that may be changed");
    ///             (0..a.len()).for_each(|p| a.get_mut(p)[(0, 0)] = 3.0);
    ///         });
    ///     }
    ///     batch::spawn::gemm(s, 1.0, Op::None, &a, Op::None, &a, 0.0, &b);
    /// })?;
    /// assert_eq!(b, [9.0; 100]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn handle(&self, chunk: usize) -> Lent<'s, BatchView<'s, T>> {
        self.parts[chunk].handle
    }

    /// Returns where the matrices of a chunk are.
    pub(super) fn placement(&self, chunk: usize) -> &BatchPlacement {
        &self.parts[chunk].placement
    }

    pub(super) fn is_read_only(&self) -> bool {
        self.is_read_only
    }

    /// Returns whether each matrix has exactly one column.
    pub(super) fn are_columns(&self) -> bool {
        (0..self.parts.len()).all(|chunk| match self.placement(chunk) {
            BatchPlacement::Strided { shape, .. } => shape.1 == 1,
            place => (0..self.chunks.problems_of(chunk)).all(|p| place.shape(p).1 == 1),
        })
    }
}

/// `info` of each problem, in chunks. See [`Chunked`] for an example.
pub struct ChunkedInfo<'s> {
    chunks: Chunks,
    parts: Vec<Lent<'s, [i32]>>,
}

impl<'s> ChunkedInfo<'s> {
    /// Lends `info` of each problem to a scope, in these chunks.
    ///
    /// # Panics
    /// If the chunks are those of another number of problems.
    #[track_caller]
    pub fn new(s: &'s Scope<'s, '_>, info: &'s mut [i32], chunks: &Chunks) -> Self {
        assert_eq!(info.len(), chunks.problems(), "the chunks are those of another number of problems");
        let (mut rest, mut parts) = (info, Vec::with_capacity(chunks.len()));
        for range in chunks.ranges() {
            let (part, others) = rest.split_at_mut(range.len());
            parts.push(s.lend(part));
            rest = others;
        }
        Self { chunks: chunks.clone(), parts }
    }

    /// Returns the boundaries.
    #[must_use]
    pub fn chunks(&self) -> &Chunks {
        &self.chunks
    }

    pub(super) fn handle(&self, chunk: usize) -> Lent<'s, [i32]> {
        self.parts[chunk]
    }
}
