//! [`Packed`]: one operand of all problems, in one slice.

use std::ops::DerefMut;
use superscalar_kernels::{BatchMut, BatchRef, MatMut, MatRef, ViewError};

/// One operand of all problems: matrices one behind the other, each column followed by `ld_pad` sentinels.
pub struct Packed<D> {
    data: D,
    shapes: Vec<(usize, usize)>,
    /// The first element of each matrix, and the number of elements.
    starts: Vec<usize>,
    ld_pad: usize,
}

/// Returns where matrices of these shapes begin, and the end. `None` if the number is too large.
pub fn starts(shapes: &[(usize, usize)], ld_pad: usize) -> Option<Vec<usize>> {
    let (mut starts, mut end) = (vec![0], 0usize);
    for &(m, n) in shapes {
        end = end.checked_add(rows(m, ld_pad)?.checked_mul(n)?)?;
        starts.push(end);
    }
    Some(starts)
}

/// Returns the distance of the columns. A matrix without rows has no padding either.
fn rows(m: usize, ld_pad: usize) -> Option<usize> {
    if m == 0 { Some(0) } else { m.checked_add(ld_pad) }
}

impl<E: Copy, D: DerefMut<Target = [E]>> Packed<D> {
    /// Makes the operand of matrices of these shapes in this memory, which has as many elements as they.
    pub fn new(data: D, shapes: Vec<(usize, usize)>, starts: Vec<usize>, ld_pad: usize) -> Self {
        assert_eq!((starts.len(), starts.last()), (shapes.len() + 1, Some(&data.len())), "memory for these matrices");
        Self { data, shapes, starts, ld_pad }
    }

    /// Returns the elements of matrix p with the sentinels below its columns.
    pub fn get(&self, p: usize) -> &[E] {
        &self.data[self.starts[p]..self.starts[p + 1]]
    }

    pub fn get_mut(&mut self, p: usize) -> &mut [E] {
        &mut self.data[self.starts[p]..self.starts[p + 1]]
    }

    /// Copies all elements of another operand of the same shapes.
    pub fn restore(&mut self, original: &[E]) {
        self.data.copy_from_slice(original);
    }

    pub fn elements(&self) -> &[E] {
        &self.data
    }

    pub fn shapes(&self) -> &[(usize, usize)] {
        &self.shapes
    }

    /// Returns the first element of each matrix, and the end.
    pub fn starts(&self) -> &[usize] {
        &self.starts
    }

    /// Returns whether there are sentinels behind the columns.
    pub fn has_padding(&self) -> bool {
        self.ld_pad > 0
    }

    /// Returns the shape that all matrices have.
    pub fn uniform_shape(&self) -> Option<(usize, usize)> {
        let &first = self.shapes.first()?;
        self.shapes.iter().all(|&shape| shape == first).then_some(first)
    }

    /// Returns the addresses of all matrices.
    pub fn addresses(&mut self) -> impl Fn(usize) -> *mut E {
        let first = self.data.as_mut_ptr();
        move |p| first.wrapping_add(self.starts[p])
    }

    /// Returns the view as a user would make it: strided if the shapes are equal, gathered if there is padding.
    pub fn batch_ref(&self) -> BatchRef<'_, E> {
        fits(self.try_batch_ref())
    }

    /// Returns the mutable view, as [`batch_ref`](Self::batch_ref) does.
    pub fn batch_mut(&mut self) -> BatchMut<'_, E> {
        fits(self.try_batch_mut())
    }

    fn try_batch_ref(&self) -> Result<BatchRef<'_, E>, ViewError> {
        if let Some((m, n)) = self.uniform_shape() {
            let (ld, stride) = (rows(m, self.ld_pad).unwrap_or(m), self.starts[1]);
            return BatchRef::strided(&self.data, (m, n), ld.max(1), stride, self.shapes.len());
        }
        if self.ld_pad == 0 {
            return BatchRef::shaped(&self.data, &self.shapes);
        }
        let view = |p: usize| {
            let (m, n) = self.shapes[p];
            MatRef::from_col_major(self.get(p), m, n, (m + self.ld_pad).max(1))
        };
        Ok(BatchRef::gathered((0..self.shapes.len()).map(view).collect::<Result<_, _>>()?))
    }

    fn try_batch_mut(&mut self) -> Result<BatchMut<'_, E>, ViewError> {
        if let Some((m, n)) = self.uniform_shape() {
            let (ld, stride) = (rows(m, self.ld_pad).unwrap_or(m), self.starts[1]);
            return BatchMut::strided(&mut self.data, (m, n), ld.max(1), stride, self.shapes.len());
        }
        if self.ld_pad == 0 {
            return BatchMut::shaped(&mut self.data, &self.shapes);
        }
        let (mut rest, mut views) = (&mut *self.data, Vec::with_capacity(self.shapes.len()));
        for (&(m, n), ends) in self.shapes.iter().zip(self.starts.windows(2)) {
            let (matrix, others) = std::mem::take(&mut rest).split_at_mut(ends[1] - ends[0]);
            views.push(MatMut::from_col_major(matrix, m, n, (m + self.ld_pad).max(1))?);
            rest = others;
        }
        Ok(BatchMut::gathered(views))
    }
}

fn fits<V>(view: Result<V, ViewError>) -> V {
    match view {
        Ok(view) => view,
        Err(error) => unreachable!("the memory was allocated for these shapes: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(shapes: &[(usize, usize)], ld_pad: usize) -> Packed<Vec<f64>> {
        let starts = starts(shapes, ld_pad).expect("few elements");
        let data = (0..*starts.last().expect("an end")).map(|at| at as f64).collect();
        Packed::new(data, shapes.to_vec(), starts, ld_pad)
    }

    #[test]
    fn views_have_the_elements_of_each_matrix() {
        for shapes in [vec![(2, 3); 4], vec![(1, 1), (2, 3), (0, 2), (3, 0), (2, 2)], vec![(0, 2); 3], vec![]] {
            for ld_pad in [0, 2] {
                let mut packed = packed(&shapes, ld_pad);
                let first: Vec<f64> = packed.starts.iter().map(|&start| start as f64).collect();
                let view = packed.batch_ref();
                assert_eq!(view.len(), shapes.len());
                for (p, &(m, n)) in shapes.iter().enumerate() {
                    assert_eq!(view.shape(p), (m, n));
                    if m * n > 0 {
                        let last = first[p] + ((m + ld_pad) * (n - 1) + m - 1) as f64;
                        assert_eq!((view.get(p).at(0, 0), view.get(p).at(m - 1, n - 1)), (first[p], last));
                    }
                }
                let mut view = packed.batch_mut();
                (0..view.len()).for_each(|p| view.get_mut(p).fill(-1.0));
                let changed = packed.data.iter().filter(|element| **element < 0.0).count();
                assert_eq!(changed, shapes.iter().map(|(m, n)| m * n).sum::<usize>(), "padding is kept");
            }
        }
    }

    #[test]
    fn too_many_elements_are_noticed() {
        assert_eq!(starts(&[(usize::MAX, 2)], 0), None);
        assert_eq!(starts(&[(usize::MAX, 1)], 1), None);
    }
}
