//! [`Parameters::check`]: whether a device can run the kernels of a row. Rows may come from a file, so nothing is taken
//! for granted.

use super::{
    GroupLimits, ParameterConstraint, Parameters, ProductForm, Program,
    constraint::meets,
    group_tile::{OTHER_REGISTERS, REGISTERS, VECTORS},
    parameters::{FACTOR_READS, FACTOR_STRANDS, TRIANGLE_COLUMNS, TRIANGLE_TILE},
};

/// The most steps that are packed at a time, the largest order of a block, and the most work-items of a group.
const STEPS_MAX: usize = 1 << 16;
const ORDER_MAX: usize = 1024;
const ITEMS_MAX: usize = 4096;

/// The families whose local memory does not depend on the parameters of products and of packing, which check it
/// themselves. What runs only on devices with concurrent groups takes less than these have.
const MEMORIES: [(Program, ParameterConstraint); 12] = [
    (Program::Direct, ParameterConstraint::DirectMemory),
    (Program::Triangle, ParameterConstraint::TriangleMemory),
    (Program::Factor, ParameterConstraint::FactorMemory),
    (Program::Elements, ParameterConstraint::ElementMemory),
    (Program::PanelLu, ParameterConstraint::PanelMemory),
    (Program::PanelQr, ParameterConstraint::PanelMemory),
    (Program::DirectSmall, ParameterConstraint::DirectMemory),
    (Program::BatchGemm, ParameterConstraint::BatchMemory),
    (Program::BatchSolve, ParameterConstraint::BatchMemory),
    (Program::BatchLu, ParameterConstraint::BatchMemory),
    (Program::BatchQr, ParameterConstraint::BatchMemory),
    (Program::BatchBidiagonal, ParameterConstraint::BatchMemory),
];

impl Parameters {
    /// Checks that a device with these limits can run the kernels.
    ///
    /// # Errors
    /// The first constraint that is violated.
    pub fn check(&self, limits: &GroupLimits) -> Result<(), ParameterConstraint> {
        let element = self.element();
        self.product.check(element, limits)?;
        let [.., k] = self.product.multiples();
        meets((1..=STEPS_MAX).contains(&self.packed_steps), ParameterConstraint::Range)?;
        meets(self.packed_steps.is_multiple_of(k), ParameterConstraint::PackedSteps)?;
        let columns = self.product.packed_columns().into_iter();
        columns.zip(&self.packing).try_for_each(|(columns, packing)| packing.check(columns, element, limits))?;
        meets(VECTORS.contains(&self.vector), ParameterConstraint::VectorLength)?;
        self.check_groups(limits)?;
        meets(self.direct_order <= STEPS_MAX, ParameterConstraint::Range)?;
        if self.direct_order > 0 {
            self.check_direct()?;
        }
        self.check_orders()?;
        meets(self.triangle_items() <= limits.items.min(limits.dim_items[0]), ParameterConstraint::GroupItems)?;
        MEMORIES
            .into_iter()
            .try_for_each(|(program, constraint)| meets(program.local_bytes(self) <= limits.local_bytes, constraint))
    }

    /// Checks the work-items of the other kernels.
    fn check_groups(&self, limits: &GroupLimits) -> Result<(), ParameterConstraint> {
        let (groups, most) = ([self.work_items, self.factor_items], limits.items.min(limits.dim_items[0]));
        meets(groups.iter().all(|items| (1..=ITEMS_MAX).contains(items)), ParameterConstraint::Range)?;
        meets(groups.into_iter().all(is_square), ParameterConstraint::SquareGroup)?;
        meets((self.work_items == 1) == (self.factor_items == 1), ParameterConstraint::SingleItems)?;
        meets(groups.iter().all(|&items| items <= most), ParameterConstraint::GroupItems)
    }

    /// Checks that there is a kernel for factors that are not packed.
    pub(super) fn check_direct(&self) -> Result<(), ParameterConstraint> {
        match &self.product {
            ProductForm::Looping(_) => Err(ParameterConstraint::DirectOrder),
            ProductForm::Grouped(_) => meets(self.work_items > 1, ParameterConstraint::DirectOrder),
            ProductForm::Matrix(tile) => {
                meets(!tile.direct(self.element()).direct_reads().contains(&0), ParameterConstraint::EqualReads)
            }
        }
    }

    /// Checks the orders of blocks, which several work-items share in equal parts.
    fn check_orders(&self) -> Result<(), ParameterConstraint> {
        let order = self.triangle_order;
        let orders = [order, self.factor_order];
        meets(orders.iter().all(|order| (1..=ORDER_MAX).contains(order)), ParameterConstraint::Range)?;
        meets(order.is_multiple_of(4), ParameterConstraint::TriangleOrder)?;
        if self.work_items == 1 {
            return Ok(());
        }
        let is_divided = order.is_power_of_two() && order >= TRIANGLE_COLUMNS;
        meets(is_divided, ParameterConstraint::TriangleOrder)?;
        let (span, strand) = (self.factor_span(), self.factor_items / FACTOR_STRANDS);
        let is_shared = self.factor_order.is_multiple_of(FACTOR_STRANDS) && span.is_multiple_of(strand);
        meets(is_shared, ParameterConstraint::FactorOrder)?;
        self.check_registers()
    }

    /// Checks the elements that each of several work-items has in registers: of blocks of a triangle and its right-hand
    /// sides, and of a panel that is factored. Loops over them are written out. Besides the time that spilled registers
    /// take, PoCL 3.1 overflows its stack where it compiles hundreds.
    fn check_registers(&self) -> Result<(), ParameterConstraint> {
        let words = self.element().bytes() / 4;
        let fits = |elements: usize| elements.saturating_mul(words) + OTHER_REGISTERS <= REGISTERS;
        let (order, span) = (self.triangle_order, self.factor_span());
        // What is read ahead of both blocks, and the sums.
        let ahead = order * (order + self.triangle_columns()) / self.triangle_items();
        meets(fits(ahead + TRIANGLE_TILE), ParameterConstraint::TriangleRegisters)?;
        // The tile, and the rows of two columns or what is read of earlier columns.
        let rows = span * FACTOR_STRANDS / self.factor_items;
        let beside = (2 * rows).max(FACTOR_READS);
        meets(fits(rows * (self.factor_order / FACTOR_STRANDS) + beside), ParameterConstraint::FactorRegisters)
    }
}

/// Returns whether the work-items of a group are a power of four, as kernels require that arrange them in a square or
/// add by halves.
fn is_square(items: usize) -> bool {
    items.is_power_of_two() && items.ilog2().is_multiple_of(2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::opencl::{Buffering, Class, FactorTile, GroupTile, MatrixTile, PackedLayout, Packing};

    fn refused(row: Parameters, limits: &GroupLimits, constraint: ParameterConstraint) {
        assert_eq!(row.check(limits), Err(constraint), "{row}");
        assert!(!constraint.to_string().is_empty());
    }

    #[test]
    fn each_constraint_refuses() {
        use ParameterConstraint as Why;
        let row = Parameters::of(Class::Gpu, 'z');
        let limits = GroupLimits { items: 256, ..GroupLimits::USUAL };
        assert_eq!(row.check(&limits), Ok(()));
        for (row, constraint) in [
            (Parameters { packed_steps: 0, ..row }, Why::Range),
            (Parameters { packed_steps: usize::MAX, ..row }, Why::Range),
            (Parameters { packed_steps: 4097, ..row }, Why::PackedSteps),
            (Parameters { vector: 3, ..row }, Why::VectorLength),
            (Parameters { triangle_order: 0, ..row }, Why::Range),
            (Parameters { triangle_order: 2048, ..row }, Why::Range),
            (Parameters { triangle_order: 30, ..row }, Why::TriangleOrder),
            (Parameters { triangle_order: 36, ..row }, Why::TriangleOrder),
            (Parameters { triangle_order: 8, ..row }, Why::TriangleOrder),
            (Parameters { factor_order: 0, ..row }, Why::Range),
            (Parameters { factor_order: 20, ..row }, Why::FactorOrder),
            (Parameters { factor_order: 24, ..row }, Why::FactorOrder),
            (Parameters { factor_items: 1, ..row }, Why::SingleItems),
            (Parameters { work_items: 1, direct_order: 0, ..row }, Why::SingleItems),
            (Parameters { factor_items: 128, ..row }, Why::SquareGroup),
            (Parameters { factor_items: 1024, ..row }, Why::GroupItems),
            (Parameters { direct_order: 1 << 17, ..row }, Why::Range),
            (Parameters { factor_items: 1, work_items: 1, ..row }, Why::DirectOrder),
            (Parameters { work_items: 32, ..row }, Why::SquareGroup),
            (Parameters { work_items: 0, ..row }, Why::Range),
            (Parameters { work_items: 1 << 62, ..row }, Why::Range),
            (Parameters { work_items: 1024, ..row }, Why::GroupItems),
        ] {
            refused(row, &limits, constraint);
        }
        let single = Parameters { letter: 's', ..row };
        refused(Parameters { triangle_order: 128, ..row }, &limits, Why::GroupItems);
        refused(Parameters { triangle_order: 512, ..row }, &GroupLimits::NONE, Why::TriangleRegisters);
        refused(Parameters { factor_order: 128, factor_items: 64, ..single }, &limits, Why::FactorRegisters);
        let looping = Parameters::of(Class::Cpu, 'z');
        refused(Parameters { direct_order: 64, ..looping }, &limits, Why::DirectOrder);
    }

    /// A group of 64 work-items cannot read 48 rows in equal parts without packing.
    #[test]
    fn matrix_instructions_without_equal_reads_refuse_direct_products() {
        let tile = MatrixTile { m_wg: 96, n_wg: 96, k_wg: 8, m_warp: 48, n_warp: 48 };
        let row = Parameters::of(Class::Gpu, 'd').with_product(ProductForm::Matrix(tile));
        assert_eq!(tile.direct_reads(), [0, 0]);
        assert_eq!(Parameters { direct_order: 0, ..row }.check(&GroupLimits::NONE), Ok(()));
        refused(Parameters { direct_order: 64, ..row }, &GroupLimits::NONE, ParameterConstraint::EqualReads);
    }

    /// Each family of kernels is refused where it alone takes more than there is.
    #[test]
    fn local_memory_of_each_family_refuses() {
        use ParameterConstraint as Why;
        let row = Parameters::of(Class::Cpu, 'z');
        let single = Parameters { vector: 1, triangle_order: 8, factor_order: 8, ..row };
        let shared = |work_items, factor_items| Parameters { triangle_order: 16, work_items, factor_items, ..single };
        let factor =
            FactorTile { dim: 16, vector: 1, is_strided: false, is_local: false, layout: PackedLayout::RowMajor };
        let ProductForm::Grouped(tile) = Parameters::of(Class::Gpu, 's').product else { unreachable!("a GPU") };
        let tile = GroupTile { a: factor, b: factor, buffering: Buffering::None, ..tile };
        let packing = Packing { m_wg: 32, n_wg: 32, m_wi: 32, n_wi: 32, m_unroll: 1, n_unroll: 1 };
        let product = ProductForm::Grouped(tile);
        for (row, constraint) in [
            (Parameters { product, packing: [packing; 2], ..Parameters::of(Class::Gpu, 's') }, Why::DirectMemory),
            (single, Why::ElementMemory),
            (Parameters { triangle_order: 64, ..shared(256, 16) }, Why::TriangleMemory),
            (Parameters { factor_order: 32, ..shared(64, 256) }, Why::FactorMemory),
            (shared(64, 16), Why::BatchMemory),
            (shared(64, 16), Why::PanelMemory),
        ] {
            let memory = |why: Why| {
                let families = MEMORIES.into_iter().filter(|(_, constraint)| *constraint == why);
                families.map(|(program, _)| program.local_bytes(&row)).fold(0, usize::max)
            };
            let needed = memory(constraint);
            assert!(needed > 0, "{row}: {constraint}");
            let enough = GroupLimits { local_bytes: 1 << 20, ..GroupLimits::NONE };
            assert_eq!(row.check(&enough), Ok(()), "{row}");
            refused(row, &GroupLimits { local_bytes: needed - 1, ..enough }, constraint);
        }
    }
}
