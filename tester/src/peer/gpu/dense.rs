//! cuSOLVER: factorizations on one GPU. The matrix is copied to the GPU and back.

use super::super::{FortranCall, Unavailable, call::code_of};
use super::api::{GpuMemory, HostColumns, at, column, word};
use super::library::Library;
use std::ffi::c_void;
use std::time::{Duration, Instant};
use superscalar_kernels::Scalar;

/// A matrix on the GPU, and its place in host memory.
struct Loaded {
    memory: GpuMemory,
    host: HostColumns,
}

/// The size of a matrix in host memory.
#[derive(Clone, Copy)]
struct MatrixSize {
    m: usize,
    n: usize,
    /// Leading dimension.
    ld: usize,
}

impl Library {
    /// Makes the call of cuSOLVER. Returns its duration without the copies, and LAPACK's info.
    pub fn factor_one<T: Scalar>(&self, call: &FortranCall<'_, T>) -> Result<(Duration, i32), Unavailable> {
        self.select()?;
        let parts = call.grouped_arguments();
        match (call.name(), &parts.letters[..], &parts.sizes[..], &parts.arrays[..]) {
            (name @ "potrf", &[uplo], &[n, ld], &[a]) => {
                self.factor::<T>(name, word(code_of(uplo).unwrap_or(0)), MatrixSize { m: n, n, ld }, a, None)
            }
            (name @ "getrf", [], &[m, n, ld], &[a, ipiv]) => {
                self.factor::<T>(name, word(m), MatrixSize { m, n, ld }, a, Some((ipiv, size_of::<i32>())))
            }
            (name @ "geqrf", [], &[m, n, ld, _], &[a, tau]) => {
                self.factor::<T>(name, word(m), MatrixSize { m, n, ld }, a, Some((tau, size_of::<T>())))
            }
            (name, ..) => Err(Unavailable(format!("the tester does not call cuSOLVER's {name}"))),
        }
    }

    /// Calls a factorization. `first` is the triangle or the number of rows. Interchanges, or the scalars of
    /// reflectors, are copied to `array`, with its number of bytes for each element.
    fn factor<T: Scalar>(
        &self,
        routine: &str,
        first: *mut c_void,
        size: MatrixSize,
        a: *mut c_void,
        array: Option<(*mut c_void, usize)>,
    ) -> Result<(Duration, i32), Unavailable> {
        let MatrixSize { m, n, .. } = size;
        let a = self.load::<T>(size, a)?;
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
        // SAFETY: this is the documented argument list, with GPU memory that is large enough: the matrix, the workspace
        // of the size that the library requested, and the info.
        unsafe { self.api.call(&self.name::<T>(routine), &words)? };
        let outcome = self.outcome(start, &a, &info)?;
        // SAFETY: the caller's array has room for min(m, n) elements of this size; without an array, no bytes are
        // copied.
        unsafe { found.store(0, column(array, bytes))? };
        Ok(outcome)
    }

    /// Copies the matrix to the GPU, without gaps between its columns.
    fn load<T: Scalar>(&self, size: MatrixSize, start: *mut c_void) -> Result<Loaded, Unavailable> {
        let MatrixSize { m, n, ld } = size;
        let size = size_of::<T>();
        let host = HostColumns { start, row_bytes: m * size, stride_bytes: ld * size, columns: n };
        let memory = self.cuda.memory(m * n * size)?;
        // SAFETY: the call's matrix, which the call borrows, has these columns.
        unsafe { memory.load(0, host)? };
        Ok(Loaded { memory, host })
    }

    /// Allocates the workspace that the routine requires for these arguments. Also returns its number of elements.
    fn work<T: Scalar>(&self, routine: &str, arguments: &[*mut c_void]) -> Result<(GpuMemory, usize), Unavailable> {
        let mut elements = 0_i32;
        let mut words = vec![self.handle];
        words.extend(arguments);
        words.push(at(&mut elements));
        // SAFETY: this is the documented argument list: the routine's sizes, and the address of an `int` that outlives
        // the call.
        unsafe { self.api.call(&format!("{}_bufferSize", self.name::<T>(routine)), &words)? };
        let elements = usize::try_from(elements).unwrap_or(0);
        Ok((self.cuda.memory(elements * size_of::<T>())?, elements))
    }

    /// Waits for the GPU, and copies the matrix and the info back. Returns the time from `start` to the end of the
    /// work, and the info.
    fn outcome(&self, start: Instant, a: &Loaded, info: &GpuMemory) -> Result<(Duration, i32), Unavailable> {
        self.cuda.finish()?;
        let elapsed = start.elapsed();
        let mut value = 0_i32;
        // SAFETY: the call's matrix, which the call borrows exclusively, has these columns, and `value` has four bytes.
        unsafe {
            a.memory.store(0, a.host)?;
            info.store(0, column(at(&mut value), size_of::<i32>()))?;
        }
        Ok((elapsed, value))
    }

    fn name<T: Scalar>(&self, routine: &str) -> String {
        format!("{}{}{routine}", self.names.prefix, T::LETTER.to_ascii_uppercase())
    }
}
