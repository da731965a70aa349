//! [`Api`]: a library and its functions; [`Cuda`]: GPU memory.

use super::super::{Unavailable, invoke::invoke};
use libloading::Library;
use std::{
    ffi::{CStr, c_char, c_void},
    path::PathBuf,
};

/// An open library of CUDA.
#[derive(Clone, Copy)]
pub struct Api {
    /// The library is never closed: its threads keep running, so its code must stay mapped.
    library: &'static Library,
}

impl Api {
    /// Opens the library `lib{stem}.so`, or one of these versions of it, by its name or in the CUDA installation.
    pub fn open(stem: &str, versions: &[u32]) -> Result<Self, Unavailable> {
        let names: Vec<String> = std::iter::once(format!("lib{stem}.so"))
            .chain(versions.iter().map(|version| format!("lib{stem}.so.{version}")))
            .collect();
        for folder in folders() {
            for name in &names {
                // SAFETY: opening runs the initialisers of one of NVIDIA's libraries, which the user named on the
                // command line.
                if let Ok(library) = unsafe { Library::new(folder.join(name)) } {
                    return Ok(Self { library: Box::leak(Box::new(library)) });
                }
            }
        }
        let tried = names.join(", ");
        Err(Unavailable(format!("none of {tried} was found by name, under CUDA_HOME or in /usr/local/cuda")))
    }

    /// Calls a function with these words. Returns an error unless the function returns 0.
    ///
    /// # Safety
    /// The function must take these words, and each address among them must point to the memory that the function
    /// expects.
    pub unsafe fn call(&self, name: &str, words: &[*mut c_void]) -> Result<(), Unavailable> {
        let symbol = self.symbol(name)?;
        // SAFETY: by the contract of this function, the words are valid arguments. All functions of these libraries
        // return a status, which is an `int`.
        match unsafe { invoke::<i32>(symbol, words) } {
            0 => Ok(()),
            status => Err(Unavailable(format!("{name} returns {status}"))),
        }
    }

    pub fn symbol(&self, name: &str) -> Result<*const c_void, Unavailable> {
        // SAFETY: this only looks up an address and does not call it. The address stays valid, since the library is
        // never closed.
        let found = unsafe {
            self.library.get::<*const c_void>(name.as_bytes()).ok().and_then(|symbol| symbol.try_as_raw_ptr())
        };
        let address = found.filter(|address| !address.is_null());
        address.map(<*mut c_void>::cast_const).ok_or_else(|| Unavailable(format!("the library has no {name}")))
    }
}

/// Returns the folders that are searched for libraries; the empty path stands for the loader's own search.
fn folders() -> Vec<PathBuf> {
    let homes = ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(std::env::var_os).map(PathBuf::from);
    let homes = homes.chain([PathBuf::from("/usr/local/cuda")]);
    let inside = homes.flat_map(|home| ["lib64", "lib"].map(|folder| home.join(folder)));
    std::iter::once(PathBuf::new()).chain(inside).collect()
}

/// Returns a number as a machine word.
pub fn word(number: usize) -> *mut c_void {
    std::ptr::without_provenance_mut(number)
}

/// Returns the address of a variable that a function reads or writes.
pub fn at<E>(place: &mut E) -> *mut c_void {
    (&raw mut *place).cast()
}

/// Functions of the CUDA runtime: GPU memory and copies.
#[derive(Clone, Copy)]
pub struct Cuda {
    api: Api,
}

/// A matrix in host memory: columns of `row_bytes` bytes each, at a stride.
#[derive(Clone, Copy)]
pub struct HostColumns {
    pub start: *mut c_void,
    pub row_bytes: usize,
    pub stride_bytes: usize,
    pub columns: usize,
}

/// Returns contiguous host memory as one column.
pub fn column(start: *mut c_void, bytes: usize) -> HostColumns {
    HostColumns { start, row_bytes: bytes, stride_bytes: bytes, columns: 1 }
}

impl Cuda {
    pub fn open() -> Result<Self, Unavailable> {
        Ok(Self { api: Api::open("cudart", &[13, 12, 11])? })
    }

    /// Selects the GPU for the next calls.
    pub fn select(&self, gpu: i32) -> Result<(), Unavailable> {
        // SAFETY: the function takes an `int`.
        unsafe { self.call("cudaSetDevice", &[word(gpu as usize)]) }
    }

    /// Waits for all work on the selected GPU.
    pub fn finish(&self) -> Result<(), Unavailable> {
        // SAFETY: the function takes no arguments; additional words are ignored.
        unsafe { self.call("cudaDeviceSynchronize", &[word(0), word(0), word(0), word(0)]) }
    }

    /// Allocates memory on the selected GPU.
    pub fn memory(&self, bytes: usize) -> Result<GpuMemory, Unavailable> {
        let mut start: *mut c_void = std::ptr::null_mut();
        // SAFETY: the function writes an address to `start`, which outlives the call, and takes a size.
        unsafe { self.call("cudaMalloc", &[at(&mut start), word(bytes.max(1)), word(0), word(0)])? };
        Ok(GpuMemory { cuda: *self, start, bytes })
    }

    /// Enables access of the selected GPU to the memory of another one. It is no error if access is enabled already.
    pub fn reach(&self, other: i32) {
        // SAFETY: the function takes an `int` and flags, which are zero.
        let _ = unsafe { self.call("cudaDeviceEnablePeerAccess", &[word(other as usize), word(0), word(0), word(0)]) };
        // SAFETY: the function takes no arguments. It clears the last error.
        let _ = unsafe { self.call("cudaGetLastError", &[word(0), word(0), word(0), word(0)]) };
    }

    /// # Safety
    /// The same as for [`Api::call`].
    unsafe fn call(&self, name: &str, words: &[*mut c_void]) -> Result<(), Unavailable> {
        let mut padded = [word(0); 8];
        padded[..words.len()].copy_from_slice(words);
        let symbol = self.api.symbol(name)?;
        // SAFETY: by the contract of this function, the words are valid arguments; a function ignores additional words.
        match unsafe { invoke::<i32>(symbol, &padded) } {
            0 => Ok(()),
            status => Err(Unavailable(format!("{name}: {}", self.text_of(status)))),
        }
    }

    fn text_of(&self, status: i32) -> String {
        let Ok(symbol) = self.api.symbol("cudaGetErrorString") else { return status.to_string() };
        // SAFETY: the function takes an `int` and returns a static text that ends with a zero byte.
        unsafe {
            let text_of: unsafe extern "C" fn(i32) -> *const c_char = std::mem::transmute(symbol);
            CStr::from_ptr(text_of(status)).to_string_lossy().into_owned()
        }
    }
}

/// GPU memory, freed when dropped.
pub struct GpuMemory {
    cuda: Cuda,
    start: *mut c_void,
    bytes: usize,
}

impl GpuMemory {
    /// Returns its address on the GPU.
    pub fn start(&self) -> *mut c_void {
        self.start
    }

    /// Copies columns from the host to this offset, without gaps.
    ///
    /// # Safety
    /// The host columns must be valid for reads.
    pub unsafe fn load(&self, byte: usize, host: HostColumns) -> Result<(), Unavailable> {
        const TO_DEVICE: usize = 1;
        let to = self.place(byte, host)?;
        let HostColumns { start, row_bytes, stride_bytes, columns } = host;
        let words = [to, word(row_bytes), start, word(stride_bytes), word(row_bytes), word(columns), word(TO_DEVICE)];
        // SAFETY: `place` has checked that the columns fit into this memory, and by the contract of this function the
        // host columns may be read. The copy is complete when the call returns.
        if row_bytes * columns == 0 { Ok(()) } else { unsafe { self.cuda.call("cudaMemcpy2D", &words) } }
    }

    /// Copies columns from this offset to the host.
    ///
    /// # Safety
    /// The host columns must be valid for writes.
    pub unsafe fn store(&self, byte: usize, host: HostColumns) -> Result<(), Unavailable> {
        const TO_HOST: usize = 2;
        let from = self.place(byte, host)?;
        let HostColumns { start, row_bytes, stride_bytes, columns } = host;
        let words = [start, word(stride_bytes), from, word(row_bytes), word(row_bytes), word(columns), word(TO_HOST)];
        // SAFETY: `place` has checked that the columns fit into this memory, and by the contract of this function the
        // host columns may be written. The copy is complete when the call returns.
        if row_bytes * columns == 0 { Ok(()) } else { unsafe { self.cuda.call("cudaMemcpy2D", &words) } }
    }

    /// Copies contiguous host memory of any size to the beginning of this memory.
    ///
    /// # Safety
    /// The host memory must be valid for reads.
    pub unsafe fn load_all(&self, start: *mut c_void, bytes: usize) -> Result<(), Unavailable> {
        // SAFETY: by the contract of this function, all parts may be read.
        parts(start, bytes).try_for_each(|(byte, host)| unsafe { self.load(byte, host) })
    }

    /// Copies the beginning of this memory to contiguous host memory of any size.
    ///
    /// # Safety
    /// The host memory must be valid for writes.
    pub unsafe fn store_all(&self, start: *mut c_void, bytes: usize) -> Result<(), Unavailable> {
        // SAFETY: by the contract of this function, all parts may be written.
        parts(start, bytes).try_for_each(|(byte, host)| unsafe { self.store(byte, host) })
    }

    /// Returns the address at an offset, if these columns fit there.
    fn place(&self, byte: usize, host: HostColumns) -> Result<*mut c_void, Unavailable> {
        let needed = host.row_bytes.checked_mul(host.columns).and_then(|bytes| bytes.checked_add(byte));
        match needed.filter(|&end| end <= self.bytes.max(1)) {
            Some(_) => Ok(self.start.wrapping_byte_add(byte)),
            None => Err(Unavailable(format!("{} bytes on the GPU are too few for a matrix", self.bytes))),
        }
    }
}

/// Divides host memory into parts that one copy can take, each with its offset.
fn parts(start: *mut c_void, bytes: usize) -> impl Iterator<Item = (usize, HostColumns)> {
    const PART_BYTES: usize = 1 << 30;
    let part = move |byte| (byte, column(start.wrapping_byte_add(byte), PART_BYTES.min(bytes - byte)));
    (0..bytes).step_by(PART_BYTES).map(part)
}

impl Drop for GpuMemory {
    fn drop(&mut self) {
        // SAFETY: `start` was allocated for this value and is not used afterwards; CUDA waits for work that still uses
        // it.
        let _ = unsafe { self.cuda.call("cudaFree", &[self.start]) };
    }
}
