//! Drives simulated devices in tests.

use std::{
    cell::RefCell,
    ops::Deref,
    process::{Command, ExitStatus},
    ptr::NonNull,
    sync::Arc,
    time::{Duration, Instant},
};
use superscalar_devices::sim::{Machine, SimDevice, SimHeap, SimQueue, Spec};
use superscalar_runtime::{
    Cost, Device, DeviceError, DeviceMemory, DeviceRegion, Event, Finished, HostRegion, Transfer,
};

/// Longer than any test takes.
pub const LONG: Duration = Duration::from_secs(20);

/// A device and the ends that it has reported.
pub struct Driven {
    pub device: Arc<SimDevice>,
    pub index: u16,
    reports: RefCell<Vec<Finished>>,
}

impl Deref for Driven {
    type Target = SimDevice;

    fn deref(&self) -> &SimDevice {
        &self.device
    }
}

/// Starts a machine and reserves its heaps.
pub fn start(specs: &[Spec]) -> Vec<Driven> {
    let devices = start_at(0, specs);
    devices.iter().for_each(|device| device.reserve().expect("there is memory enough"));
    devices
}

/// Starts a machine behind `first` other devices, without reserving heaps.
pub fn start_at(first: u16, specs: &[Spec]) -> Vec<Driven> {
    let devices = Machine::start_at(first, specs).expect("the specs make sense");
    let driven = |(device, index)| Driven { device, index, reports: RefCell::default() };
    devices.into_iter().zip(first..).map(driven).collect()
}

pub fn one(spec: Spec) -> Driven {
    start(&[spec]).remove(0)
}

impl Driven {
    pub fn event(&self, queue: u16, ticket: u64) -> Event {
        Event { device: self.index, queue, ticket }
    }

    /// Issues one kernel.
    pub fn kernel(
        &self,
        queue: u16,
        waits: &[Event],
        cost: Cost,
        work: impl FnOnce(&SimHeap) -> Result<(), DeviceError> + Send + 'static,
    ) -> Result<Event, DeviceError> {
        let mut work = Some(work);
        let ticket = self.device.issue(queue, waits, &mut |queue| {
            let queue = queue.downcast_mut::<SimQueue>().expect("a simulated device's queue");
            queue.launch(cost, work.take().expect("`issue` is called once"))
        })?;
        Ok(self.event(queue, ticket))
    }

    /// Issues a kernel that does nothing.
    pub fn idle_kernel(&self, queue: u16, waits: &[Event]) -> Result<Event, DeviceError> {
        self.kernel(queue, waits, Cost::default(), |_| Ok(()))
    }

    /// Issues a copy. Each test keeps the rules of `DeviceMemory::copy`.
    pub fn transfer(&self, transfer: &Transfer, waits: &[Event]) -> Result<Event, DeviceError> {
        // SAFETY: tests wait for a copy's end, or drop the device, before they access or free the host memory of the
        // copy.
        let ticket = unsafe { self.device.copy(transfer, waits) }?;
        Ok(self.event(self.info().transfer_queue(transfer), ticket))
    }

    /// Waits for the end of this event's work and returns its report.
    pub fn end(&self, event: Event) -> Finished {
        assert_eq!(event.device, self.index, "an event of another device");
        let deadline = Instant::now() + LONG;
        loop {
            self.device.poll(&mut |finished| self.reports.borrow_mut().push(finished));
            let is_it = |finished: &&Finished| (finished.queue, finished.ticket) == (event.queue, event.ticket);
            if let Some(found) = self.reports.borrow().iter().find(is_it) {
                return found.clone();
            }
            assert!(Instant::now() < deadline, "{event:?} has not ended: {:?}", self.counters());
            self.device.wait(Duration::from_millis(100));
        }
    }

    /// Waits for this event, whose work must succeed.
    pub fn ends_well(&self, event: Event) -> Finished {
        let finished = self.end(event);
        assert!(finished.result.is_ok(), "{finished:?}");
        finished
    }

    /// Waits for this event, whose work must fail, and returns the error.
    pub fn ends_badly(&self, event: Event) -> DeviceError {
        self.end(event).result.expect_err("it was to fail")
    }

    /// Returns all reports so far, in their order.
    pub fn reports(&self) -> Vec<Finished> {
        self.device.poll(&mut |finished| self.reports.borrow_mut().push(finished));
        self.reports.borrow().clone()
    }

    /// Waits until nothing is in flight.
    pub fn drained(&self) {
        assert!(self.await_counters(LONG, |counters| counters.in_flight() == 0), "{:?}", self.counters());
    }
}

/// Columns in host memory. They start some bytes behind the allocation's start and may have gaps between them.
pub struct Host {
    bytes: Vec<u8>,
    row_bytes: usize,
    columns: usize,
    stride_bytes: usize,
}

const LEAD: usize = 3;
/// The content of the gaps.
const GAP: u8 = 0xEE;

impl Host {
    /// Makes columns whose elements are `element(column, row)`.
    pub fn new(
        (row_bytes, columns): (usize, usize),
        stride_bytes: usize,
        element: impl Fn(usize, usize) -> u8,
    ) -> Self {
        let mut host = Self { bytes: vec![GAP; LEAD + stride_bytes * columns], row_bytes, columns, stride_bytes };
        for column in 0..columns {
            for row in 0..row_bytes {
                host.bytes[LEAD + column * stride_bytes + row] = element(column, row);
            }
        }
        host
    }

    pub fn region(&mut self) -> HostRegion {
        let base = NonNull::new(self.bytes[LEAD..].as_mut_ptr()).expect("a slice has an address");
        let Self { row_bytes, columns, stride_bytes, .. } = *self;
        HostRegion { base, row_bytes, columns, stride_bytes }
    }

    pub fn column(&self, column: usize) -> &[u8] {
        &self.bytes[LEAD + column * self.stride_bytes..][..self.row_bytes]
    }

    /// Returns whether all columns equal those of `other`, and the gaps of this value are unchanged.
    pub fn equals(&self, other: &Self) -> bool {
        let gaps_are_whole = (0..self.bytes.len()).all(|at| {
            let in_column = at >= LEAD && (at - LEAD) % self.stride_bytes < self.row_bytes;
            in_column || self.bytes[at] == GAP
        });
        gaps_are_whole
            && self.columns == other.columns
            && (0..self.columns).all(|column| self.column(column) == other.column(column))
    }

    pub fn holds_only(&self, byte: u8) -> bool {
        (0..self.columns).all(|column| self.column(column).iter().all(|&at| at == byte))
    }
}

/// Returns a region of a heap. Strides should be multiples of 64.
pub fn region(offset: usize, (row_bytes, columns): (usize, usize), stride_bytes: usize) -> DeviceRegion {
    DeviceRegion { offset, row_bytes, columns, stride_bytes }
}

/// Returns a kernel that sets `bytes` bytes at `offset`.
pub fn set(
    offset: usize,
    bytes: usize,
    value: u8,
) -> impl FnOnce(&SimHeap) -> Result<(), DeviceError> + Send + 'static {
    move |heap| {
        // SAFETY: the window has opened the range, and the tests order the accesses to it.
        unsafe { heap.address(offset, bytes)?.write_bytes(value, bytes) };
        Ok(())
    }
}

/// Returns a kernel that fails unless `bytes` bytes at `offset` have this value.
pub fn expect(
    offset: usize,
    bytes: usize,
    value: u8,
) -> impl FnOnce(&SimHeap) -> Result<(), DeviceError> + Send + 'static {
    move |heap| {
        let at = heap.address(offset, bytes)?;
        // SAFETY: the window has opened the range, whose bytes are always initialized, and the tests order the accesses
        // to it.
        let found = unsafe { std::slice::from_raw_parts(at.as_ptr(), bytes) };
        match found.iter().position(|&byte| byte != value) {
            Some(place) => Err(DeviceError::new(format!("byte {place} is {}, expected {value}", found[place]))),
            None => Ok(()),
        }
    }
}

/// The environment variable that names the test whose body is to run in this process.
const CHILD: &str = "SUPERSCALAR_SIM_CHILD";

/// Runs `inside` in another process, by starting only this test there. Returns how that process ended.
pub fn in_child(test: &str, inside: impl FnOnce()) -> Option<ExitStatus> {
    if std::env::var(CHILD).is_ok_and(|name| name == test) {
        // The process may be killed on purpose, so it should leave no core dump.
        let none = rustix::process::Rlimit { current: Some(0), maximum: Some(0) };
        let _ = rustix::process::setrlimit(rustix::process::Resource::Core, none);
        inside();
        return None;
    }
    let program = std::env::current_exe().expect("a test has a program");
    let mut child = Command::new(program);
    child.args([test, "--exact", "--test-threads=1"]).env(CHILD, test);
    // Sanitizers would otherwise handle the signal and end the child differently.
    child.env("ASAN_OPTIONS", "handle_segv=0").env("TSAN_OPTIONS", "handle_segv=0");
    Some(child.output().expect("the program can be started").status)
}
