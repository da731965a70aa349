//! Calls a function at an address.

use std::ffi::c_void;

/// Calls the subroutine at `symbol`, or the function with result `R`, with these words as arguments.
///
/// # Safety
/// `symbol` must be a Fortran subroutine (with `R = ()`) or a function that returns an `R`. It must take as many
/// arguments and lengths together as there are words, and each word must be valid in its position.
pub unsafe fn invoke<R>(symbol: *const c_void, words: &[*mut c_void]) -> R {
    /// One arm for each number of words.
    macro_rules! arms {
        ($($($word:ident)+;)+) => {
            match *words {
                $([$($word),+] => {
                    // SAFETY: by the contract of this function, `symbol` takes this number of words, valid in their
                    // positions. A length is passed like an address, as one word in an integer register.
                    unsafe {
                        let function: unsafe extern "C" fn($(arms!(@word $word)),+) -> R = std::mem::transmute(symbol);
                        function($($word),+)
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
