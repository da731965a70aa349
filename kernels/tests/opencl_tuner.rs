//! The rows of parameters that OpenCL devices use: a search for the fastest ones, and those of the user's file.
//!
//! A process reads the user's file once, so the tests of it run this program again, with other variables.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{self, Command, Output},
    sync::atomic::{AtomicUsize, Ordering},
    time::{Duration, Instant},
};
use superscalar_devices::opencl::{DiscoveredDevice, OpenclDevice, OpenclQueue, Settings, devices};
use superscalar_kernels::{
    Op, Scalar, c32, c64,
    device::{Call, Mat},
    opencl::{
        Buffering, Class, FactorTile, GroupLimits, GroupTile, LoopingTile, PackedLayout, ParameterConstraint,
        Parameters, ProductForm, enqueue, scratch_bytes, scratch_bytes_with,
        tuning::{Database, Found, SearchOptions, Stage, Target, TunedRow, Tuner, row_of, store},
    },
    operations::Gemm,
};
use superscalar_runtime::{Device, DeviceError, DeviceMemory};

/// Returns the first device that has double precision.
fn device() -> Option<DiscoveredDevice> {
    let found = devices().expect("drivers answer").into_iter().find(|device| device.class().has_f64);
    let required = std::env::var_os("REQUIRE_OPENCL").is_some_and(|value| value == "1");
    assert!(found.is_some() || !required, "REQUIRE_OPENCL is 1, but there is no OpenCL device");
    if found.is_none() {
        eprintln!("SKIPPED: no device for OpenCL");
    }
    found
}

/// A search on a slow driver measures few rows, but it ends, and what it finds and reports agrees.
#[test]
fn search_ends_with_a_valid_row() {
    let Some(device) = device() else { return };
    let mut tuner = Tuner::open(&device).expect("the device opens");
    let options = SearchOptions { seconds: 4.0, seed: 3 };
    let (begun, mut log) = (Instant::now(), Vec::new());
    let found = tuner.search::<f64>(&options, |measured| {
        log.push((measured.stage, *measured.row, measured.rate.map_err(DeviceError::clone)));
    });
    // A machine under load may be late with the last row.
    assert!(begun.elapsed() < Duration::from_secs(40), "{:?}", begun.elapsed());
    let Found { row, gflops, gflops_in_use, order, measured, discarded } = found.expect("a row");
    assert_eq!(row.check(&GroupLimits::of(tuner.class())), Ok(()), "{row}");
    assert!(order >= 512 && gflops >= gflops_in_use && gflops_in_use > 0.0 && gflops.is_finite());
    // Finalists and the comparison with the row in use are reported again.
    let is_first = |stage: &Stage| matches!(stage, Stage::Product | Stage::Packing(_));
    let first: Vec<_> = log.iter().filter(|(stage, ..)| is_first(stage)).collect();
    assert_eq!(first.iter().filter(|(.., rate)| rate.is_ok()).count(), measured);
    assert_eq!(first.iter().filter(|(.., rate)| rate.is_err()).count(), discarded);
    let mut rates = first.iter().filter_map(|(.., rate)| rate.as_ref().ok());
    assert!(measured > 0 && rates.all(|&rate| rate.is_finite() && rate > 0.0), "{first:?}");
    assert_eq!(first[0].1, *row_of(tuner.class(), 'd').expect("a row"), "the row in use is measured first");
    let last = |rows: &[(Stage, Parameters, Result<f64, DeviceError>)]| rows.last().map(|(stage, ..)| *stage);
    assert_eq!(last(&log), Some(Stage::Whole));
    assert!(log.iter().any(|(stage, other, _)| *stage == Stage::Whole && *other == row), "{row}");
}

fn check_rows<T: Scalar>(tuner: &mut Tuner, limits: &GroupLimits) {
    let rows = Database::shipped().rows.iter().filter(|row| row.parameters.letter == T::LETTER);
    for row in rows.map(|row| row.parameters) {
        match row.check(limits) {
            Ok(()) => assert!(tuner.is_right::<T>(&row).expect("it runs"), "{row}"),
            Err(ParameterConstraint::MatrixInstructions) => {
                println!("SKIPPED: there is no GPU with matrix instructions: {row}")
            }
            Err(constraint) => println!("SKIPPED: {row}: {constraint}"),
        }
    }
}

#[test]
fn shipped_rows_compute_right_products() {
    let Some(device) = device() else { return };
    let mut tuner = Tuner::open(&device).expect("the device opens");
    let limits = GroupLimits::of(tuner.class());
    check_rows::<f32>(&mut tuner, &limits);
    check_rows::<f64>(&mut tuner, &limits);
    check_rows::<c32>(&mut tuner, &limits);
    check_rows::<c64>(&mut tuner, &limits);
    assert!(tuner.is_right::<f64>(&Parameters::of(Class::Gpu, 's')).is_err(), "another type");
}

#[test]
fn impossible_times_are_refused() {
    let Some(device) = device() else { return };
    let mut tuner = Tuner::open(&device).expect("the device opens");
    for seconds in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let options = SearchOptions { seconds, seed: 1 };
        let error = tuner.search::<f32>(&options, |_| {}).expect_err("no time");
        assert!(error.to_string().contains("not possible"), "{error}");
    }
    let options = SearchOptions { seconds: 1e-6, seed: 1 };
    let error = tuner.search::<f32>(&options, |_| {}).expect_err("no time");
    assert!(error.to_string().contains("no row could be measured"), "{error}");
}

/// A folder for caches.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static COUNTER: AtomicUsize = AtomicUsize::new(0);
        let name = format!("superscalar-rows-{}-{}", process::id(), COUNTER.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).expect("a folder");
        Self(path)
    }

    fn file(&self) -> PathBuf {
        self.0.join("opencl.parameters")
    }

    /// Runs [`child`] in a process of its own, with this folder for caches.
    fn run(&self, named: Option<&Path>) -> Output {
        let mut command = Command::new(std::env::current_exe().expect("a test has a program"));
        command.args(["--exact", "child", "--nocapture"]).env(CHILD, "1").env("SUPERSCALAR_CACHE", &self.0);
        command.env_remove(VARIABLE);
        command.envs(named.map(|path| (VARIABLE, path)));
        command.output().expect("a process")
    }

    /// Returns the row that the child used, the sources of its programs, and what it said.
    fn used(&self) -> (Parameters, String, String) {
        let output = self.run(None);
        let (out, said) = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).into();
        assert!(output.status.success(), "{out}{said}");
        let row = out.lines().find_map(|line| line.split_once("row: ")).expect("the row").1;
        // A file of a compiled program has its source.
        let programs = fs::read_dir(self.0.join("opencl")).expect("compiled programs");
        let sources = programs.map(|file| fs::read(file.expect("a file").path()).expect("a program"));
        let sources: Vec<_> = sources.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).collect();
        (row.parse().expect("a row"), sources.concat(), said)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

const VARIABLE: &str = "SUPERSCALAR_OPENCL_PARAMETERS";
const CHILD: &str = "SUPERSCALAR_TEST_ROWS_CHILD";

/// Not a test of its own: computes a product on the device, and prints the row in use.
#[test]
fn child() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    let found = device().expect("a device");
    let settings = Settings { memory_bytes: Some(16 << 20), ..Settings::new(0) };
    let device = OpenclDevice::open(&[(found, settings)]).expect("the device opens").remove(0);
    device.reserve().expect("a heap");
    let mat = |offset| Mat::<f64>::at(offset, (100, 100), 100);
    let (op_a, op_b, a, b, c) = (Op::None, Op::None, mat(0), mat(10_000), mat(20_000));
    let call = Call::Gemm(Gemm { part: None, op_a, op_b, alpha: 1.0, a, b, beta: 0.0, c });
    // Scratch is asked for before anything is issued.
    let scratch = 240_128..240_128 + scratch_bytes(&call);
    let row = row_of(device.class(), 'd');
    let bytes = row.as_ref().map_or(0, |row| scratch_bytes_with(row, &call));
    assert!(bytes <= scratch.len(), "{bytes} bytes, but {scratch:?}");
    let issued = device.issue(0, &[], &mut |queue| {
        enqueue(queue.downcast_mut::<OpenclQueue>().expect("the driver's queue"), scratch.clone(), &call)
    });
    let ticket = issued.unwrap_or_else(|error| panic!("refused: {error}"));
    let mut result = None;
    while result.is_none() {
        device.wait(Duration::from_millis(50));
        device.poll(&mut |finished| result = (finished.ticket == ticket).then_some(finished.result));
    }
    result.expect("an end").expect("the product is computed");
    println!("row: {}", row.expect("a row"));
}

/// Returns the shipped row for a device, and one with another kernel, with a line of its source.
fn rows(device: &DiscoveredDevice) -> (Parameters, Parameters, String) {
    let shipped = Parameters::of(Class::of(device.class()), 'd');
    let (product, line) = match shipped.product {
        ProductForm::Looping(tile) => {
            let m_wg = 5 * tile.m_wi;
            (ProductForm::Looping(LoopingTile { m_wg, ..tile }), format!("#define M_WG {m_wg}\n"))
        }
        ProductForm::Grouped(tile) => (ProductForm::Grouped(GroupTile { k_wi: 2, ..tile }), "#define K_WI 2\n".into()),
        ProductForm::Matrix(_) => unreachable!("a row for a class of devices"),
    };
    let other = Parameters { packed_steps: 2048, ..shipped.with_product(product) };
    assert_eq!(other.check(&GroupLimits::of(device.class())), Ok(()), "{other}");
    (shipped, other, line)
}

fn row_for(device: &DiscoveredDevice, parameters: Parameters) -> TunedRow {
    let class = device.class();
    let remark = format!("{}, driver {}", class.vendor, class.driver);
    TunedRow { target: Target::Device(class.name.clone()), parameters, remark }
}

#[test]
fn row_of_the_file_is_launched() {
    let Some(device) = device() else { return };
    let (shipped, other, line) = rows(&device);
    let folder = Folder::new();
    let (row, sources, said) = folder.used();
    assert!(row == shipped && !sources.contains(&line) && !said.contains("parameters"), "{row}: {said}");
    let stored = store(row_for(&device, other), Some(&folder.file())).expect("a file");
    assert_eq!(stored, folder.file());
    let (row, sources, said) = folder.used();
    assert!(row == other && sources.contains(&line) && !said.contains("parameters"), "{row}: {said}");
    // Another type's row is kept.
    let single = Parameters::of(Class::of(device.class()), 's');
    store(row_for(&device, single), Some(&folder.file())).expect("a file");
    assert_eq!(folder.used().0, other);
    // A row for another device changes nothing.
    let foreign = TunedRow { target: Target::Device("another device".into()), ..row_for(&device, other) };
    fs::remove_file(folder.file()).expect("the file");
    store(foreign, Some(&folder.file())).expect("a file");
    let (row, _, said) = folder.used();
    assert!(row == shipped && !said.contains("parameters"), "{row}: {said}");
}

/// Returns a row that some device can run, but none with little local memory.
fn greedy() -> Parameters {
    let factor = FactorTile { dim: 32, vector: 2, is_strided: true, is_local: true, layout: PackedLayout::GroupBlocks };
    let (m_wg, n_wg, k_wg, k_wi, m_dim, n_dim) = (256, 256, 1024, 2, 32, 32);
    let tile = GroupTile { m_wg, n_wg, k_wg, k_wi, m_dim, n_dim, a: factor, b: factor, buffering: Buffering::None };
    Parameters::of(Class::Gpu, 'd').with_product(ProductForm::Grouped(tile))
}

#[test]
fn unusable_file_is_reported_and_not_used() {
    let Some(device) = device() else { return };
    let (shipped, other, _) = rows(&device);
    let folder = Folder::new();
    store(row_for(&device, other), Some(&folder.file())).expect("a file");
    let good = fs::read_to_string(folder.file()).expect("the file");
    let mut texts = vec![
        "garbage \u{fffd}".to_owned(),
        good.replacen("parameters 2", "parameters 9", 1),
        // A file of the version before: its rows lack words.
        good.replacen("parameters 2", "parameters 1", 1).replacen(" direct=0", "", 1),
        good.replacen("steps=", "stairs=", 1),
        good[..good.len() / 2].to_owned(),
    ];
    if greedy().check(&GroupLimits::of(device.class())).is_err() {
        assert_eq!(greedy().check(&GroupLimits::NONE), Ok(()));
        texts.push(good.replacen(&other.to_string(), &greedy().to_string(), 1));
    } else {
        println!("SKIPPED: the device has so much local memory that no row is stale");
    }
    for text in texts {
        fs::write(folder.file(), &text).expect("the file");
        let (row, _, said) = folder.used();
        assert!(row == shipped && said.contains("opencl.parameters") && said.contains("ignoring"), "{text}: {said}");
        // A file that the user has named is an error.
        let named = folder.0.join("mine");
        fs::write(&named, &text).expect("a file");
        let output = folder.run(Some(&named));
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains("refused: ") && said.contains("mine"), "{text}: {said}");
    }
}
