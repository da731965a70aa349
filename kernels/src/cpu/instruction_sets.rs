//! The conformance suite with every instruction set that this processor has, and with small blocks: from outside of the crate only the best
//! set is seen, and operands of more than one block in every direction take the textbook loops too long.
//!
//! The suite is that of `tests/conformance`, whose files are modules here, too.

#[path = "../../tests/conformance/image.rs"]
mod image;
#[path = "../../tests/conformance/large.rs"]
mod large;
#[macro_use]
#[path = "../../tests/conformance/list.rs"]
mod list;
#[path = "../../tests/conformance/moves.rs"]
mod moves;
#[allow(dead_code)] // Each user has its own part.
#[path = "../../tests/operands/mod.rs"]
pub(super) mod operands;
#[path = "../../tests/conformance/oracle.rs"]
mod oracle;
#[path = "../../tests/conformance/panels.rs"]
mod panels;
#[path = "../../tests/conformance/products.rs"]
mod products;
#[allow(dead_code)] // No device is run here.
#[path = "../../tests/conformance/runner.rs"]
mod runner;
#[path = "../../tests/conformance/scales.rs"]
mod scales;
#[path = "../../tests/conformance/suite.rs"]
mod suite;
#[path = "../../tests/conformance/triangles.rs"]
mod triangles;

use super::packed::BLOCK_MAX;
use crate::simd::{InstructionSet, LIMIT, best};
use crate::{Op, Scalar, Side, Uplo};
use image::Image;
use operands::Numbers;
use runner::{OnHost, Runner};
use suite::{Nearness, Suite};

const OPS: [Op; 3] = [Op::None, Op::Trans, Op::ConjTrans];
const UPLOS: [Uplo; 2] = [Uplo::Lower, Uplo::Upper];
const SIDES: [Side; 2] = [Side::Left, Side::Right];

/// Rows, columns and depth of blocks: the widest register tile, three vectors of sixteen. Half of the suite's shapes have several of them.
const BLOCK: usize = 48;

/// The host's kernels with one instruction set, if the processor has it, and small blocks, on this thread.
fn with<T: Scalar>(set: InstructionSet) -> Option<Box<dyn Runner<T>>> {
    LIMIT.set(Some(set));
    BLOCK_MAX.set(BLOCK);
    (best() == set).then(|| Box::new(OnHost) as Box<dyn Runner<T>>)
}

fn portable<T: Scalar>() -> Option<Box<dyn Runner<T>>> {
    with(InstructionSet::Portable)
}

#[cfg(target_arch = "x86_64")]
fn avx2<T: Scalar>() -> Option<Box<dyn Runner<T>>> {
    with(InstructionSet::Avx2)
}

#[cfg(target_arch = "x86_64")]
fn avx512<T: Scalar>() -> Option<Box<dyn Runner<T>>> {
    with(InstructionSet::Avx512)
}

/// The suite with one instruction set. Two types have lanes of both widths, and real and complex kernels; all four would take as long to
/// build as the suite of `tests/conformance`, which has them.
macro_rules! set {
    ($set:ident) => {
        mod $set {
            instantiate!(@ $set d: f64);
            instantiate!(@ $set c: superscalar_kernels::c32);
        }
    };
}

set!(portable);
#[cfg(target_arch = "x86_64")]
set!(avx2);
#[cfg(target_arch = "x86_64")]
set!(avx512);
