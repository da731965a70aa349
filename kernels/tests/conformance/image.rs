//! The contents of a device's heap: operands at arbitrary offsets, between bytes that are all ones.
//!
//! These bytes are NaN in every type. A kernel that reads them shows NaN in its results; a kernel that writes them is
//! detected by comparing bytes.

use bytemuck::Pod;
use superscalar_kernels::device::Mat;
use superscalar_oracle::Random;

const GAP_WORD: u64 = u64::MAX;

/// The contents of a heap.
#[derive(Clone, Default)]
pub struct Image {
    words: Vec<u64>,
    /// The length of the operands, in bytes.
    used: usize,
}

impl Image {
    /// Places an m x n matrix after the others, with a random gap and leading dimension.
    pub fn place<E: Pod>(
        &mut self,
        numbers: &mut Random,
        (m, n): (usize, usize),
        mut element: impl FnMut(&mut Random, usize, usize) -> E,
    ) -> Mat<E> {
        let gap = [0, 1, 3, 8][numbers.below(4)];
        let ld = m.max(1) + [0, 1, 5, 16][numbers.below(4)];
        let mat = Mat::at(self.used.div_ceil(size_of::<E>()) + gap, (m, n), ld);
        // An element after the matrix belongs to no operand.
        self.used = (mat.offset + ld * n + 1) * size_of::<E>();
        self.words.resize(self.used.div_ceil(8), GAP_WORD);
        for j in 0..n {
            for i in 0..m {
                self.set(mat, i, j, element(numbers, i, j));
            }
        }
        mat
    }

    pub fn bytes(&self) -> &[u8] {
        bytemuck::cast_slice(&self.words)
    }

    pub fn bytes_mut(&mut self) -> &mut [u8] {
        bytemuck::cast_slice_mut(&mut self.words)
    }

    pub fn at<E: Pod>(&self, mat: Mat<E>, i: usize, j: usize) -> E {
        bytemuck::pod_read_unaligned(&self.bytes()[Self::range(mat, i, j)])
    }

    pub fn set<E: Pod>(&mut self, mat: Mat<E>, i: usize, j: usize, value: E) {
        self.bytes_mut()[Self::range(mat, i, j)].copy_from_slice(bytemuck::bytes_of(&value));
    }

    /// Returns the elements of a matrix, column by column.
    pub fn elements<E: Pod>(&self, mat: Mat<E>) -> Vec<E> {
        (0..mat.m * mat.n).map(|at| self.at(mat, at % mat.m, at / mat.m)).collect()
    }

    fn range<E>(mat: Mat<E>, i: usize, j: usize) -> std::ops::Range<usize> {
        let start = (mat.offset + i + j * mat.ld) * size_of::<E>();
        start..start + size_of::<E>()
    }
}
