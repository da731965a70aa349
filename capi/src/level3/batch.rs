//! Batches of products, with C's interface: `cblas_?gemm_batch` for groups of products of equal shape whose addresses
//! are in tables, and `cblas_?gemm_batch_strided` for matrices at constant strides.
//!
//! A large product is computed as by gemm. The small ones are divided into tasks of about equal work.

use super::{GemmShape, stored_shape};
use crate::{
    abi::{Checked, Code, DlaScalar, Layout, Letter, MatMut, MatRef, Op, Size, check, matrix, matrix_mut},
    engine::{Engine, engine_for_product},
    rows::swapped,
    settings::settings,
};
use superscalar::{TaskSpec, dla, kernels::cpu};
use superscalar_macros::cblas;

/// C := alpha op(A) op(B) + beta C.
struct Gemm<'a, T> {
    alpha: T,
    a: (Op, MatRef<'a, T>),
    b: (Op, MatRef<'a, T>),
    beta: T,
    c: MatMut<'a, T>,
}

impl<T: DlaScalar> Gemm<'_, T> {
    fn multiplications(&self) -> u64 {
        let ((m, n), (rows, cols)) = (self.c.shape(), self.a.1.shape());
        let depth = if self.a.0 == Op::None { cols } else { rows };
        (m as u64).saturating_mul(n as u64).saturating_mul(depth as u64)
    }

    fn compute(&mut self) {
        cpu::gemm(self.alpha, self.a.0, self.a.1, self.b.0, self.b.1, self.beta, self.c.rb_mut());
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

    /// Returns the product of the matrices at these addresses.
    ///
    /// # Safety
    /// The addresses satisfy the requirements of Level 3 during `'a`, and `check` has accepted the group.
    unsafe fn product<'a>(&self, a: *const T, b: *const T, c: *mut T) -> Gemm<'a, T> {
        let Self { layout, ops, shape: GemmShape { m, n, k }, alpha, beta, lds } = *self;
        // A row-major product is that of the transposes in reverse order.
        let (m, n) = swapped(layout, (m, n));
        let ((op_a, a, lda), (op_b, b, ldb)) = swapped(layout, ((ops.0, a, lds.a), (ops.1, b, lds.b)));
        // SAFETY: the caller guarantees that the matrices are valid and not written elsewhere, and that the leading
        // dimensions were checked.
        unsafe {
            Gemm {
                alpha,
                a: (op_a, matrix(a, stored_shape(op_a, (m, k)), lda)),
                b: (op_b, matrix(b, stored_shape(op_b, (k, n)), ldb)),
                beta,
                c: matrix_mut(c, (m, n), lds.c),
            }
        }
    }
}

/// The number of tasks for each worker. Several small tasks balance the load better than one.
const TASKS_PER_WORKER: u64 = 8;

/// Computes all products.
fn compute<T: DlaScalar>(mut products: Vec<Gemm<'_, T>>) {
    let work = |products: &[Gemm<'_, T>]| products.iter().map(Gemm::multiplications).fold(0, u64::saturating_add);
    let Some(engine) = engine_for_product(work(&products)) else { return products.iter_mut().for_each(Gemm::compute) };
    let is_large = |product: &mut Gemm<'_, T>| product.multiplications() > settings().threshold;
    for Gemm { alpha, a, b, beta, c } in products.extract_if(.., is_large) {
        let Engine { runtime, options, .. } = &*engine;
        engine.report("gemm_batch", dla::gemm(runtime, alpha, a.0, a.1, b.0, b.1, beta, c, options));
    }
    let part = (work(&products) / (TASKS_PER_WORKER * engine.runtime.workers() as u64)).max(1);
    let outcome = engine.runtime.scope(|s| {
        let mut rest = products.as_mut_slice();
        while !rest.is_empty() {
            let mut sum = 0_u64;
            let count = rest.iter().take_while(|product| {
                let is_in = sum < part;
                sum = sum.saturating_add(product.multiplications().max(1));
                is_in
            });
            let count = count.count();
            let (now, later) = rest.split_at_mut(count);
            s.spawn(TaskSpec::new("gemm_batch"), s.lend(now).read_write(), |products| {
                products.iter_mut().for_each(Gemm::compute);
            });
            rest = later;
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
    let (mut products, mut first) = (Vec::new(), 0);
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
            for at in first..first + count.get() {
                products.push(described.product(a.add(at).read(), b.add(at).read(), c.add(at).read()));
            }
            first += count.get();
        }
    }
    compute(products);
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
    let product = |at: usize| {
        let offset = |stride: Size| (at as isize).wrapping_mul(stride.stride());
        let (a, b) = (a.wrapping_offset(offset(stridea)), b.wrapping_offset(offset(strideb)));
        // SAFETY: the caller guarantees that the matrices of each product are valid and that no C overlaps another
        // matrix; the group was checked.
        unsafe { group.product(a, b, c.wrapping_offset(offset(stridec))) }
    };
    compute((0..batch_size.get()).map(product).collect());
    Ok(())
}
