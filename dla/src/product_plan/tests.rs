use super::{fabric::HOST, *};
use std::{collections::HashMap, time::Instant};
use superscalar_runtime::LinkInfo;

/// Four devices of 54 TFLOP/s behind links of 40 GB/s, and 350 GB/s between each two.
pub(super) fn four() -> Fabric {
    let mut fabric = Fabric::new(4);
    let link = |gb: f64| LinkInfo { bytes_per_s: gb * 1e9, latency_ns: 10_000 };
    for device in 1..=4 {
        fabric.set(HOST, device, link(40.0));
        fabric.set(device, HOST, link(40.0));
        (1..=4).filter(|&peer| peer != device).for_each(|peer| fabric.set(device, peer, link(350.0)));
    }
    fabric
}

/// The bytes that a device may hold.
const ROOM: u64 = 1 << 37;

fn product(shape: [usize; 3], homes: [Homes; 3]) -> PlannedProduct {
    let flops_per_s = vec![54e12; 4];
    PlannedProduct {
        shape,
        element_bytes: [8; 4],
        homes,
        is_transposed: [false; 2],
        reads_c: true,
        flops_per_s,
        operations: 2.0,
        latency_ns: 5e3,
        memory_bytes_per_s: 3e12,
        room_bytes: ROOM,
        sums: ProductSums::IfLate,
        features: PlanFeatures::default(),
    }
}

const GRID: &str = "a grid of the devices";

type Tile = (usize, usize);

/// Follows the steps of a plan, and fails if one of them is not possible.
struct Follower<'a> {
    product: &'a PlannedProduct,
    fabric: &'a Fabric,
    plan: &'a ProductPlan,
    /// Arrivals of tiles, by matrix, tile and place.
    there: HashMap<(usize, Tile, Place), f64>,
    link_free: HashMap<(Place, Place), f64>,
    port_free: HashMap<(Place, bool), f64>,
    traffic: HashMap<(Place, Place), u64>,
    device_free: Vec<f64>,
    owner: HashMap<Tile, usize>,
    computed: HashMap<(Tile, usize), f64>,
    added: HashMap<Tile, f64>,
    written: HashMap<Tile, f64>,
}

impl<'a> Follower<'a> {
    fn new(product: &'a PlannedProduct, fabric: &'a Fabric, plan: &'a ProductPlan) -> Self {
        Self {
            product,
            fabric,
            plan,
            there: HashMap::new(),
            link_free: HashMap::new(),
            port_free: HashMap::new(),
            traffic: HashMap::new(),
            device_free: vec![0.0; fabric.devices()],
            owner: HashMap::new(),
            computed: HashMap::new(),
            added: HashMap::new(),
            written: HashMap::new(),
        }
    }

    /// Returns the bytes of a tile of A, B or C (0, 1, 2).
    fn bytes(&self, of: usize, (i, j): Tile) -> usize {
        let edges = [[0, 2], [2, 1], [0, 1]][of];
        let len =
            |at: usize, edge: usize| self.plan.tile[edge].min(self.product.shape[edge] - at * self.plan.tile[edge]);
        len(i, edges[0]) * len(j, edges[1]) * self.product.element_bytes[of]
    }

    fn home(&self, of: usize, tile: Tile) -> Place {
        let edge = if of == 1 { 2 } else { 0 };
        self.product.homes[of].of(tile, self.product.shape[edge].div_ceil(self.plan.tile[edge]))
    }

    fn arrival(&self, of: usize, tile: Tile, at: Place) -> f64 {
        if self.home(of, tile) == at { 0.0 } else { self.there.get(&(of, tile, at)).copied().unwrap_or(f64::INFINITY) }
    }

    fn carry(&mut self, hop: &Hop, bytes: usize) {
        let free = self.link_free.insert((hop.from, hop.to), hop.end).unwrap_or(0.0);
        assert!(free <= hop.begin, "{hop:?} begins before {free}");
        if hop.from != HOST && hop.to != HOST {
            for port in [(hop.from, true), (hop.to, false)] {
                let free = self.port_free.insert(port, hop.end).unwrap_or(0.0);
                assert!(free <= hop.begin, "{hop:?} shares a port that is free at {free}");
            }
        }
        let least = self.fabric.link(hop.from, hop.to).expect("a link").copy_ns(bytes as f64);
        assert!(hop.end - hop.begin >= 0.999_999 * least, "{hop:?} is faster than its link");
        *self.traffic.entry((hop.from, hop.to)).or_default() += bytes as u64;
    }

    fn fetch(&mut self, of: usize, tile: Tile, hops: &[Hop]) {
        let bytes = self.bytes(of, tile);
        for (at, hop) in hops.iter().enumerate() {
            match at.checked_sub(1).map(|before| &hops[before]) {
                Some(before) => assert!(hop.from == before.to && hop.begin > before.begin && hop.end > before.end),
                None => assert!(self.arrival(of, tile, hop.from) <= hop.begin, "a copy of nothing"),
            }
            self.carry(hop, bytes);
            let before = self.there.insert((of, tile, hop.to), hop.end);
            assert!(before.is_none() || self.product.room_bytes < ROOM, "fetched twice");
        }
    }

    fn multiply(&mut self, device: usize, tile: Tile, step: usize, begin: f64, end: f64) {
        for (of, factor) in [(0, (tile.0, step)), (1, (step, tile.1))] {
            assert!(self.arrival(of, factor, device + 1) <= begin, "factor {of} arrives too late");
        }
        let is_apart = self.plan.steps.iter().any(|step| matches!(step, PlanStep::Add { tile: it, .. } if *it == tile));
        if self.product.reads_c && !is_apart {
            assert!(self.arrival(2, tile, device + 1) <= begin, "C arrives too late");
        }
        assert!(self.device_free[device] <= begin && begin < end, "two products at a time");
        self.device_free[device] = end;
        assert_eq!(*self.owner.entry(tile).or_insert(device), device, "two devices have a tile of C");
        assert_eq!(self.computed.insert((tile, step), end), None, "computed twice");
    }

    fn add(&mut self, device: usize, tile: Tile, begin: f64, end: f64) {
        assert!(self.product.sums != ProductSums::Never && begin < end);
        assert!(self.arrival(2, tile, device + 1) <= begin, "C arrives too late");
        assert_eq!(self.owner[&tile], device, "another device has the products");
        let steps = self.product.shape[2].div_ceil(self.plan.tile[2]);
        assert!((0..steps).all(|step| self.computed[&(tile, step)] <= begin), "a product is missing");
        assert_eq!(self.added.insert(tile, end), None, "added twice");
    }

    fn bring_back(&mut self, tile: Tile, hop: &Hop) {
        self.carry(hop, self.bytes(2, tile));
        let mut all = self.computed.iter().filter(|((of, _), _)| *of == tile);
        assert!(all.all(|(_, &end)| end <= hop.begin), "an unfinished tile is copied back");
        assert!(self.added.get(&tile).is_none_or(|&end| end <= hop.begin), "an unfinished tile is copied back");
        assert_eq!(hop.to, self.home(2, tile));
        assert_eq!(self.written.insert(tile, hop.end), None, "copied back twice");
    }

    fn finish(self) {
        let counts = [0, 1, 2].map(|at| self.product.shape[at].div_ceil(self.plan.tile[at]));
        assert_eq!(self.computed.len(), counts.iter().product::<usize>(), "every product");
        for &(of, (i, j), place) in self.there.keys() {
            let is_used = |&((row, column), step): &(Tile, usize)| match of {
                0 => (row, step) == (i, j),
                1 => (step, column) == (i, j),
                _ => (row, column) == (i, j),
            };
            let mut users = self.computed.keys().filter(|it| is_used(it));
            assert!(users.any(|(tile, _)| self.owner[tile] + 1 == place), "tile {i}, {j} of {of} is fetched in vain");
        }
        let away = self.owner.iter().filter(|(tile, device)| *device + 1 != self.home(2, **tile)).count();
        assert_eq!(self.written.len(), away, "every tile of C that is computed elsewhere");
        let mut bytes: Vec<_> = self.traffic.into_iter().map(|((from, to), bytes)| (from, to, bytes)).collect();
        bytes.sort_unstable();
        assert_eq!(bytes, self.plan.traffic, "bytes per link");
    }
}

/// Checks that a plan computes each product once, from tiles that are there, and that nothing is used twice at a time.
fn check(product: &PlannedProduct, fabric: &Fabric, plan: &ProductPlan) {
    assert!(plan.held_bytes.iter().all(|&held| held <= product.room_bytes), "{:?}", plan.held_bytes);
    let mut follower = Follower::new(product, fabric, plan);
    for step in &plan.steps {
        match step {
            PlanStep::Fetch { matrix, tile, hops, .. } => follower.fetch(*matrix as usize, *tile, hops),
            PlanStep::Multiply { device, tile, step, begin, end } => {
                follower.multiply(*device, *tile, *step, *begin, *end);
            }
            PlanStep::Add { device, tile, begin, end } => follower.add(*device, *tile, *begin, *end),
            PlanStep::Return { tile, hop, .. } => follower.bring_back(*tile, hop),
        }
    }
    follower.finish();
}

const SHAPES: [[usize; 3]; 6] =
    [[8192; 3], [1000, 3000, 70], [300, 9000, 2500], [1, 1, 1], [64, 5000, 1], [7000, 90, 90]];

#[test]
fn plans_are_complete_and_feasible() {
    for homes in [[HOST; 3], [1; 3], [4, 2, 0], [0, 0, 1], [3, 3, 4]] {
        for shape in SHAPES {
            for (tile, reads_c) in [([1024; 3], true), ([700, 900, 512], false)] {
                let product = PlannedProduct { reads_c, ..product(shape, homes.map(Homes::One)) };
                check(&product, &four(), &ProductPlan::with_tiles(&product, &four(), tile).expect(GRID));
                check(&product, &four(), &ProductPlan::of(&product, &four()).expect(GRID));
            }
        }
    }
}

#[test]
fn dealt_tiles_are_fetched_from_where_they_are() {
    let dealt = |rows: usize, columns: usize| Homes::Each((0..rows * columns).map(|at| (at * 7 + 3) % 5).collect());
    let product = product([4000, 3000, 2000], [dealt(8, 4), dealt(4, 6), dealt(8, 6)]);
    check(&product, &four(), &ProductPlan::with_tiles(&product, &four(), [500; 3]).expect(GRID));
}

/// C is dealt evenly: its tiles are updated where they are.
#[test]
fn a_dealt_result_stays() {
    let cyclic = |rows: usize, columns: usize| {
        let tiles = (0..columns).flat_map(|j| (0..rows).map(move |i| (i, j)));
        Homes::Each(tiles.map(|(i, j)| 1 + i % 2 + 2 * (j % 2)).collect())
    };
    let product = product([4000, 3000, 2000], [cyclic(8, 4), cyclic(4, 6), cyclic(8, 6)]);
    let plan = ProductPlan::with_tiles(&product, &four(), [500; 3]).expect(GRID);
    check(&product, &four(), &plan);
    assert_eq!(plan.grid(), None);
    let is_moved = |step: &PlanStep| match step {
        PlanStep::Fetch { matrix, .. } => *matrix == ProductMatrix::C,
        step => matches!(step, PlanStep::Return { .. }),
    };
    assert!(!plan.steps.iter().any(is_moved));
    // Each tile of A is used by a row of two devices, one of which has it; so is each tile of B by a column.
    let bytes: u64 = plan.traffic.iter().map(|it| it.2).sum();
    assert_eq!(bytes, (4000 * 2000 + 2000 * 3000) * 8);
}

/// C crosses the links once also if the devices hold a small part of it; the factors cross them again in each turn.
#[test]
fn large_products_are_planned_in_turns() {
    let bytes = |plan: &ProductPlan, of: ProductMatrix| -> usize {
        let of_host = |step: &PlanStep| match step {
            PlanStep::Fetch { matrix, hops, bytes, .. } if *matrix == of && hops[0].from == HOST => *bytes,
            _ => 0,
        };
        plan.steps.iter().map(of_host).sum()
    };
    for shape in [[8192, 8192, 8192], [1000, 9000, 2000], [900, 800, 60000], [20000, 30000, 300]] {
        let room_bytes = shape.iter().map(|&len| (len * len) as u64).min().unwrap_or(0) + (1 << 23);
        let product = PlannedProduct { room_bytes, ..product(shape, [HOST; 3].map(Homes::One)) };
        for tile in [None, Some([250, 500, 100])] {
            let begun = Instant::now();
            let plan = match tile {
                Some(tile) => ProductPlan::with_tiles(&product, &four(), tile),
                None => ProductPlan::of(&product, &four()),
            };
            let elapsed = begun.elapsed();
            assert!(elapsed.as_millis() < 2000, "{shape:?}: {elapsed:?}");
            let Some(plan) = plan else {
                assert!(tile.is_some(), "{shape:?}: not planned");
                continue;
            };
            check(&product, &four(), &plan);
            let [a, b, c] = [ProductMatrix::A, ProductMatrix::B, ProductMatrix::C].map(|of| bytes(&plan, of));
            let [m, n, k] = shape;
            println!(
                "{shape:?}: {:?}, A and B {:.1} and {:.1} times, planned in {elapsed:?}",
                plan.tile,
                a as f64 / (8 * m * k) as f64,
                b as f64 / (8 * k * n) as f64
            );
            assert_eq!(c, 8 * m * n, "{shape:?}");
            assert!(a + b > 8 * k * (m + n) || k > m * n / 100, "{shape:?}: in one turn");
        }
    }
    let thin = PlannedProduct { room_bytes: 1 << 30, ..product([500_000_000, 8, 8], [HOST; 3].map(Homes::One)) };
    let plan = ProductPlan::of(&thin, &four()).expect(GRID);
    check(&thin, &four(), &plan);
    // A and C come, and C goes.
    let bound_ns = 2.0 * 8.0 * 8.0 * 5e8 / 4.0 / 40.0;
    assert!(plan.end_ns < 3.0 * bound_ns, "{:?}: {} ns, at best {bound_ns}", plan.tile, plan.end_ns);
    let product = PlannedProduct { room_bytes: 1 << 20, ..product([8192; 3], [HOST; 3].map(Homes::One)) };
    assert_eq!(ProductPlan::with_tiles(&product, &four(), [512; 3]), None, "a tile has two megabytes");
    let begun = Instant::now();
    let product = PlannedProduct { room_bytes: 1 << 10, ..product };
    assert_eq!(ProductPlan::of(&product, &four()), None, "no room");
    assert!(begun.elapsed().as_millis() < 2000, "{:?}", begun.elapsed());
}

/// Host matrices cross the links to the host once, and all of C's blocks once in each direction.
#[test]
fn each_element_leaves_the_host_once() {
    let product = product([8192; 3], [HOST; 3].map(Homes::One));
    let plan = ProductPlan::with_tiles(&product, &four(), [1024; 3]).expect(GRID);
    let bytes = |from_host: bool| -> u64 {
        let all = plan.traffic.iter().filter(|(from, to, _)| if from_host { *from == HOST } else { *to == HOST });
        all.map(|one| one.2).sum()
    };
    let matrix = 8192 * 8192 * 8;
    assert_eq!((bytes(true), bytes(false)), (3 * matrix, matrix));
    let between: u64 = plan.traffic.iter().filter(|(from, to, _)| *from != HOST && *to != HOST).map(|one| one.2).sum();
    assert_eq!(between, 2 * matrix, "a grid of 2 x 2 forwards each factor once");
}

/// One tile, and several devices: the others get nothing.
#[test]
fn devices_without_products_fetch_nothing() {
    for (shape, homes) in [([4096; 3], [HOST; 3]), ([1, 1, 9000], [1, 2, 3])] {
        let product = product(shape, homes.map(Homes::One));
        let plan = ProductPlan::with_tiles(&product, &four(), [4096; 3]).expect(GRID);
        check(&product, &four(), &plan);
        assert_eq!(plan.held_bytes.iter().filter(|&&bytes| bytes > 0).count(), 1, "{:?}", plan.held_bytes);
    }
}

#[test]
fn grids_fit_routes() {
    let grid = |devices, shape| DeviceGrid::of(devices, shape).map(|grid| (grid.rows, grid.columns));
    assert_eq!(grid(8, [100, 100, 1]), Some((2, 4)));
    assert_eq!(grid(8, [1, 1_000_000, 1]), Some((2, 4)), "a row of eight is longer than a route");
    assert_eq!((grid(7, [9, 9, 1]), grid(11, [9, 9, 1]), grid(16, [9, 9, 1])), (Some((1, 7)), None, None));
}

/// Asked for: 5 ms at 32768 with full optimization.
#[test]
fn planning_is_fast_and_predicts_near_the_bound() {
    for (n, homes, tflops_min) in [(8192, HOST, 60.0), (16384, HOST, 125.0), (32768, HOST, 185.0), (16384, 1, 160.0)] {
        let planned = || {
            let begun = Instant::now();
            let product = product([n; 3], [homes; 3].map(Homes::One));
            let plan = ProductPlan::of(&product, &four()).expect(GRID);
            (begun.elapsed(), plan)
        };
        // The fastest of three, because other tests run at the same time.
        let (elapsed, plan) = (0..3).map(|_| planned()).min_by_key(|(elapsed, _)| *elapsed).expect("three plans");
        let tflops = 2.0 * (n as f64).powi(3) / plan.end_ns * 1e-3;
        println!("{n} from {homes}: {:?}, {tflops:.1} TFLOP/s, planned in {elapsed:?}", plan.tile);
        assert!(tflops > tflops_min && tflops < 216.0, "{n} from {homes}: {tflops} TFLOP/s");
        assert!(elapsed.as_millis() < 100, "{elapsed:?}");
    }
}
