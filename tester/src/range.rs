//! Sizes on the command line: `100:1000:100`, `500x300`, `auto`.

use std::fmt;
use std::str::FromStr;

/// The maximum number of values of a range, and of combinations of a size list; more is probably a typing error.
const VALUES_MAX: usize = 100_000;

/// Values from `start:stop:step` (both ends included), `start:stop` (steps of one), or a single number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Range(pub Vec<usize>);

impl FromStr for Range {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts: Vec<usize> = text.split(':').map(number).collect::<Result<_, _>>()?;
        let (start, stop, step) = match parts[..] {
            [value] => return Ok(Self(vec![value])),
            [start, stop] => (start, stop, 1),
            [start, stop, step] => (start, stop, step),
            _ => return Err(format!("`{text}` has too many colons: expected start:stop:step")),
        };
        if step == 0 {
            return Err(format!("`{text}` has a step of 0: expected at least 1"));
        }
        if stop < start {
            return Err(format!("`{text}` is empty: its stop is less than its start"));
        }
        if (stop - start) / step >= VALUES_MAX {
            return Err(format!("`{text}` has more than {VALUES_MAX} values"));
        }
        Ok(Self((start..=stop).step_by(step).collect()))
    }
}

fn number(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| format!("`{text}` is not a size: expected a whole number"))
}

/// The sizes m, n and k of a case. A routine uses only the sizes that it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dim {
    pub m: usize,
    pub n: usize,
    pub k: usize,
}

/// Sizes `N`, `MxN` or `MxNxK`, each a [`Range`]; several ranges give every combination. `N` alone is `NxNxN`, and
/// `MxN` has k = n.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dims(pub Vec<Dim>);

impl FromStr for Dims {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let ranges: Vec<Range> = text.split('x').map(str::parse).collect::<Result<_, _>>()?;
        let combinations = ranges.iter().try_fold(1usize, |product, range| product.checked_mul(range.0.len()));
        if combinations.is_none_or(|combinations| combinations > VALUES_MAX) {
            return Err(format!("`{text}` has more than {VALUES_MAX} combinations"));
        }
        let dims = match &ranges[..] {
            [n] => n.0.iter().map(|&n| Dim { m: n, n, k: n }).collect(),
            [m, n] => pairs(m, n).map(|(m, n)| Dim { m, n, k: n }).collect(),
            [m, n, k] => pairs(m, n).flat_map(|(m, n)| k.0.iter().map(move |&k| Dim { m, n, k })).collect(),
            _ => return Err(format!("`{text}` has more than three sizes: expected N, MxN or MxNxK")),
        };
        Ok(Self(dims))
    }
}

fn pairs<'a>(m: &'a Range, n: &'a Range) -> impl Iterator<Item = (usize, usize)> + 'a {
    m.0.iter().flat_map(|&m| n.0.iter().map(move |&n| (m, n)))
}

/// A tile size, or the library's own choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TileSize {
    Auto,
    Fixed(usize),
}

impl fmt::Display for TileSize {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => out.pad("auto"),
            Self::Fixed(nb) => nb.fmt(out),
        }
    }
}

/// Tile sizes: `auto` or a [`Range`] of positive numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TileSizes(pub Vec<TileSize>);

impl FromStr for TileSizes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.eq_ignore_ascii_case("auto") {
            return Ok(Self(vec![TileSize::Auto]));
        }
        let range: Range = text.parse().map_err(|why| format!("{why} (nor `auto`)"))?;
        if range.0.contains(&0) {
            return Err("the tile size is 0: expected at least 1".to_owned());
        }
        Ok(Self(range.0.into_iter().map(TileSize::Fixed).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_include_both_ends() {
        for (text, values) in [
            ("7", vec![7]),
            ("0:2", vec![0, 1, 2]),
            ("100:300:100", vec![100, 200, 300]),
            ("100:350:100", vec![100, 200, 300]),
            ("5:5:9", vec![5]),
        ] {
            assert_eq!(text.parse(), Ok(Range(values)), "{text}");
        }
    }

    #[test]
    fn invalid_ranges_are_explained() {
        for (text, why) in [
            ("", "not a size"),
            ("-3", "not a size"),
            ("1:2:3:4", "too many colons"),
            ("1:9:0", "step of 0"),
            ("9:1:1", "stop is less"),
            ("0:99999999999", "more than"),
            ("1:", "not a size"),
            ("99999999999999999999", "not a size"),
        ] {
            let error = text.parse::<Range>().expect_err(text);
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    #[test]
    fn dims_combine_ranges() {
        let dims = |text: &str| -> Vec<(usize, usize, usize)> {
            text.parse::<Dims>().expect(text).0.into_iter().map(|d| (d.m, d.n, d.k)).collect()
        };
        assert_eq!(dims("8"), [(8, 8, 8)]);
        assert_eq!(dims("8x3"), [(8, 3, 3)]);
        assert_eq!(dims("8x3x0"), [(8, 3, 0)]);
        assert_eq!(dims("1:2x5x6:7"), [(1, 5, 6), (1, 5, 7), (2, 5, 6), (2, 5, 7)]);
        for (text, why) in [("1x2x3x4", "three sizes"), ("8x", "whole number"), ("0:999x0:999x1:9", "combinations")] {
            let error = text.parse::<Dims>().expect_err(text);
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    #[test]
    fn tile_sizes_are_positive_or_auto() {
        assert_eq!("AUTO".parse(), Ok(TileSizes(vec![TileSize::Auto])));
        assert_eq!("64:128:64".parse(), Ok(TileSizes(vec![TileSize::Fixed(64), TileSize::Fixed(128)])));
        assert!("0".parse::<TileSizes>().is_err() && "big".parse::<TileSizes>().unwrap_err().contains("auto"));
    }
}
