//! The devices that the routines run on besides the host, and their statistics.

use crate::arguments::Arguments;
use std::io::{self, Write};
use superscalar::devices::{self, Opened};
use superscalar_dla::Distribution;
use superscalar_runtime::{Builder, Runtime};

/// Opens the devices named by the arguments, or else by the environment, and adds them to the builder.
///
/// # Errors
/// If a device cannot be opened; the message names the argument.
pub fn add_to(builder: Builder, arguments: &Arguments) -> Result<Builder, String> {
    let opened = match &arguments.devices {
        Some(text) => {
            let memory_bytes = match arguments.device_memory {
                None => devices::memory_from_environment().map_err(|error| error.to_string())?,
                given => given,
            };
            let opened = devices::open(text, memory_bytes);
            Some(opened.map_err(|error| format!("--devices: {error}"))?)
        }
        None => devices::from_environment().map_err(|error| error.to_string())?,
    };
    Ok(match opened {
        Some(opened) => Opened::add_to(opened, builder),
        None => builder,
    })
}

/// Returns the names of the devices, for rows.
pub fn names(runtime: &Runtime) -> Vec<String> {
    runtime.devices().into_iter().map(|device| device.name).collect()
}

/// Writes a line for each device, and the distribution.
pub fn write_head(runtime: &Runtime, distribution: Option<Distribution>, out: &mut impl Write) -> io::Result<()> {
    for device in runtime.devices() {
        let memory = device.memory.map_or("host memory".to_owned(), |memory| format!("{} bytes", memory.bytes));
        writeln!(out, "# device {}: {}, {} queues, {memory}", device.name, device.kind.0, device.queues)?;
    }
    if let (Some(distribution), true) = (distribution, runtime.has_devices()) {
        writeln!(out, "# distribution {distribution}")?;
    }
    Ok(())
}

/// Writes the number of tasks of each device, and the bytes moved over each link, by kind.
pub fn write_work(runtime: &Runtime, out: &mut impl Write) -> io::Result<()> {
    for (device, tasks) in runtime.devices().iter().zip(runtime.tasks_issued()) {
        writeln!(out, "# {}: {tasks} tasks", device.name)?;
    }
    for link in runtime.traffic().iter().filter(|link| link.copies > 0) {
        let kind = format!("{:?}", link.kind).to_lowercase();
        writeln!(out, "# {} to {} ({kind}): {} bytes in {} copies", link.from, link.to, link.bytes, link.copies)?;
    }
    Ok(())
}
