//! Specs as text, for command lines and environments.

use super::{
    faults::{Direction, Effect, Fault, Point, Times},
    spec::Spec,
};
use superscalar_runtime::{DeviceError, LinkInfo};

/// The devices that a text names.
///
/// The text is a list with commas. An item is `sim:` and the number of a [preset](Spec::preset), or a range of numbers as in Rust
/// (`0..3`, `0..=2`); behind it may stand settings, each after a colon:
///
/// | setting | meaning |
/// |---|---|
/// | `memory=64M` | bytes of the heap; K, M and G are powers of 1024 |
/// | `queues=2`, `depth=4` | queues for tasks; tasks that it is given ahead |
/// | `flops=2e9`, `rate=2e9`, `latency=10e-6` | of kernels: flops per second, bytes per second, seconds |
/// | `link=5e8`, `link-latency=20e-6` | to and from the host: bytes per second, seconds |
/// | `peer=8e8` | linked with each device of the list that has such a setting, too, by the slower of both rates |
/// | `fault=kernel@3` | one [`Fault`], and this setting can come again |
///
/// A device whose speed is set has it in its name, `sim:0:flops=2e9`: what was measured of another speed says nothing of it.
///
/// A rate of zero takes no modelled time. Without a peer setting, 0 and 1 are linked if both are there, as the presets say, and
/// `peer=none` cuts that.
///
/// A fault is its point, `@`, and the time that it strikes at, counted from one; then `+`, if it strikes from then on, and `!`, if
/// the device is lost by it. Points are `reserve`, `launch`, `kernel`, `in`, `out`, `peer` (copies that fail) and `call-in`,
/// `call-out`, `call-peer` (copies that are refused).
///
/// # Errors
/// If the text is none of these; the message names the part that is not understood.
///
/// ```
/// use superscalar::devices::sim;
/// let specs = sim::parse("sim:0..3")?;
/// assert_eq!(specs.len(), 3);
/// let specs = sim::parse("sim:0:memory=1M:fault=kernel@3+,sim:2:flops=0:fault=out@1!")?;
/// assert_eq!((specs[0].memory_bytes, specs[1].speed.flops_per_s), (1 << 20, 0.0));
/// assert!(sim::parse("sim:7").is_err());
/// # Ok::<(), superscalar::DeviceError>(())
/// ```
pub fn parse(text: &str) -> Result<Vec<Spec>, DeviceError> {
    let mut devices = Vec::new();
    for item in text.split(',').map(str::trim) {
        let mut parts = item.split(':');
        if parts.next() != Some("sim") {
            return Err(unknown(item, "`sim:` and a number, or a range of numbers"));
        }
        let numbers =
            parts.next().and_then(numbers).ok_or_else(|| unknown(item, "a number from 0 to 3, or a range"))?;
        let settings: Vec<&str> = parts.collect();
        for number in numbers {
            let spec = Spec::preset(number).ok_or_else(|| unknown(item, "a number from 0 to 3"))?;
            let mut device = Device { spec, peer: if number < 2 { Link::Preset } else { Link::None } };
            let named = |error| DeviceError::new(format!("`{item}`: {error}"));
            settings.iter().try_for_each(|setting| device.set(setting)).map_err(named)?;
            // Another speed is another device, whose capability weights are its own.
            for setting in settings.iter().filter(|setting| SPEEDS.contains(&name(setting))) {
                device.spec.name += &format!(":{setting}");
            }
            devices.push(device);
        }
    }
    let links: Vec<Link> = devices.iter().map(|device| device.peer).collect();
    for (place, device) in devices.iter_mut().enumerate() {
        let others = links.iter().enumerate().filter(|&(other, _)| other != place);
        let linked = others.filter_map(|(other, &link)| Some((u16::try_from(other).ok()?, device.peer.with(link)?)));
        device.spec.peers = linked.collect();
    }
    Ok(devices.into_iter().map(|device| device.spec).collect())
}

/// How a device is linked with its peers.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Link {
    None,
    /// With the other one of the first two presets.
    Preset,
    /// At this rate, with all that have one.
    Rate(f64),
}

impl Link {
    fn with(self, other: Self) -> Option<LinkInfo> {
        let slower = match (self, other) {
            (Self::Preset, Self::Preset) => 0.8e9,
            // Zero is no limit.
            (Self::Rate(a), Self::Rate(b)) if a == 0.0 || b == 0.0 => a.max(b),
            (Self::Rate(a), Self::Rate(b)) => a.min(b),
            _ => return None,
        };
        Some(LinkInfo { bytes_per_s: slower, latency_ns: 15_000 })
    }
}

const SETTINGS: &str =
    "memory, queues, depth, flops, rate, latency, link, link-latency, peer, fault, each with `=` and a value";
/// Those that say how fast a device computes.
const SPEEDS: [&str; 3] = ["flops", "rate", "latency"];

struct Device {
    spec: Spec,
    peer: Link,
}

impl Device {
    fn set(&mut self, setting: &str) -> Result<(), DeviceError> {
        let (name, value) = setting.split_once('=').ok_or_else(|| unknown(setting, SETTINGS))?;
        let spec = &mut self.spec;
        match name {
            "memory" => spec.memory_bytes = bytes(value).ok_or_else(|| unknown(setting, "bytes, such as 64M"))?,
            "queues" => spec.queues = value.parse().map_err(|_| unknown(setting, "a number of queues"))?,
            "depth" => spec.depth = value.parse().map_err(|_| unknown(setting, "a number of tasks"))?,
            "flops" => spec.speed.flops_per_s = rate(setting, value)?,
            "rate" => spec.speed.bytes_per_s = rate(setting, value)?,
            "latency" => spec.speed.latency_ns = (rate(setting, value)? * 1e9) as u64,
            "link" => spec.host_link.bytes_per_s = rate(setting, value)?,
            "link-latency" => spec.host_link.latency_ns = (rate(setting, value)? * 1e9) as u64,
            "peer" if value == "none" => self.peer = Link::None,
            "peer" => self.peer = Link::Rate(rate(setting, value)?),
            "fault" => spec.faults.0.push(fault(value).ok_or_else(|| unknown(setting, "a fault, such as kernel@3"))?),
            _ => return Err(unknown(setting, &format!("one of the settings {SETTINGS}"))),
        }
        Ok(())
    }
}

/// The part of a setting before the sign.
fn name(setting: &str) -> &str {
    setting.split('=').next().unwrap_or_default()
}

fn unknown(text: &str, expected: &str) -> DeviceError {
    DeviceError::new(format!("`{text}` is not understood: expected {expected}"))
}

fn numbers(text: &str) -> Option<std::ops::Range<u16>> {
    let (first, end) = match text.split_once("..") {
        Some((first, end)) => match end.strip_prefix('=') {
            Some(last) => (first.parse().ok()?, last.parse::<u16>().ok()?.checked_add(1)?),
            None => (first.parse().ok()?, end.parse().ok()?),
        },
        None => {
            let number: u16 = text.parse().ok()?;
            (number, number.checked_add(1)?)
        }
    };
    (first < end).then_some(first..end)
}

fn bytes(text: &str) -> Option<usize> {
    let (digits, shift) = match text.char_indices().last()? {
        (at, 'K' | 'k') => (&text[..at], 10),
        (at, 'M' | 'm') => (&text[..at], 20),
        (at, 'G' | 'g') => (&text[..at], 30),
        _ => (text, 0),
    };
    digits.parse::<usize>().ok()?.checked_mul(1 << shift)
}

fn rate(setting: &str, value: &str) -> Result<f64, DeviceError> {
    let number: Option<f64> = value.parse().ok();
    number.filter(|rate| rate.is_finite() && *rate >= 0.0).ok_or_else(|| unknown(setting, "a number, not negative"))
}

fn fault(text: &str) -> Option<Fault> {
    let (point, rest) = text.split_once('@')?;
    let (rest, effect) = rest.strip_suffix('!').map_or((rest, Effect::Fails), |rest| (rest, Effect::Loses));
    let (rest, times) = rest.strip_suffix('+').map_or((rest, Times::Once), |rest| (rest, Times::Forever));
    let point = match point {
        "reserve" => Point::Reserve,
        "launch" => Point::Launch,
        "kernel" => Point::Kernel,
        "in" => Point::Copy(Direction::In),
        "out" => Point::Copy(Direction::Out),
        "peer" => Point::Copy(Direction::Peer),
        "call-in" => Point::CopyCall(Direction::In),
        "call-out" => Point::CopyCall(Direction::Out),
        "call-peer" => Point::CopyCall(Direction::Peer),
        _ => return None,
    };
    let nth = rest.parse().ok().filter(|&nth| nth > 0)?;
    Some(Fault { point, nth, times, effect })
}
