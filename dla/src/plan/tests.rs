use super::*;
use superscalar_kernels::{Scalar, c64};

const WORKERS: [usize; 8] = [1, 2, 3, 4, 7, 8, 16, 64];
const LENGTHS: [usize; 10] = [0, 1, 17, 96, 161, 300, 512, 1000, 2049, 8192];
const SIDES: [Side; 2] = [Side::Left, Side::Right];

fn workers(count: usize) -> Machine {
    Machine::of_workers::<f64>(count)
}

/// Machines of all kinds: without devices, with devices, with accelerators.
fn machines<T: Scalar>() -> impl Iterator<Item = Machine> {
    WORKERS.into_iter().flat_map(|workers| {
        let alone = Machine::of_workers::<T>(workers);
        [(0, None), (1, None), (3, None), (1, Some(1.0)), (4, Some(1.0)), (1, Some(1.8)), (2, Some(4.0))]
            .map(|(devices, edge_factor)| alone.with_devices(devices, edge_factor))
    })
}

fn problems(m: usize, n: usize, k: usize) -> [Problem; 9] {
    [
        Problem::Product { m, n, k },
        Problem::Sided { side: Side::Left, m, n },
        Problem::Sided { side: Side::Right, m, n },
        Problem::Triangle { n, k },
        Problem::Cholesky { n },
        Problem::Lu { m, n },
        Problem::Qr { m, n },
        Problem::TsqrFactors { n },
        Problem::Elements { m, n },
    ]
}

fn is_within(edge: usize, len: usize) -> bool {
    (1..=len.max(1)).contains(&edge)
}

/// Checks that the parts are not empty and cover the problem, and that no edge is longer than what it cuts.
fn fits(problem: Problem, plan: Plan) -> bool {
    let [m, n, k] = problem.product();
    match (problem, plan) {
        (_, Plan::Serial) => true,
        (Problem::Sided { side, .. }, Plan::Tiles(tiles)) => {
            let along = if side == Side::Left { tiles.mb } else { tiles.nb };
            is_within(tiles.mb, m) && is_within(tiles.nb, n) && tiles.kb == along
        }
        (Problem::Product { .. }, Plan::Tiles(Tiles { mb, nb, kb })) => {
            is_within(mb, m) && is_within(nb, n) && is_within(kb, k)
        }
        (Problem::Triangle { .. }, Plan::Tiles(Tiles { mb, nb, kb })) => mb == nb && mb >= 1 && is_within(kb, k),
        (Problem::Triangle { n, .. }, Plan::Strips(count)) => (2..=n).contains(&count),
        (Problem::TsqrFactors { n }, Plan::Blocks(mb)) => mb >= n,
        (Problem::Product { .. } | Problem::Sided { .. } | Problem::Triangle { .. }, _) => false,
        (_, Plan::Blocks(nb)) => nb >= 1,
        (_, Plan::Tiles(_) | Plan::Strips(_)) => false,
    }
}

#[test]
fn parts_cover_the_problem() {
    for machine in machines::<f64>().chain(machines::<c64>()).chain(machines::<f32>()) {
        for (m, n) in LENGTHS.into_iter().flat_map(|m| LENGTHS.map(|n| (m, n))) {
            for problem in [1, 160, 5000].into_iter().flat_map(|k| problems(m, n, k)) {
                let cut = plan(problem, &machine);
                assert!(fits(problem, cut), "{problem:?} on {machine:?}: {cut:?}");
            }
        }
    }
}

#[test]
fn extreme_shapes_have_plans() {
    let lengths = [0, 1, 3, usize::MAX / 3, usize::MAX - 1, usize::MAX];
    for machine in machines::<c64>() {
        for (m, n) in lengths.into_iter().flat_map(|m| lengths.map(|n| (m, n))) {
            for problem in lengths.into_iter().flat_map(|k| problems(m, n, k)) {
                let cut = plan(problem, &machine);
                assert!(fits(problem, cut), "{problem:?} on {machine:?}: {cut:?}");
                fixed(problem, usize::MAX);
            }
        }
    }
}

#[test]
fn small_problems_are_serial() {
    for machine in machines::<f64>() {
        for problem in
            problems(160, 160, 160).into_iter().filter(|problem| !matches!(problem, Problem::TsqrFactors { .. }))
        {
            assert_eq!(plan(problem, &machine), Plan::Serial, "{problem:?} on {machine:?}");
        }
    }
    for machine in machines::<c64>().filter(|machine| machine.devices > 0) {
        assert_eq!(plan(Problem::Product { m: 160, n: 160, k: 160 }, &machine), Plan::Serial, "{machine:?}");
    }
    // A complex multiplication takes four times as long.
    let product = Problem::Product { m: 128, n: 128, k: 128 };
    assert_eq!(plan(product, &workers(2)), Plan::Serial);
    assert_ne!(plan(product, &Machine::of_workers::<c64>(2)), Plan::Serial);
}

#[test]
fn one_worker_cuts_no_product() {
    for n in [200, 2048, 8192] {
        for problem in &problems(n, n, n)[..5] {
            assert_eq!(plan(*problem, &workers(1)), Plan::Serial, "{problem:?}");
        }
    }
}

/// Returns the number of independent tasks.
fn count(problem: Problem, plan: Plan) -> usize {
    let [m, n, _] = problem.product();
    match (problem, plan) {
        (_, Plan::Serial) => 1,
        (Problem::Triangle { .. }, Plan::Tiles(Tiles { nb, .. })) => n.div_ceil(nb) * (n.div_ceil(nb) + 1) / 2,
        (_, Plan::Tiles(Tiles { mb, nb, .. })) => m.div_ceil(mb) * n.div_ceil(nb),
        (_, Plan::Strips(count)) => count,
        (_, Plan::Blocks(nb)) => n.div_ceil(nb),
    }
}

#[test]
fn large_products_have_work_for_all() {
    for p in WORKERS {
        for (m, n, k) in
            [(1024, 1024, 1024), (1500, 1501, 1502), (8192, 700, 700), (700, 8192, 700), (4096, 4096, 4096)]
        {
            for problem in &problems(m, n, k)[..4] {
                let cut = plan(*problem, &workers(p));
                assert!(count(*problem, cut) >= p.min(20), "{problem:?} on {p} workers: {cut:?}");
            }
        }
    }
}

#[test]
fn estimates_have_no_cliffs() {
    // Beside a square matrix of order 336 there are nine tiles, beside one of order 335 four. A triangle of order 716
    // has a tile of 64 for each of 64 workers, and one of order 717 would have more.
    let bounds = [0.55..1.4, 0.55..1.4, 0.55..1.5];
    for machine in WORKERS.map(workers) {
        for n in (170..1200).chain((1200..4200).step_by(7)) {
            let estimates = |n: usize| {
                [
                    product::general([n; 3], &machine).ns,
                    product::sided((n, n), &machine).ns,
                    product::triangle((n, n), &machine).ns,
                ]
            };
            for (at, (one, next)) in estimates(n).into_iter().zip(estimates(n + 1)).enumerate() {
                let is_smooth = bounds[at].contains(&(next / one));
                assert!(is_smooth, "{at}: order {n} and the next on {machine:?}: {one} and {next} ns");
            }
        }
    }
}

#[test]
fn more_workers_do_not_take_longer() {
    for n in [512, 1024, 2048, 4096] {
        for p in 1..16 {
            let estimate = |p: usize| product::general([n; 3], &workers(p)).ns;
            assert!(
                estimate(p + 1) < 1.15 * estimate(p),
                "order {n}: {p} workers {}, then {}",
                estimate(p),
                estimate(p + 1)
            );
        }
    }
}

#[test]
fn two_workers_have_a_tile_each() {
    let tiles = |problem| match plan(problem, &workers(2)) {
        Plan::Tiles(Tiles { mb, nb, kb }) => (mb, nb, kb),
        cut => panic!("{problem:?}: {cut:?}"),
    };
    let product = |m, n, k| tiles(Problem::Product { m, n, k });
    assert_eq!(product(512, 512, 512), (512, 256, 512));
    assert_eq!(product(5000, 300, 300), (2512, 300, 300), "the smaller factor is packed twice");
    assert_eq!(product(2048, 2048, 2048), (2048, 1024, 2048));
    assert_eq!(product(4096, 4096, 4096), (2048, 2048, 4096), "each packs its own blocks");
    for side in SIDES {
        let (mb, nb, kb) = tiles(Problem::Sided { side, m: 512, n: 512 });
        assert_eq!((mb.max(nb), mb.min(nb), kb), (512, 256, 512), "{side:?}");
    }
    for n in [64, 192, 512, 2048, 4096] {
        assert_eq!(plan(Problem::Triangle { n, k: n.max(4000) }, &workers(2)), Plan::Strips(2));
    }
}

/// Edges and depth of products, and edges of triangles, by the measured rule used before the model; all dimensions are
/// equal.
#[test]
fn many_workers_have_the_measured_tiles() {
    const EDGES: [(usize, usize, [usize; 3], usize); 9] = [
        (4, 512, [256, 128, 512], 144),
        (4, 2048, [1024, 512, 2048], 336),
        (4, 4096, [528, 528, 528], 432),
        (8, 512, [128, 128, 512], 96),
        (8, 8192, [528, 528, 528], 432),
        (16, 1024, [256, 128, 1024], 144),
        (16, 4096, [528, 528, 528], 336),
        (64, 2048, [256, 128, 2048], 144),
        (64, 4096, [264, 264, 528], 192),
    ];
    for (p, n, [mb, nb, kb], edge) in EDGES {
        assert_eq!(plan(Problem::Product { m: n, n, k: n }, &workers(p)), Plan::Tiles(Tiles { mb, nb, kb }));
        let tiles = plan(Problem::Triangle { n, k: n }, &workers(p)).tiles().expect("tiles");
        assert_eq!((tiles.mb, tiles.nb), (edge, edge), "a triangle of order {n} on {p} workers");
    }
}

#[test]
fn small_orders_have_a_task_for_each_worker() {
    // Measured: docs/measurements/2026-11-30-many-cores.md.
    for (p, n, nb) in [(16, 256, 16), (16, 512, 32), (8, 256, 32), (8, 512, 64)] {
        let tiles = plan(Problem::Sided { side: Side::Left, m: n, n }, &workers(p)).tiles().expect("tiles");
        assert_eq!((tiles.mb, tiles.nb), (n, nb), "beside a matrix of order {n} on {p} workers");
    }
    for (p, n, edge) in [(16, 192, 64), (16, 256, 64), (16, 384, 96), (64, 512, 64), (4, 256, 96)] {
        let tiles = plan(Problem::Triangle { n, k: n }, &workers(p)).tiles().expect("tiles");
        assert_eq!((tiles.mb, tiles.nb), (edge, edge), "a triangle of order {n} on {p} workers");
    }
}

#[test]
fn strips_need_few_workers_or_depth() {
    for (p, n) in [4, 8, 16].into_iter().flat_map(|p| [192, 256, 300].map(|n| (p, n))) {
        let cut = plan(Problem::Triangle { n, k: n }, &workers(p));
        assert!(matches!(cut, Plan::Tiles(_)), "order {n} on {p} workers: {cut:?}");
        // A chain of tasks on each of a few tiles.
        let cut = plan(Problem::Triangle { n: n / 2, k: 100_000 }, &workers(p));
        assert!(matches!(cut, Plan::Strips(2..)), "order {} on {p} workers: {cut:?}", n / 2);
    }
}

#[test]
fn larger_orders_are_shared() {
    for (p, n) in WORKERS[1..].iter().flat_map(|&p| (161..400).map(move |n| (p, n))) {
        for problem in &problems(n, n, n)[..4] {
            let cut = plan(*problem, &workers(p));
            assert!(count(*problem, cut) > 1, "{problem:?} on {p} workers: {cut:?}");
        }
    }
}

#[test]
fn tiles_fit_kernel_blocks() {
    for n in [4097, 5000, 6000, 8190, 8192, 10000] {
        let tiles = plan(Problem::Product { m: n, n, k: n }, &workers(2)).tiles().expect("tiles");
        assert!(tiles.mb.max(tiles.nb) <= 2048 && tiles.kb == n, "order {n}: {tiles:?}");
    }
}

#[test]
fn one_tile_has_no_chain_of_tasks() {
    for p in WORKERS {
        for (m, n, k) in [(64, 64, 100_000), (100, 90, 20_000), (16, 16, 1_000_000)] {
            let cut = plan(Problem::Product { m, n, k }, &workers(p));
            assert!(cut.tiles().is_none_or(|tiles| tiles.mb < m || tiles.nb < n), "{m} x {n} x {k}: {cut:?}");
        }
    }
}

/// The measured optimum. Half or twice the block size costs about 10 %. Measured:
/// docs/measurements/2026-11-28-constants.md.
#[test]
fn blocks_are_near_the_optimum() {
    const CHOLESKY: [(usize, usize, usize); 9] = [
        (512, 2, 96),
        (1024, 2, 192),
        (2048, 2, 192),
        (4096, 2, 384),
        (512, 4, 96),
        (1024, 4, 128),
        (2048, 4, 192),
        (4096, 4, 320),
        (4096, 16, 224),
    ];
    const SINGLES: [(usize, usize, usize); 8] = [
        (512, 2, 192),
        (1024, 2, 320),
        (2048, 2, 320),
        (4096, 2, 512),
        (512, 16, 96),
        (1024, 16, 96),
        (2048, 16, 160),
        (4096, 16, 192),
    ];
    const LU: [(usize, usize, usize); 9] = [
        (512, 2, 64),
        (1024, 2, 128),
        (2048, 2, 192),
        (4096, 2, 256),
        (512, 16, 64),
        (1024, 16, 64),
        (2048, 16, 64),
        (4096, 16, 112),
        (8192, 16, 128),
    ];
    let near = |problem: Problem, machine: Machine, best: usize, least: f64| {
        let nb = plan(problem, &machine).blocks().expect("blocks");
        assert!((least..1.36).contains(&(nb as f64 / best as f64)), "{problem:?}, {machine:?}: {nb}, measured {best}");
    };
    for (n, p, nb) in CHOLESKY {
        near(Problem::Cholesky { n }, workers(p), nb, 0.74);
    }
    for (n, p, nb) in LU {
        near(Problem::Lu { m: n, n }, workers(p), nb, 0.74);
    }
    // With two workers and singles, the model chooses blocks that are narrower than the optimum.
    for (n, p, nb) in SINGLES {
        near(Problem::Cholesky { n }, Machine::of_workers::<f32>(p), nb, 0.59);
    }
}

#[test]
fn tall_matrices_have_several_panels() {
    for (problem, most) in [(Problem::Qr { m: 200_000, n: 64 }, 16), (Problem::Lu { m: 100_000, n: 200 }, 64)] {
        let nb = plan(problem, &workers(2)).blocks().expect("blocks");
        assert!(nb <= most, "{problem:?}: {nb}");
    }
}

#[test]
fn panels_fit_into_the_matrix() {
    for (m, n) in LENGTHS.into_iter().flat_map(|m| LENGTHS.map(|n| (m, n))) {
        for problem in [Problem::Lu { m, n }, Problem::Qr { m, n }] {
            for machine in WORKERS.map(workers) {
                let nb = plan(problem, &machine).blocks();
                assert!(nb.is_none_or(|nb| nb < n && nb <= m), "{problem:?} on {machine:?}: {nb:?}");
                assert!(nb.is_none() || m.min(n) > 32, "{problem:?} on {machine:?} is one panel");
            }
        }
    }
    let (m, n) = (100_000, 1000);
    assert_eq!(plan(Problem::Lu { m, n }, &workers(1)), Plan::Blocks(208));
    assert_eq!(plan(Problem::Qr { m, n }, &workers(1)), Plan::Blocks(64));
}

#[test]
fn named_blocks_are_kept() {
    let tiles = Plan::Tiles(Tiles { mb: 100, nb: 100, kb: 100 });
    assert_eq!(fixed(Problem::Product { m: 50, n: 60, k: 101 }, 100), tiles);
    assert_eq!(fixed(Problem::Product { m: 50, n: 60, k: 100 }, 100), Plan::Serial);
    assert_eq!(fixed(Problem::Sided { side: Side::Right, m: 101, n: 2 }, 100), tiles);
    assert_eq!(fixed(Problem::Triangle { n: 100, k: 1 }, 100), Plan::Serial);
    assert_eq!(fixed(Problem::Lu { m: 9, n: 101 }, 100), Plan::Blocks(100));
    assert_eq!(fixed(Problem::Qr { m: 900, n: 100 }, 100), Plan::Serial);
    assert_eq!(fixed(Problem::Lu { m: 0, n: 101 }, 100), Plan::Serial);
    assert_eq!(fixed(Problem::Cholesky { n: 7 }, 100), Plan::Blocks(100));
}

#[test]
fn accelerators_have_large_tiles() {
    let machine = workers(16).with_devices(1, Some(1.0));
    let cut = |problem| plan(problem, &machine);
    let product = Problem::Product { m: 16384, n: 16384, k: 16384 };
    assert_eq!(cut(product), Plan::Tiles(Tiles { mb: 4096, nb: 1024, kb: 4096 }));
    // The columns of panels grow with the root of the order.
    for (n, nb) in [(512, 128), (1024, 256), (2048, 256), (4096, 384), (8192, 512), (16384, 768), (65536, 768)] {
        assert_eq!(cut(Problem::Lu { m: n, n }), Plan::Blocks(nb), "LU of order {n}");
        assert_eq!(cut(Problem::Qr { m: n, n }), Plan::Blocks(nb.min(512)), "QR of order {n}");
    }
    assert_eq!(cut(Problem::Cholesky { n: 16384 }), Plan::Blocks(1024));
    assert_eq!(plan(Problem::Cholesky { n: 16384 }, &machine.with_devices(4, Some(1.0))), Plan::Blocks(512));
    // Where kernels take eight times as long to start, tiles have eight times the work.
    let slow_to_start = workers(16).with_devices(1, Some(2.0));
    assert_eq!(plan(Problem::Cholesky { n: 8192 }, &slow_to_start), Plan::Blocks(1024));
    assert_eq!(plan(Problem::Qr { m: 2048, n: 2048 }, &slow_to_start), Plan::Blocks(512));
    // Eight tiles of 1024, and not seven of 1152 and one of 128.
    let opencl = workers(16).with_devices(1, Some(2.26));
    for problem in [Problem::Cholesky { n: 8192 }, Problem::Qr { m: 8192, n: 8192 }] {
        assert_eq!(plan(problem, &opencl), Plan::Blocks(1024), "{problem:?}");
    }
    // LU has fewer, but not one, however slowly kernels start.
    for (n, nb) in [(768, 384), (1024, 512), (4096, 1408), (8192, 2048), (16384, 2816)] {
        assert_eq!(plan(Problem::Lu { m: n, n }, &opencl), Plan::Blocks(nb), "LU of order {n}");
    }
}

#[test]
fn products_on_devices_have_few_tiles() {
    for (len, grid, edge) in [
        (1, (1, 1), 256),
        (1000, (1, 1), 1024),
        (8192, (1, 1), 8192),
        (10000, (1, 1), 5120),
        (8192, (1, 2), 4096),
        (8192, (2, 2), 2048),
        (7680, (1, 3), 2560),
        (7680, (1, 5), 1536),
        (7680, (2, 3), 1280),
        (5000, (1, 1), 5120),
    ] {
        assert_eq!(resident_edge(len, grid), edge, "order {len}, {grid:?} devices");
    }
}

/// Tiles by the rule used before the model: two or more per resource where edges are long enough.
#[test]
fn plain_devices_have_tiles() {
    const TILES: [(usize, usize, Option<[usize; 3]>); 16] = [
        (1, 511, None),
        (1, 512, Some([256, 256, 512])),
        (1, 1000, Some([500, 500, 1000])),
        (1, 1500, Some([768, 768, 768])),
        (1, 4096, Some([1032, 1032, 1032])),
        (2, 512, Some([256, 256, 512])),
        (2, 1024, Some([342, 528, 1024])),
        (2, 2048, Some([696, 1032, 1032])),
        (2, 4096, Some([840, 840, 1032])),
        (3, 700, Some([350, 350, 700])),
        (3, 1024, Some([342, 342, 1024])),
        (3, 2048, Some([528, 696, 1032])),
        (3, 4096, Some([1032, 1032, 1032])),
        (7, 1024, Some([342, 342, 1024])),
        (7, 2048, Some([528, 528, 1032])),
        (7, 3000, Some([768, 768, 1008])),
    ];
    let cut = |n: usize, devices: usize| {
        plan(Problem::Product { m: n, n, k: n }, &workers(16).with_devices(devices, None)).tiles()
    };
    for (devices, n, tiles) in TILES {
        assert_eq!(cut(n, devices).map(|Tiles { mb, nb, kb }| [mb, nb, kb]), tiles, "order {n}, {devices} devices");
    }
    for (devices, n) in [1, 2, 3, 7].into_iter().flat_map(|devices| (1536..4100).map(move |n| (devices, n))) {
        let Tiles { mb, nb, .. } = cut(n, devices).expect("tiles");
        assert!(n.div_ceil(mb) * n.div_ceil(nb) >= 2 * devices + 2, "order {n}, {devices} devices: {mb} x {nb}");
    }
}
