//! Handles of cuBLAS and cuSOLVER, each bound to one stream.

use super::{buffer::DeviceBuffer, context::Context, library::Library, stream::Stream};
use cudarc::{
    cublas::sys::{self as cublas, cublasHandle_t, cublasStatus_t},
    cusolver::sys::{self as cusolver, cusolverDnHandle_t, cusolverStatus_t},
};
use std::{ptr, sync::Arc};
use superscalar_runtime::DeviceError;

/// NVIDIA's recommendation for Hopper GPUs and later, and more than enough for older ones.
const WORKSPACE_BYTES: usize = 32 << 20;

/// A cuBLAS handle.
pub(super) struct Blas {
    raw: cublasHandle_t,
    context: Arc<Context>,
    /// Without this, cuBLAS would allocate a workspace while it issues work.
    _workspace: DeviceBuffer,
}

impl Blas {
    pub(super) fn new(context: &Arc<Context>, stream: &Stream) -> Result<Self, DeviceError> {
        Library::Blas.load()?;
        let workspace = DeviceBuffer::new(context, WORKSPACE_BYTES)?;
        let mut raw = ptr::null_mut();
        // SAFETY: the library is loaded, and the context is current.
        check_blas(unsafe { cublas::cublasCreate_v2(&raw mut raw) }, "cublasCreate")?;
        let this = Self { raw, context: Arc::clone(context), _workspace: workspace };
        // SAFETY: handle and stream are valid and belong to the same context.
        let bound = unsafe { cublas::cublasSetStream_v2(this.raw, stream.raw().cast()) };
        check_blas(bound, "cublasSetStream")?;
        let (place, bytes) = (this._workspace.address() as *mut _, this._workspace.bytes());
        // After `cublasSetStream`, which resets the workspace. SAFETY: the memory is freed after the handle is
        // destroyed.
        check_blas(unsafe { cublas::cublasSetWorkspace_v2(this.raw, place, bytes) }, "cublasSetWorkspace")?;
        Ok(this)
    }

    pub(super) fn raw(&self) -> cublasHandle_t {
        self.raw
    }
}

impl Drop for Blas {
    fn drop(&mut self) {
        if self.context.can_destroy() {
            // SAFETY: this value owns the handle, and destroys it once.
            let _ = unsafe { cublas::cublasDestroy_v2(self.raw) };
        }
    }
}

fn check_blas(status: cublasStatus_t, call: &str) -> Result<(), DeviceError> {
    match status {
        cublasStatus_t::CUBLAS_STATUS_SUCCESS => Ok(()),
        status => Err(DeviceError::new(format!("{call} returned {status:?}"))),
    }
}

/// A handle of cuSOLVER's dense routines.
pub(super) struct Solver {
    raw: cusolverDnHandle_t,
    context: Arc<Context>,
}

impl Solver {
    pub(super) fn new(context: &Arc<Context>, stream: &Stream) -> Result<Self, DeviceError> {
        Library::Solver.load()?;
        let mut raw = ptr::null_mut();
        // SAFETY: the library is loaded, and the context is current.
        check_solver(unsafe { cusolver::cusolverDnCreate(&raw mut raw) }, "cusolverDnCreate")?;
        let this = Self { raw, context: Arc::clone(context) };
        // SAFETY: handle and stream are valid and belong to the same context.
        let bound = unsafe { cusolver::cusolverDnSetStream(this.raw, stream.raw().cast()) };
        check_solver(bound, "cusolverDnSetStream")?;
        Ok(this)
    }

    pub(super) fn raw(&self) -> cusolverDnHandle_t {
        self.raw
    }
}

impl Drop for Solver {
    fn drop(&mut self) {
        if self.context.can_destroy() {
            // SAFETY: this value owns the handle, and destroys it once.
            let _ = unsafe { cusolver::cusolverDnDestroy(self.raw) };
        }
    }
}

fn check_solver(status: cusolverStatus_t, call: &str) -> Result<(), DeviceError> {
    match status {
        cusolverStatus_t::CUSOLVER_STATUS_SUCCESS => Ok(()),
        status => Err(DeviceError::new(format!("{call} returned {status:?}"))),
    }
}
