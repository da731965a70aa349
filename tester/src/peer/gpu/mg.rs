//! cuSOLVERMg: factorizations on several GPUs. Columns are dealt to them in blocks, one after the other, and copied back.

use super::super::{Call, Unavailable, call::code_of};
use super::api::{Api, Cuda, Host, Memory, at, word};
use super::dense::column;
use std::ffi::c_void;
use std::time::{Duration, Instant};
use superscalar_kernels::Scalar;

/// Of the orders that were tried, the better one.
const BLOCK: usize = 512;

/// The library, with a handle for these GPUs.
pub struct Mg {
    api: Api,
    cuda: Cuda,
    handle: *mut c_void,
    gpus: Vec<i32>,
    block: usize,
}

/// The library's description of a matrix that is dealt out.
struct Description {
    api: Api,
    grid: *mut c_void,
    matrix: *mut c_void,
}

impl Drop for Description {
    fn drop(&mut self) {
        for (name, object) in [("cusolverMgDestroyMatrixDesc", self.matrix), ("cusolverMgDestroyGrid", self.grid)] {
            if !object.is_null() {
                // SAFETY: it was made for this value; words more are not looked at.
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
    /// Bytes of an element.
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
        // SAFETY: the first writes a handle, the second reads so many `int`s; words more are not looked at.
        unsafe {
            api.call("cusolverMgCreate", &[at(&mut handle), word(0), word(0), word(0)])?;
            api.call("cusolverMgDeviceSelect", &[handle, word(ids.len()), ids.as_mut_ptr().cast(), word(0)])?;
        }
        Ok(Self { api, cuda, handle, gpus: ids, block: block.unwrap_or(BLOCK).max(1) })
    }

    pub fn about(&self) -> String {
        let (gpus, block) = (self.gpus.len(), self.block);
        format!("cuSOLVERMg on {gpus} GPUs, in blocks of {block} columns")
    }

    /// Makes the call. Says how long it took without the copies, and the info.
    pub fn call<T: Scalar>(&self, call: &Call<'_, T>) -> Result<(Duration, i32), Unavailable> {
        let parts = call.parts();
        let size = size_of::<T>();
        match (call.name(), &parts.letters[..], &parts.sizes[..], &parts.arrays[..]) {
            ("potrf", &[uplo], &[n, ld], &[start]) if uplo == b'L' && n > 0 => {
                self.factor::<T>(Square { start, n, ld, size }, None)
            }
            ("potrf", ..) => {
                Err(Unavailable("cuSOLVERMg factors the lower triangle of a matrix that is not empty".into()))
            }
            ("getrf", [], &[m, n, ld], &[start, ipiv]) if m == n && n > 0 => {
                self.factor::<T>(Square { start, n, ld, size }, Some(ipiv))
            }
            ("getrf", ..) => Err(Unavailable("cuSOLVERMg is asked for square matrices that are not empty".into())),
            (name, ..) => Err(Unavailable(format!("cuSOLVERMg is not asked for {name}"))),
        }
    }

    /// potrf, or getrf with its interchanges.
    fn factor<T: Scalar>(&self, a: Square, ipiv: Option<*mut c_void>) -> Result<(Duration, i32), Unavailable> {
        let description = self.describe::<T>(a.n)?;
        let blocks = a.n.div_ceil(self.block).div_ceil(self.gpus.len());
        let parts = self.on_each(a.n * blocks * self.block * a.size)?;
        self.deal(a, |part, byte, host| {
            // SAFETY: the caller's matrix has these columns.
            unsafe { parts[part].load(byte, host) }
        })?;
        let pivots = self.on_each(blocks * self.block * size_of::<i32>())?;
        let mut matrices = starts(&parts);
        let mut interchanges = starts(&pivots);
        let kind = word(kind_of::<T>());
        let routine = if ipiv.is_some() { "cusolverMgGetrf" } else { "cusolverMgPotrf" };
        // Both routines have the same head, but for the triangle, or the number of rows; and getrf's interchanges.
        let first = if ipiv.is_some() { word(a.n) } else { word(code_of(b'L').unwrap_or(0)) };
        let mut head = vec![self.handle, first, word(a.n), matrices.as_mut_ptr().cast(), word(1), word(1)];
        head.push(description.matrix);
        if ipiv.is_some() {
            head.push(interchanges.as_mut_ptr().cast());
        }
        head.push(kind);
        let mut elements = 0_i64;
        let size = [&head[..], &[at(&mut elements)]].concat();
        // SAFETY: the documented list; it writes a 64-bit number.
        unsafe { self.api.call(&format!("{routine}_bufferSize"), &size)? };
        let work = self.on_each(usize::try_from(elements).unwrap_or(0) * a.size)?;
        let mut works = starts(&work);
        let mut info = 0_i32;
        let list = [&head[..], &[works.as_mut_ptr().cast(), word(elements as usize), at(&mut info)]].concat();
        let start = Instant::now();
        // SAFETY: the documented list: an array with an address for each GPU, of memory that is large enough.
        unsafe { self.api.call(routine, &list)? };
        self.finish()?;
        let elapsed = start.elapsed();
        self.deal(a, |part, byte, host| {
            // SAFETY: the caller's matrix has these columns, to be written.
            unsafe { parts[part].store(byte, host) }
        })?;
        if let Some(ipiv) = ipiv {
            let ipiv = Square { start: ipiv, n: a.n, ld: 1, size: size_of::<i32>() };
            self.deal_pivots(ipiv, &pivots)?;
        }
        Ok((elapsed, info))
    }

    /// What the library is told of an n x n matrix.
    fn describe<T: Scalar>(&self, n: usize) -> Result<Description, Unavailable> {
        /// CUDALIBMG_GRID_MAPPING_COL_MAJOR.
        const BY_COLUMNS: usize = 0;
        let mut ids = self.gpus.clone();
        let null = std::ptr::null_mut();
        let mut description = Description { api: self.api, grid: null, matrix: null };
        let list = [at(&mut description.grid), word(1), word(ids.len()), ids.as_mut_ptr().cast(), word(BY_COLUMNS)];
        // SAFETY: it writes a handle, and reads so many `int`s.
        unsafe { self.api.call("cusolverMgCreateDeviceGrid", &list)? };
        let (order, block) = (word(n), word(self.block));
        let list = [at(&mut description.matrix), order, order, order, block, word(kind_of::<T>()), description.grid];
        // SAFETY: it writes a handle, and takes 64-bit sizes, a type and the grid.
        unsafe { self.api.call("cusolverMgCreateMatrixDesc", &list)? };
        Ok(description)
    }

    /// So many bytes on each GPU.
    fn on_each(&self, bytes: usize) -> Result<Vec<Memory>, Unavailable> {
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

    /// Copies each block of columns, which lies with a GPU from a byte of its memory on.
    fn deal(&self, a: Square, copy: impl Fn(usize, usize, Host) -> Result<(), Unavailable>) -> Result<(), Unavailable> {
        let count = self.gpus.len();
        for (at, first) in (0..a.n).step_by(self.block).enumerate() {
            let start = a.start.wrapping_byte_add(first * a.ld * a.size);
            let (row_bytes, stride_bytes) = (a.n * a.size, a.ld * a.size);
            let columns = self.block.min(a.n - first);
            self.cuda.select(self.gpus[at % count])?;
            let host = Host { start, row_bytes, stride_bytes, columns };
            copy(at % count, at / count * self.block * row_bytes, host)?;
        }
        Ok(())
    }

    /// Copies the interchanges back, which are dealt as the columns are.
    fn deal_pivots(&self, ipiv: Square, pivots: &[Memory]) -> Result<(), Unavailable> {
        let count = self.gpus.len();
        for (at, first) in (0..ipiv.n).step_by(self.block).enumerate() {
            let start = ipiv.start.wrapping_byte_add(first * ipiv.size);
            let bytes = self.block.min(ipiv.n - first) * ipiv.size;
            self.cuda.select(self.gpus[at % count])?;
            // SAFETY: the caller's array has a place for each interchange.
            unsafe { pivots[at % count].store(at / count * self.block * ipiv.size, column(start, bytes))? };
        }
        Ok(())
    }
}

fn starts(memories: &[Memory]) -> Vec<*mut c_void> {
    memories.iter().map(Memory::start).collect()
}

/// The type's number in `cudaDataType`.
fn kind_of<T: Scalar>() -> usize {
    match T::LETTER {
        's' => 0,
        'd' => 1,
        'c' => 4,
        _ => 5,
    }
}
