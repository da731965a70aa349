//! cuSOLVER: factorizations on one GPU. The matrix is copied there and back.

use super::super::{Call, Unavailable, call::code_of};
use super::api::{Api, Cuda, Host, Memory, at, word};
use std::ffi::c_void;
use std::time::{Duration, Instant};
use superscalar_kernels::Scalar;

/// The library, with a handle.
pub struct Dense {
    api: Api,
    cuda: Cuda,
    handle: *mut c_void,
    gpu: i32,
}

/// A matrix on the GPU, and where it is in host memory.
struct Loaded {
    memory: Memory,
    host: Host,
}

impl Dense {
    pub fn open(gpus: &[i32]) -> Result<Self, Unavailable> {
        let (api, cuda) = (Api::open("cusolver", &[12, 11])?, Cuda::open()?);
        let gpu = gpus.first().copied().unwrap_or(0);
        cuda.select(gpu)?;
        let mut handle = std::ptr::null_mut::<c_void>();
        // SAFETY: it writes a handle; words more are not looked at.
        unsafe { api.call("cusolverDnCreate", &[at(&mut handle), word(0), word(0), word(0)])? };
        Ok(Self { api, cuda, handle, gpu })
    }

    pub fn about(&self) -> String {
        format!("cuSOLVER on GPU {}", self.gpu)
    }

    /// Makes the call. Says how long it took without the copies, and the info.
    pub fn call<T: Scalar>(&self, call: &Call<'_, T>) -> Result<(Duration, i32), Unavailable> {
        self.cuda.select(self.gpu)?;
        let parts = call.parts();
        match (call.name(), &parts.letters[..], &parts.sizes[..], &parts.arrays[..]) {
            ("potrf", &[uplo], &[n, ld], &[a]) => self.potrf::<T>(uplo, (n, ld), a),
            ("getrf", [], &[m, n, ld], &[a, ipiv]) => self.getrf::<T>((m, n, ld), a, ipiv),
            ("geqrf", [], &[m, n, ld, _], &[a, tau]) => self.geqrf::<T>((m, n, ld), a, tau),
            (name, ..) => Err(Unavailable(format!("cuSOLVER is not asked for {name}"))),
        }
    }

    fn potrf<T: Scalar>(
        &self,
        uplo: u8,
        (n, ld): (usize, usize),
        a: *mut c_void,
    ) -> Result<(Duration, i32), Unavailable> {
        let uplo = word(code_of(uplo).unwrap_or(0));
        let a = self.load::<T>((n, n, ld), a)?;
        let [matrix, lda] = [a.memory.start(), word(n.max(1))];
        let work = self.work::<T>("potrf", &[uplo, word(n), matrix, lda])?;
        let info = self.cuda.memory(size_of::<i32>())?;
        let words = [self.handle, uplo, word(n), matrix, lda, work.0.start(), word(work.1), info.start()];
        let start = Instant::now();
        // SAFETY: the documented list, with memory of the GPU that is large enough.
        unsafe { self.api.call(&self.name::<T>("potrf"), &words)? };
        self.outcome(start, &a, &info)
    }

    fn getrf<T: Scalar>(
        &self,
        (m, n, ld): (usize, usize, usize),
        a: *mut c_void,
        ipiv: *mut c_void,
    ) -> Result<(Duration, i32), Unavailable> {
        let a = self.load::<T>((m, n, ld), a)?;
        let [matrix, lda] = [a.memory.start(), word(m.max(1))];
        let work = self.work::<T>("getrf", &[word(m), word(n), matrix, lda])?;
        let info = self.cuda.memory(size_of::<i32>())?;
        let count = m.min(n);
        let pivots = self.cuda.memory(count * size_of::<i32>())?;
        let words = [self.handle, word(m), word(n), matrix, lda, work.0.start(), pivots.start(), info.start()];
        let start = Instant::now();
        // SAFETY: the documented list, with memory of the GPU that is large enough.
        unsafe { self.api.call(&self.name::<T>("getrf"), &words)? };
        let outcome = self.outcome(start, &a, &info)?;
        // SAFETY: the caller's array has a place for each interchange.
        unsafe { pivots.store(0, column(ipiv, count * size_of::<i32>()))? };
        Ok(outcome)
    }

    fn geqrf<T: Scalar>(
        &self,
        (m, n, ld): (usize, usize, usize),
        a: *mut c_void,
        tau: *mut c_void,
    ) -> Result<(Duration, i32), Unavailable> {
        let a = self.load::<T>((m, n, ld), a)?;
        let [matrix, lda] = [a.memory.start(), word(m.max(1))];
        let work = self.work::<T>("geqrf", &[word(m), word(n), matrix, lda])?;
        let info = self.cuda.memory(size_of::<i32>())?;
        let scalars = self.cuda.memory(m.min(n) * size_of::<T>())?;
        let words =
            [self.handle, word(m), word(n), matrix, lda, scalars.start(), work.0.start(), word(work.1), info.start()];
        let start = Instant::now();
        // SAFETY: the documented list, with memory of the GPU that is large enough.
        unsafe { self.api.call(&self.name::<T>("geqrf"), &words)? };
        let outcome = self.outcome(start, &a, &info)?;
        // SAFETY: the caller's array has a place for the scalar of each reflector.
        unsafe { scalars.store(0, column(tau, m.min(n) * size_of::<T>()))? };
        Ok(outcome)
    }

    /// The matrix on the GPU, without gaps between its columns.
    fn load<T: Scalar>(&self, (m, n, ld): (usize, usize, usize), start: *mut c_void) -> Result<Loaded, Unavailable> {
        let size = size_of::<T>();
        let host = Host { start, row_bytes: m * size, stride_bytes: ld * size, columns: n };
        let memory = self.cuda.memory(m * n * size)?;
        // SAFETY: the caller's matrix has these columns.
        unsafe { memory.load(0, host)? };
        Ok(Loaded { memory, host })
    }

    /// The workspace that the routine wants for these arguments, and its elements.
    fn work<T: Scalar>(&self, routine: &str, arguments: &[*mut c_void]) -> Result<(Memory, usize), Unavailable> {
        let mut elements = 0_i32;
        let mut words = vec![self.handle];
        words.extend(arguments);
        words.push(at(&mut elements));
        // SAFETY: the documented list: the routine's sizes, and a place for an `int`.
        unsafe { self.api.call(&format!("{}_bufferSize", self.name::<T>(routine)), &words)? };
        let elements = usize::try_from(elements).unwrap_or(0);
        Ok((self.cuda.memory(elements * size_of::<T>())?, elements))
    }

    /// Waits, and copies matrix and info back; says how long it was from the start to the end of the work.
    fn outcome(&self, start: Instant, a: &Loaded, info: &Memory) -> Result<(Duration, i32), Unavailable> {
        self.cuda.finish()?;
        let elapsed = start.elapsed();
        let mut value = 0_i32;
        // SAFETY: the matrix is the caller's, and the number is here.
        unsafe {
            a.memory.store(0, a.host)?;
            info.store(0, column(at(&mut value), size_of::<i32>()))?;
        }
        Ok((elapsed, value))
    }

    fn name<T: Scalar>(&self, routine: &str) -> String {
        format!("cusolverDn{}{routine}", T::LETTER.to_ascii_uppercase())
    }
}

/// So many bytes in one piece.
pub(super) fn column(start: *mut c_void, bytes: usize) -> Host {
    Host { start, row_bytes: bytes, stride_bytes: bytes, columns: 1 }
}
