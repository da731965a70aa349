//! [`Session`]: the progress bar, the log, and the time of one element type.

use indicatif::{ProgressBar, ProgressStyle};
use std::{
    error::Error,
    fmt::Display,
    fs::{self, File},
    io::{self, Write},
    path::Path,
    str::FromStr,
    time::{Duration, Instant},
};

/// What the measurements of all devices share.
pub struct Session {
    bar: ProgressBar,
    log: Option<File>,
    begun: Instant,
    seconds: f64,
    /// The first error of the log; measuring goes on without it.
    log_error: Option<io::Error>,
}

/// Steps of the progress bar in a second.
const STEPS: f64 = 10.0;
/// How often the bar is drawn, if nothing is measured meanwhile.
const TICK: Duration = Duration::from_millis(200);

impl Session {
    /// Creates the log, if it has a path.
    pub fn new(log: Option<&Path>) -> Result<Self, Box<dyn Error>> {
        let create = |path: &Path| File::create(path).map_err(|error| format!("--log {}: {error}", path.display()));
        let log = log.map(create).transpose()?;
        Ok(Self { bar: ProgressBar::hidden(), log, begun: Instant::now(), seconds: 0.0, log_error: None })
    }

    /// Begins the measurements of an element type.
    pub fn begin(&mut self, letter: char, seconds: f64) -> Result<(), Box<dyn Error>> {
        (self.begun, self.seconds) = (Instant::now(), seconds);
        self.bar = ProgressBar::new((seconds * STEPS) as u64);
        let style = ProgressStyle::with_template("{prefix} [{elapsed_precise}] {wide_bar} {msg}")?;
        self.bar.set_style(style);
        self.bar.set_prefix(letter.to_string());
        self.bar.enable_steady_tick(TICK);
        Ok(())
    }

    /// Returns the seconds that are left.
    pub fn left_s(&self) -> f64 {
        (self.seconds - self.begun.elapsed().as_secs_f64()).max(0.0)
    }

    /// Adds a line to the log. `state` is shown beside the progress bar.
    pub fn note(&mut self, line: impl Display, state: impl Display) {
        let elapsed = self.begun.elapsed().as_secs_f64();
        self.bar.set_position((elapsed * STEPS) as u64);
        self.bar.set_message(state.to_string());
        if let Some(log) = &mut self.log
            && let Err(error) = writeln!(log, "{elapsed:.2} {line}")
        {
            self.log_error.get_or_insert(error);
            self.log = None;
        }
    }

    /// Ends the measurements of an element type, with a line that says what was found.
    pub fn end(&mut self, line: impl Display) -> Result<(), Box<dyn Error>> {
        self.bar.finish_and_clear();
        println!("{line}");
        match self.log_error.take() {
            Some(error) => Err(format!("--log: {error}").into()),
            None => Ok(()),
        }
    }
}

/// Reads the table that is there. A damaged one is replaced, as the library does not use it either; one that the user
/// has named is an error.
pub fn known<V>(path: &Path, is_named: bool) -> Result<V, Box<dyn Error>>
where
    V: Default + FromStr<Err: Display>,
{
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(V::default()),
        Err(error) => return Err(format!("{}: {error}", path.display()).into()),
    };
    text.parse().or_else(|error: V::Err| {
        let message = format!("{}: {error}", path.display());
        if is_named {
            return Err(message.into());
        }
        eprintln!("{message}; the file is replaced");
        Ok(V::default())
    })
}
