//! The kernels for OpenCL against the reference: four types, every option, ragged shapes, odd offsets and leading dimensions, with the
//! parameters of every class of devices, on the first device there is. Without one the tests say that they are skipped;
//! `REQUIRE_OPENCL=1` makes that a failure.

mod factorizations;
#[allow(dead_code)] // The benchmark uses the rest.
mod heap;
mod image;
mod movements;
mod products;
mod triangles;

use heap::Heap;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use superscalar_kernels::{
    Diag, Op, Scalar, Side, Uplo, c32, c64,
    opencl::{Class, Parameters},
};

const OPS: [Op; 3] = [Op::None, Op::Trans, Op::ConjTrans];
const UPLOS: [Uplo; 2] = [Uplo::Lower, Uplo::Upper];
const SIDES: [Side; 2] = [Side::Left, Side::Right];
const DIAGS: [Diag; 2] = [Diag::NonUnit, Diag::Unit];

/// The device, for one test at a time.
fn device() -> Option<MutexGuard<'static, Heap>> {
    static HEAP: OnceLock<Option<Mutex<Heap>>> = OnceLock::new();
    let heap = HEAP.get_or_init(|| Heap::open(64 << 20).map(Mutex::new)).as_ref();
    if heap.is_none() {
        eprintln!("SKIPPED: there is no OpenCL device");
    }
    // A test that failed has left nothing in it that another one reads.
    heap.map(|heap| heap.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Runs a generic test with the parameters of every class, for the four types.
macro_rules! four_types {
    ($($name:ident)*) => {$(
        mod $name {
            use crate::{Class, Parameters, Scalar, c32, c64, device};
            #[test]
            fn s() { each::<f32>(); }
            #[test]
            fn d() { each::<f64>(); }
            #[test]
            fn c() { each::<c32>(); }
            #[test]
            fn z() { each::<c64>(); }
            fn each<T: Scalar>() {
                let Some(heap) = device() else { return };
                for class in Class::ALL {
                    super::$name::<T>(&heap, &Parameters::of(class, T::LETTER));
                }
            }
        }
    )*};
}
use four_types;

/// Scalars: zero, ones, a real number, and one with both parts.
fn scalars<T: Scalar>() -> [(T, T); 5] {
    let both = T::from_parts(T::Real::from_f64(1.0), T::Real::from_f64(-2.0));
    let real = T::from_f64;
    [(real(1.0), real(0.0)), (real(-1.0), real(1.0)), (both, real(-3.0)), (real(2.0), both), (real(0.0), real(2.0))]
}
