//! The parameters that the kernels are generated from, for one element type. `database.rs` has the rows.
//!
//! The names of the blocking factors are those of Matsumoto, Nakasato and Sedukhin, "Implementing Level-3 BLAS Routines
//! in OpenCL on Different Processing Units" (2014), §3. `wg` is the block of an OpenCL work-group; `wi` is the register
//! tile of one OpenCL work-item.

use super::{
    GroupLimits, GroupTile, MatrixTile, ParameterConstraint,
    constraint::meets,
    group_tile::{VECTORS, WRITTEN_MAX},
};
use superscalar_devices::opencl::DeviceClass;

/// A class of devices, with rows in the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// A CPU with 32 registers of 512 bits. One work-item computes a block, in vectors.
    WideCpu,
    /// Any other CPU; 16 registers of 256 bits are assumed.
    Cpu,
    /// A device with many work-items that share local memory.
    Gpu,
}

impl Class {
    /// All classes.
    pub const ALL: [Self; 3] = [Self::WideCpu, Self::Cpu, Self::Gpu];

    /// Returns the class of a device.
    #[must_use]
    pub fn of(device: &DeviceClass) -> Self {
        match (device.is_cpu, device.vector_f32) {
            (true, 16..) => Self::WideCpu,
            (true, _) => Self::Cpu,
            (false, _) => Self::Gpu,
        }
    }

    /// Returns the name in a database.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::WideCpu => "wide-cpu",
            Self::Cpu => "cpu",
            Self::Gpu => "gpu",
        }
    }
}

/// The parts of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Element {
    /// Whether they are `double`.
    pub is_double: bool,
    /// Whether there is an imaginary part.
    pub is_complex: bool,
}

impl Element {
    /// Returns the parts of the element type with this letter of LAPACK's.
    #[must_use]
    pub fn of(letter: char) -> Self {
        Self { is_double: matches!(letter, 'd' | 'z'), is_complex: matches!(letter, 'c' | 'z') }
    }

    /// Returns the number of parts.
    #[must_use]
    pub fn parts(self) -> usize {
        if self.is_complex { 2 } else { 1 }
    }

    /// Returns the size in bytes.
    #[must_use]
    pub fn bytes(self) -> usize {
        self.parts() * if self.is_double { 8 } else { 4 }
    }
}

/// How a work-group computes its block of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProductForm {
    /// One work-item loops over the block's register tiles, with vectors along the rows. Caches hold the packed panels.
    Looping(LoopingTile),
    /// Each work-item computes one register tile. The group may read the factors into local memory.
    Grouped(GroupTile),
    /// Groups of 32 work-items compute tiles with matrix instructions.
    Matrix(MatrixTile),
}

/// The blocking of a product in which a group is one work-item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LoopingTile {
    /// Rows of a work-group's block (Mwg); a multiple of `m_wi`.
    pub m_wg: usize,
    /// Columns of a work-group's block (Nwg); a multiple of `n_wi`.
    pub n_wg: usize,
    /// Steps of the inner dimension that are done at a time (Kwg), for which a panel's part stays in a cache.
    pub k_wg: usize,
    /// Rows of the register tile (Mwi); a multiple of `vector`.
    pub m_wi: usize,
    /// Columns of the register tile (Nwi).
    pub n_wi: usize,
    /// Numbers in a vector.
    pub vector: usize,
}

impl LoopingTile {
    /// Checks that the kernel can exist for elements of this type.
    ///
    /// # Errors
    /// The first constraint that is violated.
    pub fn check(&self, element: Element) -> Result<(), ParameterConstraint> {
        let &Self { m_wg, n_wg, k_wg, m_wi, n_wi, vector } = self;
        let is_in_range = [m_wg, n_wg, k_wg, m_wi, n_wi].iter().all(|number| (1..=4096).contains(number));
        meets(is_in_range, ParameterConstraint::Range)?;
        meets(VECTORS.contains(&vector), ParameterConstraint::VectorLength)?;
        meets(m_wg.is_multiple_of(m_wi) && n_wg.is_multiple_of(n_wi), ParameterConstraint::ItemTile)?;
        meets(m_wi.is_multiple_of(vector), ParameterConstraint::Vector)?;
        meets(m_wi / vector * n_wi * element.parts().pow(2) <= WRITTEN_MAX, ParameterConstraint::Length)
    }
}

impl ProductForm {
    /// Checks that the kernel can exist for elements of this type, on a device with these limits.
    ///
    /// # Errors
    /// The first constraint that is violated.
    pub fn check(&self, element: Element, limits: &GroupLimits) -> Result<(), ParameterConstraint> {
        match self {
            Self::Looping(tile) => tile.check(element),
            Self::Grouped(tile) => tile.check(element, limits),
            Self::Matrix(tile) => tile.check(element, limits),
        }
    }

    /// Returns the numbers in a vector of rows of C.
    pub(super) fn vector(&self) -> usize {
        match self {
            Self::Looping(tile) => tile.vector,
            Self::Grouped(tile) => tile.a.vector,
            Self::Matrix(_) => 1,
        }
    }

    /// Returns the columns of a block of the packed A and of the packed B; `None` stands for all columns.
    pub(super) fn packed_blocks(&self) -> [Option<usize>; 2] {
        match self {
            Self::Looping(tile) => [Some(tile.m_wi), Some(tile.n_wi)],
            Self::Grouped(tile) => tile.packed_blocks(),
            Self::Matrix(tile) => [Some(tile.m_wg), Some(tile.n_wg)],
        }
    }

    /// Returns the columns that a block of the packed A and of the packed B is a multiple of.
    pub(super) fn packed_columns(&self) -> [usize; 2] {
        let (blocks, [m, n, _]) = (self.packed_blocks(), self.multiples());
        [blocks[0].unwrap_or(m), blocks[1].unwrap_or(n)]
    }

    /// Returns the multiples to which the rows of A, the columns of B and the inner dimension are padded.
    pub(super) fn multiples(&self) -> [usize; 3] {
        match self {
            Self::Looping(tile) => [tile.m_wi, tile.n_wi, 1],
            Self::Grouped(tile) => [tile.m_wg, tile.n_wg, tile.k_wg],
            Self::Matrix(tile) => [tile.m_wg, tile.n_wg, tile.k_wg],
        }
    }

    /// Returns the work-items of a group in both directions, and the rows and columns of its tile.
    pub(super) fn group(&self) -> ([usize; 2], [usize; 2]) {
        match self {
            Self::Looping(tile) => ([1, 1], [tile.m_wg, tile.n_wg]),
            Self::Grouped(tile) => ([tile.m_dim, tile.n_dim], [tile.m_wg, tile.n_wg]),
            Self::Matrix(tile) => ([tile.items(), 1], [tile.m_wg, tile.n_wg]),
        }
    }
}

/// The parameters of a packing kernel (2014, §3.6): block of a work-group, block of a work-item, unrolling. `m` counts
/// columns of the packed factor, `n` its rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Packing {
    /// Columns of a work-group (Mwg); they divide a block of the packed factor.
    pub m_wg: usize,
    /// Rows of a work-group (Nwg).
    pub n_wg: usize,
    /// Columns of a work-item (Mwi); they divide `m_wg`.
    pub m_wi: usize,
    /// Rows of a work-item (Nwi); they divide `n_wg`.
    pub n_wi: usize,
    /// Unrolled columns (Mud).
    pub m_unroll: usize,
    /// Unrolled rows (Nud).
    pub n_unroll: usize,
}

impl Packing {
    /// Returns the work-items of a group in both directions.
    pub(super) fn dims(&self) -> [usize; 2] {
        [self.m_wg / self.m_wi, self.n_wg / self.n_wi]
    }

    /// Checks that the kernel can pack blocks of so many columns, or multiples of them, on a device with these limits.
    ///
    /// # Errors
    /// The first constraint that is violated.
    pub fn check(&self, columns: usize, element: Element, limits: &GroupLimits) -> Result<(), ParameterConstraint> {
        let &Self { m_wg, n_wg, m_wi, n_wi, m_unroll, n_unroll } = self;
        let is_in_range = [m_wg, n_wg, m_wi, n_wi, m_unroll, n_unroll].iter().all(|one| (1..=1024).contains(one));
        meets(is_in_range, ParameterConstraint::Range)?;
        meets(m_wg.is_multiple_of(m_wi) && n_wg.is_multiple_of(n_wi), ParameterConstraint::ItemTile)?;
        meets(columns.is_multiple_of(m_wg), ParameterConstraint::EqualReads)?;
        meets(m_wi.is_multiple_of(m_unroll) && n_wi.is_multiple_of(n_unroll), ParameterConstraint::Unroll)?;
        let dims = self.dims();
        meets(dims[0] * dims[1] <= limits.items, ParameterConstraint::GroupItems)?;
        meets(dims[0] <= limits.dim_items[0] && dims[1] <= limits.dim_items[1], ParameterConstraint::DimItems)?;
        meets(self.local_bytes(element) <= limits.local_bytes, ParameterConstraint::PackingMemory)
    }

    /// Returns the bytes of local memory, in which a group of several work-items transposes.
    pub(super) fn local_bytes(&self, element: Element) -> usize {
        if self.dims() == [1, 1] { 0 } else { (self.m_wg + 1) * self.n_wg * element.bytes() }
    }

    /// Returns likely parameters for a product.
    fn likely(product: &ProductForm, columns: usize) -> Self {
        match product {
            // One work-item packs a block, with vectors along its columns.
            ProductForm::Looping(_) => {
                Self { m_wg: columns, n_wg: 64, m_wi: columns, n_wi: 64, m_unroll: 1, n_unroll: 1 }
            }
            // A group reads and writes rows of 32 adjacent elements, if blocks are so wide.
            ProductForm::Grouped(_) | ProductForm::Matrix(_) => {
                let ([x, y], _) = product.group();
                let m_wg = 1 << columns.trailing_zeros().min(5);
                let n_dim = (x.saturating_mul(y) / m_wg).clamp(1, 8);
                Self { m_wg, n_wg: 4 * n_dim, m_wi: 1, n_wi: 4, m_unroll: 1, n_unroll: 4 }
            }
        }
    }
}

/// The order of a triangle that one kernel applies, and the blocks of a matrix that one kernel factors, if a group has
/// several work-items. More would take longer than the launches of products that they save.
const TRIANGLE_SPAN: usize = 256;
const FACTOR_BLOCKS: usize = 4;
/// The adjacent columns that the work-items of a group begin with: STRANDS in the kernel that factors.
pub(super) const FACTOR_STRANDS: usize = 4;
/// The elements of earlier columns that a work-item reads at a time.
pub(super) const FACTOR_READS: usize = 8;
/// The right-hand sides of a triangle for a group of several work-items: few, so that there are many groups. Each
/// work-item computes a tile of so many elements.
pub(super) const TRIANGLE_COLUMNS: usize = 16;
pub(super) const TRIANGLE_TILE: usize = 4;
/// Numbers between the columns of a block in local memory: GAP in the kernels of triangles.
pub(super) const TRIANGLE_GAP: usize = 4;
/// The order of the blocks of a triangle that are inverted first: PART in the kernels' text.
pub(super) const PART_ROWS: usize = 8;
/// The steps that are read at a time, if factors are not packed.
pub(super) const DIRECT_STEPS: usize = 8;

/// The parameters of the kernels of one element type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Parameters {
    /// LAPACK's letter of the element type.
    pub letter: char,
    /// The kernel of products.
    pub product: ProductForm,
    /// The kernels that pack A and B.
    pub packing: [Packing; 2],
    /// Steps of the inner dimension that are packed at a time, which bounds the scratch.
    pub packed_steps: usize,
    /// The order of products up to which factors are not packed; for m x n, the harmonic mean of both counts. 0 if no
    /// kernel reads factors where they are: for looping kernels, for grouped ones if a group has one work-item, and for
    /// those with matrix instructions if the work-items do not have equal parts of a factor.
    pub direct_order: usize,
    /// Numbers in a vector of other kernels.
    pub vector: usize,
    /// The order of the blocks of a triangle: a multiple of 4, or a power of two from 16 if a group has several
    /// work-items. One kernel applies a block or, in the second case, the blocks of up to 256 rows. Larger triangles
    /// are halved, which leaves the rest to the product.
    pub triangle_order: usize,
    /// The order of the blocks of a matrix that is factored. One kernel factors a block, or four if a group has several
    /// work-items; it is a multiple of four then, and four blocks have equal parts for a fourth of the work-items.
    pub factor_order: usize,
    /// Work-items of the group that factors a matrix; a power of four.
    pub factor_items: usize,
    /// Work-items of a group in kernels other than those of triangles, factorizations and packed products; a power of
    /// four.
    pub work_items: usize,
}

impl Parameters {
    /// Returns the parameters with another kernel for products, and likely ones for its packing. If that kernel cannot
    /// read factors where they are, all factors are packed.
    #[must_use]
    pub fn with_product(self, product: ProductForm) -> Self {
        let packing = product.packed_columns().map(|columns| Packing::likely(&product, columns));
        let row = Self { product, packing, ..self };
        if row.check_direct().is_ok() { row } else { Self { direct_order: 0, ..row } }
    }

    /// Returns the parts of the elements.
    #[must_use]
    pub fn element(&self) -> Element {
        Element::of(self.letter)
    }

    /// Returns the order of the triangles that one kernel applies.
    #[must_use]
    pub fn triangle_span(&self) -> usize {
        if self.work_items == 1 { self.triangle_order } else { self.triangle_order.max(TRIANGLE_SPAN) }
    }

    /// Returns the order of the matrices that one kernel factors.
    #[must_use]
    pub fn factor_span(&self) -> usize {
        if self.work_items == 1 { self.factor_order } else { FACTOR_BLOCKS * self.factor_order }
    }

    /// Returns the right-hand sides of a triangle per work-group. A single work-item has two vectors, so that each
    /// element of the triangle is used twice when it is read.
    #[must_use]
    pub fn triangle_columns(&self) -> usize {
        match (self.work_items, self.vector) {
            (1, 1) => 1,
            (1, vector) => 2 * vector,
            _ => TRIANGLE_COLUMNS,
        }
    }

    /// Returns the work-items of a group that applies a triangle.
    pub(super) fn triangle_items(&self) -> usize {
        if self.work_items == 1 { 1 } else { self.triangle_order * TRIANGLE_COLUMNS / TRIANGLE_TILE }
    }

    /// Returns the rows and columns of a group in the kernel for factors that are not packed, if it has no matrix
    /// instructions.
    pub(super) fn direct_tile(&self) -> usize {
        self.direct_each() * self.work_items.isqrt()
    }

    /// Returns the rows and columns of a work-item in the kernel for factors that are not packed, if it has no matrix
    /// instructions.
    pub(super) fn direct_each(&self) -> usize {
        if self.letter == 'z' { 2 } else { 4 }
    }

    /// Returns whether the factors of an m x n product are read where they are. For each of its steps packing reads and
    /// writes m + n elements, and the product computes m n: so the harmonic mean of m and n decides, and not the steps.
    pub(super) fn is_direct(&self, [m, n]: [usize; 2]) -> bool {
        m.saturating_mul(n).saturating_mul(2) <= self.direct_order.saturating_mul(m + n)
    }

    /// Returns what the scratch of calls depends on besides options and shapes: all but the kernels of products and of
    /// packing, of which the multiples of the blocks matter.
    pub(super) fn scratch_key(&self) -> impl PartialEq {
        let &Self { letter, ref product, packing: _, packed_steps, direct_order, vector, .. } = self;
        let others = [packed_steps, direct_order, vector, self.triangle_order, self.factor_order, self.work_items];
        (letter, product.multiples(), self.check_direct().is_ok(), others)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packing_constraints_discard() {
        let element = Element::of('z');
        let valid = Packing { m_wg: 32, n_wg: 16, m_wi: 1, n_wi: 4, m_unroll: 1, n_unroll: 2 };
        let limits = GroupLimits { items: 128, dim_items: [128, 64], local_bytes: 9 << 10, ..GroupLimits::USUAL };
        assert_eq!(valid.check(64, element, &limits), Ok(()));
        for (packing, constraint) in [
            (Packing { m_wg: 0, ..valid }, ParameterConstraint::Range),
            (Packing { n_wi: 3, ..valid }, ParameterConstraint::ItemTile),
            (Packing { m_wg: 48, ..valid }, ParameterConstraint::EqualReads),
            (Packing { n_unroll: 3, ..valid }, ParameterConstraint::Unroll),
            (Packing { n_wi: 2, n_unroll: 1, ..valid }, ParameterConstraint::GroupItems),
            (Packing { m_wg: 1, n_wi: 1, n_wg: 128, n_unroll: 1, ..valid }, ParameterConstraint::DimItems),
            (Packing { n_wg: 32, n_wi: 8, ..valid }, ParameterConstraint::PackingMemory),
        ] {
            assert_eq!(packing.check(64, element, &limits), Err(constraint), "{packing:?}");
        }
    }
}
