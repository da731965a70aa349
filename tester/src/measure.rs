//! Times the calls of several contenders alternately, so that other load on the machine affects all of them alike.
//!
//! All contenders run in one process. The threads of a BLAS library keep spinning for a while after a call (OpenBLAS:
//! some tens of milliseconds; OpenMP libraries: up to 200), on processors that the next contender needs. Before each
//! turn, the process therefore waits until it is idle: see [`settle`]. Then the library's threads are asleep, and a
//! short call would include the time to wake them, unlike repeated calls; so each turn of a short call begins with an
//! untimed call.

use rustix::time::{ClockId, clock_gettime};
use std::time::{Duration, Instant};

/// Calls shorter than this are preceded by an untimed call, because waking threads takes up to 0.1 ms.
const SHORT_CALL_MAX: Duration = Duration::from_millis(50);
/// The interval over which [`settle`] measures: several ticks of the system's clock (usually 4 ms), because the
/// processor time of a thread on another processor may be updated only at its ticks.
const SETTLE_INTERVAL: Duration = Duration::from_millis(15);
/// The time after which [`settle`] gives up; a contender that is never idle is measured anyway. (Other tests run beside
/// those of this module.)
const SETTLE_MAX: Duration = Duration::from_millis(if cfg!(test) { 500 } else { 3000 });

/// Calls each of the `first.len()` contenders `rounds` times, alternately. `call` prepares, makes and times one call.
/// `first` holds the time of each contender's first call. Returns the times of each contender.
pub fn in_turns(first: &[Duration], rounds: usize, mut call: impl FnMut(usize) -> Duration) -> Vec<Vec<Duration>> {
    let mut times = vec![Vec::with_capacity(rounds); first.len()];
    for round in 0..rounds {
        for turn in 0..first.len() {
            // Every other round is in reverse order, so that no contender always follows the same one.
            let contender = if round % 2 == 0 { turn } else { first.len() - 1 - turn };
            // A single contender competes with no other threads, and its own are awake.
            if first.len() > 1 {
                settle();
                if first[contender] < SHORT_CALL_MAX {
                    call(contender);
                }
            }
            times[contender].push(call(contender));
        }
    }
    times
}

/// Waits until the other threads of this process use less than a tenth of a processor.
pub fn settle() {
    let start = Instant::now();
    while start.elapsed() < SETTLE_MAX {
        let (used, looked) = (processor_time(), Instant::now());
        std::thread::sleep(SETTLE_INTERVAL);
        if (processor_time() - used) * 10 < looked.elapsed() {
            return;
        }
    }
}

/// Returns the processor time used by all threads of this process.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// Returns the median in seconds; for an even number of times, the mean of the middle two; NaN for none.
pub fn median(times: &[Duration]) -> f64 {
    let mut seconds: Vec<f64> = times.iter().map(Duration::as_secs_f64).collect();
    seconds.sort_by(f64::total_cmp);
    match seconds.len() {
        0 => f64::NAN,
        len if len % 2 == 1 => seconds[len / 2],
        len => (seconds[len / 2 - 1] + seconds[len / 2]) / 2.0,
    }
}

/// Returns 10⁹ operations per second. A time of zero, from a coarse clock, counts as one nanosecond.
pub fn gflops(flops: f64, seconds: f64) -> f64 {
    flops / seconds.max(1e-9) / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        let of = |seconds: &[u64]| median(&seconds.iter().map(|&s| Duration::from_secs(s)).collect::<Vec<_>>());
        assert_eq!((of(&[5]), of(&[9, 1, 2]), of(&[4, 1, 9, 2])), (5.0, 2.0, 3.0));
        assert!(of(&[]).is_nan());
    }

    #[test]
    fn rates() {
        assert_eq!(gflops(4e9, 2.0), 2.0);
        assert_eq!(gflops(0.0, 0.0), 0.0);
        assert!(gflops(1.0, 0.0).is_finite());
    }

    #[test]
    fn contenders_alternate_with_warm_up() {
        let (short, long) = (Duration::from_micros(1), Duration::from_secs(1));
        let mut calls = Vec::new();
        let times = in_turns(&[long, short], 3, |contender| {
            calls.push(contender);
            Duration::from_secs(calls.len() as u64)
        });
        assert_eq!(calls, [0, 1, 1, 1, 1, 0, 0, 1, 1]);
        assert_eq!(times.iter().map(|times| median(times)).collect::<Vec<_>>(), [6.0, 5.0]);
    }

    #[test]
    fn settle_waits_for_busy_threads() {
        let busy = Duration::from_millis(60);
        let thread = std::thread::spawn(move || {
            let start = Instant::now();
            while start.elapsed() < busy {
                std::hint::spin_loop();
            }
        });
        std::thread::sleep(Duration::from_millis(5));
        settle();
        assert!(thread.is_finished() || processor_time() < busy, "settled beside a busy thread");
        assert!(thread.join().is_ok());
    }
}
