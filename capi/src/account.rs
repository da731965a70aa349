//! What was called: a line for each call, and sums by routine when the process ends. Nothing is noted unless a setting
//! asks for it.

use crate::settings::settings;
use std::{
    cell::Cell,
    collections::BTreeMap,
    ffi::CStr,
    fmt::Write,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU8, Ordering},
    },
    time::{Duration, Instant},
};

/// Whether calls are noted: not known yet, no, or yes.
static IS_ON: AtomicU8 = AtomicU8::new(UNKNOWN);
const UNKNOWN: u8 = 0;
const OFF: u8 = 1;
const ON: u8 = 2;

/// The sums. A fork takes the lock before and gives it back after, as it does the engine's.
static TOTALS: Mutex<BTreeMap<&'static str, Total>> = Mutex::new(BTreeMap::new());

pub(crate) type Totals = MutexGuard<'static, BTreeMap<&'static str, Total>>;

pub(crate) fn totals() -> Totals {
    TOTALS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The sums of one routine.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Total {
    calls: u64,
    multiplications: f64,
    /// Those of calls that the runtime computed.
    shared_multiplications: f64,
    /// The floating-point operations of its devices.
    device_flops: f64,
    time: Duration,
}

thread_local! {
    /// What the call that this thread is in came to.
    static CURRENT: Cell<Work> = const { Cell::new(Work::NONE) };
}

/// The work of a call.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Work {
    pub(crate) multiplications: u64,
    /// The floating-point operations that devices were given while the call took place.
    pub(crate) device_flops: u64,
    pub(crate) is_shared: bool,
}

impl Work {
    const NONE: Self = Self { multiplications: 0, device_flops: 0, is_shared: false };
}

/// Notes what this thread's call came to. (A thread that is ending has no such place any more.)
pub(crate) fn note(change: impl FnOnce(&mut Work)) {
    let _ = CURRENT.try_with(|current| {
        let mut work = current.get();
        change(&mut work);
        current.set(work);
    });
}

pub(crate) fn is_on() -> bool {
    match IS_ON.load(Ordering::Relaxed) {
        UNKNOWN => {
            let is_on = settings().statistics.is_some() || settings().log.is_some();
            IS_ON.store(if is_on { ON } else { OFF }, Ordering::Relaxed);
            is_on
        }
        known => known == ON,
    }
}

/// Computes a routine, and notes it if that is asked for.
#[inline]
pub(crate) fn counted<R>(name: &'static CStr, body: impl FnOnce() -> R) -> R {
    if !is_on() {
        return body();
    }
    let before = CURRENT.try_with(|current| current.replace(Work::NONE)).unwrap_or_default();
    let start = Instant::now();
    let result = body();
    let (time, name) = (start.elapsed(), name.to_str().unwrap_or_default().trim_end());
    let work = CURRENT.try_with(|current| current.replace(before)).unwrap_or_default();
    if let Some(log) = &settings().log {
        let flops = flops(name, work.multiplications as f64);
        log.write(&format!(
            "{name} {flops:.3e} flop {:.6} s {} {:.0} % on devices\n",
            time.as_secs_f64(),
            if work.is_shared { "by the runtime," } else { "on the calling thread," },
            percent(work.device_flops as f64, flops),
        ));
    }
    if settings().statistics.is_some() {
        let mut totals = totals();
        let total = totals.entry(name).or_default();
        total.calls += 1;
        total.time += time;
        total.multiplications += work.multiplications as f64;
        if work.is_shared {
            total.shared_multiplications += work.multiplications as f64;
        }
        total.device_flops += work.device_flops as f64;
    }
    result
}

/// The part of a whole. Tiles may take a few operations more than a routine is counted for.
fn percent(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { (100.0 * part / whole).min(100.0) } else { 0.0 }
}

/// Two for each multiplication of real numbers, eight of complex ones, which the letter before the routine's name
/// tells.
fn flops(name: &str, multiplications: f64) -> f64 {
    let routine = name.trim_start_matches("cblas_").trim_start_matches("LAPACKE_");
    let is_complex = routine.starts_with(['c', 'z', 'C', 'Z']);
    multiplications * if is_complex { 8.0 } else { 2.0 }
}

/// Writes the sums, at the end of the process.
pub(crate) fn write() {
    let Some(sink) = settings().statistics.as_ref().filter(|_| is_on()) else { return };
    let totals = std::mem::take(&mut *totals());
    if totals.is_empty() {
        return;
    }
    let mut table = format!(
        "superscalar: calls of process {}\n{:<20}{:>10}{:>12}{:>12}{:>10}{:>10}{:>10}\n",
        std::process::id(),
        "routine",
        "calls",
        "seconds",
        "Gflop",
        "Gflop/s",
        "runtime",
        "devices",
    );
    for (name, total) in totals {
        let (seconds, gflop) = (total.time.as_secs_f64(), flops(name, total.multiplications) / 1e9);
        let rate = if seconds > 0.0 { gflop / seconds } else { 0.0 };
        // Writing to a string does not fail.
        let _ = writeln!(
            table,
            "{name:<20}{:>10}{seconds:>12.4}{gflop:>12.4}{rate:>10.2}{:>8.1} %{:>8.1} %",
            total.calls,
            percent(total.shared_multiplications, total.multiplications),
            percent(total.device_flops / 1e9, gflop),
        );
    }
    sink.write(&table);
}
