//! Planned products: what each device computes, and which copies bring it what, worked out before anything runs.
//!
//! A plan is made for a product C := alpha A B + beta C with given shapes, places and devices. It gives each device a
//! block of C and an order of its products, and each tile of A and B a route through the memories that need it. It is
//! carried out by the ordinary runtime: a task has a home and a priority, and copies follow the routes. The plan also
//! predicts the time, and the bytes over each link.
//!
//! | file | contents |
//! |---|---|
//! | `fabric.rs` | memories, links, and when they are free |
//! | `grid.rs`, `owners.rs` | the grid of devices, and which of them updates which tile |
//! | `turns.rs` | what is computed in turns, because the devices cannot hold it at once |
//! | `schedule.rs`, `arrivals.rs` | the order of the products, and the routes of copies |
//! | `cache.rs` | plans that are kept |
//! | `choice.rs` | which products are planned |
//! | `spawn.rs` | the tasks of a plan |
//! | `text.rs`, `recording.rs` | plans as text, and as recordings |
//! | `tiles.rs` | the size of the tiles |
//!
//! (P. Anastasiadis et al., "Uncut-GEMMs: communication-aware matrix multiplication on multi-GPU nodes".)

mod arrivals;
mod cache;
mod choice;
mod fabric;
mod grid;
mod owners;
mod recording;
mod schedule;
mod spawn;
#[cfg(test)]
mod tests;
mod text;
mod tiles;
mod turns;

pub(crate) use choice::{ProductElements, devices_with_room, plan_of_host_matrices, plan_of_tiles};
pub(crate) use owners::UNEVEN_MAX;
pub(crate) use spawn::{PlannedTasks, PlannedUpdate, ScalarTasks, send_tile, spawn_planned};

use crate::{
    Scalar,
    error::Error,
    options::{Options, PlanFeatures},
    plan::Tiles,
};
pub(crate) use fabric::Place;
use fabric::{Fabric, Hop, Load};
use grid::{Cut, DeviceGrid};
use std::{collections::HashSet, sync::Arc};
use superscalar_kernels::{Half, HalfResult, Op};
use superscalar_runtime::{Resource, Runtime, recording::Recording};
use turns::Turns;

/// Where the tiles of a matrix are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Homes {
    /// All in one memory.
    One(Place),
    /// The place of each tile, column by column.
    Each(Vec<Place>),
}

impl Homes {
    /// Returns the place of tile (i, j) of a matrix with so many rows of tiles.
    fn of(&self, (i, j): (usize, usize), rows: usize) -> Place {
        match self {
            Self::One(place) => *place,
            Self::Each(places) => places[i + j * rows],
        }
    }
}

/// A product that is planned: C := alpha A B + beta C.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PlannedProduct {
    /// m, n and k.
    pub(crate) shape: [usize; 3],
    /// Bytes of an element of A, B and C, and of a sum of products.
    pub(crate) element_bytes: [usize; 4],
    /// Where A, B and C are.
    pub(crate) homes: [Homes; 3],
    /// Whether A and B are stored transposed.
    pub(crate) is_transposed: [bool; 2],
    /// Whether C is read.
    pub(crate) reads_c: bool,
    /// Operations per second of each device.
    pub(crate) flops_per_s: Vec<f64>,
    /// The operations of a multiplication and addition: 2, or 8 of complex numbers.
    pub(crate) operations: f64,
    /// The time from the start of a product's kernel to its first operation, in nanoseconds.
    pub(crate) latency_ns: f64,
    /// Bytes per second of the devices' memory.
    pub(crate) memory_bytes_per_s: f64,
    /// The bytes that each device may hold.
    pub(crate) room_bytes: u64,
    pub(crate) sums: ProductSums,
    pub(crate) features: PlanFeatures,
}

/// Whether products are summed apart from C.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProductSums {
    /// There is no place for it.
    Never,
    /// Where products would have to wait for C.
    IfLate,
    /// Wherever there are several steps: C is less precise than sums.
    Always,
}

impl PlannedProduct {
    /// Returns the bytes of elements as real numbers.
    fn bytes_of_elements(&self) -> [f64; 4] {
        self.element_bytes.map(|bytes| bytes as f64)
    }

    /// Returns whether all tiles of C are summed apart from it, with tiles of these sizes.
    fn needs_sums(&self, cuts: &[Cut; 3]) -> bool {
        self.sums == ProductSums::Always && cuts[2].count() > 1
    }

    /// Returns what is copied of a tile.
    fn load(&self, matrix: ProductMatrix, cuts: &[Cut; 3], (i, j): (usize, usize)) -> Load {
        let [m, n, k] = cuts;
        let [of_a, of_b, of_c, _] = self.element_bytes;
        let (rows, columns, is_transposed, element_bytes) = match matrix {
            ProductMatrix::A => ((m, m.of(i)), (k, k.of(j)), self.is_transposed[0], of_a),
            ProductMatrix::B => ((k, k.of(i)), (n, n.of(j)), self.is_transposed[1], of_b),
            ProductMatrix::C => ((m, m.of(i)), (n, n.of(j)), false, of_c),
        };
        let (along, across) = if is_transposed { (columns, rows) } else { (rows, columns) };
        // Whole columns of the matrix lie behind each other.
        let columns = if along.0.len == along.1 { 1 } else { across.1 };
        Load { bytes: along.1 * across.1 * element_bytes, columns }
    }

    /// Returns how m, n and k are cut into tiles.
    fn cuts(&self, tile: [usize; 3]) -> [Cut; 3] {
        [0, 1, 2].map(|at| Cut { len: self.shape[at], part: tile[at] })
    }
}

/// A matrix of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ProductMatrix {
    A,
    B,
    C,
}

/// A step of a plan. Times are nanoseconds from its start.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum PlanStep {
    /// A tile is copied to one or more devices, from one to the next.
    Fetch { matrix: ProductMatrix, tile: (usize, usize), bytes: usize, hops: Vec<Hop> },
    /// A device adds the product of A's tile (i, step) and B's tile (step, j) to C's tile (i, j).
    Multiply { device: usize, tile: (usize, usize), step: usize, begin: f64, end: f64 },
    /// A device adds its products of a tile to C: they were summed apart, so as not to wait for C.
    Add { device: usize, tile: (usize, usize), begin: f64, end: f64 },
    /// A tile of C is copied back.
    Return { tile: (usize, usize), bytes: usize, hop: Hop },
}

impl PlanStep {
    /// Returns when the step ends.
    pub(crate) fn end(&self) -> f64 {
        match self {
            Self::Fetch { hops, .. } => hops.iter().map(|hop| hop.end).fold(0.0, f64::max),
            Self::Multiply { end, .. } | Self::Add { end, .. } => *end,
            Self::Return { hop, .. } => hop.end,
        }
    }
}

/// The plan of a product on several devices: what each of them computes, and when, and which copies bring it what; see
/// [`Distribution::Planned`](crate::Distribution::Planned).
///
/// ```no_run
/// use superscalar::dla::{Op, Options, ProductPlan};
///
/// // A runtime that was built with devices: the facade's `devices::builder` opens those that the environment names.
/// # let rt = superscalar::Runtime::new()?;
/// let (ops, shape) = ((Op::None, Op::None), [16384; 3]);
/// if let Some(plan) = ProductPlan::of_host_matrices::<f64>(&rt, ops, shape, true, &Options::default())? {
///     println!("{plan}");
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ProductPlan {
    /// `None` if C's tiles stay where they are.
    grid: Option<DeviceGrid>,
    /// The rows and columns of a tile of C, and the columns of a tile of A.
    tile: [usize; 3],
    /// The rows and columns of tiles of C.
    rows_of_tiles: usize,
    columns_of_tiles: usize,
    /// Whether copies follow the routes.
    has_routes: bool,
    /// Whether C is computed area by area.
    has_areas: bool,
    /// The steps, in the order in which they are issued.
    steps: Vec<PlanStep>,
    /// The bytes over each link that is used.
    traffic: Vec<(Place, Place, u64)>,
    /// The most bytes that each device holds at a time, if it drops what is not needed any more.
    held_bytes: Vec<u64>,
    /// The predicted time, in nanoseconds.
    end_ns: f64,
}

impl ProductPlan {
    /// Returns the plan that [`gemm`](crate::gemm) follows for host matrices, if it is planned. `shape` is m, n and k;
    /// A and B are used as `ops` says; `reads_c` says whether C is read, because beta is not zero.
    ///
    /// # Errors
    /// [`Shape`](crate::ErrorKind::Shape) if such matrices have more bytes than there are addresses, or if the block
    /// size is zero; [`Argument`](crate::ErrorKind::Argument) if the environment names an unknown distribution.
    pub fn of_host_matrices<T: Scalar>(
        rt: &Runtime,
        ops: (Op, Op),
        shape: [usize; 3],
        reads_c: bool,
        options: &Options,
    ) -> Result<Option<Arc<Self>>, Error> {
        let elements = ProductElements::of::<T>(ProductSums::IfLate);
        plan_of_host_matrices(rt, &elements, ops, shape, reads_c, options)
    }

    /// Like [`of_host_matrices`](Self::of_host_matrices), for [`gemm_half`](crate::gemm_half).
    ///
    /// # Errors
    /// Those of [`of_host_matrices`](Self::of_host_matrices).
    pub fn of_half_matrices<H: Half, C: HalfResult<H>>(
        rt: &Runtime,
        ops: (Op, Op),
        shape: [usize; 3],
        reads_c: bool,
        options: &Options,
    ) -> Result<Option<Arc<Self>>, Error> {
        plan_of_host_matrices(rt, &ProductElements::of_half::<H, C>(), ops, shape, reads_c, options)
    }

    pub(crate) fn tiles(&self) -> Tiles {
        let [mb, nb, kb] = self.tile;
        Tiles { mb, nb, kb }
    }

    /// Returns the rows and columns of a tile of C, and the columns of a tile of A.
    #[must_use]
    pub fn tile(&self) -> [usize; 3] {
        self.tile
    }

    /// Returns the rows and columns of the grid of devices, each of which has a block of C; `None` if C's tiles stay on
    /// the devices to which they were dealt.
    #[must_use]
    pub fn grid(&self) -> Option<(usize, usize)> {
        self.grid.map(|grid| (grid.rows, grid.columns))
    }

    /// Returns the bytes over each link that is used: source, target, bytes.
    pub fn traffic(&self) -> impl Iterator<Item = (Resource, Resource, u64)> {
        self.traffic.iter().map(|&(from, to, bytes)| (Resource(from as u16), Resource(to as u16), bytes))
    }

    /// Returns the predicted time, in nanoseconds.
    #[must_use]
    pub fn predicted_ns(&self) -> f64 {
        self.end_ns
    }

    /// Returns what a run on this runtime would record that kept to the plan. Written as a trace, it can be looked at,
    /// drawn, and compared with the trace of a run by `superscalar-trace compare`.
    ///
    /// ```no_run
    /// use superscalar::{dla::{Op, Options, ProductPlan}, recording::ChromeTrace};
    ///
    /// # let rt = superscalar::Runtime::new()?;
    /// let (ops, shape) = ((Op::None, Op::None), [16384; 3]);
    /// if let Some(plan) = ProductPlan::of_host_matrices::<f64>(&rt, ops, shape, true, &Options::default())? {
    ///     ChromeTrace::new(&plan.recording(&rt)).write(std::fs::File::create("plan.trace.json")?)?;
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    #[must_use]
    pub fn recording(&self, rt: &Runtime) -> Recording {
        recording::recording(self, rt)
    }

    /// Returns the tiles of C whose products are summed apart from it.
    pub(crate) fn tiles_apart(&self) -> HashSet<(usize, usize)> {
        let added = |step: &PlanStep| if let PlanStep::Add { tile, .. } = step { Some(*tile) } else { None };
        self.steps.iter().filter_map(added).collect()
    }

    /// Plans a product with the tiles whose predicted time is the shortest; `None` without a grid of the devices, or if
    /// they cannot hold a part of the product.
    fn of(product: &PlannedProduct, fabric: &Fabric) -> Option<Self> {
        let grid = DeviceGrid::of(fabric.devices(), product.shape)?;
        tiles::best_plan(product, fabric, grid)
    }

    /// Plans a product with tiles of these sizes; `None` as above.
    fn with_tiles(product: &PlannedProduct, fabric: &Fabric, tile: [usize; 3]) -> Option<Self> {
        let grid = DeviceGrid::of(fabric.devices(), product.shape)?;
        let turns = Turns::of(product, grid, tile)?;
        Some(schedule::Schedule::new(product, fabric, grid, tile, turns).run())
    }
}
