//! cuSOLVERMg: factorizations on several GPUs. Blocks of columns are distributed over the GPUs cyclically, and copied
//! back.

use super::super::{FortranCall, Unavailable, call::code_of};
use super::api::{Api, Cuda, GpuMemory, HostColumns, at, column, word};
use std::ffi::c_void;
use std::time::{Duration, Instant};
use superscalar_kernels::Scalar;

/// The default number of columns in a block, the best of those tried.
const BLOCK_COLUMNS_DEFAULT: usize = 512;

/// The library, with a handle for these GPUs.
pub struct Mg {
    api: Api,
    cuda: Cuda,
    handle: *mut c_void,
    gpus: Vec<i32>,
    block: usize,
}

/// The library's description of a distributed matrix.
struct Description {
    api: Api,
    grid: *mut c_void,
    matrix: *mut c_void,
}

impl Drop for Description {
    fn drop(&mut self) {
        for (name, object) in [("cusolverMgDestroyMatrixDesc", self.matrix), ("cusolverMgDestroyGrid", self.grid)] {
            if !object.is_null() {
                // SAFETY: the object was created for this value and is not used afterwards; the function ignores
                // additional words.
                let _ = unsafe { self.api.call(name, &[object, word(0), word(0), word(0)]) };
            }
        }
    }
}

/// A square matrix in host memory.
#[derive(Clone, Copy)]
struct Square {
    start: *mut c_void,
    n: usize,
    ld: usize,
    /// The bytes of an element.
    size: usize,
}

impl Mg {
    pub fn open(block: Option<usize>, gpus: &[i32]) -> Result<Self, Unavailable> {
        let (api, cuda) = (Api::open("cusolverMg", &[12, 11])?, Cuda::open()?);
        let mut ids = gpus.to_vec();
        for &gpu in gpus {
            cuda.select(gpu)?;
            gpus.iter().filter(|&&other| other != gpu).for_each(|&other| cuda.reach(other));
        }
        let mut handle = std::ptr::null_mut::<c_void>();
        // SAFETY: the first function writes a handle to `handle`, the second reads `ids.len()` `int`s; both variables
        // outlive the calls, and additional words are ignored.
        unsafe {
            api.call("cusolverMgCreate", &[at(&mut handle), word(0), word(0), word(0)])?;
            api.call("cusolverMgDeviceSelect", &[handle, word(ids.len()), ids.as_mut_ptr().cast(), word(0)])?;
        }
        Ok(Self { api, cuda, handle, gpus: ids, block: block.unwrap_or(BLOCK_COLUMNS_DEFAULT).max(1) })
    }

    pub fn about(&self) -> String {
        let (gpus, block) = (self.gpus.len(), self.block);
        format!("cuSOLVERMg on {gpus} GPUs, in blocks of {block} columns")
    }

    /// Makes the call. Returns its duration without the copies, and LAPACK's info.
    pub fn call<T: Scalar>(&self, call: &FortranCall<'_, T>) -> Result<(Duration, i32), Unavailable> {
        let parts = call.grouped_arguments();
        let size = size_of::<T>();
        match (call.name(), &parts.letters[..], &parts.sizes[..], &parts.arrays[..]) {
            ("potrf", &[uplo], &[n, ld], &[start]) if uplo == b'L' && n > 0 => {
                self.factor::<T>(Square { start, n, ld, size }, None)
            }
            ("potrf", ..) => {
                Err(Unavailable("cuSOLVERMg only factors lower triangles, of matrices that are not empty".into()))
            }
            ("getrf", [], &[m, n, ld], &[start, ipiv]) if m == n && n > 0 => {
                self.factor::<T>(Square { start, n, ld, size }, Some(ipiv))
            }
            ("getrf", ..) => {
                Err(Unavailable("the tester calls cuSOLVERMg only for square matrices that are not empty".into()))
            }
            (name, ..) => Err(Unavailable(format!("the tester does not call cuSOLVERMg's {name}"))),
        }
    }

    /// Calls potrf, or getrf if `ipiv` is given.
    fn factor<T: Scalar>(&self, a: Square, ipiv: Option<*mut c_void>) -> Result<(Duration, i32), Unavailable> {
        let description = self.describe::<T>(a.n)?;
        let blocks = a.n.div_ceil(self.block).div_ceil(self.gpus.len());
        let parts = self.on_each(a.n * blocks * self.block * a.size)?;
        self.deal(a, |part, byte, host| {
            // SAFETY: the call's matrix, which the call borrows, has these columns.
            unsafe { parts[part].load(byte, host) }
        })?;
        let pivots = self.on_each(blocks * self.block * size_of::<i32>())?;
        let mut matrices = starts(&parts);
        let mut interchanges = starts(&pivots);
        let kind = word(kind_of::<T>());
        let routine = if ipiv.is_some() { "cusolverMgGetrf" } else { "cusolverMgPotrf" };
        // The argument lists of both routines begin alike, except for the triangle or the number of rows, and getrf's
        // interchanges.
        let first = if ipiv.is_some() { word(a.n) } else { word(code_of(b'L').unwrap_or(0)) };
        let mut head = vec![self.handle, first, word(a.n), matrices.as_mut_ptr().cast(), word(1), word(1)];
        head.push(description.matrix);
        if ipiv.is_some() {
            head.push(interchanges.as_mut_ptr().cast());
        }
        head.push(kind);
        let mut elements = 0_i64;
        let size = [&head[..], &[at(&mut elements)]].concat();
        // SAFETY: this is the documented argument list; the function writes a 64-bit number to `elements`, which
        // outlives the call.
        unsafe { self.api.call(&format!("{routine}_bufferSize"), &size)? };
        let work = self.on_each(usize::try_from(elements).unwrap_or(0) * a.size)?;
        let mut works = starts(&work);
        let mut info = 0_i32;
        let list = [&head[..], &[works.as_mut_ptr().cast(), word(elements as usize), at(&mut info)]].concat();
        let start = Instant::now();
        // SAFETY: this is the documented argument list: arrays with an address for each GPU, of memory that is large
        // enough.
        unsafe { self.api.call(routine, &list)? };
        self.finish()?;
        let elapsed = start.elapsed();
        self.deal(a, |part, byte, host| {
            // SAFETY: the call's matrix, which the call borrows exclusively, has these columns.
            unsafe { parts[part].store(byte, host) }
        })?;
        if let Some(ipiv) = ipiv {
            let ipiv = Square { start: ipiv, n: a.n, ld: 1, size: size_of::<i32>() };
            self.deal_pivots(ipiv, &pivots)?;
        }
        Ok((elapsed, info))
    }

    /// Creates the library's description of an n x n matrix.
    fn describe<T: Scalar>(&self, n: usize) -> Result<Description, Unavailable> {
        /// CUDALIBMG_GRID_MAPPING_COL_MAJOR.
        const BY_COLUMNS: usize = 0;
        let mut ids = self.gpus.clone();
        let null = std::ptr::null_mut();
        let mut description = Description { api: self.api, grid: null, matrix: null };
        let list = [at(&mut description.grid), word(1), word(ids.len()), ids.as_mut_ptr().cast(), word(BY_COLUMNS)];
        // SAFETY: the function writes a handle to `description.grid`, and reads `ids.len()` `int`s.
        unsafe { self.api.call("cusolverMgCreateDeviceGrid", &list)? };
        let (order, block) = (word(n), word(self.block));
        let list = [at(&mut description.matrix), order, order, order, block, word(kind_of::<T>()), description.grid];
        // SAFETY: the function writes a handle to `description.matrix`, and takes 64-bit sizes, a type and the grid.
        unsafe { self.api.call("cusolverMgCreateMatrixDesc", &list)? };
        Ok(description)
    }

    /// Allocates this number of bytes on each GPU.
    fn on_each(&self, bytes: usize) -> Result<Vec<GpuMemory>, Unavailable> {
        let memories = self.gpus.iter().map(|&gpu| {
            self.cuda.select(gpu)?;
            self.cuda.memory(bytes)
        });
        memories.collect()
    }

    fn finish(&self) -> Result<(), Unavailable> {
        self.gpus.iter().try_for_each(|&gpu| {
            self.cuda.select(gpu)?;
            self.cuda.finish()
        })
    }

    /// Calls `copy` for each block of columns, with the index of its GPU, its offset in that GPU's memory, and its host
    /// columns.
    fn deal(
        &self,
        a: Square,
        copy: impl Fn(usize, usize, HostColumns) -> Result<(), Unavailable>,
    ) -> Result<(), Unavailable> {
        let count = self.gpus.len();
        for (at, first) in (0..a.n).step_by(self.block).enumerate() {
            let start = a.start.wrapping_byte_add(first * a.ld * a.size);
            let (row_bytes, stride_bytes) = (a.n * a.size, a.ld * a.size);
            let columns = self.block.min(a.n - first);
            self.cuda.select(self.gpus[at % count])?;
            let host = HostColumns { start, row_bytes, stride_bytes, columns };
            copy(at % count, at / count * self.block * row_bytes, host)?;
        }
        Ok(())
    }

    /// Copies the interchanges back, which are distributed like the columns.
    fn deal_pivots(&self, ipiv: Square, pivots: &[GpuMemory]) -> Result<(), Unavailable> {
        let count = self.gpus.len();
        for (at, first) in (0..ipiv.n).step_by(self.block).enumerate() {
            let start = ipiv.start.wrapping_byte_add(first * ipiv.size);
            let bytes = self.block.min(ipiv.n - first) * ipiv.size;
            self.cuda.select(self.gpus[at % count])?;
            // SAFETY: the call's array, which the call borrows exclusively, has an element for each interchange.
            unsafe { pivots[at % count].store(at / count * self.block * ipiv.size, column(start, bytes))? };
        }
        Ok(())
    }
}

fn starts(memories: &[GpuMemory]) -> Vec<*mut c_void> {
    memories.iter().map(GpuMemory::start).collect()
}

/// Returns the type's number in `cudaDataType`.
fn kind_of<T: Scalar>() -> usize {
    match T::LETTER {
        's' => 0,
        'd' => 1,
        'c' => 4,
        _ => 5,
    }
}
