//! LAPACK's version query. libblastrampoline (Julia) uses it to determine the width of a library's integers.

/// The version of LAPACK whose interfaces are implemented.
const VERSION: [i32; 3] = [3, 11, 0];

macro_rules! ilaver {
    ($($name:ident $int:ty;)*) => {$(
        // SAFETY: no other item of this library has this LAPACK name.
        #[doc(hidden)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(major: *mut $int, minor: *mut $int, patch: *mut $int) {
            #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
            crate::forward::note_version_call();
            for (part, number) in [major, minor, patch].into_iter().zip(VERSION) {
                // SAFETY: LAPACK's interface requires the caller to pass the addresses of three integers.
                unsafe { part.write(number.into()) };
            }
        }
    )*};
}

ilaver! {
    ilaver_ i32;
    scipy_ilaver_ i32;
    ilaver_64_ i64;
    scipy_ilaver_64_ i64;
}
