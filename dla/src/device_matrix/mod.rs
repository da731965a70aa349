//! [`DeviceMatrix`]: a matrix that lives in the memory of devices.
//!
//! Each tile is a [`Resident`] of the runtime: what devices have of it is there when the next scope begins. A scope gets the matrix as a
//! [`Tiled`], which every routine takes, so there is one algorithm for matrices of the host and of devices. Each tile has a home, the
//! device that it was dealt to, and the tasks that update it run there.
//!
//! | file | what is in it |
//! |---|---|
//! | `layout.rs` | how a matrix is cut, and whose its tiles are |

mod layout;

pub use layout::Layout;

use crate::{
    Scalar,
    codelets::{Copying, task},
    distribution::{homes, update_by_gemm},
    error::Error,
    options::Distribution,
    tiled::{TileView, Tiled, cut, cut_read_only, packs_for},
};
use layout::Place;
use std::panic::Location;
use superscalar_kernels::{Backing, MatMut, MatRef, Op, cpu::PackStore};
use superscalar_macros::each_type;
use superscalar_runtime::{Lent, Lock, Resident, Resource, Runtime, Scope};

/// An m x n matrix in the memory of a runtime's devices, in tiles on one of them or dealt over several; see [`Layout`].
///
/// It is filled by [`upload`](Self::upload), or by the first routine that overwrites it, and read by [`download`](Self::download). In
/// between, scopes use it: [`lend`](Self::lend) makes a [`Tiled`] of it, for the forms in [`spawn`](crate::spawn). Nothing is moved when a
/// scope begins, and nothing when it ends, so what one scope leaves on a device the next one finds there.
///
/// A tile leaves its device only to make room where memory is short, or when a task wants it elsewhere; in host memory it has a place for that,
/// which takes addresses but no memory until then. So a matrix may be larger than the memory of its devices.
///
/// What only a device held that is lost itself is lost with it, and so is what a device failed to write; [`holders`](Self::holders) says so,
/// and reading it is an error of kind [`Runtime`](crate::ErrorKind::Runtime), until it has been written anew. A numerical outcome, such as a
/// pivot that is not positive, loses nothing: it leaves what the routine says, as in host memory.
///
/// ```no_run
/// use superscalar::dla::{BlockSize, DeviceMatrix, Layout, Matrix, spawn};
/// use superscalar::dla::Uplo;
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
    /// By columns.
    tiles: Vec<Resident<Backing<T>>>,
    /// Whose each tile is; none of them if they were not dealt.
    homes: Vec<Resource>,
    shape: (usize, usize),
    tile: (usize, usize),
    distribution: Distribution,
    /// The devices' names, for messages.
    rt_devices: Vec<String>,
}

impl<T: Scalar> DeviceMatrix<T> {
    /// An m x n matrix of zeros. Nothing is allocated on the devices, and nothing moved, before it is used; zeros that are never read are
    /// never copied.
    ///
    /// # Errors
    /// [`Argument`](crate::ErrorKind::Argument) if the runtime has no device with memory of its own, or not the one
    /// that the layout names; [`Memory`](crate::ErrorKind::Memory) if there is no memory for the matrix's place on the
    /// host; [`Shape`](crate::ErrorKind::Shape) for a block size of zero.
    pub fn zeros(rt: &Runtime, shape: (usize, usize), layout: Layout) -> Result<Self, Error> {
        zeros(rt, shape, layout)
    }

    /// A copy of a matrix in host memory.
    ///
    /// # Errors
    /// As for [`zeros`](Self::zeros) and [`upload`](Self::upload).
    pub fn from_host(rt: &Runtime, a: MatRef<'_, T>, layout: Layout) -> Result<Self, Error> {
        let mut matrix = Self::zeros(rt, a.shape(), layout)?;
        matrix.upload(rt, a)?;
        Ok(matrix)
    }

    /// Copies a matrix of the host into this one: each tile straight to its device, which needs room for two tiles.
    ///
    /// # Errors
    /// [`Shape`](crate::ErrorKind::Shape) if it is of another shape; [`Argument`](crate::ErrorKind::Argument) for another runtime than this
    /// matrix's; [`Runtime`](crate::ErrorKind::Runtime) if a device fails.
    pub fn upload(&mut self, rt: &Runtime, a: MatRef<'_, T>) -> Result<(), Error> {
        upload(self, rt, a)
    }

    /// Copies this matrix into one of the host. It stays where it is.
    ///
    /// # Errors
    /// As for [`upload`](Self::upload); and of kind [`Runtime`](crate::ErrorKind::Runtime) if a tile is lost. Tiles that are not have been
    /// copied then.
    pub fn download(&self, rt: &Runtime, a: MatMut<'_, T>) -> Result<(), Error> {
        download(self, rt, a)
    }

    /// The matrix as tasks of a scope use it, to change it or to read it. While the scope is open, nobody else has it.
    ///
    /// A scope of another runtime is cancelled, and returns an error of kind
    /// [`Refused`](superscalar_runtime::ErrorKind::Refused).
    #[track_caller]
    pub fn lend<'s>(&'s mut self, s: &'s Scope<'s, '_>) -> Tiled<'s, MatMut<'s, T>> {
        lend(self, s)
    }

    /// The matrix as tasks of a scope use it that only read it. Several scopes may have it so. A scope of another runtime is
    /// cancelled, as by [`lend`](Self::lend).
    #[track_caller]
    pub fn lend_ref<'s>(&'s self, s: &'s Scope<'s, '_>) -> Tiled<'s, MatRef<'s, T>> {
        lend_ref(self, s)
    }

    /// Number of rows.
    #[must_use]
    pub fn nrows(&self) -> usize {
        self.shape.0
    }

    /// Number of columns.
    #[must_use]
    pub fn ncols(&self) -> usize {
        self.shape.1
    }

    /// Rows and columns of a tile, but for those at the far edges.
    #[must_use]
    pub fn tile_shape(&self) -> (usize, usize) {
        self.tile
    }

    /// How its tiles were dealt to devices.
    #[must_use]
    pub fn distribution(&self) -> Distribution {
        self.distribution
    }

    /// The device that tile (i, j) was dealt to, if it was dealt.
    ///
    /// # Panics
    /// If there is no such tile.
    #[must_use]
    pub fn home(&self, i: usize, j: usize) -> Option<Resource> {
        let at = self.index_of(i, j);
        self.homes.get(at).copied()
    }

    /// Who has tile (i, j) at present: devices, the host, or several of them; nobody, if it is lost.
    ///
    /// # Panics
    /// If there is no such tile.
    #[must_use]
    pub fn holders(&self, i: usize, j: usize) -> Vec<Resource> {
        self.tiles[self.index_of(i, j)].holders()
    }

    /// How many bytes of it the device of this index has at present.
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

    /// For the host's tasks, if it has any.
    fn packs(&self) -> std::sync::Arc<PackStore> {
        PackStore::new(packs_for::<T>(self.shape, self.tile))
    }

    fn check(&self, rt: &Runtime, shape: (usize, usize)) -> Result<(), Error> {
        if shape != self.shape {
            let (m, n) = self.shape;
            return Err(Error::shape(format!("a copy of {} x {} to or from {m} x {n} on devices", shape.0, shape.1)));
        }
        if self.tiles.first().is_some_and(|tile| !tile.is_of(rt)) {
            let names = self.rt_devices.join(", ");
            return Err(Error::argument(format!("the matrix lives on devices of another runtime ({names})")));
        }
        Ok(())
    }
}

/// These functions, for one type of element.
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
    let (homes, distribution) = match layout.place() {
        Place::On(device) => (vec![Resource::device(device as u16); tiles.len()], Distribution::None),
        Place::Over(distribution) => {
            let update = update_by_gemm::<T>((tile.0.min(m), tile.1.min(n), tile.1.min(n)));
            (rt.scope(|s| homes(s.nesting(), distribution, grid, update))?, distribution)
        }
    };
    Ok(DeviceMatrix { tiles, homes, shape: (m, n), tile, distribution, rt_devices: devices })
}

#[each_type]
fn upload<T: Scalar>(matrix: &mut DeviceMatrix<T>, rt: &Runtime, a: MatRef<'_, T>) -> Result<(), Error> {
    matrix.check(rt, a.shape())?;
    // Devices copy columns; anything else the host lays out.
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
        // What has made room is on the host, and need not go to a device and back.
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

/// The names of the devices, if a matrix can live on them.
fn check_devices(rt: &Runtime, layout: Layout) -> Result<Vec<String>, Error> {
    let devices = rt.devices();
    if let Place::On(device) = layout.place()
        && device >= devices.len()
    {
        return Err(Error::argument(format!("a matrix on device {device} of a runtime that has {}", devices.len())));
    }
    if devices.is_empty() {
        return Err(Error::argument("a matrix on devices of a runtime that has none"));
    }
    let used = |at: usize| layout.place() == Place::On(at) || !matches!(layout.place(), Place::On(_));
    let lacking = devices.iter().enumerate().find(|(at, device)| used(*at) && device.memory.is_none());
    match lacking {
        Some((_, device)) => Err(Error::argument(format!("`{}` has no memory of its own for a matrix", device.name))),
        None => Ok(devices.into_iter().map(|device| device.name).collect()),
    }
}

/// Tells the tiles their homes.
fn deal<V>(tiles: &[Lent<'_, V>], homes: &[Resource]) {
    tiles.iter().zip(homes).for_each(|(tile, &home)| tile.deal_to(Some(home)));
}

/// Inserts the tasks of B := A, where A and B have the same shape and the same tiles. Between matrices of the host and of devices they are
/// copied there and back; each is done on the device whose B's tile is, or else A's. What B held is not moved.
///
/// # Panics
/// If their tiles differ.
///
/// ```
/// use superscalar::dla::{Matrix, Tiled, spawn};
/// use superscalar::Runtime;
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

/// The same, with a name, and each tile where `lock` says of its index.
#[track_caller]
fn copy_tiles<'s, T: Scalar, V: TileView<'s, Element = T>>(
    s: &'s Scope<'s, '_>,
    name: &'static str,
    a: &Tiled<'s, V>,
    b: &Tiled<'s, MatMut<'s, T>>,
    lock: impl Fn(usize) -> Lock,
) {
    let fit = a.partition(Op::None) == b.partition(Op::None);
    assert!(fit, "{name}: A {:?} in {:?}, B {:?} in {:?}", a.shape(), a.tile_shape(), b.shape(), b.tile_shape());
    let copying = Copying::new("copy");
    for (at, (i, j)) in b.places().enumerate() {
        let spec = task(name, i, j, 0).lock(lock(at));
        copying.copy(s, spec, (b.rows_of(i), b.cols_of(j)), a.at(i, j), b.at(i, j));
    }
}
