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
            (name @ "potrf", &[uplo], &[n, ld], &[a]) => {
                self.factor::<T>(name, word(code_of(uplo).unwrap_or(0)), (n, n, ld), a, None)
            }
            (name @ "getrf", [], &[m, n, ld], &[a, ipiv]) => {
                self.factor::<T>(name, word(m), (m, n, ld), a, Some((ipiv, size_of::<i32>())))
            }
            (name @ "geqrf", [], &[m, n, ld, _], &[a, tau]) => {
                self.factor::<T>(name, word(m), (m, n, ld), a, Some((tau, size_of::<T>())))
            }
            (name, ..) => Err(Unavailable(format!("cuSOLVER is not asked for {name}"))),
        }
    }

    /// A factorization, whose list begins with the triangle or the number of rows. Interchanges, or the scalars of
    /// reflectors, go to an array of the caller's, with so many bytes for each.
    fn factor<T: Scalar>(
        &self,
        routine: &str,
        first: *mut c_void,
        (m, n, ld): (usize, usize, usize),
        a: *mut c_void,
        array: Option<(*mut c_void, usize)>,
    ) -> Result<(Duration, i32), Unavailable> {
        let a = self.load::<T>((m, n, ld), a)?;
        let head = [first, word(n), a.memory.start(), word(m.max(1))];
        let (work, elements) = self.work::<T>(routine, &head)?;
        let info = self.cuda.memory(size_of::<i32>())?;
        let (array, bytes) = array.map_or((std::ptr::null_mut(), 0), |(array, each)| (array, m.min(n) * each));
        let found = self.cuda.memory(bytes)?;
        let tail = match routine {
            "potrf" => vec![work.start(), word(elements)],
            "getrf" => vec![work.start(), found.start()],
            _ => vec![found.start(), work.start(), word(elements)],
        };
        let words = [&[self.handle], &head[..], &tail, &[info.start()]].concat();
        let start = Instant::now();
        // SAFETY: the documented list, with memory of the GPU that is large enough.
        unsafe { self.api.call(&self.name::<T>(routine), &words)? };
        let outcome = self.outcome(start, &a, &info)?;
        // SAFETY: the caller's array has a place for each of them; without an array nothing is copied.
        unsafe { found.store(0, column(array, bytes))? };
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
