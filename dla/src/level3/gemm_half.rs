//! gemm in half precision: C = alpha op(A) op(B) + beta C, summed in single precision.

use super::areas::{TileUpdate, tile_updates};
use crate::{
    codelets::{HALF_SUM_TASK, HALF_TASK, HalfProduct, HalfSum},
    device_matrix::{DeviceMatrix, Layout},
    distribution::update_by_gemm,
    error::Error,
    options::{Distribution, Options},
    plan::Problem,
    product_plan::{
        Place, PlannedTasks, PlannedUpdate, ProductElements, ProductMatrix, plan_of_host_matrices, send_tile,
        spawn_planned,
    },
    tiled::{Tiled, cut_elements, cut_read_only_elements},
};
use superscalar_kernels::{Half, HalfResult, MatMut, MatRef, Op, cpu};
use superscalar_runtime::{Resource, Runtime, Scope, TaskSpec};

/// Computes C = alpha op(A) op(B) + beta C, where op(A) is m x k, op(B) is k x n and C is m x n. A and B have elements
/// of type `H`: [`f16`](struct@crate::f16) or [`bf16`](crate::bf16). C has elements of the same type or of `f32`.
///
/// Products are summed in single precision, and rounded once. NVIDIA GPUs multiply by matrix units, through cuBLAS;
/// other devices and the host convert A and B to single precision, tile by tile.
///
/// If beta = 0, C is not read and may hold NaN. If alpha = 0 or k = 0, A and B are not read. Without devices, k is not
/// cut if C is in half precision, whatever the block size is.
///
/// # Errors
/// [`Shape`](crate::ErrorKind::Shape) if the shapes do not match or the block size is zero;
/// [`Argument`](crate::ErrorKind::Argument) if the environment names an unknown distribution;
/// [`Device`](crate::ErrorKind::Device) if a device fails and no other can compute its tasks.
///
/// ```
/// use superscalar::{
///     Runtime,
///     dla::{MatMut, MatRef, Op, Options, bf16, gemm_half},
/// };
///
/// let rt = Runtime::new()?;
/// let (a, b) = (vec![bf16::from_f32(0.5); 300 * 200], vec![bf16::from_f32(3.0); 200 * 100]);
/// let mut c = vec![f32::NAN; 300 * 100];
/// let (a, b) = (MatRef::from_col_major(&a, 300, 200, 300)?, MatRef::from_col_major(&b, 200, 100, 200)?);
/// let c_view = MatMut::from_col_major(&mut c, 300, 100, 300)?;
/// gemm_half(&rt, 1.0, Op::None, a, Op::None, b, 0.0, c_view, &Options::default())?;
/// assert!(c.iter().all(|&x| x == 300.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn gemm_half<H: Half, C: HalfResult<H>>(
    rt: &Runtime,
    alpha: f32,
    op_a: Op,
    a: MatRef<'_, H>,
    op_b: Op,
    b: MatRef<'_, H>,
    beta: f32,
    c: MatMut<'_, C>,
    options: &Options,
) -> Result<(), Error> {
    let ((m, k), (rows, n)) = (op_a.shape(a.shape()), op_b.shape(b.shape()));
    if rows != k || c.shape() != (m, n) {
        let (c_m, c_n) = c.shape();
        return Err(Error::shape(format!("gemm_half: op(A) is {m} x {k}, op(B) is {rows} x {n}, C is {c_m} x {c_n}")));
    }
    // A block size of zero is refused even if there is nothing to multiply.
    options.fixed_tile()?;
    let product = HalfOperands { alpha, a: (op_a, a), b: (op_b, b), beta, c };
    if alpha == 0.0 || m.min(n).min(k) == 0 {
        product.multiply_serially();
        return Ok(());
    }
    let elements = ProductElements::of_half::<H, C>();
    let plan = plan_of_host_matrices(rt, &elements, (op_a, op_b), [m, n, k], beta != 0.0, options)?;
    let sums = |tile: [usize; 3]| {
        let layout = Layout::rectangles(tile[0], tile[1]).distributed(Distribution::None);
        DeviceMatrix::zeros(rt, (m, n), layout).ok()
    };
    if let Some(plan) = plan {
        let needs_sums = !plan.tiles_apart().is_empty();
        let sums = if needs_sums { sums(plan.tile()) } else { None };
        if !needs_sums || sums.is_some() {
            return product.multiply(rt, plan.tile(), sums, |s, tasks| spawn_planned(s, &plan, tasks));
        }
    }
    let Some(tiles) = options.plan::<f32>(rt, Problem::Product { m, n, k })?.tiles() else {
        product.multiply_serially();
        return Ok(());
    };
    let (tile, is_cut) = ([tiles.mb, tiles.nb, tiles.kb], !C::IS_SINGLE && tiles.kb < k);
    let sums = if is_cut { sums(tile) } else { None };
    let kb = if is_cut && sums.is_none() { k } else { tiles.kb };
    let distribution = options.distribution_over(rt)?;
    product.multiply(rt, [tiles.mb, tiles.nb, kb], sums, |s, tasks| tasks.spawn_all(s, distribution))
}

/// A product of host matrices.
struct HalfOperands<'m, H, C> {
    alpha: f32,
    a: (Op, MatRef<'m, H>),
    b: (Op, MatRef<'m, H>),
    beta: f32,
    c: MatMut<'m, C>,
}

impl<H: Half, C: HalfResult<H>> HalfOperands<'_, H, C> {
    fn multiply_serially(self) {
        let Self { alpha, a: (op_a, a), b: (op_b, b), beta, c } = self;
        cpu::gemm_half(alpha, op_a, a, op_b, b, beta, c);
    }

    /// Multiplies by tiles, whose tasks `insert` inserts. Products are summed in `sums`, or, without them, in C.
    fn multiply(
        self,
        rt: &Runtime,
        [mb, nb, kb]: [usize; 3],
        mut sums: Option<DeviceMatrix<f32>>,
        insert: impl for<'s> FnOnce(&'s Scope<'s, '_>, &HalfTasks<'s, '_, H, C>),
    ) -> Result<(), Error> {
        let Self { alpha, a: (op_a, a), b: (op_b, b), beta, mut c } = self;
        Ok(rt.scope(|s| {
            let a = cut_read_only_elements(s, a, op_a.shape((mb, kb)), 0);
            let b = cut_read_only_elements(s, b, op_b.shape((kb, nb)), 0);
            let (c, sums) = (cut_elements(s, c.rb_mut(), (mb, nb), 0), sums.as_mut().map(|sums| sums.lend(s)));
            let (in_place, apart, sum) = (HalfProduct::new(), HalfProduct::new(), HalfSum::new());
            insert(s, &HalfTasks { s, alpha, a: (op_a, a), b: (op_b, b), beta, c, sums, in_place, apart, sum });
        })?)
    }
}

/// The tasks of a product.
struct HalfTasks<'s, 'e, H: Half, C: HalfResult<H>> {
    s: &'s Scope<'s, 'e>,
    alpha: f32,
    a: (Op, Tiled<'s, MatRef<'s, H>>),
    b: (Op, Tiled<'s, MatRef<'s, H>>),
    beta: f32,
    c: Tiled<'s, MatMut<'s, C>>,
    sums: Option<Tiled<'s, MatMut<'s, f32>>>,
    in_place: HalfProduct<'s, H, C>,
    apart: HalfProduct<'s, H, f32>,
    sum: HalfSum<'s, H, C>,
}

impl<'s, H: Half, C: HalfResult<H>> HalfTasks<'s, '_, H, C> {
    /// Inserts all tasks. The scheduling policy chooses where they run, unless C is distributed.
    fn spawn_all(&self, s: &'s Scope<'s, '_>, distribution: Distribution) {
        let ((mb, nb), depth) = (self.c.tile_shape(), self.a.1.partition(self.a.0)[1]);
        self.c.deal(s.nesting(), distribution, update_by_gemm::<f32>(mb, nb, depth.block()));
        for update @ TileUpdate { i, j, k, .. } in tile_updates::<f32, _>(s, &self.c, depth) {
            let sum = self.sums.as_ref().map(|_| (i, j));
            self.multiply(update.task(Self::NAMES[0]), (i, j), k, PlannedUpdate { sum, is_first: k == 0 });
            if let Some(sum) = sum.filter(|_| k + 1 == depth.count()) {
                self.add(update.task(Self::NAMES[1]), (i, j), sum);
            }
        }
    }
}

impl<'s, H: Half, C: HalfResult<H>> PlannedTasks for HalfTasks<'s, '_, H, C> {
    const NAMES: [&'static str; 2] = [HALF_TASK, HALF_SUM_TASK];

    fn send(&self, matrix: ProductMatrix, tile: (usize, usize), route: &[Resource]) {
        send_tile((self.a.0, &self.a.1), (self.b.0, &self.b.1), &self.c, (matrix, tile), route);
    }

    fn multiply(&self, spec: TaskSpec, (i, j): (usize, usize), step: usize, update: PlannedUpdate) {
        let (a, b) = (self.a.1.factor(self.a.0, i, step), self.b.1.factor(self.b.0, step, j));
        let beta = |first: f32| if update.is_first { first } else { 1.0 };
        match self.sums.as_ref().zip(update.sum) {
            Some((sums, (i, j))) => self.apart.spawn(self.s, spec, self.alpha, a, b, beta(0.0), sums.at(i, j)),
            None => self.in_place.spawn(self.s, spec, self.alpha, a, b, beta(self.beta), self.c.at(i, j)),
        }
    }

    fn add(&self, spec: TaskSpec, (i, j): (usize, usize), sum: (usize, usize)) {
        if let Some(sums) = &self.sums {
            self.sum.spawn(self.s, spec, sums.factor(Op::None, sum.0, sum.1), self.beta, self.c.at(i, j));
        }
    }

    /// The matrices are in host memory, to which the runtime copies what it lent.
    fn put_back(&self, _: TaskSpec, _: (usize, usize), _: Place) {}
}
