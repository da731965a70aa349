//! LAPACK's question for its version, by which libblastrampoline (Julia) finds how wide a library's integers are.

/// The LAPACK whose interfaces these are.
const VERSION: [i32; 3] = [3, 11, 0];

macro_rules! ilaver {
    ($($name:ident $int:ty;)*) => {$(
        // SAFETY: the name is LAPACK's, which is given to nothing else here.
        #[doc(hidden)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(major: *mut $int, minor: *mut $int, patch: *mut $int) {
            #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
            crate::forward::version_was_asked();
            for (part, number) in [major, minor, patch].into_iter().zip(VERSION) {
                // SAFETY: the caller gives the addresses of three integers.
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
