//! The Level-1 and Level-2 BLAS against textbook loops, in four types.
//!
//! Operands are small integers inside arrays of NaN, so results are exact, and an element that is read without being
//! one, or written, shows. Whole arrays are compared. The suite runs with every instruction set that the
//! processor has.

mod blocks;
mod general;
mod held;
mod level1;
mod line;
mod ranges;
mod rotations;
#[path = "../sets/mod.rs"]
mod sets;
#[macro_use]
mod suite;
mod symmetric;
mod triangular;
mod updates;

each_test!(s: f32);
each_test!(d: f64);
each_test!(c: superscalar_kernels::c32);
each_test!(z: superscalar_kernels::c64);

/// Two types have lanes of both widths, and real and complex loops.
#[test]
fn every_instruction_set() {
    sets::run_with_each(&["d::", "c::"]);
}
