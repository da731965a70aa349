//! Which products are planned, and what their plans depend on.

use super::{
    Homes, PlannedProduct, ProductPlan, ProductSums,
    cache::{RATE_RATIO_MAX, are_alike, plan_of},
    fabric::{Fabric, HOST, place},
    grid::TARGETS_MAX,
};
use crate::{
    Scalar,
    codelets::{HALF_TASK, cost_of_product},
    error::Error,
    options::{Distribution, Options, PlanFeatures},
    plan::PRODUCT_SERIAL_MAX,
    tiled::{TileView, Tiled},
};
use std::sync::Arc;
use superscalar_kernels::{Half, HalfResult, MatMut, Op, device::cost_of_half_product};
use superscalar_runtime::{Cost, DeviceInfo, Lent, Nesting, Resource, Runtime, Scope};

/// The share of a device's memory that a planned product may take.
const MEMORY_SHARE: f64 = 0.8;
/// The edge of the tiles at which the devices' rates are compared.
const RATED_EDGE: usize = 2048;

/// No matrix has more bytes.
const ADDRESSES: usize = isize::MAX as usize;
/// The rate of a device without a known one, in flops per second or bytes per second.
const UNKNOWN_RATE: f64 = 1e12;

/// The devices of a runtime on which products can be planned, and the links between memories.
struct PlanningMachine<'n> {
    nesting: Nesting<'n>,
    devices: Vec<DeviceInfo>,
    fabric: Fabric,
}

impl<'n> PlanningMachine<'n> {
    /// Returns the devices if there are any, all with memory of their own, with links to each other, and equally fast,
    /// and if the policy follows homes.
    fn of(nesting: Nesting<'n>) -> Option<Self> {
        let devices = nesting.devices();
        let fabric = Fabric::of(&devices, nesting);
        let mut pairs = (0..fabric.places()).flat_map(|from| (0..fabric.places()).map(move |to| (from, to)));
        let are_linked = !devices.is_empty() && pairs.all(|(from, to)| from == to || fabric.link(from, to).is_some());
        let rate = |device: &DeviceInfo| device.speed.flops_per_s;
        let are_equal = devices.windows(2).all(|pair| are_alike(rate(&pair[0]), rate(&pair[1]), RATE_RATIO_MAX));
        (are_linked && are_equal && nesting.follows_homes()).then_some(Self { nesting, devices, fabric })
    }

    /// Returns the product of these shapes.
    fn product(
        &self,
        elements: &ProductElements,
        (op_a, op_b): (Op, Op),
        shape: [usize; 3],
        homes: [Homes; 3],
        reads_c: bool,
        features: PlanFeatures,
    ) -> PlannedProduct {
        let &ProductElements { task, cost, bytes: element_bytes, operations, sums } = elements;
        let rate = |(at, device): (usize, &DeviceInfo)| {
            // Tasks that overlap are measured as slower than they are, so the stated rate counts, too.
            let measured = self.nesting.capability_weight(Resource::device(at as u16), task, cost).rate;
            let rate = measured.max(device.speed.flops_per_s);
            if rate.is_normal() && rate > 0.0 { rate } else { UNKNOWN_RATE }
        };
        PlannedProduct {
            shape,
            element_bytes,
            homes,
            is_transposed: [op_a, op_b].map(|op| op != Op::None),
            reads_c,
            flops_per_s: self.devices.iter().enumerate().map(rate).collect(),
            operations,
            latency_ns: self.devices.iter().map(|device| device.speed.latency_ns).max().unwrap_or(0) as f64,
            memory_bytes_per_s: self.devices.iter().map(memory_rate).fold(f64::INFINITY, f64::min),
            room_bytes: self.devices.iter().map(room_bytes).min().unwrap_or(0),
            sums,
            features,
        }
    }

    /// Returns the plan of a product, with these tiles if they are given, if every device can hold its share.
    fn plan(self, product: PlannedProduct, tile: Option<[usize; 3]>) -> Option<Arc<ProductPlan>> {
        let room = product.room_bytes;
        plan_of(product, self.fabric, tile).filter(|plan| plan.held_bytes.iter().all(|&held| held <= room))
    }
}

/// The properties of the elements' types that a plan depends on.
pub(crate) struct ProductElements {
    /// The name of a product's task, and the cost of one in tiles of [`RATED_EDGE`].
    task: &'static str,
    cost: Cost,
    /// Bytes of an element of A, B and C, and of a sum of products.
    bytes: [usize; 4],
    /// The operations of a multiplication and addition.
    operations: f64,
    sums: ProductSums,
}

impl ProductElements {
    /// Returns those of matrices of one type.
    pub(crate) fn of<T: Scalar>(sums: ProductSums) -> Self {
        let cost = cost_of_product::<T>(RATED_EDGE, RATED_EDGE, RATED_EDGE);
        let operations = if T::COMPLEX { 8.0 } else { 2.0 };
        Self { task: "gemm", cost, bytes: [size_of::<T>(); 4], operations, sums }
    }

    /// Returns those of matrices in half precision.
    pub(crate) fn of_half<H: Half, C: HalfResult<H>>() -> Self {
        let cost = cost_of_half_product::<H>((RATED_EDGE, RATED_EDGE), RATED_EDGE, size_of::<C>());
        let sums = if C::IS_SINGLE { ProductSums::IfLate } else { ProductSums::Always };
        let bytes = [size_of::<H>(), size_of::<H>(), size_of::<C>(), size_of::<f32>()];
        Self { task: HALF_TASK, cost, bytes, operations: 2.0, sums }
    }
}

/// Returns the number of devices if products can be planned on them, one route reaches all, and each has room for its
/// bytes, which may depend on their number.
pub(crate) fn devices_with_room(nesting: Nesting<'_>, bytes: impl Fn(usize) -> f64) -> Option<usize> {
    let machine = PlanningMachine::of(nesting)?;
    let (devices, room) = (machine.devices.len(), machine.devices.iter().map(room_bytes).min()?);
    (devices <= TARGETS_MAX && bytes(devices) <= room as f64).then_some(devices)
}

/// Returns the bytes of a device's memory that a plan may use.
fn room_bytes(device: &DeviceInfo) -> u64 {
    device.memory.as_ref().map_or(0, |memory| (MEMORY_SHARE * memory.bytes as f64) as u64)
}

/// Returns the bytes per second of a device's memory.
fn memory_rate(device: &DeviceInfo) -> f64 {
    let rate = device.speed.bytes_per_s;
    if rate.is_normal() && rate > 0.0 { rate } else { UNKNOWN_RATE }
}

/// See [`ProductPlan::of_host_matrices`]. The plan chooses the tiles if the options do not give them.
pub(crate) fn plan_of_host_matrices(
    rt: &Runtime,
    elements: &ProductElements,
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
    let bytes = |(rows, columns): (usize, usize), element: usize| rows.checked_mul(columns)?.checked_mul(element);
    let are_too_many = |(shape, element)| bytes(shape, element).is_none_or(|it| it > ADDRESSES);
    if [(m, k), (k, n), (m, n)].into_iter().zip(elements.bytes).any(are_too_many) {
        let name = elements.task;
        return Err(Error::shape(format!("{name}: m = {m}, n = {n}, k = {k}: such matrices have too many bytes")));
    }
    let tile = tile.map(|nb| shape.map(|len| nb.min(len)));
    if options.distribution_of_product(rt)? != Distribution::Planned {
        return Ok(None);
    }
    let machine = PlanningMachine::of(rt.nesting());
    Ok(machine.and_then(|machine| {
        let homes = [HOST; 3].map(Homes::One);
        let product = machine.product(elements, ops, shape, homes, reads_c, options.plan_features);
        machine.plan(product, tile)
    }))
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
    if shape.contains(&0) {
        return None;
    }
    let machine = PlanningMachine::of(nesting)?;
    let home = |holders: Vec<Resource>| holders.iter().map(|&on| place(on)).max().unwrap_or(HOST);
    let of_a = each(rows.count(), steps.count(), |i, p| home(nesting.holders(&a.factor(op_a, i, p).tile)));
    let of_b = each(steps.count(), columns.count(), |p, j| home(nesting.holders(&b.factor(op_b, p, j).tile)));
    let of_c = each(rows.count(), columns.count(), |i, j| home_of_result(&machine, &c.at(i, j)));
    let elements = ProductElements::of::<T>(ProductSums::Never);
    let homes = [of_a, of_b, of_c];
    let product = machine.product(&elements, (op_a, op_b), shape, homes, reads_c, PlanFeatures::default());
    machine.plan(product, Some(tile))
}

/// Returns where a tile of the result is, and is to be again. A user may have dealt it to a device that does not exist.
fn home_of_result<'d, V: 'd>(machine: &PlanningMachine<'_>, tile: &Lent<'d, V>) -> usize {
    let home = tile.home().resource().filter(|&on| place(on) <= machine.devices.len());
    home.or_else(|| machine.nesting.holders(tile).into_iter().max()).map_or(HOST, place)
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
