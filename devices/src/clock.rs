//! [`Clock`]: when a device ended something, by the host's clock.
//!
//! Drivers tell the moments of a device by a clock of its own, which counts from anywhere and runs a little faster or slower than the host's.
//! To ask for both at once would mean to wait for the device. But every end that the issuer notices tells something: it can not have been
//! before it was noticed, so the time of noticing less the device's time is no less than what lies between the clocks. The least of what was
//! seen, [`Offset`], is nearly that, as some ends are noticed at once; and what is made of it is late by as much as the promptest notice was,
//! never early. For a device whose clock runs more slowly than the host's the distance grows, so the least is allowed to grow, too: by
//! [`DRIFT_PER_S`] nanoseconds a second, more than quartz clocks part. If the device's clock is the faster one, later notices are less.

use std::{
    sync::{Mutex, PoisonError},
    time::Instant,
};

/// Two clocks part by less than a hundred millionths.
const DRIFT_PER_S: u64 = 100_000;

/// What is to be added to a device's time to have the host's, at most. Both are in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
struct Offset(Option<Least>);

#[derive(Clone, Copy, Debug)]
struct Least {
    offset_ns: i64,
    /// When that was seen, by the host's clock.
    seen_ns: u64,
}

impl Offset {
    /// Something ended then by the device's clock, and was noticed then by the host's: returns what lies between the clocks.
    fn noticed(&mut self, ended_ns: u64, noticed_ns: u64) -> i64 {
        let seen_ns = i64::try_from(i128::from(noticed_ns) - i128::from(ended_ns)).unwrap_or(i64::MAX);
        let offset_ns = self.0.map_or(seen_ns, |least| {
            let passed_ns = u128::from(noticed_ns.saturating_sub(least.seen_ns));
            let drift_ns = i64::try_from(passed_ns * u128::from(DRIFT_PER_S) / 1_000_000_000).unwrap_or(i64::MAX);
            // The earlier one stays as it is while it is the less: what it has grown by is not rounded off again and again.
            seen_ns.min(least.offset_ns.saturating_add(drift_ns))
        });
        if self.0.is_none() || offset_ns == seen_ns {
            self.0 = Some(Least { offset_ns, seen_ns: noticed_ns });
        }
        offset_ns
    }
}

/// The clock of a device, as the ends that are noticed tell of it. All queues of a device have one.
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
    /// The host's clock.
    pub(crate) fn now_ns(&self) -> u64 {
        u64::try_from(self.epoch.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// Something ended then by the device's clock, and was noticed then by the host's. Of several that are noticed at once, the last to end says
    /// most, and what is returned holds for all of them.
    pub(crate) fn noticed(&self, ended_ns: u64, noticed_ns: u64) -> Reading {
        let offset_ns = self.offset.lock().unwrap_or_else(PoisonError::into_inner).noticed(ended_ns, noticed_ns);
        Reading { offset_ns, now_ns: self.now_ns() }
    }
}

/// How a device's clock and the host's stand to each other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading {
    offset_ns: i64,
    now_ns: u64,
}

impl Reading {
    /// How long before now that was by the device's clock: no time, if it seems to come yet.
    pub(crate) fn ago_ns(self, device_ns: u64) -> u64 {
        let ended_ns = i128::from(device_ns) + i128::from(self.offset_ns);
        u64::try_from(i128::from(self.now_ns) - ended_ns).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    /// How long before it was noticed something has ended, as it seems.
    fn ago(offset: &mut Offset, ended_ns: u64, noticed_ns: u64) -> u64 {
        Reading { offset_ns: offset.noticed(ended_ns, noticed_ns), now_ns: noticed_ns }.ago_ns(ended_ns)
    }

    #[test]
    fn what_is_noticed_first_seems_to_have_ended_just_then() {
        assert_eq!(ago(&mut Offset::default(), 5_000, 700), 0);
        assert_eq!(ago(&mut Offset::default(), 700, 5_000), 0);
        // A device may count from 1970, and the host from now.
        assert_eq!(ago(&mut Offset::default(), 1_800_000_000 * SECOND, 7), 0);
        assert_eq!(ago(&mut Offset::default(), u64::MAX, 7), 0);
    }

    #[test]
    fn what_is_noticed_later_has_ended_before() {
        let mut offset = Offset::default();
        assert_eq!(ago(&mut offset, 1_000, 51_000), 0);
        assert_eq!(ago(&mut offset, 2_000, 52_300), 300);
        // One that is noticed sooner than the first corrects it.
        assert_eq!(ago(&mut offset, 3_000, 52_400), 0);
        assert_eq!(ago(&mut offset, 4_000, 54_000), 600);
    }

    #[test]
    fn of_a_batch_the_last_tells_of_all() {
        let clock = Clock::default();
        let reading = clock.noticed(30_000, 0);
        let ago_ns = [10_000, 20_000, 30_000].map(|ended_ns| reading.ago_ns(ended_ns));
        assert_eq!([ago_ns[0] - ago_ns[1], ago_ns[1] - ago_ns[2]], [10_000, 10_000]);
    }

    /// Ends once in ten milliseconds by the host's clock, which are noticed up to 250 µs late, and one in ten at once; the device's clock
    /// goes wrong by so many millionths. Returns how wrong the ends seem at most, after the first second, as too early and too late.
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
    fn clocks_that_part_are_followed() {
        for drift in [0.0, 40.0, -40.0, 90.0, -90.0] {
            let (early, late) = errors_ns(drift);
            // Within a tenth of a second both the clocks and the least may part by a hundred millionths.
            assert!(early <= 10 && late <= 2_000 + 20_000, "{drift} ppm: {early} ns too early, {late} ns too late");
        }
    }

    #[test]
    fn the_least_rises_no_faster_than_clocks_part() {
        let mut offset = Offset::default();
        assert_eq!(ago(&mut offset, 0, 1_000), 0);
        // A second later the least may be 100 µs more, not all that this notice is late.
        assert_eq!(ago(&mut offset, SECOND, SECOND + 1_000_000), 898_901);
        // It does not matter how often that is asked.
        let mut often = Offset::default();
        ago(&mut often, 0, 1_000);
        for at in 1..=1_000_000 {
            let ended_ns = at * 1_000;
            assert!(ago(&mut often, ended_ns, ended_ns + 1_000_000) >= 898_900);
        }
    }

    #[test]
    fn no_end_is_after_now() {
        let reading = Reading { offset_ns: 50, now_ns: 1_000 };
        assert_eq!((reading.ago_ns(900), reading.ago_ns(950), reading.ago_ns(2_000)), (50, 0, 0));
        let clock = Clock::default();
        assert!(clock.noticed(0, clock.now_ns()).ago_ns(0) < 60 * SECOND);
    }
}
