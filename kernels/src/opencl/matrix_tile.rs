//! [`MatrixTile`]: the parameters of a product's kernel with NVIDIA's matrix instructions for `double`.
//!
//! An instruction of 32 work-items, a warp, adds the product of 16 x 8 and 8 x 8 numbers to 16 x 8 sums
//! (`mma.sync.m16n8k8` of PTX). OpenCL C has no such operation; NVIDIA's compiler takes it as inline PTX.

use super::{
    Element, GroupLimits, ParameterConstraint,
    constraint::meets,
    group_tile::{OTHER_REGISTERS, REGISTERS, WRITTEN_MAX},
};

/// Rows, columns and steps of an instruction.
pub(super) const MATRIX_SHAPE: [usize; 3] = [16, 8, 8];
/// Work-items of a warp.
pub(super) const WARP: usize = 32;
/// Numbers between the rows of a factor in local memory, so that the work-items of a warp read from different banks.
/// With eight, an H200 reaches 40 instead of 45 TFLOP/s.
pub(super) const ROW_GAP: usize = 4;

/// The most work-items of a group that reads factors which are not packed, if tiles can be divided so.
const DIRECT_ITEMS_MAX: usize = 256;

/// The parameters of a kernel in which warps of a group compute tiles of C with matrix instructions. The group reads
/// the next part of the factors into registers while it multiplies, and then writes it into the second of two buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MatrixTile {
    /// Rows of a group's tile (Mwg).
    pub m_wg: usize,
    /// Columns of a group's tile (Nwg).
    pub n_wg: usize,
    /// Steps of the inner dimension that are read at a time (Kwg).
    pub k_wg: usize,
    /// Rows of a warp's tile.
    pub m_warp: usize,
    /// Columns of a warp's tile.
    pub n_warp: usize,
}

impl MatrixTile {
    /// Checks that the kernel can exist for elements of this type, on a device with these limits.
    ///
    /// # Errors
    /// The first constraint that is violated.
    ///
    /// ```
    /// use superscalar::kernels::opencl::{Element, GroupLimits, MatrixTile, ParameterConstraint};
    ///
    /// let tile = MatrixTile { m_wg: 128, n_wg: 128, k_wg: 8, m_warp: 64, n_warp: 32 };
    /// let of = |letter| tile.check(Element::of(letter), &GroupLimits::NONE);
    /// assert_eq!((of('d'), of('s')), (Ok(()), Err(ParameterConstraint::MatrixInstructions)));
    /// ```
    pub fn check(&self, element: Element, limits: &GroupLimits) -> Result<(), ParameterConstraint> {
        let &Self { m_wg, n_wg, k_wg, m_warp, n_warp } = self;
        meets(element.is_double && limits.has_matrix_f64, ParameterConstraint::MatrixInstructions)?;
        let numbers = [m_wg, n_wg, k_wg, m_warp, n_warp];
        meets(numbers.iter().all(|number| (1..=1024).contains(number)), ParameterConstraint::Range)?;
        meets(m_wg.is_multiple_of(m_warp) && n_wg.is_multiple_of(n_warp), ParameterConstraint::ItemTile)?;
        let [rows, columns, steps] = MATRIX_SHAPE;
        meets(m_warp.is_multiple_of(rows) && n_warp.is_multiple_of(columns), ParameterConstraint::Vector)?;
        meets(k_wg.is_multiple_of(steps), ParameterConstraint::Unroll)?;
        let are_equal = self.reads(element).iter().all(|reads| *reads > 0);
        meets(are_equal, ParameterConstraint::EqualReads)?;
        meets(self.registers(element) <= REGISTERS, ParameterConstraint::Registers)?;
        let written = k_wg / steps * (m_warp / rows) * (n_warp / columns) * element.parts().pow(2);
        meets(written <= WRITTEN_MAX, ParameterConstraint::Length)?;
        let items = self.items().max(self.small(element).items());
        meets(items <= limits.items.min(limits.dim_items[0]), ParameterConstraint::GroupItems)?;
        meets(self.local_bytes(element) <= limits.local_bytes, ParameterConstraint::ProductMemory)
    }

    /// Returns the tile for factors that are not packed. Addresses and forms take registers besides, which groups of
    /// more than [`DIRECT_ITEMS_MAX`] work-items do not have: they have fewer warps, with larger tiles.
    pub(super) fn direct(&self, element: Element) -> Self {
        let fits = |tile: &Self| {
            let is_divided = tile.m_wg.is_multiple_of(tile.m_warp) && tile.n_wg.is_multiple_of(tile.n_warp);
            is_divided && tile.registers(element) <= REGISTERS
        };
        let mut tile = *self;
        while tile.items() > DIRECT_ITEMS_MAX {
            let (higher, wider) = (Self { m_warp: 2 * tile.m_warp, ..tile }, Self { n_warp: 2 * tile.n_warp, ..tile });
            let next = if tile.m_warp <= tile.n_warp { [higher, wider] } else { [wider, higher] };
            let Some(next) = next.into_iter().find(fits) else { break };
            tile = next;
        }
        tile
    }

    /// Returns the tile for products of elements of this type that have too few large ones to occupy a device.
    pub(super) fn small(&self, element: Element) -> Self {
        let (block, warp) = if element.is_complex { (32, 16) } else { (64, 32) };
        Self { m_wg: block, n_wg: block, k_wg: 16, m_warp: warp, n_warp: warp }
    }

    /// Returns the work-items of a group.
    #[must_use]
    pub fn items(&self) -> usize {
        WARP * (self.m_wg / self.m_warp.max(1)) * (self.n_wg / self.n_warp.max(1))
    }

    /// Returns the bytes of local memory.
    #[must_use]
    pub fn local_bytes(&self, element: Element) -> usize {
        2 * self.k_wg * (self.m_wg + self.n_wg + 2 * ROW_GAP) * element.bytes()
    }

    /// Returns the pairs of numbers of A and of B that each work-item reads at a time, or zero if they differ.
    pub(super) fn reads(&self, element: Element) -> [usize; 2] {
        [self.m_wg, self.n_wg].map(|block| {
            let (pairs, items) = (block * self.k_wg * element.parts() / 2, self.items());
            if block.is_multiple_of(2) && pairs.is_multiple_of(items) { pairs / items } else { 0 }
        })
    }

    /// Returns the elements of A and of B that each work-item reads at a time if factors are not packed, or zero if
    /// they differ, or are not in rows or steps at equal distances.
    pub(super) fn direct_reads(&self) -> [usize; 2] {
        [self.m_wg, self.n_wg].map(|block| {
            let (elements, items) = (block * self.k_wg, self.items());
            let are_equal = [block, self.k_wg].iter().all(|&edge| edge > 0 && items.is_multiple_of(edge));
            if are_equal && elements.is_multiple_of(items) { elements / items } else { 0 }
        })
    }

    /// Estimates the 32-bit registers of a work-item: those of its sums, of the factors that it multiplies, and of what
    /// it reads ahead.
    fn registers(&self, element: Element) -> usize {
        let [rows, columns, steps] = MATRIX_SHAPE;
        let parts = element.parts();
        let sums = self.m_warp * self.n_warp / WARP * parts;
        let factors = (self.m_warp / rows * (rows * steps) + self.n_warp / columns * (columns * steps)) / WARP * parts;
        let [a, b] = self.reads(element);
        2 * (sums + factors + 2 * (a + b)) + OTHER_REGISTERS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn direct_products_have_groups_of_few_items() {
        let tile = |block: [usize; 2], warp: [usize; 2]| MatrixTile {
            m_wg: block[0],
            n_wg: block[1],
            k_wg: 8,
            m_warp: warp[0],
            n_warp: warp[1],
        };
        for (block, warp, direct) in [
            ([128, 128], [16, 64], [32, 64]),
            ([128, 128], [64, 16], [64, 32]),
            ([128, 128], [16, 32], [64, 32]),
            ([128, 128], [64, 32], [64, 32]),
            // Twice the sums would not fit into registers.
            ([256, 128], [64, 32], [64, 32]),
            // The height cannot be doubled.
            ([48, 512], [16, 32], [16, 128]),
        ] {
            assert_eq!(tile(block, warp).direct(Element::of('d')), tile(block, direct), "{block:?}, {warp:?}");
        }
    }

    #[test]
    fn each_constraint_discards() {
        let tile = MatrixTile { m_wg: 64, n_wg: 64, k_wg: 8, m_warp: 32, n_warp: 32 };
        let limits = GroupLimits { items: 128, dim_items: [128, 1], local_bytes: 35 << 10, has_matrix_f64: true };
        let element = Element::of('z');
        assert_eq!(tile.check(element, &limits), Ok(()));
        let none = GroupLimits { has_matrix_f64: false, ..limits };
        assert_eq!(tile.check(element, &none), Err(ParameterConstraint::MatrixInstructions));
        for (tile, constraint) in [
            (MatrixTile { m_wg: 0, ..tile }, ParameterConstraint::Range),
            (MatrixTile { n_warp: 0, ..tile }, ParameterConstraint::Range),
            (MatrixTile { m_warp: 48, ..tile }, ParameterConstraint::ItemTile),
            (MatrixTile { m_warp: 8, ..tile }, ParameterConstraint::Vector),
            (MatrixTile { k_wg: 12, ..tile }, ParameterConstraint::Unroll),
            (MatrixTile { m_wg: 96, n_wg: 96, ..tile }, ParameterConstraint::EqualReads),
            (MatrixTile { m_warp: 64, n_warp: 64, ..tile }, ParameterConstraint::Registers),
            (MatrixTile { m_warp: 16, ..tile }, ParameterConstraint::GroupItems),
        ] {
            assert_eq!(tile.check(element, &limits), Err(constraint), "{tile:?}");
        }
        let small = GroupLimits { local_bytes: 32 << 10, ..limits };
        assert_eq!(tile.check(element, &small), Err(ParameterConstraint::ProductMemory));
    }
}
