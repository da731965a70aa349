//! Names, each kept once and known by its number from then on.

use super::ReadOptions;
use super::error::{Kind, Stop};
use std::{collections::HashMap, hash::Hash};

/// Names in order of appearance.
#[derive(Debug, Default)]
pub(super) struct Names {
    places: HashMap<Box<str>, u32>,
    bytes: u64,
}

/// The place in `list` of what has this key: what `new` makes, if there is none yet.
///
/// # Errors
/// If that would be one more than `max` of these.
pub(super) fn place_of<K: Eq + Hash, T>(
    places: &mut HashMap<K, u32>,
    list: &mut Vec<T>,
    key: K,
    (what, max): (&'static str, u32),
    new: impl FnOnce() -> T,
) -> Result<u32, Stop> {
    let next = list.len() as u32;
    if next == max && !places.contains_key(&key) {
        return Err(Stop::fault(0, Kind::Limit { what, max: max.into() }));
    }
    let place = *places.entry(key).or_insert(next);
    if place == next {
        list.push(new());
    }
    Ok(place)
}

impl Names {
    /// The number of a name, new or known.
    pub(super) fn place(&mut self, name: &str, max: ReadOptions) -> Result<u32, Stop> {
        if let Some(&place) = self.places.get(name) {
            return Ok(place);
        }
        self.bytes += name.len() as u64;
        let place = self.places.len() as u32;
        if place >= max.names_max {
            return Err(Stop::fault(0, Kind::Limit { what: "different names", max: max.names_max.into() }));
        }
        if self.bytes > max.name_bytes_max {
            return Err(Stop::fault(0, Kind::Limit { what: "bytes in names", max: max.name_bytes_max }));
        }
        self.places.insert(name.into(), place);
        Ok(place)
    }

    pub(super) fn into_list(self) -> Vec<String> {
        let mut list = vec![String::new(); self.places.len()];
        for (name, place) in self.places {
            list[place as usize] = name.into();
        }
        list
    }
}
