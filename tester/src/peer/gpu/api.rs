//! [`Api`]: a library and its functions; [`Cuda`]: memory of a GPU.

use super::super::{Unavailable, invoke::invoke};
use libloading::Library;
use std::{
    ffi::{CStr, c_char, c_void},
    path::PathBuf,
};

/// An open library of CUDA's.
#[derive(Clone, Copy)]
pub struct Api {
    /// Never closed: these libraries keep threads, whose code must stay where it is.
    library: &'static Library,
}

impl Api {
    /// Opens the library `lib{stem}.so`, or one of these versions of it: by its name, or where CUDA is installed.
    pub fn open(stem: &str, versions: &[u32]) -> Result<Self, Unavailable> {
        let names: Vec<String> = std::iter::once(format!("lib{stem}.so"))
            .chain(versions.iter().map(|version| format!("lib{stem}.so.{version}")))
            .collect();
        for folder in folders() {
            for name in &names {
                // SAFETY: opening runs the initialisers of one of NVIDIA's libraries, which the user has asked for.
                if let Ok(library) = unsafe { Library::new(folder.join(name)) } {
                    return Ok(Self { library: Box::leak(Box::new(library)) });
                }
            }
        }
        let tried = names.join(", ");
        Err(Unavailable(format!("none of {tried} is found, by name, under CUDA_HOME or in /usr/local/cuda")))
    }

    /// Calls a function with these words, and fails unless it returns 0.
    ///
    /// # Safety
    /// The function takes such words, and what they point to is what it expects there.
    pub unsafe fn call(&self, name: &str, words: &[*mut c_void]) -> Result<(), Unavailable> {
        let symbol = self.symbol(name)?;
        // SAFETY: the caller's promise. All of these functions return a status, which is an `int`.
        match unsafe { invoke::<i32>(symbol, words) } {
            0 => Ok(()),
            status => Err(Unavailable(format!("{name} returns {status}"))),
        }
    }

    pub fn symbol(&self, name: &str) -> Result<*const c_void, Unavailable> {
        // SAFETY: the address is only looked up here; who calls it says what it takes. The library is never closed.
        let found = unsafe {
            self.library.get::<*const c_void>(name.as_bytes()).ok().and_then(|symbol| symbol.try_as_raw_ptr())
        };
        let address = found.filter(|address| !address.is_null());
        address.map(<*mut c_void>::cast_const).ok_or_else(|| Unavailable(format!("there is no {name}")))
    }
}

/// Where libraries are looked for: first as the loader does.
fn folders() -> Vec<PathBuf> {
    let homes = ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(std::env::var_os).map(PathBuf::from);
    let homes = homes.chain([PathBuf::from("/usr/local/cuda")]);
    let inside = homes.flat_map(|home| ["lib64", "lib"].map(|folder| home.join(folder)));
    std::iter::once(PathBuf::new()).chain(inside).collect()
}

/// A number as a word.
pub fn word(number: usize) -> *mut c_void {
    std::ptr::without_provenance_mut(number)
}

/// The address of a place that a function writes or reads.
pub fn at<E>(place: &mut E) -> *mut c_void {
    (&raw mut *place).cast()
}

/// CUDA's own functions: memory of GPUs, and copies.
#[derive(Clone, Copy)]
pub struct Cuda {
    api: Api,
}

/// Bytes of host memory: columns of so many bytes at a stride.
#[derive(Clone, Copy)]
pub struct Host {
    pub start: *mut c_void,
    pub row_bytes: usize,
    pub stride_bytes: usize,
    pub columns: usize,
}

impl Cuda {
    pub fn open() -> Result<Self, Unavailable> {
        Ok(Self { api: Api::open("cudart", &[13, 12, 11])? })
    }

    /// Makes a GPU the one that the next calls are for.
    pub fn select(&self, gpu: i32) -> Result<(), Unavailable> {
        // SAFETY: it takes an `int`.
        unsafe { self.call("cudaSetDevice", &[word(gpu as usize)]) }
    }

    /// Waits for all that runs on the selected GPU.
    pub fn finish(&self) -> Result<(), Unavailable> {
        // SAFETY: it takes nothing; a word more is not looked at.
        unsafe { self.call("cudaDeviceSynchronize", &[word(0), word(0), word(0), word(0)]) }
    }

    /// Memory of the selected GPU.
    pub fn memory(&self, bytes: usize) -> Result<Memory, Unavailable> {
        let mut start: *mut c_void = std::ptr::null_mut();
        // SAFETY: it writes an address, and takes a size.
        unsafe { self.call("cudaMalloc", &[at(&mut start), word(bytes.max(1)), word(0), word(0)])? };
        Ok(Memory { cuda: *self, start, bytes })
    }

    /// Lets the selected GPU reach the memory of another; that it can already is no error.
    pub fn reach(&self, other: i32) {
        // SAFETY: it takes an `int` and flags, which are zero.
        let _ = unsafe { self.call("cudaDeviceEnablePeerAccess", &[word(other as usize), word(0), word(0), word(0)]) };
        // SAFETY: it takes nothing, and forgets an error.
        let _ = unsafe { self.call("cudaGetLastError", &[word(0), word(0), word(0), word(0)]) };
    }

    /// # Safety
    /// As for [`Api::call`].
    unsafe fn call(&self, name: &str, words: &[*mut c_void]) -> Result<(), Unavailable> {
        let mut padded = [word(0); 8];
        padded[..words.len()].copy_from_slice(words);
        let symbol = self.api.symbol(name)?;
        // SAFETY: the caller's promise; words more than a function takes are not looked at.
        match unsafe { invoke::<i32>(symbol, &padded) } {
            0 => Ok(()),
            status => Err(Unavailable(format!("{name}: {}", self.text_of(status)))),
        }
    }

    fn text_of(&self, status: i32) -> String {
        let Ok(symbol) = self.api.symbol("cudaGetErrorString") else { return status.to_string() };
        // SAFETY: it takes an `int`, and returns a text of its own that ends with zero.
        unsafe {
            let text_of: unsafe extern "C" fn(i32) -> *const c_char = std::mem::transmute(symbol);
            CStr::from_ptr(text_of(status)).to_string_lossy().into_owned()
        }
    }
}

/// Memory of a GPU, given back when it is dropped.
pub struct Memory {
    cuda: Cuda,
    start: *mut c_void,
    bytes: usize,
}

impl Memory {
    /// Its address on the GPU.
    pub fn start(&self) -> *mut c_void {
        self.start
    }

    /// Copies columns from the host to this byte, without gaps.
    ///
    /// # Safety
    /// The columns may be read.
    pub unsafe fn load(&self, byte: usize, host: Host) -> Result<(), Unavailable> {
        const TO_DEVICE: usize = 1;
        let to = self.place(byte, host)?;
        let Host { start, row_bytes, stride_bytes, columns } = host;
        let words = [to, word(row_bytes), start, word(stride_bytes), word(row_bytes), word(columns), word(TO_DEVICE)];
        // SAFETY: the columns are in this memory, and in the host's by the caller's promise. It returns when they are copied.
        if row_bytes * columns == 0 { Ok(()) } else { unsafe { self.cuda.call("cudaMemcpy2D", &words) } }
    }

    /// Copies them back.
    ///
    /// # Safety
    /// The columns may be written.
    pub unsafe fn store(&self, byte: usize, host: Host) -> Result<(), Unavailable> {
        const TO_HOST: usize = 2;
        let from = self.place(byte, host)?;
        let Host { start, row_bytes, stride_bytes, columns } = host;
        let words = [start, word(stride_bytes), from, word(row_bytes), word(row_bytes), word(columns), word(TO_HOST)];
        // SAFETY: see `load`.
        if row_bytes * columns == 0 { Ok(()) } else { unsafe { self.cuda.call("cudaMemcpy2D", &words) } }
    }

    /// The address of a byte with room behind it for these columns.
    fn place(&self, byte: usize, host: Host) -> Result<*mut c_void, Unavailable> {
        let needed = host.row_bytes.checked_mul(host.columns).and_then(|bytes| bytes.checked_add(byte));
        match needed.filter(|&end| end <= self.bytes.max(1)) {
            Some(_) => Ok(self.start.wrapping_byte_add(byte)),
            None => Err(Unavailable(format!("{} bytes on the GPU do not hold a matrix", self.bytes))),
        }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: it was taken for this value; CUDA waits for what still uses it.
        let _ = unsafe { self.cuda.call("cudaFree", &[self.start]) };
    }
}
