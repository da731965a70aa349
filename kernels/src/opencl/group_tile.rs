//! [`GroupTile`]: the parameters of a product's kernel in which a work-group shares its tile of C, and the space of the
//! valid ones.
//!
//! The parameters are those of Matsumoto, Nakasato and Sedukhin, "Performance Tuning of Matrix Multiplication in OpenCL
//! on Different GPUs and CPUs" (2012): blocks of the group and of a work-item, the group's shape, which is another one
//! while a factor is read, vectors, strides, local memory, unrolling, layouts, and three ways of buffering.

use super::{Element, ParameterConstraint, constraint::meets};
use superscalar_devices::opencl::DeviceClass;

/// The order of a packed factor's elements. A factor is packed as k rows: column i is row i of A, or column i of B. All
/// layouts are blocks of columns, one after the other, and row-major within a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PackedLayout {
    /// One block: row-major.
    RowMajor,
    /// Blocks as wide as a group's tile.
    GroupBlocks,
    /// Blocks as wide as a work-item's tile.
    ItemBlocks,
}

/// When the next part of the factors is read into local memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Buffering {
    /// After the work with the last one.
    None,
    /// Into registers during the work with the last one, and then into local memory (software pipelining).
    Registers,
    /// Into registers during the work with the last one, and then into a second buffer in local memory.
    Double,
}

/// The parameters of one factor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FactorTile {
    /// Work-items across a row while the group reads the factor into local memory (MdimA, NdimB).
    pub dim: usize,
    /// Numbers in a vector.
    pub vector: usize,
    /// Whether a work-item's vectors are as far apart as the group has work-items, or adjacent.
    pub is_strided: bool,
    /// Whether the group reads the factor into local memory.
    pub is_local: bool,
    /// The order of the packed factor.
    pub layout: PackedLayout,
}

/// The parameters of a kernel in which a group of work-items computes a tile of C.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupTile {
    /// Rows of a group's tile (Mwg).
    pub m_wg: usize,
    /// Columns of a group's tile (Nwg).
    pub n_wg: usize,
    /// Steps of the inner dimension that are read at a time (Kwg).
    pub k_wg: usize,
    /// Steps that are written out (Kwi).
    pub k_wi: usize,
    /// Work-items down the tile (MdimC).
    pub m_dim: usize,
    /// Work-items across the tile (NdimC).
    pub n_dim: usize,
    /// The parameters of A.
    pub a: FactorTile,
    /// The parameters of B.
    pub b: FactorTile,
    /// When local memory is written.
    pub buffering: Buffering,
}

/// What a device can run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupLimits {
    /// Work-items of a group.
    pub items: usize,
    /// Work-items of a group in the first two directions.
    pub dim_items: [usize; 2],
    /// Local memory of a group in bytes.
    pub local_bytes: usize,
    /// Whether there are matrix instructions for `double`, see [`MatrixTile`](super::MatrixTile).
    pub has_matrix_f64: bool,
}

impl GroupLimits {
    /// What most GPUs can run, and more than OpenCL 1.2 requires.
    pub const USUAL: Self = Self { items: 256, dim_items: [256, 256], local_bytes: 32 << 10, has_matrix_f64: false };
    /// No limits: what is invalid with these, no device can run.
    pub const NONE: Self =
        Self { items: usize::MAX, dim_items: [usize::MAX; 2], local_bytes: usize::MAX, has_matrix_f64: true };

    /// Returns what kernels can use of a device.
    #[must_use]
    pub fn of(device: &DeviceClass) -> Self {
        let [x, y, _] = device.max_work_items;
        let (items, local_bytes, has_matrix_f64) = (device.max_work_group, device.local_bytes, device.has_matrix_f64);
        Self { items, dim_items: [x, y], local_bytes, has_matrix_f64 }
    }
}

/// The vector lengths of OpenCL C, besides 3.
pub(super) const VECTORS: [usize; 5] = [1, 2, 4, 8, 16];
/// 32-bit registers of a work-item, and those for addresses and counters. GPUs of several vendors have about as many.
pub(super) const REGISTERS: usize = 256;
pub(super) const OTHER_REGISTERS: usize = 32;
/// Multiplications of vectors that are written out.
pub(super) const WRITTEN_MAX: usize = 2048;

impl GroupTile {
    /// Checks that the kernel can exist for elements of this type, on a device with these limits.
    ///
    /// # Errors
    /// The first constraint that is violated.
    ///
    /// ```
    /// use superscalar::kernels::opencl::{Class, Element, GroupLimits, Parameters, ParameterConstraint, ProductForm};
    ///
    /// let element = Element { is_double: true, is_complex: false };
    /// let ProductForm::Grouped(tile) = Parameters::of(Class::Gpu, 'd').product else { unreachable!("a GPU") };
    /// assert_eq!(tile.check(element, &GroupLimits::USUAL), Ok(()));
    /// let small = GroupLimits { local_bytes: 4 << 10, ..GroupLimits::USUAL };
    /// assert_eq!(tile.check(element, &small), Err(ParameterConstraint::ProductMemory));
    /// ```
    pub fn check(&self, element: Element, limits: &GroupLimits) -> Result<(), ParameterConstraint> {
        let &Self { m_wg, n_wg, k_wg, k_wi, m_dim, n_dim, a, b, buffering } = self;
        // Numbers beyond these limits are not meant, and would overflow what follows.
        let numbers = [m_wg, n_wg, k_wg, k_wi, m_dim, n_dim, a.dim, b.dim];
        let is_in_range = numbers.iter().all(|number| (1..=1024).contains(number));
        let are_vectors = VECTORS.contains(&a.vector) && VECTORS.contains(&b.vector);
        meets(is_in_range, ParameterConstraint::Range)?;
        meets(are_vectors, ParameterConstraint::VectorLength)?;
        meets(m_wg.is_multiple_of(m_dim) && n_wg.is_multiple_of(n_dim), ParameterConstraint::ItemTile)?;
        let are_whole = self.m_wi().is_multiple_of(a.vector) && self.n_wi().is_multiple_of(b.vector);
        meets(are_whole, ParameterConstraint::Vector)?;
        meets(k_wg.is_multiple_of(k_wi), ParameterConstraint::Unroll)?;
        let factors = [(a, m_wg, m_dim), (b, n_wg, n_dim)];
        let has_effect = |(factor, block, dim): &(FactorTile, usize, usize)| {
            // One vector or one work-item has no stride, and a block that is as wide as the group's is named so.
            let (items_block, is_one) = (block / dim, *dim == 1 || block / dim == factor.vector);
            (factor.is_local || factor.dim == *dim)
                && !(factor.is_strided && is_one)
                && !(factor.layout == PackedLayout::ItemBlocks && items_block == *block)
        };
        let is_buffered = buffering == Buffering::None || a.is_local || b.is_local;
        meets(factors.iter().all(has_effect) && is_buffered, ParameterConstraint::NoEffect)?;
        let reads_equally = |(factor, block, _): &(FactorTile, usize, usize)| {
            let rows = self.items() / factor.dim;
            !factor.is_local
                || (self.items().is_multiple_of(factor.dim)
                    && (block / factor.vector).is_multiple_of(factor.dim)
                    && k_wg.is_multiple_of(rows))
        };
        meets(factors.iter().all(reads_equally), ParameterConstraint::EqualReads)?;
        meets(self.registers(element) <= REGISTERS, ParameterConstraint::Registers)?;
        let written = k_wi * self.m_wi() / a.vector * self.n_wi() * element.parts().pow(2);
        meets(written <= WRITTEN_MAX, ParameterConstraint::Length)?;
        meets(self.items() <= limits.items, ParameterConstraint::GroupItems)?;
        meets(m_dim <= limits.dim_items[0] && n_dim <= limits.dim_items[1], ParameterConstraint::DimItems)?;
        meets(self.local_bytes(element) <= limits.local_bytes, ParameterConstraint::ProductMemory)
    }

    /// Returns the rows of a work-item's tile (Mwi).
    #[must_use]
    pub fn m_wi(&self) -> usize {
        self.m_wg / self.m_dim
    }

    /// Returns the columns of a work-item's tile (Nwi).
    #[must_use]
    pub fn n_wi(&self) -> usize {
        self.n_wg / self.n_dim
    }

    /// Returns the work-items of a group.
    #[must_use]
    pub fn items(&self) -> usize {
        self.m_dim.saturating_mul(self.n_dim)
    }

    /// Returns the bytes of local memory.
    #[must_use]
    pub fn local_bytes(&self, element: Element) -> usize {
        let of = |factor: FactorTile, block: usize| if factor.is_local { block * self.k_wg } else { 0 };
        let buffers = if self.buffering == Buffering::Double { 2 } else { 1 };
        (of(self.a, self.m_wg) + of(self.b, self.n_wg)) * buffers * element.bytes()
    }

    /// Estimates the 32-bit registers of a work-item: those of its sums, of the factors that it multiplies, and of the
    /// parts that it reads ahead.
    pub(super) fn registers(&self, element: Element) -> usize {
        let (m_wi, n_wi) = (self.m_wi(), self.n_wi());
        let ahead = |factor: FactorTile, block: usize| match self.buffering {
            Buffering::Registers | Buffering::Double if factor.is_local => block * self.k_wg / self.items(),
            _ => 0,
        };
        let numbers = m_wi * n_wi + m_wi + n_wi + ahead(self.a, self.m_wg) + ahead(self.b, self.n_wg);
        numbers * element.bytes() / 4 + OTHER_REGISTERS
    }

    /// Returns the columns of a block of a packed factor, of which `block` are a group's and `items` a work-item's.
    /// `None` stands for all columns.
    fn block_of(factor: FactorTile, block: usize, items: usize) -> Option<usize> {
        match factor.layout {
            PackedLayout::RowMajor => None,
            PackedLayout::GroupBlocks => Some(block),
            PackedLayout::ItemBlocks => Some(items),
        }
    }

    /// Returns the columns of a block of the packed A and of the packed B; `None` stands for all columns.
    #[must_use]
    pub fn packed_blocks(&self) -> [Option<usize>; 2] {
        [Self::block_of(self.a, self.m_wg, self.m_wi()), Self::block_of(self.b, self.n_wg, self.n_wi())]
    }

    /// The number of choices of each parameter, for [`point`](Self::point).
    pub(super) const CHOICES: [usize; 17] = [4, 4, 3, 3, 2, 2, 3, 3, 3, 2, 2, 3, 3, 3, 2, 2, 3];

    /// Returns a point of the space by its choices, each below the number in [`CHOICES`](Self::CHOICES).
    pub(super) fn point(choices: &[usize; 17]) -> Self {
        const BLOCKS: [usize; 4] = [32, 64, 128, 256];
        const DIMS: [usize; 3] = [8, 16, 32];
        const LAYOUTS: [PackedLayout; 3] =
            [PackedLayout::RowMajor, PackedLayout::GroupBlocks, PackedLayout::ItemBlocks];
        const BUFFERINGS: [Buffering; 3] = [Buffering::None, Buffering::Registers, Buffering::Double];
        let &[m, n, k, unroll, m_dim, n_dim, buffering, ref factors @ ..] = choices;
        let factor = |at: usize| FactorTile {
            dim: DIMS[factors[at]],
            vector: VECTORS[factors[at + 1]],
            is_strided: factors[at + 2] == 1,
            is_local: factors[at + 3] == 1,
            layout: LAYOUTS[factors[at + 4]],
        };
        Self {
            m_wg: BLOCKS[m],
            n_wg: BLOCKS[n],
            k_wg: [8, 16, 32][k],
            k_wi: [2, 4, 8][unroll],
            m_dim: DIMS[m_dim],
            n_dim: DIMS[n_dim],
            a: factor(0),
            b: factor(5),
            buffering: BUFFERINGS[buffering],
        }
    }

    /// Iterates over all parameters that are worth considering, valid or not.
    pub fn space() -> impl Iterator<Item = Self> {
        // The choices are the digits of a number.
        (0..Self::CHOICES.iter().product()).map(|mut number: usize| {
            Self::point(&Self::CHOICES.map(|choices| {
                let choice = number % choices;
                number /= choices;
                choice
            }))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::opencl::{Class, Parameters, ProductForm, Program};
    use std::collections::BTreeMap;

    const LIMITS: GroupLimits =
        GroupLimits { items: 256, dim_items: [256, 8], local_bytes: 48 << 10, has_matrix_f64: false };

    fn valid() -> GroupTile {
        let layout = PackedLayout::GroupBlocks;
        let a = FactorTile { dim: 16, vector: 2, is_strided: true, is_local: true, layout };
        let (m_wg, n_wg, k_wg, k_wi, m_dim, n_dim) = (64, 64, 16, 4, 16, 8);
        GroupTile { m_wg, n_wg, k_wg, k_wi, m_dim, n_dim, a, b: a, buffering: Buffering::Double }
    }

    #[test]
    fn each_constraint_discards() {
        let (tile, element) = (valid(), Element::of('d'));
        assert_eq!(tile.check(element, &LIMITS), Ok(()));
        let wide = FactorTile { dim: 32, ..tile.a };
        let with_a = |a: FactorTile| GroupTile { a, ..tile };
        for (tile, constraint) in [
            (GroupTile { m_wg: 0, ..tile }, ParameterConstraint::Range),
            (GroupTile { k_wg: usize::MAX, ..tile }, ParameterConstraint::Range),
            (with_a(FactorTile { vector: 3, ..tile.a }), ParameterConstraint::VectorLength),
            (GroupTile { m_dim: 24, ..tile }, ParameterConstraint::ItemTile),
            (with_a(FactorTile { vector: 8, ..tile.a }), ParameterConstraint::Vector),
            (GroupTile { k_wi: 3, ..tile }, ParameterConstraint::Unroll),
            (with_a(FactorTile { dim: 24, ..tile.a }), ParameterConstraint::EqualReads),
            (with_a(FactorTile { is_local: false, dim: 8, ..tile.a }), ParameterConstraint::NoEffect),
            (with_a(FactorTile { vector: 4, ..tile.a }), ParameterConstraint::NoEffect),
            (GroupTile { m_wg: 256, n_wg: 128, k_wi: 1, ..tile }, ParameterConstraint::Registers),
            (GroupTile { m_wg: 128, n_wg: 64, k_wi: 16, k_wg: 256, ..tile }, ParameterConstraint::Registers),
            (GroupTile { m_wg: 128, m_dim: 32, n_dim: 16, a: wide, b: wide, ..tile }, ParameterConstraint::GroupItems),
            (GroupTile { m_dim: 8, n_dim: 16, ..tile }, ParameterConstraint::DimItems),
            (GroupTile { k_wg: 32, ..tile }, ParameterConstraint::ProductMemory),
        ] {
            assert_eq!(tile.check(element, &LIMITS), Err(constraint), "{tile:?}");
        }
        let long = GroupTile { k_wg: 512, k_wi: 512, buffering: Buffering::None, ..tile };
        assert_eq!(long.check(element, &LIMITS), Err(ParameterConstraint::Length));
    }

    /// Of the valid points, every 1009th is turned into a text: all of them would take minutes.
    #[test]
    fn each_point_is_valid_or_refused_by_name() {
        for letter in "sdcz".chars() {
            let (mut valid, mut refused, mut length) = (0, BTreeMap::new(), 0);
            for tile in GroupTile::space() {
                match tile.check(Element::of(letter), &LIMITS) {
                    Err(constraint) => *refused.entry(constraint).or_insert(0) += 1,
                    Ok(()) => {
                        if valid % 1009 == 0 {
                            let parameters =
                                Parameters::of(Class::Gpu, letter).with_product(ProductForm::Grouped(tile));
                            assert_eq!(parameters.check(&LIMITS), Ok(()), "{parameters:?}");
                            let text = Program::Product.text(&parameters);
                            assert!(text.contains("gemm(") && !text.contains("{}"), "{text}");
                            length = length.max(text.len());
                        }
                        valid += 1;
                    }
                }
            }
            println!("{letter}: {valid} valid; longest text {length}; {refused:?}");
            assert!(valid > 1000 && length < 400_000, "{letter}: {valid} valid, {length} bytes");
            for constraint in
                [ParameterConstraint::Vector, ParameterConstraint::EqualReads, ParameterConstraint::Registers]
            {
                assert!(refused.contains_key(&constraint), "{letter}: {refused:?}");
            }
        }
    }
}
