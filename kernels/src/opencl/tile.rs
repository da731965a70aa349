//! Generates `gemm`, the kernel that multiplies packed operands: C := alpha A B + beta C, or one triangle of it.
//!
//! The register tile is written out with a name per vector, so that compilers keep it in registers; everything else is
//! loops. The operands are packed by `text/pack.cl` into panels of rows of A and of columns of B. Each column of a
//! panel (each row, for B) is contiguous; for complex types the real parts precede the imaginary ones. Panels are
//! padded with zeros to their full width, and the sums of the padding are not stored. k is not padded.

use super::{Blocking, Parameters, ProductForm};
use std::fmt::Write;

/// Appends a line; writing to a string does not fail.
macro_rules! line {
    ($text:expr, $($format:tt)*) => {{ let _ = writeln!($text, $($format)*); }};
}

/// Returns the kernel's source.
pub(super) fn text(parameters: &Parameters) -> String {
    let mut text = String::new();
    let Blocking { m_wg, n_wg, k_wg, m_wi, n_wi, unroll, .. } = parameters.blocking;
    for (name, value) in
        [("M_WG", m_wg), ("N_WG", n_wg), ("K_WG", k_wg), ("M_WI", m_wi), ("N_WI", n_wi), ("UNROLL", unroll)]
    {
        line!(text, "#define {name} {value}");
    }
    match parameters.blocking.form {
        ProductForm::Looping => looping(&mut text, parameters),
        ProductForm::Shared => shared(&mut text, parameters),
    }
    text
}

/// The beginning of both forms.
const PREAMBLE: &str = "
// Whether no element of these rows and columns is in the part.
inline int is_outside(int part, int i, int i_end, int j, int j_end) {
    return part == 1 ? i_end <= j : part == 2 ? i >= j_end : 0;
}
";

/// The kernel's parameters. `part` is as in `is_inside`; `is_hermitian` makes the diagonal real; `a_at`, `b_at` and
/// `c_at` are counted in elements.
const SIGNATURE: &str = "void gemm(__global real *restrict heap, ulong a_at, ulong b_at, ulong c_at, ulong ld,
        int m, int n, int k, int part, int is_hermitian, elem alpha, elem beta) {";

/// Generates the kernel in which one work-item loops over a block's register tiles. The loop over columns is outside,
/// so that a panel of B stays in the first-level cache while the panels of A are read from the second-level cache.
fn looping(text: &mut String, parameters: &Parameters) {
    let Blocking { m_wi, n_wi, vector, .. } = parameters.blocking;
    let tile = RegisterTile { vectors: m_wi / vector, columns: n_wi, is_complex: parameters.is_complex() };
    text.push_str(PREAMBLE);
    line!(text, "__kernel GROUP(1)\n{SIGNATURE}");
    text.push_str(
        "    const int i_first = get_global_id(0) * M_WG, j_first = get_global_id(1) * N_WG;
    const int i_last = min(i_first + M_WG, m), j_last = min(j_first + N_WG, n);
    if (is_outside(part, i_first, i_last, j_first, j_last)) return;
    for (int k_first = 0; k_first < k; k_first += K_WG)
    for (int j = j_first; j < j_last; j += N_WI)
    for (int i = i_first; i < i_last; i += M_WI) {
        const int i_end = min(i + M_WI, m), j_end = min(j + N_WI, n);
        if (is_outside(part, i, i_end, j, j_end)) continue;
        const elem by = k_first == 0 ? beta : make(1, 0);
        const int steps = min(K_WG, k - k_first);
        __global const real *a = heap + (a_at + (ulong)i * k + (ulong)k_first * M_WI) * PARTS;
        __global const real *b = heap + (b_at + (ulong)j * k + (ulong)k_first * N_WI) * PARTS;
        __global real *c = heap + (c_at + (ulong)j * ld + i) * PARTS;
",
    );
    tile.zero(text);
    let offset = |base: &str, v: usize| format!("VLOAD({base} + {})", v * vector);
    steps(text, "steps", "a += M_WI * PARTS;\nb += N_WI * PARTS;", |text| {
        tile.step(text, |part, r| offset("a", part * tile.vectors + r), |part, c| format!("b[{}]", part * n_wi + c));
    });
    text.push_str(
        "        const int whole = i + M_WI <= m && j + N_WI <= n;
        if (whole && (part == 0 || (part == 1 ? i >= j + N_WI : j >= i + M_WI))) {
",
    );
    for c in 0..tile.columns {
        for r in 0..tile.vectors {
            let sums = if tile.is_complex { format!("x{r}_{c}, y{r}_{c}") } else { format!("x{r}_{c}") };
            line!(text, "update_vec(c + {} * PARTS, {sums}, alpha, by);", r * vector);
        }
        line!(text, "c += ld * PARTS;");
    }
    // At an edge or on the diagonal, elements are stored one by one.
    line!(text, "}} else {{\nreal t[PARTS * M_WI * N_WI];");
    for (part, name) in tile.parts() {
        for c in 0..tile.columns {
            for r in 0..tile.vectors {
                line!(text, "VSTORE({name}{r}_{c}, t + {} * M_WI + {});", part * tile.columns + c, r * vector);
            }
        }
    }
    let sum = if tile.is_complex { "make(t[at], t[N_WI * M_WI + at])" } else { "t[at]" };
    line!(
        text,
        "for (int q = j; q < j_end; ++q, c += ld * PARTS)
            for (int p = i; p < i_end; ++p) {{
                const int at = (q - j) * M_WI + (p - i);
                if (is_inside(part, p, q))
                    update((__global elem *)c + (p - i), {sum}, alpha, by, is_hermitian && p == q);
            }}
        }}
    }}
}}"
    );
}

/// Generates the kernel with one work-item per register tile; the group reads panels into local memory. The rows and
/// columns of a tile are as far apart as the group has work-items, so that neighbouring work-items access neighbouring
/// elements.
fn shared(text: &mut String, parameters: &Parameters) {
    let Blocking { m_wi, n_wi, vector, .. } = parameters.blocking;
    debug_assert_eq!(vector, 1, "local memory is read one number at a time");
    let tile = RegisterTile { vectors: m_wi, columns: n_wi, is_complex: parameters.is_complex() };
    text.push_str(PREAMBLE);
    text.push_str(
        "#define X_ITEMS (M_WG / M_WI)
#define Y_ITEMS (N_WG / N_WI)
__kernel __attribute__((reqd_work_group_size(X_ITEMS, Y_ITEMS, 1)))
",
    );
    line!(text, "{SIGNATURE}");
    text.push_str(
        "    __local real a_part[K_WG * M_WG * PARTS], b_part[K_WG * N_WG * PARTS];
    const int x = get_local_id(0), y = get_local_id(1), item = y * X_ITEMS + x;
    const int i_first = get_group_id(0) * M_WG, j_first = get_group_id(1) * N_WG;
    if (is_outside(part, i_first, min(i_first + M_WG, m), j_first, min(j_first + N_WG, n))) return;
    __global const real *a_from = heap + (a_at + (ulong)i_first * k) * PARTS;
    __global const real *b_from = heap + (b_at + (ulong)j_first * k) * PARTS;
",
    );
    tile.zero(text);
    text.push_str(
        "    for (int k_first = 0; k_first < k; k_first += K_WG) {
        const int steps = min(K_WG, k - k_first);
        for (int t = item; t < steps * M_WG * PARTS; t += X_ITEMS * Y_ITEMS) a_part[t] = a_from[t];
        for (int t = item; t < steps * N_WG * PARTS; t += X_ITEMS * Y_ITEMS) b_part[t] = b_from[t];
        a_from += K_WG * M_WG * PARTS;
        b_from += K_WG * N_WG * PARTS;
        barrier(CLK_LOCAL_MEM_FENCE);
        __local const real *a = a_part + x, *b = b_part + y;
",
    );
    let at = |base: &str, part: usize, block: &str, index: usize, items: &str| {
        format!("{base}[{part} * {block} + {index} * {items}]")
    };
    steps(text, "steps", "a += M_WG * PARTS;\nb += N_WG * PARTS;", |text| {
        tile.step(text, |part, r| at("a", part, "M_WG", r, "X_ITEMS"), |part, c| at("b", part, "N_WG", c, "Y_ITEMS"));
    });
    line!(text, "barrier(CLK_LOCAL_MEM_FENCE);\n}}\n__global elem *c = (__global elem *)heap + c_at;");
    for c in 0..tile.columns {
        for r in 0..tile.vectors {
            let sum = if tile.is_complex { format!("make(x{r}_{c}, y{r}_{c})") } else { format!("x{r}_{c}") };
            line!(
                text,
                "{{ const int p = i_first + x + {r} * X_ITEMS, q = j_first + y + {c} * Y_ITEMS;
                if (p < m && q < n && is_inside(part, p, q))
                    update(c + (ulong)q * ld + p, {sum}, alpha, beta, is_hermitian && p == q); }}"
            );
        }
    }
    line!(text, "}}");
}

/// Generates a loop over the columns of two panels, `UNROLL` at a time, then one by one.
fn steps(text: &mut String, count: &str, advance: &str, step: impl Fn(&mut String)) {
    line!(text, "int p = 0;\n#if UNROLL > 1\nfor (; p + UNROLL <= {count}; p += UNROLL) {{\n#pragma unroll\n");
    line!(text, "for (int u = 0; u < UNROLL; ++u) {{");
    step(text);
    line!(text, "{advance}\n}}\n}}\n#endif\nfor (; p < {count}; ++p) {{");
    step(text);
    line!(text, "{advance}\n}}");
}

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
