//! [`Space`]: the rows among which a search chooses, and a model of what they cost.
//!
//! The model ranks rows before they are measured. It follows the roofline: a work-item's multiplications, its reads and
//! the group's reads overlap, and the slowest of them counts; what does not overlap is added. It knows nothing of a
//! device but its limits, its compute units and what most devices of its class have, so a search must measure.

use crate::opencl::{
    Buffering, Element, FactorTile, GroupLimits, GroupTile, LoopingTile, MatrixTile, Packing, Parameters, ProductForm,
};

/// The choices of a point of a space, each below the number in [`Space::choices`].
pub(super) type Point = [usize; 17];

/// What a space varies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Varied {
    /// The product's kernel, of the form that the row in use has.
    Product,
    /// The kernel that packs A (0) or B (1).
    Packing(usize),
}

/// Rows that differ from one row in some parameters.
pub(super) struct Space {
    base: Parameters,
    varied: Varied,
    limits: GroupLimits,
    compute_units: usize,
    /// The order of the products that are timed.
    order: usize,
}

impl Space {
    /// Makes the space of rows with other kernels for products, and likely ones for packing.
    pub fn of_products(base: Parameters, limits: GroupLimits, compute_units: usize, order: usize) -> Self {
        Self { base, varied: Varied::Product, limits, compute_units, order }
    }

    /// Makes the space of rows with other kernels that pack a factor.
    pub fn of_packing(base: Parameters, factor: usize, limits: GroupLimits) -> Self {
        Self { base, varied: Varied::Packing(factor), limits, compute_units: 1, order: 1 }
    }

    /// Returns the number of choices of each parameter.
    pub fn choices(&self) -> Point {
        let some = |choices: &[usize]| {
            let mut all = [1; 17];
            all[..choices.len()].copy_from_slice(choices);
            all
        };
        match (self.varied, &self.base.product) {
            (Varied::Product, ProductForm::Grouped(_)) => GroupTile::CHOICES,
            (Varied::Product, ProductForm::Looping(_)) => some(&[4, 4, 6, 4, 4, 5]),
            (Varied::Product, ProductForm::Matrix(_)) => some(&[3, 3, 2, 3, 3]),
            (Varied::Packing(_), _) => some(&[4, 7, 5, 5, 3, 4]),
        }
    }

    /// Returns the row of a point, if the device can run it.
    pub fn row(&self, point: &Point) -> Option<Parameters> {
        let row = match (self.varied, &self.base.product) {
            (Varied::Product, ProductForm::Grouped(_)) => {
                self.base.with_product(ProductForm::Grouped(GroupTile::point(point)))
            }
            (Varied::Product, ProductForm::Looping(_)) => {
                self.base.with_product(ProductForm::Looping(looping_tile(point)))
            }
            (Varied::Product, ProductForm::Matrix(_)) => {
                self.base.with_product(ProductForm::Matrix(matrix_tile(point)))
            }
            (Varied::Packing(factor), product) => {
                let mut row = self.base;
                row.packing[factor] = packing(point, product.packed_columns()[factor]);
                row
            }
        };
        row.check(&self.limits).is_ok().then_some(row)
    }

    /// Estimates what a row costs, in units that only rows of one space share.
    pub fn cost(&self, row: &Parameters) -> f64 {
        match (self.varied, &row.product) {
            (Varied::Product, ProductForm::Grouped(tile)) => {
                grouped_cost(tile, row.element()) / self.balance([tile.m_wg, tile.n_wg])
            }
            (Varied::Product, ProductForm::Looping(tile)) => {
                let native = self.base.product.vector();
                looping_cost(tile, native, row.element()) / self.balance([tile.m_wg, tile.n_wg])
            }
            (Varied::Product, ProductForm::Matrix(tile)) => matrix_cost(tile) / self.balance([tile.m_wg, tile.n_wg]),
            (Varied::Packing(factor), ProductForm::Looping(_)) => {
                let [x, y] = row.packing[factor].dims();
                ((x * y) as f64).log2()
            }
            (Varied::Packing(factor), ProductForm::Grouped(_) | ProductForm::Matrix(_)) => {
                packing_cost(&row.packing[factor])
            }
        }
    }

    /// Returns the fraction of the compute units that are busy on average, if all groups take equally long.
    fn balance(&self, [m_wg, n_wg]: [usize; 2]) -> f64 {
        let groups = self.order.div_ceil(m_wg) * self.order.div_ceil(n_wg);
        let units = self.compute_units.max(1);
        groups as f64 / (groups.div_ceil(units) * units) as f64
    }
}

/// Returns the kernel of a point of the space of looping kernels.
fn looping_tile(point: &Point) -> LoopingTile {
    let &[vector, vectors, columns, rows_wg, columns_wg, steps, ..] = point;
    let vector = [2, 4, 8, 16][vector];
    let (m_wi, n_wi) = (vector * (vectors + 1), [2, 3, 4, 6, 8, 12][columns]);
    // The nearest multiple of the register tile.
    let multiple = |wanted: usize, of: usize| (wanted / of).max(1) * of;
    let m_wg = multiple([48, 96, 192, 384][rows_wg], m_wi);
    let n_wg = multiple([96, 192, 384, 768][columns_wg], n_wi);
    LoopingTile { m_wg, n_wg, k_wg: [128, 192, 256, 384, 512][steps], m_wi, n_wi, vector }
}

/// Returns the kernel of a point of the space of kernels with matrix instructions.
fn matrix_tile(point: &Point) -> MatrixTile {
    let &[rows, columns, steps, warp_rows, warp_columns, ..] = point;
    let (m_wg, n_wg, k_wg) = (32 << rows, 32 << columns, 8 << steps);
    MatrixTile { m_wg, n_wg, k_wg, m_warp: 16 << warp_rows, n_warp: 16 << warp_columns }
}

/// Returns the packing kernel of a point, for blocks of so many columns.
fn packing(point: &Point, columns: usize) -> Packing {
    let &[parts, x_items, rows, y_items, m_unroll, n_unroll, ..] = point;
    // Numbers that do not divide become zero, which is not valid.
    let part = |all: usize, by: usize| if all.is_multiple_of(by) { all / by } else { 0 };
    let (m_wg, n_wg) = (part(columns, 1 << parts), 8 << rows);
    let (m_wi, n_wi) = (part(m_wg, 1 << x_items), part(n_wg, 1 << y_items));
    Packing { m_wg, n_wg, m_wi, n_wi, m_unroll: 1 << m_unroll, n_unroll: 1 << n_unroll }
}

/// The cost of a multiplication's share of a step, if multiplications are the limit, is one.
fn grouped_cost(tile: &GroupTile, element: Element) -> f64 {
    // Multiplications in the time in which a work-item reads a word of 32 bits from local memory, which several items
    // share, or from global memory, or its share of what the group reads, which caches help with.
    const LOCAL: f64 = 1.5;
    const GLOBAL: f64 = 4.0;
    const GROUP: f64 = 8.0;
    // Of a loop, and of a barrier.
    const LOOP: f64 = 6.0;
    const BARRIER: f64 = 60.0;
    // 32-bit registers of a compute unit, its work-items at most, and independent multiplications that hide latencies.
    const REGISTER_FILE: usize = 65_536;
    const ITEMS_MAX: usize = 2048;
    const HIDING: f64 = 8192.0;
    let (m, n, words) = (tile.m_wi() as f64, tile.n_wi() as f64, element.bytes() as f64 / 4.0);
    // On most devices double precision takes at least twice the time.
    let multiplications =
        m * n * (element.parts() * element.parts()) as f64 * if element.is_double { 2.0 } else { 1.0 };
    let read = |factor: &FactorTile, numbers: f64| {
        // Vectors of less than 16 bytes take more instructions.
        let width = (factor.vector * element.bytes() / element.parts()).min(16) as f64 / 16.0;
        numbers * words * if factor.is_local { LOCAL } else { GLOBAL } * (0.5 + 0.5 / width.sqrt())
    };
    let reads = read(&tile.a, m) + read(&tile.b, n);
    let fetches = (tile.m_wg + tile.n_wg) as f64 * words / tile.items() as f64 * GROUP;
    let barriers = match tile.buffering {
        Buffering::None => 2.0,
        Buffering::Registers => 1.5,
        Buffering::Double => 1.0,
    };
    let overhead = LOOP / tile.k_wi as f64 + barriers * BARRIER / tile.k_wg as f64;
    let slowest = multiplications.max(reads).max(fetches);
    let others = multiplications + reads + fetches - slowest;
    let groups = (REGISTER_FILE / tile.registers(element)).min(ITEMS_MAX) / tile.items();
    let independent = (groups.max(1) * tile.items()) as f64 * (m * n).min(32.0);
    (slowest + 0.25 * others + overhead) / multiplications / (independent / HIDING).min(1.0)
}

/// The same for a kernel with matrix instructions: what a warp reads from local memory for each of them, and what the
/// group reads from global memory.
fn matrix_cost(tile: &MatrixTile) -> f64 {
    let reads = |rows: usize, columns: usize| 1.0 / rows as f64 + 1.0 / columns as f64;
    1.0 + 8.0 * reads(tile.m_warp, tile.n_warp) + 16.0 * reads(tile.m_wg, tile.n_wg) + 1.0 / tile.k_wg as f64
}

/// The same for a kernel in which a work-item loops over register tiles, on a core with registers of `native` numbers.
fn looping_cost(tile: &LoopingTile, native: usize, element: Element) -> f64 {
    // Independent sums that hide the latency of two units, and bytes of the first two caches.
    const SUMS: f64 = 8.0;
    const CACHES: [usize; 2] = [32 << 10, 512 << 10];
    let &LoopingTile { m_wg, k_wg, m_wi, n_wi, vector, .. } = tile;
    let parts = element.parts();
    let vectors = m_wi / vector;
    // A processor with registers of 512 bits has 32 of them.
    let registers = if native * element.bytes() / parts >= 64 { 32 } else { 16 };
    let needed = vectors * n_wi * parts + vectors * parts + 1;
    let (vectors, columns) = (vectors as f64, n_wi as f64);
    let reads = (vectors + columns) / (vectors * columns);
    let spilled = needed.saturating_sub(registers) as f64 / registers as f64;
    let latency = (SUMS / (vectors * columns * parts as f64)).max(1.0);
    let narrow = (native as f64 / vector as f64).max(1.0);
    let is_in = |bytes: usize, cache: usize| if bytes <= cache { 1.0 } else { 1.3 };
    let caches = is_in(n_wi * k_wg * element.bytes(), CACHES[0]) * is_in(m_wg * k_wg * element.bytes(), CACHES[1]);
    (1.0 + 0.5 * reads + 4.0 * spilled + 16.0 / k_wg as f64) * latency * narrow * caches
}

/// Packing copies: many work-items, adjacent ones with adjacent elements, and a few elements each.
fn packing_cost(packing: &Packing) -> f64 {
    let [x, y] = packing.dims();
    let each = packing.m_wi * packing.n_wi;
    let off = |number: usize, wanted: f64| ((number as f64).log2() - wanted).abs();
    0.3 * off(x * y, 7.5) + 0.3 * (5.0 - (x as f64).log2()).max(0.0) + 0.1 * off(each, 3.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::opencl::{Class, tuning::Database};

    fn space(class: Class, letter: char) -> Space {
        Space::of_products(Parameters::of(class, letter), GroupLimits::USUAL, 16, 2048)
    }

    #[test]
    fn looping_points_are_multiples_of_register_tiles() {
        let space = space(Class::Cpu, 'z');
        let choices = space.choices();
        let last = choices.map(|choices| choices - 1);
        for point in [[0; 17], last] {
            let row = space.row(&point).expect("valid for every device");
            assert!(matches!(row.product, ProductForm::Looping(_)) && space.cost(&row) > 0.0, "{row}");
        }
    }

    /// The shipped rows were made by rules, so the model should not think much of rows that violate them.
    #[test]
    fn model_prefers_large_register_tiles_in_local_memory() {
        for letter in ['s', 'd', 'c', 'z'] {
            let space = space(Class::Gpu, letter);
            let row = Parameters::of(Class::Gpu, letter);
            let ProductForm::Grouped(tile) = row.product else { unreachable!("a GPU") };
            let small = GroupTile { m_wg: 32, n_wg: 32, ..tile };
            let from_global = FactorTile { is_local: false, dim: tile.m_dim, ..tile.a };
            let global = GroupTile { a: from_global, ..tile };
            for worse in [small, global] {
                let worse = row.with_product(ProductForm::Grouped(worse));
                assert!(space.cost(&worse) > space.cost(&row), "{row}: {} {}", space.cost(&worse), space.cost(&row));
            }
        }
    }

    /// A kernel that cannot read factors where they are is a point, too, with a row that packs all of them.
    #[test]
    fn rows_are_checked_with_the_form_that_was_found() {
        let base = Database::shipped().rows.iter().map(|row| row.parameters);
        let mut base = base.filter(|row| matches!(row.product, ProductForm::Matrix(_)) && row.letter == 'd');
        let base = base.next().expect("a row with matrix instructions");
        assert!(base.direct_order > 0, "{base}");
        let space = Space::of_products(base, GroupLimits::NONE, 16, 2048);
        let mut point = [0; 17];
        // Tiles of 128 x 32 and of 128 x 128, by warps of 64 x 32.
        point[..5].copy_from_slice(&[2, 0, 0, 2, 1]);
        for (columns, direct_order) in [(0, 0), (2, base.direct_order)] {
            point[1] = columns;
            let row = space.row(&point).expect("a valid row");
            assert_eq!(row.direct_order, direct_order, "{row}");
        }
    }

    #[test]
    fn packing_points_divide_blocks_or_are_refused() {
        let row = Parameters::of(Class::Gpu, 'd');
        let space = Space::of_packing(row, 1, GroupLimits::USUAL);
        let mut point = [0; 17];
        let of = |space: &Space, point: &Point| space.row(point).map(|row| row.packing[1]);
        assert_eq!(
            of(&space, &point),
            Some(Packing { m_wg: 64, n_wg: 8, m_wi: 64, n_wi: 8, m_unroll: 1, n_unroll: 1 })
        );
        // 64 columns in eight parts, of which a work-item cannot have a sixteenth.
        (point[0], point[1]) = (3, 4);
        assert_eq!(of(&space, &point), None);
    }
}
