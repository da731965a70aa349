//! The log of calls, one line each, and statistics by routine, written when the process ends. Both are off unless a
//! setting enables them.

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

/// Whether calls are recorded: [`UNKNOWN`] before the settings are read, [`OFF`] or [`ON`].
static IS_ON: AtomicU8 = AtomicU8::new(UNKNOWN);
const UNKNOWN: u8 = 0;
const OFF: u8 = 1;
const ON: u8 = 2;

/// The statistics by routine. A fork holds this lock, like that of the engine.
static TOTALS: Mutex<BTreeMap<&'static str, RoutineTotals>> = Mutex::new(BTreeMap::new());

pub(crate) type TotalsGuard = MutexGuard<'static, BTreeMap<&'static str, RoutineTotals>>;

pub(crate) fn lock_totals() -> TotalsGuard {
    TOTALS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The statistics of one routine.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RoutineTotals {
    calls: u64,
    multiplications: f64,
    /// The multiplications of the calls that ran on the runtime.
    shared_multiplications: f64,
    /// The floating-point operations that the runtime issued to its devices.
    device_flops: f64,
    time: Duration,
}

thread_local! {
    /// The record of this thread's current call.
    static CURRENT: Cell<CallRecord> = const { Cell::new(CallRecord::NONE) };
}

/// The work of one call.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CallRecord {
    pub(crate) multiplications: u64,
    /// The floating-point operations issued to devices during the call.
    pub(crate) device_flops: u64,
    pub(crate) is_shared: bool,
}

impl CallRecord {
    const NONE: Self = Self { multiplications: 0, device_flops: 0, is_shared: false };
}

/// Changes the record of this thread's current call. Does nothing on a thread whose thread-local values are destroyed.
pub(crate) fn record(change: impl FnOnce(&mut CallRecord)) {
    let _ = CURRENT.try_with(|current| {
        let mut call = current.get();
        change(&mut call);
        current.set(call);
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

/// Runs the body of a routine, and records the call if the log or the statistics are on.
#[inline]
pub(crate) fn recorded<R>(name: &'static CStr, body: impl FnOnce() -> R) -> R {
    if !is_on() {
        return body();
    }
    let before = CURRENT.try_with(|current| current.replace(CallRecord::NONE)).unwrap_or_default();
    let start = Instant::now();
    let result = body();
    let (time, name) = (start.elapsed(), name.to_str().unwrap_or_default().trim_end());
    let call = CURRENT.try_with(|current| current.replace(before)).unwrap_or_default();
    if let Some(log) = &settings().log {
        let flops = flops(name, call.multiplications as f64);
        log.write(&format!(
            "{name} {flops:.3e} flop {:.6} s {} {:.0} % on devices\n",
            time.as_secs_f64(),
            if call.is_shared { "by the runtime," } else { "on the calling thread," },
            percent(call.device_flops as f64, flops),
        ));
    }
    if settings().statistics.is_some() {
        let mut totals = lock_totals();
        let total = totals.entry(name).or_default();
        total.calls += 1;
        total.time += time;
        total.multiplications += call.multiplications as f64;
        if call.is_shared {
            total.shared_multiplications += call.multiplications as f64;
        }
        total.device_flops += call.device_flops as f64;
    }
    result
}

/// Returns `part` as a percentage of `whole`, at most 100. Tiles may take more operations than the routine counts.
fn percent(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { (100.0 * part / whole).min(100.0) } else { 0.0 }
}

/// Returns the floating-point operations: two for each real multiplication and eight for each complex one. The letter
/// before the routine's name states the type.
fn flops(name: &str, multiplications: f64) -> f64 {
    let prefixes = ["cblas_", "LAPACKE_", "superscalar_"];
    let routine = prefixes.iter().find_map(|prefix| name.strip_prefix(prefix)).unwrap_or(name);
    let is_complex = routine.starts_with(['c', 'z', 'C', 'Z']);
    multiplications * if is_complex { 8.0 } else { 2.0 }
}

/// Writes the statistics at the end of the process.
pub(crate) fn write_totals() {
    let Some(sink) = settings().statistics.as_ref().filter(|_| is_on()) else { return };
    let totals = std::mem::take(&mut *lock_totals());
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
        // Writing into a string never fails.
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
