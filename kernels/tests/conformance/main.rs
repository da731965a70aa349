//! Conformance: one suite over the variants and options of a device's [`Call`], run on every backend and element type.
//!
//! Operands lie in an image of a heap, at odd offsets and with gaps between their columns. A backend gets the image and the call,
//! and gives the image back; where the call writes, it is compared with the textbook loops of `reference`, exactly where integers
//! make the operation exact, and everywhere else byte for byte with what was there. What a call must not read is NaN.
//!
//! A backend is added by a line in `instantiate`; a driver by a function that makes its device.
//!
//! [`Call`]: superscalar_kernels::device::Call

#[cfg(feature = "cuda")]
mod cuda_device;
mod image;
mod large;
mod moves;
#[cfg(feature = "opencl")]
mod opencl_device;
#[allow(dead_code)] // Each test file uses its own part.
#[path = "../operands/mod.rs"]
mod operands;
mod oracle;
mod panels;
mod products;
#[cfg(feature = "cuda")]
mod reach;
mod runner;
mod scales;
mod sensitivity;
mod suite;
mod triangles;

use image::Image;
use operands::Numbers;
use runner::{OnDevice, OnHost, Runner};
use suite::{Nearness, Suite};
use superscalar_devices::sim::{Machine, Spec};
use superscalar_kernels::{Op, Scalar, Side, Uplo, c32, c64};

const OPS: [Op; 3] = [Op::None, Op::Trans, Op::ConjTrans];
const UPLOS: [Uplo; 2] = [Uplo::Lower, Uplo::Upper];
const SIDES: [Side; 2] = [Side::Left, Side::Right];

/// The host's kernels.
fn cpu<T: Scalar>() -> Option<Box<dyn Runner<T>>> {
    Some(Box::new(OnHost))
}

/// A simulated device without modelled time.
fn sim<T: Scalar>() -> Option<Box<dyn Runner<T>>> {
    let mut devices = Machine::start(&[Spec::new("sim")]).expect("a simulated device");
    Some(Box::new(OnDevice::new(devices.remove(0))))
}

#[cfg(feature = "cuda")]
use cuda_device::{runner as cuda, runner_without_clusters as cuda_without_clusters};
#[cfg(feature = "opencl")]
use opencl_device::runner as opencl;

/// The suite on one backend, if this machine has it, for one type.
macro_rules! tests {
    ($backend:ident $t:ty: $($seed:literal $file:ident::$test:ident)*) => {$(
        #[test]
        fn $test() {
            match crate::$backend::<$t>() {
                Some(mut runner) => crate::$file::$test(&mut crate::Suite::<$t>::new($seed, &mut *runner)),
                None => eprintln!("skipped: no device for {}", stringify!($backend)),
            }
        }
    )*};
}

/// The panels alone, on one backend, for one type.
macro_rules! panels {
    ($backend:ident $t:ty) => {
        tests! {
            $backend $t:
            25 panels::getrf 26 panels::getrf_special 27 panels::geqrf 28 panels::geqrf_special 29 panels::tall
        }
    };
}

/// The suite on a backend.
macro_rules! instantiate {
    ($($(#[$feature:meta])? $backend:ident)*) => {$(
        $(#[$feature])?
        mod $backend {
            instantiate!(@ $backend s: f32);
            instantiate!(@ $backend d: f64);
            instantiate!(@ $backend c: crate::c32);
            instantiate!(@ $backend z: crate::c64);
        }
    )*};
    (@ $backend:ident $letter:ident: $t:ty) => {
        mod $letter {
            tests! {
                $backend $t:
                1 products::gemm 2 products::gemm_factors 3 products::gemm_propagates 4 products::symm
                5 products::rank_k 6 products::rank_2k
                7 triangles::trmm 8 triangles::trmm_propagates 9 triangles::trsm 10 triangles::trsm_propagates
                11 triangles::potrf 12 triangles::potrf_fails 30 triangles::potrf_of_trapezoids
                31 triangles::potrf_of_extremes
                13 moves::laswp 14 moves::larfb 15 moves::larfb_in_blocks 16 moves::copy 17 moves::scale 18 moves::refusals
                19 large::gemmt_in_blocks 20 large::trmm_in_blocks 21 large::potrf_in_blocks 22 large::laswp_in_chunks
                23 large::copy_beyond_a_grid 24 large::products_of_some_depth 32 large::potrf_with_much_beside
                33 scales::trsm_of_scales 34 scales::potrf_of_scales 35 scales::panels_of_scales
                36 scales::pivots_at_the_end_of_the_range
            }
            panels! { $backend $t }
        }
    };
}

instantiate! {
    cpu
    sim
    #[cfg(feature = "cuda")] cuda
    #[cfg(feature = "opencl")] opencl
}

/// Only panels are launched in clusters.
#[cfg(feature = "cuda")]
mod cuda_without_clusters {
    mod s {
        panels! { cuda_without_clusters f32 }
    }
    mod d {
        panels! { cuda_without_clusters f64 }
    }
    mod c {
        panels! { cuda_without_clusters crate::c32 }
    }
    mod z {
        panels! { cuda_without_clusters crate::c64 }
    }
}

/// What `tests/gpu_sanitize.sh` runs.
#[cfg(feature = "cuda")]
mod every_kernel {
    macro_rules! reach {
        ($($letter:ident: $t:ty, $old:ident)*) => {$(
            mod $letter {
                tests! {
                    cuda $t:
                    33 reach::elements 34 reach::triangular 35 reach::potrf_of_few_warps 36 reach::potrf_of_many_warps
                    37 reach::panels 38 reach::tall_panels
                }
            }
            mod $old {
                tests! { cuda_without_clusters $t: 39 reach::panels 40 reach::tall_panels }
            }
        )*};
    }
    reach! {
        s: f32, s_without_clusters d: f64, d_without_clusters
        c: crate::c32, c_without_clusters z: crate::c64, z_without_clusters
    }
}
