//! The order of a plan's steps: for each device the product whose factors arrive first, and for each fetch the chain of
//! copies that ends first ("Uncut-GEMMs", sections III-D to III-G).

use super::{
    PlanStep, PlannedProduct, ProductMatrix, ProductPlan,
    arrivals::{Arrival, Arrivals},
    fabric::{Fabric, HOST, Hop, Load, Loads, Place},
    grid::{Cut, DeviceGrid},
    owners::{Owners, distinct},
    turns::Turns,
};
use std::{collections::HashMap, ops::Range};
use superscalar_runtime::LinkInfo;

/// Of at most this many targets, all orders are tried.
const ORDERED_MAX: usize = 4;

/// A product of tiles: the tile of C, and the step.
type Product = (usize, usize, usize);

/// The work of one device in an area of C.
#[derive(Default)]
struct Share {
    /// Its tiles of C, the rows and columns of tiles in which they are, and their positions in these lists.
    tiles: Vec<(usize, usize)>,
    rows: Vec<usize>,
    columns: Vec<usize>,
    row_at: Vec<usize>,
    column_at: Vec<usize>,
    /// The steps of the slab, and its products that have no place in the order yet.
    slab: Range<usize>,
    open: Vec<Product>,
    /// When the device has computed what it was given.
    free: f64,
    held: HeldBytes,
    arrivals: ShareArrivals,
}

impl Share {
    /// Gives the device its tiles of an area.
    fn begin(&mut self, tiles: Vec<(usize, usize)>, slabs: usize) {
        self.rows = distinct(tiles.iter().map(|tile| tile.0).collect());
        self.columns = distinct(tiles.iter().map(|tile| tile.1).collect());
        (self.row_at, self.column_at) = (positions(&self.rows), positions(&self.columns));
        (self.tiles, self.slab) = (tiles, 0..0);
        self.held.begin(slabs);
        // What would arrive was computed for other tiles.
        self.arrivals = ShareArrivals::default();
    }

    /// Goes on to the next slab of this many steps.
    fn next_slab(&mut self, len: usize, steps: usize) {
        self.slab = self.slab.end..steps.min(self.slab.end + len);
        let products = |&(i, j): &(usize, usize)| self.slab.clone().map(move |p| (i, j, p));
        self.open = self.tiles.iter().flat_map(products).collect();
        self.arrivals = ShareArrivals::default();
    }
}

/// The bytes that a device holds.
#[derive(Default)]
struct HeldBytes {
    /// Of C's tiles in this area, and of the factors of each slab.
    of_c: u64,
    of_slabs: Vec<u64>,
    /// The most in the areas before.
    most: u64,
}

impl HeldBytes {
    fn begin(&mut self, slabs: usize) {
        self.most = self.most();
        (self.of_c, self.of_slabs) = (0, vec![0; slabs]);
    }

    /// Returns the most bytes at a time: while a slab is computed, the next one arrives.
    fn most(&self) -> u64 {
        let pairs = self.of_slabs.windows(2).map(|pair| pair[0] + pair[1]);
        let factors = pairs.chain(self.of_slabs.first().copied()).max().unwrap_or(0);
        self.most.max(self.of_c + factors)
    }
}

/// When the tiles of one device would be there: A's by rows and the steps of the slab, B's by columns and steps, C's
/// by rows and columns.
#[derive(Default)]
struct ShareArrivals {
    /// The number of fetches that were planned then, plus one; zero if nothing was computed yet.
    planned: usize,
    a: Vec<Arrival>,
    b: Vec<Arrival>,
    c: Vec<Arrival>,
}

/// A tile of C.
#[derive(Clone, Copy)]
struct Sum {
    /// When the products so far are computed.
    end: f64,
    /// The products that are missing.
    missing: usize,
    /// Whether they are added to C only when all are there.
    is_apart: bool,
}

/// A plan in the making.
pub(super) struct Schedule<'a> {
    product: &'a PlannedProduct,
    fabric: &'a Fabric,
    loads: Loads<'a>,
    cuts: [Cut; 3],
    tile: [usize; 3],
    grid: DeviceGrid,
    turns: Turns,
    owners: Owners,
    shares: Vec<Share>,
    a: Arrivals,
    b: Arrivals,
    sums: Vec<Sum>,
    /// The places that a tile of A or B was copied to in earlier areas, in this order.
    routes: HashMap<(ProductMatrix, (usize, usize)), Vec<Place>>,
    /// The number of fetches that are planned, plus one.
    planned: usize,
    steps: Vec<PlanStep>,
}

impl<'a> Schedule<'a> {
    pub(super) fn new(
        product: &'a PlannedProduct,
        fabric: &'a Fabric,
        grid: DeviceGrid,
        tile: [usize; 3],
        turns: Turns,
    ) -> Self {
        let cuts = product.cuts(tile);
        let [rows, columns, steps] = cuts.map(Cut::count);
        Self {
            product,
            fabric,
            loads: Loads::new(fabric),
            cuts,
            tile,
            grid,
            turns,
            owners: Owners::new(product, &cuts, grid, [0..0, 0..0]),
            shares: (0..fabric.devices()).map(|_| Share::default()).collect(),
            a: Arrivals::new((0, 0), 0, |_| HOST),
            b: Arrivals::new((0, 0), 0, |_| HOST),
            sums: vec![Sum { end: 0.0, missing: steps, is_apart: false }; rows * columns],
            routes: HashMap::new(),
            planned: 1,
            steps: Vec::new(),
        }
    }

    /// Plans all steps: the device that is free first gets its next product.
    pub(super) fn run(mut self) -> ProductPlan {
        for area in self.turns.areas(&self.cuts) {
            self.begin(area);
            while let Some(device) = self.next_device() {
                let next = self.next_product(device);
                let product = self.shares[device].open.remove(next);
                self.multiply(device, product);
            }
        }
        let end_ns = self.steps.iter().map(PlanStep::end).fold(0.0, f64::max);
        let held_bytes = self.shares.iter().map(|share| share.held.most()).collect();
        let Self { owners, tile, steps, cuts: [rows, columns, _], .. } = self;
        ProductPlan {
            grid: owners.grid,
            tile,
            rows_of_tiles: rows.count(),
            columns_of_tiles: columns.count(),
            has_routes: self.product.features.routes,
            has_areas: self.turns.areas != [1, 1],
            steps,
            traffic: self.loads.traffic(),
            held_bytes,
            end_ns,
        }
    }

    /// Begins an area of C, with the factors where they are at home.
    fn begin(&mut self, area: [Range<usize>; 2]) {
        let ([rows, columns, steps], places) = (self.cuts.map(Cut::count), self.fabric.places());
        let [home_a, home_b, _] = &self.product.homes;
        self.a = Arrivals::new((rows, steps), places, |tile| home_a.of(tile, rows));
        self.b = Arrivals::new((steps, columns), places, |tile| home_b.of(tile, steps));
        self.owners = Owners::new(self.product, &self.cuts, self.grid, area);
        for (device, share) in self.shares.iter_mut().enumerate() {
            share.begin(self.owners.tiles_of(device).collect(), steps.div_ceil(self.turns.slab));
        }
    }

    /// Returns the device with products that is free first.
    fn next_device(&mut self) -> Option<usize> {
        let steps = self.cuts[2].count();
        // Chains of copies bring factors to all devices, which hold those of two slabs: none may be further ahead.
        let begun = self.shares.iter().filter(|share| !share.tiles.is_empty()).map(|share| share.slab.end).min();
        let idle = self.shares.iter_mut().filter(|share| {
            share.open.is_empty() && share.slab.end < steps && begun.is_some_and(|begun| share.slab.end <= begun)
        });
        idle.for_each(|share| share.next_slab(self.turns.slab, steps));
        let with_products = (0..self.shares.len()).filter(|&device| !self.shares[device].open.is_empty());
        with_products.min_by(|&a, &b| self.shares[a].free.total_cmp(&self.shares[b].free))
    }

    /// Returns when a tile would be on the device, at the earliest.
    fn arrival(&self, row: &[f64], device: usize, load: Load) -> Arrival {
        let there = row[device + 1];
        if there.is_finite() {
            return Arrival::at(there);
        }
        let sources = row.iter().enumerate().filter(|(_, at)| at.is_finite());
        let hops = sources.filter_map(|(from, &at)| self.loads.hop(from, device + 1, load, at));
        hops.min_by(|a, b| a.end.total_cmp(&b.end)).map_or(Arrival::NEVER, Arrival::by)
    }

    /// Returns the copy of a tile of C to the device, if one is needed.
    fn copy_of_c(&self, tile: (usize, usize), device: usize) -> Option<Hop> {
        let (from, to) = (self.product.homes[2].of(tile, self.cuts[0].count()), device + 1);
        let load = self.product.load(ProductMatrix::C, &self.cuts, tile);
        let is_needed = self.product.reads_c && from != to;
        is_needed.then(|| self.loads.hop(from, to, load, 0.0)).flatten()
    }

    /// Returns when a tile of C would be on the device, at the earliest.
    fn arrival_of_c(&self, tile: (usize, usize), device: usize) -> Arrival {
        let is_begun = self.sums[tile.0 + tile.1 * self.cuts[0].count()].missing < self.cuts[2].count();
        if self.turns.has_sums || is_begun {
            return Arrival::HERE;
        }
        self.copy_of_c(tile, device).map_or(Arrival::HERE, Arrival::by)
    }

    /// Returns when the tiles of a device would be there.
    fn arrivals(&self, device: usize) -> ShareArrivals {
        let share = &self.shares[device];
        let load = |matrix, at| self.product.load(matrix, &self.cuts, at);
        let a = share.rows.iter().flat_map(|&i| share.slab.clone().map(move |p| (i, p)));
        let b = share.columns.iter().flat_map(|&j| share.slab.clone().map(move |p| (p, j)));
        let c = share.rows.iter().flat_map(|&i| share.columns.iter().map(move |&j| (i, j)));
        ShareArrivals {
            planned: self.planned,
            a: a.map(|at| self.arrival(self.a.of(at), device, load(ProductMatrix::A, at))).collect(),
            b: b.map(|at| self.arrival(self.b.of(at), device, load(ProductMatrix::B, at))).collect(),
            c: c.map(|at| self.arrival_of_c(at, device)).collect(),
        }
    }

    /// Returns the index of the open product of a device whose tiles arrive first. Of equal ones it is the one of a
    /// tile of C with the fewest missing products.
    fn next_product(&mut self, device: usize) -> usize {
        if !self.product.features.arrival_order {
            return 0;
        }
        if self.shares[device].arrivals.planned != self.planned {
            self.shares[device].arrivals = self.arrivals(device);
        }
        let (rows, share) = (self.cuts[0].count(), &self.shares[device]);
        let (ShareArrivals { a, b, c, .. }, width) = (&share.arrivals, share.columns.len());
        let (first, steps) = (share.slab.start, share.slab.len());
        let key = |&(i, j, p): &Product| {
            let (row, column) = (share.row_at[i], share.column_at[j]);
            let factors = [a[row * steps + p - first], b[column * steps + p - first]];
            let ready = Arrival::of_all([factors[0], factors[1], c[row * width + column]]);
            (ready.max(share.free), self.sums[i + j * rows].missing)
        };
        let keys = share.open.iter().map(key).enumerate();
        let first = keys.min_by(|(_, x), (_, y)| x.0.total_cmp(&y.0).then(x.1.cmp(&y.1)));
        first.map_or(0, |(at, _)| at)
    }

    /// Plans a product and the copies that it needs.
    fn multiply(&mut self, device: usize, (i, j, p): Product) {
        let [rows, columns, steps] = self.cuts;
        let (m, n, k) = (rows.of(i), columns.of(j), steps.of(p));
        let a = self.fetch(ProductMatrix::A, (i, p), device);
        let b = self.fetch(ProductMatrix::B, (p, j), device);
        let (at, factors) = (i + j * rows.count(), a.max(b).max(self.shares[device].free));
        if self.sums[at].missing == steps.count() {
            self.begin_sum((i, j), device, factors);
        }
        let begin = factors.max(self.sums[at].end);
        let operations = self.product.operations * m as f64 * n as f64 * k as f64;
        let end = begin + self.product.latency_ns + operations / self.product.flops_per_s[device] * 1e9;
        self.shares[device].free = end;
        self.steps.push(PlanStep::Multiply { device, tile: (i, j), step: p, begin, end });
        let sum = &mut self.sums[at];
        (sum.end, sum.missing) = (end, sum.missing - 1);
        if sum.missing == 0 {
            self.finish_sum((i, j), device);
        }
    }

    /// Plans the fetch of a tile of C before its first product. If that would have to wait, and there is room for sums,
    /// the tile is fetched after the last one.
    fn begin_sum(&mut self, tile: (usize, usize), device: usize, factors: f64) {
        let bytes = self.product.load(ProductMatrix::C, &self.cuts, tile).bytes as u64;
        let at = tile.0 + tile.1 * self.cuts[0].count();
        let [_, _, of_c, of_sum] = self.product.element_bytes;
        self.shares[device].held.of_c += bytes;
        let hop = self.copy_of_c(tile, device);
        let is_late = self.turns.has_sums && hop.is_some_and(|hop| hop.end > factors);
        if is_late || self.product.needs_sums(&self.cuts) {
            self.shares[device].held.of_c += bytes / of_c as u64 * of_sum as u64;
            self.sums[at].is_apart = true;
        } else if let Some(hop) = hop {
            self.sums[at].end = self.fetch_c(tile, hop);
        }
    }

    /// Plans what follows the last product of a tile of C: the addition, if its products are apart from it, and the
    /// copy to its home.
    fn finish_sum(&mut self, tile: (usize, usize), device: usize) {
        let (rows, load) = (self.cuts[0].count(), self.product.load(ProductMatrix::C, &self.cuts, tile));
        let Sum { mut end, is_apart, .. } = self.sums[tile.0 + tile.1 * rows];
        if is_apart {
            let fetched = self.copy_of_c(tile, device).map(|hop| self.fetch_c(tile, hop));
            let begin = end.max(fetched.unwrap_or(0.0));
            // The addition reads the sum, and C if it is not overwritten, and writes C.
            let [_, _, of_c, of_sum] = self.product.bytes_of_elements();
            let of_element = of_sum + if self.product.reads_c { 2.0 * of_c } else { of_c };
            let bytes = load.bytes as f64 / of_c * of_element;
            let ns = self.product.latency_ns + bytes / self.product.memory_bytes_per_s * 1e9;
            end = begin + ns;
            // Other products go on while C's tile is on its way.
            self.shares[device].free += ns;
            self.steps.push(PlanStep::Add { device, tile, begin, end });
        }
        let (from, to) = (device + 1, self.product.homes[2].of(tile, rows));
        if from != to
            && let Some(hop) = self.loads.hop(from, to, load, end)
        {
            self.loads.add(hop, load);
            self.steps.push(PlanStep::Return { tile, bytes: load.bytes, hop });
        }
    }

    /// Plans the fetch of a tile of C. Returns its arrival.
    fn fetch_c(&mut self, tile: (usize, usize), hop: Hop) -> f64 {
        let load = self.product.load(ProductMatrix::C, &self.cuts, tile);
        self.loads.add(hop, load);
        self.planned += 1;
        self.steps.push(PlanStep::Fetch { matrix: ProductMatrix::C, tile, bytes: load.bytes, hops: vec![hop] });
        hop.end
    }

    /// Plans the fetch of a tile of A or B to a device and to all others that need it, unless it is planned. Returns
    /// its arrival.
    fn fetch(&mut self, matrix: ProductMatrix, tile: (usize, usize), device: usize) -> f64 {
        let is_a = matrix == ProductMatrix::A;
        let arrivals = if is_a { &self.a } else { &self.b };
        let there = arrivals.of(tile)[device + 1];
        if there.is_finite() {
            return there;
        }
        let row = arrivals.of(tile).to_vec();
        let load = self.product.load(matrix, &self.cuts, tile);
        let users = if is_a { self.owners.of_row(tile.0) } else { self.owners.of_column(tile.1) };
        let mut to: Vec<Place> = users.iter().map(|user| user + 1).filter(|&place| row[place].is_infinite()).collect();
        let Some(hops) = self.best_chain((matrix, tile), &row, &mut to, load) else { return f64::INFINITY };
        let slab = (if is_a { tile.1 } else { tile.0 }) / self.turns.slab;
        for &hop in &hops {
            self.loads.add(hop, load);
            let arrivals = if is_a { &mut self.a } else { &mut self.b };
            arrivals.set(tile, hop.to, hop.end);
            self.shares[hop.to - 1].held.of_slabs[slab] += load.bytes as u64;
        }
        let arrival = hops.iter().find(|hop| hop.to == device + 1).map_or(f64::INFINITY, |hop| hop.end);
        self.planned += 1;
        self.steps.push(PlanStep::Fetch { matrix, tile, bytes: load.bytes, hops });
        arrival
    }

    /// Returns the chain of copies to these places that ends first. A tile has one route: in later areas it is the
    /// first one again.
    fn best_chain(
        &mut self,
        of: (ProductMatrix, (usize, usize)),
        row: &[f64],
        to: &mut [Place],
        load: Load,
    ) -> Option<Vec<Hop>> {
        if let Some(route) = self.routes.get(&of)
            && route.len() == to.len()
            && to.iter().all(|place| route.contains(place))
        {
            return self.chain(HOST, row[HOST], route, load);
        }
        let mut best: Option<Vec<Hop>> = None;
        let end = |hops: &[Hop]| hops.iter().map(|hop| hop.end).fold(0.0, f64::max);
        for from in (0..row.len()).filter(|&from| row[from].is_finite()) {
            orders(to, 0, &mut |order| {
                let Some(hops) = self.chain(from, row[from], order, load) else { return };
                if best.as_deref().is_none_or(|best| end(&hops) < end(best)) {
                    best = Some(hops);
                }
            });
        }
        if let Some(hops) = best.as_ref().filter(|_| self.turns.areas != [1, 1]) {
            self.routes.entry(of).or_insert_with(|| hops.iter().map(|hop| hop.to).collect());
        }
        best
    }

    /// Returns the copies of a chain through these places, of which each forwards the parts that have arrived; `None`
    /// if a link is missing.
    fn chain(&self, from: Place, ready: f64, order: &[Place], load: Load) -> Option<Vec<Hop>> {
        let mut hops: Vec<Hop> = Vec::with_capacity(order.len());
        let mut links = Vec::with_capacity(order.len());
        let mut at = from;
        for &to in order {
            links.push(self.fabric.link(at, to)?);
            at = to;
        }
        let parts = LinkInfo::parts_of_copy(&links, load.bytes) as f64;
        let (mut source, mut ready, mut before) = (from, ready, 0.0);
        for &to in order {
            let hop = self.loads.hop(source, to, load, ready)?;
            let part = (hop.end - hop.begin) / parts;
            let hop = Hop { end: hop.end.max(before + part), ..hop };
            (source, ready, before) = (to, hop.begin + part, hop.end);
            hops.push(hop);
        }
        Some(hops)
    }
}

/// Returns the position of each number in an increasing list, by number.
fn positions(list: &[usize]) -> Vec<usize> {
    let mut positions = vec![usize::MAX; list.last().map_or(0, |last| last + 1)];
    list.iter().enumerate().for_each(|(at, &number)| positions[number] = at);
    positions
}

/// Calls `with` for the orders of the places from `fixed` on: all of them, or of many places the rotations.
fn orders(places: &mut [Place], fixed: usize, with: &mut impl FnMut(&[Place])) {
    if fixed + 1 >= places.len() {
        return with(places);
    }
    if fixed == 0 && places.len() > ORDERED_MAX {
        for _ in 0..places.len() {
            with(places);
            places.rotate_left(1);
        }
        return;
    }
    for at in fixed..places.len() {
        places.swap(fixed, at);
        orders(places, fixed + 1, with);
        places.swap(fixed, at);
    }
}
