//! The sources of the OpenCL programs: definitions of the parameters, followed by a file of the folder `text` or by the
//! generated kernel of products. A device compiles a program when the first of its kernels is launched.

use super::{
    Packing, Parameters, ProductForm,
    panel::{CONCURRENT_ITEMS, GROUPS_MAX, OWN_PANEL_BYTES, PANEL_WIDTH},
    parameters::PART_ROWS,
    product_text,
};
use std::{
    collections::BTreeMap,
    fmt::Write,
    sync::{Mutex, PoisonError},
};
use superscalar_devices::opencl::Source;

/// A family of kernels that are compiled together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Program {
    /// `gemm`: the product of packed operands.
    Product,
    /// `gemm_direct`: the product of operands that are not packed. Empty for the looping form.
    Direct,
    /// The same in smaller tiles. Empty without matrix instructions.
    DirectSmall,
    /// `pack_a`, `pack_transposed_a`, `complete_a` for matrices of which one triangle is stored, and the same for B.
    Pack,
    /// `solve`, `multiply`; `pack_triangle` if a group has one work-item, otherwise `invert`.
    Triangle,
    /// `potrf`.
    Factor,
    /// `scale`, `copy`, `transpose`, `geadd`, `geadd_transposed`, `laswp`, `clear`; for `f32` also `widen_f16`,
    /// `round_f16`, and so for `bf16`.
    Elements,
    /// `getrf_step`, `shift`.
    PanelLu,
    /// `getrf_together`: all steps by one launch, for devices with [concurrent
    /// groups](superscalar_devices::opencl::DeviceClass::concurrent_groups). NVIDIA's compiler takes it.
    PanelLuTogether,
    /// `geqrf_step`.
    PanelQr,
    /// `geqrf_together`: see [`PanelLuTogether`](Self::PanelLuTogether).
    PanelQrTogether,
    /// `add_parts`.
    Tall,
    /// On batches: `gemm`, `gemm_tiny`, `gemv_n`, `gemv_t`.
    BatchGemm,
    /// On batches: `trsm`, `trsv`, `laswp`, and what gels needs besides.
    BatchSolve,
    /// On batches: potrf.
    BatchCholesky,
    /// On batches: getrf, with pivots and without.
    BatchLu,
    /// On batches: geqrf, ungqr, unmqr.
    BatchQr,
    /// On batches: gebrd.
    BatchBidiagonal,
}

impl Program {
    /// All families.
    pub const ALL: [Self; 18] = [
        Self::Product,
        Self::Direct,
        Self::DirectSmall,
        Self::Pack,
        Self::Triangle,
        Self::Factor,
        Self::Elements,
        Self::PanelLu,
        Self::PanelLuTogether,
        Self::PanelQr,
        Self::PanelQrTogether,
        Self::Tall,
        Self::BatchGemm,
        Self::BatchSolve,
        Self::BatchCholesky,
        Self::BatchLu,
        Self::BatchQr,
        Self::BatchBidiagonal,
    ];

    /// Returns the source in OpenCL C.
    #[must_use]
    pub fn text(self, parameters: &Parameters) -> String {
        let (mut text, element) = (String::new(), parameters.element());
        let vector = if self == Self::Product { parameters.product.vector() } else { parameters.vector };
        define(&mut text, "DOUBLE", element.is_double.into());
        define(&mut text, "COMPLEX", element.is_complex.into());
        define(&mut text, "V", vector);
        define(&mut text, "LANES", self.work_items(parameters));
        text.push_str(include_str!("text/prelude.cl"));
        match self {
            Self::Product => text.push_str(&product_text::text(parameters)),
            Self::Direct => text.push_str(&product_text::direct_text(parameters)),
            Self::DirectSmall => text.push_str(&product_text::small_direct_text(parameters)),
            Self::Pack => {
                let blocks = parameters.product.packed_blocks();
                for ((block, packing), name) in blocks.into_iter().zip(parameters.packing).zip(["_a", "_b"]) {
                    pack(&mut text, block, packing, name);
                }
            }
            Self::Triangle => triangle(&mut text, parameters),
            Self::Factor => {
                define(&mut text, "ORDER", parameters.factor_order);
                define(&mut text, "SPAN", parameters.factor_span());
                match parameters.factor_items {
                    1 => text.push_str(include_str!("text/factor.cl")),
                    _ => group(&mut text, include_str!("text/factor_group.cl")),
                }
            }
            Self::Elements => {
                define(&mut text, "BLOCK", TRANSPOSED_BLOCK);
                define(&mut text, "COLUMNS", interchanged_columns(parameters));
                define(&mut text, "INTERCHANGES", interchanges(parameters));
                text.push_str(include_str!("text/elements.cl"));
            }
            Self::PanelLu | Self::PanelLuTogether => {
                let (steps, together) = (include_str!("text/panel_lu.cl"), include_str!("text/panel_lu_together.cl"));
                panel_steps(&mut text, steps, (self == Self::PanelLuTogether).then_some(together), parameters);
            }
            Self::PanelQr | Self::PanelQrTogether => {
                let (steps, together) = (include_str!("text/panel_qr.cl"), include_str!("text/panel_qr_together.cl"));
                panel_steps(&mut text, steps, (self == Self::PanelQrTogether).then_some(together), parameters);
            }
            Self::Tall => text.push_str(include_str!("text/tall.cl")),
            Self::BatchGemm => {
                define(&mut text, "TILE", batch_tile(parameters));
                define(&mut text, "SIDE", parameters.work_items.isqrt());
                define(&mut text, "ITEM_ROWS", batch_item_rows(parameters));
                define(&mut text, "DOT_COLUMNS", BATCH_DOT_COLUMNS);
                text.push_str(concat!(include_str!("text/batch.cl"), include_str!("text/batch_gemm.cl")));
            }
            Self::BatchSolve => {
                define(&mut text, "BLOCK", BATCH_BLOCK);
                define(&mut text, "VECTORS", batch_vectors(parameters));
                text.push_str(concat!(include_str!("text/batch.cl"), include_str!("text/batch_solve.cl")));
            }
            Self::BatchCholesky => panels(&mut text, parameters, "", include_str!("text/batch_potrf.cl")),
            Self::BatchLu => panels(&mut text, parameters, "", include_str!("text/batch_getrf.cl")),
            Self::BatchQr => panels(&mut text, parameters, REFLECTOR, include_str!("text/batch_qr.cl")),
            Self::BatchBidiagonal => panels(&mut text, parameters, REFLECTOR, include_str!("text/batch_gebrd.cl")),
        }
        text
    }

    /// Returns the work-items of a group, if its size does not depend on the kernel.
    fn work_items(self, parameters: &Parameters) -> usize {
        match self {
            Self::PanelLuTogether | Self::PanelQrTogether => CONCURRENT_ITEMS,
            Self::Factor => parameters.factor_items,
            Self::Triangle => parameters.triangle_items(),
            _ => parameters.work_items,
        }
    }
}

/// Defines a number.
fn define(text: &mut String, name: &str, number: usize) {
    // Writing to a string does not fail.
    let _ = writeln!(text, "#define {name} {number}");
}

/// Adds the kernels of triangles.
fn triangle(text: &mut String, parameters: &Parameters) {
    let columns = parameters.triangle_columns();
    define(text, "ORDER", parameters.triangle_order);
    if parameters.work_items == 1 {
        define(text, "W", columns / parameters.vector);
        text.push_str(include_str!("text/triangle.cl"));
    } else {
        define(text, "COLUMNS", columns);
        define(text, "PART", PART_ROWS);
        define(text, "MATRIX", matches!(parameters.product, ProductForm::Matrix(_)).into());
        group(text, include_str!("text/triangle_group.cl"));
    }
}

/// Adds kernels whose groups share blocks.
fn group(text: &mut String, kernels: &str) {
    text.extend([include_str!("text/group.cl"), kernels]);
}

/// Adds the kernel that makes a step of a panel, and the one that makes all of them, if it is given.
fn panel_steps(text: &mut String, steps: &str, together: Option<&str>, parameters: &Parameters) {
    define(text, "WIDTH", PANEL_WIDTH);
    define(text, "GROUPS_MAX", GROUPS_MAX);
    define(text, "OWN_ELEMENTS", OWN_PANEL_BYTES / parameters.element().bytes());
    text.extend([include_str!("text/batch.cl"), include_str!("text/panel.cl"), steps]);
    let shared = [include_str!("text/together.cl"), include_str!("text/panel_own.cl")];
    text.extend(together.into_iter().flat_map(|kernel| shared.into_iter().chain([kernel])));
}

/// Adds the kernels that pack a factor in blocks of so many columns; `None` stands for all.
fn pack(text: &mut String, block: Option<usize>, packing: Packing, name: &str) {
    let Packing { m_wg, n_wg, m_wi, n_wi, m_unroll, n_unroll } = packing;
    let numbers = [
        ("M_WG", m_wg),
        ("N_WG", n_wg),
        ("M_WI", m_wi),
        ("N_WI", n_wi),
        ("M_UNROLL", m_unroll),
        ("N_UNROLL", n_unroll),
    ];
    let panel = block.map_or("width".to_owned(), |columns| columns.to_string());
    let _ = writeln!(text, "#define NAME {name}\n#define PANEL {panel}");
    for (name, number) in numbers {
        let _ = writeln!(text, "#define {name} {number}");
    }
    text.push_str(include_str!("text/pack.cl"));
    for name in ["NAME", "PANEL"].into_iter().chain(numbers.map(|(name, _)| name)) {
        let _ = writeln!(text, "#undef {name}");
    }
}

/// The order of the blocks by which a matrix is transposed.
pub(super) const TRANSPOSED_BLOCK: usize = 16;

/// Returns the interchanges that a group makes together: each work-item moves four rows.
pub(super) fn interchanges(parameters: &Parameters) -> usize {
    2 * parameters.work_items
}

/// Returns the columns of a group that interchanges rows.
pub(super) fn interchanged_columns(parameters: &Parameters) -> usize {
    if parameters.work_items == 1 { 1 } else { 4 }
}

/// The columns of a panel in factorizations of batches, and the bytes of a group's own memory for a panel. With what
/// else a group of at most 64 work-items keeps, these are less than 32 KiB, which every device has.
pub(super) const BATCH_PANEL_COLUMNS: usize = 8;
pub(super) const BATCH_PANEL_BYTES: usize = 16 << 10;

/// Returns whether there are kernels of batches that copy panels to a group's own memory.
pub(super) fn has_own_panels(parameters: &Parameters) -> bool {
    parameters.work_items > 1
}

const REFLECTOR: &str = include_str!("text/batch_reflector.cl");

/// Adds the kernels of a factorization of batches: with panels in place, and with panels in a group's own memory.
fn panels(text: &mut String, parameters: &Parameters, before: &str, kernels: &str) {
    let shared = concat!(include_str!("text/batch.cl"), include_str!("text/batch_panel.cl"));
    let _ = writeln!(text, "#define NB {BATCH_PANEL_COLUMNS}\n#define PANEL_BYTES {BATCH_PANEL_BYTES}");
    text.extend([shared, before]);
    let forms = [("__global", "_in_place", 0), ("__local", "_own", 1)];
    for (space, name, is_own) in forms.into_iter().take(if has_own_panels(parameters) { 2 } else { 1 }) {
        let _ = writeln!(text, "#define SPACE {space}\n#define NAME {name}\n#define IS_OWN {is_own}");
        text.extend([kernels, "#undef SPACE\n#undef NAME\n#undef IS_OWN\n"]);
    }
}

/// The order of the blocks of triangles in batches.
pub(super) const BATCH_BLOCK: usize = 16;

/// The dot products of a group, for a vector of each problem of a batch.
pub(super) const BATCH_DOT_COLUMNS: usize = 8;

/// Returns the order of the tile of a product that a group computes, for batches.
pub(super) fn batch_tile(parameters: &Parameters) -> usize {
    if parameters.work_items == 1 { 8 } else { 4 * parameters.work_items.isqrt() }
}

/// Returns the rows that a work-item computes, for a vector of each problem of a batch.
pub(super) fn batch_item_rows(parameters: &Parameters) -> usize {
    if parameters.work_items == 1 { 16 } else { 1 }
}

/// Returns the vectors that a group solves for with a triangle, for batches. The blocks in local memory take less than
/// 24 KiB.
pub(super) fn batch_vectors(parameters: &Parameters) -> usize {
    if parameters.work_items == 1 { 8 } else { 32 }
}

/// The compiler options. The source itself states what may be contracted or reordered.
const OPTIONS: &str = "-cl-std=CL1.2";

/// Makes the program's source.
pub(super) fn make_source(program: Program, parameters: &Parameters) -> Source {
    Source::new(program.text(parameters), OPTIONS)
}

/// Returns the program's source. Sources are cached, because they are long and needed at every launch.
pub(super) fn source(program: Program, parameters: &Parameters) -> Source {
    static SOURCES: Mutex<BTreeMap<(Program, Parameters), Source>> = Mutex::new(BTreeMap::new());
    // A source is inserted only when it is complete, so a panic of another thread leaves the table valid.
    let mut sources = SOURCES.lock().unwrap_or_else(PoisonError::into_inner);
    let known = sources.entry((program, *parameters));
    known.or_insert_with(|| make_source(program, parameters)).clone()
}
