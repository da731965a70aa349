//! Generates `gemm`, the kernel that multiplies packed factors: C := alpha A B + beta C, or one triangle of it.
//!
//! The register tile is written out with a name per vector, so that compilers keep it in registers; everything else is
//! loops. `text/pack.cl` packs the factors: A as k rows of A's columns, B as k rows of its own, in blocks of columns of
//! a [`PackedLayout`](super::PackedLayout). For complex types a row of a block has the real parts before the imaginary
//! ones. The factors are padded with zeros to whole groups or register tiles, and the sums of the padding are not
//! stored.

mod grouped;
mod looping;
mod matrix;

use super::{Parameters, ProductForm, parameters::DIRECT_STEPS};
use matrix::Factors;
use std::fmt::Write;

/// Appends a line; writing to a string does not fail.
macro_rules! line {
    ($text:expr, $($format:tt)*) => {{ let _ = writeln!($text, $($format)*); }};
}
use line;

/// Returns the kernel's source.
pub(super) fn text(parameters: &Parameters) -> String {
    let (mut text, element) = (PREAMBLE.to_owned(), parameters.element());
    match &parameters.product {
        ProductForm::Looping(tile) => looping::kernel(&mut text, tile, element),
        ProductForm::Grouped(tile) => grouped::kernel(&mut text, tile, element),
        ProductForm::Matrix(tile) => matrix::kernel(&mut text, tile, element, Factors::Packed),
    }
    text
}

/// Returns the source of the kernel whose factors are not packed, or an empty one if there is none.
pub(super) fn direct_text(parameters: &Parameters) -> String {
    let (mut text, element) = (PREAMBLE.to_owned(), parameters.element());
    match &parameters.product {
        ProductForm::Looping(_) => text.clear(),
        ProductForm::Grouped(_) => {
            define(&mut text, [("SIDE", parameters.work_items.isqrt()), ("EACH", parameters.direct_each())]);
            define(&mut text, [("STEPS", DIRECT_STEPS)]);
            text.extend([FORMS, include_str!("../text/direct.cl")]);
        }
        ProductForm::Matrix(tile) => matrix::kernel(&mut text, &tile.direct(element), element, Factors::Direct),
    }
    text
}

/// Returns the source of the same kernel in smaller tiles, or an empty one if there is none.
pub(super) fn small_direct_text(parameters: &Parameters) -> String {
    let (mut text, element) = (PREAMBLE.to_owned(), parameters.element());
    match &parameters.product {
        ProductForm::Looping(_) | ProductForm::Grouped(_) => text.clear(),
        ProductForm::Matrix(tile) => matrix::kernel(&mut text, &tile.small(element), element, Factors::Direct),
    }
    text
}

/// Writes definitions of numbers.
fn define<const N: usize>(text: &mut String, numbers: [(&str, usize); N]) {
    for (name, number) in numbers {
        line!(text, "#define {name} {number}");
    }
}

/// The beginning of all forms.
const PREAMBLE: &str = "
// Whether no element of these rows and columns is in the part.
inline int is_outside(int part, int i, int i_end, int j, int j_end) {
    return part == 1 ? i_end <= j : part == 2 ? i >= j_end : 0;
}
";

/// The kernel's parameters. `part` is as in `is_inside`; `is_hermitian` makes the diagonal real; `a_at`, `b_at` and
/// `c_at` are counted in elements. The packed factors have k rows.
const SIGNATURE: &str = "void gemm(__global real *restrict heap, ulong a_at, ulong b_at, ulong c_at, ulong ld,
        int m, int n, int k, int part, int is_hermitian, elem alpha, elem beta) {";

/// The parameters of the kernel whose factors are not packed, but have strides, and `a_form` and `b_form` (see
/// `is_conjugated` and `is_stored`). The inner dimension is cut into slices of `slice` steps; the product of each is at
/// a distance of `apart` elements from the one before. The groups of a slice are next to each other in direction 1.
const DIRECT_SIGNATURE: &str = "void gemm_direct(__global real *restrict heap, ulong a_at, long a_rs, long a_cs,
        int a_form, ulong b_at, long b_rs, long b_cs, int b_form, ulong c_at, ulong ld, int m, int n, int k, int part,
        int is_hermitian, elem alpha, elem beta, int slice, ulong apart) {";

/// What the kernels for factors that are not packed share.
const FORMS: &str = "
// The form of a factor: 1 if it is conjugated, plus 2 if it is unit trapezoidal so that ones are stored where row and
// step are equal and zeros where the step is larger, or plus 4 where the row is.
inline int is_conjugated(int form) { return form & 1; }
inline int is_one(int row, int step, int form) { return form > 1 && row == step; }
// Whether all elements of a block are stored.
inline int is_plain(int form, int row, int rows, int step, int steps) {
    return form < 2 || (form & 2 ? row >= step + steps : step >= row + rows);
}
inline int is_stored(int row, int step, int form) { return form < 2 || (form & 2 ? row > step : step > row); }
";

/// The register tile. `xR_C` is the vector of rows R in column C; `yR_C` has the imaginary parts.
struct RegisterTile {
    vectors: usize,
    columns: usize,
    is_complex: bool,
}

impl RegisterTile {
    /// Returns the real and imaginary part with the names of their vectors.
    fn parts(&self) -> impl Iterator<Item = (usize, char)> + use<> {
        [(0, 'x'), (1, 'y')].into_iter().take(if self.is_complex { 2 } else { 1 })
    }

    fn zero(&self, text: &mut String) {
        for (_, name) in self.parts() {
            for c in 0..self.columns {
                let names: Vec<String> = (0..self.vectors).map(|r| format!("{name}{r}_{c} = (vec)0")).collect();
                line!(text, "vec {};", names.join(", "));
            }
        }
    }

    /// Adds one column of A times one row of B. `a` and `b` return the expressions of their parts.
    fn step(&self, text: &mut String, a: impl Fn(usize, usize) -> String, b: impl Fn(usize, usize) -> String) {
        line!(text, "{{");
        for (part, name) in [(0, 'a'), (1, 'i')].into_iter().take(self.parts().count()) {
            for r in 0..self.vectors {
                line!(text, "const vec {name}{r} = {};", a(part, r));
            }
        }
        for c in 0..self.columns {
            line!(text, "const vec b{c} = (vec)({});", b(0, c));
            if self.is_complex {
                line!(text, "const vec j{c} = (vec)({});", b(1, c));
            }
            for r in 0..self.vectors {
                line!(text, "x{r}_{c} = a{r} * b{c} + x{r}_{c};");
                if self.is_complex {
                    line!(text, "y{r}_{c} = i{r} * b{c} + y{r}_{c};");
                    line!(text, "x{r}_{c} = -i{r} * j{c} + x{r}_{c};");
                    line!(text, "y{r}_{c} = a{r} * j{c} + y{r}_{c};");
                }
            }
        }
        line!(text, "}}");
    }
}
