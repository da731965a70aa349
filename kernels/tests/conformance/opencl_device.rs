//! The OpenCL device that the suite runs on, with the kernels for it and with those of every class of devices. Tests
//! share it, because programs take long to compile, and one test at a time uses it. With two contexts, so that programs
//! are compiled at the same time, PoCL 3.1 aborts now and then when programs are not in its cache yet: it gives a
//! compiled kernel back that another context uses (`pocl_release_dlhandle_cache`).

use super::{Image, OnDevice, Runner};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use superscalar_devices::opencl::{OpenclDevice, OpenclQueue, Settings, devices, named};
use superscalar_kernels::{
    Direction, Op, Scalar, Side, Symmetry, Uplo,
    device::{Call, Mat},
    opencl::{Class, Parameters, enqueue_with, scratch_bytes, scratch_bytes_with},
    operations::{Geadd, Gemm, Lacpy, Larfb, Laswp, Potrf, RankK, Symm},
};
use superscalar_runtime::DeviceError;

const HEAP_BYTES: usize = 64 << 20;

/// The device, locked by one test at a time.
struct LockedDevice {
    device: MutexGuard<'static, OnDevice>,
    /// The class whose kernels are used; `None` for the device's own class.
    class: Option<Class>,
}

impl<T: Scalar> Runner<T> for LockedDevice {
    fn run(&mut self, call: &Call<T>, image: &mut Image) -> Result<(), DeviceError> {
        let Some(class) = self.class else { return self.device.run(call, image) };
        let row = Parameters::of(class, T::LETTER);
        // Products of the list's smaller and larger shapes, so that some pack their factors.
        let parameters = Parameters { direct_order: row.direct_order.min(20), ..row };
        self.device.run_with(scratch_bytes_with(&parameters, call), image, &mut |context| {
            let scratch = context.scratch();
            enqueue_with(&parameters, context.queue::<OpenclQueue>()?, scratch, call)
        })
    }
}

/// Returns the first device, or `None` if there is none, or it has no arithmetic for the type.
///
/// # Panics
/// If there is no device although `REQUIRE_OPENCL` is 1.
pub fn runner<T: Scalar>() -> Option<Box<dyn Runner<T>>> {
    with_kernels_of(None)
}

pub fn wide<T: Scalar>() -> Option<Box<dyn Runner<T>>> {
    with_kernels_of(Some(Class::WideCpu))
}

pub fn narrow<T: Scalar>() -> Option<Box<dyn Runner<T>>> {
    with_kernels_of(Some(Class::Cpu))
}

pub fn gpu<T: Scalar>() -> Option<Box<dyn Runner<T>>> {
    with_kernels_of(Some(Class::Gpu))
}

fn with_kernels_of<T: Scalar>(class: Option<Class>) -> Option<Box<dyn Runner<T>>> {
    let is_double = size_of::<T::Real>() == size_of::<f64>();
    Some(Box::new(LockedDevice { device: device(is_double)?, class }))
}

/// Returns a device that no other test uses, if there is one, unless double precision is needed and it has none.
pub fn device(is_double: bool) -> Option<MutexGuard<'static, OnDevice>> {
    static DEVICE: OnceLock<Option<(bool, Mutex<OnDevice>)>> = OnceLock::new();
    let (has_f64, device) = DEVICE.get_or_init(open).as_ref()?;
    // A failed test leaves no state that another one reads.
    (*has_f64 || !is_double).then(|| device.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Opens the first device. Returns whether it has double precision, and the device.
fn open() -> Option<(bool, Mutex<OnDevice>)> {
    let found = devices().expect("drivers answer");
    if found.is_empty() {
        let required = std::env::var_os("REQUIRE_OPENCL").is_some_and(|value| value == "1");
        assert!(!required, "REQUIRE_OPENCL is 1, but there is no OpenCL device");
        return None;
    }
    let first = named("opencl:0", &found).expect("there is a device");
    let has_f64 = first.class().has_f64;
    let settings = Settings { memory_bytes: Some(HEAP_BYTES), ..Settings::new(0) };
    let device = OpenclDevice::open(&[(first, settings)]).expect("the device can be opened").remove(0);
    Some((has_f64, Mutex::new(OnDevice::new(device))))
}

/// Calls whose shapes do not agree, and scratch memory that is too small, are errors.
#[test]
fn invalid_calls_are_refused() {
    let Some(mut device) = device(true) else { return eprintln!("skipped: no device for OpenCL") };
    let mut refused = |letter, scratch_bytes, call: &Call<f64>| {
        let parameters = Parameters::of(Class::WideCpu, letter);
        let outcome = device.run_with(scratch_bytes, &mut Image::default(), &mut |context| {
            let scratch = context.scratch();
            enqueue_with(&parameters, context.queue::<OpenclQueue>()?, scratch, call)
        });
        outcome.expect_err("the call is refused").to_string()
    };
    let at = |offset, m, n| Mat::<f64>::at(offset, (m, n), m + 1);
    let (a, b, c, square) = (at(1, 4, 5), at(40, 6, 7), at(100, 4, 7), at(150, 4, 4));
    let (symmetry, uplo, alpha, beta) = (Symmetry::Symmetric, Uplo::Lower, 1.0, 1.0);
    let wrong = [
        Call::Gemm(Gemm { part: None, op_a: Op::None, op_b: Op::None, alpha, a, b, beta, c }),
        Call::Symm(Symm { symmetry, side: Side::Right, uplo, alpha, a: square, b: c, beta, c }),
        Call::RankK(RankK { symmetry, uplo, op: Op::Trans, alpha, a, beta, c: square }),
        Call::Potrf(Potrf { uplo, first: 0, a }),
        Call::Lacpy(Lacpy { op: Op::Trans, a, b }),
        Call::Geadd(Geadd { op: Op::Trans, alpha, a, beta, b }),
        Call::Larfb(Larfb { side: Side::Left, op: Op::None, v: a, t: square, c }),
        Call::Laswp(Laswp { a, first: 3, ipiv: vec![Mat::at(0, (2, 1), 2)], direction: Direction::Forward }),
    ];
    for call in wrong {
        assert_eq!(scratch_bytes(&call), 0);
        let error = refused('d', 0, &call);
        assert!(error.contains("do not agree"), "{error}");
    }
    let call = Call::RankK(RankK { symmetry, uplo, op: Op::None, alpha, a, beta, c: square });
    let outside = Call::Potrf(Potrf { uplo, first: 0, a: Mat::at(HEAP_BYTES / 8 - 20, (4, 4), 6) });
    assert!(scratch_bytes(&call) > 0);
    for (letter, call, message) in
        [('d', &call, "scratch"), ('s', &call, "parameters"), ('d', &outside, "exceed the heap")]
    {
        let error = refused(letter, 64, call);
        assert!(error.contains(message), "{error}");
    }
}
