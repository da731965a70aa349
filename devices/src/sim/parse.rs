//! Parses device specs from text, for command lines and environment variables.

use super::{
    faults::{Direction, Effect, Fault, Point, Times},
    spec::Spec,
};
use superscalar_runtime::{DeviceError, LinkInfo};

/// Parses a list of simulated devices.
///
/// The list is separated by commas. An item is `sim:` followed by the number of a [preset](Spec::preset) or a range of
/// numbers as in Rust (`0..3`, `0..=2`). Settings may follow, each after a colon:
///
/// | setting | meaning |
/// |---|---|
/// | `memory=64M` | bytes of the heap; K, M and G are powers of 1024 |
/// | `queues=2`, `depth=4` | queues for tasks; tasks issued ahead of their completion |
/// | `flops=2e9`, `rate=2e9`, `latency=10e-6` | of kernels: flops per second, bytes per second, seconds |
/// | `link=5e8`, `link-latency=20e-6` | to and from the host: bytes per second, seconds |
/// | `peer=8e8` | linked with every device in the list that has this setting, at the lower of both rates |
/// | `fault=kernel@3` | one [`Fault`]; may be repeated |
///
/// A device's speed settings become part of its name, `sim:0:flops=2e9`, since measurements of another speed do not
/// apply to it.
///
/// A rate of zero takes no modelled time. Without a `peer` setting, devices 0 and 1 are linked if both are in the list,
/// as in the presets; `peer=none` removes that link.
///
/// A fault consists of its point, `@`, and the occurrence at which it strikes, counted from one. A `+` after that means
/// that it strikes from then on; a `!` means that the device is lost. The points are `reserve`, `launch`, `kernel`,
/// `in`, `out`, `peer` (copies that fail) and `call-in`, `call-out`, `call-peer` (copies that are refused).
///
/// # Errors
/// If the text does not have this form; the message names the part that is wrong and what is expected.
///
/// ```
/// # mod superscalar { pub use superscalar_devices as devices; pub use superscalar_runtime::*; }
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
            return Err(not_understood(item, "`sim:` and a number, or a range of numbers"));
        }
        let numbers =
            parts.next().and_then(numbers).ok_or_else(|| not_understood(item, "a number from 0 to 3, or a range"))?;
        let settings: Vec<&str> = parts.collect();
        for number in numbers {
            let spec = Spec::preset(number).ok_or_else(|| not_understood(item, "a number from 0 to 3"))?;
            let mut device = ParsedDevice { spec, peer: if number < 2 { PeerLink::Preset } else { PeerLink::None } };
            let named = |error| DeviceError::new(format!("`{item}`: {error}"));
            settings.iter().try_for_each(|setting| device.set(setting)).map_err(named)?;
            // A different speed makes a different device, with its own capability weights.
            for setting in settings.iter().filter(|setting| SPEEDS.contains(&name(setting))) {
                device.spec.name += &format!(":{setting}");
            }
            devices.push(device);
        }
    }
    let links: Vec<PeerLink> = devices.iter().map(|device| device.peer).collect();
    for (place, device) in devices.iter_mut().enumerate() {
        let others = links.iter().enumerate().filter(|&(other, _)| other != place);
        let linked = others.filter_map(|(other, &link)| Some((u16::try_from(other).ok()?, device.peer.with(link)?)));
        device.spec.peers = linked.collect();
    }
    Ok(devices.into_iter().map(|device| device.spec).collect())
}

/// How a device is linked with its peers.
#[derive(Clone, Copy, Debug, PartialEq)]
enum PeerLink {
    None,
    /// With the other one of presets 0 and 1.
    Preset,
    /// At this rate, with all devices that have a rate.
    Rate(f64),
}

impl PeerLink {
    fn with(self, other: Self) -> Option<LinkInfo> {
        let slower = match (self, other) {
            (Self::Preset, Self::Preset) => 0.8e9,
            // Zero means no limit.
            (Self::Rate(a), Self::Rate(b)) if a == 0.0 || b == 0.0 => a.max(b),
            (Self::Rate(a), Self::Rate(b)) => a.min(b),
            _ => return None,
        };
        Some(LinkInfo { bytes_per_s: slower, latency_ns: 15_000 })
    }
}

const SETTINGS: &str =
    "memory, queues, depth, flops, rate, latency, link, link-latency, peer, fault, each with `=` and a value";
/// The settings that say how fast a device computes.
const SPEEDS: [&str; 3] = ["flops", "rate", "latency"];

struct ParsedDevice {
    spec: Spec,
    peer: PeerLink,
}

impl ParsedDevice {
    fn set(&mut self, setting: &str) -> Result<(), DeviceError> {
        let (name, value) = setting.split_once('=').ok_or_else(|| not_understood(setting, SETTINGS))?;
        let spec = &mut self.spec;
        match name {
            "memory" => {
                spec.memory_bytes = bytes(value).ok_or_else(|| not_understood(setting, "bytes, such as 64M"))?
            }
            "queues" => spec.queues = value.parse().map_err(|_| not_understood(setting, "a number of queues"))?,
            "depth" => spec.depth = value.parse().map_err(|_| not_understood(setting, "a number of tasks"))?,
            "flops" => spec.speed.flops_per_s = rate(setting, value)?,
            "rate" => spec.speed.bytes_per_s = rate(setting, value)?,
            "latency" => spec.speed.latency_ns = (rate(setting, value)? * 1e9) as u64,
            "link" => spec.host_link.bytes_per_s = rate(setting, value)?,
            "link-latency" => spec.host_link.latency_ns = (rate(setting, value)? * 1e9) as u64,
            "peer" if value == "none" => self.peer = PeerLink::None,
            "peer" => self.peer = PeerLink::Rate(rate(setting, value)?),
            "fault" => {
                spec.faults.0.push(fault(value).ok_or_else(|| not_understood(setting, "a fault, such as kernel@3"))?)
            }
            _ => return Err(not_understood(setting, &format!("one of the settings {SETTINGS}"))),
        }
        Ok(())
    }
}

/// Returns the part of a setting before the `=`.
fn name(setting: &str) -> &str {
    setting.split('=').next().unwrap_or_default()
}

fn not_understood(text: &str, expected: &str) -> DeviceError {
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
    number
        .filter(|rate| rate.is_finite() && *rate >= 0.0)
        .ok_or_else(|| not_understood(setting, "a number of at least zero"))
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
