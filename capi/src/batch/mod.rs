//! Routines on batches of small problems, with C's interface: one problem of order 4 or a hundred thousand in one call.
//!
//! The macro [`batched`](superscalar_macros::batched) exports each routine in three forms: with tables of addresses and
//! common sizes (`superscalar_dpotrf_batched`), with tables of sizes (`superscalar_dpotrf_vbatched`), and with strides
//! (`superscalar_dpotrf_strided_batched`). Matrices are column-major. The arguments are those of LAPACK's routine
//! without workspaces, then `info` of each problem if the routine has outcomes, then the number of problems.
//!
//! A function returns 0, or -i if argument i is wrong in some problem; then nothing has been computed. `superscalar.h`
//! describes the interface for its users.
//!
//! | file | content |
//! |---|---|
//! | `operands.rs` | sizes and operands: checks them, and makes views |
//! | `solves.rs` | Cholesky and LU factorizations and their solves |
//! | `reflections.rs` | QR factorizations and what follows from them; bidiagonal forms |
//! | `products.rs` | gemv and trsm |
//!
//! # Requirements
//!
//! A table has an element for each problem. Each address is that of a matrix, vector or column with the sizes in the
//! arguments; one without elements may have any address. Nothing else writes the operands during the call, nothing else
//! reads those that are written, and these do not overlap others.

mod operands;
mod products;
mod reflections;
mod solves;

pub(crate) use crate::lapack::write_integers;
pub(crate) use operands::{Batch, Columns, Matrices, Operand, Outcomes, Place, Sizes, Spacing, Vectors};

use crate::{
    abi::{DlaScalar, Int, Size, Solved},
    engine::engine_for_product,
    lapack::{IntoInfo as _, multiplications},
};
use superscalar::{
    dla::batch,
    kernels::operations::{BatchOperands, BatchOperation},
};

/// Returns the elements of a table; none if it is null.
///
/// # Safety
/// The address is null, or `count` elements may be read there during `'a`, and nothing writes them.
unsafe fn table<'a, E>(address: *const E, count: Size) -> &'a [E] {
    match address.is_null() || count.get() == 0 {
        true => &[],
        // SAFETY: the address is not null, so the caller guarantees that the elements are readable during `'a`.
        false => unsafe { std::slice::from_raw_parts(address, count.get()) },
    }
}

/// Computes all problems, on the engine if they have enough multiplications, else on this thread.
fn compute<T: DlaScalar>(operation: BatchOperation<T>, operands: BatchOperands<'_, T>) -> Solved {
    let is_uniform = operands.are_uniform();
    let is_empty = |shape: Option<(usize, usize)>| shape.is_some_and(|(m, n)| m == 0 || n == 0);
    if operands.is_empty() || operands.updated.iter().all(|batch| is_empty(batch.uniform_shape())) {
        return Ok(0);
    }
    let flops = |p| operation.cost(&operands.shapes(p)).flops;
    let flops: f64 = if is_uniform { flops(0) * operands.len() as f64 } else { (0..operands.len()).map(flops).sum() };
    let each = f64::from(T::FLOPS_MUL + T::FLOPS_ADD);
    match engine_for_product(multiplications(flops / each)) {
        None => batch::run_serial(operation, operands).into_info(),
        Some(engine) => batch::run(&engine.runtime, operation, operands, &engine.options).into_info(),
    }
}

/// Computes all problems, and writes `info` of each.
///
/// # Safety
/// `info` satisfies the requirements in the module documentation, and has been checked.
unsafe fn compute_outcomes<T: DlaScalar, I: Int>(
    batch: &Batch,
    operation: BatchOperation<T>,
    operands: BatchOperands<'_, T>,
    info: Outcomes<I>,
) -> Solved {
    // SAFETY: by the module's requirements `info` may be written, and nothing else accesses it during the call.
    unsafe { info.write(batch, |info| compute(operation, BatchOperands { info: vec![info], ..operands })) }
}
