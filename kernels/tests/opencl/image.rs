//! [`Image`]: what lies at a heap's start, kept on the host, with operands at odd places and sentinels around them.

use crate::heap::Heap;
use superscalar_kernels::{
    MatMut, MatRef, Scalar,
    device::{Call, Mat},
    opencl::{Parameters, enqueue_with, scratch_bytes_with},
};
use superscalar_oracle::{Nearness, Random, largest, modulus};
use superscalar_runtime::DeviceError;

/// What surrounds an operand; no kernel may write it.
const SENTINEL: f64 = 77.0;
/// Elements behind the scratch memory that nobody may write.
const GUARD: usize = 64;

/// Elements from the heap's start on.
#[derive(Clone)]
pub struct Image<T> {
    pub data: Vec<T>,
    pub numbers: Random,
}

impl<T: Scalar> Image<T> {
    pub fn new(seed: u64) -> Self {
        Self { data: Vec::new(), numbers: Random::new(seed) }
    }

    /// A small integer, of which products and sums are exact in every type.
    pub fn integer(&mut self) -> T {
        self.numbers.integer()
    }

    /// A number whose parts are in [-1, 1).
    pub fn random(&mut self) -> T {
        self.numbers.fraction()
    }

    /// A new m x n matrix behind what there is, of these elements.
    pub fn place(&mut self, (m, n): (usize, usize), mut element: impl FnMut(&mut Self, usize, usize) -> T) -> Mat<T> {
        let (gap, padding) = (self.numbers.below(4), [0, 0, 1, 5][self.numbers.below(4)]);
        let (offset, ld) = (self.data.len() + gap, (m + padding).max(1));
        let end = offset + ld * n + 1;
        self.data.resize(end, T::from_f64(SENTINEL));
        for (i, j) in (0..n).flat_map(|j| (0..m).map(move |i| (i, j))) {
            let x = element(self, i, j);
            self.data[offset + i + j * ld] = x;
        }
        Mat::at(offset, (m, n), ld)
    }

    /// Such a matrix of small integers.
    pub fn integers(&mut self, shape: (usize, usize)) -> Mat<T> {
        self.place(shape, |image, _, _| image.integer())
    }

    /// `ipiv`, in the elements' memory.
    pub fn indices(&mut self, indices: &[i32]) -> Mat<i32> {
        let per_element = size_of::<T>() / 4;
        let offset = self.data.len();
        self.data.resize(offset + indices.len().div_ceil(per_element), T::ZERO);
        let offset = offset * per_element;
        bytemuck::cast_slice_mut::<T, i32>(&mut self.data)[offset..offset + indices.len()].copy_from_slice(indices);
        Mat::at(offset, (indices.len(), 1), indices.len().max(1))
    }

    pub fn view(&self, a: Mat<T>) -> MatRef<'_, T> {
        MatRef::from_col_major(&self.data[a.offset..], a.m, a.n, a.ld).expect("operands fit")
    }

    pub fn view_mut(&mut self, a: Mat<T>) -> MatMut<'_, T> {
        MatMut::from_col_major(&mut self.data[a.offset..], a.m, a.n, a.ld).expect("operands fit")
    }

    /// The image after the call was run on the device, with exactly the scratch memory that it asks for, full of NaN.
    ///
    /// # Panics
    /// If what lies behind the scratch memory has changed.
    pub fn after(&self, heap: &Heap, parameters: &Parameters, call: &Call<T>) -> Result<Self, DeviceError> {
        let size = size_of::<T>();
        let scratch = (self.data.len() * size).next_multiple_of(128);
        let scratch = scratch..scratch + scratch_bytes_with(parameters, call);
        let mut all = self.data.clone();
        all.resize(scratch.end / size + GUARD, T::from_f64(f64::NAN));
        heap.write(bytemuck::cast_slice(&all));
        heap.run(|queue| enqueue_with(parameters, queue, scratch.clone(), call))?;
        heap.read(bytemuck::cast_slice_mut(&mut all));
        let guard = all.split_off(scratch.end.div_ceil(size));
        assert!(guard.iter().all(|x| x.is_nan()), "written behind the scratch memory: {call:?}");
        all.truncate(self.data.len());
        Ok(Self { data: all, numbers: self.numbers.clone() })
    }

    /// Runs the call, and fails unless the image is what the reference makes of it. The reference gets the image as it was, and the
    /// operand to write.
    pub fn agrees(
        &self,
        heap: &Heap,
        parameters: &Parameters,
        (call, written): (&Call<T>, Mat<T>),
        nearness: Nearness,
        reference: impl FnOnce(&Self, MatMut<'_, T>),
    ) {
        let mut expected = self.clone();
        reference(self, expected.view_mut(written));
        let found = self.after(heap, parameters, call);
        let found = found.unwrap_or_else(|error| panic!("{error}: {call:?} with {parameters:?}"));
        let magnitude = |x: &T| Some(modulus(*x)).filter(|x| x.is_finite());
        let size = largest(expected.view(written).to_vec().iter().filter_map(magnitude));
        for (at, (&x, &y)) in found.data.iter().zip(&expected.data).enumerate() {
            assert!(nearness.fits(x, y, size), "{x} for {y} at {at}, {nearness:?}: {call:?} with {parameters:?}");
        }
    }
}
