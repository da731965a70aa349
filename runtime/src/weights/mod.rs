//! Capability weights (task-superscalar, section 5.2): α_ik, the rate that resource i reaches on kernels of kind k.
//!
//! A kind is a task's name and its size, in octaves of flops and bytes. A rate is in flops per second, or in bytes per
//! second for levels 1 and 2, which memory limits. The host's rates are those of one worker. A rate comes from the
//! first of these sources that has one:
//!
//! 1. *measured* in this run: robust running estimates near that size. The first run of a kernel on a device does not
//!    count, because it includes compiling or loading the kernel;
//! 2. *persisted*: measured in an earlier run, near that size;
//! 3. the *directive*: what the driver states for its device;
//! 4. measured or persisted at any other size;
//! 5. *assumed*: about a quarter of the rate of one core of an ordinary machine. The assumption is low on purpose: an
//!    unknown resource should leave tasks to others rather than delay them. It still takes a task as soon as the others
//!    have enough to do, and its first measurement replaces the assumption.
//!
//! When many measurements contradict a persisted weight by more than a factor of two, the weight is dropped for this
//! kernel and resource. A factor of more than five is reported once ([`Runtime::notices`](crate::Runtime::notices)).
//!
//! A runtime without devices keeps no weights.

#![forbid(unsafe_code)]

mod estimate;
mod file;
mod names;
#[cfg(test)]
mod tests;

pub(crate) use file::default_file;

use crate::{
    cache::CacheFile,
    device::{Cost, Speed},
    error::Error,
    notices::Notices,
    schedule::Resource,
    sync::held,
};
use estimate::{Curve, Point, Size, Unit, interpolated, nearest, work};
use names::NameMap;
use std::{
    sync::{
        Arc, RwLock,
        atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering},
    },
    time::Instant,
};

/// Measurements within this many octaves count for a size: about a factor of two in the order of a tile.
const REACH_OCTAVES: f64 = 4.0;
/// This many measurements replace persisted weights, and are enough to be persisted.
const SAMPLES_MIN: u64 = 4;
/// After `DROP_SAMPLES` measurements, a persisted weight that they contradict by more than this factor is dropped.
const DROP_FACTOR: f64 = 2.0;
const DROP_SAMPLES: u64 = 16;
/// After this many measurements, of calls that take less than `BRIEF_NS` one in `BRIEF_CALLS` is measured. On an H200
/// the two events around a kernel cost 12 µs (docs/measurements/2026-11-29-timed-tasks.md).
const KNOWN_SAMPLES: u64 = 16;
const BRIEF_NS: f64 = 1e5;
const BRIEF_CALLS: u32 = 8;
/// A contradiction by more than this factor is reported. It is larger than `DROP_FACTOR`, because a shared device may
/// well be four times slower.
const ALARM_FACTOR: f64 = 5.0;
/// A persisted weight within this many octaves of a measurement is compared with it.
const COMPARE_REACH_OCTAVES: f64 = 1.0;
/// Resources whose rates differ by more than this factor are unlike.
const UNLIKE_FACTOR: f64 = 2.0;
/// Rates are compared after the first few observations, and then after each this many.
const COMPARE_EVERY: u64 = 64;
/// The assumed rates; see the module documentation.
const ASSUMED: Speed = Speed { flops_per_s: 8e9, bytes_per_s: 4e9, latency_ns: 1000 };
/// The assumed duration of a task without cost and without measurements.
const ASSUMED_CALL_NS: f64 = 20_000.0;

/// Where a capability weight comes from; see [`CapabilityWeight`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WeightSource {
    /// Measured in this run.
    Measured,
    /// Measured in an earlier run.
    Persisted,
    /// What the driver states: [`DeviceInfo::speed`](crate::DeviceInfo::speed).
    Directive,
    /// A low assumption, because nothing is known.
    Assumed,
}

/// The rate of a resource on one kind of kernel (task-superscalar, section 5.2: α_ik).
#[derive(Clone, Debug, PartialEq)]
pub struct CapabilityWeight {
    /// The resource: a device, or the host, whose rate is that of one worker.
    pub resource: Resource,
    /// The device's name, or `host`.
    pub name: String,
    /// The kernel: the task's name.
    pub kernel: String,
    /// Approximate floating-point operations of one call.
    pub flops: f64,
    /// Approximate bytes of one call.
    pub bytes: f64,
    /// Flops per second; bytes per second if memory is the limit (levels 1 and 2); calls per second if the task has no
    /// cost.
    pub rate: f64,
    /// Number of measurements behind it.
    pub samples: u64,
    /// Its source.
    pub source: WeightSource,
}

impl CapabilityWeight {
    /// Returns the time of a call of this cost at this rate, in nanoseconds.
    #[must_use]
    pub fn time_ns(&self, cost: &Cost) -> f64 {
        work(cost).1 / self.rate * 1e9
    }
}

/// One measured run of a kernel.
pub(crate) struct KernelRun<'k> {
    pub(crate) kernel: &'k str,
    pub(crate) cost: Cost,
    pub(crate) busy_ns: f64,
}

/// The weights of one kernel on one resource.
#[derive(Default)]
struct KernelWeights {
    /// Indexed by unit.
    measured: [Curve; Unit::COUNT],
    persisted: Vec<(Unit, Point)>,
    /// Whether the kernel has run on the resource in this process.
    has_run: bool,
    /// Number of calls that were known to be brief.
    brief_calls: AtomicU32,
}

/// A measured rate and the persisted rate that it contradicts.
struct Contradiction {
    unit: Unit,
    measured: f64,
    persisted: f64,
}

impl KernelWeights {
    fn measured(&self, unit: Unit) -> impl Iterator<Item = Point> {
        self.measured[unit as usize].points()
    }

    fn persisted(&self, unit: Unit) -> impl Iterator<Item = Point> {
        self.persisted.iter().filter(move |(of, _)| *of == unit).map(|(_, point)| *point)
    }

    /// Records a duration. Drops the persisted weights if the measurements contradict them, and returns the
    /// contradiction if it is to be reported.
    fn observe(&mut self, cost: &Cost, busy_ns: f64) -> Option<Contradiction> {
        let ((unit, amount), size) = (work(cost), Size::of(cost));
        let estimate = self.measured[unit as usize].observe(size, busy_ns.max(1.0) / amount);
        let (samples, measured) = (estimate.ns_per_unit.samples, estimate.ns_per_unit.value);
        if samples < DROP_SAMPLES {
            return None;
        }
        let predicted = interpolated(self.persisted(unit), size, COMPARE_REACH_OCTAVES)?.ns_per_unit;
        let parts_by = |factor: f64| !(1.0 / factor..=factor).contains(&(measured / predicted));
        if !parts_by(DROP_FACTOR) {
            return None;
        }
        self.persisted.clear();
        let contradiction = Contradiction { unit, measured: 1e9 / measured, persisted: 1e9 / predicted };
        parts_by(ALARM_FACTOR).then_some(contradiction)
    }
}

impl Contradiction {
    fn message(&self, kernel: &str, resource: &str) -> String {
        let Self { unit, measured, persisted } = self;
        let unit = unit.name();
        format!(
            "`{kernel}` reaches {measured:.3e} {unit}/s on `{resource}`, but earlier runs reached {persisted:.3e}; \
             their weights are dropped"
        )
    }
}

/// One resource's rates.
struct Rates {
    name: String,
    directive: Speed,
    kernels: RwLock<NameMap<KernelWeights>>,
    /// When its last task ended, for drivers that do not report durations.
    ended_ns: AtomicU64,
}

/// The capability weights of all resources, in the resources' order.
pub(crate) struct Weights {
    resources: Vec<Rates>,
    file: Option<CacheFile>,
    notices: Arc<Notices>,
    /// Whether one resource is far slower than another, as far as known.
    are_unlike: AtomicBool,
    /// Number of calls of `compare`.
    observed: AtomicU64,
    epoch: Instant,
}

impl Weights {
    /// Creates the weights for these devices, given by name and stated speed, and loads the persisted weights from the
    /// file.
    pub(crate) fn start(
        file: Option<CacheFile>,
        devices: Vec<(String, Speed)>,
        notices: Arc<Notices>,
    ) -> Result<Self, Error> {
        let file = file.filter(|_| !devices.is_empty());
        let host = (!devices.is_empty()).then(|| ("host".to_owned(), Speed::default()));
        let rates =
            |(name, directive)| Rates { name, directive, kernels: RwLock::default(), ended_ns: AtomicU64::new(0) };
        let resources: Vec<_> = host.into_iter().chain(devices).map(rates).collect();
        let known = file.as_ref().map_or(Ok(Vec::new()), file::load)?;
        for entry in known {
            for rates in resources.iter().filter(|rates| rates.name == entry.resource) {
                let mut kernels = held(rates.kernels.write());
                kernels.entry(entry.kernel.clone()).or_default().persisted.push((entry.unit, entry.point));
            }
        }
        let said = resources.iter().map(|rates| rates.directive.flops_per_s).filter(|&rate| rate > 0.0);
        let is_unlike = said.into_iter().any(|rate| is_far(rate / ASSUMED.flops_per_s));
        let (are_unlike, observed) = (AtomicBool::new(is_unlike), AtomicU64::new(0));
        Ok(Self { resources, file, notices, are_unlike, observed, epoch: Instant::now() })
    }

    /// Returns whether one resource is far slower than another, as far as known.
    #[inline]
    pub(crate) fn are_unlike(&self) -> bool {
        self.are_unlike.load(Ordering::Relaxed)
    }

    /// Checks from time to time whether one resource takes far longer for this kernel than another.
    fn compare(&self, kernel: &str, cost: &Cost) {
        let observed = self.observed.fetch_add(1, Ordering::Relaxed);
        if self.are_unlike() || !(observed.is_power_of_two() || observed.is_multiple_of(COMPARE_EVERY)) {
            return;
        }
        let known = |rates: &Rates| match self.rate(rates, kernel, cost) {
            (point, WeightSource::Measured | WeightSource::Persisted) => Some(point.ns_per_unit),
            _ => None,
        };
        let (least, most) = self
            .resources
            .iter()
            .filter_map(known)
            .fold((f64::INFINITY, 0.0_f64), |(least, most), ns| (least.min(ns), most.max(ns)));
        if least < most && is_far(most / least) {
            self.are_unlike.store(true, Ordering::Relaxed);
        }
    }

    /// Returns the nanoseconds since the start.
    pub(crate) fn now_ns(&self) -> u64 {
        self.epoch.elapsed().as_nanos() as u64
    }

    /// Records measured runs.
    pub(crate) fn observe<'k>(&self, resource: Resource, runs: impl Iterator<Item = KernelRun<'k>>) {
        let Some(rates) = self.resources.get(usize::from(resource.0)) else { return };
        let mut kernels = held(rates.kernels.write());
        let (mut alarms, mut last) = (Vec::new(), None);
        for KernelRun { kernel, cost, busy_ns } in runs {
            last = Some((kernel, cost));
            let known = match kernels.get_mut(kernel) {
                Some(known) => known,
                None => kernels.entry(kernel.to_owned()).or_default(),
            };
            // The first run on a device includes compiling or loading the kernel, so it is not representative.
            if resource == Resource::HOST || std::mem::replace(&mut known.has_run, true) {
                let contradiction = known.observe(&cost, busy_ns);
                alarms.extend(contradiction.map(|it| (kernel, it)));
            }
        }
        drop(kernels);
        if let Some((kernel, cost)) = last {
            self.compare(kernel, &cost);
        }
        for (kernel, contradiction) in alarms {
            let topic = format!("weight of {kernel} on {}", rates.name);
            self.notices.say(&topic, || contradiction.message(kernel, &rates.name));
        }
    }

    /// Returns the forecast duration of a call of the kernel, in nanoseconds.
    pub(crate) fn forecast_ns(&self, resource: Resource, kernel: &str, cost: &Cost) -> f64 {
        let (_, amount) = work(cost);
        amount * self.rate(&self.resources[usize::from(resource.0)], kernel, cost).0.ns_per_unit
    }

    /// Returns whether the duration of a call is wanted. Measuring slows a device down, so of the calls that are known
    /// to be brief, from enough runs, one in `BRIEF_CALLS` is measured.
    pub(crate) fn wants_duration(&self, resource: Resource, kernel: &str, cost: &Cost) -> bool {
        let rates = &self.resources[usize::from(resource.0)];
        let (point, source) = self.rate(rates, kernel, cost);
        let is_known = source == WeightSource::Measured && point.samples >= KNOWN_SAMPLES;
        if !is_known || work(cost).1 * point.ns_per_unit >= BRIEF_NS {
            return true;
        }
        let kernels = held(rates.kernels.read());
        let calls = kernels.get(kernel).map_or(0, |known| known.brief_calls.fetch_add(1, Ordering::Relaxed));
        calls.is_multiple_of(BRIEF_CALLS)
    }

    /// Returns the rate from the best source; see the module documentation.
    fn rate(&self, rates: &Rates, kernel: &str, cost: &Cost) -> (Point, WeightSource) {
        let ((unit, amount), size) = (work(cost), Size::of(cost));
        let said = directive_ns(&rates.directive, unit, amount);
        let by_directive = |ns: f64| Point { size, ns_per_unit: ns / amount, samples: 0 };
        let kernels = held(rates.kernels.read());
        let found = kernels.get(kernel).and_then(|known| {
            let measured =
                interpolated(known.measured(unit), size, REACH_OCTAVES).map(|it| (it, WeightSource::Measured));
            if measured.as_ref().is_some_and(|(it, _)| it.samples >= SAMPLES_MIN) {
                return measured;
            }
            let persisted =
                interpolated(known.persisted(unit), size, REACH_OCTAVES).map(|it| (it, WeightSource::Persisted));
            let near = persisted.or(measured);
            let said = said.map(|ns| (by_directive(ns), WeightSource::Directive));
            let far = || {
                let measured = nearest(known.measured(unit), size).map(|it| (it, WeightSource::Measured));
                measured.or_else(|| nearest(known.persisted(unit), size).map(|it| (it, WeightSource::Persisted)))
            };
            near.or(said).or_else(far)
        });
        found.or_else(|| said.map(|ns| (by_directive(ns), WeightSource::Directive))).unwrap_or_else(|| {
            let ns = directive_ns(&ASSUMED, unit, amount).unwrap_or(ASSUMED_CALL_NS);
            (by_directive(ns), WeightSource::Assumed)
        })
    }

    /// Returns the weight for one call of a kernel.
    pub(crate) fn of(&self, resource: Resource, kernel: &str, cost: Cost) -> CapabilityWeight {
        let rates = &self.resources[usize::from(resource.0)];
        let (point, source) = self.rate(rates, kernel, &cost);
        let point = Point { size: Size::of(&cost), ..point };
        weight(resource, rates, kernel, point, source)
    }

    /// Returns all measured and persisted weights.
    pub(crate) fn list(&self) -> Vec<CapabilityWeight> {
        let mut list = Vec::new();
        for (at, rates) in self.resources.iter().enumerate() {
            let resource = Resource(at as u16);
            for (kernel, known) in held(rates.kernels.read()).iter() {
                for point in known.measured.iter().flat_map(Curve::points) {
                    list.push(weight(resource, rates, kernel, point, WeightSource::Measured));
                }
                for &(_, point) in &known.persisted {
                    list.push(weight(resource, rates, kernel, point, WeightSource::Persisted));
                }
            }
        }
        let key = |one: &CapabilityWeight| (one.resource, one.kernel.clone(), one.source as u8);
        list.sort_by(|a, b| key(a).cmp(&key(b)).then(a.flops.total_cmp(&b.flops)).then(a.bytes.total_cmp(&b.bytes)));
        list
    }

    /// Returns how long a device took for a task that was issued at `issued_ns` and has ended by `now_ns`, if the
    /// driver does not say: the time since then, or since the end of the device's previous task.
    pub(crate) fn busy_since_ns(&self, resource: Resource, issued_ns: u64, now_ns: u64) -> u64 {
        let before_ns = self.resources[usize::from(resource.0)].ended_ns.swap(now_ns, Ordering::Relaxed);
        now_ns.saturating_sub(issued_ns.max(before_ns))
    }

    /// Persists the measured weights if some are new.
    pub(crate) fn save(&self) {
        let Some(file) = &self.file else { return };
        let new_weights: Vec<file::SavedWeight> =
            self.measured().filter(|(_, is_new)| *is_new).map(|(entry, _)| entry).collect();
        if new_weights.is_empty() {
            return;
        }
        // Writes all weights, not only the new ones: another process may have written the file meanwhile, and one file
        // should have consistent weights.
        let measured = self.measured().map(|(entry, _)| entry);
        if let Err(error) = file::merge(file, measured) {
            self.notices.say("weights", || format!("capability weights are not kept: {error}"));
        }
    }

    /// Returns the weights with enough measurements, and for each whether it is new: no similar rate was persisted.
    fn measured(&self) -> impl Iterator<Item = (file::SavedWeight, bool)> {
        const NEWS_FACTOR: f64 = 1.1;
        let mut measured = Vec::new();
        for rates in &self.resources {
            for (kernel, known) in held(rates.kernels.read()).iter() {
                for unit in [Unit::Flops, Unit::Bytes] {
                    for point in known.measured(unit).filter(|point| point.samples >= SAMPLES_MIN) {
                        let before = interpolated(known.persisted(unit), point.size, COMPARE_REACH_OCTAVES);
                        let is_known = before.is_some_and(|before| {
                            (1.0 / NEWS_FACTOR..=NEWS_FACTOR).contains(&(point.ns_per_unit / before.ns_per_unit))
                        });
                        let (resource, kernel) = (rates.name.clone(), kernel.clone());
                        measured.push((file::SavedWeight { resource, kernel, unit, point }, !is_known));
                    }
                }
            }
        }
        measured.into_iter()
    }
}

/// Returns whether resources whose rates have this ratio are unlike.
fn is_far(ratio: f64) -> bool {
    !(1.0 / UNLIKE_FACTOR..=UNLIKE_FACTOR).contains(&ratio)
}

/// Returns the duration of the work according to a directive; `None` if the directive has no rate for the unit.
fn directive_ns(speed: &Speed, unit: Unit, amount: f64) -> Option<f64> {
    let per_s = match unit {
        Unit::Flops => speed.flops_per_s,
        Unit::Bytes => speed.bytes_per_s,
        Unit::Calls => return None,
    };
    (per_s > 0.0).then(|| speed.latency_ns as f64 + 1e9 * amount / per_s)
}

fn weight(resource: Resource, rates: &Rates, kernel: &str, point: Point, source: WeightSource) -> CapabilityWeight {
    CapabilityWeight {
        resource,
        name: rates.name.clone(),
        kernel: kernel.to_owned(),
        flops: point.size.flops.exp2(),
        bytes: point.size.bytes.exp2(),
        rate: 1e9 / point.ns_per_unit,
        samples: point.samples,
        source,
    }
}
