//! LAPACK's routines that this library does not compute: a call of one goes on to another library, which computes it.
//!
//! Programs look up all of LAPACK in the library that they take for it. `forwarded.txt` lists the routines of LAPACK's
//! Fortran interface, with integers of 32 bits, that are not computed here. This module exports a function for each, of
//! the routine's name. The module is empty on all systems but Linux on x86-64: the functions are made of that
//! processor's instructions, and the search asks glibc's or musl's loader.
//!
//! **A call.** An exported function is two instructions: it notes its number in `r11`, and jumps to the address in its
//! slot of [`TABLE`]. The arguments, the stack and the result stay as they are, so the function needs no prototype, and
//! passes on what C callers and Fortran callers do differently (lengths of strings). A slot first holds the address of
//! [`resolving`], which saves the registers, has [`resolve`] search, and goes on to what was found. The slot then holds
//! what was found, and calls cost one indirect jump more than without this library.
//!
//! **The search.** [`search`] takes the first function of the routine's name in these places:
//!
//! 1. the library that `SUPERSCALAR_LAPACK` names; with `off` there is no further place;
//! 2. what the loader finds behind this library, which is what the program would call without it;
//! 3. the library that calls, and those that it needs: a module of Python's and its LAPACK are in no list that the
//!    loader searches for others, and a library may export parts of LAPACK for its own calls;
//! 4. all libraries that are loaded;
//! 5. the folders in which Debian installs a LAPACK, and the names that a system's LAPACK commonly has.
//!
//! Places 2 and 3 have what would be called without this library. The first call of a routine decides for all.
//!
//! **What is not taken.** A function of this library, or of a second copy of it, would lead back here, and the call
//! would never end. The same holds for a library that itself forwards to this one, as libblastrampoline and FlexiBLAS
//! may. Some libraries have integers of 64 bits under the names that are for 32, and some contain a few routines of
//! LAPACK that were translated to C with other types. So a library of places 4 and 5 has to have `ilaver_`, LAPACK's
//! question for its version, and the answer has to be in 32 bits. A library is known to lead back if the `ilaver_` of
//! this library was called by that question: it calls [`version_was_asked`].
//!
//! **Threads and forks.** No lock is taken here; the loader holds one of its own while it opens a library. LAPACKs also
//! call the names that this library exports, so a search may begin within a search. Threads that search for one routine
//! at the same time each find a right address, and each store it. A child of a fork finds slots that are either as at
//! first or filled.
//!
//! **Nothing found.** The routine and the variable are named on standard error, once for each routine. The call
//! returns, and has computed nothing. Its INFO argument, if it has one, is [`NOT_FOUND`]; its result, if it has one, is
//! zero. The next call searches again.

#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use crate::{
    loader::{Function, Library, Object, next, paths_of_loaded},
    messages::say,
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

/// What INFO is after a call that found no LAPACK. LAPACK's own negative values are positions of arguments, of which no
/// routine has 100.
const NOT_FOUND: i32 = -1099;
/// Names the library that is asked first.
const VARIABLE: &str = "SUPERSCALAR_LAPACK";
/// The value of the variable with which no library is asked.
const OFF: &str = "off";
/// Where a LAPACK is, if none is loaded: by path, and by the names that the loader looks for in its folders.
const USUAL: [&CStr; 7] = [
    c"/usr/lib/x86_64-linux-gnu/openblas-pthread/liblapack.so.3",
    c"/usr/lib/x86_64-linux-gnu/openblas-openmp/liblapack.so.3",
    c"/usr/lib/x86_64-linux-gnu/openblas-serial/liblapack.so.3",
    c"/usr/lib/x86_64-linux-gnu/lapack/liblapack.so.3",
    c"/usr/lib/x86_64-linux-gnu/atlas/liblapack.so.3",
    c"liblapack.so.3",
    c"libopenblas.so.0",
];
/// A name that every copy of this library exports, and no other library.
const OWN: &CStr = c"superscalar_set_num_threads";

/// A routine of the list.
struct Routine {
    /// The exported name.
    name: &'static CStr,
    /// The position of its INFO argument, from 1; 0 if it has none.
    info: usize,
}

macro_rules! forwarded {
    ($($index:literal $symbol:ident $name:literal $info:literal;)*) => {
        const COUNT: usize = [$($info),*].len();
        static ROUTINES: [Routine; COUNT] = [$(Routine { name: $name, info: $info }),*];
        $(
            // SAFETY: the name is LAPACK's, which is given to nothing else here. The instructions change `r11` only,
            // which no caller expects to be kept, and jump to a function that takes the arguments as they are.
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

/// Where the calls of each routine go.
static TABLE: [AtomicPtr<c_void>; COUNT] = [const { AtomicPtr::new(resolving as *mut c_void) }; COUNT];
/// Of which routines it was said that there is no LAPACK.
static SAID: [AtomicBool; COUNT] = [const { AtomicBool::new(false) }; COUNT];

/// Where a call arrives whose routine was not searched for yet: `r11` holds the routine's number, all else is the
/// caller's.
///
/// The registers of integers, the number of vector registers in `rax`, `r10` and the halves of the vector registers
/// that carry arguments are saved. The upper parts of the latter carry none, and no caller expects them to be kept.
// SAFETY: the stack is left as it was found, and so is each register that may carry an argument. `resolve` is called
// with the stack aligned, and with addresses that are valid while it runs.
#[unsafe(naked)]
unsafe extern "C" fn resolving() {
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
        // Above the saved rbp are the address to return to, and then the arguments that are not in registers.
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
        // Nothing was found. These four carry results: integers, real numbers and complex ones.
        "2:",
        "xor eax, eax",
        "xor edx, edx",
        "xorps xmm0, xmm0",
        "xorps xmm1, xmm1",
        "ret",
        resolve = sym resolve,
    )
}

/// Where this call and all further ones of the routine go. Null if there is nothing: then the INFO argument says so.
///
/// # Safety
/// The addresses are those of the call's first six arguments and of its further ones, which are of the routine's types.
/// Before the latter is the address to which the call returns.
unsafe extern "C" fn resolve(index: u32, registers: *const *mut i32, stack: *const *mut i32) -> *mut c_void {
    let index = index as usize;
    let body = || {
        let routine = &ROUTINES[index];
        // SAFETY: as the caller promises.
        let caller = NonNull::new(unsafe { stack.sub(1).cast::<*mut c_void>().read() });
        if let Some(function) = search(routine.name, caller, || variable(VARIABLE)) {
            TABLE[index].store(function.as_ptr(), Ordering::Release);
            return function.as_ptr();
        }
        once(&SAID[index], || {
            let name = routine.name.to_string_lossy();
            format!(
                "superscalar: {name}: no LAPACK was found, and nothing is computed; {VARIABLE} may name one by its path"
            )
        });
        let info = match routine.info {
            0 => null_mut(),
            // SAFETY: the routine has an argument at this position, and the first six of a call are in registers.
            at @ 1..=6 => unsafe { *registers.add(at - 1) },
            // SAFETY: as above; this one is on the stack.
            at => unsafe { *stack.add(at - 7) },
        };
        if !info.is_null() {
            // SAFETY: the caller gives the address of an integer for the routine to write.
            unsafe { info.write(NOT_FOUND) };
        }
        null_mut()
    };
    // The panic's own message is on standard error by then.
    catch_unwind(AssertUnwindSafe(body)).unwrap_or(null_mut())
}

/// Says the line if this is the first time.
fn once(said: &AtomicBool, line: impl FnOnce() -> String) {
    if !said.swap(true, Ordering::Relaxed) {
        say(&line());
    }
}

/// The function of that name in the first place that has one. `caller` is an address in the library that calls it, and
/// `configured` names the configured library.
fn search(name: &CStr, caller: Option<Function>, configured: impl FnOnce() -> Option<OsString>) -> Option<Function> {
    match Configured::known(configured) {
        Configured::Off => None,
        Configured::None => beyond(name, caller),
        Configured::Library(library) => in_configured(library, name).or_else(|| beyond(name, caller)),
    }
}

/// What the variable says, as it was when the first routine was searched for.
enum Configured {
    None,
    Off,
    Library(Library),
}

impl Configured {
    /// Of threads that come first together, each opens the library, and all get the same handle.
    fn known(value: impl FnOnce() -> Option<OsString>) -> Self {
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
        static SAID: AtomicBool = AtomicBool::new(false);
        let Some(value) = value() else { return Self::None };
        if value == OFF {
            return Self::Off;
        }
        // A value of the environment has no null byte; one of a file could have.
        let opened = CString::new(value.as_bytes()).ok().and_then(|path| Library::open(&path));
        if let Some(library) = opened {
            return Self::Library(library);
        }
        once(&SAID, || {
            let (value, why) = (value.display(), Library::error());
            format!("superscalar: {VARIABLE}={value}: {why}; LAPACK is looked for elsewhere")
        });
        Self::None
    }
}

/// The configured library's function. A library that has no `ilaver_` is believed to be what it was configured for.
fn in_configured(library: Library, name: &CStr) -> Option<Function> {
    static SAID: AtomicBool = AtomicBool::new(false);
    let function = library.function(name);
    let why = match function.map(Kind::of) {
        Some(Kind::Lapack | Kind::Unknown) => return function,
        Some(Kind::Wide) => "has integers of 64 bits under this name",
        Some(Kind::Own) => "leads back to this library",
        None => "does not have it",
    };
    once(&SAID, || {
        let name = name.to_string_lossy();
        format!("superscalar: {name}: the library that {VARIABLE} names {why}; such routines are looked for elsewhere")
    });
    None
}

/// The function in the places that are not configured.
fn beyond(name: &CStr, caller: Option<Function>) -> Option<Function> {
    /// The library in which places 4 and 5 had a function, for the next routine. Its handle is never closed.
    static LAST: AtomicPtr<c_void> = AtomicPtr::new(null_mut());
    let of_lapack = |library: Library| {
        let function = library.function(name).filter(|&function| matches!(Kind::of(function), Kind::Lapack))?;
        LAST.store(library.0.as_ptr(), Ordering::Release);
        Some(function)
    };
    let of_loaded = |path: CString| {
        let library = Library::loaded(&path)?;
        of_lapack(library).or_else(|| {
            library.close();
            None
        })
    };
    let of_caller = || caller.and_then(Object::of)?.function(name);
    let leads_away = |function: &Function| !matches!(Kind::of(*function), Kind::Own);
    next(name)
        .filter(leads_away)
        .or_else(|| of_caller().filter(leads_away))
        .or_else(|| NonNull::new(LAST.load(Ordering::Acquire)).map(Library).and_then(of_lapack))
        .or_else(|| paths_of_loaded().into_iter().find_map(of_loaded))
        // One that is not taken is not closed: it may have started threads.
        .or_else(|| USUAL.into_iter().filter_map(Library::open).find_map(of_lapack))
}

/// What the library that a function belongs to tells of itself.
#[derive(Clone, Copy)]
enum Kind {
    /// It has `ilaver_`, with integers of 32 bits.
    Lapack,
    /// It has `ilaver_`, with integers of 64 bits.
    Wide,
    /// It has no `ilaver_`.
    Unknown,
    /// It is this library, a copy of it, or one that forwards to it.
    Own,
}

impl Kind {
    /// The library stays loaded from now on, even if those who loaded it close their handles, unless it leads back
    /// here.
    fn of(function: Function) -> Self {
        /// Where the library begins that was last found to be of each kind. Since it stays, nothing else begins there.
        static LAST: [AtomicPtr<c_void>; 3] = [const { AtomicPtr::new(null_mut()) }; 3];
        let Some(object) = Object::of(function) else { return Self::Unknown };
        let is_known = |kind: &Self| LAST[*kind as usize].load(Ordering::Acquire) == object.base;
        if let Some(known) = [Self::Lapack, Self::Wide, Self::Unknown].into_iter().find(is_known) {
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
        match (has(OWN), has(c"ilaver_")) {
            (Some(_), _) => Self::Own,
            (None, Some(ilaver)) => Self::asked(ilaver),
            (None, None) => Self::Unknown,
        }
    }

    fn asked(ilaver: Function) -> Self {
        WAS_ASKED.set(false);
        // A routine with integers of 32 bits leaves the upper halves as they are, which makes the numbers negative.
        let [mut major, mut minor, mut patch] = [-1_i64; 3];
        // SAFETY: by this name goes a routine that writes three integers, and there is room for 64 bits of each.
        unsafe {
            let ilaver: unsafe extern "C" fn(*mut i64, *mut i64, *mut i64) = std::mem::transmute(ilaver);
            ilaver(&mut major, &mut minor, &mut patch);
        }
        match major {
            _ if WAS_ASKED.get() => Self::Own,
            -1 => Self::Unknown,
            ..-1 => Self::Lapack,
            0.. => Self::Wide,
        }
    }
}

thread_local! {
    /// Whether the `ilaver_` of this library was called since a library was last asked.
    static WAS_ASKED: Cell<bool> = const { Cell::new(false) };
}

/// This library's `ilaver_` calls it first, so that a library which forwards to this one is told from one that
/// computes.
pub(crate) fn version_was_asked() {
    WAS_ASKED.set(true);
}
