//! Products of tiles in half precision, whose results may be in single precision.

use super::mat;
use crate::tiled::{Factor, Tile};
use std::marker::PhantomData;
use superscalar_kernels::{
    Half, HalfResult, MatMut, MatRef, Op, cpu,
    device::{HalfCall, HalfGemm, HalfRound, HalfTarget, cost_of_half_product, on_devices},
};
use superscalar_runtime::{Codelet, Cost, Lent, Reads, Scope, TaskSpec, Updates, Writes};

/// The name of a product's task, by which its rates are measured.
pub(crate) const HALF_TASK: &str = "gemm_half";
/// The name of the task that adds a sum to C.
pub(crate) const HALF_SUM_TASK: &str = "round_half";

/// Tiles that a task reads and changes.
type HalfTile<'s, H> = Tile<MatRef<'s, H>>;
type ResultTile<'s, C> = Tile<MatMut<'s, C>>;

/// Codelets of a product, and of a sum; `R` is how the result is accessed.
type ProductCodelet<'s, H, R> = Codelet<(Reads<HalfTile<'s, H>>, Reads<HalfTile<'s, H>>, R), HalfProductOptions>;
type SumCodelet<'s, R> = Codelet<(Reads<ResultTile<'s, f32>>, R), HalfSumOptions>;

/// Options and factors of a product, and its cost.
struct HalfProductOptions {
    ops: (Op, Op),
    alpha: f32,
    beta: f32,
    cost: Cost,
}

/// Codelet for C := alpha op(A) op(B) + beta C, where A and B are in half precision.
pub(crate) struct HalfProduct<'s, H: Half, C: HalfResult<H>> {
    update: ProductCodelet<'s, H, Updates<ResultTile<'s, C>>>,
    /// For beta = 0: the old contents are not copied to a device.
    overwrite: ProductCodelet<'s, H, Writes<ResultTile<'s, C>>>,
}

impl<'s, H: Half, C: HalfResult<H>> HalfProduct<'s, H, C> {
    pub(crate) fn new() -> Self {
        let run =
            |a: &HalfTile<'s, H>, b: &HalfTile<'s, H>, c: &mut ResultTile<'s, C>, options: &HalfProductOptions| {
                let &HalfProductOptions { ops: (op_a, op_b), alpha, beta, .. } = options;
                cpu::gemm_half(alpha, op_a, a.view(), op_b, b.view(), beta, c.view_mut());
                Ok(())
            };
        let update = Codelet::new(HALF_TASK)
            .cost(|options: &HalfProductOptions| options.cost)
            .on_host(move |(a, b, c), options| run(a, b, c, options));
        let overwrite = Codelet::new(HALF_TASK)
            .cost(|options: &HalfProductOptions| options.cost)
            .on_host(move |(a, b, c), options| run(a, b, c, options));
        let call = |a, b, c, options: &HalfProductOptions| {
            let &HalfProductOptions { ops: (op_a, op_b), alpha, beta, .. } = options;
            HalfCall::<H>::Gemm(HalfGemm { op_a, op_b, alpha, a, b, beta, c: HalfTarget::of::<C>(c) })
        };
        Self {
            update: on_devices(update, move |(a, b, c), options| Ok(call(mat(a)?, mat(b)?, mat(c)?, options))),
            overwrite: on_devices(overwrite, move |(a, b, c), options| Ok(call(mat(a)?, mat(b)?, mat(c)?, options))),
        }
    }

    /// Inserts the task.
    #[track_caller]
    pub(crate) fn spawn(
        &self,
        s: &'s Scope<'s, '_>,
        spec: TaskSpec,
        alpha: f32,
        a: Factor<'s, MatRef<'s, H>>,
        b: Factor<'s, MatRef<'s, H>>,
        beta: f32,
        c: Lent<'s, ResultTile<'s, C>>,
    ) {
        debug_assert_eq!(a.shape.1, b.shape.0, "blocks of a product");
        let cost = cost_of_half_product::<H>((a.shape.0, b.shape.1), a.shape.1, size_of::<C>());
        let options = HalfProductOptions { ops: (a.op, b.op), alpha, beta, cost };
        if beta == 0.0 {
            self.overwrite.spawn_as(s, spec, (a.tile.read(), b.tile.read(), c.write()), options);
        } else {
            self.update.spawn_as(s, spec, (a.tile.read(), b.tile.read(), c.read_write()), options);
        }
    }
}

/// The factor of C in a sum, and its cost.
struct HalfSumOptions {
    beta: f32,
    cost: Cost,
}

/// Codelet for C := S + beta C, where S is a sum in single precision.
pub(crate) struct HalfSum<'s, H: Half, C: HalfResult<H>> {
    update: SumCodelet<'s, Updates<ResultTile<'s, C>>>,
    overwrite: SumCodelet<'s, Writes<ResultTile<'s, C>>>,
    factors: PhantomData<H>,
}

impl<'s, H: Half, C: HalfResult<H>> HalfSum<'s, H, C> {
    pub(crate) fn new() -> Self {
        let run = |sum: &ResultTile<'s, f32>, c: &mut ResultTile<'s, C>, options: &HalfSumOptions| {
            cpu::round_sum::<H, C>(sum.view(), options.beta, c.view_mut());
            Ok(())
        };
        let update = Codelet::new(HALF_SUM_TASK)
            .cost(|options: &HalfSumOptions| options.cost)
            .on_host(move |(sum, c), options| run(sum, c, options));
        let overwrite = Codelet::new(HALF_SUM_TASK)
            .cost(|options: &HalfSumOptions| options.cost)
            .on_host(move |(sum, c), options| run(sum, c, options));
        let call = |sum, c, options: &HalfSumOptions| {
            HalfCall::<H>::Round(HalfRound { sum, beta: options.beta, c: HalfTarget::of::<C>(c) })
        };
        Self {
            update: on_devices(update, move |(sum, c), options| Ok(call(mat(sum)?, mat(c)?, options))),
            overwrite: on_devices(overwrite, move |(sum, c), options| Ok(call(mat(sum)?, mat(c)?, options))),
            factors: PhantomData,
        }
    }

    /// Inserts the task.
    #[track_caller]
    pub(crate) fn spawn(
        &self,
        s: &'s Scope<'s, '_>,
        spec: TaskSpec,
        sum: Factor<'s, MatMut<'s, f32>>,
        beta: f32,
        c: Lent<'s, ResultTile<'s, C>>,
    ) {
        let (elements, keeps) = (sum.shape.0 as f64 * sum.shape.1 as f64, if beta == 0.0 { 0.0 } else { 1.0 });
        let bytes = elements * (size_of::<f32>() as f64 + (1.0 + keeps) * size_of::<C>() as f64);
        // Like other sums, it runs where its result has its home.
        let options = HalfSumOptions { beta, cost: Cost { flops: 2.0 * keeps * elements, bytes, level: None } };
        if beta == 0.0 {
            self.overwrite.spawn_as(s, spec, (sum.tile.read(), c.write()), options);
        } else {
            self.update.spawn_as(s, spec, (sum.tile.read(), c.read_write()), options);
        }
    }
}
