//! The kernel with matrix instructions, for GPUs by NVIDIA.
//!
//! Of a warp's 32 work-items, number 4 g + t has these numbers (see "Matrix Fragments for mma.m16n8k8" in the manual of
//! PTX): of A rows g and g + 8 in columns t and t + 4, of B rows t and t + 4 in column g, and of the sums rows g and
//! g + 8 in columns 2 t and 2 t + 1. Everything that a work-item keeps has a name.

use super::{SIGNATURE, define, line};
use crate::opencl::{
    Element, MatrixTile,
    matrix_tile::{MATRIX_SHAPE, ROW_GAP, WARP},
};
use std::fmt::Write;

/// Generates the kernel.
pub(super) fn kernel(text: &mut String, tile: &MatrixTile, element: Element) {
    let &MatrixTile { m_wg, n_wg, k_wg, m_warp, n_warp } = tile;
    define(text, [("M_WG", m_wg), ("N_WG", n_wg), ("K_WG", k_wg), ("M_WARP", m_warp), ("N_WARP", n_warp)]);
    define(text, [("ITEMS", tile.items()), ("WARP", WARP), ("WARPS_M", m_wg / m_warp)]);
    let [reads_a, reads_b] = tile.reads(element);
    let factors = [('a', m_wg, reads_a), ('b', n_wg, reads_b)];
    let parts = element.parts();
    for (name, block, _) in factors {
        let (row, rows) = (block + ROW_GAP, k_wg * parts);
        line!(
            text,
            "#define {name}_LOCAL(BUFFER, P, Q, I) {name}_part[(((BUFFER) * K_WG + (P)) * {parts} + (Q)) * {row} + (I)]"
        );
        line!(text, "#define {name}_NUMBERS {}", 2 * rows * row);
    }
    text.push_str(UPDATE_ONE);
    line!(text, "__kernel GROUP(ITEMS)\n{SIGNATURE}");
    text.push_str(BEGIN);
    for (name, _, reads) in factors {
        let names: Vec<String> = (0..reads).map(|r| format!("{name}f{r}")).collect();
        line!(text, "real2 {};", names.join(", "));
    }
    let sums = Sums { tile, parts };
    sums.zero(text);
    let fetch = |text: &mut String| {
        for (name, block, reads) in factors {
            for r in 0..reads {
                line!(text, "{name}f{r} = {name}_from[{r} * ITEMS];");
            }
            line!(text, "{name}_from += {};", block * k_wg * parts / 2);
        }
    };
    let put = |text: &mut String, buffer: &str| {
        for (name, block, reads) in factors {
            for r in 0..reads {
                // The first of two numbers, and its row of real or of imaginary parts.
                line!(text, "{{ const int at = 2 * (item + {r} * ITEMS), row = at / {block};");
                let to = format!("{name}_LOCAL({buffer}, row / {parts}, row % {parts}, at % {block})");
                line!(text, "*(__local real2 *)&{to} = {name}f{r}; }}");
            }
        }
    };
    fetch(text);
    put(text, "0");
    text.push_str("barrier(CLK_LOCAL_MEM_FENCE);\nint now = 0;\n");
    text.push_str("for (int k_first = 0; k_first < k; k_first += K_WG) {\nif (k_first + K_WG < k) {\n");
    fetch(text);
    text.push_str("}\n");
    for first in (0..k_wg).step_by(MATRIX_SHAPE[2]) {
        sums.step(text, first);
    }
    text.push_str("if (k_first + K_WG < k) {\n");
    put(text, "(1 - now)");
    text.push_str("}\nbarrier(CLK_LOCAL_MEM_FENCE);\nnow = 1 - now;\n}\n");
    sums.store(text);
    text.push_str("}\n");
}

const UPDATE_ONE: &str = "
// Updates element (i, j), if it is stored. `its` is the column.
inline void update_one(__global elem *its, real re, real im, int i, int j, int m, int n, int part, int is_hermitian,
                       elem alpha, elem beta) {
    if (i < m && j < n && is_inside(part, i, j))
        update(its + i, make(re, im), alpha, beta, is_hermitian && i == j);
}
";

const BEGIN: &str = "
    __local real a_part[a_NUMBERS] __attribute__((aligned(16))), b_part[b_NUMBERS] __attribute__((aligned(16)));
    const int item = get_local_id(0), g = item % WARP / 4, t = item % 4;
    const int i_first = get_group_id(0) * M_WG, j_first = get_group_id(1) * N_WG;
    const int i_warp = item / WARP % WARPS_M * M_WARP, j_warp = item / WARP / WARPS_M * N_WARP;
    if (is_outside(part, i_first, min(i_first + M_WG, m), j_first, min(j_first + N_WG, n))) return;
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
        line!(text, "__global elem *c = (__global elem *)heap + c_at;");
        for (i, j) in self.instructions() {
            for r in 0..4 {
                let (row, column) = (i * rows + 8 * (r / 2), j * columns + r % 2);
                line!(text, "{{ const int i = i_first + i_warp + {row} + g;");
                line!(text, "const int j = j_first + j_warp + {column} + 2 * t;");
                // The imaginary parts of real types are not read.
                let imaginary = if self.parts == 2 { 'y' } else { 'x' };
                let sums = format!("x{i}_{j}_{r}, {imaginary}{i}_{j}_{r}");
                let rest = "i, j, m, n, part, is_hermitian, alpha, beta";
                line!(text, "update_one(c + (ulong)j * ld, {sums}, {rest}); }}");
            }
        }
    }
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
