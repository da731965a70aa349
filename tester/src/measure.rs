//! Times calls of several contenders in turn, so that whatever else the machine does meets all of them alike.
//!
//! All contenders live in one process. A BLAS library's threads keep spinning for a while after a call (OpenBLAS: some
//! tens of milliseconds; OpenMP libraries: up to 200), on the processors that the next contender needs. So before each
//! turn the process comes to rest: see [`settle`]. A library's threads are then asleep, and a short call would be
//! charged with waking them, unlike when it is called again and again; so each turn of a short call begins with an
//! untimed one.

use rustix::time::{ClockId, clock_gettime};
use std::time::{Duration, Instant};

/// Calls below this get an untimed call first: waking threads takes up to 0.1 ms, which is 0.2 % of it.
const SHORT: Duration = Duration::from_millis(50);
/// How long [`settle`] looks at a time: several ticks of the system's clock (4 ms is usual), because the processor time of a
/// thread that runs on another processor may be brought up to date only there.
const LOOK: Duration = Duration::from_millis(15);
/// When [`settle`] gives up: a contender that never rests is measured as it is.
const SETTLE_MAX: Duration = Duration::from_secs(3);

/// Calls the contenders, `first.len()` of them, in `rounds` turns each; `call` prepares, makes and times one call. `first`
/// holds the time that each contender's first call took. Returns each one's times.
pub fn in_turns(first: &[Duration], rounds: usize, mut call: impl FnMut(usize) -> Duration) -> Vec<Vec<Duration>> {
    let mut times = vec![Vec::with_capacity(rounds); first.len()];
    for round in 0..rounds {
        for turn in 0..first.len() {
            // Every other round backwards: none is always the one after the same other.
            let contender = if round % 2 == 0 { turn } else { first.len() - 1 - turn };
            // A single contender meets nobody's threads, and its own are awake.
            if first.len() > 1 {
                settle();
                if first[contender] < SHORT {
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
        std::thread::sleep(LOOK);
        if (processor_time() - used) * 10 < looked.elapsed() {
            return;
        }
    }
}

/// The processor time that all threads of this process have used.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// The median, in seconds; of an even number the mean of the middle two. NaN for none.
pub fn median(times: &[Duration]) -> f64 {
    let mut seconds: Vec<f64> = times.iter().map(Duration::as_secs_f64).collect();
    seconds.sort_by(f64::total_cmp);
    match seconds.len() {
        0 => f64::NAN,
        len if len % 2 == 1 => seconds[len / 2],
        len => (seconds[len / 2 - 1] + seconds[len / 2]) / 2.0,
    }
}

/// 10⁹ operations per second. A clock too coarse for the call counts as a nanosecond.
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
    fn contenders_take_turns_and_short_calls_are_warmed() {
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
    fn a_busy_thread_is_waited_for() {
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
