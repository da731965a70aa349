//! The kernel with matrix instructions, for GPUs by NVIDIA.
//!
//! Of a warp's 32 work-items, number 4 g + t has these numbers (see "Matrix Fragments for mma.m16n8k8" in the manual of
//! PTX): of A rows g and g + 8 in columns t and t + 4, of B rows t and t + 4 in column g, and of the sums rows g and
//! g + 8 in columns 2 t and 2 t + 1. Everything that a work-item keeps has a name.

use super::{DIRECT_SIGNATURE, FORMS, SIGNATURE, define, line};
use crate::opencl::{
    Element, MatrixTile,
    matrix_tile::{MATRIX_SHAPE, ROW_GAP, WARP},
};
use std::fmt::Write;

/// Where a kernel finds its factors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Factors {
    /// In packed blocks.
    Packed,
    /// In matrices with any strides.
    Direct,
}

/// Generates the kernel.
pub(super) fn kernel(text: &mut String, tile: &MatrixTile, element: Element, kind: Factors) {
    let &MatrixTile { m_wg, n_wg, k_wg, m_warp, n_warp } = tile;
    define(text, [("M_WG", m_wg), ("N_WG", n_wg), ("K_WG", k_wg), ("M_WARP", m_warp), ("N_WARP", n_warp)]);
    define(text, [("ITEMS", tile.items()), ("WARP", WARP), ("WARPS_M", m_wg / m_warp)]);
    let parts = element.parts();
    for (name, block) in [('a', m_wg), ('b', n_wg)] {
        let (row, rows) = (block + ROW_GAP, k_wg * parts);
        line!(
            text,
            "#define {name}_LOCAL(BUFFER, P, Q, I) {name}_part[(((BUFFER) * K_WG + (P)) * {parts} + (Q)) * {row} + (I)]"
        );
        line!(text, "#define {name}_NUMBERS {}", 2 * rows * row);
    }
    text.push_str(UPDATE_ONE);
    let loads = match kind {
        Factors::Packed => Loads::packed(tile, element),
        Factors::Direct => Loads::direct(tile, element),
    };
    text.push_str(if kind == Factors::Direct { FORMS } else { "" });
    line!(text, "__kernel GROUP(ITEMS)\n{}", loads.signature);
    text.extend([loads.slice, BEGIN, &loads.begin]);
    let sums = Sums { tile, parts };
    sums.zero(text);
    text.push_str(&(loads.fetch)("k_begin"));
    text.push_str(&(loads.put)("0"));
    text.push_str("barrier(CLK_LOCAL_MEM_FENCE);\nint now = 0;\n");
    text.push_str("for (int k_first = k_begin; k_first < k_end; k_first += K_WG) {\nif (k_first + K_WG < k_end) {\n");
    text.push_str(&(loads.fetch)("k_first + K_WG"));
    text.push_str("}\n");
    for first in (0..k_wg).step_by(MATRIX_SHAPE[2]) {
        sums.step(text, first);
    }
    text.push_str("if (k_first + K_WG < k_end) {\n");
    text.push_str(&(loads.put)("(1 - now)"));
    text.push_str("}\nbarrier(CLK_LOCAL_MEM_FENCE);\nnow = 1 - now;\n}\n");
    sums.store(text);
    text.push_str("}\n");
}

/// How a group reads its factors: `K_WG` steps into registers, and from there into one of two buffers.
struct Loads {
    signature: &'static str,
    /// The statements that say which steps the group has.
    slice: &'static str,
    begin: String,
    /// The statements that read from a step on. They are the next steps at each call.
    fetch: Box<dyn Fn(&str) -> String>,
    /// The statements that write to a buffer.
    put: Box<dyn Fn(&str) -> String>,
}

impl Loads {
    /// Packed factors are read in pairs of numbers.
    fn packed(tile: &MatrixTile, element: Element) -> Self {
        let (parts, [reads_a, reads_b]) = (element.parts(), tile.reads(element));
        let factors = [('a', tile.m_wg, reads_a), ('b', tile.n_wg, reads_b)];
        let numbers = tile.k_wg * parts / 2;
        let mut begin = PACKED.to_owned();
        for (name, _, reads) in factors {
            let names: Vec<String> = (0..reads).map(|r| format!("{name}f{r}")).collect();
            line!(begin, "real2 {};", names.join(", "));
        }
        let fetch = move |_: &str| {
            let mut text = String::new();
            for (name, block, reads) in factors {
                for r in 0..reads {
                    line!(text, "{name}f{r} = {name}_from[{r} * ITEMS];");
                }
                line!(text, "{name}_from += {};", block * numbers);
            }
            text
        };
        let put = move |buffer: &str| {
            let mut text = String::new();
            for (name, block, reads) in factors {
                for r in 0..reads {
                    // The first of two numbers, and its row of real or of imaginary parts.
                    line!(text, "{{ const int at = 2 * (item + {r} * ITEMS), row = at / {block};");
                    let to = format!("{name}_LOCAL({buffer}, row / {parts}, row % {parts}, at % {block})");
                    line!(text, "*(__local real2 *)&{to} = {name}f{r}; }}");
                }
            }
            text
        };
        Self { signature: SIGNATURE, slice: ALL_STEPS, begin, fetch: Box::new(fetch), put: Box::new(put) }
    }

    /// Other factors are read by elements, along the stride of one: a work-item's reads are in rows or steps at equal
    /// distances. `a_left` and `b_left` are the rows that the factors have in the tile.
    fn direct(tile: &MatrixTile, element: Element) -> Self {
        let (parts, [reads_a, reads_b]) = (element.parts(), tile.direct_reads());
        let factors = [('a', tile.m_wg, reads_a), ('b', tile.n_wg, reads_b)];
        let mut begin = String::new();
        let strides = [("a_rs", "a_cs", "m - i_first", "i_first"), ("b_cs", "b_rs", "n - j_first", "j_first")];
        for ((name, block, reads), (rows, steps, left, first)) in factors.into_iter().zip(strides) {
            line!(begin, "const int {name}_left = {left}, {name}_along = {rows} == 1;");
            line!(begin, "const int {name}_i = {name}_along ? item % {block} : item / K_WG;");
            line!(begin, "const int {name}_p = {name}_along ? item / {block} : item % K_WG;");
            line!(begin, "const int {name}_di = {name}_along ? 0 : ITEMS / K_WG;");
            line!(begin, "const int {name}_dp = {name}_along ? ITEMS / {block} : 0;");
            line!(begin, "const long {name}_step = {name}_di * {rows} + {name}_dp * {steps};");
            line!(begin, "__global const elem *{name}_from = (__global const elem *)heap + {name}_at;");
            line!(begin, "{name}_from += ({first} + {name}_i) * {rows} + (k_begin + {name}_p) * {steps};");
            let names: Vec<String> = (0..reads).map(|r| format!("{name}f{r}")).collect();
            line!(begin, "elem {};", names.join(", "));
        }
        // Nothing is computed with what is read before it is put into a buffer: that would wait for it.
        let fetch = move |first: &str| {
            let mut text = String::new();
            for ((name, block, reads), (_, steps, _, start)) in factors.into_iter().zip(strides) {
                let places = (0..reads).map(|r| {
                    let (row, step) = (format!("{name}_i + {r} * {name}_di"), format!("{name}_p + {r} * {name}_dp"));
                    let is_inside = format!("{row} < {name}_left && {first} + {step} < k_end");
                    (format!("{name}f{r}"), is_inside, format!("{start} + {row}, {first} + {step}, {name}_form"), r)
                });
                line!(text, "if (is_plain({name}_form, {start}, {block}, {first}, K_WG)) {{");
                for (x, is_inside, _, r) in places.clone() {
                    line!(text, "{x} = make(0, 0);\nif ({is_inside}) {x} = {name}_from[{r} * {name}_step];");
                }
                line!(text, "}} else {{");
                for (x, is_inside, place, r) in places {
                    line!(text, "{x} = make({is_inside} && is_one({place}), 0);");
                    line!(text, "if ({is_inside} && is_stored({place})) {x} = {name}_from[{r} * {name}_step];");
                }
                line!(text, "}}\n{name}_from += K_WG * {steps};");
            }
            text
        };
        let put = move |buffer: &str| {
            let mut text = String::new();
            for (name, _, reads) in factors {
                for r in 0..reads {
                    let (row, step) = (format!("{name}_i + {r} * {name}_di"), format!("{name}_p + {r} * {name}_dp"));
                    for (part, of) in ["RE", "IM"].into_iter().enumerate().take(parts) {
                        let x = format!("{of}(conj_if({name}f{r}, is_conjugated({name}_form)))");
                        line!(text, "{name}_LOCAL({buffer}, {step}, {part}, {row}) = {x};");
                    }
                }
            }
            text
        };
        Self { signature: DIRECT_SIGNATURE, slice: SLICE, begin, fetch: Box::new(fetch), put: Box::new(put) }
    }
}

const UPDATE_ONE: &str = "
// The place of element (i, j), or null if it is not stored.
inline __global elem *place(__global elem *its, int i, int j, int m, int n, int part) {
    return i < m && j < n && is_inside(part, i, j) ? its : 0;
}
inline void store(__global elem *its, elem sum, elem old, elem alpha, int is_real) {
    const elem x = scaled(sum, alpha) + old;
    if (its) *its = is_real ? make(RE(x), 0) : x;
}
";

const ALL_STEPS: &str = "
    const int k_begin = 0, k_end = k, j_group = get_group_id(1);
    const ulong slice_at = 0;
";

const SLICE: &str = "
    const int across = (n + N_WG - 1) / N_WG, j_group = get_group_id(1) % across;
    const int k_begin = get_group_id(1) / across * slice, k_end = min(k, k_begin + slice);
    const ulong slice_at = get_group_id(1) / across * apart;
";

const BEGIN: &str = "
    __local real a_part[a_NUMBERS] __attribute__((aligned(16))), b_part[b_NUMBERS] __attribute__((aligned(16)));
    const int item = get_local_id(0), g = item % WARP / 4, t = item % 4;
    const int i_first = get_group_id(0) * M_WG, j_first = j_group * N_WG;
    const int i_warp = item / WARP % WARPS_M * M_WARP, j_warp = item / WARP / WARPS_M * N_WARP;
    if (is_outside(part, i_first, min(i_first + M_WG, m), j_first, min(j_first + N_WG, n))) return;
    __global elem *c = (__global elem *)heap + c_at + slice_at;
    // Read instead of elements that are not stored, because loads in branches would wait for each other.
    __global const elem *other = c + (ulong)j_first * ld + i_first;
";

const PACKED: &str = "
    __global const real2 *a_from = (__global const real2 *)(heap + (a_at + (ulong)i_first * k) * PARTS) + item;
    __global const real2 *b_from = (__global const real2 *)(heap + (b_at + (ulong)j_first * k) * PARTS) + item;
";

/// The sums of a work-item: `xI_J_R` and `yI_J_R`, the real and imaginary part of sum R of instruction (I, J).
struct Sums<'t> {
    tile: &'t MatrixTile,
    parts: usize,
}

impl Sums<'_> {
    fn names(&self) -> impl Iterator<Item = (usize, char)> + use<> {
        [(0, 'x'), (1, 'y')].into_iter().take(self.parts)
    }

    /// Returns the instructions of a step: their numbers down and across.
    fn instructions(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let [rows, columns, _] = MATRIX_SHAPE;
        let (down, across) = (self.tile.m_warp / rows, self.tile.n_warp / columns);
        (0..down).flat_map(move |i| (0..across).map(move |j| (i, j)))
    }

    fn zero(&self, text: &mut String) {
        for (i, j) in self.instructions() {
            for (_, name) in self.names() {
                let names: Vec<String> = (0..4).map(|r| format!("{name}{i}_{j}_{r} = 0")).collect();
                line!(text, "real {};", names.join(", "));
            }
        }
    }

    /// Adds the products of eight steps.
    fn step(&self, text: &mut String, first: usize) {
        let [rows, columns, _] = MATRIX_SHAPE;
        line!(text, "{{");
        for (part, name) in [(0, 'a'), (1, 'i')].into_iter().take(self.parts) {
            for i in 0..self.tile.m_warp / rows {
                for r in 0..4 {
                    let (step, row) = (first + 4 * (r / 2), i * rows + 8 * (r % 2));
                    line!(text, "const real {name}{i}_{r} = a_LOCAL(now, {step} + t, {part}, i_warp + {row} + g);");
                }
            }
        }
        for (part, name) in [(0, 'b'), (1, 'j')].into_iter().take(self.parts) {
            for j in 0..self.tile.n_warp / columns {
                for r in 0..2 {
                    let (step, column) = (first + 4 * r, j * columns);
                    line!(text, "const real {name}{j}_{r} = b_LOCAL(now, {step} + t, {part}, j_warp + {column} + g);");
                }
            }
        }
        for (i, j) in self.instructions() {
            multiply_add(text, ('x', i, j), ("", 'a'), 'b');
            if self.parts == 2 {
                multiply_add(text, ('y', i, j), ("", 'i'), 'b');
                multiply_add(text, ('x', i, j), ("-", 'i'), 'j');
                multiply_add(text, ('y', i, j), ("", 'a'), 'j');
            }
        }
        line!(text, "}}");
    }

    fn store(&self, text: &mut String) {
        let [rows, columns, _] = MATRIX_SHAPE;
        let (down, across) = (self.tile.m_warp / rows, self.tile.n_warp / columns);
        for i in 0..down {
            // All loads of some rows come before the stores, because the compiler does not know that they differ.
            line!(text, "{{");
            for (j, r) in (0..across).flat_map(|j| (0..4).map(move |r| (j, r))) {
                line!(text, "elem o{j}_{r} = make(0, 0);");
            }
            line!(text, "if (!is_zero(beta)) {{");
            for (j, r) in (0..across).flat_map(|j| (0..4).map(move |r| (j, r))) {
                let place = place(i, j, r);
                line!(text, "{{ {place}\no{j}_{r} = *(its ? its : other); }}");
            }
            line!(text, "}}");
            for (j, r) in (0..across).flat_map(|j| (0..4).map(move |r| (j, r))) {
                // The imaginary parts of real types are not read.
                let imaginary = if self.parts == 2 { 'y' } else { 'x' };
                let sum = format!("make(x{i}_{j}_{r}, {imaginary}{i}_{j}_{r})");
                let place = place(i, j, r);
                line!(text, "{{ {place}\nstore(its, {sum}, scaled(o{j}_{r}, beta), alpha, is_hermitian && i == j); }}");
            }
            line!(text, "}}");
        }
    }
}

/// Returns the statements that find the row, the column and the place of sum `r` of an instruction.
fn place(i: usize, j: usize, r: usize) -> String {
    let [rows, columns, _] = MATRIX_SHAPE;
    let (row, column) = (i * rows + 8 * (r / 2), j * columns + r % 2);
    format!(
        "const int i = i_first + i_warp + {row} + g, j = j_first + j_warp + {column} + 2 * t;
        __global elem *its = place(c + (ulong)j * ld + i, i, j, m, n, part);"
    )
}

/// Adds the product of parts of A, with a sign, and of B to the sums of an instruction.
fn multiply_add(text: &mut String, (sum, i, j): (char, usize, usize), (sign, a): (&str, char), b: char) {
    let sums: Vec<String> = (0..4).map(|r| format!("\"+d\"({sum}{i}_{j}_{r})")).collect();
    let of_a = (0..4).map(|r| format!("\"d\"({sign}{a}{i}_{r})"));
    let factors: Vec<String> = of_a.chain((0..2).map(|r| format!("\"d\"({b}{j}_{r})"))).collect();
    let instruction = "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64";
    let operands = "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3}";
    line!(text, "asm(\"{instruction} {operands};\" : {} : {});", sums.join(", "), factors.join(", "));
}
