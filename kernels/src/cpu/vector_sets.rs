//! The suite of `tests/vectors` with every instruction set that this processor has: from outside of the crate only the best one is seen.

#[path = "../../tests/vectors/blocks.rs"]
mod blocks;
#[path = "../../tests/vectors/general.rs"]
mod general;
#[path = "../../tests/vectors/held.rs"]
mod held;
#[path = "../../tests/vectors/level1.rs"]
mod level1;
#[path = "../../tests/vectors/line.rs"]
mod line;
#[allow(dead_code)] // Matrices of those tests are of another kind.
#[path = "../../tests/operands/mod.rs"]
mod operands;
#[path = "../../tests/vectors/ranges.rs"]
mod ranges;
#[path = "../../tests/vectors/symmetric.rs"]
mod symmetric;
#[path = "../../tests/vectors/triangular.rs"]
mod triangular;
#[path = "../../tests/vectors/updates.rs"]
mod updates;

use crate::simd::{InstructionSet, LIMIT, best};
use crate::{Scalar, c32};

/// All loops with one instruction set, if the processor has it.
fn with<T: Scalar>(set: InstructionSet) {
    LIMIT.set(Some(set));
    if best() != set {
        return;
    }
    level1::swap::<T>();
    level1::scal::<T>();
    level1::axpy::<T>();
    level1::dot::<T>();
    level1::asum::<T>();
    level1::iamax::<T>();
    level1::iamax_nan::<T>();
    level1::rot::<T>();
    ranges::norms::<T>();
    general::gemv::<T>();
    general::ger::<T>();
    blocks::wide_matrices::<T>();
    symmetric::products::<T>();
    symmetric::infinities::<T>();
    triangular::solves::<T>();
    updates::rank_two::<T>();
}

/// Two types have lanes of both widths, and real and complex loops.
fn types(set: InstructionSet) {
    with::<f64>(set);
    with::<c32>(set);
}

#[test]
fn portable() {
    types(InstructionSet::Portable);
}

#[cfg(target_arch = "x86_64")]
#[test]
fn avx2() {
    types(InstructionSet::Avx2);
}

#[cfg(target_arch = "x86_64")]
#[test]
fn avx512() {
    types(InstructionSet::Avx512);
}
