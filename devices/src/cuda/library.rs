//! Loads CUDA's libraries at run time.
//!
//! A library is searched by name in the folders of the system's loader; then in `CUDA_HOME` and `CUDA_PATH`, in the
//! usual folders, and in the Python packages that contain it. A library that was loaded from a path is found by its
//! name from then on, so the bindings, which use names only, find it, too. The bindings panic if a library or a
//! function is missing. Therefore each library is checked here before it is used, and the driver's functions, which
//! depend on its version, are looked up once.

use cudarc::{cublas, cusolver, driver, nvrtc};
use std::{
    env,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    sync::OnceLock,
};
use superscalar_runtime::{DeviceError, environment};

/// A library of CUDA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Library {
    /// libcuda, part of the GPU's driver.
    Driver,
    /// libnvrtc, the compiler.
    Nvrtc,
    /// libcublas.
    Blas,
    /// libcusolver.
    Solver,
}

/// The functions of the driver that are called.
const DRIVER_FUNCTIONS: [&str; 49] = [
    "cuCtxEnablePeerAccess",
    "cuCtxSetCurrent",
    "cuDeviceCanAccessPeer",
    "cuDeviceGet",
    "cuDeviceGetAttribute",
    "cuDeviceGetCount",
    "cuDeviceGetName",
    "cuDeviceGetP2PAttribute",
    "cuDeviceGetPCIBusId",
    "cuDevicePrimaryCtxRelease_v2",
    "cuDevicePrimaryCtxRetain",
    "cuDeviceTotalMem_v2",
    "cuEventCreate",
    "cuEventDestroy_v2",
    "cuEventElapsedTime",
    "cuEventQuery",
    "cuEventRecord",
    "cuFuncGetAttribute",
    "cuFuncSetAttribute",
    "cuGetErrorName",
    "cuInit",
    "cuLaunchCooperativeKernel",
    "cuLaunchKernel",
    "cuMemAlloc_v2",
    "cuMemFree_v2",
    "cuMemFreeHost",
    "cuMemGetInfo_v2",
    "cuMemHostAlloc",
    "cuMemHostGetDevicePointer_v2",
    "cuMemHostRegister_v2",
    "cuMemHostUnregister",
    "cuMemcpy2DAsync_v2",
    "cuMemcpyAsync",
    "cuMemcpyDtoHAsync_v2",
    "cuMemcpyHtoDAsync_v2",
    "cuMemcpyPeerAsync",
    "cuMemcpy3DPeerAsync",
    "cuMemsetD2D8Async",
    "cuMemsetD8Async",
    "cuModuleGetFunction",
    "cuModuleLoadData",
    "cuModuleUnload",
    "cuOccupancyMaxActiveBlocksPerMultiprocessor",
    "cuPointerGetAttributes",
    "cuStreamCreate",
    "cuStreamDestroy_v2",
    "cuStreamQuery",
    "cuStreamWaitEvent",
    "cuCtxGetCurrent",
];

/// Fails if a library is not found or lacks one of these functions. Call it before the functions, because the bindings
/// panic if they are missing.
///
/// # Errors
/// If the library or a function is missing; the message names it.
///
/// # Examples
/// ```
/// # mod superscalar { pub use superscalar_devices as devices; pub use superscalar_runtime::*; }
/// use superscalar::devices::cuda::{Library, requires};
///
/// if let Err(error) = requires(Library::Blas, &["cublasDgemm_v2_64"]) {
///     println!("no products here: {error}");
/// }
/// ```
pub fn requires(library: Library, functions: &[&str]) -> Result<(), DeviceError> {
    library.load()?;
    match functions.iter().find(|function| !library.has(function)) {
        None => Ok(()),
        Some(function) => Err(DeviceError::new(format!("lib{} has no function `{function}`", library.name()))),
    }
}

/// Returns whether a driver is installed.
pub(super) fn has_driver() -> bool {
    Library::Driver.load().is_ok()
}

/// Fails if there is no driver, or the driver is too old.
pub(super) fn driver() -> Result<(), DeviceError> {
    static CHECKED: OnceLock<Result<(), DeviceError>> = OnceLock::new();
    CHECKED.get_or_init(|| requires(Library::Driver, &DRIVER_FUNCTIONS)).clone()
}

/// Returns the driver's function for the milliseconds between two events. The bindings only know its second version,
/// which drivers have from 12.8 on. The first version does the same, and all drivers have it.
pub(super) fn elapsed_time() -> Option<ElapsedTime> {
    static FOUND: OnceLock<Option<ElapsedTime>> = OnceLock::new();
    *FOUND.get_or_init(|| {
        driver().ok()?;
        // SAFETY: the driver is loaded, and its header declares this signature.
        unsafe { driver::sys::culib().get::<ElapsedTime>(b"cuEventElapsedTime").ok().map(|function| *function) }
    })
}

/// The signature of [`elapsed_time`]'s function.
pub(super) type ElapsedTime =
    unsafe extern "C" fn(*mut f32, driver::sys::CUevent, driver::sys::CUevent) -> driver::sys::CUresult;

/// Fails if there is no compiler.
pub(super) fn nvrtc() -> Result<(), DeviceError> {
    Library::Nvrtc.load()
}

impl Library {
    fn name(self) -> &'static str {
        match self {
            Self::Driver => "cuda",
            Self::Nvrtc => "nvrtc",
            Self::Blas => "cublas",
            Self::Solver => "cusolver",
        }
    }

    /// Fails if the library is not found.
    pub(super) fn load(self) -> Result<(), DeviceError> {
        static FOUND: [OnceLock<Result<(), DeviceError>>; 4] = [const { OnceLock::new() }; 4];
        FOUND[self as usize].get_or_init(|| self.find()).clone()
    }

    fn find(self) -> Result<(), DeviceError> {
        if self.is_present() {
            return Ok(());
        }
        let folders = folders(&environment::variable);
        let found = folders.iter().any(|folder| {
            let is_there = loads(folder, self.name());
            if is_there {
                for companion in self.companions() {
                    // The library itself reports what it misses.
                    let _ = loads(folder, companion);
                }
            }
            is_there && self.is_present()
        });
        if found {
            return Ok(());
        }
        let name = self.name();
        let places = "the loader's folders, CUDA_HOME, /usr/local/cuda and Python's packages";
        Err(DeviceError::new(format!("lib{name} is not found in {places}")))
    }

    /// Returns the libraries that it loads by name later, from its own folder.
    fn companions(self) -> &'static [&'static str] {
        match self {
            Self::Nvrtc => &["nvrtc-builtins"],
            _ => &[],
        }
    }

    fn is_present(self) -> bool {
        // SAFETY: these calls only look up libraries by name. The initializers of CUDA's libraries have no effects that
        // matter here.
        unsafe {
            match self {
                Self::Driver => driver::sys::is_culib_present(),
                Self::Nvrtc => nvrtc::sys::is_culib_present(),
                Self::Blas => cublas::sys::is_culib_present(),
                Self::Solver => cusolver::sys::is_culib_present(),
            }
        }
    }

    /// Returns whether the library has a function. The library must have been found.
    fn has(self, function: &str) -> bool {
        type Function = unsafe extern "C" fn();
        // SAFETY: the library is present, so the bindings do not panic. The function is looked up but not called.
        unsafe {
            let library = match self {
                Self::Driver => driver::sys::culib(),
                Self::Nvrtc => nvrtc::sys::culib(),
                Self::Blas => cublas::sys::culib(),
                Self::Solver => cusolver::sys::culib(),
            };
            library.get::<Function>(function.as_bytes()).is_ok()
        }
    }
}

/// Loads a library from a folder and never unloads it. Returns whether that succeeded.
fn loads(folder: &Path, name: &str) -> bool {
    let prefix = format!("lib{name}.so");
    let files = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> = files.filter(|file| is_version_of(file, &prefix)).collect();
    // The newest version first. The plain name, a link to one of the versions, comes last.
    files.sort_by(|one, other| other.cmp(one));
    files.iter().any(|file| {
        // SAFETY: it is a library of CUDA, whose initializers have no effects that matter here.
        match unsafe { libloading::Library::new(file) } {
            Ok(library) => {
                std::mem::forget(library);
                true
            }
            Err(_) => false,
        }
    })
}

fn is_version_of(file: &Path, prefix: &str) -> bool {
    let rest = file.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_prefix(prefix));
    rest.is_some_and(|rest| {
        rest.is_empty() || rest.starts_with('.') && rest[1..].starts_with(|c: char| c.is_ascii_digit())
    })
}

/// Returns the folders that may contain the libraries, besides those of the loader.
fn folders(variable: &dyn Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let named = |name: &str| variable(name).map(PathBuf::from);
    let mut toolkits: Vec<PathBuf> = ["CUDA_HOME", "CUDA_PATH", "CUDA_ROOT"].into_iter().filter_map(named).collect();
    toolkits.extend(["/usr/local/cuda", "/opt/cuda", "/usr/local/nvidia", "/usr/lib/wsl"].map(PathBuf::from));
    let mut folders = Vec::new();
    for toolkit in toolkits {
        folders.extend(
            ["lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"].map(|lib| toolkit.join(lib)),
        );
    }
    for packages in python_packages(variable) {
        let mut carried: Vec<PathBuf> = entries(&packages.join("nvidia")).map(|package| package.join("lib")).collect();
        carried.sort();
        folders.extend(carried);
    }
    folders
}

/// Returns the folders of Python packages: those of the active environment, the first `python3` in `PATH`, the user and
/// the system.
fn python_packages(variable: &dyn Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let listed =
        |name: &str| variable(name).map(|value| env::split_paths(&value).collect::<Vec<_>>()).unwrap_or_default();
    let mut packages: Vec<PathBuf> = listed("PYTHONPATH");
    let mut prefixes: Vec<PathBuf> =
        ["VIRTUAL_ENV", "CONDA_PREFIX"].into_iter().filter_map(variable).map(PathBuf::from).collect();
    let first = listed("PATH").into_iter().find(|folder| folder.join("python3").exists());
    prefixes.extend(first.and_then(|folder| folder.parent().map(Path::to_path_buf)));
    prefixes.extend(variable("HOME").map(|home| PathBuf::from(home).join(".local")));
    prefixes.extend(["/usr/local", "/usr"].map(PathBuf::from));
    for prefix in prefixes {
        let is_python = |path: &PathBuf| {
            path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with("python3"))
        };
        let mut versions: Vec<PathBuf> = entries(&prefix.join("lib")).filter(is_python).collect();
        versions.sort();
        for version in versions {
            packages.extend(["site-packages", "dist-packages"].map(|name| version.join(name)));
        }
    }
    packages
}

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn library_folders_follow_the_environment() {
        let root = env::temp_dir().join(format!("superscalar-cuda-library-{}", std::process::id()));
        let packages = root.join("venv/lib/python3.12/site-packages");
        fs::create_dir_all(packages.join("nvidia/cu13/lib")).expect("a folder");
        let set = |name: &str| match name {
            "CUDA_HOME" => Some("/somewhere/cuda".into()),
            "VIRTUAL_ENV" => Some(root.join("venv").into_os_string()),
            "PYTHONPATH" | "PATH" => Some("".into()),
            _ => None,
        };
        let folders = folders(&set);
        let _ = fs::remove_dir_all(&root);
        assert_eq!(folders[0], Path::new("/somewhere/cuda/lib64"));
        assert!(folders.contains(&PathBuf::from("/usr/local/cuda/lib64")));
        assert!(folders.contains(&packages.join("nvidia/cu13/lib")), "{folders:?}");
    }

    #[test]
    fn library_file_names() {
        for (file, is) in [
            ("libnvrtc.so", true),
            ("libnvrtc.so.13", true),
            ("libnvrtc.so.12.8.93", true),
            ("libnvrtc-builtins.so.13.0", false),
            ("libnvrtc.so.alt", false),
            ("libnvrtc_static.a", false),
        ] {
            assert_eq!(is_version_of(&Path::new("/x").join(file), "libnvrtc.so"), is, "{file}");
        }
    }

    #[test]
    fn missing_function_is_an_error() {
        for library in [Library::Driver, Library::Nvrtc, Library::Blas, Library::Solver] {
            match requires(library, &["no_such_function_anywhere"]) {
                Ok(()) => panic!("{library:?} has everything"),
                Err(error) => assert!(error.to_string().contains(library.name()), "{error}"),
            }
        }
    }
}
