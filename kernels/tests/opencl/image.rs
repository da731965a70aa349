//! [`Image`]: what lies at a heap's start, kept on the host, with operands at odd places and sentinels around them.

use crate::heap::Heap;
use superscalar_kernels::accuracy::largest;
use superscalar_kernels::{
    MatMut, MatRef, Real, Scalar,
    device::{Call, Mat},
    opencl::{Parameters, enqueue_with, scratch_bytes_with},
};
use superscalar_runtime::DeviceError;

/// What surrounds an operand; no kernel may write it.
const SENTINEL: f64 = 77.0;
/// Elements behind the scratch memory that nobody may write.
const GUARD: usize = 64;

/// How results are compared.
#[derive(Clone, Copy, Debug)]
pub enum Agreement {
    /// Equal, NaN with NaN.
    Exact,
    /// Not finite at the same elements, and equal elsewhere.
    Finite,
    /// Within so many roundoffs of the largest element.
    Close(f64),
}

/// Elements from the heap's start on.
#[derive(Clone)]
pub struct Image<T> {
    pub data: Vec<T>,
    state: u64,
}

impl<T: Scalar> Image<T> {
    pub fn new(seed: u64) -> Self {
        Self { data: Vec::new(), state: seed }
    }

    /// The next of a sequence of numbers.
    pub fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        self.state >> 33
    }

    /// A small integer, of which products and sums are exact in every type.
    pub fn integer(&mut self) -> T {
        let mut part = || T::Real::from_f64((self.next() % 7) as f64 - 3.0);
        T::from_parts(part(), part())
    }

    /// A number whose parts are in [-1, 1).
    pub fn random(&mut self) -> T {
        let mut part = || T::Real::from_f64(self.next() as f64 / f64::powi(2.0, 30) - 1.0);
        T::from_parts(part(), part())
    }

    /// A new m x n matrix behind what there is, of these elements.
    pub fn place(&mut self, (m, n): (usize, usize), mut element: impl FnMut(&mut Self, usize, usize) -> T) -> Mat<T> {
        let (gap, padding) = ((self.next() % 4) as usize, [0, 0, 1, 5][(self.next() % 4) as usize]);
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
        Ok(Self { data: all, state: self.state })
    }

    /// Runs the call, and fails unless the image is what the reference makes of it. The reference gets the image as it was, and the
    /// operand to write.
    pub fn agrees(
        &self,
        heap: &Heap,
        parameters: &Parameters,
        (call, written): (&Call<T>, Mat<T>),
        agreement: Agreement,
        reference: impl FnOnce(&Self, MatMut<'_, T>),
    ) {
        let mut expected = self.clone();
        reference(self, expected.view_mut(written));
        let found = self.after(heap, parameters, call);
        let found = found.unwrap_or_else(|error| panic!("{error}: {call:?} with {parameters:?}"));
        let magnitude = |x: &T| Some(x.abs().to_f64()).filter(|x| x.is_finite());
        let size = largest(expected.view(written).to_vec().iter().filter_map(magnitude));
        for (at, (&x, &y)) in found.data.iter().zip(&expected.data).enumerate() {
            let same = x == y || (x.is_nan() && y.is_nan());
            let fits = match agreement {
                Agreement::Exact => same,
                Agreement::Finite => is_finite(x) == is_finite(y) && (!is_finite(x) || x == y),
                Agreement::Close(bound) => same || (x - y).abs().to_f64() <= bound * T::EPSILON.to_f64() * size,
            };
            assert!(fits, "{x} for {y} at {at}, {agreement:?}: {call:?} with {parameters:?}");
        }
    }
}

fn is_finite<T: Scalar>(x: T) -> bool {
    x.re().to_f64().is_finite() && x.im().to_f64().is_finite()
}
