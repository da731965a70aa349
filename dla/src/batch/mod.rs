//! Many small problems at once: products, solves and factorizations of every matrix of a batch.
//!
//! A routine of this module does the same as the routine of its name at the root of this crate, for each problem of a
//! batch. A batch is a [`BatchRef`](crate::BatchRef) or [`BatchMut`](crate::BatchMut): matrices at constant distances
//! in one slice, or any matrices, each with its own shape. A vector is a matrix of one column. The results of each
//! problem are those of the single routine up to rounding, and its `info` is in [`Outcomes`]: one bad matrix changes
//! no other problem.
//!
//! The batch is cut into chunks ([`Chunks`]), each a task of the runtime. [`Options::nb`](crate::Options::nb) sets the
//! number of problems in a chunk. Within a chunk, matrices of equal shape and small order are computed together, one
//! in each lane of the vector registers. (Source: Dong, Haidar, Luszczek, Tomov, Abdelfattah, Dongarra, "MAGMA Batched:
//! A Batched BLAS Approach for Small Matrix Factorizations and Applications on GPUs", 2016.)
//!
//! Devices of every kind share the chunks with the host, if the matrices are in one slice and have at most 512 rows and
//! columns. A blocking routine uses devices only if that is expected to be faster in spite of the copies, or if the
//! size of the chunks is set. A gels with wide matrices and gathered batches stay on the host. A [`DeviceBatch`]
//! keeps its chunks on devices.
//!
//! The functions of [`spawn`] insert the tasks and return. What one routine writes and another one reads is ordered
//! chunk by chunk. Tasks of your own take part through [`Chunked::handle`].
//!
//! ```
//! use superscalar::{
//!     Runtime,
//!     dla::{BatchMut, Options, Uplo, batch},
//! };
//!
//! // A thousand systems of order 3.
//! let rt = Runtime::new()?;
//! let mut a: Vec<f64> = (0..9000).map(|at| if at % 9 % 4 == 0 { 4.0 } else { 1.0 }).collect();
//! let mut b = vec![6.0; 3000];
//! let (systems, sides) = (BatchMut::packed(&mut a, (3, 3))?, BatchMut::packed(&mut b, (3, 1))?);
//! let outcomes = batch::posv(&rt, Uplo::Lower, systems, sides, &Options::default())?;
//! assert!(outcomes.are_all_good());
//! assert!(b.iter().all(|x| (x - 1.0).abs() < 1e-15));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod chunks;
mod codelet;
mod device_batch;
mod engine;
mod outcomes;
mod products;
mod reflections;
mod solves;
pub mod spawn;
mod workload;

pub use chunks::{Chunked, ChunkedInfo, Chunks};
pub use device_batch::DeviceBatch;
pub use engine::{run, run_serial};
pub use outcomes::Outcomes;
pub use products::{gemm, gemv, trsm, trsv};
pub use reflections::{gebrd, gels, geqrf, ungqr, unmqr};
pub use solves::{gesv, getrf, getrf_nopiv, getrs, posv, potrf, potrs};

use crate::{Scalar, error::Error, options::Options};
use superscalar_kernels::operations::{BatchOperands, BatchOperation};
use superscalar_macros::each_type;
use superscalar_runtime::Runtime;

/// The routines on batches that are compiled for each element type.
#[each_type]
pub trait Batches:
    engine::HasRun
    + engine::HasRunSerial
    + engine::HasSpawn
    + products::HasGemm
    + products::HasGemv
    + products::HasTrsm
    + products::HasTrsv
    + reflections::HasGeqrf
    + reflections::HasUngqr
    + reflections::HasUnmqr
    + reflections::HasGels
    + reflections::HasGebrd
    + solves::HasPotrf
    + solves::HasPotrs
    + solves::HasPosv
    + solves::HasGetrf
    + solves::HasGetrfNopiv
    + solves::HasGetrs
    + solves::HasGesv
    + spawn::HasGemm
    + spawn::HasGemv
    + spawn::HasTrsm
    + spawn::HasTrsv
    + spawn::HasPotrf
    + spawn::HasPotrs
    + spawn::HasPosv
    + spawn::HasGetrf
    + spawn::HasGetrfNopiv
    + spawn::HasGetrs
    + spawn::HasGesv
    + spawn::HasGeqrf
    + spawn::HasUngqr
    + spawn::HasUnmqr
    + spawn::HasGels
    + spawn::HasGebrd
{
}

/// Runs an operation whose problems may fail.
fn outcomes_of<'a, T: Scalar>(
    rt: &Runtime,
    operation: BatchOperation<T>,
    operands: BatchOperands<'a, T>,
    options: &Options,
) -> Result<Outcomes, Error> {
    let mut info = vec![0; operands.len()];
    // A shorter lifetime, which includes that of `info`.
    let operands: BatchOperands<'_, T> = BatchOperands { info: vec![&mut info], ..operands };
    engine::run(rt, operation, operands, options)?;
    Ok(Outcomes::new(info))
}
