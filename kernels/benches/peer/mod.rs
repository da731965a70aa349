//! cuBLAS's and cuSOLVER's batched routines in double precision, on matrices in the heap of the GPU under test.

use crate::gpu::CALLS;
use cudarc::{
    cublas::sys as blas,
    cusolver::sys as solver,
    driver::sys::{self as driver, CUstream},
};
use std::time::Instant;
use superscalar_runtime::DeviceError;

/// A routine on n x n matrices and columns, one behind the other. `orders` are n and the number of problems. Addresses
/// are bytes from the start of the heap. A factorization's operand is copied from `source` before each call.
pub enum PeerCall {
    Gemm { orders: (usize, usize), a: usize, b: usize, c: usize },
    Gemv { orders: (usize, usize), transposed: bool, a: usize, x: usize, y: usize },
    Trsm { orders: (usize, usize), transposed: bool, a: usize, b: usize },
    Potrf { orders: (usize, usize), source: usize, a: usize },
    Getrf { orders: (usize, usize), source: usize, a: usize },
    Geqrf { orders: (usize, usize), source: usize, a: usize, tau: usize },
}

/// The libraries, a stream for them, and memory for their pointers.
pub struct Peer {
    heap: u64,
    stream: CUstream,
    blas: blas::cublasHandle_t,
    solver: solver::cusolverDnHandle_t,
    /// Two arrays of addresses, interchanges and outcomes.
    pointers: u64,
    numbers: u64,
}

/// The most problems.
const PROBLEMS_MAX: usize = 10_000;
/// The most interchanges.
const NUMBERS_MAX: usize = 1 << 20;

fn check(name: &str, code: i32) -> Result<(), DeviceError> {
    if code == 0 { Ok(()) } else { Err(DeviceError::new(format!("{name} returned {code}"))) }
}

fn operation(transposed: bool) -> blas::cublasOperation_t {
    match transposed {
        false => blas::cublasOperation_t::CUBLAS_OP_N,
        true => blas::cublasOperation_t::CUBLAS_OP_T,
    }
}

/// Calls a function that returns a status.
macro_rules! call {
    ($library:ident::$name:ident($($argument:expr),* $(,)?)) => {
        // SAFETY: the arguments are those that the library documents; addresses are in the heap or in this struct's
        // memory, which has room for all problems.
        check(stringify!($name), unsafe { $library::$name($($argument),*) } as i32)
    };
}

impl Peer {
    /// Opens the libraries on the first GPU, whose heap is at this address.
    pub fn open(heap: u64) -> Result<Self, DeviceError> {
        let (mut context, mut stream) = (std::ptr::null_mut(), std::ptr::null_mut());
        let (mut handle, mut dense) = (std::ptr::null_mut(), std::ptr::null_mut());
        let (mut pointers, mut numbers) = (0, 0);
        call!(driver::cuDevicePrimaryCtxRetain(&mut context, 0))?;
        call!(driver::cuCtxSetCurrent(context))?;
        call!(driver::cuStreamCreate(&mut stream, 0))?;
        call!(driver::cuMemAlloc_v2(&mut pointers, 2 * 8 * PROBLEMS_MAX))?;
        call!(driver::cuMemAlloc_v2(&mut numbers, 4 * (NUMBERS_MAX + PROBLEMS_MAX)))?;
        call!(blas::cublasCreate_v2(&mut handle))?;
        call!(blas::cublasSetStream_v2(handle, stream.cast()))?;
        call!(solver::cusolverDnCreate(&mut dense))?;
        call!(solver::cusolverDnSetStream(dense, stream.cast()))?;
        Ok(Self { heap, stream, blas: handle, solver: dense, pointers, numbers })
    }

    /// Returns the seconds of a call when several are queued, without the copies.
    pub fn round(&mut self, call: &PeerCall) -> Result<f64, DeviceError> {
        self.set_pointers(call)?;
        self.once(call, true)?;
        let all = self.time(|peer| peer.once(call, true))?;
        let copies = if call.source().is_some() { self.time(|peer| peer.copy(call))? } else { 0.0 };
        Ok(all - copies)
    }

    /// Returns the bytes per second at which this many doubles are read.
    pub fn read_rate(&mut self, start: usize, count: usize) -> Result<f64, DeviceError> {
        let (x, mut sum) = ((self.heap + start as u64) as *const f64, 0.0);
        let mut best = f64::INFINITY;
        for _ in 0..5 {
            let start = Instant::now();
            call!(blas::cublasDasum_v2_64(self.blas, count as i64, x, 1, &mut sum))?;
            best = best.min(start.elapsed().as_secs_f64());
        }
        Ok((count * 8) as f64 / best)
    }

    fn time(&mut self, mut work: impl FnMut(&mut Self) -> Result<(), DeviceError>) -> Result<f64, DeviceError> {
        call!(driver::cuStreamSynchronize(self.stream))?;
        let start = Instant::now();
        for _ in 0..CALLS {
            work(self)?;
        }
        call!(driver::cuStreamSynchronize(self.stream))?;
        Ok(start.elapsed().as_secs_f64() / CALLS as f64)
    }

    /// Writes the addresses of the matrices and vectors.
    fn set_pointers(&mut self, call: &PeerCall) -> Result<(), DeviceError> {
        let (&PeerCall::Trsm { orders, a, .. }
        | &PeerCall::Potrf { orders, a, .. }
        | &PeerCall::Getrf { orders, a, .. }
        | &PeerCall::Geqrf { orders, a, .. }) = call
        else {
            return Ok(());
        };
        let second = match *call {
            PeerCall::Trsm { b, .. } => b,
            PeerCall::Geqrf { tau, .. } => tau,
            _ => a,
        };
        let (n, count) = orders;
        let heap = self.heap;
        let addresses = |start: usize, size: usize| (0..count).map(move |p| heap + (start + p * size * 8) as u64);
        let list: Vec<u64> = addresses(a, n * n).chain(addresses(second, n)).collect();
        call!(driver::cuMemcpyHtoD_v2(self.pointers, list.as_ptr().cast(), 8 * list.len()))
    }

    fn copy(&mut self, call: &PeerCall) -> Result<(), DeviceError> {
        let Some((to, from, bytes)) = call.source() else { return Ok(()) };
        call!(driver::cuMemcpyDtoDAsync_v2(self.heap + to as u64, self.heap + from as u64, bytes, self.stream))
    }

    fn once(&mut self, call: &PeerCall, copies: bool) -> Result<(), DeviceError> {
        if copies {
            self.copy(call)?;
        }
        let at = |start: usize| (self.heap + start as u64) as *mut f64;
        let (one, zero) = (1.0, 0.0);
        let handle = self.blas;
        match *call {
            PeerCall::Gemm { orders: (n, count), a, b, c } => {
                let (k, stride, none) = (n as i32, (n * n) as i64, operation(false));
                call!(blas::cublasDgemmStridedBatched(
                    handle,
                    none,
                    none,
                    k,
                    k,
                    k,
                    &one,
                    at(a),
                    k,
                    stride,
                    at(b),
                    k,
                    stride,
                    &zero,
                    at(c),
                    k,
                    stride,
                    count as i32,
                ))
            }
            PeerCall::Gemv { orders: (n, count), transposed, a, x, y } => {
                let (k, stride) = (n as i32, (n * n) as i64);
                call!(blas::cublasDgemvStridedBatched(
                    handle,
                    operation(transposed),
                    k,
                    k,
                    &one,
                    at(a),
                    k,
                    stride,
                    at(x),
                    1,
                    n as i64,
                    &zero,
                    at(y),
                    1,
                    n as i64,
                    count as i32,
                ))
            }
            _ => self.with_pointers(call),
        }
    }

    /// Calls a routine that takes arrays of addresses.
    fn with_pointers(&mut self, call: &PeerCall) -> Result<(), DeviceError> {
        let one = 1.0;
        let (list, handle) = (self.pointers as *mut *mut f64, self.blas);
        let (ipiv, info) = (self.numbers as *mut i32, (self.numbers + 4 * NUMBERS_MAX as u64) as *mut i32);
        match *call {
            PeerCall::Trsm { orders: (n, count), transposed, .. } => {
                let k = n as i32;
                let vectors = list.wrapping_add(count);
                call!(blas::cublasDtrsmBatched(
                    handle,
                    blas::cublasSideMode_t::CUBLAS_SIDE_LEFT,
                    blas::cublasFillMode_t::CUBLAS_FILL_MODE_LOWER,
                    operation(transposed),
                    blas::cublasDiagType_t::CUBLAS_DIAG_NON_UNIT,
                    k,
                    1,
                    &one,
                    list.cast(),
                    k,
                    vectors.cast_const(),
                    k,
                    count as i32,
                ))
            }
            PeerCall::Potrf { orders: (n, count), .. } => {
                let lower = solver::cublasFillMode_t::CUBLAS_FILL_MODE_LOWER;
                call!(solver::cusolverDnDpotrfBatched(self.solver, lower, n as i32, list, n as i32, info, count as i32))
            }
            PeerCall::Getrf { orders: (n, count), .. } => {
                call!(blas::cublasDgetrfBatched(
                    handle,
                    n as i32,
                    list.cast_const(),
                    n as i32,
                    ipiv,
                    info,
                    count as i32
                ))
            }
            PeerCall::Geqrf { orders: (n, count), .. } => {
                let (k, taus, mut outcome) = (n as i32, list.wrapping_add(count), 0);
                call!(blas::cublasDgeqrfBatched(
                    handle,
                    k,
                    k,
                    list.cast_const(),
                    k,
                    taus.cast_const(),
                    &mut outcome,
                    count as i32
                ))
            }
            _ => Ok(()),
        }
    }
}

impl PeerCall {
    /// Returns where the operand is copied to and from, and its bytes.
    fn source(&self) -> Option<(usize, usize, usize)> {
        match *self {
            Self::Potrf { orders: (n, count), source, a }
            | Self::Getrf { orders: (n, count), source, a }
            | Self::Geqrf { orders: (n, count), source, a, .. } => Some((a, source, n * n * count * 8)),
            _ => None,
        }
    }
}
