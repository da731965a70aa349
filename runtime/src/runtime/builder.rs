//! The settings of a runtime, from code, from the environment, or by default. One table lists them all.

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

/// The resolved settings.
pub(super) struct Settings {
    pub(super) workers: u32,
    pub(super) cores: Vec<topology::Core>,
    pub(super) policy: MakePolicy,
    /// Whether the policy is the user's; such a policy is guarded and checked.
    pub(super) has_custom_policy: bool,
    pub(super) window: u64,
    pub(super) trace: bool,
    pub(super) trace_file: Option<PathBuf>,
    pub(super) trace_memory_bytes: usize,
    #[cfg(feature = "placement")]
    pub(super) places: placement::PlacementSettings,
}

/// Settings for a [`Runtime`]; made by [`Runtime::builder`].
///
/// Settings that are not given here are read from the environment, and otherwise have a default:
#[doc = concat!("\n", include_str!("settings.md"))]
///
/// Policies are `priority`, `work-stealing`, `fifo`, `capability-weights` (the default with devices) and
/// `demand-driven`. If the window is full, the inserting thread runs tasks until there is room. A second runtime of a
/// process numbers its trace file. If the records take more memory than allowed, the oldest are dropped, and the
/// trace says how many.
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
    pub(super) places: placement::PlacementSettings,
}

/// One row of the table of settings.
struct Setting {
    variable: &'static str,
    default: &'static str,
    meaning: &'static str,
    /// Parses the variable's value and stores it, unless the builder has the setting already.
    parse: fn(&mut Builder, &str) -> Result<(), String>,
}

/// The largest number of workers of a runtime.
const WORKERS_MAX: usize = 4096;
/// The largest window. It is smaller than the number of slots, so that insertion always finds a free slot.
const WINDOW_MAX: usize = 1 << 22;
const WINDOW_DEFAULT: usize = 4096;
/// The largest recording, in MiB; no viewer opens more.
const TRACE_MEMORY_MIB_MAX: usize = 1 << 20;
/// Room for about two and a half million tasks with three hazards each.
const TRACE_MEMORY_MIB_DEFAULT: usize = 512;

const SETTINGS: &[Setting] = &[
    Setting {
        variable: "SUPERSCALAR_WORKERS",
        default: "one per physical core, within the quota",
        meaning: "how many threads run tasks, 1 to 4096",
        parse: |builder, text| set_if_unset(&mut builder.workers, parse_whole_number(text, WORKERS_MAX)),
    },
    Setting {
        variable: "SUPERSCALAR_BIND",
        default: "`on`, unless workers outnumber cores",
        meaning: "binds each worker to a core of its own; or `off`",
        parse: |builder, text| match text {
            "on" | "off" => set_if_unset(&mut builder.bind, Ok(text == "on")),
            _ => Err("expected `on` or `off`".to_owned()),
        },
    },
    Setting {
        variable: "SUPERSCALAR_POLICY",
        default: "`priority`; see below",
        meaning: "which ready task runs next; the names are below",
        parse: |builder, text| {
            set_if_unset(&mut builder.policy, text.parse().map_err(|error: UnknownPolicy| error.to_string()))
        },
    },
    Setting {
        variable: "SUPERSCALAR_WINDOW",
        default: "4096",
        meaning: "at most this many tasks of a scope are in flight, 1 to 4194304",
        parse: |builder, text| set_if_unset(&mut builder.window, parse_whole_number(text, WINDOW_MAX)),
    },
    Setting {
        variable: "SUPERSCALAR_TRACE",
        default: "off",
        meaning: "the file for a Chrome trace; `%p` is the process id",
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
        meaning: "MiB of records that are kept, 1 to 1048576",
        parse: |builder, text| {
            set_if_unset(&mut builder.trace_memory_mib, parse_whole_number(text, TRACE_MEMORY_MIB_MAX))
        },
    },
    #[cfg(feature = "placement")]
    Setting {
        variable: "SUPERSCALAR_WEIGHTS",
        default: "`<processor>.weights.json` in the cache",
        meaning: "the file of capability weights, or `off`",
        parse: |builder, text| {
            builder.places.weights_file.get_or_insert_with(|| (text != "off").then(|| CacheFile::named(text)));
            Ok(())
        },
    },
];

/// Sets a setting, unless it is set already.
fn set_if_unset<T>(setting: &mut Option<T>, value: Result<T, String>) -> Result<(), String> {
    setting.get_or_insert(value?);
    Ok(())
}

fn parse_whole_number(text: &str, most: usize) -> Result<usize, String> {
    let value = text.trim().parse::<usize>().ok().filter(|value| (1..=most).contains(value));
    value.ok_or_else(|| format!("expected a whole number from 1 to {most}"))
}

/// Checks that a setting is between 1 and `most`.
fn check_range(setting: &str, value: usize, most: usize, unit: &str) -> Result<usize, Error> {
    let is_within = (1..=most).contains(&value);
    is_within.then_some(value).ok_or_else(|| Error::setting(format!("{setting}({value}): expected 1 to {most}{unit}")))
}

impl Builder {
    /// Sets the number of threads that run tasks.
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = Some(workers);
        self
    }

    /// Sets whether each worker is bound to a core of its own.
    pub fn bind(mut self, bind: bool) -> Self {
        self.bind = Some(bind);
        self
    }

    /// Selects one of the built-in policies, which decides which ready task runs next. The default, if
    /// `SUPERSCALAR_POLICY` is not set either, is `capability-weights` if there are devices, and `priority` otherwise.
    pub fn policy(mut self, policy: PolicyName) -> Self {
        self.policy = Some(policy);
        self
    }

    /// Sets a policy of the user's own. `make` is called with the number of places.
    pub fn custom_policy(mut self, make: impl FnOnce(usize) -> Box<dyn Policy> + Send + 'static) -> Self {
        self.custom_policy = Some(Box::new(make));
        self
    }

    /// Sets how many tasks of one scope are in flight at most.
    pub fn window(mut self, window: usize) -> Self {
        self.window = Some(window);
        self
    }

    /// Sets whether runs are recorded, for [`Runtime::take_recording`]. With `false`, this runtime ignores
    /// `SUPERSCALAR_TRACE`.
    pub fn trace(mut self, trace: bool) -> Self {
        self.trace = Some(trace);
        self
    }

    /// Sets a file to which the runtime writes a Chrome trace. Implies [`trace`](Self::trace).
    ///
    /// The file grows ten times a second while the runtime runs, so a program that is killed leaves the trace of all
    /// but its last moment. When the runtime ends, the complete trace replaces it. If another runtime of the process
    /// uses the same file, its file gets a number, such as `name.2.json`. If the file cannot be written, a message on
    /// standard error says so once, and the program goes on.
    pub fn trace_file(mut self, file: impl Into<PathBuf>) -> Self {
        self.trace_file = Some(file.into());
        self
    }

    /// Sets how many MiB of records are kept while runs are recorded: 512 by default. A task with three hazards takes
    /// about 200 bytes. When the memory is full, the oldest records are dropped:
    /// [`Recording::dropped`](crate::recording::Recording::dropped) counts them, and
    /// [`Recording::whole_from_ns`](crate::recording::Recording::whole_from_ns) is the time from which the recording is
    /// complete. Building and writing the recording at the end temporarily takes about twice as much again.
    pub fn trace_memory(mut self, mib: usize) -> Self {
        self.trace_memory_mib = Some(mib);
        self
    }

    /// Starts the runtime.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Setting`](crate::ErrorKind::Setting) if the value of a setting or environment variable is
    /// not valid (the message names it), or if the file of [capability weights](Self::weights_file) has invalid
    /// contents. Returns [`ErrorKind::System`](crate::ErrorKind::System) if threads cannot be started or that file
    /// cannot be read.
    pub fn build(mut self) -> Result<Runtime, Error> {
        for setting in SETTINGS {
            if let Some(text) = variable(setting.variable) {
                let text = text
                    .to_str()
                    .ok_or_else(|| Error::setting(format!("the value of {} is not UTF-8", setting.variable)))?;
                (setting.parse)(&mut self, text)
                    .map_err(|why| Error::setting(format!("{}={text}: {why}", setting.variable)))?;
            }
        }
        // If this thread is bound to one core, inside of a scope or a body, the runtime still uses all cores.
        let _unbinding = topology::Unbinding::begin();
        Runtime::start(self.resolve()?)
    }

    fn resolve(self) -> Result<Settings, Error> {
        let cores = topology::physical_cores()?;
        let workers = self.workers.unwrap_or_else(|| topology::usable(&cores));
        let workers = check_range("workers", workers, WORKERS_MAX, "")?;
        let window = check_range("window", self.window.unwrap_or(WINDOW_DEFAULT), WINDOW_MAX, "")?;
        let trace_memory_mib = self.trace_memory_mib.unwrap_or(TRACE_MEMORY_MIB_DEFAULT);
        let trace_memory_mib = check_range("trace_memory", trace_memory_mib, TRACE_MEMORY_MIB_MAX, " MiB")?;
        let fits = workers <= cores.len();
        if self.bind == Some(true) && !fits {
            let why = format!("bind(true): {workers} workers do not fit on {} physical cores", cores.len());
            return Err(Error::setting(why));
        }
        let default_policy = PolicyName::Priority;
        #[cfg(feature = "placement")]
        let default_policy =
            if self.places.devices.is_empty() { default_policy } else { PolicyName::CapabilityWeights };
        let name = self.policy.unwrap_or(default_policy);
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

/// Returns the table of settings in Markdown, as the documentation shows it.
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
    fn documentation_matches_settings_table() {
        assert_eq!(include_str!("settings.md"), super::settings_table(), "write settings_table() to src/settings.md");
    }
}
