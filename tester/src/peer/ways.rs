//! The ways in which a peer computes a batch.

use super::batch::BatchCall;
use super::invoke::invoke;
use super::mkl::Compact;
use super::{Interface, Peer, Threads, Unavailable, looped, mkl};
use crate::case::Location;
use std::time::Duration;
use superscalar_kernels::Scalar;
use superscalar_runtime::Runtime;

/// A way in which a peer computes a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// A call for each problem, on all workers of the runtime.
    Loop,
    /// A call of the library's gemm for batches, with its own threads.
    GemmBatch,
    /// MKL's compact routine. `with_copies` says whether copies to and from its format are a part of its time.
    Compact { with_copies: bool },
    /// A call of NVIDIA's routine for batches for each size.
    Gpu,
}

impl Way {
    /// Returns what follows the peer's name in rows.
    pub fn suffix(self) -> &'static str {
        match self {
            Self::Loop => "/loop",
            Self::GemmBatch => "/batch",
            Self::Compact { with_copies: false } => "/compact",
            Self::Compact { with_copies: true } => "/packing",
            Self::Gpu => "/batched",
        }
    }
}

impl Peer {
    /// Returns the ways in which this library computes a batch of the routine with this name in a call, which has the
    /// type's letter.
    pub fn ways<T: Scalar>(&self, routine: &str) -> Vec<Way> {
        if let Interface::Gpu(_) = self.interface {
            return vec![Way::Gpu];
        }
        let mut ways = vec![Way::Loop];
        if routine == "gemm" && self.symbol_named(&gemm_batch::<T>()).is_some() {
            ways.push(Way::GemmBatch);
        }
        if self.compact::<T>(routine).is_some() {
            ways.extend([false, true].map(|with_copies| Way::Compact { with_copies }));
        }
        ways
    }

    /// Makes the calls and returns their duration.
    ///
    /// # Errors
    /// If the library does not have the routine, or does not take such a batch.
    pub fn call_batch<T: Scalar>(
        &self,
        way: Way,
        batch: &mut BatchCall<'_, T>,
        rt: &Runtime,
        location: Location,
    ) -> Result<Duration, Unavailable> {
        batch.absence()?;
        let Some(name) = batch.name() else { return Ok(Duration::ZERO) };
        let missing = |what: String| Unavailable(format!("{} has no {what}", self.name));
        if let Interface::Gpu(gpu) = &self.interface {
            return gpu.call_batch(batch, location);
        }
        if location == Location::Device {
            return Err(Unavailable(format!("{} takes matrices in host memory", self.name)));
        }
        let threads = self.threads();
        match way {
            Way::Loop | Way::Gpu => {
                let name = format!("{}{name}", T::LETTER);
                let symbol = self.symbol(&name).ok_or_else(|| missing(name))?;
                // SAFETY: `symbol` is the routine named by the argument lists, which are its documented ones.
                unsafe { looped::call(symbol, threads, batch, rt) }
            }
            Way::GemmBatch => {
                let symbol = self.symbol_named(&gemm_batch::<T>()).ok_or_else(|| missing(gemm_batch::<T>()))?;
                batch.info.fill(0);
                self.set_openblas_threads(rt.workers());
                // SAFETY: `symbol` is that routine. There is such a way only for gemm.
                let result = unsafe { mkl::gemm_batch(symbol, batch) };
                self.set_openblas_threads(1);
                result
            }
            Way::Compact { with_copies } => {
                let routines = self.compact::<T>(name).ok_or_else(|| missing(format!("compact {name}")))?;
                batch.info.fill(0);
                // SAFETY: these are the routines of this name and type.
                let (routine, copies) = unsafe { mkl::compact(routines, threads, batch, rt)? };
                Ok(if with_copies { routine + copies } else { routine })
            }
        }
    }

    /// Returns MKL's compact routines.
    fn compact<T: Scalar>(&self, routine: &str) -> Option<Compact> {
        if !["gemm", "potrf", "getrfnp", "geqrf"].contains(&routine) {
            return None;
        }
        let symbol = |name: &str| self.symbol_named(&format!("mkl_{}{name}_compact", T::LETTER));
        Some(Compact {
            format: self.symbol_named("mkl_get_format_compact")?,
            size: symbol("get_size")?,
            pack: symbol("gepack")?,
            unpack: symbol("geunpack")?,
            routine: symbol(routine)?,
        })
    }

    /// Sets the number of threads of OpenBLAS, which is one for calls of single problems. MKL has another way.
    fn set_openblas_threads(&self, count: usize) {
        let Some(symbol) = self.symbol_named("openblas_set_num_threads") else { return };
        let word = std::ptr::without_provenance_mut;
        // SAFETY: the function takes an `int`, and ignores additional words.
        unsafe { invoke::<()>(symbol, &[word(count), word(0), word(0), word(0)]) };
    }

    /// Returns how MKL uses one thread in a task.
    fn threads(&self) -> Threads {
        Threads { set: self.symbol_named("MKL_Set_Num_Threads_Local") }
    }
}

fn gemm_batch<T: Scalar>() -> String {
    format!("cblas_{}gemm_batch", T::LETTER)
}
