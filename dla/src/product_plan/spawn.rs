//! The tasks of a planned product.

use super::{
    PlanStep, ProductMatrix, ProductPlan,
    fabric::{HOST, Place},
    recording::prediction,
};
use crate::{
    Scalar,
    codelets::{Gemm, TileMove, TileSum, task},
    tiled::{TileView, Tiled},
};
use std::{collections::HashMap, time::Instant};
use superscalar_kernels::{MatMut, Op};
use superscalar_runtime::{Lock, Resource, Scope, TaskSpec};

/// Tiles return after a device's products: behind a tile that is not computed yet, products would wait in the queue.
const RETURN_PRIORITY: i32 = 1;

/// How a product of tiles changes its sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PlannedUpdate {
    /// The tile of the sums in which the product is added, if it is apart from C.
    pub(crate) sum: Option<(usize, usize)>,
    /// Whether it is the first product of the sum.
    pub(crate) is_first: bool,
}

/// Inserts the tasks of a product, which a plan names.
pub(crate) trait PlannedTasks {
    /// The names of the product, and of the addition of a sum apart from C.
    const NAMES: [&'static str; 2];

    /// Sends a tile along a route.
    fn send(&self, matrix: ProductMatrix, tile: (usize, usize), route: &[Resource]);

    /// Inserts the product of A's tile (i, step) and B's tile (step, j).
    #[track_caller]
    fn multiply(&self, spec: TaskSpec, tile: (usize, usize), step: usize, update: PlannedUpdate);

    /// Inserts the addition of a sum apart from C to its tile.
    #[track_caller]
    fn add(&self, spec: TaskSpec, tile: (usize, usize), sum: (usize, usize));

    /// Inserts the return of C's tile to its place. What the host lent is copied back to it without a task.
    #[track_caller]
    fn put_back(&self, spec: TaskSpec, tile: (usize, usize), place: Place);
}

/// Inserts the tasks of a product in the order of its plan.
#[track_caller]
pub(crate) fn spawn_planned<'s, T: PlannedTasks>(s: &'s Scope<'s, '_>, plan: &ProductPlan, tasks: &T) {
    let since = Instant::now();
    let [product, addition] = T::NAMES;
    let (apart, mut sums) = (plan.tiles_apart(), SumTiles::new(plan));
    let mut is_begun = vec![false; plan.rows_of_tiles * plan.columns_of_tiles];
    // A tile has one route. If it is copied again in later turns, the longest one counts.
    let mut hops_of: HashMap<(ProductMatrix, (usize, usize)), usize> = HashMap::new();
    // Distinct priorities above those of ordinary tasks: each device keeps the order of the plan.
    let first = RETURN_PRIORITY + plan.steps.len() as i32;
    for (step, priority) in plan.steps.iter().zip((RETURN_PRIORITY + 1..=first).rev()) {
        match step {
            PlanStep::Fetch { matrix, tile, hops, .. } if plan.has_routes => {
                let most = hops_of.entry((*matrix, *tile)).or_default();
                if hops.len() <= *most {
                    continue;
                }
                *most = hops.len();
                let source = hops.first().map(|hop| hop.from);
                let route = source.into_iter().chain(hops.iter().map(|hop| hop.to));
                let route: Vec<Resource> = route.map(|place| Resource(place as u16)).collect();
                tasks.send(*matrix, *tile, &route);
            }
            PlanStep::Fetch { .. } => {}
            &PlanStep::Multiply { device, tile: (i, j), step, .. } => {
                let is_first = !std::mem::replace(&mut is_begun[i + j * plan.rows_of_tiles], true);
                let spec = task(product, i, j, step).priority(priority).home(Resource::device(device as u16));
                let sum = apart.contains(&(i, j)).then(|| sums.of((i, j), device));
                tasks.multiply(spec, (i, j), step, PlannedUpdate { sum, is_first });
            }
            &PlanStep::Add { device, tile: (i, j), .. } => {
                let spec = task(addition, i, j, 0).priority(priority).home(Resource::device(device as u16));
                tasks.add(spec, (i, j), sums.of((i, j), device));
                sums.release((i, j), device);
            }
            PlanStep::Return { tile: (i, j), hop, .. } => {
                tasks.put_back(task("return", *i, *j, 0).priority(RETURN_PRIORITY), (*i, *j), hop.to);
            }
        }
    }
    s.record_plan(since, || prediction(plan, product));
}

/// The row and the column of a tile.
type TileIndex = (usize, usize);

/// The tiles of sums apart from C. In several areas, a device uses those of the area before again: more would not fit.
struct SumTiles<'p> {
    plan: &'p ProductPlan,
    of: HashMap<TileIndex, TileIndex>,
    /// Tiles that are not used any more, by device and shape.
    free: HashMap<(usize, [bool; 2]), Vec<TileIndex>>,
}

impl<'p> SumTiles<'p> {
    fn new(plan: &'p ProductPlan) -> Self {
        Self { plan, of: HashMap::new(), free: HashMap::new() }
    }

    /// Returns which tiles have the same shape: only the last row and the last column may be smaller.
    fn shape(&self, (i, j): (usize, usize)) -> [bool; 2] {
        [i + 1 == self.plan.rows_of_tiles, j + 1 == self.plan.columns_of_tiles]
    }

    /// Returns the tile in which the products of this tile of C are summed.
    fn of(&mut self, tile: (usize, usize), device: usize) -> (usize, usize) {
        let key = (device, self.shape(tile));
        let free = &mut self.free;
        *self.of.entry(tile).or_insert_with(|| free.get_mut(&key).and_then(Vec::pop).unwrap_or(tile))
    }

    /// Ends the use of a sum.
    fn release(&mut self, tile: (usize, usize), device: usize) {
        if self.plan.has_areas {
            let (sum, key) = (self.of(tile, device), (device, self.shape(tile)));
            self.free.entry(key).or_default().push(sum);
        }
    }
}

/// Sends a tile of the operands of a product along a route.
pub(crate) fn send_tile<'s, V, W, X>(
    (op_a, a): (Op, &Tiled<'s, V>),
    (op_b, b): (Op, &Tiled<'s, W>),
    c: &Tiled<'s, X>,
    (matrix, (i, j)): (ProductMatrix, (usize, usize)),
    route: &[Resource],
) {
    match matrix {
        ProductMatrix::A => a.factor(op_a, i, j).tile.send_along(route),
        ProductMatrix::B => b.factor(op_b, i, j).tile.send_along(route),
        ProductMatrix::C => c.at(i, j).send_along(route),
    }
}

/// The tasks of C := alpha op(A) op(B) + beta C. Products are summed apart from C in `sums`, or, without them, never.
pub(crate) struct ScalarTasks<'a, 's, 'e, T: Scalar, V: TileView<'s, Element = T>, W: TileView<'s, Element = T>> {
    s: &'s Scope<'s, 'e>,
    alpha: T,
    a: (Op, &'a Tiled<'s, V>),
    b: (Op, &'a Tiled<'s, W>),
    beta: T,
    c: &'a Tiled<'s, MatMut<'s, T>>,
    sums: Option<&'a Tiled<'s, MatMut<'s, T>>>,
    gemm: Gemm<'s, T, V, W>,
    sum: TileSum<'s, T, MatMut<'s, T>>,
    moves: TileMove<'s, T>,
}

impl<'a, 's, 'e, T: Scalar, V: TileView<'s, Element = T>, W: TileView<'s, Element = T>>
    ScalarTasks<'a, 's, 'e, T, V, W>
{
    pub(crate) fn new(
        s: &'s Scope<'s, 'e>,
        alpha: T,
        a: (Op, &'a Tiled<'s, V>),
        b: (Op, &'a Tiled<'s, W>),
        beta: T,
        c: &'a Tiled<'s, MatMut<'s, T>>,
        sums: Option<&'a Tiled<'s, MatMut<'s, T>>>,
    ) -> Self {
        let (gemm, sum, moves) = (Gemm::new(), TileSum::new("geadd"), TileMove::new());
        Self { s, alpha, a, b, beta, c, sums, gemm, sum, moves }
    }
}

impl<'s, T: Scalar, V: TileView<'s, Element = T>, W: TileView<'s, Element = T>> PlannedTasks
    for ScalarTasks<'_, 's, '_, T, V, W>
{
    const NAMES: [&'static str; 2] = ["gemm", "geadd"];

    fn send(&self, matrix: ProductMatrix, tile: (usize, usize), route: &[Resource]) {
        send_tile(self.a, self.b, self.c, (matrix, tile), route);
    }

    #[track_caller]
    fn multiply(&self, spec: TaskSpec, (i, j): (usize, usize), step: usize, update: PlannedUpdate) {
        let (target, beta) = match self.sums.zip(update.sum) {
            Some((sums, (i, j))) => (sums.at(i, j), T::ZERO),
            None => (self.c.at(i, j), self.beta),
        };
        let (a, b) = (self.a.1.factor(self.a.0, i, step), self.b.1.factor(self.b.0, step, j));
        let beta = if update.is_first { beta } else { T::ONE };
        self.gemm.spawn(self.s, spec, self.alpha, a, b, beta, target);
    }

    #[track_caller]
    fn add(&self, spec: TaskSpec, (i, j): (usize, usize), sum: (usize, usize)) {
        if let Some(sums) = self.sums {
            self.sum.spawn_sum(self.s, spec, T::ONE, sums.factor(Op::None, sum.0, sum.1), self.beta, self.c.at(i, j));
        }
    }

    #[track_caller]
    fn put_back(&self, spec: TaskSpec, (i, j): (usize, usize), place: Place) {
        let tile = self.c.at(i, j);
        if place != HOST {
            self.moves.spawn(self.s, spec.home(Resource(place as u16)), tile);
        } else if tile.is_resident() {
            self.moves.spawn(self.s, spec.lock(Lock::Host), tile);
        }
    }
}
