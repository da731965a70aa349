//! What the kernels are generated from, for each class of devices and each element type.
//!
//! The names of the blocking factors are those of Matsumoto, Nakasato and Sedukhin, "Implementing Level-3 BLAS Routines in OpenCL
//! on Different Processing Units" (2014), §3: `wg` for a work-group's block, `wi` for a work-item's.

use superscalar_devices::opencl::DeviceClass;

/// A class of devices with a row in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// A CPU with registers of 512 bits, 32 of them: one work-item does a block, in vectors.
    WideCpu,
    /// Any other CPU; sixteen registers of 256 bits are assumed.
    Cpu,
    /// Many work-items that share local memory.
    Gpu,
}

impl Class {
    /// All classes.
    pub const ALL: [Self; 3] = [Self::WideCpu, Self::Cpu, Self::Gpu];

    /// That of a device.
    #[must_use]
    pub fn of(device: &DeviceClass) -> Self {
        match (device.is_cpu, device.vector_f32) {
            (true, 16..) => Self::WideCpu,
            (true, _) => Self::Cpu,
            (false, _) => Self::Gpu,
        }
    }
}

/// How a work-group computes its block of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Form {
    /// One work-item goes over the block's register tiles, with vectors along the rows; caches hold the packed panels.
    Looping,
    /// One work-item per register tile; the group reads the panels into local memory.
    Shared,
}

/// The blocking of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Blocking {
    /// How a block is computed.
    pub form: Form,
    /// Rows of a work-group's block (Mwg); a multiple of `m_wi`.
    pub m_wg: usize,
    /// Columns of a work-group's block (Nwg); a multiple of `n_wi`.
    pub n_wg: usize,
    /// How much of k is done at a time (Kwg): a panel's part stays in a cache, or in local memory, for so long.
    pub k_wg: usize,
    /// Rows of a work-item's register tile (Mwi); a multiple of `vector`.
    pub m_wi: usize,
    /// Columns of a work-item's register tile (Nwi).
    pub n_wi: usize,
    /// Real numbers per vector.
    pub vector: usize,
    /// Steps of the innermost loop that are written out.
    pub unroll: usize,
}

/// What the kernels of one element type on one class of devices are generated from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Parameters {
    /// The class.
    pub class: Class,
    /// LAPACK's letter of the element type.
    pub letter: char,
    /// The blocking of a product.
    pub blocking: Blocking,
    /// Columns that a work-group packs.
    pub pack_columns: usize,
    /// Order of a triangle that one kernel applies; larger ones are halved, which leaves the rest to the product. Multiple of 4.
    pub triangle: usize,
    /// Order of a matrix that one kernel factors.
    pub factor: usize,
    /// Work-items of a group in kernels other than the product's.
    pub lanes: usize,
}

impl Parameters {
    /// The row of the table.
    #[must_use]
    pub fn of(class: Class, letter: char) -> Self {
        let blocking = match class {
            Class::WideCpu => wide_cpu(letter),
            Class::Cpu => cpu(letter),
            Class::Gpu => gpu(letter),
        };
        let (pack_columns, triangle, factor, lanes) = match class {
            Class::WideCpu | Class::Cpu => (64, 64, 64, 1),
            // Local memory holds a block that is factored, private memory a column of a triangle's right-hand sides.
            Class::Gpu => (64, 32, 32, 64),
        };
        Self { class, letter, blocking, pack_columns, triangle, factor, lanes }
    }

    /// Whether the elements have an imaginary part.
    #[must_use]
    pub fn is_complex(&self) -> bool {
        matches!(self.letter, 'c' | 'z')
    }

    /// Whether their parts are `double`.
    #[must_use]
    pub fn is_double(&self) -> bool {
        matches!(self.letter, 'd' | 'z')
    }

    /// Right-hand sides of a triangle per work-item: two vectors, so that each element of the triangle that is read is used twice.
    #[must_use]
    pub fn triangle_columns(&self) -> usize {
        if self.blocking.vector == 1 { 1 } else { 2 * self.blocking.vector }
    }

    /// Rows of a panel of the packed A.
    #[must_use]
    pub fn panel_a(&self) -> usize {
        match self.blocking.form {
            Form::Looping => self.blocking.m_wi,
            Form::Shared => self.blocking.m_wg,
        }
    }

    /// Columns of a panel of the packed B.
    #[must_use]
    pub fn panel_b(&self) -> usize {
        match self.blocking.form {
            Form::Looping => self.blocking.n_wi,
            Form::Shared => self.blocking.n_wg,
        }
    }
}

/// 24 of 32 registers hold the tile, three (four for complex types) a column of A and one an element of B; a block of A (m_wg x k_wg)
/// stays in a second-level cache of 512 KiB or more, a panel of B in the first-level cache. Tuned on PoCL 3.1, Zen 4.
fn wide_cpu(letter: char) -> Blocking {
    let (m_wg, n_wg, k_wg, m_wi, n_wi, vector) = match letter {
        's' => (192, 512, 384, 48, 8, 16),
        'd' => (96, 512, 256, 24, 8, 8),
        'c' => (96, 384, 256, 32, 6, 16),
        _ => (96, 384, 192, 16, 6, 8),
    };
    Blocking { form: Form::Looping, m_wg, n_wg, k_wg, m_wi, n_wi, vector, unroll: 1 }
}

/// Twelve of sixteen registers hold the tile. Chosen by the same rules; not tuned yet.
fn cpu(letter: char) -> Blocking {
    let (m_wg, n_wg, k_wg, m_wi, n_wi, vector) = match letter {
        's' => (96, 480, 256, 16, 6, 8),
        'd' => (96, 480, 256, 8, 6, 4),
        'c' => (96, 480, 192, 16, 3, 8),
        _ => (96, 480, 128, 8, 3, 4),
    };
    Blocking { form: Form::Looping, m_wg, n_wg, k_wg, m_wi, n_wi, vector, unroll: 1 }
}

/// 256 work-items of 4 x 4 elements; both panels take at most 16 KiB of local memory, half of what every device has. Not tuned yet.
fn gpu(letter: char) -> Blocking {
    let k_wg = match letter {
        's' => 32,
        'd' | 'c' => 16,
        _ => 8,
    };
    Blocking { form: Form::Shared, m_wg: 64, n_wg: 64, k_wg, m_wi: 4, n_wi: 4, vector: 1, unroll: 4 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_the_table_can_be_generated() {
        for (class, letter) in
            Class::ALL.into_iter().flat_map(|class| "sdcz".chars().map(move |letter| (class, letter)))
        {
            let parameters = Parameters::of(class, letter);
            let Blocking { form, m_wg, n_wg, k_wg, m_wi, n_wi, vector, unroll } = parameters.blocking;
            assert!(m_wg % m_wi == 0 && n_wg % n_wi == 0 && m_wi % vector == 0, "{parameters:?}");
            assert!(k_wg % unroll == 0 && parameters.triangle.is_multiple_of(4), "{parameters:?}");
            let parts = if parameters.is_complex() { 2 } else { 1 };
            let part_bytes = if parameters.is_double() { 8 } else { 4 };
            if form == Form::Shared {
                assert_eq!((m_wg / m_wi) * (n_wg / n_wi), 256, "{parameters:?}");
                assert!((m_wg + n_wg) * k_wg * parts * part_bytes <= 16 << 10, "{parameters:?}");
            }
            assert!(
                parameters.lanes == 1 || parameters.factor.pow(2) * parts * part_bytes <= 16 << 10,
                "{parameters:?}"
            );
        }
    }
}
