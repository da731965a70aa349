//! Peers: BLAS and LAPACK libraries opened at run time and called through their Fortran interface, and NVIDIA's libraries for GPUs.
//!
//! This is the only module with `unsafe` code: this file opens libraries, [`call`] makes argument lists, [`invoke`] calls, [`gpu`] does all of it for
//! NVIDIA's. What it relies on, besides the notes at each block:
//! - a Fortran subroutine takes the address of every argument, and behind them the length of each CHARACTER argument by
//!   value; addresses and lengths are one machine word each. INTEGER has 32 bits (LP64);
//! - a Fortran function whose result is REAL or DOUBLE PRECISION returns a C `float` or `double`, as gfortran has it (f2c's
//!   convention, a `double` for both, is that of no library in use);
//! - a [`Call`] is the routine's argument list as the BLAS or LAPACK documentation has it. A list that differs from the
//!   documentation is an error in this program as a wrong `extern` declaration would be; arrays that are too small for the
//!   sizes passed with them are such errors.

mod call;
mod gpu;
mod invoke;

use crate::case::Location;
pub use call::Call;
use gpu::Gpu;
use libloading::Library;
use std::error::Error;
use std::ffi::{CStr, c_char, c_void};
use std::fmt;
use std::time::Duration;
use superscalar_kernels::Scalar;

/// Variables by which the libraries are told how many threads to use.
const THREAD_VARIABLES: [&str; 4] = ["OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "BLIS_NUM_THREADS", "MKL_NUM_THREADS"];
/// Variables by which they are told not to use fewer.
const DYNAMIC_VARIABLES: [&str; 2] = ["OMP_DYNAMIC", "MKL_DYNAMIC"];
/// MKL's choice of a threading library, and those that there are, in the order in which they are tried.
const MKL_LAYER_VARIABLE: &str = "MKL_THREADING_LAYER";
const MKL_LAYERS: [(&str, &str); 2] = [("INTEL", "libiomp5.so"), ("GNU", "libgomp.so.1")];

/// Tells these peers, which will be opened, how many threads to use.
///
/// To be called while the process has one thread: it writes the environment. [`thread_count`] refuses otherwise.
pub fn set_threads(threads: usize, peers: &[PeerPath]) -> Result<(), PeerError> {
    match thread_count() {
        None | Some(1) => {}
        Some(count) => return Err(PeerError::Threads(count)),
    }
    let counts = THREAD_VARIABLES.map(|variable| (variable, threads.to_string()));
    let mut settings: Vec<_> =
        counts.into_iter().chain(DYNAMIC_VARIABLES.map(|name| (name, "FALSE".to_owned()))).collect();
    let is_mkl = peers.iter().any(|peer| peer.library.contains("mkl"));
    if is_mkl && std::env::var_os(MKL_LAYER_VARIABLE).is_none() {
        // Without a threading library MKL ends the process, so it gets one that there is.
        // SAFETY: opening runs the initialisers of a threading library, as MKL would.
        let is_there = |library| unsafe { Library::new(library) }.map(std::mem::forget).is_ok();
        let layer = MKL_LAYERS.into_iter().find(|(_, library)| is_there(*library));
        settings.push((MKL_LAYER_VARIABLE, layer.map_or("SEQUENTIAL", |(layer, _)| layer).to_owned()));
    }
    for (variable, value) in settings {
        // SAFETY: as checked above no other thread exists that could read the environment meanwhile: initialisers of
        // threading libraries start none. (Where the system does not tell, `main` calls this before it starts any.)
        unsafe { std::env::set_var(variable, value) };
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
    #[error("{path}: {why}")]
    Open { path: String, why: String },
    #[error("{path} has none of {tried}: is it a BLAS with Fortran symbols, and is the prefix right?")]
    NoBlas { path: String, tried: String },
    #[error("{0}")]
    Gpu(String),
    #[error("peers' thread counts are set through the environment, and {0} threads run already")]
    Threads(usize),
}

/// Where a peer is, as the command line gives it: `LIB` or `LIB,PREFIX`; or one of NVIDIA's, and the order of its blocks.
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
    kind: Kind,
}

/// How it is called.
enum Kind {
    /// As a Fortran library; the prefix of its symbols.
    Fortran { prefix: String, library: &'static Library },
    /// By NVIDIA's interfaces.
    Gpu(Gpu),
}

impl fmt::Debug for Peer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Peer({})", self.name)
    }
}

impl Peer {
    /// Opens the library. Its threads inherit the processors that the calling thread may use, so this should happen
    /// on a thread that is bound to none. Libraries for GPUs use those of these numbers.
    pub fn open(path: &PeerPath, gpus: &[i32]) -> Result<Self, PeerError> {
        if gpu::is_named(&path.library) {
            let gpu = Gpu::open(&path.library, &path.prefix, gpus).map_err(PeerError::Gpu)?;
            return Ok(Self { name: path.library.clone(), kind: Kind::Gpu(gpu) });
        }
        // SAFETY: opening runs the library's initialisers. The user has named this library to be run.
        let library = unsafe { Library::new(&path.library) };
        // What the loader says is the error's source.
        let why = |error: libloading::Error| error.source().map_or_else(|| error.to_string(), ToString::to_string);
        let library = library.map_err(|error| PeerError::Open { path: path.library.clone(), why: why(error) })?;
        let file = path.library.rsplit('/').next().unwrap_or(&path.library);
        let name = file.strip_prefix("lib").unwrap_or(file);
        let name = name.split(".so").next().unwrap_or(name).to_owned();
        // Never closed: these libraries keep threads, whose code must stay where it is.
        let kind = Kind::Fortran { prefix: path.prefix.clone(), library: Box::leak(Box::new(library)) };
        let peer = Self { name, kind };
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
    pub fn about(&self, location: Location) -> Option<String> {
        if let Kind::Gpu(gpu) = &self.kind {
            return Some(gpu.about(location));
        }
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
        let Kind::Fortran { prefix, library } = &self.kind else { return None };
        let name = format!("{prefix}{name}");
        // SAFETY: the address is only looked up here; who calls it says what it takes. The library is never closed.
        let address = unsafe { library.get::<*const c_void>(name.as_bytes()).ok()?.try_as_raw_ptr()? };
        (!address.is_null()).then_some(address.cast_const())
    }

    /// Makes the call on matrices that were copied to a GPU before, and are copied back afterwards. Returns how long it took without that,
    /// and LAPACK's info.
    ///
    /// # Errors
    /// When the library takes no matrices in the memory of GPUs, or does not have the routine.
    pub fn call_on_device<T: Scalar>(&self, call: Call<'_, T>) -> Result<(Duration, i32), Unavailable> {
        if let Some(why) = call.absence() {
            return Err(Unavailable(why.to_owned()));
        }
        match &self.kind {
            Kind::Gpu(gpu) => gpu.call_on_device(&call),
            Kind::Fortran { .. } => Err(Unavailable(format!("{} takes matrices in host memory", self.name))),
        }
    }

    /// Makes the call and returns LAPACK's info, 0 for routines without.
    ///
    /// # Errors
    /// When the library does not have the routine, or sizes do not fit its integers.
    pub fn call<T: Scalar>(&self, mut call: Call<'_, T>) -> Result<i32, Unavailable> {
        if let Some(why) = call.absence() {
            return Err(Unavailable(why.to_owned()));
        }
        if let Kind::Gpu(gpu) = &self.kind {
            return gpu.call(call);
        }
        let name = format!("{}{}", T::LETTER, call.name());
        let symbol = self.symbol(&name).ok_or_else(|| Unavailable(format!("{} has no {name}", self.name)))?;
        if call.is_too_large() {
            return Err(Unavailable(format!("sizes beyond the 32-bit integers of {name}")));
        }
        loop {
            // SAFETY: the list is the documented one of this routine (see the head of this module); views and slices in
            // it are borrowed until the call is over, and the others live in `call`.
            let info = unsafe { call.invoke(symbol) };
            match call.next() {
                Some(next) if info == 0 => call = next,
                _ => return Ok(info),
            }
        }
    }
}

/// Why a peer's routine was not called.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unavailable(pub String);
