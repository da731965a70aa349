//! Which products are planned, and what their plans depend on.

use super::{
    Homes, PlannedProduct, ProductPlan,
    cache::{are_alike, plan_of},
    fabric::{Fabric, HOST, place},
};
use crate::{
    Scalar,
    codelets::cost_of_product,
    error::Error,
    options::{Distribution, Options},
    plan::PRODUCT_SERIAL_MAX,
    product_plan::tiles::PRODUCTS_MAX,
    tiled::{TileView, Tiled},
};
use std::sync::Arc;
use superscalar_kernels::{MatMut, Op};
use superscalar_runtime::{DeviceInfo, Lent, Nesting, Resource, Runtime, Scope};

/// The share of a device's memory that a planned product may take.
const MEMORY_SHARE: f64 = 0.8;
/// The edge of the tiles at which the devices' rates are compared.
const RATED_EDGE: usize = 2048;

/// No matrix has more bytes.
const ADDRESSES: usize = isize::MAX as usize;
/// The rate of a device without a known one, in flops per second.
const UNKNOWN_RATE: f64 = 1e12;

/// Returns whether products can be planned: there are devices, all with memory of their own, with links to each other,
/// and equally fast; and the policy follows homes.
fn can_plan(nesting: Nesting<'_>) -> bool {
    let (devices, fabric) = (nesting.devices(), Fabric::of(nesting));
    let mut pairs = (0..fabric.places()).flat_map(|from| (0..fabric.places()).map(move |to| (from, to)));
    let are_linked = fabric.devices() > 0 && pairs.all(|(from, to)| from == to || fabric.link(from, to).is_some());
    let rate = |device: &DeviceInfo| device.speed.flops_per_s;
    are_linked && devices.windows(2).all(|pair| are_alike(rate(&pair[0]), rate(&pair[1]))) && nesting.follows_homes()
}

/// Returns the product of these shapes on a runtime's devices.
fn product_on<T: Scalar>(
    nesting: Nesting<'_>,
    (op_a, op_b): (Op, Op),
    shape: [usize; 3],
    homes: [Homes; 3],
    reads_c: bool,
) -> PlannedProduct {
    let cost = cost_of_product::<T>(RATED_EDGE, RATED_EDGE, RATED_EDGE);
    let devices = nesting.devices();
    let rate = |device: usize| {
        // Tasks that overlap are measured as slower than they are, so the stated rate counts, too.
        let measured = nesting.capability_weight(Resource::device(device as u16), "gemm", cost).rate;
        let rate = measured.max(devices[device].speed.flops_per_s);
        if rate.is_normal() && rate > 0.0 { rate } else { UNKNOWN_RATE }
    };
    PlannedProduct {
        shape,
        element_bytes: size_of::<T>(),
        homes,
        is_transposed: [op_a, op_b].map(|op| op != Op::None),
        reads_c,
        flops_per_s: (0..devices.len()).map(rate).collect(),
        operations: if T::COMPLEX { 8.0 } else { 2.0 },
        latency_ns: devices.iter().map(|device| device.speed.latency_ns as f64).fold(0.0, f64::max),
    }
}

/// Returns whether tiles of this size are too many for a plan on these devices.
fn too_many(tile: [usize; 3], shape: [usize; 3], devices: usize) -> bool {
    let counts = [0, 1, 2].map(|at| shape[at].div_ceil(tile[at].max(1)));
    counts.iter().fold(1, |all: usize, &count| all.saturating_mul(count)) / devices.max(1) > PRODUCTS_MAX
}

/// Returns the plan if every device can hold its share.
fn fitting(nesting: Nesting<'_>, plan: Arc<ProductPlan>) -> Option<Arc<ProductPlan>> {
    let room = nesting.devices().into_iter().map(|device| device.memory.map_or(0, |memory| memory.bytes));
    plan.held_bytes.iter().zip(room).all(|(&held, room)| held as f64 <= MEMORY_SHARE * room as f64).then_some(plan)
}

/// See [`ProductPlan::of_host_matrices`]. The plan chooses the tiles if the options do not give them.
pub(crate) fn plan_of_host_matrices<T: Scalar>(
    rt: &Runtime,
    ops: (Op, Op),
    shape: [usize; 3],
    reads_c: bool,
    options: &Options,
) -> Result<Option<Arc<ProductPlan>>, Error> {
    let tile = options.fixed_tile()?;
    let [m, n, k] = shape;
    let multiplications = [n, k].iter().fold(m, |all, &len| all.saturating_mul(len));
    if multiplications <= if tile.is_some() { 0 } else { PRODUCT_SERIAL_MAX } || !rt.has_devices() {
        return Ok(None);
    }
    let bytes = |rows: usize, columns: usize| rows.checked_mul(columns)?.checked_mul(size_of::<T>());
    if [(m, k), (k, n), (m, n)].iter().any(|&(rows, columns)| bytes(rows, columns).is_none_or(|it| it > ADDRESSES)) {
        return Err(Error::shape(format!("gemm: m = {m}, n = {n}, k = {k}: such matrices have too many bytes")));
    }
    let nesting = rt.nesting();
    let tile = tile.map(|nb| shape.map(|len| nb.min(len)));
    let is_planned = options.distribution_of_product(rt)? == Distribution::Planned;
    if !is_planned || !can_plan(nesting) || tile.is_some_and(|tile| too_many(tile, shape, nesting.devices().len())) {
        return Ok(None);
    }
    let product = product_on::<T>(nesting, ops, shape, [HOST; 3].map(Homes::One), reads_c);
    Ok(plan_of(product, Fabric::of(nesting), tile).and_then(|plan| fitting(nesting, plan)))
}

/// Returns the plan of a product of these matrices, whose tiles may be anywhere, if it can be planned and the devices
/// can hold their shares.
pub(crate) fn plan_of_tiles<'s, T: Scalar, V: TileView<'s, Element = T>, W: TileView<'s, Element = T>>(
    s: &'s Scope<'s, '_>,
    (op_a, a): (Op, &Tiled<'s, V>),
    (op_b, b): (Op, &Tiled<'s, W>),
    (reads_c, c): (bool, &Tiled<'s, MatMut<'s, T>>),
) -> Option<Arc<ProductPlan>> {
    let nesting = s.nesting();
    let ([rows, steps], [_, columns]) = (a.partition(op_a), b.partition(op_b));
    let shape = [rows.len(), columns.len(), steps.len()];
    let tile = [rows.block(), columns.block(), steps.block()];
    if shape.contains(&0) || !can_plan(nesting) || too_many(tile, shape, nesting.devices().len()) {
        return None;
    }
    let home = |holders: Vec<Resource>| holders.iter().map(|&on| place(on)).max().unwrap_or(HOST);
    let of_a = each(rows.count(), steps.count(), |i, p| home(nesting.holders(&a.factor(op_a, i, p).tile)));
    let of_b = each(steps.count(), columns.count(), |p, j| home(nesting.holders(&b.factor(op_b, p, j).tile)));
    let of_c = each(rows.count(), columns.count(), |i, j| home_of_result(nesting, &c.at(i, j)));
    let product = product_on::<T>(nesting, (op_a, op_b), shape, [of_a, of_b, of_c], reads_c);
    plan_of(product, Fabric::of(nesting), Some(tile)).and_then(|plan| fitting(nesting, plan))
}

/// Returns where a tile of the result is, and is to be again. A user may have dealt it to a device that does not exist.
fn home_of_result<'d, V: 'd>(nesting: Nesting<'_>, tile: &Lent<'d, V>) -> usize {
    let devices = nesting.devices().len();
    let home = tile.home().resource().filter(|&on| place(on) <= devices);
    home.or_else(|| nesting.holders(tile).into_iter().max()).map_or(HOST, place)
}

/// Returns the places of tiles, column by column.
fn each(rows: usize, columns: usize, home: impl Fn(usize, usize) -> usize) -> Homes {
    let places: Vec<usize> =
        (0..columns).flat_map(|j| (0..rows).map(move |i| (i, j))).map(|(i, j)| home(i, j)).collect();
    match places.first() {
        Some(&first) if places.iter().all(|&place| place == first) => Homes::One(first),
        _ => Homes::Each(places),
    }
}
