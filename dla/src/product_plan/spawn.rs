//! The tasks of a planned product.

use super::{PlanStep, ProductMatrix, ProductPlan, fabric::HOST, recording::prediction};
use crate::{
    Scalar,
    codelets::{Gemm, TileMove, TileSum, task},
    tiled::{TileView, Tiled},
};
use std::{collections::HashMap, time::Instant};
use superscalar_kernels::{MatMut, Op};
use superscalar_macros::each_type;
use superscalar_runtime::{Lock, Resource, Scope};

/// Tiles return after a device's products: behind a tile that is not computed yet, products would wait in the queue.
const RETURN_PRIORITY: i32 = 1;

/// Inserts the tasks of C := alpha op(A) op(B) + beta C in the order of the plan. Its tiles are those of the matrices.
/// Products that the plan sums apart from C are summed in `sums`.
#[each_type]
#[track_caller]
pub(crate) fn spawn_planned<'s, T: Scalar, V: TileView<'s, Element = T>, W: TileView<'s, Element = T>>(
    s: &'s Scope<'s, '_>,
    plan: &ProductPlan,
    alpha: T,
    op_a: Op,
    a: &Tiled<'s, V>,
    op_b: Op,
    b: &Tiled<'s, W>,
    beta: T,
    c: &Tiled<'s, MatMut<'s, T>>,
    sums: Option<&Tiled<'s, MatMut<'s, T>>>,
) {
    let since = Instant::now();
    let (gemm, add, moves) = (Gemm::new(), TileSum::new("geadd"), TileMove::new());
    let is_apart = plan.tiles_apart();
    let sum_of = |i: usize, j: usize| sums.filter(|_| is_apart.contains(&(i, j)));
    let mut is_begun = vec![false; c.mt() * c.nt()];
    // A tile has one route. If it is copied again in later turns, the longest one counts.
    let mut hops_of: HashMap<(ProductMatrix, (usize, usize)), usize> = HashMap::new();
    // Distinct priorities above those of ordinary tasks: each device keeps the order of the plan.
    let first = RETURN_PRIORITY + plan.steps.len() as i32;
    for (step, priority) in plan.steps.iter().zip((RETURN_PRIORITY + 1..=first).rev()) {
        match step {
            PlanStep::Fetch { matrix, tile, hops, .. } if plan.has_routes => {
                let (most, (i, j)) = (hops_of.entry((*matrix, *tile)).or_default(), tile);
                if hops.len() <= *most {
                    continue;
                }
                *most = hops.len();
                let source = hops.first().map(|hop| hop.from);
                let route = source.into_iter().chain(hops.iter().map(|hop| hop.to));
                let route: Vec<Resource> = route.map(|place| Resource(place as u16)).collect();
                match matrix {
                    ProductMatrix::A => a.factor(op_a, *i, *j).tile.send_along(&route),
                    ProductMatrix::B => b.factor(op_b, *i, *j).tile.send_along(&route),
                    ProductMatrix::C => c.at(*i, *j).send_along(&route),
                }
            }
            PlanStep::Fetch { .. } => {}
            &PlanStep::Multiply { device, tile: (i, j), step, .. } => {
                let (sum, beta) = sum_of(i, j).map_or((c, beta), |sums| (sums, T::ZERO));
                let beta = if std::mem::replace(&mut is_begun[i + j * c.mt()], true) { T::ONE } else { beta };
                let spec = task("gemm", i, j, step).priority(priority).home(Resource::device(device as u16));
                gemm.spawn(s, spec, alpha, a.factor(op_a, i, step), b.factor(op_b, step, j), beta, sum.at(i, j));
            }
            &PlanStep::Add { device, tile: (i, j), .. } => {
                let spec = task("geadd", i, j, 0).priority(priority).home(Resource::device(device as u16));
                if let Some(sums) = sums {
                    add.spawn_sum(s, spec, T::ONE, sums.factor(Op::None, i, j), beta, c.at(i, j));
                }
            }
            PlanStep::Return { tile: (i, j), hop, .. } => {
                let (tile, spec) = (c.at(*i, *j), task("return", *i, *j, 0).priority(RETURN_PRIORITY));
                if hop.to != HOST {
                    moves.spawn(s, spec.home(Resource(hop.to as u16)), tile);
                } else if tile.is_resident() {
                    moves.spawn(s, spec.lock(Lock::Host), tile);
                }
                // The runtime copies what the host lent back to it when the last product is done.
            }
        }
    }
    s.record_plan(since, || prediction(plan));
}
