//! Forwards calls of LAPACK routines that this library does not implement to another library.
//!
//! Programs look up all LAPACK routines in the library that they use as LAPACK. `forwarded.txt` lists the routines of
//! LAPACK's Fortran interface with 32-bit integers that this library does not implement. This module exports a function
//! with the name of each. The module is empty on all systems but Linux on x86-64, since the functions are written in
//! instructions of that processor, and the search uses the loader of glibc or musl.
//!
//! **Calls.** An exported function has two instructions. It stores its index in `r11` and jumps to the address in its
//! slot of [`TABLE`]. It leaves the arguments, the stack and the result unchanged, so it needs no prototype, and also
//! passes on the string lengths that Fortran callers add. A slot first holds the address of [`resolve_trampoline`],
//! which saves the registers, calls [`resolve`] to find the function, and jumps to it. The slot then holds the address
//! of that function, and a call costs one more indirect jump than without this library.
//!
//! **Search.** [`search`] takes the first function with the routine's name from these sources:
//!
//! 1. the library that `SUPERSCALAR_LAPACK` names; with `off`, no other source is searched;
//! 2. the libraries after this one in the loader's order, which the program would use without this library;
//! 3. the calling library and the libraries that it needs: the loader's global scope does not contain a Python module
//!    and its LAPACK, and a library may export parts of LAPACK for its own calls;
//! 4. all loaded libraries;
//! 5. the folders in which Debian installs a LAPACK, and common file names of a LAPACK.
//!
//! Sources 2 and 3 contain the function that the program would call without this library. The first call of a routine
//! determines the function for all calls.
//!
//! **Rejected functions.** A function of this library, or of a second copy of it, would call this module again without
//! end. So would a library that forwards to this one, as libblastrampoline and FlexiBLAS may. Some libraries use 64-bit
//! integers under the names for 32-bit integers, and some contain a few LAPACK routines that were translated to C with
//! other types. Therefore a library of sources 4 and 5 must have `ilaver_`, LAPACK's version query, and it must answer
//! in 32 bits. A library forwards to this one if its `ilaver_` calls that of this library, which calls
//! [`note_version_call`].
//!
//! **Threads and forks.** This module takes no lock; the loader holds one of its own while it opens a library. LAPACKs
//! call names that this library exports, so a search may start during another search. Threads that search for the same
//! routine at the same time each find and store a valid address. In a forked child each slot is unresolved or resolved.
//!
//! **No function found.** A message on standard error names the routine and the variable, once per routine. The call
//! returns without computing anything. Its INFO argument, if any, is set to [`NOT_FOUND`], and its result, if any, is
//! zero. The next call searches again.

#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use crate::{
    loader::{Function, Library, Object, loaded_paths, next},
    messages::warn,
};
use std::{
    arch::naked_asm,
    cell::Cell,
    ffi::{CStr, CString, OsString, c_void},
    os::unix::ffi::OsStrExt,
    panic::{AssertUnwindSafe, catch_unwind},
    ptr::{NonNull, null_mut},
    sync::atomic::{AtomicBool, AtomicPtr, Ordering},
};
use superscalar::environment::variable;

/// The value of INFO after a call for which no LAPACK was found. LAPACK's own negative values are positions of
/// arguments, and no routine has 100 arguments.
const NOT_FOUND: i32 = -1099;
/// The variable that names the library to search first.
const LAPACK_VARIABLE: &str = "SUPERSCALAR_LAPACK";
/// The value of the variable that disables forwarding.
const LAPACK_OFF: &str = "off";
/// The paths and names of a LAPACK to open if none is loaded. The loader searches for names in its folders.
const COMMON_LIBRARIES: [&CStr; 7] = [
    c"/usr/lib/x86_64-linux-gnu/openblas-pthread/liblapack.so.3",
    c"/usr/lib/x86_64-linux-gnu/openblas-openmp/liblapack.so.3",
    c"/usr/lib/x86_64-linux-gnu/openblas-serial/liblapack.so.3",
    c"/usr/lib/x86_64-linux-gnu/lapack/liblapack.so.3",
    c"/usr/lib/x86_64-linux-gnu/atlas/liblapack.so.3",
    c"liblapack.so.3",
    c"libopenblas.so.0",
];
/// A symbol that every copy of this library exports and no other library does.
const OWN_SYMBOL: &CStr = c"superscalar_set_num_threads";

/// A routine of `forwarded.txt`.
struct ForwardedRoutine {
    /// The exported symbol.
    name: &'static CStr,
    /// The position of its INFO argument, counted from 1; 0 if it has none.
    info: usize,
}

macro_rules! forwarded {
    ($($index:literal $symbol:ident $name:literal $info:literal;)*) => {
        const COUNT: usize = [$($info),*].len();
        static ROUTINES: [ForwardedRoutine; COUNT] = [$(ForwardedRoutine { name: $name, info: $info }),*];
        $(
            // SAFETY: no other item of this library has this LAPACK name. The instructions change only `r11`, which a
            // callee may change, and jump to a function that takes the same arguments.
            #[doc(hidden)]
            #[unsafe(no_mangle)]
            #[unsafe(naked)]
            pub unsafe extern "C" fn $symbol() {
                naked_asm!(
                    "mov r11d, {index}",
                    "jmp qword ptr [rip + {table} + {slot}]",
                    index = const $index,
                    slot = const 8 * $index,
                    table = sym TABLE,
                )
            }
        )*
    };
}

include!(concat!(env!("OUT_DIR"), "/forwarded.rs"));

/// The address to which the calls of each routine jump.
static TABLE: [AtomicPtr<c_void>; COUNT] = [const { AtomicPtr::new(resolve_trampoline as *mut c_void) }; COUNT];
/// Whether the message that no LAPACK was found was written, for each routine.
static REPORTED: [AtomicBool; COUNT] = [const { AtomicBool::new(false) }; COUNT];

/// The first target of each slot: resolves the routine with index `r11` and jumps to the function found.
///
/// It saves the registers that may carry arguments: the integer registers, `rax` (the number of vector registers),
/// `r10`, and the lower halves of the vector registers. The upper halves carry no arguments, and a callee may change
/// them.
// SAFETY: the stack pointer and every register that may carry an argument are restored. `resolve` is called with an
// aligned stack and with addresses on this stack, which are valid while it runs.
#[unsafe(naked)]
unsafe extern "C" fn resolve_trampoline() {
    naked_asm!(
        "push rbp",
        "mov rbp, rsp",
        "sub rsp, 192",
        "and rsp, -16",
        "mov [rsp], rdi",
        "mov [rsp + 8], rsi",
        "mov [rsp + 16], rdx",
        "mov [rsp + 24], rcx",
        "mov [rsp + 32], r8",
        "mov [rsp + 40], r9",
        "mov [rsp + 48], rax",
        "mov [rsp + 56], r10",
        "movaps [rsp + 64], xmm0",
        "movaps [rsp + 80], xmm1",
        "movaps [rsp + 96], xmm2",
        "movaps [rsp + 112], xmm3",
        "movaps [rsp + 128], xmm4",
        "movaps [rsp + 144], xmm5",
        "movaps [rsp + 160], xmm6",
        "movaps [rsp + 176], xmm7",
        "mov edi, r11d",
        "mov rsi, rsp",
        // Above the saved rbp are the return address and then the arguments that are not in registers.
        "lea rdx, [rbp + 16]",
        "call {resolve}",
        "mov r11, rax",
        "mov rdi, [rsp]",
        "mov rsi, [rsp + 8]",
        "mov rdx, [rsp + 16]",
        "mov rcx, [rsp + 24]",
        "mov r8, [rsp + 32]",
        "mov r9, [rsp + 40]",
        "mov rax, [rsp + 48]",
        "mov r10, [rsp + 56]",
        "movaps xmm0, [rsp + 64]",
        "movaps xmm1, [rsp + 80]",
        "movaps xmm2, [rsp + 96]",
        "movaps xmm3, [rsp + 112]",
        "movaps xmm4, [rsp + 128]",
        "movaps xmm5, [rsp + 144]",
        "movaps xmm6, [rsp + 160]",
        "movaps xmm7, [rsp + 176]",
        "leave",
        "test r11, r11",
        "jz 2f",
        "jmp r11",
        // Nothing was found. These four registers carry integer, real and complex results.
        "2:",
        "xor eax, eax",
        "xor edx, edx",
        "xorps xmm0, xmm0",
        "xorps xmm1, xmm1",
        "ret",
        resolve = sym resolve,
    )
}

/// Finds the function for this call and all later ones of the routine, and stores it in the table. If there is none,
/// sets the INFO argument and returns null.
///
/// # Safety
/// `registers` points to the call's first six arguments and `stack` to its other ones, which have the types of the
/// routine. The return address precedes `stack`.
unsafe extern "C" fn resolve(index: u32, registers: *const *mut i32, stack: *const *mut i32) -> *mut c_void {
    let index = index as usize;
    let body = || {
        let routine = &ROUTINES[index];
        // SAFETY: the trampoline passes the address after the return address, and its stack frame is still live.
        let caller = NonNull::new(unsafe { stack.sub(1).cast::<*mut c_void>().read() });
        if let Some(function) = search(routine.name, caller, || variable(LAPACK_VARIABLE)) {
            TABLE[index].store(function.as_ptr(), Ordering::Release);
            return function.as_ptr();
        }
        warn_once(&REPORTED[index], || {
            let name = routine.name.to_string_lossy();
            format!(
                "superscalar: {name}: no LAPACK was found and nothing was computed; set {LAPACK_VARIABLE} to its path"
            )
        });
        let info = match routine.info {
            0 => null_mut(),
            // SAFETY: the routine has an argument at this position, and `registers` has the first six of the call.
            at @ 1..=6 => unsafe { *registers.add(at - 1) },
            // SAFETY: the routine has an argument at this position, which is on the caller's stack.
            at => unsafe { *stack.add(at - 7) },
        };
        if !info.is_null() {
            // SAFETY: the caller of the routine passes the address of an integer for it to write.
            unsafe { info.write(NOT_FOUND) };
        }
        null_mut()
    };
    // The panic hook has already written its message to standard error.
    catch_unwind(AssertUnwindSafe(body)).unwrap_or(null_mut())
}

/// Writes the line to standard error unless `reported` is already set.
fn warn_once(reported: &AtomicBool, line: impl FnOnce() -> String) {
    if !reported.swap(true, Ordering::Relaxed) {
        warn(&line());
    }
}

/// Returns the function from the first source that has one. `caller` is an address in the calling library, and
/// `configured` returns the value of the variable.
fn search(name: &CStr, caller: Option<Function>, configured: impl FnOnce() -> Option<OsString>) -> Option<Function> {
    match Configured::get(configured) {
        Configured::Off => None,
        Configured::None => search_unconfigured(name, caller),
        Configured::Library(library) => search_configured(library, name).or_else(|| search_unconfigured(name, caller)),
    }
}

/// The meaning of the variable's value at the first search.
enum Configured {
    None,
    Off,
    Library(Library),
}

impl Configured {
    /// Returns the cached value, or reads it. Threads that come first at the same time each open the library and get
    /// the same handle.
    fn get(value: impl FnOnce() -> Option<OsString>) -> Self {
        static IS_READ: AtomicBool = AtomicBool::new(false);
        static IS_OFF: AtomicBool = AtomicBool::new(false);
        static LIBRARY: AtomicPtr<c_void> = AtomicPtr::new(null_mut());
        if !IS_READ.load(Ordering::Acquire) {
            match Self::read(value) {
                Self::None => {}
                Self::Off => IS_OFF.store(true, Ordering::Relaxed),
                Self::Library(Library(handle)) => LIBRARY.store(handle.as_ptr(), Ordering::Relaxed),
            }
            IS_READ.store(true, Ordering::Release);
        }
        match NonNull::new(LIBRARY.load(Ordering::Relaxed)) {
            Some(handle) => Self::Library(Library(handle)),
            None if IS_OFF.load(Ordering::Relaxed) => Self::Off,
            None => Self::None,
        }
    }

    fn read(value: impl FnOnce() -> Option<OsString>) -> Self {
        static REPORTED: AtomicBool = AtomicBool::new(false);
        let Some(value) = value() else { return Self::None };
        if value == LAPACK_OFF {
            return Self::Off;
        }
        // A value from the environment has no null byte, but one from a settings file could.
        let opened = CString::new(value.as_bytes()).ok().and_then(|path| Library::open(&path));
        if let Some(library) = opened {
            return Self::Library(library);
        }
        warn_once(&REPORTED, || {
            let (value, why) = (value.display(), Library::error());
            format!("superscalar: {LAPACK_VARIABLE}={value}: {why}; other libraries are searched")
        });
        Self::None
    }
}

/// Returns the configured library's function. A configured library may lack `ilaver_`.
fn search_configured(library: Library, name: &CStr) -> Option<Function> {
    static REPORTED: AtomicBool = AtomicBool::new(false);
    let function = library.function(name);
    let why = match function.map(LibraryKind::of) {
        Some(LibraryKind::Lapack | LibraryKind::Unknown) => return function,
        Some(LibraryKind::Ilp64) => "uses 64-bit integers under this name",
        Some(LibraryKind::Own) => "forwards to this library",
        None => "does not have this routine",
    };
    warn_once(&REPORTED, || {
        let name = name.to_string_lossy();
        format!("superscalar: {name}: the library in {LAPACK_VARIABLE} {why}; other libraries are searched for it")
    });
    None
}

/// Returns the function from the sources 2 to 5.
fn search_unconfigured(name: &CStr, caller: Option<Function>) -> Option<Function> {
    /// The library of sources 4 and 5 that had the last function, which is searched first. Its handle is never closed.
    static LAST: AtomicPtr<c_void> = AtomicPtr::new(null_mut());
    let in_lapack = |library: Library| {
        let function =
            library.function(name).filter(|&function| matches!(LibraryKind::of(function), LibraryKind::Lapack))?;
        LAST.store(library.0.as_ptr(), Ordering::Release);
        Some(function)
    };
    let in_loaded = |path: CString| {
        let library = Library::loaded(&path)?;
        in_lapack(library).or_else(|| {
            library.close();
            None
        })
    };
    let in_caller = || caller.and_then(Object::of)?.function(name);
    let is_foreign = |function: &Function| !matches!(LibraryKind::of(*function), LibraryKind::Own);
    next(name)
        .filter(is_foreign)
        .or_else(|| in_caller().filter(is_foreign))
        .or_else(|| NonNull::new(LAST.load(Ordering::Acquire)).map(Library).and_then(in_lapack))
        .or_else(|| loaded_paths().into_iter().find_map(in_loaded))
        // A rejected library is not closed, since it may have started threads.
        .or_else(|| COMMON_LIBRARIES.into_iter().filter_map(Library::open).find_map(in_lapack))
}

/// The kind of library that a function belongs to.
#[derive(Clone, Copy)]
enum LibraryKind {
    /// It has `ilaver_` with 32-bit integers.
    Lapack,
    /// It has `ilaver_` with 64-bit integers.
    Ilp64,
    /// It has no `ilaver_`.
    Unknown,
    /// It is this library, a copy of it, or one that forwards to it.
    Own,
}

impl LibraryKind {
    /// Determines the kind of the library that contains `function`. Keeps the library loaded by not closing its handle,
    /// unless it is [`Self::Own`].
    fn of(function: Function) -> Self {
        /// The base address of the last library of each kind. The library stays loaded, so the address stays valid.
        static LAST: [AtomicPtr<c_void>; 3] = [const { AtomicPtr::new(null_mut()) }; 3];
        let Some(object) = Object::of(function) else { return Self::Unknown };
        let is_known = |kind: &Self| LAST[*kind as usize].load(Ordering::Acquire) == object.base;
        if let Some(known) = [Self::Lapack, Self::Ilp64, Self::Unknown].into_iter().find(is_known) {
            return known;
        }
        if object.is_own() {
            return Self::Own;
        }
        let Some(library) = object.library() else { return Self::Unknown };
        let kind = Self::of_library(library, &object);
        match kind {
            Self::Own => library.close(),
            _ => LAST[kind as usize].store(object.base, Ordering::Release),
        }
        kind
    }

    fn of_library(library: Library, object: &Object) -> Self {
        let has = |name| object.inside(library, name);
        match (has(OWN_SYMBOL), has(c"ilaver_")) {
            (Some(_), _) => Self::Own,
            (None, Some(ilaver)) => Self::of_version(ilaver),
            (None, None) => Self::Unknown,
        }
    }

    fn of_version(ilaver: Function) -> Self {
        OWN_VERSION_CALLED.set(false);
        // A routine with 32-bit integers does not write the upper halves, so the numbers stay negative.
        let [mut major, mut minor, mut patch] = [-1_i64; 3];
        // SAFETY: a routine with this name writes three integers of at most 64 bits, to three local variables.
        unsafe {
            let ilaver: unsafe extern "C" fn(*mut i64, *mut i64, *mut i64) = std::mem::transmute(ilaver);
            ilaver(&mut major, &mut minor, &mut patch);
        }
        match major {
            _ if OWN_VERSION_CALLED.get() => Self::Own,
            -1 => Self::Unknown,
            ..-1 => Self::Lapack,
            0.. => Self::Ilp64,
        }
    }
}

thread_local! {
    /// Whether this library's `ilaver_` was called on this thread since [`LibraryKind::of_version`] reset the flag.
    static OWN_VERSION_CALLED: Cell<bool> = const { Cell::new(false) };
}

/// Notes a call of this library's `ilaver_`, which shows that the queried library forwards to this one.
pub(crate) fn note_version_call() {
    OWN_VERSION_CALLED.set(true);
}
