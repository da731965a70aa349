//! The kernels for OpenCL against the reference: four types, every option, ragged shapes, odd offsets and leading
//! dimensions, with the parameters of every class of devices, on the first device there is. Without one the tests say
//! that they are skipped; `REQUIRE_OPENCL=1` makes that a failure.
//!
//! The parameters of the device's own class are tested by `conformance`, and here with FULL=1 only.

mod factorizations;
#[allow(dead_code)] // The benchmark uses the rest.
mod heap;
mod image;
mod movements;
mod products;
mod triangles;

use heap::Heap;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};
use superscalar_kernels::{
    Diag, Op, Scalar, Side, Uplo, c32, c64,
    opencl::{Class, Parameters},
};
use superscalar_oracle::is_full;

const OPS: [Op; 3] = [Op::None, Op::Trans, Op::ConjTrans];
const UPLOS: [Uplo; 2] = [Uplo::Lower, Uplo::Upper];
const SIDES: [Side; 2] = [Side::Left, Side::Right];
const DIAGS: [Diag; 2] = [Diag::NonUnit, Diag::Unit];

type OpenHeap = Option<Mutex<Heap>>;

/// The device, with one of two heaps, each for one test at a time: the reference of one test runs while the device
/// works for the other.
fn device() -> Option<MutexGuard<'static, Heap>> {
    static HEAPS: [OnceLock<OpenHeap>; 2] = [const { OnceLock::new() }; 2];
    let opened = |heap: &'static OnceLock<OpenHeap>| {
        let heap = heap.get_or_init(|| Heap::open(64 << 20).map(Mutex::new)).as_ref();
        if heap.is_none() {
            eprintln!("SKIPPED: there is no OpenCL device");
        }
        heap
    };
    for heap in &HEAPS {
        // A test that failed has left nothing in it that another one reads.
        match opened(heap)?.try_lock() {
            Ok(heap) => return Some(heap),
            Err(TryLockError::Poisoned(heap)) => return Some(heap.into_inner()),
            Err(TryLockError::WouldBlock) => {}
        }
    }
    opened(&HEAPS[0]).map(|heap| heap.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Every class of devices.
fn every_class(_: &Heap) -> Vec<Class> {
    Class::ALL.to_vec()
}

/// The classes that the device is not in, or, with FULL=1, every one.
fn other_classes(heap: &Heap) -> Vec<Class> {
    Class::ALL.into_iter().filter(|&class| is_full() || class != heap.class()).collect()
}

/// Runs a generic test with the parameters of the classes that a function names, for the four types.
macro_rules! four_types {
    ($($name:ident)*) => { four_types! { other_classes => $($name)* } };
    ($classes:ident => $($name:ident)*) => {$(
        mod $name {
            use crate::{Parameters, Scalar, c32, c64, device};
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
                for class in crate::$classes(&heap) {
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
