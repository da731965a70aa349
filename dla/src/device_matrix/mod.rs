//! [`DeviceMatrix`]: a matrix in the memory of devices.
//!
//! Each tile is a [`Resident`] of the runtime: its replicas on devices persist between scopes. A scope uses the matrix
//! as a [`Tiled`], like a host matrix, so each algorithm is written once. Each tile has a home, the device it was dealt
//! to, where the tasks that update it run.
//!
//! | file | contents |
//! |---|---|
//! | `layout.rs` | tile shapes and the placement of tiles |

mod layout;

pub use layout::Layout;

use crate::{
    Scalar,
    codelets::{TileCopy, task},
    distribution::{homes, update_by_gemm},
    error::Error,
    options::Distribution,
    tiled::{TileView, Tiled, cut, cut_read_only, packs_for},
};
use layout::TilePlacement;
use std::panic::Location;
use superscalar_kernels::{Backing, MatMut, MatRef, Op, cpu::PackStore};
use superscalar_macros::each_type;
use superscalar_runtime::{Lent, Lock, Resident, Resource, Runtime, Scope};

/// An m x n matrix in the memory of a runtime's devices. Its tiles are on one device or distributed over several; see
/// [`Layout`].
///
/// The matrix is filled by [`upload`](Self::upload) or by the first routine that overwrites it, and read by
/// [`download`](Self::download). Scopes use it through [`lend`](Self::lend), which returns a [`Tiled`] for the
/// functions in [`spawn`](crate::spawn). No data moves when a scope begins or ends: what one scope leaves on a device
/// is there for the next.
///
/// A tile leaves its device only if the device runs out of memory or a task needs the tile elsewhere. Host addresses
/// for all tiles are reserved, but take no memory before they are used. So the matrix may be larger than the memory of
/// its devices.
///
/// If a device is lost or fails to write a tile, the data that only this device held is lost.
/// [`holders`](Self::holders) then returns an empty list, and reading the tile is an error of kind
/// [`Device`](crate::ErrorKind::Device) until it is overwritten. Numerical outcomes, such as a pivot that is not
/// positive, lose nothing: the matrix holds what the routine documents, as in host memory.
///
/// ```no_run
/// use superscalar::dla::{BlockSize, DeviceMatrix, Layout, Matrix, Uplo, spawn};
///
/// // A runtime that was built with devices: the facade's `devices::builder` opens those that the environment names.
/// # let rt = superscalar::Runtime::new()?;
/// let a = Matrix::from_fn(300, 300, |i, j| if i == j { 300.0 } else { 1.0 });
/// let mut x = Matrix::from_fn(300, 2, |_, _| 599.0);
/// let tiles = Layout::tiles(BlockSize::Fixed(64));
/// let mut a = DeviceMatrix::from_host(&rt, a.as_ref(), tiles)?;
/// let mut b = DeviceMatrix::from_host(&rt, x.as_ref(), tiles)?;
/// rt.scope(|s| spawn::potrf(s, Uplo::Lower, &a.lend(s)))?;
/// // The factor is still where it was made.
/// rt.scope(|s| spawn::potrs(s, Uplo::Lower, &a.lend_ref(s), &b.lend(s)))?;
/// b.download(&rt, x.as_mut())?;
/// assert!((x.at(299, 1) - 1.0f64).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct DeviceMatrix<T: Scalar> {
    /// In column-major order.
    tiles: Vec<Resident<Backing<T>>>,
    /// Home of each tile; empty if the tiles were not dealt.
    homes: Vec<Resource>,
    shape: (usize, usize),
    tile: (usize, usize),
    distribution: Distribution,
    /// Names of the devices, for error messages.
    device_names: Vec<String>,
}

impl<T: Scalar> DeviceMatrix<T> {
    /// Creates an m x n matrix of zeros. Device memory is allocated, and data copied, only when the matrix is used;
    /// zeros that are never read are never copied.
    ///
    /// # Errors
    /// [`Argument`](crate::ErrorKind::Argument) if the runtime has no device with its own memory, or not the device
    /// that the layout names; [`Memory`](crate::ErrorKind::Memory) if host addresses for the matrix cannot be reserved;
    /// [`Shape`](crate::ErrorKind::Shape) if a block size is zero.
    pub fn zeros(rt: &Runtime, shape: (usize, usize), layout: Layout) -> Result<Self, Error> {
        zeros(rt, shape, layout)
    }

    /// Creates a copy of a host matrix.
    ///
    /// # Errors
    /// See [`zeros`](Self::zeros) and [`upload`](Self::upload).
    pub fn from_host(rt: &Runtime, a: MatRef<'_, T>, layout: Layout) -> Result<Self, Error> {
        let mut matrix = Self::zeros(rt, a.shape(), layout)?;
        matrix.upload(rt, a)?;
        Ok(matrix)
    }

    /// Copies a host matrix into this matrix. Each tile is copied directly to its device, which needs room for two
    /// tiles.
    ///
    /// # Errors
    /// [`Shape`](crate::ErrorKind::Shape) if the shapes differ; [`Argument`](crate::ErrorKind::Argument) if the matrix
    /// belongs to another runtime; [`Device`](crate::ErrorKind::Device) if a device fails.
    pub fn upload(&mut self, rt: &Runtime, a: MatRef<'_, T>) -> Result<(), Error> {
        upload(self, rt, a)
    }

    /// Copies this matrix into a host matrix. The device copies stay valid.
    ///
    /// # Errors
    /// See [`upload`](Self::upload); and [`Device`](crate::ErrorKind::Device) if a tile is lost. The other tiles have
    /// then been copied.
    pub fn download(&self, rt: &Runtime, a: MatMut<'_, T>) -> Result<(), Error> {
        download(self, rt, a)
    }

    /// Lends the matrix to a scope, whose tasks may read and change it.
    ///
    /// If the scope belongs to another runtime, it is cancelled and returns an error of kind
    /// [`Refused`](superscalar_runtime::ErrorKind::Refused).
    #[track_caller]
    pub fn lend<'s>(&'s mut self, s: &'s Scope<'s, '_>) -> Tiled<'s, MatMut<'s, T>> {
        lend(self, s)
    }

    /// Lends the matrix to a scope, whose tasks may read it. Several scopes may have it at the same time. A scope of
    /// another runtime is cancelled, as by [`lend`](Self::lend).
    #[track_caller]
    pub fn lend_ref<'s>(&'s self, s: &'s Scope<'s, '_>) -> Tiled<'s, MatRef<'s, T>> {
        lend_ref(self, s)
    }

    /// Returns the number of rows.
    #[must_use]
    pub fn nrows(&self) -> usize {
        self.shape.0
    }

    /// Returns the number of columns.
    #[must_use]
    pub fn ncols(&self) -> usize {
        self.shape.1
    }

    /// Returns the number of rows and columns of a tile. Tiles at the bottom and right edges may be smaller.
    #[must_use]
    pub fn tile_shape(&self) -> (usize, usize) {
        self.tile
    }

    /// Returns how the tiles are distributed over devices.
    #[must_use]
    pub fn distribution(&self) -> Distribution {
        self.distribution
    }

    /// Returns the device that tile (i, j) was dealt to, if it was dealt.
    ///
    /// # Panics
    /// If there is no such tile.
    #[must_use]
    pub fn home(&self, i: usize, j: usize) -> Option<Resource> {
        let at = self.index_of(i, j);
        self.homes.get(at).copied()
    }

    /// Returns the resources that currently hold tile (i, j): devices, the host, or both. The list is empty if the tile
    /// is lost.
    ///
    /// # Panics
    /// If there is no such tile.
    #[must_use]
    pub fn holders(&self, i: usize, j: usize) -> Vec<Resource> {
        self.tiles[self.index_of(i, j)].holders()
    }

    /// Returns how many bytes of the matrix the device with this index currently holds.
    #[must_use]
    pub fn bytes_on(&self, device: usize) -> usize {
        let Ok(device) = u16::try_from(device) else { return 0 };
        let (device, mt) = (Resource::device(device), self.shape.0.div_ceil(self.tile.0));
        let bytes = |at: usize| {
            let rows = self.tile.0.min(self.shape.0 - at % mt * self.tile.0);
            let cols = self.tile.1.min(self.shape.1 - at / mt * self.tile.1);
            rows * cols * size_of::<T>()
        };
        let there = self.tiles.iter().enumerate().filter(|(_, tile)| tile.holders().contains(&device));
        there.map(|(at, _)| bytes(at)).sum()
    }

    #[track_caller]
    fn index_of(&self, i: usize, j: usize) -> usize {
        let (mt, nt) = (self.shape.0.div_ceil(self.tile.0), self.shape.1.div_ceil(self.tile.1));
        assert!(i < mt && j < nt, "{}: tile ({i}, {j}) of {mt} x {nt}", Location::caller());
        i + j * mt
    }

    /// Store for the tiles that host tasks pack.
    fn packs(&self) -> std::sync::Arc<PackStore> {
        PackStore::new(packs_for::<T>(self.shape, self.tile))
    }

    fn check(&self, rt: &Runtime, shape: (usize, usize)) -> Result<(), Error> {
        if shape != self.shape {
            let (m, n) = self.shape;
            return Err(Error::shape(format!(
                "the host matrix is {} x {}, the device matrix {m} x {n}",
                shape.0, shape.1
            )));
        }
        if self.tiles.first().is_some_and(|tile| !tile.is_of(rt)) {
            let names = self.device_names.join(", ");
            return Err(Error::argument(format!("the matrix belongs to another runtime, with devices {names}")));
        }
        Ok(())
    }
}

/// The functions of this module that are compiled for each element type.
#[each_type]
pub trait Transfers: HasZeros + HasUpload + HasDownload + HasLend + HasLendRef + HasSpawnCopy {}

#[each_type]
fn zeros<T: Scalar>(rt: &Runtime, shape: (usize, usize), layout: Layout) -> Result<DeviceMatrix<T>, Error> {
    let (m, n) = shape;
    let devices = check_devices(rt, layout)?;
    let tile = layout.tile::<T>(rt, (m, n))?;
    let tiles = Backing::tiles((m, n), tile)?;
    let tiles: Vec<_> = tiles.into_iter().map(|tile| Resident::new(rt, tile)).collect();
    let grid = (m.div_ceil(tile.0), n.div_ceil(tile.1));
    let (homes, distribution) = match layout.placement() {
        TilePlacement::OnDevice(device) => (vec![Resource::device(device as u16); tiles.len()], Distribution::None),
        TilePlacement::Distributed(distribution) => {
            let update = update_by_gemm::<T>(tile.0.min(m), tile.1.min(n), tile.1.min(n));
            (rt.scope(|s| homes(s.nesting(), distribution, grid, update))?, distribution)
        }
    };
    Ok(DeviceMatrix { tiles, homes, shape: (m, n), tile, distribution, device_names: devices })
}

#[each_type]
fn upload<T: Scalar>(matrix: &mut DeviceMatrix<T>, rt: &Runtime, a: MatRef<'_, T>) -> Result<(), Error> {
    matrix.check(rt, a.shape())?;
    // Devices copy contiguous columns only; the host copies other strides.
    let lock = if a.row_stride() == 1 || a.nrows() == 1 { Lock::Device } else { Lock::Host };
    let tile = matrix.tile;
    Ok(rt.scope(|s| {
        let from = cut_read_only(s, a, tile, 0);
        copy_tiles(s, "upload", &from, &matrix.lend(s), |_| lock);
    })?)
}

#[each_type]
fn download<T: Scalar>(matrix: &DeviceMatrix<T>, rt: &Runtime, mut a: MatMut<'_, T>) -> Result<(), Error> {
    matrix.check(rt, a.shape())?;
    let contiguous = a.row_stride() == 1 || a.nrows() == 1;
    let lock = |at: usize| {
        // Evicted tiles are on the host: copying them through a device would be a detour.
        let is_home = matrix.tiles.get(at).is_none_or(|tile| tile.holders().contains(&Resource::HOST));
        if contiguous && !is_home { Lock::Device } else { Lock::Host }
    };
    Ok(rt.scope(|s| {
        let to = cut(s, a.rb_mut(), matrix.tile, 0);
        copy_tiles(s, "download", &matrix.lend_ref(s), &to, lock);
    })?)
}

#[each_type]
#[track_caller]
fn lend<'s, T: Scalar>(matrix: &'s mut DeviceMatrix<T>, s: &'s Scope<'s, '_>) -> Tiled<'s, MatMut<'s, T>> {
    let packs = matrix.packs();
    let tiles: Vec<_> = matrix.tiles.iter_mut().map(|tile| tile.lend(s, &packs)).collect();
    deal(&tiles, &matrix.homes);
    Tiled::from_tiles(tiles, matrix.shape, matrix.tile)
}

#[each_type]
#[track_caller]
fn lend_ref<'s, T: Scalar>(matrix: &'s DeviceMatrix<T>, s: &'s Scope<'s, '_>) -> Tiled<'s, MatRef<'s, T>> {
    let packs = matrix.packs();
    let tiles: Vec<_> = matrix.tiles.iter().map(|tile| tile.lend_ref(s, &packs)).collect();
    deal(&tiles, &matrix.homes);
    Tiled::from_tiles(tiles, matrix.shape, matrix.tile)
}

/// Returns the names of the devices if they can hold a matrix.
fn check_devices(rt: &Runtime, layout: Layout) -> Result<Vec<String>, Error> {
    let devices = rt.devices();
    if let TilePlacement::OnDevice(device) = layout.placement()
        && device >= devices.len()
    {
        return Err(Error::argument(format!("no device {device}; the runtime has {} devices", devices.len())));
    }
    if devices.is_empty() {
        return Err(Error::argument("a device matrix needs a runtime with devices; this one has none"));
    }
    let used = |at: usize| {
        layout.placement() == TilePlacement::OnDevice(at) || !matches!(layout.placement(), TilePlacement::OnDevice(_))
    };
    let lacking = devices.iter().enumerate().find(|(at, device)| used(*at) && device.memory.is_none());
    match lacking {
        Some((_, device)) => {
            Err(Error::argument(format!("device `{}` has no memory of its own for a matrix", device.name)))
        }
        None => Ok(devices.into_iter().map(|device| device.name).collect()),
    }
}

/// Sets the homes of tiles.
fn deal<V>(tiles: &[Lent<'_, V>], homes: &[Resource]) {
    tiles.iter().zip(homes).for_each(|(tile, &home)| tile.deal_to(Some(home)));
}

/// Inserts the tasks of B := A, where A and B have the same shape and tiles. Either may be a host or a device matrix.
/// Each copy runs on the home of B's tile, or else of A's. The old contents of B are not transferred.
///
/// # Panics
/// If the tiles differ.
///
/// ```
/// use superscalar::Runtime;
/// use superscalar::dla::{Matrix, Tiled, spawn};
///
/// let rt = Runtime::new()?;
/// let (a, mut b) = (Matrix::from_fn(5, 4, |i, j| (i * j) as f64), Matrix::zeros(5, 4));
/// rt.scope(|s| spawn::copy(s, &Tiled::read_only(s, a.as_ref(), 2, 3), &Tiled::new(s, b.as_mut(), 2, 3)))?;
/// assert_eq!(a, b);
/// # Ok::<(), superscalar::Error>(())
/// ```
#[each_type]
#[track_caller]
pub fn spawn_copy<'s, T: Scalar, V: TileView<'s, Element = T>>(
    s: &'s Scope<'s, '_>,
    a: &Tiled<'s, V>,
    b: &Tiled<'s, MatMut<'s, T>>,
) {
    copy_tiles(s, "copy", a, b, |_| Lock::None);
}

/// Inserts the copies under a given task name, each restricted to the resource that `lock` returns for the tile's
/// index.
#[track_caller]
fn copy_tiles<'s, T: Scalar, V: TileView<'s, Element = T>>(
    s: &'s Scope<'s, '_>,
    name: &'static str,
    a: &Tiled<'s, V>,
    b: &Tiled<'s, MatMut<'s, T>>,
    lock: impl Fn(usize) -> Lock,
) {
    let fit = a.partition(Op::None) == b.partition(Op::None);
    assert!(
        fit,
        "{name}: A is {:?} in tiles of {:?}, B is {:?} in tiles of {:?}",
        a.shape(),
        a.tile_shape(),
        b.shape(),
        b.tile_shape()
    );
    let copy = TileCopy::new("copy");
    for (at, (i, j)) in b.tile_indices().enumerate() {
        let spec = task(name, i, j, 0).lock(lock(at));
        copy.spawn_copy(s, spec, (b.rows_of(i), b.cols_of(j)), a.at(i, j), b.at(i, j));
    }
}
