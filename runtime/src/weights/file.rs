//! Capability weights from run to run: a text file, one for each type of processor, to be looked at and changed by hand.
//!
//! JSON: `{"format": "superscalar capability weights", "version": 1, "weights": [...]}`, where each weight has the `resource` (a device's
//! name, or `host`), the `kernel`, the `unit` (`flops` or `bytes`), the size of a call in `flops` and `bytes`, the `rate` in units
//! per second, and the number of `samples`.

use super::estimate::{Point, Size, Unit};
use crate::{
    cache::{self, CacheFile},
    device::Cost,
    error::Error,
    topology,
};
use serde_json::{Value, json};

const FORMAT: &str = "superscalar capability weights";
const VERSION: u64 = 1;

/// One weight, as the file has it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry {
    pub(super) resource: String,
    pub(super) kernel: String,
    pub(super) unit: Unit,
    pub(super) point: Point,
}

impl Entry {
    /// Two weights for one thing.
    fn is_of(&self, other: &Self) -> bool {
        let key = |it: &Self| (it.unit, it.point.size.bucket());
        key(self) == key(other) && self.resource == other.resource && self.kernel == other.kernel
    }
}

/// `<processor>.weights.json` in the user's folder for caches, if there is such a folder.
pub(crate) fn default_file() -> Option<CacheFile> {
    Some(CacheFile::within(&cache::folder()?, &format!("{}.weights.json", topology::processor_name())))
}

/// What the file has; nothing if there is none.
pub(super) fn load(file: &CacheFile) -> Result<Vec<Entry>, Error> {
    Ok(file.read(parse)?.unwrap_or_default())
}

/// Puts these weights into the file, beside those of other devices, kernels and sizes that it has.
pub(super) fn merge(file: &CacheFile, news: impl Iterator<Item = Entry>) -> Result<(), Error> {
    let key = |it: &Entry| (it.resource.clone(), it.kernel.clone(), it.unit, it.point.size.bucket());
    file.update(parse, |known| {
        let mut entries = known.unwrap_or_default();
        for entry in news {
            match entries.iter_mut().find(|known| known.is_of(&entry)) {
                Some(known) => *known = entry,
                None => entries.push(entry),
            }
        }
        entries.sort_by_key(key);
        print(&entries)
    })
}

/// One weight a line.
fn print(entries: &[Entry]) -> String {
    let line = |Entry { resource, kernel, unit, point }: &Entry| {
        let weight = json!({
            "resource": resource, "kernel": kernel, "unit": unit.name(), "flops": point.size.flops.exp2(),
            "bytes": point.size.bytes.exp2(), "rate": 1e9 / point.ns_per_unit, "samples": point.samples,
        });
        format!("  {weight}")
    };
    let lines: Vec<String> = entries.iter().map(line).collect();
    let processor = json!(topology::processor_name());
    format!(
        "{{\"format\": \"{FORMAT}\", \"version\": {VERSION}, \"processor\": {processor}, \"weights\": [\n{}\n]}}\n",
        lines.join(",\n")
    )
}

fn parse(text: &[u8]) -> Result<Vec<Entry>, String> {
    let value: Value = serde_json::from_slice(text).map_err(|error| format!("these are no weights: {error}"))?;
    if value["format"] != FORMAT {
        return Err(format!("these are no weights: `format` is not `{FORMAT}`"));
    }
    if value["version"] != VERSION {
        return Err(format!("weights of version {}; this is for version {VERSION}", value["version"]));
    }
    let weights = value["weights"].as_array().ok_or("there is no list of `weights`")?;
    weights.iter().enumerate().map(|(at, one)| entry(one).map_err(|why| format!("weight {}: {why}", at + 1))).collect()
}

fn entry(value: &Value) -> Result<Entry, String> {
    let text = |key: &str| value[key].as_str().map(str::to_owned).ok_or_else(|| format!("`{key}` is not a text"));
    let number = |key: &str| {
        let number = value[key].as_f64().filter(|number| number.is_finite() && *number >= 0.0);
        number.ok_or_else(|| format!("`{key}` is not a number from zero on"))
    };
    let unit = text("unit")?;
    let unit = [Unit::Flops, Unit::Bytes].into_iter().find(|one| one.name() == unit);
    let rate = number("rate")?;
    if rate <= 0.0 {
        return Err("`rate` is not positive".to_owned());
    }
    let cost = Cost { flops: number("flops")?, bytes: number("bytes")?, level: None };
    Ok(Entry {
        resource: text("resource")?,
        kernel: text("kernel")?,
        unit: unit.ok_or("`unit` is neither `flops` nor `bytes`")?,
        point: Point { size: Size::of(&cost), ns_per_unit: 1e9 / rate, samples: number("samples")? as u64 },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(kernel: &str, rate: f64) -> Entry {
        let size = Size::of(&Cost { flops: 2e9, bytes: 3e7, level: None });
        let point = Point { size, ns_per_unit: 1e9 / rate, samples: 7 };
        Entry { resource: "sim \"fast\"".to_owned(), kernel: kernel.to_owned(), unit: Unit::Flops, point }
    }

    #[test]
    fn what_is_printed_is_parsed() {
        let read = parse(print(&[sample("gemm", 1e12), sample("trsm", 5e11)]).as_bytes()).expect("weights");
        assert_eq!(read.len(), 2);
        for (read, kept) in read.iter().zip([sample("gemm", 1e12), sample("trsm", 5e11)]) {
            assert!(read.is_of(&kept), "{read:?}");
            assert!((read.point.ns_per_unit / kept.point.ns_per_unit - 1.0).abs() < 1e-9);
            assert_eq!(read.point.samples, 7);
        }
    }

    #[test]
    fn what_is_no_file_of_weights_is_refused_with_the_reason() {
        let with = |line: &str| format!("{{\"format\": \"{FORMAT}\", \"version\": 1, \"weights\": [{line}]}}");
        let good = r#"{"resource":"host","kernel":"gemm","unit":"flops","flops":1,"bytes":1,"rate":1,"samples":1}"#;
        assert_eq!(parse(with(good).as_bytes()).expect("weights").len(), 1);
        for (text, why) in [
            ("potrf d 2 512 96 60.5".to_owned(), "no weights"),
            ("{}".to_owned(), "`format`"),
            (with(good).replace("\"version\": 1", "\"version\": 2"), "version 2"),
            (with(&good.replace("\"rate\":1", "\"rate\":0")), "weight 1: `rate`"),
            (with(&good.replace("\"rate\":1", "\"rate\":\"fast\"")), "weight 1: `rate`"),
            (with(&format!("{good},{}", good.replace("flops\",", "hours\","))), "weight 2: `unit`"),
            (with(&good.replace("\"kernel\"", "\"colonel\"")), "weight 1: `kernel`"),
        ] {
            let said = parse(text.as_bytes()).expect_err(&text);
            assert!(said.contains(why), "{said}");
        }
    }
}
