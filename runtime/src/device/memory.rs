//! A device's own memory: how a driver describes it, the copies that a driver implements, and the layout of data in it.
//!
//! A device with memory gives the runtime one **heap**, which the runtime divides. A location on a device is an offset
//! into its heap, never a pointer, so host code cannot dereference it. Copies are rectangular: between columns in host
//! memory, with any stride, and columns in a heap.

use super::{DeviceError, Event};
use bytemuck::Pod;
use std::ptr::NonNull;

/// A device's own memory, as the driver describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryInfo {
    /// Bytes of the heap.
    pub bytes: usize,
    /// Every column in the heap begins at a multiple of this number of bytes: a power of two, and a multiple of every
    /// element's size.
    pub align: usize,
    /// The link to and from host memory as stated by the driver, used until it is measured.
    pub host: LinkInfo,
    /// The devices whose heaps this one can copy from, by index in the order given to the builder. Each has its stated
    /// link, used until it is measured.
    pub peers: Vec<(u16, LinkInfo)>,
}

/// The most parts of a copy that is forwarded.
const PARTS_MAX: usize = 8;
/// A copy is cut if a later link takes at least this share of the first one's time.
const NEXT_SHARE_MIN: f64 = 0.25;

/// The stated speed of a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkInfo {
    /// Bytes per second; zero if unknown.
    pub bytes_per_s: f64,
    /// Time from the start of a copy to its first byte.
    pub latency_ns: u64,
}

impl LinkInfo {
    /// Returns the number of parts in which a copy over these links, one after the other, is forwarded
    /// ([`Lent::send_along`](crate::Lent::send_along)).
    ///
    /// Each part takes the latency again, on every link. So a copy is not cut if the first link takes far longer than
    /// the others: little time would be gained, and the first link is the one that must not lose any. Otherwise the
    /// time from the first byte to the last one, `first + parts * latency + next / parts`, is shortest. ("Uncut-GEMMs",
    /// section III-E, takes eight parts.)
    ///
    /// ```
    /// # mod superscalar { pub use superscalar_runtime::*; }
    /// use superscalar::LinkInfo;
    /// let link = |gb_per_s: f64| LinkInfo { bytes_per_s: gb_per_s * 1e9, latency_ns: 10_000 };
    /// assert_eq!(LinkInfo::parts_of_copy(&[link(30.0), link(350.0)], 32 << 20), 1);
    /// assert_eq!(LinkInfo::parts_of_copy(&[link(350.0), link(350.0)], 32 << 20), 3);
    /// ```
    #[must_use]
    pub fn parts_of_copy(links: &[Self], bytes: usize) -> usize {
        let ns = |link: &Self| link.copy_ns(bytes as f64);
        let Some((first, others)) = links.split_first() else { return 1 };
        let next_ns = others.iter().map(ns).fold(0.0, f64::max);
        let latency_ns = links.iter().map(|link| link.latency_ns).max().unwrap_or(0).max(1);
        if next_ns < NEXT_SHARE_MIN * ns(first) {
            return 1;
        }
        ((next_ns / latency_ns as f64).sqrt() as usize).clamp(1, PARTS_MAX)
    }

    /// Returns the time of a copy of this many bytes, in nanoseconds. An unknown bandwidth counts as infinite.
    #[must_use]
    pub fn copy_ns(&self, bytes: f64) -> f64 {
        let speed = if self.bytes_per_s > 0.0 { self.bytes_per_s } else { f64::INFINITY };
        self.latency_ns as f64 + bytes / speed * 1e9
    }
}

/// Columns in host memory: column j begins `j * stride_bytes` after the base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostRegion {
    /// The first byte of the first column.
    pub base: NonNull<u8>,
    /// Length of a column in bytes.
    pub row_bytes: usize,
    /// Number of columns.
    pub columns: usize,
    /// Distance from one column to the next; at least `row_bytes`.
    pub stride_bytes: usize,
}

// SAFETY: it is an address and a shape; only unsafe code can access the memory through it.
unsafe impl Send for HostRegion {}
// SAFETY: shared access reads the address and shape only; only unsafe code can access the memory.
unsafe impl Sync for HostRegion {}

impl HostRegion {
    /// Returns whether there are no gaps between the columns.
    pub(crate) fn is_contiguous(&self) -> bool {
        self.columns <= 1 || self.stride_bytes == self.row_bytes
    }

    /// Returns the bytes of all columns, without the gaps between them.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.row_bytes * self.columns
    }

    /// Returns the region of some of the columns.
    ///
    /// # Panics
    /// If there are no such columns.
    pub(crate) fn columns_at(&self, range: std::ops::Range<usize>) -> Self {
        assert!(range.start <= range.end && range.end <= self.columns, "columns {range:?} of {}", self.columns);
        let offset = range.start.wrapping_mul(self.stride_bytes);
        let base = NonNull::new(self.base.as_ptr().wrapping_add(offset)).unwrap_or(self.base);
        Self { base, columns: range.len(), ..*self }
    }
}

/// Columns in a device's heap: column j begins `offset + j * stride_bytes` bytes after the heap's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceRegion {
    /// The first byte of the first column; a multiple of [`MemoryInfo::align`].
    pub offset: usize,
    /// Length of a column in bytes.
    pub row_bytes: usize,
    /// Number of columns.
    pub columns: usize,
    /// Distance from one column to the next; a multiple of [`MemoryInfo::align`].
    pub stride_bytes: usize,
}

impl DeviceRegion {
    /// Returns the region at this offset of a heap with this alignment that holds columns of the same shape.
    #[must_use]
    pub fn like(host: &HostRegion, offset: usize, align: usize) -> Self {
        let stride_bytes = host.row_bytes.next_multiple_of(align);
        Self { offset, row_bytes: host.row_bytes, columns: host.columns, stride_bytes }
    }

    /// Returns the bytes from the start of the first column to the end of the last one, including padding.
    #[must_use]
    pub fn span_bytes(&self) -> usize {
        self.stride_bytes * self.columns
    }
}

/// A rectangular copy. Both sides have the same number of columns of the same length, and neither is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transfer {
    /// From host memory into the device's heap.
    In {
        /// Source.
        from: HostRegion,
        /// Target.
        to: DeviceRegion,
    },
    /// From the device's heap to host memory.
    Out {
        /// Source.
        from: DeviceRegion,
        /// Target.
        to: HostRegion,
    },
    /// From the heap of a peer, one of [`MemoryInfo::peers`], into the device's own.
    Peer {
        /// The peer.
        device: u16,
        /// Source, in the peer's heap.
        from: DeviceRegion,
        /// Target, in the device's own heap.
        to: DeviceRegion,
    },
}

/// The driver's interface to a device's memory.
///
/// Any thread may call it, one at a time, unlike the other methods of a [`Device`](super::Device). The runtime copies
/// with its directory locked, while the device's issuer may be in `issue`, `poll` or `wait`.
///
/// # Safety
/// A copy accesses only the bytes that the [`Transfer`] names: it reads the source and writes the target. It accesses
/// none after its end was reported.
pub unsafe trait DeviceMemory: Send + Sync {
    /// Allocates the heap of [`MemoryInfo::bytes`] bytes. Called once, before any other method.
    ///
    /// # Errors
    /// If the device does not have this much memory; the message names the device.
    fn reserve(&self) -> Result<(), DeviceError>;

    /// Puts a copy into the queue of its direction, behind the events, and returns its ticket; see
    /// [`DeviceInfo::transfer_queue`](super::DeviceInfo::transfer_queue). [`Device::poll`](super::Device::poll) reports
    /// its end, as it does for tasks.
    ///
    /// # Errors
    /// If the copy could not be put into the queue. Then no byte is copied.
    ///
    /// # Safety
    /// From when the events are reached until the copy's end is reported, the transfer's host memory stays valid, its
    /// source is not written, and its target is not accessed.
    unsafe fn copy(&self, transfer: &Transfer, waits: &[Event]) -> Result<u64, DeviceError>;
}

/// The region of a value's bytes in host memory, so that devices can hold copies of them.
#[derive(Clone, Copy)]
pub struct Residence<'a> {
    pub(crate) region: HostRegion,
    pub(crate) is_writable: bool,
    pub(crate) derived: Option<&'a dyn Derived>,
}

/// Data derived from a value's bytes, such as a packed form of them.
pub trait Derived: Send + Sync {
    /// Discards the derived data, because the bytes have changed. The value is not in use during the call.
    fn forget(&self);
}

impl<'a> Residence<'a> {
    /// Creates the residence of a value whose bytes are in this region.
    ///
    /// # Safety
    /// During `'a`, and afterwards until the value is borrowed by `&mut` or dropped, the region is valid and does not
    /// change. It belongs to the value, or the value borrows it exclusively. All its bytes may be read and written.
    /// Bytes copied there from the region of another value of the type make a valid value.
    #[must_use]
    pub unsafe fn new(region: HostRegion) -> Self {
        Self { region, is_writable: true, derived: None }
    }

    /// Like [`new`](Self::new), for a value that tasks may only read.
    ///
    /// # Safety
    /// As for [`new`](Self::new), except that the region is never written, and that the value may borrow it by a shared
    /// reference.
    #[must_use]
    pub unsafe fn read_only(region: HostRegion) -> Self {
        Self { region, is_writable: false, derived: None }
    }

    /// Divides a region of one column into columns of `row_bytes` bytes each. Returns `None` if that is not possible.
    #[must_use]
    pub fn in_columns_of(self, row_bytes: usize) -> Option<Self> {
        let HostRegion { base, row_bytes: bytes, columns, .. } = self.region;
        let is_whole = columns == 1 && row_bytes > 0 && bytes.is_multiple_of(row_bytes);
        let region = HostRegion { base, row_bytes, columns: bytes / row_bytes.max(1), stride_bytes: row_bytes };
        is_whole.then_some(Self { region, ..self })
    }

    /// Adds derived data to be discarded when the bytes have been written from a device.
    #[must_use]
    pub fn with_derived(self, derived: &'a dyn Derived) -> Self {
        Self { derived: Some(derived), ..self }
    }

    /// Returns the region of the bytes.
    #[must_use]
    pub fn region(&self) -> HostRegion {
        self.region
    }
}

/// A value that a codelet may access: either devices can hold copies of it, or it stays on the host.
///
/// A codelet with an operand that stays on the host cannot run on a device with memory of its own.
///
/// # Safety
/// Devices read and write the residence of a value according to the accesses of the tasks that name it. So a
/// [residence](Self::residence) that may be written ([`Residence::new`]) belongs to the value or is borrowed by it
/// exclusively; it is not behind a shared reference in the value. The answer does not change unless the value is
/// borrowed by `&mut`.
pub unsafe trait Portable {
    /// Returns the region of its bytes; `None` if it stays on the host.
    fn residence(&self) -> Option<Residence<'_>> {
        None
    }
}

/// Returns the elements of a slice as one column.
fn one_column<T>(elements: &[T]) -> HostRegion {
    let bytes = size_of_val(elements);
    HostRegion { base: NonNull::from(elements).cast(), row_bytes: bytes, columns: 1, stride_bytes: bytes }
}

/// Implements [`Portable`] for numbers.
macro_rules! numbers {
    ($($number:ty)*) => {$(
        // SAFETY: the residence is the number's own memory.
        unsafe impl Portable for $number {
            fn residence(&self) -> Option<Residence<'_>> {
                // SAFETY: the region is the value itself, and any bytes are a valid number.
                Some(unsafe { Residence::new(one_column(std::slice::from_ref(self))) })
            }
        }
    )*};
}

numbers!(u8 i8 u16 i16 u32 i32 u64 i64 usize isize f32 f64);

// SAFETY: it has no bytes, so there is no residence.
unsafe impl Portable for () {}

// SAFETY: the residence is the slice's own elements.
unsafe impl<T: Pod> Portable for [T] {
    fn residence(&self) -> Option<Residence<'_>> {
        // SAFETY: the region is the slice's elements, and any bytes are valid values of a `Pod` type.
        Some(unsafe { Residence::new(one_column(self)) })
    }
}

// SAFETY: the residence is the vector's own elements.
unsafe impl<T: Pod> Portable for Vec<T> {
    fn residence(&self) -> Option<Residence<'_>> {
        // SAFETY: the region is the vector's elements, which move only while the vector is borrowed by `&mut`.
        Some(unsafe { Residence::new(one_column(self)) })
    }
}
