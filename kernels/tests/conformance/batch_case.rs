//! A call on a batch under construction, and its comparison with the host's kernels.

use super::{Image, Suite};
use bytemuck::Pod;
use std::sync::Arc;
use superscalar_kernels::{
    MatMut, Real as _, Scalar,
    device::{Call, Mat},
    elements_spanned,
    operations::{BatchCall, BatchLayout, BatchMat, BatchMember, BatchOperation, BatchShapes, TABLE_ROWS},
};
use superscalar_oracle::{Random, identical, is_finite, largest};

/// The shapes of one operand: of each problem, in the order of their numbers.
pub type Shapes = Vec<(usize, usize)>;

/// A batch call under construction.
pub struct Case<'s, 'r, T: Scalar> {
    pub suite: &'s mut Suite<'r, T>,
    pub image: Image,
    pub call: BatchCall<T>,
    /// The problem that has a NaN in an operand.
    pub spoiled: Option<usize>,
    /// The order of the problems in tables, if each has its own shapes.
    order: Option<Vec<usize>>,
    count: usize,
}

impl<'s, 'r, T: Scalar> Case<'s, 'r, T> {
    pub fn new(suite: &'s mut Suite<'r, T>, operation: BatchOperation<T>, count: usize, is_varied: bool) -> Self {
        let mut order: Vec<usize> = (0..count).collect();
        (1..count).for_each(|i| order.swap(i, suite.numbers.below(i + 1)));
        let (read, updated, written, reals) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let call = BatchCall { operation, read, updated, written, reals, pivots: None, info: None };
        Self { suite, image: Image::default(), call, spoiled: None, order: is_varied.then_some(order), count }
    }

    /// Places a batch; `fill` gets the number of the problem and a matrix of NaN.
    pub fn place<E: Pod>(
        &mut self,
        shapes: &Shapes,
        mut fill: impl FnMut(&mut Random, usize, MatMut<'_, E>),
    ) -> BatchMat<E> {
        assert_eq!(shapes.len(), self.count);
        let numbers = &mut self.suite.numbers;
        let nan: E = bytemuck::pod_read_unaligned(&[0xff; 16][..size_of::<E>()]);
        let mut matrix = |numbers: &mut Random, p: usize, ld: usize| {
            let (m, n) = shapes[p];
            let mut data = vec![nan; ld * n];
            fill(numbers, p, MatMut::from_col_major(&mut data, m, n, ld).expect("a matrix"));
            data
        };
        let Some(order) = &self.order else {
            let (m, n) = shapes.first().copied().unwrap_or_default();
            let ld = m.max(1) + [0, 0, 1, 4][numbers.below(4)];
            let span = elements_spanned((m, n), ld).expect("a small matrix");
            let mut data = Vec::new();
            let spans = self.image.place(numbers, (span, self.count), |numbers, i, p| {
                if i == 0 {
                    data = matrix(numbers, p, ld);
                }
                data[i]
            });
            let shapes = BatchShapes::Uniform { stride: spans.ld, count: self.count };
            return BatchMat { first: Mat::at(spans.offset, (m, n), ld), shapes };
        };
        let (mut data, mut members) =
            (Vec::new(), vec![BatchMember { offset: 0, shape: (0, 0), ld: 1, number: 0 }; self.count]);
        for (number, &shape) in shapes.iter().enumerate() {
            data.resize(data.len() + [0, 1, 2, 7][numbers.below(4)], nan);
            let ld = shape.0.max(1) + [0, 0, 1, 4][numbers.below(4)];
            members[number] = BatchMember { offset: data.len(), shape, ld, number };
            data.extend(matrix(numbers, number, ld));
        }
        let members: Vec<BatchMember> = order.iter().map(|&number| members[number]).collect();
        let elements = self.image.place(numbers, (data.len(), 1), |_, i, _| data[i]);
        let layout = BatchLayout::new(members).expect("they do not overlap");
        let table = layout.table();
        let table = self.image.place(numbers, (table.len(), 1), |_, i, _| table[i]);
        let table = Mat::at(table.offset, (TABLE_ROWS, self.count), TABLE_ROWS);
        let (m, n) = layout.largest();
        let first = Mat::at(elements.offset, (m, n), m.max(1));
        BatchMat { first, shapes: BatchShapes::Varied { layout: Arc::new(layout), table } }
    }

    pub fn read(&mut self, shapes: &Shapes, fill: impl FnMut(&mut Random, usize, MatMut<'_, T>)) {
        let batch = self.place(shapes, fill);
        self.call.read.push(batch);
    }

    pub fn update(&mut self, shapes: &Shapes, fill: impl FnMut(&mut Random, usize, MatMut<'_, T>)) {
        let batch = self.place(shapes, fill);
        self.call.updated.push(batch);
    }

    /// Places columns that are written, of these lengths.
    pub fn write<E: Pod>(&mut self, lengths: impl Iterator<Item = usize>) -> BatchMat<E> {
        let shapes = lengths.map(|len| (len, 1)).collect();
        self.place(&shapes, |_, _, _| ())
    }

    pub fn with_info(&mut self) {
        self.call.info = Some(self.image.place(&mut self.suite.numbers, (self.count, 1), |_, _, _| -7));
    }

    /// Runs the call.
    #[cfg(feature = "cuda")]
    pub fn run(mut self) {
        let call = Call::Batch(Box::new(self.call));
        self.suite.attempt(&call, &mut self.image).unwrap_or_else(|error| panic!("{error}: {call:?}"));
    }

    /// Runs the call and compares it with the host's, within this many roundoffs times the largest dimension. `keeps`
    /// says which of the updated matrices must be compared after a failure.
    pub fn check(self, bound: f64, compares_failed: [bool; 2]) {
        let call = Call::Batch(Box::new(self.call.clone()));
        call.check().unwrap_or_else(|error| panic!("{error}: {call:?}"));
        let (mut found, mut expected) = (self.image.clone(), self.image.clone());
        self.suite.attempt(&call, &mut found).unwrap_or_else(|error| panic!("{error}: {call:?}"));
        call.run_in(expected.bytes_mut()).expect("the host computes it");
        let what = |p: usize| {
            format!("{} {:?} problem {p} of {}", self.call.operation.name(), self.call.operation, self.count)
        };
        // What must be equal is compared, and then made equal, so that all other bytes can be compared at once.
        let info = self.call.info.map(|info| (found.elements(info), expected.elements(info), info));
        let has_failed = |p: usize| info.as_ref().is_some_and(|info| info.1[p] != 0);
        if let Some((found, expected, _)) = &info {
            let differs = found.iter().zip(expected).position(|(x, y)| x != y);
            assert_eq!(differs, None, "{}: info {found:?}, expected {expected:?}", what(differs.unwrap_or(0)));
        }
        if let Some(pivots) = self.call.pivots.clone() {
            for (p, mat) in members(&pivots) {
                assert_eq!(found.elements(mat), expected.elements(mat), "{}: interchanges", what(p));
            }
        }
        let images = (&self.image, &expected);
        let comparison = |p| match self.call.operation {
            _ if self.spoiled != Some(p) => Comparison::Near(bound),
            BatchOperation::Gemm { .. } => Comparison::Spoiled(bound),
            _ => Comparison::SpoiledAnyhow(bound),
        };
        for (batch, compares_failed) in self.call.updated.iter().zip(compares_failed) {
            for (p, mat) in members(batch) {
                let compares = compares_failed || !has_failed(p);
                let comparison = if compares { comparison(p) } else { Comparison::Nothing };
                near(&mut found, images, mat, comparison, || what(p));
            }
        }
        let written = self.call.written.iter().flat_map(members);
        written.for_each(|(p, mat)| near(&mut found, images, mat, comparison(p), || what(p)));
        let reals = self.call.reals.iter().flat_map(members);
        reals.for_each(|(p, mat)| near(&mut found, images, mat, comparison(p), || what(p)));
        let differs = found.bytes().iter().zip(expected.bytes()).position(|(x, y)| x != y);
        assert_eq!(differs, None, "{}: a byte that must not change", what(0));
    }
}

/// Returns the matrices of a batch with the numbers of their problems.
pub fn members<E>(batch: &BatchMat<E>) -> Vec<(usize, Mat<E>)> {
    let start = batch.first.offset;
    match &batch.shapes {
        BatchShapes::Uniform { stride, count } => {
            (0..*count).map(|p| (p, Mat::at(start + p * stride, batch.first.shape(), batch.first.ld))).collect()
        }
        BatchShapes::Varied { layout, .. } => {
            let members = layout.members().iter();
            members.map(|member| (member.number, Mat::at(start + member.offset, member.shape, member.ld))).collect()
        }
    }
}

/// How the elements of a matrix are compared with the expected ones.
#[derive(Clone, Copy, Debug)]
pub enum Comparison {
    /// They are not.
    Nothing,
    /// Finite ones are within this many roundoffs times the largest dimension. Others are as they were before, on both
    /// sides, as in a triangle that is not read: so a result that overflows is wrong.
    Near(f64),
    /// Like `Near` with NaN at the same elements.
    Spoiled(f64),
    /// Like `Spoiled`, if both sides have NaN at the same elements. Otherwise only a NaN that is lost is found: how the
    /// NaN of a factorized matrix spreads depends on the order of operations.
    SpoiledAnyhow(f64),
}

/// Compares a matrix, and then makes it the expected one.
pub fn near<E: Scalar>(
    found: &mut Image,
    (before, expected): (&Image, &Image),
    mat: Mat<E>,
    comparison: Comparison,
    what: impl Fn() -> String,
) {
    let (values, wanted, old) = (found.elements::<E>(mat), expected.elements::<E>(mat), before.elements::<E>(mat));
    let size = largest(wanted.iter().filter(|x| is_finite(**x)).map(|x| x.abs().to_f64()));
    let is_within = |bound: f64, x: E, y: E| {
        (x - y).abs().to_f64() <= bound * (mat.m.max(mat.n) + 4) as f64 * E::EPSILON.to_f64() * size
    };
    let is_spread_alike = values.iter().zip(&wanted).all(|(&x, &y)| is_finite(x) == is_finite(y));
    let is_lost = values.iter().all(|&x| is_finite(x)) && wanted.iter().any(|&y| !is_finite(y));
    let bits = |x: &E| bytemuck::bytes_of(x).to_vec();
    for (at, (&x, &y)) in values.iter().zip(&wanted).enumerate() {
        let fits = match comparison {
            Comparison::Nothing => true,
            Comparison::Near(bound) if is_finite(y) => is_within(bound, x, y),
            Comparison::Near(_) => bits(&x) == bits(&old[at]) && bits(&y) == bits(&old[at]),
            Comparison::Spoiled(bound) => identical(x, y) || is_within(bound, x, y),
            Comparison::SpoiledAnyhow(bound) => {
                !is_lost && (!is_spread_alike || identical(x, y) || is_within(bound, x, y))
            }
        };
        let (i, j) = (at % mat.m, at / mat.m);
        assert!(fits, "{}: {x} for {y} at ({i}, {j}), largest {size}", what());
        found.set(mat, i, j, y);
    }
}
