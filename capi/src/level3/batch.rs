//! Batches of products, with C's interface: `cblas_?gemm_batch` for groups of products of equal shape whose addresses
//! are in tables, and `cblas_?gemm_batch_strided` for matrices at constant strides.
//!
//! A large product is computed as by gemm. The small ones are divided into tasks of about equal work, whose products
//! are computed together by the kernels for batches.

use super::{GemmShape, multiplications, stored_shape};
use crate::{
    abi::{Checked, Code, DlaScalar, Layout, Letter, MatMut, MatRef, Op, Size, check, matrix, matrix_mut},
    engine::{Engine, engine_for_product},
    rows::swapped,
    settings::settings,
};
use superscalar::{
    dla::{
        self,
        batch::{self, Chunked, Chunks},
    },
    kernels::{
        BatchMut, BatchRef,
        operations::{BatchOperands, BatchOperation},
    },
};
use superscalar_macros::cblas;

/// What products must have in common to be computed together.
#[derive(Clone, Copy, PartialEq)]
struct GemmKind<T> {
    ops: (Op, Op),
    alpha: T,
    beta: T,
    /// Whether each is computed as by gemm.
    is_large: bool,
}

/// C := alpha op(A) op(B) + beta C for each problem of a batch.
struct Gemms<'a, T> {
    kind: GemmKind<T>,
    a: BatchRef<'a, T>,
    b: BatchRef<'a, T>,
    c: BatchMut<'a, T>,
}

impl<T: DlaScalar> Gemms<'_, T> {
    /// Returns the number of multiplications of product p.
    fn multiplications(&self, p: usize) -> u64 {
        let ((m, n), (rows, cols)) = (self.c.shape(p), self.a.shape(p));
        let depth = if self.kind.ops.0 == Op::None { cols } else { rows };
        (m as u64).saturating_mul(n as u64).saturating_mul(depth as u64)
    }

    fn all_multiplications(&self) -> u64 {
        (0..self.c.len()).map(|p| self.multiplications(p)).fold(0, u64::saturating_add)
    }

    /// Splits off the last products, which have about this number of multiplications.
    fn split_off(self, part: u64) -> (Self, Self) {
        let mut sum = 0_u64;
        let last = (0..self.c.len()).rev().take_while(|&p| {
            let is_in = sum < part;
            sum = sum.saturating_add(self.multiplications(p).max(1));
            is_in
        });
        let (at, kind) = (self.c.len() - last.count(), self.kind);
        let ((a, last_a), (b, last_b), (c, last_c)) = (self.a.split_at(at), self.b.split_at(at), self.c.split_at(at));
        (Self { kind, a, b, c }, Self { kind, a: last_a, b: last_b, c: last_c })
    }
}

/// The arguments that the products of a group share.
struct GemmGroup<T> {
    layout: Layout,
    ops: (Op, Op),
    shape: GemmShape,
    alpha: T,
    beta: T,
    lds: LeadingDimensions,
}

/// The leading dimensions of A, B and C.
#[derive(Clone, Copy)]
struct LeadingDimensions {
    a: Size,
    b: Size,
    c: Size,
}

impl<T: DlaScalar> GemmGroup<T> {
    /// Checks the two operations, three sizes and three leading dimensions; `at` has their positions.
    fn check(&self, (transa, transb): (Letter, Letter), at: [i32; 8]) -> Checked {
        let GemmShape { m, n, k } = self.shape;
        let by_columns = self.layout == Layout::ColMajor;
        // In a row-major matrix the leading dimension spans the columns.
        let spans = |ld: Size, op: Op, rows: Size, cols: Size| {
            ld.spans(if (op == Op::None) == by_columns { rows } else { cols })
        };
        check(&[
            (at[0], transa.op().is_some()),
            (at[1], transb.op().is_some()),
            (at[2], m.is_valid()),
            (at[3], n.is_valid()),
            (at[4], k.is_valid()),
            (at[5], spans(self.lds.a, self.ops.0, m, k)),
            (at[6], spans(self.lds.b, self.ops.1, k, n)),
            (at[7], spans(self.lds.c, Op::None, m, n)),
        ])
    }

    /// Returns what is common to the products of this group.
    fn kind(&self) -> GemmKind<T> {
        let GemmShape { m, n, k } = self.shape;
        let is_large = multiplications(m, n, k) > settings().threshold;
        // A row-major product is that of the transposes in reverse order.
        GemmKind { ops: swapped(self.layout, self.ops), alpha: self.alpha, beta: self.beta, is_large }
    }

    /// Returns the shapes and leading dimensions of A, B and C in the column-major product, in which A and B of a
    /// row-major product are exchanged.
    fn stored(&self) -> [GemmOperand; 3] {
        let Self { layout, shape: GemmShape { m, n, k }, lds, .. } = *self;
        let (m, n) = swapped(layout, (m, n));
        let ((op_a, lda), (op_b, ldb)) = swapped(layout, ((self.ops.0, lds.a), (self.ops.1, lds.b)));
        [(stored_shape(op_a, (m, k)), lda), (stored_shape(op_b, (k, n)), ldb), ((m, n), lds.c)]
            .map(|(shape, ld)| GemmOperand { shape, ld })
    }

    /// Returns A, B and C of the column-major product of the matrices at these addresses.
    ///
    /// # Safety
    /// The addresses satisfy the requirements of Level 3 during `'a`, and `check` has accepted the group.
    unsafe fn product<'a>(&self, a: *const T, b: *const T, c: *mut T) -> (MatRef<'a, T>, MatRef<'a, T>, MatMut<'a, T>) {
        let ([of_a, of_b, of_c], (a, b)) = (self.stored(), swapped(self.layout, (a, b)));
        // SAFETY: the caller guarantees that the matrices are valid and not written elsewhere, and that the leading
        // dimensions were checked.
        unsafe {
            let (a, b) = (matrix(a, of_a.shape, of_a.ld), matrix(b, of_b.shape, of_b.ld));
            (a, b, matrix_mut(c, of_c.shape, of_c.ld))
        }
    }
}

/// A column-major matrix in memory.
#[derive(Clone, Copy)]
struct GemmOperand {
    shape: (Size, Size),
    ld: Size,
}

impl GemmOperand {
    /// Returns the shape and the stride of matrices without gaps between columns, or `None` for other matrices, and
    /// for a negative stride.
    fn packed(self, stride: Size) -> Option<((usize, usize), usize)> {
        let (m, n) = self.shape;
        let is_packed = stride.is_valid() && (self.ld == m || n == Size::ONE);
        is_packed.then(|| ((m.get(), n.get()), stride.get()))
    }

    /// Returns `count` such matrices at a constant stride.
    ///
    /// # Safety
    /// During `'a` the elements are valid for reading, and nothing writes them.
    unsafe fn batch<'a, T>(self, first: *const T, stride: Size, count: usize) -> BatchRef<'a, T> {
        let packed = self.packed(stride);
        // SAFETY: the caller guarantees that the elements are readable and not written during `'a`.
        let packed = packed.and_then(|(shape, stride)| unsafe { BatchRef::from_raw(first, shape, stride, count) }.ok());
        packed.unwrap_or_else(|| {
            let at = |p: usize| first.wrapping_offset((p as isize).wrapping_mul(stride.stride()));
            // SAFETY: the caller guarantees that the elements are readable and not written during `'a`.
            BatchRef::gathered((0..count).map(|p| unsafe { matrix(at(p), self.shape, self.ld) }).collect())
        })
    }

    /// Returns `count` such matrices at a constant stride, which are written.
    ///
    /// # Safety
    /// During `'a` the elements are valid for reading and writing, and nothing else accesses them. The matrices are
    /// disjoint.
    unsafe fn batch_mut<'a, T>(self, first: *mut T, stride: Size, count: usize) -> BatchMut<'a, T> {
        let packed = self.packed(stride);
        // SAFETY: the caller guarantees exclusive access to the elements during `'a`.
        let packed = packed.and_then(|(shape, stride)| unsafe { BatchMut::from_raw(first, shape, stride, count) }.ok());
        packed.unwrap_or_else(|| {
            let at = |p: usize| first.wrapping_offset((p as isize).wrapping_mul(stride.stride()));
            // SAFETY: the caller guarantees exclusive access to the elements during `'a`, and that the matrices are
            // disjoint.
            BatchMut::gathered((0..count).map(|p| unsafe { matrix_mut(at(p), self.shape, self.ld) }).collect())
        })
    }
}

/// Products that are gathered one by one.
struct GatheredGemms<'a, T> {
    kind: GemmKind<T>,
    a: Vec<MatRef<'a, T>>,
    b: Vec<MatRef<'a, T>>,
    c: Vec<MatMut<'a, T>>,
}

impl<'a, T: DlaScalar> GatheredGemms<'a, T> {
    fn new(kind: GemmKind<T>) -> Self {
        Self { kind, a: Vec::new(), b: Vec::new(), c: Vec::new() }
    }

    fn push(&mut self, (a, b, c): (MatRef<'a, T>, MatRef<'a, T>, MatMut<'a, T>)) {
        self.a.push(a);
        self.b.push(b);
        self.c.push(c);
    }

    fn finish(self) -> Gemms<'a, T> {
        let Self { kind, a, b, c } = self;
        Gemms { kind, a: BatchRef::gathered(a), b: BatchRef::gathered(b), c: BatchMut::gathered(c) }
    }
}

/// The number of tasks for each worker. Several small tasks balance the load better than one.
const TASKS_PER_WORKER: u64 = 8;

/// Computes all products.
fn compute<T: DlaScalar>(batches: Vec<Gemms<'_, T>>) {
    let work = batches.iter().map(Gemms::all_multiplications).fold(0, u64::saturating_add);
    let Some(engine) = engine_for_product(work) else {
        for Gemms { kind: GemmKind { ops, alpha, beta, .. }, a, b, c } in batches {
            let operands = BatchOperands { read: vec![a, b], updated: vec![c], ..BatchOperands::default() };
            if let Err(error) = batch::run_serial(BatchOperation::Gemm { ops, alpha, beta }, operands) {
                crate::messages::warn(&format!("superscalar: gemm_batch: {error}; the result is not valid"));
            }
        }
        return;
    };
    let (large, small): (Vec<_>, Vec<_>) = batches.into_iter().partition(|batch| batch.kind.is_large);
    for Gemms { kind: GemmKind { ops, alpha, beta, .. }, a, b, mut c } in large {
        let Engine { runtime, options, .. } = &*engine;
        for (p, c) in c.members_mut().into_iter().enumerate() {
            let outcome = dla::gemm(runtime, alpha, ops.0, a.get(p), ops.1, b.get(p), beta, c, options);
            engine.report("gemm_batch", outcome);
        }
    }
    let work = small.iter().map(Gemms::all_multiplications).fold(0, u64::saturating_add);
    let part = (work / (TASKS_PER_WORKER * engine.runtime.workers() as u64)).max(1);
    let outcome = engine.runtime.scope(move |s| {
        for mut batch in small {
            while !batch.c.is_empty() {
                let (rest, Gemms { kind: GemmKind { ops, alpha, beta, .. }, a, b, c }) = batch.split_off(part);
                let one = Chunks::equal(c.len(), c.len());
                let (a, b) = (Chunked::read_only(s, a, &one), Chunked::read_only(s, b, &one));
                batch::spawn::gemm(s, alpha, ops.0, &a, ops.1, &b, beta, &Chunked::new(s, c, &one));
                batch = rest;
            }
        }
    });
    engine.report("gemm_batch", outcome.map_err(dla::Error::from));
}

/// Computes groups of products.
///
/// # Safety
/// Each product satisfies the requirements of Level 3, and no C overlaps another. The tables of addresses have one
/// element for each product, and the other tables one for each group.
#[cblas(s, d, c, z)]
#[allow(clippy::too_many_arguments)]
unsafe fn gemm_batch<T: DlaScalar, I: crate::abi::Int>(
    order: Code,
    transa: *const Code,
    transb: *const Code,
    m: *const I,
    n: *const I,
    k: *const I,
    alpha: *const T,
    a: *const *const T,
    lda: *const I,
    b: *const *const T,
    ldb: *const I,
    beta: *const T,
    c: *const *mut T,
    ldc: *const I,
    group_count: Size,
    group_size: *const I,
) -> Checked {
    check(&[(1, order.layout().is_some()), (15, group_count.is_valid())])?;
    let (mut batches, mut first) = (Vec::<GatheredGemms<'_, T>>::new(), 0);
    for group in 0..group_count.get() {
        // SAFETY: the caller guarantees the lengths of the tables, that the matrices are valid, and that no C
        // overlaps another matrix.
        unsafe {
            let size = |table: *const I| Size::of(table.add(group).read());
            let (transa, transb) = (transa.add(group).read().trans(), transb.add(group).read().trans());
            let described = GemmGroup {
                layout: order.layout().unwrap_or(Layout::ColMajor),
                ops: (transa.op().unwrap_or(Op::None), transb.op().unwrap_or(Op::None)),
                shape: GemmShape { m: size(m), n: size(n), k: size(k) },
                alpha: alpha.add(group).read(),
                beta: beta.add(group).read(),
                lds: LeadingDimensions { a: size(lda), b: size(ldb), c: size(ldc) },
            };
            described.check((transa, transb), [2, 3, 4, 5, 6, 9, 11, 14])?;
            let count = size(group_size);
            check(&[(16, count.is_valid())])?;
            let kind = described.kind();
            if batches.last().is_none_or(|batch| batch.kind != kind) {
                batches.push(GatheredGemms::new(kind));
            }
            if let Some(batch) = batches.last_mut() {
                for at in first..first + count.get() {
                    batch.push(described.product(a.add(at).read(), b.add(at).read(), c.add(at).read()));
                }
            }
            first += count.get();
        }
    }
    compute(batches.into_iter().map(GatheredGemms::finish).collect());
    Ok(())
}

/// Computes products of matrices at constant strides.
///
/// # Safety
/// Each product satisfies the requirements of Level 3, and no C overlaps another.
#[cblas(s, d, c, z)]
#[allow(clippy::too_many_arguments)]
unsafe fn gemm_batch_strided<T: DlaScalar>(
    order: Code,
    transa: Code,
    transb: Code,
    m: Size,
    n: Size,
    k: Size,
    alpha: T,
    a: *const T,
    lda: Size,
    stridea: Size,
    b: *const T,
    ldb: Size,
    strideb: Size,
    beta: T,
    c: *mut T,
    ldc: Size,
    stridec: Size,
    batch_size: Size,
) -> Checked {
    check(&[(1, order.layout().is_some())])?;
    let (transa, transb) = (transa.trans(), transb.trans());
    let group = GemmGroup {
        layout: order.layout().unwrap_or(Layout::ColMajor),
        ops: (transa.op().unwrap_or(Op::None), transb.op().unwrap_or(Op::None)),
        shape: GemmShape { m, n, k },
        alpha,
        beta,
        lds: LeadingDimensions { a: lda, b: ldb, c: ldc },
    };
    group.check((transa, transb), [2, 3, 4, 5, 6, 9, 12, 16])?;
    check(&[(18, batch_size.is_valid())])?;
    let ([of_a, of_b, of_c], count) = (group.stored(), batch_size.get());
    let ((a, stridea), (b, strideb)) = swapped(group.layout, ((a, stridea), (b, strideb)));
    // SAFETY: the caller guarantees that the matrices of each product are valid and that no C overlaps another matrix.
    // The group was checked.
    let (a, b, c) =
        unsafe { (of_a.batch(a, stridea, count), of_b.batch(b, strideb, count), of_c.batch_mut(c, stridec, count)) };
    compute(vec![Gemms { kind: group.kind(), a, b, c }]);
    Ok(())
}
