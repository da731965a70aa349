//! [`BatchRef`] and [`BatchMut`]: views of many matrices at once.

mod members;
mod raw;

use super::{MatMut, MatRef, ViewError, layout::Layout};
use members::{ShapedBatch, StridedBatch, count_in, joined};
use std::{marker::PhantomData, ops::Range};
use superscalar_runtime::{Portable, Residence, View};

enum BatchMembers<V> {
    Strided(StridedBatch<V>),
    Shaped(ShapedBatch<V>),
    Gathered(Vec<V>),
}

/// An immutable view of a batch of matrices: what a batched routine reads. [`BatchMut`] is what it writes.
///
/// The matrices are at constant distances in one slice (*strided*), or one behind the other with different shapes
/// (*shaped*), or anywhere, each with its own shape and strides (*gathered*). Devices compute the first two; gathered
/// batches are copied for them, or stay on the host.
///
/// # Example
/// ```
/// use superscalar::kernels::BatchRef;
///
/// let data = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];
/// let batch = BatchRef::packed(&data, (2, 2))?; // two matrices, one behind the other
/// assert_eq!((batch.len(), batch.get(1)[(1, 0)]), (2, 6.0));
/// # Ok::<(), superscalar::kernels::ViewError>(())
/// ```
pub struct BatchRef<'a, T> {
    members: BatchMembers<MatRef<'a, T>>,
}

/// A mutable view of a batch of matrices, which do not overlap. See [`BatchRef`] for the kinds of batches.
///
/// # Example
/// ```
/// use superscalar::kernels::{BatchMut, MatMut};
///
/// let (mut small, mut large) = ([0.0; 1], [0.0; 6]);
/// let members = vec![MatMut::from_col_major(&mut small, 1, 1, 1)?, MatMut::from_col_major(&mut large, 2, 3, 2)?];
/// let mut batch = BatchMut::gathered(members);
/// batch.get_mut(1)[(1, 2)] = 7.0;
/// assert_eq!((batch.shape(0), large[5]), ((1, 1), 7.0));
/// # Ok::<(), superscalar::kernels::ViewError>(())
/// ```
pub struct BatchMut<'a, T> {
    members: BatchMembers<MatMut<'a, T>>,
}

/// Implements what both kinds of view have in common.
macro_rules! batch {
    ($Batch:ident, $Mat:ident) => {
        /// Returns the view of these matrices, which may have different shapes and strides.
        #[must_use]
        pub fn gathered(members: Vec<$Mat<'a, T>>) -> Self {
            Self { members: BatchMembers::Gathered(members) }
        }

        /// Returns the number of matrices.
        #[must_use]
        pub fn len(&self) -> usize {
            match &self.members {
                BatchMembers::Strided(strided) => strided.spans.ncols(),
                BatchMembers::Shaped(shaped) => shaped.members.len(),
                BatchMembers::Gathered(members) => members.len(),
            }
        }

        /// Returns whether there is no matrix.
        #[must_use]
        pub fn is_empty(&self) -> bool {
            self.len() == 0
        }

        /// Returns the numbers of rows and columns of matrix p.
        ///
        /// # Panics
        /// If there is no such matrix.
        #[must_use]
        pub fn shape(&self, p: usize) -> (usize, usize) {
            match &self.members {
                BatchMembers::Strided(strided) => {
                    assert!(p < strided.spans.ncols(), "matrix {p} of a batch of {}", strided.spans.ncols());
                    strided.shape
                }
                BatchMembers::Shaped(shaped) => shaped.members[p].1,
                BatchMembers::Gathered(members) => members[p].shape(),
            }
        }

        /// Returns the shape that all matrices of a strided batch have; `None` for other batches.
        #[must_use]
        pub fn uniform_shape(&self) -> Option<(usize, usize)> {
            match &self.members {
                BatchMembers::Strided(strided) => Some(strided.shape),
                _ => None,
            }
        }

        /// Returns where the matrices are, if they are in one slice.
        #[must_use]
        pub fn placement(&self) -> BatchPlacement {
            match &self.members {
                BatchMembers::Strided(StridedBatch { spans, shape, ld }) => {
                    let is_packed = spans.ncols() <= 1 || spans.col_stride() == spans.nrows();
                    BatchPlacement::Strided { shape: *shape, ld: *ld, is_packed, count: spans.ncols() }
                }
                BatchMembers::Shaped(shaped) => BatchPlacement::Shaped(shaped.members.clone()),
                BatchMembers::Gathered(members) => {
                    BatchPlacement::Gathered(members.iter().map(|member| member.shape()).collect())
                }
            }
        }

        /// Makes the batch of which matrix p is column p of `spans`, from the first to the last element.
        pub(crate) fn from_spans(spans: $Mat<'a, T>, shape: (usize, usize), ld: usize) -> Self {
            Self { members: BatchMembers::Strided(StridedBatch { spans, shape, ld }) }
        }

        /// Makes the batch of packed matrices that are placed so in a column, which has all their elements.
        ///
        /// # Panics
        /// If the column has another number of elements.
        pub(crate) fn in_column(elements: $Mat<'a, T>, placement: &BatchPlacement) -> Self {
            let len = elements.nrows();
            match placement {
                &BatchPlacement::Strided { shape: (m, n), ld, count, .. } => {
                    assert!(m * n * count == len && ld == m.max(1), "{count} matrices of {m} x {n} in {len} elements");
                    let Layout { ptr, .. } = elements.layout;
                    let spans = Layout { ptr, m: m * n, n: count, row_stride: 1, col_stride: m * n };
                    // The spans are the column's elements, which the batch borrows as the column did.
                    Self::from_spans($Mat { layout: spans, borrow: PhantomData }, (m, n), ld)
                }
                BatchPlacement::Shaped(members) => {
                    let end = members.last().map_or(0, |(start, (m, n))| start + m * n);
                    assert!(end == len, "{} matrices in {len} elements", members.len());
                    Self { members: BatchMembers::Shaped(ShapedBatch { elements, members: members.clone() }) }
                }
                BatchPlacement::Gathered(_) => unreachable!("a gathered batch is in no column"),
            }
        }

        /// Splits the batch into matrices 0 .. count and the rest.
        ///
        /// # Panics
        /// If there are fewer matrices.
        #[must_use]
        pub fn split_at(self, count: usize) -> (Self, Self) {
            let (first, rest) = match self.members {
                BatchMembers::Strided(strided) => {
                    let StridedBatch { spans, shape, ld } = strided;
                    let (first, rest) = spans.split_at_col(count);
                    let part = |spans| BatchMembers::Strided(StridedBatch { spans, shape, ld });
                    (part(first), part(rest))
                }
                BatchMembers::Shaped(shaped) => {
                    let (first, rest) = shaped.split_at(count, |elements, at| elements.split_at_row(at));
                    (BatchMembers::Shaped(first), BatchMembers::Shaped(rest))
                }
                BatchMembers::Gathered(mut first) => {
                    let rest = first.split_off(count);
                    (BatchMembers::Gathered(first), BatchMembers::Gathered(rest))
                }
            };
            (Self { members: first }, Self { members: rest })
        }
    };
}

impl<'a, T> BatchRef<'a, T> {
    /// Returns the view of `count` m x n matrices with leading dimension `ld`, of which the first begins at `data[0]`
    /// and each other one `stride` elements after the one before. They may overlap: with a stride of zero, all are the
    /// same matrix.
    ///
    /// # Errors
    /// If `ld < max(1, m)`, or if the slice ends before the last element.
    pub fn strided(
        data: &'a [T],
        shape: (usize, usize),
        ld: usize,
        stride: usize,
        count: usize,
    ) -> Result<Self, ViewError> {
        let strided = StridedBatch::new(shape, ld, |span| MatRef::from_strided(data, (span, count), (1, stride)))?;
        Ok(Self { members: BatchMembers::Strided(strided) })
    }

    /// Returns the view of the m x n matrices that fill the slice, one behind the other.
    ///
    /// # Errors
    /// If the slice has a remainder, or the matrices have no elements.
    pub fn packed(data: &'a [T], shape: (usize, usize)) -> Result<Self, ViewError> {
        Self::strided(data, shape, shape.0.max(1), shape.0.wrapping_mul(shape.1), count_in(data.len(), shape)?)
    }

    /// Returns the view of matrices of these shapes, which fill the slice, one behind the other.
    ///
    /// # Errors
    /// If the slice has another number of elements.
    ///
    /// ```
    /// use superscalar::kernels::BatchRef;
    /// let batch = BatchRef::shaped(&[1.0, 2.0, 3.0, 4.0, 5.0], &[(1, 1), (2, 2)])?;
    /// assert_eq!(batch.get(1)[(0, 1)], 4.0);
    /// # Ok::<(), superscalar::kernels::ViewError>(())
    /// ```
    pub fn shaped(data: &'a [T], shapes: &[(usize, usize)]) -> Result<Self, ViewError> {
        let len = data.len();
        let shaped = ShapedBatch::new(shapes, len, || MatRef::from_col_major(data, len, 1, len.max(1)))?;
        Ok(Self { members: BatchMembers::Shaped(shaped) })
    }

    batch!(BatchRef, MatRef);

    /// Returns matrix p.
    ///
    /// # Panics
    /// If there is no such matrix.
    #[must_use]
    pub fn get(&self, p: usize) -> MatRef<'a, T> {
        match &self.members {
            BatchMembers::Strided(strided) => {
                assert!(p < self.len(), "matrix {p} of a batch of {}", self.len());
                // The span of column p has exactly the elements of the matrix, which are borrowed for `'a`.
                MatRef { layout: strided.layout(strided.spans.layout.address(0, p)), borrow: PhantomData }
            }
            // The elements of the matrix are among those that are borrowed for `'a`.
            BatchMembers::Shaped(shaped) => {
                MatRef { layout: shaped.layout(shaped.elements.layout.ptr, p), borrow: PhantomData }
            }
            BatchMembers::Gathered(members) => members[p],
        }
    }

    /// Returns all matrices.
    #[must_use]
    pub fn members(&self) -> Vec<MatRef<'a, T>> {
        self.members_in(0..self.len())
    }

    /// Returns the matrices of a range.
    pub(crate) fn members_in(&self, range: Range<usize>) -> Vec<MatRef<'a, T>> {
        range.map(|p| self.get(p)).collect()
    }
}

impl<T> Clone for BatchRef<'_, T> {
    fn clone(&self) -> Self {
        let members = match &self.members {
            BatchMembers::Strided(strided) => BatchMembers::Strided(*strided),
            BatchMembers::Shaped(shaped) => BatchMembers::Shaped(shaped.clone()),
            BatchMembers::Gathered(members) => BatchMembers::Gathered(members.clone()),
        };
        Self { members }
    }
}

impl<'a, T> BatchMut<'a, T> {
    /// Returns the view of `count` m x n matrices with leading dimension `ld`, of which the first begins at `data[0]`
    /// and each other one `stride` elements after the one before.
    ///
    /// # Errors
    /// If `ld < max(1, m)`, if the slice ends before the last element, or if a matrix begins before the last element
    /// of the one before. Matrices that lie side by side in a larger one can be [gathered](Self::gathered).
    pub fn strided(
        data: &'a mut [T],
        shape: (usize, usize),
        ld: usize,
        stride: usize,
        count: usize,
    ) -> Result<Self, ViewError> {
        let strided = StridedBatch::new(shape, ld, |span| MatMut::from_strided(data, (span, count), (1, stride)))?;
        Ok(Self { members: BatchMembers::Strided(strided) })
    }

    /// Returns the view of the m x n matrices that fill the slice, one behind the other.
    ///
    /// # Errors
    /// If the slice has a remainder, or the matrices have no elements.
    pub fn packed(data: &'a mut [T], shape: (usize, usize)) -> Result<Self, ViewError> {
        let count = count_in(data.len(), shape)?;
        Self::strided(data, shape, shape.0.max(1), shape.0.wrapping_mul(shape.1), count)
    }

    /// Returns the view of matrices of these shapes, which fill the slice, one behind the other. See
    /// [`BatchRef::shaped`].
    ///
    /// # Errors
    /// If the slice has another number of elements.
    pub fn shaped(data: &'a mut [T], shapes: &[(usize, usize)]) -> Result<Self, ViewError> {
        let len = data.len();
        let shaped = ShapedBatch::new(shapes, len, || MatMut::from_col_major(data, len, 1, len.max(1)))?;
        Ok(Self { members: BatchMembers::Shaped(shaped) })
    }

    batch!(BatchMut, MatMut);

    /// Returns matrix p.
    ///
    /// # Panics
    /// If there is no such matrix.
    #[must_use]
    pub fn get_mut(&mut self, p: usize) -> MatMut<'_, T> {
        let len = self.len();
        match &mut self.members {
            BatchMembers::Strided(strided) => {
                assert!(p < len, "matrix {p} of a batch of {len}");
                // The span of column p has exactly the elements of the matrix, and this batch is borrowed exclusively.
                MatMut { layout: strided.layout(strided.spans.layout.address(0, p)), borrow: PhantomData }
            }
            // The elements belong to this matrix alone, and this batch is borrowed exclusively.
            BatchMembers::Shaped(shaped) => {
                MatMut { layout: shaped.layout(shaped.elements.layout.ptr, p), borrow: PhantomData }
            }
            BatchMembers::Gathered(members) => members[p].rb_mut(),
        }
    }

    /// Returns all matrices.
    #[must_use]
    pub fn members_mut(&mut self) -> Vec<MatMut<'_, T>> {
        self.members_in_mut(0..self.len())
    }

    /// Returns the matrices of a range.
    pub(crate) fn members_in_mut(&mut self, range: Range<usize>) -> Vec<MatMut<'_, T>> {
        assert!(range.end <= self.len(), "matrices {range:?} of a batch of {}", self.len());
        match &mut self.members {
            BatchMembers::Strided(strided) => {
                // Spans of different columns do not overlap, so neither do the matrices in them.
                let member =
                    |p| MatMut { layout: strided.layout(strided.spans.layout.address(0, p)), borrow: PhantomData };
                range.map(member).collect()
            }
            BatchMembers::Shaped(shaped) => {
                // Members do not overlap.
                let address = shaped.elements.layout.ptr;
                let member = |p| MatMut { layout: shaped.layout(address, p), borrow: PhantomData };
                range.map(member).collect()
            }
            BatchMembers::Gathered(members) => members[range].iter_mut().map(MatMut::rb_mut).collect(),
        }
    }

    /// Reborrows this view: returns a mutable view of all matrices with a shorter lifetime.
    #[must_use]
    pub fn rb_mut(&mut self) -> BatchMut<'_, T> {
        let members = match &mut self.members {
            BatchMembers::Strided(StridedBatch { spans, shape, ld }) => {
                BatchMembers::Strided(StridedBatch { spans: spans.rb_mut(), shape: *shape, ld: *ld })
            }
            BatchMembers::Shaped(ShapedBatch { elements, members }) => {
                BatchMembers::Shaped(ShapedBatch { elements: elements.rb_mut(), members: members.clone() })
            }
            BatchMembers::Gathered(members) => BatchMembers::Gathered(members.iter_mut().map(MatMut::rb_mut).collect()),
        };
        BatchMut { members }
    }

    /// Borrows this view and returns an immutable one of all matrices.
    #[allow(clippy::should_implement_trait)] // AsRef returns a reference, and a view is not one.
    #[must_use]
    pub fn as_ref(&self) -> BatchRef<'_, T> {
        let members = match &self.members {
            BatchMembers::Strided(StridedBatch { spans, shape, ld }) => {
                BatchMembers::Strided(StridedBatch { spans: spans.as_ref(), shape: *shape, ld: *ld })
            }
            BatchMembers::Shaped(ShapedBatch { elements, members }) => {
                BatchMembers::Shaped(ShapedBatch { elements: elements.as_ref(), members: members.clone() })
            }
            BatchMembers::Gathered(members) => BatchMembers::Gathered(members.iter().map(MatMut::as_ref).collect()),
        };
        BatchRef { members }
    }
}

/// Where the matrices of a batch are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BatchPlacement {
    /// At constant distances in one slice.
    Strided {
        /// The numbers of rows and columns of each.
        shape: (usize, usize),
        /// Elements from one column to the next.
        ld: usize,
        /// Whether each matrix begins where the one before ends.
        is_packed: bool,
        /// The number of matrices.
        count: usize,
    },
    /// One behind the other in one slice: for each the number of its first element, and its shape.
    Shaped(Vec<(usize, (usize, usize))>),
    /// Anywhere: the shape of each.
    Gathered(Vec<(usize, usize)>),
}

impl BatchPlacement {
    /// Returns the numbers of rows and columns of matrix p.
    ///
    /// # Panics
    /// If matrices have different shapes, and there is no matrix p.
    #[must_use]
    pub fn shape(&self, p: usize) -> (usize, usize) {
        match self {
            Self::Strided { shape, .. } => *shape,
            Self::Shaped(members) => members[p].1,
            Self::Gathered(shapes) => shapes[p],
        }
    }

    /// Returns the number of matrices.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Strided { count, .. } => *count,
            Self::Shaped(members) => members.len(),
            Self::Gathered(shapes) => shapes.len(),
        }
    }

    /// Returns whether there is no matrix.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A batch as a task's operand: read-only, or changeable.
///
/// # Example
/// ```
/// use superscalar::kernels::{BatchMut, BatchView};
/// let mut data = [1.0, 2.0];
/// let mut view = BatchView::Mut(BatchMut::packed(&mut data, (1, 1))?);
/// assert_eq!(view.as_ref().get(1)[(0, 0)], 2.0);
/// assert!(view.as_mut().is_some());
/// # Ok::<(), superscalar::kernels::ViewError>(())
/// ```
pub enum BatchView<'a, T> {
    /// It can only be read.
    Ref(BatchRef<'a, T>),
    /// It can be changed.
    Mut(BatchMut<'a, T>),
}

impl<T> BatchView<'_, T> {
    /// Borrows this view and returns an immutable one of all matrices.
    #[allow(clippy::should_implement_trait)] // AsRef returns a reference, and a view is not one.
    #[must_use]
    pub fn as_ref(&self) -> BatchRef<'_, T> {
        match self {
            Self::Ref(batch) => batch.clone(),
            Self::Mut(batch) => batch.as_ref(),
        }
    }

    /// Borrows this view and returns a mutable one of all matrices, unless it can only be read.
    #[allow(clippy::should_implement_trait)] // AsMut returns a reference, and a view is not one.
    #[must_use]
    pub fn as_mut(&mut self) -> Option<BatchMut<'_, T>> {
        match self {
            Self::Ref(_) => None,
            Self::Mut(batch) => Some(batch.rb_mut()),
        }
    }
}

// SAFETY: views have no destructors, and that of their vector only frees its memory.
unsafe impl<T> View for BatchView<'_, T> {}

// SAFETY: the residence of a batch that may be changed is that of its spans or elements, which it borrows exclusively.
// Between the columns of a matrix lie elements that belong to nobody else: the batch was made from an exclusive slice,
// and is split between matrices only. A batch that is only read has a read-only residence.
unsafe impl<T: bytemuck::Pod> Portable for BatchView<'_, T> {
    /// Returns the memory of a batch in one slice: a column for each matrix, or one column if nothing lies between the
    /// matrices. Gathered batches stay on the host.
    fn residence(&self) -> Option<Residence<'_>> {
        let region = match self {
            Self::Ref(BatchRef { members: BatchMembers::Strided(strided) }) => strided.spans.layout.columns(),
            Self::Mut(BatchMut { members: BatchMembers::Strided(strided) }) => strided.spans.layout.columns(),
            Self::Ref(BatchRef { members: BatchMembers::Shaped(shaped) }) => shaped.elements.layout.columns(),
            Self::Mut(BatchMut { members: BatchMembers::Shaped(shaped) }) => shaped.elements.layout.columns(),
            _ => None,
        }?;
        // SAFETY: the view borrows these elements for as long as the residence borrows the view, exclusively if it may
        // change them, and any bytes are valid elements.
        Some(unsafe {
            match self {
                Self::Ref(_) => Residence::read_only(joined(region)),
                Self::Mut(_) => Residence::new(joined(region)),
            }
        })
    }
}
