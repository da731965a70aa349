//! The kernel in which a work-group computes a tile of C, for GPUs.
//!
//! Everything that a work-item keeps has a name: its sums, the vectors that it multiplies, and those that it reads
//! ahead. Addresses of packed factors and of local memory are counted in vectors, so that each access is one
//! instruction.

use super::{RegisterTile, SIGNATURE, define, line};
use crate::opencl::{Buffering, Element, FactorTile, GroupTile, PackedLayout};
use std::fmt::Write;

/// Generates the kernel.
pub(super) fn kernel(text: &mut String, tile: &GroupTile, element: Element) {
    let &GroupTile { m_wg, n_wg, k_wg, k_wi, m_dim, n_dim, .. } = tile;
    define(text, [("M_WG", m_wg), ("N_WG", n_wg), ("K_WG", k_wg), ("K_WI", k_wi), ("M_DIM", m_dim), ("N_DIM", n_dim)]);
    define(text, [("V_B", tile.b.vector)]);
    text.push_str(TYPES);
    let (a, b) = (GroupFactor::a(tile, element), GroupFactor::b(tile, element));
    a.define(text);
    b.define(text);
    let registers = RegisterTile { vectors: a.item_vectors(), columns: tile.n_wi(), is_complex: element.is_complex };
    line!(text, "__kernel __attribute__((reqd_work_group_size(M_DIM, N_DIM, 1)))\n{SIGNATURE}");
    text.push_str(
        "    const int x = get_local_id(0), y = get_local_id(1), item = y * M_DIM + x;
    const int i_first = get_group_id(0) * M_WG, j_first = get_group_id(1) * N_WG;
",
    );
    a.declare(text);
    b.declare(text);
    text.push_str(
        "    if (is_outside(part, i_first, min(i_first + M_WG, m), j_first, min(j_first + N_WG, n))) return;\n",
    );
    a.begin(text);
    b.begin(text);
    registers.zero(text);
    steps(text, tile, [&a, &b], &registers);
    store(text, [&a, &b], &registers);
    text.push_str("}\n");
}

/// The type of B's vectors. A's are `vec`.
const TYPES: &str = "
#if V_B == 1
typedef real vec_b;
#elif DOUBLE
typedef JOIN(double, V_B) vec_b;
#else
typedef JOIN(float, V_B) vec_b;
#endif
typedef vec vec_a;

// Updates the elements i .. i + V of column j that are stored. A loop, because PoCL 3.1 stores elements outside of C if
// the lanes are written out.
inline void update_some(__global elem *c, vec re, vec im, int i, int j, int m, int n, int part, int is_hermitian,
                        elem alpha, elem beta) {
    real x[V], y[V];
    VSTORE(re, x);
    VSTORE(im, y);
    for (int l = 0; l < V; ++l)
        if (i + l < m && j < n && is_inside(part, i + l, j))
            update(c + i + l, make(x[l], y[l]), alpha, beta, is_hermitian && i + l == j);
}
";

/// One factor, as the kernel reads it. Its definitions and variables begin with its name.
struct GroupFactor {
    name: char,
    /// The definition's name of a group's columns of the packed factor.
    block: &'static str,
    /// The columns of a group and of a work-item, the work-items along them, and the one that this is.
    columns: usize,
    item_columns: usize,
    dim: usize,
    item: char,
    tile: FactorTile,
    buffering: Buffering,
    /// Work-items and steps of a group.
    items: usize,
    k_wg: usize,
    parts: usize,
}

impl GroupFactor {
    fn a(tile: &GroupTile, element: Element) -> Self {
        let (block, columns, item_columns, dim) = ("M_WG", tile.m_wg, tile.m_wi(), tile.m_dim);
        let (buffering, items, k_wg, parts) = (tile.buffering, tile.items(), tile.k_wg, element.parts());
        let (name, item) = ('a', 'x');
        Self { name, block, columns, item_columns, dim, item, tile: tile.a, buffering, items, k_wg, parts }
    }

    fn b(tile: &GroupTile, element: Element) -> Self {
        let (block, columns, item_columns, dim) = ("N_WG", tile.n_wg, tile.n_wi(), tile.n_dim);
        let (buffering, items, k_wg, parts) = (tile.buffering, tile.items(), tile.k_wg, element.parts());
        let (name, item) = ('b', 'y');
        Self { name, block, columns, item_columns, dim, item, tile: tile.b, buffering, items, k_wg, parts }
    }

    fn item_vectors(&self) -> usize {
        self.item_columns / self.tile.vector
    }

    /// Defines the address of the vector `i` of a row of the group's part: `P` is a row, `Q` is 1 for imaginary parts.
    fn define(&self, text: &mut String) {
        let Self { name, columns, item_columns, parts, .. } = *self;
        let vector = self.tile.vector;
        let block = match self.tile.layout {
            PackedLayout::RowMajor => format!("{name}_width"),
            PackedLayout::GroupBlocks => format!("{}", columns / vector),
            PackedLayout::ItemBlocks => format!("{}", item_columns / vector),
        };
        let within = match self.tile.layout {
            PackedLayout::RowMajor | PackedLayout::GroupBlocks => "(I)".to_owned(),
            // The blocks of the group's work-items are one after the other.
            PackedLayout::ItemBlocks => {
                let block = item_columns / vector;
                format!("((I) / {block} * {block} * k * {parts} + (I) % {block})")
            }
        };
        line!(text, "#define {name}_ROW ({block} * {parts})");
        line!(text, "#define {name}_AT(P, Q, I) ((P) * {name}_ROW + (Q) * ({block}) + {within})");
        let shared = columns / vector;
        line!(text, "#define {name}_LOCAL(P, Q, I) (((P) * {parts} + (Q)) * {shared} + (I))");
    }

    /// Declares local memory.
    fn declare(&self, text: &mut String) {
        let name = self.name;
        if self.tile.is_local {
            let vectors = self.columns / self.tile.vector * self.k_wg * self.parts * self.buffers();
            line!(text, "__local vec_{name} {name}_part[{vectors}];");
        }
    }

    /// Declares what a work-item needs to read its part of the factor.
    fn begin(&self, text: &mut String) {
        let Self { name, block, parts, .. } = *self;
        let (vector, first) = (self.tile.vector, if name == 'a' { "i_first" } else { "j_first" });
        let length = if name == 'a' { "m" } else { "n" };
        let from = match self.tile.layout {
            PackedLayout::RowMajor => {
                line!(
                    text,
                    "const long {name}_width = ((long){length} + {block} - 1) / {block} * ({block} / {vector});"
                );
                format!("({name}_at * {parts} + {first})")
            }
            _ => format!("({name}_at + (ulong){first} * k) * {parts}"),
        };
        line!(text, "__global const vec_{name} *{name}_from = (__global const vec_{name} *)(heap + {from});");
        if self.tile.is_local {
            let dim = self.tile.dim;
            line!(text, "const int {name}_x = item % {dim}, {name}_y = item / {dim};");
            if self.is_read_ahead() {
                let names: Vec<String> = self.reads().map(|(t, s, q, _, _)| format!("{name}f{t}_{s}_{q}")).collect();
                line!(text, "vec_{name} {};", names.join(", "));
            }
        }
    }

    fn is_read_ahead(&self) -> bool {
        self.tile.is_local && self.buffering != Buffering::None
    }

    fn buffers(&self) -> usize {
        if self.buffering == Buffering::Double { 2 } else { 1 }
    }

    /// Returns the reads of a work-item: their numbers in both directions, the part, the row and the vector.
    fn reads(&self) -> impl Iterator<Item = (usize, usize, usize, usize, usize)> + use<> {
        let (dim, rows, parts) = (self.tile.dim, self.items / self.tile.dim, self.parts);
        let (down, across) = (self.k_wg / rows, self.columns / self.tile.vector / dim);
        let each = (0..down).flat_map(move |t| (0..across).map(move |s| (t, s)));
        each.flat_map(move |(t, s)| (0..parts).map(move |q| (t, s, q, t * rows, s * dim)))
    }

    /// Reads the group's next part, into registers or directly into local memory.
    fn fetch(&self, text: &mut String) {
        if !self.tile.is_local {
            return;
        }
        let name = self.name;
        for (t, s, q, row, at) in self.reads() {
            let from = format!("{name}_from[{name}_AT({name}_y + {row}, {q}, {name}_x + {at})]");
            if self.is_read_ahead() {
                line!(text, "{name}f{t}_{s}_{q} = {from};");
            } else {
                line!(text, "{name}_part[{name}_LOCAL({name}_y + {row}, {q}, {name}_x + {at})] = {from};");
            }
        }
        line!(text, "{name}_from += K_WG * {name}_ROW;");
    }

    /// Writes what was read ahead into local memory.
    fn put(&self, text: &mut String) {
        let name = self.name;
        for (t, s, q, row, at) in self.reads().filter(|_| self.is_read_ahead()) {
            let to = format!("{name}_LOCAL({name}_y + {row}, {q}, {name}_x + {at})");
            let offset = self.in_buffer();
            line!(text, "{name}_part[{offset}{to}] = {name}f{t}_{s}_{q};");
        }
    }

    /// Returns the first vector of the buffer in use, as a term of a sum.
    fn in_buffer(&self) -> String {
        let vectors = self.columns / self.tile.vector * self.k_wg * self.parts;
        if self.buffers() == 2 { format!("now * {vectors} + ") } else { String::new() }
    }

    /// Returns the vector's index in a row, of the work-item's vector r.
    fn place(&self, r: usize) -> String {
        let Self { item, dim, .. } = *self;
        match self.tile.is_strided {
            true => format!("({item} + {})", r * dim),
            false => format!("({item} * {} + {r})", self.item_vectors()),
        }
    }

    /// Returns the work-item's vector r of row `p` + `u`.
    fn vector(&self, u: usize, part: usize, r: usize) -> String {
        let (name, place) = (self.name, self.place(r));
        match self.tile.is_local {
            true => format!("{name}_part[{}{name}_LOCAL(p + {u}, {part}, {place})]", self.in_buffer()),
            false => format!("{name}_from[{name}_AT(p + {u}, {part}, {place})]"),
        }
    }

    /// Continues with the next part, if the work-items read the factor where it is.
    fn advance(&self, text: &mut String) {
        let name = self.name;
        if !self.tile.is_local {
            line!(text, "{name}_from += K_WG * {name}_ROW;");
        }
    }
}

/// Generates the loop over the inner dimension.
fn steps(text: &mut String, tile: &GroupTile, factors: [&GroupFactor; 2], registers: &RegisterTile) {
    let is_shared = factors.iter().any(|factor| factor.tile.is_local);
    let barrier = if is_shared { "barrier(CLK_LOCAL_MEM_FENCE);\n" } else { "" };
    let fetch = |text: &mut String| factors.iter().for_each(|factor| factor.fetch(text));
    let multiply = |text: &mut String| {
        multiply(text, tile.k_wi, factors, registers);
        factors.iter().for_each(|factor| factor.advance(text));
    };
    let begin = "for (int k_first = 0; k_first < k; k_first += K_WG) {\n";
    let if_more = "if (k_first + K_WG < k) {\n";
    match tile.buffering {
        Buffering::None => {
            text.push_str(begin);
            fetch(text);
            text.push_str(barrier);
            multiply(text);
            text.push_str(barrier);
        }
        Buffering::Registers | Buffering::Double => {
            let is_double = tile.buffering == Buffering::Double;
            text.push_str(if is_double { "int now = 0;\n" } else { "" });
            fetch(text);
            text.push_str(begin);
            factors.iter().for_each(|factor| factor.put(text));
            text.extend([barrier, if_more]);
            fetch(text);
            text.push_str("}\n");
            multiply(text);
            // The second buffer was last read before the barrier of this step.
            text.push_str(if is_double { "now = 1 - now;\n" } else { barrier });
        }
    }
    text.push_str("}\n");
}

/// Generates the products of one part of the factors.
fn multiply(text: &mut String, k_wi: usize, [a, b]: [&GroupFactor; 2], registers: &RegisterTile) {
    text.push_str("for (int p = 0; p < K_WG; p += K_WI) {\n");
    for u in 0..k_wi {
        text.push_str("{\n");
        for (part, name) in [(0, 'u'), (1, 'v')].into_iter().take(b.parts) {
            for r in 0..b.item_vectors() {
                line!(text, "const vec_b {name}{r} = {};", b.vector(u, part, r));
            }
        }
        let of_b = |part: usize, column: usize| {
            let (name, vector) = (if part == 0 { 'u' } else { 'v' }, b.tile.vector);
            let (r, lane) = (column / vector, column % vector);
            if vector == 1 { format!("{name}{r}") } else { format!("{name}{r}.s{lane:x}") }
        };
        registers.step(text, |part, r| a.vector(u, part, r), of_b);
        text.push_str("}\n");
    }
    text.push_str("}\n");
}

/// Generates the update of C: by vectors if all elements of the group's tile are stored, and else by elements.
fn store(text: &mut String, [a, b]: [&GroupFactor; 2], registers: &RegisterTile) {
    text.push_str(
        "    const int is_whole = i_first + M_WG <= m && j_first + N_WG <= n
        && (part == 0 || (part == 1 ? i_first >= j_first + N_WG : j_first >= i_first + M_WG));
    __global elem *c = (__global elem *)heap + c_at;
",
    );
    for column in 0..registers.columns {
        let vector = b.tile.vector;
        let place = b.place(column / vector);
        line!(text, "{{ const int j = j_first + {place} * {vector} + {};", column % vector);
        line!(text, "__global elem *its = c + (ulong)j * ld;");
        for r in 0..registers.vectors {
            let (x, y) = (format!("x{r}_{column}"), format!("y{r}_{column}"));
            let sums = if registers.is_complex { format!("{x}, {y}") } else { x.clone() };
            // The imaginary parts of real types are not read.
            let imaginary = if registers.is_complex { &y } else { &x };
            line!(
                text,
                "{{ const int i = i_first + {} * V;
                if (is_whole) update_vec((__global real *)(its + i), {sums}, alpha, beta);
                else update_some(its, {x}, {imaginary}, i, j, m, n, part, is_hermitian, alpha, beta); }}",
                a.place(r)
            );
        }
        text.push_str("}\n");
    }
}
