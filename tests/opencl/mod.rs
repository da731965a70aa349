//! Whether this machine has an OpenCL device, for the tests that need one.

use superscalar::devices;

/// Returns whether there is an OpenCL device.
///
/// # Panics
/// If there is none although `REQUIRE_OPENCL` is 1.
pub fn has_opencl() -> bool {
    let Err(error) = devices::open("opencl:0", None) else { return true };
    let is_required = std::env::var_os("REQUIRE_OPENCL").is_some_and(|value| value == "1");
    assert!(!is_required, "REQUIRE_OPENCL is 1, but there is no OpenCL device: {error}");
    eprintln!("skipped: {error}");
    false
}
