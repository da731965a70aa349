//! [`Cuda`]: the driver, as the runtime sees it.

use super::{
    KIND,
    board::Board,
    cache_directory,
    context::{Context, GpuClass},
    failure::about,
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

/// Queues for copies in, out and from peers, behind those for tasks.
pub(super) const COPY_QUEUES: u16 = 3;
/// Where there are several queues for tasks: panels are small, and rarely more than one is ready.
const URGENT_QUEUES: u16 = 1;
/// Columns in a heap begin at multiples of this many bytes: what `cudaMalloc` promises, and twice a line of the L2 cache.
const ALIGN_BYTES: usize = 256;
/// What is left of a GPU's free memory unless told otherwise: for the workspaces of the libraries, their code and that of our kernels.
const SPARED_BYTES: usize = 3 << 30;

/// How devices are opened.
#[derive(Clone, Debug)]
pub struct Options {
    /// Bytes of each heap; if not given, the free memory, but for three gigabytes or a quarter of it.
    pub heap_bytes: Option<usize>,
    /// How many queues for tasks; at least one. If there are more, the first is for urgent tasks.
    pub queues: u16,
    /// How many tasks a device is given ahead of their completion; at least one.
    pub depth: usize,
    /// Whether the GPU is asked how long each task takes and when it ended, which capability weights and traces go by: about a microsecond
    /// more for each. Large copies are always timed.
    pub timed: bool,
    /// How fast the devices are said to be; if not given, as what the driver tells of each makes likely.
    pub speed: Option<Speed>,
    /// Whether blocks of threads run in clusters, on devices that have them. Tests turn it off to run on a new device what is for
    /// older ones.
    pub clusters: bool,
    /// Where compiled programs are kept, if anywhere.
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

/// A GPU, opened for a runtime.
#[derive(Debug)]
pub struct Cuda {
    pub(super) board: Arc<Board>,
    pub(super) group: Arc<Group>,
    info: DeviceInfo,
    pub(super) lanes: Vec<Lane>,
    /// Where there are peers, and the kernel can be had.
    pub(super) small_copies: Option<SmallCopies>,
}

/// Opens one GPU, as the only device of a runtime.
///
/// # Errors
/// As for [`open_all`].
///
/// # Examples
/// ```
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

/// Opens GPUs for one runtime, whose builder must get them in this order, behind `first_index` others. They can wait for each other's events,
/// and copy from each other where the machine connects them. One GPU may be opened more than once, as devices with heaps of their own.
///
/// # Errors
/// If CUDA sees no such GPU, the options do not suit, or the driver refuses.
pub fn open_all(ordinals: &[usize], first_index: u16, options: &Options) -> Result<Vec<Arc<Cuda>>, DeviceError> {
    options.check()?;
    let last = u16::try_from(ordinals.len()).ok().and_then(|count| first_index.checked_add(count));
    let indices = first_index..last.ok_or_else(|| DeviceError::new("more devices than indices"))?;
    let mut members: Vec<Arc<Board>> = Vec::new();
    for (&ordinal, index) in ordinals.iter().zip(indices) {
        let named = |error| about(&format!("cuda:{ordinal}"), error);
        members.push(Arc::new(options.board(ordinal, index, ordinals).map_err(named)?));
    }
    let group = Arc::new(Group::new(members.clone()));
    let opened = members.into_iter().map(|board| {
        let name = board.name().to_owned();
        Cuda::of(board, &group, options).map(Arc::new).map_err(|error| about(&name, error))
    });
    opened.collect()
}

impl Options {
    fn check(&self) -> Result<(), DeviceError> {
        let Self { queues, depth, .. } = *self;
        if queues == 0 || queues > u16::MAX - COPY_QUEUES || depth == 0 {
            return Err(DeviceError::new(format!("a device with {queues} queues, {depth} tasks deep")));
        }
        if self.heap_bytes.is_some_and(|bytes| bytes < ALIGN_BYTES) {
            return Err(DeviceError::new(format!("a heap of {:?} bytes", self.heap_bytes)));
        }
        Ok(())
    }

    fn board(&self, ordinal: usize, index: u16, all: &[usize]) -> Result<Board, DeviceError> {
        let context = Context::of(ordinal)?;
        let (free, _) = context.memory()?;
        // Devices on one GPU share its memory.
        let sharers = all.iter().filter(|&&other| other == ordinal).count().max(1);
        let default = (free - SPARED_BYTES.min(free / 4)) / sharers;
        let bytes = self.heap_bytes.unwrap_or(default);
        let programs = Programs::new(Cache::new(b"superscalar cuda program 1\n", self.cache.clone()));
        let mut board = Board::new(context, index, bytes - bytes % ALIGN_BYTES, self.queues + COPY_QUEUES, programs);
        board.has_clusters &= self.clusters;
        Ok(board)
    }
}

/// How urgent a queue is. The last is for copies from peers: small ones are kernels, and are not to stand behind what is left of a large one.
/// Nor are small tasks of one ordinary queue behind a large one of another, so they are of several ranks: while a large one of the lowest
/// fills the device, the small ones of the others take what of it comes free.
fn urgency_of(number: u16, info: &DeviceInfo, queues: u16) -> Urgency {
    match number.checked_sub(info.urgent_queues) {
        Some(rank) if number + 1 < queues => Urgency::Ordinary(rank),
        _ => Urgency::Urgent,
    }
}

impl Cuda {
    fn of(board: Arc<Board>, group: &Arc<Group>, options: &Options) -> Result<Self, DeviceError> {
        let info = info(&board, group, options)?;
        let queues = options.queues + COPY_QUEUES;
        let lanes = (0..queues).map(|number| {
            let stream = Stream::new(&board.context, urgency_of(number, &info, queues))?;
            Ok(Lane::new(Queue::new(Arc::clone(&board), stream), number, options.timed, Arc::clone(group)))
        });
        let lanes = lanes.collect::<Result<Vec<Lane>, DeviceError>>()?;
        if let (true, Some(lane)) = (options.timed, lanes.first()) {
            lane.start_clock()?;
        }
        let has_peers = info.memory.as_ref().is_some_and(|memory| !memory.peers.is_empty());
        let small_copies = if has_peers { SmallCopies::load(&board) } else { None };
        Ok(Self { board, group: Arc::clone(group), info, lanes, small_copies })
    }

    /// What sort of GPU it is.
    #[must_use]
    pub fn class(&self) -> &GpuClass {
        self.board.class()
    }
}

fn info(board: &Board, group: &Group, options: &Options) -> Result<DeviceInfo, DeviceError> {
    let mut peers = Vec::new();
    for other in group.members().iter().filter(|other| other.index != board.index) {
        if let Some(link) = board.link_to(other)? {
            peers.push((other.index, link));
        }
    }
    Ok(DeviceInfo {
        name: board.name().to_owned(),
        kind: KIND,
        queues: options.queues,
        urgent_queues: if options.queues > 1 { URGENT_QUEUES } else { 0 },
        depth: options.depth,
        memory: Some(MemoryInfo { bytes: board.heap_bytes, align: ALIGN_BYTES, host: board.host_link(), peers }),
        speed: options.speed.unwrap_or_else(|| estimate(board.class())),
    })
}

impl Cuda {
    /// Whether it can copy from this device's heap.
    pub(super) fn has_peer(&self, device: u16) -> bool {
        self.info.memory.as_ref().is_some_and(|memory| memory.peers.iter().any(|(peer, _)| *peer == device))
    }

    pub(super) fn lane_of(&self, transfer: &Transfer) -> &Lane {
        &self.lanes[usize::from(self.info.transfer_queue(transfer))]
    }
}

// SAFETY: a stream reports work when its event is reached.
unsafe impl Device for Cuda {
    fn info(&self) -> DeviceInfo {
        self.info.clone()
    }

    fn can_wait_for(&self, device: u16) -> bool {
        self.group.member(device).is_some()
    }

    fn issue(&self, queue: u16, waits: &[Event], issue: Issue<'_>) -> Result<u64, DeviceError> {
        self.board.check_not_lost()?;
        let lane = self.lanes.get(usize::from(queue)).filter(|_| queue < self.info.queues);
        let lane = lane.ok_or_else(|| DeviceError::new(format!("there is no queue {queue} for tasks")))?;
        lane.put(waits, |queue| issue(queue)).map_err(|error| self.board.noted(error))
    }

    fn poll(&self, report: &mut dyn FnMut(Finished)) {
        for lane in &self.lanes {
            lane.collect(report);
        }
    }

    fn wait(&self, at_most: Duration) {
        let Board { signal, lines, .. } = &*self.board;
        signal.wait(
            at_most,
            || lines.iter().any(|line| signal.is_raised() || line.is_due()),
            || lines.iter().any(|line| line.in_flight() > 0),
        );
    }

    fn wake(&self) {
        self.board.signal.raise();
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
