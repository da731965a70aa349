//! The parameters that the kernels are generated from, for each class of devices and each element type.
//!
//! The names of the blocking factors are those of Matsumoto, Nakasato and Sedukhin, "Implementing Level-3 BLAS Routines
//! in OpenCL on Different Processing Units" (2014), §3. `wg` is the block of an OpenCL work-group; `wi` is the register
//! tile of one OpenCL work-item.

/// A class of devices, with a row in the table.
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
}

/// How a work-group computes its block of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProductForm {
    /// One work-item loops over the block's register tiles, with vectors along the rows. Caches hold the packed panels.
    Looping,
    /// Each work-item computes one register tile. The group reads the panels into local memory.
    Shared,
}

/// The blocking of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Blocking {
    /// How a block is computed.
    pub form: ProductForm,
    /// Rows of a work-group's block (Mwg); a multiple of `m_wi`.
    pub m_wg: usize,
    /// Columns of a work-group's block (Nwg); a multiple of `n_wi`.
    pub n_wg: usize,
    /// Steps of the inner dimension that are done at a time (Kwg), for which a panel's part stays in a cache or in
    /// local memory.
    pub k_wg: usize,
    /// Rows of a work-item's register tile (Mwi); a multiple of `vector`.
    pub m_wi: usize,
    /// Columns of a work-item's register tile (Nwi).
    pub n_wi: usize,
    /// Real numbers in a vector.
    pub vector: usize,
    /// Unrolled steps of the innermost loop.
    pub unroll: usize,
}

/// The parameters of the kernels of one element type on one class of devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Parameters {
    /// The class of devices.
    pub class: Class,
    /// LAPACK's letter of the element type.
    pub letter: char,
    /// The blocking of a product.
    pub blocking: Blocking,
    /// Columns that a work-group packs.
    pub pack_columns: usize,
    /// The order of a triangle that one kernel applies, a multiple of 4. Larger triangles are halved, which leaves the
    /// rest to the product.
    pub triangle_order: usize,
    /// The order of a matrix that one kernel factors.
    pub factor_order: usize,
    /// Work-items of a group in kernels other than the product's; a power of four.
    pub work_items: usize,
}

impl Parameters {
    /// Returns the table's row for a class and a type.
    #[must_use]
    pub fn of(class: Class, letter: char) -> Self {
        let blocking = match class {
            Class::WideCpu => wide_cpu(letter),
            Class::Cpu => cpu(letter),
            Class::Gpu => gpu(letter),
        };
        let (pack_columns, triangle_order, factor_order, work_items) = match class {
            Class::WideCpu | Class::Cpu => (64, 64, 64, 1),
            // Local memory holds a block that is factored; private memory holds a column of a triangle's right-hand
            // sides.
            Class::Gpu => (64, 32, 32, 64),
        };
        Self { class, letter, blocking, pack_columns, triangle_order, factor_order, work_items }
    }

    /// Returns whether the elements have an imaginary part.
    #[must_use]
    pub fn is_complex(&self) -> bool {
        matches!(self.letter, 'c' | 'z')
    }

    /// Returns whether the parts of the elements are `double`.
    #[must_use]
    pub fn is_double(&self) -> bool {
        matches!(self.letter, 'd' | 'z')
    }

    /// Returns the right-hand sides of a triangle per work-item. They are two vectors, so that each element of the
    /// triangle is used twice when it is read.
    #[must_use]
    pub fn triangle_columns(&self) -> usize {
        if self.blocking.vector == 1 { 1 } else { 2 * self.blocking.vector }
    }

    /// Returns whether the work-items of a group are a power of four, as kernels for batches require: they arrange them
    /// in a square, and add by halves.
    pub(super) fn has_square_groups(&self) -> bool {
        self.work_items.is_power_of_two() && self.work_items.ilog2().is_multiple_of(2)
    }

    /// Returns the rows of a panel of the packed A.
    #[must_use]
    pub fn panel_a(&self) -> usize {
        match self.blocking.form {
            ProductForm::Looping => self.blocking.m_wi,
            ProductForm::Shared => self.blocking.m_wg,
        }
    }

    /// Returns the columns of a panel of the packed B.
    #[must_use]
    pub fn panel_b(&self) -> usize {
        match self.blocking.form {
            ProductForm::Looping => self.blocking.n_wi,
            ProductForm::Shared => self.blocking.n_wg,
        }
    }
}

/// Of 32 registers 24 hold the tile, three (four for complex types) a column of A and one an element of B. A block of A
/// (m_wg x k_wg) stays in a second-level cache of at least 512 KiB, a panel of B in the first-level cache. Tuned on
/// PoCL 3.1, Zen 4.
fn wide_cpu(letter: char) -> Blocking {
    let (m_wg, n_wg, k_wg, m_wi, n_wi, vector) = match letter {
        's' => (192, 512, 384, 48, 8, 16),
        'd' => (96, 512, 256, 24, 8, 8),
        'c' => (96, 384, 256, 32, 6, 16),
        _ => (96, 384, 192, 16, 6, 8),
    };
    Blocking { form: ProductForm::Looping, m_wg, n_wg, k_wg, m_wi, n_wi, vector, unroll: 1 }
}

/// Twelve of 16 registers hold the tile. Chosen by the rules of [`wide_cpu`]; not tuned yet.
fn cpu(letter: char) -> Blocking {
    let (m_wg, n_wg, k_wg, m_wi, n_wi, vector) = match letter {
        's' => (96, 480, 256, 16, 6, 8),
        'd' => (96, 480, 256, 8, 6, 4),
        'c' => (96, 480, 192, 16, 3, 8),
        _ => (96, 480, 128, 8, 3, 4),
    };
    Blocking { form: ProductForm::Looping, m_wg, n_wg, k_wg, m_wi, n_wi, vector, unroll: 1 }
}

/// A group has 256 work-items of 4 x 4 elements. Both panels take at most 16 KiB of local memory, half of the least
/// that devices have. Not tuned yet.
fn gpu(letter: char) -> Blocking {
    let k_wg = match letter {
        's' => 32,
        'd' | 'c' => 16,
        _ => 8,
    };
    Blocking { form: ProductForm::Shared, m_wg: 64, n_wg: 64, k_wg, m_wi: 4, n_wi: 4, vector: 1, unroll: 4 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_rows_are_consistent() {
        for (class, letter) in
            Class::ALL.into_iter().flat_map(|class| "sdcz".chars().map(move |letter| (class, letter)))
        {
            let parameters = Parameters::of(class, letter);
            let Blocking { form, m_wg, n_wg, k_wg, m_wi, n_wi, vector, unroll } = parameters.blocking;
            assert!(m_wg % m_wi == 0 && n_wg % n_wi == 0 && m_wi % vector == 0, "{parameters:?}");
            assert!(k_wg % unroll == 0 && parameters.triangle_order.is_multiple_of(4), "{parameters:?}");
            assert!(parameters.has_square_groups(), "{parameters:?}");
            let parts = if parameters.is_complex() { 2 } else { 1 };
            let part_bytes = if parameters.is_double() { 8 } else { 4 };
            if form == ProductForm::Shared {
                assert_eq!((m_wg / m_wi) * (n_wg / n_wi), 256, "{parameters:?}");
                assert!((m_wg + n_wg) * k_wg * parts * part_bytes <= 16 << 10, "{parameters:?}");
            }
            assert!(
                parameters.work_items == 1 || parameters.factor_order.pow(2) * parts * part_bytes <= 16 << 10,
                "{parameters:?}"
            );
        }
    }
}
