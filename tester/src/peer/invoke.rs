//! The call itself.

use std::ffi::c_void;

/// Calls the subroutine, or the function with this result, at `symbol` with these words.
///
/// # Safety
/// `symbol` is a Fortran subroutine (`R` is then `()`), or a function that returns an `R`, with that many arguments and
/// lengths together, and each word is one that it may take in its place.
pub unsafe fn invoke<R>(symbol: *const c_void, words: &[*mut c_void]) -> R {
    /// One arm per number of words.
    macro_rules! arms {
        ($($($word:ident)+;)+) => {
            match *words {
                $([$($word),+] => {
                    // SAFETY: the caller's promise; a length is passed as an address is, one word in an integer register.
                    unsafe {
                        let subroutine: unsafe extern "C" fn($(arms!(@word $word)),+) -> R = std::mem::transmute(symbol);
                        subroutine($($word),+)
                    }
                })+
                _ => unreachable!("no subroutine here takes {} words", words.len()),
            }
        };
        (@word $word:ident) => { *mut c_void };
    }
    arms! {
        a b c d;
        a b c d e;
        a b c d e f;
        a b c d e f g;
        a b c d e f g h;
        a b c d e f g h i;
        a b c d e f g h i j;
        a b c d e f g h i j k;
        a b c d e f g h i j k l;
        a b c d e f g h i j k l m;
        a b c d e f g h i j k l m n;
        a b c d e f g h i j k l m n o;
        a b c d e f g h i j k l m n o p;
        a b c d e f g h i j k l m n o p q;
        a b c d e f g h i j k l m n o p q r;
        a b c d e f g h i j k l m n o p q r s;
        a b c d e f g h i j k l m n o p q r s t;
    }
}
