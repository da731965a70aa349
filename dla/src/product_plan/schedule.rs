//! The order of a plan's steps: for each device the product whose factors arrive first, and for each fetch the chain of
//! copies that ends first ("Uncut-GEMMs", sections III-D to III-G).

use super::{
    PlanStep, PlannedProduct, ProductMatrix, ProductPlan,
    fabric::{Fabric, HOST, Hop, Load, Loads, Place},
    grid::{Cut, DeviceGrid},
    owners::{Owners, distinct},
};
use superscalar_runtime::LinkInfo;

/// Of at most this many targets, all orders are tried.
const ORDERED_MAX: usize = 4;

/// When the tiles of one matrix arrive in each memory; infinite if no copy is planned.
struct Arrivals {
    rows: usize,
    places: usize,
    at: Vec<f64>,
}

impl Arrivals {
    fn new((rows, columns): (usize, usize), places: usize, home: impl Fn((usize, usize)) -> Place) -> Self {
        let mut all = Self { rows, places, at: vec![f64::INFINITY; rows * columns * places] };
        for (i, j) in (0..columns).flat_map(|j| (0..rows).map(move |i| (i, j))) {
            let first = all.first(i, j);
            all.at[first + home((i, j))] = 0.0;
        }
        all
    }

    fn first(&self, i: usize, j: usize) -> usize {
        (i + j * self.rows) * self.places
    }

    /// Returns the arrivals of a tile, by place.
    fn of(&self, (i, j): (usize, usize)) -> &[f64] {
        &self.at[self.first(i, j)..][..self.places]
    }

    fn set(&mut self, (i, j): (usize, usize), place: Place, arrival: f64) {
        let first = self.first(i, j);
        self.at[first + place] = arrival;
    }
}

/// When a tile would arrive, and for how long it would occupy the device's link to the host.
#[derive(Clone, Copy)]
struct Arrival {
    end: f64,
    host_ns: f64,
}

impl Arrival {
    const HERE: Self = Self { end: 0.0, host_ns: 0.0 };
    const NEVER: Self = Self { end: f64::INFINITY, host_ns: 0.0 };

    fn by(hop: Hop) -> Self {
        Self { end: hop.end, host_ns: if hop.from == HOST { hop.end - hop.begin } else { 0.0 } }
    }

    /// Returns when all of these tiles would have arrived: over the link to the host, one after the other.
    fn of_all(tiles: [Self; 3]) -> f64 {
        let end = tiles.iter().map(|it| it.end).fold(0.0, f64::max);
        let (sum, longest) =
            tiles.iter().fold((0.0, 0.0_f64), |(sum, most), it| (sum + it.host_ns, most.max(it.host_ns)));
        end + sum - longest
    }
}

/// A product of tiles: the tile of C, and the step.
type Product = (usize, usize, usize);

/// The work of one device.
struct Share {
    /// The rows of tiles of C in which it has tiles, and the columns.
    rows: Vec<usize>,
    columns: Vec<usize>,
    /// Their positions in these lists.
    row_at: Vec<usize>,
    column_at: Vec<usize>,
    /// The products that have no place in the order yet.
    open: Vec<Product>,
    /// When the device has computed what it was given.
    free: f64,
    /// The bytes that it holds.
    held: u64,
    arrivals: ShareArrivals,
}

/// When the tiles of one device would be there: A's by rows and steps, B's by columns and steps, C's by rows and
/// columns.
#[derive(Default)]
struct ShareArrivals {
    /// The number of fetches that were planned then, plus one.
    planned: usize,
    a: Vec<Arrival>,
    b: Vec<Arrival>,
    c: Vec<Arrival>,
}

/// A plan in the making.
pub(super) struct Schedule<'a> {
    product: &'a PlannedProduct,
    fabric: &'a Fabric,
    loads: Loads<'a>,
    cuts: [Cut; 3],
    tile: [usize; 3],
    owners: Owners,
    shares: Vec<Share>,
    a: Arrivals,
    b: Arrivals,
    /// When the sums of each tile of C so far are computed, and the products that are missing.
    sums: Vec<(f64, usize)>,
    /// The number of fetches that are planned, plus one.
    planned: usize,
    steps: Vec<PlanStep>,
}

impl<'a> Schedule<'a> {
    pub(super) fn new(product: &'a PlannedProduct, fabric: &'a Fabric, grid: DeviceGrid, tile: [usize; 3]) -> Self {
        let cuts = product.cuts(tile);
        let [rows, columns, steps] = cuts.map(Cut::count);
        let owners = Owners::new(product, &cuts, grid);
        let share = |device: usize| {
            let rows = distinct(owners.tiles_of(device).map(|tile| tile.0).collect());
            let columns = distinct(owners.tiles_of(device).map(|tile| tile.1).collect());
            let open = owners.tiles_of(device).flat_map(|(i, j)| (0..steps).map(move |p| (i, j, p))).collect();
            let (row_at, column_at) = (positions(&rows), positions(&columns));
            let arrivals = ShareArrivals::default();
            Share { rows, columns, row_at, column_at, open, free: 0.0, held: 0, arrivals }
        };
        let [home_a, home_b, _] = &product.homes;
        let places = fabric.places();
        Self {
            product,
            fabric,
            loads: Loads::new(fabric),
            cuts,
            tile,
            shares: (0..fabric.devices()).map(share).collect(),
            owners,
            a: Arrivals::new((rows, steps), places, |tile| home_a.of(tile, rows)),
            b: Arrivals::new((steps, columns), places, |tile| home_b.of(tile, steps)),
            sums: vec![(0.0, steps); rows * columns],
            planned: 1,
            steps: Vec::new(),
        }
    }

    /// Plans all steps: the device that is free first gets its next product.
    pub(super) fn run(mut self) -> ProductPlan {
        let free = |shares: &[Share], device: usize| shares[device].free;
        while let Some(device) = (0..self.shares.len())
            .filter(|&device| !self.shares[device].open.is_empty())
            .min_by(|&a, &b| free(&self.shares, a).total_cmp(&free(&self.shares, b)))
        {
            let next = self.first_to_arrive(device);
            let product = self.shares[device].open.swap_remove(next);
            self.multiply(device, product);
        }
        let end_ns = self.steps.iter().map(PlanStep::end).fold(0.0, f64::max);
        let held_bytes = self.shares.iter().map(|share| share.held).collect();
        let Self { owners, tile, steps, cuts: [rows, ..], .. } = self;
        ProductPlan {
            grid: owners.grid,
            tile,
            rows_of_tiles: rows.count(),
            steps,
            traffic: self.loads.traffic(),
            held_bytes,
            end_ns,
        }
    }

    /// Returns when a tile would be on the device, at the earliest.
    fn arrival(&self, row: &[f64], device: usize, load: Load) -> Arrival {
        let there = row[device + 1];
        if there.is_finite() {
            return Arrival { end: there, host_ns: 0.0 };
        }
        let sources = row.iter().enumerate().filter(|(_, at)| at.is_finite());
        let hops = sources.filter_map(|(from, &at)| self.loads.hop(from, device + 1, load, at));
        hops.min_by(|a, b| a.end.total_cmp(&b.end)).map_or(Arrival::NEVER, Arrival::by)
    }

    /// Returns when a tile of C would be on the device, at the earliest.
    fn arrival_of_c(&self, tile: (usize, usize), device: usize) -> Arrival {
        let (from, to) = (self.product.homes[2].of(tile, self.cuts[0].count()), device + 1);
        if !self.product.reads_c
            || from == to
            || self.sums[tile.0 + tile.1 * self.cuts[0].count()].1 < self.cuts[2].count()
        {
            return Arrival::HERE;
        }
        let load = self.product.load(ProductMatrix::C, &self.cuts, tile);
        self.loads.hop(from, to, load, 0.0).map_or(Arrival::NEVER, Arrival::by)
    }

    /// Returns when the tiles of a device would be there.
    fn arrivals(&self, device: usize) -> ShareArrivals {
        let share = &self.shares[device];
        let steps = self.cuts[2].count();
        let load = |matrix, at| self.product.load(matrix, &self.cuts, at);
        let a = share.rows.iter().flat_map(|&i| (0..steps).map(move |p| (i, p)));
        let b = share.columns.iter().flat_map(|&j| (0..steps).map(move |p| (p, j)));
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
    fn first_to_arrive(&mut self, device: usize) -> usize {
        if self.shares[device].arrivals.planned != self.planned {
            self.shares[device].arrivals = self.arrivals(device);
        }
        let ([rows, _, steps], share) = (self.cuts.map(Cut::count), &self.shares[device]);
        let (ShareArrivals { a, b, c, .. }, width) = (&share.arrivals, share.columns.len());
        let key = |&(i, j, p): &Product| {
            let (row, column) = (share.row_at[i], share.column_at[j]);
            let ready = Arrival::of_all([a[row * steps + p], b[column * steps + p], c[row * width + column]]);
            (ready.max(share.free), self.sums[i + j * rows].1)
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
        let at = i + j * rows.count();
        let (mut ready, missing) = self.sums[at];
        if missing == steps.count() {
            ready = self.place_c((i, j), device);
        }
        let begin = a.max(b).max(ready).max(self.shares[device].free);
        let operations = self.product.operations * m as f64 * n as f64 * k as f64;
        let end = begin + self.product.latency_ns + operations / self.product.flops_per_s[device] * 1e9;
        self.shares[device].free = end;
        self.sums[at] = (end, missing - 1);
        self.steps.push(PlanStep::Multiply { device, tile: (i, j), step: p, begin, end });
        let (from, to) = (device + 1, self.product.homes[2].of((i, j), rows.count()));
        if missing == 1
            && from != to
            && let load = self.product.load(ProductMatrix::C, &self.cuts, (i, j))
            && let Some(hop) = self.loads.hop(from, to, load, end)
        {
            self.loads.add(hop, load);
            self.steps.push(PlanStep::Return { tile: (i, j), bytes: load.bytes, hop });
        }
    }

    /// Plans the fetch of a tile of C, if it is read and elsewhere. Returns its arrival.
    fn place_c(&mut self, tile: (usize, usize), device: usize) -> f64 {
        let load = self.product.load(ProductMatrix::C, &self.cuts, tile);
        self.shares[device].held += load.bytes as u64;
        let (from, to) = (self.product.homes[2].of(tile, self.cuts[0].count()), device + 1);
        let is_fetched = self.product.reads_c && from != to;
        let Some(hop) = is_fetched.then(|| self.loads.hop(from, to, load, 0.0)).flatten() else { return 0.0 };
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
        let mut best: Option<Vec<Hop>> = None;
        let end = |hops: &[Hop]| hops.iter().map(|hop| hop.end).fold(0.0, f64::max);
        for from in (0..row.len()).filter(|&from| row[from].is_finite()) {
            orders(&mut to, 0, &mut |order| {
                let Some(hops) = self.chain(from, row[from], order, load) else { return };
                if best.as_deref().is_none_or(|best| end(&hops) < end(best)) {
                    best = Some(hops);
                }
            });
        }
        let Some(hops) = best else { return f64::INFINITY };
        for &hop in &hops {
            self.loads.add(hop, load);
            let arrivals = if is_a { &mut self.a } else { &mut self.b };
            arrivals.set(tile, hop.to, hop.end);
            self.shares[hop.to - 1].held += load.bytes as u64;
        }
        let arrival = hops.iter().find(|hop| hop.to == device + 1).map_or(f64::INFINITY, |hop| hop.end);
        self.planned += 1;
        self.steps.push(PlanStep::Fetch { matrix, tile, bytes: load.bytes, hops });
        arrival
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
