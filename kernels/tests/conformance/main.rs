//! Conformance: one suite over the variants and options of a device's [`Call`], run on every backend and element type.
//!
//! Operands are in an image of a heap, at odd offsets and with gaps between their columns. A backend receives the image
//! and the call, and returns the changed image. The elements that the call writes are compared with the textbook loops
//! of `reference`, exactly if integers make the operation exact. All other bytes must be unchanged. Elements that a
//! call must not read are NaN.
//!
//! A new backend is a line in `instantiate`; a new driver is a function that makes its device. The host's kernels are
//! tested with every instruction set that the processor has.
//!
//! [`Call`]: superscalar_kernels::device::Call

mod batch;
mod batch_case;
mod bidiagonal;
#[cfg(feature = "cuda")]
mod cuda_device;
mod half;
mod image;
mod large;
#[macro_use]
mod list;
mod moves;
#[cfg(feature = "opencl")]
mod opencl_device;
mod oracle;
mod panels;
mod products;
#[cfg(feature = "cuda")]
mod reach;
mod runner;
mod scales;
mod sensitivity;
#[path = "../sets/mod.rs"]
mod sets;
mod suite;
mod triangles;

use image::Image;
use runner::{OnDevice, OnHost, Runner};
use suite::Suite;
use superscalar_devices::sim::{Machine, Spec};
use superscalar_kernels::{MatMut, Op, Scalar, Side, Uplo};
use superscalar_oracle::{Nearness, Random};

const OPS: [Op; 3] = [Op::None, Op::Trans, Op::ConjTrans];
const UPLOS: [Uplo; 2] = [Uplo::Lower, Uplo::Upper];
const SIDES: [Side; 2] = [Side::Left, Side::Right];

/// Makes a runner for the host's kernels.
fn cpu<T: Scalar>() -> Option<Box<dyn Runner<T>>> {
    Some(Box::new(OnHost))
}

/// Makes a simulated device without modelled time.
fn sim<T: Scalar>() -> Option<Box<dyn Runner<T>>> {
    Some(Box::new(simulated()))
}

fn simulated() -> OnDevice {
    let mut devices = Machine::start(&[Spec::new("sim")]).expect("a simulated device");
    OnDevice::new(devices.remove(0))
}

#[cfg(feature = "cuda")]
use cuda_device::{runner as cuda, runner_without_clusters as cuda_without_clusters};
#[cfg(feature = "opencl")]
use opencl_device::runner as opencl;

instantiate! {
    cpu
    #[cfg(feature = "cuda")] cuda
    #[cfg(feature = "opencl")] opencl
}

/// The kernels that are generated for each class of devices, on any device. They differ in the sizes of blocks only.
/// The device's own class is tested above, in all types.
#[cfg(feature = "opencl")]
mod opencl_classes {
    use super::{
        Suite, batch, bidiagonal, large, moves,
        opencl_device::{gpu, narrow, wide},
        panels, products, scales, triangles,
    };

    mod gpu {
        mod d {
            kernels! { gpu f64 }
            panels! { gpu f64 }
        }
        mod c {
            kernels! { gpu superscalar_kernels::c32, full }
            panels! { gpu superscalar_kernels::c32, full }
            // The tests of one type with groups of 64 work-items take half a minute.
            batches! { gpu superscalar_kernels::c32 }
        }
        mod s {
            panels! { gpu f32, full }
            // Work-items have several rows of a Cholesky block in this type.
            tests! {
                gpu f32:
                11 triangles::potrf 12 triangles::potrf_fails 31 triangles::potrf_of_extremes
                41 triangles::potrf_of_far_pivots 22 large::laswp_in_chunks 33 scales::trsm_of_scales
                34 scales::potrf_of_scales
            }
        }
        mod z {
            panels! { gpu superscalar_kernels::c64, full }
        }
    }
    mod wide {
        mod z {
            kernels! { wide superscalar_kernels::c64 }
        }
    }
    mod narrow {
        mod s {
            kernels! { narrow f32 }
        }
    }
}

/// The host's kernels again, behind a driver.
mod sim {
    mod d {
        suite! { sim f64 }
    }
    mod c {
        suite! { sim superscalar_kernels::c32 }
    }
}

/// The two types cover lanes of both widths, and real and complex kernels.
#[test]
fn every_instruction_set() {
    sets::run_with_each(&["cpu::d::", "cpu::c::", "pivots_of_long_columns"]);
}

/// Checks columns with two equal largest elements. With small blocks, few of a column's vectors are counted at once.
fn check_first_of_the_largest<T: Scalar>() {
    for (m, apart, step) in [(1, 1, 1), (16, 1, 1), (97, 40, 1), (2500, 7, 41), (2500, 1300, 37)] {
        for at in (0..m).step_by(step) {
            let is_largest = |i: usize| i == at || i == at + apart;
            let mut a: Vec<T> = (0..m).map(|i| T::from_f64(if is_largest(i) { -4.0 } else { 2.0 })).collect();
            let mut ipiv = [0];
            let column = MatMut::from_col_major(&mut a, m, 1, m).expect("a column");
            superscalar_kernels::cpu::getrf(column, &mut ipiv).expect("no zeros");
            assert_eq!(ipiv[0] as usize, at + 1, "{} of {m}", T::LETTER);
        }
    }
}

#[test]
fn pivots_of_long_columns() {
    check_first_of_the_largest::<f32>();
    check_first_of_the_largest::<f64>();
    check_first_of_the_largest::<superscalar_kernels::c32>();
    check_first_of_the_largest::<superscalar_kernels::c64>();
}

/// Only panels use clusters.
#[cfg(feature = "cuda")]
mod cuda_without_clusters {
    each_type! { panels cuda_without_clusters }
}

/// The tests that `tests/gpu_sanitize.sh` runs.
#[cfg(feature = "cuda")]
mod every_kernel {
    macro_rules! reach {
        ($($letter:ident: $t:ty, $old:ident)*) => {$(
            mod $letter {
                tests! {
                    cuda $t:
                    33 reach::elements 34 reach::triangular 35 reach::potrf_of_few_warps 36 reach::potrf_of_many_warps
                    37 reach::panels 38 reach::tall_panels 58 reach::batched_factors
                }
            }
            mod $old {
                tests! { cuda_without_clusters $t: 39 reach::panels 40 reach::tall_panels }
            }
        )*};
    }
    reach! {
        s: f32, s_without_clusters d: f64, d_without_clusters
        c: superscalar_kernels::c32, c_without_clusters z: superscalar_kernels::c64, z_without_clusters
    }
}
