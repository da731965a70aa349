//! Many products in one call, with C's interface: `cblas_?gemm_batch` for groups of products of one shape behind tables
//! of addresses, and `cblas_?gemm_batch_strided` for matrices at a distance.
//!
//! A product that is worth it by itself is computed as by gemm. The others go to the workers in parts of about the same
//! work.

use super::stored;
use crate::{
    abi::{Checked, Code, Layout, Letter, MatMut, MatRef, Op, Routines, Size, check, matrix, matrix_mut},
    engine::{Engine, for_product},
    rows::swapped,
    settings::settings,
};
use superscalar::{TaskSpec, dla, kernels::cpu};
use superscalar_macros::cblas;

/// C := alpha op(A) op(B) + beta C.
struct Product<'a, T> {
    alpha: T,
    a: (Op, MatRef<'a, T>),
    b: (Op, MatRef<'a, T>),
    beta: T,
    c: MatMut<'a, T>,
}

impl<T: Routines> Product<'_, T> {
    fn multiplications(&self) -> u64 {
        let ((m, n), (rows, cols)) = (self.c.shape(), self.a.1.shape());
        let depth = if self.a.0 == Op::None { cols } else { rows };
        (m as u64).saturating_mul(n as u64).saturating_mul(depth as u64)
    }

    fn compute(&mut self) {
        cpu::gemm(self.alpha, self.a.0, self.a.1, self.b.0, self.b.1, self.beta, self.c.rb_mut());
    }
}

/// The shape, and what is done to the factors, of products that are alike; leading dimensions and scalars, too.
struct Group<T> {
    layout: Layout,
    ops: (Op, Op),
    sizes: (Size, Size, Size),
    alpha: T,
    beta: T,
    lds: (Size, Size, Size),
}

impl<T: Routines> Group<T> {
    /// That the arguments with these numbers are right: the two operations, three sizes and three leading dimensions.
    fn check(&self, (transa, transb): (Letter, Letter), at: [i32; 8]) -> Checked {
        let (m, n, k) = self.sizes;
        let by_columns = self.layout == Layout::ColMajor;
        // By rows the leading dimension spans the columns.
        let spans = |ld: Size, op: Op, rows: Size, cols: Size| {
            ld.spans(if (op == Op::None) == by_columns { rows } else { cols })
        };
        check(&[
            (at[0], transa.op().is_some()),
            (at[1], transb.op().is_some()),
            (at[2], m.is_valid()),
            (at[3], n.is_valid()),
            (at[4], k.is_valid()),
            (at[5], spans(self.lds.0, self.ops.0, m, k)),
            (at[6], spans(self.lds.1, self.ops.1, k, n)),
            (at[7], spans(self.lds.2, Op::None, m, n)),
        ])
    }

    /// One of the products.
    ///
    /// # Safety
    /// What Level 3 trusts, of these addresses, for as long as `'a`; the group was checked.
    unsafe fn product<'a>(&self, a: *const T, b: *const T, c: *mut T) -> Product<'a, T> {
        let Self { layout, ops, sizes: (m, n, k), alpha, beta, lds: (lda, ldb, ldc) } = *self;
        // By rows it is the product of the transposes, in the other order.
        let ((m, n), (a, b)) = (swapped(layout, (m, n)), swapped(layout, ((ops.0, a, lda), (ops.1, b, ldb))));
        // SAFETY: as the caller promises.
        unsafe {
            Product {
                alpha,
                a: (a.0, matrix(a.1, stored(a.0, (m, k)), a.2)),
                b: (b.0, matrix(b.1, stored(b.0, (k, n)), b.2)),
                beta,
                c: matrix_mut(c, (m, n), ldc),
            }
        }
    }
}

/// So many parts for each worker, so that none waits long for another at the end.
const PARTS_EACH: u64 = 8;

/// Computes all of them.
fn compute<T: Routines>(mut products: Vec<Product<'_, T>>) {
    let work = |products: &[Product<'_, T>]| products.iter().map(Product::multiplications).fold(0, u64::saturating_add);
    let Some(engine) = for_product(work(&products)) else { return products.iter_mut().for_each(Product::compute) };
    let is_large = |product: &mut Product<'_, T>| product.multiplications() > settings().threshold;
    for Product { alpha, a, b, beta, c } in products.extract_if(.., is_large) {
        let Engine { runtime, options, .. } = &*engine;
        engine.report("gemm_batch", dla::gemm(runtime, alpha, a.0, a.1, b.0, b.1, beta, c, options));
    }
    let part = (work(&products) / (PARTS_EACH * engine.runtime.workers() as u64)).max(1);
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
                products.iter_mut().for_each(Product::compute);
            });
            rest = later;
        }
    });
    engine.report("gemm_batch", outcome.map_err(dla::Error::from));
}

/// # Safety
/// As of gemm, for each product; no C overlaps another. Each table has as many
/// elements as there are groups, or products.
#[cblas(s, d, c, z)]
#[allow(clippy::too_many_arguments)]
unsafe fn gemm_batch<T: Routines, I: crate::abi::Int>(
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
        // SAFETY: the caller promises tables of these lengths, and of each product what Level 3 trusts.
        unsafe {
            let size = |table: *const I| Size::of(table.add(group).read());
            let (transa, transb) = (transa.add(group).read().trans(), transb.add(group).read().trans());
            let described = Group {
                layout: order.layout().unwrap_or(Layout::ColMajor),
                ops: (transa.op().unwrap_or(Op::None), transb.op().unwrap_or(Op::None)),
                sizes: (size(m), size(n), size(k)),
                alpha: alpha.add(group).read(),
                beta: beta.add(group).read(),
                lds: (size(lda), size(ldb), size(ldc)),
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

/// # Safety
/// As of gemm, for each product; no C overlaps another.
#[cblas(s, d, c, z)]
#[allow(clippy::too_many_arguments)]
unsafe fn gemm_batch_strided<T: Routines>(
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
    let group = Group {
        layout: order.layout().unwrap_or(Layout::ColMajor),
        ops: (transa.op().unwrap_or(Op::None), transb.op().unwrap_or(Op::None)),
        sizes: (m, n, k),
        alpha,
        beta,
        lds: (lda, ldb, ldc),
    };
    group.check((transa, transb), [2, 3, 4, 5, 6, 9, 12, 16])?;
    check(&[(18, batch_size.is_valid())])?;
    let product = |at: usize| {
        let offset = |stride: Size| (at as isize).wrapping_mul(stride.stride());
        let (a, b) = (a.wrapping_offset(offset(stridea)), b.wrapping_offset(offset(strideb)));
        // SAFETY: as the caller promises.
        unsafe { group.product(a, b, c.wrapping_offset(offset(stridec))) }
    };
    compute((0..batch_size.get()).map(product).collect());
    Ok(())
}
