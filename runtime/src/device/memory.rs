//! Memory of a device's own: what a driver tells of it, what it must be able to do with it, and how data lie in it.
//!
//! A device with memory gives the runtime one **heap**, all at once; the runtime divides it. So a place on a device is an offset
//! into its heap, never a pointer: host code has nothing that it could follow. Copies are rectangular, between columns in host memory,
//! with any stride, and columns in a heap.

use super::{DeviceError, Event};
use bytemuck::Pod;
use std::ptr::NonNull;

/// A device's own memory, as the driver describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryInfo {
    /// Bytes of the heap.
    pub bytes: usize,
    /// Every column in the heap begins at a multiple of this many bytes: a power of two, and of the size of every element.
    pub align: usize,
    /// The way to and from host memory, before it was measured.
    pub host: LinkInfo,
    /// The devices (by index, in the order in which they were given to the builder) whose heaps this one can copy from, each with
    /// its link, before it was measured.
    pub peers: Vec<(u16, LinkInfo)>,
}

/// How fast a link is said to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkInfo {
    /// Bytes per second.
    pub bytes_per_s: f64,
    /// From the start of a copy to its first byte.
    pub latency_ns: u64,
}

/// Columns in host memory: column j begins `j * stride_bytes` after the base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostRegion {
    /// The first byte of the first column.
    pub base: NonNull<u8>,
    /// Bytes of a column.
    pub row_bytes: usize,
    /// Number of columns.
    pub columns: usize,
    /// From one column to the next; at least `row_bytes`.
    pub stride_bytes: usize,
}

// SAFETY: it is an address and a shape; using it is the unsafe part.
unsafe impl Send for HostRegion {}
// SAFETY: as above.
unsafe impl Sync for HostRegion {}

impl HostRegion {
    /// Bytes of all columns, without what lies between them.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.row_bytes * self.columns
    }
}

/// Columns in a device's heap: column j begins `offset + j * stride_bytes` bytes after the heap's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceRegion {
    /// The first byte of the first column; a multiple of [`MemoryInfo::align`].
    pub offset: usize,
    /// Bytes of a column.
    pub row_bytes: usize,
    /// Number of columns.
    pub columns: usize,
    /// From one column to the next; a multiple of [`MemoryInfo::align`].
    pub stride_bytes: usize,
}

impl DeviceRegion {
    /// The region that columns like these take at this offset of a heap with this alignment.
    #[must_use]
    pub fn like(host: &HostRegion, offset: usize, align: usize) -> Self {
        let stride_bytes = host.row_bytes.next_multiple_of(align);
        Self { offset, row_bytes: host.row_bytes, columns: host.columns, stride_bytes }
    }

    /// Bytes from its first to behind its last column.
    #[must_use]
    pub fn span_bytes(&self) -> usize {
        self.stride_bytes * self.columns
    }
}

/// A rectangular copy. Both sides have the same number of columns, of the same length; neither is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transfer {
    /// From host memory into the device's heap.
    In {
        /// Where from.
        from: HostRegion,
        /// Where to.
        to: DeviceRegion,
    },
    /// From the device's heap to host memory.
    Out {
        /// Where from.
        from: DeviceRegion,
        /// Where to.
        to: HostRegion,
    },
    /// From the heap of a peer, one of [`MemoryInfo::peers`], into the device's own.
    Peer {
        /// The peer.
        device: u16,
        /// Where from, in the peer's heap.
        from: DeviceRegion,
        /// Where to, in the device's own.
        to: DeviceRegion,
    },
}

/// A driver's half of a device's memory.
///
/// Unlike the rest of a [`Device`](super::Device), it is called by any thread, one at a time: the runtime copies with its
/// directory locked, while the device's issuer may be in `issue`, `poll` or `wait`.
///
/// # Safety
/// A copy touches the bytes that the [`Transfer`] names, in host memory as its direction says, and none after its end was
/// reported.
pub unsafe trait DeviceMemory: Send + Sync {
    /// Takes the heap from the system: [`MemoryInfo::bytes`] bytes. Called once, before anything else.
    ///
    /// # Errors
    /// If the device does not have so much.
    fn reserve(&self) -> Result<(), DeviceError>;

    /// Puts a copy into the queue of its direction, behind the events, and returns its ticket there; see
    /// [`DeviceInfo::transfer_queue`](super::DeviceInfo::transfer_queue). Its end is reported by
    /// [`Device::poll`](super::Device::poll), as that of tasks is.
    ///
    /// # Errors
    /// If the copy could not be put into the queue. Then nothing of it happens.
    ///
    /// # Safety
    /// From when the events are reached until the copy's end is reported, host memory on its one side stays valid, nobody writes what it
    /// reads, and nobody touches what it writes.
    unsafe fn copy(&self, transfer: &Transfer, waits: &[Event]) -> Result<u64, DeviceError>;
}

/// Where a value's bytes lie in host memory, so that devices can hold copies of them.
#[derive(Clone, Copy)]
pub struct Residence<'a> {
    pub(crate) region: HostRegion,
    pub(crate) is_writable: bool,
    pub(crate) derived: Option<&'a dyn Derived>,
}

/// Something derived from a value's bytes, such as a packed form of them.
pub trait Derived: Send + Sync {
    /// The bytes have changed. Nobody uses the value meanwhile.
    fn forget(&self);
}

impl<'a> Residence<'a> {
    /// A value whose bytes lie in this region.
    ///
    /// # Safety
    /// For as long as `'a`, and longer while nobody has the value by `&mut` and it is not dropped: the region is there, and does not
    /// change; it belongs to the value, or is borrowed by it exclusively. All its bytes may be read and written, and bytes that
    /// are copied there from the region of another value of the type make a valid value.
    #[must_use]
    pub unsafe fn new(region: HostRegion) -> Self {
        Self { region, is_writable: true, derived: None }
    }

    /// The same for a value that no task may write.
    ///
    /// # Safety
    /// As for [`new`](Self::new), but nobody writes the region, and a shared borrow will do.
    #[must_use]
    pub unsafe fn read_only(region: HostRegion) -> Self {
        Self { region, is_writable: false, derived: None }
    }

    /// The same bytes, which lie in one column, as columns of so many bytes each; none if they are no such columns.
    #[must_use]
    pub fn in_columns_of(self, row_bytes: usize) -> Option<Self> {
        let HostRegion { base, row_bytes: bytes, columns, .. } = self.region;
        let is_whole = columns == 1 && row_bytes > 0 && bytes.is_multiple_of(row_bytes);
        let region = HostRegion { base, row_bytes, columns: bytes / row_bytes.max(1), stride_bytes: row_bytes };
        is_whole.then_some(Self { region, ..self })
    }

    /// With something that must know when the bytes have been written from a device.
    #[must_use]
    pub fn with_derived(self, derived: &'a dyn Derived) -> Self {
        Self { derived: Some(derived), ..self }
    }

    /// Where the bytes are.
    #[must_use]
    pub fn region(&self) -> HostRegion {
        self.region
    }
}

/// A value that a codelet may name: one that devices can hold copies of, or one that stays on the host.
///
/// A codelet with an operand that stays on the host can not be issued to a device with memory of its own.
///
/// # Safety
/// The runtime has devices read and write the residence of a value that its tasks name, as their accesses say. So a
/// [residence](Self::residence) that may be written ([`Residence::new`]) is the value's own, or borrowed by it exclusively, and
/// not that of something that the value borrows by a shared reference. The answer does not change while nobody has the value
/// by `&mut`.
pub unsafe trait Portable {
    /// Where its bytes lie; none if it stays on the host.
    fn residence(&self) -> Option<Residence<'_>> {
        None
    }
}

/// The elements of a slice, as one column.
fn one_column<T>(elements: &[T]) -> HostRegion {
    let bytes = size_of_val(elements);
    HostRegion { base: NonNull::from(elements).cast(), row_bytes: bytes, columns: 1, stride_bytes: bytes }
}

/// Single numbers.
macro_rules! numbers {
    ($($number:ty)*) => {$(
        // SAFETY: the value itself.
        unsafe impl Portable for $number {
            fn residence(&self) -> Option<Residence<'_>> {
                // SAFETY: the value itself; any bytes are a value of the type.
                Some(unsafe { Residence::new(one_column(std::slice::from_ref(self))) })
            }
        }
    )*};
}

numbers!(u8 i8 u16 i16 u32 i32 u64 i64 usize isize f32 f64);

// SAFETY: it has no bytes.
unsafe impl Portable for () {}

// SAFETY: the elements are the slice's own.
unsafe impl<T: Pod> Portable for [T] {
    fn residence(&self) -> Option<Residence<'_>> {
        // SAFETY: the elements; any bytes are values of the type.
        Some(unsafe { Residence::new(one_column(self)) })
    }
}

// SAFETY: the elements are the vector's own.
unsafe impl<T: Pod> Portable for Vec<T> {
    fn residence(&self) -> Option<Residence<'_>> {
        // SAFETY: the elements, which move only when somebody has the vector by `&mut`.
        Some(unsafe { Residence::new(one_column(self)) })
    }
}
