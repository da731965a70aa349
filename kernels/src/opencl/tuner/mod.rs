//! Measures which row of parameters is the fastest on a device.
//!
//! The search has the two stages of Matsumoto, Nakasato and Sedukhin (2012): many rows are timed once, then the best
//! few by turns. It does so for the product's kernel, and then for the kernels that pack A and B for it (2014, §3.6).
//! Rows that the device cannot run are no points of the search ([`GroupLimits`]); the others are ranked by a model
//! (`space`), and proposed mixed with random ones and with neighbours of the fastest (`explorer`). Before a row is
//! timed, its results are compared with those of the host's kernels. A row that does not compile or is wrong is
//! discarded.
//!
//! | module | contents |
//! |---|---|
//! | `space` | the rows among which a search chooses; the model |
//! | `explorer` | the order in which rows are measured |
//! | `compilers` | threads that compile ahead |
//! | `trial` | checks and times a row on the device |
//! | `random`, `sample` | random numbers; random rows, for tests |

mod compilers;
mod explorer;
mod random;
mod sample;
mod space;
#[cfg(test)]
mod tests;
mod trial;

pub use sample::random_row;

use super::{Element, GroupLimits, Parameters, database::Database, in_use::row_of};
use crate::Scalar;
use compilers::Compilers;
use explorer::{Explorer, Proposal};
use space::{Point, Space};
use std::{
    fmt, fs,
    io::ErrorKind,
    os::unix::fs::DirBuilderExt,
    path::PathBuf,
    process,
    sync::atomic::{AtomicU64, Ordering},
    thread,
    time::{Duration, Instant},
};
use superscalar_devices::opencl::{DeviceClass, DiscoveredDevice, OpenclDevice, Settings};
use superscalar_runtime::DeviceError;
use trial::Trial;

/// The order of the first products, and the seconds that one takes when the order is large enough.
const ORDER_MIN: usize = 512;
const PRODUCT_S: f64 = 0.004;
/// Rows that are timed by turns, and rounds.
const FINALISTS: usize = 10;
const ROUNDS: usize = 7;
/// Threads that compile for a device that is not the host.
const COMPILERS_MAX: usize = 8;
/// The parts of the time after which each step ends: products, the best ones by turns, packing of A and of B.
const ENDS: [f64; 4] = [0.65, 0.8, 0.87, 0.94];

/// Options of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SearchOptions {
    /// The time that it may take, in seconds.
    pub seconds: f64,
    /// The seed of its random choices.
    pub seed: u64,
}

/// One minute.
impl Default for SearchOptions {
    fn default() -> Self {
        Self { seconds: 60.0, seed: 1 }
    }
}

/// The step of a search that measured a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The multiplication of packed factors, in Gflop/s.
    Product,
    /// The same by turns with the other best rows: the median.
    ByTurns,
    /// Packing of A (0) or B (1), in GB/s.
    Packing(usize),
    /// A product with its packing, in Gflop/s.
    Whole,
}

/// Formats the step and its unit.
impl fmt::Display for Stage {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Product => "product GFLOP/s",
            Self::ByTurns => "by-turns GFLOP/s",
            Self::Packing(0) => "packing-a GB/s",
            Self::Packing(_) => "packing-b GB/s",
            Self::Whole => "whole GFLOP/s",
        })
    }
}

/// A row that a search has measured.
#[derive(Clone, Copy, Debug)]
pub struct Measured<'m> {
    /// The step of the search.
    pub stage: Stage,
    /// The row.
    pub row: &'m Parameters,
    /// Its rate, or why it was discarded.
    pub rate: Result<f64, &'m DeviceError>,
}

/// The result of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Found {
    /// The fastest row; the one in use if none is faster.
    pub row: Parameters,
    /// Its rate for products with their packing, in Gflop/s.
    pub gflops: f64,
    /// The rate of the row in use.
    pub gflops_in_use: f64,
    /// The order of the products.
    pub order: usize,
    /// Rows whose rates were measured, and those that were discarded because they do not compile, fail or are wrong.
    pub measured: usize,
    /// See [`measured`](Self::measured).
    pub discarded: usize,
}

/// Searches the fastest rows of a device.
///
/// ```
/// use superscalar::{devices::opencl, kernels::opencl::tuning::{SearchOptions, Tuner}};
///
/// if let Some(first) = opencl::devices()?.first() {
///     let options = SearchOptions { seconds: 3.0, ..SearchOptions::default() };
///     let found = Tuner::open(first)?.search::<f32>(&options, |measured| println!("{measured:?}"))?;
///     println!("{}: {} GFLOP/s", found.row, found.gflops);
/// }
/// # Ok::<(), superscalar::DeviceError>(())
/// ```
pub struct Tuner {
    found: DiscoveredDevice,
    compilers: Compilers,
    /// Dropped after the compilers, which use it.
    folder: ProgramFolder,
}

impl Tuner {
    /// Opens a device. Compiled programs are kept in a temporary folder until the value is dropped, which waits for
    /// compilers that are at work.
    ///
    /// # Errors
    /// If the device cannot be opened, or there is no room for the folder.
    pub fn open(found: &DiscoveredDevice) -> Result<Self, DeviceError> {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        // On a CPU, compilers would disturb what is timed.
        let count = if found.class().is_cpu { 1 } else { cores.saturating_sub(1).clamp(1, COMPILERS_MAX) };
        let folder = ProgramFolder::new()?;
        // Whether there are matrix instructions is known only of an open device.
        let settings = Settings { memory_bytes: Some(1 << 16), cache: Some(folder.0.clone()), ..Settings::new(0) };
        let opened = OpenclDevice::open(&[(found.clone(), settings)])?;
        let found = opened.first().map_or(found, |device| device.discovered()).clone();
        let compilers = Compilers::start(&found, count, &folder.0)?;
        Ok(Self { found, compilers, folder })
    }

    /// Returns the properties of the device, with those that are known only of an open one.
    #[must_use]
    pub fn class(&self) -> &DeviceClass {
        self.found.class()
    }

    /// Returns whether the device computes with a row what the host's kernels compute, up to rounding.
    ///
    /// # Errors
    /// If the row is for another type, the device cannot run it, or the device fails.
    pub fn is_right<T: Scalar>(&mut self, row: &Parameters) -> Result<bool, DeviceError> {
        Trial::<T>::new(&self.found, &self.folder.0, 1)?.is_right(row)
    }

    /// Searches the fastest row for a type. `report` receives each row that was measured.
    ///
    /// # Errors
    /// If the device has no row for the type or fails, or not even the row in use could be measured in the time.
    pub fn search<T: Scalar>(
        &mut self,
        options: &SearchOptions,
        report: impl FnMut(&Measured<'_>),
    ) -> Result<Found, DeviceError> {
        let (begun, class) = (Instant::now(), self.found.class());
        if !(options.seconds > 0.0 && options.seconds <= 1e6) {
            return Err(DeviceError::new(format!("a search of {} seconds is not possible", options.seconds)));
        }
        if Element::of(T::LETTER).is_double && !class.has_f64 {
            return Err(DeviceError::new(format!("{} has no double precision", class.name)));
        }
        let in_use = *row_of(class, T::LETTER)?;
        let trial = Trial::<T>::new(&self.found, &self.folder.0, ORDER_MIN)?;
        let time = Schedule { begun, seconds: options.seconds };
        let mut search = Search { tuner: self, trial, time, report, measured: 0, discarded: 0 };
        let outcome = search.run(in_use, options.seed);
        search.tuner.compilers.forget();
        outcome
    }
}

/// The time of a search.
#[derive(Clone, Copy)]
struct Schedule {
    begun: Instant,
    seconds: f64,
}

impl Schedule {
    /// Returns when a part of the time is over.
    fn at(&self, part: f64) -> Instant {
        self.begun + Duration::from_secs_f64(self.seconds * part)
    }
}

/// A row and the seconds that it took.
#[derive(Clone, Copy)]
struct TimedRow {
    seconds: f64,
    proposal: Proposal,
}

/// A search that is under way.
struct Search<'t, T: Scalar, R> {
    tuner: &'t mut Tuner,
    trial: Trial<T>,
    time: Schedule,
    report: R,
    measured: usize,
    discarded: usize,
}

impl<T: Scalar, R: FnMut(&Measured<'_>)> Search<'_, T, R> {
    fn run(&mut self, in_use: Parameters, seed: u64) -> Result<Found, DeviceError> {
        let limits = GroupLimits::of(self.tuner.found.class());
        let first = self.first(in_use)?;
        let in_use = first.proposal.row;
        let units = self.tuner.found.class().compute_units as usize;
        let space = Space::of_products(in_use, limits, units, self.trial.order());
        let timed = self.explore(Explorer::new(space, seed), first, Stage::Product, self.time.at(ENDS[0]));
        let mut best = self.by_turns(timed, self.time.at(ENDS[1])).proposal.row;
        for factor in [0, 1] {
            let until = self.time.at(ENDS[2 + factor]);
            let stage = Stage::Packing(factor);
            let explorer = Explorer::new(Space::of_packing(best, factor, limits), seed);
            if let Ok(seconds) = self.timed(stage, &best, f64::INFINITY) {
                self.tell(stage, &best, Ok(seconds));
                let first = TimedRow { seconds, proposal: Proposal { point: None, row: best } };
                let timed = self.explore(explorer, first, stage, until);
                best = timed.first().map_or(best, |timed| timed.proposal.row);
            }
        }
        let [gflops_in_use, gflops] = self.compared([in_use, best]);
        if gflops_in_use <= 0.0 {
            return Err(DeviceError::new(format!("`{in_use}` worked at first, and then failed each time")));
        }
        let (row, gflops) = if gflops > gflops_in_use { (best, gflops) } else { (in_use, gflops_in_use) };
        let (order, measured, discarded) = (self.trial.order(), self.measured, self.discarded);
        Ok(Found { row, gflops, gflops_in_use, order, measured, discarded })
    }

    /// Times the row in use or, if it does not work, the crate's row; with products of an order that is large enough.
    fn first(&mut self, in_use: Parameters) -> Result<TimedRow, DeviceError> {
        let shipped = Database::shipped().fitting(self.tuner.found.class(), T::LETTER).ok();
        let mut failure = None;
        for row in [in_use].into_iter().chain(shipped.filter(|&row| row != in_use)) {
            match self.compiled_and_timed(row).and_then(|seconds| self.at_large_order(&row, seconds)) {
                Ok(seconds) => {
                    self.tell(Stage::Product, &row, Ok(seconds));
                    return Ok(TimedRow { seconds, proposal: Proposal { point: None, row } });
                }
                Err(error) => {
                    self.tell(Stage::Product, &row, Err(&error));
                    failure = Some(error);
                }
            }
        }
        Err(failure.unwrap_or_else(|| DeviceError::new("the device has no row")))
    }

    fn compiled_and_timed(&mut self, row: Parameters) -> Result<f64, DeviceError> {
        self.tuner.compilers.compile(Proposal { point: None, row });
        let late = || DeviceError::new(format!("no row could be measured in {} seconds", self.time.seconds));
        self.tuner.compilers.next(self.time.at(ENDS[0])).ok_or_else(late)?.1?;
        self.checked_and_timed(Stage::Product, &row, f64::INFINITY)
    }

    /// Doubles the order until a product takes long enough. `seconds` is its time at the order so far.
    fn at_large_order(&mut self, row: &Parameters, mut seconds: f64) -> Result<f64, DeviceError> {
        while seconds < PRODUCT_S && self.trial.can_double() && Instant::now() < self.time.at(ENDS[0] / 2.0) {
            let order = 2 * self.trial.order();
            self.trial.reopen(&self.tuner.found, &self.tuner.folder.0, order)?;
            seconds = self.timed(Stage::Product, row, f64::INFINITY)?;
        }
        Ok(seconds)
    }

    /// Measures rows of a space until the time is over. Returns those that were timed, the fastest first.
    fn explore(&mut self, mut explorer: Explorer, first: TimedRow, stage: Stage, until: Instant) -> Vec<TimedRow> {
        explorer.know(first.proposal.row);
        let mut timed = vec![first];
        // On a CPU, compilers rest while a row is timed.
        let compilers = self.tuner.compilers.count();
        let ahead = if self.tuner.found.class().is_cpu { 1 } else { compilers + 2 };
        while Instant::now() < until {
            let points: Vec<Point> = timed.iter().filter_map(|timed| timed.proposal.point).take(FINALISTS).collect();
            while self.tuner.compilers.outstanding() < ahead {
                let Some(proposal) = explorer.propose(&points) else { break };
                self.tuner.compilers.compile(proposal);
            }
            if self.tuner.compilers.outstanding() == 0 {
                break;
            }
            let Some((proposal, compiled)) = self.tuner.compilers.next(until) else { break };
            let row = &proposal.row;
            match compiled.and_then(|()| self.checked_and_timed(stage, row, timed[0].seconds)) {
                Ok(seconds) => {
                    self.tell(stage, row, Ok(seconds));
                    let at = timed.partition_point(|other| other.seconds <= seconds);
                    timed.insert(at, TimedRow { seconds, proposal });
                }
                Err(error) => self.tell(stage, row, Err(&error)),
            }
        }
        self.tuner.compilers.forget();
        timed
    }

    /// Times the best rows by turns, and returns the one with the best median.
    fn by_turns(&mut self, mut timed: Vec<TimedRow>, until: Instant) -> TimedRow {
        timed.truncate(FINALISTS);
        let mut seconds: Vec<Vec<f64>> = timed.iter().map(|timed| vec![timed.seconds]).collect();
        'rounds: for _ in 0..ROUNDS {
            for (row, seconds) in timed.iter().zip(&mut seconds) {
                if Instant::now() >= until {
                    break 'rounds;
                }
                // A round that failed does not count.
                seconds.extend(self.timed(Stage::ByTurns, &row.proposal.row, f64::INFINITY).ok());
            }
        }
        for (row, seconds) in timed.iter_mut().zip(seconds) {
            row.seconds = median(seconds);
            let rate = Ok(self.rate(Stage::ByTurns, row.seconds));
            (self.report)(&Measured { stage: Stage::ByTurns, row: &row.proposal.row, rate });
        }
        timed.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
        timed[0]
    }

    /// Returns the rates of products with their packing, measured by turns.
    fn compared(&mut self, rows: [Parameters; 2]) -> [f64; 2] {
        let mut seconds = [Vec::new(), Vec::new()];
        for round in 0..ROUNDS {
            // A single time may be lost to noise; a row without any would seem to have failed.
            let has_both = seconds.iter().all(|all| !all.is_empty());
            if round > 0 && has_both && Instant::now() >= self.time.at(1.0) {
                break;
            }
            for (row, seconds) in rows.iter().zip(&mut seconds) {
                seconds.extend(self.timed(Stage::Whole, row, f64::INFINITY).ok());
            }
        }
        let rates = seconds.map(|seconds| self.rate(Stage::Whole, median(seconds)));
        for (row, rate) in rows.iter().zip(rates) {
            (self.report)(&Measured { stage: Stage::Whole, row, rate: Ok(rate) });
        }
        rates
    }

    fn checked_and_timed(&mut self, stage: Stage, row: &Parameters, fastest_s: f64) -> Result<f64, DeviceError> {
        let is_right = self.trial.is_right(row);
        match self.or_reopened(is_right)? {
            true => self.timed(stage, row, fastest_s),
            false => Err(DeviceError::new("wrong products")),
        }
    }

    fn timed(&mut self, stage: Stage, row: &Parameters, fastest_s: f64) -> Result<f64, DeviceError> {
        let seconds = match stage {
            Stage::Product | Stage::ByTurns => self.trial.product_s(row, fastest_s),
            Stage::Packing(factor) => self.trial.packing_s(row, factor, fastest_s),
            Stage::Whole => self.trial.whole_s(row),
        };
        self.or_reopened(seconds)
    }

    /// After a failure, opens the device anew: it may be lost, and operands are left without a value.
    fn or_reopened<O>(&mut self, outcome: Result<O, DeviceError>) -> Result<O, DeviceError> {
        if outcome.is_err() {
            let order = self.trial.order();
            self.trial.reopen(&self.tuner.found, &self.tuner.folder.0, order)?;
        }
        outcome
    }

    fn tell(&mut self, stage: Stage, row: &Parameters, seconds: Result<f64, &DeviceError>) {
        match seconds {
            Ok(_) => self.measured += 1,
            Err(_) => self.discarded += 1,
        }
        let rate = seconds.map(|seconds| self.rate(stage, seconds));
        (self.report)(&Measured { stage, row, rate });
    }

    /// Returns the rate in Gflop/s or, for packing, in GB/s.
    fn rate(&self, stage: Stage, seconds: f64) -> f64 {
        let order = self.trial.order() as f64;
        let work = match stage {
            Stage::Packing(_) => 2.0 * 2.0 * order.powi(2) * size_of::<T>() as f64,
            _ => f64::from(T::FLOPS_MUL + T::FLOPS_ADD) * order.powi(3),
        };
        work / seconds * 1e-9
    }
}

/// Returns the median, or infinity of none.
fn median(mut seconds: Vec<f64>) -> f64 {
    seconds.sort_by(f64::total_cmp);
    seconds.get(seconds.len() / 2).copied().unwrap_or(f64::INFINITY)
}

/// A temporary folder for compiled programs.
struct ProgramFolder(PathBuf);

impl ProgramFolder {
    fn new() -> Result<Self, DeviceError> {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        loop {
            let name = format!("superscalar-tuner-{}-{}", process::id(), COUNTER.fetch_add(1, Ordering::Relaxed));
            let path = std::env::temp_dir().join(name);
            match fs::DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(Self(path)),
                // Another user may have put programs into it, or a program that was interrupted.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(DeviceError::new(format!("{}: {error}", path.display()))),
            }
        }
    }
}

impl Drop for ProgramFolder {
    fn drop(&mut self) {
        // What is left behind is in a folder for temporary files.
        let _ = fs::remove_dir_all(&self.0);
    }
}
