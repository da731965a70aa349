//! The physical cores of the machine, and binding threads to them.
//!
//! The information comes from Linux's `/sys` by default, and from the hwloc library with the cargo feature `hwloc`.
//! Both sources return one processor number for each physical core that this process may use. If the source has no
//! information, every processor that the process may use counts as a core.

#[cfg(feature = "hwloc")]
mod hwloc;
#[cfg(not(feature = "hwloc"))]
mod sysfs;

#[cfg(feature = "hwloc")]
use hwloc as source;
#[cfg(not(feature = "hwloc"))]
use sysfs as source;

use crate::error::Error;
use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};
use std::cell::Cell;

/// A physical core, identified by the number of its first processor that this process may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Core(pub(crate) usize);

/// The set of processors on which a thread was allowed to run.
pub(crate) struct Affinity {
    allowed: CpuSet,
    /// The thread was bound by this crate before, too.
    was_bound: bool,
}

thread_local! {
    /// The processors on which this thread was allowed to run before this crate bound it; `None` if it is not bound.
    static UNBOUND: Cell<Option<CpuSet>> = const { Cell::new(None) };
}

/// Lets a thread that this crate has bound run on all its processors until it is dropped. Threads that start meanwhile
/// inherit that.
pub(crate) struct Unbinding(Option<CpuSet>);

impl Unbinding {
    pub(crate) fn begin() -> Self {
        let bound = UNBOUND.get().and_then(|unbound| {
            let bound = sched_getaffinity(None).ok()?;
            sched_setaffinity(None, &unbound).ok()?;
            Some(bound)
        });
        Self(bound)
    }
}

impl Drop for Unbinding {
    fn drop(&mut self) {
        if let Some(bound) = self.0 {
            let _ = sched_setaffinity(None, &bound);
        }
    }
}

/// Returns the physical cores that this process may use; at least one.
pub(crate) fn physical_cores() -> Result<Vec<Core>, Error> {
    let allowed =
        sched_getaffinity(None).map_err(|error| Error::system("cannot read the processor affinity", error))?;
    let processors: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|&processor| allowed.is_set(processor)).collect();
    Ok(source::one_per_core(&processors).unwrap_or(processors).into_iter().map(Core).collect())
}

/// Returns how many of these cores the process can keep busy: a control group may limit its processor time.
pub(crate) fn usable(cores: &[Core]) -> usize {
    std::thread::available_parallelism().map_or(cores.len(), |quota| cores.len().min(quota.get()))
}

/// Binds the calling thread to a core. If the system does not allow it, the thread stays unbound, which is only slower.
pub(crate) fn bind(core: &Core) {
    if UNBOUND.get().is_none() {
        UNBOUND.set(sched_getaffinity(None).ok());
    }
    let mut set = CpuSet::new();
    set.set(core.0);
    let _ = sched_setaffinity(None, &set);
}

/// Moves the calling thread to `core` and returns its previous affinity, or returns `None` if it runs there already.
pub(crate) fn move_away_to(core: &Core) -> Option<Affinity> {
    if sched_getcpu() == core.0 {
        return None;
    }
    let before = Affinity { allowed: sched_getaffinity(None).ok()?, was_bound: UNBOUND.get().is_some() };
    bind(core);
    Some(before)
}

/// Restores a previous affinity of the calling thread.
pub(crate) fn restore(affinity: Affinity) {
    let _ = sched_setaffinity(None, &affinity.allowed);
    if !affinity.was_bound {
        UNBOUND.set(None);
    }
}

/// Returns the processor's name in letters, digits and hyphens. Files that are specific to one type of machine are
/// named after it.
#[must_use]
pub fn processor_name() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |key: &str| {
        text.lines()
            .find_map(|line| Some(line.strip_prefix(key)?.split_once(':')?.1.trim().to_owned()))
            .unwrap_or_default()
    };
    let name = [field("model name"), field("cpu family"), field("model\t")].join(" ");
    let words: Vec<&str> =
        name.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    if words.is_empty() { std::env::consts::ARCH.to_owned() } else { words.join("-") }
}
