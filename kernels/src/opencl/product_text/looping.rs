//! The kernel in which one work-item computes a block, for CPUs.

use super::{RegisterTile, SIGNATURE, define, line};
use crate::opencl::{Element, LoopingTile};
use std::fmt::Write;

/// Generates the kernel in which one work-item loops over a block's register tiles. The loop over columns is outside,
/// so that a panel of B stays in the first-level cache while the panels of A are read from the second-level cache.
pub(super) fn kernel(text: &mut String, tile: &LoopingTile, element: Element) {
    let &LoopingTile { m_wg, n_wg, k_wg, m_wi, n_wi, vector } = tile;
    define(text, [("M_WG", m_wg), ("N_WG", n_wg), ("K_WG", k_wg), ("M_WI", m_wi), ("N_WI", n_wi)]);
    let registers = RegisterTile { vectors: m_wi / vector, columns: n_wi, is_complex: element.is_complex };
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
    registers.zero(text);
    let offset = |base: &str, v: usize| format!("VLOAD({base} + {})", v * vector);
    text.push_str("for (int p = 0; p < steps; ++p) {\n");
    registers.step(
        text,
        |part, r| offset("a", part * registers.vectors + r),
        |part, c| format!("b[{}]", part * n_wi + c),
    );
    text.push_str(
        "            a += M_WI * PARTS;
            b += N_WI * PARTS;
        }
        const int whole = i + M_WI <= m && j + N_WI <= n;
        if (whole && (part == 0 || (part == 1 ? i >= j + N_WI : j >= i + M_WI))) {
",
    );
    for c in 0..registers.columns {
        for r in 0..registers.vectors {
            let sums = if registers.is_complex { format!("x{r}_{c}, y{r}_{c}") } else { format!("x{r}_{c}") };
            line!(text, "update_vec(c + {} * PARTS, {sums}, alpha, by);", r * vector);
        }
        line!(text, "c += ld * PARTS;");
    }
    // At an edge or on the diagonal, elements are stored one by one.
    line!(text, "}} else {{\nreal t[PARTS * M_WI * N_WI];");
    for (part, name) in registers.parts() {
        for c in 0..registers.columns {
            for r in 0..registers.vectors {
                line!(text, "VSTORE({name}{r}_{c}, t + {} * M_WI + {});", part * registers.columns + c, r * vector);
            }
        }
    }
    let sum = if registers.is_complex { "make(t[at], t[N_WI * M_WI + at])" } else { "t[at]" };
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
