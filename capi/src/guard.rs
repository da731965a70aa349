//! What stands between a routine and C: a panic ends here, and what is wrong with an argument is told to who asked to be told.

use crate::{
    abi::{Checked, Failure, Int, Position, Solved},
    account::counted,
    handler::{first, programs},
    messages::say,
};
use std::{
    ffi::{CStr, c_char},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::atomic::{AtomicI32, Ordering},
};

type Xerbla<I> = unsafe extern "C-unwind" fn(*const c_char, *const I, usize);
type CblasXerbla<I> = unsafe extern "C-unwind" fn(I, *const c_char, *const c_char, ...);

/// Runs a function's body; after a panic its result is zero.
pub(crate) fn function<R: Default>(name: &'static CStr, body: impl FnOnce() -> R) -> R {
    catch_unwind(AssertUnwindSafe(|| counted(name, body))).unwrap_or_else(|_| {
        let name = name.to_string_lossy();
        // The panic's own message is on standard error by now.
        say(&format!("superscalar: {name}: an internal error; its result is of no use"));
        R::default()
    })
}

/// Runs a subroutine's body; a wrong argument is told to `xerbla_`, with the name in upper case, of six letters or more.
///
/// A program's own `xerbla_` may leave by an exception or a jump: nothing of ours is to be dropped then.
pub(crate) fn fortran<I: Int>(name: &'static CStr, body: impl FnOnce() -> Checked) {
    if let Err(Position { at, .. }) = checked(name, body) {
        tell::<I>(name, at);
    }
}

/// Tells the program's `xerbla_`.
fn tell<I: Int>(name: &'static CStr, at: i32) {
    let position = I::narrow(at.into());
    match first(I::XERBLA) {
        // SAFETY: by this name goes a function of three arguments: the routine's name, the position, the name's length.
        Some(address) => unsafe {
            let xerbla: Xerbla<I> = std::mem::transmute(address.as_ptr());
            xerbla(name.as_ptr(), &position, name.count_bytes());
        },
        None => illegal(&name.to_string_lossy(), position),
    }
}

/// `info` where something else failed than LAPACK has numbers for: LAPACKE's "no memory for work" and "none to
/// transpose".
const UNSOLVED: i64 = -1010;
const NO_TRANSPOSE: i64 = -1011;

/// Runs a routine of LAPACK: what `info` is to be, and which wrong argument is to be told. Arguments are counted from
/// `first`.
fn info(name: &'static CStr, first: i32, body: impl FnOnce() -> Solved) -> (i64, Option<i32>) {
    let fail = |why: &str| {
        say(&format!("superscalar: {}: {why}; its result is of no use", name.to_string_lossy().trim_end()));
        (UNSOLVED, None)
    };
    match catch_unwind(AssertUnwindSafe(|| counted(name, body))) {
        Ok(Ok(info)) => (info, None),
        Ok(Err(Failure::Argument(at))) => (-i64::from(at + first), Some(at + first)),
        Ok(Err(Failure::NotANumber(at))) => (-i64::from(at + first), None),
        Ok(Err(Failure::Transposition)) => (NO_TRANSPOSE, None),
        Ok(Err(Failure::Unsolved(why))) => fail(&why),
        Err(_) => fail("an internal error"),
    }
}

/// Runs a routine of LAPACK, with Fortran's interface.
///
/// # Safety
/// `info` is the address of an integer.
pub(crate) unsafe fn lapack<I: Int>(name: &'static CStr, info: *mut I, body: impl FnOnce() -> Solved) {
    let (value, wrong) = self::info(name, 0, body);
    // SAFETY: as the caller promises.
    unsafe { info.write(I::narrow(value)) };
    if let Some(at) = wrong {
        tell::<I>(name, at);
    }
}

type LapackeXerbla<I> = unsafe extern "C-unwind" fn(*const c_char, I);

/// Runs a routine with LAPACKE's interface, where the layout is a further argument; none if it was wrong.
pub(crate) fn lapacke<I: Int>(name: &'static CStr, body: Option<impl FnOnce() -> Solved>) -> I {
    let (value, wrong) = match body {
        Some(body) => info(name, 1, body),
        None => (-1, Some(1)),
    };
    let value = I::narrow(value);
    if wrong.is_some() {
        match first(I::LAPACKE_XERBLA) {
            // SAFETY: by this name goes a function of the routine's name and the negative position.
            Some(address) => unsafe {
                let xerbla: LapackeXerbla<I> = std::mem::transmute(address.as_ptr());
                xerbla(name.as_ptr(), value);
            },
            None => lapacke_illegal(&name.to_string_lossy(), value.wide()),
        }
    }
    value
}

fn lapacke_illegal(name: &str, info: i64) {
    say(&match info {
        UNSOLVED => format!("Not enough memory to allocate work array in {name}"),
        NO_TRANSPOSE => format!("Not enough memory to transpose matrix in {name}"),
        info => format!("Wrong parameter {} in {name}", -info),
    });
}

/// Whether LAPACKE's upper half looks for NaN: what a program has set, else what the environment says, which is yes.
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
        // SAFETY: the name is LAPACKE's, which is given to nothing else here.
        #[doc(hidden)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $xerbla(name: *const c_char, info: $int) {
            match programs(<$int>::LAPACKE_XERBLA) {
                // SAFETY: by this name goes a function of the same arguments.
                Some(address) => unsafe {
                    let xerbla: LapackeXerbla<$int> = std::mem::transmute(address.as_ptr());
                    xerbla(name, info);
                },
                // SAFETY: C's names end with a null byte.
                None => lapacke_illegal(&unsafe { text(name, 64) }, info.wide()),
            }
        }

        // SAFETY: as above.
        #[doc(hidden)]
        #[unsafe(no_mangle)]
        pub extern "C" fn $get() -> i32 {
            refuses_nan().into()
        }

        // SAFETY: as above.
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

/// Runs a subroutine's body; a wrong argument is told to `cblas_xerbla`. As above.
pub(crate) fn cblas<I: Int>(name: &'static CStr, body: impl FnOnce() -> Checked) {
    if let Err(Position { at, is_row_major }) = checked(name, body) {
        let position = I::narrow(at.into());
        row_major_flag().store(is_row_major.into(), Ordering::Relaxed);
        match first(I::CBLAS_XERBLA) {
            // SAFETY: by this name goes a function of the position, the routine's name, and a format with what it takes, which is nothing.
            Some(address) => unsafe {
                let xerbla: CblasXerbla<I> = std::mem::transmute(address.as_ptr());
                xerbla(position, name.as_ptr(), c"".as_ptr());
            },
            None => illegal(&name.to_string_lossy(), position),
        }
        row_major_flag().store(0, Ordering::Relaxed);
    }
}

/// Whether the call that is told to `cblas_xerbla` was one for rows: positions are those of the call for columns that it became, as in the
/// reference, whose name this is. A program that names it has one of its own.
// SAFETY: the name is the BLAS's, which is given to nothing else here.
#[unsafe(no_mangle)]
static RowMajorStrg: AtomicI32 = AtomicI32::new(0);
// SAFETY: as above. Nothing reads it.
#[unsafe(no_mangle)]
static CBLAS_CallFromC: AtomicI32 = AtomicI32::new(0);

fn row_major_flag() -> &'static AtomicI32 {
    // SAFETY: whoever defines it has an `int` there, for as long as the process lives.
    first(c"RowMajorStrg").map_or(&RowMajorStrg, |flag| unsafe { flag.cast::<AtomicI32>().as_ref() })
}

/// The position in a call for rows of what is at this position of the call for columns that it became.
fn in_rows(name: &str, position: i64) -> i64 {
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
    catch_unwind(AssertUnwindSafe(|| counted(name, body))).unwrap_or_else(|_| {
        say(&format!("superscalar: {}: an internal error; its result is of no use", name.to_string_lossy().trim_end()));
        Ok(())
    })
}

fn illegal(name: &str, position: impl Int) {
    say(&format!(" ** On entry to {} parameter number {} had an illegal value", name.trim_end(), position.wide()));
}

/// The name behind an address that Fortran gave, which is at most so long and may end earlier.
///
/// # Safety
/// `length` characters at the address may be read, or fewer if one of them is a null byte.
unsafe fn text(at: *const c_char, length: usize) -> String {
    // SAFETY: as the caller promises; no character behind a null byte is read.
    let bytes = (0..length).map(|i| unsafe { at.add(i).read() } as u8).take_while(|&byte| byte != 0);
    String::from_utf8_lossy(&bytes.collect::<Vec<_>>()).trim_end().to_owned()
}

macro_rules! xerbla {
    ($($int:ty: $($fortran:ident)* / $($cblas:ident)*;)*) => {$(
        $(
            // SAFETY: the name is the BLAS's, which is given to nothing else here.
            #[doc(hidden)]
            #[unsafe(no_mangle)]
            pub unsafe extern "C-unwind" fn $fortran(name: *const c_char, position: *const $int, length: usize) {
                // Names have up to sixteen letters; some callers leave out the length.
                let length = if length <= 16 { length } else { 6 };
                match programs(<$int>::XERBLA) {
                    // SAFETY: by this name goes a function of the same arguments.
                    Some(address) => unsafe {
                        let xerbla: Xerbla<$int> = std::mem::transmute(address.as_ptr());
                        xerbla(name, position, length);
                    },
                    // SAFETY: the caller gives a name of that length and the address of a number.
                    None => unsafe { illegal(&text(name, length), position.read()) },
                }
            }
        )*
        $(
            // SAFETY: as above. What a format would take beyond it is not looked at.
            #[doc(hidden)]
            #[unsafe(no_mangle)]
            pub unsafe extern "C-unwind" fn $cblas(position: $int, name: *const c_char, _format: *const c_char) {
                if let Some(address) = programs(<$int>::CBLAS_XERBLA) {
                    // SAFETY: by this name goes a function of the same arguments, and of what a format takes: nothing.
                    return unsafe {
                        let xerbla: CblasXerbla<$int> = std::mem::transmute(address.as_ptr());
                        xerbla(position, name, c"".as_ptr());
                    };
                }
                // SAFETY: C's names end with a null byte.
                let name = unsafe { text(name, 64) };
                let is_row_major = row_major_flag().load(Ordering::Relaxed) != 0;
                illegal(&name, if is_row_major { in_rows(&name, position.wide()) } else { position.wide() });
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
    fn no_panic_leaves() {
        fn panics<R>() -> R {
            panic!("a test of what happens then")
        }
        assert_eq!(function(c"ddot", panics::<f64>), 0.0);
        fortran::<i32>(c"DGEMM ", panics);
        cblas::<i64>(c"cblas_dgemm", panics);
        let mut info = 7_i64;
        // SAFETY: it is the address of an integer.
        unsafe { lapack::<i64>(c"DGETRF", &mut info, panics) };
        assert_eq!(info, UNSOLVED);
        assert_eq!(i64::from(lapacke::<i32>(c"LAPACKE_dgetrf", Some(panics))), UNSOLVED);
        assert_eq!(lapacke::<i32>(c"LAPACKE_dgetrf", None::<fn() -> Solved>), -1);
    }

    #[test]
    fn positions_in_rows() {
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
            assert_eq!(in_rows(name, in_columns), expected, "{name} {in_columns}");
        }
    }
}
