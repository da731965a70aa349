//! The suite of `tests/vectors` with every instruction set that this processor has: from outside of the crate only the
//! best one is seen.

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
#[path = "../../tests/vectors/ranges.rs"]
mod ranges;
#[path = "../../tests/vectors/symmetric.rs"]
mod symmetric;
#[path = "../../tests/vectors/triangular.rs"]
mod triangular;
#[path = "../../tests/vectors/updates.rs"]
mod updates;

use super::instruction_sets::operands;
use crate::simd::{InstructionSet, LIMIT, best};
use crate::{Scalar, c32};

/// All loops with one instruction set, if the processor has it.
fn with<T: Scalar>(set: InstructionSet) {
    LIMIT.set(Some(set));
    if best() != set {
        return;
    }
    suite::<T>();
}

/// All tests that depend on the instructions.
fn suite<T: Scalar>() {
    let level1 = [
        level1::swap::<T>,
        level1::scal::<T>,
        level1::copy::<T>,
        level1::axpy::<T>,
        level1::axpby::<T>,
        level1::dot::<T>,
        level1::asum::<T>,
        level1::iamax::<T>,
        level1::iamax_nan::<T>,
        level1::rot::<T>,
        level1::rotm::<T>,
        ranges::norms::<T>,
        ranges::norms_of_special_numbers::<T>,
        ranges::rotations_at_all_scales::<T>,
    ];
    let level2 = [
        general::gemv::<T>,
        general::gbmv::<T>,
        general::ger::<T>,
        general::nan_is_not_hidden::<T>,
        blocks::wide_matrices::<T>,
        symmetric::products::<T>,
        symmetric::infinities::<T>,
        triangular::products::<T>,
        triangular::solves::<T>,
        updates::rank_one::<T>,
        updates::rank_two::<T>,
    ];
    level1.into_iter().chain(level2).for_each(|test: fn()| test());
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
