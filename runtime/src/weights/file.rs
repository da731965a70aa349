//! The file in which capability weights are kept between runs: text, one file per type of processor, readable and
//! editable by hand.
//!
//! JSON: `{"format": "superscalar capability weights", "version": 1, "weights": [...]}`. Each weight has the `resource`
//! (a device's name, or `host`), the `kernel`, the `unit` (`flops` or `bytes`), the size of a call in `flops` and
//! `bytes`, the `rate` in units per second, and the number of `samples`.

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

/// One weight of the file.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SavedWeight {
    pub(super) resource: String,
    pub(super) kernel: String,
    pub(super) unit: Unit,
    pub(super) point: Point,
}

impl SavedWeight {
    /// Returns whether both weights are for the same resource, kernel, unit and size bucket.
    fn is_of(&self, other: &Self) -> bool {
        let key = |it: &Self| (it.unit, it.point.size.bucket());
        key(self) == key(other) && self.resource == other.resource && self.kernel == other.kernel
    }
}

/// Returns `<processor>.weights.json` in the user's cache folder, if there is such a folder.
pub(crate) fn default_file() -> Option<CacheFile> {
    Some(CacheFile::within(&cache::folder()?, &format!("{}.weights.json", topology::processor_name())))
}

/// Reads the weights from the file; empty if there is no file.
pub(super) fn load(file: &CacheFile) -> Result<Vec<SavedWeight>, Error> {
    Ok(file.read(parse)?.unwrap_or_default())
}

/// Merges these weights into the file. Weights of other devices, kernels and sizes in it are kept.
pub(super) fn merge(file: &CacheFile, news: impl Iterator<Item = SavedWeight>) -> Result<(), Error> {
    let key = |it: &SavedWeight| (it.resource.clone(), it.kernel.clone(), it.unit, it.point.size.bucket());
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

/// Formats the weights, one per line.
fn print(entries: &[SavedWeight]) -> String {
    let line = |SavedWeight { resource, kernel, unit, point }: &SavedWeight| {
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

fn parse(text: &[u8]) -> Result<Vec<SavedWeight>, String> {
    let value: Value = serde_json::from_slice(text).map_err(|error| format!("not a weights file: {error}"))?;
    if value["format"] != FORMAT {
        return Err(format!("not a weights file: `format` is not `{FORMAT}`"));
    }
    if value["version"] != VERSION {
        return Err(format!("weights file of version {}; expected version {VERSION}", value["version"]));
    }
    let weights = value["weights"].as_array().ok_or("`weights` is not a list")?;
    weights
        .iter()
        .enumerate()
        .map(|(at, one)| parse_weight(one).map_err(|why| format!("weight {}: {why}", at + 1)))
        .collect()
}

fn parse_weight(value: &Value) -> Result<SavedWeight, String> {
    let text = |key: &str| value[key].as_str().map(str::to_owned).ok_or_else(|| format!("`{key}` is not a string"));
    let number = |key: &str| {
        let number = value[key].as_f64().filter(|number| number.is_finite() && *number >= 0.0);
        number.ok_or_else(|| format!("`{key}` is not a non-negative number"))
    };
    let unit = text("unit")?;
    let unit = [Unit::Flops, Unit::Bytes].into_iter().find(|one| one.name() == unit);
    let rate = number("rate")?;
    if rate <= 0.0 {
        return Err("`rate` is not positive".to_owned());
    }
    let cost = Cost { flops: number("flops")?, bytes: number("bytes")?, level: None };
    Ok(SavedWeight {
        resource: text("resource")?,
        kernel: text("kernel")?,
        unit: unit.ok_or("`unit` is neither `flops` nor `bytes`")?,
        point: Point { size: Size::of(&cost), ns_per_unit: 1e9 / rate, samples: number("samples")? as u64 },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(kernel: &str, rate: f64) -> SavedWeight {
        let size = Size::of(&Cost { flops: 2e9, bytes: 3e7, level: None });
        let point = Point { size, ns_per_unit: 1e9 / rate, samples: 7 };
        SavedWeight { resource: "sim \"fast\"".to_owned(), kernel: kernel.to_owned(), unit: Unit::Flops, point }
    }

    #[test]
    fn printed_weights_are_parsed() {
        let read = parse(print(&[sample("gemm", 1e12), sample("trsm", 5e11)]).as_bytes()).expect("weights");
        assert_eq!(read.len(), 2);
        for (read, kept) in read.iter().zip([sample("gemm", 1e12), sample("trsm", 5e11)]) {
            assert!(read.is_of(&kept), "{read:?}");
            assert!((read.point.ns_per_unit / kept.point.ns_per_unit - 1.0).abs() < 1e-9);
            assert_eq!(read.point.samples, 7);
        }
    }

    #[test]
    fn invalid_files_are_refused_with_reason() {
        let with = |line: &str| format!("{{\"format\": \"{FORMAT}\", \"version\": 1, \"weights\": [{line}]}}");
        let good = r#"{"resource":"host","kernel":"gemm","unit":"flops","flops":1,"bytes":1,"rate":1,"samples":1}"#;
        assert_eq!(parse(with(good).as_bytes()).expect("weights").len(), 1);
        for (text, why) in [
            ("potrf d 2 512 96 60.5".to_owned(), "not a weights file"),
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
