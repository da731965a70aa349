//! The boundary between a routine and C: catches panics, and reports wrong arguments to the error handlers.

use crate::{
    abi::{Checked, Failure, Int, Solved, WrongArgument},
    handler::{find_global, program_function},
    messages::warn,
    statistics::recorded,
};
use std::{
    ffi::{CStr, c_char},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::atomic::{AtomicI32, Ordering},
};

type Xerbla<I> = unsafe extern "C-unwind" fn(*const c_char, *const I, usize);
type CblasXerbla<I> = unsafe extern "C-unwind" fn(I, *const c_char, *const c_char, ...);

/// Runs the body of a function. Returns zero after a panic.
pub(crate) fn function<R: Default>(name: &'static CStr, body: impl FnOnce() -> R) -> R {
    catch_unwind(AssertUnwindSafe(|| recorded(name, body))).unwrap_or_else(|_| {
        let name = name.to_string_lossy();
        // The panic hook has already written its own message to standard error.
        warn(&format!("superscalar: {name}: an internal error; the result is not valid"));
        R::default()
    })
}

/// Runs the body of a subroutine. Reports a wrong argument to `xerbla_`, with the name in upper case and at least six
/// characters long.
///
/// A program's own `xerbla_` may leave by an exception or a jump, so no value with a destructor is alive at that call.
pub(crate) fn fortran<I: Int>(name: &'static CStr, body: impl FnOnce() -> Checked) {
    if let Err(WrongArgument { position, .. }) = checked(name, body) {
        report_wrong::<I>(name, position);
    }
}

/// Reports a wrong argument to the program's `xerbla_`.
fn report_wrong<I: Int>(name: &'static CStr, at: i32) {
    let position = I::narrow(at.into());
    match find_global(I::XERBLA) {
        // SAFETY: a function with this name takes the routine's name, the position, and the length of the name. All
        // three are valid during the call.
        Some(address) => unsafe {
            let xerbla: Xerbla<I> = std::mem::transmute(address.as_ptr());
            xerbla(name.as_ptr(), &position, name.count_bytes());
        },
        None => print_illegal(&name.to_string_lossy(), position),
    }
}

/// LAPACKE's `info` for "no memory for the work array", used for every failure without a number of its own.
const WORK_MEMORY_ERROR: i64 = -1010;
/// LAPACKE's `info` for "no memory to transpose the matrix".
const TRANSPOSE_MEMORY_ERROR: i64 = -1011;

/// Runs the body of a LAPACK routine. Returns the value of `info` and the position of the argument to report, if any.
/// `first` is added to positions.
fn info(name: &'static CStr, first: i32, body: impl FnOnce() -> Solved) -> (i64, Option<i32>) {
    let fail = |why: &str| {
        warn(&format!("superscalar: {}: {why}; the result is not valid", name.to_string_lossy().trim_end()));
        (WORK_MEMORY_ERROR, None)
    };
    match catch_unwind(AssertUnwindSafe(|| recorded(name, body))) {
        Ok(Ok(info)) => (info, None),
        Ok(Err(Failure::Argument(at))) => (-i64::from(at + first), Some(at + first)),
        Ok(Err(Failure::NotANumber(at))) => (-i64::from(at + first), None),
        Ok(Err(Failure::Transposition)) => (TRANSPOSE_MEMORY_ERROR, None),
        Ok(Err(Failure::Unsolved(why))) => fail(&why),
        Err(_) => fail("an internal error"),
    }
}

/// Runs the body of a LAPACK routine with Fortran's interface.
///
/// # Safety
/// `info` may be written.
pub(crate) unsafe fn lapack<I: Int>(name: &'static CStr, info: *mut I, body: impl FnOnce() -> Solved) {
    let (value, wrong) = self::info(name, 0, body);
    // SAFETY: the caller guarantees that `info` is the address of an integer that this call may write.
    unsafe { info.write(I::narrow(value)) };
    if let Some(at) = wrong {
        report_wrong::<I>(name, at);
    }
}

type LapackeXerbla<I> = unsafe extern "C-unwind" fn(*const c_char, I);

/// Runs the body of a LAPACK routine with LAPACKE's interface, which has the layout as first argument. `body` is `None`
/// if the layout is wrong.
pub(crate) fn lapacke<I: Int>(name: &'static CStr, body: Option<impl FnOnce() -> Solved>) -> I {
    let (value, wrong) = match body {
        Some(body) => info(name, 1, body),
        None => (-1, Some(1)),
    };
    let value = I::narrow(value);
    if wrong.is_some() {
        report_to_lapacke(name, value);
    }
    value
}

/// Runs the body of a batched routine. Reports a wrong argument as LAPACKE does. The body is no type parameter, so that
/// this function is compiled once for all routines.
pub(crate) fn batched<I: Int>(name: &'static CStr, body: &mut dyn FnMut() -> Solved) -> i32 {
    let (value, wrong) = info(name, 0, body);
    if wrong.is_some() {
        report_to_lapacke(name, I::narrow(value));
    }
    value as i32
}

/// Reports a wrong argument to the program's `LAPACKE_xerbla`.
fn report_to_lapacke<I: Int>(name: &'static CStr, info: I) {
    match find_global(I::LAPACKE_XERBLA) {
        // SAFETY: a function with this name takes the routine's name and the negative position.
        Some(address) => unsafe {
            let xerbla: LapackeXerbla<I> = std::mem::transmute(address.as_ptr());
            xerbla(name.as_ptr(), info);
        },
        None => print_lapacke_illegal(&name.to_string_lossy(), info.wide()),
    }
}

fn print_lapacke_illegal(name: &str, info: i64) {
    warn(&match info {
        WORK_MEMORY_ERROR => format!("Not enough memory to allocate work array in {name}"),
        TRANSPOSE_MEMORY_ERROR => format!("Not enough memory to transpose matrix in {name}"),
        info => format!("Wrong parameter {} in {name}", -info),
    });
}

/// Whether LAPACKE's high-level functions check for NaN: 1 or 0, or -1 until the program or the environment sets it.
static NAN_CHECK: AtomicI32 = AtomicI32::new(-1);

pub(crate) fn refuses_nan() -> bool {
    if NAN_CHECK.load(Ordering::Relaxed) < 0 {
        let is_off = superscalar::environment::variable("LAPACKE_NANCHECK").is_some_and(|value| value == "0");
        NAN_CHECK.store(i32::from(!is_off), Ordering::Relaxed);
    }
    NAN_CHECK.load(Ordering::Relaxed) != 0
}

macro_rules! lapacke {
    ($($int:ty: $xerbla:ident $get:ident $set:ident;)*) => {$(
        // SAFETY: no other item of this library has this LAPACKE name.
        #[doc(hidden)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $xerbla(name: *const c_char, info: $int) {
            match program_function(<$int>::LAPACKE_XERBLA) {
                // SAFETY: a function with this name takes these arguments, which are passed on unchanged.
                Some(address) => unsafe {
                    let xerbla: LapackeXerbla<$int> = std::mem::transmute(address.as_ptr());
                    xerbla(name, info);
                },
                // SAFETY: the caller passes a C string, which ends with a null byte.
                None => print_lapacke_illegal(&unsafe { c_text(name, 64) }, info.wide()),
            }
        }

        // SAFETY: no other item of this library has this LAPACKE name.
        #[doc(hidden)]
        #[unsafe(no_mangle)]
        pub extern "C" fn $get() -> i32 {
            refuses_nan().into()
        }

        // SAFETY: no other item of this library has this LAPACKE name.
        #[doc(hidden)]
        #[unsafe(no_mangle)]
        pub extern "C" fn $set(flag: i32) {
            NAN_CHECK.store((flag != 0).into(), Ordering::Relaxed);
        }
    )*};
}

lapacke! {
    i32: LAPACKE_xerbla LAPACKE_get_nancheck LAPACKE_set_nancheck;
    i64: LAPACKE_xerbla64_ LAPACKE_get_nancheck64_ LAPACKE_set_nancheck64_;
}

/// Runs the body of a subroutine with C's interface. Reports a wrong argument to `cblas_xerbla`, which may leave by an
/// exception or a jump like `xerbla_`.
pub(crate) fn cblas<I: Int>(name: &'static CStr, body: impl FnOnce() -> Checked) {
    if let Err(WrongArgument { position: at, is_row_major }) = checked(name, body) {
        let position = I::narrow(at.into());
        row_major_flag().store(is_row_major.into(), Ordering::Relaxed);
        match find_global(I::CBLAS_XERBLA) {
            // SAFETY: a function with this name takes the position, the routine's name, and a format with its values.
            // The empty format takes none.
            Some(address) => unsafe {
                let xerbla: CblasXerbla<I> = std::mem::transmute(address.as_ptr());
                xerbla(position, name.as_ptr(), c"".as_ptr());
            },
            None => print_illegal(&name.to_string_lossy(), position),
        }
        row_major_flag().store(0, Ordering::Relaxed);
    }
}

/// Whether the call that is reported to `cblas_xerbla` is row-major, in which case the position is that in the
/// equivalent column-major call. The name and meaning are the reference's; a program may define the variable itself.
// SAFETY: no other item of this library has this name of the reference CBLAS.
#[unsafe(no_mangle)]
static RowMajorStrg: AtomicI32 = AtomicI32::new(0);
// SAFETY: no other item of this library has this name of the reference CBLAS.
#[unsafe(no_mangle)]
static CBLAS_CallFromC: AtomicI32 = AtomicI32::new(0);

fn row_major_flag() -> &'static AtomicI32 {
    // SAFETY: the symbol is an `int` of the program or of this library, which is accessible until the process ends.
    find_global(c"RowMajorStrg").map_or(&RowMajorStrg, |flag| unsafe { flag.cast::<AtomicI32>().as_ref() })
}

/// Returns the position in a row-major call of the argument at `position` in the equivalent column-major call.
fn row_major_position(name: &str, position: i64) -> i64 {
    let swaps: &[(i64, i64)] = match name.trim_start_matches("cblas_").get(1..).unwrap_or_default() {
        "gemm" => &[(4, 5), (9, 11)],
        "symm" | "hemm" => &[(4, 5)],
        "trmm" | "trsm" => &[(6, 7)],
        "gemv" => &[(3, 4)],
        "gbmv" => &[(3, 4), (5, 6)],
        "ger" | "geru" | "gerc" => &[(2, 3), (6, 8)],
        "her2" | "hpr2" => &[(6, 8)],
        _ => &[],
    };
    let of = |&(one, other): &(i64, i64)| match position {
        _ if position == one => Some(other),
        _ if position == other => Some(one),
        _ => None,
    };
    swaps.iter().find_map(of).unwrap_or(position)
}

fn checked(name: &'static CStr, body: impl FnOnce() -> Checked) -> Checked {
    catch_unwind(AssertUnwindSafe(|| recorded(name, body))).unwrap_or_else(|_| {
        warn(&format!(
            "superscalar: {}: an internal error; the result is not valid",
            name.to_string_lossy().trim_end()
        ));
        Ok(())
    })
}

fn print_illegal(name: &str, position: impl Int) {
    warn(&format!(" ** On entry to {} parameter number {} had an illegal value", name.trim_end(), position.wide()));
}

/// Returns the name at an address, which has at most `length` characters and may end with a null byte before that.
///
/// # Safety
/// `length` characters at the address may be read, or those up to the first null byte.
unsafe fn c_text(at: *const c_char, length: usize) -> String {
    // SAFETY: the caller guarantees that these characters are readable, and none after a null byte is read.
    let bytes = (0..length).map(|i| unsafe { at.add(i).read() } as u8).take_while(|&byte| byte != 0);
    String::from_utf8_lossy(&bytes.collect::<Vec<_>>()).trim_end().to_owned()
}

macro_rules! xerbla {
    ($($int:ty: $($fortran:ident)* / $($cblas:ident)*;)*) => {$(
        $(
            // SAFETY: no other item of this library has this BLAS name.
            #[doc(hidden)]
            #[unsafe(no_mangle)]
            pub unsafe extern "C-unwind" fn $fortran(name: *const c_char, position: *const $int, length: usize) {
                // Names have up to sixteen characters. Some callers omit the length, so it may be any number.
                let length = if length <= 16 { length } else { 6 };
                match program_function(<$int>::XERBLA) {
                    // SAFETY: a function with this name takes these arguments, which are passed on unchanged.
                    Some(address) => unsafe {
                        let xerbla: Xerbla<$int> = std::mem::transmute(address.as_ptr());
                        xerbla(name, position, length);
                    },
                    // SAFETY: the caller passes a name of at least this length and the address of an integer.
                    None => unsafe { print_illegal(&c_text(name, length), position.read()) },
                }
            }
        )*
        $(
            // SAFETY: no other item of this library has this BLAS name. The values of the format are not read.
            #[doc(hidden)]
            #[unsafe(no_mangle)]
            pub unsafe extern "C-unwind" fn $cblas(position: $int, name: *const c_char, _format: *const c_char) {
                if let Some(address) = program_function(<$int>::CBLAS_XERBLA) {
                    // SAFETY: a function with this name takes these arguments; the empty format takes no values.
                    return unsafe {
                        let xerbla: CblasXerbla<$int> = std::mem::transmute(address.as_ptr());
                        xerbla(position, name, c"".as_ptr());
                    };
                }
                // SAFETY: the caller passes a C string, which ends with a null byte.
                let name = unsafe { c_text(name, 64) };
                let is_row_major = row_major_flag().load(Ordering::Relaxed) != 0;
                let position = position.wide();
                print_illegal(&name, if is_row_major { row_major_position(&name, position) } else { position });
            }
        )*
    )*};
}

xerbla! {
    i32: xerbla_ scipy_xerbla_ / cblas_xerbla scipy_cblas_xerbla;
    i64: xerbla_64_ scipy_xerbla_64_ / cblas_xerbla64_ scipy_cblas_xerbla64_;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panics_are_caught() {
        fn panics<R>() -> R {
            panic!("this test panics on purpose")
        }
        assert_eq!(function(c"ddot", panics::<f64>), 0.0);
        fortran::<i32>(c"DGEMM ", panics);
        cblas::<i64>(c"cblas_dgemm", panics);
        let mut info = 7_i64;
        // SAFETY: `info` is a local integer.
        unsafe { lapack::<i64>(c"DGETRF", &mut info, panics) };
        assert_eq!(info, WORK_MEMORY_ERROR);
        assert_eq!(i64::from(lapacke::<i32>(c"LAPACKE_dgetrf", Some(panics))), WORK_MEMORY_ERROR);
        assert_eq!(lapacke::<i32>(c"LAPACKE_dgetrf", None::<fn() -> Solved>), -1);
        assert_eq!(i64::from(batched::<i64>(c"superscalar_dgetrf_batched", &mut panics)), WORK_MEMORY_ERROR);
    }

    #[test]
    fn row_major_positions() {
        for (name, in_columns, expected) in [
            ("cblas_dgemm", 4, 5),
            ("cblas_dgemm", 11, 9),
            ("cblas_zhemm", 5, 4),
            ("cblas_strsm", 6, 7),
            ("cblas_cgemv", 3, 4),
            ("cblas_dgbmv", 6, 5),
            ("cblas_zgerc", 8, 6),
            ("cblas_cher2", 6, 8),
            ("cblas_cher2k", 6, 6),
            ("cblas_dgemm", 14, 14),
        ] {
            assert_eq!(row_major_position(name, in_columns), expected, "{name} {in_columns}");
        }
    }
}
