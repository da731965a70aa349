//! The sources of the CUDA programs: definitions followed by files of the folder `text`. A device compiles a program
//! when the first of its kernels is launched.

use super::tile::ProductTile;
use crate::{
    Scalar,
    scalar::{LETTERS, index_of},
};
use std::{
    collections::BTreeMap,
    fmt::Write,
    sync::{Mutex, OnceLock, PoisonError},
};
use superscalar_devices::cuda;

/// A family of kernels that are compiled together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Family {
    /// `scale`, `copy`, `transpose`, `geadd`, `geadd_transposed`, `complete`, `fold`, `laswp`, `shift`.
    Elements,
    /// `round_f16`, `round_bf16`: the same for all types.
    Half,
    /// `potrf`, `solve`, `solve_many`, `solve_urgent`, `rank_k`.
    Factor,
    /// `getrf_1`, `getrf_2`, `getrf_4`, `getrf_8`, `getrf_in_place`, `clear`.
    Lu,
    /// The first four kernels of [`Lu`](Self::Lu), for clusters of blocks.
    LuCluster,
    /// `geqrf_1`, `geqrf_2`, `geqrf_4`, `geqrf_8`, `geqrf_in_place`, `clear`.
    Qr,
    /// The first four kernels of [`Qr`](Self::Qr), for clusters of blocks.
    QrCluster,
    /// `multiply`.
    Triangle,
    /// `potrf_rows_8`, `_16`, `_32`, and so for `getrf` and `getrf_nopiv`.
    BatchRows,
    /// `potrf_block_8`, `_16`, `_32`; the last one not for complex elements.
    BatchCholesky,
    /// `getrf_block_8`, `_16`, `_32`, and so for `getrf_nopiv`; the last ones not for complex elements.
    BatchLu,
    /// `geqrf_columns_8`, `_16`, `_32`, `_64`, and so for `orgqr` and `ormqr`; the last ones not for 16-byte elements.
    BatchColumns,
    /// `geqrf_block`, `larft_block`, `orgqr_block`, `ormqr_block`.
    BatchQr,
    /// `gemm_tiny_1` for 8 rows and columns, `_2`, `_3`. `gemm_tiny_3` needs matrix units for doubles.
    BatchGemm,
    /// `gemm_nn`, `gemm_nt`, `gemm_tn`, `gemm_tt`, by such tiles.
    BatchTiles(ProductTile),
    /// `gemv_n_tiny_8`, `_16`, `_32`, `gemv_n`; `gemv_t_tiny_8`, and so on.
    BatchGemv,
    /// `trsm_tiny_8`, `_16`, `_32`, `trsm`, `trsv_columns`, `trsv_rows`, `laswp`, `column_table`, `find_zero`.
    BatchSolve,
    /// `gebrd_tiny_16`, `gebrd_tiny_32` (not for 16-byte elements), `labrd_128`, `labrd_256`, `labrd_512`, `labrd`,
    /// `gebrd_update`, `flip`, `gebrd_scale`, `gebrd_unscale`.
    BatchGebrd,
}

/// Threads of a block in kernels that process a few rows of some columns.
pub(super) const THREADS: usize = 256;
/// Rows and columns of a trapezoid that a block of threads updates.
pub(super) const RANK_K_EDGE: usize = 64;
/// The order of the blocks by which a matrix is transposed.
pub(super) const TRANSPOSED_BLOCK: usize = 32;
/// Rows of such a block that are moved at once.
pub(super) const TRANSPOSED_ROWS: usize = 8;
/// Interchanges that are made together. Each has two threads.
pub(super) const INTERCHANGE_CHUNK: usize = 128;
/// Columns of a block of threads that interchanges rows: enough to amortize reading the interchanges, and few enough to
/// occupy all processors.
pub(super) const INTERCHANGED_COLUMNS: usize = 4;
/// The most blocks of threads that factor a part of a panel.
pub(super) const PANEL_BLOCKS: usize = 128;
/// The most cycles that blocks wait for each other: some seconds.
const WAIT_CYCLES_MAX: usize = 20_000_000_000;
/// Words of mail between blocks; see `text/grid.cu`.
pub(super) const MESSAGE_WORDS: usize = 3;

/// Columns of B that a block of threads multiplies by a block of a triangle.
pub(super) const MULTIPLIED_COLUMNS: usize = 16;

/// Returns the order of a triangle's blocks on the diagonal, which shared memory holds beside some columns of B.
pub(super) fn triangle_order<T>() -> usize {
    if size_of::<T>() > 8 { 32 } else { 64 }
}

/// Returns the order of the largest block that one kernel factors or solves with. The block must fit the shared memory
/// of one processor.
pub(super) fn factor_order<T>() -> usize {
    if size_of::<T>() > 8 { 64 } else { 128 }
}

/// Vectors that a block of threads solves for at once, and the larger number for many vectors, which is limited by
/// registers.
pub(super) const SOLVED_VECTORS: [usize; 2] = [32, 64];

/// Vectors that a block of threads solves for in an urgent queue: one for each warp.
pub(super) const URGENT_VECTORS: usize = THREADS / 32;
/// Components that it finds at once, `ROWS` in `text/solve_urgent.cu`.
pub(super) const URGENT_ROWS: usize = 32;

/// Components that are found at once, by the inverse of their block, for `f32`, and for `f64` on devices with matrix
/// units.
pub(super) const UNIT_ORDER: usize = 8;

/// The most threads of a block that factors one matrix of a batch by Cholesky or LU.
pub(super) const BATCH_BLOCK_THREADS: usize = 512;
/// The same for QR.
pub(super) const BATCH_QR_THREADS: usize = 256;
/// Columns of a panel of the QR factorization of a batch's matrix.
pub(super) const BATCH_BAND: usize = 16;
/// Threads of a block in which each thread has a column of a matrix of a batch.
pub(super) const BATCH_COLUMN_THREADS: usize = 64;

/// Returns the threads of a block in which each thread has a row of a matrix of a batch.
pub(super) fn batch_row_threads<T>() -> usize {
    if size_of::<T>() > 8 { 64 } else { 128 }
}

/// Returns the order of the blocks that a warp factors in its registers.
pub(super) fn factor_step<T: Scalar>() -> usize {
    if T::COMPLEX { 16 } else { 32 }
}

impl Family {
    /// All families but those of tiles.
    pub const ALL: [Self; 17] = [
        Self::Elements,
        Self::Half,
        Self::Factor,
        Self::Lu,
        Self::LuCluster,
        Self::Qr,
        Self::QrCluster,
        Self::Triangle,
        Self::BatchRows,
        Self::BatchCholesky,
        Self::BatchLu,
        Self::BatchColumns,
        Self::BatchQr,
        Self::BatchGemm,
        Self::BatchGemv,
        Self::BatchSolve,
        Self::BatchGebrd,
    ];

    /// Returns the lowest compute capability that the family needs.
    #[must_use]
    pub fn capability(self) -> (i32, i32) {
        match self {
            Self::LuCluster | Self::QrCluster => (9, 0),
            _ => (7, 5),
        }
    }

    /// Returns the program for elements of type `T`.
    ///
    /// ```
    /// use superscalar::kernels::cuda::Family;
    /// assert!(Family::Factor.program::<f64>().source().contains("potrf"));
    /// ```
    #[must_use]
    pub fn program<T: Scalar>(self) -> &'static cuda::Program {
        static PROGRAMS: [[OnceLock<cuda::Program>; LETTERS.len()]; Family::ALL.len()] =
            [const { [const { OnceLock::new() }; LETTERS.len()] }; Family::ALL.len()];
        match (Self::ALL.iter().position(|&family| family == self), self) {
            (Some(index), _) => PROGRAMS[index][index_of::<T>()].get_or_init(|| self.make::<T>()),
            (None, family) => family.tiles_program::<T>(),
        }
    }

    /// Returns a program that is made at its first use and kept: a process has a few of them, or some hundred while it
    /// measures tiles.
    fn tiles_program<T: Scalar>(self) -> &'static cuda::Program {
        static PROGRAMS: Mutex<BTreeMap<(char, Family), &'static cuda::Program>> = Mutex::new(BTreeMap::new());
        // A program is inserted only when it is complete.
        let mut programs = PROGRAMS.lock().unwrap_or_else(PoisonError::into_inner);
        programs.entry((T::LETTER, self)).or_insert_with(|| Box::leak(Box::new(self.make::<T>())))
    }

    fn make<T: Scalar>(self) -> cuda::Program {
        let is_double = size_of::<T::Real>() == size_of::<f64>();
        let mut definitions = vec![("DOUBLE", usize::from(is_double)), ("COMPLEX", T::COMPLEX.into())];
        let (name, text) = match self {
            Self::Elements => {
                definitions.extend([
                    ("THREADS", THREADS),
                    ("BLOCK", TRANSPOSED_BLOCK),
                    ("ROWS", TRANSPOSED_ROWS),
                    ("CHUNK", INTERCHANGE_CHUNK),
                    ("COLUMNS", INTERCHANGED_COLUMNS),
                ]);
                ("elements", include_str!("text/elements.cu"))
            }
            Self::Half => {
                definitions.push(("THREADS", THREADS));
                ("half", include_str!("text/half.cu"))
            }
            Self::Factor => {
                definitions.extend([("ORDER", factor_order::<T>()), ("STEP", factor_step::<T>())]);
                definitions.extend([("SOLVED", SOLVED_VECTORS[0]), ("MANY", SOLVED_VECTORS[1])]);
                definitions.extend([("THREADS", THREADS), ("UNIT_ORDER", UNIT_ORDER), ("EDGE", RANK_K_EDGE)]);
                let text = concat!(
                    include_str!("text/factor.cu"),
                    include_str!("text/solve.cu"),
                    include_str!("text/solve_urgent.cu"),
                    include_str!("text/rank_k.cu")
                );
                ("factor", text)
            }
            Self::Lu | Self::LuCluster | Self::Qr | Self::QrCluster => {
                definitions.extend([
                    ("BLOCKS", PANEL_BLOCKS),
                    ("WORDS", MESSAGE_WORDS),
                    ("THREADS", THREADS),
                    ("PATIENCE", WAIT_CYCLES_MAX),
                ]);
                self.panel_text()
            }
            Self::Triangle => {
                let order = triangle_order::<T>();
                definitions.extend([("ORDER", order), ("COLUMNS", MULTIPLIED_COLUMNS), ("THREADS", THREADS)]);
                ("triangle", include_str!("text/triangle.cu"))
            }
            _ => {
                definitions.extend([
                    ("ROW_THREADS", batch_row_threads::<T>()),
                    ("BLOCK_THREADS", BATCH_BLOCK_THREADS),
                    ("COLUMN_THREADS", BATCH_COLUMN_THREADS),
                    ("QR_THREADS", BATCH_QR_THREADS),
                    ("BAND", BATCH_BAND),
                ]);
                self.batch_text()
            }
        };
        let mut source = String::new();
        for (name, value) in definitions {
            // Writing to a string does not fail.
            let _ = writeln!(source, "#define {name} {value}");
        }
        source.push_str(include_str!("text/prelude.cu"));
        source.push_str(text);
        if let Self::BatchTiles(tile) = self {
            let ProductTile { rows, columns, deep, stages, down, across } = tile;
            let resident = tile.resident::<T>();
            let numbers = format!("{rows}, {columns}, {deep}, {stages}, {down}, {across}, {resident}");
            let _ = writeln!(source, "TILED_GEMMS(gemm, {numbers})");
        }
        cuda::Program::new(format!("{}{name}", T::LETTER), source, &[])
    }

    /// Returns the name and text of a program for panels.
    fn panel_text(self) -> (&'static str, &'static str) {
        macro_rules! text {
            ($($file:literal),*) => { concat!(include_str!("text/panel.cu"), $(include_str!($file)),*) };
        }
        match self {
            Self::Lu => ("lu", text!("text/grid.cu", "text/lu.cu", "text/lu_grid.cu")),
            Self::LuCluster => ("lu_cluster", text!("text/cluster.cu", "text/lu.cu")),
            Self::QrCluster => ("qr_cluster", text!("text/cluster.cu", "text/qr.cu")),
            _ => ("qr", text!("text/grid.cu", "text/qr.cu", "text/qr_grid.cu")),
        }
    }

    /// Returns the name and text of a program for batches.
    fn batch_text(self) -> (&'static str, &'static str) {
        macro_rules! text {
            ($($file:literal),*) => { concat!(include_str!("text/batch.cu"), $(include_str!($file)),*) };
        }
        match self {
            Self::BatchRows => ("batch_rows", text!("text/batch_steps.cu", "text/batch_rows.cu")),
            Self::BatchCholesky => {
                let text = text!("text/batch_steps.cu", "text/batch_product.cu", "text/batch_potrf.cu");
                ("batch_cholesky", text)
            }
            Self::BatchLu => ("batch_lu", text!("text/batch_steps.cu", "text/batch_product.cu", "text/batch_getrf.cu")),
            Self::BatchColumns => ("batch_columns", text!("text/batch_reflector.cu", "text/batch_qr_columns.cu")),
            Self::BatchGemm => ("batch_gemm", text!("text/batch_gemm.cu", "text/batch_gemm_tiny.cu")),
            Self::BatchTiles(_) => ("batch_tiles", text!("text/batch_gemm.cu")),
            Self::BatchGemv => ("batch_gemv", text!("text/batch_gemv.cu")),
            Self::BatchSolve => {
                let text = text!(
                    "text/batch_gemm.cu",
                    "text/batch_solve.cu",
                    "text/batch_trsm.cu",
                    "text/batch_laswp.cu",
                    "text/batch_gels.cu"
                );
                ("batch_solve", text)
            }
            Self::BatchGebrd => {
                let text = text!(
                    "text/batch_gemm.cu",
                    "text/batch_reflector.cu",
                    "text/batch_gebrd.cu",
                    "text/batch_gebrd_ends.cu"
                );
                ("batch_gebrd", text)
            }
            _ => {
                let text = text!("text/batch_product.cu", "text/batch_reflector.cu", "text/batch_qr.cu");
                ("batch_qr", text)
            }
        }
    }
}
