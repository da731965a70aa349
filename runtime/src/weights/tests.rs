//! Tests of the order of a weight's sources, of the notice, and of the file.

use super::*;
use crate::recording::BlasLevel;
use std::{
    fs,
    path::PathBuf,
    sync::atomic::{AtomicU32, Ordering},
};

const DEVICE: Resource = Resource(1);

fn gemm(n: f64) -> Cost {
    Cost { flops: 2.0 * n.powi(3), bytes: 32.0 * n * n, level: Some(BlasLevel::Three) }
}

fn directive() -> Speed {
    Speed { flops_per_s: 1e12, bytes_per_s: 1e11, latency_ns: 0 }
}

fn weights(file: Option<CacheFile>) -> Weights {
    Weights::start(file, vec![("sim:0".to_owned(), directive())], Arc::default()).expect("weights")
}

/// A temporary folder, removed when dropped.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("superscalar-weights-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        Self(std::env::temp_dir().join(name))
    }

    fn path(&self) -> PathBuf {
        self.0.join("inner").join("weights.json")
    }

    fn file(&self) -> CacheFile {
        CacheFile::named(self.path())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn observe(weights: &Weights, times: usize, resource: Resource, n: f64, rate: f64) {
    for _ in 0..times {
        let run = KernelRun { kernel: "gemm", cost: gemm(n), busy_ns: 1e9 * gemm(n).flops / rate };
        weights.observe(resource, std::iter::once(run));
    }
}

fn source(weights: &Weights, resource: Resource, n: f64) -> (WeightSource, f64) {
    let weight = weights.of(resource, "gemm", gemm(n));
    (weight.source, weight.rate)
}

fn is_near(value: f64, expected: f64) -> bool {
    (value / expected - 1.0).abs() < 0.01
}

#[test]
fn measurements_replace_directive_and_assumption() {
    let weights = weights(None);
    assert_eq!(source(&weights, DEVICE, 512.0), (WeightSource::Directive, 1e12));
    let (from, rate) = source(&weights, Resource::HOST, 512.0);
    assert!(from == WeightSource::Assumed && is_near(rate, ASSUMED.flops_per_s), "{from:?} {rate}");
    observe(&weights, 1, Resource::HOST, 512.0, 3e10);
    observe(&weights, 2, DEVICE, 512.0, 5e11);
    for (resource, expected) in [(Resource::HOST, 3e10), (DEVICE, 5e11)] {
        let (from, rate) = source(&weights, resource, 512.0);
        assert!(from == WeightSource::Measured && is_near(rate, expected), "{from:?} {rate}");
        assert!(is_near(weights.forecast_ns(resource, "gemm", &gemm(512.0)), 1e9 * gemm(512.0).flops / expected));
    }
    // For a far larger size the device has its directive; the host has only the measurement.
    assert_eq!(source(&weights, DEVICE, 8192.0).0, WeightSource::Directive);
    assert_eq!(source(&weights, Resource::HOST, 8192.0).0, WeightSource::Measured);
}

#[test]
fn first_run_on_a_device_is_ignored() {
    let weights = weights(None);
    observe(&weights, 1, DEVICE, 512.0, 1e7);
    assert_eq!(source(&weights, DEVICE, 512.0), (WeightSource::Directive, 1e12));
    observe(&weights, 1, DEVICE, 512.0, 5e11);
    let (from, rate) = source(&weights, DEVICE, 512.0);
    assert!(from == WeightSource::Measured && is_near(rate, 5e11), "{from:?} {rate}");
}

#[test]
fn levels_one_and_two_count_bytes() {
    let weights = weights(None);
    let gemv = Cost { flops: 2e6, bytes: 8e6, level: Some(BlasLevel::Two) };
    assert!(is_near(weights.forecast_ns(DEVICE, "gemv", &gemv), 1e9 * 8e6 / 1e11));
    assert!(is_near(weights.forecast_ns(DEVICE, "gemv", &Cost { level: None, ..gemv }), 1e9 * 2e6 / 1e12));
}

#[test]
fn measured_weights_persist_to_the_next_run() {
    let folder = Folder::new();
    let first = weights(Some(folder.file()));
    observe(&first, 5, DEVICE, 512.0, 5e11);
    observe(&first, 5, Resource::HOST, 512.0, 3e10);
    first.save();
    let text = fs::read_to_string(folder.path()).expect("a file");
    assert!(text.contains("\"sim:0\"") && text.contains("\"host\"") && text.contains("\"gemm\""), "{text}");

    let second = weights(Some(folder.file()));
    let (from, rate) = source(&second, DEVICE, 512.0);
    assert!(from == WeightSource::Persisted && is_near(rate, 5e11), "{from:?} {rate}");
    assert_eq!(second.list().len(), 2);
    // Nothing new is measured: the file is not written, even if it was removed.
    observe(&second, 5, DEVICE, 512.0, 5.1e11);
    fs::remove_file(folder.path()).expect("the file exists");
    second.save();
    assert!(!folder.path().exists());
    // New measurements are written, and the weights of other resources in the file stay.
    first.save();
    observe(&second, 50, DEVICE, 512.0, 7e11);
    second.save();
    let third = weights(Some(folder.file()));
    assert!(is_near(source(&third, DEVICE, 512.0).1, 7e11));
    assert!(is_near(source(&third, Resource::HOST, 512.0).1, 3e10));
}

#[test]
fn contradicted_weight_is_dropped_with_one_notice() {
    let folder = Folder::new();
    let first = weights(Some(folder.file()));
    observe(&first, 5, DEVICE, 512.0, 5e11);
    first.save();

    let second = weights(Some(folder.file()));
    observe(&second, 2, DEVICE, 512.0, 9e10);
    assert!(second.notices.texts().is_empty(), "two measurements are not enough");
    assert_eq!(source(&second, DEVICE, 512.0).0, WeightSource::Persisted);
    observe(&second, 20, DEVICE, 512.0, 9e10);
    let alarms = second.notices.texts();
    assert_eq!(alarms.len(), 1, "{alarms:?}");
    assert!(alarms[0].contains("`gemm`") && alarms[0].contains("`sim:0`"), "{alarms:?}");
    let (from, rate) = source(&second, DEVICE, 512.0);
    assert!(from == WeightSource::Measured && is_near(rate, 9e10), "{from:?} {rate}");
    second.save();
    assert!(is_near(source(&weights(Some(folder.file())), DEVICE, 512.0).1, 9e10));

    // (the rate, whether the persisted weight is kept): neither contradiction is reported.
    for (rate, is_kept) in [(1.7e11, true), (3e11, false)] {
        let third = weights(Some(folder.file()));
        observe(&third, 20, DEVICE, 512.0, rate);
        assert!(third.notices.texts().is_empty(), "{rate}");
        let keeps = third.list().iter().any(|weight| weight.source == WeightSource::Persisted);
        assert_eq!(keeps, is_kept, "{rate}");
    }
}

#[test]
fn truncated_cache_file_is_measured_again() {
    let folder = Folder::new();
    let file = CacheFile::within(&folder.0, "weights.json");
    let first = weights(Some(file.clone()));
    observe(&first, 5, DEVICE, 512.0, 5e11);
    first.save();
    let whole = fs::read(file.path()).expect("a file");
    for length in 0..whole.len() {
        file.replace(&whole[..length]).expect("a folder");
        let (from, _) = source(&weights(Some(file.clone())), DEVICE, 512.0);
        // Only the final line break may be missing.
        let expected = if length + 1 < whole.len() { WeightSource::Directive } else { WeightSource::Persisted };
        assert_eq!(from, expected, "cut to {length} of {}", whole.len());
    }
    file.replace(&whole[..whole.len() / 2]).expect("a folder");
    let second = weights(Some(file.clone()));
    observe(&second, 5, DEVICE, 512.0, 5e11);
    second.save();
    assert_eq!(source(&weights(Some(file)), DEVICE, 512.0).0, WeightSource::Persisted);
    assert!(second.notices.texts().is_empty());
}

#[test]
fn foreign_file_is_refused_by_name() {
    let folder = Folder::new();
    fs::create_dir_all(folder.path().parent().expect("a folder")).expect("a folder");
    for text in [&b"potrf d 2 512 96 60.5"[..], b"\xff\xfe", b"{\"format\":"] {
        fs::write(folder.path(), text).expect("a file");
        let devices = vec![("sim:0".to_owned(), directive())];
        let error = Weights::start(Some(folder.file()), devices, Arc::default());
        let error = error.map(drop).expect_err("no weights");
        assert_eq!(error.kind(), crate::ErrorKind::Setting);
        assert!(error.to_string().contains("weights.json"), "{error}");
        // Saving does not overwrite it either.
        let weights = weights(None);
        observe(&weights, 5, DEVICE, 512.0, 5e11);
        Weights { file: Some(folder.file()), ..weights }.save();
        assert_eq!(fs::read(folder.path()).expect("a file"), text);
    }
}

#[test]
fn only_measured_calls_are_known_to_be_brief() {
    let weights = weights(None);
    let wanted = |n| (0..80).filter(|_| weights.wants_duration(DEVICE, "gemm", &gemm(n))).count();
    assert_eq!(wanted(64.0), 80, "the directive says so, but nothing is measured");
    observe(&weights, KNOWN_SAMPLES as usize, DEVICE, 64.0, 1e12);
    assert_eq!(wanted(64.0), 80, "the first run does not count");
    observe(&weights, 1, DEVICE, 64.0, 1e12);
    assert_eq!(wanted(64.0), 10);
    observe(&weights, 20, DEVICE, 2048.0, 1e12);
    assert_eq!(wanted(2048.0), 80, "17 ms");
}
