//! Devices by their names, so that a program can be told in a word, or by its environment, what it shall run on.
//!
//! The text is a list with commas:
//!
//! | item | meaning |
//! |---|---|
//! | `cpu` | the host's workers take updates, too; without it they do only what no device can do |
//! | `sim:0`, `sim:0..3` | simulated devices; settings follow after colons, see [`sim::parse`] |
//! | `cuda:0`, `cuda:0..4` | an NVIDIA GPU, by CUDA's number; several of them, which copy from each other directly |
//! | `opencl:0`, `opencl:0..2` | compute units or devices of the system's OpenCL drivers; `opencl:0-1` is two as one |
//!
//! CUDA is found at run time (the cargo feature `cuda` is one of the default ones); OpenCL needs the cargo feature
//! `opencl`. A device that is not there is an error: nothing runs elsewhere in its place.
//!
//! ```
//! use superscalar::{devices, dla::{Matrix, Options, potrf}, kernels::Uplo};
//!
//! let rt = devices::open("cpu,sim:0..2", None)?.builder()
//! #   .weights_file(None)
//!     .build()?;
//! let mut a = Matrix::from_fn(300, 300, |i, j| if i == j { 300.0 } else { 1.0 });
//! potrf(&rt, Uplo::Lower, a.as_mut(), &Options::default().nb(64))?;
//! assert!(devices::open("sim:7", None).is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::sync::Arc;
use superscalar_devices::sim::Machine;
use superscalar_runtime::{Builder, Device, DeviceError, Runtime, environment};

/// The environment variable that names devices.
pub const VARIABLE: &str = "SUPERSCALAR_DEVICES";
/// The environment variable that says how many bytes of each device are used.
pub const MEMORY_VARIABLE: &str = "SUPERSCALAR_DEVICE_MEMORY";

#[cfg(feature = "cuda")]
pub use superscalar_devices::cuda;
#[cfg(feature = "opencl")]
pub use superscalar_devices::opencl;
pub use superscalar_devices::sim;

/// Host memory that GPUs copy from and to at the full speed of their bus.
#[cfg(feature = "cuda")]
pub use superscalar_devices::cuda::PinnedBuffer;

/// What a text names.
#[derive(Clone)]
pub struct Opened {
    /// The devices, in the order in which they must be given to one builder, before any other.
    pub devices: Vec<Arc<dyn Device>>,
    /// Whether `cpu` is among the names.
    pub has_cpu: bool,
}

impl Opened {
    /// A builder of a runtime with these devices.
    pub fn builder(self) -> Builder {
        self.add_to(Runtime::builder())
    }

    /// Gives the devices to a builder that has none.
    pub fn add_to(self, builder: Builder) -> Builder {
        let has_none = self.devices.is_empty();
        let builder = self.devices.into_iter().fold(builder, Builder::device);
        builder.host_helps(self.has_cpu || has_none)
    }
}

/// Opens the devices that the text names. `memory_bytes` is the size of each device's heap, and overrides the setting
/// `memory` of simulated devices. With `None`, a heap has the memory that the device has.
///
/// # Errors
/// If the text is not valid, or a device does not exist or cannot be opened; the message names it.
pub fn open(text: &str, memory_bytes: Option<usize>) -> Result<Opened, DeviceError> {
    let mut opened = Opened { devices: Vec::new(), has_cpu: false };
    let items: Vec<&str> = text.split(',').map(str::trim).collect();
    let kind = |item: &str| item.split(':').next().unwrap_or_default().to_owned();
    for group in items.chunk_by(|one, next| kind(one) == kind(next)) {
        let first = u16::try_from(opened.devices.len()).map_err(|_| DeviceError::new("more devices than indices"))?;
        match kind(group[0]).as_str() {
            "cpu" if group == ["cpu"] && !opened.has_cpu => opened.has_cpu = true,
            "sim" => opened.devices.extend(simulated(group, first, memory_bytes)?),
            "cuda" => opened.devices.extend(open_cuda(group, first, memory_bytes)?),
            "opencl" => opened.devices.extend(open_opencl(group, first, memory_bytes)?),
            _ => {
                let why = "expected `cpu` (once), `cuda:N`, `opencl:N` or `sim:N`, with commas between them";
                return Err(DeviceError::new(format!("`{}`: {why}", group.join(","))));
            }
        }
    }
    Ok(opened)
}

/// The devices that the environment names, if it does.
///
/// # Errors
/// As for [`open`], and for a variable that is not a text or not a number; the message names it.
pub fn from_environment() -> Result<Option<Opened>, DeviceError> {
    let memory_bytes = memory_from_environment()?;
    let Some(text) = text_of(VARIABLE)? else { return Ok(None) };
    let named = |error: DeviceError| DeviceError::new(format!("{VARIABLE}={text}: {error}"));
    open(&text, memory_bytes).map(Some).map_err(named)
}

/// The number of bytes of each device that are used, if the environment says it.
///
/// # Errors
/// If the variable is not a number of bytes; the message names it.
pub fn memory_from_environment() -> Result<Option<usize>, DeviceError> {
    let number =
        |text: String| bytes(&text).map_err(|why| DeviceError::new(format!("{MEMORY_VARIABLE}={text}: {why}")));
    text_of(MEMORY_VARIABLE)?.map(number).transpose()
}

/// A builder with the devices that the environment names, or with none.
///
/// # Errors
/// As for [`from_environment`].
pub fn builder() -> Result<Builder, DeviceError> {
    Ok(from_environment()?.map_or_else(Runtime::builder, Opened::builder))
}

fn text_of(variable: &str) -> Result<Option<String>, DeviceError> {
    let text = environment::variable(variable).map(|text| text.into_string());
    text.transpose().map_err(|_| DeviceError::new(format!("{variable} is not UTF-8")))
}

/// A number of bytes: K, M and G are powers of 1024.
///
/// ```
/// assert_eq!(superscalar::devices::bytes("64M"), Ok(64 << 20));
/// assert!(superscalar::devices::bytes("0").is_err());
/// ```
///
/// # Errors
/// If it is no such number, or none that memory can have; a text that says what is expected.
pub fn bytes(text: &str) -> Result<usize, &'static str> {
    let unit =
        |last: char| [('K', 10), ('M', 20), ('G', 30)].into_iter().find(|(name, _)| *name == last.to_ascii_uppercase());
    let (digits, shift) = match text.chars().next_back().and_then(unit) {
        Some((_, shift)) => (&text[..text.len() - 1], shift),
        None => (text, 0),
    };
    let number = digits.parse::<usize>().ok().and_then(|number| number.checked_mul(1 << shift));
    number.filter(|&bytes| bytes > 0).ok_or("expected a number of bytes, such as 1500000 or 64M")
}

/// Simulated devices that know each other.
fn simulated(items: &[&str], first: u16, memory_bytes: Option<usize>) -> Result<Vec<Arc<dyn Device>>, DeviceError> {
    let mut specs = sim::parse(&items.join(","))?;
    for spec in &mut specs {
        spec.memory_bytes = memory_bytes.unwrap_or(spec.memory_bytes);
    }
    let devices = Machine::start_at(first, &specs)?;
    Ok(devices.into_iter().map(|device| device as Arc<dyn Device>).collect())
}

/// GPUs that know each other.
#[cfg(feature = "cuda")]
fn open_cuda(items: &[&str], first: u16, memory_bytes: Option<usize>) -> Result<Vec<Arc<dyn Device>>, DeviceError> {
    use superscalar_devices::cuda::{Options, count, open_all};
    let mut ordinals = Vec::new();
    for name in items.iter().flat_map(|item| each_of(item)) {
        let ordinal = name.strip_prefix("cuda:").and_then(|number| number.parse::<usize>().ok());
        let ordinal = ordinal.ok_or_else(|| DeviceError::new(format!("`{name}`: expected `cuda:N` or `cuda:N..M`")))?;
        let there = count()?;
        if ordinal >= there {
            return Err(DeviceError::new(format!("`{name}`: the number of GPUs that CUDA sees is {there}")));
        }
        ordinals.push(ordinal);
    }
    let options = Options { heap_bytes: memory_bytes, ..Options::default() };
    Ok(open_all(&ordinals, first, &options)?.into_iter().map(|device| device as Arc<dyn Device>).collect())
}

#[cfg(not(feature = "cuda"))]
fn open_cuda(items: &[&str], _: u16, _: Option<usize>) -> Result<Vec<Arc<dyn Device>>, DeviceError> {
    let why = "this program was built without CUDA; build it with `--features cuda`";
    Err(DeviceError::new(format!("`{}`: {why}", items.join(","))))
}

#[cfg(feature = "opencl")]
fn open_opencl(items: &[&str], first: u16, memory_bytes: Option<usize>) -> Result<Vec<Arc<dyn Device>>, DeviceError> {
    use superscalar_devices::opencl::{OpenclDevice, Settings, devices, named};
    let (found, mut wanted) = (devices()?, Vec::new());
    for item in items {
        for name in each_of(item) {
            let settings = Settings { memory_bytes, ..Settings::new(first + wanted.len() as u16) };
            wanted.push((named(&name, &found)?, settings));
        }
    }
    Ok(OpenclDevice::open(&wanted)?.into_iter().map(|device| device as Arc<dyn Device>).collect())
}

#[cfg(not(feature = "opencl"))]
fn open_opencl(items: &[&str], _: u16, _: Option<usize>) -> Result<Vec<Arc<dyn Device>>, DeviceError> {
    let why = "this program was built without OpenCL; build it with `--features opencl`";
    Err(DeviceError::new(format!("`{}`: {why}", items.join(","))))
}

/// The names in a range of names; a name that is none stands for itself.
#[cfg(any(feature = "cuda", feature = "opencl"))]
fn each_of(item: &str) -> Vec<String> {
    let range = || {
        let (kind, numbers) = item.split_once(':')?;
        let (first, end) = numbers.split_once("..")?;
        let end = match end.strip_prefix('=') {
            Some(last) => last.parse::<u16>().ok()?.checked_add(1)?,
            None => end.parse().ok()?,
        };
        let names: Vec<String> = (first.parse().ok()?..end).map(|number: u16| format!("{kind}:{number}")).collect();
        (!names.is_empty()).then_some(names)
    };
    range().unwrap_or_else(|| vec![item.to_owned()])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> String {
        open(text, None).err().expect(text).to_string()
    }

    #[test]
    fn names_become_devices_in_their_order() -> Result<(), DeviceError> {
        let opened = open("sim:2, cpu, sim:0..2:depth=3", Some(1 << 20))?;
        let infos: Vec<_> = opened.devices.iter().map(|device| device.info()).collect();
        assert_eq!(infos.iter().map(|info| info.name.as_str()).collect::<Vec<_>>(), ["sim:2", "sim:0", "sim:1"]);
        assert!(opened.has_cpu && infos.iter().all(|info| info.memory.as_ref().is_some_and(|it| it.bytes == 1 << 20)));
        // Peers are named by their index in the runtime.
        assert_eq!(infos[1].memory.as_ref().map(|it| it.peers[0].0), Some(2));
        Ok(())
    }

    #[test]
    fn what_is_not_there_is_an_error_that_names_it() {
        for text in ["", "gpu:0", "cpu,sim:0,cpu", "cpu:1", "sim:9", "sim:0:memory=x", "sim", "cuda:x", "cuda:999"] {
            let word = text.rsplit(',').next().unwrap_or_default();
            assert!(message(text).contains(word), "{text}: {}", message(text));
        }
        #[cfg(not(feature = "opencl"))]
        assert!(message("opencl:0").contains("--features opencl"));
    }

    #[test]
    fn numbers_of_bytes() {
        assert_eq!(["1", "2k", "3M", "1G"].map(bytes), [1, 2 << 10, 3 << 20, 1 << 30].map(Ok));
        for text in ["", "M", "-1", "1T", "99999999999G", "0", "1é"] {
            assert!(bytes(text).is_err(), "{text}");
        }
    }
}
