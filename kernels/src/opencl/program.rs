//! The sources of the OpenCL programs: definitions of the parameters, followed by a file of the folder `text` or by the
//! generated product. A device compiles a program when the first of its kernels is launched.

use super::{Parameters, tile};
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
    /// `pack_a`, `pack_b`, and `complete_a`, `complete_b` for matrices of which one triangle is stored.
    Pack,
    /// `pack_triangle`, `solve`, `multiply`.
    Triangle,
    /// `potrf`.
    Factor,
    /// `scale`, `copy`, `transpose`, `laswp`, `clear`.
    Elements,
}

impl Program {
    /// All families.
    pub const ALL: [Self; 5] = [Self::Product, Self::Pack, Self::Triangle, Self::Factor, Self::Elements];

    /// Returns the source in OpenCL C.
    #[must_use]
    pub fn text(self, parameters: &Parameters) -> String {
        let mut text = String::new();
        let define = |text: &mut String, name: &str, value: usize| {
            // Writing to a string does not fail.
            let _ = writeln!(text, "#define {name} {value}");
        };
        define(&mut text, "DOUBLE", parameters.is_double().into());
        define(&mut text, "COMPLEX", parameters.is_complex().into());
        define(&mut text, "V", parameters.blocking.vector);
        define(&mut text, "LANES", parameters.work_items);
        text.push_str(include_str!("text/prelude.cl"));
        match self {
            Self::Product => text.push_str(&tile::text(parameters)),
            Self::Pack => {
                define(&mut text, "COLUMNS", parameters.pack_columns);
                for (panel, name) in [(parameters.panel_a(), "_a"), (parameters.panel_b(), "_b")] {
                    let _ = writeln!(text, "#define PANEL {panel}\n#define NAME {name}");
                    text.push_str(include_str!("text/pack.cl"));
                    text.push_str("#undef PANEL\n#undef NAME\n");
                }
            }
            Self::Triangle => {
                define(&mut text, "ORDER", parameters.triangle_order);
                define(&mut text, "W", parameters.triangle_columns() / parameters.blocking.vector);
                text.push_str(include_str!("text/triangle.cl"));
            }
            Self::Factor => {
                define(&mut text, "ORDER", parameters.factor_order);
                text.push_str(include_str!("text/factor.cl"));
            }
            Self::Elements => {
                define(&mut text, "BLOCK", TRANSPOSED_BLOCK);
                text.push_str(include_str!("text/elements.cl"));
            }
        }
        text
    }
}

/// The order of the blocks by which a matrix is transposed.
pub(super) const TRANSPOSED_BLOCK: usize = 16;

/// The compiler options. The source itself states what may be contracted or reordered.
const OPTIONS: &str = "-cl-std=CL1.2";

/// Returns the program's source. Sources are cached, because they are long and needed at every launch.
pub(super) fn source(program: Program, parameters: &Parameters) -> Source {
    static SOURCES: Mutex<BTreeMap<(Program, Parameters), Source>> = Mutex::new(BTreeMap::new());
    // A source is inserted only when it is complete, so a panic of another thread leaves the table valid.
    let mut sources = SOURCES.lock().unwrap_or_else(PoisonError::into_inner);
    let known = sources.entry((program, *parameters));
    known.or_insert_with(|| Source::new(program.text(parameters), OPTIONS)).clone()
}
