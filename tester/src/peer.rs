//! Peers: BLAS and LAPACK libraries opened at run time and called through their Fortran interface.
//!
//! This is the only module with `unsafe` code. What it relies on, besides the notes at each block:
//! - a Fortran subroutine takes the address of every argument, and behind them the length of each CHARACTER argument by
//!   value; addresses and lengths are one machine word each. INTEGER has 32 bits (LP64);
//! - a [`Call`] is the routine's argument list as the BLAS or LAPACK documentation has it. A list that differs from the
//!   documentation is an error in this program as a wrong `extern` declaration would be; arrays that are too small for the
//!   sizes passed with them are such errors.

use libloading::Library;
use std::ffi::{CStr, c_char, c_void};
use std::fmt;
use superscalar_kernels::{MatMut, MatRef, Scalar};

/// Variables by which the libraries are told how many threads to use.
const THREAD_VARIABLES: [&str; 4] = ["OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "BLIS_NUM_THREADS", "MKL_NUM_THREADS"];

/// Tells the peers that will be opened how many threads to use.
///
/// To be called while the process has one thread: it writes the environment. [`thread_count`] refuses otherwise.
pub fn set_threads(threads: usize) -> Result<(), PeerError> {
    match thread_count() {
        None | Some(1) => {}
        Some(count) => return Err(PeerError::Threads(count)),
    }
    for variable in THREAD_VARIABLES {
        // SAFETY: as checked above no other thread exists that could read the environment meanwhile. (Where the system
        // does not tell, `main` calls this before it starts any thread.)
        unsafe { std::env::set_var(variable, threads.to_string()) };
    }
    Ok(())
}

/// How many threads this process has, where the system tells.
fn thread_count() -> Option<usize> {
    Some(std::fs::read_dir("/proc/self/task").ok()?.count())
}

/// Why a peer can not be used.
#[derive(Debug, thiserror::Error)]
pub enum PeerError {
    #[error("{path}: {source}")]
    Open { path: String, source: libloading::Error },
    #[error("{path} has none of {tried}: is it a BLAS with Fortran symbols, and is the prefix right?")]
    NoBlas { path: String, tried: String },
    #[error("peers' thread counts are set through the environment, and {0} threads run already")]
    Threads(usize),
}

/// Where a peer is, as the command line gives it: `LIB` or `LIB,PREFIX`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeerPath {
    pub library: String,
    pub prefix: String,
}

impl std::str::FromStr for PeerPath {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (library, prefix) = text.rsplit_once(',').unwrap_or((text, ""));
        if library.is_empty() {
            return Err("expected the path of a library, or LIB,PREFIX".to_owned());
        }
        if !prefix.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            return Err(format!("`{prefix}` is no prefix of a symbol: expected letters, digits and underscores"));
        }
        Ok(Self { library: library.to_owned(), prefix: prefix.to_owned() })
    }
}

/// An open library.
pub struct Peer {
    name: String,
    prefix: String,
    /// Never closed: these libraries keep threads, whose code must stay where it is.
    library: &'static Library,
}

impl fmt::Debug for Peer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Peer({})", self.name)
    }
}

impl Peer {
    /// Opens the library. Its threads inherit the processors that the calling thread may use, so this should happen
    /// on a thread that is bound to none.
    pub fn open(path: &PeerPath) -> Result<Self, PeerError> {
        // SAFETY: opening runs the library's initialisers. The user has named this library to be run.
        let library = unsafe { Library::new(&path.library) };
        let library = library.map_err(|source| PeerError::Open { path: path.library.clone(), source })?;
        let file = path.library.rsplit('/').next().unwrap_or(&path.library);
        let name = file.strip_prefix("lib").unwrap_or(file);
        let name = name.split(".so").next().unwrap_or(name).to_owned();
        let peer = Self { name, prefix: path.prefix.clone(), library: Box::leak(Box::new(library)) };
        if peer.symbol("dgemm").is_none() && peer.symbol("dpotrf").is_none() {
            let tried = format!("{0}dgemm_, {0}dgemm, {0}dpotrf_, {0}dpotrf", path.prefix);
            return Err(PeerError::NoBlas { path: path.library.clone(), tried });
        }
        Ok(peer)
    }

    /// The library's file name, without `lib` and what follows `.so`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the library says about itself: OpenBLAS's version and the processor whose kernels it has picked, which is
    /// not always the processor that it runs on.
    pub fn about(&self) -> Option<String> {
        let symbol = self.symbol_named("openblas_get_config")?;
        // SAFETY: OpenBLAS declares `char *openblas_get_config(void)`.
        let text = unsafe {
            let get_config: unsafe extern "C" fn() -> *const c_char = std::mem::transmute(symbol);
            get_config()
        };
        // SAFETY: it returns a string of its own that it does not change any more.
        (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
    }

    /// The Fortran subroutine of this name, type letter included.
    fn symbol(&self, name: &str) -> Option<*const c_void> {
        [format!("{name}_"), name.to_owned()].iter().find_map(|name| self.symbol_named(name))
    }

    fn symbol_named(&self, name: &str) -> Option<*const c_void> {
        let name = format!("{}{name}", self.prefix);
        // SAFETY: the address is only looked up here; who calls it says what it takes. The library is never closed.
        let address = unsafe { self.library.get::<*const c_void>(name.as_bytes()).ok()?.try_as_raw_ptr()? };
        (!address.is_null()).then_some(address.cast_const())
    }

    /// Makes the call and returns LAPACK's info, 0 for routines without.
    ///
    /// # Errors
    /// When the library does not have the routine, or sizes do not fit its integers.
    pub fn call<T: Scalar>(&self, mut call: Call<'_, T>) -> Result<i32, Unavailable> {
        let name = format!("{}{}", T::LETTER, call.name);
        let symbol = self.symbol(&name).ok_or_else(|| Unavailable(format!("{} has no {name}", self.name)))?;
        if call.is_too_large {
            return Err(Unavailable(format!("sizes beyond the 32-bit integers of {name}")));
        }
        // SAFETY: the list is the documented one of this routine (see the head of this module); views and slices in it
        // are borrowed until the call is over, and the others live in `call`.
        unsafe { invoke(symbol, &call.words()) };
        Ok(call.returned())
    }
}

/// Why a peer's routine was not called.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unavailable(pub String);

/// One argument of a Fortran subroutine.
enum Argument<T: Scalar> {
    Letter(u8),
    Int(i32),
    Info(i32),
    Scalar(T),
    Real(T::Real),
    Array(*mut c_void),
}

/// A call of a Fortran subroutine: its name without the type's letter, and its arguments in order.
///
/// # Example
/// `Call::new("potrf").letter('L').int(n).matrix(a).info()` is `CALL xPOTRF('L', N, A, LDA, INFO)`.
pub struct Call<'a, T: Scalar> {
    name: &'static str,
    arguments: Vec<Argument<T>>,
    is_too_large: bool,
    borrow: std::marker::PhantomData<&'a mut [T]>,
}

#[allow(dead_code)] // The whole interface of BLAS and LAPACK subroutines, of which routines use what they need.
impl<'a, T: Scalar> Call<'a, T> {
    /// A call without arguments yet.
    pub fn new(name: &'static str) -> Self {
        Self { name, arguments: Vec::new(), is_too_large: false, borrow: std::marker::PhantomData }
    }

    /// CHARACTER*1.
    pub fn letter(self, letter: char) -> Self {
        self.push(Argument::Letter(letter as u8))
    }

    /// INTEGER.
    pub fn int(mut self, value: usize) -> Self {
        let value = i32::try_from(value).unwrap_or_else(|_| {
            self.is_too_large = true;
            0
        });
        self.push(Argument::Int(value))
    }

    /// A scalar of the routine's type.
    pub fn scalar(self, value: T) -> Self {
        self.push(Argument::Scalar(value))
    }

    /// A real scalar.
    pub fn real(self, value: T::Real) -> Self {
        self.push(Argument::Real(value))
    }

    /// A matrix and its leading dimension, which always follows it.
    pub fn matrix(self, mut a: MatMut<'a, T>) -> Self {
        assert!(a.row_stride() == 1 || a.as_ref().is_empty(), "Fortran matrices are column major");
        let ld = a.col_stride();
        self.push(Argument::Array(a.as_mut_ptr().cast())).int(ld)
    }

    /// A matrix that is only read, and its leading dimension.
    pub fn input(self, a: MatRef<'a, T>) -> Self {
        assert!(a.row_stride() == 1 || a.is_empty(), "Fortran matrices are column major");
        self.push(Argument::Array(a.as_ptr().cast_mut().cast())).int(a.col_stride())
    }

    /// A vector of the routine's type, or a workspace.
    pub fn vector(self, x: &'a mut [T]) -> Self {
        self.push(Argument::Array(x.as_mut_ptr().cast()))
    }

    /// A vector of real numbers.
    pub fn reals(self, x: &'a mut [T::Real]) -> Self {
        self.push(Argument::Array(x.as_mut_ptr().cast()))
    }

    /// A vector of integers, such as pivots.
    pub fn ints(self, x: &'a mut [i32]) -> Self {
        self.push(Argument::Array(x.as_mut_ptr().cast()))
    }

    /// LAPACK's INFO.
    pub fn info(self) -> Self {
        self.push(Argument::Info(0))
    }

    fn push(mut self, argument: Argument<T>) -> Self {
        self.arguments.push(argument);
        self
    }

    /// The machine words to pass: the address of each argument, then a 1 for the length of each letter.
    fn words(&mut self) -> Vec<*mut c_void> {
        let letters = self.arguments.iter().filter(|argument| matches!(argument, Argument::Letter(_))).count();
        let addresses = self.arguments.iter_mut().map(|argument| match argument {
            Argument::Letter(letter) => (&raw mut *letter).cast(),
            Argument::Int(value) | Argument::Info(value) => (&raw mut *value).cast(),
            Argument::Scalar(value) => (&raw mut *value).cast(),
            Argument::Real(value) => (&raw mut *value).cast(),
            Argument::Array(start) => *start,
        });
        addresses.chain(std::iter::repeat_n(std::ptr::without_provenance_mut(1), letters)).collect()
    }

    /// INFO after the call; 0 for subroutines without.
    fn returned(&self) -> i32 {
        let info = |argument: &Argument<T>| if let Argument::Info(info) = argument { Some(*info) } else { None };
        self.arguments.iter().find_map(info).unwrap_or(0)
    }
}

/// Calls the subroutine at `symbol` with these words.
///
/// # Safety
/// `symbol` is a Fortran subroutine with that many arguments and lengths together, and each word is one that the
/// subroutine may take in its place.
unsafe fn invoke(symbol: *const c_void, words: &[*mut c_void]) {
    /// One arm per number of words.
    macro_rules! arms {
        ($($($word:ident)+;)+) => {
            match *words {
                $([$($word),+] => {
                    // SAFETY: the caller's promise; a length is passed as an address is, one word in an integer register.
                    unsafe {
                        let subroutine: unsafe extern "C" fn($(arms!(@word $word)),+) = std::mem::transmute(symbol);
                        subroutine($($word),+);
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
