//! Settings: from code, from the environment, or by default. One table says what there is.

use super::Runtime;
#[cfg(feature = "placement")]
use crate::{cache::CacheFile, placement};
use crate::{
    environment::{file_name, variable},
    error::Error,
    schedule::{Policy, PolicyName, UnknownPolicy},
    shared::MakePolicy,
    topology,
};
use std::path::PathBuf;

/// Settings, resolved.
pub(super) struct Settings {
    pub(super) workers: u32,
    pub(super) cores: Vec<topology::Core>,
    pub(super) policy: MakePolicy,
    /// Whether it is the user's, and so is checked.
    pub(super) has_custom_policy: bool,
    pub(super) window: u64,
    pub(super) trace: bool,
    pub(super) trace_file: Option<PathBuf>,
    pub(super) trace_memory_bytes: usize,
    #[cfg(feature = "placement")]
    pub(super) places: placement::Settings,
}

/// Settings for a [`Runtime`]; made by [`Runtime::builder`].
///
/// What is not set here is read from the environment, and what is not set there has a default:
#[doc = concat!("\n", include_str!("settings.md"))]
#[derive(Default)]
#[must_use = "a builder does nothing until it builds"]
pub struct Builder {
    workers: Option<usize>,
    bind: Option<bool>,
    policy: Option<PolicyName>,
    custom_policy: Option<MakePolicy>,
    window: Option<usize>,
    trace: Option<bool>,
    trace_file: Option<PathBuf>,
    trace_memory_mib: Option<usize>,
    #[cfg(feature = "placement")]
    pub(super) places: placement::Settings,
}

/// One row of the table of settings.
struct Setting {
    variable: &'static str,
    default: &'static str,
    meaning: &'static str,
    /// Takes the variable's value into a builder that does not have the setting yet.
    parse: fn(&mut Builder, &str) -> Result<(), String>,
}

/// A runtime has at most so many workers.
const WORKERS_MAX: usize = 4096;
/// A window has at most so many tasks: fewer than slots, so that insertion finds one.
const WINDOW_MAX: usize = 1 << 22;
const WINDOW_DEFAULT: usize = 4096;
/// A recording takes at most so many MiB: more than any viewer opens.
const TRACE_MEMORY_MIB_MAX: usize = 1 << 20;
/// Some two and a half million tasks with three hazards each.
const TRACE_MEMORY_MIB_DEFAULT: usize = 512;

const SETTINGS: &[Setting] = &[
    Setting {
        variable: "SUPERSCALAR_WORKERS",
        default: "one per physical core, or what a quota allows",
        meaning: "how many threads run tasks, 1 to 4096",
        parse: |builder, text| fill(&mut builder.workers, whole(text, WORKERS_MAX)),
    },
    Setting {
        variable: "SUPERSCALAR_BIND",
        default: "on, unless there are more workers than cores",
        meaning: "`on` binds each worker to a core of its own, `off` leaves it to the system",
        parse: |builder, text| match text {
            "on" | "off" => fill(&mut builder.bind, Ok(text == "on")),
            _ => Err("expected `on` or `off`".to_owned()),
        },
    },
    Setting {
        variable: "SUPERSCALAR_POLICY",
        default: "`priority`; with devices `capability-weights`",
        meaning: "which ready task runs next: `fifo`, `work-stealing`, `priority`, `capability-weights` or `demand-driven`",
        parse: |builder, text| {
            fill(&mut builder.policy, text.parse().map_err(|error: UnknownPolicy| error.to_string()))
        },
    },
    Setting {
        variable: "SUPERSCALAR_WINDOW",
        default: "4096",
        meaning: "how many tasks of one scope are in flight at most, 1 to 4194304; the inserting thread then works",
        parse: |builder, text| fill(&mut builder.window, whole(text, WINDOW_MAX)),
    },
    Setting {
        variable: "SUPERSCALAR_TRACE",
        default: "off",
        meaning: "a file to which each runtime writes a Chrome trace while it runs; a further runtime numbers its file, and `%p` is the process's number",
        parse: |builder, text| {
            if builder.trace != Some(false) {
                builder.trace_file.get_or_insert_with(|| file_name(text).into());
            }
            Ok(())
        },
    },
    Setting {
        variable: "SUPERSCALAR_TRACE_MEMORY",
        default: "512",
        meaning: "how many MiB of records are kept, 1 to 1048576; then the oldest are dropped, and counted",
        parse: |builder, text| fill(&mut builder.trace_memory_mib, whole(text, TRACE_MEMORY_MIB_MAX)),
    },
    #[cfg(feature = "placement")]
    Setting {
        variable: "SUPERSCALAR_WEIGHTS",
        default: "`<processor>.weights.json` in the folder for caches",
        meaning: "the file in which capability weights are kept from run to run where there are devices, or `off`",
        parse: |builder, text| {
            builder.places.weights_file.get_or_insert_with(|| (text != "off").then(|| CacheFile::named(text)));
            Ok(())
        },
    },
];

/// Gives a setting its value, unless it has one.
fn fill<T>(setting: &mut Option<T>, value: Result<T, String>) -> Result<(), String> {
    setting.get_or_insert(value?);
    Ok(())
}

fn whole(text: &str, most: usize) -> Result<usize, String> {
    let value = text.trim().parse::<usize>().ok().filter(|value| (1..=most).contains(value));
    value.ok_or_else(|| format!("expected a whole number from 1 to {most}"))
}

/// A value from one to the most that there can be.
fn within(setting: &str, value: usize, most: usize, unit: &str) -> Result<usize, Error> {
    let is_within = (1..=most).contains(&value);
    is_within.then_some(value).ok_or_else(|| Error::setting(format!("{setting}({value}): expected 1 to {most}{unit}")))
}

impl Builder {
    /// How many threads run tasks.
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = Some(workers);
        self
    }

    /// Whether each worker is bound to a core of its own.
    pub fn bind(mut self, bind: bool) -> Self {
        self.bind = Some(bind);
        self
    }

    /// Which ready task runs next, by one of the policies that come with the runtime. Without this, and without `SUPERSCALAR_POLICY`:
    /// `capability-weights` if there are devices, else `priority`.
    pub fn policy(mut self, policy: PolicyName) -> Self {
        self.policy = Some(policy);
        self
    }

    /// Which ready task runs next, by a policy of one's own, made for so many places.
    pub fn custom_policy(mut self, make: impl FnOnce(usize) -> Box<dyn Policy> + Send + 'static) -> Self {
        self.custom_policy = Some(Box::new(make));
        self
    }

    /// How many tasks of one scope are in flight at most.
    pub fn window(mut self, window: usize) -> Self {
        self.window = Some(window);
        self
    }

    /// Whether runs are recorded, for [`Runtime::take_recording`]. If not, the environment's file is for other runtimes.
    pub fn trace(mut self, trace: bool) -> Self {
        self.trace = Some(trace);
        self
    }

    /// A file to which the runtime writes a Chrome trace. Implies [`trace`](Self::trace).
    ///
    /// The file grows while the runtime runs, ten times a second, so that a program that is killed leaves the trace of all but
    /// its last moment; when the runtime ends, the whole trace takes its place. A further runtime of the process that asks for
    /// the same file gets one with a number, such as `name.2.json`. If the file can not be written, standard error says so
    /// once, and nothing else changes.
    pub fn trace_file(mut self, file: impl Into<PathBuf>) -> Self {
        self.trace_file = Some(file.into());
        self
    }

    /// How many MiB of records are kept while runs are recorded (512 by default; a task with three hazards takes some 200
    /// bytes). When they are full the oldest records make room: [`Recording::dropped`](crate::recording::Recording::dropped)
    /// counts them, and [`Recording::whole_from_ns`](crate::recording::Recording::whole_from_ns) says from when on there are no
    /// gaps. Making and writing the recording at the end takes about twice as much again.
    pub fn trace_memory(mut self, mib: usize) -> Self {
        self.trace_memory_mib = Some(mib);
        self
    }

    /// Starts the runtime.
    ///
    /// # Errors
    /// [`ErrorKind::Setting`](crate::ErrorKind::Setting) names the setting, or the environment variable, whose value is not
    /// valid, or the file of [capability weights](Self::weights_file) that is none; [`ErrorKind::System`](crate::ErrorKind::System) if
    /// the system gives no threads, or that file can not be read.
    pub fn build(mut self) -> Result<Runtime, Error> {
        for setting in SETTINGS {
            if let Some(text) = variable(setting.variable) {
                let text = text.to_str().ok_or_else(|| Error::setting(format!("{} is not UTF-8", setting.variable)))?;
                (setting.parse)(&mut self, text)
                    .map_err(|why| Error::setting(format!("{}={text}: {why}", setting.variable)))?;
            }
        }
        Runtime::start(self.resolve()?)
    }

    fn resolve(self) -> Result<Settings, Error> {
        let cores = topology::physical_cores()?;
        let workers = self.workers.unwrap_or_else(|| topology::usable(&cores));
        let workers = within("workers", workers, WORKERS_MAX, "")?;
        let window = within("window", self.window.unwrap_or(WINDOW_DEFAULT), WINDOW_MAX, "")?;
        let trace_memory_mib = self.trace_memory_mib.unwrap_or(TRACE_MEMORY_MIB_DEFAULT);
        let trace_memory_mib = within("trace_memory", trace_memory_mib, TRACE_MEMORY_MIB_MAX, " MiB")?;
        let fits = workers <= cores.len();
        if self.bind == Some(true) && !fits {
            let why = format!("bind(true): {workers} workers do not fit on {} physical cores", cores.len());
            return Err(Error::setting(why));
        }
        let usual = PolicyName::Priority;
        #[cfg(feature = "placement")]
        let usual = if self.places.devices.is_empty() { usual } else { PolicyName::CapabilityWeights };
        let name = self.policy.unwrap_or(usual);
        Ok(Settings {
            workers: workers as u32,
            cores: if self.bind.unwrap_or(fits) { cores.into_iter().take(workers).collect() } else { Vec::new() },
            has_custom_policy: self.custom_policy.is_some(),
            policy: self.custom_policy.unwrap_or_else(|| Box::new(move |places| name.build(places))),
            window: window as u64,
            trace: self.trace == Some(true),
            trace_memory_bytes: trace_memory_mib << 20,
            trace_file: self.trace_file,
            #[cfg(feature = "placement")]
            places: self.places,
        })
    }
}

/// The table of settings, as the documentation shows it.
#[must_use]
pub fn settings_table() -> String {
    let mut table = String::from("| variable | default | meaning |\n|---|---|---|\n");
    for Setting { variable, default, meaning, .. } in SETTINGS {
        table += &format!("| `{variable}` | {default} | {meaning} |\n");
    }
    table
}

#[cfg(test)]
mod tests {
    #[cfg(feature = "placement")]
    #[test]
    fn the_documentation_shows_the_table() {
        assert_eq!(include_str!("settings.md"), super::settings_table(), "write settings_table() to src/settings.md");
    }
}
