//! [`Clock`]: converts a device's timestamps to the host's clock.
//!
//! A device's clock starts at an arbitrary value and runs slightly faster or slower than the host's. Reading both at
//! once would require waiting for the device. Instead, the offset between the clocks is estimated from the ends that
//! the issuer notices. An end cannot be later than its notice, so each difference (time of notice minus device time) is
//! an upper bound of the offset. [`Offset`] keeps the smallest one. It is close to the true offset because some ends
//! are noticed immediately. A converted time is therefore too late by the delay of the promptest notice, but never too
//! early. If the device's clock runs slower than the host's, the offset grows, so the minimum may grow, too: by
//! [`DRIFT_PER_S`] nanoseconds per second, more than quartz clocks diverge. If the device's clock runs faster, later
//! differences are smaller and replace the minimum.

use std::{
    sync::{Mutex, PoisonError},
    time::Instant,
};

/// In nanoseconds per second: two quartz clocks diverge by less than 100 parts per million.
const DRIFT_PER_S: u64 = 100_000;

/// An estimate of host time minus device time in nanoseconds. It is never too small.
#[derive(Clone, Copy, Debug, Default)]
struct Offset(Option<Least>);

#[derive(Clone, Copy, Debug)]
struct Least {
    offset_ns: i64,
    /// When the difference was observed, in host time.
    seen_ns: u64,
}

impl Offset {
    /// Records an end at `ended_ns` (device time) that was noticed at `noticed_ns` (host time). Returns the estimate.
    fn noticed(&mut self, ended_ns: u64, noticed_ns: u64) -> i64 {
        let seen_ns = i64::try_from(i128::from(noticed_ns) - i128::from(ended_ns)).unwrap_or(i64::MAX);
        let offset_ns = self.0.map_or(seen_ns, |least| {
            let passed_ns = u128::from(noticed_ns.saturating_sub(least.seen_ns));
            let drift_ns = i64::try_from(passed_ns * u128::from(DRIFT_PER_S) / 1_000_000_000).unwrap_or(i64::MAX);
            // The old minimum stays unchanged while it is the smaller one: rounding its growth at every call would
            // accumulate.
            seen_ns.min(least.offset_ns.saturating_add(drift_ns))
        });
        if self.0.is_none() || offset_ns == seen_ns {
            self.0 = Some(Least { offset_ns, seen_ns: noticed_ns });
        }
        offset_ns
    }
}

/// The relation of a device's clock to the host's. All queues of a device share one.
#[derive(Debug)]
pub(crate) struct Clock {
    epoch: Instant,
    offset: Mutex<Offset>,
}

impl Default for Clock {
    fn default() -> Self {
        Self { epoch: Instant::now(), offset: Mutex::default() }
    }
}

impl Clock {
    /// Returns the host's time in nanoseconds since this clock was made.
    pub(crate) fn now_ns(&self) -> u64 {
        u64::try_from(self.epoch.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// Records an end at `ended_ns` (device time) that was noticed at `noticed_ns` (host time). If several ends are
    /// noticed together, pass the last one: it gives the tightest bound, and the result applies to all of them.
    pub(crate) fn noticed(&self, ended_ns: u64, noticed_ns: u64) -> Reading {
        let offset_ns = self.offset.lock().unwrap_or_else(PoisonError::into_inner).noticed(ended_ns, noticed_ns);
        Reading { offset_ns, now_ns: self.now_ns() }
    }
}

/// An estimate of the offset between a device's clock and the host's, with the current host time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading {
    offset_ns: i64,
    now_ns: u64,
}

impl Reading {
    /// Returns how long ago `device_ns` was; zero if the estimate lies in the future.
    pub(crate) fn ago_ns(self, device_ns: u64) -> u64 {
        let ended_ns = i128::from(device_ns) + i128::from(self.offset_ns);
        u64::try_from(i128::from(self.now_ns) - ended_ns).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    /// Returns how long before its notice an end seems to have been.
    fn ago(offset: &mut Offset, ended_ns: u64, noticed_ns: u64) -> u64 {
        Reading { offset_ns: offset.noticed(ended_ns, noticed_ns), now_ns: noticed_ns }.ago_ns(ended_ns)
    }

    #[test]
    fn first_notice_has_no_delay() {
        assert_eq!(ago(&mut Offset::default(), 5_000, 700), 0);
        assert_eq!(ago(&mut Offset::default(), 700, 5_000), 0);
        // A device may count from 1970 and the host from the start of the program.
        assert_eq!(ago(&mut Offset::default(), 1_800_000_000 * SECOND, 7), 0);
        assert_eq!(ago(&mut Offset::default(), u64::MAX, 7), 0);
    }

    #[test]
    fn late_notice_has_a_delay() {
        let mut offset = Offset::default();
        assert_eq!(ago(&mut offset, 1_000, 51_000), 0);
        assert_eq!(ago(&mut offset, 2_000, 52_300), 300);
        // A prompter notice corrects the first estimate.
        assert_eq!(ago(&mut offset, 3_000, 52_400), 0);
        assert_eq!(ago(&mut offset, 4_000, 54_000), 600);
    }

    #[test]
    fn last_end_calibrates_a_batch() {
        let clock = Clock::default();
        let reading = clock.noticed(30_000, 0);
        let ago_ns = [10_000, 20_000, 30_000].map(|ended_ns| reading.ago_ns(ended_ns));
        assert_eq!([ago_ns[0] - ago_ns[1], ago_ns[1] - ago_ns[2]], [10_000, 10_000]);
    }

    /// Simulates an end every 10 ms (host time). Most are noticed up to 250 µs late, one in ten immediately. The
    /// device's clock drifts by `drift` parts per million. Returns the largest errors after the first second: (too
    /// early, too late).
    fn errors_ns(drift: f64) -> (u64, u64) {
        let (mut offset, mut early, mut late) = (Offset::default(), 0, 0);
        for at in 0..10_000_u64 {
            let ended_ns = at * SECOND / 100;
            let delay_ns = if at % 10 == 0 { 2_000 } else { 2_000 + at * 7_919 % 248_000 };
            let device_ns = 77 * SECOND + (ended_ns as f64 * (1.0 + drift * 1e-6)) as u64;
            let noticed_ns = ended_ns + delay_ns;
            let ago_ns = ago(&mut offset, device_ns, noticed_ns);
            assert!(ago_ns <= noticed_ns, "{ago_ns} ns before {noticed_ns} ns");
            if ended_ns > SECOND {
                early = early.max(ago_ns.saturating_sub(delay_ns));
                late = late.max(delay_ns.saturating_sub(ago_ns));
            }
        }
        (early, late)
    }

    #[test]
    fn drifting_clocks_are_followed() {
        for drift in [0.0, 40.0, -40.0, 90.0, -90.0] {
            let (early, late) = errors_ns(drift);
            // Within 0.1 s the clocks and the minimum may each diverge by 100 ppm.
            assert!(early <= 10 && late <= 2_000 + 20_000, "{drift} ppm: {early} ns too early, {late} ns too late");
        }
    }

    #[test]
    fn offset_grows_with_drift_only() {
        let mut offset = Offset::default();
        assert_eq!(ago(&mut offset, 0, 1_000), 0);
        // One second later the minimum may have grown by 100 µs, not by the full delay of this notice.
        assert_eq!(ago(&mut offset, SECOND, SECOND + 1_000_000), 898_901);
        // The growth does not depend on the number of calls.
        let mut often = Offset::default();
        ago(&mut often, 0, 1_000);
        for at in 1..=1_000_000 {
            let ended_ns = at * 1_000;
            assert!(ago(&mut often, ended_ns, ended_ns + 1_000_000) >= 898_900);
        }
    }

    #[test]
    fn ends_are_not_in_the_future() {
        let reading = Reading { offset_ns: 50, now_ns: 1_000 };
        assert_eq!((reading.ago_ns(900), reading.ago_ns(950), reading.ago_ns(2_000)), (50, 0, 0));
        let clock = Clock::default();
        assert!(clock.noticed(0, clock.now_ns()).ago_ns(0) < 60 * SECOND);
    }
}
