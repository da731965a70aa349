//! Peers: BLAS and LAPACK libraries opened at run time and called through their Fortran interface, and NVIDIA's
//! libraries for GPUs.
//!
//! This is the only module with `unsafe` code: this file opens libraries, [`call`] builds argument lists, [`invoke`]
//! makes calls, and [`gpu`] does all of this for NVIDIA's libraries. For batches, [`ways`] chooses among [`looped`],
//! [`mkl`] and [`gpu`]. Besides the notes at each block, the code relies
//! on the following:
//!
//! - A Fortran subroutine takes the address of every argument, followed by the length of each CHARACTER argument by
//!   value. Addresses and lengths are one machine word each. INTEGER has 32 bits (LP64).
//! - A Fortran function whose result is REAL or DOUBLE PRECISION returns a C `float` or `double`, as with gfortran. (No
//!   library in use follows f2c's convention, a `double` for both.)
//! - A [`FortranCall`] is the routine's argument list as in the BLAS or LAPACK documentation. A list that differs from
//!   the documentation is an error in this program, like a wrong `extern` declaration. So are arrays that are too small
//!   for the sizes passed with them.

mod batch;
mod call;
mod gpu;
mod invoke;
mod looped;
mod mkl;
mod ways;

use crate::case::Location;
pub use batch::{BatchCall, SizeClass, Span};
pub use call::FortranCall;
use gpu::Gpu;
use libloading::Library;
use std::error::Error;
use std::ffi::{CStr, c_char, c_void};
use std::fmt;
use std::time::Duration;
use superscalar_kernels::Scalar;
pub use ways::Way;

/// Environment variables that set the libraries' number of threads. MKL's routines for batches have threads of their
/// own; elsewhere in a batch, MKL is told to use one thread by a function.
const THREAD_VARIABLES: [&str; 3] = ["OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "BLIS_NUM_THREADS"];
const MKL_THREAD_VARIABLE: &str = "MKL_NUM_THREADS";
/// Environment variables that keep them from using fewer threads.
const DYNAMIC_VARIABLES: [&str; 2] = ["OMP_DYNAMIC", "MKL_DYNAMIC"];
/// MKL's variable for its threading library, and the available libraries in the order in which they are tried.
const MKL_LAYER_VARIABLE: &str = "MKL_THREADING_LAYER";
const MKL_LAYERS: [(&str, &str); 2] = [("INTEL", "libiomp5.so"), ("GNU", "libgomp.so.1")];

/// Sets the number of threads of these peers, which must not be open yet. A call for a problem of a batch uses one.
///
/// Must be called while the process has only one thread, because it writes the environment. It returns an error if
/// [`thread_count`] reports more. Libraries on GPUs need no setting.
pub fn set_threads(threads: usize, is_batch: bool, peers: &[PeerPath]) -> Result<(), PeerError> {
    if peers.iter().all(|peer| gpu::is_named(&peer.library)) {
        return Ok(());
    }
    match thread_count() {
        None | Some(1) => {}
        Some(count) => return Err(PeerError::Threads(count)),
    }
    let of_a_call = if is_batch { 1 } else { threads };
    let counts = THREAD_VARIABLES.map(|variable| (variable, of_a_call.to_string()));
    let counts = counts.into_iter().chain([(MKL_THREAD_VARIABLE, threads.to_string())]);
    let mut settings: Vec<_> = counts.chain(DYNAMIC_VARIABLES.map(|name| (name, "FALSE".to_owned()))).collect();
    let is_mkl = peers.iter().any(|peer| peer.library.contains("mkl"));
    if is_mkl && std::env::var_os(MKL_LAYER_VARIABLE).is_none() {
        // MKL ends the process if its threading library is missing, so select one that exists.
        // SAFETY: opening runs the initialisers of a threading library, which MKL would run too. The library is not
        // closed (`forget`), so its code stays mapped.
        let is_there = |library| unsafe { Library::new(library) }.map(std::mem::forget).is_ok();
        let layer = MKL_LAYERS.into_iter().find(|(_, library)| is_there(*library));
        settings.push((MKL_LAYER_VARIABLE, layer.map_or("SEQUENTIAL", |(layer, _)| layer).to_owned()));
    }
    for (variable, value) in settings {
        // SAFETY: no other thread exists that could read the environment at the same time: checked above, and the
        // initialisers of threading libraries start no thread. (If the system does not report the number of threads,
        // `main` calls this before it starts any.)
        unsafe { std::env::set_var(variable, value) };
    }
    Ok(())
}

/// Returns the number of threads of this process, if the system reports it.
fn thread_count() -> Option<usize> {
    Some(std::fs::read_dir("/proc/self/task").ok()?.count())
}

/// The errors of opening a peer.
#[derive(Debug, thiserror::Error)]
pub enum PeerError {
    #[error("{path}: {why}")]
    Open { path: String, why: String },
    #[error("{path} has none of {tried}: expected a BLAS with Fortran symbols; check the prefix")]
    NoBlas { path: String, tried: String },
    #[error("{0}")]
    Gpu(String),
    #[error("cannot set the peers' thread counts in the environment: {0} threads are running already; expected one")]
    Threads(usize),
}

/// A peer on the command line: `LIB` or `LIB,PREFIX`; or one of NVIDIA's libraries and the order of its blocks.
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
            return Err(format!("`{prefix}` is not a symbol prefix: expected letters, digits and underscores"));
        }
        Ok(Self { library: library.to_owned(), prefix: prefix.to_owned() })
    }
}

/// An open library.
pub struct Peer {
    name: String,
    interface: Interface,
}

/// The interface of a library.
enum Interface {
    /// A Fortran library, and the prefix of its symbols.
    Fortran { prefix: String, library: &'static Library },
    /// One of NVIDIA's libraries.
    Gpu(Gpu),
}

impl fmt::Debug for Peer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Peer({})", self.name)
    }
}

impl Peer {
    /// Opens the library. Its threads inherit the processor affinity of the calling thread, which should not be bound.
    /// Libraries for GPUs use the GPUs with these numbers.
    pub fn open(path: &PeerPath, gpus: &[i32]) -> Result<Self, PeerError> {
        if gpu::is_named(&path.library) {
            let gpu = Gpu::open(&path.library, &path.prefix, gpus).map_err(PeerError::Gpu)?;
            return Ok(Self { name: path.library.clone(), interface: Interface::Gpu(gpu) });
        }
        // SAFETY: opening runs the library's initialisers. The user named this library on the command line in order to
        // run it.
        let library = unsafe { Library::new(&path.library) };
        // The loader's message is the source of the error.
        let why = |error: libloading::Error| error.source().map_or_else(|| error.to_string(), ToString::to_string);
        let library = library.map_err(|error| PeerError::Open { path: path.library.clone(), why: why(error) })?;
        let file = path.library.rsplit('/').next().unwrap_or(&path.library);
        let name = file.strip_prefix("lib").unwrap_or(file);
        let name = name.split(".so").next().unwrap_or(name).to_owned();
        // The library is never closed: its threads keep running, so its code must stay mapped.
        let interface = Interface::Fortran { prefix: path.prefix.clone(), library: Box::leak(Box::new(library)) };
        let peer = Self { name, interface };
        if peer.symbol("dgemm").is_none() && peer.symbol("dpotrf").is_none() {
            let tried = format!("{0}dgemm_, {0}dgemm, {0}dpotrf_, {0}dpotrf", path.prefix);
            return Err(PeerError::NoBlas { path: path.library.clone(), tried });
        }
        Ok(peer)
    }

    /// Returns the library's file name, without `lib` and without `.so` and what follows it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the library's description of itself: OpenBLAS's version, and the processor whose kernels it uses, which
    /// may differ from the actual processor.
    pub fn about(&self, location: Location) -> Option<String> {
        if let Interface::Gpu(gpu) = &self.interface {
            return Some(gpu.about(location));
        }
        let symbol = self.symbol_named("openblas_get_config")?;
        // SAFETY: OpenBLAS declares `char *openblas_get_config(void)`, and `symbol` is that function.
        let text = unsafe {
            let get_config: unsafe extern "C" fn() -> *const c_char = std::mem::transmute(symbol);
            get_config()
        };
        // SAFETY: the text is not null, ends with a zero byte, and is a static buffer of the library, which is never
        // closed; nothing writes to it.
        (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
    }

    /// Returns the Fortran subroutine with this name, including the type letter. MKL marks routines that LAPACK does
    /// not have.
    fn symbol(&self, name: &str) -> Option<*const c_void> {
        [format!("{name}_"), name.to_owned(), format!("mkl_{name}")].iter().find_map(|name| self.symbol_named(name))
    }

    fn symbol_named(&self, name: &str) -> Option<*const c_void> {
        let Interface::Fortran { prefix, library } = &self.interface else { return None };
        let name = format!("{prefix}{name}");
        // SAFETY: this only looks up an address and does not call it. The address stays valid, since the library is
        // never closed.
        let address = unsafe { library.get::<*const c_void>(name.as_bytes()).ok()?.try_as_raw_ptr()? };
        (!address.is_null()).then_some(address.cast_const())
    }

    /// Makes the call on matrices that are copied to a GPU before and back afterwards. Returns its duration without the
    /// copies, and LAPACK's info.
    ///
    /// # Errors
    /// If the library does not accept matrices in GPU memory, or does not have the routine.
    pub fn call_on_device<T: Scalar>(&self, call: FortranCall<'_, T>) -> Result<(Duration, i32), Unavailable> {
        if let Some(why) = call.absence() {
            return Err(Unavailable(why.to_owned()));
        }
        match &self.interface {
            Interface::Gpu(gpu) => gpu.call_on_device(&call),
            Interface::Fortran { .. } => Err(Unavailable(format!("{} takes matrices in host memory", self.name))),
        }
    }

    /// Makes the call and returns LAPACK's info, or 0 for routines without info.
    ///
    /// # Errors
    /// If the library does not have the routine, or a size does not fit its integers.
    pub fn call<T: Scalar>(&self, mut call: FortranCall<'_, T>) -> Result<i32, Unavailable> {
        if let Some(why) = call.absence() {
            return Err(Unavailable(why.to_owned()));
        }
        if let Interface::Gpu(gpu) = &self.interface {
            return gpu.call(call);
        }
        let name = format!("{}{}", T::LETTER, call.name());
        let symbol = self.symbol(&name).ok_or_else(|| Unavailable(format!("{} has no {name}", self.name)))?;
        if call.is_too_large() {
            return Err(Unavailable(format!("a size does not fit the 32-bit integers of {name}")));
        }
        loop {
            // SAFETY: `symbol` is the routine named by `call`, and the list is its documented one (see the module
            // documentation). The views and slices in it are borrowed by `call` until it returns; all other arguments
            // are owned by `call`.
            let info = unsafe { call.invoke(symbol) };
            match call.next() {
                Some(next) if info == 0 => call = next,
                _ => return Ok(info),
            }
        }
    }
}

/// How a peer uses one thread for a call: by MKL's function, or because the environment says so.
#[derive(Clone, Copy)]
struct Threads {
    set: Option<*const c_void>,
}

impl Threads {
    /// Does some work in which the library uses only the calling thread.
    fn alone(self, work: impl FnOnce()) {
        let set = |count: usize| {
            let word = std::ptr::without_provenance_mut;
            if let Some(symbol) = self.set {
                // SAFETY: the function takes an `int`, and ignores additional words. Zero ends the setting.
                unsafe { invoke::invoke::<i32>(symbol, &[word(count), word(0), word(0), word(0)]) };
            }
        };
        set(1);
        work();
        set(0);
    }
}

/// The reason why a peer's routine was not called.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unavailable(pub String);
