//! The Level-1 and Level-2 BLAS against textbook loops, in four types.
//!
//! Operands are small integers inside arrays of NaN. Results are therefore exact, and a read or write outside an
//! operand shows in the result. Whole arrays are compared. The suite runs with every instruction set that the processor
//! has.

mod blocks;
mod general;
mod level1;
mod ranges;
mod rotations;
#[path = "../sets/mod.rs"]
mod sets;
mod stored_triangle;
mod test_vector;
#[macro_use]
mod suite;
mod symmetric;
mod triangular;
mod updates;

each_test!(s: f32);
each_test!(d: f64);
each_test!(c: superscalar_kernels::c32);
each_test!(z: superscalar_kernels::c64);

/// Two types cover lanes of both widths, and real and complex loops.
#[test]
fn every_instruction_set() {
    sets::run_with_each(&["d::", "c::"]);
}
