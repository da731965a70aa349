//! [`Cuda`]: the device that the runtime sees.

use super::{
    KIND, cache_directory,
    context::{Context, GpuClass},
    device_state::DeviceState,
    failure::with_subject,
    group::Group,
    lane::Lane,
    program::Programs,
    queue::Queue,
    small_copy::SmallCopies,
    speed::estimate,
    stream::{Stream, Urgency},
};
use crate::cache::Cache;
use std::{path::PathBuf, sync::Arc, time::Duration};
use superscalar_runtime::{
    Device, DeviceError, DeviceInfo, DeviceMemory, Event, Finished, Issue, MemoryInfo, Speed, Transfer,
};

/// The queues for copies in, out and from peers, behind those for tasks.
pub(super) const COPY_QUEUES: u16 = 3;
/// The number of urgent queues if there are several queues for tasks. One suffices: few panels are ready at once.
const URGENT_QUEUES: u16 = 1;
/// The alignment of columns in a heap: what `cudaMalloc` guarantees, and twice a line of the L2 cache.
const ALIGN_BYTES: usize = 256;
/// The part of a GPU's free memory that is left by default, for libraries' workspaces and code, and for kernels' code.
const SPARED_BYTES: usize = 3 << 30;

/// Options for opening devices.
#[derive(Clone, Debug)]
pub struct Options {
    /// The size of each heap in bytes. Default: the free memory minus three gibibytes or a quarter of it, whichever is
    /// less.
    pub heap_bytes: Option<usize>,
    /// The number of queues for tasks; at least one. If there are more, the first is for urgent tasks.
    pub queues: u16,
    /// The number of tasks that are issued ahead of their completion; at least one.
    pub depth: usize,
    /// Whether the GPU measures how long tasks take and when they end, for capability weights and traces. This costs
    /// about 12 microseconds per task on an H200, so the runtime measures only some of the tasks that are known to be
    /// brief, unless it records a trace. Large copies are always timed.
    pub timed: bool,
    /// The assumed speed of the devices. Default: an estimate from the properties of each GPU.
    pub speed: Option<Speed>,
    /// Whether thread blocks run in clusters, on devices that support them. Tests turn this off to run kernels for
    /// older devices on a new one.
    pub clusters: bool,
    /// The directory for compiled programs, if they are to be kept.
    pub cache: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            heap_bytes: None,
            queues: 4,
            depth: 16,
            timed: true,
            speed: None,
            clusters: true,
            cache: cache_directory(),
        }
    }
}

/// A GPU that was opened for a runtime.
#[derive(Debug)]
pub struct Cuda {
    pub(super) state: Arc<DeviceState>,
    pub(super) group: Arc<Group>,
    info: DeviceInfo,
    pub(super) lanes: Vec<Lane>,
    /// The kernel for small copies, if there are peers and it could be compiled.
    pub(super) small_copies: Option<SmallCopies>,
}

/// Opens one GPU as the only device of a runtime.
///
/// # Errors
/// As for [`open_all`].
///
/// # Examples
/// ```
/// # mod superscalar { pub use superscalar_devices as devices; pub use superscalar_runtime::*; }
/// use superscalar::devices::cuda::{self, Options};
///
/// if cuda::count()? > 0 {
///     let device = cuda::open(0, &Options { heap_bytes: Some(1 << 20), ..Options::default() })?;
///     println!("{}", device.class().name);
/// }
/// # Ok::<(), superscalar::DeviceError>(())
/// ```
pub fn open(ordinal: usize, options: &Options) -> Result<Arc<Cuda>, DeviceError> {
    open_all(&[ordinal], 0, options)?.pop().ok_or_else(|| DeviceError::new("no device was opened"))
}

/// Opens GPUs for one runtime. The runtime's builder must be given them in this order, behind `first_index` other
/// devices. They can wait for each other's events, and copy from each other where the machine connects them. One GPU
/// may be opened more than once, as devices with separate heaps.
///
/// # Errors
/// If CUDA sees no such GPU, an option is invalid, or the driver refuses.
pub fn open_all(ordinals: &[usize], first_index: u16, options: &Options) -> Result<Vec<Arc<Cuda>>, DeviceError> {
    options.check()?;
    let last = u16::try_from(ordinals.len()).ok().and_then(|count| first_index.checked_add(count));
    let indices = first_index..last.ok_or_else(|| DeviceError::new("there are more devices than indices"))?;
    let mut members: Vec<Arc<DeviceState>> = Vec::new();
    for (&ordinal, index) in ordinals.iter().zip(indices) {
        let named = |error| with_subject(&format!("cuda:{ordinal}"), error);
        members.push(Arc::new(options.device_state(ordinal, index, ordinals).map_err(named)?));
    }
    let group = Arc::new(Group::new(members.clone()));
    let opened = members.into_iter().map(|state| {
        let name = state.name().to_owned();
        Cuda::of(state, &group, options).map(Arc::new).map_err(|error| with_subject(&name, error))
    });
    opened.collect()
}

impl Options {
    fn check(&self) -> Result<(), DeviceError> {
        let Self { queues, depth, .. } = *self;
        if queues == 0 || queues > u16::MAX - COPY_QUEUES || depth == 0 {
            return Err(DeviceError::new(format!(
                "{queues} queues with a depth of {depth} tasks are not possible: expected at least 1 each"
            )));
        }
        if let Some(bytes) = self.heap_bytes.filter(|&bytes| bytes < ALIGN_BYTES) {
            let message = format!("a heap of {bytes} bytes is too small: expected at least {ALIGN_BYTES}");
            return Err(DeviceError::new(message));
        }
        Ok(())
    }

    fn device_state(&self, ordinal: usize, index: u16, all: &[usize]) -> Result<DeviceState, DeviceError> {
        let context = Context::of(ordinal)?;
        let (free, _) = context.memory()?;
        // Devices on one GPU share its memory.
        let sharers = all.iter().filter(|&&other| other == ordinal).count().max(1);
        let default = (free - SPARED_BYTES.min(free / 4)) / sharers;
        let bytes = self.heap_bytes.unwrap_or(default);
        let programs = Programs::new(Cache::new(b"superscalar cuda program 1\n", self.cache.clone()));
        let mut state =
            DeviceState::new(context, index, bytes - bytes % ALIGN_BYTES, self.queues + COPY_QUEUES, programs);
        state.has_clusters &= self.clusters;
        Ok(state)
    }
}

/// Returns the urgency of a queue. The last queue, for copies from peers, is urgent, because small copies are kernels
/// and must not queue behind the rest of a large one. The ordinary queues have different ranks, so that small tasks do
/// not queue behind a large task of another queue: while a large task of the lowest rank fills the device, small tasks
/// of other ranks get the multiprocessors that become free.
fn urgency_of(number: u16, info: &DeviceInfo, queues: u16) -> Urgency {
    match number.checked_sub(info.urgent_queues) {
        Some(rank) if number + 1 < queues => Urgency::Ordinary(rank),
        _ => Urgency::Urgent,
    }
}

impl Cuda {
    fn of(state: Arc<DeviceState>, group: &Arc<Group>, options: &Options) -> Result<Self, DeviceError> {
        let info = info(&state, group, options)?;
        let queues = options.queues + COPY_QUEUES;
        let lanes = (0..queues).map(|number| {
            let stream = Stream::new(&state.context, urgency_of(number, &info, queues))?;
            Ok(Lane::new(Queue::new(Arc::clone(&state), stream), number, options.timed, Arc::clone(group)))
        });
        let lanes = lanes.collect::<Result<Vec<Lane>, DeviceError>>()?;
        if let (true, Some(lane)) = (options.timed, lanes.first()) {
            lane.start_clock()?;
        }
        let has_peers = info.memory.as_ref().is_some_and(|memory| !memory.peers.is_empty());
        let small_copies = if has_peers { SmallCopies::load(&state) } else { None };
        Ok(Self { state, group: Arc::clone(group), info, lanes, small_copies })
    }

    /// Returns the properties of the GPU.
    #[must_use]
    pub fn class(&self) -> &GpuClass {
        self.state.class()
    }
}

fn info(state: &DeviceState, group: &Group, options: &Options) -> Result<DeviceInfo, DeviceError> {
    let mut peers = Vec::new();
    for other in group.members().iter().filter(|other| other.index != state.index) {
        if let Some(link) = state.link_to(other)? {
            peers.push((other.index, link));
        }
    }
    Ok(DeviceInfo {
        name: state.name().to_owned(),
        kind: KIND,
        queues: options.queues,
        urgent_queues: if options.queues > 1 { URGENT_QUEUES } else { 0 },
        depth: options.depth,
        memory: Some(MemoryInfo { bytes: state.heap_bytes, align: ALIGN_BYTES, host: state.host_link(), peers }),
        speed: options.speed.unwrap_or_else(|| estimate(state.class())),
    })
}

impl Cuda {
    /// Returns whether it can copy from this device's heap.
    pub(super) fn has_peer(&self, device: u16) -> bool {
        self.info.memory.as_ref().is_some_and(|memory| memory.peers.iter().any(|(peer, _)| *peer == device))
    }

    /// Puts a task into a queue, and marks its beginning and end if it is timed.
    fn put(&self, (queue, is_timed): (u16, bool), waits: &[Event], issue: Issue<'_>) -> Result<u64, DeviceError> {
        self.state.check_not_lost()?;
        let lane = self.lanes.get(usize::from(queue)).filter(|_| queue < self.info.queues);
        let lane = lane.ok_or_else(|| DeviceError::new(format!("there is no queue {queue} for tasks")))?;
        lane.put(waits, is_timed, |queue| issue(queue)).map_err(|error| self.state.device_error(error))
    }

    pub(super) fn lane_of(&self, transfer: &Transfer) -> &Lane {
        &self.lanes[usize::from(self.info.transfer_queue(transfer))]
    }
}

// SAFETY: work is reported as finished only when its event in the stream is reached.
unsafe impl Device for Cuda {
    fn info(&self) -> DeviceInfo {
        self.info.clone()
    }

    fn can_wait_for(&self, device: u16) -> bool {
        self.group.member(device).is_some()
    }

    fn issue(&self, queue: u16, waits: &[Event], issue: Issue<'_>) -> Result<u64, DeviceError> {
        self.put((queue, true), waits, issue)
    }

    fn issue_untimed(&self, queue: u16, waits: &[Event], issue: Issue<'_>) -> Result<u64, DeviceError> {
        self.put((queue, false), waits, issue)
    }

    fn poll(&self, report: &mut dyn FnMut(Finished)) {
        for lane in &self.lanes {
            lane.collect(report);
        }
    }

    fn wait(&self, at_most: Duration) {
        let DeviceState { signal, queues, .. } = &*self.state;
        signal.wait(
            at_most,
            || queues.iter().any(|queue| signal.is_raised() || queue.is_due()),
            || queues.iter().any(|queue| queue.in_flight() > 0),
        );
    }

    fn wake(&self) {
        self.state.signal.raise();
    }

    fn memory(&self) -> Option<&dyn DeviceMemory> {
        Some(self)
    }
}

impl Drop for Cuda {
    fn drop(&mut self) {
        self.lanes.iter_mut().for_each(Lane::close);
    }
}
